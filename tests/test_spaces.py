"""TextSpace: any Unicode, checked in constant time, and right in every kind of vector environment."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array, iterate
from hypothesis import given
from hypothesis import strategies as st

from callgym import TextSpace

# Half surrogates too: a space says whether a text is too long, not whether it can be encoded.
any_text = st.text(st.characters(), max_size=50)


@given(any_text, st.integers(0, 60), st.integers(0, 60))
def test_members_are_the_texts_of_allowed_length(text: str, low: int, more: int) -> None:
    space = TextSpace(low + more, min_length=low)
    assert (text in space) == (low <= len(text) <= low + more)


@pytest.mark.parametrize("text", ["", " ", "\n", '{"name": "f"}', "naïve 東京 🙂", "\x00", "\ud800", "é" * 100])
def test_what_gymnasium_s_text_refuses_is_a_member(text: str) -> None:
    assert text in TextSpace(100)


@pytest.mark.parametrize("other", [None, 5, b"bytes", ["a"], ("a",), np.array(["a"]), {"a": 1}])
def test_what_is_no_text_is_no_member(other: Any) -> None:
    assert other not in TextSpace(100)


def test_the_longest_text_is_in_and_one_more_character_is_out() -> None:
    space = TextSpace()
    assert "🙂" * 32_768 in space
    assert "🙂" * 32_769 not in space


@pytest.mark.parametrize(("low", "high"), [(-1, 5), (5, 4), (0, -1)])
def test_lengths_the_wrong_way_round_are_an_error(low: int, high: int) -> None:
    with pytest.raises(ValueError, match=f"min_length={low} and max_length={high}"):
        TextSpace(high, min_length=low)


class CountingText(str):
    """A text that counts how often its characters are looked at."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        CountingText.looks += len(self)
        return super().__iter__()

    def __getitem__(self, index: Any) -> str:
        CountingText.looks += 1
        return super().__getitem__(index)

    def __contains__(self, part: object) -> bool:
        CountingText.looks += len(self)
        return super().__contains__(part)  # type: ignore[operator]

    def encode(self, *args: Any, **options: Any) -> bytes:
        CountingText.looks += len(self)
        return super().encode(*args, **options)


def test_contains_looks_at_no_character() -> None:
    CountingText.looks = 0
    text = CountingText("x" * 10_000_000)
    assert TextSpace(10_000_000).contains(text)
    assert not TextSpace(9_999_999).contains(text)
    assert CountingText.looks == 0


@given(st.integers(0, 2**32 - 1), st.integers(0, 100), st.integers(0, 100))
def test_samples_are_members_and_repeat_with_their_seed(seed: int, low: int, more: int) -> None:
    space, again = TextSpace(low + more, min_length=low, seed=seed), TextSpace(low + more, min_length=low)
    again.seed(seed)
    samples = [space.sample() for _ in range(5)]
    assert all(sample in space for sample in samples)
    assert samples == [again.sample() for _ in range(5)]


def test_samples_exercise_calls_and_characters_beyond_ascii() -> None:
    space = TextSpace(seed=0)
    text = "".join(space.sample() for _ in range(200))
    assert not text.isascii()
    assert all(mark in text for mark in ("<tool_call>", "[", "{", "'", '"', "\n"))
    assert all(len(space.sample()) < 500 for _ in range(100))


@pytest.mark.parametrize("extra", [{"mask": 1}, {"probability": 1}])
def test_sample_takes_no_mask(extra: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="neither a mask nor a probability"):
        TextSpace().sample(**extra)


def test_equal_spaces_hash_alike_and_different_ones_differ() -> None:
    assert TextSpace(10) == TextSpace(10, seed=3)
    assert hash(TextSpace(10)) == hash(TextSpace(10, seed=3))
    assert TextSpace(10) != TextSpace(11)
    assert TextSpace(10) != TextSpace(10, min_length=1)
    assert TextSpace(10) != gym.spaces.Text(10)
    assert len({TextSpace(10), TextSpace(10), TextSpace(11)}) == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda space: pickle.loads(pickle.dumps(space))])
def test_copies_are_equal_and_sample_alike(copied: Callable[[TextSpace], TextSpace]) -> None:
    space = TextSpace(50, min_length=2, seed=7)
    space.sample()
    twin = copied(space)
    assert twin == space
    assert [twin.sample() for _ in range(5)] == [space.sample() for _ in range(5)]


def test_repr_makes_the_space_again() -> None:
    for space in (TextSpace(10), TextSpace(10, min_length=3)):
        assert eval(repr(space), {"TextSpace": TextSpace}) == space


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_samples_go_to_json_and_back(samples: list[str]) -> None:
    space = TextSpace()
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples)))) == samples


