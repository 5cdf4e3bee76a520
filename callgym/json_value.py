"""Copying and checking JSON values at a fraction of the cost of a validator: this runs on every step."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["MAX_INTEGER_BITS", "copy_json", "copy_trusted", "nests_deeper", "refuse_constant", "write_json"]

MAX_INTEGER_BITS = 14_000
"""Python writes and reads integers of at most 4,300 digits."""

write_json = json.JSONEncoder(ensure_ascii=False).encode
"""A JSON value as text; one encoder for all, where ``json.dumps`` with options makes a new one each time."""


_ATOMS = frozenset((str, bool, int, float, type(None)))


def copy_trusted(value: Any) -> Any:
    """A deep copy of a value that is known to be JSON: a call's arguments, say."""
    kind = type(value)
    if kind is dict:
        return {key: item if type(item) in _ATOMS else copy_trusted(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [item if type(item) in _ATOMS else copy_trusted(item) for item in value]
    return value


_AS_THEY_ARE = frozenset((str, bool, type(None)))


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value; tuples become lists.

    Raises:
        TypeError: A value, or a key, is not JSON.
        ValueError: A number is NaN, infinite, or an integer too long to be written.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        if value.bit_length() > MAX_INTEGER_BITS:
            raise ValueError("an integer of more than 4,200 digits cannot be written as JSON")
        return value
    if kind is float:
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number; use null or a finite number")
        return value
    if kind is dict:
        "".join(value)  # the quickest way to be told of a key that is no text: a TypeError
        return {key: item if type(item) in _AS_THEY_ARE else copy_json(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [item if type(item) in _AS_THEY_ARE else copy_json(item) for item in value]
    raise TypeError(f"{kind.__name__} is not a JSON value: {str(value)[:80]!r}")


def refuse_constant(name: str) -> Any:
    """For ``json.loads(parse_constant=...)``: NaN and the infinities are no JSON.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{name} is no number")


def nests_deeper(value: Any, most: int) -> bool:
    """Whether lists and objects stand in each other more than ``most`` levels deep; level by level, so of any depth."""
    level = [value]
    for _ in range(most + 1):
        level = [
            item
            for holder in level
            if isinstance(holder, (dict, list))
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return False
    return True
