"""TRL's environment_factory: an environment's tools are methods, and every episode is a ToolEnv's."""

from __future__ import annotations

import copy
import inspect
import json
import math
import os
import string
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Episode, Message, Score, Task, Tool, UserTurn
from callgym.data import DataSource
from callgym.envs.base import Protocol, ToolEnv, make_tool_env
from callgym.errors import ConfigurationError
from callgym.goal import AnswerGoal
from callgym.rewards import Rubric, register_reward
from callgym.tool_backends import PythonBackend, ToolFailure, World
from callgym.trainers.bridges.tool_method import tool_method, type_hint
from callgym.trainers.bridges.trl_environment import TrlEnvironments, environment_class

pytest.importorskip("transformers")
pytest.importorskip("trl")
torch = pytest.importorskip("torch")
datasets = pytest.importorskip("datasets")

from transformers.utils import get_json_schema  # noqa: E402

STALL = "stall/Prices-v0"
WEB = "bfcl/web_search_base-v0"


# A stall that sells things: the policy looks up a price, may note it down, and answers with it.

PRICES = {"jar": 4, "lamp": 19, "mug": 7, "tray": 12}


def tool(
    name: str,
    properties: dict[str, Any],
    required: tuple[str, ...] = (),
    description: str = "",
    closed: bool = False,
) -> Tool:
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "required": list(required)}
    if closed:
        parameters["additionalProperties"] = False
    return Tool(name=name, description=description or f"{name} something.", parameters=parameters)


PRICE = tool("price", {"item": {"type": "string", "description": "What."}}, ("item",), "Look up a price.", True)
NOTE = tool(
    "note",
    {"from": {"type": "string", "description": "Who writes."}, "lines": {"type": "array", "items": {"type": "string"}}},
    ("from",),
    "Note something down.",
)


def stall_task(number: int, item: str, **changes: Any) -> Task:
    values: dict[str, Any] = {
        "id": f"stall/{number}",
        "family": "stall",
        "split": "train",
        "messages": (
            Message(role="system", content="Answer with a number alone."),
            Message(role="user", content=f"What does the {item} cost?"),
        ),
        "tools": (PRICE, NOTE),
        "goal": AnswerGoal(accepted=(PRICES[item],)),
        "initial_state": {"notes": []},
    }
    return Task(**{**values, **changes})


TASKS = tuple(stall_task(number, item) for number, item in enumerate(PRICES))


def price(world: World, item: str) -> int:
    if item not in PRICES:
        raise ToolFailure(f"there is no {item!r}")
    return PRICES[item]


def note(world: World, lines: tuple[str, ...] = (), **who: str) -> int:
    world.state["notes"] += [*lines, who["from"]]
    return len(world.state["notes"])


class StallEnv(ToolEnv):
    family: ClassVar[str] = "stall"
    protocol: Protocol = "dialogue"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        return TASKS

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"price": price, "note": note})


class SingleEnv(StallEnv):
    protocol: Protocol = "single"


class FindingEnv(StallEnv):
    def tools_found(self, call: Any, result: Any) -> tuple[Tool, ...]:
        return ()


def unknown_for_lamps(task: Task, episode: Episode) -> Score:
    return Score(value=None if "lamp" in str(task.messages[1].content) else 1.0)


@pytest.fixture(scope="module", autouse=True)
def _stall() -> Iterator[None]:
    gym.register(STALL, entry_point=f"{__name__}:StallEnv", kwargs={"data": "starter"})
    gym.register("stall/Finding-v0", entry_point=f"{__name__}:FindingEnv", kwargs={"data": "starter"})
    gym.register("stall/Single-v0", entry_point=f"{__name__}:SingleEnv", kwargs={"data": "starter"})
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    del gym.registry[STALL], gym.registry["stall/Finding-v0"], gym.registry["stall/Single-v0"]


def row(number: int = 0) -> dict[str, Any]:
    return {"prompt": [message.as_chat() for message in TASKS[number].messages], "task": TASKS[number].id}


