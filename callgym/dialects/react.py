"""ReAct: a thought, a tool's name, its arguments as JSON, and the answer when no tool is needed any more.

    Thought: I need the weather first.
    Action: get_weather
    Action Input: {"city": "Oslo"}

    Thought: Now I know.
    Final Answer: It rains.

The form is that of the paper (Yao et al. 2022) as LangChain's ``ReActSingleInputOutputParser``, Qwen's ReAct prompt
and ToolBench's ToolLLaMA have it, with arguments as JSON; ToolBench's ``Action: Finish`` is a call like any other.
A label opens a line, with a number or without (``Action 2:``), after one blank at most.

- ``Thought:`` is reasoning, up to the next label.
- ``Action:`` with ``Action Input:`` below it is a call. The form has one a turn; several without an observation
  between them are several calls. See ``action_block`` for what its JSON may be. Words below it, on lines of
  their own, are content.
- ``Final Answer:`` makes the rest the content, labels and all. An action behind it is ``malformed``, and is not taken:
  a policy either answers or acts, and an answer may quote what somebody else said.
- ``Observation:`` is written by the environment alone, and so is ``Question:``. The action ends at the first one that
  is not inside a call's JSON, as if it were a stop word: what a policy makes up behind it is never taken for
  a result, and no call behind it is made. A call behind a made-up observation is reported as ``malformed``; nothing
  else there is. Behind ``Question:`` a policy plays another conversation, which is of no interest.

A call is whole where its JSON is; what breaks off before is ``truncated``, and so is ``Action:`` without input at
the end.

Turns are told apart by their lines, so words of users, tools and documents are set in from their second line on:
then no line of theirs opens with a label. Thus there are no ``control`` marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from callgym.call import ToolCall
from callgym.dialects.action_block import ActionBlocks, write_block
from callgym.dialects.base import ParsedAction, Piece, collect, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.plain_action import NAME, PlainDialect, PlainForm
from callgym.dialects.transcript import write_document
from callgym.dialects.turns import Answer
from callgym.episode import ParseError
from callgym.tool import Tool

__all__ = ["ReactDialect"]

_NUMBER = r"(?: ?\d{1,3})?+:"
_NAMES = "(Thought|Action Input|Action|Observation|Question|Final Answer)"
_LABEL = re.compile(rf"^ ?{_NAMES}{_NUMBER}", re.MULTILINE)
_ACTION = re.compile(rf"^ ?Action{_NUMBER}", re.MULTILINE)
_BLOCK = re.compile(rf"^ ?Action{_NUMBER}[^\n]*+\n\s*+Action Input{_NUMBER}", re.MULTILINE)
_STOP = re.compile(rf"^ ?(?:Observation|Question){_NUMBER}", re.MULTILINE)
_BLOCKS = ActionBlocks(
    name=r"[^\n]*+",
    nothing=rf"^ ?{_NAMES}{_NUMBER}",
    behind=r"[^\S\n]*+(?:\n|\Z)",
    ends=rf"\n ?{_NAMES}{_NUMBER}",
)
_LINE = r"(?! ?(?:Thought|Action|Observation|Question|Final))[^\n<]*+\n"
"""A line that opens with no label."""
_PLAIN = PlainForm(
    before=rf"(?P<words>(?:{_LINE})*+)(?:Thought:(?P<reasoning>[^\n<]*+\n(?:{_LINE})*+))?+",
    head=rf" ?Action:[^\S\n]*+{NAME}[^\S\n]*+\n\s*+Action Input:\s*+",
    closing=r"[^\S\n]*+",
    between=r"\n(?:[^\S\n]*+\n)*+",
    end=r"(?:\n\s*+)?+\Z",
)
_INDENT = "\n  "

_INSTRUCTION = (
    "You may call these tools, one JSON document a line:\n{tools}\n"
    "Take one step at a time, and write it like this:\n"
    "Thought: what is to be done next, and why\n"
    "Action: the name of one tool\n"
    'Action Input: its arguments as one JSON object, {{"parameter": "value"}}\n'
    "Then stop. What the tool gives is shown to you behind 'Observation:', which you never write yourself.\n"
    "Once you can answer, or if no tool fits, write:\n"
    "Final Answer: what you say to the user"
)


class ReactDialect(PlainDialect):
    """Thoughts, actions and observations as labelled lines."""

    name = "react"
    plain = _PLAIN
    cue = ""
    end = "\n"

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        reasoning, rest, offset = split_reasoning(text, CallSpans(text, _spans).next)
        thoughts = [reasoning]
        parsed = collect(_pieces(rest, offset, thoughts))
        return parsed._replace(reasoning="\n".join(filter(None, thoughts)))

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then a block a call; words alone are the final answer."""
        blocks = [write_block(call) for call in calls]
        if not blocks:
            return f"Final Answer: {content}" if content else ""
        return "\n".join([content, *blocks] if content else blocks)

    def defused(self, text: str) -> str:
        """Lines that open with no label: set in from the second on, and the first too where it has one."""
        lines = _INDENT.join(text.splitlines())
        return f"  {lines}" if _LABEL.match(lines) else lines

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A line of its own, and the lines that belong to it."""
        if role == "assistant":
            return f"{content}\n"
        return f"{'System' if role == 'system' else 'Question'}: {content}\n"

    def results(self, answers: Sequence[Answer]) -> str:
        """A line ``Observation: ...`` a result."""
        return "".join([f"Observation: {answer.text}\n" for answer in answers])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents, and the form of a step."""
        documents = [write_document(tool.as_chat()["function"]) for tool in tools]
        return self.defused(_INSTRUCTION.format(tools="\n".join(documents)))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    return _BLOCKS.spans(text, _ACTION)


