"""The calculator of API-Bank: whole numbers, ``+ - * /``, one level of brackets; nothing is ever evaluated.

Its oddities are the official ones: numbers are floats, an operator that lacks an operand gives Python's
complaint, nested brackets fail. Formulas on which the official tool never ends are refused, and so are
very long ones.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

from callgym.envs.apibank.simulator.world import World
from callgym.tool_backends.python import ToolFailure

__all__ = ["calculator", "evaluate"]

_MAX_LENGTH = 1_000
_TOKENS = re.compile(r"[0-9]+|[-+*/()]")
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_STAGES = ("*/", "+-")


def calculator(world: World, formula: str) -> float:
    """The tool."""
    return evaluate(formula)


def evaluate(formula: str) -> float:
    """The value of a formula; ToolFailure where it has none."""
    text = formula.replace(" ", "")
    if len(text) > _MAX_LENGTH:
        raise ToolFailure(f"The formula has {len(text)} characters; at most {_MAX_LENGTH} are read.")
    operators = sum(text.count(sign) for sign in _OPERATIONS)
    if (
        not re.fullmatch(r"[-+*/()0-9]+", text)
        or text.count("(") != text.count(")")
        or operators == 0
        or operators + 1 == len(text)
    ):
        raise ToolFailure("invalid formula")
    try:
        value = _value([float(token) if token[0] in "0123456789" else token for token in _TOKENS.findall(text)])
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Python's complaint about operands that are none is the official answer.
        raise ToolFailure(str(error)) from None
    if not isinstance(value, float):
        raise ToolFailure("invalid formula")
    if not math.isfinite(value):
        raise ToolFailure("The numbers are too large.")
    return value


def _value(tokens: list[Any]) -> Any:
    while "(" in tokens:
        left, right = tokens.index("("), tokens.index(")")
        inner = _value(tokens[left + 1 : right])
        tokens = [*tokens[:left], inner, *tokens[right + 1 :]]
    for stage in _STAGES:
        tokens = _left_to_right(tokens, stage)
    return tokens[0]


def _left_to_right(tokens: list[Any], signs: str) -> list[Any]:
    """Replace each ``operand sign operand``, the leftmost first, by its value."""
    done: list[Any] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if isinstance(token, str) and token in signs:
            if not done:
                raise ToolFailure("invalid formula")  # the official tool never ends here
            done[-1] = _OPERATIONS[token](done[-1], tokens[at + 1])
            at += 2
        else:
            done.append(token)
            at += 1
    return done
