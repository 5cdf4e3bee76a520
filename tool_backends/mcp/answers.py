"""Between MCP's results and ours, in both directions, by rules that can be relied on.

From a server:

- ``structuredContent`` is the content, where there is some.
- Else the content is text: one text that begins with ``{`` or ``[`` and is JSON as a whole is that JSON value, any
  other text stays text (``42`` and ``true``, too: a postcode is no number). Several parts are a list, none is None.
- An image, a sound, a link or a file of bytes is a short description of it; a file of text is its text.
- ``isError`` is a ``tool_error`` with the server's words.

To a client: the content as ``structuredContent`` and as text. The protocol has room for an object only, so anything
else is wrapped as ``{"result": ...}``; that it was, and the kind of an error, is marked in ``_meta``, which is for such
things. Between our own server and client nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn, cast, get_args

import mcp_types as types

from callgym.call import ErrorKind, ToolResult
from callgym.json_value import copy_json, write_json
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.mcp.connection import Answer

__all__ = ["ERROR", "WRAPPED", "as_answer", "first_sentence", "only_characters", "result_of"]

ERROR = "callgym/error"
"""Key of ``_meta``: the kind of an error."""
WRAPPED = "callgym/wrapped"
"""Key of ``_meta``: the structured content is ``{"result": content}``."""

_MAX_MESSAGE = 400
_MAX_NAME = 200
_KINDS: tuple[str, ...] = get_args(ErrorKind)


def result_of(answer: Answer, keys: KeyRing) -> ToolResult:
    """What a server's answer to a call means."""
    if not isinstance(answer, types.CallToolResult):
        return ToolResult(error="tool_error", message="the tool asks for input that nobody here can give it")
    meta: Mapping[str, Any] = answer.meta or {}
    if answer.is_error:
        kind = meta.get(ERROR)
        words = "\n".join(str(part) for part in map(_part, answer.content)).strip()
        return ToolResult(
            error=cast(ErrorKind, kind) if kind in _KINDS else "tool_error",
            message=first_sentence(keys.hide(words)) or "the tool failed and said no word about it",
        )
    try:
        content = keys.hide_in(copy_json(_content(answer, meta)))
    except (TypeError, ValueError, RecursionError):
        return ToolResult(error="tool_error", message="the tool's answer is no JSON value")
    return ToolResult.trusted(content=content, error=None, message="")


def _content(answer: types.CallToolResult, meta: Mapping[str, Any]) -> Any:
    structured = answer.structured_content
    if structured is not None:
        if meta.get(WRAPPED) is True and isinstance(structured, dict) and structured.keys() == {"result"}:
            return structured["result"]
        return structured
    parts = [_part(block) for block in answer.content]
    if not parts:
        return None
    return _json_or_text(parts[0]) if len(parts) == 1 else parts


def _part(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return resource.text
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            kind = resource.mime_type or "bytes"
            return f"[file {str(resource.uri)[:_MAX_NAME]}, {kind[:_MAX_NAME]}, {_size(resource.blob)} bytes]"
        case types.ResourceLink():
            return f"[link to {str(block.uri)[:_MAX_NAME]}, {block.name[:_MAX_NAME]}]"
        case types.ImageContent() | types.AudioContent():
            return f"[{block.type} {block.mime_type[:_MAX_NAME]}, {_size(block.data)} bytes]"
        case _:
            return f"[{block.type}]"


def _size(base64_text: str) -> int:
    return len(base64_text) * 3 // 4 - base64_text.count("=", -2)


def _json_or_text(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return copy_json(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return text


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def first_sentence(words: str) -> str:
    """A server's words, short enough to be a message, without what a terminal or a template might act on."""
    words = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", words)
    return words if len(words) <= _MAX_MESSAGE else words[:_MAX_MESSAGE] + "..."


def as_answer(result: ToolResult) -> types.CallToolResult:
    """A result of ours, for a client."""
    if result.error is not None:
        text = types.TextContent(text=only_characters(result.message))
        return types.CallToolResult(content=[text], is_error=True, _meta={ERROR: result.error})
    content: Any = result.content
    text_of_it = content if isinstance(content, str) else write_json(content)
    shown = only_characters(text_of_it)
    if shown != text_of_it:  # half a surrogate pair, which no encoding can carry
        content = shown if isinstance(content, str) else json.loads(shown)
    block = types.TextContent(text=shown)
    if isinstance(content, dict):
        return types.CallToolResult(content=[block], structured_content=content)
    return types.CallToolResult(content=[block], structured_content={"result": content}, _meta={WRAPPED: True})


def only_characters(text: str) -> str:
    """The text with halves of surrogate pairs replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
