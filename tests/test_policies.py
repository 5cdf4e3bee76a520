"""The policies that need no server: what they write, and that it depends on their situation alone."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ENVIRONMENTS, Message, Task, Tool, ToolCall, UserTurn
from callgym.dialects import DIALECTS
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.bfcl.categories import GROUPS
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.random_values import NoValue, random_arguments
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.seat import Seat
from callgym.rollouts.transformers_policy import TransformersPolicy
from callgym.schema import ToolSchema
from callgym.tool_backends import PythonBackend, World

GROUP_IDS = {f"bfcl/{name}-v0" for name in GROUPS}
"""Unions of other ids."""


def add(world: World, number: int) -> int:
    world.state["sum"] += number
    total: int = world.state["sum"]
    return total


ADD = Tool(
    name="Add",
    description="Add a number to the sum.",
    parameters={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)


def make_task(number: int) -> Task:
    turns = tuple((GoldCall.of(ToolCall(name="Add", arguments={"number": number + turn})),) for turn in range(2))
    return Task(
        id=f"add-{number}",
        family="sums",
        split="test",
        messages=(Message(role="user", content=f"Add {number}."),),
        tools=(ADD,),
        user_turns=(UserTurn(content=f"Now add {number + 1}."),),
        goal=CallsGoal(turns=turns),
        initial_state={"sum": 0},
    )


class SumsEnv(ToolEnv):
    family = "sums"
    protocol = "dialogue"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"data": tuple(make_task(number) for number in range(5)), "max_steps": 5, **options})

    def make_backend(self, source: Any) -> PythonBackend:
        return PythonBackend({"Add": add})


def situation_of(env: gym.Env[Any, Any], task: int = 0, seed: int = 0) -> Situation:
    observation, info = env.reset(seed=seed, options={"task": task})
    tool_env = env.unwrapped
    assert isinstance(tool_env, ToolEnv)
    return Situation(tool_env, observation, observation, tuple(info["messages"]), tuple(info["tools"]), seed)


# Scripted policies.


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("observation", ["prompt", "delta"])
@pytest.mark.parametrize("name", ["oracle", "abstain", "random", "echo"])
def test_every_policy_plays_a_dialogue(name: str, observation: str, dialect: str) -> None:
    options = {"dialect": dialect, "observation": observation}
    result = run_episodes(SumsEnv, get_policy(name), episodes=5, env_options=options, progress=False)
    summary = result.summary
    assert summary.unknown == 0
    if name == "oracle":
        assert summary.return_mean == 1.0
        assert all(len(episode.steps) == 4 for episode in result.episodes)
    else:
        assert summary.return_mean is not None
        assert summary.return_mean < 0.4
    if name == "abstain":
        assert all(len(episode.steps) == 2 for episode in result.episodes)
        assert summary.errors == {}
    if name == "random":  # it calls until it is stopped, and never wrongly
        assert all(episode.ended == "truncated" and len(episode.calls()) == 5 for episode in result.episodes)
        assert summary.errors == {}


def test_echo_says_what_it_was_shown() -> None:
    situation = situation_of(SumsEnv())
    assert get_policy("echo").act([situation]) == [situation.observation]


def test_abstaining_is_paid_where_it_is_right() -> None:
    task = make_task(1).model_copy(update={"goal": DecisionGoal(decision="decline"), "user_turns": ()})
    result = run_episodes(SumsEnv, get_policy("abstain"), episodes=1, env_options={"data": (task,)}, progress=False)
    assert result.summary.return_mean == 1.0


def test_random_calls_come_from_the_seed_alone() -> None:
    situations = [situation_of(SumsEnv(), seed=seed) for seed in range(8)]
    policy = get_policy("random")
    together = policy.act(situations)
    random.seed(1)
    assert [policy.act([situation])[0] for situation in reversed(situations)] == together[::-1]
    assert len(set(together)) > 4


FOLDERS = {"apibank": "api_bank", "bfcl": "bfcl"}
"""Family to the folder of its official files."""


@cache
def all_tools(official: Path | None) -> list[Tool]:
    """A tool of each schema, from starter or official tasks: those that come later in a dialogue, too."""
    found: dict[str, Tool] = {}
    for entry in ENVIRONMENTS:
        if entry.family not in FOLDERS or entry.id in GROUP_IDS:
            continue
        data = "starter" if official is None else str(official / FOLDERS[entry.family])
        for task in make_tool_env(entry.id, data=data).tasks:
            for tool in (*task.tools, *(tool for turn in task.user_turns for tool in turn.add_tools)):
                found.setdefault(json.dumps(tool.parameters), tool)
    return list(found.values())


@pytest.mark.parametrize(
    ("dialect", "data"),
    [*((dialect, "starter") for dialect in sorted(DIALECTS)), ("apibank", "official"), ("hermes", "official"),
     ("python", "official"), ("qwen3-coder", "official")],
)  # fmt: skip
def test_random_calls_are_valid_on_every_tool(dialect: str, data: str, request: pytest.FixtureRequest) -> None:
    tools = all_tools(None if data == "starter" else request.getfixturevalue("official_data"))
    assert len(tools) > (250 if data == "starter" else 3000)
    draws = 6 if data == "starter" else 3
    situation = situation_of(SumsEnv(dialect=dialect))
    policy = get_policy("random")
    different = 0
    for tool in tools:
        schema = ToolSchema(tool)
        actions = policy.act([replace(situation, tools=(tool.as_chat(),), seed=seed) for seed in range(draws)])
        different += len(set(actions)) > 1 or not tool.properties
        for action in actions:
            parsed = DIALECTS[dialect].parse(action)
            assert [call.name for call in parsed.calls] == [tool.name]
            arguments = parsed.calls[0].arguments
            assert schema.check(arguments if DIALECTS[dialect].typed else schema.coerce(arguments)) is None
    assert different == len(tools) or (different > 0.98 * len(tools) and data == "official")


HARD_SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 5, "maximum": 5},
    {"type": "integer", "exclusiveMinimum": -3, "exclusiveMaximum": -1},
    {"type": "integer", "multipleOf": 7, "minimum": 50},
    {"type": "integer", "maximum": -1000},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001},
    {"type": "number", "minimum": 1.5, "maximum": 1.5},
    {"type": "number", "multipleOf": 0.5},
    {"type": "string", "minLength": 60, "maxLength": 61},
    {"type": "string", "maxLength": 0},
    {"type": "string", "enum": ["a", "b'c", 'd"e', "[f]"]},
    {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
    {"type": "string", "pattern": "^AX-[0-9]+$", "examples": ["AX-17"]},
    {"type": "string", "format": "email"},
    {"const": {"a": [1, None]}, "type": "object"},
    {"type": ["null", "boolean"]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 6},
    {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
    {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}},
    {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "number"}},
     "required": ["b"], "additionalProperties": False}}, "required": ["a"]},
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2},
    {"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 1, "maxProperties": 1},
    {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "integer", "minimum": 900}]},
    {"oneOf": [{"type": "object", "properties": {"kind": {"const": "x"}}, "required": ["kind"]}, {"type": "null"}]},
    {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 4}]},
    {"$ref": "#/$defs/tree"},
    {"type": "string", "not": {"enum": ["tea", "Rome"]}},
]  # fmt: skip
TREE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["value"],
}


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("schema", HARD_SCHEMAS, ids=lambda schema: json.dumps(schema)[:60])
def test_random_calls_are_valid_on_hard_schemas(schema: dict[str, Any], dialect: str) -> None:
    parameters: dict[str, Any] = {
        "type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False,
        "$defs": {"tree": TREE},
    }  # fmt: skip
    if "allOf" in schema and not DIALECTS[dialect].typed:
        pytest.skip("a dialect without types takes them from 'type' alone: no such call can be written in it")
    tool = Tool(name="Hard", parameters=parameters)
    task = make_task(1).model_copy(update={"tools": (tool,)})
    backend = PythonBackend({"Hard": lambda world, x: "done"})
    options = {"data": (task,), "dialect": dialect, "max_steps": 8, "backend": backend}
    result = run_episodes(SumsEnv, get_policy("random"), episodes=4, env_options=options, progress=False)
    assert result.summary.errors == {}
    assert all(len(episode.calls()) == 8 for episode in result.episodes)


scalars = st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda kind: {"type": kind})
bounds = st.integers(-50, 50)
schemas = st.recursive(
    scalars
    | st.builds(lambda a, b: {"type": "integer", "minimum": min(a, b), "maximum": max(a, b)}, bounds, bounds)
    | st.builds(lambda a, b: {"type": "number", "exclusiveMinimum": a, "maximum": a + abs(b) + 1}, bounds, bounds)
    | st.builds(
        lambda a, b: {"type": "string", "minLength": a, "maxLength": a + b}, st.integers(0, 30), st.integers(0, 9)
    )
    | st.lists(st.text(max_size=5) | st.integers() | st.booleans(), min_size=1, max_size=4).map(lambda v: {"enum": v}),
    lambda inner: (
        st.builds(lambda i, n: {"type": "array", "items": i, "minItems": n}, inner, st.integers(0, 3))
        | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=4).map(
            lambda p: {"type": "object", "properties": p, "required": sorted(p)[:2], "additionalProperties": False}
        )
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts})
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text("xyz", min_size=1, max_size=3), schemas, max_size=4), st.integers(0, 2**32))
def test_drawn_arguments_fit_any_plain_schema(properties: dict[str, Any], seed: int) -> None:
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "required": sorted(properties)}
    arguments = random_arguments(parameters, random.Random(seed))
    assert ToolSchema(Tool(name="T", parameters=parameters)).check(arguments) is None


@pytest.mark.parametrize(
    "impossible",
    [{"enum": []}, {"type": "integer", "minimum": 3, "maximum": 2}, False, {"$ref": "#/$defs/x"}, {"$ref": "#"},
     {"$ref": "http://elsewhere"}, {"type": "array", "items": {"enum": [1]}, "uniqueItems": True, "minItems": 2}],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(impossible: Any) -> None:
    with pytest.raises(NoValue):
        random_arguments({"properties": {"x": impossible}, "required": ["x"]}, random.Random(0))


def test_a_tool_that_cannot_be_called_is_passed_over() -> None:
    never: dict[str, Any] = {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "^$^never"}},
        "required": ["x"],
    }
    situation = situation_of(SumsEnv())
    tools = (Tool(name="Never", parameters=never).as_chat(), ADD.as_chat())
    policy = get_policy("random")
    for seed in range(6):
        assert '"Add"' in policy.act([replace(situation, tools=tools, seed=seed)])[0]
    refusal = get_policy("abstain").act([situation])
    assert policy.act([replace(situation, tools=tools[:1])]) == refusal
    assert policy.act([replace(situation, tools=())]) == refusal


# By name.


@pytest.mark.parametrize("name", ["oracel", "", "hf:", "openai:gpt", "openai:@http://x", "openai:m@ftp://x"])
def test_unknown_policies_are_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match="there are: oracle, abstain"):
        get_policy(name)


def test_unknown_options_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"'oracle'.*temperature.*its options are: none"):
        get_policy("oracle", temperature=1)
    with pytest.raises(ConfigurationError, match=r"temprature.*its options are: .*temperature"):
        get_policy("openai:m@http://x/v1", temprature=1)


# Transformers.

TEMPLATE = (
    "{% if tools %}<tools>{{ tools | length }}{% for t in tools %} {{ t.function.name }}{% endfor %}</tools>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture(scope="module")
def tiny() -> Iterator[tuple[Any, Any]]:
    """A random Llama, and a byte-level tokenizer trained on a few words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<pad>", "<end>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    raw.train_from_iterator(["Add the number. Now add another number to the sum."] * 4, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<end>")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more only wait for each other on a model of this size
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=2048, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
    )  # fmt: skip
    yield transformers.LlamaForCausalLM(config).float(), tokenizer
    torch.set_num_threads(threads)


