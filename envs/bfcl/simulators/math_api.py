"""MathAPI: arithmetic on numbers and lists of numbers; there is no state.

Behaviour and texts follow ``bfcl-eval`` 2026.3.23 on CPython 3.11, faults included, whatever Python runs this: sums
are plain ones from left to right, and Python's own complaints have that version's words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.logarithm import logarithm
from callgym.envs.bfcl.simulators.refusing import refusing

__all__ = ["MathAPI"]

_MOST_DIGITS = 4_300
_TOO_LONG = (
    f"Exceeds the limit ({_MOST_DIGITS} digits) for integer string conversion; "
    "use sys.set_int_max_str_digits() to increase the limit"
)
_LEAST_TOO_LONG = 10**_MOST_DIGITS
_MOST_BITS = _LEAST_TOO_LONG.bit_length()
_MOST_ROOT_DIGITS = 15_000
_LIBRARY_ROOT_DIGITS = 1_000
_MOST_PRECISION = 999_999_999_999_999_999
_EXACT = Context(prec=50_000, Emin=-999_999, Emax=999_999)
_BOTH_NUMBERS = "Both inputs must be numbers"
_ALL_NUMBERS = "All elements in the list must be numbers"
_TOO_LARGE = "Conversion resulted in a value too large to represent"


@refusing
class MathAPI(Simulator):
    """The simulator."""

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        self._to_meters: Mapping[str, float] = tables.constants["math_si_to_meters"]
        self._imperial: Mapping[str, float] = tables.constants["math_imperial_factors"]

    # Two numbers.

    def add(self, a: float, b: float) -> dict[str, Any]:
        """The sum; of texts and lists, one after the other."""
        try:
            return _result(a + b)
        except TypeError:
            return {"error": _BOTH_NUMBERS}

    def subtract(self, a: float, b: float) -> dict[str, Any]:
        """The difference."""
        try:
            return _result(a - b)
        except TypeError:
            return {"error": _BOTH_NUMBERS}

    def multiply(self, a: float, b: float) -> dict[str, Any]:
        """The product."""
        if not isinstance(a, int | float) or not isinstance(b, int | float):
            return {"error": _BOTH_NUMBERS}
        if isinstance(a, int) and isinstance(b, int) and a and b:
            _check_bits(a.bit_length() + b.bit_length() - 2)
        return _result(a * b)

    def divide(self, a: float, b: float) -> dict[str, Any]:
        """The quotient."""
        try:
            return {"error": "Cannot divide by zero"} if b == 0 else _result(a / b)
        except TypeError:
            return {"error": _BOTH_NUMBERS}

    def power(self, base: float, exponent: float) -> dict[str, Any]:
        """The power; a complex number where a negative one has a broken exponent."""
        if isinstance(base, int) and isinstance(exponent, int) and exponent > 0 and abs(base) > 1:
            _check_bits((base.bit_length() - 1) * exponent)
        try:
            return _result(base**exponent)
        except TypeError:
            return {"error": _BOTH_NUMBERS}
        except ZeroDivisionError:
            raise Refusal("0.0 cannot be raised to a negative power") from None

    def percentage(self, part: float, whole: float) -> dict[str, Any]:
        """How many hundredths of the whole the part is."""
        try:
            return {"error": "Whole value cannot be zero"} if whole == 0 else _result((part / whole) * 100)
        except TypeError:
            return {"error": _BOTH_NUMBERS}

    # One number.

    def absolute_value(self, number: float) -> dict[str, Any]:
        """The number without its sign."""
        try:
            return _result(abs(number))
        except TypeError:
            return {"error": "Input must be a number"}

    def round_number(self, number: float, decimal_places: int = 0) -> dict[str, Any]:
        """The number rounded to decimal places, half to even; negative places are tens, hundreds and so on."""
        if isinstance(number, int):
            _check_bits(number.bit_length())
            if isinstance(decimal_places, int) and decimal_places < -_MOST_DIGITS:
                return _result(0)
        try:
            return _result(round(number, decimal_places))
        except TypeError:
            return {"error": "First input must be a number, second input must be an integer"}

    def square_root(self, number: float, precision: int) -> dict[str, Any]:
        """The square root to a number of digits, as a Decimal."""
        try:
            if number < 0:
                return {"error": "Cannot calculate square root of a negative number"}
            return {"result": _square_root(number, precision)}
        except (TypeError, InvalidOperation):
            return {"error": "Input must be a number or computation resulted in an invalid operation"}

    def logarithm(self, value: float, base: float, precision: int) -> dict[str, Any]:
        """The logarithm to any base with a number of digits; it prints as an mpmath number."""
        try:
            return {"result": logarithm(value, base, precision)}
        except (ArithmeticError, TypeError, ValueError) as error:
            return {"error": str(error)}

    # Units.

    def si_unit_conversion(self, value: float, unit_in: str, unit_out: str) -> dict[str, Any]:
        """A length in another unit."""
        if not isinstance(value, int | float):
            return {"error": "Value must be a number"}
        if unit_in not in self._to_meters or unit_out not in self._to_meters:
            return _no_conversion(unit_in, unit_out)
        try:
            return _result(value * self._to_meters[unit_in] * (1 / self._to_meters[unit_out]))
        except OverflowError:
            return {"error": _TOO_LARGE}

    def imperial_si_conversion(self, value: float, unit_in: str, unit_out: str) -> dict[str, Any]:
        """A length, weight or temperature in the other system's unit."""
        if not isinstance(value, int | float):
            return {"error": "Value must be a number"}
        if unit_in == unit_out:
            return _result(value)
        factor = self._imperial.get(f"{unit_in}_to_{unit_out}")
        if factor is None:
            return _no_conversion(unit_in, unit_out)
        try:
            return _result(_converted(value, unit_in, unit_out, factor))
        except OverflowError:
            return {"error": _TOO_LARGE}

    # Lists of numbers.

    def mean(self, numbers: list[float]) -> dict[str, Any]:
        """The mean."""
        if not numbers:
            return {"error": "Cannot calculate mean of an empty list"}
        try:
            return _result(_sum(numbers) / len(numbers))
        except TypeError:
            return {"error": _ALL_NUMBERS}

    def standard_deviation(self, numbers: list[float]) -> dict[str, Any]:
        """The standard deviation of a population."""
        if not numbers:
            return {"error": "Cannot calculate standard deviation of an empty list"}
        try:
            mean = _sum(numbers) / len(numbers)
            return _result(math.sqrt(_sum((number - mean) ** 2 for number in numbers) / len(numbers)))
        except TypeError:
            return {"error": _ALL_NUMBERS}

    def min_value(self, numbers: list[float]) -> dict[str, Any]:
        """The least."""
        if not numbers:
            return {"error": "Cannot find minimum of an empty list"}
        try:
            return _result(min(numbers))
        except TypeError:
            return {"error": _ALL_NUMBERS}

    def max_value(self, numbers: list[float]) -> dict[str, Any]:
        """The greatest."""
        if not numbers:
            return {"error": "Cannot find maximum of an empty list"}
        try:
            return _result(max(numbers))
        except TypeError:
            return {"error": _ALL_NUMBERS}

    def sum_values(self, numbers: list[float]) -> dict[str, Any]:
        """The sum."""
        if not numbers:
            return {"error": "Cannot calculate sum of an empty list"}
        try:
            return _result(_sum(numbers))
        except TypeError:
            return {"error": _ALL_NUMBERS}


