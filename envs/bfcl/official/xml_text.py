"""Calls as XML, ``<functions><function name="f">...</function></functions>``, in the official formats.

Verbose: ``<param name="a" value="1" type="integer"/>``, in ``<params>`` or not. Concise: the value is the
element's text. A type left out is string.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.python_text import read_literal

__all__ = ["read_concise_calls", "read_verbose_calls"]

_OPENING, _CLOSING = "<functions>", "</functions>"
_LITERALS = ("array", "tuple", "object", "dict")
_FAULTS = (ElementTree.ParseError, KeyError, ValueError, OverflowError, RecursionError)


def read_verbose_calls(text: str) -> list[dict[str, Any]]:
    """The calls of the first ``<functions>`` in a text, values in attributes; ``[{name: {parameter: value}}, ...]``.

    Raises:
        DecodeFailure: There is none, it is no XML, or a value is not of its type.
    """
    calls: list[dict[str, Any]] = []
    try:
        for function in _root(text).findall("function"):
            name = function.attrib["name"]
            holder = function.find("params")
            parameters = (function if holder is None else holder).findall("param")
            calls.append({name: {p.get("name"): _value(p.get("value", ""), p.get("type")) for p in parameters}})
    except _FAULTS as error:
        raise DecodeFailure(type(error).__name__, str(error)) from error
    return calls


def read_concise_calls(text: str) -> list[dict[str, Any]]:
    """The same with values in the elements' texts.

    Raises:
        DecodeFailure: As for ``read_verbose_calls``; also for a parameter without a name.
    """
    calls: list[dict[str, Any]] = []
    try:
        for function in _root(text).findall("function"):
            name = function.attrib["name"]
            parameters = function.findall("param")
            calls.append({name: {p.attrib["name"]: _value((p.text or "").strip(), p.get("type")) for p in parameters}})
    except _FAULTS as error:
        raise DecodeFailure(type(error).__name__, str(error)) from error
    return calls


def _root(text: str) -> ElementTree.Element:
    start = text.find(_OPENING)
    end = text.find(_CLOSING, start)
    if start < 0 or end < 0:
        raise DecodeFailure("ValueError", f"{_OPENING} ... {_CLOSING} is missing")
    # Entities of one's own need a document type, and none can stand before what opens here.
    return ElementTree.fromstring(text[start : end + len(_CLOSING)])


def _value(text: str, kind: str | None) -> Any:
    match kind:
        case "integer":
            return int(text)
        case "float":
            return float(text)
        case "boolean":
            return text.lower() == "true"
        case "null":
            return None
    return read_literal(text) if kind in _LITERALS else text
