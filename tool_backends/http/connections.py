"""What sends requests: one driver that blocks, one that awaits, each with connections that are used again.

The connections that are awaited live on the portal's loop. Nothing is kept between calls but connections: no cookies,
no proxies, no credentials from files.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
import time
from typing import cast

import httpx

from callgym.call import ToolResult
from callgym.tool_backends.http.awaited import AwaitedConnection
from callgym.tool_backends.http.blocking import BlockingConnection
from callgym.tool_backends.http.conversation import Broken
from callgym.tool_backends.http.idle import IdleConnections
from callgym.tool_backends.http.limits import HttpLimits
from callgym.tool_backends.http.message import Exchange, Failure, Origin, Reply, Send, Wait
from callgym.tool_backends.portal import portal

__all__ = ["Connections"]


class Connections:
    """The connections of one backend in one process."""

    def __init__(self, limits: HttpLimits, ca_file: str | None) -> None:
        """Open nothing yet.

        Args:
            limits: How many connections, how long an answer.
            ca_file: Certificates that are trusted, as a PEM file; None for the usual ones.
        """
        self.pid = os.getpid()
        self._max_body = limits.max_response_bytes
        self._ca_file = ca_file
        self._tls: ssl.SSLContext | None = None
        self._tls_lock = threading.Lock()
        self._free = threading.BoundedSemaphore(limits.connections)
        self._afree = asyncio.Semaphore(limits.connections)
        self._idle: IdleConnections[BlockingConnection] = IdleConnections()
        self._aidle: IdleConnections[AwaitedConnection] = IdleConnections()

    def run(self, work: Exchange, deadline: float) -> ToolResult:
        """Make a call in this thread."""
        try:
            step = next(work)
            while True:
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                    step = work.send(None)
                else:
                    step = work.send(self._send(step, deadline))
        except StopIteration as done:
            return cast(ToolResult, done.value)

    async def arun(self, work: Exchange, deadline: float) -> ToolResult:
        """As ``run``, on the portal's loop."""
        try:
            step = next(work)
            while True:
                if isinstance(step, Wait):
                    await asyncio.sleep(step.seconds)
                    step = work.send(None)
                else:
                    step = work.send(await self._asend(step, deadline))
        except StopIteration as done:
            return cast(ToolResult, done.value)

    def close(self) -> None:
        """Close the connections that are idle; those in use go on."""
        self._idle.clear()
        portal().run(self._aclose())

    async def _aclose(self) -> None:
        self._aidle.clear()

    # In a thread.

    def _send(self, step: Send, deadline: float) -> Reply | Failure:
        if not self._free.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return Failure("timeout")
        request, reused, connection = step.request, None, None
        try:
            reused = None if step.fresh else self._idle.take(request.origin)
            connection = reused or BlockingConnection(
                request.origin, self._trusted(request.origin), self._max_body, deadline
            )
            reply = connection.ask(request, deadline)
            if not connection.is_over:
                self._idle.put(request.origin, connection)
                connection = None
            return reply
        except TimeoutError:
            return Failure("timeout")
        except (OSError, Broken):
            return Failure("unreachable") if connection is None else Failure("lost", reused=reused is not None)
        finally:
            if connection is not None:
                connection.close()
            self._free.release()

    # In the loop.

    async def _asend(self, step: Send, deadline: float) -> Reply | Failure:
        request, reused, connection = step.request, None, None
        try:
            async with asyncio.timeout(deadline - time.monotonic()), self._afree:
                reused = None if step.fresh else self._aidle.take(request.origin)
                connection = reused or await AwaitedConnection.open(
                    request.origin, self._trusted(request.origin), self._max_body
                )
                reply = await connection.ask(request)
            if not connection.is_over:
                self._aidle.put(request.origin, connection)
                connection = None
            return reply
        except TimeoutError:
            return Failure("timeout")
        except (OSError, UnicodeError, Broken):
            return Failure("unreachable") if connection is None else Failure("lost", reused=reused is not None)
        finally:
            if connection is not None:
                connection.close()

    # In both.

    def _trusted(self, origin: Origin) -> ssl.SSLContext | None:
        """The certificates to trust, read when they are first needed."""
        if origin.scheme != b"https":
            return None
        with self._tls_lock:
            if self._tls is None:
                given = self._ca_file
                self._tls = ssl.create_default_context(cafile=given) if given else httpx.create_ssl_context()
            return self._tls
