"""A stream of bytes as lines, none of them longer than a limit: of a longer one, beginning and end are known.

An answer that is too long, or is no JSON, is found again by its id, which stands at one of its ends, so that its call
need not wait until its time is up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Line", "Lines", "answered_id"]

_KEPT = 256
_ID_FIRST = re.compile(rb'\A\s*\{[^{}\[\]]{0,200}?"id"\s*:\s*(\d{1,15})\s*[,}]')
_ID_LAST = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')
_METHOD = re.compile(rb'\A\s*\{[^{}\[\]]*"method"\s*:')


class Line(NamedTuple):
    """One line, without its end."""

    text: bytes
    """All of it; empty where it is too long."""
    head: bytes
    tail: bytes
    whole: bool
    """Whether it was within the limit."""


class Lines:
    """Cuts what is fed into lines."""

    def __init__(self, most: int) -> None:
        """Take the length of the longest line, in bytes."""
        self._most = most
        self._begin()

    def _begin(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._head = self._tail = b""

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """The lines that end in the chunk."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._line()
            self._begin()
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        self._head += part[: _KEPT - len(self._head)]
        self._tail = (self._tail + part[-_KEPT:])[-_KEPT:]
        if self._length <= self._most:
            self._parts.append(part)
        else:
            self._parts.clear()

    def _line(self) -> Line:
        return Line(b"".join(self._parts), self._head, self._tail, self._length <= self._most)


def answered_id(line: Line) -> int | None:
    """The id of the request that a line answers, as far as its ends show it."""
    if _METHOD.match(line.head):
        return None
    found = _ID_FIRST.match(line.head) or _ID_LAST.search(line.tail)
    return int(found[1]) if found else None
