"""BFCL's multi-turn categories as tasks: a scripted user, tools of stateful classes, and calls for each turn.

The answer is one way of several: what is checked is the state and the results that it brings about. Source: the
data folder of ``bfcl-eval`` 2026.3.23 (gorilla, Apache-2.0).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.files import CLASS_FILES, BfclFiles, naming
from callgym.envs.bfcl.label_faults import withheld_fault
from callgym.envs.bfcl.tasks import bfcl_task, read_messages
from callgym.envs.bfcl.tools import fit_to, make_tool
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, GoldCall
from callgym.json_value import copy_json
from callgym.noun import require_finite
from callgym.schema import ToolSchema
from callgym.task import Task, UserTurn
from callgym.tool import Tool

__all__ = ["REVEAL", "called_name", "load_multi_turn", "parse_gold_call"]

REVEAL = "There are more functions now that you may use. Can you do with them what I asked for?"
"""What the user says where functions come that were held back; the official files leave it to the harness."""
_LONG_CONTEXT = "multi_turn_long_context"


def load_multi_turn(files: BfclFiles, category: str, wording: str = REVEAL) -> list[Task]:
    """The tasks of a multi-turn category, in the official order.

    Args:
        files: The official files.
        category: A category of kind ``multi_turn``.
        wording: What the user says where functions come that were held back.

    Raises:
        ConfigurationError: The category is none of these.
        DataError: A file is missing or damaged; the message names file, row and mend.
    """
    known = CATEGORIES.get(category)
    if known is None or known.kind != "multi_turn":
        raise ConfigurationError(f"{category!r} is no multi-turn category of BFCL")
    answers = files.golds(known.file)
    reader = _Reader(files, category, answers, wording)
    tasks = []
    for number, row in enumerate(files.rows(known.file), 1):
        with naming(f"{files.folder / known.file}, row {number}"):
            require_finite(row)
            tasks.append(reader.read(row))
    if len({task.id for task in tasks}) < len(tasks):
        raise DataError(f"{files.folder / known.file}: an id appears twice; fetch it again: callgym fetch bfcl")
    return tasks


class _Reader:
    """Reads the entries of one category."""

    def __init__(self, files: BfclFiles, category: str, answers: Mapping[str, Any], wording: str) -> None:
        self._files = files
        self._category = category
        self._answers = answers
        self._wording = wording
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._schemas: dict[str, ToolSchema] = {}

    def read(self, row: Mapping[str, Any]) -> Task:
        """The task of a row; a damaged one provokes what ``naming`` turns into a DataError."""
        classes = [str(name) for name in row["involved_classes"]]
        tools = {tool.name: tool for name in classes for tool in self._class_tools(name)}
        answer = self._answers[row["id"]]
        gold = tuple(tuple(_parse(text, tools) for text in turn) for turn in answer)
        if len(gold) != len(row["question"]):
            raise ValueError(f"its answer has {len(gold)} turns, the question {len(row['question'])}")
        withheld = _withheld(row, len(gold))
        meta: dict[str, Any] = {
            "category": self._category,
            "source": "official",
            "involved_classes": classes,
            "gold": answer,
            "long_context": self._category == _LONG_CONTEXT,
            "tables": f"official:{self._files.folder}",
        }
        if withheld:
            meta["withheld"] = list(withheld)
        if fault := withheld_fault([[call.name for call in turn] for turn in gold], withheld):
            meta["label_fault"] = fault
        if faults := self._fit(tools, [call for turn in gold for call in turn]):
            meta["gold_fault"] = "; ".join(faults)
        first, *later = row["question"]
        return bfcl_task(
            id=row["id"],
            messages=read_messages(first),
            tools=tuple(tool for name, tool in tools.items() if name not in withheld),
            user_turns=tuple(
                self._user_turn(turn, [tools[name] for name, at in withheld.items() if at == number])
                for number, turn in enumerate(later, 1)
            ),
            goal=CallsGoal(turns=gold, exemplary=True),
            initial_state=row["initial_config"],
            meta=meta,
        )

    def _fit(self, tools: dict[str, Tool], calls: Sequence[GoldCall]) -> list[str]:
        """Let the tools go of what the answer violates; returns where it does."""
        references: dict[str, list[dict[str, Any]]] = {}
        for call in calls:
            references.setdefault(call.name, []).append(call.reference().arguments)
        faults: list[str] = []
        for name, arguments in references.items():
            if name not in self._schemas:
                self._schemas[name] = ToolSchema(tools[name])
            tools[name], found = fit_to(tools[name], self._schemas[name], arguments)
            faults += found
        return faults

    def _class_tools(self, name: str) -> tuple[Tool, ...]:
        if name not in self._tools:
            if name not in CLASS_FILES:
                raise ValueError(f"{name!r} is none of the executable classes")
            functions = self._files.class_functions(name)
            path = self._files.folder / f"multi_turn_func_doc/{CLASS_FILES[name]}.json"
            read = []
            for number, function in enumerate(functions, 1):
                with naming(f"{path}, row {number}"):
                    read.append(make_tool(function))
            self._tools[name] = tuple(read)
        return self._tools[name]

    def _user_turn(self, turn: Sequence[Mapping[str, Any]], revealed: Sequence[Tool]) -> UserTurn:
        """A later turn: what the user says, or that functions come where there are no words of his."""
        if not turn and revealed:
            return UserTurn(content=self._wording, add_tools=tuple(revealed))
        if revealed or any(message["role"] != "user" for message in turn):
            raise ValueError("a later turn is the user's words, or none where functions come")
        (message,) = turn
        return UserTurn(content=message["content"])


def _withheld(row: Mapping[str, Any], turns: int) -> dict[str, int]:
    """Function to the turn that brings it, in the order in which they come."""
    withheld = {str(name): int(turn) for turn, names in row.get("missed_function", {}).items() for name in names}
    for name, turn in withheld.items():
        if not 0 < turn < turns:
            raise ValueError(f"{name!r} is to come in turn {turn} of {turns}")
    return withheld


def parse_gold_call(text: str, tool: Tool) -> GoldCall:
    """A call of an official answer, written as Python, as the gold call that accepts exactly its values.

    Positional arguments get the names of the documented parameters in their order.

    Args:
        text: ``name(a=1, b='x')``; every value is a literal.
        tool: The tool that it calls.

    Raises:
        ValueError: The text is no such call, calls another tool, or gives an argument that is not documented.
    """
    return _gold_call(_parse_call(text), tool)


def called_name(text: str) -> str:
    """The name of the function that a call of an official answer calls; ValueError where it is none."""
    return _name(_parse_call(text))


def _parse(text: str, tools: Mapping[str, Tool]) -> GoldCall:
    call = _parse_call(text)
    name = _name(call)
    if name not in tools:
        raise ValueError(f"its answer calls {name!r}, which is no function of its classes")
    return _gold_call(call, tools[name])


def _parse_call(text: str) -> ast.Call:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text[:80]!r} in an answer cannot be parsed ({type(error).__name__})") from error
    if not isinstance(node, ast.Call):
        raise ValueError(f"{text[:80]!r} in an answer is no call")
    return node


def _name(call: ast.Call) -> str:
    if not isinstance(call.func, ast.Name):
        raise ValueError(f"an answer calls {ast.unparse(call.func)[:80]!r}, which is no name")
    return call.func.id


def _gold_call(call: ast.Call, tool: Tool) -> GoldCall:
    if _name(call) != tool.name:
        raise ValueError(f"a call of {_name(call)!r} is none of {tool.name!r}")
    parameters = list(tool.properties)
    if len(call.args) > len(parameters):
        raise ValueError(f"a call of {tool.name!r} has {len(call.args)} arguments, documented are {len(parameters)}")
    if unknown := [word.arg for word in call.keywords if word.arg is not None and word.arg not in parameters]:
        raise ValueError(f"a call of {tool.name!r} gives {unknown[0]!r}, which is not documented")
    given = [*zip(parameters, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
    arguments: dict[str, tuple[Any, ...]] = {}
    for name, node in given:
        if name is None or name in arguments:
            raise ValueError(f"a call of {tool.name!r} gives {name!r} twice or unpacks arguments")
        arguments[name] = (_literal(node),)
    return GoldCall(name=tool.name, arguments=arguments)


def _literal(node: ast.expr) -> Any:
    """The value of a literal as JSON; nothing is evaluated."""
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return copy_json(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return copy_json(-number)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _literal(value) for key, value in zip(keys, values, strict=True)}
    raise ValueError(f"{ast.unparse(node)[:80]!r} in an answer is no literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("a key of an object in an answer is no text")
