"""BFCL's parity suite: official verdicts on recorded texts, calls, class instances, answers and leaderboards.

    callgym parity bfcl FOLDER --data FOLDER_OF_OFFICIAL_FILES

The fixtures' format is described beside them; each row was made by running the official code.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from callgym.envs.bfcl import parity_agentic, parity_multi_turn, parity_single
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.parity_context import Context
from callgym.errors import DataError
from callgym.parity import Case, fixture_file, fixture_rows, official_folder

__all__ = ["cases"]

_CASES = {**parity_single.CASES, **parity_multi_turn.CASES, **parity_agentic.CASES}
_DAMAGED = (AttributeError, LookupError, TypeError, ValueError)


def cases(folder: Path, data: str | None = None) -> Iterator[Case]:
    """Every case of the fixture files that the folder holds.

    Args:
        folder: The fixtures (``single_turn.jsonl`` or ``single_turn.jsonl.gz``, ...).
        data: The folder of official files; by default ``bfcl`` beside the fixtures, else the fetched files.

    Raises:
        DataError: There are no fixtures, a row is damaged, or the official files are missing.
    """
    found = {stem: path for stem in _CASES if (path := fixture_file(folder, stem)) is not None}
    if not found:
        raise DataError(f"{folder} holds none of {', '.join(f'{stem}.jsonl[.gz]' for stem in _CASES)}")
    context = Context(BfclFiles(official_folder("bfcl", folder, data)), folder)
    for stem, path in found.items():
        for number, row in fixture_rows(path):
            try:
                yield from _CASES[stem](row, context)
            except _DAMAGED as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{path}, row {number}: not a fixture ({type(error).__name__}: {error})") from error
