"""Starter tasks of the memory categories: conversations and questions from a seeded generator.

A scenario is a person (``choir_2``) with four conversations, in which facts are dropped between small talk and some
are corrected later. The memory holds what ``reference_snapshot`` writes of them. ``meta["gold_calls"]`` are calls
after which the answer stands in the last result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from callgym.data import check_split
from callgym.envs.bfcl.memory.documents import starter_tools
from callgym.envs.bfcl.memory.session import open_store
from callgym.envs.bfcl.memory.snapshots import conversation_tasks
from callgym.envs.bfcl.memory.starter_scenes import POOLS, SCENES, SMALL_TALK, Fact, Scene
from callgym.envs.bfcl.memory.store import StoreName, check_store
from callgym.envs.bfcl.memory.tasks import question_task
from callgym.envs.bfcl.memory.writer import Conversation, reference_snapshot
from callgym.envs.bfcl.official.agentic import states_answer
from callgym.envs.bfcl.words import WORD
from callgym.task import Task

__all__ = ["STARTER_SPLITS", "starter_memory", "starter_prerequisites", "starter_snapshots"]

STARTER_SPLITS = ("train", "test")
_PEOPLE = {"train": 4, "test": 2}
"""People a scene."""
_TURNS = 6
_TALK = 4
_MOST_FOUND = 50


class _Question(NamedTuple):
    text: str
    accepted: tuple[str, ...]
    evidence: str
    """The sentence that answers it."""


class _Person(NamedTuple):
    scenario: str
    conversations: tuple[Conversation, ...]
    questions: tuple[_Question, ...]


def starter_memory(store: str, split: str = "test") -> list[Task]:
    """The starter questions on a store's memory.

    Args:
        store: ``kv``, ``vector`` or ``rec_sum``.
        split: ``train`` or ``test``; each has people of its own.

    Raises:
        ConfigurationError: There is no such store or split.
    """
    kind = check_store(store)
    snapshots = starter_snapshots(kind, split)
    tasks: list[Task] = []
    for person in _people(split):
        for question in person.questions:
            snapshot = snapshots[person.scenario]
            task = question_task(
                id=f"starter/memory_{kind}/{split}/{len(tasks)}-{person.scenario}",
                store=kind,
                scenario=person.scenario,
                question=question.text,
                accepted=question.accepted,
                snapshot=snapshot,
                tools=starter_tools(kind),
                meta={"source": "starter", "gold_calls": _gold_calls(kind, snapshot, question)},
                split=split,
            )
            tasks.append(task)
    return tasks


def starter_prerequisites(store: str, split: str = "test") -> dict[str, list[Task]]:
    """Scenario to its conversations as dialogues; see ``snapshots.prerequisite_tasks``.

    Raises:
        ConfigurationError: There is no such store or split.
    """
    kind = check_store(store)
    return {
        person.scenario: conversation_tasks(
            person.conversations, kind, person.scenario, starter_tools(kind), split=split, source="starter"
        )
        for person in _people(split)
    }


def starter_snapshots(store: str, split: str = "test") -> dict[str, dict[str, Any]]:
    """Scenario to the reference snapshot of its conversations; in core memory there is only the first one, so that
    most answers have to be looked up.

    Raises:
        ConfigurationError: There is no such store or split.
    """
    return {
        person.scenario: reference_snapshot(person.conversations, store, core=person.conversations[:1])
        for person in _people(split)
    }


def _gold_calls(store: StoreName, snapshot: dict[str, Any], question: _Question) -> list[dict[str, Any]]:
    """Calls that bring the answer before the policy's eyes."""
    if store == "rec_sum":
        return [{"name": "memory_retrieve", "arguments": {}}]
    if store == "kv":
        key = next(key for key, text in snapshot["archival_memory"].items() if question.evidence in text)
        retrieve = {"name": "archival_memory_retrieve", "arguments": {"key": key}}
        return [{"name": "archival_memory_list_keys", "arguments": {}}, retrieve]
    memory = open_store(store)
    memory.load(snapshot)
    count = 5
    while count < _MOST_FOUND:
        arguments = {"query": question.text, "top_k": count}
        found = memory.call("archival_memory_retrieve", arguments)["result"]
        if any(question.evidence in entry["text"] for entry in found):
            break
        count += 5
    return [{"name": "archival_memory_retrieve", "arguments": {"query": question.text, "top_k": count}}]