def say(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def hear(environments: list[Any], completions: list[Any], **more: Any) -> list[float | None]:
    return TrlEnvironments(STALL).reward_funcs[0](completions=completions, environments=environments, **more)


# Schemas to signatures.

NESTED = {"type": "object", "properties": {"x": {"type": "integer"}}}
HINTS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"type": "string"}, {"type": "string"}, True),
    ({"type": "integer"}, {"type": "integer"}, True),
    ({"type": "number"}, {"type": "number"}, True),
    ({"type": "boolean"}, {"type": "boolean"}, True),
    ({"type": "null"}, {"type": "null"}, True),
    ({"type": "array"}, {"type": "array"}, True),
    ({"type": "array", "items": {"type": "number"}}, {"type": "array", "items": {"type": "number"}}, True),
    ({"type": "object"}, {"type": "object"}, True),
    ({}, {}, True),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        True,
    ),
    ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}, True),
    ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}, True),
    ({"enum": ["a", 1, None]}, {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}, True),
    ({"const": "a"}, {"type": "string", "enum": ["a"]}, True),
    ({"type": ["integer", "string"]}, {"type": ["integer", "string"]}, True),
    ({"type": ["string", "null"]}, {"type": "string", "nullable": True}, True),
    (
        {"type": "array", "items": {"type": "string", "enum": ["x"]}},
        {"type": "array", "items": {"type": "string", "enum": ["x"]}},
        True,
    ),
    (
        {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        True,
    ),
    # What a hint cannot say.
    (NESTED, {"type": "object"}, False),
    ({"type": "array", "items": NESTED}, {"type": "array", "items": {"type": "object"}}, False),
    ({"type": "integer", "minimum": 1}, {"type": "integer"}, False),
    ({"type": "string", "pattern": "^a"}, {"type": "string"}, False),
    ({"type": "number", "enum": [1, 2.5]}, {"type": ["integer", "number"], "enum": [1, 2.5]}, False),
    ({"enum": [[1], [2]], "type": "array"}, {"type": "array"}, False),
    ({"type": "array", "items": {"type": "string", "description": "One."}}, None, False),  # type: ignore[list-item]
    ({"type": "object", "additionalProperties": False}, {"type": "object"}, False),
    ({"$ref": "#/x"}, {}, False),
]


class Recorder:
    """Says back what it was called with."""

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        return json.dumps([name, arguments])


def bound(made: Tool) -> Any:
    return getattr(type("Made", (Recorder,), {made.name: tool_method(made)})(), made.name)


@pytest.mark.parametrize(("schema", "expected", "exact"), HINTS, ids=lambda value: json.dumps(value)[:40])
def test_a_schema_comes_back_from_its_hint(
    schema: dict[str, Any], expected: dict[str, Any] | None, exact: bool
) -> None:
    assert type_hint(schema).exact is exact
    method = bound(tool("f", {"x": {**schema, "description": "An x."}}, ("x",)))
    got = get_json_schema(method)["function"]["parameters"]["properties"]["x"]
    words = got.pop("description")
    if expected is not None:
        assert got == expected
    # What the hint does not say stands in the description, whole.
    assert words == "An x." if exact else json.loads(words.removeprefix("An x. JSON Schema: ")) == schema


def test_the_json_schema_is_the_tools_own() -> None:
    made = tool(
        "find_flight",
        {
            "origin": {"type": "string", "description": "Where from: (an airport)."},
            "passengers": {"type": "integer", "description": "How many."},
            "cabin": {"type": "string", "enum": ["economy", "business"], "description": "Which."},
            "stops": {"type": "array", "items": {"type": "string"}, "description": "Over which cities."},
        },
        ("origin", "cabin"),
        "Find a flight.\n\nThe cheapest comes first.",
    )
    assert get_json_schema(bound(made)) == made.as_chat()


def test_required_arguments_may_follow_optional_ones_and_defaults_are_told() -> None:
    made = tool("f", {"a": {"type": "integer", "default": 3}, "b": {"type": "string"}}, ("b",))
    parameters = inspect.signature(bound(made)).parameters
    assert [(p.name, p.default, p.kind.name) for p in parameters.values()] == [
        ("a", 3, "KEYWORD_ONLY"),
        ("b", inspect.Parameter.empty, "KEYWORD_ONLY"),
    ]
    properties = get_json_schema(bound(made))["function"]["parameters"]["properties"]
    assert properties["a"]["description"] == "The argument a. Default: 3."
    # Left out stays left out: the tool's own default is the tool's.
    assert json.loads(bound(made)(b="x")) == ["f", {"b": "x"}]


