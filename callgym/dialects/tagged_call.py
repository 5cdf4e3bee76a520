"""Calls whose values stand as bare text between tags: ``<parameter=city>Oslo</parameter>``.

Nothing in a value is escaped, so a value may hold its own end tag. One rule says where it ends:

- at the first end tag behind which the call can go on, be it with another parameter, the call's own end or
  another call (``write </parameter> literally`` is kept whole);
- but earlier, where the end tag was forgotten, at what can only be the call's next tag, if the form has such and
  no other of its tags stands in between;
- and a value that would end inside a call that opens in it is refused: it was cut short, or runs into the next call.

What a value holds that ends it too early cannot be written; ``can_write`` says so. Whatever stands in a value
that is never closed is data: no call in it is made. A parameter's tag between one call and the next belongs to a
value that ended too early: that call is refused, never run without it.

A call is complete with its closing tag; before that it is ``truncated``. A fault costs one call: reading
goes on behind the next end of a call, or where another call opens outside a value. After ``MAX_FAULTS`` of them the
rest is not read.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction, Piece, collect, defuse, split_reasoning
from callgym.dialects.json_block import MAX_FAULTS
from callgym.dialects.literal import skip_space
from callgym.dialects.plain_tags import PlainTags
from callgym.dialects.turns import TurnDialect, write_body
from callgym.episode import ParseError, ParseErrorKind

__all__ = ["TaggedCalls", "TaggedDialect", "TaggedForm"]


class TaggedForm(NamedTuple):
    """How calls are written. No pattern may take more than linear time over a whole text."""

    shape: str
    """How a call is written, for messages."""
    opening: re.Pattern[str]
    """What opens a call. The one group that takes part is the tool's name; where none does, the opening is broken."""
    parameter: re.Pattern[str]
    """What opens a value; its group is the parameter's name."""
    value_end: re.Pattern[str]
    """An end tag behind which the call can go on."""
    closing: re.Pattern[str]
    """What ends a call."""
    block_end: re.Pattern[str]
    """What reading goes on behind after a fault."""
    leftover: re.Pattern[str]
    """Tags of parameters and ends, which cannot stand outside a call."""
    forgotten: re.Pattern[str] | None = None
    """What ends a value whose end tag was forgotten; the call goes on where it starts."""
    broken_off: re.Pattern[str] = re.compile(r"(?:<[^<>]*+)?+\Z")
    """What may stand at the end of the text in place of a parameter or a closing tag that breaks off."""
    on_lines: bool = False
    """Whether values stand on lines of their own: a line break is dropped at either end."""


