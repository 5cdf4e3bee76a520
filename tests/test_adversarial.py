"""What near-cheats earn, and what no reward may do: rise for padding, repetition or a call that answers nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ConfigurationError, Episode, GoldCall, Message, ParseError, Step, Task, ToolCall, ToolResult
from callgym.cli import main
from callgym.dialects import DIALECTS
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.bfcl.categories import GROUPS
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, StateGoal, TextGoal
from callgym.registry import ENVIRONMENTS
from callgym.rewards import (
    RUBRICS,
    Reward,
    argument_f1,
    call_exact_match,
    final_answer,
    format_validity,
    irrelevance_abstention,
    reply_rouge,
    state_reached,
)
from callgym.rewards.call_match import call_match
from callgym.rewards.matching import compare, match_calls
from callgym.rewards.values import same_value
from callgym.rollouts.adversarial import ADVERSARIES, Adversary, Knows
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.runner import run_episodes

EPISODES = {"apibank": 100, "bfcl": 24}
PROTOCOLS: dict[str, tuple[str, ...]] = {"apibank": ("step", "dialogue")}
GROUPS_OF_IDS = {f"bfcl/{name}-v0" for name in GROUPS}
"""Unions of the others; one of them is played for all."""
SETTINGS: list[tuple[str, str | None]] = [
    (entry.id, protocol)
    for entry in ENVIRONMENTS
    if entry.family in EPISODES and entry.id not in GROUPS_OF_IDS
    for protocol in PROTOCOLS.get(entry.family, (None,))
]


def options_of(protocol: str | None, data: str) -> dict[str, Any]:
    return {"data": data} if protocol is None else {"data": data, "protocol": protocol}


# What each may earn at most.


@dataclass(frozen=True)
class Worth:
    """What the tasks that were played pay for a part of the work."""

    decline: float
    """For words alone: the share of tasks that no tool fits."""
    any_call: float
    """For any call that fits: the share of tasks that leave open which one is made."""
    compared: float
    """The share of tasks whose calls are held against gold calls."""
    chance: float
    """For a guess. API-Bank's GetToday has no arguments. In BFCL an enum or a boolean is right now and then, which half
    of what a call earns is paid for by argument; a turn that asks for ``ls()`` is right, and any login succeeds."""
    no_answer: float
    """For all but the final answer."""
    half_calls: float
    """For all, where the calls earn half of what they could; where there are turns a call that reads costs nothing, as
    officially, nor does a search before an answer."""
    third_of_calls: float
    """For all, where the calls earn a third; half, where turns are paid (gold calls over gold calls and copies) or any
    call that fits is (over all that were made)."""
    first_half: float
    """For the first half of the right text. Of several calls half are there, which is an F1 below 2/3, and half of that
    is paid; the object that holds a final answer may break off behind it."""
    plain: float
    """For all but the final answer, and the answer where the last tool's output is one plain value."""
    few: float
    """For all but the final answer, and the answer where there is little else that could be listed."""
    framed: float
    """For the final answer in the field where it is read from, whatever stands around that."""


def worth_of(tasks: Sequence[Task]) -> Worth:
    rows = [worth_of_one(task) for task in tasks]
    names = [field.name for field in fields(Worth)]
    return Worth(**{name: sum(getattr(row, name) for row in rows) / len(rows) for name in names})


def worth_of_one(task: Task) -> Worth:
    decision, call_goal, goal = task.goal_of(DecisionGoal), task.goal_of(CallsGoal), task.goal_of(AnswerGoal)
    any_call = decision is not None and decision.decision == "call" and call_goal is None
    kinds: tuple[type[Any], ...] = (CallsGoal, StateGoal, AnswerGoal, TextGoal)
    asked = [kind for kind in kinds if task.goal_of(kind) is not None]
    compared = call_goal is not None and not call_goal.exemplary
    calls = compared / max(1, len(asked))
    answer = (AnswerGoal in asked or TextGoal in asked) / max(1, len(asked))
    searched = asked == [AnswerGoal]  # before the answer the policy calls what it likes
    results: Any = task.meta.get("gold_results", [None])
    plain = goal is not None and not searched and not isinstance(results[-1], (dict, list))
    few = goal is not None and not searched and len(goal.others) <= 2
    several = call_goal is not None and compared and len(call_goal.turns[0]) > 1
    turns_or_any = any_call or (call_goal is not None and call_goal.exemplary)
    return Worth(
        decline=float(decision is not None and decision.decision == "decline"),
        any_call=float(any_call),
        compared=float(compared),
        chance=0.05 if task.family == "bfcl" else BY_CHANCE,
        no_answer=1 - answer,
        half_calls=1 - calls / 2,
        third_of_calls=0.5 if turns_or_any else 1 - calls * 2 / 3,
        first_half=several / 3 + searched,
        plain=1 - answer + answer * plain,
        few=1 - answer + answer * few,
        framed=answer * searched,
    )


