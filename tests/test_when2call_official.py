"""When2Call's files: rows, tasks, faulty labels, choices, metrics and parity, fetching. Rows here are our own."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import hashlib
import json
import math
import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import download
from callgym.call import ToolCall
from callgym.data import DataNotice, cache_folder, verify
from callgym.download import DownloadError
from callgym.envs.when2call import fetch
from callgym.envs.when2call.choices import FAMILIES, choices_of, write_call
from callgym.envs.when2call.documents import bfcl_form
from callgym.envs.when2call.fetch import PINS, Pins, copy_when2call, download_when2call
from callgym.envs.when2call.label_faults import stands_in
from callgym.envs.when2call.metrics import Decided, choose, decide, judge_report, mcq_report
from callgym.envs.when2call.parity import cases
from callgym.envs.when2call.rows import ANSWERS, FILES, Answer, calls_in, load_rows
from callgym.envs.when2call.tasks import DECISIONS, Decision, load_mcq, load_open, load_train
from callgym.errors import ConfigurationError, DataError
from callgym.goal import AllGoal, CallsGoal, DecisionGoal, GoldCall

FERRY = {
    "name": "ferries.book",
    "description": "Books a ferry.",
    "parameters": {
        "type": "dict",
        "properties": {
            "harbour": {"type": "string", "description": "Where it leaves."},
            "seats": {"type": "integer", "description": "How many.", "default": 1},
            "deck": {"type": "string", "enum": ["upper", "lower"], "default": "lower", "description": "Where to sit."},
        },
        "required": ["harbour"],
    },
}
TIDE = {"name": "tides.next", "description": "The next tide.", "parameters": {"type": "dict", "properties": {}}}
CALL = {"name": "ferries.book", "arguments": {"harbour": "Dun Laoghaire", "seats": 1, "deck": "upper"}}
REPLIES = {"direct": "It leaves at nine.", "request_for_info": "From where?", "cannot_answer": "I have no way to book."}


def answers(call: Any = None) -> dict[str, Any]:
    written = json.dumps(CALL if call is None else call)
    return {kind: written if kind == "tool_call" else REPLIES[kind] for kind in ANSWERS}


GONE = object()
"""In place of a field's value: the row has no such field."""


def row(kind: str = "tool_call", **changes: Any) -> dict[str, Any]:
    """A row as the official file has it."""
    made: dict[str, Any] = {
        "uuid": f"row-{kind}",
        "source": "BFCL v2 Live Simple",
        "source_id": "live_simple_900-9-0",
        "question": "A seat on the upper deck from Dun Laoghaire, please.",
        "correct_answer": kind,
        "answers": answers(),
        "target_tool": json.dumps(FERRY),
        "tools": [json.dumps(FERRY), json.dumps(TIDE)],
    }
    if kind == "request_for_info":
        made |= {"question": "A seat on the upper deck, please.", "held_out_param": "harbour"}
        made["orig_question"] = "A seat on the upper deck from Dun Laoghaire, please."
    if kind == "cannot_answer":
        made |= {"target_tool": None, "tools": [json.dumps(TIDE)], "orig_tools": [json.dumps(FERRY), json.dumps(TIDE)]}
    return {name: value for name, value in {**made, **changes}.items() if value is not GONE}


def write(folder: Path, *rows: Any, which: str = "judge") -> Path:
    path = folder / FILES[which]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return folder


def task_of(folder: Path, **changes: Any) -> Any:
    kind = changes.pop("kind", "tool_call")
    (task,) = load_open(write(folder, row(kind, **changes)))
    return task


# Rows and tasks.


