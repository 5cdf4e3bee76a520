"""What each address answers; ``app`` lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callgym import __version__
from callgym.call import ToolCall
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.server.bodies import read_object
from callgym.tool_backends.server.openapi import openapi
from callgym.tool_backends.server.page import POLICY, page
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.service import Service
from callgym.tool_backends.server.task_digest import task_digest
from callgym.tool_backends.server.wire import write_json

__all__ = ["routes"]

_MAX_LISTED = 1000
_MAX_SEED = 2**64
_MAX_MADE = 10_000
_KINDS = {str: "a string", dict: "an object", int: "a whole number", bool: "true or false"}


def routes(service: Service) -> list[Route]:
    """The addresses of a server, those that are asked most first."""
    answers = _Answers(service)
    session = "/sessions/{session}"
    table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
        ("POST", f"{session}/call", answers.call),
        ("POST", f"{session}/tools/{{name:path}}", answers.call_tool),
        ("POST", "/sessions", answers.open),
        ("GET", f"{session}/state", answers.state),
        ("POST", f"{session}/turn", answers.end_turn),
        ("DELETE", session, answers.close),
        ("GET", f"{session}/tools", answers.session_tools),
        ("GET", "/health", answers.health),
        ("GET", "/tasks", answers.tasks),
        ("GET", "/tools", answers.tools),
        ("GET", "/openapi.json", answers.openapi),
        ("GET", "/docs", answers.docs),
    ]
    return [Route(path, _swept(service, answer), methods=[method]) for method, path, answer in table]


def _swept(
    service: Service, answer: Callable[[Request], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        service.sweep()
        return await answer(request)

    answered.__name__ = answer.__name__
    return answered


class _Answers:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._offer = service.offer

    async def health(self, request: Request) -> Response:
        return _json(write_json({"status": "ok", "version": __version__}))

    async def tasks(self, request: Request) -> Response:
        offset, limit = _window(request)
        rows = self._offer.tasks[offset : offset + limit]
        listed = [{"index": offset + number, "id": task.id} for number, task in enumerate(rows)]
        return _json(write_json({"name": self._offer.name, "total": len(self._offer.tasks), "tasks": listed}))

    async def tools(self, request: Request) -> Response:
        asked = self._asked_task(request)
        offset, limit = _window(request)
        tools = list(self._offer.tools.values()) if asked is None else self._offer.shown(asked)
        return _json(write_json({"total": len(tools), "tools": _documents(tools[offset : offset + limit])}))

    async def open(self, request: Request) -> Response:
        body, _ = await read_object(request, self._service.limits)
        _only(body, "task", "seed", "digest", "tools")
        seed = _field(body, "seed", int, 0)
        if not 0 <= seed < _MAX_SEED:
            raise _invalid(f"seed is a whole number from 0 to 2**64 - 1, got {str(seed)[:40]}")
        wants_tools = _field(body, "tools", bool, True)
        task = self._task(body.get("task"))
        if "digest" in body and body["digest"] != task_digest(task):
            message = f"task {task.id[:80]!r} is another one here: its split or its first state differs"
            raise Refusal(409, "other_task", message)
        key = await self._service.open(task, seed)
        answer = {"session": key, "task": task.id, "expires_in": self._service.limits.session_seconds}
        if wants_tools:
            answer["tools"] = _documents(self._offer.shown(task))
        return _json(write_json(answer), 201)

    async def call(self, request: Request) -> Response:
        body, size = await read_object(request, self._service.limits)
        _only(body, "name", "arguments", "id")
        id = None if body.get("id") is None else _field(body, "id", str, "")
        name, arguments = _field(body, "name", str, ""), _field(body, "arguments", dict, {})
        return await self._made(request, name, arguments, id, size)

    async def call_tool(self, request: Request) -> Response:
        arguments, size = await read_object(request, self._service.limits)
        return await self._made(request, request.path_params["name"], arguments, None, size)

    async def _made(
        self, request: Request, name: str, arguments: dict[str, Any], id: str | None, size: int
    ) -> Response:
        if not name:
            raise _invalid("name is the name of a tool, got none")
        call = ToolCall.trusted(name=name, arguments=arguments, id=id)
        return _json(await self._service.call(request.path_params["session"], call, size))

    async def end_turn(self, request: Request) -> Response:
        body, _ = await read_object(request, self._service.limits)
        _only(body, "made")
        made = _field(body, "made", int, 0)
        if not 0 <= made <= _MAX_MADE:
            raise _invalid(f"made is a number of calls from 0 to {_MAX_MADE}, got {str(made)[:40]}")
        await self._service.end_turn(request.path_params["session"], made)
        return Response(status_code=204)

    async def session_tools(self, request: Request) -> Response:
        held = self._service.table.get(request.path_params["session"])
        tools = [*self._offer.shown(held.task), *held.found]
        return _json(write_json({"total": len(tools), "tools": _documents(tools)}))

    async def state(self, request: Request) -> Response:
        return _json(await self._service.state(request.path_params["session"]))

    async def close(self, request: Request) -> Response:
        await self._service.close(request.path_params["session"])
        return Response(status_code=204)

    async def openapi(self, request: Request) -> Response:
        return _json(write_json(openapi(self._offer, self._asked_task(request))))

    async def docs(self, request: Request) -> Response:
        html = page(self._offer, self._service.limits, self._asked_task(request))
        headers = {"content-security-policy": POLICY}
        return Response(html.encode("utf-8", "replace"), media_type="text/html", headers=headers)

    def _asked_task(self, request: Request) -> Task | None:
        asked = request.query_params.get("task")
        if asked is None:
            return None
        return self._offer.task(asked) or self._task(int(asked) if asked.isdecimal() and len(asked) < 12 else asked)

    def _task(self, wanted: Any) -> Task:
        task = self._offer.task(wanted)
        if task is None:
            message = (
                f"there is no task {str(wanted)[:80]!r}; a task is an id or an index below {len(self._offer.tasks)}, "
                f"and the first id is {self._offer.tasks[0].id[:80]!r}"
            )
            raise Refusal(404, "unknown_task", message)
        return task


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


def _documents(tools: list[Tool]) -> list[dict[str, Any]]:
    """Name, description and schemas, without what a benchmark keeps beside them."""
    shown = []
    for tool in tools:
        document = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        shown.append(document if tool.returns is None else {**document, "returns": tool.returns})
    return shown


def _window(request: Request) -> tuple[int, int]:
    numbers = []
    for name, default in (("offset", "0"), ("limit", "100")):
        text = request.query_params.get(name, default)
        if not (text.isascii() and text.isdecimal()) or len(text) > 9:
            raise _invalid(f"{name} is a whole number, got {text[:40]!r}")
        numbers.append(int(text))
    return numbers[0], min(numbers[1], _MAX_LISTED)


def _only(body: dict[str, Any], *known: str) -> None:
    unknown = [name for name in body if name not in known]
    if unknown:
        raise _invalid(f"the body has no field {unknown[0][:40]!r}; its fields are: {', '.join(known)}")


def _field(body: dict[str, Any], name: str, kind: type, default: Any) -> Any:
    value = body.get(name, default)
    if type(value) is not kind:
        raise _invalid(f"{name} is {_KINDS[kind]}, got {str(value)[:40]!r}")
    return value


def _invalid(message: str) -> Refusal:
    return Refusal(400, "invalid_request", message)
