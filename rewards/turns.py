"""What was asked for and what was made, turn by turn: where every reward of calls begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from callgym.call import ToolCall
from callgym.episode import Step
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards.values import value_key

__all__ = ["AskedTurn", "asked_turns", "gold_calls", "made_calls"]

_UNANSWERED = ("timeout", "unavailable")


class AskedTurn(NamedTuple):
    """One turn of a goal, or the whole of it where calls may come at any time."""

    gold: Sequence[GoldCall]
    """The calls asked for."""
    calls: Sequence[ToolCall]
    """The calls made, free tools left out."""
    unreadable: int
    """Attempts that could not be read."""
    reached: bool
    """Whether the policy acted in this turn at all."""


def asked_turns(goal: CallsGoal, steps: Sequence[Step]) -> list[AskedTurn]:
    """The turns of a goal with what was made in each.

    A turn that the goal does not list asks for no calls; it comes last, where some were made in it.
    """
    if len(steps) == len(goal.turns) == 1 and not goal.free and steps[0].turn == 0:  # one action: the hot path
        only = steps[0]
        return [AskedTurn(goal.turns[0], only.calls, len(only.errors), True)]
    if goal.scope == "episode":
        return [_turn(gold_calls(goal), goal, steps)]
    own = {number: [step for step in steps if step.turn == number] for number in {step.turn for step in steps}}
    turns = [_turn(gold, goal, own.get(number, ())) for number, gold in enumerate(goal.turns)]
    for number in sorted(number for number in own if number >= len(goal.turns)):
        beyond = _turn((), goal, own[number])
        if beyond.calls or beyond.unreadable:
            turns.append(beyond)
    return turns


def _turn(gold: Sequence[GoldCall], goal: CallsGoal, steps: Sequence[Step]) -> AskedTurn:
    return AskedTurn(gold, made_calls(goal, steps), sum([len(step.errors) for step in steps]), bool(steps))


def gold_calls(goal: CallsGoal) -> list[GoldCall]:
    """All calls that a goal asks for, whatever their turn."""
    return [call for turn in goal.turns for call in turn]


def made_calls(goal: CallsGoal, steps: Sequence[Step]) -> list[ToolCall]:
    """The calls of some steps, the goal's free tools left out.

    A call that nobody answered (``timeout``, ``unavailable``) and that was made again, word for word, counts once: to
    try again is right.
    """
    calls = [call for step in steps for call in step.calls if call.name not in goal.free]
    if not any(result.error in _UNANSWERED for step in steps for result in step.results):
        return calls
    kept: list[ToolCall] = []
    later: set[Any] = set()
    for step in reversed(steps):
        errors = [result.error for result in step.results] or [None] * len(step.calls)
        for call, error in reversed(list(zip(step.calls, errors, strict=True))):
            key = call.name, value_key(call.arguments)
            if call.name not in goal.free and not (error in _UNANSWERED and key in later):
                kept.append(call)
            later.add(key)
    return kept[::-1]
