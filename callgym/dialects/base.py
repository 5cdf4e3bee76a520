"""What a dialect is: one way to write tool calls as text, and to show a conversation as text.

``parse`` and ``render_action`` are inverses on well-formed text. ``parse`` never raises: what cannot
be read becomes a ParseError, and a good call survives a bad neighbour. Reasoning is set aside first: no
call in it is made. A call that breaks off is ``truncated``, never completed and run. Text longer than
``MAX_LENGTH`` is refused unread; up to there reading is linear, and nothing is evaluated.

The prompt of an episode is ``render_prompt``; every later observation is appended to it, so that a
conversation as text is always the first prompt, then action, observation, action, observation, ... with
nothing rewritten. What users, tools and documents say is ``defused`` on the way, so that it cannot open a
turn of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from callgym.call import ToolCall, ToolResult
from callgym.dialects.json_text import JsonTextError, read_json
from callgym.episode import ParseError
from callgym.errors import ConfigurationError
from callgym.json_value import copy_json, write_json
from callgym.message import Message
from callgym.tool import Tool

__all__ = [
    "MAX_LENGTH",
    "Dialect",
    "NextMark",
    "ParsedAction",
    "Piece",
    "call_or_error",
    "collect",
    "defuse",
    "result_as_json",
    "split_reasoning",
]

MAX_LENGTH = 32_768
"""Longest action that is read, in characters; a longer one is refused unread."""
_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"


class ParsedAction(NamedTuple):
    """What one action says."""

    calls: tuple[ToolCall, ...] = ()
    """The calls that could be read, in order."""
    errors: tuple[ParseError, ...] = ()
    """Attempted calls that could not be read."""
    content: str = ""
    """The words beside calls and reasoning."""
    reasoning: str = ""
    """What stood between ``<think>`` and ``</think>``; never executed."""
    dialect: str = ""
    """The dialect it was read in, where ``auto`` chose it."""


Piece = str | ToolCall | ParseError
"""What an action is made of, from left to right: words, a call, an attempt that cannot be read."""


def collect(pieces: Iterable[Piece], reasoning: str = "") -> ParsedAction:
    """An action from its pieces, in order."""
    calls: list[ToolCall] = []
    errors: list[ParseError] = []
    words: list[str] = []
    for piece in pieces:
        if type(piece) is str:
            words.append(piece)
        elif type(piece) is ToolCall:
            calls.append(piece)
        elif type(piece) is ParseError:
            errors.append(piece)
    return ParsedAction(tuple(calls), tuple(errors), "".join(words).strip(), reasoning)


class NextMark:
    """Where a mark occurs next, for a reader that goes from left to right.

    Asking a text anew for a mark that it does not hold costs the whole text every time; here it costs it once.
    """

    def __init__(self, text: str, mark: str) -> None:
        self._text = text
        self._mark = mark
        self._found = -2  # not looked for yet

    def at(self, position: int) -> int:
        """The first occurrence at or after ``position``, which never goes back; or -1."""
        if self._found != -1 and self._found < position:
            self._found = self._text.find(self._mark, position)
        return self._found


class Dialect(ABC):
    """One way of writing; see the module's docstring."""

    name: str
    """The value of ``gym.make(..., dialect=...)``."""
    options: ClassVar[Mapping[str, str]] = {}
    """What may follow the name after a colon, ``"harmony:commentary"``, and what it does."""
    signs: ClassVar[tuple[str, ...]] = ()
    """Marks that stand in every action with a call, one of them at least, and in no other dialect's; where there are
    none, ``auto`` knows the dialect by other means."""
    control: ClassVar[tuple[str, ...]] = ()
    """Marks, or their beginnings, that could forge a turn or a result if a user's or a tool's text held them."""
    instructed_by: ClassVar[tuple[str, ...]] = ()
    """Benchmarks whose own opening and closing words were written for this dialect."""
    typed: ClassVar[bool] = True
    """False where values arrive as text and are read as the type that the tool's schema asks for."""

    def parse(self, text: str) -> ParsedAction:
        """Read an action; linear in its length, raises nothing."""
        if len(text) > MAX_LENGTH:
            message = f"the action has {len(text)} characters; at most {MAX_LENGTH} are read"
            return ParsedAction(errors=(ParseError(kind="too_long", position=MAX_LENGTH, message=message),))
        return self.read(text)

    @abstractmethod
    def read(self, text: str) -> ParsedAction:
        """As ``parse``, for a text of at most ``MAX_LENGTH`` characters."""

    def can_write(self, call: ToolCall) -> bool:
        """Whether an action that makes this call is read as a call of that tool without a fault.

        Not every form can carry every name and value: XML without escapes cannot carry its own end tags.
        """
        parsed = self.parse(self.render_action((call,)))
        return not parsed.errors and [found.name for found in parsed.calls] == [call.name]

    def with_option(self, option: str) -> Dialect:
        """The dialect with one of its ``options``.

        Raises:
            ConfigurationError: It has no such option.
        """
        known = ", ".join(self.options) or "none of its own"
        raise ConfigurationError(f"the dialect {self.name!r} has no option {option!r}; its options: {known}")

    def defused(self, text: str) -> str:
        """Text of users, tools and documents, made unable to open a turn: a space breaks up each mark in it."""
        return defuse(text, self.control)

    @abstractmethod
    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The action that makes these calls and says these words."""

    @abstractmethod
    def render_prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        instruction: str | None = None,
        cue: str | None = None,
    ) -> str:
        """A conversation as text that ends where the policy is to write.

        Args:
            messages: What was said so far.
            tools: The tools whose documentation opens the prompt.
            instruction: The benchmark's own opening words. Only the dialect they were written for
                uses them, in place of its own words and of system messages.
            cue: The benchmark's own closing words, in the same way.
        """

    def render_results(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> str:
        """What follows an action that made calls, up to where the policy writes again."""
        return self.join_results(calls, [self.result_text(result) for result in results])

    @abstractmethod
    def join_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> str:
        """As ``render_results``, from the texts that ``result_text`` gave."""

    @abstractmethod
    def render_reply(self, content: str) -> str:
        """What follows an action without calls when the user answers, or when it could not be read."""

    def add_reply(self, results: str, content: str) -> str:
        """What ``render_results`` gave, then the user's words: an action can make calls and hold a fault, too."""
        return results + self.render_reply(content)

    def render_tools(self, tools: Sequence[Tool]) -> str:
        """The documents of tools that exist from now on, for a user's turn in the middle of a conversation."""
        return "\n".join([write_json(tool.as_chat()["function"]) for tool in tools])

    def result_text(self, result: ToolResult) -> str:
        """A result as the content of a tool message."""
        return result_as_json(result)


