"""What backends over HTTP share: limits, keys, connections, sessions. What they differ in is a Translation.

A new kind of service is a translation of calls into requests, and of responses into results::

    class EchoTranslation:
        def request(self, call):
            return Request("POST", origin, b"/echo", headers, json_body(call.arguments))

        def result(self, call, reply):
            return ToolResult(content=read_json(reply, keys))
"""

from __future__ import annotations

import os
import random
import ssl
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from callgym.call import ToolCall, ToolResult
from callgym.chat_server import import_httpx
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.http.answers import read_content
from callgym.tool_backends.http.endpoint import Endpoint
from callgym.tool_backends.http.exchange import exchange
from callgym.tool_backends.http.keys import KeyRing, read_keys
from callgym.tool_backends.http.limits import HttpLimits, RateLimit
from callgym.tool_backends.http.message import Exchange, Reply, Request
from callgym.tool_backends.http.route import Route
from callgym.tool_backends.portal import portal

if TYPE_CHECKING:
    from callgym.tool_backends.http.connections import Connections

__all__ = ["HttpBackend", "HttpSession", "Translation"]


class Translation(Protocol):
    """Between calls and a server's language, in one session."""

    def request(self, call: ToolCall) -> Request | ToolResult:
        """What is sent for a call, or why nothing is."""

    def result(self, call: ToolCall, reply: Reply) -> ToolResult:
        """What a response to it means, whatever its status."""


class HttpBackend:
    """Opens sessions that talk to servers; a subclass says how, in ``translation``."""

    def __init__(
        self,
        *,
        limits: HttpLimits | None = None,
        state_endpoint: Endpoint | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        keys: Iterable[str] = (),
    ) -> None:
        """Set the backend up; nothing is sent yet.

        Args:
            limits: Time, attempts, sizes and rates; see HttpLimits.
            state_endpoint: A GET without arguments that gives the state of the world, for tasks whose goal asks for it.
            ca_file: Certificates to trust, a PEM file; the usual ones by default.
            keys: The environment variables that hold keys; they are read when a session is opened.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: httpx is not installed.
        """
        import_httpx()
        self.limits = HttpLimits.checked(limits)
        self._ca_file = None if ca_file is None else os.fspath(ca_file)
        _check_certificates(self._ca_file)
        if state_endpoint is not None and state_endpoint.tool.required:
            raise ConfigurationError(f"state_endpoint has no arguments, got {list(state_endpoint.tool.required)}")
        self._state_route = None if state_endpoint is None else Route(state_endpoint)
        state_keys = () if state_endpoint is None else [key.env for key in state_endpoint.keys]
        self._variables = tuple(dict.fromkeys((*keys, *state_keys)))
        self._start()

    def translation(self, task: Task, keys: KeyRing) -> Translation:
        """How the calls of one session are made."""
        raise NotImplementedError

    def open(self, task: Task, seed: int) -> HttpSession:
        """A session; nothing is sent before its first call.

        Raises:
            ConfigurationError: A key is not in the environment.
        """
        keys = read_keys(self._variables)
        return HttpSession(self, self.translation(task, keys), keys, seed)

    def exchange(self, request: Request, read: Callable[[Reply], ToolResult], jitter: Callable[[], float],
                 deadline: float) -> Exchange:  # fmt: skip
        """One request under the backend's limits, as work for ``run`` or ``arun``."""
        return exchange(request, read, limits=self.limits, deadline=deadline, rate=self._rate, jitter=jitter)

    def run(self, work: Exchange, deadline: float) -> ToolResult:
        """Do the work in this thread."""
        return self._here().run(work, deadline)

    async def arun(self, work: Exchange, deadline: float) -> ToolResult:
        """Do the work on the portal's loop, from any loop."""
        return await portal().arun(self._here().arun(work, deadline))

    def close(self) -> None:
        """Close idle connections. Sessions go on: their next calls open new ones."""
        if self._connections is not None and self._connections.pid == os.getpid():
            self._connections.close()

    @property
    def state_route(self) -> Route | None:
        """Where the state is asked for."""
        return self._state_route

    def _start(self) -> None:
        self._connections: Connections | None = None
        rate = self.limits.calls_per_second
        self._rate = None if rate is None else RateLimit(rate, self.limits.burst)

    def _here(self) -> Connections:
        """The connections of this process: a forked one has its own."""
        from callgym.tool_backends.http.connections import Connections

        connections = self._connections
        if connections is None or connections.pid != os.getpid():
            connections = self._connections = Connections(self.limits, self._ca_file)
        return connections

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connections": None, "_rate": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()


def _check_certificates(ca_file: str | None) -> None:
    if ca_file is None:
        return
    try:
        ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"ca_file is a PEM file of certificates, got {ca_file!r} ({error})") from error


class HttpSession:
    """The calls of one episode; what they change is the server's business."""

    waits = True

    def __init__(self, backend: HttpBackend, translation: Translation, keys: KeyRing, seed: int) -> None:
        self._backend = backend
        self._translation = translation
        self._keys = keys
        self._jitter = random.Random(seed).random

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call, and block until it is answered or its time is up."""
        deadline = time.monotonic() + self._backend.limits.timeout_s
        return self._backend.run(self.work(call, deadline), deadline)

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, without blocking the loop."""
        deadline = time.monotonic() + self._backend.limits.timeout_s
        return await self._backend.arun(self.work(call, deadline), deadline)

    def work(self, call: ToolCall, deadline: float) -> Exchange:
        """What has to be done for a call."""
        request = self._translation.request(call)
        if isinstance(request, ToolResult):
            return request
        read = partial(self._translation.result, call)
        return (yield from self._backend.exchange(request, read, self._jitter, deadline))

    def state(self) -> dict[str, Any]:
        """What the state endpoint gives, empty without one.

        Raises:
            UnknownState: It gives no object.
        """
        route = self._backend.state_route
        if route is None:
            return {}
        deadline = time.monotonic() + self._backend.limits.timeout_s
        request = route.request({}, self._keys, self._backend.limits.max_request_bytes)
        if isinstance(request, ToolResult):
            raise UnknownState(request.message)
        path = route.endpoint.result_path
        work = self._backend.exchange(
            request, lambda reply: read_content(reply, path, self._keys), self._jitter, deadline
        )
        result = self._backend.run(work, deadline)
        if result.ok and isinstance(result.content, dict):
            return result.content
        raise UnknownState(result.message or "the state endpoint's answer is no object")

    def close(self) -> None:
        """Nothing to give back: connections are the backend's."""
