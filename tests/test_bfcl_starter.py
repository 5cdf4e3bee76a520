"""The starter tasks of BFCL's single-turn categories: many, distinct, seeded, split cleanly, and determined."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.golds import accepted_values
from callgym.envs.bfcl.official.checker import check, judge_text
from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS, asked_functions, near_functions
from callgym.envs.bfcl.starter.functions_model import Function, Parameter, document, live_name, tool
from callgym.envs.bfcl.starter.functions_values import Choice, Flag, Items, Kind, Place, Record
from callgym.envs.bfcl.starter.single_phrases import DECLINES, LACKING
from callgym.envs.bfcl.starter.single_turn import STARTER_CATEGORIES, generate, starter_formats, starter_single
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.schema import ToolSchema
from callgym.task import Task

COUNTS = {"train": 2_000, "test": 200}
EVERY = {"train": 4, "test": 1}
"""Of the tasks whose every value is put to the test."""
WITH_GOLD = tuple(name for name in STARTER_CATEGORIES if CATEGORIES[name].kind == "calls")
LIVE = tuple(name for name in STARTER_CATEGORIES if name.startswith("live_"))
BY_NAME: dict[str, Function] = {}
for _functions in FUNCTIONS.values():
    BY_NAME |= {name: function for function in _functions for name in (function.name, live_name(function))}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
COUNT_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def tasks_of(*categories: str) -> Iterator[Task]:
    for category in categories:
        for split in COUNTS:
            yield from starter_single(category, split)


def some_tasks(category: str) -> Iterator[Task]:
    for split, step in EVERY.items():
        yield from starter_single(category, split)[::step]


def gold_calls(task: Task) -> tuple[GoldCall, ...]:
    goal = task.goal_of(CallsGoal)
    assert goal is not None
    return goal.turns[0]


def official_gold(task: Task) -> list[dict[str, dict[str, list[Any]]]]:
    gold: Any = task.meta["gold"]
    return list(gold)


def documents(task: Task) -> list[dict[str, Any]]:
    found: list[Any] = [offered.meta["bfcl"] for offered in task.tools]
    return found


def question(task: Task) -> str:
    return task.messages[-1].content or ""


def decoded(calls: tuple[GoldCall, ...]) -> list[dict[str, dict[str, Any]]]:
    return [{call.name: dict(call.reference().arguments)} for call in calls]


def verdict(task: Task, calls: list[dict[str, dict[str, Any]]]) -> bool:
    language = str(task.meta.get("language", "python"))
    return check(calls, official_gold(task), documents(task), str(task.meta["category"]), language=language).valid


# --- shape ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
@pytest.mark.parametrize("split", COUNTS)
def test_counts_ids_and_distinctness(category: str, split: str) -> None:
    tasks = starter_single(category, split)
    assert len(tasks) == COUNTS[split]
    assert len({task.id for task in tasks}) == len(tasks)
    contents = {(question(task), tuple(sorted(offered.name for offered in task.tools))) for task in tasks}
    assert len(contents) == len(tasks)
    assert tasks[0].id == f"starter/{category}/{split}/000000"
    assert {(task.family, task.split, task.meta["category"], task.meta["source"]) for task in tasks} == {
        ("bfcl", split, category, "starter")
    }
    assert starter_single(category, split) is tasks


@pytest.mark.parametrize("category", STARTER_CATEGORIES)
def test_other_seeds_give_other_tasks(category: str) -> None:
    more = list(islice(generate(category, "train", seed=7), 200))
    first = starter_single(category, "train")[:200]
    assert len({task.id for task in more} | {task.id for task in first}) == 400
    assert len({question(task) for task in more} & {question(task) for task in first}) <= 20


def test_a_task_survives_json_and_validation() -> None:
    for category in STARTER_CATEGORIES:
        for task in starter_single(category, "test")[:60]:
            assert Task.from_json(task.to_json()) == task


def test_number_of_functions_and_calls() -> None:
    sizes = {
        "simple": (range(1, 2), range(1, 2)),
        "multiple": (range(2, 5), range(1, 2)),
        "parallel": (range(1, 2), range(2, 7)),
        "parallel_multiple": (range(2, 5), range(2, 6)),
        "live_multiple": (range(2, 27), range(1, 2)),
        "live_parallel": (range(1, 3), range(2, 5)),
        "live_parallel_multiple": (range(2, 10), range(2, 6)),
    }
    for category in WITH_GOLD:
        offered, called = sizes["simple" if "simple" in category else category]
        for task in tasks_of(category):
            calls = gold_calls(task)
            names = {call.name for call in calls}
            assert len(task.tools) in offered, task.id
            assert len(calls) in called, task.id
            assert names <= {offered.name for offered in task.tools}
            if category.endswith("parallel"):
                assert len(names) == 1
            if category.endswith("parallel_multiple"):
                assert 2 <= len(names) <= 4


@pytest.mark.parametrize("category", [name for name in WITH_GOLD if "multiple" in name])
def test_the_gold_functions_stand_anywhere_in_the_list(category: str) -> None:
    places = Counter(
        [offered.name for offered in task.tools].index(gold_calls(task)[0].name)
        for task in starter_single(category, "train")
    )
    assert places[1] > 200


@pytest.mark.parametrize("language", FUNCTIONS)
def test_every_function_is_asked_for_in_both_splits(language: str) -> None:
    category = {"python": "simple_python", "java": "simple_java", "javascript": "simple_javascript"}[language]
    wanted = {function.name for function in asked_functions(CATEGORIES[category].language)}
    assert {gold_calls(task)[0].name for task in starter_single(category, "train")} == wanted
    enough = islice(generate(category, "test", seed=1), 1_500)
    assert {gold_calls(task)[0].name for task in enough} == wanted


# --- gold -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", WITH_GOLD)
def test_the_official_checker_passes_every_gold(category: str) -> None:
    for task in some_tasks(category):
        calls = decoded(gold_calls(task))
        assert verdict(task, calls), (task.id, calls, official_gold(task))
        assert verdict(task, calls[::-1]), task.id


@pytest.mark.parametrize("category", WITH_GOLD)
def test_every_accepted_value_passes_and_what_is_optional_may_go(category: str) -> None:
    for task in starter_single(category, "test"):
        calls = gold_calls(task)
        for number, call in enumerate(calls):
            for name, values in call.arguments.items():
                for value in values[1:]:
                    other = decoded(calls)
                    other[number][call.name][name] = value
                    assert verdict(task, other), (task.id, name, value)
            bare = decoded(calls)
            for name in call.optional:
                del bare[number][call.name][name]
            assert verdict(task, bare), (task.id, bare)


@pytest.mark.parametrize("category", WITH_GOLD)
def test_one_changed_value_fails(category: str) -> None:
    rng = Random(4)
    for task in some_tasks(category):
        calls = decoded(gold_calls(task))
        changed = rng.randrange(len(calls))
        ((name, arguments),) = calls[changed].items()
        argument = rng.choice(sorted(arguments))
        first = next(value for value in official_gold(task)[changed][name][argument] if value != "")
        declared = document(BY_NAME[name])["parameters"]["properties"][argument]
        language = CATEGORIES[category].language
        arguments[argument] = next(iter(accepted_values([near_miss(first)], declared, language)))
        assert not verdict(task, calls), (task.id, name, argument, arguments)


def near_miss(value: Any) -> Any:
    """An official accepted value with one thing changed."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "x"
        case list():
            return [*value, value[0]] if value else ["surely not"]
    key = next(iter(value))
    return {**value, key: [near_miss(value[key][0])]}


