"""Which files a page is made of: episode files, and the folders of runs that hold such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from callgym.errors import DataError

__all__ = ["Source", "find_sources"]

_TIMES = ".times.jsonl"
_OPENING = b'{"index":'


@dataclass(frozen=True, slots=True)
class Source:
    """One run's file."""

    path: Path
    """Where it is."""
    name: str
    """What the page calls it; no two are called the same."""


def find_sources(paths: Sequence[str | Path]) -> list[Source]:
    """The episode files, in order; of a folder those in it, what was before training first.

    Raises:
        DataError: A path is missing, is neither file nor folder, or a folder holds no episode file.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        files += [file for file in _files(path) if file not in files]
    if not files:
        raise DataError("no file is given; give a file of episodes, as a run with out=FILE writes it")
    return [Source(file, name) for file, name in zip(files, _names(files), strict=True)]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted((file for file in path.glob("*.jsonl") if _is_episodes(file)), key=_order)
        if not found:
            raise DataError(f"{path} holds no episode file (*.jsonl); give a file, as a run with out=FILE writes it")
        return found
    if not path.exists():
        raise DataError(f"{path} does not exist; give a file of episodes, as a run with out=FILE writes it")
    if not path.is_file():
        raise DataError(f"{path} is no regular file, and it is read twice; give a file of episodes")
    return [path]


def _is_episodes(file: Path) -> bool:
    if file.name.endswith(_TIMES) or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(_OPENING)) == _OPENING


def _order(file: Path) -> tuple[int, str]:
    return (0 if "before" in file.stem else 2 if "after" in file.stem else 1), file.name


def _names(files: Sequence[Path]) -> list[str]:
    """File names; with their folders, where files of several folders are called the same."""
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [f"{file.absolute().parent.name}/{file.stem}" for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return names
