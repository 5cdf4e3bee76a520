"""What a person types, put together from lines: an action, or a command.

A line is one entry. A line that ends with a backslash goes on in the next; lines between ``<<<`` and ``>>>``, each on a
line of its own, are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["BLOCK_CLOSE", "BLOCK_OPEN", "Entry", "LineSource", "read_entry"]

BLOCK_OPEN, BLOCK_CLOSE = "<<<", ">>>"

LineSource = Callable[[bool], str | None]
"""The next line without its end, or None where there is none any more. Is told whether the line before goes on."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was typed."""

    text: str
    """Its words."""
    literal: bool = False
    """Whether it stood in a block: then it is an action, whatever it begins with."""
    whole: bool = True
    """False where the input ended in the middle of it."""


def read_entry(next_line: LineSource) -> Entry | None:
    """The next entry; empty lines are passed over. None where the input is at its end."""
    while True:
        line = next_line(False)
        if line is None:
            return None
        if line.strip() == BLOCK_OPEN:
            return _block(next_line)
        if line.strip():
            return _continued(line, next_line)


def _block(next_line: LineSource) -> Entry:
    lines: list[str] = []
    while (line := next_line(True)) is not None:
        if line.strip() == BLOCK_CLOSE:
            return Entry("\n".join(lines), literal=True)
        lines.append(line)
    return Entry("\n".join(lines), literal=True, whole=False)


def _continued(line: str, next_line: LineSource) -> Entry:
    lines: list[str] = []
    while line.endswith("\\"):
        lines.append(line[:-1])
        following = next_line(True)
        if following is None:
            return Entry("\n".join(lines), whole=False)
        line = following
    return Entry("\n".join([*lines, line]))
