"""API-Bank's training files: Alpaca triples of instruction, input and output, as tasks and as SFT rows.

``training-data/lv{1,2,3}-api-train.json`` ask for the next call, ``lv{1,2,3}-response-train.json`` for the
next reply. Tool documents stand at the end of the instruction or at the head of the input, a line of JSON
each; the conversation follows, a line a turn.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.apibank import ApiBankDialect
from callgym.dialects.literal import LiteralError, read_literal
from callgym.envs.apibank.files import naming, read_rows
from callgym.envs.apibank.tools import make_tool, typed_arguments
from callgym.errors import DataError
from callgym.goal import CallsGoal, GoldCall, TextGoal
from callgym.message import Message
from callgym.schema import ToolSchema
from callgym.task import Task

__all__ = ["sft_rows", "training_tasks"]

_KEYS = ("instruction", "input", "output")
_FILES = {"calls": "api", "replies": "response"}
_SEARCH = "ToolSearcher"
_CALL_CUE, _REPLY_CUE = "Generate API Request:", "Generate AI Response:"
_REQUEST = "API-Request: "
_DOCUMENT_OPENINGS = ('{"apiCode"', '{"name"')
_BRACKETS = ApiBankDialect()


def training_tasks(folder: Path, level: int, samples: str = "calls") -> tuple[Task, ...]:
    """The rows of a level as tasks; those whose call cannot be read or does not fit its documentation are left out.

    Args:
        folder: The official files.
        level: 1, 2 or 3.
        samples: ``"calls"``, ``"replies"`` or ``"all"``.

    Raises:
        DataError: The level's file is missing or damaged.
    """
    return tuple(task for _, _, task in _read(folder, level, samples) if task is not None)


def sft_rows(folder: Path, level: int, samples: str = "all") -> Iterator[dict[str, str]]:
    """The rows of a level for supervised fine-tuning, every one of them: ``{"prompt", "completion"}``.

    The prompt is instruction and input as they stand in the file (what the official models were trained
    on), the completion the output.

    Raises:
        DataError: The level's file is missing or damaged.
    """
    for kind in _kinds(samples):
        for _, row in _rows(folder, level, kind):
            yield {"prompt": row["instruction"] + row["input"], "completion": row["output"]}


def _kinds(samples: str) -> tuple[str, ...]:
    return tuple(_FILES) if samples == "all" else (samples,)


def _read(folder: Path, level: int, samples: str) -> Iterator[tuple[int, dict[str, Any], Task | None]]:
    for kind in _kinds(samples):
        make = _call_task if kind == "calls" else _reply_task
        for number, row in _rows(folder, level, kind):
            with naming(f"{_path(folder, level, kind)}, row {number}"):
                task = make(row, level, number)
            yield number, row, task


def _path(folder: Path, level: int, kind: str) -> Path:
    return folder / f"training-data/lv{level}-{_FILES[kind]}-train.json"


def _rows(folder: Path, level: int, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    path = _path(folder, level, kind)
    if not path.is_file():
        raise DataError(
            f"API-Bank level {level} has no training file here ({path} does not exist): take "
            "split='cv-train', or data='starter', which has a training split at every level, or fetch the "
            "files: callgym fetch apibank"
        )
    for number, row in enumerate(read_rows(path, _KEYS), 1):
        wrong = [key for key in _KEYS if not isinstance(row[key], str)]
        if wrong:
            raise DataError(f"{path}, row {number}: {wrong} must be text; fetch the file again.")
        yield number, row


def _call_task(row: dict[str, Any], level: int, number: int) -> Task | None:
    conversation = _Conversation(row, _CALL_CUE)
    parsed = _BRACKETS.parse(row["output"])
    tools = conversation.tools
    if len(parsed.calls) != 1 or parsed.errors or parsed.calls[0].name not in tools:
        return None
    call = parsed.calls[0]
    tool = tools[call.name]
    arguments = typed_arguments(tool, call.arguments)
    if ToolSchema(tool).check(arguments) is not None:
        return None
    goal = CallsGoal(turns=((GoldCall.of(ToolCall(name=call.name, arguments=arguments)),),))
    return conversation.task(f"L{level}-train/{number}", goal, level, number, f"lv{level}-api-train.json")


def _reply_task(row: dict[str, Any], level: int, number: int) -> Task | None:
    conversation = _Conversation(row, _REPLY_CUE)
    reference = row["output"].strip().removeprefix("AI:").strip()
    if not reference.replace(".", "") or not conversation.lines:
        return None
    name = f"lv{level}-response-train.json"
    goal = TextGoal(reference=reference)
    return conversation.task(f"L{level}-train/{number}/reply", goal, level, number, name, f"{_REPLY_CUE}\n")


class _Conversation:
    """The tool documents and the turns of a row."""

    def __init__(self, row: dict[str, Any], cue: str) -> None:
        head, tail = _split_documents(row["instruction"])
        self._instruction = head
        before, found, rest = row["input"].rpartition(cue)
        documents, self.lines = _history(tail + (before if found else rest))
        self.tools = {tool.name: tool for tool in map(make_tool, documents)}
        self._documented = tuple(self.tools)
        for line in self.lines:
            for document in line.get("found", ()):
                self.tools.setdefault(document["name"], make_tool(document))

    def task(
        self, id: str, goal: CallsGoal | TextGoal, level: int, number: int, file: str, cue: str | None = None
    ) -> Task | None:
        """The row as a task; None where nothing was said yet."""
        messages = tuple(message for line in self.lines for message in _messages(line))
        if not messages:
            return None
        return Task(
            id=id,
            family="apibank",
            split="train",
            messages=messages,
            tools=tuple(self.tools.values()),
            documented=self._documented,
            goal=goal,
            meta={
                "source": f"training-data/{file}",
                "dialogue": str(self.lines[0].get("text", ""))[:80],
                "row": number,
                "instruction": self._instruction,
                "level": level,
                "licence": "Apache-2.0",
                **({} if cue is None else {"cue": cue}),
            },
        )


def _split_documents(instruction: str) -> tuple[str, str]:
    """The instruction's own words, and the tool documents that it ends with."""
    head, mark, tail = instruction.partition("API descriptions:\n")
    return (head + mark, tail.rstrip("\n") + "\n" if tail.strip() else "")