def _pieces(text: str, offset: int, thoughts: list[str]) -> Iterator[Piece]:
    """What stands in a text up to where only the environment writes; thoughts are added to the list."""
    at = faults = 0
    while faults < MAX_FAULTS and (label := _LABEL.search(text, at)) is not None:
        yield text[at : label.start()]
        at = label.end()
        if label[1] in ("Observation", "Question"):
            if label[1] == "Observation" and _ACTION.search(text, at):
                yield _made_up(offset + label.start())
            return
        if label[1] == "Final Answer":
            stop = _start(_STOP.search(text, at), text)
            action = _BLOCK.search(text, at, stop)
            at = stop if action is None else action.start()
            yield text[label.end() : at].lstrip()
            if action is not None:
                yield _behind_answer(offset + at)
                return
        elif label[1] == "Thought":
            end = _start(_LABEL.search(text, at), text)
            thoughts.append(text[at:end].strip())
            at = end
        else:
            piece, at = _read_action(label, text, offset)
            yield piece
            if type(piece) is ParseError:
                faults += 1
                at = _start(_LABEL.search(text, at), text)
    if faults < MAX_FAULTS:
        yield text[at:]


def _read_action(label: re.Match[str], text: str, offset: int) -> tuple[ToolCall | ParseError, int]:
    if label[1] == "Action":
        return _BLOCKS.read(text, label.end(), offset)
    message = "'Action Input:' stands below a line 'Action:' with the tool's name, which is missing"
    return ParseError(kind="malformed", position=offset + label.start(), message=message), label.end()


def _start(match: re.Match[str] | None, text: str) -> int:
    return len(text) if match is None else match.start()


def _made_up(position: int) -> ParseError:
    message = (
        "an observation is never yours to write: nothing behind it was read, and the actions there were not taken. "
        "Stop after 'Action Input: {...}' and wait"
    )
    return ParseError(kind="malformed", position=position, message=message)


def _behind_answer(position: int) -> ParseError:
    message = "an action behind 'Final Answer:' was not taken: either answer or act"
    return ParseError(kind="malformed", position=position, message=message)
