"""A script is a whole dialogue before it is played: calls in order, each with what is said before it.

A task is a script played up to one of its calls, which is then asked for, or to its end, where no tool
fits. ``SCRIPTS`` holds the writers of scripts, one for each kind of task of a level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from callgym.envs.apibank.starter import templates
from callgym.envs.apibank.starter.templates import CHAINS, FORMS, Chain, Unserved
from callgym.envs.apibank.starter.tools import SEARCH_KEYWORDS, TOKEN_TOOLS
from callgym.envs.apibank.starter.worlds import RECORDS, Draw, User
from callgym.message import Role

__all__ = ["SCRIPTS", "Script", "Step"]

Words = tuple[tuple[Role, str], ...]
"""What is said: (role, text) in order."""

_ACTS_THAT_ANSWER = frozenset(
    {"GetWeather", "TrackParcel", "ConvertMoney", "LookUpContact", "ReadBalance", "SplitBill"}
)
_ASKED = tuple(FORMS)
_OPEN = tuple(name for name in FORMS if name not in TOKEN_TOOLS)
_CLOSED = tuple(name for name in FORMS if name in TOKEN_TOOLS)


@dataclass(frozen=True)
class Step:
    """One call of a script."""

    name: str
    arguments: dict[str, Any]
    template: str
    """Id of the template that asks for it."""
    before: Words = ()
    """What is said before it."""
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Argument to (tool, field) of the earlier answer that it is read from."""
    accepted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Accepted values, of the arguments that have more than one."""


@dataclass(frozen=True)
class Script:
    """A dialogue, and where in it the policy is asked."""

    kind: str
    steps: tuple[Step, ...]
    stop: int
    """The step that is asked for; all earlier ones are history."""
    documented: tuple[str, ...]
    """The tools whose documentation opens the prompt."""
    reply: str | None = None
    """Set where no tool fits: the reference reply. Then all steps are history."""
    last: Words = ()
    """What is said last, where no tool fits."""
    template: str = ""
    """Id of the template that no tool fits."""


@dataclass(frozen=True)
class _Request:
    """One thing that a user wants done with one tool."""

    tool: str
    clause: str
    arguments: dict[str, Any]
    template: str
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    detail: Words = ()
    """For a vague clause: the assistant's question and the user's answer."""


@dataclass(frozen=True)
class _Login:
    """A user and the sentence with the credentials."""

    user: User
    sentence: str
    template: str


# --- what is asked -----------------------------------------------------------------------------


def _one(draw: Draw, texts: tuple[str, ...], template: str) -> tuple[str, str]:
    """One of ``texts`` and its id."""
    i = int(draw.rng.random() * len(texts))
    return texts[i], f"{template}/{i}"


def _login(draw: Draw) -> _Login:
    text, template = _one(draw, templates.LOGINS, "login")
    user = draw.user(template)
    return _Login(user, text.format(username=user.name, password=user.password), template)


def _request(draw: Draw, tool: str, login: _Login | None = None, vague: float = 0.0) -> _Request:
    """A request for ``tool``, and what it needs in the world; vague in that share of cases."""
    forms = FORMS[tool]
    is_vague = bool(forms.vague) and draw.chance(vague)
    texts, form = (forms.answers, "answer") if is_vague else (forms.clauses, "clause")
    text, template = _one(draw, texts, f"{tool}/{form}")
    text, arguments = draw.fill(template, text, forms.slots)
    if tool in RECORDS:
        RECORDS[tool](draw, arguments, login.user.name if login else "")
    if not is_vague:
        return _Request(tool, text, arguments, template)
    detail: Words = (("assistant", draw.one(forms.ask)), ("user", text))
    return _Request(tool, draw.one(forms.vague), arguments, template, detail=detail)


def _linked(draw: Draw, chain: Chain) -> _Request:
    """A request for the second tool of a chain, right after one for the first."""
    text, template = _one(draw, chain.clauses, f"{chain.second}/linked")
    text, arguments = draw.fill(template, text, FORMS[chain.second].slots)
    links = {argument: (chain.first, name) for argument, name in chain.links.items()}
    return _Request(chain.second, text, arguments, template, links)


def _tools(draw: Draw, count: int, tokens: bool, chained: float) -> tuple[list[str], Chain | None]:
    """Tools for ``count`` requests of one user, and the chain that two of them make up, if any.

    Args:
        draw: The source of choice.
        count: How many tools, 1 to 3.
        tokens: Whether some may need a token.
        chained: The share of cases with a chain, where there are two tools or more.
    """
    pool = _ASKED if tokens else _OPEN
    if count < 2 or not draw.chance(chained):
        return draw.rng.sample(pool, count), None
    chain: Chain = draw.one(tuple(chain for chain in CHAINS if chain.second in pool))
    tools = [chain.first, chain.second]
    if count > 2:
        tools.insert(draw.one((0, 2)), draw.one(tuple(name for name in pool if name not in tools)))
    return tools, chain


def _requests(draw: Draw, count: int, tokens: float, chained: float) -> tuple[_Login | None, list[_Request]]:
    """Requests of one user, and the user's login if a tool needs it.

    ``tokens`` and ``chained`` are the shares of cases where tools may need a token, or make up a chain.
    """
    may_need_token = draw.chance(tokens)
    tools, chain = _tools(draw, count, may_need_token, chained)
    login = _login(draw) if any(tool in TOKEN_TOOLS for tool in tools) else None
    requests: list[_Request] = []
    for tool in tools:
        if chain is not None and tool == chain.second:
            requests.append(_linked(draw, chain))
        else:
            requests.append(_request(draw, tool, login))
    return login, requests


def _opening(draw: Draw, clause: str) -> str:
    return str(draw.one(templates.OPENINGS)).format(clause=clause)


def _next(draw: Draw, after: str, clause: str) -> Words:
    """The assistant's word after a call of the tool ``after``, and the user's next wish."""
    finds = after.startswith(("Find", "Track")) or after in _ACTS_THAT_ANSWER
    closing = draw.one(templates.FOUND if finds else templates.DONE)
    return ("assistant", closing), ("user", str(draw.one(templates.NEXT)).format(clause=clause))


# --- steps -------------------------------------------------------------------------------------


def _search_step(draw: Draw, request: _Request, exact: bool = False) -> Step:
    """The search that finds the request's tool; ``exact`` asks for nothing but its name."""
    accepted = (request.tool,) if exact else SEARCH_KEYWORDS[request.tool]
    keywords = accepted[0] if draw.chance(0.7) else draw.one(accepted)
    return Step("ToolSearch", {"keywords": keywords}, request.template, accepted={"keywords": accepted})


