"""Limits: how long a step and an episode may take, and how often an episode is tried."""

from __future__ import annotations

from dataclasses import dataclass

from callgym.errors import ConfigurationError

__all__ = ["RolloutLimits"]


@dataclass(frozen=True, slots=True)
class RolloutLimits:
    """Within which episodes are played. What breaks them becomes a ``Failure`` on record, and stops nothing else."""

    step_seconds: float | None = None
    """Most seconds of one step, its tools included; no limit by default. A step that never gives way, as a loop in a
    tool written in Python, can be ended only on a Ray worker, whose process is then replaced."""
    episode_seconds: float | None = None
    """Most seconds that an episode's steps take together, without the time in which it waits for the policy."""
    attempts: int = 3
    """How often an episode is begun, from its seed, before it counts as failed."""

    def __post_init__(self) -> None:
        for name in ("step_seconds", "episode_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigurationError(f"{name} is above 0, or None for no limit; got {value!r}")
        if not isinstance(self.attempts, int) or isinstance(self.attempts, bool) or self.attempts < 1:
            raise ConfigurationError(f"attempts is a whole number of at least 1, got {self.attempts!r}")
