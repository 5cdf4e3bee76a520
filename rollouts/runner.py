"""The runner: many episodes side by side, every policy call a batch, here or on Ray workers::

    result = run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=100, out="episodes.jsonl")
    print(result.summary.table())
    result = run_episodes(..., workers=RayWorkers(8))  # the same episodes, byte for byte

Each episode is written as it ends. Run the same command again after an interruption and it goes on where
it stopped: episodes in the file are not played again, a line that was cut off is played anew.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TextIO

import gymnasium as gym

from callgym import terminal
from callgym.episode import Episode
from callgym.errors import ConfigurationError, DataError
from callgym.rollouts.episodes import cut_torn_tail, read_rows, write_episode, write_failure
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.local_stage import LocalStage
from callgym.rollouts.plan import Plan
from callgym.rollouts.play import play
from callgym.rollouts.policy import Policy
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.retries import Retries
from callgym.rollouts.stage import Failed, Failure, Stage, Start, StepTimes
from callgym.rollouts.summary import Summary, summarise
from callgym.rollouts.timings import open_times, times_path, write_times

__all__ = ["EnvFactory", "Played", "RolloutResult", "Rollouts", "run_episodes"]

EnvFactory = Callable[..., gym.Env[Any, Any]]
"""Makes an environment from ``env_options``."""


@dataclass(frozen=True, slots=True)
class Played:
    """One episode of a run, or why there is none."""

    index: int
    """Which one."""
    episode: Episode | None
    """Its record."""
    failure: Failure | None = None
    """Why there is no record."""
    times: tuple[StepTimes, ...] | None = field(default=None, compare=False)
    """Seconds of each step, of the try that counted; see ``callgym.rollouts.timings``."""


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
    """Every episode that came to its end, by index; the same whatever the batch size and the workers were."""
    resumed: int
    """How many of them an interrupted run had left in the file."""
    seconds: float
    """How long this run took, by the clock."""
    failures: Mapping[int, Failure] = field(default_factory=dict)
    """Index to why that episode could not be played."""
    again: int = 0
    """Episodes that were begun again, because a worker or a step was lost."""

    @property
    def summary(self) -> Summary:
        """The run in numbers."""
        failed = [failure.kind for _, failure in sorted(self.failures.items())]
        return summarise(self.episodes, id=self.env_id, policy=self.policy, seed=self.seed, failed=failed)


class Rollouts:
    """Episodes of one plan as a stream, for whoever does not want to keep them all::

        with Rollouts("apibank/L1-v0", policy, workers=RayWorkers(4)) as rollouts:
            for played in rollouts.stream(range(100_000)):
                ...

    Nothing is begun that nobody asks for: no more episodes are under way than there are seats, and where the results
    are not taken, no new ones begin.
    """

    def __init__(
        self,
        env_id_or_factory: str | EnvFactory,
        policy: Policy,
        *,
        seed: int = 0,
        batch_size: int = 32,
        seats: int | None = None,
        env_options: dict[str, Any] | None = None,
        workers: RayWorkers | int | None = None,
        limits: RolloutLimits | None = None,
    ) -> None:
        """Make what the episodes are played in; the arguments are those of ``run_episodes``.

        Raises:
            ConfigurationError: An argument has a value it cannot have, or there is no such environment.
            MissingPackageError: Workers are asked for, and Ray is not installed.
        """
        _check_number("seed", seed, 0)
        _check_number("batch_size", batch_size, 1)
        if seats is not None:
            _check_number("seats", seats, 1)
        self._policy = policy
        self._batch_size = batch_size
        maker = functools.partial(_make_env, env_id_or_factory, env_options or {})
        local = LocalStage({"": maker}, seats or batch_size, limits)
        self._stage: Stage = local
        self._retries: Retries | None = None
        self._streaming = False
        self.plan = Plan.of(local.seat().tool_env, policy.name, seed)
        """What the episodes are."""
        try:
            if workers is not None:
                workers = RayWorkers(workers) if isinstance(workers, int) else workers
                self._stage = workers.open({"": maker}, policy, limits or RolloutLimits(), seats or 2 * batch_size)
                local.close()
        except BaseException:
            with contextlib.ExitStack() as closing:
                closing.callback(local.close)
                if self._stage is not local:
                    closing.callback(self._stage.close)
            raise
        if workers is not None or limits is not None:
            self._stage = self._retries = Retries(self._stage, (limits or RolloutLimits()).attempts)

    @property
    def again(self) -> int:
        """Episodes that were begun again so far."""
        return 0 if self._retries is None else self._retries.again

    def stream(self, indices: Iterable[int], *, order: Literal["finished", "index"] = "finished") -> Generator[Played]:
        """These episodes of the plan.

        Args:
            indices: Which ones; drawn as seats become free.
            order: ``finished``: each as it ends. ``index``: in the order of ``indices``; at most four times the seats
                wait for one that takes long, then no more begin.

        A stream that is closed early, or broken off by an exception, drops what is under way.

        Raises:
            ConfigurationError: The policy gave no action for each situation, or another stream of this object is open.
        """
        if order not in ("finished", "index"):
            raise ConfigurationError(f"order is 'finished' or 'index', got {order!r}")
        if self._streaming:
            raise ConfigurationError("one stream at a time: close() the one before, or make another Rollouts")
        self._streaming = True
        try:
            yield from self._finished(self._starts(indices)) if order == "finished" else self._in_order(indices)
        finally:
            self._streaming = False
            self._stage.drop()

    def _in_order(self, indices: Iterable[int]) -> Iterator[Played]:
        wanted: deque[int] = deque()
        done: dict[int, Played] = {}
        limit = 4 * max(1, self._stage.free)
        for played in self._finished(_within(self._starts(indices), wanted, limit)):
            done[played.index] = played
            while wanted and wanted[0] in done:
                yield done.pop(wanted.popleft())

    def _finished(self, starts: Iterator[Start | None]) -> Iterator[Played]:
        for outcome in play(self._stage, self._policy, starts, self._batch_size):
            if isinstance(outcome, Failed):
                yield Played(outcome.key, None, outcome.failure)
            else:
                yield Played(outcome.key, outcome.episode, times=outcome.times)

    def _starts(self, indices: Iterable[int]) -> Iterator[Start]:
        return (Start(index, self.plan.task(index), self.plan.episode_seed(index)) for index in indices)

    def close(self) -> None:
        """Close the environments, and the workers where they are this object's own; the policy too."""
        with contextlib.ExitStack() as closing:  # one that fails to close keeps no other from it
            closing.callback(self._policy.close)
            closing.callback(self._stage.close)

    def __enter__(self) -> Rollouts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_episodes(
    env_id_or_factory: str | EnvFactory,
    policy: Policy,
    *,
    episodes: int,
    seed: int = 0,
    batch_size: int = 32,
    seats: int | None = None,
    env_options: dict[str, Any] | None = None,
    workers: RayWorkers | int | None = None,
    limits: RolloutLimits | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    resume: bool = True,
    times: bool = False,
) -> RolloutResult:
    """Play ``episodes`` episodes.

    Episode k plays the k-th task of a random order of all tasks (a fresh order each pass) with a seed of
    its own; both follow from ``seed`` and k alone.

    Args:
        env_id_or_factory: A registered id, or a function that makes the environment.
        policy: What acts. It is closed at the end, and can be used again.
        episodes: How many; a file with fewer is continued, from one with more the first are taken.
        seed: The run's seed.
        batch_size: Most situations in one ``policy.act``.
        seats: Most episodes side by side; ``batch_size`` by default, and twice that on workers. With more seats than
            a batch holds, the tools of some episodes run while the policy writes for others.
        env_options: Arguments of ``gym.make``, or of the factory.
        workers: Play on Ray: how many workers, or ``RayWorkers``; in this process by default.
        limits: How long steps and episodes may take, and how often a broken one is tried. With limits, and always on
            workers, an episode that breaks is a failure on record and stops no other; without, a bug in an
            environment comes out of this function.
        out: Where each episode is written as it ends; see ``callgym.rollouts.episodes``.
        progress: Show a bar on stderr, where that is a terminal.
        resume: Whether to continue ``out``; else it is written anew. Episodes that failed are tried again.
        times: Whether to put down beside ``out`` how long each step took; see ``callgym.rollouts.timings``.

    Raises:
        ConfigurationError: An argument has a value it cannot have, or the policy gave no action for
            each situation.
        DataError: ``out`` is damaged or belongs to another run; the message names row and mend.
        MissingPackageError: Workers are asked for, and Ray is not installed.
    """
    _check_number("episodes", episodes, 1)
    if times and out is None:
        raise ConfigurationError("times=True writes beside the file of episodes: give out=FILE, too")
    started = time.perf_counter()
    closing = contextlib.ExitStack()
    closing.callback(policy.close)
    with closing:
        rollouts = Rollouts(
            env_id_or_factory,
            policy,
            seed=seed,
            batch_size=batch_size,
            seats=seats,
            env_options=env_options,
            workers=workers,
            limits=limits,
        )
        closing.pop_all()
        closing.callback(rollouts.close)
        plan = rollouts.plan
        path = None if out is None else Path(out)
        done = _read_done(path, plan) if path is not None and resume else {}
        done = {index: episode for index, episode in done.items() if index < episodes}
        resumed = len(done)
        failures: dict[int, Failure] = {}
        waiting = [index for index in range(episodes) if index not in done]
        with (
            _open_out(path, resume) as file,
            _open_times(path, times) as clock,
            _progress(progress, plan.env_id, episodes, resumed) as advance,
        ):
            for played in rollouts.stream(waiting):
                if file is not None:
                    _write(file, plan, played)
                if clock is not None and played.times is not None:
                    write_times(clock, played.index, played.times)
                if played.failure is not None:
                    failures[played.index] = played.failure
                else:
                    done[played.index] = _known(played.episode)
                advance(1)
    return RolloutResult(
        env_id=plan.env_id,
        policy=policy.name,
        seed=seed,
        episodes=tuple(done[index] for index in sorted(done)),
        resumed=resumed,
        seconds=time.perf_counter() - started,
        failures=failures,
        again=rollouts.again,
    )


