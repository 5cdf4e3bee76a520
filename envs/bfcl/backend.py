"""What answers the calls of BFCL's tasks, by the kind of their category."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.memory.embedding import Embedder
from callgym.envs.bfcl.memory.session import MemoryBackend
from callgym.envs.bfcl.simulators.base import Tables
from callgym.envs.bfcl.simulators.official_classes import official_tables
from callgym.envs.bfcl.starter.tables import starter_tables
from callgym.envs.bfcl.turns import open_turns
from callgym.envs.bfcl.web.provider import Provider
from callgym.envs.bfcl.web.tools import WebBackend
from callgym.task import Task
from callgym.tool_backends import Session
from callgym.tool_backends.accepting import AcceptingBackend

__all__ = ["BfclBackend"]

_OFFICIAL = "official:"


class BfclBackend:
    """Opens what a task's category runs on."""

    def __init__(
        self,
        embedder: str | Embedder = "lexical",
        provider: Provider | None = None,
        official_classes: bool = False,
    ) -> None:
        """Take what can be plugged in.

        Args:
            embedder: For memory_vector: "lexical", "minilm" or an Embedder.
            provider: What answers web searches: a SearchIndex, or a live provider of the user's own.
            official_classes: Whether multi-turn tasks run on the classes of the installed package ``bfcl-eval``,
                instead of on our simulators.

        Raises:
            ConfigurationError: There is no such embedder.
            MissingPackageError: The package is asked for and not installed.
        """
        self._official = official_tables() if official_classes else None
        self._paper = AcceptingBackend()
        self._memory = MemoryBackend(embedder)
        self._web = WebBackend(provider)

    def open(self, task: Task, seed: int) -> Session:
        """A fresh session; nothing in it is random but what the scenario seeds itself."""
        kind = CATEGORIES[str(task.meta["category"])].kind
        if kind == "multi_turn":
            return open_turns(task, self._official or _tables(str(task.meta["tables"])))
        if kind == "memory":
            return self._memory.open(task, seed)
        return self._web.open(task, seed) if kind == "web_search" else self._paper.open(task, seed)


@lru_cache(maxsize=8)
def _tables(name: str) -> Tables:
    """The tables that a task names."""
    if not name.startswith(_OFFICIAL):
        return starter_tables()
    files = BfclFiles(Path(name[len(_OFFICIAL) :]))
    return Tables(files.constants(), files.long_context())
