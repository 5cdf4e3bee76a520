"""The padding of the starter set's long contexts: long answers in which one thing is to be found.

By the official names (``env_long_context.json.gz``), in words of our own and shorter. A question may ask for one
item of it, so every key, code, date and name in a table occurs there once.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from callgym.envs.bfcl.simulators.result_writer import ELLIPSIS

__all__ = ["DESKS", "HOLDERS", "SCANS", "SHELVES", "STATUS", "STEPS", "long_context"]

_FIRST = (
    "Ada", "Bruno", "Celia", "Dimitri", "Edda", "Fabio", "Greta", "Hugo", "Isolde", "Jasper", "Kirsten", "Ludo",
    "Mabel", "Niall", "Olive", "Pascal", "Roza", "Stig", "Tilda", "Viggo",
)  # fmt: skip
_LAST = (
    "Aldous", "Brink", "Corrigan", "Duarte", "Ekholm", "Fairley", "Galloway", "Hoekstra", "Iversen", "Jellicoe",
    "Kemper", "Lorimer", "Maddox", "Nyberg", "Orlov", "Pettigrew", "Rennard", "Sandoz", "Thackeray", "Wessel",
)  # fmt: skip
_GOODS = (
    "candle moulds", "rope ends", "brass hinges", "seed packets", "tuning forks", "map cases", "lamp wicks",
    "cork floats", "slate tiles", "felt pads", "glass beads", "sail needles", "copper rivets", "paper lanterns",
)  # fmt: skip
_SYSTEMS = (
    "Cabin filter", "Wiper blades", "Spare key", "Roof rail", "Tow hook", "Jack", "Dash camera", "Seat heating",
    "Rain sensor", "Mirror motor", "Horn", "Fuse box", "Window lift", "Boot liner", "Coolant", "Gearbox oil",
    "Steering oil", "Washer fluid", "Brake fluid", "Radio", "Navigation maps", "Airbag", "Belt tensioner", "Alarm",
)  # fmt: skip
_SHOPS = ("Hask and Sons", "Merrow Parts", "Tolland Garage", "The Spanner Barn", "Crane and Vetch", "Bright Bolt")
_SHAPES = ("cedar", "heron", "basalt", "clover", "falcon", "marble", "willow", "otter", "garnet", "thistle")
_TASKS = (
    "clean the lever's teeth with a dry brush", "check the cable for frayed strands", "oil the pivot sparingly",
    "turn the adjusting nut a quarter of a turn", "look at the lining's thickness", "test the lamp on the panel",
    "roll the car half a metre and brake", "note the number of clicks", "tighten the bracket by hand",
    "free the drum of dust", "compare both rear wheels", "release the lever slowly",
)  # fmt: skip
_PLACES_A = ("East", "West", "Upper", "Lower", "Old", "New", "Great", "Little", "Far", "Near", "Long", "Stony")
_PLACES_B = (
    "Barrow", "Cobham", "Denby", "Elmsett", "Farrow", "Gosling", "Hythe", "Ickford", "Kelby", "Lydd", "Marlow",
    "Oulton",
)  # fmt: skip
_SYLLABLES = "BDFGHJKLMNPRSTVWZ"
_FIGURES = 240
_PAYMENTS = 90
_START = datetime(2024, 1, 3, 8, 15, 20)

_AREAS = ("company_profile", "desk_notes", "price_bands", "calendar", "custody", "fees")
_BANDS = 12

SCANS = tuple(f"{7_003 + 397 * n % 2_900}" for n in range(30))
"""Numbers of the scans that fill a folder, each of which occurs once."""


def _people(kind: str, count: int) -> tuple[str, ...]:
    rng = Random(f"starter padding: {kind}")
    names = [f"{first} {last}" for first in _FIRST for last in _LAST]
    return tuple(rng.sample(names, count))


HOLDERS = _people("card holders", 18)
"""Who holds the padding's cards, one each."""


def _shelves() -> dict[str, str]:
    rng = Random("starter padding: shelves")
    marks = rng.sample([f"{a}{b}-{n}" for a in "KQWXZ" for b in "ABCDE" for n in range(11, 98, 3)], 36)
    keepers = _people("keepers", 36)
    return {
        mark: f"Shelf {mark}: {rng.randrange(12, 480)} {rng.choice(_GOODS)}, kept by {keeper}."
        for mark, keeper in zip(marks, keepers, strict=True)
    }


SHELVES = _shelves()
"""Mark of a shelf to the one line of the files' annex in which it occurs."""


def _status() -> dict[str, str]:
    rng = Random("starter padding: car status")
    numbers = iter(rng.sample(range(1_000, 9_999), len(_SYSTEMS)))
    status: dict[str, str] = {}
    for system in _SYSTEMS:
        status[f"{system} part number"] = f"{rng.choice(_SYLLABLES)}{rng.choice(_SYLLABLES)}-{next(numbers)}"
        status[f"{system} service interval"] = f"{rng.randrange(6, 61)} months"
        status[f"{system} supplier"] = rng.choice(_SHOPS)
        status[f"{system} shelf"] = f"{rng.choice('ABCDEF')}{rng.randrange(1, 40)}"
    return status


STATUS = _status()
"""Entry of the car's status sheet to its value."""


def _desks() -> dict[tuple[str, int], str]:
    rng = Random("starter padding: desks")
    numbers = iter(rng.sample(range(100, 999), len(_AREAS) * _BANDS))
    return {(area, band): f"{rng.choice(_SHAPES)}-{next(numbers)}" for area in _AREAS for band in range(1, _BANDS + 1)}


DESKS = _desks()
"""Part of what is added to an order's details, and number of a band, to the desk's name there."""