def _document(line: str) -> dict[str, Any] | None:
    if not line.startswith(_DOCUMENT_OPENINGS):
        return None
    document: dict[str, Any] = json.loads(line)  # damaged where it fails
    return document


def _history(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Tool documents and rows of a linearised conversation."""
    documents: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for line in text.split("\n"):
        request, arrow, result = line.removeprefix(_REQUEST).partition("->")
        if (document := _document(line)) is not None:
            documents.append(document)
        elif line.startswith(_REQUEST) and arrow and (calls := _calls(request)):
            found = _found(result) if calls[0].name == _SEARCH else []
            rows.append({"role": "API", "calls": calls, "text": result, "found": found})
        elif line.startswith("AI: "):
            rows.append({"role": "AI", "text": line.removeprefix("AI: ")})
        elif line.strip():
            rows.append({"role": "User", "text": line.removeprefix("User: ")})
    return documents, rows


def _calls(request: str) -> tuple[ToolCall, ...]:
    """The calls of an earlier request; some rows leave the brackets out."""
    return _BRACKETS.parse(request).calls or _BRACKETS.parse(f"[{request}]").calls


def _found(result: str) -> list[dict[str, Any]]:
    """The documents that a recorded search gave; a result cut short names no tool."""
    found: Any = None
    with contextlib.suppress(LiteralError):
        found = read_literal(result)
    rows = found if isinstance(found, list) else [found]
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)]


def _messages(row: dict[str, Any]) -> Iterator[Message]:
    if row["role"] != "API":
        yield Message(role="user" if row["role"] == "User" else "assistant", content=row["text"])
        return
    calls: tuple[ToolCall, ...] = row["calls"]
    yield Message(role="assistant", tool_calls=calls)
    # The file has one result a line, however many calls it holds.
    for number, call in enumerate(calls):
        yield Message(role="tool", name=call.name, content="" if number else row["text"])
