"""Rewards: worked out by hand, invariant where they must be, and not to be had without doing the task."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from callgym import (
    ConfigurationError,
    DataError,
    Episode,
    GoldCall,
    Message,
    ParseError,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    UserTurn,
)
from callgym.dialects import DIALECTS
from callgym.envs.base import ToolEnv
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, RankingGoal, StateGoal, TextGoal
from callgym.rewards import (
    RUBRICS,
    Rubric,
    argument_f1,
    call_exact_match,
    final_answer,
    format_validity,
    get_reward,
    get_rubric,
    irrelevance_abstention,
    register_reward,
    state_reached,
)
from callgym.rewards.answer import normalise_answer, numbers_in
from callgym.rewards.matching import assign, compare, match_calls
from callgym.rewards.values import same_value
from callgym.tool_backends import PythonBackend

FAULT = ParseError(kind="malformed", position=0, message="cannot be read")


def task_of(goal: Any) -> Task:
    return Task(id="t", family="f", split="test", messages=(Message(role="user", content="x"),), goal=goal)


def episode_of(*steps: Step) -> Episode:
    return Episode(env_id="e", task_id="t", seed=0, steps=steps, ended="terminated")


def calling(*calls: ToolCall, errors: int = 0, turn: int = 0, content: str = "") -> Step:
    return Step(action="...", turn=turn, calls=calls, errors=(FAULT,) * errors, content=content)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def gold(name: str, optional: tuple[str, ...] = (), **arguments: Any) -> GoldCall:
    """A gold call; a tuple lists several accepted values."""
    accepted = {key: value if isinstance(value, tuple) else (value,) for key, value in arguments.items()}
    return GoldCall(name=name, arguments=accepted, optional=optional)


# Worked out by hand: gold calls, made calls, unreadable attempts, exact match, argument F1.

A, B = gold("A", x=1, y=2), gold("B", z="t")
MADE_A, MADE_B = call("A", x=1, y=2), call("B", z="t")
ONE_TURN: list[tuple[str, list[GoldCall], list[ToolCall], int, float, float]] = [
    ("right", [A], [MADE_A], 0, 1, 1),
    ("silent", [A], [], 0, 0, 0),
    ("other tool", [A], [call("B", x=1, y=2)], 0, 0, 0),
    ("name in other case", [A], [call("a", x=1, y=2)], 0, 0, 0),
    ("one value wrong: 2*1/(2+2)", [A], [call("A", x=1, y=3)], 0, 0, 0.5),
    ("one missing: 2*1/(2+1)", [A], [call("A", x=1)], 0, 0, 2 / 3),
    ("one extra: 2*2/(2+3)", [A], [call("A", x=1, y=2, q=0)], 0, 0, 0.8),
    ("wrong and extra: 2*1/(2+3)", [A], [call("A", x=1, y=0, q=0)], 0, 0, 0.4),
    ("all wrong", [A], [call("A", x=0, y=0)], 0, 0, 0),
    ("no arguments given", [A], [call("A")], 0, 0, 0),
    ("none asked, none given", [gold("N")], [call("N")], 0, 1, 1),
    ("none asked, one given", [gold("N")], [call("N", q=1)], 0, 0, 0),
    ("variant", [gold("A", x=(1, 7))], [call("A", x=7)], 0, 1, 1),
    ("no variant", [gold("A", x=(1, 7))], [call("A", x=[1, 7])], 0, 0, 0),
    ("optional left out", [gold("A", ("y",), x=1, y=2)], [call("A", x=1)], 0, 1, 1),
    ("optional given right", [gold("A", ("y",), x=1, y=2)], [call("A", x=1, y=2)], 0, 1, 1),
    ("optional given wrong: 2*1/(2+2)", [gold("A", ("y",), x=1, y=2)], [call("A", x=1, y=3)], 0, 0, 0.5),
    ("repeated: 2*1/(1+2)", [A], [MADE_A, MADE_A], 0, 0, 2 / 3),
    ("repeated twice: 2*1/(1+3)", [A], [MADE_A] * 3, 0, 0, 0.5),
    ("useless neighbour: 2*1/(1+2)", [A], [MADE_A, call("C")], 0, 0, 2 / 3),
    ("unreadable neighbour: 2*1/(1+2)", [A], [MADE_A], 1, 0, 2 / 3),
    ("only unreadable", [A], [], 1, 0, 0),
    ("20 useless calls", [A], [call("C")] * 20, 0, 0, 0),
    ("right among 20: 2*1/(1+20)", [A], [*[call("C")] * 19, MADE_A], 0, 0, 2 / 21),
    ("both", [A, B], [MADE_A, MADE_B], 0, 1, 1),
    ("both, other order", [A, B], [MADE_B, MADE_A], 0, 1, 1),
    ("half: 2*1/(2+1)", [A, B], [MADE_B], 0, 0, 2 / 3),
    ("one right, one half: 2*1.5/(2+2)", [A, B], [call("A", x=1, y=0), MADE_B], 0, 0, 0.75),
    ("twice the same asked", [A, A], [MADE_A, MADE_A], 0, 1, 1),
    ("twice asked, once made: 2*1/(2+1)", [A, A], [MADE_A], 0, 0, 2 / 3),
    (
        "parallel calls that a greedy pairing gets wrong (C14)",
        [gold("A", x=1), gold("A", ("y",), x=1, y=2)],
        [call("A", x=1, y=2), call("A", x=1)],
        0,
        1,
        1,
    ),
    ("none asked, none made", [], [], 0, 1, 1),
    ("none asked, one made", [], [MADE_A], 0, 0, 0),
    ("none asked, one attempted", [], [], 1, 0, 0),
    ("integer for float at any depth (C04)", [gold("A", x=[[1.0, 2.0]])], [call("A", x=[[1, 2]])], 0, 1, 1),
    ("text for a number", [gold("A", x=2.0)], [call("A", x="two")], 0, 0, 0),
    ("neighbouring big integers (P13)", [gold("A", x=2**60)], [call("A", x=2**60 + 1)], 0, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("case", "asked", "made", "unreadable", "exact", "f1"), ONE_TURN, ids=[r[0] for r in ONE_TURN])
def test_one_turn_by_hand(
    case: str, asked: list[GoldCall], made: list[ToolCall], unreadable: int, exact: float, f1: float
) -> None:
    task = task_of(CallsGoal(turns=(tuple(asked),)))
    episode = episode_of(calling(*made, errors=unreadable))
    assert call_exact_match(task, episode).value == exact
    assert argument_f1(task, episode).value == pytest.approx(f1)


TURNS: list[tuple[str, list[list[GoldCall]], list[Step], bool, float, float]] = [
    ("both turns right", [[A], [B]], [calling(MADE_A), calling(MADE_B, turn=1)], False, 1, 1),
    ("calls spread over a turn's steps", [[A, B]], [calling(MADE_A), calling(MADE_B)], False, 1, 1),
    ("right call in the wrong turn", [[A], [B]], [calling(MADE_A, MADE_B)], False, 0, (2 / 3 + 0) / 2),
    ("turns swapped", [[A], [B]], [calling(MADE_B), calling(MADE_A, turn=1)], False, 0, 0),
    ("a quiet turn kept quiet", [[A], []], [calling(MADE_A), calling(turn=1)], False, 1, 1),
    ("a quiet turn never reached", [[A], []], [calling(MADE_A)], False, 0, 0.5),
    ("a quiet turn disturbed", [[A], []], [calling(MADE_A), calling(MADE_B, turn=1)], False, 0, 0.5),
    ("a call in a turn the goal does not list", [[A]], [calling(MADE_A), calling(MADE_B, turn=2)], False, 0, 0.5),
    ("an attempt in a turn the goal does not list", [[A]], [calling(MADE_A), calling(errors=1, turn=1)], False, 0, 0.5),
    ("words in a turn the goal does not list", [[A]], [calling(MADE_A), calling(turn=1)], False, 1, 1),
    ("in order", [[A, B]], [calling(MADE_A, MADE_B)], True, 1, 1),
    ("out of order: one pair kept, 2*1/(2+2)", [[A, B]], [calling(MADE_B, MADE_A)], True, 0, 0.5),
    ("in order with one between: 2*2/(2+3)", [[A, B]], [calling(MADE_A, call("C"), MADE_B)], True, 0, 0.8),
]


@pytest.mark.parametrize(("case", "asked", "steps", "ordered", "exact", "f1"), TURNS, ids=[row[0] for row in TURNS])
def test_turns_by_hand(
    case: str, asked: list[list[GoldCall]], steps: list[Step], ordered: bool, exact: float, f1: float
) -> None:
    task = task_of(CallsGoal(turns=tuple(map(tuple, asked)), ordered=ordered))
    episode = episode_of(*steps)
    assert call_exact_match(task, episode).value == exact
    assert argument_f1(task, episode).value == pytest.approx(f1)


def test_verdicts_name_every_argument() -> None:
    asked = gold("A", ("o", "p"), a=1, b=(1, 2), c=1, d=1, o=1, p=1)
    found = compare(asked, call("A", a=1, b=2, c=9, o=1, extra=0))
    assert found.verdicts == {
        "a": "equal", "b": "variant", "c": "wrong", "d": "missing", "o": "equal", "extra": "extra",
    }  # fmt: skip
    assert found.f1 == pytest.approx(2 * 3 / (5 + 5))
    assert not found.exact


def test_the_explanation_shows_pairs_and_what_has_no_partner() -> None:
    task = task_of(CallsGoal(turns=((A, B),)))
    episode = episode_of(calling(call("C"), call("A", x=1, y=0), errors=1))
    assert argument_f1(task, episode).explanation == {
        "turns": [
            {
                "matched": [
                    {"gold": 0, "predicted": 1, "name": "A", "arguments": {"x": "equal", "y": "wrong"}, "f1": 0.5}
                ],
                "missing": ["B"],
                "extra": ["C"],
                "unreadable": 1,
                "reached": True,
            }
        ]
    }


# Values.

SAME: list[tuple[Any, Any, bool]] = [
    (1, 1, True),
    (1, 1.0, True),
    (1.0, 1, True),
    (1, 2, False),
    (True, True, True),
    (True, 1, False),
    (1, True, False),
    (0, False, False),
    (False, 0.0, False),
    (2**53, 2**53 + 1, False),
    (float(2**53), 2**53 + 1, False),
    (1234567890123456789, 1234567890123456768, False),
    (10**400, 10**400, True),
    (10**400, 1e308, False),
    (math.nan, math.nan, False),
    ([math.nan], [math.nan], False),
    (0.1 + 0.2, 0.3, False),
    (0.0, -0.0, True),
    (None, None, True),
    (None, "", False),
    (None, 0, False),
    ("", None, False),
    ("a", "a", True),
    ("a", "A", False),
    ("a", "a ", False),
    ("é", "e\u0301", False),
    ("1", 1, False),
    (1, "1", False),
    # Values that a careless standardisation of text merges (C05).
    ("2024-11-2", "2024-1-12", False),
    ("-5", "5", False),
    ("1.5", "15", False),
    ("10^3", "103", False),
    ([1, 2], [1, 2], True),
    ([1, 2], [2, 1], False),
    ([1, 2], [1, 2, 3], False),
    ([1], 1, False),
    ((1, 2), [1, 2], True),
    ([], [], True),
    ([], {}, False),
    ({"a": 1}, {"a": 1.0}, True),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ({"a": 1}, {"a": True}, False),
    ({"a": 1}, {"a": 1, "b": None}, False),
    ({"a": None}, {}, False),
    ({"a": [{"b": [1.0]}]}, {"a": [{"b": [1]}]}, True),
    ({"a": [{"b": [1.0]}]}, {"a": [{"b": ["1"]}]}, False),
    (object(), object(), False),
]


@pytest.mark.parametrize(("one", "other", "same"), SAME)
def test_when_two_values_are_the_same(one: Any, other: Any, same: bool) -> None:
    assert same_value(one, other) is same
    if not isinstance(one, tuple):
        assert same_value(other, one) is same


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(json_values)
def test_a_value_is_the_same_as_itself_after_json(value: Any) -> None:
    assert same_value(value, json.loads(json.dumps(value)))


# The assignment.

small_tables = st.integers(1, 5).flatmap(
    lambda rows: st.integers(1, 5).flatmap(
        lambda columns: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 0.8, 1.0, 1.001]), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
)


def best_sum(table: np.ndarray) -> float:
    rows, columns = table.shape
    if rows > columns:
        return best_sum(table.T)
    return max(
        sum(float(table[row, column]) for row, column in enumerate(chosen))
        for chosen in itertools.permutations(range(columns), rows)
    )


@given(
    small_tables
    | st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.floats(-5, 5), min_size=4, max_size=4), min_size=n, max_size=n)
    )
)
@settings(max_examples=300)
def test_the_assignment_is_as_good_as_the_best_permutation(table: list[list[float]]) -> None:
    values = np.array(table)
    pairs = assign(values)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs) == min(values.shape)
    assert sum(values[pair] for pair in pairs) == pytest.approx(best_sum(values))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_table_has_no_pairs(shape: tuple[int, int]) -> None:
    assert assign(np.zeros(shape)) == []


def test_a_large_table_is_assigned_as_scipy_would() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    values = np.random.default_rng(0).integers(0, 6, (64, 60)) / 5
    rows, columns = optimize.linear_sum_assignment(values, maximize=True)
    assert sum(values[pair] for pair in assign(values)) == pytest.approx(values[rows, columns].sum())


# Invariants.

small_calls = st.builds(
    ToolCall,
    name=st.sampled_from("AB"),
    arguments=st.dictionaries(st.sampled_from("xyz"), st.sampled_from([1, 2, "t", [1]]), max_size=3),
)
small_gold = st.dictionaries(st.sampled_from("xyz"), st.sampled_from([(1,), (2, "t"), ([1], 1)]), max_size=3).flatmap(
    lambda arguments: st.builds(
        GoldCall,
        name=st.sampled_from("AB"),
        arguments=st.just(arguments),
        optional=st.sampled_from([(), tuple(arguments)[:1]]),
    )
)
gold_lists = st.lists(small_gold, max_size=3)
call_lists = st.lists(small_calls, max_size=4)


def both_scores(
    asked: Sequence[GoldCall], made: Sequence[ToolCall], errors: int = 0, ordered: bool = False
) -> list[float]:
    task = task_of(CallsGoal(turns=(tuple(asked),), ordered=ordered))
    episode = episode_of(calling(*made, errors=errors))
    scores = [call_exact_match(task, episode).value, argument_f1(task, episode).value]
    return [-1.0 if score is None else score for score in scores]


@given(gold_lists, call_lists, st.integers(0, 2), st.booleans())
def test_scores_lie_between_0_and_1_and_only_all_right_earns_1(
    asked: list[GoldCall], made: list[ToolCall], errors: int, ordered: bool
) -> None:
    exact, f1 = both_scores(asked, made, errors, ordered)
    assert exact in (0.0, 1.0)
    assert 0.0 <= f1 <= 1.0
    assert (f1 == 1.0) == (exact == 1.0)


@given(gold_lists.filter(bool))
def test_the_gold_calls_earn_1(asked: list[GoldCall]) -> None:
    made = [one.reference() for one in asked]
    assert both_scores(asked, made) == [1.0, 1.0]
    assert both_scores(asked, made, ordered=True) == [1.0, 1.0]


@given(gold_lists, call_lists, st.randoms(use_true_random=False), st.integers(0, 2))
def test_the_order_of_keys_and_of_unordered_calls_does_not_matter(
    asked: list[GoldCall], made: list[ToolCall], random: Any, errors: int
) -> None:
    shuffled = [one.model_copy(update={"arguments": dict(reversed(one.arguments.items()))}) for one in made]
    random.shuffle(shuffled)
    asked_again = list(asked)
    random.shuffle(asked_again)
    assert both_scores(asked_again, shuffled, errors) == pytest.approx(both_scores(asked, made, errors))


@given(gold_lists, call_lists, st.integers(0, 2))
def test_a_call_that_answers_nothing_or_cannot_be_read_never_raises_a_score(
    asked: list[GoldCall], made: list[ToolCall], errors: int
) -> None:
    before = both_scores(asked, made, errors)
    for after in (both_scores(asked, [*made, call("Other", x=1)], errors), both_scores(asked, made, errors + 1)):
        assert all(new <= old + 1e-12 for new, old in zip(after, before, strict=True))
        assert after[1] < before[1] or before[1] == 0.0


@given(gold_lists, call_lists.filter(bool), st.data())
def test_repeating_a_call_never_raises_a_score_where_each_tool_is_asked_once(
    asked: list[GoldCall], made: list[ToolCall], data: st.DataObject
) -> None:
    asked = list({one.name: one for one in asked}.values())
    repeated = [*made, data.draw(st.sampled_from(made))]
    after, before = both_scores(asked, repeated), both_scores(asked, made)
    assert all(new <= old + 1e-12 for new, old in zip(after, before, strict=True))


@given(gold_lists.filter(bool), call_lists.filter(bool), st.data())
@settings(max_examples=200)
def test_putting_one_wrong_argument_right_never_lowers_a_score(
    asked: list[GoldCall], made: list[ToolCall], data: st.DataObject
) -> None:
    match = match_calls(asked, made)
    wrong = [
        (g, p, name)
        for g, p, comparison in match.pairs
        for name, verdict in comparison.verdicts.items()
        if verdict in ("wrong", "missing")
    ]
    if not wrong:
        return
    g, p, name = data.draw(st.sampled_from(wrong))
    better = made[p].model_copy(update={"arguments": {**made[p].arguments, name: asked[g].arguments[name][0]}})
    after = both_scores(asked, [*made[:p], better, *made[p + 1 :]])
    assert all(new >= old - 1e-12 for new, old in zip(after, both_scores(asked, made), strict=True))


def recompute(explanation: Any) -> float:
    """Argument F1 from nothing but the explanation's verdicts."""
    turns = []
    for turn in explanation["turns"]:
        total = 0.0
        for pair in turn["matched"]:
            counts = {
                verdict: list(pair["arguments"].values()).count(verdict) for verdict in set(pair["arguments"].values())
            }
            right = counts.get("equal", 0) + counts.get("variant", 0)
            wrong, missing, extra = (counts.get(key, 0) for key in ("wrong", "missing", "extra"))
            given_and_asked = 2 * (right + wrong) + missing + extra
            f1 = 2 * right / given_and_asked if given_and_asked else 1.0
            assert f1 == pytest.approx(pair["f1"])
            total += f1
        matched = len(turn["matched"])
        calls = 2 * matched + len(turn["missing"]) + len(turn["extra"]) + turn["unreadable"]
        turns.append(2 * total / calls if calls else float(turn["reached"]))
    return sum(turns) / len(turns)


