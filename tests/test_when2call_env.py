"""When2Call's environments: what is read as a choice, what each decision earns, and what the laziest policies get."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import ConfigurationError, DataError, Episode
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.when2call.judge import offline_judge
from callgym.envs.when2call.offer import LETTERS, read_choice
from callgym.envs.when2call.rewards import right_kind
from callgym.envs.when2call.rows import ANSWERS
from callgym.envs.when2call.scores import official_scores
from callgym.rewards.explain import recompute

FORMS = ("mcq", "open", "judge")
ASK_MISSES = {103, 119, 125, 181}
"""Official questions back that do not name what is missing, or answer at once; see the data card."""


@pytest.fixture(scope="module")
def when2call_data(official_data: Path) -> Path:
    folder = official_data / "when2call"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


def env_of(form: str, data: str = "starter", **options: Any) -> Any:
    return make_tool_env(f"when2call/{form}-v0", data=data, **options)


def play(env: ToolEnv, task: Any, action: str | None = None) -> Episode:
    env.reset(seed=0, options={"task": task})
    *_, terminated, _, info = env.step(env.oracle_action() if action is None else action)
    assert terminated
    episode: Episode = info["episode"]
    return episode


def mean(env: ToolEnv, action: str) -> float:
    returns = [play(env, index, action).episode_return for index in range(len(env.tasks))]
    return sum(value for value in returns if value is not None) / len(returns)


# What the oracle and the laziest policies get.


@pytest.mark.parametrize("form", FORMS)
def test_the_oracle_earns_everything_on_starter_tasks(form: str) -> None:
    env = env_of(form)
    assert all(play(env, index).episode_return == 1.0 for index in range(0, len(env.tasks), 3))
    assert Counter(task.meta["decision"] for task in env.tasks) == dict.fromkeys(
        ("call", "ask", "decline", "answer"), 100
    )


@pytest.mark.parametrize("form", FORMS)
def test_the_oracle_on_official_tasks_misses_four_questions_in_the_open_form(form: str, when2call_data: Path) -> None:
    with pytest.warns() if form == "mcq" else pytest.MonkeyPatch.context():
        env = env_of(form, str(when2call_data))
    missed = {index for index in range(len(env.tasks)) if play(env, index).episode_return != 1.0}
    assert len(env.tasks) == 300
    assert missed == (ASK_MISSES if form == "open" else set())


CONSTANT = {
    "say nothing": "",
    "refuse": "Sorry, none of the tools can do that.",
    "ask for more": "Could you tell me more about what you need?",
    "ask for everything": "What are the city, the date, the name, the number, the amount, the time and the kind?",
    "answer": "Sure, it is done: everything is as you wished.",
    "everything at once": "I cannot do that. Which date do you mean? In any case, the answer is five.",
    "refuse and call": 'Sorry, I cannot.\n<tool_call>\n{"name": "nothing", "arguments": {}}\n</tool_call>',
    "a broken call": '<tool_call>\n{"name": "a", "arguments": {',
}


@pytest.mark.parametrize("name", CONSTANT)
def test_no_constant_policy_earns_more_than_its_share(name: str) -> None:
    assert mean(env_of("open"), CONSTANT[name]) <= 0.25
    assert mean(env_of("judge"), CONSTANT[name]) <= 0.25


def test_what_mixes_kinds_or_says_nothing_earns_nothing() -> None:
    for name in ("say nothing", "everything at once", "refuse and call", "a broken call"):
        assert mean(env_of("open"), CONSTANT[name]) == 0.0, name


@pytest.mark.parametrize("action", [*LETTERS, "tool_call", "A B C D", "", '{"loglikelihoods": [0, 0, 0, 0]}'])
def test_no_constant_choice_earns_more_than_chance_lets_it(action: str) -> None:
    assert mean(env_of("mcq"), action) <= 0.30


@pytest.mark.parametrize("form", FORMS)
def test_what_was_cut_off_earns_nothing_whatever_it_says(form: str) -> None:
    """Else a policy that fills its budget of tokens behind the first right word would be paid for it."""
    env = env_of(form)
    for index in range(0, len(env.tasks), 7):
        env.reset(seed=0, options={"task": index})
        episode = env.truncate(env.oracle_action())
        assert episode.episode_return == 0.0, env.task.id
        assert offline_judge(env.task, episode).value in (0.0, None)


def test_calling_a_tool_with_made_up_arguments_is_no_call_that_is_paid() -> None:
    env = env_of("open")
    total = 0.0
    for index, task in enumerate(env.tasks):
        if task.tools:
            tool = task.tools[0]
            call = json.dumps({"name": tool.name, "arguments": dict.fromkeys(tool.required, "x")})
            total += play(env, index, f"<tool_call>\n{call}\n</tool_call>").episode_return or 0.0
    assert total / len(env.tasks) <= 0.05


def test_the_gold_call_pays_only_where_a_call_is_due() -> None:
    env = env_of("open")
    for index, task in enumerate(env.tasks[:120]):
        answers: Any = task.meta["answers"]
        value = play(env, index, f"<tool_call>\n{answers['tool_call']}\n</tool_call>").episode_return
        assert value == (1.0 if task.meta["decision"] == "call" else 0.0), task.id


def test_each_offered_reply_pays_where_it_is_right_and_nowhere_else() -> None:
    env = env_of("open")
    for index, task in enumerate(env.tasks[:120]):
        answers: Any = task.meta["answers"]
        for kind in ("direct", "request_for_info", "cannot_answer"):
            assert play(env, index, answers[kind]).episode_return == float(kind == right_kind(task)), (task.id, kind)


def test_under_other_names_a_question_for_another_tool_s_parameter_is_not_paid() -> None:
    env = env_of("open", perturb=["rename"])
    asked = 0
    for index, task in enumerate(env.tasks):
        if task.meta["decision"] != "ask":
            continue
        assert play(env, index).episode_return == 1.0
        missing: Any = env.task.goal
        new_names = [list(tool.properties) for tool in env.task.tools]
        assert len({name for names in new_names for name in names}) == sum(map(len, new_names))
        other = next((name for names in new_names for name in names if missing.missing[0] not in names), None)
        if other is not None:
            asked += 1
            assert play(env, index, f"Could you please tell me {other}?").episode_return == 0.0, task.id
    assert asked > 40


# Choices.


def test_a_choice_is_a_letter_a_reply_or_log_likelihoods() -> None:
    env = env_of("mcq")
    for index, task in enumerate(env.tasks[:40]):
        letters: Any = task.meta["letters"]
        right = right_kind(task)
        letter = next(letter for letter, kind in letters.items() if kind == right)
        numbers = [-1.0 if kind == right else -5_000.0 for kind in ANSWERS]
        words = env.tasks[index].meta["choices"][ANSWERS.index(right)]
        for action in (letter, f"{letter}.", f"({letter.lower()})", f"The answer is {letter}"[4:], words):
            assert play(env, index, action).episode_return == 1.0, action
        score = play(env, index, json.dumps({"loglikelihoods": numbers})).rewards["when2call_choice"]
        assert (score.value, score.explanation["by"]) == (1.0, "loglikelihoods")
        assert recompute("when2call_choice", score) == score.value


def test_log_likelihoods_are_compared_by_the_character_and_both_choices_are_on_record() -> None:
    env = env_of("mcq")
    env.reset(seed=0, options={"task": 0})
    lengths = [len(choice) for choice in env.choices]
    longest = max(range(4), key=lengths.__getitem__)
    numbers = [-2.0 * length for length in lengths]
    numbers[longest] = -1.0 * lengths[longest]
    shortest = min(range(4), key=lambda index: -numbers[index])
    score = play(env, 0, json.dumps({"loglikelihoods": numbers})).rewards["when2call_choice"]
    assert score.explanation["chosen"] == ANSWERS[longest]
    assert score.explanation["raw"] == ANSWERS[shortest]


@pytest.mark.parametrize(
    "action",
    [
        "E",
        "AB",
        "A or B",
        "The best reply is one of A, B, C and D",
        '{"loglikelihoods": [1, 2, 3]}',
        '{"loglikelihoods": [1, 2, 3, null]}',
        '{"loglikelihoods": [1, 2, 3, true]}',
        '{"loglikelihoods": [1, 2, 3, 1e999]}',
        '{"loglikelihoods": [NaN, 2, 3, 4]}',
        '{"loglikelihoods": "1234"}',
        "{" * 5_000,
        "[" * 30_000,
    ],
)
def test_what_is_no_choice_chooses_nothing(action: str) -> None:
    env = env_of("mcq")
    score = play(env, 0, action).rewards["when2call_choice"]
    assert (score.value, score.explanation["by"]) == (0.0, "nothing")


@given(st.text(max_size=200))
def test_reading_a_choice_raises_nothing(action: str) -> None:
    assert read_choice(_OFFERED, action).by in ("letter", "text", "loglikelihoods", "nothing")


_OFFERED = env_of("mcq").tasks[0]


def test_the_open_prompt_offers_no_replies() -> None:
    env = env_of("mcq")
    observation, info = env.reset(seed=0, options={"task": 3})
    assert info["choices"] == list(env.choices)
    assert all(choice in observation for choice in env.choices)
    assert not any(choice in env.open_prompt for choice in env.choices)
    plain = env_of("open")
    shown, _ = plain.reset(seed=0, options={"task": 3})
    assert env.open_prompt == shown


def test_forms_without_offers_have_no_choices() -> None:
    env = env_of("open")
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match="mcq"):
        _ = env.choices


@pytest.mark.parametrize("family", ["hermes", "llama3_2", "functionary"])
def test_the_offered_call_is_written_as_the_family_does(family: str) -> None:
    env = env_of("mcq", choice_family=family)
    assert play(env, 0).episode_return == 1.0
    assert env.tasks[0].meta["choices"] != _OFFERED.meta["choices"]


# Scores and options.


def test_official_scores_of_played_episodes() -> None:
    mcq, opened = env_of("mcq"), env_of("open")
    episodes = [play(mcq, index) for index in range(20)] + [play(mcq, index, "none of them") for index in range(20, 40)]
    episodes += [play(opened, index) for index in range(40)]
    first, second = official_scores(episodes, "starter")
    assert (first["form"], first["episodes"], first["accuracy"]) == ("mcq", 40, 0.5)
    assert (second["form"], second["episodes"]) == ("open", 40)
    for kind, counts in second["report"]["confusion"].items():
        assert sum(counts.values()) == counts[kind] == 10


def test_an_episode_of_no_task_is_named() -> None:
    stray = play(env_of("open"), 0).model_copy(update={"task_id": "starter/when2call/test/999999"})
    with pytest.raises(DataError, match="999999"):
        list(official_scores([stray], "starter"))


@pytest.mark.parametrize(
    ("form", "options", "words"),
    [
        ("mcq", {"choice_family": "none"}, "hermes"),
        ("open", {"judge": "m@http://localhost:1/v1"}, "judge-v0"),
        ("judge", {"judge": "somebody"}, "MODEL@http"),
        ("open", {"split": "validation"}, "train, test"),
    ],
)
def test_wrong_options_are_named(form: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        env_of(form, **options)


def test_a_form_that_is_none_is_named() -> None:
    with pytest.raises(ConfigurationError, match="'mcq', 'open', 'judge', got 'closed'"):
        make_tool_env("when2call/open-v0", data="starter", form="closed")


def test_flagged_official_tasks_can_be_left_out(when2call_data: Path) -> None:
    assert len(env_of("open", str(when2call_data), exclude_flagged=True).tasks) == 300 - 11
