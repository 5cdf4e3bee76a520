"""Irrelevance abstention: where no tool fits, the right thing is to say so and call nothing."""

from __future__ import annotations

from callgym.episode import Episode, Score
from callgym.goal import DecisionGoal
from callgym.task import Task

__all__ = ["irrelevance_abstention"]


NOT_ASKED = Score(applies=False, explanation={"reason": "the task is not one to be declined"})


def irrelevance_abstention(task: Task, episode: Episode) -> Score:
    """1 where the task is to be declined and the policy replied in words without any call.

    Three outcomes, only the first is paid: abstained; attempted a call that could not be read (a broken
    call is no abstention); called. Silence is no reply: an empty action earns 0. A call with an apology
    is a call; only the goal's free tools (a tool search) may be called first. The score does not apply
    where the task does not ask for a decline.
    """
    goal = task.goal_of(DecisionGoal)
    if goal is None or goal.decision != "decline":
        return NOT_ASKED
    calls = sum(call.name not in goal.free for step in episode.steps for call in step.calls)
    attempts = sum(len(step.errors) for step in episode.steps)
    # Words beside a call are not the reply.
    replied = any(step.content.strip() and not step.calls for step in episode.steps)
    if calls:
        outcome = "called"
    elif attempts:
        outcome = "attempted"
    elif not replied:
        outcome = "silent"
    else:
        outcome = "abstained"
    return Score(value=float(outcome == "abstained"), explanation={"outcome": outcome, "calls": calls})
