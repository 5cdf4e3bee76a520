"""Who and what the starter tables are about: people, cities, organizations, films, and what they have to do with
each other. The tables are cut from this, so that a person or a city is the same wherever it turns up::

    person = PEOPLE[0]
    person.name, person.username, person.city        # ('Ilse Marten', 'ilse_marten', 'Oslo')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = [
    "CITIES",
    "FILMS",
    "FLIGHTS",
    "HOTELS",
    "MEETINGS",
    "OCCUPATIONS",
    "PEOPLE",
    "City",
    "Flight",
    "Meeting",
    "Person",
]


@dataclass(frozen=True)
class City:
    """A real city. All lie north of the equator and east of Greenwich: API-Bank's call text has no negative numbers."""

    name: str
    latitude: float
    longitude: float
    temperature: int
    """Degrees Celsius."""
    humidity: int
    """Percent."""
    weather: str
    restaurants: tuple[str, ...]

    def kilometres_to(self, other: City) -> float:
        """Great-circle distance."""
        here, there = math.radians(self.latitude), math.radians(other.latitude)
        turn = math.radians(other.longitude - self.longitude)
        cosine = math.sin(here) * math.sin(there) + math.cos(here) * math.cos(there) * math.cos(turn)
        return 6_371 * math.acos(min(1.0, cosine))


CITIES = tuple(
    City(name, float(north), float(east), int(warm), int(humid), weather, tuple(restaurants))
    for name, north, east, warm, humid, weather, *restaurants in rows(
        """
Oslo | 59.91 | 10.75 | 6 | 58 | Clear and cold | Fjordkjeller | The Blue Ladle
Bergen | 60.39 | 5.32 | 9 | 91 | Steady rain | Umbrella House | Seven Hills Kitchen
Helsinki | 60.17 | 24.94 | 4 | 66 | Overcast | Birch and Rye | Kauppa Nook
Tallinn | 59.44 | 24.75 | 7 | 73 | Fog in the harbour | The Old Granary | Juniper Table
Riga | 56.95 | 24.11 | 10 | 62 | Scattered clouds | Amber Spoon | Daugava Bistro
Krakow | 50.06 | 19.94 | 13 | 55 | Sunny spells | Pierogi Corner | The Brass Dragon
Prague | 50.08 | 14.43 | 14 | 77 | Drizzling rain | Vltava Terrace | Clock Street Grill
Vienna | 48.21 | 16.37 | 16 | 49 | Bright and breezy | Cafe Lindenhof | The Copper Kettle
Zagreb | 45.81 | 15.98 | 19 | 60 | Thin high clouds | Upper Town Tavern | Paprika Yard
Turin | 45.07 | 7.69 | 18 | 52 | Sunny | Trattoria Molino | Po Bank Pizza
Athens | 37.98 | 23.73 | 24 | 41 | Cloudless | Olive Steps | The Painted Jug
Cairo | 30.04 | 31.24 | 33 | 22 | Hot and dusty | Lotus Court | Nile Lantern
Bangkok | 13.76 | 100.52 | 34 | 81 | Thunder and heavy rain | Lemongrass Pier | Nine Bowls
Kyoto | 35.01 | 135.77 | 21 | 64 | Mild with some haze | Maple Bridge Noodles | Stone Garden Tea
Singapore | 1.35 | 103.82 | 31 | 84 | Warm afternoon rain | Orchid Hawker Hall | Satay Quay
"""
    )
)

OCCUPATIONS = {
    name: int(salary)
    for name, salary in rows(
        """
Architect | 68500
Baker | 29800
Beekeeper | 24600
Bookbinder | 31200
Bus Driver | 34900
Carpenter | 38400
Cartographer | 52300
Electrician | 44700
Gardener | 27500
Geologist | 71800
Glassblower | 33600
Interpreter | 49900
Lighthouse Keeper | 36100
Midwife | 54200
Optician | 57700
Orchestra Conductor | 93400
Pilot | 118600
Surveyor | 61300
Veterinarian | 84800
Watchmaker | 46500
"""
    )
}
"""Occupation to yearly salary before tax."""

