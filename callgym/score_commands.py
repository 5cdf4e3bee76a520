"""``callgym score``, ``pass-k``, ``parity``: recorded episodes in numbers, our verdicts beside the official ones."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from callgym.command_line import HELP, data_option, explained, json_option, print_json, say_no
from callgym.parity import SUITES, ParityReport, run_suite, suite_options
from callgym.terminal import Cell, counted, progress, table

__all__ = ["parity", "pass_k", "score"]

_SCORERS = {
    "apibank": "callgym.envs.apibank.scores",
    "bfcl": "callgym.envs.bfcl.scores",
    "when2call": "callgym.envs.when2call.scores",
}
"""Benchmark to the module whose ``official_scores`` yields a row a level or category."""

_MOST_COLUMNS = 8
"""A single row of more is shown as lines."""


@click.command(context_settings=HELP)
@click.argument("benchmark", type=click.Choice(sorted(_SCORERS)))
@click.argument("episodes", type=click.Path(exists=True, dir_okay=False))
@json_option
@data_option
@explained
def score(benchmark: str, episodes: str, as_json: bool, data: str) -> None:
    """A benchmark's official scores of recorded episodes.

    EPISODES is a file that `eval --out` wrote. A row a level or category."""
    from callgym.rollouts.episodes import read_episodes

    scorer = importlib.import_module(_SCORERS[benchmark])
    with progress("score", None) as advance:
        read = counted(read_episodes(episodes), advance)
        rows = list(scorer.official_scores((episode for _, episode in read), data))
    if as_json:
        print_json(rows)
    elif rows:
        click.echo("\n\n".join(_score_tables(rows)))


def _score_tables(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table of the plain numbers of all rows with the same ones, then one for each part of a row with parts."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(name for name in row if not isinstance(row[name], dict)), []).append(row)
    for names, members in groups.items():
        if len(members) == 1 and len(names) > _MOST_COLUMNS:
            yield table(("", ""), [(name, _shown(members[0][name])) for name in names], align="lr")
        elif names:
            align = "".join("l" if isinstance(members[0][name], str) else "r" for name in names)
            yield table(names, [[_shown(row[name]) for name in names] for row in members], align=align)
        for row in members:
            whose = f"{_shown(row[names[0]])}: " if names else ""
            for name in (name for name in row if name not in names):
                yield from _part_tables(f"{whose}{name}", row[name])


def _part_tables(title: str, part: dict[str, Any]) -> Iterator[str]:
    """Names and numbers, or lines of numbers by name, or several such."""
    inner = list(part.values())
    if not all(isinstance(value, dict) for value in inner):
        yield table((title, ""), [(name, _shown(value)) for name, value in part.items()], align="lr")
    elif len({tuple(value) for value in inner}) == 1:
        heads = tuple(inner[0])
        lines = [(name, *(_shown(value[head]) for head in heads)) for name, value in part.items()]
        yield table((title, *heads), lines, align="l" + "r" * len(heads))
    else:
        for name, value in part.items():
            yield from _part_tables(f"{title}, {name}", value)


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.4f}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@click.command("pass-k", context_settings=HELP)
@click.argument("episodes", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--threshold", type=float, default=1.0, show_default=True, help="Least return of a success.")
@json_option
@explained
def pass_k(episodes: tuple[str, ...], threshold: float, as_json: bool) -> None:
    """pass^k and pass@k of tasks that were played several times.

    EPISODES are one or more files that `eval --out` wrote."""
    from callgym.rewards.repeated import repeated_runs
    from callgym.rollouts.episodes import read_episodes

    with progress("pass-k", None) as advance:
        read = counted((episode for path in episodes for _, episode in read_episodes(path)), advance)
        runs = repeated_runs(read, threshold)
    if as_json:
        print_json(json.loads(runs.to_json()))
        return
    cells = [
        (str(row["k"]), f"{row['pass_hat']:.3f}", f"{row['pass_at']:.3f}", str(row["tasks"])) for row in runs.rows()
    ]
    click.echo(table(("k", "pass^k", "pass@k", "tasks"), cells, align="rrrr"))
    if runs.unknown:
        click.echo(f"return unknown, not counted: {runs.unknown} episodes")


@click.command(context_settings=HELP)
@click.argument("suite", type=click.Choice(sorted(SUITES)))
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--data", default=None, help="Official files; by default beside FOLDER, else fetched.")
@click.option("--ranker", default="auto", show_default=True, help="What a tool search ranks with.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a JSON line a disagreement.")
@json_option
@explained
def parity(suite: str, folder: Path, data: str | None, ranker: str, out: Path | None, as_json: bool) -> None:
    """Compare our verdicts with official ones, case by case.

    The last line is a JSON summary. Exit status 1: they disagree in some case that counts.
    """
    if "ranker" in suite_options(suite) and ranker == "auto":
        from callgym.tool_backends.ranking import get_ranker

        click.echo(f"callgym: a tool search ranks with {get_ranker(ranker).name!r}", err=True)
    with progress(f"parity {suite}", None, "cases") as advance:
        report = run_suite(suite, folder, data=data, ranker=ranker, advance=advance)
    written = None if out is None else report.write_disagreements(out)
    summary = report.summary()
    if as_json:
        files = [{"file": file.file, "cases": file.cases, "agree": file.agree} for file in report.files]
        print_json({**summary, "files": files})
    else:
        click.echo(_parity_table(report))
        if out is not None:
            click.echo(f"{written} disagreements in {out}")
        print_json(summary)
    if summary["agree"] != summary["cases"]:
        say_no(None if as_json else f"{summary['cases'] - summary['agree']} of {summary['cases']} cases disagree")


def _parity_table(report: ParityReport) -> str:
    counts = {file.file: len(file.disagreements) for file in report.counted}
    rows = []
    for file in report.files:
        agree = f"{file.agree}/{file.cases}"
        rows.append((file.file, Cell(agree, "bad") if counts.get(file.file) else agree))
    return table(("", ""), rows, align="lr")
