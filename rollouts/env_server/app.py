"""Any environment as a Starlette application, for trainers in other processes and other languages::

    app = make_env_app("apibank/L1-v0")
    app = make_env_app("bfcl/all-v0", env_options={"data": "starter"}, token=os.environ["CALLGYM_SERVE_TOKEN"])

A session is one environment of its own; its steps run in order, sessions run side by side. Over HTTP:

- ``POST /reset`` ``{"seed", "task", "sweep", "episode_id", "session"}``, all optional: an answer whose
  ``metadata.session`` is the session's id; without ``session`` a new one is opened;
- ``POST /step`` ``{"session", "action": {"text"}}``: an answer; ``{"calls": [...], "content"}`` in place of text;
- ``POST /truncate`` ``{"session", "text"}``: ends the episode here; ``text`` is what a cut-off action began with;
- ``GET /state?session=ID``; ``POST /close`` ``{"session"}``: 204;
- ``GET /tasks?offset=0&limit=100``: ids; ``GET /health``, ``/metadata``, ``/schema``.

Over WebSocket, where the connection is the session, OpenEnv's protocol: ``WS /ws`` takes ``{"type": "reset" | "step" |
"state" | "close", "data": {...}}`` (and ``"truncate"``) and answers ``{"type": "observation" | "state" | "error",
"data"}``; ``data`` of a step is the action itself, and ``observation`` holds ``metadata`` once more. OpenEnv's own
``GenericEnvClient`` plays on it (tried: openenv 0.10.0 and openenv-core 0.3.0).

The shapes of requests and answers are in ``wire``. A request that cannot be served is a status of 4xx or 5xx with
``{"error": word, "message": sentence}``.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from callgym import __version__
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.registry import ENVIRONMENTS
from callgym.rollouts.env_server.service import EnvService
from callgym.rollouts.env_server.wire import SCHEMAS, read_action, read_cut, read_reset, read_seconds
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.log import log_bug
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.wire import WireError, read_json, write_json

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as error:
    raise MissingPackageError.for_extra("starlette", "serve") from error

from callgym.tool_backends.server.bodies import read_object
from callgym.tool_backends.server.guard import Guard, check_token

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["env_limits", "make_env_app"]

_MAX_LISTED = 1000
_ADDRESSES = "/reset /step /truncate /state /close /tasks /health /metadata /schema /ws"
_CODES = {
    "too_many_sessions": "CAPACITY_REACHED", "unknown_session": "SESSION_ERROR", "invalid_json": "INVALID_JSON",
    "invalid_request": "VALIDATION_ERROR", "unknown_type": "UNKNOWN_TYPE",
}  # fmt: skip
"""OpenEnv's codes of errors; all others are EXECUTION_ERROR."""


def env_limits(**limits: Any) -> ServerLimits:
    """The limits of an environment server: bodies of 8 MiB, 256 MiB an episode, else ``ServerLimits``' own.

    An action may be as long as a policy writes; what is over the environment's limit is refused by the environment.
    """
    return ServerLimits(**{"max_body_bytes": 8_388_608, "max_session_bytes": 268_435_456, **limits})


