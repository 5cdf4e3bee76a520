"""What a memory holds before a question is asked: earlier conversations played, or a snapshot from elsewhere.

Officially the model under test first has each scenario's conversations, in order, and carries its memory from one
to the next; the questions then start from what it holds in the end. ``play_prerequisites`` does that with any player.
Where there is none, ``reference_snapshot`` writes a memory by rule.

Snapshots are kept as officially: a file ``<scenario>_final.json`` each, in one folder for one kind of store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from callgym.data import read_json_file
from callgym.envs.bfcl.files import BfclFiles, naming
from callgym.envs.bfcl.memory.prompts import Wording, memory_message
from callgym.envs.bfcl.memory.session import open_store
from callgym.envs.bfcl.memory.store import StoreName, check_store
from callgym.envs.bfcl.memory.writer import Conversation, reference_snapshot
from callgym.envs.bfcl.official.agentic import states_answer
from callgym.envs.bfcl.tools import make_tool
from callgym.errors import ConfigurationError, DataError
from callgym.goal import DecisionGoal
from callgym.message import Message
from callgym.task import Task, UserTurn
from callgym.tool import Tool

__all__ = [
    "SCENARIOS",
    "Conversation",
    "holds_answer",
    "play_prerequisites",
    "prerequisite_tasks",
    "read_conversations",
    "read_snapshots",
    "reference_snapshot",
    "reference_snapshots",
    "store_tools",
    "with_memory",
    "write_snapshots",
]

SCENARIOS = ("student", "customer", "finance", "healthcare", "notetaker")
"""The official scenarios."""

Snapshot = dict[str, Any]
"""The content of a store, a JSON object."""

_SUFFIX = "_final.json"


def read_conversations(files: BfclFiles, scenario: str) -> tuple[Conversation, ...]:
    """The conversations that come before a scenario's questions, in order.

    Raises:
        ConfigurationError: There is no such scenario.
        DataError: The file is missing or damaged.
    """
    if scenario not in SCENARIOS:
        raise ConfigurationError(f"BFCL has no memory scenario {scenario!r}; there are: {', '.join(SCENARIOS)}")
    name = f"memory_prereq_conversation/memory_{scenario}.json"
    conversations = []
    for number, row in enumerate(files.rows(name), 1):
        with naming(f"{files.folder / name}, row {number}"):
            turns = tuple("\n".join(_user_texts(turn)) for turn in row["question"])
            if not turns:
                raise ValueError("it has no turn")
            conversations.append(Conversation(str(row["id"]), str(row["topic"]), turns))
    return tuple(conversations)


def _user_texts(turn: Iterable[Mapping[str, Any]]) -> list[str]:
    texts = [message["content"] for message in turn if message["role"] == "user"]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError("a turn has no text of the user")
    return texts


def store_tools(files: BfclFiles, store: str) -> tuple[Tool, ...]:
    """The tools of a store from the official documents, in their order.

    Raises:
        ConfigurationError: There is no such store.
        DataError: The file is missing or damaged.
    """
    class_name = f"MemoryAPI_{check_store(store)}"
    tools = []
    for number, document in enumerate(files.class_functions(class_name), 1):
        with naming(f"{files.folder}, functions of {class_name}, row {number}"):
            tools.append(make_tool(document))
    return tuple(tools)


# Playing the conversations.


def prerequisite_tasks(files: BfclFiles, store: str, scenario: str, wording: Wording | None = None) -> list[Task]:
    """The conversations of a scenario as dialogues, in order; the memory of each is empty, see ``with_memory``.

    They are not scored officially: what they leave in memory is what counts. The goal says no more than that the
    memory tools are to be called.

    Raises:
        ConfigurationError: There is no such store or scenario.
        DataError: A file is missing or damaged.
    """
    conversations = read_conversations(files, scenario)
    return conversation_tasks(conversations, check_store(store), scenario, store_tools(files, store), wording)


def conversation_tasks(
    conversations: Sequence[Conversation],
    store: StoreName,
    scenario: str,
    tools: tuple[Tool, ...],
    wording: Wording | None = None,
    split: str = "test",
    source: str = "official",
) -> list[Task]:
    """Conversations as dialogues; see ``prerequisite_tasks``."""
    tasks = []
    for conversation in conversations:
        first, *rest = conversation.turns
        task = Task(
            id=conversation.id.replace("memory", f"memory_{store}", 1),
            family="bfcl",
            split=split,
            messages=(Message(role="system", content=""), Message(role="user", content=first)),
            tools=tools,
            user_turns=tuple(UserTurn(content=turn) for turn in rest),
            goal=DecisionGoal(decision="call"),
            meta={
                "category": f"memory_{store}",
                "prerequisite": True,
                "scenario": scenario,
                "store": store,
                "source": source,
                "topic": conversation.topic,
            },
        )
        tasks.append(with_memory(task, {}, wording))
    return tasks


def with_memory(task: Task, snapshot: Mapping[str, Any], wording: Wording | None = None) -> Task:
    """The task with a memory that holds ``snapshot``: in its state, and as its system message shows it.

    Raises:
        DataError: It is no snapshot of the task's kind of store.
    """
    meta: dict[str, Any] = task.meta
    store = open_store(meta["store"])
    store.load(snapshot)
    shown = memory_message(meta["store"], meta["scenario"], store.context_text(), wording)
    system = Message(role="system", content=shown)
    state = store.snapshot() if snapshot else {}
    return task.model_copy(update={"messages": (system, *task.messages[1:]), "initial_state": state})


def play_prerequisites(
    play: Callable[[Task, Snapshot], Snapshot], tasks: Sequence[Task], wording: Wording | None = None
) -> Snapshot:
    """Play a scenario's conversations in order and carry the memory on; the last snapshot.

    Args:
        play: Plays one task, whose memory holds the snapshot that is given beside it (empty at first), to its end
            and returns the session's state.
        tasks: The conversations of one scenario, as ``prerequisite_tasks`` gives them.
        wording: As for ``prerequisite_tasks``.

    Raises:
        DataError: ``play`` returned no snapshot of the store.
    """
    snapshot: Snapshot = {}
    for task in tasks:
        snapshot = play(with_memory(task, snapshot, wording), snapshot)
        _check(snapshot, str(task.meta["store"]), f"what was played of {task.id}")
    return snapshot


# The reference.


def reference_snapshots(files: BfclFiles, store: str) -> dict[str, Snapshot]:
    """Scenario to the snapshot that ``reference_snapshot`` writes.

    Raises:
        ConfigurationError: There is no such store.
        DataError: A file is missing or damaged.
    """
    return {name: reference_snapshot(read_conversations(files, name), store) for name in SCENARIOS}


def holds_answer(snapshot: Mapping[str, Any], accepted: Sequence[str]) -> bool:
    """Whether an accepted answer stands in a snapshot word for word, by the official comparison of answers."""
    return any(states_answer(text, accepted) for text in _texts(snapshot))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in value.values() for text in _texts(item)] if isinstance(value, Mapping) else []


# Files.


def write_snapshots(folder: Path, snapshots: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Write a file ``<scenario>_final.json`` each; the folder is made, and files of other names are left alone.

    Raises:
        ConfigurationError: A scenario's name cannot be a file's.
    """
    for scenario in snapshots:
        if not scenario or not scenario.replace("_", "").replace("-", "").isalnum():
            raise ConfigurationError(f"a scenario's name is letters, digits, '_' and '-'; found {scenario!r}")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for scenario, snapshot in snapshots.items():
        path = folder / f"{scenario}{_SUFFIX}"
        path.write_text(json.dumps(snapshot, indent=4, ensure_ascii=True) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def read_snapshots(folder: Path, store: str) -> dict[str, Snapshot]:
    """Scenario to snapshot, of all files ``<scenario>_final.json`` in a folder, the official package's included.

    Raises:
        ConfigurationError: There is no such store.
        DataError: There is no such folder or no such file in it, or a file is no snapshot of this store.
    """
    check_store(store)
    paths = sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
    if not paths:
        raise DataError(
            f"{folder} holds no snapshots; they are files named <scenario>{_SUFFIX}, such as {SCENARIOS[0]}{_SUFFIX}"
        )
    snapshots = {}
    for path in paths:
        snapshot = read_json_file(path)
        _check(snapshot, store, str(path))
        snapshots[path.name.removesuffix(_SUFFIX)] = snapshot
    return snapshots


def _check(snapshot: Any, store: str, where: str) -> None:
    if not isinstance(snapshot, dict):
        raise DataError(f"{where}: a snapshot is a JSON object, found {type(snapshot).__name__}")
    try:
        open_store(store).load(snapshot)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
