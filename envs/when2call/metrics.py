"""When2Call's metrics: what log-likelihoods choose, and what is counted of the choices.

    report = mcq_report([decide("tool_call", loglikelihoods, choices, tools=2), ...])
    print(report.table())

Sources: lm_eval 0.4.8 (``multiple_choice``) for the choice, accuracy and normalised accuracy; ``NVIDIA/When2Call``
at ecc8d42 for the hallucination rate, the confusion matrix and the judge version's totals. The task file also asks
for a metric ``macro_f1``, which no release of lm_eval has: here it is scikit-learn's, of the raw choices as by
analogy with ``f1``; that of the normalised ones stands beside it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from callgym.envs.when2call.rows import ANSWERS, Answer
from callgym.errors import DataError

__all__ = ["JUDGED", "Choice", "Decided", "JudgeReport", "Report", "choose", "decide", "judge_report", "mcq_report"]

JUDGED: Mapping[str, Answer] = {
    "direct_answer": "direct",
    **{kind: kind for kind in ANSWERS},
}
"""What a judge may say, and the kind of reply it means; the official prompt says ``direct_answer``."""
_JUDGE_ROWS: tuple[Answer, ...] = ("tool_call", "request_for_info", "cannot_answer")
"""The kinds that the official totals know as right answers."""
_SHORT: Mapping[Answer, str] = {
    "direct": "direct",
    "tool_call": "call",
    "request_for_info": "ask",
    "cannot_answer": "cannot",
}

Matrix = tuple[tuple[int, ...], ...]


class Choice(NamedTuple):
    """Which of a row's choices log-likelihoods prefer."""

    raw: int
    """Index of the greatest summed log-likelihood."""
    normalised: int
    """Index of the greatest log-likelihood a character."""


class Decided(NamedTuple):
    """One row and what was decided."""

    gold: Answer
    """The right kind of reply."""
    raw: Answer | None
    """The kind that was chosen; None where the policy's choice cannot be read, which is wrong."""
    normalised: Answer | None
    """The kind that the length-normalised log-likelihoods choose; the same where there are none."""
    tools: int
    """How many tools were offered."""


@dataclass(frozen=True, slots=True)
class Report:
    """What is counted of decisions. Rows and columns of matrices are in the official order (``ANSWERS``)."""

    rows: int
    accuracy: float | None
    """Share of right decisions; None without rows, as for the next three."""
    accuracy_normalised: float | None
    """The same, length-normalised: the paper's accuracy."""
    macro_f1: float | None
    """Mean F1 of the kinds that occur as right or chosen."""
    macro_f1_normalised: float | None
    """The same, length-normalised."""
    rows_without_tools: int
    """Rows whose right answer is ``cannot_answer`` and that offer no tool."""
    hallucination_rate: float
    """Share of these in which a call was chosen; lower is better, 0 without such rows."""
    hallucination_rate_normalised: float
    """The same, length-normalised."""
    confusion: Matrix
    """Right kind (row) by chosen kind (column)."""
    confusion_normalised: Matrix
    """The same, length-normalised."""
    unread: int
    """Rows whose choice could not be read; they are in no column."""
    official_error: str | None
    """What the official script raises in place of a matrix, where fewer than four kinds occur."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON values; matrices as ``{right: {chosen: count}}``."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["confusion"] = _named(self.confusion)
        values["confusion_normalised"] = _named(self.confusion_normalised)
        return values

    def to_json(self) -> str:
        """The numbers as one line of JSON."""
        return json.dumps(self.to_dict())

    def table(self) -> str:
        """The numbers as text for a terminal."""
        lines = [f"{'rows':<28}{self.rows:>8}", f"{'':<28}{'raw':>8}{'by length':>11}"]
        lines += [
            _line("accuracy", self.accuracy, self.accuracy_normalised),
            _line("macro F1", self.macro_f1, self.macro_f1_normalised),
            _line(
                f"tool hallucination ({self.rows_without_tools} rows)",
                self.hallucination_rate,
                self.hallucination_rate_normalised,
            ),
        ]
        if self.unread:
            lines.append(f"{'choices that were not read':<28}{self.unread:>8}")
        lines.append(f"{'right kind, by chosen (raw)':<28}" + "".join(f"{_SHORT[kind]:>8}" for kind in ANSWERS))
        for kind, counts in zip(ANSWERS, self.confusion, strict=True):
            lines.append(f"  {_SHORT[kind]:<26}" + "".join(f"{count:>8}" for count in counts))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What is counted of a judge's classifications."""

    scores: Mapping[Answer, float | None]
    """Right kind to the share of its rows that the judge classified so; None without rows."""
    distribution: Mapping[Answer, Mapping[str, int]]
    """Right kind to how often the judge said what."""
    official: Mapping[str, Any] | None
    """What the official script writes: ``{kind: {"score", "response_distribution"}}``; None where it raises."""
    official_error: str | None
    """What it raises: a kind without rows is a division by zero, ``direct`` as right answer a KeyError."""
    report: Report
    """Accuracy, F1 and the rest of the same classifications, which the official script does not compute."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON values."""
        return {
            "scores": dict(self.scores),
            "distribution": {kind: dict(counts) for kind, counts in self.distribution.items()},
            "official_error": self.official_error,
            "report": self.report.to_dict(),
        }

    def to_json(self) -> str:
        """The numbers as one line of JSON."""
        return json.dumps(self.to_dict())

    def table(self) -> str:
        """The numbers as text for a terminal."""
        lines = [f"{'score of ' + kind:<28}{_number(score):>8}" for kind, score in self.scores.items()]
        return "\n".join([*lines, self.report.table()])


# From log-likelihoods to decisions.


