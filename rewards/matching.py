"""Which predicted call answers which gold call: an optimal assignment, never first come first served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from callgym.call import ToolCall
from callgym.goal import GoldCall
from callgym.rewards.values import same_value

__all__ = ["CallMatch", "Comparison", "assign", "compare", "match_calls"]


class Comparison(NamedTuple):
    """One predicted call held against one gold call, argument by argument."""

    verdicts: dict[str, str]
    """Argument name to ``equal``, ``variant`` (another accepted value), ``wrong``, ``missing`` or ``extra``."""
    f1: float
    """F1 over the arguments; 1 where neither call has any, 0 where the names differ."""
    exact: bool
    """Same name, every argument right, none missing, none extra."""


class CallMatch(NamedTuple):
    """The pairing of all predicted with all gold calls."""

    pairs: tuple[tuple[int, int, Comparison], ...]
    """(gold index, predicted index, comparison), for calls of the same name."""
    gold: int
    """Number of gold calls."""
    predicted: int
    """Number of predicted calls, unreadable attempts included."""

    @property
    def calls(self) -> int:
        """Gold and predicted calls together."""
        return self.gold + self.predicted

    @property
    def exact(self) -> bool:
        """Every gold call has an exact partner, and no call is left over."""
        return self.gold == self.predicted == len(self.pairs) and all(c.exact for _, _, c in self.pairs)

    @property
    def f1(self) -> float:
        """Twice the sum of the pairs' F1 over the number of calls; 0 where there are none."""
        calls = self.gold + self.predicted
        if calls == 2 and len(self.pairs) == 1:
            return self.pairs[0][2].f1
        return 2 * sum([c.f1 for _, _, c in self.pairs]) / calls if calls else 0.0

    def explanation(self, gold: Sequence[GoldCall], predicted: Sequence[ToolCall]) -> dict[str, Any]:
        """The pairing as JSON: matched calls with each argument's verdict, then what has no partner."""
        pairs = self.pairs
        matched = [
            {"gold": g, "predicted": p, "name": gold[g].name, "arguments": c.verdicts, "f1": c.f1} for g, p, c in pairs
        ]
        missing: list[str] = []
        extra: list[str] = []
        if not len(pairs) == len(gold) == len(predicted):
            taken_gold = {g for g, _, _ in pairs}
            taken = {p for _, p, _ in pairs}
            missing = [call.name for i, call in enumerate(gold) if i not in taken_gold]
            extra = [call.name for i, call in enumerate(predicted) if i not in taken]
        unreadable = self.predicted - len(predicted)
        return {"matched": matched, "missing": missing, "extra": extra, "unreadable": unreadable}


_SIMPLE = frozenset((str, int, bool))  # equal where of one type and equal; the rest is same_value's
_NAMES_DIFFER = Comparison({}, 0.0, False)


def compare(gold: GoldCall, predicted: ToolCall) -> Comparison:
    """Hold one predicted call against one gold call.

    F1 = 2 * right / (given + asked). An optional argument that is left out is neither asked nor given.
    """
    if gold.name != predicted.name:
        return _NAMES_DIFFER
    verdicts: dict[str, str] = {}
    right = 0
    present = 0
    missing = 0
    given = predicted.arguments
    for name, accepted in gold.arguments.items():
        if name not in given:
            if name not in gold.optional:
                verdicts[name] = "missing"
                missing += 1
            continue
        present += 1
        value = given[name]
        reference = accepted[0]
        kind = type(value)
        if (kind in _SIMPLE and kind is type(reference) and value == reference) or same_value(reference, value):
            verdicts[name] = "equal"
            right += 1
        elif len(accepted) > 1 and any(same_value(other, value) for other in accepted[1:]):
            verdicts[name] = "variant"
            right += 1
        else:
            verdicts[name] = "wrong"
    if present != len(given):
        verdicts.update({name: "extra" for name in given if name not in gold.arguments})
    total = present + missing + len(given)
    f1 = 2 * right / total if total else 1.0
    return Comparison(verdicts, f1, 2 * right == total)


def match_calls(
    gold: Sequence[GoldCall], predicted: Sequence[ToolCall], unreadable: int = 0, ordered: bool = False
) -> CallMatch:
    """Pair calls so that the sum of F1 over pairs, exact pairs first, is the greatest.

    Args:
        gold: The calls asked for.
        predicted: The calls made.
        unreadable: Attempts that could not be read; they count as calls without a partner.
        ordered: Whether pairs must keep both orders.
    """
    total = len(predicted) + unreadable
    if len(gold) == len(predicted) == 1:
        only = compare(gold[0], predicted[0])
        return CallMatch(() if only is _NAMES_DIFFER else ((0, 0, only),), 1, total)
    table = [[compare(g, p) for p in predicted] for g in gold]
    # A pair of the same name is worth a little even where no argument is right, so that the explanation
    # can show it; among equal sums exact pairs win. Both are too little to outweigh any difference in F1.
    values = np.array(
        [[0.0 if c is _NAMES_DIFFER else 1e-9 + c.f1 + 1e-8 * c.exact for c in row] for row in table],
        dtype=np.float64,
    ).reshape(len(gold), len(predicted))
    chosen = _in_order(values) if ordered else assign(values)
    pairs = tuple((g, p, table[g][p]) for g, p in chosen if table[g][p] is not _NAMES_DIFFER)
    return CallMatch(pairs, len(gold), total)


def assign(values: np.ndarray) -> list[tuple[int, int]]:
    """The one-to-one assignment of rows to columns with the greatest sum, as (row, column) pairs.

    The Hungarian method with shortest augmenting paths, O(rows^2 * columns); ties go to the lower column.

    Args:
        values: Array of shape (rows, columns) of finite values.
    """
    rows, columns = values.shape
    if rows == 0 or columns == 0:
        return []
    if rows > columns:
        return sorted((row, column) for column, row in assign(values.T))
    best = values.argmax(axis=1)
    if len(set(best.tolist())) == rows:  # every row can have its favourite
        return [(row, int(column)) for row, column in enumerate(best)]
    cost = -values
    row_potential = np.zeros(rows + 1)
    column_potential = np.zeros(columns + 1)
    row_of = np.zeros(columns + 1, dtype=np.int64)  # 1-based; column 0 is the free start
    for row in range(1, rows + 1):
        row_of[0] = row
        column = 0
        slack = np.full(columns + 1, np.inf)
        previous = np.zeros(columns + 1, dtype=np.int64)
        used = np.zeros(columns + 1, dtype=bool)
        while True:
            used[column] = True
            at = row_of[column]
            reduced = cost[at - 1] - row_potential[at] - column_potential[1:]
            better = ~used[1:] & (reduced < slack[1:])
            slack[1:][better] = reduced[better]
            previous[1:][better] = column
            following = int(np.where(used, np.inf, slack).argmin())
            delta = slack[following]
            row_potential[row_of[used]] += delta
            column_potential[used] -= delta
            slack[~used] -= delta
            column = following
            if row_of[column] == 0:
                break
        while column:
            row_of[column] = row_of[previous[column]]
            column = int(previous[column])
    return sorted((int(row_of[c]) - 1, c - 1) for c in range(1, columns + 1) if row_of[c])


def _in_order(values: np.ndarray) -> list[tuple[int, int]]:
    """The pairing with the greatest sum that keeps the order of rows and of columns."""
    rows, columns = values.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        for j in range(columns):
            best[i + 1, j + 1] = max(best[i, j + 1], best[i + 1, j], best[i, j] + values[i, j])
    pairs: list[tuple[int, int]] = []
    i, j = rows, columns
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]
