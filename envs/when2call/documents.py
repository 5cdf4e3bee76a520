"""Documents of functions as When2Call's rows hold them: JSON text or objects, BFCL's form or the training files'.

The test files' documents are BFCL's. Those of the training files come from xlam-function-calling-60k: their types
are Python annotations (``str``, ``List[int]``, ``int, optional``) and ``required`` stands outside ``parameters``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["bfcl_form", "read_document", "read_documents"]

_SCALARS = {"str": "string", "int": "integer", "float": "float", "bool": "boolean"}
_LISTS = ("list", "set", "frozenset", "sequence", "iterable")
_MAPPINGS = ("dict", "mapping", "defaultdict")
_ANNOTATION = re.compile(r"(?:\w+\.)*(\w+)\s*(?:\[(.*)\])?", re.DOTALL)
_AFTERTHOUGHT = re.compile(r",\s*(?:optional|default)\b[^\[\]]*$", re.IGNORECASE)


def read_documents(value: Any) -> tuple[dict[str, Any], ...]:
    """The documents of a row: a list, JSON text of one, or null for none; each document JSON text or an object.

    Raises:
        ValueError, TypeError: It is none of these.
    """
    if isinstance(value, str):
        value = json.loads(value)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise TypeError(f"tools are a list, found {type(value).__name__}")
    return tuple(read_document(item) for item in value)


def read_document(value: Any) -> dict[str, Any]:
    """One document: JSON text or an object with a name.

    Raises:
        ValueError, TypeError: It is neither.
    """
    document = json.loads(value) if isinstance(value, str) else value
    if not isinstance(document, dict):
        raise TypeError(f"a tool is an object, found {type(document).__name__}")
    if not isinstance(document.get("name"), str) or not document["name"]:
        raise ValueError("a tool has no name")
    return document


def bfcl_form(document: Mapping[str, Any]) -> dict[str, Any]:
    """A training file's document in BFCL's form, which ``callgym.envs.bfcl.tools.make_tool`` reads.

    Raises:
        TypeError, AttributeError: Its parameters are no object of objects.
    """
    parameters = document.get("parameters") or {}
    properties = parameters.get("properties") or {}
    required = parameters.get("required", document.get("required")) or ()
    if not isinstance(required, list | tuple):
        raise TypeError(f"required names are a list, found {type(required).__name__}")
    return {
        "name": document["name"],
        "description": str(document.get("description") or ""),
        "parameters": {
            "type": "dict",
            "properties": {name: _entry(entry) for name, entry in properties.items()},
            "required": list(required),
        },
    }


def _entry(documented: Any) -> dict[str, Any]:
    """A parameter's document with BFCL's type; what it says itself of its elements stays."""
    entry = dict(documented) if isinstance(documented, Mapping) else {}
    return {**_read_annotation(str(entry.pop("type", "any"))), **entry}


def _read_annotation(annotation: str) -> dict[str, Any]:
    """A Python annotation as BFCL's type, ``any`` where BFCL has none for it; BFCL's own types stay."""
    text = _AFTERTHOUGHT.sub("", annotation.strip())
    match = _ANNOTATION.fullmatch(text)
    if match is None:
        return {"type": "any"}
    name, inner = match[1].lower(), match[2]
    if name == "optional" and inner is not None:
        return _read_annotation(inner)
    if name in ("union", "callable"):
        return {"type": "any"}
    if name == "tuple" or (name in _LISTS and inner is None):
        return {"type": "array"}
    if name in _LISTS:
        return {"type": "array", "items": _read_annotation(inner)}
    if name in _MAPPINGS:
        return {"type": "dict"}
    return {"type": _SCALARS.get(name, match[1])}
