"""ToolEnv: what an episode shows, pays and records, and that nothing leaks, raises or depends on chance."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import (
    ConfigurationError,
    DataError,
    Episode,
    GoldCall,
    Message,
    Score,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    UserTurn,
    check_tool_env,
)
from callgym.checker import HOSTILE_ACTIONS
from callgym.data import DataNotice, DataSource, fetch_from, find_source, read_json_file, read_json_lines, verify
from callgym.dialects import DIALECTS
from callgym.envs.base import MAX_ACTION_LENGTH, MAX_OBSERVATION_LENGTH, Protocol, ToolEnv
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal, RankingGoal, StateGoal
from callgym.rewards import Rubric, register_reward
from callgym.tool_backends import PythonBackend, RecordedBackend, ToolBackend, ToolFailure, World

# A small world of our own.


def tool(name: str, required: Sequence[str] = (), **properties: Any) -> Tool:
    return Tool(
        name=name,
        description=f"{name} does what it says.",
        parameters={
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": list(required or properties),
            "additionalProperties": False,
        },
    )


ADD, NOTE, READ = tool("Add", a="integer", b="integer"), tool("Note", text="string"), tool("Read")
FAIL, BIG, KEEP, ROLL = tool("Fail"), tool("Big", size="integer"), tool("Keep", items="array"), tool("Roll")
ALL = (ADD, NOTE, READ, FAIL, BIG, KEEP, ROLL)


def note(world: World, text: str) -> str:
    world.state["notes"].append(text)
    return "noted"


def fail(world: World) -> None:
    raise ToolFailure("It is broken.")


def keep(world: World, items: list[Any]) -> list[Any]:
    items.append("kept")
    world.state["kept"] = items
    return items


BACKEND = PythonBackend(
    {
        "Add": lambda world, a, b: a + b,
        "Note": note,
        "Read": lambda world: world.state["notes"],
        "Fail": fail,
        "Big": lambda world, size: "ä" * size,
        "Keep": keep,
        "Roll": lambda world: int(world.rng.integers(10**9)),
    }
)


def gold(name: str, **arguments: Any) -> GoldCall:
    return GoldCall.of(ToolCall(name=name, arguments=arguments))


def user(text: str) -> tuple[Message, ...]:
    return (Message(role="user", content=text),)


def calc_task(number: int, **changes: Any) -> Task:
    given: dict[str, Any] = {
        "id": f"calc/{number}",
        "family": "calc",
        "split": "test",
        "messages": user(f"What is {number} + 1?"),
        "tools": ALL,
        "goal": CallsGoal(turns=((gold("Add", a=number, b=1),),)),
        "initial_state": {"notes": []},
    }
    return Task(**{**given, **changes})


TALK = calc_task(
    100,
    id="talk",
    tools=(ADD, READ),
    user_turns=(
        UserTurn(content="Note that down.", add_tools=(NOTE,), remove_tools=("Add",)),
        UserTurn(content="Thanks!"),
    ),
    goal=CallsGoal(turns=((gold("Add", a=100, b=1),), (gold("Note", text="101"),), ())),
)
TASKS = (*(calc_task(number) for number in range(6)), calc_task(6, goal=DecisionGoal(decision="decline", reply="No.")))


class Calc(ToolEnv):
    """One action an episode."""

    family: ClassVar[str] = "calc"
    default_dialect: ClassVar[str] = "hermes"

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        return TASKS

    def make_backend(self, source: DataSource) -> ToolBackend:
        return BACKEND


class Talk(Calc):
    """Dialogues."""

    protocol: Protocol = "dialogue"

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        return (TALK, *TASKS[:2])


ENTRIES: dict[str, Any] = {"callgym-tests/Calc-v0": Calc, "callgym-tests/Talk-v0": Talk}
for _id, _class in ENTRIES.items():
    if _id not in gym.registry:
        gym.register(_id, entry_point=_class, kwargs={"data": "starter"})


def act(env: ToolEnv, name: str, **arguments: Any) -> str:
    return env.dialect.render_action([ToolCall(name=name, arguments=arguments)])


def play(env: Any, policy: Callable[[str], str], seed: int | None = 0, **options: Any) -> Episode:
    observation, _ = env.reset(seed=seed, options=options or None)
    while True:
        observation, _, terminated, truncated, info = env.step(policy(observation))
        if terminated or truncated:
            episode = info["episode"]
            assert isinstance(episode, Episode)
            return episode


def oracle(env: Any) -> Callable[[str], str]:
    return lambda _: str(env.unwrapped.oracle_action())


@pytest.fixture(params=[Calc, Talk], ids=["single", "dialogue"])
def env(request: pytest.FixtureRequest) -> ToolEnv:
    made: ToolEnv = request.param(data="starter")
    return made


# What is shown.


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_observation_is_all_that_was_shown_before_with_the_action_and_what_is_new(dialect: str) -> None:
    whole = Talk(data="starter", dialect=dialect, observation="prompt", render_mode="ansi")
    news = Talk(data="starter", dialect=dialect, observation="delta")
    prompt, _ = whole.reset(seed=0, options={"task": "talk"})
    assert news.reset(seed=0, options={"task": "talk"})[0] == prompt
    actions = [
        act(whole, "Add", a=100, b=1),
        "It is 101.",
        act(whole, "Note", text="101 é"),
        act(whole, "Add", a=1, b=1),
        "<tool_call>[A(x={\"a\": [A(x=",
        "{",
        "Noted.",
        "Bye.",
    ]  # fmt: skip
    for action in actions:
        before = prompt
        prompt, reward, terminated, truncated, info = whole.step(action)
        delta, *rest = news.step(action)
        assert prompt == before + action + delta
        assert whole.render() == prompt
        assert rest[:3] == [reward, terminated, truncated]
        same: Any = rest[3]
        assert same["messages"] == info["messages"]
        assert prompt in whole.observation_space
        if terminated or truncated:
            break
    assert delta == ""
    assert terminated


def test_a_scripted_user_speaks_and_brings_and_takes_tools() -> None:
    env = Talk(data="starter")
    _, info = env.reset(seed=0, options={"task": "talk"})
    assert [shown["function"]["name"] for shown in info["tools"]] == ["Add", "Read"]
    rows: list[tuple[str, int, list[str | None], str]] = [
        (act(env, "Note", text="early"), 0, ["unknown_tool"], "there is no tool 'Note'; the tools are: Add, Read"),
        (act(env, "Add", a=100, b=1), 0, [None], "101"),
        ("It is 101.", 1, [], "Note that down."),
        (act(env, "Add", a=1, b=1), 1, ["unknown_tool"], "the tools are: Note, Read"),
        (act(env, "Note", text="101"), 1, [None], "noted"),
        (act(env, "Read"), 1, [None], '["101"]'),
        ("Done.", 2, [], "Thanks!"),
    ]
    for action, turn, errors, shown in rows:
        observation, reward, terminated, truncated, info = env.step(action)
        assert info["turn"] == turn
        assert [result.error for result in info["results"]] == errors
        assert shown in observation
        assert (reward, terminated, truncated) == (0.0, False, False)
    *_, info = env.step("Bye.")
    assert [step.turn for step in info["episode"].steps] == [0, 0, 0, 1, 1, 1, 1, 2]


def test_info_holds_what_is_documented() -> None:
    env = Talk(data="starter")
    _, info = env.reset(seed=0, options={"task": "talk"})
    assert info.keys() == {"task_id", "messages", "tools", "turn", "data"}
    assert (info["task_id"], info["turn"], info["data"]) == ("talk", 0, "starter")
    assert info["messages"] == [{"role": "user", "content": "What is 100 + 1?"}]
    assert info["tools"][0] == ADD.as_chat()
    json.dumps(info)
    *_, info = env.step(act(env, "Add", a=100, b=1))
    assert info.keys() == {"task_id", "calls", "results", "messages", "turn", "rewards"}
    assert info["calls"] == (ToolCall(name="Add", arguments={"a": 100, "b": 1}),)
    assert info["results"] == (ToolResult(content=101),)
    assert [message["role"] for message in info["messages"]] == ["assistant", "tool"]
    assert info["rewards"] == {}
    *_, info = env.step("It is 101.")
    assert info["messages"] == [
        {"role": "assistant", "content": "It is 101."},
        # A new tool's document stands before the words, for policies that read text and nothing else.
        {"role": "user", "content": f"{json.dumps(NOTE.as_chat()['function'])}\n\nNote that down."},
    ]
    *_, info = env.step("<tool_call>{")
    assert [message["role"] for message in info["messages"]] == ["assistant", "user"]
    assert "cannot be read" in info["messages"][1]["content"]
    env.step("ok")
    *_, info = env.step("bye")
    assert info["rewards"].keys() == env.rubric.weights.keys()
    assert info["rewards"] == {name: score.value for name, score in info["episode"].rewards.items()}


def spoil(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value.clear()
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.clear()


def test_what_a_caller_does_to_info_reaches_nothing(env: ToolEnv) -> None:
    expected = play(env, oracle(env))
    _, info = env.reset(seed=0)
    spoil(info)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(env.oracle_action())
        spoil(info["messages"])
        episode = info.get("episode")
    assert episode is not None
    assert episode.to_json() == expected.to_json()
    assert play(env, oracle(env)).to_json() == expected.to_json()


# Which task is played.


def test_a_task_is_chosen_by_id_or_index() -> None:
    env = Calc(data="starter")
    assert env.reset(options={"task": "calc/3"})[1]["task_id"] == "calc/3"
    assert env.task.id == "calc/3"
    assert env.reset(options={"task": 4})[1]["task_id"] == "calc/4"
    assert env.reset(options={"task": np.int64(0)})[1]["task_id"] == "calc/0"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "calc/99"}, ["'calc/99'", "'calc/0'", "7 tasks", "'test'"]),
        ({"task": 7}, ["below 7", "7"]),
        ({"task": -1}, ["-1"]),
        ({"task": True}, ["True"]),
        ({"task": 1.0}, ["1.0"]),
        ({"tsk": 1}, ["'tsk'", "'task' and 'sweep'"]),
    ],
)
def test_a_bad_choice_is_an_error_and_leaves_the_episode_as_it_was(options: dict[str, Any], words: list[str]) -> None:
    env = Talk(data=TASKS, backend=BACKEND)
    env.reset(options={"task": 2})
    with pytest.raises(ConfigurationError) as caught:
        env.reset(options=options)
    assert [word for word in words if word not in str(caught.value)] == []
    *_, info = env.step(act(env, "Add", a=2, b=1))
    assert info["results"] == (ToolResult(content=3),)


def test_seeds_choose_tasks_uniformly_and_repeatably() -> None:
    env = Calc(data="starter")
    drawn = [env.reset(seed=seed)[1]["task_id"] for seed in range(300)]
    assert drawn == [env.reset(seed=seed)[1]["task_id"] for seed in range(300)]
    counts = [drawn.count(task.id) for task in TASKS]
    assert min(counts) > 20
    env.reset(seed=5)
    following = [env.reset()[1]["task_id"] for _ in range(10)]
    env.reset(seed=5)
    assert [env.reset()[1]["task_id"] for _ in range(10)] == following
    assert len(set(following)) > 1


def test_a_sweep_plays_every_task_once_before_any_again() -> None:
    env = Calc(data="starter")
    first = [env.reset(seed=3 if n == 0 else None, options={"sweep": True})[1]["task_id"] for n in range(7)]
    second = [env.reset(options={"sweep": True})[1]["task_id"] for _ in range(7)]
    assert sorted(first) == sorted(second) == [task.id for task in TASKS]
    assert first != second
    env.reset(options={"sweep": True})
    again = [env.reset(seed=3 if n == 0 else None, options={"sweep": True})[1]["task_id"] for n in range(7)]
    assert again == first


# How it ends and what it pays.


def test_max_steps_truncates_and_the_record_says_so() -> None:
    env = Talk(data="starter", max_steps=3)
    env.reset(seed=0, options={"task": "talk"})
    for number in range(3):
        _, reward, terminated, truncated, info = env.step(act(env, "Add", a=number, b=1))
        assert (terminated, truncated) == (False, number == 2)
    episode = info["episode"]
    assert (episode.ended, len(episode.steps), reward) == ("truncated", 3, episode.episode_return)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("more")
    assert 0.0 < reward < 0.2  # half of one call in three, in one of three turns


@pytest.mark.parametrize("action", [None, 5, b"bytes", ["text"], np.array("text"), object()])
def test_an_action_that_is_no_text_is_a_type_error(env: ToolEnv, action: Any) -> None:
    env.reset(seed=0)
    with pytest.raises(TypeError, match=f"got {type(action).__name__}"):
        env.step(action)
    env.step(env.oracle_action())  # the episode goes on


def test_numpy_s_text_is_text() -> None:
    env = Calc(data="starter")
    env.reset(seed=0)
    action: Any = np.str_(env.oracle_action())
    _, reward, *_, info = env.step(action)
    assert reward == 1.0
    assert type(info["episode"].steps[0].action) is str


def test_stepping_without_a_running_episode_says_reset(env: ToolEnv) -> None:
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        env.step("x")
    with pytest.raises(gym.error.ResetNeeded):
        _ = env.task
    play(env, oracle(env))
    with pytest.raises(gym.error.ResetNeeded, match="over"):
        env.step("x")
    env.reset(seed=0)
    env.close()
    with pytest.raises(gym.error.ResetNeeded):
        env.step("x")
    assert env.reset(seed=0)[0]


@given(
    st.lists(st.sampled_from(["oracle", "wrong", "broken", "words", "other"]), min_size=1, max_size=8),
    st.integers(0, 9),
)
def test_step_rewards_sum_to_the_return_which_lies_in_0_to_1(moves: list[str], seed: int) -> None:
    env = Talk(data="starter", max_steps=len(moves))
    env.reset(seed=seed)
    rewards = []
    for move in moves:
        action = {
            "oracle": env.oracle_action(),
            "wrong": act(env, "Add", a=7, b=7),
            "broken": "<tool_call>{",
            "words": "Well.",
            "other": act(env, "Read"),
        }[move]
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        if terminated or truncated:
            break
    episode = info["episode"]
    assert math.isclose(sum(rewards), episode.episode_return)
    assert rewards == [step.reward for step in episode.steps]
    assert 0.0 <= episode.episode_return <= 1.0
    assert Episode.from_json(episode.to_json()) == episode


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_oracle_earns_1_in_every_dialect(env: ToolEnv, dialect: str) -> None:
    made = type(env)(data="starter", dialect=dialect)
    for task in made.tasks:
        assert play(made, oracle(made), task=task.id).episode_return == 1.0


def test_a_return_that_cannot_be_computed_is_nan_outside_and_none_on_record() -> None:
    register_reward("test_no_judge", lambda task, episode: Score(value=None, explanation={"reason": "no judge"}))
    rubric = Rubric(name="judged", weights={"test_no_judge": 1.0, "call_exact_match": 1.0})
    env = Calc(data="starter", rubric=rubric)
    env.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, reward, *_, info = env.step("x")
    assert math.isnan(reward)
    episode = info["episode"]
    assert episode.episode_return is None
    assert episode.steps[-1].reward is None
    assert info["rewards"]["test_no_judge"] is None
    assert "NaN" not in episode.to_json()
    assert Episode.from_json(episode.to_json()) == episode


def test_a_reward_registered_by_a_user_is_paid() -> None:
    def shout(task: Task, episode: Episode) -> Score:
        return Score(value=float(episode.steps[-1].action.isupper()))

    register_reward("test_shout", shout)
    env = Calc(data="starter", rubric=Rubric(name="loud", weights={"test_shout": 2.0}))
    for action, paid in (("HELLO", 1.0), ("hello", 0.0)):
        env.reset(seed=0)
        assert env.step(action)[1] == paid


def test_goals_without_an_oracle_say_so() -> None:
    env = Calc(data=[calc_task(0, goal=RankingGoal(relevance={"x": 1.0}))], backend=BACKEND)
    env.reset()
    with pytest.raises(ConfigurationError, match="'ranking'"):
        env.oracle_action()
    state = Calc(data=[calc_task(0, goal=StateGoal(state={}))], backend=BACKEND)
    state.reset()
    with pytest.raises(ConfigurationError, match="'state'"):
        state.oracle_action()
    answer = Calc(data=[calc_task(0, goal=AnswerGoal(accepted=(7,)))], backend=BACKEND)
    assert play(answer, oracle(answer)).episode_return == 1.0


def test_perturbations_change_the_task_by_the_episode_s_seed() -> None:
    def reworded(task: Task, rng: np.random.Generator) -> Task:
        return task.model_copy(update={"messages": user(f"{rng.integers(10**6)}: {task.messages[0].content}")})

    def fewer_tools(task: Task, rng: np.random.Generator) -> Task:
        return task.model_copy(update={"tools": task.tools[:2]})

    env = Calc(data="starter", perturb=[reworded, fewer_tools])
    seen = [env.reset(seed=seed, options={"task": 1})[1] for seed in (0, 1, 0)]
    assert seen[0] == seen[2]
    assert seen[0]["messages"] != seen[1]["messages"]
    assert seen[0]["messages"][0]["content"].endswith("What is 1 + 1?")
    assert [len(info["tools"]) for info in seen] == [2, 2, 2]
    assert play(env, oracle(env)).episode_return == 1.0
    assert TASKS[1].messages == user("What is 1 + 1?")


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"max_steps": 0}, "max_steps.*0"),
    ({"max_steps": 2.5}, "max_steps.*2.5"),
    ({"max_steps": True}, "max_steps.*True"),
    ({"observation": "all"}, "'prompt' or 'delta', got 'all'"),
    ({"render_mode": "human"}, "'ansi'.*got 'human'"),
    ({"perturb": "rename"}, "perturb.*'rename'"),
    ({"perturb": [1]}, "perturb"),
    ({"dialect": "xml"}, "no dialect 'xml'; there are: .*hermes"),
    ({"rubric": "best"}, "no rubric 'best'; there are: default"),
    ({"data": "/no/such/folder"}, "'/no/such/folder' is not a folder.*'starter'"),
    ({"data": "offical"}, "'offical' is not a folder.*'official'"),
    ({"data": []}, "no tasks"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_a_bad_option_is_an_error_that_names_it(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigurationError, DataError), match=message):
        Calc(**{"data": "starter", **options})


# What a policy may write.


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.text(st.characters(), max_size=80) | st.sampled_from(HOSTILE_ACTIONS))
@settings(max_examples=80)
def test_no_action_raises_and_every_record_survives_json(dialect: str, action: str) -> None:
    for made in (Calc(data="starter", dialect=dialect), Talk(data="starter", dialect=dialect, max_steps=2)):
        episode = play(made, lambda _: action)
        text = episode.to_json()
        text.encode("utf-8")
        assert Episode.from_json(text) == episode
        assert episode.episode_return is not None
        assert 0.0 <= episode.episode_return <= 1.0


def test_half_surrogates_become_a_character_that_can_be_written() -> None:
    env = Talk(data="starter")
    env.reset(seed=0)
    observation, *_, info = env.step(act(env, "Note", text="\ud800 and \ud83d\ude42"))
    observation.encode("utf-8")
    assert info["calls"][0].arguments == {"text": "\ufffd and 🙂"}


def test_a_result_with_half_a_surrogate_is_shown_so_that_it_can_be_written() -> None:
    env = Talk(data=[calc_task(0)], backend=PythonBackend({"Read": lambda world: "\ud800"}))
    env.reset(seed=0)
    env.step(act(env, "Read"))
    observation, *_, info = env.step("Done.")
    observation.encode("utf-8")
    info["episode"].to_json().encode("utf-8")


def test_a_200_kb_action_is_answered_not_read() -> None:
    env = Talk(data="starter")
    prompt, _ = env.reset(seed=0)
    action = act(env, "Note", text="x" * 200_000)
    observation, _, terminated, truncated, info = env.step(action)
    assert not terminated
    assert not truncated
    assert info["calls"] == ()
    assert str(MAX_ACTION_LENGTH) in info["messages"][-1]["content"]
    assert len(observation) < len(prompt) + MAX_ACTION_LENGTH + 1_000
    assert observation.startswith(prompt + action[:MAX_ACTION_LENGTH])
    env.step("Sorry.")


def test_a_large_result_is_cut_where_it_is_shown_and_whole_on_record() -> None:
    env = Talk(data=[calc_task(0)], backend=BACKEND)
    prompt, _ = env.reset(seed=0)
    observation, *_, info = env.step(act(env, "Big", size=100_000))
    assert len(observation) < len(prompt) + 40_000
    assert "more characters were cut" in observation
    assert "more characters were cut" in info["messages"][-1]["content"]
    assert len(info["results"][0].content) == 100_000


def test_an_observation_beyond_all_measure_ends_the_episode() -> None:
    env = Talk(data=[calc_task(0)], backend=BACKEND, max_steps=100)
    env.reset(seed=0)
    truncated = False
    steps = 0
    while not truncated:
        observation, _, terminated, truncated, info = env.step(act(env, "Big", size=32_000))
        assert not terminated
        assert len(observation) <= MAX_OBSERVATION_LENGTH
        assert observation in env.observation_space
        steps += 1
    assert 25 < steps < 100
    assert info["episode"].ended == "truncated"


def test_too_many_calls_in_one_action_are_not_run() -> None:
    env = Talk(data=[calc_task(0)], backend=BACKEND)
    env.reset(seed=0)
    many = [ToolCall(name="Note", arguments={"text": str(n)}) for n in range(65)]
    *_, info = env.step(env.dialect.render_action(many))
    assert info["calls"] == ()
    assert "65 calls" in info["messages"][-1]["content"]
    *_, info = env.step(env.dialect.render_action(many[:64]))
    assert len(info["results"]) == 64
    *_, info = env.step(act(env, "Read"))
    assert info["results"][0].content == [str(n) for n in range(64)]


FAILURES: list[tuple[str, dict[str, Any], str, str]] = [
    ("Nothing", {}, "unknown_tool", "there is no tool 'Nothing'"),
    ("add", {"a": 1, "b": 2}, "unknown_tool", "Add"),
    ("Add", {"a": 1}, "invalid_arguments", '"b" is a required property'),
    ("Add", {"a": "one", "b": 2}, "invalid_arguments", "a: "),
    ("Add", {"a": 1, "b": 2, "c": 3}, "invalid_arguments", "c"),
    ("Add", {"a": True, "b": 2}, "invalid_arguments", "true"),
    ("Fail", {}, "tool_error", "It is broken."),
]


@pytest.mark.parametrize(("name", "arguments", "error", "message"), FAILURES)
def test_a_call_that_fails_is_data(name: str, arguments: dict[str, Any], error: str, message: str) -> None:
    env = Talk(data=[calc_task(0)], backend=BACKEND)
    env.reset(seed=0)
    observation, _, terminated, _, info = env.step(act(env, name, **arguments))
    assert not terminated
    assert info["results"][0].error == error
    assert message in info["results"][0].message
    assert error in observation


def test_a_good_call_beside_a_broken_one_is_run() -> None:
    env = Talk(data=[calc_task(0)], backend=BACKEND)
    env.reset(seed=0)
    text = act(env, "Add", a=1, b=2) + '<tool_call>{"name":"Add","arguments":{"a":1,]}</tool_call>'
    observation, *_, info = env.step(text)
    assert info["results"] == (ToolResult(content=3),)
    assert "cannot be read" in observation
    assert len(info["messages"]) == 3


def test_a_tool_without_code_is_unavailable_and_so_is_a_call_that_was_not_recorded() -> None:
    env = Talk(data=[calc_task(0)], backend=PythonBackend({}))
    env.reset(seed=0)
    assert env.step(act(env, "Read"))[4]["results"][0].error == "unavailable"
    entry = {"name": "Add", "arguments": {"a": 1, "b": 2}, "result": {"content": 3}}
    recorded = Talk(data=[calc_task(0, meta={"recorded": [entry]})], backend=RecordedBackend())
    recorded.reset(seed=0)
    assert recorded.step(act(recorded, "Add", a=1, b=2))[4]["results"] == (ToolResult(content=3),)
    assert recorded.step(act(recorded, "Add", a=2, b=1))[4]["results"][0].error == "unavailable"


# Nothing leaks, nothing is left to chance.


def test_sessions_know_nothing_of_each_other() -> None:
    task = calc_task(0)
    one, two = (Talk(data=[task], backend=BACKEND) for _ in range(2))
    for env in (one, two):
        env.reset(seed=0)
    one.step(act(one, "Note", text="mine"))
    assert two.step(act(two, "Read"))[4]["results"][0].content == []
    assert one.step(act(one, "Read"))[4]["results"][0].content == ["mine"]
    one.reset(seed=0)
    assert one.step(act(one, "Read"))[4]["results"][0].content == []
    assert task.initial_state == {"notes": []}


def test_a_tool_that_changes_its_arguments_changes_no_record() -> None:
    env = Talk(data=[calc_task(0)], backend=BACKEND)
    env.reset(seed=0)
    *_, first = env.step(act(env, "Keep", items=["a"]))
    *_, second = env.step(act(env, "Keep", items=["b"]))
    assert first["calls"][0].arguments == {"items": ["a"]}
    assert first["results"][0].content == ["a", "kept"]
    assert second["calls"][0].arguments == {"items": ["b"]}


def test_a_session_s_state_is_a_copy() -> None:
    session = BACKEND.open(calc_task(0), seed=0)
    session.state()["notes"].append("from outside")
    assert session.state() == {"notes": []}


def test_chance_in_tools_comes_from_the_seed() -> None:
    env = Talk(data=[calc_task(0), calc_task(1)], backend=BACKEND)

    def roll(seed: int, task: int) -> Any:
        env.reset(seed=seed, options={"task": task})
        return env.step(act(env, "Roll"))[4]["results"][0].content

    assert roll(1, 0) == roll(1, 0)
    assert len({roll(1, 0), roll(2, 0), roll(1, 1)}) == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_recorded_episode_is_played_again_to_the_byte(dialect: str) -> None:
    played = Talk(data="starter", dialect=dialect)
    script = iter(
        [act(played, "Roll"), act(played, "Add", a=1, b=2), "[A(", "é?", act(played, "Read"), "so", "bye", "x"]
    )
    for seed in (None, 7):  # an episode without a seed records the one it drew
        record = Episode.from_json(play(played, lambda _: next(script, "bye"), seed=seed).to_json())
        again = Talk(data="starter", dialect=dialect)
        again.reset(seed=123)
        actions = iter([step.action for step in record.steps])
        replayed = play(again, lambda _, actions=actions: next(actions), seed=record.seed, task=record.task_id)  # type: ignore[misc]
        assert replayed.to_json() == record.to_json()


def play_a_few() -> str:
    lines = []
    for dialect in DIALECTS:
        for made in (Calc(data="starter", dialect=dialect), Talk(data="starter", dialect=dialect, max_steps=4)):
            wrong = act(made, "Add", a="x", b=[1, {"k": None}], z=1, q=2)
            policies = (oracle(made), lambda _, wrong=wrong: wrong, lambda _: "[A(x='")
            lines += [play(made, policy, seed).to_json() for seed in range(3) for policy in policies]
    return "\n".join(lines)


def test_the_same_bytes_in_every_process() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_env; print(test_env.play_a_few())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout.decode()
        for hash_seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].rstrip("\n") == play_a_few()


# As a Gymnasium environment.


@pytest.mark.parametrize("id", ["callgym-tests/Calc-v0", "callgym-tests/Talk-v0"])
def test_gymnasium_s_checkers_and_wrappers_are_content(id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gym.make(id, render_mode="ansi")
        assert "PassiveEnvChecker" in str(made)
        for seed in range(4):
            assert play(made, oracle(made), seed).episode_return == 1.0
        assert made.render()
    check_tool_env(made)
    check_tool_env(type(made.unwrapped)(data="starter", observation="delta"))  # type: ignore[call-arg]


def test_wrappers_count_and_cut_episodes() -> None:
    made: Any = RecordEpisodeStatistics(TimeLimit(Talk(data="starter"), max_episode_steps=2))
    made.reset(seed=0, options={"task": "talk"})
    made.step("<tool_call>")
    _, reward, terminated, truncated, info = made.step("<tool_call>")
    assert (terminated, truncated) == (False, True)
    statistics = info["episode"] if isinstance(info["episode"], dict) else {}
    assert statistics.get("l") == 2
    assert statistics.get("r") == reward
    whole: Any = RecordEpisodeStatistics(Calc(data="starter"), stats_key="statistics")
    whole.reset(seed=0)
    *_, info = whole.step(whole.unwrapped.oracle_action())
    assert isinstance(info["episode"], Episode)
    assert info["statistics"]["r"] == 1.0


def test_specs_can_be_pickled_and_made_again() -> None:
    made = gym.make("callgym-tests/Talk-v0", max_steps=5, dialect="openai", rubric="exact")
    assert made.spec is not None
    again = gym.make(pickle.loads(pickle.dumps(made.spec)))
    for one in (made, again):
        assert (one.unwrapped.max_steps, one.unwrapped.dialect.name) == (5, "openai")  # type: ignore[attr-defined]
    assert play(made, oracle(made)).to_json() == play(again, oracle(again)).to_json()
    assert play(made, oracle(made)).env_id == "callgym-tests/Talk-v0"
    assert copy.deepcopy(made.spec) == made.spec


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vector_environments_show_and_pay_what_single_ones_do(mode: str) -> None:
    singles = [Talk(data="starter") for _ in range(3)]
    vector: Any = gym.make_vec("callgym-tests/Talk-v0", num_envs=3, vectorization_mode=mode)
    assert isinstance(vector.unwrapped, AsyncVectorEnv if mode == "async" else SyncVectorEnv)
    try:
        observations, infos = vector.reset(seed=11)
        expected = [single.reset(seed=11 + n) for n, single in enumerate(singles)]
        assert list(observations) == [observation for observation, _ in expected]
        assert list(infos["task_id"]) == [info["task_id"] for _, info in expected]
        done = [False] * 3
        for _ in range(7):
            actions = [act(single, "Add", a=1, b=n) if n else "Hm 東京." for n, single in enumerate(singles)]
            observations, rewards, terminated, truncated, infos = vector.step(tuple(actions))
            for n, single in enumerate(singles):
                if done[n]:
                    assert observations[n] == single.reset()[0]  # the step after an end is a reset
                    done[n] = False
                    continue
                observation, reward, ended, cut, _ = single.step(actions[n])
                assert (observations[n], rewards[n], terminated[n], truncated[n]) == (observation, reward, ended, cut)
                done[n] = ended or cut
    finally:
        vector.close()


def test_render_gives_the_conversation_only_when_asked() -> None:
    quiet = Calc(data="starter")
    quiet.reset(seed=0)
    assert quiet.render() is None
    loud = Calc(data="starter", render_mode="ansi")
    assert loud.render() is None
    prompt, _ = loud.reset(seed=0)
    assert loud.render() == prompt


# Data: errors name file, row and mend.


@pytest.mark.parametrize("id", ["apibank/L4-v0", "apibank/L1-v1", "api_bank/L1-v0"])
def test_an_unknown_id_is_gymnasium_s_own_error(id: str) -> None:
    with pytest.raises(gym.error.UnregisteredEnv, match=r"apibank|api_bank"):
        gym.make(id)


def mini_apibank(folder: Path) -> Path:
    """Files in API-Bank's layout with one sample of our own."""
    document: dict[str, Any] = {
        "name": "FindTea",
        "description": "Finds a tea.",
        "input_parameters": {"kind": {"type": "str", "description": "Kind."}},
        "output_parameters": {},
    }
    row: dict[str, Any] = {
        "file": "Tea-level-1-1.jsonl",
        "id": 0,
        "instruction": "Write a request.\nAPI descriptions:\n" + json.dumps(document),
        "input": "User: Green tea?\nGenerate API Request:\n",
        "expected_output": "API-Request: [FindTea(kind='green')]",
    }
    result: dict[str, Any] = {"api_name": "FindTea", "input": {}, "output": "Sencha", "exception": None}
    dialogue: list[dict[str, Any]] = [
        {"role": "User", "text": "Green tea?"},
        {"role": "API", "api_name": "FindTea", "param_dict": {"kind": "green"}, "result": result},
    ]
    (folder / "test-data").mkdir(parents=True)
    (folder / "test-data/level-1-api.json").write_text(json.dumps([row]), encoding="utf-8")
    samples = folder / "lv1-lv2-samples/level-1-given-desc"
    samples.mkdir(parents=True)
    (samples / row["file"]).write_text("".join(json.dumps(line) + "\n" for line in dialogue), encoding="utf-8")
    return folder


