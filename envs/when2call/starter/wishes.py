"""What users want of a tool, drawn: the words, what they say and leave unsaid, and the tool that would fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from callgym.envs.bfcl.golds import accepted_values
from callgym.envs.bfcl.starter.functions_model import Function, Parameter
from callgym.envs.bfcl.starter.functions_values import Said
from callgym.envs.bfcl.starter.single_calls import Call, Group, draw_calls, pick
from callgym.envs.bfcl.starter.single_questions import Voice
from callgym.envs.when2call.starter.errand_model import Errand, Gap, eased, raised, silent
from callgym.envs.when2call.starter.errands_catalogue import ERRANDS

__all__ = ["Wish", "arguments_of", "draw_wish", "invented", "speak"]

_HURRIED = 0.3
_THINKABLE = 0.6  # how often a thinkable errand stands when it is drawn
_CHANGED = 0.5  # the share of complete requests to which the tool was fitted: one more parameter optional or demanded


@dataclass(frozen=True, slots=True)
class Wish:
    """A request for an errand."""

    errand: Errand
    text: str
    call: Call
    """What the user gives, as a call of the function that lets the gap be."""
    gap: Gap | None
    """What the user says nothing of, if that may matter."""

    def demanding(self) -> Function:
        """The function as it is documented where the gap must be filled."""
        if self.gap is None:
            raise ValueError("the request leaves no gap")
        return self.errand.function if self.gap.clauses else raised(self.errand, self.gap)


def draw_wish(rng: Random, split: str, leave_gap: bool, thinkable: bool) -> Wish | None:
    """A request of a user.

    Args:
        rng: Where chance comes from.
        split: ``"train"`` or ``"test"``.
        leave_gap: Whether something is to be left unsaid.
        thinkable: Whether it may be something that one could do in one's head.

    Returns:
        None where this throw of the dice gives none.
    """
    errand: Errand = pick(rng, ERRANDS)
    if errand.thinkable and not (thinkable and rng.random() < _THINKABLE):
        return None
    gap: Gap | None = pick(rng, errand.gaps) if leave_gap else None
    function = silent(errand, gap) if gap is not None else _complete(rng, errand)
    hurried = rng.random() < _HURRIED
    group = _group(rng, split, function, hurried and rng.random() < 0.5)
    if group is None:
        return None
    return Wish(errand, Voice(rng, split, hurried).ask([group]), group.calls[0], gap)


def speak(rng: Random, split: str, template: str, said: Mapping[str, str]) -> str:
    """A request that is no errand, in the same voices."""
    return Voice(rng, split, rng.random() < _HURRIED).wish(template, said)


def _complete(rng: Random, errand: Errand) -> Function:
    """The function of a request that leaves no gap."""
    if rng.random() >= _CHANGED:
        return errand.function
    gap: Gap = pick(rng, errand.gaps)
    return eased(errand, gap) if gap.clauses else raised(errand, gap)


def _group(rng: Random, split: str, function: Function, plain: bool) -> Group | None:
    if any("{" in clause for clause in function.clauses):
        return draw_calls(rng, split, function, plain=plain)
    # A request without any value: there is no call that could be of one split only, but there are the words.
    clauses = function.clauses[:2] if split == "train" else function.clauses[2:]
    return Group((Call(function, {}),), pick(rng, clauses), {})


@cache
def _parameters(function: Function) -> Mapping[str, Parameter]:
    return {parameter.name: parameter for parameter in function.parameters}


def arguments_of(function: Function, said: Mapping[str, Said]) -> dict[str, Any]:
    """What was said as the arguments of a call."""
    known = _parameters(function)
    return {name: _plain(known[name], value) for name, value in said.items() if name in known}


def _plain(parameter: Parameter, said: Said) -> Any:
    """The first plain value: of an accepted dict, one value for each key."""
    return next(iter(accepted_values([said.accepted[0]], parameter.kind.schema(), "python")))


def invented(rng: Random, function: Function, said: Mapping[str, Said]) -> dict[str, Said]:
    """What was said, and something for each parameter that the function requires besides."""
    given = {name: value for name, value in said.items() if name in _parameters(function)}
    for parameter in function.parameters:
        if parameter.required and parameter.name not in given:
            given[parameter.name] = parameter.kind.draw(rng, True)
    return given
