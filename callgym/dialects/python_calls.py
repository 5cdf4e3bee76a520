"""Python's notation: an action is a list of calls, ``[ns.find(a=1, b='x'), other()]``.

What is read:

- Lists of calls anywhere in the text; only ``[`` with a name and ``(`` right behind it opens one, so that
  ``(note) [1]`` is words. Fences around a list are dropped, other text is the content.
- Calls without brackets, ``find(a=1)``, where the whole text is nothing but calls, one a line or with commas
  between them. Fences and the label ``Assistant:`` may stand around them; ``I would call find(x)`` is words.
- Values as in ``python_value``: literals of Python or JSON, nothing that would have to be evaluated.

Names in a list may hold hyphens, ``[my-tool(a=1)]``. A name of any other kind is quoted, ``['my tool'(a=1)]``, and
arguments whose names are no identifiers stand in a dict, ``f(a=1, **{'odd name': 2})``, which is the only use of
``**``. (Keywords of Python are names like any other.)

What cannot be read costs one call: an argument without a name, one that is no literal or is given twice is an error
of kind ``arguments``, other breaches are ``malformed``, and its neighbours in the list are made. A text that breaks
off is ``truncated``. A call in a list is made only where a comma or the closing bracket follows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, split_reasoning
from callgym.dialects.literal import LiteralError, skip_space
from callgym.dialects.python_value import SCALAR, read_scalar, scan_value, skip_comma
from callgym.dialects.transcript import ASSISTANT, TranscriptDialect, write_document
from callgym.episode import ParseError, ParseErrorKind
from callgym.tool import Tool

__all__ = ["MAX_LENGTH", "PythonDialect", "write_call"]

MAX_LENGTH = 32_768
"""A longer action is refused unread, as an environment does."""
_MAX_CALLS = 1_000
_MAX_FAULTS = 50
"""After so many of them in one action the rest is not read."""
_MAX_SHOWN = 80

_BARE_NAME = r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+"
_NAME = r"[^\W\d][\w.-]*+"
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_OPENING = re.compile(rf"\[\s*+(?=(?:{_NAME}|{_QUOTED})\()", re.DOTALL)
_FIRST = r"\)|\*\*|[^\W\d]\w*+\s*+=\s*+['\"\[({0-9+.\-TFNtfnrRuU]"
_PROMISING = re.compile(rf"\[\s*+(?=(?:{_NAME}|{_QUOTED})\(\s*+(?:{_FIRST}))", re.DOTALL)
"""An opening whose call does not fail at its first argument already."""
_CALL = re.compile(rf"({_NAME})\(")
_QUOTED_CALL = re.compile(rf"(?:{_QUOTED})\(", re.DOTALL)
_KEY = re.compile(r"([^\W\d]\w*+)\s*+=(?!=)\s*+").match
_ARGUMENT = re.compile(rf"([^\W\d]\w*+)\s*+=\s*+{SCALAR}(?:,\s*+|(?=\)))").match
_BARE = re.compile(rf"{_BARE_NAME}\((?=\s*+(\)|[^\W\d]\w*+\s*+=(?!=))?)")
_PLAIN_NAME = re.compile(r"[^\W\d][\w.-]*")
_WORD = re.compile(r"\*?+[\w.]*+")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")

# What a call that cannot be read is skipped with: everything up to the next bracket, strings whole.
_STRINGS = (
    r"'''(?:[^'\\]|\\.|'(?!''))*+'''"
    r'|"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'(?:[^'\\]|\\.)*+'"
    r'|"(?:[^"\\]|\\.)*+"'
)
_UP_TO_BRACKET = re.compile(rf"(?:[^()\[\]{{}}'\"]++|{_STRINGS})*+", re.DOTALL)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_UP_TO_COMMA = re.compile(rf"(?:[^,()\[\]{{}}'\"]++|{_STRINGS})*+", re.DOTALL)

_FENCE = re.compile(r"```(?:[\w+-]{0,20}[^\S\n]*+\n)?+\s*+")
_EMPTY_FENCE = re.compile(r"```(?:[\w+-]{0,20}[^\S\n]*+\n)?\s*+```|(?<!`)`\s*+`(?!`)")
_EMPTY_LIST = re.compile(r"\[\s*+\]")

_INSTRUCTION = (
    "You are the assistant in the conversation below, and these are the tools you may call, one JSON document a line:\n"
)
_FORM = (
    "To call tools, answer with a list of calls and nothing else, every argument by name:\n"
    "[tool_name(parameter=value, other_parameter=value), other_tool()]\n"
    "Text stands in quotes; numbers, True, False, None, lists and dicts are written as in Python.\n"
    "If no tool does what is asked, or a value that a tool requires was never given, call nothing and say in words "
    "what is missing.\n"
)


class PythonDialect(TranscriptDialect):
    """Calls as Python writes them, conversations as lines of text."""

    name: ClassVar[str] = "python"
    instructed_by: ClassVar[tuple[str, ...]] = ("bfcl",)

    def parse(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        if len(text) > MAX_LENGTH:
            message = f"the action has {len(text)} characters; at most {MAX_LENGTH} are read"
            return ParsedAction(errors=(ParseError(kind="too_long", position=MAX_LENGTH, message=message),))
        reasoning, rest, offset = split_reasoning(text, _next_call)
        opening = _OPENING.search(rest)
        if opening is None:
            return _parse_bare(rest, offset, reasoning)
        calls: list[ToolCall] = []
        errors: list[ParseError] = []
        words: list[str] = []
        at = 0
        while opening is not None and len(errors) < _MAX_FAULTS:
            words.append(rest[at : opening.start()])
            found = _scan_list(rest, opening.end(), _MAX_CALLS - len(calls))
            calls += found.calls
            errors += [fault.as_error(offset) for fault in found.faults]
            at = found.end
            opening = _OPENING.search(rest, at)
        words.append(rest[at:])
        return ParsedAction(tuple(calls), tuple(errors), _content("".join(words)), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """``[f(a=1), g(b='x')]``, after the words if there are any."""
        if not calls:
            return content
        written = f"[{', '.join([write_call(call) for call in calls])}]"
        return f"{content}\n{written}" if content else written

    def opening(self, tools: Sequence[Tool], instruction: str | None) -> str:
        """Words around the tools' documents: our own, or the benchmark's with the documents it does not hold itself."""
        if instruction is None:
            lines = [f"{write_document(tool.as_chat()['function'])}\n" for tool in tools]
            return "".join([_INSTRUCTION, *lines, _FORM]) if lines else ""
        # Tools whose names stand in it in quotes are documented there.
        missing = [tool for tool in tools if json.dumps(tool.name, ensure_ascii=False) not in instruction]
        lines = [f"{write_document(tool.as_chat()['function'])}\n" for tool in missing]
        return "".join([instruction if instruction.endswith("\n") else f"{instruction}\n", *lines])


class _Fault(NamedTuple):
    """A call that cannot be read."""

    kind: ParseErrorKind
    position: int
    start: int
    """Where the call starts."""
    message: str

    def as_error(self, offset: int) -> ParseError:
        message = f"the call at character {offset + self.start} cannot be read: {self.message}"
        return ParseError(kind=self.kind, position=offset + self.position, message=message)


class _Scanned(NamedTuple):
    """What stands in brackets, and where the text goes on."""

    calls: list[ToolCall]
    faults: list[_Fault]
    end: int


def _next_call(text: str, at: int) -> tuple[int, int] | None:
    """Up to its first fault, which is not skipped here: from each of many openings that would take too long."""
    if len(text) > MAX_LENGTH or (opening := _PROMISING.search(text, at)) is None:
        return None
    position = opening.end()
    try:
        while True:
            _, position = _scan_call(text, position)
            position = skip_space(text, position)
            if not text.startswith(",", position):
                return opening.start(), position + text.startswith("]", position)
            position = skip_space(text, position + 1)
    except LiteralError as error:
        # A quote that is never closed makes all that follows a part of the call.
        return opening.start(), len(text) if error.at_end else max(error.position, opening.end())


def _scan_list(text: str, start: int, most: int) -> _Scanned:
    """Read calls up to the closing bracket, and at most so many."""
    calls: list[ToolCall] = []
    faults: list[_Fault] = []
    at = start
    while True:
        call, fault, end = _scan_or_skip(text, at)
        if fault is not None:
            faults.append(fault)
            if end < 0:  # where the call ends cannot be told: what follows may be part of its values
                return _Scanned(calls, faults, len(text))
        following = skip_space(text, end)
        if text[following : following + 1] not in (",", "]"):
            if fault is None:
                faults.append(_unfollowed(text, at, following))
            return _Scanned(calls, faults, following)
        if call is not None:
            calls.append(call)
        if len(faults) >= _MAX_FAULTS or len(calls) > most:
            return _cut_short(calls, faults, text, most)
        at = skip_space(text, following + 1)
        if text[following] == "]":
            return _Scanned(calls, faults, following + 1)
        if text.startswith("]", at):
            return _Scanned(calls, faults, at + 1)


def _unfollowed(text: str, start: int, position: int) -> _Fault:
    """The fault of a call in a list that neither goes on nor ends behind it."""
    if position >= len(text):
        return _Fault("truncated", position, start, "']' is missing at the end")
    found = text[position : position + 20]
    return _Fault("malformed", position, start, f"',' or ']' belongs before {found!r}")


def _cut_short(calls: list[ToolCall], faults: list[_Fault], text: str, most: int) -> _Scanned:
    if len(calls) > most:
        message = f"more than {_MAX_CALLS} calls are too many for one action"
        faults.append(_Fault("too_long", len(text), len(text), message))
    return _Scanned(calls[:most], faults, len(text))


def _parse_bare(rest: str, offset: int, reasoning: str) -> ParsedAction:
    """An action in which no list opens: nothing but calls, an empty list, or words."""
    start, end = _inner_bounds(rest)
    inner = rest[start:end]
    if _EMPTY_LIST.fullmatch(inner):
        return ParsedAction(reasoning=reasoning)
    found = _scan_bare(inner)
    if found is None:
        return ParsedAction(content=_unlabelled(rest.strip()), reasoning=reasoning)
    errors = tuple([fault.as_error(offset + start) for fault in found.faults])
    return ParsedAction(tuple(found.calls), errors, "", reasoning)


def _inner_bounds(text: str) -> tuple[int, int]:
    """Where the text inside label and fence begins and ends."""
    start, end = skip_space(text, 0), len(text.rstrip())
    if text.startswith(ASSISTANT, start):
        start = skip_space(text, start + len(ASSISTANT))
    if end - start >= 6 and text.startswith("```", start) and text.endswith("```", start, end):
        fence = _FENCE.match(text, start)
        assert fence is not None
        start, end = fence.end(), len(text[: end - 3].rstrip())
    elif end - start >= 2 and text[start] == text[end - 1] == "`":
        start, end = start + 1, end - 1
    return start, max(start, end)


def _scan_bare(text: str) -> _Scanned | None:
    """Calls that are the whole text; None where it is words."""
    calls: list[ToolCall] = []
    faults: list[_Fault] = []
    at = 0
    while at < len(text):
        opening = _BARE.match(text, at)
        if opening is None:
            return None
        call, fault, end = _scan_or_skip(text, at)
        if call is not None:
            calls.append(call)
        if fault is not None:
            faults.append(fault)
        if len(faults) >= _MAX_FAULTS or len(calls) > _MAX_CALLS:
            return _cut_short(calls, faults, text, _MAX_CALLS)
        if end < 0:
            return _Scanned(calls, faults, len(text)) if opening[1] is not None else None
        at = skip_space(text, end)
        if text.startswith((",", ";"), at):
            at = skip_space(text, at + 1)
        elif at < len(text) and "\n" not in text[end:at]:
            return None
    return _Scanned(calls, faults, at)


def _scan_or_skip(text: str, position: int) -> tuple[ToolCall | None, _Fault | None, int]:
    """Read one call, or say what is wrong with it; and the position after it, -1 where that cannot be told."""
    try:
        call, end = _scan_call(text, position)
        return call, None, end
    except LiteralError as error:
        if error.at_end:
            return None, _Fault("truncated", error.position, position, str(error)), -1
        inside = _call_opening(text, position)
        if inside < 0:
            return None, _Fault("malformed", error.position, position, str(error)), _skip_stranger(text, position)
        end = _skip_parentheses(text, inside)
        return None, _Fault("arguments" if end >= 0 else "malformed", error.position, position, str(error)), end


def _scan_call(text: str, position: int) -> tuple[ToolCall, int]:
    """Read one call.

    Raises:
        LiteralError: There is none, or it cannot be read.
    """
    opening = _CALL.match(text, position)
    if opening is not None:
        name, start = opening[1], opening.end()
    elif (start := _call_opening(text, position)) >= 0:
        name, _ = scan_value(text, position)
    else:
        end = _skip_stranger(text, position)
        at_end = end >= len(text) or text[end] in "'\""
        message = f"a call has the form name(parameter=value), found {text[position : position + 20]!r}"
        raise LiteralError(message, position, at_end=at_end)
    arguments, end = _scan_arguments(text, skip_space(text, start))
    if not name:
        raise LiteralError("a call needs a name", position)
    return ToolCall.trusted(name=name, arguments=arguments, id=None), end


def _call_opening(text: str, position: int) -> int:
    """The position after a call's opening parenthesis, -1 where there is no call."""
    opening = _CALL.match(text, position) or _QUOTED_CALL.match(text, position)
    return -1 if opening is None else opening.end()


