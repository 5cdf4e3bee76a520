"""Latency: answers take their time, and those that take too long do not come.

By default no time passes: a delay is drawn and compared with the limit. That is as fast as without, and the same on
every machine. With ``sleep=True`` the delay really passes, up to the limit; what is answered is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer, is_number
from callgym.tool_backends.faults.words import late

__all__ = ["Latency"]

_DISTRIBUTIONS = ("constant", "uniform", "exponential", "lognormal")
_DAY = 86_400.0
_normal = NormalDist()


@dataclass(frozen=True, kw_only=True)
class Latency(Fault):
    """A delay is drawn for each call; one beyond the limit is a ``timeout``."""

    name: ClassVar[str] = "latency"
    number: ClassVar[str] = "seconds"

    seconds: float = 2.0
    """The delay if ``constant``, the longest one if ``uniform``, the mean if ``exponential``, the median if
    ``lognormal``; in seconds."""
    distribution: str = "exponential"
    """How delays are distributed: ``"constant"``, ``"uniform"``, ``"exponential"`` or ``"lognormal"``."""
    shortest: float = 0.0
    """The shortest delay, in seconds; what is drawn otherwise comes on top of it, but for ``uniform``."""
    sigma: float = 1.0
    """Of ``lognormal``: standard deviation of the delay's logarithm."""
    limit: float = 5.0
    """The longest delay that is waited for, in seconds."""
    after: bool = False
    """Whether a call whose answer comes too late is made nevertheless."""
    sleep: bool = False
    """Whether the delay really passes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("seconds", "shortest", "sigma", "limit"):
            value = getattr(self, option)
            if not is_number(value) or not 0 <= value <= _DAY:
                raise ConfigurationError(f"fault 'latency': {option} is a number from 0 to 86400, got {value!r}")
        if not self.limit:
            raise ConfigurationError("fault 'latency': limit is more than 0 seconds")
        self._check_choice("distribution", _DISTRIBUTIONS)
        self._check_flag("after", "sleep")
        if self.distribution == "uniform" and self.shortest > self.seconds:
            raise ConfigurationError(
                f"fault 'latency': shortest={self.shortest!r} is more than the longest delay, seconds={self.seconds!r}"
            )

    @property
    def waits(self) -> bool:
        """See ``Fault``."""
        return self.sleep

    def delay(self, draw: float) -> float:
        """Seconds, by a number drawn from [0, 1)."""
        if self.distribution == "uniform":
            return self.shortest + draw * (self.seconds - self.shortest)
        if self.distribution == "constant":
            return self.shortest + self.seconds
        if self.distribution == "exponential":
            return self.shortest - self.seconds * math.log1p(-draw)
        scale = math.exp(min(self.sigma * _normal.inv_cdf(max(draw, 1e-16)), 700.0))
        return self.shortest + self.seconds * scale

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _LatencyLayer(self, chance)


class _LatencyLayer(Layer):
    def __init__(self, fault: Latency, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance

    def _delay(self, number: int) -> float:
        return self._fault.delay(self._chance.draw("delay", number))

    def pause(self, number: int) -> float:
        return min(self._delay(number), self._fault.limit) if self._fault.sleep else 0.0

    def before(self, call: ToolCall, number: int) -> Injection | None:
        return None if self._fault.after else self._late(number)

    def after(self, call: ToolCall, number: int, result: ToolResult) -> Injection | None:
        return self._late(number) if self._fault.after else None

    def _late(self, number: int) -> Injection | None:
        delay, limit = self._delay(number), self._fault.limit
        if delay <= limit:
            return None
        return Injection(late(limit), {"error": "timeout", "made": self._fault.after, "seconds": round(delay, 3)})
