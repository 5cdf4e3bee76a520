"""An action as a dialect reads it, for people: its parts, and each fault pointed at in the text::

line 1, column 54: malformed
    <tool_call>{"name": "add", "arguments": {"a": 1, "b": }}</tool_call>
                                                         ^
the JSON in <tool_call> cannot be read: ...
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any, TextIO

from callgym.call import ToolCall
from callgym.command_line import harmless
from callgym.dialects import Dialect, ParsedAction
from callgym.episode import ParseError
from callgym.errors import DataError

__all__ = ["action_as_json", "action_as_text", "read_actions"]

_WIDTH = 100
_MARGIN = "    "


def read_actions(file: TextIO, lines: bool) -> Iterator[str]:
    """The actions of a file: all of it is one, or each of its lines holds one as JSON.

    Args:
        file: Where they are read from.
        lines: Whether it is JSON Lines: a text, or an object with ``action``, in each.

    Raises:
        DataError: A line, or the encoding, is not right; the message names the place.
    """
    try:
        if not lines:
            yield file.read()
            return
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _action_of(line, f"{file.name}, line {number}")
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name} is not UTF-8 text: {error}") from error


def _action_of(line: str, where: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error}); without --lines the whole file is one action") from error
    action = value.get("action") if isinstance(value, dict) else value
    if not isinstance(action, str):
        raise DataError(f"{where}: a line holds a text, or an object whose 'action' is one; found {line[:60]!r}")
    return action


def action_as_text(text: str, dialect: Dialect) -> str:
    """Several lines: the dialect that ``auto`` chose, reasoning, words, calls, faults."""
    return "\n".join(_lines(text, dialect.parse(text)))


def action_as_json(text: str, dialect: Dialect) -> dict[str, Any]:
    """The same as plain JSON values; positions of errors also as ``line`` and ``column``, both from 1."""
    parsed = dialect.parse(text)
    return {
        "dialect": parsed.dialect or dialect.name,
        "reasoning": parsed.reasoning,
        "content": parsed.content,
        "calls": [call.to_dict() for call in parsed.calls],
        "errors": [{**error.to_dict(), **_place(text, error.position)} for error in parsed.errors],
    }


def _lines(text: str, parsed: ParsedAction) -> Iterator[str]:
    if parsed.dialect:
        yield f"dialect: {parsed.dialect}"
    if parsed.reasoning:
        yield f"reasoning: {_indented(parsed.reasoning)}"
    if parsed.content:
        yield f"words: {_indented(parsed.content)}"
    yield from map(_call_line, parsed.calls)
    for error in parsed.errors:
        yield from _error_lines(text, error)
    if not (parsed.calls or parsed.errors or parsed.content):
        yield "nothing: no call, no words"


def _call_line(call: ToolCall) -> str:
    named = f" (id {call.id})" if call.id else ""
    return harmless(f"call: {call.name} {json.dumps(call.arguments, ensure_ascii=False)}{named}")


def _error_lines(text: str, error: ParseError) -> Iterator[str]:
    place = _place(text, error.position)
    yield f"line {place['line']}, column {place['column']}: {error.kind}"
    start = text.rfind("\n", 0, error.position) + 1
    end = text.find("\n", error.position)
    line = text[start : len(text) if end < 0 else end]
    column = error.position - start
    # A long line is shown around the place.
    first = max(0, min(column - _WIDTH // 2, len(line) - _WIDTH))
    before, after = harmless(line[first:column]), harmless(line[column : first + _WIDTH])
    opening, closing = "..." if first else "", "..." if first + _WIDTH < len(line) else ""
    shown = f"{opening}{before}".expandtabs(1)
    yield f"{_MARGIN}{shown}{after.expandtabs(1)}{closing}"
    yield f"{_MARGIN}{' ' * _columns(shown)}^"
    yield harmless(error.message)


def _columns(text: str) -> int:
    """How wide a terminal shows the text: East Asian characters take two columns, combining marks none."""
    wide = sum([unicodedata.east_asian_width(c) in "WF" for c in text])
    return len(text) + wide - sum([unicodedata.combining(c) != 0 for c in text])


def _place(text: str, position: int) -> dict[str, int]:
    before = text[:position]
    return {"line": before.count("\n") + 1, "column": position - (before.rfind("\n") + 1) + 1}


def _indented(text: str) -> str:
    return harmless(text).replace("\n", f"\n{_MARGIN}")
