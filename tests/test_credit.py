"""Credit assignment, worked out by hand: what is unknown is no datum, and shaping changes no best policy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import ConfigurationError
from callgym.trainers.credit import (
    group_advantages,
    potential_shaping,
    returns_to_go,
    step_advantages,
    token_advantages,
)

ROOT = math.sqrt(2)

# Returns of the groups "a", "b", ...; advantages by hand with epsilon 0, None where there is none.
GROUPS: list[tuple[str, str, list[float | None], dict[str, Any], list[float | None]]] = [
    # mean 0.5, deviation of (0, 1) with n - 1: 1 / sqrt 2
    ("two", "aa", [0, 1], {}, [-0.5 * ROOT, 0.5 * ROOT]),
    # mean 1/2, squares 4 * 1/4 over 3
    ("four", "aaaa", [0, 1, 1, 0], {}, [-(0.75**0.5), 0.75**0.5, 0.75**0.5, -(0.75**0.5)]),
    ("two groups", "abab", [0, 2, 1, 6], {}, [-0.5 * ROOT, -0.5 * ROOT, 0.5 * ROOT, 0.5 * ROOT]),
    ("not scaled", "abab", [0, 2, 1, 6], {"scale": "none"}, [-0.5, -2, 0.5, 2]),
    # all of (0, 1, 5, 6): mean 3, squares 9 + 4 + 4 + 9 over 3
    (
        "scaled by all",
        "aabb",
        [0, 1, 5, 6],
        {"scale": "batch"},
        [x / math.sqrt(26 / 3) for x in (-0.5, 0.5, -0.5, 0.5)],
    ),
    # against the mean of the others: 0 - 1.5, 1 - 1, 2 - 0.5
    ("one left out", "aaa", [0, 1, 2], {"scale": "none", "leave_one_out": True}, [-1.5, 0, 1.5]),
    ("unknown, not 0 (T05)", "aaaa", [1, None, 0, None], {"scale": "none"}, [0.5, None, -0.5, None]),
    ("NaN is unknown", "aaa", [1, math.nan, 0], {"scale": "none"}, [0.5, None, -0.5]),
    ("unknown, one left out", "aaa", [1, None, 0], {"scale": "none", "leave_one_out": True}, [1, None, -1]),
    ("all equal", "aabb", [0.3, 0.3, 0, 1], {"scale": "none"}, [None, None, -0.5, 0.5]),
    ("equal but for rounding", "aa", [0.3, 0.1 + 0.2], {}, [None, None]),
    ("one known", "aab", [1, None, 0.5], {}, [None, None, None]),
    ("none known", "aa", [None, None], {}, [None, None]),
    ("nothing", "", [], {}, []),
]


@pytest.mark.parametrize(("case", "groups", "returns", "options", "expected"), GROUPS, ids=[row[0] for row in GROUPS])
def test_advantages_by_hand(
    case: str, groups: str, returns: list[float | None], options: dict[str, Any], expected: list[float | None]
) -> None:
    found = group_advantages(returns, list(groups), epsilon=0.0, **options)
    assert found.mask.tolist() == [value is not None for value in expected]
    assert found.values.tolist() == pytest.approx([value or 0.0 for value in expected])


def test_what_is_left_out_is_reported() -> None:
    returns = [0.5, 0.5, 1, None, None, 0, 1, 0.2]
    found = group_advantages(returns, ["flat", "flat", "one", "one", "none", "good", "good", "alone"])
    assert found.flat == ("flat",)
    assert found.small == ("one", "none", "alone")
    assert found.unknown == 2
    assert found.mask.tolist() == [False] * 5 + [True] * 2 + [False]


def test_the_numbers_are_trl_s() -> None:
    """mean and standard deviation as torch computes them, 1e-4 added."""
    returns = [0.1, 0.7, 0.4, 1.0]
    deviation = float(np.std(returns, ddof=1)) + 1e-4
    assert group_advantages(returns, "aaaa").values.tolist() == pytest.approx([(r - 0.55) / deviation for r in returns])


known_or_not = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.floats(0, 1)), min_size=1, max_size=12
)  # fmt: skip


@given(known_or_not, st.sampled_from(["group", "batch", "none"]), st.booleans())
def test_within_a_group_advantages_sum_to_zero_and_keep_the_order(rows: Any, scale: Any, leave_one_out: bool) -> None:
    groups, returns = [group for group, _ in rows], [value for _, value in rows]
    found = group_advantages(returns, groups, scale=scale, leave_one_out=leave_one_out)
    assert np.isfinite(found.values).all()
    assert not found.values[~found.mask].any()
    for group in set(groups):
        inside = [n for n, other in enumerate(groups) if other == group and found.mask[n]]
        assert found.values[inside].sum() == pytest.approx(0.0, abs=1e-6)
        for one, other in itertools.pairwise(inside):
            assert (returns[one] < returns[other]) <= (found.values[one] <= found.values[other])


@given(known_or_not)
def test_an_unknown_return_changes_nothing_for_the_others(rows: Any) -> None:
    groups, returns = [group for group, _ in rows], [value for _, value in rows]
    whole = group_advantages(returns, groups)
    kept = [n for n, value in enumerate(returns) if value is not None]
    without = group_advantages([returns[n] for n in kept], [groups[n] for n in kept])
    assert whole.values[kept].tolist() == without.values.tolist()
    assert whole.mask[kept].tolist() == without.mask.tolist()
    assert whole.mask.sum() == without.mask.sum()


# Steps.


@pytest.mark.parametrize(
    ("rewards", "gamma", "expected"),
    [
        ([1, 2, 4], 1.0, [7, 6, 4]),
        ([1, 2, 4], 0.5, [1 + 1 + 1, 2 + 2, 4]),
        ([1, 2, 4], 0.0, [1, 2, 4]),
        ([0, 0, 1], 0.9, [0.81, 0.9, 1]),
        ([1, None, 4], 1.0, [None, None, 4]),
        ([1, None, 4], 0.0, [1, None, 4]),
        ([], 1.0, []),
    ],
)
def test_returns_to_go_by_hand(rewards: list[float | None], gamma: float, expected: list[float | None]) -> None:
    found = returns_to_go(rewards, gamma)
    assert found.tolist() == pytest.approx([math.nan if x is None else x for x in expected], nan_ok=True)


def as_lists(arrays: Any) -> list[list[float]]:
    return [array.tolist() for array in arrays]


def test_turn_level_advantages_of_two_turns_are_those_of_the_paper() -> None:
    """Turn 1: the outcome's advantage and the turn's; turn 2, which has no reward of its own: the outcome's."""
    step_rewards = [[1, 0], [0, 0], [1, 0]]
    outcomes = [1, 0, 0]
    found = step_advantages(step_rewards, "aaa", outcomes=outcomes, gamma=0.0, scale="none", turn_weight=0.5)
    outcome = [2 / 3, -1 / 3, -1 / 3]
    turn = [1 / 3, -2 / 3, 1 / 3]
    assert as_lists(found.values) == [pytest.approx([o + 0.5 * t, o]) for o, t in zip(outcome, turn, strict=True)]
    assert all(mask.all() for mask in found.mask)
    # Their second estimator: turn 1 gets the turn's reward and the discounted outcome, turn 2 the outcome.
    found = step_advantages(step_rewards, "aaa", outcomes=outcomes, gamma=0.5, scale="none", mode="cumulative")
    first = [1.5, 0, 1]
    assert as_lists(found.values) == [
        pytest.approx([f - 2.5 / 3, o]) for f, o in zip(first, outcome, strict=True)
    ]  # fmt: skip


