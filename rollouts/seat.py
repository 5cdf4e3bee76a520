"""A seat: one environment, and the episode that is being played in it."""

from __future__ import annotations

import asyncio
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym

from callgym.envs.base import MAX_ACTION_LENGTH, ToolEnv
from callgym.episode import Episode
from callgym.errors import ConfigurationError
from callgym.rollouts.plan import Plan, derive_seed
from callgym.rollouts.policy import Situation

__all__ = ["Seat"]

_MOST_THREADS = 64


class Seat:
    """Plays one episode after another, and keeps the conversation that a policy is shown."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        """Take an environment; it is closed with the seat.

        Raises:
            ConfigurationError: It is no tool environment.
        """
        if not isinstance(env.unwrapped, ToolEnv):
            raise ConfigurationError(f"episodes are played in a ToolEnv, got {type(env.unwrapped).__name__}")
        self.env = env
        self.tool_env: ToolEnv = env.unwrapped
        self.index = -1
        """The episode that is being played."""
        self._seed = 0
        self._step = 0
        self._observation = ""
        self._prompt = ""
        self._messages: tuple[dict[str, Any], ...] = ()
        self._tools: tuple[dict[str, Any], ...] = ()

    def start(self, plan: Plan, index: int) -> None:
        """Begin episode ``index`` of ``plan``."""
        self.index = index
        self._seed = plan.episode_seed(index)
        self._step = 0
        self._observation, info = self.env.reset(seed=self._seed, options={"task": plan.task(index)})
        self._prompt = self._observation
        self._messages = tuple(info["messages"])
        self._tools = tuple(info["tools"])

    def situation(self) -> Situation:
        """What the policy is shown now."""
        return Situation(
            env=self.tool_env,
            observation=self._observation,
            prompt=self._prompt,
            messages=self._messages,
            tools=self._tools,
            seed=derive_seed("action", self._seed, self._step),
        )

    @property
    def waits(self) -> bool:
        """Whether the episode's tools wait, so that ``astep`` is worth its while."""
        return self.tool_env.waits

    def step(self, action: str) -> Episode | None:
        """Take one action; the record where the episode is over, else None."""
        return self._stepped(action, self.env.step(action))

    async def astep(self, action: str) -> Episode | None:
        """As ``step``, beside those of other seats. An environment in wrappers of others steps in a thread."""
        if _is_bare(self.env):
            return self._stepped(action, await self.tool_env.astep(action))
        loop = asyncio.get_running_loop()
        return self._stepped(action, await loop.run_in_executor(_threads(), self.env.step, action))

    def _stepped(self, action: str, outcome: tuple[str, Any, bool, bool, dict[str, Any]]) -> Episode | None:
        self._observation, _, terminated, truncated, info = outcome
        self._step += 1
        if terminated or truncated:
            return _record(info)
        if self.tool_env.observation_mode == "delta":
            # As the environment shows it: half surrogates replaced, then cut.
            shown = action.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self._prompt += shown[:MAX_ACTION_LENGTH] + self._observation
        else:
            self._prompt = self._observation
        self._messages += tuple(info["messages"])
        self._tools = tuple(info.get("tools", self._tools))  # they are there where they have changed
        return None

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
