"""What a server offers: a backend, the tasks that sessions are opened for, and their tools.

An environment's own tools are one offer, tools without tasks another::

    offer = Offer.of_env("apibank/L1-v0", data="starter")
    offer = Offer.of_tools(PythonBackend({"add": add}), [ADD])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium as gym

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.goal import AnswerGoal
from callgym.message import Message
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import ToolBackend

__all__ = ["Offer", "ToolsFound"]

ToolsFound = Callable[[ToolCall, ToolResult], Sequence[Tool]]
"""The tools that a call brought about: what a search found can be called from then on (``ToolEnv.tools_found``)."""

_MAX_SCHEMAS = 65_536


@dataclass(frozen=True)
class Offer:
    """What sessions are opened for, and what answers them."""

    name: str
    """What the server calls itself: the environment's id."""
    backend: ToolBackend
    """Opens the sessions."""
    tasks: Sequence[Task]
    """What they are opened for."""
    tools_found: ToolsFound | None = None
    """Where tools can be found during a session."""
    _schemas: dict[int, ToolSchema] = field(default_factory=dict, repr=False)

    @classmethod
    def of_env(cls, id: str, **options: Any) -> Offer:
        """The tools of an environment's tasks, answered by its backend.

        Args:
            id: A registered id.
            **options: Arguments of ``gym.make``.

        Raises:
            ConfigurationError: The environment has no tools.
        """
        env: Any = gym.make(id, disable_env_checker=True, **options).unwrapped
        backend = getattr(env, "backend", None) or getattr(env, "_backend", None)
        if backend is None or not hasattr(env, "tasks"):
            raise ConfigurationError(f"{id} is no tool environment; its class is {type(env).__name__}")
        return cls(id, backend, env.tasks, env.tools_found)

    @classmethod
    def of_tools(cls, backend: ToolBackend, tools: Sequence[Tool], name: str = "tools") -> Offer:
        """Tools without tasks: every session is for the one task there is, which has the name of the offer."""
        if not tools:
            raise ConfigurationError("a server offers at least one tool, got none")
        task = Task(
            id=name,
            family=name,
            split="served",
            messages=(Message(role="user", content=f"The tools of {name}."),),
            tools=tuple(tools),
            goal=AnswerGoal(accepted=("",)),
        )
        return cls(name, backend, (task,))

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ConfigurationError("a server offers at least one task, got none")

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {task.id: index for index, task in enumerate(self.tasks)}

    def task(self, wanted: Any) -> Task | None:
        """A task by id or index; the only one there is for None. None where there is no such task."""
        if wanted is None:
            return self.tasks[0] if len(self.tasks) == 1 else None
        index = self._index_of.get(wanted) if isinstance(wanted, str) else wanted
        if type(index) is int and 0 <= index < len(self.tasks):
            return self.tasks[index]
        return None

    def shown(self, task: Task) -> list[Tool]:
        """The tools that a session is told of when it begins."""
        hidden: Any = task.meta.get("hidden_tools", ())
        return [tool for tool in task.tools if tool.name not in hidden]

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """All tools of all tasks by name; of several with one name the first."""
        found: dict[str, Tool] = {}
        for task in self.tasks:
            for tool in self.shown(task):
                found.setdefault(tool.name, tool)
            for turn in task.user_turns:
                for tool in turn.add_tools:
                    found.setdefault(tool.name, tool)
        return found

    def schemas(self, task: Task) -> dict[str, ToolSchema]:
        """Name to schema of the tools that can be called in a session: those of later user turns, too.

        When a tool comes or goes in a dialogue is the client's business, which knows how far its dialogue is.
        """
        later = [tool for turn in task.user_turns for tool in turn.add_tools]
        return {tool.name: self.schema(tool) for tool in (*task.tools, *later)}

    def schema(self, tool: Tool) -> ToolSchema:
        """The compiled schema of a tool, compiled once; it holds the tool, so the tool's id stays its own."""
        schema = self._schemas.get(id(tool))
        if schema is None:
            if len(self._schemas) >= _MAX_SCHEMAS:
                self._schemas.clear()
            schema = self._schemas[id(tool)] = ToolSchema(tool)
        return schema

    def found(self, call: ToolCall, result: ToolResult) -> list[ToolSchema]:
        """The tools that a call brought about."""
        if self.tools_found is None or result.error is not None:
            return []
        return [self.schema(tool) for tool in self.tools_found(call, result)]
