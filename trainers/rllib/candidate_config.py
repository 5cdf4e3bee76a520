"""PPO on ``CandidateEnv``, as RLlib's own configuration (new API stack)::

    config = candidate_ppo_config("apibank/L1-v0", data="starter", split="train", num_env_runners=1)
    algorithm = config.build_algo()
    algorithm.train()["env_runners"]["episode_return_mean"]

RLlib does the rest: its EnvRunner actors play, its learners learn, ``algorithm.save_to_path`` saves. What this
returns is a PPOConfig like any other, and can be changed before it is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.errors import MissingPackageError
from callgym.trainers.rllib.candidate_env import CandidateEnv

__all__ = ["ENV_NAME", "candidate_ppo_config", "make_candidate_env"]

ENV_NAME = "callgym-candidates"
"""What RLlib knows the environment by."""
_TRAINING: dict[str, Any] = {
    "lr": 1e-3,
    "train_batch_size_per_learner": 1024,
    "minibatch_size": 256,
    "num_epochs": 4,
    "gamma": 1.0,  # the return is the episode's score, not discounted
    "lambda_": 0.95,
    "clip_param": 0.2,
    "entropy_coeff": 0.01,
    "vf_loss_coeff": 0.5,
    "use_kl_loss": False,
    "grad_clip": 1.0,
}


def make_candidate_env(config: Mapping[str, Any]) -> CandidateEnv:
    """The environment of an RLlib worker, from its ``env_config``: the arguments of CandidateEnv by name.

    An ``EnvContext`` says more than they are (which worker it is): only its items count.
    """
    options = dict(config)
    options.pop("num_envs", None)  # RLlib's own, for environments that are vectors already
    return CandidateEnv(**options)


def candidate_ppo_config(
    env_id: str,
    *,
    candidates: int = 8,
    features: int = 256,
    hidden: int = 64,
    seed: int = 0,
    num_env_runners: int = 0,
    num_envs_per_env_runner: int = 16,
    num_learners: int = 0,
    num_gpus_per_learner: float = 0,
    training: Mapping[str, Any] | None = None,
    **env_options: Any,
) -> Any:
    """A ``PPOConfig`` that learns to rank an id's offered actions.

    Args:
        env_id: A registered id.
        candidates: Most actions on offer at a time.
        features: Places of a bag of words.
        hidden: Width of the network.
        seed: Of tasks, offers, weights and sampling.
        num_env_runners: Processes that play; 0 plays in the learner's own.
        num_envs_per_env_runner: Environments side by side in each.
        num_learners: Processes that learn; 0 learns in this one.
        num_gpus_per_learner: GPUs of each, passed on to RLlib.
        training: Arguments of ``PPOConfig.training`` in place of ours, which suit small batches on a CPU.
        env_options: Arguments of ``gym.make``: ``split``, ``data``, ``rubric`` and so on.

    Raises:
        ConfigurationError: An option of the environment has a value it cannot have. The environment is made once
            here, since an error on a worker is hard to read.
        DataError: Data is missing or damaged.
        MissingPackageError: Ray with RLlib, or torch, is not installed.
    """
    try:
        import torch  # noqa: F401  # RLlib takes its absence for a wish to use another framework
        from ray.rllib.algorithms.ppo import PPOConfig
        from ray.rllib.core.rl_module.rl_module import RLModuleSpec
        from ray.tune.registry import register_env
    except ImportError as error:
        raise MissingPackageError.for_extra("ray[rllib] with torch", "ray,train") from error
    from callgym.trainers.rllib.candidate_learner import CandidateLearner
    from callgym.trainers.rllib.candidate_module import CandidateModule

    env_config = {"env_id": env_id, "candidates": candidates, "features": features, "keep_info": False, **env_options}
    env = make_candidate_env(env_config)
    env.close()
    register_env(ENV_NAME, make_candidate_env)
    config: Any = PPOConfig  # its methods carry no types
    return (
        config()
        .environment(
            ENV_NAME,
            env_config=env_config,
            observation_space=env.observation_space,
            action_space=env.action_space,
        )
        .framework("torch")
        .debugging(seed=seed)
        .env_runners(
            num_env_runners=num_env_runners,
            num_envs_per_env_runner=num_envs_per_env_runner,
            rollout_fragment_length="auto",
        )
        .learners(num_learners=num_learners, num_gpus_per_learner=num_gpus_per_learner, learner_class=CandidateLearner)
        .training(**{**_TRAINING, **(training or {})})
        .rl_module(rl_module_spec=RLModuleSpec(module_class=CandidateModule, model_config={"hidden": hidden}))
    )
