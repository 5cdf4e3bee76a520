"""Choice among offered actions: the offers, their features, the environment, and PPO on it through RLlib."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from callgym.envs.base import make_tool_env
from callgym.episode import Score
from callgym.errors import ConfigurationError
from callgym.rewards import Rubric, register_reward
from callgym.trainers.rllib.candidate_env import CandidateEnv
from callgym.trainers.rllib.candidate_features import bag_of_words, message_text, tools_text

IDS = (
    "apibank/L1-v0",
    "apibank/L2-v0",
    "apibank/L3-v0",
    "bfcl/parallel_multiple-v0",
    "bfcl/irrelevance-v0",
    "bfcl/multi_turn_base-v0",
    "bfcl/memory_kv-v0",
    "bfcl/web_search_base-v0",
    "when2call/open-v0",
)
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def make(id: str = "apibank/L1-v0", **options: Any) -> CandidateEnv:
    return CandidateEnv(id, **{"data": "starter", **options})


@pytest.fixture(scope="module")
def level_1() -> CandidateEnv:
    return make()


def play(env: CandidateEnv, policy: Callable[[CandidateEnv], int], **reset: Any) -> float:
    env.reset(**reset)
    total, done = 0.0, False
    while not done:
        _, reward, terminated, truncated, _ = env.step(policy(env))
        total, done = total + reward, terminated or truncated
    return total


def digest(env: CandidateEnv, seed: int) -> str:
    """All bytes of an episode in which the first candidate is chosen each time."""
    found = hashlib.blake2b()
    observation, info = env.reset(seed=seed)
    done = False
    while True:
        for name in sorted(observation):
            found.update(observation[name].tobytes())
        found.update(repr(info["candidates"]).encode())
        if done:
            return found.hexdigest()
        observation, reward, terminated, truncated, info = env.step(0)
        found.update(repr(reward).encode())
        done = terminated or truncated


# The environment.


@pytest.mark.parametrize("id", ["apibank/L1-v0", "bfcl/multi_turn_base-v0"])
def test_gymnasiums_checker_accepts_it(id: str) -> None:
    check_env(make(id), skip_render_check=True)


@pytest.mark.parametrize("id", IDS)
def test_the_oracles_action_is_always_offered_and_earns_1(id: str) -> None:
    env = make(id)
    plain = make_tool_env(id, data="starter")
    for n in range(12):
        env.reset(seed=n, options={"task": n})
        plain.reset(seed=n, options={"task": n})
        total, done = 0.0, False
        while not done:
            wanted = plain.oracle_action()
            assert env.candidates[env.oracle_action()] == wanted
            _, reward, terminated, truncated, info = env.step(env.oracle_action())
            assert info["chosen"] == wanted
            plain.step(wanted)
            total, done = total + reward, terminated or truncated
        assert total == 1.0


def test_a_dialogue_gets_a_new_offer_every_turn() -> None:
    env = make(protocol="dialogue")
    _, info = env.reset(seed=3)
    offers = [info["candidates"]]
    done = False
    while not done:
        observation, _, terminated, truncated, info = env.step(env.oracle_action())
        done = terminated or truncated
        offers.append(info["candidates"])
    assert len(offers) > 3
    assert len(set(offers)) == len(offers)
    assert offers[-1] == ()
    assert observation["action_mask"].sum() == 0
    assert observation["query"].any()
    with pytest.raises(gym.error.ResetNeeded, match="nothing is on offer"):
        env.oracle_action()
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_options_of_the_environment_behind_it_are_passed_on() -> None:
    env = make(dialect="hermes", split="train", perturb=["rename"], max_steps=3)
    assert (env.tool_env.dialect.name, env.tool_env.split, env.tool_env.max_steps) == ("hermes", "train", 3)
    env.reset(seed=0, options={"task": 0})
    assert play(env, CandidateEnv.oracle_action, seed=0) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 1}, "candidates is a whole number of at least 2, got 1"),
        ({"features": 0}, "features is a whole number of at least 1, got 0"),
        ({"candidates": True}, "got True"),
        ({"nonsense": 1}, "takes no option"),
        ({"split": "nowhere"}, "nowhere"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make(**options)


@pytest.mark.parametrize("action", [-1, 8, 1.5, "0", None])
def test_an_action_that_is_no_place_is_refused(level_1: CandidateEnv, action: Any) -> None:
    level_1.reset(seed=0)
    with pytest.raises(gym.error.InvalidAction, match="a number below 8"):
        level_1.step(action)


def test_a_return_that_could_not_be_computed_is_nan() -> None:
    env = make(rubric=unknown_rubric(1.0))
    env.reset(seed=0)
    *_, info = step = env.step(env.oracle_action())
    assert math.isnan(step[1])
    assert info["episode"].episode_return is None


# Offers.


@given(seed=st.integers(0, 2**63 - 1), count=st.integers(2, 20), id=st.sampled_from(IDS))
def test_every_offer_is_sound(seed: int, count: int, id: str) -> None:
    env = cached(id, count)
    observation, info = env.reset(seed=seed)
    assert observation in env.observation_space
    offered = info["candidates"]
    assert 2 <= len(offered) <= count
    assert len(set(offered)) == len(offered)
    assert offered.count(env.tool_env.oracle_action()) == 1
    assert offered[env.oracle_action()] == env.tool_env.oracle_action()
    assert observation["action_mask"].tolist() == [1.0] * len(offered) + [0.0] * (count - len(offered))
    assert not observation["candidates"][len(offered) :].any()
    again, _ = env.reset(seed=seed)
    assert all(again[name].tobytes() == observation[name].tobytes() for name in again)
    assert env.candidates == offered


_cached: dict[tuple[str, int], CandidateEnv] = {}


def cached(id: str, count: int) -> CandidateEnv:
    if (id, count) not in _cached:
        _cached[id, count] = make(id, candidates=count, features=32)
    return _cached[id, count]


def test_places_without_a_candidate_are_masked_and_say_nothing() -> None:
    task = next(task for task in make().tool_env.tasks if task.goal.kind == "decision")
    env = make(data=[task.model_copy(update={"tools": ()})], candidates=40)
    observation, info = env.reset(seed=0)
    offered = len(info["candidates"])
    assert 8 < offered < 40
    assert observation["action_mask"].sum() == offered
    *_, info = env.step(39)
    assert info["chosen"] == ""
    assert info["episode"].steps[0].action == ""


def test_the_place_of_the_right_action_is_uniform(level_1: CandidateEnv) -> None:
    places: Counter[int] = Counter()
    for seed in range(800):
        level_1.reset(seed=seed)
        places[level_1.oracle_action()] += 1
    # 100 a place are expected. The sum is over 24.3 once in a thousand draws of a uniform place (chi square, 7).
    assert math.fsum((places[place] - 100) ** 2 / 100 for place in range(8)) < 24.3


def test_policies_that_do_not_read_the_conversation_earn_little(level_1: CandidateEnv) -> None:
    def most_alike(env: CandidateEnv) -> int:
        bags = np.stack([bag_of_words((text,), 512) for text in env.candidates])
        bags /= np.linalg.norm(bags, axis=1, keepdims=True)
        return int((bags @ bags.T).sum(1).argmax())

    def alone_calls(env: CandidateEnv) -> int:
        calls = [n for n, text in enumerate(env.candidates) if text.startswith("[")]
        return max(calls, key=lambda n: len(env.candidates[n]))

    def length(env: CandidateEnv) -> Callable[[int], int]:
        return lambda n: len(env.candidates[n])

    policies: dict[str, Callable[[CandidateEnv], int]] = {
        **{f"place {n}": (lambda env, n=n: n) for n in range(8)},  # type: ignore[misc]
        "longest": lambda env: max(range(8), key=length(env)),
        "shortest": lambda env: min(range(8), key=length(env)),
        "longest call": alone_calls,
        "most alike": most_alike,
    }
    returns: dict[str, list[float]] = {name: [] for name in policies}
    for n in range(150):
        level_1.reset(seed=n, options={"task": n})
        chosen = {name: policy(level_1) for name, policy in policies.items()}
        # Policies choose the same places again and again: each is played once.
        paid = {place: play(level_1, lambda env: place, seed=n, options={"task": n}) for place in set(chosen.values())}  # noqa: B023
        for name, place in chosen.items():
            returns[name].append(paid[place])
    means = {name: math.fsum(found) / len(found) for name, found in returns.items()}
    assert max(means.values()) < 0.35, means
    assert min(means.values()) > 0.0, means  # they play: the task that no tool fits pays any words


def test_as_many_candidates_are_words_where_a_call_is_due_as_where_none_is(level_1: CandidateEnv) -> None:
    words: dict[str, Counter[int]] = {"calls": Counter(), "decision": Counter()}
    stock = "None of the tools can do that."
    for n in range(300):
        level_1.reset(seed=n, options={"task": n})
        words[level_1.tool_env.task.goal.kind][sum(not text.startswith("[") for text in level_1.candidates)] += 1
        assert stock in level_1.candidates
    assert set(words["decision"]) == set(words["calls"]) == {3}


# Features.


def test_episodes_are_the_same_to_the_byte_in_another_process() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from test_rllib_candidates import digest, make; "
        "print(digest(make(protocol='dialogue'), 11), digest(make(), 5))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [digest(make(protocol="dialogue"), 11), digest(make(), 5)]


def test_a_bag_is_pinned() -> None:
    bag = bag_of_words(["[FindBook(title='Wild Ferryman', n='2')]"], 4096)
    assert bag.dtype == np.float32
    # find, book, findbook, title, wild, ferryman, n, 2, six pairs, and the ending.
    assert np.flatnonzero(bag).tolist() == [
        518, 817, 823, 978, 1028, 1660, 2155, 2586, 2845, 2990, 3158, 3305, 3585, 3597, 3789
    ]  # fmt: skip


def test_half_surrogates_and_deep_values_are_read() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert bag_of_words(["\ud800 x"], 16).any()
    message = {"content": None, "tool_calls": [{"function": {"name": "Add", "arguments": {"a": deep, "b": {"c": 2}}}}]}
    assert message_text(message) == "Add a 1 b c 2"
    assert tools_text([{"function": {"name": "Add"}}]) == ["Add  "]


def test_features_depend_on_texts_alone(level_1: CandidateEnv) -> None:
    observation, _ = level_1.reset(seed=1)
    rows = {text: observation["candidates"][n].tobytes() for n, text in enumerate(level_1.candidates)}
    for text, row in rows.items():
        assert row == bag_of_words((text,), 256).tobytes()


def test_the_environment_needs_neither_torch_nor_ray() -> None:
    code = (
        "import sys; from callgym.trainers.rllib.candidate_env import CandidateEnv; "
        "CandidateEnv('apibank/L1-v0', data='starter').reset(seed=0); "
        "print({'torch', 'ray', 'transformers'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# RLlib.


def unknown_rubric(share: float) -> Rubric:
    """Pays as the default does for some tasks, and cannot tell for the others."""

    def judge(task: Any, episode: Any) -> Score:
        number = int.from_bytes(hashlib.blake2b(task.id.encode(), digest_size=4).digest(), "little")
        unknown = number < share * 2**32
        return Score(value=None if unknown else 1.0, explanation={"reason": "no judge" if unknown else "fine"})

    name = f"test_judge_{share}".replace(".", "_")
    register_reward(name, judge)
    return Rubric(name=name, weights={name: 1.0, "call_exact_match": 1.0})


@pytest.fixture
def rllib(ray_cluster: Any) -> Any:
    """RLlib, on the cluster of this test process."""
    pytest.importorskip("torch")
    return pytest.importorskip("ray.rllib")


def small_config(**options: Any) -> Any:
    from callgym.trainers.rllib.candidate_config import candidate_ppo_config

    training = {"train_batch_size_per_learner": 64, "minibatch_size": 32, "num_epochs": 1}
    fixed: dict[str, Any] = {"data": "starter", "split": "train", "features": 64, "hidden": 16}
    return candidate_ppo_config(
        "apibank/L1-v0", training=training, **{**fixed, "num_envs_per_env_runner": 4, **options}
    )


def test_the_module_ranks_offers_and_never_draws_what_is_not_offered() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("ray.rllib")
    from callgym.trainers.rllib.candidate_module import CandidateModule

    env = make(candidates=6, features=32)
    torch.manual_seed(0)
    module = CandidateModule(
        observation_space=env.observation_space, action_space=env.action_space, model_config={"hidden": 8}
    )
    observation, _ = env.reset(seed=0)
    observation["action_mask"][4:] = 0.0
    empty = {**observation, "action_mask": np.zeros(6, np.float32)}
    batch = {"obs": {name: torch.from_numpy(np.stack((observation[name], empty[name]))) for name in observation}}
    logits = module.forward_exploration(batch)["action_dist_inputs"]
    assert logits.shape == (2, 6)
    assert torch.softmax(logits[0], -1)[4:].tolist() == [0.0, 0.0]
    values = module.compute_values(batch)
    assert values.shape == (2,)
    assert values[0] != 0.0
    assert values[1] == 0.0
    # Other places, the same scores: nothing hangs on where a candidate stands.
    turned = {name: array.copy() for name, array in observation.items()}
    turned["candidates"][:4] = observation["candidates"][:4][::-1]
    batch = {"obs": {name: torch.from_numpy(array[None]) for name, array in turned.items()}}
    again = module.forward_inference(batch)["action_dist_inputs"]
    assert torch.allclose(again[0, :4].flip(0), logits[0, :4], atol=1e-6)


def test_the_configuration_is_a_ppo_config_with_what_was_asked_for() -> None:
    pytest.importorskip("ray.rllib")
    config = small_config(num_env_runners=3, num_learners=1, num_gpus_per_learner=0.5, seed=7)
    assert (config.num_env_runners, config.num_learners, config.num_gpus_per_learner) == (3, 1, 0.5)
    assert config.seed == 7
    assert config.lr == 1e-3
    assert config.minibatch_size == 32
    assert config.env_config["split"] == "train"
    with pytest.raises(ConfigurationError, match="takes no option"):
        small_config(nonsense=1)


def test_one_iteration_of_ppo_changes_the_weights(rllib: Any) -> None:
    algorithm = small_config().build_algo()
    try:
        before = {name: array.copy() for name, array in algorithm.get_module().get_state().items()}
        result = algorithm.train()
        after = algorithm.get_module().get_state()
        assert 0.0 <= result["env_runners"]["episode_return_mean"] <= 1.0
        assert result["env_runners"]["num_env_steps_sampled"] >= 64
        assert result["learners"]["__all_modules__"]["episodes_of_unknown_return"] == 0
        assert any((before[name] != after[name]).any() for name in before)
    finally:
        algorithm.stop()


def test_episodes_of_unknown_return_are_left_out_and_counted(rllib: Any) -> None:
    algorithm = small_config(rubric=unknown_rubric(0.5)).build_algo()
    try:
        result = algorithm.train()
        assert 8 < result["learners"]["__all_modules__"]["episodes_of_unknown_return"] < 56
        assert result["env_runners"]["episode_return_mean"] >= 0.5  # the judge's half; an unknown that was 0 would pull
        assert all(np.isfinite(array).all() for array in algorithm.get_module().get_state().values())
    finally:
        algorithm.stop()


def test_a_batch_without_any_known_return_is_an_error() -> None:
    pytest.importorskip("ray.rllib")
    from callgym.errors import DataError
    from callgym.trainers.rllib.candidate_learner import LeaveOutUnknown

    class Played:
        def __init__(self, *rewards: float) -> None:
            self._rewards = rewards

        def get_rewards(self) -> Any:
            return np.array(self._rewards)

    known, unknown = Played(0.0, 1.0), Played(0.0, math.nan)
    episodes: list[Any] = [unknown, known, unknown]
    LeaveOutUnknown()(episodes=episodes, batch={})
    assert episodes == [known]
    with pytest.raises(DataError, match="none of the 1 episodes of this batch has a known return"):
        LeaveOutUnknown()(episodes=[unknown], batch={})


@pytest.mark.slow
def test_an_env_runner_of_its_own_plays(rllib: Any) -> None:
    algorithm = small_config(num_env_runners=1).build_algo()
    try:
        assert algorithm.train()["env_runners"]["num_env_steps_sampled"] >= 64
        assert algorithm.env_runner_group.num_healthy_remote_workers() == 1
    finally:
        algorithm.stop()


@pytest.mark.slow
def test_the_example_learns(tmp_path: Path, rllib: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("examples_train_ppo_candidates", EXAMPLES / "train_ppo_candidates.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example  # dataclasses look their module up
    spec.loader.exec_module(example)
    monkeypatch.setattr(example.ray, "init", lambda *address, **options: None)  # the cluster of these tests
    monkeypatch.setattr(example.ray, "shutdown", lambda: None)
    out = tmp_path / "run.json"
    words = ["--seeds", "0", "--iterations", "6", "--eval-episodes", "200", "--margin", "0.3", "--out"]
    assert example.main(example.parse_arguments([*words, str(out)])) == 0
    result = json.loads(out.read_text())
    assert result["floors"]["oracle"] == 1.0
    assert result["runs"][0]["after"]["sampled"] > result["floors"]["most_shared_words"]
    assert len(result["runs"][0]["training_returns"]) == 6
