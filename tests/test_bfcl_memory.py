"""BFCL's memory stores, the conversations that fill them, and the questions on them."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym.call import ToolCall
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.memory import starter
from callgym.envs.bfcl.memory.documents import starter_tools
from callgym.envs.bfcl.memory.embedding import LexicalEmbedder, get_embedder
from callgym.envs.bfcl.memory.prompts import answer_form, memory_message
from callgym.envs.bfcl.memory.session import MemoryBackend, open_store
from callgym.envs.bfcl.memory.snapshots import (
    SCENARIOS,
    holds_answer,
    play_prerequisites,
    prerequisite_tasks,
    read_conversations,
    read_snapshots,
    reference_snapshots,
    store_tools,
    with_memory,
    write_snapshots,
)
from callgym.envs.bfcl.memory.store import STORES, StoreName
from callgym.envs.bfcl.memory.tasks import load_memory
from callgym.envs.bfcl.memory.writer import Conversation, condense, reference_snapshot
from callgym.envs.bfcl.simulators.base import Refusal
from callgym.errors import ConfigurationError, DataError, MissingPackageError
from callgym.goal import DecisionGoal
from callgym.schema import ToolSchema
from callgym.task import Task


@pytest.fixture(scope="module")
def files(official_data: Path) -> BfclFiles:
    return BfclFiles(official_data / "bfcl")


# The stores.


def test_kv_checks_size_length_form_and_uniqueness_in_this_order() -> None:
    store = open_store("kv")
    for number in range(7):
        arguments = {"key": f"k_{number}", "value": "x" * 300}
        assert store.call("core_memory_add", arguments) == {"status": "Key-value pair added."}
    full = {"error": "Core memory is full. Please clear some entries."}
    assert store.call("core_memory_add", {"key": "Bad", "value": "x" * 301}) == full
    store.call("core_memory_remove", {"key": "k_0"})
    long = {"error": "Entry is too long. Please shorten the entry to less than 300 characters."}
    assert store.call("core_memory_add", {"key": "Bad", "value": "x" * 301}) == long
    bad = {"error": "Key must be in snake_case format and cannot contain spaces."}
    for key in ("Bad", "1a", "a__b", "a b", "", "é", "a-b", "x" * 3000):
        assert store.call("core_memory_add", {"key": key, "value": ""}) == bad
    assert store.call("core_memory_add", {"key": "k_1", "value": ""}) == {"error": "Key name must be unique."}
    assert store.call("archival_memory_add", {"key": "k_1", "value": ""}) == {"status": "Key added."}


def test_searching_an_empty_kv_memory_divides_by_zero_as_officially() -> None:
    session = MemoryBackend().open(_task("kv"), seed=0)
    result = session.call(ToolCall(name="core_memory_key_search", arguments={"query": "name"}))
    assert (result.error, result.message) == ("tool_error", "division by zero")
    for key in ("first_name", "last_name_of_aunt", "pet"):
        session.call(ToolCall(name="core_memory_add", arguments={"key": key, "value": "Ada"}))
    content: Any = session.call(
        ToolCall(name="core_memory_key_search", arguments={"query": "First_NAME", "k": 2})
    ).content
    assert [key for _, key in content["ranked_results"]] == ["first_name", "last_name_of_aunt"]


def test_vector_ids_count_up_and_start_anew_when_cleared() -> None:
    store = open_store("vector")
    assert store.context_text() == "{}"
    assert [store.call("core_memory_add", {"text": text})["id"] for text in ("a", "b")] == [0, 1]
    assert store.call("core_memory_remove", {"vec_id": 1}) == {"status": "ID 1 removed from store."}
    assert store.call("core_memory_add", {"text": "c"}) == {"id": 2}
    assert store.call("core_memory_update", {"vec_id": 7, "new_text": "d"}) == {"error": "ID 7 not present in store."}
    assert store.call("core_memory_retrieve_all", {}) == {"result": [{"id": 0, "text": "a"}, {"id": 2, "text": "c"}]}
    assert json.loads(store.context_text()) == {"0": "a", "2": "c"}
    store.call("core_memory_clear", {})
    assert store.call("core_memory_add", {"text": "e"}) == {"id": 0}


def test_vector_finds_by_meaningful_words() -> None:
    store = open_store("vector")
    assert store.call("archival_memory_retrieve", {"query": "x"}) == {"result": []}
    for text in ("My sister sails small boats.", "The rent is due on Friday.", "I cannot eat walnuts."):
        store.call("archival_memory_add", {"text": text})
    found = store.call("archival_memory_retrieve", {"query": "when do I pay my rent?", "top_k": 2})["result"]
    assert len(found) == 2
    assert found[0]["text"] == "The rent is due on Friday."
    assert found[0]["similarity_score"] > found[1]["similarity_score"]
    with pytest.raises(Refusal):
        store.call("archival_memory_retrieve", {"query": "rent", "top_k": 0})


def test_summary_is_limited_and_replaces_every_occurrence() -> None:
    store = open_store("rec_sum")
    assert store.call("memory_retrieve", {}) == {"error": "Memory is empty."}
    store.call("memory_append", {"text": "ab ab"})
    assert store.call("memory_replace", {"old_text": "ab", "new_text": "c"}) == {"status": "Memory updated."}
    assert store.context_text() == "c c"
    assert "error" in store.call("memory_append", {"text": "x" * 9_998})
    assert store.call("memory_replace", {"old_text": "zz", "new_text": ""}) == {
        "error": "Text 'zz' not found in memory."
    }


def test_replacing_cannot_make_a_summary_endless() -> None:
    store = open_store("rec_sum")
    store.call("memory_update", {"text": "x" * 10_000})
    for _ in range(5):
        store.call("memory_replace", {"old_text": "x", "new_text": "x" * 10_000})
        store.call("memory_replace", {"old_text": "", "new_text": "y" * 9})
    assert len(store.context_text()) <= 100_000


@pytest.mark.parametrize("name", STORES)
def test_wrong_arguments_get_pythons_own_words(name: str) -> None:
    store = open_store(name)
    tool = "memory_append" if name == "rec_sum" else "core_memory_add"
    with pytest.raises(Refusal, match=rf"^MemoryAPI_{name}\.{tool}\(\) missing \d required positional argument"):
        store.call(tool, {})
    with pytest.raises(Refusal, match=r"got an unexpected keyword argument 'colour'$"):
        store.call(tool, {"colour": 1})
    with pytest.raises(Refusal, match=r"^name 'snapshot' is not defined$"):
        store.call("snapshot", {})


_TEXTS = st.one_of(st.text(max_size=40), st.sampled_from(["a", "a_b", "x" * 301, "y" * 2001, "\ud800", "a\n"]))
_VALUES = st.one_of(_TEXTS, st.integers(-3, 60), st.none(), st.booleans(), st.lists(_TEXTS, max_size=2), st.floats())
_NAMES = ("key", "value", "query", "k", "text", "vec_id", "new_text", "old_text", "top_k")


@pytest.mark.parametrize("name", STORES)
@given(data=st.data())
@settings(max_examples=30)
def test_nothing_that_is_called_raises_anything_but_refusal(name: str, data: st.DataObject) -> None:
    store = open_store(name)
    for _ in range(12):
        tool = data.draw(st.sampled_from(store.tools))
        arguments = data.draw(st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=3))
        try:
            json.dumps(store.call(tool, arguments))
        except Refusal:
            continue
    again = open_store(name)
    again.load(json.loads(json.dumps(store.snapshot())))
    assert again.snapshot() == store.snapshot()
    assert again.context_text() == store.context_text()


@pytest.mark.parametrize("name", STORES)
def test_huge_texts_are_answered_or_refused(name: str) -> None:
    store = open_store(name)
    huge = "word " * 200_000
    for tool in store.tools:
        for argument in _NAMES:
            try:
                store.call(tool, {argument: huge})
                store.call(tool, {"key": huge, "value": huge})
            except Refusal:
                continue
    assert len(json.dumps(store.snapshot())) < 1_000_000


@pytest.mark.parametrize("name", STORES)
def test_what_comes_out_of_a_store_is_not_its_own(name: str) -> None:
    store = open_store(name)
    store.load(starter.starter_snapshots(name)["choir_1"])
    before = json.dumps(store.snapshot())
    handed_out = [store.snapshot()]
    handed_out += [store.call(tool, {}) for tool in store.tools if tool.endswith(("retrieve_all", "list_keys"))]
    for value in handed_out:
        for item in list(value.values()):
            if isinstance(item, (dict, list)):
                item.clear()
        value.clear()
    assert json.dumps(store.snapshot()) == before
    assert pickle.loads(pickle.dumps(store)).snapshot() == store.snapshot()


@pytest.mark.parametrize(
    ("name", "snapshot"),
    [
        ("kv", {"memory": "x"}),
        ("kv", {"core_memory": {"a": 1}, "archival_memory": {}}),
        ("kv", {"core_memory": []}),
        ("vector", {"core_memory": {}, "archival_memory": {}}),
        (
            "vector",
            {"core_memory": {"next_id": 1, "store": {"1": "x"}}, "archival_memory": {"next_id": 0, "store": {}}},
        ),
        (
            "vector",
            {"core_memory": {"next_id": 1, "store": {"a": "x"}}, "archival_memory": {"next_id": 0, "store": {}}},
        ),
        ("rec_sum", {"core_memory": {}}),
        ("rec_sum", {"memory": 1}),
    ],
)
def test_a_snapshot_of_another_kind_is_refused(name: str, snapshot: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="snapshot"):
        open_store(name).load(snapshot)


def test_an_unknown_store_or_embedder_is_named() -> None:
    with pytest.raises(ConfigurationError, match="kv, vector, rec_sum"):
        open_store("graph")
    with pytest.raises(ConfigurationError, match="lexical, minilm"):
        get_embedder("word2vec")


# Embeddings.


@given(st.lists(st.one_of(st.text(max_size=60), st.sampled_from(["", "!!!", "\ud800", "the"])), min_size=1, max_size=4))
def test_every_text_has_a_unit_vector(texts: list[str]) -> None:
    vectors = LexicalEmbedder().embed(texts)
    assert vectors.shape == (len(texts), 1024)
    assert np.allclose((vectors * vectors).sum(axis=1), 1.0)


def test_an_embedder_of_ones_own_is_used() -> None:
    class Lengths:
        name = "lengths"

        def embed(self, texts: Any) -> Any:
            angles = np.array([len(text) / 10 for text in texts])
            return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    store = open_store("vector", Lengths())
    for text in ("a" * 9, "b" * 5, "c"):
        store.call("core_memory_add", {"text": text})
    found = store.call("core_memory_retrieve", {"query": "zzzz"})["result"]
    assert [entry["text"] for entry in found] == ["b" * 5, "c", "a" * 9]


def test_the_packaged_encoder_can_be_used() -> None:
    pytest.importorskip("onnxruntime")
    try:
        embedder = get_embedder("minilm")
    except MissingPackageError as error:
        pytest.skip(str(error))
    vectors = embedder.embed(["The rent is due.", "When must I pay for the flat?", "Puffins eat sand eels."])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


# Messages.


def test_the_system_message_shows_what_the_store_shows_and_takes_official_words() -> None:
    ours = memory_message("kv", "choir_2", "{memory_content} {scenario_setting}")
    assert "choir" in ours
    assert "{memory_content} {scenario_setting}" in ours
    wording = {
        "MEMORY_AGENT_SETTINGS": {"student": "ROLE"},
        "MEMORY_BACKEND_INSTRUCTION_UNIFIED": "<{scenario_setting}|{memory_content}>",
        "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT": "FORM",
    }
    assert memory_message("rec_sum", "student", "notes", wording) == "<ROLE|notes>"
    assert answer_form(wording) == "FORM"
    with pytest.raises(DataError, match="customer"):
        memory_message("rec_sum", "customer", "notes", wording)


# The reference memory.


def _conversations(turns: int, length: int) -> list[Conversation]:
    text = "the old harbour of Brackwater has 312 berths and a crane from Falkner that lifts nine tons"
    words = text.split(" ")
    texts = [" ".join(words[(n * 7 + i) % len(words)] + f"{n}x{i}" for i in range(length)) + "." for n in range(turns)]
    return [Conversation(f"c{n}", f"Topic number {n}", tuple(texts[n::3])) for n in range(3)]


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize(("turns", "length"), [(3, 0), (6, 10), (60, 60), (150, 90)])
def test_the_reference_memory_keeps_within_the_stores_limits(name: StoreName, turns: int, length: int) -> None:
    snapshot = reference_snapshot(_conversations(turns, length), name)
    if name == "rec_sum":
        assert len(snapshot["memory"]) <= 10_000
        return
    for level, entries, size in (("core_memory", 7, 300), ("archival_memory", 50, 2000)):
        texts = snapshot[level] if name == "kv" else snapshot[level]["store"]
        assert len(texts) <= entries
        assert all(0 < len(text) <= size for text in texts.values())


def test_what_fits_is_kept_word_for_word() -> None:
    conversations = _conversations(9, 20)
    whole = "\n".join(turn for conversation in conversations for turn in conversation.turns)
    assert condense(conversations, len(whole)) == whole
    assert len(condense(conversations, 500)) <= 500


def test_condensing_keeps_names_and_numbers_first() -> None:
    talk = "I was thinking about this and that, and then I had to laugh about it all again"
    turn = f"{talk}. Our crane was built by Falkner. {talk}, you know. It lifts 9 tons. {talk}, honestly."
    kept = condense([Conversation("c", "Crane", (turn,))], 60)
    assert "Falkner" in kept
    assert "9 tons" in kept


# Snapshots from and to files, and played ones.


def _task(store: StoreName) -> Task:
    return next(iter(starter.starter_prerequisites(store).values()))[0]


@pytest.mark.parametrize("name", STORES)
def test_snapshots_come_back_from_files_as_they_were(name: str, tmp_path: Path) -> None:
    snapshots = starter.starter_snapshots(name)
    write_snapshots(tmp_path / "new", snapshots)
    assert read_snapshots(tmp_path / "new", name) == snapshots


def test_bad_snapshot_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"student_final\.json"):
        read_snapshots(tmp_path, "kv")
    (tmp_path / "student_final.json").write_text('{"memory": "x"}')
    with pytest.raises(DataError, match=r"student_final\.json: a snapshot of the store kv"):
        read_snapshots(tmp_path, "kv")
    (tmp_path / "student_final.json").write_text("[1")
    with pytest.raises(DataError, match="not valid JSON"):
        read_snapshots(tmp_path, "kv")
    with pytest.raises(ConfigurationError, match="name"):
        write_snapshots(tmp_path, {"../x": {}})


def test_memory_is_carried_from_conversation_to_conversation() -> None:
    tasks = starter.starter_prerequisites("kv")["choir_1"]
    backend = MemoryBackend()
    shown = []

    def play(task: Task, snapshot: dict[str, Any]) -> dict[str, Any]:
        shown.append(task.messages[0].content or "")
        session = backend.open(task, seed=0)
        assert session.state() == snapshot or not snapshot
        arguments: Any = {"key": f"talk_{len(shown)}", "value": task.messages[1].content}
        session.call(ToolCall(name="archival_memory_add", arguments=arguments))
        session.call(ToolCall(name="core_memory_add", arguments={"key": f"talk_{len(shown)}", "value": "seen"}))
        return session.state()

    snapshot = play_prerequisites(play, tasks)
    assert list(snapshot["archival_memory"]) == ["talk_1", "talk_2", "talk_3", "talk_4"]
    assert "no content in the core memory" in shown[0]
    assert '"talk_3": "seen"' in shown[3]
    assert all(not task.initial_state for task in tasks)
    with pytest.raises(DataError, match="snapshot"):
        play_prerequisites(lambda task, snapshot: {"memory": ""}, tasks)


def test_a_session_does_not_write_back() -> None:
    task = starter.starter_memory("kv")[0]
    before = json.dumps(task.initial_state)
    session = MemoryBackend().open(task, seed=0)
    session.call(ToolCall(name="archival_memory_clear"))
    session.call(ToolCall(name="core_memory_add", arguments={"key": "mine", "value": "x"}))
    assert json.dumps(task.initial_state) == before
    assert MemoryBackend().open(task, seed=0).state() == task.initial_state


# Starter tasks.


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("split", starter.STARTER_SPLITS)
def test_the_gold_calls_of_every_starter_question_bring_its_answer(name: StoreName, split: str) -> None:
    tasks = starter.starter_memory(name, split)
    assert len(tasks) >= 40
    assert len({task.meta["scenario"] for task in tasks}) >= 3
    assert len({task.id for task in tasks}) == len(tasks)
    schemas = {tool.name: ToolSchema(tool) for tool in starter_tools(name)}
    for task in tasks:
        starter.verify(task)
        calls: Any = task.meta["gold_calls"]
        assert all(schemas[call["name"]].check(call["arguments"]) is None for call in calls)
        assert Task.from_json(task.to_json()) == task


def test_starter_tools_are_the_stores() -> None:
    for name in STORES:
        assert sorted(tool.name for tool in starter_tools(name)) == sorted(open_store(name).tools)


def test_most_answers_are_not_in_view() -> None:
    tasks = starter.starter_memory("kv")
    in_view = sum(holds_answer({"m": task.messages[0].content}, list(task.meta["gold"])) for task in tasks)  # type: ignore[arg-type]
    assert in_view < len(tasks) / 2


def test_corrected_facts_ask_for_the_last_value() -> None:
    tasks = [task for task in starter.starter_memory("rec_sum") if " now" in (task.messages[1].content or "")]
    assert tasks
    for task in tasks:
        gold: Any = task.meta["gold"]
        memory = str(task.initial_state["memory"])
        assert memory.count(gold[0]) >= 1


def test_numbers_in_words() -> None:
    table = {0: "zero", 13: "thirteen", 40: "forty", 85: "eighty five", 300: "three hundred", 999: None}
    table[999] = "nine hundred ninety nine"
    assert {number: starter.in_words(number) for number in table} == table


def test_starter_sets_are_the_same_in_every_process() -> None:
    code = (
        "import hashlib\n"
        "from callgym.envs.bfcl.memory.starter import starter_memory\n"
        "texts = [t.to_json() for s in ('kv', 'vector', 'rec_sum') for p in ('train', 'test')\n"
        "         for t in starter_memory(s, p)]\n"
        "print(hashlib.sha256('\\n'.join(texts).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    tasks = (task for store in STORES for split in ("train", "test") for task in starter.starter_memory(store, split))
    here = hashlib.sha256("\n".join(task.to_json() for task in tasks).encode()).hexdigest()
    assert printed.stdout.strip() == here


# Official data.


@pytest.mark.parametrize("name", STORES)
def test_official_tools_are_the_stores(files: BfclFiles, name: str) -> None:
    assert sorted(tool.name for tool in store_tools(files, name)) == sorted(open_store(name).tools)


@pytest.mark.parametrize(("name", "answerable"), [("kv", 140), ("vector", 140), ("rec_sum", 113)])
def test_official_questions_load_with_the_reference_memory(files: BfclFiles, name: str, answerable: int) -> None:
    tasks = load_memory(files, name, reference_snapshots(files, name))
    assert len(tasks) == 155
    assert tasks[0].id == f"memory_{name}_0-customer-0"
    assert sum(bool(task.meta["in_memory"]) for task in tasks) == answerable
    for task in tasks[::20]:
        assert task.messages[0].role == "system"
        assert MemoryBackend().open(task, seed=0).state() == task.initial_state


def test_without_snapshots_memory_starts_empty(files: BfclFiles) -> None:
    task = load_memory(files, "kv", {})[0]
    assert task.initial_state == {}
    assert "no content in the core memory" in (task.messages[0].content or "")


def test_official_conversations_are_dialogues_in_order(files: BfclFiles) -> None:
    for scenario in SCENARIOS:
        tasks = prerequisite_tasks(files, "rec_sum", scenario)
        conversations = read_conversations(files, scenario)
        assert [len(task.user_turns) + 1 for task in tasks] == [len(c.turns) for c in conversations]
        assert all(task.goal == DecisionGoal(decision="call") for task in tasks)
        assert tasks[0].id.startswith("memory_rec_sum_prereq_")
    filled = with_memory(tasks[0], {"memory": "It is noted."})
    assert "It is noted." in (filled.messages[0].content or "")
    with pytest.raises(ConfigurationError, match="scenario"):
        read_conversations(files, "pirate")


def test_damaged_official_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "memory_prereq_conversation").mkdir()
    path = tmp_path / "memory_prereq_conversation" / "memory_student.json"
    path.write_text('{"id": "x", "topic": "t", "question": [[{"role": "assistant", "content": "hm"}]]}\n')
    with pytest.raises(DataError, match=r"memory_student\.json, row 1"):
        read_conversations(BfclFiles(tmp_path), "student")
