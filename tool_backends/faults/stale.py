"""Stale answers: what a tool answered before is answered again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.json_value import copy_trusted
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer

__all__ = ["Stale"]


@dataclass(frozen=True, kw_only=True)
class Stale(Fault):
    """Some calls get the last answer that the same tool gave in this session, whatever it was asked then."""

    name: ClassVar[str] = "stale"
    number: ClassVar[str] = "rate"

    rate: float = 0.1
    """The share of the calls that get an earlier answer, where there is one."""
    made: bool = True
    """Whether the call is made nevertheless, and only its answer is lost."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share("rate")
        self._check_flag("made")

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _StaleLayer(self, chance)


class _StaleLayer(Layer):
    def __init__(self, fault: Stale, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance
        self._answers: dict[str, tuple[int, Any]] = {}  # by tool: the last answer, and to which call

    def before(self, call: ToolCall, number: int) -> Injection | None:
        return None if self._fault.made else self._earlier(call, number)

    def after(self, call: ToolCall, number: int, result: ToolResult) -> Injection | None:
        if result.error is not None:
            return None
        earlier = self._earlier(call, number) if self._fault.made else None
        self._answers[call.name] = number, result.content
        return earlier

    def _earlier(self, call: ToolCall, number: int) -> Injection | None:
        if call.name not in self._answers or self._chance.draw("rate", number) >= self._fault.rate:
            return None
        since, content = self._answers[call.name]
        result = ToolResult.trusted(content=copy_trusted(content), error=None, message="")
        return Injection(result, {"answer_to": since, "made": self._fault.made})
