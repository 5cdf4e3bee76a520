"""Perturbations on every id's starter tasks, each by itself and several together: what changes, and that it plays."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ConfigurationError, Episode, Message, Task, Tool, ToolCall, ToolResult, UserTurn
from callgym.envs import base
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.perturbations.compose import Compose, Sometimes
from callgym.envs.perturbations.describe import describe
from callgym.envs.perturbations.disguise import DisguisedSession, disguised, undisguised
from callgym.envs.perturbations.distractors import Distractors
from callgym.envs.perturbations.documents import documents_in, read_written, rewrite, schema_names
from callgym.envs.perturbations.english import is_english, noun_phrase
from callgym.envs.perturbations.look_alikes import could_do, likeness
from callgym.envs.perturbations.new_names import in_style_of, parameter_names, tool_name
from callgym.envs.perturbations.perturbation import notes_of
from callgym.envs.perturbations.phrase import occurrences, without_value
from callgym.envs.perturbations.rename import Rename
from callgym.envs.perturbations.renaming import Renaming, Style
from callgym.envs.perturbations.specs import PERTURBATIONS, get_perturbation, spec_of
from callgym.envs.perturbations.task_parts import every_tool, right_names
from callgym.envs.perturbations.tool_pool import ToolPool, catalogue, dressed
from callgym.envs.perturbations.words import is_made_up, spoken, words_in
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal, GoldCall, TextGoal
from callgym.registry import ENVIRONMENTS
from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.reply_kind import asked_parameters, names_parameter, reply_kind

WIRED = hasattr(base, "disguised")
wired = pytest.mark.skipif(not WIRED, reason="envs/base.py does not take perturbations by name yet")

_numbered = Tool(name="f", parameters={"type": "object", "properties": {"arg_1": {}, "arg_2": {}}})
NUMBERED = asked_parameters("Could you tell me the city (arg_1)?", _numbered) == ("arg_1",)
"""Whether a question that names ``arg_1`` is not taken for one that names ``arg_2``, too."""

NAMES = ("remove_tool", "hide_parameter", "rename", "distractors", "shuffle", "empty")
DECISIONS = {"remove_tool": "decline", "empty": "decline", "hide_parameter": "ask"}
GROUPS = ("non_live", "live", "irrelevance_all", "multi_turn", "agentic", "all")
IDS = [
    (entry.id, options)
    for entry in ENVIRONMENTS
    if entry.id.split("/")[1].removesuffix("-v0") not in GROUPS
    for options in (({}, {"protocol": "dialogue"}) if entry.family == "apibank" else ({},))
]
"""Ids with the options that make other tasks of them; groups hold what their members do."""
SAMPLE = 10


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@cache
def _tasks(id: str, options: str) -> tuple[Task, ...]:
    return tuple(make_tool_env(id, data="starter", **json.loads(options)).tasks)


def tasks_of(id: str, options: dict[str, Any], count: int = SAMPLE) -> list[Task]:
    tasks = _tasks(id, json.dumps(options))
    return list(tasks[:: max(1, len(tasks) // count)])[:count]


def applied(task: Task) -> bool:
    return bool(notes_of(task)[-1]["applied"])


def play(env: ToolEnv, task: Task, act: Callable[[ToolEnv], str], seed: int) -> Episode:
    env.reset(seed=seed, options={"task": task.id})
    while True:
        *_, terminated, truncated, info = env.step(act(env))
        if terminated or truncated:
            episode: Episode = info["episode"]
            return episode


def oracle(env: ToolEnv) -> str:
    return env.oracle_action()


def earns_less(episode: Episode) -> bool:
    return episode.episode_return is not None and episode.episode_return < 1.0


def silent(env: ToolEnv) -> str:
    return ""


def calls_of(task: Task) -> list[ToolCall]:
    goal = task.goal_of(CallsGoal)
    return [] if goal is None else [call.reference() for turn in goal.turns for call in turn]


def saying(reply: str) -> Callable[[ToolEnv], str]:
    return lambda env: reply


def calling(task: Task) -> Callable[[ToolEnv], str]:
    """Makes all the calls that the unperturbed task asks for, at once, again and again."""
    calls = calls_of(task)
    return lambda env: env.dialect.render_action(calls)


# Every perturbation on every id, as a function.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("id", "options"), IDS)
def test_a_perturbed_task_is_a_task(id: str, options: dict[str, Any], name: str) -> None:
    tasks = _tasks(id, json.dumps(options))
    perturbation = get_perturbation(name, tasks)
    for number, task in enumerate(tasks_of(id, options)):
        before = task.to_json()
        after = perturbation(task, rng(number))
        assert task.to_json() == before
        assert after.id == task.id
        assert Task.from_json(after.to_json()) == after
        assert perturbation(task, rng(number)).to_json() == after.to_json()
        (note,) = notes_of(after)
        assert note["spec"] == name
        if note["applied"]:
            assert "why" not in note
            unnoted = {key: value for key, value in after.meta.items() if key != "perturbed"}
            assert after.model_copy(update={"meta": unnoted}).to_json() != before
        else:
            assert len(note["why"]) > 10
            assert after.model_copy(update={"meta": task.meta}).to_json() == before
        if note["applied"] and name in DECISIONS:
            goal = after.goal_of(DecisionGoal)
            if "letters" in after.meta:
                assert after.meta["decision"] == DECISIONS[name]
            elif goal is None:
                assert "involved_classes" in after.meta, "only a turn of BFCL's dialogues is emptied"
                assert after.goal_of(CallsGoal).turns[-1] == ()  # type: ignore[union-attr]
            else:
                assert goal.decision == DECISIONS[name]
                assert reply_kind(goal.reply).kinds == (goal.decision,)


COUNTS = {
    ("apibank/L2-v0", "step"): (130, 110, 290, 230, 290, 115),
    ("apibank/L1-v0", "step"): (420, 200, 500, 420, 460, 280),
    ("apibank/L1-v0", "dialogue"): (262, 75, 300, 262, 300, 300),
    ("apibank/L2-v0", "dialogue"): (262, 70, 262, 262, 0, 300),
    ("apibank/L3-v0", "dialogue"): (262, 28, 262, 262, 0, 300),
    ("bfcl/simple_python-v0", "single"): (200, 95, 200, 200, 180, 200),
    ("bfcl/live_multiple-v0", "single"): (200, 85, 200, 200, 200, 200),
    ("bfcl/multi_turn_base-v0", "dialogue"): (115, 18, 120, 120, 120, 120),
    ("bfcl/memory_kv-v0", "dialogue"): (60, 0, 88, 88, 88, 60),
    ("bfcl/web_search_base-v0", "dialogue"): (60, 0, 60, 60, 60, 60),
}
"""How many of the starter tasks of the split ``test`` each perturbation changes at least, in the order of NAMES."""


@pytest.mark.parametrize(("id", "protocol"), COUNTS)
def test_most_tasks_can_be_changed(id: str, protocol: str) -> None:
    options = {"protocol": protocol} if id.startswith("apibank") else {}
    tasks = _tasks(id, json.dumps(options))
    for name, least in zip(NAMES, COUNTS[id, protocol], strict=True):
        perturbation = get_perturbation(name, tasks)
        changed = sum(applied(perturbation(task, rng(number))) for number, task in enumerate(tasks))
        assert least <= changed <= least * 1.4 + 10, (name, changed)


@pytest.mark.parametrize("name", ["rename", "distractors", "shuffle"])
def test_another_seed_gives_another_task(name: str) -> None:
    tasks = tasks_of("bfcl/live_multiple-v0", {})
    perturbation = get_perturbation(name, tasks)
    assert len({perturbation(tasks[0], rng(seed)).to_json() for seed in range(12)}) > 6


# Every perturbation on every id, played.


@wired
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("id", "options"), IDS)
def test_the_oracle_earns_everything_and_silence_nothing(id: str, options: dict[str, Any], name: str) -> None:
    env = make_tool_env(id, data="starter", perturb=[name], **options)
    for seed, task in enumerate(tasks_of(id, options, 6)):
        episode = play(env, task, oracle, seed)
        assert episode.episode_return == 1.0, (task.id, notes_of(env.task), episode.rewards)
        assert episode.config["perturb"] == [name]
        assert play(env, task, silent, seed).episode_return == 0.0, (task.id, notes_of(env.task))
        if applied(env.task) and name in DECISIONS and calls_of(task):
            assert earns_less(play(env, task, calling(task), seed)), task.id


@wired
@pytest.mark.parametrize(("id", "options"), IDS)
def test_all_perturbations_together(id: str, options: dict[str, Any]) -> None:
    perturb = [
        "hide_parameter:0.5",
        "distractors",
        "rename",
        "shuffle",
        "remove_tool:0.3",
        {"name": "empty", "share": 0.2},
    ]
    env = make_tool_env(id, data="starter", perturb=perturb, **options)
    for seed, task in enumerate(tasks_of(id, options, 8)):
        episode = play(env, task, oracle, seed)
        assert len(notes_of(env.task)) == len(perturb)
        assert Task.from_json(env.task.to_json()) == env.task
        asked = env.task.goal_of(DecisionGoal)
        if NUMBERED or asked is None or not asked.missing:
            assert episode.episode_return == 1.0, (task.id, notes_of(env.task), episode.rewards)
        again = make_tool_env(id, data="starter", perturb=episode.config["perturb"], **options)
        assert play(again, task, oracle, seed).to_json() == episode.to_json()


@wired
@pytest.mark.parametrize("dialect", ["hermes", "openai", "python", "apibank"])
def test_renamed_tools_are_called_in_every_dialect(dialect: str) -> None:
    for id, options in (("apibank/L1-v0", {"protocol": "dialogue"}), ("bfcl/multi_turn_base-v0", {})):
        env = make_tool_env(id, data="starter", perturb=["rename"], dialect=dialect, **options)
        for seed, task in enumerate(tasks_of(id, options, 5)):
            assert play(env, task, oracle, seed).episode_return == 1.0


@wired
@pytest.mark.parametrize("style", ["neutral", "synonyms"])
@pytest.mark.parametrize("what", ["tools", "parameters", "all"])
def test_every_kind_of_renaming_plays(style: str, what: str) -> None:
    spec = {"name": "rename", "style": style, "what": what}
    for id, options in (
        ("apibank/L1-v0", {}),
        ("apibank/L2-v0", {"protocol": "dialogue"}),
        ("apibank/L3-v0", {"protocol": "dialogue"}),
        ("bfcl/parallel_multiple-v0", {}),
        ("bfcl/multi_turn_miss_func-v0", {}),
        ("bfcl/memory_vector-v0", {}),
        ("bfcl/web_search_base-v0", {}),
    ):
        env = make_tool_env(id, data="starter", perturb=[spec], **options)
        for seed, task in enumerate(tasks_of(id, options, 5)):
            assert play(env, task, oracle, seed).episode_return == 1.0, (task.id, notes_of(env.task))


# Taking tools away.


def test_removing_takes_the_right_tool_and_leaves_the_others() -> None:
    for number, task in enumerate(tasks_of("bfcl/live_multiple-v0", {}, 40)):
        after = get_perturbation("remove_tool")(task, rng(number))
        left = {tool.name for tool in after.tools}
        assert not left & set(right_names(task))
        assert left < {tool.name for tool in task.tools}
        assert set(notes_of(after)[0]["removed"]) == {tool.name for tool in task.tools} - left
        assert "gold" not in after.meta
        assert after.meta["category"] == "live_irrelevance"
        assert set(right_names(after)) == set(right_names(task)), "kept for what comes later"


def test_a_tool_that_could_do_the_work_goes_too() -> None:
    first = _tool("book_hotel", "Book a hotel.", city="", nights="")
    twin = _tool("hotel_reserve", "Reserve a hotel room.", place="", stay="")
    other = _tool("cancel_hotel", "Cancel a booking.", number="")
    task = _task((first, twin, other), GoldCall(name="book_hotel", arguments={"city": ("Rome",), "nights": (2,)}))
    after = get_perturbation("remove_tool")(task, rng())
    assert [tool.name for tool in after.tools] == ["cancel_hotel"]


def test_a_dialogue_is_cut_after_the_turn_that_is_declined() -> None:
    tasks = [t for t in _tasks("apibank/L1-v0", '{"protocol": "dialogue"}') if len(t.user_turns) > 1 and calls_of(t)]
    cut = 0
    for number, task in enumerate(tasks):
        after = get_perturbation("remove_tool")(task, rng(number))
        turns: Any = task.goal_of(CallsGoal).turns  # type: ignore[union-attr]
        first = next(turn for turn, calls in enumerate(turns) if calls)
        assert len(after.user_turns) == first
        assert len(after.meta["replies"]) == first + 1  # type: ignore[arg-type]
        cut += len(after.user_turns) < len(task.user_turns)
    assert cut > 10


def test_whole_classes_fall_off_the_end_of_bfcl_s_dialogues() -> None:
    kept_turns = 0
    for number, task in enumerate(_tasks("bfcl/multi_turn_base-v0", "{}")):
        after = get_perturbation("remove_tool")(task, rng(number))
        note = notes_of(after)[0]
        if not note["applied"]:
            continue
        left = {tool.name for tool in after.tools}
        goal = task.goal_of(CallsGoal)
        assert goal is not None
        assert not left & {call.name for call in goal.turns[note["turn"]]}
        if note["turn"] == 0:
            assert after.goal_of(DecisionGoal) is not None
            assert after.user_turns == ()
            continue
        kept_turns += 1
        kept = after.goal_of(CallsGoal)
        assert kept is not None
        assert kept.turns == (*goal.turns[: note["turn"]], ())
        gold: Any = task.meta["gold"]
        assert after.meta["gold"] == [*gold[: note["turn"]], []]
        assert len(after.user_turns) == note["turn"]
        assert {call.name for turn in kept.turns for call in turn} <= left
    assert kept_turns > 20


@wired
def test_a_removed_tool_is_not_found_by_a_search() -> None:
    env = make_tool_env("apibank/L2-v0", data="starter", protocol="dialogue", perturb=["remove_tool"])
    searched = 0
    for seed, task in enumerate(tasks_of("apibank/L2-v0", {"protocol": "dialogue"}, 30)):
        for name in right_names(task):
            env.reset(seed=seed, options={"task": task.id})
            assert env.task.goal_of(DecisionGoal) is not None
            *_, info = env.step(
                env.dialect.render_action([ToolCall(name="ToolSearcher", arguments={"keywords": name})])
            )
            (result,) = info["results"]
            if name not in {str(note) for note in notes_of(env.task)[0]["removed"]}:
                continue
            searched += 1
            assert name not in str(result.content)
            assert name not in str(info.get("tools"))
            *_, info = env.step(env.dialect.render_action([ToolCall(name=name, arguments={})]))
            assert info["results"][0].error == "unknown_tool"
    assert searched > 20


def test_a_found_tool_is_taken_out_of_the_search_s_answer() -> None:
    changed = 0
    for number, task in enumerate(_tasks("apibank/L2-v0", "{}")):
        after = get_perturbation("remove_tool")(task, rng(number))
        if not applied(after):
            assert after.messages == task.messages
            continue
        changed += 1
        assert after.messages[:-1] == task.messages[:-1]
        for name in right_names(task):
            assert f"'{name}'" not in (after.messages[-1].content or "")
        assert "ToolSearch" in {tool.name for tool in after.tools}
    assert changed > 100


@pytest.mark.parametrize("name", ["remove_tool", "empty"])
def test_an_answer_that_is_shown_needs_no_tool(name: str) -> None:
    for task in tasks_of("bfcl/memory_rec_sum-v0", {}):
        after = get_perturbation(name)(task, rng())
        assert not applied(after)
        assert "stands in the conversation" in notes_of(after)[0]["why"]


def test_a_memory_that_cannot_be_read_is_declined() -> None:
    removed = (get_perturbation("remove_tool")(task, rng(1)) for task in _tasks("bfcl/memory_kv-v0", "{}"))
    after = next(filter(applied, removed))
    assert [tool.name for tool in after.tools if "retrieve" in tool.name or "search" in tool.name] == []
    assert "archival_memory_add" in {tool.name for tool in after.tools}
    assert after.goal_of(AnswerGoal) is None


def test_no_tools_at_all() -> None:
    for id, options in IDS:
        for number, task in enumerate(tasks_of(id, options, 5)):
            after = get_perturbation("empty")(task, rng(number))
            if applied(after):
                assert after.tools == ()
                assert not any(turn.add_tools for turn in after.user_turns)
                goal = after.goal_of(DecisionGoal)
                assert "letters" in after.meta or (goal is not None and goal.free == ())
    again = get_perturbation("empty")(get_perturbation("empty")(_tasks("bfcl/multiple-v0", "{}")[0], rng()), rng())
    assert notes_of(again)[1]["why"] == "there are no tools"


def test_what_asks_for_no_call_is_left_alone() -> None:
    reply = _task((_tool("f"),), goal=TextGoal(reference="Hello."))
    direct = _task((_tool("f"),), goal=DecisionGoal(decision="answer"))
    for task in (reply, direct):
        for name in ("remove_tool", "empty", "hide_parameter", "distractors"):
            assert not applied(get_perturbation(name)(task, rng())), name


def test_official_words_that_hold_the_documents_are_left_alone() -> None:
    task = _task(
        (_tool("f", x=""),), GoldCall(name="f", arguments={"x": ("1",)}), meta={"instruction": '[{"name": "f"}]'}
    )
    for name in ("remove_tool", "empty", "rename", "distractors", "shuffle"):
        after = get_perturbation(name)(task, rng())
        assert not applied(after), name
        assert "own words" in notes_of(after)[0]["why"]


# Hiding a value.


def test_a_hidden_value_is_gone_from_the_prompt() -> None:
    for id, options in IDS:
        for number, task in enumerate(tasks_of(id, options, 25)):
            after = get_perturbation("hide_parameter")(task, rng(number))
            note = notes_of(after)[0]
            if not note["applied"]:
                continue
            said = "\n".join(message.content or "" for message in after.messages)
            assert occurrences(note["hidden"], said) == []
            goal = after.goal_of(DecisionGoal)
            assert goal is not None
            assert goal.worded
            assert list(goal.missing) == note["missing"]
            tools = every_tool(after)
            for name in goal.missing:
                tool = next((tool for tool in tools.values() if name in tool.properties), None)
                assert tool is None or name in tool.required
                assert names_parameter(goal.reply, name)
            assert "  " not in said or "  " in "\n".join(message.content or "" for message in task.messages)


SENTENCES = [
    ("Get the weather in Oslo on Monday.", "Oslo", ("city",), "Get the weather on Monday."),
    ("Book a table on 2027-05-02.", "2027-05-02", ("date",), "Book a table on a certain date."),
    ("Is the flight BC667 on time?", "BC667", ("flight",), "Is a certain flight on time?"),
    ("Look for a song called 'Red Sky'.", "Red Sky", ("title",), "Look for a song."),
    ("Stop my order A-12.", "A-12", ("order", "id"), "Stop my order."),
    ("User ivo29, password nuwo34.", "nuwo34", ("password",), "User ivo29."),
    ("Reserve 4 seats on it.", "4", ("seats",), "Reserve a certain number of seats on it."),
    ("Ship 3.5 kg to Rome.", "3.5", ("weight", "kg"), "Ship a certain weight to Rome."),
    ("Pay $40 to Ana.", "40", ("sum",), "Pay a certain amount to Ana."),
    ("Add 19% to the price.", "19", ("rate",), "Add a certain percentage to the price."),
    ("Church Yard, 8 hours with a helmet.", "Church Yard", ("station",), "8 hours with a helmet."),
    ("How large is Finland?", "Finland", ("country",), None),
    ("Call it as Ben.", "Ben", ("nickname",), None),
    ("Every 4 hours, please, all of it.", "4", ("every", "hours"), None),
    ("Oslo.", "Oslo", ("city",), None),
]


@pytest.mark.parametrize(("text", "value", "label", "expected"), SENTENCES)
def test_sentences_still_read(text: str, value: str, label: tuple[str, ...], expected: str | None) -> None:
    (span,) = occurrences(value, text)
    assert without_value(text, span, label, value.replace(".", "", 1).isdigit()) == expected


@pytest.mark.parametrize(
    ("value", "text", "count"),
    [
        ("5", "5 of 15, 5.5 or 2025-05-05, and at 5:30", 1),
        ("5", "5-day trip", 0),
        ("Rome", "in Rome, not in Romes or ROME", 2),
        ("a.b", "axb a.b", 1),
        ("12:30", "at 12:30, not 12:300 or 112:30", 1),
    ],
)
def test_values_are_found_as_words_of_their_own(value: str, text: str, count: int) -> None:
    assert len(occurrences(value, text)) == count


def test_a_value_that_is_known_otherwise_is_not_hidden() -> None:
    gold = GoldCall(name="f", arguments={"city": ("Oslo",)})
    base_tool = _tool("f", city="The city.")
    cases = [
        _task((base_tool,), gold, text="Get the weather in Oslo, yes, Oslo."),
        _task((base_tool,), gold, text="Get the weather in Oslo.", before=(_message("system", "You are in Oslo."),)),
        _task((_tool("f", city="The city, for example Oslo."),), gold, text="Get the weather in Oslo."),
        _task((_tool("f", required=(), city=""),), gold, text="Get the weather in Oslo."),
        _task((base_tool,), gold.model_copy(update={"optional": ("city",)}), text="Get the weather in Oslo."),
        _task((base_tool,), gold, text="Dame el tiempo que hace en la ciudad de Oslo."),
        _task((base_tool,), gold, text="Get the weather in Norway's capital."),
        _task(
            (_tool("f", city="", mail=""),),
            GoldCall(name="f", arguments={"city": ("Oslo",), "mail": ("a@Oslo",)}),
            text="Get the weather in Oslo for a@Oslo.",
        ),
    ]
    for task in cases:
        assert not applied(get_perturbation("hide_parameter")(task, rng())), task.messages[-1].content
    assert applied(
        get_perturbation("hide_parameter")(_task((base_tool,), gold, text="Get the weather in Oslo."), rng())
    )


def test_several_calls_must_all_lack_the_value() -> None:
    tool = _tool("f", city="", colour="")

    def task(*colours: str) -> Task:
        calls = [
            GoldCall(name="f", arguments={"city": (city,), "colour": (colour,)})
            for city, colour in zip(("Oslo", "Rome"), colours, strict=True)
        ]
        return _task((tool,), *calls, text="Please paint Oslo and Rome on my map in the colour red.")

    after = get_perturbation("hide_parameter")(task("red", "red"), rng())
    assert notes_of(after)[0]["missing"] == ["colour"]
    assert after.messages[-1].content == "Please paint Oslo and Rome on my map in a certain colour."
    assert not applied(get_perturbation("hide_parameter")(task("red", "blue"), rng()))


@pytest.mark.parametrize(
    ("label", "number", "phrase"),
    [
        (("city",), False, "city"),
        (("weight", "kg"), True, "weight"),
        (("seats",), True, "number of seats"),
        (("max", "price"), True, "price"),
        (("until",), False, None),
        (("x",), True, None),
    ],
)
def test_parameters_as_nouns(label: tuple[str, ...], number: bool, phrase: str | None) -> None:
    assert noun_phrase(label, number) == phrase


def test_english_is_told_from_other_languages() -> None:
    assert is_english("Get me the weather, please.")
    assert not is_english("Wie ist das Wetter in der Stadt?")
    assert not is_english("天気を教えて")


# Other names.


def test_gold_and_documents_have_the_same_new_names() -> None:
    for id, options in IDS:
        for number, task in enumerate(tasks_of(id, options, 6)):
            after = get_perturbation("rename")(task, rng(number))
            tools = every_tool(after)
            goal = after.goal_of(CallsGoal)
            for turn in goal.turns if goal is not None else ():
                for gold in turn:
                    if gold.name in tools:
                        assert gold.arguments.keys() <= tools[gold.name].properties.keys()
            for tool in tools.values():
                for document in documents_in(tool.meta):
                    assert document["name"] == tool.name
                assert set(tool.required) <= tool.properties.keys()
            for message in after.messages:
                for call in message.tool_calls:
                    assert call.name in tools
                    assert call.arguments.keys() <= tools[call.name].properties.keys()
            renaming = Renaming.of(after)
            restored = {renaming.original_name(name) for name in tools}
            assert restored == set(every_tool(task))


def test_meta_golds_are_rewritten_by_their_structure() -> None:
    task = next(task for task in _tasks("bfcl/parallel_multiple-v0", "{}") if len(task.tools) > 2)
    after = get_perturbation("rename")(task, rng(3))
    kept: Any = after.meta["renamed"]
    gold: Any = after.meta["gold"]
    old: Any = task.meta["gold"]
    for call, before in zip(gold, old, strict=True):
        ((name, arguments),) = call.items()
        ((old_name, old_arguments),) = before.items()
        assert kept["tools"][name] == old_name
        assert {kept["parameters"][name][key]: values for key, values in arguments.items()} == old_arguments


def test_what_the_backend_reads_keeps_the_old_names() -> None:
    task = _tasks("bfcl/multi_turn_base-v0", "{}")[0]
    after = get_perturbation("rename")(task, rng(3))
    assert after.meta["gold"] == task.meta["gold"]
    assert after.initial_state == task.initial_state


def test_documents_found_in_the_conversation_are_renamed() -> None:
    seen = 0
    for number, task in enumerate(_tasks("apibank/L2-v0", "{}")):
        after = get_perturbation("rename")(task, rng(number))
        if not applied(after):
            continue
        for message, before in zip(after.messages, task.messages, strict=True):
            if message.role == "tool" and message.content != before.content:
                written = read_written(message.content)
                assert written is not None
                for document in documents_in(written.value):
                    seen += 1
                    assert document["name"] in every_tool(after)
                    assert set(document["input_parameters"]) == set(every_tool(after)[document["name"]].properties)
    assert seen > 50


def test_names_that_words_speak_of_stay() -> None:
    tool = _tool("get_user", user_name="", age="")
    task = _task(
        (tool,), GoldCall(name="get_user", arguments={"age": ("3",)}), text="Call get_user with its user_name."
    )
    after = get_perturbation("rename")(task, rng())
    assert after.tools[0].name == "get_user"
    assert "user_name" in after.tools[0].properties
    assert "age" not in after.tools[0].properties
    plain = _task((_tool("find", age=""),), GoldCall(name="find", arguments={"age": ("3",)}), text="Please find it.")
    assert get_perturbation("rename")(plain, rng()).tools[0].name != "find"


def test_renaming_twice_is_refused_and_other_tools_join_in() -> None:
    tasks = _tasks("bfcl/multiple-v0", "{}")
    once = get_perturbation("rename")(tasks[0], rng())
    assert notes_of(get_perturbation("rename")(once, rng()))[1]["why"] == "the tools have other names already"
    more = get_perturbation("distractors", tasks)(once, rng(5))
    assert all(tool.name.startswith("tool_") for tool in more.tools)
    assert len(more.meta["renamed"]["tools"]) == len(more.tools)  # type: ignore[index,arg-type,call-overload]


def test_schemas_that_name_their_properties_elsewhere_keep_them() -> None:
    parameters: Any = {"type": "object", "properties": {"a_b": {}, "c": {}}, "dependentRequired": {"a_b": ["c"]}}
    task = _task((Tool(name="my_tool", parameters=parameters),), GoldCall(name="my_tool", arguments={"c": (1,)}))
    after = get_perturbation("rename")(task, rng())
    assert after.tools[0].name != "my_tool"
    assert after.tools[0].parameters == parameters


@given(
    st.dictionaries(st.text(min_size=1, max_size=6), st.lists(st.text(min_size=1, max_size=6), max_size=5), max_size=5)
)
def test_new_names_are_unique_and_lead_back(tools: dict[str, list[str]]) -> None:
    styles: tuple[Style, ...] = ("neutral", "synonyms")
    for style in styles:
        renaming = Renaming({}, {}, style, "salt", ("tools", "parameters"))
        for name, parameters in tools.items():
            renaming = renaming.extended(name, tuple(parameters), (), tools)
        assert len(set(renaming.tools.values())) == len(tools)
        for name, parameters in tools.items():
            call = ToolCall(name=name, arguments=dict.fromkeys(parameters, 1))
            renamed = renaming.call(call)
            assert len(renamed.arguments) == len(call.arguments)
            assert renaming.original_call(renamed) == call
        task = _task(()).model_copy(update={"meta": {"renamed": renaming.as_meta()}})
        again = Renaming.of(Task.from_json(task.to_json()))
        assert again.tools == renaming.tools
        assert again.parameters == {tool: names for tool, names in renaming.parameters.items() if names}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "parameters", "api_name", "input", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_rewriting_with_the_same_names_changes_nothing(value: Any) -> None:
    before = json.dumps(value)
    assert rewrite(value, lambda name: name, lambda tool, name: name) == value
    rewrite(value, lambda name: name + "!", lambda tool, name: name + "?")
    assert json.dumps(value) == before


def test_a_text_that_would_not_be_written_the_same_is_not_read() -> None:
    assert read_written("{'a': 1}") is not None
    assert read_written('{"a": 1}') is not None
    for text in ("{'a':1}", "[1,2]", "words", "", None, "{'a': 1", '{"a": 1.50}'):
        assert read_written(text) is None


def test_synonyms_keep_the_style_of_the_name() -> None:
    assert in_style_of("FindTrain", ["seek", "railway"]) == "SeekRailway"
    assert in_style_of("findTrain", ["seek", "railway"]) == "seekRailway"
    assert in_style_of("travel.find_trains", ["travel", "seek", "trains"]) == "travel.seek_trains"
    assert in_style_of("find_train", ["seek", "railway"]) == "seek_railway"
    assert tool_name("cd", "synonyms", "s", ()) == "cd"
    assert parameter_names(("city", "qwx"), "synonyms", "s", {}, ())["qwx"] == "qwx"
    assert set(parameter_names(("a", "b", "arg_1"), "neutral", "s", {"z": "arg_2"}, ("arg_1",)).values()) == {
        "arg_2",
        "arg_3",
        "arg_4",
        "arg_5",
    }


# The seam to the backend.


class _Recording:
    def __init__(self, content: Any) -> None:
        self.calls: list[ToolCall] = []
        self.content = content
        self.closed = False

    def call(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        return ToolResult(content=self.content)

    def state(self) -> dict[str, Any]:
        return {"x": 1}

    def close(self) -> None:
        self.closed = True


def test_a_session_is_reached_by_its_own_names() -> None:
    task = _task((_tool("get_user", age=""),), GoldCall(name="get_user", arguments={"age": ("9",)}), text="Find him.")
    after = get_perturbation("rename")(task, rng())
    session = _Recording("fine")
    assert disguised(session, task) is session
    reached = disguised(session, after)
    assert isinstance(reached, DisguisedSession)
    (gold,) = after.goal_of(CallsGoal).turns[0]  # type: ignore[union-attr]
    assert reached.call(gold.reference()).content == "fine"
    assert session.calls == [ToolCall(name="get_user", arguments={"age": "9"})]
    reached.call(ToolCall(name="nonsense", arguments={"z": 1}))
    assert session.calls[-1] == ToolCall(name="nonsense", arguments={"z": 1})
    assert reached.state() == {"x": 1}
    reached.close()
    assert session.closed


def test_what_a_search_finds_gets_the_names_that_the_goal_has() -> None:
    search = Tool(name="ToolSearcher", parameters={"type": "object", "properties": {"keywords": {"type": "string"}}})
    goal = CallsGoal(
        turns=((GoldCall(name="AddAlarm", arguments={"time": ("9",)}),),), free=("ToolSearcher",), scope="episode"
    )
    task = _task((search,), goal=goal)
    after = get_perturbation("rename")(task, rng())
    (gold,) = after.goal_of(CallsGoal).turns[0]  # type: ignore[union-attr]
    document = {"name": "AddAlarm", "input_parameters": {"token": {}, "time": {}}}
    other = {"name": "DeleteAll", "input_parameters": {"sure": {}}}
    reached = DisguisedSession(_Recording([document, other]), after)
    result = reached.call(ToolCall(name="ToolSearcher", arguments={"keywords": "alarm"}))
    found: Any = result.content
    assert found[0]["name"] == gold.name
    assert set(gold.arguments) < set(found[0]["input_parameters"])
    assert found[1]["name"].startswith("tool_")
    seen: list[Any] = []

    def tools_found(call: ToolCall, result: ToolResult) -> list[Tool]:
        rows: Any = result.content
        seen.append((call.name, rows))
        return [_tool(row["name"], parameters=dict.fromkeys(row["input_parameters"], "")) for row in rows]

    tools = reached.found(tools_found)
    assert seen == [("ToolSearcher", [document, other])], "the environment is asked in the backend's own words"
    assert [tool.name for tool in tools] == [found[0]["name"], found[1]["name"]]
    assert list(tools[0].properties) == list(found[0]["input_parameters"])
    assert reached.found(lambda call, raw: [_tool("x")]) == []
    assert reached.call(ToolCall(name=gold.name, arguments={})).content == [document, other], "no search, no documents"


def test_what_the_benchmark_judges_has_its_own_names() -> None:
    task = _tasks("apibank/L1-v0", '{"protocol": "dialogue"}')[0]
    env = make_tool_env("apibank/L1-v0", data=[task], protocol="dialogue")
    episode = play(env, task, oracle, 0)
    after = get_perturbation("rename")(task, rng())
    renaming = Renaming.of(after)
    steps = tuple(step.model_copy(update={"calls": tuple(map(renaming.call, step.calls))}) for step in episode.steps)
    back, judged = undisguised(after, episode.model_copy(update={"steps": steps}))
    assert back.goal == task.goal != after.goal
    assert [step.calls for step in judged.steps] == [step.calls for step in episode.steps]
    assert judged.config["dialect"] == "undisguised"
    assert undisguised(task, episode) == (task, episode)


@pytest.mark.parametrize("name", ["rename", "remove_tool", "hide_parameter", "shuffle", "empty"])
def test_bfcl_s_official_verdict_follows(name: str) -> None:
    perturbation = get_perturbation(name)
    for category in ("simple_python", "simple_java", "multiple", "parallel_multiple", "live_multiple"):
        tasks = tasks_of(f"bfcl/{category}-v0", {}, 12)
        changed = [perturbation(task, rng(number)) for number, task in enumerate(tasks)]
        env = make_tool_env(f"bfcl/{category}-v0", data=changed, rubric="bfcl_official")
        for before, task in zip(tasks, changed, strict=True):
            assert play(env, task, oracle, 0).episode_return == 1.0, notes_of(task)
            if applied(task) and name in DECISIONS:
                assert play(env, task, calling(before), 0).episode_return == 0.0, notes_of(task)


# Look-alikes.


def test_distractors_look_alike_and_cannot_do_the_work() -> None:
    for id, options in IDS:
        tasks = _tasks(id, json.dumps(options))
        perturbation = get_perturbation({"name": "distractors", "count": 4}, tasks)
        for number, task in enumerate(tasks_of(id, options, 6)):
            after = perturbation(task, rng(number))
            if not applied(after):
                continue
            added = set(notes_of(after)[0]["added"])
            assert 1 <= len(added) <= 4
            names = [tool.name for tool in after.tools]
            assert len(names) == len(set(names)) == len(task.tools) + len(added)
            assert [name for name in names if name not in added] == [tool.name for tool in task.tools]
            for tool in after.tools:
                if tool.name in added:
                    assert not any(
                        could_do(tool, every_tool(task)[r]) for r in right_names(task) if r in every_tool(task)
                    )
                    assert tool in after.prompt_tools
                    if task.family == "bfcl":
                        assert tool.meta["bfcl"]["name"] == tool.name  # type: ignore[index,call-overload]


def test_distractors_come_to_stand_anywhere() -> None:
    tasks = _tasks("bfcl/simple_python-v0", "{}")
    perturbation = get_perturbation({"name": "distractors", "count": 2}, tasks)
    places = {
        [tool.name for tool in perturbation(tasks[0], rng(seed)).tools].index(tasks[0].tools[0].name)
        for seed in range(30)
    }
    assert places == {0, 1, 2}


def test_a_removed_tool_does_not_come_back_as_a_distractor() -> None:
    tasks = _tasks("bfcl/simple_python-v0", "{}")
    both = get_perturbation({"name": "compose", "of": ["remove_tool", {"name": "distractors", "count": 8}]}, tasks)
    for number, task in enumerate(tasks[:60]):
        after = both(task, rng(number))
        assert len(after.tools) == 8
        assert not set(right_names(task)) & {tool.name for tool in after.tools}


def test_tools_that_could_do_each_other_s_work() -> None:
    pairs = [
        ("AddAlarm", "set_alarm", True),
        ("AddAlarm", "DeleteAlarm", False),
        ("AddAlarm", "AddReminder", False),
        ("get_weather", "weather", True),
        ("kitchen.set_timer", "kitchen.oven_setting", False),
        ("kitchen.set_timer", "kitchen.set_timer", True),
    ]
    for one, other, expected in pairs:
        assert could_do(_tool(one, a=""), _tool(other, b="")) == expected, (one, other)
    assert could_do(_tool("x", city="", day=""), _tool("y", day="", city=""))
    assert likeness(_tool("find_train"), _tool("find_trains")) == 1.0
    assert likeness(_tool("find_train"), _tool("boil_egg")) == 0.0


def test_tools_from_elsewhere_are_dressed_like_their_neighbours() -> None:
    foreign = catalogue("python", False).tools[0]
    camel = dressed(foreign, _tasks("apibank/L1-v0", "{}")[0].tools)
    assert camel.name[0].isupper()
    assert "." not in camel.name
    assert camel.meta["documentation"]["name"] == camel.name  # type: ignore[index,call-overload]
    assert dressed(camel, _tasks("bfcl/multiple-v0", "{}")[0].tools).meta["bfcl"]["name"]  # type: ignore[index,call-overload]
    assert catalogue("java", False).tools
    assert catalogue("esperanto", False).tools == ()


def test_a_pool_can_be_given() -> None:
    tasks = _tasks("apibank/L1-v0", "{}")
    given = Distractors.from_tasks(tasks, count=1)
    assert given.spec == {"name": "distractors", "count": 1}
    known = {tool.name for task in tasks for tool in task.tools}
    added = {
        name for number in range(20) for name in notes_of(given(tasks[number * 7], rng(number)))[-1].get("added", ())
    }
    assert added <= known
    assert ToolPool(lambda: [_tool("a"), _tool("a"), _tool("b")]).tools[1].name == "b"


# Another order.


def test_shuffling_changes_nothing_but_the_order() -> None:
    changed = 0
    for id, options in IDS:
        for number, task in enumerate(tasks_of(id, options, 5)):
            after = get_perturbation("shuffle")(task, rng(number))
            assert after.goal == task.goal
            assert {tool.name for tool in after.tools} == {tool.name for tool in task.tools}
            for name, tool in every_tool(after).items():
                old = every_tool(task)[name]
                assert _in_order(tool.parameters) == _in_order(old.parameters)
                assert _in_order(tool.meta) == _in_order(old.meta)
                for document in documents_in(tool.meta):
                    given = schema_names(document)
                    assert list(given) == [name for name in tool.properties if name in given]
            changed += applied(after)
    assert changed > 100


def _in_order(value: Any) -> Any:
    """A JSON value whatever the order of its keys and lists."""
    if isinstance(value, dict):
        return sorted((key, repr(_in_order(item))) for key, item in value.items())
    return sorted(map(repr, map(_in_order, value))) if isinstance(value, list) else value


def test_enumerated_values_change_places_in_schema_and_document_alike() -> None:
    values = ["red", "green", "blue", "black", "white"]
    schema: Any = {"type": "object", "properties": {"colour": {"type": "string", "enum": values}}}
    meta: Any = {"bfcl": {"name": "paint", "parameters": {"type": "dict", "properties": {"colour": {"enum": values}}}}}
    task = _task(
        (Tool(name="paint", parameters=schema, meta=meta),), GoldCall(name="paint", arguments={"colour": ("red",)})
    )
    after = get_perturbation("shuffle")(task, rng(1)).tools[0]
    new = after.properties["colour"]["enum"]
    assert new != values
    assert sorted(new) == sorted(values)
    assert after.meta["bfcl"]["parameters"]["properties"]["colour"]["enum"] == new  # type: ignore[index,call-overload]
    fixed = get_perturbation({"name": "shuffle", "values": False})(task, rng(1))
    assert not applied(fixed)


# Several, and by name.


def test_compositions_go_in_order() -> None:
    task = _tasks("bfcl/multiple-v0", "{}")[1]
    one = get_perturbation({"name": "compose", "of": ["rename", "remove_tool"]})(task, rng())
    other = get_perturbation({"name": "compose", "of": ["remove_tool", "rename"]})(task, rng())
    assert [note["spec"] for note in notes_of(one)] == ["rename", "remove_tool"]
    assert [note["spec"] for note in notes_of(other)] == ["remove_tool", "rename"]
    assert all(name.startswith("tool_") for name in notes_of(one)[1]["removed"])
    assert notes_of(other)[0]["removed"][0] in {tool.name for tool in task.tools}
    assert right_names(other) != right_names(get_perturbation("remove_tool")(task, rng()))


def test_hidden_then_removed_is_declined() -> None:
    done = 0
    for number, task in enumerate(tasks_of("bfcl/multiple-v0", {}, 40)):
        after = get_perturbation({"name": "compose", "of": ["hide_parameter", "remove_tool"]})(task, rng(number))
        if notes_of(after)[0]["applied"]:
            done += 1
            goal = after.goal_of(DecisionGoal)
            assert goal is not None
            assert (goal.decision, goal.missing) == ("decline", ())
            assert not set(right_names(task)) & {tool.name for tool in after.tools}
    assert done > 5


def test_a_share_of_the_tasks() -> None:
    task = _tasks("bfcl/multiple-v0", "{}")[1]
    sometimes = get_perturbation("rename:0.25")
    drawn = sum(applied(sometimes(task, rng(seed))) for seed in range(400))
    assert 70 < drawn < 130
    note = next(notes_of(after)[0] for seed in range(9) if not applied(after := sometimes(task, rng(seed))))
    assert note == {"spec": "rename:0.25", "applied": False, "why": "not drawn"}
    assert applied(get_perturbation("rename:1")(task, rng()))


SPECS: list[Any] = [
    "remove_tool",
    "rename:0.5",
    {"name": "distractors", "count": 5},
    {"name": "rename", "what": "tools", "style": "synonyms", "share": 0.3},
    {"name": "shuffle", "values": False},
    {"name": "remove_tool", "worded": True},
    {"name": "compose", "of": ["rename", {"name": "distractors", "count": 2}], "share": 0.5},
    {"name": "compose", "of": ["hide_parameter:0.2", "shuffle"]},
]


@pytest.mark.parametrize("spec", SPECS)
def test_specs_survive_json(spec: Any) -> None:
    perturbation = get_perturbation(spec)
    written = json.loads(json.dumps(spec_of(perturbation)))
    assert written == spec
    assert get_perturbation(written) == perturbation


def test_options_of_their_own_default_are_left_out() -> None:
    assert spec_of(get_perturbation({"name": "distractors", "count": 3})) == "distractors"
    assert spec_of(Compose((Rename(), Sometimes(0.5, Rename(what="tools"))))) == {
        "name": "compose",
        "of": ["rename", {"name": "rename", "what": "tools", "share": 0.5}],
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("renames", "no perturbation 'renames'; there are: remove_tool, hide_parameter"),
        ("renames:0.5", "no perturbation 'renames:0.5'"),
        ("rename:half", "a number in"),
        ("rename:0", r"in \(0, 1\]"),
        ("rename:1.5", r"in \(0, 1\]"),
        ("rename:nan", r"in \(0, 1\]"),
        ({"name": "rename", "stile": "neutral"}, "has no option 'stile'; its options are: what, style, share"),
        ({"name": "rename", "style": "odd"}, "style is one of 'neutral', 'synonyms'"),
        ({"name": "rename", "what": ["tools"]}, "what is one of"),
        ({"name": "distractors", "count": 0}, "count is a whole number"),
        ({"name": "distractors", "count": True}, "count is a whole number"),
        ({"name": "distractors", "pool": "web"}, "pool is one of"),
        ({"name": "distractors", "own": []}, "has no option 'own'"),
        ({"name": "compose", "of": "rename"}, "takes a list"),
        ({"name": "compose", "of": [len]}, "compose takes perturbations"),
        ({"name": ["rename"]}, "no perturbation"),
        ({"of": ["rename"]}, "no perturbation None"),
        ({"name": "rename", "share": "0.5"}, r"in \(0, 1\]"),
        (7, "a perturbation is a name"),
    ],
)
def test_wrong_specs_say_what_there_is(spec: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        get_perturbation(spec)


def test_functions_of_one_s_own_stay_functions() -> None:
    def mine(task: Task, rng: np.random.Generator) -> Task:
        return task

    assert get_perturbation(mine) is mine
    assert "mine" in spec_of(mine)
    assert set(PERTURBATIONS) == {*NAMES, "compose"}


@wired
def test_an_environment_takes_names_and_records_them() -> None:
    perturb: Any = ["rename:0.5", {"name": "distractors", "count": 2}]
    env = gym.make("bfcl/multiple-v0", data="starter", perturb=perturb).unwrapped
    assert isinstance(env, ToolEnv)
    assert env.config["perturb"] == perturb
    assert "perturb" not in make_tool_env("bfcl/multiple-v0", data="starter").config
    for wrong in ("rename", {"name": "rename"}, ["renames"], [1]):
        with pytest.raises(ConfigurationError):
            make_tool_env("bfcl/multiple-v0", data="starter", perturb=wrong)


# What a person reads.


@pytest.mark.parametrize("name", NAMES)
def test_a_description_shows_what_changed(name: str) -> None:
    tasks = _tasks("bfcl/multiple-v0", "{}")
    perturbation = get_perturbation(name, tasks)
    after, task = next((after, task) for task in tasks if applied(after := perturbation(task, rng(4))))
    text = describe(task, after)
    lines = text.splitlines()
    assert any(line.startswith("+ ") or line.startswith("- ") for line in lines)
    assert lines[-1].startswith(f"{name}: applied")
    assert "left alone" in describe(after, get_perturbation("rename")(get_perturbation("rename")(after, rng()), rng()))


# Whatever a task is like.


names = st.sampled_from(["AddAlarm", "set_alarm", "find", "mail.send", "ToolSearcher", "x", "get_user"])
words = st.sampled_from(["in Oslo", "for 4 people", "on Monday", 'with "Red Sky"', "5%", "please", "the train R2", ","])


@st.composite
def any_task(draw: st.DrawFn) -> Task:
    chosen = draw(st.lists(names, min_size=0, max_size=4, unique=True))
    tools = tuple(
        _tool(name, parameters=draw(st.dictionaries(st.sampled_from(["city", "seats", "a_b", "time"]), st.just(""))))
        for name in chosen
    )
    values: Any = st.sampled_from(["Oslo", 4, "Monday", True, [1], "R2"])
    called = draw(st.lists(st.sampled_from(tools), max_size=2)) if tools else []
    golds = [GoldCall(name=tool.name, arguments={n: (draw(values),) for n in tool.properties}) for tool in called]
    goals: list[Any] = [DecisionGoal(decision=draw(st.sampled_from(["call", "ask", "decline", "answer"])))]
    if golds:
        goals.append(CallsGoal(turns=tuple((gold,) for gold in golds)))
    text = " ".join(draw(st.lists(words, min_size=1, max_size=6)))
    meta: Any = draw(
        st.sampled_from([{}, {"language": "java"}, {"reference": []}, {"gold": ["x"]}, {"answers": {"tool_call": "{"}}])
    )
    turns = tuple(UserTurn(content="Go on.") for _ in golds[1:])
    return _task(tools, goal=draw(st.sampled_from(goals)), text=text, meta=meta).model_copy(
        update={"user_turns": turns}
    )


@settings(max_examples=150)
@given(any_task(), st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), st.integers(0, 5))
def test_any_task_comes_out_whole(task: Task, specs: list[str], seed: int) -> None:
    before = task.to_json()
    perturbation = get_perturbation({"name": "compose", "of": specs})
    after = perturbation(task, rng(seed))
    assert task.to_json() == before
    assert Task.from_json(after.to_json()) == after
    assert len(notes_of(after)) == len(specs)
    assert perturbation(task, rng(seed)).to_json() == after.to_json()


# When2Call's own fields.


def test_when2call_s_label_goes_with_the_goal() -> None:
    goal: Any = {
        "kind": "all",
        "goals": [
            {"kind": "decision", "decision": "call", "worded": True},
            {"kind": "calls", "turns": [[{"name": "get_weather", "arguments": {"city": ["Oslo"]}}]]},
        ],
    }
    call = json.dumps({"name": "get_weather", "arguments": {"city": "Oslo"}})
    meta: Any = {
        "decision": "call",
        "answers": {"direct": "Sunny.", "tool_call": call, "request_for_info": "Where?", "cannot_answer": "I cannot."},
        "target_tool": {"name": "get_weather", "parameters": {"properties": {"city": {}}, "required": ["city"]}},
    }
    task = Task.from_dict(
        {
            "id": "w/1",
            "family": "when2call",
            "split": "test",
            "messages": [{"role": "user", "content": "What is the weather in Oslo like, please?"}],
            "tools": [_tool("get_weather", city="").to_dict(), _tool("send_mail", to="").to_dict()],
            "goal": goal,
            "meta": meta,
        }
    )
    removed = get_perturbation("remove_tool")(task, rng())
    assert removed.goal == DecisionGoal(decision="decline", reply="I cannot.", worded=True)
    assert removed.meta["decision"] == "decline"
    hidden = get_perturbation("hide_parameter")(task, rng())
    assert hidden.meta["held_out_param"] == "city"
    assert hidden.meta["answers"]["request_for_info"] == "Could you please tell me the city?"  # type: ignore[index,call-overload]
    renamed = get_perturbation("rename")(task, rng())
    text: Any = renamed.meta["answers"]["tool_call"]  # type: ignore[index,call-overload]
    assert json.loads(text)["name"] == renamed.tools[0].name == renamed.meta["target_tool"]["name"]  # type: ignore[index,call-overload]
    both = get_perturbation("rename")(hidden, rng())
    asked = both.goal_of(DecisionGoal)
    assert asked is not None
    assert asked.missing == (both.meta["held_out_param"],) == tuple(both.tools[0].properties)
    assert right_names(both) == (both.tools[0].name,)


@pytest.mark.parametrize("family", ["default", "llama3_2", "xlam"])
def test_offered_replies_are_offered_anew(family: str) -> None:
    tasks = list(make_tool_env("when2call/mcq-v0", data="starter", choice_family=family).tasks)[::9]
    plain = make_tool_env("when2call/mcq-v0", data="starter", choice_family=family)
    moved = 0
    for number, task in enumerate(tasks):
        removed = get_perturbation("remove_tool")(task, rng(number))
        if applied(removed):
            moved += 1
            letters: Any = removed.meta["letters"]
            (letter,) = removed.goal_of(AnswerGoal).accepted  # type: ignore[union-attr]
            assert letters[letter] == "cannot_answer"
            assert removed.messages == task.messages
        renamed = get_perturbation("rename")(task, rng(number))
        assert renamed.goal == task.goal
        choices: Any = renamed.meta["choices"]
        for tool in task.tools:
            assert tool.name not in choices[1] or not applied(renamed)
        assert choices[1] in (renamed.messages[-1].content or "")
        hidden = get_perturbation("hide_parameter")(task, rng(number))
        assert not applied(hidden)
    assert moved > 10
    assert plain.tasks[0].meta["letters"] == tasks[0].meta["letters"]


# Official data.


@pytest.mark.slow
@pytest.mark.parametrize(
    "id", ["simple_python", "live_multiple", "parallel_multiple", "simple_java", "multi_turn_base"]
)
def test_official_tasks_can_be_perturbed(id: str, official_data: Path) -> None:
    folder = official_data / "bfcl"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    tasks = make_tool_env(f"bfcl/{id}-v0", data=str(folder)).tasks
    for name in NAMES:
        perturbation = get_perturbation(name, tasks)
        for number in range(0, len(tasks), 25):
            after = perturbation(tasks[number], rng(number))
            assert Task.from_json(after.to_json()) == after


def test_names_and_words() -> None:
    assert words_in("GetUserToken") == ("get", "user", "token")
    assert words_in("mail.send_messageV2") == ("mail", "send", "message", "v", "2")
    assert spoken("tgt_lang") == "target language"
    assert is_made_up("get_user")
    assert is_made_up("ToolSearcher")
    assert not is_made_up("find")
    assert not is_made_up("Wiki")


def test_asking_for_what_was_hidden_is_paid() -> None:
    task = next(
        t for t in _tasks("bfcl/simple_python-v0", "{}") if applied(get_perturbation("hide_parameter")(t, rng()))
    )
    after = get_perturbation("hide_parameter")(task, rng())
    env = make_tool_env("bfcl/simple_python-v0", data=[after])
    assert play(env, after, oracle, 0).episode_return == 1.0
    for reply in ("", "Sorry, I cannot do that.", "It is 5.", "Which colour?"):
        assert play(env, after, saying(reply), 0).episode_return == 0.0, reply
    assert irrelevance_abstention(after, play(env, after, calling(task), 0)).value == 0.0


def _message(role: Any, content: str) -> Message:
    return Message(role=role, content=content)


def _tool(
    name: str,
    description: str = "",
    required: tuple[str, ...] | None = None,
    parameters: dict[str, str] | None = None,
    **more: str,
) -> Tool:
    parameters = {**(parameters or {}), **more}
    schema: Any = {
        "type": "object",
        "properties": {key: {"description": words} for key, words in parameters.items()},
        "required": list(parameters if required is None else required),
    }
    return Tool(name=name, description=description, parameters=schema)


def _task(
    tools: tuple[Tool, ...],
    *golds: GoldCall,
    goal: Any = None,
    text: str = "Do it.",
    before: tuple[Message, ...] = (),
    meta: dict[str, Any] | None = None,
) -> Task:
    return Task(
        id="mine/1",
        family="mine",
        split="test",
        messages=(*before, _message("user", text)),
        tools=tools,
        goal=goal or (CallsGoal(turns=(golds,)) if golds else DecisionGoal(decision="decline")),
        meta=meta or {},
    )