def test_rows_of_each_kind_become_tasks(tmp_path: Path) -> None:
    kinds = ("tool_call", "request_for_info", "cannot_answer", "direct")
    tasks = load_open(write(tmp_path, *(row(kind) for kind in kinds)))
    assert [task.id for task in tasks] == [f"row-{kind}" for kind in kinds]
    assert [task.meta["decision"] for task in tasks] == ["call", "ask", "decline", "answer"]
    call, ask, decline, answer = tasks
    assert isinstance(call.goal, AllGoal)
    gold = GoldCall(
        name="ferries.book",
        arguments={"harbour": ("Dun Laoghaire",), "seats": (1,), "deck": ("upper",)},
        optional=("seats",),
    )
    assert call.goal.goals == (DecisionGoal(decision="call", worded=True), CallsGoal(turns=((gold,),)))
    assert ask.goal == DecisionGoal(decision="ask", reply="From where?", missing=("harbour",), worded=True)
    assert decline.goal == DecisionGoal(decision="decline", reply="I have no way to book.", worded=True)
    assert answer.goal == DecisionGoal(decision="answer", reply="It leaves at nine.", worded=True)
    assert [tool.name for tool in decline.tools] == ["tides.next"]
    assert json.dumps(call.meta["answers"]) == json.dumps(answers())  # in this order
    assert call.meta["target_tool"] == FERRY
    assert decline.meta["target_tool"] is None
    assert decline.meta["orig_tools"] == [FERRY, TIDE]
    assert (ask.meta["held_out_param"], ask.meta["source_id"]) == ("harbour", "live_simple_900-9-0")
    assert all(task.meta["source"] == "official" and task.split == "test" for task in tasks)
    assert not any("label_fault" in task.meta or "gold_fault" in task.meta for task in tasks)
    assert list(DECISIONS) == list(ANSWERS)
    assert set(DECISIONS.values()) == set(get_args(Decision))


def test_tools_come_as_text_or_objects_and_may_be_none(tmp_path: Path) -> None:
    as_text = task_of(tmp_path)
    assert task_of(tmp_path, tools=[FERRY, TIDE]).tools == as_text.tools
    assert task_of(tmp_path, tools=json.dumps([FERRY, json.dumps(TIDE)])).tools == as_text.tools
    for nothing in ([], None, GONE, "null"):
        assert task_of(tmp_path, kind="cannot_answer", tools=nothing).tools == ()
    for nothing in (None, GONE, "null"):
        assert task_of(tmp_path, kind="cannot_answer", target_tool=nothing).meta["target_tool"] is None


def test_fields_that_are_not_needed_may_be_missing(tmp_path: Path) -> None:
    bare = {name: row()[name] for name in ("uuid", "question", "correct_answer", "answers", "tools")}
    (task,) = load_open(write(tmp_path, bare))
    assert task.meta["target_tool"] is None
    assert (task.meta["source_id"], task.meta["origin"]) == ("", "")
    assert "held_out_param" not in task_of(tmp_path, held_out_param="", orig_question="").meta
    assert task_of(tmp_path, answers={**answers(), "tool_call": CALL}).meta["answers"] == answers()
    renamed = {"name": CALL["name"], "parameters": CALL["arguments"]}
    assert task_of(tmp_path, answers=answers(renamed)).goal == task.goal


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"uuid": GONE}, "'uuid' is a text, found None"),
        ({"uuid": None}, "'uuid' is a text, found None"),
        ({"question": "  "}, "'question' is a text"),
        ({"question": 5}, "'question' is a text, found int"),
        ({"correct_answer": "direct_answer"}, "correct_answer is 'direct_answer'"),
        ({"correct_answer": ["direct"]}, "correct_answer is"),
        ({"correct_answer": GONE}, "KeyError: 'correct_answer'"),
        ({"answers": GONE}, "KeyError: 'answers'"),
        ({"answers": []}, "answers are an object, found list"),
        ({"answers": {**answers(), "direct": None}}, "'direct' is a text"),
        ({"answers": {**answers(), "tool_call": "ferries.book()"}}, "JSONDecodeError"),
        ({"answers": {**answers(), "tool_call": "[]"}}, "a call is an object, found list"),
        ({"answers": {**answers(), "tool_call": '{"arguments": {}}'}}, "KeyError: 'name'"),
        ({"answers": {**answers(), "tool_call": '{"name": "a"}'}}, "KeyError: 'parameters'"),
        ({"answers": {**answers(), "tool_call": '{"name": "a", "arguments": {"x": NaN}}'}}, "not a JSON number"),
        ({"tools": 3}, "tools are a list, found int"),
        ({"tools": ["{"]}, "JSONDecodeError"),
        ({"tools": [["a"]]}, "a tool is an object, found list"),
        ({"tools": ["[" * 30_000]}, "RecursionError"),
        ({"tools": [{"description": "nameless"}]}, "a tool has no name"),
        ({"tools": [{"name": "a"}]}, "KeyError: 'parameters'"),
        ({"tools": [FERRY, FERRY]}, "appear more than once"),
        ({"target_tool": "ferries.book"}, "JSONDecodeError"),
        ({"orig_tools": {}}, "tools are a list, found dict"),
        ({"held_out_param": 1}, "'held_out_param' is a text, found int"),
    ],
)  # fmt: skip
def test_a_damaged_row_is_named(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as raised:
        load_open(write(tmp_path, row("cannot_answer"), row(**changes)))
    message = str(raised.value)
    assert f"{tmp_path / FILES['judge']}, row 2: cannot be read (" in message
    assert fault in message
    assert message.endswith("fetch it again: callgym fetch when2call")
    assert len(message) < 600


def test_other_damage_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"when2call_test_llm_judge\.jsonl does not exist"):
        load_open(tmp_path)
    path = write(tmp_path, row()) / FILES["judge"]
    for text, fault in (("", "has no row"), ("[1]\n", "row 1: .*found list"), ('{"uuid": "a', "row 1: not valid JSON")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=fault):
            load_open(tmp_path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        load_open(tmp_path)
    with pytest.raises(DataError, match="a uuid appears twice"):
        load_open(write(tmp_path, row(), row()))
    with pytest.raises(ConfigurationError, match="no split 'train'"):
        load_open(tmp_path, "train")


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 20424385\n"


def test_the_judges_file_stands_in_for_the_other(tmp_path: Path) -> None:
    judged = load_open(write(tmp_path, row()))
    with pytest.warns(DataNotice, match="mcq.jsonl is not there: the 300 rows of .* stand in"):
        assert load_mcq(tmp_path) == judged
    (tmp_path / FILES["mcq"]).write_text(POINTER)
    with pytest.warns(DataNotice, match="is a Git LFS pointer"):
        assert load_mcq(tmp_path) == judged
    assert len(load_rows(tmp_path, "mcq").notes) == 1
    write(tmp_path, row(), row("direct"), which="mcq")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(load_mcq(tmp_path)) == 2
    (tmp_path / FILES["judge"]).write_text(POINTER)
    with pytest.raises(DataError, match=r"is a Git LFS pointer, not the file itself; .*git lfs pull"):
        load_open(tmp_path)


def test_a_clone_of_the_repository_is_read_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "data", row())
    assert [task.id for task in load_open(tmp_path)] == ["row-tool_call"]


