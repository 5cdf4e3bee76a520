"""What a chat is: a request that needs no tool, with the reply to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from callgym.envs.bfcl.starter.single_calls import pick

__all__ = ["Chat", "Draw", "out_of"]

Draw = Callable[[Random, str], Mapping[str, str]]
"""Random numbers and split to the words for each placeholder."""


@dataclass(frozen=True, eq=False, slots=True)
class Chat:
    """A request that is answered from what anybody knows, or from what the user said."""

    topic: str
    """A word for it."""
    requests: tuple[str, ...]
    """Imperatives, questions or statements in the form of ``Function.clauses``; the first half is for training."""
    replies: tuple[str, ...]
    draw: Draw
    """What fills the placeholders of requests and replies."""
    deed: str
    """What is wanted, after ``to``: for the reply that says it cannot be done."""
    noun: str
    """What a reply could ask for without any need, after ``Could you tell me``."""
    tempting: tuple[str, ...] = ()
    """Functions that sound as if they were meant; where there are none, ``draw`` names one as ``tempting``."""
    determined: bool = False
    """Whether there is one right answer: every right reply contains ``answer``."""

    def of_split(self, split: str) -> tuple[str, ...]:
        """The requests of a split; no request is in both."""
        half = len(self.requests) // 2
        return self.requests[:half] if split == "train" else self.requests[half:]


def out_of(pool: Sequence[Any], rng: Random, split: str) -> Any:
    """One of the pool's items; every third one is for the test."""
    return pick(rng, pool[2::3] if split == "test" else [*pool[::3], *pool[1::3]])
