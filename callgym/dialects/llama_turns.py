"""Llama 3's turns: ``<|start_header_id|>role<|end_header_id|>``, an empty line, the words, ``<|eot_id|>``.

What stands in the policy's turn is the subclass's: it finds the calls from left to right. An end of the turn, or of
the reasoning, that stands in a call is data. After 50 faults, or 500 calls, the rest is not read.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple

from callgym.dialects.base import ParsedAction, Piece, collect, split_reasoning
from callgym.dialects.call_spans import CallSpans
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.literal import skip_space
from callgym.dialects.plain_action import PlainDialect
from callgym.episode import ParseError

__all__ = ["END_OF_MESSAGE", "END_OF_PLAIN", "Found", "LlamaTurnDialect"]

_END = "<|eot_id|>"
END_OF_MESSAGE = "<|eom_id|>"
"""What ends a turn that waits for the result of its calls, where the environment is said to be one of Python."""
_ENDS = (_END, END_OF_MESSAGE, "<|end_of_text|>")
END_OF_PLAIN = rf"\s*+(?:{'|'.join(map(re.escape, _ENDS))}|\Z)"
"""The end of a plain action, as a pattern."""
_THINK = "<think>"
_MAX_CALLS = 500


class Found(NamedTuple):
    """A call, or several in one piece of JSON, or an attempt at one, or a mark before words."""

    start: int
    """Where it starts, with its mark."""
    end: int
    """Where reading goes on."""
    pieces: Sequence[Piece]
    """What it gives."""
    whole: bool = True
    """Whether it was read to its end, so that what stands in it is data."""


class LlamaTurnDialect(PlainDialect):
    """A dialect in the turns of Llama 3."""

    begin = "<|begin_of_text|>"
    cue: ClassVar[str] = "<|start_header_id|>assistant<|end_header_id|>\n\n"
    end = _END

    @abstractmethod
    def found(self, text: str, start: int, offset: int) -> Iterable[Found]:
        """What is not words, from left to right.

        Args:
            text: The policy's turn, or what follows its reasoning.
            start: Where to begin; a call may stand there without a mark.
            offset: What to add to positions in this text.
        """

    def read_any(self, text: str) -> ParsedAction:
        """Read an action up to the end of its turn; see the module's docstring for what is understood."""
        spans = CallSpans(text, self._spans)
        said = _before_end(text, spans)
        reasoning, rest, offset = split_reasoning(said, spans.next)
        if offset and len(said) < len(text):  # behind reasoning a call may stand without a mark, and hold the end's
            behind = text[offset:]
            rest = _before_end(behind, CallSpans(behind, self._spans))
        return collect(self._pieces(rest, offset), reasoning)

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn with its header."""
        return f"{self.header(role)}{content}{_END}"

    def header(self, role: str) -> str:
        """What opens a turn."""
        return f"<|start_header_id|>{role}<|end_header_id|>\n\n"

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        start = skip_space(text, 0)  # reasoning may begin with a draft
        start = start + len(_THINK) if text.startswith(_THINK, start) else 0
        for found in _bounded(self.found(text, start, 0), text, 0):
            if found.whole:
                yield found.start, found.end

    def _pieces(self, text: str, offset: int) -> Iterator[Piece]:
        at = 0
        for found in _bounded(self.found(text, 0, offset), text, offset):
            if at < found.start:
                yield text[at : found.start]
            yield from found.pieces
            at = found.end
        yield text[at:]


def _before_end(text: str, spans: CallSpans) -> str:
    return min([spans.before(end)[0] for end in _ENDS], key=len)


def _bounded(everything: Iterable[Found], text: str, offset: int) -> Iterator[Found]:
    """What is found, as far as it is read."""
    calls = faults = 0
    for found in everything:
        calls += len(found.pieces)
        for piece in found.pieces:
            faults += type(piece) is ParseError
        if calls > _MAX_CALLS:
            message = f"more than {_MAX_CALLS} calls are too many for one action"
            fault = ParseError(kind="too_long", position=offset + found.start, message=message)
            kept = found.pieces[: len(found.pieces) - (calls - _MAX_CALLS)]
            yield Found(found.start, len(text), (*kept, fault), whole=False)
            return
        if faults >= MAX_FAULTS:
            yield found._replace(end=len(text))
            return
        yield found
