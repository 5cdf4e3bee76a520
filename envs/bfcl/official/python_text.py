"""Calls in Python's notation, as the official decoder reads them; nothing is ever evaluated.

Its quirks: positional arguments are dropped, bare names are texts, every unary operator gives minus its operand, a
call without keywords is its own source text, one with keywords a ``{name: {argument: value}}``.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Callable
from typing import Any

from callgym.envs.bfcl.official.arithmetic import Arithmetic, bounded_constant
from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.plain_calls import read_plain_calls

__all__ = ["MAX_LENGTH", "read_calls", "read_literal"]

MAX_LENGTH = 100_000
"""Longer texts are refused unread."""
_MAX_MARKS = 10_000
_MARKS = ",.([{<>=:+*/%-"
_SHORT = 10_000
# What Python's reader raises; null characters and halves of surrogate pairs make a ValueError.
_FAULTS = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError, OverflowError)
# What is read with a warning, beside escapes that do not exist: numbers that run into a keyword.
_WARNED = re.compile(r"[0-9](?:(?<!\w[0-9])\w*?|\.\w*?)(?:and|else|for|if|in|is|not|or)")
_WARNINGS_LOCK = threading.Lock()


def read_calls(text: str) -> list[dict[str | None, Any]]:
    """The calls of a text, ``[{name: {argument: value}}, ...]``; ``**{}`` becomes an argument named None.

    Args:
        text: A display of calls (list, tuple or set), or one call.

    Raises:
        DecodeFailure: It is something else, or a value in it is of a kind that has no value here.
    """
    check_size(text)
    if text.startswith("[") and text.endswith("]"):
        calls = read_plain_calls(text)
        if calls is not None:
            return calls  # type: ignore[return-value]
    tree = _parse(text.strip().strip("'"))
    try:
        return _Reader().calls(tree)
    except _FAULTS as error:
        raise DecodeFailure(type(error).__name__, str(error)) from error


def read_literal(text: str) -> Any:
    """The value of a text that is one Python literal: numbers, texts, bytes, words, lists, tuples, sets, dictionaries.

    Raises:
        DecodeFailure: It is none.
    """
    check_size(text)
    tree = _parse(text.lstrip(" \t"))
    try:
        return _Reader().literal(tree)
    except _FAULTS as error:
        raise DecodeFailure(type(error).__name__, str(error)) from error


def check_size(text: str) -> None:
    """Refuse what would take long to read.

    Raises:
        DecodeFailure: The text is longer than ``MAX_LENGTH``, or has far more punctuation than calls need.
    """
    if len(text) > MAX_LENGTH:
        raise DecodeFailure(None, f"{len(text):,} characters; {MAX_LENGTH:,} are read at most")
    if len(text) > _SHORT and sum(map(text.count, _MARKS)) > _MAX_MARKS:
        raise DecodeFailure(None, f"more than {_MAX_MARKS:,} punctuation marks")


def _parse(text: str) -> ast.expr:
    try:
        if "\\" not in text and _WARNED.search(text) is None:
            return ast.parse(text, mode="eval").body
        with _WARNINGS_LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except _FAULTS as error:
        raise DecodeFailure(type(error).__name__, str(error)) from error


class _Reader:
    """Turns the syntax tree of one text into values."""

    def __init__(self) -> None:
        self._arithmetic = Arithmetic()

    def calls(self, tree: ast.expr) -> list[dict[str | None, Any]]:
        if isinstance(tree, ast.Call):
            return [self._call(tree)]
        if not isinstance(tree, ast.List | ast.Tuple | ast.Set):
            raise DecodeFailure("AttributeError", f"a list of calls was expected, found {type(tree).__name__}")
        calls = []
        for item in tree.elts:
            if not isinstance(item, ast.Call):
                raise DecodeFailure("AssertionError", f"a call was expected, found {type(item).__name__}")
            calls.append(self._call(item))
        return calls

    def literal(self, node: ast.AST | None) -> Any:
        match node:
            case ast.Constant():
                return bounded_constant(node)
            case ast.List():
                return [self.literal(item) for item in node.elts]
            case ast.Tuple():
                return tuple([self.literal(item) for item in node.elts])
            case ast.Set():
                return set(self._bounded_keys([self.literal(item) for item in node.elts]))
            case ast.Dict():
                keys = self._bounded_keys([self.literal(key) for key in node.keys])
                return dict(zip(keys, map(self.literal, node.values), strict=True))
            case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
                return set()
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return self._complex(node)
        return _signed_number(node)

    def _complex(self, node: ast.BinOp) -> Any:
        left, right = _signed_number(node.left), _number(node.right)
        if not isinstance(left, int | float) or not isinstance(right, complex):
            raise DecodeFailure("ValueError", "an expression is no literal")
        return left + right if isinstance(node.op, ast.Add) else left - right

    def _call(self, node: ast.Call) -> dict[str | None, Any]:
        parts = []
        base = node.func
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            parts.append(base.id)
        return {".".join(reversed(parts)): {item.arg: self._value(item.value) for item in node.keywords}}

    def _value(self, node: ast.expr | None) -> Any:
        if type(node) is ast.Constant:
            value = node.value
            if type(value) is str:
                return value
            return "..." if value is Ellipsis else bounded_constant(node)
        read = _VALUES.get(type(node))
        if read is None:
            raise DecodeFailure("Exception", f"{type(node).__name__} is no value of an argument")
        return read(self, node)

    def _unary(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.operand, ast.Constant):
            official = "TypeError" if hasattr(node.operand, "value") else "AttributeError"
            raise DecodeFailure(official, "a sign before something that is no constant")
        return -bounded_constant(node.operand)

    def _list(self, node: ast.List) -> list[Any]:
        return [self._value(item) for item in node.elts]

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple([self._value(item) for item in node.elts])

    def _dictionary(self, node: ast.Dict) -> dict[Any, Any]:
        pairs = [(self._value(key), self._value(value)) for key, value in zip(node.keys, node.values, strict=True)]
        self._bounded_keys([key for key, _ in pairs])
        return dict(pairs)

    def _bounded_keys(self, keys: list[Any]) -> list[Any]:
        self._arithmetic.count_keys(keys)
        return keys

    def _expression(self, node: ast.BinOp) -> Any:
        return self._arithmetic.evaluate(node)

    def _name(self, node: ast.Name) -> str:
        return node.id

    def _nested_call(self, node: ast.Call) -> Any:
        return self._call(node) if node.keywords else ast.unparse(node)

    def _lambda(self, node: ast.Lambda) -> Any:
        raise DecodeFailure("TypeError", "a lambda is no value of an argument")

    def _subscript(self, node: ast.Subscript) -> str:
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"


_VALUES: dict[type[ast.AST | None], Callable[[_Reader, Any], Any]] = {
    ast.UnaryOp: _Reader._unary,
    ast.List: _Reader._list,
    ast.Tuple: _Reader._tuple,
    ast.Dict: _Reader._dictionary,
    ast.BinOp: _Reader._expression,
    ast.Name: _Reader._name,
    ast.Call: _Reader._nested_call,
    ast.Lambda: _Reader._lambda,
    ast.Subscript: _Reader._subscript,
}


def _number(node: ast.AST | None) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
        return bounded_constant(node)
    raise DecodeFailure("ValueError", f"{type(node).__name__} is no literal")


def _signed_number(node: ast.AST | None) -> Any:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        number = _number(node.operand)
        return +number if isinstance(node.op, ast.UAdd) else -number
    return _number(node)