def _steps(draw: Draw, request: _Request, login: _Login | None, words: Words, known: bool = False) -> list[Step]:
    """The calls that serve a request.

    Args:
        draw: The source of wording.
        request: What is wanted.
        login: Who wants it; None where no token is needed.
        words: What is said before; the user's wish is last.
        known: Whether an earlier call got the token already.
    """
    links = dict(request.links)
    steps = []
    if request.tool in TOKEN_TOOLS and "token" not in request.arguments:
        links["token"] = ("GetToken", "token")
        if login is not None and not known:
            steps.append(_token_step(draw, login, words))
            words = ()
    steps.append(Step(request.tool, request.arguments, request.template, (*words, *request.detail), links))
    return steps


def _token_step(draw: Draw, login: _Login, words: Words) -> Step:
    """The call of GetToken; the credentials come with the wish, or when the assistant asks."""
    if words and draw.chance(0.5):
        role, wish = words[-1]
        words = (*words[:-1], (role, f"{wish} {login.sentence}"))
    else:
        words = (*words, ("assistant", draw.one(templates.ASK_LOGIN)), ("user", login.sentence))
    arguments = {"username": login.user.name, "password": login.user.password}
    return Step("GetToken", arguments, login.template, words)


def _searched_steps(
    draw: Draw, request: _Request, login: _Login | None, words: Words, known: bool = False
) -> list[Step]:
    """As ``_steps``, after a search for the tool."""
    search = replace(_search_step(draw, request), before=words)
    return [search, *_steps(draw, request, login, (), known)]


# --- level 1: the tools are documented ---------------------------------------------------------


def _documented(draw: Draw, tools: tuple[str, ...], most: int, share: float = 0.5) -> tuple[str, ...]:
    """``tools`` in any order, with distractors up to ``most`` in all."""
    listed = list(dict.fromkeys(tools))
    while len(listed) < most and draw.chance(share):
        listed += [draw.one(tuple(name for name in _ASKED if name not in listed))]
    draw.rng.shuffle(listed)
    return tuple(listed)