def _within(starts: Iterator[Start], wanted: deque[int], limit: int) -> Iterator[Start | None]:
    """No more starts than ``limit`` beyond the first whose end is still waited for."""
    for start in starts:
        while len(wanted) >= limit:
            yield None
        wanted.append(start.key)
        yield start


def _write(file: TextIO, plan: Plan, played: Played) -> None:
    if played.failure is None:
        write_episode(file, played.index, plan.policy, _known(played.episode))
    else:
        where = plan.task_ids[plan.task(played.index)], plan.episode_seed(played.index)
        write_failure(file, played.index, plan.policy, plan.env_id, *where, played.failure)


def _known(episode: Episode | None) -> Episode:
    assert episode is not None
    return episode


def _make_env(env_id_or_factory: str | EnvFactory, options: dict[str, Any]) -> gym.Env[Any, Any]:
    if isinstance(env_id_or_factory, str):
        # The checker would warn of the NaN that stands for a return that is not known.
        return gym.make(env_id_or_factory, **{"disable_env_checker": True, **options})
    return env_id_or_factory(**options)


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


def _check_number(name: str, value: Any, least: int) -> None:
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
def _open_times(path: Path | None, wanted: bool) -> Iterator[TextIO | None]:
    """The file of times beside that of episodes; where the latter begins anew, no old times are kept."""
    if path is None:
        yield None
        return
    begun = path.stat().st_size > 0
    if not wanted:
        if not begun:
            times_path(path).unlink(missing_ok=True)
        yield None
        return
    with open_times(times_path(path), begun) as file:
        yield file


def _progress(
    wanted: bool, label: str, length: int, done: int
) -> contextlib.AbstractContextManager[Callable[[int], object]]:
    return terminal.progress(label, length, done=done) if wanted else contextlib.nullcontext(lambda _: None)
