"""One call as Python writes it, ``ns.find(a=1, b='x')``, read and written.

Values are those of ``python_value``: literals of Python or JSON, nothing that would have to be evaluated. Every
argument has a name. A tool's name may hold dots and hyphens; one of any other kind is quoted, ``'my tool'(a=1)``,
and arguments whose names are no identifiers stand in a dict, ``f(a=1, **{'odd name': 2})``, which is the only use of
``**``. (Keywords of Python are names like any other.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.call_scanner import CallScanner
from callgym.dialects.literal import LiteralError, skip_space
from callgym.dialects.python_value import SCALAR, STRINGS, read_scalar, scan_value, skip_comma, skip_parentheses

__all__ = ["NAME", "PythonCallScanner", "write_arguments", "write_call"]

_MAX_SHOWN = 80

_BARE_NAME = r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+"
NAME = r"[^\W\d][\w.-]*+"
"""Pattern of a name that needs no quotes."""
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_FIRST = r"\)|\*\*|[^\W\d]\w*+\s*+=\s*+['\"\[({0-9+.\-TFNtfnrRuU]"
_CALL = re.compile(rf"({NAME})\(")
_QUOTED_CALL = re.compile(rf"(?:{_QUOTED})\(", re.DOTALL)
_KEY = re.compile(r"([^\W\d]\w*+)\s*+=(?!=)\s*+").match
_ARGUMENT = re.compile(rf"([^\W\d]\w*+)\s*+=\s*+{SCALAR}(?:,\s*+|(?=\)))").match
_WORD = re.compile(r"\*?+[\w.]*+")
_PLAIN_NAME = re.compile(NAME)
_PLAIN_KEY = re.compile(r"[^\W\d]\w*+")

# What a call that cannot be read is skipped with: everything up to the next bracket, strings whole. Three quotes open
# nothing but a string that ends with three: were they tried as an empty string, too, each of many would be looked for
# an end that is not there.
_UP_TO_COMMA = re.compile(rf"(?:[^,()\[\]{{}}'\"]++|{STRINGS})*+", re.DOTALL)


class PythonCallScanner(CallScanner):
    """Reads the calls in a text."""

    opening = re.compile(rf"\[\s*+(?=(?:{NAME}|{_QUOTED})\()", re.DOTALL)
    promising = re.compile(rf"\[\s*+(?=(?:{NAME}|{_QUOTED})\(\s*+(?:{_FIRST}))", re.DOTALL)
    bare = re.compile(rf"{_BARE_NAME}\((?=\s*+(\)|[^\W\d]\w*+\s*+=(?!=))?)")

    def call(self, position: int) -> tuple[ToolCall, int]:
        """The call that starts there, and the position after it.

        Raises:
            LiteralError: There is none, or it cannot be read.
        """
        text = self.text
        opening = _CALL.match(text, position)
        if opening is not None:
            name, start = opening[1], opening.end()
        elif (start := self._opening_end(position)) >= 0:
            name, _ = scan_value(text, position)
        else:
            raise self._no_call(position)
        arguments, end = _scan_arguments(text, skip_space(text, start))
        if not name:
            raise LiteralError("a call needs a name", position)
        return ToolCall.trusted(name=name, arguments=arguments, id=None), end

    def is_call(self, position: int) -> bool:
        """Whether a call starts there, be it one that can be read or not."""
        return self._opening_end(position) >= 0

    def behind(self, position: int) -> int:
        """The position after the call that starts there, -1 where brackets or quotes do not match.

        What is no call goes up to a comma or a bracket.
        """
        text, at = self.text, self._opening_end(position)
        if at < 0:
            return self._behind_stranger(position)
        return skip_parentheses(text, at)

    def _opening_end(self, position: int) -> int:
        """The position after a call's opening parenthesis, -1 where there is no call."""
        opening = _CALL.match(self.text, position) or _QUOTED_CALL.match(self.text, position)
        return -1 if opening is None else opening.end()

    def _behind_stranger(self, position: int) -> int:
        plain = _UP_TO_COMMA.match(self.text, position)
        assert plain is not None
        return plain.end()

    def _no_call(self, position: int) -> LiteralError:
        text, end = self.text, self._behind_stranger(position)
        at_end = end >= len(text) or text[end] in "'\""
        message = f"a call has the form name(parameter=value), found {text[position : position + 20]!r}"
        return LiteralError(message, position, at_end=at_end)


def _scan_arguments(text: str, position: int) -> tuple[dict[str, Any], int]:
    """Read what stands in a call's parentheses, up to the closing one."""
    arguments: dict[str, Any] = {}
    at = position
    while True:
        match = _ARGUMENT(text, at)
        if match is not None:  # one match an argument: most are scalars
            key, kind = match[1], match.lastindex or 0
            value = match[kind] if kind <= 3 else read_scalar(kind - 1, match[kind], at)
            end = match.end()
        elif text.startswith(")", at):
            return arguments, at + 1
        elif (written := _KEY(text, at)) is not None:
            key = written[1]
            value, end = scan_value(text, written.end())
            end = skip_comma(text, end, ")")
        else:
            at = _scan_nameless(text, at, arguments)
            continue
        if key in arguments:
            raise _given_twice(key, at)
        arguments[key] = value
        at = end


def _given_twice(key: str, position: int) -> LiteralError:
    return LiteralError(f"argument {key[:_MAX_SHOWN]!r} is given twice", position)


def _scan_nameless(text: str, position: int, arguments: dict[str, Any]) -> int:
    """Add the arguments of a dict behind ``**``; anything else that does not begin with a name is a fault."""
    if text.startswith("**", position):
        start = skip_space(text, position + 2)
        if not text.startswith("{", start):
            message = "** stands before a dict like {'name': value} only"
            raise LiteralError(message, position, at_end=start >= len(text))
        named, end = scan_value(text, start)
        end = skip_comma(text, end, ")")
        if not arguments.keys().isdisjoint(named):
            raise _given_twice(next(key for key in named if key in arguments), position)
        arguments.update(named)
        return end
    word = _WORD.match(text, position)
    at_end = skip_space(text, word.end() if word is not None else position) >= len(text)
    found = text[position : position + 20]
    raise LiteralError(f"every argument is written parameter=value, found {found!r}", position, at_end=at_end)


def write_call(call: ToolCall) -> str:
    """A call so that ``PythonCallScanner`` gives it back; one line, whatever is in it."""
    name = call.name if _PLAIN_NAME.fullmatch(call.name) else repr(call.name)
    return f"{name}({write_arguments(call.arguments, _PLAIN_KEY, repr)})"


def write_arguments(arguments: Mapping[str, Any], plain: re.Pattern[str], write: Callable[[Any], str]) -> str:
    """``a=1, **{'odd name': 2}, b=3``: names that are no plain ones stand in a dict behind ``**``.

    Args:
        arguments: Name to value.
        plain: Matches the whole of a plain name.
        write: A value as text, dicts included.
    """
    parts: list[str] = []
    odd: dict[str, Any] = {}
    for key, value in arguments.items():
        if not plain.fullmatch(key):
            odd[key] = value
            continue
        if odd:
            parts.append(f"**{write(odd)}")
            odd = {}
        parts.append(f"{key}={write(value)}")
    if odd:
        parts.append(f"**{write(odd)}")
    return ", ".join(parts)
