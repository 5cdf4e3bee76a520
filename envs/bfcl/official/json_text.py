"""Calls as JSON, ``[{"function": name, "parameters": {...}}, ...]``, cut out of a text as the official parser does.

The first ``[ {`` opens and the first ``} ]`` behind it closes: a list of objects inside the arguments cuts the
text short, which is then no JSON and counts as no calls.
"""

from __future__ import annotations

import json
import re
from typing import Any

from callgym.envs.bfcl.official.decode_failure import DecodeFailure

__all__ = ["read_json_calls"]

_OPENING = re.compile(r"\[\s*\{")
_CLOSING = re.compile(r"\}\s*\]")


def read_json_calls(text: str) -> list[dict[Any, Any]]:
    """The calls of a text, ``[{name: arguments}, ...]``; the empty list where it is no JSON.

    Raises:
        DecodeFailure: An object lacks "function" or "parameters", or the JSON is neither list, object nor text.
    """
    try:
        content = json.loads(_cut(text))
        return [{item["function"]: item["parameters"]} for item in _members(content) if isinstance(item, dict)]
    except json.JSONDecodeError:
        return []
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise DecodeFailure(type(error).__name__, f"no call in JSON: {error!r}") from error


def _members(content: Any) -> Any:
    if isinstance(content, list | dict | str):
        return content
    raise TypeError(f"{type(content).__name__} has no members")


def _cut(text: str) -> str:
    """From the first bracket to the last, and of that the first list of objects."""
    start, end = text.find("["), text.rfind("]")
    if 0 <= start < end:
        text = text[start : end + 1]
    opening = _OPENING.search(text)
    closing = None if opening is None else _CLOSING.search(text, opening.end())
    return text if opening is None or closing is None else text[opening.start() : closing.end()]
