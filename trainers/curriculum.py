"""Which task each group of episodes plays: weights by id, stages, and tasks that are neither too easy nor too hard::

    rollouts = EpisodeRollouts(["apibank/L1-v0", "when2call/open-v0"], tokenizer)
    rows = CurriculumRollouts(
        rollouts,
        [
            Stage({"apibank/L1-v0": 1}, until_return=0.6),
            Stage({"apibank/L1-v0": 1, "when2call/open-v0": 3}),
        ],
        difficulty=Difficulty(),
    )
    trainer = GRPOTrainer(
        model, args=GRPOConfig(reward_weights=rows.reward_weights, ...),
        train_dataset=rows.dataset(), reward_funcs=rows.reward_funcs, rollout_func=rows, ...
    )

TRL's sampler draws an epoch's row numbers before the first of them is played, and the data loader fetches ahead and
skips rows when a run is resumed. So a sampler, or a dataset that is a stream, cannot know what was learned so far.
Here a row is a *slot*, an empty seat for a group, and its task is drawn when the group is played: from the run's
seed, how often was drawn before, and the returns so far. Slots and returns are gathered over all processes first, so
each draws the same, and a group that straddles two processes plays one task. What was drawn and learned so far is in
``trainer.state``, which TRL writes into every checkpoint and reads again with ``resume_from_checkpoint``.

Where a fixed mix is all that is wanted, ``SamplingWeights`` gives rows for it, and nothing is drawn while training.
"""

from __future__ import annotations

import bisect
import contextlib
import difflib
import itertools
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.plan import derive_seed

__all__ = [
    "Curriculum",
    "CurriculumRollouts",
    "CurriculumState",
    "Difficulty",
    "SamplingWeights",
    "Stage",
    "order_by_epoch",
]

_SLOT = "slot\u241f"
_STATE = "callgym.curriculum"
_MOST_ROWS = 100_000
_FEWEST_SLOTS = 1_024


@dataclass(frozen=True, slots=True)
class SamplingWeights:
    """A fixed mix of ids, as rows of a dataset: ``EpisodeRollouts(ids, tokenizer, sampler=SamplingWeights({...}))``."""

    weights: Mapping[str, float]
    """Share of the rows by id, in any unit: ``{"apibank/L1-v0": 3, "when2call/open-v0": 1}``."""
    seed: int = 0
    """Seed of the order in which an id's tasks come."""

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def rows(self, ids_to_task_ids: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        """Pairs of id and task id whose ids are in the weights' proportion.

        Every task comes at least once where 100 000 rows are enough for it; else the tasks that come are drawn.

        Raises:
            ConfigurationError: A weight's id is not there or has no tasks.
        """
        _check_ids(self.weights, ids_to_task_ids)
        shares = _shares(self.weights)
        counts = {id: len(ids_to_task_ids[id]) for id in shares}
        wanted = max(counts[id] / share for id, share in shares.items())
        total = min(wanted, max(_MOST_ROWS, sum(counts.values())))
        rows = []
        for id, share in shares.items():
            tasks = _shuffled(ids_to_task_ids[id], derive_seed("weights", self.seed, id))
            # Rounded up where it is a task's only row; floats of a share are not exact.
            count = max(1, math.ceil(total * share - 1e-9))
            rows += [(id, task) for task in itertools.islice(itertools.cycle(tasks), count)]
        return rows

    def observe(self, episode: Episode) -> None:
        """Nothing: the mix is fixed."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a curriculum. It ends at the first of its two ends that is reached; the last stage has none."""

    weights: Mapping[str, float]
    """Share of the groups by id, in any unit."""
    until_return: float | None = None
    """Ends when the mean return of the last ``window`` groups is at least this."""
    until_step: int | None = None
    """Ends at this optimiser step, counted from the run's start."""
    window: int = 32
    """Groups with a known return that ``until_return`` looks at; only this stage's groups count."""

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        if self.until_return is not None and not math.isfinite(self.until_return):
            raise ConfigurationError(f"until_return={self.until_return} is no finite number")
        if self.until_step is not None and self.until_step < 1:
            raise ConfigurationError(f"until_step={self.until_step} is before the first step; give 1 or more")
        if self.window < 1:
            raise ConfigurationError(f"window={self.window}: a stage's return is a mean of 1 group or more")


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Prefers tasks whose recent return is neither 0 nor 1: where all of a group fail, or none, nothing is learned.

    A task of mean return p has weight ``floor + (1 - floor) * 4 p (1 - p)``, and one that was not played yet has 1.
    """

    floor: float = 0.1
    """Weight of a task of return 0 or 1, beside 1 for one of 0.5: it must be tried again to be found changed."""
    rate: float = 0.5
    """How far a task's mean moves towards each new group's."""

    def __post_init__(self) -> None:
        if not 0 < self.floor <= 1:
            raise ConfigurationError(f"floor={self.floor} is not in (0, 1]; with 0 a task could never be tried again")
        if not 0 < self.rate <= 1:
            raise ConfigurationError(f"rate={self.rate} is not in (0, 1]")

    def weight(self, mean: float | None) -> float:
        """The weight of a task of that mean return; None for one without a known return."""
        if mean is None:
            return 1.0
        p = min(1.0, max(0.0, mean))
        return self.floor + (1 - self.floor) * 4 * p * (1 - p)


@dataclass(frozen=True, slots=True)
class CurriculumState:
    """What a curriculum has drawn and seen; plain JSON as ``asdict``."""

    draws: int = 0
    """Batches drawn."""
    stage: int = 0
    """Number of the stage."""
    recent: tuple[float, ...] = ()
    """Mean returns of this stage's last groups, oldest first."""
    means: Mapping[str, float] = field(default_factory=dict)
    """Recent return by task, of tasks with a known return; kept only where difficulty counts."""

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> CurriculumState:
        """From JSON."""
        return cls(saved["draws"], saved["stage"], tuple(saved["recent"]), dict(saved["means"]))

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"draws": self.draws, "stage": self.stage, "recent": list(self.recent), "means": dict(self.means)}


