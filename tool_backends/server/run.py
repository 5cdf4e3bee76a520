"""Running a tool server, in the foreground or beside what a program does anyway::

    serve("apibank/L1-v0", port=8000)  # until Ctrl-C

    with serving(make_app("apibank/L1-v0")) as url:
        env = gym.make("apibank/L1-v0", backend=url)

A server is for this machine unless it has a token. What it says to its clients is not encrypted: over a network it
stands behind something that speaks TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from callgym.errors import ConfigurationError, MissingPackageError
from callgym.tool_backends.server.app import make_app
from callgym.tool_backends.server.guard import check_token
from callgym.tool_backends.server.limits import ServerLimits

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

__all__ = ["TOKEN_ENV", "check_address", "make_server", "read_token", "run_server", "serve", "serving"]

TOKEN_ENV = "CALLGYM_SERVE_TOKEN"
"""The environment variable that holds the token, on both sides, unless another is named."""

_KEEP_ALIVE_S = 60  # longer than a client keeps a connection, so that none is closed under a request
_GRACE_S = 2
_BACKLOG = 2048


def read_token(token_env: str | None = None) -> str | None:
    """The token that an environment variable holds.

    Args:
        token_env: Its name; for None ``CALLGYM_SERVE_TOKEN``, which need not be set.

    Raises:
        ConfigurationError: A variable was named and is not set, or the token is none.
    """
    token = os.environ.get(token_env or TOKEN_ENV, "").strip()
    if token:
        return check_token(token)
    if token_env is None:
        return None
    raise ConfigurationError(f"the environment variable {token_env} is not set; it holds the server's token")


def serve(
    backend: Any,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    limits: ServerLimits | None = None,
    announce: Callable[[str], None] = lambda url: None,
    **options: Any,
) -> None:
    """Serve tools until the process is told to stop.

    Args:
        backend: As in ``make_app``.
        host: The address to listen at. Any but this machine's own needs a token.
        port: The port; 0 for any that is free.
        token: What requests must show.
        limits: Sessions, sizes and times.
        announce: Told the server's URL when it listens.
        **options: As in ``make_app``.

    Raises:
        ConfigurationError: An argument has a value it cannot have, or the address needs a token.
        OSError: The address is not to be had.
        MissingPackageError: uvicorn is not installed.
    """
    limits = limits or ServerLimits()
    check_address(host, port, token)
    run_server(make_server(make_app(backend, token=token, limits=limits, **options), limits), host, port, announce)


def run_server(server: uvicorn.Server, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Listen, say where, and serve until the process is told to stop. Raises OSError where it cannot listen."""
    with _listening(host, port) as listener:
        announce(_url(listener))
        server.run(sockets=[listener])


@contextlib.contextmanager
def serving(app: Starlette, limits: ServerLimits | None = None, *, websockets: bool = False) -> Iterator[str]:
    """Run an application on this machine, in a thread, as long as the block lasts; gives its URL.

    Args:
        app: From ``make_app``.
        limits: How many connections, how slow a request may come, how long a message may be.
        websockets: Whether connections may be turned into WebSockets.
    """
    server = make_server(app, limits or ServerLimits(), websockets=websockets)
    with _listening("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), name="callgym-server", daemon=True)
        thread.start()
        try:
            yield _url(listener)
        finally:
            server.should_exit = True
            thread.join(_GRACE_S + 2)


def check_address(host: str, port: int, token: str | None) -> None:
    """Refuse a port that is none, and strangers without a token. Raises ConfigurationError."""
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 65_536:
        raise ConfigurationError(f"port is a whole number from 0 to 65535, got {port!r}")
    if token is None and not _is_this_machine(host):
        raise ConfigurationError(
            f"at {host!r} others can reach the server, so it needs a token; put one into {TOKEN_ENV}, or listen at "
            "127.0.0.1"
        )


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By the protocol's name: asyncio lets small answers leave at once only where it sees that it is TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would let two programs listen at one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: Starlette, limits: ServerLimits, *, websockets: bool = False) -> uvicorn.Server:
    """uvicorn's server, careful with strangers."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingPackageError.for_extra("uvicorn", "serve") from error
    config = uvicorn.Config(
        app,
        http=_protocol(limits.body_seconds),
        ws="auto" if websockets else "none",
        ws_max_size=limits.max_body_bytes,
        lifespan="on",
        # Addresses hold the ids of sessions, which are secret; and forwarded headers are anybody's word.
        access_log=False,
        log_config=None,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        limit_concurrency=limits.max_connections,
    )
    return uvicorn.Server(config)


def _protocol(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, but a request whose head does not come in time is not waited for."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol

    class Impatient(base):  # type: ignore[misc]
        _slow: asyncio.TimerHandle | None = None
        _upgraded = False

        def handle_websocket_upgrade(self, *event: Any) -> None:
            self._upgraded = True  # an open WebSocket may be silent
            super().handle_websocket_upgrade(*event)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._slow = self.loop.call_later(seconds, self._give_up)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._at_work():
                self._patient()
            elif self._slow is None:
                self._slow = self.loop.call_later(seconds, self._give_up)

        def connection_lost(self, exc: Exception | None) -> None:
            self._patient()
            super().connection_lost(exc)

        def _at_work(self) -> bool:
            return self._upgraded or (self.cycle is not None and not self.cycle.response_complete)

        def _patient(self) -> None:
            if self._slow is not None:
                self._slow.cancel()
                self._slow = None

        def _give_up(self) -> None:
            self._slow = None
            if not self._at_work() and not self.transport.is_closing():
                self.transport.close()

    return Impatient
