"""Calls as the elements of one JSON array: ``[{"name": ..., "arguments": {...}}, ...]``.

Read element by element, so that a fault costs one call: an element that is no JSON ends where its brackets
balance. An array that breaks off keeps its whole elements and is ``truncated`` behind them.

For arrays behind a mark that is a token of the model's own. Where brackets do not balance, or a comma is missing,
nothing is guessed: the next mark is surely the next call. ``call_array`` reads arrays without a mark, where brackets
and commas are all there is to go on by, and so finds more in a broken one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import NextMark
from callgym.dialects.broken_json import BrokenJson, balanced_end
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError, ParseErrorKind

__all__ = ["CallList"]

ReadObject = Callable[[Any, int], ToolCall | ParseError]
"""From an element of the array and its position: the call that it is, or what is wrong."""


class CallList:
    """One array of calls; once ``calls`` has been read to its end, ``end`` is where the array ends."""

    def __init__(
        self, text: str, start: int, openings: NextMark, broken: BrokenJson, read: ReadObject, *, ended: bool
    ) -> None:
        """Prepare to read the array that starts there.

        Args:
            text: What the policy wrote.
            start: Where the array's bracket opens.
            openings: Where further calls open: an array whose end a fault hides ends there at the latest.
            broken: Where an element that cannot be read ends at the latest.
            read: Reads an element.
            ended: Whether the policy ended its turn behind the text, so that nothing broke off.
        """
        self._text, self._openings, self._broken, self._read, self._ended = text, openings, broken, read, ended
        self.start = self.end = start

    def calls(self, offset: int, most_faults: int) -> Iterator[ToolCall | ParseError]:
        """The calls and faults, in order.

        Args:
            offset: What to add to positions.
            most_faults: After so many the rest is not read.
        """
        text, at = self._text, skip_space(self._text, self.start + 1)
        if text.startswith("]", at):
            self.end = at + 1
            yield _error("malformed", offset + at, "a list of calls holds one call at least")
            return
        while True:
            found: ToolCall | ParseError
            try:
                value, end = scan_json(text, at)
            except JsonTextError as error:
                end = self._behind_fault(at)
                found = self._fault(error, offset, balanced=end > 0)
            else:
                found = self._read(value, offset + at)
            yield found
            most_faults -= type(found) is ParseError
            if not end or not most_faults:
                return
            at = skip_space(text, end)
            if text.startswith("]", at):
                self.end = at + 1
                return
            if not text.startswith(",", at):
                self.end = self._limit(at)
                broke_off = at == len(text) and not self._ended
                yield _error("truncated" if broke_off else "malformed", offset + at, "']' is missing behind the calls")
                return
            at = skip_space(text, at + 1)

    def _limit(self, at: int) -> int:
        """Where the array ends at the latest."""
        following = self._openings.at(at)
        return following if following >= 0 else len(self._text)

    def _behind_fault(self, at: int) -> int:
        """Where the brackets of a broken element balance; 0 where they do not, and the array ends with it."""
        self.end = self._limit(self._broken.leave(self._text, at))
        end = balanced_end(self._text, at, self.end) if self._text.startswith("{", at) else 0
        return end if self._text.endswith("}", 0, end) else 0  # a ] is the array's own

    def _fault(self, error: JsonTextError, offset: int, *, balanced: bool) -> ParseError:
        broke_off = error.truncated and not balanced and not self._ended and self.end == len(self._text)
        message = f"a call in the list cannot be read: {error}"
        return _error("truncated" if broke_off else "malformed", offset + error.position, message)


def _error(kind: ParseErrorKind, position: int, message: str) -> ParseError:
    return ParseError(kind=kind, position=position, message=message)
