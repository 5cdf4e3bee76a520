"""Calls that wait have a time limit: what takes longer is cancelled and answered with ``timeout``::

    backend = time_limited(RestBackend(endpoints), seconds=5)

The session stays usable. A tool that blocks cannot be stopped in a thread, so it gets no limit here, but a process of
its own: ``isolated.isolated``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool_backends.base import Session, ToolBackend, WrappedSession, waits
from callgym.tool_backends.portal import portal
from callgym.tool_backends.wrapped import WrappedBackend, duration

__all__ = ["TimeLimitedBackend", "TimeLimitedSession", "time_limited"]

_GRACE = 0.25
"""Seconds that a cancelled call has for tidying up; then it is left to itself."""
_left: set[asyncio.Future[Any]] = set()  # calls that do not heed being cancelled; the loop itself holds tasks weakly


def time_limited(backend: ToolBackend, seconds: float) -> TimeLimitedBackend:
    """A backend whose calls end within a limit.

    Args:
        backend: A backend whose sessions wait (``waits``).
        seconds: Most seconds that a call may take.

    Raises:
        ConfigurationError: ``seconds`` is no number above 0; or, when a session is opened, it blocks.
    """
    return TimeLimitedBackend(backend, seconds)


class TimeLimitedBackend(WrappedBackend):
    """See ``time_limited``."""

    def __init__(self, inner: ToolBackend, seconds: float) -> None:
        super().__init__(inner)
        self._seconds = duration("seconds", seconds)

    def wrap(self, session: Session, task: Task, seed: int) -> Session:
        """The session with the limit.

        Raises:
            ConfigurationError: Its tools block.
        """
        if not waits(session):
            session.close()
            raise ConfigurationError(
                f"the tools of {type(self.inner).__name__} block, and what blocks cannot be stopped from outside; "
                "run them in a process of their own: isolated(backend, seconds)"
            )
        return TimeLimitedSession(session, self._seconds)


class TimeLimitedSession(WrappedSession):
    """A session whose calls are cancelled at the limit."""

    def __init__(self, inner: Session, seconds: float) -> None:
        super().__init__(inner)
        self._seconds = seconds

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call within the limit."""
        return portal().run(self.acall(call))

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``."""
        result = await _within(self._seconds, super().acall(call))
        return result or ToolResult(
            error="timeout", message=f"the tool gave no answer within {self._seconds:g} seconds; the call was cancelled"
        )


async def _within(seconds: float, work: Coroutine[Any, Any, ToolResult]) -> ToolResult | None:
    """What the work gives, or None where it takes too long.

    Not ``asyncio.wait_for``, which waits for ever for what does not heed being cancelled.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task,), timeout=seconds)
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait((task,), timeout=_GRACE)
    finally:
        if not task.done():
            task.cancel()
            _left.add(task)
            task.add_done_callback(_left.discard)
        task.add_done_callback(_heard)
    return None


def _heard(task: asyncio.Future[Any]) -> None:
    """Look at how a cancelled call ended, so that nobody complains that no one did."""
    if not task.cancelled():
        task.exception()
