"""BFCL's official multi-turn verdict: turn by turn, state and results, and nothing left behind."""

from __future__ import annotations

import copy
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.official.multi_turn import (
    EMPTY,
    FORCED,
    INFERENCE,
    RESPONSE,
    STATE,
    compare_turn,
    gold_trace,
    has_padding,
    is_irrelevant,
    is_silent,
    score,
    score_outputs,
)
from callgym.envs.bfcl.simulators.base import Tables
from callgym.envs.bfcl.simulators.session import World

TABLES = Tables(
    {
        "default_state": {
            "TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": None},
            "TwitterAPI": {
                "username": "ann",
                "password": "secret",
                "authenticated": True,
                "tweets": {},
                "comments": {},
                "retweets": {},
                "following_list": [],
                "tweet_counter": 0,
            },
        }
    }
)
TREE = {"root": {"home": {"type": "directory", "contents": {"docs": {"type": "directory", "contents": {}}}}}}
ENTRY = {
    "id": "multi_turn_base_x1",
    "involved_classes": ["GorillaFileSystem", "TicketAPI"],
    "initial_config": {"GorillaFileSystem": TREE},
}
GOLD = [["cd(folder='docs')", "touch(file_name='a')"], ["ls()"], [], ["touch(file_name='b')", "touch(file_name='c')"]]


def turns(*calls: list[str]) -> list[list[list[str]]]:
    """Each turn's calls in one step."""
    return [[step] if step else [] for step in calls]


def verdict(*calls: list[str], gold: list[list[str]] = GOLD, entry: dict[str, Any] = ENTRY) -> tuple[str | None, Any]:
    found = score(entry, gold, turns(*calls), TABLES)
    assert found.valid is (found.error_type is None)
    return found.error_type, found.turn


RIGHT = (None, None)


def test_the_gold_is_right_in_one_step_or_in_many() -> None:
    assert verdict(*GOLD) == RIGHT
    assert score(ENTRY, GOLD, [[[call] for call in calls] for calls in GOLD], TABLES).valid


def test_extra_reads_failing_calls_and_repetitions_without_effect_are_free() -> None:
    first, *rest = GOLD
    assert verdict(["pwd()", "cd(folder='nowhere')", *first, "touch(file_name='a')", "fly()"], *rest) == RIGHT


def test_what_was_read_in_an_earlier_turn_counts_and_is_not_used_up() -> None:
    gold = [["ls()"], ["ls()"], ["ls()", "ls()"]]
    assert verdict(["ls()"], ["pwd()"], ["ls()"], gold=gold) == RIGHT
    assert verdict(["ls()"], ["pwd()"], ["pwd()"], gold=gold) == (RESPONSE, 2)


def test_a_turn_without_calls_is_wrong_where_the_gold_has_some() -> None:
    first, _, third, fourth = GOLD
    assert verdict(first, [], third, fourth) == (EMPTY, 1)
    silences: list[tuple[list[list[str]], str]] = [([[]], EMPTY), ([[], []], RESPONSE)]
    for steps, error in silences:
        found = score(ENTRY, GOLD, [[first], steps, [], [fourth]], TABLES)
        assert (found.error_type, found.turn) == (error, 1)


def test_another_state_is_wrong_whatever_was_answered() -> None:
    first, second, third, fourth = GOLD
    assert verdict([*first, "mkdir(dir_name='x')"], second, third, fourth) == (STATE, 0)
    assert verdict([*first, "create_ticket(title='x')"], second, third, fourth) == RIGHT  # nobody is logged in
    login = ["ticket_login(username='a', password='b')", "create_ticket(title='x')"]
    assert verdict([*first, *login], second, third, fourth) == (STATE, 0)


def test_a_state_that_is_mended_in_the_turn_is_right() -> None:
    first, *rest = GOLD
    assert verdict([*first, "mkdir(dir_name='x')", "rmdir(dir_name='x')"], *rest) == RIGHT


def test_turns_whose_gold_is_empty_are_run_and_not_checked() -> None:
    first, second, _, fourth = GOLD
    assert verdict(first, second, ["touch(file_name='b')"], ["touch(file_name='c')", "ls()"]) == RIGHT
    assert verdict(first, second, ["mkdir(dir_name='x')"], fourth) == (STATE, 3)
    assert is_irrelevant(GOLD, turns(first, second, [], fourth))
    assert not is_irrelevant(GOLD, turns(first, second, ["ls()"], fourth))


