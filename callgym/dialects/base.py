"""What a dialect is: one way to write tool calls as text, and to show a conversation as text.

``parse`` and ``render_action`` are inverses on well-formed text. ``parse`` never raises: what cannot
be read becomes a ParseError, and a good call survives a bad neighbour. The prompt of an episode is
``render_prompt``; every later observation is appended to it, so that a conversation as text is always
the first prompt, then action, observation, action, observation, ... with nothing rewritten.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from callgym.call import ToolCall, ToolResult
from callgym.episode import ParseError
from callgym.json_value import copy_json, write_json
from callgym.message import Message
from callgym.tool import Tool

__all__ = ["Dialect", "ParsedAction", "call_or_error", "result_as_json", "split_reasoning"]

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


class Dialect(ABC):
    """One way of writing; see the module's docstring."""

    name: ClassVar[str]
    """The value of ``gym.make(..., dialect=...)``."""
    instructed_by: ClassVar[tuple[str, ...]] = ()
    """Benchmarks whose own opening and closing words were written for this dialect."""
    typed: ClassVar[bool] = True
    """False where values arrive as text and are read as the type that the tool's schema asks for."""

    @abstractmethod
    def parse(self, text: str) -> ParsedAction:
        """Read an action; linear in its length, raises nothing."""

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


NextCall = Callable[[str, int], tuple[int, int] | None]
"""Start and end of the first call at or after a position of a text, as far as it can be read; or None."""


def split_reasoning(text: str, next_call: NextCall) -> tuple[str, str, int]:
    """Set reasoning aside: no call in it is ever made.

    Reasoning is everything up to the first ``</think>``: where the template has written the opening tag
    already, the text does not begin with one. Without a ``</think>`` it is everything from an opening
    tag on, for the text broke off. A tag inside a call's argument is data.

    Returns:
        The reasoning, the rest, and the rest's position in ``text``.
    """
    if "think>" not in text:
        return "", text, 0
    close = _find_outside_calls(text, _THINK_CLOSE, next_call)
    if close >= 0:
        rest = close + len(_THINK_CLOSE)
        return text[:close].strip().removeprefix(_THINK_OPEN).strip(), text[rest:], rest
    opening = _find_outside_calls(text, _THINK_OPEN, next_call)
    if opening >= 0:
        return text[opening + len(_THINK_OPEN) :].strip(), text[:opening], 0
    return "", text, 0


def _find_outside_calls(text: str, tag: str, next_call: NextCall) -> int:
    """The first ``tag`` that is not inside a call, or -1; linear where ``next_call`` moves on."""
    found = text.find(tag)
    at = 0
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
    from callgym.dialects.json_text import JsonTextError, read_json

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
