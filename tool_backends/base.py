"""What answers a tool call: a backend opens one independent session an episode.

A tool that fails is data (``ToolResult.error``); an exception out of ``call`` is a bug in the tool's
code and is not caught anywhere.

A session whose tools wait, for a network or another process, is a WaitingSession: it says ``waits = True`` and has
``acall`` beside ``call``, so that many episodes wait side by side in one process. Both give the same results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from callgym.call import ToolCall, ToolResult
from callgym.errors import CallGymError
from callgym.schema import ToolSchema
from callgym.task import Task

__all__ = [
    "Session",
    "ToolBackend",
    "UnknownState",
    "WaitingSession",
    "WrappedSession",
    "acall",
    "call_fault",
    "checked_acall",
    "checked_call",
    "known_state",
    "waits",
]


class UnknownState(CallGymError):
    """A session cannot say what its state is: not that it is empty. What is judged by it is unknown, too."""


class Session(Protocol):
    """The tools of one episode, with their state."""

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call whose arguments are valid against the tool's schema."""

    def state(self) -> dict[str, Any]:
        """The state as JSON values; changing the returned object changes nothing.

        Raises:
            UnknownState: It cannot be told: a recording holds none, a server is gone.
        """

    def close(self) -> None:
        """Give back what the session holds; more calls are an error."""


class WaitingSession(Session, Protocol):
    """A session whose calls spend their time waiting."""

    @property
    def waits(self) -> bool:
        """True."""

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, in any event loop; the calls of one session come one after another."""


class ToolBackend(Protocol):
    """Opens sessions; holds nothing that an episode can change."""

    def open(self, task: Task, seed: int) -> Session:
        """A fresh session for ``task``; everything random in it comes from ``seed``."""


def waits(session: Session) -> bool:
    """Whether the session has an ``acall`` that is worth awaiting."""
    return getattr(session, "waits", False) is True


async def acall(session: Session, call: ToolCall) -> ToolResult:
    """Run one call, awaiting it where the session waits."""
    if waits(session):
        waiting: WaitingSession = session  # type: ignore[assignment]
        return await waiting.acall(call)
    return session.call(call)


class WrappedSession:
    """A session around another: the base of what checks, limits, remembers or disturbs calls.

    A subclass changes a call on its way in (``before``) and a result on its way out (``after``); whether anybody
    waits in between is no concern of it.
    """

    def __init__(self, inner: Session) -> None:
        self.inner = inner

    @property
    def waits(self) -> bool:
        """Whether the session inside waits."""
        return waits(self.inner)

    def before(self, call: ToolCall) -> ToolCall | ToolResult:
        """The call to make, or the result where none is made."""
        return call

    def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """What is answered to a call that was made and gave ``result``."""
        return result

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        ready = self.before(call)
        if isinstance(ready, ToolResult):
            return ready
        return self.after(ready, self.inner.call(ready))

    async def acall(self, call: ToolCall) -> ToolResult:
        """Run one call, awaiting the session inside where it waits."""
        ready = self.before(call)
        if isinstance(ready, ToolResult):
            return ready
        return self.after(ready, await acall(self.inner, ready))

    def tried(self) -> None:
        """Hand on that a call was tried, to a session that looks at turns (BFCL's conversations)."""
        getattr(self.inner, "tried", _nobody)()

    def end_turn(self) -> None:
        """Hand on that a user turn is over, to a session that looks at turns."""
        getattr(self.inner, "end_turn", _nobody)()

    def state(self) -> dict[str, Any]:
        """The state of the session inside."""
        return self.inner.state()

    def close(self) -> None:
        """Close the session inside."""
        self.inner.close()


def known_state(session: Session) -> dict[str, Any] | None:
    """The session's state; None where it cannot be told."""
    try:
        return session.state()
    except UnknownState:
        return None


def _nobody() -> None:
    """There is nobody to tell."""


def checked_call(session: Session, call: ToolCall, schemas: Mapping[str, ToolSchema]) -> ToolResult:
    """Run ``call`` if its tool exists and its arguments are valid, else say what is wrong.

    Args:
        session: Where the call runs.
        call: The call, arguments already typed.
        schemas: Tool name to compiled schema, of the tools that exist now.
    """
    return call_fault(call, schemas) or session.call(call)


async def checked_acall(session: Session, call: ToolCall, schemas: Mapping[str, ToolSchema]) -> ToolResult:
    """As ``checked_call``, awaiting the call where the session waits."""
    return call_fault(call, schemas) or await acall(session, call)


def call_fault(call: ToolCall, schemas: Mapping[str, ToolSchema]) -> ToolResult | None:
    """What is wrong with a call before it is made: no such tool, or arguments that its schema refuses."""
    schema = schemas.get(call.name)
    if schema is None:
        known = ", ".join(sorted(schemas)) or "none"
        return ToolResult(
            error="unknown_tool", message=f"there is no tool {call.name[:80]!r}; the tools are: {known[:400]}"
        )
    fault = schema.check(call.arguments)
    return None if fault is None else ToolResult(error="invalid_arguments", message=fault)
