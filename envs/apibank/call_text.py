r"""API-Bank's call text: which call the official evaluator sees in what a policy wrote.

    >>> extract_call("API-Request: [AddAlarm(token='a1', time='2023-03-18 06:00:00')] and so on")
    "[AddAlarm(token='a1', time='2023-03-18 06:00:00')]"
    >>> parse_call("[AddAlarm(token='a1', time=6)]")
    ('AddAlarm', {'token': 'a1', 'time': '6'})

The official evaluator searches ``\[(\w+)\((.*)\)\]`` and then, within the arguments, every
``name='value'`` (quotes of either kind, closed by either kind), ``name=[...]`` (to the last bracket)
and ``name=word``. Run as they stand, those patterns take quadratic time on hostile text. The same
answers are found here in time linear in the text, whatever it is; ``tests/test_call_text.py`` holds
the two against each other.
"""

from __future__ import annotations

import re

__all__ = ["extract_call", "parse_call"]

_OPENING = re.compile(r"\[(\w++)\(")
_CLOSING = ")]"
# A value can only begin with a quote, a bracket or a word character. No part of a name is tried as
# a name of its own: what decides stands behind it, and is the same for every part that ends there.
_NAME = re.compile(r"(?<!\w)(\w++)\s*+=\s*+(?=['\"\[\w])")
_QUOTE = re.compile(r"['\"]")
_WORD = re.compile(r"\w++")


def extract_call(text: str) -> str | None:
    """The first call in ``text``, from its opening bracket to the last ``)]`` of that line, or None."""
    found = _find_call(text)
    return None if found is None else text[found[0] : found[3] + len(_CLOSING)]


def parse_call(text: str) -> tuple[str, dict[str, str]] | None:
    """The name and parameters of the first call in ``text``, or None where there is none.

    Values are texts, cut and merged as the official evaluator does (``x=1.5`` is "1", ``x='O'Brien'``
    is "O"); what it cannot read is left out. Of two values for a name the later stands, in the place
    of the first.
    """
    found = _find_call(text)
    if found is None:
        return None
    name_start, begin, end = found[0] + 1, found[2], found[3]
    return text[name_start : found[1]], _parameters(text[begin:end])


def _find_call(text: str) -> tuple[int, int, int, int] | None:
    """Where the call starts, its name ends, its arguments start, and the ``)]`` behind them starts."""
    start = 0
    while (opening := _OPENING.search(text, start)) is not None:
        line_end = text.find("\n", opening.end())
        if line_end < 0:
            line_end = len(text)
        closing = text.rfind(_CLOSING, opening.end(), line_end)
        if closing >= 0:
            return opening.start(), opening.end(1), opening.end(), closing
        # No later opening on this line has a closing behind it either.
        start = line_end
    return None


def _parameters(arguments: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    last_bracket = arguments.rfind("]")
    position = 0
    while (name := _NAME.search(arguments, position)) is not None:
        begin = position = name.end()
        match arguments[begin]:
            case "'" | '"':
                # At least one character, so a quote right behind the first does not close it. Where
                # nothing closes it, at most one quote is left: this fails twice in a text at most.
                closing = _QUOTE.search(arguments, begin + 2)
                if closing is None:
                    continue
                value, position = arguments[begin + 1 : closing.start()], closing.end()
            case "[":
                if last_bracket < begin:
                    continue
                value, position = arguments[begin : last_bracket + 1], last_bracket + 1
            case _:
                word = _WORD.match(arguments, begin)
                assert word is not None
                value, position = word.group(), word.end()
        parameters[name.group(1)] = value
    return parameters
