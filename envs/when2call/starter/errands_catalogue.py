"""All errands, and the tools that may stand beside the one for an errand."""

from __future__ import annotations

from functools import cache

from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS, near_functions
from callgym.envs.bfcl.starter.functions_model import Function
from callgym.envs.when2call.starter import errands_leisure, errands_trade, errands_travel, errands_work
from callgym.envs.when2call.starter.errand_model import Errand, raised, eased

__all__ = ["ERRANDS", "look_alikes", "versions"]

ERRANDS: tuple[Errand, ...] = (
    *errands_travel.ERRANDS,
    *errands_trade.ERRANDS,
    *errands_leisure.ERRANDS,
    *errands_work.ERRANDS,
)
"""In the order of their domains."""
