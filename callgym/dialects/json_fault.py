"""Where almost-JSON breaks: the value around a reader's fault, and the brackets that are open there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from callgym.dialects.json_text import JsonTextError, scan_json

__all__ = ["CLOSING", "STRING", "JsonFault", "find_fault", "reads_as_json"]

CLOSING = {"{": "}", "[": "]"}
"""Opening bracket to closing one."""
STRING = r'"(?:[^"\\]++|\\.)*+"'
"""Pattern of a text in double quotes."""

_MOST_STARTS = 12
"""Brackets that are tried as the beginning of the value with the fault."""
_OPENING = re.compile(r"[\[{]")
_PART = re.compile(rf"{STRING}?+|[\[\]{{}}]", re.DOTALL)  # the last text may be open


class JsonFault(NamedTuple):
    """Where a JSON value breaks."""

    start: int
    """Where the value begins."""
    position: int
    stack: Sequence[str]
    """The brackets that are open there."""
    text_start: int
    """Where the last text before it begins."""


def find_fault(text: str, position: int, marks: Sequence[str]) -> JsonFault | None:
    """The outermost JSON value that breaks there; or, where one begins there, the place where that one breaks."""
    behind_mark = max([text.rfind(mark, 0, position) + len(mark) for mark in marks if mark in text], default=0)
    for low in dict.fromkeys((0, behind_mark)):
        tried, at = 0, low
        while tried < _MOST_STARTS and (opening := _OPENING.search(text, at, position)) is not None:
            start = opening.start()
            broken = _break(text, start)
            if broken == position:
                return _fault(text, start, position)
            at = -broken if broken < -start else start + 1
            tried += 1
    if text[position : position + 1] in CLOSING:
        broken = _break(text, position)
        if broken > position:
            return _fault(text, position, broken)
    return None


def reads_as_json(text: str, start: int) -> bool:
    """Whether a whole JSON value begins there."""
    return _break(text, start) < 0


def _break(text: str, start: int) -> int:
    """Where the JSON value that begins there breaks; where it does not, its end as a negative number."""
    try:
        return -scan_json(text, start)[1]
    except JsonTextError as error:
        return error.position


def _fault(text: str, start: int, position: int) -> JsonFault:
    stack: list[str] = []
    text_start = start
    for part in _PART.finditer(text, start, position):
        first = part.group()[0]
        if first == '"':
            text_start = part.start()
        elif first in CLOSING:
            stack.append(first)
        elif stack:
            stack.pop()
    return JsonFault(start, position, stack, text_start)
