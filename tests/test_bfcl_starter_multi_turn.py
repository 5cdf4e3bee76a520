"""The starter dialogues of BFCL's multi-turn categories: their gold is right, needed, and can be found out."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from callgym.call import ToolCall
from callgym.envs.bfcl.env import BfclEnv
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.multi_turn_tasks import REVEAL, parse_gold_call
from callgym.envs.bfcl.official.multi_turn import score
from callgym.envs.bfcl.simulators.base import tools_of
from callgym.envs.bfcl.simulators.session import CLASSES, World, class_of
from callgym.envs.bfcl.starter.class_documents import CLASS_DOCUMENTS, starter_class_tools
from callgym.envs.bfcl.starter.multi_turn import STARTER_CATEGORIES, generate, starter_multi_turn
from callgym.envs.bfcl.starter.padding import HOLDERS, SCANS, SHELVES
from callgym.envs.bfcl.starter.tables import starter_tables
from callgym.envs.bfcl.starter.worlds_catalogue import MIXES
from callgym.envs.bfcl.turns import open_turns
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.json_value import copy_trusted
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool

COUNTS = {"train": 600, "test": 120}
EVERY = {"train": 12, "test": 3}
"""Of the tasks whose every call and value is put to the test."""
NOT_LOOKED_AT = {
    ("trading_login", "username"),
    ("trading_login", "password"),
    ("ticket_login", "password"),
    ("authenticate_travel", "client_id"),
    ("authenticate_travel", "client_secret"),
    ("authenticate_travel", "refresh_token"),
    ("purchase_insurance", "insurance_type"),
}
"""Values that the official classes neither keep nor answer with: another one makes no difference there."""
WORKED_OUT = {
    ("compute_exchange_rate", "base_currency"),
    ("compute_exchange_rate", "target_currency"),
    ("fillFuelTank", "fuelAmount"),
    ("fund_account", "amount"),
    ("imperial_si_conversion", "unit_in"),
    ("imperial_si_conversion", "unit_out"),
    ("pressBrakePedal", "pedalPosition"),
    ("si_unit_conversion", "unit_in"),
    ("si_unit_conversion", "unit_out"),
    ("tail", "lines"),
}
"""Values that a user may put otherwise ("all the way down", "to the brim", "the last line", "inches")."""
Turns = list[list[ToolCall]]


def tasks_of(*splits: str) -> Iterator[Task]:
    for category in STARTER_CATEGORIES:
        for split in splits or COUNTS:
            yield from starter_multi_turn(category, split)


def some_tasks(category: str) -> Iterator[Task]:
    for split, step in EVERY.items():
        yield from starter_multi_turn(category, split)[::step]


def gold_of(task: Task) -> Turns:
    goal = task.goal_of(CallsGoal)
    assert goal is not None
    return [[call.reference() for call in turn] for turn in goal.turns]


def words_of(task: Task) -> list[str]:
    return [task.messages[0].content or "", *(turn.content for turn in task.user_turns)]


def all_tools(task: Task) -> dict[str, Tool]:
    later = [tool for turn in task.user_turns for tool in turn.add_tools]
    return {tool.name: tool for tool in (*task.tools, *later)}


def played(task: Task, turns: Turns) -> list[dict[str, Any]]:
    """What is found after each turn of these calls."""
    session = open_turns(task, starter_tables())
    for calls in turns:
        for call in calls:
            session.tried()
            session.call(call)
        session.end_turn()
    found: list[dict[str, Any]] = session.state()["turns"]
    return found


def errors(task: Task, turns: Turns) -> list[Any]:
    return [turn["error"] for turn in played(task, turns)]


def world_of(task: Task) -> World:
    meta: dict[str, Any] = task.meta
    return World(meta["involved_classes"], task.initial_state, starter_tables(), meta["long_context"])


def as_entry(task: Task) -> dict[str, Any]:
    meta: dict[str, Any] = task.meta
    return {
        "id": task.id,
        "involved_classes": meta["involved_classes"],
        "initial_config": task.initial_state,
        "long_context": meta["long_context"],
    }


# --- shape ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
@pytest.mark.parametrize("split", COUNTS)
def test_counts_ids_and_distinctness(category: str, split: str) -> None:
    tasks = starter_multi_turn(category, split)
    assert len(tasks) == COUNTS[split]
    assert len({task.id for task in tasks}) == len(tasks)
    assert len({tuple(words_of(task)) for task in tasks}) == len(tasks)
    assert tasks[0].id == f"starter/{category}/{split}/000000"
    assert {(task.family, task.split) for task in tasks} == {("bfcl", split)}
    assert starter_multi_turn(category, split) is tasks


def test_tasks_have_the_shape_of_the_official_ones() -> None:
    for task in tasks_of():
        meta: dict[str, Any] = task.meta
        goal = task.goal_of(CallsGoal)
        assert goal is not None
        assert (goal.exemplary, goal.ordered) == (True, False)
        assert set(meta) - {"withheld"} == {
            "category", "source", "involved_classes", "gold", "long_context", "tables",
        }  # fmt: skip
        assert (meta["source"], meta["tables"]) == ("starter", "starter")
        assert meta["long_context"] is (meta["category"] == "multi_turn_long_context")
        assert len(meta["gold"]) == len(goal.turns) == 1 + len(task.user_turns)
        assert [message.role for message in task.messages] == ["user"]
        assert tuple(meta["involved_classes"]) in MIXES
        assert set(task.initial_state) == set(meta["involved_classes"]) - {"MathAPI"}
        tools = all_tools(task)
        for texts, calls in zip(meta["gold"], goal.turns, strict=True):
            assert [parse_gold_call(text, tools[call.name]) for text, call in zip(texts, calls, strict=True)] == [
                *calls
            ]
        withheld = set(meta.get("withheld", ()))
        documented = [tool for name in meta["involved_classes"] for tool in starter_class_tools(name)]
        assert list(task.tools) == [tool for tool in documented if tool.name not in withheld]


def test_a_task_survives_json_and_validation() -> None:
    for category in STARTER_CATEGORIES:
        for task in starter_multi_turn(category, "test")[:40]:
            assert Task.from_json(task.to_json()) == task


def test_numbers_of_turns_and_calls() -> None:
    for category in STARTER_CATEGORIES:
        tasks = starter_multi_turn(category, "train")
        turns = Counter(len(gold_of(task)) for task in tasks)
        assert set(turns) == {2, 3, 4, 5}, category
        calls = Counter(len(calls) for task in tasks for calls in gold_of(task))
        assert set(calls) - {0} == {1, 2, 3, 4, 5}, category
        assert calls[0] == (len(tasks) if "miss" in category else 0)


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_every_mix_of_classes_occurs(category: str) -> None:
    found = Counter(tuple(map(str, world_of(task).classes)) for task in starter_multi_turn(category, "train"))
    assert set(found) == set(MIXES)
    assert min(found.values()) >= 8


def test_nearly_every_function_is_asked_for() -> None:
    called = {call.name for task in tasks_of("train") for turn in gold_of(task) for call in turn}
    never = {tool.name for name in CLASSES for tool in starter_class_tools(name)} - called
    # One gives a random speed, one is always down, one knows a single year.
    assert never == {
        "get_current_speed", "get_outside_temperature_from_weather_com", "get_budget_fiscal_year",
    }  # fmt: skip


def test_splits_share_no_task_and_no_scenario() -> None:
    words = {split: {tuple(words_of(task)) for task in tasks_of(split)} for split in COUNTS}
    states = {split: {json.dumps(task.initial_state, sort_keys=True) for task in tasks_of(split)} for split in COUNTS}
    assert not words["train"] & words["test"]
    assert not states["train"] & states["test"]


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_other_seeds_give_other_tasks(category: str) -> None:
    more = list(islice(generate(category, "train", seed=7), 60))
    first = starter_multi_turn(category, "train")
    assert not {tuple(words_of(task)) for task in more} & {tuple(words_of(task)) for task in first}
    assert more[0].id == f"starter/{category}/train/seed7/000000"
    assert [task.id for task in more] == [task.id for task in islice(generate(category, "train", seed=7), 60)]


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="multi_turn_base"):
        generate("multi_turn_none", "train")
    with pytest.raises(ConfigurationError, match="split"):
        starter_multi_turn("multi_turn_base", "dev")
    with pytest.raises(ConfigurationError, match="TicketAPI"):
        starter_class_tools("OtherAPI")


# --- gold -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_the_gold_passes_every_turn(category: str) -> None:
    for split, step in (("train", 4), ("test", 1)):
        for task in starter_multi_turn(category, split)[::step]:
            assert errors(task, gold_of(task)) == [None] * len(gold_of(task)), task.id


def test_the_official_verdict_on_gold_texts_is_valid() -> None:
    for task in tasks_of("test"):
        meta: dict[str, Any] = task.meta
        steps = [[[text] for text in turn] for turn in meta["gold"]]
        assert score(as_entry(task), meta["gold"], steps, starter_tables()).valid, task.id


def test_gold_calls_fit_the_tools_and_are_not_refused() -> None:
    schemas: dict[str, ToolSchema] = {}
    for task in tasks_of():
        world, tools = world_of(task), all_tools(task)
        for call in (call for turn in gold_of(task) for call in turn):
            schema = schemas.setdefault(call.name, ToolSchema(tools[call.name]))
            assert schema.check(dict(call.arguments)) is None, (task.id, call)
            outcome = world.run(call.name, call.arguments)
            assert not outcome.failed, (task.id, call, outcome.text)
            assert "error" not in outcome.text[:12], (task.id, call, outcome.text)


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_doing_nothing_fails_every_turn_that_asks_for_something(category: str) -> None:
    for task in starter_multi_turn(category, "test"):
        gold = gold_of(task)
        assert [error is not None for error in errors(task, [[] for _ in gold])] == [bool(calls) for calls in gold]


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_doing_everything_twice_is_counted_as_copies(category: str) -> None:
    for task in some_tasks(category):
        gold = gold_of(task)
        turns = played(task, [calls * 2 for calls in gold])
        assert [turn["copies"] for turn in turns] == [len(calls) for calls in gold], task.id


def changed(value: Any) -> list[Any]:
    """The value with one thing changed, in every way."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1]
        case float():
            return [value + 0.5]
        case str():
            return [value + "x"]
        case list():
            left_out = [value[:place] + value[place + 1 :] for place in range(len(value))]
            return left_out + [
                [*value[:place], other, *value[place + 1 :]]
                for place, item in enumerate(value)
                for other in changed(item)
            ]
        case dict():
            return [{**value, key: other} for key, item in value.items() for other in changed(item)]
    raise AssertionError(value)


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_every_call_and_every_value_is_needed(category: str) -> None:
    """A call left out fails its turn, unless its answer was there before; so does a change with another value."""
    for task in some_tasks(category):
        gold, world, seen = gold_of(task), world_of(task), Counter[str]()
        for number, calls in enumerate(gold):
            for place, call in enumerate(calls):
                before = copy_trusted(world.public_state())
                answer = world.run(call.name, call.arguments).text
                changes = before != world.public_state()
                if changes or not seen[answer]:
                    less = [*gold[:number], [*calls[:place], *calls[place + 1 :]], *gold[number + 1 :]]
                    assert errors(task, less)[number] is not None, (task.id, call)
                seen[answer] += 1
                for other in different(call) if changes else ():
                    more = [*gold[:number], [*calls[:place], other, *calls[place + 1 :]], *gold[number + 1 :]]
                    assert errors(task, more)[number] is not None, (task.id, call, other)


