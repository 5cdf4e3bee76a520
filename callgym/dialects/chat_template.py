"""A tokenizer's chat template, filled in with a conversation that others cannot forge.

    template = ChatTemplate(tokenizer)
    if template.takes_tools:
        ids = template.encode(template.render(messages, tools))

Templates paste what they are given between control tokens, and a tokenizer makes a control token of its text wherever
it stands. So whatever users, tools, system messages, recorded turns and tools' documents say goes in ``harmless``:
with a space in every mark of the tokenizer's, and of the dialect's that the template writes. What the policy wrote
itself goes in as it is.

Templates differ in what they want of calls: arguments as an object or as JSON text, ids of a certain form, or none.
What a template wants is found out by rendering a small conversation and looking whether everything in it is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import Dialect
from callgym.dialects.detect import Detection, detect_dialect, template_text
from callgym.dialects.harmless import Harmless, marks_of
from callgym.errors import ConfigurationError

__all__ = [
    "ChatTemplate",
    "contradiction",
    "encode_text",
    "ends_call",
    "no_tools",
]

Chat = Mapping[str, Any]
"""A message in OpenAI's shape."""

_NAME, _KEY, _VALUE, _RESULT = "probe_tool_k3", "probe_key_q7", "probe_value_z5", "probe_result_w9"
_USER: Chat = {"role": "user", "content": "Hello."}
_CALL = {"type": "function", "function": {"name": _NAME, "arguments": {_KEY: _VALUE}}}
_CALL_CHAT: Chat = {"role": "assistant", "content": "", "tool_calls": [_CALL]}
_RESULT_CHAT: Chat = {"role": "tool", "name": _NAME, "content": _RESULT}
_SCHEMA = {"type": "object", "properties": {_KEY: {"type": "string"}}, "required": [_KEY]}
_DOCUMENT: Chat = {
    "type": "function",
    "function": {"name": _NAME, "description": "Probe.", "parameters": _SCHEMA},
}
_OPENED = re.compile(r"<think>\s*+\Z")


class _Wants(NamedTuple):
    """What a template wants calls to be given as."""

    json_arguments: bool
    """Arguments as JSON text; templates that paste them between texts fail over objects."""
    id: str
    """Form of a call's id; empty where none is asked for."""
    fits: re.Pattern[str]
    """The ids that are of that form, and are kept."""


_KEEPS_ALL = re.compile(r"", re.DOTALL)
_IDS = (
    ("", _KEEPS_ALL),
    ("call{number:05d}", re.compile(r"[A-Za-z0-9]{9}\Z")),  # Mistral
    ("functions.{name}:{number}", re.compile(r"functions\.[^\n]+:[0-9]+\Z")),  # Kimi, which shows no other name
)
_WANTS = tuple(_Wants(json_arguments, *form) for form in _IDS for json_arguments in (False, True))


