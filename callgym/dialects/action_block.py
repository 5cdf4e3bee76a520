"""The block ``Action: name`` / ``Action Input: {...}``, which ReAct has, and others took over from it.

    Action: get_weather
    Action Input: {"city": "Oslo"}

The input is one JSON object; its end is where the JSON ends, so that a label inside a string is data. Nothing stands
for an object that has no members: a call without arguments has the input ``{}``, or none before what follows.
Python's notation is refused, with a message that says so: two notations for one thing would have to be told apart
by guessing at quotes. A name that is no single plain line is written as a JSON string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import call_or_error
from callgym.dialects.broken_json import BrokenJson
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.json_text import JsonTextError, read_json, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.turns import write_body
from callgym.episode import ParseError, ParseErrorKind

__all__ = ["ActionBlocks", "write_block"]

_MAX_SHOWN = 80
_INPUT = "Action Input:"

_LINE_ENDS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"})
_FENCE = re.compile(r"\s*+```")


class ActionBlocks:
    """How blocks stand in a text; holds no state."""

    def __init__(self, name: str, nothing: str, behind: str, ends: str) -> None:
        """Describe it.

        Args:
            name: Pattern of a tool's name and the space around it. Where many labels may stand in one line it needs a
                limit, or each of them would cost the whole line.
            nothing: Pattern of what says, in place of a value, that there is none.
            behind: Pattern of what may follow a value; where it does not match, the value was not all.
            ends: Pattern of what ends a block whose value cannot be read. Inside a text, even of a broken value, it is
                data: it may be what somebody else said.
        """
        self._name = re.compile(name)
        self._input = re.compile(r"\n\s*+Action Input(?: ?\d{1,3})?+:\s*+(```(?:json)?+\s*+)?+")
        self._nothing = re.compile(nothing, re.MULTILINE)
        self._behind = re.compile(behind)
        self._broken = BrokenJson(ends, tokens=False)

    def read(self, text: str, at: int, offset: int) -> tuple[ToolCall | ParseError, int]:
        """Read a block.

        Args:
            text: What the policy wrote.
            at: The position behind the label ``Action:``.
            offset: What to add to positions in this text.

        Returns:
            The call or what is wrong with it, and where reading goes on: behind the value, or behind what
            belongs to a value that cannot be read.
        """
        name_end = self._name_end(text, at)
        name = _read_name(text[at:name_end].strip())
        label = self._input.match(text, name_end)
        if label is None:
            return _without_input(text, name, name_end, offset), name_end
        if self._is_nothing(text, label):
            return _call(name, {}, offset + at), label.end()
        try:
            value, end = self._scan(text, label)
        except JsonTextError as error:
            kind: ParseErrorKind = "truncated" if error.truncated else "malformed"
            message = (
                f"the Action Input of {name[:_MAX_SHOWN]} cannot be read: {error}. It is one JSON object like "
                '{"name": "value"}: names and texts in double quotes, true, false, null'
            )
            return _fault(kind, offset + error.position, message), self._broken.leave(text, label.end())
        if self._behind.match(text, end):
            return _call(name, value, offset + at), end
        message = f"the Action Input of {name[:_MAX_SHOWN]} is one JSON object and nothing behind it"
        return _fault("malformed", offset + end, message), self._broken.leave(text, end)

    def spans(self, text: str, label: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Start and end of each block with such a label; of one that cannot be read, only of the label."""
        at = faults = 0
        while (found := label.search(text, at)) is not None:
            at = found.end()
            follows = self._input.match(text, self._name_end(text, at))
            try:
                if follows is not None and not self._is_nothing(text, follows):
                    at = self._scan(text, follows)[1]
            except JsonTextError:
                faults += 1
            if faults == MAX_FAULTS:  # nothing behind it is read
                at = len(text)
            yield found.start(), at

    def _name_end(self, text: str, at: int) -> int:
        name = self._name.match(text, at)
        assert name is not None
        return name.end()

    def _is_nothing(self, text: str, label: re.Match[str]) -> bool:
        return label[1] is None and self._nothing.match(text, label.end()) is not None

    def _scan(self, text: str, label: re.Match[str]) -> tuple[Any, int]:
        """The value behind the label, and the position behind it and its fence.

        Raises:
            JsonTextError: It cannot be read.
        """
        value, end = scan_json(text, label.end())
        fence = _FENCE.match(text, end) if label[1] is not None else None
        return value, end if fence is None else fence.end()


def write_block(call: ToolCall, marks: Iterable[str] = ()) -> str:
    """The two lines of a call; none of the marks stands in them."""
    name = call.name
    plain = name.splitlines() == [name] == [name.strip()] and name[0] != '"' and not any(mark in name for mark in marks)
    written = name if plain else _write_line(name, marks)
    return f"Action: {written}\n{_INPUT} {_write_line(call.arguments, marks)}"


def _write_line(value: Any, marks: Iterable[str]) -> str:
    """JSON that is one line, whatever a reader takes for the end of one."""
    return write_body(value, marks).translate(_LINE_ENDS)


def _fault(kind: ParseErrorKind, position: int, message: str) -> ParseError:
    return ParseError(kind=kind, position=position, message=message)


def _call(name: str, value: Any, position: int) -> ToolCall | ParseError:
    if not name:
        return _fault("malformed", position, "the tool's name is missing behind 'Action:'")
    return call_or_error(name, value, position, trusted=True)


def _read_name(written: str) -> str:
    if written.startswith('"') and written.endswith('"'):
        try:
            name = read_json(written)
        except JsonTextError:
            return written
        if isinstance(name, str):
            return name
    return written


def _without_input(text: str, name: str, at: int, offset: int) -> ParseError:
    """The fault of a block whose second label does not follow the name."""
    following = skip_space(text, at)
    if len(text) - following < len(_INPUT) and _INPUT.startswith(text[following:].rstrip()):
        return _fault("truncated", offset + len(text), f"{_INPUT!r} is missing at the end")
    message = f"{_INPUT!r} with one JSON object, {{}} for no arguments, belongs below 'Action: {name[:_MAX_SHOWN]}'"
    return _fault("malformed", offset + following, message)
