"""JSON values as a browser can hold them without loss.

A browser reads every number as a double: integers beyond 2^53 would be shown as others than they are. They are
written as ``{"$int": "12345678901234567890"}``, which the page shows as the number it is.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from callgym.json_value import nests_deeper

__all__ = ["exact", "is_exact", "json_bytes"]

INTEGER = "$int"
_LARGEST = 2**53
_DEEPEST = 100
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_ESCAPES = tuple(rb"\u00" + code for code in (b"24", b"69", b"6e", b"6E", b"74"))
"""What may hide the name that marks an integer."""
_LONG = 16
_ALL_ZEROS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
_INTEGER = re.compile(rb"(?<![\d.])\d{16}")


def is_exact(raw: bytes, seed: Any) -> bool:
    """Whether nothing in a line of JSON needs ``exact``, its seed left aside; False where that is not plain to see."""
    if INTEGER.encode() in raw or (rb"\u00" in raw and any(escape in raw for escape in _ESCAPES)):
        return False
    rest = raw.replace(b'"seed":%d' % seed, b"", 1) if type(seed) is int else raw
    # The search alone would take a hundred times as long.
    return b"0" * _LONG not in rest.translate(_ALL_ZEROS) or _INTEGER.search(rest) is None


def exact(value: Any) -> Any:
    """The value with everything marked that a browser would not read as it is.

    Besides large integers: an object that looks like such a mark, and what is nested more than 100 deep, become
    their JSON as text; numbers that are none, their names.
    """
    return _text_of(value) if nests_deeper(value, _DEEPEST) else _marked(value)


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8; where half a surrogate pair stands in it, with escapes, which browsers read."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return _encode_ascii(value).encode()


def _marked(value: Any) -> Any:
    kind = type(value)
    if kind is int:
        return value if -_LARGEST < value < _LARGEST else {INTEGER: str(value)}
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind is list:
        return list(map(_marked, value))
    if kind is dict:
        if value.keys() == {INTEGER}:
            return _text_of(value)
        return dict(zip(value, map(_marked, value.values()), strict=True))
    return value


def _text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