def _steps() -> dict[int, str]:
    rng = Random("starter padding: parking brake")
    order = [task for _ in range(3) for task in rng.sample(_TASKS, len(_TASKS))]
    return {
        number: f"Step {number}: {task}, then wait {rng.randrange(5, 95)} seconds."
        for number, task in enumerate(order, 1)
    }


STEPS = _steps()
"""Number of a step in the parking brake's instructions to its line."""


def long_context(cities: Mapping[str, tuple[str, str]], companies: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """The padding by its official names.

    Args:
        cities: City to airport and zip code, which bookings go between.
        companies: Company to symbol and sector; the padding of a sector has other symbols.
    """
    symbols = _symbols({symbol for symbol, _ in companies.values()})
    return {
        "AUTOMOBILE_EXTENSION": symbols[:120],
        "TECHNOLOGY_EXTENSION": symbols[120:240],
        "WATCH_LIST_EXTENSION": [*symbols[240:], ELLIPSIS],
        "MA_5_EXTENSION": _averages("five days"),
        "MA_20_EXTENSION": _averages("twenty days"),
        "ORDER_DETAIL_EXTENSION": {area: _order_text(area) for area in _AREAS},
        "TRANSACTION_HISTORY_EXTENSION": _payments(),
        "CREDIT_CARD_EXTENSION": _cards(),
        "BOOKING_RECORD_EXTENSION": _bookings([airport for airport, _ in cities.values()]),
        "CAR_STATUS_METADATA_EXTENSION": "; ".join(f"{key}: {value}" for key, value in STATUS.items()) + ".",
        "PARKING_BRAKE_INSTRUCTION": "Yearly care of the parking brake. " + " ".join(STEPS.values()),
        "LONG_WEATHER_EXTENSION": _weather(),
        "INTERMEDIARY_CITIES": [f"{a} {b}" for b in _PLACES_B for a in _PLACES_A],
        "FILE_CONTENT_EXTENSION": "\nAnnex: what is kept in the store.\n" + "\n".join(SHELVES.values()),
        "FILES_TAIL_USED": ["figures.txt", "counts.csv", "readings.txt", "scores.csv"],
        "POPULATE_FILE_EXTENSION": [f"scan_{number}.png" for number in SCANS],
    }


def _symbols(taken: set[str]) -> list[str]:
    rng = Random("starter padding: symbols")
    letters = [f"{a}{b}{c}" for a in _SYLLABLES for b in "AEIOU" for c in _SYLLABLES]
    return [symbol for symbol in rng.sample(letters, 360) if symbol not in taken]


def _averages(kind: str) -> list[float]:
    rng = Random(f"starter padding: {kind}")
    return [rng.randrange(9_000, 31_000) / 100 for _ in range(_FIGURES)]


def _order_text(area: str) -> str:
    title = area.replace("_", " ").capitalize()
    lines = [f"In band {band} of {{symbol}} the desk is called {DESKS[area, band]}." for band in range(1, _BANDS + 1)]
    return f"{title} of {{symbol}}. " + " ".join(lines)


def _payments() -> list[dict[str, Any]]:
    """Payments in and out, at most one a day."""
    rng = Random("starter padding: payments")
    days = rng.sample(range(420), _PAYMENTS)
    return [
        {
            "type": rng.choice(("deposit", "withdrawal")),
            "amount": rng.randrange(2_000, 98_000) / 100,
            "timestamp": str(_START + timedelta(days=day, seconds=rng.randrange(40_000))),
        }
        for day in days
    ]


def _cards() -> dict[str, dict[str, Any]]:
    rng = Random("starter padding: cards")
    return {
        f"card_{number}": {
            "card_number": f"{rng.randrange(4_000, 5_999)}{rng.randrange(10**11, 10**12)}",
            "expiration_date": f"{rng.randrange(1, 13):02d}/{rng.randrange(2_027, 2_032)}",
            "cardholder_name": holder,
            "card_verification_number": rng.randrange(100, 999),
            "balance": float(rng.randrange(9_000, 40_000)),
        }
        for holder, number in zip(HOLDERS, rng.sample(range(6_000, 6_999), len(HOLDERS)), strict=True)
    }


def _bookings(airports: list[str]) -> dict[str, dict[str, Any]]:
    """Bookings of the padding's card holders, no two between the same airports."""
    rng = Random("starter padding: bookings")
    pairs = rng.sample([(start, end) for start in airports for end in airports if start != end], 24)
    numbers = rng.sample(range(8_000_000, 8_999_999), len(pairs))
    cards = list(_cards())
    return {
        str(number): {
            "card_id": rng.choice(cards),
            "travel_date": str((_START + timedelta(days=rng.randrange(500, 800))).date()),
            "travel_from": start,
            "travel_to": end,
            "travel_class": rng.choice(("economy", "business", "first")),
            "travel_cost": float(rng.randrange(80, 1_900, 10)),
            "transaction_id": str(rng.randrange(10**7, 10**8)),
        }
        for number, (start, end) in zip(numbers, pairs, strict=True)
    }


def _weather() -> dict[str, dict[str, float]]:
    rng = Random("starter padding: weather")
    return {
        f"-{day}_day": {
            "windSpeed": rng.randrange(2, 70) / 2,
            "humidity": float(rng.randrange(30, 98)),
            "precipitation": rng.randrange(0, 40) / 2,
            "uvIndex": rng.randrange(0, 11),
            "visibility": rng.randrange(4, 40) / 2,
            "airPressure": float(rng.randrange(970, 1_042)),
            "dewPoint": rng.randrange(-8, 36) / 2,
        }
        for day in range(1, 13)
    }