@pytest.mark.parametrize("category", WITH_GOLD)
def test_a_missing_and_a_further_call_fail(category: str) -> None:
    for task in starter_single(category, "test"):
        calls = decoded(gold_calls(task))
        assert not verdict(task, calls[:-1]), task.id
        assert not verdict(task, [*calls, calls[0]]), task.id


@pytest.mark.parametrize("category", WITH_GOLD)
def test_golds_pass_as_text(category: str) -> None:
    language = CATEGORIES[category].language
    if language != "python":
        pytest.importorskip(f"tree_sitter_{language}")
    for task in starter_single(category, "test"):
        text = "[" + ", ".join(written(call, language) for call in gold_calls(task)) + "]"
        found = judge_text(text, category, documents(task), official_gold(task))
        assert found.valid, (task.id, text, found)


def written(call: GoldCall, language: str) -> str:
    """The call as a model writes it."""
    properties = document(BY_NAME[call.name])["parameters"]["properties"]
    values = call.reference().arguments
    if language == "python":
        return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in values.items())})"
    arguments = []
    for name, value in values.items():
        quote = {"String": '"', "char": "'"}.get(properties[name]["type"], "")
        arguments.append(f"{name}={quote}{value}{quote}")
    return f"{call.name}({', '.join(arguments)})"


