"""PPO on tokens: a TokenEnv is its ToolEnv, and the module reads each window as the model alone would."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from callgym import Episode, GoldCall, Message, Score, Task, Tool, ToolCall, UserTurn
from callgym.data import DataSource
from callgym.envs.base import Protocol, ToolEnv, make_tool_env
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.rewards import Rubric, register_reward
from callgym.tool_backends import PythonBackend, World
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
from callgym.trainers.warmup import oracle_rows, oracle_texts, train_on_rows

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")

from callgym.trainers.rllib.causal_module import CausalLMModule, aligned, load_causal_model, prefix_leaders  # noqa: E402
from callgym.trainers.rllib.token_config import TokenCallbacks, ppo_config, register_token_env, trained_model  # noqa: E402
from callgym.trainers.rllib.token_env import TokenEnv, token_spaces  # noqa: E402

SHOP, BELL = "tokens/Shop-v0", "tokens/Bell-v0"
CHATML = (
    "{% for t in tools or [] %}{{ t.function.name }} {% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


# A dialogue of two turns, with other tools from task to task.


def tool(name: str, key: str) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return Tool(name=name, description=f"{name}.", parameters=schema)


def shop_task(number: int) -> Task:
    name, key = (("Buy", "thing"), ("Sell", "what"))[number % 2]
    things = ("jar", "kettle", "lamp", "mug")[number], ("pot", "rug")[number % 2]
    calls = tuple((GoldCall.of(ToolCall(name=name, arguments={key: thing})),) for thing in things)
    return Task(
        id=f"shop/{number}",
        family="shop",
        split="train",
        messages=(Message(role="user", content=f"{name} a {things[0]}{' , if you please' * number}."),),
        user_turns=(UserTurn(content=f"And a {things[1]}."),),
        tools=(tool(name, key),),
        goal=CallsGoal(turns=calls),
    )


def trade(world: World, **arguments: str) -> str:
    return "done"


class BellEnv(ToolEnv):
    """The first turn of the shop alone."""

    family: ClassVar[str] = "shop"
    default_dialect: ClassVar[str] = "apibank-short"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        tasks = [shop_task(number) for number in range(4)]
        return tuple(
            task.model_copy(update={"user_turns": (), "goal": CallsGoal(turns=task.goal.turns[:1])})
            for task in tasks
            if isinstance(task.goal, CallsGoal)
        )

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"Buy": trade, "Sell": trade})


class ShopEnv(ToolEnv):
    family: ClassVar[str] = "shop"
    protocol: Protocol = "dialogue"
    default_dialect: ClassVar[str] = "apibank-short"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        return tuple(shop_task(number) for number in range(4))

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"Buy": trade, "Sell": trade})


IDS: dict[str, dict[str, Any]] = {
    SHOP: {},
    "apibank/L1-v0": {"data": "starter", "dialect": "apibank-short"},  # step
    "bfcl/simple_python-v0": {"data": "starter", "split": "test"},  # single
    "bfcl/multi_turn_base-v0": {"data": "starter", "split": "test"},  # dialogue
}


@pytest.fixture(scope="module", autouse=True)
def _one_thread_and_the_shop() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    gym.register(SHOP, entry_point=f"{__name__}:ShopEnv", kwargs={"data": "starter"})
    gym.register(BELL, entry_point=f"{__name__}:BellEnv", kwargs={"data": "starter"})
    yield
    del gym.registry[SHOP], gym.registry[BELL]
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tiny(_one_thread_and_the_shop: None) -> tuple[Any, Any]:
    texts = [*oracle_texts(SHOP), *oracle_texts("apibank/L1-v0", limit=10, data="starter")]
    return build_tiny_policy(texts, TinyPolicyConfig(vocabulary=400, hidden=32, layers=2, context=256))


@pytest.fixture
def tokenizer(tiny: tuple[Any, Any]) -> Any:
    return tiny[1]


def make(tokenizer: Any, id: str = SHOP, **options: Any) -> TokenEnv:
    given = {"window": 256, "max_action_tokens": 4_096, "env_options": IDS[id], **options}
    return TokenEnv(id, tokenizer, **given)


def encode(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def write(env: TokenEnv, text: str, end: int | None = None) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """Write an action token by token, and its end; returns what the last token gave."""
    *ids, last = [*encode(env.tokenizer, text), env.tokenizer.eos_token_id if end is None else end]
    for id in ids:
        _, reward, terminated, truncated, info = env.step(id)
        assert (reward, terminated, truncated, info) == (0.0, False, False, {})
    return env.step(last)


def play(env: TokenEnv, seed: int, task: int) -> tuple[list[float], Episode]:
    """An episode of the oracle: the rewards at the ends of actions, and the record."""
    env.reset(seed=seed, options={"task": task})
    rewards, done = [], False
    while not done:
        _, reward, terminated, truncated, info = write(env, env.tool_env.oracle_action())
        rewards.append(reward)
        done = terminated or truncated
    return rewards, info["episode"]


def seen(observation: dict[str, Any]) -> list[int]:
    ids: list[int] = observation["tokens"][len(observation["tokens"]) - int(observation["length"][0]) :].tolist()
    return ids


# The environment.


@pytest.mark.parametrize("id", IDS)
def test_an_episode_of_tokens_is_the_episode_of_texts(id: str, tokenizer: Any) -> None:
    env = make(tokenizer, id)
    text_env = make_tool_env(id, **{"split": "train", **IDS[id], "observation": "delta"})
    for task in range(3):
        text_env.reset(seed=task, options={"task": task})
        expected, done = [], False
        while not done:
            _, reward, terminated, truncated, info = text_env.step(text_env.oracle_action())
            expected.append(reward)
            done = terminated or truncated
        rewards, episode = play(env, seed=task, task=task)
        assert rewards == expected
        assert episode.to_json() == info["episode"].to_json()


@pytest.mark.parametrize("id", [SHOP, "apibank/L1-v0"])
def test_gymnasium_accepts_the_environment(id: str, tokenizer: Any) -> None:
    check_env(make(tokenizer, id, window=64, max_action_tokens=8))


def test_the_mask_parts_what_was_written_from_what_was_said(tokenizer: Any) -> None:
    env = make(tokenizer)
    _, episode = play(env, 0, 1)
    conversation = env.conversation
    end = [tokenizer.eos_token_id]
    mine = [id for id, mask in zip(conversation.completion_ids, conversation.mask, strict=True) if mask]
    theirs = [id for id, mask in zip(conversation.completion_ids, conversation.mask, strict=True) if not mask]
    assert mine == [id for step in episode.steps for id in encode(tokenizer, step.action) + end]
    assert theirs == [id for step in episode.steps[:-1] for id in encode(tokenizer, step.observation)]


def test_the_window_is_the_conversation_so_far(tokenizer: Any) -> None:
    env = make(tokenizer)
    observation, info = env.reset(seed=0, options={"task": 2})
    assert info["task_id"] == "shop/2"
    assert tokenizer.decode(seen(observation)) == make_tool_env(SHOP, split="train").reset(options={"task": 2})[0]
    for id in encode(tokenizer, "[Buy("):
        before = seen(observation)
        observation = env.step(id)[0]
        assert seen(observation) == [*before, id]
    assert seen(write(env, "thing='lamp')]")[0]) == env.conversation.ids


def test_a_full_window_keeps_the_last_tokens(tokenizer: Any) -> None:
    whole, short = make(tokenizer), make(tokenizer, window=12)
    for env in (whole, short):
        env.reset(seed=0, options={"task": 0})
    for id in encode(tokenizer, "[Buy(thing='jar')]"):
        long, last = whole.step(id)[0], short.step(id)[0]
        assert seen(last) == seen(long)[-12:]
        assert last["length"] == 12
    assert write(short, "")[4]["action"] == "[Buy(thing='jar')]"
    assert play(short, 0, 0)[1].episode_return == 1.0


def test_a_spelled_action_is_read_as_it_was_written(tokenizer: Any) -> None:
    env = make(tokenizer)
    env.reset(seed=0, options={"task": 0})
    ids = [id for letter in "[Buy(thing='jar')]" for id in encode(tokenizer, letter)]
    for id in ids:
        env.step(id)
    assert env.step(tokenizer.eos_token_id)[4]["action"] == "[Buy(thing='jar')]"
    assert env.conversation.completion_ids[: len(ids)] == ids


@pytest.mark.parametrize(("finished", "paid"), [(0, 0.0), (1, 1 / 6), (2, 0.25)])
def test_an_action_that_is_cut_off_is_not_sent(finished: int, paid: float, tokenizer: Any) -> None:
    env = make(tokenizer, max_action_tokens=24)
    env.reset(seed=5, options={"task": 0})
    for _ in range(finished):
        write(env, env.tool_env.oracle_action())
    filler = encode(tokenizer, " a")[0]
    whole = encode(tokenizer, "[Buy(thing='pot')]")
    for id in [*whole, *[filler] * (23 - len(whole))]:
        assert not env.step(id)[3]
    _, reward, terminated, truncated, info = env.step(filler)
    episode = info["episode"]
    assert (terminated, truncated, info["scored"]) == (False, True, True)
    assert (episode.ended, len(episode.steps), episode.seed) == ("truncated", finished + 1, 5)
    assert episode.steps[-1].calls == ()  # on record, not made
    assert info["cut"] == episode.steps[-1].action
    assert info["cut"].startswith("[Buy(thing='pot')]")
    assert reward == pytest.approx(episode.episode_return)
    assert episode.episode_return == pytest.approx(paid)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(filler)


def test_step_limit_of_the_tool_env_is_a_truncation(tokenizer: Any) -> None:
    env = make(tokenizer, env_options={"max_steps": 2})
    env.reset(seed=0, options={"task": 0})
    write(env, "[Buy(thing='jar')]")
    _, _, terminated, truncated, info = write(env, "[Buy(thing='jar')]")
    assert (terminated, truncated, info["cut"]) == (False, True, "")
    assert info["episode"].ended == "truncated"


def test_rewards_sum_to_the_return_where_steps_are_paid(tokenizer: Any) -> None:
    rubric = Rubric(name="steps", weights={"call_exact_match": 1.0}, steps={"call_progress": 1.0})
    env = make(tokenizer, env_options={"rubric": rubric}, max_action_tokens=24)
    rewards, episode = play(env, 0, 0)
    assert sum(rewards) == pytest.approx(episode.episode_return)
    env.reset(seed=0, options={"task": 0})
    paid = write(env, env.tool_env.oracle_action())[1]
    assert paid > 0
    for _ in range(24):
        _, reward, _, truncated, info = env.step(encode(tokenizer, " a")[0])
    assert truncated
    assert paid + reward == pytest.approx(info["episode"].episode_return)


def test_an_unknown_return_is_not_a_number(tokenizer: Any) -> None:
    env = make(tokenizer, env_options={"rubric": unknown_rubric()})
    env.reset(seed=0, options={"task": 0})
    for text in ("[Buy(thing='jar')]", "Done.", "[Buy(thing='pot')]", "Done."):
        _, reward, terminated, _, info = write(env, text)
    assert terminated
    assert math.isnan(reward)
    assert info["scored"] is False
    assert info["episode"].episode_return is None


def nobody_knows(task: Task, episode: Episode) -> Score:
    return Score(value=None)


def unknown_rubric() -> Rubric:
    register_reward("nobody_knows", nobody_knows)
    return Rubric(name="unknown", weights={"nobody_knows": 1.0})


@given(
    st.lists(st.integers(0, 399), min_size=1, max_size=80), st.sampled_from([SHOP, "apibank/L1-v0"]), st.integers(0, 3)
)
def test_whatever_a_policy_writes_is_played(tiny: tuple[Any, Any], ids: list[int], id: str, task: int) -> None:
    env = make(tiny[1], id, window=20, max_action_tokens=9)
    observation, _ = env.reset(seed=0, options={"task": task})
    for token in ids:
        assert env.observation_space.contains(observation)
        observation, reward, terminated, truncated, info = env.step(token)
        assert math.isfinite(reward)
        if terminated or truncated:
            assert info["episode"].ended in ("terminated", "truncated")
            observation, _ = env.reset()


def test_random_tokens_for_many_episodes(tokenizer: Any) -> None:
    env = make(tokenizer, "bfcl/multi_turn_base-v0", window=32, max_action_tokens=12)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    ended = 0
    for _ in range(1_500):
        token = int(rng.integers(400)) if rng.random() < 0.8 else tokenizer.eos_token_id
        _, _, terminated, truncated, _ = env.step(token)
        if terminated or truncated:
            ended += 1
            env.reset()
    assert ended > 50


def test_the_same_seed_plays_the_same_episodes(tokenizer: Any) -> None:
    runs = [played_tasks(make(tokenizer, "apibank/L1-v0", stream=stream)) for stream in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def played_tasks(env: TokenEnv) -> list[tuple[str, int]]:
    env.reset(seed=3)
    played = []
    for _ in range(8):
        episode = write(env, "[]")[4]["episode"]
        played.append((episode.task_id, episode.seed))
        env.reset()
    return played


def test_long_tasks_are_left_out(tokenizer: Any) -> None:
    env = make(tokenizer)
    sizes = {task: env._prompt_tokens(task) for task in env.task_ids}
    most = sorted(sizes.values())[1]
    assert make(tokenizer, max_prompt_tokens=most).task_ids == tuple(t for t in sizes if sizes[t] <= most)
    with pytest.raises(ConfigurationError, match="at most 2 tokens"):
        make(tokenizer, max_prompt_tokens=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": 0}, "window is a whole number of at least 1"),
        ({"max_action_tokens": True}, "max_action_tokens is a whole number"),
        ({"tasks": ["shop/9"]}, "has no task 'shop/9'"),
        ({"env_options": {"colour": "red"}}, "takes no option"),
        ({"tokenizer": "/nowhere"}, "no tokenizer can be loaded"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], words: str, tokenizer: Any) -> None:
    with pytest.raises(ConfigurationError, match=words):
        make(options.pop("tokenizer", tokenizer), **options)


def test_steps_outside_of_the_contract_raise(tokenizer: Any) -> None:
    env = make(tokenizer)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(3)
    env.reset(seed=0)
    for token in (-1, len(tokenizer)):
        with pytest.raises(gym.error.InvalidAction):
            env.step(token)
    with pytest.raises(ConfigurationError, match="reset knows the option 'task'"):
        env.reset(options={"sweep": True})


def test_a_chat_template_writes_the_turns_and_ends_the_actions(tokenizer: Any) -> None:
    chat = copy.deepcopy(tokenizer)
    chat.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    chat.chat_template = CHATML
    env = make(chat, env_options={"dialect": "hermes"})
    observation, _ = env.reset(seed=0, options={"task": 0})
    assert chat.decode(seen(observation)).endswith("<|im_start|>assistant\n")
    end = chat.convert_tokens_to_ids("<|im_end|>")
    action = env.tool_env.oracle_action()
    observation, _, terminated, _, info = write(env, action, end=end)
    assert (info["action"], terminated) == (action, False)
    text = chat.decode(seen(observation))
    assert text.count("<|im_end|>") == 3  # the user's, the policy's, the tool's
    assert text.endswith("<|im_start|>assistant\n")
    assert env.conversation.completion_ids[: len(encode(chat, action)) + 1] == [*encode(chat, action), end]


# The module.


def module(model: Any, tokenizer: Any, window: int = 64, **config: Any) -> CausalLMModule:
    observations, actions = token_spaces(tokenizer, window)
    settings = {"model": model, "tokens": len(tokenizer), "never": [tokenizer.pad_token_id], **config}
    return CausalLMModule(observation_space=observations, action_space=actions, model_config=settings)


def windows(rows: Sequence[Sequence[int]], window: int = 64) -> dict[str, Any]:
    tokens = torch.zeros((len(rows), window), dtype=torch.int32)
    for number, row in enumerate(rows):
        if row:
            tokens[number, window - len(row) :] = torch.tensor(row, dtype=torch.int32)
    return {"tokens": tokens, "length": torch.tensor([[len(row)] for row in rows], dtype=torch.int32)}


def batch_of_episodes(rng: np.random.Generator) -> list[list[int]]:
    """Windows of three episodes: growing, one token or several at a time, the last twice, as RLlib gives them."""
    rows: list[list[int]] = []
    for length in (5, 9, 3):
        row = rng.integers(2, 400, length).tolist()
        for grows in (1, 1, 6, 1):
            rows.append(row)
            row = row + rng.integers(2, 400, grows).tolist()
        rows += [row, row]
    return rows


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma2"])
def test_each_window_is_read_as_the_model_alone_would(kind: str, tiny: tuple[Any, Any]) -> None:
    model = tiny[0] if kind == "llama" else other_model(kind)
    rows = batch_of_episodes(np.random.default_rng(0))
    reader = module(model, tiny[1], rows=4)
    logits, _ = reader._read(windows(rows))
    sampled = reader.forward_inference({"obs": windows(rows)})["action_dist_inputs"]  # in parts of 4 rows
    model.eval()
    for row, one, other in zip(rows, logits, sampled, strict=True):
        alone = model(input_ids=torch.tensor([row])).logits[0, -1, : len(tiny[1])]
        torch.testing.assert_close(one[1:], alone[1:], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(other[1:], alone[1:], rtol=1e-4, atol=1e-5)


def other_model(kind: str) -> Any:
    from transformers import AutoModelForCausalLM, Gemma2Config, GPT2Config

    torch.manual_seed(0)
    config: Any
    if kind == "gpt2":  # learnt positions, dropout
        config = GPT2Config(vocab_size=410, n_embd=16, n_layer=1, n_head=2, n_positions=64)
    else:  # bends its logits behind the head
        config = Gemma2Config(
            vocab_size=410, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=2, head_dim=8, final_logit_softcapping=0.05, attn_implementation="eager",
        )  # fmt: skip
    return AutoModelForCausalLM.from_config(config)


def test_an_episode_is_read_once() -> None:
    rows = batch_of_episodes(np.random.default_rng(1))
    tokens, lengths = aligned(windows(rows)["tokens"].long(), windows(rows)["length"].long().reshape(-1))
    leaders = prefix_leaders(tokens, lengths)
    assert leaders.tolist() == [5] * 6 + [11] * 6 + [17] * 6
    for row, leader in enumerate(leaders.tolist()):
        assert rows[leader][: len(rows[row])] == rows[row]


def test_overflowed_windows_are_not_taken_for_prefixes() -> None:
    rows = [[1, 2, 3, 4], [2, 3, 4, 5], [2, 3, 4, 5], [7, 7, 7, 7]]
    given = windows(rows, window=4)
    assert prefix_leaders(*aligned(given["tokens"].long(), given["length"].long().reshape(-1))).tolist() == [0, 2, 2, 3]


def test_gradients_are_those_of_single_windows(tiny: tuple[Any, Any]) -> None:
    rows = batch_of_episodes(np.random.default_rng(2))
    gradients = []
    for together in (True, False):
        reader = module(tiny[0], tiny[1], value_trains_model=True)
        torch.nn.init.ones_(reader.value_head.weight)
        parts = [rows] if together else [[row] for row in rows]
        for part in parts:
            found = reader.forward_train({"obs": windows(part)})
            values = reader.compute_values({"obs": windows(part)}, embeddings=found["embeddings"])
            (found["action_dist_inputs"].log_softmax(-1)[:, 5].sum() + values.sum()).backward()
        gradients.append([p.grad for p in reader.parameters() if p.grad is not None])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_padding_is_never_written_and_costs_nothing(tiny: tuple[Any, Any]) -> None:
    reader = module(tiny[0], tiny[1], keep_logits=True)
    found = reader.forward_exploration({"obs": windows([[5, 6], []])})
    distribution = reader.get_exploration_action_dist_cls().from_logits(found["action_dist_inputs"])
    assert distribution._dist.probs[:, tiny[1].pad_token_id].tolist() == [0.0, 0.0]
    assert torch.isfinite(distribution.entropy()).all()
    assert torch.isfinite(distribution.kl(distribution)).all()


def test_sampling_keeps_no_logits_unless_told(tiny: tuple[Any, Any]) -> None:
    reader = module(tiny[0], tiny[1])
    obs = {"obs": windows([[5, 6], [7]])}
    sampled = reader.forward_exploration(obs)
    assert sampled["action_dist_inputs"].shape == (2, 1)
    assert sampled["action_dist_inputs"].isnan().all()
    logits = reader.forward_inference(obs)["action_dist_inputs"]
    expected = logits.log_softmax(-1).gather(1, sampled["actions"][:, None])[:, 0]
    torch.testing.assert_close(sampled["action_logp"], expected)


def test_the_value_trains_the_model_only_if_told(tiny: tuple[Any, Any]) -> None:
    for told in (False, True):
        reader = module(tiny[0], tiny[1], value_trains_model=told)
        torch.nn.init.ones_(reader.value_head.weight)
        batch = {"obs": windows([[5, 6]])}
        reader.compute_values(batch, embeddings=reader.forward_train(batch)["embeddings"]).sum().backward()
        assert reader.value_head.weight.grad.abs().sum() > 0
        assert any(p.grad is not None for p in reader.model.parameters()) is told


def test_training_has_no_dropout() -> None:
    model = other_model("gpt2")
    observations, actions = token_spaces(range(400), 8)
    reader = CausalLMModule(
        observation_space=observations, action_space=actions, model_config={"model": model, "tokens": 400}
    )
    batch = {"obs": windows([[5, 6, 7]], window=8)}
    torch.testing.assert_close(
        reader.forward_train(batch)["action_dist_inputs"], reader.forward_inference(batch)["action_dist_inputs"]
    )


def test_models_come_from_folder_config_or_memory(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    model = tiny[0]
    model.save_pretrained(tmp_path)
    for source in (str(tmp_path), tmp_path, model):
        loaded = load_causal_model(source)
        assert loaded is not model
        torch.testing.assert_close(list(loaded.parameters()), list(model.parameters()))
    assert load_causal_model(model.config).num_parameters() == model.num_parameters()
    for wrong, words in ((str(tmp_path / "no"), "no model can be loaded"), (3, "got int")):
        with pytest.raises(ConfigurationError, match=words):
            load_causal_model(wrong)


def test_a_copy_of_a_trained_model_computes_with_its_own_weights(tiny: tuple[Any, Any]) -> None:
    model = copy.deepcopy(tiny[0])
    model.forward = model.forward  # as accelerate leaves it: bound to this very model
    copied = load_causal_model(model)
    with torch.no_grad():
        copied.lm_head.weight.zero_()
    assert copied(input_ids=torch.tensor([[5, 6]])).logits.abs().sum() == 0
    assert model(input_ids=torch.tensor([[5, 6]])).logits.abs().sum() > 0


def test_a_module_that_does_not_fit_is_refused(tiny: tuple[Any, Any]) -> None:
    with pytest.raises(ConfigurationError, match="don't belong together"):
        module(tiny[0], tiny[1], tokens=401)
    with pytest.raises(ConfigurationError, match="window=300 is more than the 256"):
        module(tiny[0], tiny[1], window=300)


# RLlib.


def small(tiny: tuple[Any, Any], id: str = "apibank/L1-v0", **options: Any) -> Any:
    given: dict[str, Any] = {
        "window": 160,
        "max_action_tokens": 8,
        "batch_tokens": 96,
        "minibatch_tokens": 96,
        "epochs": 1,
    }
    given |= {"num_envs_per_env_runner": 4, "learning_rate": 1e-3, "env_options": IDS[id]}
    return ppo_config(id, *tiny, **{**given, **options})


def test_what_is_asked_for_reaches_rllib(tiny: tuple[Any, Any]) -> None:
    config = small(tiny, num_gpus_per_learner=0.5, num_learners=1, num_env_runners=3, seed=7, learning_rate=0.25)
    assert (config.num_gpus_per_learner, config.num_learners, config.num_env_runners) == (0.5, 1, 3)
    assert (config.seed, config.lr, config.gamma, config.lambda_) == (7, 0.25, 1.0, 1.0)
    assert (config.batch_mode, config.use_kl_loss) == ("truncate_episodes", False)


@pytest.mark.slow
def test_an_iteration_in_this_process(ray_cluster: Any, tiny: tuple[Any, Any]) -> None:
    algorithm = small(tiny).build_algo()
    first = trained_model(algorithm)
    torch.testing.assert_close(list(first.parameters()), list(tiny[0].parameters()))
    result = algorithm.train()
    assert 0.0 <= result["env_runners"]["episode_return_mean"] <= 1.0
    assert result["env_runners"]["callgym"]["cut_off"] > 0
    trained = trained_model(algorithm)
    played = algorithm.env_runner_group.local_env_runner.module.model
    torch.testing.assert_close(list(trained.parameters()), list(played.parameters()))
    algorithm.stop()


@pytest.mark.slow
def test_rllibs_actors_play(ray_cluster: Any, tiny: tuple[Any, Any]) -> None:
    algorithm = small(tiny, num_env_runners=1, use_kl_loss=True).build_algo()
    result = algorithm.train()
    assert result["env_runners"]["num_episodes"] > 0
    assert result["env_runners"]["num_env_steps_sampled"] >= 96
    assert math.isfinite(result["learners"]["default_policy"]["mean_kl_loss"])
    algorithm.stop()


class Runner:
    """What the callbacks touch of RLlib's environment runner."""

    def __init__(self, done: list[Any]) -> None:
        self._done_episodes_for_metrics = done
        self._ongoing_episodes_for_metrics: dict[str, list[Any]] = {}


