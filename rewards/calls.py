"""Call exact match and argument F1: did the policy make the calls that were asked for?

Both pair predicted with gold calls by optimal assignment within each user turn, so neither the order
of unordered calls nor a near miss beside a hit matters. A call without a partner, an unreadable one
and a repetition of a tool that is asked for once never raise a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from callgym.episode import Episode, Score, Step
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards.matching import CallMatch, match_calls
from callgym.task import Task

__all__ = ["argument_f1", "call_exact_match"]

_NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})


def call_exact_match(task: Task, episode: Episode) -> Score:
    """1 where every turn's calls are exactly the gold calls, else 0.

    Names and all arguments must be right (an accepted variant is right), with nothing missing, extra
    or unreadable. Optional arguments may be left out.
    """
    turns = _match_turns(task, episode)
    if turns is None:
        return _NOT_ASKED
    exact = all(turn.reached and turn.match.exact for turn in turns)
    return Score.trusted(value=float(exact), applies=True, explanation=_explanation(turns))


def argument_f1(task: Task, episode: Episode) -> Score:
    """Strict argument F1, averaged over calls and then over turns.

    A matched pair earns the F1 of its arguments (a wrong value earns nothing, for the name alone there
    is no credit). A turn earns ``2 * sum of pair F1 / (gold calls + predicted calls)``, which is 1 only
    if all is right and sinks with every missing, extra or unreadable call. A turn without gold calls
    earns 1 where it was reached and none was made.
    """
    turns = _match_turns(task, episode)
    if turns is None:
        return _NOT_ASKED
    value = sum([turn.match.f1 if turn.match.calls else float(turn.reached) for turn in turns]) / len(turns)
    return Score.trusted(value=value, applies=True, explanation=_explanation(turns))


def _explanation(turns: Sequence[_Turn]) -> dict[str, Any]:
    return {"turns": [turn.explanation for turn in turns]}


class _Turn(NamedTuple):
    """One user turn: gold calls held against those made."""

    match: CallMatch
    reached: bool
    explanation: dict[str, Any]


# Exact match and F1 look at the same episode one after the other: the last pairing is kept, with what it
# is the pairing of.
_last: tuple[Task, Episode, list[_Turn]] | None = None


def _match_turns(task: Task, episode: Episode) -> list[_Turn] | None:
    global _last
    last = _last
    if last is not None and last[0] is task and last[1] is episode:
        return last[2]
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return None
    steps = episode.steps
    if len(steps) == len(goal.turns) == 1 and steps[0].turn == 0:
        turns = [_match_turn(goal.turns[0], steps, goal.ordered)]
        _last = (task, episode, turns)
        return turns
    # A turn that the goal does not list asks for no calls; it counts where some were made.
    beyond = {step.turn for step in steps if step.turn >= len(goal.turns) and (step.calls or step.errors)}
    turns = [_match_turn(gold, [s for s in steps if s.turn == n], goal.ordered) for n, gold in enumerate(goal.turns)]
    turns += [_match_turn((), [s for s in steps if s.turn == n], goal.ordered) for n in sorted(beyond)]
    _last = (task, episode, turns)
    return turns


def _match_turn(gold: Sequence[GoldCall], steps: Sequence[Step], ordered: bool) -> _Turn:
    calls = steps[0].calls if len(steps) == 1 else [call for step in steps for call in step.calls]
    unreadable = sum(len(step.errors) for step in steps)
    match = match_calls(gold, calls, unreadable, ordered)
    reached = bool(steps)
    explanation = match.explanation(gold, calls)
    explanation["reached"] = reached
    return _Turn(match, reached, explanation)
