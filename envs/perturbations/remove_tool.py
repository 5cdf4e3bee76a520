"""Takes the right tools away: what is left cannot do what is asked, and declining is right.

Which tools go: those of the goal's calls, and their twins (``look_alikes.are_twins``). Free tools, a tool search, stay;
what could do the work and would be found by it is withheld (``disguise``).

- A dialogue is cut off after the first turn that needs a call: that turn is declined, and no later one can depend
  on it. Where earlier turns have calls of their own, as in BFCL's dialogues, they stay as they are.
- In BFCL's dialogues whole classes go, of one turn, that no earlier turn uses: within a class a call can often be
  made up of others.
- Where an answer is asked for, every tool that reads goes, if the answer cannot be known otherwise: the memory's, the
  web's in the made-up world of the starter tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from callgym.envs.perturbations.decision import decided
from callgym.envs.perturbations.found_tools import without_found
from callgym.envs.perturbations.look_alikes import are_twins
from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation
from callgym.envs.perturbations.renaming import Renaming
from callgym.envs.perturbations.task_parts import (
    SEARCHES,
    answer_is_shown,
    called_before,
    embeds_documents,
    every_tool,
    first_asked_turn,
    has_several_parts,
    right_tools,
)
from callgym.envs.perturbations.toolboxes import toolboxes
from callgym.envs.perturbations.words import listed, words_in
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["RemoveTool"]

_REPLIES = (
    "Sorry, none of my tools can do that.",
    "I am sorry, but I have no tool for this.",
    "I am afraid that I cannot do this with the tools I have.",
    "Unfortunately, I am not able to do that: no tool of mine fits.",
)
_UNKNOWN = "Sorry, I cannot look that up: none of my tools can read it."
_READING = frozenset(listed("fetch find get list load query read retrieve search view"))


@dataclass(frozen=True)
class RemoveTool(Perturbation):
    """Takes the right tools away; see the module."""

    name: ClassVar[str] = "remove_tool"

    worded: bool = False
    """Whether the reply has to decline in so many words. Where it need not, any reply without a call declines."""

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        if embeds_documents(task):
            raise LeftAlone("the benchmark's own words hold the tools' documents")
        goal = task.goal_of(CallsGoal)
        if goal is not None and len(goal.turns) > 1 and goal.exemplary:
            return self._without_toolbox(task, goal, rng)
        if goal is not None:
            return self._without_called(task, goal, rng)
        if task.goal_of(AnswerGoal) is not None:
            return self._without_reading(task)
        asked = task.goal_of(DecisionGoal)
        if asked is not None and asked.decision == "ask" and right_tools(task):
            return self._declined(task, right_tools(task), 0, asked.free, rng)
        raise LeftAlone("no tool is known to be the right one")

    def _without_called(self, task: Task, goal: CallsGoal, rng: np.random.Generator) -> Changed:
        if has_several_parts(task):
            raise LeftAlone("the call serves a part of the request; other parts could still be done")
        turn = first_asked_turn(goal)
        names = {call.name for call in goal.turns[turn]} - set(goal.free)
        if not names:
            raise LeftAlone("no call is asked for")
        if names & set(SEARCHES):
            raise LeftAlone("what is asked for is a search for a tool")
        right = [tool for tool in right_tools(task) if tool.name in names]
        return self._declined(task, right, turn, goal.free, rng)

    def _declined(
        self, task: Task, right: Sequence[Tool], turn: int, free: tuple[str, ...], rng: np.random.Generator
    ) -> Changed:
        offered = every_tool(task)
        names = {tool.name for tool in right} | {
            name for name, tool in offered.items() if name not in free and any(are_twins(tool, one) for one in right)
        }
        if names & set(called_before(task)):
            raise LeftAlone("the tool was called earlier in the conversation")
        removed = sorted(names)
        task = without_found(task, names)
        # In a dialogue a search may still find what is not among the task's tools.
        to_be_found = [tool for tool in right if tool.name not in offered]
        reply = str(_REPLIES[int(rng.integers(len(_REPLIES)))])
        changed = decided(
            task,
            DecisionGoal(decision="decline", reply=reply, free=free, worded=self.worded),
            _kept(task.tools, names),
            turn,
        )
        if to_be_found:
            changed = _withheld(changed, to_be_found)
        turns = tuple(
            user.model_copy(update={"add_tools": _kept(user.add_tools, names)}) for user in changed.user_turns
        )
        return Changed(changed.model_copy(update={"user_turns": turns}), {"removed": removed})

    def _without_reading(self, task: Task) -> Changed:
        if answer_is_shown(task):
            raise LeftAlone("the answer stands in the conversation")
        if not is_of_its_own_world(task):
            raise LeftAlone("the answer may be known without a tool")
        renaming = Renaming.of(task)
        names = {tool.name for tool in task.tools if _reads(renaming.original_name(tool.name))}
        if not names:
            raise LeftAlone("no tool is known to be the right one")
        goal = DecisionGoal(decision="decline", reply=_UNKNOWN, worded=self.worded)
        changed = decided(task, goal, _kept(task.tools, names))
        return Changed(changed, {"removed": sorted(names)})

    def _without_toolbox(self, task: Task, goal: CallsGoal, rng: np.random.Generator) -> Changed:
        boxes = toolboxes(task)
        fitting = [turn for turn in range(len(goal.turns)) if _falls_off(task, goal, boxes, turn)]
        if not fitting:
            raise LeftAlone("every turn uses a class that an earlier turn uses, too")
        turn = fitting[int(rng.integers(len(fitting)))]
        gone = {boxes[call.name] for call in goal.turns[turn]}
        names = {name for name in every_tool(task) if boxes.get(name) in gone}
        reply = str(_REPLIES[int(rng.integers(len(_REPLIES)))])
        if turn == 0:
            decline = DecisionGoal(decision="decline", reply=reply, worded=self.worded)
            changed = decided(task, decline, _kept(task.tools, names))
        else:
            changed = _shortened(task, goal, turn, names, gone)
        return Changed(changed, {"removed": sorted(names), "turn": turn})


def _withheld(task: Task, tools: Sequence[Tool]) -> Task:
    """The task whose search does not find these tools, which ``meta`` has under the names that the backend knows."""
    renaming = Renaming.of(task)
    earlier: Any = task.meta.get("withheld_tools", [])
    kept = [*earlier, *(renaming.original_tool(tool).to_dict() for tool in tools)]
    return task.model_copy(update={"meta": {**task.meta, "withheld_tools": kept}})


def is_of_its_own_world(task: Task) -> bool:
    """Whether nobody can know the answer who cannot look it up: a person's memory, or a made-up encyclopedia."""
    return "store" in task.meta or "corpus" in task.meta


