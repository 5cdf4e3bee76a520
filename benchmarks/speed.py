"""What one step and one reset cost, as multiples of the bare floor: ``python benchmarks/speed.py``.

The floor is what no environment can do without: ``json.loads`` of a 300-byte call, looking its function
up, calling it, ``json.dumps`` of the same call. The full step goes through
``gym.make`` with its wrappers: parse, validate, run, record, score with explanations, observe. Both are
measured in turn, in the same process, and the ratio of their fastest rounds is printed: on a shared
machine times mean little.
Last, the memory that 10,000 episodes add.
"""

from __future__ import annotations

import argparse
import gc
import json
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium as gym
from floor import ARGUMENTS, CALL_TEXT, fastest, make_floor

import callgym
from callgym.goal import CallsGoal
from callgym.tool_backends import PythonBackend

STEP_LIMIT, RESET_LIMIT, MEMORY_LIMIT_MB = 6.0, 4.0, 20.0


@dataclass(frozen=True)
class Ratios:
    """What was measured."""

    floor_us: float
    step_ratio: float
    reset_ratio: float
    episode_ratio: float
    call_bytes: int
    memory_mb_10k_episodes: float


def book(world: Any, **arguments: Any) -> str:
    """The tool: does nothing, so that the machinery around it is what is measured."""
    return "success"


def make_env() -> Any:
    """An environment with one task, whose gold call is the benchmark's call."""
    kinds = {str: "string", int: "integer", bool: "boolean", list: "array"}
    tool = callgym.Tool(
        name="BookRoom",
        description="Book a room for a meeting.",
        parameters={
            "type": "object",
            "properties": {name: {"type": kinds[type(value)]} for name, value in ARGUMENTS.items()},
            "required": list(ARGUMENTS),
            "additionalProperties": False,
        },
    )
    gold = callgym.GoldCall.of(callgym.ToolCall(name="BookRoom", arguments=ARGUMENTS))
    task = callgym.Task(
        id="speed",
        family="apibank",
        split="test",
        messages=(callgym.Message(role="user", content="Book the room, please."),),
        tools=(tool,),
        goal=CallsGoal(turns=((gold,),)),
    )
    return gym.make("apibank/L1-v0", data=[task], dialect="hermes", backend=PythonBackend({"BookRoom": book}))


def measure(rounds: int, repeats: int) -> Ratios:
    """Measure floor, reset and step in turn."""
    action = f"<tool_call>{CALL_TEXT}</tool_call>"
    env = make_env()
    env.reset(seed=0)
    assert env.step(action)[1] == 1.0

    def reset() -> None:
        env.reset()

    def episode() -> None:
        env.reset()
        env.step(action)

    floor_s, reset_s, episode_s = fastest(rounds, (make_floor(), repeats), (reset, repeats), (episode, repeats))
    memory = memory_added(env, action, 10_000)
    return Ratios(
        floor_us=round(floor_s * 1e6, 2),
        step_ratio=round((episode_s - reset_s) / floor_s, 2),
        reset_ratio=round(reset_s / floor_s, 2),
        episode_ratio=round(episode_s / floor_s, 2),
        call_bytes=len(CALL_TEXT),
        memory_mb_10k_episodes=round(memory, 2),
    )


def memory_added(env: Any, action: str, episodes: int) -> float:
    """MB that ``episodes`` episodes leave behind, on this task and on the starter tasks."""
    starter = gym.make("apibank/L1-v0", data="starter")
    starter.reset(seed=0)
    gc.collect()
    before = resident_mb()
    for _ in range(episodes // 2):
        env.reset()
        env.step(action)
        starter.reset()
        starter.step("[GetToken(username='ada', password='x')]")
    gc.collect()
    return resident_mb() - before


def resident_mb() -> float:
    """Resident memory of this process, in MB (Linux)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    """Print the ratios; exit status 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=1_000)
    options = parser.parse_args()
    ratios = measure(options.rounds, options.repeats)
    print(f"floor     {ratios.floor_us:.2f} microseconds ({ratios.call_bytes}-byte call)")
    print(f"step      {ratios.step_ratio:.2f} x floor (limit {STEP_LIMIT:.0f})")
    print(f"reset     {ratios.reset_ratio:.2f} x floor (limit {RESET_LIMIT:.0f})")
    print(f"memory    {ratios.memory_mb_10k_episodes:.1f} MB for 10,000 episodes (limit {MEMORY_LIMIT_MB:.0f})")
    print(json.dumps(asdict(ratios)))
    within = (
        ratios.step_ratio <= STEP_LIMIT
        and ratios.reset_ratio <= RESET_LIMIT
        and ratios.memory_mb_10k_episodes <= MEMORY_LIMIT_MB
    )
    raise SystemExit(0 if within else 1)


if __name__ == "__main__":
    main()
