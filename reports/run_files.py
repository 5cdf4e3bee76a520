"""What a user names as a run, as files: episodes, several files together, a training run's folder, several seeds'::

before.jsonl                          one run, called "before"
base=a.jsonl,b.jsonl                  one run of two files
runs/demo                             "demo/before", "demo/after", and the curves of "demo"
runs/seeds  (holding seed0, seed1)    the same of all seeds together
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from callgym.errors import ConfigurationError, DataError
from callgym.reports.shown_name import distinct, shown_name

__all__ = ["LOG_NAME", "LogFiles", "RunFiles", "find_files"]

LOG_NAME = "training_log.jsonl"
"""The log of a training run, as ``callgym train`` writes it into its folder."""
_EPISODES = "episodes"
_FIRST = ("before", "after")


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The episode files of one run."""

    name: str
    """What the run is called."""
    paths: tuple[Path, ...]
    """Its files."""


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The training logs of one run, one a seed."""

    name: str
    """What the run is called."""
    paths: tuple[Path, ...]
    """The logs."""


def find_files(given: Sequence[str]) -> tuple[list[RunFiles], list[LogFiles]]:
    """The files of each run.

    Args:
        given: ``PATH``, or ``NAME=PATH[,PATH...]``; a path is a file or a folder.

    Raises:
        ConfigurationError: A name or a path is empty.
        DataError: A path does not exist, or a folder holds neither episodes nor a log.
    """
    named = [_named(text) for text in given]
    names = distinct([shown_name(name) for name, _ in named])
    episodes: list[RunFiles] = []
    logs: list[LogFiles] = []
    for name, (_, paths) in zip(names, named, strict=True):
        stages: dict[str, list[Path]] = {}
        found_logs: list[Path] = []
        for path in paths:
            _collect(path, stages, found_logs)
        episodes += [
            RunFiles(f"{name}/{shown_name(stage)}" if stage else name, tuple(stages[stage]))
            for stage in sorted(stages, key=_order)
        ]
        if found_logs:
            logs.append(LogFiles(name, tuple(found_logs)))
    unique = distinct([run.name for run in episodes])
    return [RunFiles(name, run.paths) for name, run in zip(unique, episodes, strict=True)], logs


def _named(text: str) -> tuple[str, list[Path]]:
    """The name and the paths; a text that is a path as it stands has no name in it."""
    if Path(text).exists():
        return _stem(Path(text)), [Path(text)]
    name, equals, rest = text.partition("=")
    if not equals:
        raise DataError(
            f"{text} does not exist; give a file of episodes, as a run with out=FILE writes it, or a folder"
        )
    paths = [Path(part) for part in rest.split(",")]
    if not name.strip() or not all(rest.split(",")):
        raise ConfigurationError(f"{text!r} is not of the form NAME=FILE[,FILE...]")
    return name.strip(), paths


def _stem(path: Path) -> str:
    return (path.stem if path.is_file() else path.resolve().name) or str(path)


def _collect(path: Path, stages: dict[str, list[Path]], logs: list[Path]) -> None:
    if path.is_file() and path.name == LOG_NAME:
        logs.append(path)
    elif not path.is_dir():  # a missing file is the reader's to name
        stages.setdefault("", []).append(path)
    elif not _collect_folder(path, stages, logs):
        inner = [_collect_folder(folder, stages, logs) for folder in sorted(path.iterdir()) if folder.is_dir()]
        if not any(inner):
            raise DataError(
                f"{path} holds no {_EPISODES}*.jsonl and no {LOG_NAME}, nor does a folder in it; give the folder that "
                "callgym train --out wrote, or files of episodes"
            )


def _collect_folder(folder: Path, stages: dict[str, list[Path]], logs: list[Path]) -> bool:
    """Add what a training run's folder holds; False where that is nothing."""
    found = [path for path in sorted(folder.glob(f"{_EPISODES}*.jsonl")) if not path.name.endswith(".times.jsonl")]
    for path in found:
        stages.setdefault(path.stem.removeprefix(_EPISODES).strip("_-."), []).append(path)
    log = folder / LOG_NAME
    if log.is_file():
        logs.append(log)
    return bool(found) or log.is_file()


def _order(stage: str) -> tuple[int, str]:
    """Before comes before after, and both before the rest."""
    return (_FIRST.index(stage), stage) if stage in _FIRST else (len(_FIRST), stage)


def all_paths(runs: Iterable[RunFiles]) -> list[Path]:
    """Every file of the runs."""
    return [path for run in runs for path in run.paths]
