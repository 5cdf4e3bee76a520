"""One SQLite file, opened where it is needed: in every process a connection of its own, shared by its threads.

A connection is opened at the first query, and again in a forked child or after pickling. What SQLite complains of is
told as a DataError with the mend.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from callgym.errors import DataError

__all__ = ["Database"]

APPLICATION_ID = 0x43475243
"""Marks the file as CallGym's (``CGRC``)."""
FORMAT = 1
"""The version of the tables; the file says which one it has."""

_TABLES = """
CREATE TABLE calls (
    number INTEGER PRIMARY KEY,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT NOT NULL,
    scope TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    source TEXT NOT NULL,
    exact TEXT NOT NULL,
    normal TEXT NOT NULL,
    UNIQUE (exact, scope, sequence)
);
CREATE INDEX calls_by_normal ON calls (normal, scope, sequence);
CREATE INDEX calls_by_tool ON calls (tool, number);
CREATE TABLE states (scope TEXT PRIMARY KEY, state TEXT NOT NULL, source TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tools (name TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_RETRY_SECONDS = 0.01
_CACHE_KIB = 65_536  # at most, and only of a file that has so much

# Connections that a forked child has inherited: closing them there could touch the parent's files.
_inherited: list[sqlite3.Connection] = []
_leaving = threading.Lock()


def _forked() -> None:
    global _leaving
    _leaving = threading.Lock()  # a thread that is gone may have held it


os.register_at_fork(after_in_child=_forked)


class Database:
    """The file and this process's connection to it."""

    def __init__(self, path: str | os.PathLike[str], *, readonly: bool, busy_seconds: float) -> None:
        self.path = Path(path)
        self.readonly = readonly
        self.busy_seconds = busy_seconds
        self._forget()

    def _forget(self, process: int = 0) -> None:
        self._connection: sqlite3.Connection | None = None
        self._process = process
        self._lock = threading.RLock()
        self._closing: weakref.finalize[..., Database] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "readonly": self.readonly, "busy_seconds": self.busy_seconds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def first(self, query: str, values: Sequence[Any] = ()) -> Any:
        """The first row that a query gives, or None."""
        if self._process != os.getpid():
            self._leave_parent()
        with self._lock:
            try:
                return (self._connection or self._opened()).execute(query, values).fetchone()
            except sqlite3.Error as error:
                raise self._fault(error) from error

    def all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows that a query gives."""
        with self.connection() as connection:
            return connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time."""
        if self._process != os.getpid():
            self._leave_parent()
        with self._lock:
            try:
                yield self._connection or self._opened()
            except sqlite3.Error as error:
                raise self._fault(error) from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection, for writing: all of it is in the file afterwards, or nothing of it."""
        if self.readonly:
            raise DataError(f"{self.path} was opened to be read only; open it with readonly=False to record")
        with self.connection() as connection, _transaction(connection):
            yield connection

    def close(self) -> None:
        """Close this process's connection; the next query opens it again."""
        if self._process != os.getpid():
            self._leave_parent()
        with self._lock:
            closing, self._closing, self._connection = self._closing, None, None
            if closing is not None:
                closing()

    def _leave_parent(self) -> None:
        """Begin anew in a child: the connection is the parent's, and a thread that is gone may have held the lock."""
        with _leaving:
            if self._process == os.getpid():
                return
            if self._connection is not None:
                _inherited.append(self._connection)
            self._forget(os.getpid())

    # Opening.

    def _opened(self) -> sqlite3.Connection:
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; a recording is one SQLite file")
        if self.readonly and not self.path.exists():
            raise DataError(f"there is no recording {self.path}; record one, or give the path of one that exists")
        if not self.readonly:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = self._connect("ro" if self.readonly else "rwc")
        except sqlite3.OperationalError as error:
            if not self._is_whole() or _code(error) in _BUSY:
                raise
            # In a folder that cannot be written SQLite takes a file as it is, if it is told that nobody changes it.
            self._connection = self._connect("ro&immutable=1")
        # With the store, or when the process ends.
        self._closing = weakref.finalize(self, _close, self._connection, self.readonly, self._process)
        return self._connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            timeout=self.busy_seconds,
            isolation_level=None,  # a statement is a transaction, unless one was begun
            check_same_thread=False,  # the lock sees to it
            uri=True,
        )
        try:
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last rows, no more
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_whole(self) -> bool:
        """Whether the file holds everything, so that nothing stands in the log beside it."""
        log = Path(f"{self.path}-wal")
        return self.readonly and not (log.exists() and log.stat().st_size)

    def _check(self, connection: sqlite3.Connection) -> None:
        mark, version = self._marks(connection)
        if (mark, version) == (0, 0) and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            if self.readonly:
                raise DataError(f"{self.path} is empty, no recording; give the path of a recording")
            self._create(connection)
        elif mark != APPLICATION_ID:
            raise DataError(
                f"{self.path} is an SQLite file of another program, no recording; give another path: nothing in it "
                "was changed"
            )
        elif version != FORMAT:
            raise DataError(
                f"{self.path} is a recording in format {version}, and this CallGym has format {FORMAT}: read it with "
                "the CallGym that wrote it (callgym records export), and import that (callgym records import)"
            )

    def _create(self, connection: sqlite3.Connection) -> None:
        """Make the tables, unless another process is quicker."""

        def make() -> None:
            connection.execute("PRAGMA journal_mode = WAL")
            with _transaction(connection):
                if self._marks(connection) != (APPLICATION_ID, FORMAT):
                    for statement in _TABLES.split(";"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version = {FORMAT}")

        self._patiently(make)

    def _patiently(self, work: Callable[[], None]) -> None:
        """Changing the journal does not wait for others by itself."""
        until = time.monotonic() + self.busy_seconds
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                if _code(error) not in _BUSY or time.monotonic() > until:
                    raise
                time.sleep(_RETRY_SECONDS)

    @staticmethod
    def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        return mark, connection.execute("PRAGMA user_version").fetchone()[0]

    def _fault(self, error: sqlite3.Error) -> DataError:
        code = _code(error)
        if code == sqlite3.SQLITE_NOTADB:
            return DataError(f"{self.path} is no recording: it is not an SQLite file; give another path")
        if code in _DAMAGED:
            return DataError(
                f"{self.path} is damaged ({error}); put a copy in its place, or save what can be read: "
                f"sqlite3 {self.path} .recover | sqlite3 saved.sqlite"
            )
        if code in _BUSY:
            return DataError(
                f"{self.path} has been locked by another process for {self.busy_seconds:g} s; end that process, or "
                "wait longer with busy_seconds"
            )
        if self.readonly:
            return DataError(
                f"{self.path} cannot be read ({error}); if a log lies beside it (-wal), copy both together"
            )
        return DataError(f"{self.path} cannot be written ({error}); give a path in a folder that can, or readonly=True")


def _close(connection: sqlite3.Connection, readonly: bool, process: int) -> None:
    """Close a connection of this process, with all that was written in the file itself, not in the log beside it."""
    if process != os.getpid():
        _inherited.append(connection)
        return
    with contextlib.suppress(sqlite3.Error):  # while others read, the log is still needed
        if not readonly:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends some by itself: where the disk is full, say
            connection.execute("ROLLBACK")
        raise


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary code: the extended ones add a byte."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
