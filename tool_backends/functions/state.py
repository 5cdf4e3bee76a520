"""What the tools of one episode share: the World, and an instance of each class::

    class Pantry:
        def __init__(self, foods: dict[str, int]) -> None:
            self.foods = foods

    # task.initial_state == {"foods": {"plums": 12}}  ->  Pantry(foods={"plums": 12}), once an episode

Where an episode has one such part, the task's initial state is that part's, and so is the state at the end. Where it
has several, each has its own under its class's name: ``{"Pantry": {"foods": {...}}, "World": {...}}``.

No two episodes share anything that can be changed: instances are made afresh, with copies of the initial state, of
defaults, and of lists, dicts and other changeable attributes of the class.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from callgym.errors import CallGymError, ConfigurationError, DataError
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.functions.classes import HOOKS, changeable_attributes, is_hook, public_attributes
from callgym.tool_backends.functions.fault import fault_message
from callgym.tool_backends.functions.plan import FunctionPlan, RefusedArguments
from callgym.tool_backends.functions.result import state_json
from callgym.tool_backends.python import World

__all__ = ["ClassPart", "Part", "SharedState", "WorldPart"]

_log = logging.getLogger(__name__)


class Part(Protocol):
    """A kind of thing that each episode has one of."""

    made: type
    """Its class, by which parameters ask for it."""

    def check(self, initial: Mapping[str, Any], where: str) -> None:
        """Raise DataError where a part cannot begin like that."""

    def make(self, initial: Mapping[str, Any], shared: SharedState, where: str) -> Any:
        """The part of a new episode."""

    def state(self, part: Any) -> Any:
        """What it says of itself."""

    def close(self, part: Any) -> None:
        """Give back what it holds."""


class WorldPart:
    """The World: a dict of one's own, and seeded randomness."""

    made: type = World

    def check(self, initial: Mapping[str, Any], where: str) -> None:
        """Any state will do."""

    def make(self, initial: Mapping[str, Any], shared: SharedState, where: str) -> World:
        """A World over a copy of the state."""
        return World(initial, shared.seed)

    def state(self, part: World) -> Any:
        """The World's state."""
        return part.state

    def close(self, part: World) -> None:
        """Nothing to give back."""


class ClassPart:
    """A class of which every episode has an instance."""

    def __init__(self, made: type, shared: Collection[type]) -> None:
        """Read the constructor.

        Raises:
            ConfigurationError: No instance can be made of it, or not of JSON.
        """
        name = made.__name__
        if inspect.isabstract(made):
            missing = sorted(getattr(made, "__abstractmethods__"))  # noqa: B009  mypy knows it of ABCs only
            raise ConfigurationError(f"{name} is abstract: it lacks {missing}; give a class that has them")
        self.made = made
        self._plan = FunctionPlan.of(made, f"the constructor of {name}", shared=shared)
        self._parameters = self._plan.schema()
        self._schema = ToolSchema(Tool(name=name, parameters=self._parameters))
        self.asks = frozenset(self._plan.shared.values())
        """What its constructor wants of the episode."""
        self._attributes = changeable_attributes(made)
        self._hooks = [hook for hook in HOOKS if is_hook(made, hook)]

    def check(self, initial: Mapping[str, Any], where: str) -> None:
        """Raise DataError where the constructor cannot take this state."""
        fault = self._schema.check(dict(initial))
        if fault is None:
            return
        known = list(self._parameters["properties"])
        unknown = [] if self._parameters["additionalProperties"] else sorted(initial.keys() - set(known))
        if unknown:
            takes = ", ".join(known) or "no arguments"
            raise DataError(f"{where} has {unknown}, which {self.made.__name__} does not take; it takes: {takes}")
        raise DataError(f"{where} does not fit {self.made.__name__}: {fault.partition(' are invalid: ')[2]}")

    def make(self, initial: Mapping[str, Any], shared: SharedState, where: str) -> Any:
        """An instance made of the state.

        Raises:
            DataError: The constructor raised.
        """
        try:
            by_place, by_name = self._plan.bind(initial, shared.for_parameters(self._plan.shared))
            return self._instance(by_place, by_name)
        except RefusedArguments as error:
            raise DataError(f"{where} does not fit {self.made.__name__}: {error}") from error
        except CallGymError:
            raise
        except Exception as error:
            raise DataError(
                f"{where}: the constructor of {self.made.__name__} raised {fault_message(error)}"
            ) from error

    def _instance(self, by_place: Sequence[Any], by_name: Mapping[str, Any]) -> Any:
        if not self._attributes:
            return self.made(*by_place, **by_name)
        copies = {name: copy.deepcopy(value) for name, value in self._attributes.items()}
        instance = self.made.__new__(self.made, *by_place, **by_name)
        for name, value in copies.items():  # before the constructor, which may change them
            object.__setattr__(instance, name, value)
        instance.__init__(*by_place, **by_name)
        for name in (
            copies.keys() - vars(instance).keys()
        ):  # a constructor that begins with an empty __dict__: pydantic's
            object.__setattr__(instance, name, copies[name])
        return instance

    def state(self, part: Any) -> Any:
        """What its ``state()`` says; its public attributes where it has none."""
        return part.state() if "state" in self._hooks else dict(public_attributes(part))

    def close(self, part: Any) -> None:
        """Call its ``close()``, where it has one."""
        if "close" in self._hooks:
            part.close()


