"""PPO through RLlib on a CallGym environment as a choice among offered actions: one file, to be read top to bottom.

    python examples/train_ppo_candidates.py --seeds 0 1 2
    python examples/train_ppo_candidates.py --id bfcl/multiple-v0 --num-env-runners 1 --picture runs/curves.png

A small network learns which of eight offered texts to play. The right one is always among them, so this trains and
measures *ranking*: read a return beside the floors that are printed with it. It needs no language model and no GPU,
and about a minute a seed on one core. Exit status 1 says that some seed's held-out return did not rise by ``--margin``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads make shared cores several times slower
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the network is too small for more

import numpy as np
import ray
import torch

from callgym.trainers.rllib.candidate_config import candidate_ppo_config
from callgym.trainers.rllib.candidate_env import CandidateEnv

Policy = Callable[[CandidateEnv, dict[str, Any]], int]
"""From the environment and its observation to a place. Only floors look at the environment."""


def _option(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class Arguments:
    """One run; every field is an option of the command line."""

    seeds: tuple[int, ...] = _option((0, 1, 2), "one training run each")
    id: str = _option("apibank/L1-v0", "the environment to train and evaluate on")
    data: str = _option("starter", "auto, official, starter, or a folder with the benchmark's files")
    train_split: str = _option("train", "tasks to train on")
    test_split: str = _option("test", "tasks to evaluate on, before and after")
    candidates: int = _option(8, "actions on offer at a time")
    iterations: int = _option(10, "rounds of playing and learning")
    batch: int = _option(1024, "decisions of one round")
    learning_rate: float = _option(1e-3, "of Adam")
    num_env_runners: int = _option(0, "processes that play; 0 plays in the learner's own")
    num_gpus_per_learner: float = _option(0.0, "passed on to RLlib")
    eval_episodes: int = _option(500, "held-out episodes of each evaluation")
    margin: float = _option(0.4, "what every seed's held-out return must rise by, greedy and sampled")
    out: str = _option("runs/train_ppo_candidates.json", "file for all figures")
    picture: str = _option("", "file for the learning curves, if they are wanted (needs matplotlib)")


def main(arguments: Arguments) -> int:
    """Measure the floors, train once a seed, write everything down."""
    env = CandidateEnv(arguments.id, candidates=arguments.candidates, data=arguments.data, split=arguments.test_split)
    rng = np.random.default_rng(0)
    floors: dict[str, Policy] = {
        "random": lambda env, seen: int(rng.integers(len(env.candidates))),
        "first": lambda env, seen: 0,
        "longest": lambda env, seen: max(range(len(env.candidates)), key=lambda n: len(env.candidates[n])),
        "shortest": lambda env, seen: min(range(len(env.candidates)), key=lambda n: len(env.candidates[n])),
        "most_shared_words": most_shared_words,
        "oracle": lambda env, seen: env.oracle_action(),
    }
    result: dict[str, Any] = {
        "id": arguments.id,
        "candidates": arguments.candidates,
        "floors": {name: evaluate(env, policy, arguments.eval_episodes) for name, policy in floors.items()},
        "runs": [],
    }
    for name, value in result["floors"].items():
        print(f"{name:>20}: {value:.3f}")
    ray.init("local", num_cpus=arguments.num_env_runners + 1, include_dashboard=False, log_to_driver=False)
    try:
        for seed in arguments.seeds:
            result["runs"].append(train(arguments, env, seed))
    finally:
        ray.shutdown()
    gains = [run["after"][how] - run["before"][how] for run in result["runs"] for how in ("greedy", "sampled")]
    result |= {"least_gain": min(gains), "margin": arguments.margin}
    print(f"held-out return rose by {min(gains):.3f} to {max(gains):.3f}; asked for: {arguments.margin}")
    Path(arguments.out).parent.mkdir(parents=True, exist_ok=True)
    Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if arguments.picture:
        draw(result, Path(arguments.picture))
    return 0 if min(gains) >= arguments.margin else 1


def train(arguments: Arguments, env: CandidateEnv, seed: int) -> dict[str, Any]:
    """One seed: the curve of training returns, and held-out returns before and after."""
    began = time.monotonic()
    config = candidate_ppo_config(
        arguments.id,
        candidates=arguments.candidates,
        seed=seed,
        num_env_runners=arguments.num_env_runners,
        num_gpus_per_learner=arguments.num_gpus_per_learner,
        training={"lr": arguments.learning_rate, "train_batch_size_per_learner": arguments.batch},
        data=arguments.data,
        split=arguments.train_split,
    )
    algorithm = config.build_algo()
    before = measure(arguments, algorithm, env, seed)
    # The mean over RLlib's window of episodes, sampled. Episodes without a known return are left out.
    curve = [float(algorithm.train()["env_runners"]["episode_return_mean"]) for _ in range(arguments.iterations)]
    after = measure(arguments, algorithm, env, seed)
    algorithm.stop()
    seconds = time.monotonic() - began
    print(
        f"seed {seed}: greedy {before['greedy']:.3f} -> {after['greedy']:.3f}, "
        f"sampled {before['sampled']:.3f} -> {after['sampled']:.3f}, {seconds:.0f} s",
        flush=True,
    )
    return {"seed": seed, "before": before, "after": after, "training_returns": curve, "seconds": round(seconds, 1)}


def measure(arguments: Arguments, algorithm: Any, env: CandidateEnv, seed: int) -> dict[str, float]:
    """Held-out returns of what was learned: its first choice, and drawn as in training."""
    module = algorithm.get_module()
    generator = torch.Generator().manual_seed(seed)

    def scores(seen: dict[str, Any]) -> Any:
        batch = {"obs": {name: torch.from_numpy(array).unsqueeze(0) for name, array in seen.items()}}
        with torch.no_grad():
            return module.forward_inference(batch)["action_dist_inputs"][0]

    def greedy(env: CandidateEnv, seen: dict[str, Any]) -> int:
        return int(scores(seen).argmax())

    def sampled(env: CandidateEnv, seen: dict[str, Any]) -> int:
        return int(torch.multinomial(scores(seen).softmax(-1), 1, generator=generator))

    return {
        "greedy": evaluate(env, greedy, arguments.eval_episodes),
        "sampled": evaluate(env, sampled, arguments.eval_episodes),
    }


def evaluate(env: CandidateEnv, policy: Policy, episodes: int) -> float:
    """Mean return over tasks in order, each with its own seed: the same offers for every policy.

    A return that could not be computed is NaN, and is left out of the mean.
    """
    returns = []
    for index in range(episodes):
        observation, _ = env.reset(seed=index, options={"task": index % len(env.tool_env.tasks)})
        total, done = 0.0, False
        while not done:
            observation, reward, terminated, truncated, _ = env.step(policy(env, observation))
            total, done = total + reward, terminated or truncated
        returns.append(total)
    return float(np.nanmean(returns))


def most_shared_words(env: CandidateEnv, seen: dict[str, Any]) -> int:
    """The best rule we know that learns nothing: the candidate of whose words most stand in the conversation."""
    said = seen["query"].max(0)
    shares = (seen["candidates"] * said).sum(1) / np.maximum(1, seen["candidates"].sum(1))
    return int(np.where(seen["action_mask"] > 0, shares, -1).argmax())


def draw(result: dict[str, Any], path: Path) -> None:
    """Learning curves of all seeds over the floors."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for run in result["runs"]:
        (line,) = axes.plot(
            range(1, len(run["training_returns"]) + 1), run["training_returns"], label=f"seed {run['seed']}, training"
        )
        ends = (0, len(run["training_returns"]))
        axes.plot(ends, [run[when]["sampled"] for when in ("before", "after")], "o", color=line.get_color())
    for name, style in (("random", ":"), ("longest", "-."), ("shortest", "--"), ("most_shared_words", "-")):
        axes.axhline(result["floors"][name], color="grey", linestyle=style, linewidth=1, label=name.replace("_", " "))
    axes.set(xlabel="iteration", ylabel="mean return", ylim=(0, 1), title=f"{result['id']}: PPO ranks offered actions")
    axes.plot([], [], "o", color="black", label="held-out tasks, sampled")
    axes.legend(fontsize="small", ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def parse_arguments(words: list[str] | None = None) -> Arguments:
    """The command line as Arguments."""
    parser = argparse.ArgumentParser(
        description="PPO on a CallGym environment, as a choice among offered actions.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    for option in fields(Arguments):
        name, many = "--" + option.name.replace("_", "-"), isinstance(option.default, tuple)
        kind: Any = int if many else type(option.default)
        parser.add_argument(
            name, type=kind, default=option.default, nargs="+" if many else None, help=option.metadata["help"]
        )
    given = vars(parser.parse_args(words))
    return Arguments(**{**given, "seeds": tuple(given["seeds"])})


if __name__ == "__main__":
    raise SystemExit(main(parse_arguments()))
