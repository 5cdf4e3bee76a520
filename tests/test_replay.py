"""Replay and rescore: equal is equal to the byte, every change is found where it is, and unknown stays unknown."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from callgym import ENVIRONMENTS, Episode, Message, Score, Task, Tool, ToolCall, UserTurn
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.errors import ConfigurationError, DataError
from callgym.goal import AllGoal, CallsGoal, GoldCall, StateGoal
from callgym.replay_commands import replay, rescore
from callgym.rewards import Rubric, register_reward
from callgym.rewards.presets import RUBRICS
from callgym.rollouts import rescore as rescoring
from callgym.rollouts.difference import first_difference
from callgym.rollouts.episodes import read_episodes, write_episode, write_failure
from callgym.rollouts.policy import get_policy
from callgym.rollouts.replay import ReplayReport, replay_file
from callgym.rollouts.rescore import rescore_file
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.stage import Failure
from callgym.tool_backends import PythonBackend, World

L1 = "apibank/L1-v0"
ADD = Tool(
    name="Add",
    parameters={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)


def add(world: World, number: int) -> int:
    world.state["sum"] += number
    total: int = world.state["sum"]
    return total


def make_task(number: int) -> Task:
    calls = CallsGoal(turns=tuple((GoldCall.of(ToolCall(name="Add", arguments={"number": n})),) for n in (number, 7)))
    return Task(
        id=f"add-{number}",
        family="sums",
        split="test",
        messages=(Message(role="user", content=f"Add {number}."),),
        tools=(ADD,),
        user_turns=(UserTurn(content="Now add 7."),),
        goal=AllGoal(goals=(calls, StateGoal(state={"sum": number + 7}))),
        initial_state={"sum": 0},
    )


class SumsEnv(ToolEnv):
    family = "sums"
    protocol = "dialogue"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"data": tuple(make_task(number) for number in range(5)), **options})

    def make_backend(self, source: Any) -> PythonBackend:
        return PythonBackend({"Add": add})


@pytest.fixture(scope="module", autouse=True)
def sums() -> Any:
    gym.register("sums/add-v0", entry_point=SumsEnv, order_enforce=False)
    yield
    del gym.registry["sums/add-v0"]


SUMS = "sums/add-v0"
_names = itertools.count()


def play(
    folder: Path, id: Any = SUMS, policies: Sequence[str] = ("oracle",), episodes: int = 4, **options: Any
) -> Path:
    """A file with the episodes of several policies."""
    path = folder / f"episodes-{next(_names)}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        index = 0
        for policy in policies:
            result = run_episodes(id, get_policy(policy), episodes=episodes, env_options=options, progress=False)
            for episode in result.episodes:
                write_episode(file, index, policy, episode)
                index += 1
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def compact(line: Any) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def counts(report: ReplayReport) -> tuple[int, int, int, int]:
    return report.equal, report.different, report.not_replayable, report.failed


# Equal.


@pytest.mark.parametrize("id", [entry.id for entry in ENVIRONMENTS])
def test_every_environment_replays_to_the_byte(tmp_path: Path, id: str) -> None:
    path = play(tmp_path, id, ("oracle", "random", "truncated_call", "call_every_tool"), 2, data="starter")
    report = replay_file(path)
    assert report.first is None
    assert counts(report) == (8, 0, 0, 0)
    assert report.proven
    again = tmp_path / "again.jsonl"
    rescored = rescore_file(path, ["default"], out=again)
    assert (rescored.episodes, rescored.not_rescored) == (8, 0)
    assert again.read_bytes() == path.read_bytes()


OPTIONS: list[dict[str, Any]] = [
    {"protocol": "dialogue", "faults": ["errors:0.5", "stale:0.5"]},
    {"protocol": "dialogue", "perturb": ["rename:0.5", {"name": "distractors", "count": 2}, "shuffle"]},
    {"protocol": "dialogue", "max_steps": 2, "rubric": "turn_level"},
    {"dialect": "hermes", "coercion": "lenient", "observation": "delta", "rubric": "toolrl"},
    {"state": "fresh", "split": "train", "dialect": "auto"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options))
def test_every_option_on_record_is_used_again(tmp_path: Path, options: dict[str, Any]) -> None:
    path = play(tmp_path, L1, ("oracle", "random", "echo_prompt"), 6, data="starter", **options)
    report = replay_file(path)
    assert report.first is None
    assert counts(report) == (18, 0, 0, 0)
    again = tmp_path / "again.jsonl"
    rescore_file(path, [lines_of(path)[0]["rubric"]], out=again)
    assert again.read_bytes() == path.read_bytes()


def test_official_files_in_a_folder_are_given_again(tmp_path: Path, apibank_data: Path) -> None:
    path = play(tmp_path, L1, ("oracle", "random"), 5, data=str(apibank_data))
    unplayed = replay_file(path)
    assert counts(unplayed) == (0, 0, 10, 0)
    assert "--data" in unplayed.unplayed[0].reason
    assert not unplayed.proven
    assert counts(replay_file(path, data=apibank_data)) == (10, 0, 0, 0)


def test_an_environment_without_an_id_is_made_by_its_factory(tmp_path: Path) -> None:
    path = play(tmp_path, SumsEnv, ("oracle", "random"))
    assert counts(replay_file(path)) == (0, 0, 8, 0)
    assert counts(replay_file(path, factory=SumsEnv)) == (8, 0, 0, 0)


def test_tasks_that_were_given_are_given_again(tmp_path: Path) -> None:
    tasks = make_tool_env(L1, data="starter").tasks[:3]
    path = play(tmp_path, L1, data=tasks)
    report = replay_file(path)
    assert counts(report) == (0, 0, 4, 0)
    assert "given by hand" in report.unplayed[0].reason
    assert counts(replay_file(path, data=tasks)) == (4, 0, 0, 0)
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(task.to_json() + "\n" for task in tasks), encoding="utf-8")
    assert run(replay, path, "--data", file).exit_code == 0


def swapped(task: Task, rng: np.random.Generator) -> Task:
    return task.model_copy(update={"messages": (Message(role="user", content=f"Add {rng.integers(100)}."),)})


def test_a_function_that_perturbs_is_no_name_on_record(tmp_path: Path) -> None:
    path = play(tmp_path, perturb=[swapped])
    report = replay_file(path)
    assert counts(report) == (0, 0, 4, 0)
    assert "no perturbation" in report.unplayed[0].reason
    assert counts(replay_file(path, env_options={"perturb": [swapped]})) == (4, 0, 0, 0)


def test_a_rubric_of_ones_own_is_given_again(tmp_path: Path) -> None:
    rubric = Rubric(name="mine", weights={"argument_f1": 1.0})
    path = play(tmp_path, rubric=rubric)
    report = replay_file(path)
    assert counts(report) == (0, 0, 4, 0)
    assert "'mine' is not known here" in report.unplayed[0].reason
    assert counts(replay_file(path, env_options={"rubric": rubric})) == (4, 0, 0, 0)


def truncated_file(folder: Path, cut: str | None) -> Path:
    env = make_tool_env(SUMS)
    env.reset(seed=1, options={"task": "add-3"})
    env.step(env.oracle_action())
    path = folder / f"cut-{next(_names)}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        write_episode(file, 0, "trainer", env.truncate() if cut is None else env.truncate(cut))
    return path


@pytest.mark.parametrize("cut", [None, "", '<tool_call>{"name": "Add", "arg', "half \ud800 a pair"])
def test_what_a_trainer_truncated_is_truncated_again(tmp_path: Path, cut: str | None) -> None:
    assert counts(replay_file(truncated_file(tmp_path, cut))) == (1, 0, 0, 0)


def test_lines_of_failed_episodes_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = play(tmp_path)
    text = path.read_text()
    with path.open("w") as file:
        failure = Failure(kind="worker_lost", message="gone")
        write_failure(file, 2, "oracle", SUMS, "add-1", 5, failure)
        file.write(text)
        write_failure(file, 9, "oracle", SUMS, "add-1", 6, failure)
    report = replay_file(path)
    assert counts(report) == (4, 0, 0, 2)
    assert report.proven
    out = tmp_path / "out.jsonl"
    assert rescore_file(path, ["default"], out=out).failed == 2
    assert out.read_bytes() == path.read_bytes()


# Different.


def put(line: dict[str, Any], value: Any, *path: Any) -> None:
    for key in path[:-1]:
        line = line[key]
    line[path[-1]] = value


def cut_and_running(line: dict[str, Any]) -> None:
    line["steps"].pop()
    line["ended"] = "running"


CALL = '<tool_call>\n{"name": "Add", "arguments": {"number": %d}}\n</tool_call>'
TAMPERING: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("action", lambda e: put(e, CALL % 99, "steps", 0, "action"), "steps[0].calls[0].arguments.number"),
    ("words", lambda e: put(e, "Well.", "steps", 1, "action"), "steps[1].content"),
    ("calls", lambda e: put(e, "Sub", "steps", 0, "calls", 0, "name"), "steps[0].calls[0].name"),
    ("result", lambda e: put(e, 1000, "steps", 2, "results", 0, "content"), "steps[2].results[0].content"),
    ("type", lambda e: put(e, 10.0, "steps", 2, "results", 0, "content"), "steps[2].results[0].content"),
    ("observation", lambda e: put(e, "fine", "steps", 1, "observation"), "steps[1].observation"),
    ("turn", lambda e: put(e, 1, "steps", 0, "turn"), "steps[0].turn"),
    ("step reward", lambda e: put(e, 0.5, "steps", 3, "reward"), "steps[3].reward"),
    ("score", lambda e: put(e, 0.5, "rewards", "argument_f1", "value"), "rewards.argument_f1.value"),
    ("return", lambda e: put(e, 0.5, "episode_return"), "episode_return"),
    ("unknown return", lambda e: put(e, None, "episode_return"), "episode_return"),
    ("state", lambda e: put(e, 11, "state", "sum"), "state.sum"),
    ("no state", lambda e: put(e, None, "state"), "state"),
    ("seed", lambda e: put(e, -1, "seed"), "seed"),
    ("task", lambda e: put(e, "add-4", "task_id"), "prompt"),
    ("no such task", lambda e: put(e, "add-9", "task_id"), "task_id"),
    ("prompt", lambda e: put(e, "Add.", "prompt"), "prompt"),
    ("ending", lambda e: put(e, "truncated", "ended"), "ended"),
    ("running", lambda e: put(e, "running", "ended"), "ended"),
    ("first step gone", lambda e: e["steps"].pop(0), "steps[1].results[0].content"),
    ("second step gone", lambda e: e["steps"].pop(1), "steps[1].turn"),
    ("last step gone", lambda e: e["steps"].pop(), "ended"),
    ("never ended", cut_and_running, "ended"),
    ("all steps gone", lambda e: e["steps"].clear(), "steps"),
    ("step again", lambda e: e["steps"].insert(1, e["steps"][0]), "steps[1].results[0].content"),
    ("step behind the end", lambda e: e["steps"].append(e["steps"][1]), "steps[4]"),
    ("rubric", lambda e: put(e, "exact", "rubric"), "rewards.argument_f1"),
    ("faults", lambda e: put(e, {"log": []}, "faults"), "faults"),
    ("field gone", lambda e: e["steps"][0].pop("reasoning"), "steps[0].reasoning"),
    ("policy gone", lambda e: e.pop("policy"), "policy"),
    ("order of keys", lambda e: put(e, dict(sorted(e["config"].items())), "config"), "config"),
    ("order of the record", lambda e: e.update(prompt=e.pop("prompt")), "(the line)"),
]


@pytest.mark.parametrize(("change", "path"), [case[1:] for case in TAMPERING], ids=[case[0] for case in TAMPERING])
def test_tampering_is_found_where_it_is(tmp_path: Path, change: Callable[[Any], Any], path: str) -> None:
    file = play(tmp_path, dialect="hermes")
    lines = lines_of(file)
    at = next(number for number, line in enumerate(lines) if line["task_id"] == "add-3")
    change(lines[at])
    file.write_text("".join(map(compact, lines)), encoding="utf-8")
    report = replay_file(file)
    assert counts(report) == (3, 1, 0, 0)
    assert not report.proven
    first = report.first
    assert first is not None
    assert first.path == path
    assert (first.row, first.index) == (at + 1, lines[at]["index"])
    assert first.step == (int(path[6]) if path.startswith("steps[") else None)
    assert first.stored != first.replayed
    assert first.hint


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"index":0,', '"index": 0,'),
        lambda text: text.replace('"policy":"oracle"', '"policy":"\\u006fracle"'),
        lambda text: text.replace('"seed":', '"seed":1,"seed":'),
        lambda text: text.replace("}\n", "} \n"),
    ],
)
def test_the_same_values_in_another_spelling_are_a_difference(tmp_path: Path, change: Callable[[str], str]) -> None:
    file = play(tmp_path, episodes=1)
    changed = change(file.read_text())
    assert changed != file.read_text()
    file.write_text(changed)
    first = replay_file(file).first
    assert first is not None
    assert first.path == "(the line)"
    assert "another program" in first.hint


def test_an_episode_that_goes_on_is_not_called_truncated(tmp_path: Path) -> None:
    file = play(tmp_path, episodes=1)
    line = lines_of(file)[0]
    line["steps"].pop()
    file.write_text(compact(line))
    first = replay_file(file).first
    assert first is not None
    assert (first.stored, first.replayed) == ('"terminated"', '"still running"')
    assert "steps are missing" in first.hint


def test_first_of_all_and_each_are_reported(tmp_path: Path) -> None:
    file = play(tmp_path)
    lines = lines_of(file)
    for number, line in enumerate(lines[1:]):
        put(line, "x" * 500 + str(number) + "y" * 500, "steps", 0, "observation")
    file.write_text("".join(map(compact, lines)))
    report = replay_file(file)
    assert [difference.row for difference in report.differences] == [2, 3, 4]
    assert all(len(difference.stored) < 250 for difference in report.differences)
    assert report.first == report.differences[0]


PLAYED = {"apibank": (L1, {"data": "starter", "protocol": "dialogue"}), "sums": (SUMS, {"dialect": "hermes"})}
INPUTS = ("index", "policy", "seed", "config")


@pytest.fixture(scope="module")
def single_lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("lines")
    lines = {}
    for name, (id, options) in PLAYED.items():
        file = play(folder, id, ("oracle",), 1, **options)
        lines[name] = file.read_text(encoding="utf-8")
    return lines


@given(name=st.sampled_from(sorted(PLAYED)), draw=st.data())
def test_no_changed_character_of_what_comes_out_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, single_lines: dict[str, str], name: str, draw: st.DataObject
) -> None:
    """What goes in (seed, options, actions) may be another episode's that is equal too; what comes out may not."""
    text = single_lines[name]
    at = draw.draw(st.integers(0, len(text) - 2))
    how = draw.draw(st.sampled_from(("replace", "delete", "insert")))
    alphabet = st.sampled_from('0123456789"\\,:{}[] aeE.-+ntrue\n\r\t\x00\x7fé\u2028')
    new = "" if how == "delete" else draw.draw(alphabet)
    changed = text[:at] + new + text[at + (how != "insert") :]
    if changed == text:
        return
    file = tmp_path_factory.mktemp("changed") / "episodes.jsonl"
    file.write_bytes(changed.encode())
    report = replay_file(file)
    if report.equal and report.fault is None:
        old, now = json.loads(text), json.loads(changed)
        for values in (old, now):
            for key in INPUTS:
                values.pop(key)
            for step in values["steps"]:
                step.pop("action")
        assert now == old
    else:
        assert not report.proven


