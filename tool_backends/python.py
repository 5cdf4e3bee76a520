"""Tools that are Python functions over a small world::

    def add_alarm(world: World, token: str, time: str) -> str:
        if token not in world.state["tokens"]:
            raise ToolFailure("The token is invalid.")
        world.state["alarms"].append(time)
        return "success"

    backend = PythonBackend({"AddAlarm": add_alarm})

Each session has its own copy of the task's initial state, taken when it is first looked at.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from callgym.call import ToolCall, ToolResult
from callgym.json_value import copy_json, copy_trusted
from callgym.task import Task

__all__ = ["PythonBackend", "PythonSession", "ToolFailure", "ToolFunction", "World"]


class ToolFailure(Exception):
    """A tool says that it cannot do what was asked; the text is shown to the policy."""


class World:
    """The state that the tools of one session share."""

    def __init__(self, initial_state: Mapping[str, Any], seed: int) -> None:
        self._initial_state = initial_state
        self._seed = seed

    @cached_property
    def state(self) -> dict[str, Any]:
        """The session's own state, JSON values; tools read and change it."""
        return copy.deepcopy(dict(self._initial_state))

    @cached_property
    def rng(self) -> np.random.Generator:
        """Everything random in the session, the same for the same seed."""
        return np.random.default_rng(self._seed)


ToolFunction = Callable[..., Any]
"""Takes the World and the call's arguments by name; returns a JSON value or raises ToolFailure."""


class PythonSession:
    """A World and the functions that work on it."""

    def __init__(self, functions: Mapping[str, ToolFunction], world: World) -> None:
        self._functions = functions
        self._world = world

    def call(self, call: ToolCall) -> ToolResult:
        """Run the function of that name; a ToolFailure becomes a ``tool_error``."""
        function = self._functions.get(call.name)
        if function is None:
            return ToolResult(error="unavailable", message=f"{call.name} cannot be run here")
        try:
            # A copy: a tool may keep an argument in its state and change it, and the call is on record.
            content = function(self._world, **copy_trusted(call.arguments))
        except ToolFailure as failure:
            return ToolResult(error="tool_error", message=str(failure))
        try:
            # A copy again: what a tool returns may be part of its state.
            return ToolResult.trusted(content=copy_json(content), error=None, message="")
        except (TypeError, ValueError) as error:
            raise TypeError(f"the tool {call.name} returned no JSON value: {error}") from error

    def state(self) -> dict[str, Any]:
        """A copy of the world's state."""
        return copy.deepcopy(self._world.state)

    def close(self) -> None:
        """Nothing to give back."""


class PythonBackend:
    """Opens a fresh World for every episode."""

    def __init__(self, functions: Mapping[str, ToolFunction]) -> None:
        self._functions = dict(functions)

    def open(self, task: Task, seed: int) -> PythonSession:
        """A session over a copy of ``task.initial_state``."""
        return PythonSession(self._functions, World(task.initial_state, seed))