def test_the_state_is_looked_at_before_the_results() -> None:
    assert verdict(["mkdir(dir_name='x')"], ["ls()"], [], ["ls()"])[0] == STATE
    assert verdict(["mkdir(dir_name='x')", "rmdir(dir_name='x')"], gold=[["pwd()"]])[0] == RESPONSE


def test_results_are_compared_as_texts_and_as_often() -> None:
    gold = [["touch(file_name='a')", "touch(file_name='b')"]]  # both answer None
    entry = {**ENTRY, "id": "multi_turn_base_x2"}
    assert verdict(["touch(file_name='b')", "touch(file_name='a')"], gold=gold, entry=entry) == RIGHT
    moved = ["touch(file_name='b')", "cp(source='b', destination='a')"]
    assert verdict(moved, gold=gold, entry=entry) == (RESPONSE, 0)


def test_numbers_that_are_equal_are_equal_states() -> None:
    gold = [["ticket_login(username='a', password='b')", "create_ticket(title='t', priority=1)"]]
    same = ["ticket_login(username='a', password='b')", "create_ticket(title='t', priority=True)"]
    # The state agrees, the answer does not: "true" is written for it.
    assert verdict(same, gold=gold) == (RESPONSE, 0)
    assert verdict(["ticket_login(username='a', password='b')"], gold=gold) == (STATE, 0)


def test_as_many_turns_as_the_gold_has_must_be_played() -> None:
    assert verdict(*GOLD[:3]) == (FORCED, None)
    assert verdict(*GOLD, []) == (FORCED, None)


def test_texts_that_name_a_function_are_never_the_golds() -> None:
    gold = [["echo(content='use ls() now')"]]
    assert verdict(*gold, gold=gold) == (RESPONSE, 0)
    assert verdict(*[["echo(content='use (ls) now')"]], gold=[["echo(content='use(ls) now')"]]) == RIGHT


def test_a_wrong_attempt_leaves_nothing_behind() -> None:
    wrong = [["touch(file_name='z')"], ["rm(file_name='docs')"], [], ["ls()"]]
    for _ in range(3):
        assert verdict(*wrong) == (STATE, 0)
        assert verdict(*GOLD) == RIGHT
    assert ENTRY["initial_config"] == {"GorillaFileSystem": TREE}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_verdicts_do_not_depend_on_what_was_scored_before(order: list[int]) -> None:
    attempts = [
        (GOLD, RIGHT),
        ([["touch(file_name='z')"], *GOLD[1:]], (STATE, 0)),
        ([*GOLD[:3], []], (EMPTY, 3)),
        ([GOLD[0], ["pwd()"], *GOLD[2:]], (RESPONSE, 1)),
    ]
    for number in order:
        calls, expected = attempts[number]
        assert verdict(*calls) == expected


def test_a_trace_is_that_of_the_entry_and_its_gold_not_of_its_id() -> None:
    entry = {**ENTRY, "id": "multi_turn_base_x3"}
    for _ in range(3):
        assert verdict(*GOLD, entry=entry) == RIGHT
        assert verdict(["pwd()"], gold=[["pwd()"]], entry=entry) == RIGHT
        other = {**entry, "initial_config": {}}
        assert verdict(["pwd()"], gold=[["pwd()"]], entry=other) == RIGHT
        assert gold_trace(other, [["pwd()"]], TABLES).turns[0].results == ('{"current_working_directory": "//"}',)
    assert gold_trace(entry, GOLD, TABLES) is gold_trace(copy.deepcopy(entry), copy.deepcopy(GOLD), TABLES)


def test_a_trace_holds_each_turns_own_state() -> None:
    first, second, third, fourth = gold_trace(ENTRY, GOLD, TABLES).turns
    assert first.results == ('{"current_working_directory": "docs"}', "None")
    assert fourth.needed == (("None", 2),)
    names = [list(turn.state["GorillaFileSystem"]["root"]["contents"]["docs"]["contents"]) for turn in (first, fourth)]
    assert names == [["a"], ["a", "b", "c"]]
    assert first.state["GorillaFileSystem"] == third.state["GorillaFileSystem"]
    assert second.state_of("TicketAPI") == {"ticket_queue": [], "ticket_counter": 1, "current_user": None}


