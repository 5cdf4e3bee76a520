"""The leaderboard's numbers for episodes that were played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from callgym.data import find_source
from callgym.envs.bfcl.categories import CATEGORIES, category_of
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.loading import official_tasks, starter_tasks
from callgym.envs.bfcl.official.leaderboard import columns, format_sensitivity
from callgym.envs.bfcl.rewards import bfcl_agentic, bfcl_ast, bfcl_multi_turn
from callgym.episode import Episode
from callgym.errors import DataError
from callgym.task import Task

__all__ = ["official_scores"]

_VERDICTS = {"multi_turn": bfcl_multi_turn, "memory": bfcl_agentic, "web_search": bfcl_agentic}


def official_scores(episodes: Iterable[Episode], data: str = "auto") -> Iterator[dict[str, Any]]:
    """Score episodes as the leaderboard does, category by category.

    Args:
        episodes: Records of any BFCL environment, under whatever rubric.
        data: Where the tasks are, as in ``gym.make``.

    Yields:
        ``{"category", "right", "episodes", "accuracy"}`` a category, then ``{"leaderboard": columns}`` with the
        official columns; a category that was not played counts 0 there, as officially, and shows as "N/A".

    Raises:
        DataError: The data is missing, or an episode is of none of its tasks.
    """
    tasks = _Tasks(data)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    formats: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for episode in episodes:
        task = tasks.of(episode)
        category = CATEGORIES[str(task.meta["category"])]
        score = _VERDICTS.get(category.kind, bfcl_ast)(task, episode)
        if score.value is None:
            raise DataError(f"an episode of {task.id!r} has no official verdict: {score.explanation}")
        for tally in (counts[category.name], *([formats[str(task.meta["format"])]] if "format" in task.meta else [])):
            tally[0] += score.value == 1.0
            tally[1] += 1
    pairs = {name: (right, total) for name, (right, total) in counts.items()}
    for name in CATEGORIES:
        if name in pairs:
            right, total = pairs[name]
            yield {"category": name, "right": right, "episodes": total, "accuracy": right / total}
    statistics = (
        format_sensitivity({name: (right, total) for name, (right, total) in formats.items()}) if formats else None
    )
    yield {"leaderboard": columns(pairs, statistics)}


class _Tasks:
    """Finds the tasks of episodes; a category's are loaded when one of them is met."""

    def __init__(self, data: str) -> None:
        self._source = find_source("bfcl", data)
        self._tasks: dict[str, Task] = {}
        self._loaded: set[tuple[str, str]] = set()

    def of(self, episode: Episode) -> Task:
        id = episode.task_id
        if id not in self._tasks:
            self._load(id)
        if id not in self._tasks:
            raise DataError(f"an episode's task {id!r} is none of the tasks in data={self._source.kind!r}")
        return self._tasks[id]

    def _load(self, id: str) -> None:
        category = category_of(id)
        split = id.split("/")[2] if id.startswith("starter/") else "test"
        if (category.name, split) in self._loaded:
            return
        self._loaded.add((category.name, split))
        if id.startswith("starter/"):
            found = starter_tasks(category, split)
        elif self._source.folder is None:
            raise DataError(
                "official scores of official tasks need their files: give the folder, or: callgym fetch bfcl"
            )
        else:
            found = official_tasks(BfclFiles(self._source.folder), category, split)
        self._tasks.update((task.id, task) for task in found)
