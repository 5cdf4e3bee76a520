"""Things that answer a tool call."""

from callgym.tool_backends.base import Session, ToolBackend, checked_call
from callgym.tool_backends.python import PythonBackend, ToolFailure, World
from callgym.tool_backends.recorded import RecordedBackend

__all__ = [
    "PythonBackend",
    "RecordedBackend",
    "Session",
    "ToolBackend",
    "ToolFailure",
    "World",
    "checked_call",
]
