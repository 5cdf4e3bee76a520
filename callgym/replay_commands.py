"""``callgym replay`` and ``callgym rescore``: stored episodes, played again and scored again."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from callgym.command_line import (
    HELP,
    explained,
    json_option,
    more_option,
    output_kept_clean,
    print_json,
    say_no,
)
from callgym.completions import complete_rubrics
from callgym.record_options import given_tasks, import_modules, modules_option, tasks_option
from callgym.terminal import Cell, Kind, harmless, one_line, progress, table

__all__ = ["replay", "rescore"]

_SHOWN_REASONS = 5

_file = click.argument("file", type=click.Path(path_type=Path))
_network = click.option(
    "--network", is_flag=True, help="Call the servers of tools and judges that the records name, with your tokens."
)


@click.command(context_settings=HELP)
@_file
@click.option("--all", "show_all", is_flag=True, help="The first difference of each episode that differs.")
@json_option
@tasks_option
@more_option
@modules_option
@_network
@explained
def replay(
    file: Path,
    show_all: bool,
    as_json: bool,
    data: Path | None,
    more: dict[str, Any],
    modules: tuple[str, ...],
    network: bool,
) -> None:
    """Play recorded episodes again and compare every byte.

    Exit status 0: at least one was played again, and all that were are equal.
    """
    from callgym.rollouts.replay import replay_file

    with output_kept_clean(as_json), _progress("replay", file) as advance:
        import_modules(modules)
        report = replay_file(file, data=given_tasks(data), env_options=more, network=network, advance=advance)
    if as_json:
        print_json(json.loads(report.to_json()))
    else:
        _show_counts(report)
        for difference in report.differences if show_all else report.differences[:1]:
            _show_difference(difference)
        if report.different > 1 and not show_all:
            click.echo(f"\n{report.different - 1} more differ: --all shows the first difference of each")
    if report.fault is not None:
        say_no(report.fault)
    if not (report.equal or report.different):
        say_no("no episode was played again, so nothing is proven")
    if not report.proven:
        say_no()


@click.command(context_settings=HELP)
@_file
@click.option(
    "--rubric",
    "rubrics",
    multiple=True,
    required=True,
    help="A rubric's name; may be given again.",
    shell_complete=complete_rubrics,
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The episodes with their new scores.")
@json_option
@tasks_option
@more_option
@modules_option
@_network
@explained
def rescore(
    file: Path,
    rubrics: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    data: Path | None,
    more: dict[str, Any],
    modules: tuple[str, ...],
    network: bool,
) -> None:
    """Score recorded episodes again by another rubric.

    No tool is run. Exit status 0: at least one was scored, and --out, if given, lacks none.
    """
    from callgym.rollouts.rescore import rescore_file

    with output_kept_clean(as_json), _progress("rescore", file) as advance:
        import_modules(modules)
        report = rescore_file(
            file, rubrics, out=out, data=given_tasks(data), env_options=more, network=network, advance=advance
        )
    if as_json:
        print_json(json.loads(report.to_json()))
    else:
        click.echo(harmless(report.table()))
        _show_reasons(report.reasons, report.not_rescored)
        if out is not None:
            click.echo(f"\n{report.episodes} episodes in {one_line(str(out))}")
    if not report.episodes or (out is not None and report.not_rescored):
        left = f"{report.not_rescored} episodes could not be scored again"
        say_no(f"{left}{f', and {out} lacks them' if report.episodes else ''}")


def _progress(label: str, file: Path) -> AbstractContextManager[Callable[[int], object]]:
    """A bar in bytes of the file."""
    return progress(label, file.stat().st_size if file.is_file() else None, "bytes")


def _show_counts(report: Any) -> None:
    rows = [("equal", report.equal), ("different", report.different), ("not replayable", report.not_replayable)]
    rows += [("failed when played", report.failed)] if report.failed else []
    kinds: dict[str, Kind] = {"equal": "good", "different": "bad", "failed when played": "bad"}
    cells = [(name, Cell(str(count), kinds[name]) if count and name in kinds else str(count)) for name, count in rows]
    click.echo(table(("", ""), cells, align="lr"))
    _show_reasons(report.unplayed, report.not_replayable)


def _show_reasons(unplayed: Any, count: int) -> None:
    """Each reason once, with the first row that has it."""
    reasons: dict[str, Any] = {}
    for one in unplayed:
        reasons.setdefault(one.reason, one)
    for one in list(reasons.values())[:_SHOWN_REASONS]:
        click.echo(f"  row {one.row}, episode {one.index}: {one_line(one.reason)}")
    if count > len(reasons) or len(reasons) > _SHOWN_REASONS:
        click.echo(f"  {count} such rows in all; --json lists them")


def _show_difference(difference: Any) -> None:
    where = f"row {difference.row}, episode {difference.index}"
    action = "" if difference.step is None else f", action {difference.step + 1}"
    click.echo(f"\n{where}{action}: {one_line(difference.path)}")
    click.echo(f"  stored    {one_line(difference.stored)}")
    click.echo(f"  replayed  {one_line(difference.replayed)}")
    click.echo(f"  of {one_line(difference.env_id)}, task {one_line(difference.task_id)}")
    click.echo(f"  perhaps {one_line(difference.hint)}")
