"""What users say: kinds of values, drawn so that the splits share no pair of a sentence and an entity.

Everything takes place in 2023, which the system message tells; GetToday always answers 31 March 2023.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, TypeVar

from callgym.envs.apibank.simulator.tables import starter_tables
from callgym.envs.apibank.starter import pools
from callgym.envs.apibank.starter.live.forms import Slot
from callgym.envs.apibank.starter.worlds import split_of

__all__ = ["DOCTORS", "KINDS", "TODAY", "Draw", "NothingFits", "Said", "moment", "token"]

T = TypeVar("T")

TODAY = date(2023, 3, 31)
_DAYS = 260
"""How many days after today things can be planned for."""
_TRIES = 120
_RELATIVE = {
    0: "today",
    1: "tomorrow",
    2: "the day after tomorrow",
    7: "one week from today",
    14: "two weeks from today",
}
_LATER = (1, 1, 2, 7, 14)
_ON_RELATIVE = re.compile(rf"\bon (?={'|'.join(_RELATIVE.values())})", re.IGNORECASE)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_TOKEN_LENGTH = 18


class NothingFits(Exception):
    """No value of a kind belongs to the split for a sentence; the task is drawn anew."""


@dataclass(frozen=True)
class Said:
    """Values as a user says them."""

    texts: Mapping[str, str]
    """Placeholder to words."""
    values: Mapping[str, Any]
    """Argument to what a call carries."""
    keys: tuple[str, ...] = ()
    """The entities in it; none for a value from a closed vocabulary."""


@dataclass
class User:
    """The one who speaks, where an account is needed."""

    name: str
    password: str
    token: str


@dataclass
class Draw:
    """Everything random in one task, and the tables that it sets up."""

    rng: Random
    split: str
    state: dict[str, Any] = field(default_factory=dict)
    """Tables that replace the shared ones."""
    pairs: list[str] = field(default_factory=list)
    """Every (sentence, entity) pair in use, as ``sentence=entity``."""
    user: User | None = None
    relative: bool = False
    """Whether days are told as seen from today."""

    def one(self, items: Sequence[T]) -> T:
        """One of ``items``."""
        return items[int(self.rng.random() * len(items))]

    def chance(self, share: float) -> bool:
        """True in that share of cases."""
        return self.rng.random() < share

    def fits(self, template: str, key: str) -> bool:
        """Whether the pair belongs to this draw's split."""
        return split_of(template, key) == self.split

    def sentence(self, template: str, texts: Sequence[str]) -> tuple[str, str]:
        """One of ``texts`` and its id."""
        i = int(self.rng.random() * len(texts))
        return texts[i], f"{template}/{i}"

    def fill(self, template: str, text: str, slots: Sequence[Slot]) -> tuple[str, dict[str, str], dict[str, Any]]:
        """Fill the placeholders of a sentence.

        Args:
            template: The sentence's id.
            text: The sentence.
            slots: Those that it may say.

        Returns:
            The sentence, the words in it by placeholder, and the values by argument.

        Raises:
            NothingFits: No value belongs to the split.
        """
        texts: dict[str, str] = {}
        values: dict[str, Any] = {}
        for slot in slots:
            if slot.is_in(text):
                said = self.said(template, slot, list(values.values()))
                texts.update(said.texts)
                values.update(said.values)
        filled = text.format_map(texts)
        return _ON_RELATIVE.sub("", filled) if self.relative else filled, texts, values

    def said(self, template: str, slot: Slot, taken: Sequence[Any] = ()) -> Said:
        """A value of a slot whose pairs belong to the split, none of ``taken``."""
        make = KINDS[slot.kind]
        for _ in range(_TRIES):
            said = make(self, template, slot.names)
            fresh = len(slot.names) > 1 or all(value not in taken for value in said.values.values())
            if fresh and all(self.fits(template, key) for key in said.keys):
                self.pairs.extend(f"{template}={key}" for key in said.keys)
                return said
        raise NothingFits(f"{slot.kind} for {template!r} in {self.split!r}")


Kind = Callable[[Draw, str, tuple[str, ...]], Said]


def token(rng: Random) -> str:
    """A token as RegisterUser makes them."""
    return "".join(rng.choices(_LETTERS, k=_TOKEN_LENGTH))


def moment(at: datetime) -> str:
    """A time as the tools take it."""
    return at.isoformat(sep=" ")