@pytest.mark.parametrize(
    ("kind", "changes", "fault"),
    [
        ("tool_call", {"tools": [TIDE]}, "the right call's tool ferries.book is not offered"),
        ("tool_call", {"target_tool": TIDE}, "the right tool is tides.next"),
        ("request_for_info", {"question": "From DUN  Laoghaire?"}, "still stands in the question"),
        ("request_for_info", {"orig_question": "A seat on the upper deck, please."}, "was not rewritten"),
        ("request_for_info", {"held_out_param": GONE}, "does not say which parameter"),
        ("request_for_info", {"held_out_param": "deck"}, "'deck', whose value was taken out, is not required"),
        ("request_for_info", {"held_out_param": "port"}, "the right tool has no parameter 'port'"),
        ("cannot_answer", {"tools": [FERRY]}, "the tool that was to be taken away, ferries.book, is still offered"),
        ("cannot_answer", {"tools": [{**FERRY, "name": "boats.book"}]}, "boats.book is still offered"),
    ],
)
def test_labels_that_are_seen_to_be_wrong_are_flagged(
    tmp_path: Path, kind: str, changes: dict[str, Any], fault: str
) -> None:
    task = task_of(tmp_path, kind=kind, **changes)
    assert fault in task.meta["label_fault"]
    assert task.meta["decision"] == DECISIONS[kind]  # type: ignore[index]


@pytest.mark.parametrize(
    ("value", "stands"),
    [
        ("Blue Line", True),
        ("blue-line", True),
        ("Line", True),
        ("Blue Lin", False),
        ("20", False),
        ("2031", True),
        (203, False),
        (True, False),
        (None, False),
        ([], False),
        ({"line": ["blue"], "year": 2031, "open": True}, True),
        ({"line": "blue", "year": 2032}, False),
    ],
)
def test_whether_a_value_stands_in_a_question(value: Any, stands: bool) -> None:
    assert stands_in(value, "Was the Blue line open in 2031?") is stands


def test_a_call_that_contradicts_its_tool_is_flagged_and_the_tool_loosened(tmp_path: Path) -> None:
    call = {"name": "ferries.book", "arguments": {"seats": "two", "captain": "Ann"}}
    task = task_of(tmp_path, answers=answers(call))
    faults = task.meta["gold_fault"].split("; ")
    assert "no document has the argument 'captain'" in faults[0]
    assert [fault.partition(": ")[2] for fault in faults[1:]] == [
        "the answer \"two\" does not fit the documented 'seats'",
        "the answer leaves out 'harbour', which is required",
    ]
    assert task.goal_of(CallsGoal).turns[0][0].arguments == {"seats": ("two",)}
    assert task.tools[0].required == ()
    assert task.tools[1].name == "tides.next"


