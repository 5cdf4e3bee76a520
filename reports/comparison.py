"""Runs compared::

    report = compare([read_run(files) for files in found], ReportSettings(seed=0))
    print(report.runs[0].overall.returns)       # Estimate(mean=0.242, low=0.195, high=0.292, ...)
    print(report.comparisons[0].difference)     # paired: the same tasks in both

A mean is over episodes, as ``callgym eval`` prints it; its interval is of resampled tasks, each environment's drawn for
itself. A difference is over the tasks that both runs have played, each counting once.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from callgym.errors import ConfigurationError, DataError
from callgym.reports.caveats import caveats
from callgym.reports.estimates import Columns, Estimates, estimate_all
from callgym.reports.numbers import (
    Comparison,
    Estimate,
    FileNumbers,
    GroupNumbers,
    PassRow,
    ReportSettings,
    RunNumbers,
    TaskChange,
)
from callgym.reports.run_record import RunRecord
from callgym.reports.statistics import Floats, holm, sign_flip_test
from callgym.reports.task_table import MOST_REWARDS, TaskKey, TaskTable, rows_by_env, tabulate
from callgym.rewards.repeated import pass_at_k, pass_hat_k

__all__ = ["RunComparison", "compare"]

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Everything that is known of several runs."""

    settings: ReportSettings
    """How it was made; ``baseline`` is a run's name."""
    runs: tuple[RunNumbers, ...]
    """The runs, in the order given."""
    comparisons: tuple[Comparison, ...]
    """Each run but the baseline: all environments together, then one by one."""
    caveats: tuple[str, ...]
    """What makes figures less sure, or runs less comparable, than they look."""


def compare(records: Sequence[RunRecord], settings: ReportSettings) -> RunComparison:
    """Compute a report.

    Args:
        records: The runs; their names differ.
        settings: How.

    Raises:
        ConfigurationError: A setting has a value it cannot have, or there is no run of the baseline's name.
        DataError: No run has an episode.
    """
    _check(settings)
    readable = [record for record in records if record.episodes]
    if not readable:
        raise DataError("there is no episode in any of these files; give files that callgym eval --out wrote")
    names = [record.name for record in readable]
    baseline = names[0] if settings.baseline is None else settings.baseline
    if baseline not in names:
        raise ConfigurationError(f"no run with episodes is called {baseline!r}; there are: {', '.join(names)}")
    settings = dataclasses.replace(settings, baseline=baseline)
    tables = {
        record.name: tabulate(record.episodes, list(record.rewards)[:MOST_REWARDS], settings.threshold)
        for record in records
    }
    attempts = {record.name: _attempts_by_env(tables[record.name]) for record in records}
    others = [record for record in readable if record.name != baseline]
    pairs = [_Pairs.of(tables[baseline], tables[record.name]) for record in others]
    columns = [_run_columns(tables[record.name], attempts[record.name]) for record in records]
    estimates = estimate_all([*columns, *(pair.columns() for pair in pairs)], settings)
    runs = [
        _run_numbers(record, tables[record.name], attempts[record.name], found)
        for record, found in zip(records, estimates, strict=False)
    ]
    first = next(record for record in records if record.name == baseline)
    comparisons = [
        _compared(first, record, pair, found, settings)
        for record, pair, found in zip(others, pairs, estimates[len(records) :], strict=True)
    ]
    corrected = _with_holm(comparisons)
    return RunComparison(settings, tuple(runs), corrected, tuple(caveats(records, tables, baseline, corrected)))


def _check(settings: ReportSettings) -> None:
    if not 0 < settings.confidence < 1:
        raise ConfigurationError(f"confidence lies between 0 and 1, such as 0.95, got {settings.confidence}")
    if settings.resamples < 1:
        raise ConfigurationError(f"resamples is at least 1, got {settings.resamples}")


# One run.


