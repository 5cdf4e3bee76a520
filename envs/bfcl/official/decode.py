"""A model's text as calls, as BFCL's default prompting decoder reads it.

    >>> decode("f(a=1, b='x')")
    [{'f': {'a': 1, 'b': 'x'}}]

Source: ``bfcl-eval`` 2026.3.23, with every quirk. Two things differ. Nothing is evaluated, so names and calls
inside arithmetic fail. And there are limits: texts of more than 100,000 characters, long ones of mostly punctuation,
numbers of more than 4,000 digits, and values that arithmetic makes larger than 100,000 characters fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.json_text import read_json_calls
from callgym.envs.bfcl.official.python_text import check_size, read_calls
from callgym.envs.bfcl.official.xml_text import read_concise_calls, read_verbose_calls

__all__ = [
    "DecodeFailure",
    "ExecuteCall",
    "ReturnFormat",
    "counts_as_empty",
    "decode",
    "execute_calls",
    "execute_pairs",
    "format_ok",
]

ReturnFormat = Literal["python", "json", "verbose_xml", "concise_xml", "java", "javascript"]
"""The notation that the prompt asks for."""
_OPENING, _CLOSING = "<TOOLCALL>", "</TOOLCALL>"
_MARGIN = "`\n "


class ExecuteCall(NamedTuple):
    """A call that is to be run."""

    name: str
    arguments: dict[Any, Any]
    """Values as decoded: a call among the arguments is a ``{name: {argument: value}}``."""


def decode(text: str, ret_fmt: str = "python", tagged: bool = False) -> Any:
    """What the official decoder makes of a text.

    Args:
        text: What the model wrote.
        ret_fmt: A ``ReturnFormat``.
        tagged: Read only what stands in the first ``<TOOLCALL>`` ... ``</TOOLCALL>``.

    Returns:
        As a rule ``[{name: {argument: value}}, ...]``; whatever odd value the official decoder returns elsewhere
        (``format_ok`` tells them apart), such as None for a JavaScript text without a call.

    Raises:
        DecodeFailure: The official decoder raises, too, or a limit of ours is passed.
        ValueError: There is no such format.
    """
    if ret_fmt not in _READERS:
        raise ValueError(f"no return format {ret_fmt!r}; there are: {', '.join(_READERS)}")
    check_size(text)
    wrapped = _wrap(text)
    if tagged:
        wrapped = _inside_tag(wrapped)
    return _READERS[ret_fmt](wrapped)


def format_ok(decoded: Any) -> bool:
    """Whether a decoded value is a list of ``{name: {argument: value}}``; the empty list is one."""
    if type(decoded) is not list:
        return False
    for item in decoded:
        if type(item) is not dict or len(item) != 1:
            return False
        (arguments,) = item.values()
        if type(arguments) is not dict:
            return False
    return True


def counts_as_empty(decoded: Any) -> bool:
    """Whether a decoded value counts as no call where the question is whether there is one."""
    return not format_ok(decoded) or not decoded


def execute_calls(text: str) -> list[str]:
    """A text's calls as call strings, ``name(argument=value, ...)``, for multi-turn and agentic categories.

    A dictionary whose values are all dictionaries is taken for a nested call, and only its first key is kept;
    the keys of another are put in single quotes as they are.

    Raises:
        DecodeFailure: It cannot be decoded, or an argument is an empty dictionary, on which the official code fails.
    """
    return [_rendered(name, arguments) for name, arguments in execute_pairs(text)]


def execute_pairs(text: str) -> list[ExecuteCall]:
    """The same calls before they are rendered.

    Raises:
        DecodeFailure: As for ``execute_calls``.
    """
    calls = [ExecuteCall(name, arguments) for call in decode(text) for name, arguments in call.items()]
    for call in calls:
        for value in call.arguments.values():
            _check_rendered(value)
    return calls


def _wrap(text: str) -> str:
    text = text.strip(_MARGIN)
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"


def _inside_tag(text: str) -> str:
    start = text.find(_OPENING)
    end = text.find(_CLOSING, start + len(_OPENING))
    if start < 0 or end < 0:
        raise DecodeFailure("ValueError", f"{_OPENING} ... {_CLOSING} is missing")
    return text[start + len(_OPENING) : end].strip()


def _check_rendered(value: Any) -> None:
    if isinstance(value, dict):
        if not value:
            raise DecodeFailure("IndexError", "an empty dictionary is no argument of a call that is to be run")
        inner = next(iter(value.values())) if _is_nested_call(value) else value
        for item in inner.values():
            _check_rendered(item)


def _is_nested_call(value: dict[Any, Any]) -> bool:
    return all(isinstance(item, dict) for item in value.values())


def _rendered(name: Any, arguments: dict[Any, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_rendered_value(value)}' for key, value in arguments.items())})"


def _rendered_value(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    if _is_nested_call(value):
        name, arguments = next(iter(value.items()))
        return _rendered(name, arguments)
    return "{" + ", ".join(f"'{key}': {_rendered_value(item)}" for key, item in value.items()) + "}"


def _read_java(text: str) -> Any:
    from callgym.envs.bfcl.official.java import decode_java

    return decode_java(text)


def _read_javascript(text: str) -> Any:
    from callgym.envs.bfcl.official.javascript import decode_javascript

    return decode_javascript(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "python": read_calls,
    "json": read_json_calls,
    "verbose_xml": read_verbose_calls,
    "concise_xml": read_concise_calls,
    "java": _read_java,
    "javascript": _read_javascript,
}
