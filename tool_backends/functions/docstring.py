"""What a docstring says of a function: the sentence, its arguments, its answer.

Google's sections come first; NumPy's underlined ones and reST's fields are read, too, and may stand beside each
other::

    read_docstring("Add.\\n\\nArgs:\\n    a (int): The first.").arguments  # {"a": "The first."}
    read_docstring("Add.\\n\\n:param int a: The first.").arguments        # {"a": "The first."}

Types are left out: a function's hints say them. What is in no known form is part of the description.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Docstring", "read_docstring"]


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring in its parts."""

    description: str = ""
    """Everything outside sections and fields, as it is written."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Name to description, in the order of the text, each in one line."""
    returns: str = ""
    """What comes back, in one line."""


_ARGUMENTS, _RETURNS, _OTHER = "arguments", "returns", "other"
_SECTIONS = {
    **dict.fromkeys(
        ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"),
        _ARGUMENTS,
    ),
    **dict.fromkeys(("return", "returns"), _RETURNS),
    **dict.fromkeys(
        (
            "attributes", "example", "examples", "methods", "note", "notes", "raises", "references", "see also", "todo",
            "warning", "warnings", "warns", "yield", "yields",
        ),
        _OTHER,
    ),
}  # fmt: skip
_GOOGLE = re.compile(r"([A-Za-z][A-Za-z ]*):\s*$")
_RETURNS_AT_ONCE = re.compile(r"Returns?:\s+(\S.*)$")
_RULE = re.compile(r"[-=]{3,}\s*$")
_NAMES = r"`{0,2}\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)`{0,2}"
_GOOGLE_ITEM = re.compile(rf"(?:[-*]\s+)?{_NAMES}\s*(?:\(.*?\))?\s*(?::|--?(?=\s)|[–—])\s*(.*)$")
_NUMPY_ITEM = re.compile(rf"{_NAMES}\s*(?::.*)?$")
_PARAM_FIELD = re.compile(
    r"\s*[:@](?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\\?\*{0,2}(\w+)\s*:\s*(.*)$"
)
_RETURNS_FIELD = re.compile(r"\s*[:@]returns?\s*:\s*(.*)$")
_OTHER_FIELD = re.compile(r"\s*[:@](?:type|rtype|raises?|except|exception|yields?|ytype|meta)\b[^:]*:")
_TYPE_FIRST = re.compile(r"\A[\w.]+(?:\[.*?\])?(?:\s*\|\s*[\w.]+(?:\[.*?\])?)*:\s+(?=\S)")


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; without one everything is empty. Raises nothing."""
    lines = inspect.cleandoc(text or "").splitlines()
    description: list[str] = []
    arguments: dict[str, str] = {}
    returns = ""
    at = 0
    while at < len(lines):
        start, end, kind, style = _part(lines, at)
        body = lines[start:end]
        if kind is None:
            description.append(lines[at])
        elif kind == _ARGUMENTS:
            for names, words in _items(body, style):
                arguments.update(dict.fromkeys(names, words))
        elif kind == _RETURNS and not returns:
            returns = _answer(body, style)
        at = end
    paragraphs = re.split(r"\n\s*\n", "\n".join(description).strip())
    return Docstring("\n\n".join(filter(None, paragraphs)), arguments, returns)


def _part(lines: Sequence[str], at: int) -> tuple[int, int, str | None, str]:
    """What begins at a line: where its body starts and ends, its kind (None for plain text), and its style."""
    line = lines[at]
    if _is_numpy_heading(lines, at):
        end = next((i for i in range(at + 2, len(lines)) if _is_numpy_heading(lines, i)), len(lines))
        return at + 2, end, _SECTIONS[line.strip().lower()], "numpy"
    heading = _GOOGLE.match(line)
    if heading and heading[1].lower() in _SECTIONS:
        end = _end_of_indented(lines, at + 1)
        if any(map(str.strip, lines[at + 1 : end])):
            return at + 1, end, _SECTIONS[heading[1].lower()], "google"
    if _RETURNS_AT_ONCE.match(line):
        return at, _end_of_indented(lines, at + 1), _RETURNS, "at once"
    for pattern, kind in ((_PARAM_FIELD, _ARGUMENTS), (_RETURNS_FIELD, _RETURNS), (_OTHER_FIELD, _OTHER)):
        if pattern.match(line):
            return at, _end_of_indented(lines, at + 1, _indent(line)), kind, "field"
    return at, at + 1, None, ""


def _items(body: Sequence[str], style: str) -> list[tuple[tuple[str, ...], str]]:
    """(names, description) of each argument in a section or a field."""
    if style == "field":
        found = _PARAM_FIELD.match(body[0])
        return [((found[1],), _one_line([found[2], *body[1:]]))] if found else []
    pattern = _NUMPY_ITEM if style == "numpy" else _GOOGLE_ITEM
    items: list[tuple[tuple[str, ...], list[str]]] = []
    for line in textwrap.dedent("\n".join(body)).splitlines():
        begins = None if line[:1].isspace() else pattern.match(line)
        if begins:
            names = tuple(re.findall(r"\w+", begins[1]))
            items.append((names, [begins[2]] if style == "google" else []))
        elif items:
            items[-1][1].append(line)
    return [(names, _one_line(words)) for names, words in items]


def _answer(body: Sequence[str], style: str) -> str:
    """What a section or field of the answer says, without a type before it."""
    if style == "field":
        found = _RETURNS_FIELD.match(body[0])
        return _one_line([found[1] if found else "", *body[1:]])
    if style == "at once":
        found = _RETURNS_AT_ONCE.match(body[0])
        return _one_line([found[1] if found else "", *body[1:]])
    if style == "numpy":
        indented = [line for line in body if line[:1].isspace()]
        return _one_line(indented if any(map(str.strip, indented)) else body)
    return _TYPE_FIRST.sub("", _one_line(body), count=1)


def _is_numpy_heading(lines: Sequence[str], at: int) -> bool:
    return (
        at + 1 < len(lines)
        and lines[at].strip().lower() in _SECTIONS
        and _RULE.match(lines[at + 1].strip()) is not None
    )


def _end_of_indented(lines: Sequence[str], start: int, beyond: int = 0) -> int:
    """Where the lines end that are blank or indented by more than ``beyond``."""
    for at in range(start, len(lines)):
        if lines[at].strip() and _indent(lines[at]) <= beyond:
            return at
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _one_line(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())