def _result(value: Any) -> dict[str, Any]:
    """The answer.

    Raises:
        Refusal: It is an integer that Python does not write.
    """
    if isinstance(value, int) and abs(value) >= _LEAST_TOO_LONG:
        raise Refusal(_TOO_LONG)
    return {"result": value}


def _check_bits(least: int) -> None:
    """Refuse what would have at least so many bits before time is spent on it; officially it fails when written."""
    if least > _MOST_BITS:
        raise Refusal(_TOO_LONG)


def _no_conversion(unit_in: str, unit_out: str) -> dict[str, Any]:
    return {"error": f"Conversion from '{unit_in}' to '{unit_out}' is not supported"}


def _converted(value: float, unit_in: str, unit_out: str, factor: float) -> float:
    if (unit_in, unit_out) == ("celsius", "fahrenheit"):
        return value * factor + 32
    if (unit_in, unit_out) == ("fahrenheit", "celsius"):
        return (value - 32) * factor
    return value * factor


def _sum(numbers: Iterable[Any]) -> Any:
    """Python 3.11's ``sum``; from 3.12 on it mends the errors of floats on the way."""
    total: Any = 0
    for number in numbers:
        total = total + number
    return total


def _square_root(number: float, precision: int) -> Decimal:
    if isinstance(precision, int) and _MOST_ROOT_DIGITS < precision <= _MOST_PRECISION and number:
        raise Refusal(f"A precision of more than {_MOST_ROOT_DIGITS} digits is not supported.")
    if isinstance(number, int):
        _check_bits(number.bit_length())
    context = Context(Emin=-999_999, Emax=999_999, traps=[InvalidOperation, DivisionByZero, Overflow])
    context.prec = precision
    radicand = Decimal(number)
    if precision > _LIBRARY_ROOT_DIGITS and radicand.is_finite() and radicand:
        return _long_square_root(radicand, context)
    return context.sqrt(radicand)


def _long_square_root(radicand: Decimal, context: Context) -> Decimal:
    """What ``context.sqrt`` gives for a positive number, ten times as fast for thousands of digits."""
    _, numerals, exponent = radicand.as_tuple()
    assert isinstance(exponent, int)
    odd = exponent % 2
    coefficient = int(radicand.scaleb(-exponent, _EXACT)) * 10**odd
    root = math.isqrt(coefficient)
    digits = len(str(root))
    if digits > context.prec or root * root == coefficient:
        short = context.copy()
        short.prec = min(context.prec, len(numerals) + 1)  # an exact root is no longer than the number itself
        return short.sqrt(radicand)
    places = context.prec - digits
    shifted = coefficient * 10 ** (2 * places)
    root = math.isqrt(shifted)
    root += shifted - root * root > root  # then the rest is more than a half
    return context.scaleb(Decimal(root), (exponent - odd) // 2 - places)
