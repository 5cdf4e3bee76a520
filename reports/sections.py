"""The report as a document: which tables it has, and in what words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from callgym.reports.comparison import RunComparison
from callgym.reports.document import (
    Block,
    Cell,
    Document,
    Fact,
    Facts,
    Heading,
    Notes,
    Paragraph,
    Picture,
    Range,
    Table,
)
from callgym.reports.numbers import Comparison, Estimate, GroupNumbers, RunNumbers
from callgym.reports.training_log import Curves

__all__ = ["write_document"]

_ALL = "all"
_MOST_FACTS = 8
_MOST_CHANGES = 8
_SMALL = 0.00005


def write_document(
    report: RunComparison | None,
    curves: Sequence[Curves],
    faults: Sequence[str],
    pictures: Mapping[str, Picture],
) -> Document:
    """Put a report into words and tables.

    Args:
        report: The runs; None where there are only training logs.
        curves: The training logs.
        faults: What kept the rest of a file from being read.
        pictures: By name; those that a report has are put where they belong.
    """
    names = [run.name for run in report.runs] if report else [one.name for one in curves]
    blocks = list(_blocks(report, curves, faults, pictures))
    return Document(f"Report: {', '.join(names[:3])}{' and others' if len(names) > 3 else ''}", tuple(blocks))


def _blocks(
    report: RunComparison | None, curves: Sequence[Curves], faults: Sequence[str], pictures: Mapping[str, Picture]
) -> Iterator[Block]:
    def shown(*names: str) -> Iterator[Picture]:
        return (pictures[name] for name in names if name in pictures)

    if faults:
        yield Notes(tuple(f"Read only in part: {fault}" for fault in faults))
    if report is not None:
        yield _facts(report)
        if report.caveats:
            yield Heading("Before you read the figures")
            yield Notes(report.caveats)
        yield Heading("Runs")
        yield _runs(report)
        if any(len(run.paths) > 1 for run in report.runs):
            yield Heading("By file")
            yield _files(report)
        yield Heading("Return")
        yield Paragraph(_how_sure(report))
        yield _returns(report)
        yield from shown("returns", "distribution")
        if report.comparisons:
            yield from _comparison_blocks(report)
            yield from shown("differences")
        yield Heading("Rewards")
        yield Paragraph("Each over the episodes where it applies and is known.")
        yield _rewards(report)
        if any(run.overall.passes or any(group.passes for group in run.by_env) for run in report.runs):
            yield Heading("Repeated attempts")
            yield Paragraph(
                "pass@k: at least one of k attempts succeeds. pass^k: all k do. A success is a return of at least "
                f"{report.settings.threshold:g}."
            )
            yield _passes(report)
            yield from shown("passes")
        if any(run.errors for run in report.runs):
            yield Heading("Errors")
            yield Paragraph("For each 100 episodes: actions that could not be read, and calls that failed.")
            yield _errors(report)
    if curves:
        yield Heading("Training")
        yield _training(curves)
        yield from shown("training_return", "training_more")


# Figures to see first.


def _facts(report: RunComparison) -> Facts:
    overall = {one.run: one for one in report.comparisons if one.env_id is None}
    return Facts(tuple(_fact(run, overall.get(run.name)) for run in report.runs[:_MOST_FACTS]))


def _fact(run: RunNumbers, against: Comparison | None) -> Fact:
    returns = run.overall.returns
    fact = Fact(f"{run.name}: mean return", _number(returns.mean), _detail(returns))
    if against is None or against.difference.mean is None:
        return fact
    change = f"{_signed(against.difference.mean)} {_ends(against.difference, signed=True)} against {against.baseline}"
    return dataclasses.replace(fact, change=change, kind=_verdict(against.difference))


def _detail(estimate: Estimate) -> str:
    ends = _ends(estimate)
    return f"{ends + ', ' if ends else ''}{_counted(estimate.tasks, 'task')}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# Tables.


def _runs(report: RunComparison) -> Table:
    rows = [
        (
            Cell(run.name, "strong"),
            Cell(", ".join(run.policies[:3]) + (" ..." if len(run.policies) > 3 else "")),
            Cell(_several([group.env_id or "" for group in run.by_env], run.overall.tasks)),
            Cell(_several(run.settings.get("rubric", ()))),
            Cell(_several(run.settings.get("data", ()))),
            Cell(f"{run.overall.tasks:,}"),
            Cell(f"{run.overall.episodes:,}"),
            _count(run.overall.returns.unknown),
            _count(sum(run.failed.values())),
            Cell(_share(run.truncated, run.overall.episodes)),
            Cell("" if run.steps_mean is None else f"{run.steps_mean:.2f}"),
        )
        for run in report.runs
    ]
    headers = ("run", "policy", "environment", "rubric", "data")
    numbers = ("tasks", "episodes", "unknown", "failed", "cut short", "steps")
    return Table(headers + numbers, tuple(rows), "lllllrrrrrr")


def _several(names: Sequence[str], tasks: int = 0) -> str:
    if not names:
        return "several" if tasks else ""
    return names[0] if len(names) == 1 else f"{len(names)}: {', '.join(names[:2])}{' ...' if len(names) > 2 else ''}"


def _files(report: RunComparison) -> Table:
    rows = [
        (Cell(run.name, "strong"), Cell(file.path), Cell(f"{file.episodes:,}"), Cell(_number(file.mean)))
        for run in report.runs
        for file in run.by_file
        if len(run.by_file) > 1
    ]
    return Table(("run", "file", "episodes", "mean return"), tuple(rows), "llrr")


def _how_sure(report: RunComparison) -> str:
    settings = report.settings
    return (
        f"In brackets the {settings.confidence:.0%} interval: {settings.resamples:,} bootstrap resamples of the tasks, "
        f"seed {settings.seed}. Means are over episodes of known return."
    )


def _returns(report: RunComparison) -> Table:
    groups = list(_groups(report.runs))
    start, end = _scale([group.returns for _, _, group in groups])
    rows = [
        (
            Cell(label),
            Cell(run.name, "strong"),
            Cell(_number(group.returns.mean), range=_range(group.returns, start, end)),
            Cell(_ends(group.returns)),
            Cell(f"{group.returns.tasks:,}"),
            Cell(f"{group.returns.episodes:,}"),
            _count(group.returns.unknown),
        )
        for label, run, group in groups
    ]
    headers = ("environment", "run", "mean return", "interval", "tasks", "episodes", "unknown")
    return Table(headers, tuple(rows), "llrlrrr")


def _groups(runs: Sequence[RunNumbers]) -> Iterator[tuple[str, RunNumbers, GroupNumbers]]:
    """All environments together where there are several, then one by one; the runs beside each other."""
    env_ids = list(dict.fromkeys(group.env_id for run in runs for group in run.by_env))
    if len(env_ids) != 1:
        yield from ((_ALL, run, run.overall) for run in runs)
    for env_id in env_ids:
        yield from ((env_id or "", run, group) for run in runs for group in run.by_env if group.env_id == env_id)


def _comparison_blocks(report: RunComparison) -> Iterator[Block]:
    yield Heading("Paired differences")
    yield Paragraph(_how_paired(report))
    several = len({one.env_id for one in report.comparisons}) > 1
    yield Table(
        (
            *(("environment",) if several else ()),
            *("run", "against", "difference", "interval", "tasks", "better", "equal", "worse", "p", "p (Holm)"),
        ),
        tuple(_difference_row(one, report.comparisons, several) for one in report.comparisons),
        ("l" if several else "") + "llrlrrrrrr",
    )
    rewards = _reward_differences(report)
    if rewards.rows:
        yield Paragraph("Each reward, over the tasks where both runs have it.")
        yield rewards
    changes = _changes(report)
    if changes.rows:
        yield Paragraph("The tasks that changed most.")
        yield changes


def _how_paired(report: RunComparison) -> str:
    return (
        "Over the tasks that both runs have played, each task counting once, with its mean over its episodes. p: how "
        "often chance alone would move the mean as far, if a task's difference could as well have had the other sign "
        f"(two-sided, at most {report.settings.resamples:,} patterns); Holm: corrected for the number of runs compared."
    )


def _difference_row(one: Comparison, every: Sequence[Comparison], several: bool) -> tuple[Cell, ...]:
    paired = one.common - one.left_out
    start, end = _scale([other.difference for other in every], around_0=True)
    first = (Cell(one.env_id or _ALL),) if several else ()
    return (
        *first,
        Cell(one.run, "strong"),
        Cell(one.baseline),
        Cell(_signed(one.difference.mean), _verdict(one.difference), _range(one.difference, start, end)),
        Cell(_ends(one.difference, signed=True)),
        Cell(f"{paired:,}"),
        *(Cell(_share(count, paired)) for count in (one.better, one.equal, one.worse)),
        Cell(_p(one.p)),
        Cell(_p(one.p_holm)),
    )


def _reward_differences(report: RunComparison) -> Table:
    overall = [one for one in report.comparisons if one.env_id is None]
    known = [
        (name, one, estimate)
        for name in dict.fromkeys(name for one in overall for name in one.rewards)
        for one in overall
        if (estimate := one.rewards.get(name)) is not None and estimate.mean is not None
    ]
    start, end = _scale([estimate for _, _, estimate in known], around_0=True)
    rows = [
        (
            Cell(name),
            Cell(one.run, "strong"),
            Cell(one.baseline),
            Cell(_signed(estimate.mean), _verdict(estimate), _range(estimate, start, end)),
            Cell(_ends(estimate, signed=True)),
            Cell(f"{estimate.tasks:,}"),
        )
        for name, one, estimate in known
    ]
    return Table(("reward", "run", "against", "difference", "interval", "tasks"), tuple(rows), "lllrlr")


def _changes(report: RunComparison) -> Table:
    rows = []
    for one in report.comparisons:
        if one.env_id is not None:
            continue
        losses = [change for change in one.changes[: _MOST_CHANGES // 2] if change.change < 0]
        gains = [change for change in one.changes[-(_MOST_CHANGES // 2) :] if change.change > 0]
        rows += [
            (
                Cell(one.run, "strong"),
                Cell(change.env_id),
                Cell(change.task_id),
                Cell(_number(change.baseline)),
                Cell(_number(change.run)),
                Cell(_signed(change.change), "good" if change.change > 0 else "bad"),
            )
            for change in [*reversed(gains), *losses]
        ]
    return Table(("run", "environment", "task", "baseline", "here", "change"), tuple(rows), "lllrrr")


def _rewards(report: RunComparison) -> Table:
    names = list(dict.fromkeys(name for run in report.runs for name in run.overall.rewards))
    rows = []
    for name in names:
        for run in report.runs:
            estimate = run.overall.rewards.get(name)
            if estimate is None:
                continue
            applies = estimate.episodes + estimate.unknown
            rows.append(
                (
                    Cell(name),
                    Cell(run.name, "strong"),
                    Cell(_number(estimate.mean) if applies else "does not apply", range=_range(estimate, 0.0, 1.0)),
                    Cell(_ends(estimate)),
                    Cell(f"{estimate.tasks:,}"),
                    Cell(f"{estimate.episodes:,}"),
                    _count(estimate.unknown),
                )
            )
    return Table(("reward", "run", "mean", "interval", "tasks", "episodes", "unknown"), tuple(rows), "llrlrrr")


def _passes(report: RunComparison) -> Table:
    rows = [
        (
            Cell(label),
            Cell(run.name, "strong"),
            Cell(str(row.k)),
            Cell(_number(row.pass_at.mean), range=_range(row.pass_at, 0.0, 1.0)),
            Cell(_ends(row.pass_at)),
            Cell(_number(row.pass_hat.mean), range=_range(row.pass_hat, 0.0, 1.0)),
            Cell(_ends(row.pass_hat)),
            Cell(f"{row.pass_at.tasks:,}"),
        )
        for label, run, group in _groups(report.runs)
        for row in group.passes
    ]
    headers = ("environment", "run", "k", "pass@k", "interval", "pass^k", "interval", "tasks")
    return Table(headers, tuple(rows), "llrrlrlr")


def _errors(report: RunComparison) -> Table:
    kinds = sorted({kind for run in report.runs for kind in run.errors})
    rows = [
        (
            Cell(kind),
            *(
                Cell(f"{100 * run.errors.get(kind, 0) / run.overall.episodes:.1f}" if run.overall.episodes else "")
                for run in report.runs
            ),
        )
        for kind in kinds
    ]
    return Table(("error", *(run.name for run in report.runs)), tuple(rows), "l" + "r" * len(report.runs))


def _training(curves: Sequence[Curves]) -> Table:
    rows = [
        (
            Cell(one.name, "strong"),
            Cell(gain.path),
            Cell(f"{gain.steps:,}"),
            Cell(_number(gain.first)),
            Cell(_number(gain.last)),
            Cell("" if gain.first is None or gain.last is None else _signed(gain.last - gain.first)),
        )
        for one in curves
        for gain in one.gains()
    ]
    headers = ("run", "log", "steps", "return, first tenth", "last tenth", "gain")
    return Table(headers, tuple(rows), "llrrrr")


# Cells.


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.3f}"


def _ends(estimate: Estimate, *, signed: bool = False) -> str:
    write: Callable[[float | None], str] = _signed if signed else _number
    return "" if estimate.low is None else f"[{write(estimate.low)}, {write(estimate.high)}]"


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", "bad" if number else "dim")


def _share(count: int, of: int) -> str:
    return f"{count / of:.1%}" if of else ""


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < _SMALL else f"{value:.4f}"


def _verdict(estimate: Estimate) -> str:
    """Good or bad where the interval lies on one side of 0."""
    if estimate.low is None or estimate.high is None:
        return ""
    return "good" if estimate.low > 0 else "bad" if estimate.high < 0 else ""


def _scale(estimates: Sequence[Estimate], *, around_0: bool = False) -> tuple[float, float]:
    """A scale for all: 0 to 1, or symmetric around 0, and wider where an interval is."""
    ends = [end for one in estimates for end in (one.low, one.high, one.mean) if end is not None]
    if around_0:
        reach = max((abs(end) for end in ends), default=0.0) or 1.0
        return -reach, reach
    return min([0.0, *ends]), max([1.0, *ends])


def _range(estimate: Estimate, start: float, end: float) -> Range | None:
    if estimate.low is None or estimate.high is None or estimate.mean is None:
        return None
    return Range(estimate.low, estimate.mean, estimate.high, start, end)
