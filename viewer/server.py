"""One page on the loopback interface, for as long as somebody looks at it.

Nothing but this page is answered, and only to a browser that was sent to this machine by this machine's name: a
foreign site that resolves to it (DNS rebinding) gets nothing, and no page of another may take this one in.
"""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from callgym.errors import ConfigurationError

__all__ = ["PageServer"]

_HOST = "127.0.0.1"
_SECONDS_TO_ASK = 30


class PageServer(ThreadingHTTPServer):
    """Serves one page, held in memory, until it is shut down."""

    daemon_threads = True

    def __init__(self, page: bytes, port: int = 0) -> None:
        """Open the port.

        Args:
            page: The page, which says itself what may run in it.
            port: 0 for any that is free.

        Raises:
            ConfigurationError: The port cannot be had.
        """
        self.page = page
        try:
            super().__init__((_HOST, port), _Answer)
        except (OSError, OverflowError) as error:
            reason = f"port {port} of {_HOST} cannot be had: {error}; --port 0 takes a free one"
            raise ConfigurationError(reason) from error

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_HOST}:{self.server_port}/"

    @property
    def names(self) -> tuple[str, ...]:
        """What a browser may call this server."""
        return tuple(f"{name}:{self.server_port}" for name in (_HOST, "localhost"))


class _Answer(BaseHTTPRequestHandler):
    server: PageServer
    timeout = _SECONDS_TO_ASK
    server_version = "callgym"
    sys_version = ""

    def do_GET(self) -> None:
        """The page, or why not."""
        if self.headers.get_all("Host") not in [[name] for name in self.server.names]:
            self._say(HTTPStatus.MISDIRECTED_REQUEST, b"This is not the server of that name.\n")
        elif self.path.partition("?")[0] != "/":
            self._say(HTTPStatus.NOT_FOUND, b"There is one page here, at /.\n")
        else:
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a request's line may hold anything, and nobody asked for a log."""

    def _say(self, status: HTTPStatus, text: bytes) -> None:
        self._send(status, "text/plain; charset=utf-8", text)

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": "frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
