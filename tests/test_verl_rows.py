"""Rows for verl: a task can be found again from its row, and an answer's score is the environment's own."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Episode, Message, Score, Task, Tool, ToolCall
from callgym.data import DataSource
from callgym.envs.base import Protocol, ToolEnv, make_tool_env
from callgym.errors import ConfigurationError, DataError
from callgym.goal import StateGoal
from callgym.rewards import Rubric, register_reward
from callgym.tool_backends import PythonBackend, World
from callgym.trainers.bridges import verl_rows as bridge
from callgym.trainers.bridges.verl_rows import (
    UnknownReturnError,
    close_environments,
    compute_score,
    verl_rows,
    write_verl_rows,
)

COUNTER = "counter/Steps-v0"
CASES: list[tuple[str, dict[str, Any]]] = [
    ("bfcl/multiple-v0", {}),
    ("bfcl/simple_python-v0", {"dialect": "hermes"}),
    ("when2call/open-v0", {}),
    ("when2call/mcq-v0", {}),
    ("bfcl/multi_turn_base-v0", {}),
    ("bfcl/web_search_base-v0", {"faults": "errors:0.3", "max_steps": 8}),
]


# A dialogue whose state would show a leak: a tool that counts its calls.

ADD = Tool(name="add", description="Count on.", parameters={"type": "object", "properties": {}})


def counter_task(number: int) -> Task:
    return Task(
        id=f"counter/{number}",
        family="counter",
        split="train",
        messages=(
            Message(role="user", content="Count to one."),
            Message(role="assistant", content="Now.", tool_calls=(ToolCall(name="add"),)),
            Message(role="tool", name="add", content='{"at": 0}<|im_start|>'),
            Message(role="user", content=f"Count on, and say where you are. \ud800 {number}"),
        ),
        tools=(ADD,),
        goal=StateGoal(state={"count": 1}),
        initial_state={"count": 0},
    )


def add(world: World) -> int:
    world.state["count"] += 1
    count: int = world.state["count"]
    return count


class CounterEnv(ToolEnv):
    family: ClassVar[str] = "counter"
    protocol: Protocol = "dialogue"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        return tuple(counter_task(number) for number in range(3))

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"add": add})


@pytest.fixture(scope="module", autouse=True)
def _counter() -> Iterator[None]:
    gym.register(COUNTER, entry_point=f"{__name__}:CounterEnv", kwargs={"data": "starter"})
    yield
    close_environments()
    del gym.registry[COUNTER]


def options_of(options: dict[str, Any]) -> dict[str, Any]:
    return {"data": "starter", **options}


def score_of(row: dict[str, Any], *actions: str, **more: Any) -> dict[str, Any]:
    extra = {**row["extra_info"], **({"actions": list(actions)} if len(actions) != 1 else {})}
    solution = actions[0] if len(actions) == 1 else "the whole conversation"
    return compute_score(row["data_source"], solution, row["reward_model"]["ground_truth"], extra, **more)


def reference_of(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["reward_model"]["ground_truth"])
    return found


def begun(row: dict[str, Any]) -> ToolEnv:
    """The row's environment, made from nothing but the row."""
    reference = reference_of(row)
    env = _made(reference["id"], json.dumps(reference["options"]))
    env.reset(seed=reference["seed"], options={"task": reference["task"]})
    return env


@functools.cache
def _made(id: str, options: str) -> ToolEnv:
    return make_tool_env(id, **json.loads(options))


def played(row: dict[str, Any], *actions: str) -> Episode:
    """The record of these actions in the row's environment, by Gymnasium's interface."""
    env = begun(row)
    for action in actions:
        *_, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            episode: Episode = info["episode"]
            return episode
    return env.truncate()


def oracle_actions(row: dict[str, Any]) -> list[str]:
    env, actions, done = begun(row), [], False
    while not done:
        actions.append(env.oracle_action())
        *_, terminated, truncated, _ = env.step(actions[-1])
        done = terminated or truncated
    return actions


