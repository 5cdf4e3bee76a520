"""The starter dialogues of API-Bank: distinct, seeded, split cleanly, and playable to the full return by their gold."""

from __future__ import annotations

import calendar
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from itertools import islice, pairwise
from typing import Any

import gymnasium as gym
import pytest

import callgym  # noqa: F401  registers the environments
from callgym.call import ToolCall
from callgym.envs.apibank.env import ApiBankEnv
from callgym.envs.apibank.live import SEARCH, searches_for
from callgym.envs.apibank.simulator.manager import TOOL_SETS
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import starter_tables
from callgym.envs.apibank.starter import generate_dialogues, starter_dialogues
from callgym.envs.apibank.starter.live.forms import CHAINS, FORMS
from callgym.envs.apibank.starter.live.requirements import REQUIREMENTS
from callgym.envs.apibank.starter.live.sentences import SYSTEM, YEAR
from callgym.envs.apibank.starter.live.values import KINDS, TODAY
from callgym.envs.apibank.starter.worlds import split_of
from callgym.envs.apibank.tools import make_tool
from callgym.errors import ConfigurationError
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool_backends.base import checked_call
from callgym.tool_backends.ranking import get_ranker

LEVELS, COUNTS = (1, 2, 3), {"train": 2_000, "test": 300}
NEVER_GOLD = {SEARCH}
"""A tool search is never asked for: which keywords find a tool is the policy's own affair."""
SHARES = {
    "one_request": 0.175,
    "several_requests": 0.23,
    "needs_token": 0.195,
    "vague_request": 0.15,
    "relative_day": 0.05,
    "partly_served": 0.07,
    "no_tool_fits": 0.13,
}
SHARES_OF_LEVEL_3 = {"requirement": 0.79, "partly_served": 0.08, "no_tool_fits": 0.13}
CONSTANTS = {"Forgot Password", "Verification Code"}
MONTHS = tuple(calendar.month_name)
RELATIVE = {"today": 0, "this day": 0, "tomorrow": 1, "day after tomorrow": 2, "one week from": 7, "two weeks from": 14}


@cache
def backend(level: int) -> SimulatorBackend:
    return SimulatorBackend(starter_tables(), "lv3_apis" if level == 3 else "apis", get_ranker("bm25"))


def each_task() -> Iterator[tuple[int, Task]]:
    for level in LEVELS:
        for split in COUNTS:
            for task in starter_dialogues(level, split):
                yield level, task


def gold_turns(task: Task) -> list[list[ToolCall]]:
    goal = task.goal_of(CallsGoal)
    return [] if goal is None else [[call.reference() for call in turn] for turn in goal.turns]


def user_words(task: Task) -> list[str]:
    return [task.messages[-1].content or "", *(turn.content for turn in task.user_turns)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("split", COUNTS)
def test_counts_and_distinctness(level: int, split: str) -> None:
    tasks = starter_dialogues(level, split)
    assert len(tasks) == len({task.id for task in tasks}) == COUNTS[split]
    assert len({json.dumps([[t.name for t in task.tools], user_words(task)]) for task in tasks}) == len(tasks)
    assert tasks[0].id == f"starter/L{level}/live/{split}/000000"
    assert {task.split for task in tasks} == {split}
    assert starter_dialogues(level, split) is tasks


@pytest.mark.parametrize("level", LEVELS)
def test_other_seeds_give_other_tasks(level: int) -> None:
    more = list(islice(generate_dialogues(level, "train", seed=7), 200))
    first = starter_dialogues(level, "train")[:200]
    assert len({task.id for task in more} | {task.id for task in first}) == 400
    assert sum(user_words(a) == user_words(b) for a, b in zip(first, more, strict=True)) == 0


FINGERPRINT = """
import hashlib, itertools
from callgym.envs.apibank.starter import generate_dialogues
digest = hashlib.sha256()
for level in (1, 2, 3):
    for split in ("train", "test"):
        for task in itertools.islice(generate_dialogues(level, split), 150):
            digest.update(task.to_json().encode())
print(digest.hexdigest())
"""


def test_tasks_do_not_depend_on_the_hash_seed() -> None:
    digests = set()
    for hash_seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", FINGERPRINT], capture_output=True, text=True, check=True, env=environment
        )
        digests.add(run.stdout)
    assert len(digests) == 1


