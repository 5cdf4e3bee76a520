"""What a simulator of one of BFCL's executable classes is.

Behaviour and result strings follow ``bfcl-eval`` 2026.3.23, faults included. A simulator's public methods are
its tools, with the official parameter names and defaults; what they return is the value that the official
method returns. A method that refuses by raising raises Refusal. Nothing is evaluated, nothing is shared between
instances, nothing random but ``self._random``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

__all__ = ["Refusal", "Simulator", "Tables", "result_text", "tools_of"]


class Refusal(Exception):
    """A tool refuses as the official code does by raising; the text is what it says."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What the classes know beside their state."""

    constants: Mapping[str, Any]
    """The content of ``env_constants.json``, or of the starter set's own tables in the same form."""
    long_context: Mapping[str, Any] = field(default_factory=dict)
    """The padding by name; empty where nothing is padded."""
    class_of: Callable[[str], type[Simulator]] | None = None
    """Where the classes themselves come from, by official name; None: our simulators."""


class Simulator:
    """One instance of one class, for one episode."""

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        """Load a scenario.

        Args:
            config: The class's part of ``initial_config``; it is not changed and nothing of it is kept.
            tables: What the class knows.
            long_context: Whether answers are padded.
        """
        raise NotImplementedError

    compared: ClassVar[tuple[str, ...]] = ()
    """The attributes that the official state check compares: those without a leading underscore."""

    def public_state(self) -> dict[str, Any]:
        """Attribute to value, of all ``compared``, as plain lists, dicts, texts, numbers and None; what is returned
        may share the instance's own objects, so the caller must not change it."""
        return {name: getattr(self, name) for name in self.compared}


@cache
def tools_of(simulator: type[Simulator]) -> dict[str, Callable[..., Any]]:
    """Name to function of a class's tools: its own public methods, ``public_state`` left out."""
    return {
        name: member
        for name, member in inspect.getmembers(simulator, inspect.isfunction)
        if not name.startswith("_") and name != "public_state"
    }


def result_text(value: Any) -> str:
    """A method's result as the official harness writes it: text as it is, objects as JSON, the rest by ``str``."""
    if type(value) is str:
        return value
    if type(value) is dict:
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            return str(value)
    return str(value)
