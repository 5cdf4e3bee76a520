"""Tools in a process of their own, which is killed when a call takes too long::

    backend = isolated(PythonBackend({"Solve": solve}), seconds=2)        # what can be pickled
    backend = isolated("my_package.tools:make_backend", seconds=2)        # or is found by its name

A thread cannot be stopped, a process can. The call that hung is a ``timeout``; the next one gets a fresh process, in
which the session's earlier calls are made again, from the same task and seed, but for the one that hung. A tool that
ends its process, or raises what cannot be pickled, is a ``tool_error``.

This guards against accidents, not against malice: tools have the rights of this process, to files and network as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import pickle
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError, DataError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import ToolBackend, UnknownState
from callgym.tool_backends.isolated_process import load_backend
from callgym.tool_backends.isolated_worker import (
    START_SECONDS,
    AnswerTooLong,
    Died,
    Hung,
    Raised,
    Worker,
    Workers,
)
from callgym.tool_backends.wrapped import at_least_one, duration

__all__ = ["IsolatedBackend", "IsolatedSession", "isolated"]

_REPLAY_LIMITS = 10
"""Time limits that making all earlier calls again may take."""
_MOST_THREADS = 256
_UNDONE = "nothing that this call did remains, what earlier calls did still holds"


def isolated(
    backend: ToolBackend | str, seconds: float, *, spare: int = 4, max_answer_bytes: int = 8_388_608
) -> IsolatedBackend:
    """A backend whose sessions each have a process, from their first call until they are closed.

    Args:
        backend: A backend that can be pickled, or ``"package.module:name"`` of one, or of a function that makes one.
            Its sessions follow from task, seed and calls alone, as a backend's should.
        seconds: Most seconds that a call may take; starting a process does not count.
        spare: Most processes that are kept for later when their sessions are over; while it is not 0, one is always
            started ahead.
        max_answer_bytes: Longest answer, in bytes of JSON.

    Raises:
        ConfigurationError: An argument has a value it cannot have, or the backend cannot be pickled.
    """
    return IsolatedBackend(backend, seconds, spare=spare, max_answer_bytes=max_answer_bytes)


class IsolatedBackend:
    """See ``isolated``."""

    def __init__(
        self, inner: ToolBackend | str, seconds: float, *, spare: int = 4, max_answer_bytes: int = 8_388_608
    ) -> None:
        self.inner = inner
        self.seconds = duration("seconds", seconds)
        self._spare = spare if spare == 0 else at_least_one("spare", spare)
        self._max_answer_bytes = at_least_one("max_answer_bytes", max_answer_bytes)
        self._workers: Workers | None = None
        self._pid = 0
        if isinstance(inner, str):
            if not all(inner.partition(":")):
                raise ConfigurationError(f"a backend is found by 'package.module:name', got {inner!r}")
        else:
            _check_pickles(inner)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the backend inside; none where it does not know them."""
        inner = load_backend(self.inner) if isinstance(self.inner, str) else self.inner
        return tuple(getattr(inner, "tools", ()))

    def open(self, task: Task, seed: int) -> IsolatedSession:
        """A session; its process is there when it is first needed."""
        return IsolatedSession(self, task, seed)

    @property
    def workers(self) -> Workers:
        """The processes; a forked process has its own."""
        if self._workers is None or self._pid != os.getpid():
            self._workers, self._pid = Workers(self.inner, self._spare, self._max_answer_bytes), os.getpid()
            weakref.finalize(self, self._workers.end)
        return self._workers

    def close(self) -> None:
        """End all processes; a later call starts them again."""
        if self._workers is not None:
            self._workers.end()

    def __reduce__(self) -> Any:
        options: dict[str, Any] = {"spare": self._spare, "max_answer_bytes": self._max_answer_bytes}
        return functools.partial(IsolatedBackend, **options), (self.inner, self.seconds)


