"""A rubric: rewards by name that make up the return of an episode::

    Rubric(name="mine", weights={"call_exact_match": 0.7, "argument_f1": 0.3})
    Rubric(name="strict", weights={"argument_f1": 1.0}, gates={"format_validity": 1.0})
    Rubric(name="product", factors=("tool_name_f1", "argument_accuracy"))

The return is built in this order:

1. the weighted mean over the rewards of ``weights`` and ``steps`` that apply to the task (1 where only
   factors apply);
2. times each of ``factors`` that applies;
3. zero where a reward of ``gates`` that applies is below its least value;
4. where calls could be read only after a repair (a dialect's option), times the calls over the calls and the
   repairs together: such a call never pays as much as a well-formed one, whatever the rubric looks at;
5. put on the scale from ``low`` to ``high``, which are 0 and 1 unless the rubric says otherwise.

A reward of weight 0 is computed and logged and pays nothing. Where a reward that counts could not be
computed, the return is None: unknown, not 0.

``steps`` are paid as they are earned: a step's reward is its share, and the last step's reward is what
is left of the return, so that step rewards sum to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated

from pydantic import Field, model_validator

from callgym.episode import Episode, Score, Step
from callgym.errors import ConfigurationError
from callgym.noun import Noun
from callgym.rewards.registry import RewardEntry, find_reward, find_step_reward, goal_kinds
from callgym.task import Task

__all__ = ["Rubric"]

_Weight = Annotated[float, Field(ge=0.0)]
_NOT_ASKED = Score(applies=False, explanation={"reason": "the task has no goal of the kind this reward asks for"})


class Rubric(Noun):
    """What is paid, and how it adds up; see the module's docstring."""

    name: str = Field(min_length=1)
    """Shown in records and logs."""
    weights: dict[str, _Weight] = {}
    """Reward name to weight in the mean."""
    gates: dict[str, Annotated[float, Field(gt=0.0, le=1.0)]] = {}
    """Reward name to the least value below which everything else is worth nothing."""
    factors: tuple[str, ...] = ()
    """Names of rewards that multiply the mean."""
    steps: dict[str, _Weight] = {}
    """Step reward name to weight in the mean."""
    low: float = 0.0
    """The return of an episode that earns nothing."""
    high: float = 1.0
    """The return of an episode that earns everything."""
    source: str = ""
    """The paper or benchmark that the design is from."""

    @model_validator(mode="after")
    def _adds_up(self) -> Rubric:
        for name in (*self.weights, *self.gates, *self.factors):
            find_reward(name)
        for name in self.steps:
            find_step_reward(name)
        weights = [*self.weights.values(), *self.steps.values()]
        if not (any(weights) or self.factors):
            raise ValueError("at least one weight is above 0, or there is a factor")
        if not math.isfinite(sum(weights)):
            raise ValueError("the sum of the weights is too large")
        if not self.low < self.high:
            raise ValueError(f"low={self.low} must be below high={self.high}")
        return self

    @property
    def reward_names(self) -> tuple[str, ...]:
        """Names of all rewards that are computed, once each."""
        return tuple(dict.fromkeys((*self.weights, *self.gates, *self.factors, *self.steps)))

    def score(self, task: Task, episode: Episode) -> tuple[float | None, dict[str, Score]]:
        """The return of an episode and every reward's score; the return is None where it is unknown.

        Raises:
            ConfigurationError: ``episode`` is no Episode.
        """
        if not isinstance(episode, Episode):
            raise ConfigurationError(
                f"a rubric scores an Episode, got {type(episode).__name__}; Episode.from_dict and from_json read one"
            )
        kinds = goal_kinds(task)
        plain, entries = self._plan
        scores: dict[str, Score] = {}
        total, weight_sum, unknown = 0.0, 0.0, False
        for name, weight, entry in entries:
            if entry.not_asked is not None and entry.goal not in kinds:
                scores[name] = entry.not_asked
                continue
            score = scores[name] = entry.reward(task, episode)
            if weight and score.applies:
                value = score.value
                if value is None:
                    unknown = True
                else:
                    total += weight * value
                    weight_sum += weight
        for step in episode.steps:
            if step.errors:
                well_formed = _well_formed(episode.steps)
                break
        else:
            well_formed = 1.0
        if plain:
            return (total / weight_sum * well_formed if weight_sum and not unknown else None), scores
        self._score_the_rest(kinds, task, episode, scores)
        for name, weight in self.steps.items():
            if weight and (score := scores[name]).applies and score.value is not None:
                total += weight * score.value
                weight_sum += weight
        mean = total / weight_sum if weight_sum else None
        return (None if unknown else self._finished(mean, scores, well_formed)), scores

    @cached_property
    def _plan(self) -> tuple[bool, list[tuple[str, float, RewardEntry]]]:
        """Whether the return is just the mean of the weights, and the rewards of the weights, looked up once."""
        plain = not (self.gates or self.factors or self.steps) and (self.low, self.high) == (0.0, 1.0)
        return plain, [(name, weight, find_reward(name)) for name, weight in self.weights.items()]

    def _score_the_rest(self, kinds: Sequence[type], task: Task, episode: Episode, scores: dict[str, Score]) -> None:
        for name in (*self.gates, *self.factors):
            if name not in scores:
                scores[name] = _score(find_reward(name), kinds, task, episode)
        for name in self.steps:
            entry = find_step_reward(name)
            if entry.goal is not None and entry.goal not in kinds:
                scores[name] = _NOT_ASKED
                continue
            shares = [entry.reward(task, episode.steps, index) for index in range(len(episode.steps))]
            value = min(1.0, max(0.0, math.fsum(shares)))
            scores[name] = Score(value=value, explanation={"steps": list(shares)})

    def _finished(self, mean: float | None, scores: Mapping[str, Score], well_formed: float) -> float | None:
        """The mean after factors, gates, repairs and scale."""
        applying = [scores[name] for name in self.factors if scores[name].applies]
        if mean is None:
            if not applying:
                return None
            mean = 1.0
        for score in applying:
            if score.value is None:
                return None
            mean *= score.value
        for name, least in self.gates.items():
            gate = scores[name]
            if gate.applies and gate.value is None:
                return None
            if gate.applies and gate.value is not None and gate.value < least:
                mean = 0.0
        return self.low + (self.high - self.low) * mean * well_formed

    def step_reward(self, task: Task, steps: Sequence[Step], index: int) -> float:
        """What step ``index`` is paid at once: its shares of the step rewards, weighted as in the mean.

        The mean's other rewards are counted as applying where the task has their kind of goal.
        """
        kinds = goal_kinds(task)
        paid, weight_sum = 0.0, 0.0
        for name, weight in self.weights.items():
            goal = find_reward(name).goal
            weight_sum += weight if goal is None or goal in kinds else 0.0
        for name, weight in self.steps.items():
            entry = find_step_reward(name)
            if entry.goal is None or entry.goal in kinds:
                weight_sum += weight
                paid += weight * entry.reward(task, steps, index)
        return (self.high - self.low) * paid / weight_sum if weight_sum else 0.0

    def lines(self) -> Iterator[str]:
        """The rubric as a person would read it."""
        yield f"rubric {self.name}" + (f"   ({self.source})" if self.source else "")
        parts = {"weight": self.weights, "step by step, weight": self.steps, "gate, at least": self.gates}
        for title, part in parts.items():
            yield from (f"  {name}: {title} {value:g}" for name, value in part.items())
        for name in self.factors:
            yield f"  {name}: factor"
        if (self.low, self.high) != (0.0, 1.0):
            yield f"  on the scale from {self.low:g} to {self.high:g}"


def _well_formed(steps: Sequence[Step]) -> float:
    """Calls over calls and repairs together."""
    calls = sum([len(step.calls) for step in steps])
    repairs = sum([error.kind == "repaired" for step in steps for error in step.errors])
    return calls / (calls + repairs) if repairs else 1.0


def _score(entry: RewardEntry, kinds: Sequence[type], task: Task, episode: Episode) -> Score:
    if entry.not_asked is not None and entry.goal not in kinds:
        return entry.not_asked
    return entry.reward(task, episode)
