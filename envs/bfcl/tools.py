"""BFCL's documents of functions as Tools: its dialect of types becomes JSON Schema, the original stays in ``meta``.

What a document says twice and differently is settled from the document alone, never from the answers, so that
nothing of them shows: a default is always accepted, whatever the declared type or the listed values, and of
listed values those count that can be read as the declared type. The official checker reads nothing but names,
types and ``required``, and there a value outside a list is no error of its own.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jsonschema_rs

from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_text import code_texts
from callgym.schema import ToolSchema
from callgym.tool import Tool

__all__ = ["Fit", "fit_to", "make_tool"]

_TYPES = {
    "string": "string",
    "String": "string",
    "char": "string",
    "integer": "integer",
    "byte": "integer",
    "short": "integer",
    "long": "integer",
    "Bigint": "integer",
    "float": "number",
    "double": "number",
    "number": "number",
    "boolean": "boolean",
    "Boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "list": "array",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
    "dict": "object",
    "object": "object",
    "HashMap": "object",
}
"""Declared type to JSON's. A type that is not here ("any", "", none at all) takes any value."""
_BOUNDS = ("minimum", "maximum")
_KEYWORDS = {"string": ("format",), "integer": _BOUNDS, "number": _BOUNDS, "array": ("minItems", "maxItems")}
"""What else is kept of a document, by JSON type: elsewhere such words mean nothing."""
_NAMES: dict[Language, str] = {"java": "Java", "javascript": "JavaScript"}
_MISFIT = object()


def make_tool(function: Mapping[str, Any], language: Language = "python") -> Tool:
    """A tool from the official document of a function; equal documents give the same Tool.

    Args:
        function: ``{"name", "description", "parameters"}``, and ``response`` for a class's function.
        language: For Java and JavaScript each argument is text in that language's notation, as in the official
            inference, and its description names the declared type.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: The document is none; see ``files.naming``.
    """
    return _interned(json.dumps(function), language)


@functools.lru_cache(maxsize=8192)
def _interned(text: str, language: Language) -> Tool:
    function = json.loads(text)
    documented = function["parameters"]
    properties: dict[str, Any] = {
        name: _property(entry) if language == "python" else _source_text(entry, language)
        for name, entry in documented["properties"].items()
    }
    response = function.get("response")
    return Tool(
        name=function["name"],
        description=function["description"],
        parameters={
            "type": "object",
            "properties": properties,
            "required": _existing(documented.get("required", ()), properties),
            "additionalProperties": False,
        },
        returns=None if response is None else _property(response),
        meta={"bfcl": function},
    )


def _existing(required: Iterable[str], properties: Mapping[str, Any]) -> list[Any]:
    """The required names that are documented, each once."""
    return [name for name in dict.fromkeys(required) if name in properties]


def _source_text(entry: Any, language: Language) -> dict[str, Any]:
    """A Java or JavaScript parameter: text, with the declared type in its description."""
    documented = entry if isinstance(entry, Mapping) else {}
    declared = documented.get("type") or "any"
    items = documented.get("items")
    of = f" of {items['type']}" if isinstance(items, Mapping) and items.get("type") else ""
    fields = documented.get("properties")
    with_fields = f", its entries: {json.dumps(fields)}" if fields else ""
    words = f"{documented.get('description', '')} ({_NAMES[language]} source text; type: {declared}{of}{with_fields})"
    schema: dict[str, Any] = {"type": "string", "description": words.lstrip()}
    if documented.get("default") is not None:
        schema["default"] = code_texts(documented["default"], documented, language)[0]
    return schema


def _property(entry: Any) -> dict[str, Any]:
    """The schema of a documented value; an entry that documents nothing takes any value."""
    if not isinstance(entry, Mapping):
        return {}
    schema: dict[str, Any] = {}
    kind = _TYPES.get(str(entry.get("type")))
    if kind is not None:
        schema["type"] = kind
        kept = (word for word in _KEYWORDS.get(kind, ()) if _is_keyword_value(entry.get(word), kind))
        schema |= {word: entry[word] for word in kept}
    if "description" in entry:
        schema["description"] = str(entry["description"])
    if kind == "object" and isinstance(entry.get("properties"), Mapping):
        schema["properties"] = {name: _property(inner) for name, inner in entry["properties"].items()}
        if required := _existing(entry.get("required", ()), schema["properties"]):
            schema["required"] = required
    if kind == "array" and isinstance(entry.get("items"), Mapping):
        schema["items"] = _property(entry["items"])
    _add_listed_values(schema, entry.get("enum"))
    if "default" in entry:
        _add_default(schema, entry["default"])
    return schema