class Curriculum:
    """Draws tasks. It keeps nothing itself: each method takes the state, and returns the next one."""

    def __init__(
        self,
        stages: Sequence[Stage] | Mapping[str, float],
        tasks: Mapping[str, Sequence[str]],
        *,
        seed: int = 0,
        difficulty: Difficulty | None = None,
    ) -> None:
        """Check that stages and tasks fit.

        Args:
            stages: One or more stages, or weights for the whole run.
            tasks: The tasks' names by id; a name is of one id only.
            seed: Seed of the draws.
            difficulty: How much a task's recent return counts; every task of an id is as likely by default.

        Raises:
            ConfigurationError: A stage has an id that has no tasks, one before the last has no end, or the last has.
        """
        self.stages = (Stage(stages),) if isinstance(stages, Mapping) else tuple(stages)
        self._tasks = tasks
        self._seed = seed
        self._difficulty = difficulty
        if not self.stages:
            raise ConfigurationError("a curriculum without stages; give one at least")
        for number, stage in enumerate(self.stages, start=1):
            _check_ids(stage.weights, tasks)
            ends = stage.until_return is not None or stage.until_step is not None
            if number < len(self.stages) and not ends:
                raise ConfigurationError(
                    f"stage {number} of {len(self.stages)} never ends, so later ones never come; "
                    "give it until_return or until_step"
                )
            if number == len(self.stages) and ends:
                raise ConfigurationError(f"stage {number} is the last and has an end; what is to come after it?")

    def draw(self, state: CurriculumState, groups: int, step: int) -> tuple[list[str], CurriculumState]:
        """Tasks for one batch; none comes twice while another of its id is left.

        Args:
            state: What was drawn and seen so far.
            groups: Number of tasks to draw.
            step: Optimiser steps done.

        Raises:
            ConfigurationError: The state is of a curriculum with more stages.
        """
        state = self._advanced(state, step)
        shares = _shares(self.stages[state.stage].weights)
        rng = random.Random(derive_seed("curriculum", self._seed, state.draws))
        drawn: list[str] = []
        for _ in range(groups):
            id = _pick(rng, list(shares), list(shares.values()))
            taken = set(drawn)
            left = [task for task in self._tasks[id] if task not in taken] or list(self._tasks[id])
            drawn.append(_pick(rng, left, self._weights(left, state)))
        return drawn, replace(state, draws=state.draws + 1)

    def observe(self, state: CurriculumState, groups: Iterable[tuple[str, Sequence[float | None]]]) -> CurriculumState:
        """Take in the returns of groups that were played.

        Args:
            state: What was drawn and seen so far.
            groups: Each group's task and its members' returns; None is not known, and counts for nothing.
        """
        recent, means = list(state.recent), dict(state.means)
        for task, returns in groups:
            known = [value for value in returns if value is not None]
            if not known:
                continue
            mean = sum(known) / len(known)
            recent.append(mean)
            if self._difficulty is not None:
                before = means.get(task)
                means[task] = mean if before is None else before + self._difficulty.rate * (mean - before)
        window = self.stages[state.stage].window
        return replace(state, recent=tuple(recent[-window:]), means=means)

    def _advanced(self, state: CurriculumState, step: int) -> CurriculumState:
        if state.stage >= len(self.stages):
            raise ConfigurationError(
                f"the checkpoint is in stage {state.stage + 1} and this curriculum has {len(self.stages)}; "
                "resume with the stages that the run began with"
            )
        while state.stage < len(self.stages) - 1 and _ended(self.stages[state.stage], state.recent, step):
            state = replace(state, stage=state.stage + 1, recent=())
        return state

    def _weights(self, tasks: Sequence[str], state: CurriculumState) -> list[float]:
        if self._difficulty is None:
            return [1.0] * len(tasks)
        return [self._difficulty.weight(state.means.get(task)) for task in tasks]


