"""Reading values as Python writes them, or JSON: what a call's argument may be, exactly and in linear time.

Strings of every Python kind but f-strings and bytes (raw, triple-quoted, adjacent ones joined; a raw line break
is read in any of them), numbers, True/true, False/false, None/null, lists, tuples (as lists) and dicts with texts
as keys. Where the two notations differ in a string, Python's holds. Nothing is ever evaluated.
"""

from __future__ import annotations

import math
import re
import sys
from typing import Any

from callgym.dialects.json_text import json_scanner
from callgym.dialects.literal import MAX_DEPTH, MAX_NUMBER_LENGTH, LiteralError, skip_space

__all__ = ["SCALAR", "STRINGS", "read_scalar", "scan_value", "skip_comma", "skip_parentheses"]

STRINGS = (
    r"'''(?:[^'\\]|\\.|'(?!''))*+'''"
    r'|"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'(?!'')(?:[^'\\]|\\.)*+'"
    r'|"(?!"")(?:[^"\\]|\\.)*+"'
)
"""Pattern of Python's strings."""
_PLAIN = r"[^()\[\]{}'\"]"
_UP_TO_BRACKET = re.compile(rf"(?:{_PLAIN}++|{STRINGS}|\({_PLAIN}*+\)|\[{_PLAIN}*+\]|\{{{_PLAIN}*+\}})*+", re.DOTALL)
"""Flat brackets are passed over whole, which is quicker."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
_PLAIN_INTEGER = r"[+-]?+(?:0|[1-9][0-9]*+)(?![\w.])"
_PLAIN_FLOAT = r"[+-]?+(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+(?![\w.])"
SCALAR = (
    r"(?:'([^'\\]*+)'(?!')"
    r'|"([^"\\]*+)"(?!")'
    rf"|({_PLAIN_INTEGER})|({_PLAIN_FLOAT})|(True|False|None|true|false|null)(?!\w))\s*+"
)
"""Pattern of a value that needs no second look, and the space after it: five groups, for ``read_scalar``."""
_NEXT = r"(?:,\s*+|(?=[\])}]))"
_SCALAR = re.compile(SCALAR)
_ITEM = re.compile(SCALAR + _NEXT)
_PAIR = re.compile(r"""(?:'([^'\\]*+)'|"([^"\\]*+)")\s*+:\s*+""" + SCALAR + _NEXT)
_OPENING = frozenset("[({")
_ENDS = frozenset(",)]}:")

_WINDOW = MAX_NUMBER_LENGTH - 1
"""Lists and dicts of up to this many characters are read by the JSON decoder where that gives the same: no number
in them can be too long."""
_scan_json = json_scanner(strict=False, short=True)

_STRING = re.compile(r"[rRuU]?+(?=['\"])")
_OTHER_STRING = re.compile(r"([A-Za-z]{1,2})['\"]")
_BODIES = {
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+", re.DOTALL),
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL),
    "'''": re.compile(r"[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+", re.DOTALL),
    '"""': re.compile(r'[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+', re.DOTALL),
}
"""Quote to all that stands before the closing one."""
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\(?:u([dD][89abAB]{_HEX}{{2}})\\u([dD][c-fC-F]{_HEX}{{2}})"
    rf"|u({_HEX}{{4}})|U({_HEX}{{8}})|x({_HEX}{{2}})|([0-7]{{1,3}})|(.))",
    re.DOTALL,
)
_ESCAPED = {
    "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v",
    "\n": "",
}  # fmt: skip
_DIGITS = {"x": "2 hexadecimal digits", "u": "4 hexadecimal digits", "U": "8 hexadecimal digits"}

_NUMBER = re.compile(r"[+-]?+(?:0[xXoObB]\w*+|(?:[0-9][0-9_]*+\.?+[0-9_]*+|\.[0-9][0-9_]*+)(?:[eE][+-]?+[0-9_]*+)?+)")
_WORD = re.compile(r"[^\W\d][\w.]*+")
_NOT_FINITE = frozenset(("nan", "inf", "infinity", "math.nan", "math.inf", "np.nan", "np.inf"))


def read_scalar(kind: int, written: str, position: int) -> Any:
    """The value of a match of ``SCALAR``.

    Args:
        kind: Which of its groups matched, from 1 to 5.
        written: What that group holds.
        position: Where it stands, for the error.

    Raises:
        LiteralError: A number is too long or too large.
    """
    if kind <= 2:
        return written
    if kind == 5:
        return _WORDS[written]
    if len(written) >= MAX_NUMBER_LENGTH:
        raise LiteralError(f"a number of {MAX_NUMBER_LENGTH} characters or more", position)
    if kind == 3:
        return int(written)
    return _finite(written, position)


