"""Live tasks: a scripted user speaks, the policy calls tools that really run, asks and answers.

A dialogue is a list of turns; ``live_task`` plays its gold calls once on a fresh session and writes down
what they lead to::

    turns = [LiveTurn("Set an alarm ...", (ToolCall(name="AddAlarm", arguments={...}),), "It is set.")]
    task = live_task(id="mine/1", split="train", level=1, turns=turns, backend=backend)

The goal has up to three parts: the calls (some time in the episode, in any order; a tool search is free),
the state that they leave (where they change any), and a fact of the last answer (where the reference
reply states one that a tool gave).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.tools import make_tool
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, Goal, GoldCall, StateGoal
from callgym.message import Message
from callgym.rewards.answer import numbers_in, without_data
from callgym.task import Task, UserTurn

__all__ = ["SEARCH", "LiveTurn", "live_task", "searches_for"]

SEARCH = "ToolSearcher"
_ANSWER_LENGTH = 3
_MOST_OTHERS = 40
_SHORTEST_LIMIT = 200
_FACT_LENGTHS = range(2, 81)

Fact = str | int | float
"""A value that an answer can state."""


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """What the user says, and what is to come of it before the user speaks again."""

    user: str
    """The user's words."""
    calls: tuple[ToolCall, ...] = ()
    """The gold calls, in order, arguments typed; tool searches are not among them."""
    reply: str = ""
    """The reference reply that ends the turn."""


def live_task(
    *,
    id: str,
    split: str,
    level: int,
    turns: Sequence[LiveTurn],
    backend: SimulatorBackend,
    documented: Sequence[str] | None = None,
    system: str = "",
    initial_state: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Task:
    """The task of a dialogue.

    Args:
        id: The task's id.
        split: The task's split.
        level: 1: the tools of ``documented`` are shown; 2 and 3: only the tool search is, and the others
            can be called once they were found.
        turns: The dialogue; at least one turn.
        backend: Runs the gold calls once.
        documented: Level 1: names of the tools that are shown, those of the gold calls by default.
        system: What the policy is told beside the tools.
        initial_state: Tables that replace the backend's own, by name.
        meta: Kept in the task. ``pinned``: the first random ids and tokens.

    Returns:
        The task. ``meta["replies"]`` holds the reference replies a turn; ``meta["gold_results"]`` what each
        gold call gave; ``meta["gold_fault"]`` the first complaint of a tool about its gold call, if any.
    """
    documents = backend.tables.documents[backend.tool_set]
    calls = [call for turn in turns for call in turn.calls]
    shown = (SEARCH,) if level > 1 else tuple(documented or dict.fromkeys(call.name for call in calls))
    messages = [Message(role="system", content=system)] if system else []
    messages.append(Message(role="user", content=turns[0].user))
    kept: dict[str, Any] = {"level": level, **(meta or {}), "replies": [turn.reply for turn in turns]}
    task = Task(
        id=id,
        family="apibank",
        split=split,
        messages=tuple(messages),
        tools=tuple(make_tool(documents[name]) for name in shown),
        user_turns=tuple(UserTurn(content=turn.user) for turn in turns[1:]),
        goal=DecisionGoal(decision="decline", reply=turns[-1].reply, free=(SEARCH,)),
        initial_state=dict(initial_state or {}),
        meta=kept,
    )
    if not calls:
        return task
    results, state = _play(task, calls, backend)
    fault = next((f"{c.name}: {r.message}" for c, r in zip(calls, results, strict=True) if r.error), None)
    kept["gold_results"] = [result.content for result in results]
    if fault is not None:
        kept["gold_fault"] = fault
    return task.model_copy(update={"goal": _goal(turns, results, state), "meta": kept})


def _play(task: Task, calls: Sequence[ToolCall], backend: SimulatorBackend) -> tuple[list[ToolResult], dict[str, Any]]:
    session = backend.open(task, seed=0)
    results = [session.call(call) for call in calls]
    return results, session.state()


def _goal(turns: Sequence[LiveTurn], results: Sequence[ToolResult], state: dict[str, Any]) -> Goal:
    gold = tuple(tuple(GoldCall.of(call) for call in turn.calls) for turn in turns)
    parts: list[Any] = [CallsGoal(turns=gold, scope="episode", free=(SEARCH,))]
    if state:
        parts.append(StateGoal(state=state))
    said = " ".join(turn.user for turn in turns)
    reply = without_data(turns[-1].reply)
    fact = _fact(results, reply, said) if turns[-1].calls else None
    if fact is not None:
        limit = max(_SHORTEST_LIMIT, _ANSWER_LENGTH * len(turns[-1].reply))
        others = _others(results, reply, said)
        parts.append(AnswerGoal(accepted=(fact,), match="contains", max_length=limit, others=others))
    return parts[0] if len(parts) == 1 else AllGoal(goals=tuple(parts))


def _fact(results: Sequence[ToolResult], reply: str, said: str) -> Fact | None:
    """A value that a tool gave, that the reference reply states, and that the user did not say before.

    Of several the last call's first: that is what the dialogue led to. Numbers before words.
    """
    in_reply, in_words = _Text(reply), _Text(said)
    for result in reversed(results):
        stated = [fact for fact in _leaves(result.content) if in_reply.states(fact) and not in_words.states(fact)]
        if stated:
            return next((fact for fact in stated if _holds_number(fact)), stated[0])
    return None


def _others(results: Sequence[ToolResult], reply: str, said: str) -> tuple[Fact, ...]:
    """Other values that the tools gave, which neither the reference reply states nor the user said."""
    in_reply, in_words = _Text(reply), _Text(said)
    leaves = dict.fromkeys(fact for result in results for fact in _leaves(result.content))
    found = (fact for fact in leaves if not (in_reply.states(fact) or in_words.states(fact)))
    return tuple(islice(found, _MOST_OTHERS))


class _Text:
    """A text that is searched for many values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lower = text.lower()
        self._numbers = set(numbers_in(text))

    def states(self, fact: Fact) -> bool:
        """Whether the value stands in the text, as a number or as words of its own."""
        if not isinstance(fact, str):
            return fact in self._numbers
        if fact.lower() not in self._lower:
            return False
        return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)(?![.,]\d)", self._text, re.IGNORECASE) is not None


def _holds_number(fact: Fact) -> bool:
    return not isinstance(fact, str) or any(character.isdigit() for character in fact)


def _leaves(value: Any) -> Iterator[Fact]:
    """The texts and numbers in a JSON value that can be stated, very short and long ones aside."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "token":  # something to be used, not to be told
                yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, (int, float, str)) and not isinstance(value, bool) and _can_be_stated(value):
        yield value


def _can_be_stated(value: Fact) -> bool:
    return len(str(value)) in _FACT_LENGTHS and value not in ("success", "failed")


def searches_for(tool: str, backend: SimulatorBackend, recorded: Sequence[str] = ()) -> str | None:
    """Keywords that make the tool search find ``tool``: a recorded search, its name, or its description.

    Returns:
        None where none of them does.
    """
    description: str = backend.tables.documents[backend.tool_set][tool]["description"]
    words = re.sub(r"([A-Z])", r" \1", tool).strip().lower()
    for keywords in (*recorded, words, tool, description):
        found = backend.finds(keywords)
        if tool in found:
            return keywords
    return None
