"""Who may ask: the first thing that happens to a request, and the last thing that happens to its answer.

With a token, who has it: ``Authorization: Bearer TOKEN``. Without one, programs on this machine, and no web page that
a browser on it shows: the ``Host`` must name the machine itself (else a page could call it by a name of its own, which
it lets point here), and an ``Origin``, which browsers send along, must be the server's own.
"""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from callgym.errors import ConfigurationError
from callgym.tool_backends.server.log import log_bug
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.wire import write_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "check_token", "is_loopback"]

_OPEN = ("/health",)
_LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_MIN_TOKEN = 16
_WITHOUT_BODY = frozenset(("GET", "HEAD", "DELETE", "OPTIONS"))
_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_CLOSE = (b"connection", b"close")


def check_token(token: str) -> str:
    """A token that is one. Raises ConfigurationError for one that is easily guessed or cannot be sent."""
    if len(token) < _MIN_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigurationError(
            f"a token is at least {_MIN_TOKEN} printable ASCII characters without spaces, got {len(token)}; make one "
            "with: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is this machine and nothing else."""
    return _LOOPBACK.fullmatch(host) is not None


class Guard:
    """Around the application: lets requests in, and turns what goes wrong inside into JSON."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        """Guard ``app``.

        Args:
            app: The application.
            token: What must be shown; None where only this machine may ask.
        """
        self._app = app
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope, receive, send)
        try:
            self._check(scope, answer.has_body)
            await self._app(scope, answer.receive, answer.send)
        except Refusal as refusal:
            await answer.refuse(refusal)
        except Exception as error:
            if answer.begun:
                raise
            route = getattr(scope.get("route"), "path", None) or getattr(scope.get("endpoint"), "__name__", "a request")
            key = log_bug(error, f"{scope['method']} {route}")
            message = f"the tool or its server broke; the log has it under {key}"
            await answer.refuse(Refusal(500, "internal_error", message, {"x-request-id": key}))

    def _check(self, scope: Scope, has_body: bool) -> None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        if self._token is None:
            hosts = headers.get(b"host", [])
            if len(hosts) != 1 or not is_loopback(hosts[0].decode("latin-1")):
                message = "without a token the server is for this machine only; call it localhost or 127.0.0.1"
                raise Refusal(403, "forbidden_host", message)
        elif scope["path"] not in _OPEN:
            scheme, _, shown = b",".join(headers.get(b"authorization", [])).partition(b" ")
            if not hmac.compare_digest(shown.strip(), self._token) or scheme.lower() != b"bearer":
                message = "the token is missing or wrong; send the header Authorization: Bearer TOKEN"
                raise Refusal(401, "unauthorized", message, {"www-authenticate": "Bearer"})
        for origin in headers.get(b"origin", []):
            if [urlsplit(origin.decode("latin-1")).netloc.encode("latin-1")] != headers.get(b"host"):
                raise Refusal(403, "forbidden_origin", "web pages of other places may not call the tools")
        if has_body and scope["method"] in _WITHOUT_BODY:
            raise Refusal(400, "invalid_request", f"{scope['method']} takes no body")


class _Answer:
    """One answer on its way out, with the headers that all have; notes whether the body was read to its end."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self.begun = False
        self.has_body = any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 ") != b"")
            for name, value in scope["headers"]
        )
        self._unread = self.has_body

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._unread = False
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            # What was not read would be taken for the next request, or be read for ever.
            headers: list[Any] = [*message["headers"], *_HEADERS, *([_CLOSE] if self._unread else [])]
            message = {**message, "headers": headers}
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        if self.begun:  # half an answer is worse than none
            raise refusal
        body = write_json({"error": refusal.error, "message": refusal.message})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers += [(name.encode(), value.encode("latin-1")) for name, value in refusal.headers.items()]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
