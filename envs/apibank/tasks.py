"""API-Bank's files as tasks, in the teacher-forced protocol: recorded history, then one call or one reply.

Source: github.com/AlibabaResearch/DAMO-ConvAI, folder api-bank (Li et al., EMNLP 2023), Apache-2.0.
Layout read: ``test-data/`` (the samples that are scored, with the official prompts),
``lv1-lv2-samples/`` (the dialogues they were cut from) and, where present, ``derived/`` (all tools'
documentation) and ``training-data/``.

A sample is an API row at index i of a dialogue: the rows before it are the history, the row itself is
the gold call. Files give every argument as text; here it is read as the type that the tool's
documentation declares, which is what a caller of the tool would pass.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from callgym.call import ToolCall
from callgym.data import check_split, verify
from callgym.envs.apibank.files import DialogueReader, naming, read_rows
from callgym.envs.apibank.official import judge_call
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import has_tables, load_tables
from callgym.envs.apibank.tools import make_tool, typed_arguments
from callgym.envs.apibank.training import training_tasks
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, GoldCall, TextGoal
from callgym.message import Message
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.ranking import get_ranker

__all__ = [
    "DIALOGUES",
    "FILES",
    "OPTIONAL_FILES",
    "SAMPLES",
    "SPLITS",
    "Samples",
    "load_official",
    "part",
    "rows_of_sample",
]

Samples = Literal["calls", "replies", "all"]
SAMPLES: tuple[Samples, ...] = ("calls", "replies", "all")
"""What is asked for: the next call (officially its accuracy), the next reply (its ROUGE-L), or both."""

FILES = (
    "test-data/level-1-api.json",
    "test-data/level-2-api.json",
    "test-data/level-3.json",
    "test-data/level-3-batch-inf.json",
    "lv1-lv2-samples/*/*.jsonl",
)
"""What ``callgym fetch apibank --from FOLDER`` takes."""

OPTIONAL_FILES = (
    "training-data/*.json",
    "test-data/*-response.json",
    "test-data/*-icl.json",
    "init_database/*.json",
    "data/all_apis.csv",
    "data/exceptions.json",
    "derived/apis_*.json",
    "builtin_tables.json",
    "tool_docs.json",
    "recorded_external.json",
    "translate_languages.json",
)
"""What it takes where it is there: training files, replies and an in-context prompt, what the tools start from, and
the documentation of tools that a dialogue calls without having shown it (14 samples of level 2 lack it otherwise).
``builtin_tables.json`` and ``tool_docs.json`` are tables and documentation that only the official tool classes hold,
``recorded_external.json`` answers of web services, ``translate_languages.json`` the translator's languages."""

SPLITS = ("test", "train", "cv-train", "cv-test")
"""``test``: all samples that are scored officially. ``train``: the official training file, level 3
only (the files of levels 1 and 2 are fetched apart). ``cv-train`` and ``cv-test``: the test samples
parted 4 to 1 by dialogue, for work on real tasks where there is no training file."""

DIALOGUES = {1: "lv1-lv2-samples/level-1-given-desc", 2: "lv1-lv2-samples/level-2-toolsearcher"}
"""Level to the folder of its dialogues."""
_REPLY_CUE = "Generate AI Response:\n"
_SEARCH = "ToolSearcher"


@functools.lru_cache(maxsize=32)
def load_official(
    folder: Path, level: int, split: str, samples: Samples = "calls", ranker: str = "bm25"
) -> tuple[Task, ...]:
    """The tasks of one level and split.

    Where the folder also holds the databases, tasks whose official gold call the official evaluation
    calls wrong say so in ``meta["official_gold"]``, with the reason.

    Args:
        folder: The official files.
        level: 1, 2 or 3.
        split: One of ``SPLITS``.
        samples: One of ``SAMPLES``.
        ranker: What the tool search ranks with when gold calls are judged.

    Raises:
        DataError: A file is missing or damaged; the message names file, row and mend.
        ConfigurationError: There is no such split.
    """
    check_split(split, SPLITS, f"API-Bank level {level}")
    if samples not in SAMPLES:
        raise ConfigurationError(f"samples is one of {', '.join(map(repr, SAMPLES))}, got {samples!r}")
    verify(folder)
    if split == "train":
        return training_tasks(folder, level, samples)
    tasks: list[Task] = []
    if samples != "replies":
        calls = _level_3(folder) if level == 3 else _level_1_or_2(folder, level, "API")
        tasks += _judged(calls, folder, level, ranker)
    if samples != "calls":
        tasks += _level_3_replies(folder) if level == 3 else _level_1_or_2(folder, level, "AI")
    return part(tasks, split)


