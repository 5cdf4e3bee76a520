"""What became of a program, in the words that a policy is told: the same for every engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from callgym.call import ErrorKind, ToolResult
from callgym.tool_backends.sandbox.limits import MIB, Limits

__all__ = ["Outcome", "cleaned", "cut_value", "limit_reached", "program_raised"]

_LONGEST = 400
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one program."""

    value: Any = None
    """The value of its last expression, a JSON value."""
    stdout: str = ""
    """What it printed, as much of it as is kept."""
    dropped: int = 0
    """Bytes that it printed beyond that."""
    error: ErrorKind | None = None
    """None, or the kind of failure."""
    message: str = ""
    """A failure in words, without the variables."""
    lost: bool = False
    """Whether the variables are gone, and the machine with them."""

    def result(self, persistent: bool) -> ToolResult:
        """The outcome as the policy gets it.

        Args:
            persistent: Whether variables would have been kept; where not, nobody misses them.
        """
        if self.error is None:
            more = f"... [{self.dropped:,} more bytes were dropped]" if self.dropped else ""
            return ToolResult(content={"stdout": self.stdout + more, "result": self.value})
        lost = " The variables of earlier calls are lost." if self.lost and persistent else ""
        printed = self.stdout.strip()[-100:]
        printed = f" Printed before: {printed}" if printed else ""
        message = self.message
        room = _LONGEST - len(lost) - len(printed)
        if len(message) > room:
            message = message[: room - 3] + "..."
        return ToolResult(error=self.error, message=message + lost + printed)

    def cleaned(self, paths: Mapping[str, str]) -> Outcome:
        """The outcome with nothing in it that is other on another machine; see ``cleaned``."""
        return replace(
            self,
            value=_clean_value(self.value, paths),
            stdout=cleaned(self.stdout, paths),
            message=cleaned(self.message, paths),
        )


def cleaned(text: str, paths: Mapping[str, str]) -> str:
    """Text without half surrogates, addresses in memory and this machine's paths.

    Args:
        text: What a program said.
        paths: Path of this machine to what is shown in its place.
    """
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if " at 0x" in text:
        text = _ADDRESS.sub("at 0x0", text)
    for path, shown in paths.items():
        text = text.replace(path, shown)
    return text


def _clean_value(value: Any, paths: Mapping[str, str]) -> Any:
    if type(value) is str:
        return cleaned(value, paths)
    if type(value) is list:
        return [_clean_value(item, paths) for item in value]
    if type(value) is dict:
        return {cleaned(key, paths): _clean_value(item, paths) for key, item in value.items()}
    return value


def cut_value(text: str, most: int, dropped: int = 0) -> str:
    """At most ``most`` characters of a value's text, and how many are missing.

    Args:
        text: The beginning of what there was.
        most: Characters to keep.
        dropped: Characters that are missing behind ``text``.
    """
    dropped += max(0, len(text) - most)
    return f"{text[:most]}... [{dropped:,} more characters were dropped]" if dropped else text


def program_raised(
    kind: str, message: str, line: int | None, source: str, limit: str | None, limits: Limits
) -> Outcome:
    """A program that ended in an exception.

    Args:
        kind: The exception's class.
        message: Its text.
        line: Line of the program, from 1, where it is known.
        source: That line.
        limit: Which limit it comes from, where it comes from one: a key of what ``limit_reached`` knows.
        limits: The limits.
    """
    text = f"{kind}: {_short(message, 200)}" if message else kind
    if line is not None:
        text += f" (line {line}: {_short(source, 60)})" if source else f" (line {line})"
    text += "." if text[-1] not in ".!?" else ""
    if limit is not None:
        text += f" {limit_reached(limit, limits)}"
    return Outcome(error="tool_error", message=text, lost=limit == "memory")


def _short(text: str, most: int) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text[: 4 * most].split()))
    return text if len(text) <= most else text[: most - 3] + "..."


def limit_reached(limit: str, limits: Limits) -> str:
    """The sentence that names a limit."""
    sentences = {
        "memory": f"A program has at most {_mib(limits.memory)} of memory.",
        "disk": f"A program's files have at most {_mib(limits.disk)}, each and together.",
        "open_files": f"A program has at most {limits.open_files} open files.",
        "processor": f"The programs of a session have {limits.processor} seconds of processor time together.",
        "calls": "A program has no network, starts no processes or threads and signals nobody.",
        "files": "A program reads Python's library and its own folder; it removes nothing and makes no folders.",
        "no files": "A program has no files and no network.",
        "questions": "A program may ask for files and names that do not exist 1,000 times.",
    }
    return sentences[limit]


def _mib(count: int) -> str:
    return f"{count / MIB:,.4g} MiB"
