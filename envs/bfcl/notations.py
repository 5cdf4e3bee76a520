"""Values in Java's and JavaScript's notation: what a call's argument is as text of the program that makes it.

Follows what the converters of ``bfcl-eval`` 2026.3.23 read. At the top level a text is itself, without quotes:
so it arrives from the official decoders and from models that call functions in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.categories import Language

__all__ = ["as_source", "unquoted_array"]

_ELEMENT_CLASSES = {
    "integer": ("int", "Integer"),
    "long": ("long", "Long"),
    "short": ("short", "Short"),
    "byte": ("byte", "Byte"),
    "float": ("float", "Float"),
    "double": ("double", "Double"),
    "boolean": ("boolean", "Boolean"),
    "char": ("char", "Character"),
    "String": ("String", "String"),
}
"""Declared element type to its name in an array and in a collection; any other is an Object."""


def as_source(value: Any, declared: Mapping[str, Any], language: Language) -> str:
    """A value, as the answers hold it, in the language's notation.

    Args:
        value: Text, a number, a boolean, None, a list or a dict.
        declared: The parameter's official document: its ``type``, and ``items`` where it is a collection.
        language: ``java`` or ``javascript``.
    """
    if isinstance(value, str):
        return value
    if language == "javascript":
        return json.dumps(value, ensure_ascii=False)
    kind = declared.get("type")
    items = declared.get("items") or {}
    if isinstance(value, list):
        return _java_list(value, str(kind), str(items.get("type")))
    if isinstance(value, dict):
        return _java_map(value)
    return _java_scalar(value, str(kind))


def unquoted_array(value: Any, declared: Mapping[str, Any]) -> str | None:
    """A Java array of texts as the official converter wants it, elements without quotes; None for anything else.

    The converter leaves the quotes of an array's elements where they are, and the answers have none.
    """
    if declared.get("type") != "Array" or not isinstance(value, list):
        return None
    if not any(isinstance(item, str) for item in value):
        return None
    kind = _ELEMENT_CLASSES.get(str((declared.get("items") or {}).get("type")), ("Object", "Object"))[0]
    elements = (item if isinstance(item, str) else _java_scalar(item, "") for item in value)
    return f"new {kind}[]{{{', '.join(elements)}}}"


def _java_list(values: list[Any], kind: str, element: str) -> str:
    array_class, collection_class = _ELEMENT_CLASSES.get(element, ("Object", "Object"))
    elements = ", ".join(_java_inner(value, element) for value in values)
    if kind == "ArrayList":
        return f"new ArrayList<{collection_class}>({f'Arrays.asList({elements})' if values else ''})"
    return f"new {array_class}[]{{{elements}}}"


def _java_map(values: dict[str, Any]) -> str:
    puts = " ".join(f"put({json.dumps(key)}, {_java_inner(value, '')});" for key, value in values.items())
    return f"new HashMap<String, Object>() {{{{ {puts} }}}}" if puts else "new HashMap<String, Object>()"


def _java_inner(value: Any, kind: str) -> str:
    if isinstance(value, str):
        return f"'{value}'" if kind == "char" else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return _java_list(value, "Array", "")
    return _java_map(value) if isinstance(value, dict) else _java_scalar(value, kind)


def _java_scalar(value: Any, kind: str) -> str:
    text = json.dumps(value)
    if kind == "long" and type(value) is int:
        return text + "L"
    return text + "f" if kind == "float" and type(value) in (int, float) else text