def test_references_are_valid_by_the_tools_schemas() -> None:
    schemas: dict[int, ToolSchema] = {}
    tasks = (task for category in WITH_GOLD for split in COUNTS for task in starter_single(category, split)[:300])
    for task in tasks:
        by_name = {offered.name: offered for offered in task.tools}
        for call in gold_calls(task):
            offered = by_name[call.name]
            schema = schemas.setdefault(id(offered), ToolSchema(offered))
            for name, values in call.arguments.items():
                for value in values:
                    arguments = {**call.reference().arguments, name: value}
                    assert schema.check(arguments) is None, (task.id, schema.check(arguments))


def test_java_and_javascript_values_are_text() -> None:
    for task in tasks_of("simple_java", "simple_javascript"):
        (call,) = gold_calls(task)
        assert all(isinstance(value, str) for values in call.arguments.values() for value in values), task.id


def test_calls_of_one_task_differ_in_what_is_required() -> None:
    for task in tasks_of(*(name for name in WITH_GOLD if "parallel" in name)):
        seen = []
        for call in official_gold(task):
            ((name, accepted),) = call.items()
            given = {p: accepted[p] for p in document(BY_NAME[name])["parameters"]["required"]}
            assert (name, given) not in seen, task.id
            seen.append((name, given))


# --- the question determines the answer -------------------------------------------------------------------------


@pytest.mark.parametrize("category", WITH_GOLD)
def test_gold_values_stand_in_the_question(category: str) -> None:
    for task in some_tasks(category):
        text = question(task)
        for call in official_gold(task):
            ((name, arguments),) = call.items()
            parameters = {parameter.name: parameter for parameter in BY_NAME[name].parameters}
            assert arguments.keys() == parameters.keys()
            for argument, accepted in arguments.items():
                parameter = parameters[argument]
                if "" in accepted:
                    assert not parameter.required
                    assert accepted[0] in ("", parameter.default) or parameter.default in accepted
                else:
                    assert is_said(parameter.kind, accepted[0], text), (task.id, argument, accepted, text)


def is_said(kind: Kind, value: Any, text: str) -> bool:
    """Whether a gold value stands in the question; only for closed lists and yes or no the catalogue is asked."""
    if isinstance(kind, Flag):
        return any(stands(words, text) for words in (kind.yes if value else kind.no))
    if isinstance(kind, Choice):
        return any(stands(words, text) for words in (value, *kind.words[value]))
    if isinstance(kind, Items):
        return all(is_said(kind.kind, item, text) for item in value)
    if isinstance(kind, Record):
        return all(is_said(kind.fields[key].kind, inner[0], text) for key, inner in value.items())
    if isinstance(value, dict):
        return all(stands(key, text) and stands(inner[0], text) for key, inner in value.items())
    if isinstance(value, list):
        return all(is_said(kind, item, text) for item in value)
    return any(stands(form, text) for form in surface_forms(value))


def surface_forms(value: Any) -> tuple[str, ...]:
    if isinstance(value, (int, float)):
        plain = str(int(value)) if value == int(value) else str(value)
        commas = f"{int(value):,}" + plain[len(str(int(value))) :]
        word = (COUNT_WORDS[int(value) - 2],) if value == int(value) and 2 <= value <= 12 else ()
        return (plain, commas, *word)
    day = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value)
    if day:
        month = MONTHS[int(day[2]) - 1]
        return (
            value,
            f"{month} {int(day[3])}, {day[1]}",
            f"{int(day[3])} {month} {day[1]}",
            f"{month} {int(day[3])} {day[1]}",
        )
    clock = re.fullmatch(r"(\d\d):(\d\d)", value)
    if clock:
        hour = f"{(int(clock[1]) - 1) % 12 + 1}" + (f":{clock[2]}" if clock[2] != "00" else "")
        half = "am" if int(clock[1]) < 12 else "pm"
        return (value, f"{hour} {half}", f"{hour}{half}")
    return (value,)


