"""What goes to a server and what comes back, with no word of how: the values between translation and transport."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from callgym.call import ToolResult

__all__ = ["Exchange", "Failure", "Origin", "Reader", "Reply", "Request", "Send", "Wait"]


class Origin(NamedTuple):
    """Where a request goes; it comes from an endpoint's URL, never from a call."""

    scheme: bytes
    host: bytes
    port: int


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. What may hold a key or a policy's words is not shown."""

    method: str
    origin: Origin
    target: bytes = field(repr=False)
    """Path and query, percent-encoded."""
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    idempotent: bool = False
    """Whether making it twice does what making it once does."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response, read to its end or to the limit."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = field(default=b"", repr=False)
    """Decompressed."""
    cut: bool = False
    """Whether there was more than the limit allows."""
    fault: str = ""
    """What is wrong with the body, where it could not be decompressed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no response."""

    kind: Literal["timeout", "unreachable", "lost"]
    """The time was up; the request never left; or it left, and the connection broke or spoke no HTTP."""
    reused: bool = False
    """Whether it was lost on a connection of an earlier request, which the server may just have been closing."""


@dataclass(frozen=True, slots=True)
class Send:
    """Please send this request, and say what came of it."""

    request: Request
    fresh: bool = False
    """Over a new connection."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Please wait."""

    seconds: float


Exchange: TypeAlias = Generator[Send | Wait, Reply | Failure | None, ToolResult]
"""A call in the making: it asks for what has to be done, is told what came of it, and returns the result."""
Reader: TypeAlias = Callable[[Reply], ToolResult]
"""What a response means."""
