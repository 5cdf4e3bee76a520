"""``callgym report``: runs compared, as text, Markdown, HTML, pictures and JSON."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from callgym.command_line import HELP, explained
from callgym.terminal import one_line, progress

if TYPE_CHECKING:
    from callgym.reports.document import Picture
    from callgym.reports.report import Report

__all__ = ["report"]

_out = click.Path(dir_okay=False, path_type=Path)


@click.command(context_settings=HELP)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--baseline", default=None, metavar="NAME", help="The run to compare with; the first by default.")
@click.option(
    "--threshold", type=float, default=1.0, show_default=True, help="Least return of a success, for pass@k and pass^k."
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@click.option(
    "--resamples", type=click.IntRange(min=1), default=10_000, show_default=True, help="Of the bootstrap over tasks."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resamples.")
@click.option("--markdown", type=_out, help="Write the report as Markdown; its pictures only with --pictures.")
@click.option("--html", type=_out, help="Write it as one page, the pictures inside.")
@click.option("--pictures", type=click.Path(file_okay=False, path_type=Path), help="Write the pictures here, as PNG.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@explained
def report(
    runs: tuple[str, ...],
    baseline: str | None,
    threshold: float,
    confidence: float,
    resamples: int,
    seed: int,
    markdown: Path | None,
    html: Path | None,
    pictures: Path | None,
    as_json: bool,
) -> None:
    """Compare runs: means with intervals, paired differences, pass@k and pass^k, curves.

    RUN is a file of episodes (eval --out), several as one (NAME=FILE,FILE), or the folder of a training run or of
    several seeds. Exit status 1: a file was read only up to a fault, which is named.
    """
    from callgym.reports.numbers import ReportSettings
    from callgym.reports.report import make_report

    settings = ReportSettings(baseline, confidence, resamples, seed, threshold)
    drawn = pictures is not None or (html is not None and _can_draw())
    with _reading(runs) as advance:
        made = make_report(runs, settings, pictures=drawn, advance=advance)
    for fault in made.faults:
        click.echo(f"callgym: {one_line(fault)}", err=True)
    _write(made, markdown, html, pictures)
    click.echo(made.to_json() if as_json else made.text())
    if made.faults:
        raise SystemExit(1)


def _can_draw() -> bool:
    if importlib.util.find_spec("matplotlib") is not None:
        return True
    click.echo("callgym: the page has no pictures; these need: pip install 'callgym[viz]'", err=True)
    return False


@contextlib.contextmanager
def _reading(runs: tuple[str, ...]) -> Iterator[Callable[[int], object]]:
    """A bar in bytes of the episode files."""
    from callgym.reports.run_files import find_files

    paths = [path for files in find_files(runs)[0] for path in files.paths]
    total = sum(path.stat().st_size for path in paths if path.is_file())
    with progress("read", total, "bytes") as advance:
        yield advance


def _write(made: Report, markdown: Path | None, html: Path | None, pictures: Path | None) -> None:
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in made.pictures:
            (pictures / f"{picture.name}.png").write_bytes(picture.png)
    if html is not None:
        html.write_text(made.html(), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(made.markdown(_linked(markdown, pictures)), encoding="utf-8")


def _linked(markdown: Path, pictures: Path | None) -> Callable[[Picture], str] | None:
    """How the Markdown file names a picture's file."""
    if pictures is None:
        return None
    folder = Path(os.path.relpath(pictures, markdown.parent)).as_posix()
    return lambda picture: f"{folder}/{picture.name}.png"
