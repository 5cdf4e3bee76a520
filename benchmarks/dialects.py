"""How dialects read, and what it costs: ``python benchmarks/dialects.py``.

One table, a row a dialect. ``table``: cases of its conformance table by kind (good, broken, hostile, truncated);
``differ``: how many are read otherwise. ``trip``: random calls, with any JSON as values, that are read back as they
were written; ``wrong``: those that are not; ``none``: those that the form cannot carry. ``parse``: microseconds for a
call of 300 bytes; ``ratio``: to ``json.loads`` and a schema check of the same call as JSON, the floor; ``check``: the
same ratio with coercion, where the dialect has no types, and a schema check. ``1 MB``: milliseconds of the slowest of
some texts of a megabyte; ``32 KB``: of the slowest of many hostile texts, and its beginning. Exit status 1 over a
limit, or where anything is read otherwise.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from floor import ARGUMENTS, CALL_TEXT, fastest

from callgym import Tool, ToolCall
from callgym.dialects import DIALECTS, Dialect
from callgym.dialects.base import MAX_LENGTH
from callgym.schema import ToolSchema

RATIO_LIMIT, HOSTILE_LIMIT_MS = 2.0, 50.0
TABLES = Path(__file__).resolve().parent.parent / "tests" / "conformance"
KINDS = ("good", "broken", "hostile", "truncated")
COLUMNS = {
    "table": 12, "differ": 8, "trip": 6, "wrong": 7, "none": 6, "floor": 7, "parse": 7, "ratio": 7, "check": 7,
    "1 MB": 7, "32 KB": 8,
}  # fmt: skip
"""Each column's width."""
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}

UNITS = (
    "[", "{", "(", "<", "'", '"', "\\", "\\\\", '\\"', "\\u", ",", ":", "=", " ", "\n", "`", "```\n", "9", "a", "é",
    "🙂", "<think>", "</think>", "<think></think>", '{"a":', '{"name": "f"', '{"name": "f", "arguments": {}}', '"a", ',
    "[f(", "[f(a='", "[f(a=t", "[f()] ", "f()\n", "<a>", "</a>", "<|a|>", "\x00", "\u2028", "x=1, ",
)  # fmt: skip
"""What hostile texts are made of, beside a dialect's own marks and pieces of what it writes."""
PIECES = (
    "x", "tea", "it's", 'say "hi"', "a, b=c", "line\nbreak", "tab\t", "back\\slash", "\\u0041", "é", "東京", "🙂",
    "\u2028", "</tool_call>", "<think>", "</think>", "[f(a=1)]", ")]", "}}", "</", "<|", "|>", "\x00", "None", "true",
    "12", " ", "", "```", "{", "'", ":",
)  # fmt: skip
"""What random texts are made of, beside the same."""


class Trip(NamedTuple):
    """Random calls: read back as they were written, read otherwise, more than the form can carry."""

    right: int
    wrong: int
    refused: int


def conformance(dialect: Dialect) -> tuple[Counter[str], int]:
    """The cases of a dialect's table by kind, and how many are read otherwise."""
    path = TABLES / f"{dialect.name}.jsonl"
    if not path.exists():
        return Counter(), 0
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return Counter(case["kind"] for case in cases), sum(not agrees(dialect, case) for case in cases)


def agrees(dialect: Dialect, case: dict[str, Any]) -> bool:
    """Whether a case is read as its table says."""
    text = case["text"]
    if not isinstance(text, str):
        prefix, unit, count, suffix = text["repeat"]
        text = prefix + unit * count + suffix
    parsed = dialect.parse(text)
    calls = [{"name": call.name, "arguments": call.arguments} for call in parsed.calls]
    errors = case.get("errors", [])
    return (
        json.dumps(calls) == json.dumps(case.get("calls", []))
        and [error.kind for error in parsed.errors] == [error["kind"] for error in errors]
        and all(
            error.position == wanted.get("at", error.position)
            for error, wanted in zip(parsed.errors, errors, strict=True)
        )
        and (parsed.content, parsed.reasoning) == (case.get("content", ""), case.get("reasoning", ""))
    )


def round_trip(dialect: Dialect, count: int) -> Trip:
    """Write random calls and read them back."""
    rng = random.Random(0)
    pieces = (*PIECES, *dialect.signs, *dialect.control)
    right = wrong = refused = 0
    for _ in range(count):
        call = random_call(rng, pieces)
        if not dialect.can_write(call):
            refused += 1
        elif comes_back(dialect, call):
            right += 1
        else:
            wrong += 1
    return Trip(right, wrong, refused)


def comes_back(dialect: Dialect, call: ToolCall) -> bool:
    """Whether a call is read as it was written; where values arrive as text, by a schema of its values' types."""
    parsed = dialect.parse(dialect.render_action((call,)))
    if parsed.errors or len(parsed.calls) != 1:
        return False
    (found,) = parsed.calls
    arguments = found.arguments if dialect.typed else schema_of(call.arguments).coerce(found.arguments)
    return found.name == call.name and json.dumps(arguments) == json.dumps(call.arguments)


def schema_of(arguments: dict[str, Any]) -> ToolSchema:
    """The schema of a tool that takes such arguments."""
    properties: Any = {key: {"type": TYPES.get(type(value), "null")} for key, value in arguments.items()}
    parameters: Any = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSchema(Tool(name="f", parameters=parameters))