@given(draw=st.data())
def test_no_changed_result_or_score_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, single_lines: dict[str, str], draw: st.DataObject
) -> None:
    """As above, where it hurts most: behind the first action there is little but what comes out."""
    text = single_lines["sums"]
    at = draw.draw(st.integers(text.index('"state":'), len(text) - 2))
    new = draw.draw(st.sampled_from('0159 "}'))
    changed = text[:at] + new + text[at + 1 :]
    file = tmp_path_factory.mktemp("changed") / "episodes.jsonl"
    file.write_text(changed)
    assert replay_file(file).proven == (changed == text)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(values, values)
def test_a_first_difference_is_there_exactly_where_bytes_differ(one: Any, other: Any) -> None:
    found = first_difference(one, other)
    assert (found is None) == (json.dumps(one) == json.dumps(other))
    assert first_difference(one, one) is None
    if found is not None:
        assert found.stored != found.replayed


# What cannot be played again, and what must not be.


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda e: put(e, "nobody/none-v0", "env_id"), "cannot be made again"),
        (lambda e: put(e, "CartPole-v1", "env_id"), "no tool environment"),
        (lambda e: put(e, "antigravity:evil-v0", "env_id"), "not imported: --import antigravity"),
        (lambda e: put(e, "http://127.0.0.1:9", "config", "backend"), "--network"),
        (lambda e: put(e, "recorded:/nowhere/at/all", "config", "backend"), "/nowhere/at/all"),
        (lambda e: put(e, "starter", "config", "data"), "names 'data'"),
        (lambda e: put(e, SUMS, "config", "id"), "names 'id'"),
        (lambda e: put(e, True, "config", "no_such_option"), "no_such_option"),
        (lambda e: put(e, {"a": 1}, "config", "max_steps"), "max_steps"),
        (lambda e: put(e, [1], "config", "dialect"), "cannot be made again"),
        (lambda e: put(e, ["nonsense"], "config", "faults"), "nonsense"),
        (lambda e: put(e, "starter", "data"), "cannot be made again"),
        (lambda e: put(e, "elsewhere", "data"), "'elsewhere'"),
        (lambda e: put(e, "unheard of", "rubric"), "'unheard of'"),
    ],
)
def test_what_cannot_be_made_again_is_kept_apart(tmp_path: Path, change: Callable[[Any], Any], reason: str) -> None:
    file = play(tmp_path)
    lines = lines_of(file)
    change(lines[2])
    file.write_text("".join(map(compact, lines)))
    report = replay_file(file)
    assert counts(report) == (3, 0, 1, 0)
    (unplayed,) = report.unplayed
    assert (unplayed.row, unplayed.index) == (3, 2)
    assert reason in unplayed.reason
    assert "antigravity" not in sys.modules


