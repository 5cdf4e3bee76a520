"""What a server does, without a word of HTTP: opens sessions, runs calls in turn and in time, closes what is done.

Tools that block run in threads, tools that wait on the portal's loop. An exception out of a tool is a bug in it: the
request fails, the session stays as the tool left it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from callgym.call import ToolCall, ToolResult
from callgym.task import Task
from callgym.tool_backends.base import UnknownState, WaitingSession, call_fault, waits
from callgym.tool_backends.portal import portal
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.log import log_bug
from callgym.tool_backends.server.offer import Offer
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.sessions import HeldSession, Overrun, SessionTable
from callgym.tool_backends.server.wire import write_json, write_result
from callgym.tool_backends.server.workers import Workers

__all__ = ["Service"]

T = TypeVar("T")


class Service:
    """The sessions of one offer."""

    def __init__(self, offer: Offer, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.offer = offer
        self.limits = limits
        self.table = SessionTable(limits, clock)
        self._workers = Workers(limits.threads)
        self._calls = 0
        self._late: set[asyncio.Future[Any]] = set()
        self._closing: set[asyncio.Future[None]] = set()

    async def open(self, task: Task, seed: int) -> str:
        """The id of a new session. Raises Refusal where there is no place."""

        def begin() -> HeldSession:
            return HeldSession(self.offer.backend.open(task, seed), task, self.offer.schemas(task))

        with self.table.place(), self._at_work():
            work = self._workers.begin(begin)
            await asyncio.wait((work,), timeout=self.limits.call_seconds)
            if not work.done():
                self._leave(work)
                work.add_done_callback(self._close_late)
                message = f"the session could not be opened within {self.limits.call_seconds:g} s"
                raise Refusal.later("busy", message, 1)
            return self.table.add(work.result())

    async def call(self, key: str, call: ToolCall, size: int) -> bytes:
        """The result of a call as JSON.

        Args:
            key: The session's id.
            call: The call; its tool and its arguments are checked here.
            size: How long the request was, in bytes.

        Raises:
            Refusal: There is no such session, or it or the server has had its fill.
        """
        held = self.table.get(key)
        held.sent_bytes += size
        if held.sent_bytes > self.limits.max_session_bytes:
            message = (
                f"the calls of this session have sent more than {self.limits.max_session_bytes} bytes; open another"
            )
            raise Refusal(413, "session_full", message)
        with self._at_work():
            try:
                return await held.in_turn(lambda: self._begin(held, call), self.limits.call_seconds)
            except Overrun as overrun:
                return write_result(self._overran(overrun))
            finally:
                self.table.touch(key)

    async def state(self, key: str) -> bytes:
        """The state of a session as JSON. Raises Refusal where there is none, or too much."""
        held = self.table.get(key)
        try:
            written = await self._with(key, lambda: write_json(held.session.state()))
        except UnknownState as error:
            raise Refusal(409, "unknown_state", str(error) or "the state is not known") from None
        if len(written) > self.limits.max_state_bytes:
            message = f"the state has {len(written)} bytes; at most {self.limits.max_state_bytes} are passed on"
            raise Refusal(413, "state_too_large", message)
        return written

    async def end_turn(self, key: str, made: int) -> None:
        """Tell a session that watches user turns that one is over.

        Args:
            key: The session's id.
            made: How many calls were made in it, those that were refused included.

        Raises:
            Refusal: There is no such session, or it watches no turns.
        """
        watching: Any = self.table.get(key).session
        if not (callable(getattr(watching, "end_turn", None)) and callable(getattr(watching, "tried", None))):
            raise Refusal(409, "no_turns", "this session does not look at user turns")

        def work() -> None:
            for _ in range(made):
                watching.tried()
            watching.end_turn()

        await self._with(key, work)

    async def close(self, key: str) -> None:
        """Close a session. One whose call is still running is closed after it, and not waited for."""
        held = self.table.remove(key)
        seconds = 0.0 if held.at_work else self.limits.call_seconds
        closing = asyncio.ensure_future(self._close(held))
        await asyncio.wait((closing,), timeout=seconds)
        if closing.done():
            closing.result()
        else:
            self._unwatched(closing)

    def sweep(self) -> None:
        """Close the sessions that have expired; nobody waits for it."""
        for held in self.table.expired():
            self._unwatched(asyncio.ensure_future(self._close(held)))

    async def end(self) -> None:
        """Close all sessions: the server goes. Those whose calls are still running are left to their fate."""
        for held in self.table.clear():
            self._unwatched(asyncio.ensure_future(self._close(held)))
        if self._closing:
            await asyncio.wait(self._closing, timeout=1.0)
        self._workers.close()

    # How work is done.

    async def _with(self, key: str, work: Callable[[], T]) -> T:
        held = self.table.get(key)
        with self._at_work():
            try:
                return await held.in_turn(lambda: self._workers.begin(work), self.limits.call_seconds)
            except Overrun as overrun:
                self._overran(overrun)
                raise Refusal.later("busy", "the session is still busy with an earlier request", 1) from None
            finally:
                self.table.touch(key)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        if self._calls + len(self._late) >= self.limits.max_calls:
            message = f"{self.limits.max_calls} calls are being made, which is the most there can be; try again later"
            raise Refusal.later("busy", message, 1)
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    def _begin(self, held: HeldSession, call: ToolCall) -> asyncio.Future[bytes]:
        if waits(held.session):
            return asyncio.ensure_future(self._await(held, call))
        return self._workers.begin(lambda: self._run(held, call))

    def _run(self, held: HeldSession, call: ToolCall) -> bytes:
        """In a thread."""
        result = call_fault(call, held.schemas) or held.session.call(call)
        return self._answered(held, call, result)

    async def _await(self, held: HeldSession, call: ToolCall) -> bytes:
        session: WaitingSession = held.session  # type: ignore[assignment]
        fault = call_fault(call, held.schemas)
        result = fault if fault is not None else await portal().arun(session.acall(call))
        return self._answered(held, call, result)

    def _answered(self, held: HeldSession, call: ToolCall, result: ToolResult) -> bytes:
        new = {schema.tool.name: schema for schema in self.offer.found(call, result)}
        held.found += [schema.tool for name, schema in new.items() if name not in held.schemas]
        held.schemas = {**new, **held.schemas}
        written = write_result(result)
        if len(written) > self.limits.max_result_bytes:
            message = f"the answer has {len(written)} bytes, and at most {self.limits.max_result_bytes} are passed on"
            return write_result(ToolResult(error="tool_error", message=f"{message}; ask for less"))
        return written

    def _overran(self, overrun: Overrun) -> ToolResult:
        work = overrun.work
        if work is None:
            message = f"an earlier call of this session is still running after {self.limits.call_seconds:g} s"
            return ToolResult(error="timeout", message=f"{message}, so this one was not made; try again later")
        self._leave(work)
        message = f"the tool did not answer within {self.limits.call_seconds:g} s"
        return ToolResult(error="timeout", message=f"{message}; whether the call takes effect is not known")

    def _leave(self, work: asyncio.Future[Any]) -> None:
        """Wait no longer for work that goes on; it counts among the calls until it ends."""
        self._late.add(work)
        work.add_done_callback(self._late.discard)
        work.add_done_callback(_log_failure)

    def _close_late(self, opened: asyncio.Future[HeldSession]) -> None:
        if opened.exception() is None:
            self._unwatched(asyncio.ensure_future(self._close(opened.result())))

    def _unwatched(self, closing: asyncio.Future[None]) -> None:
        """Keep hold of a close that nobody waits for, and log its failure."""
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        closing.add_done_callback(_log_failure)

    async def _close(self, held: HeldSession) -> None:
        async with held.turn:
            await self._workers.begin(held.session.close)


def _log_failure(work: asyncio.Future[Any]) -> None:
    """For work that nobody waits for."""
    error = None if work.cancelled() else work.exception()
    if error is not None:
        log_bug(error, "work that nobody waited for any more")
