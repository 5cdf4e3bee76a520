"""A report's pictures, as PNG by matplotlib: the same numbers give the same bytes with the same matplotlib.

Names are drawn as they stand: no formula is read out of them.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from callgym.errors import MissingPackageError
from callgym.reports.comparison import RunComparison
from callgym.reports.document import Picture
from callgym.reports.numbers import Comparison, Estimate, GroupNumbers, RunNumbers
from callgym.reports.run_record import RunRecord
from callgym.reports.shown_name import shortened
from callgym.reports.statistics import Floats
from callgym.reports.training_log import RETURN_KEY, Curves, smoothed

__all__ = ["draw_pictures"]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
"""Okabe and Ito's, told apart by the colour-blind."""
_INK, _SOFT, _LINE = "#1b2430", "#5b6675", "#d9dfe6"
_DPI = 144
_WIDTH = 9.0  # inches
_MOST_RUNS = 8
_MOST_ENVS = 24
_MOST_TASKS = 4_000
_LONGEST = 44
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.parse_math": False,
    "text.color": _INK,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.7,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "legend.frameon": False,
    "figure.facecolor": "white",
}


def draw_pictures(
    report: RunComparison | None, records: Sequence[RunRecord], curves: Sequence[Curves]
) -> dict[str, Picture]:
    """Draw what there is something to draw of.

    Args:
        report: The numbers of the runs; None where there are only training logs.
        records: The runs themselves.
        curves: The training logs.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingPackageError.for_extra("matplotlib", "viz") from error
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # a user's matplotlibrc draws other pictures
        mpl.rcParams.update(_STYLE)
        warnings.simplefilter("ignore")  # characters that the font lacks are drawn as boxes
        drawn = [*_of_runs(report, records), *_of_curves([one for one in curves if len(one.steps())])]
    return {picture.name: picture for picture in drawn}


def _of_runs(report: RunComparison | None, records: Sequence[RunRecord]) -> Iterator[Picture]:
    if report is None:
        return
    confidence = f"{report.settings.confidence:.0%} interval over tasks"
    yield _returns(report.runs[:_MOST_RUNS], confidence)
    yield _distribution([record for record in records if record.episodes][:_MOST_RUNS])
    overall = [one for one in report.comparisons if one.env_id is None and one.changes]
    if overall:
        yield _differences(overall[:_MOST_RUNS])
    if any(len(run.overall.passes) > 1 for run in report.runs):
        yield _passes(report.runs[:_MOST_RUNS], confidence)


# Runs.


def _returns(runs: Sequence[RunNumbers], confidence: str) -> Picture:
    """A forest plot: a line an environment, the runs below each other."""
    rows = _forest_rows(runs)
    figure = _figure(
        0.9 + 0.27 * sum(len(groups) for _, groups in rows) + 0.22 * len(rows) + 0.3 * ((len(runs) + 2) // 3)
    )
    axes = figure.subplots()
    at, ticks, labels = 0.0, [], []
    for label, groups in rows:
        places = [at + 0.8 * number for number in range(len(groups))]
        for place, (number, group) in zip(places, groups, strict=True):
            _whisker(axes, place, group.returns, _COLOURS[number])
        ticks.append(sum(places) / len(places))
        labels.append(shortened(label, _LONGEST))
        at = places[-1] + 1.6
    axes.set_yticks(ticks, labels)
    axes.set_ylim(at - 0.6, -1.0)
    axes.set_xlim(*_limits([group.returns for _, groups in rows for _, group in groups]))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, labelcolor=_INK)
    axes.set_xlabel("mean return")
    _legend_above(figure, axes, [run.name for run in runs])
    return _saved(figure, "returns", f"Mean return by environment and run, with the {confidence}.")


def _forest_rows(runs: Sequence[RunNumbers]) -> list[tuple[str, list[tuple[int, GroupNumbers]]]]:
    env_ids = list(dict.fromkeys(group.env_id or "" for run in runs for group in run.by_env))
    rows = [("all", [(number, run.overall) for number, run in enumerate(runs)])] if len(env_ids) != 1 else []
    for env_id in env_ids[:_MOST_ENVS]:
        groups = [(n, group) for n, run in enumerate(runs) for group in run.by_env if group.env_id == env_id]
        rows.append((env_id, groups))
    return rows


def _whisker(axes: Any, place: float, estimate: Estimate, colour: str) -> None:
    if estimate.mean is None:
        return
    if estimate.low is not None and estimate.high is not None:
        axes.plot([estimate.low, estimate.high], [place, place], color=colour, linewidth=2.2, alpha=0.55)
    axes.plot([estimate.mean], [place], "o", color=colour, markersize=6)
    right = estimate.mean if estimate.high is None else estimate.high
    axes.annotate(
        f"{estimate.mean:.3f}",
        (right, place),
        (6, 0),
        textcoords="offset points",
        va="center",
        color=_SOFT,
        fontsize=8.5,
    )


def _distribution(records: Sequence[RunRecord]) -> Picture:
    """Histograms of the returns, one above the other."""
    values = [[e.episode_return for e in record.episodes if e.episode_return is not None] for record in records]
    known = [value for some in values for value in some]
    low, high = min([0.0, *known]), max([1.0, *known])
    edges = np.linspace(low, high, 21)
    figure = _figure(0.6 + 1.25 * len(records))
    rows = figure.subplots(len(records), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for number, (axes, record, some) in enumerate(zip(rows, records, values, strict=True)):
        counts, _ = np.histogram(some, edges)
        shares = counts / len(some) if some else counts
        axes.bar(edges[:-1], shares, width=np.diff(edges), align="edge", color=_COLOURS[number], edgecolor="white")
        axes.set_title(shortened(record.name, _LONGEST), color=_COLOURS[number])
        axes.grid(visible=False, axis="x")
        axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    rows[-1].set_xlabel("return of an episode")
    figure.supylabel("share of episodes", fontsize=9.5, color=_INK)
    return _saved(figure, "distribution", "Distribution of the returns: share of the episodes of known return.")


def _differences(comparisons: Sequence[Comparison]) -> Picture:
    """Every task's difference, sorted."""
    figure = _figure(0.5 + 1.75 * len(comparisons))
    rows = figure.subplots(len(comparisons), 1, sharey=True, squeeze=False)[:, 0]
    for axes, one in zip(rows, comparisons, strict=True):
        changes = np.array([change.change for change in one.changes])
        if len(changes) > _MOST_TASKS:  # more are no pixels of their own
            changes = changes[np.linspace(0, len(changes) - 1, _MOST_TASKS).round().astype(int)]
        places = np.linspace(0, 100, len(changes)) if len(changes) > 1 else np.array([50.0])
        for colour, part in ((_COLOURS[1], changes < 0), (_COLOURS[0], changes > 0)):
            axes.fill_between(places, np.where(part, changes, 0.0), step="mid", color=colour, alpha=0.85, linewidth=0)
        axes.axhline(0, color=_SOFT, linewidth=0.8)
        if one.difference.mean is not None:
            axes.axhline(one.difference.mean, color=_INK, linewidth=1.1, linestyle=(0, (4, 3)))
        title = f"{shortened(one.run, _LONGEST)} against {shortened(one.baseline, _LONGEST)}"
        axes.set_title(f"{title}: {one.worse:,} worse, {one.equal:,} equal, {one.better:,} better")
        axes.set_xlim(0, 100)
        axes.grid(visible=False, axis="x")
        axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0f}%")
    rows[-1].set_xlabel("tasks, from the greatest loss to the greatest gain")
    figure.supylabel("difference of the return", fontsize=9.5, color=_INK)
    return _saved(figure, "differences", "Paired differences, task by task; the dashed line is their mean.")