def test_splits_share_no_pair_of_a_sentence_and_an_entity() -> None:
    pairs: dict[str, set[str]] = {"train": set(), "test": set()}
    for _, task in each_task():
        mine: Any = task.meta["pairs"]
        assert mine, task.id
        pairs[task.split].update(mine)
    assert pairs["train"] & pairs["test"] == set()
    assert len(pairs["test"]) > 1_000
    for split, found in pairs.items():
        assert all(split_of(*pair.split("=", 1)) == split for pair in found)


def test_what_a_task_says_of_itself() -> None:
    for level, task in each_task():
        assert task.meta["source"] == "starter"
        assert task.meta["level"] == level
        assert "gold_fault" not in task.meta
        replies: Any = task.meta["replies"]
        assert len(replies) == len(user_words(task)) == 1 + len(task.user_turns)
        assert all(replies)
        assert task.messages[0].content == (SYSTEM if level < 3 else YEAR)
        assert len(json.dumps(task.initial_state)) < 2_000


@pytest.mark.parametrize("level", LEVELS)
def test_shares_of_kinds(level: int) -> None:
    shares = SHARES if level < 3 else SHARES_OF_LEVEL_3
    for split, slack in (("train", 0.005), ("test", 0.01)):
        tasks = starter_dialogues(level, split)
        counted = Counter(str(task.meta["kind"]) for task in tasks)
        assert set(counted) == set(shares)
        for kind, share in shares.items():
            assert counted[kind] / len(tasks) == pytest.approx(share, abs=slack), kind


@pytest.mark.parametrize("level", LEVELS)
def test_every_tool_is_called_and_can_be_found(level: int) -> None:
    called = {call.name for task in starter_dialogues(level, "train") for turn in gold_turns(task) for call in turn}
    assert called == TOOL_SETS[backend(level).tool_set].keys() - NEVER_GOLD
    for name in called:
        assert searches_for(name, backend(level)) is not None


def test_every_form_is_used() -> None:
    used = set()
    for level in (1, 2):
        for task in starter_dialogues(level, "train"):
            pairs: Any = task.meta["pairs"]
            used |= {pair.split("=")[0].rsplit("/", 2)[0] for pair in pairs}
    forms = [form for group in (*FORMS.values(), *CHAINS.values()) for form in group]
    assert {form.id for form in forms if form.slots} <= used
    follows = set()
    for task in starter_dialogues(2, "train"):
        calls = [call.name for turn in gold_turns(task) for call in turn]
        follows |= set(pairwise(calls))
    assert {(first.split("/")[0], form.tool) for first, group in CHAINS.items() for form in group} <= follows
    names = {str(pair).split("/")[1] for task in starter_dialogues(3, "train") for pair in pairs_of(task)}
    assert len(names - {"unserved"}) == len(REQUIREMENTS)


def pairs_of(task: Task) -> list[str]:
    pairs: Any = task.meta["pairs"]
    return [str(pair) for pair in pairs if str(pair).startswith("requirement/")]


def test_slots_are_of_known_kinds_and_every_form_is_whole() -> None:
    for form in (form for group in (*FORMS.values(), *CHAINS.values()) for form in group):
        assert form.clauses, form.id
        assert form.replies, form.id
        assert bool(form.vague) == bool(form.asks) == bool(form.answers), form.id
        for slot in form.slots:
            assert slot.kind in KINDS, form.id
            for text in (*form.clauses, *form.answers):
                assert slot.is_in(text) or form.tool in ("QueryAgenda", "QueryMeeting"), (form.id, text)


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_shown(level: int) -> None:
    for task in starter_dialogues(level, "train"):
        names = [tool.name for tool in task.tools]
        gold = {call.name for turn in gold_turns(task) for call in turn}
        if level == 1:
            assert 3 <= len(names) <= 6
            assert gold <= set(names)
            assert SEARCH not in names
        else:
            assert names == [SEARCH]
        if level == 3:
            assert not task.user_turns
            assert not gold or 2 <= sum(map(len, gold_turns(task))) <= 4


