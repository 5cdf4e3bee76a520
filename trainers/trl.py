"""GRPO through TRL, on any registered id or several at once::

    rollouts = EpisodeRollouts("apibank/L1-v0", tokenizer, split="train")
    trainer = GRPOTrainer(
        model, args=GRPOConfig(reward_weights=rollouts.reward_weights, ...),
        train_dataset=rollouts.dataset(), reward_funcs=rollouts.reward_funcs,
        processing_class=tokenizer, rollout_func=rollouts,
    )

Episodes may take several turns, and tools may differ from task to task. ``rollout_func`` is
experimental in TRL and may change; this module was tested with trl 1.16 (the ``train`` extra pins it).

The dataset's ``prompt`` column holds references (id and task id), from which the rollout plays the
episode; the prompt that the model sees is the environment's first observation. Group members get the
same task and the same episode seed.

The model writes by the trainer's own settings, with transformers or vLLM. ``max_completion_length`` is the limit of one
action: an action that reaches it is cut off, nothing of it is run, and the episode ends ``truncated``. TRL's
``mask_truncated_completions`` looks at a row's last token alone. So it leaves out rows whose last action was cut off,
and keeps those that ran out of steps or of ``max_episode_tokens``, whose last action has its end.

An episode that broke (a tool that hung, a worker that was lost) has no reward of any name: TRL leaves it out of its
group's mean. No token of it is trained on.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from callgym.dialects.chat_template import ChatTemplate, no_tools
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.local_stage import LocalStage
from callgym.rollouts.ray.workers import RayWorkers
from callgym.rollouts.retries import Retries
from callgym.rollouts.stage import Stage, Start
from callgym.trainers.action_writer import ActionWriter
from callgym.trainers.batch_play import BatchPlay
from callgym.trainers.conversation import ChatRenderer, dialect_for
from callgym.trainers.episode_log import EpisodeLog
from callgym.trainers.training_row import Renderers, TrainingRow

__all__ = ["EpisodeRollouts", "TaskSampler"]

_SEPARATOR = "\u241f"
_NO_LIMIT = 2**31


class TaskSampler(Protocol):
    """Which tasks are trained on; ``callgym.trainers.curriculum`` has some."""

    def rows(self, ids_to_task_ids: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        """Pairs of id and task id, one a row of the dataset; a pair may come several times."""

    def observe(self, episode: Episode) -> None:
        """Called with every finished episode of this process."""


class EpisodeRollouts:
    """Plays whole episodes with the trainer's model: TRL's ``rollout_func``."""

    def __init__(
        self,
        ids: str | Sequence[str],
        tokenizer: Any,
        *,
        seed: int = 0,
        max_prompt_tokens: int | None = None,
        max_episode_tokens: int | None = None,
        on_episode: Callable[[Episode], None] | None = None,
        workers: RayWorkers | int | None = None,
        limits: RolloutLimits | None = None,
        generation_batch: int | None = None,
        sampler: TaskSampler | None = None,
        **env_options: Any,
    ) -> None:
        """Prepare the environments.

        Args:
            ids: One registered id, or several to mix.
            tokenizer: The policy's tokenizer; with a chat template that takes tools, messages go through it, and
                calls are read in the dialect that it writes, unless ``env_options`` give another.
            seed: Seed of the episodes.
            max_prompt_tokens: Tasks with a longer first observation are left out of the dataset.
            max_episode_tokens: An episode whose tokens after the prompt reach this many is truncated;
                no limit beside the environment's ``max_steps`` and the model's context by default.
            on_episode: Called with every finished episode's record, in the order of the batch.
            workers: Where the environments run: in this process by default, else on so many Ray workers. Each process
                of a distributed run has its own.
            limits: Within which episodes are played, and how often one that breaks is begun again. Without limits and
                workers an exception out of an environment ends the run.
            generation_batch: Most conversations that the model writes for at once: the tools of others run meanwhile.
                By default it waits for all tools and writes for all, so that which actions are sampled together does
                not depend on the clock. Where several processes train together it waits as well.
            sampler: Which tasks the dataset holds; every task once by default.
            env_options: Arguments of ``gym.make``; ``split`` is ``"train"`` unless given.

        Raises:
            ConfigurationError: An id or an option is wrong, or the chat template rewrites what it wrote before.
        """
        self.ids = (ids,) if isinstance(ids, str) else tuple(ids)
        options = {"split": "train", **env_options, "observation": "delta"}
        self._tokenizer = tokenizer
        template = ChatTemplate(tokenizer)
        choice = dialect_for(template, env_options.get("dialect"))
        if choice.dialect is not None:
            options["dialect"] = choice.dialect
        self._renderers = Renderers(tokenizer, template)
        self._seed = seed
        self._max_prompt_tokens = max_prompt_tokens
        self._max_episode_tokens = max_episode_tokens
        self._on_episode = on_episode
        self._workers = _as_workers(workers)
        self._limits = limits or (None if self._workers is None else RolloutLimits())
        self._generation_batch = _at_least_one("generation_batch", generation_batch)
        self._sampler = sampler
        self._makers = {id: functools.partial(make_tool_env, id, **options) for id in self.ids}
        self._local = LocalStage(self._makers, _NO_LIMIT, self._limits)
        self._stage: Stage | None = None
        self._log = EpisodeLog()
        envs = [self._take(id) for id in self.ids]
        self._reward_names = tuple(dict.fromkeys(name for env in envs for name in env.rubric.reward_names))
        dialects = sorted({env.dialect.name for env in envs})
        words = choice.words
        if template.takes_tools and choice.dialect is None:
            words = f"no dialect was given, and calls are read as {dialects}: {template.detection.reason}"
        if template.exists and not template.takes_tools:
            words = f"{no_tools(template)}; {words or f'calls are read as {dialects}'}"
        if words:
            warnings.warn(words, stacklevel=2)
        for env in envs:
            renderer = self._renderers.of(env.dialect)
            if isinstance(renderer, ChatRenderer) and any(env.protocol_of(t) == "dialogue" for t in env.tasks):
                renderer.check_growth()

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """Reward functions for TRL: the return, then each of the rubric's rewards under its own name.

        The first one logs what ``EpisodeLog`` holds beside them.
        """
        return [_reading("episode_return", self._log), *(_reading(name) for name in self._reward_names)]

    @property
    def reward_weights(self) -> list[float]:
        """Weights for ``GRPOConfig``: the return is what is trained on, the rest is logged."""
        return [1.0] + [0.0] * len(self._reward_names)

    @property
    def metrics(self) -> dict[str, float]:
        """What was logged of the last batch; see ``EpisodeLog``."""
        return self._log.latest

    def dataset(self, limit: int | None = None, order: TaskSampler | None = None) -> Any:
        """A ``datasets.Dataset`` with a row a task, or the rows of a sampler.

        Args:
            limit: At most so many tasks of each id, the first ones.
            order: A sampler for this dataset; the constructor's by default.

        Raises:
            ConfigurationError: No task's prompt is within ``max_prompt_tokens``, or the sampler gives other tasks.
        """
        datasets = _import_datasets()
        tasks = {id: self._short_tasks(id)[:limit] for id in self.ids}
        if not any(tasks.values()):
            raise ConfigurationError(
                f"no task of {', '.join(self.ids)} has a prompt of at most {self._max_prompt_tokens} tokens"
            )
        sampler = order or self._sampler
        pairs = [(id, task) for id, known in tasks.items() for task in known]
        if sampler is not None:
            pairs = _checked(sampler.rows(tasks), set(pairs))
        return datasets.Dataset.from_list([{"prompt": f"{id}{_SEPARATOR}{task}"} for id, task in pairs])

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """Play one episode a prompt; TRL calls this with each prompt repeated for its group.

        Args:
            prompts: References from ``dataset``.
            trainer: The GRPOTrainer, whose model generates.

        Returns:
            ``prompt_ids``, ``completion_ids``, ``env_mask`` (1 for the model's tokens), ``logprobs`` (None
            where the generator gives none), ``episode_return`` and each reward by name, None where the episode broke.

        Raises:
            ConfigurationError: A prompt is none of ``dataset``, or longer than what the model can read.
        """
        rows = [self._row(number, reference) for number, reference in enumerate(prompts)]
        starts = [
            Start(row.key, row.task_id, _seed_of(self._seed, trainer.state.global_step, reference), row.id)
            for row, reference in zip(rows, prompts, strict=True)
        ]
        writer = ActionWriter(trainer, self._tokenizer)
        play = BatchPlay(
            self._open(len(rows)),
            writer,
            self._renderers,
            rows,
            generation_batch=self._generation_batch,
            max_episode_tokens=self._max_episode_tokens,
        )
        play.play(starts)
        self._log.add_times(writer.seconds, play.waiting_seconds)
        self._tell(rows)
        return self._columns(rows)

    def close(self) -> None:
        """Close the environments, and end the workers."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None
        self._local.close()

    def _row(self, number: int, reference: str) -> TrainingRow:
        id, _, task_id = reference.partition(_SEPARATOR)
        if id not in self._makers:
            raise ConfigurationError(f"prompt of an unknown id {id!r}; take prompts from dataset()")
        return TrainingRow(number, id, task_id)

    def _open(self, seats: int) -> Stage:
        """The stage, which is opened once: with seats for the first batch; of a larger one some wait."""
        if self._stage is None:
            stage: Stage = self._local
            if self._workers is not None:
                assert self._limits is not None
                stage = self._workers.open(self._makers, None, self._limits, seats)
            self._stage = stage if self._limits is None else Retries(stage, self._limits.attempts)
        return self._stage

    def _tell(self, rows: Sequence[TrainingRow]) -> None:
        """Log and hand on what was played, in the batch's order, whatever was over first."""
        causes: Counter[str] = Counter()
        for row in rows:
            if isinstance(row.outcome, Episode):
                self._log.add(row.outcome, row.cut)
                if self._on_episode is not None:
                    self._on_episode(row.outcome)
                if self._sampler is not None:
                    self._sampler.observe(row.outcome)
            elif row.outcome is not None:
                self._log.add_failure(row.outcome)
                causes[f"{row.outcome.kind} ({row.outcome.message})"] += 1
        if causes:
            said = "; ".join(f"{count} of {cause}" for cause, count in causes.most_common(3))
            warnings.warn(
                f"{causes.total()} of {len(rows)} episodes broke and are left out of this step: {said}", stacklevel=3
            )

    def _columns(self, rows: Sequence[TrainingRow]) -> dict[str, list[Any]]:
        scored = any(row.conversation.logprobs for row in rows)
        columns: dict[str, Any] = {
            "prompt_ids": [row.conversation.prompt_ids for row in rows],
            "completion_ids": [row.conversation.completion_ids for row in rows],
            "env_mask": [row.conversation.mask for row in rows],
            "logprobs": [row.logprobs() for row in rows] if scored else None,
        }
        episodes = [row.outcome if isinstance(row.outcome, Episode) else None for row in rows]
        columns["episode_return"] = [None if episode is None else episode.episode_return for episode in episodes]
        for name in self._reward_names:
            columns[name] = [None if episode is None else _known_score(episode, name) for episode in episodes]
        return columns

    def _take(self, id: str) -> ToolEnv:
        """An environment of this id, to look at."""
        return self._local.seat(id).tool_env

    def _short_tasks(self, id: str) -> list[str]:
        env = self._take(id)
        if self._max_prompt_tokens is None:
            return [task.id for task in env.tasks]
        short = []
        for index, task in enumerate(env.tasks):
            observation, info = env.reset(seed=0, options={"task": index})
            ids = self._renderers.of(env.dialect).prompt(observation, info["messages"], info["tools"])
            if len(ids) <= self._max_prompt_tokens:
                short.append(task.id)
        return short


