"""From verdicts to the leaderboard's columns::

    columns({"simple_python": (380, 400), "simple_java": (60, 100)})["overall"]["Overall Acc"]  # '1.06%'

Source: ``bfcl-eval`` 2026.3.23 (``eval_runner_helper``). Sums are made in the official order: rounding to two
digits shows the last bit of a sum now and then.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.errors import DataError

__all__ = ["OVERALL_WEIGHTS", "FormatSensitivity", "columns", "format_sensitivity", "overall"]

Counts = Mapping[str, tuple[int, int]]
"""Category to (correct entries, entries); a category that was not run is absent."""

OVERALL_WEIGHTS = {"non_live": 10, "live": 10, "irrelevance": 10, "multi_turn": 30, "agentic": 40}
"""Percent of the overall score."""

_NOT_RUN = "N/A"


@dataclass(frozen=True, slots=True)
class _Accuracy:
    """An accuracy, and the entries behind it."""

    value: float
    count: int
    complete: bool = True
    """Whether all categories in it were run; one that was not counts as 0."""

    def shown(self, always: bool = False) -> str:
        return f"{self.value * 100:.2f}%" if self.complete or always else _NOT_RUN


def _mean(parts: Sequence[_Accuracy]) -> _Accuracy:
    return _joined(parts, sum(part.value for part in parts) / len(parts))


def _mean_by_count(parts: Sequence[_Accuracy]) -> _Accuracy:
    return _joined(parts, sum(part.value * part.count for part in parts) / sum(part.count for part in parts))


def _joined(parts: Sequence[_Accuracy], value: float) -> _Accuracy:
    return _Accuracy(value, sum(part.count for part in parts), all(part.complete for part in parts))


class _Scores:
    """The official aggregates of one model."""

    def __init__(self, counts: Counts) -> None:
        for name, (correct, total) in counts.items():
            if name not in CATEGORIES:
                raise DataError(f"BFCL has no category {name!r}; the categories are: {', '.join(CATEGORIES)}")
            if not 0 <= correct <= total:
                raise DataError(f"{name}: {correct} of {total} entries cannot be right")
        self._counts = counts
        self.simple = _mean([self.of(f"simple_{language}") for language in ("python", "java", "javascript")])
        self.non_live = _mean([self.simple, *map(self.of, ("multiple", "parallel", "parallel_multiple"))])
        live = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
        self.live = _mean_by_count([self.of(name) for name in live])
        self.irrelevance = _mean([self.of("irrelevance"), self.of("live_irrelevance")])
        turns = ("base", "miss_func", "miss_param", "long_context")
        self.multi_turn = _mean([self.of(f"multi_turn_{name}") for name in turns])
        self.web_search = _mean([self.of("web_search_base"), self.of("web_search_no_snippet")])
        self.memory = _mean([self.of(f"memory_{store}") for store in ("kv", "vector", "rec_sum")])
        self.agentic = _mean([self.web_search, self.memory])

    def of(self, category: str) -> _Accuracy:
        correct, total = self._counts.get(category, (0, 0))
        if total == 0:
            return _Accuracy(0, CATEGORIES[category].count, complete=False)
        return _Accuracy(correct / total, total)

    def shown(self, category: str) -> str:
        return self.of(category).shown()

    @property
    def overall(self) -> float:
        weights = sum(OVERALL_WEIGHTS.values())
        total = 0.0
        for name, weight in OVERALL_WEIGHTS.items():
            part: _Accuracy = getattr(self, name)
            total += part.value * (weight / weights)
        return total


def overall(counts: Counts) -> float:
    """The leaderboard's overall accuracy, between 0 and 1; what was not run counts as 0.

    Args:
        counts: Category to (correct, total).

    Raises:
        DataError: There is no such category, or more is right than there is.
    """
    return _Scores(counts).overall


def columns(counts: Counts, formats: FormatSensitivity | None = None) -> dict[str, dict[str, str]]:
    """The official tables of one model, the columns of rank, name, cost and latency left out.

    Args:
        counts: Category to (correct, total). What was not run counts as 0 and shows as "N/A", and so do the
            summaries over it; the overall columns always show a number.
        formats: The statistics of the prompt formats; None leaves their two columns out.

    Returns:
        ``overall``, ``non_live``, ``live``, ``multi_turn``, ``agentic``: column to text, as in the official files.

    Raises:
        DataError: There is no such category, or more is right than there is.
    """
    scores = _Scores(counts)
    tables = {
        "overall": _overall_table(scores),
        "non_live": _non_live_table(scores),
        "live": _live_table(scores),
        "multi_turn": _multi_turn_table(scores),
        "agentic": _agentic_table(scores),
    }
    if formats is not None:
        tables["overall"]["Format Sensitivity Max Delta"] = str(formats.max_delta)
        tables["overall"]["Format Sensitivity Standard Deviation"] = str(formats.standard_deviation)
    return tables


def _overall_table(scores: _Scores) -> dict[str, str]:
    return {
        "Overall Acc": f"{scores.overall * 100:.2f}%",
        "Non-Live AST Acc": scores.non_live.shown(),
        "Non-Live Simple AST": scores.simple.shown(),
        "Non-Live Multiple AST": scores.shown("multiple"),
        "Non-Live Parallel AST": scores.shown("parallel"),
        "Non-Live Parallel Multiple AST": scores.shown("parallel_multiple"),
        "Live Acc": scores.live.shown(always=True),
        "Live Simple AST": scores.shown("live_simple"),
        "Live Multiple AST": scores.shown("live_multiple"),
        "Live Parallel AST": scores.shown("live_parallel"),
        "Live Parallel Multiple AST": scores.shown("live_parallel_multiple"),
        "Multi Turn Acc": scores.multi_turn.shown(always=True),
        "Multi Turn Base": scores.shown("multi_turn_base"),
        "Multi Turn Miss Func": scores.shown("multi_turn_miss_func"),
        "Multi Turn Miss Param": scores.shown("multi_turn_miss_param"),
        "Multi Turn Long Context": scores.shown("multi_turn_long_context"),
        "Web Search Acc": scores.web_search.shown(),
        "Web Search Base": scores.shown("web_search_base"),
        "Web Search No Snippet": scores.shown("web_search_no_snippet"),
        "Memory Acc": scores.memory.shown(),
        "Memory KV": scores.shown("memory_kv"),
        "Memory Vector": scores.shown("memory_vector"),
        "Memory Recursive Summarization": scores.shown("memory_rec_sum"),
        "Relevance Detection": scores.shown("live_relevance"),
        "Irrelevance Detection": scores.irrelevance.shown(),
    }


def _non_live_table(scores: _Scores) -> dict[str, str]:
    return {
        "Non-Live Overall Acc": scores.non_live.shown(always=True),
        "AST Summary": scores.non_live.shown(),
        "Simple AST": scores.simple.shown(),
        "Python Simple AST": scores.shown("simple_python"),
        "Java Simple AST": scores.shown("simple_java"),
        "JavaScript Simple AST": scores.shown("simple_javascript"),
        "Multiple AST": scores.shown("multiple"),
        "Parallel AST": scores.shown("parallel"),
        "Parallel Multiple AST": scores.shown("parallel_multiple"),
        "Irrelevance Detection": scores.shown("irrelevance"),
    }


def _live_table(scores: _Scores) -> dict[str, str]:
    return {
        "Live Overall Acc": scores.live.shown(always=True),
        "AST Summary": scores.live.shown(),
        "Python Simple AST": scores.shown("live_simple"),
        "Python Multiple AST": scores.shown("live_multiple"),
        "Python Parallel AST": scores.shown("live_parallel"),
        "Python Parallel Multiple AST": scores.shown("live_parallel_multiple"),
        "Irrelevance Detection": scores.shown("live_irrelevance"),
        "Relevance Detection": scores.shown("live_relevance"),
    }


def _multi_turn_table(scores: _Scores) -> dict[str, str]:
    return {
        "Multi Turn Overall Acc": scores.multi_turn.shown(always=True),
        "Base": scores.shown("multi_turn_base"),
        "Miss Func": scores.shown("multi_turn_miss_func"),
        "Miss Param": scores.shown("multi_turn_miss_param"),
        "Long Context": scores.shown("multi_turn_long_context"),
    }


def _agentic_table(scores: _Scores) -> dict[str, str]:
    return {
        "Agentic Overall Acc": scores.agentic.shown(always=True),
        "Web Search Summary": scores.web_search.shown(),
        "Web Search Base": scores.shown("web_search_base"),
        "Web Search No Snippet": scores.shown("web_search_no_snippet"),
        "Memory Summary": scores.memory.shown(),
        "Memory KV": scores.shown("memory_kv"),
        "Memory Vector": scores.shown("memory_vector"),
        "Memory Recursive Summarization": scores.shown("memory_rec_sum"),
    }


@dataclass(frozen=True, slots=True)
class FormatSensitivity:
    """How much accuracy depends on the prompt's format; numbers in percent, rounded to two digits as officially."""

    accuracy: dict[str, float]
    """Format to accuracy, between 0 and 1, not rounded."""
    max_delta: float
    """The best format's accuracy minus the worst's."""
    standard_deviation: float
    """Of the formats as a sample."""
    variance: float
    """Of the formats as a sample, in squared percent."""


def format_sensitivity(counts: Counts) -> FormatSensitivity:
    """The statistics over prompt formats; with a single format they are 0.

    Args:
        counts: Format to (correct, total).

    Raises:
        DataError: There is no format, or one has no entries.
    """
    if not counts or any(total <= 0 or not 0 <= correct <= total for correct, total in counts.values()):
        raise DataError("each format needs a number of entries above 0 and no more right ones than that")
    accuracy = {name: correct / total for name, (correct, total) in counts.items()}
    values = list(accuracy.values())
    if len(values) == 1:
        return FormatSensitivity(accuracy, 0.0, 0.0, 0.0)
    return FormatSensitivity(
        accuracy,
        max_delta=round((max(values) - min(values)) * 100, 2),
        standard_deviation=round(statistics.stdev(values) * 100, 2),
        variance=round(statistics.variance(values) * 100**2, 2),
    )
