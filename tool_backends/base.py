"""What answers a tool call: a backend opens one independent session an episode.

A tool that fails is data (``ToolResult.error``); an exception out of ``call`` is a bug in the tool's
code and is not caught anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from callgym.call import ToolCall, ToolResult
from callgym.schema import ToolSchema
from callgym.task import Task

__all__ = ["Session", "ToolBackend", "checked_call"]


class Session(Protocol):
    """The tools of one episode, with their state."""

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call whose arguments are valid against the tool's schema."""

    def state(self) -> dict[str, Any]:
        """The state as JSON values; changing the returned object changes nothing."""

    def close(self) -> None:
        """Give back what the session holds; more calls are an error."""


class ToolBackend(Protocol):
    """Opens sessions; holds nothing that an episode can change."""

    def open(self, task: Task, seed: int) -> Session:
        """A fresh session for ``task``; everything random in it comes from ``seed``."""


def checked_call(session: Session, call: ToolCall, schemas: Mapping[str, ToolSchema]) -> ToolResult:
    """Run ``call`` if its tool exists and its arguments are valid, else say what is wrong.

    Args:
        session: Where the call runs.
        call: The call, arguments already typed.
        schemas: Tool name to compiled schema, of the tools that exist now.
    """
    schema = schemas.get(call.name)
    if schema is None:
        known = ", ".join(sorted(schemas)) or "none"
        return ToolResult(
            error="unknown_tool", message=f"there is no tool {call.name[:80]!r}; the tools are: {known[:400]}"
        )
    fault = schema.check(call.arguments)
    if fault is not None:
        return ToolResult(error="invalid_arguments", message=fault)
    return session.call(call)
