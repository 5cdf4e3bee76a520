"""Calls that came from outside as objects, written as an action that the environment reads the same way.

A call that cannot be read, or that the dialect has no way to write, must not vanish on the way: it becomes
text that the dialect's own parser finds fault with, beside the calls that are whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, call_or_error
from callgym.dialects.hermes import HermesDialect
from callgym.dialects.openai import OpenAIDialect

__all__ = ["RawCall", "render_raw_action"]

_MOST_CUT = 64  # characters cut from a written call until it is broken


@dataclass(frozen=True, slots=True)
class RawCall:
    """A call as somebody else wrote it; nothing about it is checked yet."""

    name: Any
    """Should be the tool's name."""
    arguments: Any
    """Should be a JSON object, or one as text."""
    id: Any = None
    """Should be text, or nothing."""


def render_raw_action(dialect: Dialect, raw: Sequence[RawCall], content: str = "") -> str:
    """The action that says ``content`` and makes these calls; those that cannot be read, unreadably."""
    dialect = getattr(dialect, "inner", dialect)  # what cannot be read stays so, whether or not repairs are made later
    whole: list[ToolCall] = []
    broken: list[RawCall] = []
    for item in raw:
        call = call_or_error(item.name, item.arguments, 0, item.id)
        if isinstance(call, ToolCall) and dialect.can_write(call):
            whole.append(call)
        else:
            broken.append(item)
    if not broken:
        return dialect.render_action(whole, content)
    if isinstance(dialect, OpenAIDialect):
        return _as_message(raw, content)
    parts = [dialect.render_action(whole, content)] if whole or content else []
    joined = "\n".join(parts + [_render_broken(dialect, item) for item in broken])
    parsed = dialect.parse(joined)
    if parsed.errors and list(parsed.calls) == whole:
        return joined
    return _broken_off(dialect, whole, broken[0], content)


def _as_message(raw: Sequence[RawCall], content: str) -> str:
    """OpenAI's own shape carries anything."""
    calls = [{"id": r.id, "type": "function", "function": {"name": r.name, "arguments": r.arguments}} for r in raw]
    return json.dumps({"role": "assistant", "content": content or None, "tool_calls": calls}, ensure_ascii=False)


def _broken_off(dialect: Dialect, whole: Sequence[ToolCall], raw: RawCall, content: str) -> str:
    """The whole calls and then one that breaks off, for forms in which actions cannot be put together from parts."""
    last = ToolCall(name=_plain_name(raw.name), arguments={"arguments": ""})
    written = dialect.render_action((*whole, last), content)
    names = [call.name for call in whole]
    for end in range(len(written) - 1, max(0, len(written) - _MOST_CUT), -1):
        parsed = dialect.parse(written[:end])
        if parsed.errors and [call.name for call in parsed.calls] == names:
            return written[:end]
    return written


def _render_broken(dialect: Dialect, raw: RawCall) -> str:
    if isinstance(dialect, HermesDialect):
        body = json.dumps({"name": raw.name, "arguments": raw.arguments}).replace("<|", "\\u003c|")
        return f"<tool_call>\n{body}\n</tool_call>"
    arguments = raw.arguments if isinstance(raw.arguments, str) else json.dumps(raw.arguments)
    for said in (arguments, ""):
        written = dialect.render_action((ToolCall(name=_plain_name(raw.name), arguments={"arguments": said}),))
        for end in range(len(written) - 1, max(0, len(written) - _MOST_CUT), -1):
            parsed = dialect.parse(written[:end])
            if parsed.errors and not parsed.calls:
                return written[:end]
    return written


def _plain_name(name: Any) -> str:
    """A name that every dialect takes for one."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name) if isinstance(name, str) else ""
    return plain if plain[:1].isalpha() else f"call_{plain}"
