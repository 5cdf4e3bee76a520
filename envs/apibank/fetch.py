"""Fetching API-Bank: the samples from the Hugging Face hub, the rest from the repository's archive.

The repository (Apache-2.0) holds the dialogues, the starting databases and the tool classes; the samples with
their prompts and the training files were moved to the hub. Some tables exist only inside the classes: they
and the tools' documentation are read out of the source text, which is never run, and the source is not kept.

Mirrors: ``HF_ENDPOINT`` stands for https://huggingface.co, ``CALLGYM_GITHUB`` for https://codeload.github.com.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from callgym.data import (
    Fetched,
    cache_folder,
    canonical_sha256,
    fetch_from,
    install_folder,
    read_json_file,
    recorded_sha256,
    sha256_of,
)
from callgym.download import Downloader, DownloadError
from callgym.envs.apibank.class_literals import (
    ToolClass,
    documentation_with_signatures,
    read_tool_classes,
    tables_of,
    tool_documentation,
)
from callgym.envs.apibank.pins import PINS, Pins
from callgym.envs.apibank.tasks import FILES, OPTIONAL_FILES
from callgym.errors import DataError
from callgym.whole_file import whole_path

__all__ = ["copy_apibank", "download_apibank"]

_FAMILY = "apibank"
_HUB = "https://huggingface.co"
_GITHUB = "https://codeload.github.com"
_CLASSES = "classes"
_SIBLINGS = ("api_bank_parity",)
_MEND = (
    "try `callgym fetch apibank` again (what is there is kept), see whether a mirror is set (HF_ENDPOINT, "
    "CALLGYM_GITHUB), or take files you have: callgym fetch apibank --from FOLDER"
)


def copy_apibank(folder: Path) -> Fetched:
    """Take the files from a folder in the official layout; some may lie in ``api_bank_parity`` beside it.

    Raises:
        DataError: The folder or a file that is needed does not exist.
    """
    return Fetched(tuple(fetch_from(_FAMILY, folder, FILES, OPTIONAL_FILES, _SIBLINGS)), ())


def download_apibank() -> Fetched:
    """Download the files into the cache folder; an interrupted download goes on where it was.

    Raises:
        DownloadError: A server does not give a file, or gives another one than was pinned.
        MissingPackageError: httpx is not installed.
    """
    # What is begun under other pins is not gone on with.
    stage = cache_folder() / f".{_FAMILY}-{PINS.commit[:8]}-{PINS.hub_revision[:8]}.partial"
    with Downloader(_MEND) as downloader:
        _download_samples(downloader, PINS, stage)
        _download_archive(downloader, PINS, stage)
    notes = _unverified(PINS, stage) + _read_classes(PINS, stage)
    shutil.rmtree(stage / _CLASSES)
    return Fetched(tuple(install_folder(_FAMILY, stage)), tuple(notes))


# Downloading.


def _download_samples(downloader: Downloader, pins: Pins, stage: Path) -> None:
    hub = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    for name, sha256 in pins.hub_files.items():
        target = stage / name
        if _is_there(target, sha256):
            continue
        url = f"{hub}/datasets/{pins.hub_dataset}/resolve/{pins.hub_revision}/{name}"
        downloader.fetch(url, target, sha256)
        if sha256 is None:
            _check_rows(target, url)


def _is_there(path: Path, sha256: str | None) -> bool:
    """Whether a file of an earlier, interrupted fetch is good. It got its name when all of it had arrived."""
    return path.is_file() and sha256 in (None, sha256_of(path))


def _check_rows(path: Path, url: str) -> None:
    """The least that can be said of a file without a pinned checksum: it is a JSON array, no page of a portal."""
    with contextlib.suppress(DataError):
        if isinstance(read_json_file(path), list):
            return
    path.unlink()
    raise DownloadError(f"{path.name}: not the JSON array that was expected at {url}; it was deleted; {_MEND}")


def _download_archive(downloader: Downloader, pins: Pins, stage: Path) -> None:
    """The files of the repository, and the source of its tool classes, which stays in the stage."""
    expected: dict[str, str | None] = {**pins.archive_files, **dict.fromkeys(_class_files(pins))}
    if all(_is_there(stage / _place(name), sha256) for name, sha256 in expected.items()):
        return
    github = (os.environ.get("CALLGYM_GITHUB") or _GITHUB).rstrip("/")
    url = f"{github}/{pins.repository}/tar.gz/{pins.commit}"
    members = downloader.read_archive(url, {f"api-bank/{name}" for name in expected})
    # GitHub may compress an archive anew, with other bytes: its members are what is pinned.
    for name, sha256 in expected.items():
        content = members[f"api-bank/{name}"]
        found = hashlib.sha256(content).hexdigest()
        if sha256 not in (None, found):
            raise DownloadError(f"{name}: expected the SHA-256 {sha256}, found {found} in {url}; {_MEND}")
    for name in expected:
        _write(stage / _place(name), members[f"api-bank/{name}"])


def _class_files(pins: Pins) -> list[str]:
    return [f"{folder}/{file}" for folder, files in pins.classes.items() for file in files]


def _place(name: str) -> str:
    return f"{_CLASSES}/{name}" if name.endswith(".py") else name


def _write(path: Path, content: bytes) -> None:
    """Write a file that has its name only when it is whole."""
    with whole_path(path) as part:
        part.write_bytes(content)


def _unverified(pins: Pins, stage: Path) -> list[str]:
    """A note on each file that is taken as it came; its SHA-256 goes into the manifest and is compared next time."""
    before = recorded_sha256(_FAMILY)
    notes = []
    for name in (name for name, sha256 in pins.hub_files.items() if sha256 is None):
        found = sha256_of(stage / name)
        notes.append(f"{name}: not verified against a pinned checksum; its SHA-256, now recorded, is {found}")
        if before.get(name, found) != found:
            notes.append(f"{name}: differs from the file fetched before, whose SHA-256 is {before[name]}")
    return notes


# What only the tool classes hold.


def _read_classes(pins: Pins, stage: Path) -> list[str]:
    """Write the files that are made from the classes; returns notes on what could not be read."""
    notes: list[str] = []
    classes: dict[str, list[ToolClass]] = {folder: [] for folder in pins.classes}
    for name in _class_files(pins):
        source = (stage / _place(name)).read_text(encoding="utf-8", errors="replace")
        found, unread = read_tool_classes(source, name.rpartition("/")[2])
        classes[name.partition("/")[0]] += found
        notes += unread
    made: dict[str, Any] = {
        "builtin_tables.json": tables_of(classes["apis"], classes["lv3_apis"]),
        "tool_docs.json": {folder: tool_documentation(tools) for folder, tools in classes.items()},
        "derived/apis_lv1_lv2.json": documentation_with_signatures(classes["apis"]),
        "derived/apis_lv3.json": documentation_with_signatures(classes["lv3_apis"]),
    }
    for name, value in made.items():
        _write(stage / name, json.dumps(value, indent=1).encode())
        if pins.made[name] != canonical_sha256(value):
            notes.append(f"{name}: read from the tool classes, and not equal to what was read when they were pinned")
    return notes
