"""Calls as JSON objects between marks: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``.

The end of a call is where its JSON ends, not the first closing mark, so a mark inside a string is data. A
closing mark that is missing is not missed. A fault costs one block: reading goes on behind the next closing
mark, or at the next opening one. After ``MAX_FAULTS`` of them the rest is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import NextMark, ParsedAction, call_or_error, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_text import JsonTextError, read_json, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError

__all__ = ["MAX_FAULTS", "JsonBlocks", "read_call_object"]

MAX_FAULTS = 50
"""So many blocks that cannot be read are said of one action; what stands behind them is not read."""


class JsonBlocks:
    """A form of blocks, by its two marks; holds no state."""

    def __init__(self, opening: str, closing: str) -> None:
        """Say what blocks look like.

        Args:
            opening: What a block opens with.
            closing: What it closes with.
        """
        self.opening = opening
        self.closing = closing

    def read(self, text: str) -> ParsedAction:
        """All that an action says: its reasoning, its calls, their faults, and the words beside them."""
        if "think>" not in text:
            return self._read(text, 0, "")
        reasoning, rest, offset = split_reasoning(text, CallSpans(text, self.spans).next)
        return self._read(rest, offset, reasoning)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each block as far as its JSON can be read, for ``CallSpans``."""
        at = faults = 0
        while (start := text.find(self.opening, at)) >= 0 and faults < MAX_FAULTS:
            at = start + len(self.opening)
            try:
                at = scan_json(text, skip_space(text, at))[1]
            except JsonTextError:
                faults += 1
            yield start, at

    def _read(self, text: str, offset: int, reasoning: str) -> ParsedAction:
        opening, closing = self.opening, self.closing
        calls: list[ToolCall] = []
        errors: list[ParseError] = []
        words: list[str] = []
        faulty: _Faulty | None = None  # made at the first fault: most actions have none
        at = 0
        while (start := text.find(opening, at)) >= 0:
            if at < start:
                words.append(text[at:start])
            body = skip_space(text, start + len(opening))
            outcome: ToolCall | ParseError
            try:
                value, at = scan_json(text, body)
                behind = skip_space(text, at)
                if text.startswith(closing, behind):
                    at = behind + len(closing)
                    outcome = read_call_object(value, offset + body)
                elif behind == len(text) or text.startswith(opening, behind):
                    outcome = read_call_object(value, offset + body)
                else:
                    faulty = faulty or _Faulty(text, self, offset)
                    outcome, at = faulty.followed(behind) or (read_call_object(value, offset + body), at)
            except JsonTextError as error:
                faulty = faulty or _Faulty(text, self, offset)
                outcome, at = faulty.unread(error, start + len(opening))
            if type(outcome) is ToolCall:
                calls.append(outcome)
            elif type(outcome) is ParseError:
                errors.append(outcome)
                if len(errors) == MAX_FAULTS:
                    at = len(text)
        if at < len(text):
            words.append(text[at:])
        return ParsedAction(tuple(calls), tuple(errors), "".join(words).strip() if words else "", reasoning)


class _Faulty:
    """Where reading goes on behind the blocks of one text that are not as they should be."""

    def __init__(self, text: str, form: JsonBlocks, offset: int) -> None:
        self._form, self._offset, self._length = form, offset, len(text)
        self._openings, self._closings = NextMark(text, form.opening), NextMark(text, form.closing)

    def followed(self, position: int) -> tuple[ParseError, int] | None:
        """The fault of a block with something else behind its JSON; None where no closing mark comes, either."""
        close, following = self._closings.at(position), self._openings.at(position)
        if close < 0 or 0 <= following < close:  # the closing mark is the next block's
            return None
        message = f"there is text between the JSON object and {self._form.closing}"
        fault = ParseError(kind="malformed", position=self._offset + position, message=message)
        return fault, close + len(self._form.closing)

    def unread(self, error: JsonTextError, position: int) -> tuple[ParseError, int]:
        """The fault of a block whose JSON cannot be read."""
        close, following = self._closings.at(position), self._openings.at(position)
        truncated = error.truncated and close < 0 and following < 0
        ends = [end for end in (close + len(self._form.closing) if close >= 0 else -1, following) if end >= 0]
        fault = ParseError(
            kind="truncated" if truncated else "malformed",
            position=self._offset + error.position,
            message=f"the JSON in {self._form.opening} cannot be read: {error}",
        )
        return fault, min(ends, default=self._length)


def read_call_object(value: Any, position: int, id: Any = None) -> ToolCall | ParseError:
    """The call that an object with ``name`` and ``arguments`` (or ``parameters``) makes, or what is wrong with it.

    Args:
        value: What ``json_text`` read.
        position: Where it stands.
        id: The call's id, where one came with it.
    """
    if type(value) is not dict:
        message = f"a call is a JSON object with 'name' and 'arguments', not a {type(value).__name__}"
        return ParseError(kind="malformed", position=position, message=message)
    name = value.get("name")
    arguments = value["arguments"] if "arguments" in value else value.get("parameters", {})
    if type(arguments) is str:
        arguments = _unwrapped(arguments)
    if type(arguments) is dict and type(name) is str and name and (id is None or type(id) is str):  # most calls
        return ToolCall.trusted(name=name, arguments=arguments, id=id)
    return call_or_error(name, arguments, position, id, trusted=True)


def _unwrapped(text: str) -> Any:
    """The object that a text holds, or else the text."""
    try:
        value = read_json(text)
    except JsonTextError:
        return text
    return value if type(value) is dict else text
