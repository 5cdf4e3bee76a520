"""Environments made again from the records of what was played in them::

    with contextlib.closing(EnvironmentPool()) as pool:
        env = pool.take(episode)
        env.reset(seed=episode.seed, options={"task": episode.task_id})

A file of episodes may come from anybody. What it names is looked up among what is registered; no module is
imported and nobody is called over a network because a record says so.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import CallGymError, ConfigurationError, DataError
from callgym.registry import ENVIRONMENTS
from callgym.rewards import Rubric, get_rubric
from callgym.rewards.presets import RUBRICS
from callgym.task import Task
from callgym.tool_backends.accepting import AcceptingBackend

__all__ = ["EnvFactory", "EnvironmentPool"]

EnvFactory = Callable[..., gym.Env[Any, Any]]
"""Makes an environment from the options that a record names."""

_MOST = 16
_NETWORK = re.compile(r"https?:|://")
_RESERVED = ("id", "data", "rubric", "render_mode", "self")
"""Options that a record has elsewhere, that shape no record, or that belong to ``gym.make`` itself."""
# What damaged options provoke in an environment's constructor.
_REFUSALS = (
    CallGymError,
    gym.error.Error,
    OSError,
    ImportError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)


class EnvironmentPool:
    """One environment for all episodes that were played in the same; the last few are kept."""

    def __init__(
        self,
        *,
        data: str | os.PathLike[str] | Sequence[Task] | None = None,
        env_options: Mapping[str, Any] | None = None,
        factory: EnvFactory | None = None,
        network: bool = False,
        tools: bool = True,
    ) -> None:
        """Create the pool.

        Args:
            data: The folder or the tasks of episodes that were played with such: their record does not say which.
            env_options: Arguments of ``gym.make`` that no record holds, for all episodes; they go before those of the
                record: a backend or a rubric that is an object, functions that perturb, ``exclude_flagged``.
            factory: What makes the environments, where they were made without a registered id.
            network: Whether options of a record may name servers, which are then called: tools, judges.
            tools: Without, no tool can be run: every call would be taken, and nothing is opened.
        """
        self._data = data
        given = dict(env_options or {})
        self._env_options = given if tools else {n: v for n, v in given.items() if n not in ("backend", "faults")}
        self._factory = factory
        self._network = network
        self._tools = tools
        self._made: OrderedDict[tuple[str, ...], ToolEnv | DataError] = OrderedDict()

    def take(self, episode: Episode, rubric: str | None = None) -> ToolEnv:
        """The environment in which an episode was played, in whatever state the one before has left it.

        Args:
            episode: Its record.
            rubric: What is paid, as in ``gym.make``, instead of what was.

        Raises:
            DataError: It cannot be made again; the message says why, and what would help.
            ConfigurationError: There is no such ``rubric``.
        """
        config = json.dumps(episode.config, sort_keys=True)
        key = (episode.env_id, config, episode.data, "" if rubric is not None else episode.rubric, rubric or "")
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._attempt(episode, rubric)
            while len(self._made) > _MOST:
                _close(self._made.popitem(last=False)[1])
        else:
            self._made.move_to_end(key)
        if isinstance(found, DataError):
            raise found
        return found

    def close(self) -> None:
        """Close every environment."""
        while self._made:
            _close(self._made.popitem()[1])

    def _attempt(self, episode: Episode, rubric: str | None) -> ToolEnv | DataError:
        """The environment, or why there is none: that is remembered, too."""
        if rubric is not None:
            _known_rubric(rubric)
        try:
            return self._make(episode, rubric)
        except DataError as error:
            return error
        except _REFUSALS as error:
            message = " ".join(
                f"{'' if isinstance(error, CallGymError) else type(error).__name__ + ': '}{error}".split()
            )
            return DataError(f"its environment cannot be made again: {message}")

    def _make(self, episode: Episode, rubric: str | None) -> ToolEnv:
        options = self._options(episode)
        if rubric is not None:
            options["rubric"] = rubric
        elif "rubric" not in options:
            _load(episode.env_id, self._factory)
            if episode.rubric in RUBRICS:
                options["rubric"] = RUBRICS[episode.rubric]
        env = self._created(episode.env_id, options)
        fault = _misfit(env, episode, rubric is not None or "rubric" in self._env_options)
        if fault is not None:
            env.close()
            raise DataError(fault)
        return env

    def _created(self, id: str, options: dict[str, Any]) -> ToolEnv:
        if self._factory is None:
            return make_tool_env(id, **options)
        env = self._factory(**options).unwrapped
        if not isinstance(env, ToolEnv):
            raise ConfigurationError(f"the factory makes a {type(env).__name__}, and no ToolEnv")
        return env

    def _options(self, episode: Episode) -> dict[str, Any]:
        config: dict[str, Any] = {n: value for n, value in episode.config.items() if n not in self._env_options}
        foreign = [name for name in _RESERVED if name in config]
        if foreign:
            raise DataError(f"its config names {foreign[0]!r}, which is no option that a record has there")
        if not self._tools:
            config.pop("backend", None)
            config.pop("faults", None)
            config["backend"] = AcceptingBackend()
        for name, value in config.items():
            if not self._network and isinstance(value, str) and _NETWORK.search(value):
                raise DataError(f"its {name} is {value!r}, and records call nobody unless it is allowed: --network")
        return {**config, **self._data_option(episode), **self._env_options}

    def _data_option(self, episode: Episode) -> dict[str, Any]:
        if "data" in self._env_options or (self._factory is not None and self._data is None):
            return {}
        if episode.data in ("starter", "official"):
            return {"data": episode.data}
        if self._data is not None:
            return {"data": self._data}
        if episode.data == "given" and all(entry.id != episode.env_id for entry in ENVIRONMENTS):
            return {}  # an environment of one's own may bring its tasks along
        what = "a folder" if episode.data == "folder" else "tasks that were given by hand"
        raise DataError(
            f"its data came from {what} ({episode.data!r}), which its record does not hold: give it, --data"
        )


def _load(id: str, factory: EnvFactory | None) -> None:
    """Import what a registered id stands for, and so what it registers itself, such as rubrics.

    Raises:
        DataError: The id would import a module that was not asked for.
        gymnasium.error.Error: It is not registered.
    """
    if factory is not None:
        return
    module, colon, _ = id.rpartition(":")
    if colon and module not in sys.modules:
        raise DataError(f"its environment {id!r} is in a module that is not imported: --import {module}")
    spec = gym.spec(id)
    entry = spec.entry_point if isinstance(spec, gym.envs.registration.EnvSpec) else None
    if isinstance(entry, str):
        gym.envs.registration.load_env_creator(entry)


def _known_rubric(name: str) -> Rubric | None:
    """The rubric of that name; None for the environment's own. Benchmarks register theirs as they are imported."""
    if name == "default":
        return None
    if name not in RUBRICS:
        for entry in ENVIRONMENTS:
            gym.envs.registration.load_env_creator(entry.entry_point)
    return get_rubric(name)


def _misfit(env: ToolEnv, episode: Episode, other_rubric: bool) -> str | None:
    """What keeps an environment from being the one that was played in, if it can be seen from outside."""
    if not other_rubric and env.rubric.name != episode.rubric:
        return (
            f"its rubric {episode.rubric!r} is not known here: import the module that adds it to RUBRICS (--import), "
            "or give it in env_options"
        )
    if env.source.kind != episode.data:
        return f"its data was {episode.data!r}, and is {env.source.kind!r} now: give what it was played with, --data"
    return None


def _close(made: ToolEnv | DataError) -> None:
    if isinstance(made, ToolEnv):
        made.close()
