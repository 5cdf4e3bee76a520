"""Recording what a backend answers, while it answers::

    backend = recorded(PythonBackend(functions), "calls.sqlite")
    gym.make(id, backend=backend)  # play; then gym.make(id, backend=ReplayBackend("calls.sqlite"))

What a tool with a state answers is right only after the same calls as before. So an answer is recorded with its place
in the episode: the task, the seed and the calls made before it. ``read_only`` names tools that change nothing and
answer by their arguments alone: their answers hold anywhere, and they are no part of the history. With
``scope="call"`` that is said of all tools.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Collection
from typing import Any, Literal, get_args

from callgym.call import ErrorKind, ToolCall, ToolResult
from callgym.errors import CallGymError, ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import Session, ToolBackend, WrappedSession, acall
from callgym.tool_backends.recording.keys import ANYWHERE, History, NoKey, call_key
from callgym.tool_backends.recording.store import RecordingStore
from callgym.tool_backends.wrapped import WrappedBackend

__all__ = ["RecordingBackend", "RecordingSession", "Scope", "recorded"]

Scope = Literal["episode", "call"]
"""Where an answer holds: at its place in the episode, or for the same call anywhere."""

_PASSING: tuple[ErrorKind, ...] = ("timeout", "unavailable")


def recorded(
    backend: ToolBackend,
    store: RecordingStore | str | os.PathLike[str],
    *,
    scope: Scope = "episode",
    read_only: Collection[str] = (),
    never: Collection[ErrorKind] = _PASSING,
    states: bool = True,
    source: str | None = None,
) -> RecordingBackend:
    """A backend that records every call it answers, failures too; the answers are the backend's own.

    Args:
        backend: What runs the calls.
        store: The recording, or the path of its file, which is made where there is none.
        scope: ``"episode"``: an answer holds after the same calls of the same task and seed; ``"call"``: it holds
            for the same call anywhere, and no state is kept.
        read_only: Names of the tools whose answers depend on their arguments alone and that change nothing: recorded
            as with ``scope="call"``.
        never: Kinds of error that are not recorded: by default those that may be gone the next time. A call that is
            not recorded counts as one that was not made.
        states: Whether the state is kept: whenever it is asked for, and at the end.
        source: What is noted with every row; by default the task's id.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
        DataError: The file is no recording, or cannot be written.
    """
    return RecordingBackend(backend, store, scope=scope, read_only=read_only, never=never, states=states, source=source)


class RecordingBackend(WrappedBackend):
    """See ``recorded``."""

    def __init__(
        self,
        inner: ToolBackend,
        store: RecordingStore | str | os.PathLike[str],
        *,
        scope: Scope = "episode",
        read_only: Collection[str] = (),
        never: Collection[ErrorKind] = _PASSING,
        states: bool = True,
        source: str | None = None,
    ) -> None:
        super().__init__(inner)
        if scope not in get_args(Scope):
            raise ConfigurationError(f"scope is one of {', '.join(map(repr, get_args(Scope)))}, got {scope!r}")
        self.store = store if isinstance(store, RecordingStore) else RecordingStore(store)
        self.store.check()
        self.scope = scope
        self.read_only = _texts("read_only", read_only)
        self.never = _texts("never", never)
        unknown = sorted(self.never - frozenset(get_args(ErrorKind)))
        if unknown:
            raise ConfigurationError(f"never names kinds of error: {', '.join(get_args(ErrorKind))}; got {unknown}")
        self.keeps_states = states and scope == "episode"
        self.source = source

    def wrap(self, session: Session, task: Task, seed: int) -> RecordingSession:
        """The session, recorded."""
        return RecordingSession(session, self, task, seed)


class RecordingSession(WrappedSession):
    """A session whose calls are recorded."""

    def __init__(self, inner: Session, backend: RecordingBackend, task: Task, seed: int) -> None:
        super().__init__(inner)
        self._backend = backend
        self._store = backend.store
        self._source = task.id if backend.source is None else backend.source
        self._history = History.begin(task.family, task.id, seed)
        self._documents: dict[str, Tool] = {tool.name: tool for tool in (*backend.tools, *task.tools)}
        self._given: dict[str, int] = {}
        self._kept: str | None = None

    def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Record what was answered."""
        self._keep(call, result)
        return result

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``; where the session inside waits, the file is written beside the loop, too."""
        if not self.waits:
            return self.call(call)
        result = await acall(self.inner, call)
        await asyncio.to_thread(self._keep, call, result)
        return result

    def _keep(self, call: ToolCall, result: ToolResult) -> None:
        backend = self._backend
        if result.error in backend.never:
            return
        try:
            exact = call_key(call.name, self._store.redaction.stored(call.name, call.arguments))
            anywhere = backend.scope == "call" or call.name in backend.read_only
            sequence = self._given.get(exact, 0)
            self._store.add(
                call.name,
                call.arguments,
                result,
                scope=ANYWHERE if anywhere else self._history.scope,
                sequence=sequence,
                source=self._source,
                document=self._documents.get(call.name),
            )
        except NoKey:  # what no file can hold is not recorded
            return
        self._given[exact] = sequence + 1
        if not anywhere:
            self._history = self._history.after(exact)

    def state(self) -> dict[str, Any]:
        """The state of the session inside, which is kept."""
        state = self.inner.state()
        self._keep_state(state)
        return state

    def _keep_state(self, state: dict[str, Any]) -> None:
        if self._backend.keeps_states and self._kept != self._history.moment:
            with contextlib.suppress(NoKey):
                self._store.add_state(self._history.moment, state, self._source)
            self._kept = self._history.moment

    def tried(self) -> None:
        """Hand on that a call was tried, to a session that asks (BFCL's conversations)."""
        self._tell("tried")

    def end_turn(self) -> None:
        """Hand on that the user's turn is over, to a session that asks."""
        self._tell("end_turn")

    def _tell(self, what: str) -> None:
        self._history = self._history.told(what)
        hear = getattr(self.inner, what, None)
        if hear is not None:
            hear()

    def close(self) -> None:
        """Keep the state at the end, and close the session inside."""
        state = None
        try:
            if self._backend.keeps_states and self._kept != self._history.moment:
                state = self.inner.state()
        except (CallGymError, OSError):
            pass  # the service is gone: then the state at the end is not known, and replay says so
        finally:
            self.inner.close()
        if state is not None:
            self._keep_state(state)


def _texts(name: str, value: Any) -> frozenset[str]:
    listed = isinstance(value, Collection) and not isinstance(value, (str, bytes))
    if listed and all(isinstance(item, str) for item in value):
        return frozenset(value)
    raise ConfigurationError(f"{name} is a list of names, got {value!r}")
