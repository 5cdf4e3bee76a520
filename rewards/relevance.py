"""Relevance: where some tool fits, and which call is the best one is left open, a call is to be made."""

from __future__ import annotations

from callgym.episode import Episode, Score
from callgym.goal import DecisionGoal
from callgym.task import Task

__all__ = ["relevant_call"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task does not leave open which call is made"})
_MOST_CALLS = 4
"""More calls than this are no answer to one request but a try of everything."""


def relevant_call(task: Task, episode: Episode) -> Score:
    """Share of the calls that ran: the tool exists, its arguments are valid and it did not complain.

    0 without a call. Unreadable attempts count as calls that did not run, and so does every call beyond the
    fourth and every copy of a call.
    """
    goal = task.goal_of(DecisionGoal)
    if goal is None or goal.decision != "call":
        return NOT_ASKED
    made, ran = 0, 0
    seen: list[object] = []
    for step in episode.steps:
        made += len(step.calls) + len(step.errors)
        for call, result in zip(step.calls, step.results, strict=False):
            key = (call.name, call.arguments)
            if result.error is None and key not in seen and len(seen) < _MOST_CALLS:
                ran += 1
                seen.append(key)
    return Score(value=ran / made if made else 0.0, explanation={"made": made, "ran": ran})
