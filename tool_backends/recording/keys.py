"""By what a call is found again: digests of a tool's name and its arguments, and of what was called before.

Canonical JSON stands behind them: the order of keys does not matter, and 1, 1.0 and true differ. The same call has the
same key on every machine.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from callgym.errors import DataError

__all__ = ["ANYWHERE", "History", "NoKey", "call_key", "canonical", "json_text"]

ANYWHERE = ""
"""The scope of an answer that holds whatever was called before."""

_SIZE = 16  # bytes of a digest
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_readable = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_ascii = json.JSONEncoder(allow_nan=False).encode


class NoKey(DataError):
    """What was called, or answered, cannot be written as JSON: nested too deeply, say, or not finite."""


def canonical(value: Any) -> str:
    """A JSON value as the one text that stands for it.

    Raises:
        NoKey: It cannot be written.
    """
    try:
        return _canonical(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise NoKey(str(error)) from error


def json_text(value: Any) -> str:
    """A JSON value as a person reads it and a file can hold it: half surrogates are written as escapes.

    Raises:
        NoKey: It cannot be written.
    """
    try:
        text = _readable(value)
        return text if text.isascii() or _is_utf8(text) else _ascii(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise NoKey(str(error)) from error


def call_key(tool: str, arguments: Any, kind: str = "") -> str:
    """The key of a call; keys of different kinds are never the same.

    Raises:
        NoKey: The arguments cannot be written as JSON.
    """
    return _digest(f"{kind}\0{tool}\0{canonical(arguments)}")


class History(NamedTuple):
    """Where an episode stands, as digests: by its calls, and by its calls and what else its session was told."""

    scope: str
    """Of the task, the seed and the calls before: where an answer holds."""
    moment: str
    """The same, with tries and ends of turns: where a state holds."""

    @classmethod
    def begin(cls, family: str, task_id: str, seed: int) -> History:
        """Before the first call."""
        start = _digest(f"{family}\0{task_id}\0{seed}")
        return cls(start, start)

    def after(self, exact: str) -> History:
        """After a call, given by its key."""
        return History(_digest(self.scope + exact), _digest(self.moment + exact))

    def told(self, what: str) -> History:
        """After something that is no call, and changes no answer."""
        return History(self.scope, _digest(f"{self.moment}\0{what}"))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).hexdigest()


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
