"""What the commands of the command line share: how they end, what they print for programs, options that several take.

Exit status: 0 done, and good; 1 the answer is no, such as a record that differs when it is played again; 2 wrong use;
3 could not be done: one line on standard error says why and what to do; 130 broken off.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, Any, NoReturn

import click

from callgym.completions import complete_data, complete_dialects, complete_settings, complete_splits
from callgym.errors import CallGymError
from callgym.terminal import colours, harmless, styled

__all__ = [
    "HELP",
    "CannotBeDone",
    "break_off",
    "data_option",
    "dialect_option",
    "explained",
    "harmless",
    "json_option",
    "more_option",
    "output_kept_clean",
    "print_json",
    "say_no",
    "split_option",
]


HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Settings of a command that stands in a module of its own: it says the same when it is called alone."""

_NO = 1
_CANNOT = 3
_BROKEN_OFF = 130
_LONGEST = 4000


class CannotBeDone(click.ClickException):
    """A command cannot do what it was asked for."""

    exit_code = _CANNOT

    def show(self, file: IO[Any] | None = None) -> None:
        """One line on standard error."""
        stream = sys.stderr if file is None else file
        click.echo(f"{styled('Error:', 'bad', stream=stream)} {_in_one_line(self.message)}", file=stream)


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """Turn CallGym's own errors into one line on stderr and exit status 3; bugs keep their traceback.

    Ctrl-C, and a reader that has gone away (``callgym list | head -1``), end it with 130.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        context = click.get_current_context(silent=True)
        if context is not None:
            context.color = colours() or None  # else click takes out what FORCE_COLOR sends into a pipe
        _write_what_can_be_written()
        try:
            command(*args, **kwargs)
        except (KeyboardInterrupt, click.Abort):
            break_off()
        except Exception as error:
            if isinstance(error, BrokenPipeError) and _reader_is_gone():
                raise SystemExit(_BROKEN_OFF) from None
            if _is_explained(error):
                raise CannotBeDone(str(error)) from error
            raise

    return run


def _is_explained(error: Exception) -> bool:
    from gymnasium.error import Error  # here: a shell that asks for completions waits for no Gymnasium

    return isinstance(error, (CallGymError, Error, OSError))


def _write_what_can_be_written() -> None:
    """A character that standard output has no bytes for, as in an old locale, is written as an escape."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def break_off() -> NoReturn:
    """End a command that was interrupted: a line on standard error, exit status 130."""
    with contextlib.suppress(OSError):
        click.echo("callgym: broken off", err=True)
    raise SystemExit(_BROKEN_OFF) from None


def _reader_is_gone() -> bool:
    """Whether standard output or standard error leads nowhere any more; then no more is written to it."""
    broken = [stream for stream in (sys.stdout, sys.stderr) if _leads_nowhere(stream)]
    for stream in broken:  # else the interpreter complains at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return bool(broken)


def _leads_nowhere(stream: IO[str]) -> bool:
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # no device behind it, or a platform without poll
        return False


def _in_one_line(message: str) -> str:
    text = harmless(" ".join(message.split()))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def say_no(reason: str | None = None) -> NoReturn:
    """End a command that did what it was asked for and whose answer is no: exit status 1.

    Args:
        reason: Said on standard error; None where standard output says it already.
    """
    if reason is not None:
        click.echo(f"{styled('Error:', 'bad', stream=sys.stderr)} {_in_one_line(reason)}", err=True)
    raise SystemExit(_NO)


# For programs.

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")


def print_json(value: Any) -> None:
    """Write a value as one line of JSON, in ASCII: no terminal is harmed by it, and no encoding."""
    click.echo(json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f"))  # delete is ASCII, and not for terminals


def output_kept_clean(as_json: bool) -> AbstractContextManager[object]:
    """While JSON is asked for, what libraries and models print goes to standard error."""
    return contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()


# Options.


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


data_option = click.option(
    "--data",
    default="auto",
    help="auto, official, starter, or a folder.",
    show_default=True,
    shell_complete=complete_data,
)
split_option = click.option(
    "--split", default="test", help="Part of the data.", show_default=True, shell_complete=complete_splits
)
dialect_option = click.option(
    "--dialect",
    default=None,
    help="How calls are written; the environment's own by default.",
    shell_complete=complete_dialects,
)
more_option = click.option(
    "--set",
    "more",
    multiple=True,
    callback=_assignments,
    metavar="NAME=VALUE",
    help="Any other argument of gym.make, such as protocol=dialogue or rubric=exact; may be given again.",
    shell_complete=complete_settings,
)
