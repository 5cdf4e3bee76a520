"""Near misses: every miss is one, every variant is right, and scorers are counted fairly."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from callgym import ENVIRONMENTS, Message, Task, Tool, ToolCall
from callgym.cli import main
from callgym.dialects import get_dialect
from callgym.envs.base import make_tool_env
from callgym.envs.bfcl.categories import CATEGORIES
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.rewards import call_exact_match, irrelevance_abstention
from callgym.trainers.linear_reward import FEATURES, LinearRewardModel, features
from callgym.trainers.mutations import KINDS, TIE_KINDS, Decision, Die, ValuePool
from callgym.trainers.near_misses import (
    NearMiss,
    Prompt,
    accuracy_by_kind,
    accuracy_table,
    near_misses,
    read_near_misses,
    rule_scorers,
    write_near_misses,
)

API_BANK = "apibank/L1-v0"
API_BANK_IDS = [entry.id for entry in ENVIRONMENTS if entry.family == "apibank"]
ENOUGH = 4 * len(KINDS)
Judge = Callable[[str, str], dict[str, Any]]


def make(id: str = API_BANK, count: int = ENOUGH, seed: int = 0, **options: Any) -> list[NearMiss]:
    return list(near_misses(id, count, seed, **{"data": "starter", **options}))


# What is a miss is one.

OF_WORDS = {"call_instead", "call_plus_refusal"}
"""Kinds of a task that is to be declined."""
OF_VALUES = {kind for kind in KINDS if re.fullmatch("wrong_(string|number|date|boolean|list)", kind)}
ONE_FUNCTION = {"simple_python", "simple_java", "simple_javascript", "live_simple", "parallel", "live_parallel"}


def kinds_of(id: str) -> list[str]:
    """The kinds that an id's tasks have a place for."""
    family, _, name = id.removesuffix("-v0").partition("/")
    absent: set[str] = set()
    if family == "bfcl":
        category = CATEGORIES[name]
        absent |= set(KINDS) - OF_WORDS if category.kind == "irrelevance" else OF_WORDS
        absent |= OF_VALUES if category.kind == "relevance" else set()  # other values are right, too
        absent |= OF_VALUES - {"wrong_string"} if category.language != "python" else set()  # all values are texts
        absent |= {"wrong_tool"} if name in ONE_FUNCTION else set()
    return [kind for kind in KINDS if kind not in absent]


def cases() -> list[tuple[str, str | None]]:
    """Ids and dialects: API-Bank's in two, BFCL's categories in their own, a few in another one."""
    found: list[tuple[str, str | None]] = [(id, dialect) for id in API_BANK_IDS for dialect in ("apibank", "hermes")]
    asked = [category for category in CATEGORIES.values() if category.kind not in ("memory", "web_search")]
    found += [(f"bfcl/{category.name}-v0", None) for category in asked]
    return [*found, ("bfcl/parallel_multiple-v0", "hermes"), ("bfcl/multi_turn_miss_func-v0", "openai")]