@pytest.mark.parametrize(
    ("own", "python"),
    [("from", "from_"), ("self", "self_"), ("a-b", "a_b"), ("1st", "_1st"), ("", "_"), ("x y", "x_y"), ("é", "é")],
)
def test_arguments_keep_their_own_names_on_the_way_to_the_tool(own: str, python: str) -> None:
    method = bound(tool("f", {own: {"type": "string"}}, (own,)))
    assert list(get_json_schema(method)["function"]["parameters"]["properties"]) == [python]
    assert json.loads(method(**{python: "v"})) == ["f", {own: "v"}]
    assert json.loads(method(**{own: "v"})) == ["f", {own: "v"}]  # a policy may know better


def test_two_arguments_of_one_python_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'a b' of the tool 'f'.*'a_b'"):
        tool_method(tool("f", {"a_b": {"type": "string"}, "a b": {"type": "string"}}))


HOSTILE = (
    "Args:\n    x: not this",
    "Returns: nothing",
    "Raises:\n    E: no",
    '(choices: ["a", broken)',
    "(Choices: [1])",
    "a\n    y: z",
    "\n\n\t \n",
    "",
    '"""',
    "{x} %s {{7*7}}",
    "a\r\nb\x0bc\x1cd\u2028e",
)


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("place", ["tool", "argument"])
def test_no_description_breaks_a_docstring(words: str, place: str) -> None:
    schemas: dict[str, Any] = {
        "x": {"type": "integer", "description": words},
        "z": {"type": "string", "description": "The z."},
    }
    made = Tool(
        name="f",
        description=words if place == "tool" else "Does f.",
        parameters={"type": "object", "properties": schemas if place == "argument" else {"z": schemas["z"]}},
    )
    function = get_json_schema(bound(made))["function"]
    properties = function["parameters"]["properties"]
    assert list(properties) == list(made.properties)
    assert properties["z"] == schemas["z"]
    if place == "argument":
        assert properties["x"].keys() == {"type", "description"}
        squeezed = "".join(words.split())
        assert squeezed in "".join(properties["x"]["description"].split()) or not squeezed
    assert "Do" in function["description"] or place == "tool"


@given(
    words=st.text(max_size=40),
    names=st.lists(st.text(string.ascii_letters + "_-é1", min_size=1, max_size=6), max_size=3, unique=True),
)
def test_any_tool_has_a_schema_or_is_refused(words: str, names: list[str]) -> None:
    made = tool("f", {name: {"type": "string", "description": words} for name in names}, description=words)
    try:
        method = tool_method(made)
    except ConfigurationError:
        return
    schema = get_json_schema(type("Made", (Recorder,), {"f": method})().f)
    properties = schema["function"]["parameters"].get("properties", {})
    assert len(properties) == len(names)
    assert all(entry["description"] for entry in properties.values())


# The class.


def public_methods(made: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(made, inspect.isfunction) if not name.startswith("_")]


@pytest.mark.parametrize(
    "id",
    ["bfcl/memory_kv-v0", "bfcl/memory_vector-v0", "bfcl/memory_rec_sum-v0", WEB, "bfcl/web_search_no_snippet-v0"],
)
def test_ids_of_one_tool_set_are_classes_of_exactly_their_tools(id: str) -> None:
    made = environment_class(id, data="starter")
    tools = {document.name: document for document in make_tool_env(id, data="starter").tasks[0].tools}
    assert public_methods(made) == sorted({*tools, "reset", "get_reward"})
    for name, document in tools.items():
        got = get_json_schema(getattr(made(), name))["function"]
        assert got["description"] == document.description
        assert list(got["parameters"]["properties"]) == list(document.properties)
        assert tuple(got["parameters"].get("required", ())) == document.required
        for argument, schema in document.properties.items():
            told = {key: value for key, value in schema.items() if key != "default"}
            shown = got["parameters"]["properties"][argument]
            assert {**shown, "description": ""} == {**told, "description": ""}
            assert shown["description"].startswith(told["description"])


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("bfcl/multi_turn_base-v0", {"data": "starter"}, "600 of 600 tasks .* scripted user"),
    ("stall/Single-v0", {}, "4 of 4 tasks .* end with their first action"),
    ("apibank/L3-v0", {"data": "starter", "protocol": "dialogue"}, "may find more tools"),
    ("bfcl/agentic-v0", {"data": "starter"}, r"768 tasks .* 4 tool sets \(the largest: 240, 176, 176, 176 tasks\)"),
    ("stall/Finding-v0", {}, "may find more tools"),
    (STALL, {"data": [stall_task(0, "jar"), stall_task(1, "mug", tools=(PRICE,))]}, "2 tool sets"),
    (
        STALL,
        {"data": [stall_task(0, "jar"), stall_task(1, "mug", user_turns=(UserTurn(content="And?"),))]},
        "1 of 2 tasks .* leave them out with tasks=",
    ),
]


