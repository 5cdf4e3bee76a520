"""Figures of speed: steps per second of one process, and what a step costs beside the bare floor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from figure_baselines import members_of
from figure_settings import Setting
from floor import fastest, make_floor

__all__ = ["speed_of"]

_ROUNDS = 12
_EPISODES = 40
_FLOOR_RUNS = 200


def speed_of(setting: Setting) -> dict[str, Any] | None:
    """Play the oracle on starter tasks and time ``reset`` and ``step``; the oracle's own work is not counted.

    Each round plays the same tasks, and then runs the floor (``floor.py``). Of each step, each reset and of the floor
    the fastest round counts, the one that other programs disturbed least; what is kept of a task is known by then.

    Returns:
        ``steps_per_second``, ``resets_per_second``, ``step_ratio`` and ``reset_ratio`` (times the floor), ``prompt``,
        the mean length of the first observation in characters; None for groups.
    """
    if members_of(setting.id):
        return None
    env = setting.env("starter")
    floor = make_floor()
    rounds, floors = [], []
    for _ in range(_ROUNDS):
        rounds.append(_play(env))
        floors += fastest(5, (floor, _FLOOR_RUNS))
    env.close()
    step, reset, least = _undisturbed([r.steps for r in rounds]), _undisturbed([r.resets for r in rounds]), min(floors)
    return {
        "prompt": round(mean(rounds[0].prompts)),
        "reset_ratio": round(reset / least, 1),
        "resets_per_second": round(1 / reset),
        "step_ratio": round(step / least, 1),
        "steps_per_second": round(1 / step),
    }


@dataclass(frozen=True, slots=True)
class _Round:
    """Seconds of every step and of every reset, and the lengths of the prompts, in the order of play."""

    steps: list[float] = field(default_factory=list)
    resets: list[float] = field(default_factory=list)
    prompts: list[int] = field(default_factory=list)


def _play(env: Any) -> _Round:
    played = _Round()
    for index in range(min(_EPISODES, len(env.tasks))):
        started = time.perf_counter()
        observation, _ = env.reset(seed=index, options={"task": index})
        played.resets.append(time.perf_counter() - started)
        played.prompts.append(len(observation))
        done = False
        while not done:
            action = env.oracle_action()
            started = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(action)
            played.steps.append(time.perf_counter() - started)
            done = terminated or truncated
    return played


def _undisturbed(rounds: Sequence[Sequence[float]]) -> float:
    """Mean seconds, of each place the least of all rounds."""
    return float(mean(min(times) for times in zip(*rounds, strict=True)))
