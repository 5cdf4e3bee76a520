"""Adds tools that look like those there are, at drawn places, and that cannot do what is asked.

The more words of name and description a tool shares with the right ones, the rather it is taken. One that has the
name or the parameters of a right tool is not, nor one that could do its work (``look_alikes.could_do``), nor one
that is there already. Where it is not known which tools are right (the task has none to begin with, or leaves
open which call is made), any look-alike might be one, and the task is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from callgym.envs.perturbations.look_alikes import could_do, likeness
from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation
from callgym.envs.perturbations.renaming import Renaming
from callgym.envs.perturbations.task_parts import (
    SEARCHES,
    embeds_documents,
    every_tool,
    has_several_parts,
    right_names,
    right_tools,
)
from callgym.envs.perturbations.tool_pool import ToolPool, catalogue, dressed
from callgym.errors import ConfigurationError
from callgym.goal import AnswerGoal, DecisionGoal
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["Distractors"]

_CHOICE = 2
"""How many times the count of tools the drawn ones are among, the likest first."""
_POOLS = ("tasks", "catalogue")


@dataclass(frozen=True)
class Distractors(Perturbation):
    """Adds look-alike tools; see the module."""

    name: ClassVar[str] = "distractors"

    count: int = 3
    """How many; fewer where there are no more that fit."""
    pool: str = "tasks"
    """``"tasks"``: those of the environment's own tasks, where they were given (``from_tasks``), before those of
    ``"catalogue"``: the functions of BFCL's starter tasks."""
    own: ToolPool | None = field(default=None, compare=False, repr=False, metadata={"option": False})
    """The tools of the environment's tasks."""

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            raise ConfigurationError(f"distractors: count is a whole number of at least 1, got {self.count!r}")
        if self.pool not in _POOLS:
            raise ConfigurationError(f"distractors: pool is one of {', '.join(map(repr, _POOLS))}, got {self.pool!r}")

    @classmethod
    def from_tasks(cls, tasks: Sequence[Task], **options: Any) -> Distractors:
        """Distractors from the tools of tasks, which are gathered when the first one is drawn.

        Args:
            tasks: The tasks.
            **options: The fields.
        """
        return cls(**options, own=ToolPool.of_tasks(tasks))

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        if embeds_documents(task):
            raise LeftAlone("the benchmark's own words hold the tools' documents")
        right = _known_right(task)
        renaming = Renaming.of(task)
        there = {renaming.original_name(name) for name in every_tool(task)}
        fitting = [tool for tool in self._offered(task, renaming) if _is_wrong(tool, right, there)]
        ranked = sorted(fitting, key=lambda tool: -max(likeness(tool, one) for one in right))
        near = ranked[: _CHOICE * self.count]
        if not near:
            raise LeftAlone("there is no tool that looks alike and could not do the work")
        drawn = [near[place] for place in rng.permutation(len(near))[: self.count].tolist()]
        return Changed(*_inserted(task, drawn, renaming, rng))

    def _offered(self, task: Task, renaming: Renaming) -> list[Tool]:
        """Candidates, the environment's own first; those of the catalogue only where they are too few."""
        own = list(self.own.tools) if self.own is not None and self.pool == "tasks" else []
        own = [tool for tool in own if tool.name not in SEARCHES]
        if len(own) > _CHOICE * self.count + len(task.tools):
            return own
        language, live = str(task.meta.get("language", "python")), str(task.meta.get("category")).startswith("live_")
        among = [renaming.original_tool_of(tool) for tool in task.tools]
        return [*own, *(dressed(tool, among) for tool in catalogue(language, live).tools)]


def _known_right(task: Task) -> tuple[Tool, ...]:
    """The tools that must not be added again.

    Raises:
        LeftAlone: They are not known.
    """
    asked = task.goal_of(DecisionGoal)
    if asked is not None and asked.decision == "call" and "reference" in task.meta:
        raise LeftAlone("any fitting call is right, and a look-alike's might be")
    if has_several_parts(task) or set(right_names(task)) & set(SEARCHES):
        raise LeftAlone("other tools than the one that is called now are wanted, too, and a look-alike's might be")
    right = right_tools(task)
    if not right and task.goal_of(AnswerGoal) is not None:
        right = task.tools
    if not right:
        raise LeftAlone("it is not known which tools are right, so that any other might be")
    return right


def _is_wrong(tool: Tool, right: Sequence[Tool], there: set[str]) -> bool:
    return tool.name not in there and not any(could_do(tool, one) for one in right)


def _inserted(
    task: Task, drawn: Sequence[Tool], renaming: Renaming, rng: np.random.Generator
) -> tuple[Task, dict[str, Any]]:
    """The task with the tools among its own, at drawn places and under new names where the others have such."""
    meta = dict(task.meta)
    if "renamed" in meta:
        for tool in drawn:
            renaming = renaming.extended(tool.name, tuple(tool.properties), (), renaming.tools)
        meta["renamed"] = renaming.as_meta()
        drawn = [renaming.tool(tool) for tool in drawn]
    tools = list(task.tools)
    for tool in drawn:
        tools.insert(int(rng.integers(len(tools) + 1)), tool)
    names = [tool.name for tool in drawn]
    documented = None if task.documented is None else (*task.documented, *names)
    changed = task.model_copy(update={"tools": tuple(tools), "documented": documented, "meta": meta})
    return changed, {"added": names}
