"""The tools of the starter tasks: a table of what they are called, and what each does to a small world.

Every tool checks its arguments by kind (a time, a count, a token, ...), then acts on ``world.state``.
What cannot be done is a ``ToolFailure`` with a sentence that the policy can act on::

    session = starter_backend().open(task, seed=0)
    session.call(ToolCall(name="GetWeather", arguments={"city": "Oslo", "date": "2023-05-01"}))
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from callgym.tool import Tool
from callgym.tool_backends.python import PythonBackend, ToolFailure, ToolFunction, World

__all__ = ["FUNCTIONS", "SEARCH_KEYWORDS", "TOKEN_TOOLS", "TOOLS", "starter_backend"]

State = dict[str, Any]
Arguments = dict[str, Any]
Act = Callable[[State, Arguments], Any]

_MAX_COUNT = 1_000
_MAX_NUMBER = 1_000_000
_MAX_SEARCHED = 300
_DONE = {"status": "done"}

# --- the kinds of argument ---------------------------------------------------------------------


def _moment(layout: str, example: str) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> str:
        try:
            return datetime.strptime(value, layout).strftime(layout)
        except ValueError:
            raise ToolFailure(f"The {name} must be written like {example}.") from None

    return check


def _filled(name: str, value: Any) -> Any:
    if not value.strip():
        raise ToolFailure(f"The {name} is empty.")
    return value


def _count(name: str, value: Any) -> Any:
    if not 1 <= value <= _MAX_COUNT:
        raise ToolFailure(f"The {name} must lie between 1 and {_MAX_COUNT}.")
    return value


def _number(name: str, value: Any) -> Any:
    if not 0 <= value <= _MAX_NUMBER:
        raise ToolFailure(f"The {name} must lie between 0 and {_MAX_NUMBER}.")
    return value


def _names(name: str, value: Any) -> Any:
    if not value:
        raise ToolFailure(f"The {name} are missing.")
    return [_filled(name, item) for item in value]


def _flag(name: str, value: Any) -> Any:
    return value


@dataclass(frozen=True)
class _Kind:
    """One kind of argument or answer: its schema, API-Bank's word for the type, and its check."""

    schema: dict[str, Any]
    word: str
    check: Callable[[str, Any], Any]


_TEXT = {"type": "string"}
_KINDS = {
    "text": _Kind(_TEXT, "str", _filled),
    "time": _Kind(_TEXT, "str", _moment("%Y-%m-%d %H:%M:%S", "2023-05-01 14:00:00")),
    "date": _Kind(_TEXT, "str", _moment("%Y-%m-%d", "2023-05-01")),
    "count": _Kind({"type": "integer"}, "int", _count),
    "number": _Kind({"type": "number"}, "float", _number),
    "flag": _Kind({"type": "boolean"}, "bool", _flag),
    "names": _Kind({"type": "array", "items": _TEXT}, "list(str)", _names),
}
_TIME = "time: YYYY-MM-DD HH:MM:SS"
_DATE = "date: YYYY-MM-DD"
_TOKEN = "text: access token"
_STATUS = {"status": "text: done"}

# --- what the tools do -------------------------------------------------------------------------


def _account(state: State, token: str) -> tuple[str, dict[str, Any]]:
    for username, account in state.get("accounts", {}).items():
        if account["token"] == token:
            return username, account
    raise ToolFailure("This token is not valid.")


def _get_token(state: State, arguments: Arguments) -> Any:
    account = state.get("accounts", {}).get(arguments["username"])
    if account is None:
        raise ToolFailure("There is no such user.")
    if account["password"] != arguments["password"]:
        raise ToolFailure("The password is wrong.")
    return {"token": account["token"]}


def _write(table: str, refers: tuple[str, str, str] | None = None) -> Act:
    """An act that writes its arguments down.

    ``refers`` is (argument, table, field): a record of that table must have the argument's value there.
    """

    def act(state: State, arguments: Arguments) -> Any:
        if refers is not None:
            argument, known, field = refers
            value = arguments[argument]
            if all(record.get(field) != value for record in state.get(known, {}).values()):
                raise ToolFailure(f"There is no {argument} like that.")
        state.setdefault(table, []).append(arguments)
        return dict(_DONE)

    return act


def _read(table: str, *keys: str) -> Act:
    """An act that looks a record up by the arguments ``keys``."""

    def act(state: State, arguments: Arguments) -> Any:
        record = state.get(table, {}).get("/".join(arguments[key] for key in keys))
        if record is None:
            raise ToolFailure(f"Nothing is known for this {' and '.join(keys)}.")
        return dict(record)

    return act


