"""PPO's learner, without episodes whose return is unknown.

A return that could not be computed (a judge that did not answer) is NaN. One NaN among the rewards would make NaN of
every weight, and a 0 in its place would teach what nobody said. So such episodes are left out before anything is
made of them, and counted: ``learners/__all_modules__/episodes_of_unknown_return`` in the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import ALL_MODULES

from callgym.errors import DataError

__all__ = ["UNKNOWN_RETURNS", "CandidateLearner", "LeaveOutUnknown"]

UNKNOWN_RETURNS = "episodes_of_unknown_return"
"""Name of the metric: how many episodes of a batch were left out."""


class LeaveOutUnknown(ConnectorV2):  # type: ignore[misc,unused-ignore]
    """Takes episodes (or pieces of one) with a NaN among their rewards out of the batch."""

    def __call__(self, *, episodes: list[Any], batch: Any, metrics: Any = None, **kwargs: Any) -> Any:
        """Shorten ``episodes`` in place: later pieces of the pipeline read the same list.

        Raises:
            DataError: No episode of the batch has a known return.
        """
        known = [episode for episode in episodes if not np.isnan(episode.get_rewards()).any()]
        if episodes and not known:
            raise DataError(
                f"none of the {len(episodes)} episodes of this batch has a known return, so there is nothing to learn "
                "from; play one with the same options and see why (info['episode'].rewards)"
            )
        if metrics is not None:
            metrics.log_value((ALL_MODULES, UNKNOWN_RETURNS), len(episodes) - len(known), reduce="sum")
        episodes[:] = known
        return batch


class CandidateLearner(PPOTorchLearner):  # type: ignore[misc,unused-ignore]
    """PPOTorchLearner, with ``LeaveOutUnknown`` before all else."""

    def build(self) -> None:
        """Build the learner, and put the filter first: the pieces before GAE count episodes already."""
        super().build()
        if self._learner_connector is not None:
            self._learner_connector.prepend(LeaveOutUnknown())
