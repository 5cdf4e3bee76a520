"""Timings: how long each action took to write and to play, beside the episodes and apart from them::

    run_episodes("apibank/L1-v0", policy, episodes=100, out="episodes.jsonl", times=True)
    times = read_times(times_path("episodes.jsonl"))  # of episodes.times.jsonl
    print(times[17])  # [(0.8, 0.0002), (0.7, 0.0001)]: seconds to write, seconds to play, a pair a step

An episode file holds no times: the same run gives the same bytes. So they stand in a file of their own, one line an
episode: ``{"index": 17, "steps": [[0.8, 0.0002], ...]}``. A later line of an index is that of a later try, and wins.
What is not known is null, and never 0.
"""

from __future__ import annotations

import json
import math
import os
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

from callgym.rollouts.stage import StepTimes

__all__ = ["StepTimes", "open_times", "read_times", "times_path", "write_times"]

_LONGEST_LINE = 1 << 26
_DIGITS = 6  # microseconds
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def times_path(episodes_path: str | PathLike[str]) -> Path:
    """Where the times of a file of episodes stand: ``episodes.times.jsonl`` beside ``episodes.jsonl``."""
    path = Path(episodes_path)
    return path.with_name(path.name.removesuffix(".jsonl") + ".times.jsonl")


def open_times(path: Path, resume: bool) -> TextIO:
    """A file of times, to write to.

    Args:
        path: The file.
        resume: Whether to keep what an earlier run left there. A line that it did not finish stays, and is passed over.
    """
    file = path.open("a" if resume else "w", encoding="ascii", newline="\n")
    if file.tell() and not _is_ended(path):
        file.write("\n")
    return file


def write_times(file: TextIO, index: int, steps: tuple[StepTimes, ...]) -> None:
    """Append the line of an episode and hand it to the operating system, as ``write_episode`` does."""
    pairs = [[_rounded(seconds) for seconds in step] for step in steps]
    file.write(_encode({"index": index, "steps": pairs}) + "\n")
    file.flush()


def read_times(path: str | PathLike[str]) -> dict[int, list[StepTimes]]:
    """The times that a file holds; none where there is no such file.

    Times are of no consequence: a line that is cut off or damaged is passed over, and its times are not known.

    Args:
        path: From ``times_path``.

    Returns:
        Index to a pair a step: seconds to write the action, and to play it; None where that is not known. An episode
        that was altered or is of another run may have another number of steps: compare before use.
    """
    found: dict[int, list[StepTimes]] = {}
    try:
        with Path(path).open("rb") as file:
            for line in iter(lambda: file.readline(_LONGEST_LINE), b""):
                read = _times(line)
                if read is not None:
                    found[read[0]] = read[1]
    except FileNotFoundError:
        pass
    return found


def _times(line: bytes) -> tuple[int, list[StepTimes]] | None:
    """Index and times of a line; None where it is damaged."""
    try:
        fields = json.loads(line)
        index, steps = fields["index"], [_pair(step) for step in fields["steps"]]
    except (ValueError, RecursionError, TypeError, KeyError, OverflowError):
        return None
    return (index, steps) if type(index) is int and index >= 0 and line.endswith(b"\n") else None


def _pair(step: Any) -> StepTimes:
    write, play = step
    return _seconds(write), _seconds(play)


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ValueError("no seconds")
    return float(value)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, _DIGITS)


def _is_ended(path: Path) -> bool:
    """Whether a file that is not empty ends with a whole line."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
