"""Quantities in a text: a number with its unit, where the unit is one of a small table.

    >>> same_quantity(read_quantity("5 km"), quantities_in("It is 5,000 metres.")[0])
    True

The table knows lengths, masses, times and currencies: other spellings of a unit are the same unit, and what
SI prefixes, minutes, hours and days stand for is worked out exactly. Feet are not turned into metres, nor
dollars into euros. What a policy writes is read in linear time.
"""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Quantity", "quantities_in", "read_quantity", "same_quantity"]

Meaning = tuple[str, Fraction]
"""A base unit, and how many of it make the unit."""

_MAX_EXACT_DIGITS = 300
_OTHER: tuple[Meaning, ...] = (("other", Fraction(1)),)


class Quantity(NamedTuple):
    """A number and what its unit can mean."""

    value: int | float
    """Finite; a whole number exactly."""
    units: tuple[Meaning, ...]
    """Several for a word like "pounds"; none where the text gives no unit that the table knows."""


def _table() -> dict[str, tuple[Meaning, ...]]:
    table: dict[str, tuple[Meaning, ...]] = {}

    def add(base: str, factor: Fraction, *spellings: str) -> None:
        for spelling in spellings:
            table[spelling] = (*table.get(spelling, ()), (base, factor))

    names = {"n": "nano", "u": "micro", "μ": "micro", "m": "milli", "c": "centi", "d": "deci", "k": "kilo", "M": "mega"}
    powers = {"n": -9, "u": -6, "μ": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6}
    si = (("m", "numμcdkM", ("metre", "meter")), ("g", "numμkM", ("gram", "gramme")), ("s", "numμ", ("second",)))
    for base, prefixes, words in si:
        add(base, Fraction(1), base, *words, *(f"{word}s" for word in words))
        for prefix in prefixes:
            factor = Fraction(10) ** powers[prefix]
            add(base, factor, prefix + base)
            if prefix != "μ":
                long = [names[prefix] + word for word in words]
                add(base, factor, *long, *(f"{word}s" for word in long))
    add("m", Fraction(1000), "kms")
    add("g", Fraction(1000), "kgs", "kilo", "kilos")
    add("g", Fraction(10**6), "t", "tonne", "tonnes")
    add("s", Fraction(1), "sec", "secs")
    add("s", Fraction(60), "min", "mins", "minute", "minutes")
    add("s", Fraction(3600), "h", "hr", "hrs", "hour", "hours")
    add("s", Fraction(86_400), "d", "day", "days")
    add("s", Fraction(604_800), "week", "weeks", "wk", "wks")
    one = Fraction(1)
    for base, *spellings in (
        ("month", "months"), ("year", "years", "yr", "yrs"), ("mile", "miles", "mi"), ("yard", "yards", "yd"),
        ("foot", "feet", "ft"), ("inch", "inches"), ("pound", "pounds", "lb", "lbs"), ("ounce", "ounces", "oz"),
        ("ton", "tons"), ("cent", "cents"),
    ):  # fmt: skip
        add(base, one, base, *spellings)
    for base, *spellings in (
        ("USD", "$", "us$", "usd", "dollar", "dollars"), ("EUR", "€", "eur", "euro", "euros"),
        ("GBP", "£", "gbp", "pound", "pounds"), ("JPY", "¥", "jpy", "yen"), ("CNY", "¥", "cny", "rmb", "yuan"),
        ("INR", "₹", "inr", "rupee", "rupees"),
    ):  # fmt: skip
        add(base, one, *spellings)
    return table


