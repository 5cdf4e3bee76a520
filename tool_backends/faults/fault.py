"""What a fault is: a frozen value whose fields are its options, and which goes to work anew in every session.

A ``Layer`` is a fault at work. It may answer a call instead of the tool (``before``), or change what was answered
(``after``); both say what they did, for the record. Numbers of calls count all calls of the session, from 0: what
befalls one call depends on its number, so that other faults change nothing about it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.tool_backends.faults.chance import Chance

__all__ = ["Fault", "Injection", "Layer", "Spec"]

Spec = str | Mapping[str, Any]
"""A fault as JSON: its name, ``"name:number"``, or an object with ``name`` and options; see ``specs.get_fault``."""


class Injection(NamedTuple):
    """What a fault did to a call."""

    result: ToolResult
    """What is answered instead."""
    details: dict[str, Any]
    """What was done, as JSON, for the record."""


class Layer:
    """A fault at work in one session; by itself it does nothing."""

    def before(self, call: ToolCall, number: int) -> Injection | None:
        """What is answered to a call that is then not made; None where it is made."""
        return None

    def after(self, call: ToolCall, number: int, result: ToolResult) -> Injection | None:
        """What is answered instead of ``result``; None where it stands."""
        return None

    def pause(self, number: int) -> float:
        """Seconds that really pass before anything is answered."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class Fault(ABC):
    """Base of all faults; the fields of a subclass are its options."""

    name: ClassVar[str]
    """What specs call it."""
    number: ClassVar[str]
    """The option that a number behind the name's colon is."""
    alters: ClassVar[bool] = False
    """Whether it changes what is in an answer."""

    tools: tuple[str, ...] | None = None
    """Names of the tools that it befalls, as the backend knows them; None for all."""
    share: float = 1.0
    """The share of the episodes in which it occurs."""

    def __post_init__(self) -> None:
        if self.tools is not None:
            object.__setattr__(self, "tools", names("tools", self.tools))
        self._check_share("share")

    @abstractmethod
    def open(self, chance: Chance) -> Layer:
        """The fault at work in a fresh session."""

    def befalls(self, call: ToolCall) -> bool:
        """Whether it is about this tool."""
        return self.tools is None or call.name in self.tools

    @property
    def waits(self) -> bool:
        """Whether time really passes."""
        return False

    @property
    def spec(self) -> Any:
        """The spec that makes it again: its name, with its number, or an object with the options that differ from
        their defaults."""
        options = {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }
        if not options:
            return self.name
        if list(options) == [self.number]:
            number = options[self.number]
            return f"{self.name}:{float(number) if isinstance(number, float) else number!r}"
        return {"name": self.name, **options}

    # What options can be.

    def _check_share(self, *options: str) -> None:
        for option in options:
            value = getattr(self, option)
            if not is_number(value) or not 0 <= value <= 1:
                raise ConfigurationError(f"fault {self.name!r}: {option} is a share from 0 to 1, got {value!r}")

    def _check_count(self, *options: str) -> None:
        for option in options:
            value = getattr(self, option)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(
                    f"fault {self.name!r}: {option} is a whole number of at least 1, got {value!r}"
                )

    def _check_choice(self, option: str, known: Collection[str]) -> None:
        value = getattr(self, option)
        if value not in tuple(known):
            listed = ", ".join(map(repr, known))
            raise ConfigurationError(f"fault {self.name!r}: {option} is one of {listed}, got {value!r}")

    def _check_flag(self, *options: str) -> None:
        for option in options:
            value = getattr(self, option)
            if not isinstance(value, bool):
                raise ConfigurationError(f"fault {self.name!r}: {option} is true or false, got {value!r}")


def names(option: str, given: Any) -> tuple[str, ...]:
    """A list of names as a tuple. Raises ConfigurationError where it is none."""
    listed = isinstance(given, Collection) and not isinstance(given, (str, bytes, Mapping))
    if not listed or not given or not all(isinstance(name, str) for name in given):
        raise ConfigurationError(f"a fault's {option} is a list of names, got {given!r}")
    return tuple(given)


def is_number(value: Any) -> bool:
    """Whether an option's value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
