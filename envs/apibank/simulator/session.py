"""API-Bank's tools as a backend: every episode its own session over the shared tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.apibank.simulator.manager import TOOL_SETS
from callgym.envs.apibank.simulator.tables import Tables, in_own_shape
from callgym.envs.apibank.simulator.tool_search import ToolSearch, split_capitals
from callgym.envs.apibank.simulator.world import ReturnedError, ToolCrash, World
from callgym.json_value import copy_json, copy_trusted
from callgym.task import Task
from callgym.tool_backends.python import ToolFailure
from callgym.tool_backends.ranking import Ranker

__all__ = ["SimulatorBackend", "SimulatorSession"]


class SimulatorSession:
    """The tools of one episode."""

    __slots__ = ("_tools", "world")

    def __init__(self, tool_set: str, world: World) -> None:
        self._tools = TOOL_SETS[tool_set]
        self.world = world

    def call(self, call: ToolCall) -> ToolResult:
        """Run the tool on typed arguments; what it complains of is a ``tool_error``."""
        tool = self._tools.get(call.name)
        if tool is None:
            return ToolResult(error="unavailable", message=f"{call.name} is no tool of API-Bank's and cannot be run")
        try:
            # Copies: a tool may keep an argument in a table, and answer with a row of one.
            content = tool.run(self.world, **tool.whole_numbers(copy_trusted(call.arguments)))
        except (ToolFailure, ToolCrash) as failure:
            return ToolResult(error="tool_error", message=str(failure))
        if isinstance(content, ReturnedError):
            return ToolResult(error="tool_error", message=str(content))
        return ToolResult.trusted(content=copy_json(content), error=None, message="")

    def state(self) -> dict[str, Any]:
        """What differs from the tables the session began with; see ``World.state``."""
        return self.world.state()

    def close(self) -> None:
        """Nothing to give back."""


class SimulatorBackend:
    """Opens sessions over tables.

    A task's ``initial_state`` replaces tables by name. ``meta["history"]`` (calls as
    ``{"name", "arguments"}``) is executed first where ``replay`` is set, and ``meta["pinned"]`` gives the
    values of the first random ids and tokens.
    """

    def __init__(
        self, tables: Tables, tool_set: str, ranker: Ranker, *, official: bool = False, replay: bool = False
    ) -> None:
        """Create the backend.

        Args:
            tables: What the tools run on.
            tool_set: ``"apis"`` (levels 1 and 2) or ``"lv3_apis"``.
            ranker: What the tool search ranks with.
            official: Whether the tools keep the official implementation's faults.
            replay: Whether the recorded calls of the history are executed first.
        """
        self.tables = tables
        self.tool_set = tool_set
        self.search = ToolSearch(tables, tool_set, ranker)
        self._official = official
        self._replay = replay

    def open(self, task: Task, seed: int) -> SimulatorSession:
        """A fresh session for a task."""
        pinned: Any = task.meta.get("pinned", ())
        history: Any = task.meta.get("history", ()) if self._replay else ()
        return SimulatorSession(self.tool_set, self.open_world(seed, task.initial_state, tuple(pinned), history))

    def open_world(
        self,
        seed: int = 0,
        initial_state: dict[str, Any] | None = None,
        pinned: tuple[str, ...] = (),
        history: Sequence[dict[str, Any]] = (),
    ) -> World:
        """A fresh world in which the calls of ``history`` were made, for calls in the official manner
        (``manager.call_tool``)."""
        base = {**self.tables.base, **in_own_shape(initial_state)} if initial_state else self.tables.base
        world = World(base, seed, official=self._official, search=self._searched, pinned=pinned)
        for call in history:
            self._run_again(world, call["name"], call["arguments"])
        return world

    def finds(self, keywords: str) -> tuple[str, ...]:
        """Names of the tools that the tool search gives for keywords."""
        try:
            found = self._searched(keywords)
        except ToolFailure:
            return ()
        return tuple(document["name"] for document in (found if isinstance(found, list) else [found]))

    def _searched(self, keywords: str) -> Any:
        if self._official:
            return self.search.answer(self.search.best(keywords))
        # The recorded keywords of level 3 are class names. The official evaluation takes them apart before
        # it calls the manager (``official.judge_call`` does so, too); for a policy the tool does it, and
        # whoever writes a tool's very name gets that tool.
        words = split_capitals(keywords) if self.tool_set == "lv3_apis" else keywords
        name = self.search.named(keywords) or self.search.best(words)
        if name is None:
            raise ToolFailure("No tool was found; try other keywords.")
        return self.search.answer(name)

    def _run_again(self, world: World, name: str, arguments: dict[str, Any]) -> None:
        tool = TOOL_SETS[self.tool_set].get(name)
        if tool is None or name == "ToolSearcher" or not tool.takes(arguments):
            return
        try:
            tool.run(world, **copy_json(arguments))
        except (ToolFailure, ToolCrash):
            return  # it failed when it was recorded, too
