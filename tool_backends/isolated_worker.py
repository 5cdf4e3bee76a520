"""Processes that run tools, seen from outside: started ahead, asked one thing at a time, killed when they hang.

Whoever asks is blocked until the answer is there or its time is up; any thread may ask.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from multiprocessing.context import SpawnProcess
from typing import Any

from callgym.errors import ConfigurationError
from callgym.tool_backends.base import ToolBackend
from callgym.tool_backends.isolated_process import serve

__all__ = ["START_SECONDS", "AnswerTooLong", "Died", "Hung", "Raised", "Worker", "Workers"]

START_SECONDS = 60.0
"""Most seconds for starting a process and for opening a session in it."""
_END_SECONDS = 5.0
_CHUNK = 1 << 16
_processes = threading.Lock()  # children are started, and asked how they are, by one thread at a time


class Hung(Exception):
    """No answer in time; the process was killed."""


class Died(Exception):
    """The process ended, or said what makes no sense and was killed; the text says how."""


class Raised(Exception):
    """What was asked for ended in an exception; the text is its type and message."""


class AnswerTooLong(Exception):
    """The answer is longer than allowed."""


class Worker:
    """One process, from which one thing at a time is asked."""

    def __init__(self, backend: ToolBackend | str, longest: int) -> None:
        """Start a process, and wait until it has loaded the backend.

        Raises:
            Hung: It did not get ready.
            Died: It ended at once.
            Raised: The backend cannot be loaded.
        """
        self._longest = longest
        self._socket, theirs = socket.socketpair()
        context = multiprocessing.get_context("spawn")
        self._process: SpawnProcess = context.Process(
            target=serve, args=(backend, theirs, longest), daemon=True, name="callgym-isolated"
        )
        try:
            with _processes, theirs:
                self._process.start()
            self._answer(time.monotonic() + START_SECONDS)
        except BaseException:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        with _processes:
            return self._process.is_alive()

    def ask(self, do: str, seconds: float, **more: Any) -> Any:
        """Have something done, within a limit.

        Raises:
            Hung: It takes too long.
            Died: The process ended.
            Raised: It ended in an exception.
            AnswerTooLong: The answer is longer than allowed.
        """
        deadline = time.monotonic() + seconds
        question = json.dumps({"do": do, "seconds": seconds, **more}).encode() + b"\n"
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(question)
        except TimeoutError:
            self.kill()
            raise Hung from None
        except OSError:
            raise Died(self._post_mortem()) from None
        except BaseException:  # interrupted
            self.kill()
            raise
        return self._answer(deadline)

    def _answer(self, deadline: float) -> Any:
        try:
            line = self._line(deadline)
            answer = json.loads(line) if line else None
        except TimeoutError:
            self.kill()
            raise Hung from None
        except (OSError, ValueError, RecursionError):  # gone, or a line that is none
            answer = None
        except BaseException:  # interrupted: the answer would be taken for that of the next question
            self.kill()
            raise
        if not isinstance(answer, dict):
            raise Died(self._post_mortem())
        if "raised" in answer:
            raise Raised(str(answer["raised"]))
        if "too_long" in answer:
            raise AnswerTooLong(str(answer["too_long"]))
        return answer.get("value")

    def _line(self, deadline: float) -> bytes:
        """One line; nothing where the process is gone."""
        parts, length = [], 0
        while True:
            self._socket.settimeout(max(deadline - time.monotonic(), 1e-3))
            part = self._socket.recv(_CHUNK)
            parts.append(part)
            length += len(part)
            if not part or length > self._longest + _CHUNK:
                return b""
            if part.endswith(b"\n"):
                return b"".join(parts)

    def _post_mortem(self) -> str:
        """How the process ended."""
        with _processes:
            self._process.join(0.5)
            code = self._process.exitcode
        self.kill()
        if code is None:
            return "it gave no answer that can be read"
        return f"exit status {code}" if code >= 0 else f"signal {-code}"

    def kill(self) -> None:
        """End the process, and what it has started; from any thread, even while another one asks."""
        with _processes:
            if self._process.pid is not None and self._process.is_alive():
                try:
                    os.killpg(self._process.pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):  # not a group of its own yet
                    self._process.kill()
                self._process.join(0.5)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # who waits for an answer need not wait any longer

    def end(self) -> None:
        """As ``kill``, by whoever asks it: nobody else does any more."""
        self.kill()
        self._socket.close()


class Workers:
    """The processes of one backend: those that sessions hold, and some that wait for one."""

    def __init__(self, backend: ToolBackend | str, spare: int, longest: int) -> None:
        self._backend = backend
        self._spare = spare
        self._longest = longest
        self._all: set[Worker] = set()
        self._free: list[Worker | Exception] = []
        self._changed = threading.Condition()
        self._coming = 0  # processes that are being started
        self._asked_for = 0
        self._ended = False
        self._worked = False
        self._pid = os.getpid()

    def take(self) -> Worker:
        """A process without a session: whichever is there first, one that waits, comes back or is started.

        Raises:
            ConfigurationError: The backend cannot be loaded in a process, or this process may have none.
            Hung: The process did not get ready in time.
            Died: The process ended at once, though others did not.
        """
        if multiprocessing.current_process().daemon:
            raise ConfigurationError(
                "a daemonic process may start no others, so isolated() cannot be used in it; "
                "for AsyncVectorEnv, give daemon=False"
            )
        with self._changed:
            self._ended = False
            self._asked_for += 1
            try:
                found = self._next()
            finally:
                self._asked_for -= 1
            if self._spare and not self._free and not self._coming:
                self._start()
        return found

    def _next(self) -> Worker:
        while True:
            for _ in range(self._asked_for - len(self._free) - self._coming):
                self._start()
            self._changed.wait_for(lambda: self._free)
            found = self._free.pop()
            if isinstance(found, Exception):
                raise found
            if found.alive:
                return found
            self._all.discard(found)
            found.end()

    def give_back(self, worker: Worker) -> None:
        """The session is over: close it, and keep the process for another one if there is room."""
        try:
            with contextlib.suppress(Raised):
                worker.ask("close", _END_SECONDS)
        except (Hung, Died, AnswerTooLong):
            self.drop(worker)
            return
        with self._changed:
            keeps = not self._ended and len(self._free) < max(self._spare, self._asked_for)
            if keeps:
                self._free.append(worker)
                self._changed.notify()
        if not keeps:
            self.drop(worker)

    def drop(self, worker: Worker) -> None:
        """A process that is of no more use."""
        with self._changed:
            self._all.discard(worker)
        worker.end()

    def end(self) -> None:
        """End all processes; from any thread."""
        if self._pid != os.getpid():  # forked: they are another's
            return
        with self._changed:
            self._ended = True
            held, free = self._all, self._free
            self._all, self._free = set(), []
        for worker in held:
            worker.kill()
        for found in free:
            if isinstance(found, Worker):
                found.end()

    def _start(self) -> None:
        self._coming += 1
        threading.Thread(target=self._started, name="callgym-isolated", daemon=True).start()

    def _started(self) -> None:
        """Start a process; whoever waits gets it, or is told why not."""
        found: Worker | Exception
        try:
            found = Worker(self._backend, self._longest)
        except Exception as error:
            found = self._told(error)
        with self._changed:
            self._coming -= 1
            keeps = not self._ended or self._asked_for > 0
            if isinstance(found, Worker):
                self._worked = True
                if keeps:
                    self._all.add(found)
            else:
                keeps = self._asked_for > len(self._free)
            if keeps:
                self._free.append(found)
                self._changed.notify()
        if not keeps and isinstance(found, Worker):
            found.end()

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, Raised):
            return ConfigurationError(f"the backend cannot be loaded in a process of its own: {error}")
        if isinstance(error, Died) and not self._worked:
            return ConfigurationError(
                f"the process for the tools ended as it started ({error}); it imports the program's main module, which "
                "must do its work under `if __name__ == '__main__':`, and the modules that the backend is made of"
            )
        return error


def _forget() -> None:
    """In a forked child: the lock may have been held by a thread that is gone."""
    global _processes
    _processes = threading.Lock()


os.register_at_fork(after_in_child=_forget)
