"""What runs in a worker process: a local stage, and one method that moves whole batches.

``exchange`` takes what is to be begun and done, and gives what has come of it. A second ``exchange`` may come while the
first one waits for tools; then the first returns. Ray may run the two in either order, so they are numbered. Everything
that leaves is pickled here, one by one: an exception that cannot be pickled, or a record that holds what cannot, spoils
itself and nothing else.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from callgym.errors import ConfigurationError, in_one_line
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.local_stage import EnvMaker, LocalStage
from callgym.rollouts.play import play
from callgym.rollouts.policy import Policy
from callgym.rollouts.stage import Act, EnvView, Failed, Failure, Outcome, Start, Turn

__all__ = ["Batch", "Recipe", "Worker"]

_LINGER_SECONDS = 0.0005  # what ends at nearly the same time travels together


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a worker is made from."""

    makers: Mapping[str, EnvMaker]
    """Id to what makes its environment."""
    episodes: int
    """Most episodes side by side."""
    limits: RolloutLimits
    """How long steps and episodes may take."""
    policy: Policy | None
    """What acts here; None where actions come from the driver."""


@dataclass(slots=True)
class Batch:
    """What one call brings to a worker."""

    starts: list[Start] = field(default_factory=list)
    """Episodes to begin."""
    acts: list[Act] = field(default_factory=list)
    """Actions to take."""
    truncates: list[int] = field(default_factory=list)
    """Episodes to end."""
    drop: bool = False
    """Forget all episodes that came before."""

    def __bool__(self) -> bool:
        return bool(self.starts or self.acts or self.truncates or self.drop)


class _Side(Protocol):
    """What an exchange talks to."""

    def take(self, batch: Batch) -> None: ...

    def outcomes(self, released: Callable[[], bool]) -> list[Outcome]: ...

    def wake(self) -> None: ...


class Worker:
    """Holds environments and the episodes in them."""

    def __init__(self, recipe: bytes, imports: Sequence[str] = ()) -> None:
        """Make nothing yet: what fails in ``ready`` can be told.

        Args:
            recipe: From ``packed_recipe``; the driver's own, and never anything that a model or a file wrote.
            imports: Modules to import before it can be read.
        """
        self._recipe = recipe
        self._imports = imports
        self._side: _Side | None = None
        self._stage: LocalStage | None = None
        self._taken = threading.Condition()
        self._latest = 0

    def ready(self) -> dict[str, Any]:
        """Make the first environments, and say what this process is.

        Raises:
            ConfigurationError: The recipe cannot be followed here.
        """
        recipe = _unpickled(self._recipe, self._imports)
        self._stage = stage = LocalStage(recipe.makers, recipe.episodes, recipe.limits)
        for id in recipe.makers:
            try:
                stage.seat(id)
            except Exception as error:  # as text: what was raised may not travel
                raise ConfigurationError(
                    f"{in_one_line(error)} Ids of your own are registered on a worker by the modules that "
                    "RayWorkers(imports=...) names."
                ) from None
        self._side = _Stepping(stage) if recipe.policy is None else _Playing(stage, recipe.policy, recipe.episodes)
        return {"pid": os.getpid(), "torch": "torch" in sys.modules}

    def exchange(self, number: int, batch: Batch) -> list[bytes]:
        """Do what the batch says, wait until something has come of this or an earlier one, and hand that over.

        Args:
            number: Which exchange it is, from 1: they are taken in this order.
            batch: What is to be done.
        """
        assert self._side is not None
        with self._taken:
            self._taken.wait_for(lambda: self._latest == number - 1)
            self._latest = number
            self._side.wake()
            try:
                self._side.take(batch)
            finally:
                self._taken.notify_all()
        return [_packed(outcome) for outcome in self._side.outcomes(lambda: self._latest != number)]

    def stepping(self) -> tuple[int, float] | None:
        """The episode whose step holds this process now, and for how many seconds."""
        return None if self._stage is None else self._stage.stepping


