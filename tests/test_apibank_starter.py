"""The starter tasks of API-Bank's shape: many, distinct, seeded, split cleanly, and solvable by their gold calls."""

from __future__ import annotations

import calendar
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym.call import ToolCall
from callgym.envs.apibank.starter import TOOLS, generate, starter_backend, starter_tasks
from callgym.envs.apibank.starter.templates import FORMS, UNSERVED
from callgym.envs.apibank.starter.tools import SEARCH_KEYWORDS, TOKEN_TOOLS
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool_backends.base import checked_call

LEVELS, COUNTS = (1, 2, 3), {"train": 4_000, "test": 500}
SCHEMAS = {name: ToolSchema(tool) for name, tool in TOOLS.items()}
SHARES = {
    1: {"one_call": 0.35, "several_call": 0.25, "needs_token": 0.25, "no_tool_fits": 0.15},
    2: {"must_search_first": 0.35, "call_after_search": 0.50, "no_tool_fits": 0.15},
    3: {"search": 0.38, "call": 0.50, "no_tool_fits": 0.12},
}
MONTHS = tuple(calendar.month_name)[1:]
SEARCHED = {keywords[0]: name for name, keywords in SEARCH_KEYWORDS.items()}
SAID_FLAGS = {
    "breakfast": ("without breakfast", "with breakfast"),
    "helmet": ("without a helmet", "with a helmet"),
    "on": ("off", "on"),
}


def each_task() -> Iterator[tuple[int, Task]]:
    for level in LEVELS:
        for split in COUNTS:
            for task in starter_tasks(level, split):
                yield level, task


def gold_call(task: Task) -> GoldCall | None:
    goal = task.goal_of(CallsGoal)
    return None if goal is None else goal.turns[0][0]


def prompt_text(task: Task) -> str:
    """Everything the policy can read values from: not the documentation."""
    calls = [json.dumps(call.arguments) for message in task.messages for call in message.tool_calls]
    return "\n".join([message.content or "" for message in task.messages] + calls)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("split", COUNTS)
def test_counts_and_distinctness(level: int, split: str) -> None:
    tasks = starter_tasks(level, split)
    assert len(tasks) == COUNTS[split]
    assert len({task.id for task in tasks}) == len(tasks)
    contents = {
        json.dumps([[t.name for t in task.tools], [m.as_chat() for m in task.messages], task.goal.model_dump()])
        for task in tasks
    }
    assert len(contents) == len(tasks)
    assert tasks[0].id == f"starter/L{level}/{split}/000000"
    assert {task.split for task in tasks} == {split}
    assert starter_tasks(level, split) is tasks


@pytest.mark.parametrize("level", LEVELS)
def test_other_seeds_give_other_tasks_and_endlessly(level: int) -> None:
    more = list(islice(generate(level, "train", seed=7), 300))
    first = starter_tasks(level, "train")[:300]
    assert len({task.id for task in more} | {task.id for task in first}) == 600
    assert sum(a.messages == b.messages for a, b in zip(first, more, strict=True)) == 0


def test_splits_share_no_pair_of_template_and_entity() -> None:
    pairs: dict[str, set[str]] = {"train": set(), "test": set()}
    for _, task in each_task():
        mine = task.meta["pairs"]
        assert isinstance(mine, list)
        assert mine, task.id
        pairs[task.split].update(str(pair) for pair in mine)
    assert pairs["train"] & pairs["test"] == set()
    assert len(pairs["test"]) > 1_000


def test_splits_share_no_pair_that_the_gold_calls_show() -> None:
    """As above, without relying on what a task says of itself; a year is no part of the entity."""
    closed = {"token", "source", "target"}
    pairs: dict[str, set[tuple[str, str]]] = {"train": set(), "test": set()}
    for _, task in each_task():
        gold, template = gold_call(task), str(task.meta["template"])
        if gold is None or not template.startswith((f"{gold.name}/clause", f"{gold.name}/answer", "login")):
            continue
        for name, (value, *_) in gold.arguments.items():
            if isinstance(value, str) and name not in closed and (gold.name, name) != ("GetToken", "password"):
                pairs[task.split].add((template, re.sub(r"^\d{4}-(?=\d\d-)", "", value)))
    assert pairs["train"] & pairs["test"] == set()
    assert len(pairs["test"]) > 500


