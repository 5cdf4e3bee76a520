"""Official scores of played episodes: accuracy of calls, level 3's sample accuracy, ROUGE-L of replies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from callgym.data import find_source
from callgym.envs.apibank.rewards import apibank_exec, apibank_rouge
from callgym.envs.apibank.tasks import load_official
from callgym.episode import Episode
from callgym.errors import DataError
from callgym.task import Task

__all__ = ["official_scores"]

_LEVELS = (1, 2, 3)


@dataclass
class _Level:
    """What was counted of one level."""

    calls: int = 0
    right: int = 0
    unknown: int = 0
    rouge: list[float] = field(default_factory=list)
    samples: dict[str, bool] = field(default_factory=lambda: defaultdict(lambda: True))
    """Dialogue to whether all its calls are right."""

    def add(self, task: Task, episode: Episode) -> None:
        """Count one episode."""
        call, reply = apibank_exec(task, episode), apibank_rouge(task, episode)
        if call.applies and call.value is not None:
            self.calls += 1
            self.right += call.value == 1.0
            self.samples[str(task.meta["dialogue"])] &= call.value == 1.0
        elif not call.applies and reply.value is not None:
            self.rouge.append(reply.value)
        else:
            self.unknown += 1

    def summary(self, level: int) -> dict[str, Any]:
        """The level's numbers; None where there is nothing to count."""
        row: dict[str, Any] = {
            "level": level,
            "calls": self.calls,
            "right": self.right,
            "accuracy": self.right / self.calls if self.calls else None,
        }
        if level == 3:
            right = sum(self.samples.values())
            row["samples"] = len(self.samples)
            row["sample_accuracy"] = right / len(self.samples) if self.samples else None
        row["replies"] = len(self.rouge)
        row["rouge_l"] = sum(self.rouge) / len(self.rouge) if self.rouge else None
        row["not_scored"] = self.unknown
        return row


def official_scores(episodes: Iterable[Episode], data: str = "auto") -> Iterator[dict[str, Any]]:
    """Score teacher-forced episodes, level by level.

    The official sample accuracy divides by 50, the number of samples; here it is the number of samples
    that were played, which is the same where all were.

    Args:
        episodes: Records of ``step`` episodes on official tasks, of any levels.
        data: Where the tasks are, as in ``gym.make``.

    Yields:
        ``{"level", "calls", "right", "accuracy", "replies", "rouge_l", "not_scored"}``, at level 3 also
        ``samples`` and ``sample_accuracy``; a score is None where nothing was counted.

    Raises:
        DataError: The official data is missing, or an episode is of none of its tasks.
    """
    source = find_source("apibank", data)
    if source.folder is None:
        raise DataError("official scores need the official tasks: give their folder, or: callgym fetch apibank")
    tasks: dict[str, Task] = {}
    for level in _LEVELS:
        tasks.update((task.id, task) for task in load_official(source.folder, level, "test", "all"))
    levels: dict[int, _Level] = defaultdict(_Level)
    for episode in episodes:
        task = tasks.get(episode.task_id)
        if task is None:
            raise DataError(f"an episode's task {episode.task_id!r} is no official teacher-forced task")
        levels[int(str(task.meta["level"]))].add(task, episode)
    for level in sorted(levels):
        yield levels[level].summary(level)