def situations_of_many_lengths() -> list[Situation]:
    situations = [situation_of(SumsEnv(), task=index % 5, seed=index) for index in range(7)]
    return [replace(s, prompt=s.prompt[: 20 + 37 * index]) for index, s in enumerate(situations)]


SAMPLING = [
    {"temperature": 0.0},
    {"temperature": 1.0},
    {"temperature": 0.7, "top_p": 0.8},
]


@pytest.mark.parametrize("sampling", SAMPLING, ids=str)
def test_a_batch_writes_what_each_row_writes_alone(tiny: Any, sampling: dict[str, Any]) -> None:
    situations = situations_of_many_lengths()
    policies = [TransformersPolicy(*tiny, max_new_tokens=12, batch_size=n, **sampling) for n in (1, 3, 16)]
    one, three, all_ = (policy.act(situations) for policy in policies)
    assert one == three == all_
    assert policies[2].act(situations[::-1]) == one[::-1]
    assert len(set(one)) == 7


def test_greedy_writes_what_the_library_generates(tiny: Any) -> None:
    import torch

    model, tokenizer = tiny
    situations = situations_of_many_lengths()
    expected = []
    for situation in situations:
        ids = tokenizer(situation.prompt, return_tensors="pt").input_ids
        out = model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=12
        )[0, ids.shape[1] :].tolist()  # fmt: skip
        out = out[: out.index(tokenizer.eos_token_id)] if tokenizer.eos_token_id in out else out
        expected.append(tokenizer.decode(out, clean_up_tokenization_spaces=False))
    assert TransformersPolicy(model, tokenizer, max_new_tokens=12).act(situations) == expected


