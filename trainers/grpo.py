"""GRPO from settings to a saved model: what ``callgym train`` and the demo run.

``examples/train_grpo.py`` shows the same with TRL's own classes in the open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.task import Task
from callgym.trainers.trl import EpisodeRollouts

__all__ = ["GrpoSettings", "make_trainer", "train_grpo"]


@dataclass(frozen=True, slots=True)
class GrpoSettings:
    """One training run."""

    ids: tuple[str, ...]
    """Registered ids to train on."""
    model: str
    """A model's folder or its name on the hub."""
    out: Path
    """Folder that the model and the log are written to."""
    data: str | Sequence[Task] = "auto"
    """As in ``gym.make``."""
    split: str = "train"
    """Part of the data."""
    dialect: str | None = None
    """How calls are written; each environment's own by default."""
    env_options: Mapping[str, Any] = field(default_factory=dict)
    """Other arguments of ``gym.make``: ``{"protocol": "dialogue"}``, say."""
    steps: int = 100
    """Optimiser steps."""
    batch: int = 64
    """Episodes of one step."""
    group: int = 8
    """Episodes of one task; ``batch`` is a multiple of it."""
    learning_rate: float = 1e-6
    """Constant after 5 steps; 1e-6 suits pretrained models, the tiny policy takes 5e-4."""
    max_new_tokens: int = 256
    """Most tokens of one action."""
    max_prompt_tokens: int | None = None
    """Tasks with a longer prompt are left out."""
    seed: int = 0
    """Seed of episodes, sampling and batches."""


def train_grpo(
    settings: GrpoSettings,
    model: Any = None,
    tokenizer: Any = None,
    on_episode: Callable[[Episode], None] | None = None,
) -> str:
    """Train, save model and log, and say how it went.

    Args:
        settings: The run.
        model: A loaded model; loaded from ``settings.model`` by default.
        tokenizer: Its tokenizer.
        on_episode: Called with the record of every training episode.

    Returns:
        A line for the screen: mean return of the first and of the last tenth of the steps.

    Raises:
        MissingPackageError: TRL is not installed.
        ConfigurationError: A setting has a value it cannot have.
    """
    if settings.batch % settings.group:
        raise ConfigurationError(f"batch={settings.batch} is no multiple of group={settings.group}")
    if model is None or tokenizer is None:
        model, tokenizer = _load(settings.model)
    rollouts = EpisodeRollouts(
        settings.ids,
        tokenizer,
        seed=settings.seed,
        max_prompt_tokens=settings.max_prompt_tokens,
        on_episode=on_episode,
        split=settings.split,
        data=settings.data,
        dialect=settings.dialect,
        **settings.env_options,
    )
    trainer = make_trainer(settings, rollouts, model, tokenizer)
    trainer.train()
    rollouts.close()
    trainer.save_model(str(settings.out / "model"))
    tokenizer.save_pretrained(settings.out / "model")
    log = [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]
    with (settings.out / "training_log.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in log)
    returns = [row["rewards/episode_return/mean"] for row in log]
    tenth = max(1, len(returns) // 10)
    first, last = sum(returns[:tenth]) / tenth, sum(returns[-tenth:]) / tenth
    return f"trained {len(returns)} steps: return {first:.3f} -> {last:.3f}; model in {settings.out / 'model'}"


def make_trainer(settings: GrpoSettings, rollouts: EpisodeRollouts, model: Any, tokenizer: Any) -> Any:
    """TRL's GRPOTrainer with our rollouts, on a GPU where there is one and on the CPU else."""
    torch, trl = _import_trl()
    on_gpu = torch.cuda.is_available()
    # A generation config on the model would overrule the trainer's and warn at every call.
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    arguments = trl.GRPOConfig(
        output_dir=str(settings.out / "checkpoints"),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch,
        num_generations=settings.group,
        reward_weights=rollouts.reward_weights,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=5,
        max_completion_length=settings.max_new_tokens,
        temperature=1.0,
        beta=0.0,
        seed=settings.seed,
        use_cpu=not on_gpu,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        activation_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=False,
    )
    return trl.GRPOTrainer(
        model=model,
        args=arguments,
        processing_class=tokenizer,
        train_dataset=rollouts.dataset(),
        reward_funcs=rollouts.reward_funcs,
        rollout_func=rollouts,
    )


def _load(name: str) -> tuple[Any, Any]:
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingPackageError.for_extra("transformers", "train") from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    except OSError as error:
        raise ConfigurationError(
            f"model {name!r} cannot be loaded: {str(error).splitlines()[0]}; give a folder with a "
            "transformers model, or a name on the hub"
        ) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def _import_trl() -> tuple[Any, Any]:
    try:
        import torch
        import trl
        from trl import GRPOConfig, GRPOTrainer  # noqa: F401  (TRL imports lazily; fail here, not later)
    except ImportError as error:
        raise MissingPackageError.for_extra("trl", "train") from error
    return torch, trl