class IsolatedSession:
    """A session in a process of its own; its calls wait, each in a thread that does nothing else."""

    waits = True

    def __init__(self, backend: IsolatedBackend, task: Task, seed: int) -> None:
        self._backend = backend
        self._task = task
        self._seed = seed
        self._done: list[tuple[str, dict[str, Any]]] = []  # what came to an end: a fresh process does it again
        self._worker: Worker | None = None
        self._tried = 0
        self._lost = False
        self._closed = False
        self._lock = threading.RLock()  # a call that was given up may not have ended when the next one is made

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call within the limit."""
        return self._call(call, threading.Event())

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, without blocking the loop; one that is cancelled is killed."""
        given_up = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(_threads(), self._call, call, given_up)
        except asyncio.CancelledError:
            given_up.set()
            worker = self._worker
            if worker is not None:
                worker.kill()
            raise

    def state(self) -> dict[str, Any]:
        """The state, as the process says.

        Raises:
            UnknownState: It cannot say.
        """
        state = self._asked("state")
        if not isinstance(state, dict):
            raise UnknownState("the tools' process gave no state")
        return state

    def tried(self) -> None:
        """Note for ``end_turn`` that a call was made, whether or not it comes to ``call``."""
        self._tried += 1

    def end_turn(self) -> None:
        """Tell the session inside that a user turn is over, if it looks at turns (BFCL's conversations)."""
        details = {"made": self._tried}
        self._tried = 0
        try:
            self._asked("end_turn", **details)
        except UnknownState:
            self._lost = True  # which the next call says, and the state
        else:
            self._done.append(("end_turn", details))

    def close(self) -> None:
        """Give the process back."""
        self._closed = True
        with self._lock:
            worker, self._worker = self._worker, None
            if worker is not None:
                self._backend.workers.give_back(worker)

    def _call(self, call: ToolCall, given_up: threading.Event) -> ToolResult:
        with self._lock:
            if self._closed:
                raise RuntimeError("the session is closed; open another one")
            try:
                worker = self._ready()
            except _NotReady as reason:
                return ToolResult(error="unavailable", message=str(reason))
            if given_up.is_set():
                return ToolResult(error="unavailable", message="the call was given up")
            details = {"call": call.to_dict()}
            result = self._result(worker, details)
            if self._worker is not None:
                self._done.append(("call", details))
            return result

    def _result(self, worker: Worker, details: dict[str, Any]) -> ToolResult:
        """What came of a call; the process is gone where nothing that it did is to remain."""
        seconds = self._backend.seconds
        try:
            return ToolResult.from_dict(worker.ask("call", seconds, **details))
        except Hung:
            self._drop()
            message = f"the tool gave no answer within {seconds:g} seconds and was stopped; {_UNDONE}"
            return ToolResult(error="timeout", message=message)
        except Died as how:
            self._drop()
            return ToolResult(error="tool_error", message=f"the tool's process came to an end ({how}); {_UNDONE}")
        except Raised as error:
            return ToolResult(error="tool_error", message=f"the tool failed: {error}")
        except (AnswerTooLong, DataError):
            return ToolResult(error="tool_error", message="the tool's answer is too long, or cannot be read")
        except BaseException:  # interrupted
            self._drop()
            raise

    def _asked(self, do: str, **details: Any) -> Any:
        """Have something done that is no call.

        Raises:
            UnknownState: It was not done.
        """
        with self._lock:
            try:
                return self._ready().ask(do, self._backend.seconds, **details)
            except (Hung, Died) as error:
                self._drop()
                raise UnknownState(f"the tools' process came to an end: {error}") from None
            except (Raised, AnswerTooLong, _NotReady) as error:
                raise UnknownState(f"the tools' process cannot say: {error}") from None
            except ConfigurationError:
                raise
            except BaseException:  # interrupted
                self._drop()
                raise

    def _ready(self) -> Worker:
        """The session's process, brought to where the session stands.

        Raises:
            _NotReady: It cannot be, now or at all.
            ConfigurationError: The backend cannot be loaded, or cannot open a session.
        """
        if self._lost:
            raise _NotReady("the tools broke down and cannot be brought back")
        if self._worker is not None:
            if self._worker.alive:
                return self._worker
            self._drop()  # killed between two calls
        try:
            worker = self._worker = self._backend.workers.take()
            worker.ask("open", START_SECONDS, task=self._task.to_dict(), seed=self._seed)
            self._replay(worker)
        except Raised as error:
            self._drop()
            raise ConfigurationError(f"no session can be opened for task {self._task.id!r}: {error}") from None
        except (Hung, Died):
            self._drop()
            if not self._lost:
                raise _NotReady("the tools could not be started; try again") from None
            raise _NotReady("the tools broke down and cannot be brought back to where they were") from None
        except BaseException:
            self._drop()
            raise
        return worker

    def _replay(self, worker: Worker) -> None:
        """Do again what was done; what comes of it is known."""
        deadline = time.monotonic() + _REPLAY_LIMITS * self._backend.seconds
        for do, details in self._done:
            self._lost = True  # until it has succeeded: a second attempt would take as long
            left = min(self._backend.seconds, deadline - time.monotonic())
            with contextlib.suppress(Raised, AnswerTooLong):
                worker.ask(do, max(left, 1e-3), **details)
        self._lost = False

    def _drop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._backend.workers.drop(worker)


class _NotReady(Exception):
    """Why a call cannot be made; the text is for the policy."""


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST_THREADS, "callgym-isolated-call")


os.register_at_fork(after_in_child=_threads.cache_clear)


def _check_pickles(backend: ToolBackend) -> None:
    try:
        pickle.dumps(backend)
    except Exception as error:  # whatever the backend's parts raise
        raise ConfigurationError(
            f"{type(backend).__name__} cannot be sent to another process ({str(error)[:200]}); give "
            "'package.module:name' of a function that makes it"
        ) from error