@given(st.lists(gold_lists, min_size=1, max_size=3), st.lists(call_lists, min_size=1, max_size=3), st.integers(0, 2))
def test_the_explanation_recomputes_to_the_score(
    asked: list[list[GoldCall]], made: list[list[ToolCall]], errors: int
) -> None:
    task = task_of(CallsGoal(turns=tuple(map(tuple, asked))))
    steps = [calling(*calls, errors=errors, turn=turn) for turn, calls in enumerate(made)]
    score = argument_f1(task, episode_of(*steps))
    json.dumps(score.explanation, allow_nan=False)
    assert recompute(score.explanation) == pytest.approx(score.value)


# Final answers.

ANSWERS: list[tuple[str, Any, str, float]] = [
    ("exact", "Oslo", "Oslo", 1),
    ("exact", "Oslo", "  Oslo\n", 1),
    ("exact", "Oslo", "oslo", 0),
    ("exact", "Oslo", "Oslo.", 0),
    ("exact", 10, "10", 1),
    ("normalised", "Oslo", "oslo.", 1),
    ("normalised", "The  Hague", "the hague", 1),
    ("normalised", "an owl", "Owl!", 1),
    ("normalised", "ﬁn", "FIN", 1),
    ("normalised", "Straße", "STRASSE", 1),
    ("normalised", "Oslo", "Oslo or Rome", 0),
    ("normalised", "Oslo", "It is Oslo", 0),
    ("normalised", "10", "100", 0),
    ("normalised", "10", "the total is 100", 0),
    ("normalised", "-5", "5", 0),
    ("normalised", "-5", "\u22125", 1),
    ("normalised", "1.5", "15", 0),
    ("normalised", "1.5", "1 5", 0),
    ("normalised", "1.5", "1.5.", 1),
    ("normalised", "10^3", "103", 0),
    ("normalised", "2024-11-2", "2024-1-12", 0),
    ("normalised", "2024-11-02", "2024/11/02", 1),
    ("normalised", "की", "का", 0),
    ("normalised", "the", "", 0),
    ("normalised", "!", "?", 0),
    ("numeric", 10, "10", 1),
    ("numeric", 10, "The total is 10.", 1),
    ("numeric", 10, "10.0", 1),
    ("numeric", "1,000", "1000", 1),
    ("numeric", 1000, "It costs $1,000.00!", 1),
    ("numeric", 1000, "1e3", 1),
    ("numeric", 10, "the total is 100", 0),
    ("numeric", 10, "-10", 0),
    ("numeric", 10, "9, 10 or 11", 0),
    ("numeric", 10, "10 10", 0),
    ("numeric", 10, "ten", 0),
    ("numeric", 10, "", 0),
    ("numeric", 1, "1.5kg", 0),
    ("numeric", 5, "1.5kg", 0),
    ("numeric", 1, "1,000kg", 0),
    ("numeric", 2, "v1.2.3", 0),
    ("numeric", 1234567890123456789, "1234567890123456768", 0),
    ("numeric", 1234567890123456789, "1234567890123456789", 1),
    ("numeric", 0.3, "0.30000000000000004", 0),
    ("numeric", 1, "nan", 0),
    ("numeric", 1, "9" * 5_000, 0),
    ("numeric", "no number", "no number", 0),
]


