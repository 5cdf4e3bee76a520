"""One server, from its start to its end: a task on the portal's loop that holds the SDK's session open.

The SDK's scopes must be left by the task that entered them. So one task enters them, shakes hands, waits for the end
and leaves them; requests come from other tasks and only pass through. A connection that is over stays over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import TypeAdapter, ValidationError

import callgym
from callgym.call import ErrorKind
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.mcp.address import Address, StdioAddress
from callgym.tool_backends.mcp.limits import McpLimits
from callgym.tool_backends.mcp.pipes import Streams, stdio_streams
from callgym.tool_backends.mcp.traffic import Traffic
from callgym.tool_backends.mcp.web import http_streams

__all__ = ["Answer", "Connection", "Late", "NotStarted"]

T = TypeVar("T")
Answer = types.CallToolResult | types.InputRequiredResult
"""What a server may answer a call with."""

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
_HANDSHAKE_PAGES = 100
_REASON_LENGTH = 500
_log = logging.getLogger("callgym.mcp")


class NotStarted(Exception):
    """A server could not be started, or reached; the text is for people."""

    def __init__(self, kind: ErrorKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Late(Exception):
    """An answer did not come in time."""


class _Dispatcher(JSONRPCDispatcher):
    """Keeps a listing as the server sent it: what is wrong with it can then be said by name."""

    page: dict[str, Any] | None = None

    async def send_raw_request(self, method: str, params: Any, opts: CallOptions | None = None, **more: Any) -> Any:
        raw = await super().send_raw_request(method, params, opts, **more)
        if method == "tools/list":
            self.page = raw
        return raw


class Connection:
    """Talks to one server. Made, used and dropped on the portal's loop."""

    def __init__(self, address: Address, keys: KeyRing, limits: McpLimits) -> None:
        """Begin to start the server; ``started`` says when it is there."""
        self.address = address
        self.traffic = Traffic(limits)
        self._keys = keys
        self._limits = limits
        self._dispatcher: _Dispatcher | None = None
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[ClientSession | NotStarted] = loop.create_future()
        self._abandoned: set[asyncio.Task[Any]] = set()
        self.task = loop.create_task(self._live(), name="callgym-mcp")

    @property
    def is_over(self) -> bool:
        """Whether there is no use in asking anything more."""
        return self.traffic.over.is_set() or self.task.done()

    def stop(self) -> None:
        """Let the server end; ``task`` is done when it has."""
        self.traffic.over.set()

    async def started(self) -> ClientSession:
        """Wait until the server is there.

        Raises:
            NotStarted: It will not be.
        """
        await asyncio.wait((self._ready, self.task), return_when=asyncio.FIRST_COMPLETED)
        outcome = self._ready.result()
        if isinstance(outcome, NotStarted):
            raise outcome
        return outcome

    async def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool.

        Raises:
            Late: The time was up; the call is cancelled.
            MCPError: The server said no, or the connection is over.
            ValidationError: The answer is not what the protocol says.
        """
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        session = await self.started()
        return await self._within(
            self._limits.timeout_s, session.send_request(types.CallToolRequest(params=params), _ANSWER)
        )

    async def read(self, uri: str) -> types.ReadResourceResult:
        """Read a resource; raises as ``call``."""
        session = await self.started()
        request = types.ReadResourceRequest(params=types.ReadResourceRequestParams(uri=uri))
        return await self._within(self._limits.timeout_s, session.send_request(request, types.ReadResourceResult))

    async def responds(self, seconds: float) -> bool:
        """Whether the server answers at all, be it that it does not know the question."""
        session = await self.started()
        try:
            await self._within(seconds, session.send_ping())
        except Late:
            return False
        except (MCPError, ValueError, RuntimeError):
            return not self.is_over
        return True

    async def page(self, cursor: str | None) -> dict[str, Any]:
        """One page of the server's tools, as it was sent; raises as ``call``."""
        session = await self.started()
        assert self._dispatcher is not None
        self._dispatcher.page = None
        listing = session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        try:
            await self._within(self._limits.start_timeout_s, listing)
        except ValidationError:
            if self._dispatcher.page is None:
                raise
        assert self._dispatcher.page is not None
        return self._dispatcher.page

    async def _within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait((task,), timeout=seconds)
        except asyncio.CancelledError:
            self._abandon(task)
            raise
        if not done:
            # Not awaited: the SDK tells the server of it, and a server that does not read would hold us up.
            self._abandon(task)
            raise Late
        return task.result()

    def _abandon(self, task: asyncio.Task[Any]) -> None:
        task.cancel()
        self._abandoned.add(task)
        task.add_done_callback(self._abandoned.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    # The task.

    async def _live(self) -> None:
        try:
            async with self._streams() as (incoming, outgoing):
                self._dispatcher = _Dispatcher(incoming, outgoing)
                session = ClientSession(
                    dispatcher=self._dispatcher,
                    client_info=types.Implementation(name="callgym", version=callgym.__version__),
                )
                async with session:
                    if await self._shake_hands(session):
                        await self.traffic.over.wait()
        except Exception as error:
            self._not_started("unavailable", _reason(error))
        finally:
            self.traffic.over.set()
            self._not_started("unavailable", "it ended")

    def _streams(self) -> AbstractAsyncContextManager[Streams]:
        if isinstance(self.address, StdioAddress):
            return stdio_streams(self.address, self._limits, self.traffic)
        return http_streams(self.address, self._keys, self._limits, self.traffic)

    async def _shake_hands(self, session: ClientSession) -> bool:
        """Agree on a protocol: one with sessions where the server has one."""
        seconds = self._limits.start_timeout_s
        try:
            with anyio.fail_after(seconds):
                await _agree(session)
        except TimeoutError:
            self._not_started("timeout", f"it did not shake hands within {seconds:g} s (start_timeout_s)")
            return False
        except (MCPError, ValueError, RuntimeError) as error:
            self._not_started("unavailable", _reason(error))
            return False
        self._ready.set_result(session)
        return True

    def _not_started(self, kind: ErrorKind, reason: str) -> None:
        if self._ready.done():
            return
        status = f" (HTTP status {self.traffic.status})" if self.traffic.status >= 400 else ""
        words = self.traffic.last_words
        said = f"; on its standard error it said: {words}" if words else ""
        reason = self._keys.hide(f"{self.address.name} cannot be used: {reason}{status}{said}")
        _log.debug("%s", reason)
        self._ready.set_result(NotStarted(kind, reason))


async def _agree(session: ClientSession) -> None:
    try:
        await session.initialize()
    except MCPError as error:
        if error.code == types.CONNECTION_CLOSED:
            raise
        try:
            await session.discover()
        except (MCPError, ValueError, RuntimeError):
            raise error from None
        # Headers that this protocol wants with a call follow from the listing.
        cursor = None
        for _ in range(_HANDSHAKE_PAGES):
            listed = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            cursor = listed.next_cursor
            if cursor is None:
                return


def _reason(error: BaseException) -> str:
    """The first error of a group, in a line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        return "its answer to the handshake is not what the protocol says"
    text = " ".join(str(error).split())[:_REASON_LENGTH]
    return text or type(error).__name__
