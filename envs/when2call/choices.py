"""The four continuations that a multiple-choice row offers, as each family of models writes calls.

Source: the ``process_docs_*`` functions of ``NVIDIA/When2Call`` at ecc8d42. They differ in how they write the
``tool_call`` choice and in the prompt. The official prompts are sentences of that code and are not here: with
prompts of one's own, log-likelihoods compare among models, not with the paper's table.

Two of the official notations are not what the family's models were trained to write, and are kept: llama3.2's does
not escape quotes in a text and writes other values as Python does, functionary's puts each value's JSON in quotes
once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from callgym.envs.when2call.rows import ANSWERS, Answer
from callgym.errors import ConfigurationError, DataError

__all__ = ["FAMILIES", "choices_of", "write_call"]


def _llama3_2(text: str) -> str:
    call = _read(text)
    written = ", ".join(
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"
        for name, value in call["arguments"].items()
    )
    return f"[{call['name']}({written})]"


def _functionary(text: str) -> str:
    call = _read(text)
    arguments = call["arguments"] if "arguments" in call else call["parameters"]
    written = ", ".join(f'"{name}": "{json.dumps(value)}"' for name, value in arguments.items())
    return f"<function={call['name']}>{{{written}}}</function>"


def _read(text: str) -> dict[str, Any]:
    call: dict[str, Any] = json.loads(text)
    return call


_WRITERS: dict[str, Callable[[str], str]] = {
    "default": str,
    "qwen2_5": str,
    "llama3_2": _llama3_2,
    "nemotron": "<toolcall> {} </toolcall>".format,
    "xlam": '{{\n\t"tool_calls": [\n\t{}\n\t]\n}}'.format,
    "hermes": "<tool_call>{}\n</tool_call>".format,
    "functionary": _functionary,
}
FAMILIES = tuple(_WRITERS)
"""Names of the families, as the official functions call them."""


def choices_of(answers: Mapping[Answer, str], family: str = "default") -> tuple[str, ...]:
    """The four choices in the official order (``ANSWERS``).

    Args:
        answers: A reply of each kind; ``tool_call`` is JSON text ``{"name", "arguments"}``.
        family: A name in ``FAMILIES``.

    Raises:
        ConfigurationError: There is no such family.
        DataError: The call cannot be read.
    """
    return tuple(write_call(answers[kind], family) if kind == "tool_call" else answers[kind] for kind in ANSWERS)


def write_call(text: str, family: str = "default") -> str:
    """A ``tool_call`` reply as a family writes it; for arguments and errors see ``choices_of``."""
    if family not in _WRITERS:
        raise ConfigurationError(f"no family {family!r}; there are: {', '.join(FAMILIES)}")
    try:
        return _WRITERS[family](text)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"no call for {family}: {text[:80]!r} ({type(error).__name__}: {error})") from error