def test_padding_moves_no_position_of_a_model_that_counts_them(tiny: Any) -> None:
    import torch
    import transformers

    tokenizer = tiny[1]
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=1024, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    situations = situations_of_many_lengths()
    one, all_ = (TransformersPolicy(model, tokenizer, max_new_tokens=12, batch_size=n) for n in (1, 16))
    assert one.act(situations) == all_.act(situations)


def test_sampling_follows_the_seed_and_the_distribution(tiny: Any) -> None:
    import torch

    model, tokenizer = tiny
    base = situations_of_many_lengths()[0]
    situations = [replace(base, seed=seed) for seed in range(600)]
    policy = TransformersPolicy(model, tokenizer, max_new_tokens=1, temperature=1.0, batch_size=600)
    drawn = policy.act(situations)
    assert policy.act(situations) == drawn
    with torch.no_grad():
        logits = model(tokenizer(base.prompt, return_tensors="pt").input_ids).logits[0, -1]
    likely = logits.argmax().item()
    probability = torch.softmax(logits, -1)[likely].item()
    share = sum(text == tokenizer.decode([likely]) for text in drawn) / 600
    assert share == pytest.approx(probability, abs=4 * (probability * (1 - probability) / 600) ** 0.5)
    narrow = TransformersPolicy(model, tokenizer, max_new_tokens=1, temperature=1.0, top_p=1e-6, batch_size=600)
    assert set(narrow.act(situations)) == {tokenizer.decode([likely])}


