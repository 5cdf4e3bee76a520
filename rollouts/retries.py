"""Retries: an episode that broke is begun again from its seed, a few times, before it counts as failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callgym.rollouts.stage import Act, Ended, Failed, Outcome, Stage, Start

__all__ = ["Retries"]


@dataclass(slots=True)
class _Tried:
    start: Start
    failures: int = 0


class Retries:
    """A stage around a stage: ``Failed`` comes out of it only after ``attempts`` tries.

    An episode that goes down with its worker may have been the cause or not; nobody knows. So the last try of each
    is played alone: what goes down then has itself to blame.
    """

    def __init__(self, stage: Stage, attempts: int) -> None:
        self._stage = stage
        self._attempts = attempts
        self._tried: dict[int, _Tried] = {}
        self.again = 0
        """Episodes begun again so far."""

    @property
    def free(self) -> int:
        """How many more episodes can be started now."""
        return self._stage.free

    @property
    def waiting(self) -> int:
        """Episodes whose next outcome is still to come."""
        return self._stage.waiting

    def start(self, starts: Sequence[Start]) -> None:
        """Begin episodes."""
        for start in starts:
            self._tried[start.key] = _Tried(start)
        self._stage.start(starts)

    def act(self, acts: Sequence[Act]) -> None:
        """Take an action in each of these episodes."""
        self._stage.act(acts)

    def truncate(self, keys: Sequence[int]) -> None:
        """End episodes where they stand."""
        self._stage.truncate(keys)

    def outcomes(self, timeout: float | None = None) -> list[Outcome]:
        """What has come of what was begun. Empty where all of it is begun again."""
        passed: list[Outcome] = []
        for outcome in self._stage.outcomes(timeout):
            if isinstance(outcome, Failed) and not self._is_last(outcome):
                self._begin_again(self._tried[outcome.key])
                continue
            if isinstance(outcome, Ended):
                del self._tried[outcome.key]
            elif isinstance(outcome, Failed):
                tried = self._tried.pop(outcome.key)
                outcome = replace(outcome, failure=replace(outcome.failure, attempts=tried.failures))
            passed.append(outcome)
        return passed

    def drop(self) -> None:
        """Forget the episodes under way."""
        self._tried.clear()
        self._stage.drop()

    def close(self) -> None:
        """Close the stage."""
        self._stage.close()

    def _is_last(self, outcome: Failed) -> bool:
        tried = self._tried[outcome.key]
        tried.failures += outcome.blamed
        return tried.failures >= self._attempts

    def _begin_again(self, tried: _Tried) -> None:
        self.again += 1
        alone = self._attempts > 1 and tried.failures == self._attempts - 1
        self._stage.start([replace(tried.start, alone=alone)])
