"""BFCL's 26 prompt formats: how calls are asked for, how functions are documented, how the prompt is laid out.

    >>> PromptFormat.parse("ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic")
    PromptFormat(ret_fmt='json', tagged=True, doc_fmt='xml', prompt_fmt='plaintext', style='classic')

Structure and order are those of ``bfcl-eval`` 2026.3.23. The words are our own; ``PromptWording.from_source`` takes
the official ones, and then the system prompts are the official ones to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from callgym.envs.bfcl.documents import DocumentFormat, documents_for_inference, write_documents
from callgym.errors import ConfigurationError, DataError

__all__ = [
    "DEFAULT_FORMAT",
    "FORMATS",
    "OWN_WORDING",
    "PromptFormat",
    "PromptWording",
    "StyleWording",
    "documents_for_inference",
    "system_prompt",
]

CallFormat = Literal["python", "json", "verbose_xml", "concise_xml"]
Layout = Literal["plaintext", "markdown"]
Style = Literal["classic", "experimental"]

_CONFIG = re.compile(
    rf"ret_fmt=({'|'.join(get_args(CallFormat))})&tool_call_tag=(True|False)"
    rf"&func_doc_fmt=({'|'.join(get_args(DocumentFormat))})"
    rf"&prompt_fmt=({'|'.join(get_args(Layout))})&style=({'|'.join(get_args(Style))})"
)


@dataclass(frozen=True, slots=True)
class PromptFormat:
    """One way to ask for calls."""

    ret_fmt: CallFormat = "python"
    """How calls are written."""
    tagged: bool = False
    """Whether they stand between ``<TOOLCALL>`` and ``</TOOLCALL>``."""
    doc_fmt: DocumentFormat = "json"
    """How the functions are documented."""
    prompt_fmt: Layout = "plaintext"
    """How the parts of the prompt are laid out."""
    style: Style = "classic"
    """Which words it has."""

    @classmethod
    def parse(cls, config: str) -> PromptFormat:
        """The format of an official configuration, as it stands in the ids of ``format_sensitivity``.

        Raises:
            ConfigurationError: It is none.
        """
        found = _CONFIG.fullmatch(config)
        if found is None:
            raise ConfigurationError(f"{config[:200]!r} is no prompt format; one looks like {DEFAULT_FORMAT}")
        values: Any = found.groups()
        ret_fmt, tagged, doc_fmt, prompt_fmt, style = values
        return cls(ret_fmt, tagged == "True", doc_fmt, prompt_fmt, style)

    @property
    def config(self) -> str:
        """The official configuration, ``parse``'s inverse."""
        return (
            f"ret_fmt={self.ret_fmt}&tool_call_tag={self.tagged}&func_doc_fmt={self.doc_fmt}"
            f"&prompt_fmt={self.prompt_fmt}&style={self.style}"
        )

    def __str__(self) -> str:
        return self.config


DEFAULT_FORMAT = PromptFormat()
"""What every category but ``format_sensitivity`` is asked in."""

FORMATS: tuple[PromptFormat, ...] = (
    *(
        PromptFormat(ret_fmt, tagged, doc_fmt)
        for ret_fmt in get_args(CallFormat)
        for tagged in (True, False)
        for doc_fmt in get_args(DocumentFormat)
    ),
    PromptFormat(prompt_fmt="markdown"),
    PromptFormat(style="experimental"),
)
"""The 26 of ``format_sensitivity``, in the official order."""


@dataclass(frozen=True, slots=True)
class StyleWording:
    """The words of one style; the names in braces are filled in."""

    persona: str
    """Who the model is."""
    task: str
    """What it is to do, also where no function fits or a value is missing."""
    calls: str
    """How to write calls: ``{output_format}``, ``{param_types}``."""
    tagged_calls: str
    """The same between tags."""
    turns: str
    """When a turn of several steps is over."""
    tools: str
    """What introduces the documents: ``{format}``, ``{functions}``."""


@dataclass(frozen=True, slots=True)
class PromptWording:
    """All words of the system prompts."""

    styles: Mapping[str, StyleWording]
    output_formats: Mapping[str, str]
    """An example of each way to write calls."""
    param_types: Mapping[str, str]
    """For each, what to say of the types that have to be named."""
    layouts: Mapping[str, str]
    """Both layouts: ``{persona}``, ``{task}``, ``{tool_call_format}``, ``{multiturn_behavior}``,
    ``{available_tools}``."""

    @classmethod
    def from_source(cls, constants: Mapping[str, Any]) -> PromptWording:
        """The official words.

        Args:
            constants: The constants of ``bfcl_eval/constants/default_prompts.py`` by name, as ``callgym fetch bfcl``
                writes them to ``prompts.json``.

        Raises:
            DataError: A constant is missing, or is not what it is in 2026.3.23.
        """
        styles = _texts(constants, "PROMPT_STYLE_TEMPLATES", get_args(Style))
        return cls(
            styles={name: _style(f"PROMPT_STYLE_TEMPLATES.{name}", style) for name, style in styles.items()},
            output_formats=_texts(constants, "OUTPUT_FORMAT_MAPPING", get_args(CallFormat), str),
            param_types=_texts(constants, "PARAM_TYPE_MAPPING", get_args(CallFormat), str),
            layouts=_texts(constants, "PROMPT_TEMPLATE_MAPPING", get_args(Layout), str),
        )


