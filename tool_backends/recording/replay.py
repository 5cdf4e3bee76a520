"""Answers from a recording, with the tools themselves gone::

    backend = ReplayBackend("calls.sqlite")
    gym.make(id, backend=backend)

The answer to exactly the call is looked for first, then the one to a call with the same normal arguments (see
``normalised``), then the fallback answers (see ``fallbacks``). An answer recorded in an episode holds after the same
calls of the same task and seed; with ``ignore_history=True`` it is taken after others, too. A call of which nothing is
on record is not made: what follows is answered as if it had not been tried. Of several recorded answers to the same
call each is given once, in order, and the last one from then on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.recording.answers import Answer, Answers, Wanted
from callgym.tool_backends.recording.fallbacks import Fallback, Miss, get_fallback, no_answer
from callgym.tool_backends.recording.keys import ANYWHERE, History, NoKey, call_key
from callgym.tool_backends.recording.normalised import normal_key
from callgym.tool_backends.recording.redaction import secrets_in, show_quoted
from callgym.tool_backends.recording.store import RecordingStore

__all__ = ["ReplayBackend", "ReplaySession", "open_records"]

_SEED_BYTES = 8


def open_records(records: Answers | str | os.PathLike[str]) -> Answers:
    """A recording to be read: its path, the folder of ToolBench's cached responses, or the recording itself.

    Raises:
        DataError: There is none, or it cannot be read.
    """
    if not isinstance(records, (str, os.PathLike)):
        return records
    if Path(records).is_dir():
        from callgym.tool_backends.recording.toolbench_cache import ToolBenchCache

        return ToolBenchCache(records)
    store = RecordingStore(records, readonly=True)
    store.check()
    return store


class ReplayBackend:
    """Replays a recording."""

    def __init__(
        self,
        records: Answers | str | os.PathLike[str],
        fallback: str | Fallback = "error",
        tools: Sequence[Tool] | None = None,
        *,
        normalise: bool = True,
        ignore_history: bool = False,
        say_so: bool = False,
    ) -> None:
        """Open a recording for reading.

        Args:
            records: Its path, a folder of ToolBench's cached responses, a RecordingStore or a ToolBenchCache.
            fallback: What is answered where nothing is on record: ``"error"``, ``"nearest"``, ``"synthetic"`` or a
                function.
            tools: The tools, where tasks do not have them; by default those whose documents were recorded.
            normalise: Whether a call may differ from the recorded one in its letters' case and the like.
            ignore_history: Whether an answer of an episode is good after other calls, and in other episodes, too.
            say_so: Whether the answers of the fallbacks ``"nearest"`` and ``"synthetic"`` say what they are.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            DataError: There is no recording, or it cannot be read.
        """
        self.records = open_records(records)
        self.fallback = get_fallback(fallback, say_so=say_so)
        self.normalise = normalise
        self.ignore_history = ignore_history
        self._tools = None if tools is None else tuple(tools)
        if self._tools is not None and not all(isinstance(tool, Tool) for tool in self._tools):
            raise ConfigurationError("tools is a list of Tools")

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, for tasks: those that were given, or those whose documents were recorded."""
        return self.records.tools if self._tools is None else self._tools

    def open(self, task: Task, seed: int) -> ReplaySession:
        """A session at the beginning of the task's episode with this seed."""
        return ReplaySession(self, task, seed)

    @cached_property
    def tool_of(self) -> dict[str, Tool]:
        """Name to tool."""
        return {tool.name: tool for tool in self.tools}