_UNITS = _table()
# With these after a number, or after its unit, it is another quantity: an area, a rate, five million.
_AREAS_AND_RATES = ("square", "sq", "cubic", "cu", "squared", "cubed", "per")
_CHANGES = (*_AREAS_AND_RATES, "hundred", "thousand", "million", "billion", "trillion", "bn", "dozen")
_SIGNS = "$€£¥₹"
_NUMBER = re.compile(
    rf"(?<![\w.])(?<!\d,)(?P<sign>[+-]?)(?:(?P<before>[A-Za-z]{{0,3}}[{_SIGNS}]|(?:USD|EUR|GBP|JPY|CNY|INR)(?=\s))\s?)?"
    r"(?P<inner>[+-]?)(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\d_]|[.,]\d)"
)
_WORD = re.compile(rf"(?P<gap>\s{{0,2}}-?)(?P<word>[^\W\d_]{{1,24}}|[{_SIGNS}])")
_MORE = re.compile(rf"\s?(?:[/^·]|\*\w|(?:{'|'.join(_CHANGES)})\b)|[\w]")


def quantities_in(text: str) -> list[Quantity]:
    """Every number in a text with its unit; a number with unknown letters stuck to it ("3D") is none."""
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
    return [quantity for match in _NUMBER.finditer(text) if (quantity := _read(text, match)[0]) is not None]


def read_quantity(text: str) -> Quantity | None:
    """The quantity that a text is, from its first to its last character; None where it is anything else."""
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()
    match = _NUMBER.match(text)
    if match is None:
        return None
    quantity, end = _read(text, match)
    return quantity if end == len(text) and quantity is not None and quantity.units != _OTHER else None


def same_quantity(one: Quantity, other: Quantity, tolerance: float = 0.0, unit_optional: bool = False) -> bool:
    """Whether two quantities are the same, both in one unit or in two that the table can turn into each other.

    Args:
        one: The quantity that is asked for.
        other: The one that was given.
        tolerance: The largest relative difference.
        unit_optional: Whether ``other`` may lack its unit; it is taken to be that of ``one``.
    """
    if one.units and not other.units:
        return unit_optional and _close(_exact(one), _exact(other), tolerance)
    if not one.units or not other.units:
        return not one.units and not other.units and _close(_exact(one), _exact(other), tolerance)
    return any(
        base == other_base and _close(_exact(one) * factor, _exact(other) * other_factor, tolerance)
        for base, factor in one.units
        for other_base, other_factor in other.units
        if base != "other"
    )


def _read(text: str, match: re.Match[str]) -> tuple[Quantity | None, int]:
    """The quantity that begins with a number, if it is one, and where it ends."""
    digits = match["number"].replace(",", "")
    exact = len(digits) <= _MAX_EXACT_DIGITS and digits.isdecimal()
    value: int | float = int(digits) if exact else float(digits)
    if not math.isfinite(value):
        return None, match.end()
    value = -value if (match["sign"] == "-") != (match["inner"] == "-") else value
    before = None if match["before"] is None else _UNITS.get(match["before"].casefold(), _OTHER)
    end = match.end()
    word = _WORD.match(text, end)
    after = None
    if word is not None:
        after = _unit(word["word"])
        if after is None and not word["gap"]:
            return None, end
        if after is None and word["word"].casefold() in _CHANGES:
            after = _OTHER
        if after is not None:
            end = word.end()
    if (after or before) and _MORE.match(text, end):
        after = _OTHER
    if before is None or after is None:
        units = before or after or ()
    else:
        units = tuple(meaning for meaning in before if meaning in after) or _OTHER
    return Quantity(value, units), end


def _unit(word: str) -> tuple[Meaning, ...] | None:
    """What a word means as a unit. The case of symbols counts where it tells two units apart: mg and Mg."""
    found = _UNITS.get(word)
    if found is None and len(word) > 1 and (len(word) > 2 or word[0] != "M"):
        found = _UNITS.get(word.casefold())
    return found


def _exact(quantity: Quantity) -> Fraction:
    return Fraction(quantity.value) if isinstance(quantity.value, int) else Fraction(repr(quantity.value))


def _close(one: Fraction, other: Fraction, tolerance: float) -> bool:
    return one == other or abs(one - other) <= Fraction(tolerance) * max(abs(one), abs(other))
