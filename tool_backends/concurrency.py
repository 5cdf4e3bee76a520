"""At most so many calls at once, over all sessions of a backend; the others wait for their turn, first come first
served::

    backend = limited(RestBackend(endpoints), calls_at_once=8)

``time_limited(limited(backend, 8), 5)`` counts the wait for one's turn, ``limited(time_limited(backend, 5), 8)`` does
not.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future

from callgym.call import ToolCall, ToolResult
from callgym.task import Task
from callgym.tool_backends.base import Session, ToolBackend, WrappedSession, acall, waits
from callgym.tool_backends.wrapped import WrappedBackend, at_least_one

__all__ = ["LimitedBackend", "LimitedSession", "limited"]


def limited(backend: ToolBackend, calls_at_once: int) -> LimitedBackend:
    """A backend that makes no more than ``calls_at_once`` calls at the same time in this process.

    Calls that wait and calls that block are counted apart, where a backend has sessions of both kinds: one that
    blocks the event loop must not wait for one that needs it.

    Raises:
        ConfigurationError: ``calls_at_once`` is no whole number of at least 1.
    """
    return LimitedBackend(backend, calls_at_once)


class LimitedBackend(WrappedBackend):
    """See ``limited``."""

    def __init__(self, inner: ToolBackend, calls_at_once: int) -> None:
        super().__init__(inner)
        at_least_one("calls_at_once", calls_at_once)
        self._waiting, self._blocking = _Slots(calls_at_once), _Slots(calls_at_once)

    def wrap(self, session: Session, task: Task, seed: int) -> Session:
        """The session, sharing the places with all others."""
        return LimitedSession(session, self._waiting if waits(session) else self._blocking)


class LimitedSession(WrappedSession):
    """A session whose calls need a place."""

    def __init__(self, inner: Session, slots: _Slots) -> None:
        super().__init__(inner)
        self._slots = slots

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call when there is a place for it."""
        self._slots.take()
        try:
            return self.inner.call(call)
        finally:
            self._slots.give_back()

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, awaiting the place."""
        await self._slots.atake()
        try:
            return await acall(self.inner, call)
        finally:
            self._slots.give_back()


class _Slots:
    """Places that threads and coroutines of any loop queue up for."""

    def __init__(self, count: int) -> None:
        self._count = self._free = count
        self._queue: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    def take(self) -> None:
        """Wait for a place, blocking."""
        turn = self._ask()
        try:
            if turn is not None:
                turn.result()
        except BaseException:  # interrupted
            self._renounce(turn)
            raise

    async def atake(self) -> None:
        """Wait for a place, in any loop."""
        turn = self._ask()
        try:
            if turn is not None:
                await asyncio.wrap_future(turn)
        except BaseException:  # cancelled
            self._renounce(turn)
            raise

    def give_back(self) -> None:
        """The place goes to whoever has waited the longest."""
        with self._lock:
            while self._queue:
                turn = self._queue.popleft()
                if turn.set_running_or_notify_cancel():
                    turn.set_result(None)
                    return
            self._free += 1

    def _ask(self) -> Future[None] | None:
        """None where there is a place, else what is done when there is."""
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            turn: Future[None] = Future()
            self._queue.append(turn)
            return turn

    def _renounce(self, turn: Future[None] | None) -> None:
        if turn is not None and not turn.cancel():  # it was given a moment before
            self.give_back()

    def __reduce__(self) -> tuple[type[_Slots], tuple[int]]:
        return _Slots, (self._count,)  # a copy in another process counts anew