@pytest.mark.parametrize(("match", "accepted", "answer", "value"), ANSWERS)
def test_final_answers(match: Any, accepted: Any, answer: str, value: float) -> None:
    task = task_of(AnswerGoal(accepted=(accepted,), match=match))
    assert final_answer(task, episode_of(calling(content=answer))).value == value


def test_any_accepted_answer_is_right_and_a_tolerance_is_relative() -> None:
    task = task_of(AnswerGoal(accepted=("Oslo", "Christiania")))
    assert final_answer(task, episode_of(calling(content="christiania"))).value == 1
    close = task_of(AnswerGoal(accepted=(200,), match="numeric", tolerance=0.01))
    assert [final_answer(close, episode_of(calling(content=text))).value for text in ("201", "204", "-200")] == [
        1,
        0,
        0,
    ]


SAID_BY_TOOL = Step(action="...", calls=(call("F"),), results=(ToolResult(content="42"),))
LAST_WORDS: list[tuple[str, list[Step], float]] = [
    ("said at the end", [calling(call("F")), calling(content="42")], 1),
    ("said before the end", [calling(content="42"), calling(content="done")], 0),
    ("said beside a call", [calling(call("F"), content="42")], 0),
    ("said beside a broken call", [calling(errors=1, content="42")], 0),
    ("only thought", [Step(action="...", reasoning="42")], 0),
    ("only a tool said it", [SAID_BY_TOOL, calling(content="done")], 0),
    ("only seen", [Step(action="...", observation="ANSWER: 42", content="done")], 0),
    ("nothing happened", [], 0),
]  # fmt: skip


