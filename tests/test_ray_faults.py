"""What goes wrong around episodes on workers, and what must hold: none is lost, none comes twice, none hangs.

Without the mark: the driver's side and the workers' against a stand-in for Ray in this process, whose threads are
switched, delayed and killed far oftener than processes would be.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import GoldCall, Message, Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.rollouts.episodes import read_episodes
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.local_stage import LocalStage
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.retries import Retries
from callgym.rollouts.runner import Rollouts, run_episodes
from callgym.rollouts.stage import Act, Ended, Start, Turn

ray = pytest.importorskip("ray")

LONG = 60.0  # seconds: how long a test waits for what must come at once
CALL, ANSWER = '<tool_call>{"name": "look", "arguments": {"at": 3}}</tool_call>', "Done."

Trouble = Callable[[], None]


def make_task(number: int) -> Task:
    schema: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "integer"}}}
    return Task(
        id=f"t{number}",
        family="mine",
        split="test",
        messages=(Message(role="user", content="Look at 3."),),
        tools=(Tool(name="look", parameters=schema),),
        goal=CallsGoal(turns=((GoldCall.of(ToolCall(name="look", arguments={"at": 3})),),)),
        initial_state={"number": number},
    )


def hold_the_interpreter() -> None:
    """One call into C that gives no other thread a turn."""
    re.match(r"(a+)+$", "a" * 40 + "b")


def stop_the_process() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def spin() -> None:
    while True:
        pass


def leave() -> None:
    sys.exit(3)


def interrupt() -> None:
    raise KeyboardInterrupt


def cancel() -> None:
    raise asyncio.CancelledError


TROUBLES: dict[str, Trouble] = {
    "hold": hold_the_interpreter,
    "stop": stop_the_process,
    "spin": spin,
    "leave": leave,
    "interrupt": interrupt,
    "cancel": cancel,
}


class Session:
    """Looks, in the loop or out of it, unless its task is in trouble."""

    def __init__(self, number: int, trouble: str, waits: bool, folder: str, pause: float) -> None:
        self.number, self.trouble, self.waits, self.folder, self.pause = number, trouble, waits, folder, pause

    def call(self, call: ToolCall) -> ToolResult:
        TROUBLES.get(self.trouble, lambda: None)()
        return ToolResult(content=call.arguments)

    async def acall(self, call: ToolCall) -> ToolResult:
        if self.trouble == "asleep":
            await asyncio.sleep(1e6)
        while self.trouble == "stubborn":
            try:
                await asyncio.sleep(1e6)
            except asyncio.CancelledError:
                continue
        await asyncio.sleep(self.pause)
        return self.call(call)

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        if self.trouble == "asleep" and self.folder:
            with (Path(self.folder) / "closed").open("a") as file:
                file.write("x")


class Backend:
    def __init__(self, troubles: dict[int, str], waits: bool | None, folder: str, pause: float) -> None:
        self.troubles, self.waits, self.folder, self.pause = troubles, waits, folder, pause

    def open(self, task: Task, seed: int) -> Session:
        number: Any = (task.initial_state or {})["number"]
        waits = number % 3 != 0 if self.waits is None else self.waits
        return Session(number, self.troubles.get(number, ""), waits, self.folder, self.pause)


class Env(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def make_env(
    troubles: dict[int, str] | None = None,
    waits: bool | None = True,
    folder: str = "",
    pause: float = 0.0,
    count: int = 24,
) -> Env:
    tasks = [make_task(number) for number in range(count)]
    return Env(data=tasks, backend=Backend(troubles or {}, waits, folder, pause))


class Writer:
    """Calls, then answers."""

    name = "writer"

    def act(self, situations: Sequence[Situation]) -> list[str]:
        return [ANSWER if situation.messages[-1]["role"] == "tool" else CALL for situation in situations]

    def close(self) -> None:
        pass


def rows(result: Any) -> list[str]:
    return [episode.to_json() for episode in result.episodes]


def undisturbed(episodes: int, **options: Any) -> list[str]:
    return rows(run_episodes(make_env, Writer(), episodes=episodes, env_options=options, progress=False))


def stage_of(rollouts: Rollouts) -> Any:
    assert isinstance(rollouts._stage, Retries)
    return rollouts._stage._stage


# In this process.


@pytest.mark.parametrize("limits", [None, RolloutLimits(), RolloutLimits(step_seconds=LONG)])
@pytest.mark.parametrize("taken", [0, 1, 7])
def test_a_stream_closed_early_leaves_nothing_to_the_next(limits: RolloutLimits | None, taken: int) -> None:
    options = {"waits": None, "pause": 0.002}
    with Rollouts(make_env, Writer(), batch_size=4, seats=6, limits=limits, env_options=options) as rollouts:
        stream = rollouts.stream(range(40))
        for _ in range(taken):
            next(stream)
        stream.close()
        found = {played.index: played.episode for played in rollouts.stream(range(20))}
    assert [found[index].to_json() for index in range(20)] == undisturbed(20)  # type: ignore[union-attr]


def test_a_stream_that_a_bug_broke_off_leaves_nothing_to_the_next() -> None:
    class Breaks(Writer):
        broken = False

        def act(self, situations: Sequence[Situation]) -> list[str]:
            if not self.broken:
                self.broken = True
                raise ZeroDivisionError
            return super().act(situations)

    with Rollouts(make_env, Breaks(), batch_size=4, seats=6) as rollouts:
        with pytest.raises(ZeroDivisionError):
            list(rollouts.stream(range(10)))
        assert sorted(played.index for played in rollouts.stream(range(10))) == list(range(10))


def test_one_stream_at_a_time() -> None:
    with Rollouts(make_env, Writer(), batch_size=2) as rollouts:
        first = rollouts.stream(range(10))
        next(first)
        with pytest.raises(ConfigurationError, match="one stream at a time"):
            next(rollouts.stream(range(10)))
        first.close()
        assert next(rollouts.stream(range(10))).episode is not None


@pytest.mark.parametrize(
    ("trouble", "waits", "kind"),
    [
        ("asleep", True, "step_timeout"),
        ("stubborn", True, "step_timeout"),
        ("leave", True, "exception"),
        ("leave", False, "exception"),
        ("interrupt", True, "exception"),
        ("cancel", True, "exception"),
    ],
)
def test_with_limits_no_tool_ends_or_holds_up_the_run(trouble: str, waits: bool, kind: str, tmp_path: Path) -> None:
    options = {"troubles": {5: trouble}, "waits": waits, "folder": str(tmp_path)}
    limits = RolloutLimits(step_seconds=0.3, attempts=2)
    result = run_episodes(make_env, Writer(), episodes=24, env_options=options, limits=limits, progress=False)
    assert [failure.kind for failure in result.failures.values()] == [kind]
    assert len(result.episodes) == 23
    assert (tmp_path / "closed").exists() == (trouble == "asleep")


@pytest.mark.parametrize("waits", [True, False])
def test_the_step_that_holds_a_thread_is_named(waits: bool) -> None:
    go_on = threading.Event()

    class Blocking(Session):
        def call(self, call: ToolCall) -> ToolResult:
            go_on.wait(LONG)
            return ToolResult(content=1)

    class Blocks(Backend):
        def open(self, task: Task, seed: int) -> Session:
            return Blocking(0, "", waits, "", 0.0)

    stage = LocalStage({"": lambda: Env(data=[make_task(0)], backend=Blocks({}, waits, "", 0.0))}, 2)
    stage.start([Start(7, 0, 1)])
    stage.outcomes()
    assert stage.stepping is None
    acting = threading.Thread(target=stage.act, args=([Act(7, CALL)],))
    acting.start()
    until = time.monotonic() + LONG
    while stage.stepping is None and time.monotonic() < until:
        time.sleep(0.001)
    held = stage.stepping
    go_on.set()
    acting.join()
    assert held is not None
    assert held[0] == 7
    assert isinstance(stage.outcomes()[0], Turn)
    assert stage.stepping is None
    stage.close()


def test_a_stage_is_busy_while_an_episode_ends() -> None:
    """A thread that believes that nothing is under way waits for the next start, and leaves the end lying there."""
    seen: list[bool] = []
    answers: list[list[bool]] = []
    stage = LocalStage({"": make_env}, 1)

    class Watched(deque[Any]):
        def append(self, outcome: Any) -> None:
            asker = threading.Thread(target=lambda: seen.append(stage.busy))
            asker.start()
            asker.join(0.2)
            answers.append(list(seen))
            super().append(outcome)

    stage.start([Start(1, 0, 1)])
    stage.outcomes()
    stage._outcomes = Watched()
    stage.act([Act(1, ANSWER)])
    assert isinstance(stage.outcomes()[0], Ended)
    assert answers in ([[]], [[True]])  # none yet, or that it is
    stage.close()


def test_a_step_that_outlives_its_episode_is_not_heard() -> None:
    began, go_on = threading.Event(), threading.Event()

    class Refusing(Session):
        async def acall(self, call: ToolCall) -> ToolResult:
            began.set()
            while not go_on.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue
            return ToolResult(content=1)

    class Refuses(Backend):
        def open(self, task: Task, seed: int) -> Session:
            return Refusing(0, "", True, "", 0.0)

    stage = LocalStage({"": lambda: Env(data=[make_task(0)], backend=Refuses({}, True, "", 0.0))}, 1)
    stage.start([Start(1, 0, 1)])
    stage.outcomes()
    stage.act([Act(1, CALL)])
    assert began.wait(LONG)
    stage.drop()
    stage.start([Start(1, 0, 1)])
    go_on.set()
    time.sleep(0.1)  # the old step ends
    assert [outcome.step for outcome in stage.outcomes() if isinstance(outcome, Turn)] == [0]
    stage.act([Act(1, CALL)])
    assert [outcome.step for outcome in stage.outcomes() if isinstance(outcome, Turn)] == [1]
    assert (stage.waiting, stage.outcomes(0.0)) == (0, [])
    stage.close()


@settings(max_examples=40)
@given(
    moves=st.lists(
        st.sampled_from(["start", "act", "look", "look and wait", "truncate", "drop"]), min_size=5, max_size=60
    )
)
def test_whatever_is_asked_in_whatever_order(moves: list[str]) -> None:
    """Each start is answered by turn 0; each action by one more turn or the end; what was dropped is not heard of."""
    stage = LocalStage({"": lambda: make_env(waits=None, pause=0.001)}, 100, RolloutLimits())
    steps: dict[int, int] = {}
    asked: set[int] = set()
    keys = iter(range(1000))

    def look(timeout: float | None) -> None:
        for outcome in stage.outcomes(timeout):
            assert outcome.key in asked
            asked.discard(outcome.key)
            if isinstance(outcome, Ended):
                assert outcome.episode.task_id == f"t{outcome.key % 24}"
                del steps[outcome.key]
            else:
                assert isinstance(outcome, Turn)
                assert outcome.step == steps[outcome.key]

    for move in moves:
        ready = [key for key in steps if key not in asked]
        if move == "start":
            key = next(keys)
            steps[key] = 0
            asked.add(key)
            stage.start([Start(key, key % 24, key)])
        elif move == "act" and ready:
            stage.act([Act(key, CALL if steps[key] == 0 else ANSWER) for key in ready])
            for key in ready:
                steps[key] += 1
                asked.add(key)
        elif move == "truncate" and ready and steps[ready[0]]:
            stage.truncate(ready[:1])
            asked.add(ready[0])
        elif move == "drop":
            stage.drop()
            steps.clear()
            asked.clear()
            assert (stage.waiting, stage.free, stage.busy) == (0, 100, False)
        else:
            look(0.0 if move == "look" else None)
    while asked:
        look(LONG)
    stage.close()


# Against a stand-in for Ray in this process.


class FakeRef:
    def __init__(self) -> None:
        self.future: concurrent.futures.Future[Any] = concurrent.futures.Future()


class FakeMethod:
    def __init__(self, actor: FakeActor, name: str, group: str = "") -> None:
        self.actor, self.name, self.group = actor, name, group

    def options(self, concurrency_group: str) -> FakeMethod:
        return FakeMethod(self.actor, self.name, concurrency_group)

    def remote(self, *arguments: Any) -> FakeRef:
        return self.actor.called(self.name, self.group, pickle.loads(pickle.dumps(arguments)))


class FakeActor:
    """Its methods run in threads, late and in any order; dead, it answers nothing more."""

    def __init__(self, worker: Any, groups: dict[str, int], chance: random.Random) -> None:
        self.worker, self.chance = worker, chance
        self.lock = threading.Lock()
        self.refs: dict[FakeRef, None] | None = {}
        self.pools = {name: concurrent.futures.ThreadPoolExecutor(size) for name, size in groups.items()}

    def __getattr__(self, name: str) -> FakeMethod:
        return FakeMethod(self, name)

    def called(self, name: str, group: str, arguments: Any) -> FakeRef:
        ref = FakeRef()
        with self.lock:
            if self.refs is None:
                ref.future.set_exception(ray.exceptions.RayActorError())
                return ref
            self.refs[ref] = None
        self.pools[group].submit(self._run, ref, name, arguments)
        return ref

    def _run(self, ref: FakeRef, name: str, arguments: Any) -> None:
        self._dawdle()
        try:
            found, error = getattr(self.worker, name)(*arguments), None
        except BaseException as raised:
            found, error = None, ray.exceptions.RayTaskError(name, "", raised)
        self._dawdle()
        with self.lock:
            if self.refs is None:
                return
            del self.refs[ref]
        if error is None:
            ref.future.set_result(found)
        else:
            ref.future.set_exception(error)

    def _dawdle(self) -> None:
        if self.chance.random() < 0.2:
            time.sleep(self.chance.random() * 0.003)

    def die(self) -> None:
        with self.lock:
            refs, self.refs = self.refs or {}, None
        for ref in refs:
            ref.future.set_exception(ray.exceptions.RayActorError())
        for pool in self.pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


class FakeRay:
    exceptions = ray.exceptions

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.connections: list[str] = ["somebody else's"]

    def is_initialized(self) -> bool:
        return bool(self.connections)

    def init(self, address: str = "", **options: Any) -> None:
        assert not self.connections
        self.connections.append("ours")

    def shutdown(self) -> None:
        self.connections.clear()

    def remote(self, concurrency_groups: dict[str, int], **options: Any) -> Any:
        def actors_of(made: Any) -> Any:
            class Actors:
                @staticmethod
                def remote(*arguments: Any) -> FakeActor:
                    return FakeActor(made(*arguments), concurrency_groups, self.chance)

            return Actors

        return actors_of

    def put(self, value: Any) -> Any:
        return value

    def get(self, ref: FakeRef) -> Any:
        return ref.future.result()

    def wait(self, refs: list[FakeRef], num_returns: int = 1, timeout: float | None = None) -> Any:
        by_future = {ref.future: ref for ref in refs}
        when = concurrent.futures.FIRST_COMPLETED if num_returns == 1 else concurrent.futures.ALL_COMPLETED
        found = concurrent.futures.wait(by_future, timeout, when).done
        done = [by_future[future] for future in found][:num_returns]
        return done, [ref for ref in refs if ref not in done]

    def kill(self, actor: FakeActor, no_restart: bool = True) -> None:
        actor.die()


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that are switched all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def _by_value() -> None:
    """Workers cannot import this file: what it defines travels whole."""
    import ray.cloudpickle

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("place", "order", "batch_size", "seats", "count", "deaths"),
    [
        ("driver", "index", 3, 20, 5, 0.03),
        ("driver", "finished", 16, 6, 2, 0.05),
        ("driver", "finished", 1, 30, 1, 0.0),
        ("worker", "index", 1, 1, 5, 0.0),
        ("worker", "finished", 16, 20, 2, 0.03),
        ("worker", "finished", 3, 4, 1, 0.0),
    ],
)
def test_no_episode_is_lost_or_doubled_or_waited_for_in_vain(
    place: Any, order: Any, batch_size: int, seats: int, count: int, deaths: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"waits": None, "pause": 0.001}
    want = undisturbed(100, **options)
    for seed in range(3):
        fake, chance = FakeRay(seed), random.Random(seed)
        monkeypatch.setattr("callgym.rollouts.ray.ray_stage.import_ray", lambda fake=fake: fake)
        workers = RayWorkers(count, policy=place)
        settings: Any = {"batch_size": batch_size, "seats": seats, "workers": workers, "env_options": options}
        with Rollouts(make_env, Writer(), limits=RolloutLimits(attempts=1000), **settings) as rollouts:
            stage = stage_of(rollouts)
            for most in (chance.randrange(60), 100):  # the first stream is closed in the middle
                seen: dict[int, str] = {}
                stream = rollouts.stream(range(100), order=order)
                while len(seen) < most:
                    played = next(stream)
                    assert played.index not in seen
                    assert played.episode is not None, played.failure
                    seen[played.index] = played.episode.to_json()
                    if chance.random() < deaths:
                        chance.choice(stage._hands).actor.die()
                if most == 100:
                    assert next(stream, None) is None
                stream.close()
                assert order != "index" or list(seen) == sorted(seen)
            assert [seen[index] for index in range(100)] == want
            assert [*stage._where, *stage._called, *stage._waits_for_action] == []
            assert stage.waiting == 0
            assert (stage.lost > 0) == (deaths > 0)


def test_a_stage_that_is_closed_in_the_middle_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgym.rollouts.ray.ray_stage.import_ray", lambda: FakeRay(0))
    rollouts = Rollouts(make_env, Writer(), batch_size=2, workers=RayWorkers(2))
    stream = rollouts.stream(range(1000))
    next(stream)
    rollouts.close()
    with pytest.raises(ConfigurationError, match="closed"):
        list(stream)


def test_exchanges_are_taken_in_their_order() -> None:
    """Two threads serve them, and the second may be first."""
    from callgym.rollouts.ray.worker import Batch, Recipe, Worker, packed_recipe

    recipe = Recipe({"": make_env}, 4, RolloutLimits(), None)
    worker = Worker(packed_recipe(recipe, ray.cloudpickle.dumps))
    worker.ready()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        second = pool.submit(worker.exchange, 2, Batch(starts=[Start(2, 1, 1)], drop=True))
        with pytest.raises(concurrent.futures.TimeoutError):
            second.result(0.2)
        first = pool.submit(worker.exchange, 1, Batch(starts=[Start(1, 0, 0)]))
        assert {pickle.loads(row).key for row in first.result(LONG)} <= {1, 2}
        assert {pickle.loads(row).key for row in second.result(LONG)} <= {2}


def test_an_exchange_that_waits_gives_way_to_the_next() -> None:
    """Else what the second brings would wait for the tools of the first."""
    from callgym.rollouts.ray.worker import Batch, Recipe, Worker, packed_recipe

    recipe = Recipe({"": functools.partial(make_env, {0: "asleep", 1: "asleep"})}, 4, RolloutLimits(), None)
    worker = Worker(packed_recipe(recipe, ray.cloudpickle.dumps))
    worker.ready()
    assert len(worker.exchange(1, Batch(starts=[Start(0, 0, 0), Start(1, 1, 1)]))) == 2
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = pool.submit(worker.exchange, 2, Batch(acts=[Act(0, CALL)]))
        second = pool.submit(worker.exchange, 3, Batch(acts=[Act(1, CALL)]))
        try:
            assert first.result(LONG / 6) == []
            assert not second.done()
        finally:
            assert worker._stage is not None
            worker._stage.drop()
        assert second.result(LONG) == []


@pytest.mark.parametrize("place", ["driver", "worker"])
def test_an_old_episode_is_not_taken_for_a_new_one_of_its_key(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgym.rollouts.ray.ray_stage.import_ray", lambda: FakeRay(0))
    maker = functools.partial(make_env, pause=0.02)
    stage = RayWorkers(1, policy=place).open({"": maker}, Writer(), RolloutLimits(), 2)
    for task in range(12):
        stage.start([Start(0, task, task)])
        found = stage.outcomes(0.01 * (task % 3))
        stage.drop()
        assert (stage.waiting, stage.free) == (0, 2)
    stage.start([Start(0, 20, 20)])
    ended: list[Ended] = []
    while not ended:
        found = stage.outcomes()
        turns = [outcome for outcome in found if isinstance(outcome, Turn)]
        stage.act([Act(turn.key, CALL if turn.step == 0 else ANSWER) for turn in turns])
        ended += [outcome for outcome in found if isinstance(outcome, Ended)]
    assert [one.episode.task_id for one in ended] == ["t20"]
    stage.close()


def test_a_cluster_of_ones_own_ends_with_the_last_who_uses_it() -> None:
    from callgym.rollouts.ray.ray_stage import connect, disconnect

    fake = FakeRay(0)
    theirs = connect(fake, RayWorkers(1))
    disconnect(fake, theirs)
    assert fake.connections == ["somebody else's"]
    fake.shutdown()
    one, other = (connect(fake, RayWorkers(1)) for _ in range(2))
    assert fake.connections == ["ours"]
    for _ in range(2):
        disconnect(fake, one)
        assert fake.connections == ["ours"]
    disconnect(fake, other)
    assert fake.connections == []


# On Ray.


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_what_never_answers_is_ended_and_its_company_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("callgym.rollouts.ray.ray_stage._SILENT_SECONDS", 1.0)
    troubles = {2: "hold", 8: "stop", 14: "spin", 17: "asleep", 20: "stubborn"}
    limits = RolloutLimits(step_seconds=1.0, attempts=2)
    options = {"troubles": troubles, "folder": str(tmp_path)}
    settings: Any = {"batch_size": 8, "progress": False, "workers": RayWorkers(3, cpus=0.1)}
    result = run_episodes(make_env, Writer(), episodes=24, env_options=options, limits=limits, **settings)
    assert [failure.kind for failure in result.failures.values()] == ["step_timeout"] * 5
    assert {failure.attempts for failure in result.failures.values()} == {2}
    assert Counter(episode.task_id for episode in result.episodes) == Counter(
        f"t{number}" for number in range(24) if number not in troubles
    )
    assert (tmp_path / "closed").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("place", ["driver", "worker"])
def test_on_workers_a_stream_closed_early_leaves_nothing_to_the_next(place: Any) -> None:
    options = {"waits": None, "pause": 0.005}
    workers = RayWorkers(2, policy=place, cpus=0.1)
    with Rollouts(make_env, Writer(), batch_size=8, workers=workers, env_options=options) as rollouts:
        for taken in (0, 1, 9):
            stream = rollouts.stream(range(40))
            for _ in range(taken):
                next(stream)
            stream.close()
        found = {played.index: played.episode for played in rollouts.stream(range(30))}
        assert stage_of(rollouts).lost == 0
    assert [found[index].to_json() for index in range(30)] == undisturbed(30)  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_a_run_with_hardly_any_episodes_and_two_at_the_same_time() -> None:
    found: dict[int, Any] = {}

    def play(number: int, workers: RayWorkers, settings: dict[str, Any]) -> None:
        found[number] = rows(run_episodes(make_env, Writer(), progress=False, workers=workers, **settings))

    runs: list[tuple[RayWorkers, dict[str, Any]]] = [
        (RayWorkers(3, cpus=0.1), {"episodes": 2, "batch_size": 64, "seats": 1}),
        (RayWorkers(1, cpus=0.1, episodes=1, policy="worker"), {"episodes": 20, "seats": 8}),
    ]
    threads = [threading.Thread(target=play, args=(number, *run)) for number, run in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: undisturbed(2), 1: undisturbed(20)}


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("first_one_starts", [True, False])
def test_workers_that_die_as_they_start(first_one_starts: bool, tmp_path: Path) -> None:
    """The run goes on with those that are there, or says so."""
    here, lives = os.getpid(), tmp_path / "lives"
    if first_one_starts:
        lives.touch()

    def dying() -> Env:
        mine = tmp_path / str(os.getpid())
        if os.getpid() != here and not mine.exists():
            try:
                lives.unlink()
            except FileNotFoundError:
                os._exit(1)
            mine.touch()
        return make_env()

    settings: Any = {"episodes": 60, "batch_size": 2, "progress": False, "workers": RayWorkers(2, cpus=0.1)}
    if first_one_starts:
        assert rows(run_episodes(dying, Writer(), **settings)) == undisturbed(60)
        return
    with pytest.raises(ConfigurationError, match="6 workers were lost one after another before they were ready"):
        run_episodes(dying, Writer(), **settings)


class Noting(Writer):
    """Notes its process and how many it writes for."""

    name = "noting"

    def __init__(self, path: Path) -> None:
        self.path = path

    def act(self, situations: Sequence[Situation]) -> list[str]:
        with self.path.open("a") as file:
            file.write(f"{os.getpid()} {len(situations)}\n")
        time.sleep(0.005)
        return super().act(situations)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_many_workers_share_a_policy_that_dies(tmp_path: Path) -> None:
    from callgym.rollouts.ray.policy_actor import ActorPolicy

    path = tmp_path / "sizes"
    policy = ActorPolicy(lambda: Noting(path), cpus=0.1)
    seen: dict[int, str] = {}
    workers = RayWorkers(2, policy="worker", cpus=0.1, episodes=8)
    with Rollouts(make_env, policy, batch_size=4, workers=workers) as rollouts:
        for played in rollouts.stream(range(300)):
            assert played.episode is not None, played.failure
            seen[played.index] = played.episode.to_json()
            if len(seen) == 60:
                os.kill(int(path.read_text().splitlines()[-1].split()[0]), signal.SIGKILL)
    policy.end()
    assert [seen[index] for index in range(300)] == undisturbed(300)
    notes = [line.split() for line in path.read_text().splitlines()]
    assert len({pid for pid, _ in notes}) == 2
    assert max(int(size) for _, size in notes) > 8  # more than one worker can ask for
    with pytest.raises(ConfigurationError, match="'noting' has lost its actor"):
        run_episodes(make_env, policy, episodes=2, progress=False)


class Breaking(Writer):
    def act(self, situations: Sequence[Situation]) -> list[str]:
        raise RuntimeError("a bug in a policy")


class Sleeping(Writer):
    def __init__(self) -> None:
        time.sleep(1e6)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize(
    ("policy", "options", "words"),
    [
        ("no such policy", {}, "cannot be made in its actor: ConfigurationError: no policy 'no such policy'"),
        ("random", {"nonsense": 3}, "nonsense"),
        ("random", {"gpus": 100}, "asks for 100 GPU, and the cluster has"),
        ("random", {"cpus": 1e6}, "asks for 1e.06 CPU, and the cluster has"),
        (Sleeping, {"start_seconds": 1.0}, "not loaded after 1 seconds"),
        (Breaking, {}, "'writer' failed in its actor: RuntimeError: a bug in a policy"),
    ],
)
def test_a_policy_that_cannot_act_is_said(policy: Any, options: dict[str, Any], words: str) -> None:
    from callgym.rollouts.ray.policy_actor import ActorPolicy

    def attempt() -> None:
        made = ActorPolicy(policy, **{"cpus": 0.1, **options})
        try:
            run_episodes(make_env, made, episodes=2, progress=False)
        finally:
            made.end()

    with pytest.raises(ConfigurationError, match=words):
        attempt()


NODES = """
    import ray
    from ray.cluster_utils import Cluster
    from callgym.rollouts.runner import Rollouts, run_episodes
    from callgym.rollouts.policy import get_policy
    from callgym.rollouts.ray.workers import RayWorkers

    settings = {"env_options": {"data": "starter"}}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    workers, drawn = RayWorkers(2, start_seconds=20.0), []

    def indices():
        while len(drawn) < 500 or (len(stage._hands) == 2 and len(drawn) < 50_000):
            drawn.append(len(drawn))
            yield drawn[-1]

    with Rollouts("apibank/L1-v0", get_policy("random"), batch_size=8, workers=workers, **settings) as rollouts:
        stage = rollouts._stage._stage
        while len(stage.processes) < 2:
            stage._collect(0.1)
        stage._workers = RayWorkers(2, start_seconds=2.0)
        seen = {}
        for played in rollouts.stream(indices()):
            assert played.index not in seen
            seen[played.index] = played.episode.to_json()
            if len(seen) == 100:
                cluster.remove_node(nodes[0], allow_graceful=False)
        hands, lost, again = len(stage._hands), stage.lost, rollouts.again
    ray.shutdown()
    cluster.shutdown()
    whole = run_episodes("apibank/L1-v0", get_policy("random"), episodes=len(drawn), progress=False, **settings)
    print("same", [seen[index] for index in drawn] == [episode.to_json() for episode in whole.episodes])
    print("lost", lost, "left", hands, "again", again)