def rllib_episode(reward: float, scored: bool, ended: str | None) -> Any:
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode

    return SingleAgentEpisode(
        observations=[0, 1],
        actions=[0],
        rewards=[reward],
        infos=[{}, {"scored": scored} if ended else {}],
        terminated=ended == "terminated",
        truncated=ended == "truncated",
        len_lookback_buffer=0,
    )


def test_an_unknown_return_never_reaches_the_learner() -> None:
    known, unknown, running = (
        rllib_episode(1.0, True, "terminated"),
        rllib_episode(math.nan, False, "terminated"),
        rllib_episode(0.0, True, None),
    )
    samples, runner = [known, unknown, running], Runner([known, unknown])
    runner._ongoing_episodes_for_metrics[unknown.id_] = []
    TokenCallbacks().on_sample_end(env_runner=runner, samples=samples)
    assert samples == [known, running]
    assert runner._done_episodes_for_metrics == [known]
    assert runner._ongoing_episodes_for_metrics == {}


def test_a_batch_without_any_known_return_is_said() -> None:
    samples = [rllib_episode(math.nan, False, "truncated")]
    with pytest.warns(UserWarning, match="nothing to learn from"):
        TokenCallbacks().on_sample_end(env_runner=Runner(list(samples)), samples=samples)
    assert samples == []


