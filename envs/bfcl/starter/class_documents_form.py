"""The official form of a class's function document, and a short way to write one.

Form: ``multi_turn_func_doc`` of ``bfcl-eval`` 2026.3.23. ::

    document("cd", "Go into a folder.", [("folder", "string", "Its name.")], {"place": ("string", "Where one is.")})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Document", "Parameter", "document"]

Document = dict[str, Any]
Parameter = tuple[Any, ...]
"""Name, type and description; a default where there is one. ``array of string`` is a type, ``string: a, b`` a text
that is one of those listed."""


def document(
    name: str,
    description: str,
    parameters: Sequence[Parameter] = (),
    response: Mapping[str, tuple[str, str]] | None = None,
) -> Document:
    """A function's document.

    Args:
        name: The official name.
        description: What it does.
        parameters: In the official order.
        response: Field of the answer to its type and description; None where nothing is answered.
    """
    fields = {field: _entry(kind, words) for field, (kind, words) in (response or {}).items()}
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "dict",
            "properties": {parameter[0]: _parameter(*parameter[1:]) for parameter in parameters},
            "required": [parameter[0] for parameter in parameters if len(parameter) == 3],
        },
        "response": {"type": "dict", "properties": fields},
    }


def _parameter(kind: str, words: str, *default: Any) -> dict[str, Any]:
    entry = _entry(kind, words)
    return {**entry, "default": default[0]} if default else entry


def _entry(kind: str, words: str) -> dict[str, Any]:
    kind, _, listed = kind.partition(": ")
    kind, _, items = kind.partition(" of ")
    entry: dict[str, Any] = {"type": kind, "description": words}
    if items:
        entry["items"] = {"type": items}
    if listed:
        entry["enum"] = listed.split(", ")
    return entry
