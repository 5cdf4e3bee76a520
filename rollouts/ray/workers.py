"""How a run is spread over Ray, as a value::

    run_episodes("apibank/L1-v0", policy, episodes=10_000, workers=RayWorkers(8))
    run_episodes("apibank/L1-v0", policy, episodes=10_000, workers=RayWorkers(8, policy="worker"))

``policy="driver"``: the policy stays in this process (the trainer's own model, say) and gets batches; workers run the
environments. ``policy="worker"``: each worker has a copy, and plays whole episodes: for a policy that asks a server,
or needs no model. A model in an actor of its own, on a GPU, is ``callgym.rollouts.ray.policy_actor.ActorPolicy``.

Nothing here imports Ray before a stage is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from callgym.errors import ConfigurationError
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.policy import Policy

if TYPE_CHECKING:
    from callgym.rollouts.local_stage import EnvMaker
    from callgym.rollouts.ray.ray_stage import RayStage

__all__ = ["RayWorkers"]


@dataclass(frozen=True, slots=True)
class RayWorkers:
    """Processes that hold environments."""

    count: int = 2
    """How many."""
    policy: Literal["driver", "worker"] = "driver"
    """Where actions are written."""
    cpus: float = 1.0
    """Share of a CPU that each asks Ray for; less than 1 where tools wait rather than compute."""
    episodes: int | None = None
    """Most episodes that one holds; by default the run's seats, spread evenly."""
    address: str | None = None
    """A cluster's address; by default the one that this process is connected to, that of RAY_ADDRESS, or a new one on
    this machine, which ends with the run."""
    imports: tuple[str, ...] = ()
    """Modules that each imports first: those that register your own ids."""
    start_seconds: float = 60.0
    """Most seconds until the first is there, and until a lost one is replaced."""

    def __post_init__(self) -> None:
        for name in ("count", "episodes"):
            value = getattr(self, name)
            if value is None and name == "episodes":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"RayWorkers({name}=...) is a whole number of at least 1, got {value!r}")
        if self.policy not in ("driver", "worker"):
            raise ConfigurationError(f"RayWorkers(policy=...) is 'driver' or 'worker', got {self.policy!r}")
        if isinstance(self.imports, str):
            raise ConfigurationError(f"RayWorkers(imports=...) is a tuple of module names, got {self.imports!r}")
        for name in ("cpus", "start_seconds"):
            if not getattr(self, name) >= 0:
                raise ConfigurationError(f"RayWorkers({name}=...) is not below 0, got {getattr(self, name)!r}")

    def open(
        self, makers: Mapping[str, EnvMaker], policy: Policy | None, limits: RolloutLimits, seats: int
    ) -> RayStage:
        """A stage on these workers.

        Args:
            makers: Id to what makes its environment; functions that can be pickled.
            policy: What acts, where it acts on the workers.
            limits: How long steps and episodes may take.
            seats: Most episodes side by side, all workers together.

        Raises:
            ConfigurationError: There is no cluster, or no room in it; or a worker cannot make the environments.
            MissingPackageError: Ray is not installed.
        """
        from callgym.rollouts.ray.ray_stage import RayStage
        from callgym.rollouts.ray.worker import Recipe

        each = self.episodes or -(-seats // self.count)
        there: Any = policy if self.policy == "worker" else None
        return RayStage(self, Recipe(dict(makers), each, limits, there))
