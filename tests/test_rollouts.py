"""The local runner: the same episodes whatever the batch, the interruption or the order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from callgym import ENVIRONMENTS, Episode, Message, Score, Step, Task, Tool, ToolCall, ToolResult, UserTurn
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.bfcl.categories import CATEGORIES
from callgym.episode import ParseError
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.rollouts.episodes import cut_torn_tail, read_episodes, read_rows
from callgym.rollouts.plan import Plan
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.runner import RolloutResult, run_episodes
from callgym.rollouts.summary import summarise
from callgym.tool_backends import PythonBackend, World

ID = "apibank/L1-v0"
STARTER: dict[str, Any] = {"data": "starter"}
OFFICIAL = Path(__file__).resolve().parents[2] / "shared/data/api_bank"
IDS = [entry.id for entry in ENVIRONMENTS if entry.family == "apibank"]


def play(policy: Any = "random", episodes: int = 20, **options: Any) -> RolloutResult:
    policy = get_policy(policy) if isinstance(policy, str) else policy
    return run_episodes(ID, policy, episodes=episodes, **{"env_options": STARTER, "progress": False, **options})


def as_bytes(result: RolloutResult) -> list[str]:
    return [episode.to_json() for episode in result.episodes]


def add(world: World, number: int) -> int:
    world.state["sum"] += number
    total: int = world.state["sum"]
    return total


ADD = Tool(
    name="Add",
    parameters={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)


def make_task(number: int) -> Task:
    turns = [(GoldCall.of(ToolCall(name="Add", arguments={"number": number + turn})),) for turn in range(3)]
    return Task(
        id=f"add-{number}",
        family="sums",
        split="test",
        messages=(Message(role="user", content=f"Add {number}."),),
        tools=(ADD,),
        user_turns=tuple(UserTurn(content=f"Now add {number + turn}.") for turn in (1, 2)),
        goal=CallsGoal(turns=tuple(turns)),
        initial_state={"sum": 0},
    )


class SumsEnv(ToolEnv):
    family = "sums"
    protocol = "dialogue"
    closed = 0

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"data": tuple(make_task(number) for number in range(5)), **options})

    def make_backend(self, source: Any) -> PythonBackend:
        return PythonBackend({"Add": add})

    def close(self) -> None:
        SumsEnv.closed += 1
        super().close()


class Scripted:
    """Answers by a function, and remembers the sizes of its batches."""

    name = "test"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.batches: list[int] = []
        self.closed = False

    def act(self, situations: Sequence[Situation]) -> list[str]:
        self.batches.append(len(situations))
        return [self.answer(situation) for situation in situations]

    def close(self) -> None:
        self.closed = True


def test_batch_size_changes_nothing() -> None:
    one, many = play(batch_size=1), play(batch_size=7)
    assert as_bytes(one) == as_bytes(many)
    assert one.summary.to_json() == many.summary.to_json()


@pytest.mark.parametrize("policy", ["oracle", "random", "echo"])
def test_batch_size_changes_nothing_in_dialogues(policy: str) -> None:
    results = [
        run_episodes(SumsEnv, get_policy(policy), episodes=12, batch_size=size, progress=False) for size in (1, 5, 32)
    ]
    assert as_bytes(results[0]) == as_bytes(results[1]) == as_bytes(results[2])


def test_episodes_of_one_run_differ_and_another_seed_gives_others() -> None:
    first, second = play(seed=0), play(seed=1)
    assert len({episode.seed for episode in first.episodes}) == 20
    assert {e.seed for e in first.episodes}.isdisjoint(e.seed for e in second.episodes)
    assert [e.task_id for e in first.episodes] != [e.task_id for e in second.episodes]


def test_more_episodes_begin_with_the_same_ones() -> None:
    assert as_bytes(play(episodes=12))[:5] == as_bytes(play(episodes=5))


def test_every_pass_plays_every_task_once_in_a_fresh_order() -> None:
    result = run_episodes(SumsEnv, get_policy("oracle"), episodes=50, progress=False)
    passes = [tuple(e.task_id for e in result.episodes[at : at + 5]) for at in range(0, 50, 5)]
    assert all(len(set(tasks)) == 5 for tasks in passes)
    assert len(set(passes)) > 5


def test_an_episode_can_be_played_again_from_its_record() -> None:
    for episode in play(episodes=5).episodes:
        env = gym.make(episode.env_id, **STARTER)
        env.reset(seed=episode.seed, options={"task": episode.task_id})
        for step in episode.steps:
            *_, info = env.step(step.action)
        assert info["episode"].to_json() == episode.to_json()


def test_the_plan_never_changes() -> None:
    env = SumsEnv()
    plan = Plan.of(env, "oracle", 0)
    assert [plan.task(index) for index in range(10)] == [4, 1, 2, 3, 0, 0, 1, 4, 3, 2]
    assert plan.episode_seed(0) == 3864611848776905584


def test_batches_are_full_while_episodes_wait() -> None:
    policy = Scripted(lambda situation: situation.env.oracle_action())
    run_episodes(SumsEnv, policy, episodes=10, batch_size=4, progress=False)
    assert policy.batches[0] == 4
    assert sum(policy.batches) == 10 * 6  # three turns of a call and its word of end
    assert policy.batches[:12] == [4] * 12


def test_a_dialogue_is_shown_whole() -> None:
    seen: dict[str, list[Situation]] = {"prompt": [], "delta": []}
    for mode, situations in seen.items():
        policy = Scripted(lambda s, situations=situations: situations.append(s) or s.env.oracle_action())
        run_episodes(SumsEnv, policy, episodes=2, batch_size=1, env_options={"observation": mode}, progress=False)
    assert [s.prompt for s in seen["prompt"]] == [s.prompt for s in seen["delta"]]
    assert [s.messages for s in seen["prompt"]] == [s.messages for s in seen["delta"]]
    assert all(s.prompt == s.observation for s in seen["prompt"])
    third = seen["delta"][2]
    assert third.observation != third.prompt
    assert [message["role"] for message in third.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert len({s.seed for s in seen["delta"]}) == 12


def test_half_surrogates_reach_the_prompt_as_the_environment_has_them() -> None:
    shown: dict[str, list[str]] = {"prompt": [], "delta": []}
    for mode, prompts in shown.items():
        policy = Scripted(lambda s, prompts=prompts: prompts.append(s.prompt) or "well\ud800")
        run_episodes(SumsEnv, policy, episodes=1, env_options={"observation": mode}, progress=False)
    assert shown["prompt"] == shown["delta"]
    assert len(shown["delta"]) == 3
    assert "well\ufffd" in shown["delta"][-1]


def test_each_episode_is_written_as_it_ends(tmp_path: Path) -> None:
    out = tmp_path / "deep/er/episodes.jsonl"
    written: list[int] = []

    def answer(situation: Situation) -> str:
        written.append(len(out.read_text().splitlines()))
        return situation.env.oracle_action()

    result = play(Scripted(answer), episodes=6, batch_size=1, out=out)
    assert written == [0, 1, 2, 3, 4, 5]
    assert [(k, e.to_json()) for k, e in read_episodes(out)] == list(enumerate(as_bytes(result)))
    first = json.loads(out.read_text().splitlines()[0])
    assert (first.pop("index"), first.pop("policy")) == (0, "test")
    assert first == result.episodes[0].to_dict()


@pytest.mark.parametrize("kept", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("torn", [0, 1, 9, 400])
def test_an_interrupted_file_is_resumed(tmp_path: Path, kept: int, torn: int) -> None:
    out = tmp_path / "episodes.jsonl"
    whole = play(out=out, batch_size=4)
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:kept]) + b"".join(lines[kept : kept + 1])[:torn])
    resumed = play(out=out, batch_size=4)
    assert resumed.resumed == kept
    assert as_bytes(resumed) == as_bytes(whole)
    assert sorted(out.read_bytes().splitlines()) == sorted(line.rstrip(b"\n") for line in lines)


def test_a_killed_process_loses_no_ended_episode(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    code = f"""
import time
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.policy import get_policy
class Slow:
    name = "random"
    def act(self, situations):
        time.sleep(0.05)
        return get_policy("random").act(situations)
    def close(self): pass
