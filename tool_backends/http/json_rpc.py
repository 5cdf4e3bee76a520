"""JSON-RPC 2.0 services as tools: the tool's name is the method, its arguments are the parameters by name::

    backend = JsonRpcBackend("https://api.example.com/rpc", tools=[add, subtract])

Requests of a session are numbered from 1, so that a session sends the same bytes every time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.http.answers import Unreadable, clean, read_json, status_fault
from callgym.tool_backends.http.backend import HttpBackend
from callgym.tool_backends.http.endpoint import Endpoint
from callgym.tool_backends.http.keys import Key, KeyRing
from callgym.tool_backends.http.limits import HttpLimits
from callgym.tool_backends.http.message import Reply, Request
from callgym.tool_backends.http.route import Route

__all__ = ["JsonRpcBackend"]


class JsonRpcBackend(HttpBackend):
    """Runs every tool as a method of one server."""

    def __init__(
        self,
        url: str,
        *,
        tools: Iterable[Tool] = (),
        headers: Mapping[str, str] | None = None,
        keys: Iterable[Key] = (),
        idempotent: bool = False,
        limits: HttpLimits | None = None,
        state_endpoint: Endpoint | None = None,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> None:
        """Set the backend up; nothing is sent yet.

        Args:
            url: Where requests are posted to.
            tools: The tools that the server has, for tasks; any name is passed on to it.
            headers: Headers of every request.
            keys: Keys that go along.
            idempotent: Whether a call may be made twice, so that it is tried again where its answer was lost.
            limits: Time, attempts, sizes and rates; see HttpLimits.
            state_endpoint: A GET without arguments that gives the state of the world.
            ca_file: Certificates to trust, a PEM file; the usual ones by default.

        Raises:
            ConfigurationError: An option is wrong.
            DataError: The URL, a header or a key is wrong.
            MissingPackageError: httpx is not installed.
        """
        endpoint = whole_body_endpoint(url, headers, keys, idempotent)
        self.tools = tuple(tools)
        self._route = Route(endpoint)
        variables = [key.env for key in endpoint.keys]
        super().__init__(limits=limits, state_endpoint=state_endpoint, ca_file=ca_file, keys=variables)

    def translation(self, task: Task, keys: KeyRing) -> _JsonRpcTranslation:
        """Calls as requests with numbers of their own."""
        return _JsonRpcTranslation(self._route, keys, self.limits.max_request_bytes)


class _JsonRpcTranslation:
    def __init__(self, route: Route, keys: KeyRing, max_body: int) -> None:
        self._route = route
        self._keys = keys
        self._max_body = max_body
        self._id = 0

    def request(self, call: ToolCall) -> Request | ToolResult:
        self._id += 1
        body = {"jsonrpc": "2.0", "id": self._id, "method": call.name, "params": call.arguments}
        return self._route.request({"body": body}, self._keys, self._max_body)

    def result(self, call: ToolCall, reply: Reply) -> ToolResult:
        fault = status_fault(reply, self._keys)
        if fault is not None:
            return fault
        try:
            answer = read_json(reply, self._keys)
            return self._read(answer)
        except Unreadable as unreadable:
            return ToolResult(error="tool_error", message=f"the answer cannot be used: {unreadable}")

    def _read(self, answer: Any) -> ToolResult:
        if not isinstance(answer, dict) or ("result" in answer) == (answer.get("error") is not None):
            raise Unreadable("it is no JSON-RPC response with a result or an error")
        error = answer.get("error")
        if error is not None:
            words = error.get("message") if isinstance(error, dict) else error
            return ToolResult(error="tool_error", message=f"the tool refused the call: {clean(str(words))}")
        if type(answer.get("id")) is not int or answer["id"] != self._id:
            raise Unreadable("it answers another request")
        return ToolResult.trusted(content=answer["result"], error=None, message="")


def whole_body_endpoint(url: str, headers: Mapping[str, str] | None, keys: Iterable[Key], idempotent: bool) -> Endpoint:
    """An endpoint that takes one JSON value, the argument ``body``, by POST."""
    return Endpoint.from_dict(
        {
            "tool": {"name": "post", "parameters": {"type": "object", "properties": {"body": {}}}},
            "method": "POST",
            "url": url,
            "arguments": {"body": {"place": "whole_body"}},
            "headers": dict(headers or {}),
            "keys": [key.to_dict() for key in keys],
            "idempotent": idempotent,
        },
        where="the server's URL, headers and keys",
    )
