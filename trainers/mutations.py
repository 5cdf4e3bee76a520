"""Small mistakes: ways in which an action that does what was asked can be made to miss it by little.

A mutation takes a decision (where an episode stands, and the right action there) and a die, and returns the
text of another action, or None where the decision has no place for it. Whether the result is really wrong is
not decided here: ``near_misses`` plays it.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, TypeVar

from callgym.call import ToolCall
from callgym.dialects import Dialect
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards.values import same_value
from callgym.task import Task

__all__ = ["KINDS", "TIE_KINDS", "Decision", "Die", "Mutation", "ValuePool"]

T = TypeVar("T")

_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_REFUSALS = (
    "Sorry, none of the tools can do that.",
    "I am afraid I cannot help with this.",
    "That is not something my tools can do.",
    "I would need more information before I can do that.",
    "Done.",
)
_WORDS_FOR = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHORTEST_CUT = 3  # a call is cut after a third at the earliest


class Die:
    """Seeded choices that are the same in every version of Python: only ``Random.random`` promises that."""

    def __init__(self, *seed: int | str) -> None:
        self._rng = random.Random("/".join(str(part) for part in seed))

    def below(self, count: int) -> int:
        """A whole number from 0 to ``count - 1``."""
        return int(self._rng.random() * count)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def order(self, count: int) -> list[int]:
        """The numbers below ``count`` in random order."""
        keys = [self._rng.random() for _ in range(count)]
        return sorted(range(count), key=keys.__getitem__)


class ValuePool:
    """What the calls of many tasks hold: near values for each argument, and whole calls for each tool."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._of_argument: dict[tuple[str, str], dict[str, Any]] = {}
        self._of_name: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, ToolCall]] = {}
        self._tools: dict[str, None] = {}
        for task in tasks:
            self._tools.update((tool.name, None) for tool in task.tools)
            goal = task.goal_of(CallsGoal)
            for turn in goal.turns if goal is not None else ():
                for gold in turn:
                    self._add(gold.reference())
            for message in task.messages:
                for call in message.tool_calls:
                    self._add(call)
        self.tools = tuple(self._tools)
        """Names of all tools, in the order in which they were met."""

    def _add(self, call: ToolCall) -> None:
        calls = self._calls.setdefault(call.name, {})
        calls.setdefault(repr(call.arguments), call)
        for name, value in call.arguments.items():
            self._of_argument.setdefault((call.name, name), {}).setdefault(repr(value), value)
            self._of_name.setdefault(name, {}).setdefault(repr(value), value)

    def values(self, tool: str, argument: str) -> list[Any]:
        """Values of a tool's argument; of arguments of that name elsewhere where there is but one."""
        own = self._of_argument.get((tool, argument), {})
        return list((own if len(own) > 1 else self._of_name.get(argument, own)).values())

    def calls(self, tool: str) -> list[ToolCall]:
        """Calls of a tool."""
        return list(self._calls.get(tool, {}).values())


@dataclass(frozen=True)
class Decision:
    """Where an episode stands, and what is right there."""

    dialect: Dialect
    """How actions are written."""
    text: str
    """What the policy is shown, as text."""
    action: str
    """The right action."""
    calls: tuple[ToolCall, ...]
    """Its calls, typed; none where the right action is to decline."""
    gold: tuple[GoldCall | None, ...]
    """For each call, what the goal accepts in its place."""
    ordered: bool
    """Whether the calls must come in this order."""
    tools: Mapping[str, Mapping[str, Any]]
    """Name to parameters (JSON Schema) of the tools that can be called now."""
    pool: ValuePool = field(repr=False)
    """Values from the other tasks of the split."""

    def write(self, calls: Sequence[ToolCall], words: str = "") -> str:
        """The action that makes these calls and says these words."""
        return self.dialect.render_action(calls, words)

    def instead(self, index: int, call: ToolCall) -> str:
        """The action with one of its calls replaced."""
        return self.write([*self.calls[:index], call, *self.calls[index + 1 :]])

    def with_value(self, index: int, argument: str, value: Any) -> str:
        """The action with the value of one argument replaced."""
        call = self.calls[index]
        return self.instead(index, _call(call.name, {**call.arguments, argument: value}))

    def schema(self, tool: str, argument: str) -> Mapping[str, Any]:
        """The schema of an argument; empty where there is none."""
        schema: Mapping[str, Any] = self.tools.get(tool, {}).get("properties", {}).get(argument, {})
        return schema

    def places(self, fits: Callable[[Any], bool]) -> list[tuple[int, str, Any]]:
        """(call, argument, value) of every argument whose value fits."""
        return [(n, name, v) for n, call in enumerate(self.calls) for name, v in call.arguments.items() if fits(v)]


