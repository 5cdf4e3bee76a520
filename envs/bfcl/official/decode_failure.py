"""The one error of decoding: the text is not what its format asks for."""

from __future__ import annotations

__all__ = ["DecodeFailure"]


class DecodeFailure(Exception):
    """A text that cannot be decoded; ``bfcl-eval`` books every cause alike, ``ast_decoder:decoder_failed``.

    Attributes:
        official: The name of the exception that the official decoder raises on it ("SyntaxError",
            "AssertionError" ...); None where the limit is ours: the official one takes such a text, or
            hangs on it.
    """

    def __init__(self, official: str | None, message: str = "") -> None:
        super().__init__(message or official or "not decoded")
        self.official = official
