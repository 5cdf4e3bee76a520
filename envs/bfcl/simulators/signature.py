"""What a tool takes, and what Python says of a call that does not fit.

Source: ``bfcl-eval`` 2026.3.23 shows the text of the TypeError; the wording here is CPython 3.11's, on any version.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgym.envs.bfcl.simulators.base import Simulator, tools_of

__all__ = ["Signature", "signatures_of"]


@dataclass(frozen=True, slots=True)
class Signature:
    """One tool of one class."""

    owner: str
    """The class."""
    name: str
    function: Callable[..., Any]
    """The method, unbound."""
    parameters: tuple[str, ...]
    """Names in order, ``self`` left out."""
    known: frozenset[str]
    required: frozenset[str]

    def fault(self, positional: Sequence[Any], arguments: Mapping[str, Any]) -> str | None:
        """None where the arguments can be bound, else the text of the TypeError."""
        if not positional and self.required <= arguments.keys() <= self.known:
            return None
        return self._keyword_fault(positional, arguments) or self._count_fault(positional, arguments)

    def _keyword_fault(self, positional: Sequence[Any], arguments: Mapping[str, Any]) -> str | None:
        given = {"self", *self.parameters[: len(positional)]}
        for name in arguments:
            if name in given:
                return f"{self._title} got multiple values for argument '{name}'"
            if name not in self.known:
                return f"{self._title} got an unexpected keyword argument '{name}'"
        return None

    def _count_fault(self, positional: Sequence[Any], arguments: Mapping[str, Any]) -> str | None:
        most = len(self.parameters) + 1  # Python counts self
        least = len(self.required) + 1
        given = len(positional) + 1
        if given > most:
            takes = f"{most} positional argument{'' if most == 1 else 's'}"
            takes = takes if least == most else f"from {least} to {most} positional arguments"
            return f"{self._title} takes {takes} but {given} were given"
        missing = [n for n in self.parameters[len(positional) :] if n in self.required and n not in arguments]
        if not missing:
            return None
        plural = "" if len(missing) == 1 else "s"
        return f"{self._title} missing {len(missing)} required positional argument{plural}: {_listed(missing)}"

    @property
    def _title(self) -> str:
        return f"{self.owner}.{self.name}()"

    def is_typed(self, positional: Sequence[Any], arguments: Mapping[str, Any]) -> bool:
        """Whether every argument is of the annotated type, so that an error in the tool is the tool's own."""
        hints = typing.get_type_hints(self.function)
        given = {**dict(zip(self.parameters, positional, strict=False)), **arguments}
        return all(_fits(value, hints.get(name, Any)) for name, value in given.items())


def signatures_of(owner: str, simulator: type[Simulator]) -> dict[str, Signature]:
    """Tool name to signature, of a class."""
    return {name: _signature(owner, name, function) for name, function in tools_of(simulator).items()}  # type: ignore[arg-type]


def _signature(owner: str, name: str, function: Callable[..., Any]) -> Signature:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    names = tuple(parameter.name for parameter in parameters)
    required = frozenset(p.name for p in parameters if p.default is inspect.Parameter.empty)
    return Signature(owner, name, function, names, frozenset(names), required)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, option) for option in inner)
    if origin is list:
        return type(value) is list and (not inner or all(_fits(item, inner[0]) for item in value))
    if origin is dict:
        return type(value) is dict and (
            not inner or all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
        )
    if hint is float:
        return type(value) in (int, float)
    return value is None if hint in (None, type(None)) else type(value) is hint
