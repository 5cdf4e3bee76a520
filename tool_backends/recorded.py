"""Answers from a recording: the call that was recorded gets its recorded result.

The recording is ``task.meta["recorded"]``: a list of ``{"name", "arguments", "result"}``, where
``result`` is a ToolResult. A call that was not recorded is ``unavailable``, never guessed.
"""

from __future__ import annotations

from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.task import Task

__all__ = ["RecordedBackend", "RecordedSession"]


class RecordedSession:
    """The recorded answers of one task; it has no state."""

    def __init__(self, recorded: list[dict[str, Any]]) -> None:
        self._recorded = recorded

    def call(self, call: ToolCall) -> ToolResult:
        """The recorded result of exactly this call, else an ``unavailable`` error."""
        for entry in self._recorded:
            if entry["name"] == call.name and entry["arguments"] == call.arguments:
                return ToolResult.from_dict(entry["result"], where=f"recording of {call.name}")
        return ToolResult(error="unavailable", message=f"no answer of {call.name} to these arguments was recorded")

    def state(self) -> dict[str, Any]:
        """Always empty."""
        return {}

    def close(self) -> None:
        """Nothing to give back."""


class RecordedBackend:
    """Replays ``task.meta["recorded"]``."""

    def open(self, task: Task, seed: int) -> RecordedSession:
        """A session over the task's recording."""
        recorded: Any = task.meta.get("recorded", [])
        return RecordedSession(recorded)
