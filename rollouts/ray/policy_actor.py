"""A policy in a Ray actor of its own, on a GPU where one is asked for, that many share::

    policy = ActorPolicy("hf:/models/qwen", gpus=1, temperature=0.7)
    run_episodes("apibank/L1-v0", policy, episodes=1000, workers=RayWorkers(8))
    run_episodes("apibank/L1-v0", policy, episodes=1000, workers=RayWorkers(8, policy="worker"))

With ``policy="driver"`` the driver asks in batches. With ``policy="worker"`` each worker asks for itself, and the actor
makes batches of what comes within a few milliseconds: the driver then sees whole episodes only.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from callgym.envs.base import ToolEnv
from callgym.errors import CallGymError, ConfigurationError, in_one_line
from callgym.rollouts.policy import Policy, Situation, get_policy
from callgym.rollouts.ray.ray_stage import connect, disconnect, first_line, import_ray
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.stage import EnvView

__all__ = ["ActorPolicy"]


class ActorPolicy:
    """Acts in a Ray actor. It can be pickled: copies share the actor, and none of them ends it but ``end``.

    An action follows from its situation alone, so that here, unlike for environments, Ray may start a lost actor again
    and ask again.
    """

    def __init__(
        self,
        policy: str | Callable[[], Policy],
        *,
        gpus: float = 0.0,
        cpus: float = 1.0,
        batch_size: int = 64,
        window_seconds: float = 0.005,
        address: str | None = None,
        start_seconds: float = 600.0,
        **options: Any,
    ) -> None:
        """Start the actor, and wait until its policy is loaded.

        Args:
            policy: A name for ``get_policy``, or a function that makes the policy, there.
            gpus: Share of GPUs to ask Ray for.
            cpus: Share of CPUs.
            batch_size: Most situations in one ``act`` of the policy.
            window_seconds: How long a batch that is not full waits for other askers.
            address: A cluster's address, as in ``RayWorkers``.
            start_seconds: Most seconds until the policy is loaded.
            options: Options of ``get_policy``.

        Raises:
            ConfigurationError: There is no such policy, no cluster, or none with such a GPU.
            MissingPackageError: Ray is not installed.
        """
        ray = import_ray()
        arguments = (policy, options, batch_size, window_seconds)
        if batch_size < 1:
            raise ConfigurationError(f"batch_size is a whole number of at least 1, got {batch_size!r}")
        self._actor: Any = None
        self._connection = connect(ray, RayWorkers(1, address=address))
        try:
            self.name = self._start(ray, {"num_gpus": gpus, "num_cpus": cpus}, start_seconds, arguments)
        except BaseException:
            self.end()
            raise

    def _start(self, ray: Any, asked: dict[str, float], start_seconds: float, arguments: tuple[Any, ...]) -> str:
        there = ray.cluster_resources()
        for kind, share in (("GPU", asked["num_gpus"]), ("CPU", asked["num_cpus"])):
            if share > there.get(kind, 0.0):
                raise ConfigurationError(
                    f"the policy asks for {share:g} {kind}, and the cluster has {there.get(kind, 0.0):g}"
                )
        actor = ray.remote(max_restarts=3, max_task_retries=3, max_concurrency=1000, **asked)(_Host)
        self._actor = actor.remote(*arguments)
        kinds = ray.exceptions
        try:
            name: str = ray.get(self._actor.name.remote(), timeout=start_seconds)
        except kinds.GetTimeoutError:
            free = ray.available_resources().get("CPU", 0.0)
            raise ConfigurationError(
                f"the policy is not loaded after {start_seconds:g} seconds; it asks for {asked['num_cpus']:g} CPU, of "
                f"which {free:g} are free now"
            ) from None
        except kinds.RayTaskError as error:
            raise ConfigurationError(f"the policy cannot be made in its actor: {error.cause}") from None
        except kinds.RayError as error:
            raise ConfigurationError(f"the policy cannot be made in its actor: {first_line(error)}") from error
        return name

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The policy's actions.

        Raises:
            ConfigurationError: The policy failed; the message has its words.
        """
        ray = import_ray()
        try:
            actions: list[str] = ray.get(self._actor.act.remote([_portable(situation) for situation in situations]))
        except ray.exceptions.RayTaskError as error:
            raise ConfigurationError(f"policy {self.name!r} failed in its actor: {error.cause}") from error
        except ray.exceptions.RayError as error:
            raise ConfigurationError(f"policy {self.name!r} has lost its actor: {first_line(error)}") from error
        return actions

    def close(self) -> None:
        """Nothing: others may share the actor."""

    def end(self) -> None:
        """End the actor, for all who share it."""
        ray = import_ray()
        if self._actor is not None and ray.is_initialized():
            ray.kill(self._actor)
        disconnect(ray, self._connection)


class _Host:
    """What runs in the actor."""

    def __init__(
        self, policy: str | Callable[[], Policy], options: dict[str, Any], batch_size: int, window_seconds: float
    ) -> None:
        self._fault = ""
        try:
            self._policy = get_policy(policy, **options) if isinstance(policy, str) else policy()
        except Exception as error:  # as text, and when it is asked for: what was raised may not travel
            self._fault = in_one_line(error)
        self._batch_size = batch_size
        self._window = window_seconds
        self._asked: deque[tuple[list[Situation], asyncio.Future[list[str]]]] = deque()
        self._server: asyncio.Task[None] | None = None

    async def name(self) -> str:
        """The policy's name."""
        if self._fault:
            raise ConfigurationError(self._fault)
        return self._policy.name

    async def act(self, situations: list[Situation]) -> list[str]:
        """One action for each, in batches with what others ask."""
        future: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._asked.append((situations, future))
        if self._server is None or self._server.done():
            self._server = asyncio.ensure_future(self._serve())
        return await future

    async def _serve(self) -> None:
        while self._asked:
            if sum(len(situations) for situations, _ in self._asked) < self._batch_size:
                await asyncio.sleep(self._window)
            batch = [self._asked.popleft()]
            size = len(batch[0][0])
            while self._asked and size + len(self._asked[0][0]) <= self._batch_size:
                batch.append(self._asked.popleft())
                size += len(batch[-1][0])
            await self._answer(batch)

    async def _answer(self, batch: list[tuple[list[Situation], asyncio.Future[list[str]]]]) -> None:
        situations = [situation for asked, _ in batch for situation in asked]
        try:
            actions = await asyncio.to_thread(self._act, situations)
        except Exception as error:  # those who asked hear it, and the actor lives
            words = in_one_line(error)
            for _, future in batch:
                future.set_exception(CallGymError(words))
            return
        at = 0
        for asked, future in batch:
            future.set_result(actions[at : at + len(asked)])
            at += len(asked)

    def _act(self, situations: list[Situation]) -> list[str]:
        actions: list[str] = []
        for at in range(0, len(situations), self._batch_size):
            actions += self._policy.act(situations[at : at + self._batch_size])
        if len(actions) != len(situations):
            raise ConfigurationError(f"{len(actions)} actions for {len(situations)} situations")
        return actions


def _portable(situation: Situation) -> Situation:
    env = situation.env
    return dataclasses.replace(situation, env=EnvView.of(env)) if isinstance(env, ToolEnv) else situation
