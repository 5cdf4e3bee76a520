"""Qwen3-Coder: one tag a parameter, in ChatML turns, each tag on a line of its own.

::

    <tool_call>
    <function=find_tea>
    <parameter=kind>
    green
    </parameter>
    </function>
    </tool_call>

The form of Qwen3-Coder, of Qwen3.5 to 3.8 and of Nemotron 3, after their chat templates. Tools are documented
in tags, as Qwen3-Coder and Nemotron 3 know them, or as lines of JSON (``qwen3-coder:json``), as Qwen3.5 and later
do. Values arrive as text, without the line break at either end; the tool's schema decides their type, and
marks what does not fit. ``tagged_call`` says where a value ends.

Understood beyond the form, because these models write it: a call on one line; a call without ``<tool_call>``,
at the start of a line; a forgotten ``</parameter>``, where the next parameter stands on a line of its own or
``</function></tool_call>`` follows (vLLM's issues 23099 and 57699); a missing ``</tool_call>``, for a call's end is
``</function>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, defuse
from callgym.dialects.plain_tags import PlainTags
from callgym.dialects.tagged_call import TaggedDialect, TaggedForm
from callgym.dialects.turns import Answer
from callgym.tool import Tool

__all__ = ["Qwen3CoderDialect"]

_START, _END = "<|im_start|>", "<|im_end|>"
_FORM = TaggedForm(
    shape="<tool_call><function=tool><parameter=name>value</parameter></function></tool_call>",
    opening=re.compile(
        r"<(?:tool_call>(?:\s*+<function=([^<>\n]++)>)?+|(?:(?<=^<)|(?<=</function><))function=([^<>\n]++)>)",
        re.MULTILINE,
    ),
    parameter=re.compile(r"<parameter=([^<>\n]++)>"),
    value_end=re.compile(
        r"</parameter>(?=\s*+(?:<parameter=[^<>\n]++>|</function>|(?:<tool_call>\s*+)?+<function=[^<>\n]++>|\Z))"
    ),
    closing=re.compile(r"</function>(?:\s*+</tool_call>)*+"),
    block_end=re.compile(r"</tool_call>"),
    leftover=re.compile(r"<(?:parameter=|/(?:parameter|function|tool_call)>)"),
    forgotten=re.compile(r"<(?:(?<=^<)parameter=[^<>\n]++>\n|/function>\s*+</tool_call>)", re.MULTILINE),
    on_lines=True,
)
_PLAIN = PlainTags(
    begin=r"<tool_call>\s*+",
    name=r"<function=([^<>\s]++)>",
    parameter=r"<parameter=([^<>\s]++)>\n([^<]*)\n</parameter>",
    marks=2,
    closing="</function>",
    end=r"</tool_call>\s*+",
    again=r"</tool_call>\s*+<tool_call>\s*+",
)

_INSTRUCTION = (
    "You may call these tools:\n<tools>\n{tools}\n</tools>\n"
    "Write each call in tags, each value on lines of its own, lists and objects as JSON:\n"
    "<tool_call>\n<function=tool>\n<parameter=first>\nvalue\n</parameter>\n<parameter=second>\nvalue that may\n"
    "span lines\n</parameter>\n</function>\n</tool_call>\n"
    "Words may stand before a call, none behind it. If no tool fits, reply in words."
)
_DOCUMENT_TAGS = tuple(
    f"<{slash}{tag}>" for tag in ("tools", "function", "parameters", "parameter") for slash in ("", "/")
)


class Qwen3CoderDialect(TaggedDialect):
    """Parameters in tags, tools documented in tags or as JSON."""

    name = "qwen3-coder"
    options: ClassVar[Mapping[str, str]] = {"json": "tools are documented as lines of JSON, as for Qwen3.5 and later"}
    signs = ("<tool_call>\n<function=", "<tool_call><function=", "<parameter=")
    control = ("<|", "</tool_response", "<tool_response")
    cue = f"{_START}assistant\n"
    end = f"{_END}\n"
    form = _FORM
    plain = _PLAIN
    stop = re.compile(r"<\|(?:im_end|endoftext)\|>")
    turn_marks = (_START, _END, "<|endoftext|>")
    escaped = ("<|", "<tool_call", "</tool_call", "<function", "</function", "<parameter", "</parameter")
    before_calls = "\n\n"

    def __init__(self, *, json_documents: bool = False) -> None:
        """Write and read the form.

        Args:
            json_documents: Whether tools are documented as lines of JSON.
        """
        self._document = _json_document if json_documents else _tagged_document
        if json_documents:
            self.name = "qwen3-coder:json"

    def with_option(self, option: str) -> Dialect:
        """``json``: tools are documented as JSON.

        Raises:
            ConfigurationError: It is another option.
        """
        return Qwen3CoderDialect(json_documents=True) if option == "json" else super().with_option(option)

    def calls_text(self, calls: Sequence[ToolCall]) -> str:
        """A block a call, a line a tag."""
        return "\n".join(map(self._block, calls))

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn of ChatML."""
        return f"{_START}{role}\n{content}{_END}\n"

    def results(self, answers: Sequence[Answer]) -> str:
        """One ``<tool_response>`` a result in a user turn."""
        return self.turn("user", "\n".join(f"<tool_response>\n{answer.text}\n</tool_response>" for answer in answers))

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents between ``<tools>`` tags, and the form of a call."""
        return _INSTRUCTION.format(tools=self.defused("\n".join(map(self._document, tools))))

    def _block(self, call: ToolCall) -> str:
        values = "".join(
            f"<parameter={key}>\n{self.value_text(value)}\n</parameter>\n" for key, value in call.arguments.items()
        )
        return f"<tool_call>\n<function={call.name}>\n{values}</function>\n</tool_call>"


def _json_document(tool: Tool) -> str:
    return json.dumps(tool.as_chat(), ensure_ascii=False)


def _tagged_document(tool: Tool) -> str:
    rest = {key: value for key, value in tool.parameters.items() if key not in ("type", "properties", "required")}
    lines = ["<function>", *_tagged("name", tool.name), *_tagged("description", tool.description.strip())]
    lines.append("<parameters>")
    for name, schema in tool.properties.items():
        lines += ["<parameter>", *_tagged("name", name)]
        for key in dict.fromkeys(("type", "description", "enum", *schema)):  # the first three come first
            if key in schema and key != "name":
                lines += _tagged(key, schema[key])
        lines.append("</parameter>")
    for key, value in rest.items():
        lines += _tagged(key, value)
    if tool.required:
        lines += _tagged("required", list(tool.required))
    return "\n".join([*lines, "</parameters>", "</function>"])


def _tagged(tag: str, value: Any) -> Iterator[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    yield f"<{tag}>{defuse(text, _DOCUMENT_TAGS)}</{tag}>"