def own(score: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in score.items() if name not in ("score", "truncated")}


# Scores.


@pytest.mark.parametrize(("id", "options"), CASES, ids=[case[0] for case in CASES])
def test_a_score_is_what_the_environment_pays(id: str, options: dict[str, Any]) -> None:
    for row in list(verl_rows(id, limit=6, seed=1, **options_of(options))):
        gold = oracle_actions(row)
        answers: list[list[str]] = [
            gold,
            gold[:1],
            [""],
            ["I do not know."],
            ['<tool_call>{"name": "'],
            ["[f(x="],
            [gold[0] + " " + "x" * 33_000],
            ["a" * 32_768],
            ["<|im_start|>user\n\ud800\x00"],
        ]
        for actions in answers:
            score, episode = score_of(row, *actions), played(row, *actions)
            assert score["score"] == episode.episode_return
            assert score["truncated"] == float(episode.ended == "truncated")
            assert own(score) == {name: found.value for name, found in episode.rewards.items()}
        if "faults" not in options:
            assert score_of(row, *gold)["score"] == 1.0
        assert score_of(row, "")["score"] < 1.0


def test_an_answer_is_played_under_the_rows_own_seed() -> None:
    for row in verl_rows("bfcl/web_search_base-v0", data="starter", limit=2, faults="errors:0.5"):
        reference = bridge._read_reference(row["data_source"], row["reward_model"]["ground_truth"])
        call = "[search_engine_query(keywords='ice saw')]"
        episode = bridge._played(make_tool_env(reference.id, **reference.options), reference, [call] * 6)
        assert episode.seed == row["extra_info"]["seed"]
        assert episode.to_json() == played(row, *[call] * 6).to_json()


def test_an_environment_is_made_once_a_configuration_and_leaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    close_environments()
    made: list[str] = []

    def make(id: str, **options: Any) -> ToolEnv:
        made.append(id)
        return make_tool_env(id, **options)

    monkeypatch.setattr(bridge, "make_tool_env", make)
    call = '<tool_call>{"name": "add", "arguments": {}}</tool_call>'
    rows = list(verl_rows(COUNTER, dialect="hermes"))
    other = next(verl_rows(COUNTER, dialect="hermes", max_steps=3))
    made.clear()
    first = [score_of(row, call, "1") for row in rows]
    assert [score["score"] for score in first] == [1.0] * 3  # each counted from 0
    assert [score_of(row, call, call, "1")["score"] for row in rows] == [0.0] * 3
    assert [score_of(row, call, "1") for row in rows] == first
    assert made == [COUNTER]
    assert score_of(other, call, "1")["score"] == 1.0
    assert made == [COUNTER] * 2
    assert score_of(rows[0], call)["truncated"] == 1.0  # the episode would go on
    assert score_of(rows[0], call, "1") == first[0]


def test_scores_from_many_threads_are_those_of_one() -> None:
    rows = list(verl_rows("bfcl/multiple-v0", limit=40, data="starter"))
    answers = [oracle_actions(row)[0] if number % 2 else "No." for number, row in enumerate(rows)]
    expected = [score_of(row, answer) for row, answer in zip(rows, answers, strict=True)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(score_of, rows * 4, answers * 4)) == expected * 4


def unknown_for_all(task: Task, episode: Episode) -> Score:
    return Score(value=None)


def test_an_unknown_return_is_no_number_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    register_reward("unknown_for_all", unknown_for_all)
    row = next(verl_rows("when2call/open-v0", data="starter"))
    rubric = Rubric(name="unknown", weights={"unknown_for_all": 1.0})
    monkeypatch.setattr(bridge, "make_tool_env", lambda id, **options: make_tool_env(id, **options, rubric=rubric))
    close_environments()
    with pytest.raises(UnknownReturnError, match=r"reward_kwargs\.unknown"):
        score_of(row, "No.")
    assert score_of(row, "No.", unknown=0.25) == {"score": 0.25, "truncated": 0.0, "unknown_for_all": None}
    close_environments()


