"""Pinned files over HTTP: resumed where they broke off, tried again, and checked before anybody reads them.

A pinned file has an address whose bytes never change (a revision, a commit) and, where it is known, the
SHA-256 of these bytes. An archive is read while it arrives and left as soon as the wanted members are there::

    with Downloader() as downloader:
        downloader.fetch("https://host/revision/a.json", folder / "a.json", sha256="9f86d0...")
        members = downloader.read_archive("https://host/commit.tar.gz", {"folder/b.json"})
"""

from __future__ import annotations

import contextlib
import gzip
import re
import tarfile
import time
import zlib
from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

import click

from callgym.data import sha256_of
from callgym.errors import CallGymError, MissingPackageError
from callgym.terminal import harmless, progress

if TYPE_CHECKING:
    import httpx

__all__ = ["DownloadError", "Downloader"]

MAX_FILE_BYTES = 1 << 30
"""A longer download is given up."""
MAX_MEMBER_BYTES = 1 << 26
"""A wanted member of an archive that claims more is refused."""
MAX_UNPACKED_BYTES = 1 << 34
"""An archive that unpacks to more, read up to the last wanted member, is refused."""

_ATTEMPTS = 5
_BACKOFF_S = 1.0
_MAX_WAIT_S = 30.0
_MEBIBYTE = 1 << 20

T = TypeVar("T")


class DownloadError(CallGymError):
    """A file could not be had, or is not the one that was pinned; the message names it and the mend."""


class _PassingError(Exception):
    """A fault that may be gone at the next attempt."""

    def __init__(self, what: str, wait_s: float | None = None) -> None:
        super().__init__(what)
        self.wait_s = wait_s
        """How long the server asks to wait."""


