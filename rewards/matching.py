"""Which predicted call answers which gold call: an optimal assignment, never first come first served."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from callgym.call import ToolCall
from callgym.goal import GoldCall
from callgym.rewards.values import same_value, value_key

__all__ = ["CallMatch", "Comparison", "assign", "compare", "in_order", "match_calls"]


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
_HASHED_AS_THEY_ARE = frozenset((str, int))  # values that are their own value_key
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
        if value == reference if kind in _SIMPLE and kind is type(reference) else same_value(reference, value):
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

    A copy of a call that was made already has a partner only where the gold asks for that very call once
    more: else a half-right call would be worth more said twice, wherever a tool is asked for twice.

    Args:
        gold: The calls asked for.
        predicted: The calls made.
        unreadable: Attempts that could not be read; they count as calls without a partner.
        ordered: Whether pairs must keep both orders.
    """
    total = len(predicted) + unreadable
    known: dict[tuple[int, int], Comparison] = {}
    if len(gold) == len(predicted):  # mostly every call is right, one after the other
        for at, (asked, made) in enumerate(zip(gold, predicted, strict=True)):
            found = known[at, at] = compare(asked, made)
            if not found.exact:
                break
        else:
            return CallMatch(tuple([(at, at, found) for (at, _), found in known.items()]), total - unreadable, total)
        if len(gold) == 1:
            return CallMatch(() if found is _NAMES_DIFFER else ((0, 0, found),), 1, total)
    groups = _by_tool(gold, predicted, ordered)
    chosen = _in_order(groups, len(gold), len(predicted)) if ordered else _best_pairs(groups)
    pairs = [
        (g, p, known.get((g, p)) or (right and _all_equal(gold[g])) or compare(gold[g], predicted[p]))
        for g, p, right in chosen
    ]
    return CallMatch(tuple(pairs), len(gold), total)


def _all_equal(gold: GoldCall) -> Comparison | None:
    """What ``compare`` says of a right call; None where it could be right in several ways."""
    if gold.optional or max(map(len, gold.arguments.values()), default=1) > 1:
        return None
    return Comparison(dict.fromkeys(gold.arguments, "equal"), 1.0, True)


class _Group(NamedTuple):
    """The calls of one tool."""

    gold: list[int]
    predicted: list[int]
    worth: list[list[int]]
    """What each pair is worth: a row a gold call, a column a predicted one."""


# A pair's worth is a whole number, so that sums are exact: its F1 times _ONE, rounded down. A pair of the
# same name is worth a little even where no argument is right, so that the explanation can show it; among
# equal sums exact pairs win. Both are too little to outweigh any difference in F1, and more than is rounded.
_ONE = 1 << 40
_SAME_NAME = 1 << 12
_RIGHT = _ONE + _SAME_NAME + (1 << 15)


_Pair = tuple[int, int, bool]
"""Gold index, predicted index, and whether all is right."""


def _by_tool(gold: Sequence[GoldCall], predicted: Sequence[ToolCall], ordered: bool) -> list[_Group]:
    made: dict[str, list[int]] = {}
    for p, call in enumerate(predicted):
        made.setdefault(call.name, []).append(p)
    asked: dict[str, list[int]] = {}
    for g, wanted in enumerate(gold):
        if wanted.name in made:
            asked.setdefault(wanted.name, []).append(g)
    groups = []
    for name, rows in asked.items():
        columns = made[name]
        alone = len(rows) == len(columns) == 1 and not ordered  # it is a pair, whatever it is worth
        worth = [[_SAME_NAME]] if alone else _worth([gold[g] for g in rows], [predicted[p] for p in columns])
        # A copy of a call has nothing more to earn where either side is alone; and its column is the same.
        if len(rows) > 1 and len(set(zip(*worth, strict=True))) < len(columns):
            kept = _that_count([predicted[p] for p in columns], worth)
            columns = [columns[column] for column in kept]
            worth = [[line[column] for column in kept] for line in worth]
        groups.append(_Group(rows, columns, worth))
    return groups


