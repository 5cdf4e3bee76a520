"""What a response means: its status, its content type, its JSON, as a ToolResult.

A status says whose fault it is. 401 and 407: the key, which is the operator's (``unavailable``). 408, 425, 429 and
5xx: the server's state (``unavailable``). Any other 4xx: the call (``tool_error``, with the server's own words).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from callgym.call import ToolResult
from callgym.json_value import copy_json, nests_deeper, refuse_constant
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.http.message import Reply

__all__ = ["MAX_WORDS", "Unreadable", "clean", "read_content", "read_json", "status_fault"]

MAX_WORDS = 300
"""Most characters of a server's own words in a message."""
_MAX_DEPTH = 64
_JSON_TYPE = re.compile(r"application/json|[\w.-]+/[\w.-]+\+json")
_TEXT_TYPE = re.compile(r"text/[\w.+-]+|application/(?:xml|yaml|x-yaml|x-ndjson)|[\w.-]+/[\w.-]+\+(?:xml|yaml)")
_CHARSETS = {
    "": "utf-8", "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "utf-8", "ascii": "utf-8",
    "iso-8859-1": "latin-1", "latin1": "latin-1", "iso-8859-15": "iso-8859-15", "windows-1252": "cp1252",
    "utf-16": "utf-16",
}  # fmt: skip
_WORDS_AT = ("message", "detail", "error_description", "error", "title", "reason", "errors")
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_HALVES = re.compile("[\ud800-\udfff]")


class Unreadable(ValueError):
    """An answer is not what it should be; the text is a sentence about it, without its subject."""


def read_content(reply: Reply, path: Sequence[str | int] | None, keys: KeyRing) -> ToolResult:
    """The answer of a tool: JSON as it is, text as text, nothing as null.

    Args:
        reply: The response.
        path: Keys and indices that lead to the part of the JSON that is the answer; None for the whole.
        keys: What must not come back.
    """
    fault = status_fault(reply, keys)
    if fault is not None:
        return fault
    try:
        if not (reply.body or reply.fault or reply.cut or path is not None):
            return ToolResult(content=None)
        if path is None and _is_text(reply):
            content: Any = keys.hide(_text(reply))
        else:
            content = _part(read_json(reply, keys), path or ())
    except Unreadable as unreadable:
        return ToolResult(error="tool_error", message=f"the answer cannot be used: {unreadable}")
    return ToolResult.trusted(content=content, error=None, message="")


def status_fault(reply: Reply, keys: KeyRing) -> ToolResult | None:
    """What a status that is no success means; None for a success."""
    status = reply.status
    if 200 <= status < 300:
        return None
    if status in (401, 407):
        message = f"the tool is unavailable: its server does not accept the key it was given ({_named(status)})"
        return ToolResult(error="unavailable", message=message)
    words = _words(reply, keys)
    said = f": {words}" if words else ""
    if status >= 500 or status in (408, 425, 429):
        message = f"the tool is unavailable, try again later or do without it ({_named(status)}){said}"
        return ToolResult(error="unavailable", message=message)
    return ToolResult(error="tool_error", message=f"the tool's server refused the call ({_named(status)}){said}")


def read_json(reply: Reply, keys: KeyRing) -> Any:
    """The JSON value of a response, whatever its content type says so long as it is not another one.

    Raises:
        Unreadable: It is none, is too long, nests too deep, or is of another type.
    """
    if reply.fault:
        raise Unreadable(reply.fault)
    if reply.cut:
        raise Unreadable("it is too long; ask for less")
    kind = _content_type(reply)
    if kind and not _JSON_TYPE.fullmatch(kind) and not _TEXT_TYPE.fullmatch(kind):
        raise Unreadable(f"it is of the type {clean(kind, 60)}, neither JSON nor text")
    try:
        text = reply.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8") from None
    return keys.hide_in(_parsed(text))


def clean(text: str, limit: int = MAX_WORDS) -> str:
    """A stranger's words on one line: no control characters, no half characters, not too many."""
    text = "".join(character if character.isprintable() else " " for character in text[: 4 * limit])
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=refuse_constant)
        if text.count("[") + text.count("{") > _MAX_DEPTH and nests_deeper(value, _MAX_DEPTH):
            raise Unreadable(f"its JSON nests more than {_MAX_DEPTH} levels deep")
        if _HALF_CHARACTER.search(text):
            value = _whole_characters(value)
        return copy_json(value)
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable(f"its JSON nests more than {_MAX_DEPTH} levels deep") from None
    except ValueError as error:
        raise Unreadable(f"it is not valid JSON ({clean(str(error), 80)})") from None


def _whole_characters(value: Any) -> Any:
    """The value without half surrogate pairs, which JSON can carry and UTF-8 cannot."""
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_HALVES.sub("\ufffd", name): _whole_characters(item) for name, item in value.items()}
    return value


def _part(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        try:
            if isinstance(value, dict) != isinstance(step, str):
                raise KeyError(step)
            value = value[step]
        except (LookupError, TypeError):
            raise Unreadable(f"it has nothing at {clean(str(step), 60)!r}") from None
    return value


def _content_type(reply: Reply) -> str:
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_text(reply: Reply) -> bool:
    kind = _content_type(reply)
    if kind:
        return _TEXT_TYPE.fullmatch(kind) is not None
    # Without a word about it: text where it does not begin as JSON does.
    return reply.body.lstrip()[:1] not in (b"{", b"[", b'"')


def _text(reply: Reply) -> str:
    if reply.fault:
        raise Unreadable(reply.fault)
    charset = re.search(r"charset=[\"']?([\w-]+)", reply.headers.get("content-type", ""), re.IGNORECASE)
    codec = _CHARSETS.get(charset[1].lower() if charset else "")
    if codec is None:
        raise Unreadable("its character set is not known here")
    body = reply.body
    try:
        # What was cut may have been cut in the middle of a character.
        text = body.decode(codec, "ignore" if reply.cut else "strict")
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8" if codec == "utf-8" else "it is not in its own character set") from None
    return f"{text}\n[cut: the answer is longer than {len(body)} bytes]" if reply.cut else text


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _words(reply: Reply, keys: KeyRing) -> str:
    """What the server says about a refusal: a message in JSON, or a short text. A page or a traceback is not shown."""
    # Keys go before anything is cut: half a key would not be found.
    kind = _content_type(reply)
    try:
        if _JSON_TYPE.fullmatch(kind) or not kind:
            return clean(_message_in(read_json(reply, keys)))
        if kind == "text/plain" and reply.status < 500:
            return clean(keys.hide(_text(reply)))
    except Unreadable:
        pass
    return ""


def _message_in(value: Any, depth: int = 0) -> str:
    if isinstance(value, dict) and depth < 3:
        found = (_message_in(value[name], depth + 1) for name in _WORDS_AT if value.get(name))
        return next(filter(None, found), "" if depth else json.dumps(value, ensure_ascii=False)[: 2 * MAX_WORDS])
    if isinstance(value, list) and depth < 3:
        return "; ".join(filter(None, (_message_in(item, depth + 1) for item in value[:3])))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