def choose(loglikelihoods: Sequence[float], choices: Sequence[str]) -> Choice:
    """The choice with the greatest log-likelihood, and with the greatest a character; ties go to the first.

    Args:
        loglikelihoods: Summed log-likelihood of each choice.
        choices: The choices' texts; lengths are counted in characters.

    Raises:
        DataError: Their numbers differ, there is none, one is NaN, or a choice is empty.
    """
    if not choices or len(loglikelihoods) != len(choices):
        raise DataError(f"{len(loglikelihoods)} log-likelihoods for {len(choices)} choices")
    if any(math.isnan(value) for value in loglikelihoods):
        raise DataError(f"a log-likelihood is not a number: {list(loglikelihoods)}")
    if not all(choices):
        raise DataError("a choice is empty: its log-likelihood a character cannot be computed")
    return Choice(
        _first_greatest(loglikelihoods),
        _first_greatest([value / len(choice) for value, choice in zip(loglikelihoods, choices, strict=True)]),
    )


def _first_greatest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)  # max keeps the first of equals


def decide(gold: Answer, loglikelihoods: Sequence[float], choices: Sequence[str], tools: int) -> Decided:
    """What the log-likelihoods of a row's four choices decide; errors as for ``choose``."""
    if len(choices) != len(ANSWERS):
        raise DataError(f"a row has {len(ANSWERS)} choices, found {len(choices)}")
    chosen = choose(loglikelihoods, choices)
    return Decided(gold, ANSWERS[chosen.raw], ANSWERS[chosen.normalised], tools)


# Counting.


def mcq_report(decided: Iterable[Decided]) -> Report:
    """Count decisions."""
    rows = list(decided)
    bare = [row for row in rows if row.gold == "cannot_answer" and not row.tools]
    raw = [(row.gold, row.raw) for row in rows]
    normalised = [(row.gold, row.normalised) for row in rows]
    return Report(
        rows=len(rows),
        accuracy=_accuracy(raw),
        accuracy_normalised=_accuracy(normalised),
        macro_f1=_macro_f1(raw),
        macro_f1_normalised=_macro_f1(normalised),
        rows_without_tools=len(bare),
        hallucination_rate=_share(row.raw == "tool_call" for row in bare) or 0.0,
        hallucination_rate_normalised=_share(row.normalised == "tool_call" for row in bare) or 0.0,
        confusion=_confusion(raw),
        confusion_normalised=_confusion(normalised),
        unread=sum(row.raw is None for row in rows),
        official_error=_matrix_error(raw),
    )


Pairs = Sequence[tuple[Answer, Answer | None]]
"""Right kind and chosen kind of each row."""


def _share(hits: Iterable[bool]) -> float | None:
    found = list(hits)
    return sum(found) / len(found) if found else None


def _accuracy(pairs: Pairs) -> float | None:
    return _share(gold == chosen for gold, chosen in pairs)


def _macro_f1(pairs: Pairs) -> float | None:
    right, golds, chosen = Counter[Answer](), Counter[Answer](), Counter[Answer]()
    for gold, choice in pairs:
        golds[gold] += 1
        if choice is not None:
            chosen[choice] += 1
            right[gold] += gold == choice
    seen = [kind for kind in ANSWERS if golds[kind] or chosen[kind]]
    # 2PR / (P + R), written with counts: a kind that is never right or never chosen has 0.
    return sum(2 * right[kind] / (golds[kind] + chosen[kind]) for kind in seen) / len(seen) if seen else None


def _confusion(pairs: Pairs) -> Matrix:
    counts = Counter(pairs)
    return tuple(tuple(counts[gold, chosen] for chosen in ANSWERS) for gold in ANSWERS)


def _matrix_error(pairs: Pairs) -> str | None:
    seen = len({kind for pair in pairs for kind in pair if kind is not None})
    if seen == len(ANSWERS):
        return None
    return f"ValueError: Shape of passed values is ({seen}, {seen}), indices imply (4, 4)"


def judge_report(classified: Iterable[tuple[Answer, str]], tools: Iterable[int] | None = None) -> JudgeReport:
    """Count a judge's classifications.

    Args:
        classified: Right kind and what the judge said, of each row; what is not in ``JUDGED`` is wrong.
        tools: How many tools each row offers, for the hallucination rate; without them every row offers some.
    """
    pairs = list(classified)
    offered = [1] * len(pairs) if tools is None else list(tools)
    distribution: dict[Answer, Counter[str]] = {kind: Counter() for kind in _JUDGE_ROWS}
    for gold, said in pairs:
        distribution.setdefault(gold, Counter())[said] += 1
    scores: dict[Answer, float | None] = {
        kind: counts[kind] / counts.total() if counts else None for kind, counts in distribution.items()
    }
    unknown = next((gold for gold, _ in pairs if gold not in _JUDGE_ROWS), None)
    error = None
    if unknown is not None:
        error = f"KeyError: {unknown!r}"
    elif None in scores.values():
        error = "ZeroDivisionError: division by zero"
    official: dict[str, Any] = {
        str(kind): {"score": scores[kind], "response_distribution": dict(counts)}
        for kind, counts in distribution.items()
    }
    decided = (
        Decided(gold, JUDGED.get(said), JUDGED.get(said), count)
        for (gold, said), count in zip(pairs, offered, strict=True)
    )
    return JudgeReport(
        scores=scores,
        distribution=distribution,
        official=None if error else official,
        official_error=error,
        report=mcq_report(decided),
    )


# Writing.


def _named(matrix: Matrix) -> dict[str, dict[str, int]]:
    return {gold: dict(zip(ANSWERS, counts, strict=True)) for gold, counts in zip(ANSWERS, matrix, strict=True)}


def _line(name: str, raw: float | None, normalised: float | None) -> str:
    return f"{name:<28}{_number(raw):>8}{_number(normalised):>11}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