def stands(words: Any, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_.]){re.escape(str(words))}(?![A-Za-z0-9])", text) is not None


def test_a_question_says_nothing_of_what_it_leaves_open() -> None:
    left_open = 0
    for task in tasks_of("simple_python", "multiple"):
        ((name, arguments),) = official_gold(task)[0].items()
        function, text = BY_NAME[name], question(task)
        for parameter in function.parameters:
            if arguments[parameter.name] not in ([""], [parameter.default, ""]):
                continue
            if parameter.default is not None and is_said(parameter.kind, parameter.default, text):
                continue  # the default itself may be said
            openings = [tail.partition("{")[0].strip(" ,") for tail in parameter.tails]
            for words in openings:
                if len(words) > 6 and words not in " ".join(function.clauses):
                    assert words not in text, (task.id, words)
                    left_open += 1
    assert left_open > 500


# --- splits -----------------------------------------------------------------------------------------------------


def test_splits_share_no_function_with_the_same_values() -> None:
    calls: dict[str, set[str]] = {"train": set(), "test": set()}
    for split in calls:
        for category in WITH_GOLD:
            for task in (*starter_single(category, split), *islice(generate(category, split, seed=3), 60)):
                for call in official_gold(task):
                    ((name, arguments),) = call.items()
                    values = {key: accepted[0] for key, accepted in arguments.items()}
                    calls[split].add(BY_NAME[name].name + json.dumps(values, sort_keys=True))
    assert calls["train"] & calls["test"] == set()
    assert len(calls["test"]) > 3_000


def test_splits_share_no_question() -> None:
    questions = {split: {question(t) for c in STARTER_CATEGORIES for t in starter_single(c, split)} for split in COUNTS}
    # Declining needs no values, so chatter and requests without any are all that could be shared.
    assert {text for text in questions["train"] & questions["test"] if re.search(r"\d", text)} == set()


def test_each_split_has_phrasings_of_its_own() -> None:
    for functions in FUNCTIONS.values():
        for function in functions:
            assert not function.clauses or len(set(function.clauses)) >= 3, function.name
    openings = {split: {question(task).split()[0] for task in starter_single("multiple", split)} for split in COUNTS}
    assert openings["train"] - openings["test"]
    assert openings["test"] - openings["train"]


# --- no call ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", ["irrelevance", "live_irrelevance"])
def test_declining_is_right_and_the_reply_is_no_call(category: str) -> None:
    for task in tasks_of(category):
        goal = task.goal_of(DecisionGoal)
        assert goal is not None
        assert goal.decision == "decline"
        assert judge_text(goal.reply, category, documents(task)).valid
        assert not judge_text(f"[{task.tools[0].name}()]", category, documents(task)).valid
        assert "gold" not in task.meta


def test_why_no_call_is_right() -> None:
    counted = Counter(str(task.meta["why"]) for task in tasks_of("live_irrelevance"))
    assert set(counted) == {"no function fits", "values are missing"}
    assert 0.05 < counted["values are missing"] / counted.total() < 0.2
    assert {task.meta["why"] for task in tasks_of("irrelevance")} == {"no function fits"}
    for task in tasks_of("live_irrelevance"):
        goal = task.goal_of(DecisionGoal)
        assert goal is not None
        if task.meta["why"] == "values are missing":
            assert goal.reply in LACKING
            assert not re.search(r"\d", question(task))
        else:
            assert goal.reply in DECLINES


def test_the_function_that_is_asked_for_is_not_offered() -> None:
    """Requests are read back by the words of the clauses."""
    heads = {
        head: function.name
        for function in asked_functions("python")
        for clause in function.clauses
        if len(head := clause.partition("|")[0].partition("{")[0]) > 25
    }
    told = 0
    for task in tasks_of("irrelevance", "live_irrelevance"):
        if task.meta["why"] != "no function fits":
            continue
        asked = {name for head, name in heads.items() if head in question(task)}
        told += bool(asked)
        assert not asked & {BY_NAME[offered.name].name for offered in task.tools}, task.id
    assert told > 300


