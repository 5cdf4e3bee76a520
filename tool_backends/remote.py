"""Tools behind a tool server (``callgym serve``), with the same results as in this process::

    backend = RemoteBackend("http://127.0.0.1:8000")
    env = gym.make("apibank/L1-v0", backend=backend)  # the server serves the same tasks

A session is opened at its first call. A call is never made twice: where a connection breaks in the middle of one, the
tool is ``unavailable``, and whether the call took effect is not known.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from callgym.call import ToolCall, ToolResult
from callgym.chat_server import import_httpx
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.portal import portal
from callgym.tool_backends.remote_answers import Answers, Ask, Fault, RemoteNotice, Work, notice, without_token
from callgym.tool_backends.server.task_digest import task_digest
from callgym.tool_backends.server.wire import write_json

if TYPE_CHECKING:
    from callgym.tool_backends.remote_line import Line

__all__ = ["RemoteBackend", "RemoteNotice", "RemoteSession"]

T = TypeVar("T")
_TOKEN_ENV = "CALLGYM_SERVE_TOKEN"
_MAX_SECONDS = 86_400.0
_CLOSING_S = 5.0
_PAGE = 1000
_MAX_TOOLS = 100_000


class RemoteBackend:
    """Opens sessions on a tool server; holds nothing but connections, which its sessions share."""

    def __init__(
        self,
        url: str,
        *,
        token_env: str | None = None,
        task: str | None = None,
        timeout_s: float = 90.0,
        connections: int = 128,
        max_response_bytes: int = 33_554_432,
    ) -> None:
        """Set the backend up; nothing is sent yet.

        Args:
            url: Where the server is, ``http://host:port``.
            token_env: The environment variable that holds the server's token; by default ``CALLGYM_SERVE_TOKEN``,
                which need not be set. It is read when a session is opened.
            task: The server's task that all sessions are for; by default the episode's own, by its id.
            timeout_s: Longest time for one call, in seconds; longer than the server's own limit.
            connections: Most connections at the same time.
            max_response_bytes: Longest answer, in bytes.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: httpx is not installed.
        """
        import_httpx()
        self.url = _checked_url(url)
        if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or not 0 < timeout_s <= _MAX_SECONDS:
            raise ConfigurationError(f"timeout_s is a number of seconds above 0 and at most a day, got {timeout_s!r}")
        for name, value in (("connections", connections), ("max_response_bytes", max_response_bytes)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")
        self.timeout_s = float(timeout_s)
        self.answers = Answers(self.url, self.timeout_s)
        self._token_env = token_env
        self._task = task
        self._limits = (connections, max_response_bytes)
        self._tools: tuple[Tool, ...] | None = None
        self._line: Line | None = None
        self._token()

    def open(self, task: Task, seed: int) -> RemoteSession:
        """A session; nothing is sent before its first call.

        Raises:
            ConfigurationError: The token's variable is not set.
        """
        if self._task is None:
            wanted = {"task": task.id, "seed": seed, "digest": task_digest(task), "tools": False}
        else:
            wanted = {"task": self._task, "seed": seed, "tools": False}
        return RemoteSession(self, wanted)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The server's tools (of the task that was named), asked for once.

        Raises:
            ConfigurationError: The server cannot be asked.
        """
        if self._tools is None:
            about = "" if self._task is None else f"&task={quote(self._task, safe='')}"
            found: list[Tool] = []
            while len(found) < _MAX_TOOLS:
                rows = self._asked(Ask("GET", f"/tools?limit={_PAGE}&offset={len(found)}{about}"), "tools", list)
                found += [Tool.from_dict(row, where=f"{self.url}/tools") for row in rows]
                if len(rows) < _PAGE:
                    break
            self._tools = tuple(found)
        return self._tools

    def check(self) -> int:
        """How many tasks the server has: a way to see that it is there, and takes the token.

        Raises:
            ConfigurationError: It is not, or does not.
        """
        return self._asked(Ask("GET", "/tasks?limit=1"), "total", int)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        line, self._line = self._line, None
        if line is not None and line.pid == os.getpid():
            line.close()
            portal().run(line.aclose())

    def _asked(self, ask: Ask, name: str, kind: type[T]) -> T:
        """A field of what the server answers to a person's question."""

        def work() -> Work[Any]:
            return self.answers.json_object((yield ask)).get(name)

        try:
            value = self._run(work(), time.monotonic() + self.timeout_s)
        except Fault as fault:
            raise ConfigurationError(f"{self.url}: {fault}") from None
        if not isinstance(value, kind):
            raise ConfigurationError(f"{self.url} is no tool server: its answer has no {name}")
        return value

    # Doing work.

    def _run(self, work: Work[T], deadline: float) -> T:
        """Do the work in this thread."""
        line, token = self._here(), self._token()
        try:
            ask = next(work)
            while True:
                ask = work.send(without_token(token, line.send(ask, token, deadline)))
        except StopIteration as done:
            value: T = done.value
            return value

    async def _arun(self, work: Work[T], deadline: float) -> T:
        """As ``_run``, on the portal's loop."""
        line, token = self._here(), self._token()
        try:
            ask = next(work)
            while True:
                ask = work.send(without_token(token, await line.asend(ask, token, deadline)))
        except StopIteration as done:
            value: T = done.value
            return value

    def _here(self) -> Line:
        """The connections of this process: a forked one has its own."""
        if self._line is None or self._line.pid != os.getpid():
            from callgym.tool_backends.remote_line import Line

            self._line = Line(self.url, *self._limits)
        return self._line

    def _token(self) -> str | None:
        token = os.environ.get(self._token_env or _TOKEN_ENV, "").strip()
        if not token and self._token_env is not None:
            raise ConfigurationError(f"the environment variable {self._token_env} is not set; it holds a token")
        if not (token.isascii() and token.isprintable()):
            raise ConfigurationError(
                f"{self._token_env or _TOKEN_ENV} holds characters that an HTTP header cannot carry"
            )
        return token or None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_line": None}