def result_as_json(result: ToolResult) -> str:
    """The result's content as JSON; a failure as ``{"error": kind, "message": sentence}``."""
    if result.error is None:
        return write_json(result.content)
    return write_json({"error": result.error, "message": result.message})


def defuse(text: str, marks: Iterable[str]) -> str:
    """``text`` with a space behind the first character of every mark, so that none of them is left."""
    for mark in marks:
        while mark in text:  # a mark can overlap itself: ">>>>"
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
    return text


NextCall = Callable[[str, int], tuple[int, int] | None]
"""Start and end of the first call at or after a position of a text, as far as it can be read; or None."""


def split_reasoning(text: str, next_call: NextCall) -> tuple[str, str, int]:
    """Set reasoning aside: no call in it is ever made.

    Reasoning is everything up to the first ``</think>``: where the template has written the opening tag
    already, the text does not begin with one. Behind it, and without a ``</think>``, it is everything from an
    opening tag to the next closing one, or to the end of a text that broke off. A tag inside a call's
    argument is data.

    Returns:
        The reasoning, the rest, and the rest's position in ``text``. Blanks stand for reasoning in the middle of
        the rest, so that positions stay what they are.
    """
    if "think>" not in text:
        return "", text, 0
    close = _find_outside_calls(text, _THINK_CLOSE, next_call)
    if close >= 0:
        start = close + len(_THINK_CLOSE)
        reasoning, rest = text[:close].strip().removeprefix(_THINK_OPEN).strip(), text[start:]
        if _THINK_OPEN in rest:
            more, rest = _set_aside(text, start, next_call)
            reasoning = "\n".join(filter(None, [reasoning, *more]))
        return reasoning, rest, start
    opening = _find_outside_calls(text, _THINK_OPEN, next_call)
    if opening >= 0:
        return text[opening + len(_THINK_OPEN) :].strip(), text[:opening], 0
    return "", text, 0


def _set_aside(text: str, start: int, next_call: NextCall) -> tuple[list[str], str]:
    """Each piece of reasoning between tags behind ``start``, and the text from there with blanks in their places."""
    reasoning: list[str] = []
    kept: list[str] = []
    at = start
    while (opening := _find_outside_calls(text, _THINK_OPEN, next_call, at)) >= 0:
        inside = opening + len(_THINK_OPEN)
        close = _find_outside_calls(text, _THINK_CLOSE, next_call, inside)
        end = close + len(_THINK_CLOSE) if close >= 0 else len(text)
        reasoning.append(text[inside : close if close >= 0 else end].strip())
        kept += [text[at:opening], " " * (end - opening)]
        at = end
    return reasoning, "".join([*kept, text[at:]])


def _find_outside_calls(text: str, tag: str, next_call: NextCall, at: int = 0) -> int:
    """The first ``tag`` at or behind ``at`` that is not inside a call, or -1; linear where ``next_call`` moves on."""
    found = text.find(tag, at)
    while found >= 0:
        call = next_call(text, at)
        if call is None or call[0] > found:
            break
        at = call[1]
        if at > found:
            found = text.find(tag, at)
    return found


def call_or_error(
    name: Any, arguments: Any, position: int, id: Any = None, *, trusted: bool = False
) -> ToolCall | ParseError:
    """Build a call from parsed JSON, or say why it is none.

    Arguments are an object; none, or an empty text, means no arguments. A text that holds an object
    is unwrapped once. Anything else is an error. ``trusted`` says that the arguments were read by
    ``json_text``, which gives nothing but JSON values with finite numbers.
    """
    if trusted and type(arguments) is dict and type(name) is str and name:  # nearly every call
        return ToolCall.trusted(name=name, arguments=arguments, id=id if isinstance(id, str) else None)
    if not isinstance(name, str) or not name:
        return ParseError(kind="malformed", position=position, message="a call needs a 'name', the tool's name as text")
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments) if arguments.strip() else {}
        except JsonTextError as error:
            message = f"the arguments of {name[:80]} are text that is not JSON: {error}"
            return ParseError(kind="arguments", position=position, message=message)
    if type(arguments) is not dict:
        kind = "null" if arguments is None else type(arguments).__name__
        message = f"the arguments of {name[:80]} are a JSON object like {{}}, not a {kind}"
        return ParseError(kind="arguments", position=position, message=message)
    if not trusted:
        try:
            arguments = copy_json(arguments)
        except (TypeError, ValueError) as error:
            message = f"the arguments of {name[:80]!r} cannot be read: {error}"
            return ParseError(kind="arguments", position=position, message=message)
    return ToolCall.trusted(name=name, arguments=arguments, id=id if isinstance(id, str) else None)
