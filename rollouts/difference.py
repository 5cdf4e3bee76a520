"""The first place in which two JSON values are written differently::

first_difference({"a": [1, 2]}, {"a": [1, 3]})  # Difference(path='a[1]', stored='2', replayed='3')
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["ABSENT", "Difference", "first_difference", "line_difference"]

ABSENT = "(absent)"
"""What stands for a value that one side has not."""
_WIDEST = 160
_BEFORE = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two records part, and what each has there."""

    path: str
    """The field, such as ``steps[2].results[0].content``; ``(the line)`` where only the spelling differs."""
    stored: str
    """JSON text of what the file has, shortened to what surrounds the difference; or ``ABSENT``."""
    replayed: str
    """The same of what was found instead."""


def first_difference(stored: Any, replayed: Any) -> Difference | None:
    """The first difference, in the order in which ``stored`` is written; None where there is none.

    Values are equal where they are written with the same bytes: 1, 1.0 and true are three values, and an object
    with its keys in another order is another.
    """
    path = ""
    while True:
        if _text(stored) == _text(replayed):
            return None
        if isinstance(stored, dict) and isinstance(replayed, dict):
            key = _parting_key(stored, replayed)
            if key is None:
                return Difference(path or "(the line)", _keys(stored), _keys(replayed))
            path = f"{path}.{key}" if path else key
            if key not in stored or key not in replayed:
                return _shown(path, stored.get(key, _NOTHING), replayed.get(key, _NOTHING))
            stored, replayed = stored[key], replayed[key]
        elif isinstance(stored, list) and isinstance(replayed, list):
            at = _parting_place(stored, replayed)
            path = f"{path}[{at}]"
            if at >= min(len(stored), len(replayed)):
                return _shown(path, *(items[at] if at < len(items) else _NOTHING for items in (stored, replayed)))
            stored, replayed = stored[at], replayed[at]
        else:
            return _shown(path or "(the line)", stored, replayed)


def line_difference(stored: bytes, replayed: bytes) -> Difference:
    """The difference of two lines that hold the same values: spaces, escapes, a key that is written twice."""
    at = _common(stored, replayed)
    around = slice(max(0, at - _BEFORE), at + _BEFORE)
    return Difference("(the line)", *(repr(line[around])[1:] for line in (stored, replayed)))


_NOTHING = object()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parting_key(stored: dict[str, Any], replayed: dict[str, Any]) -> str | None:
    """The first key whose values differ or that one side lacks; None where only the order of keys differs."""
    for key, value in stored.items():
        if key not in replayed or _text(value) != _text(replayed[key]):
            return key
    return next((key for key in replayed if key not in stored), None)


def _parting_place(stored: list[Any], replayed: list[Any]) -> int:
    for at, (one, other) in enumerate(zip(stored, replayed, strict=False)):
        if _text(one) != _text(other):
            return at
    return min(len(stored), len(replayed))


def _keys(value: dict[str, Any]) -> str:
    text = "keys in the order " + ", ".join(map(_text, value))
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."


def _shown(path: str, stored: Any, replayed: Any) -> Difference:
    texts = [None if value is _NOTHING else _text(value) for value in (stored, replayed)]
    at = 0 if None in texts else _common(*texts)
    return Difference(path, *(ABSENT if text is None else _around(text, at) for text in texts))


def _around(text: str, at: int) -> str:
    """The part of a text that surrounds the difference."""
    if len(text) <= _WIDEST:
        return text
    start = max(0, at - _BEFORE)
    end = start + _WIDEST
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''} ({len(text)} characters)"


def _common(one: Any, other: Any) -> int:
    """How many elements two sequences have in common at their beginnings."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))
