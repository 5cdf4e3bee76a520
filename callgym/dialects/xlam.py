"""Salesforce's xLAM and APIGen: an answer is a JSON array of calls, or words.

For example::

    [{"name": "find_trains", "arguments": {"from": "Lyon", "to": "Nice"}}, {"name": "now", "arguments": {}}]

Turns are ChatML with a ``tool`` turn a result, as the chat template of xLAM-2-1b, -3b and -32b-fc-r writes them (those
are built on Qwen 2.5; the two Llama-xLAM-2 models write the same array in Llama 3's turns). Understood as well:

- the array between ````` ```json ````` and ````` ``` `````, alone or beside words, which vLLM's parser for xLAM reads,
  too; APIGen's and Hammer's models write it so. Calls that come with words are written in this form;
- ``{"thought": ..., "tool_calls": [...]}``, the form of the first xLAM models, where the thought is reasoning; and one
  call as an object;
- words behind the array. ``[]`` makes no call and says nothing.

An answer that begins like an array or object of calls is one; another JSON value is words, ``[2, 3]`` and
``{"total": 5}``, too. Beside words, a fence holds calls where its first key is one of theirs. An element that is broken
costs itself (``call_array``). A call is whole where its object ends; an array that is not closed is ``truncated``,
while its whole calls are made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, Piece, collect, split_reasoning
from callgym.dialects.call_array import MOST_FAULTS, data_in_array, read_array, read_object, texts_in
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.plain_action import JSON_SPACE, NAME, PlainDialect, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.episode import ParseError
from callgym.tool import Tool

__all__ = ["XlamDialect"]

_START, _END = "<|im_start|>", "<|im_end|>"
_ENDS = (_END, "<|eot_id|>", "<|endoftext|>")
_PLAIN = PlainForm(
    before=r"\s*+\[\s*+",
    head=rf'\{{{JSON_SPACE}"name"{JSON_SPACE}:{JSON_SPACE}"{NAME}"{JSON_SPACE},{JSON_SPACE}'
    rf'"arguments"{JSON_SPACE}:{JSON_SPACE}',
    closing=rf"{JSON_SPACE}\}}\s*+",
    between=r",\s*+",
    end=rf"\]\s*+(?:{'|'.join(map(re.escape, _ENDS))}|\Z)",
    nested=True,
)
_FENCE = "```"
_FENCED = re.compile(r"```(\w*+)\s*+")
_LANGUAGES = ("", "json", "JSON")
# What begins like calls: alone, and beside words, where much else is JSON.
_ALONE = re.compile(r"\[\s*+(?:\{|\Z|\]\s*+\Z)|\{\s*+(?:[\"}]|\Z)")
_KEY = r'"(?:\Z|(?:name|arguments|parameters|tool_calls|thought)"|[a-z_]++\Z)'
_BESIDE = re.compile(rf"\[\s*+\]|[\[{{]\s*+(?:\Z|\{{?+\s*+(?:\Z|\}}|{_KEY}))")

_INSTRUCTION = (
    "You may call tools. Calls are one JSON array, which is then your whole answer:\n\n"
    '[{{"name": "tool", "arguments": {{"parameter": "value"}}}}, ...]\n\n'
    "Several calls that do not wait for each other go into one array; their results follow. Answer in words where no "
    "tool fits or where you must ask for what is missing. The tools:\n\n{tools}"
)


class XlamDialect(PlainDialect):
    """A JSON array of calls as the answer."""

    name = "xlam"
    plain = _PLAIN
    control = ("<|",)
    cue = f"{_START}assistant\n"
    end = f"{_END}\n"

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        for end in _ENDS:
            text = CallSpans(text, _find_calls).before(end)[0]
        reasoning, rest, offset = split_reasoning(text, CallSpans(text, _find_calls).next)
        thoughts, pieces = [reasoning], list[Piece]()
        for block in _blocks(rest, offset):
            thoughts.append(block.thought)
            pieces += block.pieces
        return collect(pieces, "\n\n".join(filter(None, thoughts)))

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, or the array; both, with the array in a fence."""
        if not calls:
            return content or "[]"
        bodies = [write_body({"name": call.name, "arguments": call.arguments}, self.control) for call in calls]
        array = f"[{', '.join(bodies)}]"
        return f"{content}\n{_FENCE}json\n{array}\n{_FENCE}" if content else array

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn of ChatML."""
        return f"{_START}{role}\n{content}{_END}\n"

    def results(self, answers: Sequence[Answer]) -> str:
        """A turn a result."""
        return "".join([f"{_START}tool\n{answer.text}{_END}\n" for answer in answers])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The form of calls, and the tools' documents."""
        documents = [json.dumps(tool.as_chat(), ensure_ascii=False, indent=4) for tool in tools]
        return _INSTRUCTION.format(tools=self.defused("\n\n".join(documents)))


