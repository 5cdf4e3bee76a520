"""One call whose values are code of Java or JavaScript, read and written.

    >>> CodeCallScanner('Shelf.put(book="Emma", sizes=new int[]{1, 2})', "java").call(0)[0].arguments
    {'book': 'Emma', 'sizes': 'new int[]{1, 2}'}

A value is whatever code stands up to the next comma or the parenthesis that closes the call; its brackets and quotes
match, and nothing else is asked of it. It is kept as text: what a string literal holds, in whichever quotes, or else
the code itself. The time is linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.call_scanner import CallScanner
from callgym.dialects.literal import MAX_DEPTH, LiteralError, scan_string, skip_space
from callgym.dialects.python_value import scan_value, skip_comma
from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_text import code_texts
from callgym.envs.bfcl.code_tokens import string_of

__all__ = ["CodeCallScanner", "write_call"]

_NAME = r"(?:[^\W\d]|\$)[\w.$-]*+"
_QUOTED_NAME = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_CALL = re.compile(rf"(?:({_NAME})|{_QUOTED_NAME})\(", re.DOTALL)
_PARAMETER = r"(?:[^\W\d]|\$)[\w$]*+"
_KEY = re.compile(rf"({_PARAMETER})\s*+=(?![=>])\s*+")
_WORD = re.compile(r"\*?+[\w.$]*+")
_MAX_SHOWN = 80

_QUOTES: dict[Language, str] = {"java": "'\"", "javascript": "'\"`"}
_TEXT_BLOCK = r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
_ONE_QUOTE = r"""'(?:[^'\\]|\\.)*+'"""
_STRINGS: dict[Language, str] = {
    "java": rf'{_TEXT_BLOCK}|"(?!"")(?:[^"\\]|\\.)*+"|{_ONE_QUOTE}',
    "javascript": rf'"(?:[^"\\]|\\.)*+"|{_ONE_QUOTE}|`(?:[^`\\]|\\.)*+`',
}
_STRING = {language: re.compile(strings, re.DOTALL) for language, strings in _STRINGS.items()}
_PLAIN = {
    language: re.compile(rf"(?:[^,()\[\]{{}}<{_QUOTES[language]}]++|<(?!/?think>)|{strings})*+", re.DOTALL)
    for language, strings in _STRINGS.items()
}
"""All that decides nothing: up to a comma, a bracket, a quote that opens no string, or a tag of reasoning."""
_CLOSINGS = {"(": ")", "[": "]", "{": "}"}
_TYPE_ARGUMENTS = re.compile(r"(?<=[\w$.])\s*+<[\w\s,.?&\[\]<>$]*+")
_TYPE_MARKS = re.compile("[<>,]")


