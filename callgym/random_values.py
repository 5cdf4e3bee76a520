"""Random values that fit a JSON Schema: arguments for the policy that calls tools at random, answers nobody recorded.

Drawn by the schema's own words: types, ``enum`` and ``const``, required and optional properties, nested
objects, arrays, bounds of numbers and lengths, ``$ref`` within the schema, ``anyOf``, ``oneOf`` and
``allOf``. What cannot be drawn that way (``not``, ``if``, most patterns) is left to the caller, who
checks the draw and draws again.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["NoValue", "random_arguments", "random_value"]

_WORDS = ("Rome", "alice", "meeting", "2023-05-12", "10:30", "tea", "42", "blue sky", "John", "invoice", "Müller")
_FORMATS = {
    "date": "2023-05-12",
    "time": "10:30:00Z",
    "date-time": "2023-05-12T10:30:00Z",
    "email": "alice@example.com",
    "uri": "https://example.com/tea",
    "url": "https://example.com/tea",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.7",
    "hostname": "example.com",
}
_SHAPES = (*_WORDS, *_FORMATS.values(), "A", "a", "7", "12", "123", "1234", "12345", "ABC", "ABC123", "A-1", "AB-123",
           "a_b", "10:30:00", "2023-05-12 10:30:00", "12/05/2023", "05-12", "+14155550100", "555-0100", "#00ff7f",
           "USD", "en", "en-US", "1.2.3", "12.50", "true", "/tmp/a.txt", "x@example.com")  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DEEP = 4
_DEEPEST = 16
_TRIES = 20


class NoValue(Exception):
    """No value was found that the schema accepts."""


def random_arguments(schema: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Arguments for a tool whose parameters are ``schema``; most draws are valid, and the caller checks.

    Raises:
        NoValue: The schema accepts nothing, or nothing that can be drawn.
    """
    value = _Draw(schema, rng).value({**schema, "type": "object"}, 0)
    if not isinstance(value, dict):
        raise NoValue("the parameters are no object")
    return value