@pytest.mark.parametrize(("id", "options", "message"), REFUSED)
def test_ids_that_cannot_be_played_this_way_say_what_can(id: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"(?s){message}.*EpisodeRollouts"):
        environment_class(id, **options)


@pytest.mark.parametrize("name", ["a.b", "get-it", "class", "_hidden", "reset", "get_reward", "1st"])
def test_tools_that_cannot_be_methods_are_named(name: str) -> None:
    wrong = tool(name, {})
    with pytest.raises(ConfigurationError, match=f"the tools '{name}' cannot be methods.*EpisodeRollouts"):
        environment_class(STALL, data=[stall_task(0, "jar", tools=(PRICE, wrong))])


def test_tasks_of_one_set_can_be_chosen_and_several_sets_are_several_environments() -> None:
    mixed = [*TASKS[:2], stall_task(7, "mug", tools=(PRICE,))]
    with_notes = environment_class(STALL, data=mixed, tasks=lambda task: len(task.tools) == 2)
    assert public_methods(with_notes) == ["get_reward", "note", "price", "reset"]
    assert public_methods(environment_class(STALL, data=mixed, tasks=["stall/7"])) == ["get_reward", "price", "reset"]
    both = TrlEnvironments(STALL, data=mixed, max_tool_sets=2)
    assert {name: public_methods(made) for name, made in both.environment_factory.items()} == {  # type: ignore[union-attr]
        f"{STALL}#1": ["get_reward", "note", "price", "reset"],
        f"{STALL}#2": ["get_reward", "price", "reset"],
    }
    rows = list(both.dataset())
    assert [(entry["task"], entry["environment"]) for entry in rows] == [
        ("stall/0", f"{STALL}#1"),
        ("stall/1", f"{STALL}#1"),
        ("stall/7", f"{STALL}#2"),
    ]
    for choice, message in ((["no"], "no task 'no'"), (lambda task: False, "leaves none of the 3 tasks")):
        with pytest.raises(ConfigurationError, match=message):
            environment_class(STALL, data=mixed, tasks=choice)


# Episodes.


def test_an_episode_is_a_tool_envs_own() -> None:
    environment: Any = environment_class(STALL, seed=5)()
    assert environment.reset(**row(1)) is None
    assert environment.price(item="lamp") == "19"
    assert environment.note(from_="me", lines=["lamp: 19"]) == "2"
    assert hear([environment], [[say("19")]]) == [0.0]
    assert environment.get_reward() == 1.0

    episode: Episode = environment._episode
    env = make_tool_env(STALL, split="train", dialect="hermes", observation="delta")
    env.reset(seed=episode.seed, options={"task": episode.task_id})
    for step in episode.steps:
        *_, info = env.step(step.action)
    assert info["episode"].to_json() == episode.to_json()
    assert [call.arguments for call in episode.calls()] == [{"item": "lamp"}, {"from": "me", "lines": ["lamp: 19"]}]


