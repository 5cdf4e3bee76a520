"""Figures of parity: how many recorded official verdicts ours agree with, a file of fixtures at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callgym.parity import run_suite

__all__ = ["FIXTURES", "parity_of"]

FIXTURES = {
    "apibank": "api_bank_parity",
    "bfcl": "bfcl_parity",
    "step-metrics": "step_metrics_parity",
    "when2call": "when2call_parity",
}
"""Suite to the folder of its fixtures."""
_OFFICIAL_RANKER = "minilm"


def parity_of(suite: str, folder: Path, ranker: str = _OFFICIAL_RANKER) -> dict[str, Any]:
    """``total`` and ``agree`` of a suite, its command, and every file; ``counted`` files make up the total.

    Args:
        suite: Its name.
        folder: Its fixtures; the official files lie beside them.
        ranker: What API-Bank's tool search ranks with; by default the official model.
    """
    report = run_suite(suite, folder, ranker=ranker)
    summary = report.summary()
    counted = {id(file) for file in report.counted}
    return {
        "total": summary["cases"],
        "agree": summary["agree"],
        "command": f"callgym parity {suite} FOLDER" + ("" if ranker == _OFFICIAL_RANKER else f" --ranker {ranker}"),
        "files": [
            {"file": file.file, "cases": file.cases, "agree": file.agree, "counted": id(file) in counted}
            for file in report.files
        ],
    }