Limit = Callable[[Worth], float]
# A random call, or one without arguments, is right now and then.
BY_CHANCE = 0.02

# Policy: most mean return where the episode ends with the first action, and in a dialogue.
LIMITS: dict[str, tuple[Limit, Limit]] = {
    "silent": (lambda w: 0.0, lambda w: 0.0),
    "blank": (lambda w: 0.0, lambda w: 0.0),
    "echo_prompt": (lambda w: 0.01, lambda w: 0.01),
    "echo_observation": (lambda w: w.decline, lambda w: w.decline),
    "claim_success": (lambda w: w.decline, lambda w: w.decline),
    # In a dialogue the first tool may be the tool search, which may come before a decline.
    "call_every_tool": (lambda w: w.any_call + w.chance, lambda w: w.decline + w.chance),
    "repeat_call": (lambda w: w.any_call / 8 + w.chance, lambda w: w.decline + w.chance),
    "call_then_abstain": (lambda w: w.any_call + w.chance, lambda w: w.decline + w.chance),
    "gold_name_empty": (lambda w: w.decline + w.chance, lambda w: w.decline + w.chance),
    "gold_name_wrong": (lambda w: w.decline + w.any_call + w.chance, lambda w: w.decline + w.chance),
    "truncated_call": (lambda w: w.decline + w.first_half + 0.01, lambda w: w.decline + w.first_half + 0.01),
    "gold_plus_extras": (lambda w: w.half_calls, lambda w: w.half_calls),
    "gold_twice": (lambda w: w.third_of_calls, lambda w: w.third_of_calls),
    "gold_then_abstain": (lambda w: 1.0, lambda w: w.no_answer),
    "gold_without_reply": (lambda w: w.no_answer, lambda w: w.no_answer),
    "list_all_answers": (lambda w: w.decline, lambda w: w.few),
    "very_long_answer": (lambda w: w.decline, lambda w: w.no_answer + w.framed),
    "copy_tool_output": (lambda w: w.decline, lambda w: w.plain),
}

# In absolute figures, where most tasks ask for certain calls.
MOST: dict[Knows, float] = {"nothing": 0.2, "names": 0.2, "text": 0.34, "gold": 0.9}

# Where the figure for those that know the gold is another. Words beside a call are read by nobody, officially too: a
# right call with a refusal beside it is a right call. A tool's plain output, said as it is, is an answer, and so are
# all values that were heard where they are few.
MOST_OF: dict[str, float] = {"gold_then_abstain": 1.0, "copy_tool_output": 0.97, "list_all_answers": 0.95}


def most_of(name: str, env: ToolEnv, tasks: Sequence[Task]) -> float:
    """What a policy may earn in these tasks, each in its own protocol."""
    limit = 0.0
    for dialogue in (False, True):
        part = [task for task in tasks if (env.protocol_of(task) == "dialogue") is dialogue]
        limit += len(part) * LIMITS[name][dialogue](worth_of(part)) / len(tasks) if part else 0.0
    absolute = MOST_OF.get(name, MOST[adversary(name).knows])
    return min(limit, absolute if worth_of(tasks).compared > 0.5 else 1.0)


def cases() -> list[Any]:
    protocols = {entry.id: entry.protocol for entry in ENVIRONMENTS}
    found = []
    for data in ("starter", "official"):
        for id, protocol in SETTINGS:
            if data == "official" and not id.startswith("apibank/"):
                continue
            for name in LIMITS:
                if name == "gold_without_reply" and (protocol or protocols[id]) != "dialogue":
                    continue  # without a reply to give it is the oracle
                found.append(pytest.param(data, id, protocol, name))
    return found


def play(id: str, protocol: str | None, data: str, name: str, count: int, **more: Any) -> list[Episode]:
    options = {**options_of(protocol, data), **more}
    env = make_tool_env(id, **options)
    count = min(count, len(env.tasks))
    env.close()
    result = run_episodes(id, get_policy(name), episodes=count, env_options=options, progress=False)
    assert not any(episode.episode_return is None for episode in result.episodes)
    return list(result.episodes)


def mean_return(episodes: Sequence[Episode]) -> float:
    return sum(episode.episode_return or 0.0 for episode in episodes) / len(episodes)