class CurriculumRollouts:
    """``EpisodeRollouts`` whose tasks are drawn by a curriculum: used in its place with any trainer.

    Prompts that are not of its own ``dataset``, as in an evaluation, are played as they are and teach it nothing.
    """

    def __init__(
        self,
        rollouts: Any,
        stages: Sequence[Stage] | Mapping[str, float],
        *,
        seed: int = 0,
        difficulty: Difficulty | None = None,
        limit: int | None = None,
    ) -> None:
        """Take the rollouts' tasks.

        Args:
            rollouts: ``EpisodeRollouts`` of all ids.
            stages: Stages, or weights by id for the whole run.
            seed: Seed of the draws; with the same seed a run draws the same, on one process or several.
            difficulty: Whether, and how, tasks of middling return are preferred.
            limit: At most so many tasks of each id, the first ones.

        Raises:
            ConfigurationError: Stages, weights and ids don't fit.
        """
        self._rollouts = rollouts
        tasks: dict[str, list[str]] = {id: [] for id in rollouts.ids}
        for reference in dict.fromkeys(rollouts.dataset(limit)["prompt"]):
            # The longest, because an id may begin with another one.
            tasks[max((id for id in tasks if reference.startswith(id)), key=len)].append(reference)
        self._slots = max(_FEWEST_SLOTS, sum(map(len, tasks.values())))
        self.curriculum = Curriculum(stages, tasks, seed=seed, difficulty=difficulty)

    @property
    def ids(self) -> tuple[str, ...]:
        """The rollouts' ids."""
        ids: tuple[str, ...] = self._rollouts.ids
        return ids

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """The rollouts' reward functions."""
        functions: list[Callable[..., list[float | None]]] = self._rollouts.reward_funcs
        return functions

    @property
    def reward_weights(self) -> list[float]:
        """The rollouts' reward weights."""
        weights: list[float] = self._rollouts.reward_weights
        return weights

    def dataset(self) -> Any:
        """A ``datasets.Dataset`` of slots. An epoch says little here: give ``max_steps``."""
        datasets = _import_datasets()
        return datasets.Dataset.from_list([{"prompt": f"{_SLOT}{number}"} for number in range(self._slots)])

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """Draw a task for each slot and play it; as ``EpisodeRollouts.__call__``."""
        if not prompts[0].startswith(_SLOT):
            columns: dict[str, list[Any]] = self._rollouts(prompts, trainer)
            return columns
        # In the whole batch's order, so that the n-th group plays the n-th task, however it is spread.
        slots = list(dict.fromkeys(_gathered(trainer, prompts)))
        saved = trainer.state.stateful_callbacks.get(_STATE)
        state = CurriculumState() if saved is None else CurriculumState.of(saved)
        drawn, state = self.curriculum.draw(state, len(slots), trainer.state.global_step)
        task_of = dict(zip(slots, drawn, strict=True))
        columns = self._rollouts([task_of[slot] for slot in prompts], trainer)
        returns: dict[str, list[float | None]] = {slot: [] for slot in slots}
        for slot, value in _gathered(trainer, list(zip(prompts, columns["episode_return"], strict=True))):
            returns[slot].append(value)
        state = self.curriculum.observe(state, ((task_of[slot], values) for slot, values in returns.items()))
        trainer.state.stateful_callbacks[_STATE] = state.as_json()
        log = getattr(trainer, "_log_metric", None)
        if log is not None:
            log("callgym/curriculum_stage", state.stage + 1)
        return columns

    def close(self) -> None:
        """Close the environments."""
        self._rollouts.close()


