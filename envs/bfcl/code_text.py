"""Plain values in Java's or JavaScript's notation, and back: the form that arguments of the two categories have.

    >>> java_text([1, 2], "ArrayList", "long")
    'new ArrayList<Long>(Arrays.asList(1L, 2L))'
    >>> read_java('new ArrayList<Long>(Arrays.asList(1L, 2L))', "ArrayList", "long")
    [1, 2]

Written is what the official converter (``bfcl-eval`` 2026.3.23) reads as the value. It splits at commas, stops at
the first parenthesis or brace, and keeps the quotes in an array of strings; so where a programmer's text does not
pass, another one that does is taken: double braces for a list, text without quotes or escapes. Where none does,
the programmer's text stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_reader import read_java, read_javascript
from callgym.envs.bfcl.official.code_values import convert_java, convert_javascript

__all__ = ["code_texts", "java_text", "javascript_text", "read_java", "read_javascript"]

_CLASSES = {
    "integer": ("int", "Integer"),
    "long": ("long", "Long"),
    "short": ("short", "Short"),
    "byte": ("byte", "Byte"),
    "float": ("float", "Float"),
    "double": ("double", "Double"),
    "boolean": ("boolean", "Boolean"),
    "char": ("char", "Character"),
    "String": ("String", "String"),
}
"""Declared type of elements to its name in an array and in a collection; any other is an Object."""
_COLLECTIONS = {"Set": "HashSet", "Queue": "LinkedList", "Stack": "Stack"}
_TEXTS = frozenset(("String", "char", "any"))
_JAVA_INT = range(-(2**31), 2**31)

_UNREAD: Final = object()

_Quote = Callable[[str], str]
_Read = Callable[[str, str, str | None], Any]


def java_text(value: Any, declared: str, inner: str | None = None) -> str:
    """A value in Java's notation.

    Args:
        value: Text, a number, a boolean, None, a list or a dict. Text is a literal's content or, as the answers
            have it, a variable's name or an expression: by itself it is written as it is.
        declared: The parameter's official type.
        inner: The type of a collection's elements.
    """
    return _choose(value, declared, inner, "java")


def javascript_text(value: Any, declared: str, inner: str | None = None) -> str:
    """A value in JavaScript's notation; the arguments are those of ``java_text``."""
    return _choose(value, declared, inner, "javascript")


