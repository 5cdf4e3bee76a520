"""Seal-Tools: format, tool and parameter scores of a corpus, exactly as published, and two variants of ours.

    >>> gold = [{"api": "add", "parameters": {"a": 1}, "responses": ["API_call_0"]}]
    >>> made = parse_calls("[{'api': 'add', 'parameters': {'a': 1}, 'responses': []}]")
    >>> corpus_score([official_counts(gold, made)]).official()["F1_param"]
    1.0

Scores are micro: counts are added up over all rows first. Officially a call counts as right whenever its name is
asked for, however often, so that a repeated call raises the score beyond 1; ``capped_counts`` matches each gold
call once. Officially a nested argument is compared as text; ``nested_counts`` compares where it leads.

Source: fairyshine/Seal-Tools ce753ec, LLM_Evaluation/src/llm_tools/evaluation/transform_output.py and
calculate.py (ToolLearning).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from callgym.call import ToolCall
from callgym.goal import GoldCall
from callgym.rewards.matching import assign
from callgym.rewards.nested import Output, match_references

__all__ = [
    "CorpusScore",
    "Counts",
    "RowCounts",
    "capped_counts",
    "corpus_score",
    "nested_counts",
    "official_counts",
    "parse_calls",
]

Call = Mapping[str, Any]
"""``{"api", "parameters", "responses"}``, as the benchmark writes a call."""

_START = re.compile(r'\[\s*\{\s*"api"')
_BRACKET = re.compile(r"[\[\]]")


@dataclass(frozen=True, slots=True)
class Counts:
    """What a micro score is made of."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def scored(self) -> bool:
        """Whether the official script reports a score: no count is 0. Where it does not, the score reads as 0."""
        return bool(self.correct and self.predicted and self.gold)

    @property
    def precision(self) -> float:
        """correct / predicted."""
        return self.correct / self.predicted if self.scored else 0.0

    @property
    def recall(self) -> float:
        """correct / gold."""
        return self.correct / self.gold if self.scored else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if self.scored else 0.0


@dataclass(frozen=True, slots=True)
class RowCounts:
    """One row's share in the corpus."""

    parsed: bool
    """Whether calls could be read from the text."""
    tools: Counts
    parameters: Counts
    official_error: str | None = None
    """What the official script dies of at this row: an element of the list that is no call."""


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """Counts of a corpus."""

    rows: int = 0
    parsed: int = 0
    tools: Counts = field(default_factory=Counts)
    parameters: Counts = field(default_factory=Counts)
    official_error: str | None = None
    """What the official script dies of before it has any number; None where it gives these very ones."""

    @property
    def format_accuracy(self) -> float:
        """Share of rows from which calls could be read; 0 without rows."""
        return self.parsed / self.rows if self.rows else 0.0

    def official(self) -> dict[str, float] | None:
        """The official dictionary, keys left out where a count is 0; None where the official script dies."""
        if self.official_error is not None:
            return None
        scores = {"AMOUNT": self.format_accuracy} if self.parsed else {}
        for level, counts in (("api", self.tools), ("param", self.parameters)):
            if counts.scored:
                scores |= {f"P_{level}": counts.precision, f"R_{level}": counts.recall, f"F1_{level}": counts.f1}
        return scores


def corpus_score(rows: Iterable[RowCounts]) -> CorpusScore:
    """Add up rows."""
    total = CorpusScore()
    for row in rows:
        total = CorpusScore(
            total.rows + 1,
            total.parsed + row.parsed,
            total.tools + row.tools,
            total.parameters + row.parameters,
            total.official_error or row.official_error,
        )
    return total


# Reading.


def parse_calls(text: str) -> list[Any] | None:
    """The list of calls in a model's text; None where the official reader gives up (its -1).

    Single quotes become double ones and line ends go, so an apostrophe in a value breaks the list. It begins
    where a list begins with an object whose first key is "api", and ends at its bracket's partner, brackets
    inside texts counted too. Elements after the first may be anything that is JSON.
    """
    text = text.replace("'", '"').replace("\n", "")
    found = _START.search(text)
    whole = "" if found is None else _bracketed(text, found.start())
    if not all(word in whole for word in ("api", "parameters", "responses")):
        return None
    try:
        calls: list[Any] = json.loads(whole)
    except (ValueError, RecursionError):
        return None
    return calls


