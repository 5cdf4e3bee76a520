"""The official multi-turn verdict: calls are run turn by turn beside the gold's, states and results compared.

Source: ``bfcl-eval`` 2026.3.23, ``multi_turn_checker`` and ``eval_runner``. After each turn whose gold is not empty:
the policy must have called something; every public attribute of every class must equal the gold's, by Python's
``==``; every result of the gold's calls must be among the policy's results so far, as often. The first failure
ends it. Turns with an empty gold are run and not checked. ::

    score(entry, gold, [[["cd(folder='docs')"], ["ls()"]]], tables).valid

Officially instances stay in the process and padded ones share records; here nothing outlives a verdict.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

from callgym.envs.bfcl.official.decode import execute_calls
from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.simulators.base import Tables
from callgym.envs.bfcl.simulators.session import World as SimulatedWorld

__all__ = [
    "EMPTY",
    "FORCED",
    "INFERENCE",
    "RESPONSE",
    "STATE",
    "GoldTrace",
    "GoldTurn",
    "TurnFault",
    "Verdict",
    "World",
    "compare_turn",
    "decoded_turns",
    "gold_trace",
    "has_padding",
    "is_irrelevant",
    "is_silent",
    "score",
    "score_outputs",
]

EMPTY = "multi_turn:empty_turn_model_response"
STATE = "multi_turn:instance_state_mismatch"
RESPONSE = "multi_turn:execution_response_mismatch"
FORCED = "multi_turn:force_terminated"
INFERENCE = "multi_turn:inference_error"

_MAX_TRACES = 1_024
_MAX_SEEN = 4_096
_ATOMS = frozenset((str, int, float, bool, type(None)))

Steps = Sequence[Sequence[str]]
"""One turn: its steps, each a list of call texts."""


@dataclass(frozen=True, slots=True)
class TurnFault:
    """What is wrong with a turn."""

    error_type: str
    """As officially."""
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The official verdict on an entry."""

    valid: bool
    error_type: str | None = None
    """The official error's name; None for a right entry."""
    turn: int | None = None
    """The turn, from 0, that failed, where one did."""
    message: str = ""
    """What was wrong, in words of our own."""


class World(Protocol):
    """What is asked of a policy's world after a turn; ``simulators.session.World`` is one."""

    touched: set[str]
    """The classes that were called so far."""

    def public_state(self, classes: Iterable[str]) -> Mapping[str, Mapping[str, Any]]:
        """Class to attribute to value, of some classes."""


class GoldTurn(NamedTuple):
    """What the gold's calls of one turn gave."""

    results: tuple[str, ...]
    """The official result strings, in order; empty where the turn asks for no call, and then nothing is checked."""
    needed: tuple[tuple[str, int], ...]
    """Each of them once, and how often it occurs."""
    state: Mapping[str, Mapping[str, Any]]
    """Class to attribute to value after the turn, of the classes that the gold has called so far; not to be changed."""
    open: Callable[[], SimulatedWorld]
    """Makes the entry's world as it is before any call."""

    def state_of(self, name: str) -> Mapping[str, Any]:
        """Attribute to value after the turn, of one class; not to be changed."""
        state = self.state.get(name)
        return self.open().public_state((name,))[name] if state is None else state


class GoldTrace(NamedTuple):
    """The gold of one entry, run, with what it was run on."""

    turns: tuple[GoldTurn, ...]
    source: tuple[Any, ...]
    """Classes, scenario, gold calls and padding: what must be equal for the trace to be the entry's."""
    tables: Tables


def has_padding(entry: Mapping[str, Any]) -> bool:
    """Whether an entry's answers are padded: ``long_context`` where the entry says so, else by its id."""
    said = entry.get("long_context")
    if said is not None:
        return bool(said)
    category = str(entry["id"]).rpartition("_")[0]
    return "long_context" in category or "composite" in category


# The gold.


_traces: OrderedDict[str, GoldTrace] = OrderedDict()
_seen: OrderedDict[str, None] = OrderedDict()


def gold_trace(entry: Mapping[str, Any], gold: Sequence[Sequence[str]], tables: Tables) -> GoldTrace:
    """Run an entry's gold, or remember how it went: the last thousand or so are kept.

    Args:
        entry: The official entry: ``id``, ``involved_classes``, ``initial_config``.
        gold: Call texts by turn.
        tables: What the classes know.

    Raises:
        KeyError: The entry lacks a part.
        ConfigurationError: It involves a class that does not exist.
    """
    name = str(entry["id"])
    source = (entry["involved_classes"], entry["initial_config"], gold, has_padding(entry))
    trace = _traces.get(name)
    if trace is None or trace.tables is not tables or trace.source != source:
        turns = _freeze(_run_gold(entry, gold, tables), entry["initial_config"])
        trace = _traces[name] = GoldTrace(tuple(turns), source, tables)
        if len(_traces) > _MAX_TRACES:
            _traces.popitem(last=False)
    with suppress(KeyError):  # another thread may just have made room
        _traces.move_to_end(name)
    return trace


def _gold_turns(entry: Mapping[str, Any], gold: Sequence[Sequence[str]], tables: Tables) -> Iterator[GoldTurn]:
    """The gold's turns, of which each is looked at before the next: a trace is kept from an entry's second verdict
    on, for it costs more than running the gold once."""
    name = str(entry["id"])
    if name in _seen:
        yield from gold_trace(entry, gold, tables).turns
        return
    _seen[name] = None
    if len(_seen) > _MAX_SEEN:
        _seen.popitem(last=False)
    yield from _run_gold(entry, gold, tables)


