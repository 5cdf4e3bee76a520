"""Rubrics: what is paid, step by step and at the end, and the designs from papers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Episode, GoldCall, Message, Step, Task, ToolCall, ToolResult
from callgym.envs.base import make_tool_env
from callgym.errors import ConfigurationError, DataError
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, StateGoal, TextGoal
from callgym.rewards import RUBRICS, Rubric, get_reward, register_reward, register_step_reward, reward_names
from callgym.rewards.explain import explanation_lines, recompute
from callgym.rewards.progress import call_progress, tool_execution, turn_progress
from callgym.rewards.registry import BUILT_IN, find_step_reward
from callgym.rewards.toolrl import toolrl_correctness, toolrl_format


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def gold(name: str, **arguments: Any) -> GoldCall:
    return GoldCall.of(call(name, **arguments))


def task_of(*turns: list[GoldCall], **more: Any) -> Task:
    goal: Any = CallsGoal(turns=tuple(tuple(turn) for turn in turns), **more)
    return Task(id="t", family="f", split="s", messages=(Message(role="user", content="?"),), goal=goal)


def step(*calls: ToolCall, turn: int = 0, content: str = "", error: Any = None) -> Step:
    results = tuple(ToolResult(content=1) if error is None else ToolResult(error=error, message="no") for _ in calls)
    return Step(action="x", turn=turn, calls=calls, results=results, content=content)


def episode_of(*steps: Step) -> Episode:
    return Episode(env_id="e", task_id="t", seed=0, steps=steps, ended="terminated")


A, B = gold("A", x=1), gold("B", y="b")
MADE_A, MADE_B = call("A", x=1), call("B", y="b")


# How a return adds up.


def test_a_failed_gate_makes_everything_worth_nothing() -> None:
    rubric = Rubric(name="r", weights={"call_exact_match": 1}, gates={"format_validity": 1.0})
    task = task_of([A])
    assert rubric.score(task, episode_of(step(MADE_A)))[0] == 1.0
    unknown = step(MADE_A, error="unknown_tool")
    value, scores = rubric.score(task, episode_of(unknown))
    assert value == 0.0
    assert scores["call_exact_match"].value == 1.0
    assert scores["format_validity"].value == 0.0


def test_factors_multiply() -> None:
    rubric = Rubric(name="r", weights={"argument_f1": 1}, factors=("format_validity", "call_exact_match"))
    task = task_of([gold("A", x=1, y=2)])
    assert rubric.score(task, episode_of(step(call("A", x=1, y=2))))[0] == 1.0
    assert rubric.score(task, episode_of(step(call("A", x=1, y=3))))[0] == 0.0  # F1 is a half, exact match is 0
    alone = Rubric(name="r", factors=("argument_f1", "format_validity"))
    assert alone.score(task, episode_of(step(call("A", x=1, y=3))))[0] == 0.5


@pytest.mark.parametrize(("low", "high"), [(-3.0, 4.0), (0.0, 2.0), (-1.0, 0.0)])
def test_a_scale_is_said_by_the_rubric(low: float, high: float) -> None:
    rubric = Rubric(name="r", weights={"argument_f1": 1}, low=low, high=high)
    task = task_of([gold("A", x=1, y=2)])
    for made, share in ((call("A", x=1, y=2), 1.0), (call("A", x=1, y=3), 0.5), (call("B"), 0.0)):
        assert rubric.score(task, episode_of(step(made)))[0] == pytest.approx(low + (high - low) * share)


UNKNOWN = "unknown_for_test"


def test_unknown_passes_through_every_part() -> None:
    from callgym.episode import Score

    register_reward(UNKNOWN, _unknown)
    task, episode = task_of([A]), episode_of(step(MADE_A))
    for rubric in (
        Rubric(name="r", weights={"call_exact_match": 1, UNKNOWN: 1}),
        Rubric(name="r", weights={"call_exact_match": 1}, gates={UNKNOWN: 0.5}),
        Rubric(name="r", weights={"call_exact_match": 1}, factors=(UNKNOWN,)),
        Rubric(name="r", weights={"call_exact_match": 1, UNKNOWN: 1}, steps={"call_progress": 1}, high=3),
    ):
        value, scores = rubric.score(task, episode)
        assert value is None
        assert scores[UNKNOWN] == Score(value=None)
    logged = Rubric(name="r", weights={"call_exact_match": 1, UNKNOWN: 0})
    assert logged.score(task, episode)[0] == 1.0


def _unknown(task: Task, episode: Episode) -> Any:
    from callgym.episode import Score

    return Score(value=None)


def test_what_does_not_apply_is_not_counted() -> None:
    rubric = Rubric(name="r", factors=("call_exact_match",), gates={"argument_f1": 1.0})
    decline = Task(
        id="t", family="f", split="s", messages=(Message(role="user", content="?"),),
        goal=DecisionGoal(decision="decline"),
    )  # fmt: skip
    assert rubric.score(decline, episode_of(step(content="no")))[0] is None
    both = Rubric(name="r", weights={"irrelevance_abstention": 1}, factors=("call_exact_match",))
    assert both.score(decline, episode_of(step(content="no")))[0] == 1.0
    assert both.score(task_of([A]), episode_of(step(MADE_A)))[0] == 1.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"weights": {"no_such": 1}}, "no_such"),
        ({"factors": ["no_such"]}, "no_such"),
        ({"gates": {"no_such": 1}, "weights": {"argument_f1": 1}}, "no_such"),
        ({"steps": {"argument_f1": 1}}, "step reward"),
        ({"weights": {"argument_f1": 1}, "gates": {"format_validity": 0}}, "greater than 0"),
        ({"weights": {"argument_f1": 1}, "low": 1, "high": 1}, "below"),
        ({"weights": {"argument_f1": 1e308, "call_exact_match": 1e308}}, "too large"),
        ({}, "at least one weight"),
    ],
)
def test_a_rubric_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigurationError, DataError), match=message):
        Rubric.from_dict({"name": "r", **fields})


def test_rubrics_go_to_json_and_back_and_compare() -> None:
    for rubric in RUBRICS.values():
        again = Rubric.from_json(rubric.to_json())
        assert again == rubric
        rubric.score(task_of([A]), episode_of(step(MADE_A)))
        assert again == rubric, "scoring changes nothing"
    assert RUBRICS["default"] != RUBRICS["exact"]


def test_a_name_is_a_reward_or_a_step_reward_not_both() -> None:
    with pytest.raises(ConfigurationError, match="exists"):
        register_step_reward("argument_f1", call_progress)
    with pytest.raises(ConfigurationError, match="exists"):
        register_reward("call_progress", _unknown)
    register_step_reward("call_progress", call_progress)
    assert find_step_reward("call_progress").reward is call_progress


# Step rewards.

WAYS: list[tuple[list[Step], list[float]]] = [
    ([step(MADE_A), step(content="."), step(MADE_B, turn=1)], [0.5, 0.0, 0.5]),
    ([step(MADE_A), step(MADE_A), step(MADE_B, turn=1)], [0.5, -0.5, 0.5]),
    ([step(MADE_B), step(MADE_A), step(MADE_B, turn=1)], [0.0, 0.0, 0.5]),
    ([step(content="."), step(content=".", turn=1)], [0.0, 0.0]),
]


@pytest.mark.parametrize(("steps", "shares"), WAYS)
def test_turn_progress_pays_the_step_that_finishes_a_turn(steps: list[Step], shares: list[float]) -> None:
    task = task_of([A], [B])
    assert [turn_progress(task, steps, index) for index in range(len(steps))] == shares


def test_turns_without_gold_calls_are_no_progress() -> None:
    task = task_of([], [A])
    steps = [step(content="for when?"), step(MADE_A, turn=1)]
    assert [turn_progress(task, steps, index) for index in (0, 1)] == [0.0, 1.0]
    assert turn_progress(task_of([], [], [A]), steps, 0) == 0.0


def test_call_progress_falls_with_what_is_too_much() -> None:
    task = task_of([A, B])
    steps = [step(MADE_A), step(call("A", x=9)), step(MADE_B)]
    shares = [call_progress(task, steps, index) for index in range(3)]
    assert shares == pytest.approx([1 / 2, 0, 2 / 3 - 1 / 2])


def test_tool_execution_pays_each_gold_tool_once() -> None:
    task = task_of([A, B])
    steps = [step(MADE_A, error="tool_error"), step(call("A", x=9)), step(MADE_A), step(call("C")), step(MADE_B)]
    assert [tool_execution(task, steps, index) for index in range(5)] == [0.0, 0.5, 0.0, 0.0, 0.5]


CALLS = st.sampled_from([MADE_A, MADE_B, call("A", x=2), call("C")])
STEPS = st.lists(
    st.builds(lambda calls, turn: step(*calls, turn=turn), st.lists(CALLS, max_size=3), st.just(0)), max_size=6
)


@given(STEPS)
def test_progress_telescopes(steps: list[Step]) -> None:
    task = task_of([A, B])
    for reward, least in ((call_progress, 0.0), (turn_progress, 0.0), (tool_execution, 0.0)):
        shares = [reward(task, steps, index) for index in range(len(steps))]
        assert all(-1.0 <= share <= 1.0 for share in shares)
        assert least - 1e-9 <= math.fsum(shares) <= 1.0 + 1e-9


@pytest.mark.parametrize("act", ["oracle", "twice", "silent"])
def test_the_environment_pays_step_by_step_and_the_sum_is_the_return(act: str) -> None:
    rubric = Rubric(name="r", weights={"call_exact_match": 1, "irrelevance_abstention": 1}, steps={"call_progress": 2})
    env = make_tool_env("apibank/L1-v0", data="starter", protocol="dialogue", rubric=rubric)
    early = 0
    for index in range(12):
        env.reset(seed=0, options={"task": index})
        rewards, ended = [], False
        while not ended:
            action = "" if act == "silent" else env.oracle_action()
            calls = env.dialect.parse(action).calls
            if act == "twice" and calls:
                action = env.dialect.render_action([*calls, *calls])
            _, reward, terminated, truncated, info = env.step(action)
            rewards.append(reward)
            ended = terminated or truncated
        episode = info["episode"]
        assert math.fsum(rewards) == pytest.approx(episode.episode_return)
        assert [step.reward for step in episode.steps] == rewards
        assert 0.0 <= episode.episode_return <= 1.0
        early += any(rewards[:-1])
        if act == "oracle":
            assert episode.episode_return == pytest.approx(1.0)
    assert early == 0 if act == "silent" else early > 0


# Designs from papers. ToolRL, section 3.3, worked out by hand.

TOOLRL = [
    # gold, made, r_name, pairs' keys, right values, R_correct
    ([gold("S", q="a", n=2)], [call("S", q="a", n=2)], 1.0, 1.0, 2, 3.0),
    ([gold("S", q="a", n=2)], [call("S", q="a", k=1)], 1.0, 1 / 3, 1, 6 * (1 + 1 / 3 + 1) / 4 - 3),
    ([gold("S", q="a", n=2)], [call("T", q="a", n=2)], 0.0, 0.0, 0, -3.0),
    ([gold("S", q="a", n=2)], [], 0.0, 0.0, 0, -3.0),
    ([gold("S", q="a"), gold("T", z=1)], [call("T", z=1)], 0.5, 1.0, 1, 6 * (0.5 + 1 + 1) / 5 - 3),
    ([gold("S", q="a"), gold("S", q="b")], [call("S", q="b"), call("S", q="a")], 1.0, 2.0, 2, 3.0),
    ([gold("S")], [call("S")], 1.0, 1.0, 0, 3.0),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "made", "names", "keys", "values", "expected"), TOOLRL)
def test_toolrl_by_hand(
    asked: list[GoldCall], made: list[ToolCall], names: float, keys: float, values: int, expected: float
) -> None:
    score = toolrl_correctness(task_of(asked), episode_of(step(*made)))
    explanation: dict[str, Any] = score.explanation
    assert explanation["names"] == names
    assert sum(pair["keys"] for pair in explanation["pairs"]) == pytest.approx(keys)
    assert sum(pair["values"] for pair in explanation["pairs"]) == values
    assert explanation["r_correct"] == pytest.approx(expected)
    assert score.value == pytest.approx((expected + 3) / 6)


def test_toolrl_pairs_calls_so_that_they_earn_most() -> None:
    """First come first served would pair the first made call with the first gold call."""
    asked = [gold("S", q="a", n=1), gold("S", q="b", n=2)]
    score = toolrl_correctness(task_of(asked), episode_of(step(call("S", q="b", n=2), call("S", q="a", n=1))))
    assert score.value == 1.0


def test_toolrl_is_paid_on_its_own_scale() -> None:
    rubric = RUBRICS["toolrl"]
    task = task_of([gold("S", q="a", n=2)])
    assert rubric.score(task, episode_of(step(call("S", q="a", n=2))))[0] == pytest.approx(4.0)
    assert rubric.score(task, episode_of(step(call("S", q="a", k=1))))[0] == pytest.approx(1.0 + 0.5)
    assert rubric.score(task, episode_of(step()))[0] == pytest.approx(-3.0)
    assert toolrl_format(task, episode_of(step(content="words"))).value == 1.0


def test_every_preset_pays_the_right_episode_most() -> None:
    task = Task(
        id="t", family="f", split="s", messages=(Message(role="user", content="?"),),
        goal=AllGoal(goals=(CallsGoal(turns=((gold("A", x=1, y=2),),)), AnswerGoal(accepted=("five",)))),
    )  # fmt: skip
    right = episode_of(step(call("A", x=1, y=2)), step(content="five"))
    worse = [
        episode_of(step(content="five")),
        episode_of(step(call("A", x=1, y=3)), step(content="five")),
        episode_of(step(call("B", x=1, y=2)), step(content="five")),
        episode_of(step(call("A")), step(content="five")),
        episode_of(step()),
    ]
    for rubric in RUBRICS.values():
        best, _ = rubric.score(task, right)
        if not set(rubric.reward_names) <= {*BUILT_IN, *rubric.steps}:  # a benchmark's own
            continue
        assert best == pytest.approx(rubric.high), rubric.name
        for episode in worse:
            value, _ = rubric.score(task, episode)
            assert value is not None and best is not None  # noqa: PT018
            assert rubric.low <= value < best, rubric.name


def test_presets_name_their_source_and_rewards_that_exist() -> None:
    for name, rubric in RUBRICS.items():
        assert rubric.name == name
        assert rubric.source or name in ("default", "exact", "apibank_official") or ":" in name
        assert set(rubric.reward_names) <= {*reward_names(), "turn_progress", "call_progress", "tool_execution"}
        assert next(iter(rubric.lines())).startswith(f"rubric {name}")


# Explanations.


@given(STEPS)
def test_an_explanation_leads_to_its_score_again(steps: list[Step]) -> None:
    for task in (task_of([A, B]), task_of([A], [B]), task_of([A, A, B], scope="episode", free=("C",))):
        episode = episode_of(*steps)
        for name in ("call_exact_match", "argument_f1", "argument_accuracy", "toolrl_correctness", "toolrl_format",
                     "format_validity"):  # fmt: skip
            score = get_reward(name)(task, episode)
            if score.applies:
                assert recompute(name, score) == pytest.approx(score.value), name
            assert list(explanation_lines(name, score))


def test_an_explanation_reads_like_a_reason() -> None:
    task = task_of([gold("AddAlarm", token="t", time="7"), gold("GetToday")])
    made = episode_of(step(call("AddAlarm", token="t", time="8", note="x"), call("Delete")))
    lines = list(explanation_lines("argument_f1", get_reward("argument_f1")(task, made)))
    assert lines == [
        "argument_f1: 0.200",
        "  turn 1: 2 asked for, 2 made",
        "    AddAlarm (gold 1, made 1): token equal, time wrong, note extra   -0.60",
        "    missing: GetToday",
        "    extra: Delete",
    ]


WORDS = st.sampled_from(["five", "It is 5 km.", "", "...", "A five [1, 2] {x}", "word " * 50])


@given(STEPS, WORDS)
def test_every_reward_recomputes_from_its_explanation(steps: list[Step], words: str) -> None:
    goals: list[Any] = [
        AllGoal(goals=(CallsGoal(turns=((A, B),)), AnswerGoal(accepted=("five",)), StateGoal(state={"A": 1}))),
        TextGoal(reference="It is five."),
        DecisionGoal(decision="decline"),
        *(
            AnswerGoal(accepted=("five", "5 km"), match=match)
            for match in ("contains", "token_f1", "rouge_l", "numeric")
        ),
        CallsGoal(turns=((gold("A", x="API_call_0"), gold("B", y="API_call_1")),), free=("C",), scope="episode"),
    ]
    episode = episode_of(*steps, step(content=words)).model_copy(
        update={"state": {"A": 1}, "config": {"dialect": "hermes"}}
    )
    for goal in goals:
        task = task_of([A]).model_copy(update={"goal": goal})
        for name in BUILT_IN:
            score = get_reward(name)(task, episode)
            if score.applies and score.value is not None:
                assert recompute(name, score) == pytest.approx(score.value), (name, score)
            assert list(explanation_lines(name, score))


# Other designs, worked out by hand.


def play_by_hand(name: str, task: Task, *steps: Step) -> float:
    value, _ = RUBRICS[name].score(task, episode_of(*steps))
    assert value is not None
    return value


def test_toolrla_multiplies() -> None:
    """Of two gold calls one was made, with one of two arguments right: precision 1, recall 1/2, accuracy 1/2."""
    task = task_of([gold("A", x=1, y=2), B])
    assert play_by_hand("toolrla", task, step(call("A", x=1, y=9))) == pytest.approx(1 * 1 / 2 * 1 / 2)
    assert play_by_hand("toolrla", task, step(call("A", x=1, y=9), error="unknown_tool")) == 0.0
    assert play_by_hand("toolrla", task, step(call("C"))) == 0.0
    assert play_by_hand("toolrla", task, step(call("A", x=1, y=2), MADE_B)) == 1.0


def test_bfcl_binary_is_all_or_nothing() -> None:
    task = task_of([gold("A", x=1, y=2)])
    assert play_by_hand("bfcl_binary", task, step(call("A", x=1, y=2))) == 1.0
    assert play_by_hand("bfcl_binary", task, step(call("A", x=1, y=3))) == 0.0


def test_envtuning_progress_is_the_mean_of_turns() -> None:
    """Three turns with gold calls of which the first and third pass: 2/3."""
    task = task_of([A], [B], [A])
    made = (step(MADE_A), step(call("B", y="?"), turn=1), step(MADE_A, turn=2))
    assert play_by_hand("envtuning_progress", task, *made) == pytest.approx(2 / 3)


def test_alpha_umi_pays_half_for_a_named_argument() -> None:
    """The right tool with one of two arguments right: plan 1, names 1, F1 with half credit (1 + 1/2)/2, no
    hallucination 1: the mean is 3.75 / 4."""
    task = task_of([gold("A", x=1, y=2)])
    assert play_by_hand("alpha_umi", task, step(call("A", x=1, y=9))) == pytest.approx(3.75 / 4)


def test_turn_level_adds_step_rewards_to_the_outcome() -> None:
    """Two gold calls in two steps, the second with a wrong value: outcome 0 of weight 1, both tools ran (0.2),
    half of the calls are right (0.5 / 2); weights sum to 1.7."""
    task = task_of([A, B])
    made = (step(MADE_A), step(call("B", y="?")))
    assert play_by_hand("turn_level", task, *made) == pytest.approx((0.2 + 0.5 / 2) / 1.7)
    rubric = RUBRICS["turn_level"]
    assert rubric.step_reward(task, made, 0) == pytest.approx((0.2 / 2 + 0.5 / 2) / 1.7)
    assert rubric.step_reward(task, made, 1) == pytest.approx((0.2 / 2) / 1.7)


# Malformed records.


def test_a_malformed_record_is_a_clear_error() -> None:
    with pytest.raises(DataError, match="2 calls and 1 results"):
        Step.from_dict({"action": "x", "calls": [{"name": "A"}, {"name": "B"}], "results": [{"content": 1}]})
    with pytest.raises(ConfigurationError, match="got dict"):
        RUBRICS["default"].score(task_of([A]), {"steps": []})  # type: ignore[arg-type]
