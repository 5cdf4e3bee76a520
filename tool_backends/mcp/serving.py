"""Serve tools over MCP: to a parent over standard input and output, or to anybody who may over HTTP::

    serve_mcp("apibank/L1-v0", task=0, data="starter")  # what `callgym mcp apibank/L1-v0` does
    with McpHttpServer("apibank/L1-v0", data="starter") as server:
        backend = McpBackend.http(server.url + "?task={task}&seed={seed}")

Each connection has a session of its own. Over HTTP only this machine is let in, unless a token is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import ToolBackend
from callgym.tool_backends.mcp.http_server import McpHttpServer
from callgym.tool_backends.mcp.made_server import make_server
from callgym.tool_backends.server.offer import Offer

if TYPE_CHECKING:
    from callgym.tool_backends.mcp.server import ToolServer

__all__ = ["serve_mcp"]


def serve_mcp(
    source: str | ToolBackend | Offer,
    *,
    task: str | int | Task | None = None,
    tools: Sequence[Tool] = (),
    seed: int = 0,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 0,
    token_env: str | None = None,
    allowed_hosts: Sequence[str] = (),
    show_state: bool = False,
    ready: Callable[[str], None] | None = None,
    **options: Any,
) -> None:
    """Serve until the client (stdio) or the user (HTTP) ends it.

    Args:
        source: An environment's id, a backend, or an Offer.
        task: The task whose tools are served: an id or a number, for a backend a Task.
        tools: For a backend: its tools; the task's by default.
        seed: What sessions are opened with (``backend.open(task, seed)``).
        transport: ``"stdio"`` or ``"http"``.
        host: For HTTP: the address to listen at.
        port: For HTTP: the port; 0 for any that is free.
        token_env: For HTTP: the environment variable with the token that clients must send
            (``Authorization: Bearer``), ``CALLGYM_SERVE_TOKEN`` by default; needed for any address but this machine's
            own.
        allowed_hosts: For HTTP: names that clients may call the server by, ``"tools.example:*"``, beside ``host``.
        show_state: Whether a client can read its session's state, as the resource ``callgym://state``.
        ready: For HTTP: told the URL once the server listens; by default it is written to standard error.
        **options: Arguments of ``gym.make``.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
        MissingPackageError: The SDK is not installed.
    """
    if transport not in ("stdio", "http"):
        raise ConfigurationError(f"transport is 'stdio' or 'http', got {transport!r}")
    given = {"task": task, "tools": tools, "seed": seed, "show_state": show_state, **options}
    if transport == "http":
        http = McpHttpServer(source, host=host, port=port, token_env=token_env, allowed_hosts=allowed_hosts, **given)
        (ready or _announce)(http.url)
        http.run()
        return
    server = make_server(source, over_http=False, **given)
    try:
        with _ended_by_an_interrupt():
            asyncio.run(_serve_stdio(server))
    finally:
        server.close()


def _announce(url: str) -> None:
    print(f"callgym: MCP server at {url}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _ended_by_an_interrupt() -> Iterator[None]:
    """Ctrl-C ends the process: a thread waits for the client's next line, and no exception would wake it up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def _serve_stdio(server: ToolServer) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):  # stray prints go to standard error from here on
        await server.sdk.run(incoming, outgoing, server.options())