def scan_value(text: str, position: int, depth: int = 0) -> tuple[Any, int]:
    """Read one value at ``position``; returns it and the position after it and the space that follows.

    Raises:
        LiteralError: No value starts there; its message says what to write.
    """
    first = text[position : position + 1]
    if first not in _OPENING:
        return _scan_single(text, position, first)
    if depth == 0 and first != "(":
        short = _read_short(text, position)
        if short is not None:
            return short[0], skip_space(text, position + short[1])
    if depth >= MAX_DEPTH:
        raise LiteralError(f"nested deeper than {MAX_DEPTH} levels", position)
    if first == "{":
        return _scan_dict(text, position, depth)
    if first == "(":
        return _scan_parentheses(text, position, depth)
    return _scan_items(text, position, depth, "]")


def skip_comma(text: str, position: int, closing: str) -> int:
    """The start of the next item or the closing mark, after the comma that belongs between.

    Raises:
        LiteralError: Something else follows.
    """
    if text.startswith(",", position):
        return skip_space(text, position + 1)
    if text.startswith(closing, position):
        return position
    if position >= len(text):
        raise LiteralError(f"',' or {closing!r} is missing", position, at_end=True)
    found = text[position : position + 20]
    raise LiteralError(f"',' or {closing!r} belongs before {found!r}: a value is one literal, nothing more", position)


def _read_short(text: str, position: int) -> tuple[Any, int] | None:
    """A short list or dict that is JSON but for its kind of quotes, at a third of the cost; None for any other."""
    window = text[position : position + _WINDOW]
    if "\\" in window or window.count("[") + window.count("{") > MAX_DEPTH:
        return None
    if '"' not in window:  # then each single quote opens or closes a string
        window = window.replace("'", '"')
    try:
        return _scan_json(window, 0)
    except (StopIteration, ValueError):
        return None


def _scan_parentheses(text: str, position: int, depth: int) -> tuple[Any, int]:
    """A tuple, as a list; one value without a comma is that value, as in Python."""
    items, end = _scan_items(text, position, depth, ")")
    if len(items) == 1 and not text[position:end].rstrip()[:-1].rstrip().endswith(","):
        return items[0], end
    return items, end


def _scan_items(text: str, position: int, depth: int, closing: str) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = skip_space(text, position + 1)
    while not text.startswith(closing, at):
        match = _ITEM.match(text, at)
        if match is not None:
            kind = match.lastindex or 0
            items.append(read_scalar(kind, match[kind], at))
            at = match.end()
        else:
            item, at = scan_value(text, at, depth + 1)
            items.append(item)
            at = skip_comma(text, at, closing)
    return items, skip_space(text, at + 1)


def _scan_dict(text: str, position: int, depth: int) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    at = skip_space(text, position + 1)
    while not text.startswith("}", at):
        match = _PAIR.match(text, at)
        if match is not None:
            key = match[1] if match[1] is not None else match[2]
            kind = match.lastindex or 0
            value, end = read_scalar(kind - 2, match[kind], at), match.end()
        else:
            key, end = _scan_key(text, at, depth)
            value, end = scan_value(text, end, depth + 1)
            end = skip_comma(text, end, "}")
        if key in items:
            raise LiteralError(f"key {key[:40]!r} appears twice in one dict", at)
        items[key], at = value, end
    return items, skip_space(text, at + 1)


def _scan_key(text: str, position: int, depth: int) -> tuple[str, int]:
    """A dict's key and the start of its value."""
    key, at = scan_value(text, position, depth + 1)
    if not isinstance(key, str):
        raise LiteralError("the keys of a dict are texts in quotes", position)
    if not text.startswith(":", at):
        raise LiteralError(f"':' is missing after the key {key[:40]!r}", at, at_end=at >= len(text))
    return key, skip_space(text, at + 1)


def _scan_single(text: str, position: int, first: str) -> tuple[Any, int]:
    match = _SCALAR.match(text, position)
    if match is not None:
        kind, end = match.lastindex or 0, match.end()
        if kind > 2 or text[end : end + 1] in _ENDS:
            return read_scalar(kind, match[kind], position), end
    value, end = _scan_odd(text, position, first)
    return value, skip_space(text, end)


