"""Where reading goes on behind JSON that cannot be read: at the first mark that stands in none of its strings.

For forms whose marks are plain text, which a string may well hold. A string that is never closed makes all that
follows a part of it: then nothing more is read, for what looks like a call there may be what somebody else said.
"""

from __future__ import annotations

import re

__all__ = ["UnreadableJson"]

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


class UnreadableJson:
    """How to leave such JSON; holds no state."""

    def __init__(self, first: str, marks: str) -> None:
        """Describe where it may end.

        Args:
            first: The characters that a mark begins with.
            marks: A pattern for the marks.
        """
        first = re.escape(first)
        self._inside = re.compile(rf'(?:[^"{first}]++|{_STRING}|(?!{marks})[{first}])*+', re.DOTALL)

    def leave(self, text: str, position: int) -> int:
        """The first mark at or behind ``position``, which stands in no string; or the end of the text."""
        inside = self._inside.match(text, position)
        assert inside is not None
        end = inside.end()
        return len(text) if text.startswith('"', end) else end
