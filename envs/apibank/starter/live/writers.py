"""Writers of plans for levels 1 and 2, one for each kind of dialogue; ``SHARES`` says how often each is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callgym.envs.apibank.simulator.manager import TOOL_SETS
from callgym.envs.apibank.starter.live import sentences
from callgym.envs.apibank.starter.live.forms import CHAINS, FAMILIES, FORMS, Form
from callgym.envs.apibank.starter.live.plans import Part, Plan, Turn
from callgym.envs.apibank.starter.live.records import RECORDS, any_value, log_in
from callgym.envs.apibank.starter.live.values import Draw, token

__all__ = ["SHARES", "pin", "show"]

_TOOLS = TOOL_SETS["apis"]
_TOKEN_TOOLS = frozenset(name for name in FORMS if "token" in _TOOLS[name].parameters and name != "CheckToken")
"""Tools that are called in a user's name."""
_EMPTY: dict[str, Any] = {"str": "", "list(str)": []}
"""What stands for a value that a tool requires and nobody said, by declared type."""

_CLOSED = tuple(name for name in FORMS if name in _TOKEN_TOOLS)
_OPEN = tuple(name for name in FORMS if name not in _TOKEN_TOOLS and name != "ForgotPassword")
_NO_SLOTS = ("GetToday", "DeleteAccount", "QueryBalance")
_FOR_TODAY = ("QueryStock", "QueryHistoryToday")
_FOR_LATER = ("AddAlarm", "AddReminder", "AddAgenda", "AddMeeting", "TimedSwitch", "AppointmentRegistration")
_FOR_NEW_USER = ("AddAlarm", "AddReminder", "AddAgenda", "AddMeeting")
_NEAR = ({"knowledge", "clinic", "market"}, {"media", "knowledge"}, {"clinic", "diary"}, {"account", "bank"})
"""Families whose tools could be tried for one another."""
_MOST_DOCUMENTED, _LEAST_DOCUMENTED = 6, 3


@dataclass
class _Request:
    """One thing that the user wants: how it is said, and the call that does it."""

    clause: str
    part: Part
    ask: str = ""
    """For a vague clause: the assistant's question."""
    answer: str = ""
    """And what the user answers."""


# --- one request -------------------------------------------------------------------------------


def _request(draw: Draw, tool: str, vague: bool = False) -> _Request:
    """A request for ``tool``, and the tables that it needs."""
    forms = [form for form in FORMS[tool] if form.vague] if vague else FORMS[tool]
    form = draw.one(forms)
    request = _said(draw, form, form.answers if vague else form.clauses, "answer" if vague else "clause")
    if not vague:
        return request
    return replace(request, clause=draw.one(form.vague), ask=draw.one(form.asks), answer=request.clause)


def _said(draw: Draw, form: Form, texts: Sequence[str], kind: str, after: Part | None = None) -> _Request:
    text, template = draw.sentence(f"{form.id}/{kind}", texts)
    clause, said, values = draw.fill(template, text, form.slots)
    if after is None and form.tool in RECORDS:
        RECORDS[form.tool](draw, values)
    tool = _TOOLS[form.tool]
    unsaid = {name: _EMPTY[tool.parameters[name]] for name in tool.required if tool.parameters[name] in _EMPTY}
    links = {name: (after, source) for name, source in form.links.items()} if after is not None else {}
    part = Part(form.tool, {**unsaid, **form.constants, **values}, links, draw.one(form.replies), said)
    return _Request(clause, part)


def _going_on(draw: Draw, key: str, before: Part) -> _Request:
    """A request that goes on from the call before; ``key`` of its forms among the chains."""
    form = draw.one(CHAINS[key])
    return _said(draw, form, form.clauses, "clause", before)


def _opening(draw: Draw, clause: str) -> str:
    return _around(draw.one(sentences.OPENINGS), clause)


def _later(draw: Draw, clause: str) -> str:
    return _around(draw.one(sentences.NEXT), clause)


def _after_refusal(draw: Draw, clause: str) -> str:
    return _around(draw.one(sentences.AFTER_REFUSAL), clause)


def _around(sentence: str, clause: str) -> str:
    """A clause in its sentence; one that ends with a question of its own ends the sentence."""
    words = sentence.format(clause=clause)
    return words[:-1] if clause.endswith(("?", "!")) else words


# --- tokens ------------------------------------------------------------------------------------


@dataclass
class _Access:
    """How the user's token comes to be known."""

    sentence: str
    part: Part | None
    """The login; None where the user tells a token."""
    token: str


def _access(draw: Draw, told: float) -> _Access:
    """A user, and a sentence that gives a login or, in that share of cases, a token."""
    if draw.chance(told):
        text, template = draw.sentence("token", sentences.TOKENS)
        name = any_value(draw, "new_name")
        user = log_in(draw, name, any_value(draw, "password"))
        while not draw.fits(template, user.token):
            user = log_in(draw, name, any_value(draw, "password"))
        draw.pairs.append(f"{template}={user.token}")
        return _Access(text.format(token=user.token), None, user.token)
    text, template = draw.sentence("login", sentences.LOGINS)
    sentence, _, values = draw.fill(template, text, FORMS["GetUserToken"][0].slots)
    log_in(draw, values["username"], values["password"])
    return _Access(sentence, Part("GetUserToken", values), "")