@pytest.mark.parametrize("level", LEVELS)
def test_every_tool_is_called_or_searched_in_both_splits(level: int) -> None:
    for split in COUNTS:
        asked = [call for task in starter_tasks(level, split) if (call := gold_call(task))]
        wanted = {str(call.arguments.get("keywords", (call.name,))[0]) for call in asked}
        assert {SEARCHED.get(name, name) for name in wanted} == {*FORMS, "GetToken"}


@pytest.mark.parametrize("level", LEVELS)
def test_shares_of_kinds(level: int) -> None:
    for split, slack in (("train", 0.03), ("test", 0.07)):
        tasks = starter_tasks(level, split)
        counted = Counter(str(task.meta["kind"]) for task in tasks)
        assert set(counted) == set(SHARES[level])
        for kind, share in SHARES[level].items():
            assert counted[kind] / len(tasks) == pytest.approx(share, abs=slack)


def test_declining_is_right_exactly_where_no_tool_fits() -> None:
    for _, task in each_task():
        declines = task.goal_of(DecisionGoal)
        assert (declines is not None) == (task.meta["kind"] == "no_tool_fits")
        if declines is not None:
            assert declines.decision == "decline"
            assert declines.reply


def test_gold_calls_are_valid_and_succeed_in_a_fresh_session() -> None:
    backend = starter_backend()
    for _, task in each_task():
        gold = gold_call(task)
        if gold is None:
            continue
        before = repr(task.initial_state)
        schemas = {tool.name: SCHEMAS[tool.name] for tool in task.tools}
        session = backend.open(task, seed=0)
        result = checked_call(session, gold.reference(), schemas)
        assert result.ok, (task.id, gold, result.message)
        assert repr(task.initial_state) == before
        session.close()


def test_gold_values_can_be_read_from_the_prompt() -> None:
    for _, task in each_task():
        gold = gold_call(task)
        if gold is None or gold.name == "ToolSearch":
            continue
        text = prompt_text(task)
        for name, (value, *_) in gold.arguments.items():
            assert is_said(name, value, text), (task.id, name, value, text)


