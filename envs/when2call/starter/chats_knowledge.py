"""Chats that anybody can answer who went to school: what a word means, what the difference is, what belongs where."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from callgym.envs.bfcl.starter.functions_pools import words
from callgym.envs.when2call.starter.chat_model import Chat, Draw, out_of

__all__ = ["CHATS"]

_MEANINGS = (
    ("ephemeral", "lasting only a short time"),
    ("frugal", "careful not to spend much"),
    ("candid", "open and honest"),
    ("meticulous", "very careful about details"),
    ("reluctant", "not really willing"),
    ("obsolete", "no longer in use"),
    ("vivid", "bright and full of life"),
    ("tedious", "long and boring"),
    ("feasible", "possible to do"),
    ("cordial", "warm and friendly"),
    ("arid", "dry, with hardly any rain"),
    ("lucid", "clear and easy to follow"),
    ("opaque", "letting no light through"),
    ("brittle", "hard but easily broken"),
    ("adjacent", "lying next to something"),
    ("diligent", "working hard and with care"),
    ("fickle", "changing one's mind all the time"),
    ("nocturnal", "active at night"),
)
_CONCEPTS = (
    ("compound interest", "interest that is paid on earlier interest as well", "finance.compound_interest"),
    ("an exchange rate", "the price of one currency in another", "finance.exchange"),
    ("a portfolio", "all the shares and other papers that somebody owns", "finance.portfolio_value"),
    ("value added tax", "a tax that is added at each step of making and selling", "finance.add_vat"),
    ("the break-even point", "the number of sales from which on a business makes profit", "finance.break_even"),
    ("a layover", "a stop between two parts of a journey", "travel.flight_status"),
    ("half board", "a stay with breakfast and dinner included", "travel.book_hotel"),
    ("a sleeper train", "a train with beds for the night", "travel.find_trains"),
    ("a visa", "a permit to enter a country", "travel.visa_rules"),
    ("the tide", "the rise and fall of the sea twice a day", "weather.tides"),
    ("pollen", "the fine dust by which plants multiply", "weather.pollen_count"),
    ("wind chill", "how much colder the air feels because of wind", "weather.wind_chill"),
    ("twilight", "the light before sunrise and after sunset", "astronomy.sunrise"),
    ("an eclipse", "the moment when one body in the sky hides another", "astronomy.next_eclipse"),
    ("a waning moon", "a moon whose lit part gets smaller night by night", "astronomy.moon_phase"),
    ("a voucher", "a paper or code that one can use instead of money", "shop.apply_voucher"),
    ("a customs duty", "a tax on goods that cross a border", "logistics.customs_duty"),
    ("a depot", "a place where goods wait to be sent on", "logistics.track_parcel"),
    ("a determinant", "a number that says how a matrix scales areas or volumes", "matrix.determinant"),
    ("a correlation", "a measure of how much two things go together", "statistics.correlation"),
    ("a moving average", "an average over a window that slides along a series", "statistics.moving_average"),
    ("a histogram", "a chart that shows how often values fall into bins", "statistics.histogram"),
    ("the molar mass", "the mass of one mole of a substance", "chemistry.molar_mass"),
    ("a polygon", "a flat shape with straight sides", "geometry.polygon_area"),
    ("a chord", "several tones that sound at the same time", "music.chord_notes"),
    ("a playlist", "a list of songs that are played one after another", "music.create_playlist"),
    ("transposing", "moving music to another pitch", "music.transpose"),
    ("a tariff", "the price list by which one pays for power or calls", "energy.switch_tariff"),
    ("a backup", "a copy of data that is kept for bad times", "backup.schedule"),
    ("an archive file", "one file that holds several others in a packed form", "files.compress"),
    ("a thermostat", "a device that keeps a room at one temperature", "home.set_heating"),
    ("body mass index", "a person's weight divided by the square of their height", "health.body_mass_index"),
    ("a subtitle", "text at the bottom of a film that says what is spoken", "film.showtimes"),
    ("loam", "a soil of sand, silt and clay", "garden.mix_soil"),
)
_DIFFERENCES = (
    ("weather", "climate", "Weather is what happens today, climate what is usual over decades", "weather.forecast"),
    ("a train", "a tram", "A train connects towns on its own track, a tram runs in the streets", "travel.find_trains"),
    ("cc", "bcc", "People under cc are seen by all, those under bcc by nobody", "mail.send"),
    ("net", "gross", "Net is without tax, gross includes it", "finance.add_vat"),
    ("a solar eclipse", "a lunar eclipse", "In the first the moon hides the sun, in the second the earth's shadow "
     "falls on the moon", "astronomy.next_eclipse"),
    ("a song", "a track", "A song is a piece of music, a track one recording on an album", "music.find_song"),
    ("a radius", "a diameter", "The radius goes from the middle to the edge, the diameter is twice as long",
     "geometry.sphere_surface"),
    ("the mean", "the median", "The mean is the sum divided by the count, the median the value in the middle",
     "statistics.trimmed_mean"),
    ("simple interest", "compound interest", "Only the second kind is paid on interest as well",
     "finance.simple_interest"),
    ("major", "minor", "Major chords sound bright, minor ones dark, as their third is a half-tone lower",
     "music.chord_notes"),
    ("mass", "weight", "Mass is how much matter there is, weight the force that pulls it down", "units.convert_mass"),
    ("a hotel", "a hostel", "A hotel rents rooms, a hostel beds in shared rooms", "travel.book_hotel"),
    ("a refund", "a voucher", "A refund is money back, a voucher is good for another purchase only",
     "shop.return_article"),
    ("a novel", "a novella", "A novella is a shorter story with fewer characters", "library.find_book"),
    ("a comet", "a meteor", "A comet circles the sun, a meteor burns up in our air", "astronomy.planet_position"),
)  # fmt: skip
_DAYS = (
    ("January", "31"), ("April", "30"), ("June", "30"), ("July", "31"), ("September", "30"), ("October", "31"),
    ("November", "30"), ("December", "31"), ("May", "31"),
)  # fmt: skip
_CAPITALS = (
    ("Norway", "Oslo"), ("Portugal", "Lisbon"), ("Austria", "Vienna"), ("Latvia", "Riga"), ("Spain", "Madrid"),
    ("Italy", "Rome"), ("France", "Paris"), ("Ireland", "Dublin"), ("Poland", "Warsaw"), ("Croatia", "Zagreb"),
    ("Denmark", "Copenhagen"), ("Finland", "Helsinki"), ("Sweden", "Stockholm"), ("Japan", "Tokyo"),
    ("Vietnam", "Hanoi"), ("Peru", "Lima"), ("Canada", "Ottawa"), ("Kenya", "Nairobi"), ("Iceland", "Reykjavik"),
    ("Greece", "Athens"), ("Hungary", "Budapest"),
)  # fmt: skip
_MIXTURES = (
    ("red", "yellow", "orange"), ("blue", "yellow", "green"), ("red", "blue", "purple"), ("black", "white", "grey"),
    ("red", "white", "pink"), ("green", "red", "brown"),
)  # fmt: skip
_LEGS = (
    ("spider", "eight"), ("ant", "six"), ("hen", "two"), ("goat", "four"), ("crab", "ten"), ("bee", "six"),
    ("stork", "two"), ("beetle", "six"), ("hedgehog", "four"),
)  # fmt: skip
_YOUNG = (
    ("cow", "calf"), ("sheep", "lamb"), ("horse", "foal"), ("goat", "kid"), ("swan", "cygnet"), ("deer", "fawn"),
    ("frog", "tadpole"), ("hare", "leveret"), ("bear", "cub"), ("duck", "duckling"), ("pig", "piglet"),
    ("seal", "pup"),
)  # fmt: skip
_TOOLS = (
    ("drive in a nail", "a hammer"), ("cut a plank", "a saw"), ("open a tin", "a tin opener"),
    ("measure the width of a door", "a tape measure"), ("sew on a button", "a needle"), ("dig a hole", "a spade"),
    ("loosen a screw", "a screwdriver"), ("sweep the floor", "a broom"), ("smooth wood", "sandpaper"),
    ("water flowers", "a watering can"), ("tell where north is", "a compass"), ("peel potatoes", "a peeler"),
)  # fmt: skip
_PLANETS = words("Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune")


def _pairs(pool: tuple[tuple[str, str], ...]) -> Draw:
    def draw(rng: Random, split: str) -> Mapping[str, str]:
        given, answer = out_of(pool, rng, split)
        return {"given": given, "answer": answer}

    return draw


def _concept(rng: Random, split: str) -> Mapping[str, str]:
    given, answer, function = out_of(_CONCEPTS, rng, split)
    return {"given": given, "Given": given[0].upper() + given[1:], "answer": answer, "tempting": function}


def _difference(rng: Random, split: str) -> Mapping[str, str]:
    one, two, answer, function = out_of(_DIFFERENCES, rng, split)
    return {"one": one, "two": two, "answer": answer, "tempting": function}


def _mixture(rng: Random, split: str) -> Mapping[str, str]:
    one, two, answer = out_of(_MIXTURES, rng, split)
    one, two = (one, two) if rng.random() < 0.5 else (two, one)
    return {"one": one, "two": two, "answer": answer}


def _neighbour(rng: Random, split: str) -> Mapping[str, str]:
    place = 1 + int(rng.random() * (len(_PLANETS) - 1))
    return {"given": _PLANETS[place - 1], "answer": _PLANETS[place]}


CHATS = (
    Chat(
        "meaning",
        (
            'what does the word "{given}" mean?',
            'explain the word "{given}" in a few words',
            'how would you define "{given}"?',
            'tell me what somebody means who says "{given}"',
        ),
        ('"{given}" means {answer}.', 'Something "{given}" is {answer}.'),
        _pairs(_MEANINGS),
        "explain words",
        "where you met the word",
        ("language.translate", "language.find_rhymes", "library.find_book"),
    ),
    Chat(
        "concept",
        (
            "what is {given}, in general?",
            "explain in one sentence what is meant by {given}",
            "how would you explain {given} to a child?",
            "tell me in plain words what is meant by {given}",
        ),
        ("{Given}: {answer}.", "In plain words, {given} is {answer}."),
        _concept,
        "explain terms",
        "which values I should use",
    ),
    Chat(
        "difference",
        (
            "what is the difference between {one} and {two}?",
            "explain to me how {one} and {two} differ",
            "in what way is {one} not the same as {two}?",
            "tell me what sets {one} and {two} apart",
        ),
        ("{answer}.", "The difference: {answer}."),
        _difference,
        "explain differences",
        "which of the two you need",
    ),
    Chat(
        "days",
        (
            "how many days has {given}?",
            "tell me the number of days in {given}",
            "of how many days is the month of {given} made?",
            "say how long the month of {given} is, in days",
        ),
        ("{given} has {answer} days.", "There are {answer} days in {given}."),
        _pairs(_DAYS),
        "count days",
        "which year you mean",
        ("calendar.create_event", "weather.history", "energy.consumption"),
        determined=True,
    ),
    Chat(
        "capital",
        (
            "what is the capital of {given}?",
            "name the capital of {given}",
            "which city is the capital of {given}?",
            "tell me from which city {given} is governed",
        ),
        ("The capital of {given} is {answer}.", "It is {answer}."),
        _pairs(_CAPITALS),
        "look cities up",
        "the date of your journey",
        ("travel.visa_rules", "weather.forecast", "travel.find_trains"),
        determined=True,
    ),
    Chat(
        "mixture",
        (
            "which colour do I get from {one} and {two}?",
            "tell me what {one} and {two} paint make when mixed",
            "what comes out if I mix {one} with {two}?",
            "name the colour that {one} and {two} give together",
        ),
        ("{one} and {two} make {answer}.", "You get {answer}."),
        _mixture,
        "mix colours",
        "how bright it should be",
        ("home.set_lamp", "chemistry.mix_solutions", "garden.mix_soil"),
        determined=True,
    ),
    Chat(
        "legs",
        (
            "how many legs has a {given}?",
            "tell me the number of legs of a {given}",
            "on how many legs does a {given} walk?",
            "say how many legs a {given} has got",
        ),
        ("A {given} has {answer} legs.", "It has {answer} legs."),
        _pairs(_LEGS),
        "count legs",
        "what kind you mean",
        ("botany.identify_plant", "botany.latin_name", "library.find_book"),
        determined=True,
    ),
    Chat(
        "young",
        (
            "what does one call the young of a {given}?",
            "name the word for a young {given}",
            "which word is used for the offspring of a {given}?",
            "tell me what a baby {given} is called",
        ),
        ('It is called a "{answer}".', 'The young of a {given} is a "{answer}".'),
        _pairs(_YOUNG),
        "name animals",
        "how old it is",
        ("botany.latin_name", "language.translate", "botany.tree_age"),
        determined=True,
    ),
    Chat(
        "implement",
        (
            "what does one need to {given}?",
            "name the thing with which people {given}",
            "which tool do people take to {given}?",
            "tell me with what one can {given}",
        ),
        ("One needs {answer}.", "People use {answer} for that."),
        _pairs(_TOOLS),
        "give advice",
        "the highest price that you would pay",
        ("shop.search_products", "shop.place_order", "shop.compare_prices"),
    ),
    Chat(
        "planets",
        (
            "which planet is the next one outwards from {given}?",
            "name the planet that circles the sun right outside {given}",
            "seen from the sun, which planet comes after {given}?",
            "tell me the outer neighbour of the planet {given}",
        ),
        ("After {given} comes {answer}.", "It is {answer}."),
        _neighbour,
        "look planets up",
        "the date that you want to look at the sky",
        ("astronomy.planet_position", "astronomy.orbital_period", "astronomy.star_brightness"),
        determined=True,
    ),
)
"""In no order that matters."""
