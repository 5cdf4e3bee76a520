"""The ids that ``import callgym`` registers with Gymnasium.

Entry points are text, so nothing heavy is imported before the first ``gym.make``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from callgym.errors import ConfigurationError

__all__ = ["ENVIRONMENTS", "EnvironmentEntry", "find_environment", "register_all"]


@dataclass(frozen=True, slots=True)
class EnvironmentEntry:
    """One registered id."""

    id: str
    """What ``gym.make`` takes."""
    entry_point: str
    """``module:class``."""
    protocol: str
    """``single``, ``step`` or ``dialogue``."""
    summary: str
    """One line for a list."""
    options: tuple[tuple[str, Any], ...] = ()
    """Arguments that this id fixes."""

    @property
    def family(self) -> str:
        """The benchmark."""
        return self.id.partition("/")[0]


_APIBANK = "callgym.envs.apibank.env:ApiBankEnv"

ENVIRONMENTS: tuple[EnvironmentEntry, ...] = (
    EnvironmentEntry("apibank/L1-v0", _APIBANK, "step", "call: the tools are documented", (("level", 1),)),
    EnvironmentEntry(
        "apibank/L2-v0", _APIBANK, "step", "retrieve and call: search for the tool first", (("level", 2),)
    ),
    EnvironmentEntry(
        "apibank/L3-v0",
        _APIBANK,
        "step",
        "plan, retrieve and call: one requirement, several calls",
        (("level", 3),),
    ),
)
"""All ids that CallGym registers."""


def register_all() -> None:
    """Register every id with Gymnasium; ids that are registered already are left alone."""
    for entry in ENVIRONMENTS:
        if entry.id not in gym.registry:
            # ToolEnv enforces the order of calls itself, with the same error.
            gym.register(entry.id, entry_point=entry.entry_point, kwargs=dict(entry.options), order_enforce=False)


def find_environment(id: str) -> EnvironmentEntry:
    """The entry of one of CallGym's ids.

    Raises:
        ConfigurationError: There is no such id; the message lists those there are.
    """
    for entry in ENVIRONMENTS:
        if entry.id == id:
            return entry
    raise ConfigurationError(f"no environment {id!r}; there are: {', '.join(e.id for e in ENVIRONMENTS)}")
