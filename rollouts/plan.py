"""A plan says what every episode of a run is: episode k's task and seed follow from the run's seed and k.

Nothing else enters: not the batch size, not the order in which episodes end, not what ran before. So a
run can be cut anywhere, continued anywhere and spread over machines, and gives the same episodes.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from callgym.envs.base import ToolEnv
from callgym.episode import Episode

__all__ = ["Plan", "derive_seed"]


def derive_seed(*parts: int | str) -> int:
    """A seed of 63 bits that follows from ``parts``, the same on every machine."""
    text = "/".join(str(part) for part in parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What the episodes of one run are."""

    env_id: str
    """The environment they are played in."""
    policy: str
    """The policy's name."""
    seed: int
    """The run's seed."""
    data: str
    """Where the tasks come from."""
    rubric: str
    """What is paid."""
    config: dict[str, Any]
    """The environment's other arguments, as its records have them."""
    task_ids: tuple[str, ...]
    """The tasks, in the environment's order."""

    @classmethod
    def of(cls, env: ToolEnv, policy: str, seed: int) -> Plan:
        """The plan of a run of ``policy`` in environments made like ``env``."""
        return cls(
            env_id=env.env_id,
            policy=policy,
            seed=seed,
            data=env.source.kind,
            rubric=env.rubric.name,
            config=env.config,
            task_ids=tuple(task.id for task in env.tasks),
        )

    def task(self, index: int) -> int:
        """The task of episode ``index``: every task once, in a fresh order each pass."""
        count = len(self.task_ids)
        return _order(derive_seed("order", self.seed, index // count), count)[index % count]

    def episode_seed(self, index: int) -> int:
        """The seed of episode ``index``."""
        return derive_seed("episode", self.seed, index)

    def misfit(self, index: int, policy: str, episode: Episode) -> str | None:
        """What keeps a recorded episode from being episode ``index`` of this plan; None where it is."""
        facts: list[tuple[str, Any, Any]] = [
            ("env_id", episode.env_id, self.env_id),
            ("policy", policy, self.policy),
            ("data", episode.data, self.data),
            ("rubric", episode.rubric, self.rubric),
            # Keys of both: an option that is on record only when it is given must not go unnoticed.
            *(
                (f"config.{key}", episode.config.get(key), self.config.get(key))
                for key in {**self.config, **episode.config}
            ),
            ("seed", episode.seed, self.episode_seed(index)),
            ("task_id", episode.task_id, self.task_ids[self.task(index)]),
        ]
        for name, found, wanted in facts:
            if found != wanted:
                return f"{name} is {found!r}, and {wanted!r} in this run"
        return None


@lru_cache(maxsize=8)
def _order(seed: int, count: int) -> tuple[int, ...]:
    # Of Python's generators only `random()` promises the same numbers in every version, so the order
    # is a sort by it and no shuffle.
    rng = random.Random(seed)
    keys = [rng.random() for _ in range(count)]
    return tuple(sorted(range(count), key=keys.__getitem__))
