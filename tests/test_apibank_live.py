"""API-Bank live: the scripted user, tools that run, searches, the state reached, and what laziness earns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from click.testing import CliRunner

import callgym
from callgym import ConfigurationError, DataError, Episode, ToolCall
from callgym.cli import main
from callgym.envs.apibank.env import ApiBankEnv
from callgym.envs.apibank.live import LiveTurn, live_task
from callgym.envs.apibank.scores import official_scores
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import starter_tables
from callgym.envs.base import make_tool_env
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal, StateGoal
from callgym.rewards import get_reward
from callgym.task import Task
from callgym.tool_backends.ranking import get_ranker

LEVELS = (1, 2, 3)
Act = Callable[[ApiBankEnv], str]


def backend(tool_set: str = "apis") -> SimulatorBackend:
    return SimulatorBackend(starter_tables(), tool_set, get_ranker("bm25"))


def token() -> str:
    return str(next(iter(starter_tables().base["Account"].values()))["token"])


TIME = "2023-05-09 07:15:00"


def alarm_task(level: int = 1) -> Task:
    """A question first, then an alarm, then a stock price."""
    stock, prices = next(iter(starter_tables().base["Stock"].items()))
    day = next(iter(prices))
    turns = [
        LiveTurn("Please set an alarm.", (), "For when, and what is your token?"),
        LiveTurn(
            f"{TIME}, {token()}.",
            (ToolCall(name="AddAlarm", arguments={"token": token(), "time": TIME}),),
            "It is set.",
        ),
        LiveTurn(
            f"And what was {stock} worth on {day}?",
            (ToolCall(name="QueryStock", arguments={"stock_code": stock, "date": day}),),
            f"It stood at {prices[day]}.",
        ),
    ]
    return live_task(id="live", split="test", level=level, turns=turns, backend=backend())


def env_of(task: Task, level: int = 1, **options: Any) -> ApiBankEnv:
    env = make_tool_env(f"apibank/L{level}-v0", data=[task], protocol="dialogue", **options)
    assert isinstance(env, ApiBankEnv)
    return env


def play(env: ApiBankEnv, act: Act, task: str | int = 0) -> Episode:
    env.reset(seed=0, options={"task": task})
    while True:
        *_, terminated, truncated, info = env.step(act(env))
        if terminated or truncated:
            episode: Episode = info["episode"]
            return episode


def oracle(env: ApiBankEnv) -> str:
    return env.oracle_action()


# How an episode runs.


def test_the_user_speaks_turn_by_turn_and_the_tools_run() -> None:
    env = env_of(alarm_task())
    observation, info = env.reset(seed=0)
    assert "Please set an alarm." in observation
    assert info["ranker"] == "bm25"
    observation, reward, terminated, _, info = env.step("For when?")
    assert TIME in observation
    assert (reward, terminated, info["turn"]) == (0.0, False, 1)
    *_, info = env.step(f"[AddAlarm(token='{token()}', time='{TIME}')]")
    assert info["results"][0].content == "success"
    *_, terminated, _, info = env.step("It is set.")
    assert not terminated
    assert info["turn"] == 2
    price = env.task.goal_of(AnswerGoal)
    assert price is not None
    env.step(env.oracle_action())
    _, reward, terminated, _, info = env.step(f"That day it was {price.accepted[0]}, since you ask.")
    assert (reward, terminated) == (1.0, True)
    assert info["episode"].state == {"Alarm": info["episode"].state["Alarm"]}


def test_a_live_task_says_what_its_calls_lead_to() -> None:
    task = alarm_task()
    calls, state, answer = task.goal_of(CallsGoal), task.goal_of(StateGoal), task.goal_of(AnswerGoal)
    assert calls is not None
    assert [len(turn) for turn in calls.turns] == [0, 1, 1]
    assert state is not None
    assert list(state.state) == ["Alarm"]
    assert answer is not None
    assert answer.match == "contains"
    assert answer.max_length == 200
    assert task.goal_of(DecisionGoal) is None
    assert "gold_fault" not in task.meta


def test_a_dialogue_without_calls_is_one_to_decline() -> None:
    task = live_task(
        id="no", split="test", level=2, turns=[LiveTurn("Paint my fence.", (), "I cannot.")], backend=backend()
    )
    env = env_of(task, level=2)
    assert play(env, lambda _: "I cannot do that.").episode_return == 1.0
    searched = iter(["[ToolSearcher(keywords='paint a fence')]", "Nothing can do that."])
    assert play(env, lambda _: next(searched)).episode_return == 1.0
    called = iter([f"[ToolSearcher(keywords='alarm')][AddAlarm(token='{token()}', time='{TIME}')]", "Sorry."])
    assert play(env, lambda _: next(called)).episode_return == 0.0


def test_a_gold_call_that_a_tool_refuses_is_written_down() -> None:
    bad = ToolCall(name="AddAlarm", arguments={"token": "nobody's", "time": TIME})
    task = live_task(id="bad", split="test", level=1, turns=[LiveTurn("Go.", (bad,), "Set.")], backend=backend())
    assert task.meta["gold_fault"] == "AddAlarm: The token is invalid."
    with pytest.raises(DataError, match="no tasks"):
        make_tool_env("apibank/L1-v0", data=[], protocol="dialogue")


def test_a_tool_can_be_called_once_it_was_found() -> None:
    env = env_of(alarm_task(level=2), level=2)
    _, info = env.reset(seed=0)
    assert [tool["function"]["name"] for tool in info["tools"]] == ["ToolSearcher"]
    call = f"[AddAlarm(token='{token()}', time='{TIME}')]"
    *_, info = env.step(call)
    assert info["results"][0].error == "unknown_tool"
    assert "tools" not in info
    observation, *_, info = env.step("[ToolSearcher(keywords='set an alarm')]")
    names = [tool["function"]["name"] for tool in info["tools"]]
    assert names == ["ToolSearcher", "GetUserToken", "AddAlarm"]
    assert "AddAlarm" in observation
    *_, info = env.step(call)
    assert info["results"][0].content == "success"
    assert "tools" not in info
    _, info = env.reset(seed=1)
    assert [tool["function"]["name"] for tool in info["tools"]] == ["ToolSearcher"], "the search leaks"


@pytest.mark.parametrize("keywords", ["", "?!", "x" * 30_000, "['a', 'b']", "\ud800", "QueryStock " * 2_000])
def test_any_search_is_answered(keywords: str) -> None:
    env = env_of(alarm_task(level=2), level=2)
    env.reset(seed=0)
    *_, info = env.step(env.dialect.render_action([ToolCall(name="ToolSearcher", arguments={"keywords": keywords})]))
    assert all(result.error in (None, "tool_error") for result in info["results"])


def test_an_episode_ends_at_max_steps_and_is_scored_as_it_stands() -> None:
    episode = play(env_of(alarm_task(), max_steps=2), lambda _: "[GetToday()]")
    assert episode.ended == "truncated"
    assert episode.episode_return == 0.0


def test_calls_may_come_before_they_were_recorded() -> None:
    """Who guesses the details, and rightly, need not ask for them."""
    acts = iter([f"[AddAlarm(token='{token()}', time='{TIME}')]", "Done.", "Done.", "", ""])
    env = env_of(alarm_task())

    def act(env: ApiBankEnv) -> str:
        return next(acts) if env._turn < 2 else env.oracle_action()

    assert play(env, act).episode_return == 1.0


# What laziness earns.


def doubled(env: ApiBankEnv) -> str:
    """The oracle, saying each call twice."""
    action = env.oracle_action()
    calls = env.dialect.parse(action).calls
    return env.dialect.render_action([*calls, *calls]) if calls else action


def silent_at_the_end(env: ApiBankEnv) -> str:
    action = env.oracle_action()
    return action if env.dialect.parse(action).calls else ""


def all_results(env: ApiBankEnv) -> str:
    """The oracle, with everything any tool ever said as its answer."""
    action = env.oracle_action()
    if env.dialect.parse(action).calls:
        return action
    return " ".join(str(result.content) for step in env._steps for result in step.results) * 20 or "Well."


def only_words(env: ApiBankEnv) -> str:
    """The reference replies without a call."""
    replies: Any = env.task.meta["replies"]
    return str(replies[min(env._turn, len(replies) - 1)]) or "Done."


def wrong_time(env: ApiBankEnv) -> str:
    return env.oracle_action().replace("07:15", "07:16")


@pytest.mark.parametrize(
    ("act", "most"),
    [(doubled, 0.8), (silent_at_the_end, 0.67), (all_results, 0.67), (only_words, 0.34), (wrong_time, 0.6)],
)
def test_laziness_pays_less_than_the_task(act: Act, most: float) -> None:
    episode = play(env_of(alarm_task()), act)
    assert episode.episode_return is not None
    assert episode.episode_return <= most
    assert play(env_of(alarm_task()), oracle).episode_return == 1.0


@pytest.mark.parametrize("level", LEVELS)
def test_on_starter_dialogues_the_oracle_is_far_above_laziness(level: int) -> None:
    env = make_tool_env(f"apibank/L{level}-v0", data="starter", protocol="dialogue")
    assert isinstance(env, ApiBankEnv)
    returns: dict[str, float] = {}
    for act in (oracle, doubled, silent_at_the_end, only_words):
        played = [play(env, act, task).episode_return for task in range(40)]
        returns[act.__name__] = sum(value for value in played if value is not None) / len(played)
    assert returns.pop("oracle") == 1.0
    # Words alone decline what no tool can do, and in that they are right. Those of this policy also state facts
    # that no policy can know without a call, which is half of what a task without a state to reach pays.
    assert all(value < 0.85 for value in returns.values()), returns
    assert returns["only_words"] < 0.6


# Protocol, options, data.


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dialect", ["apibank", "hermes"])
def test_starter_dialogues_keep_the_contract(level: int, dialect: str) -> None:
    id = f"apibank/L{level}-v0"
    callgym.check_tool_env(gym.make(id, protocol="dialogue", data="starter", dialect=dialect))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "dialogue"},
        {"samples": "all", "state": "replayed"},
        {"protocol": "dialogue", "official_faults": True},
    ],
    ids=str,
)
def test_official_tasks_keep_the_contract(level: int, options: dict[str, Any], apibank_data: Path) -> None:
    callgym.check_tool_env(gym.make(f"apibank/L{level}-v0", data=str(apibank_data), **options))


@pytest.mark.parametrize(
    "options",
    [{"protocol": "single"}, {"samples": "most"}, {"state": "old"}, {"ranker": "best"}],
    ids=str,
)
def test_a_wrong_option_is_named(options: dict[str, Any]) -> None:
    (value,) = options.values()
    with pytest.raises(ConfigurationError, match=value):
        make_tool_env("apibank/L1-v0", data="starter", **options)


def test_live_play_without_databases_says_what_to_fetch(tmp_path: Path) -> None:
    (tmp_path / "lv1-lv2-samples" / "level-1-given-desc").mkdir(parents=True)
    with pytest.raises(DataError, match=r"init_database|does not exist"):
        make_tool_env("apibank/L1-v0", data=str(tmp_path), protocol="dialogue")


def test_records_name_the_protocol_and_what_a_search_ranks_with() -> None:
    episode = play(env_of(alarm_task()), oracle)
    assert episode.config["protocol"] == "dialogue"
    assert episode.config["ranker"] == "bm25"
    assert Episode.from_json(episode.to_json()) == episode


@pytest.mark.parametrize(("level", "count", "flagged"), [(1, 212, 16), (2, 49, 4), (3, 50, 0)])
def test_every_official_dialogue_can_be_played_to_the_end(
    level: int, count: int, flagged: int, apibank_data: Path
) -> None:
    options: dict[str, Any] = {"data": str(apibank_data), "protocol": "dialogue"}
    env = make_tool_env(f"apibank/L{level}-v0", **options)
    assert isinstance(env, ApiBankEnv)
    assert len(env.tasks) == count
    assert [play(env, oracle, task).episode_return for task in range(count)] == [1.0] * count
    assert [play(env, lambda _: "I cannot do that.", task).episode_return for task in range(count)] == [0.0] * count
    clean = make_tool_env(f"apibank/L{level}-v0", exclude_flagged=True, **options)
    assert len(clean.tasks) == count - flagged


def test_random_ids_that_the_recording_quotes_are_pinned(apibank_data: Path) -> None:
    env = make_tool_env("apibank/L1-v0", data=str(apibank_data), protocol="dialogue")
    assert isinstance(env, ApiBankEnv)
    pinned = [task for task in env.tasks if "pinned" in task.meta]
    assert pinned
    for task in pinned:
        episode = play(env, oracle, task.id)
        said = json.dumps([result.content for step in episode.steps for result in step.results])
        first: Any = task.meta["pinned"]
        assert first[0] in said
        assert first[0] not in json.dumps(episode.state), "generated values are placeholders in the state"


def test_a_given_official_task_runs_on_its_own_tables(apibank_data: Path) -> None:
    whole = make_tool_env("apibank/L3-v0", data=str(apibank_data), protocol="dialogue")
    assert isinstance(whole, ApiBankEnv)
    expected = play(whole, oracle, 25)
    given = env_of(whole.tasks[25], level=3)
    played = play(given, oracle)
    assert [step.results for step in played.steps] == [step.results for step in expected.steps]
    lost = whole.tasks[25].model_copy(update={"meta": {**whole.tasks[25].meta, "tables": "0" * 64}})
    with pytest.raises(DataError, match="not loaded"):
        env_of(lost, level=3)


# Official scores as rewards.


def official(task: str, action: str, data: Path, level: int = 1, **options: Any) -> Episode:
    env = make_tool_env(f"apibank/L{level}-v0", data=str(data), rubric="apibank_official", **options)
    env.reset(seed=0, options={"task": task})
    *_, info = env.step(action)
    episode: Episode = info["episode"]
    return episode


def test_the_official_verdict_explains_itself(apibank_data: Path) -> None:
    env = make_tool_env("apibank/L1-v0", data=str(apibank_data))
    task = next(t for t in env.tasks if t.meta["recorded"][0]["name"] == "AddAlarm")  # type: ignore[index, call-overload]
    env.reset(seed=0, options={"task": task.id})
    gold = env.oracle_action()
    right = official(task.id, gold, apibank_data).rewards["apibank_exec"]
    assert right.value == 1.0
    assert right.explanation["status"] == "correct"
    for action, status in (
        ("I set it.", "no_api_call"),
        ("[DeleteAlarm(token='x', time='y')]", "name_mismatch"),
        ("[AddAlarm(token='x')]", "call_error"),
        ("[AddAlarm(token='x', time='2023-01-01 00:00:00')]", "incorrect"),
    ):
        wrong = official(task.id, action, apibank_data).rewards["apibank_exec"]
        assert wrong.value == 0.0
        assert wrong.explanation["status"] == status
    hermes = make_tool_env("apibank/L1-v0", data=str(apibank_data), dialect="hermes", rubric="apibank_official")
    hermes.reset(seed=0, options={"task": task.id})
    *_, info = hermes.step(hermes.oracle_action())
    assert info["rewards"]["apibank_exec"] == 1.0


def test_replaying_earlier_calls_mends_what_the_official_evaluation_cannot_see(apibank_data: Path) -> None:
    env = make_tool_env("apibank/L1-v0", data=str(apibank_data))
    task = next(t for t in env.tasks if "password is incorrect" in json.dumps(t.meta.get("official_gold")))
    env.reset(seed=0, options={"task": task.id})
    gold = env.oracle_action()
    assert official(task.id, gold, apibank_data).episode_return == 0.0
    assert official(task.id, gold, apibank_data, state="replayed").episode_return == 1.0


def test_replies_are_scored_by_rouge(apibank_data: Path) -> None:
    env = make_tool_env("apibank/L1-v0", data=str(apibank_data), samples="replies", rubric="apibank_official")
    env.reset(seed=0, options={"task": 3})
    *_, info = env.step(env.oracle_action())
    assert info["rewards"] == {"apibank_exec": None, "apibank_rouge": 1.0}
    env.reset(seed=0, options={"task": 3})
    _, reward, *_ = env.step("Quite another thing")
    assert reward < 0.3


def test_scores_add_up_to_the_published_numbers(apibank_data: Path) -> None:
    """What a perfect imitation of the recordings reaches at level 3, where no model is needed but for the search."""
    env = make_tool_env("apibank/L3-v0", data=str(apibank_data), samples="all")
    assert isinstance(env, ApiBankEnv)
    episodes = [play(env, oracle, task) for task in range(len(env.tasks))]
    (row,) = official_scores(episodes, str(apibank_data))
    assert (row["level"], row["calls"], row["samples"], row["replies"], row["not_scored"]) == (3, 245, 50, 50, 0)
    assert row["rouge_l"] == pytest.approx(1.0, abs=1e-6)
    assert row["accuracy"] == row["right"] / 245
    assert row["sample_accuracy"] <= row["accuracy"]


def test_an_official_score_without_its_tables_is_unknown(apibank_data: Path) -> None:
    env = make_tool_env("apibank/L1-v0", data=str(apibank_data))
    task = env.tasks[0].model_copy(update={"meta": {**env.tasks[0].meta, "tables": "0" * 64}})
    env.reset(seed=0, options={"task": 0})
    *_, info = env.step(env.oracle_action())
    score = get_reward("apibank_exec")(task, info["episode"])
    assert score.value is None
    assert score.applies


# The command line.


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_line_plays_live() -> None:
    shown = run("show", "apibank/L3-v0", "--data", "starter", "--set", "protocol=dialogue", "--play", "oracle")
    assert "--- action 1: [ToolSearcher(" in shown
    assert "return 1.000" in shown
    summary = json.loads(
        run(
            "eval", "apibank/L2-v0", "--policy", "abstain", "--data", "starter", "--episodes", "20", "--json",
            "--set", "protocol=dialogue", "--set", "max_steps=5",
        ).splitlines()[-1]
    )  # fmt: skip
    assert summary["episodes"] == 20
    assert summary["return_mean"] < 0.4


def test_a_setting_without_a_value_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["check", "apibank/L1-v0", "--set", "protocol"])
    assert result.exit_code == 2
    assert "NAME=VALUE" in result.output


def test_the_command_line_lists_flagged_tasks_and_scores_files(apibank_data: Path, tmp_path: Path) -> None:
    data = str(apibank_data)
    flagged = run("flagged", "apibank/L3-v0", "--data", data, "--set", "protocol=dialogue")
    assert flagged.splitlines()[-1] == "0 of 50 tasks"
    out = str(tmp_path / "episodes.jsonl")
    run("eval", "apibank/L2-v0", "--policy", "oracle", "--data", data, "--out", out, "--set", "samples=all")
    (row,) = json.loads(run("score", "apibank", out, "--data", data, "--json"))
    assert (row["level"], row["calls"], row["replies"], row["rouge_l"]) == (2, 135, 103, 1.0)


@pytest.mark.parametrize("command", [("eval", "apibank/L1-v0", "--policy", "oracle"), ("check", "apibank/L1-v0")])
def test_a_setting_that_no_environment_knows_is_named(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*command, "--data", "starter", "--set", "prtocol=dialogue"])
    assert result.exit_code == 3
    assert "'prtocol'" in result.output and "protocol" in result.output and "max_steps" in result.output  # noqa: PT018