def test_kinds_have_their_shape() -> None:
    for _, task in each_task():
        kind, turns = task.meta["kind"], gold_turns(task)
        declines = task.goal_of(DecisionGoal)
        assert (declines is not None) == (kind == "no_tool_fits") == (not turns)
        if declines is not None:
            assert declines.decision == "decline"
        elif kind == "vague_request":
            assert not turns[0]
            assert turns[1]
        elif kind == "needs_token":
            assert any("token" in call.arguments for turn in turns for call in turn)
        elif kind == "relative_day":
            assert "GetToday" in [call.name for turn in turns for call in turn]
        elif kind == "partly_served":
            assert len(turns) == 1 or not (turns[0] and turns[-1])


def test_gold_calls_are_valid_and_succeed_in_a_fresh_session() -> None:
    for level, task in each_task():
        before = json.dumps(task.initial_state)
        schemas = all_schemas(level)
        session = backend(level).open(task, seed=1)
        for call in (call for turn in gold_turns(task) for call in turn):
            result = checked_call(session, call, schemas)
            assert result.ok, (task.id, call, result.message)
        assert json.dumps(task.initial_state) == before


@cache
def all_schemas(level: int) -> dict[str, ToolSchema]:
    documents = backend(level).tables.documents[backend(level).tool_set]
    return {name: ToolSchema(make_tool(document)) for name, document in documents.items()}


def test_gold_values_can_be_known_when_they_are_needed() -> None:
    for _, task in each_task():
        results: Any = list(task.meta.get("gold_results", []))  # type: ignore[arg-type]
        known = ""
        for words, calls in zip(user_words(task), gold_turns(task), strict=False):
            known += f"\n{words}"
            for call in calls:
                for name, value in call.arguments.items():
                    assert is_known(value, known), (task.id, call.name, name, value, known)
                known += "\n" + json.dumps(results.pop(0), ensure_ascii=False)


def is_known(value: Any, known: str) -> bool:
    if isinstance(value, bool):
        return re.search(rf"\b{'on' if value else 'off'}\b", known) is not None
    if isinstance(value, dict):
        return all(is_known(item, known) for item in value.values())
    if isinstance(value, list):
        return all(is_known(item, known) for item in value)
    if value == "" or value in CONSTANTS or states(known, str(value)):
        return True
    if re.fullmatch(r"[\d+*/()-]+", str(value)) and not re.fullmatch(r"\d+-\d+-\d+|\d\d-\d\d", str(value)):
        return all(states(known, number) for number in re.findall(r"\d+", str(value)))
    return is_known_moment(str(value), known)


