"""Arguments of the wrong type: what each mode reads, and that backend, reward and record see the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any, get_args

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ConfigurationError, DataError, Episode, GoldCall, Message, Score, Task, Tool, ToolCall
from callgym.dialects import DIALECTS
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.bfcl.tools import make_tool
from callgym.goal import CallsGoal, DecisionGoal
from callgym.lenient import LenientReader
from callgym.schema import Coercion, ToolSchema
from callgym.tool_backends import PythonBackend
from callgym.trainers.export import completion_messages


def schema_of(**properties: Any) -> ToolSchema:
    return ToolSchema(Tool(name="f", parameters={"type": "object", "properties": properties}))


def lenient(schema: Any, value: Any) -> Any:
    return schema_of(x=schema).coerce({"x": value}, "lenient")["x"]


INTEGER, NUMBER, TEXT, BOOLEAN = ({"type": kind} for kind in ("integer", "number", "string", "boolean"))
LIST, OBJECT = {"type": "array"}, {"type": "object"}
BIG = 1234567890123456789

READ: list[tuple[Any, Any, Any]] = [  # schema, value, what is read
    # Text that is JSON of the type that is asked for.
    ({"type": "array", "items": TEXT}, '["a"]', ["a"]),  # S01
    (OBJECT, '{"a": [1]}', {"a": [1]}),
    (INTEGER, "3", 3),
    (INTEGER, " -3\n", -3),
    (INTEGER, str(BIG), BIG),  # P13
    (INTEGER, "3.0", 3),
    (NUMBER, "3", 3),
    (NUMBER, "2.5", 2.5),
    (NUMBER, str(BIG), BIG),
    (BOOLEAN, "true", True),
    ({"type": ["integer", "null"]}, "null", None),
    ({"type": ["array", "object"]}, "{}", {}),
    # A number without a fraction, where integers are asked for.
    (INTEGER, 3.0, 3),
    (INTEGER, 1e22, 10**22),
    # Text where nothing but text fits.
    (TEXT, 3, "3"),
    (TEXT, BIG, str(BIG)),
    (TEXT, 1.5, "1.5"),
    (TEXT, True, "true"),
    ({"type": ["string", "null"]}, 3, "3"),
    # At any depth.
    ({"type": "array", "items": INTEGER}, ["1", 2.0, 3], [1, 2, 3]),
    ({"type": "array", "items": INTEGER}, '["1", 2.0]', [1, 2]),
    ({"type": "array", "prefixItems": [TEXT, BOOLEAN], "items": INTEGER}, [1, "true", "2"], ["1", True, 2]),
    (
        {"type": "object", "properties": {"a": LIST, "b": TEXT}},
        {"a": "[]", "b": 1, "c": "1"},
        {"a": [], "b": "1", "c": "1"},
    ),
    ({"type": "object", "additionalProperties": NUMBER}, {"a": "1", "b": "2.5"}, {"a": 1, "b": 2.5}),
    ({"type": "array", "items": {"type": "array", "items": BOOLEAN}}, '["[true]", ["false"]]', [[True], [False]]),
    ({"properties": {"a": INTEGER}}, {"a": "1"}, {"a": 1}),
    # Where there is a choice, if one branch fits.
    ({"anyOf": [INTEGER, BOOLEAN]}, "3", 3),
    ({"oneOf": [LIST, {"type": "null"}]}, "[1]", [1]),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]}, '{"b": 1}', {"b": 1}),
    ({"anyOf": [{"type": "array", "items": INTEGER}, {"type": "null"}]}, ["1"], [1]),
]


@pytest.mark.parametrize(("schema", "value", "expected"), READ)
def test_lenient_reads_what_the_schema_asks_for(schema: Any, value: Any, expected: Any) -> None:
    before = copy.deepcopy(value)
    assert json.dumps(lenient(schema, value)) == json.dumps(expected)
    assert value == before  # the caller's value is never changed
    assert schema_of(x=schema).check({"x": lenient(schema, value)}) is None
    assert lenient(schema, expected) == expected


LEFT: list[tuple[Any, Any]] = [
    (TEXT, "3"),
    (TEXT, "[1]"),
    (TEXT, None),
    (TEXT, [1]),
    ({"type": ["string", "integer"]}, "3"),
    ({"type": ["string", "null"]}, "null"),
    ({}, "3"),
    ({"type": ["string", "integer"]}, 3),
    (INTEGER, "3.5"),
    (INTEGER, 3.5),
    (INTEGER, True),
    (INTEGER, "true"),
    (INTEGER, ""),
    (INTEGER, "1e999"),  # P14
    (NUMBER, "NaN"),
    (NUMBER, "Infinity"),
    (NUMBER, 3),
    (NUMBER, 3.0),
    (BOOLEAN, "yes"),
    (BOOLEAN, 1),
    (LIST, '{"a": 1}'),
    (LIST, '["a"'),
    (LIST, "['a']"),
    (LIST, "a, b"),
    (LIST, 3),
    (OBJECT, '{"a": 1, "a": 2}'),
    (OBJECT, "[" * 5000),
    (OBJECT, "null"),
    ({"type": "null"}, "none"),
    ({"anyOf": [INTEGER, NUMBER]}, "3"),  # two branches fit
    ({"anyOf": [LIST, TEXT]}, "[1]"),  # it fits as it is
    ({"anyOf": [INTEGER, {"$ref": "#/nowhere"}]}, "3"),
    ({"anyOf": [INTEGER, True]}, "3"),
    ({"type": "object", "patternProperties": {"^a": TEXT}, "additionalProperties": NUMBER}, {"a": "1"}),
]


@pytest.mark.parametrize(("schema", "value"), LEFT)
def test_lenient_leaves_what_would_be_a_guess(schema: Any, value: Any) -> None:
    assert json.dumps(LenientReader({"properties": {"x": schema}})({"x": value})) == json.dumps({"x": value})


def test_arguments_that_no_schema_knows_are_left() -> None:
    assert schema_of(x=INTEGER).coerce({"x": "1", "y": "1"}, "lenient") == {"x": 1, "y": "1"}


def test_the_modes_differ_as_they_say() -> None:
    schema = schema_of(n=INTEGER, on=BOOLEAN, at=LIST, deep={"type": "array", "items": INTEGER}, text=TEXT)
    written = {"n": "3", "on": "True", "at": "['a']", "deep": ["1"], "text": False}
    read: dict[Coercion, Any] = {mode: schema.coerce(written, mode) for mode in get_args(Coercion)}
    assert read["strict"] == written
    assert read["text"] == {"n": 3, "on": True, "at": ["a"], "deep": ["1"], "text": "False"} == schema.coerce(written)
    assert read["lenient"] == {"n": 3, "on": "True", "at": "['a']", "deep": [1], "text": "false"}


# Any schema, any value.

SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([INTEGER, NUMBER, TEXT, BOOLEAN, LIST, OBJECT, {"type": ["string", "null"]}, {}, {"type": "null"}]),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda inner, rest: {"type": "object", "properties": inner, "additionalProperties": rest},
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            inner,
        )
        | st.builds(
            lambda name, branches: {name: branches}, st.sampled_from(["anyOf", "oneOf"]), st.lists(inner, min_size=1)
        )
        | st.builds(lambda first, items: {"prefixItems": [first], "items": items}, inner, inner)
    ),
    max_leaves=6,
)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
VALUES = PLAIN | PLAIN.map(json.dumps) | st.lists(PLAIN.map(json.dumps), max_size=3)


@given(SCHEMAS, VALUES)
@settings(max_examples=400, deadline=None)
def test_what_is_valid_stays_valid_and_the_same_number(schema: Any, value: Any) -> None:
    found = schema_of(x=schema)
    once = found.coerce({"x": value}, "lenient")
    if found.check({"x": value}) is None:
        assert once == {"x": value}
        assert found.check(once) is None
    json.dumps(once, allow_nan=False)
    assert found.coerce({"x": value}, "strict") == {"x": value}


HOSTILE = [10**5000, "9" * 5000, "-" * 30_000, '"' * 30_000, "\ud800", '"\\ud800"', "[" * 30_000, "\x00", "\\" * 30_000]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_raises(value: Any) -> None:
    schemas: list[Any] = [INTEGER, NUMBER, TEXT, LIST, {"anyOf": [INTEGER, LIST]}, {"type": "array", "items": INTEGER}]
    for schema in schemas:
        for written_value in (value, [value]):
            LenientReader(schema)(written_value)


def test_schemas_deeper_than_values_can_be_are_left() -> None:
    schema: Any = INTEGER
    value: Any = "1"
    for _ in range(300):
        schema, value = {"type": "array", "items": schema}, [value]
    assert LenientReader(schema)(value) == value


# In an environment: what the tool got, what was paid, what is on record.


def environment(
    parameters: dict[str, Any] | Sequence[Tool], goal: Any, **options: Any
) -> tuple[ToolEnv, list[dict[str, Any]]]:
    """An environment with one task whose tools answer with their arguments, and all that they were run with."""
    ran: list[dict[str, Any]] = []

    def answer(world: Any, **arguments: Any) -> Any:
        ran.append(arguments)
        return arguments

    tools = (Tool(name="f", parameters=parameters),) if isinstance(parameters, dict) else tuple(parameters)
    messages = (Message(role="user", content="Do it."),)
    task = Task(id="one", family="apibank", split="test", messages=messages, tools=tools, goal=goal)
    backend = PythonBackend({tool.name: answer for tool in tools})
    return make_tool_env("apibank/L1-v0", data=[task], backend=backend, **{"dialect": "hermes", **options}), ran


def played(
    action: str, parameters: dict[str, Any] | Sequence[Tool], goal: Any, **options: Any
) -> tuple[Episode, list[dict[str, Any]]]:
    """The episode of one action, and what ran, which is what is on record and what rewards look at."""
    env, ran = environment(parameters, goal, **options)
    env.reset(seed=0)
    episode: Episode = env.step(action)[4]["episode"]
    (step,) = episode.steps
    ok = [call.arguments for call, result in zip(step.calls, step.results, strict=True) if result.ok]
    assert json.dumps(ran) == json.dumps(ok)
    assert Episode.from_json(episode.to_json()) == episode
    return episode, ran


def parameters(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def gold(**arguments: Any) -> CallsGoal:
    return CallsGoal(turns=((GoldCall.of(ToolCall(name="f", arguments=arguments)),),))


def written(arguments: str) -> str:
    return f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'


MODES: list[dict[str, Any]] = [{}, {"coercion": "strict"}, {"coercion": "lenient"}]
UNTYPED = sorted(name for name, dialect in DIALECTS.items() if not dialect.typed)


def test_a_list_as_text_is_a_type_error_or_with_the_option_a_list() -> None:  # S01
    takes = parameters(queries={"type": "array", "items": TEXT})
    action = written(r'{"queries": "[\"a\"]"}')
    for options in MODES:
        episode, ran = played(action, takes, gold(queries=["a"]), **options)
        lenient = options.get("coercion") == "lenient"
        assert ran == ([{"queries": ["a"]}] if lenient else [])
        assert episode.steps[0].calls[0].arguments == {"queries": ["a"] if lenient else '["a"]'}
        assert episode.steps[0].results[0].error == (None if lenient else "invalid_arguments")
        assert episode.rewards["format_validity"].value == float(lenient)
        assert episode.episode_return == float(lenient)
        assert episode.config.get("coercion", "none") == options.get("coercion", "none")


@pytest.mark.parametrize("dialect", UNTYPED)
def test_a_value_that_does_not_fit_costs_no_call_but_fails_the_check(dialect: str) -> None:  # P06
    call = ToolCall(name="f", arguments={"day": "2026-01-15"})
    for options in MODES:
        action = DIALECTS[dialect].render_action((call,))
        episode, ran = played(action, parameters(day=INTEGER), gold(day=15), dialect=dialect, **options)
        (step,) = episode.steps
        assert ([made.arguments for made in step.calls], step.errors) == ([call.arguments], ())
        assert step.results[0].error == "invalid_arguments"
        assert "day" in step.results[0].message
        assert (ran, episode.rewards["call_exact_match"].value) == ([], 0.0)


@pytest.mark.parametrize("dialect", UNTYPED)
def test_text_of_untyped_dialects_is_read_by_default_and_kept_by_strict(dialect: str) -> None:
    takes = parameters(n=INTEGER, on=BOOLEAN, deep={"type": "array", "items": INTEGER})
    action = DIALECTS[dialect].render_action((ToolCall(name="f", arguments={"n": 3, "on": True, "deep": ["1", 2]}),))
    goal = gold(n=3, on=True, deep=[1, 2])
    episode, ran = played(action, takes, goal, dialect=dialect)
    assert (ran, episode.steps[0].calls[0].arguments["n"]) == ([], 3)  # the list is read, what is in it is not
    episode, ran = played(action, takes, goal, dialect=dialect, coercion="lenient")
    assert (ran, episode.episode_return) == ([{"n": 3, "on": True, "deep": [1, 2]}], 1.0)
    episode, ran = played(action, takes, goal, dialect=dialect, coercion="strict")
    assert (ran, episode.steps[0].calls[0].arguments["n"]) == ([], "3")


@pytest.mark.skipif("auto" not in DIALECTS, reason="there is no dialect that tells others apart")
@pytest.mark.parametrize("dialect", ["auto", "auto:repair"])
def test_where_dialects_are_told_apart_values_are_read_as_in_the_one_that_was_written(dialect: str) -> None:
    takes, goal = parameters(n=INTEGER), gold(n=3)
    call = ToolCall(name="f", arguments={"n": 3})
    actions = {name: DIALECTS[name].render_action((call,)) for name in DIALECTS}
    told = {
        name for name, action in actions.items() if DIALECTS[dialect.partition(":")[0]].parse(action).dialect == name
    }
    assert told >= {"hermes", "openai", "python", "qwen3-coder"}
    for name, action in actions.items():
        if name not in told:  # API-Bank's brackets are Python's without their label
            continue
        for options in ({}, {"coercion": "lenient"}):
            assert played(action, takes, goal, dialect=dialect, **options)[1] == [{"n": 3}], name
    quoted = written('{"n": "3"}')
    assert played(quoted, takes, goal, dialect=dialect)[1] == []
    assert played(quoted, takes, goal, dialect=dialect, coercion="lenient")[1] == [{"n": 3}]


@pytest.mark.parametrize("dialect", ["hermes", "hermes:repair"])
@pytest.mark.parametrize("options", MODES)
def test_a_call_that_breaks_off_never_runs(dialect: str, options: dict[str, Any]) -> None:  # P08
    takes = parameters(path=TEXT, body=TEXT)
    whole = written('{"path": "a.txt", "body": "first line"}')
    for end in (whole.index(" line"), whole.index("}"), whole.index("}") + 1):
        episode, ran = played(whole[:end], takes, gold(path="a.txt", body="first"), dialect=dialect, **options)
        assert (ran, episode.steps[0].calls, episode.episode_return) == ([], (), 0.0)
        assert [error.kind for error in episode.steps[0].errors] == ["truncated"]
    env, ran = environment(takes, gold(path="a.txt", body="first"), dialect=dialect, protocol="dialogue", **options)
    env.reset(seed=0)
    _, _, terminated, truncated, _ = env.step(whole[:-30])
    assert (terminated, truncated, ran) == (False, False, [])
    assert env.truncate().ended == "truncated"  # as a trainer does that knows that the policy ran out of tokens


@pytest.mark.parametrize("dialect", ["hermes", "hermes:repair"])
@pytest.mark.parametrize("options", MODES)
def test_malformed_arguments_are_no_empty_ones(dialect: str, options: dict[str, Any]) -> None:  # P12
    anything = {"type": "object", "properties": {"scope": TEXT}}
    action = written(r'"{\"scope\": \"tmp\","')
    env, ran = environment(anything, gold(scope="tmp"), dialect=dialect, **options)
    env.reset(seed=0)
    observation, reward, _, _, info = env.step(action)
    assert (ran, reward, info["episode"].steps[0].calls) == ([], 0.0, ())
    assert [error.kind for error in info["episode"].steps[0].errors] == ["arguments"]
    assert "at character 16" in observation


@pytest.mark.parametrize("as_text", [False, True])
def test_large_integers_stay_exact_from_text_to_reward(as_text: bool) -> None:  # P13
    near = 1234567890123456768
    assert float(near) == float(BIG)
    action = written(json.dumps({"id": str(BIG) if as_text else BIG}))
    for asked, value in ((BIG, 1.0), (near, 0.0)):
        for takes in (INTEGER, NUMBER):
            episode, ran = played(action, parameters(id=takes), gold(id=asked), coercion="lenient")
            assert ran == [{"id": BIG}]
            assert type(ran[0]["id"]) is int
            assert f'"id":{BIG}' in episode.to_json()
            assert episode.episode_return == value


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999", '"NaN"', '"1e999"', '"Infinity"'])
@pytest.mark.parametrize("options", MODES)
def test_numbers_that_are_none_never_reach_a_tool_or_a_reward(number: str, options: dict[str, Any]) -> None:  # P14
    episode, ran = played(written(f'{{"limit": {number}}}'), parameters(limit=NUMBER), gold(limit=1), **options)
    assert (ran, episode.episode_return) == ([], 0.0)
    (step,) = episode.steps
    assert step.errors or step.results[0].error == "invalid_arguments"
    json.dumps(json.loads(episode.to_json()), allow_nan=False)


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("dialect", ["hermes", "hermes:repair", "openai"])
def test_arguments_that_are_no_object_cost_their_call_and_no_other(
    dialect: str, options: dict[str, Any]
) -> None:  # P24
    takes = {"type": "object", "properties": {"a": INTEGER}}
    for arguments in ("[1, 2]", "7", "null", "true"):
        calls = [f'{{"name": "f", "arguments": {one}}}' for one in (arguments, '{"a": 1}')]
        action = f"[{', '.join(calls)}]"
        if dialect != "openai":
            action = "".join(f"<tool_call>{call}</tool_call>" for call in calls)
        episode, ran = played(action, takes, gold(a=1), dialect=dialect, **options)
        assert ran == [{"a": 1}]
        assert [error.kind for error in episode.steps[0].errors] == ["arguments"]
        assert 0 < (episode.episode_return or 0) < 1
    for empty in ('""', "{}", '"{}"'):
        assert played(written(empty), takes, gold(), **options)[1] == [{}]


def test_documents_with_types_of_their_own_are_checked_as_what_they_mean() -> None:  # S03
    documented = {
        "type": "dict",  # and no "required"
        "properties": {
            "d": {"type": "number"},
            "x": {"type": "float"},
            "m": {"type": "dict"},
            "t": {"type": "tuple", "items": {"type": "integer"}},
            "u": {"type": "any"},
        },
    }
    tool = make_tool({"name": "f", "description": "", "parameters": documented})
    for options in MODES:
        assert played(written("{}"), [tool], gold(), **options)[1] == [{}]
        right = {"d": 1, "x": 2, "m": {"a": 1}, "t": [1], "u": "3"}
        episode, ran = played(written(json.dumps(right)), [tool], gold(**right), **options)
        assert (ran, episode.episode_return) == ([right], 1.0)
        wrong = {"d": "1", "m": '{"a": 1}', "t": '["1"]', "u": "3"}
        _, ran = played(written(json.dumps(wrong)), [tool], gold(**right), **options)
        read = [{"d": 1, "m": {"a": 1}, "t": [1], "u": "3"}]
        assert ran == (read if options.get("coercion") == "lenient" else [])
    with pytest.raises(DataError):  # what nobody normalised is no schema
        ToolSchema(Tool(name="f", parameters={"type": "object", "properties": {"d": {"type": "dict"}}}))


@pytest.mark.parametrize("options", MODES)
def test_a_call_with_wrong_types_is_a_call_where_none_is_due(options: dict[str, Any]) -> None:  # C01
    decline = DecisionGoal(decision="decline", reply="No.")
    for action, outcome in (
        ("I have no tool for that.", "abstained"),
        (written('{"d": "1"}'), "called"),
        (written('{"d": 1'), "attempted"),
        ("", "silent"),
    ):
        episode, _ = played(action, parameters(d=INTEGER), decline, **options)
        score: Score = episode.rewards["irrelevance_abstention"]
        assert (score.explanation["outcome"], score.value) == (outcome, float(outcome == "abstained"))


@pytest.mark.parametrize("dialect", ["hermes", "hermes:repair"])
@pytest.mark.parametrize("options", MODES)
def test_an_empty_call_is_text_on_record_and_the_episode_goes_on(dialect: str, options: dict[str, Any]) -> None:  # T01
    empty = "<tool_call>{}</tool_call>"
    env, ran = environment(parameters(a=INTEGER), gold(a=1), dialect=dialect, protocol="dialogue", **options)
    env.reset(seed=0)
    observation, _, terminated, truncated, info = env.step(empty)
    assert "'name'" in observation
    assert (terminated, truncated, info["calls"], ran) == (False, False, (), [])
    env.step(written('{"a": 1}'))
    episode: Episode = env.step("Done.")[4]["episode"]
    assert ran == [{"a": 1}]
    messages = completion_messages(env.task, episode, env.dialect)
    assert messages[0] == {"role": "assistant", "content": empty}
    arguments = [call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or ()]
    assert arguments == [{"a": 1}]


# The option.

IDS = ["apibank/L1-v0", "apibank/L3-v0", "bfcl/simple_python-v0", "bfcl/multi_turn_base-v0", "when2call/open-v0"]


@pytest.mark.parametrize("id", IDS)
def test_every_benchmark_takes_the_option_and_its_record_makes_the_environment_again(id: str) -> None:
    for value in ("strict", "lenient"):
        env: Any = gym.make(id, data="starter", coercion=value).unwrapped
        assert env.config["coercion"] == value
        again = make_tool_env(id, **{**env.config, "data": "starter"})
        assert again.config == env.config
        assert (again._modes, again._as_written) == (env._modes, env._as_written)
    plain = make_tool_env(id, data="starter")
    assert "coercion" not in plain.config  # records are byte for byte what they were
    assert make_tool_env(id, data="starter", coercion=None).config == plain.config


@pytest.mark.parametrize("id", IDS)
def test_what_is_right_without_the_option_is_right_with_it(id: str) -> None:
    records = []
    for options in ({}, {"coercion": "lenient"}):
        env = make_tool_env(id, data="starter", dialect="hermes", **options)
        env.reset(seed=0, options={"task": 0})
        done = False
        while not done:
            _, _, terminated, truncated, info = env.step(env.oracle_action())
            done = terminated or truncated
        record = info["episode"].to_dict()
        record["config"].pop("coercion", None)
        records.append(record)
    assert records[0] == records[1]


@pytest.mark.parametrize("value", ["text", "Lenient", "", 1, True, ["strict"]])
def test_another_value_is_refused(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="coercion is one of 'strict', 'lenient'"):
        make_tool_env("apibank/L1-v0", data="starter", coercion=value)