def test_no_value_is_added_to_the_return_of_a_truncated_episode() -> None:
    cut, running = rllib_episode(0.5, True, "truncated"), rllib_episode(0.0, True, None)
    TokenCallbacks().on_sample_end(env_runner=Runner([cut]), samples=[cut, running])
    assert (cut.is_terminated, cut.is_truncated) == (True, False)
    assert (running.is_terminated, running.is_truncated) == (False, False)


def test_an_id_that_is_not_registered_is_named() -> None:
    with pytest.raises(ConfigurationError, match="'no/Such-v0' is not registered"):
        register_token_env("no/Such-v0")


def careless_rows(tokenizer: Any) -> list[dict[str, Any]]:
    """Episodes of one action; in half of them it is another task's."""
    rows = list(oracle_rows(BELL, tokenizer))
    parts = [(sum(label == -100 for label in row["labels"]), row["input_ids"]) for row in rows]
    mixed = []
    for size, prompt in parts:
        for other_size, other in [*parts, (size, prompt), (size, prompt)]:
            action = other[other_size:]
            mixed.append({"input_ids": prompt[:size] + action, "labels": [-100] * size + action})
    return mixed


@pytest.mark.slow
def test_ppo_raises_the_return(ray_cluster: Any) -> None:
    model, tokenizer = build_tiny_policy(
        oracle_texts(BELL), TinyPolicyConfig(vocabulary=330, hidden=64, layers=1, context=128)
    )
    train_on_rows(model, tokenizer, careless_rows(tokenizer), steps=60, batch=14, learning_rate=1e-2, seed=0)
    config = ppo_config(
        BELL, model, tokenizer, window=100, max_action_tokens=16, learning_rate=1e-3, value_learning_rate=2e-3,
        batch_tokens=768, minibatch_tokens=768, num_envs_per_env_runner=16,
    )  # fmt: skip
    algorithm = config.build_algo()
    returns = [float(algorithm.train()["env_runners"]["episode_return_mean"]) for _ in range(8)]
    algorithm.stop()
    assert 0.3 < returns[0] < 0.8, returns
    assert sum(returns[-3:]) / 3 > returns[0] + 0.25, returns
