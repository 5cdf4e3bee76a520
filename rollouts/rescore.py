"""Rescoring: stored episodes are scored again by another rubric; no tool is run::

    report = rescore_file("episodes.jsonl", ["exact"], out="exact.jsonl")
    print(report.table())

The task is looked up in the environment's tasks and perturbed by the episode's seed as it was when it was played;
what the policy and the tools did is in the record. Rescored by rubric R, an episode is the same, to the byte, as if
it had been played with R. An unknown return or score is never taken for 0: it is counted apart.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import gymnasium as gym

from callgym.episode import Episode, Score, Step
from callgym.errors import CallGymError, ConfigurationError, DataError
from callgym.rewards import Rubric
from callgym.rollouts.environment_pool import EnvFactory, EnvironmentPool
from callgym.rollouts.episodes import write_episode
from callgym.rollouts.replay import Unplayed
from callgym.rollouts.stored_lines import read_lines
from callgym.task import Task
from callgym.whole_file import whole_file

__all__ = ["Paired", "RescoreReport", "RubricChange", "rescore", "rescore_file", "scored_again"]

_MOST_REASONS = 1000


@dataclass(frozen=True, slots=True)
class Paired:
    """One number of every episode, before and after."""

    old_mean: float | None
    """Mean over the episodes where it was known; None where it was known of none, or did not exist."""
    new_mean: float | None
    """Mean over the episodes where it is known now."""
    old_unknown: int
    """Episodes where it counts and was not known."""
    new_unknown: int
    """Episodes where it counts and is not known now."""
    pairs: int
    """Episodes where both are known."""
    difference: float | None
    """Mean over these of new less old; None without any."""
    difference_stderr: float | None
    """Standard error of that mean; None for fewer than two pairs."""
    changed: int
    """Pairs that are not equal."""


@dataclass(frozen=True, slots=True)
class RubricChange:
    """What another rubric makes of a file."""

    rubric: str
    """Its name."""
    returns: Paired
    """The returns."""
    rewards: dict[str, Paired]
    """Reward name to its values, where it applies."""


@dataclass(frozen=True, slots=True)
class RescoreReport:
    """What a rescoring found."""

    path: str
    """The file."""
    old_rubrics: tuple[str, ...]
    """The rubrics by which it was scored."""
    episodes: int
    """Episodes that were scored again."""
    not_rescored: int
    """Episodes whose task was not to be had; they are in no mean, and not in ``out``."""
    failed: int
    """Lines of episodes that had failed when they were played; ``out`` has them as they are."""
    changes: tuple[RubricChange, ...]
    """One for each rubric that was asked for."""
    reasons: tuple[Unplayed, ...]
    """Why episodes were not scored again, the first 1,000 at most."""

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), allow_nan=False)

    def table(self) -> str:
        """The report as aligned lines for people."""
        head = f"{self.episodes} episodes scored again"
        head += f", {self.not_rescored} not" if self.not_rescored else ""
        head += f", {self.failed} rows of failed episodes" if self.failed else ""
        lines = [head]
        for change in self.changes:
            rows = [("return", change.returns), *((f"  {name}", paired) for name, paired in change.rewards.items())]
            width = max(len(name) for name, _ in rows)
            lines += ["", f"rubric {' and '.join(self.old_rubrics)} -> {change.rubric}"]
            lines.append(f"{'':<{width}}  {'old':>8}{'new':>9}  new - old")
            lines += [f"{name:<{width}}  {_row(paired)}" for name, paired in rows]
        return "\n".join(lines)


def rescore_file(
    path: str | PathLike[str],
    rubrics: Sequence[str],
    *,
    out: str | PathLike[str] | None = None,
    data: str | PathLike[str] | Sequence[Task] | None = None,
    env_options: Mapping[str, Any] | None = None,
    factory: EnvFactory | None = None,
    network: bool = False,
    advance: Callable[[int], object] | None = None,
) -> RescoreReport:
    """Score the episodes of a file again, by each of several rubrics.

    Args:
        path: An episode file.
        rubrics: Names as ``gym.make(rubric=...)`` takes them; ``"default"`` is each environment's own.
        out: Where the episodes go with their new scores; only for one rubric. It is there once it is whole.
        data: The folder or the tasks of episodes that were played with such: their record does not say which.
        env_options: Arguments of ``gym.make`` that no record holds; see ``EnvironmentPool``.
        factory: What makes the environments, where they were made without a registered id.
        network: Whether records may name servers of judges, which are then called.
        advance: Is told the bytes of each line when it is done.

    Raises:
        ConfigurationError: There is no such rubric, or ``out`` does not fit the other arguments.
        DataError: The file is missing or a line is damaged; the message names file, row and mend.
    """
    names, source = list(dict.fromkeys(rubrics)), Path(path)
    target = None if out is None else Path(out)
    _check(names, source, target)
    tallies = {name: _Tally() for name in names}
    old_rubrics: dict[str, None] = {}
    reasons: list[Unplayed] = []
    episodes = missing = failed = 0
    pool = EnvironmentPool(data=data, env_options=env_options, factory=factory, network=network, tools=False)
    writing = contextlib.nullcontext() if target is None else whole_file(target)
    with contextlib.closing(pool), writing as file:
        for line in read_lines(source):
            old = line.episode
            if old is None:
                failed += 1
                if file is not None:
                    file.write(line.raw.decode())
            else:
                outcome = _outcome(pool, old, names)
                if isinstance(outcome, str):
                    missing += 1
                    reasons += [Unplayed(line.row, line.index, outcome)] if len(reasons) < _MOST_REASONS else []
                else:
                    episodes += 1
                    old_rubrics[old.rubric] = None
                    for name, new in zip(names, outcome, strict=True):
                        tallies[name].add(old, new)
                    if file is not None:
                        write_episode(file, line.index, line.policy, outcome[0])
            if advance is not None:
                advance(len(line.raw))
    changes = tuple(tally.change(name) for name, tally in tallies.items())
    return RescoreReport(str(path), tuple(old_rubrics), episodes, missing, failed, changes, tuple(reasons))


def rescore(
    episodes: Iterable[Episode],
    rubric: str,
    *,
    data: str | PathLike[str] | Sequence[Task] | None = None,
    env_options: Mapping[str, Any] | None = None,
    factory: EnvFactory | None = None,
    network: bool = False,
) -> Iterator[Episode]:
    """Episodes with the scores of another rubric, one for each; the arguments are those of ``rescore_file``.

    Raises:
        ConfigurationError: There is no such rubric.
        DataError: The task of an episode is not to be had, or is another than the one that was played.
    """
    pool = EnvironmentPool(data=data, env_options=env_options, factory=factory, network=network, tools=False)
    with contextlib.closing(pool):
        for number, episode in enumerate(episodes, 1):
            outcome = _outcome(pool, episode, [rubric])
            if isinstance(outcome, str):
                raise DataError(f"episode {number}: {outcome}")
            yield outcome[0]


def scored_again(task: Task, episode: Episode, rubric: Rubric) -> Episode:
    """An episode as it would be on record had it been played with ``rubric``.

    Args:
        task: The task as it was played, perturbed where it was.
        episode: The record; its own scores are not looked at.
        rubric: What is paid.
    """
    steps: list[Step] = []
    for step in episode.steps:
        steps.append(_paid(step, 0.0))
        if rubric.steps:
            steps[-1] = _paid(step, rubric.step_reward(task, steps, len(steps) - 1))
    config = {name: rubric.name if name == "rubric" else value for name, value in episode.config.items()}
    bare: dict[str, Any] = {**vars(episode), "config": config, "rubric": rubric.name}
    bare |= {"steps": tuple(steps), "rewards": {}, "episode_return": None}
    value, scores = rubric.score(task, Episode.trusted(**bare))
    if steps:
        last = value
        if value is not None and rubric.steps:
            last = value - math.fsum(step.reward or 0.0 for step in steps[:-1])
        steps[-1] = _paid(steps[-1], last)
    return Episode.trusted(**{**bare, "steps": tuple(steps), "rewards": scores, "episode_return": value})


def _paid(step: Step, reward: float | None) -> Step:
    return Step.trusted(**{**vars(step), "reward": reward})


def _outcome(pool: EnvironmentPool, episode: Episode, rubrics: Sequence[str]) -> list[Episode] | str:
    """The episode by each rubric, or why it cannot be scored."""
    try:
        envs = [pool.take(episode, name) for name in rubrics]
    except DataError as error:
        return str(error)
    try:
        prompt, _ = envs[0].reset(seed=episode.seed, options={"task": episode.task_id})
    except (CallGymError, gym.error.Error) as error:
        return " ".join(f"{error}; was it played with other data?".split())
    if prompt != episode.prompt:
        return f"task {episode.task_id!r} begins otherwise than the record: it was played with other data"
    return [scored_again(envs[0].task, episode, env.rubric) for env in envs]


# The numbers.


@dataclass(slots=True)
class _Pairs:
    """Values before and after, one pair an episode; None where unknown, nothing where it does not count."""

    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    old_unknown: int = 0
    new_unknown: int = 0
    differences: list[float] = field(default_factory=list)

    def add_old(self, value: float | None) -> None:
        if value is None:
            self.old_unknown += 1
        else:
            self.old.append(value)

    def add_new(self, value: float | None) -> None:
        if value is None:
            self.new_unknown += 1
        else:
            self.new.append(value)

    def pair(self, old: float | None, new: float | None) -> None:
        if old is not None and new is not None:
            self.differences.append(new - old)

    def paired(self) -> Paired:
        mean = _mean(self.differences)
        return Paired(
            old_mean=_mean(self.old),
            new_mean=_mean(self.new),
            old_unknown=self.old_unknown,
            new_unknown=self.new_unknown,
            pairs=len(self.differences),
            difference=mean,
            difference_stderr=_standard_error(self.differences, mean),
            changed=sum(value != 0 for value in self.differences),
        )


@dataclass(slots=True)
class _Tally:
    """What one rubric gives, episode by episode."""

    returns: _Pairs = field(default_factory=_Pairs)
    rewards: dict[str, _Pairs] = field(default_factory=dict)

    def add(self, old: Episode, new: Episode) -> None:
        self.returns.add_old(old.episode_return)
        self.returns.add_new(new.episode_return)
        self.returns.pair(old.episode_return, new.episode_return)
        for name in {**new.rewards, **old.rewards}:
            pairs = self.rewards.setdefault(name, _Pairs())
            before, after = _applying(old, name), _applying(new, name)
            if before is not None:
                pairs.add_old(before.value)
            if after is not None:
                pairs.add_new(after.value)
            if before is not None and after is not None:
                pairs.pair(before.value, after.value)

    def change(self, rubric: str) -> RubricChange:
        return RubricChange(
            rubric, self.returns.paired(), {name: pairs.paired() for name, pairs in self.rewards.items()}
        )


def _applying(episode: Episode, name: str) -> Score | None:
    score = episode.rewards.get(name)
    return score if score is not None and score.applies else None


def _mean(values: Sequence[float]) -> float | None:
    try:
        mean = math.fsum(values) / len(values) if values else None
    except (OverflowError, ValueError):  # numbers that no rubric gave, such as 1e308: their mean is not known
        return None
    return mean if mean is None or math.isfinite(mean) else None


def _standard_error(values: Sequence[float], mean: float | None) -> float | None:
    if mean is None or len(values) < 2:
        return None
    try:
        spread = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    except OverflowError:
        return None
    return math.sqrt(spread / len(values))


def _row(paired: Paired) -> str:
    text = f"{_number(paired.old_mean):>8}{_number(paired.new_mean):>9}  "
    if paired.difference is None:
        text += "no pairs"
    else:
        error = "" if paired.difference_stderr is None else f" ± {paired.difference_stderr:.3f}"
        text += f"{paired.difference:+.3f}{error} ({paired.changed} of {paired.pairs} changed)"
    if paired.old_unknown or paired.new_unknown:
        text += f"; unknown: {paired.old_unknown} -> {paired.new_unknown}"
    return text


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


# The file.


def _check(names: list[str], source: Path, target: Path | None) -> None:
    if not names:
        raise ConfigurationError("no rubric is named; rubrics=['exact'] scores by that one")
    if target is None:
        return
    if len(names) > 1:
        raise ConfigurationError(f"out={str(target)!r} holds the scores of one rubric, and {len(names)} are named")
    if source.exists() and target.exists() and target.samefile(source):
        raise ConfigurationError(f"out={str(target)!r} is the file that is read; give another, so that both are kept")
