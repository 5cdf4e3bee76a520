"""``callgym eval`` and ``fill-memory``: a policy plays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from callgym.command_line import (
    HELP,
    data_option,
    dialect_option,
    explained,
    json_option,
    more_option,
    output_kept_clean,
    print_json,
    say_no,
    split_option,
)
from callgym.completions import complete_policies
from callgym.environment_commands import id_argument, made
from callgym.limit_options import asked_limits, limit_options
from callgym.terminal import progress

__all__ = ["evaluate", "fill_memory"]


@click.command("eval", context_settings=HELP)
@id_argument
@click.option(
    "--policy",
    required=True,
    help="oracle, abstain, ask, answer, random, echo, silent ..., hf:PATH, openai:MODEL@URL.",
    shell_complete=complete_policies,
)
@click.option("--episodes", type=click.IntRange(min=1), default=None, help="Every task once by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--batch", type=click.IntRange(min=1), default=32, show_default=True, help="Actions written at once.")
@click.option("--seats", type=click.IntRange(min=1), default=None, help="Episodes side by side; --batch by default.")
@click.option("--workers", type=click.IntRange(min=1), default=None, help="Play on so many Ray workers.")
@click.option(
    "--policy-in",
    type=click.Choice(("auto", "driver", "worker", "actor")),
    default="auto",
    show_default=True,
    help="With --workers: where actions are written; auto is driver for models, worker for all else.",
)
@click.option("--cpus", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Of Ray, for each worker.")
@click.option("--gpus", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Of Ray, for the actor.")
@limit_options
@click.option("--temperature", type=click.FloatRange(min=0), default=None, help="For model policies.")
@click.option("--max-new-tokens", type=click.IntRange(min=1), default=None, help="For model policies.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write a JSON line an episode; resumes.")
@click.option("--times", is_flag=True, help="With --out: write how long each step took into a file beside it.")
@json_option
@data_option
@split_option
@dialect_option
@more_option
@explained
def evaluate(
    id: str,
    policy: str,
    episodes: int | None,
    seed: int,
    batch: int,
    seats: int | None,
    workers: int | None,
    policy_in: str,
    cpus: float,
    gpus: float,
    step_seconds: float | None,
    episode_seconds: float | None,
    attempts: int,
    temperature: float | None,
    max_new_tokens: int | None,
    out: str | None,
    times: bool,
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """Play episodes with a policy and report the mean return.

    Exit status 1: some episodes could not be played; the report counts them.
    """
    from callgym.rollouts.runner import run_episodes

    if times and out is None:
        raise click.UsageError("--times writes beside the file of --out, so it needs --out FILE")
    given = {"temperature": temperature, "max_new_tokens": max_new_tokens}
    settings = {name: value for name, value in given.items() if value is not None}
    options = {"data": data, "split": split, "dialect": dialect, **more}
    with output_kept_clean(as_json):
        actor, spread = _actor(policy, policy_in, workers, cpus, gpus, batch, settings)
        env = made(id, **options)
        count = len(env.tasks) if episodes is None else episodes
        env.close()
        result = run_episodes(
            id,
            actor,
            episodes=count,
            seed=seed,
            batch_size=batch,
            seats=seats,
            workers=spread,
            limits=asked_limits(workers, step_seconds, episode_seconds, attempts),
            env_options=options,
            out=out,
            **({"times": True} if times else {}),
        )
    if as_json:
        print_json(json.loads(result.summary.to_json()))
    else:
        click.echo(result.summary.table())
    if result.failures:
        first, failure = min(result.failures.items())
        say_no(f"{len(result.failures)} of {count} episodes could not be played; episode {first}: {failure.message}")


def _actor(
    policy: str,
    place: str,
    workers: int | None,
    cpus: float,
    gpus: float,
    batch: int,
    settings: dict[str, Any],
) -> tuple[Any, Any]:
    """The policy, and the workers where there are some."""
    from callgym.rollouts.policy import get_policy
    from callgym.rollouts.ray.workers import RayWorkers

    spread = None
    if workers is not None:
        if place == "auto":
            place = "driver" if "hf:" in policy else "worker"
        spread = RayWorkers(workers, policy="worker" if place == "worker" else "driver", cpus=cpus)
    if place != "actor":
        return get_policy(policy, **settings), spread
    from callgym.rollouts.ray.policy_actor import ActorPolicy

    return ActorPolicy(policy, gpus=gpus, batch_size=batch, **settings), spread


@click.command("fill-memory", context_settings=HELP)
@click.argument("store", type=click.Choice(("kv", "vector", "rec_sum")))
@click.option("--policy", required=True, help="As for eval.", shell_complete=complete_policies)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of snapshots.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@json_option
@data_option
@split_option
@dialect_option
@explained
def fill_memory(
    store: str, policy: str, out: Path, seed: int, as_json: bool, data: str, split: str, dialect: str | None
) -> None:
    """BFCL's memory: play the conversations before the questions.

    --set memory=FOLDER then asks about what the policy kept."""
    from callgym.envs.bfcl.memory.snapshots import write_snapshots
    from callgym.rollouts.memory import fill_memories
    from callgym.rollouts.policy import get_policy

    with output_kept_clean(as_json), progress("fill-memory", None) as advance:
        actor = get_policy(policy)
        snapshots = fill_memories(store, actor, data=data, split=split, seed=seed, advance=advance, dialect=dialect)
    written = len(write_snapshots(out, snapshots))
    if as_json:
        print_json({"store": store, "policy": actor.name, "snapshots": written, "out": str(out)})
    else:
        click.echo(f"{written} snapshots in {out}")
