"""The nouns: JSON and back without loss, frozen, and errors that say what is wrong and where."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from callgym import DataError, Episode, GoldCall, Message, ParseError, Score, Step, Task, Tool, ToolCall, ToolResult
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, Goal, RankingGoal, StateGoal, TextGoal
from callgym.noun import Noun, require_finite
from callgym.rewards import RUBRICS, Rubric
from callgym.schema import ToolSchema
from callgym.task import UserTurn

# Everything but half surrogates, which no encoding can carry.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
numbers = (
    st.integers() | st.integers(-(2**200), 2**200) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
)
values = st.recursive(
    st.none() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)

calls = st.builds(ToolCall, name=names, arguments=objects, id=st.none() | texts)
results = st.builds(ToolResult, content=values, error=st.sampled_from([None, "timeout", "tool_error"]), message=texts)
tools = st.builds(
    Tool,
    name=names,
    description=texts,
    parameters=st.builds(
        lambda properties: {"type": "object", "properties": {key: {"title": key} for key in properties}},
        st.lists(texts, max_size=3),
    ),
    returns=st.none() | objects,
    meta=objects,
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=st.none() | texts,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=st.none() | texts,
    name=st.none() | texts,
)
gold_calls = st.dictionaries(texts, st.lists(values, min_size=1, max_size=2).map(tuple), max_size=3).flatmap(
    lambda arguments: st.builds(
        GoldCall,
        name=names,
        arguments=st.just(arguments),
        optional=st.sets(st.sampled_from([*arguments, ""])).map(
            lambda chosen: tuple(sorted(chosen & arguments.keys()))
        ),
    )
)
calls_goals = st.builds(
    CallsGoal,
    turns=st.lists(st.lists(gold_calls, max_size=2).map(tuple), min_size=1, max_size=2).map(tuple),
    ordered=st.booleans(),
)
answer_goals = st.builds(
    AnswerGoal,
    accepted=st.lists(texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False), min_size=1).map(tuple),
    match=st.sampled_from(["exact", "normalised", "numeric"]),
)
single_goals = st.one_of(
    calls_goals,
    st.builds(DecisionGoal, decision=st.sampled_from(["call", "ask", "decline", "answer"]), reply=texts),
    answer_goals,
    st.builds(StateGoal, state=objects),
    st.builds(
        RankingGoal, relevance=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=3)
    ),
    st.builds(TextGoal, reference=texts),
)
goals = single_goals | st.builds(AllGoal, goals=st.lists(single_goals, min_size=1, max_size=3).map(tuple))
unique_tools = st.lists(tools, max_size=2, unique_by=lambda tool: tool.name).map(tuple)
user_turns = st.builds(
    UserTurn, content=texts, add_tools=unique_tools, remove_tools=st.lists(texts, max_size=2).map(tuple)
)
tasks = st.builds(
    Task,
    id=names,
    family=names,
    split=names,
    messages=st.lists(messages, min_size=1, max_size=2).map(tuple),
    tools=unique_tools,
    documented=st.none() | st.lists(texts, max_size=2).map(tuple),
    user_turns=st.lists(user_turns, max_size=1).map(tuple),
    goal=goals,
    initial_state=objects,
    meta=objects,
)
scores = st.builds(Score, value=st.none() | st.floats(0, 1), applies=st.booleans(), explanation=objects)
parse_errors = st.builds(
    ParseError,
    kind=st.sampled_from(["malformed", "truncated", "arguments", "too_long"]),
    position=st.integers(0, 2**70),
    message=texts,
)


def made_step(answered: list[tuple[Any, Any]], **fields: Any) -> Step:
    """A step whose calls have one result each."""
    return Step(calls=tuple(c for c, _ in answered), results=tuple(r for _, r in answered), **fields)


steps = st.builds(
    made_step,
    answered=st.lists(st.tuples(calls, results), max_size=2),
    action=texts,
    turn=st.integers(0, 9),
    content=texts,
    reasoning=texts,
    errors=st.lists(parse_errors, max_size=1).map(tuple),
    observation=texts,
    reward=st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
episodes = st.builds(
    Episode,
    env_id=texts,
    task_id=texts,
    seed=st.integers(0, 2**63),
    config=objects,
    data=texts,
    prompt=texts,
    steps=st.lists(steps, max_size=2).map(tuple),
    ended=st.sampled_from(["running", "terminated", "truncated"]),
    rewards=st.dictionaries(texts, scores, max_size=2),
    rubric=texts,
    episode_return=st.none() | st.floats(0, 1),
)
rubrics = st.builds(
    Rubric,
    name=names,
    weights=st.dictionaries(st.sampled_from(["call_exact_match", "final_answer"]), st.floats(0.5, 2.0), min_size=1),
)

NOUNS: dict[str, st.SearchStrategy[Any]] = {
    "ToolCall": calls,
    "ToolResult": results,
    "Tool": tools,
    "Message": messages,
    "GoldCall": gold_calls,
    "goals": goals,
    "UserTurn": user_turns,
    "Task": tasks,
    "Score": scores,
    "ParseError": parse_errors,
    "Step": steps,
    "Episode": episodes,
    "Rubric": rubrics,
}


def identical(one: Any, other: Any) -> bool:
    """Equal with equal types at every depth: 1, 1.0 and True are three things."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Noun):
        return all(identical(getattr(one, name), getattr(other, name)) for name in type(one).model_fields)
    if isinstance(one, dict):
        return list(one) == list(other) and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, float):
        return one.hex() == str(other.hex())
    return bool(one == other)


