"""What a function of the catalogue is: BFCL's document of it, and how users ask for it.

A clause is an imperative without its capital and full stop, a question that ends in "?", or a whole statement that
ends in ".". A placeholder is the name of a required parameter. Text after "|" holds all that differs from call to
call: several calls of one function may share the text before it. An optional parameter is said by one of its
``tails``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.starter.functions_values import Kind
from callgym.envs.bfcl.tools import make_tool
from callgym.tool import Tool

__all__ = ["REQUIRED", "Function", "Parameter", "document", "live_name", "needed", "optional", "tool"]

REQUIRED = object()
"""Stands for the default of a parameter that has none and must be given."""


@dataclass(frozen=True, eq=False, slots=True)
class Parameter:
    """A parameter, what may be said for it, and how."""

    name: str
    kind: Kind
    description: str
    default: Any = REQUIRED
    tails: tuple[str, ...] = ()
    """How a request goes on that gives an optional one; with its placeholder."""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED


def needed(name: str, kind: Kind, description: str) -> Parameter:
    """A parameter that must be given."""
    return Parameter(name, kind, description)


def optional(name: str, kind: Kind, description: str, default: Any, *tails: str) -> Parameter:
    """A parameter that may be left out.

    Args:
        name: Its name.
        kind: What may be given.
        description: What it means.
        default: What counts if it is left out; None where nothing does.
        tails: How a request goes on that gives it.
    """
    return Parameter(name, kind, description, default, tails)


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """A function, and how users ask for it; one without clauses is only ever offered beside others."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    clauses: tuple[str, ...] = ()
    """Requests that name every required parameter."""
    lists: str = ""
    """A parameter for which a clause may name several values, one for each of several calls."""
    differ: tuple[str, str] | None = None
    """Two parameters of one call that must not be equal."""
    foreign: Mapping[str, str] = field(default_factory=dict)
    """Language code to a whole request in that language."""
    language: Language = "python"

    @property
    def domain(self) -> str:
        """What its name begins with: ``geometry``."""
        return self.name.partition(".")[0]


def document(function: Function, live: bool = False) -> dict[str, Any]:
    """The function's document in BFCL's form; ``live`` ones are named as in somebody's program."""
    required = [parameter.name for parameter in function.parameters if parameter.required]
    return {
        "name": live_name(function) if live else function.name,
        "description": function.description,
        "parameters": {
            "type": "dict",
            "properties": {p.name: _property(p, function.language) for p in function.parameters},
            "required": required,
        },
    }


def _property(parameter: Parameter, language: Language) -> dict[str, Any]:
    entry = {**parameter.kind.schema(language), "description": parameter.description}
    if parameter.required:
        return entry
    if parameter.default is None:
        return {**entry, "description": f"{parameter.description} Optional."}
    shown = _shown(parameter.default)
    return {**entry, "description": f"{parameter.description} Default is {shown}.", "default": parameter.default}


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, list):
        return "an empty list" if not default else ", ".join(map(str, default))
    return f"'{default}'" if isinstance(default, str) else str(default)


@cache
def tool(function: Function, live: bool = False) -> Tool:
    """The function as a Tool, with its document under ``meta["bfcl"]``."""
    return make_tool(document(function, live), function.language)


@cache
def live_name(function: Function) -> str:
    """The function's name in a live category: every domain has its own way of naming, as users' programs have."""
    domain, _, own = function.name.rpartition(".")
    style = hashlib.blake2b(domain.encode(), digest_size=1).digest()[0] % 4
    camel = "".join(part.title() for part in own.split("_"))
    if style == 0 or not domain:
        return function.name
    if style == 1:
        return f"{domain}_{own}"
    if style == 2:
        return f"{domain.title()}Service.{camel[0].lower()}{camel[1:]}"
    return f"{domain.title()}_1_{camel}"
