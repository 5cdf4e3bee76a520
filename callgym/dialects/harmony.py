"""Harmony, the form of OpenAI's gpt-oss: messages on channels, of which some go to functions.

The policy writes behind ``<|start|>assistant``; in one line, for example::

    <|channel|>analysis<|message|>I need the weather.<|end|><|start|>assistant<|channel|>commentary
    to=functions.weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>

The form follows ``docs/format.md`` of openai/harmony and the chat template of gpt-oss. What is read:

- A message goes on to the first ``<|end|>``, ``<|call|>`` or ``<|return|>``, as for OpenAI's own parser. The channel
  ``analysis`` is reasoning, others are words for the user; a call drafted in either is never made.
- A call needs a recipient ``to=functions.NAME``, before or behind the channel, AND ``<|call|>`` behind its JSON, on
  whatever channel: that is how the model says that it calls, and it does call from ``analysis``. The dialect
  ``harmony:commentary`` makes calls on the channel ``commentary`` only; others are errors that say so.
- ``<|call|>`` tells a whole call from one that broke off: where the text ends before it, the call is ``truncated``,
  whole JSON or not. A policy must not cut it from its text as it cuts other tokens that end generation.
- Built-in tools (``to=python``, ``to=browser.search``) are no functions: an error says what a recipient looks like.
- One action may hold several messages, and several calls. Behind ``<|return|>``, and where another role speaks,
  nothing is read.

Understood beyond that: text without a mark (words), any content type or none, an empty body (no arguments), a message
without its channel or without ``<|start|>assistant``, and ``<think>`` outside messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, ParsedAction, Piece, collect, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.harmony_message import HarmonyMessages, find_messages
from callgym.dialects.plain_action import NAME, PlainDialect, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.dialects.typescript import write_namespace
from callgym.tool import Tool

__all__ = ["HarmonyDialect"]

_START, _CHANNEL, _MESSAGE, _CONSTRAIN = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"
_END, _CALL = "<|end|>", "<|call|>"
_SAID = r"(?P<{group}>[^<]*+)<\|end\|>\s*+<\|start\|>assistant"
_PLAIN = PlainForm(
    before=rf"\s*+(?:<\|channel\|>analysis<\|message\|>{_SAID.format(group='reasoning')})?+"
    rf"(?:<\|channel\|>commentary<\|message\|>{_SAID.format(group='words')})?+",
    head=rf"<\|channel\|>commentary to=functions\.{NAME}"
    r"(?: (?:<\|constrain\|>)?+json)?+<\|message\|>\s*+",
    closing=r"\s*+<\|call\|>\s*+",
    between=r"<\|start\|>assistant",
    end=r"\Z",
)

_SYSTEM = (
    "Reasoning: medium\n\n# Valid channels: analysis, commentary, final. Every message names its channel: think in "
    "analysis, answer the user in final."
)
_CALLING = "\nA call goes to=functions.NAME on the commentary channel, as a JSON object of its arguments."


class HarmonyDialect(PlainDialect):
    """Messages on channels; calls go to ``functions.NAME``."""

    name = "harmony"
    plain = _PLAIN
    options = {"commentary": "only calls on the commentary channel are made; one on another channel is an error"}
    signs = (_CHANNEL, _MESSAGE)
    control = ("<|",)
    cue = f"{_START}assistant"
    end = _END

    def __init__(self, *, only_commentary: bool = False) -> None:
        """The dialect, or its variant.

        Args:
            only_commentary: Make only those calls that stand on the commentary channel.
        """
        self._only_commentary = only_commentary
        if only_commentary:
            self.name = f"{self.name}:commentary"

    def with_option(self, option: str) -> Dialect:
        """The dialect with one of its ``options``.

        Raises:
            ConfigurationError: It has no such option.
        """
        return HarmonyDialect(only_commentary=True) if option in self.options else super().with_option(option)

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        reasoning, rest, offset = split_reasoning(text, CallSpans(text, find_messages).next)
        thoughts, pieces = [reasoning], list[Piece]()
        for message in HarmonyMessages(rest, offset, only_commentary=self._only_commentary):
            thoughts.append(message.thought)
            pieces += message.pieces
        return collect(pieces, "\n\n".join(filter(None, thoughts)))

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words as a final message or, before calls, as a preamble; then a message a call."""
        if not calls:
            return f"{_CHANNEL}final{_MESSAGE}{content}"
        preamble = [f"{_CHANNEL}commentary{_MESSAGE}{content}{_END}"] if content else []
        return self.cue.join([*preamble, *map(self._write_call, calls)])

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A message; an assistant's brings its own header, and its own end where it calls."""
        if role == "assistant":
            return self.cue + content if content.endswith(_CALL) else self.cue + content + _END
        return f"{_START}{role}{_MESSAGE}{content}{_END}"

    def results(self, answers: Sequence[Answer]) -> str:
        """A message a result, from the function to the assistant."""
        return "".join([_write_answer(answer) for answer in answers])

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """The results and the beginning of the policy's next message; ``<|call|>`` has ended the one before."""
        return super().join_results(calls, texts).removeprefix(_END)

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools as a TypeScript namespace, below their headings."""
        return f"# Tools\n\n## functions\n\n{self.render_tools(tools)}"

    def render_tools(self, tools: Sequence[Tool]) -> str:
        """The tools as a TypeScript namespace."""
        return write_namespace("functions", tools)

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """The system message, which names the channels; then the developer's, with instructions and tools."""
        opening = self.turn("system", _SYSTEM + (_CALLING if tools else ""))
        parts = ["# Instructions", *system] if system else []
        if tools:
            parts.append(self.preamble(tools))
        told = "\n\n".join(map(self.defused, parts))
        return f"{opening}{_START}developer{_MESSAGE}{told}{_END}" if parts else opening

    def _write_call(self, call: ToolCall) -> str:
        # A name with a mark in it cannot be written: broken up, it makes no call, and forges no turn in a prompt.
        header = f"{_CHANNEL}commentary to=functions.{self.defused(call.name)} {_CONSTRAIN}json"
        return f"{header}{_MESSAGE}{write_body(call.arguments, self.control)}{_CALL}"


def _write_answer(answer: Answer) -> str:
    role = f"functions.{answer.name}" if answer.name else "tool"
    return f"{_START}{role} to=assistant{_CHANNEL}commentary{_MESSAGE}{answer.text}{_END}"
