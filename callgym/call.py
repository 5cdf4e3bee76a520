"""A tool call, as a policy makes it, and the result, as a backend answers it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from callgym.noun import JsonObject, Noun, require_finite

__all__ = ["ErrorKind", "ToolCall", "ToolResult"]

ErrorKind = Literal["unknown_tool", "invalid_arguments", "tool_error", "timeout", "unavailable"]
"""Why a call has no result. All of them are data for the policy; none is an exception."""


class ToolCall(Noun):
    """One call of one tool."""

    name: str = Field(min_length=1)
    """Name of the tool, as written."""
    arguments: JsonObject = {}
    """Argument name to JSON value."""
    id: str | None = None
    """The call's id where the dialect has ids (OpenAI's ``tool_calls``)."""


class ToolResult(Noun):
    """What came of one call."""

    content: Annotated[JsonValue, AfterValidator(require_finite)] = None
    """The tool's answer, any JSON value; None where the call failed."""
    error: ErrorKind | None = None
    """None, or the kind of failure."""
    message: str = ""
    """For a failure: a sentence the policy can act on."""

    @property
    def ok(self) -> bool:
        """Whether the tool answered."""
        return self.error is None