FILMS = {
    genre: tuple(films)
    for genre, *films in rows(
        """
Adventure | The Ninth Ferry | Beyond Salt Ridge | Map of a Missing Isle | Rope and Ember
Animation | Pip and the Paper Whale | Moonlit Bakers | The Sock Kingdom | Little Comet
Comedy | Two Left Umbrellas | The Accidental Mayor | Goat on the Roof | Upstairs Trombone
Crime | Cold Receipt | The Tuesday Forger | Nine Keys Short | Ash in the Ledger
Documentary | A Year in the Beech Wood | Bread by Hand | Under the Ice Road | Clockwork Valley
Drama | The Long Allotment | Letters to Platform Four | Winter Tenants | What the Tide Kept
Fantasy | The Fern Crown | Lantern of Oldmere | A Dragon for Hire | Gate of Nettles
History | The Spice Registrar | Bridge at Varo | Daughters of the Loom | The Copper Treaty
Musical | Songs from the Laundromat | Tap Dance Harbour | The Violet Chorus | Encore in June
Mystery | The Silent Lodger | Footprints at Low Water | Who Wound the Clock | The Glass Alibi
Science Fiction | Orbit of Two | The Last Firmware | Green Sun Rising | Signal from Deep Vela
Western | Dust over Callow Creek | The Honest Gunsmith | Seven Miles to Water | Lone Telegraph
"""
    )
}
"""Genre to four films."""

_ORGANIZATIONS = (
    "Tidewell Harbour Trust",
    "Larkfield Optics",
    "Brightmoss Foods",
    "Corvane Robotics",
    "Quillstone Press",
    "Sundrift Solar",
)
_MEMBERS = 4
"""People of one organization; they stand together in the list below."""

[_PASSWORD_WORDS] = rows(
    "acorn | bramble | cobalt | dandelion | ember | fiddle | gravel | hazel | indigo | jigsaw | kettle | lagoon"
)
_TOKEN_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True)
class Person:
    """Someone with an account. Name and username hold no quotes: API-Bank's call text cannot carry them."""

    name: str
    city: str
    occupation: str
    age: int
    genres: tuple[str, ...]
    whereabouts: str
    organization: str
    password: str
    token: str
    phone: str

    @property
    def username(self) -> str:
        """The name of the account in levels 1 and 2."""
        return self.name.lower().replace(" ", "_")

    @property
    def email(self) -> str:
        """An address that API-Bank's mail tool takes."""
        return f"{self.name.lower().replace(' ', '.')}@example.org"

    @property
    def watched(self) -> list[str]:
        """Films that this person has seen: one or two of each liked genre."""
        rng = Random(f"films of {self.name}")
        return [film for genre in self.genres for film in rng.sample(FILMS[genre], rng.randint(1, 2))]


