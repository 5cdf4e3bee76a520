"""The tasks of a page: each goal once, with its tools where there is room for them, and without where there is not.

Where every episode has a task of its own (perturbed by its seed), tools would take up most of a page. The prompt of an
episode shows them in any case.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from callgym.task import Task
from callgym.viewer.columns import Played
from callgym.viewer.entries import task_entry
from callgym.viewer.exact import json_bytes
from callgym.viewer.packed import Blocks

__all__ = ["Goals", "TaskBlocks"]

_MOST_REASONS = 20
_LEFT_OUT = ("tools", "meta")
_NOTE = "the tools are left out, to save room; the prompt shows them"


class TaskBlocks:
    """Tasks in blocks, equal ones once."""

    def __init__(self, blocks: Blocks, goals: int) -> None:
        """Begin with the number of goals."""
        self.blocks = blocks
        """The tasks."""
        self.places: list[tuple[int, int] | None] = [None] * goals
        """By goal, block and place in it; None where the task was not found."""
        self._known: dict[bytes, tuple[int, int]] = {}

    def add(self, goal: int, entry: object) -> None:
        """Put in the task of a goal."""
        digest = hashlib.sha256(json_bytes(entry)).digest()
        if digest not in self._known:
            self._known[digest] = self.blocks.add(entry)
        self.places[goal] = self._known[digest]


class Goals:
    """Tasks that were found, and why others were not."""

    def __init__(self, whole: Blocks, lean: Blocks, goals: Sequence[Played | None], keys: Iterable[int]) -> None:
        """Begin without a task.

        Args:
            whole: Takes tasks with all that is theirs.
            lean: Takes them without what can be done without.
            goals: An episode for each goal.
            keys: The goal of each episode.
        """
        self._goals = goals
        self._asked = Counter(keys)
        self._whole, self._lean = TaskBlocks(whole, len(goals)), TaskBlocks(lean, len(goals))
        self.found = 0
        """Episodes whose task is there."""
        self.missing: dict[str, int] = {}
        """Why tasks are not there, and of how many episodes."""
        self.cut = 0
        """Texts that were cut because they are too long."""

    def add(self, tasks: Iterable[tuple[int, Task | str]], most: int) -> None:
        """Put in goals' tasks, or why there are none.

        Args:
            tasks: From ``find_tasks``.
            most: Most characters of a text.
        """
        for place, task in tasks:
            asked, goal = self._asked[place], self._goals[place]
            if isinstance(task, str) or goal is None:
                self._miss(str(task), asked)
                continue
            self.found += asked
            entry, cut = task_entry(goal.episode.env_id, task, most)
            self.cut += cut
            self._whole.add(place, entry)
            lean = {name: value for name, value in entry.items() if name not in _LEFT_OUT}
            self._lean.add(place, {**lean, "cut": [*entry.get("cut", ()), _NOTE]})
        self._whole.blocks.finish()
        self._lean.blocks.finish()

    def within(self, most_bytes: int) -> TaskBlocks:
        """The tasks as a whole, if they take up no more than that; else lean."""
        return self._whole if self._whole.blocks.characters <= most_bytes else self._lean

    def _miss(self, reason: str, episodes: int) -> None:
        if reason not in self.missing and len(self.missing) >= _MOST_REASONS:
            reason = "other reasons"
        self.missing[reason] = self.missing.get(reason, 0) + episodes
