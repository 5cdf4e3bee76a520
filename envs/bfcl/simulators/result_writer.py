"""Writing result strings quickly; the text of the padding is written once, not once a call.

Source of the form: ``bfcl-eval`` 2026.3.23, as ``base.result_text`` has it; the strings are the same. ::

    PaddedWriter(tables.long_context).write({"price": 1.0, "MA(5)": tables.long_context["MA_5_EXTENSION"]})
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import is_
from typing import Any

__all__ = ["ELLIPSIS", "PaddedWriter", "write_result"]

ELLIPSIS = "@@ELLIPSIS@@"
"""What stands in the files for Python's Ellipsis."""
_LONG = 500


class _Padding:
    """One long list, and its items as they stand in a result string, without the list's brackets."""

    def __init__(self, original: list[Any]) -> None:
        self.original = original
        self.items = [... if item == ELLIPSIS else item for item in original]

    @cached_property
    def json(self) -> str:
        return json.dumps(self.items)[1:-1]

    @cached_property
    def repr(self) -> str:
        return str(self.items)[1:-1]

    def ends(self, value: list[Any]) -> bool:
        """Whether a list ends in the padding, by identity: numbers and texts that are only equal do not count."""
        if value is self.original and self.items[-1] is not ...:
            return True
        start = len(value) - len(self.items)
        return start >= 0 and value[start] is self.items[0] and all(map(is_, value[start:], self.items))


def _json_writer() -> Callable[[Any], str]:
    """``json.dumps``, which makes an encoder of C each time, with one for all where Python has it."""
    make: Any = vars(json.encoder)["c_make_encoder"]
    if make is None:
        return json.JSONEncoder().encode
    default = json.JSONEncoder().default
    chunks = make(None, default, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True)
    join = "".join
    return lambda value: join(chunks(value, 0))


_write_json = _json_writer()


def write_result(value: Any) -> str:
    """``base.result_text``, twice as fast."""
    kind = type(value)
    if kind is dict:
        try:
            return _write_json(value)
        except (TypeError, ValueError, RecursionError):
            return str(value)
    return value if kind is str else str(value)


class PaddedWriter:
    """Writes results in which the padding of one set of tables may be."""

    def __init__(self, padding: Mapping[str, Any]) -> None:
        self._paddings = [_Padding(part) for part in padding.values() if type(part) is list and len(part) >= _LONG]

    def write(self, value: Any) -> str:
        """``write_result(value)``."""
        if type(value) is list and len(value) >= _LONG:
            return self._list(value, str, "repr")
        if type(value) is not dict or not any(type(v) is list and len(v) >= _LONG for v in value.values()):
            return write_result(value)
        try:
            parts = [f"{_write_json(key)}: {self._item(item)}" for key, item in value.items()]
        except (TypeError, ValueError, RecursionError):
            return write_result(value)
        return f"{{{', '.join(parts)}}}" if all(type(key) is str for key in value) else write_result(value)

    def _item(self, item: Any) -> str:
        return self._list(item, _write_json, "json") if type(item) is list and len(item) >= _LONG else _write_json(item)

    def _list(self, value: list[Any], write: Callable[[Any], str], form: str) -> str:
        for padding in self._paddings:
            if padding.ends(value):
                own = value[: len(value) - len(padding.items)]
                text: str = getattr(padding, form)
                return f"{write(own)[:-1]}, {text}]" if own else f"[{text}]"
        return write(value)
