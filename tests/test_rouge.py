"""ROUGE-L: the official package's numbers, for every pair of texts and in bounded time."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callgym import DataError
from callgym.rewards.rouge import official_rouge_l, rouge_l


def plain_rouge_l(reference: str, reply: str) -> float:
    """The rule as it is defined, with whole tables: quadratic in time and memory."""
    wanted, said = (
        [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece] for text in (reference, reply)
    )
    common = {word for one in wanted for other in said for word in rebuilt(one, other)}
    recall = len(common) / len({word for sentence in wanted for word in sentence})
    precision = len(common) / len({word for sentence in said for word in sentence})
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def rebuilt(one: list[str], other: list[str]) -> list[str]:
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, word in enumerate(one, 1):
        for j, same in enumerate(other, 1):
            longest = max(lengths[i - 1][j], lengths[i][j - 1])
            lengths[i][j] = lengths[i - 1][j - 1] + 1 if word == same else longest
    words, i, j = [], len(one), len(other)
    while i and j:
        if one[i - 1] == other[j - 1]:
            words.append(one[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words


def holds_nothing(text: str) -> bool:
    return not text.strip(".")


@pytest.mark.parametrize(
    ("reference", "reply", "expected"),
    [
        ("a b c.", "a b c.", 0.999999995),
        ("a. b. c.", "c. b. a.", 0.999999995),
        ("x", "y", 0.0),
        ("a a a b", "a b", 0.999999995),  # a word counts once
        ("A b", "a b", 0.499999995),  # case counts
        ("tab\tand  spaces", "tab and\u2003spaces", 0.999999995),
        ("3.14 is pi", "3 14 is pi", 0.999999995),
        ("a b", "b a", 0.499999995),
        (" ", " ", 0.999999995),  # a blank piece is one empty word
        ("a", " ", 0.0),
        ("hello", "", 0.0),
        ("hello", "...", 0.0),
    ],
)
def test_scores(reference: str, reply: str, expected: float) -> None:
    assert rouge_l(reference, reply) == pytest.approx(expected, abs=1e-12)


def test_of_equally_long_subsequences_the_official_one_is_taken() -> None:
    """Of "a b" and "b a", "b" is common, not "a": so "a" is missing until another sentence brings it."""
    assert rouge_l("a b", "b a. b") == pytest.approx(0.5, abs=1e-8)
    assert rouge_l("a b", "b a. a") == pytest.approx(1, abs=1e-8)


pieces = st.lists(st.sampled_from(["a", "b", "c", "A", "é", " ", " ", " ", ".", "..", "\n", "\u2003"]), max_size=40)
sentences = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "."]), max_size=25).map(" ".join)


@given(pieces.map("".join) | sentences, pieces.map("".join) | sentences)
@example("a b c a b c", "c b a c b a. b c a")
@settings(max_examples=2000)
def test_any_two_texts_score_as_defined(reference: str, reply: str) -> None:
    if holds_nothing(reference):
        with pytest.raises(DataError, match="full stops"):
            rouge_l(reference, reply)
        assert official_rouge_l(reference, reply, 1) is None
    elif holds_nothing(reply):
        assert rouge_l(reference, reply) == 0
    else:
        assert rouge_l(reference, reply) == plain_rouge_l(reference, reply)


def test_texts_longer_than_a_machine_word_score_as_defined() -> None:
    rng = random.Random(0)
    for _ in range(40):
        reference, reply = (
            " ".join(rng.choice(["a", "b", "c", "d", "e", "f.", "."]) for _ in range(rng.randrange(60, 200)))
            for _ in range(2)
        )
        assert rouge_l(reference, reply) == plain_rouge_l(reference, reply)


@pytest.mark.parametrize("piece", ["a ", "z ", "a", ".", ". ", "a. ", "a b. ", "z a. b ", "\ud800 "])
def test_replies_of_full_length_are_scored(piece: str) -> None:
    """Whole tables would take gigabytes here."""
    reference = "a b c. " + " ".join("abcdefghijklmnopqrst") + ". t s r q"
    assert 0 <= rouge_l(reference, (piece * 200_000)[:200_000]) <= 1
    assert 0 <= rouge_l(reference * 100, (piece * 200_000)[:200_000]) <= 1


def test_levels_round_and_take_out_labels_as_officially() -> None:
    assert official_rouge_l("The alarm is set", "The alarm rings", 1) == 0.5714
    assert official_rouge_l("The alarm is set", "The alarm rings", 2) == 0.5714
    assert official_rouge_l("The alarm is set", "The alarm rings", 3) == pytest.approx(4 / 7, abs=1e-7)
    assert official_rouge_l("a b", " AI: a b", 3) == pytest.approx(1, abs=1e-7)
    assert official_rouge_l("a b", "AI: a b", 1) == 0.8


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_text_at_fault_decides_between_nought_and_no_score(level: int) -> None:
    assert official_rouge_l("a b", "", level) == 0
    assert official_rouge_l("a b", "..", level) == 0
    assert official_rouge_l("a b", "AI:", level) == 0
    assert official_rouge_l("", "a b", level) is None
    assert official_rouge_l("..", "", level) is None


def test_official_numbers_agree(official_data: Path) -> None:
    path = official_data / "api_bank_parity" / "rouge.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        expected = row["official_rouge_l"]
        # Where the package raises, the reply is nothing but full stops.
        assert official_rouge_l(row["reference"], row["output"], row["level"]) == (
            0 if isinstance(expected, str) else expected
        ), row["case"]
