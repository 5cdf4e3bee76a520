"""API-Bank's brackets, ``[Name(key='value', ...)]``, read and written.

Values stand in single or double quotes, with backslash escapes. A quote ends the value only where the call can go on
after it (``, name=`` or ``)`` and a bracket or comma), so an apostrophe (``'Mia's list'``) and the benchmark's own
quoted lists (``'['A', 'B']'``) are kept whole. Bare words, numbers, lists and objects are read, too. Scalars are
text, whatever they look like.

Two things are ours, for what the benchmark never needs: a name of any kind stands in quotes, ``['my tool'(a='1')]``,
and parameters whose names are no identifiers stand in an object, ``[f(a='1', **{"odd name": "2"})]``.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import LiteralError, scan_literal, scan_string, skip_space, unescape
from callgym.dialects.plain_list import PlainList
from callgym.dialects.python_call import write_arguments

__all__ = ["OPENING", "Bracket", "as_recorded", "read_plain_bracket", "scan_bracket", "write_call"]

_NAME = r"[^\W\d][\w.-]*+"
_QUOTED_NAME = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
OPENING = re.compile(rf"\[\s*+(?=(?:{_NAME}|{_QUOTED_NAME})\()", re.DOTALL)
"""A bracket with a call behind it."""
_CALL = re.compile(rf"(?:({_NAME})|{_QUOTED_NAME})\(", re.DOTALL)
_PLAIN_NAME = re.compile(_NAME)
_IDENTIFIER = r"[A-Za-z_]\w*+"
_PLAIN_KEY = re.compile(_IDENTIFIER)
_KEY = re.compile(rf"({_IDENTIFIER})\s*+=\s*+")
_PART_OF_NAME = re.compile(rf"(?:{_NAME}|'(?:[^'\\]|\\.)*+'?+\\?+|\"(?:[^\"\\]|\\.)*+\"?+\\?+)?+", re.DOTALL)
_PART_OF_KEY = re.compile(r"(?:[A-Za-z_]\w*+|\*\*?+)?+\s*+")
_AFTER_QUOTE = rf"\s*+(?:,\s*+(?:{_IDENTIFIER}\s*+=|\*\*\s*+\{{|\)\s*+[\],])|\)\s*+[\],])"
"""Pattern of what stands behind a value's closing quote."""
_BODIES = {
    quote: re.compile(rf"(?:[^{quote}\\]++|\\.|{quote}(?!{_AFTER_QUOTE}))*+", re.DOTALL).match for quote in ("'", '"')
}
"""Quote to all that stands before the closing one."""
_BARE = re.compile(r"(?!\s)(?:[^,()\[\]{}'\"\n<]++|<(?!/?think>))++")


class Bracket(NamedTuple):
    """What stands in a pair of brackets."""

    calls: list[ToolCall]
    """The calls before the first fault."""
    fault: LiteralError | None
    end: int
    """The position after the closing bracket, or of the fault."""


def scan_bracket(text: str, position: int) -> Bracket:
    """Read calls up to the closing bracket; those before a fault are kept, where a comma or the bracket follows.

    Args:
        text: What the policy wrote.
        position: Where the first call starts.
    """
    calls: list[ToolCall] = []
    at = position
    try:
        while True:
            call, at = _scan_call(text, at)
            at = skip_space(text, at)
            if text[at : at + 1] not in (",", "]"):
                raise LiteralError("',' or ']' is missing after a call", at, at_end=at >= len(text))
            calls.append(call)
            if text[at] == "]":
                return Bracket(calls, None, at + 1)
            at = skip_space(text, at + 1)
    except LiteralError as error:
        return Bracket(calls, error, error.position)


def _scan_call(text: str, position: int) -> tuple[ToolCall, int]:
    opening = _CALL.match(text, position)
    if opening is None:
        message = "a call has the form Name(key='value')"
        raise LiteralError(message, position, at_end=_breaks_off(_PART_OF_NAME, text, position))
    name = opening[1] if opening[1] is not None else scan_string(text, position)[0]
    if not name:
        raise LiteralError("a call needs a name", position)
    arguments: dict[str, Any] = {}
    at = skip_space(text, opening.end())
    while not text.startswith(")", at):
        given, end = _scan_argument(text, at, name)
        for key in given:
            if key in arguments:
                raise LiteralError(f"argument {key[:80]} is given twice", at)
        arguments.update(given)
        at = skip_space(text, end)
        if text.startswith(",", at):
            at = skip_space(text, at + 1)
        elif not text.startswith(")", at):
            raise LiteralError("',' or ')' is missing after a value", at, at_end=at >= len(text))
    return ToolCall.trusted(name=name, arguments=arguments, id=None), at + 1


