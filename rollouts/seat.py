"""A seat: one environment, and the episode that is being played in it."""

from __future__ import annotations

import asyncio
import functools
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym

from callgym.envs.base import ToolEnv
from callgym.episode import Episode
from callgym.errors import ConfigurationError
from callgym.rollouts.stage import Act, Ended, Start, Turn

__all__ = ["Seat"]

_MOST_THREADS = 64


class Seat:
    """Plays one episode after another."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        """Take an environment; it is closed with the seat.

        Raises:
            ConfigurationError: It is no tool environment.
        """
        if not isinstance(env.unwrapped, ToolEnv):
            raise ConfigurationError(f"episodes are played in a ToolEnv, got {type(env.unwrapped).__name__}")
        self.env = env
        self.tool_env: ToolEnv = env.unwrapped
        self.key = -1
        """The episode that is being played."""
        self.seconds = 0.0
        """How long its steps have taken so far; kept by whoever steps it."""
        self._bare = _is_bare(env)
        self._step = 0

    def begin(self, start: Start) -> Turn:
        """Begin an episode."""
        self.key, self.seconds, self._step = start.key, 0.0, 0
        observation, info = self.env.reset(seed=start.seed, options={"task": start.task})
        return Turn(self.key, 0, observation, tuple(info["messages"]), tuple(info["tools"]), self.tool_env)

    @property
    def waits(self) -> bool:
        """Whether the episode's tools wait, so that ``astep`` is worth its while."""
        return self.tool_env.waits

    def step(self, act: Act) -> Turn | Ended:
        """Take one action."""
        if act.cut:
            return self.truncate(act.action)
        began = time.perf_counter()
        return self._stepped(self.env.step(act.action), began)

    async def astep(self, act: Act) -> Turn | Ended:
        """As ``step``, beside those of other seats. An environment in wrappers of others steps in a thread."""
        if act.cut:
            return self.truncate(act.action)
        began = time.perf_counter()
        if self._bare:
            return self._stepped(await self.tool_env.astep(act.action), began)
        loop = asyncio.get_running_loop()
        return self._stepped(await loop.run_in_executor(_threads(), self.env.step, act.action), began)

    def truncate(self, action: str | None = None) -> Ended:
        """End the episode where it stands, or with an action that was cut off."""
        return Ended(self.key, self.tool_env.truncate(action))

    def _stepped(self, outcome: tuple[str, Any, bool, bool, dict[str, Any]], began: float) -> Turn | Ended:
        seconds = time.perf_counter() - began
        observation, _, terminated, truncated, info = outcome
        self._step += 1
        if terminated or truncated:
            return Ended(self.key, _record(info), seconds)
        tools = tuple(info["tools"]) if "tools" in info else None  # they are there where they have changed
        return Turn(self.key, self._step, observation, tuple(info["messages"]), tools, None, seconds)

    def close(self) -> None:
        """Close the environment."""
        self.env.close()  # type: ignore[no-untyped-call,unused-ignore]


def _is_bare(env: gym.Env[Any, Any]) -> bool:
    """Whether nothing stands around the environment but what ``gym.make`` puts there, which changes no step."""
    while isinstance(env, gym.wrappers.OrderEnforcing):
        env = env.env
    return isinstance(env, ToolEnv)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST_THREADS, "callgym-step")


os.register_at_fork(after_in_child=_threads.cache_clear)  # no thread outlives a fork


def _record(info: dict[str, Any]) -> Episode:
    episode = info.get("episode")
    if not isinstance(episode, Episode):
        raise ConfigurationError(
            f"info['episode'] at the end is {type(episode).__name__}, not an Episode; "
            "does a wrapper end episodes, or drop info?"
        )
    return episode