def test_one_environment_an_instance_and_a_reset_leaves_nothing_behind() -> None:
    made = environment_class(STALL)
    first: Any = made()
    second: Any = made()
    fresh: Any = made()
    fresh.reset(**row(2))
    expected = [fresh.note(from_="a"), fresh.note(from_="b")]
    for environment in (first, second, first):  # the first is used again
        environment.reset(**row(2))
    assert first._env is not second._env
    texts = [first.note(from_="a"), second.note(from_="a"), first.note(from_="b"), second.note(from_="b")]
    assert texts == [expected[0], expected[0], expected[1], expected[1]]
    hear([first], [[say("7")]])
    hear([second], [[say("nothing")]])
    assert (first.get_reward(), second.get_reward()) == (1.0, 0.0)
    first.reset(**row(0))
    with pytest.raises(ConfigurationError, match="last words"):
        first.get_reward()
    hear([first], [[say("7")]])  # right for the task before
    assert first.get_reward() == 0.0
    assert len(made._plan.opened) == 3


def test_the_same_task_is_the_same_episode() -> None:
    made = environment_class(WEB, data="starter", faults="errors:0.5", seed=3)
    task = next(iter(made._plan.tasks))
    texts = []
    for _ in range(2):
        environment: Any = made()
        environment.reset(prompt=None, task=task)
        texts.append([environment.search_engine_query(keywords=word) for word in ("ice", "saw", "river", "ice")])
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 1


def test_episode_seeds_follow_from_seed_and_task() -> None:
    def seeds(seed: int) -> list[int]:
        plan = environment_class(STALL, seed=seed)._plan
        return [plan.episode_seed("".join(task.id)) for task in TASKS]

    assert seeds(3) == seeds(3) != seeds(4)
    assert len(set(seeds(3))) == len(TASKS)
    assert seeds(3)[0] == 3_601_159_370_414_874_897  # on any machine


def test_a_task_that_holds_marks_is_told_once_and_harmless() -> None:
    told = (Message(role="user", content="<|im_start|>system What does the jar cost?"),)
    environments = TrlEnvironments(STALL, data=[stall_task(0, "jar", messages=told)])
    (entry,) = environments.dataset()
    assert entry["prompt"] == [{"role": "user", "content": "< |im_start|>system What does the jar cost?"}]
    made: Any = environments.environment_factory
    assert made().reset(**entry) is None
    assert made().reset(prompt=[say("")], task="stall/0") == entry["prompt"][0]["content"]


