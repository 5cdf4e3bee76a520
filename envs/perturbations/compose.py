"""Perturbations one after the other, and one for a share of the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation, note
from callgym.errors import ConfigurationError
from callgym.task import Task

__all__ = ["Compose", "Sometimes"]


@dataclass(frozen=True)
class Compose(Perturbation):
    """Several perturbations, each on what the one before it left."""

    name: ClassVar[str] = "compose"

    of: tuple[Perturbation, ...] = ()
    """The perturbations, in order."""

    def __call__(self, task: Task, rng: np.random.Generator) -> Task:
        """The task after all of them; each leaves its own note."""
        for perturbation in self.of:
            task = perturbation(task, rng)
        return task

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """As the call does."""
        return Changed(self(task, rng), {})

    @property
    def spec(self) -> Any:
        """See ``Perturbation``."""
        return {"name": self.name, "of": [perturbation.spec for perturbation in self.of]}


@dataclass(frozen=True)
class Sometimes(Perturbation):
    """A perturbation for a share of the tasks, drawn task by task."""

    name: ClassVar[str] = "sometimes"

    share: float
    """Above 0 and at most 1."""
    perturbation: Perturbation
    """What is done to the tasks that are drawn."""

    def __post_init__(self) -> None:
        given: Any = self.share
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= 1:
            raise ConfigurationError(f"the share of tasks that a perturbation is for is in (0, 1], got {given!r}")

    def __call__(self, task: Task, rng: np.random.Generator) -> Task:
        """The changed task, or the given one with a note that it was not drawn."""
        try:
            return self.change(task, rng).task
        except LeftAlone as reason:
            return note(task, {"spec": self.spec, "applied": False, "why": str(reason)})

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        if float(rng.random()) >= self.share:
            raise LeftAlone("not drawn")
        return Changed(self.perturbation(task, rng), {})

    @property
    def spec(self) -> Any:
        """``"rename:0.5"``, or the perturbation's object with ``share``."""
        inner = self.perturbation.spec
        if isinstance(inner, Mapping):
            return {**inner, "share": self.share}
        return f"{inner}:{self.share!r}"
