"""Where an environment's tasks come from: real benchmark files, or the starter tasks it ships.

Real data belongs to its authors and is fetched into a cache folder (``CALLGYM_DATA``, else the
platform's cache folder), never shipped. ``data=`` of ``gym.make`` chooses:

- ``"auto"``: fetched data where it is present, else the starter tasks (said once, aloud);
- ``"official"``: fetched data, an error where it is missing;
- ``"starter"``: the starter tasks;
- a folder: benchmark files in their official layout.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgym.errors import ConfigurationError, DataError

__all__ = [
    "DataNotice",
    "DataSource",
    "Fetched",
    "cache_folder",
    "canonical_sha256",
    "fetch_from",
    "find_source",
    "install_folder",
    "naming_place",
    "read_json_file",
    "read_json_lines",
    "recorded_sha256",
    "sha256_of",
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


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch brought."""

    files: tuple[Path, ...]
    """The files in the cache folder."""
    notes: tuple[str, ...] = ()
    """What the user should know: files that no checksum was pinned for, tables that could not be read."""


def cache_folder() -> Path:
    """The folder that fetched benchmarks live in: ``CALLGYM_DATA``, else the platform's cache folder."""
    given = os.environ.get("CALLGYM_DATA")
    return Path(given) if given else _platform_cache() / "callgym"


def _platform_cache() -> Path:
    """Where programs of this platform keep what they can fetch again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


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
                f"no official data of {family!r} in {fetched}; fetch it with: {_fetch_commands(family)}, "
                "or use data='starter'"
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
        hint = "" if source.kind == "official" else f"; for official data: {_fetch_commands(family)}"
        warnings.warn(f"callgym: {family} uses {what}{hint}", DataNotice, stacklevel=6)
    return source


def _fetch_commands(family: str) -> str:
    return f"callgym fetch {family} (with files one has: callgym fetch {family} --from FOLDER)"


def fetch_from(
    family: str,
    folder: Path,
    files: tuple[str, ...],
    optional: tuple[str, ...] = (),
    siblings: tuple[str, ...] = (),
) -> list[Path]:
    """Copy a benchmark's files from a folder one already has into the cache folder.

    The copy is made beside the old one and takes its place when it is whole. A manifest with each file's
    SHA-256 is written, which ``verify`` reads.

    Args:
        family: Name of the benchmark.
        folder: Where the files are, in their official layout.
        files: Glob patterns of the files to take; each must match at least one.
        optional: Patterns that may match none.
        siblings: Names of folders beside ``folder`` in which an optional pattern is looked for that matches
            nothing in it.

    Returns:
        The files, at their new place.

    Raises:
        DataError: The folder does not exist, or a pattern matches nothing in it.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder; give the folder that holds {files[0]!r}")
    found: dict[str, Path] = {}
    for pattern in files:
        matches = _matches(folder, pattern)
        if not matches:
            raise DataError(f"{folder} has no file {pattern!r}, which {family} needs; is it the right folder?")
        found |= matches
    # The folder as it is called, not where a link leads: that is whose neighbours the user sees.
    beside = [Path(os.path.abspath(folder)).parent / sibling for sibling in siblings]
    for pattern in optional:
        found |= next(filter(None, (_matches(place, pattern) for place in (folder, *beside))), {})
    partial = cache_folder() / f".{family}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    for name, path in found.items():
        copy = partial / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return install_folder(family, partial)


def _matches(folder: Path, pattern: str) -> dict[str, Path]:
    """The files that match, by their name below the folder."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.glob(pattern)) if path.is_file()}


def install_folder(family: str, folder: Path) -> list[Path]:
    """Make a finished folder, which lies in the cache folder, the official data of ``family``.

    Its manifest, each file's SHA-256, is written first, so whatever interrupts leaves nothing that looks
    complete and is not.

    Returns:
        The files, at their new place.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    manifest = {name: sha256_of(folder / name) for name in names if name != _MANIFEST}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), encoding="utf-8")
    target = cache_folder() / family
    replaced = target.with_name(f".{family}.replaced")
    shutil.rmtree(replaced, ignore_errors=True)
    if target.exists():
        target.rename(replaced)
    folder.rename(target)
    shutil.rmtree(replaced, ignore_errors=True)
    return [target / name for name in manifest]


def recorded_sha256(family: str) -> dict[str, str]:
    """The SHA-256 of each fetched file of ``family`` by name, as recorded when it was fetched; empty without any."""
    manifest = cache_folder() / family / _MANIFEST
    return dict(read_json_file(manifest)) if manifest.is_file() else {}


def canonical_sha256(value: Any) -> str:
    """The SHA-256 of a JSON value written without spaces, keys sorted, ASCII only."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
        mend = f"fetch it again: {_fetch_commands(folder.name)}"
        if not path.is_file():
            raise DataError(f"{path} is missing; {mend}")
        if sha256_of(path) != digest:
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


@contextlib.contextmanager
def naming_place(where: str, what: str, mend: str) -> Iterator[None]:
    """Turn what damaged data provokes into a DataError that says where it is; one that says so already is let pass.

    Args:
        where: File and row.
        what: What it cannot be read as: "an entry".
        mend: What to do about it.
    """
    try:
        yield
    except DataError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        fault = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise DataError(f"{where}: cannot be read as {what} ({fault}); {mend}") from error


def check_split(split: str, known: tuple[str, ...], where: str) -> None:
    """Raise unless ``split`` is one of ``known``.

    Raises:
        ConfigurationError: It is not; the message lists those there are.
    """
    if split not in known:
        raise ConfigurationError(f"{where} has no split {split!r}; its splits are: {', '.join(known)}")