def _in_the_name_of(request: _Request, access: _Access) -> None:
    """Let a request carry the token, if its tool takes one."""
    if request.part.tool not in _TOKEN_TOOLS:
        return
    if access.part is None:
        request.part.arguments["token"] = access.token
    else:
        request.part.links = {**request.part.links, "token": (access.part, "token")}


# --- kinds -------------------------------------------------------------------------------------


def _one_request(draw: Draw) -> Plan:
    request = _request(draw, draw.one([name for name in _OPEN if name not in _NO_SLOTS]))
    return Plan("one_request", [Turn(_opening(draw, request.clause), [request.part])])


def _wishes(draw: Draw, count: int, access: _Access | None) -> list[_Request]:
    """Requests of one user; where there are two or more, mostly such as go on from another."""
    requests: list[_Request] = []
    while len(requests) < count:
        used = {request.part.tool for request in requests}
        if count - len(requests) > 1 and draw.chance(0.65):
            requests += _chain(draw, access, count - len(requests))
            continue
        in_own_name = access is not None and (not requests or draw.chance(0.6))
        pool = [name for name in (_CLOSED if in_own_name else _OPEN) if name not in {*used, "DeleteAccount"}]
        requests.append(_request(draw, draw.one(pool)))
    if access is not None:
        for request in requests:
            _in_the_name_of(request, access)
    return requests


def _chain(draw: Draw, access: _Access | None, room: int) -> list[_Request]:
    """Two or three requests, each going on from the one before."""
    firsts = [name for name in CHAINS if "/" not in name and (access is not None or name not in _TOKEN_TOOLS)]
    if access is not None:
        firsts = [name for name in firsts if name in _TOKEN_TOOLS]
    first = draw.one(firsts)
    requests = [_request(draw, first)]
    if first == "RegisterUser" and draw.chance(0.6):
        return [*requests, _of_new_user(draw, requests[0].part)]
    requests.append(_going_on(draw, first, requests[0].part))
    if first == "ForgotPassword" and room > 2:
        requests.append(_going_on(draw, "ForgotPassword/reset", requests[1].part))
    return requests


def _of_new_user(draw: Draw, registered: Part) -> _Request:
    """A request in the name of the user who was just registered."""
    request = _request(draw, draw.one(_FOR_NEW_USER))
    request.part.links = {"token": (registered, "token")}
    request.clause = f"use the new account and {request.clause}"
    return request


def _turns(draw: Draw, requests: Sequence[_Request], first: Callable[[Draw, str], str] = _opening) -> list[Turn]:
    """The requests in turns of their own, or the first two in one; ``first`` puts the first into words."""
    groups = [[request] for request in requests]
    asks = requests[0].clause.endswith("?") or requests[0].part.reply.endswith("?")
    if len(groups) > 1 and not asks and draw.chance(0.2):
        groups[:2] = [[*groups[0], *groups[1]]]
    turns = []
    for n, group in enumerate(groups):
        clause = _joined(draw, [request.clause for request in group])
        parts = [request.part for request in group]
        words = first(draw, clause) if n == 0 else _later(draw, clause)
        turns.append(Turn(words, parts))
    return turns


def _joined(draw: Draw, clauses: Sequence[str]) -> str:
    if len(clauses) == 1:
        return clauses[0]
    return draw.one(sentences.ANDS).join(clauses)


def _several_requests(draw: Draw) -> Plan:
    count = draw.one((2, 2, 2, 3, 3, 4))
    return Plan("several_requests", _turns(draw, _wishes(draw, count, None)))


def _needs_token(draw: Draw) -> Plan:
    access = _access(draw, told=0.3)
    if draw.chance(0.5):
        request = _request(draw, draw.one(_CLOSED))
        _in_the_name_of(request, access)
        requests = [request]
    else:
        requests = _wishes(draw, draw.one((2, 2, 3)), access)
    turns = _turns(draw, requests)
    first, login = turns[0], [access.part] if access.part is not None else []
    if access.part is not None and draw.chance(0.45):
        turns[:1] = [
            Turn(first.user, reply=draw.one(sentences.ASK_LOGIN)),
            Turn(access.sentence, [*login, *first.parts]),
        ]
    else:
        turns[0] = Turn(f"{first.user} {access.sentence}", [*login, *first.parts])
    return Plan("needs_token", turns)


def _vague_request(draw: Draw) -> Plan:
    access = _access(draw, told=0.5) if draw.chance(0.35) else None
    pool = [name for name in (_OPEN if access is None else _CLOSED) if any(form.vague for form in FORMS[name])]
    request = _request(draw, draw.one(pool), vague=True)
    words, parts = _opening(draw, request.clause), [request.part]
    if access is not None:
        _in_the_name_of(request, access)
        words = f"{words} {access.sentence}"
        parts = [access.part, *parts] if access.part is not None else parts
    turns = [Turn(words, reply=request.ask), Turn(request.answer, parts)]
    if draw.chance(0.3):
        later = _request(draw, draw.one([name for name in _OPEN if name != request.part.tool]))
        turns.append(Turn(_later(draw, later.clause), [later.part]))
    return Plan("vague_request", turns)