def make_env_app(
    env: str | Callable[[], ToolEnv],
    *,
    env_options: Mapping[str, Any] | None = None,
    token: str | None = None,
    limits: ServerLimits | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Starlette:
    """An application that serves an environment.

    Args:
        env: A registered id, or a function that makes the environment.
        env_options: For an id: arguments of ``gym.make``.
        token: What requests must show; None where the server listens on this machine only. Without one, requests
            whose Host is not this machine are refused.
        limits: Sessions, sizes and times; ``call_seconds`` is for one reset or step. By default ``env_limits()``.
        clock: Seconds, never going back; by it sessions expire.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
        DataError: The environment's data is missing or damaged.
    """
    if limits is not None and not isinstance(limits, ServerLimits):
        raise ConfigurationError(f"limits is a ServerLimits, got {limits!r:.80}")
    service = EnvService(_maker(env, env_options), limits or env_limits(), clock)
    checked = None if token is None else check_token(token)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await service.end()

    answers = _Answers(service, env if isinstance(env, str) else "")
    app = Starlette(
        routes=answers.routes(),
        middleware=[Middleware(_EnvGuard, token=checked)],
        exception_handlers={HTTPException: _as_refusal},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would go where the request's Host says
    return app


def _maker(env: str | Callable[[], ToolEnv], env_options: Mapping[str, Any] | None) -> Callable[[], ToolEnv]:
    if isinstance(env, str):
        options = dict(env_options or {})
        return lambda: make_tool_env(env, **options)
    if env_options is not None:
        raise ConfigurationError("env_options are for the id of an environment")
    if not callable(env):
        raise ConfigurationError(f"env is a registered id or a function that makes an environment, got {env!r:.80}")
    return env


class _EnvGuard(Guard):
    """Lets WebSockets in as it lets requests in: a web page of another place could open one, too."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            try:
                self._check(scope, False)
            except Refusal as refusal:
                await send({"type": "websocket.close", "code": 1008, "reason": refusal.message[:120]})
                return
        await super().__call__(scope, receive, send)


class _Answers:
    def __init__(self, service: EnvService, env_id: str) -> None:
        self._service = service
        self._limits = service.limits
        self._env_id = env_id

    def routes(self) -> list[Route | WebSocketRoute]:
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("POST", "/step", self.step),
            ("POST", "/reset", self.reset),
            ("POST", "/truncate", self.truncate),
            ("GET", "/state", self.state),
            ("POST", "/close", self.close),
            ("GET", "/tasks", self.tasks),
            ("GET", "/health", self.health),
            ("GET", "/metadata", self.metadata),
            ("GET", "/schema", self.schema),
        ]
        routes: list[Route | WebSocketRoute] = [
            Route(path, self._swept(answer), methods=[method]) for method, path, answer in table
        ]
        return [*routes, WebSocketRoute("/ws", self.talk)]

    def _swept(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            self._service.sweep()
            return await answer(request)

        answered.__name__ = answer.__name__
        return answered

    # Over HTTP.

    async def reset(self, request: Request) -> Response:
        body = (await self._body(request))[0]
        key = body.pop("session", None)
        wanted = read_reset(body)
        if key is not None:
            return _json(_in_session(await self._service.reset(_checked_key(key), wanted), key))
        key = await self._service.open_env()
        try:
            return _json(_in_session(await self._service.reset(key, wanted), key))
        except BaseException:
            with suppress(Refusal):
                await self._service.close(key)
            raise

    async def step(self, request: Request) -> Response:
        body, size = await self._body(request)
        key, seconds = _checked_key(body.pop("session", None)), read_seconds(body.pop("timeout_s", None))
        action = read_action(body.pop("action", None))
        body.pop("request_id", None)  # OpenEnv's; for the client's own use
        for name in body:
            raise Refusal(400, "invalid_request", f"there is no field {name[:40]!r} here; give session and action")
        return _json(_in_session(await self._service.step(key, action, size, seconds), key))

    async def truncate(self, request: Request) -> Response:
        body = (await self._body(request))[0]
        key = _checked_key(body.pop("session", None))
        return _json(_in_session(await self._service.truncate(key, read_cut(body)), key))

    async def state(self, request: Request) -> Response:
        return _json(self._service.env_state(_checked_key(request.query_params.get("session"))))

    async def close(self, request: Request) -> Response:
        body = (await self._body(request))[0]
        await self._service.close(_checked_key(body.get("session")))
        return Response(status_code=204)

    async def tasks(self, request: Request) -> Response:
        offset, limit = (_number(request, name, default) for name, default in (("offset", 0), ("limit", 100)))
        tasks = self._service.offer.tasks
        rows = tasks[offset : offset + min(limit, _MAX_LISTED)]
        listed = [{"index": offset + number, "id": task.id} for number, task in enumerate(rows)]
        return _json(write_json({"name": self._service.offer.name, "total": len(tasks), "tasks": listed}))

    async def health(self, request: Request) -> Response:
        return _json(write_json({"status": "healthy", "version": __version__}))

    async def metadata(self, request: Request) -> Response:
        summary = next((entry.summary for entry in ENVIRONMENTS if entry.id == self._env_id), "")
        said = {"name": self._service.offer.name, "description": summary, "version": __version__}
        return _json(write_json(said))

    async def schema(self, request: Request) -> Response:
        return _json(write_json(SCHEMAS))

    async def _body(self, request: Request) -> tuple[dict[str, Any], int]:
        return await read_object(request, self._limits)

    # Over WebSocket.

    async def talk(self, socket: WebSocket) -> None:
        """One connection: a session that ends with it."""
        self._service.sweep()
        await socket.accept()
        key = None
        try:
            try:
                key = await self._service.open_env(nested=True)
                await self._converse(socket, key)
            except Refusal as refusal:
                await socket.send_text(_error(refusal))
                await socket.close(1013 if refusal.status == 503 else 1008)
        except (WebSocketDisconnect, RuntimeError):  # it is gone, whatever was to be said
            return
        finally:
            if key is not None:
                with suppress(Refusal):
                    await self._service.close(key)

    async def _converse(self, socket: WebSocket, key: str) -> None:
        while True:
            try:
                async with asyncio.timeout(self._limits.session_seconds):
                    received = await socket.receive()
            except TimeoutError:
                await socket.close(1000, "silent for too long")
                return
            if received["type"] == "websocket.disconnect":
                return
            data = received.get("bytes") or (received.get("text") or "").encode("utf-8", "surrogatepass")
            answer = await self._answered(key, data)
            if answer is None:
                await socket.close()
                return
            await socket.send_text(answer)

    async def _answered(self, key: str, data: bytes) -> str | None:
        """The answer to a message; None for the last one."""
        try:
            return await self._dispatched(key, data)
        except Refusal as refusal:
            if refusal.error == "unknown_session":
                raise
            return _error(refusal)
        except Exception as error:
            logged = log_bug(error, "a message")
            return _error(Refusal(500, "internal_error", f"the environment broke; the log has it under {logged}"))

    async def _dispatched(self, key: str, data: bytes) -> str | None:
        kind, content = _read_message(data, self._limits.max_body_bytes)
        if kind == "close":
            return None
        if kind == "state":
            return _message("state", self._service.env_state(key))
        if kind == "reset":
            return _message("observation", await self._service.reset(key, read_reset(content)))
        if kind == "step":
            return _message("observation", await self._service.step(key, read_action(content), len(data)))
        if kind == "truncate":
            return _message("observation", await self._service.truncate(key, read_cut(content)))
        raise Refusal(400, "unknown_type", f"type is reset, step, state, truncate or close; got {str(kind)[:40]!r}")


def _read_message(data: bytes, most: int) -> tuple[Any, dict[str, Any]]:
    if len(data) > most:
        raise Refusal(413, "body_too_large", f"the message is longer than {most} bytes")
    try:
        value = read_json(data)
    except WireError as error:
        raise Refusal(400, "invalid_json", f"the message {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("data", {}), dict):
        raise Refusal(400, "invalid_request", 'a message is an object such as {"type": "reset", "data": {}}')
    return value.get("type"), value.get("data", {})


def _message(kind: str, data: bytes) -> str:
    return f'{{"type":"{kind}","data":{data.decode()}}}'


def _error(refusal: Refusal) -> str:
    code = _CODES.get(refusal.error, "EXECUTION_ERROR")
    return json.dumps({"type": "error", "data": {"message": refusal.message, "code": code, "error": refusal.error}})


def _in_session(answer: bytes, key: str) -> bytes:
    """The answer with the session's id as the last of its metadata, which stands at its end."""
    return answer[:-2] + f',"session":"{key}"}}}}'.encode()


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _checked_key(key: Any) -> str:
    if type(key) is not str:
        raise Refusal(400, "invalid_request", "session is the id that reset gave as metadata.session")
    return key


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise Refusal(400, "invalid_request", f"{name} is a whole number, got {text[:40]!r}")
    return int(text)


async def _as_refusal(request: Request, error: Exception) -> Response:
    """Starlette's own refusals, in our shape."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        raise Refusal(404, "not_found", f"there is no such address; those there are: {_ADDRESSES}")
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        raise Refusal(405, "method_not_allowed", f"this address takes {allowed}", {"allow": allowed})
    raise Refusal(error.status_code, "refused", str(error.detail))
