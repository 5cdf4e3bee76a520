"""Replay: recorded episodes are played again, and every byte of their records is compared::

    report = replay_file("episodes.jsonl")
    print(report.equal, report.first)  # 500 None, or the first difference

Of a record, the environment's id and options, the task, the seed and the actions go in; all the rest comes out
again and is compared: prompt, calls, results, observations, state, faults, rewards, return. So a record that is
equal is what its environment gives for these actions, here and now. The row's ``index`` and ``policy`` are labels
that nothing is computed from: they are taken as they are.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import gymnasium as gym

from callgym.envs.base import CUT_ACTION, ToolEnv
from callgym.episode import Episode, Step
from callgym.errors import CallGymError
from callgym.rollouts.difference import Difference, first_difference, line_difference
from callgym.rollouts.environment_pool import EnvFactory, EnvironmentPool
from callgym.rollouts.episodes import episode_line
from callgym.rollouts.stored_lines import StoredLine, read_up_to_fault
from callgym.task import Task

__all__ = ["ReplayReport", "RowDifference", "Unplayed", "replay_file"]

_MOST_REASONS = 1000


@dataclass(frozen=True, slots=True)
class RowDifference:
    """The first difference of one episode."""

    row: int
    """The line's number, from 1."""
    index: int
    """Which episode of its run it is."""
    env_id: str
    """The environment."""
    task_id: str
    """The task."""
    step: int | None
    """Number of the step in the record, from 0; None where the difference is in none."""
    path: str
    """The field, such as ``steps[2].results[0].content``."""
    stored: str
    """What the file has there, as JSON, shortened."""
    replayed: str
    """What the episode has there when it is played again."""
    hint: str
    """What may have changed."""


@dataclass(frozen=True, slots=True)
class Unplayed:
    """An episode that could not be played again."""

    row: int
    """The line's number, from 1."""
    index: int
    """Which episode of its run it is."""
    reason: str
    """Why, and what would help."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a replay found."""

    path: str
    """The file."""
    equal: int
    """Episodes whose line came out the same, to the byte."""
    different: int
    """Episodes that came out otherwise."""
    not_replayable: int
    """Episodes that could not be played again; they are neither equal nor different."""
    failed: int
    """Lines of episodes that had failed when they were played; there is nothing to replay."""
    differences: tuple[RowDifference, ...]
    """The first difference of each that differs, in the file's order."""
    unplayed: tuple[Unplayed, ...]
    """Those that could not be played again, the first 1,000 at most."""
    fault: str | None
    """What kept the rest of the file from being read; None where all was read."""

    @property
    def first(self) -> RowDifference | None:
        """The first difference of all."""
        return self.differences[0] if self.differences else None

    @property
    def proven(self) -> bool:
        """Whether all that could be played again is equal, and that is something, and the file was read to its end."""
        return self.equal > 0 and self.different == 0 and self.fault is None

    def to_json(self) -> str:
        """One line of JSON: the fields, and ``proven``."""
        return json.dumps({**asdict(self), "proven": self.proven})


def replay_file(
    path: str | PathLike[str],
    *,
    data: str | PathLike[str] | Sequence[Task] | None = None,
    env_options: Mapping[str, Any] | None = None,
    factory: EnvFactory | None = None,
    network: bool = False,
    advance: Callable[[int], object] | None = None,
) -> ReplayReport:
    """Play the episodes of a file again and compare their records, byte for byte.

    A damaged line ends it: what was read before is in the report, with the fault.

    Args:
        path: An episode file.
        data: The folder or the tasks of episodes that were played with such: their record does not say which.
        env_options: Arguments of ``gym.make`` that no record holds; see ``EnvironmentPool``.
        factory: What makes the environments, where they were made without a registered id.
        network: Whether records may name servers of tools and judges, which are then called, with the token of
            ``CALLGYM_SERVE_TOKEN``. Such tools need not answer the same again: then the difference is reported.
        advance: Is told the bytes of each line when it is done.

    Raises:
        DataError: The file is missing or a folder.
    """
    equal = failed = unplayable = 0
    differences: list[RowDifference] = []
    unplayed: list[Unplayed] = []
    fault = None
    pool = EnvironmentPool(data=data, env_options=env_options, factory=factory, network=network)
    with contextlib.closing(pool):
        for line in read_up_to_fault(Path(path)):
            if isinstance(line, str):
                fault = line
                break
            verdict = _verdict(line, pool)
            if verdict is None and line.episode is None:
                failed += 1
            elif verdict is None:
                equal += 1
            elif isinstance(verdict, RowDifference):
                differences.append(verdict)
            else:
                unplayable += 1
                unplayed += [verdict] if len(unplayed) < _MOST_REASONS else []
            if advance is not None:
                advance(len(line.raw))
    return ReplayReport(
        str(path), equal, len(differences), unplayable, failed, tuple(differences), tuple(unplayed), fault
    )


