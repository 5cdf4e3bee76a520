"""Functionary: a message is ``>>>recipient``, a line break and its body, JSON for a tool, words for ``all``.

    >>>all
    Let me look.>>>find_tea
    {"kind": "green"}<|eot_id|>

The form is that of v3.2 (MeetKai's ``v3.llama3`` template): turns of Llama 3, results in the role ``tool``. The
template writes the first ``>>>`` itself, so an action begins with a recipient; it may also begin with ``>>>``, with
words, or with reasoning. Without ``>>>`` only ``all``, or a name with ``{`` on the next line, is a recipient: any
other text is words.

Arguments end where their JSON ends: ``>>>`` in a string is data, and words behind them are content. A second JSON
value behind them is an error. ``>>>name`` with nothing behind it broke off; before another ``>>>`` it means no
arguments. ``>>>`` before text that is no name alone on its line is words. Code is an error, for ``python`` or
behind ``<|python_tag|>``: nothing here would run it. The form has no end of its own beside the end of the turn, and
JSON that is whole is not missing one.

``functionary:v3.1`` writes the older ``<function=find_tea>{"kind": "green"}</function>``, which is read here as well.
A whole JSON object does not miss its end tag; text between the two is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from callgym.call import ToolCall
from callgym.dialects.base import Dialect, call_or_error, defuse
from callgym.dialects.broken_json import BrokenJson
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.llama_turns import END_OF_PLAIN, Found, LlamaTurnDialect
from callgym.dialects.plain_action import NAME, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.episode import ParseError, ParseErrorKind
from callgym.tool import Tool

__all__ = ["FunctionaryDialect", "write_arguments"]

_MARK, _TAG, _TAG_END = ">>>", "<function=", "</function>"
_ALL = "all"

_BLANK = r"[^\S\n]"
_RECIPIENT = (
    rf">>>(?:([^\s>]++){_BLANK}*+(?:\n|\Z)"
    rf"|{_BLANK}++(all(?={_BLANK}*+\n)|[^\s>]++(?={_BLANK}*+\n\s*+\{{)){_BLANK}*+\n"
    r"|(\s*+\Z))"
)
_NEXT = re.compile(rf"{_RECIPIENT}|<function=([^<>\n]*+)(>?)|(<\|python_tag\|>)")
"""Groups: a recipient; one behind blanks; where ``>>>`` is the end; the tag's name and its bracket; code."""
_FIRST = re.compile(rf"\s*+(?:(all){_BLANK}*+\n|(\w[^\s>`]*+(?<!:)){_BLANK}*+\n\s*+(?=\{{))")
_TAG_ENDS = re.compile(rf"{_TAG_END}|{_NEXT.pattern}")
_BROKEN = BrokenJson(rf"{_NEXT.pattern}|{_TAG_END}", tokens=False)
_LONG_MARK = re.compile(r">(?=>>)")
_HARMLESS = ("<|", ">>", _TAG, _TAG_END)
"""What is escaped in the arguments we write: no ``>>>`` is left where each ``>>`` is broken."""
_PLAIN = PlainForm(
    before=rf"\s*+(?:>>>)?+(?:all{_BLANK}*+\n(?P<words>[^<>]*+)>>>)?+",
    head=rf"(?!all\s)(?=\w){NAME}{_BLANK}*+\n\s*+",
    closing=r"\s*+",
    between=">>>",
    end=END_OF_PLAIN,
)

_INSTRUCTION = (
    "You may call these tools, one JSON document a line:\n{tools}\n"
    "A message is a recipient on a line of its own and what it is to get; {mark} stands before each recipient.\n"
    "For a tool, its name and the arguments as one JSON object:\n"
    '{mark}tool\n{{"parameter": "value"}}\n'
    "For the user, who reads words:\n"
    "{mark}all\nwords\n"
    "If no tool fits, write to all."
)


