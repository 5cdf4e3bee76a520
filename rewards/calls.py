"""Call exact match and argument F1: did the policy make the calls that were asked for?

Both pair predicted with gold calls by optimal assignment within each user turn, so neither the order
of unordered calls nor a near miss beside a hit matters. A call that answers nothing, an unreadable one
and a copy of a call never raise a score, unless the gold asks for that very call again or (where order
counts) asks for it there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from callgym.episode import Episode, Score
from callgym.goal import CallsGoal
from callgym.rewards.matching import match_calls
from callgym.rewards.turns import AskedTurn, asked_turns
from callgym.task import Task

__all__ = ["argument_f1", "call_exact_match"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})


def call_exact_match(task: Task, episode: Episode) -> Score:
    """1 where every turn's calls are exactly the gold calls, else 0.

    Names and all arguments must be right (an accepted variant is right), with nothing missing, extra
    or unreadable. Optional arguments may be left out.
    """
    verdict = _judge(task, episode)
    if verdict is None:
        return NOT_ASKED
    return Score.trusted(value=float(verdict.exact), applies=True, explanation=verdict.explanation)


def argument_f1(task: Task, episode: Episode) -> Score:
    """Strict argument F1, averaged over calls and then over turns.

    A matched pair earns the F1 of its arguments (a wrong value earns nothing, for the name alone there
    is no credit). A turn earns ``2 * sum of pair F1 / (gold calls + predicted calls)``, which is 1 only
    if all is right and sinks with every missing, extra or unreadable call. A turn without gold calls
    earns 1 where it was reached and none was made.

    A copy of a call has a partner only where the gold asks for that very call again. Therefore an argument
    put right never lowers the score, but for one case: where that makes the call a copy of another one.
    """
    verdict = _judge(task, episode)
    if verdict is None:
        return NOT_ASKED
    return Score.trusted(value=verdict.f1, applies=True, explanation=verdict.explanation)


class _Verdict(NamedTuple):
    """Gold calls held against those made: of one turn, or of all."""

    exact: bool
    f1: float
    explanation: dict[str, Any]


# Exact match and F1 look at the same episode one after the other: the last verdict is kept, with what it
# is the verdict on.
_last: tuple[Task, Episode, _Verdict] | None = None


def _judge(task: Task, episode: Episode) -> _Verdict | None:
    global _last
    last = _last
    if last is not None and last[0] is task and last[1] is episode:
        return last[2]
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return None
    turns = [_judge_turn(turn, goal.ordered) for turn in asked_turns(goal, episode.steps)]
    exact, f1, explanations = True, 0.0, []
    for turn in turns:
        exact = exact and turn.exact
        f1 += turn.f1
        explanations.append(turn.explanation)
    verdict = _Verdict(exact, f1 / len(turns), {"turns": explanations})
    _last = (task, episode, verdict)
    return verdict


def _judge_turn(turn: AskedTurn, ordered: bool) -> _Verdict:
    match = match_calls(turn.gold, turn.calls, turn.unreadable, ordered)
    explanation = match.explanation(turn.gold, turn.calls)
    reached = explanation["reached"] = turn.reached
    return _Verdict(reached and match.exact, match.f1 if match.calls else float(reached), explanation)