def _with_token(draw: Draw, tool: str, vague: float) -> tuple[_Request, str]:
    """A request by a user who has a token already, and the sentence that tells it."""
    sentence, template = _one(draw, templates.TOKENS, "token")
    user = draw.user(template)
    request = _request(draw, tool, _Login(user, "", template), vague)
    token = {"token": user.token}
    return replace(request, arguments={**token, **request.arguments}), " " + sentence.format_map(token)


def _one_call(draw: Draw) -> Script:
    if draw.chance(0.25):
        request, sentence = _with_token(draw, draw.one(_CLOSED), vague=0.3)
    else:
        request, sentence = _request(draw, draw.one(_OPEN), vague=0.3), ""
    words: Words = (("user", _opening(draw, request.clause) + sentence),)
    steps = _steps(draw, request, None, words)
    return Script("one_call", tuple(steps), 0, _documented(draw, (request.tool,), 3))


def _several_call(draw: Draw) -> Script:
    login, (first, second) = _requests(draw, 2, tokens=0.6, chained=0.5)
    steps = _steps(draw, first, login, (("user", _opening(draw, first.clause)),))
    earlier = len(steps)
    steps += _steps(draw, second, login, _next(draw, first.tool, second.clause), known=earlier > 1)
    documented = _documented(draw, tuple(step.name for step in steps), 3, share=0.3)
    return Script("several_call", tuple(steps), draw.rng.randrange(earlier, len(steps)), documented)


def _needs_token(draw: Draw) -> Script:
    login = _login(draw)
    request = _request(draw, draw.one(_CLOSED), login, vague=0.3)
    steps = _steps(draw, request, login, (("user", _opening(draw, request.clause)),))
    documented = _documented(draw, ("GetToken", request.tool), 3, share=0.4)
    return Script("needs_token", tuple(steps), draw.rng.randrange(len(steps)), documented)


def _unfitting(draw: Draw, documented: tuple[str, ...]) -> tuple[str, str]:
    """A clause that none of the documented tools serves, and its template."""
    if draw.chance(0.4):
        clause, _, template = _unserved(draw)
        return clause, template
    near = {asked for asked, other in templates.NEAR if other in documented}
    tools = tuple(name for name in _ASKED if name not in documented and name not in near)
    tool = draw.one(tools)
    clause, template = _one(draw, FORMS[tool].clauses, f"{tool}/clause")
    return draw.fill(template, clause, FORMS[tool].slots)[0], template


def _unserved(draw: Draw) -> tuple[str, str, str]:
    """A wish beyond all tools: clause, search keywords, template."""
    i = int(draw.rng.random() * len(templates.UNSERVED))
    wish: Unserved = templates.UNSERVED[i]
    text, template = _one(draw, wish.clauses, f"unserved/{i}")
    return draw.fill(template, text, wish.slots)[0], wish.keywords, template


def _nothing_documented_fits(draw: Draw) -> Script:
    login = _login(draw) if draw.chance(0.4) else None
    tool = draw.one(_CLOSED if login else _OPEN)
    documented = _documented(draw, ("GetToken", tool) if login else (tool,), 3)
    clause, template = _unfitting(draw, documented)
    steps: list[Step] = []
    last: Words = (("user", _opening(draw, clause) + (f" {login.sentence}" if login else "")),)
    if draw.chance(0.35):
        request = _request(draw, tool, login)
        steps = _steps(draw, request, login, (("user", _opening(draw, request.clause)),))
        last = _next(draw, tool, clause)
    reply = draw.one(templates.DECLINES)
    return Script("no_tool_fits", tuple(steps), len(steps), documented, reply, last, template)


# --- level 2: the tools must be searched -------------------------------------------------------

_SEARCH_ONLY = ("ToolSearch",)


def _searched_pair(draw: Draw) -> tuple[list[Step], int]:
    """Two requests with their searches, and the index of the second search."""
    login, (first, second) = _requests(draw, 2, tokens=0.4, chained=0.5)
    steps = _searched_steps(draw, first, login, (("user", _opening(draw, first.clause)),))
    at = len(steps)
    words = _next(draw, first.tool, second.clause)
    return steps + _searched_steps(draw, second, login, words, known=at > 2), at


def _searched_single(draw: Draw, vague: float) -> list[Step]:
    """One request with its search."""
    tool = draw.one(_ASKED)
    login = _login(draw) if tool in TOKEN_TOOLS else None
    request = _request(draw, tool, login, vague)
    words: Words = (("user", _opening(draw, request.clause)),)
    return _searched_steps(draw, request, login, words)


