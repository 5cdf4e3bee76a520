"""The quotient of two logarithms to any precision, as mpmath prints it.

MathAPI's ``logarithm`` is officially ``mpmath.log(value) / mpmath.log(base)`` (mpmath 1.3.0) with ``mp.dps`` set, and
what is compared is how that prints: ``mpf('2.7993393')``, digits beyond the precision included. So this goes through
the same roundings as mpmath, which depend on nothing but the digits asked for. mpmath is BSD-licensed, by Fredrik
Johansson and contributors; the steps are its ``mpf_log``, ``mpc_div``, ``mpc_mpf_div`` and ``to_str``, written anew.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, NamedTuple

from callgym.envs.bfcl.simulators.base import Refusal

__all__ = ["PrintedNumber", "logarithm"]

_BITS_A_DIGIT = 3.3219280948873626
_MOST_DIGITS = 700
_MOST_BITS = 2_500
_MOST_BITS_OF_VALUE = 20_000
_GUARD_BITS = 64
_TABLE_STEP = 9
_ROOTS = 8
_NUMBER = re.compile(r"(?P<sign>[+-]?)(?P<whole>\d*)(?:\.(?P<rest>\d*))?(?:e(?P<exponent>[+-]?\d+))?")
_MOST_EXPONENT = 400
_LONGEST_TEXT = 1_000
_SPECIAL_WORDS = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class PrintedNumber:
    """A result that is nothing but its text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


class _Binary(NamedTuple):
    """The number ``mantissa * 2**exponent``; zero has mantissa 0."""

    mantissa: int
    exponent: int


_Real = _Binary | float
"""A finite number, or a float that is infinite or not a number."""
_ZERO = _Binary(0, 0)


class _Complex(NamedTuple):
    real: _Real
    imaginary: _Real


def logarithm(value: Any, base: Any, precision: Any) -> PrintedNumber:
    """The logarithm of ``value`` to ``base``.

    Args:
        value: A number, or a text that mpmath reads as one; complex numbers are not known here.
        base: Likewise.
        precision: Decimal digits, anything that ``int`` takes; under 1 counts like the least there is.

    Raises:
        Refusal: More digits are asked for, or given, than are worked out here.
        TypeError, ValueError, ArithmeticError: As officially, with the text that the tool then shows.
    """
    digits = int(precision)
    if digits > _MOST_DIGITS:
        raise Refusal(f"A precision of more than {_MOST_DIGITS} digits is not supported.")
    bits = max(1, round((digits + 1) * _BITS_A_DIGIT))
    numerator = _natural_logarithm(_converted(value, bits), bits)
    quotient = _quotient(numerator, _natural_logarithm(_converted(base, bits), bits), bits)
    shown = _shown_digits(bits)
    if isinstance(quotient, _Complex):
        real, imaginary = _text(quotient.real, shown), _text(quotient.imaginary, shown)
        return PrintedNumber(f"mpc(real='{real}', imag='{imaginary}')")
    return PrintedNumber(f"mpf('{_text(quotient, shown)}')")


# Reading numbers.


def _converted(value: Any, bits: int) -> _Real:
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS_OF_VALUE:
            raise Refusal("The number has too many digits.")
        return _Binary(int(value), 0)
    if isinstance(value, float):
        return _of_float(value)
    number = _of_text(value, bits) if isinstance(value, str) else None
    if number is None:
        raise TypeError(f"cannot create mpf from {value!r}")
    return number


def _of_float(value: float) -> _Real:
    if not math.isfinite(value):
        return value
    numerator, denominator = value.as_integer_ratio()
    return _Binary(numerator, 1 - denominator.bit_length())


def _of_text(text: str, bits: int) -> _Real | None:
    """What mpmath reads, rounded: a decimal literal or a fraction of integers; None for other texts."""
    text = text.lower().strip()
    if text in _SPECIAL_WORDS:
        return _SPECIAL_WORDS[text]
    if len(text) > _LONGEST_TEXT:
        raise Refusal("The number has too many digits.")
    if "/" in text:
        try:
            numerator, denominator = map(int, text.split("/"))
        except ValueError:
            return None
        return _divide(_Binary(numerator, 0), _Binary(denominator, 0), bits)
    found = _NUMBER.fullmatch(text)
    if found is None or not (found["whole"] or found["rest"]):
        return None
    rest = (found["rest"] or "").rstrip("0")
    exponent = int(found["exponent"] or 0) - len(rest)
    if abs(exponent) > _MOST_EXPONENT:
        raise Refusal("The number's exponent is too large.")
    mantissa = int(f"{found['sign']}{found['whole']}{rest}" if found["whole"] or rest else "0")
    return _divide(_Binary(mantissa * 10 ** max(exponent, 0), 0), _Binary(10 ** max(-exponent, 0), 0), bits)