class _NextMatch:
    """Where a pattern matches next, for a reader that goes from left to right; see ``NextMark``."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._from = len(text) + 1  # between there and the match there is no other
        self._match: re.Match[str] | None = None

    def at(self, position: int) -> re.Match[str] | None:
        if position < self._from or (self._match is not None and self._match.start() < position):
            self._from = position
            self._match = self._pattern.search(self._text, position)
        return self._match


class _Fault(Exception):
    """A call that cannot be read, from where on, and where reading goes on if that is known."""

    def __init__(self, message: str, position: int, *, in_value: bool = False, resume: int | None = None) -> None:
        super().__init__(message)
        self.position = position
        self.in_value = in_value
        self.resume = resume


class TaggedCalls:
    """The calls of one text, read from left to right."""

    def __init__(self, text: str, form: TaggedForm) -> None:
        """Prepare to read ``text``."""
        self._text = text
        self._form = form
        self._openings = _NextMatch(form.opening, text)
        self._value_ends = _NextMatch(form.value_end, text)
        self._block_ends = _NextMatch(form.block_end, text)
        self._leftovers = _NextMatch(form.leftover, text)
        self._forgotten = _NextMatch(form.forgotten, text) if form.forgotten is not None else None
        self._last_opened = (0, -1, -1)  # a value's start and end, and the last whole opening in it
        self._faults = 0

    def span(self, _text: str, at: int) -> tuple[int, int] | None:
        """Start and end of the next call as far as it can be read, for ``split_reasoning``."""
        opening = self._openings.at(at)
        if opening is None or self._faults == MAX_FAULTS:
            return None
        try:
            return opening.start(), self._scan(opening)[1]
        except _Fault as fault:
            self._faults += 1
            return opening.start(), fault.position

    def pieces(self, offset: int) -> Iterator[Piece]:
        """Words, calls and faults from left to right; ``offset`` is added to positions."""
        at = 0
        while (opening := self._openings.at(at)) is not None:
            yield self._text[at : opening.start()]
            try:
                call, at = self._scan(opening)
                self._require_nothing_left(at)
            except _Fault as fault:
                yield ParseError(kind=self._kind(fault), position=offset + fault.position, message=str(fault))
                self._faults += 1
                at = self._resume(fault) if self._faults < MAX_FAULTS else len(self._text)
            else:
                yield call
        yield self._text[at:]

    def _scan(self, opening: re.Match[str]) -> tuple[ToolCall, int]:
        text, form = self._text, self._form
        name = opening[opening.lastindex].strip() if opening.lastindex else ""
        at = skip_space(text, opening.end())
        if not name:
            raise _Fault(f"a call with the tool's name is missing here; it is written {form.shape}", at)
        arguments: dict[str, Any] = {}
        twice: tuple[str, int] | None = None
        while (closing := form.closing.match(text, at)) is None:
            parameter = form.parameter.match(text, at)
            key = parameter[1].strip() if parameter is not None else ""
            if parameter is None or not key:
                raise _Fault(f"here the call of {name[:80]!r} needs a parameter or its end: {form.shape}", at)
            if key in arguments and twice is None:
                twice = key, at
            arguments[key], at = self._value(parameter.end(), key)
            at = skip_space(text, at)
        if twice is not None:  # said only now, for what stands in the values behind it is data
            message = f"the call of {name[:80]!r} gives parameter {twice[0][:80]!r} twice"
            raise _Fault(message, twice[1], resume=closing.end())
        return ToolCall.trusted(name=name, arguments=arguments, id=None), closing.end()

    def _value(self, start: int, key: str) -> tuple[str, int]:
        """The value that starts there, and where its call goes on."""
        end, opening = self._value_ends.at(start), self._openings.at(start)
        tag = self._forgotten.at(start) if self._forgotten is not None else None
        if tag is not None and (opening is None or opening.start() > tag.start()):
            first = self._leftovers.at(start)
            if first is not None and first.start() == tag.start():
                return self._cut(start, tag.start()), tag.start()
        if end is None:
            message = f"the value of {key[:80]!r} is not closed, or text stands behind its end: {self._form.shape}"
            raise _Fault(message, start, in_value=True)
        if opening is not None and opening.start() < end.start() and self._ends_inside_a_call(start, end.start()):
            message = f"a call opens in the value of {key[:80]!r} and does not end in it: {self._form.shape}"
            raise _Fault(message, start, in_value=True)
        return self._cut(start, end.start()), end.end()

    def _cut(self, start: int, end: int) -> str:
        value = self._text[start:end]
        return value.removeprefix("\n").removesuffix("\n") if self._form.on_lines else value

    def _ends_inside_a_call(self, start: int, end: int) -> bool:
        if self._last_opened[1] != end or self._last_opened[0] > start:  # many openings may stand before one end
            opened = -1
            for opening in self._form.opening.finditer(self._text, start):  # no end: a lookahead is to see the text
                if opening.start() >= end:
                    break
                opened = opening.start() if opening.lastindex else opened
            self._last_opened = start, end, opened
        opened = self._last_opened[2]
        return opened >= start and self._form.closing.search(self._text, opened, end) is None

    def _require_nothing_left(self, at: int) -> None:
        leftover = self._leftover(at)
        if leftover is not None:
            message = f"{leftover[0]} stands behind the end of the call, in which a value may have ended too early"
            raise _Fault(message, leftover.start())

    def _leftover(self, at: int) -> re.Match[str] | None:
        """The next tag that cannot stand outside a call, if it stands before the next call."""
        leftover = self._leftovers.at(at)
        opening = self._openings.at(at) if leftover is not None else None
        return leftover if opening is None or leftover is None or leftover.start() < opening.start() else None

    def _kind(self, fault: _Fault) -> ParseErrorKind:
        if fault.in_value:
            breaks_off = self._block_ends.at(fault.position) is None
        else:
            breaks_off = self._form.broken_off.match(self._text, fault.position) is not None
        return "truncated" if breaks_off else "malformed"

    def _resume(self, fault: _Fault) -> int:
        if fault.resume is not None:
            return fault.resume
        opening = None if fault.in_value else self._openings.at(fault.position)
        at = self._behind_block(fault.position)
        if opening is not None and opening.start() < at:
            return opening.start()
        while (leftover := self._leftover(at)) is not None:  # of the same call
            at = self._behind_block(leftover.start())
        return at

    def _behind_block(self, at: int) -> int:
        end = self._block_ends.at(at)
        return len(self._text) if end is None else end.end()


class TaggedDialect(TurnDialect):
    """A dialect of turns whose calls are of a ``TaggedForm``."""

    typed: ClassVar[bool] = False
    form: ClassVar[TaggedForm]
    plain: ClassVar[PlainTags]
    """The same form as most calls have it."""
    stop: ClassVar[re.Pattern[str]]
    """What ends the policy's turn; nothing is read from there on."""
    turn_marks: ClassVar[tuple[str, ...]]
    """What no value can hold, for it would end or open a turn: it is broken up where a call is written."""
    escaped: ClassVar[tuple[str, ...]]
    """Marks that are escaped in lists and objects, which are written as JSON."""
    before_calls: ClassVar[str] = "\n"
    """What stands between words and the first call."""

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        return self.plain.read(text) or self.read_any(text)

    def read_any(self, text: str) -> ParsedAction:
        """As ``read``, tag by tag."""
        stop = self.stop.search(text)
        reasoning, rest, offset = self.split(text if stop is None else text[: stop.start()])
        return collect(TaggedCalls(rest, self.form).pieces(offset), reasoning)

    def split(self, text: str) -> tuple[str, str, int]:
        """The reasoning, the rest, and the rest's position."""
        return split_reasoning(text, TaggedCalls(text, self.form).span)

    def can_write(self, call: ToolCall) -> bool:
        """Whether the call is read back with its name and the very texts of its values, and nothing else is."""
        texts = {key: self.value_text(value) for key, value in call.arguments.items()}
        wanted = ToolCall.trusted(name=call.name, arguments=texts, id=None)
        return self.parse(self.render_action((call,))) == ParsedAction((wanted,))

    def value_text(self, value: Any) -> str:
        """A value as it stands between its tags: text as it is, anything else as JSON."""
        return value if isinstance(value, str) else write_body(value, self.escaped)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, then the calls."""
        if not calls:
            return content
        block = defuse(self.calls_text(calls), self.turn_marks)
        return f"{content}{self.before_calls}{block}" if content else block

    @abstractmethod
    def calls_text(self, calls: Sequence[ToolCall]) -> str:
        """One or more calls, as they stand behind the words."""
