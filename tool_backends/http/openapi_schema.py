"""OpenAPI's schemas as JSON Schema (draft 2020-12) that stands on its own.

References are replaced by what they point to, which a model reads more easily; what refers to itself is kept under
``$defs``, and so is everything in schemas that would grow too large.
"""

from __future__ import annotations

import re
from typing import Any

from callgym.json_value import copy_json
from callgym.tool_backends.http.openapi_document import Document, Unusable

__all__ = ["Overgrown", "SchemaWriter"]

_DROPPED = frozenset(
    ("xml", "discriminator", "externalDocs", "example", "nullable", "deprecated", "readOnly", "writeOnly", "$schema",
     "$id", "$anchor", "$comment", "$vocabulary", "$dynamicAnchor", "$defs", "definitions")
)  # fmt: skip
_OF_NAMES = ("properties", "patternProperties", "dependentSchemas")
_OF_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_OF_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
           "unevaluatedItems", "unevaluatedProperties")  # fmt: skip
_MAX_INLINE = 2_000
_MAX_OF_ANSWERS = 500
_MAX_SCHEMAS = 10_000
_MAX_NESTED = 16


class Overgrown(Unusable):
    """Schemas became too large to stand inline."""


class SchemaWriter:
    """Writes the schemas of one tool."""

    def __init__(self, document: Document, *, of_answers: bool = False, inline: bool = True) -> None:
        """Start without definitions.

        Args:
            document: Where references lead.
            of_answers: Whether the schemas are of what a server says, so that what can only be written is left out;
                else what can only be read is.
            inline: Whether references are replaced by what they point to.
        """
        self.defs: dict[str, Any] = {}
        """Definitions that the schemas refer to, as ``#/$defs/...``."""
        self._document = document
        self._hidden = "writeOnly" if of_answers else "readOnly"
        self._most = _MAX_OF_ANSWERS if of_answers else _MAX_INLINE if inline else _MAX_SCHEMAS
        self._inline = inline
        self._written = 0
        self._depth = 0
        self._names: dict[str, str] = {}
        self._pending: list[tuple[str, str]] = []

    def complete(self) -> None:
        """Write the definitions that are still referred to in name alone. Raises Unusable as ``write`` does."""
        while self._pending:  # one after another: they refer to each other in long chains
            name, reference = self._pending.pop()
            self.defs[name] = self.write(self._document.target(reference))

    def write(self, schema: Any) -> Any:
        """One schema. Raises Unusable where it cannot be written, and Overgrown where it would be too large inline."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise Unusable("one of its schemas is no object")
        self._written += 1
        if self._written > self._most:
            raise (Overgrown if self._inline else Unusable)("its schemas are too large")
        if "$ref" in schema:
            return self._referred(schema)
        if "$dynamicRef" in schema or "$recursiveRef" in schema:
            raise Unusable("its schemas have dynamic references")
        written: dict[str, Any] = {}
        for key, value in schema.items():
            if key not in _DROPPED and not key.startswith("x-"):
                written[key] = self._keyword(key, value)
        self._leave_out_hidden(schema, written)
        if "example" in schema and "examples" not in written:
            written["examples"] = [copy_json(schema["example"])]
        return _newer(schema, written) if self._document.is_old else written

    def _keyword(self, key: str, value: Any) -> Any:
        if key in _OF_NAMES and isinstance(value, dict):
            return {name: self.write(item) for name, item in value.items()}
        if key in _OF_LISTS and isinstance(value, list):
            return [self.write(item) for item in value]
        return self.write(value) if key in _OF_ONE else copy_json(value)

    def _referred(self, schema: dict[str, Any]) -> Any:
        reference = schema["$ref"]
        if not isinstance(reference, str):
            raise Unusable("one of its references is no text")
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if self._document.is_old:  # there, nothing beside a reference counts; a description does no harm
            beside = {key: value for key, value in beside.items() if key == "description"}
        if self._inline and self._depth < _MAX_NESTED and not self._document.is_cyclic(reference):
            self._depth += 1
            target = self.write(self._document.target(reference))
            self._depth -= 1
        else:
            target = {"$ref": f"#/$defs/{self._defined(reference)}"}
        if not beside:
            return target
        more = self.write(beside)
        if isinstance(target, dict) and not more.keys() - {"description", "title", "default", "examples"}:
            return {**target, **more}
        return {"allOf": [target], **more} if "allOf" not in more else {"allOf": [target, more]}

    def _defined(self, reference: str) -> str:
        """The name of the definition of what is at a reference; ``complete`` writes it."""
        if reference not in self._names:
            stem = re.sub(r"[^A-Za-z0-9_]+", "_", reference.rpartition("/")[2]) or "schema"
            name = next(name for name in _numbered(stem) if name not in self.defs)
            self._names[reference] = name
            self.defs[name] = True
            self._pending.append((name, reference))
        return self._names[reference]

    def _leave_out_hidden(self, schema: dict[str, Any], written: dict[str, Any]) -> None:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return
        for name, item in properties.items():
            item = self._document.resolved(item)
            if isinstance(item, dict) and item.get(self._hidden) is True:
                del written["properties"][name]
                if isinstance(written.get("required"), list):
                    written["required"] = [other for other in written["required"] if other != name]


def _newer(old: dict[str, Any], written: dict[str, Any]) -> Any:
    """An OpenAPI 3.0 schema in the words of JSON Schema."""
    for bound, excluded in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(old.get(excluded), bool):
            del written[excluded]
            if old[excluded] and bound in written:
                written[excluded] = written.pop(bound)
    if old.get("nullable") is not True:
        return written
    if isinstance(written.get("type"), str):
        written["type"] = [written["type"], "null"]
        if isinstance(written.get("enum"), list) and None not in written["enum"]:
            written["enum"].append(None)
        return written
    return {"anyOf": [written, {"type": "null"}]}


def _numbered(stem: str) -> Any:
    yield stem
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1
