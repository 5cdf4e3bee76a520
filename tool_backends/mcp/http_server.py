"""Our server over HTTP: its address, its door, and its end.

The SDK checks ``Host`` and ``Origin`` (a page in a browser cannot call a server of this machine by a name of its own),
the size of bodies and the number of sessions; the token is asked for here.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import socket
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import ToolBackend
from callgym.tool_backends.mcp.made_server import make_server
from callgym.tool_backends.server.offer import Offer

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from callgym.tool_backends.mcp.server import ToolServer

__all__ = ["McpHttpServer"]

_PATH = "/mcp"
_END_S = 5.0
_BACKLOG = 1_024


class McpHttpServer:
    """An MCP server over HTTP, in a thread of this process (``with``) or in this thread (``run``)."""

    def __init__(
        self,
        source: str | ToolBackend | Offer,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token_env: str | None = None,
        allowed_hosts: Sequence[str] = (),
        task: str | int | Task | None = None,
        tools: Sequence[Tool] = (),
        seed: int = 0,
        show_state: bool = False,
        **options: Any,
    ) -> None:
        """Set the server up, and take the port; arguments and errors as in ``serve_mcp``.

        Raises:
            OSError: The address cannot be listened at.
        """
        token = _token(host, token_env)
        self._rooms = make_server(
            source, task=task, tools=tools, seed=seed, show_state=show_state, over_http=True, **options
        )
        self._uvicorn = _uvicorn_server(_Door(_app(self._rooms, host, allowed_hosts), self._rooms, token))
        self._socket = _listening(host, port)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._socket.getsockname()[1]}{_PATH}"
        """Where the server is."""
        self._thread: threading.Thread | None = None

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return self._rooms.sessions

    def run(self) -> None:
        """Serve until the user interrupts it, or ``close`` is called from another thread."""
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._uvicorn.run(sockets=[self._socket])
        finally:
            self._rooms.close()

    def close(self) -> None:
        """End the server, and wait until it has."""
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join(_END_S)
        self._socket.close()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.run, name="callgym-mcp-server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens: who connects before the server runs waits, and is not turned away."""
    # The protocol is named: for a socket of protocol 0, asyncio leaves small packets to wait for one another (40 ms).
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"cannot listen at {host}, port {port}: {reason}") from None
    return listener


def _app(rooms: ToolServer, host: str, allowed_hosts: Sequence[str]) -> ASGIApp:
    from mcp.server.transport_security import TransportSecuritySettings

    names = [*allowed_hosts]
    if _is_loopback(host):
        names += ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    elif not _is_any(host):
        names += [f"[{host}]:*" if ":" in host else f"{host}:*", host]
    # A server at every address does not know what it is called; then it is the token that keeps strangers out.
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(names),
        allowed_hosts=names,
        allowed_origins=[f"{scheme}://{name}" for name in names for scheme in ("http", "https")],
    )
    return rooms.sdk.streamable_http_app(
        streamable_http_path=_PATH, json_response=True, transport_security=security, host=host,
        max_sessions=rooms.max_sessions, session_idle_timeout=rooms.idle_s,
    )  # fmt: skip


class _Door:
    """What stands before the server: it asks for the token, hears of sessions that end, and lets nobody wait on when
    the server ends."""

    def __init__(self, app: ASGIApp, rooms: ToolServer, token: str | None) -> None:
        self._app = app
        self._rooms = rooms
        self._wanted = b"" if token is None else f"Bearer {token}".encode()
        self.closing = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if self._wanted and not hmac.compare_digest(headers.get(b"authorization", b""), self._wanted):
            await _refuse(send)
            return
        session = headers.get(b"mcp-session-id", b"").decode("latin-1")
        with self._rooms.visited(session, ends=scope["method"] == "DELETE"):
            if scope["method"] == "GET":  # a stream of notifications, open as long as the session
                await self._stream(scope, receive, send)
            else:
                await self._app(scope, receive, send)

    async def _stream(self, scope: Any, receive: Any, send: Any) -> None:
        stream = asyncio.ensure_future(self._app(scope, receive, send))
        closing = asyncio.ensure_future(self.closing.wait())
        try:
            await asyncio.wait((stream, closing), return_when=asyncio.FIRST_COMPLETED)
            if stream.done():
                stream.result()
                return
        finally:
            stream.cancel()
            closing.cancel()
        await send({"type": "http.response.body", "body": b""})


def _uvicorn_server(door: _Door) -> uvicorn.Server:
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            door.closing.set()
            await super().shutdown(sockets)

    return Server(
        uvicorn.Config(
            door,
            log_config=None,
            log_level="error",
            access_log=False,
            ws="none",
            lifespan="on",
            proxy_headers=False,  # they are anybody's word
            server_header=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=75,
        )
    )


async def _refuse(send: Any) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _token(host: str, token_env: str | None) -> str | None:
    from callgym.tool_backends.server.run import TOKEN_ENV, read_token

    token = read_token(token_env)
    if token is None and not _is_loopback(host):
        raise ConfigurationError(
            f"at {host!r} others can reach the server, so it needs a token: put one into {TOKEN_ENV}, or name another "
            "variable in token_env"
        )
    return token


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_any(host: str) -> bool:
    try:
        return not host or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
