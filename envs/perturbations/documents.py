"""Documents of tools, and calls, inside JSON values: in a tool's answer, in what a benchmark keeps beside a task.

Found by their shape and never by their text. A document has a ``name`` (API-Bank also: ``apiCode``) and an object
``input_parameters`` or ``parameters``; the latter is a schema where it has ``properties``. A recorded call has
``api_name`` and ``input``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from callgym.dialects.literal import LiteralError, read_literal
from callgym.json_value import write_json

__all__ = ["WrittenValue", "documents_in", "name_of", "read_written", "rewrite", "schema_names"]

_NAMES = ("name", "apiCode")
_PARAMETERS = ("input_parameters", "parameters")

Document = Mapping[str, Any]


def name_of(value: Any) -> str | None:
    """The name of the tool that a value is the document of; None where it is none."""
    if not isinstance(value, dict) or not any(isinstance(value.get(key), dict) for key in _PARAMETERS):
        return None
    return next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)


def documents_in(value: Any) -> Iterator[dict[str, Any]]:
    """The documents in a JSON value, at any depth."""
    if name_of(value) is not None:
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from documents_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from documents_in(item)


def schema_names(document: Document) -> tuple[str, ...]:
    """The parameters of a document, in order."""
    for key in _PARAMETERS:
        given = document.get(key)
        if isinstance(given, dict):
            properties = given.get("properties", given)
            return tuple(properties)
    return ()


ToolName = Callable[[str], str]
ParameterName = Callable[[str, str], str]
"""(tool, parameter) to the parameter's new name."""


def rewrite(value: Any, tool: ToolName, parameter: ParameterName) -> Any:
    """A copy of a JSON value in which documents and recorded calls have other names; all else is as it was."""
    name = name_of(value)
    if name is not None:
        return _document(value, name, tool, parameter)
    if isinstance(value, dict):
        made = value.get("api_name")
        if isinstance(made, str):
            value = {**value, "api_name": tool(made)}
            if isinstance(value.get("input"), dict):
                value["input"] = {parameter(made, key): item for key, item in value["input"].items()}
        return {key: rewrite(item, tool, parameter) for key, item in value.items()}
    if isinstance(value, list):
        return [rewrite(item, tool, parameter) for item in value]
    return value


def _document(document: Document, name: str, tool: ToolName, parameter: ParameterName) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, value in document.items():
        if key in _NAMES and value == name:
            changed[key] = tool(name)
        elif key in _PARAMETERS and isinstance(value, dict):
            changed[key] = _parameters(value, lambda own: parameter(name, own))
        elif key == "call_signature" and isinstance(value, dict):
            changed[key] = {
                part: {parameter(name, own): item for own, item in given.items()} if isinstance(given, dict) else given
                for part, given in value.items()
            }
        else:
            changed[key] = value
    return changed


def _parameters(given: Mapping[str, Any], renamed: Callable[[str], str]) -> dict[str, Any]:
    properties = given.get("properties")
    if not isinstance(properties, dict):
        return {renamed(name): schema for name, schema in given.items()}
    changed = {**given, "properties": {renamed(name): schema for name, schema in properties.items()}}
    if isinstance(given.get("required"), list):
        changed["required"] = [renamed(name) for name in given["required"]]
    return changed


class WrittenValue(NamedTuple):
    """A JSON value that stands in a text, and how it is written there."""

    value: Any
    write: Callable[[Any], str]


def read_written(text: str | None) -> WrittenValue | None:
    """The list or object that a text is, in Python's or JSON's notation; None where writing it again would not give
    the same text."""
    if not text or text[0] not in "[{":
        return None
    try:
        value = read_literal(text)
    except LiteralError:
        return None
    for write in (str, write_json):
        if write(value) == text:
            return WrittenValue(value, write)
    return None