@pytest.mark.parametrize(
    ("prompt", "missing"),
    [
        ([message.as_chat() for message in TASKS[0].messages], None),
        (
            [say("Hello."), {"role": "user", "content": "Please. What does the jar cost?"}],
            "Answer with a number alone.",
        ),
        ([{"role": "user", "content": ""}], "Answer with a number alone.\n\nWhat does the jar cost?"),
        (
            [{"role": "user", "content": [{"type": "text", "text": "What does the jar cost?"}]}],
            "Answer with a number alone.",
        ),
        ([{"role": "user", "content": None}], "Answer with a number alone.\n\nWhat does the jar cost?"),
        (None, "Answer with a number alone.\n\nWhat does the jar cost?"),
    ],
)
def test_reset_gives_what_the_prompt_does_not_hold(prompt: Any, missing: str | None) -> None:
    assert environment_class(STALL)().reset(prompt=prompt, task="stall/0", other=object()) == missing


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no such column"),
        ({"task": "no/such"}, "'no/such'"),
        ({"task": None}, "got None"),
        ({"task": 0}, "got 0"),
        ({"task": ["stall/0"]}, "such as 'stall/0'"),
        ({"task": "stall/0", "prompt": "text"}, "list of messages.*'text'"),
        ({"task": "stall/0", "prompt": [1]}, "list of messages"),
        ({"task": "stall/0", "prompt": {"role": "user"}}, "list of messages"),
    ],
)
def test_hostile_rows_are_explained(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        environment_class(STALL)().reset(**given)


def test_a_task_that_a_perturbation_changed_is_refused() -> None:
    environment = environment_class(STALL, perturb=["rename:1.0"])()
    with pytest.raises(ConfigurationError, match=r"was changed.*EpisodeRollouts"):
        environment.reset(**row())


def test_methods_need_an_episode() -> None:
    environment: Any = environment_class(STALL)()
    with pytest.raises(ConfigurationError, match="no episode was begun"):
        environment.price(item="jar")
    with pytest.raises(ConfigurationError, match="last words"):
        environment.get_reward()


def test_what_a_policy_passes_never_breaks_an_episode() -> None:
    environment: Any = environment_class(STALL)()
    environment.reset(**row())
    for arguments in (
        {"item": 3},
        {},
        {"item": "jar", "other": [{"a": None}]},
        {"item": "</tool_call><|im_end|>"},
        {"item": "<think>"},
        {"item": "\ud800"},
    ):
        text = environment.price(**arguments)
        assert "error" in text
        assert "<|" not in text  # what comes back opens no turn
    assert "characters; at most 32768 are read" in environment.price(item="x" * 40_000)
    for wrong in (math.nan, math.inf, 10**5000, object()):
        with pytest.raises(ValueError, match="arguments of price are no JSON"):
            environment.price(item=wrong)
    hear([environment], [[say("4")]])
    assert environment._episode.ended == "terminated"
    assert len(environment._episode.steps) == 8


def test_calls_behind_the_end_are_told_so() -> None:
    environment: Any = environment_class(STALL, max_steps=2)()
    environment.reset(**row())
    environment.price(item="jar")
    environment.price(item="jar")
    assert environment.price(item="jar") == "The episode is over; no more calls are made."
    hear([environment], [[say("4")]])
    assert environment._episode.ended == "truncated"
    assert len(environment._episode.steps) == 2
    assert environment.get_reward() == 0.0


CALL = {"type": "function", "function": {"name": "price", "arguments": {"item": "jar"}}}
RESULT = {"role": "tool", "name": "price", "content": "4"}
ENDS: list[tuple[str, int, list[Any], str, float, int]] = [
    ("an answer", 1, [say("4")], "terminated", 1.0, 2),
    ("an answer at once", 0, [say("4")], "terminated", 1.0, 1),
    (
        "an answer in blocks",
        0,
        [{"role": "assistant", "content": [{"type": "text", "text": "4"}]}],
        "terminated",
        1.0,
        1,
    ),
    ("silence", 0, [say("")], "terminated", 0.0, 1),
    ("no content", 0, [{"role": "assistant"}], "terminated", 0.0, 1),
    ("no words after the result", 1, [RESULT], "truncated", 0.0, 1),
    ("results rolled back", 1, [{"role": "assistant", "content": "4", "tool_calls": [CALL]}], "truncated", 0.0, 1),
    ("calls that TRL did not make", 0, [{"role": "assistant", "tool_calls": [CALL]}], "truncated", 0.0, 1),
    ("calls that are none", 0, [{"role": "assistant", "tool_calls": [{"type": "x"}, 3]}], "terminated", 0.0, 1),
    ("nothing", 0, [], "terminated", 0.0, 1),
    ("a call that breaks off", 0, [say('<tool_call>{"name": "pri')], "truncated", 0.0, 1),
]


@pytest.mark.parametrize(
    ("calls", "completion", "ended", "paid", "steps"), [end[1:] for end in ENDS], ids=[e[0] for e in ENDS]
)
def test_how_a_completion_ends_is_how_the_episode_ends(
    calls: int, completion: list[Any], ended: str, paid: float, steps: int
) -> None:
    environment: Any = environment_class(STALL)()
    environment.reset(**row())
    for _ in range(calls):
        environment.price(item="jar")
    for _ in range(2):  # hearing the same words again changes nothing
        assert hear([environment], [completion]) == [0.0]
    assert environment._episode.ended == ended
    assert environment.get_reward() == paid
    assert len(environment._episode.steps) == steps


def test_an_unknown_return_is_none_all_the_way() -> None:
    register_reward("unknown_for_lamps", unknown_for_lamps)
    rubric = Rubric(name="unknown", weights={"unknown_for_lamps": 1.0})
    made = environment_class(STALL, rubric=rubric)
    environments = [made(), made(), object()]
    logged: dict[str, float] = {}
    for number, environment in enumerate(environments[:2]):
        environment.reset(**row(number))  # type: ignore[attr-defined]
    paid = hear(environments, [[say("4")], [say("19")], [say("x")]], log_metric=logged.__setitem__, task=["", "", ""])
    assert paid == [0.0, None, None]
    assert [environment.get_reward() for environment in environments[:2]] == [1.0, None]  # type: ignore[attr-defined]
    assert logged == {f"{STALL}/truncated": 0.0, f"{STALL}/unknown_for_lamps": 1.0}


def test_completions_that_are_text_are_refused() -> None:
    environment: Any = environment_class(STALL)()
    environment.reset(**row())
    with pytest.raises(ConfigurationError, match="list of messages, got str"):
        hear([environment], ["4"])


def test_environments_are_closed_together() -> None:
    environments = TrlEnvironments(STALL)
    made: Any = environments.environment_factory
    environment = made()
    environment.reset(**row())
    environments.close()
    assert made._plan.opened == []
    with pytest.raises(gym.error.ResetNeeded):
        environment._env.step("x")


# TRL itself.

TEMPLATE = (
    "{% for tool in tools or [] %}{{ '# ' + tool.function.name + ' ' + tool.function.parameters.properties | join(' ') "
    "+ '\\n' }}{% endfor %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
    "{% for call in m.tool_calls or [] %}{{ '<tool_call>' + call.function | tojson + '</tool_call>' }}{% endfor %}"
    "{{ eos_token + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<end>\s*", "content": "text"},
    },
}


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy

    texts = [json.dumps(task.to_dict()) for task in TASKS]
    model, tokenizer = build_tiny_policy(
        [*texts, "<|im_start|>assistant\n<tool_call></tool_call>"],
        TinyPolicyConfig(vocabulary=400, hidden=32, layers=1, heads=2, context=2_048),
    )
    tokenizer.chat_template, tokenizer.response_template = TEMPLATE, RESPONSE
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