def _must_search(draw: Draw) -> Script:
    steps, at = _searched_pair(draw) if draw.chance(0.3) else (_searched_single(draw, 0.0), 0)
    return Script("must_search_first", tuple(steps), at, _SEARCH_ONLY)


def _call_after_search(draw: Draw) -> Script:
    steps, at = _searched_pair(draw) if draw.chance(0.3) else (_searched_single(draw, 0.25), 0)
    return Script("call_after_search", tuple(steps), draw.rng.randrange(at + 1, len(steps)), _SEARCH_ONLY)


def _search_is_vain(draw: Draw) -> Script:
    """The search found something unfitting, or the user only chats."""
    chats, reply = draw.chance(0.35), draw.one(templates.DECLINES)
    steps = _searched_single(draw, 0.0) if draw.chance(0.4) else []
    if chats:
        i = int(draw.rng.random() * len(templates.CHATS))
        text, slots = templates.CHATS[i]
        template, reply = f"chat/{i}", draw.one(templates.CHAT_REPLIES)
        words: Words = (("user", draw.fill(template, text, slots)[0]),)
        last: Words = (("assistant", draw.one(templates.DONE)), *words) if steps else words
    else:
        clause, keywords, template = _unserved(draw)
        words = _next(draw, steps[-1].name, clause) if steps else (("user", _opening(draw, clause)),)
        steps.append(Step("ToolSearch", {"keywords": keywords}, template, words))
        last = ()
    return Script("no_tool_fits", tuple(steps), len(steps), _SEARCH_ONLY, reply, last, template)


# --- level 3: one requirement, several parts ---------------------------------------------------


def _requirement(draw: Draw, clauses: list[str], login: _Login | None) -> str:
    between, last = draw.one(templates.JOINTS)
    clause = between.join(clauses[:-1]) + last + clauses[-1]
    return _opening(draw, clause) + (f" {login.sentence}" if login else "")


def _part_steps(draw: Draw, requests: list[_Request], login: _Login | None) -> list[Step]:
    """A search by name and the calls, for each part; the token is fetched once."""
    steps: list[Step] = []
    for request in requests:
        links = dict(request.links)
        steps.append(_search_step(draw, request, exact=True))
        if request.tool in TOKEN_TOOLS and login is not None:
            links["token"] = ("GetToken", "token")
            if all(step.name != "GetToken" for step in steps):
                arguments = {"username": login.user.name, "password": login.user.password}
                steps.append(Step("GetToken", arguments, login.template))
        steps.append(Step(request.tool, request.arguments, request.template, links=links))
    return steps


def _requirement_script(draw: Draw, kind: str, vain: bool) -> Script:
    count = draw.one((1, 1, 2)) if vain else draw.one((2, 2, 3))
    login, requests = _requests(draw, count, tokens=0.75, chained=0.5)
    steps = _part_steps(draw, requests, login)
    clauses, served = [request.clause for request in requests], len(steps)
    if vain:
        clause, keywords, template = _unserved(draw)
        clauses.append(clause)
        steps.append(Step("ToolSearch", {"keywords": keywords}, template))
    words: Words = (("user", _requirement(draw, clauses, login)),)
    steps[0] = replace(steps[0], before=words)
    if kind == "no_tool_fits":
        reply = draw.one(templates.DECLINES)
        return Script(kind, tuple(steps), len(steps), _SEARCH_ONLY, reply, template=template)
    wanted = [i for i in range(served) if (steps[i].name == "ToolSearch") == (kind == "search")]
    return Script(kind, tuple(steps), draw.one(tuple(wanted)), _SEARCH_ONLY)


def _part_search(draw: Draw) -> Script:
    return _requirement_script(draw, "search", vain=draw.chance(0.1))


def _part_call(draw: Draw) -> Script:
    return _requirement_script(draw, "call", vain=draw.chance(0.1))


def _part_is_vain(draw: Draw) -> Script:
    return _requirement_script(draw, "no_tool_fits", vain=True)


SCRIPTS: dict[int, tuple[tuple[float, Callable[[Draw], Script]], ...]] = {
    1: ((0.35, _one_call), (0.25, _several_call), (0.25, _needs_token), (0.15, _nothing_documented_fits)),
    2: ((0.35, _must_search), (0.50, _call_after_search), (0.15, _search_is_vain)),
    3: ((0.38, _part_search), (0.50, _part_call), (0.12, _part_is_vain)),
}
"""Level to (share, writer) of its kinds of task."""
