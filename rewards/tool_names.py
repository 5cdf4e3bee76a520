"""Tool names: were the right tools called, whatever was put into them?

Called names are held against gold names as multisets, turn by turn or over the episode as the goal says, and the
counts are added up over turns. For reports, and to help a policy that gets nothing right yet: a right name with
wrong arguments collects all of it, a single right call has full precision, and calling everything has full
recall. Pay for calls with ``call_exact_match`` and ``argument_f1``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from pydantic import JsonValue

from callgym.episode import Episode, Score
from callgym.goal import CallsGoal
from callgym.rewards.turns import asked_turns
from callgym.task import Task

__all__ = ["tool_name_f1", "tool_name_precision", "tool_name_recall"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})
_SHOWN = 8
_SHOWN_LENGTH = 80


def tool_name_precision(task: Task, episode: Episode) -> Score:
    """Share of the calls made whose tool was asked for; each gold call answers for one of them.

    Free tools are left out, and an unreadable attempt is a call of no tool. 0 where calls are asked for and
    none was made. Where none is asked for, 1 if none was made, else 0.
    """
    return _score(task, episode, lambda count: count.made)


def tool_name_recall(task: Task, episode: Episode) -> Score:
    """Share of the gold calls whose tool was called; counted as in ``tool_name_precision``."""
    return _score(task, episode, lambda count: count.asked)


def tool_name_f1(task: Task, episode: Episode) -> Score:
    """Twice the calls that both sides have over gold calls and calls made; as in ``tool_name_precision``."""
    return _score(task, episode, lambda count: (count.asked + count.made) / 2)


class _Count(NamedTuple):
    asked: int
    """Gold calls."""
    made: int
    """Calls made, unreadable attempts included."""
    both: int
    """Calls made of a tool that was asked for, no more than it was asked for."""
    missing: Counter[str]
    extra: Counter[str]
    unreadable: int


def _score(task: Task, episode: Episode, whole: Callable[[_Count], float]) -> Score:
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return NOT_ASKED
    count = _count(goal, episode)
    if not count.asked:
        value = float(bool(episode.steps) and not count.made)
    else:
        of = whole(count)
        value = count.both / of if of else 0.0
    explanation: dict[str, JsonValue] = {
        "asked": count.asked,
        "made": count.made,
        "both": count.both,
        "missing": _shown(count.missing),
        "extra": _shown(count.extra),
        "unreadable": count.unreadable,
        "reached": bool(episode.steps),
    }
    return Score.trusted(value=value, applies=True, explanation=explanation)  # half surrogates in names included


def _count(goal: CallsGoal, episode: Episode) -> _Count:
    missing: Counter[str] = Counter()
    extra: Counter[str] = Counter()
    wanted = made = 0
    for turn in asked_turns(goal, episode.steps):
        gold, called = Counter(call.name for call in turn.gold), Counter(call.name for call in turn.calls)
        missing += gold - called
        extra += called - gold
        wanted += gold.total()
        made += called.total()
    unreadable = sum(len(step.errors) for step in episode.steps)
    both = wanted - missing.total()
    return _Count(wanted, made + unreadable, both, missing, extra, unreadable)


def _shown(names: Counter[str]) -> dict[str, JsonValue]:
    """The most frequent names, and those that come first in the alphabet; a policy can write any number of them."""
    first = sorted(names.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]
    return {name[:_SHOWN_LENGTH]: count for name, count in first}
