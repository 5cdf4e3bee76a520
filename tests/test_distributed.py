"""Training on two processes, and training that is stopped and resumed: the same episodes as in one run on one process.

The module is also the program that the two processes run: ``torchrun --nproc-per-node 2 test_distributed.py OUT``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import gymnasium as gym
import pytest

from callgym import Episode, Message, Score, Task, Tool, ToolCall, UserTurn
from callgym.data import DataSource
from callgym.envs.base import Protocol, ToolEnv
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards import Rubric, register_reward
from callgym.tool_backends import PythonBackend
from callgym.trainers.curriculum import CurriculumRollouts, Difficulty, SamplingWeights, Stage, order_by_epoch
from callgym.trainers.rloo import rloo_trainer_class
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
from callgym.trainers.trl import EpisodeRollouts
from callgym.trainers.warmup import oracle_texts

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
pytest.importorskip("accelerate")

SHORT, LONG = "lengths/Short-v0", "lengths/Long-v0"
TINY = TinyPolicyConfig(vocabulary=330, hidden=32, layers=1, heads=2, context=1_024)
TASKS, GROUP, BATCH = 8, 4, 12
"""Three groups a batch: on two processes the second group is half on the one and half on the other."""


# Dialogues of one to four turns.


def task(length: str, number: int) -> Task:
    ring = Tool(name="Ring", description="Rings.", parameters={"type": "object", "properties": {}})
    call = GoldCall.of(ToolCall(name="Ring", arguments={}))
    turns = 1 if length == "short" else 2 + number % 3
    return Task(
        id=f"{length}/{number}",
        family="lengths",
        split="train",
        messages=(Message(role="user", content=f"Ring {number}."),),
        tools=(ring,),
        user_turns=tuple(UserTurn(content=f"Again {turn}.") for turn in range(1, turns)),
        goal=CallsGoal(turns=((call,),) * turns),
    )


class LengthsEnv(ToolEnv):
    family: ClassVar[str] = "lengths"
    protocol: Protocol = "dialogue"
    default_dialect: ClassVar[str] = "apibank-short"
    length: ClassVar[str]

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        return tuple(task(self.length, number) for number in range(TASKS // 2))

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"Ring": lambda world: "rung"})


class ShortEnv(LengthsEnv):
    length = "short"


class LongEnv(LengthsEnv):
    length = "long"


def first_letters(task: Task, episode: Episode) -> Score:
    """Differs from episode to episode, and is unknown now and then."""
    found = sum(episode.steps[0].action.encode()[:3]) % 6
    return Score(value=None if found == 5 else found / 4)


def register() -> None:
    gym.register(SHORT, entry_point=f"{__name__}:ShortEnv", kwargs={"data": "starter"})
    gym.register(LONG, entry_point=f"{__name__}:LongEnv", kwargs={"data": "starter"})
    register_reward("first_letters", first_letters)


# A run, and what is kept of it.


@dataclass
class Run:
    """What one process played and logged."""

    episodes: list[tuple[int, str, int, int]] = field(default_factory=list)
    """Step, task, seed and number of turns, in the order in which they ended."""
    references: list[list[str]] = field(default_factory=list)
    completions: list[list[list[int]]] = field(default_factory=list)
    losses: list[list[float]] = field(default_factory=list)
    """Step, loss and gradient norm."""
    generations: int = 0
    """Calls of the generator."""
    state: Any = None
    """What the curriculum knows at the end."""


class Kept:
    """The rollouts, and what they played."""

    def __init__(self, ids: list[str], tokenizer: Any, run: Run) -> None:
        rubric = Rubric(name="letters", weights={"first_letters": 1.0})
        self._rollouts = EpisodeRollouts(ids, tokenizer, rubric=rubric, on_episode=self._keep)
        self.ids, self.dataset, self.close = self._rollouts.ids, self._rollouts.dataset, self._rollouts.close
        self.reward_funcs, self.reward_weights = self._rollouts.reward_funcs, self._rollouts.reward_weights
        self._run, self._step = run, 0

    def _keep(self, episode: Episode) -> None:
        self._run.episodes.append((self._step, episode.task_id, episode.seed or 0, len(episode.steps)))

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        self._step = trainer.state.global_step
        generate = trainer._generate_single_turn

        def gathering(ids: list[list[int]], *rest: Any) -> Any:
            # As where the weights are spread over the processes: who generates waits for all others to do so too.
            trainer.accelerator.gather(torch.tensor([len(ids)]))
            self._run.generations += 1
            return generate(ids, *rest)

        trainer._generate_single_turn = gathering
        columns = self._rollouts(prompts, trainer)
        del trainer._generate_single_turn
        self._run.references.append(prompts)
        self._run.completions.append(columns["completion_ids"])
        return columns


def train(
    out: Path,
    batch: int = BATCH,
    steps: int = 2,
    save: int | None = None,
    resume: Path | None = None,
    mode: str = "rows",
) -> Run:
    """Train on one process, or as one of several."""
    texts = [*oracle_texts(SHORT), *oracle_texts(LONG)]
    model, tokenizer = build_tiny_policy(texts, TINY)
    run = Run()
    rollouts: Any = Kept([SHORT, LONG], tokenizer, run)
    if mode != "rows":
        stages = (Stage({SHORT: 1, LONG: 1}, until_step=3), Stage({SHORT: 1, LONG: 3}))
        rollouts = CurriculumRollouts(rollouts, stages, difficulty=Difficulty())
    options = {
        "output_dir": str(out),
        "max_steps": steps,
        "per_device_train_batch_size": batch,
        "num_generations": GROUP,
        "reward_weights": rollouts.reward_weights,
        "learning_rate": 1e-3,
        "max_completion_length": 5,
        # An action that is cut off would end its episode.
        "generation_kwargs": {"forced_eos_token_id": tokenizer.eos_token_id},
        "beta": 0.0,
        "use_cpu": True,
        "bf16": False,
        "activation_checkpointing": False,
        "logging_steps": 1,
        "save_strategy": "no" if save is None else "steps",
        "save_steps": save or 500,
        "report_to": "none",
        "disable_tqdm": True,
    }
    kind, config = (rloo_trainer_class(), trl.RLOOConfig) if mode == "rloo" else (trl.GRPOTrainer, trl.GRPOConfig)
    trainer = kind(
        model=model,
        args=config(**options),
        processing_class=tokenizer,
        train_dataset=rollouts.dataset(),
        reward_funcs=rollouts.reward_funcs,
        rollout_func=rollouts,
        callbacks=[order_by_epoch()],
    )
    trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    rollouts.close()
    history = trainer.state.log_history
    run.losses = [[row["step"], row["loss"], row["grad_norm"]] for row in history if "grad_norm" in row]
    run.state = trainer.state.stateful_callbacks.get("callgym.curriculum")
    return run


@pytest.fixture(scope="module", autouse=True)
def _one_thread_and_the_environments() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    register()
    yield
    del gym.registry[SHORT], gym.registry[LONG]
    torch.set_num_threads(threads)


def test_weights_are_a_sampler_of_the_rollouts() -> None:
    _, tokenizer = build_tiny_policy(oracle_texts(SHORT), TINY)
    sampler = SamplingWeights({SHORT: 3, LONG: 1})
    rollouts = EpisodeRollouts([SHORT, LONG], tokenizer, sampler=sampler)
    rows = rollouts.dataset()["prompt"]
    rollouts.close()
    assert Counter(row.partition("\u241f")[0] for row in rows) == {SHORT: 12, LONG: 4}


# Two processes.


MODES = ("rows", "curriculum")


@pytest.fixture(scope="module")
def on_two_processes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Run]]:
    """What each of two processes played, in two steps of half a batch each, in every mode."""
    out = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    # The limit is for processes that wait for each other without end.
    done = subprocess.run(
        [*command, __file__, str(out)], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    played = [json.loads((out / f"{rank}.json").read_text()) for rank in range(2)]
    return {mode: [Run(**runs[mode]) for runs in played] for mode in MODES}


def work(out: Path) -> None:
    """One of two processes."""
    register()
    runs = {mode: vars(train(out / mode, batch=BATCH // 2, mode=mode)) for mode in MODES}
    (out / f"{os.environ['RANK']}.json").write_text(json.dumps(runs))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_two_processes_play_the_episodes_of_one(
    mode: str, on_two_processes: dict[str, list[Run]], tmp_path: Path
) -> None:
    # From the second step on a curriculum's tasks follow from what the model wrote, which is sampled otherwise on two.
    steps = 1 if mode == "curriculum" else 2
    one, (left, right) = train(tmp_path, steps=steps, mode=mode), on_two_processes[mode]

    def played(run: Run) -> Counter[tuple[int, str, int]]:
        return Counter((step, name, seed) for step, name, seed, _ in run.episodes if step < steps)

    assert played(left) + played(right) == played(one)
    assert set(played(one).values()) == {GROUP}


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_group_is_whole_though_two_processes_share_it(mode: str, on_two_processes: dict[str, list[Run]]) -> None:
    left, right = on_two_processes[mode]
    for step in range(2):
        rows = left.references[step] + right.references[step]
        groups = [rows[start : start + GROUP] for start in range(0, BATCH, GROUP)]
        assert all(len(set(group)) == 1 for group in groups)
        shared = groups[1][0]
        assert left.references[step].count(shared) == right.references[step].count(shared) == GROUP // 2
        name = shared.partition("\u241f")[2]
        seeds = {seed for run in (left, right) for at, found, seed, _ in run.episodes if (at, found) == (step, name)}
        assert len(seeds) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_processes_with_episodes_of_other_lengths_wait_for_each_other(
    mode: str, on_two_processes: dict[str, list[Run]]
) -> None:
    two = on_two_processes[mode]
    longest = [[max(turns for at, _, _, turns in run.episodes if at == step) for step in range(2)] for run in two]
    assert longest[0] != longest[1]
    assert two[0].generations == two[1].generations == sum(map(max, zip(*longest, strict=True)))
    assert [step for step, _, _ in two[0].losses] == [1, 2]


@pytest.mark.slow
def test_a_curriculum_knows_the_same_on_both_processes(on_two_processes: dict[str, list[Run]]) -> None:
    left, right = on_two_processes["curriculum"]
    assert left.state == right.state
    assert left.state["draws"] == 2
    assert len(left.state["recent"]) == 2 * BATCH // GROUP


# Checkpoints.


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["rows", "curriculum", "rloo"])
def test_a_resumed_run_goes_on_as_if_it_had_not_been_stopped(mode: str, tmp_path: Path) -> None:
    whole = train(tmp_path, steps=5, save=3, mode=mode)
    # Whatever a new process has drawn from the global generator is not to matter.
    torch.manual_seed(987)
    resumed = train(tmp_path / "again", steps=5, resume=tmp_path / "checkpoint-3", mode=mode)
    assert len(resumed.references) == 2
    assert resumed.references == whole.references[3:]
    assert resumed.episodes == [row for row in whole.episodes if row[0] >= 3]
    assert resumed.completions == whole.completions[3:]
    assert resumed.losses == whole.losses
    assert resumed.state == whole.state


if __name__ == "__main__":
    work(Path(sys.argv[1]))