def _that_count(calls: Sequence[ToolCall], worth: Sequence[Sequence[int]]) -> list[int]:
    """Which calls of a tool can have a partner: of copies, no more than are asked for, and one at least."""
    columns = list(zip(*worth, strict=True))
    alike = Counter(columns)
    copies: dict[Hashable, int] = {}
    counting = []
    for at, (call, column) in enumerate(zip(calls, columns, strict=True)):
        if alike[column] > 1:  # copies are worth the same
            key = value_key(call.arguments)
            copies[key] = number = copies.get(key, 0) + 1
            if 1 < number > column.count(_RIGHT):
                continue
        counting.append(at)
    return counting


def _worth(gold: Sequence[GoldCall], predicted: Sequence[ToolCall]) -> list[list[int]]:
    """What each pair is worth, without a look at each pair's arguments.

    Every accepted value of every argument is a bit, and every call the set of its bits: how many arguments
    of a pair are right is how many bits the two sets share.
    """
    hashed = _HASHED_AS_THEY_ARE
    _, bits, asked = _asked_for(gold)
    made: list[int] = []
    for call in predicted:
        mask = 0
        for name, value in call.arguments.items():
            values = bits.get(name)
            if values is not None:
                key: Any = value if type(value) in hashed else value_key(value)
                mask |= values.get(key, 0)
        made.append(mask)
    given = [len(call.arguments) for call in predicted]
    scales: dict[int, list[list[int]]] = {}
    table = []
    for wanted, mask in zip(gold, asked, strict=True):
        count = len(wanted.arguments)
        if wanted.optional:
            left_out = [sum([name not in call.arguments for name in set(wanted.optional)]) for call in predicted]
            scale = [_scale(count, size, left) for size, left in zip(given, left_out, strict=True)]
        elif count in scales:
            scale = scales[count]
        else:
            sizes = {size: _scale(count, size) for size in set(given)}
            scale = scales[count] = [sizes[size] for size in given]
        table.append([line[(mask & other).bit_count()] for other, line in zip(made, scale, strict=True)])
    return table


class _Asked(NamedTuple):
    """What ``_worth`` knows of gold calls before it sees a predicted one."""

    gold: Sequence[GoldCall]
    bits: dict[str, dict[Hashable, int]]
    """Argument name to the bit of each accepted value."""
    masks: list[int]
    """The bits of each gold call."""


# Tasks are played many times, by groups of episodes and over epochs. By the calls' ids: an entry holds its calls.
_asked: dict[tuple[int, ...], _Asked] = {}
_MOST_ASKED = 512


def _asked_for(gold: Sequence[GoldCall]) -> _Asked:
    key = tuple([id(wanted) for wanted in gold])
    found = _asked.get(key)
    if found is None:
        if len(_asked) >= _MOST_ASKED:
            _asked.clear()
        found = _asked[key] = _read_gold(gold)
    return found


def _read_gold(gold: Sequence[GoldCall]) -> _Asked:
    bits: dict[str, dict[Hashable, int]] = {}
    masks = []
    following = 1
    for wanted in gold:
        mask = 0
        for name, accepted in wanted.arguments.items():
            values = bits.setdefault(name, {})
            for value in accepted:
                bit = values.setdefault(value_key(value), following)
                if bit == following:
                    following <<= 1
                mask |= bit
        masks.append(mask)
    return _Asked(gold, bits, masks)


