"""Plan accuracy: did the policy call where calls are asked for, answer where an answer is, decline where it should?

alpha-UMi's Plan ACC (X-PLUG/Multi-LLM-Agent f9eeef7) on an episode: what was called or said does not matter
here, only which of call, finish and give up was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from callgym.episode import Episode, Score, Step
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, TextGoal
from callgym.task import Task

__all__ = ["plan_accuracy"]

NOT_ASKED = Score(
    applies=False, explanation={"reason": "the task asks neither for calls, nor for words, nor to decline"}
)
_SHOWN = 16


def plan_accuracy(task: Task, episode: Episode) -> Score:
    """Share of the plans asked for that were followed; most goals ask for one.

    - calls: ``call``, turn by turn where the goal is by turns; a turn without gold calls asks for ``finish``;
    - an answer or a text: ``finish``, by the last action;
    - a decision: ``call``, ``give up`` for a decline, ``finish`` for an answer or a question.

    A call that cannot be read is a plan to call; a call of a free tool is none. Words without a call are a
    finish, or a give-up where one was asked for: only the words could tell these two apart. An action without
    either is ``silent``, which is never right. A goal of several parts asks for the plan of each.
    """
    goals = task.goal.goals if isinstance(task.goal, AllGoal) else (task.goal,)
    plans = [plan for goal in goals for plan in _plans(goal, episode.steps)]
    if not plans:
        return NOT_ASKED
    right = sum(asked == made for asked, made in plans)
    shown: list[JsonValue] = [{"asked": asked, "made": made} for asked, made in plans[:_SHOWN]]
    return Score(value=right / len(plans), explanation={"right": right, "of": len(plans), "plans": shown})


def _plans(goal: object, steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """(plan asked for, plan made) for each plan that the goal asks for."""
    if isinstance(goal, CallsGoal):
        if goal.scope == "episode":
            yield _plan("call" if any(goal.turns) else "finish", steps, goal.free)
            return
        for number, gold in enumerate(goal.turns):
            yield _plan("call" if gold else "finish", [step for step in steps if step.turn == number], goal.free)
    elif isinstance(goal, DecisionGoal):
        asked = {"call": "call", "decline": "give up"}.get(goal.decision, "finish")
        yield _plan(asked, steps, goal.free)
    elif isinstance(goal, (AnswerGoal, TextGoal)):
        yield _plan("finish", steps[-1:], ())


def _plan(asked: str, steps: Sequence[Step], free: Sequence[str]) -> tuple[str, str]:
    if any(step.errors or any(call.name not in free for call in step.calls) for step in steps):
        return asked, "call"
    # Words beside a call are not the reply.
    if any(step.content.strip() and not step.calls for step in steps):
        return asked, "give up" if asked == "give up" else "finish"
    return asked, "silent"
