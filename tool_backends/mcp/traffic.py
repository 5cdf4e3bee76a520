"""What is seen of a connection from outside: how much has come, whether it is over, what the server said last."""

from __future__ import annotations

import asyncio

from callgym.tool_backends.mcp.limits import McpLimits

__all__ = ["BROKEN_ANSWER", "Traffic"]

BROKEN_ANSWER = -32098
"""JSON-RPC code of the error that stands for an answer which cannot be read."""
_FLOOD = 16
_MOST_FLOOD = 64 * 1_048_576
_LAST_WORDS = 2_048


class Traffic:
    """Shared by a connection and its transport, on the portal's loop."""

    def __init__(self, limits: McpLimits) -> None:
        self.over = asyncio.Event()
        """Set when the server can no longer be talked to, or should no longer be."""
        self.status = 0
        """The last HTTP status; 0 where there is none."""
        self.flooded = False
        """Whether the server wrote more than anybody asked for."""
        self._most = max(limits.max_response_bytes, min(_FLOOD * limits.max_response_bytes, _MOST_FLOOD))
        self._received = 0
        self._words = bytearray()

    def asked(self) -> None:
        """Something was sent: the server may write again."""
        self._received = 0

    def received(self, count: int) -> bool:
        """Count bytes that came; False, and the end, where they are too many."""
        self._received += count
        if self._received > self._most:
            self.flooded = True
            self.over.set()
        return not self.flooded

    def heard(self, words: bytes) -> None:
        """Keep the last of what the server writes to its standard error."""
        self._words += words
        del self._words[:-_LAST_WORDS]

    @property
    def last_words(self) -> str:
        """The end of what the server wrote to its standard error."""
        return self._words.decode(errors="replace").strip()