run_episodes({ID!r}, Slow(), episodes=400, batch_size=3, env_options={STARTER!r}, out={str(out)!r})
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 30
    while (not out.exists() or out.stat().st_size < 20_000) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    ended = out.read_bytes().count(b"\n")
    assert ended >= 3
    resumed = play(out=out, episodes=400)
    assert resumed.resumed == ended
    assert as_bytes(resumed) == as_bytes(play(episodes=400))


def test_a_finished_file_plays_nothing_and_more_episodes_are_added(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    play(out=out, episodes=5)
    before = out.read_bytes()
    policy = Scripted(lambda _: pytest.fail("nothing is left to play"))
    policy.name = "random"
    assert len(play(policy, out=out, episodes=3).episodes) == 3
    assert out.read_bytes() == before
    more = play(out=out, episodes=9)
    assert more.resumed == 5
    assert out.read_bytes().startswith(before)
    assert as_bytes(more) == as_bytes(play(episodes=9))


def test_without_resume_the_file_is_written_anew(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    play(out=out, seed=1)
    assert play(out=out, seed=2, resume=False).resumed == 0
    assert len(list(read_episodes(out))) == 20


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 8}, "seed is "),
        ({"policy": "oracle"}, "policy is 'random', and 'oracle' in this run"),
        ({"env_options": {**STARTER, "dialect": "hermes"}}, "config.dialect is 'apibank', and 'hermes'"),
        ({"env_options": {**STARTER, "split": "train"}}, "config.split is 'test', and 'train'"),
        ({"env_options": {**STARTER, "max_steps": 3}}, "config.max_steps is 16, and 3"),
        ({"env_options": {**STARTER, "rubric": "exact"}}, "rubric is 'default', and 'exact'"),
    ],
)
def test_a_file_of_another_run_is_refused(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    out = tmp_path / "episodes.jsonl"
    play(out=out, episodes=4, batch_size=1)
    with out.open("a") as file:
        file.write('{"index":3')
    before = out.read_bytes()
    with pytest.raises(DataError, match=r"episodes.jsonl, row 1: .*another run.*resume=False") as caught:
        play(**{"out": out, "episodes": 4, **change})
    assert named in str(caught.value)
    assert out.read_bytes() == before  # not even its torn tail was touched


def test_a_file_of_another_environment_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    play(out=out, episodes=2)
    with pytest.raises(DataError, match=r"row 1: env_id is 'apibank/L1-v0', and 'SumsEnv' in this run"):
        run_episodes(SumsEnv, get_policy("random"), episodes=2, out=out, progress=False)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("not json\n", r"row 1: no episode, but b'not json"),
        ("{not json}\n", r"row 1: not valid JSON"),
        ("[1, 2]\n", r"row 1: no episode"),
        ('{"env_id": "x"}\n', r"row 1: no episode, which has an 'index'"),
        ('{"index": true}\n', r"row 1: no episode"),
        ('{"index": 0, "policy": "a", "seed": "x"}\n', r"row 1: Episode\."),
        ("precious notes without an end of line", r"row 1: no episode, but b'precious notes"),
        ("\n", r"row 1: the line is empty"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_and_left_alone(tmp_path: Path, text: str, named: str) -> None:
    out = tmp_path / "episodes.jsonl"
    out.write_text(text)
    with pytest.raises(DataError, match=named):
        play(out=out)
    assert out.read_text() == text
    with pytest.raises(DataError, match=named):
        list(read_episodes(out))


def test_an_episode_twice_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    play(out=out, episodes=3, batch_size=1)
    out.write_bytes(out.read_bytes() + out.read_bytes().splitlines(keepends=True)[1])
    with pytest.raises(DataError, match=r"row 4: episode 1 stands in row 2 already"):
        list(read_rows(out))


def test_reading_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        list(read_episodes(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match="is a folder"):
        list(read_episodes(tmp_path))


def test_only_a_torn_line_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for before, after in [
        (b"", b""),
        (b'{"index":1}\n', b'{"index":1}\n'),
        (b'{"index":1}\n{"ind', b'{"index":1}\n'),
        (b'{"index":1}\n{"index":2,' + b"x" * 200_000, b'{"index":1}\n'),
        (b'{"index":1}\nnotes', b'{"index":1}\nnotes'),
    ]:
        path.write_bytes(before)
        assert cut_torn_tail(path) == len(before) - len(after)
        assert path.read_bytes() == after


def test_a_bug_comes_out_after_what_ended_was_written(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"

    def answer(situation: Situation) -> Any:
        return 3 if len(policy.batches) == 3 else situation.env.oracle_action()

    policy = Scripted(answer)
    with pytest.raises(TypeError, match="an action is text"):
        play(policy, out=out, batch_size=4)
    assert len(list(read_episodes(out))) == 8
    assert policy.closed


def test_environments_are_closed_even_after_a_bug() -> None:
    SumsEnv.closed = 0
    policy = Scripted(lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_episodes(SumsEnv, policy, episodes=9, batch_size=3, progress=False)
    assert SumsEnv.closed == 3
    assert policy.closed


def test_no_more_environments_than_episodes() -> None:
    SumsEnv.closed = 0
    run_episodes(SumsEnv, get_policy("oracle"), episodes=2, batch_size=32, progress=False)
    assert SumsEnv.closed == 2


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"episodes": 1.5}, {"seed": -1}, {"batch_size": 0}])
def test_wrong_arguments_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        play(**wrong)


def test_a_policy_that_gives_too_few_actions_is_named() -> None:
    class Short(Scripted):
        def act(self, situations: Sequence[Situation]) -> list[str]:
            return super().act(situations)[:-1]

    with pytest.raises(ConfigurationError, match="'test' gave 3 actions for 4 situations"):
        play(Short(lambda _: "well"), batch_size=4)


def test_other_environments_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="a ToolEnv, got CartPole"):
        run_episodes("CartPole-v1", get_policy("echo"), episodes=1, progress=False)


def test_a_bar_is_shown_on_a_terminal_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "episodes.jsonl"
    play(episodes=4, progress=True, out=out)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    play(episodes=8, progress=True, out=out)
    shown = capsys.readouterr()
    assert "8/8" in shown.err
    assert shown.out == ""
    play(episodes=8, progress=False)
    assert capsys.readouterr().err == ""


def record(value: float | None, **fields: Any) -> Episode:
    score = Score(value=value)
    return Episode(
        env_id="x", task_id="t", seed=0, data="given", episode_return=value, rewards={"exact": score}, **fields
    )


def test_the_summary_keeps_unknown_apart_and_counts_errors() -> None:
    fault = ParseError(kind="malformed", position=0, message="")
    calls = (ToolCall(name="A"), ToolCall(name="B"))
    results = (ToolResult(error="timeout"), ToolResult(content=1))
    step = Step(action="", calls=calls, errors=(fault, fault), results=results)
    absent = Score(applies=False)
    episodes = [record(1.0, steps=(step,)), record(0.5), record(None)]
    episodes[0] = episodes[0].model_copy(update={"rewards": {**episodes[0].rewards, "never": absent}})
    summary = summarise(episodes, id="x", policy="p", seed=3)
    assert (summary.return_mean, summary.unknown, summary.episodes) == (0.75, 1, 3)
    assert summary.return_stderr == pytest.approx(0.25)
    assert summary.rewards == {"exact": 0.75, "never": None}
    assert summary.errors == {"malformed": 2, "timeout": 1}
    line = json.loads(summary.to_json())
    assert list(line) == [
        "id", "policy", "episodes", "seed", "data", "return_mean", "return_stderr", "rewards", "errors"
    ]  # fmt: skip
    assert line["errors"] == {"malformed": 2, "timeout": 1, "unknown_return": 1}
    assert "return unknown" in summary.table()
    assert "0.750 ± 0.250" in summary.table()


def test_a_summary_of_nothing_known_is_unknown_and_not_zero() -> None:
    line = json.loads(summarise([record(None)], id="x", policy="p", seed=0).to_json())
    assert line["return_mean"] is None
    assert line["return_stderr"] is None


LIMITS = [("oracle", 1.0, 1.0), ("abstain", 0.0, 0.6), ("echo", 0.0, 0.3), ("random", 0.0, 0.4)]


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(("policy", "least", "most"), LIMITS)
@pytest.mark.parametrize("data", ["starter", "official"])
def test_ceiling_and_floors(id: str, policy: str, least: float, most: float, data: str) -> None:
    if data == "official" and not OFFICIAL.is_dir():
        pytest.skip("no official data here")
    folder = str(OFFICIAL) if data == "official" else data
    result = run_episodes(id, get_policy(policy), episodes=200, env_options={"data": folder}, progress=False)
    mean = result.summary.return_mean
    assert mean is not None
    assert least <= mean <= most


@pytest.mark.parametrize("id", [*(f"bfcl/{name}-v0" for name in CATEGORIES), "bfcl/all-v0"])
@pytest.mark.parametrize("policy", ["oracle", "abstain", "echo", "random"])
def test_ceiling_and_floors_where_tasks_are_of_one_kind(id: str, policy: str) -> None:
    """Words earn the tasks that are to be declined, a random call those in which any call will do, and no more."""
    result = run_episodes(id, get_policy(policy), episodes=40, env_options=STARTER, progress=False)
    tasks = {task.id: task for task in make_tool_env(id, data="starter").tasks}
    goals = [tasks[episode.task_id].goal_of(DecisionGoal) for episode in result.episodes]
    decisions = [None if goal is None else goal.decision for goal in goals]
    earned = {"oracle": 1.0, "abstain": decisions.count("decline") / 40, "echo": 0.0}
    assert result.summary.unknown == 0
    if policy == "random":  # an enum or a boolean is right now and then
        right = decisions.count("call") / 40
        assert right <= (result.summary.return_mean or 0.0) <= right + 0.05
    else:
        assert result.summary.return_mean == pytest.approx(earned[policy])
