"""Call match: the calls that were asked for, text compared as it is meant rather than to the letter.

Calls are paired by optimal assignment, as for argument F1. Values are compared by the schema's type: numbers by
value at any depth (a boolean is no number), text by ``same_text.text_key``, lists and objects element by element.
Half is paid for all calls being right, half as argument F1, so that what is nearly right earns something.

A language whose values are written as text (Java, say) can have a reader: ``register_reader``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from callgym.call import ToolCall
from callgym.episode import Episode, Score
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards.matching import match_calls
from callgym.rewards.same_text import written_alike
from callgym.rewards.turns import asked_turns
from callgym.task import Task

__all__ = ["Reader", "call_match", "register_reader"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})
_EXEMPLARY = Score(applies=False, explanation={"reason": "the gold calls are one way of several"})

Reader = Callable[[Task, str, str, Any], Any]
"""(task, tool, argument, value) to the value that is meant."""
_READERS: dict[str, Reader] = {}

# Tasks are played many times. By the ids of the gold call and of the task it is read for: an entry holds both.
_golds: dict[tuple[int, int], tuple[GoldCall, Task, GoldCall]] = {}
_MOST_GOLDS = 8192


def register_reader(language: str, reader: Reader) -> None:
    """Say how values are read in tasks whose ``meta["language"]`` is ``language``."""
    _READERS[language] = reader


def call_match(task: Task, episode: Episode) -> Score:
    """Half 1 where every turn's calls are right and none is left over, half argument F1 averaged over turns.

    Does not apply where the gold calls are only one way of several (``CallsGoal.exemplary``).
    """
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return NOT_ASKED
    if goal.exemplary:
        return _EXEMPLARY
    reader = _READERS.get(str(task.meta["language"])) if "language" in task.meta else None
    exact, f1, explanations = True, 0.0, []
    turns = asked_turns(goal, episode.steps)
    for turn in turns:
        gold = [_gold_as_meant(call, task, reader) for call in turn.gold]
        made = _as_meant(turn.calls, task, reader)
        match = match_calls(gold, made, turn.unreadable, goal.ordered)
        explanation = match.explanation(gold, made)
        explanation["reached"] = turn.reached
        explanations.append(explanation)
        exact = exact and turn.reached and match.exact
        f1 += match.f1 if match.calls else float(turn.reached)
    value = (exact + f1 / len(turns)) / 2
    return Score.trusted(value=value, applies=True, explanation={"turns": explanations})


def _as_meant(calls: Sequence[ToolCall], task: Task, reader: Reader | None) -> list[ToolCall]:
    return [
        ToolCall.trusted(
            name=call.name,
            arguments={
                name: written_alike(value if reader is None else reader(task, call.name, name, value))
                for name, value in call.arguments.items()
            },
            id=call.id,
        )
        for call in calls
    ]


def _gold_as_meant(gold: GoldCall, task: Task, reader: Reader | None) -> GoldCall:
    key = (id(gold), id(task) if reader is not None else 0)
    found = _golds.get(key)
    if found is None:
        if len(_golds) >= _MOST_GOLDS:
            _golds.clear()
        found = _golds[key] = (gold, task, _read_gold(gold, task, reader))
    return found[2]


def _read_gold(gold: GoldCall, task: Task, reader: Reader | None) -> GoldCall:
    arguments = {
        name: tuple(
            written_alike(value if reader is None else reader(task, gold.name, name, value)) for value in accepted
        )
        for name, accepted in gold.arguments.items()
    }
    return GoldCall.trusted(name=gold.name, arguments=arguments, optional=gold.optional)