class Downloader:
    """Downloads over one HTTP client; a context manager.

    Progress goes to stderr. Proxies are taken from the environment, as httpx does.
    """

    def __init__(self, mend: str = "try again") -> None:
        """Open the client.

        Args:
            mend: What a reader of an error should do; it ends every error's message.

        Raises:
            MissingPackageError: httpx is not installed.
        """
        self._mend = mend
        self._httpx = _import_httpx()
        self._client: httpx.Client = self._httpx.Client(
            follow_redirects=True,
            timeout=self._httpx.Timeout(60.0, connect=15.0),
            # A compressed answer could not be resumed at a byte of the file.
            headers={"Accept-Encoding": "identity", "User-Agent": "callgym"},
        )

    def __enter__(self) -> Downloader:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def fetch(self, url: str, target: Path, sha256: str | None = None) -> None:
        """Download a file to ``target``, going on with ``target``'s ``.part`` file where there is one.

        Nothing stands at ``target`` before all of it is there and checked.

        Raises:
            DownloadError: The server does not give the file, or gives another one than was pinned; the
                wrong file is deleted.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        self._repeat(url, lambda: self._continue(url, part))
        found = sha256_of(part)
        if sha256 is not None and found != sha256:
            part.unlink()
            raise self._error(f"{target.name}: expected the SHA-256 {sha256}, found {found} at {url}; it was deleted")
        part.replace(target)

    def read_archive(self, url: str, wanted: Collection[str]) -> dict[str, bytes]:
        """The wanted members of a tar.gz archive by name; their names leave out the archive's top folder.

        Reading stops at the last of them, so that a few files near the beginning of a big archive are
        cheap. Servers make such archives as they go, so a broken download starts anew.

        Raises:
            DownloadError: The server does not give the archive, it is damaged or unsafe, or lacks a member.
        """
        try:
            return self._repeat(url, lambda: self._read_archive(url, wanted))
        except _RefusedError as refusal:
            raise self._error(f"{url}: {refusal}") from refusal

    def _read_archive(self, url: str, wanted: Collection[str]) -> dict[str, bytes]:
        with self._client.stream("GET", url) as response:
            self._check_status(url, response)
            chunks = _with_progress(response.iter_raw(_MEBIBYTE), _short(url), None)
            with contextlib.closing(chunks):
                try:
                    return _read_members(cast("IO[bytes]", _ChunkReader(chunks)), wanted)
                except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
                    raise _PassingError(f"the archive is cut short or damaged ({error})") from error

    def _continue(self, url: str, part: Path) -> None:
        """One attempt to get the rest of ``part``."""
        have = part.stat().st_size if part.exists() else 0
        headers = {"Range": f"bytes={have}-"} if have else {}
        with self._client.stream("GET", url, headers=headers) as response:
            if response.status_code == 416 and have:
                self._settle_full_part(response, part, have)
                return
            self._check_status(url, response)
            # A server that knows no ranges answers 200 with the whole file.
            start, total = _content_range(response) if response.status_code == 206 else (0, _length(response))
            if start not in (0, have):
                part.unlink()
                raise _PassingError(f"the server went on at byte {start} where byte {have} was asked for")
            self._append(url, response, part, start, total)
        if total is not None and part.stat().st_size != total:
            raise _PassingError(f"{part.stat().st_size} of {total} bytes arrived")

    def _append(self, url: str, response: httpx.Response, part: Path, start: int, total: int | None) -> None:
        # Chunks as they arrive: a broken connection loses what waits for a chunk to be full.
        chunks = _with_progress(response.iter_raw(), _short(url), total, start)
        size = start
        with contextlib.closing(chunks), part.open("ab" if start else "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > MAX_FILE_BYTES:
                    break
                file.write(chunk)
        if size > MAX_FILE_BYTES:
            part.unlink()
            raise self._error(f"{url}: longer than {MAX_FILE_BYTES} bytes; it was deleted")

    def _settle_full_part(self, response: httpx.Response, part: Path, have: int) -> None:
        """The server has nothing after ``have`` bytes: either that is all of it, or the part is another file's."""
        match = re.fullmatch(r"bytes \*/([0-9]{1,18})", response.headers.get("content-range", ""))
        if match is None or int(match[1]) != have:
            part.unlink()
            raise _PassingError("the part that was here did not fit the server's file")

    def _check_status(self, url: str, response: httpx.Response) -> None:
        status = response.status_code
        if response.is_success:
            return
        what = f"the server answered {status} {response.reason_phrase}".rstrip()
        if status in (408, 425, 429) or status >= 500:
            raise _PassingError(what, _retry_after(response))
        raise self._error(f"{url}: {what}")

    def _repeat(self, url: str, work: Callable[[], T]) -> T:
        """Do ``work`` until it succeeds, waiting twice as long after each passing fault."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return work()
            except (self._httpx.UnsupportedProtocol, self._httpx.TooManyRedirects, self._httpx.InvalidURL) as error:
                raise self._error(f"{url}: {error}") from error
            except (_PassingError, self._httpx.RequestError) as error:
                what = f"{error}" if isinstance(error, _PassingError) else f"{type(error).__name__}: {error}"
                if attempt == _ATTEMPTS:
                    raise self._error(f"{url}: {what} (after {attempt} attempts)") from error
                asked = error.wait_s if isinstance(error, _PassingError) else None
                wait = _BACKOFF_S * 2 ** (attempt - 1) if asked is None else asked
                click.echo(f"callgym: {harmless(what)}; trying again", err=True)
                time.sleep(min(_MAX_WAIT_S, wait))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _error(self, what: str) -> DownloadError:
        return DownloadError(f"{what}; {self._mend}")


class _RefusedError(Exception):
    """An archive holds what no honest one does, or lacks what it should hold."""


def _read_members(stream: IO[bytes], wanted: Collection[str]) -> dict[str, bytes]:
    """The wanted members of a tar.gz stream by name, the archive's top folder left out of the names.

    Nothing is written to disk, so no member can land anywhere; names that try are refused all the same,
    for an archive that holds one is not the archive that was meant.

    Raises:
        _RefusedError: A member's name leads out of its folder; a wanted member is a link, a device or too
            long; the archive unpacks to too much; or it lacks a member.
        tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError: The archive is cut short or damaged.
    """
    found: dict[str, bytes] = {}
    unpacked = cast("IO[bytes]", _Bounded(gzip.GzipFile(fileobj=stream), MAX_UNPACKED_BYTES))
    with tarfile.open(fileobj=unpacked, mode="r|") as archive:
        for member in archive:
            name = _inner_name(member.name)
            if name not in wanted or name in found:
                continue
            found[name] = _read_member(archive, member)
            if len(found) == len(wanted):
                return found
    # What is missing may have been cut off after the archive's last whole member: gzip's end tells.
    while unpacked.read(_MEBIBYTE):
        pass
    missing = sorted(set(wanted) - set(found))
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    raise _RefusedError(f"the archive has no {missing[0]!r}{more}")


def _inner_name(name: str) -> str:
    """The member's name below the archive's top folder; empty for the top folder itself."""
    parts = re.split(r"[/\\]", name)
    if ".." in parts or parts[0] == "" or ":" in parts[0] or "\0" in name:
        raise _RefusedError(f"the archive's member {name[:200]!r} leads out of its folder; nothing was taken")
    return "/".join(parts[1:])


def _read_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    if not member.isreg() or member.issparse():
        raise _RefusedError(f"the archive's member {member.name!r} is no regular file; nothing was taken")
    if member.size > MAX_MEMBER_BYTES:
        raise _RefusedError(f"the archive's member {member.name!r} claims {member.size} bytes; nothing was taken")
    file = archive.extractfile(member)
    assert file is not None  # it is a regular file
    content = file.read()
    if len(content) != member.size:
        raise EOFError(f"{member.name} ends early")
    return content


class _ChunkReader:
    """Chunks of bytes as the file that gzip reads from."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = chunk
        taken = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(taken) :]
        return taken


class _Bounded:
    """A stream that gives no more than so many bytes: a small archive may unpack to any number of them."""

    def __init__(self, stream: gzip.GzipFile, limit: int) -> None:
        self._stream = stream
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise _RefusedError("the archive unpacks to too much; nothing was taken")
        return content


def _import_httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingPackageError.for_extra("httpx", "http") from error
    return httpx


def _with_progress(
    chunks: Iterator[bytes], label: str, total: int | None, start: int = 0
) -> Generator[bytes, None, None]:
    """The chunks as they are; a bar on stderr, where that is a terminal, moves along."""
    with progress(label, total, "bytes", done=start) as advance:
        for chunk in chunks:
            yield chunk
            advance(len(chunk))


def _short(url: str) -> str:
    return url.split("?")[0].rstrip("/").rsplit("/", 1)[-1]


def _length(response: httpx.Response) -> int | None:
    given = response.headers.get("content-length", "")
    return int(given) if re.fullmatch("[0-9]{1,18}", given) else None


def _content_range(response: httpx.Response) -> tuple[int, int | None]:
    """(First byte, length of the whole file or None) of a partial answer."""
    match = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)", response.headers.get("content-range", ""))
    if match is None:
        raise _PassingError("the server sent a part without saying which")
    return int(match[1]), None if match[2] == "*" else int(match[2])


def _retry_after(response: httpx.Response) -> float | None:
    given = response.headers.get("retry-after", "").strip()
    return float(given) if re.fullmatch("[0-9]{1,6}", given) else None