def _known_score(episode: Episode, name: str) -> float | None:
    """A reward's score for the logs.

    None where the return is unknown: TRL leaves a row out only if all of its rewards are None.
    """
    score = episode.rewards.get(name)
    return None if score is None or episode.episode_return is None else score.value


def _reading(name: str, log: EpisodeLog | None = None) -> Callable[..., list[float | None]]:
    """A TRL reward function that reads the column of that name, and hands a log over."""

    def reward(**columns: Any) -> list[float | None]:
        if log is not None:
            log.flush(columns.get("log_metric"))
        values: list[float | None] = columns[name]
        return values

    reward.__name__ = name
    return reward


def _seed_of(seed: int, global_step: int, reference: str) -> int:
    text = f"{seed}/{global_step}/{reference}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


def _checked(pairs: Sequence[tuple[str, str]], known: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """A sampler's rows."""
    other = next((pair for pair in pairs if pair not in known), None)
    if other is not None or not pairs:
        given = "no row" if other is None else f"the row {other!r}"
        raise ConfigurationError(f"the sampler gave {given}; rows are pairs of an id and a task id that it was given")
    return list(pairs)


def _as_workers(workers: RayWorkers | int | None) -> RayWorkers | None:
    found = RayWorkers(workers) if isinstance(workers, int) else workers
    if found is not None and found.policy != "driver":
        raise ConfigurationError(
            f"RayWorkers(policy={found.policy!r}): here the trainer's model acts, in this process; leave policy out"
        )
    return found


def _at_least_one(name: str, value: int | None) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ConfigurationError(f"{name} is a whole number of at least 1, or None, got {value!r}")
    return value


def _import_datasets() -> Any:
    with contextlib.suppress(ImportError):
        import datasets

        return datasets
    raise MissingPackageError.for_extra("datasets", "train")
