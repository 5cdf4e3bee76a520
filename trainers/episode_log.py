"""What happened in the episodes of a training step, as numbers with names that stay the same::

    log = EpisodeLog()
    log.add(episode, cut=False)
    log.flush(log_metric)   # log_metric("callgym/steps", 3.0), ...

One value an episode: a trainer's mean over the values of all its processes is then the mean over episodes. Times come
from the clock and stand in logs only, never in records.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import get_args

from callgym.call import ErrorKind
from callgym.episode import Episode, ParseErrorKind
from callgym.rollouts.stage import Failure, FailureKind

__all__ = ["EpisodeLog"]

_FAILURES = get_args(FailureKind)
_PARSE_ERRORS = get_args(ParseErrorKind)
_TOOL_ERRORS = get_args(ErrorKind)
_MOST_TURNS = 16


class EpisodeLog:
    """Collects values by name.

    ``callgym/steps``, ``/turns``, ``/calls``: actions, user turns and calls of an episode. ``/truncated``, ``/cut``,
    ``/unknown_return``, ``/failed`` and ``/failed/CAUSE``: shares of episodes; ``cut`` by the limit of one action.
    ``/parse_errors/KIND`` and ``/tool_errors/KIND``: how many an episode. ``/return/ID``: mean return by id.
    ``/turn_reward/N``: what user turn N earned, in episodes that came so far. ``/seconds/generation`` and
    ``/seconds/tools``: what a step spent in writing actions, and in waiting for environments while there was nothing to
    write; ``/waiting_share``: the second's part of both.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = defaultdict(list)
        self._latest: dict[str, float] = {}

    @property
    def latest(self) -> dict[str, float]:
        """The means of the last step that was flushed."""
        return dict(self._latest)

    def add(self, episode: Episode, cut: bool) -> None:
        """Count an episode; ``cut`` where its last action was cut off by its writer's limit."""
        steps = episode.steps
        put = self._put
        put("steps", len(steps))
        put("turns", 1 + max((step.turn for step in steps), default=0))
        put("calls", sum(len(step.calls) for step in steps))
        put("truncated", episode.ended == "truncated")
        put("cut", cut)
        put("unknown_return", episode.episode_return is None)
        self._count("parse_errors", _PARSE_ERRORS, [error.kind for step in steps for error in step.errors])
        self._count("tool_errors", _TOOL_ERRORS, [r.error for step in steps for r in step.results if r.error])
        if episode.episode_return is not None:
            put(f"return/{episode.env_id}", episode.episode_return)
            for turn in range(min(_MOST_TURNS, 1 + max((step.turn for step in steps), default=-1))):
                put(f"turn_reward/{turn}", math.fsum(step.reward or 0.0 for step in steps if step.turn == turn))
        self._failed(None)

    def add_failure(self, failure: Failure) -> None:
        """Count an episode that broke."""
        self._failed(failure)

    def add_times(self, generation: float, tools: float) -> None:
        """What a step spent in generation, and in waiting for tools with nothing to generate; in seconds."""
        self._put("seconds/generation", generation)
        self._put("seconds/tools", tools)
        if generation + tools > 0:
            self._put("waiting_share", tools / (generation + tools))

    def flush(self, log_metric: Callable[[str, float], None] | None) -> None:
        """Hand everything over and begin anew; without ``log_metric`` only ``latest`` keeps it."""
        if not self._values:
            return
        self._latest = {name: sum(values) / len(values) for name, values in self._values.items()}
        if log_metric is not None:
            for name, values in self._values.items():
                for value in values:
                    log_metric(name, value)
        self._values.clear()

    def _put(self, name: str, value: float) -> None:
        self._values[f"callgym/{name}"].append(float(value))

    def _count(self, name: str, kinds: Sequence[str], found: Sequence[str]) -> None:
        # All kinds, each time: a mean over processes that leave zeros out would be too high.
        for kind in kinds:
            self._put(f"{name}/{kind}", found.count(kind))

    def _failed(self, failure: Failure | None) -> None:
        self._put("failed", failure is not None)
        for kind in _FAILURES:
            self._put(f"failed/{kind}", failure is not None and failure.kind == kind)
