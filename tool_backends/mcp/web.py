"""A server at a URL: the SDK's streamable HTTP over a client that has limits, and tells of statuses.

No proxy, no ``.netrc`` and no cookie of the environment is used; answers come uncompressed, so that a small one cannot
be a large one in disguise. The SDK follows redirects on the same origin only.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import httpx2
from mcp.client.streamable_http import streamable_http_client

from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.mcp.address import HttpAddress
from callgym.tool_backends.mcp.limits import McpLimits
from callgym.tool_backends.mcp.pipes import Streams
from callgym.tool_backends.mcp.traffic import Traffic

__all__ = ["http_streams"]

_CONNECTIONS = 128
_KEEP_ALIVE_S = 4.0  # servers give connections up after five seconds or more, and one that is used just then is lost


@asynccontextmanager
async def http_streams(
    address: HttpAddress, keys: KeyRing, limits: McpLimits, traffic: Traffic
) -> AsyncIterator[Streams]:
    """Streams to the server; its session is ended with the block."""
    headers = {"Accept-Encoding": "identity"}
    if address.token_env is not None:
        headers["Authorization"] = f"Bearer {keys.read(address.token_env)}"
    pool = httpx2.Limits(max_connections=_CONNECTIONS, keepalive_expiry=_KEEP_ALIVE_S)
    client = httpx2.AsyncClient(
        transport=_WatchedTransport(
            httpx2.AsyncHTTPTransport(verify=_certificates(address.url), trust_env=False, limits=pool), limits, traffic
        ),
        headers=headers,
        # To read has no limit here: a call has its own, and one that is late must not end the others.
        timeout=httpx2.Timeout(limits.start_timeout_s, read=None),
        trust_env=False,
    )
    async with (
        client,
        streamable_http_client(
            address.url, http_client=client, max_sse_event_size=limits.max_response_bytes
        ) as streams,
    ):
        yield cast(Streams, streams)


def _certificates(url: str) -> ssl.SSLContext | bool:
    return _usual_certificates() if url.lower().startswith("https:") else False  # to load them for nothing takes long


@functools.cache
def _usual_certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


class _WatchedTransport(httpx2.AsyncBaseTransport):
    """Counts what comes, and stops where it is too much."""

    def __init__(self, inner: httpx2.AsyncHTTPTransport, limits: McpLimits, traffic: Traffic) -> None:
        self._inner = inner
        self._limits = limits
        self._traffic = traffic

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":  # the session's end, which nobody waits for
            async with asyncio.timeout(self._limits.close_s):
                return await self._inner.handle_async_request(request)
        if request.method == "POST":
            self._traffic.asked()
        response = await self._inner.handle_async_request(request)
        if request.method == "POST":
            self._traffic.status = response.status_code
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.DecodingError("the server sent a compressed answer that nobody asked for", request=request)
        is_json = response.headers.get("content-type", "").lower().startswith("application/json")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _WatchedStream(response.stream, self._limits.max_response_bytes if is_json else None,
                                         self._traffic)  # fmt: skip
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _WatchedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int | None, traffic: Traffic) -> None:
        self._inner = inner
        self._most = most
        self._traffic = traffic

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for part in self._inner:
            count += len(part)
            if self._most is not None and count > self._most:
                # A kind of error that the SDK answers the one call with, and goes on.
                raise httpx2.StreamError(f"the tool's answer is longer than {self._most} bytes; ask for less")
            if not self._traffic.received(len(part)):
                raise httpx2.StreamError("the server wrote more than was asked for")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