def _own(state: State, table: str, arguments: Arguments, key: str) -> dict[str, Any]:
    """The user's own record of ``table`` whose ``key`` is the argument's value."""
    for record in state.get(table, []):
        if record["user"] == arguments["user"] and record[key] == arguments[key]:
            return record  # type: ignore[no-any-return]
    raise ToolFailure(f"You have nothing with this {key}.")


def _cancel_alarm(state: State, arguments: Arguments) -> Any:
    record = _own(state, "alarms", arguments, "time")
    state["alarms"].remove(record)
    return dict(_DONE)


def _move_meeting(state: State, arguments: Arguments) -> Any:
    _own(state, "meetings", arguments, "title")["start"] = arguments["start"]
    return dict(_DONE)


def _read_balance(state: State, arguments: Arguments) -> Any:
    return {"balance": state["accounts"][arguments["user"]]["balance"]}


def _send_money(state: State, arguments: Arguments) -> Any:
    account = state["accounts"][arguments["user"]]
    if arguments["amount"] > account["balance"]:
        raise ToolFailure("The balance is too low.")
    account["balance"] = round(account["balance"] - arguments["amount"], 2)
    return dict(_DONE)


def _change_password(state: State, arguments: Arguments) -> Any:
    state["accounts"][arguments["user"]]["password"] = arguments["new_password"]
    return dict(_DONE)


def _convert_money(state: State, arguments: Arguments) -> Any:
    rate = state.get("rates", {}).get(f"{arguments['source']}/{arguments['target']}")
    if rate is None:
        raise ToolFailure("There is no rate for these currencies.")
    return {"result": round(arguments["amount"] * rate, 2)}


def _find_hotel(state: State, arguments: Arguments) -> Any:
    record = state.get("hotels", {}).get(arguments["city"])
    if record is None or record.get("price", 0) > arguments["max_price"]:
        raise ToolFailure("No hotel fits.")
    return dict(record)


def _split_bill(state: State, arguments: Arguments) -> Any:
    return {"share": round(arguments["amount"] / len(arguments["people"]), 2)}


# --- the search --------------------------------------------------------------------------------

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z0-9]+")


def _words(text: str) -> list[str]:
    return _WORD.findall(_CAPITAL.sub(" ", text).lower())


def _trigrams(words: list[str]) -> frozenset[str]:
    text = f" {' '.join(words)} "
    return frozenset(text[i : i + 3] for i in range(len(text) - 2))


def _search(state: State, arguments: Arguments) -> Any:
    words = _words(arguments["keywords"][:_MAX_SEARCHED])
    trigrams = _trigrams(words)
    score, _, name = max((entry.score(words, trigrams), -i, n) for i, (n, entry) in enumerate(_INDEX.items()))
    if score == 0:
        raise ToolFailure("No tool matches these keywords.")
    found = TOOLS[name].meta["documentation"]
    if name in TOKEN_TOOLS:
        found = [TOOLS["GetToken"].meta["documentation"], found]
    return copy.deepcopy(found)


@dataclass(frozen=True)
class _Entry:
    """What the search knows of one tool."""

    phrases: frozenset[str]
    name: frozenset[str]
    words: frozenset[str]
    trigrams: frozenset[str]

    def score(self, words: list[str], trigrams: frozenset[str]) -> float:
        """A whole phrase counts most, then words of the name, of the description, then likeness."""
        asked = set(words)
        likeness = len(trigrams & self.trigrams) / (len(trigrams) + len(self.trigrams))
        whole = 100.0 * (" ".join(words) in self.phrases)
        return whole + 3.0 * len(asked & self.name) + 1.0 * len(asked & self.words) + likeness


# --- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Spec:
    """One row: the tool's documentation, what it does, and other words that find it."""

    name: str
    description: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    act: Act
    synonyms: tuple[str, ...] = ()


