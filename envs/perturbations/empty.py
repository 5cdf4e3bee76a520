"""Takes all tools away: whatever is asked for cannot be done, and declining is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from callgym.envs.perturbations.decision import decided
from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation
from callgym.envs.perturbations.remove_tool import is_of_its_own_world
from callgym.envs.perturbations.task_parts import (
    answer_is_shown,
    called_before,
    embeds_documents,
    first_asked_turn,
)
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal
from callgym.task import Task

__all__ = ["Empty"]

_REPLIES = (
    "Sorry, I have no tools here, so I cannot do that.",
    "I am afraid that I cannot do this: there is no tool at hand.",
    "Unfortunately, I am not able to do that without any tool.",
)


@dataclass(frozen=True)
class Empty(Perturbation):
    """Takes all tools away. A dialogue is cut off after the first turn that needs a call."""

    name: ClassVar[str] = "empty"

    worded: bool = False
    """As in ``remove_tool``."""

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        reply = _REPLIES[int(rng.integers(len(_REPLIES)))]
        if embeds_documents(task):
            raise LeftAlone("the benchmark's own words hold the tools' documents")
        if not task.tools and not any(turn.add_tools for turn in task.user_turns):
            raise LeftAlone("there are no tools")
        if any(called_before(task)):
            raise LeftAlone("tools were called earlier in the conversation")
        turn = self._turn(task)
        removed = [tool.name for tool in task.tools]
        goal = DecisionGoal(decision="decline", reply=reply, worded=self.worded)
        changed = decided(task, goal, (), turn)
        turns = tuple(user.model_copy(update={"add_tools": (), "remove_tools": ()}) for user in changed.user_turns)
        return Changed(changed.model_copy(update={"user_turns": turns}), {"removed": removed})

    def _turn(self, task: Task) -> int:
        """The turn that is declined."""
        calls = task.goal_of(CallsGoal)
        if calls is not None and any(calls.turns):
            # In BFCL's dialogues the first turn may lack a value or a function: without tools it is declined, too.
            return 0 if calls.exemplary else first_asked_turn(calls)
        asked = task.goal_of(DecisionGoal)
        if asked is not None and asked.decision != "answer":
            return len(task.user_turns)
        if task.goal_of(AnswerGoal) is None:
            raise LeftAlone("no tool is needed")
        if answer_is_shown(task):
            raise LeftAlone("the answer stands in the conversation")
        if not is_of_its_own_world(task):
            raise LeftAlone("the answer may be known without a tool")
        return 0
