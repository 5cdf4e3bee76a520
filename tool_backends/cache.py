"""The same call again gets the same answer, and the tool is not asked twice::

    backend = cached(backend, read_only=("Search", "GetWeather"))

What a session remembers is forgotten when it calls a tool that may write. With ``shared=True`` all sessions remember
together, and nothing is forgotten but for want of room: for tools whose answers depend on their arguments alone.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Collection
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.json_value import copy_trusted, write_json
from callgym.task import Task
from callgym.tool_backends.base import Session, ToolBackend, WrappedSession
from callgym.tool_backends.wrapped import WrappedBackend, at_least_one

__all__ = ["CachedBackend", "CachedSession", "cached"]

_write_key = json.JSONEncoder(sort_keys=True).encode


def cached(
    backend: ToolBackend,
    read_only: Collection[str] | None = None,
    *,
    shared: bool = False,
    entries: int = 1024,
    longest: int = 65_536,
) -> CachedBackend:
    """A backend that remembers the answers of tools that only read. Failures are not remembered.

    Args:
        backend: What runs the calls.
        read_only: Names of the tools that change nothing. By default what the backend says of itself: its attribute
            ``read_only``, names or True for all of its tools.
        shared: Whether all sessions share one memory, instead of one each. Only for tools whose answers depend on
            nothing but their arguments.
        entries: Most answers that are remembered; the one not asked for the longest goes first.
        longest: Longest answer that is remembered, in characters of JSON.

    Raises:
        ConfigurationError: An argument has a value it cannot have, or nobody says which tools only read.
    """
    return CachedBackend(backend, read_only, shared=shared, entries=entries, longest=longest)


class CachedBackend(WrappedBackend):
    """See ``cached``."""

    def __init__(
        self,
        inner: ToolBackend,
        read_only: Collection[str] | None = None,
        *,
        shared: bool = False,
        entries: int = 1024,
        longest: int = 65_536,
    ) -> None:
        super().__init__(inner)
        self._read_only = _named(inner, read_only)
        self._limits = at_least_one("entries", entries), at_least_one("longest", longest)
        self._shared = _Memory(*self._limits) if shared else None

    def wrap(self, session: Session, task: Task, seed: int) -> Session:
        """The session with a memory of its own, or with the common one."""
        memory = self._shared or _Memory(*self._limits)
        return CachedSession(session, memory, self._read_only, forgets=self._shared is None)


class CachedSession(WrappedSession):
    """A session that remembers."""

    def __init__(self, inner: Session, memory: _Memory, read_only: Collection[str] | None, *, forgets: bool) -> None:
        super().__init__(inner)
        self._memory = memory
        self._read_only = read_only
        self._forgets = forgets

    def before(self, call: ToolCall) -> ToolCall | ToolResult:
        """The answer that is remembered, or the call."""
        if self._only_reads(call):
            return self._memory.get(call) or call
        if self._forgets:
            self._memory.clear()
        return call

    def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Remember what a tool that only reads has answered."""
        if result.error is None and self._only_reads(call):
            self._memory.put(call, result)
        return result

    def _only_reads(self, call: ToolCall) -> bool:
        return self._read_only is None or call.name in self._read_only


class _Memory:
    """Answers by tool and arguments, the one not asked for the longest first; several threads may share it."""

    def __init__(self, entries: int, longest: int) -> None:
        self._entries = entries
        self._longest = longest
        self._answers: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, call: ToolCall) -> ToolResult | None:
        """The answer as a copy of its own, for results stand in records."""
        key = _key(call)
        with self._lock:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            content = self._answers[key]
        return ToolResult.trusted(content=copy_trusted(content), error=None, message="")

    def put(self, call: ToolCall, result: ToolResult) -> None:
        """Keep an answer, unless it is too long."""
        if len(write_json(result.content)) > self._longest:
            return
        key, content = _key(call), copy_trusted(result.content)
        with self._lock:
            self._answers[key] = content
            self._answers.move_to_end(key)
            if len(self._answers) > self._entries:
                self._answers.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()

    def __reduce__(self) -> tuple[type[_Memory], tuple[int, int]]:
        return _Memory, (self._entries, self._longest)  # a copy in another process begins empty


def _key(call: ToolCall) -> tuple[str, str]:
    return call.name, _write_key(call.arguments)


def _named(backend: ToolBackend, read_only: Collection[str] | None) -> frozenset[str] | None:
    """The tools that only read; None for all."""
    given: Any = getattr(backend, "read_only", None) if read_only is None else read_only
    if given is True:
        return None
    listed = isinstance(given, Collection) and not isinstance(given, (str, bytes))
    if listed and all(isinstance(name, str) for name in given):
        return frozenset(given)
    raise ConfigurationError(
        f"read_only names the tools that change nothing, ('Search', 'Read') for example, got {given!r}; only their "
        "answers can be remembered"
    )
