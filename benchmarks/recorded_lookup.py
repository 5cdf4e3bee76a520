"""A lookup among 100,000 recorded rows, beside SQLite and JSON by hand: ``python benchmarks/recorded_lookup.py``."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from callgym import Task, ToolCall, ToolResult
from callgym.tool_backends.recording import RecordedCall, RecordingStore, ReplayBackend
from callgym.tool_backends.recording.keys import ANYWHERE
from callgym.tool_backends.recording.normalised import normal_key

__all__ = ["LIMIT_US", "Lookup", "recorded_lookup"]

LIMIT_US = 50.0
_TOOL = "GetWeather"


class Lookup(NamedTuple):
    """Microseconds of the fastest rounds."""

    exact: float
    """Of a call that was recorded exactly so."""
    normalised: float
    """Of one that means the same."""
    by_hand: float
    """Of the same row by its number and ``json.loads``."""


def recorded_lookup(rows: int = 100_000, rounds: int = 40) -> Lookup:
    """Look 500 of the rows up, in turn with the floor."""
    message = [{"role": "user", "content": "x"}]
    goal = {"kind": "calls", "turns": [[]]}
    task = Task.from_dict({"id": "t", "family": "mine", "split": "test", "goal": goal, "messages": message})
    some = random.Random(0).sample(range(rows), 500)
    exact = [ToolCall(name=_TOOL, arguments=_arguments(n)) for n in some]
    normal = [ToolCall(name=_TOOL, arguments={**_arguments(n), "city": f"CITY  {n}"}) for n in some]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.sqlite"
        _fill(path, rows)
        backend = ReplayBackend(path)
        bare = sqlite3.connect(path)

        def by_hand() -> None:
            for n in some:
                json.loads(bare.execute("SELECT result FROM calls WHERE number = ?", (n + 1,)).fetchone()[0])

        def look_up(calls: list[ToolCall]) -> None:
            session = backend.open(task, 0)
            if not all(session.call(call).ok for call in calls):
                raise RuntimeError("a recorded call was not found")

        best = [float("inf")] * 3
        for _ in range(rounds):
            for which, work in enumerate((lambda: look_up(exact), lambda: look_up(normal), by_hand)):
                started = time.perf_counter()
                work()
                best[which] = min(best[which], (time.perf_counter() - started) / len(some))
        bare.close()
    return Lookup(*[1e6 * seconds for seconds in best])


def _arguments(number: int) -> dict[str, Any]:
    return {"city": f"City {number}", "days": number % 7, "unit": "C"}


def _fill(path: Path, rows: int) -> None:
    result = ToolResult(content={"days": [{"high": 20.5, "low": 11, "sky": "clear"}] * 3})
    with RecordingStore(path) as store:
        store.add_rows(
            RecordedCall(_TOOL, _arguments(n), result, ANYWHERE, 0, normal_key(_TOOL, _arguments(n)), "made")
            for n in range(rows)
        )


if __name__ == "__main__":
    found = recorded_lookup()
    print(f"exact {found.exact:.0f} us (limit {LIMIT_US:.0f})")
    print(f"normalised {found.normalised:.0f} us, by hand {found.by_hand:.0f} us")
    raise SystemExit(found.exact > LIMIT_US)
