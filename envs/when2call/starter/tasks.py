"""Seeded, endless tasks of all four decisions, made of functions and sentences of our own.

    tasks = starter_tasks("train")                                # 2,000 tasks, always the same
    more = itertools.islice(generate("train", seed=7), 10_000)

Every fourth task is for one decision, in changing order. The same requests come with three of them: where a fitting
tool is offered and all that it requires was said, it is to be called; where something is missing, to be asked for;
where no tool fits, one says so. Whether something is missing is up to the tool as well: in half of the tasks for a
call the user leaves a parameter unsaid that this tool does without. The fourth, to answer, is for requests that need
no tool, with tempting ones beside them.

The splits share no question, and no call with a value. A task's ``meta`` has the four candidate replies under
``answers``; ``about`` (the function of the catalogue, or the topic of a chat); for a question back
``held_out_param``; and where just one answer is right, what it contains under ``accepted``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random
from typing import Any

from callgym.envs.bfcl.golds import read_gold
from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS
from callgym.envs.bfcl.starter.functions_model import Function, tool
from callgym.envs.bfcl.starter.functions_values import Said
from callgym.envs.bfcl.starter.single_calls import SPLITS, pick
from callgym.envs.when2call.starter import chats_knowledge, chats_numbers, chats_talk, chats_wording, replies
from callgym.envs.when2call.starter.chat_model import Chat
from callgym.envs.when2call.starter.errand_model import by_name
from callgym.envs.when2call.starter.errands_catalogue import far_functions, look_alikes, versions
from callgym.envs.when2call.starter.figures import made_up
from callgym.envs.when2call.starter.wishes import Wish, arguments_of, draw_wish, invented, speak
from callgym.errors import ConfigurationError
from callgym.goal import AllGoal, CallsGoal, DecisionGoal, Goal
from callgym.message import Message
from callgym.task import Task

__all__ = ["CHATS", "DECISIONS", "generate", "starter_tasks"]

DECISIONS = ("call", "ask", "decline", "answer")
CHATS: tuple[Chat, ...] = (
    *chats_numbers.CHATS,
    *chats_wording.CHATS,
    *chats_knowledge.CHATS,
    *chats_talk.CHATS,
)
"""All that needs no tool."""
_COUNTS = {"train": 2_000, "test": 400}
_SIZES = {1: 12, 2: 18, 3: 20, 4: 17, 5: 13, 6: 10, 12: 4, 13: 3, 15: 3}
"""Number of tools that a task comes with, and how often."""
_BARE = {"decline": 0.1, "answer": 0.05}  # the share of tasks without any tool
_GAPS = {"call": 0.5, "ask": 1.0, "decline": 0.6}  # the share of requests that leave something unsaid
_HISTORY = 0.1
_CHANGED = 0.4  # the share of tools beside the fitting one that are documented another way
_LIVE = 0.5  # the share of tasks in which tools are named as in somebody's program
_CALLED = DecisionGoal(decision="call", worded=True)


@dataclass(frozen=True, slots=True)
class _Draft:
    """What a task is made of."""

    text: str
    offered: Sequence[Function]
    goal: Goal
    direct: str
    call: Mapping[str, Any]
    ask: str
    decline: str
    about: str
    missing: str | None = None
    accepted: str | None = None


def generate(split: str, seed: int = 0) -> Iterator[Task]:
    """Endless tasks, each decision once in every four; no two have the same question and tools.

    The same arguments give the same tasks on every machine.

    Args:
        split: ``"train"`` or ``"test"``.
        seed: Another seed gives other tasks.

    Raises:
        ConfigurationError: There is no such split.
    """
    if split not in SPLITS:
        raise ConfigurationError(f"split {split!r} of the starter tasks does not exist; splits are {SPLITS}")
    return _distinct(split, seed)


@cache
def starter_tasks(split: str) -> tuple[Task, ...]:
    """The starter set: 2,000 tasks of ``"train"`` or 400 of ``"test"``, a quarter for each decision, made once a
    process.

    Raises:
        ConfigurationError: There is no such split.
    """
    return tuple(islice(generate(split), _COUNTS.get(split)))


def _distinct(split: str, seed: int) -> Iterator[Task]:
    seen: set[bytes] = set()
    number = attempt = 0
    prefix = f"starter/when2call/{split}/" + (f"seed{seed}/" if seed else "")
    while True:
        decision = _decision(split, seed, number)
        rng = Random(f"when2call-{split}-{seed}-{number}-{attempt}")
        attempt += 1
        live = rng.random() < _LIVE
        draft = _WRITERS[decision](rng, split, live)
        if draft is None or (print_ := _fingerprint(draft)) in seen:
            continue
        seen.add(print_)
        yield _task(f"{prefix}{number:06d}", split, decision, draft, rng, live)
        number, attempt = number + 1, 0


def _decision(split: str, seed: int, number: int) -> str:
    """The decision of a task: each four have all of them, in any order."""
    order = Random(f"order-{split}-{seed}-{number // 4}").sample(DECISIONS, 4)
    return order[number % 4]


def _fingerprint(draft: _Draft) -> bytes:
    text = repr((draft.text, sorted(function.name for function in draft.offered)))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _task(id: str, split: str, decision: str, draft: _Draft, rng: Random, live: bool) -> Task:
    messages = [_message("user", draft.text)]
    if rng.random() < _HISTORY:
        said, replied = pick(rng, replies.OPENERS[split])
        messages[:0] = (_message("user", said), _message("assistant", replied))
    meta: dict[str, Any] = {
        "decision": decision,
        "answers": {
            "direct": draft.direct,
            "tool_call": json.dumps(draft.call, ensure_ascii=False),
            "request_for_info": draft.ask,
            "cannot_answer": draft.decline,
        },
        "source": "starter",
        "about": draft.about,
    }
    if draft.missing is not None:
        meta["held_out_param"] = draft.missing
    if draft.accepted is not None:
        meta["accepted"] = [draft.accepted]
    tools = tuple(tool(function, live) for function in draft.offered)
    return Task(
        id=id, family="when2call", split=split, messages=tuple(messages), tools=tools, goal=draft.goal, meta=meta
    )


def _message(role: str, text: str) -> Message:
    return Message.trusted(role=role, content=text, tool_calls=(), tool_call_id=None, name=None)


# --- which tools ------------------------------------------------------------------------------------------------


def _size(rng: Random, decision: str) -> int:
    if rng.random() < _BARE.get(decision, 0.0):
        return 0
    (size,) = rng.choices(tuple(_SIZES), tuple(_SIZES.values()))
    return int(size)


def _offered(
    rng: Random, first: Sequence[Function], near: Sequence[Function], far: Sequence[Function], count: int
) -> list[Function]:
    """``count`` tools in any order: the first ones, then near ones, then any others."""
    beside: list[Function] = rng.sample(near, min(len(near), max(count - len(first), 0)))
    beside += rng.sample(far, max(count - len(first) - len(beside), 0))
    offered = [*first, *(_documented(rng, other) for other in beside)]
    rng.shuffle(offered)
    return offered


def _documented(rng: Random, function: Function) -> Function:
    """The function as a tool that nothing is asked of: in any of its versions."""
    return pick(rng, versions(function.name)) if rng.random() < _CHANGED else function


def _call(function: Function, said: Mapping[str, Said], live: bool) -> dict[str, Any]:
    return {"name": tool(function, live).name, "arguments": arguments_of(function, said)}


# --- errands ----------------------------------------------------------------------------------------------------


def _wanted_call(rng: Random, split: str, live: bool) -> _Draft | None:
    wish = _wish(rng, split, "call")
    if wish is None:
        return None
    function = wish.call.function
    offered = _with_look_alikes(rng, wish, [function], "call")
    documents: list[Any] = [tool(other, live).meta["bfcl"] for other in offered]
    calls = read_gold([wish.call.gold(live)], documents).calls
    goal = AllGoal(goals=(_CALLED, CallsGoal(turns=(calls,))))
    return _draft(rng, wish, offered, goal, _call(function, wish.call.said, live))


def _wanted_question(rng: Random, split: str, live: bool) -> _Draft | None:
    wish = _wish(rng, split, "ask")
    if wish is None or wish.gap is None:
        return None
    function = wish.demanding()
    offered = _with_look_alikes(rng, wish, [function], "ask")
    reply = replies.ask(rng, wish.gap.noun, wish.errand.deed)
    goal = DecisionGoal(decision="ask", missing=(wish.gap.parameter,), worded=True, reply=reply)
    call = _call(function, invented(rng, function, wish.call.said), live)
    return _draft(rng, wish, offered, goal, call, ask=reply, missing=wish.gap.parameter)


def _wanted_refusal(rng: Random, split: str, live: bool) -> _Draft | None:
    wish = _wish(rng, split, "decline")
    if wish is None:
        return None
    offered = _with_look_alikes(rng, wish, [], "decline")
    reply = replies.decline(rng, wish.errand.deed, tools=bool(offered))
    goal = DecisionGoal(decision="decline", worded=True, reply=reply)
    called = offered[0] if offered else wish.errand.function
    call = _call(called, invented(rng, called, wish.call.said), live)
    return _draft(rng, wish, offered, goal, call, decline=reply)


def _wish(rng: Random, split: str, decision: str) -> Wish | None:
    return draw_wish(rng, split, rng.random() < _GAPS[decision], thinkable=decision != "decline")


def _with_look_alikes(rng: Random, wish: Wish, first: list[Function], decision: str) -> list[Function]:
    count = _size(rng, decision)
    return _offered(rng, first, look_alikes(wish.errand), far_functions(wish.errand), count)


def _draft(
    rng: Random,
    wish: Wish,
    offered: Sequence[Function],
    goal: Goal,
    call: Mapping[str, Any],
    *,
    ask: str = "",
    decline: str = "",
    missing: str | None = None,
) -> _Draft:
    errand = wish.errand
    noun = (wish.gap or pick(rng, errand.gaps)).noun
    said = invented(rng, errand.function, wish.call.said)
    figures = {**made_up(rng), **{name: value.text for name, value in said.items()}}
    return _Draft(
        text=wish.text,
        offered=offered,
        goal=goal,
        direct=_sentence(pick(rng, errand.made_up).format_map(figures)),
        call=call,
        ask=ask or replies.ask(rng, noun, errand.deed),
        decline=decline or replies.decline(rng, errand.deed),
        about=errand.name,
        missing=missing,
    )


# --- chats ------------------------------------------------------------------------------------------------------


def _wanted_answer(rng: Random, split: str, live: bool) -> _Draft | None:
    chat: Chat = pick(rng, CHATS)
    said = chat.draw(rng, split)
    tempting = [by_name()[name] for name in chat.tempting or (said["tempting"],)]
    count = _size(rng, "answer")
    others = [function for function in FUNCTIONS["python"] if function not in tempting]
    chosen = rng.sample(tempting, min(len(tempting), count))
    offered = _offered(rng, chosen, [], others, count)
    called = chosen[0] if chosen else tempting[0]
    reply = _sentence(pick(rng, chat.replies).format_map(said))
    return _Draft(
        text=speak(rng, split, pick(rng, chat.of_split(split)), said),
        offered=offered,
        goal=DecisionGoal(decision="answer", worded=True, reply=reply),
        direct=reply,
        call=_call(called, invented(rng, called, {}), live),
        ask=replies.ask(rng, chat.noun, chat.deed),
        decline=replies.decline(rng, chat.deed, tools=bool(offered)),
        about=chat.topic,
        accepted=said["answer"] if chat.determined else None,
    )


def _sentence(text: str) -> str:
    """The text with a capital at its start, unless a name is there that has none."""
    return text[0].upper() + text[1:] if text[0].isascii() and text[1:2].islower() else text


_WRITERS: Mapping[str, Callable[[Random, str, bool], _Draft | None]] = {
    "call": _wanted_call,
    "ask": _wanted_question,
    "decline": _wanted_refusal,
    "answer": _wanted_answer,
}
