"""API-Bank's brackets: ``[Name(key='value', ...)]``.

One or more calls in brackets, ``[A(x='1'), B(y=2)]`` or ``[A(x='1')] [B(y=2)]``, are read anywhere in a text, by a
real parser; see ``apibank_call``. (The official script uses regular expressions that cut values at the first quote of
either kind; the official rules are for the official score.) A fault costs its bracket from there on, and only where a
quote is never closed all that follows is lost, too, for it may be part of the value.

Scalar values are text: the tool's schema decides their type afterwards (``typed`` is False). So null and the text
"None" are the same, and the schema says which is meant. The prompt has the layout of the benchmark's test files:
instruction, one JSON document a tool, ``User:``/``AI:`` lines, ``API-Request: [...]->result``, and the cue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.dialects.apibank_call import OPENING, as_recorded, read_plain_bracket, scan_bracket, write_call
from callgym.dialects.base import Dialect, ParsedAction, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.episode import ParseError
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["ApiBankDialect", "ApiBankShortDialect"]

_LABELS = ("API-Request:", "AI:")
_MAX_BRACKETS = 1_000
"""Behind so many of them a tag of reasoning is one wherever it stands."""
_MAX_FAULTS = 50
"""After so many of them in one action the rest is not read."""
_CUE = "Generate API Request:\n"

_INSTRUCTION = (
    "Continue the conversation. To use a tool, write one request in the form "
    "[ToolName(parameter='value', other='value')] and nothing else. If none of the tools can do what "
    "is asked, write a short reply without a request.\n"
)
_SHORT_INSTRUCTION = "Write [ToolName(parameter='value')] or, if no tool fits, a reply.\n"


class ApiBankDialect(Dialect):
    """Brackets, with each tool documented as a line of JSON."""

    name = "apibank"
    typed: ClassVar[bool] = False
    instructed_by: ClassVar[tuple[str, ...]] = ("apibank",)
    instruction: ClassVar[str] = _INSTRUCTION

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        calls = read_plain_bracket(text)
        return self.read_any(text) if calls is None else ParsedAction(calls)

    def read_any(self, text: str) -> ParsedAction:
        """As ``read``, for any action."""
        reasoning, rest, offset = split_reasoning(text, CallSpans(text, _spans).next)
        calls: list[ToolCall] = []
        errors: list[ParseError] = []
        words: list[str] = []
        at = 0
        while (opening := OPENING.search(rest, at)) is not None and len(errors) < _MAX_FAULTS:
            words.append(rest[at : opening.start()])
            bracket = scan_bracket(rest, opening.end())
            calls += bracket.calls
            at = bracket.end
            if bracket.fault is not None:
                # A text that breaks off swallows what follows; resuming inside it would also cost
                # quadratic time on hostile input.
                at = len(rest) if bracket.fault.at_end else max(at, opening.end())
                fault = bracket.fault
                errors.append(
                    ParseError(
                        kind="truncated" if fault.at_end else "malformed",
                        position=offset + fault.position,
                        message=f"the request starting at character {offset + opening.start()} cannot be read: {fault}",
                    )
                )
        words.append(rest[at:])
        return ParsedAction(tuple(calls), tuple(errors), _without_labels("".join(words)), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """``[A(x='1'), B(y='2')]``, after the words if there are any."""
        if not calls:
            return content
        request = f"[{', '.join([write_call(call) for call in calls])}]"
        return f"{content}\n{request}" if content else request

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """Instruction, tool documents, history, cue."""
        if instruction is None:
            facts = [f"{m.content}\n" for m in messages if m.role == "system" and m.content]
            instruction = self.instruction + "".join(facts)
        lines = [instruction]
        lines += [self.render_tool(tool) + "\n" for tool in tools]
        pending: list[str] = []
        for message in messages:
            lines += _history_lines(message, pending)
        return "".join(lines) + (_CUE if cue is None else cue)

    def render_tool(self, tool: Tool) -> str:
        """One tool's documentation: a line of JSON in the benchmark's shape."""
        return json.dumps(_documentation(tool))

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """``->result`` for one call; for several, one line each."""
        if len(texts) == 1:
            return f"->{texts[0]}\n{_CUE}"
        lines = [f"API-Request: [{write_call(call)}]->{text}\n" for call, text in zip(calls, texts, strict=True)]
        return "\n" + "".join(lines) + _CUE

    def render_reply(self, content: str) -> str:
        """The user's next line, then the cue."""
        return f"\nUser: {content}\n{_CUE}"

    def add_reply(self, results: str, content: str) -> str:
        """The results, then the user's line, and no cue between them."""
        return results.removesuffix(_CUE) + self.render_reply(content).removeprefix("\n")

    def result_text(self, result: ToolResult) -> str:
        """The result as Python prints it, which is how the benchmark shows results."""
        if result.error is None:
            return str(result.content)
        return str({"error": result.error, "message": result.message})


class ApiBankShortDialect(ApiBankDialect):
    """Brackets, with each tool documented as a signature: a third of the tokens, for small models."""

    name = "apibank-short"
    instruction: ClassVar[str] = _SHORT_INSTRUCTION

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """As the full dialect, always with the short instruction."""
        return super().render_prompt(messages, tools, None, cue)

    def render_tool(self, tool: Tool) -> str:
        """``Name(key, other: int) description``; a type is given where it is not text."""
        parts = []
        for key, schema in tool.properties.items():
            kind = _type_name(schema)
            parts.append(key if kind == "str" else f"{key}: {kind}")
        return f"{tool.name}({', '.join(parts)}) {tool.description}"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each bracket, up to its first fault."""
    at = brackets = faults = 0
    while brackets < _MAX_BRACKETS and faults < _MAX_FAULTS and (opening := OPENING.search(text, at)) is not None:
        bracket = scan_bracket(text, opening.end())
        at = max(bracket.end, opening.end())
        if bracket.fault is not None:
            faults += 1
            if bracket.fault.at_end:  # a quote that is never closed makes all that follows a part of the call
                at = len(text)
        brackets += 1
        yield opening.start(), at


def _without_labels(words: str) -> str:
    content = words.strip()
    for label in _LABELS:
        content = content.removeprefix(label).strip()
    return content


def _history_lines(message: Message, pending: list[str]) -> list[str]:
    """The lines of one message; ``pending`` holds requests whose results are still to come."""
    if message.role == "user":
        return [f"User: {message.content or ''}\n"]
    if message.role == "assistant":
        lines = [f"AI: {message.content}\n"] if message.content else []
        pending += [as_recorded(call) for call in message.tool_calls]
        return lines
    if message.role == "tool":
        request = pending.pop(0) if pending else f"{message.name or 'Tool'}()"
        return [f"API-Request: [{request}]->{message.content or ''}\n"]
    return []


_TYPE_NAMES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
}  # fmt: skip


def _type_name(schema: dict[str, Any]) -> str:
    declared = schema.get("type")
    return _TYPE_NAMES.get(declared, str(declared)) if isinstance(declared, str) else "any"


def _documentation(tool: Tool) -> dict[str, Any]:
    """The benchmark's own document where the tool carries one, else the same shape from the schema."""
    given = tool.meta.get("documentation")
    if isinstance(given, dict):
        return given
    inputs = {
        key: {"type": _type_name(schema), "description": schema.get("description", "")}
        for key, schema in tool.properties.items()
    }
    return {"name": tool.name, "description": tool.description, "input_parameters": inputs}
