"""One call as ToolACE writes it: ``Get Weather(city="Oslo", days=[1, 2])``, Python but for the tool's name.

Names stand as they are, with blanks, slashes, apostrophes and parentheses. A parenthesis belongs to the name where
another opens right behind it, ``Price Oscillator (DPO)(symbol="A")``, or the name goes on behind it; a comma where a
blank came before it in the name, ``Events, Past 7 Days()``, but not in ``note, f()``. Any other name is quoted,
``"a=b"(x=1)``. Arguments whose names are no plain words stand in a dict, ``f(**{"odd name": 2})``.
"""

from __future__ import annotations

import json
import re
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.literal import LiteralError, skip_space
from callgym.dialects.python_value import SCALAR, STRINGS, read_scalar, scan_value, skip_comma, skip_parentheses
from callgym.episode import ParseError, ParseErrorKind

__all__ = ["ARGUMENTS", "NAME", "NAMED", "QUOTED", "WORD", "read_call", "write_call", "write_value"]

_MAX_SHOWN = 80
_MAX_OPEN = 200
"""Brackets that may be open in a call that is skipped."""

_LETTER = r"[^\s()\[\]{}'\"=,;`<>\\*]"
_GROUP = r"\([^()\[\]{}'\"=\n]++\)"
_GROUPS = rf"\x20{_GROUP}(?=\x20?\(|\x20{_LETTER})|{_GROUP}(?=\()"
_KEY = r"[\w$@][\w.$@-]*+(?:\[\w*+\])*+"
WORD = rf"(?:{_LETTER}|(?<=\w)'(?=\w))++"
"""Pattern of a name without blanks."""
NAME = rf"{WORD}(?:(?:\x20{WORD}|{_GROUPS})(?:,?\x20{WORD}|{_GROUPS})*+)?+"
"""Pattern of a name that stands as it is."""
QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
"""Pattern of a name in quotes."""
NAMED = rf"{_KEY}\s*+=(?!=)"
"""Pattern of what an argument begins with."""
ARGUMENTS = rf"\s*+(?:\)|\*\*|{NAMED}|['\"\[{{0-9+-]|\Z)"
"""Pattern of what stands behind a parenthesis that without doubt opens arguments, well written or not."""

_HEAD = re.compile(rf"(?:({NAME})\x20?|{QUOTED})\(", re.DOTALL)
_ARGUMENT = re.compile(rf"({_KEY})\s*+=(?!=)\s*+{SCALAR}(?:,\s*+|(?=\)))").match
_ARGUMENT_NAME = re.compile(rf"({_KEY})\s*+=(?!=)\s*+").match
_PLAIN_KEY = re.compile(_KEY)
_BEGUN = re.compile(r"\*?+[\w.$@-]*+")

# What a call that cannot be read is skipped with, strings whole. Three quotes open nothing but a string that ends with
# three: were they tried as an empty string, too, each of many would be looked for an end that is not there.
_STRANGER = re.compile(rf"(?:{NAME})?+(?:[^,()\[\]{{}}'\"]++|{STRINGS})*+", re.DOTALL)
"""A comma that could be part of a name does not end it: what follows was looked at already."""


def read_call(text: str, at: int, offset: int) -> tuple[ToolCall | ParseError, int]:
    """Read what should be a call.

    Args:
        text: What the policy wrote.
        at: Where it begins.
        offset: What to add to positions in this text.

    Returns:
        The call or what is wrong with it, and the position behind it; -1 where that cannot be told, because quotes
        or brackets do not match or the text breaks off.
    """
    head = _HEAD.match(text, at)
    try:
        if head is None:
            raise _stranger(text, at)
        name = head[1] if head[1] is not None else scan_value(text, at)[0]
        arguments, end = _scan_arguments(text, skip_space(text, head.end()))
        if not name:
            raise LiteralError("a call needs a name", at)
        return ToolCall.trusted(name=name, arguments=arguments, id=None), end
    except LiteralError as error:
        kind: ParseErrorKind = "malformed"
        if error.at_end:
            kind, end = "truncated", -1
        elif head is None:
            end = _stranger_end(text, at)
        else:
            end = skip_parentheses(text, head.end(), _MAX_OPEN)
            kind = "arguments" if end >= 0 else "malformed"
        message = f"the call at character {offset + at} cannot be read: {error}"
        return ParseError(kind=kind, position=offset + error.position, message=message), end


def write_call(call: ToolCall) -> str:
    """A call so that ``read_call`` gives it back, without control tokens in it."""
    head = _HEAD.match(f"{call.name}()")
    name = call.name if head is not None and head[1] == call.name else write_value(call.name)
    parts: list[str] = []
    odd: dict[str, Any] = {}
    for key, value in call.arguments.items():
        if not _PLAIN_KEY.fullmatch(key):
            odd[key] = value
            continue
        if odd:
            parts.append(f"**{write_value(odd)}")
            odd = {}
        parts.append(f"{key}={write_value(value)}")
    if odd:
        parts.append(f"**{write_value(odd)}")
    # Plain names hold no "<", so this one stands in quotes, where an escape is read.
    return f"{name}({', '.join(parts)})".replace("<|", "\\u003c|")


def write_value(value: Any) -> str:
    """A JSON value in Python's notation, texts in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return f"{{{', '.join([f'{write_value(key)}: {write_value(item)}' for key, item in value.items()])}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    return repr(value)


def _stranger(text: str, at: int) -> LiteralError:
    """The fault of what is no call."""
    end = _stranger_end(text, at)
    message = f"a call has the form Name(parameter=value), found {text[at : at + 20]!r}"
    return LiteralError(message, at, at_end=end >= len(text) or text[end] in "'\"")


def _stranger_end(text: str, at: int) -> int:
    stranger = _STRANGER.match(text, at)
    assert stranger is not None
    return stranger.end()


def _scan_arguments(text: str, position: int) -> tuple[dict[str, Any], int]:
    """Read what stands in a call's parentheses, up to the closing one.

    Raises:
        LiteralError: It cannot be read.
    """
    arguments: dict[str, Any] = {}
    at = position
    while not text.startswith(")", at):
        named, end = _scan_argument(text, at)
        if not arguments.keys().isdisjoint(named):
            twice = next(key for key in named if key in arguments)
            raise LiteralError(f"argument {twice[:_MAX_SHOWN]!r} is given twice", at)
        arguments.update(named)
        at = end
    return arguments, at + 1


def _scan_argument(text: str, at: int) -> tuple[dict[str, Any], int]:
    """One argument, or those of one dict."""
    if (match := _ARGUMENT(text, at)) is not None:
        kind = match.lastindex or 0
        return {match[1]: read_scalar(kind - 1, match[kind], at)}, match.end()
    if (name := _ARGUMENT_NAME(text, at)) is not None:
        value, end = scan_value(text, name.end())
        return {name[1]: value}, skip_comma(text, end, ")")
    if text.startswith("**", at):
        start = skip_space(text, at + 2)
        if text.startswith("{", start):
            named, end = scan_value(text, start)
            return named, skip_comma(text, end, ")")
        raise LiteralError("** stands before a dict like {'name': value} only", at, at_end=start >= len(text))
    begun = _BEGUN.match(text, at)
    at_end = begun is not None and skip_space(text, begun.end()) >= len(text)
    found = text[at : at + 20]
    raise LiteralError(f"every argument is written parameter=value, found {found!r}", at, at_end=at_end)
