"""Training logs (``training_log.jsonl``): one JSON object an optimiser step, read up to the first damaged line.

curves = read_curves(LogFiles("seeds", paths))
curves.series("rewards/episode_return/mean")  # shape (seeds, steps), NaN where a step has none
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from callgym.errors import DataError
from callgym.json_value import refuse_constant
from callgym.reports.run_files import LogFiles
from callgym.reports.shown_name import shown_name
from callgym.reports.statistics import Floats

__all__ = ["RETURN_KEY", "Curves", "SeedGain", "read_curves", "smoothed"]

RETURN_KEY = "rewards/episode_return/mean"
"""The mean return of a step's episodes."""
_LONGEST_LINE = 1 << 24
_MOST_ROWS = 1_000_000
_MOST = 1e12
_MOST_KEYS = 500


@dataclass(frozen=True, slots=True)
class SeedGain:
    """How one training went."""

    path: str
    """Its log."""
    steps: int
    """Steps on record."""
    first: float | None
    """Mean return over the first tenth of the steps."""
    last: float | None
    """Mean return over the last tenth."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The logs of one run, one a seed."""

    name: str
    """The run."""
    paths: tuple[str, ...]
    """The logs."""
    rows: tuple[tuple[dict[str, float], ...], ...]
    """Of each log, what is known of every step; ``step`` among it."""
    faults: tuple[str, ...]
    """What kept the rest of a log from being read."""

    def steps(self) -> Floats:
        """Every step that a log has, in order. Shape (steps,)."""
        return np.array(sorted({row["step"] for log in self.rows for row in log}), dtype=np.float64)

    def names(self) -> list[str]:
        """What is on record of any step, sorted."""
        return sorted({key for log in self.rows for row in log for key in row} - {"step"})

    def series(self, key: str) -> Floats:
        """A value over the steps, of each seed; NaN where it is not known. Shape (seeds, steps)."""
        steps = self.steps()
        found = np.full((len(self.rows), len(steps)), np.nan)
        for seed, log in enumerate(self.rows):
            for row in log:
                if key in row:
                    found[seed, np.searchsorted(steps, row["step"])] = row[key]
        return found

    def gains(self) -> list[SeedGain]:
        """How each training went."""
        gains = []
        for path, log in zip(self.paths, self.rows, strict=True):
            returns = [row[RETURN_KEY] for row in log if RETURN_KEY in row]
            tenth = max(1, len(returns) // 10)
            gains.append(SeedGain(path, len(log), _mean(returns[:tenth]), _mean(returns[-tenth:])))
        return gains


def read_curves(files: LogFiles) -> Curves:
    """Read the logs of a run.

    Raises:
        DataError: A file is missing or a folder.
    """
    rows, faults = [], []
    for path in files.paths:
        found, fault = _read_log(path)
        rows.append(tuple(found))
        faults += [] if fault is None else [fault]
    return Curves(files.name, tuple(str(path) for path in files.paths), tuple(rows), tuple(faults))


def smoothed(values: Floats, window: int) -> Floats:
    """The centred moving mean of what is known of a curve; narrower at both ends. Shape as given, (steps,)."""
    known = ~np.isnan(values)
    kernel = np.ones(window)
    sums = np.convolve(np.where(known, values, 0.0), kernel)
    counts = np.convolve(known.astype(np.float64), kernel)
    start = (window - 1) // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums / counts, np.nan)
    cut: Floats = means[start : start + len(values)]
    return cut


def _read_log(path: Path) -> tuple[list[dict[str, float]], str | None]:
    """The rows, and the fault."""
    rows: list[dict[str, float]] = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                row = _row(line)
                if row is None or number > _MOST_ROWS:
                    return rows, f"{path}, row {number}: no JSON object of a training step; delete the row"
                row.setdefault("step", float(number))
                rows.append(row)
    except (FileNotFoundError, IsADirectoryError):
        raise DataError(f"{path} is no file; give the log that callgym train --out wrote") from None
    return rows, None if rows else f"{path} is empty: there is no training step in it"


def _row(line: bytes) -> dict[str, float] | None:
    try:
        fields: Any = json.loads(line.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    known = [(name, value) for name, value in list(fields.items())[:_MOST_KEYS] if type(value) in (int, float)]
    return {shown_name(name): float(value) for name, value in known if abs(value) < _MOST}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
