"""Seeded, endless tasks of BFCL's multi-turn categories, in worlds and sentences of our own.

    tasks = starter_multi_turn("multi_turn_base", "train")            # 600 tasks, always the same
    more = itertools.islice(generate("multi_turn_miss_func", "train", seed=7), 10_000)

A dialogue is played while it is written: every gold call has run in the simulators and was not refused, and what it
answered is what later calls are built on. Its values stand in the user's words or in an earlier answer. The splits
have names, and some phrases, of their own. Tasks have the shape of the official ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from callgym.envs.bfcl.multi_turn_tasks import REVEAL
from callgym.envs.bfcl.starter.class_documents import starter_class_tools
from callgym.envs.bfcl.starter.worlds_catalogue import MIXES, make_config, repertoire_of
from callgym.envs.bfcl.starter.worlds_script import SPLITS, Call, Script, Turn, Unfit, Writer
from callgym.envs.bfcl.starter.worlds_words import word_list
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, GoldCall
from callgym.message import Message
from callgym.task import Task, UserTurn

__all__ = ["STARTER_CATEGORIES", "generate", "starter_multi_turn"]

_BASE, _MISS_FUNC, _MISS_PARAM, _LONG = (
    f"multi_turn_{kind}" for kind in ("base", "miss_func", "miss_param", "long_context")
)
STARTER_CATEGORIES = (_BASE, _MISS_FUNC, _MISS_PARAM, _LONG)
"""The categories that there are starter dialogues of."""
_COUNTS = {"train": 600, "test": 120}
_TURNS = (2, 3, 3, 4, 4, 5)
_FEWER_TURNS = (1, 2, 3, 3, 4)
"""Requests of a dialogue to which a turn is added."""
_MOST_CALLS = 5
_GOES_ON = 0.6
"""The share of turns that go on from an earlier one, where there is something to go on from."""
_CHANGING = frozenset(
    word_list(
        """
        mkdir touch echo mv cp rm rmdir message_login send_message delete_message add_contact authenticate_twitter
        post_tweet retweet comment mention follow_user unfollow_user create_ticket close_ticket resolve_ticket
        edit_ticket ticket_login logout trading_login trading_logout fund_account withdraw_funds place_order
        cancel_order add_to_watchlist remove_stock_from_watchlist authenticate_travel register_credit_card book_flight
        cancel_booking purchase_insurance set_budget_limit startEngine fillFuelTank lockDoors adjustClimateControl
        setHeadlights activateParkingBrake pressBrakePedal releaseBrakePedal setCruiseControl set_navigation
        """
    )
)
"""Functions that change what the official check compares."""


class _Dialogue(NamedTuple):
    """What a task is made of, turn by turn."""

    words: list[str]
    gold: list[tuple[Call, ...]]
    revealed: Mapping[int, tuple[str, ...]] = {}
    """Turn to the functions that come with it."""


def generate(category: str, split: str, seed: int = 0) -> Iterator[Task]:
    """Endless tasks of one category and split; no two have the same words.

    The same arguments give the same tasks on every machine. Splits share no task, whatever the seeds.

    Args:
        category: One of ``STARTER_CATEGORIES``.
        split: ``"train"`` or ``"test"``.
        seed: Another seed gives other tasks.

    Raises:
        ConfigurationError: There is no such category or split.
    """
    if category not in STARTER_CATEGORIES:
        known = ", ".join(STARTER_CATEGORIES)
        raise ConfigurationError(f"there are no starter dialogues for {category!r}; categories: {known}")
    if split not in SPLITS:
        raise ConfigurationError(f"split {split!r} of the starter dialogues does not exist; splits are {SPLITS}")
    return _distinct(category, split, seed)


@cache
def starter_multi_turn(category: str, split: str) -> tuple[Task, ...]:
    """The starter set: 600 tasks of ``"train"`` or 120 of ``"test"``, made once a process.

    Raises:
        ConfigurationError: There is no such category or split.
    """
    tasks = generate(category, split)
    return tuple(islice(tasks, _COUNTS[split]))


def _distinct(category: str, split: str, seed: int) -> Iterator[Task]:
    seen: set[bytes] = set()
    index = attempt = 0
    prefix = f"starter/{category}/{split}/" + (f"seed{seed}/" if seed else "")
    while True:
        rng = Random(f"{category}-{split}-{seed}-{index}-{attempt}")
        attempt += 1
        script = _open_script(rng, category, split, f"{seed}-{index}")
        dialogue = _write(script, category)
        if dialogue is None:
            continue
        print_ = hashlib.blake2b("\n".join(dialogue.words).encode(), digest_size=8).digest()
        if print_ not in seen:
            seen.add(print_)
            yield _task(f"{prefix}{index:06d}", category, script, dialogue)
            index, attempt = index + 1, 0


# --- the dialogue -----------------------------------------------------------------------------------------------


def _open_script(rng: Random, category: str, split: str, place: str) -> Script:
    """The mix of classes goes with the task's place, so that those of which many attempts fail keep their share."""
    (classes,) = Random(f"{category}-{split}-{place}").choices(tuple(MIXES), tuple(MIXES.values()))
    return Script(rng, split, classes, category == _LONG, make_config)


