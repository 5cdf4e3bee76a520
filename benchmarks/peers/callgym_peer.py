"""The equal task in CallGym: a bare loop, the same with the calls scored too, and the local runner."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
from equal_task import PRICES, SCHEMA, Includes, Script, episodes_of, price, resident_mb, serve

import callgym
from callgym import GoldCall, Message, Task, Tool, ToolCall
from callgym.data import DataSource
from callgym.envs.base import ToolEnv
from callgym.goal import AllGoal, AnswerGoal, CallsGoal
from callgym.rollouts import runner
from callgym.rollouts.policy import Situation
from callgym.tool_backends import PythonBackend, World

TOOL = Tool(name="price", description="The price of an item.", parameters=SCHEMA)
SCRIPTS = [Script.of(task) for task in range(len(PRICES))]


class PriceEnv(ToolEnv):
    """Ask for a price, then say it."""

    family = "prices"
    protocol = "dialogue"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        """100 tasks: the answer counts."""
        return tuple(_task(script, calls=False) for script in SCRIPTS)

    def make_backend(self, source: DataSource) -> PythonBackend:
        """What runs the calls."""
        return PythonBackend({"price": _price})


class PriceAndCallEnv(PriceEnv):
    """The same, and the call is compared with the gold call, argument by argument."""

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        """100 tasks: the call and the answer count."""
        return tuple(_task(script, calls=True) for script in SCRIPTS)


class ScriptedPolicy:
    """Says what stands in the scripts."""

    name = "script"

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._by_question = {script.question: script for script in scripts}

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The call, and once its result is there the answer."""
        actions = []
        for situation in situations:
            script = self._by_question[situation.messages[0]["content"]]
            actions.append(script.answer if situation.messages[-1]["role"] == "tool" else script.call)
        return actions

    def close(self) -> None:
        """Nothing to give back."""


def make_env(env_class: type[PriceEnv] = PriceEnv, **options: Any) -> Any:
    """The environment, in the wrappers that ``gym.make`` puts around it."""
    name = f"prices/{env_class.__name__}-v0"
    if name not in gym.registry:
        gym.register(
            name, entry_point=f"{__name__}:{env_class.__name__}", kwargs={"data": "starter", "dialect": "hermes"}
        )
    return gym.make(name, disable_env_checker=True, **options)


def play_bare(env: Any, scripts: Iterable[Script]) -> Iterator[tuple[float | None, Any]]:
    """A bare loop: ``reset`` and two times ``step``."""
    for number, script in enumerate(scripts):
        env.reset(seed=number, options={"task": script.task})
        env.step(script.call)
        *_, info = env.step(script.answer)
        yield info["episode"].episode_return, info["episode"]


def play_runner(scripts: Sequence[Script]) -> Iterator[tuple[float | None, Any]]:
    """The local runner, which draws the tasks itself."""
    for episode in _run(scripts[: len(PRICES)], len(scripts)).episodes:
        yield episode.episode_return, episode


def grow(mode: str, episodes: int) -> dict[str, Any]:
    """What a run of ``episodes`` costs in this process.

    Args:
        mode: ``bare``, ``runner``, or ``file``: the runner with ``out=``.
        episodes: How many.

    Seconds are those of the processor: a run of 100,000 is too long to be repeated until nobody disturbs it.
    """
    for _ in play_runner(SCRIPTS):  # everything is imported and warm
        pass
    before = resident_mb()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "episodes.jsonl") if mode == "file" else None
        started = time.process_time()
        held: Any = None
        if mode in ("runner", "file"):
            held = _run(SCRIPTS, episodes, out)
        else:
            for _ in play_bare(make_env(), episodes_of(SCRIPTS, episodes)):
                pass
        seconds = time.process_time() - started
        file_mb = out.stat().st_size / 2**20 if out is not None else None
    after = resident_mb()
    started = time.process_time()
    summary = None if held is None else held.summary
    return {
        "mode": mode,
        "episodes": episodes,
        "seconds": seconds,
        "rss_mb_added": after - before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "file_mb": file_mb,
        "summary_seconds": None if summary is None else time.process_time() - started,
    }


def _run(scripts: Sequence[Script], episodes: int, out: Path | None = None) -> runner.RolloutResult:
    options = {"data": [_task(script, calls=False) for script in scripts]}
    policy = ScriptedPolicy(scripts)
    return runner.run_episodes(make_env, policy, episodes=episodes, env_options=options, out=out, progress=False)


def _task(script: Script, *, calls: bool) -> Task:
    answer = AnswerGoal(accepted=(script.gold,), match="exact")
    gold = GoldCall.of(ToolCall(name="price", arguments=script.arguments))
    return Task(
        id=f"prices/{script.task}",
        family="prices",
        split="test",
        messages=(Message(role="user", content=script.question),),
        tools=(TOOL,),
        goal=AllGoal(goals=(CallsGoal(turns=((gold,),)), answer)) if calls else answer,
    )


def _price(world: World, item: str) -> int:
    return price(item)


def main(variant: str) -> None:
    """Answer the benchmark's commands."""
    checked = "text in Hermes' form, by CallGym's parser; arguments against the JSON schema"
    scored = "final answer and format, each with an explanation as data"
    plays = {"bare": "gym.make, reset, step", "calls": "gym.make, reset, step", "runner": "run_episodes, 32 seats"}
    includes = Includes(
        name="callgym",
        version=callgym.__version__,
        plays=plays[variant],
        call=checked,
        record="Episode: every action as text and as parsed, results, rewards, explanations; goes to JSON and back",
        scoring=f"{scored}; the call too, argument by argument" if variant == "calls" else scored,
    )
    if variant == "runner":
        serve(includes, play_runner)
        return
    env = make_env(PriceAndCallEnv if variant == "calls" else PriceEnv)
    serve(includes, lambda scripts: play_bare(env, scripts))


if __name__ == "__main__":
    if sys.argv[1] == "grow":
        print(json.dumps(grow(sys.argv[2], int(sys.argv[3]))))
    else:
        main(sys.argv[1])
