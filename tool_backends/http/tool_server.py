"""ToolBench's tool server, and StableToolBench's: one address for 16,000 APIs::

    apis = read_apis("toolenv/tools", category="Weather")
    backend = ToolServerBackend("http://localhost:8080/virtual", apis, key_env="TOOLBENCH_KEY")

A call is posted as ``{category, tool_name, api_name, tool_input, strip, toolbench_key}`` and answered by ``{error,
response}``, as the clients of OpenBMB/ToolBench d56fdd8 and THUNLP-MT/StableToolBench aa4ed9f do it (rapidapi.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.json_value import write_json
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.http.answers import Unreadable, clean, read_json, status_fault
from callgym.tool_backends.http.backend import HttpBackend
from callgym.tool_backends.http.json_rpc import whole_body_endpoint
from callgym.tool_backends.http.keys import Key, KeyRing
from callgym.tool_backends.http.limits import HttpLimits
from callgym.tool_backends.http.message import Reply, Request
from callgym.tool_backends.http.route import Route
from callgym.tool_backends.http.toolbench import ToolBenchApi

__all__ = ["ToolServerBackend"]

_STRIPS = ("truncate", "filter", "random", "")
_UNAVAILABLE = frozenset(
    ("API not working error...", "Unauthorized error...", "Unsubscribed error...", "Too many requests error...",
     "Rate limit per minute error...")
)  # fmt: skip
_TIMEOUT = "Timeout error..."


class ToolServerBackend(HttpBackend):
    """Runs ToolBench's APIs on its server, or on one that answers for it from a cache or a model."""

    def __init__(
        self,
        url: str,
        apis: Iterable[ToolBenchApi],
        *,
        key_env: str | None = None,
        strip: str = "truncate",
        idempotent: bool = False,
        limits: HttpLimits | None = None,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> None:
        """Set the backend up; nothing is sent yet.

        Args:
            url: ``http://host:port/rapidapi`` of ToolBench's server, ``http://host:port/virtual`` of StableToolBench's.
            apis: The APIs that can be called, each under a name of its own; see ``read_apis``.
            key_env: The environment variable with the ToolBench key; None for a server that asks for none.
            strip: How the server shortens long answers: ``"truncate"``, ``"filter"``, ``"random"`` or ``""``.
            idempotent: Whether a call may be made twice, so that it is tried again where its answer was lost.
            limits: Time, attempts, sizes and rates; ToolBench's own server takes 30 calls a minute.
            ca_file: Certificates to trust, a PEM file; the usual ones by default.

        Raises:
            ConfigurationError: Two APIs have one name, or an option is wrong.
            MissingPackageError: httpx is not installed.
        """
        self.apis = tuple(apis)
        self._api_of = {api.tool.name: api for api in self.apis}
        if len(self._api_of) < len(self.apis):
            names = [api.tool.name for api in self.apis]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ConfigurationError(f"each API has a name of its own; more than one is called {twice[:3]}")
        if strip not in _STRIPS:
            raise ConfigurationError(f"strip is one of {', '.join(map(repr, _STRIPS))}, got {strip!r}")
        self._strip = strip
        self._key_env = key_env
        keys = [] if key_env is None else [Key(env=key_env, name="toolbench_key")]
        self._route = Route(whole_body_endpoint(url, None, keys, idempotent))
        super().__init__(limits=limits, ca_file=ca_file, keys=[key.env for key in keys])

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, for tasks."""
        return tuple(api.tool for api in self.apis)

    def translation(self, task: Task, keys: KeyRing) -> _ToolServerTranslation:
        """Calls as the server takes them."""
        key = "" if self._key_env is None else keys.read(self._key_env)
        return _ToolServerTranslation(self._api_of, self._route, self._strip, key, keys, self.limits.max_request_bytes)


class _ToolServerTranslation:
    def __init__(
        self, apis: Mapping[str, ToolBenchApi], route: Route, strip: str, key: str, keys: KeyRing, max_body: int
    ) -> None:
        self._apis = apis
        self._route = route
        self._strip = strip
        self._key = key
        self._keys = keys
        self._max_body = max_body

    def request(self, call: ToolCall) -> Request | ToolResult:
        api = self._apis.get(call.name)
        if api is None:
            return ToolResult(error="unavailable", message=f"{call.name[:80]} is none of the APIs that are served here")
        body = {
            "category": api.category,
            "tool_name": api.tool_name,
            "api_name": api.api_name,
            "tool_input": write_json(call.arguments),
            "strip": self._strip,
            "toolbench_key": self._key,
        }
        return self._route.request({"body": body}, self._keys, self._max_body)

    def result(self, call: ToolCall, reply: Reply) -> ToolResult:
        fault = status_fault(reply, self._keys)
        if fault is not None:
            return fault
        try:
            answer = read_json(reply, self._keys)
            if not isinstance(answer, dict) or not isinstance(answer.get("error"), str) or "response" not in answer:
                raise Unreadable("it has no error and response, as a tool server's answer does")
        except Unreadable as unreadable:
            return ToolResult(error="tool_error", message=f"the answer cannot be used: {unreadable}")
        if answer["error"]:
            return _refusal(answer["error"], answer["response"])
        return ToolResult.trusted(content=answer["response"], error=None, message="")


def _refusal(error: str, response: Any) -> ToolResult:
    said = clean(error if response in ("", None) else f"{error} {_shown(response)}")
    if error == _TIMEOUT:
        return ToolResult(error="timeout", message=f"the API did not answer in time: {said}")
    if error in _UNAVAILABLE:
        return ToolResult(error="unavailable", message=f"the API is unavailable, do without it: {said}")
    return ToolResult(error="tool_error", message=f"the API refused the call: {said}")


def _shown(response: Any) -> str:
    return response if isinstance(response, str) else write_json(response)