class RemoteSession:
    """One session on the server, opened when it is first needed."""

    waits = True

    def __init__(self, backend: RemoteBackend, wanted: dict[str, Any]) -> None:
        self._backend = backend
        self._wanted = wanted
        self._key: str | None = None
        self._tried = 0
        self._lost = ""
        self._closed = False

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call, and block until it is answered or its time is up."""
        work, deadline = self._calling(call), time.monotonic() + self._backend.timeout_s
        return self._backend._run(work, deadline)

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, without blocking the loop."""
        work, deadline = self._calling(call), time.monotonic() + self._backend.timeout_s
        return await portal().arun(self._backend._arun(work, deadline))

    def state(self) -> dict[str, Any]:
        """The state on the server.

        Raises:
            UnknownState: It cannot be had; there is a warning, too.
        """
        if self._lost:
            raise UnknownState(self._lost)
        try:
            return self._now(self._reading_state())
        except Fault as fault:
            notice(f"the state of a session on {self._backend.url} cannot be had: {fault}")
            raise UnknownState(str(fault)) from None

    def tried(self) -> None:
        """Note that a call was made in this user turn, whether or not it comes to ``call``."""
        self._tried += 1

    def end_turn(self) -> None:
        """Tell the session that a user turn is over (BFCL's multi-turn tasks); without that its state is unknown."""
        made, self._tried = self._tried, 0
        if self._lost:
            return
        try:
            self._now(self._ending_turn(made))
        except Fault as fault:
            self._lost = f"a user turn could not be ended: {fault}"
            notice(f"a session on {self._backend.url}: {self._lost}")

    def close(self) -> None:
        """Close the session on the server, if it was opened; where that fails, a warning."""
        self._closed = True
        if self._key is not None:
            try:
                self._now(self._closing(self._key), _CLOSING_S)
            except Fault as fault:
                notice(f"a session on {self._backend.url} could not be closed, and stays until it expires: {fault}")
            self._key = None

    def _now(self, work: Work[T], most: float = _MAX_SECONDS) -> T:
        # It blocks even in the portal's loop, where an episode ends: what asks for a state cannot await it.
        return self._backend._run(work, time.monotonic() + min(self._backend.timeout_s, most))

    # What is asked of the server.

    def _calling(self, call: ToolCall) -> Work[ToolResult]:
        try:
            body = write_json({"name": call.name, "arguments": call.arguments, "id": call.id})
        except (RecursionError, TypeError, ValueError) as error:
            message = f"the arguments cannot be written as JSON ({str(error)[:80]})"
            return ToolResult(error="invalid_arguments", message=message)
        try:
            key = yield from self._opened()
            return self._backend.answers.result((yield Ask("POST", f"/sessions/{key}/call", body)))
        except Fault as fault:
            return fault.result

    def _reading_state(self) -> Work[dict[str, Any]]:
        key = yield from self._opened()
        return self._backend.answers.json_object((yield Ask("GET", f"/sessions/{key}/state")))

    def _ending_turn(self, made: int) -> Work[None]:
        key = yield from self._opened()
        self._backend.answers.body((yield Ask("POST", f"/sessions/{key}/turn", write_json({"made": made}))))

    def _closing(self, key: str) -> Work[None]:
        self._backend.answers.body((yield Ask("DELETE", f"/sessions/{key}")))

    def _opened(self) -> Work[str]:
        if self._closed:
            raise RuntimeError("the session is closed; a new episode opens another")
        if self._key is None:
            self._key = self._backend.answers.session((yield Ask("POST", "/sessions", write_json(self._wanted))))
        return self._key


def _checked_url(url: Any) -> str:
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"a tool server's URL is like http://127.0.0.1:8000, got {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            f"a tool server's URL holds nothing but host and path ({parts.scheme}://{parts.hostname}...); it is "
            f"written into records, so a token goes into the environment variable {_TOKEN_ENV}"
        )
    try:
        _ = parts.port, parts.netloc.encode("idna")
    except (UnicodeError, ValueError) as error:
        raise ConfigurationError(f"the URL {url!r} cannot be read: {error}") from None
    return str(url).rstrip("/")