def _scan_argument(text: str, position: int, name: str) -> tuple[dict[str, Any], int]:
    """One argument, or the object behind ``**`` with all that it holds; and the position after it."""
    key = _KEY.match(text, position)
    if key is not None:
        value, end = _scan_value(text, key.end())
        return {key[1]: value}, end
    if text.startswith("**", position):
        start = skip_space(text, position + 2)
        if text.startswith("{", start):
            return scan_literal(text, start)
    found = text[position : position + 20]
    message = f"an argument of {name[:80]} is written key='value', found {found!r}"
    raise LiteralError(message, position, at_end=_breaks_off(_PART_OF_KEY, text, position))


def _breaks_off(part: re.Pattern[str], text: str, position: int) -> bool:
    """Whether the text ends in the middle of something."""
    begun = part.match(text, position)
    return begun is not None and begun.end() >= len(text)


def _scan_value(text: str, position: int) -> tuple[Any, int]:
    first = text[position : position + 1]
    if first in ("'", '"'):
        return _scan_quoted(text, position)
    if first in ("[", "{"):
        return _scan_container(text, position)
    bare = _BARE.match(text, position)
    if bare is None:
        raise LiteralError("a value is missing", position, at_end=position >= len(text))
    return bare.group().rstrip(), bare.end()


def _scan_container(text: str, position: int) -> tuple[Any, int]:
    """Read a list or an object, in JSON's notation at a fifth of the cost of Python's."""
    if not text.startswith("'", position + 1):
        try:
            return scan_json(text, position)
        except JsonTextError:
            pass
    return scan_literal(text, position)


def _scan_quoted(text: str, position: int) -> tuple[str, int]:
    """Read a quoted value up to a quote after which the call can go on."""
    body = _BODIES[text[position]](text, position + 1)
    assert body is not None
    end = body.end()
    if end >= len(text) or text[end] == "\\":
        raise LiteralError("a quoted value is never closed", position, at_end=True)
    _refuse_thoughts(text, position, end)
    return unescape(text, position + 1, end), end + 1


def _refuse_thoughts(text: str, start: int, end: int) -> None:
    """A value that holds the end of some reasoning, and a request behind it, began in a draft and was never closed."""
    thought = text.find("</think>", start, end)
    if thought >= 0 and OPENING.search(text, thought, end) is not None:
        raise LiteralError("a quoted value is never closed", start, at_end=True)


# Most actions are one bracket with nothing unusual in it.

_split_at_keys = re.compile(rf",\s*+({_IDENTIFIER})\s*+=\s*+").split


def _read_plain_arguments(written: str) -> dict[str, Any] | None:
    parts = _split_at_keys(f",{written}")
    if parts[0] or "*" in written or ("<" in written and "</think>" in written):
        return None
    arguments: dict[str, Any] = {}
    escaped = "\\" in written
    try:
        for key, value in zip(parts[1::2], parts[2::2]):  # noqa: B905  there are as many
            first = value[:1]
            if first == "'" or first == '"':
                if value[-1] != first or len(value) < 2 or (escaped and value[-2] == "\\"):
                    return None
                arguments[key] = unescape(value, 1, len(value) - 1) if escaped else value[1:-1]
            elif first == "[" or first == "{":
                arguments[key], end = scan_json(value, 0)
                if end < len(value):
                    return None
            elif _BARE.fullmatch(value) is not None:
                arguments[key] = value.rstrip()
            else:
                return None
    except (JsonTextError, LiteralError):
        return None
    return arguments if len(arguments) * 2 + 1 == len(parts) else None


read_plain_bracket = PlainList(_NAME, r"(?:(?:API-Request|AI):\s*+)?+", _read_plain_arguments).read
"""The calls of an action that is one bracket of plain calls, at a third of the cost; None for any other.

Nothing is read here otherwise than by ``scan_bracket``: where anything but a literal stands between two keys, the whole
action is left to that. No quote inside a value can close it, for no key follows.
"""


# Writing

_QUOTING = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def write_call(call: ToolCall) -> str:
    """A call so that ``scan_bracket`` gives it back."""
    name = call.name if _PLAIN_NAME.fullmatch(call.name) else _quoted(call.name)
    return f"{name}({write_arguments(call.arguments, _PLAIN_KEY, _quoted)})"


def as_recorded(call: ToolCall) -> str:
    """A call as the benchmark's history lines have it: values in single quotes, nothing escaped."""
    arguments = [f"{key}='{value}'" for key, value in call.arguments.items()]
    return f"{call.name}({', '.join(arguments)})"


def _quoted(value: Any) -> str:
    """A value so that it is read back."""
    if isinstance(value, str):
        return "'" + value.translate(_QUOTING).replace("</think>", "\\u003c/think>") + "'"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}'"
