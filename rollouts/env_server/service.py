"""What an environment server does, without a word of HTTP: one ToolEnv a session, its steps in order and in time.

The sessions, their turns, their threads and their end are the tool server's. An episode in which a step failed or did
not end in time is given up, and a reset begins another: how far it went is not known.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from callgym.envs.base import ToolEnv
from callgym.episode import Episode
from callgym.errors import CallGymError, ConfigurationError
from callgym.rollouts.env_server.wire import ResetRequest, action_text, written
from callgym.tool_backends.base import Session
from callgym.tool_backends.portal import portal
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.offer import Offer
from callgym.tool_backends.server.refusal import Refusal
from callgym.tool_backends.server.service import Service
from callgym.tool_backends.server.sessions import HeldSession, Overrun
from callgym.tool_backends.server.wire import write_json

__all__ = ["EnvService", "HeldEnv"]

T = TypeVar("T")
_Outcome = tuple[str, float, bool, bool, dict[str, Any]]


class HeldEnv(HeldSession):
    """An environment of a session, and how its episode stands."""

    def __init__(self, env: ToolEnv, nested: bool) -> None:
        # What a session table closes is what it holds; an environment is closed like a session.
        super().__init__(cast(Session, env), env.tasks[0], {})
        self.env = env
        self.nested = nested
        """Whether ``observation`` holds ``metadata``, too, where OpenEnv's typed clients look for it."""
        self.episode_id: str | None = None
        self.seed: int | None = None
        self.task_id: str | None = None
        self.turn_number = 0
        self.steps = 0
        self.over = "no episode was begun"
        """Why no step can be taken; empty where one can."""

    def state(self) -> dict[str, Any]:
        """How the episode stands, as plain JSON values."""
        return {
            "episode_id": self.episode_id,
            "step_count": self.steps,
            "env_id": self.env.env_id,
            "task_id": self.task_id,
            "seed": self.seed,
            "turn": self.turn_number,
            "done": bool(self.over),
        }

    def begun(self, wanted: ResetRequest, observation: str, info: dict[str, Any]) -> bytes:
        """Note a reset; its answer."""
        self.episode_id, self.seed, self.task_id = wanted.episode_id, wanted.seed, info["task_id"]
        self.turn_number, self.steps, self.sent_bytes, self.over = info["turn"], 0, 0, ""
        return self._json(written(observation, info, None))

    def stepped(self, outcome: _Outcome) -> bytes:
        """Note a step; its answer."""
        observation, reward, terminated, truncated, info = outcome
        self.turn_number = info["turn"]
        self.steps += 1
        if terminated or truncated:
            self.over = "the episode is over"
        return self._json(written(observation, info, (reward, terminated, truncated)))

    def cut(self, episode: Episode) -> bytes:
        """Note an episode that was ended from outside; the answer."""
        self.steps, self.over = len(episode.steps), "the episode is over"
        rewards = {name: score.value for name, score in episode.rewards.items()}
        info = {"messages": [], "task_id": episode.task_id, "rewards": rewards, "episode": episode}
        last = episode.steps[-1].reward
        return self._json(written("", info, (float("nan") if last is None else last, False, True)))

    def _json(self, answer: dict[str, Any]) -> bytes:
        if self.nested:
            answer["observation"]["metadata"] = answer["metadata"]
        return write_json(answer)

    def check(self) -> None:
        """Raises Refusal where no step can be taken."""
        if self.over:
            raise Refusal(409, "reset_needed", f"{self.over}; reset begins another")


