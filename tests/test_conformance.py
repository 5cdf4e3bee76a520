"""Every dialect against its table of cases, and every dialect has one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from callgym.dialects import DIALECTS, get_dialect

FOLDER = Path(__file__).parent / "conformance"
KINDS = {"good", "broken", "hostile", "truncated"}
LEAST = 40


def table(name: str) -> list[dict[str, Any]]:
    # Not splitlines(): a text may hold U+2028, which JSON leaves as it is.
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def action(case: dict[str, Any]) -> str:
    text = case["text"]
    if isinstance(text, str):
        return text
    prefix, unit, count, suffix = text["repeat"]
    return str(prefix + unit * count + suffix)


CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}-{case['id']}")
    for path in sorted(FOLDER.glob("*.jsonl"))
    for case in table(path.stem)
]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_an_action_is_read_as_the_table_says(name: str, case: dict[str, Any]) -> None:
    parsed = get_dialect(name).parse(action(case))
    calls = [{"name": call.name, "arguments": call.arguments} for call in parsed.calls]
    assert json.dumps(calls) == json.dumps(case.get("calls", []))  # as JSON: 1, 1.0 and true differ
    wanted = case.get("errors", [])
    assert [error.kind for error in parsed.errors] == [error["kind"] for error in wanted]
    for error, expected in zip(parsed.errors, wanted, strict=True):
        assert error.message
        assert error.position == expected.get("at", error.position)
    assert parsed.content == case.get("content", "")
    assert parsed.reasoning == case.get("reasoning", "")


@pytest.mark.parametrize("name", sorted(DIALECTS.keys() - {"auto"}))
def test_every_dialect_has_a_table(name: str) -> None:
    cases = table(name)
    assert len({case["id"] for case in cases}) == len(cases) >= LEAST
    assert Counter(case["kind"] for case in cases).keys() == KINDS
