"""API-Bank's files as tasks, in the teacher-forced protocol: recorded history, one call.

Source: github.com/AlibabaResearch/DAMO-ConvAI, folder api-bank (Li et al., EMNLP 2023), Apache-2.0.
Layout read: ``test-data/`` (the samples that are scored, with the official prompts),
``lv1-lv2-samples/`` (the dialogues they were cut from) and, where present, ``derived/`` (all tools'
documentation) and ``training-data/``.

A sample is an API row at index i of a dialogue: the rows before it are the history, the row itself is
the gold call. Files give every argument as text; here it is read as the type that the tool's
documentation declares, which is what a caller of the tool would pass.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from callgym.call import ToolCall
from callgym.data import check_split, read_json_file, read_json_lines, verify
from callgym.dialects.apibank import ApiBankDialect
from callgym.dialects.literal import LiteralError, read_literal
from callgym.errors import DataError
from callgym.goal import CallsGoal, GoldCall
from callgym.message import Message
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["FILES", "OPTIONAL_FILES", "SPLITS", "load_official"]

FILES = (
    "test-data/level-1-api.json",
    "test-data/level-2-api.json",
    "test-data/level-3.json",
    "test-data/level-3-batch-inf.json",
    "lv1-lv2-samples/*/*.jsonl",
)
"""What ``callgym fetch apibank`` takes."""

OPTIONAL_FILES = ("training-data/lv3-api-train.json", "derived/apis_*.json")
"""What it takes where it is there: the training file, and the documentation of tools that a dialogue calls
without having shown it (14 samples of level 2 lack it otherwise)."""

SPLITS = ("test", "train", "cv-train", "cv-test")
"""``test``: all samples that are scored officially. ``train``: the official training file, level 3
only (the files of levels 1 and 2 are fetched apart). ``cv-train`` and ``cv-test``: the test samples
parted 4 to 1 by dialogue, for work on real tasks where there is no training file."""

_DIALOGUES = {1: "lv1-lv2-samples/level-1-given-desc", 2: "lv1-lv2-samples/level-2-toolsearcher"}
_TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object"},
    "list": {"type": "array"},
    "list(str)": {"type": "array", "items": {"type": "string"}},
}
# The documentation of two tools calls a parameter `name` that the recordings call `device_id`.
_RENAMED = {("TimedSwitch", "device_id"): "name", ("CancelTimedSwitch", "device_id"): "name"}
_SEARCH = "ToolSearcher"
_BRACKETS = ApiBankDialect()


@functools.lru_cache(maxsize=16)
def load_official(folder: Path, level: int, split: str) -> tuple[Task, ...]:
    """The tasks of one level and split.

    Raises:
        DataError: A file is missing or damaged; the message names file, row and mend.
        ConfigurationError: There is no such split.
    """
    check_split(split, SPLITS, f"API-Bank level {level}")
    verify(folder)
    if split == "train":
        return tuple(_training_tasks(folder, level))
    tasks = tuple(_level_3(folder) if level == 3 else _level_1_or_2(folder, level))
    if split == "test":
        return tasks
    held_out = _held_out(tasks)
    return tuple(task for task in tasks if (task.meta["dialogue"] in held_out) == (split == "cv-test"))


def _held_out(tasks: Sequence[Task]) -> frozenset[str]:
    """A fifth of the dialogues, drawn by hash: exactly a fifth, for level 3 has no more than 50."""
    dialogues = sorted({str(task.meta["dialogue"]) for task in tasks}, key=_sha256)
    return frozenset(dialogues[: len(dialogues) // 5])


# Levels 1 and 2.


def _level_1_or_2(folder: Path, level: int) -> Iterator[Task]:
    path = folder / f"test-data/level-{level}-api.json"
    known = _derived_tools(folder, "derived/apis_lv1_lv2.json")
    read = _DialogueReader(folder / _DIALOGUES[level])
    for number, row in enumerate(_rows(path, ("file", "id", "instruction", "input", "expected_output")), 1):
        where = f"{path}, row {number}"
        with _naming(where):
            instruction, documents = _split_instruction(row["instruction"], where)
            dialogue = read(row["file"])
            index = _sample_index(dialogue, row["id"], where)
            visible = [make_tool(document) for document in documents]
            history = dialogue[:index]
            tools, hidden = _callable_tools(visible, history, dialogue[index]["api_name"], known)
            yield _make_task(
                id=f"L{level}/{row['file'].removesuffix('.jsonl')}/{row['id']}",
                messages=(
                    Message(role="system", content="The current year is 2023."),
                    *_messages(history, tools),
                ),
                tools=tools,
                documented=[tool.name for tool in visible],
                gold=dialogue[index],
                meta={
                    "hidden_tools": hidden,
                    "source": f"test-data/{path.name}",
                    "dialogue": row["file"],
                    "sample": row["id"],
                    "turn": index,
                    "instruction": instruction,
                    "official_prompt_sha256": _sha256(row["instruction"] + "\n" + row["input"]),
                },
                level=level,
            )


class _DialogueReader:
    """Reads dialogue files, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, name: str) -> list[dict[str, Any]]:
        if name not in self._read:
            path = self._folder / name
            self._read[name] = [_checked_row(row, f"{path}, row {n}") for n, row in read_json_lines(path)]
        return self._read[name]


