"""What services say when something is wrong with them, in our words.

None of the sentences names a tool, for a policy may know it by another name, nor says whether the call has had an
effect, for whoever is cut off does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callgym.call import ToolResult
from callgym.tool_backends.faults.chance import Chance

__all__ = ["Failing", "down", "failure", "late", "too_many"]

Failing = Literal["unavailable", "tool_error"]

_SENTENCES: dict[Failing, tuple[str, ...]] = {
    "unavailable": (
        "503 Service Unavailable: the server cannot handle the request at the moment. Please try again.",
        "502 Bad Gateway: no valid response came from the upstream server.",
        "The connection was closed by the remote host before a response was received.",
        "Connection error: the network is unreachable or the host did not respond.",
        "The service is temporarily overloaded. Please try again shortly.",
    ),
    "tool_error": (
        "500 Internal Server Error: something went wrong on our side.",
        "An unexpected error occurred while the request was processed. Please try again.",
        "Database error: the transaction was aborted because of a lock timeout.",
        "Internal error: a worker process exited unexpectedly.",
    ),
}
_DOWN = (
    "503 Service Unavailable: down for maintenance. Please come back later.",
    "The service is currently offline. Our team has been notified.",
    "Could not connect: connection refused.",
)
_TOO_MANY = (
    "429 Too Many Requests: the rate limit has been reached. Wait before you try again.",
    "Rate limit exceeded: the quota of {calls} requests is used up for now. Please retry after a while.",
)


def failure(kind: Failing, chance: Chance, number: int) -> ToolResult:
    """What a service answers to one call that goes wrong."""
    return ToolResult(error=kind, message=_one_of(_SENTENCES[kind], chance, number))


def down(chance: Chance, window: int) -> ToolResult:
    """What is answered while a service is down: the same all the time."""
    return ToolResult(error="unavailable", message=_one_of(_DOWN, chance, window))


def too_many(chance: Chance, calls: int) -> ToolResult:
    """What is answered to calls beyond a quota."""
    return ToolResult(error="unavailable", message=_one_of(_TOO_MANY, chance, 0).format(calls=calls))


def late(limit: float) -> ToolResult:
    """What is answered where nothing came in time."""
    return ToolResult(error="timeout", message=f"No response within {limit:g} seconds: the request timed out.")


def _one_of(sentences: Sequence[str], chance: Chance, number: int) -> str:
    return sentences[chance.below(len(sentences), "words", number)]
