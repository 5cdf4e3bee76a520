"""Reading JSON of the wrong type as the type that a schema asks for, where that takes no guess::

    read = LenientReader({"type": "array", "items": {"type": "integer"}})
    assert read('["1", 2.0]') == [1, 2]

What a schema allows is left as it is, and what cannot be read is, too: the check that follows says what is wrong
with it. A schema becomes a reader once; reading is linear in the value, exact, and raises nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import jsonschema_rs

from callgym.dialects.json_text import JsonTextError, read_json
from callgym.dialects.literal import MAX_DEPTH
from callgym.validator import compile_schema

__all__ = ["LenientReader"]

_CHOICES = ("anyOf", "oneOf")


class LenientReader:
    """What may stand at one place of a schema, and the places below it."""

    def __init__(self, schema: dict[str, Any], depth: int = 0) -> None:
        """Compile a schema.

        Args:
            schema: A JSON Schema; what is no keyword of types, items, properties or choices is not looked at.
            depth: How many schemas it stands in; below ``MAX_DEPTH`` of them everything is left as it is.
        """
        self._types = _declared_types(schema)
        self._items = _reader(schema.get("items"), depth)
        self._first = [_reader(item, depth) for item in _list(schema.get("prefixItems"))]
        properties = schema.get("properties")
        named = properties.items() if isinstance(properties, dict) else ()
        self._properties = {name: reader for name, inner in named if (reader := _reader(inner, depth)) is not None}
        self._known = frozenset(name for name, _ in named)
        # Beside patterns it cannot be told which names are the additional ones.
        others = None if "patternProperties" in schema else schema.get("additionalProperties")
        self._others = _reader(others, depth)
        self._choices = [found for name in _CHOICES if (found := _choice(schema.get(name), depth))]

    def __call__(self, value: Any) -> Any:
        """The value as the schema asks for it; a new one, or itself."""
        if self._types is not None:
            value = _as_type(value, self._types)
        kind = type(value)
        if kind is dict and (self._properties or self._others is not None):
            value = {name: self._read_member(name, inner) for name, inner in value.items()}
        elif kind is list and (self._first or self._items is not None):
            value = [self._read_item(place, inner) for place, inner in enumerate(value)]
        for branches in self._choices:
            value = _by_choice(value, branches)
        return value

    def _read_member(self, name: str, value: Any) -> Any:
        reader = self._properties.get(name) if name in self._known else self._others
        return value if reader is None else reader(value)

    def _read_item(self, place: int, value: Any) -> Any:
        reader = self._first[place] if place < len(self._first) else self._items
        return value if reader is None else reader(value)


class _Branch(NamedTuple):
    """One way that a choice leaves open."""

    read: LenientReader
    validator: jsonschema_rs.Draft202012Validator

    def fits(self, value: Any) -> bool:
        try:
            return bool(self.validator.is_valid(value))
        except ValueError:  # a reference that leads nowhere
            return False


def _by_choice(value: Any, branches: Sequence[_Branch]) -> Any:
    """The value as it is where a branch allows it, or as the one branch reads it that then does."""
    if any(branch.fits(value) for branch in branches):
        return value
    readings = [branch.read(value) for branch in branches]
    fitting = [read for read, branch in zip(readings, branches, strict=True) if branch.fits(read)]
    return fitting[0] if len(fitting) == 1 else value


def _reader(schema: Any, depth: int) -> LenientReader | None:
    return LenientReader(schema, depth + 1) if isinstance(schema, dict) and schema and depth < MAX_DEPTH else None


def _choice(schemas: Any, depth: int) -> list[_Branch]:
    """The branches; none where one of them cannot be compiled by itself, for then nobody can say what fits."""
    branches = []
    for schema in _list(schemas):
        reader = _reader(schema, depth)
        if reader is None:
            return []
        try:
            branches.append(_Branch(reader, compile_schema(schema)))
        except ValueError:
            return []
    return branches


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _declared_types(schema: dict[str, Any]) -> frozenset[str] | None:
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset((declared,))
    return frozenset(map(str, declared)) if isinstance(declared, list) else None


def _as_type(value: Any, types: frozenset[str]) -> Any:
    kind = type(value)
    if kind is str:
        return value if "string" in types else _read_text(value, types)
    whole = _whole(value, types)
    if "string" in types and kind in (int, float, bool) and not _has_type(whole, types):
        return _as_text(value)
    return whole


def _read_text(text: str, types: frozenset[str]) -> Any:
    try:
        value = read_json(text)
    except JsonTextError:
        return text
    value = _whole(value, types)
    return value if _has_type(value, types) else text


def _whole(value: Any, types: frozenset[str]) -> Any:
    """An integer for a float without a fraction, where only integers may stand."""
    if type(value) is float and value.is_integer() and "integer" in types and "number" not in types:
        return int(value)
    return value


def _has_type(value: Any, types: frozenset[str]) -> bool:
    kind = type(value)
    if kind is int:
        return "integer" in types or "number" in types
    return _TYPE_OF.get(kind) in types


_TYPE_OF = {float: "number", bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}


def _as_text(value: float | bool) -> Any:
    try:
        return json.dumps(value)
    except ValueError:  # an integer of thousands of digits
        return value
