"""The engine ``interpreter``: Monty, a Python interpreter in Rust that has no way to touch the machine.

It understands a part of Python and of its library; a program has no files, no clock and no network, because there is
nothing in it that could reach them. Each session has a worker process of Monty's own, which may crash and is replaced.

Monty's blocking interface is used, in threads: its asynchronous one may abort the whole process where that ends while
a Rust thread is about to call back into Python (seen with 1.4.0 on Python 3.11).
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import math
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from callgym.errors import MissingPackageError
from callgym.json_value import MAX_INTEGER_BITS
from callgym.tool_backends.sandbox.limits import Limits
from callgym.tool_backends.sandbox.outcome import Outcome, cut_value, program_raised

if TYPE_CHECKING:
    import pydantic_monty

__all__ = ["InterpreterEngine", "InterpreterMachine", "has_interpreter", "require_interpreter"]

_CLOCK = datetime.datetime(2000, 1, 1)
_GRACE = 0.25  # seconds that Monty has to notice that time is up before its worker is killed
_MOST_SESSIONS = 4096
_MAX_DEPTH = 64


def require_interpreter() -> Any:
    """The package ``pydantic_monty``.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        import pydantic_monty
    except ImportError as error:
        raise MissingPackageError.for_extra("pydantic-monty", "sandbox") from error
    return pydantic_monty


def has_interpreter() -> bool:
    """Whether it is installed."""
    with contextlib.suppress(MissingPackageError):
        require_interpreter()
        return True
    return False


class _Printed:
    """What a program prints, to a limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.text = ""
        self.dropped = 0

    def __call__(self, stream: str, text: str) -> None:
        kept = text[: self._most - len(self.text)]
        self.text += kept
        self.dropped += len(text[len(kept) :].encode("utf-8", "surrogatepass"))


class InterpreterMachine:
    """One interpreter, and the session it serves."""

    def __init__(self, session: pydantic_monty.MontySession, limits: Limits, threads: ThreadPoolExecutor) -> None:
        self._session = session
        self._limits = limits
        self._threads = threads
        self._open = True

    async def run(self, code: str) -> Outcome:
        """Run one program, within the limits."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, code)

    def _run(self, code: str) -> Outcome:
        monty = require_interpreter()
        printed = _Printed(self._limits.output)
        try:
            outcome = Outcome(value=shown(self._session.feed_run(code, print_callback=printed), self._limits.output))
        except monty.MontyCrashedError as error:
            outcome = self._crashed(error)
        except monty.MontyError as error:
            outcome = self._failed(error)
        except ValueError as error:  # a result that cannot become a Python object here: an integer of too many digits
            outcome = program_raised("ValueError", str(error), None, "", None, self._limits)
        except RuntimeError:  # Monty's, of a session whose worker is gone
            outcome = Outcome(error="unavailable", message="The interpreter is gone; call again.", lost=True)
        except BaseException as error:
            if type(error).__module__ != "pyo3_runtime":  # a panic of the Rust code on this side
                raise
            outcome = _CRASHED
        return replace(outcome, stdout=printed.text, dropped=printed.dropped).cleaned({})

    def _crashed(self, error: Any) -> Outcome:
        if error.timed_out:
            return self._overrun()
        return _CRASHED

    def _overrun(self) -> Outcome:
        seconds = self._limits.timeout
        message = f"The program ran longer than {seconds:g} seconds and was ended."
        return Outcome(error="timeout", message=message, lost=True)

    def _failed(self, error: Any) -> Outcome:
        if not hasattr(error, "traceback"):  # of no program
            return Outcome(error="unavailable", message=f"The interpreter failed: {type(error).__name__}.", lost=True)
        kind, _, message = error.display(format="type-msg").partition(": ")
        if kind == "TimeoutError" and message.startswith("feed time limit exceeded"):
            return self._overrun()
        if kind == "SystemExit" and message in ("", "0", "None"):
            return Outcome()
        limit = None
        if kind == "MemoryError":
            limit, message = "memory", ""
        elif kind == "PermissionError":
            limit = "no files"
        elif kind == "RuntimeError" and message.startswith("suspension limit"):
            limit = "questions"
        line, source = _place(error.traceback())
        return program_raised(kind, message, line, source, limit, self._limits)

    def kill(self) -> None:
        """Nothing: the program ends by itself when its time is up."""

    async def aend(self) -> None:
        """Give the worker back, and wait until that is done."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self.end)

    def end(self) -> None:
        """As ``aend``, for those who may block."""
        if self._open:
            self._open = False
            with contextlib.suppress(Exception):  # Monty's; whatever it says, the worker is not ours any more
                self._session.__exit__(None, None, None)


class InterpreterEngine:
    """Starts interpreters; lives in the portal's loop."""

    def __init__(self, limits: Limits, workers: int, warm: int) -> None:
        """Make an engine; nothing is started yet.

        Args:
            limits: What a program may use.
            workers: Programs that run at the same time.
            warm: Interpreters that are started before anybody asks.
        """
        self._limits = limits
        self._warm = warm
        self._threads = ThreadPoolExecutor(workers, "callgym-sandbox")
        self._pool: Any = None
        self.gate = asyncio.Semaphore(workers)

    async def machine(self, seed: int | str) -> InterpreterMachine | str:
        """A machine for one session, or why there is none."""
        if _used_before_fork():
            return "Monty cannot be used in a process that was forked after its first use; start processes by spawn"
        try:
            session = await asyncio.get_running_loop().run_in_executor(self._threads, self._checkout, seed)
        except (OSError, RuntimeError, TimeoutError) as error:
            return f"no interpreter could be started: {type(error).__name__}"
        return InterpreterMachine(session, self._limits, self._threads)

    def _checkout(self, seed: int | str) -> pydantic_monty.MontySession:
        monty = require_interpreter()
        if self._pool is None:
            self._pool = monty.Monty(
                min_processes=self._warm,
                max_processes=_MOST_SESSIONS,
                checkout_timeout=10,
                request_timeout=self._limits.timeout + 2 * _GRACE,
                max_checkouts_per_worker=1,  # nothing of a session reaches the next
                feed_duration_limit_grace=_GRACE,
            ).__enter__()
        session: pydantic_monty.MontySession = self._pool.checkout(
            limits={"max_feed_duration_secs": self._limits.timeout, "max_memory": self._limits.memory},
            os_policy={"datetime": _CLOCK, "sleep": "zero", "random_start": {"seed": seed}},
        )
        return session.__enter__()