def _plain(make: Callable[[Draw], str]) -> Kind:
    """Words that are the value and the entity."""

    def kind(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
        text = make(draw)
        return Said({names[0]: text}, {names[0]: text}, (text,))

    return kind


def _pair(first: Sequence[str], second: Sequence[str], joint: str = " ") -> Kind:
    return _plain(lambda draw: f"{draw.one(first)}{joint}{draw.one(second)}".replace("-", " "))


def _joint(rows: Sequence[tuple[str, ...]]) -> Kind:
    """Values that belong together, a row of a table; the first is the entity."""

    def kind(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
        row = dict(zip(names, draw.one(rows), strict=True))
        return Said(row, row, tuple(row.values())[:1])

    return kind


# Days and times.


def _spoken_day(draw: Draw, day: date) -> str:
    if draw.relative:
        days = (day - TODAY).days
        return _RELATIVE[days]
    if draw.chance(0.4):
        return day.isoformat()
    return f"{pools.MONTHS[day.month - 1]} {day.day}" + (", 2023" if draw.chance(0.3) else "")


def _clock(at: datetime) -> str:
    minutes = f":{at.minute:02d}" if at.minute else ""
    return f"{(at.hour - 1) % 12 + 1}{minutes} {'am' if at.hour < 12 else 'pm'}"


def _spoken(draw: Draw, at: datetime) -> str:
    day = _spoken_day(draw, at.date())
    return moment(at) if day == at.date().isoformat() else f"{day} at {_clock(at)}"


def _day(draw: Draw) -> date:
    return TODAY + timedelta(days=draw.one(_LATER) if draw.relative else draw.rng.randint(1, _DAYS))


def _at(draw: Draw, day: date) -> datetime:
    return datetime(day.year, day.month, day.day, draw.rng.randint(6, 21), draw.one((0, 10, 15, 20, 30, 40, 45)))


def _key(at: date) -> str:
    """A year is no part of the entity."""
    return at.isoformat()[5:]


def _time(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    at = _at(draw, _day(draw))
    return Said({names[0]: _spoken(draw, at)}, {names[0]: moment(at)}, (_key(at),))


def _past(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    at = _at(draw, TODAY - timedelta(days=draw.rng.randint(1, 80)))
    return Said({names[0]: _spoken(draw, at)}, {names[0]: moment(at)}, (_key(at),))


def _past_days(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    end = _at(draw, TODAY - timedelta(days=draw.rng.randint(1, 40)))
    start = end - timedelta(days=draw.rng.randint(2, 30))
    texts = dict(zip(names, (_spoken(draw, start), _spoken(draw, end)), strict=True))
    return Said(texts, dict(zip(names, (moment(start), moment(end)), strict=True)), (_key(start),))


def _span(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    start = _at(draw, _day(draw))
    end = start + timedelta(minutes=draw.one((30, 45, 60, 90)))
    day = _spoken_day(draw, start.date())
    if day == start.date().isoformat():
        text = f"from {moment(start)} to {moment(end)}"
    else:
        text = f"{'' if draw.relative else 'on '}{day} from {_clock(start)} to {_clock(end)}"
    return Said({"span": text}, dict(zip(names, (moment(start), moment(end)), strict=True)), (_key(start),))


def _date(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    day = _day(draw)
    return Said({names[0]: _spoken_day(draw, day)}, {names[0]: day.isoformat()}, (_key(day),))


def _stay(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    days = [_day(draw)]
    days.append(days[0] + timedelta(days=draw.rng.randint(1, 9)))
    texts = dict(zip(names, (_spoken_day(draw, day) for day in days), strict=True))
    return Said(texts, dict(zip(names, (day.isoformat() for day in days), strict=True)), (_key(days[0]),))


def _day_of_year(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    key = f"{TODAY:%m-%d}" if draw.relative else draw.one(_HISTORY_DAYS)
    month, day = map(int, key.split("-"))
    text = "this day" if draw.relative else f"{pools.MONTHS[month - 1]} {day}"
    return Said({names[0]: text}, {names[0]: key}, () if draw.relative else (key,))


def _trading_day(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    day = TODAY if draw.relative else date.fromisoformat(draw.one(_TRADING_DAYS))
    return Said({names[0]: _spoken_day(draw, day)}, {names[0]: day.isoformat()}, () if draw.relative else (_key(day),))


# People and their accounts.


def _user_name(draw: Draw) -> str:
    return f"{draw.one(pools.FIRST).lower()}{draw.one(('', '_'))}{draw.rng.randint(10, 999)}"


def _secret(draw: Draw) -> str:
    return (
        draw.one(pools.SYLLABLES)
        + draw.one(pools.SYLLABLES)
        + draw.one(pools.SYLLABLES)
        + str(draw.rng.randint(10, 99))
    )


def _password(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    text = _secret(draw)
    return Said({names[0]: text}, {names[0]: text}, (text,))


def _own_password(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    text = draw.user.password if draw.user else _secret(draw)
    return Said({names[0]: text}, {names[0]: text})


def _login(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    row = dict(zip(names, (_user_name(draw), _secret(draw)), strict=True))
    return Said(row, row, (row[names[0]],))


def _lost_login(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    name = _user_name(draw)
    row = dict(zip(names, (name, f"{name.replace('_', '.')}@example.org"), strict=True))
    return Said(row, row, (name,))


def _address(draw: Draw) -> str:
    return f"{draw.one(pools.FIRST)}.{draw.one(pools.LAST)}@{draw.one(_HOSTS)}".lower()


def _person(draw: Draw) -> str:
    return f"{draw.one(pools.FIRST)} {draw.one(pools.LAST)}"


def _people(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    fitting = [name for name in _MANY if draw.fits(template, name)]
    if len(fitting) < 3:
        raise NothingFits(f"people for {template!r}")
    people = draw.rng.sample(fitting, draw.rng.randint(2, 3))
    return Said({names[0]: f"{', '.join(people[:-1])} and {people[-1]}"}, {names[0]: people}, tuple(people))


def _health_id(draw: Draw) -> str:
    return draw.one(pools.FIRST)[0] + draw.one(pools.LAST)[0] + str(draw.rng.randint(100, 999))


def _measure(draw: Draw, low: int, high: int, part: int) -> float:
    number = draw.rng.randint(low, high)
    return number if part == 1 else number / part


def _measurements(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    chosen = draw.rng.sample(_MEASURED, draw.rng.randint(2, 3))
    rows = [{"name": name, "value": _measure(draw, low, high, part)} for name, low, high, part in chosen]
    words = [f"{row['name']} {row['value']}" for row in rows]
    return Said({names[0]: f"{', '.join(words[:-1])} and {words[-1]}"}, {names[0]: rows}, (words[0],))


# Things.


def _party(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    adults, children = draw.rng.randint(1, 4), draw.rng.randint(0, 3)
    rooms = draw.rng.randint(max(1, (adults + 1) // 2), 3)
    words = (
        f"{rooms} {'room' if rooms == 1 else 'rooms'} ({adults} {'adult' if adults == 1 else 'adults'}, "
        f"{children} {'child' if children == 1 else 'children'})"
    )
    return Said({"party": words}, dict(zip(names, (rooms, adults, children), strict=True)))


def _devices(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    chosen = draw.rng.sample(_DEVICES, draw.rng.randint(2, 3))
    rows = [{"name": name, "description": f"{kind} {draw.one(_PLACES)}"} for name, kind in chosen]
    words = [f"the {row['name']} ({row['description']})" for row in rows]
    key = rows[0]["description"]
    return Said({names[0]: f"{', '.join(words[:-1])} and {words[-1]}"}, {names[0]: rows}, (key,))


def _on(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    on = draw.chance(0.5)
    return Said({names[0]: "on" if on else "off"}, {names[0]: on})


def _formula(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    a, b, c = (draw.rng.randint(2, 99) for _ in range(3))
    shapes = (f"{a}+{b}*{c}", f"({a}+{b})*{c}", f"{a * 10}-{b}*3", f"{a}*{b}-{c}", f"{a}*{b}*{c}", f"({a}+{b}+{c})*2")
    text = draw.one((*shapes, f"{a * b}/{b}", f"{a * 10}/4+{c}"))
    return Said({names[0]: text}, {names[0]: text}, (text,))


def _phrase(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    row = draw.one(_PHRASES)
    said = dict(zip(names, (row["src"], _LANGUAGES[row["dest"]].title()), strict=True))
    return Said(said, said, (row["src"],))


# At level 3.


def _towns(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    first = KINDS["town"](draw, template, names[:1]).values[names[0]]
    second = KINDS["town"](draw, template, names[:1]).values[names[0]]
    row = dict(zip(names, (first, second), strict=True))
    return Said(row, row, (first, second) if first != second else ("", ""))


def _distance(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    metres = draw.rng.randrange(200, 2_001, 50)
    return Said({names[0]: str(metres)}, {names[0]: metres})


def _user_number(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    number = draw.rng.randint(11, 999)
    return Said({names[0]: str(number)}, {names[0]: number}, (str(number),))


def _person_login(draw: Draw, template: str, names: tuple[str, ...]) -> Said:
    row = dict(zip(names, (_person(draw), _secret(draw)), strict=True))
    return Said(row, row, (row[names[0]],))


def _home(draw: Draw) -> str:
    return f"{draw.one(pools.STREET_A)} {draw.one(pools.STREET_B)} {draw.rng.randint(1, 99)}, {draw.one(pools.CITIES)}"


def _digits(count: int) -> Callable[[Draw], str]:
    return lambda draw: str(draw.rng.randint(10 ** (count - 1), 10**count - 1))


_BASE = starter_tables().base
_HISTORY_DAYS = tuple(_BASE["History"])
_TRADING_DAYS = tuple(next(iter(_BASE["Stock"].values())))
_PHRASES = tuple(_BASE["Translate"])
_LANGUAGES: Mapping[str, str] = _BASE["languages"]
_DOCUMENTS = tuple((url, pair["question"]) for url, pairs in _BASE["QuestionAnswering"].items() for pair in pairs)

_MANY = tuple(f"{first} {pools.LAST[(7 * n) % len(pools.LAST)]}" for n, first in enumerate(pools.FIRST))
DOCTORS = tuple(f"Dr. {name}" for name in pools.LAST)
_HOSTS = ("example.org", "example.com", "example.net", "post.org", "letters.net")
_MEASURED = (("weight", 480, 990, 10), ("pulse", 52, 110, 1), ("temperature", 358, 392, 10), ("oxygen", 90, 99, 1),
             ("glucose", 70, 160, 1))  # fmt: skip
"""What is measured, least and greatest value, and into how many parts one is divided."""
_DEVICES = tuple(
    (name, name.split()[-1].capitalize())
    for name in (
        "kettle", "desk lamp", "floor lamp", "radiator", "ceiling fan", "coffee machine", "record player",
        "garden pump", "porch light", "air cleaner", "oven", "heating mat", "window blinds", "television", "doorbell",
        "aquarium pump", "night light", "electric blanket", "humidifier", "toaster",
    )
)  # fmt: skip
_PLACES = (
    "by the window", "next to the stairs", "in the hall", "over the sink", "beside the bed", "on the balcony",
    "behind the sofa", "in the cellar", "under the roof", "above the desk", "at the back door", "in the guest room",
    "on the left shelf", "near the piano", "in the garage", "between the bookcases",
)  # fmt: skip
_SCENE_A = (
    "quiet", "early", "rainy", "festive", "lazy", "bright", "cosy", "busy", "frosty", "late", "green", "musical",
)  # fmt: skip
_SCENE_B = (
    "breakfast", "evening", "holiday", "dinner", "reading hour", "homecoming", "weekend", "nap", "workout", "party",
)  # fmt: skip
_PLACE_B = ("Library", "Baths", "Museum", "Bakery", "Theatre", "Cafe", "Hall", "Pharmacy", "Clinic", "Gallery", "Gym")
_ROOM_B = ("Room", "Hall", "Studio", "Corner", "Lounge", "Loft")
_TOPICS = (
    "night trains", "island ferries", "sourdough bread", "heat pumps", "solar panels", "wind energy",
    "balcony tomatoes", "compost heap", "bulbs in autumn", "soups for cold evenings", "sharp knives", "sheet music",
    "first violin", "choirs", "packing for rain", "bees and weeds", "birds at a feeder", "return of the beaver",
    "stretching at a desk", "sleeping in summer", "walking after meals", "open source maps", "password managers",
    "robots", "telescopes", "meteor shower", "growing tomatoes", "storing energy", "small roofs",
    "night sky for children",
)  # fmt: skip
_HOTEL_A = (*(colour.title() for colour in pools.COLOURS), "Royal", "Alpine", "Little", "Grand", "Old")
_TOWN_A = (
    "Fern", "Alder", "Silver", "Otter", "Winter", "Maple", "Stone", "Heron", "Amber", "Willow", "Copper", "Raven",
)  # fmt: skip
_TOWN_B = ("haven", "brook", "wick", "moor", "ford", "gate", "dale", "minster", "mouth", "field", "bury", "combe")
_FIRM_A = (
    "Northlight", "Bluegate", "Harrow", "Kestrel", "Lindenau", "Marlow", "Pinefold", "Redwater", "Starling",
    "Tamarind",
)  # fmt: skip
_FIRM_B = (
    "Textiles", "Optics", "Foods", "Robotics", "Press", "Energy", "Shipping", "Gardens", "Instruments", "Bicycles",
)  # fmt: skip
_OCCUPATIONS = (
    "Archivist", "Baker", "Blacksmith", "Botanist", "Bricklayer", "Butcher", "Chemist", "Conductor", "Cook",
    "Courier", "Dentist", "Diver", "Editor", "Farmer", "Ferry Captain", "Firefighter", "Fisher", "Florist",
    "Forester", "Hairdresser", "Harbour Pilot", "Judge", "Librarian", "Locksmith", "Mechanic", "Miller", "Nurse",
    "Organ Builder", "Painter", "Pharmacist", "Piano Tuner", "Plumber", "Postman", "Potter", "Roofer", "Saddler",
    "Sculptor", "Shepherd", "Stage Manager", "Stonemason", "Tailor", "Teacher", "Tram Driver", "Translator", "Vet",
    "Weaver", "Welder", "Zookeeper",
)  # fmt: skip
_BANK_WORDS = ("savings", "holiday", "rent", "bicycle", "garden", "wedding", "studio", "reserve")

KINDS: dict[str, Kind] = {
    "time": _time,
    "past": _past,
    "past_days": _past_days,
    "span": _span,
    "day": _date,
    "stay": _stay,
    "day_of_year": _day_of_year,
    "trading_day": _trading_day,
    "new_name": _plain(_user_name),
    "password": _password,
    "own_password": _own_password,
    "login": _login,
    "lost_login": _lost_login,
    "someones_token": _plain(lambda draw: token(draw.rng)),
    "address": _plain(_address),
    "person": _plain(_person),
    "people": _people,
    "doctor": _plain(lambda draw: draw.one(DOCTORS)),
    "appointment": _plain(_digits(8)),
    "health_id": _plain(_health_id),
    "measurements": _measurements,
    "symptom": _plain(lambda draw: draw.one(tuple(_BASE["Symptom"]))),
    "errand": _pair(pools.ERRAND_A, pools.ERRAND_B),
    "place": _pair(pools.STREET_A, _PLACE_B),
    "topic": _pair(pools.TITLE_A, pools.TITLE_B),
    "room": _pair(_HOTEL_A, _ROOM_B),
    "hotel": _pair(_HOTEL_A, pools.HOTEL_B),
    "party": _party,
    "bank_account": _plain(lambda draw: f"{draw.one(_BANK_WORDS)}_{draw.rng.randint(100, 999)}"),
    "stock": _plain(lambda draw: draw.one(tuple(_BASE["Stock"]))),
    "formula": _formula,
    "device": _plain(lambda draw: draw.one(_DEVICES)[0]),
    "on": _on,
    "scene": _pair(_SCENE_A, _SCENE_B),
    "devices": _devices,
    "news": _pair(pools.NEWS_A, pools.NEWS_B, " is "),
    "song": _pair(pools.SONG_A, pools.SONG_B),
    "recording": _plain(lambda draw: draw.one(tuple(_BASE["SpeechRecognition"]))),
    "picture": _plain(lambda draw: draw.one(tuple(_BASE["ImageCaptioning"]))),
    "document": _joint(_DOCUMENTS),
    "article": _plain(lambda draw: draw.one(tuple(_BASE["Wiki"]))),
    "word": _plain(lambda draw: draw.one(tuple(_BASE["Dictionary"]))),
    "topic_on_web": _plain(lambda draw: draw.one(_TOPICS)),
    "phrase": _phrase,
    "city": _plain(lambda draw: draw.one(pools.CITIES)),
    "dish": _pair(pools.DISH_A, pools.DISH_B),
    "home_room": _pair(pools.ROOM_A, pools.ROOM_B),
    "street": _pair(pools.STREET_A, pools.STREET_B),
    "book": _pair(pools.SONG_A, pools.BOOK_B),
    "name": _plain(lambda draw: draw.one(pools.FIRST)),
    "town": _pair(_TOWN_A, _TOWN_B, ""),
    "towns": _towns,
    "firm": _pair(_FIRM_A, _FIRM_B),
    "occupation": _plain(lambda draw: draw.one(_OCCUPATIONS)),
    "distance": _distance,
    "user_number": _user_number,
    "person_login": _person_login,
    "home": _plain(_home),
}
"""Kind to the function that draws what is said for given arguments."""
