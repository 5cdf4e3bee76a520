"""Parity of the multi-turn verdicts and of the executable classes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.official.multi_turn import (
    FORCED,
    GoldTurn,
    Verdict,
    gold_trace,
    is_irrelevant,
    score,
    score_outputs,
)
from callgym.envs.bfcl.parity_context import Context
from callgym.envs.bfcl.simulators.base import Tables
from callgym.envs.bfcl.simulators.session import World
from callgym.parity import Case

__all__ = ["CASES"]

Gold = list[list[str]]


@lru_cache(maxsize=4)
def _tables(files: BfclFiles) -> Tables:
    return Tables(files.constants(), files.long_context())


@lru_cache(maxsize=16)
def _entries(files: BfclFiles, category: str) -> dict[str, tuple[dict[str, Any], Gold]]:
    name = f"BFCL_v4_{category}.json"
    golds = files.golds(name)
    return {row["id"]: (row, golds[row["id"]]) for row in files.rows(name)}


def _multi_turn(row: dict[str, Any], context: Context) -> Iterator[Case]:
    entry, gold = _entries(context.files, row["category"])[row["id"]]
    tables = _tables(context.files)
    expected: list[Any] = []
    found: list[Any] = []
    if "turns" in row:
        by_calls = score(entry, gold, row["turns"], tables)
        expected += [row["official_valid"], row["official_error_type"]]
        found += _pair(by_calls)
        yield from _details(row, gold, by_calls)
    # A step of calls as a model writes it.
    outputs = row["outputs"] if "outputs" in row else _as_text(row["turns"])
    expected += [row["official_valid_text"], row["official_error_type_text"]]
    found += _pair(score_outputs(entry, gold, outputs, tables))
    yield Case("multi_turn", row["case"], expected, found)
    if "exec" in row:
        yield from _trace(row, entry, gold, tables)


def _pair(verdict: Verdict) -> list[Any]:
    return [verdict.valid, verdict.error_type]


def _as_text(turns: Sequence[Sequence[Sequence[str]]]) -> list[list[str]]:
    return [[f"[{', '.join(calls)}]" for calls in steps] for steps in turns]


def _details(row: dict[str, Any], gold: Gold, verdict: Verdict) -> Iterator[Case]:
    if "error_turn" in row:
        yield Case("multi_turn (error turn)", row["case"], row["error_turn"], verdict.turn)
    if "irrelevance_check" in row and row["official_error_type"] != FORCED:
        yield Case("multi_turn (irrelevance)", row["case"], row["irrelevance_check"], is_irrelevant(gold, row["turns"]))


def _trace(row: dict[str, Any], entry: Mapping[str, Any], gold: Gold, tables: Tables) -> Iterator[Case]:
    """The gold's result strings, one case a call, and its end state."""
    turns = gold_trace(entry, gold, tables).turns
    for number, (official, turn) in enumerate(zip(row["exec"], turns, strict=True)):
        for position, (expected, text) in enumerate(zip(official, turn.results, strict=True)):
            yield Case("multi_turn (gold results)", f"{row['case']}#{number}.{position}", expected, text)
    if "final_state" in row:
        yield Case("multi_turn (gold state)", row["case"], row["final_state"], _as_json(_end_state(entry, turns[-1])))


def _end_state(entry: Mapping[str, Any], last: GoldTurn) -> dict[str, Any]:
    return {name: last.state_of(name) for name in entry["involved_classes"]}


def _class_probe(row: dict[str, Any], context: Context) -> Iterator[Case]:
    name = row["class"]
    config = {name: row["initial_config"]}
    world = World([name], config, _tables(context.files), row["long_context"], f"model_eval_{row['config_from']}")
    if name == "TwitterAPI":
        _leave_mentions(world, row)
    results = [world.result_text(call) for call in row["calls"]]
    for number, (expected, found) in enumerate(zip(row["results"], results, strict=True)):
        yield Case("class_probes (calls)", f"{row['case']}#{number}: {row['calls'][number][:80]}", expected, found)
    state = _as_json(world.public_state()[name]) if "final_state" in row else None
    yield Case("class_probes", row["case"], [row["results"], row.get("final_state")], [results, state])


def _leave_mentions(world: World, row: Mapping[str, Any]) -> None:
    """Start from the mentions that rows before this one left behind.

    Officially all tweets without mentions share one list for as long as the process lives, the default argument's.
    The first such tweet of a row shows what it held when the row began, unless the row has added to it before.
    """
    shared: list[str] = vars(world.instance("TwitterAPI"))["_no_mentions"]
    for call, result in zip(row["calls"], row["results"], strict=True):
        if call.startswith("post_tweet(") and "mentions=" not in call and result.startswith('{"id"'):
            shared += json.loads(result)["mentions"]
            return


def _as_json(state: Any) -> Any:
    return json.loads(json.dumps(state))


CASES: dict[str, Callable[[dict[str, Any], Context], Iterator[Case]]] = {
    "multi_turn": _multi_turn,
    "class_probes": _class_probe,
}
"""Fixture stem to the function that compares a row."""
