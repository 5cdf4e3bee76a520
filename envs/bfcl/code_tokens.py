"""The tokens of a text in Java's or JavaScript's notation, and the values of single ones; nothing is evaluated.

Linear in the length of the text: strings and comments that do not end, and brackets without a partner, end the
scan at once.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from callgym.envs.bfcl.categories import Language

__all__ = ["MOST_CHARACTERS", "Tokens", "number_of", "scan_code", "string_of"]

MOST_CHARACTERS = 5_000
"""A longer text is not looked at."""
_MAX_DEPTH = 64
_MAX_NUMBER_LENGTH = 400
_PARTNERS = {"(": ")", "[": "]", "{": "}"}
_CLOSINGS = frozenset(_PARTNERS.values())

_TOKEN = re.compile(
    r"""
    (?P<blank>\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)
    |(?P<word>[^\W\d]\w*+|\$\w*+)
    |(?P<number>(?:\d|\.\d)(?:[eE][+-]?(?=\d)|[\w.])*+)
    |(?P<string>"{3}(?:[^"\\]|\\.|"(?!""))*+"{3}|"(?!"")(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`)
    |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_WHOLE_NUMBER = re.compile(r"(0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9][0-9_]*)([lLn]?)")
_FRACTION = re.compile(r"((?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?)([fFdD]?)")
_SUFFIXES: dict[Language, str] = {"java": "lLfFdD", "javascript": "n"}

_ESCAPE = re.compile(
    r"\\(u+[dD][89abAB][0-9a-fA-F]{2}\\u+[dD][c-fC-F][0-9a-fA-F]{2}|u+[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}"
    r"|x[0-9a-fA-F]{2}|[0-3]?[0-7]{1,2}|.)",
    re.DOTALL,
)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}


class Tokens(NamedTuple):
    """A text cut into tokens; white space and comments are none."""

    text: str
    kinds: list[str]
    """``word``, ``number``, ``string``, or the sign itself."""
    starts: list[int]
    ends: list[int]
    partners: dict[int, int]
    """Index of an opening bracket to that of its closing one."""

    def raw(self, begin: int, end: int) -> str:
        """The text of the tokens from ``begin`` up to ``end``, what stands between them included."""
        return self.text[self.starts[begin] : self.ends[end - 1]] if begin < end else ""


def scan_code(text: str) -> Tokens | None:
    """The tokens of ``text``; None where it is too long, nested too deep, or something in it does not end."""
    if len(text) > MOST_CHARACTERS:
        return None
    tokens = Tokens(text, [], [], [], {})
    open_brackets: list[int] = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        if kind == "blank":
            continue
        if kind == "sign":
            kind = found.group()
            if not _follow(kind, tokens, open_brackets) or (kind == "/" and text.startswith("/*", found.start())):
                return None
        tokens.kinds.append(kind)
        tokens.starts.append(found.start())
        tokens.ends.append(found.end())
    return None if open_brackets else tokens


def _follow(sign: str, tokens: Tokens, open_brackets: list[int]) -> bool:
    """Keep count of brackets; False where the text cannot be read on."""
    if sign in _PARTNERS:
        open_brackets.append(len(tokens.kinds))
        return len(open_brackets) <= _MAX_DEPTH
    if sign in _CLOSINGS:
        if not open_brackets or _PARTNERS[tokens.kinds[open_brackets[-1]]] != sign:
            return False
        tokens.partners[open_brackets.pop()] = len(tokens.kinds)
    # A quote that is no part of a string opens one that does not end.
    return sign not in "'\"`"


def number_of(text: str, language: Language) -> int | float | None:
    """The value of a number without its sign; None where the text is none, or one that Python cannot hold."""
    if len(text) > _MAX_NUMBER_LENGTH:
        return None
    for form, value_of in ((_WHOLE_NUMBER, _whole_number), (_FRACTION, _fraction)):
        found = form.fullmatch(text)
        if found is not None and found.group(2) in _SUFFIXES[language]:
            return value_of(found.group(1).replace("_", ""))
    return None


def _whole_number(digits: str) -> int | None:
    base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 10)
    if base != 10:
        return int(digits[2:], base) if digits[2:] else None
    octal = len(digits) > 1 and digits[0] == "0" and not set(digits) & {"8", "9"}
    return int(digits, 8 if octal else 10)


def _fraction(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def string_of(token: str, language: Language) -> str | None:
    """The text that a string or character literal stands for; None where the language has no such literal."""
    quote = token[0]
    if language == "java":
        if token.startswith('"""') and len(token) >= 6:
            return _text_block(token[3:-3])
        content = _unescaped(token[1:-1])
        return content if quote == '"' or (quote == "'" and len(content) == 1) else None
    if token.startswith('"""') or (quote == "`" and "${" in token):
        return None
    return _unescaped(token[1:-1])


def _text_block(content: str) -> str:
    """Java's text block: from the second line on, without the indentation all its lines share."""
    lines = content.split("\n")
    if lines[0].strip():
        return _unescaped(content)  # no Java, but it is plain what is meant
    lines = lines[1:]
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    if lines and not lines[-1].strip():
        indents.append(len(lines[-1]))
    cut = min(indents, default=0)
    kept = [line[cut:].rstrip() for line in lines]
    return _unescaped("\n".join(kept))


def _unescaped(content: str) -> str:
    return _ESCAPE.sub(_escaped_character, content) if "\\" in content else content


def _escaped_character(found: re.Match[str]) -> str:
    escape = found.group(1)
    if escape in _CONTROLS:
        return _CONTROLS[escape]
    if escape[0] in "01234567":
        return chr(int(escape, 8))
    if len(escape) == 1:
        return escape
    numbers = [int(part.strip("{}"), 16) for part in re.split(r"\\?[ux]+", escape) if part]
    code = numbers[0] if len(numbers) == 1 else 0x10000 + (numbers[0] - 0xD800) * 0x400 + numbers[1] - 0xDC00
    # A lone half of a pair is no character.
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found.group()
