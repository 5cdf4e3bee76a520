"""Credit assignment: from returns and step rewards to an advantage a token, as functions of numpy arrays.

    returns = [episode.episode_return for episode in episodes]          # None where it is unknown
    episode = group_advantages(returns, task_ids)                       # GRPO: one number an episode
    turns = step_advantages(step_rewards, task_ids, outcomes=returns)   # one number a step
    tokens = token_advantages(turns.values[0], turns.mask[0], tokens_of_step, env_mask)

Everything unknown stays so: an episode whose return could not be computed enters no mean, and gets no
advantage, which its mask says. The advantage that stands there is 0, but it is no datum.

A trainer needs the last line only where it takes an advantage a token. TRL's GRPOTrainer does (1.16: a
subclass replaces ``inputs["advantages"]`` of shape (episodes,) by one of shape (episodes, tokens), in
``_generate_and_score_completions``); ``env_mask`` is what EpisodeRollouts returns under that name, and
``step_rewards`` are ``[step.reward for step in episode.steps]``, where the rubric pays by the step. A loss
divides by the number of tokens that count: the sum of the mask, not its length.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from callgym.errors import ConfigurationError

__all__ = [
    "Advantages",
    "Scale",
    "StepAdvantages",
    "group_advantages",
    "potential_shaping",
    "returns_to_go",
    "step_advantages",
    "token_advantages",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

Scale = Literal["group", "batch", "none"]
"""What differences from the group's mean are divided by: the standard deviation of the group's returns, that of
all returns, or nothing."""

_FLAT = 1e-9


@dataclass(frozen=True, slots=True)
class Advantages:
    """An advantage an episode."""

    values: Floats
    """Shape (episodes,); 0 where the mask is False."""
    mask: Mask
    """Shape (episodes,); whether the episode has an advantage, and is to be trained on."""
    flat: tuple[Hashable, ...]
    """Groups left out because all of their known returns are equal: they say nothing of what is better."""
    small: tuple[Hashable, ...]
    """Groups left out because fewer than two of their returns are known."""
    unknown: int
    """Episodes whose return is unknown."""


@dataclass(frozen=True, slots=True)
class StepAdvantages:
    """An advantage a step."""

    values: tuple[Floats, ...]
    """For each episode an array of shape (steps,); 0 where the mask is False."""
    mask: tuple[Mask, ...]
    """For each episode an array of shape (steps,); whether the step has an advantage."""


def group_advantages(
    returns: Sequence[float | None] | Floats,
    groups: Sequence[Hashable],
    *,
    scale: Scale = "group",
    epsilon: float = 1e-4,
    leave_one_out: bool = False,
) -> Advantages:
    """How much better each episode did than the others of its group.

    ``(return - mean of the group) / (standard deviation + epsilon)``, both over known returns alone. A group
    is the episodes of one task. The rules and where they come from:

    - ``scale="group"``: GRPO (Shao et al. 2024, DeepSeekMath). The standard deviation is the sample's, with
      n - 1, as in TRL;
    - ``scale="none"``: Dr. GRPO (Liu et al. 2025, Understanding R1-Zero-Like Training): dividing by a group's
      own deviation gives very easy and very hard tasks a greater weight;
    - ``scale="batch"``: the mean of the group, the deviation of all known returns (Liu et al. 2025, "Part I:
      Tricks or Traps? A Deep Dive into RL for LLM Reasoning"; TRL's ``scale_rewards="batch"``);
    - ``leave_one_out``: the mean of the *other* episodes of the group (RLOO, Ahmadian et al. 2024), which
      makes the estimate unbiased; with ``scale="none"`` it is RLOO.

    A group of equal returns is left out instead of getting zeros, so that it does not thin out the mean of
    a loss (DAPO, Yu et al. 2025, samples such groups anew).

    Args:
        returns: A return an episode; None or NaN where it is unknown.
        groups: What group each belongs to: the task's id, say.
        scale: What is divided by.
        epsilon: Added to the standard deviation; at least 0.
        leave_one_out: Whether an episode's own return is left out of the mean it is held against.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
    """
    known_returns = _numbers(returns, "returns")
    _check(known_returns.shape[0], groups, scale, epsilon)
    known = np.isfinite(known_returns)
    values, mask, flat, small = _normalised(known_returns, known, groups, scale, epsilon, leave_one_out)
    return Advantages(values, mask, flat, small, int((~known).sum()))


def returns_to_go(rewards: Sequence[float | None] | Floats, gamma: float = 1.0) -> Floats:
    """The discounted sum of rewards from each step on; NaN at and before a reward that is unknown.

    Args:
        rewards: A reward a step; None or NaN where it is unknown.
        gamma: Discount a step, from 0 to 1.

    Returns:
        Array of shape (steps,).

    Raises:
        ConfigurationError: ``gamma`` is out of bounds.
    """
    _check_gamma(gamma)
    numbers = _numbers(rewards, "rewards")
    gained = np.zeros_like(numbers)
    ahead = 0.0
    for step in range(len(numbers) - 1, -1, -1):
        ahead = float(numbers[step]) + (gamma * ahead if gamma else 0.0)
        gained[step] = ahead
    return gained


def step_advantages(
    step_rewards: Sequence[Sequence[float | None] | Floats],
    groups: Sequence[Hashable],
    *,
    outcomes: Sequence[float | None] | Floats | None = None,
    gamma: float = 1.0,
    mode: Literal["added", "cumulative"] = "added",
    turn_weight: float = 1.0,
    scale: Scale = "group",
    epsilon: float = 1e-4,
) -> StepAdvantages:
    """An advantage a step: turn-level GRPO.

    After Zeng, Wei et al. 2025 (arXiv:2505.11821, "Reinforcing Multi-Turn Reasoning in LLM Agents via
    Turn-Level Credit Assignment", later "... Turn-Level Reward Design"), whose code has two estimators for
    two turns; here for any number. With G the discounted sum of an episode's step rewards from a step on,
    and norm() what ``group_advantages`` does, among those episodes of the group that reached a step of this
    index:

    - ``added`` (their MT-GRPO): ``norm(outcome) + turn_weight * norm(G)``. With ``gamma=0`` G is the step's
      own reward, which is their rule exactly: the last turn, which has no reward of its own, gets the
      outcome's advantage alone;
    - ``cumulative`` (their second): the outcome is a reward of the last step, and the advantage is
      ``norm(G)``. Ding et al. 2025 (arXiv:2511.14846, GTPO) take discounted sums over any number of turns too.

    A step whose part of the sum is flat in its group (all equal, or nobody else got as far) gets the other
    part alone; with neither it has no advantage. A step of which a part is unknown has none.

    Args:
        step_rewards: For each episode a reward a step; None or NaN where it is unknown. Without the outcome.
        groups: What group each episode belongs to.
        outcomes: What each episode earned as a whole, beside its step rewards; by default nothing.
        gamma: Discount a step, from 0 to 1.
        mode: See above.
        turn_weight: What the turn's part weighs against the outcome's, in ``added``.
        scale: As in ``group_advantages``.
        epsilon: As in ``group_advantages``.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
    """
    if mode not in ("added", "cumulative"):
        raise ConfigurationError(f"mode is 'added' or 'cumulative', got {mode!r}")
    episodes = [_numbers(rewards, "step_rewards").copy() for rewards in step_rewards]
    _check(len(episodes), groups, scale, epsilon)
    ends = np.zeros(len(episodes)) if outcomes is None else _numbers(outcomes, "outcomes")
    if len(ends) != len(episodes):
        raise ConfigurationError(f"there are {len(ends)} outcomes for {len(episodes)} episodes")
    if mode == "cumulative":
        for rewards, end in zip(episodes, ends, strict=True):
            rewards[-1:] += end
    gained = [returns_to_go(rewards, gamma) for rewards in episodes]
    values = [np.zeros(len(rewards)) for rewards in episodes]
    mask = [np.zeros(len(rewards), dtype=bool) for rewards in episodes]
    whole = _normalised(ends, np.isfinite(ends), groups, scale, epsilon, False)
    for step in range(max(map(len, episodes), default=0)):
        there = [number for number, rewards in enumerate(episodes) if len(rewards) > step]
        here = np.array([gained[number][step] for number in there])
        known = np.isfinite(here)
        turn = _normalised(here, known, [groups[number] for number in there], scale, epsilon, False)
        for row, number in enumerate(there):
            if mode == "cumulative":
                values[number][step], mask[number][step] = turn[0][row], turn[1][row]
            elif known[row] and math.isfinite(ends[number]):
                values[number][step] = whole[0][number] + turn_weight * turn[0][row]
                mask[number][step] = whole[1][number] or turn[1][row]
    return StepAdvantages(tuple(values), tuple(mask))


def token_advantages(
    values: Sequence[float] | Floats,
    mask: Sequence[bool] | Mask,
    step_tokens: Sequence[int],
    env_mask: Sequence[int],
) -> tuple[Floats, Mask]:
    """Each step's advantage on every token that the policy wrote in it, and nothing on the environment's.

    Args:
        values: An advantage a step.
        mask: Whether the step has one.
        step_tokens: How many tokens the policy wrote in each step, in order.
        env_mask: For every token after the prompt 1 where the policy wrote it, 0 where the environment did.

    Returns:
        Two arrays as long as ``env_mask``: the advantages, and which tokens count.

    Raises:
        ConfigurationError: The lengths do not fit together.
    """
    if not len(values) == len(mask) == len(step_tokens):
        raise ConfigurationError(
            "every step has a value, a mask and a number of tokens, "
            f"got {len(values)}, {len(mask)} and {len(step_tokens)} of them"
        )
    own = np.flatnonzero(np.asarray(env_mask))
    if sum(step_tokens) != len(own):
        raise ConfigurationError(
            f"the steps have {sum(step_tokens)} tokens, and env_mask says that the policy wrote {len(own)}"
        )
    advantages = np.zeros(len(env_mask))
    counting = np.zeros(len(env_mask), dtype=bool)
    advantages[own] = np.repeat(np.where(mask, values, 0.0), step_tokens)
    counting[own] = np.repeat(np.asarray(mask, dtype=bool), step_tokens)
    return advantages, counting


def potential_shaping(
    rewards: Sequence[float | None] | Floats, potentials: Sequence[float] | Floats, gamma: float = 1.0
) -> Floats:
    """Rewards with ``gamma * potential after - potential before`` added: hints that change no best policy.

    Ng, Harada and Russell 1999, "Policy invariance under reward transformations". Over an episode the
    additions sum (discounted) to minus the first potential, whatever the policy did. For that the end has
    potential 0, however the episode ended (Grześ 2017, "Reward shaping in episodic reinforcement learning"):
    it is not among ``potentials``.

    With ``gamma=1`` the return only moves by the first potential, which is the same for all episodes of a
    task, so group-relative advantages of whole episodes do not change at all; those of steps do.

    Args:
        rewards: A reward a step; None or NaN where it is unknown.
        potentials: The potential of the state *before* each step: how near it is to the goal, say.
        gamma: Discount a step, the same as in the returns.

    Returns:
        Array of shape (steps,).

    Raises:
        ConfigurationError: The lengths differ, a potential is not finite, or ``gamma`` is out of bounds.
    """
    _check_gamma(gamma)
    numbers = _numbers(rewards, "rewards")
    before = _numbers(potentials, "potentials")
    if len(numbers) != len(before):
        raise ConfigurationError(f"one potential a step, got {len(before)} for {len(numbers)} steps")
    if not np.isfinite(before).all():
        raise ConfigurationError("every potential is a finite number")
    after = np.append(before[1:], np.zeros(min(1, len(before))))
    shaped: Floats = numbers + gamma * after - before
    return shaped


_Normalised = tuple[Floats, Mask, tuple[Hashable, ...], tuple[Hashable, ...]]


def _normalised(
    numbers: Floats, known: Mask, groups: Sequence[Hashable], scale: Scale, epsilon: float, leave_one_out: bool
) -> _Normalised:
    """Values, mask, flat groups and small groups; see ``group_advantages``."""
    values = np.zeros(len(numbers))
    mask = np.zeros(len(numbers), dtype=bool)
    rows_of: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        rows_of.setdefault(group, []).append(row)
    flat: list[Hashable] = []
    small: list[Hashable] = []
    spread = _deviation(numbers[known])
    for group, all_rows in rows_of.items():
        rows = [row for row in all_rows if known[row]]
        of_group = numbers[rows]
        if len(rows) < 2:
            small.append(group)
            continue
        if np.ptp(of_group) <= _FLAT:
            flat.append(group)
            continue
        differences = of_group - of_group.mean()
        if leave_one_out:
            differences *= len(rows) / (len(rows) - 1)
        divisor = 1.0 if scale == "none" else epsilon + (spread if scale == "batch" else _deviation(of_group))
        values[rows] = differences / divisor
        mask[rows] = True
    return values, mask, tuple(flat), tuple(small)


def _deviation(numbers: Floats) -> float:
    return float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0


def _numbers(given: Any, name: str) -> Floats:
    """An array of floats, NaN for None."""
    try:
        numbers = np.array([math.nan if value is None else float(value) for value in given], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{name} are numbers, or None, one after the other: {error}") from None
    if np.isinf(numbers).any():
        raise ConfigurationError(f"{name} hold an infinite number; what is unknown is None or NaN")
    return numbers


def _check(count: int, groups: Sequence[Hashable], scale: Any, epsilon: float) -> None:
    if len(groups) != count:
        raise ConfigurationError(f"there are {len(groups)} groups named for {count} episodes")
    if scale not in ("group", "batch", "none"):
        raise ConfigurationError(f"scale is 'group', 'batch' or 'none', got {scale!r}")
    if not epsilon >= 0:
        raise ConfigurationError(f"epsilon is at least 0, got {epsilon!r}")


def _check_gamma(gamma: float) -> None:
    if not 0 <= gamma <= 1:
        raise ConfigurationError(f"gamma lies between 0 and 1, got {gamma!r}")
