"""When2Call's multiple choice, where the replies to choose from stand in the user's message: taken apart for a
perturbation, and offered anew after it, for its goal and some of its replies may be others then."""

from __future__ import annotations

import json
from typing import Any

from callgym.call import ToolCall
from callgym.goal import AllGoal, CallsGoal, DecisionGoal, Goal, GoldCall
from callgym.message import Message
from callgym.task import Task

__all__ = ["is_offered", "offered_again", "opened"]

_OFFER = ("choices", "letters", "open_messages")


def is_offered(task: Task) -> bool:
    """Whether replies are offered in the task."""
    return task.family == "when2call" and all(key in task.meta for key in _OFFER)


def opened(task: Task) -> Task:
    """The task in the open form: what is offered is gone, and the goal is the decision, with the call where one is due.

    The call is the one that was offered: of other values that would be right, too, the offer says nothing.
    """
    messages: Any = task.meta["open_messages"]
    meta = {key: value for key, value in task.meta.items() if key not in _OFFER}
    return task.model_copy(
        update={"messages": tuple(Message(**message) for message in messages), "goal": _open_goal(meta), "meta": meta}
    )


def _open_goal(meta: dict[str, Any]) -> Goal:
    from callgym.envs.when2call.tasks import DECISIONS

    decision, answers = meta["decision"], meta["answers"]
    if decision == "call":
        call = GoldCall.of(ToolCall(**json.loads(answers["tool_call"])))
        return AllGoal(goals=(DecisionGoal(decision="call", worded=True), CallsGoal(turns=((call,),))))
    reply = next(answers[kind] for kind, named in DECISIONS.items() if named == decision)
    missing = (meta["held_out_param"],) if "held_out_param" in meta else ()
    return DecisionGoal(decision=decision, reply=reply, missing=missing, worded=True)


def offered_again(task: Task, before: Task) -> Task:
    """The task with its replies offered as they were in the task that it was made from."""
    from callgym.envs.when2call.choices import FAMILIES, choices_of
    from callgym.envs.when2call.offer import offered_task

    answers: Any = before.meta["answers"]
    choices: Any = before.meta["choices"]
    family = next(family for family in FAMILIES if list(choices_of(answers, family)) == choices)
    return offered_task(task, family)
