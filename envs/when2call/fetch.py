"""Fetching When2Call: four files of JSON Lines from the Hugging Face hub, or from GitHub where the hub has them not.

In the repository all but the judge's file are Git LFS objects, which its archives do not hold. The SHA-256 of each
is known: the judge file's from a copy of it, the others' from the pointers as several public projects quote them.

Mirror: ``HF_ENDPOINT`` stands for https://huggingface.co.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from callgym.data import Fetched, cache_folder, fetch_from, install_folder, sha256_of
from callgym.download import Downloader, DownloadError
from callgym.envs.when2call.rows import FILES, file_of, is_pointer
from callgym.errors import DataError

__all__ = ["PINS", "Pins", "copy_when2call", "download_when2call"]

_FAMILY = "when2call"
_HUB = "https://huggingface.co"
_LFS = "https://media.githubusercontent.com/media"
_PLAIN = "https://raw.githubusercontent.com"
_MEND = (
    "try `callgym fetch when2call` again (what is there is kept), see whether a mirror is set (HF_ENDPOINT), or take "
    "files you have: callgym fetch when2call --from FOLDER"
)
_LICENCE = (
    "licence: When2Call's repository says Apache-2.0, its dataset card CC BY 4.0: name NVIDIA where you pass data on. "
    "The test files derive from BFCL v2 live (Apache-2.0), the others from xlam-function-calling-60k (CC-BY-4.0)"
)


@dataclass(frozen=True, slots=True)
class Pins:
    """Which files to fetch, from which revisions, and the SHA-256 of each."""

    hub_dataset: str
    """Name of the dataset on the Hugging Face hub."""
    hub_revision: str
    """Commit of the dataset."""
    repository: str
    """The repository on GitHub; its folder ``data`` has the files."""
    commit: str
    """Commit of the repository."""
    files: Mapping[str, str]
    """Files, below the data folder, and the SHA-256 of each."""
    plain: tuple[str, ...]
    """Those that the repository holds as they are, not as Git LFS objects."""


PINS = Pins(
    hub_dataset="nvidia/When2Call",
    hub_revision="0582f7749df63a96fdc3070932e83e72396ace53",
    repository="NVIDIA/When2Call",
    commit="ecc8d42388e91ab37e7e737d48e16e8ecea3d1dc",
    files={
        FILES["judge"]: "0b710578e3b02479e5acf5688140ec5edf71383fa5c093481c7536b57fd13b25",
        FILES["mcq"]: "8c3694e583eeeb8dbc297e6cd90da70efc68efa4b6adb7227523e828c6b7b14c",
        FILES["sft"]: "3eb20258557513579995ff55c09fcc33fabf2cd2004dea49dc3a0ba9880e631c",
        FILES["preference"]: "d90637f108fabf1b097493c5818c3692e1d73140259d2f8e490536255e765bc4",
    },
    plain=(FILES["judge"],),
)


def download_when2call() -> Fetched:
    """Download the files into the cache folder; an interrupted download goes on where it was.

    Raises:
        DownloadError: No server gives a file, or only others than were pinned.
        MissingPackageError: httpx is not installed.
    """
    # What is begun under other pins is not gone on with.
    stage = cache_folder() / f".{_FAMILY}-{PINS.commit[:8]}-{PINS.hub_revision[:8]}.partial"
    with Downloader(_MEND) as downloader:
        for name, sha256 in PINS.files.items():
            # It got its name when all of it had arrived.
            if not (stage / name).is_file() or sha256_of(stage / name) != sha256:
                _download(downloader, name, stage / name, sha256)
    return Fetched(tuple(install_folder(_FAMILY, stage)), (_LICENCE,))


def _download(downloader: Downloader, name: str, target: Path, sha256: str) -> None:
    faults = []
    for url in _addresses(name):
        try:
            downloader.fetch(url, target, sha256)
            return
        except DownloadError as error:
            faults.append(str(error).removesuffix(f"; {_MEND}"))
    raise DownloadError(f"{'; '.join(faults)}; {_MEND}")


def _addresses(name: str) -> Iterator[str]:
    hub = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    yield f"{hub}/datasets/{PINS.hub_dataset}/resolve/{PINS.hub_revision}/{name}"
    host = _PLAIN if name in PINS.plain else _LFS
    yield f"{host}/{PINS.repository}/{PINS.commit}/data/{name}"


def copy_when2call(path: Path) -> Fetched:
    """Take the files from a folder: the repository's clone, its folder ``data``, or the dataset's.

    Files that are not there or are Git LFS pointers are left out; one test file is needed.

    Raises:
        DataError: The path is no folder, or has neither test file.
    """
    if not path.is_dir():
        raise DataError(f"{path} is not a folder; give the one that holds {FILES['judge']!r}")
    places = {name: file_of(path, which) for which, name in FILES.items()}
    there = {name: place for name, place in places.items() if place.is_file() and not is_pointer(place)}
    if not there.keys() & {FILES["judge"], FILES["mcq"]}:
        raise DataError(
            f"{path} has neither {FILES['judge']} nor {FILES['mcq']}, Git LFS pointers apart; is it the right folder?"
        )
    # All from one folder: the one that the first is in.
    root = next(iter(there.values())).parents[1]
    taken = tuple(name for name, place in there.items() if place == root / name)
    notes = [_LICENCE, *(f"{name}: {_why_left(root / name)}" for name in FILES.values() if name not in taken)]
    notes += [_differs(name) for name in taken if sha256_of(root / name) != PINS.files[name]]
    return Fetched(tuple(fetch_from(_FAMILY, root, taken)), tuple(notes))


def _why_left(place: Path) -> str:
    if place.is_file() and is_pointer(place):
        return "a Git LFS pointer, left out; in the clone: git lfs pull"
    return f"not in {place.parents[1]}; all four: callgym fetch when2call"


def _differs(name: str) -> str:
    return f"{name}: not the file of {PINS.commit[:7]} (its SHA-256 differs); scores may not compare"