def env_and_tasks(id: str, protocol: str | None, data: str, episodes: Sequence[Episode]) -> tuple[ToolEnv, list[Task]]:
    env = make_tool_env(id, **options_of(protocol, data))
    tasks = {task.id: task for task in env.tasks}
    return env, [tasks[episode.task_id] for episode in episodes]


def count_of(id: str) -> int:
    return EPISODES[id.partition("/")[0]]


def folder_of(data: str, request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("apibank_data")) if data == "official" else data


def test_there_is_a_limit_for_every_policy() -> None:
    assert set(LIMITS) == {adversary.name for adversary in ADVERSARIES}


@pytest.mark.parametrize(("id", "protocol"), [*SETTINGS, ("bfcl/all-v0", None)])
def test_the_oracle_earns_everything(id: str, protocol: str | None) -> None:
    assert {episode.episode_return for episode in play(id, protocol, "starter", "oracle", count_of(id))} == {1.0}


@pytest.mark.parametrize(("data", "id", "protocol", "name"), cases())
def test_no_adversary_earns_more_than_the_work_it_did(
    data: str, id: str, protocol: str | None, name: str, request: pytest.FixtureRequest
) -> None:
    folder = folder_of(data, request)
    # A prompt is long, and in a dialogue it is read again and again.
    count = 24 if (name, protocol) == ("echo_prompt", "dialogue") else count_of(id)
    episodes = play(id, protocol, folder, name, count)
    assert mean_return(episodes) <= most_of(name, *env_and_tasks(id, protocol, folder, episodes)) + 1e-9


@pytest.mark.parametrize("name", LIMITS)
def test_tasks_of_several_protocols_and_notations_make_no_difference_to_them(name: str) -> None:
    episodes = play("bfcl/all-v0", None, "starter", name, 60)
    env, tasks = env_and_tasks("bfcl/all-v0", None, "starter", episodes)
    assert len({task.meta["category"] for task in tasks}) > 10
    if name != "gold_without_reply":  # most tasks end with the first action, where it is the oracle
        assert mean_return(episodes) <= most_of(name, env, tasks) + 1e-9


ELSEWHERE = [("apibank/L1-v0", "step"), ("apibank/L1-v0", "dialogue"), ("bfcl/live_parallel-v0", None),
             ("bfcl/multi_turn_base-v0", None)]  # fmt: skip


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "apibank"])
@pytest.mark.parametrize("name", [a.name for a in ADVERSARIES if a.knows != "gold"])
def test_a_dialect_makes_no_difference_to_them(name: str, dialect: str) -> None:
    for id, protocol in ELSEWHERE:
        episodes = play(id, protocol, "starter", name, 25 if protocol else 12, dialect=dialect)
        env, tasks = env_and_tasks(id, protocol, "starter", episodes)
        assert mean_return(episodes) <= most_of(name, env, tasks) + BY_CHANCE


# The policies themselves.


def situation_of(env: ToolEnv, seed: int = 0, task: int = 0) -> Situation:
    observation, info = env.reset(seed=seed, options={"task": task})
    return Situation(env, observation, observation, tuple(info["messages"]), tuple(info["tools"]), seed)


def call_task(env: ToolEnv) -> int:
    """A task whose gold call has arguments."""
    for number, task in enumerate(env.tasks):
        goal = task.goal_of(CallsGoal)
        if goal is not None and len(goal.turns[0][0].arguments) > 1:
            return number
    raise AssertionError("no such task")


def adversary(name: str) -> Adversary:
    return next(one for one in ADVERSARIES if one.name == name)


@pytest.mark.parametrize("name", [adversary.name for adversary in ADVERSARIES])
@pytest.mark.parametrize("protocol", ["step", "dialogue"])
def test_the_same_seed_gives_the_same_episodes_whatever_the_batch(name: str, protocol: str) -> None:
    options = {"data": "starter", "protocol": protocol}
    one, other = (
        run_episodes("apibank/L2-v0", get_policy(name), episodes=6, batch_size=n, env_options=options, progress=False)
        for n in (1, 6)
    )
    assert one.episodes == other.episodes