def _people() -> tuple[Person, ...]:
    found = []
    for number, (name, city, occupation, age, genres, whereabouts) in enumerate(
        rows(
            """
Ilse Marten | Oslo | Lighthouse Keeper | 41 | Drama, Documentary, Mystery | On the morning ferry
Ravi Solberg | Bergen | Surveyor | 35 | Adventure, Comedy, Western | At a desk in Bergen
Noor Haddad | Cairo | Cartographer | 29 | History, Adventure, Drama | Flying to Athens
Tobias Lindqvist | Helsinki | Pilot | 47 | Science Fiction, Crime, Comedy | Between flights in Riga
Yuki Tanabe | Kyoto | Optician | 33 | Animation, Fantasy, Musical | In the Kyoto workshop
Petra Novotna | Prague | Glassblower | 38 | Drama, Mystery, History | At the glass furnace
Milan Kovac | Zagreb | Watchmaker | 52 | Crime, Western, Documentary | On leave until Monday
Greta Osterman | Vienna | Interpreter | 44 | Musical, Drama, Comedy | On the night train to Turin
Luca Ferrante | Turin | Baker | 31 | Comedy, Animation, Adventure | In the bakery
Anan Siriwat | Bangkok | Gardener | 27 | Fantasy, Adventure, Documentary | Visiting a farm near Bangkok
Eleni Markou | Athens | Veterinarian | 36 | Documentary, Drama, Animation | On call at home
Marta Zielinska | Krakow | Beekeeper | 58 | Mystery, Crime, History | Out with the bees
Jaan Tamm | Tallinn | Electrician | 30 | Science Fiction, Western, Adventure | Testing in the Tallinn lab
Weiling Goh | Singapore | Architect | 39 | Science Fiction, Musical, Crime | Flying to Kyoto
Sanna Virtala | Helsinki | Geologist | 46 | Documentary, Science Fiction, Drama | In the field without signal
Omar Farouki | Cairo | Carpenter | 34 | Comedy, Western, Fantasy | In the Cairo wood shop
Ruta Ozola | Riga | Bookbinder | 49 | History, Drama, Fantasy | At the bindery
Henrik Aas | Oslo | Orchestra Conductor | 61 | Musical, History, Comedy | On tour in Vienna
Klara Benes | Prague | Midwife | 32 | Drama, Comedy, Animation | On the late shift
Davor Maric | Zagreb | Bus Driver | 43 | Crime, Adventure, Science Fiction | Driving line twelve
Chiara Bellini | Turin | Architect | 28 | Fantasy, Mystery, Musical | Working remotely from Genoa
Somchai Prasert | Bangkok | Surveyor | 37 | Western, Documentary, Comedy | On a roof with the drone
Aiko Morimoto | Kyoto | Interpreter | 42 | Animation, Mystery, Science Fiction | Visiting clients in Singapore
Stefan Wolny | Krakow | Electrician | 55 | History, Crime, Documentary | Parking at the office
"""
        )
    ):
        rng = Random(f"account of {name}")
        found.append(
            Person(
                name=name,
                city=city,
                occupation=occupation,
                age=int(age),
                genres=tuple(genres.split(", ")),
                whereabouts=whereabouts,
                organization=_ORGANIZATIONS[number // _MEMBERS],
                password=f"{rng.choice(_PASSWORD_WORDS)}{rng.randint(100, 999)}",
                token="".join(rng.choice(_TOKEN_LETTERS) for _ in range(18)),
                phone=f"555-01{10 + number}",
            )
        )
    return tuple(found)


PEOPLE = _people()


@dataclass(frozen=True)
class Meeting:
    """A meeting of people from one organization; the first attendee has called it."""

    number: int
    topic: str
    start: datetime
    end: datetime
    location: str
    attendees: tuple[Person, ...]


_ROOMS = ("Juniper Room", "Basalt Room", "Long Table", "Attic Studio", "Canteen Corner", "Glass Hall", "Room 214")
_WHO_MEETS = ((0, 1, 2, 3), (1, 0), (2, 3), (3, 1, 2))
"""Four meetings an organization, so that everyone has called one: its members by their place in it."""


def _meetings() -> tuple[Meeting, ...]:
    topics = rows(
        """
Harbour dues for the summer | Buoy maintenance plan | Chart corrections | Pilot boat rota
Lens grinder purchase | Frame catalogue layout | Apprentice interviews | Order backlog at the workshop
Rye bread tasting | Herb garden extension | Animal feed supplier | Honey label wording
Gripper test results | Assembly hall floor plan | Battery ore samples | Packaging crates
Autumn reading list | Concert programme printing | Baby book proofs | Delivery route changes
Rooftop survey schedule | Panel angle study | Translation of the manual | Wiring inspection
"""
    )
    found = []
    for number in range(len(PEOPLE)):
        organization, place = divmod(number, _MEMBERS)
        week, weekday = divmod((number * 7) % 20, 5)
        start = datetime(2023, 4, 3, 9) + timedelta(weeks=week, days=weekday, minutes=30 * ((number * 7) % 15))
        found.append(
            Meeting(
                number=number + 1,
                topic=topics[organization][place],
                start=start,
                end=start + timedelta(minutes=(45, 60, 90)[number % 3]),
                location=_ROOMS[number % len(_ROOMS)],
                attendees=tuple(PEOPLE[organization * _MEMBERS + other] for other in _WHO_MEETS[place]),
            )
        )
    return tuple(found)


MEETINGS = _meetings()


@dataclass(frozen=True)
class Flight:
    """A flight; both moments are told by the clock of the city of departure."""

    source: City
    destination: City
    departure: datetime
    arrival: datetime


_HOPS = (1, 4, 7)
"""From each city to the ones so many places on in the list."""


def _flights() -> tuple[Flight, ...]:
    found = []
    for number, source in enumerate(CITIES):
        for hop in _HOPS:
            destination = CITIES[(number + hop) % len(CITIES)]
            departure = datetime(2023, 4, 3, 6) + timedelta(
                days=(number * 11 + hop * 5) % 80, minutes=35 * ((number + hop) % 20)
            )
            minutes = 5 * round((40 + source.kilometres_to(destination) * 60 / 800) / 5)
            found.append(Flight(source, destination, departure, departure + timedelta(minutes=minutes)))
    return tuple(found)


FLIGHTS = _flights()

[_COLOURS, _SIGNS] = rows(
    """
Amber | Ivory | Scarlet | Silver | Mossy | Velvet | Golden | Cobalt | Quiet
Heron | Anchor | Windmill | Orchard | Lantern
"""
)
HOTELS = tuple(f"{colour} {sign}" for sign in _SIGNS for colour in _COLOURS)
"""One hotel a flight: the n-th has room in the days after the n-th flight, in the city where that one lands."""