Mutation = Callable[[Decision, Die], str | None]
"""From a decision to the text of another action."""


def _call(name: str, arguments: Mapping[str, Any]) -> ToolCall:
    return ToolCall(name=name, arguments=dict(arguments))


# The wrong tool, or none that exists.


def wrong_tool(decision: Decision, die: Die) -> str | None:
    """Another tool of the task, with what it shares of the arguments."""
    if not decision.calls:
        return None
    index = die.below(len(decision.calls))
    call = decision.calls[index]
    others = [name for name in decision.tools if name != call.name]
    return decision.instead(index, _filled(decision, die, die.pick(others), call.arguments)) if others else None


def hallucinated_tool(decision: Decision, die: Die) -> str | None:
    """A tool that is not there: the right name misspelt, or another task's."""
    if not decision.calls:
        return None
    index = die.below(len(decision.calls))
    call = decision.calls[index]
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", call.name).lower()
    names = [snake, f"{call.name}s", f"{call.name}V2", f"Do{call.name}"]
    if decision.pool.tools:
        names += [die.pick(decision.pool.tools)] * 2
    absent = [name for name in names if name not in decision.tools]
    return decision.instead(index, _call(die.pick(absent), call.arguments)) if absent else None


# Too few and too many.


def missing_argument(decision: Decision, die: Die) -> str | None:
    """An argument is left out."""
    places = decision.places(lambda value: True)
    if not places:
        return None
    index, argument, _ = die.pick(places)
    call = decision.calls[index]
    return decision.instead(index, _call(call.name, {k: v for k, v in call.arguments.items() if k != argument}))


def extra_argument(decision: Decision, die: Die) -> str | None:
    """An argument that was not asked for: one the tool takes, or one of another tool."""
    if not decision.calls:
        return None
    index = die.below(len(decision.calls))
    call = decision.calls[index]
    known = [(tool, name) for tool in decision.tools for name in decision.tools[tool].get("properties", {})]
    own = [place for place in known if place[0] == call.name and place[1] not in call.arguments]
    others = [place for place in known if place[1] not in call.arguments]
    tool, name = die.pick(own or others or [(call.name, "note")])
    return decision.with_value(index, name, _some_value(decision, die, tool, name))


def duplicated_call(decision: Decision, die: Die) -> str | None:
    """A call is made twice."""
    return decision.write([*decision.calls, die.pick(decision.calls)]) if decision.calls else None


def extra_call(decision: Decision, die: Die) -> str | None:
    """A call that nobody asked for stands beside the right ones, before or after them."""
    if not decision.calls:
        return None
    extra = _other_call(decision, die)
    if extra is None or extra in decision.calls:
        return None
    return decision.write([extra, *decision.calls] if die.below(2) else [*decision.calls, extra])


def truncated_call(decision: Decision, die: Die) -> str | None:
    """The action breaks off."""
    length = len(decision.action)
    first = length // _SHORTEST_CUT
    return decision.action[: first + die.below(length - first)] if decision.calls and length > 1 else None


# The wrong value.


def wrong_string(decision: Decision, die: Die) -> str | None:
    """Another value of the same argument, half the time one that stands in the conversation."""
    places = decision.places(lambda value: isinstance(value, str) and not _DATE.search(value))
    if not places:
        return None
    index, argument, value = die.pick(places)
    others = [v for v in decision.pool.values(decision.calls[index].name, argument) if type(v) is str and v != value]
    others = [other for other in others if not _DATE.search(other)]
    near = [other for other in others if other and other in decision.text]
    if not others:
        return None
    return decision.with_value(index, argument, die.pick(near if near and die.below(2) else others))


