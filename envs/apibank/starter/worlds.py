"""The small worlds of the starter tasks: pools of entities, drawn so that splits share no pair.

A pair is (template, entity): a stable hash says which split it belongs to, and ``Draw`` fills a template
only with entities whose pair belongs to its own split. Closed vocabularies (small counts, currencies, yes
and no) are no entities: both splits use all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from random import Random
from typing import Any

from callgym.envs.apibank.starter import pools

__all__ = ["RECORDS", "SLOTS", "SPLITS", "Draw", "Said", "User", "make_user", "split_of"]

SPLITS = ("train", "test")
_TEST_SHARE = 0.25
_TRIES = 2_000

_SKIES = ("clear", "cloudy", "rain", "snow", "fog", "storm")
_CURRENCIES = ("EUR", "USD", "GBP", "CHF", "SEK", "NOK", "PLN", "JPY")
_TOKEN_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


def split_of(template: str, key: str) -> str:
    """The split that the pair of a template and an entity belongs to; the same on every machine."""
    digest = hashlib.blake2b(f"{template}\x1f{key}".encode(), digest_size=4).digest()
    return "test" if int.from_bytes(digest, "big") < _TEST_SHARE * 2**32 else "train"


@dataclass(frozen=True)
class Said:
    """A value as a user says it."""

    text: str
    value: Any
    """What a call carries for it."""
    keys: tuple[str, ...] = ()
    """The entities in it; none for a value from a closed vocabulary."""


@dataclass(frozen=True)
class User:
    """Someone with an account."""

    name: str
    password: str
    token: str
    balance: float

    def account(self) -> dict[str, Any]:
        """The user's row in the table of accounts."""
        return {"password": self.password, "token": self.token, "balance": self.balance}


def make_user(name: str) -> User:
    """The user of that name; password, token and balance follow from it."""
    rng = Random(f"user-{name}")
    token = "".join(rng.choice(_TOKEN_LETTERS) for _ in range(8))
    return User(name, _password(rng), token, rng.randint(500_000, 999_999) / 100)


