"""The stage on Ray: a driver's view of its workers.

Ray retries nothing here: an actor that is started again has lost its episodes, and a step on it would be a step in
nothing. A worker that is lost is replaced by a new one, and its episodes come out as ``Failed``; ``Retries`` begins
them again from their seeds.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from callgym.errors import ConfigurationError, MissingPackageError, in_one_line
from callgym.rollouts.ray.worker import Batch, Recipe, Worker, packed_recipe
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.stage import Act, Ended, Failed, Failure, Outcome, Start, Turn

__all__ = ["RayStage", "connect", "disconnect", "first_line", "import_ray"]

_connecting = threading.Lock()
_holders: set[object] = set()

_MOST_CALLS = 2
_TICK_SECONDS = 0.5
_SILENT_SECONDS = 10.0
_MOST_STARTS_IN_VAIN = 3


@dataclass(slots=True, eq=False)
class _Hand:
    """A worker as the driver sees it."""

    number: int
    actor: Any
    ready: Any
    """Reference of ``ready``, until it has answered."""
    born: float
    told: dict[str, Any] = field(default_factory=dict)
    keys: dict[int, int] = field(default_factory=dict)
    """Episodes it plays, and what they are called there: what was dropped and begun again is another one."""
    alone: bool = False
    batch: Batch = field(default_factory=Batch)
    calls: dict[Any, float] = field(default_factory=dict)
    """Exchanges under way, and since when."""
    exchanges: int = 0
    """How many were begun so far."""
    asked: tuple[Any, float] | None = None
    """A question what it is stepping, and since when."""


class RayStage:
    """Plays episodes on Ray workers."""

    def __init__(self, workers: RayWorkers, recipe: Recipe) -> None:
        """Start the workers and wait for the first.

        Raises:
            ConfigurationError: There is no cluster, no room in it, or a worker cannot do what the recipe says.
            MissingPackageError: Ray is not installed.
        """
        self._ray = import_ray()
        self._workers = workers
        self._limits = recipe.limits
        self._each = recipe.episodes
        self._hands: list[_Hand] = []
        self._outcomes: deque[Outcome] = deque()
        self._where: dict[int, _Hand] = {}
        self._called: dict[int, int] = {}
        self._begun = 0
        self._before: dict[int, int] = {}
        self._waits_for_action: set[int] = set()
        self._queued: deque[Start] = deque()
        self._numbers = 0
        self._in_vain = 0
        self.lost = 0
        """Workers lost so far."""
        import ray.cloudpickle

        packed = packed_recipe(recipe, ray.cloudpickle.dumps)
        self._connection = connect(self._ray, workers)
        try:
            self._actor_class = self._ray.remote(
                num_cpus=workers.cpus,
                max_restarts=0,
                max_task_retries=0,
                concurrency_groups={"exchange": _MOST_CALLS, "watch": 1},
            )(Worker)
            self._stored = self._ray.put(packed)
            for _ in range(workers.count):
                self._hire()
            self._await_first()
        except BaseException as error:
            self.close()
            if isinstance(error, self._ray.exceptions.RayError):
                raise self._explained(error) from error
            raise

    @property
    def free(self) -> int:
        """How many more episodes can be started now."""
        return len(self._hands) * self._each - len(self._where) - len(self._queued)

    @property
    def waiting(self) -> int:
        """Episodes whose next outcome is still to come.

        Those in the queue are among them only where a worker has, or may yet have, room for them: where all seats wait
        for actions, it is the caller's turn.
        """
        queued = len(self._queued) if self._has_room() else 0
        return len(self._where) + queued + len(self._outcomes) - len(self._waits_for_action)

    def _has_room(self) -> bool:
        """Whether something of the queue can begin without an action in between."""
        if any(hand.ready is not None for hand in self._hands):
            return True
        kinds = {start.alone: start for start in self._queued}
        return any(self._hand_for(start) is not None for start in kinds.values())

    def start(self, starts: Sequence[Start]) -> None:
        """Begin episodes, each on the worker that has the fewest."""
        self._queued.extend(starts)
        self._assign()

    def act(self, acts: Sequence[Act]) -> None:
        """Take an action in each of these episodes. One for an episode that was lost meanwhile is passed over."""
        for act in acts:
            if act.key in self._waits_for_action:
                self._waits_for_action.discard(act.key)
                hand = self._where[act.key]
                hand.batch.acts.append(replace(act, key=hand.keys[act.key]))
        self._send()
        if any(hand.batch for hand in self._hands):  # all its calls are under way; those that have ended make room
            self._collect(0.0)
            self._send()

    def truncate(self, keys: Sequence[int]) -> None:
        """End episodes where they stand."""
        for key in keys:
            if key in self._waits_for_action:
                self._waits_for_action.discard(key)
                hand = self._where[key]
                hand.batch.truncates.append(hand.keys[key])
        self._send()

    def outcomes(self, timeout: float | None = None) -> list[Outcome]:
        """What has come of what was begun.

        Raises:
            ConfigurationError: Workers are lost as fast as they are started, or the policy on a worker failed.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self._outcomes and self.waiting:
            self._assign()
            self._send()
            left = _TICK_SECONDS if until is None else min(_TICK_SECONDS, until - time.monotonic())
            self._collect(max(0.0, left))
            if until is not None and time.monotonic() >= until:
                break
        found = list(self._outcomes)
        self._outcomes.clear()
        self._send()  # what ends while the policy writes finds a call that waits for it
        return found

    def drop(self) -> None:
        """Forget the episodes under way. Where workers write the actions, what has begun there plays on, unheard."""
        for hand in self._hands:
            if hand.keys:
                hand.batch = Batch(drop=True)
            hand.keys.clear()
            hand.alone = False
        for forgotten in (self._where, self._called, self._before, self._queued, self._outcomes):
            forgotten.clear()
        self._waits_for_action.clear()
        self._send()

    @property
    def processes(self) -> list[dict[str, Any]]:
        """What each worker that is there has said of itself: ``pid``, and whether it has loaded ``torch``."""
        return [hand.told for hand in self._hands if hand.ready is None]

    def close(self) -> None:
        """End the workers; episodes under way are dropped. A cluster that was started for them ends, too."""
        hands, self._hands = self._hands, []
        self.drop()
        for hand in hands:
            self._kill(hand)
        disconnect(self._ray, self._connection)

    # Workers come and go.

    def _hire(self) -> None:
        self._numbers += 1
        actor = self._actor_class.remote(self._stored, self._workers.imports)
        ready = actor.ready.options(concurrency_group="watch").remote()
        self._hands.append(_Hand(self._numbers, actor, ready, time.monotonic()))

    def _await_first(self) -> None:
        refs = [hand.ready for hand in self._hands]
        done, _ = self._ray.wait(refs, num_returns=1, timeout=self._workers.start_seconds)
        if not done:
            raise self._no_room()
        for ref in done:
            self._greet(ref)

    def _greet(self, ref: Any) -> None:
        hand = next(hand for hand in self._hands if hand.ready is ref)
        try:
            hand.told = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._suffer(hand, error)
            return
        hand.ready = None
        self._in_vain = 0

    def _lose(self, hand: _Hand, error: Exception) -> None:
        """A worker is gone: its episodes come out as failed, and another takes its place."""
        self.lost += 1
        words = f"worker {hand.number} was lost: {first_line(error)}"
        in_vain = hand.ready is not None
        for key in list(hand.keys):
            self._forget(key, Failed(key, Failure("worker_lost", words), blamed=not in_vain))
        self._in_vain += in_vain
        if not in_vain or self._in_vain < _MOST_STARTS_IN_VAIN * self._workers.count:
            self._replace(hand)
            return
        self._dismiss(hand)
        if all(other.ready is not None for other in self._hands):
            raise ConfigurationError(
                f"{self._in_vain} workers were lost one after another before they were ready; the last: "
                f"{first_line(error)}"
            )

    def _suffer(self, hand: _Hand, error: Exception) -> None:
        """What came of a call in place of an answer: the worker's end, or the run's.

        Raises:
            ConfigurationError: What no other worker would do better.
            RuntimeError: A worker's own code failed.
        """
        kinds = self._ray.exceptions
        lost = (
            kinds.RayActorError,
            kinds.ObjectLostError,  # what it sent went down with its machine
            kinds.NodeDiedError,
            kinds.OutOfMemoryError,
            kinds.TaskCancelledError,  # an interrupt, which a tool may have raised
        )
        cause = error.cause if isinstance(error, kinds.RayTaskError) else None
        if isinstance(error, lost) or isinstance(cause, lost):
            self._lose(hand, error if cause is None else cause)
            return
        if isinstance(cause, ConfigurationError):
            raise ConfigurationError(f"worker {hand.number}: {cause}") from None
        if cause is not None:
            raise RuntimeError(f"a bug in worker {hand.number}: {in_one_line(cause)}") from error
        raise self._explained(error) from error

    def _replace(self, hand: _Hand) -> None:
        self._dismiss(hand)
        self._hire()

    def _dismiss(self, hand: _Hand) -> None:
        self._kill(hand)
        self._hands.remove(hand)

    def _kill(self, hand: _Hand) -> None:
        if not self._ray.is_initialized():  # else Ray would start a cluster to end it in
            return
        with contextlib.suppress(Exception):  # it may be gone already
            self._ray.kill(hand.actor, no_restart=True)

    # Episodes come and go.

    def _assign(self) -> None:
        """Give what is queued to the workers that have room for it."""
        for _ in range(len(self._queued)):
            start = self._queued.popleft()
            hand = self._hand_for(start)
            if hand is None:
                self._queued.append(start)
                continue
            self._begun = called = self._begun + 1
            hand.keys[start.key] = called
            hand.alone = start.alone
            hand.batch.starts.append(replace(start, key=called))
            self._where[start.key] = hand
            self._called[called] = start.key

    def _hand_for(self, start: Start) -> _Hand | None:
        if start.alone:
            empty = [hand for hand in self._hands if not hand.keys]
            return min(empty, key=self._burden(start), default=None)
        room = [hand for hand in self._hands if not hand.alone and len(hand.keys) < self._each]
        there = [hand for hand in room if hand.ready is None]
        return min(there or room, key=self._burden(start), default=None)

    def _burden(self, start: Start) -> Any:
        """Fewest episodes first; the worker on which it broke before comes last among equals."""
        before = self._before.get(start.key)
        return lambda hand: (hand.ready is not None, len(hand.keys), hand.number == before)

    def _forget(self, key: int, outcome: Ended | Failed) -> None:
        """An episode is over, or broken."""
        hand = self._where.pop(key)
        del self._called[hand.keys.pop(key)]
        hand.alone = False
        self._waits_for_action.discard(key)
        if isinstance(outcome, Failed):
            self._before[key] = hand.number
        else:
            self._before.pop(key, None)
        self._outcomes.append(outcome)

    # Messages.

    def _send(self) -> None:
        for hand in self._hands:
            if hand.ready is not None:
                continue
            busy = any(key not in self._waits_for_action for key in hand.keys)
            if (hand.batch and len(hand.calls) < _MOST_CALLS) or (busy and not hand.calls):
                hand.exchanges += 1
                exchange = hand.actor.exchange.options(concurrency_group="exchange")
                ref = exchange.remote(hand.exchanges, hand.batch)
                hand.calls[ref] = time.monotonic()
                hand.batch = Batch()

    def _collect(self, timeout: float) -> None:
        by_ref = {ref: hand for hand in self._hands for ref in hand.calls}
        newcomers = [hand.ready for hand in self._hands if hand.ready is not None]
        refs = [*by_ref, *newcomers]
        if not refs:
            time.sleep(min(timeout, 0.05))
            return
        done, _ = self._ray.wait(refs, num_returns=1, timeout=timeout)
        more, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in {*done, *more}:
            if ref in by_ref:
                self._receive(by_ref[ref], ref)
            elif any(hand.ready is ref for hand in self._hands):
                self._greet(ref)
        self._watch()

    def _receive(self, hand: _Hand, ref: Any) -> None:
        if hand not in self._hands:
            return  # lost while others were received
        try:
            packed = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._suffer(hand, error)
            return
        hand.calls.pop(ref, None)
        for outcome in map(pickle.loads, packed):
            key = self._called.get(outcome.key)
            if key is None:  # dropped meanwhile
                continue
            outcome = replace(outcome, key=key)
            if isinstance(outcome, Turn):
                self._waits_for_action.add(key)
                self._outcomes.append(outcome)
            else:
                self._forget(key, outcome)

    # Steps that hold their process for ever.

    def _watch(self) -> None:
        now = time.monotonic()
        for hand in list(self._hands):
            if hand.ready is not None and now - hand.born > self._workers.start_seconds:
                self._give_up(hand)
            limit = self._limits.step_seconds
            if limit is None or not hand.calls or hand.ready is not None:
                continue
            if hand.asked is not None:
                self._hear(hand, limit, now)
            elif now - min(hand.calls.values()) > limit:
                hand.asked = hand.actor.stepping.options(concurrency_group="watch").remote(), now

    def _hear(self, hand: _Hand, limit: float, now: float) -> None:
        """What the worker says it is stepping, or that it says nothing any more."""
        assert hand.asked is not None
        ref, since = hand.asked
        done, _ = self._ray.wait([ref], timeout=0)
        if not done:
            if now - since > max(limit, _SILENT_SECONDS):
                self._end_hang(hand, None, f"a step held its worker for more than {limit:g} seconds, and all of it")
            return
        hand.asked = None
        with contextlib.suppress(self._ray.exceptions.RayError):  # a lost worker is noticed elsewhere
            stepping = self._ray.get(ref)
            if stepping is not None and stepping[1] > limit:
                self._end_hang(hand, stepping[0], f"a step took longer than {limit:g} seconds")

    def _end_hang(self, hand: _Hand, culprit: int | None, words: str) -> None:
        for key, called in list(hand.keys.items()):
            blamed = culprit is None or called == culprit
            self._forget(key, Failed(key, Failure("step_timeout", words), blamed))
        self._replace(hand)

    def _give_up(self, hand: _Hand) -> None:
        """A worker that Ray finds no room for: go on with the others, if there are any."""
        if not any(other.ready is None for other in self._hands):
            raise self._no_room()
        self._dismiss(hand)
        for key in list(hand.keys):
            self._forget(key, Failed(key, Failure("worker_lost", "there was no room for a worker"), blamed=False))

    def _no_room(self) -> ConfigurationError:
        there, free = self._ray.cluster_resources(), self._ray.available_resources()
        return ConfigurationError(
            f"no worker could be started within {self._workers.start_seconds:g} seconds: each asks for "
            f"{self._workers.cpus:g} CPU, and the cluster has {there.get('CPU', 0):g}, of which {free.get('CPU', 0):g} "
            "are free; ask for fewer workers, or for less with RayWorkers(cpus=0.1)"
        )

    def _explained(self, error: Exception) -> ConfigurationError:
        kinds = self._ray.exceptions
        if isinstance(error, kinds.ObjectStoreFullError | kinds.OutOfDiskError):
            mend = "the object store is full: give Ray more with ray.init(object_store_memory=...), or hold fewer seats"
        elif isinstance(error, kinds.OutOfMemoryError):
            mend = "the machine is out of memory: ask for fewer workers"
        else:
            mend = "the cluster failed"
        return ConfigurationError(f"{mend} ({type(error).__name__}: {first_line(error)})")


def import_ray() -> Any:
    """Ray.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingPackageError.for_extra("ray", "ray") from error
    return ray


def connect(ray: Any, workers: RayWorkers) -> object:
    """Connect to the cluster, or share a connection that was made here; what is returned is for ``disconnect``."""
    holder = object()
    with _connecting:
        if ray.is_initialized():
            if _holders:
                _holders.add(holder)
            return holder
        _holders.clear()  # somebody else has disconnected them
        _connect(ray, workers.address or os.environ.get("RAY_ADDRESS"))
        _holders.add(holder)
    return holder


def disconnect(ray: Any, holder: object) -> None:
    """End a connection that was made here with its last holder, and a cluster that was started for it."""
    with _connecting:
        if holder in _holders:
            _holders.remove(holder)
            if not _holders:
                ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    if address is None:
        ray.init("local", include_dashboard=False, **quiet)
        return
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, TimeoutError, ValueError, RuntimeError) as error:
        raise ConfigurationError(
            f"no Ray cluster answers at {address!r} ({first_line(error)}); start one with: ray start --head, "
            "or leave the address out for one on this machine"
        ) from error


def first_line(error: BaseException) -> str:
    """What an exception says in its first line: Ray's go on for many."""
    lines: Iterator[str] = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)[:300]
