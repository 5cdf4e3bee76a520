"""The tasks of episodes that were played before: what scores from records needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from callgym.data import DataSource
from callgym.episode import Episode
from callgym.errors import DataError
from callgym.task import Task

__all__ = ["PlayedTasks"]


class PlayedTasks:
    """Finds tasks by the ids in records; those that belong together are loaded when one of them is met."""

    def __init__(self, source: DataSource, load: Callable[[DataSource, str], Iterable[Task]]) -> None:
        """Take the data, and what loads the tasks among which one with a certain id would be."""
        self._source = source
        self._load = load
        self._tasks: dict[str, Task] = {}

    def of(self, episode: Episode) -> Task:
        """The task of an episode.

        Raises:
            DataError: It is none of the tasks.
        """
        id = episode.task_id
        if id not in self._tasks:
            self._tasks.update((task.id, task) for task in self._load(self._source, id))
        if id not in self._tasks:
            raise DataError(f"an episode's task {id!r} is none of the tasks in data={self._source.kind!r}")
        return self._tasks[id]