@dataclass
class Draw:
    """Everything random in one task, and the world that it builds."""

    rng: Random
    split: str
    today: date
    state: dict[str, Any] = field(default_factory=dict)
    """The slice of the world that the task needs."""
    pairs: list[str] = field(default_factory=list)
    """Every (template, entity) pair in use, as ``template=entity``."""

    def one(self, items: tuple[Any, ...]) -> Any:
        """One of ``items``."""
        return items[int(self.rng.random() * len(items))]

    def chance(self, share: float) -> bool:
        """True in that share of cases."""
        return self.rng.random() < share

    def fill(self, template: str, text: str, slots: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Fill the placeholders of ``text``.

        Args:
            template: The template's id.
            text: Its words, with the names of arguments in braces.
            slots: Argument name to kind of value.

        Returns:
            The text, and the values of the arguments that it names.
        """
        said: dict[str, Said] = {}
        for name, kind in slots.items():
            if f"{{{name}}}" in text:
                said[name] = self._said(template, kind, [other.value for other in said.values()])
        return text.format_map({n: s.text for n, s in said.items()}), {n: s.value for n, s in said.items()}

    def user(self, template: str) -> User:
        """A user whose pair with ``template`` belongs to the split; the account is put into the world."""
        said = self._said(template, "username", [])
        user = make_user(said.value)
        self.state.setdefault("accounts", {})[user.name] = user.account()
        return user

    def _said(self, template: str, kind: str, taken: list[Any]) -> Said:
        make = SLOTS[kind]
        for _ in range(_TRIES):
            said = make(self, template)
            if said.value not in taken and all(self.fits(template, key) for key in said.keys):
                self.pairs.extend(f"{template}={key}" for key in said.keys)
                return said
        raise RuntimeError(f"no {kind} for template {template!r} in split {self.split!r}; its pool is too small")

    def fits(self, template: str, key: str) -> bool:
        """Whether the pair belongs to this draw's split."""
        return split_of(template, key) == self.split


Slot = Callable[[Draw, str], Said]


def _pair(first: Sequence[str], second: Sequence[str], joint: str = " ", prefix: str = "") -> Slot:
    """Values of two words, one from each list."""

    def slot(draw: Draw, template: str) -> Said:
        text = f"{prefix}{draw.rng.choice(first)}{joint}{draw.rng.choice(second)}".replace("-", " ")
        return Said(text, text, (text,))

    return slot


def _word(words: Sequence[str]) -> Slot:
    def slot(draw: Draw, template: str) -> Said:
        text = draw.rng.choice(words)
        return Said(text, text, (text,))

    return slot


def _code(make: Callable[[Random], str]) -> Slot:
    def slot(draw: Draw, template: str) -> Said:
        text = make(draw.rng)
        return Said(text, text, (text,))

    return slot


def _whole(low: int, high: int, step: int = 1) -> Slot:
    """Counts: a closed vocabulary."""

    def slot(draw: Draw, template: str) -> Said:
        value = draw.rng.randrange(low, high + 1, step)
        return Said(str(value), value)

    return slot


def _sum(low: int, high: int) -> Slot:
    """Sums of money and the like, every second one with a half."""

    def slot(draw: Draw, template: str) -> Said:
        whole = draw.rng.randint(low, high)
        value = whole + 0.5 if draw.chance(0.5) else whole
        return Said(str(value), value, (str(value),))

    return slot


def _flag(yes: str, no: str) -> Slot:
    def slot(draw: Draw, template: str) -> Said:
        return Said(yes, True) if draw.chance(0.5) else Said(no, False)

    return slot


def _currency(draw: Draw, template: str) -> Said:
    code = draw.one(_CURRENCIES)
    return Said(code, code)


def _people(draw: Draw, template: str) -> Said:
    fitting = [name for name in pools.FIRST if draw.fits(template, name)]
    names = draw.rng.sample(fitting, draw.rng.randint(2, 3))
    return Said(f"{', '.join(names[:-1])} and {names[-1]}", names, tuple(names))


def _date(draw: Draw, template: str) -> Said:
    day = _later_day(draw)
    text = day.isoformat() if draw.chance(0.5) else f"{pools.MONTHS[day.month - 1]} {day.day}"
    return Said(text, day.isoformat(), (f"{day:%m-%d}",))


def _time(draw: Draw, template: str) -> Said:
    day, hour, minute = _later_day(draw), draw.rng.randint(6, 22), draw.one((0, 15, 30, 45))
    value = str(datetime(day.year, day.month, day.day, hour, minute))
    if draw.chance(0.5):
        return Said(value, value, (value[5:],))
    clock = f"{(hour - 1) % 12 + 1}" + (f":{minute}" if minute else "") + (" am" if hour < 12 else " pm")
    return Said(f"{pools.MONTHS[day.month - 1]} {day.day} at {clock}", value, (value[5:],))


def _later_day(draw: Draw) -> date:
    """A day after today, in the same year, which the system message tells."""
    return date(draw.today.year, draw.rng.randint(draw.today.month + 1, 12), draw.rng.randint(1, 28))


def _digits(count: int) -> Callable[[Random], str]:
    return lambda rng: str(rng.randint(10 ** (count - 1), 10**count - 1))


def _prefixed(prefix: str, count: int) -> Callable[[Random], str]:
    digits = _digits(count)
    return lambda rng: prefix + digits(rng)


def _password(rng: Random) -> str:
    return rng.choice(pools.SYLLABLES) + rng.choice(pools.SYLLABLES) + str(rng.randint(10, 99))


SLOTS: dict[str, Slot] = {
    "username": _code(lambda rng: f"{rng.choice(pools.FIRST).lower()}{rng.randint(10, 99)}"),
    "password": _code(_password),
    "time": _time,
    "date": _date,
    "errand": _pair(pools.ERRAND_A, pools.ERRAND_B),
    "news": _pair(pools.NEWS_A, pools.NEWS_B, " is "),
    "title": _pair(pools.TITLE_A, pools.TITLE_B),
    "name": _word(pools.FIRST),
    "person": _pair(pools.FIRST, pools.LAST),
    "people": _people,
    "city": _word(pools.CITIES),
    "dish": _pair(pools.DISH_A, pools.DISH_B),
    "hotel": _pair([colour.title() for colour in pools.COLOURS], pools.HOTEL_B),
    "street": _pair(pools.STREET_A, pools.STREET_B),
    "song": _pair(pools.SONG_A, pools.SONG_B),
    "book": _pair(pools.SONG_A, pools.BOOK_B),
    "room": _pair(pools.ROOM_A, pools.ROOM_B),
    "lamp": _pair(pools.COLOURS, [f"{place}-lamp" for place in pools.LAMP_B]),
    "parcel": _code(_prefixed("PK", 5)),
    "track": _code(_prefixed("T", 4)),
    "train": _code(_prefixed("R", 3)),
    "book_id": _code(_prefixed("B", 4)),
    "phone": _code(_prefixed("555-", 4)),
    "amount": _sum(5, 400),
    "price": _sum(50, 300),
    "degrees": _sum(12, 27),
    "currency": _currency,
    "few": _whole(2, 9),
    "days": _whole(2, 30),
    "minutes": _whole(15, 120, 15),
    "volume": _whole(5, 95, 5),
    "breakfast": _flag("with breakfast", "without breakfast"),
    "helmet": _flag("with a helmet", "without a helmet"),
    "on": _flag("on", "off"),
}
"""Kind of value to the function that draws one as a user says it."""

Record = Callable[[Draw, dict[str, Any], str], None]


def _known(table: str, keys: tuple[str, ...], make: Callable[[Draw], dict[str, Any]]) -> Record:
    """Put what a look-up will find into the world."""

    def record(draw: Draw, arguments: dict[str, Any], user: str) -> None:
        draw.state.setdefault(table, {})["/".join(arguments[key] for key in keys)] = make(draw)

    return record


def _referred(table: str, argument: str) -> Record:
    """Put the thing that an argument refers to into the world."""

    def record(draw: Draw, arguments: dict[str, Any], user: str) -> None:
        value = arguments[argument]
        draw.state.setdefault(table, {})[value] = {argument: value}

    return record


def _entered(table: str, argument: str, make: Callable[[Draw], dict[str, Any]]) -> Record:
    """Put an entry of the user's own, which the tool will change, into the world."""

    def record(draw: Draw, arguments: dict[str, Any], user: str) -> None:
        entry = {"user": user, argument: arguments[argument], **make(draw)}
        draw.state.setdefault(table, []).append(entry)

    return record


def _rate(draw: Draw, arguments: dict[str, Any], user: str) -> None:
    pair = f"{arguments['source']}/{arguments['target']}"
    draw.state.setdefault("rates", {})[pair] = draw.rng.randint(20, 300) / 100


def _hotel(draw: Draw, arguments: dict[str, Any], user: str) -> None:
    price = draw.rng.randint(40, int(arguments["max_price"]))
    name = SLOTS["hotel"](draw, "").value
    draw.state.setdefault("hotels", {})[arguments["city"]] = {"hotel": name, "price": price}


def _some(kind: str, field_name: str) -> Callable[[Draw], dict[str, Any]]:
    return lambda draw: {field_name: SLOTS[kind](draw, "").value}


RECORDS: dict[str, Record] = {
    "CancelAlarm": _entered("alarms", "time", lambda draw: {}),
    "MoveMeeting": _entered("meetings", "title", _some("time", "start")),
    "BookRoom": _referred("hotels", "hotel"),
    "BorrowBook": _referred("books", "book_id"),
    "StartSong": _referred("songs", "track_id"),
    "ReserveSeat": _referred("trains", "train"),
    "GetWeather": _known(
        "weather",
        ("city", "date"),
        lambda draw: {"sky": draw.one(_SKIES), "degrees": draw.rng.randint(-5, 32)},
    ),
    "TrackParcel": _known(
        "parcels",
        ("code",),
        lambda draw: {"place": draw.rng.choice(pools.CITIES), "arrives": _later_day(draw).isoformat()},
    ),
    "FindSong": _known("songs", ("title",), _some("track", "track_id")),
    "FindBook": _known("books", ("title",), _some("book_id", "book_id")),
    "FindTrain": _known(
        "trains",
        ("origin", "target", "date"),
        lambda draw: {
            "train": SLOTS["train"](draw, "").value,
            "leaves": f"{draw.rng.randint(6, 21):02d}:{draw.rng.randint(10, 59)}",
        },
    ),
    "LookUpContact": _known("contacts", ("name",), _some("phone", "phone")),
    "ConvertMoney": _rate,
    "FindHotel": _hotel,
}
"""Tool name to what must be in the world for a call of it to succeed; absent where nothing must be.
Each takes the draw, the call's arguments and the user's name ('' where there is none)."""
