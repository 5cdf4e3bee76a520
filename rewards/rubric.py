"""A rubric: rewards by name, each with its weight, that make up the return of an episode::

    Rubric(name="mine", weights={"call_exact_match": 0.7, "argument_f1": 0.3})

The return is the weighted mean over the rewards that apply to the task, so it lies in [0, 1] whatever
the weights. A reward of weight 0 is computed and logged and pays nothing. Where a reward that applies
could not be computed, the return is None: unknown, not 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

from pydantic import Field, model_validator

from callgym.episode import Episode, Score
from callgym.errors import ConfigurationError
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, StateGoal, TextGoal
from callgym.noun import Noun
from callgym.rewards import abstention, answer, calls, rouge, state
from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.answer import final_answer
from callgym.rewards.calls import argument_f1, call_exact_match
from callgym.rewards.format import format_validity
from callgym.rewards.rouge import reply_rouge
from callgym.rewards.state import state_reached
from callgym.task import Task

__all__ = ["RUBRICS", "Reward", "Rubric", "get_reward", "get_rubric", "register_reward"]

Reward = Callable[[Task, Episode], Score]
"""A pure function of a task and an episode."""

_REWARDS: dict[str, Reward] = {
    reward.__name__: reward
    for reward in (
        call_exact_match,
        argument_f1,
        irrelevance_abstention,
        final_answer,
        state_reached,
        reply_rouge,
        format_validity,
    )
}

# Rewards that apply only to tasks with a goal of one class, and what they say of others: on the hot path a
# look into this table is cheaper than five calls that come back empty.
_ASKS: dict[str, tuple[type, Score]] = {
    "call_exact_match": (CallsGoal, calls.NOT_ASKED),
    "argument_f1": (CallsGoal, calls.NOT_ASKED),
    "irrelevance_abstention": (DecisionGoal, abstention.NOT_ASKED),
    "final_answer": (AnswerGoal, answer.NOT_ASKED),
    "state_reached": (StateGoal, state.NOT_ASKED),
    "reply_rouge": (TextGoal, rouge.NOT_ASKED),
}


def register_reward(name: str, reward: Reward) -> None:
    """Make ``reward`` known to rubrics under ``name``.

    Raises:
        ConfigurationError: The name is taken by another reward.
    """
    if _REWARDS.get(name, reward) is not reward:
        raise ConfigurationError(f"a reward called {name!r} exists already")
    _REWARDS[name] = reward


def get_reward(name: str) -> Reward:
    """The reward of that name.

    Raises:
        ConfigurationError: There is none; the message lists those there are.
    """
    try:
        return _REWARDS[name]
    except KeyError:
        raise ConfigurationError(f"no reward {name!r}; there are: {', '.join(sorted(_REWARDS))}") from None


class Rubric(Noun):
    """Named weights of named rewards."""

    name: str = Field(min_length=1)
    """Shown in records and logs."""
    weights: dict[str, Annotated[float, Field(ge=0.0)]] = Field(min_length=1)
    """Reward name to weight."""

    @model_validator(mode="after")
    def _rewards_exist(self) -> Rubric:
        for name in self.weights:
            get_reward(name)
        if not any(self.weights.values()):
            raise ValueError("at least one weight is above 0")
        if not math.isfinite(sum(self.weights.values())):
            raise ValueError("the sum of the weights is too large")
        return self

    def score(self, task: Task, episode: Episode) -> tuple[float | None, dict[str, Score]]:
        """The return of an episode and every reward's score; the return is None where it is unknown."""
        goal = task.goal
        kinds = [type(part) for part in goal.goals] if isinstance(goal, AllGoal) else [type(goal)]
        scores = {}
        for name in self.weights:
            asks = _ASKS.get(name)
            scores[name] = asks[1] if asks and asks[0] not in kinds else _REWARDS[name](task, episode)
        total = 0.0
        weight_sum = 0.0
        for name, weight in self.weights.items():
            if weight and (score := scores[name]).applies:
                if score.value is None:
                    return None, scores
                total += weight * score.value
                weight_sum += weight
        return (total / weight_sum if weight_sum else None), scores


RUBRICS: dict[str, Rubric] = {
    rubric.name: rubric
    for rubric in (
        Rubric(
            name="default",
            weights={
                "call_exact_match": 0.5,
                "argument_f1": 0.5,
                "irrelevance_abstention": 1.0,
                "final_answer": 1.0,
                "state_reached": 1.0,
                "reply_rouge": 1.0,
                "format_validity": 0.0,
            },
        ),
        Rubric(
            name="exact",
            weights={
                "call_exact_match": 1.0,
                "irrelevance_abstention": 1.0,
                "final_answer": 1.0,
                "state_reached": 1.0,
            },
        ),
    )
}
"""Rubrics by name. ``default``: calls are paid half for exact match and half for argument F1."""


def get_rubric(rubric: str | Rubric) -> Rubric:
    """The rubric of that name; a Rubric is returned as it is.

    Raises:
        ConfigurationError: There is no rubric of that name.
    """
    if isinstance(rubric, Rubric):
        return rubric
    try:
        return RUBRICS[rubric]
    except (KeyError, TypeError):
        raise ConfigurationError(f"no rubric {rubric!r}; there are: {', '.join(RUBRICS)}") from None
