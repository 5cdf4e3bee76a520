"""API-Bank's dialogues as live tasks: the recorded user turns, the recorded calls as gold.

Levels 1 and 2: the dialogue files. Level 3: a requirement and nothing more. Recorded searches are not
asked for; what they found has to be found. Random ids and tokens that the recording quotes are pinned.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callgym.call import ToolCall
from callgym.data import check_split, verify
from callgym.envs.apibank.files import DialogueReader, naming, read_rows
from callgym.envs.apibank.live import SEARCH, LiveTurn, live_task
from callgym.envs.apibank.official import judge_made_call
from callgym.envs.apibank.simulator.manager import CallFault, call_tool
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import load_tables
from callgym.envs.apibank.tasks import DIALOGUES, part, rows_of_sample
from callgym.envs.apibank.tools import make_tool, typed_arguments
from callgym.task import Task
from callgym.tool_backends.ranking import get_ranker

__all__ = ["LIVE_SPLITS", "load_dialogues"]

LIVE_SPLITS = ("test", "cv-train", "cv-test")
"""``test``: all dialogues; the other two part them 4 to 1. The official training files hold no dialogues."""

# In five dialogues the recorded assistant wrote calls in its words, which were not executed.
_CALL = re.compile(r"\[(?=\w+\()")
_CALL_IN_WORDS = "a call stands within the words of a recorded reply and was not executed"
_RANDOM_OUTPUTS = {"RegisterUser": "token", "AppointmentRegistration": None}


@functools.lru_cache(maxsize=32)
def load_dialogues(
    folder: Path, level: int, split: str, ranker: str = "bm25", official_faults: bool = False
) -> tuple[Task, ...]:
    """The live tasks of one level and split. Dialogues in which no tool is called are left out.

    Args:
        folder: The official files.
        level: 1, 2 or 3.
        split: One of ``LIVE_SPLITS``.
        ranker: What the tool search ranks with.
        official_faults: Whether the tools will keep the official faults: goals are worked out by running them.

    Raises:
        DataError: A file is missing or damaged; the message names file, row and mend.
        ConfigurationError: There is no such split.
    """
    check_split(split, LIVE_SPLITS, f"API-Bank level {level}, live")
    verify(folder)
    tool_set = "lv3_apis" if level == 3 else "apis"
    tables, chosen = load_tables(folder), get_ranker(ranker)
    builder = _Builder(
        level,
        SimulatorBackend(tables, tool_set, chosen, official=official_faults),
        SimulatorBackend(tables, tool_set, chosen, official=True),
    )
    found = _samples(folder) if level == 3 else _files(folder, level)
    return part([task for name, where, rows in found if (task := builder.task(name, where, rows))], split)


def _files(folder: Path, level: int) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    read = DialogueReader(folder / DIALOGUES[level])
    for path in sorted((folder / DIALOGUES[level]).glob("*.jsonl")):
        yield path.name, str(path), read(path.name)


def _samples(folder: Path) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    path = folder / "test-data/level-3.json"
    for number, sample in enumerate(read_rows(path, ("requirement", "response", "apis"))):
        where = f"{path}, row {number + 1}"
        with naming(where):
            rows = [*rows_of_sample(sample), {"role": "AI", "text": sample["response"]}]
        yield f"level-3.json[{number}]", where, rows


class _Builder:
    """Makes tasks of the rows of dialogues."""

    def __init__(self, level: int, backend: SimulatorBackend, official: SimulatorBackend) -> None:
        self._level = level
        self._backend = backend
        self._official = official
        documents = backend.tables.documents[backend.tool_set]
        self._tools = {name: make_tool(document) for name, document in documents.items()}

    def task(self, name: str, where: str, rows: list[dict[str, Any]]) -> Task | None:
        """The dialogue as a task; None where it calls no tool."""
        with naming(where):
            turns = self._turns(rows)
            if not any(turn.calls for turn in turns):
                return None
            searched = [row["param_dict"]["keywords"] for row in rows if row.get("api_name") == SEARCH]
            meta: dict[str, Any] = {
                "source": name,
                "dialogue": name,
                "licence": "Apache-2.0",
                "searched": searched,
                "tables": self._backend.tables.fingerprint,
                "recorded_results": [row["result"] for row in _calls(rows)],
                **({"label_fault": _CALL_IN_WORDS} if any(_CALL.search(row.get("text", "")) for row in rows) else {}),
                **({"pinned": pinned} if (pinned := _random_outputs(rows)) else {}),
                **({"official_gold": fault} if (fault := self._official_fault(rows)) else {}),
            }
            stem = name.removesuffix(".jsonl") if self._level < 3 else name[len("level-3.json[") : -1]
            return live_task(
                id=f"L{self._level}/live/{stem}",
                split="test",
                level=self._level,
                turns=turns,
                backend=self._backend,
                system="The current year is 2023." if self._level < 3 else "",
                meta=meta,
            )

    def _turns(self, rows: list[dict[str, Any]]) -> list[LiveTurn]:
        turns: list[LiveTurn] = []
        for row in rows:
            if row["role"] == "User":
                turns.append(LiveTurn(row["text"].strip()))
                continue
            last = turns[-1]
            if row["role"] == "AI":
                turns[-1] = LiveTurn(last.user, last.calls, _CALL.sub("(", row["text"].strip()))
            elif row["api_name"] != SEARCH:
                turns[-1] = LiveTurn(last.user, (*last.calls, self._gold(row)), last.reply)
        return turns

    def _gold(self, row: dict[str, Any]) -> ToolCall:
        name = row["api_name"]
        return ToolCall(name=name, arguments=typed_arguments(self._tools[name], row["param_dict"]))

    def _official_fault(self, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The first recorded call that the official comparison calls wrong, all earlier ones executed."""
        world = self._official.open_world()
        tool_set = self._official.tool_set
        for row in _calls(rows):
            arguments = row["result"].get("input") or {}
            try:
                made = call_tool(world, tool_set, row["api_name"], arguments)
            except CallFault as fault:
                return {"tool": row["api_name"], "status": "call_error", "reason": str(fault)}
            status, message = judge_made_call(tool_set, row["api_name"], made, row["result"])
            if status != "correct":
                reason = message or made["exception"] or "another result"
                return {"tool": row["api_name"], "status": status, "reason": reason}
        return None


def _calls(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["role"] == "API" and row["api_name"] != SEARCH]


def _random_outputs(rows: list[dict[str, Any]]) -> list[str]:
    """Recorded ids and tokens that were drawn at random, in order: later rows quote them."""
    found = []
    for row in _calls(rows):
        if row["api_name"] in _RANDOM_OUTPUTS:
            field = _RANDOM_OUTPUTS[row["api_name"]]
            output = row["result"].get("output")
            found.append(str(output[field] if field is not None else output))
    return found
