"""A conversation as token ids that only ever grows: what the model wrote is never tokenised again.

Trainers compute the loss on the very ids that were sampled. So a conversation is a list of ids with a
mask: 1 where the model chose the token, 0 where the environment did. Two ways to write what the
environment says: a tokenizer's chat template, where it has one, else the dialect's own text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from callgym.errors import ConfigurationError

__all__ = ["ChatRenderer", "Conversation", "TextRenderer", "make_renderer"]

_SENTINEL = "\u241fACTION\u241f"  # stands for the model's text while the template writes what follows it


@dataclass
class Conversation:
    """The ids of one episode."""

    prompt_ids: list[int]
    """The first observation."""
    completion_ids: list[int] = field(default_factory=list)
    """Everything after it: the model's tokens and the environment's."""
    mask: list[int] = field(default_factory=list)
    """As long as ``completion_ids``: 1 for a token of the model, 0 for one of the environment."""
    logprobs: list[float] = field(default_factory=list)
    """As long as ``completion_ids``; 0 for the environment's tokens, empty where the generator has none."""

    @property
    def ids(self) -> list[int]:
        """All ids: what the model reads before it writes again."""
        return self.prompt_ids + self.completion_ids

    def add_action(self, ids: Sequence[int], logprobs: Sequence[float] | None) -> None:
        """Append what the model sampled."""
        self.completion_ids += ids
        self.mask += [1] * len(ids)
        if logprobs is not None:
            self.logprobs += logprobs

    def add_observation(self, ids: Sequence[int]) -> None:
        """Append what the environment says."""
        if self.logprobs:
            self.logprobs += [0.0] * len(ids)
        self.completion_ids += ids
        self.mask += [0] * len(ids)


class TextRenderer:
    """The dialect's own text, for tokenizers without a chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def prompt(self, observation: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The ids of the first observation."""
        ids: list[int] = self._tokenizer(observation)["input_ids"]
        return ids

    def following(
        self,
        delta: str,
        messages: list[dict[str, Any]],
        new: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        ended_by_eos: bool,
    ) -> list[int]:
        """The ids of the observation after an action."""
        return _encode(self._tokenizer, delta, ended_by_eos)


class ChatRenderer:
    """The tokenizer's chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def prompt(self, observation: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The ids of the templated messages, up to where the assistant writes."""
        return _encode(self._tokenizer, self._render(messages, tools), False)

    def following(
        self,
        delta: str,
        messages: list[dict[str, Any]],
        new: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        ended_by_eos: bool,
    ) -> list[int]:
        """The ids of what the template writes after the assistant's text, up to where it writes again.

        Args:
            delta: Not used; the template writes from ``new``.
            messages: The conversation before the action.
            new: The action's message, then what came back.
            tools: The tools.
            ended_by_eos: Whether the action ended with the end token, which the template writes too.

        Raises:
            ConfigurationError: The template rewrites earlier turns, so ids cannot only grow.
        """
        before = self._render(messages, tools)
        stand_in = {"role": "assistant", "content": _SENTINEL}
        whole = self._render([*messages, stand_in, *new[1:]], tools)
        head, found, tail = whole.partition(_SENTINEL)
        if not found or head != before:
            raise ConfigurationError(
                "this chat template is not prefix-preserving: with more turns it writes earlier ones "
                f"otherwise (expected ...{before[-60:]!r}, found ...{head[-60:]!r}). Several turns cannot be "
                "trained on with it; use a template that only appends, or remove tokenizer.chat_template "
                "to train on the dialect's own text."
            )
        return _encode(self._tokenizer, tail, ended_by_eos)

    def _render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        # Templates concatenate contents; None, OpenAI's way to say "calls only", breaks strict ones.
        filled = [{**message, "content": message["content"] or ""} for message in messages]
        try:
            text: str = self._tokenizer.apply_chat_template(
                filled, tools=tools or None, add_generation_prompt=True, tokenize=False
            )
        except _template_error() as error:
            raise ConfigurationError(f"the tokenizer's chat template refuses this conversation: {error}") from error
        return text


def make_renderer(tokenizer: Any) -> TextRenderer | ChatRenderer:
    """The renderer that fits the tokenizer."""
    return ChatRenderer(tokenizer) if getattr(tokenizer, "chat_template", None) else TextRenderer(tokenizer)


def _template_error() -> type[Exception]:
    from jinja2 import TemplateError  # comes with transformers

    error: type[Exception] = TemplateError
    return error


def _encode(tokenizer: Any, text: str, ended_by_eos: bool) -> list[int]:
    if ended_by_eos and tokenizer.eos_token and text.startswith(tokenizer.eos_token):
        text = text[len(tokenizer.eos_token) :]
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids
