"""HTTP/1.1 on one connection, without a network: a request becomes bytes, bytes become a reply.

h11, the protocol engine under httpx, on its own: the connections that block and those that are awaited read and write
by the same few lines, and a call costs a third of what it does through httpx's layers.
"""

from __future__ import annotations

import h11

from callgym.tool_backends.http.body import BodyReader
from callgym.tool_backends.http.message import Reply, Request

__all__ = ["Broken", "Conversation"]

_MAX_HEADERS = 100 * 1024
"""Longest head of a response, in bytes."""
_MAX_INTERIM = 16
"""Most responses that say no more than to wait (1xx)."""


class Broken(Exception):
    """The other side closed the connection too early, or does not speak HTTP."""


class Conversation:
    """One request and its reply after another."""

    def __init__(self, max_body: int) -> None:
        """Begin.

        Args:
            max_body: Longest body of a reply, in bytes.
        """
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEADERS)
        self._max_body = max_body
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body: BodyReader | None = None
        self._interim = 0

    def ask(self, request: Request) -> bytes:
        """The bytes to send for a request."""
        if self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
        self._body, self._interim = None, 0
        head = h11.Request(method=request.method, target=request.target, headers=list(request.headers))
        sent = self._http.send(head) or b""
        if request.body:
            sent += self._http.send(h11.Data(data=request.body)) or b""
        return sent + (self._http.send(h11.EndOfMessage()) or b"")

    def hear(self, data: bytes) -> Reply | None:
        """Take what arrived, ``b""`` for the end; the reply once it is complete or too long.

        Raises:
            Broken: There will be no reply.
        """
        try:
            self._http.receive_data(data)
            while (event := self._http.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Response):
                    self._begin(event)
                elif isinstance(event, h11.Data) and self._body is not None:
                    if not self._body.feed(bytes(event.data)):
                        return self._reply(self._body)
                elif isinstance(event, h11.EndOfMessage) and self._body is not None:
                    return self._reply(self._body)
                else:
                    self._interim += 1
                    if not isinstance(event, h11.InformationalResponse) or self._interim > _MAX_INTERIM:
                        raise Broken
        except h11.RemoteProtocolError as error:
            raise Broken from error
        if not data:
            raise Broken
        return None

    @property
    def is_over(self) -> bool:
        """Whether no other request can follow: something was left unread, or the other side wants to close."""
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        # The rest of a body that was longer than it said would begin the next reply.
        return not done or bool(self._http.trailing_data[0])

    def _begin(self, response: h11.Response) -> None:
        self._status, self._headers = response.status_code, {}
        for name, value in response.headers:
            key, text = name.decode("latin-1"), value.decode("latin-1")
            self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text
        self._body = BodyReader(self._headers.get("content-encoding", ""), self._max_body)

    def _reply(self, body: BodyReader) -> Reply:
        return Reply(self._status, self._headers, body.finish(), body.cut, body.fault)
