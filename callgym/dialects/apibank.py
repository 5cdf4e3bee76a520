"""API-Bank's brackets: ``[Name(key='value', ...)]``.

What is read (a real parser, where the official script uses regular expressions that cut values at
the first quote of either kind; the official rules are for the official score):

- one or more calls in brackets, ``[A(x='1'), B(y=2)]`` or ``[A(x='1')] [B(y=2)]``, anywhere in text;
- values in single or double quotes, with backslash escapes. A quote ends the value only where the
  call can go on after it (``, name=`` or ``)`` and a bracket or comma), so an apostrophe
  (``'Mia's list'``) and the benchmark's own quoted lists (``'['A', 'B']'``) are kept whole;
- bare words, numbers, lists and objects.

Scalar values are text: the tool's schema decides their type afterwards (``typed`` is False).
The prompt has the layout of the benchmark's test files: instruction, one JSON document a tool,
``User:``/``AI:`` lines, ``API-Request: [...]->result``, and the cue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.dialects.base import Dialect, ParsedAction, split_reasoning
from callgym.dialects.literal import LiteralError, scan_escape, scan_literal, skip_space
from callgym.episode import ParseError
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["ApiBankDialect", "ApiBankShortDialect"]

_OPENING = re.compile(r"\[\s*(?=[A-Za-z_][\w.]*\()")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_AFTER_QUOTE = re.compile(r"\s*(?:,\s*[A-Za-z_]\w*\s*=|(?:,\s*)?\)\s*[\],])")
_BARE = re.compile(r"[^,()\[\]{}'\"\s][^,()\[\]{}'\"\n]*")
_LABELS = ("API-Request:", "AI:")
_CUE = "Generate API Request:\n"

_INSTRUCTION = (
    "Continue the conversation. To use a tool, write one request in the form "
    "[ToolName(parameter='value', other='value')] and nothing else. If none of the tools can do what "
    "is asked, write a short reply without a request.\n"
)
_SHORT_INSTRUCTION = "Write [ToolName(parameter='value')] or, if no tool fits, a reply.\n"


class ApiBankDialect(Dialect):
    """Brackets, with each tool documented as a line of JSON."""

    name: ClassVar[str] = "apibank"
    typed: ClassVar[bool] = False
    instructed_by: ClassVar[tuple[str, ...]] = ("apibank",)
    instruction: ClassVar[str] = _INSTRUCTION

    def parse(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        reasoning, rest, offset = split_reasoning(text, _next_call)
        calls: list[ToolCall] = []
        errors: list[ParseError] = []
        words: list[str] = []
        at = 0
        while (opening := _OPENING.search(rest, at)) is not None:
            words.append(rest[at : opening.start()])
            found, error, at = _scan_bracket(rest, opening.end())
            calls += found
            if error is not None:
                # A text that breaks off swallows what follows; resuming inside it would also cost
                # quadratic time on hostile input.
                at = len(rest) if error.at_end else max(at, opening.end())
                errors.append(
                    ParseError(
                        kind="truncated" if error.at_end else "malformed",
                        position=offset + error.position,
                        message=f"the request starting at character {offset + opening.start()} cannot be read: {error}",
                    )
                )
        words.append(rest[at:])
        return ParsedAction(tuple(calls), tuple(errors), _without_labels("".join(words)), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """``[A(x='1'), B(y='2')]``, after the words if there are any."""
        if not calls:
            return content
        request = "[" + ", ".join(_render_call(call, _quoted) for call in calls) + "]"
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
        lines = [
            f"API-Request: [{_render_call(call, _quoted)}]->{text}\n" for call, text in zip(calls, texts, strict=True)
        ]
        return "\n" + "".join(lines) + _CUE

    def render_reply(self, content: str) -> str:
        """The user's next line, then the cue."""
        return f"\nUser: {content}\n{_CUE}"

    def result_text(self, result: ToolResult) -> str:
        """The result as Python prints it, which is how the benchmark shows results."""
        if result.error is None:
            return str(result.content)
        return str({"error": result.error, "message": result.message})


class ApiBankShortDialect(ApiBankDialect):
    """Brackets, with each tool documented as a signature: a third of the tokens, for small models."""

    name: ClassVar[str] = "apibank-short"
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


