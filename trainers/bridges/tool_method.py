"""A tool as a Python method, for libraries that read a tool's schema off a signature and a docstring.

``transformers.utils.get_json_schema`` reads type hints and a docstring in Google's style; the method made here
gives back the tool's own schema where hints can say it. What they cannot say (properties of an object, bounds,
patterns) stands as JSON Schema behind the argument's description. No source text is made and none is run: the
method is a closure with a signature.
"""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from callgym.errors import ConfigurationError
from callgym.tool import Tool

__all__ = ["TypeHint", "check_tool_names", "tool_method", "type_hint"]

_HINTS: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}
_SCALARS = (str, int, float, bool, type(None))
_SAID = frozenset(("type", "items", "enum", "const", "anyOf", "oneOf", "additionalProperties"))
"""Keywords that hints may say; the rest of a schema has to be told in words."""
_UNSAID = frozenset(("description", "default", "title", "examples"))
"""Keywords of an argument's own schema that constrain nothing; description and default are told in words anyway."""
_WORD = re.compile(r"\w+")
# What the reader of docstrings takes for the beginning of a section, or of a list of choices.
_SECTION = re.compile(r"(?:Args|Returns|Raises|\((?i:choices)):")


class Caller(Protocol):
    """What a method's object must have."""

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        """Make a call of the tool ``name`` and give the text that comes back."""


class TypeHint(NamedTuple):
    """What a schema is as a type hint."""

    hint: Any
    """The hint; ``Any`` where there is none for it."""
    exact: bool
    """Whether the hint says all that the schema says."""


def tool_method(tool: Tool) -> Callable[..., str]:
    """A method that calls ``tool`` through its object's ``_call``.

    Arguments whose names are no Python names have one made of them (``from`` is ``from_``), and keep their own on
    the way to the tool. Arguments that are left out stay left out: a default of the schema is told, not passed.

    Raises:
        ConfigurationError: Two arguments would have the same name, or one has none.
    """
    names = _argument_names(tool)

    def method(self: Caller, /, **arguments: Any) -> str:
        return self._call(tool.name, {names.get(key, key): value for key, value in arguments.items()})

    hints = {python: type_hint(tool.properties[own]) for python, own in names.items()}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for python, own in names.items():
        default = inspect.Parameter.empty if own in tool.required else tool.properties[own].get("default")
        kind = inspect.Parameter.KEYWORD_ONLY  # required ones may follow those that are not
        parameters.append(inspect.Parameter(python, kind, default=default, annotation=hints[python].hint))
    method.__name__ = tool.name
    method.__qualname__ = tool.name
    method.__doc__ = _docstring(tool, names, hints)
    method.__annotations__ = {python: hint.hint for python, hint in hints.items()}
    method.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return method


def check_tool_names(tools: Sequence[Tool], reserved: Sequence[str], mend: str) -> None:
    """Check that every tool's name can be a public method's.

    Args:
        tools: The tools.
        reserved: Names that are taken.
        mend: How to mend it; closes the message.

    Raises:
        ConfigurationError: Some cannot; the message names them.
    """
    wrong = [tool.name for tool in tools if not _is_public_name(tool.name) or tool.name in reserved]
    if wrong:
        listed = ", ".join(map(repr, wrong[:5])) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise ConfigurationError(
            f"the tools {listed} cannot be methods: a method's name is a Python identifier, no keyword, does not begin "
            f"with an underscore, and is none of {', '.join(reserved)}; {mend}"
        )


def type_hint(schema: Mapping[str, Any]) -> TypeHint:
    """The type hint of a JSON Schema, as ``get_json_schema`` reads it back.

    ``string``, ``integer``, ``number``, ``boolean``, ``null``, ``array`` (with ``items``), ``object`` (with a schema as
    ``additionalProperties``), lists of types, ``enum`` and ``const`` of scalars, ``anyOf`` and ``oneOf``.
    """
    found = _hint(schema)
    return TypeHint(found.hint, found.exact and schema.keys() <= _SAID | _UNSAID)


