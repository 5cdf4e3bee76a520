"""GRPO through TRL, on any registered id or several at once::

    rollouts = EpisodeRollouts("apibank/L1-v0", tokenizer, split="train")
    trainer = GRPOTrainer(
        model, args=GRPOConfig(reward_weights=rollouts.reward_weights, ...),
        train_dataset=rollouts.dataset(), reward_funcs=rollouts.reward_funcs,
        processing_class=tokenizer, rollout_func=rollouts,
    )

Episodes may take several turns, and tools may differ from task to task. ``rollout_func`` is
experimental in TRL and may change; this module was tested with trl 1.16 (the ``train`` extra pins it).

The dataset's ``prompt`` column holds references (id and task id), from which the rollout plays the
episode; the prompt that the model sees is the environment's first observation. Group members get the
same task and the same episode seed.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from callgym.dialects import Dialect, get_dialect
from callgym.dialects.chat_template import ChatTemplate, ends_call, no_tools
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.trainers.conversation import (
    ChatRenderer,
    Conversation,
    TextRenderer,
    dialect_for,
    make_renderer,
)

__all__ = ["EpisodeRollouts"]

_SEPARATOR = "\u241f"


@dataclass
class _Playing:
    """An episode under way."""

    env: ToolEnv
    renderer: TextRenderer | ChatRenderer
    conversation: Conversation
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    episode: Episode | None = None


class EpisodeRollouts:
    """Plays whole episodes with the trainer's model: TRL's ``rollout_func``."""

    def __init__(
        self,
        ids: str | Sequence[str],
        tokenizer: Any,
        *,
        seed: int = 0,
        max_prompt_tokens: int | None = None,
        max_episode_tokens: int | None = None,
        on_episode: Callable[[Episode], None] | None = None,
        **env_options: Any,
    ) -> None:
        """Prepare the environments.

        Args:
            ids: One registered id, or several to mix.
            tokenizer: The policy's tokenizer; with a chat template that takes tools, messages go through it, and
                calls are read in the dialect that it writes, unless ``env_options`` give another.
            seed: Seed of the episodes.
            max_prompt_tokens: Tasks with a longer first observation are left out of the dataset.
            max_episode_tokens: An episode whose tokens after the prompt reach this many is truncated;
                no limit beside the environment's ``max_steps`` by default.
            on_episode: Called with every finished episode's record.
            env_options: Arguments of ``gym.make``; ``split`` is ``"train"`` unless given.

        Raises:
            ConfigurationError: An id or an option is wrong, or no task is short enough.
        """
        self.ids = (ids,) if isinstance(ids, str) else tuple(ids)
        self._options = {"split": "train", **env_options, "observation": "delta"}
        self._tokenizer = tokenizer
        self._template = ChatTemplate(tokenizer)
        self._renderers: dict[Dialect, TextRenderer | ChatRenderer] = {}
        choice = dialect_for(self._template, env_options.get("dialect"))
        if choice.dialect is not None:
            self._options["dialect"] = choice.dialect
        self._seed = seed
        self._max_prompt_tokens = max_prompt_tokens
        self._max_episode_tokens = max_episode_tokens
        self._on_episode = on_episode
        self._idle: dict[str, list[ToolEnv]] = {id: [] for id in self.ids}
        self._reward_names = self._common_rewards()
        dialects = sorted({env.dialect.name for envs in self._idle.values() for env in envs})
        words = choice.words
        if self._template.takes_tools and choice.dialect is None:
            words = f"no dialect was given, and calls are read as {dialects}: {self._template.detection.reason}"
        if self._template.exists and not self._template.takes_tools:
            words = f"{no_tools(self._template)}; {words or f'calls are read as {dialects}'}"
        if words:
            warnings.warn(words, stacklevel=2)

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """Reward functions for TRL: the return, then each of the rubric's rewards under its own name."""
        names = ("episode_return", *self._reward_names)
        return [_reading(name) for name in names]

    @property
    def reward_weights(self) -> list[float]:
        """Weights for ``GRPOConfig``: the return is what is trained on, the rest is logged."""
        return [1.0] + [0.0] * len(self._reward_names)

    def dataset(self, limit: int | None = None) -> Any:
        """A ``datasets.Dataset`` with a row a task.

        Args:
            limit: At most so many tasks of each id, the first ones.

        Raises:
            ConfigurationError: No task's prompt is within ``max_prompt_tokens``.
        """
        datasets = _import_datasets()
        rows = [
            {"prompt": f"{id}{_SEPARATOR}{task_id}"} for id in self.ids for task_id in self._short_tasks(id)[:limit]
        ]
        if not rows:
            raise ConfigurationError(
                f"no task of {', '.join(self.ids)} has a prompt of at most {self._max_prompt_tokens} tokens"
            )
        return datasets.Dataset.from_list(rows)

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """Play one episode a prompt; TRL calls this with each prompt repeated for its group.

        Args:
            prompts: References from ``dataset``.
            trainer: The GRPOTrainer, whose model generates.

        Returns:
            ``prompt_ids``, ``completion_ids``, ``env_mask`` (1 for the model's tokens), ``logprobs`` (None
            where the generator gives none), ``episode_return`` and each reward by name.
        """
        playing = [self._begin(reference, trainer.state.global_step) for reference in prompts]
        while active := [play for play in playing if play.episode is None]:
            ids, logprobs = trainer._generate_single_turn([p.conversation.ids for p in active], None, {}, 1)
            for number, play in enumerate(active):
                ends = {self._tokenizer.eos_token_id, *getattr(trainer, "eos_token_ids", ())}
                self._advance(play, ids[number], logprobs[number] if logprobs is not None else None, ends)
        for reference, play in zip(prompts, playing, strict=True):
            self._idle[reference.partition(_SEPARATOR)[0]].append(play.env)
        return self._columns(playing)

    def close(self) -> None:
        """Close the environments."""
        for envs in self._idle.values():
            while envs:
                envs.pop().close()

    def _begin(self, reference: str, global_step: int) -> _Playing:
        id, _, task_id = reference.partition(_SEPARATOR)
        env = self._take(id)
        observation, info = env.reset(seed=_seed_of(self._seed, global_step, reference), options={"task": task_id})
        messages, tools = info["messages"], info["tools"]
        renderer = self._renderer_of(env)
        return _Playing(env, renderer, Conversation(renderer.prompt(observation, messages, tools)), messages, tools)

    def _advance(self, play: _Playing, ids: list[int], logprobs: list[float] | None, ends: set[int]) -> None:
        """Append what the model wrote, step the environment, append what came back."""
        ended = ids[-1] if ids and ids[-1] in ends else None
        opened = play.renderer.opened(play.conversation.ids)
        play.conversation.add_action(ids, logprobs)
        cut = ended is not None and not ends_call(self._tokenizer, self._written_in(play.env), ended)
        text_ids = ids[:-1] if cut else ids
        action = self._tokenizer.decode(text_ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        delta, _, terminated, truncated, info = play.env.step(opened + action)
        if terminated or truncated:
            play.episode = info["episode"]
        else:
            following = play.renderer.following(delta, play.messages, info["messages"], play.tools, ended)
            spent = len(play.conversation.completion_ids) + len(following)
            if self._max_episode_tokens is not None and spent >= self._max_episode_tokens:
                play.episode = play.env.truncate()
            else:
                play.conversation.add_observation(following)
                play.messages += play.renderer.settled(info["messages"])
                play.tools = info.get("tools", play.tools)
        if play.episode is not None and self._on_episode is not None:
            self._on_episode(play.episode)

    def _columns(self, playing: Sequence[_Playing]) -> dict[str, list[Any]]:
        conversations = [play.conversation for play in playing]
        columns: dict[str, Any] = {
            "prompt_ids": [c.prompt_ids for c in conversations],
            "completion_ids": [c.completion_ids for c in conversations],
            "env_mask": [c.mask for c in conversations],
            "logprobs": [c.logprobs for c in conversations] if any(c.logprobs for c in conversations) else None,
        }
        episodes = [play.episode for play in playing if play.episode is not None]
        columns["episode_return"] = [episode.episode_return for episode in episodes]
        for name in self._reward_names:
            columns[name] = [_known_score(episode, name) for episode in episodes]
        return columns

    def _take(self, id: str) -> ToolEnv:
        if id not in self._idle:
            raise ConfigurationError(f"prompt of an unknown id {id!r}; take prompts from dataset()")
        if self._idle[id]:
            return self._idle[id].pop()
        return make_tool_env(id, **self._options)

    def _written_in(self, env: ToolEnv) -> Dialect:
        """The dialect that the model writes, where the environment reads any."""
        found = self._template.detection.dialect
        return get_dialect(found) if found and env.dialect.name == "auto" else env.dialect

    def _renderer_of(self, env: ToolEnv) -> TextRenderer | ChatRenderer:
        # By dialect, which differs from task to task in some environments.
        found = self._renderers.get(env.dialect)
        if found is None:
            made = make_renderer(self._tokenizer, env.dialect, template=self._template)
            found = self._renderers[env.dialect] = made
        return found

    def _short_tasks(self, id: str) -> list[str]:
        env = self._take(id)
        self._idle[id].append(env)
        if self._max_prompt_tokens is None:
            return [task.id for task in env.tasks]
        short = []
        for index, task in enumerate(env.tasks):
            observation, info = env.reset(seed=0, options={"task": index})
            ids = self._renderer_of(env).prompt(observation, info["messages"], info["tools"])
            if len(ids) <= self._max_prompt_tokens:
                short.append(task.id)
        return short

    def _common_rewards(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for id in self.ids:
            env = self._take(id)
            self._idle[id].append(env)
            names.update(dict.fromkeys(env.rubric.reward_names))
        return tuple(names)


def _known_score(episode: Episode, name: str) -> float | None:
    """A reward's score for the logs.

    None where the return is unknown: TRL leaves a row out only if all of its rewards are None.
    """
    score = episode.rewards.get(name)
    return None if score is None or episode.episode_return is None else score.value


def _reading(name: str) -> Callable[..., list[float | None]]:
    """A TRL reward function that reads the column of that name."""

    def reward(**columns: Any) -> list[float | None]:
        values: list[float | None] = columns[name]
        return values

    reward.__name__ = name
    return reward


def _seed_of(seed: int, global_step: int, reference: str) -> int:
    text = f"{seed}/{global_step}/{reference}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


def _import_datasets() -> Any:
    with contextlib.suppress(ImportError):
        import datasets

        return datasets
    raise MissingPackageError.for_extra("datasets", "train")
