"""Arguments against a tool's schema: compiled once a tool, checked on every call.

``check`` asks whether arguments are valid as they are. ``coerce`` first reads them as the types that the schema asks
for, in one of three modes (``Coercion``). Backend and reward see the same coerced arguments, so they can never
disagree.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from callgym.dialects.literal import LiteralError, read_literal
from callgym.errors import DataError
from callgym.lenient import LenientReader
from callgym.tool import Tool
from callgym.validator import compile_schema

__all__ = ["Coercion", "ToolSchema"]

Coercion = Literal["strict", "text", "lenient"]
"""How arguments are read before they are checked. ``strict``: as they are written. ``text``: text as the type that is
asked for, for dialects whose values arrive as bare text. ``lenient``: JSON of the wrong type as the type that is asked
for, at any depth, where that is possible without a guess."""

_MAX_LISTED = 3
_MAX_SHOWN = 200


class ToolSchema:
    """The compiled schema of one tool."""

    def __init__(self, tool: Tool) -> None:
        """Compile ``tool.parameters``.

        Raises:
            DataError: The parameters are not a valid JSON Schema (draft 2020-12).
        """
        self.tool = tool
        self._types = {name: _types_of(schema) for name, schema in tool.properties.items()}
        try:
            self._validator = compile_schema(tool.parameters)
        except ValueError as error:
            raise DataError(
                f"the parameters of tool {tool.name!r} are not a JSON Schema: {str(error).splitlines()[0]}"
            ) from error

    def check(self, arguments: dict[str, Any]) -> str | None:
        """None for valid arguments, else a sentence that names up to three faults."""
        if self._validator.is_valid(arguments):
            return None
        faults: list[str] = []
        for error in self._validator.iter_errors(arguments):
            if len(faults) == _MAX_LISTED:
                faults.append("and more")
                break
            path = ".".join(str(part) for part in error.instance_path)
            message = error.message
            if len(message) > _MAX_SHOWN:
                message = message[:_MAX_SHOWN] + "..."
            faults.append(f"{path}: {message}" if path else message)
        return f"arguments of {self.tool.name} are invalid: " + "; ".join(faults)

    def coerce(self, arguments: dict[str, Any], mode: Coercion = "text") -> dict[str, Any]:
        """Read values as the types the schema asks for; what cannot be read stays as it is. Raises nothing.

        ``strict``: the arguments as they are.

        ``text``: ``"3"`` becomes 3 where an integer is asked, ``"True"`` or ``"true"`` becomes true for a
        boolean, a literal list or object (JSON's or Python's notation) becomes one. Numbers and
        booleans become text where text is asked. Where any value may stand, what reads as a number, a
        boolean, a list or an object is one: a dialect without types has no way to say that it is text.

        ``lenient``: text that is JSON becomes a list, an object, a number, a boolean or null where text is not
        allowed and the result has a type that is; a number or a boolean becomes text (``true``, ``1.5``) where
        nothing but text fits; ``3.0`` becomes 3 where an integer is asked. The same in items and properties, and
        where there is a choice (``anyOf``, ``oneOf``) if exactly one branch then fits. What is valid stays valid.
        """
        if mode == "strict":
            return arguments
        if mode == "lenient":
            read: dict[str, Any] = self._lenient(arguments)
            return read
        coerced = {}
        for name, value in arguments.items():
            types = self._types.get(name)
            coerced[name] = _coerce(value, _ANY if types is None and name in self._types else types)
        return coerced

    @cached_property
    def _lenient(self) -> LenientReader:
        # Compiled when it is first asked for.
        return LenientReader(self.tool.parameters)


def _types_of(schema: dict[str, Any]) -> frozenset[str] | None:
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset((declared,))
    if isinstance(declared, list):
        return frozenset(str(name) for name in declared)
    return None


# Text mode.

_ANY = frozenset(("integer", "number", "boolean", "array", "object", "null"))


def _coerce(value: Any, types: frozenset[str] | None) -> Any:
    if types is None:  # no such argument
        return value
    if isinstance(value, str):
        return value if "string" in types else _read_text(value, types)
    if "string" in types and isinstance(value, (bool, int, float)):
        return str(value)
    return value


def _read_text(text: str, types: frozenset[str]) -> Any:
    stripped = text.strip()
    if "boolean" in types and stripped in ("True", "true", "False", "false"):
        return stripped in ("True", "true")
    try:
        value = read_literal(stripped)
    except LiteralError:
        return text
    fits = (
        ("integer" in types and type(value) is int)
        or ("number" in types and type(value) in (int, float))
        or ("array" in types and type(value) is list)
        or ("object" in types and type(value) is dict)
        or ("null" in types and value is None)
    )
    return value if fits else text