class _Stepping:
    """Actions come from the driver."""

    def __init__(self, stage: LocalStage) -> None:
        self._stage = stage

    def take(self, batch: Batch) -> None:
        if batch.drop:
            self._stage.drop()
        self._stage.start(batch.starts)
        self._stage.act(batch.acts)
        self._stage.truncate(batch.truncates)

    def outcomes(self, released: Callable[[], bool]) -> list[Outcome]:
        found = self._stage.outcomes(released=released)
        if found and self._stage.waiting:
            time.sleep(_LINGER_SECONDS)
            found += self._stage.outcomes(0.0)
        return found

    def wake(self) -> None:
        self._stage.wake()


class _Playing:
    """Actions are written here, in a thread that plays whole episodes."""

    def __init__(self, stage: LocalStage, policy: Policy, batch_size: int) -> None:
        self._stage = stage
        self._policy = policy
        self._batch_size = batch_size
        self._starts: queue.Queue[Start] = queue.Queue()
        self._ended: deque[Outcome] = deque()
        self._under_way = 0
        self._fault: BaseException | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._play, name="callgym-play", daemon=True).start()

    def take(self, batch: Batch) -> None:
        if batch.drop:
            self._forget_unbegun()
        with self._changed:
            self._under_way += len(batch.starts)
        for start in batch.starts:
            self._starts.put(start)

    def outcomes(self, released: Callable[[], bool]) -> list[Outcome]:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or not self._under_way or self._fault or released())
            if self._fault is not None:
                raise self._fault
            found = list(self._ended)
            self._ended.clear()
            self._under_way -= len(found)
        return found

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _forget_unbegun(self) -> None:
        """What is being played goes on to its end, which nobody waits for any more."""
        with self._changed, contextlib.suppress(queue.Empty):
            while True:
                self._starts.get_nowait()
                self._under_way -= 1

    def _play(self) -> None:
        try:
            for outcome in play(self._stage, self._policy, self._waiting(), self._batch_size):
                with self._changed:
                    self._ended.append(outcome)
                    self._changed.notify_all()
        except BaseException as error:  # the thread's end is the worker's: an exchange raises it
            with self._changed:
                self._fault = ConfigurationError(f"policy {self._policy.name!r}: {in_one_line(error)}")
                self._changed.notify_all()

    def _waiting(self) -> Iterator[Start | None]:
        while True:
            try:
                yield self._starts.get(block=not self._stage.busy)
            except queue.Empty:
                yield None


def _packed(outcome: Outcome) -> bytes:
    if isinstance(outcome, Turn) and outcome.env is not None and not isinstance(outcome.env, EnvView):
        outcome = Turn(
            outcome.key, outcome.step, outcome.observation, outcome.messages, outcome.tools, EnvView.of(outcome.env)
        )
    try:
        return pickle.dumps(outcome, protocol=5)
    except Exception as error:
        words = f"the record cannot be sent: {in_one_line(error)}"
        return pickle.dumps(Failed(outcome.key, Failure("unpicklable", words)))


def _unpickled(recipe: bytes, imports: Sequence[str]) -> Recipe:
    try:
        for name in imports:
            importlib.import_module(name)
        found: Recipe = pickle.loads(recipe)
    except Exception as error:
        raise ConfigurationError(
            f"a worker cannot load what it is to play ({in_one_line(error)}); what your own modules define must be "
            "importable there: RayWorkers(imports=...) names modules"
        ) from None
    return found


def packed_recipe(recipe: Recipe, dumps: Callable[[Any], bytes]) -> bytes:
    """The recipe as it travels.

    Raises:
        ConfigurationError: Something in it cannot be pickled.
    """
    try:
        return dumps(recipe)
    except Exception as error:
        raise ConfigurationError(
            f"{_culprit(recipe, dumps)} cannot be sent to a worker ({in_one_line(error)}); give what can be pickled: "
            "names, numbers, and functions that make the rest"
        ) from error


def _culprit(recipe: Recipe, dumps: Callable[[Any], bytes]) -> str:
    try:
        dumps(recipe.policy)
    except Exception:
        return "the policy"
    return "the environment's options"
