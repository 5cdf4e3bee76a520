"""``callgym view``: episode files as one page that a browser opens."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from callgym.command_line import HELP, explained, json_option, more_option, output_kept_clean, print_json, say_no
from callgym.errors import ConfigurationError
from callgym.record_options import given_tasks, import_modules, modules_option, tasks_option
from callgym.terminal import one_line, progress

if TYPE_CHECKING:
    from callgym.viewer.page import PageSummary

__all__ = ["view"]

_MEGABYTE = 1_000_000
_SHOWN_REASONS = 5


@click.command(context_settings=HELP)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page; beside FILE by default, with .html, and view.html for several files or a folder.",
)
@click.option("--title", default="", help="What the page is called; the names of the files by default.")
@click.option("--serve", is_flag=True, help="Serve the page on 127.0.0.1 until Ctrl-C.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="For --serve; 0 for any that is free."
)
@click.option("--open", "opened", is_flag=True, help="Open the page in your browser.")
@click.option("--no-gold", is_flag=True, help="Leave out what was asked for: no task is looked up.")
@click.option("--most-mb", type=click.FloatRange(min=1), default=40, show_default=True, help="Most MB of the page.")
@tasks_option
@more_option
@modules_option
@json_option
@explained
def view(
    files: tuple[Path, ...],
    out: Path | None,
    title: str,
    serve: bool,
    port: int,
    opened: bool,
    no_gold: bool,
    most_mb: float,
    data: Path | None,
    more: dict[str, Any],
    modules: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write episodes as one page: a list, each conversation, scores explained, runs side by side.

    FILE is an episode file, or the folder of a run. Several files are runs side by side. The page needs no network.
    A damaged file is read up to its fault.

    Exit status 0: all was read; 1: some file only up to a fault, which is named.
    """
    from callgym.viewer.page import write_page

    target = _target(files) if out is None else out
    with output_kept_clean(as_json), progress("view", _twice(files), "bytes") as advance:
        import_modules(modules)
        summary = write_page(
            files,
            target,
            title=title,
            gold=not no_gold,
            data=given_tasks(data),
            env_options=more,
            most_bytes=int(most_mb * _MEGABYTE),
            advance=advance,
        )
    _say_what_is_missing(summary, most_mb)
    if serve:
        _serve(summary, port, opened, as_json)
    else:
        _say(summary, None, as_json)
        if opened:
            webbrowser.open(summary.page.absolute().as_uri())
    if summary.faults:
        say_no("; ".join(summary.faults))


def _target(files: Sequence[Path]) -> Path:
    """Where the page goes if nobody says: beside the file, and never over anything but a page of ours.

    Raises:
        ConfigurationError: Something else is there.
    """
    from callgym.viewer.document import is_page

    first = files[0]
    if first.is_dir():
        target = first / "view.html"
    else:
        target = first.with_suffix(".html") if len(files) == 1 else first.with_name("view.html")
    if target.exists():
        opening = b""
        if target.is_file():
            with target.open("rb") as file:
                opening = file.read(1 << 12)
        if not is_page(opening):
            raise ConfigurationError(
                f"{target} is there and is no page of this command; name the page: --out PAGE.html"
            )
    return target


def _twice(files: Sequence[Path]) -> int | None:
    """Bytes that are read, each twice; None where folders leave it open."""
    return 2 * sum(file.stat().st_size for file in files) if all(file.is_file() for file in files) else None


def _counted(summary: PageSummary) -> str:
    runs = "" if summary.runs == 1 else f" of {summary.runs} runs"
    failed = f", {summary.failed} of them failed" if summary.failed else ""
    return f"{summary.episodes} episodes{runs}{failed}"


def _say_what_is_missing(summary: PageSummary, most_mb: float) -> None:
    """Notes on standard error: tasks that were not found, texts that were cut."""
    for reason, count in list(summary.gold_missing.items())[:_SHOWN_REASONS]:
        click.echo(f"callgym: without what was asked for, {count} episodes: {one_line(reason)}", err=True)
    if len(summary.gold_missing) > _SHOWN_REASONS:
        click.echo(f"callgym: {len(summary.gold_missing) - _SHOWN_REASONS} more reasons stand in the page", err=True)
    if summary.cut:
        click.echo(
            f"callgym: {summary.cut} texts of more than {summary.most_characters:,} characters are cut; "
            "the page says where each stands in whole",
            err=True,
        )
    if summary.bytes > most_mb * _MEGABYTE:
        click.echo(f"callgym: the page is larger than {most_mb:g} MB all the same; view fewer files at once", err=True)


def _say(summary: PageSummary, address: str | None, as_json: bool) -> None:
    if as_json:
        print_json({**_as_json(summary), "address": address})
    else:
        click.echo(f"{one_line(str(summary.page))}: {_counted(summary)}, {summary.bytes / _MEGABYTE:.1f} MB")


def _as_json(summary: PageSummary) -> dict[str, Any]:
    return {
        "page": str(summary.page),
        "bytes": summary.bytes,
        "runs": summary.runs,
        "episodes": summary.episodes,
        "failed": summary.failed,
        "faults": list(summary.faults),
        "gold": summary.gold,
        "gold_missing": dict(summary.gold_missing),
        "cut": summary.cut,
        "most_characters": summary.most_characters,
    }


def _serve(summary: PageSummary, port: int, opened: bool, as_json: bool) -> None:
    from callgym.viewer.server import PageServer

    with PageServer(summary.page.read_bytes(), port) as server:
        _say(summary, server.address, as_json)
        click.echo(f"{server.address}  until Ctrl-C", err=True)
        if opened:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("", err=True)
