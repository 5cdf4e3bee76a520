"""Python tools: schemas from hints and docstrings, arguments and answers, state per episode, async and threads."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import functools
import importlib.util
import json
import logging
import math
import pickle
import random
import re
import subprocess
import sys
import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Optional, Required, Union

import gymnasium as gym
import jsonschema_rs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from callgym import Task, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError, DataError
from callgym.random_values import NoValue, random_arguments
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.schema import ToolSchema
from callgym.tool_backends import ToolFailure, World, acall, checked_call, waits
from callgym.tool_backends.functions import FunctionBackend, FunctionSession, tool
from callgym.tool_backends.functions.fault import MAX_MESSAGE, fault_message
from callgym.tool_backends.functions.result import NotJson, state_json, to_json
from callgym.tool_backends.isolated import isolated
from callgym.tool_backends.portal import portal
from callgym.tool_backends.time_limit import time_limited

ROOT = Path(__file__).resolve().parents[1]


def task(initial_state: dict[str, Any] | None = None, backend: FunctionBackend | None = None, **more: Any) -> Task:
    row = {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "please"}],
        "goal": {"kind": "calls", "turns": [[]]},
        "initial_state": initial_state or {},
        "tools": [one.to_dict() for one in backend.tools] if backend else [],
    }
    return Task.from_dict({**row, **more})


def opened(tools: Any, initial_state: dict[str, Any] | None = None, seed: int = 0, **options: Any) -> FunctionSession:
    return FunctionBackend(tools, **options).open(task(initial_state), seed)


def made(session: FunctionSession, name: str, **arguments: Any) -> ToolResult:
    return session.call(ToolCall(name=name, arguments=arguments))


def answer(function: Callable[..., Any], **arguments: Any) -> ToolResult:
    return made(opened({"f": function}), "f", **arguments)


def schema_of(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    (found,) = FunctionBackend({"f": function}, **options).tools
    return found.parameters


# Schemas.


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mode(StrEnum):
    FAST = "fast"


@dataclasses.dataclass
class Point:
    """A place."""

    x: int
    y: float = 0.5


@dataclasses.dataclass(frozen=True)
class Tree:
    name: str
    kids: list[Tree] = dataclasses.field(default_factory=list)


class Person(BaseModel):
    name: str
    born: date | None = None
    at: Point


class Options(TypedDict, total=False):
    unit: Required[str]
    digits: int


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


Even = Annotated[int, AfterValidator(lambda n: n + n % 2)]
DATE_PATTERN = r"^\d{4}-\d{2}-\d{2}"
POINT = {
    "description": "A place.",
    "properties": {"x": {"type": "integer"}, "y": {"default": 0.5, "type": "number"}},
    "required": ["x"],
    "type": "object",
    "additionalProperties": False,
}
HINTS: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (object, {}),
    (list, {"type": "array", "items": {}}),
    (dict, {"type": "object", "additionalProperties": True}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Iterable[int], {"type": "array", "items": {"type": "integer"}}),
    (Collection[str], {"type": "array", "items": {"type": "string"}}),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
    (Literal["a"], {"const": "a", "type": "string"}),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
    (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
    (Colour, {"enum": ["red", "blue"], "type": "string"}),
    (Level, {"enum": [1, 2], "type": "integer"}),
    (set[int], {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}),
    (date, {"type": "string", "format": "date", "pattern": f"{DATE_PATTERN}$"}),
    (datetime, {"type": "string", "format": "date-time", "pattern": DATE_PATTERN}),
    (time, {"type": "string", "format": "time", "pattern": r"^\d{2}:\d{2}"}),
    (Point, POINT),
    (Annotated[int, Field(ge=1, le=9, description="A digit.")],
     {"type": "integer", "minimum": 1, "maximum": 9, "description": "A digit."}),
    (Annotated[str, "A word."], {"type": "string", "description": "A word."}),
    (Annotated[str, Field(min_length=2, pattern="^a")], {"type": "string", "minLength": 2, "pattern": "^a"}),
    (list[Annotated[int, Field(ge=0)]], {"type": "array", "items": {"type": "integer", "minimum": 0}}),
    (Options, {"type": "object", "properties": {"unit": {"type": "string"}, "digits": {"type": "integer"}},
               "required": ["unit"], "additionalProperties": False}),
]  # fmt: skip


def with_hint(hint: Any, got: list[Any] | None = None) -> Callable[..., Any]:
    """A function of one argument with a hint that is only known here."""

    def f(a):  # type: ignore[no-untyped-def]
        (got if got is not None else []).append(a)

    f.__annotations__ = {"a": hint}
    return f


@pytest.mark.parametrize(("hint", "expected"), HINTS, ids=[str(hint) for hint, _ in HINTS])
def test_hints(hint: Any, expected: dict[str, Any]) -> None:
    schema = schema_of(with_hint(hint))
    assert schema["properties"]["a"] == expected
    assert {key: part for key, part in schema.items() if key != "properties"} == {
        "type": "object",
        "required": ["a"],
        "additionalProperties": False,
    }
    jsonschema_rs.meta.validate(schema)


def test_a_whole_signature() -> None:
    def book(room: str, /, when: date, *, seats: int = 4, tags: set[str] = {"b", "a"}, note=None) -> Point:  # type: ignore[no-untyped-def]  # noqa: B006
        """Book a room.

        Args:
            room: Which.
            seats: How many.
            unknown: Nothing.

        Returns:
            Where it is.
        """
        raise AssertionError

    (found,) = FunctionBackend([book]).tools
    assert found.name == "book"
    assert found.description == "Book a room."
    assert found.parameters == {
        "type": "object",
        "properties": {
            "room": {"type": "string", "description": "Which."},
            "when": {"type": "string", "format": "date", "pattern": f"{DATE_PATTERN}$"},
            "seats": {"type": "integer", "description": "How many.", "default": 4},
            "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}, "default": ["a", "b"]},
            "note": {"default": None},
        },
        "required": ["room", "when"],
        "additionalProperties": False,
    }
    assert found.returns is not None
    assert found.returns["description"] == "A place."  # a class's own words come first
    assert found.returns["type"] == "object"


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (int, {"type": "integer"}),
        (list[Point], {"type": "array"}),
        (None, {"type": "null"}),
        (Any, None),
        (Iterator[int], None),
        (threading.Thread, None),
    ],
)
def test_answers_have_a_schema_where_hints_have_one(hint: Any, expected: dict[str, Any] | None) -> None:
    def f():  # type: ignore[no-untyped-def]
        raise AssertionError

    f.__annotations__ = {"return": hint}
    (found,) = FunctionBackend([f]).tools
    assert found.returns is expected or found.returns is not None
    assert expected is None or (found.returns or {}).items() >= expected.items()


def test_classes_that_hold_themselves_or_stand_twice_are_defined_once() -> None:
    def f(tree: Tree, one: Point, other: Point, colour: Colour, second: Colour, person: Person) -> None: ...

    schema = schema_of(f)
    assert list(schema["$defs"]) == ["Point", "Tree"]
    assert schema["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert (
        schema["properties"]["colour"] == schema["properties"]["second"] == {"enum": ["red", "blue"], "type": "string"}
    )
    assert schema["properties"]["person"]["properties"]["at"] == {"$ref": "#/$defs/Point"}
    checked = ToolSchema(FunctionBackend({"f": f}).tools[0])
    arguments = {"tree": {"name": "a", "kids": [{"name": "b"}]}, "one": {"x": 1}, "other": {"x": 2}, "colour": "red",
                 "second": "blue", "person": {"name": "Ada", "at": {"x": 3}}}  # fmt: skip
    assert checked.check(arguments) is None
    assert "kids" in str(checked.check({**arguments, "tree": {"name": "a", "kids": [{"nam": "b"}]}}))


def test_a_choice_of_classes_has_no_words_of_other_languages() -> None:
    def f(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> str:
        return type(pet).__name__

    assert "discriminator" not in json.dumps(schema_of(f))
    assert answer(f, pet={"kind": "dog"}).content == "Dog"


def test_keyword_arguments() -> None:
    def free(a: int, **more: Any) -> dict[str, Any]:
        return {"a": a, **more}

    def typed(world: World, **more: date) -> dict[str, Any]:
        return dict(more)

    assert schema_of(free)["additionalProperties"] is True
    assert answer(free, a=1, b=[2]).content == {"a": 1, "b": [2]}
    schema = schema_of(typed)
    assert schema["additionalProperties"]["format"] == "date"
    assert schema["propertyNames"] == {"not": {"enum": ["world"]}}
    assert answer(typed, day="2024-01-31").content == {"day": "2024-01-31"}
    assert answer(typed, day="2024-01-32").error == "invalid_arguments"
    assert answer(typed, world="2024-01-31").message == "arguments of f are invalid: there is no argument 'world'"


def test_an_argument_can_have_a_name_that_python_keeps_for_itself() -> None:
    def f(start: Annotated[str, Field(alias="from")] = "here", **more: Any) -> dict[str, Any]:
        return {"start": start, **more}

    assert list(schema_of(f)["properties"]) == ["from"]
    assert answer(f, **{"from": "there"}).content == {"start": "there"}
    assert answer(f, b=1).content == {"start": "here", "b": 1}
    assert answer(f, start="x").error == "invalid_arguments"


def test_defaults_of_fields() -> None:
    three: Any = Field(3, ge=1)
    none: Any = Field(default_factory=list)

    def f(a: int = three, b: list[int] = none, c: Annotated[int, Field(7)] = 8) -> Any:
        b.append(a)
        return [b, c]

    session = opened([f])
    assert schema_of(f)["properties"]["a"] == {"type": "integer", "minimum": 1, "default": 3}
    assert made(session, "f").content == [[3], 8]
    assert made(session, "f", a=5).content == [[5], 8]


def test_null_is_fine_where_it_is_the_default() -> None:
    def f(unit: str = None, n: int | None = None) -> Any:  # type: ignore[assignment]  # noqa: RUF013
        return [unit, n]

    assert schema_of(f)["properties"]["unit"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert answer(f, unit=None, n=None).content == [None, None]


def test_a_default_that_is_no_json_is_not_shown() -> None:
    def f(a: Any = object(), b: float = math.inf, c: bytes = b"\xff") -> str:  # noqa: B008
        return type(a).__name__

    assert all("default" not in schema for schema in schema_of(f)["properties"].values())
    assert answer(f).content == "object"


def test_the_decorator_and_a_mapping_rename() -> None:
    @tool(name="AddAlarm", description="Set an alarm.")
    def add_alarm(time: str) -> str:
        """Something else."""
        return time

    @tool
    def plain() -> None: ...

    found = FunctionBackend([add_alarm, plain]).tools
    assert [(one.name, one.description) for one in found] == [("AddAlarm", "Set an alarm."), ("plain", "")]
    assert add_alarm("7") == "7"
    assert [one.name for one in FunctionBackend({"add": add_alarm, "add2": add_alarm}).tools] == ["add", "add2"]
    assert [one.name for one in FunctionBackend({"add_alarm": add_alarm}).tools] == ["add_alarm"]


def test_functions_of_others() -> None:
    backend = FunctionBackend([math.sqrt, functools.partial(int.__add__, 3), functools.partial(pow, exp=2)])
    assert [one.name for one in backend.tools] == ["sqrt", "__add__", "pow"]
    session = backend.open(task(), 0)
    assert made(session, "sqrt", x=9).content == 3.0
    assert made(session, "sqrt", x=-1).message == "ValueError: math domain error"
    assert made(session, "pow", base=3).content == 9
    assert "exp" not in backend.tools[2].properties

    @functools.lru_cache
    def kept(a: int) -> int:
        """Keep."""
        return a

    assert FunctionBackend([kept]).tools[0].description == "Keep."
    assert answer(kept, a=2).content == 2


class Counter:
    def __init__(self, count: int = 0) -> None:
        self.count = count

    def more(self, by: int = 1) -> int:
        """Count on."""
        self.count += by
        return self.count


class NoTools:
    count = 0


class Abstract(Iterator[int]):
    def look(self) -> None: ...


class AsyncState:
    async def state(self) -> dict[str, Any]:
        return {}

    def look(self) -> None: ...


class Slots:
    __slots__ = ()
    items: ClassVar[list[int]] = []

    def look(self) -> None: ...


def starred(*items: int) -> None: ...
def thread_taking(thread: threading.Thread) -> None: ...
def lost(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def broken(a: "no type") -> None: ...  # type: ignore[valid-type]  # noqa: F722
def calling(a: Callable[[], int]) -> None: ...
def twin() -> None: ...


def local_class() -> Any:
    class Local:
        def look(self) -> None: ...

    return Local.look


class StarredStart:
    def __init__(self, *items: int) -> None: ...

    def look(self) -> None: ...


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "stars": (lambda: [starred], r"starred takes \*items.*items: list"),
    "no schema": (
        lambda: [thread_taking],
        "parameter 'thread' of thread_taking has the hint Thread, which has no JSON",
    ),
    "a function": (lambda: [calling], r"parameter 'a' of calling .*no JSON Schema.*functools\.partial"),
    "unknown hint": (lambda: [lost], "'Nowhere', which is not there at the top level"),
    "broken hint": (lambda: [broken], "text that is no type"),
    "lambda": (lambda: [lambda a: a], "a lambda has no name"),
    "instance": (lambda: [Counter()], "a tool is a function or a class, got Counter"),
    "bound": (lambda: [Counter().more], "belongs to one Counter, which all episodes would share; give the class"),
    "bound builtin": (lambda: [[].append], "belongs to one list"),
    "text": (lambda: "look", "a tool is a function or a class, got str"),
    "number": (lambda: 3, "tools are functions and classes"),
    "nothing": (lambda: [], "there are no tools"),
    "twice": (lambda: [twin, tool(name="twin")(lambda: 0)], "both tools named 'twin'; rename one"),
    "named class": (lambda: {"counter": Counter}, "names the class Counter"),
    "no name": (lambda: {"": twin}, "a tool's name is text"),
    "no methods": (lambda: [NoTools], "NoTools has no public methods.*context=NoTools"),
    "abstract": (lambda: [Abstract], "Abstract is abstract: it lacks ..__next__"),
    "async state": (lambda: [AsyncState], r"AsyncState.state\(\) is called outside any event loop"),
    "slots": (lambda: [Slots], "share items, and with __slots__"),
    "local method": (lambda: [local_class()], "give the class itself"),
    "starred constructor": (lambda: [StarredStart], r"the constructor of StarredStart takes \*items"),
    "partial method": (lambda: [functools.partial(Counter.more, by=2)], "without functools.partial"),
    "no signature": (lambda: [max], "has no signature that Python can read"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_tool_says_why(case: str) -> None:
    tools, message = REFUSED[case]
    with pytest.raises(ConfigurationError, match=message):
        FunctionBackend(tools())


@pytest.mark.parametrize(
    "options",
    [
        {"threads": -1},
        {"threads": True},
        {"threads": 5000},
        {"errors": "ignore"},
        {"max_result_bytes": 10},
        {"max_result_bytes": 2.5e5},
        {"context": Counter()},
    ],
)
def test_wrong_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        FunctionBackend([twin], **options)


# Arguments.

ARRIVALS: list[tuple[Any, Any, Any]] = [
    (int, 3.0, 3),
    (int, 1e300, int(1e300)),
    (int | None, 2.0, 2),
    (int | str, "3", "3"),
    (int | str, 3.0, 3),
    (int | float, 3.0, 3.0),
    (float, 3, 3),
    (Literal[1, 2], 2.0, 2),
    (list[int], [1.0, 2], [1, 2]),
    (Iterable[int], [1.0], [1]),
    (dict[int, str], {"3": "x"}, {3: "x"}),
    (set[str], ["b"], {"b"}),
    (tuple[int, str], [1, "a"], (1, "a")),
    (date, "2024-01-31", date(2024, 1, 31)),
    (datetime, "2024-01-31 10:30", datetime(2024, 1, 31, 10, 30)),
    (date | str, "2024-01-31", "2024-01-31"),
    (timedelta, "PT1H", timedelta(hours=1)),
    (Decimal, "1.10", Decimal("1.10")),
    (uuid.UUID, "123e4567-e89b-12d3-a456-426614174000", uuid.UUID("123e4567-e89b-12d3-a456-426614174000")),
    (Colour, "red", Colour.RED),
    (Level, 2.0, Level.HIGH),
    (Point, {"x": 1}, Point(1)),
    (list[Point] | None, [{"x": 1, "y": 2}], [Point(1, 2.0)]),
    (Tree, {"name": "a", "kids": [{"name": "b"}]}, Tree("a", [Tree("b")])),
    (Person, {"name": "Ada", "born": "1815-12-10", "at": {"x": 1}},
     Person(name="Ada", born=date(1815, 12, 10), at=Point(1))),
    (Options, {"unit": "m"}, {"unit": "m"}),
    (Even, 3, 4),
    (Any, {"a": [1.0]}, {"a": [1.0]}),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "sent", "expected"), ARRIVALS, ids=[f"{h}-{s}"[:60] for h, s, _ in ARRIVALS])
def test_arguments_arrive_as_hints_promise(hint: Any, sent: Any, expected: Any) -> None:
    got: list[Any] = []
    backend = FunctionBackend({"f": with_hint(hint, got)})
    schemas = {"f": ToolSchema(backend.tools[0])}
    result = checked_call(backend.open(task(), 0), ToolCall(name="f", arguments={"a": sent}), schemas)
    assert result.ok, result.message
    assert got == [expected]
    assert repr(got) == repr([expected])  # 3 and not 3.0


@pytest.mark.parametrize(
    ("hint", "sent", "fault"),
    [
        (date, "2024-02-30", "a: Input should be a valid date"),
        (datetime, "2024-01-31T99:00", "a: Input should be a valid datetime"),
        (list[int], [1, 1e300], "a.1: Unable to parse input string as an integer"),
        (dict[int, str], {"x": "y"}, r"a.x.\[key\]: Input should be a valid integer"),
    ],
)
def test_what_passes_the_schema_and_not_the_hint_is_invalid(hint: Any, sent: Any, fault: str) -> None:
    backend = FunctionBackend({"f": with_hint(hint)})
    schemas = {"f": ToolSchema(backend.tools[0])}
    result = checked_call(backend.open(task(), 0), ToolCall(name="f", arguments={"a": sent}), schemas)
    assert result.error == "invalid_arguments"
    assert result.message.startswith("arguments of f are invalid: a")
    assert ToolResult.from_dict(result.to_dict()) == result
    assert re.search(fault, result.message)


@pytest.mark.parametrize("year", ["2024", "1683849600"])
@pytest.mark.parametrize("hint", [date, datetime, time])
def test_a_number_in_a_text_is_no_date(hint: Any, year: str) -> None:
    schema = ToolSchema(FunctionBackend({"f": with_hint(hint)}).tools[0])
    assert schema.check({"a": year}) is not None


def test_a_function_may_keep_and_change_its_arguments() -> None:
    def f(items: list[Any], point: Any) -> int:
        items.append(1)
        point["x"].append(2)
        return len(items)

    call = ToolCall(name="f", arguments={"items": [], "point": {"x": []}})
    assert opened([f]).call(call).content == 1
    assert call.arguments == {"items": [], "point": {"x": []}}


# Random signatures and arguments: what is valid arrives, and nothing raises.

ARRIVED: list[dict[str, Any]] = []


def _note(**arguments: Any) -> None:
    ARRIVED.append(arguments)


def sig_plain(a: str, b: int, c: float = 1.5, d: bool = False, e: list[str] | None = None) -> None:
    _note(a=a, b=b, c=c, d=d, e=e)


def sig_bounds(a: Annotated[int, Field(ge=1, le=9)], b: Annotated[str, Field(min_length=1, max_length=8)]) -> None:
    _note(a=a, b=b)


def sig_choice(a: Literal["x", 1, True, None], b: int | str | list[int], c: Colour | Level = Colour.RED) -> None:
    _note(a=a, b=b, c=c)


def sig_objects(a: Point, b: list[Tree], c: Person, d: Options, e: Cat | Dog) -> None:
    _note(a=a, b=b, c=c, d=d, e=e)


def sig_times(a: date, b: datetime | None, c: list[date], d: time) -> None:
    _note(a=a, b=b, c=c, d=d)


def sig_containers(
    a: set[int], b: tuple[int, str], c: dict[str, list[float]], d: frozenset[str], e: tuple[int, ...]
) -> None:
    _note(a=a, b=b, c=c, d=d, e=e)


def sig_loose(a, b: Any, c: dict[str, Any], d: list = [], **more: int) -> None:  # type: ignore[no-untyped-def,type-arg]  # noqa: B006
    _note(a=a, b=b, c=c, d=d, **more)


def sig_places(a: int, b: Mode = Mode.FAST, /, c: float = 1, *, d: uuid.UUID | None = None) -> None:
    _note(a=a, b=b, c=c, d=d)


def sig_shared(world: World, a: int, rng: np.random.Generator, *, b: dict[str, Point] | None = None) -> None:
    _note(a=a, b=b)


async def sig_async(a: list[dict[str, int]], b: Annotated[list[Point], Field(max_length=3)]) -> None:
    _note(a=a, b=b)


SIGNATURES: list[Callable[..., Any]] = [
    sig_plain, sig_bounds, sig_choice, sig_objects, sig_times, sig_containers, sig_loose, sig_places, sig_shared,
    sig_async,
]  # fmt: skip
RANDOM = FunctionBackend(SIGNATURES)
SCHEMAS = {one.name: ToolSchema(one) for one in RANDOM.tools}


def is_same(sent: Any, got: Any) -> bool:
    """Whether a value arrived: defaults may have been filled in, sets sorted, dates written in full."""
    if isinstance(sent, dict):
        return isinstance(got, dict) and all(key in got and is_same(sent[key], got[key]) for key in sent)
    if isinstance(sent, list):
        orders = (sent, got), (sorted(sent, key=str), sorted(got, key=str))  # as it was, or a set
        return len(sent) == len(got) and any(all(map(is_same, *order)) for order in orders)
    if isinstance(sent, str) and sent != got:
        readers = [kind.fromisoformat for kind in (datetime, time) if _reads(kind, sent) and _reads(kind, got)]
        return any(read(sent) == read(got) for read in readers)
    return bool(sent == got)


def _reads(kind: Any, text: str) -> bool:
    try:
        kind.fromisoformat(text)
    except ValueError:
        return False
    return True


@given(st.sampled_from(SIGNATURES), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_valid_arguments_arrive(function: Callable[..., Any], seed: int) -> None:
    name = function.__name__
    try:
        arguments = random_arguments(SCHEMAS[name].tool.parameters, random.Random(seed))
    except NoValue:
        return
    if SCHEMAS[name].check(arguments) is not None:
        return
    sent = copy.deepcopy(arguments)
    ARRIVED.clear()
    result = checked_call(RANDOM.open(task(), 0), ToolCall(name=name, arguments=arguments), SCHEMAS)
    assert result.ok, (arguments, result.message)
    assert arguments == sent
    assert is_same(sent, to_json(ARRIVED[0], 10**6)), (sent, ARRIVED)


def json_values() -> st.SearchStrategy[Any]:
    atoms = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=8)
    )
    keys = st.sampled_from("abcxy")
    return st.recursive(atoms, lambda x: st.lists(x, max_size=3) | st.dictionaries(keys, x, max_size=3), max_leaves=8)


@given(
    st.sampled_from([*SCHEMAS, "nothing"]),
    st.dictionaries(
        st.sampled_from(["a", "b", "c", "d", "e", "world", "rng", "self", "x y"]), json_values(), max_size=6
    ),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_no_argument_raises(name: str, arguments: dict[str, Any], is_checked: bool) -> None:
    session, call = RANDOM.open(task(), 0), ToolCall(name=name, arguments=arguments)
    result = checked_call(session, call, SCHEMAS) if is_checked else session.call(call)
    assert ToolResult.from_dict(result.to_dict()) == result
    assert len(result.message) <= (MAX_MESSAGE if result.error != "invalid_arguments" else 1000)
    assert made(session, "sig_bounds", a=1, b="x").ok


# Answers.


class Pair(NamedTuple):
    a: int
    b: str


class Text(str):
    def __str__(self) -> str:
        return "something else"


class Opaque:
    pass


class Aliased(BaseModel):
    start: date = Field(alias="from")
    tags: set[str] = set()


ANSWERS: list[tuple[Any, Any]] = [
    (None, None),
    ("text", "text"),
    (True, True),
    (12, 12),
    (1.5, 1.5),
    ([1, (2, [3])], [1, [2, [3]]]),
    (Pair(1, "x"), [1, "x"]),
    ({"b": 1, "a": 2}, {"b": 1, "a": 2}),
    (OrderedDict(a=1), {"a": 1}),
    ({1: "a", None: "b", 2.5: "d"}, {"1": "a", "null": "b", "2.5": "d"}),
    ({False: 1}, {"false": 1}),
    ({Colour.RED: 1, Mode.FAST: 2, date(2024, 1, 2): 3, np.int64(4): 5},
     {"red": 1, "fast": 2, "2024-01-02": 3, "4": 5}),
    ({3, 1, 2, 10}, [1, 2, 3, 10]),
    ({"b", "a"}, ["a", "b"]),
    (frozenset({("b", 1), ("a", 2)}), [["a", 2], ["b", 1]]),
    ({None, 2, "a", 1.5}, [None, 1.5, 2, "a"]),
    (Colour.RED, "red"),
    (Level.HIGH, 2),
    (Mode.FAST, "fast"),
    (Text("own"), "own"),
    (Point(1, 2.0), {"x": 1, "y": 2.0}),
    (Tree("a", [Tree("b")]), {"name": "a", "kids": [{"name": "b", "kids": []}]}),
    (Person(name="Ada", at=Point(1)), {"name": "Ada", "born": None, "at": {"x": 1, "y": 0.5}}),
    (Aliased.model_validate({"from": "2024-01-02", "tags": ["b", "a"]}), {"from": "2024-01-02", "tags": ["a", "b"]}),
    (date(2024, 1, 31), "2024-01-31"),
    (datetime(2024, 1, 31, 10, tzinfo=timezone.utc), "2024-01-31T10:00:00Z"),  # noqa: UP017
    (time(10, 30), "10:30:00"),
    (timedelta(hours=1), "PT1H"),
    (Decimal("1.10"), "1.10"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (PurePosixPath("a/b"), "a/b"),
    (b"abc", "abc"),
    (bytearray(b"abc"), "abc"),
    (deque([1]), [1]),
    (range(3), [0, 1, 2]),
    ({"a": 1}.keys(), ["a"]),
    ({"a": 1}.values(), [1]),
    (np.float64(1.5), 1.5),
    (np.arange(3), [0, 1, 2]),
    (np.array(5), 5),
    (np.bool_(True), True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"), ANSWERS, ids=[f"{type(value).__name__}-{expected}" for value, expected in ANSWERS]
)
def test_answers_become_json(value: Any, expected: Any) -> None:
    found = answer(lambda: value)
    assert found.ok, found.message
    assert found.content == expected
    assert json.dumps(found.content) == json.dumps(expected)


def circular() -> list[Any]:
    one: list[Any] = []
    one.append(one)
    return one


def doubling() -> list[Any]:
    one: list[Any] = ["x" * 100]
    for _ in range(60):
        one = [one, one]
    return one


async def coroutine() -> int:
    return 1


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> Any:
    yield 1


NO_ANSWERS: dict[str, tuple[Callable[[], Any], str]] = {
    "nan": (lambda: [1, math.nan], "f returned nan, which is no JSON number"),
    "inf": (lambda: {"a": -math.inf}, "f returned -inf, which is no JSON number"),
    "numpy nan": (lambda: np.array([math.nan]), "f returned nan, which is no JSON number"),
    "object": (lambda: Opaque(), "f returned an object of type Opaque, which is no JSON value"),
    "inner object": (lambda: {"a": [Opaque()]}, "f returned an object of type Opaque, which is no JSON value"),
    "class": (lambda: int, "f returned an object of type type, which is no JSON value"),
    "function": (lambda: len, "f returned an object of type builtin_function_or_method, which is no JSON value"),
    "long integer": (lambda: 10**5000, "f returned an integer of more than 4,200 digits"),
    "key": (lambda: {(1, 2): 3}, "f returned an object with a key of type tuple"),
    "same keys": (lambda: {1: "a", "1": "b"}, "f returned an object with two keys that are both written '1'"),
    "bytes": (lambda: b"\xff", "f returned bytes that cannot be written as text"),
    "generator": (generator, "f returned a generator; a tool returns its values as a list"),
    "async generator": (async_generator, "f returned a generator; a tool returns its values as a list"),
    "generator expression": (lambda: (n for n in (1, 2)), "f returned a generator; a tool returns its values as a"),
    "map": (lambda: map(str, [1]), "f returned an iterator of type map, which is no JSON value"),
    "coroutine": (lambda: coroutine(), "f returned a coroutine that nobody awaited; a tool that awaits is"),
    "circle": (circular, "f returned a value nested more than 100 deep"),
    "doubling": (doubling, "f returned more than the 1,048,576 bytes that a result may have"),
    "long text": (lambda: "x" * 2_000_000, "f returned more than the 1,048,576 bytes"),
    "long list": (lambda: [0] * 2_000_000, "f returned more than the 1,048,576 bytes"),
    "long range": (lambda: range(10**15), "f returned more than the 1,048,576 bytes"),
    "exception": (lambda: ValueError("x"), "f returned an object of type ValueError, which is no JSON value"),
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", NO_ANSWERS)
def test_what_is_no_json_is_said(case: str) -> None:
    function, message = NO_ANSWERS[case]
    session = opened({"f": function})
    found = made(session, "f")
    assert (found.error, found.content) == ("tool_error", None)
    assert found.message.startswith(message)
    assert made(session, "f").error == "tool_error"


def test_an_answer_is_no_part_of_the_state() -> None:
    def f(world: World) -> Any:
        return world.state.setdefault("items", [1])

    session = opened([f])
    made(session, "f").content.append(2)  # type: ignore[union-attr]
    assert made(session, "f").content == [1]


HASHABLE = (
    st.none() | st.booleans() | st.integers() | st.text() | st.floats() | st.binary() | st.dates() | st.uuids()
)  # fmt: skip


@given(
    st.recursive(
        HASHABLE | st.frozensets(HASHABLE) | st.tuples(HASHABLE),
        lambda x: st.lists(x) | st.tuples(x, x) | st.dictionaries(st.integers() | st.text(), x),
        max_leaves=12,
    )
)
@settings(max_examples=200, deadline=None)
def test_everything_is_json_or_refused(value: Any) -> None:
    try:
        written = to_json(value, 10**6)
    except NotJson:
        written = state_json(value)
    ToolResult(content=written)
    assert json.loads(json.dumps(written)) == written


# Failures.


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def raiser(error: BaseException) -> Callable[[], Any]:
    def f() -> None:
        raise error

    return f


def endless() -> Any:
    return endless()


FAILURES: list[tuple[Callable[[], Any], str]] = [
    (raiser(ToolFailure("No such room.\nTry another.")), "No such room.\nTry another."),
    (raiser(ToolFailure()), "f failed"),
    (raiser(ToolFailure("x" * 1000)), "x" * 397 + "..."),
    (raiser(ValueError("bad value")), "ValueError: bad value"),
    (raiser(ValueError()), "ValueError"),
    (raiser(ValueError("first\nsecond")), "ValueError: first"),
    (raiser(ValueError("x" * 1000)), "ValueError: " + "x" * 385 + "..."),
    (raiser(KeyError("x")), "KeyError: 'x'"),
    (raiser(SystemExit(3)), "SystemExit: 3"),
    (raiser(Silent()), "Silent"),
    (raiser(StopIteration("x")), "StopIteration: x"),
    (raiser(ExceptionGroup("both", [ValueError()])), "ExceptionGroup: both (1 sub-exception)"),
    (endless, "RecursionError: maximum recursion depth exceeded"),
    (lambda: open("/nowhere/at/all.txt"), "FileNotFoundError: [Errno 2] No such file or directory: '<path>'"),  # noqa: SIM115
    (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    (lambda: {}.missing, "AttributeError: 'dict' object has no attribute 'missing'"),  # type: ignore[attr-defined]
    (raiser(TypeError(f"cannot add {object()}")), "TypeError: cannot add <object object>"),
]


@pytest.mark.parametrize(("function", "message"), FAILURES, ids=[message[:30] for _, message in FAILURES])
@pytest.mark.parametrize("how", ["sync", "async", "threads"])
def test_failures_are_data(function: Callable[[], Any], message: str, how: str) -> None:
    async def awaiting() -> Any:
        return function()

    session = opened({"f": awaiting if how == "async" else function}, threads=2 if how == "threads" else 0)
    call = ToolCall(name="f", arguments={})
    for result in (session.call(call), portal().run(acall(session, call)), asyncio.run(acall(session, call))):
        if how == "async" and message.startswith("StopIteration"):
            message = "RuntimeError: coroutine raised StopIteration"
        assert (result.error, result.content) == ("tool_error", None)
        assert result.message.startswith(message) if "Recursion" in message else result.message == message


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at /home/ada/my_tool.py: no", "at <path>: no"),
        ("in '/usr/lib/python3/x.py'", "in '<path>'"),
        ("~/notes/a.txt and C:\\Users\\ada\\x.txt", "<path> and <path>"),
        ("open file:///etc/passwd", "open <path>"),
        ("12/05/2023 or 1/2/3, and/or", "12/05/2023 or 1/2/3, and/or"),
        ("GET https://host.org/a/b?key=s3cret&x=1 failed", "GET https://host.org/a/b failed"),
        ("https://ada:pw@host.org/a", "https://host.org/a"),
        ("Authorization: Bearer abc.def-1", "Authorization: ***"),
        ("{'authorization': 'Basic Zm9v'}", "{'authorization': ***'}"),
        ("api_key=12345 and token='x' and PASSWORD = y", "api_key=*** and token=***' and PASSWORD = ***"),
        ("unexpected token: }", "unexpected token: }"),
        ("<Thing object at 0x7f00aa11>", "<Thing object>"),
    ],
)
def test_messages_tell_nothing_of_the_machine(text: str, shown: str) -> None:
    assert fault_message(ValueError(text)) == f"ValueError: {shown}"


@given(st.text(max_size=500))
def test_every_message_is_short_and_one_line(text: str) -> None:
    message = fault_message(ValueError(text))
    assert len(message) <= MAX_MESSAGE
    assert len(message.splitlines()) == 1


def test_the_traceback_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "callgym.tool_backends.functions"):
        answer(raiser(ValueError("x")))
    (record,) = caplog.records
    assert record.levelno == logging.DEBUG
    assert record.exc_info is not None
    assert record.exc_info[0] is ValueError


@pytest.mark.parametrize("how", ["sync", "async", "threads"])
def test_errors_can_be_raised(how: str) -> None:
    def f(kind: str) -> Any:
        match kind:
            case "failure":
                raise ToolFailure("no")
            case "exit":
                raise SystemExit(1)
            case "stop":
                raise StopIteration
            case "no json":
                return Opaque()
        raise ValueError("x")

    async def awaiting(kind: str) -> Any:
        return f(kind)

    session = opened(
        {"f": awaiting if how == "async" else f}, errors="raise", threads=2 if how == "threads" else 0
    )  # fmt: skip
    for run in (session.call, lambda call: portal().run(acall(session, call))):
        assert run(ToolCall(name="f", arguments={"kind": "failure"})).message == "no"
        assert run(ToolCall(name="f", arguments={"kind": "exit"})).message == "SystemExit: 1"
        with pytest.raises(ValueError, match="x"):
            run(ToolCall(name="f", arguments={"kind": ""}))
        with pytest.raises(TypeError, match="an object of type Opaque"):
            run(ToolCall(name="f", arguments={"kind": "no json"}))
        with pytest.raises((StopIteration, RuntimeError)):
            run(ToolCall(name="f", arguments={"kind": "stop"}))
    assert portal().run(coroutine()) == 1


def test_an_interrupt_is_no_data_and_ends_no_loop() -> None:
    with pytest.raises(KeyboardInterrupt):
        answer(raiser(KeyboardInterrupt()))

    async def awaiting() -> None:
        raise KeyboardInterrupt

    call = ToolCall(name="f", arguments={})
    blocking = raiser(KeyboardInterrupt())
    for session in (
        opened({"f": awaiting}),
        opened({"f": blocking}, threads=1),
        opened({"f": blocking, "g": awaiting}),
    ):
        with pytest.raises(RuntimeError, match="KeyboardInterrupt"):
            portal().run(acall(session, call))
        assert portal().run(coroutine()) == 1


def test_a_tool_that_is_cancelled_from_within_is_data() -> None:
    async def f() -> None:
        raise asyncio.CancelledError

    session = opened([f])
    assert made(session, "f").message == "f was cancelled from within"
    assert asyncio.run(session.acall(ToolCall(name="f", arguments={}))).error == "tool_error"


def test_tools_that_are_not_there_are_unavailable() -> None:
    session = opened([Counter])
    assert made(session, "sell").error == "unavailable"
    session.close()
    assert made(session, "more").error == "unavailable"


# State.


def visit(world: World, place: str, rng: np.random.Generator) -> dict[str, Any]:
    """Go there."""
    world.state.setdefault("seen", []).append(place)
    return {"seen": world.state["seen"], "luck": int(rng.integers(1000))}


def roll(rng: np.random.Generator) -> int:
    return int(rng.integers(10**9))


class Pantry:
    """A pantry."""

    shelves: ClassVar[list[str]] = []
    LIMITS: ClassVar[dict[str, int]] = {"plums": 100}
    opened = 0
    _cache: ClassVar[dict[str, int]] = {}

    def __init__(self, foods: dict[str, int], owner: Point | None = None) -> None:
        self.foods = foods
        self._secret = object()

    def take(self, food: str, amount: int = 1, seen: list[str] = []) -> Any:  # noqa: B006
        """Take some out.

        Args:
            food: What.
        """
        if self.foods.get(food, 0) < amount:
            raise ToolFailure(f"There is not so much {food}.")
        self.foods[food] -= amount
        self.opened += 1
        self.shelves.append(food)
        self.LIMITS[food] = 0
        self._cache[food] = 1
        seen.append(food)
        return [self.foods[food], len(self.shelves), len(self._cache), len(seen)]

    @staticmethod
    def weigh(food: str) -> int:
        """Weigh."""
        return len(food)

    @classmethod
    def made_of(cls, food: str) -> Pantry:
        return cls({food: 1})

    @tool(name="look_in")
    def look(self) -> int:
        return len(self.foods)

    @property
    def size(self) -> int:
        return len(self.foods)

    def _hidden(self) -> None: ...


class Larder(Pantry):
    closed: ClassVar[list[str]] = []

    async def wait(self, food: str) -> int:
        """Wait for it."""
        await asyncio.sleep(0)
        return self.foods[food]

    def state(self) -> dict[str, Any]:
        return {"own": {"b", "a"}, "foods": self.foods}

    def close(self) -> None:
        Larder.closed.append("closed")


def test_the_world_is_shared_within_an_episode_only() -> None:
    backend = FunctionBackend([visit])
    assert "world" not in backend.tools[0].properties
    assert "rng" not in backend.tools[0].properties
    one, other = (backend.open(task({"seen": ["home"]}), 7) for _ in range(2))
    first = made(one, "visit", place="park")
    assert made(other, "visit", place="park") == first
    assert made(one, "visit", place="zoo").content["seen"] == ["home", "park", "zoo"]  # type: ignore[call-overload,index]
    assert one.state() == {"seen": ["home", "park", "zoo"]}
    one.state()["seen"].clear()
    assert one.state() == {"seen": ["home", "park", "zoo"]}
    assert backend.open(task({"seen": []}), 8).call(ToolCall(name="visit", arguments={"place": "x"})) != first


def test_randomness_needs_no_world() -> None:
    backend = FunctionBackend([roll])
    session = backend.open(task({"anything": 1}), 3)
    first, second = (made(session, "roll").content for _ in range(2))
    again = backend.open(task(), 3)
    assert [made(again, "roll").content for _ in range(2)] == [first, second]
    assert first != second
    assert session.state() == {}
    assert made(backend.open(task(), 4), "roll").content != first


def test_a_class_has_an_instance_an_episode() -> None:
    backend = FunctionBackend(Pantry)
    assert [one.name for one in backend.tools] == ["take", "weigh", "look_in"]
    assert backend.tools[0].properties["food"]["description"] == "What."
    start = task({"foods": {"plums": 3}})
    one, other = backend.open(start, 0), backend.open(start, 0)
    assert made(one, "take", food="plums").content == [2, 1, 1, 1]
    assert made(one, "take", food="plums").content == [1, 2, 1, 1]  # a default that was changed is not seen again
    assert made(other, "take", food="plums").content == [2, 1, 1, 1]
    assert one.state() == {"shelves": ["plums", "plums"], "opened": 2, "foods": {"plums": 1}}
    assert other.state() == {"shelves": ["plums"], "opened": 1, "foods": {"plums": 2}}
    assert backend.open(start, 0).state() == {"shelves": [], "opened": 0, "foods": {"plums": 3}}
    assert start.initial_state == {"foods": {"plums": 3}}
    assert (Pantry.shelves, Pantry.LIMITS, Pantry._cache) == ([], {"plums": 100}, {})
    assert made(one, "weigh", food="ab").content == 2
    assert made(one, "take", food="figs").message == "There is not so much figs."


def test_a_wrong_try_leaves_nothing_for_the_next() -> None:
    """Case B01: the second episode of an item scores as if it were the first."""
    backend = FunctionBackend([Pantry, visit])
    start = task({"Pantry": {"foods": {"plums": 3}}, "World": {}})
    alone = backend.open(start, 1)
    clean = [made(alone, "take", food="plums", amount=3), made(alone, "visit", place="x")], alone.state()
    wrong = backend.open(start, 1)
    made(wrong, "take", food="plums", amount=2)
    made(wrong, "visit", place="y")
    after = backend.open(start, 1)
    assert ([made(after, "take", food="plums", amount=3), made(after, "visit", place="x")], after.state()) == clean


def test_a_class_speaks_for_itself_and_is_closed() -> None:
    Larder.closed.clear()
    backend = FunctionBackend([Larder])
    assert [one.name for one in backend.tools] == ["take", "weigh", "look_in", "wait"]
    session = backend.open(task({"foods": {"a": 1}}), 0)
    assert waits(session)
    assert made(session, "wait", food="a").content == 1
    assert session.state() == {"own": ["a", "b"], "foods": {"a": 1}}
    session.close()
    assert Larder.closed == ["closed"]
    backend.open(task({"foods": {}}), 0).close()  # never made, so never closed
    assert Larder.closed == ["closed"]


def test_methods_can_be_given_one_by_one() -> None:
    backend = FunctionBackend([Pantry.look, Pantry.weigh, Counter.more])
    assert [one.name for one in backend.tools] == ["look_in", "weigh", "more"]
    session = backend.open(task({"Pantry": {"foods": {"a": 1}}, "Counter": {"count": 4}}), 0)
    assert made(session, "more").content == 5
    assert session.state()["Counter"] == {"count": 5}
    assert [one.name for one in FunctionBackend({"grow": Counter.more}).tools] == ["grow"]
    assert made(opened({"grow": Counter.more}), "grow", by=2).content == 2


BAD_STATES: list[tuple[Any, dict[str, Any], str]] = [
    ([Pantry], {"foods": {}, "drinks": {}, "x": 1},
     r"initial_state of task 't' has \['drinks', 'x'\], which Pantry does not take; it takes: foods, owner"),
    ([Pantry], {}, "does not fit Pantry: \"foods\" is a required property"),
    ([Pantry], {"foods": {"a": "b"}}, "does not fit Pantry: foods.a"),
    ([Counter], {"count": "x"}, "does not fit Counter: count"),
    ([Counter, visit], {"count": 1}, r"has \['count'\]; the tools have one part of it each, named Counter, World"),
    ([Counter, visit], {"Counter": 3}, "Counter is an object, got int"),
]  # fmt: skip


@pytest.mark.parametrize(("tools", "state", "message"), BAD_STATES)
def test_an_initial_state_that_does_not_fit_is_named(tools: Any, state: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        opened(tools, state)


class Fussy:
    def __init__(self, day: date, count: int = 0) -> None:
        if count > 3:
            raise ValueError("too much")
        self.day = day

    def look(self) -> date:
        return self.day


def test_constructors_that_refuse_a_state_are_faults_of_the_data() -> None:
    assert made(opened(Fussy, {"day": "2024-01-31"}), "look").content == "2024-01-31"
    with pytest.raises(DataError, match="task 't' does not fit Fussy: day: Input should be a valid date"):
        made(opened(Fussy, {"day": "2024-01-41"}), "look")
    with pytest.raises(DataError, match="the constructor of Fussy raised ValueError: too much"):
        made(opened(Fussy, {"day": "2024-01-31", "count": 4}), "look")


@dataclasses.dataclass
class Shop:
    money: int
    rng: np.random.Generator
    log: list[str] = dataclasses.field(default_factory=list)


def buy(shop: Shop, price: int) -> int:
    """Buy."""
    shop.money -= price
    shop.log.append(f"bought for {price}")
    return shop.money


async def sell(price: int, *, shop: Shop) -> int:
    shop.money += price
    return int(shop.rng.integers(100))


def test_functions_can_share_an_object_of_their_own() -> None:
    backend = FunctionBackend([buy, sell], context=Shop)
    assert [list(one.properties) for one in backend.tools] == [["price"], ["price"]]
    one, other = (backend.open(task({"money": 10}), 5) for _ in range(2))
    assert made(one, "buy", price=3).content == 7
    assert made(one, "sell", price=1) == made(other, "sell", price=1)
    assert one.state() == {"money": 8, "rng": "<Generator>", "log": ["bought for 3"]}
    assert other.state()["money"] == 11


class PydanticPantry(BaseModel):
    foods: dict[str, int]
    notes: ClassVar[list[str]] = []

    def take(self, food: str) -> int:
        self.foods[food] -= 1
        self.notes.append(food)
        return len(self.notes)


class SlotCounter:
    __slots__ = ("_hidden", "count")

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def more(self) -> int:
        self.count += 1
        return self.count


class Early:
    """Its constructor changes what its class holds."""

    items: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.items.append(1)

    def look(self) -> int:
        return len(self.items)


@pytest.mark.parametrize(
    ("made_of", "state", "name", "arguments", "after"),
    [
        (PydanticPantry, {"foods": {"a": 3}}, "take", {"food": "a"}, {"notes": ["a"], "foods": {"a": 2}}),
        (SlotCounter, {"count": 2}, "more", {}, {"count": 3}),
        (Early, {}, "look", {}, {"items": [1]}),
    ],
)
def test_classes_of_all_kinds_keep_to_their_episode(
    made_of: type, state: dict[str, Any], name: str, arguments: dict[str, Any], after: dict[str, Any]
) -> None:
    backend = FunctionBackend([made_of])
    assert [one.name for one in backend.tools] == [name]
    seen = []
    for _ in range(2):
        session = backend.open(task(state), 0)
        seen.append((made(session, name, **arguments), session.state()))
    assert seen[0] == seen[1]
    assert seen[0][1] == after


class Wild:
    def __init__(self) -> None:
        self.number = 1.0
        self.thing = Opaque()
        self.me = self
        self.when = date(2024, 1, 31)

    def grow(self) -> None:
        self.number = self.number * math.inf


def test_a_state_that_is_no_json_raises_nothing() -> None:
    session = opened(Wild)
    assert made(session, "grow").ok
    state = {"number": "<inf>", "thing": "<Opaque>", "me": "<Wild>", "when": "2024-01-31"}
    assert session.state() == state
    Task.from_dict({**task().to_dict(), "goal": {"kind": "state", "state": state}})


class Door:
    """``close`` takes an argument, and ``state`` is marked: both are tools."""

    def close(self, softly: bool) -> str:
        return "closed"

    @tool
    def state(self) -> str:
        return "open"


def test_hooks_with_arguments_or_a_mark_are_tools() -> None:
    session = opened(Door)
    assert made(session, "close", softly=True).content == "closed"
    assert made(session, "state").content == "open"
    assert session.state() == {}
    session.close()


class ClosesBadly(Counter):
    def close(self) -> None:
        raise ValueError("x")


class BadState(Counter):
    def state(self) -> Any:
        return [1]


def test_what_a_class_says_wrongly() -> None:
    session = opened(ClosesBadly)
    made(session, "more")
    session.close()
    with pytest.raises(TypeError, match="the state of BadState is a dict, got list"):
        opened(BadState).state()


class Chicken:
    def __init__(self, egg: Egg) -> None: ...

    def look(self) -> None: ...


class Egg:
    def __init__(self, chicken: Chicken) -> None: ...

    def hatch(self) -> None: ...


class Twin1:
    class Twin:
        def look(self) -> None: ...


class Twin2:
    class Twin:
        def hatch(self) -> None: ...


def test_parts_that_cannot_be_told_apart_or_made() -> None:
    session = opened([Chicken, Egg])
    with pytest.raises(ConfigurationError, match="Chicken and Egg ask for each other"):
        made(session, "look")
    with pytest.raises(ConfigurationError, match="two classes named Twin"):
        FunctionBackend([Twin1.Twin, Twin2.Twin])


# Waiting, and many episodes.

MANY = 64


class Meeting:
    """Everybody who comes waits until as many as expected are there at the same time."""

    def __init__(self, expected: int) -> None:
        self.inside = self.most = 0
        self.expected = expected
        self.barrier = threading.Barrier(expected)

    async def attend(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        for _ in range(2000):
            if self.most >= self.expected:
                break
            await asyncio.sleep(0.005)
        self.inside -= 1

    def attend_blocking(self) -> None:
        self.barrier.wait(10)
        self.most = self.expected


def meeting_tools(meeting: Meeting | None, how: str) -> list[Callable[..., Any]]:
    """The same two tools, awaited, blocking, or at once."""

    def visited(world: World, place: Mode, rng: np.random.Generator) -> dict[str, Any]:
        world.state.setdefault("seen", []).append(place.value)
        return {"seen": world.state["seen"], "luck": int(rng.integers(1000))}

    async def awaiting(world: World, place: Mode, rng: np.random.Generator) -> dict[str, Any]:
        """Go there."""
        assert meeting is not None
        await meeting.attend()
        return visited(world, place, rng)

    def blocking(world: World, place: Mode, rng: np.random.Generator) -> dict[str, Any]:
        """Go there."""
        if meeting is not None:
            meeting.attend_blocking()
        return visited(world, place, rng)

    def fail(world: World) -> None:
        """Fail."""
        raise ValueError(f"seen {len(world.state['seen'])}")

    return [tool(name="visit")(awaiting if how == "async" else blocking), fail]


class OwnEnv(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def episodes(meeting: Meeting | None, how: str, batch_size: int) -> list[str]:
    backend = FunctionBackend(meeting_tools(meeting, how), threads=MANY if how == "threads" else 0)
    visit_call = {"name": "visit", "arguments": {"place": ["fast"]}}
    goal = {"kind": "all", "goals": [
        {"kind": "calls", "turns": [[visit_call, {"name": "fail"}, visit_call]]},
        {"kind": "state", "state": {"seen": ["fast", "fast"]}},
    ]}  # fmt: skip
    tasks = [task({}, backend, id=f"t{number}", goal=goal) for number in range(MANY)]
    result = run_episodes(
        lambda: OwnEnv(data=tasks, backend=backend), get_policy("oracle"), episodes=MANY, batch_size=batch_size
    )
    assert {episode.steps[0].results[1].message for episode in result.episodes} == {"ValueError: seen 1"}
    assert {episode.episode_return for episode in result.episodes} == {1.0}
    return [episode.to_json() for episode in result.episodes]


def test_many_episodes_wait_side_by_side_and_are_the_same_as_one_by_one() -> None:
    alone = episodes(None, "sync", 1)
    for how in ("async", "threads"):
        meeting = Meeting(MANY)
        assert episodes(meeting, how, MANY) == alone
        assert meeting.most == MANY


def test_blocking_functions_do_not_block_the_loop() -> None:
    began, go_on = threading.Event(), threading.Event()

    def block() -> str:
        began.set()
        return "done" if go_on.wait(10) else "nobody came"

    session = opened([block], threads=1)

    async def beside() -> ToolResult:
        running = asyncio.ensure_future(session.acall(ToolCall(name="block", arguments={})))
        while not began.is_set():
            await asyncio.sleep(0.001)
        go_on.set()  # only a loop that is free gets here
        return await running

    assert asyncio.run(beside()).content == "done"


def test_sessions_wait_only_where_something_does() -> None:
    assert not waits(opened([twin]))
    assert waits(opened([twin], threads=1))
    assert waits(opened([twin, coroutine]))
    session = opened([twin, coroutine])
    assert asyncio.run(session.acall(ToolCall(name="twin", arguments={}))).ok
    assert made(session, "coroutine").content == 1


def test_async_tools_live_in_the_portal_whoever_calls() -> None:
    async def where() -> int:
        return threading.get_ident()

    session = opened([where])
    there = portal().run(_ident())
    call = ToolCall(name="where", arguments={})
    assert made(session, "where").content == there
    assert asyncio.run(session.acall(call)).content == there
    assert portal().run(session.acall(call)).content == there


async def _ident() -> int:
    return threading.get_ident()


def test_a_call_that_was_given_up_is_waited_for_before_the_state_is_touched_again() -> None:
    go_on = threading.Event()

    def slow(world: World) -> int:
        go_on.wait(10)
        world.state["count"] = world.state.get("count", 0) + 1
        return int(world.state["count"])

    def quick(world: World) -> int:
        return int(world.state.get("count", 0))

    session = time_limited(FunctionBackend([slow, quick], threads=2), 0.05).open(task(), 0)
    slow_call, quick_call = (ToolCall(name=name, arguments={}) for name in ("slow", "quick"))
    assert session.call(slow_call).error == "timeout"
    assert session.call(quick_call).error == "unavailable"
    assert "not come to its end" in session.call(quick_call).message
    go_on.set()
    for _ in range(1000):
        result = session.call(quick_call)
        if result.ok:
            break
        threading.Event().wait(0.005)
    assert result.content == 1


def test_async_calls_are_cancelled_at_a_limit() -> None:
    ended = []

    async def slow(world: World) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    session = time_limited(FunctionBackend([slow, sig_shared]), 0.05).open(task(), 0)
    assert session.call(ToolCall(name="slow", arguments={})).error == "timeout"
    assert ended == [True]
    assert session.call(ToolCall(name="sig_shared", arguments={"a": 1})).ok


# Other processes, and the same bytes everywhere.


def test_backends_are_pickled_where_their_functions_can_be_imported() -> None:
    backend = FunctionBackend([visit, Larder, roll], context=Shop, threads=2, max_result_bytes=5_000)
    again = pickle.loads(pickle.dumps(backend))
    assert again.tools == backend.tools
    start = task({"Larder": {"foods": {"a": 3}}, "Shop": {"money": 1}, "World": {"seen": ["x"]}})
    sessions = backend.open(start, 3), again.open(start, 3)
    for name, arguments in (("take", {"food": "a"}), ("visit", {"place": "b"}), ("wait", {"food": "a"}), ("roll", {})):
        one, other = (made(session, name, **arguments) for session in sessions)
        assert one.ok
        assert one == other
    assert sessions[0].state() == sessions[1].state()
    named = pickle.loads(pickle.dumps(FunctionBackend({"go": visit})))
    assert [one.name for one in named.tools] == ["go"]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(FunctionBackend({"f": lambda: 0}))
    assert copy.deepcopy(backend) is backend


MODULE = '''
from __future__ import annotations
import dataclasses, enum, json, time
from callgym import Task, ToolCall
from callgym.tool_backends.functions import FunctionBackend

class Colour(enum.Enum):
    RED = "red"

@dataclasses.dataclass
class Point:
    x: int
    tags: frozenset[str] = frozenset({"c", "a", "b", "d"})

def look(
    point: Point, other: Point | None = None, kinds: set[Colour] = {Colour.RED}, words: set[str] = {"x", "y", "z"}
) -> set[str]:
    """Look."""
    return {"p", "q", "r", *words}

def nap(seconds: float) -> str:
    time.sleep(seconds)
    return "rested"

backend = FunctionBackend([look, nap])

def main() -> None:
    task = Task.from_dict({"id": "t", "family": "f", "split": "s", "messages": [{"role": "user", "content": "x"}],
                           "goal": {"kind": "calls", "turns": [[]]}})
    session = backend.open(task, 0)
    print(json.dumps([one.to_dict() for one in backend.tools]))
    print(session.call(ToolCall(name="look", arguments={"point": {"x": 1}})).to_json())
'''


def test_the_same_functions_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "own_module.py").write_text(MODULE, encoding="utf-8")
    seen = set()
    for seed in ("0", "1"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""}
        command = [sys.executable, "-c", "import own_module; own_module.main()"]
        seen.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    (text,) = seen
    assert '["a", "b", "c", "d"]' in text
    assert '"content":["p","q","r","x","y","z"]' in text


def test_what_blocks_for_ever_can_have_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("own_module")
    try:
        session = isolated(own.backend, seconds=0.3).open(task(), 0)
        assert session.call(ToolCall(name="nap", arguments={"seconds": 60})).error == "timeout"
        assert session.call(ToolCall(name="nap", arguments={"seconds": 0})).content == "rested"
        session.close()
    finally:
        del sys.modules["own_module"]


# The example.


def test_the_example_is_a_whole_environment_in_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "examples" / "own_tools.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 70
    spec = importlib.util.spec_from_file_location("examples_own_tools", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example
    spec.loader.exec_module(example)
    try:
        example.main()
        text = capsys.readouterr().out
        assert 'convert(amount=1, unit="cup") -> {"grams": 120}' in text
        assert "return 1.000" in text
        result = run_episodes("pantry/Own-v0", get_policy("oracle"), episodes=4)
        assert result.summary.return_mean == 1.0
        env: Any = gym.make("pantry/Own-v0", disable_env_checker=True).unwrapped
        env.reset(options={"task": "plums"})
        *_, info = env.step(
            env.dialect.render_action([ToolCall(name="take", arguments={"food": "plums", "amount": 99})])
        )
        assert info["results"][0].message == "There is not so much plums."
    finally:
        del gym.registry["pantry/Own-v0"]
        del sys.modules[spec.name]