def test_a_server_is_called_only_where_that_is_allowed(tmp_path: Path) -> None:
    file = play(tmp_path, "when2call/judge-v0", data="starter")
    lines = lines_of(file)
    put(lines[0], "m@http://127.0.0.1:9/v1", "config", "judge")
    file.write_text("".join(map(compact, lines)))
    for report in (replay_file(file), rescore_file(file, ["exact"])):
        (reason,) = report.unplayed if isinstance(report, ReplayReport) else report.reasons
        assert "--network" in reason.reason


def test_tools_that_answer_otherwise_are_a_difference(tmp_path: Path) -> None:
    file = play(tmp_path)

    def forgetful(world: World, number: int) -> int:
        return number + 1

    report = replay_file(file, env_options={"backend": PythonBackend({"Add": forgetful})})
    assert report.different == 4
    assert report.first is not None
    assert report.first.path == "steps[0].results[0].content"
    assert "twice" in report.first.hint


# Damaged and foreign files.


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "is empty"),
        (PNG, "row 1: no episode, but b'\\x89PNG"),
        (b"\x00" * 100, "row 1: no episode"),
        (b"precious notes", "row 1: no episode, but b'precious notes'"),
        (b'{"messages": [{"role": "user", "content": "Hi"}]}\n' * 3, "row 1: no episode, which has an 'index'"),
        (b'{"index": true}\n', "row 1: no episode, which has an 'index'"),
        (b'{"index":0,"policy":3}\n', "row 1: 'policy' is a name"),
        (b'{"index":0,"policy":"x","seed":"x"}\n', "row 1: Episode."),
        (b"[" * 100_000 + b"\n", "row 1: no episode, but b'[[["),
        ('{"index":0,"policy":"\ud800"}\n'.encode("utf-8", "surrogatepass"), "row 1: not valid JSON"),
        (b"\n", "row 1: the line is empty"),
    ],
)
def test_a_foreign_file_is_named(tmp_path: Path, content: bytes, named: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    report = replay_file(file)
    assert counts(report) == (0, 0, 0, 0)
    assert named in (report.fault or "")
    assert not report.proven
    with pytest.raises(DataError, match="file"):
        rescore_file(file, ["exact"], out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == [file]
    outcome = run(replay, file)
    assert outcome.exit_code == 1
    assert outcome.stderr.count("\n") == 1


def test_a_file_is_read_up_to_its_fault(tmp_path: Path) -> None:
    file = play(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    report = replay_file(file)
    assert report.equal == 3
    assert "row 4: the line is cut off; resume the run" in (report.fault or "")
    assert not report.proven
    file.write_bytes(whole + whole.splitlines(keepends=True)[1])
    assert "row 5: episode " in (replay_file(file).fault or "")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataError):
            replay_file(path)
        with pytest.raises(DataError):
            rescore_file(path, ["exact"])


# Rescoring.


@pytest.mark.parametrize("rubric", ["exact", "toolrl", "turn_level", "envtuning_progress", "toolrla", "default"])
@pytest.mark.parametrize(
    ("id", "options"),
    [
        (SUMS, {}),
        (L1, {"data": "starter", "protocol": "dialogue", "max_steps": 3}),
        (L1, {"data": "starter", "dialect": "hermes", "perturb": ["rename", "distractors", "shuffle"]}),
        ("bfcl/multi_turn_base-v0", {"data": "starter", "faults": ["errors:0.3"]}),
        ("when2call/open-v0", {"data": "starter"}),
    ],
)
def test_rescored_is_as_if_played(tmp_path: Path, id: str, options: dict[str, Any], rubric: str) -> None:
    policies = ("oracle", "random", "truncated_call")
    before = play(tmp_path, id, policies, 4, **options)
    wanted = play(tmp_path, id, policies, 4, rubric=rubric, **options)
    out = tmp_path / "out.jsonl"
    report = rescore_file(before, [rubric], out=out)
    assert (report.episodes, report.not_rescored) == (12, 0)
    assert out.read_bytes() == wanted.read_bytes()
    assert replay_file(out).proven
    records = [episode for _, episode in read_episodes(before)]
    again = list(rescoring.rescore(records, rubric))
    assert [e.to_json() for e in again] == [e.to_json() for _, e in read_episodes(wanted)]


def test_no_tool_is_run_and_no_session_opened(tmp_path: Path) -> None:
    file = play(tmp_path)

    class Broken(SumsEnv):
        def make_backend(self, source: Any) -> PythonBackend:
            return pytest.fail("a backend was made")

    for options in ({}, {"backend": "http://127.0.0.1:9", "faults": ["outage"]}):
        assert rescore_file(file, ["exact"], factory=Broken, env_options=options).episodes == 4


def doubtful(task: Task, episode: Episode) -> Score:
    return Score(value=None if task.id == "add-2" else 0.25)


@pytest.fixture
def doubts() -> Any:
    register_reward("doubtful", doubtful)
    RUBRICS["doubts"] = Rubric(name="doubts", weights={"doubtful": 1.0, "argument_f1": 0.0})
    yield
    del RUBRICS["doubts"]


@pytest.mark.usefixtures("doubts")
def test_unknown_is_counted_and_never_0(tmp_path: Path) -> None:
    file = play(tmp_path, episodes=5)
    out = tmp_path / "out.jsonl"
    (change,) = rescore_file(file, ["doubts"], out=out).changes
    returns = change.returns
    assert (returns.old_mean, returns.new_mean) == (1.0, 0.25)
    assert (returns.old_unknown, returns.new_unknown, returns.pairs, returns.changed) == (0, 1, 4, 4)
    assert returns.difference == -0.75
    assert change.rewards["doubtful"].old_mean is None
    assert change.rewards["doubtful"].new_unknown == 1
    assert change.rewards["argument_f1"].difference == 0.0
    (unknown,) = (line for line in lines_of(out) if line["task_id"] == "add-2")
    assert unknown["episode_return"] is None
    assert unknown["steps"][-1]["reward"] is None
    assert counts(replay_file(out)) == (5, 0, 0, 0)
    (back,) = rescore_file(out, ["default"]).changes
    assert (back.returns.old_unknown, back.returns.new_unknown, back.returns.pairs) == (1, 0, 4)
    shown = rescore_file(file, ["doubts"]).table()
    assert "unknown: 0 -> 1" in shown


@pytest.mark.parametrize("values", [[1e300, 0.0], [1.7e308, 1.7e308], [-1.7e308, 1.7e308, -1.7e308]])
def test_returns_that_no_rubric_gave_have_no_spread(tmp_path: Path, values: list[float]) -> None:
    file = play(tmp_path)
    lines = lines_of(file)
    for line, value in zip(lines, values, strict=False):
        line["episode_return"] = value
    file.write_text("".join(map(compact, lines)))
    report = rescore_file(file, ["exact"])
    (change,) = report.changes
    assert change.returns.new_mean == 1.0
    assert change.returns.difference_stderr is None
    assert json.loads(report.to_json())["changes"]
    assert "rubric default -> exact" in report.table()


def test_half_a_surrogate_is_written_as_an_escape(tmp_path: Path) -> None:
    file, out = play(tmp_path), tmp_path / "out.jsonl"
    lines = lines_of(file)
    lines[0]["policy"] = lines[0]["steps"][0]["content"] = "\ud800"
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    rescore_file(file, ["default"], out=out)
    assert lines_of(out) == lines
    (difference,) = replay_file(file).differences
    assert (difference.path, difference.stored) == ("steps[0].content", '"\ud800"')


def test_several_rubrics_at_once(tmp_path: Path) -> None:
    file = play(tmp_path, policies=("oracle", "random"))
    report = rescore_file(file, ["exact", "toolrl", "exact"])
    assert [change.rubric for change in report.changes] == ["exact", "toolrl"]
    assert report.old_rubrics == ("default",)
    with pytest.raises(ConfigurationError, match="one rubric, and 2 are named"):
        rescore_file(file, ["exact", "toolrl"], out=tmp_path / "out")


def test_a_rubric_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    file = play(tmp_path)
    with pytest.raises(ConfigurationError, match="no rubric 'best'; there are: default"):
        rescore_file(file, ["best"])
    with pytest.raises(ConfigurationError, match="no rubric is named"):
        rescore_file(file, [])
    assert rescore_file(file, ["bfcl_official"]).episodes == 4  # registered by a benchmark of others


def test_the_file_that_is_read_is_not_written(tmp_path: Path) -> None:
    file = play(tmp_path)
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match="give another"):
        rescore_file(file, ["exact"], out=file)
    assert file.read_bytes() == before


def test_another_task_under_the_same_name_is_not_scored(tmp_path: Path) -> None:
    file = play(tmp_path)
    lines = lines_of(file)
    put(lines[1], "Add a thousand.", "prompt")
    put(lines[3], "add-99", "task_id")
    file.write_text("".join(map(compact, lines)))
    out = tmp_path / "out.jsonl"
    report = rescore_file(file, ["exact"], out=out)
    assert (report.episodes, report.not_rescored) == (2, 2)
    assert [reason.row for reason in report.reasons] == [2, 4]
    assert all("other data" in reason.reason for reason in report.reasons)
    assert len(lines_of(out)) == 2
    with pytest.raises(DataError, match="episode 2: task"):
        list(rescoring.rescore((e for _, e in read_episodes(file)), "exact"))
    outcome = run(rescore, file, "--rubric", "exact", "--out", out)
    assert outcome.exit_code == 1
    assert "2 episodes could not be scored again" in outcome.stderr


# The command line.


def run(command: Any, *arguments: Any) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_replay_prints_counts_and_proves(tmp_path: Path) -> None:
    file = play(tmp_path)
    outcome = run(replay, file)
    assert outcome.exit_code == 0
    assert outcome.stdout.split() == ["equal", "4", "different", "0", "not", "replayable", "0"]
    assert outcome.stderr == ""


def test_replay_shows_the_first_difference_harmlessly(tmp_path: Path) -> None:
    file = play(tmp_path)
    lines = lines_of(file)
    for line in lines[1:3]:
        put(line, "\x1b]0;owned\x07 \u202e\nnext\u009b2J", "steps", 1, "observation")
    lines[3]["env_id"] = "no\x1b[2Jne/\u202e-v0"
    file.write_text("".join(map(compact, lines)), encoding="utf-8")
    outcome = run(replay, file)
    assert outcome.exit_code == 1
    assert "row 2, episode" in outcome.stdout
    assert ", action 2: steps[1].observation" in outcome.stdout
    assert "row 3" not in outcome.stdout
    assert "1 more differ: --all" in outcome.stdout
    everything = run(replay, file, "--all")
    assert "row 3, episode" in everything.stdout
    for text in (outcome.output, everything.output):
        assert not set(text) & set("\x1b\x07\u202e\u009b")
    report = json.loads(run(replay, file, "--json").stdout)
    assert (report["equal"], report["different"], report["not_replayable"], report["proven"]) == (1, 2, 1, False)
    assert [difference["row"] for difference in report["differences"]] == [2, 3]


def test_nothing_replayed_proves_nothing(tmp_path: Path) -> None:
    file = play(tmp_path, SumsEnv)
    outcome = run(replay, file)
    assert outcome.exit_code == 1
    assert "no episode was played again" in outcome.stderr
    assert "4 such rows" in outcome.stdout


def test_a_module_with_ids_is_imported_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_ids.py").write_text(
        "import gymnasium\n"
        "from callgym.envs.apibank.env import ApiBankEnv\n"
        "gymnasium.register('mine/one-v0', entry_point=ApiBankEnv, kwargs={'level': 1}, order_enforce=False)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    file = play(tmp_path, "my_ids:mine/one-v0", data="starter")
    del gym.registry["mine/one-v0"]
    monkeypatch.delitem(sys.modules, "my_ids")
    assert run(replay, file).exit_code == 1
    assert run(replay, file, "--import", "my_ids").exit_code == 0
    outcome = run(replay, file, "--import", "no_such_module")
    assert outcome.exit_code == 3
    assert "PYTHONPATH" in outcome.stderr
    del gym.registry["mine/one-v0"]


def test_options_that_no_record_holds_are_set(tmp_path: Path) -> None:
    pool: Any = {"data": "starter", "exclude_flagged": True, "perturb": [{"name": "distractors", "count": 3}]}
    file = play(tmp_path, "bfcl/simple_python-v0", episodes=8, **pool)
    assert run(replay, file, "--set", "exclude_flagged=true").exit_code == 0


def test_rescore_prints_and_writes(tmp_path: Path) -> None:
    file = play(tmp_path, policies=("oracle", "random"))
    out = tmp_path / "deep" / "out.jsonl"
    outcome = run(rescore, file, "--rubric", "exact", "--out", out)
    assert outcome.exit_code == 0
    assert "8 episodes scored again" in outcome.stdout
    assert "rubric default -> exact" in outcome.stdout
    assert len(lines_of(out)) == 8
    report = json.loads(run(rescore, file, "--rubric", "exact", "--rubric", "toolrl", "--json").stdout)
    assert [change["rubric"] for change in report["changes"]] == ["exact", "toolrl"]
    failed = run(rescore, file, "--rubric", "best")
    assert failed.exit_code == 3
    assert failed.stderr.startswith("Error: no rubric 'best'")


def test_a_bar_is_shown_on_a_terminal_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = play(tmp_path)
    replay.main([str(file)], standalone_mode=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    replay.main([str(file)], standalone_mode=False)
    shown = capsys.readouterr()
    assert "replay  [####" in shown.err
    assert "MiB/s" in shown.err
    assert "MiB/s" not in shown.out
