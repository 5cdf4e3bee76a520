"""The action that most are: nothing but whole calls, perhaps behind words or reasoning; read at half the cost.

A form says by two patterns how it is written, from the first mark to the end of the text; the arguments between them
are read as they are everywhere. Nothing is read here otherwise than by the form's own reader: whatever the patterns do
not foresee, and every fault, is left to that. So patterns err on the side of too little: a tool's name is
letters, digits and ``_-.``, and words hold no character that a mark could begin with.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import ClassVar

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import MAX_DEPTH
from callgym.dialects.turns import TurnDialect

__all__ = ["JSON_SPACE", "NAME", "PlainDialect", "PlainForm"]

NAME = r"(?P<name>[\w.\-]{1,200}+)"
"""A tool's name, as it stands in a head."""
JSON_SPACE = r"[ \t\n\r]*+"
_MAX_CALLS = 100


class PlainForm:
    """How a dialect writes such an action; holds no state."""

    def __init__(self, before: str, head: str, closing: str, between: str, end: str, *, nested: bool = False) -> None:
        r"""Describe it by patterns without a way back; none may be read in two ways.

        Args:
            before: What stands before the first call; its groups ``reasoning`` and ``words``, where it has them, are
                what the action thinks and says.
            head: What stands before a call's arguments, with ``NAME`` in it and perhaps a group ``id``.
            closing: What stands behind them.
            between: What stands between one call's closing and the next one's head.
            end: What stands between the last call's closing and ``\Z``, or where nothing behind it is read.
            nested: Whether the arguments stand inside a JSON object, to be counted with them.
        """
        call = rf"{head}(?=\{{)"
        first = re.compile(before + call)
        self._first = first.match
        self._following = re.compile(f"{closing}(?:{end}|{between}{call})").match
        self._has_id, self._nested = "id" in first.groupindex, nested
        self._has_words, self._has_reasoning = "words" in first.groupindex, "reasoning" in first.groupindex

    def read(self, text: str) -> ParsedAction | None:
        """What the action says, or None where it is not plain."""
        first = call = self._first(text)
        if call is None or (self._nested and text.count("{") + text.count("[") > MAX_DEPTH):
            return None
        calls: list[ToolCall] = []
        while True:
            try:
                arguments, end = scan_json(text, call.end())
            except JsonTextError:
                return None
            following = self._following(text, end)
            if following is None or len(calls) == _MAX_CALLS:
                return None
            id = call["id"] if self._has_id else None
            calls.append(ToolCall.trusted(name=call["name"], arguments=arguments, id=id))
            if following["name"] is None:
                break
            call = following
        assert first is not None
        words = (first["words"] or "").strip() if self._has_words else ""
        reasoning = (first["reasoning"] or "").strip() if self._has_reasoning else ""
        return ParsedAction(tuple(calls), (), words, reasoning)


class PlainDialect(TurnDialect):
    """A dialect that reads its plain actions by their form, and all others as they come."""

    plain: ClassVar[PlainForm | None] = None
    """How its plain actions are written; None where there is no such form."""

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        return (self.plain.read(text) if self.plain is not None else None) or self.read_any(text)

    @abstractmethod
    def read_any(self, text: str) -> ParsedAction:
        """As ``read``, for any action, plain or not."""
