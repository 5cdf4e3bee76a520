"""Texts in Java's and JavaScript's notation as values, exactly as BFCL's official converters read them.

    >>> convert_java("new ArrayList<Long>(Arrays.asList(1L, 2L))", "ArrayList", "long")
    [1, 2]
    >>> convert_javascript("{unit: 'km', from: 5}", "dict")
    {'unit': 'km', 'from': 5}

Text that does not fit its declared type stays as it is. The official converters search with patterns that take
quadratic and worse time on hostile text; here the same answers are found in time linear in the text. Source:
``eval_checker/ast_eval/type_convertor`` of ``bfcl-eval`` 2026.3.23.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["MOST_CHARACTERS", "convert_java", "convert_javascript"]

MOST_CHARACTERS = 5_000
"""The one difference: a collection's text that is longer than this stays as it is (no answer is so long)."""
_COLLECTIONS = frozenset(("Array", "ArrayList", "HashMap", "array", "dict"))

# `$` also stands before a newline at the end, and `\d` for the digits of all scripts: so do they there.
_INTEGER = re.compile(r"-?\d+$")
_JAVA_LONG = re.compile(r"(-?\d+)[lL]$")
_JAVA_DOUBLE = re.compile(r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?$")
_JAVA_FLOAT = re.compile(r"(-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)[fF]$")
_JAVASCRIPT_FLOAT = re.compile(r"-?\d++(?:\.\d++)?$")
_BIGINT = re.compile(r"-?\d+n$")

_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\(")
_ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(\s*)")
_ADD = re.compile(r"add\(")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_JAVA_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{")
_MAP = re.compile(r"new\s+HashMap<")
_MAP_BODY = re.compile(r">\s*\(\)\s*\{\s*\{?\s*")
_MAP_END = re.compile(r">\s*\(\)")
_PUT = 'put("'
_PUT_MIDDLE = re.compile(r'",\s*')

_BRACKET = re.compile(r"\[")
_NEW_ARRAY = re.compile(r"new\s+Array\(")
_ROWS = re.compile(r"\[\s*\[|new\s+Array\(\s*\[")
_ROW_END = re.compile(r"\]\s*")
_NEXT_ROW = re.compile(r",\s*\[")
_KEY = re.compile(r"([^:]++):\s*")
# Behind the blanks stands a key; it is the last blank itself where a colon follows.
_END_OF_VALUE = re.compile(r",(?:\s*+(?=[^,]+:)|\s*(?=\s:))")


class _Ahead:
    """Where a text has something next, asked at positions that never decrease: linear over all questions."""

    __slots__ = ("_found", "_text", "_wanted")

    def __init__(self, text: str, wanted: str) -> None:
        self._text = text
        self._wanted = wanted
        self._found = -1

    def at(self, position: int) -> int:
        """The first place at or behind ``position``; the text's length where there is none."""
        if self._found < position:
            found = self._text.find(self._wanted, position)
            self._found = len(self._text) if found < 0 else found
        return self._found


def _enclosed(text: str, opening: re.Pattern[str], closing: str, least: int = 0) -> Iterator[str]:
    """What stands between an opening and the next closing of its line, ``least`` characters at least."""
    position = 0
    end = line = -1  # the next closing, and the next end of a line, as far as they are known
    while (found := opening.search(text, position)) is not None:
        begin = position = found.end()
        if end < begin + least:
            end = text.find(closing, begin + least)
            if end < 0:
                return
        if line < begin:
            line = text.find("\n", begin)
            line = len(text) if line < 0 else line
        if end <= line:
            yield text[begin:end]
            position = end + len(closing)


def _is_too_long(text: str, declared: str) -> bool:
    return len(text) > MOST_CHARACTERS and declared in _COLLECTIONS


# Java


def convert_java(value: str, declared: str, inner: str | None = None) -> Any:
    """The value that the official converter reads in a text.

    Args:
        value: The text.
        declared: The parameter's official type, such as ``integer`` or ``ArrayList``.
        inner: The type of a collection's elements; None: each is read as what it looks like.

    Raises:
        NotImplementedError: A set, queue, stack or hashtable is declared.
        ValueError: There is no such type, or an integer has more digits than Python reads.
    """
    convert = _JAVA.get(declared)
    if convert is None:
        raise ValueError(f"BFCL has no Java type {declared!r}")
    return value if _is_too_long(value, declared) else convert(value, inner)


def _as_it_is(text: str, inner: str | None) -> str:
    return text


def _integer(text: str, inner: str | None) -> int | str:
    return int(text) if _INTEGER.match(text) else text


def _java_long(text: str, inner: str | None) -> int | str:
    found = _JAVA_LONG.match(text)
    return text if found is None else int(found.group(1))


def _java_float(text: str, inner: str | None) -> float | str:
    found = _JAVA_FLOAT.match(text)
    return text if found is None else float(found.group(1))


def _java_double(text: str, inner: str | None) -> float | str:
    return float(text) if _JAVA_DOUBLE.match(text) else text


def _boolean(text: str, inner: str | None) -> bool | str:
    return text == "true" if text in ("true", "false") else text


def _refused(text: str, inner: str | None) -> Any:
    raise NotImplementedError("the official converter reads no sets, queues, stacks and hashtables")


def _java_list(text: str, inner: str | None) -> list[Any] | str:
    elements = next(_enclosed(text, _AS_LIST, "))", 1), None)
    if elements is not None:
        return [_java_element(element, inner) for element in elements.split(",")]
    body = _added(text)
    if body is not None:
        return [_java_element(element, inner) for element in _enclosed(body, _ADD, ")", 1)]
    return [] if _EMPTY_LIST.search(text) else text


def _added(text: str) -> str | None:
    """What stands in the double braces of the first list that has them and something in them."""
    ends = _Ahead(text, "}}")
    for found in _ADDING.finditer(text):
        end = ends.at(found.end() + 1)
        if end < len(text):
            return text[found.end() : end]
        if found.group(1) and text.startswith("}}", found.end()):
            return ""
    return None


def _java_element(text: str, inner: str | None) -> Any:
    text = text.strip()
    # One character goes at each end, a quote or not.
    return text[1:-1] if inner in ("char", "String") else _java_inner(text, inner)


def _java_inner(text: str, inner: str | None) -> Any:
    return convert_java(text, inner) if inner else _java_literal(text)


def _java_array(text: str, inner: str | None) -> list[Any] | str:
    elements = next(_enclosed(text, _JAVA_ARRAY, "}"), None)
    if elements is None:
        return text
    stripped = (element.strip() for element in elements.split(","))
    return [_java_inner(element, inner) for element in stripped if element]


def _java_map(text: str, inner: str | None) -> dict[str, Any] | str:
    start = _MAP.search(text)
    if start is None:
        return text
    body = _MAP_BODY.search(text, start.end())
    if body is not None and (end := text.find("}", body.end())) >= 0:
        return {key: _java_literal(value.strip()) for key, value in _puts(text[body.end() : end])}
    return {} if _has_empty_map(text) else text


def _has_empty_map(text: str) -> bool:
    """Whether a map is made whose type ends, and is called without arguments, on the line it starts on."""
    lines = _Ahead(text, "\n")
    end = None
    for start in _MAP.finditer(text):
        if end is None or end.start() < start.end():
            end = _MAP_END.search(text, start.end())
            if end is None:
                return False
        if end.start() < lines.at(start.end()):
            return True
    return False


def _puts(body: str) -> Iterator[tuple[str, str]]:
    """Key and value of each ``put("key", value)``: the value ends at the first parenthesis, quoted or not."""
    middles = _put_middles(body)
    middle = next(middles, None)
    lines = _Ahead(body, "\n")
    position = 0
    while middle is not None and (start := body.find(_PUT, position)) >= 0:
        begin = position = start + len(_PUT)
        while middle is not None and middle[0] < begin:
            middle = next(middles, None)
        if middle is not None and middle[0] <= lines.at(begin):
            yield body[begin : middle[0]], body[middle[1] : middle[2]]
            position = middle[2] + 1


def _put_middles(body: str) -> Iterator[tuple[int, int, int]]:
    """Every end of a key with a value that ends on its line: where it is, where the value starts, and ends."""
    ends, lines = _Ahead(body, ")"), _Ahead(body, "\n")
    for found in _PUT_MIDDLE.finditer(body):
        end = ends.at(found.end())
        if end < len(body) and end <= lines.at(found.end()):
            yield found.start(), found.end(), end


def _java_literal(text: str) -> Any:
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _JAVA_LONG.match(text):
        return int(text[:-1])
    if (found := _JAVA_FLOAT.match(text)) is not None:
        return float(found.group(1))
    return _plain(text)


def _plain(text: str) -> Any:
    """A boolean, or a number in Python's notation, or the text."""
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


_JAVA: dict[str, Callable[[str, str | None], Any]] = {
    "byte": _integer,
    "short": _integer,
    "integer": _integer,
    "long": _java_long,
    "float": _java_float,
    "double": _java_double,
    "boolean": _boolean,
    "char": _as_it_is,
    "String": _as_it_is,
    "any": _as_it_is,
    "Array": _java_array,
    "ArrayList": _java_list,
    "HashMap": _java_map,
    "Set": _refused,
    "Hashtable": _refused,
    "Queue": _refused,
    "Stack": _refused,
}


# JavaScript


def convert_javascript(value: str, declared: str, inner: str | None = None) -> Any:
    """The value that the official converter reads in a text.

    Args:
        value: The text.
        declared: The parameter's official type, such as ``Bigint`` or ``array``.
        inner: The type of an array's elements; None: each is read as what it looks like.

    Raises:
        ValueError: There is no such type, or an integer has more digits than Python reads.
    """
    convert = _JAVASCRIPT.get(declared)
    if convert is None:
        raise ValueError(f"BFCL has no JavaScript type {declared!r}")
    return value if _is_too_long(value, declared) else convert(value, inner)


def _unquoted(text: str, inner: str | None) -> str:
    return text[1:-1] if _is_quoted(text) else text


def _is_quoted(text: str) -> bool:
    # A lone quote opens and closes itself.
    return text[:1] in ("'", '"') and text[-1:] == text[:1]


def _javascript_float(text: str, inner: str | None) -> float | str:
    return float(text) if _JAVASCRIPT_FLOAT.match(text) else text


def _bigint(text: str, inner: str | None) -> int | str:
    # Of a text that ends in a newline it is the newline that goes, and the rest is no integer.
    return int(text[:-1]) if _BIGINT.match(text) else text


def _javascript_array(text: str, inner: str | None) -> list[Any] | str:
    text = text.strip()
    rows_end = _end_of_rows(text)
    if rows_end is not None:
        rows = _enclosed(text[:rows_end], _BRACKET, "]")
        return [_javascript_row(row.strip(), number) for number, row in enumerate(rows)]
    elements = _array_content(text)
    if elements is None:
        return text
    stripped = (element.strip() for element in elements.split(",")) if elements else ()
    try:
        return [_javascript_inner(element, inner) for element in stripped]
    except ValueError:
        return text


def _array_content(text: str) -> str | None:
    opening, closing = (_BRACKET, "]") if text.startswith("[") else (_NEW_ARRAY, ")")
    start = opening.match(text)
    if start is None:
        return None
    end = text.find(closing, start.end())
    return None if end < 0 or "\n" in text[start.end() : end] else text[start.end() : end].strip()


def _javascript_inner(text: str, inner: str | None) -> Any:
    if not inner:
        return _javascript_literal(text)
    return convert_javascript(text, inner, "String" if text.startswith(("'", '"')) else None)


def _javascript_row(text: str, number: int) -> list[Any]:
    # The first row still has its own bracket: the one that was found before it is the outer array's.
    elements = text if number else text.removeprefix("[")
    return [_javascript_literal(element) for element in elements.split(",")]


def _end_of_rows(text: str) -> int | None:
    """Where an array of arrays ends that the text starts with; None: it starts with none.

    A row ends at the first bracket from which on the rest fits, which is found from the text's end backwards:
    whether it fits behind a bracket depends on the nearest later one behind which it does.
    """
    start = _ROWS.match(text)
    if start is None:
        return None
    closing = "]" if text.startswith("[") else ")"
    end = None  # where it ends, counted from the nearest bracket behind which the rest fits
    line = 0  # where that bracket's line begins
    bracket = text.rfind("]")
    while bracket >= start.end():
        behind = _ROW_END.match(text, bracket)
        assert behind is not None
        row = _NEXT_ROW.match(text, behind.end())
        here = None
        if text.startswith(closing, behind.end()):
            here = behind.end() + 1
        elif row is not None and end is not None and line <= row.end():
            here = end
        if here is not None:
            if end is None or bracket < line:
                line = text.rfind("\n", 0, bracket) + 1
            end = here
        bracket = text.rfind("]", 0, bracket)
    return end if line <= start.end() else None


def _javascript_dict(text: str, inner: str | None) -> dict[str, Any] | str:
    text = text.strip()
    if not text.startswith("{"):
        return text
    content = text[1 : text.find("}")] if "}" in text else "\n"
    if "\n" in content:
        return text
    return {key.strip().strip("'\""): _javascript_member(value.strip()) for key, value in _members(content)}


def _javascript_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _javascript_array(text, None)
    return _javascript_literal(text.strip("'\""))


def _members(content: str) -> Iterator[tuple[str, str]]:
    """Key and value of each member. A comma ends a value where a colon comes before the next comma."""
    position = 0
    while position < len(content):
        key = _KEY.match(content, position)
        if key is None:
            if content[position] != ":":
                return
            position += 1  # a key has at least one character
            continue
        ending = _END_OF_VALUE.search(content, key.end())
        end, position = (len(content), len(content)) if ending is None else ending.span()
        yield key.group(1), content[key.end() : end]


def _javascript_literal(text: str) -> Any:
    text = text.strip()
    return text[1:-1] if text not in ("true", "false") and _is_quoted(text) else _plain(text)


_JAVASCRIPT: dict[str, Callable[[str, str | None], Any]] = {
    "String": _unquoted,
    "integer": _integer,
    "float": _javascript_float,
    "Bigint": _bigint,
    "Boolean": _boolean,
    "dict": _javascript_dict,
    "array": _javascript_array,
    "any": _as_it_is,
}
