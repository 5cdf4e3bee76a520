"""A line to a server: a connection that is made when it is first needed, and anew when it was lost. Calls never raise.

What happens to a server, and what a call then says:

- It ends in mid-call, or between calls: ``unavailable``; the next call starts it anew, without what it had kept.
- It does not answer in time: ``timeout``; the call is cancelled. The next call first asks the server whether it is
  there (a ping, at most a second); if it is not, or after eight such calls, it is ended and started anew.
- It does not start: ``timeout`` or ``unavailable``; the next call tries again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError

from callgym.call import ToolCall, ToolResult
from callgym.json_value import write_json
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.mcp.address import Address, HttpAddress
from callgym.tool_backends.mcp.answers import first_sentence, result_of
from callgym.tool_backends.mcp.connection import Connection, Late, NotStarted
from callgym.tool_backends.mcp.limits import McpLimits

__all__ = ["ServerLine"]

T = TypeVar("T")
_PING_S = 1.0
_MOST_LATE = 8
_LOGGED_WORDS = 300
_STANDS_FOR_STATUS = frozenset((types.INVALID_REQUEST, types.INTERNAL_ERROR, types.METHOD_NOT_FOUND))
_log = logging.getLogger("callgym.mcp")


class ServerLine:
    """Used on the portal's loop, but for what says otherwise."""

    def __init__(self, address: Address, keys: KeyRing, limits: McpLimits, connections: set[Connection]) -> None:
        """A line to ``address``; nothing is started. ``connections`` is told of those that are made."""
        self._address = address
        self._keys = keys
        self._limits = limits
        self._connections = connections
        self._connection: Connection | None = None
        self._renewing: asyncio.Task[Connection] | None = None
        self._late = 0
        self._closed = False
        self.pid = os.getpid()
        """The process that the line belongs to."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where it is used, once it is."""
        self.last_words = ""
        """What the server wrote to its standard error last, as far as it was looked at."""

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        fault = self._unsendable(call)
        if fault is not None:
            return ToolResult(error="invalid_arguments", message=fault)
        result = await self._ask(call.name, lambda connection: connection.call(call.name, call.arguments))
        return result if isinstance(result, ToolResult) else result_of(result, self._keys)

    async def read_object(self, uri: str) -> dict[str, Any]:
        """The JSON object that a resource holds; ``{"unavailable": why}`` where it cannot be had."""
        answer = await self._ask("the state", lambda connection: connection.read(uri))
        if isinstance(answer, ToolResult):
            return {"unavailable": answer.message}
        texts = [part.text for part in answer.contents if isinstance(part, types.TextResourceContents)]
        try:
            value = json.loads(texts[0]) if len(texts) == 1 else None
        except (ValueError, RecursionError):
            value = None
        return value if isinstance(value, dict) else {"unavailable": "the resource is no JSON object"}

    def close(self) -> None:
        """End the server; what was asked and not answered is ``unavailable``."""
        self._closed = True
        if self._connection is not None:
            self._drop(self._connection)

    async def _ask(self, what: str, ask: Callable[[Connection], Awaitable[T]]) -> T | ToolResult:
        try:
            connection = await self._connected()
        except NotStarted as error:
            return self._not_started(error)
        if isinstance(connection, ToolResult):
            return connection
        try:
            answer = await ask(connection)
        except Late:
            return self._timed_out(what, connection)
        except MCPError as error:
            return self._refused(what, error, connection)
        except (ValueError, RuntimeError, OSError):  # pydantic's, and what the SDK makes of a broken stream
            if connection.is_over:
                return self._lost(what, connection)
            message = f"the server's answer to {what} is not what the protocol says"
            return ToolResult(error="tool_error", message=message)
        self._late = 0
        return answer

    async def _connected(self) -> Connection | ToolResult:
        self.loop = asyncio.get_running_loop()
        connection = self._connection
        if connection is not None and connection.is_over:
            return self._lost("", connection)
        if connection is not None and not self._late:
            return connection
        if self._renewing is None:  # all who wait for a server wait for the same one
            self._renewing = asyncio.ensure_future(self._renew())
            self._renewing.add_done_callback(self._renewed)
        return await asyncio.shield(self._renewing)

    async def _renew(self) -> Connection:
        """The connection, if somebody answers there; else a new one."""
        connection = self._connection
        if connection is not None:
            if self._late < _MOST_LATE and await connection.responds(min(_PING_S, self._limits.timeout_s)):
                return connection
            self._drop(connection)
        self._late = 0
        connection = Connection(self._address, self._keys, self._limits)
        self._connections.add(connection)
        connection.task.add_done_callback(lambda _: self._connections.discard(connection))
        try:
            await connection.started()
        except BaseException:
            connection.stop()
            self.last_words = connection.traffic.last_words
            raise
        if self._closed:
            connection.stop()
        self._connection = connection
        return connection

    def _renewed(self, task: asyncio.Task[Connection]) -> None:
        self._renewing = None
        if not task.cancelled():
            task.exception()  # looked at: those who waited may be gone

    def _drop(self, connection: Connection) -> None:
        self.last_words = connection.traffic.last_words
        connection.stop()
        if self._connection is connection:
            self._connection = None

    # What is said of failures. Paths, commands and the server's last words are for people.

    def _not_started(self, error: NotStarted) -> ToolResult:
        _log.warning("%s", error)
        if error.kind == "timeout":
            message = f"the tool server did not start within {self._limits.start_timeout_s:g} s"
        elif isinstance(self._address, HttpAddress):
            message = "the tool server cannot be reached"
        else:
            message = "the tool server could not be started"
        return ToolResult(error=error.kind, message=message)

    def _timed_out(self, what: str, connection: Connection) -> ToolResult:
        self._late += 1
        self.last_words = connection.traffic.last_words
        message = (
            f"{what[:80]} did not answer within {self._limits.timeout_s:g} s, and the call was cancelled; if the tool "
            "server has not recovered by the next call, it is started anew, and what it had kept is lost"
        )
        return ToolResult(error="timeout", message=message)

    def _lost(self, what: str, connection: Connection) -> ToolResult:
        flooded = connection.traffic.flooded
        self._drop(connection)
        how = "was ended because it wrote without end" if flooded else "ended"
        if isinstance(self._address, HttpAddress):
            how = "ended the session, or the connection to it broke,"
        when = f"while {what[:80]} was running" if what else "since the last call"
        if not self._closed:
            words = self._keys.hide(self.last_words[-_LOGGED_WORDS:])
            _log.warning("%s %s %s%s", self._address.name, how, when, f"; it said: {words}" if words else "")
        message = f"the tool server {how} {when}; the next call starts it anew, and what it had kept is lost"
        return ToolResult(error="unavailable", message=message)

    def _refused(self, what: str, error: MCPError, connection: Connection) -> ToolResult:
        status = connection.traffic.status
        if connection.is_over or error.code == types.CONNECTION_CLOSED:
            return self._lost(what, connection)
        if status >= 400 and error.code in _STANDS_FOR_STATUS:  # the SDK's words for a status
            if status == 404:
                return self._lost(what, connection)
            message = f"the tool server refused the call with HTTP status {status}; try again later"
            return ToolResult(error="unavailable", message=message)
        words = first_sentence(self._keys.hide(error.message)) or f"error {error.code}"
        return ToolResult(error="tool_error", message=words)

    def _unsendable(self, call: ToolCall) -> str | None:
        try:
            size = len((call.name + write_json(call.arguments)).encode())
        except (ValueError, RecursionError):
            return f"arguments of {call.name[:80]!r} hold characters that cannot be sent"
        if size > self._limits.max_request_bytes:
            return f"arguments of {call.name[:80]!r} are longer than {self._limits.max_request_bytes} bytes"
        return None
