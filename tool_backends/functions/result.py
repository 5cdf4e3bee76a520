"""What a function returns, as JSON: dataclasses, pydantic models, enums, dates, tuples and sets become plain values::

    to_json({"when": date(2024, 1, 31), "tags": {"b", "a"}})  # {"when": "2024-01-31", "tags": ["a", "b"]}

The same value gives the same JSON on every machine: sets are sorted, nothing depends on a hash or an address. Texts
of dates, times, UUIDs and the like are pydantic's, so that they are what the schema of the answer says.
"""

from __future__ import annotations

import dataclasses
import inspect
import ipaddress
import math
import re
import uuid
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence, Set, ValuesView
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from callgym.json_value import MAX_INTEGER_BITS, write_json

__all__ = ["NotJson", "state_json", "to_json"]

_DEEPEST = 100
_ATOM = 8
"""Bytes that a container, or an entry of one beside its text, counts as."""
_TEXTS = (
    date, time, timedelta, uuid.UUID, Decimal, bytes, bytearray, PurePath, re.Pattern,
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network,
)  # fmt: skip


class NotJson(TypeError):
    """A value, or a part of it, cannot be JSON; the text is a noun phrase that says why."""


def to_json(value: Any, most_bytes: int) -> Any:
    """A fresh JSON value that shares nothing with ``value``.

    Args:
        value: What a function returned.
        most_bytes: About how long the JSON may be.

    Raises:
        NotJson: A part is of a type that is no JSON, a number is not finite, or the value is too long or too deep.
    """
    kind = type(value)
    if (kind is str and len(value) <= most_bytes) or kind is bool or value is None:
        return value
    return _Writer(most_bytes).value(value, 0)


def state_json(value: Any) -> Any:
    """As ``to_json``, of any size; in the place of what cannot be JSON stands its type in angle brackets."""
    return _StateWriter(math.inf).value(value, 0)


class _Writer:
    def __init__(self, left: float) -> None:
        self.left = left
        self.most = left

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            self.spend(len(value))
            return value
        if kind is bool or value is None:
            return value
        if kind is int or kind is float:
            return self.number(value)
        if depth > _DEEPEST:
            return self.refuse(f"a value nested more than {_DEEPEST} deep")
        if kind is dict:
            return self.object(value, depth)
        if kind is list or kind is tuple:
            return self.array(value, depth)
        return self.other(value, depth)

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise NotJson(f"more than the {self.most:,.0f} bytes that a result may have")

    def refuse(self, what: str, shown: str = "") -> Any:
        raise NotJson(what)

    def number(self, value: int | float) -> Any:
        if type(value) is float:
            return value if math.isfinite(value) else self.refuse(f"{value}, which is no JSON number", f"{value}")
        if value.bit_length() > MAX_INTEGER_BITS:  # type: ignore[union-attr]
            return self.refuse("an integer of more than 4,200 digits, which cannot be written as JSON", "int")
        return value

    def object(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        self.spend(_ATOM * (1 + len(value)))
        written: dict[str, Any] = {}
        texts = 0
        for key, item in value.items():
            name = key if type(key) is str else self.key(key)
            if name in written:
                self.refuse(f"an object with two keys that are both written {name[:40]!r}")
            texts += len(name)
            if type(item) is str:
                texts += len(item)
                written[name] = item
            else:
                written[name] = self.value(item, depth + 1)
        self.spend(texts)
        return written

    def array(self, value: Collection[Any], depth: int) -> list[Any]:
        self.spend(_ATOM * (1 + len(value)))
        return [self.value(item, depth + 1) for item in value]

    def key(self, key: Any) -> str:
        """A key as ``json.dumps`` writes it, and those of the types that become text."""
        if key is None or isinstance(key, (str, int, float, Enum, np.generic, *_TEXTS)):
            text = self.value(key, _DEEPEST)
            if not isinstance(text, (list, dict)):
                return text if isinstance(text, str) else write_json(text)
        return str(self.refuse(f"an object with a key of type {type(key).__name__}", type(key).__name__))

    def other(self, value: Any, depth: int) -> Any:
        """What is JSON only after a conversion: subclasses of JSON types, and the common types of Python."""
        if isinstance(value, Enum):
            return self.value(value.value, depth + 1)
        if isinstance(value, (str, int, float)):
            return self.plain(value, depth)
        if isinstance(value, (np.generic, np.ndarray)):
            return self.value(value.tolist(), depth + 1)
        if isinstance(value, BaseModel):
            return self.value(value.model_dump(by_alias=True), depth + 1)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.object({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, depth)
        if isinstance(value, _TEXTS):
            return self.text(value, depth)
        if isinstance(value, Mapping):
            return self.object(value, depth)
        if isinstance(value, Set):
            return sorted(self.array(value, depth), key=_rank)  # numbers by size, all else by type and text
        if isinstance(value, (Sequence, deque, ValuesView)):
            return self.array(value, depth)
        return self.refuse(_noun(value), type(value).__name__)

    def plain(self, value: str | int | float, depth: int) -> Any:
        """A subclass of a JSON type as that type, whatever its own ``__str__`` or ``__int__`` says."""
        if isinstance(value, str):
            return self.value(str.__str__(value), depth)
        return self.value(int.__int__(value) if isinstance(value, int) else float.__float__(value), depth)

    def text(self, value: Any, depth: int) -> Any:
        if isinstance(value, PurePath):
            return self.value(str(value), depth)
        try:
            text = value.decode() if isinstance(value, (bytes, bytearray)) else to_jsonable_python(value)
        except ValueError:
            return self.refuse(f"{type(value).__name__} that cannot be written as text", type(value).__name__)
        return self.value(text, depth + 1)


class _StateWriter(_Writer):
    def refuse(self, what: str, shown: str = "") -> Any:
        return f"<{shown or what}>"


def _rank(item: Any) -> tuple[str, float, str]:
    if isinstance(item, (int, float)) and abs(item) < 2**53:
        return "number", item, write_json(item)
    return type(item).__name__, 0.0, write_json(item)


def _noun(value: Any) -> str:
    if inspect.iscoroutine(value):
        value.close()  # or Python complains that nobody awaited it
        return "a coroutine that nobody awaited; a tool that awaits is declared with 'async def'"
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        return "a generator; a tool returns its values as a list"
    kind = "an iterator" if isinstance(value, Iterable) and hasattr(value, "__next__") else "an object"
    return f"{kind} of type {type(value).__name__}, which is no JSON value"
