"""Argument F1 with half credit: alpha-UMi's rule for one call, for any number of calls.

A given argument with a wrong value still earns a half, so to name the arguments is worth 0.5: a published
metric to report, softer than ``argument_f1``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from callgym.call import ToolCall
from callgym.episode import Episode, Score
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards.alpha_umi import half_credit_f1
from callgym.rewards.matching import assign, in_order
from callgym.rewards.turns import AskedTurn, asked_turns
from callgym.task import Task

__all__ = ["argument_f1_half_credit"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})


def argument_f1_half_credit(task: Task, episode: Episode) -> Score:
    """Argument F1 as alpha-UMi counts it, averaged over calls and then over turns.

    A pair of calls of one tool earns ``half_credit_f1``: 1 for an equal (or another accepted) value, 0.5 for
    a wrong one. Pairs are chosen so that their sum is the greatest; a turn earns ``2 * sum / (gold calls +
    predicted calls)``, unreadable attempts included. For one gold and one predicted call that is the official
    number. A turn without gold calls earns 1 where it was reached and none was made.
    """
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return NOT_ASKED
    turns: list[Any] = [_score_turn(turn, goal.ordered) for turn in asked_turns(goal, episode.steps)]
    value = sum([turn["f1"] for turn in turns]) / len(turns)
    return Score(value=value, explanation={"turns": turns})


def _score_turn(turn: AskedTurn, ordered: bool) -> dict[str, Any]:
    gold, calls = turn.gold, turn.calls
    table = np.array([[_f1(g, p) for p in calls] for g in gold], dtype=np.float64).reshape(len(gold), len(calls))
    chosen = in_order(table.tolist()) if ordered else assign(table)
    pairs = [(g, p) for g, p in chosen if table[g, p]]
    total = len(gold) + len(calls) + turn.unreadable
    credit = 2 * sum([float(table[pair]) for pair in pairs])
    return {
        "matched": [_explained(g, p, gold[g], calls[p]) for g, p in pairs],
        "gold": len(gold),
        "predicted": len(calls),
        "unreadable": turn.unreadable,
        "f1": credit / total if total else float(turn.reached),
    }


def _f1(gold: GoldCall, call: ToolCall) -> float:
    return half_credit_f1(_reference(gold, call), call.arguments) if gold.name == call.name else 0.0


def _reference(gold: GoldCall, call: ToolCall) -> dict[str, Any]:
    """The gold arguments with the accepted values that suit the call best, without optional ones left out."""
    given = call.arguments
    return {
        name: given[name] if name in given and given[name] in accepted else accepted[0]
        for name, accepted in gold.arguments.items()
        if name in given or name not in gold.optional
    }


def _explained(index: int, made: int, gold: GoldCall, call: ToolCall) -> dict[str, Any]:
    reference = _reference(gold, call)
    given = call.arguments
    verdicts = {
        name: ("equal" if given[name] == value else "half") if name in given else "missing"
        for name, value in reference.items()
    }
    verdicts.update({name: "extra" for name in given if name not in reference})
    return {"gold": index, "predicted": made, "name": gold.name, "arguments": verdicts, "f1": _f1(gold, call)}
