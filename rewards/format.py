"""Format validity: can the action be read, and do its calls fit their tools' schemas?"""

from __future__ import annotations

from functools import lru_cache

from pydantic import JsonValue

from callgym.episode import Episode, Score
from callgym.goal import CallsGoal
from callgym.task import Task

__all__ = ["format_validity"]

_INVALID = ("unknown_tool", "invalid_arguments")


@lru_cache(maxsize=64)
def _all_valid(attempted: int) -> Score:
    """The score of an episode without a fault, made once a number of attempts: this runs on every step."""
    return Score(value=1.0, explanation={"attempted": attempted, "valid": attempted, "faults": []})


def format_validity(task: Task, episode: Episode) -> Score:
    """Share of attempted calls that could be read, name a tool that exists, and fit its schema.

    A call that could be read only after a repair counts twice: as one that could not be read, and as what it became.
    Where calls are asked for and none was attempted the score is 0. Where none is asked for and none
    was attempted there is nothing to judge, and the score does not apply. Not in the default rubrics:
    a random valid call would collect it.
    """
    faults: list[JsonValue] = []
    attempted = 0
    for step in episode.steps:
        errors, results = step.errors, step.results
        attempted += len(results) + len(errors)
        if errors:
            faults += [error.message for error in errors]
        for result in results:
            if result.error in _INVALID:
                faults.append(result.message)
    if not attempted:
        if task.goal_of(CallsGoal) is None:
            return Score(applies=False, explanation={"reason": "no call was attempted and none is asked for"})
        return Score(value=0.0, explanation={"attempted": 0})
    if not faults:
        return _all_valid(attempted)
    valid = attempted - len(faults)
    explanation = {"attempted": attempted, "valid": valid, "faults": faults[:8]}
    return Score.trusted(value=valid / attempted, applies=True, explanation=explanation)