def _scan_odd(text: str, position: int, first: str) -> tuple[Any, int]:
    """A text, a number or a word that is no plain one, or the fault in it."""
    if not first:
        raise LiteralError("a value is missing at the end of the text", position, at_end=True)
    if _STRING.match(text, position):
        return _scan_strings(text, position)
    other = _OTHER_STRING.match(text, position)
    if other is not None:
        raise LiteralError(f"a text with the prefix {other[1]} is no plain value; write the text itself", position)
    number = _NUMBER.match(text, position)
    if number is not None:
        return _number(number.group(), position, number.end() >= len(text)), number.end()
    word = _WORD.match(text, position)
    if word is not None:
        return _read_word(text, position, word.group(), word.end())
    if first in _ENDS:
        raise LiteralError(f"a value is missing before {first!r}", position)
    at_end = position + 1 >= len(text) and first in "+-."
    raise LiteralError(f"no value starts with {first!r}", position, at_end=at_end)


def _read_word(text: str, position: int, word: str, end: int) -> tuple[Any, int]:
    if word in _WORDS:
        return _WORDS[word], end
    shown = word[:40]
    if word.lower() in _NOT_FINITE:
        message = f"{shown} is no number that can be sent; leave it out or write a finite one"
    elif text.startswith("(", end):
        message = f"{shown}(...) stands where a value belongs; call {shown} by itself and use what it returns"
    else:
        message = f"{shown!r} is not a value; text needs quotes"
    raise LiteralError(message, position, at_end=end >= len(text))


def _scan_strings(text: str, position: int) -> tuple[str, int]:
    """One string, or several side by side, which are one text."""
    pieces: list[str] = []
    at = position
    while True:
        piece, end = _scan_string(text, at)
        pieces.append(piece)
        at = skip_space(text, end)
        if not _STRING.match(text, at):
            return "".join(pieces), end


def _scan_string(text: str, position: int) -> tuple[str, int]:
    raw = text[position] in "rR"
    start = position if text[position] in "'\"" else position + 1
    quote = text[start]
    if text.startswith(quote * 3, start):
        quote *= 3
    body = _BODIES[quote].match(text, start + len(quote))
    assert body is not None
    if not text.startswith(quote, body.end()):
        raise LiteralError("a quoted text is never closed", position, at_end=True)
    end = body.end() + len(quote)
    if raw or "\\" not in body.group():
        return body.group(), end
    return _ESCAPE.sub(lambda found: _unescape(found, body.start()), body.group()), end


def _unescape(found: re.Match[str], offset: int) -> str:
    high, low, *codes, letter = found.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    position = offset + found.start()
    if letter is not None:
        if letter in _DIGITS:
            message = f"\\{letter} needs {_DIGITS[letter]}; a backslash that is part of a text is written twice"
            raise LiteralError(message, position)
        if letter == "N":
            raise LiteralError("\\N is not read: write the character itself; a backslash in a text, twice", position)
        return _ESCAPED.get(letter, found.group())
    number, octal = codes[0] or codes[1] or codes[2], codes[3]
    code = int(octal, 8) if octal else int(number, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise LiteralError(f"{found.group()} is not a character", position)
    return chr(code)


def _number(written: str, position: int, at_end: bool) -> int | float:
    if len(written) >= MAX_NUMBER_LENGTH:
        raise LiteralError(f"a number of {MAX_NUMBER_LENGTH} characters or more", position)
    digits = written.lstrip("+-")
    try:
        if digits[1:2] in ("x", "X", "o", "O", "b", "B"):
            return int(written, 0)
        if not digits.replace("_", "").isdigit():
            return _finite(written, position)
        if digits[0] == "0" and digits.strip("0_"):
            raise LiteralError(f"a number has no 0 in front; if {written[:40]} is text, it needs quotes", position)
        return int(written)
    except LiteralError:
        raise
    except ValueError:
        raise LiteralError(f"{written[:40]!r} is no number", position, at_end=at_end) from None


def _finite(written: str, position: int) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise LiteralError(f"{written[:40]} is too large for a number", position)
    return value


def skip_parentheses(text: str, at: int, most: int = sys.maxsize) -> int:
    """Where a call ends that cannot be read: behind the parenthesis that closes it, strings passed over whole.

    Args:
        text: The text.
        at: Behind the parenthesis that opens it.
        most: Brackets that may be open at once.

    Returns:
        The position behind it; -1 where brackets or quotes do not match.
    """
    awaited = [")"]
    while 0 < len(awaited) <= most:
        plain = _UP_TO_BRACKET.match(text, at)
        assert plain is not None
        at = plain.end()
        mark = text[at : at + 1]
        if mark == awaited[-1]:
            awaited.pop()
        elif mark in _CLOSING:
            awaited.append(_CLOSING[mark])
        else:
            return -1
        at += 1
    return -1 if awaited else at
