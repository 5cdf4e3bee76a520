"""Seeded, endless tasks of BFCL's single-turn categories, made of functions and sentences of our own.

    tasks = starter_single("parallel", "train")                          # 2,000 tasks, always the same
    more = itertools.islice(generate("parallel", "train", seed=7), 10_000)
    formats = starter_formats("test")                                    # 200 tasks in each of 26 prompt formats

Every value of a gold call stands in the question, in one of the ways of ``functions_values``. The two splits share
no call (function and values) and not all phrasings. A task's ``meta`` has what an official one has: ``gold`` in the
official form where there are calls. For relevance, where the official data have no gold, ``reference`` holds one of
the fitting calls; for irrelevance, ``why`` says what is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from callgym.envs.bfcl.categories import CATEGORIES, Category
from callgym.envs.bfcl.golds import read_gold
from callgym.envs.bfcl.starter import single_phrases as phrases
from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS, asked_functions, near_functions
from callgym.envs.bfcl.starter.functions_model import Function, tool
from callgym.envs.bfcl.starter.single_calls import (
    SPLITS,
    Call,
    Group,
    draw_calls,
    draw_foreign,
    draw_listed,
    pick,
    vague_clauses,
)
from callgym.envs.bfcl.starter.single_questions import Voice
from callgym.envs.bfcl.variants import FormatVariants, fits_json
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, DecisionGoal
from callgym.message import Message
from callgym.task import Task

__all__ = ["STARTER_CATEGORIES", "generate", "starter_formats", "starter_single"]

_COUNTS = {"train": 2_000, "test": 200}
_LIVE = "live_"
_SYSTEM = 0.15  # shares of live requests: with a system message,
_FOREIGN = 0.3  # in another language where the function has a sentence in one,
_HURRIED = 0.6  # in a hurry
_LACKING = 0.15  # of live requests that get no call: a fitting function, but none of its values
_UNSERVED = 0.2  # of requests that get no call: nothing that any function could serve
_LISTED = 0.35  # of several calls of one function: said as one clause with a list
_SIZES = {2: 22, 3: 29, 4: 17, 5: 18, 6: 6, 7: 3, 8: 2, 10: 1, 14: 1, 26: 1}
"""Number of functions that a live request comes with, and how often, after the official files."""
_FORMATTED = {
    "simple_python": 30,
    "parallel": 15,
    "multiple": 15,
    "parallel_multiple": 15,
    "live_simple": 24,
    "live_multiple": 86,
    "live_parallel": 6,
    "live_parallel_multiple": 9,
}
"""Where the official format sensitivity test takes its 200 entries from."""


class _Request(NamedTuple):
    """What a task is made of."""

    text: str
    offered: Sequence[Function]
    calls: Sequence[Call] = ()
    """The gold calls, or a fitting one where any call is right."""
    why: str = ""
    """For requests that get no call: ``no function fits``, or ``values are missing``."""


def generate(category: str, split: str, seed: int = 0) -> Iterator[Task]:
    """Endless tasks of one category and split; no two have the same question and functions.

    The same arguments give the same tasks on every machine. Splits share no call, whatever the seeds.

    Args:
        category: One of ``STARTER_CATEGORIES``.
        split: ``"train"`` or ``"test"``.
        seed: Another seed gives other tasks.

    Raises:
        ConfigurationError: There is no such category or split.
    """
    if category not in STARTER_CATEGORIES:
        raise ConfigurationError(
            f"there are no starter tasks of one turn for {category!r}; categories: {', '.join(STARTER_CATEGORIES)}"
        )
    _check_split(split)
    return _distinct(CATEGORIES[category], split, seed)


@cache
def starter_single(category: str, split: str) -> tuple[Task, ...]:
    """The starter set: 2,000 tasks of ``"train"`` or 200 of ``"test"``, made once a process.

    Raises:
        ConfigurationError: There is no such category or split.
    """
    tasks = generate(category, split)
    return tuple(islice(tasks, _COUNTS[split]))


def _check_split(split: str) -> None:
    if split not in SPLITS:
        raise ConfigurationError(f"split {split!r} of the starter tasks does not exist; splits are {SPLITS}")


def _distinct(category: Category, split: str, seed: int) -> Iterator[Task]:
    seen: set[bytes] = set()
    index = attempt = 0
    prefix = f"starter/{category.name}/{split}/" + (f"seed{seed}/" if seed else "")
    write = _WRITERS[category.name]
    while True:
        rng = Random(f"{category.name}-{split}-{seed}-{index}-{attempt}")
        attempt += 1
        request = write(rng, split, category)
        if request is None:
            continue
        print_ = _fingerprint(request)
        if print_ not in seen:
            seen.add(print_)
            yield _task(f"{prefix}{index:06d}", split, category, request, rng)
            index, attempt = index + 1, 0


def _fingerprint(request: _Request) -> bytes:
    text = repr((request.text, sorted(function.name for function in request.offered)))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _task(id: str, split: str, category: Category, request: _Request, rng: Random) -> Task:
    live = category.name.startswith(_LIVE)
    tools = tuple(tool(function, live) for function in request.offered)
    messages = [_message("user", request.text)]
    if live and rng.random() < _SYSTEM:
        messages.insert(0, _system(pick(rng, phrases.SYSTEM[split])))
    meta: dict[str, Any] = {"category": category.name, "source": "starter"}
    if category.language != "python":
        meta["language"] = category.language
    goal: CallsGoal | DecisionGoal
    if category.kind == "calls":
        meta["gold"] = [call.gold(live) for call in request.calls]
        documents: Any = [tool.meta["bfcl"] for tool in tools]
        calls = read_gold(meta["gold"], documents, category.language).calls
        goal = CallsGoal(turns=(calls,))
    elif category.kind == "irrelevance":
        meta["why"] = request.why
        goal = _decline(pick(rng, phrases.DECLINES if request.why == _NOTHING_FITS else phrases.LACKING))
    else:
        call = request.calls[0]
        meta["reference"] = [{"name": tool(call.function, live).name, "arguments": call.reference()}]
        goal = _CALL
    return Task(id=id, family="bfcl", split=split, messages=tuple(messages), tools=tools, goal=goal, meta=meta)


_NOTHING_FITS, _VALUES_MISSING = "no function fits", "values are missing"
_CALL = DecisionGoal(decision="call")


@cache
def _decline(reply: str) -> DecisionGoal:
    return DecisionGoal(decision="decline", reply=reply)


@cache
def _system(text: str) -> Message:
    return _message("system", text)


def _message(role: str, text: str) -> Message:
    return Message.trusted(role=role, content=text, tool_calls=(), tool_call_id=None, name=None)


# --- what is asked, and with which functions --------------------------------------------------------------------


def _voice(rng: Random, split: str, category: Category) -> Voice:
    return Voice(rng, split, category.name.startswith(_LIVE) and rng.random() < _HURRIED)


def _one(rng: Random, split: str, category: Category) -> tuple[str, Call] | None:
    """One call and the words that ask for it."""
    function = pick(rng, asked_functions(category.language))
    voice = _voice(rng, split, category)
    if category.name.startswith(_LIVE) and rng.random() < _FOREIGN:
        group = draw_foreign(rng, split, function)
        if group is not None:
            return group.template.format_map(group.said), group.calls[0]
    group = draw_calls(rng, split, function, plain=voice.hurried and rng.random() < 0.5)
    return None if group is None else (voice.ask([group]), group.calls[0])


def _with_others(rng: Random, asked: Sequence[Function], count: int) -> list[Function]:
    """``count`` functions in any order: those asked for, then near ones, then any."""
    offered = list(asked)
    near = [f for function in asked for f in near_functions(function)[:10] if f not in asked]
    _add(rng, offered, near, count)
    _add(rng, offered, FUNCTIONS[asked[0].language], count)
    rng.shuffle(offered)
    return offered


def _add(rng: Random, offered: list[Function], candidates: Sequence[Function], count: int) -> None:
    candidates = [function for function in dict.fromkeys(candidates) if function not in offered]
    offered += rng.sample(candidates, min(len(candidates), max(count - len(offered), 0)))


def _size(rng: Random) -> int:
    (size,) = rng.choices(tuple(_SIZES), tuple(_SIZES.values()))
    return int(size)


def _simple(rng: Random, split: str, category: Category) -> _Request | None:
    drawn = _one(rng, split, category)
    return drawn and _Request(drawn[0], [drawn[1].function], [drawn[1]])


def _multiple(rng: Random, split: str, category: Category) -> _Request | None:
    drawn = _one(rng, split, category)
    if drawn is None:
        return None
    text, call = drawn
    count = _size(rng) if category.name.startswith(_LIVE) else rng.randint(2, 4)
    return _Request(text, _with_others(rng, [call.function], count), [call])


def _several(rng: Random, split: str, function: Function, count: int) -> list[Group] | None:
    """``count`` calls of one function in one sentence, or in one sentence each."""
    if count > 1:
        group = draw_listed(rng, split, function, count) if rng.random() < _LISTED else None
        group = group or draw_calls(rng, split, function, count)
        if group is not None:
            return [group]
    groups: list[Group] = []
    for _ in range(4 * count):
        group = draw_calls(rng, split, function)
        if group is not None and not any(_alike(group.calls[0], other.calls[0]) for other in groups):
            groups.append(group)
        if len(groups) == count:
            return groups
    return None


def _alike(call: Call, other: Call) -> bool:
    required = [parameter.name for parameter in call.function.parameters if parameter.required]
    return all(call.said[name].accepted[0] == other.said[name].accepted[0] for name in required)


def _calls_of(groups: Sequence[Group]) -> list[Call]:
    return [call for group in groups for call in group.calls]


def _parallel(rng: Random, split: str, category: Category) -> _Request | None:
    live = category.name.startswith(_LIVE)
    function = pick(rng, asked_functions(category.language))
    groups = _several(rng, split, function, pick(rng, (2, 2, 3, 4) if live else (2, 2, 3, 3, 4, 5, 6)))
    if groups is None:
        return None
    offered = _with_others(rng, [function], pick(rng, (1, 1, 2)) if live else 1)
    return _Request(_voice(rng, split, category).ask(groups), offered, _calls_of(groups))


def _parallel_multiple(rng: Random, split: str, category: Category) -> _Request | None:
    functions = _companions(rng, category)
    counts = [1] * len(functions)
    while sum(counts) < 5 and rng.random() < 0.3:
        counts[int(rng.random() * len(counts))] += 1
    groups: list[Group] = []
    for function, count in zip(functions, counts, strict=True):
        asked = _several(rng, split, function, count)
        if asked is None:
            return None
        groups += asked
    most = 9 if category.name.startswith(_LIVE) else 4
    offered = _with_others(rng, functions, rng.randint(len(functions), most))
    return _Request(_voice(rng, split, category).ask(groups), offered, _calls_of(groups))


def _companions(rng: Random, category: Category) -> list[Function]:
    """Two to four functions that one request is about: half of the time near ones."""
    count = pick(rng, (2, 2, 2, 3, 3, 4))
    asked = asked_functions(category.language)
    first = pick(rng, asked)
    near = [function for function in near_functions(first) if function.clauses]
    pool = near if rng.random() < 0.5 and len(near) >= count else [f for f in asked if f is not first]
    return [first, *rng.sample(pool, count - 1)]


def _irrelevance(rng: Random, split: str, category: Category) -> _Request | None:
    live = category.name.startswith(_LIVE)
    count = pick(rng, (1, 1, 1, 2, 3, 4, 6)) if live else 1
    if rng.random() < _UNSERVED:
        return _unserved(rng, split, category, count)
    if live and rng.random() < _LACKING:
        return _lacking(rng, split, category, count)
    drawn = _one(rng, split, category)
    if drawn is None:
        return None
    text, call = drawn
    near = near_functions(call.function)[:10]
    return _Request(text, rng.sample(near, min(count, len(near))), why=_NOTHING_FITS)


def _unserved(rng: Random, split: str, category: Category, count: int) -> _Request:
    if category.name.startswith(_LIVE) and rng.random() < 0.3:
        text = pick(rng, phrases.CHATTER[split])
    else:
        said = {"topic": pick(rng, phrases.TOPICS[split])}
        text = _voice(rng, split, category).wish(pick(rng, phrases.UNSERVED[split]), said)
    return _Request(text, rng.sample(FUNCTIONS["python"], count), why=_NOTHING_FITS)


def _lacking(rng: Random, split: str, category: Category, count: int) -> _Request | None:
    function = pick(rng, asked_functions(category.language))
    clauses = vague_clauses(function, split)
    if not clauses:
        return None
    text = _voice(rng, split, category).wish(pick(rng, clauses), {})
    return _Request(text, _with_others(rng, [function], count), why=_VALUES_MISSING)


def _relevance(rng: Random, split: str, category: Category) -> _Request | None:
    """A fitting function and several ways to call it: any one of some values is wanted."""
    function = pick(rng, asked_functions(category.language))
    group = draw_listed(rng, split, function, pick(rng, (2, 2, 3)), last="or")
    if group is None:
        return None
    text = _voice(rng, split, category).ask([group])
    text += ("" if text[-1] in ".?!" else ".") + " " + pick(rng, phrases.EITHER[split])
    return _Request(text, _with_others(rng, [function], pick(rng, (1, 2, 3, 4))), group.calls[:1])


_Writer = Callable[[Random, str, Category], _Request | None]
_WRITERS: dict[str, _Writer] = {
    "simple_python": _simple,
    "simple_java": _simple,
    "simple_javascript": _simple,
    "multiple": _multiple,
    "parallel": _parallel,
    "parallel_multiple": _parallel_multiple,
    "irrelevance": _irrelevance,
    "live_simple": _simple,
    "live_multiple": _multiple,
    "live_parallel": _parallel,
    "live_parallel_multiple": _parallel_multiple,
    "live_irrelevance": _irrelevance,
    "live_relevance": _relevance,
}
STARTER_CATEGORIES = tuple(_WRITERS)
"""The categories that starter tasks of one turn exist for; format_sensitivity is made of them."""


# --- format sensitivity -----------------------------------------------------------------------------------------


@cache
def starter_formats(split: str) -> Sequence[Task]:
    """200 starter tasks in each of the 26 prompt formats, formats running fastest; each made when it is asked for.

    ``meta`` has the ``format``, the ``original`` id and the ``original_category``, as for the official entries. The
    originals are of another seed than the starter sets.

    Raises:
        ConfigurationError: There is no such split.
    """
    from callgym.envs.bfcl.prompt_formats import FORMATS

    _check_split(split)
    originals = [
        task
        for name, count in _FORMATTED.items()
        for task in islice(filter(fits_json, generate(name, split, seed=26)), count)
    ]
    return FormatVariants(
        originals,
        tuple(str(prompt_format) for prompt_format in FORMATS),
        f"starter/format_sensitivity/{split}/",
    )
