"""A task that asked for calls as one that asks for a decision: goal, turns, and what its benchmark says beside them.

What the benchmark's own rewards and oracles read is put right, too, so that nothing speaks of the calls any more:
BFCL's task becomes one of irrelevance, of which one action is asked, API-Bank's loses its recorded results and gets
the reply among its replies, When2Call's has another label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callgym.envs.perturbations.perturbation import LeftAlone
from callgym.envs.perturbations.task_parts import right_tools
from callgym.goal import DecisionGoal
from callgym.rewards.reply_kind import reply_kind
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["decided"]

_FAULTS = ("official_gold", "gold_fault", "label_fault")
"""What is wrong with the label that the task no longer has."""
_CALLS = ("gold", "gold_calls", "gold_results", "recorded_results", "reference", "in_memory")
_WHEN2CALL_ANSWERS = {"ask": "request_for_info", "decline": "cannot_answer"}


def decided(task: Task, goal: DecisionGoal, tools: Sequence[Tool], turn: int = 0) -> Task:
    """The task with ``goal`` in place of its own.

    Args:
        task: The task.
        goal: The decision. Where the task's own goal reads replies by their words, this one does, too.
        tools: The tools that there are.
        turn: The user turn that asks for it; what comes after it is cut off.

    Raises:
        LeftAlone: The benchmark has no such tasks.
    """
    own = task.goal_of(DecisionGoal)
    if own is not None and own.worded:
        goal = goal.model_copy(update={"worded": True})
    right = [tool.to_dict() for tool in right_tools(task)]
    meta: dict[str, Any] = {key: value for key, value in task.meta.items() if key not in (*_FAULTS, *_CALLS)}
    rewrite = {"bfcl": _rewrite_bfcl, "apibank": _rewrite_apibank, "when2call": _rewrite_when2call}.get(task.family)
    if rewrite is not None:
        goal = rewrite(meta, goal, turn)
    if right:
        meta["right_tools"] = right
    shown = {tool.name for tool in tools}
    documented = None if task.documented is None else tuple(name for name in task.documented if name in shown)
    if "hidden_tools" in meta:
        meta["hidden_tools"] = [name for name in meta["hidden_tools"] if name in shown]
    return task.model_copy(
        update={
            "tools": tuple(tools),
            "documented": documented,
            "user_turns": task.user_turns[:turn],
            "goal": goal,
            "meta": meta,
        }
    )


def _rewrite_bfcl(meta: dict[str, Any], goal: DecisionGoal, turn: int) -> DecisionGoal:
    if turn:
        raise LeftAlone("a task of bfcl without any call has one turn, and this one speaks of it later")
    category = str(meta["category"])
    irrelevance = "live_irrelevance" if category.startswith("live_") else "irrelevance"
    meta["original_category" if category == "format_sensitivity" else "category"] = irrelevance
    return goal


def _rewrite_apibank(meta: dict[str, Any], goal: DecisionGoal, turn: int) -> DecisionGoal:
    if "replies" in meta:
        meta["replies"] = [*meta["replies"][:turn], goal.reply]
    return goal


def _rewrite_when2call(meta: dict[str, Any], goal: DecisionGoal, turn: int) -> DecisionGoal:
    meta["decision"] = goal.decision
    answers = dict(meta.get("answers") or {})
    kind = _WHEN2CALL_ANSWERS[goal.decision]
    meta.pop("held_out_param", None)
    if goal.decision == "ask":
        answers[kind] = goal.reply
        meta["held_out_param"] = goal.missing[0]
    elif answers.get(kind) and reply_kind(answers[kind]).kinds == (goal.decision,):
        goal = goal.model_copy(update={"reply": answers[kind]})
    if answers:
        meta["answers"] = answers
    return goal