def part(tasks: Sequence[Task], split: str) -> tuple[Task, ...]:
    """The tasks of ``test`` that belong to a split: all, or those of a part of the dialogues."""
    if split == "test":
        return tuple(tasks)
    held_out = _held_out(tasks)
    return tuple(task for task in tasks if (task.meta["dialogue"] in held_out) == (split == "cv-test"))


def _judged(tasks: Iterator[Task], folder: Path, level: int, ranker: str) -> Iterator[Task]:
    """The tasks with the official verdict on their own gold call, where it is that the call is wrong."""
    if not has_tables(folder):
        yield from tasks
        return
    tables = load_tables(folder)
    tool_set = "lv3_apis" if level == 3 else "apis"
    backend = SimulatorBackend(tables, tool_set, get_ranker(ranker), official=True)
    for task in tasks:
        meta: dict[str, Any] = {**task.meta, "tables": tables.fingerprint}
        gold: Any = meta["gold"]
        verdict = judge_call(gold["text"], gold, backend)
        if not verdict.correct:
            meta["official_gold"] = {"status": verdict.status, "reason": verdict.reason}
        yield task.model_copy(update={"meta": meta})


def _held_out(tasks: Sequence[Task]) -> frozenset[str]:
    """A fifth of the dialogues, drawn by hash: exactly a fifth, for level 3 has no more than 50."""
    dialogues = sorted({str(task.meta["dialogue"]) for task in tasks}, key=_sha256)
    return frozenset(dialogues[: len(dialogues) // 5])


# Levels 1 and 2.


def _level_1_or_2(folder: Path, level: int, role: str) -> Iterator[Task]:
    """The samples that ask for a call (role API) or for a reply (role AI)."""
    path = folder / f"test-data/level-{level}-{'api' if role == 'API' else 'response'}.json"
    known = _derived_tools(folder, "derived/apis_lv1_lv2.json")
    read = DialogueReader(folder / DIALOGUES[level])
    for number, row in enumerate(read_rows(path, ("file", "id", "instruction", "input", "expected_output")), 1):
        where = f"{path}, row {number}"
        with naming(where):
            instruction, documents = _split_instruction(row["instruction"], where)
            dialogue = read(row["file"])
            index = _sample_index(dialogue, row["id"], where, role)
            gold, history = dialogue[index], dialogue[:index]
            visible = [make_tool(document) for document in documents]
            tools, hidden = _callable_tools(visible, history, gold.get("api_name", ""), known)
            id = f"L{level}/{row['file'].removesuffix('.jsonl')}/{row['id']}"
            sample: dict[str, Any] = {
                "messages": (Message(role="system", content="The current year is 2023."), *_messages(history, tools)),
                "tools": tools,
                "documented": [tool.name for tool in visible],
                "level": level,
                "meta": {
                    "hidden_tools": hidden,
                    "source": f"test-data/{path.name}",
                    "dialogue": row["file"],
                    "sample": row["id"],
                    "turn": index,
                    "instruction": instruction,
                    "official_prompt_sha256": _sha256(row["instruction"] + "\n" + row["input"]),
                },
            }
            if role == "AI":
                yield _reply_task(id=f"{id}/reply", reference=row["expected_output"], **sample)
            else:
                yield _make_task(id=id, gold=gold, gold_text=row["expected_output"], history=history, **sample)


def _sample_index(dialogue: Sequence[dict[str, Any]], sample: int, where: str, role: str) -> int:
    """The row that sample 2k or 2k + 1 of a dialogue asks for: API row k, or the row after it."""
    rows = [index for index, row in enumerate(dialogue) if row["role"] == "API"]
    if 0 <= sample // 2 < len(rows):
        index = rows[sample // 2] + sample % 2
        if index < len(dialogue) and dialogue[index]["role"] == role:
            return index
    raise DataError(f"{where}: sample {sample} is not an {role} row of its dialogue; fetch both files again.")


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
    samples = read_rows(samples_path, ("requirement", "response", "apis"))
    prompts_path = folder / "test-data/level-3-batch-inf.json"
    prompts = read_rows(prompts_path, ("instruction", "input", "output", "sample_id", "api_id"))
    known = _derived_tools(folder, "derived/apis_lv3.json")
    for number, row in enumerate(prompts, 1):
        where = f"{prompts_path}, row {number}"
        with naming(where):
            sample_id, api_id = row["sample_id"], row["api_id"]
            if not (0 <= sample_id < len(samples) and 0 <= api_id < len(samples[sample_id]["apis"])):
                raise DataError(
                    f"{where}: call {api_id} of sample {sample_id} is not in {samples_path}; fetch both again."
                )
            requirement, *calls = rows_of_sample(samples[sample_id])
            search = make_tool(json.loads(row["input"].partition("\n")[0]))
            history = [requirement, *calls[:api_id]]
            tools, hidden = _callable_tools([search], history, calls[api_id]["api_name"], known)
            yield _make_task(
                id=f"L3/{sample_id}/{api_id}",
                messages=_messages(history, tools, whole_result=True),
                tools=tools,
                documented=[_SEARCH],
                gold=calls[api_id],
                gold_text=row["output"],
                history=history,
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


def rows_of_sample(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """A sample of level 3 in the shape of a dialogue: the requirement, then the recorded calls."""
    rows: list[dict[str, Any]] = [{"role": "User", "text": sample["requirement"].strip()}]
    for call in sample["apis"]:
        name, given, result = call["api_name"], call["input"], call["output"]
        rows += [{"role": "API", "api_name": name, "param_dict": given, "result": result}]
    return rows


# Replies.


def _level_3_replies(folder: Path) -> Iterator[Task]:
    samples_path = folder / "test-data/level-3.json"
    samples = read_rows(samples_path, ("requirement", "response", "apis"))
    path = folder / "test-data/level-3-batch-inf-response.json"
    for number, row in enumerate(read_rows(path, ("instruction", "input", "output", "sample_id")), 1):
        where = f"{path}, row {number}"
        with naming(where):
            if not 0 <= row["sample_id"] < len(samples):
                raise DataError(f"{where}: sample {row['sample_id']} is not in {samples_path}; fetch both again.")
            history = rows_of_sample(samples[row["sample_id"]])
            search = make_tool(json.loads(row["input"].partition("\n")[0]))
            tools, hidden = _callable_tools([search], history, "", {})
            yield _reply_task(
                id=f"L3/{row['sample_id']}/reply",
                messages=_messages(history, tools, whole_result=True),
                tools=tools,
                documented=[_SEARCH],
                reference=row["output"],
                level=3,
                meta={
                    "hidden_tools": hidden,
                    "source": f"test-data/{path.name}",
                    "dialogue": f"level-3.json[{row['sample_id']}]",
                    "turn": len(history) - 1,
                    "instruction": row["instruction"],
                    "official_prompt_sha256": _sha256(
                        (row["instruction"] + row["input"]).replace("AI Response: \n", "AI Response:\n")
                    ),
                },
            )


def _reply_task(
    *,
    id: str,
    messages: tuple[Message, ...],
    tools: tuple[Tool, ...],
    documented: list[str],
    reference: str,
    level: int,
    meta: dict[str, Any],
) -> Task:
    return Task(
        id=id,
        family="apibank",
        split="test",
        messages=messages,
        tools=tools,
        documented=tuple(documented),
        goal=TextGoal(reference=reference),
        meta={
            **{key: value for key, value in meta.items() if value != []},
            "cue": _REPLY_CUE,
            "level": level,
            "licence": "Apache-2.0",
        },
    )


# Tools, calls, results.


def _derived_tools(folder: Path, name: str) -> dict[str, Tool]:
    """Tools that a dialogue calls without having seen their documentation; empty without the file."""
    path = folder / name
    if not path.is_file():
        return {}
    keys = ("name", "description", "input_parameters", "output_parameters")
    with naming(str(path)):
        return {row["name"]: make_tool({key: row[key] for key in keys}) for row in read_rows(path, keys)}


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
    gold_text: str,
    history: Sequence[dict[str, Any]],
    meta: dict[str, Any],
    level: int,
) -> Task:
    name = gold["api_name"]
    by_name = {tool.name: tool for tool in tools}
    tool = by_name.get(name)
    arguments = typed_arguments(tool, gold["param_dict"])
    earlier: list[Any] = [
        {"name": row["api_name"], "arguments": typed_arguments(by_name.get(row["api_name"]), row["param_dict"])}
        for row in history
        if row["role"] == "API"
    ]
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
            "gold": {"api_name": name, "result": result, "text": gold_text},
            **({"history": earlier} if earlier else {}),
            **({"gold_fault": fault} if fault else {}),
        },
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
