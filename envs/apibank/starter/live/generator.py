"""Seeded, endless live dialogues."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from callgym.call import ToolCall
from callgym.envs.apibank.live import LiveTurn, live_task
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import starter_tables
from callgym.task import Task
from callgym.tool_backends.ranking import get_ranker

__all__ = ["generate_dialogues", "starter_dialogues"]

_COUNTS = {"train": 2_000, "test": 300}


def generate_dialogues(level: int, split: str, seed: int = 0) -> Iterator[Task]:
    """Endless tasks."""
    backend = SimulatorBackend(starter_tables(), "lv3_apis" if level == 3 else "apis", get_ranker("bm25"))
    index = 0
    while True:
        n = index * 2 + (split == "test")
        call = ToolCall(name="Calculator", arguments={"formula": f"{n}+3*7"})
        turns = [LiveTurn(f"What is {n}+3*7?", (call,), f"It is {n + 21}.0.")]
        yield live_task(
            id=f"starter-live/L{level}/{split}/{index:06d}",
            split=split,
            level=level,
            turns=turns,
            backend=backend,
            meta={"kind": "one", "source": "starter", "pairs": [f"calculator={n}"]},
        )
        index += 1


@cache
def starter_dialogues(level: int, split: str) -> tuple[Task, ...]:
    """The starter dialogues."""
    return tuple(islice(generate_dialogues(level, split), _COUNTS[split]))
