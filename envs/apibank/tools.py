"""API-Bank's documentation of tools as Tools, and recorded arguments as a caller would pass them."""

from __future__ import annotations

import functools
import json
from typing import Any

from callgym.schema import ToolSchema
from callgym.tool import Tool

__all__ = ["make_tool", "typed_arguments"]

_TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object"},
    "list": {"type": "array"},
    "list(str)": {"type": "array", "items": {"type": "string"}},
}
# The documentation of two tools calls a parameter `name` that the recordings call `device_id`.
_RENAMED = {("TimedSwitch", "device_id"): "name", ("CancelTimedSwitch", "device_id"): "name"}


def make_tool(document: dict[str, Any]) -> Tool:
    """A tool from API-Bank's documentation of it, the original kept in ``meta``."""
    return _interned_tool(json.dumps(document))


@functools.lru_cache(maxsize=4096)
def _interned_tool(text: str) -> Tool:
    document = json.loads(text)
    name = document.get("name") or document.get("apiCode")
    inputs = document.get("input_parameters", document.get("parameters", {}))
    optional = (document.get("call_signature") or {}).get("defaults", {})
    properties: dict[str, Any] = {}
    for key, parameter in inputs.items():
        # A type that is no JSON type ("tuple", "any") takes any value.
        schema = _TYPES.get(parameter.get("type", "str"), {})
        properties[key] = {**schema, "description": parameter.get("description", "")}
    return Tool(
        name=name,
        description=document.get("description", ""),
        parameters={
            "type": "object",
            "properties": properties,
            "required": [key for key in inputs if key not in optional and (name, key) not in _OPTIONAL],
            "additionalProperties": False,
        },
        meta={"documentation": document},
    )


# The documentation shown to a model does not say which parameters may be left out; the tools' code does.
_OPTIONAL = {
    ("ModifyRegistration", "new_appointment_date"),
    ("ModifyRegistration", "new_appointment_doctor"),
    ("RecordHealthData", "health_data"),
    ("ForgotPassword", "username"),
    ("ForgotPassword", "email"),
    ("ForgotPassword", "verification_code"),
    ("ForgotPassword", "new_password"),
    ("Translate", "src_lang"),
    ("Translate", "tgt_lang"),
}


def typed_arguments(tool: Tool | None, recorded: dict[str, Any]) -> dict[str, Any]:
    """Recorded arguments, renamed where the tool's documentation was, and typed by it."""
    if tool is None:
        return dict(recorded)
    renamed = {_RENAMED.get((tool.name, key), key): value for key, value in recorded.items()}
    return ToolSchema(tool).coerce(renamed)