@pytest.mark.parametrize("name", NOUNS)
@given(data=st.data())
def test_json_round_trip_loses_nothing(name: str, data: st.DataObject) -> None:
    noun = data.draw(NOUNS[name])
    text = noun.to_json()
    again = type(noun).from_json(text)
    assert identical(again, noun)
    assert again.to_json() == text
    assert identical(type(noun).from_dict(noun.to_dict()), noun)
    assert "\n" not in text
    text.encode("utf-8")


@given(goals)
def test_a_goal_is_told_by_its_kind(goal: Any) -> None:
    again = TypeAdapter(Goal).validate_json(goal.to_json())
    assert identical(again, goal)


def test_every_noun_of_the_package_is_in_the_round_trip() -> None:
    def below(cls: type[Any]) -> set[type[Any]]:
        return {cls}.union(*map(below, cls.__subclasses__()))

    core = {cls.__name__ for cls in below(Noun) if cls.__module__.split(".")[0] == "callgym"} - {"Noun"}
    goal_names = {"CallsGoal", "DecisionGoal", "AnswerGoal", "StateGoal", "RankingGoal", "TextGoal", "AllGoal"}
    own_tests = {
        cls.__name__
        for cls in below(Noun)
        if cls.__module__.startswith(("callgym.rollouts", "callgym.trainers", "callgym.tool_backends"))
    }
    assert core - own_tests == (NOUNS.keys() - {"goals"}) | goal_names