def _run_gold(entry: Mapping[str, Any], gold: Sequence[Sequence[str]], tables: Tables) -> Iterator[GoldTurn]:
    """Run turn after turn; a turn's state is the instances' own and changes with the next."""
    make = _opener(entry, tables, "model_ground_truth_eval")
    world = make()
    for calls in gold:
        results = tuple(map(world.result_text, calls))
        needed = {text: results.count(text) for text in results}
        yield GoldTurn(results, tuple(needed.items()), world.public_state(world.touched), make)


def _freeze(turns: Iterable[GoldTurn], scenario: Mapping[str, Any]) -> Iterator[GoldTurn]:
    # What did not change is kept once, and not at all where it is as in the scenario.
    state = scenario
    for turn in turns:
        state = {name: _frozen(own, state.get(name)) for name, own in turn.state.items()}
        yield turn._replace(state=state)


def _opener(entry: Mapping[str, Any], tables: Tables, role: str) -> Callable[[], SimulatedWorld]:
    name = f"{role}_{entry['id']}"
    return partial(SimulatedWorld, entry["involved_classes"], entry["initial_config"], tables, has_padding(entry), name)


def _frozen(value: Any, earlier: Any = None) -> Any:
    """A deep copy in which nothing of an instance lives on; what equals the earlier copy's part is that part.
    Tuples stay tuples, for they equal no list."""
    kind = type(value)
    if kind is dict:
        before = earlier if type(earlier) is dict else {}
        return {
            key: item if type(item) in _ATOMS else _kept(item, before[key]) if key in before else _frozen(item)
            for key, item in value.items()
        }
    if kind in (list, tuple, set):
        return kind(item if type(item) in _ATOMS else _frozen(item) for item in value)
    return value


def _kept(value: Any, earlier: Any) -> Any:
    return earlier if value == earlier else _frozen(value, earlier)


# One turn.


def is_silent(steps: Steps) -> bool:
    """Whether a turn counts as one without calls: no step, or a single empty one. Two empty ones do not."""
    return not steps or (len(steps) == 1 and not steps[0])


def is_irrelevant(gold: Sequence[Sequence[str]], turns: Sequence[Steps]) -> bool:
    """Whether nothing is called in turns whose gold is empty: a check that the official package has and never runs."""
    return all(calls or is_silent(steps) for calls, steps in zip(gold, turns, strict=False))


def compare_turn(gold: GoldTurn, world: World, results: Mapping[str, int], silent: bool = False) -> TurnFault | None:
    """What the official check after a turn finds, None where it finds nothing.

    Args:
        gold: The gold's turn.
        world: The policy's world after it. Classes that neither it nor the gold called are equal.
        results: Result string to how often the policy got it so far, earlier turns included.
        silent: Whether the policy called nothing in this turn (``is_silent``).
    """
    if not gold.results:
        return None
    if silent:
        return TurnFault(EMPTY, "nothing was called")
    for name, own in world.public_state(world.touched | gold.state.keys()).items():
        expected = gold.state_of(name)
        if own != expected:
            return TurnFault(STATE, f"the state of {name} is another: {_different(own, expected)}")
    for text, count in gold.needed:
        if results.get(text, 0) < count:
            return TurnFault(RESPONSE, f"no call has given the result {text[:200]}")
    return None


def _different(own: Mapping[str, Any], gold: Mapping[str, Any]) -> str:
    return ", ".join(name for name, value in gold.items() if own[name] != value)


# Whole entries.


def score(entry: Mapping[str, Any], gold: Sequence[Sequence[str]], turns: Sequence[Steps], tables: Tables) -> Verdict:
    """The official verdict on decoded calls.

    Args:
        entry: The official entry.
        gold: Call texts by turn.
        turns: The policy's, by turn and step.
        tables: What the classes know.

    Raises:
        KeyError: The entry lacks a part.
    """
    if len(turns) != len(gold):
        return Verdict(False, FORCED, None, f"{len(turns)} of {len(gold)} turns were played")
    world = _opener(entry, tables, "model_eval")()
    results: dict[str, int] = {}
    for number, (gold_turn, steps) in enumerate(zip(_gold_turns(entry, gold, tables), turns, strict=True)):
        for calls in steps:
            for call in calls:
                text = world.result_text(call)
                results[text] = results.get(text, 0) + 1
        fault = compare_turn(gold_turn, world, results, is_silent(steps))
        if fault is not None:
            return Verdict(False, fault.error_type, number, fault.message)
    return Verdict(True)


def score_outputs(entry: Mapping[str, Any], gold: Sequence[Sequence[str]], outputs: Any, tables: Tables) -> Verdict:
    """The official verdict on raw replies.

    Args:
        entry: The official entry.
        gold: Call texts by turn.
        outputs: Reply texts by turn and step; anything else is an error of inference.
        tables: What the classes know.
    """
    if type(outputs) is not list:
        return Verdict(False, INFERENCE, None, "the result is no list of turns")
    if len(outputs) != len(gold):
        return Verdict(False, FORCED, None, f"{len(outputs)} of {len(gold)} turns were played")
    try:
        turns = decoded_turns(outputs)
    except TypeError:  # officially an exception: a turn that holds nothing
        return Verdict(False, INFERENCE, None, "a turn is no list of replies")
    return score(entry, gold, turns, tables)


def decoded_turns(outputs: Sequence[Iterable[Any]]) -> list[list[list[str]]]:
    """Call texts by turn and step; replies that decode to nothing are left out.

    Raises:
        TypeError: A turn is no collection.
    """
    return [[calls for reply in turn if (calls := _decoded(reply))] for turn in outputs]


def _decoded(reply: Any) -> list[str]:
    if type(reply) is not str:
        return []
    try:
        calls = execute_calls(reply)
    except DecodeFailure:
        return []
    return [] if calls == [""] else calls
