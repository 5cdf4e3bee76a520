"""What talking to an MCP server may cost: one value with every limit::

limits = McpLimits(timeout_s=5, max_response_bytes=100_000)
backend = McpBackend.stdio("weather-server", limits=limits)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from callgym.errors import ConfigurationError

__all__ = ["McpLimits"]

_TIMES = ("timeout_s", "start_timeout_s", "close_s")
_SIZES = ("max_response_bytes", "max_request_bytes", "max_tools")
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpLimits:
    """Limits of one backend."""

    timeout_s: float = 30.0
    """Longest time for one call, in seconds, once the server has been started."""
    start_timeout_s: float = 30.0
    """Longest time for a server to start and shake hands, in seconds: the first call of a session may take as much
    longer."""
    close_s: float = 1.0
    """How long a server may take to end by itself when its session is closed, in seconds; then it is killed."""
    max_response_bytes: int = 1_048_576
    """Longest message of a server, in bytes. A server that writes 16 times as much (at most 64 MiB) without having been
    asked anything new is ended."""
    max_request_bytes: int = 1_048_576
    """Longest arguments of a call, in bytes of JSON."""
    max_tools: int = 1_000
    """Most tools of a server."""

    def __post_init__(self) -> None:
        for name in _TIMES:
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            if not number or not 0 < value <= _DAY_S:
                raise ConfigurationError(f"{name} is a number of seconds above 0 and at most a day, got {value!r}")
        for name in _SIZES:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")

    @classmethod
    def checked(cls, limits: McpLimits | None) -> McpLimits:
        """The limits, or the defaults for None. Raises ConfigurationError for anything else."""
        if limits is None:
            return cls()
        if not isinstance(limits, cls):
            names = ", ".join(field.name for field in fields(cls))
            raise ConfigurationError(f"limits is an McpLimits({names}), got {limits!r:.80}")
        return limits
