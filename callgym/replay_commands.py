"""``callgym replay`` and ``callgym rescore``: stored episodes, played again and scored again."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from callgym.command_line import HELP, explained, harmless, more_option
from callgym.errors import ConfigurationError

__all__ = ["replay", "rescore"]

_SHOWN_REASONS = 5

_file = click.argument("file", type=click.Path(path_type=Path))
_data = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="The folder, or a file of tasks (a JSON object a line), of episodes that were played with such.",
)
_modules = click.option(
    "--import", "modules", multiple=True, metavar="MODULE", help="Import what registers your own ids, rewards, rubrics."
)
_network = click.option(
    "--network", is_flag=True, help="Call the servers of tools and judges that the records name, with your tokens."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.command(context_settings=HELP)
@_file
@click.option("--all", "show_all", is_flag=True, help="The first difference of each episode that differs.")
@_json
@_data
@more_option
@_modules
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
    """Play the episodes in FILE again and compare every byte.

    Exit status 0: at least one was played again, and all that were are equal.
    """
    from callgym.rollouts.replay import replay_file

    _import(modules)
    with _progress("replay", file) as advance:
        report = replay_file(file, data=_given(data), env_options=more, network=network, advance=advance)
    if as_json:
        click.echo(report.to_json())
    else:
        _show_counts(report)
        for difference in report.differences if show_all else report.differences[:1]:
            _show_difference(difference)
        if report.different > 1 and not show_all:
            click.echo(f"\n{report.different - 1} more differ: --all shows the first difference of each")
    if report.fault is not None:
        click.echo(f"Error: {_line(report.fault)}", err=True)
    elif not (report.equal or report.different):
        click.echo("Error: no episode was played again, so nothing is proven", err=True)
    if not report.proven:
        raise SystemExit(1)


@click.command(context_settings=HELP)
@_file
@click.option("--rubric", "rubrics", multiple=True, required=True, help="A rubric's name; may be given again.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The episodes with their new scores.")
@_json
@_data
@more_option
@_modules
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
    """Score the episodes in FILE again by another rubric; no tool is run.

    Exit status 0: at least one was scored, and --out, if given, lacks none.
    """
    from callgym.rollouts.rescore import rescore_file

    _import(modules)
    with _progress("rescore", file) as advance:
        report = rescore_file(
            file, rubrics, out=out, data=_given(data), env_options=more, network=network, advance=advance
        )
    if as_json:
        click.echo(report.to_json())
    else:
        click.echo(harmless(report.table()))
        _show_reasons(report.reasons, report.not_rescored)
        if out is not None:
            click.echo(f"\n{report.episodes} episodes in {_line(str(out))}")
    if not report.episodes or (out is not None and report.not_rescored):
        left = f"{report.not_rescored} episodes could not be scored again"
        click.echo(f"Error: {left}{f', and {_line(str(out))} lacks them' if report.episodes else ''}", err=True)
        raise SystemExit(1)


def _import(modules: tuple[str, ...]) -> None:
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ConfigurationError(f"--import {module}: {error}; is its folder in PYTHONPATH?") from error


def _given(data: Path | None) -> Any:
    """The folder, or the tasks of the file."""
    if data is None or not data.is_file():
        return data
    from callgym.data import read_json_lines
    from callgym.task import Task

    return [Task.from_dict(value, f"{data}, row {row}") for row, value in read_json_lines(data)]


@contextlib.contextmanager
def _progress(label: str, file: Path) -> Iterator[Callable[[int], object] | None]:
    """A bar on a terminal, in bytes of the file."""
    if not (sys.stderr.isatty() and file.is_file()):
        yield None
        return
    with click.progressbar(length=file.stat().st_size, label=label, file=sys.stderr) as bar:
        yield bar.update


def _show_counts(report: Any) -> None:
    rows = [("equal", report.equal), ("different", report.different), ("not replayable", report.not_replayable)]
    rows += [("failed when played", report.failed)] if report.failed else []
    for name, count in rows:
        click.echo(f"{name:<20}{count:>8}")
    _show_reasons(report.unplayed, report.not_replayable)


def _show_reasons(unplayed: Any, count: int) -> None:
    """Each reason once, with the first row that has it."""
    reasons: dict[str, Any] = {}
    for one in unplayed:
        reasons.setdefault(one.reason, one)
    for one in list(reasons.values())[:_SHOWN_REASONS]:
        click.echo(f"  row {one.row}, episode {one.index}: {_line(one.reason)}")
    if count > len(reasons) or len(reasons) > _SHOWN_REASONS:
        click.echo(f"  {count} such rows in all; --json lists them")


def _show_difference(difference: Any) -> None:
    where = f"row {difference.row}, episode {difference.index}"
    action = "" if difference.step is None else f", action {difference.step + 1}"
    click.echo(f"\n{where}{action}: {_line(difference.path)}")
    click.echo(f"  stored    {_line(difference.stored)}")
    click.echo(f"  replayed  {_line(difference.replayed)}")
    click.echo(f"  of {_line(difference.env_id)}, task {_line(difference.task_id)}")
    click.echo(f"  perhaps {_line(difference.hint)}")


def _line(text: str) -> str:
    """Foreign text on one line of a terminal."""
    return harmless(" ".join(text.split(" "))).replace("\n", "\\n").replace("\t", "\\t")
