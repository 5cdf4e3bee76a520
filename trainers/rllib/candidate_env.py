"""CandidateEnv: any CallGym id as a choice among offered actions, for reinforcement learning on vectors::

    env = CandidateEnv("apibank/L1-v0", candidates=8, data="starter", split="train")
    observation, info = env.reset(seed=0)
    observation["candidates"].shape        # (8, 256): one hashed bag of words a candidate
    info["candidates"]                     # the same as text
    observation, reward, terminated, truncated, info = env.step(env.oracle_action())

The oracle's action is always among the candidates. So a policy learns here to *rank* actions, not to write them: a
return is to be read beside what choosing at random earns, and says nothing of what a language model would write.

The chosen text is an action like any other in the ToolEnv behind it (``env.tool_env``): its tools run, its rubric
pays, and a dialogue goes on with a new offer at every turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from callgym.call import ToolCall
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.trainers.mutations import Decision, Die
from callgym.trainers.rllib.candidate_features import bag_of_words, message_text, tools_text
from callgym.trainers.rllib.candidate_offers import Offer, make_offer, pools_of

__all__ = ["QUERY_ROWS", "CandidateEnv", "CandidateObservation"]

CandidateObservation: TypeAlias = dict[str, NDArray[np.float32]]
QUERY_ROWS = 3
"""Rows of the query: the whole conversation, what came since the user last spoke, and the tools."""
_NOTHING = Offer((), -1)
_MAX_SEED = 2**63


class CandidateEnv(gym.Env[CandidateObservation, int]):
    """A ToolEnv whose actions are the numbers of offered texts.

    Observations are float32 arrays of zeros and ones: ``query`` of shape ``(3, features)``, ``candidates`` of shape
    ``(candidates, features)``, and ``action_mask`` of shape ``(candidates,)``, 1 where something is offered. Offers
    fill the first places; choosing an empty one says nothing (the empty text). At the end nothing is offered.

    Episodes are seeded: the same seed gives the same offers and observations, to the byte, in any process.
    Where the return could not be computed the last reward is NaN, as in ToolEnv, and ``CandidateLearner`` leaves the
    episode out.

    ``info`` is ToolEnv's, with ``candidates``, the texts, and after a step ``chosen``, the text that was played.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self, env_id: str, *, candidates: int = 8, features: int = 256, keep_info: bool = True, **env_options: Any
    ) -> None:
        """Create the environment behind it.

        Args:
            env_id: A registered id.
            candidates: Most actions on offer at a time.
            features: Places of a bag of words (``candidate_features``).
            keep_info: Whether ``info`` is filled. Without it it is empty: what a learner does not read need not
                travel from its workers.
            env_options: Arguments of ``gym.make``: ``split``, ``data``, ``rubric`` and so on.

        Raises:
            ConfigurationError: An option has a value it cannot have.
            DataError: Data is missing or damaged.
        """
        for name, value, least in (("candidates", candidates, 2), ("features", features, 1)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigurationError(f"{name} is a whole number of at least {least}, got {value!r}")
        self.tool_env: ToolEnv = make_tool_env(env_id, **env_options)
        self.render_mode = self.tool_env.render_mode
        self._features = features
        self._keep_info = keep_info
        self._values, self._replies = pools_of(self.tool_env.tasks)
        self.observation_space = spaces.Dict(
            {
                "query": spaces.Box(0.0, 1.0, (QUERY_ROWS, features), np.float32),
                "candidates": spaces.Box(0.0, 1.0, (candidates, features), np.float32),
                "action_mask": spaces.Box(0.0, 1.0, (candidates,), np.float32),
            }
        )
        self.action_space = spaces.Discrete(candidates)  # type: ignore[assignment,unused-ignore]
        self._count = candidates
        self._offer = _NOTHING

    @property
    def candidates(self) -> tuple[str, ...]:
        """The actions on offer."""
        return self._offer.texts

    def oracle_action(self) -> int:
        """The number of the oracle's action.

        Raises:
            gymnasium.error.ResetNeeded: Nothing is on offer.
        """
        if self._offer.gold < 0:
            raise gym.error.ResetNeeded("nothing is on offer; call reset() first")
        return self._offer.gold

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[CandidateObservation, dict[str, Any]]:
        """Start an episode and make the first offer.

        Args:
            seed: Seeds the choice of tasks, the offers, and everything random in the environment.
            options: Those of ``ToolEnv.reset``.

        Raises:
            ConfigurationError: There is no such task or option, or the task has no oracle.
        """
        super().reset(seed=seed)
        self._seed = int(self.np_random.integers(_MAX_SEED)) if seed is None else seed
        text, info = self.tool_env.reset(seed=seed, options=options)
        self._steps = 0
        self._talk = np.zeros(self._features, dtype=np.float32)
        self._recent = self._talk
        self._hear(info["messages"])
        self._know(info["tools"])
        self._offer = self._make_offer(text)
        return self._observe(), self._inform(info)

    def step(self, action: int) -> tuple[CandidateObservation, float, bool, bool, dict[str, Any]]:
        """Play the chosen text, and offer again.

        Raises:
            gymnasium.error.InvalidAction: There is no such place.
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
        """
        chosen = self._text(action)
        text, reward, terminated, truncated, info = self.tool_env.step(chosen)
        self._steps += 1
        self._hear(info["messages"])
        if "tools" in info:
            self._know(info["tools"])
        self._offer = _NOTHING if terminated or truncated else self._make_offer(text)
        return self._observe(), float(reward), terminated, truncated, self._inform({**info, "chosen": chosen})

    def render(self) -> str | None:  # type: ignore[override,unused-ignore]
        """The conversation so far as text, in render mode ``"ansi"``; else None."""
        return self.tool_env.render()

    def close(self) -> None:
        """Close the environment behind it."""
        self.tool_env.close()
        self._offer = _NOTHING

    def _text(self, action: Any) -> str:
        if not self.action_space.contains(action):
            raise gym.error.InvalidAction(f"an action is a number below {self._count}, got {action!r}")
        place = int(action)
        return self._offer.texts[place] if place < len(self._offer.texts) else ""

    # What is offered.

    def _make_offer(self, text: str) -> Offer:
        die = Die("candidates", self._seed, self.tool_env.task.id, self._steps)
        return make_offer(self._decision(text), self._replies, self._count, die)

    def _decision(self, text: str) -> Decision:
        env = self.tool_env
        action = env.oracle_action()
        goal = env.task.goal_of(CallsGoal)
        references = [gold.reference() for turn in goal.turns for gold in turn] if goal is not None else []
        calls = tuple(_as_asked(call, references) for call in env.dialect.parse(action).calls)
        return Decision(
            dialect=env.dialect,
            text=text,
            action=action,
            calls=calls,
            gold=(None,) * len(calls),
            ordered=goal is not None and goal.ordered,
            tools=self._tools,
            pool=self._values,
        )

    # What is seen.

    def _hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Add messages to the conversation. A bag of old and new is the greater of both bags, place by place."""
        spoken = [n for n, message in enumerate(messages) if message["role"] == "user"]
        texts = [message_text(message) for message in messages]
        self._talk = np.maximum(self._talk, bag_of_words(texts, self._features))
        recent = bag_of_words(texts[spoken[-1] if spoken else 0 :], self._features)
        self._recent = recent if spoken else np.maximum(self._recent, recent)

    def _know(self, tools: Sequence[Mapping[str, Any]]) -> None:
        functions = [tool["function"] for tool in tools]
        self._tools = {function["name"]: function.get("parameters") or {} for function in functions}
        self._documents = bag_of_words(tools_text(tools), self._features)

    def _observe(self) -> CandidateObservation:
        candidates = np.zeros((self._count, self._features), dtype=np.float32)
        mask = np.zeros(self._count, dtype=np.float32)
        for place, text in enumerate(self._offer.texts):
            candidates[place] = bag_of_words((text,), self._features)
            mask[place] = 1.0
        query = np.stack((self._talk, self._recent, self._documents))
        return {"query": query, "candidates": candidates, "action_mask": mask}

    def _inform(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "candidates": self._offer.texts} if self._keep_info else {}


def _as_asked(call: ToolCall, references: Sequence[ToolCall]) -> ToolCall:
    """The call with values of the types that the goal has: in some dialects all values are text."""
    written = {name: str(value) for name, value in call.arguments.items()}
    for reference in references:
        if reference.name == call.name and {n: str(v) for n, v in reference.arguments.items()} == written:
            return reference
    return call
