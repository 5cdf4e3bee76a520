"""Reading a request's body: JSON, no longer than the limit, no slower than the time allows."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from starlette.requests import Request

from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.wire import WireError, read_json

__all__ = ["read_body", "read_object"]

_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
_DRAINED_BYTES = 8_388_608
_DRAIN_SECONDS = 1.0


async def read_object(request: Request, limits: ServerLimits) -> tuple[dict[str, Any], int]:
    """The JSON object that a request sends, and its length in bytes.

    Raises:
        Refusal: It sends none, or one that is too long or comes too slowly.
    """
    # Before anything is read: a form on a web page cannot send this type unless the server agrees.
    if not _JSON_TYPE.fullmatch(request.headers.get("content-type", "")):
        raise Refusal(415, "not_json", "the body is JSON; send it with the header Content-Type: application/json")
    body = await read_body(request, limits)
    try:
        value = read_json(body)
    except WireError as error:
        raise Refusal(400, "invalid_json", f"the body {error}") from None
    if not isinstance(value, dict):
        raise Refusal(400, "invalid_request", f"the body is a JSON object, got {_kind(value)}")
    return value, len(body)


async def read_body(request: Request, limits: ServerLimits) -> bytes:
    """What a request sends. Raises Refusal where it is too long or comes too slowly."""
    declared = request.headers.get("content-length", "")
    parts: list[bytes] = []
    size = int(declared) if declared.isdecimal() else 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            more = size <= limits.max_body_bytes
            size = 0 if more else size
            while more:
                data, more = await _next_part(request)
                parts.append(data)
                size += len(data)
                more = more and size <= limits.max_body_bytes
    except TimeoutError:
        raise Refusal(408, "slow_request", f"the body did not come within {limits.body_seconds:g} s") from None
    if size > limits.max_body_bytes:
        await _drain(request)
        raise Refusal(413, "body_too_large", f"the body is longer than {limits.max_body_bytes} bytes")
    return b"".join(parts)


async def _next_part(request: Request) -> tuple[bytes, bool]:
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise Refusal(400, "disconnected", "the connection broke before the body was complete")
    return message.get("body", b""), message.get("more_body", False)


async def _drain(request: Request) -> None:
    """Take in some of what is too much: a client that is still writing would not read why it is refused."""
    drained, more = 0, True
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while more and drained < _DRAINED_BYTES:
                data, more = await _next_part(request)
                drained += len(data)
    except (TimeoutError, Refusal):
        return


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", int: "a number", float: "a number", list: "a list"}
    return names[type(value)]
