"""Seeded, endless tasks in API-Bank's shape: scripts are written, played up to a call, and made Tasks.

Protocol ``step``: the history stands in ``messages`` with calls that were really run, and one action is
asked. ``initial_state`` is the world at that point, so the gold call succeeds in a fresh session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import islice
from random import Random
from typing import Any, TypeVar

from callgym.call import ToolCall
from callgym.envs.apibank.starter.scripts import SCRIPTS, Script, Step
from callgym.envs.apibank.starter.tools import FUNCTIONS, TOOLS
from callgym.envs.apibank.starter.worlds import SPLITS, Draw
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.message import Message, Role
from callgym.noun import Noun
from callgym.task import Task
from callgym.tool_backends.python import PythonSession, World

__all__ = ["generate", "starter_tasks"]

_COUNTS = {"train": 4_000, "test": 500}
_FIRST_YEAR, _YEARS = 2023, 4
_LAST_MONTH_OF_TODAY = 9
_FIELD_SETS: dict[frozenset[str], set[str]] = {}

_N = TypeVar("_N", bound=Noun)


def generate(level: int, split: str, seed: int = 0) -> Iterator[Task]:
    """Endless tasks of one level and split; no two have the same tools, messages and goal.

    The same arguments give the same tasks on every machine. Splits share no pair of a template and an
    entity, whatever the seeds.

    Args:
        level: 1 (tools documented), 2 (tools to be searched) or 3 (one requirement, several parts).
        split: ``"train"`` or ``"test"``.
        seed: Another seed gives other tasks.

    Raises:
        ConfigurationError: There is no such level or split.
    """
    if level not in SCRIPTS:
        raise ConfigurationError(f"level {level!r} of the starter tasks does not exist; levels are 1, 2 and 3")
    if split not in SPLITS:
        raise ConfigurationError(f"split {split!r} of the starter tasks does not exist; splits are {SPLITS}")
    return _distinct(level, split, seed)


@cache
def starter_tasks(level: int, split: str) -> tuple[Task, ...]:
    """The starter set: 4,000 tasks of ``"train"`` or 500 of ``"test"``, made once a process.

    Raises:
        ConfigurationError: There is no such level or split.
    """
    tasks = generate(level, split)
    return tuple(islice(tasks, _COUNTS[split]))


def _distinct(level: int, split: str, seed: int) -> Iterator[Task]:
    seen: set[bytes] = set()
    index = attempt = 0
    prefix = f"starter/L{level}/{split}/" + (f"seed{seed}/" if seed else "")
    while True:
        rng = Random(f"{level}-{split}-{seed}-{index}-{attempt}")
        task = _task(f"{prefix}{index:06d}", level, split, rng)
        print_ = _fingerprint(task)
        attempt += 1
        if task.meta["pairs"] and print_ not in seen:
            seen.add(print_)
            yield task
            index, attempt = index + 1, 0


def _fingerprint(task: Task) -> bytes:
    text = repr((task.documented, [tool.name for tool in task.tools], task.messages, task.goal))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _task(name: str, level: int, split: str, rng: Random) -> Task:
    draw = Draw(rng, split, _today(rng))
    script = _script(draw, level)
    messages, tools, goal, state = _play(draw, script)
    template = script.template if script.reply is not None else script.steps[script.stop].template
    meta: dict[str, Any] = {"kind": script.kind, "template": template, "source": "starter", "pairs": draw.pairs}
    task = Task(
        id=name,
        family="apibank",
        split=split,
        messages=tuple(messages),
        tools=tuple(TOOLS[tool] for tool in tools),
        documented=script.documented,
        goal=goal,
        initial_state=state,
        meta=meta,
    )
    return _lean(task)


def _lean(noun: _N) -> _N:
    """Let nouns made from the same fields share pydantic's record of which these were.

    It is a set of its own in every instance, 40 % of a task's memory; frozen nouns never change it.
    """
    fields = noun.model_fields_set
    object.__setattr__(noun, "__pydantic_fields_set__", _FIELD_SETS.setdefault(frozenset(fields), fields))
    return noun


def _today(rng: Random) -> date:
    return date(_FIRST_YEAR + rng.randrange(_YEARS), rng.randint(1, _LAST_MONTH_OF_TODAY), rng.randint(1, 28))


def _script(draw: Draw, level: int) -> Script:
    shares, writers = zip(*SCRIPTS[level], strict=True)
    (write,) = draw.rng.choices(writers, shares)
    script: Script = write(draw)
    return script


def _play(draw: Draw, script: Script) -> tuple[list[Message], list[str], CallsGoal | DecisionGoal, dict[str, Any]]:
    """Run the history; returns messages, names of the tools met, the goal and the state of the world."""
    world = World(draw.state, seed=0)
    session = PythonSession(FUNCTIONS, world)
    messages = [_spoken("system", f"Today is {draw.today.isoformat()}.")]
    tools = list(script.documented)
    answers: dict[str, Any] = {}
    for step in script.steps[: script.stop]:
        messages += _said(step.before)
        if step.name == "ToolSearch":
            asked, found = _search(step.arguments["keywords"])
            tools += [tool for tool in found if tool not in tools]
        else:
            asked, answers[step.name] = _exchange(session, step.name, _arguments(step, answers))
        messages += asked
    if script.reply is not None:
        messages += _said(script.last)
        return messages, tools, _decline(script.reply), world.state
    step = script.steps[script.stop]
    messages += _said(step.before)
    return messages, tools, _goal(step, answers), world.state


def _said(words: tuple[tuple[Role, str], ...]) -> list[Message]:
    return [_spoken(*said) if said[0] == "assistant" else _user_message(said[1]) for said in words]


def _user_message(text: str) -> Message:
    return _lean(Message(role="user", content=text))


@lru_cache(maxsize=4096)
def _spoken(role: Role, text: str) -> Message:
    """A message that many tasks share."""
    return Message(role=role, content=text)


def _exchange(session: PythonSession, name: str, arguments: dict[str, Any]) -> tuple[tuple[Message, Message], Any]:
    """Run a call of the history; returns its two messages and the answer."""
    call = _lean(ToolCall(name=name, arguments=arguments))
    result = session.call(call)
    if not result.ok:
        raise RuntimeError(f"the history of a starter task fails: {name}({arguments}): {result.message}")
    asked = _lean(Message(role="assistant", tool_calls=(call,)))
    answered = _lean(Message(role="tool", name=name, content=str(result.content)))
    return (asked, answered), result.content


@lru_cache(maxsize=1024)
def _search(keywords: str) -> tuple[tuple[Message, Message], tuple[str, ...]]:
    """A search of the history, shared by all tasks that make it: its messages, and the tools found."""
    session = PythonSession(FUNCTIONS, World({}, seed=0))
    messages, found = _exchange(session, "ToolSearch", {"keywords": keywords})
    documents = found if isinstance(found, list) else [found]
    return messages, tuple(document["name"] for document in documents)


def _arguments(step: Step, answers: dict[str, Any]) -> dict[str, Any]:
    """The step's arguments in documented order, with those that are read from earlier answers."""
    read = {argument: answers[tool][name] for argument, (tool, name) in step.links.items()}
    values = {**step.arguments, **read}
    return {name: values[name] for name in TOOLS[step.name].properties}


def _goal(step: Step, answers: dict[str, Any]) -> CallsGoal:
    if step.name == "ToolSearch":
        return _search_goal(step.accepted["keywords"])
    arguments: dict[str, tuple[Any, ...]] = {n: (value,) for n, value in _arguments(step, answers).items()}
    gold = _lean(GoldCall(name=step.name, arguments=arguments))
    return _lean(CallsGoal(turns=((gold,),)))


@lru_cache(maxsize=1024)
def _search_goal(accepted: tuple[str, ...]) -> CallsGoal:
    return CallsGoal(turns=((GoldCall(name="ToolSearch", arguments={"keywords": accepted}),),))


@lru_cache(maxsize=64)
def _decline(reply: str) -> DecisionGoal:
    return DecisionGoal(decision="decline", reply=reply)
