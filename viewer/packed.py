"""Data inside a page: JSON, compressed, in base64, which holds no character that a page could take for markup."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from typing import IO, Any

from callgym.viewer.exact import json_bytes

__all__ = ["Blocks", "packed"]

_LEVEL = 6
# What ``gzip`` writes differs with Python's version: no time, no name, an unknown system.
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_BLOCK_BYTES = 400_000
_BLOCK_ENTRIES = 256


def packed(value: Any) -> str:
    """A JSON value as base64 of gzip; the same value gives the same text."""
    return _pack(json_bytes(value))


def _pack(data: bytes) -> str:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = compressor.compress(data) + compressor.flush()
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return base64.b64encode(_HEADER + body + tail).decode("ascii")


class Blocks:
    """Entries, some hundred of them in one packed block, kept in a file until the page is written."""

    def __init__(self, name: str, file: IO[str]) -> None:
        """Begin without a block.

        Args:
            name: What its elements in the page are called: ``name-0``, ``name-1`` and so on.
            file: Takes the blocks, each as an element of the page.
        """
        self._name = name
        self._file = file
        self._waiting: list[bytes] = []
        self._size = 0
        self.count = 0
        """Blocks so far."""
        self.characters = 0
        """What they take up in the page."""

    def add(self, entry: Any) -> tuple[int, int]:
        """Append a JSON value; its block, and its place in there."""
        data = json_bytes(entry)
        if self._waiting and (self._size + len(data) > _BLOCK_BYTES or len(self._waiting) == _BLOCK_ENTRIES):
            self.finish()
        self._waiting.append(data)
        self._size += len(data)
        return self.count, len(self._waiting) - 1

    def finish(self) -> None:
        """Write the block that is begun."""
        if not self._waiting:
            return
        text = element(f"{self._name}-{self.count}", _pack(b"[" + b",".join(self._waiting) + b"]"))
        self._file.write(text)
        self.characters += len(text)
        self.count += 1
        self._waiting, self._size = [], 0

    def read(self) -> Iterator[str]:
        """The elements, in parts."""
        self._file.seek(0)
        while part := self._file.read(1 << 20):
            yield part


def element(name: str, data: str) -> str:
    """Packed data as an element of the page; to a browser it is text of a kind that it does not run."""
    return f'<script type="text/plain" id="{name}">{data}</script>\n'