_SPECS = (
    _Spec(
        "GetToken",
        "Log in and get a token.",
        {"username": "text: user name", "password": "text: password"},
        {"token": "text: access token"},
        _get_token,
        ("log in", "login"),
    ),
    _Spec(
        "SetAlarm",
        "Set an alarm.",
        {"token": _TOKEN, "time": _TIME},
        _STATUS,
        _write("alarms"),
        ("new alarm", "alarm clock"),
    ),
    _Spec(
        "CancelAlarm",
        "Cancel an alarm that was set.",
        {"token": _TOKEN, "time": _TIME},
        _STATUS,
        _cancel_alarm,
        ("remove alarm", "delete alarm"),
    ),
    _Spec(
        "SaveReminder",
        "Save a reminder for later.",
        {"token": _TOKEN, "text": "text: what to do", "time": _TIME},
        _STATUS,
        _write("reminders"),
        ("remind me", "new reminder"),
    ),
    _Spec(
        "PlanMeeting",
        "Plan a meeting with people.",
        {
            "token": _TOKEN,
            "title": "text: topic",
            "start": _TIME,
            "minutes": "count: length",
            "people": "names: who comes",
        },
        _STATUS,
        _write("meetings"),
        ("schedule meeting", "new meeting"),
    ),
    _Spec(
        "MoveMeeting",
        "Move a meeting to another time.",
        {"token": _TOKEN, "title": "text: topic", "start": _TIME},
        _STATUS,
        _move_meeting,
        ("reschedule meeting", "shift meeting"),
    ),
    _Spec(
        "ReadBalance",
        "Read the balance of the account.",
        {"token": _TOKEN},
        {"balance": "number: money left"},
        _read_balance,
        ("account balance", "money left"),
    ),
    _Spec(
        "SendMoney",
        "Send money to someone.",
        {"token": _TOKEN, "to": "text: receiver", "amount": "number: sum"},
        _STATUS,
        _send_money,
        ("transfer money", "pay someone"),
    ),
    _Spec(
        "ChangePassword",
        "Change the password of the account.",
        {"token": _TOKEN, "new_password": "text: new password"},
        _STATUS,
        _change_password,
        ("new password", "replace password"),
    ),
    _Spec(
        "OrderMeal",
        "Order a meal.",
        {"token": _TOKEN, "dish": "text: dish", "portions": "count: how many"},
        _STATUS,
        _write("orders"),
        ("order food", "food delivery"),
    ),
    _Spec(
        "BookRoom",
        "Book a hotel room.",
        {
            "token": _TOKEN,
            "hotel": "text: hotel",
            "check_in": _DATE,
            "nights": "count: nights",
            "breakfast": "flag: with breakfast",
        },
        _STATUS,
        _write("bookings", ("hotel", "hotels", "hotel")),
        ("reserve room", "hotel booking"),
    ),
    _Spec(
        "RentBike",
        "Rent a bike at a station.",
        {
            "token": _TOKEN,
            "station": "text: station",
            "hours": "count: hours",
            "helmet": "flag: with helmet",
        },
        _STATUS,
        _write("rentals"),
        ("hire bike", "bike rental"),
    ),
    _Spec(
        "BorrowBook",
        "Borrow a book by its id.",
        {"token": _TOKEN, "book_id": "text: id", "days": "count: days"},
        _STATUS,
        _write("loans", ("book_id", "books", "book_id")),
        ("book loan", "lend book"),
    ),
    _Spec(
        "GetWeather",
        "Get the weather of a day.",
        {"city": "text: city", "date": _DATE},
        {"sky": "text: sky", "degrees": "count: Celsius"},
        _read("weather", "city", "date"),
        ("weather forecast", "weather"),
    ),
    _Spec(
        "TrackParcel",
        "Track a parcel by its code.",
        {"code": "text: parcel code"},
        {"place": "text: where it is", "arrives": "date: YYYY-MM-DD"},
        _read("parcels", "code"),
        ("parcel status", "where is parcel"),
    ),
    _Spec(
        "FindSong",
        "Find the track id of a song.",
        {"title": "text: title"},
        {"track_id": "text: id"},
        _read("songs", "title"),
        ("search song", "song search"),
    ),
    _Spec(
        "StartSong",
        "Play a track.",
        {"track_id": "text: id", "volume": "count: 1 to 100"},
        _STATUS,
        _write("played", ("track_id", "songs", "track_id")),
        ("play song", "play track"),
    ),
    _Spec(
        "ConvertMoney",
        "Convert money between currencies.",
        {"amount": "number: sum", "source": "text: from code", "target": "text: to code"},
        {"result": "number: sum"},
        _convert_money,
        ("exchange rate", "currency exchange"),
    ),
    _Spec(
        "FindHotel",
        "Find a hotel below a price.",
        {"city": "text: city", "max_price": "number: price limit"},
        {"hotel": "text: name", "price": "number: price"},
        _find_hotel,
        ("search hotel", "cheap hotel"),
    ),
    _Spec(
        "LookUpContact",
        "Look up the phone of a person.",
        {"name": "text: full name"},
        {"phone": "text: phone"},
        _read("contacts", "name"),
        ("phone number", "find contact"),
    ),
    _Spec(
        "SendText",
        "Send a text to a phone.",
        {"phone": "text: phone", "text": "text: words"},
        _STATUS,
        _write("texts"),
        ("text message", "send message"),
    ),
    _Spec(
        "SwitchLamp",
        "Switch a lamp on or off.",
        {"lamp": "text: lamp", "on": "flag: on or off"},
        _STATUS,
        _write("lamps"),
        ("lamp switch", "light switch"),
    ),
    _Spec(
        "SetHeating",
        "Set the heating of a room.",
        {"room": "text: room", "degrees": "number: Celsius"},
        _STATUS,
        _write("heating"),
        ("room temperature", "warm room"),
    ),
    _Spec(
        "FindTrain",
        "Find a train between cities.",
        {"origin": "text: from city", "target": "text: to city", "date": _DATE},
        {"train": "text: train", "leaves": "text: HH:MM"},
        _read("trains", "origin", "target", "date"),
        ("train connection", "train times"),
    ),
    _Spec(
        "ReserveSeat",
        "Reserve seats on a train.",
        {"train": "text: train", "seats": "count: how many"},
        _STATUS,
        _write("seats", ("train", "trains", "train")),
        ("train seat", "seat reservation"),
    ),
    _Spec(
        "FindBook",
        "Find the id of a book.",
        {"title": "text: title"},
        {"book_id": "text: id"},
        _read("books", "title"),
        ("search book", "library search"),
    ),
    _Spec(
        "SplitBill",
        "Split a bill between people.",
        {"amount": "number: sum", "people": "names: who pays"},
        {"share": "number: each one's part"},
        _split_bill,
        ("share bill", "divide bill"),
    ),
    _Spec(
        "ToolSearch",
        "Find a tool by keywords.",
        {"keywords": "text: what it does"},
        {"documentation": "text: the tool found"},
        _search,
    ),
)


