"""Options of the commands that look tasks of recorded episodes up again."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from callgym.errors import ConfigurationError

__all__ = ["given_tasks", "import_modules", "modules_option", "tasks_option"]

tasks_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="The folder, or a file of tasks (a JSON object a line), of episodes that were played with such.",
)
modules_option = click.option(
    "--import", "modules", multiple=True, metavar="MODULE", help="Import what registers your own ids, rewards, rubrics."
)


def import_modules(modules: Iterable[str]) -> None:
    """Import what a user names.

    Raises:
        ConfigurationError: One cannot be imported.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ConfigurationError(f"--import {module}: {error}; is its folder in PYTHONPATH?") from error


def given_tasks(data: Path | None) -> Any:
    """The folder, or the tasks of the file."""
    if data is None or not data.is_file():
        return data
    from callgym.data import read_json_lines
    from callgym.task import Task

    return [Task.from_dict(value, f"{data}, row {row}") for row, value in read_json_lines(data)]
