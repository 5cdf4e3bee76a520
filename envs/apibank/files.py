"""Reading API-Bank's files; what is damaged gets an error that names the row."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from callgym.data import naming_place, read_json_file, read_json_lines
from callgym.errors import DataError

__all__ = ["DialogueReader", "naming", "read_rows"]


class DialogueReader:
    """Reads dialogue files, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, name: str) -> list[dict[str, Any]]:
        """The rows of a dialogue; DataError names a damaged one."""
        if name not in self._read:
            path = self._folder / name
            self._read[name] = [_checked_row(row, f"{path}, row {n}") for n, row in read_json_lines(path)]
        return self._read[name]


_FIELDS: dict[str, dict[str, type]] = {
    "User": {"text": str},
    "AI": {"text": str},
    "API": {"api_name": str, "param_dict": dict, "result": dict},
}


def _checked_row(row: Any, where: str) -> dict[str, Any]:
    role = row.get("role") if isinstance(row, dict) else None
    needed = _FIELDS.get(role) if isinstance(role, str) else None
    if needed is None:
        raise DataError(f"{where}: a row's role is User, AI or API, found {role!r}; fetch the file again.")
    wrong = [f"{key!r} as {kind.__name__}" for key, kind in needed.items() if not isinstance(row.get(key), kind)]
    if wrong:
        raise DataError(f"{where}: a row of role {role} needs {', '.join(wrong)}; fetch the file again.")
    checked: dict[str, Any] = row
    return checked


def read_rows(path: Path, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of a JSON array of objects, each of which has all ``keys``.

    Raises:
        DataError: The file is missing or is none; the message names file, row and mend.
    """
    rows = read_json_file(path)
    if not isinstance(rows, list):
        raise DataError(
            f"{path}: a JSON array of rows was expected, found {type(rows).__name__}; fetch the file again."
        )
    for number, row in enumerate(rows, 1):
        missing = [key for key in keys if not isinstance(row, dict) or key not in row]
        if missing:
            raise DataError(f"{path}, row {number}: {missing} are missing; fetch the file again.")
    return rows


def naming(where: str) -> contextlib.AbstractContextManager[None]:
    """Turn what a damaged row provokes into an error that names the row."""
    return naming_place(where, "a sample", "fetch the file again.")
