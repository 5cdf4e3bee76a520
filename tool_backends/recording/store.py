"""A recording in one SQLite file, written by many processes at once, and read with any SQLite tool::

    store = RecordingStore("calls.sqlite")
    store.add("GetWeather", {"city": "Rome"}, ToolResult(content={"sun": True}))
    sqlite3 calls.sqlite "SELECT tool, arguments, result FROM calls"

The first answer to a call stays: what is recorded again is left out. A row holds no time and no secret: see
``callgym.tool_backends.recording.redaction``. The file must lie on a disk of this machine (SQLite's log does not work
over a network).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from callgym.call import ToolResult
from callgym.errors import ConfigurationError, DataError
from callgym.tool import Tool
from callgym.tool_backends.recording.answers import Answer, RecordedCall, ToolCount, Wanted, read_result, result_dict
from callgym.tool_backends.recording.database import Database
from callgym.tool_backends.recording.keys import ANYWHERE, call_key, json_text
from callgym.tool_backends.recording.normalised import normal_key
from callgym.tool_backends.recording.redaction import REDACTED, Redact, Redaction, agreed, hide_quoted, secrets_in

__all__ = ["RecordingStore"]

_BATCH = 1000
_LONGEST_WAIT = 86_400

_FOUND = "SELECT number, result, exact, normal, scope FROM calls WHERE"
# Of several answers the one that is due, and the last one again after it. Each scope is looked in by itself, so that
# SQLite finds the row by its index and sorts nothing; the second only where the first has none.
_ONE = f"SELECT * FROM ({_FOUND} {{by}} = ?1 AND scope = {{scope}} AND sequence <= ?2 ORDER BY {{order}} LIMIT 1)"
_ORDER = {"exact": "sequence DESC", "normal": "sequence DESC, number"}
_HERE = {
    by: " UNION ALL ".join(_ONE.format(by=by, scope=scope, order=order) for scope in ("?3", "''")) + " LIMIT 1"
    for by, order in _ORDER.items()
}
_ANYWHERE = {
    by: f"{_FOUND} {by} = ? AND sequence <= ? ORDER BY scope = '' DESC, sequence DESC, number LIMIT 1" for by in _ORDER
}
_ROWS = "SELECT number, tool, arguments, result, scope, sequence, normal, source FROM calls"
_ADD = (
    "INSERT OR IGNORE INTO calls (tool, arguments, result, scope, sequence, source, exact, normal) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADD_STATE = "INSERT OR IGNORE INTO states (scope, state, source) VALUES (?, ?, ?)"
_ADD_TOOL = "INSERT OR IGNORE INTO tools (name, document) VALUES (?, ?)"


class RecordingStore:
    """Calls and their answers, states, and the documents of the tools. Threads may share it; it can be pickled."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        readonly: bool = False,
        redact: Redact | None = None,
        busy_seconds: float = 30.0,
    ) -> None:
        """Name the file; it is opened, and made where there is none, when it is first needed.

        Args:
            path: The file.
            readonly: Only read it; no permission to write is needed then.
            redact: Names of arguments that are secrets, or a function; see ``redaction``. It is the file's: by default
                what the file was made with, of a new file ``REDACTED``.
            busy_seconds: How long to wait for another process that writes.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
        """
        if isinstance(busy_seconds, bool) or not isinstance(busy_seconds, (int, float)):
            raise ConfigurationError(f"busy_seconds is a number of seconds, got {busy_seconds!r}")
        if not 0 <= busy_seconds <= _LONGEST_WAIT:
            raise ConfigurationError(f"busy_seconds is between 0 and a day, got {busy_seconds!r}")
        self._database = Database(path, readonly=readonly, busy_seconds=busy_seconds)
        self._redact = None if redact is None else Redaction(redact)

    def __enter__(self) -> RecordingStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RecordingStore({self.name!r})"

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._database.path)

    def close(self) -> None:
        """Close the file; it is opened again where it is needed."""
        self._database.close()

    def check(self) -> None:
        """Open the file now, so that what is wrong with it is told.

        Raises:
            ConfigurationError: It was made with another rule of redaction.
            DataError: It is missing, is no recording, or cannot be read.
        """
        self.redaction  # noqa: B018

    @cached_property
    def redaction(self) -> Redaction:
        """The rule by which secrets are hidden in this file.

        Raises:
            ConfigurationError: The file was made with another rule.
            DataError: The file cannot be read.
        """
        database = self._database
        rule = (self._redact or Redaction(REDACTED)).rule
        if not database.readonly:
            with database.transaction() as connection:  # makes the file
                connection.execute("INSERT OR IGNORE INTO settings (name, value) VALUES ('redact', ?)", (rule,))
        row = database.first("SELECT value FROM settings WHERE name = 'redact'")
        return agreed(self._redact, rule if row is None else row[0], self.name)

    # Writing.

    def add(
        self,
        tool: str,
        arguments: dict[str, Any],
        result: ToolResult,
        *,
        scope: str = ANYWHERE,
        sequence: int = 0,
        source: str = "",
        document: Tool | None = None,
    ) -> bool:
        """Record an answer, unless there is one.

        Args:
            tool: The tool's name.
            arguments: Its arguments as they were called; secrets are redacted here.
            result: What it answered.
            scope: Where the answer holds: ``History.scope``; by default anywhere.
            sequence: How many answers the same call had had before.
            source: Where the row comes from.
            document: The tool, where it is known: its schema says which arguments are the same, and it is kept.

        Returns:
            Whether it was recorded; not where there was one before.

        Raises:
            DataError: The file cannot be written; or, as NoKey, the arguments or the result are no JSON.
        """
        stored = self.redaction.stored(tool, arguments)
        hidden = hide_quoted(result_dict(result), secrets_in(arguments, stored))
        schema = None if document is None else dict(document.parameters)
        row = self._row(tool, stored, hidden, scope, sequence, source, schema)
        with self._database.transaction() as connection:
            if document is not None:
                connection.execute(_ADD_TOOL, _tool_row(document))
            return connection.execute(_ADD, row).rowcount > 0

    def add_rows(self, rows: Iterable[RecordedCall]) -> int:
        """Record rows of another recording, a thousand in a transaction; returns how many were new."""
        new = 0
        for batch in _batches(rows):
            made = [self._copied(row) for row in batch]
            with self._database.transaction() as connection:
                new += sum(connection.execute(_ADD, values).rowcount for values in made)
        return new

    def _copied(self, row: RecordedCall) -> tuple[Any, ...]:
        stored = self.redaction.stored(row.tool, row.arguments)
        hidden = hide_quoted(result_dict(row.result), secrets_in(row.arguments, stored))
        made = self._row(row.tool, stored, hidden, row.scope, row.sequence, row.source, None)
        # The key that it came with was made with the tool's schema; other arguments have another.
        return made if stored is not row.arguments else (*made[:-1], row.normal)

    def add_state(self, moment: str, state: dict[str, Any], source: str = "") -> bool:
        """Keep the state at a moment (``History.moment``), unless there is one; returns whether it was kept.

        Raises:
            DataError: The file cannot be written; or, as NoKey, the state is no JSON.
        """
        row = moment, json_text(state), _printable(source)
        with self._database.transaction() as connection:
            return connection.execute(_ADD_STATE, row).rowcount > 0

    def add_tools(self, tools: Iterable[Tool]) -> int:
        """Keep documents of tools, the first of each name; returns how many were new."""
        with self._database.transaction() as connection:
            return sum(connection.execute(_ADD_TOOL, _tool_row(tool)).rowcount for tool in tools)

    @staticmethod
    def _row(
        tool: str,
        stored: dict[str, Any],
        result: dict[str, Any],
        scope: str,
        sequence: int,
        source: str,
        schema: dict[str, Any] | None,
    ) -> tuple[Any, ...]:
        exact, normal = call_key(tool, stored), normal_key(tool, stored, schema)
        return (
            _printable(tool), json_text(stored), json_text(result), scope, sequence, _printable(source), exact, normal,
        )  # fmt: skip

    # Reading.

    def find(self, wanted: Wanted) -> Answer | None:
        """The answer that is due; None where nothing is on record."""
        if wanted.scope is None:
            row = self._database.first(_ANYWHERE[wanted.by], (wanted.key, wanted.sequence))
        else:
            row = self._database.first(_HERE[wanted.by], (wanted.key, wanted.sequence, wanted.scope))
        if row is None:
            return None
        number, result, exact, normal, scope = row
        return Answer(read_result(result, self._database.path, number), exact, normal, scope)

    def state_at(self, moment: str) -> dict[str, Any] | None:
        """The state that was found at a moment; None where none was kept."""
        row = self._database.first("SELECT state FROM states WHERE scope = ?", (moment,))
        return None if row is None else _read_object(row[0], f"{self.name}, state {moment}")

    def states(self) -> Iterator[tuple[str, dict[str, Any], str]]:
        """(moment, state, source) of every state that was kept."""
        after = ""
        while rows := self._database.all(
            "SELECT scope, state, source FROM states WHERE scope > ? ORDER BY scope LIMIT ?", (after, _BATCH)
        ):
            after = rows[-1][0]
            for moment, state, source in rows:
                yield moment, _read_object(state, f"{self.name}, state {moment}"), source

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools whose documents were recorded, by name."""
        rows = self._database.all("SELECT name, document FROM tools ORDER BY name")
        return tuple(Tool.from_json(document, where=f"{self.name}, tool {name}") for name, document in rows)

    def calls(self, tool: str | None = None) -> Iterator[RecordedCall]:
        """The rows in the order in which they were written: of one tool, or all."""
        number = 0
        which = "" if tool is None else "tool = ? AND "
        given = () if tool is None else (_printable(tool),)
        # Batch by batch: a long look does not keep the log from being tidied.
        while rows := self._database.all(
            f"{_ROWS} WHERE {which}number > ? ORDER BY number LIMIT ?", (*given, number, _BATCH)
        ):
            for number, name, arguments, result, scope, sequence, normal, source in rows:
                where = f"{self.name}, call {number}"
                yield RecordedCall(
                    tool=name,
                    arguments=_read_object(arguments, where),
                    result=read_result(result, self._database.path, number),
                    scope=scope,
                    sequence=sequence,
                    normal=normal,
                    source=source,
                )

    def counts(self) -> list[ToolCount]:
        """The tools by name, with how much there is of each."""
        rows = self._database.all(
            "SELECT tool, count(*), count(DISTINCT exact), sum(substr(result, 1, 8) = '{\"error\"') "
            "FROM calls GROUP BY tool ORDER BY tool"
        )
        return [ToolCount(*row) for row in rows]


def _tool_row(tool: Tool) -> tuple[str, str]:
    return _printable(tool.name), tool.to_json()


def _printable(text: str) -> str:
    """Text that a file can hold: half surrogates as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _batches(rows: Iterable[RecordedCall]) -> Iterator[list[RecordedCall]]:
    batch: list[RecordedCall] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _read_object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: it is not JSON ({error}); restore the file, or record it anew") from error
    if not isinstance(value, dict):
        raise DataError(f"{where}: a JSON object belongs there, found {text[:80]!r}")
    return value