TOOL = Tool(name="add", parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
TASK = Task(
    id="t", family="f", split="test", messages=(Message(role="user", content="x"),), goal=TextGoal(reference="r")
)
EXAMPLES: list[Noun] = [
    ToolCall(name="add"),
    ToolResult(content=1),
    TOOL,
    Message(role="user", content="x"),
    GoldCall(name="add"),
    TASK,
    Episode(env_id="e", task_id="t", seed=0),
    RUBRICS["default"],
]


@pytest.mark.parametrize("noun", EXAMPLES, ids=lambda noun: type(noun).__name__)
def test_nouns_are_frozen(noun: Noun) -> None:
    field = next(iter(type(noun).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(noun, field, "other")
    with pytest.raises(ValidationError, match="frozen"):
        delattr(noun, field)


@pytest.mark.parametrize("noun", EXAMPLES, ids=lambda noun: type(noun).__name__)
def test_an_unknown_field_is_refused_by_name(noun: Noun) -> None:
    with pytest.raises(DataError, match=r"surprise.*not permitted"):
        type(noun).from_dict({**noun.to_dict(), "surprise": 1})


def test_building_a_noun_copies_what_it_is_given() -> None:
    arguments: dict[str, Any] = {"a": [1, {"b": [2]}]}
    call = ToolCall(name="f", arguments=arguments)
    arguments["a"][1]["b"].append(3)
    assert call.arguments == {"a": [1, {"b": [2]}]}


BAD: list[tuple[type[Noun], Any, list[str]]] = [
    (ToolCall, {"name": "f", "arguments": [1, 2]}, ["ToolCall.arguments", "[1, 2]", "dictionary"]),
    (ToolCall, {"name": "f", "arguments": None}, ["ToolCall.arguments", "None"]),
    (ToolCall, {"name": "", "arguments": {}}, ["ToolCall.name", "''", "at least 1"]),
    (ToolCall, {"name": 7, "arguments": {}}, ["ToolCall.name", "7"]),
    (ToolCall, {"arguments": {}}, ["ToolCall.name", "required"]),
    (ToolCall, "just text", ["ToolCall", "(the record itself)", "just text"]),
    (ToolCall, None, ["(the record itself)", "None"]),
    (ToolCall, {"name": "f", "arguments": {"x": {1, 2}}}, ["ToolCall.arguments", "{1, 2}"]),
    (ToolResult, {"error": "boom"}, ["ToolResult.error", "'boom'", "timeout"]),
    (ToolResult, {"content": object}, ["ToolResult.content"]),
    (Tool, {"name": "f"}, ["Tool.parameters", "required"]),
    (Tool, {"name": "f", "parameters": {"type": "dict"}}, ["Tool.parameters", "'dict'", "'object'"]),
    (Tool, {"name": "f", "parameters": {}}, ["Tool.parameters", "without arguments"]),
    (
        Tool,
        {"name": "f", "parameters": {"type": "object", "properties": {"a": "int"}}},
        ["Tool.parameters", "properties", "'int'"],
    ),
    (Message, {"role": "narrator", "content": "x"}, ["Message.role", "'narrator'", "assistant"]),
    (Message, {"role": "user", "content": 5}, ["Message.content", "5"]),
    (
        Message,
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]},
        ["Message.tool_calls"],
    ),
    (
        Message,
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "[" * 100_000}}]},
        ["Message.tool_calls", "nested too deeply"],
    ),
    (GoldCall, {"name": "f", "arguments": {"a": []}}, ["GoldCall", "'a'", "no accepted value"]),
    (GoldCall, {"name": "f", "arguments": {"a": [1]}, "optional": ["b"]}, ["GoldCall", "['b']"]),
    (CallsGoal, {"turns": []}, ["CallsGoal.turns", "at least 1"]),
    (AnswerGoal, {"accepted": []}, ["AnswerGoal.accepted", "at least 1"]),
    (AnswerGoal, {"accepted": ["x"], "match": "fuzzy"}, ["AnswerGoal.match", "'fuzzy'", "numeric"]),
    (Task, {**TASK.to_dict(), "goal": {"kind": "guess"}}, ["Task.goal", "'guess'", "'calls'"]),
    (Task, {**TASK.to_dict(), "messages": []}, ["Task.messages", "at least 1"]),
    (Task, {**TASK.to_dict(), "tools": [TOOL.to_dict()] * 2}, ["Task", "['add']", "more than once", "'t'"]),
    (Score, {"value": 1.5}, ["Score.value", "1.5", "less than or equal to 1"]),
    (Score, {"value": -0.1}, ["Score.value", "-0.1"]),
    (ParseError, {"kind": "odd", "position": 0, "message": ""}, ["ParseError.kind", "'odd'"]),
    (ParseError, {"kind": "malformed", "position": -1, "message": ""}, ["ParseError.position", "-1"]),
    (Episode, {"env_id": "e", "task_id": "t", "seed": "x"}, ["Episode.seed", "'x'"]),
    (Episode, {"env_id": "e", "task_id": "t", "seed": 0, "ended": "stopped"}, ["Episode.ended", "'stopped'"]),
    (Rubric, {"name": "r", "weights": {"call_exact": 1}}, ["Rubric", "call_exact", "call_exact_match"]),
    (Rubric, {"name": "r", "weights": {}}, ["at least one weight", "a factor"]),
    (Rubric, {"name": "r", "weights": {"final_answer": -1}}, ["Rubric.weights.final_answer", "-1"]),
    (Rubric, {"name": "r", "weights": {"final_answer": 0}}, ["Rubric", "above 0"]),
]


