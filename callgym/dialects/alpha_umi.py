"""alpha-UMi: a planner thinks and hands over, to a caller who calls a tool or to one who concludes.

    I need the weather first. Next: caller.</s>caller: Action: get_weather
    Action Input: {"city": "Oslo"}</s>
    Now I know. Next: conclusion.</s>conclusion: It rains.</s>
    There is no such tool. Next: give up.

One action is what all three say between two observations, as the pipeline of X-PLUG/Multi-LLM-Agent (f9eeef7,
``infer_pipeline.py``) puts it together; behind ``</s>`` or right behind the planner's mark, for decoders that
leave end tokens out. A label ``assistant:`` before the planner's text is dropped.

- The planner's text is reasoning, whatever it holds; where nobody speaks after it, because it gives up or hands over
  to no one, it is the content.
- ``caller:`` opens a call (``action_block``); several of them are several calls. A caller whom the planner did not
  hand over to is ``malformed``, a caller or a conclusion that is handed over to and does not follow is ``truncated``.
- ``conclusion:`` opens content, up to ``</s>``. Words beside calls are written so, behind them.
- Any other turn is not the policy's to write: the action ends there, a call behind it is ``malformed`` and not made.

Also read: ``Action:`` without ``caller:``, as the paper's single-model baseline writes it below its thought.

``callgym.rewards.alpha_umi`` reads the same texts for the published step metrics, as the official script does: anything
is read as something, the last "Action:" counts, arguments stay text. What is read here without a fault is read there
the same; here it is to be run, so a fault is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.action_block import ActionBlocks, write_block
from callgym.dialects.base import NextMark, ParsedAction, Piece, collect, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.plain_action import NAME, PlainDialect, PlainForm
from callgym.dialects.turns import Answer
from callgym.episode import ParseError, ParseErrorKind
from callgym.json_value import write_json
from callgym.tool import Tool

__all__ = ["AlphaUmiDialect"]

_END = "</s>"
_PLANNER = re.compile(r"\s*+(?:(?:assistant|asssitant|planner):\s*+)?+")
"""One of the pipeline's scripts misspells its label."""
_MARK = re.compile(r"Next: (caller|conclusion|give up)\.?+\s*+")
_ROLES = ("caller:", "conclusion:")
_BARE_BLOCK = re.compile(r"^Action:(?=[^\n]*+\n\s*+Action Input:)", re.MULTILINE)
_ROLE = re.compile(r"(caller|conclusion):\s*+|(?=Action:)")
_ACTION = re.compile(r"Action:")
_BETWEEN = re.compile(r"(?:\s|</s>|Next: caller\.)*+")
_CALLER = re.compile(r"caller:\s*+Action:")
_BLOCK = re.compile(r"(?:caller:\s*+|^)Action:", re.MULTILINE)
_BLOCKS = ActionBlocks(
    name=r"[^\n<]{0,500}+(?:<(?!/s>)[^\n<]{0,500}+){0,20}+",
    nothing=_END,
    behind=r"\s*+(?:</s>|(?:</?+s?+)?+\Z|Next: |(?:caller|conclusion|observation|assistant|user):)",
    ends=_END,
)
_PLAIN = PlainForm(
    before=r"(?P<reasoning>(?:[^<:N]++|N(?!ext: ))*+)Next: caller\.?+\s*+(?:</s>\s*+)?+",
    head=rf"caller:\s*+Action:[^\S\n]*+{NAME}[^\S\n]*+\n\s*+Action Input:\s*+",
    closing=r"\s*+(?:</s>\s*+)?+",
    between="",
    end=r"\Z",
)

_INSTRUCTION = (
    "You answer the user with the help of tools, in three roles: you plan, call and conclude. These are the tools, one "
    "JSON document a line:\n{tools}\n"
    "Plan first: think about the next step and end with the role that goes on, 'Next: caller.', 'Next: conclusion.' or "
    "'Next: give up.', and </s>. As the caller, call one tool:\n"
    'caller: Action: tool_name\nAction Input: {{"parameter": "value"}}</s>\n'
    "Its result follows as an observation, and you plan again. To conclude, answer the user:\n"
    "conclusion: the answer</s>\n"
    "Give up only where no tool helps."
)