class CodeCallScanner(CallScanner):
    """Reads the calls in a text; between calls a semicolon does what a comma does."""

    opening = re.compile(rf"\[\s*+(?=(?:{_NAME}|{_QUOTED_NAME})\()", re.DOTALL)
    promising = re.compile(rf"\[\s*+(?=(?:{_NAME}|{_QUOTED_NAME})\(\s*+(?:\)|\*\*|[\w$]++\s*+=(?![=>])))", re.DOTALL)
    bare = re.compile(r"(?:[^\W\d]|\$)[\w$]*+(?:\.[\w$]++)*+\((?=\s*+(\)|[\w$]++\s*+=(?![=>]))?)")
    separators = (",", ";")

    def __init__(self, text: str, language: Language) -> None:
        super().__init__(text)
        self.language = language

    @cached_property
    def _type_commas(self) -> frozenset[int]:
        # The comma in `new HashMap<String, Long>()` parts no arguments.
        return _commas_of_types(self.text) if self.language == "java" else frozenset()

    def call(self, position: int) -> tuple[ToolCall, int]:
        """The call that starts there, and the position after it.

        Raises:
            LiteralError: There is none, or it cannot be read.
        """
        text = self.text
        opening = _CALL.match(text, position)
        if opening is None:
            raise self._no_call(position)
        name = opening[1] if opening[1] is not None else scan_value(text, position)[0]
        if not name:
            raise LiteralError("a call needs a name", position)
        arguments: dict[str, Any] = {}
        at = skip_space(text, opening.end())
        while not text.startswith(")", at):
            at = self._argument(at, arguments)
        return ToolCall.trusted(name=name, arguments=arguments, id=None), at + 1

    def is_call(self, position: int) -> bool:
        """Whether a call starts there, be it one that can be read or not."""
        return _CALL.match(self.text, position) is not None

    def behind(self, position: int) -> int:
        """The position after the call, or whatever else starts there; -1 where it cannot be told."""
        opening = _CALL.match(self.text, position)
        if opening is None:
            return self._behind_plain(position)
        at = opening.end()
        try:
            while self.text[at := self._end_of_code(at, len(self.text))] == ",":
                at += 1
        except LiteralError:
            return -1
        return at + 1

    def value(self, position: int) -> tuple[str, int]:
        """The value that starts there, and the position of the comma or the parenthesis that ends it.

        Raises:
            LiteralError: There is none, or it does not end.
        """
        end = self._end_of_code(position, MAX_DEPTH)
        code = self.text[position:end].rstrip()
        if not code:
            raise LiteralError(f"a value is missing before {self.text[end]!r}", position)
        string = _STRING[self.language].match(code)
        if string is None or string.end() < len(code):
            return code, end
        if code.startswith('"""') and len(code) >= 6:
            return string_of(code, self.language) or "", end
        if code[0] == "`" and "${" in code:
            return code, end
        return scan_string(self.text, position)[0], end

    def _argument(self, position: int, arguments: dict[str, Any]) -> int:
        """Add the argument that starts there; the position of the next one, or of the closing parenthesis."""
        key = _KEY.match(self.text, position)
        given: dict[str, Any]
        if key is not None:
            value, end = self.value(key.end())
            given = {key[1]: value}
        else:
            given, end = self._odd_names(position)
        for name in given:
            if name in arguments:
                raise LiteralError(f"argument {name[:_MAX_SHOWN]!r} is given twice", position)
        arguments.update(given)
        return skip_comma(self.text, end, ")")

    def _odd_names(self, position: int) -> tuple[dict[str, Any], int]:
        """Arguments whose names are no identifiers stand in a dict behind ``**``, in Python's notation."""
        text = self.text
        if not text.startswith("**", position):
            word = _WORD.match(text, position)
            at_end = skip_space(text, word.end() if word is not None else position) >= len(text)
            message = f"every argument is written parameter=value, found {text[position : position + 20]!r}"
            raise LiteralError(message, position, at_end=at_end)
        start = skip_space(text, position + 2)
        if not text.startswith("{", start):
            message = "** stands before a dict like {'name': 'value'} only"
            raise LiteralError(message, position, at_end=start >= len(text))
        named, end = scan_value(text, start)
        for name, value in named.items():
            if not isinstance(value, str):
                raise LiteralError(f"in a dict behind ** the value of {name[:_MAX_SHOWN]!r} is text in quotes", start)
        return named, end

    def _end_of_code(self, position: int, most: int) -> int:
        """The position of the comma or the parenthesis that ends the code; ``most`` brackets may be open at once."""
        text, plain = self.text, _PLAIN[self.language].match
        awaited: list[str] = []
        at = position
        while True:
            found = plain(text, at)
            assert found is not None
            at = found.end()
            mark = text[at : at + 1]
            if not awaited and (mark == ")" or (mark == "," and at not in self._type_commas)):
                return at
            if mark in _CLOSINGS:
                awaited.append(_CLOSINGS[mark])
                if len(awaited) > most:
                    raise LiteralError(f"nested deeper than {most} levels", at)
            elif awaited and mark == awaited[-1]:
                awaited.pop()
            elif mark != ",":
                raise self._no_end(at, mark, awaited)
            at += 1

    def _no_end(self, position: int, mark: str, awaited: list[str]) -> LiteralError:
        missing = awaited[-1] if awaited else ")"
        if not mark:
            return LiteralError(f"the call breaks off: {missing!r} is missing", position, at_end=True)
        if mark in _QUOTES[self.language]:
            return LiteralError("a quoted text is never closed", position, at_end=True)
        return LiteralError(f"{missing!r} belongs where {mark!r} stands", position)

    def _no_call(self, position: int) -> LiteralError:
        end = self._behind_plain(position)
        at_end = end >= len(self.text) or self.text[end] in _QUOTES[self.language]
        found = self.text[position : position + 20]
        return LiteralError(f"a call has the form name(parameter=value), found {found!r}", position, at_end=at_end)

    def _behind_plain(self, position: int) -> int:
        found = _PLAIN[self.language].match(self.text, position)
        assert found is not None
        return found.end()


