"""Chats with numbers, days and facts that the question itself states."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from callgym.envs.bfcl.starter.functions_pools import FIRST_NAMES, words
from callgym.envs.bfcl.starter.functions_values import listed
from callgym.envs.bfcl.starter.single_calls import pick
from callgym.envs.when2call.starter.chat_model import Chat, out_of

__all__ = ["CHATS"]

_DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_THINGS = words("apples pencils stamps postcards candles buttons marbles tulips seashells teabags batteries envelopes")
_CITIES = words("Oslo Porto Graz Riga Tartu Seville Turin Lyon Ghent Leeds Cork Krakow Brno Split Leipzig Turku")
_ARTICLES = words("lamp kettle stove hose lock blanket drill suitcase torch frame mat bench tripod globe")
_SHOPS = words("Norda Kaufgut Bellmart Trovado Hallbergs Quickly Minova")
_FLOORS = words("first second third fourth fifth sixth seventh")


def _whole(rng: Random, low: int, high: int) -> int:
    return low + int(rng.random() * (high - low + 1))


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def _sum(rng: Random, split: str) -> Mapping[str, str]:
    a, b = _whole(rng, 11, 89), _whole(rng, 11, 89)
    return {"a": str(a), "b": str(b), "answer": str(a + b)}


def _rest(rng: Random, split: str) -> Mapping[str, str]:
    a = _whole(rng, 20, 60)
    b = _whole(rng, 3, 17)
    return {"a": str(a), "b": str(b), "answer": str(a - b), "things": pick(rng, _THINGS), "name": _name(rng)}


def _name(rng: Random) -> str:
    return str(pick(rng, FIRST_NAMES))


def _names(rng: Random, count: int) -> list[str]:
    return rng.sample(FIRST_NAMES, count)


def _packs(rng: Random, split: str) -> Mapping[str, str]:
    a, b = _whole(rng, 3, 9), pick(rng, (4, 5, 6, 8, 10, 12))
    return {"a": str(a), "b": str(b), "answer": str(a * b), "things": pick(rng, _THINGS)}


def _half(rng: Random, split: str) -> Mapping[str, str]:
    answer = _whole(rng, 12, 240)
    return {"a": str(2 * answer), "answer": str(answer)}


def _tenth(rng: Random, split: str) -> Mapping[str, str]:
    percent, answer = pick(rng, ((10, 10), (20, 5), (25, 4), (50, 2))), _whole(rng, 3, 60)
    return {"percent": str(percent[0]), "a": str(answer * percent[1]), "answer": str(answer)}


def _larger(rng: Random, split: str) -> Mapping[str, str]:
    a = _whole(rng, 200, 900)
    b = a + pick(rng, (-63, -18, 9, 27, 81))
    return {"a": str(a), "b": str(b), "answer": str(max(a, b)), "other": str(min(a, b))}


def _round(rng: Random, split: str) -> Mapping[str, str]:
    whole, tenth = _whole(rng, 12, 400), pick(rng, (1, 2, 3, 4, 6, 7, 8, 9))
    return {"a": f"{whole}.{tenth}", "answer": str(whole + (tenth > 5))}


def _even(rng: Random, split: str) -> Mapping[str, str]:
    a = _whole(rng, 100, 9_000)
    return {"a": str(a), "answer": "odd" if a % 2 else "even"}


def _series(rng: Random, split: str) -> Mapping[str, str]:
    start, step = _whole(rng, 2, 30), _whole(rng, 3, 12)
    shown = [start + step * i for i in range(4)]
    return {"shown": ", ".join(map(str, shown)), "step": str(step), "answer": str(shown[-1] + step)}


def _departure(rng: Random, split: str) -> Mapping[str, str]:
    at, before = 60 * _whole(rng, 7, 20) + pick(rng, (0, 10, 20, 30, 40, 50)), pick(rng, (10, 15, 20, 25, 30, 40))
    times = {"at": _clock(at), "minutes": str(before), "answer": _clock(at - before)}
    return {**times, "city": pick(rng, _CITIES)}


def _end(rng: Random, split: str) -> Mapping[str, str]:
    at, lasts = 60 * _whole(rng, 8, 17) + pick(rng, (0, 15, 30, 45)), pick(rng, (20, 30, 45, 50, 75, 90))
    return {"at": _clock(at), "minutes": str(lasts), "answer": _clock(at + lasts), "name": _name(rng)}


def _rooms(rng: Random, split: str) -> Mapping[str, str]:
    one, two, three = _names(rng, 3)
    first, second, third = rng.sample(_FLOORS, 3)
    facts = f"{one} works on the {first} floor, {two} on the {second} and {three} on the {third}"
    return {"facts": facts, "floor": second, "answer": two}


def _cheaper(rng: Random, split: str) -> Mapping[str, str]:
    one, two = rng.sample(_SHOPS, 2)
    a = _whole(rng, 20, 90)
    b = a + pick(rng, (-7, -4, 3, 6, 11))
    cheap = one if a < b else two
    return {
        "article": pick(rng, _ARTICLES), "one": one, "two": two, "a": str(a), "b": str(b), "answer": cheap,
        "difference": str(abs(a - b)),
    }  # fmt: skip


def _day(rng: Random, split: str) -> Mapping[str, str]:
    today, days = _whole(rng, 0, 6), _whole(rng, 2, 6)
    return {"today": _DAYS[today], "days": str(days), "answer": _DAYS[(today + days) % 7]}


def _oldest(rng: Random, split: str) -> Mapping[str, str]:
    names, ages = _names(rng, 3), rng.sample(range(19, 70), 3)
    facts = listed([f"{name} is {age}" for name, age in zip(names, ages, strict=True)])
    return {"facts": facts, "answer": names[ages.index(max(ages))], "age": str(max(ages))}


def _guests(rng: Random, split: str) -> Mapping[str, str]:
    count = _whole(rng, 2, 4)
    return {"names": listed(_names(rng, count)), "answer": words("three four five")[count - 2]}


def _hours(rng: Random, split: str) -> Mapping[str, str]:
    hours = _whole(rng, 2, 9)
    return {"hours": str(hours), "answer": str(60 * hours), "name": _name(rng)}


def _left(rng: Random, split: str) -> Mapping[str, str]:
    total, spent = _whole(rng, 50, 95), _whole(rng, 11, 44)
    return {"a": str(total), "b": str(spent), "answer": str(total - spent), "article": pick(rng, _ARTICLES)}


def _colour(rng: Random, split: str) -> Mapping[str, str]:
    one, two = _names(rng, 2)
    first, second = rng.sample(words("red blue green grey white brown orange"), 2)
    return {
        "one": one, "two": two, "first": first, "second": second, "answer": second,
        "thing": pick(rng, words("coat scooter suitcase bicycle umbrella mug tent")),
    }  # fmt: skip


def _letters(rng: Random, split: str) -> Mapping[str, str]:
    word = out_of(
        words("lantern harbour meadow thunder orchard compass engine mirror island kettle feather"), rng, split
    )
    return {"word": word, "answer": str(len(word))}


_CALCULATORS = ("statistics.histogram", "geometry.sphere_surface", "matrix.determinant", "units.convert_length")

CHATS = (
    Chat(
        "sum",
        (
            "what is {a} plus {b}?",
            "add {a} and {b}",
            "how much do {a} and {b} make together?",
            "work out {a} + {b}",
        ),
        ("{a} plus {b} is {answer}.", "That makes {answer}."),
        _sum,
        "add numbers",
        "which unit the numbers are in",
        _CALCULATORS,
        determined=True,
    ),
    Chat(
        "rest",
        (
            "I had {a} {things} and gave {b} of them to {name}; how many do I still have?",
            "work out how many of my {a} {things} are left after {name} took {b}",
            "if I start with {a} {things} and lose {b}, how many remain?",
            "{name} borrowed {b} of my {a} {things}; tell me how many I have left.",
        ),
        ("You still have {answer} {things}.", "{a} minus {b} leaves {answer}."),
        _rest,
        "subtract numbers",
        "when that happened",
        ("warehouse.stock_level", "warehouse.move_stock", "table.count_rows"),
        determined=True,
    ),
    Chat(
        "packs",
        (
            "how many {things} are in {a} packs of {b}?",
            "work out how many {things} I get out of {a} packs with {b} in each",
            "if each of {a} boxes holds {b} {things}, how many is that?",
            "count the {things} in {a} bags for me, {b} to a bag",
        ),
        ("{a} times {b} is {answer}, so {answer} {things}.", "There are {answer} {things}."),
        _packs,
        "multiply numbers",
        "the size of a pack",
        ("logistics.container_load", "shop.search_products", "warehouse.stock_level"),
        determined=True,
    ),
    Chat(
        "half",
        (
            "what is half of {a}?",
            "tell me how much half of {a} is",
            "how much is {a} divided by two?",
            "cut {a} in half for me, as a number",
        ),
        ("Half of {a} is {answer}.", "It is {answer}."),
        _half,
        "divide numbers",
        "how precise the result should be",
        _CALCULATORS,
        determined=True,
    ),
    Chat(
        "percentage",
        (
            "how much is {percent} percent of {a}?",
            "tell me what {percent}% of {a} is",
            "if {percent}% of {a} seats are taken, how many is that?",
            "work out {percent} percent out of {a}",
        ),
        ("{percent} percent of {a} is {answer}.", "That is {answer}."),
        _tenth,
        "work out percentages",
        "the currency of the amount",
        ("finance.exchange", "finance.portfolio_value", "statistics.moving_average"),
        determined=True,
    ),
    Chat(
        "larger",
        (
            "which is larger, {a} or {b}?",
            "tell me the bigger number of {a} and {b}",
            "out of {a} and {b}, which one is greater?",
            "name the higher of these two numbers: {a}, {b}",
        ),
        ("{answer} is larger than {other}.", "The larger one is {answer}."),
        _larger,
        "compare numbers",
        "what the numbers stand for",
        ("statistics.correlation", "table.filter_rows", "statistics.trimmed_mean"),
        determined=True,
    ),
    Chat(
        "round",
        (
            "round {a} to a whole number",
            "what is {a} rounded to a whole number?",
            "give me {a} without decimals, rounded",
            "which whole number is nearest to {a}?",
        ),
        ("{a} rounds to {answer}.", "The nearest whole number is {answer}."),
        _round,
        "round numbers",
        "how many decimals you would like",
        ("units.convert_mass", "units.convert_length", "statistics.trimmed_mean"),
        determined=True,
    ),
    Chat(
        "even",
        (
            "is {a} an even or an odd number?",
            "tell me whether {a} is even or odd",
            "would you call {a} odd or even?",
            "say if the number {a} is odd or even",
        ),
        ("{a} is {answer}.", "It is an {answer} number."),
        _even,
        "examine numbers",
        "the range of numbers you are interested in",
        ("table.filter_rows", "statistics.histogram", "matrix.determinant"),
        determined=True,
    ),
    Chat(
        "series",
        (
            "which number comes next: {shown}?",
            "continue this series by one number: {shown}",
            "{shown}, and then which number?",
            "name the number that follows {shown}",
        ),
        ("Next comes {answer}, as each number is {step} larger than the one before.", "The next one is {answer}."),
        _series,
        "continue series",
        "the window that should be averaged over",
        ("statistics.moving_average", "statistics.histogram", "music.transpose"),
        determined=True,
    ),
    Chat(
        "departure",
        (
            "my train to {city} leaves at {at} and the way to the station takes {minutes} minutes; when must I go?",
            "tell me when to leave the house if my bus to {city} goes at {at} and I walk {minutes} minutes to it",
            "I walk {minutes} minutes to the station and my train to {city} departs at {at}. When do I set out?",
            "work out when I have to set off: the coach to {city} leaves at {at} and I need {minutes} minutes to it",
        ),
        ("Leave at {answer}, then you are there in time.", "You should set out by {answer}."),
        _departure,
        "work out departure times",
        "the date of the journey",
        ("travel.find_trains", "travel.find_buses", "calendar.create_event"),
        determined=True,
    ),
    Chat(
        "end",
        (
            "a meeting with {name} begins at {at} and lasts {minutes} minutes; when is it over?",
            "tell me when a call of {minutes} minutes ends that starts at {at} with {name}",
            "{name} wants to talk for {minutes} minutes from {at} on. When will we be done?",
            "work out the end of a talk with {name} that begins at {at} and takes {minutes} minutes",
        ),
        ("It is over at {answer}.", "It ends at {answer}."),
        _end,
        "add up times",
        "the date of the meeting",
        ("calendar.free_slots", "calendar.create_event", "calendar.delete_event"),
        determined=True,
    ),
    Chat(
        "floors",
        (
            "{facts}. Who is on the {floor} floor?",
            "{facts}; tell me who works on the {floor} floor.",
            "{facts}. So whom do I meet on the {floor} floor?",
            "{facts}; name the one on the {floor} floor.",
        ),
        ("{answer} works on the {floor} floor.", "That is {answer}."),
        _rooms,
        "find people",
        "the building that you mean",
        ("tasks.list_open", "calendar.free_slots", "school.timetable"),
        determined=True,
    ),
    Chat(
        "cheaper",
        (
            "a {article} costs {a} at {one} and {b} at {two}; where do I pay less?",
            "{one} wants {a} for the {article}, {two} wants {b}. Which shop is cheaper?",
            "tell me which shop is cheaper if {one} sells the {article} at {a} and {two} at {b}",
            "I saw the {article} for {a} at {one} and for {b} at {two}; say where I save money.",
        ),
        ("{answer} is cheaper by {difference}.", "You pay {difference} less at {answer}."),
        _cheaper,
        "compare those prices",
        "whether shipping should be included",
        ("shop.compare_prices", "shop.search_products", "finance.exchange"),
        determined=True,
    ),
    Chat(
        "weekday",
        (
            "if today is {today}, what day is it in {days} days?",
            "today is {today}; tell me which day comes {days} days later.",
            "my parcel was sent on a {today} and takes {days} days; on which weekday is it here?",
            "name the weekday that is {days} days after {today}",
        ),
        ("{days} days after {today} it is {answer}.", "It is a {answer}."),
        _day,
        "count days",
        "the code of the parcel",
        ("logistics.track_parcel", "calendar.create_event", "weather.forecast"),
        determined=True,
    ),
    Chat(
        "oldest",
        (
            "{facts}; who is the oldest?",
            "{facts}. Tell me which of them is the oldest.",
            "{facts}. Which one has lived longest?",
            "{facts}; name the oldest of them.",
        ),
        ("{answer} is the oldest, at {age}.", "The oldest is {answer}."),
        _oldest,
        "look people's ages up",
        "their dates of birth",
        ("statistics.histogram", "school.record_marks", "sport.player_statistics"),
        determined=True,
    ),
    Chat(
        "guests",
        (
            "{names} are coming to dinner; for how many do I lay the table if I eat too?",
            "tell me how many we are at the table when {names} come and I sit down with them",
            "{names} will eat with me tonight; how many plates do we need?",
            "count the people at my table: {names}, and myself",
        ),
        ("With you there are {answer} people.", "You need {answer} places."),
        _guests,
        "count guests",
        "the name of the restaurant",
        ("restaurant.reserve_table", "kitchen.find_recipes", "kitchen.scale_recipe"),
        determined=True,
    ),
    Chat(
        "hours",
        (
            "how many minutes are {hours} hours?",
            "tell {name} how many minutes {hours} hours have",
            "if {name} sleeps {hours} hours, how many minutes is that?",
            "say in minutes how long {hours} hours are",
        ),
        ("{hours} hours are {answer} minutes.", "That is {answer} minutes."),
        _hours,
        "count minutes",
        "the day that it is about",
        ("kitchen.set_timer", "health.sleep_report", "sport.running_pace"),
        determined=True,
    ),
    Chat(
        "change",
        (
            "I pay for a {article} of {b} with {a}; how much do I get back?",
            "tell me the change if I give {a} for a {article} that costs {b}",
            "my {article} was {b} and I gave the cashier {a}. How much change is due?",
            "I have {a} and buy a {article} for {b}; say what is left.",
        ),
        ("You get {answer} back.", "{a} less {b} is {answer}."),
        _left,
        "work out change",
        "the currency that you pay in",
        ("finance.exchange", "shop.place_order", "shop.apply_voucher"),
        determined=True,
    ),
    Chat(
        "colour",
        (
            "{one} has a {first} {thing} and {two} has a {second} one; which colour is {two}'s?",
            "{one}'s {thing} is {first}, {two}'s is {second}. Tell me the colour of {two}'s {thing}.",
            "between {one} with the {first} {thing} and {two} with the {second} one, which colour does {two} have?",
            "{one} bought a {first} {thing}, {two} a {second} one; name the colour that {two} chose.",
        ),
        ("It is {second}.", "{two}'s {thing} is {second}."),
        _colour,
        "tell colours",
        "the colour that you would like",
        ("shop.search_products", "home.set_lamp", "botany.identify_plant"),
        determined=True,
    ),
    Chat(
        "letters",
        (
            'how many letters has the word "{word}"?',
            'count the letters of the word "{word}"',
            'out of how many letters is "{word}" made?',
            'say how many letters there are in "{word}"',
        ),
        ('"{word}" has {answer} letters.', "It has {answer} letters."),
        _letters,
        "count letters",
        "which language the word is from",
        ("language.find_rhymes", "language.translate", "files.search"),
        determined=True,
    ),
)
"""In no order that matters."""