_CRASHED = Outcome(error="tool_error", message="The program crashed the interpreter.", lost=True)


def _place(frames: list[Any]) -> tuple[int | None, str]:
    """The last line of this program in a traceback, which begins in it."""
    for frame in reversed(frames):
        if frame.filename == frames[0].filename:
            return frame.line, (frame.source_line or "").strip()
    return None, ""


_first_user: int | None = None


def _used_before_fork() -> bool:
    global _first_user
    if _first_user is None:
        _first_user = os.getpid()
    return _first_user != os.getpid()


# What a program's value is, here.


def shown(value: Any, most: int) -> Any:
    """A JSON value as it is, unless it is too long; anything else as text, as ``repr`` would write it.

    Args:
        value: What Monty gave for the program's last expression.
        most: Characters to keep.
    """
    if type(value) is str:
        return cut_value(value, most)
    try:
        plain = _plain(value, _MAX_DEPTH, [most])
        if len(json.dumps(plain, ensure_ascii=False)) <= most:
            return plain
    except (TypeError, ValueError):
        pass
    return cut_value(_written(value, _MAX_DEPTH, [most]), most)


def _plain(value: Any, depth: int, left: list[int]) -> Any:
    kind = type(value)
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise ValueError
    if value is None or kind is bool or kind is str or (kind is int and value.bit_length() <= MAX_INTEGER_BITS):
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind is list or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        return [_plain(item, depth - 1, left) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain(item, depth - 1, left) for key, item in value.items()}
    raise TypeError


def _written(value: Any, depth: int, left: list[int]) -> str:
    """A value as text: sets in the order of their items' texts, so that it is the same everywhere."""
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        return "..."

    def items(values: Any) -> list[str]:
        return [_written(item, depth - 1, left) for item in values]

    kind = type(value)
    if kind is list:
        return f"[{', '.join(items(value))}]"
    if kind is tuple:
        return f"({', '.join(items(value))}{',' if len(value) == 1 else ''})"
    if kind in (set, frozenset):
        body = f"{{{', '.join(sorted(items(value)))}}}" if value else ""
        return body if kind is set and value else f"{kind.__name__}({body})"
    if kind is dict:
        return f"{{{', '.join(map(': '.join, zip(items(value), items(value.values()), strict=True)))}}}"
    attributes = getattr(value, "attributes", None)
    if isinstance(attributes, Mapping):  # an object of the program's own class
        parts = ", ".join(f"{name}={_written(item, depth - 1, left)}" for name, item in attributes.items())
        return f"{value.name}({parts})"
    try:
        return repr(value)
    except ValueError:  # an integer of too many digits
        return f"an integer of {value.bit_length()} bits" if kind is int else "a value that cannot be shown"
