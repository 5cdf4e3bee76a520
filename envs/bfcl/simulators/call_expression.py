"""Call texts as BFCL writes them, ``f(a=1, b=g(c='x'))``, read into a tree that holds nothing but literals and calls.

``bfcl-eval`` 2026.3.23 evaluates such texts as Python; here they are parsed, and what is neither a literal nor a
call of literals becomes a fault where its value would be needed. ::

    read_call_text("cd(folder='x')").node   # CallExpression(("cd",), (), {"folder": "x"}, True)
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from callgym.envs.bfcl.simulators.flat_call import FlatCall, read_flat_call

__all__ = ["TOO_LONG", "CallExpression", "Container", "Fault", "ReadText", "read_call_text"]

_ATOMS = frozenset((str, int, float, bool, type(None)))
_MAX_CACHED = 500
_LONG = 20_000
_LONGEST = 500_000
# One that is never closed goes on to the end.
_QUOTED = re.compile(r"""'[^'\\]*+(?:\\.[^'\\]*+)*+('|\Z)|"[^"\\]*+(?:\\.[^"\\]*+)*+("|\Z)""", re.DOTALL)
_MAX_BITS = 1_024
_MAX_REPEATED = 10_000


class CallExpression(NamedTuple):
    """A call; arguments are plain values where they are atoms, else nodes. Trees are shared: not to be changed."""

    path: tuple[str, ...]
    """The dotted name; empty where what is called is no name."""
    positional: tuple[Any, ...]
    keywords: dict[str, Any]
    is_flat: bool
    """Whether all arguments are atoms."""


class Container(NamedTuple):
    """A list, tuple, set or dict, to be made anew each time: a tool may keep it and change it."""

    make: Callable[[list[Any]], Any]
    items: tuple[Any, ...]
    """Values, or (key, value) pairs of a dict as Containers of two."""


class Fault(NamedTuple):
    """Something that has no value; the text is the error's."""

    text: str


class ReadText(NamedTuple):
    """A call text as it was read."""

    node: Any
    """An atom, a CallExpression, a Container or a Fault."""
    is_plain: bool
    """Whether no text in it has an opening bracket, so that the official rewriting cannot have touched one."""
    head: str
    """What the official harness takes for the function's name when it looks whether to refuse it: what stands before
    the first bracket or, where that has a point, between its first point and its second."""


def read_call_text(text: str) -> ReadText:
    """Read one call text; whatever it is, the answer is a tree."""
    return _read_cached(text) if len(text) <= _MAX_CACHED else _read(text)


def _read(text: str) -> ReadText:
    flat = read_flat_call(text) if len(text) <= _LONG else None
    if flat is not None:
        return _of_flat(flat, "(" not in text[len(flat.name) + 1 :])
    head = text.partition("(")[0].rstrip()
    head = head.split(".")[1] if "." in head else head
    if len(text) > _LONGEST or (len(text) > _LONG and _is_too_long(text)):
        return ReadText(TOO_LONG, True, head)
    try:
        reader = _Reader()
        node = reader.value(_parse(text))
        return ReadText(node, reader.is_plain, head)
    except SyntaxError as error:
        return ReadText(Fault(str(error)), False, head)
    except (ValueError, MemoryError, RecursionError) as error:
        return ReadText(Fault(str(error) or "the call is nested too deeply"), False, head)


def _of_flat(call: FlatCall, is_plain: bool) -> ReadText:
    if tuple not in map(type, call.keywords.values()) and tuple not in map(type, call.positional):
        return ReadText(CallExpression((call.name,), tuple(call.positional), call.keywords, True), is_plain, call.name)
    positional = tuple(map(_of_flat_value, call.positional))
    keywords = {name: _of_flat_value(value) for name, value in call.keywords.items()}
    return ReadText(CallExpression((call.name,), positional, keywords, False), is_plain, call.name)


def _of_flat_value(value: Any) -> Any:
    return Container(list, value) if type(value) is tuple else value


_read_cached = lru_cache(maxsize=4_096)(_read)


def _is_too_long(text: str) -> bool:
    """Whether there is so much beside the quoted texts, or so many of them, that Python's parser would take long;
    or one that is never closed."""
    rest, quoted = _QUOTED.subn("", text)
    if len(rest) + quoted > _LONG or text.count("(") > _LONG:
        return True
    closing = _QUOTED.sub(r"\1\2", text)
    return len(closing) - len(rest) < quoted


def _parse(text: str) -> ast.expr:
    text = text.lstrip(" \t")
    if "\\" not in text:
        return ast.parse(text, "<string>", "eval").body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that are none
        return ast.parse(text, "<string>", "eval").body


class _Reader:
    """Turns a syntax tree into ours."""

    def __init__(self) -> None:
        self.is_plain = True

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                if type(value) is str and "(" in value:
                    self.is_plain = False
                return value
            case ast.Call():
                return self._call(node)
            case ast.List(elts=items):
                return self._container(list, items)
            case ast.Tuple(elts=items):
                return self._container(tuple, items)
            case ast.Set(elts=items):
                return self._container(set, items)
            case ast.Dict(keys=keys, values=values):
                return Container(dict, tuple(map(self._pair, keys, values)))
            case ast.UnaryOp(op=sign, operand=operand):
                return _computed(_UNARY.get(type(sign)), self.value(operand))
            case ast.BinOp(left=left, op=sign, right=right):
                return _computed(_BINARY.get(type(sign)), self.value(left), self.value(right))
            case ast.Name(id=name):
                return Fault(f"name '{name}' is not defined")
        return _NOT_LITERAL

    def _container(self, make: Callable[[list[Any]], Any], items: list[ast.expr]) -> Container:
        return Container(make, tuple(self.value(item) for item in items))

    def _pair(self, key: ast.expr | None, value: ast.expr) -> Container:
        return Container(tuple, (_NOT_LITERAL if key is None else self.value(key), self.value(value)))

    def _call(self, node: ast.Call) -> CallExpression | Fault:
        positional = tuple(self.value(argument) for argument in node.args)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                return _NOT_LITERAL
            if keyword.arg in keywords:
                raise SyntaxError(f"keyword argument repeated: {keyword.arg}", ("<string>", 1, None, None))
            keywords[keyword.arg] = self.value(keyword.value)
        is_flat = all(type(value) in _ATOMS for value in (*positional, *keywords.values()))
        return CallExpression(_path(node.func), positional, keywords, is_flat)


TOO_LONG = Fault("the call is too long")
"""What a call text gets that would take long to read."""
_NOT_LITERAL = Fault("only calls with literal arguments can be run")


def _path(node: ast.expr) -> tuple[str, ...]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


_UNARY: dict[type[ast.unaryop], Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_BINARY: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _computed(operation: Callable[..., Any] | None, *operands: Any) -> Any:
    """The value of arithmetic on literals; numbers and texts only, and small ones."""
    for operand in operands:
        if type(operand) is Fault:
            return operand
    if operation is None or not all(map(_is_small, operands)):
        return _NOT_LITERAL
    if any(type(operand) is str for operand in operands) and operation is not operator.add:
        return _NOT_LITERAL  # formats and repetitions
    try:
        return operation(*operands)
    except (ArithmeticError, TypeError) as error:
        return Fault(str(error))


def _is_small(operand: Any) -> bool:
    kind = type(operand)
    if kind is str:
        return len(operand) <= _MAX_REPEATED
    return kind in (float, bool) or (kind is int and operand.bit_length() <= _MAX_BITS)
