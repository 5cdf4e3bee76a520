"""The words that the starter functions' values are made of."""

from __future__ import annotations

from callgym.envs.bfcl.starter.functions_values import (
    Choice,
    Clock,
    Code,
    Date,
    Flag,
    Items,
    Phrase,
    Place,
    Real,
    Whole,
    Word,
)

__all__ = [
    "CITIES",
    "CITY",
    "COLOUR",
    "COUNTRY",
    "CURRENCY",
    "DATE",
    "DAYS",
    "EMAILS",
    "FEW",
    "FIRST_NAMES",
    "LENGTH_UNIT",
    "LETTER",
    "MONEY",
    "NAME",
    "NOTE",
    "PEOPLE",
    "PERSON",
    "PERSONS",
    "ROOM",
    "TIME",
    "TITLE",
    "TOWN",
    "WEEKDAYS",
    "YEAR",
    "flag",
    "words",
]


def words(text: str) -> tuple[str, ...]:
    """The words of ``text``; an underscore stands for a space within one."""
    return tuple(word.replace("_", " ") for word in text.split())


def flag(yes: str, no: str) -> Flag:
    """Yes or no in one phrase each."""
    return Flag((yes,), (no,))


CITIES = {
    "Oslo": "Norway", "Bergen": "Norway", "Lisbon": "Portugal", "Porto": "Portugal", "Vienna": "Austria",
    "Graz": "Austria", "Riga": "Latvia", "Tallinn": "Estonia", "Tartu": "Estonia", "Vilnius": "Lithuania",
    "Seville": "Spain", "Bilbao": "Spain", "Turin": "Italy", "Bologna": "Italy", "Lyon": "France",
    "Nantes": "France", "Ghent": "Belgium", "Utrecht": "Netherlands", "Leeds": "England", "York": "England",
    "Cork": "Ireland", "Galway": "Ireland", "Krakow": "Poland", "Gdansk": "Poland", "Brno": "Czechia",
    "Zagreb": "Croatia", "Split": "Croatia", "Varna": "Bulgaria", "Leipzig": "Germany", "Bremen": "Germany",
    "Aarhus": "Denmark", "Turku": "Finland", "Malmo": "Sweden", "Uppsala": "Sweden", "Izmir": "Turkey",
    "Kyoto": "Japan", "Sapporo": "Japan", "Busan": "South Korea", "Hanoi": "Vietnam", "Penang": "Malaysia",
    "Pune": "India", "Kochi": "India", "Perth": "Australia", "Hobart": "Australia", "Nelson": "New Zealand",
    "Quito": "Ecuador", "Cusco": "Peru", "Rosario": "Argentina", "Halifax": "Canada", "Calgary": "Canada",
    "Nairobi": "Kenya", "Accra": "Ghana", "Windhoek": "Namibia", "Tunis": "Tunisia",
}  # fmt: skip
FIRST_NAMES = words(
    """
    Amara Bodil Caspar Dilara Eskil Fenna Gustav Hedda Idris Jolanta Karim Linnea Marek Nuria Oskar Pilar
    Ruben Saskia Tomas Ursula Vito Wiebke Yara Zeki Aino Bela Cosima Darius Elif Femi Gesa Henrik Imre Jana
    Kofi Lotte Mateo Noor Orsolya Paavo Quentin Rukmini Soren Thea Uri Valerie Wanja Ximena Yannick Zofia
    """
)
_LAST_NAMES = words(
    """
    Adebayo Berglund Castro Dvorak Eriksen Fontana Gruber Halvorsen Ivanov Jacobs Kowalski Lindqvist Moreau
    Novak Okafor Petrov Quist Rossi Silva Tanaka Ulrich Virtanen Wagner Yilmaz Zimmer
    """
)
_COUNTRIES = words(
    """
    Norway Portugal Austria Latvia Estonia Spain Italy France Belgium Ireland Poland Croatia Denmark Finland
    Sweden Turkey Japan Vietnam Malaysia India Australia Ecuador Peru Argentina Canada Kenya Ghana Namibia Tunisia
    Iceland Chile Morocco Thailand Mexico
    """
)

CITY = Place(CITIES)
TOWN = Word(tuple(CITIES))
COUNTRY = Word(_COUNTRIES)
NAME = Word(FIRST_NAMES)
PERSON = Phrase(FIRST_NAMES, _LAST_NAMES, quoted=False)
PERSONS = Items(NAME, 2, 4)
PEOPLE = Items(PERSON, 2, 3)
EMAILS = Items(
    Phrase(
        [name.lower() for name in FIRST_NAMES],
        ("example.org", "mail.example", "office.example"),
        quoted=False,
        joint="@",
    ),
    1,
    3,
)
DATE = Date()
TIME = Clock()
YEAR = Whole(1960, 2023)
FEW = Whole(2, 9)
DAYS = Whole(2, 14)
MONEY = Real(20, 4_000, 2)
LETTER = Code("@")
COLOUR = Word(words("red green blue yellow white purple orange pink silver turquoise"))
ROOM = Word(words("kitchen hallway bedroom study nursery bathroom attic cellar workshop dining_room guest_room"))
TITLE = Phrase(
    words(
        """
        Silent Amber Hollow Northern Paper Velvet Winter Forgotten Broken Electric Gentle Crooked Lonely Wild
        Copper Drifting Hidden Second
        """
    ),
    words(
        """
        Harbour Lantern Garden Thunder Mirror Orchard Compass Island Sparrow Window Meadow Engine Tide Cartographer
        Beekeeper Staircase Kingdom Letters
        """
    ),
)
NOTE = Phrase(
    words("order return repair collect check clean measure photograph label replace"),
    words(
        """
        the_boiler the_curtains two_lamps the_ladder the_projector a_spare_key the_bicycle the_cushions
        the_tent the_gutters the_sample_boxes the_piano_stool
        """
    ),
)
CURRENCY = Choice(
    {
        "EUR": ("euros", "EUR"),
        "USD": ("US dollars", "USD"),
        "GBP": ("pounds sterling", "GBP"),
        "CHF": ("Swiss francs", "CHF"),
        "NOK": ("Norwegian kroner", "NOK"),
        "JPY": ("Japanese yen", "JPY"),
        "PLN": ("Polish zloty", "PLN"),
    }
)
LENGTH_UNIT = Choice(
    {
        "mm": ("millimetres", "mm"),
        "cm": ("centimetres", "cm"),
        "m": ("metres", "meters"),
        "km": ("kilometres", "km"),
        "in": ("inches",),
        "ft": ("feet",),
        "yd": ("yards",),
        "mi": ("miles",),
    }
)
WEEKDAYS = Items(Choice(dict.fromkeys(words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"), ())), 2, 4)