def code_texts(value: Any, documented: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """A value in a language's notation, and as a programmer writes it where the official converter wants it otherwise.

    Args:
        value: As for ``java_text``.
        documented: The parameter's official document, ``{"type", "items", ...}``.
        language: ``java`` or ``javascript``.

    Returns:
        What ``java_text`` or ``javascript_text`` gives; then the other text, if there is one.
    """
    items = documented.get("items")
    declared = str(documented.get("type") or "any")
    inner = items.get("type") if isinstance(items, Mapping) else None
    forms, _, read = _NOTATIONS[language]
    chosen = _choose(value, declared, inner, language)
    programmers = next(forms(value, declared, inner))
    if programmers == chosen or not _same(read(programmers, declared, inner), value):
        return (chosen,)
    return chosen, programmers


def _choose(value: Any, declared: str, inner: str | None, language: Language) -> str:
    """The first form that both readers understand, or else the official one, or else the first of all."""
    forms, convert, read = _NOTATIONS[language]
    first = passing = None
    for form in forms(value, declared, inner):
        first = form if first is None else first
        if _same(_converted(form, declared, inner, convert), value):
            if _same(read(form, declared, inner), value):
                return form
            passing = form if passing is None else passing
    assert first is not None
    return first if passing is None else passing


def _converted(form: str, declared: str, inner: str | None, convert: _Read) -> Any:
    try:
        return convert(form, declared, inner)
    except (NotImplementedError, ValueError):
        return _UNREAD


def _same(found: Any, value: Any) -> bool:
    """Equality with 1 and 1.0 equal, as the official checker has it, but True none of them."""
    if isinstance(value, list):
        return isinstance(found, list) and len(found) == len(value) and all(map(_same, found, value))
    if isinstance(value, dict):
        return (
            isinstance(found, dict) and found.keys() == value.keys() and all(_same(found[k], value[k]) for k in value)
        )
    return bool(found == value) and isinstance(found, bool) == isinstance(value, bool)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _unescaped(text: str) -> str:
    return f'"{text}"'


def _single(text: str) -> str:
    return f"'{text}'"


def _bare(text: str) -> str:
    return text


# Java


def _java_forms(value: Any, declared: str, inner: str | None) -> Iterator[str]:
    match value:
        case str():
            yield value
            if declared in _TEXTS:
                yield _escaped(value)
        case list():
            for quote in (_java_quote(inner), _unescaped, _bare):
                yield from _java_lists(value, declared, inner, quote)
        case dict():
            for quote in (_escaped, _unescaped):
                yield _java_map(value, declared, quote)
        case _:
            yield _java_scalar(value, declared)


def _java_quote(inner: str | None) -> _Quote:
    return _java_character if inner == "char" else _escaped


def _java_character(text: str) -> str:
    if len(text) != 1:
        return _escaped(text)
    return "'\\''" if text == "'" else "'\"'" if text == '"' else f"'{_escaped(text)[1:-1]}'"


def _java_lists(values: list[Any], declared: str, inner: str | None, quote: _Quote) -> Iterator[str]:
    array_class, element_class = _CLASSES.get(str(inner), ("Object", "Object"))
    elements = [_java_element(value, inner, quote) for value in values]
    if declared == "Array":
        yield f"new {array_class}[]{{{', '.join(elements)}}}"
        return
    new = f"new {_COLLECTIONS.get(declared, 'ArrayList')}<{element_class}>"
    if not elements:
        yield f"{new}()"
        return
    if declared != "Stack":
        yield f"{new}(Arrays.asList({', '.join(elements)}))"
    yield f"{new}() {{{{ {' '.join(f'add({element});' for element in elements)} }}}}"


def _java_map(values: dict[str, Any], declared: str, quote: _Quote) -> str:
    puts = " ".join(f"put({quote(key)}, {_java_element(item, None, quote)});" for key, item in values.items())
    new = f"new {'Hashtable' if declared == 'Hashtable' else 'HashMap'}<String, Object>()"
    return f"{new} {{{{ {puts} }}}}" if puts else new


def _java_element(value: Any, declared: str | None, quote: _Quote) -> str:
    match value:
        case str():
            return quote(value)
        case list():
            return next(_java_lists(value, "ArrayList", None, quote))
        case dict():
            return _java_map(value, "HashMap", quote)
        case _:
            return _java_scalar(value, declared)


def _java_scalar(value: Any, declared: str | None) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case int():
            # An Object takes a number as what it looks like, and an int has 32 bits.
            is_long = declared == "long" or (declared is None and value not in _JAVA_INT)
            return f"{value}L" if is_long else f"{value}f" if declared == "float" else str(value)
        case float():
            return f"{value!r}f" if declared == "float" else repr(value)
        case _:
            return str(value)


# JavaScript


def _javascript_forms(value: Any, declared: str, inner: str | None) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if declared in _TEXTS:
            yield from (_escaped(value), _single(value), _unescaped(value))
    elif isinstance(value, list | dict):
        for quote in (_escaped, _unescaped, _single, _bare):
            yield _javascript_element(value, inner, quote)
    else:
        yield _javascript_scalar(value, declared)


def _javascript_element(value: Any, inner: str | None, quote: _Quote) -> str:
    match value:
        case str():
            return quote(value)
        case list():
            return f"[{', '.join(_javascript_element(item, inner, quote) for item in value)}]"
        case dict():
            members = (f"{quote(key)}: {_javascript_element(item, None, quote)}" for key, item in value.items())
            return f"{{{', '.join(members)}}}"
        case _:
            return _javascript_scalar(value, inner)


def _javascript_scalar(value: Any, declared: str | None) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"{value}n" if declared == "Bigint" and isinstance(value, int) else repr(value)


class _Notation(NamedTuple):
    """How values are written and read in a language."""

    forms: Callable[[Any, str, str | None], Iterator[str]]
    """The ways to write a value, the programmer's first."""
    convert: _Read
    """The official converter."""
    read: _Read
    """Our own reader."""


_NOTATIONS: dict[Language, _Notation] = {
    "java": _Notation(_java_forms, convert_java, read_java),
    "javascript": _Notation(_javascript_forms, convert_javascript, read_javascript),
}