def test_the_space_works_in_gymnasium_s_functions() -> None:
    space = TextSpace(10)
    batched = batch_space(space, 2)
    assert ("a", "🙂") in batched
    assert list(iterate(batched, ("a", "b"))) == ["a", "b"]
    assert create_empty_array(space, 2) == ("", "")
    assert not space.is_np_flattenable
    nested: Any = {"text": "x", "n": np.int64(1)}
    assert nested in gym.spaces.Dict(text=space, n=gym.spaces.Discrete(3))


# Vector environments.

TEXTS = ["", "plain", "東京 naïve 🙂", "x" * 200, "\n", "a\x00b", "", "🙂" * 200, "short", "\ud800 half"]


class Scripted(gym.Env[Any, str]):
    """Shows texts in order, of every length, and the action that came before."""

    def __init__(self, offset: int = 0, nested: bool = False) -> None:
        text = TextSpace(200)
        self.nested = nested
        self.offset = offset
        self.observation_space = (
            gym.spaces.Dict(text=text, more=gym.spaces.Tuple((TextSpace(300), gym.spaces.Discrete(100))))
            if nested
            else text
        )
        self.action_space = TextSpace(100)

    def _observe(self, action: str) -> Any:
        text = TEXTS[(self.at + self.offset) % len(TEXTS)]
        return {"text": text, "more": (f"after {action}", np.int64(self.at))} if self.nested else text

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 0
        return self._observe("reset"), {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += 1
        return self._observe(action), 0.0, self.at == 7, False, {"said": action}


def plain(observation: Any) -> Any:
    """A vector observation as plain lists, whatever containers hold it."""
    if isinstance(observation, dict):
        return {key: plain(value) for key, value in observation.items()}
    if isinstance(observation, str):
        return observation
    if isinstance(observation, np.ndarray):
        return observation.tolist()
    return [plain(value) for value in observation]


def play(vector: gym.vector.VectorEnv[Any, Any, Any]) -> list[Any]:
    try:
        seen = [plain(vector.reset(seed=1)[0])]
        for number in range(12):  # beyond the end at 7: with an automatic reset
            observation, *_ = vector.step((f"one {number} é", f"two {number}", ""))
            seen.append(plain(observation))
        return seen
    finally:
        vector.close()


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("nested", [False, True])
def test_every_vector_environment_shows_the_same_texts(nested: bool, copied: bool) -> None:
    makers = [lambda k=k: Scripted(k, nested) for k in (0, 3, 6)]
    expected = play(SyncVectorEnv(makers, copy=copied))
    assert play(AsyncVectorEnv(makers, shared_memory=True, copy=copied)) == expected
    assert play(AsyncVectorEnv(makers, shared_memory=False, copy=copied)) == expected
    if not nested:
        assert expected[0] == ["", "x" * 200, ""]
        assert expected[2] == ["東京 naïve 🙂", "a\x00b", "short"]


def test_a_copied_observation_stays_what_it_was() -> None:
    vector: Any = AsyncVectorEnv([lambda: Scripted(1), lambda: Scripted(2)], shared_memory=True)
    try:
        first, _ = vector.reset(seed=0)
        kept = tuple(first)
        second, *_ = vector.step(("", ""))
        assert tuple(first) == kept == ("plain", "東京 naïve 🙂")
        assert tuple(second) == ("東京 naïve 🙂", "x" * 200)
    finally:
        vector.close()


def test_a_live_view_of_the_texts_is_a_sequence() -> None:
    vector: Any = AsyncVectorEnv([lambda: Scripted(1), lambda: Scripted(2)], shared_memory=True, copy=False)
    try:
        view, _ = vector.reset(seed=0)
        assert len(view) == 2
        assert view[0] == view[-2] == "plain"
        assert view[0:2] == ("plain", "東京 naïve 🙂")
        assert repr(view) == repr(("plain", "東京 naïve 🙂"))
        assert "plain" in view
        with pytest.raises(IndexError):
            view[2]
        vector.step(("", ""))
        assert view[0] == "東京 naïve 🙂"
    finally:
        vector.close()


class TooLong(Scripted):
    def _observe(self, action: str) -> Any:
        return "🙂" * 201 if self.at else "fine"


@pytest.mark.filterwarnings("ignore:.*ERROR")
def test_an_observation_beyond_its_space_is_an_error_that_says_so() -> None:
    vector: Any = AsyncVectorEnv([TooLong], shared_memory=True)
    try:
        vector.reset()
        with pytest.raises(ValueError, match="201 characters does not fit into TextSpace"):
            vector.step(("",))
    finally:
        vector.close(terminate=True)