def test_a_step_is_held_against_those_that_got_as_far() -> None:
    """Step rewards of three episodes of 1, 2 and 3 steps; sums to go: (1), (3, 2), (4, 4, 3)."""
    found = step_advantages([[1], [1, 2], [0, 1, 3]], "aaa", scale="none")
    expected = [[1 - 8 / 3], [3 - 8 / 3, -1], [4 - 8 / 3, 1, 0]]
    assert as_lists(found.values) == [pytest.approx(values) for values in expected]
    assert as_lists(found.mask) == [[True], [True, True], [True, True, False]]


def test_a_flat_part_leaves_the_other_part_alone() -> None:
    # The outcome is equal everywhere, the first step is not, the second is.
    found = step_advantages([[1, 0], [0, 0]], "aa", outcomes=[1, 1], gamma=0.0, scale="none")
    assert as_lists(found.values) == [[0.5, 0.0], [-0.5, 0.0]]
    assert as_lists(found.mask) == [[True, False], [True, False]]
    # The other way round, and an episode that nobody else in its group was as long as.
    found = step_advantages([[0], [0, 0]], "aa", outcomes=[1, 0], gamma=0.0, scale="none")
    assert as_lists(found.values) == [[0.5], [-0.5, -0.5]]
    assert as_lists(found.mask) == [[True], [True, True]]


