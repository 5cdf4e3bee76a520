"""The MCP server itself: rooms, one for each connection, and the handlers that find the way to them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

import callgym
from callgym.call import ToolCall, ToolResult
from callgym.errors import DataError
from callgym.json_value import write_json
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import Session, checked_acall
from callgym.tool_backends.mcp.answers import as_answer, only_characters
from callgym.tool_backends.server.offer import Offer

__all__ = ["STATE_URI", "ToolServer", "find_task"]

STATE_URI = "callgym://state"
"""The resource that holds a session's state, where it is shown."""
_PAGE = 500
_SEED_DIGITS = 20
_SESSION_HEADER = "mcp-session-id"
_log = logging.getLogger("callgym.mcp")

Context = ServerRequestContext[Any, Any]


class _Room:
    """The session of one connection, and the tools that it has by now."""

    def __init__(self, offer: Offer, task: Task, seed: int) -> None:
        self._offer = offer
        self._task = task
        self._seed = seed
        self._session: Session | None = None
        self._schemas = offer.schemas(task)
        self._lock = asyncio.Lock()
        self.listed = offer.shown(task)
        self.used = time.monotonic()

    async def call(self, call: ToolCall) -> tuple[ToolResult, bool]:
        """The result, and whether there are more tools now."""
        async with self._lock:
            try:
                result = await checked_acall(self._opened(), call, self._schemas)
                found = [schema for schema in self._offer.found(call, result) if schema.tool.name not in self._schemas]
            except Exception:  # a bug of a tool: for whoever runs the server
                _log.exception("the tool %s raised", call.name)
                return ToolResult(error="tool_error", message=f"{call.name} failed by a fault of its own"), False
            self._schemas.update((schema.tool.name, schema) for schema in found)
            self.listed += [schema.tool for schema in found]
            return result, bool(found)

    def state(self) -> dict[str, Any]:
        return self._opened().state()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _opened(self) -> Session:
        if self._session is None:
            self._session = self._offer.backend.open(self._task, self._seed)
        return self._session


class ToolServer:
    """Serves an offer. Over HTTP a client may choose: ``/mcp?task=...&seed=...``."""

    def __init__(
        self,
        offer: Offer,
        task: Task,
        seed: int = 0,
        *,
        over_http: bool,
        show_state: bool = False,
        max_sessions: int = 256,
        idle_s: float = 1_800.0,
    ) -> None:
        """Set the server up.

        Args:
            offer: What is served.
            task: The task whose tools a client gets that names none.
            seed: What sessions are opened with, unless a client names a seed.
            over_http: Whether several connections come, told apart by the protocol's session ids.
            show_state: Whether the state of a session is a resource that its client can read.
            max_sessions: Most sessions at the same time.
            idle_s: How long a session may go unused, in seconds.
        """
        self._offer = offer
        self._task = task
        self._seed = seed
        self.max_sessions = max_sessions
        self.idle_s = idle_s
        self._over_http = over_http
        self._visits: Counter[str] = Counter()
        self._rooms: dict[str, _Room] = {}
        more: dict[str, Any] = {}
        if show_state:
            more = {"on_list_resources": self._list_resources, "on_read_resource": self._read_resource}
        self.sdk: Server[Any] = Server(
            f"callgym {offer.name}",
            version=callgym.__version__,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            **more,
        )
        if over_http:
            # The newest protocol knows no sessions over HTTP, so a client is told to shake hands.
            self.sdk.add_request_handler("server/discover", types.RequestParams, self._discover)

    def options(self) -> InitializationOptions:
        """What the handshake says."""
        return self.sdk.create_initialization_options(NotificationOptions(tools_changed=True))

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._rooms)

    @contextmanager
    def visited(self, id: str, *, ends: bool) -> Iterator[None]:
        """Around a request of a session, one that ends it perhaps: it is in use meanwhile."""
        self._visits[id] += 1
        try:
            yield
        finally:
            self._visits[id] -= 1
            if not self._visits[id]:
                del self._visits[id]
            if ends:
                self._close_room(id)
            elif id in self._rooms:
                self._rooms[id].used = time.monotonic()

    def close(self) -> None:
        """End all sessions."""
        for id in list(self._rooms):
            self._close_room(id)

    def _close_room(self, id: str) -> None:
        room = self._rooms.pop(id, None)
        if room is not None:
            room.close()

    # Handlers.

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = self._room(context).listed
        cursor = params.cursor if params is not None else None
        if cursor is not None and not (cursor.isdecimal() and int(cursor) <= len(tools)):
            raise MCPError(types.INVALID_PARAMS, "there is no such page of tools")
        start = int(cursor or 0)
        following = start + _PAGE
        return types.ListToolsResult(
            tools=[_described(tool) for tool in tools[start:following]],
            next_cursor=str(following) if following < len(tools) else None,
        )

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        room = self._room(context)
        try:
            call = ToolCall.from_dict({"name": params.name, "arguments": params.arguments or {}})
        except DataError:
            message = "the call has no name, or arguments that are no JSON values"
            return as_answer(ToolResult(error="invalid_arguments", message=message))
        result, more_tools = await room.call(call)
        if more_tools:
            await context.session.send_notification(types.ToolListChangedNotification())
        return as_answer(result)

    async def _discover(self, context: Context, params: types.RequestParams) -> types.DiscoverResult:
        raise MCPError(types.METHOD_NOT_FOUND, "this server keeps a session for each client: shake hands (initialize)")

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        state = types.Resource(uri=STATE_URI, name="state", mime_type="application/json")
        return types.ListResourcesResult(resources=[state])

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if str(params.uri) != STATE_URI:
            raise MCPError(types.INVALID_PARAMS, "there is no such resource")
        text = only_characters(write_json(self._room(context).state()))
        content = types.TextResourceContents(uri=STATE_URI, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])

    # Rooms.

    def _room(self, context: Context) -> _Room:
        id, query = "", {}
        if self._over_http:
            request: Any = context.request
            id = request.headers.get(_SESSION_HEADER, "")
            if not id:
                raise MCPError(types.INVALID_REQUEST, "shake hands first (initialize): a session is needed")
            query = dict(request.query_params)
        room = self._rooms.get(id)
        if room is None:
            self._make_way()
            room = self._rooms[id] = self._chosen(query)
        room.used = time.monotonic()
        return room

    def _chosen(self, query: dict[str, str]) -> _Room:
        task, seed = self._task, self._seed
        if "seed" in query:
            given = query["seed"]
            if not (given.isdecimal() and len(given) <= _SEED_DIGITS):
                raise MCPError(types.INVALID_PARAMS, f"seed is a whole number, got {given[:40]!r}")
            seed = int(given)
        if "task" in query:
            named = find_task(self._offer, query["task"])
            if named is None:
                raise MCPError(types.INVALID_PARAMS, f"there is no task {query['task'][:80]!r}")
            task = named
        return _Room(self._offer, task, seed)

    def _make_way(self) -> None:
        """The SDK forgets sessions that nobody uses by itself, and does not say so."""
        latest = time.monotonic() - self.idle_s
        for id in [id for id, room in self._rooms.items() if room.used < latest and not self._visits[id]]:
            self._close_room(id)


def find_task(offer: Offer, wanted: str | int) -> Task | None:
    """A task by its id or its number, which may be written."""
    found = offer.task(wanted)
    if found is None and isinstance(wanted, str) and wanted.isdecimal() and len(wanted) <= _SEED_DIGITS:
        return offer.task(int(wanted))
    return found


def _described(tool: Tool) -> types.Tool:
    return types.Tool(name=tool.name, description=tool.description or None, input_schema=dict(tool.parameters))
