"""Reading a response's body piece by piece, decompressed, up to a limit: a bomb is left where it begins to swell."""

from __future__ import annotations

import zlib

__all__ = ["ACCEPTED_ENCODINGS", "BodyReader"]

ACCEPTED_ENCODINGS = b"gzip, deflate"
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # which of the two is read from the data


class BodyReader:
    """Takes what arrives and says when it is enough."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Start with nothing read.

        Args:
            encoding: The header ``Content-Encoding``.
            limit: Most bytes to keep, and to take, in bytes.
        """
        self.cut = False
        """Whether there is more than the limit allows."""
        self.fault = ""
        """What is wrong with the data."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._taken = 0
        self._begun = False
        encoding = encoding.strip().lower()
        self._may_be_raw = encoding == "deflate"
        self._plain = encoding in ("", "identity")
        if not self._plain and encoding not in ("gzip", "x-gzip", "deflate"):
            self.fault = f"it is compressed in a way that was not asked for ({encoding[:40]!r})"
        self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, data: bytes) -> bool:
        """Take what arrived; whether more is wanted."""
        if self.fault or self.cut:
            return False
        self._taken += len(data)
        try:
            self._keep(data if self._plain else self._inflate(data))
        except zlib.error:
            self.fault = "its compression is damaged"
        # Compressed data that swells to nothing is limited, too.
        self.cut = self.cut or self._size > self._limit or self._taken > self._limit + 1024
        return not (self.cut or self.fault)

    def finish(self) -> bytes:
        """The body, at most as long as the limit; looks last for what is wrong with it."""
        if not (self._plain or self.cut or self.fault or self._inflater.eof or not self._begun):
            self.fault = "its compression breaks off"
        return b"".join(self._parts)[: self._limit]

    def _keep(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)

    def _inflate(self, data: bytes) -> bytes:
        room = self._limit + 1 - self._size
        first, self._begun = not self._begun, True
        try:
            return self._inflater.decompress(data, room)
        except zlib.error:
            if not (first and self._may_be_raw):
                raise
        # "deflate" was meant to have a header, and many servers leave it out.
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._inflater.decompress(data, room)
