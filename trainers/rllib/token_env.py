"""Any CallGym id as an environment of tokens, which RLlib can learn in::

    env = TokenEnv("apibank/L1-v0", tokenizer, window=512, max_action_tokens=64, data="starter")
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(token)

One step is one token of the policy. When the token comes that ends an action, the action is decoded and goes to the
ToolEnv, whose reward is paid there and then; what comes back is tokenised and appended, and the policy goes on. So the
environment's tokens are never actions, and the policy's tokens are never tokenised again.

An action that does not end within ``max_action_tokens`` is cut off: it is not sent, nothing in it is run, and the
episode ends ``truncated``, scored as it stood before that action (``ToolEnv.truncate``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from callgym.call import ToolCall
from callgym.dialects import Dialect, get_dialect
from callgym.dialects.chat_template import ChatTemplate, ends_call
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.message import tool_chat
from callgym.rollouts.plan import derive_seed
from callgym.trainers.conversation import ChatRenderer, Conversation, TextRenderer, dialect_for, make_renderer

__all__ = ["TokenEnv", "load_tokenizer", "token_spaces"]

Observation = dict[str, np.ndarray[Any, np.dtype[np.int32]]]
_MAX_SEED = 2**62


class TokenEnv(gym.Env[Observation, int]):
    """A ToolEnv, one token at a time.

    Observation: ``tokens``, int32 of shape (window,), the last ``window`` tokens of the conversation, padded on the
    left; ``length``, int32 of shape (1,), how many of them are no padding. What no longer fits is cut at the beginning.

    Action: the next token's id, below ``len(tokenizer)``.

    Reward: 0 until an action ends, then what the ToolEnv pays. Rewards sum to ``Episode.episode_return``; where that is
    unknown (None), the last reward is NaN, as the ToolEnv's is.

    ``info``: ``task_id`` at the start; ``action``, the text, whenever one ended; at the end ``episode`` (the Episode
    record), ``scored`` (whether the return is known), ``cut`` (the text of an action that was cut off, else empty) and
    ``overflowed`` (whether the window ever was too small).
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        id: str,
        tokenizer: Any,
        *,
        window: int = 512,
        max_action_tokens: int = 64,
        max_prompt_tokens: int | None = None,
        tasks: Sequence[str] | None = None,
        end_tokens: Sequence[int] = (),
        stream: int = 0,
        env_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Create the environment.

        Args:
            id: A registered id.
            tokenizer: The policy's tokenizer, or its folder or name on the hub. With a chat template that takes tools,
                messages go through it, and calls are read in the dialect that it writes unless a dialect is given.
            window: Most tokens that the policy sees.
            max_action_tokens: Most tokens of one action, its end token included.
            max_prompt_tokens: Tasks with a longer first observation are left out.
            tasks: Ids of the tasks to play; all by default.
            end_tokens: More tokens that end an action, beside the tokenizer's and those that its template writes there.
            stream: Environments with the same seed and another stream play other tasks: RLlib gives its workers
                overlapping seeds.
            env_options: Arguments of ``gym.make``; ``split`` is ``"train"`` unless given.

        Raises:
            ConfigurationError: An option has a value it cannot have, or no task is short enough.
        """
        for name, value in (("window", window), ("max_action_tokens", max_action_tokens)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")
        self.tokenizer = load_tokenizer(tokenizer)
        self._template = ChatTemplate(self.tokenizer)
        given = dict(env_options or {})
        choice = dialect_for(self._template, given.get("dialect"))
        if choice.dialect is not None:
            given["dialect"] = choice.dialect
        self.tool_env: ToolEnv = make_tool_env(id, **{"split": "train", **given, "observation": "delta"})
        self._window = window
        self._max_action_tokens = max_action_tokens
        self._more_ends = frozenset(end_tokens)
        self._stream = stream
        self._renderers: dict[Dialect, TextRenderer | ChatRenderer] = {}
        self._ends_of: dict[Dialect, dict[int, bool]] = {}
        self.observation_space, self.action_space = token_spaces(self.tokenizer, window)
        self._tokens = len(self.tokenizer)
        self._pad_token = self.tokenizer.pad_token_id
        self._pad = self._pad_token or 0
        self._running = False
        self.task_ids = self._tasks_to_play(tasks, max_prompt_tokens)

    @property
    def conversation(self) -> Conversation:
        """The running or last episode's tokens, with a mask of which of them the policy chose."""
        return self._conversation

    @property
    def never_written(self) -> list[int]:
        """Ids that a policy has no use for: the padding token, unless it ends actions, and ids without a token."""
        ends = {self.tokenizer.eos_token_id, *self._more_ends}
        known = set(self.tokenizer.get_vocab().values())
        return [id for id in range(self._tokens) if id not in known or (id == self._pad_token and id not in ends)]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seeds the choice of tasks and this episode; later episodes follow from it.
            options: ``{"task": id or index}`` plays that task of the ToolEnv.

        Returns:
            The observation and ``info``.

        Raises:
            ConfigurationError: There is no such task or option.
        """
        if options and set(options) != {"task"}:
            raise ConfigurationError(f"reset knows the option 'task', got {sorted(options)}")
        super().reset(seed=None if seed is None else derive_seed("tokens", self._stream, seed))
        drawn = self.task_ids[int(self.np_random.integers(len(self.task_ids)))]
        follows = int(self.np_random.integers(_MAX_SEED))
        self._seed = follows if seed is None else seed
        delta, info = self.tool_env.reset(seed=self._seed, options={"task": (options or {}).get("task", drawn)})
        self._messages, self._tools = info["messages"], info["tools"]
        self._dialect = self.tool_env.dialect
        self._renderer = self._renderer_of(self._dialect)
        self._ends = self._end_tokens()
        self._conversation = Conversation(self._renderer.prompt(delta, self._messages, self._tools))
        self._recent = np.full(self._window, self._pad, dtype=np.int32)
        self._length = 0
        self._overflowed = False
        self._paid = 0.0
        self._running = True
        self._see(self._conversation.prompt_ids)
        self._begin_action()
        return self._observe(), {"task_id": info["task_id"]}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the policy's next token.

        Raises:
            gymnasium.error.InvalidAction: The action is no token's id.
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
        """
        if not self._running:
            raise gym.error.ResetNeeded("no episode is running; call reset() before step()")
        token = int(action)
        if not 0 <= token < self._tokens:
            raise gym.error.InvalidAction(f"an action is a token's id below {self._tokens}, got {token}")
        self._written.append(token)
        self._see((token,))
        if token in self._ends:
            return self._send(token)
        if len(self._written) >= self._max_action_tokens:
            return self._cut_off()
        return self._observe(), 0.0, False, False, {}

    def close(self) -> None:
        """Close the ToolEnv."""
        self._running = False
        self.tool_env.close()

    def _send(self, ended: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """The action goes to the ToolEnv, and what comes back into the window."""
        self._conversation.add_action(self._written, None)
        text = self._opened + self._decode(self._written if self._ends[ended] else self._written[:-1])
        delta, reward, terminated, truncated, info = self.tool_env.step(text)
        self._paid += reward
        if terminated or truncated:
            return self._end(info["episode"], reward, terminated, {"action": text})
        ids = self._renderer.following(delta, self._messages, info["messages"], self._tools, ended)
        self._conversation.add_observation(ids)
        self._see(ids)
        self._messages += self._renderer.settled(info["messages"])
        self._tools = info.get("tools", self._tools)
        self._begin_action()
        return self._observe(), reward, False, False, {"action": text}

    def _cut_off(self) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._conversation.add_action(self._written, None)
        written = self._opened + self._decode(self._written)
        episode = self.tool_env.truncate(written)
        known = episode.episode_return
        reward = float("nan") if known is None else known - self._paid
        return self._end(episode, reward, False, {"cut": written})

    def _end(
        self, episode: Episode, reward: float, terminated: bool, info: dict[str, Any]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._running = False
        scored = episode.episode_return is not None
        info = {"cut": "", **info, "episode": episode, "scored": scored, "overflowed": self._overflowed}
        return self._observe(), reward, terminated, not terminated, info

    def _begin_action(self) -> None:
        self._written: list[int] = []
        # What opens the policy's reasoning stands in the last tokens, if anywhere.
        self._opened = self._renderer.opened(self._recent[-16:][-max(1, self._length) :].tolist())

    def _see(self, ids: Sequence[int]) -> None:
        """Append to the window, and let its oldest tokens go."""
        count = len(ids)
        self._overflowed = self._overflowed or self._length + count > self._window
        self._length = min(self._window, self._length + count)
        new = np.asarray(ids[-self._window :], dtype=np.int32)
        if len(new):
            self._recent = np.concatenate((self._recent[len(new) :], new))

    def _observe(self) -> Observation:
        return {"tokens": self._recent.copy(), "length": np.array([self._length], dtype=np.int32)}

    def _decode(self, ids: list[int]) -> str:
        text: str = self.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def _renderer_of(self, dialect: Dialect) -> TextRenderer | ChatRenderer:
        # By dialect, which differs from task to task in some environments.
        found = self._renderers.get(dialect)
        if found is None:
            made = make_renderer(self.tokenizer, dialect, template=self._template)
            found = self._renderers[dialect] = made
        return found

    def _end_tokens(self) -> dict[int, bool]:
        """The tokens that end an action, and whether each is part of a call."""
        found = self._ends_of.get(self._dialect)
        if found is None:
            ends = {self.tokenizer.eos_token_id, *self._more_ends} - {None}
            for new in self._ways_to_go_on():
                ends.add(self._renderer.end_of_action(self._messages, new, self._tools))
            if not ends - {None}:
                raise ConfigurationError("the tokenizer has no end token; name those that end an action in end_tokens")
            detected = self._template.detection.dialect
            writes = get_dialect(detected) if detected and self._dialect.name == "auto" else self._dialect
            found = {token: ends_call(self.tokenizer, writes, token) for token in ends}
            self._ends_of[self._dialect] = found
        return found

    def _ways_to_go_on(self) -> list[list[dict[str, Any]]]:
        """Words, and in a dialogue a call with its result: some templates end the two with different tokens."""
        spoken: dict[str, Any] = {"role": "assistant", "content": "."}
        if self.tool_env.protocol != "dialogue" or not self._tools:
            return [[spoken]]
        call = ToolCall(name=self._tools[0]["function"]["name"], id="call00000")
        return [[spoken], [spoken, tool_chat("1", call)]]

    def _tasks_to_play(self, wanted: Sequence[str] | None, most: int | None) -> tuple[str, ...]:
        known = [task.id for task in self.tool_env.tasks]
        if wanted is not None and (unknown := set(wanted) - set(known)):
            raise ConfigurationError(
                f"{self.tool_env.env_id} has no task {sorted(unknown)[0]!r} among its {len(known)}"
            )
        found = tuple(known if wanted is None else wanted)
        if most is not None:
            found = tuple(task for task in found if self._prompt_tokens(task) <= most)
        if not found:
            raise ConfigurationError(f"no task of {self.tool_env.env_id} has a prompt of at most {most} tokens")
        return found

    def _prompt_tokens(self, task: str) -> int:
        delta, info = self.tool_env.reset(seed=0, options={"task": task})
        return len(self._renderer_of(self.tool_env.dialect).prompt(delta, info["messages"], info["tools"]))


def token_spaces(tokenizer: Any, window: int) -> tuple[gym.spaces.Dict, gym.Space[Any]]:
    """The observation space and the action space of a TokenEnv."""
    highest = len(tokenizer) - 1
    spaces: dict[str, gym.Space[Any]] = {
        "tokens": gym.spaces.Box(0, highest, (window,), np.int32),
        "length": gym.spaces.Box(0, window, (1,), np.int32),
    }
    return gym.spaces.Dict(spaces), gym.spaces.Discrete(len(tokenizer))


def load_tokenizer(tokenizer: Any) -> Any:
    """The tokenizer itself, or the one in a folder or of that name on the hub.

    Raises:
        ConfigurationError: There is none.
        MissingPackageError: transformers is not installed.
    """
    if not isinstance(tokenizer, (str, os.PathLike)):
        return tokenizer
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingPackageError.for_extra("transformers", "train") from error
    try:
        return AutoTokenizer.from_pretrained(tokenizer)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise ConfigurationError(f"no tokenizer can be loaded from {str(tokenizer)!r}: {first}") from error
