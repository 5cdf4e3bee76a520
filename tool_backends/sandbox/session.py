"""A session of programs: one machine for one episode, whichever engine it comes from."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import Any, Protocol

from callgym.call import ToolCall, ToolResult
from callgym.tool_backends.portal import portal
from callgym.tool_backends.sandbox.interpreter import InterpreterEngine
from callgym.tool_backends.sandbox.limits import Limits
from callgym.tool_backends.sandbox.outcome import Outcome
from callgym.tool_backends.sandbox.process import ProcessEngine

__all__ = ["MAX_CODE", "Engine", "Machine", "SandboxSession", "Settings"]

MAX_CODE = 1_048_576
"""Longest program, in bytes of UTF-8."""


class Machine(Protocol):
    """What runs the programs of one session."""

    async def run(self, code: str) -> Outcome:
        """Run one program, within the limits."""

    def kill(self) -> None:
        """Have the program that runs now come to an end soon."""

    async def aend(self) -> None:
        """Stop it, and wait until nothing of it is left."""

    def end(self) -> None:
        """As ``aend``, for those who may block."""


class Engine(Protocol):
    """What starts machines."""

    gate: asyncio.Semaphore
    """How many programs run at the same time."""

    async def machine(self, seed: int | str) -> Machine | str:
        """A machine for one session, or why there is none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What makes two backends the same, so that they share an engine."""

    engine: str
    limits: Limits
    workers: int
    warm: int
    path: tuple[str, ...]


_running: dict[Settings, Engine] = {}


def _engine(settings: Settings) -> Engine:
    """The process's engine of these settings: hundreds of environments share one."""
    if settings not in _running:
        if settings.engine == "process":
            _running[settings] = ProcessEngine(settings.limits, settings.workers, settings.warm, settings.path)
        else:
            _running[settings] = InterpreterEngine(settings.limits, settings.workers, settings.warm)
    return _running[settings]


_of_the_parent: list[Any] = []
"""In a forked child: what the child must not give back in its parent's name, as Monty's objects do when they go."""


def _forget() -> None:
    _of_the_parent.extend(_running.values())
    _running.clear()


os.register_at_fork(after_in_child=_forget)


class SandboxSession:
    """The programs of one episode."""

    waits = True

    def __init__(self, settings: Settings, persistent: bool, seed: int) -> None:
        self._settings = settings
        self._persistent = persistent
        self._seed = seed
        self._machine: Machine | None = None
        self._machines = 0
        self._calls = 0
        self._owner = os.getpid()
        self._turn: asyncio.Lock | None = None
        self._runs = False
        self._closed = False

    def call(self, call: ToolCall) -> ToolResult:
        """Run the program; blocks."""
        return portal().run(self._call(call))

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, in any event loop."""
        return await portal().arun(self._call(call))

    async def _call(self, call: ToolCall) -> ToolResult:
        if self._closed:
            raise RuntimeError("the session is closed")
        code = _code(call)
        if isinstance(code, ToolResult):
            return code
        if self._owner != os.getpid() and self._leave_behind():
            return _OUT_OF_REACH.result(self._persistent)
        self._turn = self._turn or asyncio.Lock()
        engine = _engine(self._settings)
        async with self._turn, engine.gate:
            self._calls += 1
            return (await self._run(engine, code)).result(self._persistent)

    async def _run(self, engine: Engine, code: str) -> Outcome:
        if self._machine is None:
            seed = f"{self._seed}/{self._machines}" if self._machines else self._seed
            machine = await engine.machine(seed)
            if isinstance(machine, str):
                return Outcome(error="unavailable", message=f"The sandbox cannot run programs now: {machine}.")
            self._machine, self._machines = machine, self._machines + 1
        machine, goes_on, self._runs = self._machine, False, True
        try:
            outcome = await machine.run(code)
            goes_on = self._persistent and not outcome.lost and not self._closed
        finally:
            self._runs = False
            if not goes_on:  # also where the call was cancelled in the middle
                self._machine = None
                await machine.aend()
        return outcome

    def _leave_behind(self) -> bool:
        """Whether a machine was left to the process that was forked."""
        machine, self._machine, self._turn, self._owner = self._machine, None, None, os.getpid()
        _of_the_parent.append(machine)
        return machine is not None

    def state(self) -> dict[str, Any]:
        """How many programs were run; their variables are nobody's business."""
        return {"calls": self._calls}

    def close(self) -> None:
        """End the session's process."""
        self._closed = True
        if self._machine is None or self._owner != os.getpid():
            return
        if self._runs:  # in another thread, which will end it
            self._machine.kill()
            return
        machine, self._machine = self._machine, None
        machine.end()

    def __getstate__(self) -> dict[str, Any]:
        """A copy of a session is a session that begins anew: processes are not copied."""
        return {**self.__dict__, "_machine": None, "_turn": None, "_runs": False, "_owner": os.getpid()}


_OUT_OF_REACH = Outcome(
    error="unavailable",
    message="The sandbox was started before this process was forked, and is out of its reach; call again.",
    lost=True,
)


def _code(call: ToolCall) -> str | ToolResult:
    """The program of a call, or what is wrong with the call."""
    if call.name != "python":
        return ToolResult(error="unknown_tool", message=f"there is no tool {call.name[:80]!r}; the tool is: python")
    code = call.arguments.get("code")
    if not isinstance(code, str) or len(call.arguments) != 1:
        return ToolResult(error="invalid_arguments", message="python takes one argument, 'code': the program, as text")
    if len(code.encode("utf-8", "surrogatepass")) > MAX_CODE:
        return ToolResult(error="invalid_arguments", message=f"a program has at most {MAX_CODE:,} bytes")
    return code
