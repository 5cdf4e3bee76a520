"""A reward model for tool calls, and what it cannot tell apart: one file, to be read from top to bottom.

    python examples/train_reward_model.py
    python examples/train_reward_model.py --model Qwen/Qwen2.5-0.5B-Instruct --dialect hermes --learning-rate 1e-5

Right actions of the training tasks beside near misses of them are what it learns from, with TRL's RewardTrainer.
Held-out tasks say, mutation by mutation, how often it prefers the right action; beside it stand our rule rewards,
which know what was asked for, and a logistic regression of a few hand-made features, which does not. Without
``--model`` a transformer of a million parameters is made on the spot, which a CPU trains in a few minutes.

What that one shows, and what it does not: it learns the shape of a right action (two calls where one was asked for,
a call that breaks off, a call beside a refusal: above 0.9 of 1), and is at chance where the only fault is a value
(0.4 to 0.6 for another name, number or date). The features, which look values up in the conversation, tell most of
these; whether yes or no was meant, and who belongs on a list, they cannot.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads make shared cores several times slower

import torch
from datasets import Dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, LlamaForSequenceClassification
from trl import RewardConfig, RewardTrainer

from callgym.dialects import get_dialect
from callgym.trainers.linear_reward import LinearRewardModel
from callgym.trainers.near_misses import (
    NearMiss,
    Prompt,
    Scorer,
    accuracy_by_kind,
    accuracy_table,
    near_misses,
    rule_scorers,
)
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy, copy_rows
from callgym.trainers.warmup import train_on_rows


def _option(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class Arguments:
    """One run; every field is an option of the command line."""

    model: str = _option("", "a model's folder, or its name on the hub; a tiny one is made without it")
    id: str = _option("apibank/L1-v0", "the environment whose tasks the pairs are of")
    data: str = _option("starter", "auto, official, starter, or a folder with the benchmark's files")
    train_split: str = _option("train", "tasks to learn from")
    test_split: str = _option("test", "tasks to measure on")
    dialect: str = _option("apibank-short", "how calls are written")
    out: str = _option("runs/reward_model", "folder for the model and the table")
    seed: int = _option(0, "seed of pairs, weights and batches")
    train_pairs: int = _option(4_000, "pairs to learn from")
    test_pairs: int = _option(900, "pairs to measure on")
    copy_steps: int = _option(120, "steps in which the tiny model first learns to copy; without them it hardly starts")
    steps: int = _option(240, "optimiser steps on pairs")
    batch: int = _option(16, "pairs of one step")
    learning_rate: float = _option(1e-3, "of the steps on pairs; 1e-5 suits pretrained models")
    max_tokens: int = _option(512, "pairs with a longer half are left out of training")
    layers: int = _option(3, "depth of the tiny model")
    hidden: int = _option(128, "width of the tiny model")
    smoke: bool = _option(False, "a few steps on a few pairs: whether it runs, not whether it learns")


def main(arguments: Arguments) -> None:
    """Make pairs, train, measure, print and save."""
    started = time.monotonic()
    if arguments.smoke:
        arguments = replace(arguments, train_pairs=40, test_pairs=40, copy_steps=2, steps=2, batch=4, hidden=32)
    on_gpu = torch.cuda.is_available()
    options = {"data": arguments.data, "dialect": arguments.dialect}
    train = list(
        near_misses(arguments.id, arguments.train_pairs, arguments.seed, split=arguments.train_split, **options)
    )
    test = list(near_misses(arguments.id, arguments.test_pairs, arguments.seed, split=arguments.test_split, **options))
    print(f"{len(train)} pairs to learn from, {len(test)} to measure on", flush=True)

    model, tokenizer = load(arguments) if arguments.model else make_tiny(arguments, train)
    model.config.pad_token_id = tokenizer.pad_token_id
    model.to("cuda" if on_gpu else "cpu")
    # Pairs of which both halves are right teach no preference: they are for measuring only.
    rows = [
        {
            "chosen_ids": encode(tokenizer, pair.prompt, pair.chosen),
            "rejected_ids": encode(tokenizer, pair.prompt, pair.rejected),
        }
        for pair in train
        if pair.expected == "chosen"
    ]
    config = RewardConfig(
        output_dir=str(Path(arguments.out) / "checkpoints"),
        seed=arguments.seed,
        max_steps=arguments.steps,
        per_device_train_batch_size=arguments.batch,
        learning_rate=arguments.learning_rate,
        warmup_steps=min(20, arguments.steps // 2),
        lr_scheduler_type="linear",
        max_length=arguments.max_tokens,
        use_cpu=not on_gpu,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        activation_checkpointing=False,
        logging_steps=max(1, arguments.steps // 8),
        disable_tqdm=True,
        save_strategy="no",
        report_to="none",
    )
    trainer = RewardTrainer(model=model, args=config, processing_class=tokenizer, train_dataset=Dataset.from_list(rows))
    trainer.train()

    scores = score_all(model, tokenizer, test, arguments.batch * 2)
    scorers: dict[str, Scorer] = {
        **rule_scorers(arguments.id, split=arguments.test_split, **options),
        "features": LinearRewardModel.fit(train, get_dialect(arguments.dialect)),
        "trained model": lambda prompt, action: scores[prompt.text, action],
    }
    results = {name: accuracy_by_kind(test, scorer, tolerance(test, scorer)) for name, scorer in scorers.items()}
    table = accuracy_table(results)
    out = Path(arguments.out)
    trainer.save_model(str(out / "model"))
    tokenizer.save_pretrained(out / "model")
    (out / "accuracy.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (out / "table.txt").write_text(table + "\n", encoding="utf-8")
    print(table)
    print(f"in {out}: model, accuracy.json, table.txt; {time.monotonic() - started:.0f} s")


def load(arguments: Arguments) -> tuple[Any, Any]:
    """A pretrained model with a fresh head of one number."""
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForSequenceClassification.from_pretrained(arguments.model, num_labels=1, dtype=torch.float32)
    return model, tokenizer


def make_tiny(arguments: Arguments, pairs: Sequence[NearMiss]) -> tuple[Any, Any]:
    """A tiny transformer that has learnt to copy, with a head of one number.

    Whether a value was copied right is most of what there is to tell; learning that from pairs alone takes longer.
    """
    texts = [pair.prompt.text + pair.chosen for pair in pairs[:4_000]]
    size = TinyPolicyConfig(hidden=arguments.hidden, layers=arguments.layers, seed=arguments.seed)
    policy, tokenizer = build_tiny_policy(texts, size)
    batch = 64
    copies = list(copy_rows(len(tokenizer), batch * arguments.copy_steps, arguments.seed))
    losses = train_on_rows(
        policy,
        tokenizer,
        copies,
        steps=arguments.copy_steps,
        batch=batch,
        learning_rate=3e-3,
        seed=arguments.seed,
    )
    print(f"copying: loss {losses[0]:.2f} -> {losses[-1]:.2f}", flush=True)
    policy.config.num_labels = 1
    torch.manual_seed(arguments.seed)
    model = LlamaForSequenceClassification(policy.config)
    model.model.load_state_dict(policy.model.state_dict())
    return model, tokenizer


def encode(tokenizer: Any, prompt: Prompt, action: str) -> list[int]:
    """Prompt and action as tokens: through the chat template where there is one, else as the dialect's text."""
    if getattr(tokenizer, "chat_template", None):
        messages = [{**message, "content": message["content"] or ""} for message in prompt.messages]
        text = tokenizer.apply_chat_template(
            [*messages, {"role": "assistant", "content": action}], tools=list(prompt.tools) or None, tokenize=False
        )
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids
    ids = tokenizer(prompt.text + action)["input_ids"]
    return [*ids, tokenizer.eos_token_id]


