"""The stage in this process: seats side by side; where tools wait, they wait in one event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import threading
import time
import traceback
import types
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

import gymnasium as gym

from callgym.errors import in_one_line
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.seat import Seat
from callgym.rollouts.stage import Act, Ended, Failed, Failure, Outcome, Start, Turn
from callgym.tool_backends.portal import portal

__all__ = ["LocalStage"]

EnvMaker = Callable[[], gym.Env[Any, Any]]

_ENDING_SECONDS = 1.0
_BUGS = (Exception, SystemExit)


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
        self._spoiled: deque[tuple[int, Seat]] = deque()
        self._outcomes: deque[Outcome | BaseException] = deque()
        self._changed = threading.Condition()
        self._under_way: dict[int, asyncio.Task[None] | None] = {}
        self._held: dict[int, tuple[int, float]] = {}

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
        with self._changed:  # an episode that ends is in one of the two at any time
            return bool(self._playing or self._outcomes)

    @property
    def stepping(self) -> tuple[int, float] | None:
        """The episode whose step holds a thread now, the event loop's for one, and for how many seconds it has."""
        held = list(self._held.values())
        if not held:
            return None
        key, since = min(held, key=lambda now: now[1])
        return key, time.monotonic() - since

    def start(self, starts: Sequence[Start]) -> None:
        """Begin episodes."""
        for start in starts:
            self._do(start.key, functools.partial(self._begin, start))

    def act(self, acts: Sequence[Act]) -> None:
        """Take an action in each of these episodes."""
        waiting = []
        for act in acts:
            seat = self._playing[act.key][1]
            if seat.waits and not act.cut:
                waiting.append((seat, act))
            else:
                self._do(act.key, functools.partial(seat.step, act))
        if waiting:
            with self._changed:
                self._under_way.update(dict.fromkeys(act.key for _, act in waiting))
            portal().loop.call_soon_threadsafe(self._step_beside, waiting)

    def truncate(self, keys: Sequence[int]) -> None:
        """End episodes where they stand."""
        for key in keys:
            self._do(key, self._playing[key][1].truncate)

    def outcomes(self, timeout: float | None = None, released: Callable[[], bool] = lambda: False) -> list[Outcome]:
        """What has come of what was begun; nothing, where ``released`` says after a ``wake`` not to wait any longer."""
        with self._changed:
            self._changed.wait_for(lambda: self._outcomes or not self._under_way or released(), timeout)
            found = list(self._outcomes)
            self._outcomes.clear()
        self._close_spoiled()
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

    def drop(self) -> None:
        """Forget the episodes under way: nothing comes of them any more, and their seats are free."""
        with self._changed:  # from here on nobody hears of them
            steps = [step for step in self._under_way.values() if step is not None]
            stopped = [(key, seat) for key, (_, seat) in self._playing.items() if key in self._under_way]
            for key, (id, seat) in self._playing.items():
                if key not in self._under_way:
                    self._idle[id].append(seat)
            self._playing.clear()
            self._under_way.clear()
            self._outcomes.clear()
            self._changed.notify_all()
        if steps:
            concurrent.futures.wait([asyncio.run_coroutine_threadsafe(_end(steps), portal().loop)], _ENDING_SECONDS)
        self._spoiled.extend(stopped)
        self._close_spoiled()

    def close(self) -> None:
        """Close the environments; episodes under way are dropped, after their steps have come to an end."""
        self.drop()
        with contextlib.ExitStack() as closing:  # one that fails to close keeps no other from it
            for seats in self._idle.values():
                for seat in seats:
                    closing.callback(seat.close)
                seats.clear()

    def _begin(self, start: Start) -> Turn:
        seat = self._idle[start.id].pop() if self._idle[start.id] else self._make(start.id)
        self._playing[start.key] = start.id, seat
        return seat.begin(start)

    def _make(self, id: str) -> Seat:
        return Seat(self._makers[id]())

    def _do(self, key: int, work: Callable[[], Turn | Ended]) -> None:
        """Do what does not wait."""
        began = time.monotonic()
        try:
            with self._hold(key):
                outcome: Outcome = work()
        except BaseException as error:
            if self._limits is None or not isinstance(error, _BUGS):
                if key in self._playing:
                    self._spoiled.append((key, self._playing.pop(key)[1]))
                raise
            outcome = _broken(key, error)
        self._settle(key, self._playing[key][1] if key in self._playing else None, outcome, began)

    @contextlib.contextmanager
    def _hold(self, key: int) -> Iterator[None]:
        """Say that an episode holds this thread: where it never gives way, nothing else here ends it."""
        thread = threading.get_ident()
        self._held[thread] = key, time.monotonic()
        try:
            yield
        finally:
            del self._held[thread]

    def _step_beside(self, waiting: Sequence[tuple[Seat, Act]]) -> None:
        for seat, act in waiting:
            with self._changed:
                if self._playing.get(act.key, ("", None))[1] is seat:  # else it was dropped meanwhile
                    self._under_way[act.key] = asyncio.ensure_future(self._step_one(seat, act))

    async def _step_one(self, seat: Seat, act: Act) -> None:
        began = time.monotonic()
        outcome: Outcome | BaseException
        limit = None if self._limits is None else self._limits.step_seconds
        try:
            outcome = await (self._marked(seat, act) if limit is None else self._in_limit(limit, seat, act))
        except BaseException as error:
            outcome = error
        if isinstance(outcome, BaseException) and self._limits is not None:
            outcome = _broken(act.key, outcome)
        self._settle(act.key, seat, outcome, began)

    async def _in_limit(self, limit: float, seat: Seat, act: Act) -> Outcome | BaseException:
        step = asyncio.ensure_future(self._marked(seat, act))
        with contextlib.suppress(asyncio.CancelledError):  # the episode is dropped: the step ends as one that is late
            await asyncio.wait([step], timeout=limit)
        if step.done():
            return step.result()
        step.cancel()
        await asyncio.wait([step], timeout=_ENDING_SECONDS)  # not for ever: a tool may refuse to be called off
        return Failed(act.key, Failure("step_timeout", f"a step took longer than {limit:g} seconds"))

    @types.coroutine
    def _marked(self, seat: Seat, act: Act) -> Generator[Any, Any, Turn | Ended | BaseException]:
        """A step that says when it holds the loop."""
        step = seat.astep(act)
        send: Callable[[], Any] = functools.partial(step.send, None)
        while True:
            try:
                with self._hold(act.key):
                    awaited = send()
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            except (SystemExit, KeyboardInterrupt) as error:  # would end the loop, and with it all that waits there
                return error
            try:
                send = functools.partial(step.send, (yield awaited))
            except BaseException as error:  # among them that it is called off
                send = functools.partial(step.throw, error)

    def _settle(self, key: int, seat: Seat | None, outcome: Outcome | BaseException, began: float) -> None:
        """Put down what came of a step, and what becomes of the seat."""
        with self._changed:
            id, there = self._playing.get(key, ("", None))
            if there is not seat:  # the episode was dropped meanwhile
                return
            if seat is not None:
                outcome = self._in_time(seat, outcome, time.monotonic() - began)
            if not isinstance(outcome, Turn):
                self._playing.pop(key, None)
            if seat is not None and isinstance(outcome, Ended):
                self._idle[id].append(seat)
            elif seat is not None and not isinstance(outcome, Turn):
                self._spoiled.append((key, seat))
            self._under_way.pop(key, None)
            self._outcomes.append(outcome)
            self._changed.notify_all()

    def _in_time(self, seat: Seat, outcome: Outcome | BaseException, seconds: float) -> Outcome | BaseException:
        seat.seconds += seconds
        most = None if self._limits is None else self._limits.episode_seconds
        if most is None or seat.seconds <= most or not isinstance(outcome, Turn):
            return outcome
        words = f"the episode's steps took longer than {most:g} seconds together"
        return Failed(outcome.key, Failure("episode_timeout", words))

    def _close_spoiled(self) -> None:
        """Close what failed, whose closing may fail as well, or never end."""
        while True:
            try:
                key, seat = self._spoiled.popleft()
            except IndexError:
                return
            with self._hold(key), contextlib.suppress(*_BUGS):
                seat.close()


async def _end(steps: Sequence[asyncio.Task[None]]) -> None:
    for step in steps:
        step.cancel()
    await asyncio.wait(steps)


def _broken(key: int, error: BaseException) -> Failed:
    """An exception as text: what was raised may hold what cannot be sent."""
    trace = "".join(traceback.format_exception(error))[-4000:]
    return Failed(key, Failure("exception", in_one_line(error), trace))