def is_said(name: str, value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return re.search(rf"\b{SAID_FLAGS[name][value]}\b", text) is not None
    if isinstance(value, list):
        return all(is_said(name, item, text) for item in value)
    if re.search(rf"(?<![\w.]){re.escape(str(value))}(?!\w)", text):
        return True
    moment = re.fullmatch(r"(\d+)-(\d+)-(\d+)(?: (\d+):(\d+):00)?", str(value))
    if moment is None:
        return False
    year, month, day, hour, minute = moment.groups()
    said = f"{MONTHS[int(month) - 1]} {int(day)}"
    if hour is not None:
        said += f" at {int(hour) % 12 or 12}" + (f":{minute}" if minute != "00" else "")
        said += " am" if int(hour) < 12 else " pm"
    return f"Today is {year}-" in text and re.search(rf"{said}\b", text) is not None


def test_documented_tools_of_each_level() -> None:
    for level, task in each_task():
        names = [tool.name for tool in task.tools]
        assert task.documented is not None
        if level == 1:
            assert 1 <= len(names) <= 3
            assert task.documented == tuple(names)
        else:
            assert task.documented == ("ToolSearch",)
            found = [m.content or "" for m in task.messages if m.role == "tool" and m.name == "ToolSearch"]
            assert names[0] == "ToolSearch"
            assert all(any(f"{{'name': '{name}'" in text for text in found) for name in names[1:])
        gold = gold_call(task)
        assert gold is None or gold.name in names
        assert all(tool is TOOLS[tool.name] for tool in task.tools)


def test_a_level_1_history_starts_short_and_ends_with_someone_to_answer() -> None:
    for _, task in each_task():
        assert re.fullmatch(r"Today is \d{4}-\d\d-\d\d\.", task.messages[0].content or "")
        assert task.messages[-1].role in ("user", "tool")
        assert len(json.dumps(task.initial_state)) < 600


@pytest.mark.parametrize("name", SEARCH_KEYWORDS)
def test_every_accepted_keyword_finds_its_tool(name: str) -> None:
    session = starter_backend().open(starter_tasks(2, "test")[0], seed=0)
    for keywords in SEARCH_KEYWORDS[name]:
        found: Any = session.call(ToolCall(name="ToolSearch", arguments={"keywords": keywords})).content
        if name in TOKEN_TOOLS:
            token, found = found
            assert token["name"] == "GetToken"
        assert found == TOOLS[name].meta["documentation"]


def test_accepted_keywords_of_level_2_and_3() -> None:
    for level in (2, 3):
        for task in starter_tasks(level, "test"):
            gold = gold_call(task)
            if gold is not None and gold.name == "ToolSearch":
                accepted = gold.arguments["keywords"]
                if level == 3:
                    assert len(accepted) == 1
                    assert accepted[0] in SEARCH_KEYWORDS
                else:
                    assert accepted in SEARCH_KEYWORDS.values()


def test_unserved_wishes_still_find_some_tool() -> None:
    session = starter_backend().open(starter_tasks(2, "test")[0], seed=0)
    for wish in UNSERVED:
        assert session.call(ToolCall(name="ToolSearch", arguments={"keywords": wish.keywords})).ok


def test_documentation_has_the_benchmarks_shape() -> None:
    assert len(TOOLS) >= 22
    for name, tool in TOOLS.items():
        document: Any = tool.meta["documentation"]
        assert list(document) == ["name", "description", "input_parameters", "output_parameters"]
        assert document["name"] == name
        assert list(document["input_parameters"]) == list(tool.properties) == list(tool.required)
        assert tool.parameters["additionalProperties"] is False
        assert len(tool.description.split()) <= 8
    types = {schema["type"] for tool in TOOLS.values() for schema in tool.properties.values()}
    assert types == {"string", "integer", "number", "boolean", "array"}


@pytest.mark.parametrize("split", ["Train", "dev", ""])
def test_unknown_split_is_named(split: str) -> None:
    with pytest.raises(ConfigurationError, match=f"split '{split}'"):
        starter_tasks(1, split)
    with pytest.raises(ConfigurationError, match=f"split '{split}'"):
        generate(1, split)


@pytest.mark.parametrize("level", [0, 4, -1])
def test_unknown_level_is_named(level: int) -> None:
    with pytest.raises(ConfigurationError, match=f"level {level}"):
        starter_tasks(level, "train")


FINGERPRINT = """
import hashlib, itertools
from callgym.envs.apibank.starter import generate
digest = hashlib.sha256()
for level in (1, 2, 3):
    for split in ("train", "test"):
        for task in itertools.islice(generate(level, split), 200):
            digest.update(task.to_json().encode())
print(digest.hexdigest())
"""


def test_tasks_do_not_depend_on_the_hash_seed() -> None:
    digests = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", FINGERPRINT], capture_output=True, text=True, check=True, env=environment
        )
        digests.add(run.stdout)
    assert len(digests) == 1


def test_a_task_survives_json() -> None:
    for level in LEVELS:
        for task in starter_tasks(level, "test")[:100]:
            assert Task.from_json(task.to_json()) == task


def test_sessions_do_not_leak_into_each_other_or_the_task() -> None:
    backend = starter_backend()
    task = next(t for t in starter_tasks(1, "test") if (g := gold_call(t)) and g.name == "SendMoney")
    gold = gold_call(task)
    assert gold is not None
    before = json.dumps(task.initial_state)
    one, other = backend.open(task, 0), backend.open(task, 0)
    untouched = other.state()
    assert one.call(gold.reference()).ok
    assert one.state() != untouched
    assert other.state() == untouched == json.loads(before)
    assert json.dumps(task.initial_state) == before
    one.state().clear()
    assert one.state()