# Training files.

STATIONS = {
    "name": "stations",
    "description": "Stations nearby.",
    "parameters": {
        "type": "dict",
        "properties": {
            "region": {"type": "str", "description": "Which.", "default": ""},
            "radius": {"type": "int, optional", "description": "Kilometres.", "default": "5"},
        },
    },
    "required": ["region"],
}


def said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


CALLED = '<TOOLCALL>[{"name": "stations", "arguments": {"region": "nz", "radius": 5}}]</TOOLCALL>'


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("str", {"type": "string"}),
        ("int, optional", {"type": "integer"}),
        ("float", {"type": "float"}),
        ("bool, default True", {"type": "boolean"}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("typing.List[List], optional", {"type": "array", "items": {"type": "array"}}),
        ("Tuple[int, int]", {"type": "array"}),
        ("list", {"type": "array"}),
        ("Optional[Dict[str, int]]", {"type": "dict"}),
        ("List[Union[int, float]]", {"type": "array", "items": {"type": "any"}}),
        ("Callable[[float], float]", {"type": "any"}),
        ("string", {"type": "string"}),
        ("not an annotation!", {"type": "any"}),
    ],
)  # fmt: skip
def test_python_annotations_become_bfcl_types(annotation: str, expected: dict[str, Any]) -> None:
    document = {"name": "f", "parameters": {"properties": {"x": {"type": annotation, "description": "d"}}}}
    properties = bfcl_form(document)["parameters"]["properties"]
    assert properties == {"x": {**expected, "description": "d"}}


def test_training_rows_become_tasks(tmp_path: Path) -> None:
    user = said("user", "Where can I charge in New Zealand?")
    write(
        tmp_path,
        {"tools": [STATIONS], "messages": [user, said("assistant", CALLED)]},
        {"tools": [json.dumps(STATIONS)], "messages": [user, said("assistant", "Which region?")]},
        {"tools": [], "messages": [user, said("assistant", CALLED)]},
        {"tools": [STATIONS], "messages": [user, said("assistant", "<TOOLCALL>stations()</TOOLCALL>")]},
        {"tools": [STATIONS, STATIONS], "messages": [user, said("assistant", "Twice.")]},
        which="sft",
    )
    rows = load_rows(tmp_path, "sft").rows
    assert [each.number for each in rows] == [1, 2, 3, 4, 5]
    assert (rows[0].reply, rows[0].rejected) == (CALLED, None)
    tasks = load_train(tmp_path, "sft", lambda words: "ask")
    assert [(task.id, task.meta["decision"]) for task in tasks] == [("sft/1", "call"), ("sft/2", "ask")]
    gold = tasks[0].goal_of(CallsGoal)
    assert gold is not None
    assert gold.turns[0][0] == GoldCall(
        name="stations", arguments={"region": ("nz",), "radius": (5,)}, optional=("radius",)
    )
    assert tasks[0].tools == tasks[1].tools
    schema = tasks[0].tools[0].parameters
    assert schema["required"] == ["region"]
    assert schema["properties"] == {
        "region": {"type": "string", "description": "Which.", "default": ""},
        "radius": {"type": "integer", "description": "Kilometres.", "default": 5},
    }
    assert tasks[1].goal == DecisionGoal(decision="ask", reply="Which region?", worded=True)
    assert {task.split for task in tasks} == {"train"}


def test_preference_rows_have_both_replies(tmp_path: Path) -> None:
    pair = {"chosen_response": said("assistant", "Which region?"), "rejected_response": said("assistant", CALLED)}
    made = {"tools": [STATIONS], "messages": [said("user", "Where?")], **pair}
    write(tmp_path, made, {**made, "chosen_reward": 1.0, "rejected_reward": 0.0}, which="preference")
    rows = load_rows(tmp_path, "preference").rows
    assert [(each.reply, each.rejected) for each in rows] == [("Which region?", CALLED)] * 2
    (task, _) = load_train(tmp_path, "preference", lambda words: "ask")
    assert task.meta["rejected"] == CALLED


