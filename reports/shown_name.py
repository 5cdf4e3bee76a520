"""Names that a file gives (ids, tasks, rewards, policies), made fit to be shown: one harmless, short line each.

What differs still differs afterwards: a name that is cut keeps a digest of what was cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from callgym.terminal import one_line

__all__ = ["distinct", "shortened", "shown_name"]

_LONGEST = 80
_DIGEST = 8


@lru_cache(maxsize=100_000)
def shown_name(text: str) -> str:
    """One line of at most 80 characters; what a terminal would not print stands as an escape."""
    line = one_line(text)
    if len(line) <= _LONGEST:
        return line
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST // 2).hexdigest()
    return f"{line[: _LONGEST - _DIGEST - 1]}…{digest}"


def shortened(name: str, most: int) -> str:
    """A name cut in its middle, where a picture has no more room."""
    if len(name) <= most:
        return name
    return f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number behind each that was there before."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        number, candidate = 1, name
        while candidate in taken:
            number += 1
            candidate = f"{name} ({number})"
        taken.add(candidate)
        found.append(candidate)
    return found