def _run_numbers(
    record: RunRecord, table: TaskTable, attempts: Mapping[str, Sequence[int]], estimates: Estimates
) -> RunNumbers:
    overall, by_env = _groups(table, attempts, estimates)
    errors: Counter[str] = Counter()
    for episode in record.episodes:
        errors.update(episode.errors)
    steps = [episode.steps for episode in record.episodes]
    return RunNumbers(
        name=record.name,
        paths=record.paths,
        policies=tuple(sorted(record.policies)),
        settings={name: tuple(sorted(values)) for name, values in sorted(record.settings.items())},
        overall=overall,
        by_env=by_env,
        by_file=_by_file(record),
        failed=dict(sorted(record.failed.items())),
        truncated=sum(episode.truncated for episode in record.episodes),
        steps_mean=sum(steps) / len(steps) if steps else None,
        errors=dict(sorted(errors.items())),
        faults=tuple(record.faults),
    )


def _by_file(record: RunRecord) -> tuple[FileNumbers, ...]:
    found = []
    start = 0
    for path, end in zip(record.paths, record.ends, strict=True):
        returns = [e.episode_return for e in record.episodes[start:end] if e.episode_return is not None]
        mean = math.fsum(returns) / len(returns) if returns else None
        found.append(FileNumbers(path, end - start, mean))
        start = end
    return tuple(found)


def _groups(
    table: TaskTable, attempts: Mapping[str, Sequence[int]], estimates: Estimates
) -> tuple[GroupNumbers, tuple[GroupNumbers, ...]]:
    """The numbers of all tasks, and of each environment's."""
    every = _every(attempts)
    common = [k for k in every if all(k in some for some in attempts.values())]
    rewards = table.columns[1:]
    overall = _group(None, len(table.tasks), rewards, estimates.overall, every, common)
    sizes = {env_id: len(rows) for env_id, rows in rows_by_env(table.tasks).items()}
    return overall, tuple(
        _group(env_id, sizes[env_id], rewards, found, every, attempts[env_id])
        for env_id, found in estimates.by_env.items()
    )


def _group(
    env_id: str | None,
    tasks: int,
    rewards: Sequence[str],
    estimates: Sequence[Estimate],
    every: Sequence[int],
    shown: Sequence[int],
) -> GroupNumbers:
    returns, passes = estimates[0], estimates[1 + len(rewards) :]
    return GroupNumbers(
        env_id=env_id,
        tasks=tasks,
        episodes=returns.episodes + returns.unknown,
        returns=returns,
        rewards=dict(zip(rewards, estimates[1:], strict=False)),
        passes=tuple(PassRow(k, passes[2 * at], passes[2 * at + 1]) for at, k in enumerate(every) if k in shown),
    )


# Repeated attempts.


def _attempts_by_env(table: TaskTable) -> dict[str, list[int]]:
    """By environment: k = 1, 2, 4 ... and the least attempts of any of its tasks that has a known return."""
    found = {}
    for env_id, rows in rows_by_env(table.tasks).items():
        least = min((count for row in rows if (count := int(table.counts[row, 0]))), default=0)
        found[env_id] = sorted({1 << power for power in range(least.bit_length())} | {least}) if least else []
    return found


def _every(attempts: Mapping[str, Sequence[int]]) -> list[int]:
    return sorted({k for some in attempts.values() for k in some})


def _run_columns(table: TaskTable, attempts: Mapping[str, Sequence[int]]) -> Columns:
    """Return and rewards, then pass@k and pass^k for every k."""
    every = _every(attempts)
    passes = np.zeros((len(table.tasks), 2 * len(every)))
    counts = np.zeros_like(passes)
    for row, ((env_id, _), played) in enumerate(zip(table.tasks, table.attempts(), strict=True)):
        for column, k in enumerate(every):
            if played and k in attempts[env_id]:
                passes[row, 2 * column] = pass_at_k(table.successes[row], played, k)
                passes[row, 2 * column + 1] = pass_hat_k(table.successes[row], played, k)
                counts[row, 2 * column : 2 * column + 2] = 1
    return Columns(
        table.tasks,
        np.concatenate([table.sums, passes], axis=1),
        np.concatenate([table.counts, counts], axis=1),
        np.concatenate([table.unknown, np.zeros_like(counts)], axis=1),
    )


