"""A stage: where episodes are played, in this process or on Ray workers, while somebody else writes the actions::

    stage.start([Start(key=0, task=3, seed=7)])
    for outcome in stage.outcomes():  # Turn: an action is asked for; Ended: here is the record; Failed: it broke
        stage.act([Act(outcome.key, "...")])

Whoever writes the actions (``play``, a trainer) knows nothing of where the tools run. Starting and acting do not
wait for tools; ``outcomes`` does.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from callgym.dialects import DIALECTS, Dialect
from callgym.envs.base import ToolEnv
from callgym.episode import Episode
from callgym.errors import ConfigurationError

__all__ = [
    "Act",
    "Ended",
    "EnvView",
    "Failed",
    "Failure",
    "FailureKind",
    "Outcome",
    "Stage",
    "Start",
    "StepTimes",
    "Turn",
]

FailureKind = Literal["exception", "step_timeout", "episode_timeout", "worker_lost", "unpicklable"]

StepTimes = tuple[float | None, float | None]
"""Seconds by the clock in which the batch with a step's action was written, and in which the environment took the step;
None where that is not known."""


@dataclass(frozen=True, slots=True)
class Start:
    """An episode to be played."""

    key: int
    """The caller's name for it; no two episodes under way share one."""
    task: int | str
    """As in ``reset(options={"task": ...})``."""
    seed: int
    """Its seed."""
    id: str = ""
    """Which of the stage's environments; empty where there is one."""
    alone: bool = False
    """Play it where nothing else is played: its company has been lost before."""


@dataclass(frozen=True, slots=True)
class Act:
    """An action for an episode under way."""

    key: int
    """The episode."""
    action: str
    """The text."""
    cut: bool = False
    """The text was cut off by its writer's limit: nothing of it is run, and the episode ends ``truncated``."""


@dataclass(frozen=True, slots=True)
class EnvView:
    """What can be known of an environment that is elsewhere."""

    env_id: str
    """The registered id."""
    dialect: Dialect
    """How calls are written in this episode."""
    protocol: str
    """How the episode goes."""
    observation_mode: str
    """``prompt`` or ``delta``."""
    given: int
    """How many messages the episode began with."""

    @classmethod
    def of(cls, env: ToolEnv) -> EnvView:
        """The view of a running episode."""
        return cls(env.env_id, env.dialect, env.protocol, env.observation_mode, len(env.task.messages))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ConfigurationError(
            f"this policy asks for the environment's {name!r}, and the environment is on a Ray worker: let the "
            'policy act there, too, with RayWorkers(policy="worker")'
        )

    def __reduce__(self) -> tuple[Any, ...]:
        known = DIALECTS.get(self.dialect.name)
        written = self.dialect.name if known is self.dialect else self.dialect
        return _view, (self.env_id, written, self.protocol, self.observation_mode, self.given)


@dataclass(frozen=True, slots=True)
class Turn:
    """An episode goes on, and asks for an action."""

    key: int
    """The episode."""
    step: int
    """Actions taken so far; at 0 it has just begun, or begun again."""
    observation: str
    """What the environment returned last."""
    messages: tuple[dict[str, Any], ...]
    """The new ones; at the beginning all. Read them, do not change them."""
    tools: tuple[dict[str, Any], ...] | None
    """All of them, in OpenAI's shape, at the beginning and where they have changed; else None."""
    env: ToolEnv | EnvView | None
    """At the beginning; else None."""
    seconds: float | None = field(default=None, compare=False)
    """How long the environment took for the step that led here, by the clock; None at the beginning."""


@dataclass(frozen=True, slots=True)
class Ended:
    """An episode is over."""

    key: int
    """The episode."""
    episode: Episode
    """Its record."""
    seconds: float | None = field(default=None, compare=False)
    """How long the environment took for the last step, by the clock; None where it was ended without one."""
    times: tuple[StepTimes, ...] | None = field(default=None, compare=False)
    """Of each step, where whoever wrote the actions has put them down."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an episode could not be played to its end: a fault of the machine or of code, never of the policy."""

    kind: FailureKind
    """An ``exception`` out of the environment, a ``step_timeout`` or ``episode_timeout``, a ``worker_lost`` in the
    middle of it, or a record that is ``unpicklable``."""
    message: str
    """One line."""
    trace: str = ""
    """Where, for a bug."""
    attempts: int = 1
    """How often it was tried."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An episode broke; another may be started under its key."""

    key: int
    """The episode."""
    failure: Failure
    """Why."""
    blamed: bool = True
    """False where it is known that another episode broke it."""


Outcome = Turn | Ended | Failed


class Stage(Protocol):
    """Plays episodes side by side."""

    @property
    def free(self) -> int:
        """How many more episodes can be started now."""

    @property
    def waiting(self) -> int:
        """Episodes whose next outcome is still to come."""

    def start(self, starts: Sequence[Start]) -> None:
        """Begin episodes."""

    def act(self, acts: Sequence[Act]) -> None:
        """Take an action in each of these episodes."""

    def truncate(self, keys: Sequence[int]) -> None:
        """End episodes where they stand, after at least one action; their records come as outcomes."""

    def outcomes(self, timeout: float | None = None) -> list[Outcome]:
        """What has come of what was begun; waits until there is something, or nothing to wait for.

        Args:
            timeout: Most seconds to wait; no end by default.
        """

    def drop(self) -> None:
        """Forget the episodes under way: nothing comes of them any more, and others may be started."""

    def close(self) -> None:
        """Close the environments; episodes under way are dropped."""


def _view(env_id: str, dialect: str | Dialect, protocol: str, observation_mode: str, given: int) -> EnvView:
    known = DIALECTS[dialect] if isinstance(dialect, str) else _same(pickle.dumps(dialect), dialect)
    return EnvView(env_id, known, protocol, observation_mode, given)


_MOST_DIALECTS = 256
_dialects: OrderedDict[bytes, Dialect] = OrderedDict()


def _same(key: bytes, dialect: Dialect) -> Dialect:
    """The same object for the same dialect: what others keep by dialect stays small."""
    found = _dialects.setdefault(key, dialect)
    if len(_dialects) > _MOST_DIALECTS:
        _dialects.popitem(last=False)
    return found
