"""A run's episodes by task: for every task what its episodes sum to, and how many there are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from callgym.reports.run_record import EpisodeNumbers
from callgym.reports.statistics import Floats

__all__ = ["MOST_ENVS", "MOST_REWARDS", "RETURN", "TaskKey", "TaskTable", "rows_by_env", "tabulate"]

MOST_ENVS = 100
"""Runs of more environments are reported together only."""
MOST_REWARDS = 40
"""So many rewards are reported."""

RETURN = "return"
"""The first column; the others are rewards."""
_ROUNDING = 1e-9

TaskKey = tuple[str, str]
"""Environment and task."""


@dataclass(frozen=True, slots=True)
class TaskTable:
    """One row a task, sorted by environment and task, so that the order of a file's lines does not matter."""

    tasks: tuple[TaskKey, ...]
    """Environment and task of each row."""
    columns: tuple[str, ...]
    """``return``, then the rewards by name."""
    sums: Floats
    """Over the episodes whose value is known. Shape (tasks, columns)."""
    counts: Floats
    """How many these are. The same shape."""
    unknown: Floats
    """Episodes whose value could not be computed, where the reward applies. The same shape."""
    successes: tuple[int, ...]
    """Episodes of known return that reach the threshold, for each task."""

    def means(self) -> Floats:
        """The mean of each task and column; NaN where none is known. Shape (tasks, columns)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.counts > 0, self.sums / self.counts, np.nan)

    def attempts(self) -> list[int]:
        """Episodes of known return, for each task."""
        return [int(count) for count in self.counts[:, 0]]


def rows_by_env(tasks: Sequence[TaskKey]) -> dict[str, list[int]]:
    """The rows of each environment, in order."""
    rows: dict[str, list[int]] = {}
    for number, (env_id, _) in enumerate(tasks):
        rows.setdefault(env_id, []).append(number)
    return rows


def tabulate(episodes: Iterable[EpisodeNumbers], rewards: Sequence[str], threshold: float) -> TaskTable:
    """Group episodes by task.

    Args:
        episodes: A run's.
        rewards: The rewards to count.
        threshold: The return from which on an episode is a success.
    """
    groups: dict[TaskKey, list[EpisodeNumbers]] = {}
    for episode in episodes:
        groups.setdefault((episode.env_id, episode.task_id), []).append(episode)
    tasks = tuple(sorted(groups))
    shape = (len(tasks), 1 + len(rewards))
    sums, counts, unknown = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    successes = []
    for row, task in enumerate(tasks):
        group = groups[task]
        columns = [[episode.episode_return for episode in group]]
        columns += [[episode.scores[name] for episode in group if name in episode.scores] for name in rewards]
        for column, values in enumerate(columns):
            known = [value for value in values if value is not None]
            sums[row, column] = math.fsum(known)  # exact, so in any order
            counts[row, column] = len(known)
            unknown[row, column] = len(values) - len(known)
        successes.append(sum(value >= threshold - _ROUNDING for value in columns[0] if value is not None))
    return TaskTable(tasks, (RETURN, *rewards), sums, counts, unknown, tuple(successes))
