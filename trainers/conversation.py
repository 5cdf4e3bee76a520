"""A conversation as token ids that only ever grows: what the model wrote is never tokenised again.

Trainers compute the loss on the very ids that were sampled. So a conversation is a list of ids with a
mask: 1 where the model chose the token, 0 where the environment did. Two ways to write what the
environment says: the tokenizer's chat template, where it takes tools, else the dialect's own text.

Neither lets a user, a tool or a document forge a turn, and nothing that the model writes reaches a template:
for each of its actions something harmless stands there, while the template writes what follows it.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from callgym.call import ToolCall, ToolResult
from callgym.dialects import Dialect, get_dialect
from callgym.dialects.chat_template import (
    ChatTemplate,
    contradiction,
    encode_text,
    no_tools,
)
from callgym.dialects.harmless import Harmless, marks_of
from callgym.dialects.turns import TurnDialect
from callgym.errors import ConfigurationError
from callgym.message import Message, assistant_chat, tool_chat
from callgym.tool import Tool

__all__ = ["ChatRenderer", "Conversation", "DialectChoice", "TextRenderer", "dialect_for", "make_renderer"]

_MARK = "@ACTION@"  # stands for the model's text while the template writes what follows it
_CLOSE = "</think>"
_NO_REASONING = re.compile(r"<think>\s*+</think>\s*+")


@dataclass
class Conversation:
    """The ids of one episode."""

    prompt_ids: list[int]
    """The first observation."""
    completion_ids: list[int] = field(default_factory=list)
    """Everything after it: the model's tokens and the environment's."""
    mask: list[int] = field(default_factory=list)
    """As long as ``completion_ids``: 1 for a token of the model, 0 for one of the environment."""
    logprobs: list[float | None] = field(default_factory=list)
    """As long as ``completion_ids``; 0 for the environment's tokens, empty where the generator has none. None is for a
    token that the generator could not score."""

    @property
    def ids(self) -> list[int]:
        """All ids: what the model reads before it writes again."""
        return self.prompt_ids + self.completion_ids

    def add_action(self, ids: Sequence[int], logprobs: Sequence[float | None] | None) -> None:
        """Append what the model sampled.

        Raises:
            ConfigurationError: The generator gave more or fewer log-probabilities than tokens.
        """
        if logprobs is not None:
            if len(logprobs) != len(ids):
                raise ConfigurationError(
                    f"the generator gave {len(logprobs)} log-probabilities for {len(ids)} tokens; each token has one"
                )
            self.logprobs += [0.0] * (len(self.completion_ids) - len(self.logprobs))  # behind an action of no tokens
            self.logprobs += logprobs
        self.completion_ids += ids
        self.mask += [1] * len(ids)

    def add_observation(self, ids: Sequence[int]) -> None:
        """Append what the environment says."""
        if self.logprobs:
            self.logprobs += [0.0] * len(ids)
        self.completion_ids += ids
        self.mask += [0] * len(ids)

    def leave_out(self) -> None:
        """Mark every token as the environment's: nothing is learned from this conversation."""
        self.mask = [0] * len(self.completion_ids)


