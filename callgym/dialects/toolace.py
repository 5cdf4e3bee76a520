"""ToolACE: ``[Get Weather(city="Oslo"), news/list(limit=3)]``, a list of calls in the turns of Llama 3.

The form is that of the data set Team-ACE/ToolACE and of the models ToolACE-8B, -2 and -2.5, which were trained from
Llama 3.1 Instruct; BFCL runs them with Llama's headers and without its tool template. Calls are Python's but for the
tools' names, which stand as they are, blanks and all: see ``toolace_call``.

What is read, beyond a list that is the whole action:

- Lists anywhere in the text, if their first call is one without doubt: a name without blanks right before the
  parenthesis, or arguments in it. At the start of a line any parenthesis right behind a name is one, and one behind a
  blank if arguments follow. Fences are dropped; other text is content.
- Calls without brackets, where they are the whole text and their names have no blanks.
- Values as in ``python_value``: literals of Python or JSON, nothing that would have to be evaluated.

A fault costs one call: ``arguments`` where an argument has no name, is no literal or is given twice, otherwise
``malformed``. Where quotes or brackets do not match, what follows may be part of a value, and none of it is read. A
call in a list is made only if a comma or the closing bracket follows it; what breaks off before is ``truncated``.

Results are shown as the data set's tool turns are, ``[{"name": ..., "results": ...}]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, Piece
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.json_text import JsonTextError, read_json
from callgym.dialects.literal import skip_space
from callgym.dialects.llama_turns import Found, LlamaTurnDialect
from callgym.dialects.plain_calls import read_plain_calls
from callgym.dialects.toolace_call import ARGUMENTS, NAME, NAMED, QUOTED, WORD, read_call, write_call
from callgym.dialects.turns import Answer
from callgym.episode import ParseError
from callgym.tool import Tool

__all__ = ["ToolAceDialect"]

_MAX_CALLS = 1_000
_MAX_PLAIN_CALLS = 100
"""A list of more is read call by call, for there are limits."""

_OPENING = re.compile(
    rf"\[\s*+(?=(?:{WORD}|{QUOTED})\(|{NAME}\({ARGUMENTS})"
    rf"|^[^\S\n]*+\[\s*+(?={NAME}(?:\(|\x20\(\s*+{NAMED}))",
    re.DOTALL | re.MULTILINE,
)
_PROMISING = re.compile(rf"(?:{NAME}\x20?|{QUOTED})\(\s*+(?:\)|\*\*|{NAMED})", re.DOTALL)
"""A call that does not fail at its first argument already."""
_BARE = re.compile(rf"(?:{WORD}|{QUOTED})\({ARGUMENTS}", re.DOTALL)
_FENCE = re.compile(r"\s*+(?:```(?:[\w+-]{0,20}[^\S\n]*+\n)?+\s*+)?+")
_EMPTY_FENCE = re.compile(r"```(?:[\w+-]{0,20}[^\S\n]*+\n)?\s*+```|(?<!`)`\s*+`(?!`)")
_EMPTY_LIST = re.compile(r"\[\s*+\]")

_INSTRUCTION = (
    "You may call these functions, which are listed as JSON:\n{tools}\n"
    "To call some of them, answer with a list of calls and nothing else, every argument by name:\n"
    '[Function Name(parameter="value", other_parameter=2), another_function()]\n'
    "Names are written as they stand above. Text stands in quotes; numbers, True, False, None, lists and dicts are "
    "written as in Python.\n"
    "If none of them does what is asked, or a value that one requires was never given, say so in words."
)


class ToolAceDialect(LlamaTurnDialect):
    """Lists of calls with names of any kind."""

    name = "toolace"
    control = ("<|",)

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        calls = read_plain_calls(text)
        if calls is None or len(calls) > _MAX_PLAIN_CALLS:
            return self.read_any(text)
        return ParsedAction(calls)

    def read_any(self, text: str) -> ParsedAction:
        """As ``read``, call by call."""
        parsed = super().read_any(text)
        return parsed._replace(content=_without_fences(parsed.content)) if parsed.content else parsed

    def found(self, text: str, start: int, offset: int) -> Iterator[Found]:
        """Lists of calls; where there is none, calls that are all there is."""
        opening = _OPENING.search(text, start)
        if opening is None:
            yield from _read_bare(text, start, offset)
        while opening is not None:
            # One that fails at its first argument may be words: then what stands in it is not data.
            promising = _PROMISING.match(text, opening.end())
            pieces, end = _read_list(text, opening.end(), offset)
            yield Found(opening.start(), end, pieces, whole=promising is not None)
            opening = _OPENING.search(text, end)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The list, after the words if there are any."""
        if not calls:
            return content
        written = f"[{', '.join(map(write_call, calls))}]"
        return f"{content}\n{written}" if content else written

    def results(self, answers: Sequence[Answer]) -> str:
        """One turn of the role ``ipython`` with a list of all results."""
        shown = [f'{{"name": {json.dumps(answer.name)}, "results": {_as_json(answer.text)}}}' for answer in answers]
        return f"{self.header('ipython')}[{', '.join(shown)}]{self.end}"

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents in one list, and the form of a call."""
        documents = [tool.as_chat()["function"] for tool in tools]
        return _INSTRUCTION.format(tools=self.defused(json.dumps(documents, ensure_ascii=False)))


def _read_list(text: str, at: int, offset: int) -> tuple[list[Piece], int]:
    """The calls and faults up to the closing bracket, and where reading goes on."""
    pieces: list[Piece] = []
    faults = 0
    while faults < MAX_FAULTS and len(pieces) <= _MAX_CALLS:
        piece, end = read_call(text, at, offset)
        following = len(text) if end < 0 else skip_space(text, end)
        mark = text[following : following + 1]
        if type(piece) is ToolCall and mark not in (",", "]"):
            piece = _unfollowed(text, following, offset)
        faults += type(piece) is ParseError
        pieces.append(piece)
        if mark not in (",", "]"):
            return pieces, following
        at = skip_space(text, following + 1)
        if mark == "]":
            return pieces, following + 1
        if text.startswith("]", at):
            return pieces, at + 1
    return pieces, len(text)


def _unfollowed(text: str, position: int, offset: int) -> ParseError:
    """The fault of a call in a list that neither goes on nor ends behind it."""
    if position >= len(text):
        return ParseError(kind="truncated", position=offset + position, message="']' is missing at the end")
    message = f"',' or ']' belongs before {text[position : position + 20]!r}"
    return ParseError(kind="malformed", position=offset + position, message=message)


def _read_bare(text: str, start: int, offset: int) -> Iterator[Found]:
    """Calls that are the whole text, fences aside; nothing where it is words."""
    fence = _FENCE.match(text, start)
    assert fence is not None
    at, stop = fence.end(), len(text.rstrip().removesuffix("```").rstrip())
    pieces: list[Piece] = []
    faults = 0
    while at < stop and faults < MAX_FAULTS and len(pieces) <= _MAX_CALLS:
        if _BARE.match(text, at) is None:
            return
        piece, end = read_call(text, at, offset)
        pieces.append(piece)
        faults += type(piece) is ParseError
        at = skip_space(text, end)
        if end < 0 or text.startswith("<|", at):
            break
        if text.startswith((",", ";"), at):
            at = skip_space(text, at + 1)
        elif at < stop and "\n" not in text[end:at]:
            return
    if pieces:
        yield Found(start, len(text), pieces)


def _without_fences(words: str) -> str:
    """The words beside lists, without the fences those stood in."""
    content = _EMPTY_FENCE.sub("", words).strip() if "`" in words else words
    return "" if _EMPTY_LIST.fullmatch(content) else content


def _as_json(text: str) -> str:
    """A result's text if it is JSON, else that text as JSON."""
    try:
        read_json(text)
    except JsonTextError:
        return json.dumps(text, ensure_ascii=False)
    return text
