"""Warm-up: supervised rows from oracle episodes, so that GRPO has something to improve.

The expert to imitate may be imperfect, as demonstrations are: ``mistakes`` is the share of its calls in
which one argument holds another task's value. A policy that imitates it knows how to call and is often
wrong, which is what reinforcement learning mends.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.chat_template import ChatTemplate
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.errors import MissingPackageError
from callgym.trainers.conversation import Conversation, dialect_for, make_renderer

__all__ = ["oracle_rows", "oracle_texts", "train_on_rows"]

_IGNORED = -100  # the label that the loss leaves out


def oracle_rows(
    id: str,
    tokenizer: Any,
    *,
    max_tokens: int | None = None,
    mistakes: float = 0.0,
    seed: int = 0,
    **env_options: Any,
) -> Iterator[dict[str, Any]]:
    """Token rows of oracle episodes: ``input_ids`` and ``labels``, one a task.

    The loss is on the oracle's tokens only, and on the token that ends each action. Episodes are rendered, and their
    dialect is chosen, as the GRPO trainer does it.

    Args:
        id: A registered id.
        tokenizer: The policy's tokenizer.
        max_tokens: Longer episodes are left out.
        mistakes: Share of the calls in which one argument's value is another task's.
        seed: Seed of the mistakes.
        env_options: Arguments of ``gym.make``; ``split`` is ``"train"`` unless given.
    """
    template = ChatTemplate(tokenizer)
    found = dialect_for(template, env_options.get("dialect")).dialect
    dialect = {} if found is None else {"dialect": found}
    env = make_tool_env(id, **{"split": "train", "observation": "delta", **env_options, **dialect})
    expert = _Expert(mistakes, seed)
    for index in range(len(env.tasks)):
        delta, info = env.reset(seed=0, options={"task": index})
        renderer = make_renderer(tokenizer, env.dialect, template=template)
        messages, tools = info["messages"], info["tools"]
        conversation = Conversation(renderer.prompt(delta, messages, tools))
        done = False
        while not done:
            action = renderer.lead(messages, tools) + expert.act(env)
            delta, _, terminated, truncated, info = env.step(renderer.opened(conversation.ids) + action)
            end = renderer.end_of_action(messages, info["messages"], tools)
            ids = tokenizer(action, add_special_tokens=False)["input_ids"]
            conversation.add_action(ids if ids[-1:] == [end] else [*ids, end], None)
            done = terminated or truncated
            if not done:
                conversation.add_observation(renderer.following(delta, messages, info["messages"], tools, end))
                messages += renderer.settled(info["messages"])
                tools = info.get("tools", tools)
        if max_tokens is None or len(conversation.ids) <= max_tokens:
            yield _row(conversation)
    env.close()


def oracle_texts(id: str, limit: int | None = None, **env_options: Any) -> Iterator[str]:
    """Prompt and action of oracle episodes as text, to train a tokenizer on."""
    env = make_tool_env(id, **{"split": "train", **env_options, "observation": "prompt"})
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


class _Expert:
    """The oracle, with a mistake now and then."""

    def __init__(self, mistakes: float, seed: int) -> None:
        self._mistakes = mistakes
        self._rng = random.Random(f"expert-{seed}")
        self._seen: dict[tuple[str, str], list[Any]] = defaultdict(list)

    def act(self, env: ToolEnv) -> str:
        action = env.oracle_action()
        calls = env.dialect.parse(action).calls
        if len(calls) != 1 or not calls[0].arguments or self._rng.random() >= self._mistakes:
            for call in calls:
                for name, value in call.arguments.items():
                    self._seen[call.name, name].append(value)
            return action
        call = calls[0]
        name = self._rng.choice(list(call.arguments))
        others = self._seen[call.name, name]
        if not others:
            return action
        wrong = {**call.arguments, name: self._rng.choice(others)}
        return env.dialect.render_action([ToolCall(name=call.name, arguments=wrong)])


def _row(conversation: Conversation) -> dict[str, Any]:
    labels = [_IGNORED] * len(conversation.prompt_ids)
    labels += [
        id if mine else _IGNORED for id, mine in zip(conversation.completion_ids, conversation.mask, strict=True)
    ]
    return {"input_ids": conversation.ids, "labels": labels}


def train_on_rows(
    model: Any,
    tokenizer: Any,
    rows: list[dict[str, Any]],
    *,
    steps: int,
    batch: int,
    learning_rate: float,
    seed: int,
) -> list[float]:
    """Supervised training on token rows with TRL's SFTTrainer; returns the logged losses.

    Args:
        model: Trained in place.
        tokenizer: The model's tokenizer.
        rows: ``input_ids`` and ``labels``.
        steps: Optimiser steps.
        batch: Rows of one step; rows of like length go together.
        learning_rate: Reached after 20 steps, or half of fewer, and falling linearly to a tenth of it.
        seed: Seed of the order.

    Raises:
        MissingPackageError: TRL is not installed.
    """
    try:
        import datasets
        import torch
        from trl import SFTConfig, SFTTrainer
    except ImportError as error:
        raise MissingPackageError.for_extra("trl", "train") from error
    on_gpu = torch.cuda.is_available()
    folder = tempfile.TemporaryDirectory()  # TRL wants one; nothing is kept in it
    arguments = SFTConfig(
        output_dir=folder.name,
        max_steps=steps,
        per_device_train_batch_size=batch,
        learning_rate=learning_rate,
        warmup_steps=min(20, steps // 2),  # a short run must not divide by no steps after them
        lr_scheduler_type="polynomial",
        lr_scheduler_kwargs={"power": 1.0, "lr_end": learning_rate / 10},
        adam_beta2=0.98,
        train_sampling_strategy="group_by_length",
        max_length=None,
        seed=seed,
        use_cpu=not on_gpu,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        activation_checkpointing=False,
        logging_steps=max(1, steps // 20),
        save_strategy="no",
        report_to="none",
    )
    trainer = SFTTrainer(
        model=model, args=arguments, processing_class=tokenizer, train_dataset=datasets.Dataset.from_list(rows)
    )
    trainer.train()
    folder.cleanup()
    return [row["loss"] for row in trainer.state.log_history if "loss" in row]
