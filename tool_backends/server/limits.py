"""How much a tool server takes: sessions, bytes, seconds::

limits = ServerLimits(max_sessions=100, session_seconds=600, call_seconds=10)
app = make_app("apibank/L1-v0", limits=limits)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from callgym.errors import ConfigurationError

__all__ = ["ServerLimits"]

_MAX_SECONDS = 604_800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Limits of one server; what goes beyond is refused with a status and a sentence."""

    max_sessions: int = 1024
    """Most sessions at the same time."""
    session_seconds: float = 900.0
    """How long a session lives without a request, in seconds."""
    max_body_bytes: int = 1_048_576
    """Longest body of a request, in bytes."""
    body_seconds: float = 10.0
    """Longest time for the head of a request to come, and then for its body, in seconds."""
    max_session_bytes: int = 33_554_432
    """Most bytes that the calls of one session may send in all, so that what it holds cannot grow without end."""
    max_result_bytes: int = 4_194_304
    """Longest answer of a tool as JSON, in bytes; a longer one becomes a ``tool_error``."""
    max_state_bytes: int = 16_777_216
    """Longest state as JSON, in bytes."""
    call_seconds: float = 60.0
    """Longest time for one call, in seconds, with its wait for earlier calls of its session."""
    max_calls: int = 256
    """Most calls at the same time, all sessions together, those that wait for their turn included."""
    threads: int = 64
    """Most threads that tools run in; those that await need none."""
    max_connections: int = 2048
    """Most connections at the same time."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_seconds"):
                if not _is_number(value) or not 0 < value <= _MAX_SECONDS:
                    raise ConfigurationError(
                        f"{field.name} is a number of seconds above 0 and at most a week, got {value!r}"
                    )
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"{field.name} is a whole number of at least 1, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
