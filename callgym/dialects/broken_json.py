"""Where reading goes on behind JSON that cannot be read: at the first mark that stands in none of its strings.

A mark inside a string is none, even where the JSON around it has a fault: whoever wrote the string must not get a call
made by it. What a string is that is never closed depends on the form's marks:

- Where marks are tokens of the model's own, which nobody else's words hold unless they are broken up, a quote was
  forgotten: marks count from there on. One that was forgotten further on is told apart, too: there the string
  swallowed a neighbour, whose first quote seems to close it.
- Where marks are plain text, which anybody may have said, all that follows is a part of the string: nothing more is
  read.
"""

from __future__ import annotations

import re

__all__ = ["BrokenJson", "balanced_end"]

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# A string that is not closed goes to the end: looking for its end from each of its quotes would take long.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)|[\[{]|[\]}]', re.DOTALL)
_BEFORE_A_STRING = ("{", "[", ",", ":")


class BrokenJson:
    """How to leave such JSON; holds no state."""

    def __init__(self, marks: str, *, tokens: bool) -> None:
        """Describe where it may end.

        Args:
            marks: A pattern for the marks; none begins with a quote.
            tokens: Whether they are the model's own tokens, not plain text.
        """
        self._parts = re.compile(f'{_STRING}|"|{marks}', re.DOTALL)
        self._marks = re.compile(marks)
        self._tokens = tokens

    def leave(self, text: str, position: int) -> int:
        """The first mark at or behind ``position`` that stands in no string, or where marks count again; linear."""
        for part in self._parts.finditer(text, position):
            start, end = part.span()
            if not text.startswith('"', start):
                return start
            if end == start + 1:  # never closed
                return start if self._tokens else len(text)
            if self._tokens and self._swallows(text[start + 1 : end - 1]):
                return start
        return len(text)

    def _swallows(self, string: str) -> bool:
        return string.rstrip().endswith(_BEFORE_A_STRING) and self._marks.search(string) is not None


def balanced_end(text: str, start: int, end: int) -> int:
    """Where all brackets that opened from ``start`` on have closed, of whatever kind; 0 for nowhere before ``end``."""
    depth = 0
    for mark in _STRING_OR_BRACKET.finditer(text, start, end):
        if mark.group()[0] != '"':
            depth += 1 if mark.group() in "[{" else -1
            if depth <= 0:
                return mark.end() if depth == 0 else 0
    return 0
