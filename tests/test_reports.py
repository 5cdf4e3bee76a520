"""Reports: the figures are right, unknown stays unknown, and whatever a file holds does nothing but stand there."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from callgym.episode import Episode, ParseError, Score, Step
from callgym.errors import CallGymError, ConfigurationError, DataError
from callgym.report_commands import report
from callgym.reports.markdown import escaped
from callgym.reports.numbers import Estimate, ReportSettings
from callgym.reports.report import Report, make_report
from callgym.reports.run_files import find_files
from callgym.reports.shown_name import distinct, shortened, shown_name
from callgym.reports.statistics import generator, holm, interval, resample_tasks, sign_flip_test
from callgym.reports.training_log import RETURN_KEY, read_curves, smoothed
from callgym.rollouts.episodes import write_episode, write_failure
from callgym.rollouts.stage import Failure
from callgym.rollouts.summary import summarise
from tests.browser import CANARY, Visit, chromium, find_chromium, visit  # noqa: F401

ENV = "town/Errands-v0"
OTHER = "town/Letters-v0"
HOSTILE = (
    "<script>window.canary=1</script>",
    '"><img src=x onerror="window.canary=1">',
    "[click](javascript:window.canary=1)",
    "a|b `c` **d** _e_ | f\n| g | h |",
    "\x1b]0;owned\x07\x1b[31mred\x1b[2J",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "$\\frac{1}{$ https://example.invalid www.example.invalid @somebody",
    "line\nbreak\r\ttab \ud800",
    "${7*7} {{7*7}} %(name)s {name}",
    "x" * 1_000_000,
)


# Files of episodes.


def episode(
    task: str,
    value: float | None,
    *,
    env_id: str = ENV,
    seed: int = 0,
    rewards: Mapping[str, float | str | None] | None = None,
    **changes: Any,
) -> Episode:
    """An episode of a return; a reward's value is a number, None where unknown, or "n" where it does not apply."""
    scores = {
        name: Score(value=None, applies=False) if isinstance(score, str) else Score(value=score)
        for name, score in (rewards or {}).items()
    }
    fields: dict[str, Any] = {
        "config": {"split": "test", "dialect": "hermes"},
        "data": "starter",
        "steps": (Step(action="go", reward=value),),
        "ended": "terminated",
        "rubric": "default",
        "rewards": scores,
        "episode_return": value,
    }
    return Episode(env_id=env_id, task_id=task, seed=seed, **{**fields, **changes})


def write(path: Path, episodes: Sequence[Episode], policy: str = "clerk") -> Path:
    with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for index, one in enumerate(episodes):
            write_episode(file, index, policy, one)
    return path