def order_by_epoch(seed: int = 0) -> Any:
    """A callback for ``callbacks=[...]``: the order of a dataset's rows follows from seed and epoch.

    TRL's sampler shuffles each epoch with the generator that shuffled the one before, and a resumed run begins with a
    fresh generator: it repeats the first epoch's order in whichever epoch it goes on in (seen with trl 1.16). With
    this callback a resumed run's prompts are those of the run that was not stopped. A curriculum's slots need it not.

    Raises:
        MissingPackageError: transformers is not installed.
    """
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise MissingPackageError.for_extra("transformers", "train") from error

    class OrderByEpoch(TrainerCallback):  # type: ignore[misc, unused-ignore]
        """Seeds the sampler's generator at the start of every epoch."""

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            generator = getattr(_sampler_of(others["train_dataloader"]), "generator", None)
            if generator is not None:
                generator.manual_seed(derive_seed("epoch", seed, int(state.epoch or 0)))

    return OrderByEpoch()


def _sampler_of(dataloader: Any) -> Any:
    """The innermost sampler: several processes share a batch sampler out in a wrapper of accelerate's."""
    batches = dataloader.batch_sampler
    while hasattr(batches, "batch_sampler"):
        batches = batches.batch_sampler
    return getattr(batches, "sampler", None)


def _ended(stage: Stage, recent: Sequence[float], step: int) -> bool:
    if stage.until_step is not None and step >= stage.until_step:
        return True
    if stage.until_return is None or len(recent) < stage.window:
        return False
    return sum(recent) / len(recent) >= stage.until_return


def _gathered(trainer: Any, values: list[Any]) -> list[Any]:
    """The values of all processes, in the processes' order."""
    accelerator = getattr(trainer, "accelerator", None)
    if accelerator is None or accelerator.num_processes == 1:
        return values
    from accelerate.utils import gather_object

    gathered: list[Any] = gather_object(values)
    return gathered


def _pick(rng: random.Random, values: Sequence[str], weights: Sequence[float]) -> str:
    # Of Python's generators only `random()` promises the same numbers in every version.
    bounds = list(itertools.accumulate(weights))
    return values[min(bisect.bisect_right(bounds, rng.random() * bounds[-1]), len(values) - 1)]


def _shuffled(values: Sequence[str], seed: int) -> list[str]:
    rng = random.Random(seed)
    keys = [rng.random() for _ in values]
    return [values[number] for number in sorted(range(len(values)), key=keys.__getitem__)]


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {id: weight / total for id, weight in sorted(weights.items()) if weight > 0}


def _check_weights(weights: Mapping[str, float]) -> None:
    if not isinstance(weights, Mapping) or not weights:
        raise ConfigurationError(f"weights={weights!r}; give a weight by id, as {{'apibank/L1-v0': 1}}")
    for id, weight in weights.items():
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not is_number or not math.isfinite(weight) or weight < 0:
            raise ConfigurationError(f"the weight of {id!r} is {weight!r}; give a finite number that is not negative")
    if not any(weights.values()):
        raise ConfigurationError(f"all weights are 0: {dict(weights)!r}; nothing could be drawn")


def _check_ids(weights: Mapping[str, float], tasks: Mapping[str, Sequence[str]]) -> None:
    for id, weight in weights.items():
        if id not in tasks:
            close = difflib.get_close_matches(id, tasks, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigurationError(
                f"a weight is given for {id!r}, and the rollouts play {', '.join(sorted(tasks)) or 'nothing'}{hint}"
            )
        if weight > 0 and not tasks[id]:
            raise ConfigurationError(f"{id!r} has a weight and no task to play; give it weight 0, or longer prompts")


def _import_datasets() -> Any:
    with contextlib.suppress(ImportError):
        import datasets

        return datasets
    raise MissingPackageError.for_extra("datasets", "train")
