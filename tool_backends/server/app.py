"""The tool server as a Starlette application::

    app = make_app("apibank/L1-v0")
    app = make_app(PythonBackend({"add": add}), tools=[ADD], token=os.environ["CALLGYM_SERVE_TOKEN"])

Routes, all JSON but the last:

- ``GET /health``;
- ``GET /tasks``: ids; ``?offset=0&limit=100``;
- ``GET /tools``: documents of all tools, or of a task's: ``?task=ID``;
- ``POST /sessions`` ``{"task": id or index, "seed": 0}``: ``{"session", "task", "tools", "expires_in"}``;
- ``POST /sessions/{session}/call`` ``{"name", "arguments", "id"}``: ``{"content", "error", "message"}``, a ToolResult;
- ``POST /sessions/{session}/tools/{name}``: the same, the body being the arguments;
- ``POST /sessions/{session}/turn`` ``{"made": 1}``: a user turn is over, for sessions that watch them;
- ``GET /sessions/{session}/tools``: what can be called now;
- ``GET /sessions/{session}/state``: the state;
- ``DELETE /sessions/{session}``;
- ``GET /openapi.json``, ``?task=ID``; ``GET /docs``: a page.

A call that fails is an answer (200, ``error`` is its kind). A request that cannot be served is a status of 4xx or 5xx
with ``{"error": word, "message": sentence}``.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from callgym.errors import ConfigurationError, MissingPackageError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import ToolBackend
from callgym.tool_backends.server.guard import Guard, check_token
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.offer import Offer
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.service import Service

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import Response
except ImportError as error:
    raise MissingPackageError.for_extra("starlette", "serve") from error

__all__ = ["make_app"]


def make_app(
    backend: ToolBackend | Offer | str,
    tasks: Sequence[Task] | None = None,
    *,
    tools: Sequence[Tool] | None = None,
    env_options: Mapping[str, Any] | None = None,
    token: str | None = None,
    name: str = "tools",
    limits: ServerLimits | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Starlette:
    """An application that serves a backend's tools.

    Args:
        backend: What answers the calls: a backend with ``tasks`` or ``tools`` (by default its own), the id of an
            environment, or an Offer.
        tasks: What sessions are opened for.
        tools: In place of tasks: what can be called in every session.
        env_options: For an id: arguments of ``gym.make``.
        token: What requests must show; None where the server listens on this machine only. Without one, requests
            whose Host is not this machine are refused.
        name: What a backend's server calls itself.
        limits: Sessions, sizes and times.
        clock: Seconds, never going back; by it sessions expire.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
    """
    from callgym.tool_backends.server.routes import routes

    offer = _offer(backend, tasks, tools, env_options, name)
    if limits is not None and not isinstance(limits, ServerLimits):
        raise ConfigurationError(f"limits is a ServerLimits, got {limits!r:.80}")
    service = Service(offer, limits or ServerLimits(), clock)
    checked = None if token is None else check_token(token)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await service.end()

    app = Starlette(
        routes=routes(service),
        middleware=[Middleware(Guard, token=checked)],
        exception_handlers={HTTPException: _as_refusal},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would go where the request's Host says
    return app


def _offer(
    backend: ToolBackend | Offer | str,
    tasks: Sequence[Task] | None,
    tools: Sequence[Tool] | None,
    env_options: Mapping[str, Any] | None,
    name: str,
) -> Offer:
    if isinstance(backend, str):
        if tasks is not None or tools is not None:
            raise ConfigurationError("an environment has tasks and tools of its own; give its id alone")
        return Offer.of_env(backend, **(env_options or {}))
    if env_options is not None:
        raise ConfigurationError("env_options are for the id of an environment")
    if isinstance(backend, Offer):
        return backend
    if tasks is not None and tools is not None:
        raise ConfigurationError("give tasks or tools, not both: tasks have tools of their own")
    if tasks is not None:
        return Offer(name, backend, tasks)
    known = tools if tools is not None else getattr(backend, "tools", None)
    if known is None:
        raise ConfigurationError(f"{type(backend).__name__} does not know its tools; give tasks=[...] or tools=[...]")
    return Offer.of_tools(backend, known, name)


async def _as_refusal(request: Request, error: Exception) -> Response:
    """Starlette's own refusals, in our shape."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        raise Refusal(404, "not_found", "there is no such address; GET /openapi.json lists those there are")
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        raise Refusal(405, "method_not_allowed", f"this address takes {allowed}", {"allow": allowed})
    raise Refusal(error.status_code, "refused", str(error.detail))
