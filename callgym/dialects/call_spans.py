"""Where the calls of a text stand: what looks like a mark inside a call is data.

Asked where the policy's turn ends, and where its reasoning ends. Most actions hold neither mark, so the
calls are looked for when somebody first asks, once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable

__all__ = ["CallSpans"]


class CallSpans:
    """Start and end of each call of one text, as far as it can be read."""

    def __init__(self, text: str, find: Callable[[str], Iterable[tuple[int, int]]]) -> None:
        """Prepare to look for calls.

        Args:
            text: What the policy wrote.
            find: Gives the calls of a text from left to right.
        """
        self._text = text
        self._find = find
        self._spans: list[tuple[int, int]] | None = None

    def next(self, text: str, at: int) -> tuple[int, int] | None:
        """The first call at or after ``at``, for ``split_reasoning``; ``text`` is the text or a beginning of it."""
        if self._spans is None:
            self._spans = list(self._find(self._text))
        found = bisect_left(self._spans, (at, 0))
        return self._spans[found] if found < len(self._spans) else None

    def before(self, end: str) -> tuple[str, bool]:
        """What stands before the first ``end`` that is in no call, and whether there is one."""
        found, at = self._text.find(end), 0
        while found >= 0:
            call = self.next(self._text, at)
            if call is None or call[0] > found:
                return self._text[:found], True
            at = call[1]
            if at > found:
                found = self._text.find(end, at)
        return self._text, False
