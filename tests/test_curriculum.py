"""Curricula: the mix is what the weights say, stages end when they should, and unknown returns teach nothing."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.errors import ConfigurationError
from callgym.trainers.curriculum import (
    Curriculum,
    CurriculumRollouts,
    CurriculumState,
    Difficulty,
    SamplingWeights,
    Stage,
    order_by_epoch,
)

A, B = "family/A-v1", "family/A-v10"
TASKS = {A: [f"{A}|{number}" for number in range(6)], B: [f"{B}|{number}" for number in range(20)]}
START = CurriculumState()


def ids_of(drawn: Sequence[str]) -> Counter[str]:
    return Counter(task.partition("|")[0] for task in drawn)


# Weights.


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({}, "give a weight by id"),
        ([A], "give a weight by id"),
        ({A: 0, B: 0}, "all weights are 0"),
        ({A: -1}, "not negative"),
        ({A: float("nan")}, "finite"),
        ({A: float("inf")}, "finite"),
        ({A: True}, "finite number"),
        ({A: "3"}, "finite number"),
        ({A: None}, "finite number"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: Any, words: str) -> None:
    for make in (SamplingWeights, Stage):
        with pytest.raises(ConfigurationError, match=words):
            make(weights)


def test_an_id_that_is_not_played_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"family/A-v2.*did you mean 'family/A-v1"):
        SamplingWeights({"family/A-v2": 1}).rows(TASKS)
    with pytest.raises(ConfigurationError, match="did you mean"):
        Curriculum({"family/A-v2": 1}, TASKS)


def test_an_id_without_tasks_is_refused_where_it_has_a_weight() -> None:
    tasks = {**TASKS, A: []}
    with pytest.raises(ConfigurationError, match="no task to play"):
        Curriculum({A: 1, B: 1}, tasks)
    assert ids_of(Curriculum({A: 0, B: 1}, tasks).draw(START, 4, 0)[0]) == {B: 4}


@pytest.mark.parametrize(
    ("weights", "counts"),
    [
        ({A: 1, B: 1}, {A: 20, B: 20}),
        ({A: 3, B: 1}, {A: 60, B: 20}),
        ({A: 1, B: 10}, {A: 6, B: 60}),
        ({A: 0.3, B: 0.1}, {A: 60, B: 20}),
        ({A: 1, B: 0}, {A: 6}),
        ({B: 5}, {B: 20}),
    ],
)
def test_fixed_rows_have_the_weights_shares_and_every_task(
    weights: Mapping[str, float], counts: Mapping[str, int]
) -> None:
    rows = SamplingWeights(weights).rows(TASKS)
    assert Counter(id for id, _ in rows) == counts
    for id in counts:
        assert {task for found, task in rows if found == id} == set(TASKS[id])


def test_a_weight_of_almost_nothing_makes_no_endless_dataset() -> None:
    rows = SamplingWeights({A: 1, B: 1e-9}).rows(TASKS)
    assert len(rows) <= 100_001
    assert Counter(id for id, _ in rows)[B] == 1


def test_rows_follow_from_the_seed_and_no_global_generator() -> None:
    rows = [SamplingWeights({A: 2, B: 1}, seed=seed).rows(TASKS) for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]


# Draws.


def test_groups_are_drawn_in_the_weights_shares() -> None:
    curriculum, state, seen = Curriculum({A: 3, B: 1}, TASKS), START, Counter[str]()
    for step in range(500):
        drawn, state = curriculum.draw(state, 4, step)
        seen += ids_of(drawn)
    assert seen[A] / 2_000 == pytest.approx(0.75, abs=0.04)


@given(groups=st.integers(1, 6), seed=st.integers(0, 99), draws=st.integers(0, 99))
def test_no_task_comes_twice_in_a_batch_while_another_is_left(groups: int, seed: int, draws: int) -> None:
    drawn, _ = Curriculum({A: 1}, TASKS, seed=seed).draw(CurriculumState(draws=draws), groups, 0)
    assert len(set(drawn)) == groups


def test_a_batch_of_more_groups_than_tasks_is_filled() -> None:
    drawn, _ = Curriculum({A: 1}, TASKS).draw(START, 15, 0)
    assert len(drawn) == 15
    assert set(drawn) == set(TASKS[A])


def test_draws_follow_from_seed_and_state_alone() -> None:
    def run(seed: int) -> list[list[str]]:
        curriculum, state, all_drawn = Curriculum({A: 1, B: 1}, TASKS, seed=seed), START, []
        for step in range(5):
            drawn, state = curriculum.draw(state, 4, step)
            all_drawn.append(drawn)
        return all_drawn

    assert run(0) == run(0)
    assert run(0) != run(1)
    assert len({tuple(drawn) for drawn in run(0)}) == 5


# Stages.

TWO = (Stage({A: 1}, until_return=0.6, window=4), Stage({B: 1}))


def play(
    stages: Sequence[Stage], returns: Sequence[float | None], groups: int = 2
) -> tuple[CurriculumState, list[str]]:
    """One step for each return, which all members of all groups get."""
    curriculum, state = Curriculum(stages, TASKS), START
    for step, value in enumerate(returns):
        drawn, state = curriculum.draw(state, groups, step)
        state = curriculum.observe(state, [(task, [value, value]) for task in drawn])
    return state, curriculum.draw(state, groups, len(returns))[0]


@pytest.mark.parametrize(
    ("returns", "following"),
    [
        ([1.0], A),  # Two groups, and the window is four.
        ([1.0, 1.0], B),
        ([0.5, 0.5, 0.5], A),
        ([0.5, 0.7], B),
        ([0.0, 0.0, 1.0], A),
        ([0.0, 0.0, 1.0, 1.0], B),
        ([None, 1.0, None], A),  # Unknown is not 0, and not a group either.
        ([1.0, None, 1.0], B),
    ],
)
def test_a_stage_ends_at_its_return(returns: Sequence[float | None], following: str) -> None:
    assert ids_of(play(TWO, returns)[1]) == {following: 2}


def test_a_stage_ends_at_its_step_whatever_is_returned() -> None:
    stages = (Stage({A: 1}, until_step=3), Stage({B: 1}, until_step=3), Stage({A: 1, B: 1}))
    assert play(stages, [0.0, 0.0])[0].stage == 0
    curriculum = Curriculum(stages, TASKS)
    assert curriculum.draw(START, 1, 3)[1].stage == 2
    assert curriculum.draw(START, 1, 99)[1].stage == 2


def test_a_later_stage_counts_its_own_groups_only() -> None:
    stages = (TWO[0], Stage({B: 1}, until_return=0.6, window=4), Stage({A: 1, B: 1}))
    state, _ = play(stages, [1.0, 1.0, 1.0])
    assert (state.stage, len(state.recent)) == (1, 2)


def test_members_without_a_known_return_are_left_out_of_the_groups_mean() -> None:
    state = Curriculum(TWO, TASKS).observe(START, [(TASKS[A][0], [1.0, None, None]), (TASKS[A][1], [None, None])])
    assert state.recent == (1.0,)


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ((), "without stages"),
        ((Stage({A: 1}), Stage({B: 1})), "stage 1 of 2 never ends"),
        ((Stage({A: 1}, until_step=5),), "is the last and has an end"),
    ],
)
def test_stages_that_cannot_follow_each_other_are_refused(stages: Sequence[Stage], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Curriculum(stages, TASKS)


@pytest.mark.parametrize(
    "options",
    [{"until_return": float("nan")}, {"until_step": 0}, {"window": 0}],
    ids=lambda options: next(iter(options)),
)
def test_ends_that_cannot_be_reached_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        Stage({A: 1}, **options)


def test_a_checkpoint_of_more_stages_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="in stage 3 and this curriculum has 2"):
        Curriculum(TWO, TASKS).draw(CurriculumState(stage=2), 1, 0)


# Difficulty.


def test_tasks_of_middling_return_come_more_often() -> None:
    curriculum = Curriculum({A: 1}, TASKS, difficulty=Difficulty(floor=0.1))
    means = [0.0, 1.0, 0.5, 0.05, 1.0, 0.95]
    state = curriculum.observe(START, [(task, [mean]) for task, mean in zip(TASKS[A], means, strict=True)])
    seen = Counter[str]()
    for _ in range(400):
        drawn, state = curriculum.draw(state, 1, 0)
        seen.update(drawn)
    middling = seen[TASKS[A][2]]
    assert all(0 < seen[task] < middling / 2 for task in TASKS[A] if task != TASKS[A][2])


def test_an_unknown_return_leaves_a_task_as_if_it_were_not_played() -> None:
    curriculum = Curriculum({A: 1}, TASKS, difficulty=Difficulty())
    assert curriculum.observe(START, [(TASKS[A][0], [None, None])]) == START


def test_a_tasks_mean_moves_towards_each_new_group() -> None:
    curriculum, task = Curriculum({A: 1}, TASKS, difficulty=Difficulty(rate=0.5)), TASKS[A][0]
    state = curriculum.observe(curriculum.observe(START, [(task, [0.0, 0.0])]), [(task, [1.0, 0.0])])
    assert state.means == {task: 0.25}


@given(st.none() | st.floats(-2, 3))
def test_every_task_can_come_again(mean: float | None) -> None:
    assert 0.1 - 1e-12 <= Difficulty(floor=0.1).weight(mean) <= 1


@pytest.mark.parametrize("options", [{"floor": 0}, {"floor": 1.5}, {"rate": 0}, {"rate": 2}])
def test_difficulty_that_makes_no_sense_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        Difficulty(**options)


# With a trainer.


class Rollouts:
    """Stands for EpisodeRollouts: answers each task with what the table says."""

    ids = (A, B)
    reward_funcs: Sequence[Any] = ()
    reward_weights: Sequence[float] = ()

    def __init__(self, returns: Mapping[str, float | None] | None = None) -> None:
        self.returns = returns or {}
        self.played: list[list[str]] = []

    def dataset(self, limit: int | None = None) -> dict[str, list[str]]:
        return {"prompt": [task for id in self.ids for task in TASKS[id][:limit]]}

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        self.played.append(prompts)
        return {"episode_return": [self.returns.get(prompt, 0.5) for prompt in prompts]}


def trainer_at(step: int = 0) -> Any:
    return SimpleNamespace(state=SimpleNamespace(global_step=step, stateful_callbacks={}))


def slots(rows: CurriculumRollouts, numbers: Sequence[int], members: int = 2) -> list[str]:
    prompts = rows.dataset()["prompt"]
    return [prompts[number] for number in numbers for _ in range(members)]


def test_a_slots_group_plays_one_task() -> None:
    pytest.importorskip("datasets")
    rollouts = Rollouts()
    rows = CurriculumRollouts(rollouts, {A: 1, B: 1})
    rows(slots(rows, [7, 3, 900]), trainer_at())
    (played,) = rollouts.played
    assert [played[0], played[2], played[4]] == [played[1], played[3], played[5]]
    assert len(set(played)) == 3


def test_tasks_are_those_of_the_ids_though_one_begins_with_the_other() -> None:
    rows = CurriculumRollouts(Rollouts(), {A: 1, B: 1})
    for id in (A, B):
        drawn, _ = CurriculumRollouts(Rollouts(), {id: 1}).curriculum.draw(START, 4, 0)
        assert ids_of(drawn) == {id: 4}
    assert rows.ids == (A, B)


def test_what_is_drawn_depends_on_the_state_and_not_on_the_slots_numbers() -> None:
    pytest.importorskip("datasets")
    rollouts = Rollouts()
    rows = CurriculumRollouts(rollouts, {A: 1, B: 1})
    rows(slots(rows, [1, 2]), trainer_at())
    rows(slots(rows, [9, 4]), trainer_at())
    assert rollouts.played[0] == rollouts.played[1]


def test_the_state_is_in_the_trainers_and_goes_on_from_a_checkpoint() -> None:
    pytest.importorskip("datasets")

    def make() -> tuple[Rollouts, CurriculumRollouts]:
        rollouts = Rollouts(dict.fromkeys(TASKS[A], 1.0))
        stages = (Stage({A: 1}, until_return=0.9, window=4), Stage({B: 1}))
        return rollouts, CurriculumRollouts(rollouts, stages, difficulty=Difficulty())

    rollouts, rows = make()
    trainer, logged = trainer_at(), []
    trainer._log_metric = lambda *row: logged.append(row)
    for _ in range(4):
        rows(slots(rows, [0, 1]), trainer)
    assert logged == [("callgym/curriculum_stage", stage) for stage in (1, 1, 2, 2)]
    assert [ids_of(played) for played in rollouts.played] == [{A: 4}, {A: 4}, {B: 4}, {B: 4}]

    again, rows_again = make()
    first = trainer_at()
    for _ in range(3):
        rows_again(slots(rows_again, [0, 1]), first)
    resumed, rows_resumed = make()
    second = trainer_at(step=3)
    second.state.stateful_callbacks = json.loads(json.dumps(first.state.stateful_callbacks))
    rows_resumed(slots(rows_resumed, [5, 6]), second)
    assert again.played + resumed.played == rollouts.played
    assert second.state.stateful_callbacks == trainer.state.stateful_callbacks


def test_another_run_with_the_same_rollouts_begins_anew() -> None:
    pytest.importorskip("datasets")
    rollouts = Rollouts()
    rows = CurriculumRollouts(rollouts, {A: 1})
    for _ in range(2):
        rows(slots(rows, [0]), trainer_at())
    assert rollouts.played[0] == rollouts.played[1]


def test_prompts_of_an_evaluation_are_played_as_they_are_and_teach_nothing() -> None:
    rollouts, trainer = Rollouts(), trainer_at()
    CurriculumRollouts(rollouts, {A: 1})([TASKS[B][0]], trainer)
    assert rollouts.played == [[TASKS[B][0]]]
    assert trainer.state.stateful_callbacks == {}


def test_a_limit_holds_for_each_id() -> None:
    curriculum = CurriculumRollouts(Rollouts(), {A: 1, B: 1}, limit=2).curriculum
    drawn, _ = curriculum.draw(START, 40, 0)
    assert set(drawn) == {*TASKS[A][:2], *TASKS[B][:2]}


# The order of rows that are no slots.


def test_the_order_of_an_epoch_follows_from_its_number() -> None:
    utils = pytest.importorskip("trl.trainer.utils")

    def order(epoch: float, before: int) -> list[int]:
        sampler = utils.RepeatSampler(range(50), 1, 1, seed=3)
        for _ in range(before):
            list(sampler)
        # As accelerate wraps it for several processes.
        loader = SimpleNamespace(batch_sampler=SimpleNamespace(batch_sampler=SimpleNamespace(sampler=sampler)))
        state = SimpleNamespace(epoch=epoch)
        order_by_epoch(seed=1).on_epoch_begin(None, state, None, train_dataloader=loader)
        return list(sampler)

    assert order(1.0, before=1) == order(1.5, before=0)
    assert order(0, before=0) != order(1.0, before=1)
