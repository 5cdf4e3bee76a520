"""What a call of a FunctionBackend costs, as a multiple of the bare floor: ``python benchmarks/function_tools.py``.

The floor is ``json.loads`` of a 300-byte call, looking the function up, calling it, ``json.dumps`` of its result. The
backend does the same and checks the arguments against the schema, copies and converts them, and writes the result as
JSON. ``plain`` has hints that are JSON's own types, ``rich`` a dataclass, an enum, dates and sets, of which the floor
knows nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from floor import ARGUMENTS, CALL_TEXT, fastest

from callgym import Message, Task, ToolCall
from callgym.goal import CallsGoal
from callgym.schema import ToolSchema
from callgym.tool_backends import checked_call
from callgym.tool_backends.functions import FunctionBackend

__all__ = ["LIMIT", "function_ratios"]

LIMIT = 3.0


def book_plain(
    token: str, title: str, start: str, end: str, place: str, people: list[str], seats: int, remote: bool
) -> dict[str, Any]:
    """The tool with hints that are JSON's types."""
    return {"booked": True, "room": place, "people": people, "seats": seats, "from": start, "to": end}


class Place(Enum):
    """One room."""

    SECOND = "second floor, room with the long table"


@dataclass
class Booking:
    """What is booked."""

    room: Place
    people: set[str]
    seats: int
    start: datetime
    end: datetime


def book_rich(
    token: str, title: str, start: datetime, end: datetime, place: Place, people: set[str], seats: int, remote: bool
) -> Booking:
    """The same with Python's types."""
    return Booking(place, people, seats, start, end)


def function_ratios(rounds: int = 30, repeats: int = 2_000) -> dict[str, float]:
    """Seconds of a checked call over seconds of the floor, fastest rounds, measured in turn."""
    work = [_floor(), *(_checked(function) for function in (book_plain, book_rich))]
    floor, plain, rich = fastest(rounds, *((one, repeats) for one in work))
    return {"plain": plain / floor, "rich": rich / floor}


def _floor() -> Callable[[], object]:
    functions = {"BookRoom": book_plain}

    def floor() -> str:
        call = json.loads(CALL_TEXT)
        return json.dumps(functions[call["name"]](**call["arguments"]))

    return floor


def _checked(function: Callable[..., Any]) -> Callable[[], object]:
    backend = FunctionBackend({"BookRoom": function})
    schemas = {tool.name: ToolSchema(tool) for tool in backend.tools}
    message = Message(role="user", content="Book the room.")
    task = Task(id="speed", family="speed", split="test", messages=(message,), goal=CallsGoal(turns=((),)))
    session = backend.open(task, 0)
    assert checked_call(session, ToolCall(name="BookRoom", arguments=ARGUMENTS), schemas).ok

    def checked() -> str:
        call = json.loads(CALL_TEXT)
        made = ToolCall.trusted(name=call["name"], arguments=call["arguments"], id=None)
        return json.dumps(checked_call(session, made, schemas).content)

    return checked


if __name__ == "__main__":
    ratios = function_ratios()
    print(f"plain hints {ratios['plain']:.2f} x floor (limit {LIMIT:.0f}); Python's types {ratios['rich']:.2f} x floor")
    raise SystemExit(0 if ratios["plain"] <= LIMIT else 1)
