"""Connections to one tool server: some that block, some on the portal's loop, all with a moment to be done by.

httpcore's connections, which httpx is made of, under a stack of idle ones: httpx's pool looks at every connection for
every request, which for 64 of them takes longer than the tools do, and its time limit is for each piece that arrives,
not for the whole.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import httpcore

from callgym.tool_backends.remote_answers import Answer, Ask, Broken

__all__ = ["Line"]

_IDLE_S = 30.0  # shorter than a server keeps a connection, so that none is closed under a request
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError)


class Line:
    """The connections of one process."""

    def __init__(self, url: str, connections: int, max_response_bytes: int) -> None:
        """Connect to nothing yet.

        Args:
            url: ``http://host:port/path``.
            connections: Most connections at the same time, of each kind.
            max_response_bytes: Longest answer, in bytes.
        """
        self.pid = os.getpid()
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        self._origin = httpcore.Origin(parts.scheme.encode(), (parts.hostname or "").encode("idna"), port)
        self._host = parts.netloc.encode("idna")
        self._path = parts.path.rstrip("/")
        self._max = max_response_bytes
        self._tls = ssl.create_default_context() if secure else None
        self._network = _Network()
        self._places = threading.BoundedSemaphore(connections)
        self._aplaces = asyncio.Semaphore(connections)
        self._idle: list[httpcore.HTTPConnection] = []
        self._aidle: list[httpcore.AsyncHTTPConnection] = []

    def send(self, ask: Ask, token: str | None, deadline: float) -> Answer | Broken:
        """Send a request from this thread.

        Args:
            ask: The request.
            token: What to show.
            deadline: When the answer must be there, by ``time.monotonic()``.
        """
        if not self._places.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return Broken("timeout")
        connection = self._take()
        try:
            response = connection.handle_request(self._request(ask, token, deadline))
            try:
                body = bytearray()
                for part in response.iter_stream():
                    body += part
                    if len(body) > self._max:
                        return Broken("too_long")
            finally:
                response.close()
            return Answer(response.status, bytes(body))
        except httpcore.TimeoutException:
            return Broken("timeout")
        except httpcore.ConnectError:
            return Broken("unreachable")
        except _BROKEN:
            return Broken("lost")
        finally:
            if connection.is_idle() and not connection.is_closed():
                self._idle.append(connection)
            else:
                connection.close()
            self._places.release()

    async def asend(self, ask: Ask, token: str | None, deadline: float) -> Answer | Broken:
        """As ``send``, on the portal's loop."""
        try:
            async with asyncio.timeout(deadline - time.monotonic()), self._aplaces:
                connection = await self._atake()
                try:
                    response = await connection.handle_async_request(self._request(ask, token, None))
                    try:
                        body = bytearray()
                        async for part in response.aiter_stream():
                            body += part
                            if len(body) > self._max:
                                return Broken("too_long")
                    finally:
                        await response.aclose()
                    return Answer(response.status, bytes(body))
                finally:
                    if connection.is_idle() and not connection.is_closed():
                        self._aidle.append(connection)
                    else:
                        await connection.aclose()
        except (TimeoutError, httpcore.TimeoutException):
            return Broken("timeout")
        except httpcore.ConnectError:
            return Broken("unreachable")
        except _BROKEN:
            return Broken("lost")

    def close(self) -> None:
        """Close the idle connections that block."""
        while self._idle:
            self._idle.pop().close()

    async def aclose(self) -> None:
        """Close the idle ones on the portal's loop."""
        while self._aidle:
            await self._aidle.pop().aclose()

    def _take(self) -> httpcore.HTTPConnection:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return httpcore.HTTPConnection(self._origin, self._tls, _IDLE_S, network_backend=self._network)
            if not connection.has_expired():
                return connection
            connection.close()

    async def _atake(self) -> httpcore.AsyncHTTPConnection:
        while self._aidle:
            connection = self._aidle.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return httpcore.AsyncHTTPConnection(self._origin, self._tls, _IDLE_S)

    def _request(self, ask: Ask, token: str | None, deadline: float | None) -> httpcore.Request:
        headers = [(b"Host", self._host), (b"Accept", b"application/json")]
        if token is not None:
            headers.append((b"Authorization", b"Bearer " + token.encode()))
        if ask.body is not None:
            headers += [(b"Content-Type", b"application/json"), (b"Content-Length", str(len(ask.body)).encode())]
        origin, target = self._origin, (self._path + ask.path).encode()
        url = httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target)
        times = {} if deadline is None else {"connect": deadline, "read": deadline, "write": deadline}
        return httpcore.Request(ask.method, url, headers=headers, content=ask.body, extensions={"timeout": times})


class _Network(httpcore.NetworkBackend):
    """Opens connections whose every ``timeout`` is a moment, not a pause that each byte may take."""

    def __init__(self) -> None:
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._network.connect_tcp(host, port, _left(timeout), local_address, socket_options))


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), 65_536):
            self._inner.write(buffer[start : start + 65_536], _left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(moment: float | None) -> float | None:
    if moment is None:
        return None
    left = moment - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time is up")
    return left
