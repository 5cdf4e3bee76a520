"""Episode files: one JSON line an episode, written as it ends::

    {"index": 17, "policy": "oracle", "env_id": "apibank/L1-v0", "task_id": ..., "steps": [...], ...}

Lines stand in the order in which the episodes ended; ``index`` says which episode of the run each is.
An episode that could not be played has ``"failure"`` in place of its steps; a later line of the same index is a later
try. A file whose writer was stopped is whole but for its last line, which ``cut_torn_tail`` takes away.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from callgym.episode import Episode
from callgym.rollouts.stage import Failure
from callgym.rollouts.stored_lines import is_torn, read_lines

__all__ = [
    "EpisodeRow",
    "cut_torn_tail",
    "episode_line",
    "read_episodes",
    "read_rows",
    "write_episode",
    "write_failure",
]

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One line of an episode file."""

    row: int
    """The line's number, from 1."""
    index: int
    """Which episode of its run it is, from 0."""
    policy: str
    """Name of the policy that played; empty where the line does not say."""
    episode: Episode
    """The record."""


def episode_line(index: int, policy: str, episode: Episode) -> str:
    """The line of an episode, its end included."""
    line = {"index": index, "policy": policy, **episode.to_dict()}
    text = json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which can only be written as an escape
        return json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n"
    return text


def write_episode(file: TextIO, index: int, policy: str, episode: Episode) -> None:
    """Append one line and hand it to the operating system: a killed process loses no ended episode."""
    file.write(episode_line(index, policy, episode))
    file.flush()


def write_failure(
    file: TextIO, index: int, policy: str, env_id: str, task_id: str, seed: int, failure: Failure
) -> None:
    """As ``write_episode``, for an episode that could not be played."""
    who = {"index": index, "policy": policy, "env_id": env_id, "task_id": task_id, "seed": seed}
    line = {**who, "failure": dataclasses.asdict(failure)}
    # Half surrogates, which no encoding carries, can stand in an exception's words.
    file.write(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n")
    file.flush()


def read_episodes(path: str | Path) -> Iterator[tuple[int, Episode]]:
    """(index, episode) of each line, in the file's order; lines of episodes that failed are passed over.

    Raises:
        DataError: The file is missing or empty, a line is no episode, is cut off, or an index appears twice;
            the message names file, row and mend.
    """
    for row in read_rows(path):
        yield row.index, row.episode


def read_rows(path: str | Path, *, allow_torn_tail: bool = False) -> Iterator[EpisodeRow]:
    """Every line of an episode file but those of episodes that failed; raises as ``read_episodes`` does.

    Args:
        path: The file.
        allow_torn_tail: Pass over what a stopped writer left behind the last whole line, which may be all there is.
    """
    for line in read_lines(Path(path), allow_torn_tail=allow_torn_tail):
        if line.episode is not None:
            yield EpisodeRow(line.row, line.index, line.policy, line.episode)


def cut_torn_tail(path: Path) -> int:
    """Cut away what a stopped writer left behind the last whole line, and say how many bytes that was.

    Anything else that stands there is left as it is.
    """
    with path.open("r+b") as file:
        size = at = file.seek(0, 2)
        while at > 0:
            start = max(0, at - _CHUNK)
            file.seek(start)
            newline = file.read(at - start).rfind(b"\n")
            if newline >= 0:
                at = start + newline + 1
                break
            at = start
        file.seek(at)
        if not is_torn(file.read()):
            return 0
        file.truncate(at)
    return size - at
