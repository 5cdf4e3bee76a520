"""When2Call's rows as tasks of the open form: a question, tools, and the decision that is right.

A task's tools say what the row's documents say, its goal what the row's label asks for. Labels that are seen to be
wrong are named in ``meta["label_fault"]``, calls that contradict their own tool in ``meta["gold_fault"]``.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from callgym.call import ToolCall
from callgym.data import DataNotice, check_split, verify
from callgym.envs.bfcl.tools import fit_to, make_tool
from callgym.envs.when2call.label_faults import label_fault
from callgym.envs.when2call.rows import Answer, LabelledRow, TrainRow, calls_in, load_rows, naming
from callgym.errors import DataError
from callgym.goal import AllGoal, CallsGoal, DecisionGoal, Goal, GoldCall
from callgym.message import Message
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["DECISIONS", "Decision", "load_mcq", "load_open", "load_train"]

Decision = Literal["call", "ask", "decline", "answer"]
"""What a policy may do with a question."""
DECISIONS: Mapping[Answer, Decision] = {
    "direct": "answer",
    "tool_call": "call",
    "request_for_info": "ask",
    "cannot_answer": "decline",
}
"""The official kinds of reply as decisions, in the official order."""


def load_open(folder: Path, split: str = "test", which: Literal["judge", "mcq"] = "judge") -> list[Task]:
    """The tasks of a test file, in its order.

    ``meta`` has ``decision``, ``answers`` (a reply of each kind in the official order), ``source_id``,
    ``target_tool`` (null where it was taken away), and of the official fields that the row has
    ``held_out_param``, ``orig_question`` and ``orig_tools``.

    Args:
        folder: The official files.
        split: ``test``; for the training files, whose rows name no decision, see ``load_train``.
        which: ``"judge"``, 300 rows, or ``"mcq"``, all 3,652. Where the latter is not there, a DataNotice says
            that the former stands in.

    Raises:
        ConfigurationError: There is no such split.
        DataError: A file is missing or damaged; the message names file, row and mend.
    """
    check_split(split, ("test",), "When2Call")
    verify(folder)
    found = load_rows(folder, which)
    for note in found.notes:
        warnings.warn(f"callgym: {note}", DataNotice, stacklevel=2)
    tasks = []
    for row in found.rows:
        with naming(found.path, row.number):
            tasks.append(_test_task(row))
    if len({task.id for task in tasks}) < len(tasks):
        raise DataError(f"{found.path}: a uuid appears twice; fetch it again: callgym fetch when2call")
    return tasks


def load_mcq(folder: Path, split: str = "test") -> list[Task]:
    """The tasks of the multiple-choice file; for arguments and errors see ``load_open``."""
    return load_open(folder, split, "mcq")


# Test rows.


def _test_task(row: LabelledRow) -> Task:
    decision = DECISIONS[row.correct]
    tools = tuple(make_tool(document) for document in row.tools)
    meta: dict[str, Any] = {"decision": decision, "answers": dict(row.answers), "source": "official"}
    meta |= {"licence": "Apache-2.0", "origin": row.source, "source_id": row.source_id, "target_tool": row.target}
    optional = {
        "held_out_param": row.held_out,
        "orig_question": row.original_question,
        "orig_tools": None if row.original_tools is None else list(row.original_tools),
    }
    meta |= {name: value for name, value in optional.items() if value is not None}
    if fault := label_fault(row):
        meta["label_fault"] = fault
    goal: Goal
    if decision == "call":
        goal, tools = _call_goal((row.call,), tools, meta)
    else:
        missing = () if decision != "ask" or row.held_out is None else (row.held_out,)
        goal = DecisionGoal(decision=decision, reply=row.answers[row.correct], missing=missing, worded=True)
    return _task(row.uuid, "test", (Message(role="user", content=row.question),), tools, goal, meta)


def _task(
    id: str, split: str, messages: tuple[Message, ...], tools: tuple[Tool, ...], goal: Goal, meta: dict[str, Any]
) -> Task:
    return Task(id=id, family="when2call", split=split, messages=messages, tools=tools, goal=goal, meta=meta)


def _call_goal(
    calls: tuple[ToolCall, ...], tools: tuple[Tool, ...], meta: dict[str, Any]
) -> tuple[AllGoal, tuple[Tool, ...]]:
    """The goal to make the calls, and the tools as these need them; ``meta`` gets what contradicts the tools."""
    faults: list[str] = []
    offered = {tool.name: tool for tool in tools}
    golds = tuple(_gold(call, offered.get(call.name), faults) for call in calls)
    for name in dict.fromkeys(gold.name for gold in golds if gold.name in offered):
        references = [gold.reference().arguments for gold in golds if gold.name == name]
        fit = fit_to(offered[name], ToolSchema(offered[name]), references)
        offered[name] = fit.tool
        faults += fit.faults
    if faults:
        meta["gold_fault"] = "; ".join(faults)
    goal = AllGoal(goals=(DecisionGoal(decision="call", worded=True), CallsGoal(turns=(golds,))))
    return goal, tuple(offered[tool.name] for tool in tools)


def _gold(call: ToolCall, tool: Tool | None, faults: list[str]) -> GoldCall:
    """The call with exactly its values. One that is the documented default may be left out, as in BFCL."""
    if tool is None:
        return GoldCall.of(call)
    properties = tool.properties
    faults += [
        f"{call.name}: no document has the argument {name!r} that the answer holds"
        for name in call.arguments
        if name not in properties
    ]
    known: dict[str, tuple[JsonValue, ...]] = {
        name: (value,) for name, value in call.arguments.items() if name in properties
    }
    optional = tuple(
        name for name, (value,) in known.items() if name not in tool.required and _is_default(value, properties[name])
    )
    return GoldCall(name=call.name, arguments=known, optional=optional)


def _is_default(value: Any, schema: Mapping[str, Any]) -> bool:
    return "default" in schema and type(schema["default"]) is type(value) and schema["default"] == value


# Training rows.


def load_train(folder: Path, which: Literal["sft", "preference"], decide: Callable[[str], Decision]) -> list[Task]:
    """The rows of a training file as tasks of the split ``train``; those that make none are left out: a call in them
    cannot be read, its tool is not offered, or a tool's document is none.

    A reply with a call is ``call``; of which kind words are, the files do not say. For ``ask`` any question back
    is right: the parameter is not named either.

    Args:
        folder: The official files.
        which: ``"sft"`` (15,000 rows) or ``"preference"`` (9,000).
        decide: The decision that words without a call stand for.

    Raises:
        DataError: The file is missing or damaged; the message names file, row and mend.
    """
    verify(folder)
    tasks = []
    for row in load_rows(folder, which).rows:
        # Unlike the labels of the test files, nothing is measured with these rows: one that is spoilt is no loss.
        with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError, RecursionError):
            tasks.append(_train_task(row, which, decide))
    return tasks


def _train_task(row: TrainRow, which: str, decide: Callable[[str], Decision]) -> Task:
    calls = calls_in(row.reply)
    tools = tuple(make_tool(document) for document in row.tools)
    if not {call.name for call in calls} <= {tool.name for tool in tools}:
        raise ValueError("a call's tool is not offered")
    decision = "call" if calls else decide(row.reply)
    meta: dict[str, Any] = {"decision": decision, "source": "official", "reply": row.reply}
    if row.rejected is not None:
        meta["rejected"] = row.rejected
    goal: Goal = DecisionGoal(decision=decision, reply=row.reply, worded=True)
    if calls:
        goal, tools = _call_goal(calls, tools, meta)
    return _task(f"{which}/{row.number}", "train", row.messages, tools, goal, meta)
