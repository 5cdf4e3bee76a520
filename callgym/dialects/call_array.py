"""Calls as one JSON array, ``[{"name": ..., "arguments": {...}}, ...]``, read element by element.

An element that cannot be read costs itself: reading goes on at the next one, even where the array as a whole is no
JSON any more. Where that is, is told by brackets and commas outside texts: an opening brace behind a comma, unless it
stands in a list inside the broken element. So nothing that was an argument is ever taken for a call.

For arrays that no mark tells from words, and none follows: what is behind a fault is found by the brackets or not at
all. ``call_list`` reads arrays behind a mark, and goes on at the next one where brackets do not balance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.json_block import read_call_object
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError

__all__ = ["MOST_FAULTS", "data_in_array", "read_array", "read_object", "texts_in"]

Outcome = ToolCall | ParseError

MOST_FAULTS = 32
"""What is behind so many faults is not read."""
_PART = re.compile(r'"(?:[^"\\]++|\\.)*+"|["\[\]{},]', re.DOTALL)
_BROKEN_DRAFT = re.compile(r'</think>\s*+(?:```\w*+\s*+)?+(?:\[\s*+)?+\{\s*+"\Z')
_CALLS, _THOUGHT = "tool_calls", "thought"
_OF_A_CALL = frozenset(("name", "arguments", "parameters"))


class Element(NamedTuple):
    """An element of an array, or what stands where one should."""

    start: int
    """Where it starts."""
    end: int
    """Where it ends; where it is broken, where reading goes on."""
    value: Any = None
    """What it says."""
    fault: JsonTextError | None = None
    """Why it cannot be read."""


class CallArray:
    """One array; once ``elements`` has been gone through, ``end`` is where it ends."""

    def __init__(self, text: str, start: int) -> None:
        """Prepare to read the array that opens at ``start``."""
        self._text = text
        self._start = start
        self.end = len(text)

    def elements(self) -> Iterator[Element]:
        """The elements from left to right, and what is broken among them."""
        text, at = self._text, skip_space(self._text, self._start + 1)
        ended = text.startswith("]", at)
        if ended:
            at += 1
        while not ended:
            start, fault = at, None
            try:
                value, end = scan_json(text, start)
            except JsonTextError as error:
                at, ended = _behind(text, start)
                error.truncated = error.truncated and not ended and at >= len(text)
                yield Element(start, at, fault=error)
            else:
                yield Element(start, end, value)
                at, ended, fault = _behind_whole(text, end)
            if fault is not None:
                yield Element(end, at, fault=fault)
            ended = ended or at >= len(text)
        self.end = at


def read_array(text: str, start: int, offset: int = 0) -> tuple[list[Outcome], int]:
    """Read the array that opens at ``start``; ``offset`` is added to positions.

    Returns:
        Its calls and what is wrong with others, and the position behind it.
    """
    found: list[Outcome] = []
    faults = 0
    array = CallArray(text, start)
    for element in array.elements():
        if element.fault is not None:
            found.append(_fault(element.fault, offset))
        else:
            found.append(read_call_object(element.value, offset + element.start))
        faults += type(found[-1]) is ParseError
        if faults == MOST_FAULTS:
            return found, len(text)
    return found, array.end


def data_in_array(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Start and end of what is surely data in an array: its elements, and in broken ones the texts in quotes.

    Returns:
        These, and the position behind the array.
    """
    found: list[tuple[int, int]] = []
    faults = 0
    array = CallArray(text, start)
    for element in array.elements():
        if element.fault is None:
            found.append((element.start, element.end))
            faults += not (type(element.value) is dict and element.value.get("name"))  # as for read_array
        else:
            found += texts_in(text, element.start, element.end)
            faults += 1
        if faults == MOST_FAULTS:
            return found, len(text)
    return found, array.end


