"""A seat: the place of the policy in one running episode, for whoever acts by hand::

    seat = Seat(env, task="L1-0", seed=7)
    step = seat.act("[GetToday()]")
    print(seat.messages, step.results, seat.episode)

It knows what a policy knows (messages, tools, the observation), remembers the actions, and can take the last one back
by playing the episode again from its seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.episode import Episode, ParseError
from callgym.errors import ConfigurationError

__all__ = ["Seat", "Taken"]


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of one action."""

    calls: tuple[ToolCall, ...]
    """The calls that were read from it."""
    results: tuple[ToolResult, ...]
    """One a call."""
    errors: tuple[ParseError, ...]
    """Attempts that could not be read; empty while the episode runs, when the reply says it."""
    replies: tuple[str, ...]
    """What the user said then, or what was wrong with the action."""
    new_tools: tuple[str, ...]
    """Names of tools that can be called from now on."""
    lost_tools: tuple[str, ...]
    """Names of tools that are gone."""
    reward: float
    """What the step was paid; NaN where it could not be computed."""


class Seat:
    """The policy's place in one episode."""

    def __init__(self, env: ToolEnv, task: int | str, seed: int) -> None:
        """Begin the episode of a task, by its index or id.

        Raises:
            ConfigurationError: There is no such task.
        """
        self.env = env
        self._task = task
        self._seed = seed
        self._begin()

    def _begin(self) -> None:
        self.observation, info = self.env.reset(seed=self._seed, options={"task": self._task})
        self.messages: list[dict[str, Any]] = info["messages"]
        self.tools: list[dict[str, Any]] = info["tools"]
        self.actions: list[str] = []
        self.episode: Episode | None = None

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.episode is not None

    def act(self, action: str) -> Taken:
        """Take an action."""
        observation, reward, _, _, info = self.env.step(action)
        if self.env.observation_mode == "delta":
            self.observation += action + observation
        else:
            self.observation = observation
        self.actions.append(action)
        self.messages += info["messages"]
        before = [_name(tool) for tool in self.tools]
        self.tools = info.get("tools", self.tools)
        after = [_name(tool) for tool in self.tools]
        self.episode = info.get("episode")
        return Taken(
            calls=info["calls"],
            results=info["results"],
            errors=self.episode.steps[-1].errors if self.episode is not None else (),
            replies=tuple(m["content"] or "" for m in info["messages"] if m["role"] == "user"),
            new_tools=tuple(name for name in after if name not in before),
            lost_tools=tuple(name for name in before if name not in after),
            reward=reward,
        )

    def undo(self) -> str:
        """Take the last action back: the episode is played again from its seed without it. Gives that action.

        Raises:
            ConfigurationError: There is none, or tools that are reached over a network cannot take a call back.
        """
        if not self.actions or self.over:
            raise ConfigurationError("there is no action to take back in the running episode")
        if self.env.waits:
            raise ConfigurationError("the tools of this episode are reached over a network and cannot take a call back")
        *kept, last = self.actions
        self._begin()
        for action in kept:
            self.act(action)
        return last

    def stop(self, cut: str | None = None) -> Episode | None:
        """End the episode here; what was written of an action that was not finished goes on record and is not run.

        Gives its record, or None where there is nothing to record: no action was taken.
        """
        if not self.over and (self.actions or cut is not None):
            self.episode = self.env.truncate(cut)
        return self.episode


def _name(tool: dict[str, Any]) -> str:
    return str(tool["function"]["name"])
