"""Mistral: ``[TOOL_CALLS]name[ARGS]{...}``, one behind the other, or one JSON array behind ``[TOOL_CALLS]``.

By the chat templates and tokenizers of mistral-common. The first form is that of its versions 11 (with
``[CALL_ID]id`` behind the name) and 13 to 15: Devstral, Magistral, Ministral 3, Mistral Small 3.2 and later. The
option ``json`` writes that of versions 3 to 7: Mistral 7B v0.3, Nemo, Small up to 3.1. Both are read in both::

    [TOOL_CALLS]look[ARGS]{"at": 1}[TOOL_CALLS]look[ARGS]{"at": 2}</s>
    [TOOL_CALLS] [{"name": "look", "arguments": {"at": 1}}, {"name": "look", "arguments": {"at": 2}}]</s>

A call of the first form has no mark that closes it: it ends where its JSON object ends, and words may follow.
Understood beyond it: ``name{...}`` without ``[ARGS]``, one object in place of the array, ``<think>`` for
``[THINK]``. What breaks off is ``truncated``; an array keeps the calls that are whole. An id is kept where it is
one of letters, digits and ``_.-:``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, NextMark, ParsedAction, Piece, call_or_error, collect, split_reasoning
from callgym.dialects.broken_json import BrokenJson
from callgym.dialects.call_list import CallList
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_block import MAX_FAULTS, read_call_object
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.plain_action import NAME, PlainDialect, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.episode import ParseError, ParseErrorKind
from callgym.tool import Tool

__all__ = ["MistralDialect"]

_CALL, _ID, _ARGUMENTS, _END = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", "</s>"
_TOOLS, _TOOLS_END = "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"
_RESULT, _RESULT_ID_END, _RESULT_END = "[TOOL_RESULTS]", "[TOOL_CONTENT]", "[/TOOL_RESULTS]"
_ROLES = {"system": ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"), "user": ("[INST]", "[/INST]"), "assistant": ("", _END)}
_HEAD = re.compile(
    r"\s*+(?P<name>(?:[^\[{]|\[(?!(?:ARGS|CALL_ID|TOOL_CALLS)\]))*+)"
    r"(?:\[CALL_ID\](?P<id>[^\[{]*+))?+(?P<separator>\[ARGS\])?+\s*+"
)
_BROKEN = BrokenJson(re.escape(_CALL), tokens=True)
_PLAIN_NAME = re.compile(r"[\w.\-:/]++")
_PLAIN_ID = re.compile(r"[\w.\-:]++", re.ASCII)
_PLAIN = PlainForm(
    before=r"\s*+(?:(?:\[THINK\]|<think>)?+(?P<reasoning>[^\[<]*+)(?:\[/THINK\]|</think>))?+(?P<words>[^\[<]*+)",
    head=rf"\[TOOL_CALLS\]{NAME}(?:\[CALL_ID\](?P<id>[A-Za-z0-9_.\-:]++))?+(?:\[ARGS\])?+\s*+",
    closing=r"\s*+",
    between="",
    end=r"(?:</s>|\Z)",
)
_NO_WORDS = ("{", "}", "]", ",")  # behind a call these belong to it, or to another that lacks its mark

_INSTRUCTION = (
    "The tools that you may call are listed below. Write calls like this:\n{example}\nIf no tool fits, reply in words."
)


class MistralDialect(PlainDialect):
    """Calls behind ``[TOOL_CALLS]``."""

    name = "mistral"
    plain = _PLAIN
    options: ClassVar[Mapping[str, str]] = {"json": "write calls as one JSON array, as the older models do"}
    signs = (_CALL,)
    control = (
        "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", _TOOLS, _TOOLS_END, "[MODEL_SETTINGS]",
        "[/MODEL_SETTINGS]", _CALL, _ID, _ARGUMENTS, _RESULT, _RESULT_ID_END, _RESULT_END, "[THINK]", "[/THINK]",
        "<s>", _END,
    )  # fmt: skip
    begin = "<s>"
    cue = ""
    end = _END

    def __init__(self, option: str = "") -> None:
        """Make the dialect.

        Args:
            option: Nothing, or ``json``.
        """
        self._as_list = option == "json"
        if self._as_list:
            self.name = "mistral:json"

    def with_option(self, option: str) -> Dialect:
        """The dialect that writes the older form."""
        return MistralDialect(option) if option in self.options else super().with_option(option)

    def read_any(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        spans = CallSpans(text, _spans)
        said, ended = spans.before(_END)
        # The two kinds of tags are equally long, so that positions stay the same.
        tagged = said.replace("[THINK]", "<think>").replace("[/THINK]", "</think>")
        reasoning, rest, offset = split_reasoning(tagged, spans.next)
        return collect(_Reader(said[offset : offset + len(rest)], offset, ended=ended).pieces(), reasoning)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then the calls behind their marks."""
        if not calls:
            return content
        if not self._as_list:
            return "".join([content, *map(self._call, calls)])
        ids = [{"id": id} if (id := _plain_id(call.id)) else {} for call in calls]
        listed = [{"name": call.name, "arguments": call.arguments, **id} for call, id in zip(calls, ids, strict=True)]
        return f"{content}{_CALL} {write_body(listed, self.control)}"

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn between its marks; the assistant's has only the one that ends it."""
        before, behind = _ROLES[role]
        return f"{before}{content}{behind}"

    def results(self, answers: Sequence[Answer]) -> str:
        """A result between marks each, behind the id of its call where that has one."""
        ids = [f"{answer.id}{_RESULT_ID_END}" if _plain_id(answer.id) else "" for answer in answers]
        return "".join([f"{_RESULT}{id}{answer.text}{_RESULT_END}" for id, answer in zip(ids, answers, strict=True)])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The form of a call; the tools are listed between marks of their own."""
        example = self.render_action((ToolCall(name="tool", arguments={"parameter": "value"}),))
        return _INSTRUCTION.format(example=example)

    def opening(self, system: Sequence[str], tools: Sequence[Tool]) -> str:
        """The system's turn, then the tools."""
        words = [self.defused(said) for said in system]
        if not tools:
            return self.turn("system", "\n\n".join(words)) if words else ""
        documents = write_body([tool.as_chat() for tool in tools], self.control)
        turn = self.turn("system", "\n\n".join([*words, self.preamble(tools)]))
        return f"{turn}{_TOOLS}{documents}{_TOOLS_END}"

    def _call(self, call: ToolCall) -> str:
        id = _plain_id(call.id)
        name = f"{self.defused(call.name)}{_ID}{id}" if id else self.defused(call.name)
        return f"{_CALL}{name}{_ARGUMENTS}{write_body(call.arguments, self.control)}"


