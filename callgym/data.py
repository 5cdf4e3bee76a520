"""Where an environment's tasks come from: real benchmark files, or the starter tasks it ships.

Real data belongs to its authors and is fetched into a cache folder (``CALLGYM_DATA``, else the
platform's cache folder), never shipped. ``data=`` of ``gym.make`` chooses:

- ``"auto"``: fetched data where it is present, else the starter tasks (said once, aloud);
- ``"official"``: fetched data, an error where it is missing;
- ``"starter"``: the starter tasks;
- a folder: benchmark files in their official layout.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from callgym.errors import ConfigurationError, DataError

__all__ = [
    "DataNotice",
    "DataSource",
    "cache_folder",
    "fetch_from",
    "find_source",
    "read_json_file",
    "read_json_lines",
]

_MANIFEST = "callgym-manifest.json"
_announced: set[str] = set()


class DataNotice(UserWarning):
    """Says which data an environment uses, where the user left the choice to it."""


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where tasks are read from."""

    kind: str
    """``starter``, ``official`` (the cache folder) or ``folder`` (given by the user)."""
    folder: Path | None = None
    """The folder with the benchmark's files; None for starter tasks."""


def cache_folder() -> Path:
    """The folder that fetched benchmarks live in: ``CALLGYM_DATA``, else the platform's cache folder."""
    given = os.environ.get("CALLGYM_DATA")
    return Path(given) if given else Path(platformdirs.user_cache_dir("callgym"))


def find_source(family: str, data: str | os.PathLike[str]) -> DataSource:
    """Decide where the tasks of ``family`` come from.

    Raises:
        ConfigurationError: ``data`` is none of the choices.
        DataError: Official data was asked for and is not there, or the folder does not exist.
    """
    if data == "starter":
        return DataSource("starter")
    fetched = cache_folder() / family
    if data == "official":
        if not fetched.is_dir():
            raise DataError(
                f"no official data of {family!r} in {fetched}; fetch it with: "
                f"callgym fetch {family} --from FOLDER (or use data='starter')"
            )
        return DataSource("official", fetched)
    if data == "auto":
        return _auto_source(family, fetched)
    folder = Path(data)
    if not folder.is_dir():
        raise DataError(
            f"data={str(data)!r} is not a folder; data is 'auto', 'official', 'starter' or a folder "
            f"with the files of {family!r}"
        )
    return DataSource("folder", folder)


def _auto_source(family: str, fetched: Path) -> DataSource:
    source = DataSource("official", fetched) if fetched.is_dir() else DataSource("starter")
    if family not in _announced:
        _announced.add(family)
        what = f"official data in {fetched}" if source.kind == "official" else "its own starter tasks"
        hint = "" if source.kind == "official" else f"; for official data: callgym fetch {family} --from FOLDER"
        warnings.warn(f"callgym: {family} uses {what}{hint}", DataNotice, stacklevel=6)
    return source


def fetch_from(family: str, folder: Path, files: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[Path]:
    """Copy a benchmark's files from a folder one already has into the cache folder.

    The copy is made beside the old one and takes its place when it is whole. A manifest with each file's
    SHA-256 is written, which ``verify`` reads.

    Args:
        family: Name of the benchmark.
        folder: Where the files are, in their official layout.
        files: Glob patterns of the files to take; each must match at least one.
        optional: Patterns that may match none.

    Returns:
        The files, at their new place.

    Raises:
        DataError: The folder does not exist, or a pattern matches nothing in it.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder; give the folder that holds {files[0]!r}")
    found: list[Path] = []
    for pattern in files:
        matches = sorted(path for path in folder.glob(pattern) if path.is_file())
        if not matches:
            raise DataError(f"{folder} has no file {pattern!r}, which {family} needs; is it the right folder?")
        found += matches
    found += sorted(path for pattern in optional for path in folder.glob(pattern) if path.is_file())
    target = cache_folder() / family
    partial = target.with_name(f".{family}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    manifest = {}
    for path in found:
        relative = path.relative_to(folder)
        copy = partial / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        manifest[relative.as_posix()] = hashlib.sha256(copy.read_bytes()).hexdigest()
    (partial / _MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), encoding="utf-8")
    if target.exists():
        shutil.rmtree(target)
    partial.replace(target)
    return [target / path for path in manifest]


def verify(folder: Path) -> None:
    """Check fetched files against the manifest that ``fetch`` wrote; folders without one are left alone.

    Raises:
        DataError: A file is missing or was altered; the message names it and the command that mends it.
    """
    manifest = folder / _MANIFEST
    if not manifest.is_file():
        return
    for name, digest in read_json_file(manifest).items():
        path = folder / name
        mend = f"fetch it again: callgym fetch {folder.name} --from FOLDER"
        if not path.is_file():
            raise DataError(f"{path} is missing; {mend}")
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise DataError(f"{path} was altered since it was fetched (its SHA-256 differs); {mend}")


def read_json_file(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        DataError: The file is missing, is not UTF-8, or is not JSON; the message names the place.
    """
    text = _read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON ({error}); was it cut short? Fetch it again.") from error


def read_json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(Row number from 1, value) of each line of a JSON Lines file; empty lines are passed over.

    Raises:
        DataError: The file is missing, or a row is not JSON; the message names file, row and mend.
    """
    for row, line in enumerate(_read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield row, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{path}, row {row}: not valid JSON ({error}); the row begins {line[:60]!r}. "
                "Was the file cut short? Fetch it again."
            ) from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(
            f"{path} does not exist; is {path.parent} the right folder? Fetch the data again, or use data='starter'."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error}); fetch it again.") from error


def check_split(split: str, known: tuple[str, ...], where: str) -> None:
    """Raise unless ``split`` is one of ``known``.

    Raises:
        ConfigurationError: It is not; the message lists those there are.
    """
    if split not in known:
        raise ConfigurationError(f"{where} has no split {split!r}; its splits are: {', '.join(known)}")