def _documented(fields: dict[str, str]) -> dict[str, Any]:
    """The fields of a row in API-Bank's shape."""
    parts = {name: field.split(": ", 1) for name, field in fields.items()}
    return {name: {"type": _KINDS[kind].word, "description": text} for name, (kind, text) in parts.items()}


def _schema(fields: dict[str, str]) -> dict[str, Any]:
    """The fields of a row as a JSON Schema."""
    parts = {name: field.split(": ", 1) for name, field in fields.items()}
    return {
        "type": "object",
        "properties": {n: {**_KINDS[kind].schema, "description": text} for n, (kind, text) in parts.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _tool(spec: _Spec) -> Tool:
    documentation: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        "input_parameters": _documented(spec.inputs),
        "output_parameters": _documented(spec.outputs),
    }
    return Tool(
        name=spec.name,
        description=spec.description,
        parameters=_schema(spec.inputs),
        meta={"documentation": documentation},
    )


def _function(spec: _Spec) -> ToolFunction:
    """The row's act behind the checks of its arguments; a token becomes the user it belongs to."""
    checks = {name: _KINDS[field.split(": ", 1)[0]].check for name, field in spec.inputs.items()}

    def run(world: World, **arguments: Any) -> Any:
        checked = {name: checks[name](name, value) for name, value in arguments.items()}
        if spec.name in TOKEN_TOOLS:
            user, _ = _account(world.state, checked.pop("token"))
            checked = {"user": user, **checked}
        return spec.act(world.state, checked)

    return run


def _entry(spec: _Spec) -> _Entry:
    name = _words(spec.name)
    described = _words(spec.description) + [word for text in spec.synonyms for word in _words(text)]
    phrases = [" ".join(name), "".join(name), *spec.synonyms]
    return _Entry(frozenset(phrases), frozenset(name), frozenset(described), _trigrams(name + described))


TOOLS: dict[str, Tool] = {spec.name: _tool(spec) for spec in _SPECS}
"""Name to tool; the same instances in every task."""

TOKEN_TOOLS: frozenset[str] = frozenset(spec.name for spec in _SPECS if "token" in spec.inputs)
"""Names of the tools that need a token; use it for membership only, its order is not stable."""

SEARCH_KEYWORDS: dict[str, tuple[str, ...]] = {
    spec.name: (" ".join(_words(spec.name)), spec.name, *spec.synonyms) for spec in _SPECS if spec.name != "ToolSearch"
}
"""Tool name to the keywords that are accepted for it, the reference (the name in words) first."""

FUNCTIONS: dict[str, ToolFunction] = {spec.name: _function(spec) for spec in _SPECS}
"""Tool name to the function that runs it."""

_INDEX = {spec.name: _entry(spec) for spec in _SPECS if spec.name != "ToolSearch"}


def starter_backend() -> PythonBackend:
    """The backend that runs the starter tools, over each task's ``initial_state``."""
    return PythonBackend(FUNCTIONS)
