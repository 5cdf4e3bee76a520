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
from typing import Any, TextIO

from callgym.episode import Episode
from callgym.errors import DataError
from callgym.rollouts.stage import Failure

__all__ = ["EpisodeRow", "cut_torn_tail", "read_episodes", "read_rows", "write_episode", "write_failure"]

_CHUNK = 1 << 16
_OPENING = b'{"index":'


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


def write_episode(file: TextIO, index: int, policy: str, episode: Episode) -> None:
    """Append one line and hand it to the operating system: a killed process loses no ended episode."""
    line = {"index": index, "policy": policy, **episode.to_dict()}
    file.write(json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")
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
        DataError: The file is missing, a line is no episode, is cut off, or an index appears twice;
            the message names file, row and mend.
    """
    for row in read_rows(path):
        yield row.index, row.episode


def read_rows(path: str | Path, *, allow_torn_tail: bool = False) -> Iterator[EpisodeRow]:
    """Every line of an episode file but those of episodes that failed; raises as ``read_episodes`` does.

    Args:
        path: The file.
        allow_torn_tail: Pass over what a stopped writer left behind the last whole line.
    """
    path = Path(path)
    seen: dict[int, int] = {}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if allow_torn_tail and _is_torn(line):
                    return
                row = _read_row(line, number, path)
                if row is None:
                    continue
                if row.index in seen:
                    raise DataError(
                        f"{path}, row {number}: episode {row.index} stands in row {seen[row.index]} already; "
                        "delete one of the two rows"
                    )
                seen[row.index] = number
                yield row
    except FileNotFoundError:
        raise DataError(f"{path} does not exist; it is written by a run with out={str(path)!r}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; give the file of episodes") from None


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
        if not _is_torn(file.read()):
            return 0
        file.truncate(at)
    return size - at


def _is_torn(line: bytes) -> bool:
    """Whether a line is the beginning of an episode's, cut off."""
    return not line.endswith(b"\n") and (line.startswith(_OPENING) or _OPENING.startswith(line)) and line != b""


def _read_row(line: bytes, number: int, path: Path) -> EpisodeRow | None:
    """The episode of a line; None where it failed."""
    where = f"{path}, row {number}"
    if not line.endswith(b"\n"):
        raise DataError(f"{where}: the line is cut off; resume the run that wrote it, or delete the row")
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not valid JSON ({error}); delete the row and resume the run") from error
    index = fields.pop("index", None) if isinstance(fields, dict) else None
    if type(index) is not int or index < 0:
        raise DataError(f"{where}: no episode, which has an 'index' of 0 or more; is it a file of episodes?")
    policy: Any = fields.pop("policy", "")
    if not isinstance(policy, str):
        raise DataError(f"{where}: 'policy' is a name, found {policy!r}; delete the row and resume the run")
    if isinstance(fields.get("failure"), dict):
        return None
    return EpisodeRow(number, index, policy, Episode.from_dict(fields, where))
