"""``callgym records``: what a recording of tool calls holds, out of it and into it."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import click

from callgym.command_line import HELP, explained, json_option, print_json
from callgym.errors import CallGymError
from callgym.terminal import Cell, one_line, table

__all__ = ["records"]

_WIDEST = 200
_SHOWN_UNREAD = 10

_file = click.argument("file", type=click.Path(exists=True))


@click.group(context_settings=HELP)
def records() -> None:
    """Recordings of tool calls: list, show, export, import."""


@records.command("list")
@_file
@click.option("--tool", default=None, help="Only this one.")
@json_option
@explained
def list_tools(file: str, tool: str | None, as_json: bool) -> None:
    """The tools in FILE, with how many answers there are of each; FILE may be a ToolBench cache folder."""
    counts = [count for count in _opened(file).counts() if tool in (None, count.tool)]
    if tool is not None and not counts:
        raise CallGymError(f"{file} has no answers of {tool!r}; its tools: callgym records list {file}")
    if as_json:
        print_json([dataclasses.asdict(count) for count in counts])
        return
    rows = [(one_line(count.tool), str(count.answers), str(count.calls), _failures(count.failures)) for count in counts]
    click.echo(table(("tool", "answers", "calls", "failures"), rows, align="lrrr"))


def _failures(count: int) -> str | Cell:
    return Cell(str(count), "bad") if count else "0"


@records.command()
@_file
@click.argument("tool")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Most answers that are shown.")
@click.option("--json", "as_json", is_flag=True, help="A JSON list of objects, uncut.")
@explained
def show(file: str, tool: str, limit: int, as_json: bool) -> None:
    """The answers of TOOL in FILE, in the order in which they were recorded."""
    from callgym.tool_backends.recording.answers import result_dict
    from callgym.tool_backends.recording.jsonl import call_object

    calls = list(itertools.islice(_opened(file).calls(tool), limit + 1))
    if not calls:
        raise CallGymError(f"{file} has no answers of {tool!r}; its tools: callgym records list {file}")
    if as_json:
        print_json([call_object(call) for call in calls[:limit]])
        return
    for call in calls[:limit]:
        place = f"after {call.scope[:8]}" if call.scope else "anywhere"
        again = f", time {call.sequence + 1}" if call.sequence else ""
        click.echo(f"{one_line(call.tool)}({_short(call.arguments)})   [{place}{again}; {one_line(call.source)}]")
        click.echo(f"  {_short(result_dict(call.result))}")
    if len(calls) > limit:
        click.echo(f"... and more: --limit {2 * limit}")


@records.command()
@_file
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="Where the lines of JSON go.")
@json_option
@explained
def export(file: str, out: str, as_json: bool) -> None:
    """FILE as lines of JSON."""
    from callgym.tool_backends.recording import export_records

    calls = export_records(_opened(file), out)
    if as_json:
        print_json({"answers": calls, "out": out})
    else:
        click.echo(f"{calls} answers written to {one_line(out)}")


@records.command("import")
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("source", type=click.Path(exists=True))
@click.option("--category", default=None, help="Of a ToolBench cache folder only this category.")
@json_option
@explained
def import_source(file: str, source: str, category: str | None, as_json: bool) -> None:
    """Bring SOURCE into FILE: lines that export wrote, or a ToolBench cache folder. What is there already stays."""
    from callgym.tool_backends.recording import import_records, import_toolbench_cache

    if not Path(source).is_dir():
        if category is not None:
            raise CallGymError("--category is for a ToolBench cache folder")
        lines = import_records(source, file)
        if as_json:
            print_json({"answers": lines.calls, "states": lines.states, "new": lines.new})
            return
        click.echo(
            f"{lines.calls} answers and {lines.states} states read; {lines.new} answers are new in {one_line(file)}"
        )
        return
    report = import_toolbench_cache(source, file, category=category)
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    click.echo(
        f"{report.responses} responses read from {report.files} files, {report.repeated} of them to arguments that "
        f"occur twice; {report.new} are new in {one_line(file)}; not read: {len(report.unread)}"
    )
    for unread in report.unread[:_SHOWN_UNREAD]:
        where = f"{one_line(unread.file)} {one_line(unread.key[:_WIDEST])}"
        click.echo(f"  not read: {where}: {one_line(unread.reason)}", err=True)
    if len(report.unread) > _SHOWN_UNREAD:
        click.echo(f"  and {len(report.unread) - _SHOWN_UNREAD} more", err=True)


def _opened(file: str) -> Any:
    from callgym.tool_backends.recording import open_records

    return open_records(file)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return one_line(text if len(text) <= _WIDEST else f"{text[:_WIDEST]}... ({len(text)} characters)")
