"""Tools of MCP servers: a program of one's own or a service at a URL, listed into tools and called::

    with McpBackend.stdio("python", ["weather_server.py"]) as backend:
        task = Task(..., tools=backend.tools)
        env = gym.make("mine/weather-v0", data=[task], backend=backend)

Each session has a server (or, over HTTP, a session of the server) of its own, begun at its first call and ended when it
is closed; ``per_episode=False`` has all share one, for servers that keep nothing. See ``line`` for what becomes of a
server that hangs, dies or lies, and ``answers`` for what becomes of its answers.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.mcp.address import Address, HttpAddress, StdioAddress
from callgym.tool_backends.mcp.limits import McpLimits
from callgym.tool_backends.mcp.sdk import require_sdk
from callgym.tool_backends.portal import portal

if TYPE_CHECKING:
    from callgym.tool_backends.mcp.connection import Connection
    from callgym.tool_backends.mcp.line import ServerLine

__all__ = ["McpBackend", "McpSession"]


class McpBackend:
    """Opens sessions with an MCP server; made by ``stdio`` or ``http``."""

    def __init__(
        self,
        address: Address,
        *,
        per_episode: bool = True,
        limits: McpLimits | None = None,
        state_resource: str | None = None,
    ) -> None:
        """Set the backend up; nothing is started. ``stdio`` and ``http`` say what the arguments are.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: The SDK is not installed.
        """
        require_sdk()
        if not isinstance(per_episode, bool):
            raise ConfigurationError(f"per_episode is True or False, got {per_episode!r}")
        if address.depends and not per_episode:
            raise ConfigurationError("a server that is started for a task ({task}, {seed}) needs per_episode=True")
        self.address = address
        self.per_episode = per_episode
        self.limits = McpLimits.checked(limits)
        self.state_resource = state_resource
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._tools: tuple[Tool, ...] | None = None
        self._shared: ServerLine | None = None
        self._connections: set[Connection] = set()

    @classmethod
    def stdio(
        cls,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        per_episode: bool = True,
        limits: McpLimits | None = None,
        state_resource: str | None = None,
    ) -> McpBackend:
        """A server that is a program, started by us.

        Args:
            command: The program.
            args: Its arguments; ``{task}`` and ``{seed}`` in them are the episode's.
            env: What its environment holds beside PATH and HOME; keys of ours do not reach it by themselves.
            cwd: The folder it runs in; ours by default.
            per_episode: Whether each session has a process of its own; else all share one.
            limits: Times, sizes and counts; see McpLimits.
            state_resource: The URI of a resource, a JSON object, that is the session's state
                (``callgym://state`` of our own server); by default the state is empty.
        """
        if isinstance(args, str) or not isinstance(args, Sequence):
            raise ConfigurationError(f"args is a list of texts, got {args!r:.80}")
        given = tuple((env or {}).items())
        address = StdioAddress(os.fspath(command), tuple(args), given, None if cwd is None else os.fspath(Path(cwd)))
        return cls(address, per_episode=per_episode, limits=limits, state_resource=state_resource)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        token_env: str | None = None,
        per_episode: bool = True,
        limits: McpLimits | None = None,
        state_resource: str | None = None,
    ) -> McpBackend:
        """A server at a URL, over streamable HTTP.

        Args:
            url: ``http://127.0.0.1:8000/mcp``; ``{task}`` and ``{seed}`` in it are the episode's.
            token_env: The environment variable that holds a bearer token; it is read when a session is opened.
            per_episode: Whether each session has a session of the server's; else all share one.
            limits: Times, sizes and counts; see McpLimits.
            state_resource: As for ``stdio``.
        """
        address = HttpAddress(url, token_env)
        return cls(address, per_episode=per_episode, limits=limits, state_resource=state_resource)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The server's tools; it is asked once, in a session of its own.

        Raises:
            ConfigurationError: It cannot be started or reached, or has other tools for each task (``tools_for``).
            DataError: A tool cannot be used; the message names it.
        """
        if self._tools is None:
            if self.address.depends:
                raise ConfigurationError("the server is started for a task; ask tools_for(task, seed)")
            self._tools = self._list(self.address)
        return self._tools

    def tools_for(self, task: str, seed: int = 0) -> tuple[Tool, ...]:
        """The tools of the server that is started for a task; it is asked every time. Raises as ``tools``."""
        return self._list(self.address.of(task, seed))

    def _list(self, address: Address) -> tuple[Tool, ...]:
        from callgym.tool_backends.mcp.listing import list_tools

        return portal().run(list_tools(address, address.keys(), self.limits))

    def open(self, task: Task, seed: int) -> McpSession:
        """A session; nothing is started before its first call.

        Raises:
            ConfigurationError: The token is not in the environment.
        """
        if self.per_episode:
            return McpSession(self._line(self.address.of(task.id, seed)), self.state_resource, owned=True)
        with self._lock:
            if self._shared is None or self._shared.pid != os.getpid():
                self._shared = self._line(self.address)
            return McpSession(self._shared, self.state_resource, owned=False)

    def _line(self, address: Address) -> ServerLine:
        from callgym.tool_backends.mcp.line import ServerLine

        if self._pid != os.getpid():  # forked: connections are the parent's
            self._pid, self._connections = os.getpid(), set()
        return ServerLine(address, address.keys(), self.limits, self._connections)

    def close(self) -> None:
        """End every server that this backend has started, and wait until they have ended. It can be used again."""
        if self._pid == os.getpid():
            portal().run(self._end())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _end(self) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.close()
        tasks = [connection.task for connection in self._connections]
        for connection in list(self._connections):
            connection.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=self.limits.close_s + 5)

    def __repr__(self) -> str:
        return f"McpBackend({self.address!r})"

    def __getstate__(self) -> dict[str, Any]:
        started = ("_lock", "_shared", "_connections", "_pid", "_tools")
        return {name: value for name, value in self.__dict__.items() if name not in started}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()


