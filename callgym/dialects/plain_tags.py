"""Words, then calls with a tag a value and nothing unusual in them: read at a quarter of the cost.

Nothing is read here otherwise than by ``tagged_call``: where a ``<`` opens anything but the next tag of a plain call,
or anything else is out of order, the whole action is left to that.
"""

from __future__ import annotations

import re

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction

__all__ = ["PlainTags"]

_new_call = ToolCall.trusted


class PlainTags:
    """How plain calls of one form are written. No name, key or value holds a ``<``; names and keys hold no space."""

    def __init__(
        self, *, begin: str, name: str, parameter: str, marks: int, closing: str, end: str, again: str, stop: str = ""
    ) -> None:
        """Say what they look like; all but ``marks``, ``closing`` and ``stop`` are patterns.

        Args:
            begin: What stands before the first call.
            name: What opens a call; its group is the tool's name.
            parameter: Its groups are a parameter's name and value.
            marks: How many ``<`` a parameter holds.
            closing: What closes a call.
            end: What stands behind the last call.
            again: What stands between two calls.
            stop: What ends the policy's turn, if that holds no ``<``.
        """
        self._first_call = re.compile(rf"([^<]*+){begin}{name}\s*+(?=<)").match
        self._next_call = re.compile(rf"{closing}\s*+(?:{end}\Z|{again}{name}\s*+(?=<))").match
        # No text stands between one parameter and what follows: each "<" is of one of them, as their number tells.
        self._parameters = re.compile(rf"{parameter}\s*+(?=<|\Z)").findall
        self._marks = marks
        self._closing = closing
        self._stop = stop

    def read(self, text: str) -> ParsedAction | None:
        """The action, or None for any other."""
        call = self._first_call(text)
        if call is None or (self._stop and self._stop in text):
            return None
        words, name = call.groups()
        calls: list[ToolCall] = []
        while True:
            at = call.end()
            end = text.find(self._closing, at)
            if end < 0:
                return None
            pairs = self._parameters(text, at, end)
            arguments = dict(pairs)
            if len(arguments) != len(pairs) or text.count("<", at, end) != len(pairs) * self._marks:
                return None
            call = self._next_call(text, end)
            if call is None:
                return None
            calls.append(_new_call(name=name, arguments=arguments, id=None))
            name = call[1]
            if name is None:
                return ParsedAction(tuple(calls), (), words.strip() if words else "")
