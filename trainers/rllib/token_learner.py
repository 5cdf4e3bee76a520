"""PPO's learner with two optimisers: one for the language model, one for the value head.

A pretrained model takes steps of 1e-6, at which a value head that starts from nothing would not learn in time. And the
gradients of the one should not count when those of the other are shortened.
"""

from __future__ import annotations

from typing import Any

from callgym.errors import MissingPackageError

try:
    import torch
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
except ImportError as error:
    raise MissingPackageError.for_extra("ray[rllib]", "ray") from error

__all__ = ["TokenLearner"]


class TokenLearner(PPOTorchLearner):  # type: ignore[misc,unused-ignore]
    """For ``CausalLMModule``; ``learner_config_dict["value_learning_rate"]`` is the value head's rate."""

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Adam for each part."""
        module = self._module[module_id].unwrapped()
        rates = {"model": config.lr, "value_head": config.learner_config_dict["value_learning_rate"]}
        for name, rate in rates.items():
            parameters = list(getattr(module, name).parameters())
            self.register_optimizer(
                module_id=module_id,
                optimizer_name=name,
                optimizer=torch.optim.Adam(parameters),
                params=parameters,
                lr_or_lr_schedule=rate,
            )
