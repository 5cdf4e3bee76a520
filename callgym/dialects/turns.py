"""Prompts as chat templates write them: turns between control tokens, of which the policy writes one.

A subclass says how a turn is written, how results are, and what tells of the tools; everything that others
said is defused on its way into a turn, once, here.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import Dialect
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["Answer", "TurnDialect", "write_body"]


class Answer(NamedTuple):
    """What a tool answered, ready to be shown."""

    name: str
    """The tool's name, defused; empty where it is not known."""
    id: str
    """The id of the call it answers, defused; empty where there is none."""
    text: str
    """The answer, defused."""


class TurnDialect(Dialect):
    """A dialect whose conversations are turns; what they look like is the subclass's."""

    begin: ClassVar[str] = ""
    """What the first prompt opens with: the token for the beginning of a text, where the model's template writes it."""
    cue: ClassVar[str]
    """What opens the policy's turn."""
    end: ClassVar[str]
    """What closes the policy's turn, and is written behind its action."""

    @abstractmethod
    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """One whole turn; ``content`` is harmless."""

    @abstractmethod
    def results(self, answers: Sequence[Answer]) -> str:
        """The turn, or turns, that show what the calls of one action gave."""

    @abstractmethod
    def preamble(self, tools: Sequence[Tool]) -> str:
        """What the system turn says of the tools, and of how they are called; harmless, as ``documents`` is."""

    def documents(self, tools: Sequence[Tool]) -> str:
        """The tools' documents as JSON, one a line, defused: our own words beside them may hold the form's marks."""
        return self.defused("\n".join([json.dumps(tool.as_chat(), ensure_ascii=False) for tool in tools]))

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """What stands before the first turn of the conversation: the system's words, then the tools, in one turn."""
        parts = [*map(self.defused, system), *([self.preamble(tools)] if tools else ())]
        return self.turn("system", "\n\n".join(parts)) if parts else ""

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """The opening, the turns, and the beginning of the policy's."""
        system = [message.content for message in messages if message.role == "system" and message.content]
        return "".join([self.begin, self.opening(system, tools), *self._turns(messages), self.cue])

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """The end of the policy's turn, the results, and the beginning of its next."""
        answers = [self._answer(call.name, call.id, text) for call, text in zip(calls, texts, strict=True)]
        return f"{self.end}{self.results(answers)}{self.cue}"

    def render_reply(self, content: str) -> str:
        """The end of the policy's turn, the user's, and the beginning of its next."""
        return f"{self.end}{self.turn('user', self.defused(content))}{self.cue}"

    def add_reply(self, results: str, content: str) -> str:
        """The results, then the user's turn; no empty turn of the policy stands between them."""
        return results.removesuffix(self.cue) + self.render_reply(content).removeprefix(self.end)

    def _turns(self, messages: Sequence[Message]) -> Iterable[str]:
        """The conversation's turns; the results of one action stand together."""
        pending: list[Answer] = []
        for message in messages:
            if message.role == "tool":
                pending.append(self._answer(message.name, message.tool_call_id, message.content or ""))
                continue
            if pending:
                yield self.results(pending)
                pending = []
            if message.role == "assistant":
                words = self.defused(message.content or "")
                yield self.turn("assistant", self.render_action(message.tool_calls, words))
            elif message.role == "user":
                yield self.turn("user", self.defused(message.content or ""))
        if pending:
            yield self.results(pending)

    def _answer(self, name: str | None, id: str | None, text: str) -> Answer:
        return Answer(self.defused(name or ""), self.defused(id or ""), self.defused(text))


def write_body(value: Any, marks: Iterable[str]) -> str:
    """JSON for a call's block that holds none of the marks: where one stood in a text, its first character is escaped.

    To a reader of JSON nothing changes. Every mark holds a letter or a bar behind its first character, so none
    can stand outside a text.
    """
    body = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for mark in marks:
        while mark in body:
            body = body.replace(mark, f"\\u{ord(mark[0]):04x}{mark[1:]}")
    return body
