"""Hermes and Qwen: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` in ChatML turns.

The end of a call is where its JSON object ends, not the first closing tag, so a tag inside a
string argument is data. A call whose closing tag is missing is read; a call whose JSON breaks off is
``truncated``. User and tool text cannot forge a turn: control tokens in it are broken up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, ParsedAction, call_or_error, split_reasoning
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["HermesDialect"]

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_START, _END = "<|im_start|>", "<|im_end|>"
_CUE = f"{_START}assistant\n"

_INSTRUCTION = (
    "You may call these tools, one JSON document a line inside <tools></tools>:\n<tools>\n{tools}\n</tools>\n"
    "Write each call as one JSON object between tags:\n"
    '<tool_call>\n{{"name": "tool", "arguments": {{"parameter": "value"}}}}\n</tool_call>\n'
    "If no tool fits, reply in words."
)


class HermesDialect(Dialect):
    """JSON between ``<tool_call>`` tags."""

    name: ClassVar[str] = "hermes"

    def parse(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        reasoning, rest, offset = split_reasoning(text.partition(_END)[0], _next_call)
        calls: list[ToolCall] = []
        errors: list[ParseError] = []
        words: list[str] = []
        at = 0
        while (opening := rest.find(_OPEN, at)) >= 0:
            words.append(rest[at:opening])
            outcome, at = _scan_block(rest, opening + len(_OPEN), offset)
            if isinstance(outcome, ToolCall):
                calls.append(outcome)
            else:
                errors.append(outcome)
        words.append(rest[at:])
        return ParsedAction(tuple(calls), tuple(errors), "".join(words).strip(), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then a tagged block a call."""
        blocks = [_render_block(call) for call in calls]
        return "\n".join([content, *blocks] if content else blocks)

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """ChatML turns; tools and format open the system turn."""
        system = [message.content for message in messages if message.role == "system" and message.content]
        if tools:
            documents = "\n".join(json.dumps(tool.as_chat(), ensure_ascii=False) for tool in tools)
            system.append(_INSTRUCTION.format(tools=documents))
        turns = [_turn("system", _defused("\n\n".join(system)))] if system else []
        turns += [_history_turn(message) for message in messages if message.role != "system"]
        return "".join(turns) + _CUE

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """One ``<tool_response>`` a result in a user turn."""
        return f"{_END}\n" + _turn("user", "\n".join([_response(text) for text in texts])) + _CUE

    def render_reply(self, content: str) -> str:
        """The user's next turn."""
        return f"{_END}\n" + _turn("user", _defused(content)) + _CUE


def _next_call(text: str, at: int) -> tuple[int, int] | None:
    opening = text.find(_OPEN, at)
    if opening < 0:
        return None
    body = opening + len(_OPEN)
    try:
        return opening, scan_json(text, skip_space(text, body))[1]
    except JsonTextError:
        return opening, body


def _scan_block(text: str, position: int, offset: int) -> tuple[ToolCall | ParseError, int]:
    """Read the JSON after an opening tag; a fault costs this block only."""
    start = skip_space(text, position)
    try:
        value, end = scan_json(text, start)
    except JsonTextError as error:
        close = text.find(_CLOSE, position)
        following = text.find(_OPEN, position)
        truncated = error.truncated and close < 0 and following < 0
        stops = [stop for stop in (close + len(_CLOSE) if close >= 0 else -1, following) if stop >= 0]
        return (
            ParseError(
                kind="truncated" if truncated else "malformed",
                position=offset + error.position,
                message=f"the JSON in <tool_call> cannot be read: {error}",
            ),
            min(stops, default=len(text)),
        )
    after = skip_space(text, end)
    if text.startswith(_CLOSE, after):
        end = after + len(_CLOSE)
    elif after < len(text) and not text.startswith(_OPEN, after):
        close = text.find(_CLOSE, after)
        if close >= 0:
            message = "there is text between the JSON object and </tool_call>"
            return ParseError(kind="malformed", position=offset + after, message=message), close + len(_CLOSE)
    return _to_call(value, offset + start), end


def _to_call(value: Any, position: int) -> ToolCall | ParseError:
    if type(value) is not dict:
        message = f"a call is a JSON object with 'name' and 'arguments', not a {type(value).__name__}"
        return ParseError(kind="malformed", position=position, message=message)
    arguments = value["arguments"] if "arguments" in value else value.get("parameters", {})
    return call_or_error(value.get("name"), arguments, position, trusted=True)


def _render_block(call: ToolCall) -> str:
    body = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    body = body.replace("<|", "<\\u007c")  # the same text to a JSON reader, and no control token
    return f"{_OPEN}\n{body}\n{_CLOSE}"


def _turn(role: str, content: str) -> str:
    return f"{_START}{role}\n{content}{_END}\n"


def _defused(text: str) -> str:
    return text.replace("<|", "< |") if "<|" in text else text


def _response(text: str) -> str:
    inside = _defused(text).replace("</tool_response", "<\\/tool_response")
    return f"<tool_response>\n{inside}\n</tool_response>"


def _history_turn(message: Message) -> str:
    if message.role == "tool":
        return _turn("user", _response(message.content or ""))
    if message.role == "assistant":
        blocks = [_render_block(call) for call in message.tool_calls]
        return _turn("assistant", "\n".join([_defused(message.content), *blocks] if message.content else blocks))
    return _turn(message.role, _defused(message.content or ""))
