"""A conversation as plain lines: ``User: ...``, ``Assistant: ...``, ``Tool name: ...``, ``System: ...``.

Each turn starts a line; whatever was said in it is set in by two blanks from its second line on, so that no words
of a user, a tool or a document can open a turn of their own.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import Dialect
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["ASSISTANT", "TranscriptDialect", "write_document"]

ASSISTANT = "Assistant:"
"""What an assistant's turn opens with."""
_CUE = f"{ASSISTANT} "
_INDENT = "\n  "
_LABELS = {"user": "User", "assistant": "Assistant", "system": "System"}
_LINE_ENDS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"})
_PLAIN_NAME = re.compile(r"[\w.-]{1,200}")


class TranscriptDialect(Dialect):
    """A dialect whose prompts are transcripts; what opens one, and how calls are written, is the subclass's."""

    @abstractmethod
    def opening(self, tools: Sequence[Tool], instruction: str | None) -> str:
        """What stands before the turns, its last line ended; the empty text for nothing."""

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """The opening, a blank line, the turns, the cue. An instruction stands for system messages, too."""
        opening = self.opening(tools, instruction)
        turns = [self._turn(message) for message in messages if instruction is None or message.role != "system"]
        return (f"{opening}\n" if opening else "") + "".join(turns) + (_CUE if cue is None else cue)

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """A turn a result, in the order of the calls."""
        turns = [_tool_turn(call.name, text) for call, text in zip(calls, texts, strict=True)]
        return "\n" + "".join(turns) + _CUE

    def render_reply(self, content: str) -> str:
        """The user's next turn."""
        return f"\n{_turn('User', content)}{_CUE}"

    def add_reply(self, results: str, content: str) -> str:
        """The results, then the user's turn; no empty turn of the policy stands between them."""
        return results.removesuffix(_CUE) + self.render_reply(content).removeprefix("\n")

    def _turn(self, message: Message) -> str:
        if message.role == "tool":
            return _tool_turn(message.name or "", message.content or "")
        content = message.content or ""
        if message.tool_calls:
            content = self.render_action(message.tool_calls, content)
        return _turn(_LABELS[message.role], content)


def write_document(value: Any) -> str:
    """JSON that is one line, whatever a reader takes for the end of one."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS)


def _turn(label: str, content: str) -> str:
    return f"{label}: {_INDENT.join(content.splitlines())}\n"


def _tool_turn(name: str, content: str) -> str:
    if name and not _PLAIN_NAME.fullmatch(name):
        name = repr(name[:200])
    return _turn(f"Tool {name}" if name else "Tool", content)