@pytest.mark.parametrize(("id", "dialect"), cases())
def test_every_kind_is_what_it_says_in_every_environment(id: str, dialect: str | None) -> None:
    """Played anew and scored by the environment itself, not by the code that made the pairs."""
    kinds = kinds_of(id)
    count = 4 * len(kinds)
    options: dict[str, Any] = {} if dialect is None else {"dialect": dialect}
    pairs = make(id, count, kinds=kinds, **options)
    assert len(pairs) == count
    assert {pair.kind for pair in pairs} == set(kinds)
    assert len({(pair.kind, pair.task_id, pair.rejected) for pair in pairs}) == count
    env = make_tool_env(id, data="starter", **options)

    def play(pair: NearMiss, action: str) -> dict[str, Any]:
        text, info = env.reset(seed=3, options={"task": pair.task_id})
        messages, tools = info["messages"], info["tools"]
        while text != pair.prompt.text:
            text, *_, info = env.step(env.oracle_action())
            messages, tools = messages + info["messages"], info.get("tools", tools)
        assert (messages, tools) == (list(pair.prompt.messages), list(pair.prompt.tools))
        _, _, terminated, truncated, info = env.step(action)
        while not (terminated or truncated):
            _, _, terminated, truncated, info = env.step(env.oracle_action())
        episode = info["episode"]
        scores = {reward.__name__: reward(env.task, episode) for reward in (call_exact_match, irrelevance_abstention)}
        return {**{name: score.value for name, score in scores.items()}, "return": episode.episode_return}

    for pair in pairs:
        right, other = play(pair, pair.chosen), play(pair, pair.rejected)
        asked = asked_of(env.task)
        assert right[asked] == right["return"] == 1.0, pair
        if pair.kind in TIE_KINDS:
            assert pair.expected == "tie"
            assert other[asked] == other["return"] == 1.0, pair
            assert pair.chosen != pair.rejected
        else:
            assert pair.expected == "chosen"
            assert asked == "return" or other[asked] == 0.0, pair
            assert other["return"] < 1.0, pair
        assert (pair.kind in OF_WORDS) is (asked == "irrelevance_abstention")


def asked_of(task: Task) -> str:
    """What says whether calls are right: their comparison, the abstention, or the return where neither does."""
    calls, decision = task.goal_of(CallsGoal), task.goal_of(DecisionGoal)
    if calls is not None:
        return "return" if calls.exemplary else "call_exact_match"
    assert decision is not None
    return "irrelevance_abstention" if decision.decision == "decline" else "return"


@pytest.mark.parametrize("name", ["simple_java", "irrelevance", "live_relevance", "multi_turn_miss_param"])
def test_a_kind_that_the_tasks_have_no_place_for_gives_no_pair(name: str) -> None:
    id = f"bfcl/{name}-v0"
    assert make(id, 1, kinds=[kind for kind in KINDS if kind not in kinds_of(id)]) == []


