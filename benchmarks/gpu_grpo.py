"""GRPO where there is a GPU: tokens per second, the share of time it waits for environments, and a learning curve.

    python benchmarks/gpu_grpo.py --minutes 6                     # a model from scratch, starter tasks, offline
    python benchmarks/gpu_grpo.py --model FOLDER --minutes 6      # a model that is there
    python benchmarks/gpu_grpo.py --small --minutes 2             # what can be tried on a CPU

Tools wait (``--tool-ms``, 50 by default), as services do. The aim is that the model waits for environments less than
5 % of the time of generation and waiting together. The run ends by the clock, whatever step it has come to; figures
go to ``--out``, as JSON, with a picture of the curve. Without a GPU it says so, and its figures are those of a CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import itertools

from callgym.envs.apibank.starter import generate
from callgym.trainers.grpo import GrpoSettings, make_trainer
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy, copy_rows
from callgym.trainers.trl import EpisodeRollouts
from callgym.trainers.warmup import oracle_rows, oracle_texts, train_on_rows

ID, DIALECT = "apibank/L1-v0", "apibank-short"


@dataclass(frozen=True)
class Size:
    """How large the run is."""

    policy: TinyPolicyConfig
    tasks: int
    copy_steps: int
    warmup_steps: int
    batch: int
    generation_batch: int


GPU = Size(TinyPolicyConfig(hidden=512, layers=6, heads=8), 18_000, 300, 2_000, 512, 256)
SMALL = Size(TinyPolicyConfig(), 2_000, 20, 60, 32, 16)


def main() -> None:
    """Make or load a policy, train it until the time is over, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--model", help="a folder; a small one is made on the spot by default")
    parser.add_argument("--tool-ms", type=float, default=50.0)
    parser.add_argument("--workers", type=int, default=0, help="Ray workers; environments in this process by default")
    parser.add_argument("--small", action="store_true", help="sizes for a CPU")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu_grpo"))
    given = parser.parse_args()
    import torch

    began = time.monotonic()
    on_gpu = torch.cuda.is_available()
    print(f"device: {torch.cuda.get_device_name(0) if on_gpu else 'no GPU here; these are figures of the CPU'}")
    size = SMALL if given.small or not on_gpu else GPU
    model, tokenizer = load(given.model) if given.model else make_policy(size, on_gpu)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters / 1e6:.1f} million parameters, ready after {time.monotonic() - began:.0f} s", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    log = train(given, size, model, tokenizer, until=began + 60 * given.minutes)
    figures = summary(log, parameters, torch.cuda.get_device_name(0) if on_gpu else "cpu", size.batch)
    (given.out / "figures.json").write_text(json.dumps({**figures, "log": log}, indent=1) + "\n", encoding="utf-8")
    draw(figures, given.out / "learning_curve.png")
    print(json.dumps({name: value for name, value in figures.items() if name != "returns"}))


def load(folder: str) -> tuple[Any, Any]:
    """A model that is there."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def make_policy(size: Size, on_gpu: bool) -> tuple[Any, Any]:
    """A policy from scratch that knows how to call and is often wrong, as in the demo."""
    tasks = list(itertools.islice(generate(1, "train", seed=1), size.tasks))
    texts = oracle_texts(ID, limit=2_000, data=tasks[-2_000:], dialect=DIALECT)
    model, tokenizer = build_tiny_policy(texts, size.policy)
    rate = 1e-3 if on_gpu else 3e-3
    copies = list(copy_rows(len(tokenizer), 64 * size.copy_steps, 0))
    train_on_rows(model, tokenizer, copies, steps=size.copy_steps, batch=64, learning_rate=rate, seed=0)
    for mistakes, steps in ((0.0, size.warmup_steps), (0.6, max(10, size.warmup_steps // 10))):
        rows = list(oracle_rows(ID, tokenizer, max_tokens=700, mistakes=mistakes, data=tasks, dialect=DIALECT))
        train_on_rows(model, tokenizer, rows, steps=steps, batch=16, learning_rate=rate, seed=0)
    return model, tokenizer


def train(given: Any, size: Size, model: Any, tokenizer: Any, until: float) -> list[dict[str, float]]:
    """GRPO until the time is over; the log's rows."""
    from transformers import TrainerCallback

    class Clock(TrainerCallback):  # type: ignore[misc,unused-ignore]
        """Stops by the clock, and notes it in each row."""

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if time.monotonic() > until:
                control.should_training_stop = True

    options: dict[str, Any] = {
        "data": "starter",
        "dialect": DIALECT if not given.model else "hermes",
        "protocol": "dialogue",
    }
    faults = [{"name": "latency", "seconds": given.tool_ms / 1000, "sleep": True}] if given.tool_ms else []
    rollouts = EpisodeRollouts(
        ID,
        tokenizer,
        max_prompt_tokens=700,
        workers=given.workers or None,
        generation_batch=size.generation_batch,
        faults=faults,
        **options,
    )
    settings = GrpoSettings(
        ids=(ID,),
        model="",
        out=given.out,
        steps=100_000,
        batch=size.batch,
        learning_rate=5e-4 if not given.model else 1e-6,
        max_new_tokens=64 if not given.model else 256,
    )
    trainer = make_trainer(settings, rollouts, model, tokenizer)
    trainer.add_callback(Clock())
    try:
        trainer.train()
    finally:
        rollouts.close()
    return [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]


def summary(log: list[dict[str, float]], parameters: int, device: str, batch: int) -> dict[str, Any]:
    """Tokens per second, the share of waiting, and the curve."""
    generation = sum(row["callgym/seconds/generation"] for row in log)
    tools = sum(row["callgym/seconds/tools"] for row in log)
    tokens = sum(row["completions/mean_length"] * batch for row in log)
    returns = [row["rewards/episode_return/mean"] for row in log]
    return {
        "device": device,
        "parameters": parameters,
        "steps": len(log),
        "episodes": len(log) * batch,
        "generated tokens per second of generation": round(tokens / generation, 1) if generation else None,
        "share of time that the model waits for environments": round(tools / (generation + tools), 4),
        "return, first tenth": _mean(returns[: max(1, len(returns) // 10)]),
        "return, last tenth": _mean(returns[-max(1, len(returns) // 10) :]),
        "returns": returns,
    }


def _mean(values: list[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def draw(figures: dict[str, Any], path: Path) -> None:
    """The learning curve."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    axes.plot(range(1, len(figures["returns"]) + 1), figures["returns"])
    axes.set(xlabel="GRPO step", ylabel="mean return", title=f"{ID}, dialogue, {figures['device']}")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
