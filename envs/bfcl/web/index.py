"""A full-text index of documents, in a file or in memory::

    build_index([{"url": "https://wiki.example/ada", "title": "Ada", "text": "Ada was born in ..."}], Path("wiki.db"))
    index = open_index(Path("wiki.db"))
    index.search("born", "wt-wt")[0].url

It is SQLite's FTS5: words are compared by their stem and without accents, results ranked by BM25 with titles
counting four times; of equal ones the earlier document comes first. An index can be pickled, forked and used from
several threads: each process opens its own connection when it needs one, and only ever reads.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from callgym.envs.bfcl.web.provider import Hit, Page, ProviderError
from callgym.envs.bfcl.words import STOP_WORDS, WORD
from callgym.errors import ConfigurationError, DataError

__all__ = ["SearchIndex", "build_index", "documents_index", "open_index"]

_VERSION = 0x0BFC1001
_SCHEMA = """
CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, content='pages', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
);
"""
_SEARCH = """
SELECT rowid FROM words WHERE words MATCH ? ORDER BY round(bm25(words, 4.0, 1.0), 6), rowid LIMIT ?
"""
_MOST_HITS = 30
_MOST_CHARACTERS = 8_192
_MOST_WORDS = 64
_MOST_STEPS = 20_000  # of a thousand instructions of SQLite's each
_BODY = 240
_BODY_FROM = 20_000


class SearchIndex:
    """A Provider over an index; see ``open_index`` and ``documents_index``."""

    def __init__(self, path: Path | None, documents: Sequence[Page] = ()) -> None:
        self._path = path
        self._documents = tuple(documents)
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._process = -1
        self._steps = 0
        self._connection: sqlite3.Connection | None = None
        # A connection that was open when the process was forked is the parent's to close.
        self._of_parents: list[sqlite3.Connection] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self._path, "documents": self._documents}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._path, self._documents = state["path"], state["documents"]
        self._forget()

    def search(self, keywords: str, region: str = "wt-wt") -> list[Hit]:
        """Up to 30 documents with at least one of the words, best first; the region does not matter.

        Args:
            keywords: Any text; only its words count, and function words only if there are no others.
            region: Ignored.

        Raises:
            ProviderError: The search was broken off because it takes too long.
        """
        words = _query_words(keywords)
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in words)
        with self._opened() as connection:
            numbers = [number for (number,) in connection.execute(_SEARCH, (query, _MOST_HITS))]
            rows = [_row(connection, "id", number) for number in numbers]
        return [Hit(title, url, _body(text, words)) for url, title, text in rows if url]

    def fetch(self, url: str) -> Page:
        """The document of an address; what stands after ``#`` does not matter.

        Raises:
            ProviderError: There is none.
        """
        address = url.partition("#")[0]
        with self._opened() as connection:
            try:
                found, title, text = _row(connection, "url", address)
            except UnicodeEncodeError:  # half a surrogate pair
                found = ""
        if not found:
            raise ProviderError(f"404 Client Error: Not Found for url: {url}")
        return Page(found, title, text)

    def __len__(self) -> int:
        with self._opened() as connection:
            (count,) = connection.execute("SELECT count(*) FROM pages").fetchone()
        return int(count)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._steps = 0
            if self._connection is None or self._process != os.getpid():
                if self._connection is not None:
                    self._of_parents.append(self._connection)
                self._connection, self._process = self._open(), os.getpid()
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise ProviderError(f"the search failed: {error}") from error

    def _open(self) -> sqlite3.Connection:
        if self._path is not None:
            connection = _connect(self._path)
        else:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            _fill(connection, enumerate(self._documents, 1))
            connection.commit()
            connection.execute("PRAGMA query_only = 1")
        connection.set_progress_handler(self._count_steps, 1000)
        return connection

    def _count_steps(self) -> bool:
        """Whether to break off: counted in steps, not in time, so that the same search always ends the same way."""
        self._steps += 1
        return self._steps > _MOST_STEPS


def _row(connection: sqlite3.Connection, column: str, value: Any) -> tuple[str, str, str]:
    row = connection.execute(f"SELECT url, title, text FROM pages WHERE {column} = ?", (value,)).fetchone()
    return row if row else ("", "", "")


def _query_words(keywords: str) -> list[str]:
    words = list(dict.fromkeys(WORD.findall(keywords[:_MOST_CHARACTERS].lower())))
    return [word for word in words if word not in STOP_WORDS][:_MOST_WORDS] or words[:_MOST_WORDS]


_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def _body(text: str, words: Sequence[str]) -> str:
    """The sentence with most of the words, the first of equals, and what follows it, up to 240 characters."""
    asked = set(words)
    best, start = -1, 0
    for match in _SENTENCE.finditer(text[:_BODY_FROM]):
        count = len(asked.intersection(WORD.findall(match.group().lower())))
        if count > best:
            best, start = count, match.start()
    body = " ".join(text[start : start + 2 * _BODY].split())
    return body if len(body) <= _BODY else f"{body[:_BODY].rsplit(' ', 1)[0]} ..."


# Building.


def documents_index(documents: Iterable[Mapping[str, Any]]) -> SearchIndex:
    """An index in memory, made anew in each process that uses it.

    Args:
        documents: ``{"url", "title", "text"}`` each.

    Raises:
        DataError: A document is none, or two have the same address.
    """
    pages = [page for _, page in _pages(documents)]
    if len({page.url for page in pages}) < len(pages):
        raise DataError("two documents have the same url")
    return SearchIndex(None, pages)


def build_index(documents: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write an index file; it takes its place when it is whole.

    Args:
        documents: ``{"url", "title", "text"}`` each, as many as one likes; they are read once.
        path: Where the file goes.

    Returns:
        The number of documents.

    Raises:
        DataError: A document is none, or two have the same address; the message names it by number.
        ConfigurationError: SQLite was built without FTS5.
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    connection = sqlite3.connect(partial)
    try:
        count = _fill(connection, _pages(documents))
        connection.commit()
        connection.execute("VACUUM")
    except BaseException:
        connection.close()
        partial.unlink(missing_ok=True)
        raise
    connection.close()
    partial.replace(path)
    return count


def open_index(path: Path) -> SearchIndex:
    """The index of a file that ``build_index`` wrote.

    Raises:
        DataError: The file is missing or is no such index.
    """
    if not path.is_file():
        raise DataError(f"{path} does not exist; an index is made with callgym.envs.bfcl.web.index.build_index")
    try:
        with contextlib.closing(_connect(path)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", ('"a"',)).fetchone()
    except sqlite3.Error as error:
        raise DataError(f"{path} is no index ({error}); make it with build_index") from error
    if version != _VERSION:
        raise DataError(f"{path} is no index of this version of CallGym; make it anew with build_index")
    return SearchIndex(path.absolute())


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, check_same_thread=False)


def _pages(documents: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Page]]:
    for number, document in enumerate(documents, 1):
        values = [document.get(field) for field in ("url", "title", "text")] if isinstance(document, Mapping) else []
        if not values or not all(isinstance(value, str) for value in values):
            raise DataError(f'document {number} must be {{"url", "title", "text"}}, all of them texts')
        url, title, text = map(str, values)
        if not url.startswith(("http://", "https://")) or "#" in url:
            raise DataError(
                f"document {number}: a url begins with http:// or https:// and has no '#'; found {url[:80]!r}"
            )
        yield number, Page(url, title, text)


def _fill(connection: sqlite3.Connection, pages: Iterable[tuple[int, Page]]) -> int:
    try:
        connection.executescript(_SCHEMA)
    except sqlite3.OperationalError as error:
        raise ConfigurationError(f"this Python's SQLite cannot make a full-text index ({error})") from error
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    count = 0
    for number, page in pages:
        try:
            connection.execute("INSERT INTO pages VALUES (?, ?, ?, ?)", (number, page.url, page.title, page.text))
        except sqlite3.IntegrityError:
            raise DataError(f"document {number}: the url {page.url[:80]!r} was there before") from None
        except UnicodeEncodeError:
            raise DataError(f"document {number}: a text holds half a surrogate pair") from None
        count += 1
    connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
    return count
