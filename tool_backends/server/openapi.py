"""The server as an OpenAPI document, each tool with an address of its own, so that any client can call it."""

from __future__ import annotations

import re
from typing import Any, get_args
from urllib.parse import quote

from callgym import __version__
from callgym.call import ErrorKind
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.server.offer import Offer

__all__ = ["MAX_TOOLS", "openapi"]

MAX_TOOLS = 500
"""Most tools in one document; for a server with more, ``?task=ID`` gives those of a task."""

_JSON = "application/json"
_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 0}
_TOOL = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "description": _TEXT,
        "parameters": {"type": "object"},
        "returns": {"type": "object"},
    },
    "required": ["name", "description", "parameters"],
}
_TOOLS = {"type": "array", "items": _TOOL}
_ERROR = {"type": "object", "properties": {"error": _TEXT, "message": _TEXT}, "required": ["error", "message"]}
_TURN = "Say that a user turn is over, in which so many calls were tried; for sessions that look at turns"
_ERROR_KIND = {
    "enum": [None, *get_args(ErrorKind)],
    "description": "null, or why the call failed",
}


def openapi(offer: Offer, task: Task | None = None) -> dict[str, Any]:
    """The document.

    Args:
        offer: What is served.
        task: The task whose tools are described; None for the tools of all.
    """
    tools = list(offer.tools.values()) if task is None else offer.shown(task)
    about = "Open a session, call its tools, close it. A call that fails is an answer: 200, and `error` is its kind."
    if len(tools) > MAX_TOOLS:
        about += f" Only {MAX_TOOLS} of {len(tools)} tools are described here; add ?task=ID for those of a task."
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Tools of {offer.name}", "version": __version__, "description": about},
        "security": [{}, {"token": []}],
        "paths": {**_fixed_paths(), **_tool_paths(tools[:MAX_TOOLS])},
        "components": {
            "schemas": {"Error": _ERROR, "Tool": _TOOL, "ToolResult": _result({})},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _fixed_paths() -> dict[str, Any]:
    task_id = {"name": "task", "in": "query", "schema": _TEXT, "description": "a task's id"}
    window = [{"name": name, "in": "query", "schema": _NUMBER} for name in ("offset", "limit")]
    asked = {"oneOf": [_TEXT, _NUMBER], "description": "a task's id or index; may be left out where there is one only"}
    seed = {**_NUMBER, "default": 0, "description": "everything random in the session follows from it"}
    opened = _object({"session": _TEXT, "task": _TEXT, "tools": _TOOLS, "expires_in": {"type": "number"}})
    call = _object({"name": _TEXT, "arguments": {"type": "object"}, "id": {"type": ["string", "null"]}}, ["name"])
    listed = _object({"total": _NUMBER, "tools": _TOOLS})
    result = {"$ref": "#/components/schemas/ToolResult"}
    return {
        "/health": {"get": _operation("health", "Whether the server is there; needs no token", {"type": "object"})},
        "/tasks": {"get": _operation("tasks", "Ids of tasks", {"type": "object"}, parameters=window)},
        "/tools": {
            "get": _operation("tools", "Documents of all tools or a task's", listed, parameters=[task_id, *window])
        },
        "/sessions": {
            "post": _operation("open", "Open a session", opened, _object({"task": asked, "seed": seed}, []), status=201)
        },
        "/sessions/{session}/call": {"post": _operation("call", "Call a tool", result, call, [_session()])},
        "/sessions/{session}/tools": {
            "get": _operation("session_tools", "The tools of a session", listed, parameters=[_session()])
        },
        "/sessions/{session}/state": {
            "get": _operation("state", "The state of a session", {"type": "object"}, parameters=[_session()])
        },
        "/sessions/{session}/turn": {
            "post": _operation("end_turn", _TURN, None, _object({"made": _NUMBER}), [_session()], status=204)
        },
        "/sessions/{session}": {
            "delete": _operation("close", "Close a session", None, parameters=[_session()], status=204)
        },
    }


def _tool_paths(tools: list[Tool]) -> dict[str, Any]:
    paths = {}
    ids: set[str] = set()
    for tool in tools:
        operation = _operation(
            _own_id(f"call_{re.sub(r'[^A-Za-z0-9_]+', '_', tool.name)}", ids),
            tool.description,
            _result(_own_resource(tool.returns or {}, tool, "returns")),
            _own_resource(tool.parameters, tool, "parameters"),
            [_session()],
        )
        paths[f"/sessions/{{session}}/tools/{quote(tool.name, safe='')}"] = {"post": operation}
    return paths


def _operation(
    id: str,
    about: str,
    answer: dict[str, Any] | None,
    body: dict[str, Any] | None = None,
    parameters: list[dict[str, Any]] | None = None,
    status: int = 200,
) -> dict[str, Any]:
    content = {} if answer is None else {"content": {_JSON: {"schema": answer}}}
    error = {"description": "refused", "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}}
    operation: dict[str, Any] = {
        "operationId": id,
        "description": about,
        "responses": {str(status): {"description": "done", **content}, "default": error},
    }
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": body}}}
    return operation


def _session() -> dict[str, Any]:
    return {"name": "session", "in": "path", "required": True, "schema": _TEXT}


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties) if required is None else required}


def _result(content: dict[str, Any]) -> dict[str, Any]:
    return _object({"content": {"anyOf": [content, {"type": "null"}]}, "error": _ERROR_KIND, "message": _TEXT})


def _own_resource(schema: dict[str, Any], tool: Tool, part: str) -> dict[str, Any]:
    """A schema whose references are to itself, with an id of its own: in this document they would lead elsewhere."""
    if "$id" in schema or not _refers(schema):
        return schema
    return {"$id": f"urn:callgym:{quote(tool.name, safe='')}:{part}", **schema}


def _refers(value: Any) -> bool:
    if isinstance(value, dict):
        return "$ref" in value or any(map(_refers, value.values()))
    return isinstance(value, list) and any(map(_refers, value))


def _own_id(wanted: str, taken: set[str]) -> str:
    id, number = wanted, 2
    while id in taken:
        id, number = f"{wanted}_{number}", number + 1
    taken.add(id)
    return id