def _relative_day(draw: Draw) -> Plan:
    """The day is told as seen from today, which has to be looked up."""
    draw.relative = True
    tool = draw.one((*_FOR_LATER, *_FOR_TODAY))
    access = _access(draw, told=0.6) if tool in _TOKEN_TOOLS else None
    request = _request(draw, tool)
    words, parts = _opening(draw, request.clause), [Part("GetToday", {}), request.part]
    if access is not None:
        _in_the_name_of(request, access)
        words = f"{words} {access.sentence}"
        parts = [access.part, *parts] if access.part is not None else parts
    return Plan("relative_day", [Turn(words, parts)])


def _no_tool_fits(draw: Draw) -> Plan:
    """A wish beyond all tools, small talk, or (level 1) something that none of the tools shown can do."""
    if draw.chance(0.2):
        words = _chat(draw)
        return Plan("no_tool_fits", [Turn(words, reply=draw.one(sentences.CHAT_REPLIES))])
    turns = [Turn(_opening(draw, _unserved(draw)), reply=draw.one(sentences.DECLINES))]
    if draw.chance(0.25):
        turns.append(Turn(_after_refusal(draw, _unserved(draw)), reply=draw.one(sentences.DECLINES)))
    return Plan("no_tool_fits", turns)


def _undocumented(draw: Draw) -> Plan:
    """Level 1: a request whose tool, and all that could stand in for it, are not shown."""
    request = _request(draw, draw.one([name for name in _OPEN if name not in _NO_SLOTS]))
    family = FAMILIES[request.part.tool]
    others = [name for name in FORMS if not _near(FAMILIES[name], family)]
    shown = draw.rng.sample(others, draw.rng.randint(_LEAST_DOCUMENTED, _MOST_DOCUMENTED))
    turn = Turn(_opening(draw, request.clause), reply=draw.one(sentences.DECLINES))
    draw.state.clear()
    return Plan("no_tool_fits", [turn], tuple(shown))


def _near(family: str, other: str) -> bool:
    """Whether a tool of the one family could help with a request for the other."""
    return family == other or any({family, other} <= near for near in _NEAR)


def _no_tool_fits_level_1(draw: Draw) -> Plan:
    return _undocumented(draw) if draw.chance(0.5) else _no_tool_fits(draw)


def _unserved(draw: Draw) -> str:
    return _wish(draw, "unserved", sentences.UNSERVED)


def _chat(draw: Draw) -> str:
    return _wish(draw, "chat", sentences.CHATS)


def _wish(draw: Draw, name: str, wishes: Sequence[sentences.Wish]) -> str:
    i = int(draw.rng.random() * len(wishes))
    text, template = draw.sentence(f"{name}/{i}", wishes[i].clauses)
    return draw.fill(template, text, wishes[i].slots)[0]


def _partly_served(draw: Draw) -> Plan:
    """One of several turns asks for something that no tool can do."""
    requests, clause, reply = _wishes(draw, draw.one((1, 1, 2)), None), _unserved(draw), draw.one(sentences.DECLINES)
    if draw.chance(0.5):
        turns = [Turn(_opening(draw, clause), reply=reply), *_turns(draw, requests, _after_refusal)]
    else:
        turns = [*_turns(draw, requests), Turn(_later(draw, clause), reply=reply)]
    return Plan("partly_served", turns)


def show(draw: Draw, plan: Plan) -> None:
    """Level 1: fill in the tools that are documented, the plan's own and others beside them."""
    if not plan.documented:
        shown = list(dict.fromkeys(part.tool for turn in plan.turns for part in turn.parts))
        count = max(len(shown), draw.rng.randint(_LEAST_DOCUMENTED, _MOST_DOCUMENTED))
        others = [name for name in FORMS if name not in shown]
        shown += draw.rng.sample(others, count - len(shown))
        draw.rng.shuffle(shown)
        plan.documented = tuple(shown)


def pin(draw: Draw, plan: Plan) -> None:
    """Fill in the ids and tokens that the plan's calls would otherwise draw at random."""
    for turn in plan.turns:
        for part in turn.parts:
            if part.tool == "RegisterUser":
                plan.pinned.append(token(draw.rng))
            elif part.tool == "AppointmentRegistration":
                plan.pinned.append(any_value(draw, "appointment"))


Writer = Callable[[Draw], Plan]

_SHARES: tuple[tuple[float, Writer], ...] = (
    (0.175, _one_request),
    (0.23, _several_requests),
    (0.195, _needs_token),
    (0.15, _vague_request),
    (0.05, _relative_day),
    (0.07, _partly_served),
)
SHARES: dict[int, tuple[tuple[float, Writer], ...]] = {
    1: (*_SHARES, (0.13, _no_tool_fits_level_1)),
    2: (*_SHARES, (0.13, _no_tool_fits)),
}
"""Level to (share, writer) of its kinds."""
