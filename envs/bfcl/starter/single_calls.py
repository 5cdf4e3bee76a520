"""Drawing calls: what a user asks for, said in a template, with BFCL's gold for it.

A call belongs to a split by a stable hash of its function and its reference values, so no seed ever gives the same
call to both.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from callgym.envs.bfcl.starter.functions_model import Function, Parameter, live_name
from callgym.envs.bfcl.starter.functions_pools import words
from callgym.envs.bfcl.starter.functions_values import Choice, Said, listed

__all__ = ["SPLITS", "Call", "Group", "draw_calls", "draw_foreign", "draw_listed", "pick", "split_of", "vague_clauses"]

SPLITS = ("train", "test")
_TEST_SHARE = 0.2
_TRIES = 200
_LIST_TRIES = 12
_MENTION = 0.35  # the share of optional parameters that a user gives
_SLOT = re.compile(r"\{(\w+)\}")
_DANGLING = frozenset(
    words(
        """
        a archive article at bright by called clean electricity for how in lamp left match of player point program's
        rows says sow that the to whether with
        """
    )
)
"""Last words of text before a bar that cannot stand alone."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that is asked for."""

    function: Function
    said: Mapping[str, Said]
    """What the user gives."""

    @property
    def accepted(self) -> dict[str, list[Any]]:
        """Parameter to the values that BFCL's gold lists, ``""`` where it may be left out."""
        return {parameter.name: self._accepted(parameter) for parameter in self.function.parameters}

    def gold(self, live: bool) -> dict[str, dict[str, list[Any]]]:
        """The call in the form of BFCL's ground truth."""
        return {live_name(self.function) if live else self.function.name: self.accepted}

    def reference(self) -> dict[str, Any]:
        """What is given, in plain values."""
        return {name: said.accepted[0] for name, said in self.said.items()}

    def split(self) -> str:
        """The split that it belongs to."""
        values = [self.said[p.name].accepted[0] if p.name in self.said else p.default for p in self.function.parameters]
        return split_of(self.function.name, values)

    def _accepted(self, parameter: Parameter) -> list[Any]:
        said = self.said.get(parameter.name)
        if said is None:
            return [""] if parameter.default is None else [parameter.default, ""]
        may_be_left_out = not parameter.required and parameter.default in said.accepted
        return [*said.accepted, ""] if may_be_left_out else list(said.accepted)


@dataclass(frozen=True, slots=True)
class Group:
    """Calls of one function and the template that asks for them: an imperative, a question or a statement."""

    calls: tuple[Call, ...]
    template: str
    said: Mapping[str, str]
    """Placeholder to text."""


def split_of(name: str, values: Sequence[Any]) -> str:
    """The split of a function's call with these reference values, in the documented order."""
    digest = hashlib.blake2b(f"{name}\x1f{values!r}".encode(), digest_size=4).digest()
    return "test" if int.from_bytes(digest, "big") < _TEST_SHARE * 2**32 else "train"


def pick(rng: Random, items: Sequence[Any]) -> Any:
    """One of ``items``."""
    return items[int(rng.random() * len(items))]


def draw_calls(rng: Random, split: str, function: Function, count: int = 1, plain: bool = False) -> Group | None:
    """Calls that one sentence asks for: ``count`` of them, told apart by the text after a clause's bar.

    Returns:
        None where the function has no clause for so many calls, or too few values.
    """
    clauses = [c for c in _clauses(function, split) if count == 1 or "|" in c]
    if not clauses:
        return None
    clause, end = _cut(pick(rng, clauses))
    head, _, rest = clause.rpartition("|")
    options = _options(rng, function)
    tails = "".join(pick(rng, option.tails) for option in options)
    fixed = _draw_values(rng, function, _slots(head), plain) if count > 1 else {}
    if count == 1:
        rest, head = clause.replace("|", ""), ""
    names = [name for name in (*_slots(rest), *(o.name for o in options)) if name not in fixed]
    calls = _draw_distinct(rng, split, function, names, fixed, count, plain)
    if calls is None:
        return None
    return _joined(calls, head, rest + tails, end)


