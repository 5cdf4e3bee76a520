"""How fast episodes are played: here, in Gymnasium's vector environments, and on Ray workers, as ratios of one run.

``python benchmarks/rollouts.py`` prints tables and one line of JSON; ``--kill`` plays 10,000 episodes with a worker
killed every five seconds and counts them. Ratios that have a limit are marked where they miss it: 2 workers at least
1.7 times one on tools of 10 ms, 16 at least 12 times one on tools of 100 ms, Ray at most 1 ms an episode over the local
runner in batches of 64, and a rollout within 1.2 times the longer of generation alone and tools alone.

The tools of the first tables block their process, as Python functions do that compute; those of the last one wait.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import random
import resource
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from callgym import GoldCall, Message, Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.goal import CallsGoal
from callgym.rollouts.policy import Situation
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.runner import Rollouts, run_episodes

QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
CALL, ANSWER = '<tool_call>{"name": "look", "arguments": {"at": 3}}</tool_call>', "Done."


def _task(number: int) -> Task:
    schema: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
    return Task(
        id=f"t{number}",
        family="bench",
        split="test",
        messages=(Message(role="user", content=f"Look at 3, for the {number}th time."),),
        tools=(Tool(name="look", description="Looks.", parameters=schema),),
        goal=CallsGoal(turns=((GoldCall.of(ToolCall(name="look", arguments={"at": 3})),),)),
    )


TASKS = tuple(_task(number) for number in range(64))


class BlockingSession:
    """A tool that holds its process for some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def call(self, call: ToolCall) -> ToolResult:
        """Sleep, then echo."""
        if self.seconds:
            time.sleep(self.seconds)
        return ToolResult(content=call.arguments)

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def close(self) -> None:
        """Nothing to close."""


class WaitingSession(BlockingSession):
    """A tool that waits, as one over a network does."""

    waits = True

    async def acall(self, call: ToolCall) -> ToolResult:
        """Wait, then echo."""
        await asyncio.sleep(self.seconds)
        return ToolResult(content=call.arguments)


class LookBackend:
    """Opens sessions of one kind."""

    def __init__(self, seconds: float, waits: bool) -> None:
        self.seconds, self.waits = seconds, waits

    def open(self, task: Task, seed: int) -> BlockingSession:
        """A session."""
        return (WaitingSession if self.waits else BlockingSession)(self.seconds)


class LookEnv(ToolEnv):
    """One call, then an answer."""

    family = "bench"
    protocol = "dialogue"

    def __init__(self, *, seconds: float = 0.0, waits: bool = False) -> None:
        super().__init__(data=TASKS, backend=LookBackend(seconds, waits))


@dataclass
class KnownDelay:
    """A policy that knows what to say, after a known time a batch."""

    seconds: float = 0.0
    calls: int = 1
    name: str = "known-delay"
    spent: float = field(default=0.0, compare=False)

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """Call so often, then answer."""
        if self.seconds:
            time.sleep(self.seconds)
            self.spent += self.seconds
        return [CALL if len(situation.messages) <= 2 * self.calls else ANSWER for situation in situations]

    def close(self) -> None:
        """Nothing to close."""


def local_rate(seconds: float, episodes: int, batch: int) -> float:
    """Episodes per second of the local runner."""
    return _rate(episodes, lambda: _run(seconds, episodes, batch))


def vector_rate(kind: str, seconds: float, episodes: int, count: int = 2) -> float:
    """Episodes per second in one of Gymnasium's vector environments."""
    make: Callable[[], Any] = lambda: LookEnv(seconds=seconds)  # noqa: E731  (gymnasium pickles it by value)
    if kind == "sync":
        envs: Any = gym.vector.SyncVectorEnv([make] * count)
    else:
        envs = gym.vector.AsyncVectorEnv([make] * count, shared_memory=False)  # shared memory breaks text
    try:
        envs.reset(seed=0)
        return _rate(episodes, lambda: _vector_episodes(envs, episodes, count))
    finally:
        envs.close()  # type: ignore[no-untyped-call,unused-ignore]


def _vector_episodes(envs: Any, episodes: int, count: int) -> None:
    ended = 0
    while ended < episodes:
        envs.step((CALL,) * count)
        envs.step((ANSWER,) * count)
        envs.step(("",) * count)  # Gymnasium's autoreset takes a step
        ended += count


