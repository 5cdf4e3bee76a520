"""Chance without a state: a number follows from a session's seed, a fault, and what it is drawn for.

So no draw depends on how many were drawn before, by this fault or by another.
"""

from __future__ import annotations

import hashlib

__all__ = ["Chance"]

_STEPS = 2**53


class Chance:
    """The draws of one fault in one session."""

    def __init__(self, seed: int, label: str) -> None:
        """Take the session's seed, and what tells this fault from the session's others."""
        self._origin = f"{seed}/{label}".encode()

    def draw(self, *purpose: int | str) -> float:
        """A number in [0, 1); the same for the same purpose, on every machine."""
        text = "/".join([str(part) for part in purpose]).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(self._origin + b"/" + text, digest_size=8).digest()
        return (int.from_bytes(digest, "little") >> 11) / _STEPS

    def below(self, count: int, *purpose: int | str) -> int:
        """A whole number from 0 to ``count - 1``."""
        return int(self.draw(*purpose) * count)
