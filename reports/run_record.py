"""A run as a report needs it: of each episode the numbers, and how it was played; the texts are left in the files.

run = read_run(RunFiles("before", (Path("before.jsonl"),)))
print(len(run.episodes), run.faults)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from callgym.episode import Episode
from callgym.reports.run_files import RunFiles
from callgym.reports.shown_name import shown_name
from callgym.rollouts.stored_lines import read_up_to_fault

__all__ = ["EpisodeNumbers", "RunRecord", "read_run"]

_MOST = 1e6  # no rubric pays that; sums of such values would overflow
_NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EpisodeNumbers:
    """What a report needs of one episode."""

    env_id: str
    """The environment."""
    task_id: str
    """The task."""
    seed: int
    """Its seed."""
    episode_return: float | None
    """None where it could not be computed."""
    scores: Mapping[str, float | None]
    """The rewards that apply; None where one could not be computed."""
    steps: int
    """Actions taken."""
    truncated: bool
    """Whether it was cut short."""
    errors: Mapping[str, int]
    """Kind of error to how often: actions that could not be read, and calls that failed."""


@dataclass(slots=True)
class RunRecord:
    """What was read of one run."""

    name: str
    """What it is called."""
    paths: tuple[str, ...]
    """Its files."""
    episodes: list[EpisodeNumbers] = field(default_factory=list)
    """Those that were played to an end."""
    failed: Counter[str] = field(default_factory=Counter)
    """Kind of failure to the number of episodes that broke, and were not played later."""
    policies: Counter[str] = field(default_factory=Counter)
    """Policies by episodes."""
    settings: dict[str, Counter[str]] = field(default_factory=dict)
    """How the episodes were played: ``rubric``, ``data``, and every option on record, to values by episodes."""
    rewards: dict[str, None] = field(default_factory=dict)
    """Names of all rewards, in the order in which they are first met; also of those that never apply."""
    ends: list[int] = field(default_factory=list)
    """For each file, how many episodes there are up to its end."""
    faults: list[str] = field(default_factory=list)
    """What kept the rest of a file from being read, with the file's name."""


def read_run(files: RunFiles, advance: Callable[[int], object] | None = None) -> RunRecord:
    """Read the episodes of a run, each file up to its fault.

    Args:
        files: The run.
        advance: Is told the bytes of every line when it is read.

    Raises:
        DataError: A file is missing or a folder.
    """
    run = RunRecord(files.name, tuple(str(path) for path in files.paths))
    for path in files.paths:
        _read_file(path, run, advance)
        run.ends.append(len(run.episodes))
    return run


def _read_file(path: Path, run: RunRecord, advance: Callable[[int], object] | None) -> None:
    played: set[int] = set()
    failed: dict[int, str] = {}
    settings: Counter[tuple[str, str, str]] = Counter()
    for line in read_up_to_fault(path):
        if isinstance(line, str):
            run.faults.append(line)
            break
        if line.episode is None:
            failed[line.index] = shown_name(line.fields["failure"]["kind"])
        else:
            played.add(line.index)
            run.policies[shown_name(line.policy) or "(no name)"] += 1
            settings[line.episode.rubric, line.episode.data, json.dumps(line.episode.config, sort_keys=True)] += 1
            _add(run, line.episode)
        if advance is not None:
            advance(len(line.raw))
    # A line of a failed episode that was played in the end is an earlier try.
    run.failed.update(kind for index, kind in failed.items() if index not in played)
    for (rubric, data, config), count in settings.items():
        for name, value in {"rubric": rubric, "data": data, **json.loads(config)}.items():
            written = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            run.settings.setdefault(shown_name(name), Counter())[shown_name(written)] += count


def _add(run: RunRecord, episode: Episode) -> None:
    scores = {shown_name(name): score for name, score in episode.rewards.items()}
    run.rewards.update(dict.fromkeys(scores))
    run.episodes.append(
        EpisodeNumbers(
            env_id=shown_name(episode.env_id),
            task_id=shown_name(episode.task_id),
            seed=episode.seed,
            episode_return=_usable(episode.episode_return),
            scores={name: score.value for name, score in scores.items() if score.applies},
            steps=len(episode.steps),
            truncated=episode.ended == "truncated",
            errors=_errors(episode),
        )
    )


def _usable(value: float | None) -> float | None:
    return value if value is not None and abs(value) < _MOST else None


def _errors(episode: Episode) -> Mapping[str, int]:
    kinds: list[str] = [error.kind for step in episode.steps for error in step.errors]
    kinds += [result.error for step in episode.steps for result in step.results if result.error is not None]
    return Counter(kinds) if kinds else _NONE
