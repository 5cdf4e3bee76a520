"""What a reader of a report must know before the figures: few tasks, unknown returns, runs that are not alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from callgym.reports.numbers import Comparison
from callgym.reports.run_record import RunRecord
from callgym.reports.task_table import MOST_ENVS, MOST_REWARDS, TaskTable, rows_by_env

__all__ = ["caveats"]

_FEW_TASKS = 20
_MOST_NAMED = 3
_MAIN = {
    "rubric": "their returns measure different things",
    "data": "their tasks come from different sources",
    "split": "their tasks are of different splits",
    "dialect": "the policy had to write calls otherwise",
    "protocol": "their episodes go otherwise",
}
_BY_SEED = ("perturb", "faults")


def caveats(
    records: Sequence[RunRecord],
    tables: Mapping[str, TaskTable],
    baseline: str,
    comparisons: Sequence[Comparison],
) -> list[str]:
    """Sentences, each naming the runs that it is about.

    Args:
        records: The runs.
        tables: Their tasks, by the run's name.
        baseline: The run that the others are compared with.
        comparisons: What came of it.
    """
    first = next(record for record in records if record.name == baseline)
    overall = {one.run: one for one in comparisons if one.env_id is None}
    subjects: dict[str, list[str]] = {}
    for record in records:
        for sentence in _of_one(record, tables[record.name]):
            subjects.setdefault(sentence, []).append(record.name)
    for record in records:
        if record.name in overall:
            sentences = [
                *_unlike(first, record),
                *_other_tasks(first, record, tables[baseline], tables[record.name]),
                *_of_pairs(overall[record.name], {*first.settings, *record.settings}),
            ]
            for sentence in sentences:
                subjects.setdefault(f"against {baseline}, {sentence}", []).append(record.name)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in subjects.items()]


def _of_one(record: RunRecord, table: TaskTable) -> Iterator[str]:
    if not record.episodes:
        yield "no episode could be read."
        return
    if len(record.paths) > 1:
        yield (
            f"{len(record.paths)} files count as one run. Its intervals say how other tasks would come out, not how "
            "far one file (one training seed, say) lies from the next; that is in the table by file."
        )
    failed = sum(record.failed.values())
    if failed:
        yield f"{failed} episodes broke and are in no figure but this one."
    unknown = int(table.unknown[:, 0].sum())
    if unknown:
        yield (
            f"the return of {unknown} of {len(record.episodes)} episodes could not be computed. They are in no mean; "
            "where they are many, or not a random part, the mean says little."
        )
    yield from _sureness(table)
    for setting, values in sorted(record.settings.items()):
        if len(values) > 1:
            yield f"its episodes differ in {setting}: {_few(sorted(values))}."
    seen = {(episode.env_id, episode.task_id, episode.seed) for episode in record.episodes}
    if len(seen) < len(record.episodes):
        yield (
            f"{len(record.episodes) - len(seen)} episodes have the task and the seed of another: was a file given "
            "twice, or are these attempts that are no fresh draws?"
        )
    if len(record.rewards) > MOST_REWARDS:
        yield f"{len(record.rewards)} rewards; only the first {MOST_REWARDS} are reported."
    if len(rows_by_env(table.tasks)) > MOST_ENVS:
        yield f"{len(rows_by_env(table.tasks))} environments; they are reported together only."


def _sureness(table: TaskTable) -> Iterator[str]:
    """Too few tasks for an interval, or no spread that the bootstrap could see."""
    known = table.means()[table.counts[:, 0] > 0, 0]
    if len(known) == 1:
        yield "one task, so there is no interval: nothing is known of other tasks."
    elif 1 < len(known) < _FEW_TASKS:
        yield f"{len(known)} tasks are few; intervals of so few are somewhat too narrow."
    if len(known) > 1 and known.max() == known.min():
        value = float(known[0])
        more = ""
        if value in (0.0, 1.0):
            more = f" By the rule of three another result may still come up in {min(1.0, 3 / len(known)):.1%} of tasks."
        yield f"every task has a mean return of {value:.3f}, so the interval has no width; that is no certainty.{more}"


def _unlike(ours: RunRecord, theirs: RunRecord) -> Iterator[str]:
    """How two runs were played otherwise."""
    for setting in sorted(set(ours.settings) | set(theirs.settings), key=lambda name: (name not in _MAIN, name)):
        before, after = (sorted(record.settings.get(setting, {"(not set)": 0})) for record in (ours, theirs))
        if before != after:
            what = _MAIN.get(setting, "they were played otherwise")
            yield f"{setting} is {_few(after)} and was {_few(before)}: {what}."
    only_ours = [reward for reward in ours.rewards if reward not in theirs.rewards]
    only_theirs = [reward for reward in theirs.rewards if reward not in ours.rewards]
    if only_ours or only_theirs:
        yield f"these rewards are in one of the two only and are not compared: {_few([*only_ours, *only_theirs])}."


def _other_tasks(ours: RunRecord, theirs: RunRecord, our_tasks: TaskTable, their_tasks: TaskTable) -> Iterator[str]:
    our_envs, their_envs = set(rows_by_env(our_tasks.tasks)), set(rows_by_env(their_tasks.tasks))
    if our_envs != their_envs:
        alone = _few(sorted(our_envs ^ their_envs))
        yield f"these environments are in one of the two only, so the overall means are of different mixes: {alone}."
    common = len(set(our_tasks.tasks) & set(their_tasks.tasks))
    only_ours, only_theirs = len(our_tasks.tasks) - common, len(their_tasks.tasks) - common
    if not common:
        yield "no task was played in both, so nothing can be paired; only the means stand side by side."
    elif only_ours or only_theirs:
        yield (
            f"{common} tasks are in both, {only_theirs} only here and {only_ours} only there; differences are over "
            "those in both."
        )


def _of_pairs(comparison: Comparison, settings: set[str]) -> Iterator[str]:
    paired = comparison.common - comparison.left_out
    if comparison.left_out:
        yield f"{comparison.left_out} common tasks have no known return in one of the two and are left out."
    if 0 < paired < _FEW_TASKS:
        yield f"{paired} paired tasks are few."
    by_seed = [name for name in _BY_SEED if name in settings]
    if by_seed and comparison.same_seeds < comparison.episodes:
        yield (
            f"{comparison.same_seeds} of {comparison.episodes} episodes have a task and seed of the other run's. With "
            f"{' and '.join(by_seed)} a task follows from the seed, too, so the rest are other tasks of the same name."
        )


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else shown
