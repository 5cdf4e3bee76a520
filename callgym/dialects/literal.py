"""Reading literals in Python's or JSON's notation: strings, numbers, booleans, null, lists, objects.

Linear in the length of the text, bounded in depth, and nothing is ever evaluated.
"""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = [
    "MAX_DEPTH",
    "MAX_NUMBER_LENGTH",
    "LiteralError",
    "read_literal",
    "scan_escape",
    "scan_literal",
    "scan_string",
    "skip_space",
    "unescape",
]

MAX_DEPTH = 64
"""Deepest nesting of lists and objects that is read."""

MAX_NUMBER_LENGTH = 400
"""A number of this many characters or more is refused."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SPACE = re.compile(r"\s*")
_BODIES = {
    quote: re.compile(rf"[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+", re.DOTALL)
    for quote in ("'", '"', "`")  # the last one is JavaScript's
}
"""Quote to all that stands before the closing one."""
_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "/": "/"}


class LiteralError(ValueError):
    """The text at ``position`` is not a literal."""

    def __init__(self, message: str, position: int, *, at_end: bool = False) -> None:
        super().__init__(message)
        self.position = position
        self.at_end = at_end
        """Whether the text broke off, so that more of it might have been right."""


def read_literal(text: str) -> Any:
    """The value of a text that is one literal and nothing else.

    Raises:
        LiteralError: It is not.
    """
    if text.isascii() and text.isdigit() and len(text) < MAX_NUMBER_LENGTH:  # what is typed by a schema most often
        return int(text)
    value, end = scan_literal(text, skip_space(text, 0))
    end = skip_space(text, end)
    if end != len(text):
        raise LiteralError(f"unexpected text after the value at character {end}", end)
    return value


def skip_space(text: str, position: int) -> int:
    """The first position at or after ``position`` that is not white space."""
    first = text[position : position + 1]
    if first == " " or first == "\n":  # there is none, or one, nearly always
        position += 1
        first = text[position : position + 1]
    if " " < first < "\x7f":
        return position
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()


def scan_literal(text: str, position: int, depth: int = 0) -> tuple[Any, int]:
    """Read one literal at ``position``; returns the value and the position after it.

    Raises:
        LiteralError: No literal starts there.
    """
    if position >= len(text):
        raise LiteralError("a value is missing at the end of the text", position, at_end=True)
    first = text[position]
    if first in "'\"":
        return scan_string(text, position)
    if first in "[({":
        if depth >= MAX_DEPTH:
            raise LiteralError(f"nested deeper than {MAX_DEPTH} levels", position)
        if first == "{":
            return _scan_object(text, position, depth)
        return _scan_list(text, position, depth)
    word = _WORD.match(text, position)
    if word is not None:
        if word.group() in _WORDS:
            return _WORDS[word.group()], word.end()
        raise LiteralError(f"{word.group()[:40]!r} is not a value; text needs quotes", position)
    return _scan_number(text, position)


def scan_string(text: str, position: int) -> tuple[str, int]:
    """Read a quoted string; backslash escapes as in JSON and Python, unknown ones kept as written.

    Raises:
        LiteralError: The closing quote is missing, or an escape is not a character.
    """
    body = _BODIES[text[position]].match(text, position + 1)
    assert body is not None
    if body.end() >= len(text) or text[body.end()] == "\\":
        raise LiteralError("a quoted text is never closed", position, at_end=True)
    return unescape(text, body.start(), body.end()), body.end() + 1


def unescape(text: str, start: int, end: int) -> str:
    """What stands between two quotes, from ``start`` to ``end``.

    Raises:
        LiteralError: An escape is not a character.
    """
    backslash = text.find("\\", start, end)
    if backslash < 0:
        return text[start:end]
    pieces: list[str] = []
    while backslash >= 0:
        pieces.append(text[start:backslash])
        piece, start = scan_escape(text, backslash)
        pieces.append(piece)
        backslash = text.find("\\", start, end)
    pieces.append(text[start:end])
    return "".join(pieces)


def scan_escape(text: str, backslash: int) -> tuple[str, int]:
    """Read one escape; returns its characters and the position after it.

    Raises:
        LiteralError: The text ends in the escape, or it is half of a surrogate pair.
    """
    if backslash + 1 >= len(text):
        raise LiteralError("the text ends inside an escape", backslash, at_end=True)
    letter = text[backslash + 1]
    if letter in _ESCAPES:
        return _ESCAPES[letter], backslash + 2
    if letter == "u":
        code = _hex(text, backslash + 2)
        end = backslash + 6
        if code is None:
            return "\\u", backslash + 2
        if 0xD800 <= code < 0xDC00 and text.startswith("\\u", end):
            low = _hex(text, end + 2)
            if low is not None and 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), end + 6
        if 0xD800 <= code < 0xE000:
            raise LiteralError(f"\\u{code:04x} is half of a surrogate pair, not a character", backslash)
        return chr(code), end
    return "\\" + letter, backslash + 2


def _hex(text: str, position: int) -> int | None:
    digits = text[position : position + 4]
    if len(digits) < 4 or any(c not in "0123456789abcdefABCDEF" for c in digits):
        return None
    return int(digits, 16)


def _scan_number(text: str, position: int) -> tuple[int | float, int]:
    match = _NUMBER.match(text, position, position + MAX_NUMBER_LENGTH)
    if match is None:
        raise LiteralError(f"no value starts with {text[position]!r}", position)
    digits = match.group()
    if len(digits) == MAX_NUMBER_LENGTH:
        raise LiteralError(f"a number of {MAX_NUMBER_LENGTH} characters or more", position)
    if digits.lstrip("+-").isdigit():
        return int(digits), match.end()
    value = float(digits)
    if not math.isfinite(value):
        raise LiteralError(f"{digits[:40]} is too large for a number", position)
    return value, match.end()


def _scan_list(text: str, position: int, depth: int) -> tuple[list[Any], int]:
    closing = "]" if text[position] == "[" else ")"
    items: list[Any] = []
    at = skip_space(text, position + 1)
    while not text.startswith(closing, at):
        item, at = scan_literal(text, at, depth + 1)
        items.append(item)
        at = _skip_comma(text, at, closing)
    return items, at + 1


def _scan_object(text: str, position: int, depth: int) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    at = skip_space(text, position + 1)
    while not text.startswith("}", at):
        key, at = scan_literal(text, at, depth + 1)
        if not isinstance(key, str):
            raise LiteralError("an object's keys are quoted texts", at)
        if key in items:
            raise LiteralError(f"key {key[:40]!r} appears twice in one object", at)
        at = skip_space(text, at)
        if not text.startswith(":", at):
            raise LiteralError(f"':' is missing after key {key[:40]!r}", at, at_end=at >= len(text))
        items[key], at = scan_literal(text, skip_space(text, at + 1), depth + 1)
        at = _skip_comma(text, at, "}")
    return items, at + 1


def _skip_comma(text: str, position: int, closing: str) -> int:
    at = skip_space(text, position)
    if text.startswith(",", at):
        return skip_space(text, at + 1)
    if not text.startswith(closing, at):
        raise LiteralError(f"',' or {closing!r} is missing", at, at_end=at >= len(text))
    return at