class EnvService(Service):
    """The sessions of one environment."""

    def __init__(
        self,
        make: Callable[[], ToolEnv],
        limits: ServerLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an environment once, to see that it can be made.

        Args:
            make: Makes the environment of a session.
            limits: Sessions, sizes and times.
            clock: Seconds, never going back; by it sessions expire.
        """
        env = make()
        super().__init__(Offer(env.env_id, env.backend, env.tasks), limits, clock)
        env.close()
        self._make = make

    async def open_env(self, nested: bool = False) -> str:
        """The id of a new session, in which nothing is begun.

        Args:
            nested: As in ``HeldEnv``.

        Raises:
            Refusal: There is no place.
        """
        with self.table.place(), self._at_work():
            work = self._workers.begin(lambda: cast(HeldSession, HeldEnv(self._make(), nested)))
            await asyncio.wait((work,), timeout=self.limits.call_seconds)
            if not work.done():
                self._leave(work)
                work.add_done_callback(self._close_late)
                raise Refusal.later("busy", f"no environment could be made in {self.limits.call_seconds:g} s", 1)
            return self.table.add(work.result())

    async def reset(self, key: str, wanted: ResetRequest) -> bytes:
        """Begin an episode; its first observation. Raises Refusal where there is no such session or task."""
        held = self._env(key)

        def begin() -> bytes:
            try:
                observation, info = held.env.reset(seed=wanted.seed, options=wanted.options)
            except CallGymError as error:
                known = isinstance(error, ConfigurationError)
                raise Refusal(400 if known else 409, "invalid_request" if known else "unplayable", str(error)) from None
            return held.begun(wanted, observation, info)

        return await self._in_turn(held, key, lambda: self._workers.begin(begin), None)

    async def step(self, key: str, action: dict[str, Any], size: int, seconds: float | None = None) -> bytes:
        """Take a step.

        Args:
            key: The session's id.
            action: As ``read_action`` gave it.
            size: How long the request was, in bytes.
            seconds: The time for it, where that is less than the server's limit.

        Raises:
            Refusal: There is no such session, its episode is over, or the step took too long.
        """
        held = self._env(key)
        held.sent_bytes += size
        if held.sent_bytes > self.limits.max_session_bytes:
            message = f"the actions of this episode have sent more than {self.limits.max_session_bytes} bytes"
            raise Refusal(413, "session_full", message)
        return await self._in_turn(held, key, lambda: self._begin_step(held, action), seconds)

    async def truncate(self, key: str, action: str | None) -> bytes:
        """End an episode where it stands. Raises Refusal where there is none, or it has no step."""
        held = self._env(key)

        def work() -> bytes:
            return held.cut(held.env.truncate(action))

        def begin() -> asyncio.Future[bytes]:
            held.check()
            if action is None and not held.steps:
                raise Refusal(409, "reset_needed", "an episode without a step cannot be ended, only begun anew")
            return self._workers.begin(work)

        return await self._in_turn(held, key, begin, None)

    def env_state(self, key: str) -> bytes:
        """How the episode of a session stands. Raises Refusal where there is none."""
        return write_json(self._env(key).state())

    def _env(self, key: str) -> HeldEnv:
        return cast(HeldEnv, self.table.get(key))

    def _begin_step(self, held: HeldEnv, action: dict[str, Any]) -> asyncio.Future[bytes]:
        held.check()
        if held.env.waits:
            return asyncio.ensure_future(self._await_step(held, action))
        return self._workers.begin(lambda: held.stepped(held.env.step(action_text(action, held.env.dialect))))

    async def _await_step(self, held: HeldEnv, action: dict[str, Any]) -> bytes:
        text = action_text(action, held.env.dialect)
        return held.stepped(await portal().arun(held.env.astep(text)))

    async def _in_turn(
        self, held: HeldEnv, key: str, begin: Callable[[], asyncio.Future[T]], seconds: float | None
    ) -> T:
        limit = self.limits.call_seconds if seconds is None else min(seconds, self.limits.call_seconds)
        with self._at_work():
            try:
                return await held.in_turn(begin, limit)
            except Overrun as overrun:
                if overrun.work is None:
                    raise Refusal.later("busy", "the session is still busy with an earlier request", 1) from None
                self._leave(overrun.work)
                held.over = f"a step did not end within {limit:g} s, so its episode was given up"
                raise Refusal(504, "timeout", f"{held.over}; reset begins another") from None
            except Refusal:
                raise
            except Exception:
                held.over = "a step failed, so its episode was given up"
                raise
            finally:
                self.table.touch(key)
