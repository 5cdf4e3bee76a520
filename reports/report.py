"""A report from the files of runs::

report = make_report(["before.jsonl", "after.jsonl"], pictures=True)
print(report.text())
Path("report.html").write_text(report.html(), encoding="utf-8")
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from callgym.errors import ConfigurationError, DataError
from callgym.reports.comparison import RunComparison, compare
from callgym.reports.document import Document, Picture
from callgym.reports.html_page import as_html
from callgym.reports.markdown import as_markdown
from callgym.reports.numbers import ReportSettings
from callgym.reports.plain_text import as_text
from callgym.reports.run_files import find_files
from callgym.reports.run_record import RunRecord, read_run
from callgym.reports.sections import write_document
from callgym.reports.training_log import Curves, read_curves

__all__ = ["Report", "make_report"]

_PLACES = 6


@dataclass(frozen=True, slots=True)
class Report:
    """What runs came to."""

    comparison: RunComparison | None
    """The numbers; None where there are only training logs."""
    curves: tuple[Curves, ...]
    """Training logs."""
    faults: tuple[str, ...]
    """What kept the rest of a file from being read."""
    pictures: tuple[Picture, ...]
    """Empty where none were asked for."""

    def document(self) -> Document:
        """The report as tables and sentences."""
        return write_document(
            self.comparison, self.curves, self.faults, {picture.name: picture for picture in self.pictures}
        )

    def text(self) -> str:
        """For a terminal."""
        return as_text(self.document())

    def markdown(self, picture_path: Callable[[Picture], str] | None = None) -> str:
        """As Markdown; with pictures where ``picture_path`` says where their files are."""
        return as_markdown(self.document(), picture_path)

    def html(self) -> str:
        """As one page, the pictures inside."""
        return as_html(self.document())

    def to_json(self) -> str:
        """One line of JSON, its keys always in this order; numbers are rounded to 6 places."""
        known = self.comparison
        line: dict[str, Any] = {
            "version": 1,
            "settings": None if known is None else dataclasses.asdict(known.settings),
            "runs": [] if known is None else [dataclasses.asdict(run) for run in known.runs],
            "comparisons": [] if known is None else [dataclasses.asdict(one) for one in known.comparisons],
            "caveats": [] if known is None else list(known.caveats),
            "training": [
                {"name": one.name, "logs": [dataclasses.asdict(gain) for gain in one.gains()]} for one in self.curves
            ],
            "faults": list(self.faults),
        }
        return json.dumps(_rounded(line), ensure_ascii=False, allow_nan=False)


def make_report(
    runs: Sequence[str | PathLike[str]],
    settings: ReportSettings | None = None,
    *,
    pictures: bool = False,
    advance: Callable[[int], object] | None = None,
) -> Report:
    """Read runs and compare them.

    Args:
        runs: ``PATH``, or ``NAME=PATH[,PATH...]``: files of episodes, or folders of training runs.
        settings: Baseline, intervals, seed and threshold.
        pictures: Draw them, too.
        advance: Is told the bytes of every line of episodes when it is read.

    Raises:
        ConfigurationError: A setting has a value it cannot have, no run is given, or two have one name.
        DataError: A path does not exist, or nothing in all of them can be read; a file that is damaged later is read
            up to there, and the report says so.
        MissingPackageError: Pictures are asked for and matplotlib is not installed.
    """
    if not runs:
        raise ConfigurationError("no run is given; give a file of episodes, or the folder of a training run")
    episode_files, log_files = find_files([fspath(run) for run in runs])
    records = [read_run(files, advance) for files in episode_files]
    curves = tuple(read_curves(files) for files in log_files)
    faults = [fault for record in records for fault in record.faults] + [
        fault for one in curves for fault in one.faults
    ]
    comparison = _compared(records, curves, faults, settings or ReportSettings())
    return Report(comparison, curves, tuple(faults), _drawn(comparison, records, curves) if pictures else ())


def _compared(
    records: Sequence[RunRecord], curves: Sequence[Curves], faults: Sequence[str], settings: ReportSettings
) -> RunComparison | None:
    if any(record.episodes for record in records):
        return compare(records, settings)
    if not any(len(one.steps()) for one in curves):
        raise DataError(f"nothing can be read: {'; '.join(faults) or 'every episode broke'}")
    return None


def _drawn(
    comparison: RunComparison | None, records: Sequence[RunRecord], curves: Sequence[Curves]
) -> tuple[Picture, ...]:
    from callgym.reports.pictures import draw_pictures

    return tuple(draw_pictures(comparison, records, curves).values())


def _rounded(value: Any) -> Any:
    """Sums may differ in the last bits from machine to machine."""
    if isinstance(value, float):
        return round(value, _PLACES)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value
