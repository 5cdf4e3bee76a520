"""What the page's list shows of each episode: one list a column, one number an episode.

A list of 20,000 episodes is read, filtered and sorted in a browser without a look at the episodes themselves.
Words stand in tables, and columns hold their places.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgym.episode import Episode, Score
from callgym.rollouts.stage import StepTimes
from callgym.rollouts.stored_lines import StoredLine

__all__ = ["Columns", "Played"]

_ENDED = {"running": 0, "terminated": 1, "truncated": 2}
_FAILED = 3
_NOT_ASKED = "n"
_EXACT = 2**53


class _Table:
    """Words, each once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, word: str) -> int:
        return self._places.setdefault(word, len(self._places))

    @property
    def words(self) -> list[str]:
        return list(self._places)


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that stands for all of its goal: enough to make its environment and its task again."""

    episode: Episode
    """The record without its prompt, steps and scores."""
    prompt: int
    """The prompt's hash."""


class Columns:
    """Takes episodes one by one and keeps of each what the list shows."""

    _NAMES = (
        *(
            "run",
            "row",
            "index",
            "env",
            "task",
            "key",
            "seed",
            "dialect",
            "policy",
            "ended",
            "return",
            "steps",
            "calls",
        ),
        *("turns", "characters", "errors", "seconds"),
    )

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in self._NAMES}
        self.goals: list[Played | None] = []
        """By key, what stands for the goal; None where only failed episodes asked for it."""
        self._keys: dict[tuple[Any, ...], int] = {}
        self._scores: dict[str, list[float | str | None]] = {}
        self._envs, self._tasks, self._dialects, self._policies, self._errors = (_Table() for _ in range(5))

    def __len__(self) -> int:
        return len(self.columns["run"])

    def add(self, run: int, line: StoredLine, times: Sequence[StepTimes] | None) -> None:
        """Take the next line.

        Args:
            run: The number of its file.
            line: An episode, or one that failed.
            times: Of its steps, where they are known.
        """
        values = {"run": run, "row": line.row, "index": line.index, "policy": self._policies.place(line.policy)}
        if line.episode is None:
            values |= self._failed(line.fields)
        else:
            values |= self._played(line.episode, times)
        self._add_scores(line.episode.rewards if line.episode is not None else {})
        for name, column in self.columns.items():
            column.append(values[name])

    def tables(self) -> dict[str, list[str]]:
        """The words that columns hold places of."""
        return {
            "envs": self._envs.words,
            "tasks": self._tasks.words,
            "dialects": self._dialects.words,
            "rewards": list(self._scores),
            "errors": self._errors.words,
            "policies": self._policies.words,
        }

    def to_dict(self) -> dict[str, Any]:
        """The columns, and under ``scores`` one a reward: a number, null for unknown, "n" where it is not asked for."""
        return {**self.columns, "scores": self._scores}

    def _played(self, episode: Episode, times: Sequence[StepTimes] | None) -> dict[str, Any]:
        steps = episode.steps
        dialect = episode.config.get("dialect", "")
        return {
            "env": self._envs.place(episode.env_id),
            "task": self._tasks.place(episode.task_id),
            "key": self._key(episode),
            "seed": _exact_integer(episode.seed),
            "dialect": self._dialects.place(dialect if isinstance(dialect, str) else json.dumps(dialect)),
            "ended": _ENDED[episode.ended],
            "return": episode.episode_return,
            "steps": len(steps),
            "calls": sum([len(step.calls) for step in steps]),
            "turns": max([step.turn for step in steps], default=-1) + 1,
            "characters": sum([len(step.action) for step in steps]),
            "errors": self._error_counts(episode),
            "seconds": _seconds(times),
        }

    def _failed(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        env, task, seed = fields.get("env_id", ""), fields.get("task_id", ""), fields.get("seed")
        env, task = (value if isinstance(value, str) else json.dumps(value) for value in (env, task))
        values: dict[str, Any] = dict.fromkeys(("steps", "calls", "turns", "characters"), 0)
        return values | {
            "env": self._envs.place(env),
            "task": self._tasks.place(task),
            "key": self._place((env, task), None),
            "seed": _exact_integer(seed) if type(seed) is int else None,
            "dialect": self._dialects.place(""),
            "ended": _FAILED,
            "return": None,
            "errors": [self._errors.place(f"failed: {fields['failure']['kind']}"), 1],
            "seconds": None,
        }

    def _key(self, episode: Episode) -> int:
        config = json.dumps(episode.config, sort_keys=True)
        prompt = hash(episode.prompt)
        # Only a perturbed task is another by another seed.
        seed = episode.seed if episode.config.get("perturb") else None
        key = (episode.env_id, episode.task_id, config, episode.data, seed, prompt)
        known = self._keys.get(key)
        if known is not None:
            return known
        bare = {**vars(episode), "prompt": "", "steps": (), "state": None, "faults": None, "rewards": {}}
        return self._place(key, Played(Episode.trusted(**bare), prompt))

    def _place(self, key: tuple[Any, ...], goal: Played | None) -> int:
        place = self._keys.setdefault(key, len(self._keys))
        if place == len(self.goals):
            self.goals.append(goal)
        return place

    def _error_counts(self, episode: Episode) -> list[int]:
        kinds: list[str] = []
        for step in episode.steps:
            kinds += [error.kind for error in step.errors]
            kinds += [result.error for result in step.results if result.error is not None]
        flat: list[int] = []
        for kind, count in Counter(kinds).items():
            flat += (self._errors.place(kind), count)
        return flat

    def _add_scores(self, scores: Mapping[str, Score]) -> None:
        before = len(self)
        for name in scores:
            if name not in self._scores:
                self._scores[name] = [_NOT_ASKED] * before
        for name, column in self._scores.items():
            score = scores.get(name)
            column.append(_NOT_ASKED if score is None or not score.applies else score.value)


def _exact_integer(number: int) -> int | str:
    """The number, as text where a browser would read another."""
    return number if -_EXACT < number < _EXACT else str(number)


def _seconds(times: Sequence[StepTimes] | None) -> float | None:
    """Seconds of an episode; None where any part of them is unknown."""
    if not times:
        return None
    total = 0.0
    for pair in times:
        for seconds in pair:
            if seconds is None:
                return None
            total += seconds
    return round(total, 6)
