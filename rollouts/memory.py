"""BFCL's memory categories before their questions: a policy talks, and what it keeps is what the questions find.

    snapshots = fill_memories("kv", get_policy("hf:FOLDER"), data="official")
    write_snapshots(Path("memories"), snapshots)
    gym.make("bfcl/memory_kv-v0", data="official", memory="memories")

Each scenario's conversations are played in order, each on the memory that the one before left, as officially.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callgym.data import find_source
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.memory.snapshots import SCENARIOS, play_prerequisites, prerequisite_tasks
from callgym.envs.bfcl.memory.starter import starter_prerequisites
from callgym.errors import DataError
from callgym.rollouts.policy import Policy
from callgym.rollouts.runner import run_episodes
from callgym.task import Task

__all__ = ["fill_memories"]

Snapshot = dict[str, Any]


def fill_memories(
    store: str,
    policy: Policy,
    *,
    data: str = "auto",
    split: str = "test",
    seed: int = 0,
    advance: Callable[[int], object] = lambda episodes: None,
    **options: Any,
) -> dict[str, Snapshot]:
    """Let a policy live through the prerequisite conversations of every scenario.

    Args:
        store: ``kv``, ``vector`` or ``rec_sum``.
        policy: What acts.
        data: Where the conversations are, as in ``gym.make``.
        split: Of the starter set; official conversations have one.
        seed: The run's seed.
        advance: Is told of each conversation when it was played.
        **options: More arguments of ``gym.make``, such as ``dialect``.

    Returns:
        Scenario to what the memory holds at the end.

    Raises:
        ConfigurationError: There is no such store or split.
        DataError: Official data is missing or damaged.
    """

    def play(task: Task, _: Snapshot) -> Snapshot:
        result = run_episodes(
            f"bfcl/memory_{store}-v0",
            policy,
            episodes=1,
            seed=seed,
            env_options={**options, "data": [task]},
            progress=False,
        )
        advance(1)
        state = result.episodes[0].state
        if state is None:
            raise DataError(f"the episode of {task.id} left no memory")
        return dict(state)

    return {scenario: play_prerequisites(play, tasks) for scenario, tasks in _scenarios(store, data, split).items()}


def _scenarios(store: str, data: str, split: str) -> dict[str, list[Task]]:
    source = find_source("bfcl", data)
    if source.folder is None:
        return starter_prerequisites(store, split)
    files = BfclFiles(source.folder)
    return {scenario: prerequisite_tasks(files, store, scenario) for scenario in SCENARIOS}