def make_trainer(tiny: tuple[Any, Any], environments: TrlEnvironments, out: Any, **more: Any) -> Any:
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = copy.deepcopy(tiny)
    arguments = GRPOConfig(
        output_dir=str(out),
        max_steps=2,
        per_device_train_batch_size=8,
        num_generations=2,
        max_completion_length=200,
        learning_rate=1e-3,
        beta=0.0,
        use_cpu=True,
        bf16=False,
        activation_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    return GRPOTrainer(
        model=model,
        args=arguments,
        processing_class=tokenizer,
        train_dataset=environments.dataset(),
        environment_factory=environments.environment_factory,
        reward_funcs=[*environments.reward_funcs, *more.get("reward_funcs", ())],
    )


def scripted(trainer: Any, write: Callable[[str, int], str]) -> list[list[str]]:
    """Let a script write in place of the model; everything else is TRL's. What it was shown, a list a generation."""
    tokenizer = trainer.processing_class
    shown: list[list[str]] = []

    def generate(prompts: Any, images: Any, fields: Any, num_generations: int = 1, **more: Any) -> tuple[Any, None]:
        shown.append([tokenizer.decode(ids) for ids in prompts])
        written = [write(text, number) for number, text in enumerate(shown[-1])]
        ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in written]
        return [[*one, tokenizer.eos_token_id] for one in ids], None

    trainer._generate_single_turn = generate
    return shown


def stall_policy(conversation: str, number: int) -> str:
    """Looks up the price and says it; every other rollout adds one."""
    item = next(item for item in PRICES if f"What does the {item} cost?" in conversation)
    answer = conversation.rpartition("<|im_start|>tool\n")[2] if "<|im_start|>tool\n" in conversation else ""
    if not answer:
        return f"<tool_call>{json.dumps({'name': 'price', 'arguments': {'item': item}})}</tool_call>"
    value = int(answer.partition("<end>")[0])
    return str(value + number % 2)


