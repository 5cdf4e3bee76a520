"""Sums of the starter set: MathAPI has no state, so what users ask for are results."""

from __future__ import annotations

from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import listed

__all__ = ["OF_NUMBERS", "REQUESTS"]

OF_NUMBERS = {
    "mean": "the mean",
    "sum_values": "the sum",
    "max_value": "the greatest",
    "min_value": "the least",
    "standard_deviation": "the standard deviation",
}
"""Function of a list of numbers to what it gives."""
_IMPERIAL = (
    ("cm", "in", "centimetres", "inches"),
    ("in", "cm", "inches", "centimetres"),
    ("ft", "m", "feet", "metres"),
    ("m", "yd", "metres", "yards"),
    ("km", "miles", "kilometres", "miles"),
    ("miles", "km", "miles", "kilometres"),
    ("kg", "lb", "kilograms", "pounds"),
    ("lb", "kg", "pounds", "kilograms"),
    ("celsius", "fahrenheit", "degrees Celsius", "degrees Fahrenheit"),
)
_METRIC = (
    ("km", "m", "kilometres", "metres"),
    ("m", "mm", "metres", "millimetres"),
    ("cm", "m", "centimetres", "metres"),
    ("m", "cm", "metres", "centimetres"),
)


def _statistics(script: Script) -> Request:
    """Two figures of the same numbers."""
    numbers = [script.whole(3, 980) for _ in range(script.whole(4, 6))]
    one, other = script.some(list(OF_NUMBERS), 2)
    said = listed([str(number) for number in numbers])
    words = script.say(
        "work out {one} and {other} of {numbers}",
        "give me {one} of the numbers {numbers}, and {other}, too",
        "I need {one} and {other} of these numbers: {numbers}.",
        one=OF_NUMBERS[one],
        other=OF_NUMBERS[other],
        numbers=said,
    )
    lacking = script.say("work out {one} and {other} of my numbers", one=OF_NUMBERS[one], other=OF_NUMBERS[other])
    supplied = script.tell("They are {numbers}.", "The numbers are {numbers}.", numbers=said)
    script.do(one, numbers=numbers)
    script.do(other, numbers=numbers)
    return Request(words, (lacking, supplied))


def _convert(script: Script) -> Request:
    imperial = script.chance(0.6)
    unit_in, unit_out, said_in, said_out = script.pick(_IMPERIAL if imperial else _METRIC)
    value = script.amount(2, 90)
    words = script.say(
        "convert {value} {unit_in} to {unit_out}",
        "tell me how many {unit_out} {value} {unit_in} are",
        "express {value} {unit_in} in {unit_out}",
        value=value,
        unit_in=said_in,
        unit_out=said_out,
    )
    lacking = script.say("convert what I have in {unit_in} to {unit_out}", unit_in=said_in, unit_out=said_out)
    supplied = script.tell("It is {value} {unit_in}.", "{value} {unit_in}.", value=value, unit_in=said_in)
    function = "imperial_si_conversion" if imperial else "si_unit_conversion"
    script.do(function, value=value, unit_in=unit_in, unit_out=unit_out)
    return Request(words, (lacking, supplied))


def _share(script: Script) -> Request:
    """A share, rounded."""
    part, whole, places = script.whole(11, 480), script.whole(490, 2_900), script.whole(1, 3)
    words = script.say(
        "tell me how many per cent {part} is of {whole}, and round that to {places} {unit}",
        "calculate which percentage {part} makes of {whole} and round it to {places} {unit}",
        "I want to know {part} as a percentage of {whole}, then the same rounded to {places} {unit}.",
        part=part,
        whole=whole,
        places=places,
        unit="decimal place" if places == 1 else "decimal places",
    )
    lacking = script.say("tell me how many per cent of the whole {part} is", part=part)
    supplied = script.tell(
        "The whole is {whole}; round the result to {places} {unit}.",
        "Of {whole}, and rounded to {places} {unit}.",
        whole=whole,
        places=places,
        unit="decimal place" if places == 1 else "decimal places",
    )
    result = script.do("percentage", part=part, whole=whole)["result"]
    script.do("round_number", number=result, decimal_places=places)
    return Request(words, (lacking, supplied))


def _chain(script: Script) -> Request:
    a, b, c = script.whole(12, 900), script.whole(12, 900), script.whole(2, 9)
    first, said = script.pick(
        (
            ("add", "add {a} and {b}"),
            ("multiply", "multiply {a} by {b}"),
            ("subtract", "subtract {b} from {a}"),
        )
    )
    words = script.say(
        said + ", then divide the result by {c}",
        said + " and after that divide what you get by {c}",
        said + ", and split the result into {c} equal parts",
        a=a,
        b=b,
        c=c,
    )
    result = script.do(first, a=a, b=b)["result"]
    script.do("divide", a=result, b=c)
    return Request(words)


def _power(script: Script) -> Request:
    base, exponent, other = script.whole(2, 14), script.whole(2, 6), script.whole(100, 9_000)
    words = script.say(
        "raise {base} to the power of {exponent}, subtract {other} from the result, and give me that without its sign",
        "calculate {base} to the power of {exponent} minus {other}, step by step, and then its absolute value",
        "work out {base} to the power of {exponent}, take {other} away from it and drop the sign of what is left",
        base=base,
        exponent=exponent,
        other=other,
    )
    power = script.do("power", base=base, exponent=exponent)["result"]
    rest = script.do("subtract", a=power, b=other)["result"]
    script.do("absolute_value", number=rest)
    return Request(words)


def _root(script: Script) -> Request:
    number, digits = script.whole(12, 9_000), script.whole(4, 12)
    if script.chance(0.5):
        words = script.say(
            "calculate the square root of {number} to {digits} digits",
            "work out the square root of {number} with a precision of {digits} digits",
            number=number,
            digits=digits,
        )
        script.do("square_root", number=number, precision=digits)
        return Request(words)
    base = script.pick((2, 10))
    words = script.say(
        "calculate the logarithm of {number} to base {base} with {digits} digits",
        "work out the base {base} logarithm of {number} with a precision of {digits} digits",
        number=number,
        base=base,
        digits=digits,
    )
    script.do("logarithm", value=number, base=base, precision=digits)
    return Request(words)


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (3, _statistics),
    (3, _convert),
    (3, _share),
    (2, _chain),
    (1, _power),
    (1, _root),
)
"""What users ask for, and how often."""
