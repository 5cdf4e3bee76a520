"""Tools as TypeScript: a namespace with one function type a tool, its description a comment.

For example::

    namespace functions {

    // Finds trains between two towns.
    type find_trains = (_: {
    from: string,
    // At most this many.
    limit?: number, // default: 5
    }) => any;

    } // namespace functions

A schema that this cannot say becomes ``any``; nothing in it raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from callgym.json_value import write_json
from callgym.tool import Tool

__all__ = ["write_function", "write_namespace", "write_type"]

_MAX_DEPTH = 8  # of a schema; what is deeper is `any`
_ATOMS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}


def write_namespace(name: str, tools: Sequence[Tool]) -> str:
    """The functions of these tools, with an empty line between them."""
    functions = [write_function(tool) for tool in tools]
    return "\n\n".join([f"namespace {name} {{", *functions, f"}} // namespace {name}"])


def write_function(tool: Tool) -> str:
    """The type of one tool, below its description."""
    fields = _fields(tool.parameters, 0)
    takes = f"(_: {fields})" if fields else "()"
    return "\n".join([*_comment(tool.description), f"type {tool.name} = {takes} => any;"])


def write_type(schema: Any, depth: int = 0) -> str:
    """The type of the values that a JSON Schema allows, as near as TypeScript comes to it."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "any"
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return _union(map(write_json, schema["enum"]))
    if "const" in schema:
        return write_json(schema["const"])
    for choice in ("anyOf", "oneOf"):
        if isinstance(schema.get(choice), list) and schema[choice]:
            return _union(write_type(inner, depth + 1) for inner in schema[choice])
    declared = schema.get("type")
    kinds = declared if isinstance(declared, list) and declared else [declared]
    written = _union(_write_kind(kind, schema, depth) for kind in kinds)
    return f"{written} | null" if schema.get("nullable") is True and written != "any" else written


def _write_kind(kind: Any, schema: dict[str, Any], depth: int) -> str:
    if kind == "array":
        item = write_type(schema.get("items"), depth + 1)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object":
        return _fields(schema, depth + 1) or "object"
    return _ATOMS.get(kind, "any") if isinstance(kind, str) else "any"


def _fields(schema: dict[str, Any], depth: int) -> str:
    """An object type with a line a property; the empty text where the schema names none."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return ""
    required = schema.get("required")
    lines = ["{"]
    for name, inner in properties.items():
        optional = "" if isinstance(required, list) and name in required else "?"
        described = inner if isinstance(inner, dict) else {}
        default = f" // default: {write_json(described['default'])}" if "default" in described else ""
        key = name if name.isidentifier() else write_json(name)
        lines += _comment(described.get("description"))
        lines.append(f"{key}{optional}: {write_type(inner, depth)},{default}")
    return "\n".join([*lines, "}"])


def _union(types: Iterable[str]) -> str:
    found = list(dict.fromkeys(types))
    return "any" if "any" in found else " | ".join(found)


def _comment(text: Any) -> list[str]:
    """A comment line a line of the text, so that no line of it is read as a declaration."""
    return [f"// {line}" for line in text.splitlines() if line.strip()] if isinstance(text, str) else []
