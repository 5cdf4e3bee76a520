"""Rate limit: of so many successive calls only a few are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from callgym.call import ToolCall
from callgym.errors import ConfigurationError
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer
from callgym.tool_backends.faults.words import too_many

__all__ = ["RateLimit"]


@dataclass(frozen=True, kw_only=True)
class RateLimit(Fault):
    """Time is told in calls of the session: in each window of ``window`` of them, ``calls`` are answered."""

    name: ClassVar[str] = "rate_limit"
    number: ClassVar[str] = "calls"

    calls: int = 3
    """How many calls of a window are answered."""
    window: int = 6
    """A window's length, in calls of any tool; where the first one ends is drawn."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("calls", "window")
        if self.calls > self.window:
            raise ConfigurationError(
                f"fault 'rate_limit': calls={self.calls} of a window of {self.window} are no limit"
            )

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _RateLimitLayer(self, chance)


class _RateLimitLayer(Layer):
    def __init__(self, fault: RateLimit, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance
        self._offset = chance.below(fault.window, "offset")
        self._window = -1
        self._made = 0

    def before(self, call: ToolCall, number: int) -> Injection | None:
        window = (number + self._offset) // self._fault.window
        if window != self._window:
            self._window, self._made = window, 0
        if self._made < self._fault.calls:
            self._made += 1
            return None
        return Injection(too_many(self._chance, self._fault.calls), {"error": "unavailable", "made": False})