def random_call(rng: random.Random, pieces: tuple[str, ...]) -> ToolCall:
    """A call with up to five arguments; one name in ten is any text."""
    names = [random_name(rng, pieces) for _ in range(rng.randrange(6))]
    arguments = {name: random_value(rng, pieces) for name in names}
    return ToolCall(name=random_name(rng, pieces) or "f", arguments=arguments)


def random_name(rng: random.Random, pieces: tuple[str, ...]) -> str:
    """Mostly what a program would call something."""
    if rng.random() < 0.1:
        return random_text(rng, pieces)
    return rng.choice(("find", "ns.look_up", "set-volume", "a", "b2", "_c", "città", "dropOff"))


def random_text(rng: random.Random, pieces: tuple[str, ...]) -> str:
    """Up to five pieces."""
    return "".join(rng.choices(pieces, k=rng.randrange(6)))


def random_value(rng: random.Random, pieces: tuple[str, ...], depth: int = 0) -> Any:
    """Any JSON value, four levels deep at most."""
    match rng.randrange(9 if depth < 4 else 6):
        case 0:
            return rng.choice((True, False, None))
        case 1:
            return rng.randrange(-(10**30), 10**30) if rng.random() < 0.2 else rng.randrange(-99, 100)
        case 2:
            return rng.choice((0.5, -1e-7, 1e300, 3.0, rng.random()))
        case 6 | 7:
            return [random_value(rng, pieces, depth + 1) for _ in range(rng.randrange(4))]
        case 8:
            keys = [random_name(rng, pieces) for _ in range(rng.randrange(4))]
            return {key: random_value(rng, pieces, depth + 1) for key in keys}
    return random_text(rng, pieces)


def hostile_texts(dialect: Dialect, length: int, ends: bool) -> Iterator[str]:
    """Marks, pieces of marks and broken calls, over and over, bare and inside a call."""
    written = dialect.render_action((ToolCall(name="f", arguments={"a": "x", "b": [1, {"c": "y"}]}),))
    cuts = [written[:end] for end in range(1, len(written)) if not written[end - 1].isalnum()]
    units = dict.fromkeys((*UNITS, *dialect.signs, *dialect.control, written, *cuts))
    starts = ("", *cuts[:: max(1, len(cuts) // 5)], "<think>")
    tails = ("", written[-(len(written) // 4) :], "</think>") if ends else ("",)
    for unit, start, tail in product(units, starts, tails):
        yield (start + unit * (length // len(unit) + 1))[: length - len(tail)] + tail


def slowest(dialect: Dialect, length: int, ends: bool) -> tuple[float, str]:
    """Processor seconds of the text that takes longest, and which; the first ten are measured again."""
    texts = hostile_texts(dialect, length, ends)
    times = sorted(((processor_seconds(dialect, text, 1), text) for text in texts), reverse=True)[:10]
    return max((processor_seconds(dialect, text, 10), text) for _, text in times)


def processor_seconds(dialect: Dialect, text: str, rounds: int) -> float:
    """What reading a text takes, the fastest of some rounds; other programs do not count."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        dialect.parse(text)
        best = min(best, time.process_time() - start)
    return best


def parsing(dialect: Dialect, schema: ToolSchema) -> tuple[Callable[[], object], Callable[[], object]]:
    """A function that reads the 300-byte call, and one that checks it as well."""
    text = dialect.render_action((ToolCall(name="BookRoom", arguments=ARGUMENTS),))
    parse, coerce, check = dialect.parse, schema.coerce, schema.check

    def checked() -> object:
        arguments = parse(text).calls[0].arguments
        return check(arguments if dialect.typed else coerce(arguments))

    assert checked() is None, f"{dialect.name} does not read what it writes: {parse(text)}"
    return partial(parse, text), checked


def line(name: str, cells: Iterable[object]) -> str:
    """One line of the table."""
    return f"{name:<15}" + "".join([f"{cell:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True)])


def main() -> None:
    """Print the table; exit status 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--dialect", action="append", choices=list(DIALECTS))
    options = parser.parse_args()
    schema = schema_of(ARGUMENTS)

    def floor() -> None:
        schema.check(json.loads(CALL_TEXT)["arguments"])

    print(f"limits: ratio {RATIO_LIMIT:g}, {HOSTILE_LIMIT_MS:g} ms")
    print(line("dialect", COLUMNS))
    within = True
    for name in options.dialect or DIALECTS:
        dialect = DIALECTS[name]
        kinds, differing = conformance(dialect)
        trip = round_trip(dialect, options.calls)
        # Short rounds, and many of them: on a shared machine some are left in peace. The floor is taken with each.
        functions = (floor, *parsing(dialect, schema))
        least, parse, check = fastest(options.rounds, *((function, 100) for function in functions))
        megabyte, _ = slowest(dialect, 1_048_576, ends=False)
        hostile, text = slowest(dialect, MAX_LENGTH, ends=True)
        table = "/".join(str(kinds[kind]) for kind in KINDS)
        times = (least * 1e6, parse * 1e6, parse / least, check / least, megabyte * 1e3, hostile * 1e3)
        cells = (table, differing, *trip, *(f"{value:.2f}" for value in times))
        print(f"{line(name, cells)}  {text[:40]!r}", flush=True)
        within = within and not differing and not trip.wrong
        within = within and parse / least <= RATIO_LIMIT and max(hostile, megabyte) * 1e3 <= HOSTILE_LIMIT_MS
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
