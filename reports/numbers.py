"""What a report says, as numbers: means with intervals, paired differences, pass@k and pass^k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "Comparison",
    "Estimate",
    "FileNumbers",
    "GroupNumbers",
    "PassRow",
    "ReportSettings",
    "RunNumbers",
    "TaskChange",
]


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """How a report is made."""

    baseline: str | None = None
    """The run that the others are compared with; the first by default."""
    confidence: float = 0.95
    """Share of the resampled means within an interval."""
    resamples: int = 10_000
    """Resamples of an interval, and most sign patterns of a test."""
    seed: int = 0
    """Seed of the resamples."""
    threshold: float = 1.0
    """The return from which on an episode is a success, for pass@k and pass^k."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and how sure it is."""

    mean: float | None
    """None where nothing is known."""
    low: float | None
    """Lower end of the interval over tasks; None where there are fewer than two tasks."""
    high: float | None
    """Upper end."""
    tasks: int
    """Tasks with a known value."""
    episodes: int
    """Episodes with a known value."""
    unknown: int = 0
    """Episodes whose value could not be computed; they are in none of the other figures."""


@dataclass(frozen=True, slots=True)
class PassRow:
    """What k attempts come to."""

    k: int
    """Attempts."""
    pass_at: Estimate
    """The chance that at least one of k succeeds."""
    pass_hat: Estimate
    """The chance that all k succeed."""


@dataclass(frozen=True, slots=True)
class GroupNumbers:
    """All episodes of a run, or those of one environment."""

    env_id: str | None
    """The environment; None for all together."""
    tasks: int
    """Tasks that were played."""
    episodes: int
    """Episodes that were played to an end."""
    returns: Estimate
    """The return."""
    rewards: Mapping[str, Estimate]
    """Each reward, over the episodes where it applies."""
    passes: tuple[PassRow, ...]
    """k = 1, 2, 4 ... up to the least attempts of any task."""


@dataclass(frozen=True, slots=True)
class FileNumbers:
    """One file of a run: one training seed, say."""

    path: str
    """The file."""
    episodes: int
    """Episodes in it."""
    mean: float | None
    """Their mean return."""


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """One run."""

    name: str
    """What it is called."""
    paths: tuple[str, ...]
    """Its files."""
    policies: tuple[str, ...]
    """Who played."""
    settings: Mapping[str, tuple[str, ...]]
    """How: rubric, data, and the options on record, each with its values."""
    overall: GroupNumbers
    """All episodes."""
    by_env: tuple[GroupNumbers, ...]
    """The same by environment."""
    by_file: tuple[FileNumbers, ...]
    """The same by file."""
    failed: Mapping[str, int]
    """Kind of failure to episodes that broke; they are in no other figure."""
    truncated: int
    """Episodes that were cut short."""
    steps_mean: float | None
    """Actions of an episode."""
    errors: Mapping[str, int]
    """Kind of error to how often."""
    faults: tuple[str, ...]
    """What kept the rest of a file from being read."""


@dataclass(frozen=True, slots=True)
class TaskChange:
    """One task in two runs."""

    env_id: str
    """The environment."""
    task_id: str
    """The task."""
    baseline: float
    """Its mean return there."""
    run: float
    """Its mean return here."""

    @property
    def change(self) -> float:
        """What was won or lost."""
        return self.run - self.baseline


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against the baseline, over the tasks that both have played."""

    run: str
    """The run."""
    baseline: str
    """What it is compared with."""
    env_id: str | None
    """The environment; None for all together."""
    common: int
    """Tasks that both have played."""
    left_out: int
    """Those among them without a known return in one of the two."""
    same_seeds: int
    """Episodes of this run whose task and seed the baseline has, too."""
    episodes: int
    """Episodes of this run on the common tasks."""
    difference: Estimate
    """The mean over tasks of the difference of the task's mean return."""
    rewards: Mapping[str, Estimate]
    """The same of each reward that both have."""
    better: int
    """Tasks with a greater return than in the baseline."""
    equal: int
    """Tasks with the same."""
    worse: int
    """Tasks with a smaller one."""
    p: float | None
    """Of the sign-flip test; only for all together."""
    p_holm: float | None
    """The same, corrected for the number of runs that are compared."""
    exact: bool
    """Whether the test counted every pattern of signs."""
    changes: tuple[TaskChange, ...]
    """Every task, from the greatest loss to the greatest gain; only for all together."""
