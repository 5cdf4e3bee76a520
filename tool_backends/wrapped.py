"""A backend around another: the base of what checks, limits, remembers or disturbs the calls of all its sessions::

    class Counting(WrappedBackend):
        def wrap(self, session: Session, task: Task, seed: int) -> Session:
            return CountingSession(session)

    backend = Counting(PythonBackend(functions))

Wrappers stand around each other in any order, and each is a backend again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import Session, ToolBackend

__all__ = ["WrappedBackend", "at_least_one", "duration"]

_LONGEST = 86_400.0


class WrappedBackend(ABC):
    """Opens the sessions of another backend, each in a wrapper of its own."""

    def __init__(self, inner: ToolBackend) -> None:
        self.inner = inner

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the backend inside; none where it does not know them."""
        return tuple(getattr(self.inner, "tools", ()))

    def open(self, task: Task, seed: int) -> Session:
        """A fresh session of the backend inside, wrapped."""
        return self.wrap(self.inner.open(task, seed), task, seed)

    @abstractmethod
    def wrap(self, session: Session, task: Task, seed: int) -> Session:
        """The session as it is reached through this wrapper."""


def duration(name: str, value: Any) -> float:
    """A number of seconds that an option can have.

    Raises:
        ConfigurationError: It is no number above 0, or more than a day.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LONGEST:
        raise ConfigurationError(f"{name} is a number of seconds above 0 and at most a day, got {value!r}")
    return float(value)


def at_least_one(name: str, value: Any) -> int:
    """A whole number that an option can have.

    Raises:
        ConfigurationError: It is no whole number of at least 1.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")
    return value
