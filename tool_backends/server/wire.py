"""JSON as it goes over the wire, bounded in depth, and the same text on both sides.

Whatever a policy wrote arrives as it was: half surrogate pairs, which UTF-8 cannot carry, travel as escapes.
"""

from __future__ import annotations

import json
from typing import Any, get_args

from callgym.call import ErrorKind, ToolResult
from callgym.json_value import nests_deeper, refuse_constant
from callgym.noun import require_finite

__all__ = ["MAX_DEPTH", "WireError", "read_json", "read_result", "write_json", "write_result"]

MAX_DEPTH = 80
"""Deepest nesting that is read; dialects read arguments of up to 64 levels."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class WireError(ValueError):
    """What came is not what it should be; the text is a sentence without its subject."""


def write_json(value: Any) -> bytes:
    """A JSON value as UTF-8.

    Raises:
        TypeError: It is none.
        ValueError: A number in it is NaN or infinite.
    """
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return _encode_ascii(value).encode()


def read_json(data: bytes) -> Any:
    """The value that UTF-8 text holds.

    Raises:
        WireError: It is not JSON, or a number in it is NaN, infinite or too long, or it is nested too deep.
    """
    try:
        text = data.decode()
        value = json.loads(text, parse_constant=refuse_constant)
        if text.count("[") + text.count("{") > MAX_DEPTH and nests_deeper(value, MAX_DEPTH):
            raise WireError(f"nests more than {MAX_DEPTH} levels deep")
        return require_finite(value)
    except WireError:
        raise
    except RecursionError:
        raise WireError(f"nests more than {MAX_DEPTH} levels deep") from None
    except UnicodeDecodeError:
        raise WireError("is not UTF-8") from None
    except ValueError as error:
        raise WireError(f"is not valid JSON ({str(error)[:80]})") from None


def write_result(result: ToolResult) -> bytes:
    """A result as UTF-8. Raises as ``write_json`` does."""
    return write_json({"content": result.content, "error": result.error, "message": result.message})


def read_result(data: bytes) -> ToolResult:
    """The result that ``write_result`` wrote.

    Raises:
        WireError: It is none.
    """
    value = read_json(data)
    if (
        not isinstance(value, dict)
        or value.keys() != _RESULT_KEYS
        or value["error"] not in _KINDS
        or not isinstance(value["message"], str)
    ):
        raise WireError("is no result of a tool")
    return ToolResult.trusted(**value)


_RESULT_KEYS = {"content", "error", "message"}
_KINDS = (None, *get_args(ErrorKind))  # a tuple: what a stranger sends may have no hash