def different(call: ToolCall) -> Iterator[ToolCall]:
    """The call with one value changed, in every way that the classes look at."""
    for name, value in call.arguments.items():
        if (call.name, name) not in NOT_LOOKED_AT:
            for other in changed(value):
                yield ToolCall(name=call.name, arguments={**call.arguments, name: other})


def test_every_dialogue_changes_something_and_uses_every_class() -> None:
    for task in tasks_of():
        world = world_of(task)
        before, changes = copy_trusted(world.public_state()), 0
        for call in (call for turn in gold_of(task) for call in turn):
            world.run(call.name, call.arguments)
            changes += before != world.public_state()
        assert changes, task.id
        assert world.touched == set(world.classes), task.id


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def stands_in(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return json.dumps(value)[1:-1].lower() in text.lower() or value.lower() in text.lower()
    forms = {str(value), str(int(value)) if value == int(value) else str(value)}
    return any(re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", text) for form in forms)


def test_gold_values_stand_in_the_users_words_or_in_earlier_answers() -> None:
    for task in tasks_of():
        world, tools, text = world_of(task), all_tools(task), ""
        for words, calls in zip(words_of(task), gold_of(task), strict=True):
            text += f"\n{words}"
            for call in calls:
                for name, value in call.arguments.items():
                    known = f"{text}\n{tools[call.name].properties[name]}"
                    for leaf in leaves(value):
                        if not isinstance(leaf, bool) and (call.name, name) not in WORKED_OUT:
                            assert stands_in(leaf, known), (task.id, call, leaf)
                text += f"\n{world.run(call.name, call.arguments).text}"


# --- what is missing --------------------------------------------------------------------------------------------


def test_a_withheld_function_comes_a_turn_later_and_was_not_needed_before() -> None:
    for task in (task for task in tasks_of() if task.meta["category"] == "multi_turn_miss_func"):
        gold, withheld = gold_of(task), list(task.meta["withheld"])  # type: ignore[arg-type]
        (number,) = [number for number, turn in enumerate(task.user_turns, 1) if turn.add_tools]
        turn = task.user_turns[number - 1]
        assert turn.content == REVEAL
        assert [tool.name for tool in turn.add_tools] == withheld
        assert gold[number - 1] == []
        assert gold.count([]) == 1
        assert gold[number][0].name in withheld
        assert not {call.name for calls in gold[:number] for call in calls} & set(withheld)
        assert not {tool.name for tool in task.tools} & set(withheld)


def test_a_missing_value_is_supplied_by_the_next_turn() -> None:
    for task in (task for task in tasks_of() if task.meta["category"] == "multi_turn_miss_param"):
        gold, words = gold_of(task), words_of(task)
        (number,) = [number for number, calls in enumerate(gold) if not calls]
        assert "withheld" not in task.meta
        assert gold[number + 1], task.id
        asked, supplied = (set(re.findall(r"[\w#.-]+", text.lower())) for text in words[number : number + 2])
        assert supplied - asked - {"it", "is", "the", "i", "mean", "to", "a"}, task.id
        assert len(words[number + 1]) < 100


def test_long_contexts_need_something_that_stands_in_the_padding() -> None:
    padding = starter_tables().long_context
    for task in (task for task in tasks_of() if task.meta["long_context"]):
        meta: dict[str, Any] = task.meta
        plain = World(meta["involved_classes"], task.initial_state, starter_tables())
        padded = world_of(task)
        calls = [call for turn in gold_of(task) for call in turn]
        answers = [(plain.run(c.name, c.arguments).text, padded.run(c.name, c.arguments).text) for c in calls]
        assert any(one != other for one, other in answers), task.id
    assert len(set(SCANS)) == len(padding["POPULATE_FILE_EXTENSION"])
    assert all(sum(mark in line for line in SHELVES.values()) == 1 for mark in SHELVES)
    assert len({card["cardholder_name"] for card in padding["CREDIT_CARD_EXTENSION"].values()}) == len(HOLDERS)


# --- tables and documents ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("class_name", CLASSES)
def test_documents_have_the_simulators_signatures(class_name: str) -> None:
    simulator: Any = class_of(class_name)
    documents = {document["name"]: document for document in CLASS_DOCUMENTS[class_name]}
    assert documents.keys() == tools_of(simulator).keys()
    for name, function in tools_of(simulator).items():
        function = inspect.unwrap(function)
        hints = get_type_hints(function)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        documented = documents[name]["parameters"]
        assert list(documented["properties"]) == [parameter.name for parameter in parameters], name
        required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
        assert documented["required"] == required, name
        for parameter in parameters:
            entry = documented["properties"][parameter.name]
            assert documented_type(hints[parameter.name]) == (entry["type"], entry.get("items", {}).get("type")), name
            if parameter.default is not inspect.Parameter.empty:
                assert entry["default"] == parameter.default, (name, parameter.name)
            assert entry["description"].endswith(".")


def documented_type(hint: Any) -> tuple[str, str | None]:
    plain = {str: "string", int: "integer", float: "float", bool: "boolean"}
    if get_origin(hint) is list:
        return "array", plain[get_args(hint)[0]]
    if get_origin(hint) is dict:
        return "dict", None
    options = [option for option in get_args(hint) if option is not type(None)]
    return plain[options[0] if options else hint], None


def descriptions(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            if key == "description" and isinstance(value, str):
                yield from (value, value.rpartition("Tool description: ")[2])
            else:
                yield from descriptions(value)


def test_nothing_is_copied_from_the_official_files(official_data: Path) -> None:
    files = BfclFiles(official_data / "bfcl")
    said: set[str] = set()
    for category in STARTER_CATEGORIES:
        for row in files.rows(f"BFCL_v4_{category}.json"):
            for turn in row["question"]:
                for message in turn:
                    said |= sentences(message["content"])
    own = {sentence for task in tasks_of() for words in words_of(task) for sentence in sentences(words)}
    assert not own & said
    theirs = {
        text.strip().lower()
        for name in CLASSES
        for document in files.class_functions(name)
        for text in descriptions(document)
    }
    ours = {
        text.strip().lower() for documents in CLASS_DOCUMENTS.values() for d in documents for text in descriptions(d)
    }
    assert not ours & theirs


def sentences(text: str) -> set[str]:
    parts = (text, *re.split(r"(?<=[.?!])\s+", text))
    return {part.strip().lower() for part in parts if part.strip()}


def test_tables_have_the_official_form_and_other_content(official_data: Path) -> None:
    files, own = BfclFiles(official_data / "bfcl"), starter_tables()
    constants, padding = files.constants(), files.long_context()
    assert own.constants.keys() - constants.keys() == {"today", "vehicle_tire_shop"}
    assert constants.keys() <= own.constants.keys()
    for name, state in constants["default_state"].items():
        assert own.constants["default_state"][name].keys() == state.keys(), name
    assert own.long_context.keys() == padding.keys()
    for name, value in padding.items():
        assert type(own.long_context[name]) is type(value), name
    for name in ("travel_airports", "travel_airport_by_city", "vehicle_zipcodes", "trading_symbol_by_name"):
        assert not set(own.constants[name]) & set(constants[name]), name
    for name in ("CREDIT_CARD_EXTENSION", "BOOKING_RECORD_EXTENSION", "POPULATE_FILE_EXTENSION"):
        assert not set(own.long_context[name]) & set(padding[name]), name


def test_fares_go_in_one_direction() -> None:
    fares = starter_tables().constants["travel_base_costs"]
    both = [key for key in fares if "|".join(reversed(key.split("|"))) in fares]
    assert 0 < len(both) < len(fares)
    assert any(fares[key] != fares["|".join(reversed(key.split("|")))] for key in both)


# --- the environment --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
@pytest.mark.parametrize("official_faults", [False, True])
def test_the_oracle_earns_everything(category: str, official_faults: bool) -> None:
    env = BfclEnv(category=category, data="starter", split="test", official_faults=official_faults)
    official = BfclEnv(category=category, data="starter", split="test", rubric="bfcl_official")
    for number in range(0, 120, 12):
        for playing in (env, official):
            playing.reset(seed=0, options={"task": number})
            ended, earned = False, 0.0
            while not ended:
                _, reward, terminated, truncated, _ = playing.step(playing.oracle_action())
                ended, earned = terminated or truncated, earned + float(reward)
            assert earned == 1.0, (category, number)


def fingerprint() -> str:
    print_ = hashlib.blake2b()
    for category in STARTER_CATEGORIES:
        for task in islice(generate(category, "test"), 20):
            print_.update(task.to_json().encode())
    return print_.hexdigest()


def test_tasks_do_not_depend_on_the_hash_seed() -> None:
    program = "from test_bfcl_starter_multi_turn import fingerprint; print(fingerprint())"
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(Path(__file__).parent)}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint()