def _write(script: Script, category: str) -> _Dialogue | None:
    """A dialogue, or None where what was drawn does not go together."""
    count = script.pick(_FEWER_TURNS if category in (_MISS_FUNC, _MISS_PARAM) else _TURNS)
    try:
        if not _play(script, count):
            return None
    except Unfit:
        return None
    if category == _MISS_FUNC:
        return _without_function(script)
    if category == _MISS_PARAM:
        return _without_value(script)
    return _Dialogue([turn.request.words for turn in script.turns], [turn.calls for turn in script.turns])


def _play(script: Script, count: int) -> bool:
    """Write and play so many turns; whether they make a dialogue worth having."""
    known = repertoire_of(script.classes)
    requests, follow_ups = _shuffled(script, known.requests), _shuffled(script, known.follow_ups)
    searches = _shuffled(script, known.searches) if script.long else []
    search_at = script.whole(0, count - 1)
    for number in range(count):
        if script.long and number == search_at and _take_first(script, searches):
            continue
        first, second = (follow_ups, requests) if script.chance(_GOES_ON) else (requests, follow_ups)
        if not _take_first(script, first) and not _take_first(script, second):
            return False
    called = {call.name for turn in script.turns for call in turn.calls}
    return (
        script.world.touched == set(script.classes)
        and bool(called & _CHANGING)
        and all(len(turn.calls) <= _MOST_CALLS for turn in script.turns)
        and (script.searched or not script.long)
    )


def _shuffled(script: Script, weighted: Sequence[tuple[int, Writer]]) -> list[Writer]:
    """In an order in which what is asked for often tends to come first."""
    keyed = [(script.rng.random() ** (1 / weight), write) for weight, write in weighted]
    return [write for _, write in sorted(keyed, key=lambda pair: -pair[0])]


def _take_first(script: Script, left: list[Writer]) -> bool:
    """Play the first request that goes with the world as it is; it is not made again."""
    for write in left:
        if script.play(write):
            left.remove(write)
            return True
    return False


def _without_function(script: Script) -> _Dialogue | None:
    """The dialogue with a turn in which a function is missing that the next one brings."""
    number = _choose(script, lambda turn: turn.calls[0].name in turn.request.withheld and _is_new(script, turn))
    if number is None:
        return None
    words = [turn.request.words for turn in script.turns]
    gold = [turn.calls for turn in script.turns]
    words.insert(number + 1, REVEAL)
    gold.insert(number, ())
    return _Dialogue(words, gold, {number + 1: script.turns[number].request.withheld})


def _is_new(script: Script, turn: Turn) -> bool:
    """Whether none of what the turn might lack was called before."""
    before = script.turns[: script.turns.index(turn)]
    return not any(call.name in turn.request.withheld for earlier in before for call in earlier.calls)


def _without_value(script: Script) -> _Dialogue | None:
    """The dialogue with a turn in which a value is missing that the next one supplies."""
    number = _choose(script, lambda turn: turn.request.lacking is not None and turn.calls[0].name != "cd")
    lacking = None if number is None else script.turns[number].request.lacking
    if number is None or lacking is None:
        return None
    words = [turn.request.words for turn in script.turns]
    gold = [turn.calls for turn in script.turns]
    words[number : number + 1] = lacking
    gold.insert(number, ())
    return _Dialogue(words, gold)


def _choose(script: Script, fits: Any) -> int | None:
    fitting = [number for number, turn in enumerate(script.turns) if fits(turn)]
    return script.pick(fitting) if fitting else None


# --- the task ---------------------------------------------------------------------------------------------------


def _task(id: str, category: str, script: Script, dialogue: _Dialogue) -> Task:
    tools = {tool.name: tool for name in script.classes for tool in starter_class_tools(name)}
    withheld = [name for names in dialogue.revealed.values() for name in names]
    meta: dict[str, Any] = {
        "category": category,
        "source": "starter",
        "involved_classes": list(script.classes),
        "gold": [[call.text() for call in calls] for calls in dialogue.gold],
        "long_context": script.long,
        "tables": "starter",
    }
    if withheld:
        meta["withheld"] = withheld
    first, *later = dialogue.words
    initial_state: dict[str, Any] = dict(script.config)
    return Task(
        id=id,
        family="bfcl",
        split=script.split,
        messages=(Message(role="user", content=first),),
        tools=tuple(tool for name, tool in tools.items() if name not in withheld),
        user_turns=tuple(
            UserTurn(content=text, add_tools=tuple(tools[name] for name in dialogue.revealed.get(number, ())))
            for number, text in enumerate(later, 1)
        ),
        goal=CallsGoal(turns=tuple(tuple(map(_gold_call, calls)) for calls in dialogue.gold), exemplary=True),
        initial_state=initial_state,
        meta=meta,
    )


def _gold_call(call: Call) -> GoldCall:
    return GoldCall(name=call.name, arguments={name: (value,) for name, value in call.arguments.items()})
