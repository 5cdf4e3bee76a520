"""A memory store as a tool backend: a session is one store that starts from the task's snapshot."""

from __future__ import annotations

from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.bfcl.memory.embedding import Embedder, get_embedder
from callgym.envs.bfcl.memory.kv import MemoryKv
from callgym.envs.bfcl.memory.store import MemoryStore, check_store
from callgym.envs.bfcl.memory.summary import MemorySummary
from callgym.envs.bfcl.memory.vector import MemoryVector
from callgym.envs.bfcl.simulators.base import Refusal
from callgym.json_value import copy_json
from callgym.task import Task

__all__ = ["MemoryBackend", "MemorySession", "open_store"]


def open_store(name: str, embedder: str | Embedder = "lexical") -> MemoryStore:
    """A new, empty store.

    Args:
        name: ``kv``, ``vector`` or ``rec_sum``.
        embedder: For ``vector``: "lexical", "minilm" or an Embedder.

    Raises:
        ConfigurationError: There is no such store or embedder.
    """
    store = check_store(name)
    if store == "kv":
        return MemoryKv()
    return MemoryVector(embedder) if store == "vector" else MemorySummary()


class MemorySession:
    """One store."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def call(self, call: ToolCall) -> ToolResult:
        """Run a tool; where the official code raises, a ``tool_error`` with its text."""
        if call.name not in self.store.tools:
            return ToolResult(error="unavailable", message=f"{call.name} is no tool of this memory")
        try:
            content = self.store.call(call.name, call.arguments)
        except Refusal as refusal:
            return ToolResult(error="tool_error", message=str(refusal))
        return ToolResult.trusted(content=copy_json(content), error=None, message="")

    def state(self) -> dict[str, Any]:
        """The snapshot."""
        return self.store.snapshot()

    def close(self) -> None:
        """Nothing to give back."""


class MemoryBackend:
    """Opens a task's kind of store (``meta["store"]``) for every episode, with ``initial_state`` as its snapshot; an
    empty one is no snapshot.

    Args:
        embedder: For ``vector``: "lexical", "minilm" or an Embedder.

    Raises:
        ConfigurationError: There is no such embedder.
    """

    def __init__(self, embedder: str | Embedder = "lexical") -> None:
        self._embedder = get_embedder(embedder)

    def open(self, task: Task, seed: int) -> MemorySession:
        """A session of its own; nothing in it is random."""
        store = open_store(str(task.meta["store"]), self._embedder)
        store.load(task.initial_state)
        return MemorySession(store)