# Arithmetic. All is exact but what takes `bits`: results round to nearest, ties to even, what leads to them down.


def _rounded(mantissa: int, exponent: int, bits: int) -> _Binary:
    surplus = mantissa.bit_length() - bits
    if surplus <= 0:
        return _Binary(mantissa, exponent) if mantissa else _ZERO
    kept, lost = divmod(abs(mantissa), 1 << surplus)
    half = 1 << (surplus - 1)
    kept += lost > half or (lost == half and kept & 1)
    return _Binary(kept if mantissa > 0 else -kept, exponent + surplus)


def _of_sign(number: _Real) -> float:
    """A float that takes a finite number's part beside one that is not: only its sign counts then."""
    return number if isinstance(number, float) else float((number.mantissa > 0) - (number.mantissa < 0))


def _special(result: float) -> _Real:
    return _ZERO if math.isfinite(result) else result


def _multiply(one: _Real, other: _Real) -> _Real:
    if isinstance(one, _Binary) and isinstance(other, _Binary):
        return _Binary(one.mantissa * other.mantissa, one.exponent + other.exponent)
    return _special(_of_sign(one) * _of_sign(other))


def _negative(number: _Real) -> _Real:
    return _Binary(-number.mantissa, number.exponent) if isinstance(number, _Binary) else -number


def _cut(mantissa: int, exponent: int, bits: int) -> _Binary:
    surplus = max(mantissa.bit_length() - bits, 0)
    kept = abs(mantissa) >> surplus
    return _Binary(kept if mantissa > 0 else -kept, exponent + surplus) if kept else _ZERO


def _add(one: _Real, other: _Real, bits: int) -> _Real:
    if isinstance(one, _Binary) and isinstance(other, _Binary):
        exponent = min(one.exponent, other.exponent)
        total = (one.mantissa << (one.exponent - exponent)) + (other.mantissa << (other.exponent - exponent))
        return _cut(total, exponent, bits)
    return _special(_of_sign(one) + _of_sign(other))


def _divide(one: _Real, other: _Real, bits: int) -> _Real:
    """The quotient.

    Raises:
        ZeroDivisionError: Without words, as mpmath raises it.
    """
    if isinstance(other, _Binary) and not other.mantissa:
        raise ZeroDivisionError
    if not (isinstance(one, _Binary) and isinstance(other, _Binary)):
        return _special(_of_sign(one) / _of_sign(other))
    more = max(bits - one.mantissa.bit_length() + other.mantissa.bit_length() + 5, 5)
    quotient, remainder = divmod(abs(one.mantissa) << more, abs(other.mantissa))
    quotient = 2 * quotient + (remainder > 0)  # one more bit: that something follows decides between two neighbours
    negative = (one.mantissa < 0) != (other.mantissa < 0)
    return _rounded(-quotient if negative else quotient, one.exponent - other.exponent - more - 1, bits)


def _quotient(one: _Real | _Complex, other: _Real | _Complex, bits: int) -> _Real | _Complex:
    """mpmath's quotients of real and complex numbers, each with the roundings it makes on the way."""
    if not isinstance(other, _Complex):
        if isinstance(one, _Complex):
            return _Complex(_divide(one.real, other, bits), _divide(one.imaginary, other, bits))
        return _divide(one, other, bits)
    within = bits + 10
    c, d = other
    norm = _add(_multiply(c, c), _multiply(d, d), within)
    if not isinstance(one, _Complex):
        return _Complex(_divide(_multiply(c, one), norm, bits), _divide(_negative(_multiply(d, one)), norm, bits))
    a, b = one
    real = _add(_multiply(a, c), _multiply(b, d), within)
    imaginary = _add(_multiply(b, c), _negative(_multiply(a, d)), within)
    return _Complex(_divide(real, norm, bits), _divide(imaginary, norm, bits))


# Logarithms.


def _natural_logarithm(number: _Real, bits: int) -> _Real | _Complex:
    if isinstance(number, float):
        return _Complex(math.inf, _pi(bits)) if number < 0 else number
    if not number.mantissa:
        return -math.inf
    if number.mantissa < 0:
        return _Complex(_logarithm_of_positive(_Binary(-number.mantissa, number.exponent), bits), _pi(bits))
    return _logarithm_of_positive(number, bits)