"""


def run_script(script: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_lost_machine_takes_no_episode_with_it() -> None:
    """And no room is left for its worker's replacement."""
    out, errors = run_script(NODES).communicate(timeout=2 * LONG)
    assert "same True" in out, errors
    assert re.search(r"lost 1 left 1 again [1-9]", out), out


DRIVER = """
    import sys
    from callgym.rollouts.runner import run_episodes
    from callgym.rollouts.policy import get_policy
    from callgym.rollouts.ray.workers import RayWorkers

    result = run_episodes(
        "apibank/L1-v0", get_policy("random"), episodes=1500, progress=False, out=sys.argv[1], batch_size=8,
        env_options={"data": "starter"}, workers=RayWorkers(1, policy=sys.argv[2], cpus=0.1),
    )
    print("resumed", result.resumed)
"""


def descendants(pid: int) -> dict[int, str]:
    """Process to name, of those that come from this one and still run."""
    parents: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(
                line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line
            )
        except OSError:
            continue
        if not status["State"].startswith("Z"):
            parents[int(folder.name)] = int(status["PPid"]), status["Name"]
    found: dict[int, str] = {}
    fresh = [pid]
    while fresh:
        fresh = [child for child, (parent, _) in parents.items() if parent in fresh]
        found |= {child: parents[child][1] for child in fresh}
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are listed in /proc")
@pytest.mark.parametrize(("place", "number"), [("driver", signal.SIGKILL), ("worker", signal.SIGINT)])
def test_a_driver_that_is_ended_leaves_no_worker_and_a_file_to_go_on_with(
    place: str, number: int, tmp_path: Path
) -> None:
    out = tmp_path / "episodes.jsonl"
    driver = run_script(DRIVER, str(out), place)
    while driver.poll() is None and not (out.exists() and out.read_bytes().count(b"\n") >= 100):
        time.sleep(0.01)
    workers = {pid for pid, name in descendants(driver.pid).items() if name.startswith("ray::Worker")}
    driver.send_signal(number)
    driver.communicate(timeout=LONG)
    assert driver.returncode != 0
    assert workers
    until = time.monotonic() + LONG
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    settings: Any = {"episodes": 1500, "progress": False, "env_options": {"data": "starter"}}
    again = run_episodes("apibank/L1-v0", get_policy("random"), out=out, **settings)
    assert again.resumed >= 100
    assert Counter(json.loads(line)["index"] for line in out.read_text().splitlines()) == Counter(range(1500))
    kept = [episode.to_json() for _, episode in sorted(read_episodes(out), key=lambda row: row[0])]
    assert kept == rows(run_episodes("apibank/L1-v0", get_policy("random"), **settings))
