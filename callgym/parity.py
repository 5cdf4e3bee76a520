"""Parity: our scorers against official verdicts on recorded cases, one by one.

A suite is a function that takes a folder of fixtures and yields a Case for each row; ``run_suite`` counts.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callgym.data import cache_folder, read_json_lines
from callgym.errors import ConfigurationError, DataError

__all__ = [
    "SUITES",
    "Case",
    "FileReport",
    "ParityReport",
    "fixture_file",
    "fixture_rows",
    "official_folder",
    "run_suite",
    "suite_options",
]

SUITES = {
    "apibank": "callgym.envs.apibank.parity:cases",
    "bfcl": "callgym.envs.bfcl.parity:cases",
    "step-metrics": "callgym.rewards.parity_step_metrics:cases",
    "when2call": "callgym.envs.when2call.parity:cases",
}
"""Suite to the function that yields its cases, as ``module:function``."""


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture row."""

    file: str
    """The fixture file, or the file and what else of its rows was compared, in brackets: such lines are
    shown and not counted in the total."""
    case: str
    """The row's own name."""
    expected: Any
    """What the official code said."""
    found: Any
    """What ours says."""

    @property
    def agree(self) -> bool:
        """Whether both say the same."""
        return bool(self.expected == self.found)


@dataclass
class FileReport:
    """Counts of one fixture file."""

    file: str
    cases: int = 0
    disagreements: list[Case] = field(default_factory=list)

    @property
    def agree(self) -> int:
        """Cases in which both say the same."""
        return self.cases - len(self.disagreements)


@dataclass
class ParityReport:
    """Counts of a suite."""

    suite: str
    files: list[FileReport]

    @property
    def counted(self) -> list[FileReport]:
        """The files whose cases make up the total."""
        return [report for report in self.files if "(" not in report.file]

    def summary(self) -> dict[str, Any]:
        """``{"suite", "cases", "agree", "rate"}``; the rate is None without cases."""
        cases = sum(report.cases for report in self.counted)
        agree = sum(report.agree for report in self.counted)
        return {"suite": self.suite, "cases": cases, "agree": agree, "rate": agree / cases if cases else None}

    def lines(self) -> Iterator[str]:
        """A line a file: ``name agree/cases``."""
        width = max((len(report.file) for report in self.files), default=0)
        for report in self.files:
            yield f"{report.file:<{width}}  {report.agree}/{report.cases}"

    def write_disagreements(self, path: Path) -> int:
        """Write one JSON line a disagreement; returns their number."""
        rows = [case for report in self.files for case in report.disagreements]
        with path.open("w", encoding="utf-8") as file:
            for case in rows:
                row = {"file": case.file, "case": case.case, "official": case.expected, "callgym": case.found}
                file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        return len(rows)


def suite_options(suite: str) -> frozenset[str]:
    """Names of the options that a suite takes beside the folder.

    Raises:
        ConfigurationError: There is no such suite.
    """
    _, *options = inspect.signature(_cases_of(suite)).parameters
    return frozenset(options)


def run_suite(
    suite: str, folder: Path, *, advance: Callable[[int], object] = lambda cases: None, **options: Any
) -> ParityReport:
    """Compare every case of a folder of fixtures.

    Args:
        suite: A name in ``SUITES``.
        folder: The fixtures.
        advance: Is told of each case when it was compared.
        **options: Passed to the suite where it takes them (``suite_options``).

    Raises:
        ConfigurationError: There is no such suite.
        DataError: The folder lacks a fixture file, or a row is damaged.
    """
    taken = suite_options(suite)
    reports: dict[str, FileReport] = {}
    for case in _cases_of(suite)(folder, **{name: value for name, value in options.items() if name in taken}):
        report = reports.setdefault(case.file, FileReport(case.file))
        report.cases += 1
        if not case.agree:
            report.disagreements.append(case)
        advance(1)
    return ParityReport(suite, list(reports.values()))


def _cases_of(suite: str) -> Callable[..., Iterable[Case]]:
    if suite not in SUITES:
        raise ConfigurationError(f"no parity suite {suite!r}; there are: {', '.join(SUITES)}")
    module, _, name = SUITES[suite].partition(":")
    cases: Callable[..., Iterable[Case]] = getattr(importlib.import_module(module), name)
    return cases


# What suites share.


def fixture_file(folder: Path, stem: str) -> Path | None:
    """``stem.jsonl`` or ``stem.jsonl.gz`` in a folder; None where there is neither."""
    candidates = (folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz")
    return next((path for path in candidates if path.is_file()), None)


def fixture_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(Row number from 1, row) of a JSON Lines file, compressed or not.

    Raises:
        DataError: The file is damaged; the message names it.
    """
    if path.suffix != ".gz":
        yield from read_json_lines(path)
        return
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield number, json.loads(line)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path}: not compressed JSON Lines ({error}); was it cut short?") from error


def official_folder(family: str, fixtures: Path, data: str | None) -> Path:
    """Where a suite's official files are: as given, else beside the fixtures, else those that were fetched."""
    if data is not None:
        return Path(data)
    beside = fixtures.absolute().parent / family
    return beside if beside.is_dir() else cache_folder() / family
