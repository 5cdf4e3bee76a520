"""Threads for tools that block. They are daemons: a tool that never ends keeps the process from nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

__all__ = ["Workers"]

T = TypeVar("T")
_Job: TypeAlias = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Workers:
    """At most so many threads, each started when no other is free."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._free = threading.Semaphore(0)
        self._started = 0
        self._closed = False

    def begin(self, function: Callable[[], T]) -> asyncio.Future[T]:
        """Run a function in a thread as soon as one is free; called in the event loop, and awaited there."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if not self._free.acquire(blocking=False) and self._started < self._most:
            threading.Thread(target=self._work, name=f"callgym-tool-{self._started}", daemon=True).start()
            self._started += 1
        self._jobs.put((loop, future, function))
        return future

    def close(self) -> None:
        """Let the threads end when they are done."""
        if not self._closed:
            self._closed = True
            for _ in range(self._started):
                self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, future, function = job
            try:
                outcome = function()
            except Exception as error:
                _settle(loop, future.set_exception, future, error)
            except BaseException as error:  # a tool that wants to end the process ends its call
                _settle(loop, future.set_exception, future, RuntimeError(f"a tool raised {type(error).__name__}"))
            else:
                _settle(loop, future.set_result, future, outcome)
            del job, future, function
            self._free.release()


def _settle(loop: asyncio.AbstractEventLoop, settle: Callable[[Any], None], future: Any, value: Any) -> None:
    def now() -> None:
        if not future.done():
            settle(value)

    if isinstance(value, StopIteration):  # which a future cannot hold
        value = RuntimeError("a tool raised StopIteration")
    try:
        loop.call_soon_threadsafe(now)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return
