"""The stage in this process: seats side by side; where tools wait, they wait in one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.seat import Seat
from callgym.rollouts.stage import Act, Ended, Failed, Failure, FailureKind, Outcome, Start, Turn
from callgym.tool_backends.portal import portal

__all__ = ["LocalStage"]

EnvMaker = Callable[[], gym.Env[Any, Any]]


class LocalStage:
    """Plays episodes in this process.

    Without limits an exception out of an environment comes out of ``start``, ``act`` or ``outcomes``: it is a bug. With
    limits it is a ``Failed`` outcome, and the environment that it came from is not used again.
    """

    def __init__(self, makers: Mapping[str, EnvMaker], seats: int, limits: RolloutLimits | None = None) -> None:
        """Make no environment yet: each is made when it is needed first, and used again.

        Args:
            makers: Id to what makes its environment; the id is ``""`` where there is one and starts name none.
            seats: Most episodes side by side.
            limits: What to do about bugs and long waits.
        """
        self._makers = makers
        self._seats = seats
        self._limits = limits
        self._idle: dict[str, list[Seat]] = {id: [] for id in makers}
        self._playing: dict[int, tuple[str, Seat]] = {}
        self._outcomes: deque[Outcome | BaseException] = deque()
        self._changed = threading.Condition()
        self._under_way: dict[int, asyncio.Future[None]] = {}
        self._stepping: tuple[int, float] | None = None

    def seat(self, id: str = "") -> Seat:
        """An idle seat, to look at its environment."""
        if not self._idle[id]:
            self._idle[id].append(self._make(id))
        return self._idle[id][-1]

    @property
    def free(self) -> int:
        """How many more episodes can be started now."""
        return self._seats - len(self._playing)

    @property
    def waiting(self) -> int:
        """Episodes whose next outcome is still to come."""
        with self._changed:
            return len(self._under_way) + len(self._outcomes)

    @property
    def busy(self) -> bool:
        """Whether any episode is under way, or its end was not looked at yet."""
        return bool(self._playing or self._outcomes)

    @property
    def stepping(self) -> tuple[int, float] | None:
        """The episode whose step holds this process now, and for how many seconds it has."""
        now = self._stepping
        return None if now is None else (now[0], time.monotonic() - now[1])

    def start(self, starts: Sequence[Start]) -> None:
        """Begin episodes."""
        for start in starts:
            seat = self._idle[start.id].pop() if self._idle[start.id] else self._make(start.id)
            self._playing[start.key] = start.id, seat
            self._do(seat, start.key, lambda seat=seat, start=start: seat.begin(start))  # type: ignore[misc]

    def act(self, acts: Sequence[Act]) -> None:
        """Take an action in each of these episodes."""
        waiting = []
        for act in acts:
            seat = self._playing[act.key][1]
            if seat.waits and not act.cut:
                waiting.append((seat, act))
            else:
                self._do(seat, act.key, lambda seat=seat, act=act: seat.step(act))  # type: ignore[misc]
        if waiting:
            with self._changed:
                self._under_way.update(dict.fromkeys([act.key for _, act in waiting]))  # type: ignore[arg-type]
            asyncio.run_coroutine_threadsafe(self._step_beside(waiting), portal().loop)

    def truncate(self, keys: Sequence[int]) -> None:
        """End episodes where they stand."""
        for key in keys:
            seat = self._playing[key][1]
            self._do(seat, key, seat.truncate)

    def outcomes(self, timeout: float | None = None, released: Callable[[], bool] = lambda: False) -> list[Outcome]:
        """What has come of what was begun; nothing, where ``released`` says after a ``wake`` not to wait any longer."""
        with self._changed:
            self._changed.wait_for(lambda: self._outcomes or not self._under_way or released(), timeout)
            found = list(self._outcomes)
            self._outcomes.clear()
        outcomes: list[Outcome] = []
        for number, outcome in enumerate(found):
            if isinstance(outcome, BaseException):
                if not outcomes:
                    raise outcome
                with self._changed:  # what came before a bug is seen before it
                    self._outcomes.extendleft(reversed(found[number:]))
                break
            outcomes.append(outcome)
        return outcomes

    def wake(self) -> None:
        """Let an ``outcomes`` that waits in another thread look again."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Close the environments; episodes under way are dropped, after their steps have come to an end."""
        with self._changed:
            steps = [step for step in self._under_way.values() if step is not None]
        for step in steps:
            portal().loop.call_soon_threadsafe(step.cancel)
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, 1.0)
        with contextlib.ExitStack() as closing:  # one that fails to close keeps no other from it
            for seats in self._idle.values():
                for seat in seats:
                    closing.callback(seat.close)
                seats.clear()
            for _, seat in self._playing.values():
                closing.callback(seat.close)
            self._playing.clear()

    def _make(self, id: str) -> Seat:
        return Seat(self._makers[id]())

    def _do(self, seat: Seat, key: int, work: Callable[[], Turn | Ended]) -> None:
        """Do what does not wait."""
        began = time.monotonic()
        self._stepping = key, began
        try:
            outcome: Outcome = work()
        except Exception as error:
            if self._limits is None:
                self._stepping = None
                raise
            outcome = _broken(key, "exception", error)
        self._stepping = None
        seat.seconds += time.monotonic() - began
        self._settle(seat, outcome)

    async def _step_beside(self, waiting: Sequence[tuple[Seat, Act]]) -> None:
        for seat, act in waiting:
            task = asyncio.ensure_future(self._step_one(seat, act))
            with self._changed:
                self._under_way[act.key] = task

    async def _step_one(self, seat: Seat, act: Act) -> None:
        began = time.monotonic()
        outcome: Outcome | BaseException
        try:
            limit = None if self._limits is None else self._limits.step_seconds
            outcome = await asyncio.wait_for(seat.astep(act), limit)
        except TimeoutError as error:
            outcome = self._late(act.key, error, time.monotonic() - began)
        except asyncio.CancelledError as error:
            outcome = error
        except Exception as error:
            outcome = error if self._limits is None else _broken(act.key, "exception", error)
        seat.seconds += time.monotonic() - began
        self._settle(seat, outcome, act.key)

    def _late(self, key: int, error: TimeoutError, seconds: float) -> Outcome | BaseException:
        limit = None if self._limits is None else self._limits.step_seconds
        if limit is None or seconds < limit:  # a time-out of the environment's own
            return error if self._limits is None else _broken(key, "exception", error)
        return Failed(key, Failure("step_timeout", f"a step took longer than {limit:g} seconds"))

    def _settle(self, seat: Seat, outcome: Outcome | BaseException, key: int | None = None) -> None:
        """Put down what came of a step, and what becomes of the seat."""
        most = None if self._limits is None else self._limits.episode_seconds
        if isinstance(outcome, Turn) and most is not None and seat.seconds > most:
            words = f"the episode's steps took longer than {most:g} seconds together"
            outcome = Failed(outcome.key, Failure("episode_timeout", words))
        with self._changed:
            if isinstance(outcome, Turn | Ended | Failed):
                key = outcome.key
            assert key is not None
            if isinstance(outcome, Ended):
                id, _ = self._playing.pop(key)
                self._idle[id].append(seat)
            elif isinstance(outcome, Failed):
                self._playing.pop(key)
                _abandon(seat)
            self._under_way.pop(key, None)
            self._outcomes.append(outcome)
            self._changed.notify_all()


def _broken(key: int, kind: FailureKind, error: Exception) -> Failed:
    """An exception as text: what was raised may hold what cannot be sent."""
    words = f"{type(error).__name__}: {_said(error)}"
    return Failed(key, Failure(kind, words, "".join(traceback.format_exception(error))[-4000:]))


def _said(error: Exception) -> str:
    try:
        return " ".join(str(error).split())[:500]
    except Exception:  # an exception of others whose own words fail
        return "(it cannot say what it is)"


def _abandon(seat: Seat) -> None:
    """Close what failed, whose closing may fail as well."""
    with contextlib.suppress(Exception):
        seat.close()