@pytest.mark.parametrize("dialect", DIALECTS)
def test_they_do_what_they_say(dialect: str) -> None:
    env = make_tool_env("apibank/L1-v0", data="starter", dialect=dialect)
    situation = situation_of(env, task=call_task(env))
    read = env.dialect.parse
    gold = list(read(env.oracle_action()).calls)
    names = [call.name for call in gold]

    def calls(name: str) -> list[ToolCall]:
        return list(read(adversary(name).act(situation)).calls)

    assert adversary("silent").act(situation) == ""
    assert adversary("blank").act(situation).isspace()
    assert adversary("echo_prompt").act(situation) == situation.prompt
    assert {call.name for call in calls("call_every_tool")} == {t["function"]["name"] for t in situation.tools}
    repeated = calls("repeat_call")
    assert len(repeated) == 8
    assert all(one == other for one, other in pairwise(repeated))
    assert [call.name for call in calls("gold_name_empty")] == names
    assert not any(call.arguments for call in calls("gold_name_empty"))
    wrong = calls("gold_name_wrong")
    assert [(c.name, list(c.arguments)) for c in wrong] == [(c.name, list(c.arguments)) for c in gold]
    assert not any(
        same_value(value, spoiled.arguments[key])
        for right, spoiled in zip(gold, wrong, strict=True)
        for key, value in right.arguments.items()
    )
    extra = calls("gold_plus_extras")
    assert extra[: len(gold)] == gold
    assert len(extra) == len(gold) + 1
    assert extra[-1] not in gold
    assert calls("gold_twice") == [*gold, *gold]
    assert calls("gold_then_abstain") == gold
    assert read(adversary("gold_then_abstain").act(situation)).content
    assert env.oracle_action().startswith(adversary("truncated_call").act(situation))
    assert calls("claim_success") == calls("copy_tool_output") == calls("very_long_answer") == []


THEIR_OWN = ["call_every_tool", "repeat_call", "gold_name_wrong", "call_then_abstain"]


@pytest.mark.parametrize("name", THEIR_OWN)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_their_own_calls_are_valid(name: str, dialect: str) -> None:
    """They fail for what they ask, not for how they ask it."""
    are_valid(play("apibank/L1-v0", "step", "starter", name, 40, dialect=dialect))


@pytest.mark.parametrize("name", THEIR_OWN)
@pytest.mark.parametrize("category", ["simple_java", "simple_javascript", "format_sensitivity", "multi_turn_miss_func"])
def test_their_own_calls_are_valid_in_each_notation(name: str, category: str) -> None:
    are_valid(play(f"bfcl/{category}-v0", None, "starter", name, 30))


def are_valid(episodes: Sequence[Episode]) -> None:
    for episode in episodes:
        for step in episode.steps:
            assert not step.errors
            assert not any(result.error in ("unknown_tool", "invalid_arguments") for result in step.results)


def test_gold_is_made_twice_in_a_dialogue_as_well() -> None:
    for episode in play("apibank/L2-v0", "dialogue", "starter", "gold_twice", 40):
        made = [call for call in episode.calls() if call.name != "ToolSearcher"]
        assert all(made.count(call) % 2 == 0 for call in made)
        assert episode.ended == "terminated"


def test_the_command_line_knows_them() -> None:
    command = ["eval", "apibank/L1-v0", "--policy", "gold_twice", "--data", "starter", "--episodes", "10", "--json"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.output.splitlines()[-1])
    assert summary["policy"] == "gold_twice"
    assert summary["return_mean"] < 0.7


def test_they_take_no_options_and_a_typing_error_lists_them() -> None:
    with pytest.raises(ConfigurationError, match="its options are: none"):
        get_policy("silent", temperature=1.0)
    with pytest.raises(ConfigurationError, match=r"no policy 'gold_thrice'.*gold_twice"):
        get_policy("gold_thrice")


def test_the_benchmark_prints_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).resolve().parents[1] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    asked = ["apibank/L", "bfcl/live_r", "bfcl/multi_turn"]
    monkeypatch.setattr(sys, "argv", ["adversarial.py", "--episodes", "2", "--json", "--ids", *asked])
    # Imported by name: the folder is no package.
    __import__("adversarial").main()
    monkeypatch.delitem(sys.modules, "adversarial")
    *rows, last = capsys.readouterr().out.splitlines()
    table = json.loads(last)
    assert set(table) >= {"apibank/L1 step", "apibank/L3 dialogue", "bfcl/multi_turn_base", "bfcl/live_relevance"}
    assert "bfcl/multi_turn" not in table  # the union of the others
    assert all(row["oracle"] == 1.0 for row in table.values())
    assert (table["bfcl/live_relevance"]["any call"], table["bfcl/live_relevance"]["to decline"]) == (1.0, 0.0)
    assert [row.split()[0] for row in rows[5:7]] == ["abstain", "random"]


# Invariants over generated goals and episodes.