def draw_listed(rng: Random, split: str, function: Function, count: int, last: str = "and") -> Group | None:
    """Calls that differ in one parameter only, whose values the sentence lists.

    Returns:
        None where the function has no such parameter, or too few values.
    """
    if not function.lists:
        return None
    clause, end = _cut(pick(rng, _clauses(function, split)))
    options = _options(rng, function)
    tails = "".join(pick(rng, option.tails) for option in options)
    given = (*_slots(clause), *(option.name for option in options))
    plain = not isinstance(_parameters(function)[function.lists].kind, Choice)
    for _ in range(_LIST_TRIES):
        fixed = _draw_values(rng, function, [name for name in given if name != function.lists], False)
        calls = _draw_distinct(rng, split, function, [function.lists], fixed, count, plain)
        if calls is not None:
            said = {name: value.text for name, value in calls[0].said.items()}
            said[function.lists] = listed([call.said[function.lists].text for call in calls], last)
            return Group(tuple(calls), clause.replace("|", "") + tails + end, said)
    return None


def draw_foreign(rng: Random, split: str, function: Function) -> Group | None:
    """A call that is asked for in another language than English, if the function has a sentence for it."""
    if not function.foreign:
        return None
    sentence = pick(rng, tuple(function.foreign.values()))
    calls = _draw_distinct(rng, split, function, _slots(sentence), {}, 1, True)
    if calls is None:
        return None
    return Group(tuple(calls), sentence, {name: value.text for name, value in calls[0].said.items()})


def vague_clauses(function: Function, split: str) -> list[str]:
    """Requests for the function that give none of the values it needs."""
    heads = [clause.partition("|")[0] for clause in _clauses(function, split) if "|" in clause and "?" not in clause]
    whole = [head.rstrip(":, ") for head in heads if "{" not in head and head.count(" ") > 1]
    return [head for head in whole if head.rpartition(" ")[2] not in _DANGLING]


@cache
def _clauses(function: Function, split: str) -> tuple[str, ...]:
    """The clauses of a split: each lacks one that the other has."""
    return function.clauses[:-1] if split == "train" else function.clauses[1:]


def _cut(clause: str) -> tuple[str, str]:
    """A clause and the mark that ends it, if any."""
    return (clause[:-1], clause[-1]) if clause[-1] in "?." else (clause, "")


@cache
def _slots(text: str) -> tuple[str, ...]:
    return tuple(_SLOT.findall(text))


def _options(rng: Random, function: Function) -> list[Parameter]:
    return [p for p in function.parameters if p.tails and rng.random() < _MENTION]


@cache
def _parameters(function: Function) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in function.parameters}


def _draw_values(rng: Random, function: Function, names: Sequence[str], plain: bool) -> dict[str, Said]:
    known = _parameters(function)
    return {name: known[name].kind.draw(rng, plain) for name in names}


def _draw_distinct(
    rng: Random,
    split: str,
    function: Function,
    names: Sequence[str],
    fixed: Mapping[str, Said],
    count: int,
    plain: bool,
) -> list[Call] | None:
    """Calls of the split that differ in what they require; ``fixed`` is the same in all of them."""
    calls: list[Call] = []
    seen: set[str] = set()
    required = [parameter.name for parameter in function.parameters if parameter.required]
    for _ in range(_TRIES):
        call = Call(function, {**fixed, **_draw_values(rng, function, names, plain)})
        print_ = repr([call.said[name].accepted[0] for name in required])
        if print_ not in seen and _differ(call) and call.split() == split:
            seen.add(print_)
            calls.append(call)
            if len(calls) == count:
                return calls
    return None


def _differ(call: Call) -> bool:
    if call.function.differ is None:
        return True
    first, second = (call.said[name].accepted[0] for name in call.function.differ)
    return bool(first != second)


def _joined(calls: Sequence[Call], head: str, rest: str, end: str) -> Group:
    """One sentence for all calls: the head once, the rest for each."""
    said: dict[str, str] = {}
    rests = []
    for number, call in enumerate(calls):
        texts = {name: value.text for name, value in call.said.items()}
        said |= texts if number == 0 else {}
        said |= {f"{name}_{number}": text for name, text in texts.items()}
        rests.append(_SLOT.sub(rf"{{\1_{number}}}", rest).strip() if len(calls) > 1 else rest)
    if len(calls) == 1:
        return Group(tuple(calls), head + rests[0] + end, said)
    commas = any("," in _filled(text, said) for text in rests)
    between, last = ("; ", "; and ") if commas else (", ", " and ")
    return Group(tuple(calls), f"{head} {between.join(rests[:-1])}{last}{rests[-1]}{end}", said)


def _filled(template: str, said: Mapping[str, str]) -> str:
    return template.format_map(said)