def test_the_end_token_ends_an_action_and_is_not_in_it(tiny: Any) -> None:
    model, tokenizer = tiny
    situations = situations_of_many_lengths()
    policy = TransformersPolicy(model, tokenizer, max_new_tokens=24)
    endless = policy.act(situations)
    token = policy._generate([policy._encode(situations[3])], [0])[0][5]
    old = model.generation_config.eos_token_id
    model.generation_config.eos_token_id = [old, token]
    try:
        ended = TransformersPolicy(model, tokenizer, max_new_tokens=24).act(situations)
    finally:
        model.generation_config.eos_token_id = old
    assert len(ended[3]) < len(endless[3])
    again = TransformersPolicy(model, tokenizer, max_new_tokens=24)._generate([policy._encode(situations[3])], [0])[0]
    assert ended[3] == tokenizer.decode(again[: again.index(token)])


def test_a_chat_template_is_used_where_there_is_one(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = tiny
    situations = [situation_of(SumsEnv(), task=index, seed=index) for index in range(4)]
    plain = TransformersPolicy(model, tokenizer, max_new_tokens=8)
    assert plain._encode(situations[0]) == tokenizer(situations[0].prompt).input_ids
    monkeypatch.setattr(tokenizer, "chat_template", TEMPLATE)
    chat = TransformersPolicy(model, tokenizer, max_new_tokens=8)
    asked = f"<tools>1 Add</tools><user>{situations[0].messages[0]['content']}<end><assistant>"
    assert tokenizer.decode(chat._encode(situations[0])) == asked
    together = chat.act(situations)
    assert [chat.act([situation])[0] for situation in situations] == together
    assert together != plain.act(situations)
    text = TransformersPolicy(model, tokenizer, max_new_tokens=8, chat_template=False)
    assert text.act(situations) == plain.act(situations)


def test_a_template_that_refuses_is_explained(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = tiny
    with pytest.raises(ConfigurationError, match="no chat template"):
        TransformersPolicy(model, tokenizer, chat_template=True)
    monkeypatch.setattr(tokenizer, "chat_template", "{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ConfigurationError, match=r"roles must alternate.*chat_template=False"):
        TransformersPolicy(model, tokenizer, chat_template=True).act([situation_of(SumsEnv())])


@pytest.mark.parametrize("template", [None, TEMPLATE])
@pytest.mark.parametrize("observation", ["prompt", "delta"])
def test_a_model_plays_a_dialogue(
    tiny: Any, template: str | None, observation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = tiny
    monkeypatch.setattr(tokenizer, "chat_template", template)
    results = [
        run_episodes(
            SumsEnv,
            TransformersPolicy(model, tokenizer, max_new_tokens=6, temperature=1.0),
            episodes=4,
            batch_size=size,
            env_options={"observation": observation},
            progress=False,
        )
        for size in (1, 3)
    ]
    assert [e.to_json() for e in results[0].episodes] == [e.to_json() for e in results[1].episodes]
    assert all(len(episode.steps) >= 2 for episode in results[0].episodes)


def test_too_long_prompts_are_cut_at_the_left_and_that_is_said_once(tiny: Any) -> None:
    model, tokenizer = tiny
    policy = TransformersPolicy(model, tokenizer, max_new_tokens=4)
    base = situation_of(SumsEnv())
    long = [replace(base, prompt="word " * 3000 + ending) for ending in ("one", "two")]
    with pytest.warns(UserWarning, match="the model reads 2044 beside max_new_tokens=4") as caught:
        actions = policy.act(long)
    assert len(caught) == 1
    kept = policy._encode(long[0])
    assert len(kept) == 2044
    assert tokenizer.decode(kept).endswith("word one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert policy.act(long) == actions
    with pytest.raises(ConfigurationError, match="leaves no room"):
        TransformersPolicy(model, tokenizer, max_new_tokens=2048)


def test_the_model_is_left_as_it_was(tiny: Any) -> None:
    import torch

    model, tokenizer = tiny
    model.train()
    model.model.layers[0].eval()
    before = [module.training for module in model.modules()]
    state = torch.random.get_rng_state()
    TransformersPolicy(model, tokenizer, max_new_tokens=2, temperature=1.0).act([situation_of(SumsEnv())])
    assert [module.training for module in model.modules()] == before
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(parameter.grad is None for parameter in model.parameters())
    loss = model(input_ids=torch.tensor([[3, 4, 5]]), labels=torch.tensor([[3, 4, 5]])).loss
    loss.backward()  # nothing of the rollout is in the way
    model.zero_grad()
    model.eval()


def test_a_model_is_loaded_from_a_folder(tiny: Any, tmp_path: Path) -> None:
    model, tokenizer = tiny
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    policy = get_policy(f"hf:{tmp_path / 'model'}", max_new_tokens=8, device="cpu")
    assert policy.name == f"hf:{tmp_path / 'model'}"
    situations = situations_of_many_lengths()
    assert policy.act(situations) == TransformersPolicy(model, tokenizer, max_new_tokens=8).act(situations)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="no model can be loaded from"):
        get_policy(f"hf:{tmp_path / 'empty'}")


@pytest.mark.parametrize(
    "wrong",
    [{"max_new_tokens": 0}, {"temperature": -1}, {"temperature": float("nan")}, {"top_p": 0}, {"batch_size": 0}],
)
def test_wrong_options_of_a_model_are_named(tiny: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        TransformersPolicy(*tiny, **wrong)


def test_a_seat_refuses_what_ends_without_a_record() -> None:
    class Forgetful(gym.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            observation, reward, _, _, info = self.env.step(action)
            return observation, reward, False, True, info

    policy = get_policy("oracle")
    with pytest.raises(ConfigurationError, match="does a wrapper end episodes"):
        run_episodes(lambda: Forgetful(SumsEnv()), policy, episodes=1, progress=False)
    assert Seat(SumsEnv()).tool_env.env_id == "SumsEnv"