# People.


@cache
def _people(split: str) -> tuple[_Person, ...]:
    check_split(split, STARTER_SPLITS, "bfcl's starter set")
    return tuple(
        _person(f"{name}_{number + 1}", scene, Random(f"callgym bfcl memory {split} {name} {number}"))
        for name, scene in SCENES.items()
        for number in range(_PEOPLE[split])
    )


def _person(scenario: str, scene: Scene, rng: Random) -> _Person:
    """One person's conversations, and a question on every fact."""
    told: list[list[str]] = [[] for _ in scene.topics]
    questions = []
    used: set[str] = set()
    for fact in rng.sample(scene.facts, len(scene.facts)):
        question = _tell(fact, told, used, rng)
        questions.append(question)
    conversations = [
        Conversation(f"memory_prereq_{number}-{scenario}-{number}", topic, _turns(told[number], scene, rng))
        for number, topic in enumerate(scene.topics)
    ]
    return _Person(scenario, tuple(conversations), tuple(questions))


def _tell(fact: Fact, told: list[list[str]], used: set[str], rng: Random) -> _Question:
    """Say a fact in one conversation, and a correction in a later one; no value is said twice."""
    last = len(told) - 1
    first = rng.randrange(last) if fact.corrected else min(range(last + 1), key=lambda n: (len(told[n]), n))
    value = _value(fact.pool, used, rng)
    sentence = rng.choice(fact.said).format(v=value)
    told[first].append(sentence)
    if fact.corrected:
        value = _value(fact.pool, used, rng)
        sentence = fact.corrected.format(v=value)
        told[rng.randrange(first + 1, last + 1)].append(sentence)
    return _Question(fact.question, _accepted(value), sentence)


def _value(pool: str, used: set[str], rng: Random) -> str:
    if pool.startswith("number:"):
        low, high = map(int, pool.split(":")[1:])
        values: Sequence[str] = [str(number) for number in range(low, high + 1)]
    else:
        values = POOLS[pool]
    value = rng.choice([value for value in values if value not in used])
    used.add(value)
    return value


def _turns(facts: Sequence[str], scene: Scene, rng: Random) -> tuple[str, ...]:
    """The facts of a conversation spread over its turns, between sentences that say nothing."""
    talk = rng.sample([*SMALL_TALK, *scene.small_talk], _TALK * _TURNS)
    turns = [talk[number::_TURNS] for number in range(_TURNS)]
    for fact in facts:
        turn = rng.choice(turns)
        turn.insert(rng.randrange(1, len(turn)), fact)
    return tuple(" ".join(turn) for turn in turns)


def _accepted(value: str) -> tuple[str, ...]:
    if not value.isdecimal():
        return (value,)
    words = in_words(int(value))
    return tuple(dict.fromkeys((value, words, words.replace("hundred ", "hundred and "))))


_SMALL: list[str] = WORD.findall(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def in_words(number: int) -> str:
    """A number from 0 to 999 in English words, without hyphens: ``one hundred twenty three``."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f" {_SMALL[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{_SMALL[hundreds]} hundred" + (f" {in_words(rest)}" if rest else "")


def verify(task: Task) -> None:
    """Make the task's gold calls; AssertionError if the answer does not stand in the last result."""
    meta: dict[str, Any] = task.meta
    store = open_store(meta["store"])
    store.load(task.initial_state)
    result: Any = None
    for call in meta["gold_calls"]:
        result = store.call(call["name"], call["arguments"])
    if not states_answer(str(result), meta["gold"]):
        raise AssertionError(f"{task.id}: the answer is not in {str(result)[:300]}")
