"""DeepSeek: calls between marks of their own, arguments in a JSON fence or, from V3.1 on, bare.

V3, V3-0324 and R1 by their chat templates (as TRL ships them) and vLLM's parsers; the option ``v3.1`` writes
the form of V3.1 and V3.1-Terminus (V3.2 writes XML). Both forms are read in both::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look
    ```json
    {"at": 1}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>

Results go on in the assistant's turn: behind them the policy writes without a mark. Understood beyond the forms: a
fence that is missing or not needed, calls without the marks around all of them. A whole JSON object counts
without the marks that close it (R1's template leaves some out); one that breaks off is ``truncated``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, ParsedAction, collect, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.headed_block import Head, HeadedForm
from callgym.dialects.literal import skip_space
from callgym.dialects.plain_action import NAME, PlainDialect, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.json_value import write_json
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["DeepSeekDialect"]

_SECTION, _SECTION_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL, _SEPARATOR, _CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
_OUTPUTS, _OUTPUTS_END = "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"
_OUTPUT, _OUTPUT_END = "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"
_USER, _ASSISTANT, _END = "<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"
_KIND = "function"  # of a call, in V3; there are no others
_V31 = "v3.1"

_NAME_LINE = re.compile(r"\s*+([^\n]*+)\n\s*+")
_FENCE = re.compile(r"```(?:json)?+")
_BARE = ("{", "[", '"', "```")

_INSTRUCTION = (
    "You may call these tools, one JSON document a line:\n{tools}\n"
    "Write the calls of a turn like this, each from {opening} to {closing}:\n{example}\n"
    "If no tool fits, reply in words."
)


def _read_head(text: str, start: int, separator: int, limit: int) -> Head | None:
    body = skip_space(text, separator + len(_SEPARATOR))
    name, line = text[start:separator].strip(), None
    if not text.startswith(_BARE, body):
        line = _NAME_LINE.match(text, body, limit)
        if line is not None:
            name, body = line.group(1).rstrip(), line.end()
        elif limit == len(text):
            return None  # neither arguments nor a whole line with a name
    fence = _FENCE.match(text, body)
    if fence is None:
        return Head(name, None, body)
    return Head("" if line is None and name == _KIND else name, None, fence.end())  # else the kind would be the name


_FORM = HeadedForm(
    opening=_CALL,
    separator=_SEPARATOR,
    closing=_CALL_END,
    section=(_SECTION,),
    section_end=(_SECTION_END,),
    read_head=_read_head,
    fence="```",
)
_PLAIN = PlainForm(
    before=rf"\s*+(?:(?:<think>)?+(?P<reasoning>[^<]*+)</think>)?+(?P<words>[^<]*+)(?:{_SECTION}\s*+)?+",
    head=rf"{_CALL}(?P<kind>{_KIND}{_SEPARATOR})?+{NAME}(?(kind)\n```json\n|{_SEPARATOR})\s*+",
    closing=rf"\s*+(?:```)?+\s*+{_CALL_END}\s*+",
    between="",
    end=rf"(?:{_SECTION_END})?+\s*+(?:{_END}|\Z)",
)


class DeepSeekDialect(PlainDialect):
    """Calls between DeepSeek's marks."""

    name = "deepseek"
    plain = _PLAIN
    options: ClassVar[Mapping[str, str]] = {_V31: "write the form of V3.1: the name in the call's head, bare arguments"}
    signs = (_SECTION, _CALL)
    control = ("<｜",)
    begin = "<｜begin▁of▁sentence｜>"
    cue = _ASSISTANT
    end = _END

    def __init__(self, option: str = "") -> None:
        """Make the dialect.

        Args:
            option: Nothing, or ``v3.1``.
        """
        self._bare = option == _V31
        if self._bare:
            self.name = f"deepseek:{_V31}"
            self.cue = f"{_ASSISTANT}</think>"  # type: ignore[misc]  # without reasoning, as the template has it

    def with_option(self, option: str) -> Dialect:
        """The dialect that writes V3.1's form."""
        return DeepSeekDialect(option) if option in self.options else super().with_option(option)

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        spans = CallSpans(text, _FORM.spans)
        said, ended = spans.before(_END)
        reasoning, rest, offset = split_reasoning(said, spans.next)
        return collect(_FORM.pieces(rest, offset, ended=ended), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then the calls between marks."""
        if not calls:
            return content
        blocks = [self._block(call) for call in calls]
        return f"{content}{_SECTION}{('' if self._bare else chr(10)).join(blocks)}{_SECTION_END}"

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn behind the mark of its role; the system has none."""
        if role == "system":
            return content
        return f"{_USER}{content}" if role == "user" else f"{self.cue}{content}{_END}"

    def results(self, answers: Sequence[Answer]) -> str:
        """The results between marks, which go on the assistant's turn."""
        outputs = "".join([f"{_OUTPUT}{answer.text}{_OUTPUT_END}" for answer in answers])
        return outputs if self._bare else f"{_OUTPUTS}{outputs}{_OUTPUTS_END}"

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents, defused, and the form of a call."""
        example = self.render_action((ToolCall(name="tool", arguments={"parameter": "value"}),))
        documents = self.defused("\n".join([write_json(tool.as_chat()["function"]) for tool in tools]))
        return _INSTRUCTION.format(tools=documents, opening=_CALL, closing=_CALL_END, example=example)

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """The system's words, then the tools; the marks of the form stay whole."""
        parts = [self.defused(said) for said in system]
        return "\n\n".join([*parts, self.preamble(tools)] if tools else parts)

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """The opening, the turns, and the beginning of the policy's, which results have begun already."""
        prompt = super().render_prompt(messages, tools, instruction, cue)
        behind = _OUTPUT_END if self._bare else _OUTPUTS_END
        return prompt.replace(f"{behind}{self.cue}", behind)  # exact: nobody else's words hold these marks

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """The end of the policy's action and the results; the policy's turn goes on."""
        return super().join_results(calls, texts).removesuffix(self.cue)

    def _block(self, call: ToolCall) -> str:
        name, body = self.defused(call.name), write_body(call.arguments, self.control)
        if self._bare:
            return f"{_CALL}{name}{_SEPARATOR}{body}{_CALL_END}"
        return f"{_CALL}{_KIND}{_SEPARATOR}{name}\n```json\n{body}\n```{_CALL_END}"