_FIELDS: dict[str, dict[str, type]] = {
    "User": {"text": str},
    "AI": {"text": str},
    "API": {"api_name": str, "param_dict": dict, "result": dict},
}


def _checked_row(row: Any, where: str) -> dict[str, Any]:
    role = row.get("role") if isinstance(row, dict) else None
    needed = _FIELDS.get(role) if isinstance(role, str) else None
    if needed is None:
        raise DataError(f"{where}: a row's role is User, AI or API, found {role!r}; fetch the file again.")
    wrong = [f"{key!r} as {kind.__name__}" for key, kind in needed.items() if not isinstance(row.get(key), kind)]
    if wrong:
        raise DataError(f"{where}: a row of role {role} needs {', '.join(wrong)}; fetch the file again.")
    checked: dict[str, Any] = row
    return checked


def _sample_index(dialogue: Sequence[dict[str, Any]], sample: int, where: str) -> int:
    """The row that sample 2k or 2k + 1 of a dialogue asks for: API row k, or the row after it."""
    rows = [index for index, row in enumerate(dialogue) if row["role"] == "API"]
    if 0 <= sample // 2 < len(rows):
        index = rows[sample // 2] + sample % 2
        if index < len(dialogue) and dialogue[index]["role"] == "API":
            return index
    raise DataError(f"{where}: sample {sample} is not an API row of its dialogue; fetch both files again.")


def _split_instruction(instruction: str, where: str) -> tuple[str, list[dict[str, Any]]]:
    """The instruction's words and the tool documents that follow them, one JSON object a line."""
    head, mark, tail = instruction.partition("API descriptions:\n")
    if not mark:
        raise DataError(f"{where}: the instruction lists no API descriptions; fetch the file again.")
    try:
        return head + mark, [json.loads(line) for line in tail.split("\n") if line.strip()]
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: an API description is not JSON ({error}); fetch the file again.") from error


# Level 3.


def _level_3(folder: Path) -> Iterator[Task]:
    samples_path = folder / "test-data/level-3.json"
    samples = _rows(samples_path, ("requirement", "response", "apis"))
    prompts_path = folder / "test-data/level-3-batch-inf.json"
    prompts = _rows(prompts_path, ("instruction", "input", "sample_id", "api_id"))
    known = _derived_tools(folder, "derived/apis_lv3.json")
    for number, row in enumerate(prompts, 1):
        where = f"{prompts_path}, row {number}"
        with _naming(where):
            sample_id, api_id = row["sample_id"], row["api_id"]
            if not (0 <= sample_id < len(samples) and 0 <= api_id < len(samples[sample_id]["apis"])):
                raise DataError(
                    f"{where}: call {api_id} of sample {sample_id} is not in {samples_path}; fetch both again."
                )
            sample = samples[sample_id]
            calls = [
                {
                    "role": "API",
                    "api_name": call["api_name"],
                    "param_dict": call["input"],
                    "result": call["output"],
                }
                for call in sample["apis"]
            ]
            search = make_tool(json.loads(row["input"].partition("\n")[0]))
            requirement = {"role": "User", "text": sample["requirement"].strip()}
            history = [requirement, *calls[:api_id]]
            tools, hidden = _callable_tools([search], history, calls[api_id]["api_name"], known)
            yield _make_task(
                id=f"L3/{sample_id}/{api_id}",
                messages=_messages(history, tools, whole_result=True),
                tools=tools,
                documented=[_SEARCH],
                gold=calls[api_id],
                meta={
                    "hidden_tools": hidden,
                    "source": "test-data/level-3-batch-inf.json",
                    "dialogue": f"level-3.json[{sample_id}]",
                    "turn": api_id,
                    "instruction": row["instruction"],
                    "official_prompt_sha256": _sha256(
                        # Level 3's files have a space after the cue, which is the one thing left out here.
                        (row["instruction"] + row["input"]).replace("API Request: \n", "API Request:\n")
                    ),
                },
                level=3,
            )


# The training file of level 3.


def _training_tasks(folder: Path, level: int) -> Iterator[Task]:
    path = folder / f"training-data/lv{level}-api-train.json"
    if not path.is_file():
        raise DataError(
            f"API-Bank level {level} has no training file here ({path} does not exist): take "
            "split='cv-train', or data='starter', which has a training split at every level."
        )
    for number, row in enumerate(_rows(path, ("instruction", "input", "output")), 1):
        where = f"{path}, row {number}"
        with _naming(where):
            task = _training_task(row, level, number, where)
        if task is not None:
            yield task


def _training_task(row: dict[str, Any], level: int, number: int, where: str) -> Task | None:
    """The row as a task; None where the recorded call cannot be read or does not fit its documentation."""
    documents, history = _training_history(row["input"])
    parsed = _BRACKETS.parse(row["output"])
    tools = {tool.name: tool for tool in map(make_tool, documents)}
    visible = tuple(tools)
    for line in history:
        if line["role"] == "API" and line["api_name"] == _SEARCH and isinstance(line["found"], dict):
            found = make_tool(line["found"])
            tools.setdefault(found.name, found)
    if len(parsed.calls) != 1 or parsed.errors or parsed.calls[0].name not in tools:
        return None
    call = parsed.calls[0]
    tool = tools[call.name]
    arguments = _typed_arguments(tool, call.arguments)
    if ToolSchema(tool).check(arguments) is not None:
        return None
    return Task(
        id=f"L{level}-train/{number}",
        family="apibank",
        split="train",
        messages=tuple(message for line in history for message in _training_messages(line)),
        tools=tuple(tools.values()),
        documented=visible,
        goal=CallsGoal(turns=((GoldCall.of(ToolCall(name=call.name, arguments=arguments)),),)),
        meta={
            "source": f"training-data/{Path(where.partition(',')[0]).name}",
            "dialogue": str(history[0].get("text", ""))[:80],
            "row": number,
            "instruction": row["instruction"],
            "level": level,
            "licence": "Apache-2.0",
        },
    )


def _training_history(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Tool documents and rows of a linearised conversation."""
    documents: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for line in text.partition("Generate API Request:")[0].split("\n"):
        request, arrow, result = line.removeprefix("API-Request: ").partition("->")
        if line.startswith('{"apiCode"'):
            documents.append(json.loads(line))
        elif line.startswith("API-Request: ") and arrow and (calls := _BRACKETS.parse(request).calls):
            call, found = calls[0], None
            if call.name == _SEARCH:
                with contextlib.suppress(LiteralError):  # a result cut short names no tool
                    found = read_literal(result)
            named = found if isinstance(found, dict) and isinstance(found.get("name"), str) else None
            rows.append({"role": "API", "api_name": call.name, "call": call, "text": result, "found": named})
        elif line.startswith("AI: "):
            rows.append({"role": "AI", "text": line.removeprefix("AI: ")})
        elif line:
            rows.append({"role": "User", "text": line.removeprefix("User: ")})
    return documents, rows


def _training_messages(row: dict[str, Any]) -> Iterator[Message]:
    if row["role"] != "API":
        yield Message(role="user" if row["role"] == "User" else "assistant", content=row["text"])
        return
    yield Message(role="assistant", tool_calls=(row["call"],))
    yield Message(role="tool", name=row["api_name"], content=row["text"])


# Tools, calls, results.


def make_tool(document: dict[str, Any]) -> Tool:
    """A tool from API-Bank's documentation of it, the original kept in ``meta``."""
    return _interned_tool(json.dumps(document))


@functools.lru_cache(maxsize=4096)
def _interned_tool(text: str) -> Tool:
    document = json.loads(text)
    name = document.get("name") or document.get("apiCode")
    inputs = document.get("input_parameters", document.get("parameters", {}))
    optional = (document.get("call_signature") or {}).get("defaults", {})
    properties: dict[str, Any] = {}
    for key, parameter in inputs.items():
        # A type that is no JSON type ("tuple", "any") takes any value.
        schema = _TYPES.get(parameter.get("type", "str"), {})
        properties[key] = {**schema, "description": parameter.get("description", "")}
    return Tool(
        name=name,
        description=document.get("description", ""),
        parameters={
            "type": "object",
            "properties": properties,
            "required": [key for key in inputs if key not in optional and (name, key) not in _OPTIONAL],
            "additionalProperties": False,
        },
        meta={"documentation": document},
    )


# The documentation shown to a model does not say which parameters may be left out; the tools' code does.
_OPTIONAL = {
    ("ModifyRegistration", "new_appointment_date"),
    ("ModifyRegistration", "new_appointment_doctor"),
    ("RecordHealthData", "health_data"),
    ("ForgotPassword", "username"),
    ("ForgotPassword", "email"),
    ("ForgotPassword", "verification_code"),
    ("ForgotPassword", "new_password"),
    ("Translate", "src_lang"),
    ("Translate", "tgt_lang"),
}


def _derived_tools(folder: Path, name: str) -> dict[str, Tool]:
    """Tools that a dialogue calls without having seen their documentation; empty without the file."""
    path = folder / name
    if not path.is_file():
        return {}
    keys = ("name", "description", "input_parameters", "output_parameters")
    with _naming(str(path)):
        return {row["name"]: make_tool({key: row[key] for key in keys}) for row in _rows(path, keys)}


def _callable_tools(
    visible: Sequence[Tool], history: Sequence[dict[str, Any]], wanted: str, known: dict[str, Tool]
) -> tuple[tuple[Tool, ...], list[str]]:
    """The tools of the prompt, those that a search found, and those called without having been shown.

    Returns:
        All of them, and the names of the last kind.
    """
    tools = {tool.name: tool for tool in visible}
    for row in history:
        if row["role"] == "API" and row["api_name"] == _SEARCH:
            found = row["result"]["output"]
            for document in found if isinstance(found, list) else [found]:
                if isinstance(document, dict) and document.get("name"):
                    tools.setdefault(document["name"], make_tool(document))
    shown = set(tools)
    for name in (*(row["api_name"] for row in history if row["role"] == "API"), wanted):
        if name in known:
            tools.setdefault(name, known[name])
    return tuple(tools.values()), [name for name in tools if name not in shown]


def _typed_arguments(tool: Tool | None, recorded: dict[str, Any]) -> dict[str, Any]:
    """Recorded arguments, renamed where the tool's documentation was, and typed by it."""
    if tool is None:
        return dict(recorded)
    renamed = {_RENAMED.get((tool.name, key), key): value for key, value in recorded.items()}
    return ToolSchema(tool).coerce(renamed)


def _messages(
    history: Sequence[dict[str, Any]], tools: Sequence[Tool], whole_result: bool = False
) -> tuple[Message, ...]:
    messages = []
    for row in history:
        if row["role"] == "User":
            messages.append(Message(role="user", content=row["text"]))
        elif row["role"] == "AI":
            messages.append(Message(role="assistant", content=row["text"]))
        else:
            call = ToolCall(name=row["api_name"], arguments=_history_arguments(row, tools))
            shown = row["result"] if whole_result else row["result"]["output"]
            messages.append(Message(role="assistant", tool_calls=(call,)))
            messages.append(Message(role="tool", name=row["api_name"], content=str(shown)))
    return tuple(messages)


def _history_arguments(row: dict[str, Any], tools: Sequence[Tool]) -> dict[str, Any]:
    """Typed values, but as recorded where a typed one would print otherwise: the prompt is the official one."""
    tool = next((tool for tool in tools if tool.name == row["api_name"]), None)
    recorded = row["param_dict"]
    if tool is None:
        return dict(recorded)
    typed = ToolSchema(tool).coerce(recorded)
    return {key: typed[key] if str(typed[key]) == str(value) else value for key, value in recorded.items()}


def _make_task(
    *,
    id: str,
    messages: tuple[Message, ...],
    tools: tuple[Tool, ...],
    documented: list[str],
    gold: dict[str, Any],
    meta: dict[str, Any],
    level: int,
) -> Task:
    name = gold["api_name"]
    tool = next((tool for tool in tools if tool.name == name), None)
    arguments = _typed_arguments(tool, gold["param_dict"])
    result = gold["result"]
    recorded: dict[str, Any] = {"content": result.get("output")}
    if result.get("exception"):
        recorded = {"content": None, "error": "tool_error", "message": str(result["exception"])}
    fault = f"{name} is documented nowhere" if tool is None else ToolSchema(tool).check(arguments)
    return Task(
        id=id,
        family="apibank",
        split="test",
        messages=messages,
        tools=tools,
        documented=tuple(documented),
        goal=CallsGoal(turns=((GoldCall.of(ToolCall(name=name, arguments=arguments)),),)),
        meta={
            **{key: value for key, value in meta.items() if value != []},
            "level": level,
            "licence": "Apache-2.0",
            "recorded": [{"name": name, "arguments": arguments, "result": recorded}],
            **({"gold_fault": fault} if fault else {}),
        },
    )


def _rows(path: Path, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    rows = read_json_file(path)
    if not isinstance(rows, list):
        raise DataError(
            f"{path}: a JSON array of rows was expected, found {type(rows).__name__}; fetch the file again."
        )
    for number, row in enumerate(rows, 1):
        missing = [key for key in keys if not isinstance(row, dict) or key not in row]
        if missing:
            raise DataError(f"{path}, row {number}: {missing} are missing; fetch the file again.")
    return rows


@contextlib.contextmanager
def _naming(where: str) -> Iterator[None]:
    """Turn what a damaged row provokes into an error that names the row."""
    try:
        yield
    except DataError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        fault = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise DataError(f"{where}: cannot be read as a sample ({fault}); fetch the file again.") from error


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