def score_all(model: Any, tokenizer: Any, pairs: Sequence[NearMiss], batch: int) -> dict[tuple[str, str], float]:
    """The model's score of each action at its prompt's text."""
    model.eval()
    both = {(p.prompt.text, action): (p.prompt, action) for p in pairs for action in (p.chosen, p.rejected)}
    ids = {key: encode(tokenizer, *given) for key, given in both.items()}
    keys = sorted(ids, key=lambda key: len(ids[key]))  # rows of like length together
    scores: dict[tuple[str, str], float] = {}
    for start in range(0, len(keys), batch):
        part = keys[start : start + batch]
        longest = len(ids[part[-1]])
        rows = [ids[key] + [tokenizer.pad_token_id] * (longest - len(ids[key])) for key in part]
        mask = [[1] * len(ids[key]) + [0] * (longest - len(ids[key])) for key in part]
        given = {"input_ids": torch.tensor(rows), "attention_mask": torch.tensor(mask)}
        with torch.inference_mode():
            output = model(**{name: tensor.to(model.device) for name, tensor in given.items()})
        scores.update(zip(part, output.logits[:, 0].float().tolist(), strict=True))
    return scores


def tolerance(pairs: Sequence[NearMiss], scorer: Scorer) -> float:
    """What passes for a tie where both are right: a tenth of the median difference between right and wrong."""
    differences = []
    for pair in pairs:
        chosen, rejected = scorer(pair.prompt, pair.chosen), scorer(pair.prompt, pair.rejected)
        if pair.expected == "chosen" and chosen is not None and rejected is not None:
            differences.append(abs(chosen - rejected))
    return statistics.median(differences) / 10


def parse_arguments(words: list[str] | None = None) -> Arguments:
    """The command line as Arguments."""
    parser = argparse.ArgumentParser(
        description="A reward model on near misses.", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for option in fields(Arguments):
        name, meaning = "--" + option.name.replace("_", "-"), option.metadata["help"]
        if isinstance(option.default, bool):
            parser.add_argument(name, action="store_true", help=meaning)
        else:
            parser.add_argument(name, type=type(option.default), default=option.default, help=meaning)
    return Arguments(**vars(parser.parse_args(words)))


if __name__ == "__main__":
    main(parse_arguments())