class SharedState:
    """The parts of one episode, each made when it is first asked for."""

    def __init__(self, parts: Sequence[Part], task: Task, seed: int) -> None:
        """Look at the task's initial state.

        Raises:
            DataError: It does not fit the parts.
        """
        self.seed = seed
        self._where = f"initial_state of task {task.id!r}"
        self._parts = {part.made: part for part in parts}
        self._initial = self._divided(task.initial_state)
        for part in parts:
            part.check(self._initial[part.made], self._where)
        self._made: dict[type, Any] = {}
        self._making: list[type] = []

    @property
    def is_empty(self) -> bool:
        """Whether the tools share nothing."""
        return not (self._parts or self._made)  # randomness is no part, and shared

    def get(self, kind: type) -> Any:
        """The episode's own World, instance or randomness.

        Raises:
            DataError: It cannot be made of the task's initial state.
        """
        if kind not in self._made:
            self._made[kind] = self._make(kind)
        return self._made[kind]

    def for_parameters(self, wanted: Mapping[str, type]) -> dict[str, Any]:
        """What each of the parameters gets."""
        return {name: self.get(kind) for name, kind in wanted.items()}

    def as_json(self) -> dict[str, Any]:
        """The state of all parts; changing it changes nothing."""
        states = {kind.__name__: self._state(kind, part) for kind, part in self._parts.items()}
        return next(iter(states.values())) if len(states) == 1 else states

    def close(self) -> None:
        """Close what was made, last made first."""
        made, self._made = self._made, {}
        for kind, part in reversed(made.items()):
            if kind in self._parts:
                try:
                    self._parts[kind].close(part)
                except Exception:  # an episode that is over cannot fail any more
                    _log.warning("%s.close() raised", kind.__name__, exc_info=True)

    def _make(self, kind: type) -> Any:
        if kind is np.random.Generator:
            return self.get(World).rng if World in self._parts else np.random.default_rng(self.seed)
        if kind in self._making:
            names = " and ".join(one.__name__ for one in self._making)
            raise ConfigurationError(f"the constructors of {names} ask for each other; one has to come first")
        self._making.append(kind)
        try:
            return self._parts[kind].make(self._initial[kind], self, self._where)
        finally:
            self._making.pop()

    def _state(self, kind: type, part: Part) -> dict[str, Any]:
        state = part.state(self.get(kind))
        written = state_json(state)
        if not isinstance(written, dict):
            raise TypeError(f"the state of {kind.__name__} is a dict, got {type(state).__name__}")
        return written

    def _divided(self, initial: Mapping[str, Any]) -> dict[type, Mapping[str, Any]]:
        """Each part's share of the initial state."""
        if len(self._parts) <= 1:
            return dict.fromkeys(self._parts, initial)
        names = {kind.__name__: kind for kind in self._parts}
        unknown = sorted(initial.keys() - names.keys())
        if unknown:
            raise DataError(
                f"{self._where} has {unknown}; the tools have one part of it each, named {', '.join(names)}"
            )
        shares = {kind: initial.get(name, {}) for name, kind in names.items()}
        for kind, share in shares.items():
            if not isinstance(share, dict):
                raise DataError(f"{self._where}: {kind.__name__} is an object, got {type(share).__name__}")
        return shares
