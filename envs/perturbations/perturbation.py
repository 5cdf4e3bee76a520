"""What a perturbation is: a frozen value that turns a task into another task, all chance from the generator given.

Each says in ``meta["perturbed"]`` what it did. A task that it cannot soundly change stays as it is, and the entry
says why::

    {"spec": "remove_tool", "applied": true, "removed": ["AddAlarm"]}
    {"spec": "hide_parameter", "applied": false, "why": "no value stands verbatim in the user's words"}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from callgym.envs.perturbations.offered import is_offered, offered_again, opened
from callgym.task import Task

__all__ = ["Changed", "LeftAlone", "Perturbation", "Spec", "note", "notes_of"]

Spec = str | Mapping[str, Any]
"""A perturbation as JSON: its name, or an object with ``name`` and options; see ``specs.get_perturbation``."""


class LeftAlone(Exception):
    """The task cannot soundly be changed; the text says why."""


class Changed(NamedTuple):
    """A task that was changed."""

    task: Task
    details: dict[str, Any]
    """What was done, as JSON, for the task's ``meta``."""


@dataclass(frozen=True)
class Perturbation(ABC):
    """Base of all perturbations; the fields of a subclass are its options."""

    name: ClassVar[str]
    """What specs call it."""
    keeps_replies: ClassVar[bool] = True
    """Whether the replies that a multiple choice offers fit the changed task, too."""

    def __call__(self, task: Task, rng: np.random.Generator) -> Task:
        """The changed task under the same id, or the same task with a note of why it was left alone."""
        offered = is_offered(task)
        try:
            if offered and not self.keeps_replies:
                raise LeftAlone("the replies that are offered tell what is hidden")
            changed = self.change(opened(task) if offered else task, rng)
        except LeftAlone as reason:
            return note(task, {"spec": self.spec, "applied": False, "why": str(reason)})
        after = offered_again(changed.task, task) if offered else changed.task
        return note(after, {"spec": self.spec, "applied": True, **changed.details})

    @abstractmethod
    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """The changed task; the given one stays as it is.

        Raises:
            LeftAlone: The task cannot soundly be changed.
        """

    @property
    def spec(self) -> Any:
        """The spec that makes it again: its name, or an object with the options that differ from their defaults."""
        options = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.metadata.get("option", True) and getattr(self, field.name) != field.default
        }
        return {"name": self.name, **options} if options else self.name


def note(task: Task, entry: dict[str, Any]) -> Task:
    """The task with one more entry in ``meta["perturbed"]``."""
    return task.model_copy(update={"meta": {**task.meta, "perturbed": [*notes_of(task), entry]}})


def notes_of(task: Task) -> list[Any]:
    """What was done to a task so far, in order."""
    notes: Any = task.meta.get("perturbed", [])
    return list(notes)
