"""Texts that are too long for a page, cut, with a note of what is left out and where it stands in whole."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Shortening"]

_MOST_NOTES = 200
_TEXTS = 4
"""A value may be as long as so many texts."""


class Shortening:
    """Cuts the texts of one record."""

    def __init__(self, most: int, where: str) -> None:
        """Begin a record.

        Args:
            most: Most characters of a text.
            where: File and row in which the record stands.
        """
        self._most = most
        self._where = where
        self._count = 0
        self.notes: list[str] = []
        """What was cut, for people."""

    @property
    def count(self) -> int:
        """How many texts were cut."""
        return self._count

    def text(self, text: str, name: str) -> str:
        """The text, or its beginning.

        Args:
            text: Any length.
            name: What it is, for the note.
        """
        if len(text) <= self._most:
            return text
        left = len(text) - self._most
        self._note(f"{name}: {left:,} of {len(text):,} characters are left out; they stand in {self._where}")
        return f"{text[: self._most]}\n[… {left:,} characters are left out here]"

    def value(self, value: Any, name: str) -> Any:
        """The JSON value with its texts cut; where it is too long even so, the beginning of its JSON as text."""
        shorter = self._cut(value, name)
        if isinstance(shorter, (dict, list)) and self._is_long(shorter):
            return self.text(json.dumps(shorter, ensure_ascii=False), name)
        return shorter

    def object(self, value: dict[str, Any], name: str) -> dict[str, Any]:
        """As ``value``, and an object in any case."""
        shorter = self.value(value, name)
        return shorter if isinstance(shorter, dict) else {"(cut)": shorter}

    def _is_long(self, value: Any) -> bool:
        room = _TEXTS * self._most
        pending = [value]
        while pending and room >= 0:
            item = pending.pop()
            if isinstance(item, dict):
                room -= sum(map(len, item)) + 4 * len(item) + 2
                pending.extend(item.values())
            elif isinstance(item, list):
                room -= len(item) + 2
                pending.extend(item)
            else:
                room -= len(item) + 2 if isinstance(item, str) else 4
        return room < 0

    def _cut(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, list):
            return [self._cut(item, name) for item in value]
        if isinstance(value, dict):
            return {self.text(key, name): self._cut(item, name) for key, item in value.items()}
        return value

    def _note(self, note: str) -> None:
        self._count += 1
        if self._count <= _MOST_NOTES:
            self.notes.append(note)
        elif self._count == _MOST_NOTES + 1:
            self.notes.append("more texts of this episode are cut as well")
