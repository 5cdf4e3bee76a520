"""PPO on tokens, ready to run::

    config = ppo_config("apibank/L1-v0", "/models/qwen", env_options={"data": "starter"}, num_env_runners=2)
    algorithm = config.build_algo()
    result = algorithm.train()
    model = trained_model(algorithm)

What comes back is RLlib's own PPOConfig, so everything of RLlib can still be set on it.

Three things differ from RLlib's defaults, because episodes are texts. Nothing is discounted (``gamma`` and ``lambda_``
are 1: what an early token was worth shows at the end). An episode whose return is unknown is left out of the batch,
and counted, since 0 would be a lie and NaN would destroy the model. And no value is added to what a truncated episode
earned: CallGym scores it as it stands, so its return is final, while RLlib would take it to go on.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym

from callgym.errors import ConfigurationError, MissingPackageError
from callgym.trainers.rllib.causal_module import CausalLMModule, load_causal_model
from callgym.trainers.rllib.token_env import TokenEnv, load_tokenizer
from callgym.trainers.rllib.token_learner import TokenLearner

try:
    from ray import tune
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
except ImportError as error:
    raise MissingPackageError.for_extra("ray[rllib]", "ray") from error

__all__ = ["TOKEN_ENV", "TokenCallbacks", "ppo_config", "register_token_env", "trained_model"]

TOKEN_ENV = "callgym-tokens"
"""The name of a TokenEnv in RLlib."""


class TokenCallbacks(RLlibCallback):  # type: ignore[misc]
    """Leaves out episodes without a return, and takes the return of the others as final.

    Metrics of the environment runners: ``callgym/cut_off`` and ``callgym/overflowed``, shares of the episodes;
    ``callgym/unscored``, how many were left out; ``callgym/rewards/NAME``, each reward's mean where it is known.
    """

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, env_runner: Any, **kwargs: Any) -> None:
        """Log what the Episode record says."""
        info = episode.get_infos(-1)
        window = env_runner.config.metrics_num_episodes_for_smoothing
        metrics_logger.log_value(("callgym", "cut_off"), float(bool(info["cut"])), window=window)
        metrics_logger.log_value(("callgym", "overflowed"), float(info["overflowed"]), window=window)
        metrics_logger.log_value(("callgym", "unscored"), int(not info["scored"]), reduce="sum")
        for name, score in info["episode"].rewards.items():
            if score.value is not None:
                metrics_logger.log_value(("callgym", "rewards", name), score.value, window=window)

    def on_sample_end(self, *, env_runner: Any, samples: list[Any], **kwargs: Any) -> None:
        """Take episodes without a return out of the batch; end the others for good."""
        unscored = {episode.id_ for episode in samples if episode.is_done and not episode.get_infos(-1)["scored"]}
        if unscored:
            # Chunks of an episode that came with an earlier batch hold no reward, so that they may stay.
            samples[:] = [episode for episode in samples if episode.id_ not in unscored]
            done = env_runner._done_episodes_for_metrics  # else the mean return would be NaN
            done[:] = [episode for episode in done if episode.id_ not in unscored]
            for id in unscored:
                env_runner._ongoing_episodes_for_metrics.pop(id, None)
            if not any(episode.is_done for episode in samples):
                warnings.warn(
                    "no episode of this batch has a known return, so there is nothing to learn from; "
                    "see Episode.rewards for the reward that could not be computed",
                    stacklevel=2,
                )
        for episode in samples:
            if episode.is_truncated:
                episode.is_terminated, episode.is_truncated = True, False


def register_token_env(id: str, name: str = TOKEN_ENV) -> None:
    """Make a TokenEnv known to RLlib, in this process and in its workers.

    Its ``env_config`` are the arguments of TokenEnv. An id that a script registered itself is registered in the
    workers, too; its class travels with it if it stands in that script, and is imported there else.

    Args:
        id: The registered id.
        name: What RLlib calls it.

    Raises:
        ConfigurationError: There is no such id.
    """
    try:
        spec = copy.deepcopy(gym.spec(id))
    except gym.error.Error as error:
        raise ConfigurationError(f"{id!r} is not registered: {error}") from error
    if isinstance(spec.entry_point, str) and spec.entry_point.startswith("__main__:"):
        made: Any = gym.envs.registration.load_env_creator(spec.entry_point)
        spec.entry_point = made

    def make(context: Mapping[str, Any]) -> TokenEnv:
        gym.registry.setdefault(id, spec)
        options = {key: value for key, value in context.items() if key != "num_envs"}
        return TokenEnv(**{"stream": getattr(context, "worker_index", 0), **options})

    tune.register_env(name, make)


def ppo_config(
    id: str,
    model: Any,
    tokenizer: Any = None,
    *,
    env_options: Mapping[str, Any] | None = None,
    window: int = 512,
    max_action_tokens: int = 64,
    max_prompt_tokens: int | None = None,
    tasks: Sequence[str] | None = None,
    seed: int = 0,
    learning_rate: float = 1e-6,
    value_learning_rate: float = 1e-3,
    batch_tokens: int = 4_096,
    minibatch_tokens: int = 256,
    epochs: int = 2,
    gamma: float = 1.0,
    lambda_: float = 1.0,
    clip: float = 0.2,
    entropy_coeff: float = 0.0,
    value_coeff: float = 0.5,
    value_trains_model: bool = False,
    use_kl_loss: bool = False,
    grad_clip: float = 1.0,
    num_env_runners: int = 0,
    num_envs_per_env_runner: int = 16,
    num_gpus_per_env_runner: float = 0,
    num_learners: int = 0,
    num_gpus_per_learner: float = 0,
) -> PPOConfig:
    """RLlib's PPO on the tokens of a registered id.

    Args:
        id: The registered id.
        model: A folder, a name on the hub, a loaded model (which is copied) or a transformers config. Each worker gets
            the model with the configuration, so a large one is better given as a folder.
        tokenizer: Its tokenizer, or a folder; by default that of ``model``, where that is a folder.
        env_options: Arguments of ``gym.make``; ``split`` is ``"train"`` unless given.
        window: Most tokens that the policy sees.
        max_action_tokens: Most tokens of one action.
        max_prompt_tokens: Tasks with a longer prompt are left out.
        tasks: Ids of the tasks to play; all by default.
        seed: Seed of tasks, episodes, sampling and batches.
        learning_rate: Constant; 1e-6 suits pretrained models, a tiny policy takes 3e-4.
        value_learning_rate: The value head's.
        batch_tokens: Tokens of the policy in one iteration and learner.
        minibatch_tokens: Tokens, and so windows, of one optimiser step.
        epochs: How often each token is trained on in an iteration.
        gamma: Discount a token.
        lambda_: As in generalised advantage estimation; below 1, early tokens depend on the value head.
        clip: PPO's clip range of the probability ratio.
        entropy_coeff: Weight of the entropy bonus.
        value_coeff: Weight of the value loss.
        value_trains_model: Whether the value loss reaches the model beneath the value head.
        use_kl_loss: RLlib's divergence from the policy that sampled (not from the first one).
        grad_clip: Longest gradient.
        num_env_runners: Actors that play; 0: this process does.
        num_envs_per_env_runner: Episodes side by side in each; their tokens are sampled in one forward pass.
        num_gpus_per_env_runner: GPUs, or a share of one, for each.
        num_learners: Actors that learn; 0: this process does.
        num_gpus_per_learner: GPUs, or a share of one, for each.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
        MissingPackageError: transformers is not installed.
    """
    if tokenizer is None:
        if not isinstance(model, (str, os.PathLike)):
            raise ConfigurationError("give the model's tokenizer, or the model as a folder that holds one")
        tokenizer = model
    loaded = load_tokenizer(tokenizer)
    if not isinstance(model, (str, os.PathLike)) and hasattr(model, "state_dict"):
        model = load_causal_model(model).to("cpu")  # workers may have no GPU
    env_config: dict[str, Any] = {
        "id": id,
        "tokenizer": tokenizer if isinstance(tokenizer, str) else loaded,
        "window": window,
        "max_action_tokens": max_action_tokens,
        "end_tokens": _end_tokens(model),
        "env_options": dict(env_options or {}),
    }
    # Made here once, so that a wrong option is said at once, and prompts are counted once and not by every worker.
    env = TokenEnv(**env_config, tasks=tasks, max_prompt_tokens=max_prompt_tokens)
    if tasks is not None or max_prompt_tokens is not None:
        env_config["tasks"] = env.task_ids
    env.close()
    register_token_env(id)
    module = RLModuleSpec(
        module_class=CausalLMModule,
        observation_space=env.observation_space,
        action_space=env.action_space,
        model_config={
            "model": model,
            "tokens": len(loaded),
            "never": env.never_written,
            "keep_logits": use_kl_loss,
            "value_trains_model": value_trains_model,
        },
    )
    return (
        PPOConfig()
        .environment(
            TOKEN_ENV,
            env_config=env_config,
            observation_space=env.observation_space,
            action_space=env.action_space,
            disable_env_checking=True,
        )
        .framework("torch")
        .env_runners(
            num_env_runners=num_env_runners,
            num_envs_per_env_runner=num_envs_per_env_runner,
            num_gpus_per_env_runner=num_gpus_per_env_runner,
            rollout_fragment_length="auto",
            # With "complete_episodes" RLlib seeds the environments anew at every iteration, so that the same tasks come
            # again and again, and prefers episodes that end soon.
            batch_mode="truncate_episodes",
        )
        .learners(
            num_learners=num_learners,
            num_gpus_per_learner=num_gpus_per_learner,
            learner_class=TokenLearner,
            learner_config_dict={"value_learning_rate": value_learning_rate},
        )
        .training(
            lr=learning_rate,
            train_batch_size_per_learner=batch_tokens,
            minibatch_size=minibatch_tokens,
            num_epochs=epochs,
            shuffle_batch_per_epoch=False,  # in order, an episode's windows are read in one pass
            gamma=gamma,
            lambda_=lambda_,
            clip_param=clip,
            entropy_coeff=entropy_coeff,
            vf_loss_coeff=value_coeff,
            vf_clip_param=float("inf"),  # RLlib clips the loss, not the step: a value far off would never be learnt
            use_kl_loss=use_kl_loss,
            grad_clip=grad_clip,
            grad_clip_by="global_norm",
        )
        .callbacks(TokenCallbacks)
        .rl_module(rl_module_spec=module)
        .debugging(seed=seed)
    )


def trained_model(algorithm: Any, model: Any = None) -> Any:
    """The language model as it was trained, for ``save_pretrained`` and ``TransformersPolicy``.

    Args:
        algorithm: What ``ppo_config(...).build_algo()`` gave.
        model: A model of the same shape that gets the weights; by default a copy of the algorithm's own.
    """
    import torch

    if model is None:
        spec = algorithm.config.get_rl_module_spec(spaces={DEFAULT_MODULE_ID: _spaces(algorithm)})
        model = load_causal_model(spec.model_config["model"])
    weights = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    own = {key.removeprefix("model."): torch.as_tensor(value) for key, value in weights.items() if key[:6] == "model."}
    model.load_state_dict(own)
    return model


def _spaces(algorithm: Any) -> tuple[Any, Any]:
    return algorithm.config.observation_space, algorithm.config.action_space


def _end_tokens(model: Any) -> list[int]:
    """The tokens that the model's own generation settings name."""
    if isinstance(model, (str, os.PathLike)):
        from transformers import GenerationConfig

        try:
            settings = GenerationConfig.from_pretrained(model)
        except OSError:  # a folder need not hold any
            return []
    else:
        settings = getattr(model, "generation_config", None)
    named = getattr(settings, "eos_token_id", None)
    return list(named) if isinstance(named, (list, tuple)) else [] if named is None else [named]
