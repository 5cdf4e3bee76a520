"""Errors: a call fails now and then, before it is made, or after, when its answer is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer
from callgym.tool_backends.faults.words import Failing, failure

__all__ = ["Errors"]

_KINDS = ("unavailable", "tool_error", "either")


@dataclass(frozen=True, kw_only=True)
class Errors(Fault):
    """Each call fails with the same probability."""

    name: ClassVar[str] = "errors"
    number: ClassVar[str] = "rate"

    rate: float = 0.1
    """The share of the calls that fail."""
    kind: str = "unavailable"
    """``"unavailable"``, ``"tool_error"`` or ``"either"``, drawn call by call."""
    after: bool = False
    """Whether the call is made, and only its answer is lost."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share("rate")
        self._check_choice("kind", _KINDS)
        self._check_flag("after")

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _ErrorsLayer(self, chance)


class _ErrorsLayer(Layer):
    def __init__(self, fault: Errors, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance

    def before(self, call: ToolCall, number: int) -> Injection | None:
        return None if self._fault.after else self._failed(number)

    def after(self, call: ToolCall, number: int, result: ToolResult) -> Injection | None:
        return self._failed(number) if self._fault.after else None

    def _failed(self, number: int) -> Injection | None:
        fault, chance = self._fault, self._chance
        if chance.draw("rate", number) >= fault.rate:
            return None
        kind: Failing = "unavailable"
        if fault.kind == "tool_error" or (fault.kind == "either" and chance.draw("kind", number) < 0.5):
            kind = "tool_error"
        return Injection(failure(kind, chance, number), {"error": kind, "made": fault.after})