def ray_rate(workers: RayWorkers, seconds: float, episodes: int, batch: int) -> float:
    """Episodes per second on Ray workers that are there already."""
    options = {"seconds": seconds}
    with Rollouts(
        LookEnv, KnownDelay(), batch_size=batch, seats=batch, env_options=options, workers=workers
    ) as rollouts:
        _await_all(rollouts, workers.count)
        list(rollouts.stream(range(4 * workers.count)))
        return _rate(episodes, lambda: len(list(rollouts.stream(range(episodes)))))


def _await_all(rollouts: Rollouts, count: int) -> None:
    stage: Any = rollouts._stage
    while True:
        stage._stage._collect(0.5)
        if len(stage._stage.processes) >= count:
            return


def _run(seconds: float, episodes: int, batch: int) -> None:
    with Rollouts(LookEnv, KnownDelay(), batch_size=batch, env_options={"seconds": seconds}) as rollouts:
        for _ in rollouts.stream(range(episodes)):
            pass


def _rate(episodes: int, work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return episodes / (time.perf_counter() - began)


def speed_table() -> dict[str, Any]:
    """Episodes per second by runner and latency."""
    table: dict[str, Any] = {}
    for seconds, episodes in ((0.0, 4000), (0.01, 200), (0.1, 40)):
        rates = {
            "local": local_rate(seconds, episodes, 64),
            "vector sync, 2": vector_rate("sync", seconds, episodes),
            "vector async, 2": vector_rate("async", seconds, episodes),
            "Ray, 1 worker, plays there": ray_rate(RayWorkers(1, policy="worker"), seconds, episodes, 64),
            "Ray, 2 workers, play there": ray_rate(RayWorkers(2, policy="worker"), seconds, episodes, 64),
            "Ray, 2 workers, policy in the driver": ray_rate(RayWorkers(2), seconds, episodes, 64),
        }
        table[f"{seconds * 1000:g} ms"] = rates
        print(f"tools that block for {seconds * 1000:g} ms:")
        for name, rate in rates.items():
            print(f"  {name:<38}{rate:10.1f} episodes/s  {rate / rates['local']:6.2f} x local")
    return table


def scaling(table: dict[str, Any]) -> dict[str, float]:
    """Ratios with a limit."""
    ten = table["10 ms"]
    ratios = {"2 workers / 1, 10 ms": ten["Ray, 2 workers, play there"] / ten["Ray, 1 worker, plays there"]}
    one = ray_rate(RayWorkers(1, policy="worker", cpus=0.1), 0.1, 20, 16)
    sixteen = ray_rate(RayWorkers(16, policy="worker", cpus=0.1, start_seconds=300), 0.1, 320, 16)
    ratios["16 workers / 1, 100 ms"] = sixteen / one
    here = min(1000 / local_rate(0.0, 3200, 64) for _ in range(3))
    there = min(1000 / ray_rate(RayWorkers(2), 0.0, 3200, 64) for _ in range(3))
    ratios["ms an episode over local, batches of 64"] = there - here
    for name, least, most in (
        ("2 workers / 1, 10 ms", 1.7, None),
        ("16 workers / 1, 100 ms", 12.0, None),
        ("ms an episode over local, batches of 64", None, 1.0),
    ):
        ok = (least is None or ratios[name] >= least) and (most is None or ratios[name] <= most)
        limit = f"at least {least:g}" if least is not None else f"at most {most:g}"
        print(f"{name:<44}{ratios[name]:8.3f}  ({limit}) {'' if ok else 'MISSED'}")
    return ratios


def overlap(workers: RayWorkers | None = None) -> dict[str, float]:
    """Wall time of 64 episodes of 8 calls, with tools of 100 ms that wait, over the longer of generation alone and
    tools alone. An episode's own chain (its batches and its tools, one after another) is what any runner needs."""
    ratios = {}
    where = "local" if workers is None else f"Ray, {workers.count} workers"
    calls, turns = 8, 9
    for delay in (0.005, 0.0125, 0.025):
        policy = KnownDelay(delay, calls)
        settings: dict[str, Any] = {"batch_size": 8, "seats": 64, "workers": workers}
        with Rollouts(LookEnv, policy, env_options={"seconds": 0.1, "waits": True}, **settings) as rollouts:
            if workers is not None:
                _await_all(rollouts, workers.count)
            list(rollouts.stream(range(64)))
            policy.spent = 0.0
            began = time.perf_counter()
            list(rollouts.stream(range(64)))
            wall = time.perf_counter() - began
        generation, tools = turns * 8 * delay, calls * 0.1
        ratio = wall / max(generation, tools)
        ratios[f"{where}, {delay * 1000:g} ms a batch of 8"] = ratio
        print(
            f"{where}, {delay * 1000:g} ms a batch of 8: generation alone {generation:.2f} s (it came to "
            f"{policy.spent:.2f} s), tools alone {tools:.2f} s, one after the other {generation + tools:.2f} s, wall "
            f"{wall:.2f} s: {ratio:.2f} x the longer{'' if ratio <= 1.2 else ' MISSED'}"
        )
    return ratios


def kill_test(episodes: int, every: float, tool_seconds: float) -> dict[str, Any]:
    """Play many episodes while workers are killed, and compare with an undisturbed run."""
    options = {"seconds": tool_seconds}
    workers = RayWorkers(4, cpus=0.25, policy="worker", start_seconds=300)
    seen: dict[int, str] = {}
    doubled = failed = 0
    killed: list[int] = []
    with Rollouts(LookEnv, KnownDelay(), batch_size=16, seats=64, env_options=options, workers=workers) as rollouts:
        stage: Any = rollouts._stage
        rng = random.Random(0)
        due = threading.Event()
        stop = threading.Event()

        def clock() -> None:
            while not stop.wait(every):
                due.set()

        threading.Thread(target=clock, daemon=True).start()
        began = time.perf_counter()
        for played in rollouts.stream(range(episodes)):
            doubled += played.index in seen
            failed += played.episode is None
            seen[played.index] = "" if played.episode is None else played.episode.to_json()
            if due.is_set():
                due.clear()
                there = stage._stage.processes
                if there:
                    killed.append(rng.choice(there)["pid"])
                    os.kill(killed[-1], signal.SIGKILL)
        wall = time.perf_counter() - began
        stop.set()
        again, lost = rollouts.again, stage._stage.lost
    plain = run_episodes(LookEnv, KnownDelay(), episodes=episodes, batch_size=64, progress=False)
    same = sum(seen.get(index) == episode.to_json() for index, episode in enumerate(plain.episodes))
    counts = {
        "episodes": episodes,
        "workers killed": len(killed),
        "workers lost": lost,
        "episodes begun again": again,
        "episodes lost": episodes - len(seen),
        "episodes twice": doubled,
        "episodes failed": failed,
        "same bytes as undisturbed": same,
        "seconds": round(wall, 1),
    }
    print(f"killed every {every:g} s: " + ", ".join(f"{name} {value}" for name, value in counts.items()))
    return counts


def memory() -> dict[str, Any]:
    """Time and memory an episode as they grow to 100,000, where none is kept."""
    found = {}
    _run(0.0, 2000, 64)
    for episodes in (1_000, 10_000, 100_000):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rate = _rate(episodes, functools.partial(_run, 0.0, episodes, 64))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        found[str(episodes)] = {"microseconds an episode": round(1e6 / rate, 1), "kB more": grown}
        print(f"{episodes:>7} episodes that nobody keeps: {1e6 / rate:.0f} microseconds each, {grown} kB more in all")
    return found


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kill", action="store_true", help="only the kill test")
    parser.add_argument("--overlap", action="store_true", help="only the overlap of generation and tools")
    parser.add_argument("--episodes", type=int, default=10_000, help="of the kill test")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between kills")
    parser.add_argument("--tool-seconds", type=float, default=0.02, help="of a tool in the kill test")
    given = parser.parse_args()
    import ray

    found: dict[str, Any] = {}
    if not given.kill:  # before there is a cluster, whose daemons take their share of the cores
        found["memory"] = memory()
        found["overlap"] = overlap()
    ray.init("local", num_cpus=max(4, os.cpu_count() or 1), include_dashboard=False, **QUIET)
    if given.kill:
        found["kill"] = kill_test(given.episodes, given.every, given.tool_seconds)
    else:
        found["overlap"] |= overlap(RayWorkers(2))
    if not (given.kill or given.overlap):
        found["episodes per second"] = table = speed_table()
        found["scaling"] = scaling(table)
    ray.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
