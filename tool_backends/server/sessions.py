"""The sessions of a server: who is there, whose turn it is, and who has been silent for too long.

An id is a secret: who knows it has the session, nobody else sees anything of it. Calls of one session run one after
another, in the order in which they came; sessions run side by side.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import Session
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.refusal import Refusal

__all__ = ["HeldSession", "Overrun", "SessionTable"]

T = TypeVar("T")


class Overrun(Exception):
    """The time of a request to a session is up."""

    def __init__(self, work: asyncio.Future[Any] | None) -> None:
        super().__init__()
        self.work = work
        """What is still going on; None where it was not begun."""


class HeldSession:
    """A session, its tools and its turn."""

    def __init__(self, session: Session, task: Task, schemas: dict[str, ToolSchema]) -> None:
        self.session = session
        self.task = task
        self.schemas = schemas
        """The tools that can be called now."""
        self.found: list[Tool] = []
        """Those of them that were found by a call."""
        self.used_at = 0.0
        self.sent_bytes = 0
        self.closed = False
        self.turn = asyncio.Lock()
        """Held by the request that is being served."""

    @property
    def at_work(self) -> bool:
        """Whether a request is being served; others may wait for their turn."""
        return self.turn.locked()

    async def in_turn(self, begin: Callable[[], asyncio.Future[T]], seconds: float) -> T:
        """Do some work when all that came before is done.

        The turn ends when the work does, even if nobody waits for it any more: a thread cannot be stopped.

        Args:
            begin: Begins the work; a task that awaits is cancelled when its time is up.
            seconds: The time, with the wait for the turn.

        Raises:
            Overrun: The time is up.
            Refusal: The session was closed in the meantime.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self.turn.acquire()
        except TimeoutError:
            raise Overrun(None) from None
        try:
            if self.closed:
                raise no_session()
            work = begin()
        except BaseException:
            self.turn.release()
            raise
        work.add_done_callback(lambda _: self.turn.release())
        await asyncio.wait((work,), timeout=deadline - loop.time())
        if work.done():
            return work.result()
        if isinstance(work, asyncio.Task):
            work.cancel()
        raise Overrun(work)


class SessionTable:
    """The open sessions by id, the longest silent first."""

    def __init__(self, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        """An empty table.

        Args:
            limits: How many sessions, and how long they may be silent.
            clock: Seconds, never going back.
        """
        self._limits = limits
        self._clock = clock
        self._held: OrderedDict[str, HeldSession] = OrderedDict()
        self._opening = 0

    def __len__(self) -> int:
        return len(self._held) + self._opening

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for a session that is being opened. Raises Refusal where there is none."""
        if len(self) >= self._limits.max_sessions:
            raise Refusal.later(
                "too_many_sessions",
                f"{self._limits.max_sessions} sessions are open, which is the most there can be; close some, or wait "
                f"until they expire ({self._limits.session_seconds:g} s without a request)",
                5,
            )
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1

    def add(self, held: HeldSession) -> str:
        """Keep a session; its id, which nobody can guess."""
        key = secrets.token_urlsafe(24)
        held.used_at = self._clock()
        self._held[key] = held
        return key

    def get(self, key: str) -> HeldSession:
        """The session of that id. Raises Refusal where there is none."""
        held = self._held.get(key)
        if held is None:
            raise no_session()
        self.touch(key)
        return held

    def touch(self, key: str) -> None:
        """Note that a session was used just now."""
        held = self._held.get(key)
        if held is not None:
            held.used_at = self._clock()
            self._held.move_to_end(key)

    def remove(self, key: str) -> HeldSession:
        """Take a session out. Raises Refusal where there is none."""
        held = self._held.pop(key, None)
        if held is None:
            raise no_session()
        held.closed = True
        return held

    def expired(self) -> list[HeldSession]:
        """Take out the sessions that were silent for too long; one whose call is still running is not silent."""
        found = []
        oldest = self._clock() - self._limits.session_seconds
        while self._held:
            key, held = next(iter(self._held.items()))
            if held.used_at > oldest:
                break
            if held.at_work:
                self.touch(key)
                continue
            found.append(self.remove(key))
        return found

    def clear(self) -> list[HeldSession]:
        """Take out all of them."""
        return [self.remove(key) for key in list(self._held)]


def no_session() -> Refusal:
    """What is said of a session that is not there: whether it ever was is nobody's business."""
    return Refusal(404, "unknown_session", "there is no such session; it was closed, has expired, or never was")
