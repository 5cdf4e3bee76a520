"""Text compared as it is meant, calls by ``call_match``, and calls of which any that fits is right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Episode, GoldCall, Message, Step, Task, ToolCall, ToolResult
from callgym.goal import CallsGoal, DecisionGoal, Goal
from callgym.rewards.call_match import call_match
from callgym.rewards.explain import recompute
from callgym.rewards.relevance import relevant_call
from callgym.rewards.same_text import text_key, written_alike

SAME = [
    ("New York, NY", "new york ny"),
    ("2024-11-02", "2024/11/2"),
    ("2024.1.05", "2024-01-05"),
    ("1,000", "1000"),
    ("$1,200.50", "$1200.50"),
    ("3 PM", "3pm"),
    ("covid-19", "COVID 19"),
    ("gpt-4", "gpt4"),
    ("a_b", "a b"),
    ("Mr. O'Neil", 'mr o"neil'),
    ("5 km/h", "5kmh"),
]
DIFFERENT = [
    ("2024-11-2", "2024-1-12"),
    ("-5", "5"),
    ("1.5", "15"),
    ("10^3", "103"),
    ("1 000", "1000"),
    ("10-12", "1012"),
    (".5", "5"),
    ("1-2", "1/2"),
    ("1.5.2", "15.2"),
    ("Paris", "París"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_texts_that_say_the_same(first: str, second: str) -> None:
    assert text_key(first) == text_key(second)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_texts_that_the_official_rule_merges_or_nobody_should(first: str, second: str) -> None:
    assert text_key(first) != text_key(second)


@given(st.text(max_size=60))
def test_a_key_is_its_own_key_and_ignores_case(text: str) -> None:
    assert text_key(text) == text_key(text.lower())
    letters = "".join(character for character in text if character.isascii() and character.isalpha())
    assert text_key(letters) == letters.lower()


def test_texts_are_keyed_at_any_depth_and_nothing_else_changes() -> None:
    value = {"A b": ["X-y", {"c": ("P.Q", 1, None, True)}]}
    assert written_alike(value) == {"A b": ["xy", {"c": ["pq", 1, None, True]}]}


def task_of(goal: Goal) -> Task:
    return Task(id="t", family="f", split="s", messages=(Message(role="user", content="?"),), goal=goal)


def played(*calls: ToolCall, failed: tuple[int, ...] = (), content: str = "") -> Episode:
    results = tuple(
        ToolResult(error="invalid_arguments", message="no") if index in failed else ToolResult()
        for index in range(len(calls))
    )
    return Episode(
        env_id="e", task_id="t", seed=0, steps=(Step(action="a", calls=calls, results=results, content=content),)
    )


def call(name: str = "book", **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


GOLD = GoldCall(name="book", arguments={"city": ("New York, NY", "NYC"), "nights": (2,)}, optional=())
ASKED = task_of(CallsGoal(turns=((GOLD,),)))


@pytest.mark.parametrize(
    ("calls", "value"),
    [
        ([call(city="new york ny", nights=2)], 1.0),
        ([call(city="N.Y.C.", nights=2.0)], 1.0),
        ([call(city="Boston", nights=2)], 0.25),
        ([call(city="nyc", nights=True)], 0.25),
        ([call(city="nyc", nights="2")], 0.25),
        ([call(city="nyc", nights=2), call("pay")], 1 / 3),
        ([call(city="nyc", nights=2)] * 2, 1 / 3),
        ([call()], 0.0),
        ([call("pay", city="nyc", nights=2)], 0.0),
        ([], 0.0),
    ],
)
def test_call_match(calls: list[ToolCall], value: float) -> None:
    score = call_match(ASKED, played(*calls))
    assert score.value == pytest.approx(value)
    assert recompute("call_match", score) == pytest.approx(value)


def test_call_match_pairs_by_the_best_assignment() -> None:
    gold = tuple(GoldCall(name="f", arguments={"a": (a,), "b": (b,)}) for a, b in ((1, 2), (1, 3)))
    made = (call("f", a=1, b=3), call("f", a=1, b=2))
    assert call_match(task_of(CallsGoal(turns=(gold,))), played(*made)).value == 1.0


def test_calls_that_are_one_way_of_several_are_not_compared() -> None:
    exemplary = task_of(CallsGoal(turns=((GOLD,),), exemplary=True))
    assert not call_match(exemplary, played()).applies


@given(st.lists(st.sampled_from(["nyc", "Boston", "2024-1-12"]), max_size=4), st.booleans())
def test_a_spurious_call_never_raises_call_match(cities: list[str], before: bool) -> None:
    made = [call(city=city, nights=2) for city in cities]
    more = [call("spurious"), *made] if before else [*made, call("spurious")]
    without, with_it = (call_match(ASKED, played(*calls)).value or 0.0 for calls in (made, more))
    assert with_it <= without


@pytest.mark.parametrize(
    ("calls", "failed", "value"),
    [
        ([], (), 0.0),
        ([call(a=1)], (), 1.0),
        ([call(a=1)], (0,), 0.0),
        ([call(a=1), call(a=2)], (1,), 0.5),
        ([call(a=1)] * 4, (), 0.25),
        ([call(a=number) for number in range(8)], (), 0.5),
    ],
)
def test_where_any_fitting_call_is_right_failures_copies_and_tries_of_everything_cost(
    calls: list[ToolCall], failed: tuple[int, ...], value: float
) -> None:
    score = relevant_call(task_of(DecisionGoal(decision="call")), played(*calls, failed=failed, content="Yes."))
    assert score.value == pytest.approx(value)
    assert recompute("relevant_call", score) == pytest.approx(value)