def wrong_number(decision: Decision, die: Die) -> str | None:
    """Off by one, the other sign, or the decimal point elsewhere."""
    places = decision.places(_is_number)
    if not places:
        return None
    index, argument, value = die.pick(places)
    shifted = value // 10 if isinstance(value, int) and value % 10 == 0 else value * 10
    near = [other for other in (value + 1, value - 1, -value, shifted) if other != value and math.isfinite(other)]
    return decision.with_value(index, argument, die.pick(near))


def wrong_date(decision: Decision, die: Die) -> str | None:
    """Day and month change places, or the day is the one before or after."""
    places = decision.places(lambda value: isinstance(value, str) and bool(_DATE.search(value)))
    if not places:
        return None
    index, argument, value = die.pick(places)
    match = _DATE.search(value)
    assert match is not None
    year, month, day = map(int, match.groups())
    try:
        at = date(year, month, day)
        near = [at - timedelta(1), at + timedelta(1)]
    except (ValueError, OverflowError):  # the data hold a day that does not exist
        return None
    if day <= 12 and day != month:
        near += [date(year, day, month)] * 2
    return decision.with_value(index, argument, value[: match.start()] + str(die.pick(near)) + value[match.end() :])


def wrong_boolean(decision: Decision, die: Die) -> str | None:
    """Yes for no."""
    places = decision.places(lambda value: isinstance(value, bool))
    if not places:
        return None
    index, argument, value = die.pick(places)
    return decision.with_value(index, argument, not value)


def wrong_list(decision: Decision, die: Die) -> str | None:
    """An element of a list is left out, or one too many is there."""
    places = decision.places(lambda value: isinstance(value, list) and bool(value))
    if not places:
        return None
    index, argument, value = die.pick(places)
    if len(value) > 1 and die.below(2):
        gone = die.below(len(value))
        return decision.with_value(index, argument, [*value[:gone], *value[gone + 1 :]])
    lists = [v for v in decision.pool.values(decision.calls[index].name, argument) if isinstance(v, list)]
    others = [item for other in lists for item in other if item not in value]
    return decision.with_value(index, argument, [*value, die.pick(others)]) if others else None


def swapped_arguments(decision: Decision, die: Die) -> str | None:
    """The values of two arguments of one kind change places."""
    pairs = []
    for index, call in enumerate(decision.calls):
        items = list(call.arguments.items())
        for place, (name, value) in enumerate(items):
            for other, theirs in items[place + 1 :]:
                if _kind(value) == _kind(theirs) and not same_value(value, theirs):
                    pairs.append((index, {name: theirs, other: value}))
    if not pairs:
        return None
    index, swapped = die.pick(pairs)
    call = decision.calls[index]
    return decision.instead(index, _call(call.name, {**call.arguments, **swapped}))


def wrong_type(decision: Decision, die: Die) -> str | None:
    """The right value as the wrong type: a number in words, a list as a text, a text as a list.

    A number in quotes is wrong only in a dialect whose values are typed, and is made only there.
    """
    places = decision.places(lambda value: value is not None and not isinstance(value, dict))
    if not places:
        return None
    index, argument, value = die.pick(places)
    near: list[Any] = []
    if isinstance(value, bool):
        near = ["yes" if value else "no"]
    elif _is_number(value):
        near = [_WORDS_FOR[value] if type(value) is int and 0 <= value < len(_WORDS_FOR) else f"about {value}"]
    elif isinstance(value, list):
        near = [" and ".join(map(str, value))]
    else:
        near = [[value]]
    if decision.dialect.typed and not isinstance(value, str):
        near.append(", ".join(map(str, value)) if isinstance(value, list) else str(value).lower())
    return decision.with_value(index, argument, die.pick(near))


# Words for a call, and a call for words.