class ReplaySession:
    """One episode's walk through a recording."""

    def __init__(self, backend: ReplayBackend, task: Task, seed: int) -> None:
        self._backend = backend
        self._records = backend.records
        self._redaction = backend.records.redaction
        self._task = task
        self._seed = seed
        self._history = History.begin(task.family, task.id, seed)
        self._given: dict[str, int] = {}
        self._strayed = ""

    def call(self, call: ToolCall) -> ToolResult:
        """The recorded answer, or the fallback's."""
        try:
            arguments = self._redaction.stored(call.name, call.arguments)
            exact = call_key(call.name, arguments)
            answer = self._found(call.name, arguments, exact)
            if answer is None:
                return self._fallen_back(call, arguments, exact)
        except NoKey:
            return no_answer(self._miss(call, call.arguments, ""))
        self._follow(answer, exact)
        if arguments is call.arguments:
            return answer.result
        return _shown(answer.result, secrets_in(call.arguments, arguments))

    def _found(self, tool: str, arguments: dict[str, Any], exact: str) -> Answer | None:
        """The answer to exactly the call, or to one that is as good as the same."""
        given, scope, backend = self._given, self._history.scope, self._backend
        wanted = Wanted(tool, arguments, exact, "exact", scope, given.get(exact, 0))
        found = self._records.find(wanted)
        if found is None and backend.ignore_history:
            found = self._records.find(wanted._replace(scope=None))
        if found is not None or not backend.normalise:
            return found
        # What was recorded without a schema is looked for without one, too.
        for key in dict.fromkeys(normal_key(tool, arguments, schema) for schema in _schemas(self._tool(tool))):
            wanted = Wanted(tool, arguments, key, "normal", scope, given.get(key, 0))
            found = self._records.find(wanted)
            if found is None and backend.ignore_history:
                found = self._records.find(wanted._replace(scope=None))
            if found is not None:
                return found
        return None

    def _follow(self, answer: Answer, exact: str) -> None:
        """Go on from the call that was recorded."""
        given = self._given
        given[answer.exact] = given.get(answer.exact, 0) + 1
        given[answer.normal] = given.get(answer.normal, 0) + 1
        if answer.scope == ANYWHERE:
            return
        if answer.scope != self._history.scope:
            self._strayed = "an answer of another place was taken"
        elif answer.exact != exact:
            self._strayed = "a call was not quite the recorded one"
        self._history = self._history.after(answer.exact)

    def _fallen_back(self, call: ToolCall, arguments: dict[str, Any], exact: str) -> ToolResult:
        fallback = self._backend.fallback
        result = fallback(self._miss(call, arguments, exact))
        if fallback is not no_answer:
            self._strayed = "an answer was made up"
        return _shown(result, secrets_in(call.arguments, arguments))

    def _miss(self, call: ToolCall, arguments: dict[str, Any], exact: str) -> Miss:
        text = f"{self._seed}\0{exact}".encode()
        return Miss(
            call=ToolCall.trusted(name=call.name, arguments=arguments, id=call.id),
            tool=self._tool(call.name),
            seed=int.from_bytes(hashlib.blake2b(text, digest_size=_SEED_BYTES).digest(), "little"),
            scope=self._history.scope,
            records=self._records,
        )

    def _tool(self, name: str) -> Tool | None:
        for tool in self._task.tools:
            if tool.name == name:
                return tool
        return self._backend.tool_of.get(name)

    def state(self) -> dict[str, Any]:
        """The state that was recorded after these very calls.

        Raises:
            UnknownState: None was; or the answers so far were not all those of this episode.
        """
        where = f"the state in {self._task.id!r} is not known from {self._records.name}"
        if self._strayed:
            raise UnknownState(f"{where}: {self._strayed}; the state of what is replayed exactly is known")
        state = self._records.state_at(self._history.moment)
        if state is None:
            raise UnknownState(
                f"{where}: none was kept after these calls of this seed; record the episode again, to its end, with "
                "scope='episode' and states=True"
            )
        return state

    def tried(self) -> None:
        """Note that a call was tried, as a recording session does."""
        self._history = self._history.told("tried")

    def end_turn(self) -> None:
        """Note that the user's turn is over, as a recording session does."""
        self._history = self._history.told("end_turn")

    def close(self) -> None:
        """Nothing to give back: the file is the backend's."""


def _schemas(tool: Tool | None) -> tuple[dict[str, Any] | None, ...]:
    return (None,) if tool is None else (dict(tool.parameters), None)


def _shown(result: ToolResult, secrets: dict[str, str]) -> ToolResult:
    """The answer to a caller who knows the secrets that it quotes."""
    if not secrets:
        return result
    content, message = show_quoted(result.content, secrets), show_quoted(result.message, secrets)
    return ToolResult.trusted(content=content, error=result.error, message=message)
