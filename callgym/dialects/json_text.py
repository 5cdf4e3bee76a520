"""Reading JSON that a policy wrote: exact, bounded in depth, never a crash.

Refused, each with its position: NaN and infinities, numbers that overflow or are too long, a key twice
in one object, nesting deeper than 64 levels, half surrogate pairs. Raw line breaks inside strings are
read.
"""

from __future__ import annotations

import json
import math
from typing import Any

from callgym.dialects.literal import MAX_DEPTH, MAX_NUMBER_LENGTH, skip_space

__all__ = ["JsonTextError", "read_json", "scan_json"]


class JsonTextError(ValueError):
    """The text at ``position`` is not JSON that can be used."""

    def __init__(self, message: str, position: int, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.position = position
        self.truncated = truncated
        """Whether the text broke off, so that more of it might have been right."""


class _Refused(ValueError):
    """Raised by the decoder's hooks, which do not know the position."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"key {twice[:40]!r} appears twice in one object")
    return result


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _Refused(f"{digits[:40]} is too large for a number")
    return value


def _int(digits: str) -> int:
    if len(digits) >= MAX_NUMBER_LENGTH:
        raise _Refused(f"a number of {MAX_NUMBER_LENGTH} characters or more")
    return int(digits)


def _constant(name: str) -> Any:
    raise _Refused(f"{name} is not JSON; use null or a number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_int=_int, parse_constant=_constant, strict=False
)


def scan_json(text: str, position: int) -> tuple[Any, int]:
    """Read one JSON value at ``position``; returns the value and the position after it.

    Raises:
        JsonTextError: No usable JSON value starts there.
    """
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        truncated = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        raise JsonTextError(f"{error.msg} at character {error.pos}", error.pos, truncated=truncated) from None
    except RecursionError:
        raise JsonTextError(f"nested deeper than {MAX_DEPTH} levels", position) from None
    except ValueError as error:
        raise JsonTextError(str(error), position) from None
    if text.count("[", position, end) + text.count("{", position, end) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise JsonTextError(f"nested deeper than {MAX_DEPTH} levels", position)
    if "\\" in text and "\\u" in text[position:end].lower():
        _refuse_half_surrogates(value, position)
    return value, end


def read_json(text: str) -> Any:
    """The value of a text that is one JSON value and nothing else.

    Raises:
        JsonTextError: It is not.
    """
    value, end = scan_json(text, skip_space(text, 0))
    if skip_space(text, end) != len(text):
        raise JsonTextError(f"unexpected text after the value at character {end}", end)
    return value


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        item, depth = pending.pop()
        children = item.values() if type(item) is dict else item if type(item) is list else None
        if children is not None:
            deepest = max(deepest, depth)
            pending.extend((child, depth + 1) for child in children)
    return deepest


def _refuse_half_surrogates(value: Any, position: int) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is str:
            if not item.isascii() and any("\ud800" <= c <= "\udfff" for c in item):
                raise JsonTextError("a \\u escape is half of a surrogate pair, not a character", position)
        elif type(item) is dict:
            pending.extend(item.keys())
            pending.extend(item.values())
        elif type(item) is list:
            pending.extend(item)
