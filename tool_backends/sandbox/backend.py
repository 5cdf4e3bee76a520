"""The backend: its options, the engine it chooses, and its one tool."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.sandbox.interpreter import has_interpreter, require_interpreter
from callgym.tool_backends.sandbox.limits import MIB, Limits
from callgym.tool_backends.sandbox.process import process_trial
from callgym.tool_backends.sandbox.session import SandboxSession, Settings

__all__ = ["PythonSandbox"]

_ENGINES = ("auto", "process", "interpreter")


class PythonSandbox:
    """Opens sessions in which a policy's Python programs run."""

    def __init__(
        self,
        *,
        engine: Literal["auto", "process", "interpreter"] = "auto",
        persistent: bool = True,
        timeout: float = 5.0,
        memory: int = 256 * MIB,
        output: int = 16_384,
        disk: int = 16 * MIB,
        open_files: int = 32,
        processor: int = 60,
        workers: int | None = None,
        warm: int = 2,
        path: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        """Make a backend. Nothing is started before the first call, but for a trial of ``process``, once a process.

        Args:
            engine: ``"process"``: CPython in a process of its own that the kernel shuts in; ``"interpreter"``: Monty,
                which knows a part of Python; ``"auto"``: the first where this machine can shut it in, else the second.
            persistent: Whether variables last from one call to the next of a session.
            timeout: Seconds by the clock for one call.
            memory: Bytes of memory.
            output: Characters that are kept of what a program prints, and of its result.
            disk: Bytes of files (``process``).
            open_files: Open files (``process``).
            processor: Seconds of processor time for all calls of a session together (``process``).
            workers: Programs that run at the same time in this process; the others wait, and their time does not run.
                By default as many as there are processors.
            warm: Workers that are started before anybody asks.
            path: Folders with more packages that programs may import and read, pure Python best (``process``).

        Raises:
            ConfigurationError: An option has a value it cannot have, or the engine cannot be had on this machine.
            MissingPackageError: The interpreter is asked for and not installed.
        """
        if engine not in _ENGINES:
            raise ConfigurationError(f"engine is one of {', '.join(_ENGINES)}, got {engine!r}")
        limits = Limits(timeout, memory, output, disk, open_files, processor)
        workers = os.cpu_count() or 1 if workers is None else workers
        for name, value, least in (("workers", workers, 1), ("warm", warm, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1024:
                raise ConfigurationError(f"{name} is a whole number from {least} to 1,024, got {value!r}")
        folders = tuple(_folder(folder) for folder in path)
        self._persistent = persistent
        self._settings = Settings(_choose(engine, folders), limits, workers, warm, folders)
        self.tools = (_tool(self._settings, persistent),)

    @property
    def name(self) -> str:
        """``python-sandbox`` and the engine that was chosen."""
        return f"python-sandbox ({self._settings.engine})"

    def describe(self) -> dict[str, Any]:
        """What runs the programs, and within which limits, as JSON values."""
        settings = self._settings
        files = {"disk": settings.limits.disk, "open_files": settings.limits.open_files}
        more = {**files, "processor": settings.limits.processor, "path": list(settings.path)}
        layers = process_trial().layers if settings.engine == "process" else ("no way out of the interpreter",)
        return {
            "engine": settings.engine,
            "network": "blocked",
            "confined_by": list(layers),
            "files": "Python's library and a folder of its own" if settings.engine == "process" else "none",
            "persistent": self._persistent,
            "timeout": settings.limits.timeout,
            "memory": settings.limits.memory,
            "output": settings.limits.output,
            "workers": settings.workers,
            **(more if settings.engine == "process" else {}),
        }

    def open(self, task: Task, seed: int) -> SandboxSession:
        """A session whose ``random`` is seeded by ``seed``; its process is started by the first call."""
        return SandboxSession(self._settings, self._persistent, seed)


def _folder(folder: str | os.PathLike[str]) -> str:
    path = Path(folder).resolve()
    if not path.is_dir():
        raise ConfigurationError(f"path is a list of folders, and {str(folder)!r} is none")
    return str(path)


def _choose(engine: str, path: tuple[str, ...]) -> str:
    """The engine to use. Raises where there is none: programs are never run less confined than was asked."""
    if engine != "interpreter":
        fault = process_trial().fault
        if fault is None:
            return "process"
        if engine == "process" or path or not has_interpreter():
            mend = "" if path else "; use engine='interpreter' (pip install 'callgym[sandbox]')"
            raise ConfigurationError(f"engine='process' cannot be had on this machine: {fault}{mend}")
    if path:
        raise ConfigurationError("path is an option of engine='process'; the interpreter has a library of its own")
    require_interpreter()
    return "interpreter"


def _tool(settings: Settings, persistent: bool) -> Tool:
    kept = "Variables last from one call to the next." if persistent else "Each call starts without variables."
    what = {
        "process": "Python's standard library can be imported.",
        "interpreter": "A part of Python: no inheritance, no generators, and few modules (math, random, re, json, "
        "datetime, itertools, collections, functools, decimal).",
    }[settings.engine]
    return Tool(
        name="python",
        description="Runs a Python program and gives what it prints and the value of its last line, where that is an "
        f"expression. {kept} {what} No network; {settings.limits.timeout:g} seconds.",
        parameters={
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The program."}},
            "required": ["code"],
            "additionalProperties": False,
        },
        returns={
            "type": "object",
            "properties": {"stdout": {"type": "string"}, "result": {}},
            "required": ["stdout", "result"],
        },
    )
