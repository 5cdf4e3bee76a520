"""The engine ``process``: each session has a CPython process of its own, shut in by the kernel.

A worker is started ahead of time (``warm``), shuts itself in when a session takes it, serves this session, and is
killed: it never sees a second one. What shuts it in, in ``child.py`` and ``syscalls.py``: Landlock (files), seccomp
(system calls), resource limits, no capabilities, and namespaces of its own where the kernel grants them. The parent
believes nothing of what comes out of it.
"""

from __future__ import annotations

import asyncio
import functools
import os
import platform
import secrets
import signal
import sys
import sysconfig
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from callgym.call import ErrorKind
from callgym.tool_backends.sandbox.limits import Limits
from callgym.tool_backends.sandbox.outcome import Outcome, cut_value, limit_reached, program_raised
from callgym.tool_backends.sandbox.reply import Reply
from callgym.tool_backends.sandbox.syscalls import MACHINES, filter_for
from callgym.tool_backends.sandbox.worker import CHILD, Babble, Hangup, Worker

__all__ = ["ProcessEngine", "ProcessMachine", "Trial", "process_trial"]

_START = 10.0  # seconds for a worker to be ready
_GLANCE = 0.05  # seconds between two looks into a running program's folder
_MOST_FILES = 256


class ProcessMachine:
    """One worker, shut in, and the session it serves."""

    def __init__(self, worker: Worker, folder: str, limits: Limits, layers: tuple[str, ...]) -> None:
        self.layers = layers
        self._worker = worker
        self._limits = limits
        self._paths = {folder: "/sandbox", CHILD: "/python/sandbox.py", sysconfig.get_path("stdlib"): "/python"}
        self._overfull = False

    async def run(self, code: str) -> Outcome:
        """Run one program, within the limits."""
        return (await self._run(code)).cleaned(self._paths)

    async def _run(self, code: str) -> Outcome:
        if self._worker.has_hung_up():
            return await self._death()
        if not self._worker.is_quiet():
            return _lost("tool_error", "The program of an earlier call was still running, and was ended; call again.")
        token = secrets.token_hex(8)
        try:
            async with asyncio.timeout(self._limits.timeout):
                outcome = self._outcome(await self._ask({"token": token, "code": code}), token)
        except TimeoutError:
            self._worker.kill()
            seconds = self._limits.timeout
            outcome = _lost("timeout", f"The program ran longer than {seconds:g} seconds and was ended.")
        except Hangup:
            outcome = await self._death()
        except Babble:
            outcome = _SPOILT
        kept, count = self._worker.printed()
        stdout = kept.decode("utf-8", "replace")[: self._limits.output]
        return replace(outcome, stdout=stdout, dropped=max(0, count - len(stdout.encode())))

    async def _ask(self, request: dict[str, Any]) -> bytes:
        glances = asyncio.get_running_loop().create_task(self._glance())
        output = self._limits.output
        try:
            return await self._worker.ask(request, most=12 * output + 65_536, keep=4 * output)
        finally:
            glances.cancel()

    async def _glance(self) -> None:
        """End the program when its files become too many or too large."""
        while not self._is_overfull():
            await asyncio.sleep(_GLANCE)
        self._worker.kill()

    def _is_overfull(self) -> bool:
        self._overfull = self._overfull or self._worker.holds_too_much(self._limits.disk, _MOST_FILES)
        return self._overfull

    def _outcome(self, body: bytes, token: str) -> Outcome:
        reply = Reply.read(body)
        if reply is None or reply.token != token or not self._worker.is_silent():
            return _SPOILT
        if self._is_overfull():
            return self._too_many_files()
        if reply.type is not None:
            return program_raised(reply.type, reply.message, reply.line, reply.source, reply.limit, self._limits)
        if type(reply.value) is str:
            return Outcome(value=cut_value(reply.value, self._limits.output, reply.dropped))
        return Outcome(value=reply.value)

    def _too_many_files(self) -> Outcome:
        return _lost("tool_error", f"{limit_reached('disk', self._limits)} There may be {_MOST_FILES} of them.")

    async def _death(self) -> Outcome:
        """Why a worker hung up."""
        if self._is_overfull():
            return self._too_many_files()
        code = await self._worker.died()
        if code is None or code == -signal.SIGKILL:
            return _lost("tool_error", "The program's process was killed.")
        if code == -signal.SIGXCPU:
            return _lost("timeout", limit_reached("processor", self._limits))
        if code < 0:
            deep = "; too deep a recursion does that" if code == -signal.SIGSEGV else ""
            return _lost("tool_error", f"The program's process was ended by signal {-code}{deep}.")
        return _lost("tool_error", f"The program ended its own process with exit status {code}.")

    def kill(self) -> None:
        """Kill the worker; who waits for it will notice."""
        self._worker.kill()

    async def aend(self) -> None:
        """Kill the worker, and wait until nothing of it is left."""
        await self._worker.gone()
        self._worker.end()

    def end(self) -> None:
        """As ``aend``, for those who may block."""
        self._worker.end()