def _passes(runs: Sequence[RunNumbers], confidence: str) -> Picture:
    figure = _figure(3.3)
    panels = figure.subplots(1, 2, sharey=True)
    kinds: tuple[tuple[str, Callable[[Any], Estimate]], ...] = (
        ("pass@k: at least one of k", lambda row: row.pass_at),
        ("pass^k: all of k", lambda row: row.pass_hat),
    )
    for axes, (title, chosen) in zip(panels, kinds, strict=True):
        for number, run in enumerate(runs):
            rows = [row for row in run.overall.passes if chosen(row).mean is not None]
            ks = [row.k for row in rows]
            means = [chosen(row).mean for row in rows]
            axes.plot(ks, means, "o-", color=_COLOURS[number], linewidth=1.8, markersize=4.5)
            if all(chosen(row).low is not None for row in rows):
                lows, highs = [chosen(row).low for row in rows], [chosen(row).high for row in rows]
                axes.fill_between(ks, lows, highs, color=_COLOURS[number], alpha=0.15, linewidth=0)
        ks = sorted({row.k for run in runs for row in run.overall.passes})
        axes.set_xscale("log", base=2)
        axes.set_xticks(ks, [str(k) for k in ks])
        axes.minorticks_off()
        axes.set(xlabel="k", ylim=(-0.02, 1.02))
        axes.set_title(title)
    _legend_above(figure, panels[0], [run.name for run in runs])
    return _saved(figure, "passes", f"Repeated attempts, with the {confidence}.")


# Training.


