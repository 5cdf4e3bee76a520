"""``callgym train``: a model learns in one environment, or in several."""

from __future__ import annotations

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
)
from callgym.completions import complete_ids, complete_splits
from callgym.limit_options import asked_limits, limit_options
from callgym.registry import find_environment

__all__ = ["train"]


def _weights(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, float] | None:
    """``ID=NUMBER`` pairs."""
    found = {}
    for pair in given:
        id, _, number = pair.rpartition("=")
        try:
            found[id] = float(number)
        except ValueError:
            raise click.BadParameter(f"{pair!r} is no ID=NUMBER") from None
    return found or None


@click.command(context_settings=HELP)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids)
@click.option("--model", required=True, help="A folder or a name on the hub.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of the run.")
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--learning-rate", type=click.FloatRange(min=0, min_open=True), default=1e-6, show_default=True)
@click.option("--group", type=click.IntRange(min=2), default=8, show_default=True, help="Episodes of one task.")
@click.option("--batch", type=click.IntRange(min=2), default=64, show_default=True, help="Episodes of one step.")
@click.option("--micro-batch", type=click.IntRange(min=1), help="Episodes of one pass of one process.")
@click.option("--max-new-tokens", type=click.IntRange(min=1), default=256, show_default=True, help="Of one action.")
@click.option("--max-prompt-tokens", type=click.IntRange(min=1), help="Tasks with longer prompts are left out.")
@click.option("--max-episode-tokens", type=click.IntRange(min=1), help="Longer episodes are truncated.")
@click.option("--generation-batch", type=click.IntRange(min=1), help="Most conversations written for at once.")
@click.option("--algorithm", type=click.Choice(("grpo", "rloo")), default="grpo", show_default=True)
@click.option(
    "--weight", "weights", multiple=True, callback=_weights, metavar="ID=NUMBER", help="Share of an id's rows."
)
@click.option("--workers", type=click.IntRange(min=1), help="Run the environments on so many Ray workers.")
@limit_options
@click.option("--vllm-mode", type=click.Choice(("colocate", "server")), help="Generate with vLLM.")
@click.option("--vllm-url", help="The vLLM server's address.")
@click.option("--vllm-tensor-parallel", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--save-steps", type=click.IntRange(min=1), help="Write a checkpoint after every so many steps.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint.")
@click.option("--report-to", default="none", show_default=True, help="tensorboard, wandb, or what else TRL knows.")
@click.option("--split", default="train", show_default=True, shell_complete=complete_splits)
@json_option
@data_option
@dialect_option
@more_option
@explained
def train(
    ids: tuple[str, ...],
    model: str,
    out: Path,
    more: dict[str, Any],
    algorithm: str,
    step_seconds: float | None,
    episode_seconds: float | None,
    attempts: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model with GRPO or RLOO (TRL).

    In one environment, or in several at once."""
    from callgym.trainers.grpo import GrpoSettings, train_grpo
    from callgym.trainers.rloo import make_rloo_trainer

    for id in ids:
        find_environment(id)
    limits = asked_limits(options["workers"], step_seconds, episode_seconds, attempts)
    settings = GrpoSettings(ids=ids, model=model, out=out, env_options=more, limits=limits, **options)
    with output_kept_clean(as_json):  # TRL prints its logs there
        said = train_grpo(settings, make=make_rloo_trainer if algorithm == "rloo" else None)
    if as_json:
        log = out / "training_log.jsonl"
        print_json({"ids": ids, "algorithm": algorithm, "model": str(out / "model"), "log": str(log), "report": said})
    else:
        click.echo(said)
