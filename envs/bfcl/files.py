"""Reading BFCL's files; what is missing or damaged gets an error that names the file, the row and the mend."""

from __future__ import annotations

import contextlib
import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from callgym.data import naming_place, read_json_file, read_json_lines
from callgym.errors import DataError

__all__ = ["CLASS_FILES", "CONSTANTS", "LONG_CONTEXT", "PROMPTS", "SIBLING", "BfclFiles", "naming"]

CONSTANTS = "env_constants.json"
"""The tables that the executable classes hold in their code (routes, rates, default states)."""
LONG_CONTEXT = "env_long_context.json.gz"
"""The padding of ``long_context``; "@@ELLIPSIS@@" stands for Python's Ellipsis."""
PROMPTS = "prompts.json"
"""The official wording, by the names of its constants."""
SIBLING = "bfcl_parity"
"""Folder beside the data files that may hold these."""
_MEND = "fetch it again: callgym fetch bfcl"

CLASS_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
    "WebSearchAPI": "web_search",
    "MemoryAPI_kv": "memory_kv",
    "MemoryAPI_vector": "memory_vector",
    "MemoryAPI_rec_sum": "memory_rec_sum",
}
"""Class to the stem of the file with its functions' documents."""


class BfclFiles:
    """One folder of official files, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, list[dict[str, Any]]] = {}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The objects of a JSON Lines file below the folder, all with an ``id`` where the file is one of entries.

        Raises:
            DataError: The file is missing, or a row is no object.
        """
        if name not in self._rows:
            path = self.folder / name
            rows = []
            for number, row in read_json_lines(path):
                if not isinstance(row, dict):
                    raise DataError(
                        f"{path}, row {number}: an object was expected, found {type(row).__name__}; {_MEND}"
                    )
                rows.append(row)
            self._rows[name] = rows
        return self._rows[name]

    def golds(self, name: str) -> dict[str, Any]:
        """Entry id to gold, of the answers that belong to a file of entries.

        Raises:
            DataError: The file is missing, or a row lacks ``id`` or ``ground_truth``.
        """
        path = f"possible_answer/{name}"
        golds = {}
        for number, row in enumerate(self.rows(path), 1):
            with naming(f"{self.folder / path}, row {number}"):
                golds[str(row["id"])] = row["ground_truth"]
        return golds

    def class_functions(self, class_name: str) -> list[dict[str, Any]]:
        """The documents of an executable class's functions, in the official order."""
        return self.rows(f"multi_turn_func_doc/{CLASS_FILES[class_name]}.json")

    def constants(self) -> dict[str, Any]:
        """The tables of the executable classes.

        Raises:
            DataError: They are neither in the folder nor in ``bfcl_parity`` beside it.
        """
        return _read_object(self._find(CONSTANTS))

    def long_context(self) -> dict[str, Any]:
        """The padding of ``long_context`` by name; errors as for ``constants``."""
        return _read_packed(self._find(LONG_CONTEXT))

    def prompts(self) -> dict[str, Any] | None:
        """The official wording by the names of its constants; None where it was not fetched."""
        path = self._place_of(PROMPTS)
        return None if path is None else _read_object(path)

    def _place_of(self, name: str) -> Path | None:
        # The folder as it is called, not where a link leads: that is whose neighbours the user sees.
        places = (self.folder, self.folder.absolute().parent / SIBLING)
        return next((place / name for place in places if (place / name).is_file()), None)

    def _find(self, name: str) -> Path:
        path = self._place_of(name)
        if path is not None:
            return path
        raise DataError(
            f"{self.folder} lacks {name}, which the executable classes run on; it is made from the package's source "
            "by: callgym fetch bfcl"
        )


@lru_cache(maxsize=8)
def _read_object(path: Path) -> dict[str, Any]:
    content = read_json_file(path)
    if not isinstance(content, dict):
        raise DataError(f"{path}: a JSON object was expected; {_MEND}")
    return content


@lru_cache(maxsize=4)
def _read_packed(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path}: not compressed JSON ({error}); {_MEND}") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: a JSON object was expected; {_MEND}")
    return content


def naming(where: str) -> contextlib.AbstractContextManager[None]:
    """Turn what a damaged row provokes into an error that names the row."""
    return naming_place(where, "an entry", _MEND)
