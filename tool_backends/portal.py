"""One event loop in the background, where everything that waits lives: connections, pipes, other processes.

Connections belong to the loop that opened them. So there is one loop a process, and it outlives every call::

    result = portal().run(client.get(url))  # from a thread that may block

A process that was forked has a loop of its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["Portal", "portal"]

T = TypeVar("T")


class Portal:
    """An event loop that runs in a thread of its own until the process ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="callgym-portal", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop, and wait for what it gives.

        Raises:
            RuntimeError: The loop itself asks, and would wait for ever.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call from inside the event loop would wait for itself; await it instead")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:  # interrupted: what was begun ends, too
            future.cancel()
            raise

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """As ``run``, from a coroutine of this or any other loop."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))


_lock = threading.Lock()
_of_process: tuple[int, Portal] | None = None


def portal() -> Portal:
    """The process's portal; started when it is first asked for."""
    global _of_process
    with _lock:
        if _of_process is None or _of_process[0] != os.getpid():
            _of_process = (os.getpid(), Portal())
        return _of_process[1]


def _forget() -> None:
    """In a forked child: the lock may have been held by a thread that is gone."""
    global _lock, _of_process
    _lock, _of_process = threading.Lock(), None


os.register_at_fork(after_in_child=_forget)
