"""Abstention at a price, and as a report: wrong decisions that cost what they are said to, and when a policy knows.

    register_reward("careful", cost_sensitive(false_call=3.0), DecisionGoal, NOT_ASKED)
    print(decision_report(episodes).table())
    print(risk_coverage(episodes, log_probabilities).table())

The reports read records: what was decided is taken from the scores in them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args

from callgym.episode import Episode, Score
from callgym.errors import ConfigurationError
from callgym.rewards.abstention import OUTCOMES, RIGHT, Outcome, irrelevance_abstention, outcome_of
from callgym.task import Task

__all__ = [
    "CostSensitive",
    "Decided",
    "DecisionReport",
    "RiskCoverage",
    "cost_sensitive",
    "decided",
    "decision_report",
    "risk_coverage",
]

Decision = Literal["call", "ask", "decline", "answer"]
Mistake = Literal["false_call", "false_refusal", "wrong_call", "wrong_reply"]

_MADE: tuple[Outcome, ...] = ("called", "attempted")
_WORDS: tuple[Outcome, ...] = ("asked", "declined", "answered", "mixed")
_CALL_REWARDS = ("call_match", "call_exact_match", "argument_f1")


# A reward.


@dataclass(frozen=True, slots=True)
class CostSensitive:
    """``irrelevance_abstention`` where each kind of mistake has its cost; see ``cost_sensitive``."""

    false_call: float
    """A call, or an attempt at one, where none is due."""
    false_refusal: float
    """No call where one is due: words of whatever kind, or silence."""
    wrong_reply: float
    """No call where none is due, but words of another kind, a question that names nothing that is missing, silence."""
    wrong_call: float
    """A call where one is due, but all wrong; a call that is partly right costs that part less."""

    def __call__(self, task: Task, episode: Episode) -> Score:
        """The score of one episode; it applies where ``irrelevance_abstention`` does."""
        score = irrelevance_abstention(task, episode)
        if not score.applies or score.value is None:
            return score
        most = max(self.false_call, self.false_refusal, self.wrong_reply, self.wrong_call)
        mistake = _mistake(score.explanation)
        loss = getattr(self, mistake) * (1 - score.value) if score.value < 1 else 0.0
        explanation = score.explanation | {"mistake": mistake if score.value < 1 else None, "loss": loss, "most": most}
        return Score(value=1 - loss / most, explanation=explanation)


def cost_sensitive(
    false_call: float = 1.0, false_refusal: float = 1.0, wrong_reply: float = 1.0, wrong_call: float = 1.0
) -> CostSensitive:
    """A reward that says what mistakes cost: ``1 - cost * (1 - value) / highest cost``.

    ``value`` is what ``irrelevance_abstention`` pays, which is 0 for all mistakes but a call that is partly right.
    So the right decision earns 1, the dearest mistake 0, and with equal costs this is ``irrelevance_abstention``.
    Where ``false_call`` is below ``wrong_reply``, a call is cheaper than a wrong reply: to study, not to train with.
    A rubric that has ``irrelevance_abstention`` beside it, at weight 0, keeps records that the reports can read.

    Args:
        false_call: See ``CostSensitive`` for what each is the cost of.
        false_refusal: Likewise.
        wrong_reply: Likewise.
        wrong_call: Likewise.

    Raises:
        ConfigurationError: A cost is negative or not finite, or all are 0.
    """
    costs = (false_call, false_refusal, wrong_reply, wrong_call)
    if not all(math.isfinite(cost) and cost >= 0 for cost in costs) or not any(costs):
        raise ConfigurationError(f"costs are finite and not negative, and one at least is above 0; got {costs}")
    return CostSensitive(*map(float, costs))


def _mistake(explanation: dict[str, Any]) -> Mistake:
    """Which mistake it is, if it is one."""
    made = explanation["outcome"] in _MADE
    if explanation.get("expected", "decline") == "call":
        return "wrong_call" if made else "false_refusal"
    return "false_call" if made else "wrong_reply"


# What was decided.


class Decided(NamedTuple):
    """What an episode was to decide, and what it did."""

    expected: Decision
    outcome: Outcome
    value: float
    """In [0, 1], as paid by the reward that tells."""


def decided(episode: Episode) -> Decided | None:
    """What a record says of a decision: by ``irrelevance_abstention``, else by a reward of calls.

    None where no such reward applies or its value is unknown. Where a reward of calls tells, calls of a tool search
    are calls, and a goal without calls is no decision.
    """
    score = episode.rewards.get("irrelevance_abstention")
    if score is not None and score.applies and score.value is not None and "outcome" in score.explanation:
        told: Any = score.explanation
        outcome: Outcome = "declined" if told["outcome"] == "abstained" else told["outcome"]
        return Decided(told.get("expected", "decline"), outcome, score.value)
    for name in ("relevant_call", *_CALL_REWARDS):
        score = episode.rewards.get(name)
        if score is not None and score.applies and score.value is not None and _asks_for_calls(score):
            return Decided("call", outcome_of(episode.steps)[0], score.value)
    return None


def _asks_for_calls(score: Score) -> bool:
    turns: Any = score.explanation.get("turns")
    return turns is None or any(turn["matched"] or turn["missing"] for turn in turns)


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """What was decided where: the confusion of decisions and outcomes, and rates of mistakes."""

    rows: tuple[Decided, ...]
    """One an episode."""
    undecided: int
    """Episodes that say nothing of a decision."""

    def confusion(self) -> dict[Decision, dict[Outcome, int]]:
        """For each decision that is right somewhere, how often each outcome was."""
        counts = Counter((row.expected, row.outcome) for row in self.rows)
        present = [decision for decision in get_args(Decision) if any(row.expected == decision for row in self.rows)]
        return {decision: {outcome: counts[decision, outcome] for outcome in OUTCOMES} for decision in present}

    def rates(self) -> dict[str, float | None]:
        """Rates over all decisions; None where there is nothing to take a share of.

        ``accuracy``, the mean value. ``false_call``, the share with a call or an attempt among the episodes where no
        call is due. ``false_refusal``, the share without either among those where one is due.
        ``abstention_precision``, ``_recall`` and ``_f1``: replying in words without a call, against no call being due.
        """
        due = [row for row in self.rows if row.expected == "call"]
        not_due = [row for row in self.rows if row.expected != "call"]
        in_words = [row for row in self.rows if row.outcome in _WORDS]
        right = sum(row.outcome in _WORDS for row in not_due)
        return {
            "accuracy": _share(math.fsum(row.value for row in self.rows), len(self.rows)),
            "false_call": _share(sum(row.outcome in _MADE for row in not_due), len(not_due)),
            "false_refusal": _share(sum(row.outcome not in _MADE for row in due), len(due)),
            **_scores("abstention_", right, len(in_words), len(not_due)),
        }

    def by_decision(self) -> dict[Decision, dict[str, float | int | None]]:
        """For each decision that is right somewhere: ``episodes``, ``accuracy`` (the mean value), ``false_call`` (for
        a call: None), ``false_refusal`` (for others: None), ``precision``, ``recall``, ``f1`` of the outcome."""
        found: dict[Decision, dict[str, float | int | None]] = {}
        for decision, outcomes in self.confusion().items():
            values = [row.value for row in self.rows if row.expected == decision]
            made = sum(outcomes[outcome] for outcome in _MADE)
            chosen = sum(row.outcome == RIGHT[decision] for row in self.rows)
            found[decision] = {
                "episodes": len(values),
                "accuracy": math.fsum(values) / len(values),
                "false_call": None if decision == "call" else made / len(values),
                "false_refusal": 1 - made / len(values) if decision == "call" else None,
                **_scores("", outcomes[RIGHT[decision]], chosen, len(values)),
            }
        return found

    def to_json(self) -> str:
        """One line of JSON: ``episodes``, ``undecided``, ``rates``, ``by_decision``, ``confusion``."""
        line = {
            "episodes": len(self.rows),
            "undecided": self.undecided,
            "rates": self.rates(),
            "by_decision": self.by_decision(),
            "confusion": self.confusion(),
        }
        return json.dumps(line, allow_nan=False)

    def table(self) -> str:
        """The report as aligned lines for people."""
        lines = [f"{'expected':<10}" + "".join(f"{outcome:>11}" for outcome in OUTCOMES)]
        for decision, outcomes in self.confusion().items():
            lines.append(f"{decision:<10}" + "".join(f"{outcomes[outcome]:>11}" for outcome in OUTCOMES))
        columns = ("episodes", "accuracy", "false_call", "false_refusal", "precision", "recall", "f1")
        lines += ["", f"{'decision':<10}" + "".join(f"{column:>14}" for column in columns)]
        for decision, row in self.by_decision().items():
            lines.append(f"{decision:<10}" + "".join(f"{_shown(row[column]):>14}" for column in columns))
        lines.append("")
        lines += [f"{name:<22}{_shown(value):>7}" for name, value in self.rates().items()]
        if self.undecided:
            lines.append(f"without a decision, not counted: {self.undecided} episodes")
        return "\n".join(lines)


def decision_report(episodes: Iterable[Episode]) -> DecisionReport:
    """What the episodes of a run decided, by their records; see ``decided`` for which say so."""
    rows = [decided(episode) for episode in episodes]
    known = tuple(row for row in rows if row is not None)
    return DecisionReport(known, len(rows) - len(known))


# Risk and coverage.


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """How much goes wrong among the episodes of which the policy is surest, by how many these are.

    The selective risk of Geifman and El-Yaniv (2017, arXiv 1705.08500). Its area is the mean risk over all numbers of
    episodes that can be covered (AURC: Geifman et al. 2019, arXiv 1805.08206); episodes of equal confidence come in
    any order, and the area is the mean over these.
    """

    points: tuple[tuple[float, float], ...]
    """(coverage, risk) at each confidence that occurs, surest first; the last one covers everything."""
    area: float | None
    """The area under the curve; None without episodes."""
    best_area: float | None
    """That of a confidence that puts the losses in order."""
    unknown: int
    """Episodes whose value is unknown; they are not covered."""

    @property
    def excess_area(self) -> float | None:
        """What the confidence costs: the area beyond the best one."""
        return None if self.area is None or self.best_area is None else self.area - self.best_area

    def risk_at(self, coverage: float) -> float | None:
        """The risk of the first point that covers as much; None where there is none."""
        return next((risk for covered, risk in self.points if covered >= coverage - 1e-12), None)

    def to_json(self) -> str:
        """One line of JSON: ``area``, ``best_area``, ``excess_area``, ``unknown``, ``points``."""
        line = {
            "area": self.area,
            "best_area": self.best_area,
            "excess_area": self.excess_area,
            "unknown": self.unknown,
            "points": self.points,
        }
        return json.dumps(line, allow_nan=False)

    def table(self) -> str:
        """The curve at every tenth, as aligned lines for people."""
        lines = [f"{'coverage':>8}  {'risk':>6}"]
        lines += [f"{tenth / 10:>8.0%}  {_shown(self.risk_at(tenth / 10)):>6}" for tenth in range(1, 11)]
        lines.append(f"area {_shown(self.area)}, at best {_shown(self.best_area)}")
        if self.unknown:
            lines.append(f"value unknown, not covered: {self.unknown} episodes")
        return "\n".join(lines)


def risk_coverage(
    episodes: Iterable[Episode],
    confidence: Sequence[float] | Callable[[Episode], float],
    value: Callable[[Episode], float | None] | None = None,
) -> RiskCoverage:
    """The risk-coverage curve of a run.

    Args:
        episodes: Records.
        confidence: A number an episode, the higher the surer, on any scale (the log-probability of the action, say);
            or what tells it of an episode.
        value: What an episode is worth, in [0, 1], None where unknown; its loss is 1 less that. Without it, the value
            of the decision (``decided``), and the episode's return where there is none.

    Raises:
        ConfigurationError: There is not one confidence an episode, one is not a number, or a value is outside [0, 1].
    """
    played = list(episodes)
    told = [confidence(episode) for episode in played] if callable(confidence) else list(confidence)
    if len(told) != len(played):
        raise ConfigurationError(f"one confidence an episode: got {len(told)} for {len(played)}")
    losses: list[tuple[float, float]] = []
    for number, (episode, sure) in enumerate(zip(played, told, strict=True)):
        if not isinstance(sure, (int, float)) or math.isnan(sure):
            raise ConfigurationError(f"confidence {number} ({episode.task_id!r}) is no number: {sure!r}")
        worth = (value or _worth)(episode)
        if worth is None:
            continue
        if not 0 <= worth <= 1:
            raise ConfigurationError(f"the value of episode {number} ({episode.task_id!r}) is not in [0, 1]: {worth!r}")
        losses.append((-float(sure), 1 - worth))
    groups = [[loss for _, loss in group] for _, group in groupby(sorted(losses), key=lambda pair: pair[0])]
    points, area = _curve(groups)
    _, best = _curve([[loss] for loss in sorted(loss for _, loss in losses)])
    return RiskCoverage(tuple(points), area, best, len(played) - len(losses))


def _curve(groups: Sequence[Sequence[float]]) -> tuple[list[tuple[float, float]], float | None]:
    """The points after each group of losses, and the mean risk over all prefixes, a group's own order being any."""
    total = sum(map(len, groups))
    points: list[tuple[float, float]] = []
    risks: list[float] = []
    covered, lost = 0, 0.0
    for group in groups:
        mean = math.fsum(group) / len(group)
        risks += [(lost + number * mean) / (covered + number) for number in range(1, len(group) + 1)]
        covered, lost = covered + len(group), lost + mean * len(group)
        points.append((covered / total, risks[-1]))
    return points, _share(math.fsum(risks), total)


def _worth(episode: Episode) -> float | None:
    row = decided(episode)
    return episode.episode_return if row is None else row.value


def _scores(prefix: str, right: int, chosen: int, asked: int) -> dict[str, float | None]:
    """Precision, recall and F1; None where there is nothing to take a share of."""
    return {
        f"{prefix}precision": _share(right, chosen),
        f"{prefix}recall": _share(right, asked),
        f"{prefix}f1": _share(2 * right, chosen + asked),
    }


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _shown(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
