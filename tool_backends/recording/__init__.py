"""Recordings: what a backend answered once, answered for ever."""

from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.recording.answers import Answers, RecordedCall, ToolCount
from callgym.tool_backends.recording.fallbacks import Fallback, Miss
from callgym.tool_backends.recording.jsonl import ImportReport, export_records, import_records
from callgym.tool_backends.recording.nearest import Nearest
from callgym.tool_backends.recording.recorder import RecordingBackend, recorded
from callgym.tool_backends.recording.redaction import REDACTED
from callgym.tool_backends.recording.replay import ReplayBackend, open_records
from callgym.tool_backends.recording.store import RecordingStore
from callgym.tool_backends.recording.toolbench_cache import CacheReport, ToolBenchCache, import_toolbench_cache

__all__ = [
    "REDACTED",
    "Answers",
    "CacheReport",
    "Fallback",
    "ImportReport",
    "Miss",
    "Nearest",
    "RecordedCall",
    "RecordingBackend",
    "RecordingStore",
    "ReplayBackend",
    "ToolBenchCache",
    "ToolCount",
    "UnknownState",
    "export_records",
    "import_records",
    "import_toolbench_cache",
    "open_records",
    "recorded",
]
