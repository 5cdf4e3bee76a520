"""REST services as tools: an endpoint for each::

backend = RestBackend([Endpoint(tool=weather, url="https://api.example.com/weather/{city}")])
backend = RestBackend.from_openapi("petstore.json", keys={"api_key": "PETSTORE_KEY"})
env = gym.make(id, data=tasks_with(backend.tools), backend=backend)
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.http.answers import read_content
from callgym.tool_backends.http.backend import HttpBackend
from callgym.tool_backends.http.endpoint import Endpoint
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.http.limits import HttpLimits
from callgym.tool_backends.http.message import Reply, Request
from callgym.tool_backends.http.openapi import read_openapi
from callgym.tool_backends.http.route import Route

__all__ = ["RestBackend"]


class RestBackend(HttpBackend):
    """Runs each tool by the request that its endpoint describes."""

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        *,
        limits: HttpLimits | None = None,
        state_endpoint: Endpoint | None = None,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> None:
        """Set the backend up; nothing is sent yet.

        Args:
            endpoints: One for each tool.
            limits: Time, attempts, sizes and rates; see HttpLimits.
            state_endpoint: A GET without arguments that gives the state of the world.
            ca_file: Certificates to trust, a PEM file; the usual ones by default.

        Raises:
            ConfigurationError: Two endpoints have tools of one name, there are none, or an option is wrong.
            MissingPackageError: httpx is not installed.
        """
        self.endpoints = tuple(endpoints)
        self._routes = {endpoint.tool.name: Route(endpoint) for endpoint in self.endpoints}
        if not self.endpoints or len(self._routes) < len(self.endpoints):
            raise ConfigurationError(
                f"endpoints are at least one, and each has a tool of its own name; got {len(self.endpoints)} endpoints "
                f"with {len(self._routes)} names"
            )
        keys = [key.env for endpoint in self.endpoints for key in endpoint.keys]
        super().__init__(limits=limits, state_endpoint=state_endpoint, ca_file=ca_file, keys=keys)

    @classmethod
    def from_openapi(
        cls,
        document: Mapping[str, Any] | str | os.PathLike[str],
        *,
        base_url: str | None = None,
        keys: Mapping[str, str] | None = None,
        operations: Collection[str] | None = None,
        limits: HttpLimits | None = None,
        state_endpoint: Endpoint | None = None,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> RestBackend:
        """The backend of an OpenAPI 3 document; see ``read_openapi`` for the first four arguments.

        Raises:
            DataError: The document cannot be used.
            ConfigurationError: An option is wrong.
            MissingPackageError: httpx is not installed.
        """
        read = read_openapi(document, base_url=base_url, keys=keys or {}, operations=operations)
        return cls(read.endpoints, limits=limits, state_endpoint=state_endpoint, ca_file=ca_file)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, for tasks."""
        return tuple(endpoint.tool for endpoint in self.endpoints)

    def translation(self, task: Task, keys: KeyRing) -> _RestTranslation:
        """Calls as the endpoints' requests."""
        return _RestTranslation(self._routes, keys, self.limits.max_request_bytes)


class _RestTranslation:
    def __init__(self, routes: Mapping[str, Route], keys: KeyRing, max_body: int) -> None:
        self._routes = routes
        self._keys = keys
        self._max_body = max_body

    def request(self, call: ToolCall) -> Request | ToolResult:
        route = self._routes.get(call.name)
        if route is None:
            return ToolResult(error="unavailable", message=f"{call.name[:80]} has no address here")
        return route.request(call.arguments, self._keys, self._max_body)

    def result(self, call: ToolCall, reply: Reply) -> ToolResult:
        return read_content(reply, self._routes[call.name].endpoint.result_path, self._keys)
