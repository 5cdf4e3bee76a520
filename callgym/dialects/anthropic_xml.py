"""Claude's calls as text: ``<invoke name="...">`` with one tag a parameter, in one block.

::

    <function_calls>
    <invoke name="find_tea">
    <parameter name="kind">green</parameter>
    </invoke>
    </function_calls>

The form that Anthropic's documentation of tool use describes: text and numbers as they are, lists and objects as
JSON, white space kept, nothing escaped. The turns are those of the text completions, ``Human:`` and ``Assistant:``
behind a blank line; results stand in the Human's turn, as they do in messages, so that turns alternate, in the tags of
Anthropic's first package for tools. Values arrive as text; the tool's schema decides their type.
``tagged_call`` says where a value ends.

Understood beyond the form: calls without ``<function_calls>``; a name space before the tags' names, as Claude's own
format and its relatives have; ``<thinking>`` before anything else, which is reasoning. A call's end is ``</invoke>``.
Not understood: the format of 2024 with ``<tool_name>`` in ``<invoke>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.plain_tags import PlainTags
from callgym.dialects.tagged_call import TaggedDialect, TaggedForm
from callgym.dialects.turns import Answer
from callgym.tool import Tool

__all__ = ["AnthropicXmlDialect"]

_SPACE_NAME = r"(?:[a-z]{1,20}+:)?+"
_INVOKE = r"invoke\s++name=\"([^\"<>\n]++)\"\s*+>"
_BROKEN = r"invoke\b[^<>]*+"
_PARAMETER = rf"<{_SPACE_NAME}parameter\s++name=\"([^\"<>\n]++)\"\s*+>"
_CALLS_END = rf"(?:\s*+</{_SPACE_NAME}function_calls>)*+"
_FORM = TaggedForm(
    shape='<function_calls><invoke name="tool"><parameter name="name">value</parameter></invoke></function_calls>',
    opening=re.compile(
        rf"<{_SPACE_NAME}(?:function_calls>(?:\s*+<{_SPACE_NAME}(?:{_INVOKE}|{_BROKEN}))?+|{_INVOKE}|{_BROKEN})",
    ),
    parameter=re.compile(_PARAMETER),
    value_end=re.compile(
        rf"</{_SPACE_NAME}parameter>(?=\s*+(?:{_PARAMETER}|</{_SPACE_NAME}invoke>|<{_SPACE_NAME}{_INVOKE}|\Z))"
    ),
    closing=re.compile(rf"</{_SPACE_NAME}invoke>{_CALLS_END}"),
    block_end=re.compile(rf"</{_SPACE_NAME}(?:invoke>{_CALLS_END}|function_calls>)"),
    leftover=re.compile(rf"<{_SPACE_NAME}parameter\s++name=|</{_SPACE_NAME}(?:parameter|invoke|function_calls)>"),
)
_PLAIN = PlainTags(
    begin=r"<function_calls>\s*+",
    name=r'<invoke name="([^"<>\s]++)">',
    parameter=r'<parameter name="([^"<>\s]++)">([^<]*+)</parameter>',
    marks=2,
    closing="</invoke>",
    end=r"</function_calls>\s*+",
    again="",
    stop="\n\nHuman:",
)
_LABELS = {"user": "Human", "assistant": "Assistant"}
_THINKING = re.compile(rf"\s*+<({_SPACE_NAME}thinking)>")
_INSTRUCTION = (
    "You may call the tools below. Write calls in one block, text and numbers as they are, lists and objects as JSON; "
    "nothing is escaped:\n"
    '<function_calls>\n<invoke name="tool">\n<parameter name="first">value</parameter>\n'
    '<parameter name="second">value</parameter>\n</invoke>\n</function_calls>\n'
    "If no tool fits, reply in words. The tools, one JSON document a line:\n"
)


class AnthropicXmlDialect(TaggedDialect):
    """Parameters in tags, turns of Human and Assistant."""

    name = "anthropic"
    signs = ("<invoke name=", ":invoke name=")
    control = (
        "\nHuman:", "\nAssistant:", "<function_results", "</function_results", "<result>", "</result>",
        "<tool_name>", "</tool_name>", "<stdout>", "</stdout>",
    )  # fmt: skip
    cue = "\n\nAssistant:"
    end = ""
    form = _FORM
    plain = _PLAIN
    stop = re.compile(r"\n\nHuman:")
    turn_marks = ("\n\nHuman:", "\n\nAssistant:")
    escaped = (
        "<function_calls", "</function_calls", "<invoke", "</invoke", "<parameter", "</parameter",
        ":function_calls", ":invoke", ":parameter",
    )  # fmt: skip
    before_calls = "\n\n"

    def split(self, text: str) -> tuple[str, str, int]:
        """The reasoning, the rest, and the rest's position."""
        thinking = _THINKING.match(text)
        if thinking is None:
            return super().split(text)
        closing = f"</{thinking[1]}>"
        end = text.find(closing, thinking.end())
        if end < 0:
            return text[thinking.end() :].strip(), "", len(text)
        rest = end + len(closing)
        return text[thinking.end() : end].strip(), text[rest:], rest

    def calls_text(self, calls: Sequence[ToolCall]) -> str:
        """One block for all of them, a line a parameter."""
        return "\n".join(["<function_calls>", *map(self._invoke, calls), "</function_calls>"])

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn that the next one ends; the system's words open the text without a label."""
        return content if role == "system" else f"\n\n{_LABELS[role]}: {content}"

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """The tools, then the system's words."""
        parts = [self.preamble(tools), *system] if tools else system
        return self.defused("\n\n".join(parts))  # joined first: "Human:" may not open a part, either

    def results(self, answers: Sequence[Answer]) -> str:
        """One ``<result>`` a result in a Human's turn."""
        blocks = [
            f"<result>\n<tool_name>{answer.name}</tool_name>\n<stdout>\n{answer.text}\n</stdout>\n</result>"
            for answer in answers
        ]
        return self.turn("user", "\n".join(["<function_results>", *blocks, "</function_results>"]))

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The form of a call, then the tools' documents."""
        return _INSTRUCTION + "\n".join([json.dumps(tool.as_chat()["function"], ensure_ascii=False) for tool in tools])

    def _invoke(self, call: ToolCall) -> str:
        values = "".join(
            f'<parameter name="{key}">{self.value_text(value)}</parameter>\n' for key, value in call.arguments.items()
        )
        return f'<invoke name="{call.name}">\n{values}</invoke>'
