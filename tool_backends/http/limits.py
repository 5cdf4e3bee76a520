"""What a call over HTTP may cost: one value with every limit, and the limit on how often calls leave::

    limits = HttpLimits(timeout_s=5, attempts=2, calls_per_second=10)
    backend = RestBackend(endpoints, limits=limits)

A limit holds for one backend in one process; processes know nothing of each other.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, fields

from callgym.errors import ConfigurationError

__all__ = ["HttpLimits", "RateLimit"]

_WHOLE_NUMBERS = {
    "attempts": 1,
    "max_response_bytes": 1,
    "max_request_bytes": 1,
    "max_redirects": 0,
    "burst": 1,
    "connections": 1,
}
_MAX_TIMEOUT_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Limits of one backend; the defaults suit services on the internet."""

    timeout_s: float = 30.0
    """Longest time for one call, in seconds: all attempts, waits and redirects together."""
    attempts: int = 3
    """Most attempts for one call."""
    backoff_s: float = 0.25
    """First wait before another attempt, in seconds; it doubles each time, and half of it more or less is chance."""
    max_response_bytes: int = 1_048_576
    """Longest answer, in bytes, after decompression."""
    max_request_bytes: int = 1_048_576
    """Longest body of a request, in bytes."""
    max_redirects: int = 3
    """Most redirects of one call; they stay on the same host and scheme."""
    calls_per_second: float | None = None
    """Most requests in a second, all sessions of the backend together; None for no limit."""
    burst: int = 1
    """How many requests may leave at once under ``calls_per_second`` after a pause."""
    connections: int = 128
    """Most connections at the same time, for ``call`` and for ``acall`` each; more calls wait for their turn, within
    their time limit."""

    def __post_init__(self) -> None:
        for name, least in _WHOLE_NUMBERS.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigurationError(f"{name} is a whole number of at least {least}, got {value!r}")
        if not _is_number(self.timeout_s) or not 0 < self.timeout_s <= _MAX_TIMEOUT_S:
            raise ConfigurationError(
                f"timeout_s is a number of seconds above 0 and at most a day, got {self.timeout_s!r}"
            )
        if not _is_number(self.backoff_s) or not self.backoff_s >= 0:
            raise ConfigurationError(f"backoff_s is a number of seconds of at least 0, got {self.backoff_s!r}")
        rate = self.calls_per_second
        if rate is not None and (not _is_number(rate) or not rate > 0):
            raise ConfigurationError(f"calls_per_second is a number above 0, or None for no limit, got {rate!r}")

    @classmethod
    def checked(cls, limits: HttpLimits | None) -> HttpLimits:
        """The limits, or the defaults for None. Raises ConfigurationError for anything else."""
        if limits is None:
            return cls()
        if not isinstance(limits, cls):
            names = ", ".join(field.name for field in fields(cls))
            raise ConfigurationError(f"limits is an HttpLimits({names}), got {limits!r:.80}")
        return limits


class RateLimit:
    """A token bucket that several threads and loops share: it says how long the next request has to wait."""

    def __init__(self, per_second: float, burst: int = 1) -> None:
        self._interval = 1.0 / per_second
        self._slack = (burst - 1) * self._interval
        self._full_at = -math.inf
        self._lock = threading.Lock()

    def reserve(self, now: float, latest: float) -> float | None:
        """Seconds until the request may leave; its place is taken with that.

        Args:
            now: The time, in seconds of a clock that never goes back.
            latest: When the request must have left; None comes back, and no place is taken, if it cannot by then.
        """
        with self._lock:
            at = max(now, self._full_at - self._slack)
            if at >= latest:
                return None
            self._full_at = max(self._full_at, now) + self._interval
            return at - now


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