def random_value(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """A value for a schema; most draws are valid, and the caller checks.

    Raises:
        NoValue: The schema accepts nothing, or nothing that can be drawn.
    """
    return _Draw(schema, rng).value(schema, 0)


class _Draw:
    """One draw: the random numbers, and the schema that references point into."""

    def __init__(self, root: Mapping[str, Any], rng: random.Random) -> None:
        self.root = root
        self.rng = rng

    def value(self, schema: Any, depth: int) -> Any:
        if schema is True:
            schema = {}
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            raise NoValue("no value is accepted here")
        schema = self.resolved(schema, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(_not_empty(schema["enum"]))
        match self.kind(schema):
            case "object":
                return self.object(schema, depth)
            case "array":
                return self.array(schema, depth)
            case "integer":
                return self.integer(schema)
            case "number":
                return self.number(schema)
            case "boolean":
                return self.rng.random() < 0.5
            case "null":
                return None
            case _:
                return self.text(schema)

    def resolved(self, schema: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
        """The schema with its references and alternatives chosen and merged in."""
        for _ in range(_DEEPEST):
            if "$ref" in schema:
                schema = _merged(_without(schema, "$ref"), self.target(schema["$ref"]))
            elif schema.get("allOf"):
                merged: Mapping[str, Any] = _without(schema, "allOf")
                for part in schema["allOf"]:
                    merged = _merged(merged, part)
                schema = merged
            elif word := next((word for word in ("anyOf", "oneOf") if schema.get(word)), None):
                schema = _merged(_without(schema, word), self.rng.choice(schema[word]))
            else:
                return schema
        raise NoValue("the references go round in a circle")

    def target(self, reference: Any) -> Any:
        """The schema that ``#/...`` points to."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise NoValue(f"the reference {reference!r} leads out of the schema")
        at: Any = self.root
        for part in filter(None, reference[1:].split("/")):
            part = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(at, Mapping) or part not in at:
                raise NoValue(f"the reference {reference!r} leads nowhere")
            at = at[part]
        return at

    def kind(self, schema: Mapping[str, Any]) -> str:
        declared = schema.get("type")
        if isinstance(declared, list):
            return str(self.rng.choice(_not_empty(declared)))
        if isinstance(declared, str):
            return declared
        if "properties" in schema or "required" in schema:
            return "object"
        if "items" in schema or "prefixItems" in schema:
            return "array"
        return "number" if "minimum" in schema or "maximum" in schema else "string"

    def object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        others = schema.get("additionalProperties", True)
        most = int(schema.get("maxProperties", len(properties) + len(required) + 8))
        least = int(schema.get("minProperties", 0))
        drawn = {name: self.value(properties.get(name, others), depth + 1) for name in required}
        for name in self.rng.sample(list(properties), len(properties)):
            wanted = len(drawn) < least or (depth < _DEEP and self.rng.random() < 0.5)
            if name not in drawn and wanted and len(drawn) < most:
                try:
                    drawn[name] = self.value(properties[name], depth + 1)
                except NoValue:  # an optional part that cannot be drawn is left out
                    continue
        while len(drawn) < least:
            drawn[f"key{len(drawn)}"] = self.value(others, depth + 1)
        return {name: drawn[name] for name in (*properties, *drawn) if name in drawn}

    def array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(least, 0 if depth >= _DEEP else 3)))
        first = schema.get("prefixItems", ())
        rest = schema.get("items", True)
        if rest is False:
            most = min(most, len(first))
        if least > most:
            raise NoValue("no length of the array is accepted")
        length = self.rng.randint(least, min(most, least + 3))
        items: list[Any] = []
        for _ in range(_TRIES * (length + 1)):
            if len(items) == length:
                break
            item = self.value(first[len(items)] if len(items) < len(first) else rest, depth + 1)
            if not (schema.get("uniqueItems") and item in items):
                items.append(item)
        if len(items) < length:
            raise NoValue("not enough different items were found")
        return items

    def integer(self, schema: Mapping[str, Any]) -> int:
        low, high = _bounds(schema, 1)
        step = schema.get("multipleOf", 1)
        # Every whole number that is a multiple of 0.5 is one of 1: an integer is drawn in whole steps.
        step = step if float(step).is_integer() else 1
        first, last = math.ceil(low / step), math.floor(high / step)
        if first > last:
            raise NoValue(f"no whole number lies between {low} and {high}")
        return int(self.rng.randint(first, last) * step)

    def number(self, schema: Mapping[str, Any]) -> float | int:
        low, high = _bounds(schema, 0)
        if low > high:
            raise NoValue(f"no number lies between {low} and {high}")
        step = schema.get("multipleOf")
        if step:
            return float(self.rng.randint(math.ceil(low / step), math.floor(high / step)) * step)
        value = low + (high - low) * self.rng.uniform(0.01, 0.99)
        rounded = round(value, 2)
        return rounded if low < rounded < high else value

    def text(self, schema: Mapping[str, Any]) -> str:
        least = int(schema.get("minLength", 0))
        most = int(schema.get("maxLength", max(least, 40)))
        if least > most:
            raise NoValue("no length of the text is accepted")
        if "pattern" in schema:
            return self.shaped(schema, least, most)
        given = _FORMATS.get(str(schema.get("format")))
        if given is not None and least <= len(given) <= most:
            return given
        text = self.rng.choice(_WORDS)
        while len(text) < least:
            text += self.rng.choice(_LETTERS)
        return text[:most]

    def shaped(self, schema: Mapping[str, Any], least: int, most: int) -> str:
        """A text for a pattern: one of the schema's own examples, or of common shapes."""
        known = [schema.get("default"), *schema.get("examples", ()), *_SHAPES]
        texts = [text for text in known if isinstance(text, str) and least <= len(text) <= most]
        with contextlib.suppress(re.error):  # another language's notation: whoever checks the draw reads it
            texts = [text for text in texts if re.search(schema["pattern"], text)]
        return str(self.rng.choice(_not_empty(texts)))


def _bounds(schema: Mapping[str, Any], gap: int) -> tuple[float, float]:
    """The least and the greatest number; ``gap`` is how far an excluded bound is away."""
    lows = [schema[key] + more for key, more in (("minimum", 0), ("exclusiveMinimum", gap)) if _is_number(schema, key)]
    highs = [schema[key] - more for key, more in (("maximum", 0), ("exclusiveMaximum", gap)) if _is_number(schema, key)]
    if lows:
        return max(lows), min(highs) if highs else max(lows) + 100
    return (min(highs) - 100, min(highs)) if highs else (0, 100)


def _is_number(schema: Mapping[str, Any], key: str) -> bool:
    return isinstance(schema.get(key), (int, float)) and not isinstance(schema[key], bool)


def _merged(schema: Mapping[str, Any], other: Any) -> Mapping[str, Any]:
    """Both schemas at once, as far as that can be written without reasoning about values."""
    if other is True:
        return schema
    if not isinstance(other, Mapping):
        raise NoValue("no value is accepted here")
    merged = {**schema, **other}
    if "properties" in schema and "properties" in other:
        merged["properties"] = {**schema["properties"], **other["properties"]}
    if "required" in schema and "required" in other:
        merged["required"] = list(dict.fromkeys((*schema["required"], *other["required"])))
    return merged


def _without(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _not_empty(values: Any) -> list[Any]:
    if not values:
        raise NoValue("no value is accepted here")
    return list(values)