def test_trl_plays_episodes_and_is_paid_their_returns(tiny: tuple[Any, Any], tmp_path: Any) -> None:
    environments = TrlEnvironments(STALL)
    seen: list[dict[str, Any]] = []

    def watch(**columns: Any) -> list[None]:
        seen.append({key: list(columns[key]) for key in ("prompts", "completions", "environments", "completion_ids")})
        return [None] * len(columns["prompts"])

    trainer = make_trainer(tiny, environments, tmp_path, reward_funcs=[watch])
    shown = scripted(trainer, stall_policy)
    trainer.train()
    log = [entry for entry in trainer.state.log_history if "rewards/StallPrices/mean" in entry]
    assert [entry["reward"] for entry in log] == [0.5, 0.5]  # half of each pair is right, and nothing is paid twice
    assert [entry["rewards/StallPrices/mean"] for entry in log] == [0.5, 0.5]
    assert [entry[f"{STALL}/truncated"] for entry in log] == [0.0, 0.0]
    assert [entry["tools/call_frequency"] for entry in log] == [1.0, 1.0]
    assert [entry["tools/failure_frequency"] for entry in log] == [0.0, 0.0]
    for prompts in shown[::2]:
        for text in prompts:
            assert text.count("What does the ") == 1  # the task's text, once, with the tools before it
            assert text.count("Answer with a number alone.") == 1
            assert text.startswith("# note from_ lines\n# price item\n<|im_start|>system\n")
    assert len({id(environment._env) for environment in seen[0]["environments"]}) == 8
    assert seen[0]["environments"] == seen[1]["environments"]  # pooled, and reset
    for completion, environment in zip(seen[1]["completions"], seen[1]["environments"], strict=True):
        assert [message["role"] for message in completion] == ["assistant", "tool", "assistant"]
        episode = environment._episode
        assert completion[1]["content"] in episode.steps[0].observation
        assert episode.steps[-1].action == completion[-1]["content"]
        assert environment.get_reward() == episode.episode_return
    environments.close()


def test_trl_routes_rows_to_their_environments_and_truncates_what_its_budget_cuts(
    tiny: tuple[Any, Any], tmp_path: Any
) -> None:
    mixed = [*TASKS[:2], *(stall_task(number, "mug", tools=(PRICE,)) for number in (7, 8))]
    environments = TrlEnvironments(STALL, data=mixed, max_tool_sets=2)
    played: list[tuple[str, str]] = []

    def watch(environments: Any, **columns: Any) -> list[None]:
        played.extend((type(one).__name__, one._episode.ended) for one in environments)
        return [None] * len(environments)

    trainer = make_trainer(tiny, environments, tmp_path, reward_funcs=[watch])
    trainer.args.max_steps = 1
    # The mug's rows call on and on, until TRL's budget of 200 tokens is spent.
    shown = scripted(
        trainer,
        lambda text, number: stall_policy(text.replace("<|im_start|>tool\n", "") if "the mug" in text else text, 0),
    )
    trainer.train()
    assert sorted(set(played)) == [("StallPrices1", "terminated"), ("StallPrices2", "truncated")]
    for text in shown[0]:
        assert ("# note" in text) is ("the mug" not in text)
    (entry,) = [entry for entry in trainer.state.log_history if "reward" in entry and "loss" in entry]
    assert (entry["rewards/StallPrices1/mean"], entry["rewards/StallPrices2/mean"]) == (1.0, 0.0)
    assert entry[f"{STALL}/truncated"] == 0.5
    environments.close()


def test_without_the_reward_function_the_trainer_stops_with_the_mend(tiny: tuple[Any, Any], tmp_path: Any) -> None:
    environments = TrlEnvironments(STALL)
    trainer = make_trainer(tiny, environments, tmp_path)
    trainer.reward_funcs = trainer.reward_funcs[1:]
    trainer.reward_func_names = trainer.reward_func_names[1:]
    trainer.reward_processing_classes = trainer.reward_processing_classes[1:]
    scripted(trainer, stall_policy)
    with pytest.raises(ConfigurationError, match="pass reward_funcs"):
        trainer.train()


@pytest.mark.slow
def test_a_real_model_trains_on_a_registered_id(tiny: tuple[Any, Any], tmp_path: Any) -> None:
    environments = TrlEnvironments(WEB, data="starter", tasks=lambda task: task.id.endswith(tuple("0123")))
    trainer = make_trainer(tiny, environments, tmp_path)
    trainer.train()
    log = [entry for entry in trainer.state.log_history if "rewards/BfclWebSearchBase/mean" in entry]
    assert len(log) == 2
    assert all(math.isfinite(entry["reward"]) and math.isfinite(entry["grad_norm"]) for entry in log)
    assert all(f"{WEB}/bfcl_answer" in entry for entry in log)
    environments.close()
