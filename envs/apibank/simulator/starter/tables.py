"""Our own tables for the simulated tools, in the shapes of API-Bank's, for where the benchmark's are not at hand::

    databases()["Account"]["ilse_marten"]            # {'password': ..., 'token': ..., 'email': ...}
    builtin()["Geocoding"]["address_to_coordinates"]["Oslo"]      # [59.91, 10.75]

They are built anew at each call, always the same, and hold JSON values only. A person is the same person in all of
them: by username in levels 1 and 2, by full name in level 3.
"""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

from callgym.envs.apibank.simulator.starter import (
    diary,
    encyclopedia,
    history,
    household,
    illnesses,
    lexicon,
    recordings,
)
from callgym.envs.apibank.simulator.starter.cast import CITIES, FILMS, FLIGHTS, HOTELS, OCCUPATIONS, PEOPLE, Person

__all__ = ["builtin", "databases", "external", "languages"]

_TIME = "%Y-%m-%d %H:%M:%S"

_DOCTORS = ("Dr. Amelie Voss", "Dr. Kenji Ota", "Dr. Lucia Prado", "Dr. Samir Aziz", "Dr. Birgit Holm", "Dr. Ivo Crane")
_STOCKS = {
    "ALDR": 41.2, "BMSS": 88.4, "BRCH": 17.6, "COBT": 132.0, "CRVN": 254.3, "DRFX": 9.8, "GLIM": 63.5, "HRTW": 27.9,
    "JUNP": 110.7, "LKFO": 75.1, "MOLN": 53.3, "QLST": 34.6, "SNDR": 148.9, "TDWL": 21.4, "VTLA": 96.0,
}  # fmt: skip
"""Code of a share to its price on the first day."""
_FIRST_TRADING_DAY, _TRADING_DAYS = date(2023, 3, 20), 10

_TAX_RATES = {"0": 0.0, "1000": 0.05, "20000": 0.12, "45000": 0.22, "90000": 0.31, "inf": 0.4}
_POSTS_OF_ONE = 4
_USERS_WITH_POSTS = 10


def _weekdays(first: date, count: int) -> list[date]:
    days = [first + timedelta(days=number) for number in range(2 * count)]
    return [day for day in days if day.weekday() < 5][:count]


# --- levels 1 and 2 ----------------------------------------------------------------------------


def _appointments() -> dict[str, dict[str, str]]:
    rng = Random("appointments")
    days = _weekdays(date(2023, 4, 3), 60)
    return {
        str(rng.randint(10_000_000, 99_999_999)): {
            "patient_name": person.name,
            "date": days[(number * 7) % len(days)].isoformat(),
            "doctor_name": _DOCTORS[number % len(_DOCTORS)],
        }
        for number, person in enumerate(PEOPLE)
    }


def _bank() -> dict[str, dict[str, Any]]:
    """Five in six have an account at the bank."""
    return {
        person.username: {
            "balance": Random(f"balance of {person.name}").randint(5_000, 900_000) / 100,
            "age": person.age,
            "city": person.city,
        }
        for number, person in enumerate(PEOPLE)
        if number % 6 != 5
    }


def _measurements(person: Person) -> list[dict[str, Any]]:
    rng = Random(f"health of {person.name}")
    weight = rng.randint(520, 940) / 10
    found = []
    for week in range(3):
        values: dict[str, Any] = {
            "blood_pressure": [rng.randint(104, 146), rng.randint(64, 94)],
            "heart_rate": rng.randint(56, 96),
            "body_temperature": rng.randint(361, 379) / 10,
            "blood_sugar": rng.randint(72, 128),
            "weight": round(weight + rng.randint(-8, 8) / 10, 1),
        }
        taken = sorted(rng.sample(sorted(values), rng.randint(2, 3)))
        time = (
            f"2023-03-{6 + 7 * week + rng.randint(0, 5):02d} {rng.randint(7, 20):02d}:{rng.randint(0, 11) * 5:02d}:00"
        )
        found.append({"time": time, **{name: values[name] for name in taken}})
    return found


