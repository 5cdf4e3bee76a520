"""BFCL's prompt formats as dialects: the official decoder reads the action, and what is written it reads back.

What the official decoder reads is read here, its quirks included: in Python's notation without tags any words beside
the calls make it fail. Two things are ours. Reasoning, up to ``</think>``, is set aside first, unless the text begins
with a call. And where decoding fails, text that plainly tries to call is a ParseError, and other text is words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, call_or_error, split_reasoning
from callgym.dialects.transcript import TranscriptDialect
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.official.decode import decode, format_ok
from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.prompt_formats import PromptFormat, PromptWording, documents_for_inference, system_prompt
from callgym.episode import ParseError, ParseErrorKind
from callgym.errors import DataError
from callgym.json_value import write_json
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["FormatDialect", "format_dialect"]

_OPEN_TAG, _CLOSE_TAG = "<TOOLCALL>", "</TOOLCALL>"
_PYTHON_OPENING = re.compile(r"\[\s*+[^\W\d][\w.]*+\(")
_PYTHON_CALL = re.compile(r"[^\W\d][\w.]*+\(\s*+[^\W\d]\w*+\s*+=(?!=)")
_JSON_OPENING = re.compile(r"\[\s*+\{|\{\s*+\"function\"")
_FENCE = re.compile(r"[\s`]*+(?:[a-z]+\n)?+\s*+")
_XML_BLOCK = re.compile(r"<functions>.*?</functions>", re.DOTALL)


class FormatDialect(TranscriptDialect):
    """One of the prompt formats."""

    name = "bfcl-format"

    def __init__(self, prompt_format: PromptFormat, wording: PromptWording | None = None) -> None:
        """Write and read calls as a format asks for.

        Args:
            prompt_format: The format.
            wording: The words of the system prompt: the official ones, or None for our own.
        """
        self.format = prompt_format
        self.wording = wording

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        reasoning, rest, offset = "", text, 0
        if "think>" in text and not self._begins_with_call(text):
            reasoning, rest, offset = split_reasoning(text, _no_call)
        start = offset + len(rest) - len(rest.lstrip())
        try:
            decoded = decode(rest, self.format.ret_fmt, self.format.tagged)
        except DecodeFailure as failure:
            return self._unread(rest, reasoning, start, str(failure))
        if not format_ok(decoded):
            return self._unread(rest, reasoning, start, "each call needs a name and named arguments")
        if not decoded:
            return self._unread(rest, reasoning, start, "there is no call that can be read")
        outcomes = [_to_call(name, arguments, start) for call in decoded for name, arguments in call.items()]
        calls = tuple([outcome for outcome in outcomes if isinstance(outcome, ToolCall)])
        errors = tuple([outcome for outcome in outcomes if isinstance(outcome, ParseError)])
        return ParsedAction(calls, errors, self._words_beside(rest), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The calls in this format, the words in front where the decoder lets any stand there; else without them."""
        if not calls:
            return content
        written = _WRITERS[self.format.ret_fmt](calls)
        if self.format.tagged:
            written = f"{_OPEN_TAG}{written}{_CLOSE_TAG}"
        elif self.format.ret_fmt == "python":
            return written
        return f"{content}\n{written}" if content else written

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """The system prompt of the format, then the turns; a benchmark's own instruction has no place here."""
        return super().render_prompt(messages, tools, None, cue)

    def opening(self, tools: Sequence[Tool], instruction: str | None) -> str:
        """The system prompt of the format."""
        functions = documents_for_inference([_document(tool) for tool in tools], "python")
        if self.wording is not None:  # in this category the official inference adds its hint twice
            functions = documents_for_inference(functions, "python")
        prompt = system_prompt(self.format, functions, self.wording)
        return prompt if prompt.endswith("\n") else f"{prompt}\n"

    def _begins_with_call(self, text: str) -> bool:
        fence = _FENCE.match(text)
        inner = text[fence.end() : fence.end() + 1000] if fence is not None else text
        if inner.startswith(_OPEN_TAG):
            return True
        match self.format.ret_fmt:
            case "python":
                return bool(_PYTHON_OPENING.match(inner) or _PYTHON_CALL.match(inner))
            case "json":
                return _JSON_OPENING.match(inner) is not None
        return inner.startswith("<functions")

    def _tries_to_call(self, text: str) -> bool:
        if _OPEN_TAG in text:
            return True
        match self.format.ret_fmt:
            case "python":
                return _PYTHON_OPENING.search(text) is not None or self._begins_with_call(text)
            case "json":
                return _JSON_OPENING.search(text) is not None
        return "<function" in text

    def _unread(self, text: str, reasoning: str, position: int, fault: str) -> ParsedAction:
        if not self._tries_to_call(text):
            return ParsedAction(content=text.strip(), reasoning=reasoning)
        kind: ParseErrorKind = "malformed" if self._closing in text else "truncated"
        return _refused(kind, position, f"the calls cannot be read as {self._described}: {fault[:300]}", reasoning)

    @property
    def _closing(self) -> str:
        """What the calls end with."""
        if self.format.tagged:
            return _CLOSE_TAG
        return "]" if self.format.ret_fmt in ("python", "json") else "</functions>"

    @property
    def _described(self) -> str:
        notation = {"python": "a list of calls in Python", "json": "a list of calls in JSON"}
        described = notation.get(self.format.ret_fmt, "<functions> in XML")
        return f"{described} between {_OPEN_TAG} and {_CLOSE_TAG}" if self.format.tagged else described

    def _words_beside(self, text: str) -> str:
        """The words outside the block of calls, in formats that let any stand there."""
        if self.format.tagged:
            before, _, rest = text.partition(_OPEN_TAG)
            return (before + rest.partition(_CLOSE_TAG)[2]).strip()
        if self.format.ret_fmt in ("verbose_xml", "concise_xml"):
            return _XML_BLOCK.sub("", text, count=1).strip().strip("`").strip()
        return ""