@pytest.mark.parametrize(("case", "steps", "value"), LAST_WORDS, ids=[row[0] for row in LAST_WORDS])
def test_only_the_last_words_of_the_policy_count(case: str, steps: list[Step], value: float) -> None:
    assert final_answer(task_of(AnswerGoal(accepted=("42",))), episode_of(*steps)).value == value


@given(st.text(max_size=30))
def test_normalising_twice_is_normalising_once_and_numbers_are_finite(text: str) -> None:
    once = normalise_answer(text)
    assert "  " not in once
    assert all(math.isfinite(number) for number in numbers_in(text))


# Abstention.

ABSTENTIONS: list[tuple[str, list[Step], float, str]] = [
    ("words", [calling(content="I cannot do that.")], 1, "abstained"),
    ("silence", [calling()], 0, "silent"),
    ("blanks", [calling(content=" \n")], 0, "silent"),
    ("only thought", [Step(action="...", reasoning="no tool fits")], 0, "silent"),
    ("a broken call", [calling(errors=1)], 0, "attempted"),
    ("a broken call and an apology", [calling(errors=1, content="Sorry.")], 0, "attempted"),
    ("a call", [calling(call("F"))], 0, "called"),
    ("a call and an apology", [calling(call("F"), content="Sorry, I cannot.")], 0, "called"),
    ("a call, then an apology", [calling(call("F")), calling(content="Sorry.")], 0, "called"),
    ("an apology, then a call", [calling(content="Sorry."), calling(call("F"))], 0, "called"),
    ("nothing", [], 0, "silent"),
]


@pytest.mark.parametrize(("case", "steps", "value", "outcome"), ABSTENTIONS, ids=[row[0] for row in ABSTENTIONS])
def test_only_words_without_any_attempt_are_an_abstention(
    case: str, steps: list[Step], value: float, outcome: str
) -> None:
    score = irrelevance_abstention(task_of(DecisionGoal(decision="decline")), episode_of(*steps))
    assert score.value == value
    assert score.explanation["outcome"] == outcome


