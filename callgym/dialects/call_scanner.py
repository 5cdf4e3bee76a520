"""An action as a list of calls, ``[f(a=1), g()]``, or as calls and nothing else, in whatever notation a call has.

A ``CallScanner`` reads one call; this module finds the calls of an action and says what is wrong with the others. What
cannot be read costs one call, and its neighbours in the list are made; only where its end cannot be told everything
behind it is lost, too, for it may be part of a value. A call in a list is made only where a separator or the closing
bracket follows it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.literal import LiteralError, skip_space
from callgym.dialects.transcript import ASSISTANT
from callgym.episode import ParseError, ParseErrorKind

__all__ = ["MAX_CALLS", "CallScanner", "read_calls"]

MAX_CALLS = 1_000
"""Calls of one action that are read."""
_MAX_FAULTS = 50
"""After so many of them in one action the rest is not read."""

_FENCE = re.compile(r"```(?:[\w+-]{0,20}[^\S\n]*+\n)?+\s*+")
_EMPTY_FENCE = re.compile(r"```(?:[\w+-]{0,20}[^\S\n]*+\n)?\s*+```|(?<!`)`\s*+`(?!`)")
_EMPTY_LIST = re.compile(r"\[\s*+\]")


class CallScanner(ABC):
    """Reads single calls of one text, in one notation."""

    opening: ClassVar[re.Pattern[str]]
    """A bracket, and the space behind it, with a call following."""
    promising: ClassVar[re.Pattern[str]]
    """The same where no fault follows at once; a text may be full of those."""
    bare: ClassVar[re.Pattern[str]]
    """A call that may stand without brackets, up to its parenthesis; the first group tells a call from words."""
    separators: ClassVar[tuple[str, ...]] = (",",)
    """What stands between the calls of a list."""

    def __init__(self, text: str) -> None:
        self.text = text

    @abstractmethod
    def call(self, position: int) -> tuple[ToolCall, int]:
        """The call that starts there, and the position after it.

        Raises:
            LiteralError: There is none, or it cannot be read.
        """

    @abstractmethod
    def is_call(self, position: int) -> bool:
        """Whether a call starts there, be it one that can be read or not."""

    @abstractmethod
    def behind(self, position: int) -> int:
        """The position after the call, or whatever else starts there; -1 where it cannot be told."""


def read_calls(text: str, scanner: Callable[[str], CallScanner]) -> ParsedAction:
    """Read an action: set reasoning aside, then find a list of calls, calls and nothing else, or words.

    Args:
        text: The action.
        scanner: Reads the calls of a text.
    """
    reasoning, rest, offset = "", text, 0
    if "think>" in text:
        spans = CallSpans(text, lambda whole: _spans(scanner(whole)))
        reasoning, rest, offset = split_reasoning(text, spans.next)
    start, end = _inner_bounds(rest)
    inner = rest[start:end]
    if _EMPTY_LIST.fullmatch(inner):
        return ParsedAction(reasoning=reasoning)
    bare = _Reading(scanner(inner))
    if bare.read_bare():
        return bare.as_action("", reasoning, offset + start)
    listed = _Reading(scanner(rest))
    return listed.as_action(listed.read_lists(), reasoning, offset)


class _Fault(NamedTuple):
    """A call that cannot be read."""

    kind: ParseErrorKind
    position: int
    start: int
    """Where the call starts."""
    message: str

    def as_error(self, offset: int) -> ParseError:
        message = f"the call at character {offset + self.start} cannot be read: {self.message}"
        return ParseError(kind=self.kind, position=offset + self.position, message=message)


class _Reading:
    """The calls in a text and the faults in them, as they are found."""

    def __init__(self, scanner: CallScanner) -> None:
        self.scanner = scanner
        self.text = scanner.text
        self.calls: list[ToolCall] = []
        self.faults: list[_Fault] = []

    def as_action(self, content: str, reasoning: str, offset: int) -> ParsedAction:
        errors = tuple([fault.as_error(offset) for fault in self.faults])
        return ParsedAction(tuple(self.calls[:MAX_CALLS]), errors, content, reasoning)

    def read_bare(self) -> bool:
        """Read calls that are the whole text, or nothing at all; False where it is words, or a list."""
        text, at = self.text, 0
        while at < len(text):
            opening = self.scanner.bare.match(text, at)
            if opening is None:
                return False
            call, end = self._read_call(at)
            if end < 0:
                return opening[1] is not None
            if not self._add(call):
                return True
            at = skip_space(text, end)
            if text.startswith((",", ";"), at):
                at = skip_space(text, at + 1)
            elif at < len(text) and "\n" not in text[end:at]:
                return False
        return True

    def read_lists(self) -> str:
        """Read the calls in all lists; returns the words outside of them."""
        words: list[str] = []
        at = 0
        while len(self.faults) < _MAX_FAULTS and (opening := self.scanner.opening.search(self.text, at)) is not None:
            words.append(self.text[at : opening.start()])
            at = self._read_list(opening.end())
        words.append(self.text[at:])
        content = "".join(words).strip()
        if len(words) > 1 and "`" in content:  # the fences that lists stood in
            content = _EMPTY_FENCE.sub("", content).strip()
        content = content.removeprefix(ASSISTANT).strip()
        return "" if _EMPTY_LIST.fullmatch(content) else content

    def _read_list(self, position: int) -> int:
        """Read calls up to the closing bracket; the position where the text goes on."""
        text, at = self.text, position
        while True:
            call, end = self._read_call(at)
            if end < 0:  # what follows may be part of the call's values
                return len(text)
            end = skip_space(text, end)
            is_last = text.startswith("]", end)
            if not is_last and not text.startswith(self.scanner.separators, end):
                if call is not None:
                    self.faults.append(_unfollowed(text, at, end))
                return end
            if not self._add(call):
                return len(text)
            at = skip_space(text, end + 1)
            if is_last:
                return end + 1
            if text.startswith("]", at):
                return at + 1

    def _read_call(self, position: int) -> tuple[ToolCall | None, int]:
        """One call, or None and a fault; and the position after it, -1 where that cannot be told."""
        try:
            return self.scanner.call(position)
        except LiteralError as error:
            end = -1 if error.at_end else self.scanner.behind(position)
            is_told = end >= 0 and self.scanner.is_call(position)
            kind: ParseErrorKind = "truncated" if error.at_end else "arguments" if is_told else "malformed"
            self.faults.append(_Fault(kind, error.position, position, str(error)))
            return None, end

    def _add(self, call: ToolCall | None) -> bool:
        """Keep a call that could be read; False where nothing more is to be read."""
        if call is not None:
            self.calls.append(call)
        if len(self.calls) > MAX_CALLS:
            end = len(self.text)
            message = f"more than {MAX_CALLS} calls are too many for one action"
            self.faults.append(_Fault("too_long", end, end, message))
            return False
        return len(self.faults) < _MAX_FAULTS


def _unfollowed(text: str, start: int, position: int) -> _Fault:
    """The fault of a call in a list that neither goes on nor ends behind it."""
    if position >= len(text):
        return _Fault("truncated", position, start, "']' is missing at the end")
    return _Fault("malformed", position, start, f"',' or ']' belongs before {text[position : position + 20]!r}")


def _spans(scanner: CallScanner) -> Iterator[tuple[int, int]]:
    """Start and end of each list up to its first fault, which is not skipped: from each of many that takes too long."""
    text, at, lists, faults = scanner.text, 0, 0, 0
    while lists < MAX_CALLS and faults < _MAX_FAULTS and (opening := scanner.promising.search(text, at)) is not None:
        at = opening.end()
        try:
            while True:
                _, at = scanner.call(at)
                at = skip_space(text, at)
                if not text.startswith(scanner.separators, at):
                    at += text.startswith("]", at)
                    break
                at = skip_space(text, at + 1)
        except LiteralError as error:
            # A quote that is never closed makes all that follows a part of the call.
            at = len(text) if error.at_end else max(error.position, opening.end())
            faults += 1
        lists += 1
        yield opening.start(), at


def _inner_bounds(text: str) -> tuple[int, int]:
    """Where the text inside label and fence begins and ends."""
    start, end = skip_space(text, 0), len(text.rstrip())
    if text.startswith(ASSISTANT, start):
        start = skip_space(text, start + len(ASSISTANT))
    if end - start >= 6 and text.startswith("```", start) and text.endswith("```", start, end):
        fence = _FENCE.match(text, start)
        assert fence is not None
        start, end = fence.end(), len(text[: end - 3].rstrip())
    elif end - start >= 2 and text[start] == text[end - 1] == "`":
        start, end = start + 1, end - 1
    return start, max(start, end)
