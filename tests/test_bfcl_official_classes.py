"""The installed bfcl-eval package's own classes behind the simulators' interface, and ours held against them."""

from __future__ import annotations

import decimal
import gzip
import importlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callgym.call import ToolCall
from callgym.envs.bfcl.files import CLASS_FILES, BfclFiles
from callgym.envs.bfcl.official.multi_turn import has_padding, score
from callgym.envs.bfcl.simulators.base import Tables, tools_of
from callgym.envs.bfcl.simulators.official_classes import MODULES, official_class, official_tables
from callgym.envs.bfcl.simulators.session import CLASSES, World, class_of
from callgym.envs.bfcl.turns import open_turns
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.task import Task

MULTI_TURN = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tables]:
    """What makes worlds run the official classes; in UTC, which ours always do."""
    pytest.importorskip("bfcl_eval")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield official_tables()
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def files(official_data: Path) -> BfclFiles:
    return BfclFiles(official_data / "bfcl")


@pytest.fixture
def own_tables(files: BfclFiles) -> Tables:
    return Tables(files.constants(), files.long_context())


def entries(files: BfclFiles, category: str) -> Iterator[tuple[dict[str, Any], list[list[str]]]]:
    golds = files.golds(f"BFCL_v4_{category}.json")
    yield from ((row, golds[row["id"]]) for row in files.rows(f"BFCL_v4_{category}.json"))


def worlds(entry: dict[str, Any], *tables: Tables) -> list[World]:
    return [World(entry["involved_classes"], entry["initial_config"], each, has_padding(entry)) for each in tables]


# Without the package.


def test_a_missing_package_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, MODULES["TwitterAPI"], None)
    said = "bfcl-eval is not installed.*pip install --no-deps bfcl-eval mpmath"
    with pytest.raises(MissingPackageError, match=said):
        official_class.__wrapped__("TwitterAPI")


def test_only_executable_classes_are_known() -> None:
    assert MODULES.keys() == CLASSES.keys()
    with pytest.raises(ConfigurationError, match="no executable class 'Other'"):
        official_class("Other")


# Like ours.


def test_nothing_else_of_the_package_is_imported(tables: Tables) -> None:
    imported = {name for name in sys.modules if name.startswith("bfcl_eval")}
    folder = MODULES["TwitterAPI"].rpartition(".")[0]
    folders = {folder.rsplit(".", count)[0] for count in range(4)}
    assert imported <= {*folders, *MODULES.values(), f"{folder}.long_context"}


@pytest.mark.parametrize("name", CLASSES)
def test_both_have_the_same_tools(name: str, tables: Tables) -> None:
    official: Any = official_class(name)
    simulated: Any = class_of(name)
    assert tools_of(official).keys() == tools_of(simulated).keys()


def test_probes_get_the_same_answers(official_data: Path, own_tables: Tables, tables: Tables) -> None:
    compared = 0
    with gzip.open(official_data / "bfcl_parity" / "class_probes.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        name = row["class"]
        config = {name: row["initial_config"]}
        official, own = (World([name], config, each, row["long_context"]) for each in (tables, own_tables))
        for call in row["calls"]:
            assert own.result_text(call) == official.result_text(call), (row["case"], call)
            compared += 1
        assert own.public_state() == official.public_state(), row["case"]
    assert compared > 2_000


@pytest.mark.parametrize("category", MULTI_TURN)
def test_golds_give_the_same_results_and_states(
    category: str, files: BfclFiles, own_tables: Tables, tables: Tables
) -> None:
    for entry, gold in entries(files, category):
        official, own = worlds(entry, tables, own_tables)
        for calls in gold:
            for call in calls:
                assert own.result_text(call) == official.result_text(call), (entry["id"], call)
            assert own.public_state() == official.public_state(), entry["id"]


def test_verdicts_are_the_same(files: BfclFiles, own_tables: Tables, tables: Tables) -> None:
    for category in MULTI_TURN:
        for entry, gold in list(entries(files, category))[:20]:
            right = [[calls] if calls else [] for calls in gold]
            late = [[calls[1:]] if len(calls) > 1 else [] for calls in gold]
            assert score(entry, gold, right, tables).valid, entry["id"]
            verdicts = [score(entry, gold, late, each) for each in (tables, own_tables)]
            assert verdicts[0] == verdicts[1], entry["id"]


def test_an_episode_runs_on_them(files: BfclFiles, tables: Tables) -> None:
    task = Task.model_validate(
        {
            "id": "multi_turn_base_made",
            "family": "bfcl",
            "split": "test",
            "messages": [{"role": "user", "content": "Make a place for my notes."}],
            "goal": {"kind": "calls", "turns": [[]]},
            "initial_state": {"GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": {}}}}},
            "meta": {"involved_classes": ["GorillaFileSystem"], "gold": [["mkdir(dir_name='notes')"], ["ls()"]]},
        }
    )
    session = open_turns(task, tables)
    session.tried()
    assert session.call(ToolCall(name="mkdir", arguments={"dir_name": "notes"})).content is None
    session.end_turn()
    session.tried()
    assert session.call(ToolCall(name="ls", arguments={})).content == {"current_directory_content": ["notes"]}
    session.end_turn()
    assert [turn["error"] for turn in session.state()["turns"]] == [None, None]