def states(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def is_known_moment(value: str, known: str) -> bool:
    """Whether a day or time is told as people say it; the year is told first."""
    moment = re.fullmatch(r"(?:2023-)?(\d\d)-(\d\d)(?: (\d\d):(\d\d):00)?", value)
    if moment is None:
        return False
    month, day, hour, minute = moment.groups()
    days = [f"{MONTHS[int(month)]} {int(day)}", f"2023-{month}-{day}"]
    if "2023-03-31" in known:
        days += [word for word, after in RELATIVE.items() if TODAY + timedelta(days=after) == day_of(value)]
    if not any(re.search(rf"\b{word}\b", known) for word in days):
        return False
    if hour is None:
        return True
    clock = f"{int(hour) % 12 or 12}" + (f":{minute}" if minute != "00" else "")
    return re.search(rf"\b{clock} {'am' if int(hour) < 12 else 'pm'}\b", known) is not None


def day_of(value: str) -> date:
    return date.fromisoformat(value.split()[0] if value.startswith("2023-") else f"2023-{value}")


def test_the_fact_of_the_answer_comes_from_the_last_turn_and_is_asked_of_many() -> None:
    for level in LEVELS:
        found = 0
        for task in starter_dialogues(level, "train"):
            answer = task.goal_of(AnswerGoal)
            if answer is None:
                continue
            found += 1
            results: Any = task.meta["gold_results"]
            last = json.dumps(results[-len(gold_turns(task)[-1]) :], ensure_ascii=False)
            (fact,) = answer.accepted
            assert str(fact) in last, task.id
            assert not states(" ".join(user_words(task)), str(fact)), task.id
        assert found > (1_400 if level == 3 else 500)


def test_own_tables_are_few_small_and_shaped_like_the_shared_ones() -> None:
    base = starter_tables().base
    for _, task in each_task():
        for name, table in task.initial_state.items():
            assert type(table) is type(base[name]), (task.id, name)
            assert 0 < len(table) <= 8, (task.id, name)  # type: ignore[arg-type]
            if isinstance(table, dict) and name != "HealthData":
                assert shapes(table) <= shapes(base[name]), (task.id, name)


def shapes(table: dict[str, Any]) -> set[Any]:
    return {tuple(sorted(row)) if isinstance(row, dict) else type(row) for row in table.values()}


def test_tasks_share_their_tools() -> None:
    tools: dict[str, Any] = {}
    for level in (1, 2):
        for task in starter_dialogues(level, "train"):
            assert all(tools.setdefault(tool.name, tool) is tool for tool in task.tools)


def test_a_task_survives_json() -> None:
    for level in LEVELS:
        for task in starter_dialogues(level, "test")[:100]:
            assert Task.from_json(task.to_json()) == task


def play(env: ApiBankEnv, number: int, policy: str) -> float:
    seen, _ = env.reset(seed=number, options={"task": number})
    while True:
        words = {"echo": seen, "abstain": "I cannot do that."}
        seen, reward, terminated, truncated, _ = env.step(words.get(policy) or env.oracle_action())
        if terminated or truncated:
            assert policy != "oracle" or terminated
            return reward


def means(level: int, policy: str, **options: Any) -> list[float]:
    made = gym.make(f"apibank/L{level}-v0", protocol="dialogue", data="starter", disable_env_checker=True, **options)
    env = made.unwrapped
    assert isinstance(env, ApiBankEnv)
    return [play(env, number, policy) for number in range(len(env.tasks))]


@pytest.mark.parametrize("level", LEVELS)
def test_the_oracle_earns_everything(level: int) -> None:
    assert set(means(level, "oracle")) == {1.0}


@pytest.mark.parametrize("level", LEVELS)
def test_abstaining_earns_the_share_of_what_no_tool_fits(level: int) -> None:
    returns = means(level, "abstain")
    declined = sum(task.meta["kind"] == "no_tool_fits" for task in starter_dialogues(level, "test"))
    assert sum(returns) == declined
    assert sum(returns) / len(returns) <= 0.2


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("observation", ["prompt", "delta"])
def test_echoing_earns_next_to_nothing(level: int, observation: str) -> None:
    returns = means(level, "echo", observation=observation)
    assert sum(returns) / len(returns) <= 0.1


@pytest.mark.parametrize("split", ["Train", "dev", ""])
def test_unknown_split_is_named(split: str) -> None:
    with pytest.raises(ConfigurationError, match=f"split '{split}'"):
        starter_dialogues(1, split)
    with pytest.raises(ConfigurationError, match=f"split '{split}'"):
        generate_dialogues(1, split)


@pytest.mark.parametrize("level", [0, 4, -1])
def test_unknown_level_is_named(level: int) -> None:
    with pytest.raises(ConfigurationError, match=f"level {level}"):
        generate_dialogues(level, "train")
