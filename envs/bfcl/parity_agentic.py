"""Parity of the agentic part: memory stores, verdicts on answers, and the leaderboard's columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from callgym.envs.bfcl.memory.session import open_store
from callgym.envs.bfcl.memory.store import MemoryStore
from callgym.envs.bfcl.official.agentic import answer_verdict, result_verdict
from callgym.envs.bfcl.official.leaderboard import columns
from callgym.envs.bfcl.parity_context import Context
from callgym.envs.bfcl.simulators.base import Refusal
from callgym.parity import Case

__all__ = ["CASES"]


def _memory_probe(row: dict[str, Any], context: Context) -> Iterator[Case]:
    store = open_store(row["backend"])
    case = row["case"]
    yield Case("memory_probes (empty)", case, row["context_when_empty"], store.context_text())
    results = [_result(store, name, arguments) for name, arguments in row["calls"]]
    expected = [row["results"], row["context_after"], row["snapshot"]]
    yield Case("memory_probes", case, expected, [results, store.context_text(), store.snapshot()])
    for number, (official, ours) in enumerate(zip(row["results"], results, strict=True)):
        yield Case("memory_probes (calls)", f"{case}:{number}", official, ours)


def _result(store: MemoryStore, name: str, arguments: dict[str, Any]) -> Any:
    try:
        return json.loads(json.dumps(store.call(name, arguments)))
    except Refusal as refusal:
        # The fixtures give the exception's name, too, which nobody is shown.
        return f"EXCEPTION:{type(refusal.__cause__).__name__}: {refusal}"


def _agentic_final(row: dict[str, Any], context: Context) -> Iterator[Case]:
    if row["category"] == "shape":
        verdict = result_verdict(row["result"], row["ground_truth"])
    else:
        verdict = answer_verdict(row["steps"], row["ground_truth"])
    expected = (row["official_valid"], row["official_error_type"])
    yield Case("agentic_final", row["case"], expected, tuple(verdict))


def _leaderboard(row: dict[str, Any], context: Context) -> Iterator[Case]:
    found = columns({name: (correct, total) for name, (correct, total) in row["accuracy"].items()})
    yield Case("leaderboard", row["case"], row["official"], {table: found[table] for table in row["official"]})


CASES: dict[str, Callable[[dict[str, Any], Context], Iterator[Case]]] = {
    "memory_probes": _memory_probe,
    "agentic_final": _agentic_final,
    "leaderboard": _leaderboard,
}
"""Fixture to the function that compares a row of it."""
