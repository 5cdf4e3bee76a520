"""What a worker says, read as what it is: the words of a stranger."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callgym.json_value import copy_json

__all__ = ["Reply"]

_MAX_DEPTH = 64


class Reply(BaseModel):
    """One frame from a worker."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    token: str = Field("", max_length=64)
    """Of the request that is answered."""
    value: Any = None
    """The value of the program's last expression."""
    dropped: int = Field(0, ge=0, le=2**62)
    """Characters of it that were left out."""
    type: str | None = Field(None, max_length=1000)
    """Class of the exception that ended the program."""
    message: str = Field("", max_length=1000)
    """Its text."""
    line: int | None = Field(None, ge=0, le=2**31)
    """Where in the program it was raised."""
    source: str = Field("", max_length=200)
    """The text of that line."""
    limit: Literal["memory", "disk", "open_files", "calls", "files"] | None = None
    """The limit that it comes from."""
    layers: list[str] | None = Field(None, max_length=8)
    """Before the first program: what the worker is shut in by."""
    fault: str = Field("", max_length=2000)
    """Before the first program: why it is not shut in."""

    @classmethod
    def read(cls, body: bytes) -> Reply | None:
        """The frame, or None for one that a worker does not write."""
        try:
            reply = cls.model_validate_json(body)
            if _depth(reply.value) > _MAX_DEPTH + 1:
                return None
            copy_json(reply.value)
        except (ValidationError, ValueError, TypeError, RecursionError):
            return None
        return reply


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            item
            for holder in level
            if isinstance(holder, (list, dict))
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return depth
