"""When two argument values are the same, by the schema's type.

Numbers compare by value (1 and 1.0 are the same number, integers of any size exactly), booleans are
not numbers, text compares exactly, lists and objects element by element, and NaN equals nothing.
Text is compared exactly on purpose: user names, tokens and dates differ in a letter. Other texts that
are also right belong into the goal, as accepted values.
"""

from __future__ import annotations

from typing import Any

__all__ = ["same_value"]


def same_value(gold: Any, predicted: Any) -> bool:
    """Whether ``predicted`` is the value ``gold``; both are JSON values, typed by their schema."""
    kind = type(gold)
    if kind is str:
        return type(predicted) is str and gold == predicted
    if kind is bool or gold is None:
        return gold is predicted
    if kind is int or kind is float:
        return type(predicted) in (int, float) and gold == predicted
    if kind is list or kind is tuple:
        return (
            type(predicted) in (list, tuple) and len(gold) == len(predicted) and all(map(same_value, gold, predicted))
        )
    if kind is dict:
        return (
            type(predicted) is dict
            and gold.keys() == predicted.keys()
            and all(same_value(value, predicted[key]) for key, value in gold.items())
        )
    return False