class ChatTemplate:
    """The chat template of one tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        """Take the tokenizer's template, or know that there is none."""
        self.tokenizer = tokenizer
        self.exists = bool(template_text(tokenizer))
        self.detection: Detection = detect_dialect(tokenizer)
        self.harmless = Harmless((*marks_of(tokenizer), *_control(self.detection.dialect)), tokenizer)

    @property
    def takes_tools(self) -> bool:
        """Whether the template shows the tools' documents, calls with their arguments, and what came of them."""
        return self._wants is not None

    @cached_property
    def wants_calls_before_results(self) -> bool:
        """Whether a result is shown as it should be only behind a turn whose calls are given as such."""
        spoken = [_USER, {"role": "assistant", "content": _VALUE}, _RESULT_CHAT]
        try:
            text = self._fill(spoken, None, True)
        except ConfigurationError:
            return True
        _, found, behind = text.partition(_VALUE)
        called = self._fill([_USER, _CALL_CHAT, _RESULT_CHAT], None, True)
        return not (found and _RESULT in behind and called.endswith(behind))

    def render(
        self,
        messages: Sequence[Chat],
        tools: Sequence[Chat],
        *,
        own: int | None = None,
        cue: bool = True,
        dialect: Dialect | None = None,
    ) -> str:
        """The conversation as the template writes it.

        Args:
            messages: The conversation.
            tools: The tools' documents.
            own: From which message on the assistant's turns are the policy's own; None where none is.
            cue: Whether the policy is to write next.
            dialect: What calls are written in where the template refuses them, as some do several in one turn.

        Raises:
            ConfigurationError: The template refuses the conversation.
        """
        safe = [self._safe(message, own is not None and number >= own) for number, message in enumerate(messages)]
        documents = [self.harmless.value(tool) for tool in tools]
        try:
            return self._fill(safe, documents, cue)
        except ConfigurationError:
            if dialect is None or not any(message.get("tool_calls") for message in safe):
                raise
            return self._fill([_spoken(message, dialect) for message in safe], documents, cue)

    def opened(self, prompt: str) -> str:
        """The tag with which a prompt, or the end of one, opens the policy's reasoning; empty where none does.

        The action that follows begins with it: whatever the policy writes before it closes the tag is reasoning.
        """
        if not self._opens_reasoning:
            return ""
        found = _OPENED.search(prompt, max(0, len(prompt) - 40))
        return found[0] if found else ""

    def encode(self, text: str) -> list[int]:
        """The ids of a templated text, which holds every control token already."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    @cached_property
    def _opens_reasoning(self) -> bool:
        return self.exists and _OPENED.search(self._fill([_USER], None, True)) is not None

    @cached_property
    def _wants(self) -> _Wants | None:
        return next((wants for wants in _WANTS if self._shows_all(wants)), None) if self.exists else None

    def _shows_all(self, wants: _Wants) -> bool:
        try:
            told = self._fill([_USER], [_DOCUMENT], True, wants)
            shown = self._fill([_USER, _CALL_CHAT, _RESULT_CHAT], None, True, wants)
        except ConfigurationError:
            return False
        return _NAME in told and all(part in shown for part in (_NAME, _KEY, _VALUE, _RESULT))

    def _safe(self, message: Chat, is_own: bool) -> dict[str, Any]:
        # Templates differ in what they make of a content that is None; all of them take text.
        message = {**message, "content": message.get("content") or ""}
        if is_own and message["role"] == "assistant":
            return dict(message)
        safe: dict[str, Any] = self.harmless.value(message)
        return safe

    def _fill(
        self, messages: Sequence[Chat], tools: Sequence[Chat] | None, cue: bool, wants: _Wants | None = None
    ) -> str:
        from jinja2.exceptions import TemplateError  # comes with transformers

        wants = wants or self._wants or _WANTS[0]
        given = [_with_json(message) for message in messages] if wants.json_arguments else messages
        given = list(_with_ids(given, wants)) if wants.id else list(given)
        try:
            text: str = self.tokenizer.apply_chat_template(
                given, tools=list(tools) if tools else None, add_generation_prompt=cue, tokenize=False
            )
        except (TemplateError, TypeError, ValueError) as error:
            raise ConfigurationError(f"the tokenizer's chat template refuses this conversation: {error}") from error
        return text


def ends_call(tokenizer: Any, dialect: Dialect, token: int) -> bool:
    """Whether a token that ends an action is part of the dialect's calls, and so of the action's text.

    Harmony's ``<|call|>`` is: without it a call has broken off.
    """
    mark = str(tokenizer.decode([token])).strip()
    return bool(mark) and mark in dialect.render_action((ToolCall(name="look"),))


def no_tools(template: ChatTemplate) -> str:
    """What to say of a template that takes no tools."""
    return (
        "the tokenizer's chat template does not show tools, calls and their results, so prompts are the dialect's own "
        f"text ({template.detection.reason})"
    )


def contradiction(template: ChatTemplate, dialect: Dialect) -> str:
    """What to say where calls are read in another dialect than the template writes; else nothing."""
    found, reason = template.detection
    name = dialect.name.partition(":")[0]
    if not found or name in (found.partition(":")[0], "auto"):
        return ""
    return f"calls are read as {dialect.name!r}, and the model was taught to write {found!r}: {reason}"


def encode_text(tokenizer: Any, text: str) -> list[int]:
    """The ids of a prompt; a token that begins texts comes once, whether the text holds it or not."""
    begin = getattr(tokenizer, "bos_token", None)
    ids: list[int] = tokenizer(text, add_special_tokens=not (begin and text.startswith(begin)))["input_ids"]
    return ids


def _control(name: str) -> tuple[str, ...]:
    from callgym.dialects import DIALECTS

    known = DIALECTS.get(name.partition(":")[0])
    return known.control if known is not None else ()


def _spoken(message: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """A message whose calls are part of its words."""
    if not message.get("tool_calls"):
        return message
    functions = [call["function"] for call in message["tool_calls"]]
    calls = [ToolCall(name=function["name"], arguments=function["arguments"]) for function in functions]
    spoken = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**spoken, "content": dialect.render_action(calls, message["content"])}


def _with_json(message: Chat) -> Chat:
    if not message.get("tool_calls"):
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": json.dumps(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def _with_ids(messages: Sequence[Chat], wants: _Wants) -> Iterator[dict[str, Any]]:
    """Calls and the results that answer them, in order, with ids of the form that the template wants."""
    waiting: list[tuple[Any, str]] = []  # id as given, id as written
    number = 0
    for message in messages:
        if message.get("tool_calls"):
            waiting = []
            calls = []
            for call in message["tool_calls"]:
                given, name = call.get("id"), call["function"]["name"]
                fits = isinstance(given, str) and wants.fits.match(given)
                written = given if fits else wants.id.format(name=name, number=number)
                number += 1
                waiting.append((given, written))
                calls.append({**call, "id": written})
            yield {**message, "tool_calls": calls}
        elif message["role"] == "tool":
            given = message.get("tool_call_id")
            at = next((at for at, pair in enumerate(waiting) if pair[0] == given), 0)
            if waiting:
                written = waiting.pop(at)[1]
            elif isinstance(given, str) and wants.fits.match(given):
                written = given
            else:
                written = wants.id.format(name=message.get("name") or "", number=number)
                number += 1
            yield {**message, "tool_call_id": written}
        else:
            yield dict(message)
