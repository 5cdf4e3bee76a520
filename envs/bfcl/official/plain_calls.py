"""Calls in the form nearly all are written in, read without a syntax tree.

Plain is ``[f(a=1, b='x'), g(c=[1.5, True], d={'k': "v"}, e=h(i=2))]``: names in ASCII, and values that are texts
without backslash, decimal numbers, words, lists, tuples, dictionaries with text keys, and calls with keyword
arguments. All else is left to ``python_text``; on plain text both give the same, which the tests hold against it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from typing import Any

from callgym.envs.bfcl.official.decode_failure import DecodeFailure

__all__ = ["read_plain_calls"]

_SPACE = r"[ \t\n]*+"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*+"
_DOTTED = rf"{_WORD}(?:\.{_WORD})*+"
# Control characters and halves of surrogate pairs are left to Python's own reader.
_CHARACTERS = r"\\\x00-\x1f\x7f\ud800-\udfff"
_TEXT = rf"'([^'{_CHARACTERS}]*+)'|\"([^\"{_CHARACTERS}]*+)\""
_NUMBER = r"(-?(?:0|[1-9][0-9]{0,17}+))|(-?[0-9]{1,17}+\.[0-9]{1,17}+)"
_SEPARATOR = rf"{_SPACE}(?:,{_SPACE}|(?=[)\]}}]))"

_CALL = re.compile(rf"{_SPACE}({_DOTTED})\({_SPACE}")
_PIECE = re.compile(rf"(?:({_WORD})=)?+(?:{_TEXT}|{_NUMBER}|({_WORD})){_SEPARATOR}")
"""An argument or element that is no collection, and what separates it from the next."""
_match_piece = _PIECE.match
_OPENING = re.compile(rf"(?:({_WORD})=)?+(?:([\[{{])|({_DOTTED})?\(){_SPACE}")
_KEY = re.compile(rf"(?:{_TEXT}){_SPACE}:{_SPACE}")
_AFTER_COLLECTION = re.compile(_SEPARATOR)
_AFTER_CALL = re.compile(rf"{_SPACE}(,?){_SPACE}")
_EMPTY = re.compile(rf"\[{_SPACE}\]")
_PROSE = re.compile(rf"\[\s*+({_WORD})(?:\s++({_WORD})|(['\"]))")
_STRAY_WORD = re.compile(rf"\]?+\s*+({_WORD})")

_KEYWORDS = frozenset(keyword.kwlist)
_STRING_PREFIXES = frozenset(("b", "f", "r", "u", "br", "fr", "rb", "rf"))
_CONSTANTS: dict[str, Any] = {"True": True, "False": False, "None": None}
_MAX_DEPTH = 20


class _NotPlain(Exception):
    """Something that is to be read by other means."""


def read_plain_calls(text: str) -> list[dict[str, dict[str, Any]]] | None:
    """The calls of a text, ``[{name: {argument: value}}, ...]``, or None where it is not plain.

    Args:
        text: Begins with ``[`` and ends with ``]``.

    Raises:
        DecodeFailure: There are words where none can stand, so that no other reader would find calls, either.
    """
    end = len(text) - 1
    calls: list[dict[str, dict[str, Any]]] = []
    at = 1
    try:
        while at < end and (opening := _CALL.match(text, at)) is not None:
            name = opening[1]
            _check_name(name)
            arguments, at = _read_arguments(text, opening.end(), 0)
            calls.append({name: arguments})
            after = _AFTER_CALL.match(text, at)
            assert after is not None
            at = after.end()
            if not after[1]:
                _check_stray_word(text, at)
                break
    except (_NotPlain, IndexError):
        # The end was reached: a bracket is missing.
        return None
    if calls:
        return calls if at == end else None
    if _EMPTY.fullmatch(text):
        return calls
    _check_prose(text)
    return None


def _check_prose(text: str) -> None:
    """Refuse what begins with two words, or with a word and a quote: no expression does."""
    found = _PROSE.match(text)
    # Outside ASCII there may be what cannot be encoded at all, which officially is another error.
    if found is None or found[1] in _KEYWORDS or found[2] in _KEYWORDS or not text.isascii():
        return
    if found[2] or found[1].lower() not in _STRING_PREFIXES:
        raise DecodeFailure("SyntaxError", f"{found[1][:40]!r} is no call")


def _check_stray_word(text: str, at: int) -> None:
    """Refuse a word right behind a call, or behind the list of calls."""
    found = _STRAY_WORD.match(text, at)
    if found is not None and found[1] not in _KEYWORDS and text.isascii():
        raise DecodeFailure("SyntaxError", f"{found[1][:40]!r} behind a call")


def _check_name(name: str) -> None:
    if name in _KEYWORDS or ("." in name and not _KEYWORDS.isdisjoint(name.split("."))):
        raise _NotPlain


def _read_arguments(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """The arguments from behind the opening bracket on, and the place behind the closing one."""
    arguments: dict[str, Any] = {}
    while text[at] != ")":
        piece = _match_piece(text, at)
        if piece is not None:
            name = piece[1]
            # As in ``_literal``, whose call would cost as much as all the rest.
            kind: int = piece.lastindex  # type: ignore[assignment]
            value: Any = piece[kind]
            if kind > _LAST_TEXT:
                value = _CONVERT[kind](value)
            at = piece.end()
        else:
            name, value, at = _read_collection(text, at, depth)
        if name is None:
            # Positional: officially dropped. Behind keyword arguments it is an error of syntax.
            if arguments:
                raise _NotPlain
        elif name in _KEYWORDS:
            raise _NotPlain
        else:
            arguments[name] = value
    return arguments, at + 1


def _word(word: str) -> Any:
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word in _KEYWORDS:
        raise _NotPlain
    return word


# What the groups of a piece hold: 2 and 3 texts, then these.
_LAST_TEXT = 3
_CONVERT: dict[int, Callable[[str], Any]] = {4: int, 5: float, 6: _word}


def _literal(piece: re.Match[str]) -> Any:
    kind: int = piece.lastindex  # type: ignore[assignment]
    return piece[kind] if kind <= _LAST_TEXT else _CONVERT[kind](piece[kind])


def _read_collection(text: str, at: int, depth: int) -> tuple[str | None, Any, int]:
    """The name, if any, and the value of a list, tuple, dictionary or call, and the place behind its separator."""
    opening = _OPENING.match(text, at)
    if opening is None or depth > _MAX_DEPTH:
        raise _NotPlain
    name, bracket, called = opening.groups()
    value: Any
    if bracket == "[":
        value, at = _read_items(text, opening.end(), "]", depth)
    elif bracket == "{":
        value, at = _read_dictionary(text, opening.end(), depth)
    elif called is None:
        items, at = _read_items(text, opening.end(), ")", depth)
        if len(items) == 1:
            raise _NotPlain
        value = tuple(items)
    else:
        _check_name(called)
        arguments, at = _read_arguments(text, opening.end(), depth + 1)
        if not arguments:
            raise _NotPlain
        value = {called: arguments}
    after = _AFTER_COLLECTION.match(text, at)
    if after is None:
        raise _NotPlain
    return name, value, after.end()


def _read_item(text: str, at: int, depth: int) -> tuple[Any, int]:
    piece = _match_piece(text, at)
    if piece is None:
        name, value, at = _read_collection(text, at, depth + 1)
    else:
        name, value, at = piece[1], _literal(piece), piece.end()
    if name is not None:
        raise _NotPlain
    return value, at


def _read_items(text: str, at: int, closing: str, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while text[at] != closing:
        item, at = _read_item(text, at, depth)
        items.append(item)
    return items, at + 1


def _read_dictionary(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    while text[at] != "}":
        key = _KEY.match(text, at)
        if key is None:
            raise _NotPlain
        name = key[1] if key[1] is not None else key[2]
        items[name], at = _read_item(text, key.end(), depth)
    return items, at + 1