def _next_call(text: str, at: int) -> tuple[int, int] | None:
    opening = _OPENING.search(text, at)
    if opening is None:
        return None
    _, error, end = _scan_bracket(text, opening.end())
    if error is not None and error.at_end:  # going on inside it would cost quadratic time
        return None
    return opening.start(), max(end, opening.end())


def _scan_bracket(text: str, position: int) -> tuple[list[ToolCall], LiteralError | None, int]:
    """Read calls up to the closing bracket; the calls before a fault are kept."""
    calls: list[ToolCall] = []
    at = position
    try:
        while True:
            call, at = _scan_call(text, at)
            calls.append(call)
            at = skip_space(text, at)
            if text.startswith("]", at):
                return calls, None, at + 1
            if not text.startswith(",", at):
                raise LiteralError("',' or ']' is missing after a call", at, at_end=at >= len(text))
            at = skip_space(text, at + 1)
    except LiteralError as error:
        return calls, error, error.position


def _scan_call(text: str, position: int) -> tuple[ToolCall, int]:
    name = _NAME.match(text, position)
    if name is None or not text.startswith("(", name.end()):
        raise LiteralError("a call has the form Name(key='value')", position, at_end=position >= len(text))
    arguments: dict[str, Any] = {}
    at = skip_space(text, name.end() + 1)
    while not text.startswith(")", at):
        key = _KEY.match(text, at)
        if key is None:
            raise LiteralError(
                f"an argument of {name.group()} is written key='value', found {text[at : at + 20]!r}",
                at,
                at_end=at >= len(text),
            )
        if key.group(1) in arguments:
            raise LiteralError(f"argument {key.group(1)} is given twice", at)
        arguments[key.group(1)], at = _scan_value(text, key.end())
        at = skip_space(text, at)
        if text.startswith(",", at):
            at = skip_space(text, at + 1)
        elif not text.startswith(")", at):
            raise LiteralError("',' or ')' is missing after a value", at, at_end=at >= len(text))
    return ToolCall.trusted(name=name.group(), arguments=arguments, id=None), at + 1


def _scan_value(text: str, position: int) -> tuple[Any, int]:
    first = text[position : position + 1]
    if first in ("'", '"'):
        return _scan_quoted(text, position)
    if first in ("[", "{"):
        return scan_literal(text, position)
    bare = _BARE.match(text, position)
    if bare is None:
        raise LiteralError("a value is missing", position, at_end=position >= len(text))
    return bare.group().rstrip(), bare.end()


def _scan_quoted(text: str, position: int) -> tuple[str, int]:
    """Read a quoted value up to a quote after which the call can go on."""
    quote = text[position]
    pieces: list[str] = []
    start = at = position + 1
    while True:
        end = text.find(quote, at)
        if end < 0:
            raise LiteralError("a quoted value is never closed", position, at_end=True)
        backslash = text.find("\\", at, end)
        if backslash >= 0:
            pieces.append(text[start:backslash])
            piece, start = scan_escape(text, backslash)
            pieces.append(piece)
            at = start
        elif _AFTER_QUOTE.match(text, end + 1):
            pieces.append(text[start:end])
            return "".join(pieces), end + 1
        else:
            at = end + 1


def _without_labels(words: str) -> str:
    content = words.strip()
    for label in _LABELS:
        content = content.removeprefix(label).strip()
    return content


def _render_call(call: ToolCall, quote: Any) -> str:
    return f"{call.name}({', '.join(f'{key}={quote(value)}' for key, value in call.arguments.items())})"


_QUOTING = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _quoted(value: Any) -> str:
    """A value so that ``parse`` gives it back."""
    if isinstance(value, str):
        return "'" + value.translate(_QUOTING) + "'"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}'"


def _as_recorded(value: Any) -> str:
    """A value as the benchmark's history lines have it: in single quotes, nothing escaped."""
    return f"'{value}'"


def _history_lines(message: Message, pending: list[str]) -> list[str]:
    """The lines of one message; ``pending`` holds requests whose results are still to come."""
    if message.role == "user":
        return [f"User: {message.content or ''}\n"]
    if message.role == "assistant":
        lines = [f"AI: {message.content}\n"] if message.content else []
        pending += [_render_call(call, _as_recorded) for call in message.tool_calls]
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
