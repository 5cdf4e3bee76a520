"""A small network that ranks candidates: RLlib's RLModule for ``CandidateEnv``.

Each candidate is scored by itself, by the same weights, from its bag of words, from what it shares with each row of
the query, and from how much of it that is. So the score does not depend on the place that a candidate has, and more
or fewer candidates need no other weights.
"""

from __future__ import annotations

from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import nn

from callgym.trainers.rllib.candidate_env import QUERY_ROWS

__all__ = ["CandidateModule"]

_ABSENT = -1e9  # a logit that is never drawn; minus infinity would make NaN of an entropy


class CandidateModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc,unused-ignore]
    """Scores of candidates (the logits of a categorical distribution), and a value.

    ``model_config={"hidden": 64}`` is the width. Observations are batches of what ``CandidateEnv`` returns.
    """

    def setup(self) -> None:
        """Build the layers; RLlib calls it."""
        config: Any = self.model_config
        space: Any = self.observation_space
        hidden, features = int(config["hidden"]), space["candidates"].shape[1]
        self.encode = nn.Sequential(
            nn.Linear(features * (1 + QUERY_ROWS) + QUERY_ROWS, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.score = nn.Linear(hidden, 1)
        self.ask = nn.Linear(features * QUERY_ROWS, hidden)
        self.value = nn.Sequential(nn.Linear(2 * hidden + 1, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        _, scores = self._rank(batch[Columns.OBS])
        return {Columns.ACTION_DIST_INPUTS: scores}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Values of shape ``(batch,)``: 0 where nothing is offered, since nothing more can be earned there."""
        observation = batch[Columns.OBS]
        encoded, scores = self._rank(observation)
        mask = observation["action_mask"]
        offered = mask.amax(-1, keepdim=True)
        attention = torch.softmax(scores, -1) * mask
        best = (attention.unsqueeze(-1) * encoded).sum(-2)
        asked = torch.relu(self.ask(observation["query"].flatten(-2)))
        confidence = attention.amax(-1, keepdim=True)
        return (self.value(torch.cat((best, asked, confidence), -1)) * offered).squeeze(-1)

    def _rank(self, observation: dict[str, Any]) -> tuple[Any, Any]:
        """Encodings of shape ``(batch, candidates, hidden)`` and scores of shape ``(batch, candidates)``."""
        candidates, query, mask = (observation[name] for name in ("candidates", "query", "action_mask"))
        shared = candidates.unsqueeze(-2) * query.unsqueeze(-3)  # (batch, candidates, rows, features)
        share = shared.sum(-1) / candidates.sum(-1, keepdim=True).clamp(min=1.0)
        encoded = self.encode(torch.cat((candidates, shared.flatten(-2), share), -1))
        scores = self.score(encoded).squeeze(-1)
        return encoded, scores.masked_fill(mask < 0.5, _ABSENT)
