"""A run in numbers. What is not known is kept apart and never counted as 0."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from callgym.episode import Episode
from callgym.terminal import Cell, table

__all__ = ["Summary", "summarise"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run of a policy in an environment came to."""

    id: str
    """The environment."""
    policy: str
    """The policy's name."""
    episodes: int
    """How many were played, those of unknown return and those that failed included."""
    seed: int
    """The run's seed."""
    data: str
    """Where the tasks came from: ``official``, ``starter``, ``folder``, ``given``; ``mixed`` for several."""
    return_mean: float | None
    """Mean return over the episodes whose return is known; None where none is."""
    return_stderr: float | None
    """Standard error of that mean; None for fewer than two episodes."""
    rewards: dict[str, float | None]
    """Reward name to its mean over the episodes where it applies and is known; None where there are none."""
    errors: dict[str, int]
    """Kind of error to how often it occurred: actions that could not be read, calls that failed, and, as
    ``failed_worker_lost`` and the like, episodes that could not be played."""
    unknown: int
    """Episodes whose return could not be computed."""

    def to_json(self) -> str:
        """One line of JSON, its keys always the same and in this order.

        Episodes of unknown return are counted under ``errors`` as ``unknown_return``, where there are any.
        """
        errors = {**self.errors, "unknown_return": self.unknown} if self.unknown else self.errors
        line: dict[str, Any] = {
            "id": self.id,
            "policy": self.policy,
            "episodes": self.episodes,
            "seed": self.seed,
            "data": self.data,
            "return_mean": self.return_mean,
            "return_stderr": self.return_stderr,
            "rewards": self.rewards,
            "errors": errors,
        }
        return json.dumps(line, ensure_ascii=False, allow_nan=False)

    def table(self) -> str:
        """The run as aligned lines for people."""
        mean = _shown(self.return_mean)
        spread = "" if self.return_stderr is None else f" ± {self.return_stderr:.3f}"
        rows: list[tuple[str, str | Cell]] = [
            ("environment", f"{self.id} ({self.data} data)"),
            ("policy", self.policy),
            ("episodes", f"{self.episodes}, seed {self.seed}"),
            ("return", Cell(mean + spread, "strong")),
            *((f"  {name}", _shown(value)) for name, value in self.rewards.items()),
        ]
        if self.unknown:
            rows.append(("return unknown", f"{self.unknown} episodes"))
        rows += [(f"error {kind}", Cell(str(count), "bad")) for kind, count in self.errors.items()]
        return table(("", ""), rows)


def summarise(episodes: Sequence[Episode], *, id: str, policy: str, seed: int, failed: Sequence[str] = ()) -> Summary:
    """The summary of a run's episodes, and of the kinds of failure of those that could not be played."""
    returns = [episode.episode_return for episode in episodes if episode.episode_return is not None]
    sources = sorted({episode.data for episode in episodes})
    return Summary(
        id=id,
        policy=policy,
        episodes=len(episodes) + len(failed),
        seed=seed,
        data=sources[0] if len(sources) == 1 else "mixed" if sources else "",
        return_mean=_mean(returns),
        return_stderr=_standard_error(returns),
        rewards=_reward_means(episodes),
        errors=_count_errors(episodes) | _count_failures(failed),
        unknown=len(episodes) + len(failed) - len(returns),
    )


def _reward_means(episodes: Iterable[Episode]) -> dict[str, float | None]:
    values: dict[str, list[float]] = {}
    for episode in episodes:
        for name, score in episode.rewards.items():
            known = values.setdefault(name, [])
            if score.applies and score.value is not None:
                known.append(score.value)
    return {name: _mean(known) for name, known in values.items()}


def _count_errors(episodes: Iterable[Episode]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for episode in episodes:
        for step in episode.steps:
            counts.update(error.kind for error in step.errors)
            counts.update(result.error for result in step.results if result.error is not None)
    return dict(sorted(counts.items()))


def _count_failures(kinds: Iterable[str]) -> dict[str, int]:
    return {f"failed_{kind}": count for kind, count in sorted(Counter(kinds).items())}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _standard_error(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
