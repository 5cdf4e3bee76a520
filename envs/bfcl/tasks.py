"""BFCL's single-turn categories as tasks: one question, the functions it comes with, one action.

Source: the data folder of ``bfcl-eval`` 2026.3.23 (gorilla, Apache-2.0). A task's tools say what the official
documents say, its goal what the official answers accept; both are kept untouched in ``meta``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from callgym.data import read_json_file
from callgym.envs.bfcl.categories import CATEGORIES, Category
from callgym.envs.bfcl.files import BfclFiles, naming
from callgym.envs.bfcl.golds import read_gold
from callgym.envs.bfcl.label_faults import label_fault
from callgym.envs.bfcl.tools import fit_to, make_tool
from callgym.envs.bfcl.variants import FormatVariants
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal, Goal, GoldCall
from callgym.message import Message
from callgym.noun import require_finite
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["SINGLE_TURN_KINDS", "bfcl_task", "load_format_sensitivity", "load_single", "read_messages"]

SINGLE_TURN_KINDS = ("calls", "irrelevance", "relevance")
"""Kinds of category that ``load_single`` reads."""
_ROLES = ("system", "user", "assistant")
_FORMAT_SENSITIVITY = CATEGORIES["format_sensitivity"]


def load_single(files: BfclFiles, category: str) -> list[Task]:
    """The tasks of a single-turn category, in the official order.

    Args:
        files: The official files.
        category: A category whose kind is one of ``SINGLE_TURN_KINDS``.

    Raises:
        ConfigurationError: The category is none of these.
        DataError: A file is missing or damaged; the message names file, row and mend.
    """
    known = CATEGORIES.get(category)
    if known is None or known.kind not in SINGLE_TURN_KINDS:
        raise ConfigurationError(f"{category!r} is no single-turn category of BFCL")
    return _Reader(files, known).all()


def bfcl_task(*, id: Any, meta: dict[str, Any], **parts: Any) -> Task:
    """A task of BFCL's from ``messages``, ``tools``, ``goal`` and what else it has.

    Raises:
        ValueError: A part is not what it should be.
    """
    return Task(id=id, family="bfcl", split="test", meta={**meta, "licence": "Apache-2.0"}, **parts)


def read_messages(turn: Any) -> tuple[Message, ...]:
    """The chat messages of an official turn.

    Raises:
        ValueError: One has no known role or no text, or there is none.
        TypeError, KeyError: It is no list of objects with ``role`` and ``content``.
    """
    messages = tuple(_read_message(message) for message in turn)
    if not messages:
        raise ValueError("its first turn has no message")
    return messages


def _read_message(message: Mapping[str, Any]) -> Message:
    role, content = message["role"], message["content"]
    if role not in _ROLES or not isinstance(content, str):
        raise ValueError(f"a message of role {role!r} whose text is {type(content).__name__}")
    return Message.trusted(role=role, content=content, tool_calls=(), tool_call_id=None, name=None)


class _Reader:
    """Reads the entries of one category."""

    def __init__(self, files: BfclFiles, category: Category) -> None:
        self._path = files.folder / category.file
        self._category = category
        self._rows = files.rows(category.file)
        self._answers = files.golds(category.file) if category.kind == "calls" else {}
        # By id of the tool: tools are shared between entries and stay alive with their tasks.
        self._schemas: dict[int, ToolSchema] = {}

    def all(self) -> list[Task]:
        """The tasks of all rows."""
        tasks = [self.read(number, row) for number, row in enumerate(self._rows, 1)]
        if len({task.id for task in tasks}) < len(tasks):
            raise DataError(f"{self._path}: an id appears twice; fetch it again: callgym fetch bfcl")
        return tasks

    def read(self, number: int, row: Mapping[str, Any]) -> Task:
        """The task of a row; DataError names a damaged one."""
        with naming(f"{self._path}, row {number}"):
            require_finite(row)
            return self._read(row)

    def named(self, ids: Sequence[str], listed_in: Path) -> Iterator[Task]:
        """The tasks of some rows, in the order of the rows; DataError where one is not there."""
        wanted = set(ids)
        for number, row in enumerate(self._rows, 1):
            if str(row.get("id")) in wanted:
                wanted.discard(str(row["id"]))
                yield self.read(number, row)
        if wanted:
            raise DataError(
                f"{listed_in}: {min(wanted)!r} is not in {self._path}; fetch both again: callgym fetch bfcl"
            )

    def _read(self, row: Mapping[str, Any]) -> Task:
        functions = row.get("function") or ()
        (turn,) = row["question"]
        language = self._category.language
        tools = tuple(make_tool(function, language) for function in functions)
        meta: dict[str, Any] = {"category": self._category.name, "source": "official"}
        if language != "python":
            meta["language"] = language
        goal: Goal
        if self._category.kind == "calls":
            goal, tools = self._calls_goal(row["id"], functions, tools, meta)
        else:
            goal = _decline if self._category.kind == "irrelevance" else _call
        return bfcl_task(id=row["id"], messages=read_messages(turn), tools=tools, goal=goal, meta=meta)

    def _calls_goal(
        self, id: str, functions: Sequence[Mapping[str, Any]], tools: tuple[Tool, ...], meta: dict[str, Any]
    ) -> tuple[CallsGoal, tuple[Tool, ...]]:
        """The goal, and the tools as the answer needs them; ``meta`` gets the answer and what is wrong with it."""
        if id not in self._answers:
            raise ValueError(f"possible_answer/{self._category.file} has no answer for {id!r}")
        answer = meta["gold"] = self._answers[id]
        require_finite(answer)
        gold = read_gold(answer, functions, self._category.language)
        tools, faults = self._fit(tools, gold.calls)
        if faults := [*gold.faults, *faults]:
            meta["gold_fault"] = "; ".join(faults)
        if fault := label_fault(answer, functions, self._category.name):
            meta["label_fault"] = fault
        return CallsGoal(turns=(gold.calls,)), tools

    def _fit(self, tools: tuple[Tool, ...], calls: Sequence[GoldCall]) -> tuple[tuple[Tool, ...], list[str]]:
        faults: list[str] = []
        fitting = []
        for tool in tools:
            references = [
                {name: values[0] for name, values in call.arguments.items()} for call in calls if call.name == tool.name
            ]
            if references:
                tool, found = fit_to(tool, self._schema(tool), references)
                faults += found
            fitting.append(tool)
        return tuple(fitting), faults

    def _schema(self, tool: Tool) -> ToolSchema:
        schema = self._schemas.get(id(tool))
        if schema is None or schema.tool is not tool:
            schema = self._schemas[id(tool)] = ToolSchema(tool)
        return schema


_decline = DecisionGoal(decision="decline")
_call = DecisionGoal(decision="call")


def load_format_sensitivity(files: BfclFiles) -> Sequence[Task]:
    """The 200 entries of the format sensitivity test in each of 26 prompt formats, in the official order.

    A task is the original entry's under another id, made when it is asked for; ``meta`` has the ``format``, the
    ``original`` id and the ``original_category``, whose rules it is checked by.

    Raises:
        DataError: A file is missing or damaged, or lacks an entry.
    """
    from callgym.envs.bfcl.prompt_formats import FORMATS

    path = files.folder / _FORMAT_SENSITIVITY.file
    listed = read_json_file(path)
    with naming(str(path)):
        readers = [(_Reader(files, CATEGORIES[name]), list(map(str, ids))) for name, ids in listed.items() if ids]
    originals = list(chain.from_iterable(reader.named(ids, path) for reader, ids in readers))
    return FormatVariants(
        originals,
        tuple(str(prompt_format) for prompt_format in FORMATS),
        f"{_FORMAT_SENSITIVITY.name}_",
    )
