"""Step rewards: what an episode earns while it runs.

Each is a share of a total of 1. Progress is paid as a difference: what a step brings it earns, what it
spoils it gives back, so that shares sum to the progress at the end and a detour collects nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from callgym.episode import Step
from callgym.goal import CallsGoal
from callgym.rewards.matching import match_calls
from callgym.rewards.turns import gold_calls, made_calls
from callgym.task import Task

__all__ = ["call_progress", "tool_execution", "turn_progress"]


def turn_progress(task: Task, steps: Sequence[Step], index: int) -> float:
    """Share of the user turns with gold calls whose calls are exactly right, as step ``index`` changes it.

    EnvTuning's progress reward is the mean over user turns of 1 where the turn passes and 0 else (AWorld-RL; a
    turn passes there by BFCL's state and response checks, here by its calls).
    """
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return 0.0
    asked = [turn for turn, gold in enumerate(goal.turns) if gold]
    turn = steps[index].turn
    if not asked or turn not in asked:
        return 0.0
    return (_passes(goal, turn, steps[: index + 1]) - _passes(goal, turn, steps[:index])) / len(asked)


def _passes(goal: CallsGoal, turn: int, steps: Sequence[Step]) -> int:
    own = [step for step in steps if step.turn == turn]
    unreadable = sum(len(step.errors) for step in own)
    return int(match_calls(goal.turns[turn], made_calls(goal, own), unreadable, goal.ordered).exact)


def call_progress(task: Task, steps: Sequence[Step], index: int) -> float:
    """Share of exactly right calls among gold or made calls, whichever are more, as step ``index`` changes it."""
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return 0.0
    return _right(goal, steps[: index + 1]) - _right(goal, steps[:index])


def _right(goal: CallsGoal, steps: Sequence[Step]) -> float:
    unreadable = sum(len(step.errors) for step in steps)
    match = match_calls(gold_calls(goal), made_calls(goal, steps), unreadable, goal.ordered)
    most = max(match.gold, match.predicted)
    return sum(pair.exact for _, _, pair in match.pairs) / most if most else 0.0


def tool_execution(task: Task, steps: Sequence[Step], index: int) -> float:
    """Share of the gold tools that ran without complaint in step ``index`` for the first time.

    After the turn-level reward for a successful tool call of Zeng et al., Reinforcing Multi-Turn Reasoning in
    LLM Agents via Turn-Level Reward Design, arXiv 2505.11821; each tool that is asked for pays once.
    """
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return 0.0
    asked = {call.name for call in gold_calls(goal)}
    before = set().union(*(_ran(step) for step in steps[:index])) if index else set()
    return len((_ran(steps[index]) & asked) - before) / len(asked) if asked else 0.0


def _ran(step: Step) -> set[str]:
    return {call.name for call, result in zip(step.calls, step.results, strict=False) if result.error is None}