@pytest.mark.parametrize("mode", ["added", "cumulative"])
def test_an_unknown_outcome_or_step_has_no_advantage_and_touches_no_other(mode: Any) -> None:
    rewards: list[list[float | None]] = [[1, 0], [0, 1], [1, 1]]
    outcomes: list[float | None] = [1, 0, None]
    found = step_advantages(rewards, "aaa", outcomes=outcomes, mode=mode, scale="none")
    assert as_lists(found.mask)[2] == [False, False]
    if mode == "cumulative":
        without = step_advantages(rewards[:2], "aa", outcomes=outcomes[:2], mode=mode, scale="none")
        assert as_lists(found.values)[:2] == as_lists(without.values)
    found = step_advantages([[1, None, 0], [0, 1, 1], [1, 1, 1]], "aaa", mode=mode, scale="none")
    assert as_lists(found.mask)[0] == [False, False, True]
    assert as_lists(found.values)[1:] == [pytest.approx([-0.5, 0, 1 / 3]), pytest.approx([0.5, 0, 1 / 3])]


def test_with_one_step_and_no_step_reward_it_is_grpo() -> None:
    outcomes = [0.2, 0.9, None, 0.4]
    whole = group_advantages(outcomes, "aaab")
    modes: tuple[Any, ...] = ("added", "cumulative")
    for mode in modes:
        found = step_advantages([[0.0]] * 4, "aaab", outcomes=outcomes, mode=mode)
        assert [value[0] for value in found.values] == pytest.approx(whole.values.tolist())
        assert [mask[0] for mask in found.mask] == whole.mask.tolist()


def test_there_may_be_no_steps() -> None:
    found = step_advantages([[], [1.0], [0.0]], "aaa", outcomes=[0, 1, 0], mode="cumulative")
    assert [len(values) for values in found.values] == [0, 1, 1]
    assert step_advantages([], []).values == ()


# Tokens.


def test_an_advantage_is_spread_over_its_own_tokens_and_none_of_the_environment_s() -> None:
    #              step 0      observation  step 1  observation  step 2
    env_mask = [1, 1, 1, 0, 0, 1, 0, 1, 1]
    values, mask = token_advantages([0.5, -2.0, 9.0], [True, True, False], [3, 1, 2], env_mask)
    assert values.tolist() == [0.5, 0.5, 0.5, 0, 0, -2.0, 0, 0, 0]
    assert mask.tolist() == [True, True, True, False, False, True, False, False, False]


def test_a_step_may_have_no_tokens() -> None:
    values, mask = token_advantages([1.0, 2.0], [True, True], [0, 1], [0, 1, 0])
    assert values.tolist() == [0, 2.0, 0]
    assert mask.tolist() == [False, True, False]


@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans(), st.integers(0, 4), st.integers(0, 3)), max_size=6))
def test_tokens_of_a_step_share_its_value(rows: Any) -> None:
    env_mask = [mark for _, _, own, seen in rows for mark in [1] * own + [0] * seen]
    values, mask = token_advantages([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], env_mask)
    expected = [(value if known else 0.0, known) for value, known, own, _ in rows for _ in range(own)]
    own = np.flatnonzero(env_mask)
    assert list(zip(values[own].tolist(), mask[own].tolist(), strict=True)) == expected
    assert not np.delete(values, own).any()
    assert not np.delete(mask, own).any()


# Potentials.


def test_shaping_by_hand() -> None:
    # 0 + 0.5 * 4 - 2, 0 + 0.5 * 6 - 4, 1 + 0 - 6
    assert potential_shaping([0, 0, 1], [2, 4, 6], 0.5).tolist() == [0, -1, -5]
    assert potential_shaping([None, 1], [0, 3]).tolist() == pytest.approx([math.nan, -2], nan_ok=True)
    assert potential_shaping([], []).tolist() == []


numbers = st.floats(-10, 10)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.floats(0, 1))
def test_what_shaping_adds_sums_to_minus_the_first_potential(rows: Any, gamma: float) -> None:
    rewards, potentials = [reward for reward, _ in rows], [potential for _, potential in rows]
    shaped = potential_shaping(rewards, potentials, gamma)
    gained = returns_to_go(shaped, gamma)[0] - returns_to_go(rewards, gamma)[0]
    assert gained == pytest.approx(-potentials[0], abs=1e-9)


@given(st.lists(st.lists(st.tuples(st.floats(0, 1), numbers), min_size=1, max_size=4), min_size=2, max_size=5), numbers)
def test_shaping_leaves_the_advantages_of_whole_episodes_as_they_are(episodes: Any, start: float) -> None:
    """All episodes of a task begin in the same state."""
    before, after = [], []
    for rows in episodes:
        potentials = [start, *(potential for _, potential in rows[1:])]
        before.append(sum(reward for reward, _ in rows))
        after.append(potential_shaping([reward for reward, _ in rows], potentials).sum())
    plain, shaped = (group_advantages(r, "a" * len(r), scale="none") for r in (before, after))
    assert shaped.values.tolist() == pytest.approx(plain.values.tolist(), abs=1e-6)


