"""What a recording holds and how it is asked, whatever it lies in: an SQLite file, or ToolBench's folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, get_args

from callgym.call import ErrorKind, ToolResult
from callgym.errors import DataError
from callgym.tool import Tool
from callgym.tool_backends.recording.redaction import Redaction

__all__ = ["Answer", "Answers", "RecordedCall", "ToolCount", "Wanted", "read_result", "result_dict"]

_ERRORS = frozenset(get_args(ErrorKind))


class Wanted(NamedTuple):
    """A call whose answer is looked for."""

    tool: str
    """Its name."""
    arguments: dict[str, Any]
    """Its arguments, secrets redacted."""
    key: str
    """Its key."""
    by: Literal["exact", "normal"]
    """Which key that is: of the arguments as they are, or of normal ones."""
    scope: str | None
    """What was called before (``History.scope``), where that matters; answers that hold anywhere hold there, too."""
    sequence: int
    """How many answers calls of this key have had in the session: the next one is wanted, or the last."""


class Answer(NamedTuple):
    """An answer that was found."""

    result: ToolResult
    """What was recorded; nobody else holds it."""
    exact: str
    """The key of the call that was recorded."""
    normal: str
    """Its key with normal arguments."""
    scope: str
    """Where the answer holds: after these calls, or anywhere."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One row of a recording."""

    tool: str
    """The tool's name."""
    arguments: dict[str, Any]
    """Its arguments, secrets redacted."""
    result: ToolResult
    """What was answered."""
    scope: str
    """Where the answer holds; empty for anywhere."""
    sequence: int
    """How many answers the same call had had before in its session."""
    normal: str
    """The key of the call with normal arguments."""
    source: str
    """Where the row comes from: the task's id, or a file."""


@dataclass(frozen=True, slots=True)
class ToolCount:
    """How much of one tool a recording holds."""

    tool: str
    """The tool's name."""
    answers: int
    """Rows."""
    calls: int
    """Different calls among them."""
    failures: int
    """Answers that are failures."""


class Answers(Protocol):
    """A recording, to be asked."""

    @property
    def name(self) -> str:
        """What it is called in messages to people."""

    @property
    def redaction(self) -> Redaction:
        """What is hidden in its arguments."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that it has documents of."""

    def find(self, wanted: Wanted) -> Answer | None:
        """The answer that is due; None where nothing is on record."""

    def state_at(self, moment: str) -> dict[str, Any] | None:
        """The state that was found at a moment; None where none was kept."""

    def calls(self, tool: str | None = None) -> Iterator[RecordedCall]:
        """The rows in the order in which they were written: of one tool, or all."""

    def counts(self) -> list[ToolCount]:
        """The tools by name, with how much there is of each."""


def result_dict(result: ToolResult) -> dict[str, Any]:
    """A result as it is stored: ``{"content": ...}``, or ``{"error": kind, "message": ...}``."""
    if result.error is None:
        return {"content": result.content}
    stored = {"error": result.error, "message": result.message}
    return stored if result.content is None else {**stored, "content": result.content}


def read_result(text: str, path: Path, number: int) -> ToolResult:
    """A result as it was stored.

    Args:
        text: JSON.
        path: The file that it is from.
        number: Its row in it.

    Raises:
        DataError: It is not what ``result_dict`` gives.
    """
    try:
        stored = _decode(text)
    except (ValueError, RecursionError) as error:
        fault = f"the result is not JSON ({error}); restore the file, or record it anew"
        raise DataError(f"{path}, call {number}: {fault}") from error
    if type(stored) is dict:
        kind = stored.get("error")
        message = stored.get("message", "")
        if (kind is None or kind in _ERRORS) and type(message) is str and ("content" in stored or kind):
            return ToolResult.trusted(content=stored.get("content"), error=kind, message=message)
    raise DataError(
        f"{path}, call {number}: a result is {{'content': ...}} or {{'error': kind, 'message': ...}}, "
        f"found {text[:80]!r}"
    )


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).decode