FAULT = ParseError(kind="malformed", position=0, message="cannot be read")
VALUES = (1, 2, "t", [1])
REWARDS: tuple[Reward, ...] = (
    call_match,
    call_exact_match,
    argument_f1,
    irrelevance_abstention,
    final_answer,
    state_reached,
    reply_rouge,
    format_validity,
)
TEXTS = ("It is set.", "oslo", "Oslo.", "12.5", "it costs 12.5", "12.50 or so", "Sorry, no.", "", " ", "set it is")
STATE: dict[str, Any] = {"Alarm": {"set": {"1": "06:00", "2": [1, True]}, "removed": []}}

made_calls = st.builds(
    ToolCall,
    name=st.sampled_from("AB"),
    arguments=st.dictionaries(st.sampled_from("xyz"), st.sampled_from(VALUES), max_size=3),
)
gold_calls = st.dictionaries(st.sampled_from("xyz"), st.sampled_from([(1,), (2, "t"), ([1], 1)]), max_size=3).flatmap(
    lambda arguments: st.builds(
        GoldCall,
        name=st.sampled_from("AB"),
        arguments=st.just(arguments),
        optional=st.lists(st.sampled_from(sorted(arguments)), unique=True).map(tuple) if arguments else st.just(()),
    )
)
call_goals = st.builds(
    CallsGoal,
    turns=st.lists(st.lists(gold_calls, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple),
    ordered=st.booleans(),
    scope=st.sampled_from(["turn", "episode"]),
    free=st.sampled_from([(), ("Search",)]),
)
answer_goals = st.builds(
    AnswerGoal,
    accepted=st.sampled_from([("Oslo",), (12.5,), ("12.5", "oslo")]),
    match=st.sampled_from(["exact", "normalised", "numeric", "contains"]),
    max_length=st.sampled_from([None, 40]),
)
others = st.lists(
    st.one_of(
        answer_goals,
        st.just(StateGoal(state=STATE)),
        st.sampled_from(["It is set.", "Oslo. It costs 12.5", "set"]).map(lambda text: TextGoal(reference=text)),
    ),
    max_size=2,
)
goals = st.one_of(
    call_goals,
    st.builds(lambda calls, more: AllGoal(goals=(calls, *more)), call_goals, others),
    st.sampled_from([(), ("Search",)]).map(lambda free: DecisionGoal(decision="decline", free=free)),
    answer_goals,
)
results = st.sampled_from(
    [ToolResult(content=1), ToolResult(error="tool_error", message="m"), ToolResult(error="unknown_tool", message="u")]
)


@st.composite
def steps(draw: st.DrawFn, turn: int) -> Step:
    calls = draw(st.lists(st.one_of(made_calls, st.just(ToolCall(name="Search"))), max_size=3))
    return Step(
        action="...",
        turn=turn,
        content=draw(st.sampled_from(TEXTS)),
        calls=tuple(calls),
        errors=(FAULT,) * draw(st.integers(0, 1)),
        results=tuple(draw(results) for _ in calls),
    )


@st.composite
def episodes_of(draw: st.DrawFn) -> Episode:
    turns = sorted(draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)))
    state = draw(st.sampled_from([STATE, {}, {"Alarm": 1}]))
    return episode_with([draw(steps(turn)) for turn in turns], state)


@st.composite
def attempts(draw: st.DrawFn) -> tuple[Any, Episode]:
    """A goal with calls, and an episode that comes near: gold calls, of which some arguments are wrong or missing."""
    calls = draw(call_goals)
    taken = []
    for turn, asked in enumerate(calls.turns):
        step = draw(steps(turn))
        near = []
        for gold in draw(st.permutations(asked)):
            given = {name: draw(st.sampled_from([*accepted, "wrong", 9])) for name, accepted in gold.arguments.items()}
            left_out = draw(st.sampled_from(["", "", *gold.arguments]))
            near.append(ToolCall(name=gold.name, arguments={k: v for k, v in given.items() if k != left_out}))
        near = near[: draw(st.integers(1, 3))] + list(step.calls[:1])
        results = (ToolResult(content=1),) * len(near)
        taken.append(step.model_copy(update={"calls": tuple(near), "results": results}))
    more = draw(others)
    state = draw(st.sampled_from([STATE, {}]))
    return AllGoal(goals=(calls, *more)) if more else calls, episode_with(taken, state)


def episode_with(taken: Sequence[Step], state: Any = None) -> Episode:
    return Episode(env_id="e", task_id="t", seed=0, steps=tuple(taken), ended="terminated", state=state)