def refusal_instead(decision: Decision, die: Die) -> str | None:
    """Words where a call is due."""
    return decision.write((), die.pick(_REFUSALS)) if decision.calls else None


def call_instead(decision: Decision, die: Die) -> str | None:
    """A call where the task is to be declined."""
    call = None if decision.calls else _other_call(decision, die)
    return None if call is None else decision.write([call])


def call_plus_refusal(decision: Decision, die: Die) -> str | None:
    """A call and a refusal at once, where the task is to be declined.

    Where a call is due, words beside it change nothing in our rewards, so it would be no miss there.
    """
    call = None if decision.calls else _other_call(decision, die)
    words = decision.dialect.parse(decision.action).content
    return None if call is None or not words else decision.write([call], words)


# Right in another way.


def equal_variant(decision: Decision, die: Die) -> str | None:
    """No miss: other accepted values, other order of keys or of unordered calls, 98.0 for 98, without an option."""
    texts: list[str] = []
    for index, (call, gold) in enumerate(zip(decision.calls, decision.gold, strict=True)):
        items = list(call.arguments.items())
        turned = die.below(len(items) - 1) + 1 if len(items) > 1 else 0
        if turned:
            texts.append(decision.instead(index, _call(call.name, dict(items[turned:] + items[:turned]))))
        for name, value in items:
            if type(value) is int and decision.schema(call.name, name).get("type") == "number":
                texts.append(decision.with_value(index, name, float(value)))
        for name, accepted in gold.arguments.items() if gold is not None else ():
            texts += [decision.with_value(index, name, other) for other in accepted[1:] if name in call.arguments]
        for name in gold.optional if gold is not None else ():
            left = {k: v for k, v in call.arguments.items() if k != name}
            texts += [decision.instead(index, _call(call.name, left))] if name in call.arguments else []
    if len(decision.calls) > 1 and not decision.ordered:
        texts.append(decision.write(decision.calls[::-1]))
    texts = [text for text in texts if text != decision.action]
    return die.pick(texts) if texts else None


KINDS: dict[str, Mutation] = {
    mutation.__name__: mutation
    for mutation in (
        wrong_tool,
        hallucinated_tool,
        missing_argument,
        extra_argument,
        wrong_string,
        wrong_number,
        wrong_date,
        wrong_boolean,
        wrong_list,
        swapped_arguments,
        wrong_type,
        truncated_call,
        duplicated_call,
        extra_call,
        refusal_instead,
        call_instead,
        call_plus_refusal,
        equal_variant,
    )
}
"""Kind to the mutation that makes it."""
TIE_KINDS = frozenset(("equal_variant",))
"""Kinds that are right: no scorer may prefer the original."""


def _other_call(decision: Decision, die: Die) -> ToolCall | None:
    """A call as another task makes it, of a tool that is there."""
    if not decision.tools:
        return None
    name = die.pick(list(decision.tools))
    calls = decision.pool.calls(name)
    return die.pick(calls) if calls else _filled(decision, die, name, {})


def _filled(decision: Decision, die: Die, tool: str, given: Mapping[str, Any]) -> ToolCall:
    """A call of a tool: arguments that are given where it has them, others' values for what else it requires."""
    parameters = decision.tools[tool]
    required = parameters.get("required", ())
    arguments = {}
    for name in parameters.get("properties", {}):
        if name in given:
            arguments[name] = given[name]
        elif name in required:
            arguments[name] = _some_value(decision, die, tool, name)
    return _call(tool, arguments)


def _some_value(decision: Decision, die: Die, tool: str, argument: str) -> Any:
    schema = decision.schema(tool, argument)
    if schema.get("enum"):
        return die.pick(schema["enum"])
    known = decision.pool.values(tool, argument)
    if known:
        return die.pick(known)
    match schema.get("type"):
        case "integer" | "number":
            return die.below(20) + 1
        case "boolean":
            return bool(die.below(2))
        case "array":
            return []
        case "object":
            return {}
        case _:
            return die.pick(("Rome", "today", "Alice", "urgent"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "date" if _DATE.search(value) else "text"
    return "number" if _is_number(value) else type(value).__name__