def _hint(schema: Mapping[str, Any]) -> TypeHint:
    if "const" in schema or "enum" in schema:
        return _choice(schema)
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _union([_inner(branch) for branch in schema[name]], "type" not in schema)
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        return _union([_hint({**schema, "type": one}) for one in kind], True)
    if kind == "array":
        if "items" not in schema:
            return TypeHint(list, True)
        items = _inner(schema["items"])
        return TypeHint(list[items.hint], items.exact)  # type: ignore[name-defined]
    if kind == "object":
        values = schema.get("additionalProperties", True)
        if isinstance(values, Mapping):
            inner = _inner(values)
            return TypeHint(dict[str, inner.hint], inner.exact)  # type: ignore[name-defined]
        return TypeHint(dict, values is True)
    if isinstance(kind, str) and kind in _HINTS:
        return TypeHint(_HINTS[kind], True)
    return TypeHint(Any, not schema.keys() & _SAID)


def _inner(schema: Any) -> TypeHint:
    """As ``type_hint``, for a schema inside another, whose description has no other place."""
    if not isinstance(schema, Mapping):  # true and false are schemas, too
        return TypeHint(Any, schema is True)
    found = _hint(schema)
    return TypeHint(found.hint, found.exact and schema.keys() <= _SAID)


def _choice(schema: Mapping[str, Any]) -> TypeHint:
    rest = {key: value for key, value in schema.items() if key not in ("const", "enum")}
    values = [schema["const"]] if "const" in schema else schema["enum"]
    if not isinstance(values, list) or not values or any(type(value) not in _SCALARS for value in values):
        return TypeHint(_hint(rest).hint, False)
    kinds = {_kind(value) for value in values}
    declared = rest.get("type")
    same = declared is None or kinds == ({declared} if isinstance(declared, str) else set(declared))
    return TypeHint(Literal[tuple(values)], same)


def _kind(value: Any) -> str:
    return next(name for name, hint in _HINTS.items() if type(value) is hint)


def _union(hints: Sequence[TypeHint], exact: bool) -> TypeHint:
    if any(hint.hint is Any for hint in hints):
        return TypeHint(Any, False)
    joined = functools.reduce(operator.or_, [hint.hint for hint in hints])
    return TypeHint(joined, exact and all(hint.exact for hint in hints))


def _argument_names(tool: Tool) -> dict[str, str]:
    """Python's name to the argument's own."""
    names: dict[str, str] = {}
    for own in tool.properties:
        python = own if _is_name(own) else _made_name(own)
        if not _is_name(python) or python in names:
            other = f", which is {names[python]!r} already" if python in names else ", which is none"
            raise ConfigurationError(
                f"the argument {own!r} of the tool {tool.name!r} would have the Python name {python!r}{other}; "
                "callgym.trainers.trl.EpisodeRollouts trains on any tool"
            )
        names[python] = own
    return names


def _made_name(own: str) -> str:
    made = re.sub(r"\W", "_", own) or "_"
    if made[0].isdigit():
        made = f"_{made}"
    return f"{made}_" if keyword.iskeyword(made) or made == "self" else made


def _is_name(name: str) -> bool:
    return bool(_WORD.fullmatch(name)) and name.isidentifier() and not keyword.iskeyword(name) and name != "self"


def _is_public_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _docstring(tool: Tool, names: Mapping[str, str], hints: Mapping[str, TypeHint]) -> str:
    lines = [_harmless(tool.description).strip() or f"{tool.name}."]
    if names:
        lines += ["", "Args:"]
        lines += [f"    {python}: {_about(own, tool.properties[own], hints[python])}" for python, own in names.items()]
    return "\n".join(lines)


def _about(own: str, schema: Mapping[str, Any], hint: TypeHint) -> str:
    """One line on an argument: what it is, and what its type hint does not say."""
    description = schema.get("description")
    words = description if isinstance(description, str) and description.strip() else f"The argument {own}."
    if "default" in schema and "default" not in words.lower():
        words += f" Default: {_json(schema['default'])}."
    if not hint.exact:
        words += f" JSON Schema: {_json({key: schema[key] for key in schema if key not in _UNSAID})}"
    return " ".join(_harmless(words).split())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _harmless(text: str) -> str:
    """Text that opens no section of a docstring."""
    return _SECTION.sub(lambda found: found.group()[:-1] + " :", text)
