"""The bare floor that the other benchmarks measure against, and how they measure.

What no environment can do without: ``json.loads`` of a 300-byte call, looking its function up, calling it,
``json.dumps`` of the same call.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

__all__ = ["ARGUMENTS", "CALL_TEXT", "fastest", "make_floor"]

ARGUMENTS: dict[str, Any] = {
    "token": "z9x8c7v6b5n4",
    "title": "quarterly planning with the northern sales team",
    "start": "2031-05-06 09:30:00",
    "end": "2031-05-06 11:00:00",
    "place": "second floor, room with the long table",
    "people": ["Ada Moser", "Bruno Keller", "Carla Lund"],
    "seats": 12,
    "remote": False,
}
CALL_TEXT = json.dumps({"name": "BookRoom", "arguments": ARGUMENTS})


def make_floor() -> Callable[[], None]:
    """A function that does the floor once."""

    def book(world: Any, **arguments: Any) -> str:
        return "success"

    functions = {"BookRoom": book}

    def floor() -> None:
        call = json.loads(CALL_TEXT)
        functions[call["name"]](None, **call["arguments"])
        json.dumps(call)

    return floor


def fastest(rounds: int, *functions: tuple[Callable[[], object], int]) -> list[float]:
    """Seconds a call of each function, the fastest of ``rounds`` rounds, taken in turn.

    Args:
        rounds: How often each is measured.
        functions: Each function, and how often it runs in a round.
    """
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for number, (function, repeats) in enumerate(functions):
            start = time.perf_counter()
            for _ in range(repeats):
                function()
            best[number] = min(best[number], (time.perf_counter() - start) / repeats)
    return best
