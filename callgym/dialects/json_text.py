"""Reading JSON that a policy wrote: exact, bounded in depth, never a crash.

Refused, each with its position: NaN and infinities, numbers that overflow or are too long, a key twice
in one object, nesting deeper than 64 levels, half surrogate pairs. Raw line breaks inside strings are
read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from callgym.dialects.literal import MAX_DEPTH, MAX_NUMBER_LENGTH, skip_space

__all__ = ["JsonTextError", "json_scanner", "read_json", "scan_json"]


_CUT_SHORT = re.compile(r"(?:n(?:ul?)?|t(?:ru?)?|f(?:a(?:ls?)?)?|-|\.|[eE][+-]?|\\?u[0-9a-fA-F]{0,4})\Z").match
"""A word, a number or an escape that breaks off with the text."""
_SURROGATE = re.compile(r"\\u[dD]").search


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
    if len(digits) >= MAX_NUMBER_LENGTH:
        raise _Refused(f"a number of {MAX_NUMBER_LENGTH} characters or more")
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


def json_scanner(*, strict: bool, short: bool) -> Callable[[str, int], tuple[Any, int]]:
    """A decoder that reads a value at a position and refuses, by a ValueError or StopIteration, what is said above.

    It does not ask about nesting and half surrogate pairs.

    Args:
        strict: Refuse line breaks and other control characters inside strings, too.
        short: All texts will be shorter than ``MAX_NUMBER_LENGTH``, so that no number in them can be too long.
    """
    decoder: Any = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_float=_float,
        parse_int=int if short else _int,
        parse_constant=_constant,
        strict=strict,
    )
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once  # raw_decode without a detour
    return scan


_scan, _scan_short = json_scanner(strict=False, short=False), json_scanner(strict=False, short=True)


def scan_json(text: str, position: int) -> tuple[Any, int]:
    """Read one JSON value at ``position``; returns the value and the position after it.

    Raises:
        JsonTextError: No usable JSON value starts there.
    """
    try:
        value, end = (_scan_short if len(text) - position < MAX_NUMBER_LENGTH else _scan)(text, position)
    except StopIteration as stop:
        raise _no_json(text, "Expecting value", stop.value) from None
    except json.JSONDecodeError as error:
        raise _no_json(text, error.msg, error.pos) from None
    except RecursionError:
        raise JsonTextError(f"nested deeper than {MAX_DEPTH} levels", position) from None
    except ValueError as error:
        raise JsonTextError(str(error), position) from None
    if text.count("[", position, end) + text.count("{", position, end) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise JsonTextError(f"nested deeper than {MAX_DEPTH} levels", position)
    if text.find("\\", position, end) >= 0 and _SURROGATE(text, position, end) is not None:
        _refuse_half_surrogates(value, position)
    return value, end


def read_json(text: str) -> Any:
    """The value of a text that is one JSON value and nothing else.

    Raises:
        JsonTextError: It is not.
    """
    value, end = scan_json(text, skip_space(text, 0))
    if end != len(text) and skip_space(text, end) != len(text):
        raise JsonTextError(f"unexpected text after the value at character {end}", end)
    return value


def _no_json(text: str, fault: str, position: int) -> JsonTextError:
    fault = fault.removesuffix(" at")  # "Unterminated string starting at"
    breaks_off = (
        fault.startswith("Unterminated string")
        or skip_space(text, position) == len(text)
        or _CUT_SHORT(text, position) is not None
    )
    return JsonTextError(f"{fault} at character {position}", position, truncated=breaks_off)


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
