"""The leaderboard's numbers for episodes that were played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from callgym.data import DataSource, find_source
from callgym.envs.bfcl.categories import CATEGORIES, category_of
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.loading import official_tasks, starter_tasks
from callgym.envs.bfcl.official.leaderboard import columns, format_sensitivity
from callgym.envs.bfcl.rewards import bfcl_agentic, bfcl_ast, bfcl_multi_turn
from callgym.envs.played import PlayedTasks
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
    tasks = PlayedTasks(find_source("bfcl", data), _load)
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


def _load(source: DataSource, id: str) -> Sequence[Task]:
    """The tasks of the category and split that an id is of."""
    category = category_of(id)
    if id.startswith("starter/"):
        return starter_tasks(category, id.split("/")[2])
    if source.folder is None:
        raise DataError("official scores of official tasks need their files: give the folder, or: callgym fetch bfcl")
    return official_tasks(BfclFiles(source.folder), category, "test")
