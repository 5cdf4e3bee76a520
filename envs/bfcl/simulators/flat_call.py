"""The quick way to read a plain call text: ``name(a='x', b=1.5, c=['y'])`` on atoms and lists of texts.

What is read here is read as Python reads it; everything else is left to the slow way (``call_expression``), which
asks Python's own parser and takes five times as long.
"""

from __future__ import annotations

import re
from keyword import iskeyword
from typing import NamedTuple

__all__ = ["FlatCall", "read_flat_call"]

Atom = str | int | float | bool | None

_TEXT = r"""'[^'\\\n\r\0\ud800-\udfff]*'|"[^"\\\n\r\0\ud800-\udfff]*\""""
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_WHOLE = "-?(?:0|[1-9][0-9]{0,17})"
_OPENING = re.compile(rf"({_NAME})\(")
# The name, then one group for each kind of value; the last that matched tells the kind.
_ARGUMENT = re.compile(
    rf"[ ]*(?:({_NAME})[ ]?=[ ]?)?"
    rf"(?:({_TEXT})|({_WHOLE})|({_WHOLE}\.[0-9]{{1,17}})|(True|False|None)|\[((?:{_TEXT})(?:,[ ]?(?:{_TEXT}))*)\])"
    rf"[,)]"
)
_TEXTS = re.compile(_TEXT)
_WORDS: dict[str, bool | None] = {"True": True, "False": False, "None": None}


class FlatCall(NamedTuple):
    """A call on atoms and lists of texts; a list is given as a tuple here."""

    name: str
    positional: list[Atom | tuple[str, ...]]
    keywords: dict[str, Atom | tuple[str, ...]]


def read_flat_call(text: str) -> FlatCall | None:
    """Read a call text; None for one that is not as plain as that, whether Python could read it or not."""
    opening = _OPENING.match(text)
    if opening is None or iskeyword(opening[1]):
        return None
    call = FlatCall(opening[1], [], {})
    end, length = opening.end(), len(text)
    if end == length - 1 and text[end] == ")":
        return call
    while True:
        argument = _ARGUMENT.match(text, end)
        if argument is None:
            return None
        name = argument[1]
        value = _value(argument)
        if name is None:
            if call.keywords:
                return None
            call.positional.append(value)
        elif name in call.keywords or iskeyword(name):
            return None
        else:
            call.keywords[name] = value
        end = argument.end()
        if text[end - 1] == ")":
            return call if end == length else None


def _value(argument: re.Match[str]) -> Atom | tuple[str, ...]:
    kind = argument.lastindex or 0
    source = argument[kind]
    if kind == 2:
        return source[1:-1]
    if kind == 3:
        return int(source)
    if kind == 4:
        return float(source)
    if kind == 5:
        return _WORDS[source]
    return tuple([item[1:-1] for item in _TEXTS.findall(source)])
