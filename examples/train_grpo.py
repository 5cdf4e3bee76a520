"""GRPO on a CallGym environment with TRL's own classes: one file, to be read from top to bottom.

    python examples/train_grpo.py --model Qwen/Qwen2.5-0.5B-Instruct --dialect hermes
    python examples/train_grpo.py --model FOLDER --id apibank/L3-v0 --data official --train-split cv-train \\
        --test-split cv-test

Any causal language model of transformers, by folder or by name on the hub. The same file runs on a GPU
where there is one and on the CPU otherwise. ``callgym train`` is the short form of it.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads make shared cores several times slower
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # rollout_func is experimental, which is known here

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from callgym.rollouts.runner import run_episodes
from callgym.rollouts.transformers_policy import TransformersPolicy
from callgym.trainers.trl import EpisodeRollouts


def _option(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class Arguments:
    """One run; every field is an option of the command line."""

    model: str = _option("Qwen/Qwen2.5-0.5B-Instruct", "a model's folder, or its name on the hub")
    id: str = _option("apibank/L1-v0", "the environment to train and evaluate on")
    data: str = _option("auto", "auto, official, starter, or a folder with the benchmark's files")
    train_split: str = _option("train", "tasks to train on")
    test_split: str = _option("test", "tasks to evaluate on, before and after")
    dialect: str = _option("", "how calls are written; the one that the model's chat template teaches, if it has one")
    out: str = _option("runs/train_grpo", "folder for the model and the episodes that were evaluated")
    seed: int = _option(0, "seed of tasks, episodes, sampling and batches")
    steps: int = _option(100, "optimiser steps")
    batch: int = _option(64, "episodes of one step")
    micro_batch: int = _option(8, "episodes of one forward and backward pass; it divides the batch")
    group: int = _option(8, "episodes of one task, which are compared with each other; it divides the batch")
    learning_rate: float = _option(1e-6, "constant; 1e-6 suits pretrained models")
    temperature: float = _option(1.0, "of sampling, in training and in evaluation")
    max_new_tokens: int = _option(256, "most tokens of one action")
    max_prompt_tokens: int = _option(2_048, "tasks with a longer first observation are not trained on")
    eval_episodes: int = _option(200, "episodes of each evaluation")


def main(arguments: Arguments) -> None:
    """Load, evaluate, train, evaluate, save."""
    on_gpu = torch.cuda.is_available()
    tokenizer = AutoTokenizer.from_pretrained(arguments.model, padding_side="left")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    # 32 bits: an update of 1e-6 would be rounded away in 16. On a GPU the forward pass is in bfloat16 all the same.
    model: Any = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32)
    model.to("cuda" if on_gpu else "cpu")
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    out = Path(arguments.out)
    print(f"before: {evaluate(arguments, model, tokenizer, 'before')}")

    # Plays the episodes that TRL asks for: the model writes, the environment answers, until the episode ends.
    # TRL gets the very tokens that were sampled, and a mask that leaves the environment's tokens out of the loss.
    rollouts = EpisodeRollouts(
        arguments.id,
        tokenizer,
        seed=arguments.seed,
        max_prompt_tokens=arguments.max_prompt_tokens,
        split=arguments.train_split,
        data=arguments.data,
        dialect=arguments.dialect or None,
    )
    config = GRPOConfig(
        output_dir=str(out / "checkpoints"),
        seed=arguments.seed,
        max_steps=arguments.steps,
        per_device_train_batch_size=arguments.micro_batch,
        gradient_accumulation_steps=arguments.batch // arguments.micro_batch,
        num_generations=arguments.group,
        learning_rate=arguments.learning_rate,
        lr_scheduler_type="constant",
        temperature=arguments.temperature,
        max_completion_length=arguments.max_new_tokens,
        reward_weights=rollouts.reward_weights,  # the episode's return is trained on, its parts are logged
        beta=0.0,
        use_cpu=not on_gpu,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        activation_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    )
    trainer = GRPOTrainer(
        model=model,
        args=config,
        processing_class=tokenizer,
        train_dataset=rollouts.dataset(),
        reward_funcs=rollouts.reward_funcs,
        rollout_func=rollouts,
    )
    trainer.train()
    rollouts.close()

    print(f"after: {evaluate(arguments, model, tokenizer, 'after')}")
    trainer.save_model(str(out / "model"))
    tokenizer.save_pretrained(out / "model")
    print(f"play it: callgym eval {arguments.id} --policy hf:{out / 'model'}")


def evaluate(arguments: Arguments, model: Any, tokenizer: Any, name: str) -> str:
    """Play held-out tasks, leave the episodes in ``out``, and return the summary as one line of JSON."""
    policy = TransformersPolicy(
        model,
        tokenizer,
        max_new_tokens=arguments.max_new_tokens,
        temperature=arguments.temperature,
        batch_size=arguments.micro_batch * 4,  # no gradients, so more fit
    )
    options = {"split": arguments.test_split, "data": arguments.data, "dialect": arguments.dialect or None}
    result = run_episodes(
        arguments.id,
        policy,
        episodes=arguments.eval_episodes,
        seed=arguments.seed,
        batch_size=arguments.micro_batch * 4,
        env_options=options,
        out=Path(arguments.out) / f"episodes_{name}.jsonl",
        resume=False,
    )
    return result.summary.to_json()


def parse_arguments(words: list[str] | None = None) -> Arguments:
    """The command line as Arguments."""
    parser = argparse.ArgumentParser(
        description="GRPO on a CallGym environment.", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for option in fields(Arguments):
        name = "--" + option.name.replace("_", "-")
        parser.add_argument(name, type=type(option.default), default=option.default, help=option.metadata["help"])
    return Arguments(**vars(parser.parse_args(words)))


if __name__ == "__main__":
    main(parse_arguments())