def _of_curves(curves: Sequence[Curves]) -> Iterator[Picture]:
    if not curves:
        return
    shown = curves[:_MOST_RUNS]
    several = any(len(one.rows) > 1 for one in shown)
    how = (
        "Dark: the mean of the seeds, smoothed; band: from the lowest to the highest seed, smoothed."
        if several
        else "Pale: every step; dark: the moving mean."
    )
    if any(RETURN_KEY in one.names() for one in shown):
        figure = _figure(3.4)
        _panel(figure.subplots(), shown, RETURN_KEY, "")
        figure.axes[0].set(xlabel="optimiser step", ylabel="mean return")
        _legend_above(figure, figure.axes[0], [one.name for one in shown])
        yield _saved(figure, "training_return", f"Return while training. {how}")
    panels = _panels(shown)
    if panels:
        lines = math.ceil(len(panels) / 3)
        figure = _figure(0.5 + 1.9 * lines)
        grid = figure.subplots(lines, 3, squeeze=False).ravel()
        for axes, (key, title) in zip(grid, panels, strict=False):
            _panel(axes, shown, key, title)
        for axes in grid[len(panels) :]:
            axes.axis("off")
        _legend_above(figure, grid[0], [one.name for one in shown])
        yield _saved(figure, "training_more", f"Rewards, lengths and errors while training. {how}")


_MOST_PANELS = 18
_SINGLE_KEYS = {
    "completions/mean_length": "tokens of a completion",
    "completions/clipped_ratio": "share cut at the token limit",
    "callgym/steps": "actions an episode",
    "callgym/turns": "user turns an episode",
    "callgym/calls": "calls an episode",
    "callgym/unknown_return": "share of unknown return",
    "callgym/failed": "share that broke",
    "kl": "KL from the reference",
    "entropy": "entropy",
    "grad_norm": "gradient norm",
    "frac_reward_zero_std": "groups of equal returns",
}


def _panels(curves: Sequence[Curves]) -> list[tuple[str, str]]:
    """Key and title of what is drawn beside the return: rewards, then lengths and the like, then errors by kind."""
    keys = sorted({key for one in curves for key in one.names()})
    rewards = [key for key in keys if key.startswith("rewards/") and key.endswith("/mean") and key != RETURN_KEY]
    errors = [key for key in keys if key.startswith(("callgym/parse_errors/", "callgym/tool_errors/"))]
    found = [(key, key.removeprefix("rewards/").removesuffix("/mean").replace("_", " ")) for key in rewards]
    found += [(key, title) for key, title in _SINGLE_KEYS.items() if key in keys]
    found += [
        (key, f"{key.rpartition('/')[2].replace('_', ' ')} errors an episode") for key in errors if _ever(curves, key)
    ]
    return found[:_MOST_PANELS]


def _ever(curves: Sequence[Curves], key: str) -> bool:
    return any(row.get(key) for one in curves for log in one.rows for row in log)


def _panel(axes: Any, curves: Sequence[Curves], key: str, title: str) -> None:
    for number, one in enumerate(curves):
        if key in one.names():
            _curve(axes, one.steps(), one.series(key), _COLOURS[number])
    axes.set_title(shortened(title, 34))


def _curve(axes: Any, steps: Floats, series: Floats, colour: str) -> None:
    """One seed: raw and smoothed; several: the mean and the band between the lowest and the highest."""
    window = max(1, len(steps) // 15)
    smooth = np.array([smoothed(seed, window) for seed in series])
    if len(series) == 1:
        axes.plot(steps, series[0], color=colour, alpha=0.3, linewidth=1.0)
        axes.plot(steps, smooth[0], color=colour, linewidth=1.9)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # steps that no seed has
        axes.fill_between(steps, np.nanmin(smooth, 0), np.nanmax(smooth, 0), color=colour, alpha=0.18, linewidth=0)
        axes.plot(steps, np.nanmean(smooth, 0), color=colour, linewidth=1.9)


# Figures.


def _figure(height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(_WIDTH, min(height, 40.0)), layout="constrained")


def _limits(estimates: Sequence[Estimate]) -> tuple[float, float]:
    ends = [end for one in estimates for end in (one.low, one.mean, one.high) if end is not None]
    low, high = min([0.0, *ends]), max([1.0, *ends])
    return low - 0.02 * (high - low), high + 0.08 * (high - low)


def _legend_above(figure: Any, axes: Any, names: Sequence[str]) -> None:
    """The runs' names in their colours, above everything."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=_COLOURS[number], linewidth=3) for number in range(len(names))]
    labels = [shortened(name, _LONGEST).lstrip("_") or "(no name)" for name in names]
    figure.legend(handles, labels, loc="outside upper left", ncols=min(3, len(names)), handlelength=1.2)


def _saved(figure: Any, name: str, caption: str) -> Picture:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DPI, metadata={"Software": None})
    return Picture(name, caption, file.getvalue())
