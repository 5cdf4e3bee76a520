"""Columns of numbers by task, turned into means with intervals; columns of the same tasks are resampled together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from callgym.reports.numbers import Estimate, ReportSettings
from callgym.reports.statistics import Floats, TaskDraws, generator, interval, resample_tasks
from callgym.reports.task_table import MOST_ENVS, TaskKey, rows_by_env

__all__ = ["Columns", "Estimates", "estimate_all"]


@dataclass(frozen=True, slots=True)
class Columns:
    """Numbers of tasks."""

    tasks: tuple[TaskKey, ...]
    """Environment and task of each row, sorted."""
    sums: Floats
    """What the episodes of a task sum to. Shape (tasks, columns); no NaN."""
    counts: Floats
    """How many these are. The same shape."""
    unknown: Floats
    """Episodes whose value could not be computed. The same shape."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """An estimate for each column."""

    overall: tuple[Estimate, ...]
    """Over all tasks."""
    by_env: dict[str, tuple[Estimate, ...]]
    """Over the tasks of each environment; empty where there are more than are told apart."""


def estimate_all(columns: Sequence[Columns], settings: ReportSettings) -> list[Estimates]:
    """Means and intervals.

    The environments of a run are chosen, the tasks in them drawn: so each environment is a stratum. Runs of the same
    tasks see the same draws; that is what makes twenty thousand tasks of several runs a matter of seconds.
    """
    groups: dict[tuple[TaskKey, ...], list[int]] = {}
    for number, one in enumerate(columns):
        groups.setdefault(one.tasks, []).append(number)
    found: dict[int, Estimates] = {}
    for tasks, numbers in groups.items():
        together = [columns[number] for number in numbers]
        joined = Columns(
            tasks,
            np.concatenate([one.sums for one in together], axis=1),
            np.concatenate([one.counts for one in together], axis=1),
            np.concatenate([one.unknown for one in together], axis=1),
        )
        estimates = _estimated(joined, settings)
        start = 0
        for number, one in zip(numbers, together, strict=True):
            end = start + one.sums.shape[1]
            by_env = {env_id: every[start:end] for env_id, every in estimates.by_env.items()}
            found[number] = Estimates(estimates.overall[start:end], by_env)
            start = end
    return [found[number] for number in range(len(columns))]


def _estimated(columns: Columns, settings: ReportSettings) -> Estimates:
    every = list(range(len(columns.tasks)))
    if not every:
        return Estimates((Estimate(None, None, None, 0, 0),) * columns.sums.shape[1], {})
    by_env = rows_by_env(columns.tasks)
    strata = by_env if len(by_env) <= MOST_ENVS else {"": every}
    rng = generator(settings.seed, "tasks")
    whole: TaskDraws | None = None
    parts: dict[str, tuple[Estimate, ...]] = {}
    for env_id, rows in strata.items():
        draws = resample_tasks(columns.sums[rows], columns.counts[rows], resamples=settings.resamples, rng=rng)
        parts[env_id] = _read_off(columns, rows, draws, settings.confidence)
        whole = draws if whole is None else whole + draws
    assert whole is not None
    return Estimates(_read_off(columns, every, whole, settings.confidence), parts if strata is by_env else {})


def _read_off(columns: Columns, rows: Sequence[int], draws: TaskDraws, confidence: float) -> tuple[Estimate, ...]:
    sums, counts, unknown = columns.sums[rows], columns.counts[rows], columns.unknown[rows]
    means = draws.means()
    estimates = []
    for column in range(sums.shape[1]):
        known = float(counts[:, column].sum())
        tasks = int((counts[:, column] > 0).sum())
        ends = interval(means[:, column], confidence) if tasks > 1 else None
        low, high = ends or (None, None)
        mean = float(sums[:, column].sum()) / known if known else None
        estimates.append(Estimate(mean, low, high, tasks, round(known), int(unknown[:, column].sum())))
    return tuple(estimates)