def _logarithm_of_positive(number: _Binary, bits: int) -> _Binary:
    even = (number.mantissa & -number.mantissa).bit_length() - 1
    mantissa, exponent = number.mantissa >> even, number.exponent + even
    within = bits + 20
    if mantissa == 1:
        return _rounded(exponent * _ln2(within), -within, bits)
    length = mantissa.bit_length()
    magnitude = exponent + length
    if abs(magnitude) <= 1:
        # mpmath works with more bits near 1 and takes the distance from it for the logarithm where it is very near.
        # It takes what lies a little over 1/4 for such, too, which is a fault, kept here.
        distance = mantissa - (1 << (length - 1)) if magnitude else (1 << length) - mantissa
        lost = length - distance.bit_length()
        if lost > within:
            return _rounded(distance if magnitude else -distance, abs(magnitude) - length, bits)
        within += lost
    if within > _MOST_BITS:
        raise Refusal("The number has too many digits.")
    surplus = length - within
    fraction = mantissa >> surplus if surplus > 0 else mantissa << -surplus
    return _rounded(_fixed_logarithm(fraction, within) + magnitude * _ln2(within), -within, bits)


# Fixed point: a number times a power of two, as a whole number, every step rounded down.


def _fixed_logarithm(number: int, bits: int) -> int:
    """The logarithm of a number between 1/2 and 1, from that of the last 512th below it."""
    table_bits = min(1 << (bits - 1).bit_length(), _MOST_BITS) + 20
    below = number >> (bits - _TABLE_STEP)
    start = below << (bits - _TABLE_STEP)
    ratio = ((number - start) << bits) // start
    tangent = (ratio << bits) // ((2 << bits) + ratio)
    return (_table_logarithm(below, table_bits) >> (table_bits - bits)) + (_area_tangent(tangent, bits) << 1)


@lru_cache(maxsize=4096)
def _table_logarithm(numerator: int, bits: int) -> int:
    """The logarithm of a number of 512ths, at most 512 of them, by way of its 256th root."""
    root = numerator << (bits - _TABLE_STEP)
    for _ in range(_ROOTS):
        root = math.isqrt(root << bits)
    one = 1 << bits
    tangent = -(((root - one) << bits) // (root + one))
    return -(_area_tangent(tangent, bits) << (1 + _ROOTS))


def _area_tangent(tangent: int, bits: int) -> int:
    """The inverse of the hyperbolic tangent, by its series: every other term has a sum of its own."""
    square = tangent * tangent >> bits
    fourth = square * square >> bits
    sums = [tangent, tangent // 3]
    power = tangent * fourth >> bits
    divisor = 5
    while power:
        sums[0] += power // divisor
        sums[1] += power // (divisor + 2)
        power = power * fourth >> bits
        divisor += 4
    return sums[0] + (sums[1] * square >> bits)


@lru_cache(maxsize=64)
def _ln2(bits: int) -> int:
    one = 1 << (bits + _GUARD_BITS)
    return (_area_tangent(one // 3, bits + _GUARD_BITS) << 1) >> _GUARD_BITS


@lru_cache(maxsize=64)
def _pi(bits: int) -> _Binary:
    one = 1 << (bits + _GUARD_BITS)
    return _rounded(
        16 * _arctangent_of_inverse(5, one) - 4 * _arctangent_of_inverse(239, one), -bits - _GUARD_BITS, bits
    )


def _arctangent_of_inverse(number: int, one: int) -> int:
    term = total = one // number
    divisor = 1
    while term:
        term //= -number * number
        divisor += 2
        total += term // divisor
    return total


# Printing.


def _shown_digits(bits: int) -> int:
    digits = max(1, round(bits / _BITS_A_DIGIT - 1))
    return 17 if digits == 15 else digits + 3


def _text(number: _Real, digits: int) -> str:
    if isinstance(number, float):
        return "nan" if math.isnan(number) else f"{number:+}"
    if not number.mantissa:
        return "0.0"
    shown, exponent = _decimal_digits(_Binary(abs(number.mantissa), number.exponent), digits)
    point = 1
    if min(-(digits // 3), -5) < exponent < digits:
        shown = "0" * -exponent + shown
        point = max(exponent, 0) + 1
        exponent = 0
    shown = f"{shown[:point]}.{shown[point:]}".rstrip("0")
    sign = "-" if number.mantissa < 0 else ""
    return f"{sign}{shown}{'0' if shown[-1] == '.' else ''}{f'e{exponent:+d}' if exponent else ''}"


def _decimal_digits(number: _Binary, digits: int) -> tuple[str, int]:
    """The first digits of a positive number, the last one rounded half up, and the first one's power of ten."""
    exponent = math.floor((number.mantissa.bit_length() + number.exponent) * math.log10(2))
    while (scaled := _scaled(number, digits - exponent)) >= 10 ** (digits + 1):
        exponent += 1
    while scaled < 10**digits:
        exponent -= 1
        scaled = _scaled(number, digits - exponent)
    shown = str((scaled + 5) // 10)
    return shown[:digits], exponent + len(shown) - digits


def _scaled(number: _Binary, power: int) -> int:
    """The whole part of the number times a power of ten."""
    numerator: int = number.mantissa * 10 ** max(power, 0) << max(number.exponent, 0)
    denominator: int = 10 ** max(-power, 0) << max(-number.exponent, 0)
    return numerator // denominator
