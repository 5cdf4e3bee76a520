"""When two argument values are the same, by the schema's type.

Numbers compare by value (1 and 1.0 are the same number, integers of any size exactly), booleans are
not numbers, text compares exactly, lists and objects element by element, and NaN equals nothing.
Text is compared exactly on purpose: user names, tokens and dates differ in a letter. Other texts that
are also right belong into the goal, as accepted values.
"""

from __future__ import annotations

from typing import Any

__all__ = ["same_value", "value_key"]


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


_TRUE, _FALSE = object(), object()  # of their own: as a key, True would be 1


def value_key(value: Any) -> Any:
    """A hashable key that two values share where ``same_value`` holds of them; NaN has a new one every time."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is float:
        return value if value == value else object()
    if kind is list or kind is tuple:
        return tuple([item if type(item) is str else value_key(item) for item in value])
    if kind is dict:
        return frozenset([(key, item if type(item) is str else value_key(item)) for key, item in value.items()])
    return object()