# Isolated, where the package is not.


def test_default_arguments_are_not_shared(tables: Tables) -> None:
    config = {"TwitterAPI": {"authenticated": True}}
    first, second = World(["TwitterAPI"], config, tables), World(["TwitterAPI"], config, tables)
    first.result_text("post_tweet(content='hello')")
    first.result_text("mention(tweet_id=0, mentioned_usernames=['@ann'])")
    assert json.loads(first.result_text("post_tweet(content='again')"))["mentions"] == ["@ann"]
    assert json.loads(second.result_text("post_tweet(content='hello')"))["mentions"] == []


def test_padding_is_not_shared(tables: Tables) -> None:
    module = importlib.import_module(MODULES["TravelAPI"])
    card = next(iter(module.CREDIT_CARD_EXTENSION))
    world, other = (World(["TravelAPI"], {"TravelAPI": {}}, tables, True) for _ in range(2))
    world.instance("TravelAPI").public_state()["credit_card_list"][card]["balance"] = -1
    assert other.instance("TravelAPI").public_state()["credit_card_list"][card]["balance"] != -1
    assert module.CREDIT_CARD_EXTENSION[card]["balance"] != -1


def test_the_weather_of_one_instance_is_not_that_of_another(tables: Tables) -> None:
    module = importlib.import_module(MODULES["VehicleControlAPI"])
    before = json.dumps(module.LONG_WEATHER_EXTENSION, default=str)
    World(["VehicleControlAPI"], {}, tables, True).result_text("get_outside_temperature_from_google()")
    assert json.dumps(module.LONG_WEATHER_EXTENSION, default=str) == before


def test_a_scenario_is_not_changed(tables: Tables) -> None:
    config: dict[str, Any] = {"TicketAPI": {"ticket_queue": [{"id": 1, "status": "Open"}], "current_user": "ann"}}
    before = json.dumps(config)
    World(["TicketAPI"], config, tables).result_text("close_ticket(ticket_id=1)")
    assert json.dumps(config) == before


def test_the_precision_of_the_process_stays(tables: Tables) -> None:
    mpmath = importlib.import_module("mpmath")
    world = World(["MathAPI"], {}, tables)
    before = (decimal.getcontext().prec, mpmath.mp.dps)
    assert world.result_text("square_root(number=2, precision=5)") == "{'result': Decimal('1.4142')}"
    assert world.result_text("logarithm(value=8, base=2, precision=40)").startswith("{'result': mpf('3.0")
    assert (decimal.getcontext().prec, mpmath.mp.dps) == before


# Whatever a policy writes.


@pytest.mark.parametrize(
    "call",
    [
        "power(base=9, exponent=999999999)",
        "round_number(number=5, decimal_places=-999999999)",
        "square_root(number=2, precision=99999999)",
        "logarithm(value=3, base=2, precision=99999999)",
        "logarithm(value=3, base=2, precision='99999999')",
        "logarithm(value='1e999999999', base=2, precision=5)",
        "logarithm(value=2, base='1e9_9999999', precision=5)",
    ],
)
def test_large_numbers_are_refused(call: str, tables: Tables) -> None:
    assert World(["MathAPI"], {}, tables).result_text(call).startswith("Error during execution: ")


def test_a_tree_that_contains_itself_ends_in_a_refusal(tables: Tables) -> None:
    world = World(["GorillaFileSystem"], {}, tables)
    opened = world.public_state()
    for call in ("mkdir('a')", "cd('a')", "mkdir('b')", "cd('..')", "mv('a', 'a')", "mkdir('c')", "cp('c', 'c')"):
        world.result_text(call)
    for round_ in range(40):
        world.result_text(f"cp('c', 'c{round_}')")
        world.result_text(f"cp('c{round_}', 'c')")
    assert world.result_text("find()").startswith("Error during execution: ")
    assert world.result_text("du()").startswith("Error during execution: ")
    assert world.public_state() != opened


def test_what_the_classes_raise_is_an_answer(tables: Tables) -> None:
    world = World(["GorillaFileSystem", "TicketAPI"], {}, tables)
    for call in ("touch(file_name=5)", "tail(file_name='x', lines='y')", "ls(1, 2)", "get_ticket(ticket_id=[])"):
        assert isinstance(world.result_text(call), str)
    assert world.result_text("touch(file_name=5)").startswith("Error during execution: argument of type 'int'")


def test_functions_are_documented_under_the_names_that_are_run(files: BfclFiles, tables: Tables) -> None:
    for name in MODULES:
        official: Any = official_class(name)
        documented = {document["name"] for document in files.class_functions(name)}
        assert documented <= tools_of(official).keys(), CLASS_FILES[name]
