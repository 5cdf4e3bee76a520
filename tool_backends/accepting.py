"""Functions that exist on paper only: a call that is valid is taken, and gives nothing."""

from __future__ import annotations

from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.task import Task

__all__ = ["AcceptingBackend", "AcceptingSession"]

_TAKEN = ToolResult()


class AcceptingSession:
    """Takes every call; it has no state."""

    def call(self, call: ToolCall) -> ToolResult:
        """No content."""
        return _TAKEN

    def state(self) -> dict[str, Any]:
        """Always empty."""
        return {}

    def close(self) -> None:
        """Nothing to give back."""


_SESSION = AcceptingSession()


class AcceptingBackend:
    """For benchmarks of one action, in which it counts what is called and not what comes back."""

    def open(self, task: Task, seed: int) -> AcceptingSession:
        """The one session there is."""
        return _SESSION
