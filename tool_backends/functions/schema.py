"""JSON Schemas of Python's type hints, written for policies: no titles, and as few references as can be.

    arguments_schema({"tags": TypeAdapter(set[str])}, required=["tags"])["properties"]
    # {"tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}}

The same hints give the same bytes. Classes that are used once stand where they are used; those that are used twice,
or hold themselves, are in ``$defs``. Objects take no keys but their own unless their class says so: what a dataclass
would drop without a word is told to the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, core_schema

from callgym.tool_backends.functions.result import NotJson, to_json

__all__ = ["MAX_DEFAULT", "answer_schema", "arguments_schema"]

MAX_DEFAULT = 10_000
"""Longest default, in bytes, that is shown in a schema."""
_HERE = "#/$defs/"
_DATE = r"^\d{4}-\d{2}-\d{2}"


class _Generator(GenerateJsonSchema):
    """Pydantic's schemas, without what says nothing to a policy."""

    ignored_warning_kinds: set[Any] = {"skipped-choice", "non-serializable-default"}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def encode_default(self, dft: Any) -> Any:
        try:
            return to_json(dft, MAX_DEFAULT)  # pydantic writes sets in the order of their hashes
        except NotJson as error:
            raise PydanticSerializationError(str(error)) from error  # it is left out

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> dict[str, Any]:
        written = super().tagged_union_schema(schema)
        written.pop("discriminator", None)  # OpenAPI's, and no JSON Schema
        return written

    # Bare numbers would be read as seconds since 1970: a policy that writes "2024" means the year.

    def date_schema(self, schema: core_schema.DateSchema) -> dict[str, Any]:
        return {**super().date_schema(schema), "pattern": f"{_DATE}$"}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> dict[str, Any]:
        return {**super().datetime_schema(schema), "pattern": _DATE}

    def time_schema(self, schema: core_schema.TimeSchema) -> dict[str, Any]:
        return {**super().time_schema(schema), "pattern": r"^\d{2}:\d{2}"}


def arguments_schema(
    adapters: Mapping[str, TypeAdapter[Any]],
    required: Sequence[str],
    rest: TypeAdapter[Any] | None = None,
    barred: Sequence[str] = (),
) -> dict[str, Any]:
    """The schema of an object with an argument of each name.

    Args:
        adapters: Argument name to the adapter of its hint.
        required: Names of those that may not be left out.
        rest: The adapter of all other arguments; None where there are none.
        barred: Names that no other argument may have.

    Raises:
        pydantic.PydanticUserError: A hint has no JSON Schema.
    """
    numbered = dict(enumerate([*adapters.values(), *([] if rest is None else [rest])]))
    schemas, definitions = _generate(numbered, "validation")
    for definition in definitions.values():
        if "properties" in definition:
            definition.setdefault("additionalProperties", False)
    written, definitions = _with_few_references(schemas, definitions)
    schema: dict[str, Any] = {"type": "object", "properties": dict(zip(adapters, written, strict=False))}
    if required:
        schema["required"] = list(required)
    schema["additionalProperties"] = (written[-1] or True) if rest is not None else False
    if rest is not None and barred:
        schema["propertyNames"] = {"not": {"enum": sorted(barred)}}
    return {**schema, "$defs": definitions} if definitions else schema


def answer_schema(
    adapter: TypeAdapter[Any], mode: Literal["validation", "serialization"] = "serialization"
) -> dict[str, Any]:
    """The schema of what a function returns, as ``result.to_json`` writes it.

    Raises:
        pydantic.PydanticUserError: The hint has no JSON Schema.
    """
    (schema,), definitions = _with_few_references(*_generate({0: adapter}, mode))
    return {**schema, "$defs": definitions} if definitions else schema


def _generate(
    adapters: Mapping[int, TypeAdapter[Any]], mode: Literal["validation", "serialization"]
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    inputs = [(number, mode, adapter) for number, adapter in adapters.items()]
    found, shared = TypeAdapter.json_schemas(inputs, schema_generator=_Generator)
    definitions = shared.get("$defs", {})
    for definition in definitions.values():
        definition.pop("title", None)  # the class's name
    return [dict(found[number, mode]) for number in adapters], definitions


def _with_few_references(
    schemas: list[dict[str, Any]], definitions: dict[str, dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The schemas, with definitions put where they are used, if that is once or they are mere lists of values."""
    used = [name for schema in (*schemas, *definitions.values()) for name in _references(schema)]
    once = {
        name: definition
        for name, definition in definitions.items()
        if (used.count(name) == 1 or "enum" in definition) and not _reaches(name, name, definitions)
    }
    kept = {name: _put_in(definition, once) for name, definition in definitions.items() if name not in once}
    return [_put_in(schema, once) for schema in schemas], kept


def _put_in(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_put_in(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    name = _target(schema)
    if name is not None and name in definitions:
        beside = {key: part for key, part in schema.items() if key != "$ref"}
        return _put_in({**definitions[name], **beside}, definitions)
    return {key: _put_in(part, definitions) for key, part in schema.items()}


def _target(schema: Mapping[str, Any]) -> str | None:
    """The name of the definition that a schema refers to."""
    reference = schema.get("$ref")
    return reference.removeprefix(_HERE) if isinstance(reference, str) else None


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        name = _target(schema)
        if name is not None:
            yield name
    if isinstance(schema, (dict, list)):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from _references(part)


def _reaches(start: str, goal: str, definitions: Mapping[str, Any]) -> bool:
    """Whether following references from a definition leads to another."""
    pending, seen = [start], set[str]()
    while pending:
        for name in _references(definitions.get(pending.pop(), {})):
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                pending.append(name)
    return False
