"""Figures of a small trained policy: what 0.6 million parameters learn of an id in a few minutes of one core.

A tokenizer and a transformer are made from the id's own starter tasks, learn to copy, then imitate the oracle's
actions of the split ``train``, and play every task of the split ``test`` once, without sampling. That is supervised
learning on generated tasks whose splits share templates: the figure says that an id can be learnt, and nothing of how
a model that was taught elsewhere would fare. GRPO on the same tasks may follow.
"""

from __future__ import annotations

import copy
import logging
import os
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Recipe", "trained"]

DIALECT = "apibank-short"
"""Tools as signatures: the shortest prompts, and the same ones for every id."""
_BATCH = 16
_COPY_BATCH = 64
_RATE = 3e-3
_CONTEXT = 2_048
_PROBE_STEPS = 24
_TEXTS = 2_000
_SIDE_BY_SIDE = 64


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train."""

    minutes: float
    """Minutes of one core for the supervised part, from which the number of its steps follows."""
    steps: int | None = None
    """Supervised steps, in place of ``minutes``: what repeats a run exactly."""
    copy_steps: int = 140
    """Steps on copies of random tokens, before."""
    grpo_steps: int = 0
    """Steps of GRPO, after."""
    max_prompt_tokens: int = 700
    """Longer tasks are left out of training; all are played."""
    max_new_tokens: int = 96
    """Most tokens of an action."""
    seed: int = 0
    """Of weights, order and sampling."""


def trained(id: str, recipe: Recipe) -> dict[str, Any]:
    """Train on an id and play its held-out tasks.

    Returns:
        ``return`` after imitation, ``exact`` where calls are compared, the same after GRPO (None where there was none),
        and what the run was: parameters, steps, tasks, episodes, minutes of processor time.
    """
    _settle()
    from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
    from callgym.trainers.warmup import oracle_rows, oracle_texts

    started = time.process_time()
    options: dict[str, Any] = {"data": "starter", "dialect": DIALECT}
    texts = oracle_texts(id, limit=_TEXTS, **options)
    model, tokenizer = build_tiny_policy(texts, TinyPolicyConfig(context=_CONTEXT, seed=recipe.seed))
    rows = list(oracle_rows(id, tokenizer, max_tokens=recipe.max_prompt_tokens, **options))
    steps = _imitate(model, tokenizer, rows, recipe)
    minutes = (time.process_time() - started) / 60
    before = _play(id, model, tokenizer, recipe, options)
    after = _improve(id, model, tokenizer, recipe, options) if recipe.grpo_steps else None
    more = f" --grpo-steps {recipe.grpo_steps}" if recipe.grpo_steps else ""
    return {
        "command": f"python benchmarks/figures.py trained {id} --steps {steps}{more}",
        "dialect": DIALECT,
        "episodes": before["episodes"],
        "exact": before["exact"],
        "exact_after_grpo": None if after is None else after["exact"],
        "grpo_steps": recipe.grpo_steps,
        "minutes": round(minutes, 1),
        "parameters": sum(part.numel() for part in model.parameters()),
        "return": before["return"],
        "return_after_grpo": None if after is None else after["return"],
        "seed": recipe.seed,
        "steps": steps,
        "train_tasks": len(rows),
    }


def _settle() -> None:
    """One thread, no network, no remarks of libraries on their own future."""
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch

    torch.set_num_threads(1)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", message=".*pin_memory.*")


def _imitate(model: Any, tokenizer: Any, rows: list[dict[str, Any]], recipe: Recipe) -> int:
    """Copies, then the oracle; returns the number of steps on the oracle's actions."""
    from callgym.trainers.tiny import copy_rows
    from callgym.trainers.warmup import train_on_rows

    seed = recipe.seed
    started = time.process_time()
    copies = list(copy_rows(len(tokenizer), _COPY_BATCH * recipe.copy_steps, seed))
    train_on_rows(model, tokenizer, copies, steps=recipe.copy_steps, batch=_COPY_BATCH, learning_rate=_RATE, seed=seed)
    steps = recipe.steps
    if steps is None:
        left = 60 * recipe.minutes - (time.process_time() - started)
        steps = max(1, int(left / _seconds_a_step(model, tokenizer, rows)))
    train_on_rows(model, tokenizer, rows, steps=steps, batch=_BATCH, learning_rate=_RATE, seed=seed)
    return steps


def _seconds_a_step(model: Any, tokenizer: Any, rows: list[dict[str, Any]]) -> float:
    """Processor seconds of one supervised step, tried on a copy of the model."""
    from callgym.trainers.warmup import train_on_rows

    spent = []
    for steps in (1, 1 + _PROBE_STEPS):
        tried = copy.deepcopy(model)
        few = rows[: _BATCH * steps]  # one pass: the sampler begins with the longest of what it has
        started = time.process_time()
        train_on_rows(tried, tokenizer, few, steps=steps, batch=_BATCH, learning_rate=_RATE, seed=0)
        spent.append(time.process_time() - started)
    return max(1e-3, (spent[1] - spent[0]) / _PROBE_STEPS)


def _play(id: str, model: Any, tokenizer: Any, recipe: Recipe, options: dict[str, Any]) -> dict[str, Any]:
    from callgym.envs.base import make_tool_env
    from callgym.rollouts.runner import run_episodes
    from callgym.rollouts.transformers_policy import TransformersPolicy

    policy = TransformersPolicy(model, tokenizer, max_new_tokens=recipe.max_new_tokens, batch_size=_SIDE_BY_SIDE)
    env = make_tool_env(id, split="test", **options)
    count = len(env.tasks)
    env.close()
    result = run_episodes(
        id, policy, episodes=count, batch_size=_SIDE_BY_SIDE, env_options={"split": "test", **options}, progress=False
    )
    exact = result.summary.rewards.get("call_exact_match")
    return {"episodes": count, "return": result.summary.return_mean, "exact": exact}


def _improve(id: str, model: Any, tokenizer: Any, recipe: Recipe, options: dict[str, Any]) -> dict[str, Any]:
    from callgym.trainers.grpo import GrpoSettings, train_grpo

    with tempfile.TemporaryDirectory() as folder:
        settings = GrpoSettings(
            ids=(id,),
            model="",
            out=Path(folder),
            data="starter",
            dialect=DIALECT,
            steps=recipe.grpo_steps,
            batch=64,
            learning_rate=5e-4,
            max_new_tokens=recipe.max_new_tokens,
            max_prompt_tokens=recipe.max_prompt_tokens,
            seed=recipe.seed,
        )
        train_grpo(settings, model, tokenizer)
    return _play(id, model, tokenizer, recipe, options)