# A known problem: four states in a row, of which the last is the end. "on" leads one further (with 0.8; else
# nothing happens), "back" one back, "out" ends the episode with 0.3. Reaching the end pays 1. There are 4 steps.
STATES, ACTIONS, STEPS, GAMMA = (0, 1, 2), ("on", "back", "out"), 4, 0.9
END = 3


def outcomes_of(state: int, action: str) -> list[tuple[float, int, float]]:
    """Chance, next state and reward."""
    if action == "out":
        return [(1.0, END, 0.3)]
    if action == "back":
        return [(1.0, max(0, state - 1), 0.0)]
    return [(0.8, state + 1, float(state + 1 == END)), (0.2, state, 0.0)]


def value_of(policy: dict[int, str], potential: Any, naive: bool = False) -> float:
    """Expected discounted return from state 0, by going through every way that an episode can take."""

    def follow(state: int, chance: float, rewards: list[float], visited: list[int]) -> float:
        if state == END or len(rewards) == STEPS:
            potentials = [potential(one) for one in visited]
            if naive:  # a bonus for where one gets to, instead of a difference
                paid = [r + potential(s) for r, s in zip(rewards, [*visited[1:], state], strict=True)]
            else:
                paid = potential_shaping(rewards, potentials, GAMMA).tolist()
            return chance * float(returns_to_go(paid, GAMMA)[0])
        return sum(
            follow(following, chance * odds, [*rewards, reward], [*visited, state])
            for odds, following, reward in outcomes_of(state, policy[state])
        )

    return follow(0, 1.0, [], [])


POLICIES = [dict(zip(STATES, chosen, strict=True)) for chosen in itertools.product(ACTIONS, repeat=len(STATES))]


def best(values: list[float]) -> set[int]:
    return {n for n, value in enumerate(values) if value >= max(values) - 1e-9}


@pytest.mark.parametrize(
    "potential",
    [lambda s: float(s), lambda s: -3.0 * s, lambda s: [5.0, -2.0, 7.0, 0.0][s], lambda s: 0.0],
    ids=["nearness", "distance", "nonsense", "none"],
)
def test_shaping_keeps_the_best_policies_and_the_order_of_all(potential: Any) -> None:
    plain = [value_of(policy, lambda s: 0.0) for policy in POLICIES]
    shaped = [value_of(policy, potential) for policy in POLICIES]
    assert shaped == pytest.approx([value - potential(0) for value in plain])
    assert best(shaped) == best(plain)
    assert {tuple(POLICIES[n].values()) for n in best(plain)} == {("on", "on", "on")}


def test_a_bonus_that_is_no_difference_does_not_keep_them() -> None:
    """The counter-example: paid for getting somewhere, a policy goes there again and again instead of arriving."""
    plain = [value_of(policy, lambda s: 0.0) for policy in POLICIES]
    bribed = [value_of(policy, lambda s: [0.0, 5.0, 0.0, 0.0][s], naive=True) for policy in POLICIES]
    assert not best(bribed) & best(plain)


# Errors name what was given.

group: Any = group_advantages  # their arguments are wrong on purpose
step: Any = step_advantages
shaping: Any = potential_shaping


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: group([1.0], "ab"), r"2 groups named for 1 episodes"),
        (lambda: group([1.0], "a", scale="most"), r"'group', 'batch' or 'none', got 'most'"),
        (lambda: group([1.0], "a", epsilon=-1), r"epsilon is at least 0, got -1"),
        (lambda: group([1.0], "a", epsilon=math.nan), r"epsilon is at least 0"),
        (lambda: group([math.inf, 0], "aa"), r"returns hold an infinite number"),
        (lambda: group([[1.0]], "a"), r"returns are numbers, or None"),
        (lambda: group(["x"], "a"), r"returns are numbers, or None"),
        (lambda: step([[1.0]], "a", outcomes=[1, 2]), r"2 outcomes for 1 episodes"),
        (lambda: step([[1.0]], "a", mode="both"), r"'added' or 'cumulative', got 'both'"),
        (lambda: step([[1.0]], "a", gamma=1.5), r"gamma lies between 0 and 1, got 1.5"),
        (lambda: returns_to_go([1.0], -0.1), r"gamma lies between 0 and 1"),
        (lambda: token_advantages([1.0], [True], [2], [1, 0]), r"the steps have 2 tokens.* wrote 1"),
        (lambda: token_advantages([1.0], [True, True], [1], [1]), r"got 1, 2 and 1"),
        (lambda: shaping([1.0], [1.0, 2.0]), r"one potential a step, got 2 for 1 steps"),
        (lambda: shaping([1.0], [None]), r"every potential is a finite number"),
    ],
)
def test_errors_name_what_was_given(call: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        call()