def _bracketed(text: str, start: int) -> str:
    """The text from the bracket at ``start`` to its partner; empty where there is none."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket.group() == "[" else -1
        if not depth:
            return text[start : bracket.end()]
    return ""


# Counting, as published.


def official_counts(gold: Sequence[Call], predicted: Sequence[Any] | None) -> RowCounts:
    """One row, counted as the official script does.

    A predicted call is right where any gold call has its name, again and again. Its parameters are compared, as
    ``str`` writes them, with those of the first gold call of that name. Order and ``responses`` do not count.

    Args:
        gold: The calls asked for.
        predicted: What ``parse_calls`` gave; None counts on the gold side only.
    """
    first: dict[str, Call] = {}
    for call in gold:
        first.setdefault(call["api"], call["parameters"])
    calls = _named(predicted)
    known = [(first[call["api"]], _parameters(call)) for call in calls if _name(call) in first]
    # A text or a list that holds "api" counts as well, where the script survives it.
    named = sum("api" in element for element in predicted or () if isinstance(element, (dict, list, str)))
    tools = Counts(len(known), named, len(gold))
    correct = sum(_correct(asked, given) for asked, given in known)
    return RowCounts(predicted is not None, tools, _parameter_counts(correct, calls, gold), _death(gold, predicted))


def _named(predicted: Sequence[Any] | None) -> list[dict[str, Any]]:
    """The elements that are objects with a name."""
    return [call for call in predicted or () if isinstance(call, dict) and "api" in call]


def _name(call: Call) -> str | None:
    return call["api"] if isinstance(call["api"], str) else None


def _parameters(call: Call) -> Call:
    given = call.get("parameters")
    return given if isinstance(given, dict) else {}


def _parameter_counts(correct: int, calls: Sequence[Call], gold: Sequence[Call]) -> Counts:
    given, asked = (sum(len(_parameters(call)) for call in side) for side in (calls, gold))
    return Counts(correct, given, asked)


def _correct(asked: Call, given: Call) -> int:
    """Number of parameters that both have with the same text."""
    return sum(name in asked and _text(asked[name]) == _text(value) for name, value in given.items())


def _text(value: Any) -> str:
    try:
        return str(value)
    except RecursionError:
        return "(nested too deeply)"


def _death(gold: Sequence[Call], predicted: Sequence[Any] | None) -> str | None:
    """What the official script dies of: it looks into every element for "api", and then at it by that key."""
    for element in predicted or ():
        if isinstance(element, dict):
            continue
        if not isinstance(element, (str, list)):
            return f"TypeError: a {type(element).__name__} in the list of calls"
        if "api" in element and (gold or "parameters" in element):
            return f"TypeError: a {type(element).__name__} that holds 'api' in the list of calls"
    return None


# Counting, our variants.


def capped_counts(gold: Sequence[Call], predicted: Sequence[Any] | None) -> RowCounts:
    """One row with each gold call matched at most once, so that no score exceeds 1. Ours, not published.

    Calls of one name are paired so that the most parameters are right. A call that repeats an earlier one to
    the letter has no partner, unless gold repeats it as well: repeating a call never raises a score.
    """
    calls = _named(predicted)
    made = _without_repeats(gold, calls)
    table = [[_worth(asked, call) for call in made] for asked in gold]
    values = np.array(table, dtype=np.float64).reshape(len(gold), len(made))
    pairs = [(gold[g], made[p]) for g, p in assign(values) if values[g, p]]
    correct = sum(_correct(_parameters(asked), _parameters(call)) for asked, call in pairs)
    tools = Counts(len(pairs), len(calls), len(gold))
    return RowCounts(predicted is not None, tools, _parameter_counts(correct, calls, gold))


def _without_repeats(gold: Sequence[Call], calls: Sequence[Call]) -> list[Call]:
    """The calls that can have a partner."""
    asked = Counter(_letters(call) for call in gold)
    seen: Counter[tuple[Any, ...]] = Counter()
    kept = []
    for call in calls:
        if _name(call) is not None:
            letters = _letters(call)
            seen[letters] += 1
            if seen[letters] <= max(1, asked[letters]):
                kept.append(call)
    return kept


def _letters(call: Call) -> tuple[Any, ...]:
    return (call["api"], *sorted((name, _text(value)) for name, value in _parameters(call).items()))


def _worth(asked: Call, call: Call) -> int:
    return 1 + _correct(_parameters(asked), _parameters(call)) if asked["api"] == call["api"] else 0


def nested_counts(gold: Sequence[Call], predicted: Sequence[Any] | None) -> Counts:
    """Parameters that are another call's output, compared up to a renumbering of the calls. Ours, not published.

    An output is a name in a call's ``responses``. Both sides' calls are paired, and such a parameter is correct
    where it leads to the same output of the paired call; see ``callgym.rewards.nested``.
    """
    named = [call for call in _named(predicted) if _name(call)]
    asked = [
        GoldCall.trusted(
            name=call["api"], arguments={key: (value,) for key, value in call["parameters"].items()}, optional=()
        )
        for call in gold
    ]
    made = [ToolCall.trusted(name=call["api"], arguments=dict(_parameters(call)), id=None) for call in named]
    match = match_references(asked, _outputs(gold), made, _outputs(named))
    return Counts(match.right, match.predicted, match.gold)


def _outputs(calls: Sequence[Call]) -> dict[str, Output]:
    """Name of an output to the call that gives it; of several with one name the first is meant."""
    outputs: dict[str, Output] = {}
    for index, call in enumerate(calls):
        responses = call.get("responses")
        for number, name in enumerate(responses if isinstance(responses, list) else ()):
            if isinstance(name, str):
                outputs.setdefault(name, (index, number))
    return outputs
