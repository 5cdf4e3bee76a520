"""The tasks of the format sensitivity test: each of some entries in each of the 26 prompt formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import overload

from callgym.goal import CallsGoal
from callgym.task import Task

__all__ = ["FormatVariants", "fits_json"]

_CATEGORY = "format_sensitivity"
_JSON = "ret_fmt=json&"


class FormatVariants(Sequence[Task]):
    """Each original in each format, formats running fastest; a task is made once, when it is asked for.

    ``meta`` has the ``format``, the ``original`` id and the ``original_category``, whose rules the task is checked by.
    """

    def __init__(self, originals: Sequence[Task], formats: Sequence[str], prefix: str) -> None:
        """Take the originals, the formats' configurations, and what a task's id begins with: before its number."""
        self._originals = originals
        self._formats = formats
        self._prefix = prefix
        self._made: dict[int, Task] = {}

    def __len__(self) -> int:
        return len(self._originals) * len(self._formats)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | Sequence[Task]:
        if isinstance(index, slice):
            return [self._task(place) for place in range(len(self))[index]]
        return self._task(range(len(self))[index])

    def _task(self, place: int) -> Task:
        if place not in self._made:
            original = self._originals[place // len(self._formats)]
            form = self._formats[place % len(self._formats)]
            meta = {
                **original.meta,
                "category": _CATEGORY,
                "format": form,
                "original": original.id,
                "original_category": original.meta["category"],
            }
            if form.startswith(_JSON) and not fits_json(original):
                meta["label_fault"] = "the official reader of JSON cuts a list of objects: no call can pass"
            id = f"{self._prefix}{place}:{form}:{original.id}"
            self._made[place] = original.model_copy(update={"id": id, "meta": meta})
        return self._made[place]


def fits_json(task: Task) -> bool:
    """Whether the official reader of JSON calls can read the gold: it stops at the first ``}]``, wherever that is."""
    goal = task.goal_of(CallsGoal)
    calls = goal.turns[0] if goal is not None else ()
    return all("}]" not in json.dumps(call.reference().arguments) for call in calls)
