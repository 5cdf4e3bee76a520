"""Small edits that turn almost-JSON into JSON, where there is no doubt what was meant.

A reader has found a fault; ``edits_at`` gives the edits that could mend it there, the likeliest first, each with a
name from ``EDITS``. Whether one did is for the reader to say. Left alone is what could mean two things: numbers side
by side (``1 500``), an apostrophe in a text in single quotes, a quote inside a text that could end in several places.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from callgym.dialects.json_fault import CLOSING, STRING, JsonFault, find_fault, reads_as_json
from callgym.dialects.literal import skip_space

__all__ = ["EDITS", "Edit", "edits_at"]

EDITS: Mapping[str, str] = {
    "trailing comma": "a comma before a closing bracket was dropped",
    "missing comma": "a comma was put between two members",
    "single quotes": "texts in single quotes were put in double quotes",
    "Python words": "True, False and None were written as true, false and null",
    "unquoted key": "keys were put in quotes",
    "invalid escape": "a backslash that JSON does not know was mended",
    "missing bracket": "closing brackets were put where the call ended without them",
    "unescaped quote": "quotes inside a text were escaped",
}
"""Name of an edit, and what it did, for the message to the policy."""

_MOST_ENDS = 12
"""Quotes that are tried as the end of a text with quotes in it; where there are more, there is doubt."""

_KEY = re.compile(rf"{STRING}\s*+:", re.DOTALL)
_VALUE = re.compile(r'["\[{]|-?+[0-9]|(?:true|false|null)\b')
_ODD = re.compile(r"'|(?:True|False|None)\b|[^\W\d][\w$-]*+\s*+:")
_TOKEN = re.compile(
    rf"(?P<plain>\s++|[,:]|{STRING})"
    r"|(?P<bracket>[\[\]{}])"
    r"|(?P<single>'(?:[^'\\]++|\\.)*+'(?=\s*+[,:}\]]))"
    r"|(?P<key>[^\W\d][\w$-]*+(?=\s*+:))"
    r"|(?P<word>(?:True|False|None)\b)"
    r"|(?P<other>[\w.+-]++)",
    re.DOTALL,
)
_QUOTE_OR_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_AFTER_TEXT = re.compile(r"\s*+[,}\]]")
_ARGUMENT = re.compile(r"[^\W\d]\w*+\s*+=(?!=)")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_KNOWN_ESCAPES = frozenset('"\\/bfnrtu')
_LOST_ESCAPES = frozenset("'_")
"""Escaped out of habit: Python's quote, and Markdown's underscore."""
_PYTHON_ESCAPES = frozenset("01234567avxNU\n")
"""Those that mean another character in Python, so that to keep the backslash would be a guess."""


@dataclass(frozen=True)
class Edit:
    """Changes to a text that mend one fault."""

    names: tuple[str, ...]
    """Which of ``EDITS`` they are."""
    changes: tuple[tuple[int, int, str], ...]
    """(start, end, what is put there), from left to right."""

    @property
    def position(self) -> int:
        """Where the first change is."""
        return self.changes[0][0]

    def applied(self, text: str) -> str:
        """The text with the changes."""
        pieces: list[str] = []
        at = 0
        for start, end, new in self.changes:
            pieces += (text[at:start], new)
            at = end
        return "".join([*pieces, text[at:]])

    def before(self, position: int) -> int:
        """Where in the text before the edit a position of the text after it was."""
        number = bisect_right(self._places, position) - 1
        if number < 0:
            return position
        start, end, new = self.changes[number]
        behind = position - self._places[number] - len(new)
        return start if behind < 0 else end + behind

    @cached_property
    def _places(self) -> list[int]:
        """Where each change stands in the text after the edit."""
        places, shift = [], 0
        for start, end, new in self.changes:
            places.append(start + shift)
            shift += len(new) - (end - start)
        return places


def edits_at(text: str, position: int, marks: Sequence[str], *, quotes: bool = True) -> Iterator[Edit]:
    """The edits that could mend a fault, the likeliest first; none where it is no local fault of notation.

    Args:
        text: What the policy wrote.
        position: Where its reader found the fault.
        marks: What can stand behind a call, or open the next: where one stands, missing brackets may be put.
        quotes: Whether quotes inside a text may be mended.
    """
    fault = find_fault(text, position, marks)
    if fault is None:
        yield from _python_edits(text, position)
        return
    position = fault.position
    before = text[fault.start : position].rstrip()
    end = fault.start + len(before)
    first, last = text[position : position + 1], before[-1:]
    top = fault.stack[-1] if fault.stack else ""
    if first == "\\":
        yield from _mended_escapes(text, position)
    elif first == "," or last == ",":
        comma = position if first == "," else end - 1
        following = skip_space(text, comma + 1)
        if top and text.startswith(CLOSING[top], following):
            yield Edit(("trailing comma",), ((comma, comma + 1, ""),))
    if _ODD.match(text, position) and last in tuple("{[,:"):
        yield from _in_json_notation(text, position, fault.stack, last)
    if not _ends_value(last):
        return
    if _comma_is_missing(text, position, top, last, end):
        yield Edit(("missing comma",), ((end, end, ","),))
    elif any(text.startswith(mark, position) for mark in marks):
        closing = "".join([CLOSING[bracket] for bracket in reversed(fault.stack)])
        if closing:
            yield Edit(("missing bracket",), ((end, end, closing),))
    elif quotes and last == '"' and end == position and first not in tuple('"[]{},:'):
        yield from _escaped_quotes(text, fault, end - 1, marks)


def _ends_value(character: str) -> bool:
    return character in ('"', "}", "]") or character.isalnum()


def _comma_is_missing(text: str, position: int, top: str, last: str, end: int) -> bool:
    """Whether what stands here is the next member of the object or array."""
    if top == "{":
        return (end < position or last in '"}]') and _KEY.match(text, position) is not None
    if top != "[" or _VALUE.match(text, position) is None:
        return False
    first = text[position]
    if first in "{[" or last in "}]":
        return True
    return first == last == '"' and end < position


def _in_json_notation(text: str, position: int, stack: Sequence[str], last: str) -> Iterator[Edit]:
    """From here to the value's end: texts in double quotes, JSON's words, keys in quotes."""
    open_brackets = len(stack)
    names: dict[str, None] = {}
    changes: list[tuple[int, int, str]] = []
    at = position
    while open_brackets and (token := _TOKEN.match(text, at)) is not None:
        kind, written = str(token.lastgroup), token.group()
        new = written
        if kind == "bracket":
            open_brackets += 1 if written in CLOSING else -1
        elif kind == "single":
            names["single quotes"], new = None, _in_double_quotes(written)
        elif kind == "key":
            if last not in ("{", ","):  # a value without quotes, and who knows what follows
                break
            names["unquoted key"], new = None, f'"{written}"'
        elif kind == "word":
            names["Python words"], new = None, _WORDS[written]
        if new != written:
            changes.append((at, token.end(), new))
        if not written.isspace():
            last = written[-1]
        at = token.end()
    if changes:
        yield Edit(tuple(names), tuple(changes))


def _in_double_quotes(written: str) -> str:
    def requoted(found: re.Match[str]) -> str:
        return "'" if found[1] == "'" else found[0] if found[1] is not None else '\\"'

    return f'"{_QUOTE_OR_ESCAPE.sub(requoted, written[1:-1])}"'


def _mended_escapes(text: str, position: int) -> Iterator[Edit]:
    """From here to the text's end: ``\\'`` and ``\\_`` lose the backslash, others keep it, as in Python."""
    changes: list[tuple[int, int, str]] = []
    for found in _QUOTE_OR_ESCAPE.finditer(text, position):
        letter = found[1]
        if letter is None:
            break
        if letter in _PYTHON_ESCAPES:
            return
        if letter in _LOST_ESCAPES:
            changes.append((found.start(), found.start() + 1, ""))
        elif letter not in _KNOWN_ESCAPES:
            changes.append((found.start(), found.start(), "\\"))
    if changes:
        yield Edit(("invalid escape",), tuple(changes))


def _escaped_quotes(text: str, fault: JsonFault, quote: int, marks: Sequence[str]) -> Iterator[Edit]:
    """The quotes of a text with quotes in it, escaped: if they come in pairs, and there is one place where the text
    can end so that all around it is JSON."""
    before = text[fault.start : fault.text_start].rstrip()
    if before[-1:] != ":" and fault.stack[-1:] != ["["]:  # a key
        return
    found_marks = [text.find(mark, fault.position) for mark in marks]
    limit = min([found for found in found_marks if found >= 0], default=len(text))
    inner = [quote]
    fitting: list[tuple[int, ...]] = []
    tried = 0
    for found in _QUOTE_OR_ESCAPE.finditer(text, fault.position, limit):
        if found[1] is not None:
            continue
        if _AFTER_TEXT.match(text, found.end()):
            tried += 1
            if tried > _MOST_ENDS:
                return
            if reads_as_json(_escaped(inner).applied(text[:limit]), fault.start):
                fitting.append(tuple(inner))
        inner.append(found.start())
    if len(fitting) == 1 and len(fitting[0]) % 2 == 0:
        yield _escaped(fitting[0])


def _escaped(quotes: Sequence[int]) -> Edit:
    return Edit(("unescaped quote",), tuple([(quote, quote, "\\") for quote in quotes]))


def _python_edits(text: str, position: int) -> Iterator[Edit]:
    """Calls as Python writes them: commas between arguments, a parenthesis before the list's end."""
    before = text[:position].rstrip()
    end, last = len(before), before[-1:]
    if not (_ends_value(last) or last in ("'", ")")):
        return
    if end < position and _ARGUMENT.match(text, position):
        yield Edit(("missing comma",), ((end, end, ","),))
    elif text.startswith("]", position):
        yield Edit(("missing bracket",), ((end, end, ")"),))
