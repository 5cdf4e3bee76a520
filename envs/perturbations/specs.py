"""Perturbations by name: what ``gym.make(..., perturb=[...])`` takes and an episode's config records::

"remove_tool"                                      # on every task that it can soundly change
"rename:0.5"                                       # on half of the tasks
{"name": "distractors", "count": 5, "share": 0.3}  # with options
{"name": "compose", "of": ["rename", "shuffle"], "share": 0.5}
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from callgym.envs.perturbations.compose import Compose, Sometimes
from callgym.envs.perturbations.distractors import Distractors
from callgym.envs.perturbations.empty import Empty
from callgym.envs.perturbations.hide_parameter import HideParameter
from callgym.envs.perturbations.perturbation import Perturbation, Spec
from callgym.envs.perturbations.remove_tool import RemoveTool
from callgym.envs.perturbations.rename import Rename
from callgym.envs.perturbations.shuffle import Shuffle
from callgym.errors import ConfigurationError
from callgym.task import Task

__all__ = ["PERTURBATIONS", "get_perturbation", "spec_of"]

PERTURBATIONS: dict[str, type[Perturbation]] = {
    kind.name: kind for kind in (RemoveTool, HideParameter, Rename, Distractors, Shuffle, Empty, Compose)
}
"""Name to class; its fields are the options."""

_Function = Callable[[Task, np.random.Generator], Task]


def get_perturbation(spec: Spec | _Function, tasks: Sequence[Task] = ()) -> _Function:
    """The perturbation of a spec; a function of one's own is returned as it is.

    Args:
        spec: A name, ``"name:share"``, an object with ``name``, options and perhaps ``share``, or a function
            (task, rng) -> task.
        tasks: Where ``distractors`` takes look-alikes from: the environment's tasks.

    Raises:
        ConfigurationError: There is no such perturbation or option; the message lists those there are.
    """
    if isinstance(spec, str):
        return _named(spec, tasks)
    if isinstance(spec, Mapping):
        return _with_options(spec, tasks)
    if callable(spec):
        return spec
    raise ConfigurationError(
        f"a perturbation is a name, an object with 'name', or a function (task, rng) -> task, got {spec!r}; "
        f"there are: {', '.join(PERTURBATIONS)}"
    )


def spec_of(perturbation: _Function) -> Any:
    """What an episode's config records: the spec, or for a function of one's own where it stands."""
    if isinstance(perturbation, Perturbation):
        return perturbation.spec
    plain = perturbation.func if isinstance(perturbation, functools.partial) else perturbation
    return f"{getattr(plain, '__module__', '')}:{getattr(plain, '__qualname__', type(plain).__qualname__)}"


def _named(spec: str, tasks: Sequence[Task]) -> Perturbation:
    name, colon, share = spec.partition(":")
    if name not in PERTURBATIONS or not colon:
        return _with_options({"name": spec}, tasks)
    try:
        return _with_options({"name": name, "share": float(share)}, tasks)
    except ValueError:
        raise ConfigurationError(f"{spec!r}: behind the colon stands the share of tasks, a number in (0, 1]") from None


def _with_options(spec: Mapping[str, Any], tasks: Sequence[Task]) -> Perturbation:
    options = dict(spec)
    name, share = options.pop("name", None), options.pop("share", None)
    kind = PERTURBATIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ConfigurationError(f"no perturbation {name!r}; there are: {', '.join(PERTURBATIONS)}")
    known = [field.name for field in fields(kind) if field.metadata.get("option", True)]
    unknown = [option for option in options if option not in known]
    if unknown:
        listed = ", ".join([*known, "share"])
        raise ConfigurationError(f"perturbation {name!r} has no option {unknown[0]!r}; its options are: {listed}")
    perturbation = _made(kind, options, tasks)
    return perturbation if share is None else Sometimes(share, perturbation)


def _made(kind: type[Perturbation], options: dict[str, Any], tasks: Sequence[Task]) -> Perturbation:
    if kind is Compose:
        listed = options.get("of", ())
        if isinstance(listed, (str, Mapping)) or not isinstance(listed, Sequence):
            raise ConfigurationError(f"perturbation 'compose' takes a list of perturbations under 'of', got {listed!r}")
        return Compose(tuple(_inner(spec, tasks) for spec in listed))
    if kind is Distractors and tasks and options.get("pool", "tasks") == "tasks":
        return Distractors.from_tasks(tasks, **options)
    return kind(**options)


def _inner(spec: Any, tasks: Sequence[Task]) -> Perturbation:
    perturbation = get_perturbation(spec, tasks)
    if not isinstance(perturbation, Perturbation):
        raise ConfigurationError(f"compose takes perturbations of callgym.envs.perturbations, got {spec!r}")
    return perturbation
