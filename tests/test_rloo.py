"""RLOO: REINFORCE with a leave-one-out baseline, over the policy's own tokens and known returns only."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import pytest

from callgym import Episode
from callgym.errors import ConfigurationError
from callgym.trainers.grpo import GrpoSettings
from callgym.trainers.rloo import make_rloo_trainer, rloo_config, rloo_trainer_class
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
from callgym.trainers.trl import EpisodeRollouts
from callgym.trainers.warmup import oracle_texts

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
datasets = pytest.importorskip("datasets")

API_BANK = "apibank/L1-v0"
TINY = TinyPolicyConfig(vocabulary=400, hidden=32, layers=1, heads=2, context=4_096)
GROUP, PROMPTS = 4, ("Count the jars.", "Paint it red.")
FULL = (1.0, 0.0, 0.25, 0.5, 0.0, 0.75, 1.0, 0.5)
UNKNOWN = (1.0, None, 0.25, None, None, None, None, 0.5)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    texts = oracle_texts(API_BANK, limit=20, data="starter", split="test")
    model, tokenizer = build_tiny_policy(texts, TINY)
    with torch.no_grad():
        # A tiny policy begins with blocks that do nothing; here all weights are to matter.
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)) * 0.05)
    return model, tokenizer


class FixedRollouts:
    """Eight episodes that are always the same; with ``turns`` the environment speaks in the middle of each."""

    def __init__(self, tokenizer: Any, returns: Sequence[float | None], *, turns: bool) -> None:
        self._tokenizer = tokenizer
        self.returns = list(returns)
        self.reward_weights = [1.0]
        generator = torch.Generator().manual_seed(5)
        self.completions = [
            torch.randint(2, TINY.vocabulary, (6 + row,), generator=generator).tolist() for row in range(8)
        ]
        self.masks = [[int(not (turns and 2 <= k < 5)) for k in range(len(ids))] for ids in self.completions]

    @property
    def reward_funcs(self) -> list[Callable[..., Any]]:
        def episode_return(**columns: Any) -> Any:
            return columns["episode_return"]

        return [episode_return]

    def dataset(self) -> Any:
        return datasets.Dataset.from_list([{"prompt": prompt} for prompt in PROMPTS])

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, Any]:
        return {
            "prompt_ids": [self._tokenizer(prompt)["input_ids"] for prompt in prompts],
            "completion_ids": self.completions,
            "env_mask": self.masks,
            "logprobs": None,
            "episode_return": self.returns,
        }


def settings(out: Path, **changes: Any) -> GrpoSettings:
    given = {"ids": (API_BANK,), "model": "", "steps": 1, "batch": 8, "group": GROUP, "max_new_tokens": 6, **changes}
    return GrpoSettings(out=out, **given)


def rows() -> list[dict[str, Any]]:
    return [{"prompt": prompt} for prompt in PROMPTS for _ in range(GROUP)]


def gradient_of(trainer: Any) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Loss and gradients of one batch in TRL's own way, and the batch."""
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    batch = trainer._generate_and_score_completions(rows())
    loss = trainer._compute_loss(trainer.model, batch)
    return loss.item(), gradients(trainer.model, loss), batch


def gradients(model: Any, loss: Any) -> dict[str, Any]:
    model.zero_grad()
    loss.backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


def assert_same(found: dict[str, Any], wanted: dict[str, Any], factor: float = 1.0) -> None:
    assert found.keys() == wanted.keys()
    assert any(gradient.abs().max() > 1e-3 for gradient in wanted.values())
    for name, gradient in wanted.items():
        torch.testing.assert_close(found[name], gradient * factor, rtol=2e-3, atol=1e-5, msg=lambda m: f"{name}: {m}")  # noqa: B023


# By hand.


def leave_one_out(returns: Sequence[float | None]) -> list[float]:
    """Each return less the mean of its group's other known ones; 0 where there is no such difference."""
    advantages = []
    for start in range(0, len(returns), GROUP):
        group = returns[start : start + GROUP]
        for number, value in enumerate(group):
            others = [other for index, other in enumerate(group) if index != number and other is not None]
            advantages.append(0.0 if value is None or not others else value - sum(others) / len(others))
    return advantages


