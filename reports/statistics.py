"""How sure a mean is: the bootstrap over tasks, the paired sign-flip test, Holm's correction::

    draws = resample_tasks(sums, counts, resamples=10_000, rng=generator(0, "means"))
    interval(draws.means()[:, 0], 0.95)  # (0.213, 0.291)

Tasks are drawn, not episodes: several episodes of one task are alike, and stay together. Sources: the percentile
bootstrap, Efron and Tibshirani 1993, chapter 13; clusters drawn whole, Field and Welsh 2007; strata, Davison and
Hinkley 1997, section 3.2; clusters and pairs in evaluations of language models, Miller 2024, arXiv 2411.00640;
p values of random permutations, Phipson and Smyth 2010; several comparisons, Holm 1979.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from callgym.errors import ConfigurationError

__all__ = ["FlipTest", "TaskDraws", "generator", "holm", "interval", "resample_tasks", "sign_flip_test"]

Floats = npt.NDArray[np.float64]

_CHUNK = 2_000_000
"""Most numbers of one block of draws: 16 MB."""
_SAME = 1e-9


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A generator that follows from the seed and what it is for, and from nothing else."""
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


@dataclass(frozen=True, slots=True)
class TaskDraws:
    """Sums and counts of resampled tasks, for every resample and column."""

    sums: Floats
    """Shape (resamples, columns)."""
    counts: Floats
    """The same shape."""

    def means(self) -> Floats:
        """The mean of every resample; NaN where it holds none of a column. Shape (resamples, columns)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.counts > 0, self.sums / self.counts, np.nan)

    def __add__(self, other: TaskDraws) -> TaskDraws:
        """Two strata together, each drawn for itself."""
        return TaskDraws(self.sums + other.sums, self.counts + other.counts)


def resample_tasks(sums: Floats, counts: Floats, *, resamples: int, rng: np.random.Generator) -> TaskDraws:
    """Draw as many tasks as there are, with replacement, again and again.

    The mean of a resample is the sum of what was drawn by its count: with tasks that were played equally often the mean
    of the tasks' means, else the mean over episodes.

    Args:
        sums: What each task's episodes sum to. Shape (tasks, columns); no NaN.
        counts: Over how many episodes; 0 where a task has none. The same shape.
        resamples: How often.
        rng: What draws.

    Returns:
        Sums and counts of each resample. Memory: a few blocks of 16 MB, and what is returned.

    Raises:
        ConfigurationError: ``resamples`` is below 1, or there is no task.
    """
    if resamples < 1 or not len(sums):
        raise ConfigurationError(f"there is at least 1 resample of at least 1 task, got {resamples} of {len(sums)}")
    columns = sums.shape[1]
    drawn = _drawn(np.concatenate([sums, counts], axis=1), resamples, rng)
    return TaskDraws(drawn[:, :columns], drawn[:, columns:])


def _drawn(rows: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums over resampled rows. Shape (resamples, columns)."""
    count = len(rows)
    result = np.empty((resamples, rows.shape[1]))
    block = max(1, min(resamples, _CHUNK // count))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(0, count, size=(size, count))
        drawn += np.arange(size)[:, None] * count
        # How often each row was drawn: then all columns are one product of matrices.
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        result[start : start + size] = times.astype(np.float64) @ rows
    return result


def interval(means: Floats, confidence: float) -> tuple[float, float] | None:
    """The percentile interval of resampled means; None where no resample has one."""
    known = means[~np.isnan(means)]
    if not known.size:
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class FlipTest:
    """A two-sided test of paired differences against none at all."""

    p: float
    """The share of sign patterns whose mean is as far from 0 as the one that was found."""
    exact: bool
    """Whether every pattern was counted; else as many as there are resamples were drawn."""


def sign_flip_test(differences: Floats, *, resamples: int, seed: int) -> FlipTest:
    """Were the two runs alike, each task's difference could as well have the other sign.

    p is the share of sign patterns whose sum is at least as far from 0. Up to 2^n <= ``resamples`` patterns (n tasks
    that differ) all are counted; else ``resamples`` are drawn, and the found one counts as one of them:
    p = (1 + b) / (1 + B).

    Args:
        differences: One a task. Shape (tasks,); no NaN.
        resamples: Most patterns.
        seed: Seed of the patterns.
    """
    moved = differences[np.abs(differences) > _SAME]  # a difference of 0 has no sign, and changes no sum
    if not moved.size:
        return FlipTest(1.0, True)
    least = abs(moved.sum()) - _SAME * np.abs(moved).sum()
    if moved.size < 63 and 1 << moved.size <= resamples:
        return FlipTest(_count_far(moved, _all_patterns(moved.size), least) / (1 << moved.size), True)
    rng = generator(seed, "signs")
    block = max(1, _CHUNK // moved.size)
    far = 0
    for start in range(0, resamples, block):
        patterns = _random_patterns(rng, min(block, resamples - start), moved.size)
        far += _count_far(moved, patterns, least)
    return FlipTest((1 + far) / (1 + resamples), False)


def _all_patterns(bits: int) -> npt.NDArray[Any]:
    return (np.arange(1 << bits)[:, None] >> np.arange(bits)) & 1


def _random_patterns(rng: np.random.Generator, size: int, bits: int) -> npt.NDArray[Any]:
    flat = np.frombuffer(rng.bytes(size * ((bits + 7) // 8)), np.uint8).reshape(size, -1)
    return np.unpackbits(flat, axis=1)[:, :bits]


def _count_far(moved: Floats, patterns: npt.NDArray[Any], least: float) -> int:
    sums = 2 * (patterns.astype(np.float64) @ moved) - moved.sum()
    return int((np.abs(sums) >= least).sum())


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for being several, by Holm's step-down method, in the order given."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    corrected = [0.0] * len(p_values)
    greatest = 0.0
    for rank, at in enumerate(order):
        greatest = max(greatest, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = greatest
    return corrected
