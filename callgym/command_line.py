"""What the commands of the command line share: how errors end them, and options that several take."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import click
import gymnasium as gym

from callgym.errors import CallGymError

__all__ = ["HELP", "data_option", "dialect_option", "explained", "harmless", "more_option", "split_option"]


HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Settings of a command that stands in a module of its own: it says the same when it is called alone."""


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """Turn CallGym's own errors into one line on stderr and exit status 1; bugs keep their traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (CallGymError, gym.error.Error, OSError) as error:
            message = " ".join(str(error).split())
            raise click.ClickException(message) from error

    return run


def _assignments(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """A callback: ``NAME=VALUE`` texts as arguments; a value that is JSON is read as such."""
    arguments: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments


data_option = click.option("--data", default="auto", help="auto, official, starter, or a folder.", show_default=True)
split_option = click.option("--split", default="test", help="Part of the data.", show_default=True)
dialect_option = click.option(
    "--dialect", default=None, help="How calls are written; the environment's own by default."
)
more_option = click.option(
    "--set",
    "more",
    multiple=True,
    callback=_assignments,
    metavar="NAME=VALUE",
    help="Any other argument of gym.make, such as protocol=dialogue or rubric=exact; may be given again.",
)


def harmless(text: str) -> str:
    """Text that a model or a file wrote, for a terminal: what is not printed there is written as an escape.

    Line breaks and tabs stay. Control characters could move the cursor or retitle the window, marks of writing
    direction could show other text than there is.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text])