def _lost(error: ErrorKind, message: str) -> Outcome:
    return Outcome(error=error, message=message, lost=True)


_SPOILT = _lost("tool_error", "The program wrote to the sandbox's own channel, and was ended.")


class ProcessEngine:
    """Starts machines; lives in the portal's loop."""

    def __init__(self, limits: Limits, workers: int, warm: int, path: tuple[str, ...]) -> None:
        """Make an engine; nothing is started yet.

        Args:
            limits: What a program may use.
            workers: Programs that run at the same time.
            warm: Workers that are started before anybody asks.
            path: Folders of more packages for programs.
        """
        self._limits = limits
        self._warm = warm
        self._path = path
        self._ready: deque[Worker] = deque()
        self.gate = asyncio.Semaphore(workers)

    async def machine(self, seed: int | str) -> ProcessMachine | str:
        """A machine for one session, or why there is none."""
        fault = "no worker could be started"
        for _ in range(3):  # a warm worker may have been killed while it waited
            try:
                worker = self._ready.popleft() if self._ready else Worker()
                folder = worker.move_in()
            except OSError as error:
                return f"{fault}: {error.strerror}"
            asyncio.get_running_loop().call_soon(self._refill)
            try:
                async with asyncio.timeout(_START):
                    reply = Reply.read(await worker.ask(self._orders(worker.pid, folder, seed), most=65_536))
            except (TimeoutError, Hangup, Babble):
                reply = None
            except BaseException:
                worker.end()
                raise
            if reply is not None and reply.layers is not None:
                return ProcessMachine(worker, folder, self._limits, tuple(reply.layers))
            await worker.gone()
            worker.end()
            fault = f"a worker could not be shut in: {reply.fault if reply else 'it died'}"
        return fault

    def _refill(self) -> None:
        """Start one worker, and come back for the next."""
        if len(self._ready) < self._warm:
            try:
                self._ready.append(Worker())
            except OSError:  # no processes left: the next session will try
                return
            asyncio.get_running_loop().call_soon(self._refill)

    def _orders(self, pid: int, folder: str, seed: int | str) -> dict[str, Any]:
        limits = self._limits
        return {
            "folder": folder,
            "seed": seed,
            "path": self._path,
            "output": limits.output,
            "readable": [*_readable(), *self._path],
            "filter": filter_for(pid, platform.machine()).hex(),
            "limits": {
                "RLIMIT_AS": limits.memory,
                "RLIMIT_CORE": 0,
                "RLIMIT_CPU": limits.processor + 1,
                "RLIMIT_FSIZE": limits.disk,
                "RLIMIT_NOFILE": limits.open_files,
                "RLIMIT_NPROC": 0,  # says nothing to root, for whom seccomp says it
                "RLIMIT_MEMLOCK": 0,
                "RLIMIT_MSGQUEUE": 0,
            },
        }


@functools.cache
def _readable() -> list[str]:
    """What a program can read besides its own folder: Python's library and the shared libraries it is made of."""
    paths = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sysconfig.get_config_var("LIBDIR")}
    paths |= {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"}
    return sorted(os.path.realpath(path) for path in paths if path)


_TRIAL = """
import os, socket, _thread

def possible(attempt):
    try:
        attempt()
    except (OSError, RuntimeError):
        return False
    return True

attempts = {
    "opens a socket": lambda: socket.socket(),
    "starts a process": lambda: os.fork() or os._exit(0),
    "starts a thread": lambda: _thread.start_new_thread(int, ()),
    "signals its parent": lambda: os.kill(os.getppid(), 0),
    "reads other files": lambda: open("/proc/self/status").read(),
    "lists other folders": lambda: os.listdir("/"),
    "makes a folder": lambda: os.mkdir("folder"),
}
with open("own", "w") as file:
    file.write("x")
[name for name, attempt in attempts.items() if possible(attempt)]
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """Whether this machine can shut a program in."""

    fault: str | None
    """None where it can, else what is missing."""
    layers: tuple[str, ...] = ()
    """What shuts it in."""


@functools.cache
def process_trial() -> Trial:
    """Find out by trying, once a process."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return Trial(f"it needs Linux on {' or '.join(MACHINES)}")
    with ThreadPoolExecutor(1) as thread:  # a loop of its own, whatever loop the caller may be in
        return thread.submit(lambda: asyncio.run(_try())).result()


async def _try() -> Trial:
    machine = await ProcessEngine(Limits(timeout=_START), workers=1, warm=0, path=()).machine(0)
    if isinstance(machine, str):
        return Trial(machine)
    try:
        outcome = await machine.run(_TRIAL)
    finally:
        await machine.aend()
    if outcome.error is not None:
        return Trial(f"a trial program failed: {outcome.message}")
    if outcome.value != []:
        return Trial(f"a program {' and '.join(map(str, outcome.value))}")
    return Trial(None, machine.layers)