class TextRenderer:
    """The dialect's own text, for tokenizers without a chat template that takes tools.

    What others say is harmless in the text already, as far as the dialect's own marks go. Tokens that the dialect
    never writes can only be theirs, and are broken up here.
    """

    def __init__(self, tokenizer: Any, dialect: Dialect | None = None) -> None:
        self._tokenizer = tokenizer
        self._end = dialect.end if isinstance(dialect, TurnDialect) else ""
        self._harmless = Harmless(_foreign_marks(tokenizer, dialect) if dialect is not None else (), tokenizer)

    def prompt(self, observation: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The ids of the first observation."""
        return encode_text(self._tokenizer, self._harmless.text(observation))

    def following(
        self,
        delta: str,
        messages: list[dict[str, Any]],
        new: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        ended: int | None,
    ) -> list[int]:
        """The ids of the observation after an action."""
        return _without(_encode(self._tokenizer, self._harmless.text(delta)), ended)

    def settled(self, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What later calls of ``following`` are given of an action and its answers: the same."""
        return new

    def opened(self, ids: Sequence[int]) -> str:
        """What the action after these ids begins with that they hold already: nothing."""
        return ""

    def lead(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        """What stands before an action without reasoning: nothing."""
        return ""

    def end_of_action(
        self, messages: list[dict[str, Any]], new: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> int:
        """The token that ends an action: the dialect's, where that is one token, else the tokenizer's."""
        return _first_special(self._tokenizer, self._end)


class ChatRenderer:
    """The tokenizer's chat template."""

    def __init__(self, template: ChatTemplate, dialect: Dialect | None = None) -> None:
        self._template = template
        self._tokenizer = template.tokenizer
        self._dialect = dialect

    def prompt(self, observation: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The ids of the templated messages, up to where the assistant writes."""
        return self._template.encode(self._render(messages, tools))

    def following(
        self,
        delta: str,
        messages: list[dict[str, Any]],
        new: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        ended: int | None,
    ) -> list[int]:
        """The ids of what the template writes after the assistant's text, up to where it writes again.

        Args:
            delta: Not used; the template writes from ``new``.
            messages: The conversation before the action: the first messages, then what ``settled`` gave.
            new: The action's message, then what came back.
            tools: The tools.
            ended: The token that the action ended with, which the template writes, too; None where it broke off.

        Raises:
            ConfigurationError: The template rewrites earlier turns, so ids cannot only grow.
        """
        ids = self._template.encode(self._behind(messages, new, tools))
        if ended is not None and ids and ids[0] != ended and _is_special(self._tokenizer, ids[0]):
            # Some templates end the last turn of all with another token than those before it.
            ended = ids[0] if self._ends_last_turn(ended) else ended
        return _without(ids, ended)

    def settled(self, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What later calls of ``following`` are given of an action and its answers: nothing of what the model wrote.

        Its words or calls could make the template fail: some refuse several calls in one turn, or their own marks.
        """
        if self._needs_calls(new):
            return [_calling(new[1:], "x"), *new[1:]]
        return [{"role": "assistant", "content": "."}, *new[1:]]

    def end_of_action(
        self, messages: list[dict[str, Any]], new: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> int:
        """The token that ends an action: the first that the template writes behind it, else the tokenizer's."""
        return _first_special(self._tokenizer, self._behind(messages, new, tools, cue=len(new) > 1))

    def opened(self, ids: Sequence[int]) -> str:
        """What the action after these ids begins with that they hold already: a tag that opens reasoning, if any."""
        return self._template.opened(self._tokenizer.decode(ids[-16:], clean_up_tokenization_spaces=False))

    def lead(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        """What the template writes before an action without reasoning, where it says that there is none."""
        before, mark = self._render(messages, tools), _unseen([*messages, *tools])
        head = self._spoken(messages, tools, mark).partition(mark)[0]
        written = head[len(before) :] if head.startswith(before) else ""
        if _CLOSE in written:
            return written
        return f"{_CLOSE}\n\n" if self._template.opened(before) else ""

    def check_growth(self) -> None:
        """Write a small conversation of several turns, to find out before a run whether the template lets it grow.

        Raises:
            ConfigurationError: The template rewrites earlier turns, or refuses what episodes are made of.
        """
        messages: list[dict[str, Any]] = [dict(_HELLO)]
        for new in _PROBES:
            self.following("", messages, new, [_PROBED.as_chat()], None)
            messages += self.settled(new)

    def _behind(
        self, messages: list[dict[str, Any]], new: list[dict[str, Any]], tools: list[dict[str, Any]], cue: bool = True
    ) -> str:
        """What the template writes behind the model's text."""
        before = self._render(messages, tools, cue=False)
        mark = _unseen([*messages, *new, *tools])
        if self._needs_calls(new):
            called = [*messages, _calling(new[1:], mark)]
            head = self._render(called, tools, cue=False)
            whole = self._render([*called, *new[1:]], tools, cue=cue)
            closing = head[head.rfind(mark) :]
            # A turn ends with a control token, and what is before it closes the call, which the model writes itself.
            end = max((closing.rfind(token) for token in marks_of(self._tokenizer)), default=-1)
            if end < 0 or not _goes_on(before, head) or not whole.startswith(head):
                raise self._rewrites(before, head)
            return whole[len(head) - len(closing) + end :]
        head, found, tail = self._spoken(messages, tools, mark, new[1:], cue=cue).partition(mark)
        # Between the two, the template opens the turn.
        if not found or not _goes_on(before, head):
            raise self._rewrites(before, head)
        return tail

    def _spoken(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        words: str,
        following: Sequence[dict[str, Any]] = (),
        cue: bool = False,
    ) -> str:
        return self._render([*messages, {"role": "assistant", "content": words}, *following], tools, cue=cue)

    def _needs_calls(self, new: Sequence[dict[str, Any]]) -> bool:
        return any(message["role"] == "tool" for message in new) and self._template.wants_calls_before_results

    def _ends_last_turn(self, ended: int) -> bool:
        behind = self._spoken([_HELLO], [], _MARK).partition(_MARK)[2]
        return self._template.encode(behind)[:1] == [ended]

    def _render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], cue: bool = True) -> str:
        return self._template.render(messages, tools, cue=cue, dialect=self._dialect)

    def _rewrites(self, before: str, head: str) -> ConfigurationError:
        return ConfigurationError(
            "this chat template is not prefix-preserving: with more turns it writes earlier ones "
            f"otherwise (expected ...{before[-60:]!r}, found ...{head[-60:]!r}). Several turns cannot be "
            "trained on with it; use a template that only appends, or remove tokenizer.chat_template "
            "to train on the dialect's own text."
        )


class DialectChoice(NamedTuple):
    """How calls are read, and what to say of it."""

    dialect: str | Dialect | None
    """None for the environment's own."""
    words: str
    """Empty where there is nothing to say."""


def make_renderer(
    tokenizer: Any, dialect: Dialect | None = None, *, template: ChatTemplate | None = None
) -> TextRenderer | ChatRenderer:
    """The renderer that fits the tokenizer; says so where its chat template is of no use.

    Args:
        tokenizer: The policy's tokenizer.
        dialect: How the policy writes calls.
        template: The tokenizer's template, where it was looked at already; then nothing is said.
    """
    found = ChatTemplate(tokenizer) if template is None else template
    if found.takes_tools:
        return ChatRenderer(found, dialect)
    if found.exists and template is None:
        warnings.warn(no_tools(found), stacklevel=2)
    return TextRenderer(tokenizer, dialect)


def dialect_for(template: ChatTemplate, given: str | Dialect | None) -> DialectChoice:
    """The dialect of a policy: the given one, else the one that its template writes, if that is known.

    Raises:
        ConfigurationError: There is no such dialect.
    """
    found, reason = template.detection
    if given is not None:
        return DialectChoice(given, contradiction(template, get_dialect(given)))
    if not found:
        return DialectChoice(None, "")
    return DialectChoice(found, f"no dialect was given; calls are read as {found!r}, for {reason}")


_HELLO = {"role": "user", "content": "Hello."}
_PROBED = Tool(
    name="look",
    description="Looks at a thing.",
    parameters={"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]},
)
_LOOK = ToolCall(name="look", arguments={"thing": "shelf"})
_PROBES = (
    # A call and its result; words and what the user says to them; a call, its result, and a fault found in the action.
    [assistant_chat(None, [_LOOK]), tool_chat("A jar.", _LOOK)],
    [assistant_chat("There is a jar.", []), {"role": "user", "content": "And now?"}],
    [assistant_chat(None, [_LOOK]), tool_chat("Two jars.", _LOOK), {"role": "user", "content": "That was no call."}],
    [assistant_chat("There are two.", []), {"role": "user", "content": "Thank you."}],
)


def _unseen(chats: Sequence[dict[str, Any]]) -> str:
    """A mark that stands in none of these."""
    said = repr(chats)
    marks = (f"{_MARK[:-1]}{number}{_MARK[-1]}" for number in itertools.count())
    return next(mark for mark in marks if mark not in said)


def _goes_on(before: str, head: str) -> bool:
    """Whether the template has left earlier turns as they were, but for saying of each that nothing was thought in it:
    some say that of the last turns only."""
    return _NO_REASONING.sub("", head).startswith(_NO_REASONING.sub("", before))


def _calling(answers: Sequence[dict[str, Any]], words: str) -> dict[str, Any]:
    """A turn that makes the calls whose results follow it, with these words for an argument."""
    calls = []
    for answer in answers:
        if answer["role"] == "tool":
            call = {"type": "function", "function": {"name": answer["name"], "arguments": {"words": words}}}
            calls.append({"id": answer["tool_call_id"], **call} if "tool_call_id" in answer else call)
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _foreign_marks(tokenizer: Any, dialect: Dialect) -> tuple[str, ...]:
    """The tokenizer's marks that the dialect never writes in a prompt or an answer."""
    tool = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
    call = ToolCall(name="look", id="look00000")
    said = [
        Message(role="system", content="Short."),
        Message(role="user", content="Look."),
        Message(role="assistant", content="I look.", tool_calls=(call,)),
        Message(role="tool", content="1", name="look", tool_call_id="look00000"),
        Message(role="assistant", content="One."),
        Message(role="user", content="Again."),
    ]
    written = [
        dialect.render_prompt(said, [tool]),
        dialect.render_results([call, call], [ToolResult(content=1), ToolResult(error="timeout", message="Late.")]),
        dialect.render_reply("Go on."),
        dialect.render_tools([tool]),
    ]
    text = "".join(written)
    return tuple(mark for mark in marks_of(tokenizer) if mark not in text)


def _encode(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _without(ids: list[int], ended: int | None) -> list[int]:
    """The ids without the token that the model wrote itself."""
    return ids[1:] if ended is not None and ids[:1] == [ended] else ids


def _first_special(tokenizer: Any, text: str) -> int:
    ids = _encode(tokenizer, text) if text else []
    end: int = ids[0] if ids and _is_special(tokenizer, ids[0]) else tokenizer.eos_token_id
    return end


def _is_special(tokenizer: Any, token: int) -> bool:
    known = getattr(tokenizer, "added_tokens_decoder", {})
    return token in tokenizer.all_special_ids or (token in known and bool(known[token].special))