def policy_logps(model: Any, tokenizer: Any, rollouts: FixedRollouts) -> list[Any]:
    """Log-probability of each episode's own tokens, one episode at a time and so without any padding."""
    sums = []
    for row, (completion, mask) in enumerate(zip(rollouts.completions, rollouts.masks, strict=True)):
        prompt = tokenizer(PROMPTS[row // GROUP])["input_ids"]
        logits = model(input_ids=torch.tensor([prompt + completion])).logits[0].log_softmax(-1)
        terms = [logits[len(prompt) + k - 1, id] for k, id in enumerate(completion) if mask[k]]
        sums.append(torch.stack(terms).sum())
    return sums


@pytest.mark.parametrize("returns", [FULL, UNKNOWN], ids=["known", "unknown"])
@pytest.mark.parametrize("turns", [False, True], ids=["one turn", "several turns"])
def test_the_gradient_is_the_one_worked_out_by_hand(
    tiny: tuple[Any, Any], tmp_path: Path, returns: Sequence[float | None], turns: bool
) -> None:
    model, tokenizer = copy.deepcopy(tiny[0]), tiny[1]
    rollouts = FixedRollouts(tokenizer, returns, turns=turns)
    advantages = leave_one_out(returns)
    logps = policy_logps(model, tokenizer, rollouts)
    wanted = gradients(model, -sum(a * logp for a, logp in zip(advantages, logps, strict=True)) / len(logps))

    trainer = make_rloo_trainer(settings(tmp_path), rollouts, copy.deepcopy(tiny[0]), tokenizer)
    loss, found, batch = gradient_of(trainer)
    assert batch["advantages"].tolist() == pytest.approx(advantages)
    assert loss == pytest.approx(-sum(advantages) / len(advantages), abs=1e-6)
    assert_same(found, wanted)


def test_the_table_of_unknown_returns_holds_what_it_should() -> None:
    assert leave_one_out(UNKNOWN) == [0.75, 0.0, -0.75, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_the_kl_term_counts_the_policys_tokens_only(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    model, tokenizer = copy.deepcopy(tiny[0]), tiny[1]
    rollouts = FixedRollouts(tokenizer, FULL, turns=True)
    model.save_pretrained(tmp_path / "reference")
    reference = policy_logps(model, tokenizer, rollouts)
    loaded = type(model).from_pretrained(tmp_path / "reference")
    trainer = make_rloo_trainer(settings(tmp_path), rollouts, loaded, tokenizer, beta=0.1)
    with torch.no_grad():
        for moved in (model, loaded):
            moved.lm_head.weight.mul_(1.5)
    now = policy_logps(model, tokenizer, rollouts)
    paid = [r - 0.1 * (new - old).item() for r, new, old in zip(FULL, now, reference, strict=True)]
    assert max(abs(a - b) for a, b in zip(paid, FULL, strict=True)) > 0.05
    assert gradient_of(trainer)[2]["advantages"].tolist() == pytest.approx(leave_one_out(paid), abs=1e-4)


# Beside TRL's own trainers.


def test_without_tokens_of_the_environment_it_is_trls_rloo(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    tokenizer = tiny[1]
    rollouts = FixedRollouts(tokenizer, UNKNOWN, turns=False)
    plain = trl.RLOOTrainer(
        model=copy.deepcopy(tiny[0]),
        args=rloo_config(settings(tmp_path), rollouts),
        processing_class=tokenizer,
        train_dataset=rollouts.dataset(),
        reward_funcs=lambda **columns: rollouts.returns,
    )
    plain._generate_single_turn = lambda *arguments: rollouts.completions
    ours = make_rloo_trainer(settings(tmp_path), rollouts, copy.deepcopy(tiny[0]), tokenizer)
    loss, wanted, batch = gradient_of(plain)
    our_loss, found, our_batch = gradient_of(ours)
    assert our_loss == pytest.approx(loss)
    assert our_batch.keys() - batch.keys() == {"env_mask"}
    for name, values in batch.items():
        torch.testing.assert_close(our_batch[name], values)
    assert_same(found, wanted)


@pytest.mark.parametrize(("returns", "same"), [(FULL, True), (UNKNOWN, False)], ids=["known", "unknown"])
def test_grpo_with_rloos_loss_is_another_thing_where_returns_are_unknown(
    tiny: tuple[Any, Any], tmp_path: Path, returns: Sequence[float | None], same: bool
) -> None:
    tokenizer = tiny[1]
    rollouts = FixedRollouts(tokenizer, returns, turns=True)
    grpo = trl.GRPOTrainer(
        model=copy.deepcopy(tiny[0]),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            per_device_train_batch_size=8,
            num_generations=GROUP,
            loss_type="luspo",
            scale_rewards="none",
            beta=0.0,
            use_cpu=True,
            bf16=False,
            activation_checkpointing=False,
            report_to="none",
        ),
        processing_class=tokenizer,
        train_dataset=rollouts.dataset(),
        reward_funcs=rollouts.reward_funcs,
        rollout_func=rollouts,
    )
    ours = make_rloo_trainer(settings(tmp_path), rollouts, copy.deepcopy(tiny[0]), tokenizer)
    _, wanted, batch = gradient_of(ours)
    _, found, grpo_batch = gradient_of(grpo)
    # A group of n known returns is weighed by (n - 1) / n: 3/4 in full groups, 1/2 where two are known.
    factor = (GROUP - 1) / GROUP if same else 1 / 2
    assert grpo_batch["advantages"].tolist() == pytest.approx([factor * a for a in batch["advantages"].tolist()])
    assert_same(found, wanted, factor)


def test_a_batch_in_two_passes_has_the_gradient_of_one(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    """TRL shuffles and cuts a batch, and a row's mask has to go with it."""
    rollouts = FixedRollouts(tiny[1], FULL, turns=True)
    whole = make_rloo_trainer(settings(tmp_path), rollouts, copy.deepcopy(tiny[0]), tiny[1])
    halves = make_rloo_trainer(settings(tmp_path, micro_batch=4), rollouts, copy.deepcopy(tiny[0]), tiny[1])
    assert halves.args.gradient_accumulation_steps == 2
    halves.model.train()
    loss = 0.0
    for halves._step in range(2):
        loss += halves._compute_loss(halves.model, halves._prepare_inputs(rows())) / 2
    assert_same(gradients(halves.model, loss), gradient_of(whole)[1])


def test_a_turns_prompts_are_said_to_come_once(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    """Beside vLLM, which is told how often each prompt comes in a row and generates for the first of them."""
    rollouts = FixedRollouts(tiny[1], FULL, turns=True)
    trainer = make_rloo_trainer(settings(tmp_path), rollouts, copy.deepcopy(tiny[0]), tiny[1])
    told: list[tuple[int, int]] = []

    class Engine:
        def generate(self, *, prompts: list[list[int]], num_generations: int, **others: Any) -> Any:
            told.append((len(prompts), num_generations))
            return None, [[5] for _ in prompts], None, None

    trainer.use_vllm, trainer.vllm_generation, trainer._last_loaded_step = True, Engine(), 0
    assert trainer._generate_single_turn([[3], [4], [4]], None, {}, 1) == ([[5], [5], [5]], None)
    assert told == [(3, 1)]
    assert trainer.num_generations == GROUP


def test_fewer_tasks_than_groups_are_refused(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    """TRL would train for no step and say nothing of it."""
    rollouts = FixedRollouts(tiny[1], FULL, turns=True)
    with pytest.raises(ConfigurationError, match=r"4 groups.*2 tasks"):
        make_rloo_trainer(settings(tmp_path, batch=8, group=2), rollouts, copy.deepcopy(tiny[0]), tiny[1])


# Runs.


def test_two_steps_on_dialogues(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(
        API_BANK, tiny[1], data="starter", split="test", protocol="dialogue", on_episode=episodes.append
    )
    model = copy.deepcopy(tiny[0])
    trainer = make_rloo_trainer(settings(tmp_path, steps=2, group=2), rollouts, model, tiny[1], logging_steps=1)
    trainer.train()
    rollouts.close()
    assert len(episodes) == 16
    assert any(len(episode.steps) > 1 for episode in episodes)
    logs = [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]
    known = [episode.episode_return for episode in episodes if episode.episode_return is not None]
    assert sum(row["rewards/episode_return/mean"] for row in logs) / 2 == pytest.approx(sum(known) / len(known))
    assert isinstance(trainer, rloo_trainer_class())


class EvenTokens(FixedRollouts):
    """One turn, paid by the share of its tokens that are even numbers."""

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, Any]:
        prompt_ids = [self._tokenizer(prompt)["input_ids"] for prompt in prompts]
        completions, _ = trainer._generate_single_turn(prompt_ids, None, {}, 1)
        return {
            "prompt_ids": prompt_ids,
            "completion_ids": completions,
            "env_mask": [[1] * len(ids) for ids in completions],
            "logprobs": None,
            "episode_return": [sum(id % 2 == 0 for id in ids) / len(ids) for ids in completions],
        }


@pytest.mark.slow
def test_it_learns(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    rollouts = EvenTokens(tiny[1], FULL, turns=False)
    run = settings(tmp_path, steps=30, batch=32, group=16, learning_rate=5e-3)
    trainer = make_rloo_trainer(run, rollouts, copy.deepcopy(tiny[0]), tiny[1])
    trainer.train()
    means = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    assert sum(means[-5:]) / 5 > sum(means[:5]) / 5 + 0.2
