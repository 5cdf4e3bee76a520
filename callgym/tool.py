"""A tool: its name, what it does, and the JSON Schema of its arguments."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from callgym.json_value import copy_json
from callgym.noun import JsonObject, Noun

__all__ = ["Tool"]


class Tool(Noun):
    """What a policy is told of a tool, and what its arguments are checked against."""

    name: str = Field(min_length=1)
    """Unique among the tools of a task."""
    description: str = ""
    """What the tool does, for the policy to read."""
    parameters: JsonObject
    """JSON Schema (draft 2020-12) of the arguments; its type is ``object``."""
    returns: JsonObject | None = None
    """JSON Schema of the answer, where the benchmark gives one."""
    meta: JsonObject = {}
    """The benchmark's own documentation of the tool, where it does not fit the fields above."""

    @field_validator("parameters")
    @classmethod
    def _is_object_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        if schema.get("type") != "object":
            raise ValueError(
                "a tool's parameters are a JSON Schema of type 'object' "
                "(for a tool without arguments: {'type': 'object', 'properties': {}})"
            )
        properties = schema.get("properties", {})
        if not isinstance(properties, dict) or not all(isinstance(s, dict) for s in properties.values()):
            raise ValueError("'properties' maps each argument's name to a schema object")
        return schema

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        """Argument name to its schema, in the documented order."""
        return self.parameters.get("properties", {})  # type: ignore[return-value]

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the arguments that may not be left out."""
        return tuple(self.parameters.get("required", ()))  # type: ignore[arg-type]

    def as_chat(self) -> dict[str, Any]:
        """The tool in OpenAI's shape, which chat templates and servers take as it is."""
        function = {"name": self.name, "description": self.description, "parameters": copy_json(self.parameters)}
        return {"type": "function", "function": function}
