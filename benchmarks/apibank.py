"""What API-Bank's simulators cost: ``python benchmarks/apibank.py [--data FOLDER]``.

Opening a session (time and memory), 1,000 sessions at once, a tool search over 2,138 tools, and episodes
per second in both protocols. With ``--json`` the last line is one JSON object. Without ``--data`` the
starter tables are used; on a shared machine compare ratios between runs, not times.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callgym.call import ToolCall
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import load_tables, starter_tables
from callgym.envs.base import make_tool_env
from callgym.goal import DecisionGoal
from callgym.message import Message
from callgym.task import Task
from callgym.tool_backends.ranking import get_ranker

LIMITS = {"open_us": 300.0, "session_kb": 100.0, "sessions_1000_mb": 500.0, "search_ms": 5.0}

TASK = Task(
    id="cost",
    family="apibank",
    split="test",
    messages=(Message(role="user", content="?"),),
    goal=DecisionGoal(decision="decline"),
)


def fastest(run: Callable[[], Any], rounds: int) -> float:
    """Seconds of the fastest of some rounds: the one that was disturbed least."""
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - started)
    return best


def write_calls(backend: SimulatorBackend) -> list[ToolCall]:
    """Calls that make a session copy tables, the first user's diary and a registration."""
    account = next(iter(backend.tables.base["Account"].values()))
    time_ = "2023-05-01 09:00:00"
    return [
        ToolCall(name="AddAlarm", arguments={"token": account["token"], "time": time_}),
        ToolCall(name="AddReminder", arguments={"token": account["token"], "content": "milk", "time": time_}),
        ToolCall(name="RegisterUser", arguments={"username": "cost", "password": "x", "email": "cost@example.org"}),
    ]


def sessions(backend: SimulatorBackend) -> dict[str, float]:
    """Time to open a session; memory of an idle one and of one that wrote to three tables."""
    count = 1_000
    calls = write_calls(backend)
    opened = fastest(lambda: [backend.open(TASK, seed) for seed in range(count)], 5) / count
    gc.collect()
    tracemalloc.start()
    held = [backend.open(TASK, seed) for seed in range(count)]
    idle = tracemalloc.get_traced_memory()[0]
    for session in held:
        for call in calls:
            result = session.call(call)
            assert result.error is None, result
    written = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {
        "open_us": opened * 1e6,
        "sessions_per_second": 1 / opened,
        "session_kb": idle / count / 1e3,
        "written_session_kb": written / count / 1e3,
        "sessions_1000_mb": written / 1e6,
    }


def search() -> dict[str, float]:
    """A tool search over 2,138 tools, a fresh query each time."""
    kinds = [
        f"{verb} {noun}" for verb in ("add", "query", "modify", "delete", "find", "send", "list") for noun in NOUNS
    ]
    texts = tuple(
        f"{kinds[n % len(kinds)]} number {n} keeps {NOUNS[n % 61 % len(NOUNS)]} in order" for n in range(2_138)
    )
    index = get_ranker("bm25").index(texts)
    queries = [f"{kinds[n % len(kinds)]} {n}" for n in range(200)]
    return {"search_ms": fastest(lambda: [index.scores(query) for query in queries], 3) / len(queries) * 1e3}


NOUNS = (
    "meeting",
    "alarm",
    "parcel",
    "hotel",
    "invoice",
    "ticket",
    "route",
    "recipe",
    "film",
    "salary",
    "photo",
    "song",
)


def episodes(data: str, level: int, protocol: str, count: int) -> dict[str, float]:
    """Episodes and steps per second of the oracle."""
    env = make_tool_env(f"apibank/L{level}-v0", data=data, protocol=protocol, observation="delta")
    steps = 0
    started = time.perf_counter()
    for number in range(count):
        env.reset(seed=0, options={"task": number % len(env.tasks)})
        ended = False
        while not ended:
            _, _, terminated, truncated, _ = env.step(env.oracle_action())
            ended = terminated or truncated
            steps += 1
    seconds = time.perf_counter() - started
    return {f"L{level}_{protocol}_steps_per_second": steps / seconds}


def main() -> None:
    """Measure, print, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="starter", help="starter, or the folder of official files")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    tables = starter_tables() if options.data == "starter" else load_tables(Path(options.data))
    figures: dict[str, float] = {"load_seconds": time.perf_counter() - started}
    figures |= sessions(SimulatorBackend(tables, "apis", get_ranker("bm25")))
    figures |= search()
    for level in (1, 2, 3):
        for protocol in ("step", "dialogue"):
            figures |= episodes(options.data, level, protocol, 200)
    over = [name for name, limit in LIMITS.items() if figures[name] > limit]
    for name, value in figures.items():
        limit = f"   (limit {LIMITS[name]:g})" if name in LIMITS else ""
        print(f"{name:<32}{value:12.2f}{limit}")
    if options.json:
        print(json.dumps(figures))
    if over:
        raise SystemExit(f"over the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
