"""What an expression of literals amounts to, within bounds: ``9**9**9`` and ``'a' * 10**9`` fail at once.

The official decoder hands a binary operation to Python's ``eval``, names and calls included. Here the
parsed expression is worked out step by step, and only literals and operators count; what is refused for
that reason, or for its size, is a ``DecodeFailure`` without an official name.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from callgym.envs.bfcl.official.decode_failure import DecodeFailure

__all__ = ["MAX_DEPTH", "MAX_INTEGER_BITS", "MAX_WEIGHT", "Arithmetic", "bounded_constant"]

MAX_INTEGER_BITS = 13_300
"""Integers of more bits (about 4,000 digits) are refused, in operands and results."""
MAX_WEIGHT = 100_000
"""Most characters and elements, all levels together, of one result."""
MAX_WORK = 2_000_000
"""Most characters and elements of all results of one text."""
MAX_DEPTH = 240
"""Operators within operators; the official decoder gives up at about 300, depending on its own stack."""
_FORMAT_TRAP = re.compile(r"\*|\d{4}")

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    # Python 3.12 warns where a bool is inverted; as an int it gives the same.
    ast.Invert: lambda value: ~(int(value) if isinstance(value, bool) else value),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_CONVERSIONS: dict[int, Callable[[Any], str]] = {-1: format, ord("s"): str, ord("r"): repr, ord("a"): ascii}
_FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def bounded_constant(node: ast.Constant) -> Any:
    """A constant's value.

    Raises:
        DecodeFailure: It is an integer of more than ``MAX_INTEGER_BITS`` bits.
    """
    value = node.value
    if type(value) is int and value.bit_length() > MAX_INTEGER_BITS:
        raise DecodeFailure(None, "a number of more than 4,000 digits")
    return value


class Arithmetic:
    """The expressions of one text, which share a budget of work."""

    def __init__(self) -> None:
        self._work = 0

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression of literals, operators, comparisons, conditions and subscripts.

        Raises:
            DecodeFailure: It has no value, has names or calls in it, or is too large.
        """
        try:
            return self._value(node, 0)
        except _FAULTS as error:
            raise DecodeFailure(type(error).__name__, str(error)) from error

    def count_keys(self, keys: list[Any]) -> None:
        """Book the keys of a table: numbers can be chosen to collide there, which costs their number squared.

        Raises:
            DecodeFailure: The text has more keys that are no texts than a call needs.
        """
        self._work += sum(not isinstance(key, str | bytes) for key in keys) ** 2
        if self._work > MAX_WORK:
            raise DecodeFailure(None, "more keys that are no texts than a call needs")

    def _value(self, node: ast.expr | None, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise DecodeFailure("RecursionError", f"operators nested deeper than {MAX_DEPTH} levels")
        depth += 1
        match node:
            case ast.Constant():
                return bounded_constant(node)
            case ast.BinOp():
                return self._binary(type(node.op), self._value(node.left, depth), self._value(node.right, depth))
            case ast.UnaryOp():
                return self._kept(_UNARY[type(node.op)](self._value(node.operand, depth)))
            case ast.List() | ast.Tuple() | ast.Set():
                items = [self._value(item, depth) for item in node.elts]
                self.count_keys(items if isinstance(node, ast.Set) else [])
                made = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
                return self._kept(made(items))
            case ast.Dict():
                keys = [self._value(key, depth) for key in node.keys]
                self.count_keys(keys)
                values = [self._value(value, depth) for value in node.values]
                return self._kept(dict(zip(keys, values, strict=True)))
            case ast.Compare():
                return self._compare(node, depth)
            case ast.BoolOp():
                return self._either(node, depth)
            case ast.IfExp():
                return self._value(node.body if self._value(node.test, depth) else node.orelse, depth)
            case ast.Subscript():
                return self._kept(self._value(node.value, depth)[self._value(node.slice, depth)])
            case ast.JoinedStr():
                return self._kept("".join([self._value(part, depth) for part in node.values]))
            case ast.FormattedValue(format_spec=None):
                return _CONVERSIONS[node.conversion](self._value(node.value, depth))
            case ast.Slice():
                parts = (node.lower, node.upper, node.step)
                return slice(*(None if part is None else self._value(part, depth) for part in parts))
            case ast.Name():
                raise DecodeFailure("NameError", f"name {node.id!r} is not defined")
        raise DecodeFailure(None, f"{type(node).__name__} in an expression")

    def _binary(self, kind: type[ast.operator], left: Any, right: Any) -> Any:
        if kind is ast.Pow:
            _check_power(left, right)
        elif kind is ast.LShift and isinstance(left, int) and isinstance(right, int) and left:
            _check_bits(left.bit_length() + max(right, 0))
        elif kind is ast.Mult:
            _check_repeated(left, right)
            _check_repeated(right, left)
        elif kind is ast.Mod and isinstance(left, str | bytes):
            _check_format(left, right)
        return self._kept(_BINARY[kind](left, right))

    def _compare(self, node: ast.Compare, depth: int) -> Any:
        left = self._value(node.left, depth)
        result: Any = True
        for kind, comparator in zip(node.ops, node.comparators, strict=True):
            right = self._value(comparator, depth)
            result = _COMPARE[type(kind)](left, right)
            if not result:
                break
            left = right
        return result

    def _either(self, node: ast.BoolOp, depth: int) -> Any:
        stops_at = isinstance(node.op, ast.Or)
        value: Any = None
        for part in node.values:
            value = self._value(part, depth)
            if bool(value) is stops_at:
                break
        return value

    def _kept(self, value: Any) -> Any:
        """The value, once its size is known to be in bounds."""
        self._work += _weight(value)
        if self._work > MAX_WORK:
            raise DecodeFailure(None, "more arithmetic than a call needs")
        return value


def _weight(value: Any) -> int:
    """Characters, digits and elements of a value, all levels together.

    Raises:
        DecodeFailure: They are more than ``MAX_WEIGHT``.
    """
    weight = 0
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str | bytes):
            weight += 1 + len(item)
        elif isinstance(item, list | tuple | set | dict):
            weight += 1 + len(item)
            if weight <= MAX_WEIGHT:
                pending.extend(item)
                pending.extend(item.values() if isinstance(item, dict) else ())
        elif isinstance(item, int):
            bits = item.bit_length()
            _check_bits(bits)
            weight += 1 + bits // 3
        else:
            weight += 1
        if weight > MAX_WEIGHT:
            raise DecodeFailure(None, f"a value of more than {MAX_WEIGHT:,} characters")
    return weight


def _check_bits(bits: int) -> None:
    if bits > MAX_INTEGER_BITS:
        raise DecodeFailure(None, "a number of more than 4,000 digits")


def _check_power(base: Any, exponent: Any) -> None:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and exponent > 0:
        _check_bits((abs(base).bit_length() - 1) * exponent)


def _check_repeated(value: Any, times: Any) -> None:
    if isinstance(times, int) and times > 1:
        if isinstance(value, int):
            _check_bits(value.bit_length() + times.bit_length() - 2)
        elif isinstance(value, str | bytes | list | tuple) and value and _weight(value) * times > 2 * MAX_WEIGHT:
            raise DecodeFailure(None, f"a value of more than {MAX_WEIGHT:,} characters")


def _check_format(template: str | bytes, values: Any) -> None:
    text = template if isinstance(template, str) else template.decode("latin-1")
    places = text.count("%")
    if _FORMAT_TRAP.search(text) or places * (1_000 + _weight(values)) > 10 * MAX_WEIGHT:
        raise DecodeFailure(None, "a format that may write more than a call needs")