def test_relevance_has_a_fitting_function_and_a_reference() -> None:
    for task in tasks_of("live_relevance"):
        goal = task.goal_of(DecisionGoal)
        assert goal is not None
        assert goal.decision == "call"
        reference: Any = task.meta["reference"]
        (call,) = reference
        offered = next(offered for offered in task.tools if offered.name == call["name"])
        assert ToolSchema(offered).check(call["arguments"]) is None
        assert " or " in question(task)
        assert check([{call["name"]: call["arguments"]}], None, documents(task), "live_relevance").valid


# --- live -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", LIVE)
def test_live_requests_sound_like_users(category: str) -> None:
    tasks = starter_single(category, "train")
    system = sum(task.messages[0].role == "system" for task in tasks) / len(tasks)
    lower = sum(question(task)[0].islower() for task in tasks) / len(tasks)
    assert 0.1 < system < 0.2
    assert 0.3 < lower < 0.8
    assert {message.role for task in tasks for message in task.messages} == {"system", "user"}
    assert all(len(task.messages) == 1 for task in starter_single("multiple", "train"))


def test_live_requests_come_in_other_languages_too() -> None:
    for category in ("live_simple", "live_multiple"):
        starts = Counter(question(task).split()[0] for task in starter_single(category, "train"))
        assert starts["Wie"] + starts["Wo"] + starts["Berechne"] + starts["Rechne"] > 5
    korean = [task for task in tasks_of("live_multiple") if re.search(r"[가-힣]", question(task))]
    assert korean


def test_live_names_and_sizes_vary() -> None:
    sizes = Counter(len(task.tools) for task in starter_single("live_multiple", "train"))
    assert sizes[2] > 300
    assert sizes[3] > 400
    assert max(sizes) == 26
    names = [live_name(function) for function in FUNCTIONS["python"]]
    assert len(set(names)) == len(names)
    assert any("." in name for name in names)
    assert any("_1_" in name for name in names)


# --- catalogue --------------------------------------------------------------------------------------------------


def test_the_catalogue_is_broad() -> None:
    asked = asked_functions("python")
    assert len(asked) >= 60
    assert len({function.domain for function in asked}) >= 12
    assert len({function.name for function in FUNCTIONS["python"]}) == len(FUNCTIONS["python"])
    assert all(near_functions(function) for function in asked)


def test_the_catalogue_has_every_official_type() -> None:
    found = {language: set(types(language)) for language in FUNCTIONS}
    assert found["python"] >= {
        "string", "integer", "float", "boolean", "any", "dict", "tuple of float",
        "array of string", "array of integer", "array of float", "array of array", "array of dict",
    }  # fmt: skip
    assert found["java"] >= {
        "String", "integer", "long", "float", "double", "boolean", "char", "any", "HashMap",
        "Array of integer", "Array of double", "Array of String", "ArrayList of String", "ArrayList of long",
    }  # fmt: skip
    assert found["javascript"] >= {
        "String", "integer", "float", "Boolean", "any", "dict", "array of String", "array of float",
    }  # fmt: skip


def types(language: Any) -> Iterator[str]:
    for function in FUNCTIONS[language]:
        for entry in document(function)["parameters"]["properties"].values():
            items = entry.get("items", {}).get("type")
            yield f"{entry['type']} of {items}" if items else entry["type"]


def test_documents_have_the_official_form() -> None:
    for functions in FUNCTIONS.values():
        for function in functions:
            for live in (False, True):
                made = document(function, live)
                assert list(made) == ["name", "description", "parameters"]
                assert list(made["parameters"]) == ["type", "properties", "required"]
                assert made["parameters"]["type"] == "dict"
                assert tool(function, live).meta["bfcl"] == made
                assert tool(function, live) is tool(function, live)
                for parameter in function.parameters:
                    check_entry(parameter, made)


def check_entry(parameter: Parameter, made: dict[str, Any]) -> None:
    entry = made["parameters"]["properties"][parameter.name]
    assert entry["description"]
    assert (parameter.name in made["parameters"]["required"]) == parameter.required
    if not parameter.required and parameter.default is not None:
        assert entry["default"] == parameter.default
        assert "Default is" in entry["description"]