def attempts(values: Mapping[str, Sequence[float | None]], **more: Any) -> list[Episode]:
    """Episodes of tasks, each attempt with a seed of its own."""
    return [
        episode(task, value, seed=number, **more) for task, some in values.items() for number, value in enumerate(some)
    ]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs of the same forty tasks; the second is better."""
    rng = np.random.default_rng(5)
    before = {f"t{number:02}": [float(rng.integers(0, 2)), 0.0] for number in range(40)}
    after = {task: [min(1.0, value + 0.25) for value in some] for task, some in before.items()}
    return (
        write(tmp_path / "before.jsonl", attempts(before, rewards={"neatness": 0.5, "speed": "n"})),
        write(tmp_path / "after.jsonl", attempts(after, rewards={"neatness": None, "speed": "n"})),
    )


def fast(**changes: Any) -> ReportSettings:
    return ReportSettings(**{"resamples": 300, **changes})


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(report, [str(argument) for argument in ("--resamples", "200", *arguments)])


# The bootstrap.


def test_resampled_means_are_distributed_as_all_samples_of_the_tasks_are() -> None:
    """Three tasks have 27 samples; each mean comes up as often as among these."""
    sums, counts = np.array([[0.0], [1.0], [1.5]]), np.array([[1.0], [1.0], [3.0]])
    exact: dict[float, float] = {}
    for drawn in itertools.product(range(3), repeat=3):
        mean = round(float(sums[list(drawn)].sum() / counts[list(drawn)].sum()), 9)
        exact[mean] = exact.get(mean, 0.0) + 1 / 27
    draws = resample_tasks(sums, counts, resamples=60_000, rng=generator(0, "test"))
    means, times = np.unique(draws.means()[:, 0].round(9), return_counts=True)
    assert {float(mean) for mean in means} == set(exact)
    for mean, count in zip(means, times, strict=True):
        assert count / 60_000 == pytest.approx(exact[float(mean)], abs=0.008)


@given(tasks=st.integers(1, 40), resamples=st.integers(1, 50), seed=st.integers(0, 9))
def test_every_resample_holds_as_many_tasks_as_there_are(tasks: int, resamples: int, seed: int) -> None:
    ones = np.ones((tasks, 2))
    draws = resample_tasks(ones * 3, ones, resamples=resamples, rng=generator(seed, "test"))
    assert draws.counts.shape == (resamples, 2)
    assert (draws.counts == tasks).all()
    assert (draws.means() == 3).all()


def test_blocks_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random((37, 3))
    whole = resample_tasks(values, np.ones_like(values), resamples=101, rng=generator(1, "test"))
    monkeypatch.setattr("callgym.reports.statistics._CHUNK", 370)
    parts = resample_tasks(values, np.ones_like(values), resamples=101, rng=generator(1, "test"))
    assert np.allclose(whole.sums, parts.sums)


def test_the_interval_of_many_tasks_is_that_of_the_central_limit_theorem() -> None:
    values = np.random.default_rng(3).random((900, 1))
    draws = resample_tasks(values, np.ones_like(values), resamples=8_000, rng=generator(0, "test"))
    found = interval(draws.means()[:, 0], 0.95)
    assert found is not None
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert found[0] == pytest.approx(values.mean() - half, abs=0.002)
    assert found[1] == pytest.approx(values.mean() + half, abs=0.002)


def covered(datasets: int, tasks: int, *, by_task: bool) -> float:
    """Share of the intervals that hold the true mean; four attempts a task, which are alike."""
    rng = np.random.default_rng(17)
    inside = 0
    for number in range(datasets):
        chance = rng.beta(0.6, 0.9, size=(tasks, 1))  # of a task's success; 0.4 on average
        values = (rng.random((tasks, 4)) < chance).astype(np.float64)
        rows = values.sum(axis=1, keepdims=True) if by_task else values.reshape(-1, 1)
        counts = np.full_like(rows, 4.0 if by_task else 1.0)
        draws = resample_tasks(rows, counts, resamples=400, rng=generator(number, "coverage"))
        found = interval(draws.means()[:, 0], 0.95)
        assert found is not None
        inside += found[0] <= 0.4 <= found[1]
    return inside / datasets


def test_intervals_over_tasks_hold_the_truth_as_often_as_they_say_and_over_episodes_they_do_not() -> None:
    assert 0.92 <= covered(500, 60, by_task=True) <= 0.98
    assert covered(300, 60, by_task=False) < 0.86


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [30, 120, 400])
def test_intervals_hold_the_truth_as_often_as_they_say(tasks: int) -> None:
    assert 0.925 <= covered(2_000, tasks, by_task=True) <= 0.965


@pytest.mark.parametrize(("resamples", "tasks"), [(0, 3), (5, 0)])
def test_a_bootstrap_of_nothing_is_refused(resamples: int, tasks: int) -> None:
    with pytest.raises(ConfigurationError, match="at least 1"):
        resample_tasks(np.zeros((tasks, 1)), np.zeros((tasks, 1)), resamples=resamples, rng=generator(0, "test"))


# Tests and corrections.


@given(st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.1, 0.25, 1.0]), min_size=1, max_size=9))
def test_few_tasks_are_tested_exactly(differences: list[float]) -> None:
    found = sign_flip_test(np.array(differences), resamples=1 << 9, seed=0)
    least = abs(sum(differences)) - 1e-9
    patterns = list(itertools.product((-1, 1), repeat=len(differences)))
    far = sum(abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= least for signs in patterns)
    assert found.exact
    assert found.p == pytest.approx(far / len(patterns))


def test_drawn_signs_agree_with_all_signs() -> None:
    differences = np.array([0.3, -0.1, 0.2, 0.4, -0.2, 0.1, 0.5, -0.3, 0.2, 0.1, 0.05, 0.2])
    exact = sign_flip_test(differences, resamples=1 << 12, seed=0)
    drawn = sign_flip_test(differences, resamples=4_000, seed=0)
    assert exact.exact
    assert not drawn.exact
    assert drawn.p == pytest.approx(exact.p, abs=0.02)
    assert sign_flip_test(differences * 40, resamples=500, seed=3).p >= 1 / 501  # never 0


def test_under_chance_alone_small_p_values_are_as_rare_as_they_say() -> None:
    rng = np.random.default_rng(2)
    ps = [sign_flip_test(rng.normal(size=25), resamples=400, seed=number).p for number in range(600)]
    assert np.mean(np.array(ps) <= 0.05) == pytest.approx(0.05, abs=0.025)
    assert np.mean(np.array(ps) <= 0.5) == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize(
    ("given_ps", "corrected"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's steps, by hand
        ([0.5, 0.6, 0.9], [1.0, 1.0, 1.0]),
    ],
)
def test_holm(given_ps: list[float], corrected: list[float]) -> None:
    assert holm(given_ps) == pytest.approx(corrected)


# What a report says of one run.


VALUES = st.lists(
    st.tuples(st.integers(0, 5), st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))),
    min_size=1,
    max_size=24,
)


def numbers(tmp_path: Path, episodes: Sequence[Episode], **changes: Any) -> Report:
    return make_report([write(tmp_path / "run.jsonl", episodes)], fast(**changes))


def known(made: Report) -> Any:
    assert made.comparison is not None
    return made.comparison


@given(VALUES)
def test_means_are_those_of_eval_and_lie_in_their_intervals(values: list[tuple[int, float | None]]) -> None:
    import tempfile

    episodes = [
        episode(f"t{task}", value, seed=number, rewards={"neatness": value})
        for number, (task, value) in enumerate(values)
    ]
    with tempfile.TemporaryDirectory() as folder:
        run = known(numbers(Path(folder), episodes)).runs[0]
    summary = summarise(episodes, id=ENV, policy="clerk", seed=0)
    for found, mean in (
        (run.overall.returns, summary.return_mean),
        (run.overall.rewards["neatness"], summary.return_mean),
    ):
        assert found.unknown == summary.unknown
        assert found.episodes == len(episodes) - summary.unknown
        assert found.mean == (None if mean is None else pytest.approx(mean))
        assert (found.low is None) == (found.high is None) == (found.tasks < 2)
        if found.low is not None:
            assert 0 <= found.low <= found.mean + 1e-9
            assert found.mean - 1e-9 <= found.high <= 1 + 1e-9


@given(st.permutations(range(12)))
def test_the_order_of_the_lines_does_not_matter(order: list[int]) -> None:
    import tempfile

    values = {f"t{number}": [0.1 * number, None if number == 2 else 0.7, 1 / 3] for number in range(4)}
    episodes = attempts(values, rewards={"neatness": 0.3, "speed": "n"})
    with tempfile.TemporaryDirectory() as folder:
        straight = numbers(Path(folder), episodes).to_json()
        assert numbers(Path(folder), [episodes[at] for at in order]).to_json() == straight


def test_unknown_is_counted_and_is_no_0(tmp_path: Path) -> None:
    episodes = [episode(f"t{number}", 1.0 if number % 2 else None, rewards={"speed": None}) for number in range(40)]
    run = known(numbers(tmp_path, episodes)).runs[0]
    assert (run.overall.returns.mean, run.overall.returns.unknown, run.overall.returns.episodes) == (1.0, 20, 20)
    assert (run.overall.rewards["speed"].mean, run.overall.rewards["speed"].unknown) == (None, 40)
    text = numbers(tmp_path, episodes).text()
    assert re.search(r"speed +run +unknown", text)
    assert "the return of 20 of 40 episodes could not be computed" in text


def test_failed_episodes_stand_apart_and_a_later_try_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with path.open("w", encoding="utf-8") as file:
        write_failure(file, 0, "clerk", ENV, "t0", 0, Failure("worker_lost", "gone"))
        write_failure(file, 1, "clerk", ENV, "t1", 1, Failure("exception", "a bug"))
        write_episode(file, 0, "clerk", episode("t0", 0.5))
        write_episode(file, 2, "clerk", episode("t2", 1.0))
    run = known(make_report([path], fast())).runs[0]
    assert run.failed == {"exception": 1}
    assert run.overall.episodes == 2
    assert run.overall.returns.mean == 0.75


def test_errors_and_lengths_are_counted(tmp_path: Path) -> None:
    fault = ParseError(kind="malformed", position=0, message="no call")
    steps = (Step(action="x", errors=(fault, fault)), Step(action="y"))
    run = known(numbers(tmp_path, [episode("a", 0.0, steps=steps, ended="truncated"), episode("b", 0.0)])).runs[0]
    assert run.errors == {"malformed": 2}
    assert (run.truncated, run.steps_mean) == (1, 1.5)


def test_environments_are_reported_together_and_one_by_one(tmp_path: Path) -> None:
    episodes = [episode(f"t{number}", 1.0) for number in range(30)]
    episodes += [episode(f"t{number}", 0.0, env_id=OTHER) for number in range(10)]
    run = known(numbers(tmp_path, episodes)).runs[0]
    assert [(group.env_id, group.tasks, group.returns.mean) for group in run.by_env] == [
        (ENV, 30, 1.0),
        (OTHER, 10, 0.0),
    ]
    # Each environment's tasks are drawn for themselves, so the mix does not vary.
    assert (run.overall.returns.low, run.overall.returns.mean, run.overall.returns.high) == (0.75, 0.75, 0.75)


# pass@k and pass^k.


def test_repeated_attempts(tmp_path: Path) -> None:
    values = {f"t{number}": [1.0] * (number % 5) + [0.2] * (4 - number % 5) for number in range(40)}
    rows = known(numbers(tmp_path, attempts(values))).runs[0].overall.passes
    assert [row.k for row in rows] == [1, 2, 4]
    assert rows[0].pass_at.mean == rows[0].pass_hat.mean == pytest.approx(0.5)
    assert rows[2].pass_at.mean == pytest.approx(0.8)  # all but those that never succeed
    assert rows[2].pass_hat.mean == pytest.approx(0.2)
    assert rows[1].pass_hat.mean == pytest.approx(sum(math.comb(c, 2) for c in range(5)) / 5 / 6)
    easier = known(numbers(tmp_path, attempts(values), threshold=0.1)).runs[0].overall.passes
    assert easier[2].pass_hat.mean == 1.0


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=9), min_size=1, max_size=8))
def test_more_attempts_find_more_and_all_of_more_succeed_less(values: list[list[float | None]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = numbers(Path(folder), attempts({f"t{number}": some for number, some in enumerate(values)}))
    rows = known(made).runs[0].overall.passes
    counts = [n for some in values if (n := sum(value is not None for value in some))]
    assert [row.k for row in rows] == sorted({1, 2, 4, 8, min(counts)} & set(range(min(counts) + 1)) if counts else [])
    for before, after in itertools.pairwise(rows):
        assert before.pass_at.mean <= after.pass_at.mean + 1e-9
        assert before.pass_hat.mean >= after.pass_hat.mean - 1e-9
    for row in rows:
        assert row.pass_hat.mean <= row.pass_at.mean + 1e-9
        for estimate in (row.pass_at, row.pass_hat):
            assert estimate.tasks == len(counts)
            if estimate.low is not None:
                assert -1e-9 <= estimate.low <= estimate.mean + 1e-9 <= estimate.high + 2e-9 <= 1 + 3e-9


def test_k_ends_at_the_least_attempts_of_each_environment(tmp_path: Path) -> None:
    episodes = attempts({"a": [1.0] * 8, "b": [0.0] * 8}) + attempts({"a": [1.0] * 3, "b": [0.0] * 9}, env_id=OTHER)
    run = known(numbers(tmp_path, episodes)).runs[0]
    assert [row.k for row in run.overall.passes] == [1, 2]
    assert {group.env_id: [row.k for row in group.passes] for group in run.by_env} == {
        ENV: [1, 2, 4, 8],
        OTHER: [1, 2, 3],
    }


# Two runs.


def test_differences_are_of_the_tasks_that_both_have_played(two: tuple[Path, Path]) -> None:
    found = known(make_report(two, fast())).comparisons
    assert len(found) == 1
    one = found[0]
    assert (one.run, one.baseline, one.common, one.left_out) == ("after", "before", 40, 0)
    runs = {run.name: run.overall.returns.mean for run in known(make_report(two, fast())).runs}
    assert one.difference.mean == pytest.approx(runs["after"] - runs["before"])
    assert one.better == 40
    assert one.worse == one.equal == 0
    assert one.p == one.p_holm == pytest.approx(1 / 301)
    assert one.rewards["neatness"].mean is None  # unknown in one of the two
    assert [change.change for change in one.changes] == sorted(change.change for change in one.changes)


def test_a_run_against_itself_does_not_differ(two: tuple[Path, Path]) -> None:
    [one] = known(make_report([two[0], two[0]], fast())).comparisons
    assert one.run == "before (2)"
    assert one.difference == Estimate(0.0, 0.0, 0.0, 40, 40)
    assert (one.better, one.equal, one.worse, one.p) == (0, 40, 0, 1.0)
    runs = known(make_report([two[0], two[0]], fast())).runs
    assert runs[0].overall == runs[1].overall


def test_each_task_counts_once_in_a_difference(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", attempts({"a": [0.0] * 9, "b": [0.5]}))
    other = write(tmp_path / "other.jsonl", attempts({"a": [1.0], "b": [0.5] * 5, "c": [0.0]}))
    [found] = known(make_report([one, other], fast())).comparisons
    assert found.difference.mean == 0.5
    assert (found.common, found.better, found.equal, found.worse) == (2, 1, 1, 0)
    assert (found.p, found.exact) == (1.0, True)  # one task that moved says nothing


def test_several_runs_are_compared_with_the_baseline_and_corrected(two: tuple[Path, Path], tmp_path: Path) -> None:
    third = write(tmp_path / "third.jsonl", attempts({f"t{number:02}": [0.5, 0.5] for number in range(40)}))
    found = known(make_report([*two, third], fast(baseline="after"))).comparisons
    assert [(one.run, one.baseline) for one in found] == [("before", "after"), ("third", "after")]
    assert found[0].difference.mean < 0
    assert [one.p_holm for one in found] == pytest.approx(holm([one.p for one in found]))
    with pytest.raises(ConfigurationError, match="called 'nobody'; there are: before, after"):
        make_report(two, fast(baseline="nobody"))


def different(**changes: Any) -> list[Episode]:
    return [episode(f"t{number}", 0.5, **changes) for number in range(30)]


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (
            different(),
            different(rubric="exact"),
            "rubric is exact and was default: their returns measure different things",
        ),
        (different(), different(data="official"), "data is official and was starter"),
        (different(), different(config={"split": "train", "dialect": "hermes"}), "split is train and was test"),
        (different(), different(config={"split": "test", "dialect": "react"}), "dialect is react and was hermes"),
        (
            different(),
            different(config={"max_steps": 3}),
            "max_steps is 3 and was (not set): they were played otherwise",
        ),
        (
            different(),
            different(env_id=OTHER),
            f"in one of the two only, so the overall means are of different mixes: {ENV}",
        ),
        (different(), different(env_id=OTHER), "no task was played in both, so nothing can be paired"),
        (different(), different()[:25], "25 tasks are in both, 0 only here and 5 only there"),
        (different(), different(rewards={"speed": 1.0}), "in one of the two only and are not compared: speed"),
        (different(), different()[:5], "5 paired tasks are few"),
        (
            different(),
            [*different()[:29], episode("t29", None)],
            "1 common tasks have no known return in one of the two",
        ),
        (
            different(config={"perturb": ["rename"]}),
            different(config={"perturb": ["rename"]}, seed=8),
            "0 of 30 episodes have a task and seed of the other run's",
        ),
    ],
)
def test_runs_that_are_not_alike_are_told_of(
    ours: list[Episode], theirs: list[Episode], words: str, tmp_path: Path
) -> None:
    made = make_report([write(tmp_path / "a.jsonl", ours), write(tmp_path / "b.jsonl", theirs)], fast())
    assert [caveat for caveat in known(made).caveats if words in caveat and caveat.startswith("b: against a, ")] != []
    for text in (made.text(), made.html(), made.markdown()):
        assert "Before you read the figures" in text


def test_alike_runs_have_no_caveats(two: tuple[Path, Path]) -> None:
    assert known(make_report(two, fast())).caveats == ()


@pytest.mark.parametrize(
    ("episodes", "words"),
    [
        ([episode("a", 1.0), episode("a", 0.0, seed=1)], "one task, so there is no interval"),
        ([episode("a", 1.0), episode("b", 0.0)], "2 tasks are few"),
        (different(), "every task has a mean return of 0.500, so the interval has no width; that is no certainty."),
        ([episode(f"t{n}", 1.0) for n in range(30)], "By the rule of three another result may still come up in 10.0%"),
        ([episode("a", 1.0), episode("a", 1.0)], "1 episodes have the task and the seed of another"),
        ([episode("a", 1.0), episode("b", 1.0, rubric="exact")], "its episodes differ in rubric: default, exact"),
    ],
)
def test_what_makes_a_run_less_sure_is_told(episodes: list[Episode], words: str, tmp_path: Path) -> None:
    assert any(words in caveat for caveat in known(numbers(tmp_path, episodes)).caveats)


# Files and names.


def training_run(folder: Path, seed: int, steps: int = 30) -> Path:
    """What a training run leaves."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = [
        {
            RETURN_KEY: None if step == 3 else float(0.2 + 0.01 * step + 0.02 * rng.random()),
            "rewards/neatness/mean": 0.5,
            "completions/mean_length": 20 + step,
            "kl": 0.01 * step,
            "callgym/steps": 2.0,
            "callgym/parse_errors/malformed": 1 / step,
            "callgym/tool_errors/timeout": 0.0,
            "note": "no number",
            "step": step,
        }
        for step in range(1, steps + 1)
    ]
    (folder / "training_log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write(folder / "episodes_after.jsonl", [episode(f"t{n}", 0.5 + 0.1 * (n % 3)) for n in range(20)])
    write(folder / "episodes_before.jsonl", [episode(f"t{n}", 0.1 * (n % 3)) for n in range(20)])
    (folder / "episodes_after.times.jsonl").write_text("{}\n", encoding="utf-8")
    (folder / "summary_before.json").write_text("{}", encoding="utf-8")
    return folder


def test_runs_are_named_by_files_and_folders(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", [episode("a", 1.0)])
    (tmp_path / "deep").mkdir()
    same = write(tmp_path / "deep" / "one.jsonl", [episode("b", 0.0)])
    demo = training_run(tmp_path / "demo", 0)
    for seed in range(3):
        training_run(tmp_path / "seeds" / f"seed{seed}", seed)
    runs, logs = find_files([str(one), str(same), f"both={one},{same}", str(demo), str(tmp_path / "seeds")])
    assert [(run.name, len(run.paths)) for run in runs] == [
        ("one", 1),
        ("one (2)", 1),
        ("both", 2),
        ("demo/before", 1),
        ("demo/after", 1),
        ("seeds/before", 3),
        ("seeds/after", 3),
    ]
    assert [(log.name, len(log.paths)) for log in logs] == [("demo", 1), ("seeds", 3)]


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    path = write(tmp_path / "rate=1,2.jsonl", [episode("a", 1.0)])
    assert find_files([str(path)])[0][0].name == "rate=1,2"


def test_joined_files_are_one_run_and_are_shown_apart_too(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", attempts({"a": [1.0], "b": [0.0]}))
    other = write(tmp_path / "other.jsonl", [episode("a", 0.0, seed=7), episode("b", 0.5, seed=7)])
    run = known(make_report([f"both={one},{other}"], fast())).runs[0]
    assert run.overall.returns == Estimate(0.375, run.overall.returns.low, run.overall.returns.high, 2, 4)
    assert [(file.episodes, file.mean) for file in run.by_file] == [(2, 0.5), (2, 0.25)]
    assert [row.k for row in run.overall.passes] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["missing.jsonl"], DataError, "does not exist; give a file of episodes"),
        (["a=missing.jsonl"], DataError, "does not exist"),
        (["=missing.jsonl"], ConfigurationError, "not of the form NAME=FILE"),
        (["a=x,,y"], ConfigurationError, "not of the form NAME=FILE"),
        (["empty"], DataError, "holds no episodes.*jsonl and no training_log.jsonl"),
        ([], ConfigurationError, "no run is given"),
    ],
)
def test_wrong_runs_are_refused(
    arguments: list[str],
    error: type[CallGymError],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=words):
        make_report(arguments)


