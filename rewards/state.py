"""State reached: did the calls leave the world as the gold calls would have?"""

from __future__ import annotations

from pydantic import JsonValue

from callgym.episode import Episode, Score
from callgym.goal import StateGoal
from callgym.rewards.values import same_value
from callgym.task import Task

__all__ = ["state_reached"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no state"})
_SHOWN = 8


def state_reached(task: Task, episode: Episode) -> Score:
    """1 where the backend's state at the end equals the goal's, else 0.

    How it was reached does not matter: neither the order of calls nor a detour that was undone. A task
    whose gold calls change nothing has no such goal, so that doing nothing collects nothing. 0 where the episode
    was truncated: it was not over, and what was to come could have changed the state. None where the record holds no
    state.
    """
    goal = task.goal_of(StateGoal)
    if goal is None:
        return NOT_ASKED
    if episode.state is None:
        return Score(value=None, explanation={"reason": "the record holds no state"})
    names = sorted(goal.state.keys() | episode.state.keys())
    state = episode.state
    wrong: list[JsonValue] = [
        name
        for name in names
        if not (name in state and name in goal.state and same_value(goal.state[name], state[name]))
    ]
    explanation: dict[str, JsonValue] = {"differs": wrong[:_SHOWN]}
    if episode.ended == "truncated":
        return Score(value=0.0, explanation={**explanation, "truncated": True})
    return Score(value=float(not wrong), explanation=explanation)
