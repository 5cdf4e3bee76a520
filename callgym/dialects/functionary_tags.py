"""Functionary v3.1: ``<function=find_tea>{"kind": "green"}</function>`` in turns of Llama 3.

The form is that of MeetKai's ``v3-llama3.1`` template, and of Meta's own prompts with a tag for functions. A turn
with calls ends in ``<|eom_id|>``, and results have the role ``ipython``. What is read is what ``functionary`` reads,
but for a recipient without ``>>>``: here an action may begin with any words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.functionary import FunctionaryDialect, write_arguments
from callgym.dialects.llama_turns import END_OF_MESSAGE, END_OF_PLAIN, LlamaTurnDialect
from callgym.dialects.plain_action import NAME, PlainForm
from callgym.tool import Tool

__all__ = ["FunctionaryTagDialect"]

_TAG, _TAG_END = "<function=", "</function>"
_PLAIN = PlainForm(
    before=r"(?P<words>[^<>]*+)",
    head=rf"{_TAG}{NAME}>\s*+",
    closing=rf"\s*+{_TAG_END}",
    between=r"\s*+",
    end=END_OF_PLAIN,
)

_INSTRUCTION = (
    "You may call these tools, one JSON document a line:\n{tools}\n"
    "Write each call on one line, the tool's name in the opening tag and the arguments as one JSON object in it:\n"
    '{tag}tool>{{"parameter": "value"}}{end}\n'
    "If no tool fits, reply in words."
)


class FunctionaryTagDialect(FunctionaryDialect):
    """JSON between tags that name the tool."""

    name = "functionary:v3.1"
    plain = _PLAIN
    cue = LlamaTurnDialect.cue
    role = "ipython"
    first = None

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then a tag a call."""
        tags = [f"{_TAG}{self.defused(call.name)}>{write_arguments(call)}{_TAG_END}" for call in calls]
        return "".join([content, *tags])

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn; the policy's with calls ends another way."""
        end = END_OF_MESSAGE if role == "assistant" and _TAG in content else self.end
        return f"{self.header(role)}{content}{end}"

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """The end of a turn with calls, the results, and the beginning of the policy's next turn."""
        return END_OF_MESSAGE + super().join_results(calls, texts).removeprefix(self.end)

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents, defused, and the form of a call."""
        return _INSTRUCTION.format(tools=self.documents(tools), tag=_TAG, end=_TAG_END)