def task_of(goal: Any) -> Task:
    return Task(id="t", family="f", split="test", messages=(Message(role="user", content="x"),), goal=goal)


def scores(task: Task, episode: Episode) -> dict[str, float | None]:
    """Every reward, and the default return."""
    found = {reward.__name__: reward(task, episode).value for reward in REWARDS}
    found["return"] = RUBRICS["default"].score(task, episode)[0]
    return found


def assert_never_raised(
    task: Task, before: Episode, after: Episode, but: tuple[str, ...] = ("format_validity",)
) -> None:
    old, new = scores(task, before), scores(task, after)
    for name in old.keys() - set(but):
        one, other = old[name], new[name]
        assert (one is None) == (other is None), name
        assert one is None or other is None or other <= one + 1e-9, (name, one, other)


def with_steps(episode: Episode, changed: Sequence[Step]) -> Episode:
    return episode.model_copy(update={"steps": tuple(changed)})


def with_call(step: Step, call: ToolCall, at: int | None = None) -> Step:
    place = len(step.calls) if at is None else at
    result = ToolResult(error="unknown_tool", message="u") if call.name == "Other" else ToolResult(content=1)
    return step.model_copy(
        update={
            "calls": (*step.calls[:place], call, *step.calls[place:]),
            "results": (*step.results[:place], result, *step.results[place:]),
        }
    )


played = st.one_of(attempts(), st.tuples(goals, episodes_of()))


@given(played)
@settings(max_examples=200)
def test_every_score_and_the_return_lie_between_0_and_1(case: tuple[Any, Episode]) -> None:
    goal, episode = case
    for name, value in scores(task_of(goal), episode).items():
        assert value is None or 0.0 <= value <= 1.0, name