def _commas_of_types(text: str) -> frozenset[int]:
    """Where commas stand between type arguments, as far as their brackets match."""
    commas: set[int] = set()
    for stretch in _TYPE_ARGUMENTS.finditer(text):
        enclosing: list[list[int]] = []
        for mark in _TYPE_MARKS.finditer(text, stretch.start(), stretch.end()):
            match mark.group():
                case "<":
                    enclosing.append([])
                case ">" if enclosing:
                    commas.update(enclosing.pop())
                case "," if enclosing:
                    enclosing[-1].append(mark.start())
    return frozenset(commas)


# Writing

_PLAIN_NAME = re.compile(_NAME)
_PLAIN_KEY = re.compile(_PARAMETER)
_WHOLE = r"-?(?:0|[1-9][0-9]*+)"
_JAVA_SCALAR = rf"(?:{_WHOLE}(?:[lL]|(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?[fFdD]?)|true|false|null)"
_JAVA_SCALARS = rf"(?:{_JAVA_SCALAR}(?:, {_JAVA_SCALAR})*+)?"
_JAVA_LITERAL = re.compile(
    rf"{_JAVA_SCALAR}|new \w++\[\]\{{{_JAVA_SCALARS}\}}"
    rf"|new \w++<(?:\w++(?:, \w++)*+)?>\((?:Arrays\.asList\({_JAVA_SCALARS}\))?\)"
)
_BIGINT = re.compile(rf"{_WHOLE}n")
_EXPRESSION = re.compile(
    r"(?:new )?[^\W\d][\w.$]*+(?:<[\w ,.<>?]*>)?(?:\(.*[)}]|(?:\[\])++\{.*\})",
    re.DOTALL,
)
"""Pattern of what looks like a call or a new object."""


def write_call(call: ToolCall, language: Language) -> str:
    """A call so that ``CodeCallScanner`` gives it back, and the official decoder, too, as far as it can.

    Values that are no text are written in the language's notation, and are text when they are read.
    """
    name = call.name if _PLAIN_NAME.fullmatch(call.name) else repr(call.name)
    parts = []
    for key, value in call.arguments.items():
        text = value if isinstance(value, str) else code_texts(value, {}, language)[0]
        plain = _PLAIN_KEY.fullmatch(key) is not None
        parts.append(f"{key}={_write_text(text, language)}" if plain else f"**{ {key: text}!r}")
    return f"{name}({', '.join(parts)})"


def _write_text(text: str, language: Language) -> str:
    for form in _forms(text, language):
        if _is_read_as(form, text, language):
            return form
    return json.dumps(text, ensure_ascii=False)


def _is_read_as(form: str, text: str, language: Language) -> bool:
    written = f"f(a={form})"
    try:
        call, end = CodeCallScanner(written, language).call(0)
    except LiteralError:
        return False
    return call.arguments == {"a": text} and end == len(written)


def _forms(text: str, language: Language) -> Iterator[str]:
    """Ways to write a text, the best first; some of them may be read as another text, or not at all."""
    is_java = language == "java"
    is_expression = _EXPRESSION.fullmatch(text) is not None
    if is_java and is_expression and "{{" in text and '"' in text:
        # Officially the body of an anonymous class is lost, but not in a text block, where it is looked for.
        yield '"""' + text.replace("\\", "\\\\") + '"""'
    if not text.isprintable():
        return
    if _JAVA_LITERAL.fullmatch(text) if is_java else _is_javascript_literal(text):
        yield text
    yield f'"{text}"'
    if is_expression:
        yield text
    # Quotes that officially go, and are no Java.
    yield f"'{text}'"


def _is_javascript_literal(text: str) -> bool:
    """Whether a text is JSON, or a BigInt."""
    try:
        json.loads(text, parse_constant=_refuse)
    except (RecursionError, ValueError):
        return _BIGINT.fullmatch(text) is not None
    return True


def _refuse(word: str) -> Any:
    raise ValueError(word)