def test_rewards_do_not_apply_where_they_are_not_asked_for() -> None:
    episode = episode_of(calling(MADE_A))
    for goal in (TextGoal(reference="x"), DecisionGoal(decision="ask")):
        for reward in (call_exact_match, argument_f1, final_answer, irrelevance_abstention):
            score = reward(task_of(goal), episode)
            assert (score.applies, score.value) == (False, None)
            assert "reason" in score.explanation


def test_format_validity_by_hand() -> None:
    goal = CallsGoal(turns=((A,),))
    good, late = ToolResult(content=1), ToolResult(error="tool_error", message="m")
    unknown, invalid = ToolResult(error="unknown_tool", message="u"), ToolResult(error="invalid_arguments", message="i")
    rows: list[tuple[Any, list[ToolResult], int, bool, float | None]] = [
        (goal, [good], 0, True, 1.0),
        (goal, [good, late], 0, True, 1.0),
        (goal, [good, unknown], 0, True, 0.5),
        (goal, [good, invalid], 2, True, 0.25),
        (goal, [], 1, True, 0.0),
        (goal, [], 0, True, 0.0),
        (DecisionGoal(decision="decline"), [], 0, False, None),
        (DecisionGoal(decision="decline"), [good], 0, True, 1.0),
    ]
    for asked, results, errors, applies, value in rows:
        calls = (call("F"),) * len(results)
        step = Step(action="...", calls=calls, results=tuple(results), errors=(FAULT,) * errors)
        score = format_validity(task_of(asked), episode_of(step))
        assert (score.applies, score.value) == (applies, value)


# Rubrics.


def test_a_rubric_is_the_weighted_mean_over_what_applies() -> None:
    task = task_of(CallsGoal(turns=((A,),)))
    rubric = Rubric(name="r", weights={"call_exact_match": 1, "argument_f1": 3, "final_answer": 100})
    value, scores = rubric.score(task, episode_of(calling(call("A", x=1, y=0))))
    assert value == pytest.approx((1 * 0 + 3 * 0.5) / 4)
    assert scores["final_answer"].applies is False
    assert rubric.score(task, episode_of(calling(MADE_A)))[0] == 1.0


def test_a_reward_of_weight_0_is_logged_and_pays_nothing() -> None:
    task = task_of(CallsGoal(turns=((A,),)))
    value, scores = RUBRICS["default"].score(task, episode_of(calling(MADE_A)))
    assert value == 1.0
    assert scores["format_validity"].value == 0.0  # this record has no results


def test_unknown_is_not_0() -> None:
    task = task_of(RankingGoal(relevance={"x": 1.0}))
    value, _ = RUBRICS["default"].score(task, episode_of(calling(content="x")))
    assert value is None
    register_reward("test_unknown", lambda task, episode: Score(value=None))
    mixed = Rubric(name="r", weights={"test_unknown": 1, "call_exact_match": 1})
    assert mixed.score(task_of(CallsGoal(turns=((A,),))), episode_of(calling(MADE_A)))[0] is None
    free = Rubric(name="r", weights={"test_unknown": 0, "call_exact_match": 1})
    assert free.score(task_of(CallsGoal(turns=((A,),))), episode_of(calling(MADE_A)))[0] == 1.0


@given(
    st.lists(
        st.tuples(st.sampled_from(["call_exact_match", "argument_f1", "format_validity"]), st.floats(0, 1e300)),
        min_size=1,
    ),
    call_lists,
)
def test_returns_lie_in_0_to_1_whatever_the_weights(weights: list[tuple[str, float]], made: list[ToolCall]) -> None:
    if not any(dict(weights).values()):
        return
    value, _ = Rubric(name="r", weights=dict(weights)).score(
        task_of(CallsGoal(turns=((A,),))), episode_of(calling(*made))
    )
    assert value is not None
    assert 0.0 <= value <= 1.0


def test_errors_of_rubrics_name_what_there_is() -> None:
    with pytest.raises(ValidationError, match=r"no reward 'nope'; there are: .*argument_f1"):
        Rubric(name="r", weights={"nope": 1})
    with pytest.raises(ConfigurationError, match=r"'nope'.*final_answer"):
        get_reward("nope")
    with pytest.raises(ConfigurationError, match=r"'nope'.*default"):
        get_rubric("nope")
    with pytest.raises(ConfigurationError, match="exists already"):
        register_reward("final_answer", lambda task, episode: Score(value=1))
    register_reward("final_answer", final_answer)  # the same again is no error
    with pytest.raises(ValidationError, match="too large"):
        Rubric(name="r", weights={"argument_f1": 1.5e308, "final_answer": 1.5e308})
    with pytest.raises(DataError, match=r"Rubric.*nope"):
        Rubric.from_json('{"name": "r", "weights": {"nope": 1}}')


@pytest.mark.parametrize("rubric", RUBRICS.values(), ids=list(RUBRICS))
def test_rubrics_go_to_json_and_back(rubric: Rubric) -> None:
    assert Rubric.from_json(rubric.to_json()) == rubric
    assert get_rubric(rubric.name) is rubric
    assert get_rubric(rubric) is rubric


def test_rewards_change_neither_task_nor_episode() -> None:
    task = task_of(CallsGoal(turns=((A, B),)))
    episode = episode_of(calling(MADE_B, call("A", x=1), errors=1, content="42"))
    before = task.to_json(), episode.to_json()
    first = RUBRICS["default"].score(task, episode)
    assert RUBRICS["default"].score(task, episode) == first
    assert (task.to_json(), episode.to_json()) == before


# Nothing a policy can do pays more than doing the task.

