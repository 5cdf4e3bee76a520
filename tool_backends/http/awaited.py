"""A connection that is awaited, on the portal's loop. Whoever awaits it sets the time limit, for all of it."""

from __future__ import annotations

import asyncio
import ssl
from typing import cast

from callgym.tool_backends.http.blocking import is_quiet
from callgym.tool_backends.http.conversation import Broken, Conversation
from callgym.tool_backends.http.message import Origin, Reply, Request

__all__ = ["AwaitedConnection"]

_MAX_WAITING = 262_144
_PIECE = 16_384  # what is read at a time: between two pieces, others have their turn


class AwaitedConnection(asyncio.Protocol):
    """A transport, and what is said over it."""

    def __init__(self, max_body: int) -> None:
        """Begin; ``open`` connects.

        Args:
            max_body: Longest body of a reply, in bytes.
        """
        self._conversation = Conversation(max_body)
        self._transport: asyncio.Transport | None = None
        self._arrived = bytearray()
        self._ended = False
        self._due: asyncio.Future[None] | None = None

    @classmethod
    async def open(cls, origin: Origin, tls: ssl.SSLContext | None, max_body: int) -> AwaitedConnection:
        """Connect.

        Args:
            origin: Where to.
            tls: The certificates to trust; None for a connection that is not encrypted.
            max_body: Longest body of a reply, in bytes.

        Raises:
            OSError: Nobody answers, or nobody who can be trusted.
        """
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: cls(max_body), origin.host.decode("ascii"), origin.port, ssl=tls
        )
        return connection

    async def ask(self, request: Request) -> Reply:
        """Send a request and read its reply.

        Raises:
            Broken: The other side closed the connection, or does not speak HTTP.
        """
        # It need not be waited for: what is not sent when the time is up is thrown away with the connection.
        self._open_transport().write(self._conversation.ask(request))
        while True:
            reply = self._conversation.hear(await self._read())
            if reply is not None:
                return reply

    @property
    def is_over(self) -> bool:
        """Whether it is of no more use."""
        return self._conversation.is_over

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has arrived, not even the end, where nothing is due."""
        if self._arrived or self._ended or self._transport is None:
            return False
        # Asked, too: what has come in since the loop last looked.
        return is_quiet(self._transport.get_extra_info("socket"))

    def close(self) -> None:
        """Close the connection at once, whatever is under way."""
        if self._transport is not None:
            self._transport.abort()

    async def _read(self) -> bytes:
        """What arrived next, not too much of it; nothing at the end."""
        if self._arrived:
            await asyncio.sleep(0)
        elif not self._ended:
            self._due = asyncio.get_running_loop().create_future()
            try:
                await self._due
            finally:
                self._due = None
        data = bytes(self._arrived[:_PIECE])
        del self._arrived[:_PIECE]
        if self._transport is not None and len(self._arrived) <= _MAX_WAITING < len(self._arrived) + len(data):
            self._transport.resume_reading()
        return data

    def _open_transport(self) -> asyncio.Transport:
        if self._transport is None or self._transport.is_closing():
            raise Broken
        return self._transport

    # What the loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Something arrived."""
        self._arrived += data
        if len(self._arrived) > _MAX_WAITING and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """That was all."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._due is not None and not self._due.done():
            self._due.set_result(None)
