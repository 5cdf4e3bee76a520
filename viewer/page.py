"""Episode files as one page that needs no network::

    summary = write_page(["before.jsonl", "after.jsonl"], Path("view.html"))
    print(summary.bytes, summary.faults)

The files are read twice, line by line: once for what the list shows and for what repeats in texts, once for the
episodes themselves. No more than a block of them is held at a time, so a page is written in a memory that grows
with the number of episodes and not with their length. The same files give the same page, to the byte.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from callgym import __version__
from callgym.errors import ConfigurationError
from callgym.viewer.document import Document
from callgym.viewer.entries import episode_entry
from callgym.viewer.goals import Goals
from callgym.viewer.gold import find_tasks
from callgym.viewer.packed import Blocks, element, packed
from callgym.viewer.reading import Reading
from callgym.viewer.shared_text import SharedTexts
from callgym.viewer.sources import find_sources
from callgym.whole_file import whole_file

__all__ = ["MOST_BYTES", "PageSummary", "write_page"]

MOST_BYTES = 40_000_000
"""Most bytes of a page, unless another limit is given."""

_VERSION = 1
_MOST_CHARACTERS = (100_000, 30_000, 10_000, 3_000, 1_000, 300)
"""Most characters of a text: the first, and those that are tried where the page would be too large."""
_SHARE_OF_TASKS = 4
"""Tasks may take up this part of a page as a whole."""


@dataclass(frozen=True, slots=True)
class PageSummary:
    """What a page holds."""

    page: Path
    """Where it is."""
    bytes: int
    """How large it is."""
    runs: int
    """Files in it."""
    episodes: int
    """Lines in it: episodes that were played and that failed."""
    failed: int
    """Of these, the latter."""
    faults: tuple[str, ...]
    """What kept the rest of a file from being read, one a file that has a fault."""
    gold: int
    """Episodes whose task was found."""
    gold_missing: Mapping[str, int]
    """Why tasks of others were not, and of how many episodes."""
    cut: int
    """Texts that were cut because they are too long."""
    most_characters: int
    """Most characters of a text in this page."""


def write_page(
    files: Sequence[str | Path],
    out: str | Path,
    *,
    title: str = "",
    gold: bool = True,
    data: Any = None,
    env_options: Mapping[str, Any] | None = None,
    most_bytes: int = MOST_BYTES,
    advance: Callable[[int], object] | None = None,
) -> PageSummary:
    """Write a page of episode files, or of the folders that hold them; several files are runs side by side.

    A file is read up to its first fault. The page is there once it is whole.

    Args:
        files: Episode files and folders.
        out: The page; replaced if it is there.
        title: What it is called; the names of the files by default.
        gold: Whether tasks are looked up again, so that the page shows what was asked for.
        data: The folder or the tasks of episodes that were played with such.
        env_options: Arguments of ``gym.make`` that no record holds; see ``EnvironmentPool``.
        most_bytes: Most bytes of the page. Where it would be larger, its longest texts are cut further.
        advance: Is told the bytes of each line as it is read; every line is read twice at least.

    Raises:
        ConfigurationError: ``out`` is one of the files.
        DataError: A file is missing, or nothing at all in the files can be read.
    """
    sources, target = find_sources(files), Path(out)
    for source in sources:
        if target.exists() and target.samefile(source.path):
            raise ConfigurationError(f"{target} is to be read and would be written over; give the page another name")
    name = title or ", ".join(source.name for source in sources)
    frame = Document(name)
    reading = Reading(sources, _MOST_CHARACTERS[0], advance)
    reading.survey()
    with contextlib.ExitStack() as stack:
        goals = _goals(reading, stack)
        if gold:
            tasks = find_tasks(reading.columns.goals, data=data, env_options=env_options)
            goals.add(tasks, _MOST_CHARACTERS[0])
        for most in _MOST_CHARACTERS:
            writing = _Writing(reading, goals, stack, most, most_bytes)
            is_last = most == _MOST_CHARACTERS[-1]
            if writing.add_episodes(is_last) and writing.put_together(name, frame, target, is_last):
                return writing.summary(target)
    raise AssertionError("the last attempt is not given up")


def _goals(reading: Reading, stack: contextlib.ExitStack) -> Goals:
    columns = reading.columns
    whole, lean = (Blocks("tasks", stack.enter_context(_spool())) for _ in range(2))
    return Goals(whole, lean, columns.goals, columns.columns["key"])


class _Writing:
    """One attempt at a page, with a certain length of texts."""

    def __init__(self, reading: Reading, goals: Goals, stack: contextlib.ExitStack, most: int, most_bytes: int) -> None:
        self._reading = reading
        self._goals = goals
        self._tasks = goals.within(most_bytes // _SHARE_OF_TASKS)
        self._most = most
        self._most_bytes = most_bytes
        self._shared = SharedTexts(reading.repeated)
        self._blocks = Blocks("block", stack.enter_context(_spool()))
        self._places: list[tuple[int, int]] = []
        self._cut = 0
        self._bytes = 0

    def add_episodes(self, whatever_it_takes: bool) -> bool:
        """Put in the episodes; whether there is room for them."""
        reading, tasks = self._reading, self._tasks.blocks
        for run, line in reading.lines():
            where = f"{reading.sources[run].path}, row {line.row}"
            entry, cut = episode_entry(line, reading.times(run, line), self._shared, self._most, where)
            self._places.append(self._blocks.add(entry))
            self._cut += cut
            if tasks.characters + self._blocks.characters > self._most_bytes and not whatever_it_takes:
                return False
        self._blocks.finish()
        return True

    def put_together(self, title: str, frame: Document, target: Path, whatever_it_takes: bool) -> bool:
        """Write the page, unless it is too large."""
        tasks = self._tasks.blocks
        head = element("index", packed(self._index(title))) + element("shared", packed(self._shared.pieces))
        self._bytes = len((frame.head + head + frame.tail).encode()) + tasks.characters + self._blocks.characters
        if self._bytes > self._most_bytes and not whatever_it_takes:
            return False
        with whole_file(target) as file:
            for part in (frame.head, head):
                file.write(part)
            for blocks in (tasks, self._blocks):
                file.writelines(blocks.read())
            file.write(frame.tail)
        return True

    def _index(self, title: str) -> dict[str, Any]:
        columns = self._reading.columns
        return {
            "version": _VERSION,
            "title": title,
            "callgym": __version__,
            "runs": self._reading.runs(),
            **columns.tables(),
            "task_places": self._tasks.places,
            "columns": {
                **columns.to_dict(),
                "block": [block for block, _ in self._places],
                "offset": [offset for _, offset in self._places],
            },
            "blocks": self._blocks.count,
            "task_blocks": self._tasks.blocks.count,
            "gold_missing": self._goals.missing,
        }

    def summary(self, page: Path) -> PageSummary:
        """What the page holds."""
        runs = self._reading.runs()
        return PageSummary(
            page=page,
            bytes=self._bytes,
            runs=len(runs),
            episodes=sum(run["episodes"] for run in runs),
            failed=sum(run["failed"] for run in runs),
            faults=tuple(fault for fault in self._reading.faults if fault is not None),
            gold=self._goals.found,
            gold_missing=self._goals.missing,
            cut=self._cut + self._goals.cut,
            most_characters=self._most,
        )


def _spool() -> contextlib.AbstractContextManager[TextIO]:
    return tempfile.TemporaryFile("w+", encoding="ascii", newline="")