def _is_keyword_value(value: Any, kind: str) -> bool:
    """Whether a format is text, a bound a number, a length no less than 0."""
    if kind == "string":
        return isinstance(value, str)
    return type(value) is int and value >= 0 if kind == "array" else type(value) in (int, float)


def _add_listed_values(schema: dict[str, Any], listed: Any) -> None:
    """The listed values that fit; a list of elements beside an array lists what its elements may be."""
    if not isinstance(listed, list):
        return
    read = _readable(listed, schema.get("type"))
    if read:
        schema["enum"] = read
    elif schema.get("type") == "array":
        items = schema.setdefault("items", {})
        if "enum" not in items and (read := _readable(listed, items.get("type"))):
            items["enum"] = read


def _readable(listed: list[Any], kind: str | None) -> list[Any]:
    read = [value for value in (_read(value, kind) for value in listed) if value is not _MISFIT]
    return [value for index, value in enumerate(read) if _place(value, read) == index]


def _add_default(schema: dict[str, Any], default: Any) -> None:
    """The default, which is accepted whatever else is declared: as null, as a listed value, or as an alternative."""
    kind = schema.get("type")
    value = _read(default, kind)
    schema["default"] = default if value is _MISFIT else value
    if value is not _MISFIT:
        if "enum" in schema and _place(value, schema["enum"]) is None:
            schema["enum"].append(value)
    elif default is None:
        schema["type"] = [kind, "null"]
        if "enum" in schema:
            schema["enum"].append(None)
    else:
        declared = {word: schema.pop(word) for word in tuple(schema) if word not in ("description", "default")}
        schema["anyOf"] = [declared, {"const": default}]


def _place(value: Any, values: list[Any]) -> int | None:
    """Where a value stands among others; true is not 1."""
    return next((index for index, other in enumerate(values) if type(other) is type(value) and other == value), None)


def _read(value: Any, kind: str | None) -> Any:
    """A documented value as the JSON type: "false" where a boolean is declared is false; ``_MISFIT`` if it is none."""
    match kind:
        case None:
            return value
        case "string":
            fits = isinstance(value, str)
        case "array":
            fits = isinstance(value, list)
        case "object":
            fits = isinstance(value, dict)
        case "boolean":
            value = {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value
            fits = isinstance(value, bool)
        case _:
            value = _number(value) if isinstance(value, str) else value
            fits = type(value) is int or (kind == "number" and type(value) is float)
    return value if fits else _MISFIT


def _number(text: str) -> Any:
    try:
        number = json.loads(text)
    except ValueError:
        return text
    return number if type(number) in (int, float) else text


class Fit(NamedTuple):
    """A tool as an answer needs it."""

    tool: Tool
    faults: tuple[str, ...]
    """Where the answer does not fit the document; empty where the tool is the documented one."""


def fit_to(tool: Tool, schema: ToolSchema, references: Sequence[Mapping[str, Any]]) -> Fit:
    """Let go of what an answer's own reference calls violate, which happens in 1 of 80 official entries.

    An argument whose reference does not fit its documented schema may have any value, and a required one that the
    answer leaves out is not required. What the answer holds instead is not said: the schema gives nothing away but
    that the document is wrong here.

    Args:
        tool: The documented tool.
        schema: The same, compiled.
        references: The arguments of the reference calls of this tool.
    """
    if all(schema.check(dict(arguments)) is None for arguments in references):
        return Fit(tool, ())
    free: dict[str, str] = {}
    missing: dict[str, str] = {}
    for arguments in references:
        for name, value in arguments.items():
            if not jsonschema_rs.is_valid(tool.properties[name], value):
                free[name] = f"{tool.name}: the answer {_short(value)} does not fit the documented {name!r}"
        for name in tool.required:
            if name not in arguments:
                missing[name] = f"{tool.name}: the answer leaves out {name!r}, which is required"
    properties = {name: _any_value(entry) if name in free else entry for name, entry in tool.properties.items()}
    required = [name for name in tool.required if name not in missing]
    parameters = {**tool.parameters, "properties": properties, "required": required}
    faults = (*free.values(), *missing.values())
    return Fit(tool.model_copy(update={"parameters": parameters}), faults)


def _any_value(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {word: entry[word] for word in ("description", "default") if word in entry}


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
