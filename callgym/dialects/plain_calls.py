"""The list that most actions are, ``[f(a=1, b=['x']), g()]``, and nothing else: read at a third of the cost.

The values of a call are put into one array of JSON, which the decoder reads in one go. Nothing is read here otherwise
than elsewhere: where a value is no JSON but for its quotes and ``True``, ``False`` and ``None``, an escape does not
mean the same to both, or anything is out of order, the whole action is left to the dialect's own reader.
"""

from __future__ import annotations

import re
from typing import Any

from callgym.dialects.json_text import json_scanner
from callgym.dialects.literal import MAX_DEPTH, MAX_NUMBER_LENGTH
from callgym.dialects.plain_list import PlainList
from callgym.dialects.python_call import NAME

__all__ = ["read_plain_calls"]

_split_at_keys = re.compile(r",\s?+([A-Za-z_]\w*+)=").split
_UNLIKE_JSON = re.compile(r"\\(?:['/]|u(?:[dD]|007[fF]))").search
"""Escapes that JSON lacks or reads otherwise, that may be no character, or that stand for the mark."""
_MARK = "\x7f"
"""Stands between the values in the array; a text that holds one is left to others."""
_BETWEEN = f',"{_MARK}",'
_scan, _scan_short = json_scanner(strict=True, short=False), json_scanner(strict=True, short=True)


def _read_arguments(written: str) -> dict[str, Any] | None:
    """``a=1, b=['x']``, or None where it is anything but plain."""
    if _MARK in written or ("\\" in written and _UNLIKE_JSON(written) is not None):
        return None
    parts = _split_at_keys(f",{written}")
    if '"' not in written:
        array = f"[{_BETWEEN.join(parts[2::2])}]".replace("'", '"')
    elif "'" not in written:
        array = f"[{_BETWEEN.join(parts[2::2])}]"
    else:
        array = f"[{_BETWEEN.join([_in_double_quotes(value) for value in parts[2::2]])}]"
    # Inside a text these would be a line break, which the decoder refuses there.
    if "T" in written:
        array = array.replace("True", "\ntrue")
    if "F" in written:
        array = array.replace("False", "\nfalse")
    if "N" in written:
        array = array.replace("None", "\nnull")
    try:
        items, end = (_scan_short if len(array) < MAX_NUMBER_LENGTH else _scan)(array, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    # A key that was found inside a list leaves its mark there, and one too few here.
    count = len(parts) // 2
    if parts[0] or end != len(array) or len(items) != 2 * count - 1 or items.count(_MARK) != count - 1:
        return None
    if array.count("[") + (array.count("{") if "{" in array else 0) > MAX_DEPTH:
        return None
    arguments = dict(zip(parts[1::2], items[::2]))  # noqa: B905  there are as many
    return arguments if len(arguments) == count else None


def _in_double_quotes(value: str) -> str:
    """The same value in JSON's quotes, if it is a text in single ones, or holds nothing but such texts."""
    if '"' not in value:
        return value.replace("'", '"')
    if value[0] != "'" or value[-1] != "'" or value.count("'") != 2 or "\\" in value:
        return value
    return '"' + value[1:-1].replace('"', '\\"') + '"'


read_plain_calls = PlainList(NAME, "", _read_arguments).read
"""The calls of an action that is one list of plain calls; None for any other."""