@given(played, st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_no_score_depends_on_the_order_of_keys_or_of_unordered_calls(case: tuple[Any, Episode], random: Any) -> None:
    goal, episode = case
    task = task_of(goal)
    calls = task.goal_of(CallsGoal)
    changed = []
    for step in episode.steps:
        pairs = [
            (call.model_copy(update={"arguments": dict(reversed(call.arguments.items()))}), result)
            for call, result in zip(step.calls, step.results, strict=True)
        ]
        if calls is None or not calls.ordered:
            random.shuffle(pairs)
        changed.append(
            step.model_copy(update={"calls": tuple(c for c, _ in pairs), "results": tuple(r for _, r in pairs)})
        )
    turned = with_steps(episode, changed)
    if isinstance(turned.state, dict):
        turned = turned.model_copy(update={"state": dict(reversed(turned.state.items()))})
    assert scores(task, turned) == pytest.approx(scores(task, episode))


@given(played, st.data())
@settings(max_examples=200)
def test_a_call_that_answers_nothing_never_raises_a_score(case: tuple[Any, Episode], data: st.DataObject) -> None:
    goal, episode = case
    task = task_of(goal)
    at = data.draw(st.integers(0, len(episode.steps) - 1))
    step = episode.steps[at]
    place = data.draw(st.integers(0, len(step.calls)))
    for worse in (
        with_call(step, ToolCall(name="Other", arguments={"x": 1}), place),
        step.model_copy(update={"errors": (*step.errors, FAULT)}),
    ):
        changed = with_steps(episode, [*episode.steps[:at], worse, *episode.steps[at + 1 :]])
        # A call that is not valid does not raise the share of valid ones, either.
        but = () if any(s.calls or s.errors for s in episode.steps) else ("format_validity",)
        assert_never_raised(task, episode, changed, but)
    # A step of its own in the same turn, before the last one: the user's reply is not put off.
    useless = Step(action="...", turn=step.turn, calls=(ToolCall(name="Other"),), results=(ToolResult(content=1),))
    assert_never_raised(task, episode, with_steps(episode, [*episode.steps[:at], useless, *episode.steps[at:]]))


def times_asked(goal: CallsGoal, turn: int, call: ToolCall) -> int:
    """How many gold calls that could be meant ask for this very call."""
    within = goal.turns if goal.scope == "episode" else goal.turns[turn : turn + 1]
    return sum(compare(gold, call).exact for calls in within for gold in calls)


@given(attempts(), st.data())
@settings(max_examples=300)
def test_saying_a_call_again_never_raises_a_score_unless_it_is_asked_for_again(
    attempt: tuple[Any, Episode], data: st.DataObject
) -> None:
    goal, episode = attempt
    task = task_of(goal)
    goal_of_calls = task.goal_of(CallsGoal)
    assert goal_of_calls is not None
    made = [(n, k) for n, step in enumerate(episode.steps) for k in range(len(step.calls))]
    if not made:
        return
    at, k = data.draw(st.sampled_from(made))
    step = episode.steps[at]
    call = step.calls[k]
    alike = [
        other
        for other_step in episode.steps
        if other_step.turn == step.turn or goal_of_calls.scope == "episode"
        for other in other_step.calls
        if other.name == call.name and same_value(other.arguments, call.arguments)
    ]
    if len(alike) < times_asked(goal_of_calls, step.turn, call):
        return
    # Where order counts it is said again at once: further on, a copy may be the one that stands in its place.
    place = k + 1 if goal_of_calls.ordered else data.draw(st.integers(0, len(step.calls)))
    for copies in (1, 8):
        again = step
        for _ in range(copies):
            again = with_call(again, call, place)
        assert_never_raised(task, episode, with_steps(episode, [*episode.steps[:at], again, *episode.steps[at + 1 :]]))


@given(attempts(), st.data())
@settings(max_examples=300)
def test_one_argument_put_right_never_lowers_a_score(attempt: tuple[Any, Episode], data: st.DataObject) -> None:
    goal, episode = attempt
    task = task_of(goal)
    calls = task.goal_of(CallsGoal)
    assert calls is not None
    explanation: Any = argument_f1(task, episode).explanation
    wrong = [
        (number, pair["gold"], pair["predicted"], name)
        for number, turn in enumerate(explanation["turns"][: len(calls.turns)])
        for pair in turn["matched"]
        for name, verdict in pair["arguments"].items()
        if verdict in ("wrong", "missing")
    ]
    if not wrong:
        return
    number, g, p, name = data.draw(st.sampled_from(wrong))
    whole = calls.scope == "episode"
    asked = [gold for turn in calls.turns for gold in turn] if whole else calls.turns[number]
    places = [
        (n, k)
        for n, step in enumerate(episode.steps)
        if whole or step.turn == number
        for k, call in enumerate(step.calls)
        if call.name not in calls.free
    ]
    at, k = places[p]
    step = episode.steps[at]
    call = step.calls[k]
    better = call.model_copy(update={"arguments": {**call.arguments, name: asked[g].arguments[name][0]}})
    # The one exception: it becomes a copy of another call, which is worth nothing more.
    if any(episode.steps[n].calls[m] == better for n, m in places):
        return
    mended = step.model_copy(update={"calls": (*step.calls[:k], better, *step.calls[k + 1 :])})
    after = with_steps(episode, [*episode.steps[:at], mended, *episode.steps[at + 1 :]])
    assert_never_raised(task, after, episode)


SPACE = st.text(alphabet=" \n\t", max_size=6)
PROSE = st.lists(st.sampled_from(["well", "indeed", "I", "see,", "you", "know:", "fine!"]), min_size=1, max_size=6).map(
    " ".join
)


@given(played, SPACE, SPACE)
@settings(max_examples=200)
def test_white_space_around_words_never_raises_a_score(case: tuple[Any, Episode], before: str, after: str) -> None:
    goal, episode = case
    task = task_of(goal)
    padded = [step.model_copy(update={"content": before + step.content + after}) for step in episode.steps]
    assert_never_raised(task, episode, with_steps(episode, padded), ())


@given(played, PROSE, PROSE)
@settings(max_examples=200)
def test_prose_around_words_or_calls_never_raises_a_score(case: tuple[Any, Episode], before: str, after: str) -> None:
    goal, episode = case
    task = task_of(goal)
    padded = [
        # Silence is not padded: words where there were none are a reply.
        step.model_copy(update={"content": f"{before} {step.content} {after}"})
        if step.content.strip() or step.calls
        else step
        for step in episode.steps
    ]
    assert_never_raised(task, episode, with_steps(episode, padded), ())


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.lists(st.sampled_from([ToolCall(name="A", arguments={"x": "t"}), ToolCall(name="B")]), min_size=1, max_size=3),
    st.one_of(SPACE, PROSE),
    st.one_of(SPACE, PROSE),
)
def test_what_stands_around_a_call_never_makes_it_more(
    dialect: str, calls: list[ToolCall], before: str, after: str
) -> None:
    parser = DIALECTS[dialect]
    action = parser.render_action(calls)
    plain, padded = parser.parse(action), parser.parse(f"{before}\n{action}\n{after}")
    assert list(plain.calls) == calls
    # A dialect whose action is one JSON object cannot be read with words around it: that may cost, not pay.
    assert padded.calls in (plain.calls, ())
    task = task_of(CallsGoal(turns=((GoldCall.of(calls[0]),),)))
    one, other = (
        episode_with([Step(action="...", content=p.content, calls=p.calls, errors=p.errors)]) for p in (plain, padded)
    )
    assert_never_raised(task, one, other)