# Two runs.


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The tasks that two runs share."""

    tasks: tuple[TaskKey, ...]
    names: list[str]
    before: Floats
    after: Floats

    @classmethod
    def of(cls, ours: TaskTable, theirs: TaskTable) -> _Pairs:
        tasks = tuple(sorted(set(ours.tasks) & set(theirs.tasks)))
        names = [name for name in ours.columns if name in theirs.columns]
        return cls(tasks, names, _aligned(ours, tasks, names), _aligned(theirs, tasks, names))

    @property
    def differences(self) -> Floats:
        """NaN where one of the two is unknown. Shape (tasks, columns)."""
        return self.after - self.before

    def columns(self) -> Columns:
        known = ~np.isnan(self.differences)
        differences = np.where(known, self.differences, 0.0)
        return Columns(self.tasks, differences, known.astype(np.float64), np.zeros(known.shape))

    def changes(self) -> tuple[TaskChange, ...]:
        """From the greatest loss to the greatest gain."""
        known = np.flatnonzero(~np.isnan(self.differences[:, 0]))
        found = [TaskChange(*self.tasks[row], float(self.before[row, 0]), float(self.after[row, 0])) for row in known]
        return tuple(sorted(found, key=lambda one: one.change))


def _compared(
    baseline: RunRecord, record: RunRecord, pairs: _Pairs, estimates: Estimates, settings: ReportSettings
) -> list[Comparison]:
    """A run against the baseline: all together, then by environment where there are several."""
    seeds = {(episode.env_id, episode.task_id, episode.seed) for episode in baseline.episodes}
    shared: Counter[tuple[str, str]] = Counter()
    played: Counter[tuple[str, str]] = Counter()
    for episode in record.episodes:
        task = episode.env_id, episode.task_id
        played[task] += 1
        shared[task] += (*task, episode.seed) in seeds
    every = _paired(baseline.name, record.name, None, range(len(pairs.tasks)), pairs, estimates.overall, played, shared)
    moved = pairs.differences[~np.isnan(pairs.differences[:, 0]), 0]
    if moved.size:
        test = sign_flip_test(moved, resamples=settings.resamples, seed=settings.seed)
        every = dataclasses.replace(every, p=test.p, exact=test.exact, changes=pairs.changes())
    if len(estimates.by_env) < 2:
        return [every]
    rows = rows_by_env(pairs.tasks)
    return [every] + [
        _paired(baseline.name, record.name, env_id, rows[env_id], pairs, found, played, shared)
        for env_id, found in estimates.by_env.items()
    ]


def _paired(
    baseline: str,
    run: str,
    env_id: str | None,
    rows: Sequence[int],
    pairs: _Pairs,
    estimates: Sequence[Estimate],
    played: Mapping[tuple[str, str], int],
    shared: Mapping[tuple[str, str], int],
) -> Comparison:
    differences = pairs.differences[list(rows), 0]
    tasks = [pairs.tasks[row] for row in rows]
    return Comparison(
        run=run,
        baseline=baseline,
        env_id=env_id,
        common=len(tasks),
        left_out=int(np.isnan(differences).sum()),
        same_seeds=sum(shared[task] for task in tasks),
        episodes=sum(played[task] for task in tasks),
        difference=estimates[0],
        rewards=dict(zip(pairs.names[1:], estimates[1:], strict=True)),
        better=int((differences > _SAME).sum()),
        equal=int((np.abs(differences) <= _SAME).sum()),
        worse=int((differences < -_SAME).sum()),
        p=None,
        p_holm=None,
        exact=False,
        changes=(),
    )


def _aligned(table: TaskTable, tasks: Sequence[tuple[str, str]], names: Sequence[str]) -> Floats:
    """The means of these tasks and columns. Shape (tasks, columns)."""
    rows = {task: row for row, task in enumerate(table.tasks)}
    columns = [table.columns.index(name) for name in names]
    picked: Floats = table.means()[[rows[task] for task in tasks]][:, columns]
    return picked


def _with_holm(comparisons: Sequence[Sequence[Comparison]]) -> tuple[Comparison, ...]:
    """Correct the p values of the runs' overall comparisons, one family."""
    tested = [at for at, (overall, *_) in enumerate(comparisons) if overall.p is not None]
    corrected = dict(zip(tested, holm([comparisons[at][0].p or 0.0 for at in tested]), strict=True))
    return tuple(
        dataclasses.replace(one, p_holm=corrected.get(at)) if one.env_id is None else one
        for at, group in enumerate(comparisons)
        for one in group
    )
