"""When2Call's parity suite: official choices, predictions and totals on recorded rows.

    callgym parity when2call FOLDER --data FOLDER_OF_OFFICIAL_FILES

The fixtures' format is described beside them; numbers agree where they differ by no more than 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from callgym.envs.when2call.choices import choices_of
from callgym.envs.when2call.metrics import choose, decide, judge_report, mcq_report
from callgym.envs.when2call.rows import ANSWERS, LabelledRow, load_rows
from callgym.errors import DataError
from callgym.parity import Case, fixture_file, fixture_rows, official_folder

__all__ = ["cases"]

_TOLERANCE = 1e-9
_RAISED = "EXCEPTION:"
_DAMAGED = (AttributeError, LookupError, TypeError, ValueError)

Rows = Mapping[str, LabelledRow]
"""The official rows by uuid."""


def cases(folder: Path, data: str | None = None) -> Iterator[Case]:
    """Every case of the fixture files that the folder holds.

    Args:
        folder: The fixtures (``mcq_rows.jsonl`` or ``mcq_rows.jsonl.gz``, ...).
        data: The folder of official files; by default ``when2call`` beside the fixtures, else the fetched files.

    Raises:
        DataError: There are no fixtures, a row is damaged, or the official files are missing.
    """
    found = {stem: path for stem in _CASES if (path := fixture_file(folder, stem)) is not None}
    if not found:
        raise DataError(f"{folder} holds none of {', '.join(f'{stem}.jsonl[.gz]' for stem in _CASES)}")
    rows = {row.uuid: row for row in load_rows(official_folder("when2call", folder, data), "judge").rows}
    for stem, path in found.items():
        for number, fixture in fixture_rows(path):
            try:
                yield from _CASES[stem](fixture, rows)
            except _DAMAGED as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{path}, row {number}: not a fixture ({type(error).__name__}: {error})") from error


def _mcq_row(fixture: dict[str, Any], rows: Rows) -> Iterator[Case]:
    row = rows[fixture["uuid"]]
    choices = choices_of(row.answers, fixture["variant"])
    target = ANSWERS.index(row.correct)
    chosen = choose(fixture["loglikelihoods"], choices)
    found = {
        "choices": list(choices),
        "target_index": target,
        "acc": float(chosen.raw == target),
        "acc_norm": float(chosen.normalised == target),
        "pred": chosen.raw,
        "pred_norm": chosen.normalised,
    }
    expected = {name: fixture[name] for name in found}
    yield Case("mcq_rows", fixture["case"], expected, found)
    yield Case("mcq_rows (choices)", fixture["case"], expected["choices"], found["choices"])


def _mcq_aggregate(fixture: dict[str, Any], rows: Rows) -> Iterator[Case]:
    decided = []
    for item in fixture["items"]:
        row = rows[item["uuid"]]
        choices = choices_of(row.answers, fixture["variant"])
        decided.append(decide(row.correct, item["loglikelihoods"], choices, len(row.tools)))
    report = mcq_report(decided)
    matrix = {
        f"true:{gold}": {f"pred:{chosen}": count for chosen, count in zip(ANSWERS, counts, strict=True)}
        for gold, counts in zip(ANSWERS, report.confusion, strict=True)
    }
    found = {
        "acc": report.accuracy,
        "acc_norm": report.accuracy_normalised,
        "hallucination_rate": report.hallucination_rate,
        "confusion_matrix": matrix if report.official_error is None else _RAISED + report.official_error,
        "macro_f1_raw_pred": report.macro_f1,
        "macro_f1_norm_pred": report.macro_f1_normalised,
    }
    yield Case("mcq_aggregates", fixture["case"], fixture["official"], _settled(found, fixture["official"]))


def _judge_aggregate(fixture: dict[str, Any], rows: Rows) -> Iterator[Case]:
    report = judge_report((item["correct_answer"], item["classification"]) for item in fixture["items"])
    found = report.official if report.official_error is None else _RAISED + report.official_error
    yield Case("judge_aggregates", fixture["case"], fixture["official"], _settled(found, fixture["official"]))


_CASES: dict[str, Callable[[dict[str, Any], Rows], Iterator[Case]]] = {
    "mcq_rows": _mcq_row,
    "mcq_aggregates": _mcq_aggregate,
    "judge_aggregates": _judge_aggregate,
}
"""Fixture file to the function that compares one of its rows."""


def _settled(found: Any, expected: Any) -> Any:
    """What was found, with numbers that are as good as the expected ones replaced by these."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return {name: _settled(value, expected.get(name)) for name, value in found.items()}
    if isinstance(found, float) and isinstance(expected, int | float) and abs(found - expected) <= _TOLERANCE:
        return expected
    return found
