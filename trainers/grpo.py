"""GRPO from settings to a saved model: what ``callgym train`` and the demo run.

``examples/train_grpo.py`` shows the same with TRL's own classes in the open. Under ``accelerate launch`` or
``torchrun`` each process plays and trains its share of the batch.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.ray.workers import RayWorkers
from callgym.task import Task
from callgym.trainers.curriculum import SamplingWeights, order_by_epoch
from callgym.trainers.trl import EpisodeRollouts

__all__ = ["GrpoSettings", "enough_tasks", "make_trainer", "train_grpo", "trainer_arguments"]


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
    """Episodes of one step, all processes together."""
    micro_batch: int | None = None
    """Episodes of one forward and backward pass of one process; its whole share of the batch by default."""
    group: int = 8
    """Episodes of one task; ``batch`` is a multiple of it."""
    weights: Mapping[str, float] | None = None
    """Share of the rows by id; every task once by default."""
    learning_rate: float = 1e-6
    """Constant after 5 steps; 1e-6 suits pretrained models, the tiny policy takes 5e-4."""
    max_new_tokens: int = 256
    """Most tokens of one action."""
    max_prompt_tokens: int | None = None
    """Tasks with a longer prompt are left out."""
    max_episode_tokens: int | None = None
    """An episode whose tokens after the prompt reach this many is truncated."""
    seed: int = 0
    """Seed of episodes, sampling and batches."""
    workers: RayWorkers | int | None = None
    """Where the environments run: in this process by default, else on so many Ray workers."""
    limits: RolloutLimits | None = None
    """How long steps and episodes may take, and how often one that breaks is begun again."""
    generation_batch: int | None = None
    """Most conversations that the model writes for at once; see ``EpisodeRollouts``."""
    vllm_mode: Literal["colocate", "server"] | None = None
    """Generate with vLLM, in this process or on a server; with transformers by default."""
    vllm_url: str | None = None
    """The vLLM server's address; ``http://0.0.0.0:8000`` by default."""
    vllm_tensor_parallel: int = 1
    """Processes that hold one vLLM together, where it runs in them."""
    save_steps: int | None = None
    """Write a checkpoint after every so many steps; none by default."""
    resume: bool = False
    """Go on from the last checkpoint in ``out``, if there is one."""
    report_to: str = "none"
    """Where the log goes beside ``out``: a name that transformers knows, such as ``tensorboard`` or ``wandb``."""

    def __post_init__(self) -> None:
        if self.batch % self.group:
            raise ConfigurationError(f"batch={self.batch} is no multiple of group={self.group}")
        if self.vllm_mode not in (None, "colocate", "server"):
            raise ConfigurationError(f"vllm_mode is 'colocate', 'server' or None, got {self.vllm_mode!r}")
        if self.vllm_url is not None and self.vllm_mode != "server":
            raise ConfigurationError(f"vllm_url={self.vllm_url!r} goes with vllm_mode='server'")
        if self.save_steps is not None and self.save_steps < 1:
            raise ConfigurationError(f"save_steps is at least 1, or None for no checkpoints, got {self.save_steps}")


