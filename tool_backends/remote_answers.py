"""What is asked of a tool server, what comes back, and what that means for a policy; not how it travels."""

from __future__ import annotations

import json
import warnings
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from callgym.call import ToolResult
from callgym.tool_backends.server.wire import WireError, read_json, read_result

__all__ = ["Answer", "Answers", "Ask", "Broken", "Fault", "RemoteNotice", "Work", "notice", "without_token"]

T = TypeVar("T")
_MAX_WORDS = 300
_MAX_REFUSAL = 100_000


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    method: str
    path: str
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """One response, read to its end."""

    status: int
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Broken:
    """Why there is no response."""

    kind: Literal["timeout", "unreachable", "lost", "too_long"]
    """The time was up; the request never left; it left, and the connection broke or spoke no HTTP; or the answer was
    longer than the limit."""


Work: TypeAlias = Generator[Ask, Answer | Broken, T]
"""What has to be asked of a server, one request after another; it is told what came of each."""


class RemoteNotice(UserWarning):
    """Something between here and a tool server that the user should mend: a wrong token, a session that is gone."""


class Fault(Exception):
    """A request came to nothing."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.message)
        self.result = result
        """What the policy is told of it."""


class Answers:
    """Reads the answers of one server. Every method raises Fault for an answer that is none."""

    def __init__(self, url: str, timeout_s: float) -> None:
        """Read the answers of a server.

        Args:
            url: Where it is; said to users, not to policies.
            timeout_s: How long it had for each, in seconds.
        """
        self._url = url
        self._timeout_s = timeout_s

    def result(self, answer: Answer | Broken) -> ToolResult:
        """The result of a call."""
        try:
            return read_result(self.body(answer))
        except WireError as error:
            raise Fault(_unavailable(f"its server's answer {error}")) from None

    def json_object(self, answer: Answer | Broken) -> dict[str, Any]:
        """A JSON object."""
        try:
            value = read_json(self.body(answer))
        except WireError as error:
            raise Fault(_unavailable(f"its server's answer {error}")) from None
        if not isinstance(value, dict):
            raise Fault(_unavailable("its server's answer is no object"))
        return value

    def session(self, answer: Answer | Broken) -> str:
        """The id of a session that was opened."""
        key = self.json_object(answer).get("session")
        if not isinstance(key, str) or not key.isascii() or not key.replace("-", "").replace("_", "").isalnum():
            raise Fault(_unavailable("its server opened no session"))
        return key

    def body(self, answer: Answer | Broken) -> bytes:
        """Whatever was answered, unless it was a refusal."""
        if isinstance(answer, Broken):
            raise Fault(self._broken(answer))
        status, body = answer.status, answer.body
        if 200 <= status < 300:
            return body
        word, said = _refusal(body)
        words = f": {said}" if said else ""
        if status in (401, 403):
            notice(f"{self._url} does not let us in (status {status}){words}")
            raise Fault(_unavailable(f"its server does not let us in (status {status})"))
        if word in ("unknown_task", "other_task"):
            notice(f"{self._url} serves other tasks{words}")
        elif word in ("invalid_json", "invalid_request", "body_too_large"):
            raise Fault(ToolResult(error="invalid_arguments", message=f"the call cannot be sent to its server{words}"))
        raise Fault(_unavailable(f"its server refuses (status {status}){words}"))

    def _broken(self, broken: Broken) -> ToolResult:
        if broken.kind == "timeout":
            message = f"no answer came within {self._timeout_s:g} s; whether the call took effect is not known"
            return ToolResult(error="timeout", message=message)
        if broken.kind == "unreachable":
            return _unavailable("its server cannot be reached; try again later, or do without it")
        if broken.kind == "too_long":
            return ToolResult(error="tool_error", message="the answer is too long to be passed on; ask for less")
        return _unavailable("the connection broke before the answer came; whether the call took effect is not known")


def without_token(token: str | None, answer: Answer | Broken) -> Answer | Broken:
    """The answer without the token, should a server quote it."""
    if token is None or not isinstance(answer, Answer) or token.encode() not in answer.body:
        return answer
    return Answer(answer.status, answer.body.replace(token.encode(), b"***"))


def notice(message: str) -> None:
    """Tell the user, once for each message."""
    warnings.warn(message, RemoteNotice, stacklevel=2)


def _refusal(body: bytes) -> tuple[str, str]:
    """The word and the sentence of a refusal, as far as the server gives them."""
    try:
        value = json.loads(body[:_MAX_REFUSAL])
        word, said = value["error"], value["message"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return "", ""
    if not isinstance(word, str) or not isinstance(said, str):
        return "", ""
    said = " ".join("".join(c if c.isprintable() else " " for c in said[: 2 * _MAX_WORDS]).split())
    return word, said if len(said) <= _MAX_WORDS else said[: _MAX_WORDS - 3] + "..."


def _unavailable(message: str) -> ToolResult:
    return ToolResult(error="unavailable", message=f"the tool is unavailable: {message}")