@given(st.text(max_size=200), st.text(max_size=200))
def test_shown_names_are_harmless_short_and_still_differ(one: str, other: str) -> None:
    shown = shown_name(one)
    assert shown.isprintable()
    assert len(shown) <= 80
    assert len(shortened(shown, 20)) <= 20
    if one.isprintable() and other.isprintable() and one != other:
        assert shown != shown_name(other)
    assert len(set(distinct([one, other, one, other]))) == 4


# Damaged files.


def test_a_damaged_file_is_read_up_to_the_fault(two: tuple[Path, Path]) -> None:
    raw = two[1].read_bytes()
    two[1].write_bytes(raw[: len(raw) * 3 // 4])
    done = run(*two)
    assert done.exit_code == 1
    assert re.search(r"callgym: .*after\.jsonl, row 6\d: the line is cut off", done.stderr)
    assert "Read only in part: " in done.stdout
    assert re.search(r"after +clerk +town/Errands-v0 +default +starter +\d+ +59 ", done.stdout)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 zip", b"\x00" * 50, b"[1, 2]\n", b'{"index": 0}\n', b"<html>\n"])
def test_a_foreign_file_beside_a_good_one_is_told_of(content: bytes, two: tuple[Path, Path]) -> None:
    two[1].write_bytes(content)
    done = run(*two)
    assert done.exit_code == 1
    assert "after.jsonl" in done.stderr
    assert "after: no episode could be read" in done.stdout
    assert "Paired differences" not in done.stdout
    alone = run(two[1])
    assert alone.exit_code == 3
    assert alone.stderr.count("\n") == 1
    assert "nothing can be read: " in alone.stderr


def test_a_missing_file_is_3_and_wrong_use_is_2(two: tuple[Path, Path]) -> None:
    missing = run(two[0], "nowhere.jsonl")
    assert (missing.exit_code, missing.stdout) == (3, "")
    assert "nowhere.jsonl does not exist" in missing.stderr
    assert run(two[0], "--confidence", "1").exit_code == 2
    assert run(two[0], "--baseline", "other").exit_code == 3
    assert run().exit_code == 2


def test_numbers_that_no_rubric_pays_are_unknown(tmp_path: Path) -> None:
    run = known(numbers(tmp_path, [episode("a", 1e308), episode("b", -1e300), episode("c", 0.5)])).runs[0]
    assert run.overall.returns.mean == 0.5
    assert run.overall.returns.unknown == 2
    low = known(numbers(tmp_path, [episode("a", -3.0), episode("b", 4.0)])).runs[0].overall.returns
    assert (low.low, low.mean, low.high) == (-3.0, 0.5, 4.0)  # rubrics such as toolrl pay that


# What is printed and written.


def test_json_is_the_last_line_and_the_only_one(two: tuple[Path, Path]) -> None:
    done = run(*two, "--json")
    assert done.exit_code == 0
    [line] = done.stdout.splitlines()
    found = json.loads(line)
    assert list(found) == ["version", "settings", "runs", "comparisons", "caveats", "training", "faults"]
    assert found["settings"]["baseline"] == "before"
    assert (
        found["runs"][0]["overall"]["returns"]["mean"] == known(make_report(two, fast())).runs[0].overall.returns.mean
    )
    assert found["runs"][0]["overall"]["rewards"]["speed"]["mean"] is None
    [compared] = found["comparisons"]
    assert compared["difference"]["low"] > 0
    assert len(compared["changes"]) == compared["common"] == 40
    gains = [task["run"] - task["baseline"] for task in compared["changes"]]
    assert gains == sorted(gains)
    assert sum(gains) / 40 == pytest.approx(compared["difference"]["mean"], abs=1e-6)
    assert run(*two, "--json").stdout == done.stdout
    assert run(*two, "--json", "--seed", "1").stdout != done.stdout


def test_the_report_is_written_as_markdown_html_and_pictures(two: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    out.mkdir()
    done = run(*two, "--markdown", out / "r.md", "--html", out / "r.html", "--pictures", out / "pictures")
    assert done.exit_code == 0, done.output
    names = {path.name for path in (out / "pictures").iterdir()}
    assert names == {"returns.png", "distribution.png", "differences.png", "passes.png"}
    markdown = (out / "r.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[[^\]]*\]\(<([^>]*)>\)", markdown)
    assert {(out / link).resolve() for link in links} == {path.resolve() for path in (out / "pictures").iterdir()}
    page = (out / "r.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 4
    assert "default-src 'none'" in page
    assert " style=" not in page
    for text in (markdown, page, done.stdout):
        assert "+0." in text
        assert "after" in text


def test_tables_of_markdown_have_as_many_cells_in_every_row(two: tuple[Path, Path]) -> None:
    for block in make_report(two, fast()).markdown().split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1


def test_without_matplotlib_pictures_are_refused_and_a_page_goes_without(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = run(*two, "--pictures", tmp_path / "pictures")
    assert refused.exit_code == 3
    assert "pip install 'callgym[viz]'" in refused.stderr
    plain = run(*two, "--html", tmp_path / "r.html")
    assert plain.exit_code == 0
    assert "callgym[viz]" in plain.stderr
    assert "<img" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_same_files_give_the_same_pictures(two: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    demo = training_run(tmp_path / "demo", 0)
    first, second = (make_report([*two, demo], fast(), pictures=True) for _ in range(2))
    assert [picture.name for picture in first.pictures] == [
        "returns",
        "distribution",
        "differences",
        "passes",
        "training_return",
        "training_more",
    ]
    assert first.pictures == second.pictures
    assert all(picture.png.startswith(b"\x89PNG") for picture in first.pictures)
    assert all(b"tEXt" not in picture.png for picture in first.pictures)  # no date and no program's name
    assert first.html() == second.html()


# Hostile files.


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """Runs in which everything that a file names is hostile."""
    paths = []
    for number in range(2):
        episodes = [
            episode(
                task,
                0.5 * ((n + number) % 3),
                env_id=HOSTILE[n % 3],
                rewards=dict.fromkeys(HOSTILE, 0.5),
                rubric=HOSTILE[(n + number) % len(HOSTILE)],
                data=HOSTILE[n % len(HOSTILE)],
                config={HOSTILE[0]: HOSTILE[1], HOSTILE[4]: {HOSTILE[5]: [HOSTILE[2]]}},
            )
            for n, task in enumerate([name for name in HOSTILE if "\ud800" not in name] * 2)
        ]
        paths.append(tmp_path / f"<b>|`x{number}$.jsonl")
        with paths[-1].open("w", encoding="utf-8", newline="\n") as file:
            for index, one in enumerate(episodes):
                line = {"index": index, "policy": HOSTILE[index % len(HOSTILE)], **one.to_dict()}
                file.write(json.dumps(line) + "\n")
    return paths[0], paths[1]


def test_hostile_names_do_nothing_in_a_terminal(hostile: tuple[Path, Path]) -> None:
    done = run(*hostile)
    assert done.exit_code == 0
    assert all(character.isprintable() or character == "\n" for character in done.stdout)
    assert len(done.stdout) < 60_000
    assert max(map(len, done.stdout.splitlines())) < 2_000
    json.loads(run(*hostile, "--json").stdout)


def test_hostile_names_are_text_in_markdown(hostile: tuple[Path, Path]) -> None:
    made = make_report(hostile, fast()).markdown()
    assert "<script" not in made
    assert "<img" not in made
    assert not re.search(r"(?<!\\)\]\(", made)
    assert not re.search(r"https?://|www\.", made)
    assert all(character.isprintable() or character == "\n" for character in made)
    for block in made.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("apibank/L1-v0", "apibank/L1-v0"),
        ("call_exact_match", "call_exact_match"),
        ("_a_ b*c*", r"\_a\_ b\*c\*"),
        ("a|b", r"a\|b"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("# x", r"\# x"),
        ("- x", r"\- x"),
        ("12. x", r"12\. x"),
        ("---", r"\---"),
        ("+0.137", "+0.137"),
        ("0.242", "0.242"),
        ("[0.1, 0.2]", r"\[0.1, 0.2\]"),
        ("https://a.b www.c", r"https\://a.b www\.c"),
        ("a\nb", r"a\\nb"),
    ],
)
def test_markdown_shows_text_as_it_stands(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.skipif(find_chromium() is None, reason="there is no browser")
def test_a_hostile_page_shows_its_texts_and_does_nothing(
    hostile: tuple[Path, Path],
    tmp_path: Path,
    visit: Visit,  # noqa: F811
) -> None:
    path = tmp_path / "report.html"
    assert run(*hostile, "--html", path).exit_code == 0
    ready = "addEventListener('DOMContentLoaded', () => { document.documentElement.dataset.ready = 'true' })"
    page = visit(path, before=ready)
    assert page.evaluate(f"typeof window.{CANARY}") == "undefined"
    assert page.evaluate("document.querySelectorAll('script, iframe, object, embed, form, a, link').length") == 0
    assert HOSTILE[0] in page.inner_text("body")
    headings = page.evaluate("[...document.querySelectorAll('h2')].map(h => h.textContent)")
    assert headings[:4] == ["Before you read the figures", "Runs", "Return", "Paired differences"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # wide tables scroll within
    assert (
        page.evaluate("getComputedStyle(document.querySelector('section')).borderRadius") == "10px"
    )  # the style is in
    images = page.evaluate("[...document.images].map(i => i.naturalWidth)")
    assert all(width > 500 for width in images)


# Training.


def test_training_logs_become_curves(tmp_path: Path) -> None:
    folder = training_run(tmp_path / "demo", 0)
    curves = read_curves(find_files([str(folder)])[1][0])
    series = curves.series(RETURN_KEY)
    assert series.shape == (1, 30)
    assert math.isnan(series[0, 2])  # unknown is no 0
    assert np.isfinite(np.delete(series[0], 2)).all()
    [gain] = curves.gains()
    assert gain.steps == 30
    assert gain.last is not None
    assert gain.first is not None
    assert gain.last - gain.first == pytest.approx(0.265, abs=0.03)


def test_seeds_are_one_run_with_a_band(tmp_path: Path) -> None:
    for seed in range(3):
        training_run(tmp_path / "seeds" / f"seed{seed}", seed, steps=30 - 10 * (seed == 2))
    made = make_report([tmp_path / "seeds"], fast())
    assert made.curves[0].series(RETURN_KEY).shape == (3, 30)
    assert np.isnan(made.curves[0].series(RETURN_KEY)[2, 20:]).all()
    assert [run.name for run in known(made).runs] == ["seeds/before", "seeds/after"]
    assert "3 files count as one run" in made.text()
    assert made.text().count("training_log.jsonl") == 3


def test_a_log_alone_is_a_report_and_a_damaged_one_is_read_up_to_the_fault(tmp_path: Path) -> None:
    folder = training_run(tmp_path / "demo", 0)
    log = folder / "training_log.jsonl"
    assert run(log).exit_code == 0
    log.write_bytes(log.read_bytes() + b'{"step": 31, "rewards/episode')
    done = run(log)
    assert done.exit_code == 1
    assert "training_log.jsonl, row 31: no JSON object of a training step" in done.stderr
    log.write_bytes(b"\x89PNG")
    assert run(log).exit_code == 3


@pytest.mark.parametrize(
    "row",
    [
        {"step": 1e308, RETURN_KEY: 1e308},
        {"step": -5, RETURN_KEY: True},
        {RETURN_KEY: "0.5", "kl": [1], "callgym/parse_errors/" + HOSTILE[0]: 3},
        {"step": 0.5, "rewards/$\\frac{$/mean": 0.5, "rewards/" + "x" * 100_000 + "/mean": 1},
        {str(number): number for number in range(5_000)},
    ],
)
def test_strange_logs_are_drawn_all_the_same(row: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    log = tmp_path / "training_log.jsonl"
    log.write_text(json.dumps({"step": 1, RETURN_KEY: 0.5}) + "\n" + json.dumps(row) + "\n", encoding="utf-8")
    made = make_report([log], fast(), pictures=True)
    assert next(picture.name for picture in made.pictures) == "training_return"
    made.html()


def test_smoothing_keeps_constants_and_leaves_unknown_out() -> None:
    assert smoothed(np.full(9, 0.4), 5) == pytest.approx(np.full(9, 0.4))
    found = smoothed(np.array([1.0, np.nan, 3.0]), 3)
    assert found == pytest.approx([1.0, 2.0, 3.0])
    assert np.isnan(smoothed(np.array([np.nan, np.nan]), 1)).all()


@pytest.mark.slow
def test_training_with_tensorboard_writes_our_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL's own switch: the run's folder then holds TensorBoard's events, and the log that a report reads."""
    pytest.importorskip("trl")
    integration_utils = pytest.importorskip("transformers.integrations.integration_utils")
    if not integration_utils.is_tensorboard_available():
        pytest.skip("neither tensorboard nor tensorboardX is installed")
    from callgym.trainers.grpo import GrpoSettings, train_grpo
    from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
    from callgym.trainers.warmup import oracle_texts

    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "board"))
    env_id = "apibank/L1-v0"
    texts = oracle_texts(env_id, limit=20, data="starter", split="test")
    config = TinyPolicyConfig(vocabulary=420, hidden=32, layers=1, heads=2, context=4_096)
    model, tokenizer = build_tiny_policy(texts, config)
    out = tmp_path / "run"
    settings = GrpoSettings(
        (env_id,), "", out, data="starter", steps=2, batch=2, group=2, max_new_tokens=4, report_to="tensorboard"
    )
    train_grpo(settings, model, tokenizer)
    events = b"".join(path.read_bytes() for path in (tmp_path / "board").rglob("events.out.tfevents.*"))
    names = [
        "rewards/episode_return/mean",
        "callgym/steps",
        f"callgym/return/{env_id}",
        "callgym/parse_errors/malformed",
    ]
    for name in names:
        assert b"train/" + name.encode() in events
    made = make_report([out], fast())
    assert made.comparison is None
    assert set(names) <= set(made.curves[0].names())
    assert [gain.steps for gain in made.curves[0].gains()] == [2]


def test_the_progress_of_reading_is_told(two: tuple[Path, Path]) -> None:
    told: list[int] = []
    make_report(two, fast(), advance=told.append)
    assert sum(told) == sum(path.stat().st_size for path in two)


TYPES: tuple[Callable[[Report], str], ...] = (Report.text, Report.markdown, Report.html, Report.to_json)


@pytest.mark.parametrize("write_out", TYPES)
def test_writing_changes_nothing(write_out: Callable[[Report], str], two: tuple[Path, Path]) -> None:
    made = make_report(two, fast())
    assert write_out(made) == write_out(made)
