"""Episode files, read twice: once as a whole, up to their faults, and once more line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from callgym.errors import DataError
from callgym.rollouts.stage import StepTimes
from callgym.rollouts.stored_lines import StoredLine, read_up_to_fault
from callgym.rollouts.timings import read_times, times_path
from callgym.viewer.columns import Columns
from callgym.viewer.shared_text import RepeatedPieces
from callgym.viewer.sources import Source

__all__ = ["Reading"]


class Reading:
    """What is in the files; nothing before ``survey`` has been run."""

    def __init__(self, sources: Sequence[Source], most: int, advance: Callable[[int], object] | None) -> None:
        """Begin.

        Args:
            sources: The files.
            most: Most characters of a text that are looked at for what repeats.
            advance: Is told the bytes of each line.
        """
        self.sources = sources
        """The files."""
        self.columns = Columns()
        """What the list shows of each line."""
        self.repeated = RepeatedPieces()
        """What stands in more texts than one."""
        self.faults: list[str | None] = [None] * len(sources)
        """What kept the rest of each file from being read."""
        self._most = most
        self._advance = advance or (lambda count: None)
        self._rows = [0] * len(sources)
        self._times = [read_times(times_path(source.path)) for source in sources]
        self._facts = [_Facts() for _ in sources]

    def survey(self) -> None:
        """Read every file up to its fault.

        Raises:
            DataError: There is nothing to read in any of them.
        """
        for run, source in enumerate(self.sources):
            for line in read_up_to_fault(source.path):
                if isinstance(line, str):
                    self.faults[run] = line
                    break
                self._take(run, line)
                self._advance(len(line.raw))
        if not len(self.columns):
            raise DataError("; ".join(fault for fault in self.faults if fault is not None))

    def _take(self, run: int, line: StoredLine) -> None:
        self._rows[run] += 1
        self._facts[run].take(line)
        self.columns.add(run, line, self.times(run, line))
        if line.episode is None:
            return
        self.repeated.count(line.episode.prompt[: self._most])
        for step in line.episode.steps:
            for text in (step.action, step.content, step.reasoning, step.observation):
                self.repeated.count(text[: self._most])

    def times(self, run: int, line: StoredLine) -> list[StepTimes] | None:
        """Seconds of an episode's steps, a pair a step; None where they are not known."""
        times = self._times[run].get(line.index)
        steps = line.fields.get("steps")
        # A file of times may be that of another run.
        return times if times is not None and isinstance(steps, list) and len(times) == len(steps) else None

    def lines(self) -> Iterator[tuple[int, StoredLine]]:
        """Every line that was read, again, with the number of its file; not checked anew.

        Raises:
            DataError: A file is not any more what it was.
        """
        indexes = iter(self.columns.columns["index"])
        for run, (source, rows) in enumerate(zip(self.sources, self._rows, strict=True)):
            with source.path.open("rb") as file:
                for row in range(1, rows + 1):
                    line = _again(file.readline(), row, next(indexes))
                    if line is None:
                        raise DataError(f"{source.path}, row {row}: the file was changed meanwhile; run this again")
                    yield run, line
                    self._advance(len(line.raw))

    def runs(self) -> list[dict[str, Any]]:
        """The files, for the page's index."""
        return [
            {
                "name": source.name,
                "path": str(source.path),
                **facts.to_dict(),
                "fault": fault,
                "timed": bool(times),
            }
            for source, facts, fault, times in zip(self.sources, self._facts, self.faults, self._times, strict=True)
        ]


class _Facts:
    """What is said of a file as a whole."""

    def __init__(self) -> None:
        self._episodes = self._failed = 0
        self._policies: dict[str, None] = {}
        self._rubrics: dict[str, None] = {}

    def take(self, line: StoredLine) -> None:
        self._episodes += 1
        self._failed += line.episode is None
        self._policies[line.policy] = None
        if line.episode is not None:
            self._rubrics[line.episode.rubric] = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "policies": list(self._policies),
            "episodes": self._episodes,
            "failed": self._failed,
            "rubrics": list(self._rubrics),
        }


def _again(raw: bytes, row: int, index: int) -> StoredLine | None:
    """A line that was read and found good before; None where it is another now."""
    try:
        fields = json.loads(raw.removeprefix(b"\xef\xbb\xbf") if row == 1 else raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.get("index") != index:
        return None
    return StoredLine(row, index, fields.get("policy", ""), raw, fields, None)
