"""Argument accuracy: of the calls that name the right tool, how right are the arguments?

One factor of a multiplicative design: whether the tools are right is for others to say.
"""

from __future__ import annotations

from typing import Any

from callgym.episode import Episode, Score
from callgym.rewards.calls import NOT_ASKED, argument_f1
from callgym.task import Task

__all__ = ["NOT_ASKED", "argument_accuracy"]


def argument_accuracy(task: Task, episode: Episode) -> Score:
    """Mean argument F1 over the pairs of a gold and a made call of the same name; 0 where there is no such pair.

    A task that asks for no call in any turn is none to judge.
    """
    judged = argument_f1(task, episode)
    if not judged.applies:
        return NOT_ASKED
    turns: Any = judged.explanation["turns"]
    pairs = [pair["f1"] for turn in turns for pair in turn["matched"]]
    value = sum(pairs) / len(pairs) if pairs else 0.0
    return Score(value=value, explanation={"pairs": pairs})
