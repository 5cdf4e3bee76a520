"""Warm-up: supervised rows from oracle episodes, so that GRPO has something to improve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym

from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError
from callgym.trainers.conversation import Conversation, make_renderer

__all__ = ["oracle_rows", "oracle_texts"]

_IGNORED = -100  # the label that the loss leaves out


def oracle_rows(
    id: str, tokenizer: Any, *, max_tokens: int | None = None, **env_options: Any
) -> Iterator[dict[str, Any]]:
    """Token rows of oracle episodes: ``input_ids`` and ``labels``, one a task.

    The loss is on the oracle's tokens only. Episodes are rendered as the GRPO trainer renders them.

    Args:
        id: A registered id.
        tokenizer: The policy's tokenizer.
        max_tokens: Longer episodes are left out.
        env_options: Arguments of ``gym.make``; ``split`` is ``"train"`` unless given.
    """
    renderer = make_renderer(tokenizer)
    env = _make(id, env_options)
    for index in range(len(env.tasks)):
        delta, info = env.reset(seed=0, options={"task": index})
        messages, tools = info["messages"], info["tools"]
        conversation = Conversation(renderer.prompt(delta, messages, tools))
        done = False
        while not done:
            action = env.oracle_action()
            ids = tokenizer(action, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
            conversation.add_action(ids, None)
            delta, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
            if not done:
                conversation.add_observation(renderer.following(delta, messages, info["messages"], tools, True))
                messages += info["messages"]
        if max_tokens is None or len(conversation.ids) <= max_tokens:
            yield _row(conversation)
    env.close()


def oracle_texts(id: str, limit: int | None = None, **env_options: Any) -> Iterator[str]:
    """Prompt and action of oracle episodes as text, to train a tokenizer on."""
    env = _make(id, {**env_options, "observation": "prompt"})
    for index in range(len(env.tasks) if limit is None else min(limit, len(env.tasks))):
        text, _ = env.reset(seed=0, options={"task": index})
        done = False
        while not done:
            action = env.oracle_action()
            text += action
            yield text
            text, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
    env.close()


def _make(id: str, options: dict[str, Any]) -> ToolEnv:
    env = gym.make(id, disable_env_checker=True, **{"split": "train", "observation": "delta", **options}).unwrapped
    if not isinstance(env, ToolEnv):
        raise ConfigurationError(f"{id} is no tool environment")
    return env


def _row(conversation: Conversation) -> dict[str, Any]:
    labels = [_IGNORED] * len(conversation.prompt_ids)
    labels += [
        id if mine else _IGNORED for id, mine in zip(conversation.completion_ids, conversation.mask, strict=True)
    ]
    return {"input_ids": conversation.ids, "labels": labels}