def test_turns_can_be_compared_one_by_one() -> None:
    world = World(ENTRY["involved_classes"], {"GorillaFileSystem": TREE}, TABLES)  # type: ignore[arg-type]
    trace = gold_trace(ENTRY, GOLD, TABLES)
    results = Counter(map(world.result_text, GOLD[0]))
    assert compare_turn(trace.turns[0], world, results) is None
    silent = compare_turn(trace.turns[1], world, results, silent=True)
    assert silent is not None
    assert silent.error_type == EMPTY
    response = compare_turn(trace.turns[1], world, results)
    assert response is not None
    assert response.error_type == RESPONSE
    assert compare_turn(trace.turns[2], world, {}, silent=True) is None


def test_mentions_of_tweets_are_not_shared_between_policy_and_gold() -> None:
    entry = {"id": "multi_turn_base_x4", "involved_classes": ["TwitterAPI"], "initial_config": {}}
    gold = [["post_tweet(content='x')", "mention(tweet_id=0, mentioned_usernames=['@a'])"], ["get_tweet(tweet_id=0)"]]
    for _ in range(3):
        assert verdict(*gold, gold=gold, entry=entry) == RIGHT


def test_padding_goes_by_the_id_unless_the_entry_says() -> None:
    assert has_padding({"id": "multi_turn_long_context_3"})
    assert not has_padding({"id": "multi_turn_base_3"})
    assert has_padding({"id": "multi_turn_base_3", "long_context": True})


def test_silence_is_no_step_or_one_empty_one() -> None:
    assert is_silent([])
    assert is_silent([[]])
    assert not is_silent([[], []])
    assert not is_silent([["ls()"]])


# Raw replies.


def outputs(*replies: str) -> list[list[str]]:
    return [[reply] for reply in replies]


def test_replies_are_decoded_and_the_rest_is_passed_over() -> None:
    right = ["[cd(folder='docs'), touch(file_name='a')]", "[ls()]", "Which file?", "[touch(file_name='b')]"]
    assert score_outputs(ENTRY, GOLD, outputs(*right[:3], "touch(file_name='b'), touch(file_name='c')"), TABLES).valid
    steps = [[right[0], "Done."], ["Let me see.", "```ls()```"], [], [right[3], "[touch(file_name='c')]", ""]]
    assert score_outputs(ENTRY, GOLD, steps, TABLES).valid


def test_positional_arguments_are_lost_in_decoding() -> None:
    found = score_outputs(ENTRY, [["cd('docs')"]], outputs("[cd('docs')]"), TABLES)
    assert found.error_type == RESPONSE
    assert score(ENTRY, [["cd('docs')"]], [[["cd('docs')"]]], TABLES).valid


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ("Error during inference: timeout", INFERENCE),
        (None, INFERENCE),
        ({}, INFERENCE),
        ([], FORCED),
        ([["[ls()]"]], FORCED),
        ([None] * 4, INFERENCE),
        ([[None, 3], [], [], []], EMPTY),
        (["", "", "", ""], EMPTY),
    ],
)
def test_results_of_another_shape_are_wrong(result: Any, error: str) -> None:
    found = score_outputs(ENTRY, GOLD, result, TABLES)
    assert (found.valid, found.error_type) == (False, error)


# The official files.


@pytest.fixture(scope="module")
def files(official_data: Path) -> BfclFiles:
    if not (official_data / "bfcl").is_dir():
        pytest.skip("BFCL's files are not here")
    return BfclFiles(official_data / "bfcl")


@pytest.mark.parametrize("kind", ["base", "miss_func", "miss_param", "long_context"])
def test_every_official_gold_is_right_also_after_a_wrong_attempt(kind: str, files: BfclFiles) -> None:
    name = f"BFCL_v4_multi_turn_{kind}.json"
    tables = Tables(files.constants(), files.long_context())
    golds = files.golds(name)
    rng = random.Random(0)
    for entry in files.rows(name):
        gold = golds[entry["id"]]
        wrong = turns(*gold)
        rng.shuffle(wrong)
        first = score(entry, gold, wrong, tables)
        assert score(entry, gold, turns(*gold), tables).valid, entry["id"]
        assert score(entry, gold, wrong, tables) == first