def _reads(name: str) -> bool:
    return not _READING.isdisjoint(words_in(name))


def _falls_off(task: Task, goal: CallsGoal, boxes: Mapping[str, str], turn: int) -> bool:
    """Whether the dialogue can end with this turn, undone: its classes are its own, and the turn stands for itself."""
    if not goal.turns[turn]:
        return False
    used = {boxes.get(call.name) for call in goal.turns[turn]}
    earlier = {boxes.get(call.name) for calls in goal.turns[:turn] for call in calls}
    if None in used or used & earlier:
        return False
    # A turn that completes the one before it, with a value or with a function, says nothing by itself.
    return turn == 0 or (bool(goal.turns[turn - 1]) and not task.user_turns[turn - 1].add_tools)


def _shortened(task: Task, goal: CallsGoal, turn: int, names: set[str], classes: set[str]) -> Task:
    """The dialogue up to ``turn``, in which nothing is to be called any more."""
    meta: dict[str, Any] = dict(task.meta)
    meta["gold"] = [*meta["gold"][:turn], []]
    meta["involved_classes"] = [name for name in meta["involved_classes"] if name not in classes]
    return task.model_copy(
        update={
            "tools": _kept(task.tools, names),
            "user_turns": tuple(
                user.model_copy(update={"add_tools": _kept(user.add_tools, names)}) for user in task.user_turns[:turn]
            ),
            "goal": goal.model_copy(update={"turns": (*goal.turns[:turn], ())}),
            "meta": meta,
        }
    )


def _kept(tools: Sequence[Tool], names: Set[str]) -> tuple[Tool, ...]:
    return tuple(tool for tool in tools if tool.name not in names)
