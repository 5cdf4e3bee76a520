"""A plan is a dialogue before it is played: the user's turns, and the requests that each of them makes.

``play`` runs the requests one after the other on a fresh session, so that a later one can read its
arguments from earlier answers, and replies can tell what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callgym.call import ToolCall
from callgym.envs.apibank.live import LiveTurn
from callgym.envs.apibank.simulator.session import SimulatorBackend, SimulatorSession
from callgym.envs.apibank.starter.live.values import Draw, NothingFits

__all__ = ["Part", "Plan", "Turn", "play"]

_TITLE = re.compile(r"Title: (.*?), Date: ")


@dataclass(eq=False)
class Part:
    """A call of a plan, and what is replied once it is made."""

    tool: str
    arguments: dict[str, Any]
    """Argument to its value, as far as it is known before."""
    links: Mapping[str, tuple[Part, str]] = field(default_factory=dict)
    """Argument to the earlier part and the field of it that gives the value."""
    reply: str = ""
    """With placeholders; empty for a call that only prepares another."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Placeholder to words, for the reply."""
    found: dict[str, Any] = field(default_factory=dict)
    """After the call: the fields of what it gave, and the whole as ``result``."""
    known: dict[str, Any] = field(default_factory=dict)
    """After the call: what a later one can take from it; its arguments and those before it are among that."""


@dataclass
class Turn:
    """What the user says, the calls that it takes, and the reply where it is not made of the calls' own."""

    user: str
    parts: Sequence[Part] = ()
    reply: str = ""
    tell: Callable[[], str] | None = None
    """Makes the reply once the calls are made, where it is no list of theirs."""


@dataclass
class Plan:
    """A dialogue to be played."""

    kind: str
    turns: list[Turn]
    documented: tuple[str, ...] = ()
    """Level 1: the tools that are shown."""
    pinned: list[str] = field(default_factory=list)
    """The first random ids and tokens."""


def play(plan: Plan, draw: Draw, backend: SimulatorBackend) -> list[LiveTurn]:
    """The plan's turns with their calls and replies.

    Raises:
        NothingFits: A call fails, because values drawn apart do not go together.
    """
    world = backend.open_world(0, draw.state, tuple(plan.pinned))
    session = SimulatorSession(backend.tool_set, world)
    documents = backend.tables.documents[backend.tool_set]
    turns = []
    for turn in plan.turns:
        calls, replies = [], []
        for part in turn.parts:
            calls.append(_call(part, documents[part.tool]["input_parameters"], session))
            if part.reply:
                replies.append(part.reply.format_map({**part.texts, **part.found}))
        reply = turn.tell() if turn.tell is not None else turn.reply or " ".join(replies)
        turns.append(LiveTurn(turn.user, tuple(calls), reply))
    return turns


def _call(part: Part, parameters: Mapping[str, Any], session: SimulatorSession) -> ToolCall:
    values = {**part.arguments, **{name: source.known[key] for name, (source, key) in part.links.items()}}
    arguments = {name: values[name] for name in parameters if name in values}
    call = ToolCall(name=part.tool, arguments=arguments)
    result = session.call(call)
    if result.error is not None:
        raise NothingFits(f"{part.tool}: {result.message}")
    part.found = {**_fields(part.tool, result.content), "result": result.content}
    for source, _ in part.links.values():
        part.known.update(source.known)
    part.known.update({**arguments, **part.found})
    return call


def _fields(tool: str, content: Any) -> dict[str, Any]:
    """What a reply or a later call can take from an answer."""
    if tool == "QueryRegistration":
        number, row = next(iter(content.items()))
        return {**row, "appointment_id": number}
    if tool == "QueryHistoryToday":
        titles = [match.group(1) for text in content if (match := _TITLE.match(text))]
        return {"titles": "; ".join(titles)}
    if tool == "QueryHealthData":
        values = [f"{name} {value}" for name, value in content[0].items() if name != "time"]
        return {"measured": ", ".join(values)}
    if tool == "Dictionary":
        return {"definition": content[0]["definitions"][0]["definition"]}
    if tool == "QueryScene":
        return {"names": ", ".join(device["name"] for device in content)}
    if isinstance(content, dict):
        return content
    if isinstance(content, list) and content and isinstance(content[0], dict):
        names = ", ".join(str(row["name"]) for row in content if "name" in row)
        return {**content[0], "names": names}
    return {}
