"""The rewards by name, and which kind of goal each asks for.

A reward is a pure function of a task and an episode. A step reward is one of a task, the steps so far and
the number of one of them: its share of a total of 1 that an episode can earn step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callgym.episode import Episode, Score, Step
from callgym.errors import ConfigurationError
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, StateGoal, TextGoal
from callgym.rewards import (
    abstention,
    answer,
    argument_accuracy,
    call_match,
    calls,
    efficiency,
    half_credit,
    hallucination,
    nested,
    plan,
    progress,
    relevance,
    rouge,
    state,
    tool_names,
    toolrl,
)
from callgym.rewards.format import format_validity
from callgym.task import Task

__all__ = [
    "BUILT_IN",
    "Reward",
    "RewardEntry",
    "StepReward",
    "StepRewardEntry",
    "find_reward",
    "find_step_reward",
    "get_reward",
    "goal_kinds",
    "register_reward",
    "register_step_reward",
    "reward_names",
]

Reward = Callable[[Task, Episode], Score]
"""A pure function of a task and an episode."""
StepReward = Callable[[Task, Sequence[Step], int], float]
"""A pure function of a task, the steps so far, and the index of one of them: that step's share, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class RewardEntry:
    """A reward and what it asks for."""

    reward: Reward
    goal: type | None = None
    """The class of goal without which it never applies; None where it looks for itself."""
    not_asked: Score | None = None
    """What it says of a task without such a goal: on the hot path a look at the goal is cheaper than a call."""


@dataclass(frozen=True, slots=True)
class StepRewardEntry:
    """A step reward and what it asks for."""

    reward: StepReward
    goal: type | None = None
    """The class of goal without which it does not apply."""


_REWARDS: dict[str, RewardEntry] = {
    "call_exact_match": RewardEntry(calls.call_exact_match, CallsGoal, calls.NOT_ASKED),
    "argument_f1": RewardEntry(calls.argument_f1, CallsGoal, calls.NOT_ASKED),
    "call_match": RewardEntry(call_match.call_match, CallsGoal, call_match.NOT_ASKED),
    "irrelevance_abstention": RewardEntry(abstention.irrelevance_abstention, DecisionGoal, abstention.NOT_ASKED),
    "relevant_call": RewardEntry(relevance.relevant_call, DecisionGoal, relevance.NOT_ASKED),
    "final_answer": RewardEntry(answer.final_answer, AnswerGoal, answer.NOT_ASKED),
    "state_reached": RewardEntry(state.state_reached, StateGoal, state.NOT_ASKED),
    "reply_rouge": RewardEntry(rouge.reply_rouge, TextGoal, rouge.NOT_ASKED),
    "format_validity": RewardEntry(format_validity),
    "argument_accuracy": RewardEntry(argument_accuracy.argument_accuracy, CallsGoal, argument_accuracy.NOT_ASKED),
    "argument_f1_half_credit": RewardEntry(half_credit.argument_f1_half_credit, CallsGoal, half_credit.NOT_ASKED),
    "tool_name_precision": RewardEntry(tool_names.tool_name_precision, CallsGoal, tool_names.NOT_ASKED),
    "tool_name_recall": RewardEntry(tool_names.tool_name_recall, CallsGoal, tool_names.NOT_ASKED),
    "tool_name_f1": RewardEntry(tool_names.tool_name_f1, CallsGoal, tool_names.NOT_ASKED),
    "step_efficiency": RewardEntry(efficiency.step_efficiency, CallsGoal, efficiency.NOT_ASKED),
    "length_efficiency": RewardEntry(efficiency.length_efficiency, CallsGoal, efficiency.NOT_ASKED),
    "nested_calls": RewardEntry(nested.nested_calls, CallsGoal, nested.NOT_ASKED),
    "plan_accuracy": RewardEntry(plan.plan_accuracy),
    "hallucinated_tool": RewardEntry(hallucination.hallucinated_tool),
    "hallucinated_argument": RewardEntry(hallucination.hallucinated_argument),
    "toolrl_format": RewardEntry(toolrl.toolrl_format),
    "toolrl_correctness": RewardEntry(toolrl.toolrl_correctness, CallsGoal, toolrl.NOT_ASKED),
}
BUILT_IN = tuple(sorted(_REWARDS))
"""The names of CallGym's own rewards, whatever was registered beside them."""
_STEP_REWARDS: dict[str, StepRewardEntry] = {
    "turn_progress": StepRewardEntry(progress.turn_progress, CallsGoal),
    "call_progress": StepRewardEntry(progress.call_progress, CallsGoal),
    "tool_execution": StepRewardEntry(progress.tool_execution, CallsGoal),
}


def register_reward(name: str, reward: Reward, goal: type | None = None, not_asked: Score | None = None) -> None:
    """Make ``reward`` known to rubrics under ``name``.

    Args:
        name: What rubrics and records call it.
        reward: The function.
        goal: The class of goal without which it never applies, if there is one.
        not_asked: What it says of a task without such a goal.

    Raises:
        ConfigurationError: The name is taken by another reward.
    """
    known = _REWARDS.get(name)
    if (known is not None and known.reward is not reward) or name in _STEP_REWARDS:
        raise ConfigurationError(f"a reward called {name!r} exists already")
    _REWARDS.setdefault(name, RewardEntry(reward, goal if not_asked is not None else None, not_asked))


def register_step_reward(name: str, reward: StepReward, goal: type | None = None) -> None:
    """Make a step reward known to rubrics under ``name``; arguments and errors as ``register_reward``."""
    known = _STEP_REWARDS.get(name)
    if (known is not None and known.reward is not reward) or name in _REWARDS:
        raise ConfigurationError(f"a reward called {name!r} exists already")
    _STEP_REWARDS.setdefault(name, StepRewardEntry(reward, goal))


def find_reward(name: str) -> RewardEntry:
    """The entry of that name.

    Raises:
        ConfigurationError: There is none; the message lists those there are.
    """
    try:
        return _REWARDS[name]
    except KeyError:
        raise ConfigurationError(f"no reward {name!r}; there are: {', '.join(sorted(_REWARDS))}") from None


def find_step_reward(name: str) -> StepRewardEntry:
    """The entry of that step reward.

    Raises:
        ConfigurationError: There is none; the message lists those there are.
    """
    try:
        return _STEP_REWARDS[name]
    except KeyError:
        known = ", ".join(sorted(_STEP_REWARDS))
        raise ConfigurationError(f"no step reward {name!r}; there are: {known}") from None


def get_reward(name: str) -> Reward:
    """The reward of that name. Raises ConfigurationError where there is none."""
    return find_reward(name).reward


def reward_names() -> tuple[str, ...]:
    """The names of all rewards."""
    return tuple(sorted(_REWARDS))


def goal_kinds(task: Task) -> tuple[type, ...]:
    """The classes of the task's goal or goals."""
    goal = task.goal
    return tuple(type(part) for part in goal.goals) if isinstance(goal, AllGoal) else (type(goal),)