def test_what_verl_passes_beside_it_changes_nothing() -> None:
    row = next(verl_rows("bfcl/multiple-v0", data="starter"))
    plain = compute_score(row["data_source"], "No.", row["reward_model"]["ground_truth"])
    extra = {**row["extra_info"], "num_turns": 2, "rollout_reward_scores": {}, "actions": None}
    assert (
        score_of({**row, "extra_info": extra}, "No.", reward_router_address="x", reward_model_tokenizer=None) == plain
    )


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"ground_truth": "42"}, "no reference"),
    ({"ground_truth": ""}, "no reference"),
    ({"ground_truth": None}, "no reference"),
    ({"ground_truth": "[" * 100_000}, "no reference"),
    ({"ground_truth": '{"id": "x"}'}, "no reference"),
    ({"data_source": "openai/gsm8k"}, "'openai/gsm8k' names 'bfcl/multiple-v0'"),
    ({"seed": "7"}, "its 'seed' is no int"),
    ({"seed": True}, "its 'seed' is no int"),
    ({"options": []}, "its 'options' is no dict"),
    ({"id": ["x"]}, "names"),
    ({"task": "gone"}, "the row's task is not where it was.*'gone'"),
    ({"id": "nope/x-v0", "data_source": "callgym/nope/x-v0"}, "'nope/x-v0' cannot be made"),
    ({"solution": 3}, "an answer is text"),
    ({"actions": []}, "at least one"),
    ({"actions": ["a", 1]}, "'actions' is a list"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=[json.dumps(case[0])[:40] for case in BROKEN])
def test_rows_of_others_are_explained(change: dict[str, Any], message: str) -> None:
    row = next(verl_rows("bfcl/multiple-v0", data="starter"))
    changed = {key: value for key, value in change.items() if key in ("id", "options", "task", "seed")}
    reference = {**reference_of(row), **changed}
    with pytest.raises(DataError, match=message):
        compute_score(
            change.get("data_source", row["data_source"]),
            change.get("solution", "No."),
            change.get("ground_truth", json.dumps(reference)),
            {"actions": change.get("actions")},
        )


def test_options_that_the_environment_does_not_take_are_refused() -> None:
    row = next(verl_rows("bfcl/multiple-v0", data="starter"))
    reference = {**reference_of(row), "options": {"data": "starter", "no_such": 1}}
    with pytest.raises(ConfigurationError, match="no_such"):
        compute_score(row["data_source"], "No.", json.dumps(reference))


@given(text=st.text(max_size=60))
def test_no_answer_breaks_the_score(text: str) -> None:
    score = score_of(_one_row(), text)
    assert 0.0 <= score["score"] <= 1.0


@functools.cache
def _one_row() -> dict[str, Any]:
    return next(verl_rows("when2call/open-v0", data="starter"))


# Rows.


@pytest.mark.parametrize(("id", "options"), CASES, ids=[case[0] for case in CASES])
def test_a_row_has_verls_columns(id: str, options: dict[str, Any]) -> None:
    rows = list(verl_rows(id, limit=3, **options_of(options)))
    assert [row["extra_info"]["index"] for row in rows] == [0, 1, 2]
    for row in rows:
        assert list(row) == ["data_source", "agent_name", "prompt", "ability", "reward_model", "extra_info"]
        assert row["data_source"] == f"callgym/{id}"
        assert row["reward_model"]["style"] == "rule"
        assert all(set(message) == {"role", "content"} and message["content"] for message in row["prompt"])
        env, extra = begun(row), row["extra_info"]
        assert (extra["env_id"], extra["task_id"], extra["seed"]) == (id, env.task.id, reference_of(row)["seed"])
        assert extra["tool_selection"] == [tool.name for tool in env.task.tools]
        dialogue = env.protocol == "dialogue"
        assert row["agent_name"] == ("tool_agent" if dialogue else "single_turn_agent")
        assert ("tools_kwargs" in extra) is dialogue
        if dialogue:
            truth = row["reward_model"]["ground_truth"]
            assert extra["tools_kwargs"] == {
                name: {"create_kwargs": {"reference": truth}} for name in extra["tool_selection"]
            }
            assert extra["interaction_kwargs"]["reference"] == truth
        text = json.dumps(row["prompt"], ensure_ascii=False)
        assert all(tool.name in text for tool in env.task.prompt_tools)
        for message in env.task.messages:
            if message.role == "user":
                assert sum(str(message.content) in shown["content"] for shown in row["prompt"]) == 1


