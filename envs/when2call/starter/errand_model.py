"""What an errand is: a function of BFCL's starter catalogue, and what may be left unsaid when users want it.

A gap is a parameter of which a question says nothing. Whether that matters is up to the tool: where the parameter
has a default the call can be made, where it is required one has to ask. Both kinds of tool are offered, so the same
questions come with both decisions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS
from callgym.envs.bfcl.starter.functions_model import REQUIRED, Function, Parameter

__all__ = ["Errand", "Gap", "by_name", "eased", "raised", "silent"]

_IF_LEFT_OUT = re.compile(r"; [^;.]* if left out")


@dataclass(frozen=True, eq=False, slots=True)
class Gap:
    """A parameter that a question may say nothing of."""

    parameter: str
    noun: str
    """What is asked for: it goes on ``Could you tell me``, and names the parameter."""
    clauses: tuple[str, ...] = ()
    """Requests that give all that is required but this, in the form of ``Function.clauses``; none for an optional
    parameter, of which the function's own requests say nothing."""
    otherwise: str = ""
    """What counts where it is left out, for the document of a tool that lets it be."""
    default: Any = None
    """The value that counts then, if there is one."""


@dataclass(frozen=True, eq=False, slots=True)
class Errand:
    """Something users want done with a function."""

    name: str
    """The function's."""
    deed: str
    """What the function does, after ``to``."""
    made_up: tuple[str, ...]
    """Replies that pretend to know. Placeholders: the required parameters and ``figures.made_up``'s."""
    gaps: tuple[Gap, ...]
    thinkable: bool = False
    """Whether somebody might do it in their head. Then nobody can say that lacking the tool it cannot be done."""

    @property
    def function(self) -> Function:
        """The function, as BFCL's starter tasks have it."""
        return by_name()[self.name]

    @property
    def required_gaps(self) -> tuple[Gap, ...]:
        """The gaps that leave out what the function requires."""
        return tuple(gap for gap in self.gaps if gap.clauses)

    @property
    def optional_gaps(self) -> tuple[Gap, ...]:
        """The gaps that leave out what the function does not require."""
        return tuple(gap for gap in self.gaps if not gap.clauses)


@cache
def by_name() -> Mapping[str, Function]:
    """The catalogue's Python functions by name."""
    return {function.name: function for function in FUNCTIONS["python"]}


@cache
def eased(errand: Errand, gap: Gap) -> Function:
    """The function with the gap's required parameter made optional; users give it all the same."""
    return _changed(errand.function, _optional(errand.function, gap))


@cache
def silent(errand: Errand, gap: Gap) -> Function:
    """The function with the gap's parameter optional, asked for in words that say nothing of it."""
    function = errand.function
    differ = None if function.differ and gap.parameter in function.differ else function.differ
    changed = _changed(function, _optional(function, gap))
    return replace(changed, clauses=gap.clauses or function.clauses, differ=differ)


@cache
def raised(errand: Errand, gap: Gap) -> Function:
    """The function with the gap's optional parameter required; users always give it."""
    function = errand.function
    before = _parameter(function, gap)
    after = Parameter(before.name, before.kind, _IF_LEFT_OUT.sub("", before.description), REQUIRED)
    clauses = tuple(_with_tail(clause, tail) for clause in function.clauses for tail in before.tails[:1])
    return replace(_changed(function, after), clauses=clauses)


def _optional(function: Function, gap: Gap) -> Parameter:
    before = _parameter(function, gap)
    if not before.required:
        return replace(before, tails=())
    description = f"{before.description} {gap.otherwise}".rstrip()
    return Parameter(before.name, before.kind, description, gap.default)


def _parameter(function: Function, gap: Gap) -> Parameter:
    return next(parameter for parameter in function.parameters if parameter.name == gap.parameter)


def _changed(function: Function, parameter: Parameter) -> Function:
    parameters = tuple(parameter if old.name == parameter.name else old for old in function.parameters)
    return replace(function, parameters=parameters, foreign={})


def _with_tail(clause: str, tail: str) -> str:
    """The request that also gives what the tail says; the mark at its end stays there."""
    body, end = (clause[:-1], clause[-1]) if clause[-1] in "?." else (clause, "")
    return f"{body}{tail}{end}"
