"""A chat message in OpenAI's shape."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import field_serializer, field_validator

from callgym.call import ToolCall
from callgym.json_value import copy_trusted
from callgym.noun import Noun

__all__ = ["Message", "Role", "assistant_chat", "tool_chat"]

Role = Literal["system", "user", "assistant", "tool"]


class Message(Noun):
    """One turn of a conversation; its JSON form is what chat templates and servers take."""

    role: Role
    """Who speaks."""
    content: str | None = None
    """The text; None where an assistant turn is nothing but calls."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls of an assistant turn. In JSON: ``{"type": "function", "function": {...}}``."""
    tool_call_id: str | None = None
    """For a tool turn: the id of the call it answers."""
    name: str | None = None
    """For a tool turn: the tool's name."""

    @field_validator("tool_calls", mode="before")
    @classmethod
    def _read_openai_shape(cls, value: Any) -> Any:
        if value is None:
            return ()
        if not isinstance(value, (list, tuple)):
            return value
        return tuple(_read_call(item) for item in value)

    @field_serializer("tool_calls")
    def _write_openai_shape(self, calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
        return [_write_call(call) for call in calls]

    def as_chat(self, arguments: Literal["object", "json"] = "object") -> dict[str, Any]:
        """The message as a plain dict without empty fields.

        Args:
            arguments: ``"object"`` for chat templates, ``"json"`` for servers, whose API carries
                the arguments as a JSON string.
        """
        chat: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            chat["tool_calls"] = [_write_call(call) for call in self.tool_calls]
            if arguments == "json":
                for call in chat["tool_calls"]:
                    call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
        if self.tool_call_id is not None:
            chat["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            chat["name"] = self.name
        return chat


def assistant_chat(content: str | None, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """An assistant message as a plain dict, without the cost of a Message."""
    chat: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        chat["tool_calls"] = [_write_call(call) for call in calls]
    return chat


def tool_chat(content: str, call: ToolCall) -> dict[str, Any]:
    """A tool's answer as a plain dict, without the cost of a Message."""
    chat: dict[str, Any] = {"role": "tool", "content": content, "name": call.name}
    if call.id is not None:
        chat["tool_call_id"] = call.id
    return chat


def _read_call(item: Any) -> Any:
    if not (isinstance(item, dict) and isinstance(item.get("function"), dict)):
        return item
    function = item["function"]
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except RecursionError:
            raise ValueError("the arguments are nested too deeply") from None
    return {"name": function.get("name"), "arguments": arguments, "id": item.get("id")}


def _write_call(call: ToolCall) -> dict[str, Any]:
    written: dict[str, Any] = {} if call.id is None else {"id": call.id}
    written["type"] = "function"
    # A copy: the dict goes to callers, who may change it, while the call stays in the record.
    written["function"] = {"name": call.name, "arguments": copy_trusted(call.arguments)}
    return written