def test_changing_a_search_answer_changes_no_documentation() -> None:
    session = starter_backend().open(starter_tasks(2, "test")[0], seed=0)
    call = ToolCall(name="ToolSearch", arguments={"keywords": "set alarm"})
    found: Any = session.call(call).content
    found[1]["description"] = "spoilt"
    again: Any = session.call(call).content
    assert again[1]["description"] == "Set an alarm."


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("GetToken", {"username": "nobody", "password": "x"}, "no such user"),
        ("SetAlarm", {"token": "wrong", "time": "2023-05-01 14:00:00"}, "token is not valid"),
        ("GetWeather", {"city": "Oslo", "date": "next week"}, "must be written like 2023-05-01"),
        ("GetWeather", {"city": "Oslo", "date": "2023-05-01"}, "Nothing is known"),
        ("SplitBill", {"amount": 10, "people": []}, "people are missing"),
        ("SplitBill", {"amount": 1e300, "people": ["Ann"]}, "amount must lie between"),
        ("ReserveSeat", {"train": "R1", "seats": 0}, "seats must lie between"),
        ("ReserveSeat", {"train": "R1", "seats": 2}, "no train like that"),
        ("SwitchLamp", {"lamp": "  ", "on": True}, "lamp is empty"),
        ("ToolSearch", {"keywords": "東京"}, "No tool matches"),
    ],
)
def test_what_cannot_be_done_is_said(name: str, arguments: dict[str, Any], message: str) -> None:
    task = Task(id="x", family="apibank", split="test", messages=starter_tasks(1, "test")[0].messages, goal=GOAL)
    result = starter_backend().open(task, seed=0).call(ToolCall(name=name, arguments=arguments))
    assert result.error == "tool_error"
    assert message in result.message


GOAL = DecisionGoal(decision="decline")
ODD_TEXT = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", " ", "2023-02-30", "2023-05-01 14:00:00", "9999-99-99 99:99:99", "\x00", "a/b", "EUR"]),
)
ODD_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": ODD_TEXT,
    "integer": st.one_of(st.integers(), st.sampled_from([3.0, -0.0, 10**400, 1e300])),
    "number": st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.just(10**400)),
    "boolean": st.booleans(),
    "array": st.lists(ODD_TEXT, max_size=3),
}


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_odd_but_valid_arguments_never_raise(data: st.DataObject) -> None:
    level = data.draw(st.sampled_from(LEVELS))
    task = data.draw(st.sampled_from(starter_tasks(level, "test")[:100]))
    session = starter_backend().open(task, seed=0)
    known = known_values(task.initial_state)
    for _ in range(data.draw(st.integers(1, 4))):
        tool = TOOLS[data.draw(st.sampled_from(sorted(TOOLS)))]
        arguments = {
            name: data.draw(
                st.one_of(ODD_VALUES[schema["type"]], st.sampled_from(known[schema["type"]] or [None])).filter(
                    lambda value: value is not None
                )
            )
            for name, schema in tool.properties.items()
        }
        call = ToolCall(name=tool.name, arguments=arguments)
        result = checked_call(session, call, SCHEMAS)
        assert result.error in (None, "tool_error")
        json.dumps(session.state(), allow_nan=False)


def known_values(state: Any) -> dict[str, list[Any]]:
    """Values and keys of the state by type, so that calls get past the first check."""
    known: dict[str, list[Any]] = {"string": [], "integer": [], "number": [], "boolean": [], "array": []}
    pending = [state]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, str):
            known["string"].append(item)
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            known["number"].append(item)
    return known


def test_cancelling_in_a_world_without_alarms_is_a_tool_error() -> None:
    task = next(task for task in starter_tasks(1, "train") if "CancelAlarm" in {tool.name for tool in task.tools})
    session = starter_backend().open(task.model_copy(update={"initial_state": {"accounts": {
        "mia": {"password": "p", "token": "abc", "balance": 1.0}}}}), 0)  # fmt: skip
    result = session.call(ToolCall(name="CancelAlarm", arguments={"token": "abc", "time": "2024-01-01 10:00:00"}))
    assert result.error == "tool_error"
