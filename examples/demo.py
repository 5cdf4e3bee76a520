"""The main job, whole and offline: a policy made on the spot learns API-Bank level 1 on the CPU.

    python examples/demo.py                          # starter tasks, about 7 minutes on 2 cores
    python examples/demo.py --data FOLDER            # the real API-Bank files
    python examples/demo.py --seeds 0 1 2            # three seeds, one table

1. Make a small tokenizer and transformer.  2. Warm it up on oracle episodes of the training split; at the
end the expert turns careless, so that the policy knows how to call and is often wrong.  3. Play held-out
tasks, sampling.  4. Improve the policy with GRPO through ``callgym.trainers``.  5. Play the same held-out
tasks again.  6. Leave pictures, summaries and readable episodes in ``runs/demo``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads make shared cores several times slower
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import gymnasium as gym

from callgym.envs.apibank.starter import generate
from callgym.rollouts.runner import RolloutResult, run_episodes
from callgym.rollouts.transformers_policy import TransformersPolicy
from callgym.show import episode_as_text
from callgym.task import Task
from callgym.trainers.grpo import GrpoSettings, train_grpo
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy, copy_rows
from callgym.trainers.warmup import oracle_rows, oracle_texts, train_on_rows

ID = "apibank/L1-v0"
DIALECT = "apibank-short"


@dataclass(frozen=True)
class DemoConfig:
    """What the demo does; the defaults fit 8 minutes on 2 cores."""

    out: Path = Path("runs/demo")
    """Folder for what the demo leaves."""
    data: str = "starter"
    """starter, official (after a fetch), or a folder with the real files."""
    warmup_tasks: int = 18_000
    """Starter tasks of the training split to warm up on."""
    copy_steps: int = 140
    """Steps on copies of random tokens, 64 rows each."""
    warmup_steps: int = 1_300
    """Steps on oracle episodes, 16 rows each."""
    careless_steps: int = 150
    """Further steps in which the expert makes mistakes: what GRPO then has to unlearn."""
    mistakes: float = 0.6
    """Share of the careless expert's calls with one wrong argument."""
    grpo_steps: int = 50
    """Optimiser steps of GRPO, 128 episodes each."""
    episodes: int = 250
    """Held-out episodes, before and after."""
    max_new_tokens: int = 64
    """Most tokens of an action."""
    max_prompt_tokens: int = 700
    """Longer tasks are left out of training; evaluation plays them all."""


@dataclass(frozen=True)
class Outcome:
    """What one seed reached on held-out tasks, sampling at temperature 1."""

    seed: int
    before: RolloutResult
    after: RolloutResult
    seconds: float

    @property
    def gain(self) -> float:
        """Rise of the mean return."""
        return _mean(self.after) - _mean(self.before)


def main() -> None:
    """Run the demo for each seed and print the table."""
    config, seeds = _arguments()
    _quiet()
    outcomes = []
    for seed in seeds:
        out = config.out if len(seeds) == 1 else config.out / f"seed{seed}"
        outcomes.append(run(config, seed, out))
        print(_table(outcomes), flush=True)
    (config.out / "table.txt").write_text(_table(outcomes) + "\n", encoding="utf-8")
    if len(outcomes) > 1:
        _draw_together(outcomes, config.out)
    print(f"\nleft in {config.out}: " + ", ".join(sorted(path.name for path in config.out.iterdir())))