def _verdict(line: StoredLine, pool: EnvironmentPool) -> RowDifference | Unplayed | None:
    """What a line's replay comes to; None where it is equal, or there is nothing to replay."""
    if line.episode is None:
        return None
    try:
        env = pool.take(line.episode)
        difference, hint = _compared(line, line.episode, env)
    except (CallGymError, gym.error.Error) as error:
        return Unplayed(line.row, line.index, " ".join(str(error).split()))
    if difference is None:
        return None
    return RowDifference(
        row=line.row,
        index=line.index,
        env_id=line.episode.env_id,
        task_id=line.episode.task_id,
        step=_step_of(difference.path),
        path=difference.path,
        stored=difference.stored,
        replayed=difference.replayed,
        hint=hint or _hint(difference.path, env),
    )


def _compared(line: StoredLine, stored: Episode, env: ToolEnv) -> tuple[Difference | None, str]:
    """The first difference of an episode and its replay, and a hint where the path alone tells too little."""
    fault = _not_begun(stored, env)
    if fault is not None:
        return fault
    replayed = _replayed(stored, env)
    if replayed is not None and _line(line, replayed) == line.raw:
        return None, ""
    again = json.loads(_line(line, replayed or env.truncate()))
    hint = ""
    if replayed is None:  # what it was truncated for is this comparison alone
        again["ended"] = "still running"
        hint = "the recorded actions do not end the episode: steps are missing, or its ending was altered"
    if replayed is None or len(replayed.steps) < len(stored.steps):
        _take_last_reward(again, line.fields)
    difference = first_difference(line.fields, again)
    if difference is None:
        return line_difference(line.raw, _line(line, stored)), ""
    return difference, hint if difference.path == "ended" else ""


def _not_begun(stored: Episode, env: ToolEnv) -> tuple[Difference, str] | None:
    """Begin the episode; what keeps it from being one, where something does."""
    if not stored.steps:
        return Difference("steps", "[]", "(at least one)"), "no episode ends before its first action: steps are missing"
    if stored.seed < 0:
        return Difference("seed", str(stored.seed), "(0 or more)"), "no episode has such a seed: it was altered"
    try:
        env.reset(seed=stored.seed, options={"task": stored.task_id})
    except CallGymError:
        if any(task.id == stored.task_id for task in env.tasks):
            raise
        found = f"(none of {len(env.tasks)} tasks)"
        return Difference("task_id", json.dumps(stored.task_id, ensure_ascii=False), found), _OTHER_DATA
    return None


def _replayed(stored: Episode, env: ToolEnv) -> Episode | None:
    """The record of the recorded actions; None where they do not end the episode, and it was not truncated."""
    last = len(stored.steps) - 1
    for number, step in enumerate(stored.steps):
        if number == last and stored.ended == "truncated" and _is_cut(step):
            return env.truncate(step.action)
        *_, terminated, truncated, info = env.step(step.action)
        if terminated or truncated:
            episode: Episode = info["episode"]
            return episode
    return env.truncate() if stored.ended == "truncated" else None


def _is_cut(step: Step) -> bool:
    """Whether an action was cut off at its writer's limit, so that it was never run."""
    return len(step.errors) == 1 and step.errors[0].message == CUT_ACTION


def _line(line: StoredLine, episode: Episode) -> bytes:
    """A line of an episode file with another record in it."""
    return episode_line(line.index, line.policy, episode).encode()


def _take_last_reward(again: dict[str, Any], stored: dict[str, Any]) -> None:
    """The last step of an episode is paid what is left: where one ends sooner than the other, that tells nothing."""
    at = len(again["steps"]) - 1
    again["steps"][at]["reward"] = stored["steps"][at].get("reward")


def _step_of(path: str) -> int | None:
    if not path.startswith("steps["):
        return None
    return int(path[len("steps[") :].partition("]")[0])


_OTHER_DATA = "other data, or another version of it, or the record was altered"
_SCORES = "the rubric or a reward has changed, or the record was altered; callgym rescore scores episodes again"
_HINTS = {
    "prompt": f"{_OTHER_DATA}; or another version of callgym writes this prompt otherwise",
    "config": "another version of callgym has other options, or options were given here that were not given then",
    "state": "the tools or their data have changed, or the record was altered",
    "faults": "the faults of another version of callgym fall otherwise, or the record was altered",
    "(the line)": "the values are the same and are written otherwise: another program has written the line",
}
_STEP_HINTS = {
    "content": "the action was altered, or is read otherwise by another version of callgym",
    "turn": "steps were left out or added, or another version of callgym hands over otherwise",
    "results": "the tools or their data have changed, or do not give the same answer twice",
    "observation": "the record was altered, or another version of callgym writes answers otherwise",
    "reward": _SCORES,
    "": "steps were left out or added, or the episode ends sooner in another version of callgym",
}
_STEP_HINTS |= dict.fromkeys(("reasoning", "calls", "errors"), _STEP_HINTS["content"])
_HINTS |= dict.fromkeys(("rewards", "rubric", "episode_return"), _SCORES)


def _hint(path: str, env: ToolEnv) -> str:
    if path == "(the line)":
        return _HINTS[path]
    name = path.partition(".")[0].partition("[")[0]
    if name != "steps":
        return _HINTS.get(name, "the record was altered, or another version of callgym writes other records")
    field = path.partition("].")[2].partition(".")[0].partition("[")[0]
    hint = _STEP_HINTS.get(field, _HINTS["(the line)"])
    if field == "results" and env.waits:
        return "tools that are reached over a network or a process need not answer the same twice; " + hint
    return hint