@given(played)
def test_the_state_reached_looks_at_the_state_alone(case: tuple[Any, Episode]) -> None:
    episode = case[1]
    task = task_of(AllGoal(goals=(StateGoal(state=STATE),)))
    empty = with_steps(episode, [])
    assert state_reached(task, episode).value == state_reached(task, empty).value == float(episode.state == STATE)


# Repetition, by hand. Gold calls, calls made, argument F1.


def gold(**arguments: Any) -> GoldCall:
    return GoldCall(name="A", arguments={k: v if isinstance(v, tuple) else (v,) for k, v in arguments.items()})


def made(**arguments: Any) -> ToolCall:
    return ToolCall(name="A", arguments=arguments)


TWO = [gold(x=1, y=2), gold(x=1, y=3)]
REPEATED: list[tuple[str, list[GoldCall], list[ToolCall], float]] = [
    ("half right once: 2*0.5/(2+1)", TWO, [made(x=1, y=9)], 1 / 3),
    ("half right twice: 2*0.5/(2+2)", TWO, [made(x=1, y=9)] * 2, 0.25),
    ("half right eight times: 2*0.5/(2+8)", TWO, [made(x=1, y=9)] * 8, 0.1),
    ("two that are half right: 2*1/(2+2)", TWO, [made(x=1, y=9), made(x=1, y=8)], 0.5),
    ("right once: 2*1/(2+1)", TWO, [made(x=1, y=2)], 2 / 3),
    ("right, and again for the other: 2*1/(2+2)", TWO, [made(x=1, y=2)] * 2, 0.5),
    ("right, and half right: 2*1.5/(2+2)", TWO, [made(x=1, y=2), made(x=1, y=9)], 0.75),
    ("1.0 is 1: still a copy", TWO, [made(x=1, y=9), made(x=1.0, y=9)], 0.25),
    ("True is not 1: no copy, and half as right", TWO, [made(x=1, y=9), made(x=True, y=9)], 0.25),
    ("asked twice, said twice", [gold(x=1)] * 2, [made(x=1)] * 2, 1),
    ("asked twice, said three times: 2*2/(2+3)", [gold(x=1)] * 2, [made(x=1)] * 3, 0.8),
    ("asked twice by variants", [gold(x=(1, 7)), gold(x=(7, 1))], [made(x=7)] * 2, 1),
    ("asked twice, and another: 2*2/(3+3)", [gold(x=1), gold(x=1), gold(x=2)], [made(x=1)] * 3, 2 / 3),
    ("asked once: as ever", [gold(x=1, y=2)], [made(x=1, y=9)] * 2, 1 / 3),
]


@pytest.mark.parametrize(("case", "asked", "calls", "f1"), REPEATED, ids=[row[0] for row in REPEATED])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_copy_of_a_call_counts_no_more_often_than_it_is_asked_for(
    case: str, asked: list[GoldCall], calls: list[ToolCall], f1: float, ordered: bool
) -> None:
    match = match_calls(asked, calls, ordered=ordered)
    assert match.f1 == pytest.approx(f1)
    assert match.exact == (f1 == 1)
    shown = match.explanation(asked, calls)
    assert len(shown["matched"]) + len(shown["extra"]) == len(calls)
    assert len(shown["matched"]) + len(shown["missing"]) == len(asked)


def test_an_argument_put_right_may_lower_f1_only_by_making_a_copy() -> None:
    """No rule can have both: two different calls would have to be worth no more than one of them."""
    asked = [gold(x=0, y=2, z=1), gold(x=5, y=2, z=1)]
    one, other, mended = made(x=1, y=9, z=1), made(x=1, y=2, z=1), made(x=1, y=2, z=1)
    assert match_calls(asked, [one, other]).f1 == pytest.approx(2 * (1 / 3 + 2 / 3) / 4)
    assert match_calls(asked, [mended, other]).f1 == pytest.approx(2 * (2 / 3) / 4)
    assert match_calls(asked, [other]).f1 == pytest.approx(2 * (2 / 3) / 3)


def test_white_space_is_no_part_of_a_reference_reply() -> None:
    """A default return of 0.4 for an empty reply; no official reply ends so, but a user's own may."""
    task = task_of(TextGoal(reference="It is set. "))
    assert RUBRICS["default"].score(task, episode_with([Step(action=" ", content=" ")]))[0] == 0.0
