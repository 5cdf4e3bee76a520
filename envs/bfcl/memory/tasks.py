"""The questions of the memory categories as tasks: one question, a memory that was filled before, an answer.

Source: ``bfcl-eval`` 2026.3.23. A task's ``initial_state`` is the snapshot its memory starts from; the system message
shows what the store shows of it. Questions do not write back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.files import BfclFiles, naming
from callgym.envs.bfcl.memory.prompts import Wording, answer_form, memory_message
from callgym.envs.bfcl.memory.session import open_store
from callgym.envs.bfcl.memory.snapshots import holds_answer, store_tools
from callgym.envs.bfcl.memory.store import StoreName, check_store
from callgym.errors import DataError
from callgym.goal import AnswerGoal
from callgym.message import Message
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["load_memory", "question_task"]


def load_memory(
    files: BfclFiles, store: str, snapshots: Mapping[str, Mapping[str, Any]], wording: Wording | None = None
) -> list[Task]:
    """The questions on a store's memory, in the official order.

    Args:
        files: The official files.
        store: ``kv``, ``vector`` or ``rec_sum``.
        snapshots: Scenario to what the memory holds; a scenario that is absent starts empty, as officially.
        wording: Official texts for the system message; see ``prompts``.

    Returns:
        Tasks; ``meta["in_memory"]`` says whether an accepted answer stands in the snapshot word for word.

    Raises:
        ConfigurationError: There is no such store.
        DataError: A file is missing or damaged, or a snapshot is of another kind of store.
    """
    kind = check_store(store)
    name = CATEGORIES[f"memory_{kind}"].file
    golds = files.golds(name)
    tools = store_tools(files, kind)
    tasks = []
    for number, row in enumerate(files.rows(name), 1):
        with naming(f"{files.folder / name}, row {number}"):
            scenario = str(row["scenario"])
            tasks.append(
                question_task(
                    id=str(row["id"]).replace("memory", f"memory_{kind}", 1),
                    store=kind,
                    scenario=scenario,
                    question=_question(row),
                    accepted=_accepted(golds, row["id"]),
                    snapshot=snapshots.get(scenario, {}),
                    tools=tools,
                    wording=wording,
                    meta={"source": "official", "licence": "Apache-2.0"},
                )
            )
    return tasks


def _question(row: Mapping[str, Any]) -> str:
    ((message,),) = row["question"]
    if message["role"] != "user" or not isinstance(message["content"], str):
        raise ValueError("its question is not one message of the user")
    return str(message["content"])


def _accepted(golds: Mapping[str, Any], id: Any) -> list[str]:
    if id not in golds:
        raise DataError(f"possible_answer has no answer for {id!r}; fetch it again: callgym fetch bfcl")
    accepted = golds[id]
    if not isinstance(accepted, list) or not accepted or not all(isinstance(answer, str) for answer in accepted):
        raise ValueError("its answer is no list of texts")
    return accepted


def question_task(
    *,
    id: str,
    store: StoreName,
    scenario: str,
    question: str,
    accepted: Sequence[str],
    snapshot: Mapping[str, Any],
    tools: tuple[Tool, ...],
    meta: Mapping[str, Any],
    wording: Wording | None = None,
    split: str = "test",
) -> Task:
    """The task of one question.

    Raises:
        DataError: The snapshot is of another kind of store.
    """
    memory = open_store(store)
    memory.load(snapshot)
    shown = memory_message(store, scenario, memory.context_text(), wording)
    system = Message(role="system", content=f"{shown}\n\n{answer_form(wording)}")
    return Task(
        id=id,
        family="bfcl",
        split=split,
        messages=(system, Message(role="user", content=question)),
        tools=tools,
        goal=AnswerGoal(accepted=tuple(accepted), match="contains"),
        initial_state=memory.snapshot() if snapshot else {},
        meta={
            "category": f"memory_{store}",
            "scenario": scenario,
            "store": store,
            "gold": list(accepted),
            "in_memory": holds_answer(snapshot, accepted),
            **meta,
        },
    )