def _plain_id(id: Any) -> str | None:
    """An id that both forms can carry."""
    stripped = id.strip() if isinstance(id, str) else ""
    return stripped if _PLAIN_ID.fullmatch(stripped) else None


def _read_object(value: Any, position: int) -> ToolCall | ParseError:
    return read_call_object(value, position, _plain_id(value.get("id")) if type(value) is dict else None)


def _is_json(text: str, at: int) -> bool:
    """Whether calls as JSON stand there, not a name or a mark."""
    return text.startswith(("[", "{"), at) and not text.startswith((_ARGUMENTS, _ID, _CALL), at)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each call as far as it can be read, from left to right."""
    openings = NextMark(text, _CALL)
    at = faults = 0
    while faults < MAX_FAULTS and (opening := openings.at(at)) >= 0:
        at = opening + len(_CALL)
        start = skip_space(text, at)
        if not _is_json(text, start):
            head = _HEAD.match(text, at)
            assert head is not None  # every part of it may be empty
            start = head.end()
        try:
            at = scan_json(text, start)[1]
        except JsonTextError:
            at = start
            faults += 1
        yield opening, at


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, offset: int, *, ended: bool) -> None:
        self._text, self._offset, self._ended = text, offset, ended
        self._openings = NextMark(text, _CALL)

    def pieces(self) -> Iterator[Piece]:
        at = faults = 0
        while faults < MAX_FAULTS and (opening := self._openings.at(at)) >= 0:
            yield self._text[at:opening]
            at = opening + len(_CALL)
            start = skip_space(self._text, at)
            if self._text.startswith("[", start) and _is_json(self._text, start):
                listed = CallList(self._text, start, self._openings, _BROKEN, _read_object, ended=self._ended)
                for found in listed.calls(self._offset, MAX_FAULTS - faults):
                    faults += type(found) is ParseError
                    yield found
                at = listed.end
            else:
                piece, at = self._one(at, start)
                faults += type(piece) is ParseError
                yield piece
        if faults < MAX_FAULTS:
            yield self._text[at:]

    def _one(self, at: int, start: int) -> tuple[ToolCall | ParseError, int]:
        """The call that is written there by itself, and where reading goes on."""
        text = self._text
        if text.startswith("{", start):
            name, id, body = "", None, start
        else:
            head = _HEAD.match(text, at)
            assert head is not None  # every part of it may be empty
            name, id, body = head["name"].rstrip(), _plain_id(head["id"]), head.end()
            broken: ParseErrorKind = "truncated" if body == len(text) else "malformed"
            if not name:
                return self._fault(broken, body, start, f"a call is written {_CALL}name{_ARGUMENTS}{{...}}")
            if head["separator"] and (text.startswith(_CALL, body) or (self._ended and body == len(text))):
                return call_or_error(name, {}, self._offset + start, id), body
            if not head["separator"] and not (text.startswith("{", body) and _PLAIN_NAME.fullmatch(name)):
                return self._fault(broken, body, start, f"{_ARGUMENTS} is missing behind the name of the tool")
        try:
            value, end = scan_json(text, body)
        except JsonTextError as error:
            message = f"the arguments of a call cannot be read: {error}"
            kind: ParseErrorKind = "truncated" if error.truncated else "malformed"
            return self._fault(kind, _BROKEN.leave(text, body), error.position, message)
        after = skip_space(text, end)
        if text.startswith(_NO_WORDS, after):
            message = f"there is more behind the end of a call; each call has a {_CALL} of its own"
            return self._fault("malformed", after, after, message)
        if not name:
            return _read_object(value, self._offset + start), end
        if type(value) is dict:  # nearly always
            return ToolCall.trusted(name=name, arguments=value, id=id), end
        return call_or_error(name, value, self._offset + start, id, trusted=True), end

    def _fault(self, kind: ParseErrorKind, at: int, position: int, message: str) -> tuple[ParseError, int]:
        """What is wrong with a call, all of which up to ``at`` is its own, and where reading goes on."""
        following = self._openings.at(at)
        if following >= 0 or self._ended:
            kind = "malformed"
        error = ParseError(kind=kind, position=self._offset + position, message=message)
        return error, following if following >= 0 else len(self._text)
