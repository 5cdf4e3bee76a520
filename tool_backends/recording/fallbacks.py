"""What is answered to a call of which no answer is on record.

``"error"``: that there is none. ``"nearest"``: what was recorded of the call most like it. ``"synthetic"``: a value
that fits the schema of the tool's answers. Or a function of one's own::

    def shrug(miss: Miss) -> ToolResult:
        return ToolResult(content="nobody knows")

    ReplayBackend("calls.sqlite", fallback=shrug)

The same miss gets the same answer, in any process.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.json_value import copy_json
from callgym.random_values import NoValue, random_value
from callgym.tool import Tool
from callgym.tool_backends.recording.answers import Answers
from callgym.validator import compile_schema

__all__ = ["FALLBACKS", "Fallback", "Miss", "get_fallback", "no_answer", "said", "synthetic"]

_DRAWS = 20
_SHOWN_NAME = 80
_TEXT: dict[str, Any] = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Miss:
    """A call of which no answer is on record."""

    call: ToolCall
    """The call; secrets in its arguments are redacted."""
    tool: Tool | None
    """The tool, where its document is known."""
    seed: int
    """Of this call in this session: the same call gets the same."""
    scope: str
    """What was called before: ``RecordedCall.scope`` of the rows that hold here."""
    records: Answers
    """The recording."""


Fallback = Callable[[Miss], ToolResult]
"""Answers a miss. It must not depend on anything but the miss."""


def no_answer(miss: Miss) -> ToolResult:
    """``unavailable``: the call is not made, and nothing is made up."""
    name = miss.call.name[:_SHOWN_NAME]
    return ToolResult(
        error="unavailable",
        message=f"{name} has no recorded answer to these arguments here; try other arguments, or do without it",
    )


def synthetic(miss: Miss) -> ToolResult:
    """A value that fits ``Tool.returns``; of a tool without one some text."""
    rng = random.Random(miss.seed)
    schema = None if miss.tool is None else miss.tool.returns
    content = _drawn(schema, rng) if schema else random_value(_TEXT, rng)
    return ToolResult(content=content)


def _drawn(schema: dict[str, Any], rng: random.Random) -> Any:
    try:
        fits = compile_schema(schema).is_valid
    except ValueError:  # no JSON Schema
        return random_value(_TEXT, rng)
    for _ in range(_DRAWS):
        try:
            value = copy_json(random_value(schema, rng))
        except (NoValue, TypeError, ValueError, ArithmeticError, RecursionError):
            continue
        if fits(value):
            return value
    return random_value(_TEXT, rng)


def said(result: ToolResult, note: str) -> ToolResult:
    """The result with a word on where it is from: ``{"result": ..., "note": ...}``, or behind a failure's message."""
    if result.error is not None:
        return ToolResult(error=result.error, message=f"{result.message} ({note})")
    return ToolResult.trusted(content={"result": result.content, "note": note}, error=None, message="")


def get_fallback(fallback: str | Fallback, *, say_so: bool) -> Fallback:
    """The fallback of a name, or the function itself.

    Raises:
        ConfigurationError: There is none of that name.
    """
    if callable(fallback):
        return fallback
    if isinstance(fallback, str) and fallback in FALLBACKS:
        return FALLBACKS[fallback](say_so)
    raise ConfigurationError(f"fallback is one of {', '.join(map(repr, FALLBACKS))}, or a function, got {fallback!r}")


def _synthetic(say_so: bool) -> Fallback:
    return _synthetic_and_said if say_so else synthetic


def _synthetic_and_said(miss: Miss) -> ToolResult:
    return said(synthetic(miss), "no answer is on record; this one is made up")


def _nearest(say_so: bool) -> Fallback:
    from callgym.tool_backends.recording.nearest import Nearest

    return Nearest(say_so=say_so)


FALLBACKS: dict[str, Callable[[bool], Fallback]] = {
    "error": lambda say_so: no_answer,
    "nearest": _nearest,
    "synthetic": _synthetic,
}
"""Name to what makes the fallback, told whether it says what it did."""
