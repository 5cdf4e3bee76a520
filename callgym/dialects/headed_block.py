"""Calls whose name stands before their JSON: opening mark, head, separator, arguments, closing mark.

The end of a call is where its JSON ends, not the first closing mark. A closing mark that is missing behind a
whole JSON object is not missed: nothing more of the call could come. A fault costs one block: reading goes on
behind the next closing mark, or at the next opening one; after ``MAX_FAULTS`` of them the rest is not read.
Sections, the marks around all calls of an action, are set aside; one that opens and holds no call is a call that
was tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import NextMark, Piece, call_or_error
from callgym.dialects.broken_json import BrokenJson
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError, ParseErrorKind

__all__ = ["Head", "HeadedForm"]


class Head(NamedTuple):
    """What stands before a call's arguments."""

    name: str
    """The tool's name; empty where it is missing."""
    id: str | None
    """The call's id, where the form has ids."""
    body: int
    """Where the arguments begin."""


ReadHead = Callable[[str, int, int, int], Head | None]
"""From a text, where its head starts, where the separator stands and where the block ends at the latest: the head,
or None where it is not whole."""


class HeadedForm:
    """How such calls are marked; holds no state."""

    def __init__(
        self,
        opening: str,
        separator: str,
        closing: str,
        section: tuple[str, ...],
        section_end: tuple[str, ...],
        read_head: ReadHead,
        fence: str = "",
    ) -> None:
        """Describe the form.

        Args:
            opening: What a call opens with.
            separator: What ends its head, or parts it.
            closing: What it closes with.
            section: What may open a section of calls.
            section_end: What may close one.
            read_head: Reads a head.
            fence: What may stand between the arguments and ``closing``.
        """
        self.opening, self.separator, self.closing = opening, separator, closing
        self.section, self.section_end = section, section_end
        self.read_head, self.fence = read_head, fence
        self.starts = re.compile("|".join(map(re.escape, (opening, *section))))
        self.broken = BrokenJson(f"{re.escape(opening)}|{re.escape(closing)}", tokens=True)
        self.ends = re.compile("|".join(map(re.escape, (closing, *section_end))))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each call as far as it can be read, from left to right."""
        return _Blocks(text, self, 0, ended=False).spans()

    def pieces(self, text: str, offset: int, *, ended: bool) -> Iterator[Piece]:
        """The words, calls and faults of a text.

        Args:
            text: The policy's words and calls, reasoning set aside.
            offset: What to add to positions in it.
            ended: Whether the policy ended its turn there, so that nothing broke off.
        """
        return _Blocks(text, self, offset, ended=ended).pieces()


class _Blocks:
    """The blocks of one text, read from left to right."""

    def __init__(self, text: str, form: HeadedForm, offset: int, *, ended: bool) -> None:
        self._text, self._form, self._offset, self._ended = text, form, offset, ended
        self._openings, self._separators = NextMark(text, form.opening), NextMark(text, form.separator)
        self._closings = NextMark(text, form.closing)
        self._section_ends = [NextMark(text, mark) for mark in form.section_end]

    def spans(self) -> Iterator[tuple[int, int]]:
        at = faults = 0
        while faults < MAX_FAULTS and (opening := self._openings.at(at)) >= 0:
            head, at = self._head(opening)
            if head is not None:
                try:
                    at = scan_json(self._text, skip_space(self._text, head.body))[1]
                except JsonTextError:
                    at = head.body
                    faults += 1
            yield opening, at

    def pieces(self) -> Iterator[Piece]:
        at = faults = 0
        while faults < MAX_FAULTS and (start := self._form.starts.search(self._text, at)) is not None:
            yield self._words(at, start.start())
            piece: ToolCall | ParseError | None
            if start.group() == self._form.opening:
                piece, at = self._block(start.start())
            else:
                piece, at = self._section(start.end())
            if piece is not None:
                faults += type(piece) is ParseError
                yield piece
        if faults < MAX_FAULTS:
            yield self._words(at, len(self._text))

    def _words(self, start: int, end: int) -> str:
        """The words there, without marks that close something."""
        return self._form.ends.sub("", self._text[start:end]) if start < end else ""

    def _section(self, start: int) -> tuple[ParseError | None, int]:
        """Nothing where a section holds a call, else what is wrong; and where reading goes on."""
        form, text = self._form, self._text
        at = skip_space(text, start)
        if text.startswith(form.opening, at):
            return None, at
        if not self._ended and form.opening.startswith(text[at : at + len(form.opening)]):
            return self._error("truncated", start, "the calls break off before the first"), len(text)
        following = form.starts.search(text, at)
        ends = [found for mark in self._section_ends if (found := mark.at(at)) >= 0]
        ends.append(following.start() if following is not None else len(text))
        return self._error("malformed", start, f"a call begins with {form.opening}, and none is here"), min(ends)

    def _head(self, opening: int) -> tuple[Head | None, int]:
        """The head of the block that opens there, or None; and where the head starts."""
        start = opening + len(self._form.opening)
        separator, limit = self._separators.at(start), self._limit(start)
        if separator < 0 or separator > limit:
            return None, start
        return self._form.read_head(self._text, start, separator, limit), start

    def _limit(self, at: int) -> int:
        """Where the block ends that is being read, at the latest."""
        close, following = self._closings.at(at), self._openings.at(at)
        if close < 0 or 0 <= following < close:
            return following if following >= 0 else len(self._text)
        return close

    def _block(self, opening: int) -> tuple[ToolCall | ParseError, int]:
        form, text = self._form, self._text
        head, start = self._head(opening)
        if head is None:
            message = f"what stands before a call's arguments is not whole: {form.opening}name{form.separator}{{...}}"
            return self._fault(start, start, message, broke_off=True)
        at = skip_space(text, head.body)
        after = self._behind_fence(at)
        if text.startswith(form.closing, after):
            return self._call(head, {}, start), after + len(form.closing)
        try:
            value, end = scan_json(text, at)
        except JsonTextError as error:
            message = f"the arguments of {head.name[:80]} cannot be read: {error}"
            return self._fault(form.broken.leave(text, at), error.position, message, broke_off=error.truncated)
        after = self._behind_fence(end)
        if text.startswith(form.closing, after):
            return self._call(head, value, start), after + len(form.closing)
        if after == len(text) or text.startswith((form.opening, *form.section, *form.section_end), after):
            return self._call(head, value, start), after
        message = f"there is text between the arguments and {form.closing}"
        return self._fault(after, after, message, broke_off=False)

    def _behind_fence(self, at: int) -> int:
        """Behind the white space there, and the fence where there is one."""
        at = skip_space(self._text, at)
        fence = self._form.fence
        return skip_space(self._text, at + len(fence)) if fence and self._text.startswith(fence, at) else at

    def _call(self, head: Head, arguments: object, position: int) -> ToolCall | ParseError:
        if not head.name:
            return self._error("malformed", position, "a call needs the tool's name before its arguments")
        if type(arguments) is dict:  # nearly always
            return ToolCall.trusted(name=head.name, arguments=arguments, id=head.id)
        return call_or_error(head.name, arguments, self._offset + position, head.id, trusted=True)

    def _fault(self, at: int, position: int, message: str, *, broke_off: bool) -> tuple[ParseError, int]:
        """What is wrong with a block, all of which up to ``at`` is its own, and where reading goes on."""
        close, following = self._closings.at(at), self._openings.at(at)
        if broke_off and close < 0 and following < 0 and not self._ended:
            return self._error("truncated", position, message), len(self._text)
        ends = [end for end in (close + len(self._form.closing) if close >= 0 else -1, following) if end >= 0]
        return self._error("malformed", position, message), min(ends, default=len(self._text))

    def _error(self, kind: ParseErrorKind, position: int, message: str) -> ParseError:
        return ParseError(kind=kind, position=self._offset + position, message=message)