@pytest.mark.parametrize("id", ["bfcl/memory_kv-v0", "bfcl/web_search_base-v0", "bfcl/agentic-v0"])
def test_where_nothing_but_the_answer_counts_there_are_none(id: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{id} has no task whose calls are right or wrong"):
        near_misses(id, 1, data="starter")


def test_a_group_has_the_pairs_of_all_its_categories_each_in_its_own_notation() -> None:
    pairs = make("bfcl/all-v0", 4 * len(KINDS), kinds=["equal_variant", "truncated_call", "missing_argument"])
    written = {pair.task_id.split("/")[1]: pair for pair in pairs}
    assert {"simple_java", "multiple", "multi_turn_base"} <= written.keys()
    assert not [name for name in written if name.startswith(("memory", "web"))]
    scorer = rule_scorers("bfcl/all-v0", data="starter")["default rubric"]
    assert {numbers["accuracy"] for numbers in accuracy_by_kind(pairs, scorer).values()} == {1.0}


@pytest.mark.parametrize("id", API_BANK_IDS)
def test_in_a_dialogue_the_oracle_goes_on_afterwards(id: str) -> None:
    goes_on(id, protocol="dialogue")


@pytest.mark.parametrize("name", [category.name for category in CATEGORIES.values() if category.kind == "multi_turn"])
def test_in_a_dialogue_with_exemplary_calls_it_does_as_well(name: str) -> None:
    for scorer, numbers in goes_on(f"bfcl/{name}-v0"):
        assert (numbers["unknown"] == numbers["pairs"]) is (scorer != "default rubric")


def goes_on(id: str, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    pairs = make(id, 60, **options)
    assert len(pairs) == 60
    assert any(message["role"] == "tool" for pair in pairs for message in pair.prompt.messages)  # later moments, too
    found = []
    for name, scorer in rule_scorers(id, data="starter", **options).items():
        for numbers in accuracy_by_kind(pairs, scorer).values():
            assert numbers["accuracy"] in (1.0, None)
            found.append((name, numbers))
    return found


def test_a_number_in_quotes_is_a_miss_only_where_values_are_typed() -> None:
    for dialect, typed in (("hermes", True), ("apibank", False)):
        pairs = make(kinds=["wrong_type"], count=200, dialect=dialect)
        parse = get_dialect(dialect).parse
        quoted = 0
        for pair in pairs:
            (right,), (wrong,) = parse(pair.chosen).calls, parse(pair.rejected).calls
            ((a, b),) = [(right.arguments[k], wrong.arguments[k]) for k in right.arguments
                         if right.arguments[k] != wrong.arguments[k]]  # fmt: skip
            quoted += str(a) == b
        assert (quoted > 10) is typed
        assert bool(quoted) is typed


@pytest.mark.parametrize("split", ["train", "test"])
def test_pairs_and_their_values_stay_in_their_split(split: str) -> None:
    kinds = ["wrong_string", "wrong_tool", "extra_call"]
    pairs = make(count=300, split=split, kinds=kinds)
    assert all(f"/{split}/" in pair.task_id for pair in pairs)
    tasks = make_tool_env(API_BANK, data="starter", split=split).tasks
    asked = [call.reference() for task in tasks if (goal := task.goal_of(CallsGoal)) for call in goal.turns[0]]
    made = [call for task in tasks for message in task.messages for call in message.tool_calls]
    known = {call.arguments["city"] for call in [*asked, *made] if "city" in call.arguments}
    found = re.findall(r"city='([^'\\]+)'", " ".join(pair.rejected for pair in pairs))
    assert len(found) > 10
    assert set(found) <= known


def test_tasks_with_a_faulty_label_are_left_out() -> None:
    tasks = list(make_tool_env(API_BANK, data="starter").tasks[:40])
    flagged = [task.model_copy(update={"meta": {**task.meta, "label_fault": "not a call"}}) for task in tasks[:30]]
    pairs = make(data=[*flagged, *tasks[30:]], count=200)
    assert {pair.task_id for pair in pairs} <= {task.id for task in tasks[30:]}


def test_pairs_end_where_the_data_hold_no_more() -> None:
    tasks = make_tool_env(API_BANK, data="starter").tasks[:2]
    pairs = make(data=tasks, count=10_000, kinds=["duplicated_call", "truncated_call"])
    assert 0 < len(pairs) < 10_000
    assert len({(pair.task_id, pair.kind, pair.rejected) for pair in pairs}) == len(pairs)


# Mutations by hand.


def decision(action: str, **given: Any) -> Decision:
    """A decision about one task of two tools, in brackets."""
    dialect = get_dialect(given.pop("dialect", "hermes"))
    tools = {
        "Book": {"city": "string", "target": "string", "day": "string", "nights": "integer", "price": "number"},
        "Tell": {"whom": "string", "people": "array", "loud": "boolean"},
    }
    schemas: dict[str, dict[str, Any]] = {
        name: {"type": "object", "properties": {key: {"type": kind} for key, kind in keys.items()}, "required": [*keys]}
        for name, keys in tools.items()
    }
    pool_tasks = [
        Task(
            id=f"pool/{city}",
            family="pool",
            split="test",
            messages=(Message(role="user", content="Go."),),
            tools=tuple(Tool(name=name, parameters=schema) for name, schema in schemas.items()),
            goal=CallsGoal(
                turns=((GoldCall(name="Book", arguments={"city": (city,), "target": ("Ghent", "GHENT")}),),)
            ),
        )
        for city in ("Oslo", "Bath", "Rome")
    ]
    calls = dialect.parse(action).calls
    return Decision(
        dialect=dialect,
        text="From Rome to Bath on 2024-05-03.",
        action=action,
        calls=calls,
        gold=tuple(given.get("gold", [None] * len(calls))),
        ordered=given.get("ordered", False),
        tools=schemas,
        pool=ValuePool(pool_tasks),
    )


def written(name: str, **arguments: Any) -> str:
    return get_dialect("hermes").render_action([ToolCall(name=name, arguments=arguments)])


def outcomes(kind: str, where: Decision) -> set[str]:
    made = [KINDS[kind](where, Die("test", kind, number)) for number in range(60)]
    return {action for action in made if action is not None}


def changes(kind: str, **arguments: Any) -> set[str]:
    """What a mutation makes of a call of Book, as JSON of the arguments."""
    parse = get_dialect("hermes").parse
    actions = outcomes(kind, decision(written("Book", **arguments)))
    return {json.dumps(parse(action).calls[0].arguments) for action in actions}


VALUES: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    ("wrong_number", {"nights": 7}, [{"nights": 8}, {"nights": 6}, {"nights": -7}, {"nights": 70}]),
    ("wrong_number", {"nights": 20}, [{"nights": 21}, {"nights": 19}, {"nights": -20}, {"nights": 2}]),
    ("wrong_number", {"price": 0.5}, [{"price": 1.5}, {"price": -0.5}, {"price": 5.0}]),
    ("wrong_number", {"nights": 0}, [{"nights": 1}, {"nights": -1}]),
    ("wrong_number", {"nights": True}, []),
    ("wrong_date", {"day": "2024-05-03"}, [{"day": "2024-05-02"}, {"day": "2024-05-04"}, {"day": "2024-03-05"}]),
    ("wrong_date", {"day": "2024-01-31 10:30"}, [{"day": "2024-01-30 10:30"}, {"day": "2024-02-01 10:30"}]),
    ("wrong_date", {"day": "2024-05-05"}, [{"day": "2024-05-04"}, {"day": "2024-05-06"}]),
    ("wrong_date", {"day": "2023-02-30"}, []),
    ("wrong_date", {"day": "0001-01-01"}, []),
    ("wrong_date", {"day": "tomorrow"}, []),
    ("wrong_string", {"city": "Rome"}, [{"city": "Oslo"}, {"city": "Bath"}]),
    ("wrong_string", {"day": "2024-05-03"}, []),
    ("wrong_boolean", {"loud": True}, [{"loud": False}]),
    ("wrong_list", {"people": ["Ann", "Bo"]}, [{"people": ["Ann"]}, {"people": ["Bo"]}]),
    ("missing_argument", {"city": "Rome", "nights": 2}, [{"city": "Rome"}, {"nights": 2}]),
    ("swapped_arguments", {"city": "Rome", "target": "Bath"}, [{"city": "Bath", "target": "Rome"}]),
    ("swapped_arguments", {"city": "Rome", "day": "2024-05-03"}, []),
    ("swapped_arguments", {"city": "Rome", "target": "Rome"}, []),
    ("wrong_type", {"nights": 3}, [{"nights": "three"}, {"nights": "3"}]),
    ("wrong_type", {"nights": 3.5}, [{"nights": "about 3.5"}, {"nights": "3.5"}]),
    ("wrong_type", {"loud": True}, [{"loud": "yes"}, {"loud": "true"}]),
    ("wrong_type", {"people": ["Ann", "Bo"]}, [{"people": "Ann and Bo"}, {"people": "Ann, Bo"}]),
    ("wrong_type", {"city": "Rome"}, [{"city": ["Rome"]}]),
    ("equal_variant", {"city": "Rome", "nights": 2}, [{"nights": 2, "city": "Rome"}]),
    ("equal_variant", {"price": 98}, [{"price": 98.0}]),
    ("equal_variant", {"nights": 98}, []),
]


@pytest.mark.parametrize(("kind", "before", "after"), VALUES)
def test_what_a_mutation_makes_of_a_value(kind: str, before: dict[str, Any], after: list[dict[str, Any]]) -> None:
    assert changes(kind, **before) == {json.dumps(arguments) for arguments in after}


def test_numbers_stay_numbers() -> None:
    assert all(json.loads(made)["price"] < 1e308 * 2 for made in changes("wrong_number", price=1.7e308))


def test_another_tool_takes_what_it_shares() -> None:
    parse = get_dialect("hermes").parse
    for action in outcomes("wrong_tool", decision(written("Tell", city="Paris", loud=True))):
        (other,) = parse(action).calls
        assert (other.name, other.arguments["city"]) == ("Book", "Paris")
        assert set(other.arguments) == {"city", "target", "day", "nights", "price"}
    made = " ".join(outcomes("extra_call", decision(written("Tell", whom="Ann"))))
    assert "Ghent" in made


def test_a_tool_that_is_there_is_not_hallucinated() -> None:
    found = outcomes("hallucinated_tool", decision(written("Book", city="Rome")))
    names = {call.name for action in found for call in get_dialect("hermes").parse(action).calls}
    assert names == {"book", "Books", "BookV2", "DoBook"}


def test_accepted_values_and_options_make_variants() -> None:
    gold = GoldCall(name="Book", arguments={"city": ("Rome", "Roma"), "day": ("today",)}, optional=("day",))
    where = decision(written("Book", city="Rome", day="today"), gold=[gold])
    assert outcomes("equal_variant", where) == {
        written("Book", city="Roma", day="today"),
        written("Book", city="Rome"),
        written("Book", day="today", city="Rome"),
    }


def test_two_calls_may_change_places_where_order_is_free() -> None:
    action = written("Tell") + "\n" + written("Book")
    turned = written("Book") + "\n" + written("Tell")
    assert outcomes("equal_variant", decision(action)) == {turned}
    assert outcomes("equal_variant", decision(action, ordered=True)) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_words_and_calls_have_kinds_of_their_own(kind: str) -> None:
    declined = outcomes(kind, decision("No tool does that."))
    assert bool(declined) is (kind in ("call_instead", "call_plus_refusal"))
    for action in declined:
        assert ("No tool does that." in action) is (kind == "call_plus_refusal")


# The same everywhere.


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    program = (
        "import sys; from callgym.trainers.near_misses import near_misses as n, write_near_misses as w; "
        "w(sys.argv[1], n('apibank/L2-v0', 120, 5, data='starter')); "
        "w(sys.argv[2], n('apibank/L1-v0', 60, 5, data='starter', dialect='hermes', protocol='dialogue'))"
    )
    written = []
    for seed in ("0", "7"):
        out = [tmp_path / f"{name}{seed}" for name in "ab"]
        command = [sys.executable, "-c", program, *map(str, out)]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}, timeout=120)
        written.append([path.read_bytes() for path in out])
    assert written[0] == written[1]


