"""Hermes and Qwen: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` in ChatML turns.

The form of Hermes 2 Pro and 3, and of Qwen 2.5 and 3 (dense and MoE, not Coder), as their chat templates write it.
The end of a call is where its JSON object ends, not the first closing tag, so a tag inside a
string argument is data. A call whose closing tag is missing is read; a call whose JSON breaks off is
``truncated``. User and tool text cannot forge a turn: control tokens in it are broken up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_block import JsonBlocks
from callgym.dialects.turns import Answer, TurnDialect, write_body
from callgym.tool import Tool

__all__ = ["HermesDialect"]

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_START, _END = "<|im_start|>", "<|im_end|>"
_ENDS = (_END, "<|endoftext|>")
"""What the policy's turn ends with."""
_BLOCKS = JsonBlocks(_OPEN, _CLOSE)

_INSTRUCTION = (
    "You may call these tools, one JSON document a line inside <tools></tools>:\n<tools>\n{tools}\n</tools>\n"
    "Write each call as one JSON object between tags:\n"
    '<tool_call>\n{{"name": "tool", "arguments": {{"parameter": "value"}}}}\n</tool_call>\n'
    "If no tool fits, reply in words."
)


class HermesDialect(TurnDialect):
    """JSON between ``<tool_call>`` tags."""

    name = "hermes"
    signs = (_OPEN,)
    control = ("<|", "</tool_response", "<tool_response")
    cue = f"{_START}assistant\n"
    end = f"{_END}\n"

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        if "|" in text:
            for end in _ENDS:
                text, _ = CallSpans(text, _BLOCKS.spans).before(end)
        return _BLOCKS.read(text)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then a tagged block a call."""
        blocks = [_render_block(call) for call in calls]
        return "\n".join([content, *blocks] if content else blocks)

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn of ChatML."""
        return f"{_START}{role}\n{content}{_END}\n"

    def results(self, answers: Sequence[Answer]) -> str:
        """One ``<tool_response>`` a result in a user turn."""
        blocks = [f"<tool_response>\n{answer.text}\n</tool_response>" for answer in answers]
        return self.turn("user", "\n".join(blocks))

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents between ``<tools>`` tags, and the form of a call."""
        return _INSTRUCTION.format(tools=self.documents(tools))


def _render_block(call: ToolCall) -> str:
    body = write_body({"name": call.name, "arguments": call.arguments}, ("<|",))
    return f"{_OPEN}\n{body}\n{_CLOSE}"
