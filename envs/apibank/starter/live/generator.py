"""Seeded, endless live dialogues on API-Bank's own tools: plans are written, played once, and made Tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from random import Random
from typing import Any

from callgym.envs.apibank.live import live_task
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import starter_tables
from callgym.envs.apibank.starter.live import requirements, sentences, writers
from callgym.envs.apibank.starter.live.plans import Plan, play
from callgym.envs.apibank.starter.live.values import Draw, NothingFits
from callgym.envs.apibank.starter.worlds import SPLITS
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool_backends.ranking import get_ranker

__all__ = ["generate_dialogues", "starter_dialogues"]

_COUNTS = {"train": 2_000, "test": 300}
_LEVELS = (1, 2, 3)
_ATTEMPTS = 20
_GOLDEN = (5**0.5 - 1) / 2


def generate_dialogues(level: int, split: str, seed: int = 0) -> Iterator[Task]:
    """Endless live tasks of one level and split; no two have the same tools and user's words.

    The same arguments give the same tasks on every machine. Splits share no pair of a sentence and an
    entity, whatever the seeds. All gold calls succeed.

    Args:
        level: 1 (tools documented), 2 (tools to be searched) or 3 (one requirement, several calls).
        split: ``"train"`` or ``"test"``.
        seed: Another seed gives other tasks.

    Raises:
        ConfigurationError: There is no such level or split.
    """
    if level not in _LEVELS:
        raise ConfigurationError(f"level {level!r} of the starter dialogues does not exist; levels are 1, 2 and 3")
    if split not in SPLITS:
        raise ConfigurationError(f"split {split!r} of the starter dialogues does not exist; splits are {SPLITS}")
    return _distinct(level, split, seed)


@cache
def starter_dialogues(level: int, split: str) -> tuple[Task, ...]:
    """The starter set: 2,000 dialogues of ``"train"`` or 300 of ``"test"``, made once a process.

    Raises:
        ConfigurationError: There is no such level or split.
    """
    tasks = generate_dialogues(level, split)
    return tuple(islice(tasks, _COUNTS[split]))


@cache
def _backend(tool_set: str) -> SimulatorBackend:
    return SimulatorBackend(starter_tables(), tool_set, get_ranker("bm25"))


def _distinct(level: int, split: str, seed: int) -> Iterator[Task]:
    seen: set[bytes] = set()
    index = attempt = 0
    prefix = f"starter/L{level}/live/{split}/" + (f"seed{seed}/" if seed else "")
    while True:
        # The kind stays for some attempts, so that those of which many fail keep their share.
        key = f"live-{level}-{split}-{seed}-{index}"
        write = _writer(level, index + attempt // _ATTEMPTS)
        task = _task(f"{prefix}{index:06d}", level, Draw(Random(f"{key}-{attempt}"), split), write)
        attempt += 1
        if task is None:
            continue
        print_ = _fingerprint(task)
        if print_ not in seen:
            seen.add(print_)
            yield task
            index, attempt = index + 1, 0


def _writer(level: int, index: int) -> Callable[[Draw], Plan]:
    """The index-th task's writer: multiples of the golden ratio keep to the shares in every stretch of tasks."""
    kinds = requirements.SHARES if level == 3 else writers.SHARES[level]
    place = index * _GOLDEN % 1
    for share, write in kinds:
        place -= share
        if place < 0:
            return write
    return kinds[-1][1]


def _fingerprint(task: Task) -> bytes:
    said = [task.messages[-1].content, *(turn.content for turn in task.user_turns)]
    text = repr(([tool.name for tool in task.tools], said))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _task(name: str, level: int, draw: Draw, write: Callable[[Draw], Plan]) -> Task | None:
    """A task, or None where what was drawn does not go together."""
    backend = _backend("lv3_apis" if level == 3 else "apis")
    try:
        plan = write(draw)
        if level == 1:
            writers.show(draw, plan)
        writers.pin(draw, plan)
        turns = play(plan, draw, backend)
    except NothingFits:
        return None
    if not draw.pairs:
        return None
    meta: dict[str, Any] = {"kind": plan.kind, "source": "starter", "pairs": draw.pairs}
    if plan.pinned:
        meta["pinned"] = plan.pinned
    return live_task(
        id=name,
        split=draw.split,
        level=level,
        turns=turns,
        backend=backend,
        documented=plan.documented,
        system=sentences.SYSTEM if level < 3 else sentences.YEAR,
        initial_state=draw.state,
        meta=meta,
    )
