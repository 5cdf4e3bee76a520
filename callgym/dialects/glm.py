"""GLM-4.5 and later: the tool's name, then a key and a value a parameter.

::

    <tool_call>find_tea
    <arg_key>kind</arg_key>
    <arg_value>green</arg_value>
    </tool_call>

The form of GLM-4.5 and 4.6 after their chat template; GLM-4.7 and 5 write it without the line breaks, which is
read, too. Values arrive as text, white space and all; the tool's schema decides their type. ``tagged_call``
says where a value ends. Turns open with ``<|user|>``, ``<|assistant|>``, ``<|observation|>`` and nothing closes
them. ``</tool_call>`` is the call's only end, so a call without it is ``truncated``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.plain_tags import PlainTags
from callgym.dialects.tagged_call import TaggedDialect, TaggedForm
from callgym.dialects.turns import Answer
from callgym.tool import Tool

__all__ = ["GlmDialect"]

_FORM = TaggedForm(
    shape="<tool_call>tool<arg_key>name</arg_key><arg_value>value</arg_value></tool_call>",
    # A name is followed by a key, the call's end or the text's, which may be in a tag; JSON is no name.
    opening=re.compile(
        r"<tool_call>(?:\s*+([^<>\n{\[\"'][^<>\n]*+)(?=\s*+(?:<arg_key>|</tool_call>|\Z|<[^<>]*+\Z)))?+"
    ),
    parameter=re.compile(r"<arg_key>([^<>\n]++)</arg_key>\s*+<arg_value>"),
    value_end=re.compile(
        r"</arg_value>(?=\s*+(?:<arg_key>|</tool_call>|<tool_call>\s*+[^<>\n]++\s*+(?:<arg_key>|</tool_call>)|\Z))"
    ),
    closing=re.compile(r"</tool_call>(?:\s*+</tool_call>)*+"),
    block_end=re.compile(r"</tool_call>"),
    leftover=re.compile(r"<(?:/?arg_(?:key|value)|/tool_call)>"),
    broken_off=re.compile(r"(?:<arg_key>[^<>\n]*+(?:</arg_key>\s*+)?+)?+(?:<[^<>]*+)?+\Z"),
)
_PLAIN = PlainTags(
    begin=r"<tool_call>\s*+",
    name=r"([^<>\s{\[\"'][^<>\s]*+)",
    parameter=r"<arg_key>([^<>\s]++)</arg_key>\s*+<arg_value>([^<]*+)</arg_value>",
    marks=4,
    closing="</tool_call>",
    end="",
    again=r"<tool_call>\s*+",
)
_INSTRUCTION = (
    "You may call these tools, one JSON document a line inside <tools></tools>:\n<tools>\n{tools}\n</tools>\n"
    "Write each call in tags, the tool's name first, then a key and a value a parameter, lists and objects as JSON:\n"
    "<tool_call>tool\n<arg_key>first</arg_key>\n<arg_value>value</arg_value>\n<arg_key>second</arg_key>\n"
    "<arg_value>value</arg_value>\n</tool_call>\n"
    "If no tool fits, reply in words."
)


class GlmDialect(TaggedDialect):
    """Keys and values in tags, turns that open with a role."""

    name = "glm"
    signs = ("<arg_key>",)
    control = ("<|", "</tool_response", "<tool_response", "[gMASK]", "<sop>")
    begin = "[gMASK]<sop>"
    cue = "<|assistant|>\n"
    end = ""
    form = _FORM
    plain = _PLAIN
    stop = re.compile(r"<\|(?:user|observation|endoftext)\|>")
    turn_marks = ("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|endoftext|>", "[gMASK]", "<sop>")
    escaped = ("<|", "<tool_call", "</tool_call", "<arg_", "</arg_", "[gMASK]", "<sop>")

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """A turn for the tools, then one for each of the system's words."""
        parts = [*([self.preamble(tools)] if tools else ()), *map(self.defused, system)]
        return "".join([self.turn("system", part) for part in parts])

    def calls_text(self, calls: Sequence[ToolCall]) -> str:
        """A block a call, a line a key and a line a value."""
        return "\n".join(map(self._block, calls))

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn that the next one ends."""
        return f"<|{role}|>\n{content}"

    def results(self, answers: Sequence[Answer]) -> str:
        """One ``<tool_response>`` a result in one observation."""
        blocks = [f"\n<tool_response>\n{answer.text}\n</tool_response>" for answer in answers]
        return f"<|observation|>{''.join(blocks)}"

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents between ``<tools>`` tags, and the form of a call."""
        return _INSTRUCTION.format(tools=self.documents(tools))

    def _block(self, call: ToolCall) -> str:
        values = "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{self.value_text(value)}</arg_value>\n"
            for key, value in call.arguments.items()
        )
        return f"<tool_call>{call.name}\n{values}</tool_call>"