TOOLS = tuple(
    Tool(
        name=name,
        description=f"Does {name}.",
        parameters={
            "type": "object",
            "properties": {"x": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["x", "n"],
        },
    )
    for name in ("Book", "Cancel")
)
LAZY_CALL_TASK = Task(
    id="call",
    family="lazy",
    split="test",
    messages=(Message(role="user", content="Book two for tea, please."),),
    tools=TOOLS,
    goal=CallsGoal(turns=((gold("Book", x="tea", n=2),),)),
)
LAZY_DECLINE_TASK = LAZY_CALL_TASK.model_copy(
    update={"id": "decline", "goal": DecisionGoal(decision="decline", reply="None of them can.")}
)
LAZY_ANSWER_TASK = LAZY_CALL_TASK.model_copy(
    update={
        "id": "answer",
        "user_turns": (UserTurn(content="So, how many?"),),
        "goal": AnswerGoal(accepted=("2",)),
    }
)
LAZY_POLICIES = (
    "silent",
    "echo prompt",
    "twice",
    "gold and extra",
    "empty arguments",
    "call and apologise",
    "call all",
)


EVERY_TASK = ("default", "exact")
"""The rubrics for tasks of any family; an environment may register others for its own."""


class LazyEnv(ToolEnv):
    family = "lazy"


def lazy_action(policy: str, env: ToolEnv, prompt: str) -> str:
    write = env.dialect.render_action
    right, other = call("Book", x="tea", n=2), call("Cancel", x="tea", n=2)
    return {
        "silent": "",
        "echo prompt": prompt,
        "twice": write([right, right]),
        "gold and extra": write([right, other]),
        "empty arguments": write([call("Book")]),
        "call and apologise": write([other], "Sorry, I cannot do that."),
        "call all": write([call(tool.name, x="tea", n=2) for tool in TOOLS]),
    }[policy]


@pytest.mark.parametrize("rubric", EVERY_TASK)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("policy", LAZY_POLICIES)
@pytest.mark.parametrize("task", [LAZY_CALL_TASK, LAZY_DECLINE_TASK, LAZY_ANSWER_TASK], ids=lambda task: task.id)
def test_lazy_policies_earn_less_than_the_gold(task: Task, policy: str, dialect: str, rubric: str) -> None:
    backend = PythonBackend({tool.name: lambda world, x, n: "done" for tool in TOOLS})
    env = LazyEnv(data=[task], dialect=dialect, rubric=rubric, backend=backend)
    prompt, _ = env.reset(seed=0)
    _, best, *_ = env.step(env.oracle_action())
    assert best == 1.0
    env.reset(seed=0)
    _, lazy, terminated, _, _ = env.step(lazy_action(policy, env, prompt))
    assert terminated
    assert lazy <= 2 / 3


def test_20_useless_calls_earn_no_more_than_a_direct_wrong_answer() -> None:
    task = task_of(AnswerGoal(accepted=("42",)))
    spam = episode_of(*[calling(call("F")) for _ in range(20)], calling(content="41"))
    direct = episode_of(calling(content="41"))
    rubric = RUBRICS["default"]
    assert rubric.score(task, spam)[0] == rubric.score(task, direct)[0] == 0.0


# Calls some time in the episode, and tools that are free.

SEARCH = call("Search", words="x")
EPISODES: list[tuple[str, list[list[GoldCall]], list[Step], bool, float, float]] = [
    ("in its turn", [[A], [B]], [calling(MADE_A), calling(MADE_B, turn=1)], False, 1, 1),
    ("all in the first turn", [[A], [B]], [calling(MADE_A, MADE_B), calling(turn=1)], False, 1, 1),
    ("turns swapped", [[A], [B]], [calling(MADE_B), calling(MADE_A, turn=1)], False, 1, 1),
    ("later than asked", [[A]], [calling(), calling(MADE_A, turn=1)], False, 1, 1),
    ("in a turn the goal does not list", [[A]], [calling(), calling(MADE_A, turn=7)], False, 1, 1),
    ("made twice: 2*1/(1+2)", [[A]], [calling(MADE_A), calling(MADE_A, turn=1)], False, 0, 2 / 3),
    ("a useless one in a later turn: 2*2/(2+3)", [[A], [B]],
     [calling(MADE_A), calling(MADE_B, turn=1), calling(call("C"), turn=2)], False, 0, 0.8),
    ("an unreadable one in a later turn: 2*1/(1+2)", [[A]], [calling(MADE_A), calling(errors=1, turn=2)], False, 0,
     2 / 3),
    ("half of it: 2*1/(2+1)", [[A], [B]], [calling(MADE_B)], False, 0, 2 / 3),
    ("one half right: 2*1.5/(2+2)", [[A], [B]], [calling(call("A", x=1, y=0), MADE_B)], False, 0, 0.75),
    ("a turn never reached", [[A], []], [calling(MADE_A)], False, 1, 1),
    ("nothing", [[A], [B]], [], False, 0, 0),
    ("none asked, none made", [[], []], [calling(), calling(turn=1)], False, 1, 1),
    ("none asked, one made", [[], []], [calling(), calling(MADE_A, turn=1)], False, 0, 0),
    ("none asked, nothing reached", [[], []], [], False, 0, 0),
    ("in order over turns", [[A], [B]], [calling(MADE_A), calling(MADE_B, turn=1)], True, 1, 1),
    ("out of order over turns: 2*1/(2+2)", [[A], [B]], [calling(MADE_B), calling(MADE_A, turn=1)], True, 0, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "asked", "steps", "ordered", "exact", "f1"), EPISODES, ids=[row[0] for row in EPISODES]
)
def test_calls_may_be_made_some_time_in_the_episode(
    case: str, asked: list[list[GoldCall]], steps: list[Step], ordered: bool, exact: float, f1: float
) -> None:
    task = task_of(CallsGoal(turns=tuple(map(tuple, asked)), ordered=ordered, scope="episode"))
    episode = episode_of(*steps)
    assert call_exact_match(task, episode).value == exact
    assert argument_f1(task, episode).value == pytest.approx(f1)


FREE: list[tuple[str, list[list[GoldCall]], list[Step], float, float]] = [
    ("before the call", [[A]], [calling(SEARCH), calling(MADE_A)], 1, 1),
    ("beside the call", [[A]], [calling(SEARCH, MADE_A)], 1, 1),
    ("after the call", [[A]], [calling(MADE_A), calling(SEARCH)], 1, 1),
    ("20 times", [[A]], [calling(*[SEARCH] * 20, MADE_A)], 1, 1),
    ("with arguments that do not exist", [[A]], [calling(call("Search", z=[1]), MADE_A)], 1, 1),
    ("where none is asked", [[]], [calling(SEARCH)], 1, 1),
    ("in a later turn", [[A]], [calling(MADE_A), calling(SEARCH, turn=3)], 1, 1),
    ("instead of the call", [[A]], [calling(SEARCH)], 0, 0),
    ("unreadable: 2*1/(1+2)", [[A]], [calling(MADE_A, errors=1)], 0, 2 / 3),
    ("in another case: 2*1/(1+2)", [[A]], [calling(call("search"), MADE_A)], 0, 2 / 3),
    ("and another, useless one: 2*1/(1+2)", [[A]], [calling(SEARCH, MADE_A, call("C"))], 0, 2 / 3),
]


@pytest.mark.parametrize(("case", "asked", "steps", "exact", "f1"), FREE, ids=[row[0] for row in FREE])
@pytest.mark.parametrize("scope", ["turn", "episode"])
def test_a_free_tool_is_neither_asked_for_nor_held_against_the_policy(
    case: str, asked: list[list[GoldCall]], steps: list[Step], exact: float, f1: float, scope: Any
) -> None:
    task = task_of(CallsGoal(turns=tuple(map(tuple, asked)), scope=scope, free=("Search", "Other")))
    episode = episode_of(*steps)
    before = episode.to_json()
    assert call_exact_match(task, episode).value == exact
    assert argument_f1(task, episode).value == pytest.approx(f1)
    assert episode.to_json() == before


@given(gold_lists, call_lists, st.lists(st.integers(0, 8), max_size=4), st.integers(0, 2))
def test_free_calls_anywhere_change_no_score(
    asked: list[GoldCall], made: list[ToolCall], places: list[int], errors: int
) -> None:
    goal = CallsGoal(turns=(tuple(asked),), free=("Search",))
    mixed = list(made)
    for place in places:
        mixed.insert(place, SEARCH)
    scores = [
        [reward(task_of(goal), episode_of(calling(*calls, errors=errors))).value for calls in (made, mixed)]
        for reward in (call_exact_match, argument_f1)
    ]
    assert all(one == other for one, other in scores)
    assert [one for one, _ in scores] == both_scores(asked, made, errors)


@given(st.lists(gold_lists, min_size=1, max_size=3), st.lists(call_lists, min_size=1, max_size=3))
def test_over_an_episode_it_does_not_matter_in_which_turn_a_call_is_made(
    asked: list[list[GoldCall]], made: list[list[ToolCall]]
) -> None:
    task = task_of(CallsGoal(turns=tuple(map(tuple, asked)), scope="episode"))
    spread = episode_of(*(calling(*calls, turn=turn) for turn, calls in enumerate(made)))
    at_once = episode_of(calling(*[one for calls in made for one in calls]))
    for reward in (call_exact_match, argument_f1):
        assert reward(task, spread).value == pytest.approx(reward(task, at_once).value)
    assert recompute(argument_f1(task, spread).explanation) == pytest.approx(argument_f1(task, spread).value)


DECLINES: list[tuple[str, list[Step], float, str]] = [
    ("a search, then words", [calling(SEARCH), calling(content="None can.")], 1, "abstained"),
    ("many searches, then words", [*[calling(SEARCH, SEARCH)] * 5, calling(content="None can.")], 1, "abstained"),
    ("words alone", [calling(content="None can.")], 1, "abstained"),
    ("a search alone", [calling(SEARCH)], 0, "silent"),
    ("a search, then silence", [calling(SEARCH), calling()], 0, "silent"),
    ("a search and a call", [calling(SEARCH, call("F")), calling(content="Sorry.")], 0, "called"),
    ("a search, a broken one, then words", [calling(SEARCH, errors=1), calling(content="No.")], 0, "attempted"),
    ("another case of its name", [calling(call("search")), calling(content="Sorry.")], 0, "called"),
]


@pytest.mark.parametrize(("case", "steps", "value", "outcome"), DECLINES, ids=[row[0] for row in DECLINES])
def test_a_free_tool_may_be_called_before_declining(case: str, steps: list[Step], value: float, outcome: str) -> None:
    score = irrelevance_abstention(task_of(DecisionGoal(decision="decline", free=("Search",))), episode_of(*steps))
    assert score.value == value
    assert score.explanation["outcome"] == outcome
    asked = task_of(DecisionGoal(decision="decline"))
    if any(step.calls for step in steps):
        assert irrelevance_abstention(asked, episode_of(*steps)).explanation["outcome"] == "called"


@pytest.mark.parametrize("after", [[], [calling()]], ids=["cut off", "then silence"])
def test_words_beside_a_search_are_no_reply(after: list[Step]) -> None:
    task = task_of(DecisionGoal(decision="decline", free=("Search",)))
    episode = episode_of(calling(SEARCH, content="Let me look."), *after)
    assert irrelevance_abstention(task, episode).value == 0.0


# Answers that hold what is asked for.

HELD: list[tuple[Any, str, int | None, float]] = [
    ("Oslo", "It is Oslo.", None, 1),
    ("Oslo", "oslo", None, 1),
    ("Oslo", "The capital, OSLO, is north of here", None, 1),
    ("Oslo", "Osloites live there", None, 0),
    ("Oslo", "Rome", None, 0),
    ("Oslo", "", None, 0),
    ("New  York", "In new york!", None, 1),
    ("New York", "York is new", None, 0),
    ("New York", "New, York", None, 1),
    ("the", "the end", None, 0),
    ("!", "yes!", None, 0),
    (10, "It costs 10 crowns.", None, 1),
    (10, "It costs 100 crowns.", None, 0),
    (10, "It costs 10.5 crowns.", None, 0),
    (10, "It costs -10 crowns.", None, 0),
    (10, "It costs 1,10 crowns.", None, 0),
    (10, "It costs 10% of 50.", None, 1),
    (10, "It weighs 10kg.", None, 0),
    (33.0, "That makes 33.", None, 1),
    (33, "That makes 33.0.", None, 1),
    (1754.0, "1,754 in all, or 1,755.", None, 1),
    ("33", "That makes 33.0.", None, 0),
    (2**60, f"It is {2**60 + 1}.", None, 0),
    (7272.3, "You have 7272.3.", None, 1),
    (7272.3, "You have 7272.35.", None, 0),
    ("2023-03-31", "Today is 2023-03-31.", None, 1),
    ("2023-03-31", "Today is 2023-03-30.", None, 0),
    ("Oslo", "It is Oslo.", 11, 1),
    ("Oslo", "It is Oslo.", 10, 0),
    ("Oslo", "Oslo" + " " * 20, 10, 0),
    ("Oslo", "Rome, Oslo, Bonn, Bern, Riga", 20, 0),
]


@pytest.mark.parametrize(("accepted", "answer", "limit", "value"), HELD)
def test_an_answer_may_hold_what_is_asked_for(accepted: Any, answer: str, limit: int | None, value: float) -> None:
    task = task_of(AnswerGoal(accepted=(accepted,), match="contains", max_length=limit))
    score = final_answer(task, episode_of(calling(content=answer)))
    assert score.value == value
    assert score.explanation["accepted"] is bool(value)


@pytest.mark.parametrize(("case", "steps", "value"), LAST_WORDS, ids=[row[0] for row in LAST_WORDS])
def test_what_is_asked_for_stands_in_the_last_words(case: str, steps: list[Step], value: float) -> None:
    goal = AnswerGoal(accepted=("41", "42"), match="contains", max_length=200)
    assert final_answer(task_of(goal), episode_of(*steps)).value == value


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_whatever_stands_around_it_a_held_answer_is_found(before: str, word: str, after: str) -> None:
    goal = task_of(AnswerGoal(accepted=(word,), match="contains"))
    whole = final_answer(task_of(AnswerGoal(accepted=(word,))), episode_of(calling(content=word))).value
    assert final_answer(goal, episode_of(calling(content=word))).value == whole
    around = f"{before}\n {word} \n{after}"
    assert final_answer(goal, episode_of(calling(content=around))).value == whole
    short = task_of(AnswerGoal(accepted=(word,), match="contains", max_length=len(around)))
    assert final_answer(short, episode_of(calling(content=around))).value == whole
    assert final_answer(short, episode_of(calling(content=around + "."))).value == 0.0


# The state reached.

ALARM: dict[str, Any] = {"Alarm": {"set": {"7": {"time": "06:00", "on": True}}, "removed": ["1", "2"]}}
STATES: list[tuple[str, Any, Any, float | None, list[str]]] = [
    ("equal", ALARM, ALARM, 1, []),
    ("keys in another order", ALARM, {"Alarm": dict(reversed(ALARM["Alarm"].items()))}, 1, []),
    ("both empty", {}, {}, 1, []),
    ("nothing done", ALARM, {}, 0, ["Alarm"]),
    ("done where nothing was asked", {}, ALARM, 0, ["Alarm"]),
    ("more than asked", ALARM, {**ALARM, "Agenda": {"set": {}, "removed": ["3"]}}, 0, ["Agenda"]),
    ("another value", ALARM, {"Alarm": {**ALARM["Alarm"], "removed": ["1"]}}, 0, ["Alarm"]),
    ("two tables", {"B": 1, "A": 1}, {"B": 2, "A": 2}, 0, ["A", "B"]),
    ("a whole number with a point", {"A": 1}, {"A": 1.0}, 1, []),
    ("text for a number", {"A": 1}, {"A": "1"}, 0, ["A"]),
    ("no state recorded", ALARM, None, None, []),
    ("no state recorded, none asked", {}, None, None, []),
]


@pytest.mark.parametrize(("case", "asked", "reached", "value", "differs"), STATES, ids=[row[0] for row in STATES])
def test_the_state_reached(case: str, asked: Any, reached: Any, value: float | None, differs: list[str]) -> None:
    task = task_of(StateGoal(state=asked))
    episode = episode_of(calling(MADE_A)).model_copy(update={"state": reached})
    score = state_reached(task, episode)
    assert (score.applies, score.value) == (True, value)
    if value is None:
        assert "reason" in score.explanation
    else:
        assert score.explanation["differs"] == differs
    both = task_of(AllGoal(goals=(CallsGoal(turns=((A,),)), StateGoal(state=asked))))
    assert state_reached(both, episode) == score


@pytest.mark.parametrize(("asked", "reached"), [({"A": None}, {}), ({}, {"A": None}), ({"A": True}, {"A": 1})])
def test_states_are_compared_as_json(asked: Any, reached: Any) -> None:
    episode = episode_of().model_copy(update={"state": reached})
    assert state_reached(task_of(StateGoal(state=asked)), episode).value == 0.0


def test_a_state_that_differs_everywhere_is_shown_in_part() -> None:
    many: dict[str, Any] = {f"table {number:02}": number for number in range(30)}
    score = state_reached(task_of(StateGoal(state=many)), episode_of().model_copy(update={"state": {}}))
    assert score.value == 0.0
    assert score.explanation["differs"] == [f"table {number:02}" for number in range(8)]


def test_the_state_is_not_asked_for_without_a_goal() -> None:
    episode = episode_of(calling(MADE_A)).model_copy(update={"state": ALARM})
    for goal in (CallsGoal(turns=((A,),)), AllGoal(goals=(TextGoal(reference="x"),)), DecisionGoal(decision="decline")):
        score = state_reached(task_of(goal), episode)
        assert (score.applies, score.value) == (False, None)
        assert "reason" in score.explanation


def test_calls_state_and_answer_are_paid_in_equal_parts() -> None:
    goals = (
        CallsGoal(turns=((A,),), scope="episode", free=("Search",)),
        StateGoal(state=ALARM),
        AnswerGoal(accepted=("done",), match="contains", max_length=50),
    )
    task = task_of(AllGoal(goals=goals))
    right, wrong = calling(content="It is done."), calling(content="No.")
    rows: list[tuple[list[Step], Any, float]] = [
        ([calling(SEARCH), calling(MADE_A), right], ALARM, 1.0),
        ([calling(MADE_A), wrong], ALARM, 2 / 3),
        ([calling(MADE_A), right], {}, 2 / 3),
        ([right], ALARM, 2 / 3),
        ([right], {}, 1 / 3),
        ([wrong], {}, 0.0),
        ([calling(call("A", x=1, y=0)), right], ALARM, 2.25 / 3),
    ]
    for steps, state, value in rows:
        episode = episode_of(*steps).model_copy(update={"state": state})
        assert RUBRICS["default"].score(task, episode)[0] == pytest.approx(value)
    assert RUBRICS["default"].score(task, episode_of(calling(MADE_A), right))[0] is None  # no state on record


@pytest.mark.parametrize("error", ["timeout", "unavailable", "tool_error", "invalid_arguments", None])
def test_calling_again_pays_no_more_than_calling_once(error: Any) -> None:
    """What nobody answered may be tried again without a loss; nothing is gained by it, whatever was answered."""

    def made(*results: ToolResult) -> Episode:
        return episode_of(*[calling(MADE_A).model_copy(update={"results": (result,)}) for result in results])

    task = task_of(CallsGoal(turns=((A,),)))
    answered, failed = ToolResult(content=1), ToolResult(error=error, message="no" if error else "")
    for reward in (call_exact_match, argument_f1):
        once = reward(task, made(answered)).value
        for results in ([failed, answered], [failed] * 20, [failed] * 20 + [answered]):
            value = reward(task, made(*results)).value
            assert value is not None
            assert once is not None
            assert value <= once
            assert (value == once) == (error in ("timeout", "unavailable"))
