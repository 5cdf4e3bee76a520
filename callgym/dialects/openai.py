"""OpenAI's JSON: an action is an assistant message, the conversation one message a line.

An action that is a JSON object or array is read as calls; anything else is words. Understood::

    {"content": null, "tool_calls": [{"function": {"name": "add", "arguments": "{\\"a\\": 1}"}}]}
    {"name": "add", "arguments": {"a": 1}}
    [{"name": "add", "arguments": {"a": 1}}, ...]

One bad call does not spoil its neighbours. Text cannot forge a turn: every turn is JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, ParsedAction, split_reasoning
from callgym.dialects.json_block import read_call_object
from callgym.dialects.json_text import JsonTextError, read_json, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError
from callgym.message import Message, tool_chat
from callgym.tool import Tool

__all__ = ["OpenAIDialect"]

# A message of the API that says nothing but calls; any other is read as any JSON is.
_S = r"[ \t\n\r]*+"
_COLON, _COMMA = rf"{_S}:{_S}", rf"{_S},{_S}"
_TO_ARGUMENTS = (
    rf'\{{{_S}(?:"id"{_COLON}"([^"\\]*+)"{_COMMA})?+(?:"type"{_COLON}"function"{_COMMA})?+'
    rf'"function"{_COLON}\{{{_S}"name"{_COLON}"([^"\\]++)"{_COMMA}"arguments"{_COLON}"'
)
_FIRST_CALL = re.compile(
    rf'\{{{_S}(?:"role"{_COLON}"assistant"{_COMMA})?+(?:"content"{_COLON}(?:null|""){_COMMA})?+'
    rf'"tool_calls"{_COLON}\[{_S}{_TO_ARGUMENTS}'
).match
_NEXT_CALL = re.compile(rf"{_S}\}}{_S}\}}{_S}(?:\]{_S}\}}\Z|,{_S}{_TO_ARGUMENTS})").match

_INSTRUCTION = (
    "Answer with one assistant message as JSON. To call tools: "
    '{"role": "assistant", "content": null, "tool_calls": [{"type": "function", "function": '
    '{"name": "tool", "arguments": "{\\"parameter\\": \\"value\\"}"}}]}. '
    'If no tool fits: {"role": "assistant", "content": "words"}.'
)


class OpenAIDialect(Dialect):
    """Chat completion messages as JSON lines."""

    name = "openai"

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        usual = _usual_calls(text.strip())
        if usual is not None:
            return ParsedAction(usual)
        reasoning, rest, offset = split_reasoning(text, _next_call)
        stripped = rest.strip()
        if stripped[:1] not in ("{", "["):
            return ParsedAction(content=stripped, reasoning=reasoning)
        start = offset + len(rest) - len(rest.lstrip())
        try:
            value = read_json(stripped)
        except JsonTextError as error:
            fault = ParseError(
                kind="truncated" if error.truncated else "malformed",
                position=start + error.position,
                message=f"the JSON of the message cannot be read: {error}",
            )
            return ParsedAction(errors=(fault,), reasoning=reasoning)
        content, outcomes = _read_message(value, start)
        calls = tuple([outcome for outcome in outcomes if type(outcome) is ToolCall])
        errors = tuple([outcome for outcome in outcomes if type(outcome) is ParseError])
        return ParsedAction(calls, errors, content, reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """An assistant message as JSON."""
        message = Message(role="assistant", content=content or None, tool_calls=tuple(calls))
        return json.dumps(message.as_chat("json"), ensure_ascii=False)

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """A line with the tools, a line with the format, then a line a message."""
        lines: list[dict[str, Any]] = []
        if tools:
            lines.append({"tools": [tool.as_chat() for tool in tools]})
            lines.append({"role": "system", "content": _INSTRUCTION})
        lines += [message.as_chat("json") for message in messages]
        return "".join(_line(line) for line in lines)

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """A tool message a result."""
        return "\n" + "".join([_line(tool_chat(text, call)) for call, text in zip(calls, texts, strict=True)])

    def render_reply(self, content: str) -> str:
        """The user's next message."""
        return "\n" + _line({"role": "user", "content": content})


def _next_call(text: str, at: int) -> tuple[int, int] | None:
    start = skip_space(text, 0)
    if at > start or text[start : start + 1] not in ("{", "["):
        return None
    try:
        return start, scan_json(text, start)[1]
    except JsonTextError:
        return None


def _usual_calls(text: str) -> tuple[ToolCall, ...] | None:
    """The calls of a message as the API writes it, in half the time; None for any other, and for one with a fault."""
    calls: list[ToolCall] = []
    call = _FIRST_CALL(text)
    while call is not None:
        try:
            written, end = scanstring(text, call.end(), False)
            arguments = read_json(written)
        except ValueError:
            return None
        following = _NEXT_CALL(text, end)
        if following is None or type(arguments) is not dict or not (written.isascii() or "\\u" not in text):
            return None
        calls.append(ToolCall.trusted(name=call[2], arguments=arguments, id=call[1]))
        if following[2] is None:
            return tuple(calls)
        call = following
    return None


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _read_message(value: Any, position: int) -> tuple[str, list[ToolCall | ParseError]]:
    if type(value) is list:
        return "", [_read_call(item, position) for item in value]
    calls = value.get("tool_calls")
    if calls is not None and type(calls) is not list:
        message = "'tool_calls' is a JSON array of calls"
        return "", [ParseError(kind="malformed", position=position, message=message)]
    content = value.get("content")
    if calls is None and content is None and ("content" not in value or "name" in value):
        return "", [_read_call(value, position)]
    return content if isinstance(content, str) else "", [_read_call(item, position) for item in calls or ()]


def _read_call(item: Any, position: int) -> ToolCall | ParseError:
    if type(item) is not dict:
        message = f"a call is a JSON object with 'name' and 'arguments', not a {type(item).__name__}"
        return ParseError(kind="malformed", position=position, message=message)
    function = item.get("function", item)
    if type(function) is not dict:
        message = "'function' is a JSON object with 'name' and 'arguments'"
        return ParseError(kind="malformed", position=position, message=message)
    return read_call_object(function, position, item.get("id"))