def train_grpo(
    settings: GrpoSettings,
    model: Any = None,
    tokenizer: Any = None,
    on_episode: Callable[[Episode], None] | None = None,
    make: Callable[..., Any] | None = None,
) -> str:
    """Train, save model and log, and say how it went.

    Args:
        settings: The run.
        model: A loaded model; loaded from ``settings.model`` by default.
        tokenizer: Its tokenizer.
        on_episode: Called with the record of every training episode.
        make: Makes the trainer, as ``make_trainer`` does; ``callgym.trainers.rloo.make_rloo_trainer``, say.

    Returns:
        A line for the screen: mean return of the first and of the last tenth of the steps.

    Raises:
        MissingPackageError: TRL is not installed.
        ConfigurationError: A setting has a value it cannot have.
    """
    checkpoint = _checkpoint(settings)
    if model is None or tokenizer is None:
        model, tokenizer = _load(settings.model)
    rollouts = EpisodeRollouts(
        settings.ids,
        tokenizer,
        seed=settings.seed,
        max_prompt_tokens=settings.max_prompt_tokens,
        max_episode_tokens=settings.max_episode_tokens,
        on_episode=on_episode,
        workers=settings.workers,
        limits=settings.limits,
        generation_batch=settings.generation_batch,
        sampler=None if settings.weights is None else SamplingWeights(settings.weights, settings.seed),
        split=settings.split,
        data=settings.data,
        dialect=settings.dialect,
        **settings.env_options,
    )
    try:
        trainer = (make or make_trainer)(settings, rollouts, model, tokenizer)
        trainer.train(resume_from_checkpoint=checkpoint)
    finally:
        rollouts.close()
    trainer.save_model(str(settings.out / "model"))
    log = [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]
    if trainer.is_world_process_zero():
        tokenizer.save_pretrained(settings.out / "model")
        with (settings.out / "training_log.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(_known(row)) + "\n" for row in log)
    returns = [row["rewards/episode_return/mean"] for row in log]
    tenth = max(1, len(returns) // 10)
    first, last = _mean(returns[:tenth]), _mean(returns[-tenth:])
    return f"trained {len(returns)} steps: return {first} -> {last}; model in {settings.out / 'model'}"


def make_trainer(settings: GrpoSettings, rollouts: Any, model: Any, tokenizer: Any) -> Any:
    """TRL's GRPOTrainer with our rollouts, on a GPU where there is one and on the CPU else.

    Args:
        settings: The run.
        rollouts: ``EpisodeRollouts``, or what stands in for them, such as ``CurriculumRollouts``.
        model: A loaded model.
        tokenizer: Its tokenizer.

    Raises:
        MissingPackageError: TRL is not installed, or vLLM where it is to generate.
        ConfigurationError: The batch cannot be shared out.
    """
    _, trl = _import_trl()
    arguments = trl.GRPOConfig(**trainer_arguments(settings, rollouts))
    # A generation config on the model would overrule the trainer's and warn at every call.
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return trl.GRPOTrainer(
        model=model,
        args=arguments,
        processing_class=tokenizer,
        train_dataset=enough_tasks(rollouts.dataset(), arguments),
        reward_funcs=rollouts.reward_funcs,
        rollout_func=rollouts,
        # A resumed run then plays the tasks of the one that was not stopped.
        callbacks=[order_by_epoch(settings.seed)] if settings.save_steps or settings.resume else None,
    )


def trainer_arguments(settings: GrpoSettings, rollouts: Any) -> dict[str, Any]:
    """What GRPOConfig and RLOOConfig take alike.

    Raises:
        MissingPackageError: vLLM is to generate, and is not installed.
        ConfigurationError: The batch cannot be shared out.
    """
    torch, _ = _import_trl()
    share, passes = _shares(settings)
    on_gpu = torch.cuda.is_available()
    return {
        "output_dir": str(settings.out / "checkpoints"),
        "max_steps": settings.steps,
        "per_device_train_batch_size": share,
        "gradient_accumulation_steps": passes,
        "num_generations": settings.group,
        "reward_weights": rollouts.reward_weights,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": "constant_with_warmup",
        "warmup_steps": 5,
        "max_completion_length": settings.max_new_tokens,
        "temperature": 1.0,
        "beta": 0.0,
        "seed": settings.seed,
        "use_cpu": not on_gpu,
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
        "activation_checkpointing": False,
        "logging_steps": 1,
        "save_strategy": "no" if settings.save_steps is None else "steps",
        "save_steps": settings.save_steps or 500,
        "report_to": settings.report_to,
        "disable_tqdm": False,
        **_vllm(settings),
    }


def enough_tasks(dataset: Any, arguments: Any) -> Any:
    """The dataset.

    Raises:
        ConfigurationError: It has fewer tasks than a batch has groups: TRL's sampler leaves incomplete batches out, and
            training would end before its first step.
    """
    groups = arguments.generation_batch_size // arguments.num_generations
    if len(dataset) < groups:
        raise ConfigurationError(
            f"a batch has {groups} groups and there are {len(dataset)} tasks; take a smaller batch or larger groups"
        )
    return dataset


def _shares(settings: GrpoSettings) -> tuple[int, int]:
    """Episodes of one pass of one process, and passes of one step."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))  # set by accelerate launch and by torchrun
    share = settings.micro_batch or settings.batch // processes
    if share < 1 or settings.batch % (share * processes):
        what = f"batch={settings.batch} cannot be shared out among {processes} processes"
        raise ConfigurationError(what if settings.micro_batch is None else f"{what} with micro_batch={share}")
    return share, settings.batch // (share * processes)


def _vllm(settings: GrpoSettings) -> dict[str, Any]:
    """Arguments of GRPOConfig."""
    if settings.vllm_mode is None:
        return {}
    if importlib.util.find_spec("vllm") is None:
        raise MissingPackageError("vllm is not installed; it comes with: pip install 'trl[vllm]'")
    given: dict[str, Any] = {"use_vllm": True, "vllm_mode": settings.vllm_mode}
    if settings.vllm_mode == "server":
        return {**given, "vllm_server_base_url": settings.vllm_url or "http://0.0.0.0:8000"}
    return {**given, "vllm_tensor_parallel_size": settings.vllm_tensor_parallel}


def _checkpoint(settings: GrpoSettings) -> str | None:
    """The checkpoint to go on from."""
    folder = settings.out / "checkpoints"
    found = [(path.name.partition("-")[2], path) for path in folder.glob("checkpoint-*") if path.is_dir()]
    known = {int(step): path for step, path in found if step.isdecimal()}
    if not known:
        return None
    if not settings.resume and settings.save_steps is not None:
        raise ConfigurationError(
            f"{folder} holds checkpoints of an earlier run; go on from the last with resume=True, or give another out"
        )
    return str(known[max(known)]) if settings.resume else None


def _mean(returns: Sequence[float]) -> str:
    """The mean of the known ones, as text: a step in which every episode broke has none."""
    known = [value for value in returns if not math.isnan(value)]
    return f"{sum(known) / len(known):.3f}" if known else "unknown"


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """A log's row with None for what is not known."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}


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