def test_a_city_is_accepted_with_and_without_its_country() -> None:
    said = {Place({"Oslo": "Norway"}).draw(Random(seed)).text for seed in range(60)}
    assert said == {"Oslo", "Oslo, Norway"}
    assert Place({"Oslo": "Norway"}).draw(Random(1)).accepted == ("Oslo", "Oslo, Norway")


@pytest.fixture(scope="module")
def official_folder(official_data: Path) -> Path:
    return official_data / "bfcl"


def official_rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((*folder.glob("BFCL_v4_*.json"), *folder.glob("unused_datasets/**/BFCL_v4_*.json"))):
        if "possible_answer" in path.parts or path.stem.endswith("format_sensitivity"):
            continue
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def test_nothing_is_taken_from_the_official_files(official_folder: Path) -> None:
    functions: set[tuple[str, tuple[str, ...]]] = set()
    questions: set[str] = set()
    descriptions: set[str] = set()
    for row in official_rows(official_folder):
        for function in row.get("function", ()):
            functions.add((function["name"], tuple(sorted(function["parameters"]["properties"]))))
            descriptions.add(function["description"])
        turns = row["question"]
        questions.update(m["content"] for turn in turns for m in (turn if isinstance(turn, list) else [turn]))
    assert len(questions) > 4_000
    for catalogue in FUNCTIONS.values():
        for function in catalogue:
            parameters = tuple(sorted(parameter.name for parameter in function.parameters))
            assert (function.name, parameters) not in functions
            assert (live_name(function), parameters) not in functions
            assert function.description not in descriptions
    ours = {question(task) for task in tasks_of(*STARTER_CATEGORIES)}
    assert ours & questions == set()


# --- errors, determinism, formats -------------------------------------------------------------------------------


@pytest.mark.parametrize("category", ["multi_turn_base", "format_sensitivity", "nonsense", ""])
def test_unknown_category_is_named(category: str) -> None:
    with pytest.raises(ConfigurationError, match=f"for '{category}'"):
        generate(category, "train")


@pytest.mark.parametrize("split", ["Train", "dev", ""])
def test_unknown_split_is_named(split: str) -> None:
    with pytest.raises(ConfigurationError, match=f"split '{split}'"):
        starter_single("parallel", split)
    with pytest.raises(ConfigurationError, match=f"split '{split}'"):
        generate("parallel", split)


FINGERPRINT = """
import hashlib, itertools
from callgym.envs.bfcl.starter.single_turn import STARTER_CATEGORIES, generate
digest = hashlib.sha256()
for category in STARTER_CATEGORIES:
    for split in ("train", "test"):
        for task in itertools.islice(generate(category, split), 20):
            digest.update(task.to_json().encode())
print(digest.hexdigest())
"""


def test_tasks_do_not_depend_on_the_hash_seed() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    printed = subprocess.run(
        [sys.executable, "-c", FINGERPRINT], capture_output=True, text=True, check=True, env=environment
    )
    first = (starter_single(category, split)[:20] for category in STARTER_CATEGORIES for split in COUNTS)
    here = hashlib.sha256("".join(task.to_json() for tasks in first for task in tasks).encode()).hexdigest()
    assert printed.stdout.strip() == here


@cache
def formats() -> Any:
    pytest.importorskip("callgym.envs.bfcl.prompt_formats")
    return starter_formats("test")


def test_formats_are_200_tasks_in_26_ways() -> None:
    tasks = formats()
    assert len(tasks) == 5_200
    assert len({task.id for task in tasks}) == 5_200
    assert len({task.meta["format"] for task in tasks}) == 26
    assert tasks[3] is tasks[3]
    assert tasks[25].messages == tasks[0].messages != tasks[26].messages
    kinds = Counter(str(task.meta["original_category"]) for task in tasks)
    assert kinds["live_multiple"] == 86 * 26
    assert kinds["simple_python"] == 30 * 26
    assert {task.meta["category"] for task in tasks} == {"format_sensitivity"}
    originals = {task.id for category in WITH_GOLD for task in starter_single(category, "test")}
    assert not originals & {str(task.meta["original"]) for task in tasks}


def test_formats_ask_for_a_split() -> None:
    formats()
    with pytest.raises(ConfigurationError, match="split 'dev'"):
        starter_formats("dev")
