"""RLOO through TRL: REINFORCE with the mean of a group's other members as baseline (Ahmadian et al., 2024,
https://arxiv.org/abs/2402.14740), on whole episodes::

    rollouts = EpisodeRollouts("apibank/L1-v0", tokenizer, split="train")
    trainer = make_rloo_trainer(settings, rollouts, model, tokenizer)
    trainer.train()

TRL's RLOOTrainer (1.16) has neither ``rollout_func`` nor a mask for the environment's tokens, so it is subclassed
where it tokenises, generates, calls reward functions and takes log-probabilities. All that makes it RLOO stays TRL's:
baseline and unknown rewards, the ratio of whole sequences and its clipping, and the KL term in the reward.

The other way, a GRPOTrainer whose loss is RLOO's, does not hold. With ``loss_type="luspo"`` and
``scale_rewards="none"`` its gradient is RLOO's times (n - 1)/n, where n is the number of a group's known rewards,
so groups with an unknown reward are weighed less than they should be; and with more than one update a batch its
ratio is the geometric mean over tokens, or each token's own, where RLOO has the sequence's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from callgym.errors import MissingPackageError
from callgym.trainers.curriculum import order_by_epoch
from callgym.trainers.grpo import GrpoSettings, enough_tasks, trainer_arguments

__all__ = ["make_rloo_trainer", "rloo_config", "rloo_trainer_class"]

_NOT_FOR_REWARDS = frozenset({"prompt_ids", "completion_ids", "env_mask", "logprobs"})


def rloo_config(settings: GrpoSettings, rollouts: Any, **options: Any) -> Any:
    """TRL's RLOOConfig for these settings, on a GPU where there is one and on the CPU else.

    Args:
        settings: The run; the same as for GRPO.
        rollouts: ``EpisodeRollouts``, or what stands in for them.
        options: Arguments of RLOOConfig that differ: ``beta=0.05``, say, for which the model must have been loaded
            from a folder or by name, because TRL loads the reference from there. It is 0 by default.

    Raises:
        MissingPackageError: TRL is not installed, or vLLM where it is to generate.
        ConfigurationError: The batch cannot be shared out.
    """
    _, trl = _import_trl()
    return trl.RLOOConfig(**{**trainer_arguments(settings, rollouts), **options})


def make_rloo_trainer(
    settings: GrpoSettings, rollouts: Any, model: Any, tokenizer: Any, *, callbacks: Sequence[Any] = (), **options: Any
) -> Any:
    """TRL's RLOOTrainer with our rollouts.

    Args:
        settings: As for GRPO.
        rollouts: ``EpisodeRollouts``, or what stands in for them.
        model: A loaded model.
        tokenizer: Its tokenizer.
        callbacks: Callbacks of transformers.
        options: As in ``rloo_config``.

    Raises:
        MissingPackageError: TRL is not installed, or vLLM where it is to generate.
        ConfigurationError: The batch cannot be shared out, or has more groups than there are tasks.
    """
    arguments = rloo_config(settings, rollouts, **options)
    # A generation config on the model would overrule the trainer's and warn at every call.
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return rloo_trainer_class()(
        model=model,
        args=arguments,
        processing_class=tokenizer,
        train_dataset=enough_tasks(rollouts.dataset(), arguments),
        reward_funcs=rollouts.reward_funcs,
        rollout_func=rollouts,
        # A resumed run then plays the tasks of the one that was not stopped.
        callbacks=[*callbacks, order_by_epoch(settings.seed)],
    )


@lru_cache(maxsize=1)
def rloo_trainer_class() -> Any:
    """TRL's RLOOTrainer with ``rollout_func``, as its GRPOTrainer has it: same arguments, same columns.

    A token whose ``env_mask`` is 0 is seen by the model and is no part of loss, ratio or KL. TRL's metrics of
    completion length and entropy count such tokens.

    Raises:
        MissingPackageError: TRL is not installed.
    """
    torch, trl = _import_trl()

    class EpisodeRLOOTrainer(trl.RLOOTrainer):  # type: ignore[misc, name-defined, unused-ignore]
        """RLOO on whole episodes."""

        num_generations: int
        num_generations_eval: int

        def __init__(self, *arguments: Any, rollout_func: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.rollout_func = rollout_func
            self._columns: dict[str, Any] = {}
            self._env_mask: Any = None

        def _tokenize_prompts(self, prompts: list[Any]) -> tuple[list[list[int]], None, dict[str, Any]]:
            """Play the episodes; what `_generate` would next generate is known then."""
            self._columns = self.rollout_func(prompts, self)
            masks = self._columns.get("env_mask")
            self._env_mask = None if masks is None else _padded(torch, masks, self.accelerator.device)
            return self._columns["prompt_ids"], None, {}

        def _generate_single_turn(
            self, prompt_ids: list[list[int]], images: Any, multimodal_fields: Any, num_generations: int | None = None
        ) -> Any:
            """What `_generate` asks for, or, as the rollouts ask with GRPOTrainer's arguments, a model's turn."""
            if num_generations is None:
                return self._columns["completion_ids"]
            with self._prompts_repeated(num_generations):
                return super()._generate_single_turn(prompt_ids, images, multimodal_fields), None

        def _calculate_rewards(
            self, inputs: list[dict[str, Any]], prompts: Any, completions: Any, completion_ids_list: Any
        ) -> Any:
            known = {name: values for name, values in self._columns.items() if name not in _NOT_FOR_REWARDS}
            rows = [
                {**row, **{name: values[i] if isinstance(values, list) else values for name, values in known.items()}}
                for i, row in enumerate(inputs)
            ]
            return super()._calculate_rewards(rows, prompts, completions, completion_ids_list)

        def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            if self._env_mask is not None:
                # A tensor beside the others, so that TRL shuffles and splits it with them.
                output["env_mask"] = _wide(torch, self._env_mask, output["completion_ids"].size(1))
            return output

        def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
            self._env_mask = inputs.get("env_mask")
            return super()._compute_loss(model, inputs)

        def _get_per_token_logps_and_entropies(self, *arguments: Any, **options: Any) -> tuple[Any, Any, Any]:
            logps, entropies, aux_loss = super()._get_per_token_logps_and_entropies(*arguments, **options)
            if self._env_mask is not None:
                # Filled, not multiplied: a log-probability may be -inf.
                logps = logps.masked_fill(_wide(torch, self._env_mask, logps.size(1)) == 0, 0.0)
            return logps, entropies, aux_loss

        @contextlib.contextmanager
        def _prompts_repeated(self, count: int) -> Iterator[None]:
            """vLLM is told by these how often each prompt comes in a row."""
            kept = self.num_generations, self.num_generations_eval
            self.num_generations = self.num_generations_eval = count
            try:
                yield
            finally:
                self.num_generations, self.num_generations_eval = kept

    return EpisodeRLOOTrainer


def _padded(torch: Any, masks: Sequence[Sequence[int]], device: Any) -> Any:
    """Masks as rows of one tensor, shape (rows, longest), filled up with 0."""
    rows = [torch.tensor(mask, dtype=torch.long) for mask in masks]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)


def _wide(torch: Any, mask: Any, width: int) -> Any:
    """The mask at the width of the completions, which TRL may pad further."""
    return torch.nn.functional.pad(mask, (0, width - mask.size(1)))


def _import_trl() -> tuple[Any, Any]:
    try:
        import torch
        import trl
        from trl import RLOOConfig, RLOOTrainer  # noqa: F401  (TRL imports lazily; fail here, not later)
    except ImportError as error:
        raise MissingPackageError.for_extra("trl", "train") from error
    return torch, trl