def run(config: DemoConfig, seed: int, out: Path) -> Outcome:
    """One seed, from nothing to the pictures."""
    start = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("episodes_*.jsonl"):
        old.unlink()  # a run starts anew; only an evaluation that was interrupted resumes
    train_split, test_split = ("train", "test") if config.data == "starter" else ("cv-train", "cv-test")
    starter = list(itertools.islice(generate(1, "train", seed=seed + 1), config.warmup_tasks))
    tasks = starter if config.data == "starter" else _mixed(starter, _real_tasks(config.data, train_split))

    _say(f"seed {seed}: making the policy")
    texts = oracle_texts(ID, limit=4_000, data=tasks[-4_000:], dialect=DIALECT)
    model, tokenizer = build_tiny_policy(texts, TinyPolicyConfig(seed=seed))
    _say(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} million parameters, {len(tokenizer)} tokens")

    copies = list(copy_rows(len(tokenizer), 64 * config.copy_steps, seed))
    _train("warming up: copying", model, tokenizer, copies, config.copy_steps, 64, seed)
    rows = list(oracle_rows(ID, tokenizer, max_tokens=config.max_prompt_tokens, data=tasks, dialect=DIALECT))
    _train("warming up: oracle episodes", model, tokenizer, rows, config.warmup_steps, 16, seed)
    careless = oracle_rows(
        ID,
        tokenizer,
        max_tokens=config.max_prompt_tokens,
        mistakes=config.mistakes,
        seed=seed,
        data=tasks[-32 * config.careless_steps :],
        dialect=DIALECT,
    )
    _train("warming up: a careless expert", model, tokenizer, list(careless), config.careless_steps, 16, seed, 1e-3)

    before = _evaluate(config, model, tokenizer, test_split, seed, out / "episodes_before.jsonl")
    _say(f"held-out return before GRPO: {_mean(before):.3f}; now {config.grpo_steps} steps of GRPO")
    settings = GrpoSettings(
        ids=(ID,),
        model="",
        out=out,
        data=config.data,
        split=train_split,
        dialect=DIALECT,
        steps=config.grpo_steps,
        batch=128,
        learning_rate=5e-4,
        max_new_tokens=config.max_new_tokens,
        max_prompt_tokens=config.max_prompt_tokens,
        seed=seed,
    )
    _say(train_grpo(settings, model, tokenizer))
    after = _evaluate(config, model, tokenizer, test_split, seed, out / "episodes_after.jsonl")
    _say(f"held-out return after GRPO: {_mean(after):.3f}")

    outcome = Outcome(seed, before, after, time.monotonic() - start)
    _leave(outcome, out)
    return outcome


def _train(
    what: str,
    model: Any,
    tokenizer: Any,
    rows: list[dict[str, Any]],
    steps: int,
    batch: int,
    seed: int,
    rate: float = 3e-3,
) -> None:
    losses = train_on_rows(model, tokenizer, rows, steps=steps, batch=batch, learning_rate=rate, seed=seed)
    _say(f"{what}: {steps} steps of {batch}, loss {losses[0]:.2f} -> {losses[-1]:.2f}")


def _real_tasks(data: str, split: str) -> Sequence[Task]:
    env: Any = gym.make(ID, data=data, split=split, disable_env_checker=True).unwrapped
    tasks: Sequence[Task] = env.tasks
    return tasks


