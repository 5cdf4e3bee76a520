"""Outage: tools are down for a while, all together or one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from callgym.call import ToolCall
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer
from callgym.tool_backends.faults.words import down

__all__ = ["Outage"]


@dataclass(frozen=True, kw_only=True)
class Outage(Fault):
    """Time is told in calls of the session, and falls into windows; in some of them nothing is answered."""

    name: ClassVar[str] = "outage"
    number: ClassVar[str] = "rate"

    rate: float = 0.1
    """The share of the windows in which tools are down."""
    window: int = 4
    """A window's length, in calls of any tool; where the first one ends is drawn."""
    by: str = "all"
    """``"all"``: all tools are down at the same time; ``"tool"``: each for itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share("rate")
        self._check_count("window")
        self._check_choice("by", ("all", "tool"))

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _OutageLayer(self, chance)


class _OutageLayer(Layer):
    def __init__(self, fault: Outage, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance
        self._offset = chance.below(fault.window, "offset")

    def before(self, call: ToolCall, number: int) -> Injection | None:
        window = (number + self._offset) // self._fault.window
        whose = call.name if self._fault.by == "tool" else ""
        if self._chance.draw("down", window, whose) >= self._fault.rate:
            return None
        return Injection(down(self._chance, window), {"error": "unavailable", "made": False})
