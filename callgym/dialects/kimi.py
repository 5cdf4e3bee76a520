"""Kimi K2: calls in one section, each with an id that names its tool, in turns that name their speaker.

The form of Kimi K2, K2 Thinking and K2.5 by their chat templates and vLLM's ``kimi_k2`` parser (K3 writes otherwise)::

    <|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"at": 1}
    <|tool_call_end|><|tool_calls_section_end|>

A call keeps the id that the policy gave it, and its result refers to it: ``## Return of functions.look:0``. A
call without an id is given one, by its place in the action. Understood beyond the form: ids without ``functions.``
or number, calls without a section, ``<|tool_call_section_begin|>``. A whole JSON object counts without the marks
that close it; one that breaks off is ``truncated``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, collect, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.headed_block import Head, HeadedForm
from callgym.dialects.plain_action import NAME, PlainDialect, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.tool import Tool

__all__ = ["KimiDialect"]

_SECTION, _SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL, _ARGUMENTS, _CALL_END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
_MIDDLE, _END = "<|im_middle|>", "<|im_end|>"
_PREFIX = "functions."

_INSTRUCTION = (
    "The tools are declared above. Write the calls of a turn in one section, numbered from 0:\n"
    f'{_SECTION}{_CALL}{_PREFIX}tool:0{_ARGUMENTS}{{"parameter": "value"}}{_CALL_END}{_SECTION_END}\n'
    "If no tool fits, reply in words."
)


def _name_of(id: str) -> str:
    """The tool that an id names: ``look`` for ``functions.look:0``."""
    name = id.removeprefix(_PREFIX)
    head, colon, number = name.rpartition(":")
    return head if colon and number.isdecimal() else name


def _read_head(text: str, start: int, separator: int, limit: int) -> Head:
    id = text[start:separator].strip()
    return Head(_name_of(id), id, separator + len(_ARGUMENTS))


_FORM = HeadedForm(
    opening=_CALL,
    separator=_ARGUMENTS,
    closing=_CALL_END,
    section=(_SECTION, "<|tool_call_section_begin|>"),
    section_end=(_SECTION_END, "<|tool_call_section_end|>"),
    read_head=_read_head,
)
_PLAIN = PlainForm(
    before=r"\s*+(?:(?:<think>)?+(?P<reasoning>[^<]*+)</think>)?+(?P<words>[^<]*+)"
    r"(?:<\|tool_calls_section_begin\|>\s*+)?+",
    head=rf"<\|tool_call_begin\|>(?P<id>functions\.{NAME}:[0-9]++)<\|tool_call_argument_begin\|>\s*+",
    closing=r"\s*+<\|tool_call_end\|>\s*+",
    between="",
    end=r"(?:<\|tool_calls_section_end\|>)?+\s*+(?:<\|im_end\|>|\Z)",
)


class KimiDialect(PlainDialect):
    """Calls whose ids name their tools."""

    name = "kimi"
    plain = _PLAIN
    signs = (_SECTION, _CALL)
    control = ("<|",)
    cue = f"<|im_assistant|>assistant{_MIDDLE}"
    end = _END

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        spans = CallSpans(text, _FORM.spans)
        said, ended = spans.before(_END)
        reasoning, rest, offset = split_reasoning(said, spans.next)
        return collect(_FORM.pieces(rest, offset, ended=ended), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then a section with the calls."""
        if not calls:
            return content
        blocks = [self._block(call, number) for number, call in enumerate(calls)]
        return f"{content}{_SECTION}{''.join(blocks)}{_SECTION_END}"

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn between the marks of its role."""
        return f"<|im_{role}|>{role}{_MIDDLE}{content}{_END}"

    def results(self, answers: Sequence[Answer]) -> str:
        """One turn a result, which says whose it is."""
        return "".join([self._result(answer, number) for number, answer in enumerate(answers)])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The form of a call; the tools are declared in a turn of their own."""
        return _INSTRUCTION

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """The turn that declares the tools, then the system's."""
        words = [self.defused(said) for said in system]
        if not tools:
            return self.turn("system", "\n\n".join(words)) if words else ""
        documents = write_body([tool.as_chat() for tool in tools], self.control)
        declared = f"<|im_system|>tool_declare{_MIDDLE}{documents}{_END}"
        return declared + self.turn("system", "\n\n".join([*words, self.preamble(tools)]))

    def _block(self, call: ToolCall, number: int) -> str:
        id = _id_of(self.defused(call.name), self.defused(call.id or ""), number)
        return f"{_CALL}{id}{_ARGUMENTS}{write_body(call.arguments, self.control)}{_CALL_END}"

    def _result(self, answer: Answer, number: int) -> str:
        id = _id_of(answer.name, answer.id, number)
        return f"<|im_system|>{answer.name or 'tool'}{_MIDDLE}## Return of {id}\n{answer.text}{_END}"


def _id_of(name: str, id: str, number: int) -> str:
    """A call's own id where it names the tool, as the form's ids do; else one by the call's place."""
    return id if id and _name_of(id) == (name or _name_of(id)) else f"{_PREFIX}{name or 'tool'}:{number}"
