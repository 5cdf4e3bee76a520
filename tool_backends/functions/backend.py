"""Python functions and classes as tools: names, schemas and descriptions come from the code itself::

    def count(world: World, item: str) -> int:
        \"\"\"Count a food.

        Args:
            item: Its name.
        \"\"\"
        return world.state["pantry"].get(item, 0)

    backend = FunctionBackend([count])
    task = Task(..., tools=backend.tools, initial_state={"pantry": {"plums": 12}})

What a function cannot do it says with a ToolFailure. Whatever else it raises is an answer, too: type and first line.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.functions.session import FunctionSession, Handling
from callgym.tool_backends.functions.state import ClassPart, Part, SharedState, WorldPart
from callgym.tool_backends.functions.tools import FunctionTool, Tools, find_tools
from callgym.tool_backends.python import World

__all__ = ["FunctionBackend"]

_MOST_THREADS = 1024


class FunctionBackend:
    """Tools that are plain, typed Python.

    A function is a tool of its name; its hints are the schema, its docstring (Google's, NumPy's or reST's form) the
    description. A class has an instance an episode, ``Class(**task.initial_state)``, and its public methods are tools.
    Parameters annotated ``World`` get the episode's own state and randomness, those annotated
    ``numpy.random.Generator`` its randomness, those annotated with one of the classes its instance; none of these are
    arguments of the tool.
    """

    def __init__(
        self,
        tools: Tools,
        *,
        context: type | None = None,
        threads: int = 0,
        errors: Literal["data", "raise"] = "data",
        max_result_bytes: int = 1_048_576,
    ) -> None:
        """Read the functions.

        Args:
            tools: A function, a class or several of them; or a mapping of tool names to functions.
            context: A class whose instance the functions of an episode share, made as those of tool classes are; its
                methods are no tools, and functions get it through a parameter annotated with it.
            threads: How many functions that block may run at once when they are awaited (``acall``); 0 where none
                takes long enough to be worth a thread. ``async def`` functions need none.
            errors: What becomes of an exception that is no ToolFailure: ``"data"``, a ``tool_error`` for the policy
                (the traceback is logged at level debug), or ``"raise"``, for development.
            max_result_bytes: About how long an answer may be as JSON.

        Raises:
            ConfigurationError: A function cannot be a tool, or an option has a value it cannot have.
        """
        _check_options(context, threads, errors, max_result_bytes)
        self._given = _as_given(tools)
        self._options = {
            "context": context, "threads": threads, "errors": errors, "max_result_bytes": max_result_bytes
        }  # fmt: skip
        found = find_tools(self._given)
        classes = dict.fromkeys([*([context] if context else []), *(one.owner for one in found if one.owner)])
        shared = {World, np.random.Generator, *classes}
        self._tools = {one.name: FunctionTool.of(one, shared) for one in found}
        self._parts = _parts([ClassPart(made, shared) for made in classes], self._tools.values())
        self._handling = Handling(errors, max_result_bytes, _Threads(threads) if threads else None)
        self._waits = threads > 0 or any(one.awaits for one in self._tools.values())

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of the functions."""
        return tuple(one.tool for one in self._tools.values())

    def open(self, task: Task, seed: int) -> FunctionSession:
        """A session whose state is its own.

        Raises:
            DataError: ``task.initial_state`` does not fit the classes.
        """
        return FunctionSession(self._tools, SharedState(self._parts, task, seed), self._handling, self._waits)

    def __deepcopy__(self, memo: Any) -> FunctionBackend:
        return self  # nothing in it changes, and gym.make copies what an id was registered with

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (self._given, self._options)  # in another process the functions are read anew


def _made_again(given: Tools, options: dict[str, Any]) -> FunctionBackend:
    return FunctionBackend(given, **options)


class _Threads:
    """The threads of one backend, started when they are needed; a forked process has its own."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._start()

    def __call__(self) -> ThreadPoolExecutor:
        if self._process != os.getpid():
            self._start()
        return self._pool

    def _start(self) -> None:
        self._process, self._pool = os.getpid(), ThreadPoolExecutor(self._count, "callgym-tool")


def _parts(classes: Sequence[ClassPart], tools: Collection[FunctionTool]) -> tuple[Part, ...]:
    """What episodes have: an instance of each class, and the World where anybody asks for it."""
    asked = {kind for part in classes for kind in part.asks}
    asked.update(kind for one in tools for kind in one.plan.shared.values())
    parts: list[Part] = [*classes, *([WorldPart()] if World in asked else [])]
    names = [part.made.__name__ for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"there are two classes named {name}; the state has a part for each, by its name")
    return tuple(parts)


def _as_given(tools: Any) -> Tools:
    """The tools as they are kept: what the caller does to his list later changes nothing."""
    if callable(tools):
        return tools  # type: ignore[no-any-return]
    if isinstance(tools, Mapping):
        return dict(tools)
    if not isinstance(tools, Iterable):
        raise ConfigurationError(f"tools are functions and classes, or a mapping of names to functions, got {tools!r}")
    return list(tools)


def _check_options(context: Any, threads: Any, errors: Any, max_result_bytes: Any) -> None:
    if context is not None and not isinstance(context, type):
        raise ConfigurationError(f"context is a class, of which every episode has an instance, got {context!r}")
    if errors not in ("data", "raise"):
        raise ConfigurationError(f"errors is 'data' or 'raise', got {errors!r}")
    numbers = (("threads", threads, 0, _MOST_THREADS), ("max_result_bytes", max_result_bytes, 1_000, 2**31))
    for name, value, least, most in numbers:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ConfigurationError(f"{name} is a whole number from {least} to {most}, got {value!r}")