class AlphaUmiDialect(PlainDialect):
    """Planner, caller and conclusion in one action."""

    name = "alpha-umi"
    plain = _PLAIN
    signs = ("Next: caller.",)
    control = (_END, "assistant:", "user:", "caller:", "conclusion:", "observation:")
    cue = "assistant: "
    end = _END

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        reasoning, rest, offset = split_reasoning(text, CallSpans(text, _spans).next)
        plan = _read_plan(rest)
        pieces = list(_Turns(rest, offset, plan.next_role).pieces(plan.end))
        if not pieces:
            return collect([plan.text], reasoning)
        return collect(pieces, "\n".join(filter(None, (reasoning, plan.text))))

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The callers' turns, and the words as a conclusion."""
        turns = [f"{_END}caller: {write_block(call, (_END,))}" for call in calls]
        if content:
            turns.append(f"{_END}conclusion: {content}")
        return f"Next: {'caller' if calls else 'conclusion'}.{''.join(turns)}" if turns else ""

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A label, the words, and the end token; the opening stands without."""
        if role == "system":
            return f"{content}\n\n" if content else ""
        return f"{role}: {content}{_END}"

    def results(self, answers: Sequence[Answer]) -> str:
        """``observation: ...`` a result; as in the model's training, no end token follows."""
        return "\n".join([f"observation: {answer.text}" for answer in answers])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents, and the form of the three roles' turns."""
        documents = [self.defused(write_json(tool.as_chat()["function"])) for tool in tools]
        return _INSTRUCTION.format(tools="\n".join(documents))


class _Plan(NamedTuple):
    """What the planner said."""

    text: str
    next_role: str
    """Whom it hands over to; empty where it does not say."""
    end: int
    """Where the next turn is."""


def _read_plan(text: str) -> _Plan:
    label = _PLANNER.match(text)
    assert label is not None
    start = label.end()
    if _ROLE.match(text, start):
        return _Plan("", "", start)
    end = text.find(_END)
    stop = len(text) if end < 0 else end
    for mark in _MARK.finditer(text, start, stop):
        if text.startswith((_END, *_ROLES), mark.end()) or _breaks_off(text, mark.end()):
            return _Plan(text[start : mark.start()].strip(), mark[1], mark.end())
    if (block := _BARE_BLOCK.search(text, start, stop)) is not None:
        stop = block.start()
    return _Plan(text[start:stop].strip(), "", stop)


def _breaks_off(text: str, at: int) -> bool:
    """Whether the text ends there, be it within what ends a turn or opens one."""
    return len(text) - at < len("conclusion:") and any(mark.startswith(text[at:]) for mark in (_END, *_ROLES))


class _Turns:
    """The turns behind the planner's."""

    def __init__(self, text: str, offset: int, next_role: str) -> None:
        self._text, self._offset, self._next_role = text, offset, next_role
        self._ends = NextMark(text, _END)

    def pieces(self, at: int) -> Iterator[Piece]:
        """What they say, up to a turn that is not the policy's."""
        roles: set[str] = set()
        faults = 0
        while (at := self._turn_start(at)) < len(self._text) and faults < MAX_FAULTS:
            role = _ROLE.match(self._text, at)
            if role is None:
                break
            roles.add(role[1] or "caller")
            if role[1] == "conclusion":
                at = self._end(role.end())
                yield self._text[role.end() : at].strip() + "\n"
                continue
            piece, at = self._read_caller(role.end())
            yield piece
            faults += type(piece) is ParseError
        breaks_off = _breaks_off(self._text, at)
        if self._next_role in ("caller", "conclusion") and not roles & {self._next_role, "caller"}:
            message = f"the planner handed over to the {self._next_role}, who said nothing"
            kind: ParseErrorKind = "truncated" if breaks_off and not roles else "malformed"
            yield self._fault(kind, len(self._text), message)
        elif breaks_off and not _END.startswith(self._text[at:]):
            yield self._fault("truncated", len(self._text), "the turn breaks off before it says who speaks")
        elif faults < MAX_FAULTS and _CALLER.search(self._text, at):
            yield self._fault("malformed", at, "a call behind a turn that is not yours to write was not made")

    def _read_caller(self, at: int) -> tuple[ToolCall | ParseError, int]:
        """Read a caller's turn from behind its label on."""
        label = _ACTION.match(self._text, at)
        if label is None:
            kind: ParseErrorKind = "truncated" if "Action:".startswith(self._text[at : at + 8].strip()) else "malformed"
            message = 'a caller writes "Action: tool_name" and below it "Action Input: {...}"'
            return self._fault(kind, at, message), self._end(at)
        piece, end = _BLOCKS.read(self._text, label.end(), self._offset)
        if type(piece) is ParseError:
            return piece, self._end(end)
        if self._next_role not in ("", "caller"):
            message = f"the planner said 'Next: {self._next_role}.', but a caller spoke; its call was not made"
            return self._fault("malformed", at, message), end
        return piece, end

    def _turn_start(self, at: int) -> int:
        between = _BETWEEN.match(self._text, at)
        assert between is not None
        return between.end()

    def _end(self, at: int) -> int:
        end = self._ends.at(at)
        return len(self._text) if end < 0 else end

    def _fault(self, kind: ParseErrorKind, at: int, message: str) -> ParseError:
        return ParseError(kind=kind, position=self._offset + at, message=message)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    return _BLOCKS.spans(text, _BLOCK)
