"""Faults at work: a session around another, in which some calls go wrong.

``FaultySession.faults`` is the record of what was injected, in order; nothing of it reaches the policy::

    {"call": 3, "tool": "GetAlarm", "fault": "errors", "error": "unavailable", "made": false}

``call`` is the number of the call in its session, ``made`` says whether the tool was really called.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.task import Task
from callgym.tool_backends.base import Session, ToolBackend, WrappedSession, acall, waits
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer, Spec
from callgym.tool_backends.faults.specs import get_faults
from callgym.tool_backends.wrapped import WrappedBackend

__all__ = ["FaultyBackend", "FaultySession", "faulty"]

Spared = Callable[[ToolCall, ToolResult], bool]
"""Whether an answer must stay as it is, because not only the policy reads it."""


def faulty(backend: ToolBackend, faults: Spec | Fault | Sequence[Spec | Fault]) -> FaultyBackend:
    """A backend whose calls go wrong now and then; an environment takes ``faults=`` instead.

    Args:
        backend: What runs the calls.
        faults: One fault or several, see ``specs.get_fault``; the first is the nearest to the tools.

    Raises:
        ConfigurationError: There is no such fault or option.
    """
    return FaultyBackend(backend, get_faults(faults))


class FaultyBackend(WrappedBackend):
    """See ``faulty``."""

    def __init__(self, inner: ToolBackend, faults: Sequence[Fault]) -> None:
        super().__init__(inner)
        self._faults = tuple(faults)

    def wrap(self, session: Session, task: Task, seed: int) -> FaultySession:
        """The session with its faults."""
        return FaultySession(session, self._faults, seed)


class FaultySession(WrappedSession):
    """A session with faults; what befalls a call follows from the seed and the call's number."""

    def __init__(self, inner: Session, faults: Sequence[Fault], seed: int, spared: Spared | None = None) -> None:
        """Set the faults to work.

        Args:
            inner: What runs the calls.
            faults: The first is the nearest to ``inner``.
            seed: Everything random in them comes from it.
            spared: Answers that no fault may alter.
        """
        super().__init__(inner)
        self.faults: list[dict[str, Any]] = []
        """What was injected so far."""
        self._spared = spared
        self._number = -1
        self._layers = _at_work(faults, seed)
        self._sleeps = any(fault.waits for fault, _ in self._layers)

    @property
    def waits(self) -> bool:
        """Whether the session inside waits, or a fault does."""
        return self._sleeps or waits(self.inner)

    def record(self) -> dict[str, Any]:
        """What an episode's record keeps: ``counts``, name of a fault to how often it was injected, and the ``log``."""
        counts = Counter(entry["fault"] for entry in self.faults)
        return {"counts": dict(sorted(counts.items())), "log": [dict(entry) for entry in self.faults]}

    def before(self, call: ToolCall) -> ToolCall | ToolResult:
        """The call; or what is answered where a fault keeps it from being made."""
        self._number += 1
        for position in range(len(self._layers) - 1, -1, -1):
            fault, layer = self._layers[position]
            injection = layer.before(call, self._number) if fault.befalls(call) else None
            if injection is not None:
                return self._passed(call, self._noted(call, fault, injection), position + 1)
        return call

    def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """What the faults leave of a result."""
        return self._passed(call, result, 0)

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        ready = self.before(call)
        if self._sleeps:
            time.sleep(self._pause(call))
        return ready if isinstance(ready, ToolResult) else self.after(ready, self.inner.call(ready))

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, awaiting what waits."""
        ready = self.before(call)
        if self._sleeps:
            await asyncio.sleep(self._pause(call))
        return ready if isinstance(ready, ToolResult) else self.after(ready, await acall(self.inner, ready))

    def _pause(self, call: ToolCall) -> float:
        return sum([layer.pause(self._number) for fault, layer in self._layers if fault.befalls(call)])

    def _passed(self, call: ToolCall, result: ToolResult, first: int) -> ToolResult:
        """A result on its way out through the layers from the ``first`` on."""
        for fault, layer in self._layers[first:]:
            if not fault.befalls(call) or (fault.alters and self._spared is not None and self._spared(call, result)):
                continue
            try:
                injection = layer.after(call, self._number, result)
            except RecursionError:  # nested too deep to be copied
                continue
            if injection is not None:
                result = self._noted(call, fault, injection)
        return result

    def _noted(self, call: ToolCall, fault: Fault, injection: Injection) -> ToolResult:
        self.faults.append({"call": self._number, "tool": call.name, "fault": fault.name, **injection.details})
        return injection.result


def _at_work(faults: Sequence[Fault], seed: int) -> list[tuple[Fault, Layer]]:
    """The faults that occur in the session of this seed. What is drawn for one depends on no other: two of the same
    kind are told apart by their order among themselves."""
    layers, met = [], Counter[str]()
    for fault in faults:
        chance = Chance(seed, f"{fault.name}/{met[fault.name]}")
        met[fault.name] += 1
        if chance.draw("share") < fault.share:
            layers.append((fault, fault.open(chance)))
    return layers
