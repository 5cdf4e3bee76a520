"""BFCL parity: every official fixture agrees, and fixtures that are missing or damaged are named."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

from callgym.envs.bfcl.parity import cases
from callgym.errors import DataError
from callgym.parity import ParityReport, run_suite

COUNTED = {
    "single_turn": 8_560,
    "decode_probes": 121,
    "checker_probes": 1_003,
    "fc_decoded": 456,
    "format_sensitivity": 1_007,
    "multi_turn": 1_908,
    "class_probes": 154,
    "memory_probes": 49,
    "agentic_final": 707,
    "leaderboard": 18,
}
"""Fixture file to the cases that make up the total."""
DETAILS = {
    "single_turn (decoded)",
    "format_sensitivity (decoded)",
    "multi_turn (error turn)",
    "multi_turn (irrelevance)",
    "multi_turn (gold results)",
    "multi_turn (gold state)",
    "class_probes (calls)",
    "memory_probes (empty)",
    "memory_probes (calls)",
}


@pytest.fixture(scope="module")
def report(official_data: Path) -> ParityReport:
    folder = official_data / "bfcl_parity"
    if not folder.is_dir() or not (official_data / "bfcl").is_dir():
        pytest.skip("BFCL's files and fixtures are not here")
    for name in ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    return run_suite("bfcl", folder)


def test_every_official_verdict_agrees(report: ParityReport) -> None:
    assert [case for file in report.files for case in file.disagreements] == []


def test_nothing_is_left_out(report: ParityReport) -> None:
    """Files of fixtures may have more rows than these, not fewer."""
    assert {file.file for file in report.files} == {*COUNTED, *DETAILS}
    assert all(file.cases >= COUNTED[file.file] for file in report.counted)
    summary = report.summary()
    assert summary["cases"] == summary["agree"] >= 13_983


# Fixtures of our own.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fixtures").mkdir()
    return tmp_path / "fixtures"


def final(valid: bool, case: str = "1") -> dict[str, object]:
    """A row on an answer that says Oslo."""
    error = None if valid else "agentic:answer_not_found"
    row = {"case": case, "category": "memory", "steps": ["It is Oslo."], "ground_truth": ["Oslo"]}
    return {**row, "official_valid": valid, "official_error_type": error}


def test_a_disagreement_is_reported(folder: Path) -> None:
    rows = [json.dumps(final(True)), json.dumps(final(False, "2"))]
    (folder / "agentic_final.jsonl").write_text("\n".join(rows), encoding="utf-8")
    report = run_suite("bfcl", folder)
    assert report.summary() == {"suite": "bfcl", "cases": 2, "agree": 1, "rate": 0.5}
    (wrong,) = report.files[0].disagreements
    assert (wrong.case, wrong.expected, wrong.found) == ("2", (False, "agentic:answer_not_found"), (True, None))


def test_plain_and_packed_fixtures_are_the_same(folder: Path) -> None:
    line = json.dumps(final(True)) + "\n"
    (folder / "agentic_final.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    packed = list(cases(folder))
    (folder / "agentic_final.jsonl.gz").unlink()
    (folder / "agentic_final.jsonl").write_text(line, encoding="utf-8")
    assert list(cases(folder)) == packed
    assert [case.agree for case in packed] == [True]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("other.jsonl", b"{}", "holds none of"),
        ("agentic_final.jsonl", b"{}", r"agentic_final\.jsonl, row 1: not a fixture \(KeyError"),
        ("agentic_final.jsonl", b"[]", "agentic_final.jsonl"),
        ("agentic_final.jsonl.gz", b"no gzip", "was it cut short"),
        ("agentic_final.jsonl.gz", gzip.compress(b"{}" * 999, mtime=0)[:-9], "was it cut short"),
        ("single_turn.jsonl", b'{"category": "simple_python", "id": "x", "case": "1"}', "BFCL_v4_simple_python"),
    ],
)
def test_missing_and_damaged_fixtures_are_named(folder: Path, name: str, content: bytes, message: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(cases(folder))
