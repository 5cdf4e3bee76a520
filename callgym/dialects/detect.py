"""Which dialect a model writes, from its chat template, or from something it has written.

    >>> detect_dialect(tokenizer)
    Detection(dialect='qwen3-coder', reason='its chat template writes <function= with <parameter=')

Templates are known by the marks that they write calls with, the more particular ones first: ``<tool_call>`` alone is
Hermes, with ``<arg_key>`` it is GLM. What a template says in comments is left out. An action is known by the first
opening of a call, see ``auto``.

Where nothing fits there is no error: the dialect is the empty text and the reason says why. Most templates write no
calls at all, and whoever asks goes on with a dialect of their own choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from callgym.errors import ConfigurationError

__all__ = ["Detection", "detect_dialect", "template_text"]


class Detection(NamedTuple):
    """What was found."""

    dialect: str
    """For ``get_dialect``; empty where no dialect fits."""
    reason: str
    """Why, as the rest of a sentence."""


class _Form(NamedTuple):
    """How templates of one kind write calls."""

    dialect: str
    marks: tuple[str, ...]
    """All of them stand in the template."""
    without: tuple[str, ...] = ()
    """None of them does."""


_FORMS = (
    _Form("harmony", ("<|channel|>", "commentary", "functions.")),
    _Form("kimi", ("<|tool_call_argument_begin|>",)),
    _Form("kimi", ("<|tool_calls_section_begin|>",)),
    _Form("deepseek", ("<｜tool▁sep｜>", "```json")),
    _Form("deepseek:v3.1", ("<｜tool▁sep｜>",)),
    _Form("mistral", ("[TOOL_CALLS]", "[ARGS]")),
    _Form("mistral:json", ("[TOOL_CALLS]",)),
    _Form("glm", ("<arg_key>", "<arg_value>")),
    _Form("qwen3-coder", ("<function=", "<parameter=")),
    _Form("anthropic", ("<invoke name=", "<parameter name=")),
    _Form("functionary", (">>>", "tool_calls")),
    _Form("xlam", ("single JSON array", "arguments")),
    _Form("xlam", ("ipython", '"arguments": '), ("[func_name1(",)),
    _Form("toolace", ("[func_name1(",)),
    _Form("llama3", ("ipython", '"parameters": ')),
    _Form("llama3", ("<|python_tag|>",)),
    _Form("hermes", ("<tool_call>",)),
    _Form("react", ("Action Input:",)),
)
"""The first that fits counts."""

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_EXPRESSION = re.compile(r"\{[%{]")
_TAKES_TOOLS = re.compile(r"\btools\b|\btool_calls\b")


def detect_dialect(source: Any) -> Detection:
    """The dialect of a model.

    Args:
        source: Its tokenizer (or anything with a ``chat_template``), the template's text, a mapping of names to
            templates (``tool_use`` before ``default``), or an action that it wrote. A text with Jinja expressions that
            speaks of ``messages`` is a template; any other is an action.

    Raises:
        ConfigurationError: It is none of these.
    """
    if isinstance(source, str) and not _is_template(source):
        from callgym.dialects.auto import detect_in_action  # which reads with every dialect

        return detect_in_action(source)
    return _of_template(template_text(source))


def template_text(source: Any) -> str:
    """The chat template that a conversation with tools goes through; the empty text where there is none.

    Args:
        source: A tokenizer or another object with a ``chat_template``, or what such an attribute holds: a text, a
            mapping of names to texts, or a list of ``{"name": ..., "template": ...}``.

    Raises:
        ConfigurationError: It is none of these.
    """
    found = source if isinstance(source, (str, Mapping, list)) else getattr(source, "chat_template", _NOTHING)
    if isinstance(found, list):
        found = {each.get("name"): each.get("template") for each in found if isinstance(each, Mapping)}
    if isinstance(found, Mapping):
        found = found.get("tool_use", found.get("default"))
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ConfigurationError(
            "a dialect is detected from a tokenizer, a chat template or an action's text, "
            f"not from {type(source).__name__}"
        )
    return found


_NOTHING = object()


def _is_template(text: str) -> bool:
    return "messages" in text and _EXPRESSION.search(text) is not None


def _of_template(template: str) -> Detection:
    if not template:
        return Detection("", "there is no chat template")
    text = _COMMENT.sub("", template)
    for form in _FORMS:
        if all(mark in text for mark in form.marks) and not any(mark in text for mark in form.without):
            return Detection(form.dialect, f"its chat template writes {' with '.join(form.marks)}")
    if _TAKES_TOOLS.search(text):
        return Detection("", "its chat template knows tools, but writes calls in no form that is a dialect here")
    return Detection("", "its chat template knows no tools")