class McpSession:
    """The calls of one episode."""

    waits = True

    def __init__(self, line: ServerLine, state_resource: str | None, *, owned: bool) -> None:
        self._line = line
        self._state_resource = state_resource
        self._seen: dict[str, Any] = {"unavailable": "the state was not looked at yet"}
        self._closed = False
        # A session that is dropped unclosed ends its server all the same.
        self._end = weakref.finalize(self, _close, line) if owned else None
        if self._end is not None:
            self._end.atexit = False

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call, and block until it is answered or its time is up."""
        self._check_open()
        return portal().run(self._line.call(call))

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, without blocking the loop."""
        self._check_open()
        here = portal()
        result = await here.arun(self._line.call(call))
        if self._state_resource is not None and asyncio.get_running_loop() is here.loop:
            # Looked at now: who asks for it on this loop could not wait.
            self._seen = await self._line.read_object(self._state_resource)
        return result

    def state(self) -> dict[str, Any]:
        """What the state resource holds; empty where none was named, ``{"unavailable": why}`` where it cannot be read.

        On the portal's own loop, where nobody may wait, what it held after the last ``acall``.
        """
        if self._state_resource is None or self._closed:
            return {}
        here = portal()
        if _running_loop() is here.loop:
            return dict(self._seen)
        return here.run(self._line.read_object(self._state_resource))

    @property
    def last_words(self) -> str:
        """The end of what a failed server wrote to its standard error: for people, not for the policy."""
        return self._line.last_words

    def close(self) -> None:
        """End the session's server, in the background; ``McpBackend.close`` waits for it."""
        self._closed = True
        if self._end is not None:
            self._end()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the session is closed")
        if self._line.pid != os.getpid():
            raise RuntimeError("the session belongs to the process that this one was forked from; open another")


def _close(line: ServerLine) -> None:
    if line.loop is not None and line.pid == os.getpid():
        line.loop.call_soon_threadsafe(line.close)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