def read_object(text: str, start: int, offset: int = 0) -> tuple[list[Outcome] | None, str, int]:
    """Read the object that opens at ``start``: one call, or ``{"thought": ..., "tool_calls": [...]}``.

    Returns:
        Its calls and what is wrong with others, or None where it is an object of another kind; the thought; and the
        position behind it.
    """
    members: dict[str, object] = {}
    found: list[Outcome] = []
    at = skip_space(text, start + 1)
    try:
        while not text.startswith("}", at) or members:
            key, at = _read_key(text, at, members)
            if key == _CALLS and text.startswith("[", at):
                members[key] = []
                found, at = read_array(text, at, offset)
                if at >= len(text) and found and type(found[-1]) is ParseError:
                    return found, _thought(members), at  # the array has said already that the text broke off
            else:
                members[key], at = scan_json(text, at)
            at = skip_space(text, at)
            if text.startswith("}", at):
                break
            if not text.startswith(",", at):
                raise JsonTextError("',' or '}' is missing", at, truncated=at >= len(text))
            at = skip_space(text, at + 1)
    except JsonTextError as error:
        return [*found, _fault(error, offset)], _thought(members), len(text)
    if _CALLS in members:
        if type(members[_CALLS]) is not list:
            message = f"{_CALLS!r} is a JSON array of calls"
            found = [ParseError(kind="malformed", position=offset + start, message=message)]
        return found, _thought(members), at + 1
    if members and _OF_A_CALL.isdisjoint(members):
        return ([] if _THOUGHT in members else None), _thought(members), at + 1
    return [read_call_object(members, offset + start)], _thought(members), at + 1


def texts_in(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Start and end of each text in quotes that may hold a tag, in JSON that cannot be read.

    Left out is what only looks like one: a draft's text that breaks off, with all up to the first quote of the calls.
    """
    found = []
    for part in _PART.finditer(text, start, end):
        if part[0] == '"':  # never closed
            break
        if part[0][0] == '"' and "<" in part[0] and not _BROKEN_DRAFT.search(part[0]):
            found.append(part.span())
    return found


def _behind_whole(text: str, end: int) -> tuple[int, bool, JsonTextError | None]:
    """Behind an element that was read: where the next is, whether the array ends there, and what is wrong there."""
    at = skip_space(text, end)
    if text.startswith("]", at):
        return at + 1, True, None
    if text.startswith(",", at):
        following = skip_space(text, at + 1)
        if text.startswith("]", following):
            return following + 1, True, JsonTextError("a call is missing behind the last comma", at)
        if following >= len(text):
            return following, True, JsonTextError("the array of calls breaks off", following, truncated=True)
        return following, False, None
    if at >= len(text):
        return at, True, JsonTextError("the array of calls is not closed", at, truncated=True)
    fault = JsonTextError("',' or ']' is missing behind a call", at)
    resume, ended = (at, False) if text.startswith("{", at) else _behind(text, at)
    return resume, ended, fault


def _behind(text: str, start: int) -> tuple[int, bool]:
    """Behind a broken element: where the next is or, with True, where the array ends; or the end of the text."""
    opened: list[str] = []
    lists, comma, closing = 0, -1, -1
    for part in _PART.finditer(text, start):
        mark, at = part[0], part.start()
        if mark == ",":
            if not opened:
                return skip_space(text, at + 1), False
            comma = at
            continue
        if mark == "{" and comma >= 0 and opened[-1:] == ["{"] and skip_space(text, comma + 1) == at:
            return at, False  # no object holds one without a key: the one before has lost its own closing brace
        comma = -1
        if mark in "{[":
            opened.append(mark)
            lists += mark == "["
        elif mark == "]" and lists:
            while opened.pop() != "[":
                pass
            lists -= 1
        elif mark == "]":
            if not opened:
                return at + 1, True
            closing = at + 1  # of the array, or one too many
        elif mark == "}" and len(opened) > lists:
            while opened.pop() != "{":
                lists -= 1
        elif mark == '"':  # a text that is never closed
            break
    return (closing, True) if closing >= 0 else (len(text), False)


def _read_key(text: str, at: int, members: dict[str, object]) -> tuple[str, int]:
    """A key and its colon; gives the key and where its value begins."""
    key, end = scan_json(text, at)
    if type(key) is not str:
        raise JsonTextError("an object's keys are texts in quotes", at)
    if key in members:
        raise JsonTextError(f"key {key[:40]!r} appears twice in one object", at)
    end = skip_space(text, end)
    if not text.startswith(":", end):
        raise JsonTextError(f"':' is missing behind the key {key[:40]!r}", end, truncated=end >= len(text))
    return key, skip_space(text, end + 1)


def _thought(members: dict[str, object]) -> str:
    thought = members.get(_THOUGHT)
    return thought.strip() if isinstance(thought, str) else ""


def _fault(error: JsonTextError, offset: int) -> ParseError:
    return ParseError(
        kind="truncated" if error.truncated else "malformed",
        position=offset + error.position,
        message=f"there is a fault in the JSON of the calls: {error}",
    )
