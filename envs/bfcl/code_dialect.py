"""The dialect ``python`` for tasks in Java and JavaScript: lists of calls whose values are code of the language.

    >>> CodeDialect("java").parse('[Shelf.put(book="Emma", sizes=new int[]{1, 2})]').calls[0].arguments
    {'book': 'Emma', 'sizes': 'new int[]{1, 2}'}

Lists, calls without brackets, fences, labels, reasoning and words beside calls are read as in ``PythonDialect``, and
so are faults: what cannot be read costs one call, and only where its end cannot be told what follows is lost, too.
Between calls a semicolon does what a comma does. Values are text, as tools of these categories declare them: what a
string literal holds, or the code as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, split_reasoning
from callgym.dialects.literal import LiteralError, skip_space
from callgym.dialects.python_calls import MAX_LENGTH, PythonDialect
from callgym.dialects.transcript import ASSISTANT
from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_call import NAME, QUOTED_NAME, CallScanner, write_call
from callgym.episode import ParseError, ParseErrorKind
from callgym.errors import ConfigurationError
from callgym.tool import Tool

__all__ = ["CodeDialect", "code_dialect"]

_SEPARATORS = (",", ";")
_FOLLOWERS = (*_SEPARATORS, "]")
"""What follows a call in a list that is made."""
_MAX_CALLS = 1_000
_MAX_FAULTS = 50
"""After so many of them in one action the rest is not read."""

_OPENING = re.compile(rf"\[\s*+(?=(?:{NAME}|{QUOTED_NAME})\()", re.DOTALL)
_FULL_OPENING = re.compile(rf"\[\s*+(?=(?:{NAME}|{QUOTED_NAME})\(\s*+(?:\)|\*\*|[\w$]++\s*+=(?![=>])))", re.DOTALL)
"""The same where no fault follows at once; a text may be full of those."""
_BARE = re.compile(r"(?:[^\W\d]|\$)[\w$]*+(?:\.[\w$]++)*+\((?=\s*+(\)|[\w$]++\s*+=(?![=>]))?)")
_FRAME = re.compile(
    rf"(?:{ASSISTANT}\s*+)?(?:```(?:[\w+-]{{0,20}}[^\S\n]*+\n)?(?P<block>.*)```|`(?P<line>[^`]*)`|(?P<plain>.*))",
    re.DOTALL,
)
"""Label and fence, which may stand around calls, and the text inside."""
_EMPTY_FENCE = re.compile(r"```(?:[\w+-]{0,20}[^\S\n]*+\n)?\s*+```|(?<!`)`\s*+`(?!`)")
_EMPTY_LIST = re.compile(r"\[\s*+\]")

_NAMES: dict[Language, str] = {"java": "Java", "javascript": "JavaScript"}
_INSTRUCTION = (
    "You are the assistant in the conversation below. These are functions of a {} program, which you may call, one "
    "JSON document a line:\n"
)
_FORM = (
    "To call functions, answer with a list of calls and nothing else, every argument by name:\n"
    "[name(parameter=value, otherParameter=value), otherName()]\n"
    "Values are written as in a {language} program: text stands in quotes, all else does not: {examples}.\n"
    "If no function does what is asked, or a value that a function requires was never given, call nothing and say in "
    "words what is missing.\n"
)
_EXAMPLES: dict[Language, str] = {
    "java": "42, 42L, 0.5, true, null, new int[]{1, 2}, names of variables and constants",
    "javascript": "42, 0.5, true, null, [1, 2], {key: 'value'}, names of variables and functions",
}


class CodeDialect(PythonDialect):
    """``PythonDialect`` with values as a program in another language has them; its name is the same."""

    def __init__(self, language: Language) -> None:
        """Read and write values in a language.

        Args:
            language: ``java`` or ``javascript``.

        Raises:
            ConfigurationError: It is neither.
        """
        if language not in _NAMES:
            raise ConfigurationError(f"calls are written in {' or '.join(_NAMES)}, not in {language!r}")
        self.language: Language = language

    def parse(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        if len(text) > MAX_LENGTH:
            return super().parse(text)
        scanner = CallScanner(text, self.language)
        reasoning, rest, offset = split_reasoning(text, lambda _, at: _next_call(scanner, at))
        inner, start = _inside_frame(rest)
        if _EMPTY_LIST.fullmatch(inner):
            return ParsedAction(reasoning=reasoning)
        bare = _Reading(inner, self.language)
        if bare.read_bare():
            return bare.as_action("", reasoning, offset + start)
        listed = _Reading(rest, self.language)
        words = listed.read_lists()
        return listed.as_action(_content(words), reasoning, offset)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """``[f(a=1), g(b="x")]``, after the words if there are any."""
        if not calls:
            return content
        written = f"[{', '.join([write_call(call, self.language) for call in calls])}]"
        return f"{content}\n{written}" if content else written

    def opening(self, tools: Sequence[Tool], instruction: str | None) -> str:
        """The benchmark's words or our own, around the tools' documents."""
        if instruction is not None or not tools:
            return super().opening(tools, instruction)
        language = _NAMES[self.language]
        form = _FORM.format(language=language, examples=_EXAMPLES[self.language])
        return super().opening(tools, _INSTRUCTION.format(language)) + form


class _Reading:
    """The calls in a text and the faults in them, as they are found."""

    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.scanner = CallScanner(text, language)
        self.calls: list[ToolCall] = []
        self.faults: list[_Fault] = []

    def as_action(self, content: str, reasoning: str, offset: int) -> ParsedAction:
        errors = tuple([fault.as_error(offset) for fault in self.faults])
        return ParsedAction(tuple(self.calls[:_MAX_CALLS]), errors, content, reasoning)

    def read_bare(self) -> bool:
        """Read calls that are the whole text; False where it is words, or a list."""
        text, at = self.text, 0
        while at < len(text):
            opening = _BARE.match(text, at)
            if opening is None:
                return False
            call, end = self.read_call(at)
            if end < 0:
                return opening[1] is not None
            if not self.add(call):
                return True
            at = _behind_separator(text, end)
            between = text[end:at]
            if at < len(text) and not between.strip() and "\n" not in between:
                return False
        return bool(text)

    def read_lists(self) -> str:
        """Read the calls in all lists; returns the words outside of them."""
        words: list[str] = []
        at = 0
        while len(self.faults) < _MAX_FAULTS and (opening := _OPENING.search(self.text, at)) is not None:
            words.append(self.text[at : opening.start()])
            at = self.read_list(opening.end())
        return "".join([*words, self.text[at:]])

    def read_list(self, position: int) -> int:
        """Read calls up to the closing bracket; the position where the text goes on."""
        text, at = self.text, position
        while True:
            call, end = self.read_call(at)
            if end < 0:  # what follows may be part of the call's values
                return len(text)
            end = skip_space(text, end)
            mark = text[end : end + 1]
            if mark not in _FOLLOWERS:
                if call is not None:
                    self.faults.append(_unfollowed(text, at, end))
                return end
            if not self.add(call):
                return len(text)
            at = skip_space(text, end + 1)
            if mark == "]":
                return end + 1
            if text.startswith("]", at):
                return at + 1

    def read_call(self, position: int) -> tuple[ToolCall | None, int]:
        """One call, or None and a fault; and the position after it, -1 where that cannot be told."""
        try:
            return self.scanner.call(position)
        except LiteralError as error:
            end = -1 if error.at_end else self.scanner.behind(position)
            is_told = end >= 0 and self.scanner.is_call(position)
            kind: ParseErrorKind = "truncated" if error.at_end else "arguments" if is_told else "malformed"
            self.faults.append(_Fault(kind, error.position, position, str(error)))
            return None, end

    def add(self, call: ToolCall | None) -> bool:
        """Keep a call that could be read; False where nothing more is to be read."""
        if call is not None:
            self.calls.append(call)
        if len(self.calls) > _MAX_CALLS:
            end = len(self.text)
            self.faults.append(
                _Fault("too_long", end, end, f"more than {_MAX_CALLS} calls are too many for one action")
            )
            return False
        return len(self.faults) < _MAX_FAULTS


class _Fault(NamedTuple):
    """What cannot be read."""

    kind: ParseErrorKind
    position: int
    start: int
    """Where the call starts."""
    message: str

    def as_error(self, offset: int) -> ParseError:
        message = f"the call at character {offset + self.start} cannot be read: {self.message}"
        return ParseError(kind=self.kind, position=offset + self.position, message=message)


def _unfollowed(text: str, start: int, position: int) -> _Fault:
    """The fault of a call in a list that neither goes on nor ends behind it."""
    if position >= len(text):
        return _Fault("truncated", position, start, "']' is missing at the end")
    return _Fault("malformed", position, start, f"',' or ']' belongs before {text[position : position + 20]!r}")


def _next_call(scanner: CallScanner, at: int) -> tuple[int, int] | None:
    """Up to its first fault, which is not skipped here: from each of many openings that would take too long."""
    text = scanner.text
    opening = _FULL_OPENING.search(text, at)
    if opening is None:
        return None
    position = opening.end()
    try:
        while True:
            _, position = scanner.call(position)
            position = _behind_separator(text, position)
            if not scanner.is_call(position):
                return opening.start(), position + text.startswith("]", position)
    except LiteralError as error:
        # A quote that is never closed makes all that follows a part of the call.
        return opening.start(), len(text) if error.at_end else max(error.position, opening.end())


def _behind_separator(text: str, position: int) -> int:
    """Where the next call starts, or whatever else comes behind one, a comma or a semicolon, and white space."""
    at = skip_space(text, position)
    return skip_space(text, at + 1) if text.startswith(_SEPARATORS, at) else at


def _inside_frame(text: str) -> tuple[str, int]:
    """The text inside label and fence, and where it starts."""
    stripped = text.strip()
    frame = _FRAME.fullmatch(stripped)
    assert frame is not None
    assert frame.lastgroup is not None
    inner = frame[frame.lastgroup]
    blanks = len(text) - len(text.lstrip()) + len(inner) - len(inner.lstrip())
    return inner.strip(), frame.start(frame.lastgroup) + blanks


def _content(words: str) -> str:
    """The words beside lists, without the label and the fences those stood in."""
    content = words.strip()
    if "`" in content:
        content = _EMPTY_FENCE.sub("", content).strip()
    content = content.removeprefix(ASSISTANT).strip()
    return "" if _EMPTY_LIST.fullmatch(content) else content


@cache
def code_dialect(language: Language) -> CodeDialect:
    """The dialect of a language; one instance for all environments of the process."""
    return CodeDialect(language)
