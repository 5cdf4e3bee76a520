"""From counts to BFCL's leaderboard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.envs.bfcl.categories import CATEGORIES, GROUPS
from callgym.envs.bfcl.official.leaderboard import OVERALL_WEIGHTS, columns, format_sensitivity, overall
from callgym.errors import DataError

FULL = {name: (CATEGORIES[name].count, CATEGORIES[name].count) for name in GROUPS["all"]}


def _without(*names: str) -> dict[str, tuple[int, int]]:
    return {name: (0, total) if name in names else (total, total) for name, (_, total) in FULL.items()}


def test_all_right_is_a_hundred_percent() -> None:
    assert overall(FULL) == pytest.approx(1.0)
    assert {text for table in columns(FULL).values() for text in table.values()} == {"100.00%"}


@pytest.mark.parametrize(
    ("wrong", "loss"),
    [
        (("simple_python",), 0.1 / 4 / 3),
        (("multiple",), 0.1 / 4),
        (("live_multiple",), 0.1 * 1053 / 1351),
        (("irrelevance",), 0.1 / 2),
        (("live_irrelevance",), 0.1 / 2),
        (("multi_turn_base",), 0.3 / 4),
        (("web_search_base",), 0.4 / 2 / 2),
        (("memory_kv",), 0.4 / 2 / 3),
        (("live_relevance",), 0.0),
    ],
)
def test_what_a_category_counts(wrong: tuple[str, ...], loss: float) -> None:
    assert overall(_without(*wrong)) == pytest.approx(1 - loss)


def test_weights_are_percent() -> None:
    assert sum(OVERALL_WEIGHTS.values()) == 100


def test_what_was_not_run_counts_nothing_and_shows_as_not_available() -> None:
    tables = columns({"simple_python": (380, 400), "simple_java": (60, 100)})
    assert tables["overall"]["Overall Acc"] == "1.29%"
    assert tables["overall"]["Non-Live Simple AST"] == "N/A"
    assert tables["non_live"]["Python Simple AST"] == "95.00%"
    assert tables["non_live"]["Non-Live Overall Acc"] == "12.92%"
    assert tables["live"]["Live Overall Acc"] == "0.00%"
    assert overall({}) == 0.0


@pytest.mark.parametrize("counts", [{"simple": (1, 2)}, {"multiple": (3, 2)}, {"multiple": (-1, 2)}])
def test_counts_that_cannot_be_are_refused(counts: dict[str, tuple[int, int]]) -> None:
    with pytest.raises(DataError):
        overall(counts)


_COUNTS = st.dictionaries(
    st.sampled_from(list(CATEGORIES)),
    st.integers(0, 300).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))),
)


@given(_COUNTS)
def test_scores_lie_between_nothing_and_everything(counts: dict[str, tuple[int, int]]) -> None:
    assert -1e-9 <= overall(counts) <= 1 + 1e-9
    assert all(text == "N/A" or text.endswith("%") for table in columns(counts).values() for text in table.values())


def test_formats_are_compared_in_percent() -> None:
    found = format_sensitivity({"a": (10, 20), "b": (15, 20), "c": (20, 20)})
    assert (found.max_delta, found.standard_deviation, found.variance) == (50.0, 25.0, 625.0)
    assert found.accuracy == {"a": 0.5, "b": 0.75, "c": 1.0}
    alone = format_sensitivity({"a": (10, 20)})
    assert (alone.max_delta, alone.standard_deviation, alone.variance) == (0.0, 0.0, 0.0)
    assert columns(FULL, found)["overall"]["Format Sensitivity Max Delta"] == "50.0"
    with pytest.raises(DataError):
        format_sensitivity({})
