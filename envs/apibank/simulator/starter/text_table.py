"""Tables written as text, the form in which the starter tables are kept.

A row is a line, and a deeper line goes on with the one before::

    rows("oak | 40\\nbirch | 25")        # [['oak', '40'], ['birch', '25']]
"""

from __future__ import annotations

__all__ = ["lines", "rows"]

_GOES_ON = "    "


def lines(text: str) -> list[str]:
    """The lines of ``text``, each joined with those below it that are four or more spaces in."""
    found: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(_GOES_ON):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
    return found


def rows(text: str) -> list[list[str]]:
    """The lines of ``text``, each as the fields that stand between its vertical bars."""
    return [[field.strip() for field in line.split("|")] for line in lines(text)]
