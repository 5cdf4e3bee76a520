"""Figures of the tasks: how many, how many tools, and the share in which no call is right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figure_settings import Setting

from callgym.errors import DataError
from callgym.goal import CallsGoal, DecisionGoal
from callgym.task import Task

__all__ = ["LICENCES", "abstention_share", "counts_of", "tools_of"]

LICENCES = {
    "apibank": {"code": "Apache-2.0", "data": "Apache-2.0"},
    "bfcl": {"code": "Apache-2.0", "data": "Apache-2.0"},
    "when2call": {"code": "Apache-2.0", "data": "Apache-2.0 (repository), CC-BY-4.0 (dataset card)"},
}
"""Family to the licences of the benchmark's own code and data, as their sources state them."""
_SPLITS = {
    ("apibank", "step"): ("test", "train", "cv-train", "cv-test"),
    ("apibank", "dialogue"): ("test", "cv-train", "cv-test"),
}
"""Family and protocol to the splits of official data; ``test`` alone elsewhere."""
_PUBLISHED = {"when2call/mcq-v0": 3652}
"""Official tasks where the file at hand is another one: the judge's file stands in for the multiple choice's."""


def counts_of(setting: Setting, official: Path | None) -> dict[str, Any]:
    """Tasks by split, tools and the share of abstention, of starter data and, where given, official data."""
    test, train = _tasks(setting, "starter", "test"), _tasks(setting, "starter", "train")
    assert test is not None
    assert train is not None
    return {
        "family": setting.family,
        "id": setting.id,
        "official": None if official is None else _official(setting, official),
        "protocol": setting.protocol,
        "published": _PUBLISHED.get(setting.id),
        "starter": {
            "abstention": abstention_share(test),
            "test": len(test),
            "tools": len(tools_of(test)),
            "tools_a_task": _offered(test),
            "train": len(train),
        },
        "summary": setting.summary,
    }


def _official(setting: Setting, folder: Path) -> dict[str, Any]:
    names = _SPLITS.get((setting.family, setting.protocol), ("test",))
    splits = {split: _tasks(setting, folder, split) for split in names}
    test = splits["test"]
    assert test is not None
    counts: dict[str, Any] = {split: None if tasks is None else len(tasks) for split, tasks in splits.items()}
    counts |= {"abstention": abstention_share(test), "tools": len(tools_of(test)), "tools_a_task": _offered(test)}
    if setting.protocol == "step":
        replies = {split: _tasks(setting, folder, split, samples="replies") for split in names}
        counts["replies"] = {split: None if tasks is None else len(tasks) for split, tasks in replies.items()}
    return counts


def _tasks(setting: Setting, data: str | Path, split: str, **more: Any) -> Sequence[Task] | None:
    """The tasks; None where the file of the split is not there."""
    try:
        env = setting.env(data, split=split, **more)
    except DataError:
        return None
    tasks: Sequence[Task] = env.tasks
    env.close()
    return tasks


def abstention_share(tasks: Sequence[Task]) -> float:
    """The share of tasks in which the right thing is to call nothing: to decline, to ask, or just to answer."""
    goals = [task.goal_of(DecisionGoal) for task in tasks if task.goal_of(CallsGoal) is None]
    return sum(goal is not None and goal.decision != "call" for goal in goals) / len(tasks)


def tools_of(tasks: Sequence[Task]) -> set[str]:
    """Names of the tools that tasks offer, at first or later, or ask for."""
    names = set()
    for task in tasks:
        names |= {tool.name for tool in task.tools}
        names |= {tool.name for turn in task.user_turns for tool in turn.add_tools}
        goal = task.goal_of(CallsGoal)
        if goal is not None:
            names |= {gold.name for turn in goal.turns for gold in turn}
    return names


def _offered(tasks: Sequence[Task]) -> float:
    """Mean number of tools that a task offers at first."""
    return round(sum(len(task.tools) for task in tasks) / len(tasks), 1)
