"""Timings: beside the episodes and apart from them, a pair of seconds a step, of the try that counted."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callgym import GoldCall, Message, Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.rollouts import play as playing
from callgym.rollouts import seat as seats
from callgym.rollouts.episodes import read_episodes
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.runner import RolloutResult, Rollouts, run_episodes
from callgym.rollouts.timings import read_times, times_path

CALL, ANSWER = '<tool_call>{"name": "look", "arguments": {"at": 3}}</tool_call>', "Done."


class Clock:
    """Moves when it is told to; what waits goes by the real one."""

    def __init__(self) -> None:
        self.now = 100.0
        self.monotonic = time.monotonic

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(playing, "time", clock)
    monkeypatch.setattr(seats, "time", clock)
    return clock


class Looking:
    """Opens sessions: a call takes half a second of the clock, and breaks as often as is said of its task."""

    def __init__(
        self, clock: Clock | None = None, waits: bool = False, breaks: dict[str, int] | None = None, task: str = ""
    ) -> None:
        self.clock, self.waits, self.breaks, self.task = clock, waits, breaks or {}, task

    def open(self, task: Task, seed: int) -> Looking:
        return Looking(self.clock, self.waits, self.breaks, task.id)

    def call(self, call: ToolCall) -> ToolResult:
        if self.clock is not None:
            self.clock.now += 0.5
        if self.breaks.get(self.task):
            self.breaks[self.task] -= 1
            raise RuntimeError("broken")
        return ToolResult(content=call.arguments)

    async def acall(self, call: ToolCall) -> ToolResult:
        await asyncio.sleep(0)
        return self.call(call)

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


class Env(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def make_env(**options: Any) -> Env:
    tasks = [
        Task(
            id=f"t{number}",
            family="mine",
            split="test",
            messages=(Message(role="user", content="Look at 3."),),
            tools=(Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "integer"}}}),),
            goal=CallsGoal(turns=((GoldCall.of(ToolCall(name="look", arguments={"at": 3})),),)),
        )
        for number in range(6)
    ]
    return Env(data=tasks, **options)


class Writer:
    """Calls, then answers; a batch takes two seconds of the clock."""

    name = "writer"

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock

    def act(self, situations: Sequence[Situation]) -> list[str]:
        if self.clock is not None:
            self.clock.now += 2.0
        return [ANSWER if situation.messages[-1]["role"] == "tool" else CALL for situation in situations]

    def close(self) -> None:
        pass


def run(out: Path, backend: Looking | None = None, clock: Clock | None = None, **arguments: Any) -> RolloutResult:
    given: dict[str, Any] = {"episodes": 6, "batch_size": 4, "times": True, "progress": False, **arguments}
    options = {"backend": backend or Looking()}
    return run_episodes(make_env, Writer(clock), env_options=options, out=out, **given)


def check(out: Path, indices: Sequence[int] | None = None) -> None:
    """Every episode has a pair of seconds for each of its steps."""
    steps = {index: len(episode.steps) for index, episode in read_episodes(out)}
    found = read_times(times_path(out))
    assert {index: len(pairs) for index, pairs in found.items()} == steps
    assert all(seconds is not None and seconds >= 0 for pairs in found.values() for pair in pairs for seconds in pair)
    assert indices is None or sorted(found) == list(indices)


@pytest.mark.parametrize(
    ("episodes", "times"),
    [
        ("episodes.jsonl", "episodes.times.jsonl"),
        ("runs/a.b.jsonl", "runs/a.b.times.jsonl"),
        ("episodes.json", "episodes.json.times.jsonl"),
        ("episodes", "episodes.times.jsonl"),
    ],
)
def test_times_stand_beside_their_episodes(episodes: str, times: str) -> None:
    assert times_path(episodes) == Path(times)


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "awaited"])
def test_each_step_has_what_its_batch_took_to_write_and_what_it_took_to_play(
    tmp_path: Path, clock: Clock, waits: bool
) -> None:
    out = tmp_path / "episodes.jsonl"
    run(out, Looking(clock, waits), clock, batch_size=1, seats=1)
    assert read_times(times_path(out)) == {index: [(2.0, 0.5), (2.0, 0.0)] for index in range(6)}
    assert times_path(out).read_text().splitlines()[0] == '{"index":0,"steps":[[2.0,0.5],[2.0,0.0]]}'


def test_situations_of_a_batch_share_its_time(tmp_path: Path, clock: Clock) -> None:
    out = tmp_path / "episodes.jsonl"
    run(out, Looking(), clock, batch_size=4)
    assert read_times(times_path(out)) == {index: [(2.0, 0.0), (2.0, 0.0)] for index in range(6)}


@pytest.mark.parametrize("settings", [{}, {"batch_size": 2, "seats": 6}, {"limits": RolloutLimits()}])
def test_the_episodes_are_the_same_bytes_with_and_without(tmp_path: Path, settings: dict[str, Any]) -> None:
    timed, plain = tmp_path / "timed.jsonl", tmp_path / "plain.jsonl"
    for path, times in ((timed, True), (plain, False)):
        options = {"data": "starter", "protocol": "dialogue"}
        run_episodes(
            "apibank/L1-v0",
            get_policy("random"),
            episodes=20,
            env_options=options,
            out=path,
            times=times,
            progress=False,
            **settings,
        )
    assert timed.read_bytes() == plain.read_bytes()
    check(timed, range(20))
    assert not times_path(plain).exists()


def test_a_stream_has_the_times_too() -> None:
    with Rollouts(make_env, Writer(), env_options={"backend": Looking()}) as rollouts:
        for played in rollouts.stream(range(6)):
            assert played.episode is not None
            assert played.times is not None
            assert len(played.times) == len(played.episode.steps)


def test_a_truncated_episode_has_a_pair_for_its_last_step(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    run_episodes(
        make_env,
        Writer(),
        episodes=6,
        env_options={"backend": Looking(), "max_steps": 1},
        out=out,
        times=True,
        progress=False,
    )
    assert {episode.ended for _, episode in read_episodes(out)} == {"truncated"}
    check(out, range(6))


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "awaited"])
def test_only_the_try_that_counted_is_put_down(tmp_path: Path, clock: Clock, waits: bool) -> None:
    out = tmp_path / "episodes.jsonl"
    limits = RolloutLimits(attempts=3)
    breaks = {"t0": 3, **{f"t{number}": 1 for number in range(1, 6)}}
    result = run(out, Looking(clock, waits, breaks), clock, limits=limits, batch_size=1, seats=1)
    assert result.again == 7
    (lost,) = result.failures
    times = read_times(times_path(out))
    if waits:  # the clock is one for all, and a try that broke may move it while another waits
        assert all(steps[0][1] is not None and steps[0][1] >= 0.5 for steps in times.values())
        times = {
            index: [(write, 0.0 if play is None else min(play, 0.5)) for write, play in steps]
            for index, steps in times.items()
        }
    assert times == {index: [(2.0, 0.5), (2.0, 0.0)] for index in range(6) if index != lost}
    run(out, limits=limits)
    assert sum("failure" in json.loads(line) for line in out.read_text().splitlines()) == 1
    check(out, range(6))


@pytest.mark.parametrize("torn", [0, 1, 12])
def test_a_resumed_run_goes_on_with_both_files(tmp_path: Path, torn: int) -> None:
    out = tmp_path / "episodes.jsonl"
    run(out, batch_size=1)
    for path in (out, times_path(out)):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:3]) + lines[3][:torn])
    run(out, batch_size=1)
    check(out, range(6))
    run(out, episodes=8)
    check(out, range(8))


def test_an_episode_that_was_played_before_without_has_none(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    run(out, episodes=2, times=False)
    run(out)
    assert sorted(read_times(times_path(out))) == [2, 3, 4, 5]
    run(out, episodes=7, times=False)
    assert sorted(read_times(times_path(out))) == [2, 3, 4, 5]


def test_times_of_episodes_that_are_gone_are_not_kept(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    run(out)
    run(out, episodes=2, resume=False)
    check(out, range(2))
    out.unlink()
    run(out, episodes=3)
    check(out, range(3))
    run(out, resume=False, times=False)
    assert not times_path(out).exists()


def test_a_later_line_wins_and_what_is_damaged_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "episodes.times.jsonl"
    assert read_times(path) == {}
    good = b'{"index":1,"steps":[[1,null],[null,0.5]]}\n{"index":2,"steps":[]}\n{"index":1,"steps":[[3.5,0]]}\n'
    for damage in (
        b"\n",
        b"\xff\x00\n",
        b"[]\n",
        b"3\n",
        b"null\n",
        b'{"index":1}\n',
        b'{"index":true,"steps":[]}\n',
        b'{"index":-1,"steps":[]}\n',
        b'{"index":1,"steps":[[1]]}\n',
        b'{"index":1,"steps":[[1,"2"]]}\n',
        b'{"index":1,"steps":["12"]}\n',
        b'{"index":1,"steps":[[1,true]]}\n',
        b'{"index":1,"steps":[[1,-1]]}\n',
        b'{"index":1,"steps":[[1,NaN]]}\n',
        b'{"index":1,"steps":[[1,1e999]]}\n',
        b'{"index":1,"steps":[[1,' + b"9" * 400 + b"]]}\n",
        b'{"index":1,"steps":[[1,' + b"9" * 5000 + b"]]}\n",
        b'{"index":1,"steps":' + b"[" * 50_000 + b"\n",
        b'{"index":1,"steps":[[9,9]]}',  # no end: its writer may have had more to say
    ):
        path.write_bytes(good + damage)
        assert read_times(path) == {1: [(3.5, 0.0)], 2: []}, damage[:60]


def test_times_need_a_file_of_episodes_to_stand_beside() -> None:
    with pytest.raises(ConfigurationError, match="give out=FILE"):
        run_episodes(make_env, Writer(), episodes=1, times=True)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("place", ["driver", "worker"])
def test_on_workers_the_times_come_along(tmp_path: Path, place: Any) -> None:
    out = tmp_path / "episodes.jsonl"
    result = run_episodes(
        "apibank/L1-v0",
        get_policy("random"),
        episodes=30,
        env_options={"data": "starter", "protocol": "dialogue"},
        workers=RayWorkers(2, policy=place, cpus=0.1),
        out=out,
        times=True,
        progress=False,
    )
    assert len(result.episodes) == 30
    check(out, range(30))
    assert any(play > 0 for pairs in read_times(times_path(out)).values() for _, play in pairs if play is not None)
