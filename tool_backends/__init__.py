"""Things that answer a tool call."""

from callgym.tool_backends.base import (
    Session,
    ToolBackend,
    WaitingSession,
    WrappedSession,
    acall,
    checked_acall,
    checked_call,
    waits,
)
from callgym.tool_backends.python import PythonBackend, ToolFailure, World
from callgym.tool_backends.recorded import RecordedBackend

__all__ = [
    "PythonBackend",
    "RecordedBackend",
    "Session",
    "ToolBackend",
    "ToolFailure",
    "WaitingSession",
    "World",
    "WrappedSession",
    "acall",
    "checked_acall",
    "checked_call",
    "waits",
]
