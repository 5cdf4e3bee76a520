"""Episodes on Ray: the same ones, and none lost, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from callgym import GoldCall, Message, Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.goal import CallsGoal
from callgym.rollouts.episodes import read_episodes
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.ray.ray_stage import RayStage
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.retries import Retries
from callgym.rollouts.runner import Rollouts, run_episodes
from callgym.rollouts.stage import Act, Ended, Start, Turn

pytestmark = pytest.mark.slow

Trouble = Callable[["TroubledEnv"], Any]


def _spin(env: TroubledEnv) -> None:
    while True:
        pass


def _sleep(env: TroubledEnv) -> None:
    time.sleep(1e6)


def _exit(env: TroubledEnv) -> None:
    os._exit(1)


def _exit_once(env: TroubledEnv) -> None:
    marker = Path(env.folder) / env.task.id
    if not marker.exists():
        marker.touch()
        os._exit(1)


class Stubborn(Exception):
    """Cannot be pickled, and cannot say what it is."""

    def __init__(self, one: int, other: Any) -> None:
        super().__init__(one)
        self.other = other

    def __str__(self) -> str:
        raise RuntimeError("no words")


def _raise(env: TroubledEnv) -> None:
    raise Stubborn(1, threading.Lock())


TROUBLES: dict[str, Trouble] = {
    "spin": _spin,
    "sleep": _sleep,
    "exit": _exit,
    "exit_once": _exit_once,
    "raise": _raise,
}


def make_task(number: int, trouble: str = "") -> Task:
    schema: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
    gold = (GoldCall.of(ToolCall(name="look", arguments={"at": number})),)
    return Task(
        id=f"t{number}",
        family="troubled",
        split="test",
        messages=(Message(role="user", content=f"Look at {number}."),),
        tools=(Tool(name="look", parameters=schema),),
        goal=CallsGoal(turns=(gold,)),
        initial_state={"trouble": trouble},
    )


class TroubledEnv(ToolEnv):
    family = "troubled"
    protocol = "dialogue"

    def __init__(
        self, *, folder: str = "", troubles: dict[int, str] | None = None, count: int = 40, pause: float = 0.0
    ):
        self.folder = folder
        self.pause = pause
        super().__init__(data=tuple(make_task(number, (troubles or {}).get(number, "")) for number in range(count)))

    def make_backend(self, source: Any) -> Any:
        return Nothing()

    def run_call(self, call: ToolCall) -> ToolResult:
        time.sleep(self.pause)
        trouble = TROUBLES.get(str((self.task.initial_state or {}).get("trouble")))
        found = None if trouble is None else trouble(self)
        return found or ToolResult(content=call.arguments)

    def final_state(self) -> dict[str, Any] | None:
        """A record that cannot be sent, for one kind of trouble."""
        return {"lock": threading.Lock()} if (self.task.initial_state or {}).get("trouble") == "unpicklable" else None


class Nothing:
    def open(self, task: Task, seed: int) -> Any:
        return self

    def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(content=1)

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


class Oracle:
    """An oracle that needs no environment: it may stay in the driver."""

    name = "told"

    def act(self, situations: Sequence[Situation]) -> list[str]:
        return [self._action(situation) for situation in situations]

    def _action(self, situation: Situation) -> str:
        if situation.messages[-1]["role"] == "tool":
            return "Done."
        number = int(str(situation.messages[0]["content"]).removeprefix("Look at ").rstrip("."))
        return situation.env.dialect.render_action([ToolCall(name="look", arguments={"at": number})])

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _by_value(ray_cluster: Any) -> None:
    """Workers cannot import this file: what it defines travels whole."""
    import ray.cloudpickle

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call,unused-ignore]


def rows(result: Any) -> list[str]:
    return [episode.to_json() for episode in result.episodes]


def troubled(episodes: int = 40, place: str = "driver", **options: Any) -> Any:
    workers = RayWorkers(2, policy=place, cpus=0.1)  # type: ignore[arg-type]
    limits = options.pop("limits", RolloutLimits(step_seconds=1.0))
    settings = {"batch_size": 16, "workers": workers, "limits": limits, "progress": False}
    keys = {"folder", "troubles", "count", "pause"}
    env_options = {key: options.pop(key) for key in keys & options.keys()}
    return run_episodes(TroubledEnv, Oracle(), episodes=episodes, env_options=env_options, **{**settings, **options})


def undisturbed(episodes: int = 40, **options: Any) -> Any:
    return run_episodes(TroubledEnv, Oracle(), episodes=episodes, env_options=options, progress=False)


@pytest.mark.parametrize(
    ("id", "options", "policy", "workers"),
    [
        ("apibank/L1-v0", {}, "random", RayWorkers(1, cpus=0.1)),
        ("apibank/L3-v0", {"protocol": "dialogue", "observation": "delta"}, "random", RayWorkers(2, cpus=0.1)),
        ("bfcl/multi_turn_base-v0", {}, "oracle", RayWorkers(2, policy="worker", cpus=0.1)),
        ("bfcl/format_sensitivity-v0", {}, "abstain", RayWorkers(1, cpus=0.1, episodes=3)),
        ("when2call/open-v0", {"perturb": ["rename"]}, "random", RayWorkers(3, policy="worker", cpus=0.1)),
    ],
)
def test_the_same_episodes_whatever_the_workers(
    id: str, options: dict[str, Any], policy: str, workers: RayWorkers
) -> None:
    settings: dict[str, Any] = {"episodes": 40, "seed": 5, "progress": False, "batch_size": 8}
    settings["env_options"] = {"data": "starter", **options}
    there = run_episodes(id, get_policy(policy), workers=workers, **settings)
    assert rows(there) == rows(run_episodes(id, get_policy(policy), **settings))
    assert not there.failures


@pytest.mark.parametrize("place", ["driver", "worker"])
def test_a_killed_worker_loses_no_episode_and_doubles_none(place: str, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    workers = RayWorkers(2, policy=place, cpus=0.1)  # type: ignore[arg-type]
    options = {"count": 200, "pause": 0.01}
    with Rollouts(TroubledEnv, Oracle(), batch_size=8, env_options=options, workers=workers) as rollouts:
        stage = rollouts._stage
        assert isinstance(stage, Retries)
        assert isinstance(stage._stage, RayStage)
        seen = {}
        for played in rollouts.stream(range(200)):
            assert played.index not in seen
            seen[played.index] = played.episode
            if len(seen) in (40, 90, 140):
                os.kill(stage._stage.processes[0]["pid"], signal.SIGKILL)
        assert stage._stage.lost == 3
        assert rollouts.again > 0
    assert [seen[index].to_json() for index in range(200)] == rows(undisturbed(200, **options))  # type: ignore[union-attr]
    assert not out.exists()


@pytest.mark.parametrize("place", ["driver", "worker"])
def test_broken_episodes_stop_no_others(place: str, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    kinds = {3: "step_timeout", 7: "worker_lost", 21: "exception", 30: "unpicklable"}
    troubles = {3: "spin", 7: "exit", 21: "raise", 30: "unpicklable"}
    result = troubled(place=place, troubles=troubles, out=out, limits=RolloutLimits(step_seconds=1.0, attempts=2))
    whole = undisturbed()
    failed = {whole.episodes[index].task_id: failure for index, failure in result.failures.items()}
    assert {task: failure.kind for task, failure in failed.items()} == {f"t{k}": kind for k, kind in kinds.items()}
    assert {failure.attempts for failure in failed.values()} == {2}
    assert rows(result) == [row for index, row in enumerate(rows(whole)) if index not in result.failures]
    assert {name: count for name, count in result.summary.errors.items() if name.startswith("failed")} == {
        f"failed_{kind}": 1 for kind in kinds.values()
    }
    assert result.summary.episodes == 40
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter(line["index"] for line in lines) == Counter(range(40))
    assert {line["task_id"]: line["failure"]["kind"] for line in lines if "failure" in line} == {
        task: failure.kind for task, failure in failed.items()
    }


def test_a_tool_that_sleeps_for_ever_is_ended() -> None:
    result = troubled(troubles={7: "sleep"}, limits=RolloutLimits(step_seconds=1.0, attempts=1))
    assert [failure.kind for failure in result.failures.values()] == ["step_timeout"]  # and nobody beside it is blamed
    assert len(result.episodes) == 39


def test_what_failed_is_tried_again_by_a_later_run(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    limits = RolloutLimits(attempts=1)
    first = troubled(troubles={7: "exit_once", 9: "raise"}, folder=str(tmp_path), out=out, limits=limits)
    kinds = Counter(failure.kind for failure in first.failures.values())
    assert kinds["exception"] == 1
    assert kinds["worker_lost"] >= 1  # those beside it had one attempt, too
    second = troubled(troubles={7: "exit_once", 9: "raise"}, folder=str(tmp_path), out=out, limits=limits)
    assert second.resumed == 40 - len(first.failures)
    assert [failure.kind for failure in second.failures.values()] == ["exception"]
    assert sorted(index for index, _ in read_episodes(out)) == sorted(set(range(40)) - set(second.failures))


def test_a_worker_that_dies_once_is_replaced(tmp_path: Path) -> None:
    result = troubled(troubles={3: "exit_once", 20: "exit_once"}, folder=str(tmp_path))
    assert rows(result) == rows(undisturbed())
    assert result.again >= 2


def test_an_episode_over_its_time_is_a_failure() -> None:
    limits = RolloutLimits(episode_seconds=0.05, attempts=1)
    result = troubled(8, pause=0.2, count=8, limits=limits)
    assert {failure.kind for failure in result.failures.values()} == {"episode_timeout"}
    assert len(result.failures) == 8


def test_results_come_in_order_and_no_more_is_begun_than_is_taken() -> None:
    drawn = []

    def indices() -> Any:
        for index in range(1000):
            drawn.append(index)
            yield index

    with Rollouts(TroubledEnv, Oracle(), batch_size=4, workers=RayWorkers(2, cpus=0.1)) as rollouts:
        stream = rollouts.stream(indices(), order="index")
        assert [next(stream).index for _ in range(20)] == list(range(20))
        assert len(drawn) <= 20 + 5 * 8
        before = len(drawn)
        time.sleep(0.3)
        assert len(drawn) == before
        stream.close()


def test_workers_import_no_torch() -> None:
    workers = RayWorkers(1, cpus=0.1)
    with Rollouts("apibank/L1-v0", get_policy("random"), workers=workers, env_options={"data": "starter"}) as rollouts:
        stage = rollouts._stage
        assert isinstance(stage, Retries)
        assert isinstance(stage._stage, RayStage)
        list(rollouts.stream(range(20)))
        [told] = stage._stage.processes
        assert told["torch"] is False
        status = Path(f"/proc/{told['pid']}/smaps_rollup").read_text()
        own = sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("Private_"))
        assert own < 150_000  # kB


def test_it_is_the_caller_s_turn_where_no_worker_has_room() -> None:
    """What is queued is not waited for while all seats wait for actions: nothing would ever come."""
    settings: dict[str, Any] = {"batch_size": 2, "seats": 2, "workers": RayWorkers(1, cpus=0.1)}
    with Rollouts(TroubledEnv, Oracle(), **settings) as rollouts:
        assert isinstance(rollouts._stage, Retries)
        stage = rollouts._stage._stage
        assert isinstance(stage, RayStage)
        stage.start([Start(key, key, seed=0) for key in range(5)])
        begun, ended = [], 0
        while ended < 5:
            while stage.waiting:
                for outcome in stage.outcomes():
                    begun += [outcome.key] if isinstance(outcome, Turn) else []
                    ended += isinstance(outcome, Ended)
            assert len(begun) <= 2 + ended
            stage.act([Act(key, "Done.") for key in begun[ended:]])
        assert begun == [0, 1, 2, 3, 4]


def _no_such_thing(**options: Any) -> Any:
    import no_such_module_anywhere  # type: ignore[import-not-found]

    return no_such_module_anywhere


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"env_id_or_factory": "no/Such-v0"}, "Namespace no not found"),
        ({"env_options": {"data": "starter", "backend": threading.Lock()}}, "backend"),
        ({"workers": RayWorkers(1, cpus=1000.0, start_seconds=2.0)}, "1000 CPU.*cpus=0.1"),
        ({"workers": RayWorkers(1, cpus=0.1, imports=("no_such_module_anywhere",))}, "no_such_module_anywhere"),
        ({"workers": 0}, "count.*at least 1"),
        ({"policy": get_policy("oracle"), "workers": RayWorkers(1, cpus=0.1)}, 'policy="worker"'),
    ],
)
def test_what_cannot_be_played_is_said(change: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {
        "env_id_or_factory": "apibank/L1-v0",
        "policy": get_policy("random"),
        "episodes": 2,
        "env_options": {"data": "starter"},
        "workers": RayWorkers(1, cpus=0.1),
        "progress": False,
    }
    with pytest.raises(Exception, match=words):
        run_episodes(**{**settings, **change})


def test_options_that_cannot_be_sent_are_said() -> None:
    class Held(TroubledEnv):
        def __init__(self, lock: Any) -> None:
            super().__init__()

    with pytest.raises(ConfigurationError, match=r"options cannot be sent to a worker.*pickle"):
        run_episodes(
            Held, Oracle(), episodes=1, env_options={"lock": threading.Lock()}, workers=RayWorkers(1, cpus=0.1)
        )


def test_an_id_of_ones_own_is_named_on_the_worker() -> None:
    import gymnasium as gym

    gym.register("troubled/Here-v0", entry_point=lambda **options: TroubledEnv(**options))
    with pytest.raises(ConfigurationError, match=r"worker 1: .*troubled.*imports"):
        run_episodes("troubled/Here-v0", Oracle(), episodes=1, workers=RayWorkers(1, cpus=0.1), progress=False)


def test_ray_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"callgym\[ray\]"):
        run_episodes("apibank/L1-v0", get_policy("random"), episodes=1, workers=2, env_options={"data": "starter"})


class Parrot(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that answers with the length of what it was told."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = str(len(json.dumps(asked["messages"], sort_keys=True)))
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


def test_workers_ask_a_server() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Parrot) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name = f"openai:parrot@http://127.0.0.1:{server.server_address[1]}/v1"
        settings: dict[str, Any] = {"episodes": 20, "batch_size": 8, "progress": False}
        settings["env_options"] = {"data": "starter", "protocol": "dialogue"}
        workers = RayWorkers(2, policy="worker", cpus=0.1)
        there = run_episodes("apibank/L1-v0", get_policy(name), workers=workers, **settings)
        here = run_episodes("apibank/L1-v0", get_policy(name), **settings)
        server.shutdown()
    assert rows(there) == rows(here)
    assert any(step.content.isdecimal() for episode in here.episodes for step in episode.steps)


def test_a_policy_that_fails_on_a_worker_ends_the_run() -> None:
    class Broken(Oracle):
        def act(self, situations: Sequence[Situation]) -> list[str]:
            raise RuntimeError("a bug in a policy")

    with pytest.raises(ConfigurationError, match="policy 'told': RuntimeError: a bug in a policy"):
        run_episodes(
            TroubledEnv, Broken(), episodes=4, workers=RayWorkers(1, policy="worker", cpus=0.1), progress=False
        )
