"""``callgym export``, ``export-verl``, ``decisions``, ``near-misses``: rows that others train on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
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
    print_json,
    split_option,
)
from callgym.completions import complete_data, complete_dialects, complete_splits
from callgym.environment_commands import id_argument
from callgym.registry import find_environment
from callgym.terminal import counted, progress, stderr_is_terminal

__all__ = ["decisions", "export", "export_verl", "near_misses"]


@click.command(context_settings=HELP)
@click.argument("episodes", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--kind", type=click.Choice(("reward", "preference", "process")), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File, or the folder of a dataset.")
@click.option("--format", "format", type=click.Choice(("jsonl", "dataset")), default="jsonl", show_default=True)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="preference: least difference of returns.",
)
@click.option("--pairs", type=click.IntRange(min=1), default=4, show_default=True, help="preference: most of a task.")
@click.option("--graded", is_flag=True, help="process: labels from 0 to 1 instead of true and false.")
@click.option(
    "--data",
    default=None,
    help="Where the tasks are; what the records name by default.",
    shell_complete=complete_data,
)
@json_option
@explained
def export(episodes: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Recorded episodes as rows for reward models (TRL)."""
    from callgym.trainers.export import export_episodes

    with progress("export", _lines(episodes)) as advance:
        summary = export_episodes(episodes, advance=advance, **options)
    _report(summary, as_json)


def _lines(paths: Iterable[Path]) -> int | None:
    """How many lines the files have, where a bar asks for it."""
    files = [path for path in paths if path.is_file()]
    if not stderr_is_terminal():
        return None
    count = 0
    for path in files:
        with path.open("rb") as file:
            count += sum(1 for _ in file)
    return count


def _report(summary: Any, as_json: bool) -> None:
    if as_json:
        print_json({**dataclasses.asdict(summary), "out": str(summary.out)})
    else:
        click.echo(str(summary))


@click.command("export-verl", context_settings=HELP)
@id_argument
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="FILE.parquet or .jsonl.")
@click.option("--count", type=click.IntRange(min=1), default=None, help="Most rows; the whole split by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the episodes.")
@click.option("--split", default="train", show_default=True, shell_complete=complete_splits)
@json_option
@data_option
@dialect_option
@more_option
@explained
def export_verl(id: str, out: Path, count: int | None, as_json: bool, more: dict[str, Any], **options: Any) -> None:
    """An environment's tasks as rows for verl.

    Their reward function is callgym.trainers.bridges.verl_rows."""
    from callgym.trainers.bridges.verl_rows import verl_rows, write_verl_rows

    find_environment(id)
    with progress("export-verl", count, "rows") as advance:
        rows = write_verl_rows(counted(verl_rows(id, limit=count, **options, **more), advance), out)
    if as_json:
        print_json({"id": id, "rows": rows, "out": str(out)})
    else:
        click.echo(f"{rows} rows in {out}")


@click.command(context_settings=HELP)
@click.option("--kind", type=click.Choice(("sft", "preference", "reward")), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File, or the folder of a dataset.")
@click.option("--format", "format", type=click.Choice(("jsonl", "dataset")), default="jsonl", show_default=True)
@click.option("--count", type=click.IntRange(min=1), default=None, help="Most rows; the whole split by default.")
@click.option("--form", type=click.Choice(("chat", "written", "text")), default="chat", show_default=True)
@click.option(
    "--dialect",
    default="hermes",
    show_default=True,
    help="For written and text: how calls are written.",
    shell_complete=complete_dialects,
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--data",
    default="starter",
    show_default=True,
    help="starter, official, auto, or a folder.",
    shell_complete=complete_data,
)
@click.option("--split", default="train", show_default=True, shell_complete=complete_splits)
@json_option
@explained
def decisions(as_json: bool, **options: Any) -> None:
    """When2Call's training data as rows (TRL).

    A model learns from them when to call, ask, decline or answer."""
    from callgym.trainers.decision_data import export_decisions

    with progress("decisions", options["count"], "rows") as advance:
        summary = export_decisions(advance=advance, **options)
    _report(summary, as_json)


@click.command("near-misses", context_settings=HELP)
@id_argument
@click.option("--count", type=click.IntRange(min=1), default=500, show_default=True, help="Most pairs.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--kind", "kinds", multiple=True, help="Only this mutation; may be given again. All by default.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Write a JSON line a pair.")
@click.option("--score", type=click.Choice(("rules",)), default=None, help="Print how often our rewards are right.")
@json_option
@data_option
@split_option
@dialect_option
@more_option
@explained
def near_misses(
    id: str,
    count: int,
    seed: int,
    kinds: tuple[str, ...],
    out: Path,
    score: str | None,
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """Right actions beside near misses, for reward models."""
    from callgym.trainers import near_misses as benchmark

    find_environment(id)
    options = {"data": data, "split": split, "dialect": dialect, **more}
    with progress("near-misses", count, "pairs") as advance:
        pairs = list(counted(benchmark.near_misses(id, count, seed, kinds or None, **options), advance))
    written = benchmark.write_near_misses(out, pairs)
    results = None if score is None else _accuracy(benchmark, id, pairs, options)
    if as_json:
        print_json({"id": id, "pairs": written, "out": str(out), "accuracy": results})
        return
    click.echo(f"{written} pairs in {out}")
    if results is not None:
        click.echo(benchmark.accuracy_table(results))


def _accuracy(benchmark: Any, id: str, pairs: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Scorer to kind to how often it is right."""
    scorers = benchmark.rule_scorers(id, **options)
    with progress("score", len(pairs) * len(scorers), "pairs") as advance:
        return {name: benchmark.accuracy_by_kind(counted(pairs, advance), scorer) for name, scorer in scorers.items()}
