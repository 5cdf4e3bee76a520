"""All errands, and the tools that may stand beside the one for an errand."""

from __future__ import annotations

from functools import cache

from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS, near_functions
from callgym.envs.bfcl.starter.functions_model import Function
from callgym.envs.when2call.starter import errands_leisure, errands_trade, errands_travel, errands_work
from callgym.envs.when2call.starter.errand_model import Errand, by_name, eased, raised

__all__ = ["ERRANDS", "SUBSTITUTES", "far_functions", "look_alikes", "versions"]

ERRANDS: tuple[Errand, ...] = (
    *errands_travel.ERRANDS,
    *errands_trade.ERRANDS,
    *errands_leisure.ERRANDS,
    *errands_work.ERRANDS,
)
"""In the order of their domains."""

SUBSTITUTES = {
    "health.remind_medicine": ("calendar.create_event", "tasks.assign", "notes.save", "kitchen.set_timer"),
    "health.book_appointment": ("calendar.create_event",),
    "tasks.assign": ("notes.save", "calendar.create_event"),
    "notes.save": ("tasks.assign",),
    "table.count_rows": ("table.filter_rows",),
    "shop.cancel_order": ("shop.return_article",),
    "shop.return_article": ("shop.cancel_order",),
    "shop.compare_prices": ("shop.search_products",),
    "shop.search_products": ("shop.compare_prices",),
    "school.record_marks": ("notes.save", "table.set_value"),
    "statistics.moving_average": ("statistics.trimmed_mean",),
    "finance.compound_interest": ("finance.simple_interest",),
}
"""Errand to other functions that would somehow do: they are never offered for it."""

_NEAR = 10


@cache
def look_alikes(errand: Errand) -> tuple[Function, ...]:
    """Functions of the same field that cannot do the errand."""
    barred = SUBSTITUTES.get(errand.name, ())
    return tuple(other for other in near_functions(errand.function) if other.name not in barred)[:_NEAR]


@cache
def far_functions(errand: Errand) -> tuple[Function, ...]:
    """All other functions that cannot do the errand."""
    barred = {errand.name, *SUBSTITUTES.get(errand.name, ()), *(other.name for other in look_alikes(errand))}
    return tuple(other for other in FUNCTIONS["python"] if other.name not in barred)


@cache
def versions(name: str) -> tuple[Function, ...]:
    """The ways in which a function is documented, the plain one first: each other one lets one more parameter be
    left out, or demands one more."""
    changed = (
        eased(errand, gap) if gap.clauses else raised(errand, gap)
        for errand in ERRANDS
        if errand.name == name
        for gap in errand.gaps
    )
    return (by_name()[name], *changed)
