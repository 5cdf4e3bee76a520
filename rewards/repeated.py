"""Repeated episodes of one task: how reliably, and how often at all, is it done?

    runs = repeated_runs(episodes)
    print(runs.table())

pass^k is the chance that k attempts all succeed (tau-bench: Yao et al. 2024, arXiv 2406.12045), pass@k that at
least one of k does (Chen et al. 2021, arXiv 2107.03374). From c successes in n attempts both have an unbiased
estimate, C(c, k) / C(n, k) and 1 - C(n - c, k) / C(n, k), averaged over tasks. An episode of unknown return
is no attempt and no failure; it is reported apart.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callgym.episode import Episode
from callgym.errors import ConfigurationError

__all__ = ["RepeatedRuns", "TaskRuns", "pass_at_k", "pass_hat_k", "repeated_runs"]

_ROUNDING = 1e-9


def pass_hat_k(successes: int, attempts: int, k: int) -> float:
    """The estimated chance that k attempts all succeed: C(successes, k) / C(attempts, k).

    Raises:
        ConfigurationError: k is below 1 or above the attempts, or there are more successes than attempts.
    """
    _check(successes, attempts, k)
    return math.comb(successes, k) / math.comb(attempts, k)


def pass_at_k(successes: int, attempts: int, k: int) -> float:
    """The estimated chance that one of k attempts succeeds: 1 - C(failures, k) / C(attempts, k).

    Raises:
        ConfigurationError: As ``pass_hat_k``.
    """
    _check(successes, attempts, k)
    every = math.comb(attempts, k)
    return (every - math.comb(attempts - successes, k)) / every


def _check(successes: int, attempts: int, k: int) -> None:
    if not 1 <= k <= attempts or not 0 <= successes <= attempts:
        raise ConfigurationError(
            f"k is from 1 to the number of attempts, and successes are no more than these; "
            f"got {successes} successes in {attempts} attempts and k={k}"
        )


@dataclass(frozen=True, slots=True)
class TaskRuns:
    """What the repeated episodes of one task came to."""

    env_id: str
    """The environment."""
    task_id: str
    """The task."""
    attempts: int
    """Episodes whose return is known."""
    successes: int
    """Those among them whose return reaches the threshold."""
    unknown: int
    """Episodes whose return could not be computed; not among the attempts."""


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """Repeated episodes of many tasks."""

    tasks: tuple[TaskRuns, ...]
    """One entry a task, in the order in which they first appear."""
    threshold: float
    """The return from which on an episode is a success."""

    @property
    def unknown(self) -> int:
        """Episodes whose return could not be computed."""
        return sum(task.unknown for task in self.tasks)

    @property
    def most_attempts(self) -> int:
        """The greatest k for which there is an estimate."""
        return max((task.attempts for task in self.tasks), default=0)

    def counted(self, k: int) -> list[TaskRuns]:
        """The tasks with at least k attempts; others say nothing of k attempts."""
        return [task for task in self.tasks if task.attempts >= k]

    def pass_hat(self, k: int) -> float | None:
        """Mean pass^k over the tasks with at least k attempts; None where there are none."""
        return _mean([pass_hat_k(task.successes, task.attempts, k) for task in self.counted(k)])

    def pass_at(self, k: int) -> float | None:
        """Mean pass@k over the tasks with at least k attempts; None where there are none."""
        return _mean([pass_at_k(task.successes, task.attempts, k) for task in self.counted(k)])

    def rows(self) -> list[dict[str, Any]]:
        """For each k from 1 to the most attempts of any task: ``k``, ``pass_hat``, ``pass_at``, ``tasks``.

        ``tasks`` says how many had k attempts. Where it falls from one row to the next, the rows are means
        over different tasks.
        """
        return [
            {"k": k, "pass_hat": self.pass_hat(k), "pass_at": self.pass_at(k), "tasks": len(self.counted(k))}
            for k in range(1, self.most_attempts + 1)
        ]

    def to_json(self) -> str:
        """One line of JSON: the rows, and what they do not count."""
        line = {
            "threshold": self.threshold,
            "tasks": len(self.tasks),
            "episodes": sum(task.attempts + task.unknown for task in self.tasks),
            "unknown": self.unknown,
            "rows": self.rows(),
        }
        return json.dumps(line, allow_nan=False)

    def table(self) -> str:
        """The rows as aligned lines for people."""
        lines = [f"{'k':>4}  {'pass^k':>7}  {'pass@k':>7}  {'tasks':>6}"]
        lines += [
            f"{row['k']:>4}  {row['pass_hat']:>7.3f}  {row['pass_at']:>7.3f}  {row['tasks']:>6}" for row in self.rows()
        ]
        if self.unknown:
            lines.append(f"return unknown, not counted: {self.unknown} episodes")
        return "\n".join(lines)


def repeated_runs(episodes: Iterable[Episode], threshold: float = 1.0) -> RepeatedRuns:
    """Count attempts and successes by environment and task.

    Args:
        episodes: Records of any number of tasks, in any order.
        threshold: The return from which on an episode is a success.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for episode in episodes:
        count = counts.setdefault((episode.env_id, episode.task_id), [0, 0, 0])
        value = episode.episode_return
        if value is None:
            count[2] += 1
        else:
            count[0] += 1
            count[1] += value >= threshold - _ROUNDING
    return RepeatedRuns(tuple(TaskRuns(*key, *count) for key, count in counts.items()), threshold)


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
