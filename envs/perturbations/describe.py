"""A task before and after a perturbation, as a person would read the difference."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from callgym.envs.perturbations.perturbation import notes_of
from callgym.goal import DecisionGoal
from callgym.show import task_as_text
from callgym.task import Task

__all__ = ["describe"]

_CONTEXT = 2
"""Lines without a difference that are shown at either end of a run of them."""


def describe(before: Task, after: Task) -> str:
    """The lines that went (``-``) and came (``+``), a line around each, and what the perturbations say of it."""
    return "\n".join(
        [*_difference(_lines(before), _lines(after)), "", *map(_note, notes_of(after)[len(notes_of(before)) :])]
    )


def _lines(task: Task) -> list[str]:
    lines = task_as_text(task).splitlines()
    goal = task.goal_of(DecisionGoal)
    if goal is not None and goal.missing:
        lines.append(f"  what is missing: {', '.join(goal.missing)}")
    return lines


def _difference(before: list[str], after: list[str]) -> Iterator[str]:
    for kind, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (f"- {line}" for line in before[start:end])
            yield from (f"+ {line}" for line in after[new_start:new_end])
        elif end - start <= 2 * _CONTEXT + 1:
            yield from (f"  {line}" for line in before[start:end])
        else:
            yield from (f"  {line}" for line in before[start : start + _CONTEXT])
            yield f"  ... ({end - start - 2 * _CONTEXT} lines)"
            yield from (f"  {line}" for line in before[end - _CONTEXT : end])


def _note(entry: Any) -> str:
    if not entry["applied"]:
        return f"{entry['spec']}: left alone, {entry['why']}"
    details = "; ".join(f"{key}: {value}" for key, value in entry.items() if key not in ("spec", "applied"))
    return f"{entry['spec']}: applied{f' ({details})' if details else ''}"
