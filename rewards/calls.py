"""Call exact match and argument F1: did the policy make the calls that were asked for?

Both pair predicted with gold calls by optimal assignment within each user turn, so neither the order
of unordered calls nor a near miss beside a hit matters. A call without a partner, an unreadable one
and a repetition of a tool that is asked for once never raise a score.
"""

from __future__ import annotations

from pydantic import JsonValue

from callgym.episode import Episode, Score
from callgym.goal import CallsGoal
from callgym.rewards.matching import CallMatch, match_calls
from callgym.task import Task

__all__ = ["argument_f1", "call_exact_match"]

_NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})


def call_exact_match(task: Task, episode: Episode) -> Score:
    """1 where every turn's calls are exactly the gold calls, else 0.

    Names and all arguments must be right (an accepted variant is right), with nothing missing, extra
    or unreadable. Optional arguments may be left out.
    """
    matches = _match_turns(task, episode)
    if matches is None:
        return _NOT_ASKED
    exact = all(
        match.gold == match.predicted == len(match.pairs)
        and all(pair[2].exact for pair in match.pairs)
        and turn["reached"]
        for match, turn in matches
    )
    return Score(value=float(exact), explanation={"turns": [explained for _, explained in matches]})


def argument_f1(task: Task, episode: Episode) -> Score:
    """Strict argument F1, averaged over calls and then over turns.

    A matched pair earns the F1 of its arguments (a wrong value earns nothing, for the name alone there
    is no credit). A turn earns ``2 * sum of pair F1 / (gold calls + predicted calls)``, which is 1 only
    if all is right and sinks with every missing, extra or unreadable call. A turn without gold calls
    earns 1 where it was reached and none was made.
    """
    matches = _match_turns(task, episode)
    if matches is None:
        return _NOT_ASKED
    values = []
    for match, turn in matches:
        total = match.gold + match.predicted
        values.append(2 * sum(pair[2].f1 for pair in match.pairs) / total if total else float(bool(turn["reached"])))
    value = sum(values) / len(values) if values else 0.0
    return Score(value=value, explanation={"turns": [explained for _, explained in matches]})


def _match_turns(task: Task, episode: Episode) -> list[tuple[CallMatch, dict[str, JsonValue]]] | None:
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return None
    matches = []
    # A turn that the goal does not list asks for no calls; it counts where some were made.
    beyond = [step.turn for step in episode.steps if step.turn >= len(goal.turns) and (step.calls or step.errors)]
    turns = [*enumerate(goal.turns), *((turn, ()) for turn in sorted(set(beyond)))]
    for turn, gold in turns:
        steps = [step for step in episode.steps if step.turn == turn]
        calls = [call for step in steps for call in step.calls]
        unreadable = sum(len(step.errors) for step in steps)
        match = match_calls(gold, calls, unreadable, goal.ordered)
        matches.append((match, {**match.explanation(gold, calls), "reached": bool(steps)}))
    return matches