class FunctionaryDialect(LlamaTurnDialect):
    """Messages to recipients, behind ``>>>``."""

    name = "functionary"
    plain = _PLAIN
    options: ClassVar[Mapping[str, str]] = {"v3.1": "write <function=name>{...}</function>, as Functionary v3.1 does"}
    control = ("<|", _MARK, _TAG)
    cue = f"{LlamaTurnDialect.cue}{_MARK}"
    role: ClassVar[str] = "tool"
    """The role of results."""
    first: ClassVar[re.Pattern[str] | None] = _FIRST
    """How an action begins whose first ``>>>`` the template has written; None where it writes none."""

    def with_option(self, option: str) -> Dialect:
        """The dialect of Functionary v3.1.

        Raises:
            ConfigurationError: The option is another.
        """
        if option not in self.options:
            return super().with_option(option)
        from callgym.dialects.functionary_tags import FunctionaryTagDialect

        return FunctionaryTagDialect()

    def defused(self, text: str) -> str:
        """As in every dialect; of a run of ``>`` none are left that stand together in threes."""
        return _LONG_MARK.sub("> ", defuse(text, ("<|", _TAG)))

    def found(self, text: str, start: int, offset: int) -> Iterator[Found]:
        """Messages to tools, and the recipients of words."""
        at = start
        first = self.first.match(text, start) if self.first is not None else None
        if first is not None:
            recipient, body = first[1] or first[2], first.end()
            found = Found(start, body, ()) if first[1] else _read_message(text, start, recipient, body, offset)
            yield found
            at = found.end
        while (mark := _NEXT.search(text, at)) is not None:
            found = _read(text, mark, offset)
            yield found
            at = found.end

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words to ``all``, then a message a call; the first mark is the template's."""
        messages = [f"{self.defused(call.name)}\n{write_arguments(call)}" for call in calls]
        if content or not calls:
            messages.insert(0, f"{_ALL}\n{content}")
        return _MARK.join(messages)

    def turn(self, role: Literal["system", "user", "assistant"], content: str) -> str:
        """A turn; the policy's has the first mark."""
        return super().turn(role, f"{_MARK}{content}" if role == "assistant" else content)

    def results(self, answers: Sequence[Answer]) -> str:
        """A turn a result."""
        return "".join([f"{self.header(self.role)}{answer.text}{self.end}" for answer in answers])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents, defused, and the form of a message."""
        return _INSTRUCTION.format(tools=self.documents(tools), mark=_MARK)


def _read(text: str, mark: re.Match[str], offset: int) -> Found:
    start, end = mark.span()
    if mark[3] is not None:
        return _fault(start, end, "truncated", offset + start, f"the message breaks off behind {_MARK}")
    if mark[4] is not None:
        return _read_tag(text, mark, offset)
    if mark[6] is not None:
        message = "code is not run here; call a tool, with its arguments as JSON"
        return _fault(start, len(text), "malformed", offset + start, message)
    recipient = mark[1] or mark[2]
    if recipient == _ALL:
        return Found(start, end, ("\n",))
    return _read_message(text, start, recipient, end, offset)


def _read_message(text: str, start: int, name: str, body: int, offset: int) -> Found:
    """The message to a tool whose body begins at ``body``."""
    at = skip_space(text, body)
    if _NEXT.match(text, at):
        return Found(start, at, (ToolCall.trusted(name=name, arguments={}, id=None),))
    try:
        value, end = scan_json(text, at)
    except JsonTextError as error:
        return _read_broken(text, start, at, name, error, offset)
    after = skip_space(text, end)
    if text.startswith(("{", "[", '"'), after):
        message = f"the message to {name[:80]} is one JSON object; another value follows it"
        return _fault(start, _BROKEN.leave(text, after), "malformed", offset + after, message)
    return Found(start, end, (call_or_error(name, value, offset + at, trusted=True),))


def _read_tag(text: str, mark: re.Match[str], offset: int) -> Found:
    """The call in tags that opens there."""
    start, at = mark.start(), skip_space(text, mark.end())
    name = mark[4].strip()
    if not mark[5]:
        kind: ParseErrorKind = "truncated" if at == len(text) else "malformed"
        return _fault(start, mark.end(), kind, offset + mark.end(), f"'>' is missing behind {_TAG}name")
    if text.startswith(_TAG_END, at):
        return Found(start, at + len(_TAG_END), (call_or_error(name, {}, offset + start, trusted=True),))
    try:
        value, end = scan_json(text, at)
    except JsonTextError as error:
        return _read_broken(text, start, at, name, error, offset)
    found = Found(start, end, (call_or_error(name, value, offset + at, trusted=True),))
    after = skip_space(text, end)
    if text.startswith(_TAG_END, after):
        return found._replace(end=after + len(_TAG_END))
    if _TAG_END.startswith(text[after : after + len(_TAG_END)]):  # breaks off in the end tag, or before it
        return found._replace(end=len(text))
    close = _TAG_ENDS.search(text, after)
    if close is None or close.group() != _TAG_END:
        return found
    message = f"there is text between the JSON object and {_TAG_END}"
    return _fault(start, close.end(), "malformed", offset + after, message)


def _read_broken(text: str, start: int, at: int, name: str, error: JsonTextError, offset: int) -> Found:
    end = _BROKEN.leave(text, at)
    kind: ParseErrorKind = "truncated" if error.truncated and end == len(text) else "malformed"
    message = f"the arguments of {name[:80]} are no JSON object that can be read: {error}"
    if text.startswith(_TAG_END, end):
        end += len(_TAG_END)
    return _fault(start, end, kind, offset + error.position, message)


def write_arguments(call: ToolCall) -> str:
    """A call's arguments as JSON without marks of either form."""
    return write_body(call.arguments, _HARMLESS)


def _fault(start: int, end: int, kind: ParseErrorKind, position: int, message: str) -> Found:
    return Found(start, end, (ParseError(kind=kind, position=position, message=message),), whole=False)