def _health_data() -> dict[str, list[dict[str, Any]]]:
    """Initials and three digits, such as IM118, to a person's measurements."""
    return {
        f"{''.join(word[0] for word in person.name.split())}{118 + 37 * number}": _measurements(person)
        for number, person in enumerate(PEOPLE[: 2 * len(PEOPLE) // 3])
    }


def _hotel_orders() -> dict[str, dict[str, Any]]:
    rng = Random("hotel orders")
    found = {}
    for number in range(16):
        arrival = date(2023, 4, 2) + timedelta(days=number * 5)
        adults = rng.randint(1, 5)
        found[str(number + 1)] = {
            "hotel_name": HOTELS[(number * 4) % len(HOTELS)],
            "check_in_time": arrival.isoformat(),
            "check_out_time": (arrival + timedelta(days=rng.randint(1, 6))).isoformat(),
            "room_count": (adults + 1) // 2,
            "adult_count": adults,
            "child_count": rng.randint(0, 2),
        }
    return found


def _stocks() -> dict[str, dict[str, float]]:
    found = {}
    for code, first_price in _STOCKS.items():
        rng = Random(f"price of {code}")
        price, prices = first_price, {}
        for day in _weekdays(_FIRST_TRADING_DAY, _TRADING_DAYS):
            prices[day.isoformat()] = price
            price = round(price * (1 + rng.randint(-25, 28) / 1000), 1)
        found[code] = prices
    return found


def databases() -> dict[str, Any]:
    """The 19 databases that the tools of levels 1 and 2 share, by API-Bank's names."""
    return {
        "Account": {
            person.username: {"password": person.password, "token": person.token, "email": person.email}
            for person in PEOPLE
        },
        "Agenda": diary.agenda(),
        "Alarm": diary.alarms(),
        "Appointments": _appointments(),
        "Bank": _bank(),
        "HealthData": _health_data(),
        "History": history.history(),
        "Hotel": _hotel_orders(),
        "ImageCaptioning": recordings.pictures(),
        "Meeting": diary.meetings(),
        "QuestionAnswering": encyclopedia.questions(),
        "Reminder": diary.reminders(),
        "Scenes": household.scenes(),
        "SearchEngine": encyclopedia.search_index(),
        "SpeechRecognition": recordings.recordings(),
        "Stock": _stocks(),
        "Symptom": illnesses.symptoms(),
        "TimeSwitch": household.switches(),
        "Wiki": encyclopedia.articles(),
    }


# --- level 3, and the one tool of levels 1 and 2 that keeps its table to itself -----------------


def _accounts() -> list[list[Any]]:
    return [[[person.name, person.password], {"email": person.email, "phone": person.phone}] for person in PEOPLE]


def _restaurants() -> list[dict[str, Any]]:
    """Those of a city, some hundred metres north and east of the point that Geocoding gives."""
    return [
        {
            "coordinates": [round(city.latitude + 0.003 * place, 3), round(city.longitude + 0.004 * place, 3)],
            "name": name,
        }
        for city in CITIES
        for place, name in enumerate(city.restaurants, 1)
    ]


def _hotels() -> dict[str, dict[str, str]]:
    """A hotel for each flight, with room from the day before it lands to the seventh day after."""
    return {
        hotel: {
            "destination": flight.destination.name,
            "check_in_date": f"{flight.arrival.date() - timedelta(days=1)} 00:00:00",
            "check_out_date": f"{flight.arrival.date() + timedelta(days=7)} 00:00:00",
        }
        for hotel, flight in zip(HOTELS, FLIGHTS, strict=True)
    }


def _members() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for person in PEOPLE:
        found.setdefault(person.organization, []).append(person.name)
    return found


def _likes() -> dict[str, int]:
    rng = Random("likes")
    return {str(post): rng.randint(0, 900) for post in range(1, _POSTS_OF_ONE * _USERS_WITH_POSTS + 1)}


def builtin() -> dict[str, Any]:
    """The tables that tools keep to themselves: tool to attribute to table, and OpenBankAccount's by a longer name.

    Where the tool's table is keyed by a pair, it is a list of pairs, ``[[key, key], row]``; where it is keyed by an
    integer, the key is the integer's text; a moment is text as well.
    """
    return {
        "UserWatchedMovies": {"database": {person.name: person.watched for person in PEOPLE}},
        "Geocoding": {"address_to_coordinates": {city.name: [city.latitude, city.longitude] for city in CITIES}},
        "GetOccupationSalary": {"salary_info": dict(OCCUPATIONS)},
        "PersonalInfoUpdate": {"database": _accounts()},
        "AddMeeting": {"database": []},
        "QueryMeeting": {"database": diary.calendars()},
        "TaxCalculator": {"tax_rates": dict(_TAX_RATES)},
        "NearbyRestaurants": {"restaurants": _restaurants()},
        "MovieRecommendations": {"database": {genre: list(films) for genre, films in FILMS.items()}},
        "GetWeatherForCoordinates": {
            "coordinates_to_weather": [
                [
                    [city.latitude, city.longitude],
                    {"temperature": city.temperature, "humidity": city.humidity, "description": city.weather},
                ]
                for city in CITIES
            ]
        },
        "TravelStatus": {"database": {person.name: person.whereabouts for person in PEOPLE}},
        "UserMoviePreferences": {"database": {person.name: list(person.genres) for person in PEOPLE}},
        "HotelAvailability": {"hotel_database": _hotels()},
        "UserPosts": {
            "database": {
                str(user + 1): [user * _POSTS_OF_ONE + place for place in range(1, _POSTS_OF_ONE + 1)]
                for user in range(_USERS_WITH_POSTS)
            }
        },
        "FlightSearch": {
            "flight_data": [
                {
                    "source": flight.source.name,
                    "destination": flight.destination.name,
                    "departure_date": flight.departure.strftime(_TIME),
                    "arrival_date": flight.arrival.strftime(_TIME),
                }
                for flight in FLIGHTS
            ]
        },
        "LikeCount": {"database": _likes()},
        "AccountInfo": {"database": _accounts()},
        "OrganizationMembers": {"database": _members()},
        "_level_1_2_OpenBankAccount": {
            "database": {
                str(number): {
                    "account": f"{person.username}_savings",
                    "password": f"{person.password}s",
                    "name": person.name,
                }
                for number, person in enumerate(PEOPLE[::4])
            }
        },
    }


def external() -> dict[str, Any]:
    """What the tools would ask web services: ``Dictionary``, word to meanings, and ``Translate``, a list of texts."""
    return {"Dictionary": lexicon.meanings(), "Translate": lexicon.translations()}


def languages() -> dict[str, str]:
    """Language code to name, both in lower case: those that Translate knows."""
    return lexicon.languages()
