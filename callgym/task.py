"""A task: what the policy is shown, which tools it has, and what makes the episode right."""

from __future__ import annotations

from typing import TypeVar

from pydantic import Field, model_validator

from callgym.goal import AllGoal, Goal
from callgym.message import Message
from callgym.noun import JsonObject, Noun
from callgym.tool import Tool

__all__ = ["Task", "UserTurn"]

G = TypeVar("G")


class UserTurn(Noun):
    """What a scripted user says next, and which tools come or go with it."""

    content: str
    """The user's words."""
    add_tools: tuple[Tool, ...] = ()
    """Tools that exist from this turn on."""
    remove_tools: tuple[str, ...] = ()
    """Names of tools that are gone from this turn on."""


class Task(Noun):
    """One item of a benchmark."""

    id: str = Field(min_length=1)
    """Stable, and unique in its environment."""
    family: str = Field(min_length=1)
    """The benchmark: ``apibank``."""
    split: str = Field(min_length=1)
    """The part of the data that the task belongs to."""
    messages: tuple[Message, ...] = Field(min_length=1)
    """What the policy is shown first."""
    tools: tuple[Tool, ...] = ()
    """The tools that can be called."""
    documented: tuple[str, ...] | None = None
    """Names of the tools whose documentation opens the prompt; None for all. Others were met
    in the conversation (as answers of a tool search) or must be known."""
    user_turns: tuple[UserTurn, ...] = ()
    """What a scripted user says after the first messages."""
    goal: Goal
    """What makes an episode right."""
    initial_state: JsonObject = {}
    """The state a backend session starts from."""
    meta: JsonObject = {}
    """Source file, licence, and anything official that does not fit."""

    @model_validator(mode="after")
    def _tool_names_are_unique(self) -> Task:
        names = [tool.name for tool in self.tools]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"tools {twice} appear more than once in task {self.id!r}")
        return self

    @property
    def prompt_tools(self) -> tuple[Tool, ...]:
        """The tools whose documentation opens the prompt, in order."""
        if self.documented is None:
            return self.tools
        return tuple(tool for tool in self.tools if tool.name in self.documented)

    def goal_of(self, kind: type[G]) -> G | None:
        """The task's goal of class ``kind``, alone or as a part of several; None where there is none."""
        goal = self.goal
        if isinstance(goal, kind):
            return goal
        if isinstance(goal, AllGoal):
            return next((part for part in goal.goals if isinstance(part, kind)), None)
        return None
