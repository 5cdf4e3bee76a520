"""How far a JSON text that cannot be read is data all the same.

Reading goes on behind a broken call at the next mark that can be one. A mark inside a string is none, even
where the JSON around it has a fault: whoever wrote the string must not get a call made by it. A quote that was
forgotten is told apart: there the string swallowed a neighbour, whose first quote seems to close it.
"""

from __future__ import annotations

import json
import re

__all__ = ["balanced_end", "end_of_data"]

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# A string that is not closed goes to the end: looking for its end from each of its quotes would take long.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)|[\[{]|[\]}]', re.DOTALL)
_BEFORE_A_STRING = ("{", "[", ",", ":")
_DECODER = json.JSONDecoder(strict=False, parse_int=len, parse_float=len, parse_constant=len)
"""Any JSON, whatever its numbers and keys: what matters is where it ends, or where it no longer is JSON."""


def end_of_data(text: str, start: int) -> int:
    """Where marks count again in a text whose JSON at ``start`` could not be read; linear in the JSON's length."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except json.JSONDecodeError as error:
        fault = error.pos
    except RecursionError:
        return balanced_end(text, start, len(text)) or start
    strings = list(_STRING.finditer(text, start, fault))
    if not strings or text[strings[-1].end() : fault].strip():
        return fault
    last = strings[-1]
    swallowed = text[last.start() + 1 : last.end() - 1].rstrip()
    return last.start() if swallowed.endswith(_BEFORE_A_STRING) else fault


def balanced_end(text: str, start: int, end: int) -> int:
    """Where all brackets that opened from ``start`` on have closed, of whatever kind; 0 for nowhere before ``end``."""
    depth = 0
    for mark in _STRING_OR_BRACKET.finditer(text, start, end):
        if mark.group()[0] != '"':
            depth += 1 if mark.group() in "[{" else -1
            if depth <= 0:
                return mark.end() if depth == 0 else 0
    return 0
