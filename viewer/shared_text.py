"""Texts with what repeats in them stored once: prompts begin alike, and tool documents stand in all of them.

    texts = RepeatedPieces()
    for text in all_of_them:
        texts.count(text)
    shared = SharedTexts(texts)
    shared.encode("...")   # "..." or ["new words", 17, "more", 4]: numbers stand for pieces
    shared.pieces          # the pieces, by number

A text is split at line ends, where its own lines say so and not where it is counted from: a tool's document gives the
same pieces in whatever prompt it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["RepeatedPieces", "SharedTexts", "Text"]

Text = str | list[str | int]
"""A text: itself, or its parts in order, a number for a piece that is stored once."""

_SHORTEST_TEXT = 120
_SHORTEST_PIECE = 40
_LONG_LINE = 160
_MOST_LINES = 64
_REMEMBERED = 4096
_BETWEEN_OBJECTS = re.compile(r"(?<=\}, )(?=\{)|(?<=\},)(?=\{)")


class RepeatedPieces:
    """Which pieces stand in more than one place; texts are forgotten, only hashes of their pieces are kept."""

    def __init__(self) -> None:
        self._texts: dict[int, bool] = {}
        self._once: set[int] = set()
        self._again: set[int] = set()

    def count(self, text: str) -> None:
        """Take notice of a text; a piece that stands in it twice is repeated, too."""
        if len(text) < _SHORTEST_TEXT:
            return
        mark = hash(text)
        known = self._texts.get(mark)
        if known is None or not known:
            self._texts[mark] = known is not None
            for piece in _pieces(text):
                self._count(hash(piece))

    def __contains__(self, piece: str) -> bool:
        return hash(piece) in self._again

    def _count(self, mark: int) -> None:
        if mark in self._once:
            self._again.add(mark)
        else:
            self._once.add(mark)


class SharedTexts:
    """Writes texts with numbers for their repeated pieces."""

    def __init__(self, repeated: RepeatedPieces) -> None:
        """Start with no piece stored."""
        self._repeated = repeated
        self._numbers: dict[str, int] = {}
        self._written: dict[str, Text] = {}

    @property
    def pieces(self) -> list[str]:
        """Every piece that is stored, by number."""
        return list(self._numbers)

    def encode(self, text: str) -> Text:
        """The text, or its parts."""
        if len(text) < _SHORTEST_TEXT:
            return text
        found = self._written.get(text)
        if found is None:
            if len(self._written) >= _REMEMBERED:
                self._written.clear()
            found = self._written[text] = self._encode(text)
        return found

    def _encode(self, text: str) -> Text:
        parts: list[str | int] = []
        for piece in _pieces(text):
            if len(piece) >= _SHORTEST_PIECE and piece in self._repeated:
                parts.append(self._numbers.setdefault(piece, len(self._numbers)))
            elif parts and isinstance(parts[-1], str):
                parts[-1] += piece
            else:
                parts.append(piece)
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def _pieces(text: str) -> Iterator[str]:
    """Long lines alone, JSON objects in them apart; short ones in groups that end where a line's length says so."""
    group: list[str] = []
    for line in text.splitlines(keepends=True):
        if len(line) >= _LONG_LINE:
            if group:
                yield "".join(group)
                group = []
            yield from _BETWEEN_OBJECTS.split(line) if "}, {" in line or "},{" in line else (line,)
            continue
        group.append(line)
        if len(line) % 4 == 0 or len(group) == _MOST_LINES:
            yield "".join(group)
            group = []
    if group:
        yield "".join(group)