@pytest.mark.parametrize(("noun", "data", "words"), BAD)
def test_bad_input_is_an_error_that_names_place_field_and_value(noun: type[Noun], data: Any, words: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        noun.from_dict(data, where="tasks.jsonl, row 7")
    message = str(caught.value)
    assert message.startswith("tasks.jsonl, row 7: ")
    assert [word for word in words if word not in message] == []
    assert len(message) < 1_000


def test_a_fault_deep_inside_does_not_make_an_endless_message() -> None:
    nested: Any = "x"
    for _ in range(300):
        nested = [nested]
    with pytest.raises(DataError) as caught:
        ToolCall.from_dict({"name": "f", "arguments": {"x": nested}})
    assert len(str(caught.value)) < 500


NOT_NUMBERS = [float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("number", NOT_NUMBERS)
@pytest.mark.parametrize(
    "build",
    [
        lambda n: ToolCall(name="f", arguments={"x": n}),
        lambda n: ToolCall(name="f", arguments={"x": [{"y": [n]}]}),
        lambda n: ToolResult(content=n),
        lambda n: ToolResult(content=[1, {"y": n}]),
        lambda n: GoldCall(name="f", arguments={"x": (n,)}),
        lambda n: GoldCall(name="f", arguments={"x": ([n],)}),
        lambda n: AnswerGoal(accepted=(n,)),
        lambda n: StateGoal(state={"x": n}),
        lambda n: RankingGoal(relevance={"x": n}),
        lambda n: Score(value=n),
        lambda n: Step(action="", reward=n),
        lambda n: Episode(env_id="e", task_id="t", seed=0, episode_return=n),
        lambda n: Rubric(name="r", weights={"final_answer": n}),
        lambda n: Task.from_dict({**TASK.to_dict(), "meta": {"x": n}}),
        lambda n: Task.from_dict({**TASK.to_dict(), "initial_state": {"x": [n]}}),
    ],
)
def test_nan_and_infinity_are_refused(build: Any, number: float) -> None:
    with pytest.raises(ValueError, match=r"finite|not a JSON number|less than or equal|greater than or equal"):
        build(number)


def test_require_finite_looks_at_every_depth() -> None:
    assert require_finite({"a": [1, 2.5, None, "nan"]}) == {"a": [1, 2.5, None, "nan"]}
    with pytest.raises(ValueError, match="nan"):
        require_finite([{"a": [float("nan")]}])


def test_an_integer_too_long_to_be_written_is_refused_when_it_enters() -> None:
    assert ToolResult(content=10**4_000).to_json()
    with pytest.raises(ValueError, match="digits"):
        ToolResult(content=10**5_000)
    with pytest.raises(DataError, match=r"row 1.*digits"):
        ToolResult.from_json('{"content": ' + "9" * 5_000 + "}", where="row 1")


@pytest.mark.parametrize("cut", [0, 1, 10, 40, -1])
def test_truncated_json_names_the_place_and_the_mend(cut: int) -> None:
    with pytest.raises(DataError) as caught:
        Task.from_json(TASK.to_json()[:cut], where="my.jsonl, row 3")
    message = str(caught.value)
    assert message.startswith("my.jsonl, row 3: not valid JSON for a Task")
    assert "cut short" in message
    assert "char" in message


def test_json_nested_beyond_all_measure_is_an_error_not_a_crash() -> None:
    with pytest.raises(DataError, match="not valid JSON"):
        ToolCall.from_json("[" * 200_000)


def test_messages_read_both_shapes_of_arguments_and_write_openai_s() -> None:
    as_text = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 12345678901234567890}'}}
    as_object = {**as_text, "function": {"name": "add", "arguments": {"a": 12345678901234567890}}}
    for shape in (as_text, as_object):
        message = Message.from_dict({"role": "assistant", "content": None, "tool_calls": [shape]})
        assert message.tool_calls == (ToolCall(name="add", arguments={"a": 12345678901234567890}, id="c1"),)
        assert message.as_chat()["tool_calls"] == [as_object]
        assert json.loads(message.as_chat("json")["tool_calls"][0]["function"]["arguments"]) == {
            "a": 12345678901234567890
        }
    empty = {"function": {"name": "now", "arguments": " "}}
    assert Message.from_dict({"role": "assistant", "tool_calls": [empty]}).tool_calls[0].arguments == {}
    assert Message.from_dict({"role": "assistant", "tool_calls": None}).tool_calls == ()


def test_a_chat_message_can_be_changed_without_changing_the_record() -> None:
    message = Message(role="assistant", tool_calls=(ToolCall(name="f", arguments={"a": [1]}),))
    chat = message.as_chat()
    chat["tool_calls"][0]["function"]["arguments"]["a"].append(2)
    assert message.tool_calls[0].arguments == {"a": [1]}


def test_tool_tells_its_properties_and_chat_shape() -> None:
    assert TOOL.properties == {"a": {"type": "integer"}}
    assert TOOL.required == ("a",)
    assert TOOL.as_chat()["function"]["name"] == "add"
    bare = Tool(name="now", parameters={"type": "object"})
    assert (bare.properties, bare.required) == ({}, ())


def test_gold_call_of_a_call_accepts_that_call() -> None:
    call = ToolCall(name="f", arguments={"x": [1, 2], "y": None})
    assert GoldCall.of(call).reference() == call


def test_task_finds_its_goal_alone_or_among_several() -> None:
    answer = AnswerGoal(accepted=("x",))
    assert TASK.goal_of(AnswerGoal) is None
    assert TASK.model_copy(update={"goal": answer}).goal_of(AnswerGoal) == answer
    both = AllGoal(goals=(TextGoal(reference="r"), answer))
    assert TASK.model_copy(update={"goal": both}).goal_of(AnswerGoal) == answer


def test_prompt_tools_are_the_documented_ones() -> None:
    other = TOOL.model_copy(update={"name": "sub"})
    task = TASK.model_copy(update={"tools": (TOOL, other)})
    assert task.prompt_tools == (TOOL, other)
    assert task.model_copy(update={"documented": ("sub",)}).prompt_tools == (other,)
    assert task.model_copy(update={"documented": ()}).prompt_tools == ()


def test_an_episode_s_final_answer_is_its_last_words_without_a_call() -> None:
    episode = Episode(env_id="e", task_id="t", seed=0)
    call = ToolCall(name="f")
    fault = ParseError(kind="malformed", position=0, message="m")
    rows: list[tuple[tuple[Step, ...], str]] = [
        ((), ""),
        ((Step(action="a", content="42"),), "42"),
        ((Step(action="a", content="42"), Step(action="b", content="43")), "43"),
        ((Step(action="a", content="42", calls=(call,)),), ""),
        ((Step(action="a", content="42", errors=(fault,)),), ""),
        ((Step(action="a", content="42"), Step(action="b", content="43", calls=(call,))), ""),
    ]
    for taken, answer in rows:
        assert episode.model_copy(update={"steps": taken}).final_answer == answer
        assert episode.model_copy(update={"steps": taken, "ended": "truncated"}).final_answer == ""


def test_an_episode_lists_its_calls_by_turn() -> None:
    one, two = ToolCall(name="one"), ToolCall(name="two")
    episode = Episode(
        env_id="e", task_id="t", seed=0, steps=(Step(action="a", calls=(one,)), Step(action="b", turn=1, calls=(two,)))
    )
    assert episode.calls() == [one, two]
    assert episode.calls(turn=1) == [two]


def test_half_a_surrogate_is_written_as_an_escape_and_read_back() -> None:
    result = ToolResult(content="\ud800 é")
    text = result.to_json()
    assert text.isascii()
    assert ToolResult.from_json(text) == result


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_schema_never_reads_a_file_or_an_address(keyword: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"type": "integer"}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.json"
        for reference in ((tmp_path / "a.json").as_uri(), address):
            parameters: Any = {"type": "object", "properties": {"a": {keyword: reference}}}
            with pytest.raises(DataError, match="retrieving it failed"):
                ToolSchema(Tool(name="f", parameters=parameters))
        with pytest.raises(BlockingIOError):
            server.accept()
