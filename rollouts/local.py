"""The local runner: many episodes side by side in one process, every policy call a batch::

    result = run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=100, out="episodes.jsonl")
    print(result.summary.table())

Each episode is written as it ends. Run the same command again after an interruption and it goes on where
it stopped: episodes in the file are not played again, a line that was cut off is played anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import click
import gymnasium as gym

from callgym.episode import Episode
from callgym.errors import ConfigurationError, DataError
from callgym.rollouts.episodes import cut_torn_tail, read_rows, write_episode
from callgym.rollouts.plan import Plan
from callgym.rollouts.policy import Policy
from callgym.rollouts.seat import Seat
from callgym.rollouts.summary import Summary, summarise
from callgym.tool_backends.portal import portal

__all__ = ["EnvFactory", "RolloutResult", "run_episodes"]

EnvFactory = Callable[..., gym.Env[Any, Any]]
"""Makes an environment from ``env_options``."""


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """What a run gives."""

    env_id: str
    """The environment."""
    policy: str
    """The policy's name."""
    seed: int
    """The run's seed."""
    episodes: tuple[Episode, ...]
    """Every episode, by index; the same whatever the batch size was."""
    resumed: int
    """How many of them an interrupted run had left in the file."""
    seconds: float
    """How long this run took, by the clock."""

    @property
    def summary(self) -> Summary:
        """The run in numbers."""
        return summarise(self.episodes, id=self.env_id, policy=self.policy, seed=self.seed)


def run_episodes(
    env_id_or_factory: str | EnvFactory,
    policy: Policy,
    *,
    episodes: int,
    seed: int = 0,
    batch_size: int = 32,
    env_options: dict[str, Any] | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    resume: bool = True,
) -> RolloutResult:
    """Play ``episodes`` episodes.

    Episode k plays the k-th task of a random order of all tasks (a fresh order each pass) with a seed of
    its own; both follow from ``seed`` and k alone.

    Args:
        env_id_or_factory: A registered id, or a function that makes the environment.
        policy: What acts. It is closed at the end, and can be used again.
        episodes: How many; a file with fewer is continued, from one with more the first are taken.
        seed: The run's seed.
        batch_size: Most episodes side by side, and so the most situations in one ``policy.act``.
        env_options: Arguments of ``gym.make``, or of the factory.
        out: Where each episode is written as it ends; see ``callgym.rollouts.episodes``.
        progress: Show a bar on stderr, where that is a terminal.
        resume: Whether to continue ``out``; else it is written anew.

    Raises:
        ConfigurationError: An argument has a value it cannot have, or the policy gave no action for
            each situation.
        DataError: ``out`` is damaged or belongs to another run; the message names row and mend.
    """
    _check_arguments(episodes, seed, batch_size)
    started = time.perf_counter()
    seats: list[Seat] = []
    try:
        seats.append(_make_seat(env_id_or_factory, env_options))
        plan = Plan.of(seats[0].tool_env, policy.name, seed)
        path = None if out is None else Path(out)
        done = _read_done(path, plan) if path is not None and resume else {}
        done = {index: episode for index, episode in done.items() if index < episodes}
        resumed = len(done)
        waiting = [index for index in range(episodes) if index not in done]
        while len(seats) < min(batch_size, len(waiting)):
            seats.append(_make_seat(env_id_or_factory, env_options))
        with _open_out(path, resume) as file, _progress(progress, plan.env_id, episodes, resumed) as advance:
            for index, episode in _play(seats, policy, plan, waiting):
                if file is not None:
                    write_episode(file, index, policy.name, episode)
                done[index] = episode
                advance(1)
    finally:
        with contextlib.ExitStack() as closing:  # one that fails to close keeps no other from it
            closing.callback(policy.close)
            for seat in seats:
                closing.callback(seat.close)
    return RolloutResult(
        env_id=plan.env_id,
        policy=policy.name,
        seed=seed,
        episodes=tuple(done[index] for index in range(episodes)),
        resumed=resumed,
        seconds=time.perf_counter() - started,
    )


def _play(seats: list[Seat], policy: Policy, plan: Plan, waiting: list[int]) -> Iterator[tuple[int, Episode]]:
    """(index, episode) of each episode as it ends."""
    active = seats[: len(waiting)]
    for seat, index in zip(active, waiting, strict=False):
        seat.start(plan, index)
    to_start = iter(waiting[len(active) :])
    while active:
        actions = policy.act([seat.situation() for seat in active])
        if len(actions) != len(active):
            raise ConfigurationError(
                f"policy {policy.name!r} gave {len(actions)} actions for {len(active)} situations; act() "
                "returns one for each, in order"
            )
        still: list[Seat] = []
        for seat, episode in zip(active, _step_all(active, actions), strict=True):
            if episode is None:
                still.append(seat)
                continue
            yield seat.index, episode
            following = next(to_start, None)
            if following is not None:
                seat.start(plan, following)
                still.append(seat)
        active = still


def _step_all(seats: Sequence[Seat], actions: Sequence[str]) -> Iterable[Episode | None]:
    """Every seat takes its action: one after another, or side by side where tools wait."""
    if not any(seat.waits for seat in seats):
        return map(Seat.step, seats, actions)
    return portal().run(_step_beside(seats, actions))


async def _step_beside(seats: Sequence[Seat], actions: Sequence[str]) -> list[Episode | None]:
    outcomes = await asyncio.gather(*map(Seat.astep, seats, actions), return_exceptions=True)
    for outcome in outcomes:  # all of them have come to an end before the first fault is raised
        if isinstance(outcome, BaseException):
            raise outcome
    return outcomes  # type: ignore[return-value]


def _make_seat(env_id_or_factory: str | EnvFactory, env_options: dict[str, Any] | None) -> Seat:
    options = env_options or {}
    if isinstance(env_id_or_factory, str):
        # The checker would warn of the NaN that stands for a return that is not known.
        return Seat(gym.make(env_id_or_factory, **{"disable_env_checker": True, **options}))
    return Seat(env_id_or_factory(**options))


def _read_done(path: Path, plan: Plan) -> dict[int, Episode]:
    """The episodes that an earlier run of the same plan left in the file."""
    if not path.exists():
        return {}
    done = {}
    for row in read_rows(path, allow_torn_tail=True):
        fault = plan.misfit(row.index, row.policy, row.episode)
        if fault is not None:
            raise DataError(
                f"{path}, row {row.row}: {fault}; the file is of another run: give another file, move this one "
                "away, or write it anew with resume=False"
            )
        done[row.index] = row.episode
    cut_torn_tail(path)
    return done


def _check_arguments(episodes: Any, seed: Any, batch_size: Any) -> None:
    for name, value, least in (("episodes", episodes, 1), ("seed", seed, 0), ("batch_size", batch_size, 1)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ConfigurationError(f"{name} is a whole number of at least {least}, got {value!r}")


@contextlib.contextmanager
def _open_out(path: Path | None, resume: bool) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if resume else "w", encoding="utf-8", newline="\n") as file:
        yield file


@contextlib.contextmanager
def _progress(wanted: bool, label: str, length: int, done: int) -> Iterator[Callable[[int], None]]:
    if not (wanted and sys.stderr.isatty()):
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        bar.update(done)
        yield bar.update