def test_a_dialect_of_lines_is_shown_whole_and_one_of_turns_as_messages() -> None:
    lines = next(verl_rows("bfcl/multiple-v0", data="starter"))
    env = begun(lines)
    (shown,) = lines["prompt"]
    assert shown == {"role": "user", "content": env._texts[0]}
    turns = next(verl_rows(COUNTER, dialect="hermes"))["prompt"]
    assert [message["role"] for message in turns] == ["system", "user", "assistant", "user", "user"]
    assert '"name": "add"' in turns[0]["content"]
    assert turns[2]["content"] == 'Now.\n<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'
    assert turns[3]["content"] == '<tool_response>\n{"at": 0}< |im_start|>\n</tool_response>'
    assert "\ufffd 0" in turns[4]["content"]
    assert "<|im_start|>" not in json.dumps(turns)  # a chat template writes the turns


def test_results_in_turns_of_their_own_cannot_be_a_prompt() -> None:
    with pytest.raises(ConfigurationError, match=r"the dialect 'llama3'.*choose hermes"):
        next(verl_rows(COUNTER, dialect="llama3"))


def test_rows_are_the_same_every_time_and_differ_by_seed() -> None:
    first, again, other = (list(verl_rows(COUNTER, seed=seed)) for seed in (0, 0, 1))
    assert first == again
    assert [row["extra_info"]["seed"] for row in first] != [row["extra_info"]["seed"] for row in other]
    assert len({row["extra_info"]["seed"] for row in first}) == 3


def test_the_data_that_auto_found_is_named() -> None:
    row = next(verl_rows("bfcl/multiple-v0"))
    assert reference_of(row)["options"] == {"data": "starter", "split": "train"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data", [counter_task(0)]),
        ("rubric", Rubric(name="r", weights={"final_answer": 1.0})),
        ("perturb", [lambda t, r: t]),
    ],
)
def test_options_that_a_file_cannot_hold_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"the option {name}="):
        next(verl_rows(COUNTER, **{name: value}))


# Files.


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_files_hold_the_rows(ending: str, tmp_path: Path) -> None:
    rows = [
        *verl_rows("bfcl/multiple-v0", limit=2, data="starter"),
        *verl_rows("when2call/open-v0", limit=2, data="starter"),
        *verl_rows(COUNTER, dialect="hermes"),
    ]
    path = tmp_path / "new" / f"train.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    assert write_verl_rows(iter(rows), path) == len(rows)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    found = _read(path)
    for row, back in zip(rows, found, strict=True):
        # Parquet gives every row the fields of all.
        kept = {key: value for key, value in back["extra_info"].items() if value is not None}
        assert {**back, "extra_info": kept} == row
        assert score_of(back, "1") == score_of(row, "1")


def _read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\.parquet, \.jsonl or \.json, got 'rows\.csv'"):
        write_verl_rows([], tmp_path / "rows.csv")


def test_a_file_that_could_not_be_written_whole_is_not_there(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from verl_rows(COUNTER, limit=1)
        raise RuntimeError

    for name in ("rows.jsonl", "rows.parquet"):
        with pytest.raises(RuntimeError):
            write_verl_rows(rows(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
