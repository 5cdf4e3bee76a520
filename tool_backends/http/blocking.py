"""A connection for threads that may block, with a moment at which everything must be done.

A time limit for each piece of the network's work would be none: a server that sends a byte every now and then would
have for ever. So every wait is until the same moment, whatever arrived in between.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
import time
from typing import Protocol

from callgym.tool_backends.http.conversation import Conversation
from callgym.tool_backends.http.message import Origin, Reply, Request

__all__ = ["BlockingConnection", "Readable", "is_quiet"]

_PIECE = 16_384


class Readable(Protocol):
    """What the system knows by a number."""

    def fileno(self) -> int:
        """The number."""


class BlockingConnection:
    """A socket, and what is said over it."""

    def __init__(self, origin: Origin, tls: ssl.SSLContext | None, max_body: int, deadline: float) -> None:
        """Connect.

        Args:
            origin: Where to.
            tls: The certificates to trust; None for a connection that is not encrypted.
            max_body: Longest body of a reply, in bytes.
            deadline: When it must have succeeded, in seconds of ``time.monotonic()``.

        Raises:
            TimeoutError: The time is up.
            OSError: Nobody answers, or nobody who can be trusted.
        """
        self._conversation = Conversation(max_body)
        self._socket = _connect(origin, deadline)
        if tls is not None:
            try:
                # The time limit of a socket holds for a handshake as a whole, and so it does for sendall.
                self._socket.settimeout(_left(deadline))
                self._socket = tls.wrap_socket(self._socket, server_hostname=origin.host.decode("ascii"))
            except BaseException:
                self.close()
                raise

    def ask(self, request: Request, deadline: float) -> Reply:
        """Send a request and read its reply.

        Raises:
            TimeoutError: The time is up.
            OSError: The connection broke.
            Broken: The other side closed it, or does not speak HTTP.
        """
        sent = self._conversation.ask(request)
        self._socket.settimeout(_left(deadline))
        # A server may answer and close before it has read all of a request.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(sent)
        while True:
            self._socket.settimeout(_left(deadline))
            reply = self._conversation.hear(self._socket.recv(_PIECE))
            if reply is not None:
                return reply

    @property
    def is_over(self) -> bool:
        """Whether it is of no more use."""
        return self._conversation.is_over

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has arrived, not even the end, where nothing is due."""
        return is_quiet(self._socket)

    def close(self) -> None:
        """Close the socket, whatever is under way."""
        self._socket.close()


def is_quiet(connection: Readable) -> bool:
    """Whether there is nothing to be read from a socket."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        return not poll.poll(0)
    return not select.select([connection], [], [], 0)[0]


def _connect(origin: Origin, deadline: float) -> socket.socket:
    """A socket to the first address that answers."""
    failure: OSError = ConnectionError("the host has no address")
    for family, address in _addresses(origin.host.decode("ascii"), origin.port, deadline):
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.settimeout(_left(deadline))
            found.connect(address)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return found
        except BaseException as error:
            found.close()
            if not isinstance(error, OSError) or isinstance(error, TimeoutError):
                raise
            failure = error
    raise failure


_Addresses = list[tuple[int, tuple[object, ...]]]


def _addresses(host: str, port: int, deadline: float) -> _Addresses:
    """The addresses of a host. The system's resolver knows no time limit, so a name is asked for in a thread."""
    with contextlib.suppress(OSError):
        return _resolve(host, port, socket.AI_NUMERICHOST)
    answers: list[_Addresses] = []

    def ask() -> None:
        try:
            answers.append(_resolve(host, port, 0))
        except (OSError, UnicodeError):
            answers.append([])

    thread = threading.Thread(target=ask, name="callgym-resolver", daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if not answers:
        raise TimeoutError
    return answers[0]


def _resolve(host: str, port: int, flags: int) -> _Addresses:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, address) for family, _, _, _, address in found]


def _left(deadline: float) -> float:
    """Seconds until the moment. Raises TimeoutError when it has come."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
