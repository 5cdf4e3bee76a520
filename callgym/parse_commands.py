"""``callgym parse``: how an action is read."""

from __future__ import annotations

from typing import Any

import click

from callgym.command_line import HELP, explained, json_option, print_json, say_no
from callgym.completions import complete_readers

__all__ = ["parse"]


@click.command(context_settings=HELP)
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option(
    "--dialect", default="auto", show_default=True, help="How calls are written.", shell_complete=complete_readers
)
@click.option("--lines", is_flag=True, help="FILE is JSON Lines: a text, or an object with 'action', in each.")
@json_option
@explained
def parse(file: Any, dialect: str, lines: bool, as_json: bool) -> None:
    """Read an action as an environment would.

    FILE may be - for standard input. With --lines and --json, a list with an object an action.

    Exit status 1: an action holds a fault.
    """
    from callgym.action_report import action_as_json, action_as_text, read_actions
    from callgym.dialects import get_dialect

    reader = get_dialect(dialect)
    faulty = False
    read = []
    for number, text in enumerate(read_actions(file, lines)):
        if as_json:
            read.append(action_as_json(text, reader))
        else:
            click.echo(("\n" if number else "") + action_as_text(text, reader))
        faulty = faulty or bool(reader.parse(text).errors)
    if as_json:
        print_json(read if lines else read[0])
    if faulty:
        say_no()