def _mixed(starter: list[Task], real: Sequence[Task]) -> list[Task]:
    """Starter tasks for breadth, and the real training tasks several times over."""
    return starter[: len(starter) // 2] + list(real) * max(1, len(starter) // 2 // len(real))


def _evaluate(config: DemoConfig, model: Any, tokenizer: Any, split: str, seed: int, out: Path) -> RolloutResult:
    policy = TransformersPolicy(model, tokenizer, max_new_tokens=config.max_new_tokens, temperature=1.0, batch_size=125)
    return run_episodes(
        ID,
        policy,
        episodes=config.episodes,
        seed=seed,
        batch_size=125,
        env_options={"data": config.data, "split": split, "dialect": DIALECT},
        out=out,
    )


def _leave(outcome: Outcome, out: Path) -> None:
    """Summaries, episodes as text, and the learning curve."""
    for name, result in (("before", outcome.before), ("after", outcome.after)):
        (out / f"summary_{name}.json").write_text(result.summary.to_json() + "\n", encoding="utf-8")
    pairs = zip(outcome.before.episodes, outcome.after.episodes, strict=True)
    texts = ["The first 20 held-out episodes, before and after GRPO.", ""]
    for before, after in itertools.islice(pairs, 20):
        answer = episode_as_text(after).removeprefix(episode_as_text(before).partition("--- action")[0])
        texts += ["=" * 30 + " BEFORE", episode_as_text(before), "=" * 30 + " AFTER", answer, ""]
    (out / "episodes.txt").write_text("\n".join(texts), encoding="utf-8")
    _draw(outcome, out)


def _draw(outcome: Outcome, out: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    log = [json.loads(line) for line in (out / "training_log.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = list(range(1, len(log) + 1))
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    names = {"episode_return": "return", "call_exact_match": "call exact match", "argument_f1": "argument F1"}
    for name, label in names.items():
        axes.plot(steps, [row.get(f"rewards/{name}/mean") for row in log], label=label, linewidth=1.5)
    ends = (0, len(log) + 1)
    axes.scatter(ends, (_mean(outcome.before), _mean(outcome.after)), color="black", zorder=3, label="held-out return")
    axes.set(xlabel="GRPO step (128 sampled episodes each)", ylabel="mean over sampled episodes", ylim=(0, 1))
    axes.set_title(f"{ID}, seed {outcome.seed}: held-out {_mean(outcome.before):.2f} → {_mean(outcome.after):.2f}")
    axes.legend(loc="upper left")
    axes.grid(alpha=0.3)
    figure.savefig(out / "learning_curve.png", dpi=120)
    plt.close(figure)


def _draw_together(outcomes: Sequence[Outcome], out: Path) -> None:
    """Every seed's return while it trains, and on held-out tasks before and after, in one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for outcome in outcomes:
        lines = (out / f"seed{outcome.seed}" / "training_log.jsonl").read_text(encoding="utf-8").splitlines()
        returns = [json.loads(line)["rewards/episode_return/mean"] for line in lines]
        [curve] = axes.plot(range(1, len(returns) + 1), returns, linewidth=1.5, label=f"seed {outcome.seed}")
        ends = (0, len(returns) + 1)
        axes.scatter(ends, (_mean(outcome.before), _mean(outcome.after)), color=curve.get_color(), zorder=3)
    axes.set(xlabel="GRPO step (128 sampled episodes each)", ylabel="mean return (dots: held-out)", ylim=(0, None))
    axes.set_title(f"{ID}: GRPO, {len(outcomes)} seeds")
    axes.legend(loc="upper left")
    axes.grid(alpha=0.3)
    figure.savefig(out / "learning_curves.png", dpi=120)
    plt.close(figure)


def _table(outcomes: Sequence[Outcome]) -> str:
    lines = ["", "seed   before   after    gain   exact before   exact after   episodes   seconds"]
    for o in outcomes:
        exact = [r.summary.rewards["call_exact_match"] or 0.0 for r in (o.before, o.after)]
        lines.append(
            f"{o.seed:>4}   {_mean(o.before):>6.3f}  {_mean(o.after):>6.3f}  {o.gain:>+6.3f}   "
            f"{exact[0]:>12.3f}   {exact[1]:>11.3f}   {len(o.after.episodes):>8}   {o.seconds:>7.0f}"
        )
    return "\n".join(lines)


def _mean(result: RolloutResult) -> float:
    mean = result.summary.return_mean
    if mean is None:
        raise RuntimeError("no episode has a known return")
    return mean


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def _quiet() -> None:
    """Keep libraries' remarks about their own future off the screen."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", message=".*pin_memory.*")


def _arguments() -> tuple[DemoConfig, list[int]]:
    defaults = DemoConfig()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=defaults.out)
    parser.add_argument("--data", default=defaults.data)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    for name in ("warmup_tasks", "copy_steps", "warmup_steps", "careless_steps", "grpo_steps", "episodes"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(defaults, name))
    options = vars(parser.parse_args())
    seeds = options.pop("seeds")
    return DemoConfig(**options), seeds


if __name__ == "__main__":
    main()
