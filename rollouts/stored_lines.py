"""Stored lines: an episode file as it stands on a disk, line by line, whatever has become of it there::

    for line in read_up_to_fault(Path("episodes.jsonl")):
        print(line if isinstance(line, str) else line.index)  # a str is the fault, and the last there is

A file may be cut off, damaged, altered, packed, or no file of episodes at all. Nothing of what stands in it raises
anything but a ``DataError`` that names the file, the row, what is there and the mend, in one harmless line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgym.episode import Episode
from callgym.errors import DataError
from callgym.json_value import nests_deeper, refuse_constant
from callgym.noun import require_finite

__all__ = ["StoredLine", "is_torn", "read_lines", "read_up_to_fault", "stored_line"]

_LONGEST_LINE = 1 << 28
_MOST_SHOWN = 300
_DEEPEST = 100
_MOST_TURNS = 100_000  # who reads records counts up to a step's turn
_MOST_INDEX = 1 << 53  # what other languages read exactly
_OPENING = b'{"index":'
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FOREIGN = {
    b"\x1f\x8b": ("gzip", "unpack it"),
    b"PK\x03\x04": ("a zip archive", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unpack it"),
    b"\xfd7zXZ": ("xz", "unpack it"),
    b"BZh": ("bzip2", "unpack it"),
    b"\xff\xfe": ("UTF-16", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16", "save it as UTF-8"),
    b"SQLite format 3": ("an SQLite database", "give the file of episodes"),
    b"PAR1": ("Parquet", "give the file of episodes"),
}
_IS_IT = "is it a file of episodes?"
_DELETE = "delete the row, or resume the run that wrote the file"


@dataclass(frozen=True, slots=True)
class StoredLine:
    """One line of an episode file, as it stands there."""

    row: int
    """The line's number, from 1."""
    index: int
    """Which episode of its run it is."""
    policy: str
    """Name of the policy that played; empty where the line does not say."""
    raw: bytes
    """The line, its end included."""
    fields: dict[str, Any]
    """The JSON object of the line."""
    episode: Episode | None
    """The record; None where the line says that the episode failed."""


def read_up_to_fault(path: Path) -> Iterator[StoredLine | str]:
    """Every whole line of an episode file; at last the fault, in one line, where there is one.

    Raises:
        DataError: The file is missing or a folder.
    """
    try:
        yield from read_lines(path)
    except DataError as error:
        if not path.exists() or path.is_dir():
            raise
        yield str(error)


def read_lines(path: Path, *, allow_torn_tail: bool = False) -> Iterator[StoredLine]:
    """Every line of an episode file, those of failed episodes included.

    Args:
        path: The file.
        allow_torn_tail: Pass over what a stopped writer left behind the last whole line, which may be all there is.

    Raises:
        DataError: The file is missing or empty, a line is no episode, is cut off, or an index appears twice; the
            message names file, row and mend.
    """
    seen: dict[int, int] = {}
    number = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                if allow_torn_tail and is_torn(raw):
                    return
                line = stored_line(raw, number, path)
                if line.episode is not None and seen.setdefault(line.index, number) != number:
                    raise DataError(
                        f"{path}, row {number}: episode {line.index} stands in row {seen[line.index]} already; "
                        "delete one of the two rows"
                    )
                yield line
    except FileNotFoundError:
        raise DataError(f"{path} does not exist; give a file of episodes, as a run with out=FILE writes it") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; give the file of episodes") from None
    if not number and not allow_torn_tail:
        raise DataError(f"{path} is empty: there is no episode in it; give a file of episodes")


def is_torn(line: bytes) -> bool:
    """Whether a line is the beginning of an episode's, cut off."""
    return not line.endswith(b"\n") and (line.startswith(_OPENING) or _OPENING.startswith(line)) and line != b""


def stored_line(raw: bytes, number: int, path: Path) -> StoredLine:
    """Read one line.

    Args:
        raw: The line, its end included.
        number: Which one it is, from 1.
        path: The file, for messages.

    Raises:
        DataError: It is no whole line of an episode; the message names file, row, what is there and the mend.
    """
    where = f"{path}, row {number}"
    fields = _fields(raw, number, where)
    index = fields.get("index")
    if fields.keys() == {"index", "steps"}:
        raise DataError(f"{where}: times, which stand beside their episodes; give the file of episodes")
    if type(index) is not int or not 0 <= index < _MOST_INDEX:
        raise DataError(f"{where}: no episode, which has an 'index' of 0 or more; {_IS_IT}")
    policy = fields.get("policy", "")
    if not isinstance(policy, str):
        raise DataError(f"{where}: 'policy' is a name, found {_shown(repr(policy))}; {_DELETE}")
    if isinstance(fields.get("failure"), dict):
        _check_failed(fields, where)
        return StoredLine(number, index, policy, raw, fields, None)
    record = {name: value for name, value in fields.items() if name not in ("index", "policy")}
    try:
        episode = Episode.from_dict(record)
    except (DataError, RecursionError) as error:
        raise DataError(f"{where}: {_shown(str(error))}; {_IS_IT if number == 1 else _DELETE}") from error
    if any(step.turn >= _MOST_TURNS for step in episode.steps):
        raise DataError(f"{where}: a step of turn {_MOST_TURNS:,} or later, which no episode reaches; {_DELETE}")
    return StoredLine(number, index, policy, raw, fields, episode)


def _fields(raw: bytes, number: int, where: str) -> dict[str, Any]:
    """The JSON object of a line."""
    text = raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw
    if not text.lstrip().startswith(b"{"):
        raise DataError(f"{where}: {_foreign(text, number)}")
    if not raw.endswith(b"\n"):
        if len(raw) >= _LONGEST_LINE:
            raise DataError(f"{where}: the line is longer than {_LONGEST_LINE >> 20} MB; {_IS_IT}")
        raise DataError(f"{where}: the line is cut off; resume the run that wrote it, or delete the row")
    try:
        fields: dict[str, Any] = json.loads(text.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:  # ValueError: also an integer of too many digits
        mend = _IS_IT if number == 1 else _DELETE
        raise DataError(f"{where}: not valid JSON ({_shown(str(error))}); {mend}") from error
    return fields


def _foreign(text: bytes, number: int) -> str:
    """What a line is that does not open an object."""
    if number == 1:
        for opening, (name, mend) in _FOREIGN.items():
            if text.startswith(opening):
                return f"the file is {name}; {mend}"
    if not text.strip():
        return "the line is empty; delete it"
    return f"no episode, but {text[:20]!r}; {_IS_IT if number == 1 else _DELETE}"


def _check_failed(fields: dict[str, Any], where: str) -> None:
    """Demand of the line of a failed episode what every reader takes for granted."""
    failure = fields["failure"]
    if not all(isinstance(failure.get(name), str) for name in ("kind", "message")):
        raise DataError(f"{where}: a 'failure' has a 'kind' and a 'message'; {_DELETE}")
    if nests_deeper(fields, _DEEPEST):
        raise DataError(f"{where}: lists and objects stand in each other more than {_DEEPEST} deep; {_DELETE}")
    try:
        require_finite(fields)
    except ValueError as error:
        raise DataError(f"{where}: {error}; {_DELETE}") from error


def _shown(words: str) -> str:
    """Words that may quote the file, in one line, for a terminal."""
    line = " ".join(words.split())[:_MOST_SHOWN]
    line = "".join([c if c.isprintable() else c.encode("unicode_escape").decode() for c in line])
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 3] + "..."
