"""The list that most actions in brackets are, ``[f(a=1), g()]``, and nothing else, in whatever notation values have.

What is unusual in any way is left to the notation's own reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from callgym.call import ToolCall

__all__ = ["PlainList"]

_MAX_CALLS = 1_000
_new_call = ToolCall.trusted


class PlainList:
    """How such a list is written, and read; holds no state."""

    def __init__(self, name: str, label: str, read_arguments: Callable[[str], dict[str, Any] | None]) -> None:
        """Say how calls look.

        Args:
            name: Pattern of a tool's name.
            label: Pattern of what may stand before the list.
            read_arguments: Reads what stands between parentheses; None for what is not plain. Values that hold a
                closing parenthesis are cut there, and must not be read.
        """
        self._first_call = re.compile(rf"\s*+{label}\[\s*+({name})\(\s*+").match
        self._next_call = re.compile(rf"\)\s*+(?:\]\s*+\Z|,\s*+({name})\(\s*+)").match
        self._arguments = read_arguments

    def read(self, text: str) -> tuple[ToolCall, ...] | None:
        """The calls of an action that is one such list; None for any other."""
        call = self._first_call(text)
        if call is None:
            return None
        start = call.end()
        end = text.find(")", start)
        if end == len(text) - 2 and text[-1] == "]":  # one call, nearly always
            arguments = self._arguments(text[start:end]) if start < end else {}
            return None if arguments is None else (_new_call(name=call[1], arguments=arguments, id=None),)
        calls: list[ToolCall] = []
        while end >= 0 and len(calls) < _MAX_CALLS and (following := self._next_call(text, end)) is not None:
            arguments = self._arguments(text[start:end]) if start < end else {}
            if arguments is None:
                return None
            calls.append(_new_call(name=call[1], arguments=arguments, id=None))
            if following[1] is None:
                return tuple(calls)
            call, start = following, following.end()
            end = text.find(")", start)
        return None