class _Block(NamedTuple):
    """A stretch of an answer: words, or JSON with calls."""

    pieces: Sequence[Piece]
    thought: str = ""


def _blocks(text: str, offset: int) -> Iterator[_Block]:
    start = skip_space(text, 0)
    if _ALONE.match(text, start):
        block, end = _read(text, start, start, offset)
        yield block
        following = skip_space(text, end)
        if not _ALONE.match(text, following):
            yield _Block([text[end:]])
            return
        message = "there is more JSON behind the calls; all calls of an answer stand in one array"
        yield _Block([ParseError(kind="malformed", position=offset + following, message=message)])
        return
    at = faults = 0
    while faults < MOST_FAULTS and (fence := _next_fence(text, at)) is not None:
        opening, body = fence
        yield _Block([text[at:opening]])
        block, at = _read(text, opening, body, offset)
        yield block
        faults += sum(type(piece) is ParseError for piece in block.pieces)
    if faults < MOST_FAULTS:
        yield _Block([text[at:]])


def _read(text: str, opening: int, start: int, offset: int) -> tuple[_Block, int]:
    """The block that opens there and whose JSON starts there, and the position behind it."""
    found: Sequence[Piece] | None
    if text[start] == "[":
        (found, end), thought = read_array(text, start, offset), ""
    else:
        found, thought, end = read_object(text, start, offset)
    end = _behind_fence(text, end) if opening < start else end
    return _Block([text[opening:end]] if found is None else found, thought), end


def _behind_fence(text: str, at: int) -> int:
    close = skip_space(text, at)
    return close + len(_FENCE) if text.startswith(_FENCE, close) else at


def _next_fence(text: str, at: int) -> tuple[int, int] | None:
    """Where the next fence with calls opens, and where its JSON starts; other fences are words."""
    while (fence := _FENCED.search(text, at)) is not None:
        body = fence.end()
        close = text.find(_FENCE, body)
        if fence[1] in _LANGUAGES:
            alone = skip_space(text, 0) == fence.start() and (close < 0 or not text[close + len(_FENCE) :].strip())
            if _BESIDE.match(text, body) or (alone and _ALONE.match(text, body)):
                return fence.start(), body
        if close < 0:
            return None
        at = close + len(_FENCE)
    return None


def _find_calls(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of what is data in the blocks, for ``CallSpans``: all JSON that can be read, else its texts."""
    start = skip_space(text, 0)
    if _ALONE.match(text, start):
        yield from _data(text, start, start)[0]
        return
    at = broken = 0
    while broken < MOST_FAULTS and (fence := _next_fence(text, at)) is not None:
        spans, end = _data(text, *fence)
        at = _behind_fence(text, end)
        broken += not spans
        yield from spans


def _data(text: str, opening: int, start: int) -> tuple[list[tuple[int, int]], int]:
    if text[start] == "[":
        return data_in_array(text, start)
    try:
        end = scan_json(text, start)[1]
    except JsonTextError:
        end = _read(text, opening, start, 0)[1]
        return texts_in(text, start, end), end
    return [(start, end)], end
