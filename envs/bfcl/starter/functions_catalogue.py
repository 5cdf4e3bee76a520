"""All functions that the starter tasks of one turn are made of."""

from __future__ import annotations

from functools import cache

from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.starter import (
    functions_code,
    functions_leisure,
    functions_science,
    functions_trade,
    functions_work,
)
from callgym.envs.bfcl.starter.functions_model import Function

__all__ = ["FUNCTIONS", "asked_functions", "near_functions"]

_PYTHON = (
    *functions_science.FUNCTIONS,
    *functions_trade.FUNCTIONS,
    *functions_leisure.FUNCTIONS,
    *functions_work.FUNCTIONS,
)

FUNCTIONS: dict[Language, tuple[Function, ...]] = {
    "python": _PYTHON,
    "java": functions_code.JAVA_FUNCTIONS,
    "javascript": functions_code.JAVASCRIPT_FUNCTIONS,
}
"""Language to its functions."""

_FIELDS = (
    ("units", "geometry", "matrix", "statistics"),
    ("astronomy", "weather"),
    ("chemistry", "units", "kitchen"),
    ("finance", "shop", "energy"),
    ("logistics", "warehouse", "shop", "travel"),
    ("travel", "museum", "restaurant", "weather"),
    ("botany", "garden", "chemistry"),
    ("music", "film", "library", "language"),
    ("kitchen", "restaurant", "health"),
    ("health", "sport"),
    ("calendar", "mail", "tasks", "notes"),
    ("files", "backup", "config", "table"),
    ("home", "energy", "config"),
    ("school", "history", "library", "language"),
    ("table", "statistics", "warehouse"),
)
"""Domains that a user could take for each other."""


@cache
def asked_functions(language: Language) -> tuple[Function, ...]:
    """The functions that users ask for; the others only stand beside them."""
    return tuple(function for function in FUNCTIONS[language] if function.clauses)


@cache
def near_functions(function: Function) -> tuple[Function, ...]:
    """Other functions of the same domain or of one close to ``function``'s, its own first."""
    close = [domain for field in _FIELDS if function.domain in field for domain in field if domain != function.domain]
    domains = (function.domain, *dict.fromkeys(close))
    candidates = [other for domain in domains for other in FUNCTIONS[function.language] if other.domain == domain]
    return tuple(other for other in candidates if other is not function)