@pytest.mark.parametrize(
    "changes",
    [{"messages": []}, {"messages": [said("user", "a")]}, {"messages": [said("user", "a"), said("user", "b")]},
     {"messages": [said("judge", "a"), said("assistant", "b")]}, {"messages": None}, {"tools": [{"name": ""}]},
     {"messages": [said("assistant", "b")]}, {"messages": [said("user", "a"), {"role": "assistant", "content": None}]}],
)  # fmt: skip
def test_a_damaged_training_row_is_named(tmp_path: Path, changes: dict[str, Any]) -> None:
    good = {"tools": [STATIONS], "messages": [said("user", "a"), said("assistant", "b")]}
    write(tmp_path, good, {**good, **changes}, which="sft")
    with pytest.raises(DataError, match=r"when2call_train_sft\.jsonl, row 2: cannot be read"):
        load_rows(tmp_path, "sft")


def test_calls_are_read_from_their_tags() -> None:
    call = ToolCall(name="stations", arguments={"region": "nz", "radius": 5})
    quoted = json.dumps([json.dumps({"name": call.name, "arguments": call.arguments})])
    assert calls_in(CALLED) == (call,)
    assert calls_in(f"<TOOLCALL>{quoted}</TOOLCALL>") == (call,)
    assert calls_in(f"<TOOLCALL>{json.loads(quoted)[0]}") == (call,)
    assert calls_in("Which region?") == ()
    for damaged in ("<TOOLCALL>", "<TOOLCALL>[1]</TOOLCALL>", '<TOOLCALL>[{"name": ""}]</TOOLCALL>'):
        with pytest.raises((ValueError, TypeError, KeyError)):
            calls_in(damaged)


# Choices.


@pytest.mark.parametrize(
    ("family", "written"),
    [
        ("default", '{"name": "f", "arguments": {"a": "x\\"y", "b": [1, null, true]}}'),
        ("qwen2_5", '{"name": "f", "arguments": {"a": "x\\"y", "b": [1, null, true]}}'),
        ("llama3_2", '[f(a="x"y", b=[1, None, True])]'),
        ("nemotron", '<toolcall> {"name": "f", "arguments": {"a": "x\\"y", "b": [1, null, true]}} </toolcall>'),
        ("xlam", '{\n\t"tool_calls": [\n\t{"name": "f", "arguments": {"a": "x\\"y", "b": [1, null, true]}}\n\t]\n}'),
        ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x\\"y", "b": [1, null, true]}}\n</tool_call>'),
        ("functionary", '<function=f>{"a": ""x\\"y"", "b": "[1, null, true]"}</function>'),
    ],
)
def test_each_family_writes_the_call_as_officially(family: str, written: str) -> None:
    made: dict[Answer, str] = {kind: kind for kind in ANSWERS}
    made["tool_call"] = json.dumps({"name": "f", "arguments": {"a": 'x"y', "b": [1, None, True]}})
    assert choices_of(made, family) == ("direct", written, "request_for_info", "cannot_answer")


def test_calls_without_arguments_and_calls_that_are_none() -> None:
    assert write_call('{"name": "f", "arguments": {}}', "llama3_2") == "[f()]"
    assert write_call('{"name": "f", "parameters": {"a": 1}}', "functionary") == '<function=f>{"a": "1"}</function>'
    with pytest.raises(ConfigurationError, match="no family 'gpt'; there are: default, qwen2_5"):
        write_call("{}", "gpt")
    for family in ("llama3_2", "functionary"):
        for text in ("{}", "[]", "", "[" * 30_000, '{"name": "f", "arguments": 1}'):
            with pytest.raises(DataError, match=f"no call for {family}: "):
                write_call(text, family)
    assert len(FAMILIES) == 7


# Metrics.


def test_the_first_of_equals_is_chosen() -> None:
    assert choose([-3.0, -3.0, -3.0], ["aa", "a", "aaa"]) == (0, 2)
    assert choose([-4.0, -2.0, -6.0], ["aa", "a", "aaa"]) == (1, 0)
    assert choose([-math.inf, -math.inf, -1e300], ["a", "b", "c"]) == (2, 2)
    assert choose([1.0, 0.5], ["aaaa", "a"]) == (0, 1)
    assert choose([-6.0, -7.0], ["ééé", "aaa"]) == (0, 0)  # characters, not bytes