def test_another_seed_gives_other_pairs_and_more_pairs_begin_with_the_fewer() -> None:
    assert make(seed=1)[:40] != make(seed=2)[:40]
    assert make(count=80)[:40] == make(count=40)


def test_the_kinds_asked_for_come_in_turn() -> None:
    kinds = ["wrong_tool", "equal_variant", "refusal_instead"]
    assert [pair.kind for pair in make(count=6, kinds=kinds)] == kinds * 2


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"kinds": ["typo"]}, r"no near miss of kind \['typo'\]; there are: wrong_tool, "),
        ({"kinds": []}, "there are: wrong_tool, "),
        ({"count": 0}, "count is at least 1"),
        ({"seed": -1}, "seed at least 0"),
        ({"colour": "red"}, "takes no option"),
        ({"split": "holdout"}, "split 'holdout'"),
    ],
)
def test_a_wrong_argument_is_named_at_once(arguments: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        near_misses(API_BANK, **{"count": 1, "data": "starter", **arguments})


# Counting.


def pair(kind: str, chosen: str, rejected: str) -> NearMiss:
    prompt = Prompt("task", ({"role": "user", "content": "Go."},), (), "Go.")
    return NearMiss(kind, prompt, chosen, rejected, "tie" if kind in TIE_KINDS else "chosen")


COUNTS: list[tuple[str, list[tuple[str, str]], float, tuple[int, int, int, int, float | None]]] = [
    ("wrong_tool", [("2", "1"), ("1", "2"), ("1", "1"), ("3", "0")], 0.0, (4, 2, 1, 0, 0.5)),
    ("wrong_tool", [("2", "1"), ("?", "1"), ("1", "?")], 0.0, (3, 1, 0, 2, 1.0)),
    ("wrong_tool", [("?", "?")], 0.0, (1, 0, 0, 1, None)),
    ("wrong_tool", [("1.1", "1")], 0.5, (1, 1, 0, 0, 1.0)),
    ("equal_variant", [("1", "1"), ("2", "1"), ("1", "2")], 0.0, (3, 1, 1, 0, 1 / 3)),
    ("equal_variant", [("1", "1"), ("2", "1"), ("1", "2.5")], 1.0, (3, 2, 2, 0, 2 / 3)),
]


@pytest.mark.parametrize(("kind", "scores", "tolerance", "expected"), COUNTS)
def test_scorers_are_counted(kind: str, scores: list[tuple[str, str]], tolerance: float, expected: Any) -> None:
    def scorer(prompt: Prompt, action: str) -> float | None:
        return None if action == "?" else float(action)

    (numbers,) = accuracy_by_kind([pair(kind, *both) for both in scores], scorer, tolerance).values()
    assert tuple(numbers[name] for name in ("pairs", "right", "ties", "unknown", "accuracy")) == pytest.approx(expected)


def test_the_table_has_a_row_a_kind_and_leaves_variants_out_of_the_mean() -> None:
    pairs = [pair("wrong_tool", "2", "1"), pair("wrong_date", "1", "2"), pair("equal_variant", "1", "1")]
    result = accuracy_by_kind(pairs, lambda prompt, action: float(action))
    nothing = accuracy_by_kind(pairs, lambda prompt, action: None)
    lines = [line.split() for line in accuracy_table({"mine": result, "none": nothing}).splitlines()]
    assert lines == [
        ["kind", "pairs", "mine", "none"],
        ["wrong_tool", "1", "1.000", "-"],
        ["wrong_date", "1", "0.000", "-"],
        ["equal_variant", "1", "1.000", "-"],
        ["mean", "of", "the", "misses", "0.500", "-"],
    ]


def test_our_rules_make_no_mistake() -> None:
    pairs = make(count=180)
    for name, scorer in rule_scorers(API_BANK, data="starter").items():
        for kind, numbers in accuracy_by_kind(pairs, scorer).items():
            declined = kind in ("call_instead", "call_plus_refusal") and name != "default rubric"
            assert numbers["accuracy"] == (None if declined else 1.0), (name, kind)


def test_a_prompt_of_other_options_is_no_prompt() -> None:
    scorer = rule_scorers(API_BANK, data="starter", dialect="hermes")["argument_f1"]
    (other,) = make(count=1, dialect="apibank")
    with pytest.raises(ConfigurationError, match="were the pairs made with other options"):
        scorer(other.prompt, other.chosen)


# Files.


def test_pairs_go_through_a_file_without_loss(tmp_path: Path) -> None:
    pairs = make(count=40)
    assert write_near_misses(tmp_path / "new" / "pairs.jsonl", pairs) == 40
    assert list(read_near_misses(tmp_path / "new" / "pairs.jsonl")) == pairs
    (row, *_) = map(json.loads, (tmp_path / "new" / "pairs.jsonl").read_text(encoding="utf-8").splitlines())
    for column in ("prompt", "chosen", "rejected"):  # TRL's preference format
        assert all(Message.from_dict(message) for message in row[column])


@pytest.mark.parametrize(
    "damage",
    ["{", "[]", "3", '{"kind": "wrong_tool"}', "null", '{"chosen": []}'],
)
def test_a_bad_row_is_named(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "pairs.jsonl"
    write_near_misses(file, make(count=2))
    with file.open("a", encoding="utf-8") as lines:
        lines.write(damage + "\n")
    with pytest.raises(DataError, match=r"pairs\.jsonl, row 3: "):
        list(read_near_misses(file))
    with pytest.raises(DataError, match=r"none\.jsonl does not exist"):
        next(read_near_misses(tmp_path / "none.jsonl"))


@pytest.mark.parametrize("change", [{"expected": "rejected"}, {"kind": 3}, {"chosen": [{"content": None}]}])
def test_a_row_with_a_wrong_field_is_no_pair(change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="here: no near miss"):
        NearMiss.from_row({**make(count=1)[0].as_row(), **change}, "here")


def test_the_command_writes_pairs_and_prints_the_table(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    words = ["near-misses", API_BANK, "--count", "36", "--seed", "3", "--data", "starter", "--out", str(out)]
    result = CliRunner().invoke(main, [*words, "--score", "rules"])
    assert result.exit_code == 0, result.output
    first, head, *lines = result.stdout.splitlines()
    assert first == f"36 pairs in {out}"
    assert head.split() == ["kind", "pairs", "call_exact_match", "argument_f1", "default", "rubric"]
    assert [line.split()[0] for line in lines[:-1]] == list(KINDS)
    assert list(read_near_misses(out)) == make(count=36, seed=3)
    only = CliRunner().invoke(main, [*words, "--kind", "wrong_date"])
    assert only.exit_code == 0
    assert Counter(pair.kind for pair in read_near_misses(out)) == {"wrong_date": 36}
    wrong = CliRunner().invoke(main, [*words, "--kind", "typo"])
    assert (wrong.exit_code, wrong.stderr.startswith("Error: no near miss of kind ['typo']")) == (3, True)


# Trained baselines.


def test_features_learn_what_can_be_seen() -> None:
    """A linear model of them tells what needs no reading; which of two rooms was meant it cannot."""
    dialect = get_dialect("apibank")
    model = LinearRewardModel.fit(make(count=600, seed=1), dialect)
    assert model.weights.shape == (len(FEATURES),)
    result = accuracy_by_kind(make(count=180, seed=2), model)
    for kind in ("hallucinated_tool", "missing_argument", "truncated_call", "duplicated_call", "refusal_instead"):
        assert (result[kind]["accuracy"] or 0.0) > 0.85, kind


def test_features_need_no_gold_call_and_mind_no_order() -> None:
    (given,) = make(count=1, kinds=["equal_variant"])
    dialect = get_dialect("apibank")
    chosen, rejected = (features(given.prompt, action, dialect) for action in (given.chosen, given.rejected))
    assert chosen.shape == (len(FEATURES),)
    assert (chosen == rejected).all()
    for action in ("", "[", "[Unknown()]", "words", "[GetWeather(city=" * 50):
        assert features(given.prompt, action, dialect).shape == (len(FEATURES),)
    with pytest.raises(ConfigurationError, match="no pair to learn from"):
        LinearRewardModel.fit([given], dialect)


def load_example() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "examples" / "train_reward_model.py"
    spec = importlib.util.spec_from_file_location("examples_train_reward_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_example_trains_measures_and_saves(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    transformers = pytest.importorskip("transformers")
    module = load_example()
    assert module.parse_arguments([]) == module.Arguments()
    path = Path(module.__file__ or "")
    command = [sys.executable, str(path), "--smoke", "--train-split", "test", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "run" / "accuracy.json").read_text(encoding="utf-8"))
    assert list(results) == ["call_exact_match", "argument_f1", "default rubric", "features", "trained model"]
    assert all(set(result) == set(KINDS) for result in results.values())
    table = (tmp_path / "run" / "table.txt").read_text(encoding="utf-8")
    assert table in done.stdout
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "run" / "model")
    assert model.config.num_labels == 1
    again = [sys.executable, str(path), "--smoke", "--train-split", "test", "--model", str(tmp_path / "run" / "model")]
    done = subprocess.run(
        [*again, "--out", str(tmp_path / "second")], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
