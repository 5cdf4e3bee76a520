"""Connections that wait to be used again: a stack for each host.

httpx's own pool looks at every connection for every request, so that 64 calls at once keep each other waiting for a
second. Here the one that was used last is taken, and the others grow old and are closed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Generic, Protocol, TypeVar

from callgym.tool_backends.http.message import Origin

__all__ = ["Connection", "IdleConnections"]

_MAX_IDLE_S = 4.0  # servers commonly close after 5 s; a request that meets the closing door is lost


class Connection(Protocol):
    """What a connection is asked."""

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has arrived where nothing is due."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Connection)


class IdleConnections(Generic[C]):
    """Those of one kind; safe to use from several threads."""

    def __init__(self) -> None:
        self._of: dict[Origin, deque[tuple[C, float]]] = {}
        self._lock = threading.Lock()

    def take(self, origin: Origin) -> C | None:
        """One that can be used, or None."""
        while True:
            with self._lock:
                idle = self._of.get(origin)
                if not idle:
                    return None
                connection, since = idle.pop()
            if time.monotonic() - since < _MAX_IDLE_S and connection.is_quiet:
                return connection
            connection.close()

    def put(self, origin: Origin, connection: C) -> None:
        """Keep one for the next request, and close those that nobody wanted for too long."""
        now = time.monotonic()
        old = []
        with self._lock:
            idle = self._of.setdefault(origin, deque())
            idle.append((connection, now))
            while now - idle[0][1] >= _MAX_IDLE_S:
                old.append(idle.popleft()[0])
        for connection in old:
            connection.close()

    def clear(self) -> None:
        """Close all of them."""
        with self._lock:
            idle, self._of = self._of, {}
        for connections in idle.values():
            for connection, _ in connections:
                connection.close()
