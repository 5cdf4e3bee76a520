"""Arguments that mean the same to most tools, as one::

    normal_arguments({"city": " New  YORK", "days": 3.0, "unit": "C"}, schema)  # {"city": "new york", "days": 3}

Text is casefolded (after Unicode's NFKC), its white space collapsed and trimmed. A number that is whole is an integer.
With the tool's schema besides: text that is a number is one where a number is asked for and text is not, and an
argument that says what is the default is left out. All of it at any depth.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from callgym.dialects.literal import MAX_NUMBER_LENGTH
from callgym.tool_backends.recording.keys import NoKey, call_key, canonical

__all__ = ["normal_arguments", "normal_key"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_EXACT_UP_TO = 2.0**53
_NOTHING: Mapping[str, Any] = {}


def normal_key(tool: str, arguments: Mapping[str, Any], schema: Mapping[str, Any] | None = None) -> str:
    """The key of a call whose arguments are made normal.

    Raises:
        NoKey: The arguments cannot be written as JSON.
    """
    return call_key(tool, normal_arguments(arguments, schema), "normal")


def normal_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The arguments made normal.

    Args:
        arguments: Argument name to JSON value.
        schema: The tool's ``parameters``, where they are known.

    Raises:
        NoKey: The arguments are nested too deeply.
    """
    try:
        return _object(arguments, schema or _NOTHING)
    except RecursionError as error:
        raise NoKey(str(error)) from error


def _value(value: Any, schema: Mapping[str, Any]) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value, schema)
    if kind is float:
        return int(value) if value.is_integer() and abs(value) <= _EXACT_UP_TO else value
    if kind is list:
        items = _schema(schema.get("items"))
        return [_value(item, items) for item in value]
    return _object(value, schema) if kind is dict else value


def _object(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = _schema(schema.get("properties"))
    normal = {}
    for name, item in value.items():
        own = _schema(properties.get(name))
        made = _value(item, own)
        # As text: to Python, 1 and True are equal.
        if "default" in own and canonical(made) == canonical(_value(own["default"], own)):
            continue
        normal[name] = made
    return normal


def _text(text: str, schema: Mapping[str, Any]) -> Any:
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if _asks_for_number(schema) and len(folded) < MAX_NUMBER_LENGTH and _NUMBER.fullmatch(folded):
        if folded.lstrip("+-").isdecimal():
            return int(folded)
        number = float(folded)
        return _value(number, _NOTHING) if math.isfinite(number) else folded
    return folded


def _asks_for_number(schema: Mapping[str, Any]) -> bool:
    declared = schema.get("type")
    types = declared if isinstance(declared, list) else [declared]
    return "string" not in types and ("number" in types or "integer" in types)


def _schema(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else _NOTHING
