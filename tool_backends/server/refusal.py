"""Why a request is refused: a status, a word for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["Refusal"]


class Refusal(Exception):
    """A request cannot be served; the answer is ``{"error": word, "message": sentence}``."""

    def __init__(self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.headers = dict(headers or {})

    @classmethod
    def later(cls, error: str, message: str, seconds: int) -> Refusal:
        """A 503 that says when to come back."""
        return cls(503, error, message, {"retry-after": str(seconds)})