def _scale(asked: int, given: int, left_out: int = 0) -> list[int]:
    """What a pair is worth by how many arguments are right, of so many asked for and so many given."""
    both = asked - left_out + given
    rights = range(min(asked, given) + 1)
    return [_RIGHT if 2 * right == both else 2 * _ONE * right // both + _SAME_NAME for right in rights]


def _best_pairs(groups: Sequence[_Group]) -> list[_Pair]:
    """The pairs that are worth most together."""
    return sorted(
        [
            (group.gold[row], group.predicted[column], group.worth[row][column] == _RIGHT)
            for group in groups
            for row, column in _assign(group.worth)
        ]
    )


def assign(values: np.ndarray) -> list[tuple[int, int]]:
    """The one-to-one assignment of rows to columns with the greatest sum, as (row, column) pairs.

    The Hungarian method with shortest augmenting paths, O(rows^2 * columns). Of columns that are as good, a
    free one is taken before others, and the lower one before the higher.

    Args:
        values: Array of shape (rows, columns) of finite values.
    """
    return _assign(values.tolist())


def _assign(values: list[list[Any]]) -> list[tuple[int, int]]:
    """``assign`` on lists, which at the size of a turn is faster than on arrays; sums of integers are exact."""
    if not values or not values[0]:
        return []
    rows, columns = len(values), len(values[0])
    if rows > columns:
        return sorted((row, column) for column, row in _assign([list(column) for column in zip(*values, strict=True)]))
    row_of = [-1] * columns
    column_of = [-1] * rows
    gains: list[Any] = [max(row) for row in values]
    prices: list[Any] = [0] * columns  # no pair is worth more than its row's gain and its column's price
    waiting = []
    for row, gain in enumerate(gains):
        line = values[row]
        column = line.index(gain)
        if row_of[column] >= 0 and line.count(gain) > 1:  # another may be worth as much
            column = next((c for c in range(column + 1, columns) if line[c] == gain and row_of[c] < 0), column)
        if row_of[column] < 0:
            row_of[column], column_of[row] = row, column
        else:
            waiting.append(row)
    for row in waiting:
        _augment(values, row, gains, prices, row_of, column_of)
    return list(enumerate(column_of))


def _augment(
    values: list[list[Any]], start: int, gains: list[Any], prices: list[Any], row_of: list[int], column_of: list[int]
) -> None:
    """Give row ``start`` a column, moving other rows to others, at the least loss: Dijkstra's method."""
    losses = [price - worth for price, worth in zip(prices, values[start], strict=True)]
    came_from = [start] * len(prices)
    open_columns = list(range(len(prices)))
    closed: list[int] = []
    gains[start] = 0
    while True:
        loss = math.inf
        column = -1
        for other in open_columns:
            there = losses[other]
            if there < loss or (there == loss and row_of[other] < 0 <= row_of[column]):
                loss, column = there, other
        row = row_of[column]
        if row < 0:
            break
        open_columns.remove(column)
        closed.append(column)
        base = loss + gains[row]
        worth = values[row]
        for other in open_columns:
            through = base + prices[other] - worth[other]
            if through < losses[other]:
                losses[other] = through
                came_from[other] = row
    # What was searched is settled at the new prices.
    gains[start] -= loss
    for other in closed:
        gains[row_of[other]] -= loss - losses[other]
        prices[other] += loss - losses[other]
    while True:
        row = came_from[column]
        row_of[column] = row
        column_of[row], column = column, column_of[row]
        if row == start:
            return


def _in_order(groups: Sequence[_Group], rows: int, columns: int) -> list[_Pair]:
    """The pairs that are worth most together and keep the order of rows and of columns."""
    values = [[0] * columns for _ in range(rows)]
    for group in groups:
        for g, line in zip(group.gold, group.worth, strict=True):
            for p, worth in zip(group.predicted, line, strict=True):
                values[g][p] = worth
    return [(g, p, values[g][p] == _RIGHT) for g, p in in_order(values)]


def in_order(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs of rows and columns that are worth most together and keep the order of both."""
    rows, columns = len(values), len(values[0]) if values else 0
    best: list[list[float]] = [[0] * (columns + 1)]
    for row in values:
        above = best[-1]
        reached: float = 0
        line: list[float] = [0]
        for j, value in enumerate(row):
            reached = max(above[j + 1], reached, above[j] + value)
            line.append(reached)
        best.append(line)
    pairs: list[tuple[int, int]] = []
    i, j = rows, columns
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]
