"""A dialect that also reads calls with small faults of notation, and says so: ``get_dialect("hermes:repair")``.

    >>> parsed = get_dialect("hermes:repair").parse('<tool_call>{"name": "add", "arguments": {"a": 1,}}</tool_call>')
    >>> parsed.calls[0].arguments, [(error.kind, error.position) for error in parsed.errors]
    ({'a': 1}, [('repaired', 47)])

The dialect itself reads first, and what it reads is left alone. Where it finds a fault of notation, one small edit
(``json_edits``) is made there and it reads again, as long as that brings it further. A call that can be read then is
made, and beside it stands an error of the kind ``repaired``: it counts as a fault of format, so that it is never worth
as much as the same call well written. A call that cannot, is what it was without the repair.

Never repaired: what breaks off, keys that occur twice, numbers that are none, arguments without names, and text that
opens a turn of somebody else's. The readings again are bounded in number and in length, and so is the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.dialects.base import Dialect, ParsedAction
from callgym.dialects.json_edits import EDITS, Edit, edits_at
from callgym.episode import ParseError
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["RepairingDialect"]

_MENDABLE = ("malformed", "arguments")
_MOST_EDITS_A_CALL = 8
_MOST_EDITS = 16
_MOST_LOOKS = 64
"""Times that a text is looked through for edits, or read again;"""
_MOST_CHARACTERS = 2**19
"""and how long the texts may be together. For the longest action that is sixteen times."""
_LIKE_THE_INNER = ("options", "signs", "control", "instructed_by", "typed")

_Known = dict[tuple[str, int], ParseError]
"""Errors by kind and position."""
_PROBE = "probe"
_PROBES = ("70109", "70111")
_BEHIND_VALUE = re.compile(r"[\s\]})\"'\\]*+(```|<[^<>\s]++>|\[[^\[\]\s]++\]|[^\s,:{}\[\]()\"'\\]\S*+)")


class RepairingDialect(Dialect):
    """Another dialect, and beside what that reads, its calls with small faults; see the module's docstring."""

    def __init__(self, inner: Dialect) -> None:
        """Read like ``inner``, and repair what it cannot read."""
        self.inner: Dialect = inner.inner if isinstance(inner, RepairingDialect) else inner
        """The dialect that reads and writes."""
        self.name = f"{self.inner.name}{',' if ':' in self.inner.name else ':'}repair"
        for attribute in _LIKE_THE_INNER:
            setattr(self, attribute, getattr(self.inner, attribute))

    def __getattr__(self, name: str) -> Any:
        """What only dialects of the inner one's kind have."""
        if name == "inner" or name.startswith("__"):  # not there yet, in a copy
            raise AttributeError(name)
        return getattr(self.inner, name)

    def read(self, text: str) -> ParsedAction:
        """Read an action, in several attempts where it is faulty."""
        parsed = self.inner.read(text)
        if any(error.kind in _MENDABLE for error in parsed.errors):
            return _Repair(self.inner, text, parsed).action()
        return parsed

    def can_write(self, call: ToolCall) -> bool:
        """As the inner dialect: what it writes is not there to be repaired."""
        return self.inner.can_write(call)

    def with_option(self, option: str) -> Dialect:
        """The inner dialect with the option, and still repairing.

        Raises:
            ConfigurationError: It has no such option.
        """
        return RepairingDialect(self.inner.with_option(option))

    def defused(self, text: str) -> str:
        """As the inner dialect."""
        return self.inner.defused(text)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """As the inner dialect."""
        return self.inner.render_action(calls, content)

    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """As the inner dialect."""
        return self.inner.render_prompt(messages, tools, instruction, cue)

    def render_results(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> str:
        """As the inner dialect."""
        return self.inner.render_results(calls, results)

    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """As the inner dialect."""
        return self.inner.join_results(calls, texts)

    def render_reply(self, content: str) -> str:
        """As the inner dialect."""
        return self.inner.render_reply(content)

    def render_tools(self, tools: Sequence[Tool]) -> str:
        """As the inner dialect."""
        return self.inner.render_tools(tools)

    def result_text(self, result: ToolResult) -> str:
        """As the inner dialect."""
        return self.inner.result_text(result)


class _Repair:
    """The repair of one action."""

    def __init__(self, dialect: Dialect, text: str, parsed: ParsedAction) -> None:
        self._dialect = dialect
        self._text = text
        self._parsed = self._first = parsed
        self._marks = _marks_of(_named(parsed.dialect) or dialect)
        self._edits: list[Edit] = []
        self._notes: list[ParseError] = []
        self._looks = 0
        self._characters = 0

    def action(self) -> ParsedAction:
        """The action with everything that could be repaired."""
        at = 0
        while at < len(self._parsed.errors) and len(self._edits) < _MOST_EDITS and self._may_look(self._text):
            if not self._mend(at):
                at += 1
        if not self._edits:
            return self._first
        known: _Known = {(error.kind, error.position): error for error in self._first.errors}
        errors = [self._in_original(error, known) for error in self._parsed.errors]
        errors = sorted([*errors, *self._notes], key=lambda error: error.position)
        return self._parsed._replace(errors=tuple(errors))

    def _mend(self, at: int) -> bool:
        """Edit the text at one error until a call can be read there; False where that does not work out."""
        text, parsed = self._text, self._parsed
        edits: list[Edit] = []
        while len(edits) < min(_MOST_EDITS_A_CALL, _MOST_EDITS - len(self._edits)):
            found = self._edit(text, parsed, at, edits)
            if found is None:
                return False
            edit, text, again = found
            edits.append(edit)
            if len(again.calls) > len(self._parsed.calls):
                self._note(edits)
                self._text, self._parsed = text, again
                self._edits += edits
                return True
            parsed = again
        return False

    def _edit(
        self, text: str, parsed: ParsedAction, at: int, edits: Sequence[Edit]
    ) -> tuple[Edit, str, ParsedAction] | None:
        """One edit at an error that brings the reader further: it, the text with it, and what is read there."""
        error = parsed.errors[at]
        if error.kind not in _MENDABLE:
            return None
        # Beside a comma that was put between two texts, quotes could as well have been meant as a part of one.
        quotes = not any("missing comma" in edit.names for edit in edits)
        self._count(text)
        for edit in edits_at(text, error.position, self._marks, quotes=quotes):
            if not self._may_look(text):
                return None
            edited = edit.applied(text)
            self._count(edited)
            again = self._dialect.read(edited)
            if not _keeps(again, parsed):
                continue
            if len(again.calls) > len(parsed.calls) or _is_further(again, edited, at, parsed, text):
                return edit, edited, again
        return None

    def _may_look(self, text: str) -> bool:
        return self._looks < _MOST_LOOKS and self._characters + len(text) <= _MOST_CHARACTERS

    def _count(self, text: str) -> None:
        self._looks += 1
        self._characters += len(text)

    def _note(self, edits: Sequence[Edit]) -> None:
        made = list(self._edits)
        done: list[str] = []
        for edit in edits:
            place = self._original(edit.position, made)
            done += [f"{name} at character {place} ({EDITS[name]})" for name in edit.names]
            made.append(edit)
        message = f"a call was read only after a repair, which counts as a fault: {'; '.join(done)}"
        position = self._original(edits[0].position, self._edits)
        self._notes.append(ParseError(kind="repaired", position=position, message=message))

    def _in_original(self, error: ParseError, known: _Known) -> ParseError:
        position = self._original(error.position, self._edits)
        found = known.get((error.kind, position))
        return found or ParseError(kind=error.kind, position=position, message=error.message)

    @staticmethod
    def _original(position: int, edits: Sequence[Edit]) -> int:
        """A position of the text after these edits, as it was before them."""
        for edit in reversed(edits):
            position = edit.before(position)
        return position


def _keeps(again: ParsedAction, parsed: ParsedAction) -> bool:
    """Whether what was whole before is still there: the calls, in their order, and the words, to which nothing of a
    broken call may be added."""
    following = iter(again.calls)
    has_all = all(any(call == other for other in following) for call in parsed.calls)
    return has_all and (again.content, again.dialect) == (parsed.content, parsed.dialect)


def _is_further(again: ParsedAction, edited: str, at: int, parsed: ParsedAction, text: str) -> bool:
    """Whether the fault is gone and the next one leaves less of the text unread."""
    if len(again.errors) > len(parsed.errors) or at >= len(again.errors) or again.errors[at].kind not in _MENDABLE:
        return False
    return len(edited) - again.errors[at].position < len(text) - parsed.errors[at].position


def _named(name: str) -> Dialect | None:
    from callgym.dialects import DIALECTS

    return DIALECTS.get(name)


@lru_cache(maxsize=64)
def _marks_of(dialect: Dialect) -> tuple[str, ...]:
    """What can stand behind a call, or open the next one: as the dialect itself writes two calls."""
    probes = [ToolCall(name=_PROBE, arguments={"value": int(probe)}) for probe in _PROBES]
    written = dialect.render_action(probes)
    marks = list(dialect.signs)
    for probe in _PROBES:
        found = _BEHIND_VALUE.match(written.partition(probe)[2])
        if found is not None:
            marks.append(found[1].partition(_PROBE)[0])
    return tuple(dict.fromkeys(filter(None, marks)))