@functools.lru_cache(maxsize=128)
def format_dialect(config: str, folder: Path | None = None) -> FormatDialect:
    """The dialect of an official configuration; always the same object for the same arguments.

    Args:
        config: As in the ids of ``format_sensitivity``.
        folder: The official data, for prompts in the official words; None for our own.

    Raises:
        ConfigurationError: There is no such configuration.
        DataError: The folder lacks the official words.
    """
    prompt_format = PromptFormat.parse(config)
    if folder is None:
        return FormatDialect(prompt_format)
    constants = BfclFiles(folder).prompts()
    if constants is None:
        raise DataError(f"{folder} lacks the official wording of the prompts; it is fetched by: callgym fetch bfcl")
    return FormatDialect(prompt_format, PromptWording.from_source(constants))


def _refused(kind: ParseErrorKind, position: int, message: str, reasoning: str = "") -> ParsedAction:
    error = ParseError(kind=kind, position=position, message=message)
    return ParsedAction(errors=(error,), reasoning=reasoning)


def _no_call(text: str, at: int) -> None:
    return None


def _to_call(name: Any, arguments: Any, position: int) -> ToolCall | ParseError:
    """A decoded call; values that JSON does not have are an error."""
    try:
        outcome = call_or_error(name, arguments, position)
        if isinstance(outcome, ToolCall):
            write_json(outcome.arguments).encode()
        return outcome
    except RecursionError:
        message = f"the arguments of {str(name)[:80]!r} are nested too deeply"
    except UnicodeEncodeError:
        message = f"the arguments of {str(name)[:80]!r} hold half of a surrogate pair, which is no character"
    return ParseError(kind="arguments", position=position, message=message)


def _document(tool: Tool) -> dict[str, Any]:
    """The official document where it still says what the tool is, else one made from the tool."""
    given = tool.meta.get("bfcl")
    if (
        isinstance(given, dict)
        and (given.get("name"), given.get("description")) == (tool.name, tool.description)
        and _properties(given).keys() == tool.properties.keys()
    ):
        return given
    return {"name": tool.name, "description": tool.description, "parameters": {**tool.parameters, "type": "dict"}}


def _properties(document: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = document.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return properties if isinstance(properties, dict) else {}


# Writing calls so that the official decoder gives them back, and no tag in a text is taken for one.


def _as_python(calls: Sequence[ToolCall]) -> str:
    written = ", ".join([_python_call(call) for call in calls])
    return "[" + written.replace(_CLOSE_TAG, "<\\x2fTOOLCALL>").replace("think>", "thin\\x6b>") + "]"


def _python_call(call: ToolCall) -> str:
    return f"{call.name}({', '.join([f'{key}={value!r}' for key, value in call.arguments.items()])})"


_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"')


def _as_json(calls: Sequence[ToolCall]) -> str:
    """JSON. (A list of objects among the arguments is more than the official decoder can read.)"""
    written = write_json([{"function": call.name, "parameters": call.arguments} for call in calls])
    return _JSON_TEXT.sub(_guard_json_text, written)


def _guard_json_text(text: re.Match[str]) -> str:
    # "}]" in a text would end the calls, as a closing tag would.
    return text.group().replace("}", "\\u007d").replace(_CLOSE_TAG, "<\\/TOOLCALL>").replace("think>", "think\\u003e")


def _as_verbose_xml(calls: Sequence[ToolCall]) -> str:
    return _as_xml(calls, '<param name={name} value={value} type="{kind}"/>', _attribute, "<params>", "</params>")


def _as_concise_xml(calls: Sequence[ToolCall]) -> str:
    return _as_xml(calls, '<param name={name} type="{kind}">{value}</param>', _element_text)


def _as_xml(
    calls: Sequence[ToolCall], parameter: str, write: Callable[[str], str], opening: str = "", closing: str = ""
) -> str:
    functions = []
    for call in calls:
        parts = []
        for name, value in call.arguments.items():
            kind, text = _typed_text(value)
            parts.append(parameter.format(name=_attribute(name), value=write(text), kind=kind))
        functions.append(f"<function name={_attribute(call.name)}>{opening}{''.join(parts)}{closing}</function>")
    return f"<functions>{''.join(functions)}</functions>"


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _typed_text(value: Any) -> tuple[str, str]:
    """A value's type, by the official names, and its text."""
    match value:
        case bool():
            return "boolean", "true" if value else "false"
        case None:
            return "null", ""
        case int():
            return "integer", str(value)
        case float():
            return "float", repr(value)
        case str():
            # Characters that XML cannot hold, and space around a text, survive in a literal only. It is read for
            # what it is under any type that stands for one.
            return ("dict", repr(value)) if _NOT_IN_XML.search(value) or value != value.strip() else ("string", value)
    return "array" if isinstance(value, list) else "dict", repr(value)


def _attribute(text: str) -> str:
    return f'"{escape(text, _IN_ATTRIBUTES)}"'


def _element_text(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


_IN_ATTRIBUTES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_WRITERS: dict[str, Callable[[Sequence[ToolCall]], str]] = {
    "python": _as_python,
    "json": _as_json,
    "verbose_xml": _as_verbose_xml,
    "concise_xml": _as_concise_xml,
}
