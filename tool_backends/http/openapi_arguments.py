"""The arguments of an operation's tool, from its parameters and its body."""

from __future__ import annotations

import re
from typing import Any, Literal

from callgym.tool_backends.http.endpoint import FRAMING_HEADERS, Argument
from callgym.tool_backends.http.openapi_document import Document, Unusable
from callgym.tool_backends.http.openapi_schema import SchemaWriter

__all__ = ["ArgumentList"]

_PLACES = ("path", "query", "header", "cookie")
_NOT_PARAMETERS = FRAMING_HEADERS | {"accept", "content-type", "authorization", "cookie"}
"""Headers that OpenAPI says are no parameters, or that say how a message is carried."""
_QUERY_STYLES = {"form": "comma", "spaceDelimited": "space", "pipeDelimited": "pipe", "deepObject": "deep"}
_JSON = re.compile(r"application/json|[\w.-]+/[\w.-]+\+json")
_FORM = "application/x-www-form-urlencoded"
# A body is taken apart where nothing but these is said of it: its properties then say everything.
_PLAIN_OBJECT = frozenset(
    ("type", "properties", "required", "additionalProperties", "title", "description", "default", "examples", "format")
)
Style = Literal["repeat", "comma", "space", "pipe", "spread", "deep", "json"]


class ArgumentList:
    """Arguments in the order path, query, header, cookie, body; names are made unique and fit for every dialect."""

    def __init__(
        self, document: Document, writer: SchemaWriter, item: dict[str, Any], operation: dict[str, Any]
    ) -> None:
        """Collect them.

        Args:
            document: Where references lead.
            writer: Writes their schemas.
            item: The path's part of the document: parameters of all its operations.
            operation: The operation.

        Raises:
            Unusable: One of them cannot be sent.
        """
        self.properties: dict[str, Any] = {}
        """Argument name to schema."""
        self.required: list[str] = []
        """Names of the arguments that may not be left out."""
        self.places: dict[str, Argument] = {}
        """Argument name to where it goes."""
        self.body: Literal["json", "form"] = "json"
        """How the body is written."""
        self._document = document
        self._writer = writer
        for parameter in self._parameters(item, operation):
            self._add_parameter(parameter)
        body = document.resolved(operation.get("requestBody"))
        if isinstance(body, dict):
            self._add_body(body)
        writer.complete()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of all of them."""
        schema: dict[str, Any] = {"type": "object", "properties": self.properties, "additionalProperties": False}
        if self.required:
            schema["required"] = self.required
        return {**schema, "$defs": self._writer.defs} if self._writer.defs else schema

    def _parameters(self, item: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
        """Those of the path and of the operation, which wins, in order of their places."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for given in (item.get("parameters"), operation.get("parameters")):
            for parameter in map(self._document.resolved, given if isinstance(given, list) else ()):
                if not isinstance(parameter, dict) or not isinstance(parameter.get("name"), str):
                    raise Unusable("one of its parameters has no name")
                if parameter.get("in") not in _PLACES:
                    raise Unusable(f"its parameter {parameter['name']!r} is in {str(parameter.get('in'))!r}")
                found[parameter["in"], parameter["name"]] = parameter
        kept = [one for one in found.values() if not (one["in"] == "header" and one["name"].lower() in _NOT_PARAMETERS)]
        return sorted(kept, key=lambda parameter: _PLACES.index(parameter["in"]))

    def _add_parameter(self, parameter: dict[str, Any]) -> None:
        place, name = parameter["in"], parameter["name"]
        style = _style(parameter)
        schema = parameter.get("schema", {})
        content = parameter.get("content")
        if isinstance(content, dict) and content:
            kind, media = next(iter(content.items()))
            if not _JSON.fullmatch(kind.partition(";")[0].strip().lower()):
                raise Unusable(f"its parameter {name!r} is written as {kind}")
            style, schema = "json", media.get("schema", {}) if isinstance(media, dict) else {}
        written = self._described(self._writer.write(schema), parameter)
        required = place == "path" or parameter.get("required") is True
        self._add(name, Argument(place=place, name=name, style=style), written, required)

    def _add_body(self, body: dict[str, Any]) -> None:
        content = body.get("content")
        kinds = {kind.partition(";")[0].strip().lower(): media for kind, media in content.items()} if isinstance(
            content, dict) else {}  # fmt: skip
        kind = next((kind for kind in kinds if _JSON.fullmatch(kind)), _FORM if _FORM in kinds else None)
        required = body.get("required") is True
        if kind is None:
            if required or not kinds:
                raise Unusable(f"its body is {' or '.join(kinds) or 'of no type'}")
            return
        self.body = "form" if kind == _FORM else "json"
        media = kinds[kind]
        schema = self._writer.write(media.get("schema", {}) if isinstance(media, dict) else {})
        self._writer.complete()
        whole = self._opened(schema)
        if whole is None:
            if self.body == "form":
                raise Unusable("its form is no object with properties")
            self._add("body", Argument(place="whole_body", name="body"), self._described(schema, body), required)
            return
        style: Style = "spread" if self.body == "form" else "repeat"
        for name, part in whole["properties"].items():
            needed = required and name in whole.get("required", ())
            self._add(name, Argument(place="body", name=name, style=style), part, needed)

    def _opened(self, schema: Any) -> dict[str, Any] | None:
        """The object schema whose properties can be arguments of their own; None where there is none."""
        if not isinstance(schema, dict):
            return None
        if set(schema) == {"$ref"}:
            return self._opened(self._writer.defs.get(schema["$ref"].rpartition("/")[2]))
        parts = schema.get("allOf")
        if isinstance(parts, list) and set(schema) <= {"allOf", "description", "title", "type"}:
            opened = [self._opened(part) for part in parts]
            names = [name for part in opened if part for name in part["properties"]]
            if None in opened or len(set(names)) < len(names):
                return None
            merged = [part for part in opened if part]
            return {
                "properties": {name: part for one in merged for name, part in one["properties"].items()},
                "required": [name for one in merged for name in one.get("required", ())],
            }
        properties, required = schema.get("properties"), schema.get("required", [])
        plain = schema.get("type", "object") == "object" and set(schema) <= _PLAIN_OBJECT
        if not plain or not isinstance(schema.get("additionalProperties", False), bool):
            return None
        if not isinstance(properties, dict) or not properties or not isinstance(required, list):
            return None
        return schema if all(name in properties for name in map(str, required)) else None

    def _described(self, schema: Any, holder: dict[str, Any]) -> Any:
        """The schema with the words that stand beside it."""
        words = holder.get("description")
        if isinstance(words, str) and words.strip() and isinstance(schema, dict) and "description" not in schema:
            return {**schema, "description": words.strip()}
        return schema

    def _add(self, wire_name: str, place: Argument, schema: Any, required: bool) -> None:
        if schema is False:
            return
        name = self._name(wire_name, "body" if place.place == "whole_body" else place.place)
        self.properties[name] = {} if schema is True else schema
        self.places[name] = place
        if required:
            self.required.append(name)

    def _name(self, wire_name: str, place: str) -> str:
        stem = re.sub(r"\W+", "_", wire_name, flags=re.ASCII).strip("_") or "value"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        if stem not in self.properties:
            return stem
        stem = name = f"{stem}_{place}"
        number = 2
        while name in self.properties:
            name, number = f"{stem}_{number}", number + 1
        return name


def _style(parameter: dict[str, Any]) -> Style:
    """How a parameter's lists and objects are written."""
    place = parameter["in"]
    usual = "form" if place in ("query", "cookie") else "simple"
    style = parameter.get("style", usual)
    if place != "query":
        if style != usual:
            raise Unusable(f"its parameter {parameter['name']!r} has the style {style!r}")
        return "comma"
    if style not in _QUERY_STYLES:
        raise Unusable(f"its parameter {parameter['name']!r} has the style {style!r}")
    if style != "deepObject" and parameter.get("explode", style == "form") is True:
        return "spread"
    return _QUERY_STYLES[style]  # type: ignore[return-value]