def _skip_stranger(text: str, position: int) -> int:
    """What stands in a list and is no call goes up to a comma or a bracket."""
    plain = _UP_TO_COMMA.match(text, position)
    assert plain is not None
    return plain.end()


def _scan_arguments(text: str, position: int) -> tuple[dict[str, Any], int]:
    """Read what stands in a call's parentheses, up to the closing one."""
    arguments: dict[str, Any] = {}
    at = position
    while True:
        match = _ARGUMENT(text, at)
        if match is not None:  # one match an argument: this loop is most of what parsing costs
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


def _skip_parentheses(text: str, position: int) -> int:
    """The position after the parenthesis that closes a call; -1 where brackets or quotes do not match."""
    awaited = [")"]
    at = position
    while awaited:
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
    return at


def _content(words: str) -> str:
    """The words beside lists, without the fences those stood in."""
    content = words.strip()
    if "`" in content:
        content = _EMPTY_FENCE.sub("", content).strip()
    content = _unlabelled(content)
    return "" if _EMPTY_LIST.fullmatch(content) else content


def _unlabelled(content: str) -> str:
    return content.removeprefix(ASSISTANT).strip()


def write_call(call: ToolCall) -> str:
    """A call so that ``parse`` gives it back; one line, whatever is in it."""
    name = call.name if _PLAIN_NAME.fullmatch(call.name) else repr(call.name)
    parts: list[str] = []
    odd: dict[str, Any] = {}
    for key, value in call.arguments.items():
        if not _PLAIN_KEY.fullmatch(key):
            odd[key] = value
            continue
        if odd:
            parts.append(f"**{odd!r}")
            odd = {}
        parts.append(f"{key}={value!r}")
    if odd:
        parts.append(f"**{odd!r}")
    return f"{name}({', '.join(parts)})"