def test_a_folder_with_benchmark_files_is_data(tmp_path: Path) -> None:
    folder = mini_apibank(tmp_path / "mine")
    env = gym.make("apibank/L1-v0", data=str(folder))
    observation, info = env.reset(seed=0)
    assert info["data"] == "folder"
    assert observation.endswith("User: Green tea?\nGenerate API Request:\n")
    assert env.step("[FindTea(kind='green')]")[1] == 1.0
    with pytest.raises(ConfigurationError, match=r"no split 'dev'; its splits are: test, train, cv-train, cv-test"):
        gym.make("apibank/L1-v0", data=str(folder), split="dev")
    with pytest.raises(DataError, match=r"lv1-api-train.json does not exist.*cv-train.*starter"):
        gym.make("apibank/L1-v0", data=str(folder), split="train")
    with pytest.raises(DataError, match=r"level-2-api.json does not exist.*right folder"):
        gym.make("apibank/L2-v0", data=str(folder))


API, TEA = "test-data/level-1-api.json", "lv1-lv2-samples/level-1-given-desc/Tea-level-1-1.jsonl"
DAMAGE: list[tuple[str, Callable[[str], str], list[str]]] = [
    (API, lambda text: text[:-20], ["not valid JSON", "char", "cut short", "Fetch it again"]),
    (API, lambda text: "{}", ["array of rows", "dict"]),
    (API, lambda text: "[3]", ["row 1", "'instruction'"]),
    (API, lambda text: text.replace('"id": 0', '"id": 5'), ["row 1", "sample 5"]),
    (API, lambda text: text.replace('"id": 0', '"id": "x"'), ["row 1"]),
    (API, lambda text: text.replace('"id": 0', '"no": 0'), ["row 1", "['id']"]),
    (API, lambda text: text.replace("API descriptions", "Tools"), ["row 1", "API descriptions"]),
    (API, lambda text: text.replace('{\\"name', '{name'), ["row 1", "not JSON"]),
    (API, lambda text: text.replace('{\\"kind\\": {', '{\\"kind\\": 5, \\"k\\": {'), ["row 1"]),
    (API, lambda text: text.replace("Tea-level", "Coffee-level"), ["Coffee-level", "not exist"]),
    (TEA, lambda text: text[:-9], ["row 2", "not valid JSON"]),
    (TEA, lambda text: text.replace("User", "Us"), ["row 1", "'Us'"]),
    (TEA, lambda text: text.replace("param_", "par_"), ["row 2"]),
    (
        TEA,
        lambda text: text.replace('{"kind": "green"}', "null"),
        ["row 2", "'param_dict' as dict"],
    ),
    (TEA, lambda text: "7\n" + text, ["row 1", "role"]),
    (TEA, lambda text: "", ["sample 0"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "damage", "words"), DAMAGE)
def test_damaged_files_are_errors_that_name_file_row_and_mend(
    tmp_path: Path, name: str, damage: Callable[[str], str], words: list[str]
) -> None:
    folder = mini_apibank(tmp_path / "mine")
    path = folder / name
    before = path.read_text(encoding="utf-8")
    path.write_text(damage(before), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    with pytest.raises(DataError) as caught:
        gym.make("apibank/L1-v0", data=str(folder))
    message = str(caught.value)
    assert str(folder) in message
    assert [word for word in words if word not in message] == []
    assert "etch" in message
    assert len(message) < 1_000


def test_a_file_that_is_not_utf_8_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'"\xff\xfe"')
    with pytest.raises(DataError, match=r"x.json: not UTF-8"):
        read_json_file(path)
    path.write_text('{"a": 1}\n\n{"a": \n', encoding="utf-8")
    rows = read_json_lines(path)
    assert next(rows) == (1, {"a": 1})
    with pytest.raises(DataError, match=r"x.json, row 3: not valid JSON"):
        next(rows)
    with pytest.raises(DataError, match=r"none.json does not exist"):
        read_json_file(tmp_path / "none.json")


def test_json_with_a_number_too_long_to_read_is_a_data_error(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("9" * 5_000, encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.json"):
        read_json_file(path)
    with pytest.raises(DataError, match=r"x.json, row 1"):
        list(read_json_lines(path))


def test_fetched_files_are_checked_against_their_manifest(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no official data of 'apibank'.*callgym fetch apibank"):
        gym.make("apibank/L1-v0", data="official")
    patterns = ("test-data/level-1-api.json", "lv1-lv2-samples/*/*.jsonl")
    fetched = fetch_from("apibank", mini_apibank(tmp_path / "mine"), patterns)
    assert all(path.is_file() for path in fetched)
    env = gym.make("apibank/L1-v0", data="official")
    assert env.reset()[1]["data"] == "official"
    source = find_source("apibank", "official")
    assert source.folder is not None
    verify(source.folder)
    fetched[0].write_text(fetched[0].read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{fetched[0].name} was altered.*callgym fetch apibank"):
        verify(source.folder)
    fetched[0].unlink()
    with pytest.raises(DataError, match=rf"{fetched[0].name} is missing.*callgym fetch apibank"):
        verify(source.folder)
    fetch_from("apibank", tmp_path / "mine", patterns)  # the mend
    verify(source.folder)


def test_fetching_from_the_wrong_folder_leaves_what_was_there(tmp_path: Path) -> None:
    patterns = ("test-data/level-1-api.json",)
    fetched = fetch_from("apibank", mini_apibank(tmp_path / "mine"), patterns)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty has no file 'test-data/level-1-api.json'"):
        fetch_from("apibank", tmp_path / "empty", patterns)
    with pytest.raises(DataError, match=r"nowhere is not a folder"):
        fetch_from("apibank", tmp_path / "nowhere", patterns)
    assert fetched[0].is_file()


def test_auto_says_once_which_data_it_uses() -> None:
    with pytest.warns(DataNotice, match=r"apibank uses its own starter tasks; for official data: callgym fetch"):
        assert find_source("apibank", "auto").kind == "starter"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_source("apibank", "auto").kind == "starter"
