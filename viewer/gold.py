"""The task of each record, found again in the data that it was played with: what was asked for, beside what was done.

A record names its environment, its options, its task and its seed, and not the goal. The environment is made again,
without tools and without a network, and begun by the record's seed, so that a perturbed task is perturbed as it was.
Where that does not lead to the very prompt of the record, there is no gold, and a reason.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gymnasium as gym

from callgym.errors import CallGymError
from callgym.rollouts.environment_pool import EnvironmentPool
from callgym.task import Task
from callgym.viewer.columns import Played

__all__ = ["find_tasks"]

_FAILED = "the episode failed, and its line does not say how it was set up"


def find_tasks(
    goals: Sequence[Played | None],
    *,
    data: str | os.PathLike[str] | Sequence[Task] | None = None,
    env_options: Mapping[str, Any] | None = None,
) -> Iterator[tuple[int, Task | str]]:
    """Each place in ``goals`` with its task, or why there is none; those of one environment after another.

    Args:
        goals: An episode for each goal.
        data: The folder or the tasks of episodes that were played with such: their record does not say which.
        env_options: Arguments of ``gym.make`` that no record holds; see ``EnvironmentPool``.
    """
    groups: dict[tuple[str, str, str], list[tuple[int, Played]]] = {}
    for place, goal in enumerate(goals):
        if goal is None:
            yield place, _FAILED
            continue
        episode = goal.episode
        group = (episode.env_id, json.dumps(episode.config, sort_keys=True), episode.data)
        groups.setdefault(group, []).append((place, goal))
    pool = EnvironmentPool(data=data, env_options=env_options, network=False, tools=False)
    with contextlib.closing(pool):
        for members in groups.values():
            for place, goal in members:
                yield place, _task(pool, goal)


def _task(pool: EnvironmentPool, goal: Played) -> Task | str:
    episode = goal.episode
    try:
        # What is paid is not asked for, so that a rubric that is not known here is no hindrance.
        env = pool.take(episode, "default")
        prompt, _ = env.reset(seed=episode.seed, options={"task": episode.task_id})
    except (CallGymError, gym.error.Error) as error:
        return " ".join(str(error).split())
    if hash(prompt) != goal.prompt:
        return "its task begins otherwise than the record: give the data it was played with, --data"
    return env.task