@pytest.mark.parametrize(
    ("values", "choices", "fault"),
    [
        ([], [], "0 log-likelihoods for 0 choices"),
        ([1.0], ["a", "b"], "1 log-likelihoods for 2 choices"),
        ([math.nan, 1.0], ["a", "b"], "not a number"),
        ([1.0, 2.0], ["a", ""], "a choice is empty"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(values: list[float], choices: list[str], fault: str) -> None:
    with pytest.raises(DataError, match=fault):
        choose(values, choices)
    with pytest.raises(DataError, match="a row has 4 choices"):
        decide("direct", [1.0], ["a"], 0)


kinds = st.sampled_from(ANSWERS)
decisions = st.lists(st.builds(Decided, kinds, st.none() | kinds, st.none() | kinds, st.integers(0, 2)), max_size=40)


def plain_macro_f1(pairs: list[tuple[Answer, Answer | None]]) -> float | None:
    """By the textbook: precision and recall of each kind that occurs, 0 where undefined."""
    scores = []
    for kind in sorted({kind for pair in pairs for kind in pair if kind is not None}):
        hits = sum(gold == chosen == kind for gold, chosen in pairs)
        wrong = sum(chosen == kind != gold for gold, chosen in pairs)
        missed = sum(gold == kind != chosen for gold, chosen in pairs)
        precision = hits / (hits + wrong) if hits + wrong else 0.0
        recall = hits / (hits + missed) if hits + missed else 0.0
        scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return sum(scores) / len(scores) if scores else None


def near(found: float | None, expected: float | None) -> bool:
    return found == expected if found is None or expected is None else abs(found - expected) < 1e-12


@given(decisions)
def test_the_report_counts_as_a_plain_reimplementation_does(rows: list[Decided]) -> None:
    report = mcq_report(rows)
    raw = [(row.gold, row.raw) for row in rows]
    normalised = [(row.gold, row.normalised) for row in rows]
    assert near(report.macro_f1, plain_macro_f1(raw))
    assert near(report.macro_f1_normalised, plain_macro_f1(normalised))
    assert report.accuracy == (sum(gold == chosen for gold, chosen in raw) / len(rows) if rows else None)
    for gold, counts in zip(ANSWERS, report.confusion, strict=True):
        assert list(counts) == [raw.count((gold, chosen)) for chosen in ANSWERS]
    assert sum(map(sum, report.confusion)) + report.unread == report.rows == len(rows)
    bare = [row for row in rows if row.gold == "cannot_answer" and row.tools == 0]
    assert report.rows_without_tools == len(bare)
    called = sum(row.raw == "tool_call" for row in bare)
    assert report.hallucination_rate == (called / len(bare) if bare else 0.0)
    seen = {kind for pair in raw for kind in pair if kind is not None}
    assert (report.official_error is None) == (len(seen) == 4)
    assert json.loads(report.to_json())["confusion"]["direct"]["tool_call"] == report.confusion[0][1]
    assert "tool hallucination" in report.table()
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.rows = 0  # type: ignore[misc]


@given(st.lists(st.tuples(kinds, st.sampled_from(["direct_answer", *ANSWERS, "other", ""])), max_size=30))
def test_the_judges_totals(pairs: list[tuple[Answer, str]]) -> None:
    report = judge_report(pairs)
    golds = [gold for gold, _ in pairs]
    for kind, score in report.scores.items():
        counts = Counter(said for gold, said in pairs if gold == kind)
        assert report.distribution[kind] == counts
        assert score == (counts[kind] / golds.count(kind) if kind in golds else None)
    if "direct" in golds:
        assert report.official_error == "KeyError: 'direct'"
    elif not {"tool_call", "request_for_info", "cannot_answer"} <= set(golds):
        assert report.official_error == "ZeroDivisionError: division by zero"
    else:
        assert report.official_error is None
        assert report.official is not None
        assert {kind: each["score"] for kind, each in report.official.items()} == report.scores
    assert json.loads(report.to_json())["scores"] == report.scores
    assert report.table().startswith("score of tool_call")


def test_a_judges_words_are_read_as_kinds() -> None:
    said = [("tool_call", "tool_call"), ("cannot_answer", "direct_answer"), ("cannot_answer", "tool_call")]
    report = judge_report(said, tools=[1, 0, 0]).report  # type: ignore[arg-type]
    assert report.confusion[3] == (1, 1, 0, 0)
    assert report.hallucination_rate == 0.5
    assert judge_report(said).report.rows_without_tools == 0  # type: ignore[arg-type]
    assert judge_report([("tool_call", "sorry?")]).report.unread == 1


# Parity.


def test_every_fixture_agrees(official_data: Path) -> None:
    folder = official_data / "when2call_parity"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    counts: Counter[str] = Counter()
    for case in cases(folder, str(official_data / "when2call")):
        assert case.agree, case
        counts[case.file] += 1
    assert counts["mcq_rows"] >= 206
    assert counts["mcq_aggregates"] >= 13
    assert counts["judge_aggregates"] >= 19
    assert next(cases(folder)).agree  # the files beside the fixtures


def fixture_row(**changes: Any) -> dict[str, Any]:
    made = {"case": "1", "uuid": "row-tool_call", "variant": "default", "target_index": 1}
    made |= {"choices": list(answers().values()), "loglikelihoods": [-1, -0.5, -2, -3]}
    return {**made, "acc": 1.0, "acc_norm": 1.0, "pred": 1, "pred_norm": 1, **changes}


def test_disagreements_and_damaged_fixtures_are_named(tmp_path: Path) -> None:
    write(tmp_path / "when2call", row())
    fixtures = tmp_path / "fixtures"
    fixtures.mkdir()
    with pytest.raises(DataError, match=r"holds none of mcq_rows\.jsonl\[\.gz\]"):
        list(cases(fixtures))

    def found(*rows: Any) -> list[bool]:
        with gzip.open(fixtures / "mcq_rows.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(each) + "\n" for each in rows)
        return [case.agree for case in cases(fixtures) if "(" not in case.file]

    assert found(fixture_row()) == [True]
    assert found(fixture_row(), fixture_row(pred=0), fixture_row(choices=["a"])) == [True, False, False]
    assert found(fixture_row(acc=True)) == [True]
    damages: list[Any] = [fixture_row(uuid="who"), {"case": "1"}, [], fixture_row(loglikelihoods=[1])]
    for damaged in damages:
        with pytest.raises(DataError):
            found(damaged)
    (fixtures / "mcq_rows.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match="not compressed JSON Lines"):
        list(cases(fixtures))


def test_a_number_that_is_off_by_more_than_the_tolerance_disagrees(tmp_path: Path) -> None:
    write(tmp_path / "when2call", row())
    item = {"correct_answer": "tool_call", "classification": "tool_call"}
    golds = [item, *({**item, "correct_answer": kind} for kind in ("request_for_info", "cannot_answer"))]
    official = judge_report((each["correct_answer"], each["classification"]) for each in golds).official  # type: ignore[misc]
    for off, agree in ((1e-10, True), (1e-8, False)):
        expected = json.loads(json.dumps(official))
        expected["tool_call"]["score"] += off
        text = json.dumps({"case": "1", "items": golds, "official": expected})
        (tmp_path / "judge_aggregates.jsonl").write_text(text)
        assert [case.agree for case in cases(tmp_path, str(tmp_path / "when2call"))] == [agree]


# The real files, where they are.

FLAGGED = (38, 104, 139, 159, 171, 176, 182, 183, 184)
"""Rows of the judge's file whose label is seen to be wrong or in doubt."""


@pytest.fixture(scope="module")
def real(official_data: Path) -> Path:
    folder = official_data / "when2call"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


def test_the_real_rows(real: Path) -> None:
    tasks = load_open(real)
    assert Counter(str(task.meta["decision"]) for task in tasks) == {"call": 100, "ask": 100, "decline": 100}
    assert tuple(number for number, task in enumerate(tasks, 1) if "label_fault" in task.meta) == FLAGGED
    assert [number for number, task in enumerate(tasks, 1) if "gold_fault" in task.meta] == [243, 293]
    assert sum(not task.tools for task in tasks) == 17
    assert {task.meta["decision"] for task in tasks if not task.tools} == {"decline"}
    for task in tasks:
        goal = task.goal_of(DecisionGoal)
        assert goal is not None
        assert goal.worded
        assert len(goal.missing) == (goal.decision == "ask")
        calls = task.goal_of(CallsGoal)
        assert (calls is not None) == (goal.decision == "call")
        if calls is not None:
            assert calls.turns[0][0].name in {tool.name for tool in task.tools}
    with pytest.warns(DataNotice):
        assert load_mcq(real) == tasks


# Fetching.

CONTENT = {name: f"{name}\n".encode() * 9 for name in FILES.values()}
LICENCE = "licence: When2Call's repository says Apache-2.0"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Site:
    """The hub and GitHub in one folder, served over HTTP."""

    def __init__(self, folder: Path, pins: Pins) -> None:
        self.hub = folder / f"datasets/{pins.hub_dataset}/resolve/{pins.hub_revision}"
        tail = f"{pins.repository}/{pins.commit}/data"
        self.lfs, self.plain = folder / "media" / tail, folder / "raw" / tail

    def publish(self, place: Path, *names: str) -> None:
        for name in names or FILES.values():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(CONTENT[name])


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Pins:
    own = dataclasses.replace(PINS, files={name: sha256(content) for name, content in CONTENT.items()})
    monkeypatch.setattr(fetch, "PINS", own)
    return own


@pytest.fixture
def site(tmp_path: Path, pins: Pins, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    pytest.importorskip("httpx")
    folder = tmp_path / "site"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "_BACKOFF_S", 0.0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", f"{url}/")
    monkeypatch.setattr(fetch, "_LFS", f"{url}/media")
    monkeypatch.setattr(fetch, "_PLAIN", f"{url}/raw")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield Site(folder, pins)
    server.shutdown()
    server.server_close()
    thread.join()


def fetched() -> dict[str, bytes]:
    folder = cache_folder() / "when2call"
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop("callgym-manifest.json", None)
    return found


def test_the_files_come_from_the_hub(site: Site) -> None:
    site.publish(site.hub)
    result = download_when2call()
    assert fetched() == CONTENT
    assert {path.name for path in result.files} == {name.partition("/")[2] for name in CONTENT}
    assert [note[: len(LICENCE)] for note in result.notes] == [LICENCE]
    verify(cache_folder() / "when2call")
    assert [path.name for path in cache_folder().iterdir()] == ["when2call"]


def test_what_the_hub_has_not_comes_from_github(site: Site) -> None:
    site.publish(site.hub, FILES["sft"])
    (site.hub / FILES["sft"]).write_bytes(b"another file")
    site.publish(site.lfs, FILES["mcq"], FILES["sft"], FILES["preference"])
    site.publish(site.plain, FILES["judge"])
    download_when2call()
    assert fetched() == CONTENT


def test_what_nobody_has_is_an_error_and_the_rest_is_kept(site: Site, pins: Pins) -> None:
    site.publish(site.hub, FILES["judge"], FILES["mcq"])
    with pytest.raises(DownloadError) as raised:
        download_when2call()
    message = str(raised.value)
    assert "/resolve/" in message
    assert "/media/" in message
    assert message.count("the server answered 404") == 2
    assert message.count("callgym fetch when2call --from FOLDER") == 1
    assert fetched() == {}
    (site.hub / FILES["mcq"]).unlink()
    site.publish(site.hub, FILES["sft"], FILES["preference"])
    download_when2call()
    assert fetched() == CONTENT


@pytest.mark.parametrize("inner", ["", "data"])
def test_a_folder_is_taken_without_pointers(tmp_path: Path, pins: Pins, inner: str) -> None:
    mine = tmp_path / "mine"
    for name in (FILES["judge"], FILES["sft"]):
        (mine / inner / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / inner / name).write_bytes(CONTENT[name])
    (mine / inner / FILES["mcq"]).write_text(POINTER)
    (mine / inner / FILES["sft"]).write_bytes(b"{}")
    result = copy_when2call(mine)
    assert fetched() == {FILES["judge"]: CONTENT[FILES["judge"]], FILES["sft"]: b"{}"}
    licence, mcq, preference, differs = result.notes
    assert licence.startswith(LICENCE)
    assert mcq.startswith(f"{FILES['mcq']}: a Git LFS pointer, left out")
    assert preference.startswith(f"{FILES['preference']}: not in ")
    assert differs.startswith(f"{FILES['sft']}: not the file of ecc8d42")
    verify(cache_folder() / "when2call")


def test_a_folder_without_a_test_file_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    with pytest.raises(DataError, match="is not a folder"):
        copy_when2call(mine)
    (mine / "test").mkdir(parents=True)
    (mine / FILES["judge"]).write_text(POINTER)
    with pytest.raises(DataError, match="has neither"):
        copy_when2call(mine)


def test_the_real_files_are_taken(real: Path) -> None:
    result = copy_when2call(real)
    assert sha256((real / FILES["judge"]).read_bytes()) == PINS.files[FILES["judge"]]
    assert not any("SHA-256" in note for note in result.notes)
    assert len(load_open(cache_folder() / "when2call")) == 300


def test_the_pins_name_every_file() -> None:
    assert list(PINS.files) == list(FILES.values())
    assert all(len(each) == 64 and int(each, 16) for each in PINS.files.values())
    assert len(PINS.commit) == len(PINS.hub_revision) == 40
