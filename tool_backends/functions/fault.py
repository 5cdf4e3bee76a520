"""What a function raised, as a sentence for the policy: type and first line, and nothing of the machine it ran on.

    fault_message(FileNotFoundError(2, "No such file or directory", "/home/ada/rooms.json"))
    # "FileNotFoundError: [Errno 2] No such file or directory: '<path>'"

The same failure gives the same sentence on every machine: addresses of objects are left out, too.
"""

from __future__ import annotations

import re

__all__ = ["MAX_MESSAGE", "fault_message", "shortened"]

MAX_MESSAGE = 400
"""Longest message, in characters."""
_MAX_READ = 4_000

_HIDDEN = (
    (re.compile(r"\bfile:/{2,3}[^\s'\"<>]+"), "<path>"),
    (re.compile(r"(\w+://)[^\s/@'\"]+@"), r"\1"),  # a URL's user and password
    (re.compile(r"(\w+://[^\s?#'\"]*)[?#][^\s'\"]*"), r"\1"),  # its query, where keys stand
    (re.compile(r"(?<![\w/.:~-])~?(?:/[\w.@+~-]+){2,}/?"), "<path>"),
    (re.compile(r"(?<!\w)[A-Za-z]:\\[^\s'\"<>|]+"), "<path>"),
    (re.compile(r"(?i)\b(authorization['\"]?\s*[:=]\s*)['\"]?(?:(?:bearer|basic|token)\s+)?[^\s'\",;]+"), r"\1***"),
    (re.compile(r"(?i)\b(bearer\s+)[^\s'\",;]{8,}"), r"\1***"),
    (re.compile(r"(?i)((?:api[_-]?key|token|secret|password|passwd)['\"]?\s*=\s*)['\"]?[^\s'\",;&]+"), r"\1***"),
    (re.compile(r" at 0x[0-9A-Fa-f]+"), ""),
)


def fault_message(error: BaseException) -> str:
    """``ValueError: what it says``, in one line, without paths, addresses and what looks like a key."""
    name = type(error).__name__
    try:
        lines = str(error)[:_MAX_READ].strip().splitlines()
    except Exception:  # an exception whose own text fails
        lines = []
    text = lines[0] if lines else ""
    for pattern, stand_in in _HIDDEN:
        text = pattern.sub(stand_in, text)
    return shortened(f"{name}: {text}" if text else name)


def shortened(text: str) -> str:
    """The text, cut where it is longer than a message may be."""
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 3] + "..."