def system_prompt(
    prompt_format: PromptFormat, functions: Sequence[Mapping[str, Any]], wording: PromptWording | None = None
) -> str:
    """The system prompt that documents these functions and asks for calls in this format.

    A system message of the question follows it after a blank line, officially.

    Args:
        prompt_format: The format.
        functions: The documents as they are to be shown; see ``documents_for_inference``.
        wording: The words; our own by default.

    Raises:
        DataError: A text of ``wording`` has a name in braces that means nothing there.
    """
    words = wording or OWN_WORDING
    style = words.styles[prompt_format.style]
    documents = write_documents(functions, prompt_format.doc_fmt)
    return _fill(
        words.layouts[prompt_format.prompt_fmt],
        persona=style.persona,
        task=style.task,
        tool_call_format=_fill(
            style.tagged_calls if prompt_format.tagged else style.calls,
            output_format=words.output_formats[prompt_format.ret_fmt],
            param_types=words.param_types[prompt_format.ret_fmt],
        ),
        multiturn_behavior=style.turns,
        available_tools=_fill(style.tools, format=prompt_format.doc_fmt, functions=documents),
    )


_PLACE = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def _fill(template: str, **values: str) -> str:
    """Put values in the place of their names in braces; doubled braces are braces."""

    def replace(place: re.Match[str]) -> str:
        name = place[1]
        if name is None:
            return place[0][0]
        if name not in values:
            raise DataError(f"a prompt's text has {place[0]}, where there are: {', '.join(values)}")
        return values[name]

    return _PLACE.sub(replace, template)


def _texts(constants: Any, name: str, keys: Sequence[str], kind: type = dict) -> dict[str, Any]:
    """The constant of that name: one value of ``kind`` for each key."""
    found = constants.get(name) if isinstance(constants, Mapping) else None
    if not isinstance(found, Mapping):
        raise DataError(f"the official wording lacks {name}; fetch it again: callgym fetch bfcl")
    for key in keys:
        if not isinstance(found.get(key), kind):
            raise DataError(f"the official wording's {name} has no {key!r}; fetch it again: callgym fetch bfcl")
    return {key: found[key] for key in keys}


_STYLE_KEYS = ("persona", "task", "tool_call_no_tag", "tool_call_with_tag", "multiturn_behavior", "available_tools")


def _style(name: str, texts: Mapping[str, Any]) -> StyleWording:
    return StyleWording(*_texts({name: texts}, name, _STYLE_KEYS, str).values())


_TYPES = " The type that goes with a value is string, integer, float, boolean, array, dict or tuple."

OWN_WORDING = PromptWording(
    styles={
        "classic": StyleWording(
            persona="You turn requests into calls of functions.",
            task=(
                "You get a request and the documents of some functions. Work out which calls do what is asked for, one "
                "or several. Say so if none of the functions can do it, and also if the request leaves out a value "
                "that a function requires."
            ),
            calls=(
                "If you call functions, reply with the calls alone, written like this:\n{output_format}\n"
                "No other text may stand beside them.{param_types}"
            ),
            tagged_calls=(
                "If you call functions, reply with the calls alone, between tags and written like this:\n"
                "<TOOLCALL>{output_format}</TOOLCALL>\nNo other text may stand beside them.{param_types}"
            ),
            turns=(
                "A conversation can have several turns. In each of them go on calling functions until what the user "
                "asked for in it is done, as far as you can do it; a reply without a call ends the turn."
            ),
            tools="The functions, as {format}:\n{functions}\n",
        ),
        "experimental": StyleWording(
            persona="Your replies are function calls that a program reads.",
            task=(
                "Below are a user's request and the functions that exist. Write the call or calls that carry it out. "
                "Where no function is suitable, or a required argument is not known, state that instead."
            ),
            calls="Nothing but calls belongs in the reply. Their exact form:\n{output_format}{param_types}",
            tagged_calls=(
                "Nothing but calls in TOOLCALL tags belongs in the reply. Their exact form:\n"
                "<TOOLCALL>{output_format}</TOOLCALL>{param_types}"
            ),
            turns=(
                "Finish each turn's request before you stop: keep sending calls, and send none once nothing is left "
                "to do."
            ),
            tools="What can be called, in {format} style:\n{functions}\n",
        ),
    },
    output_formats={
        "python": "[first_name(parameter=value, other_parameter=value), second_name(parameter=value)]",
        "json": (
            '[{"function": "first_name", "parameters": {"parameter": "value", "other_parameter": "value"}}, '
            '{"function": "second_name", "parameters": {"parameter": "value"}}]'
        ),
        "verbose_xml": (
            '<functions><function name="first_name"><params><param name="parameter" value="..." type="..."/>'
            '<param name="other_parameter" value="..." type="..."/></params></function><function name="second_name">'
            '<params><param name="parameter" value="..." type="..."/></params></function></functions>'
        ),
        "concise_xml": (
            '<functions><function name="first_name"><param name="parameter" type="...">value</param>'
            '<param name="other_parameter" type="...">value</param></function><function name="second_name">'
            '<param name="parameter" type="...">value</param></function></functions>'
        ),
    },
    param_types={"python": "", "json": "", "verbose_xml": _TYPES, "concise_xml": _TYPES},
    layouts={
        "plaintext": "{persona} {task}\n\n{tool_call_format}\n\n{multiturn_behavior}\n\n{available_tools}",
        "markdown": (
            "{persona}\n\n## What to do\n{task}\n\n## How to write calls\n{tool_call_format}\n\n"
            "## Turns\n{multiturn_behavior}\n\n## Functions\n{available_tools}"
        ),
    },
)
"""Our own words: the same parts in the same order."""
