"""Writers of plans for level 3: one requirement that takes two to four calls, each built on the ones before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from callgym.envs.apibank.simulator.starter.cast import FILMS
from callgym.envs.apibank.simulator.tables import starter_tables
from callgym.envs.apibank.starter import pools
from callgym.envs.apibank.starter.live import sentences
from callgym.envs.apibank.starter.live.plans import Part, Plan, Turn
from callgym.envs.apibank.starter.live.records import any_value
from callgym.envs.apibank.starter.live.values import Draw

__all__ = ["REQUIREMENTS", "SHARES"]

_WEATHER = ("Light rain", "Thick fog", "Clear sky", "Snow showers", "Heavy rain", "Thin clouds", "Strong wind", "Sunny")
_WHERE = ("On the train to", "At the office in", "On a site visit in", "On leave in", "Giving a talk in", "Flying to")
_RESTAURANT_A = ("Copper", "Little", "Old", "Blue", "Salty", "Golden", "Quiet", "Hungry", "Twelve", "Wooden")
_RESTAURANT_B = ("Spoon", "Kettle", "Terrace", "Granary", "Fork", "Table", "Pepper Mill", "Oven", "Plates", "Ladle")
_SALARIES = tuple(range(18_200, 119_000, 600))


def _said(draw: Draw, name: str) -> tuple[str, dict[str, Any]]:
    """One of the requirement's sentences, and the values in it."""
    slots, texts = sentences.REQUIREMENTS[name]
    text, template = draw.sentence(f"requirement/{name}", texts)
    sentence, _, values = draw.fill(template, text, slots)
    return sentence, values


def _linked(tool: str, before: Part, *names: str, **arguments: Any) -> Part:
    """A call with ``arguments``, and the ``names`` as the call before gave them."""
    return Part(tool, arguments, {name: (before, name) for name in names})


# --- places ------------------------------------------------------------------------------------


def _place(draw: Draw, town: str) -> list[Part]:
    """Set a town and its weather up; the calls that lead to its weather."""
    places = draw.state.setdefault("lv3/Geocoding", {})
    weather = draw.state.setdefault("lv3/GetWeatherForCoordinates", [])
    for name in (town, any_value(draw, "town")):
        if name not in places:
            places[name] = [draw.rng.randint(1_000, 7_000) / 100, draw.rng.randint(1_000, 17_000) / 100]
            now = {
                "temperature": draw.rng.randint(10, 36),
                "humidity": draw.rng.randint(20, 97),
                "description": draw.one(_WEATHER),
            }
            weather.append([places[name], now])
    point = Part("Geocoding", {"address": town})
    return [point, _linked("GetWeatherForCoordinates", point, "latitude", "longitude")]


def _restaurants(draw: Draw, point: Part, distance: int) -> Part:
    north, east = draw.state["lv3/Geocoding"][point.arguments["address"]]
    first, second = draw.rng.sample(_RESTAURANT_A, 2), draw.rng.sample(_RESTAURANT_B, 2)
    draw.state["lv3/NearbyRestaurants"] = [
        {"coordinates": [round(north + 0.001 * n, 3), round(east + 0.001 * n, 3)], "name": f"The {a} {b}"}
        for n, (a, b) in enumerate(zip(first, second, strict=True), 1)
    ]
    return _linked("NearbyRestaurants", point, "latitude", "longitude", distance=distance)


def _names(part: Part) -> str:
    return " and ".join(row["name"] for row in part.found["restaurants"])


_TELL_WEATHER = "{temperature} degrees Celsius and {humidity} percent humidity, with this sky: {description}"


def _weather(draw: Draw) -> Turn:
    words, values = _said(draw, "weather")
    parts = _place(draw, values["town"])
    tell = f"In {values['town']} there are {_TELL_WEATHER}."
    return Turn(words, parts, tell=lambda: tell.format_map(parts[-1].found))


def _clothes(draw: Draw) -> Turn:
    words, values = _said(draw, "clothes")
    point, weather = _place(draw, values["town"])
    clothes = _linked("ClothingRecommendation", weather, "temperature", "humidity")
    clothes.links = {**clothes.links, "weather_conditions": (weather, "description")}
    return Turn(
        words,
        [point, weather, clothes],
        tell=lambda: f"For {values['town']} I suggest: {', '.join(clothes.found['clothing_options'])}.",
    )


def _eating(draw: Draw) -> Turn:
    words, values = _said(draw, "eating")
    point = _place(draw, values["town"])[0]
    found = _restaurants(draw, point, values["distance"])
    return Turn(words, [point, found], tell=lambda: f"Near you are {_names(found)}.")


def _evening_out(draw: Draw) -> Turn:
    words, values = _said(draw, "evening_out")
    point, weather = _place(draw, values["town"])
    found = _restaurants(draw, point, values["distance"])
    tell = f"There are {_TELL_WEATHER}."
    return Turn(
        words,
        [point, weather, found],
        tell=lambda: f"{tell.format_map(weather.found)} You can eat at {_names(found)}.",
    )


# --- money -------------------------------------------------------------------------------------


def _salary(draw: Draw, occupation: str) -> tuple[Part, Part]:
    """Set a salary up; the calls that look it up and take the taxes off."""
    table = draw.state.setdefault("lv3/GetOccupationSalary", {})
    for name in (occupation, any_value(draw, "occupation")):
        table.setdefault(name, draw.one(_SALARIES))
    while not _is_short(table[occupation]):
        table[occupation] = draw.one(_SALARIES)
    earned = Part("GetOccupationSalary", {"occupation": occupation})
    return earned, _linked("TaxCalculator", earned, "salary")


def _is_short(salary: int) -> bool:
    """Whether the tax calculator gives a sum without a tail of rounding."""
    rates = starter_tables().base["lv3/TaxCalculator"]
    rate = max((float(key), rate) for key, rate in rates.items() if float(key) <= salary)[1]
    return len(repr(salary * (1 - rate))) <= len("100000.0")


def _left_after_tax(draw: Draw) -> Turn:
    words, values = _said(draw, "tax")
    earned, left = _salary(draw, values["occupation"])
    return Turn(
        words,
        [earned, left],
        tell=lambda: f"Of {earned.found['salary']} a year {left.found['salary_after_tax']} is left after tax.",
    )


def _two_salaries(draw: Draw) -> Turn:
    words, values = _said(draw, "two_salaries")
    first, second = (_salary(draw, values[name])[0] for name in ("first", "second"))
    table = draw.state["lv3/GetOccupationSalary"]
    names = (values["first"], values["second"])
    table.update(zip(names, sorted((table[name] for name in names), reverse=True), strict=True))
    difference = Part("Calculator", {"formula": f"{table[values['first']]}-{table[values['second']]}"})
    return Turn(
        words,
        [first, second, difference],
        tell=lambda: f"{first.found['salary']} minus {second.found['salary']} is {difference.found['result']}.",
    )


def _two_after_tax(draw: Draw) -> Turn:
    words, values = _said(draw, "two_after_tax")
    pairs = [_salary(draw, values[name]) for name in ("first", "second")]

    def tell() -> str:
        sums = [left.found["salary_after_tax"] for _, left in pairs]
        return f"After tax {values['first']} means {sums[0]} a year, and {values['second']} means {sums[1]}."

    return Turn(words, [part for pair in pairs for part in pair], tell=tell)


# --- people ------------------------------------------------------------------------------------


def _members(draw: Draw, firm: str, count: int) -> list[str]:
    people = draw.rng.sample(pools.FIRST, count + 1)
    names = [f"{first} {draw.one(pools.LAST)}" for first in people]
    table = draw.state.setdefault("lv3/OrganizationMembers", {})
    table[firm] = names[:count]
    table.setdefault(any_value(draw, "firm"), names[count:])
    return names[:count]


def _whereabouts(draw: Draw) -> Turn:
    words, values = _said(draw, "whereabouts")
    people = _members(draw, values["firm"], draw.one((2, 2, 3)))
    draw.state["lv3/TravelStatus"] = {name: f"{draw.one(_WHERE)} {draw.one(pools.CITIES)}" for name in people}
    found = [Part("TravelStatus", {"member_name": name}) for name in people]

    def tell() -> str:
        return ". ".join(f"{name}: {part.found['result']}" for name, part in zip(people, found, strict=True)) + "."

    return Turn(words, [Part("OrganizationMembers", {"organization": values["firm"]}), *found], tell=tell)


def _meeting_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"meeting_topic": values["topic"], **{k: values[k] for k in ("start_time", "end_time", "location")}}


def _meet_members(draw: Draw) -> Turn:
    words, values = _said(draw, "meet_members")
    _members(draw, values["firm"], draw.one((2, 3, 4)))
    members = Part("OrganizationMembers", {"organization": values["firm"]})
    meeting = Part("AddMeeting", _meeting_arguments(values), {"attendees": (members, "members")})
    return Turn(
        words,
        [members, meeting],
        tell=lambda: f"The meeting is booked with {', '.join(members.found['members'])}.",
    )


def _calendar(draw: Draw, person: str) -> Part:
    """Set one meeting of the person up; the call that looks it up."""
    start, _ = any_value(draw, "span", 2)
    row = {
        "meeting_id": draw.rng.randint(100, 999),
        "meeting_name": any_value(draw, "topic"),
        "meeting_time": start,
        "meeting_location": any_value(draw, "room"),
        "meeting_attendees": [person, any_value(draw, "person")],
    }
    draw.state["lv3/QueryMeeting"] = {person: [row]}
    return Part("QueryMeeting", {"user_name": person})


def _mail(meeting: Part, row: Mapping[str, Any], content: str, recipient: str | None) -> Part:
    arguments = {"content": content, "time": row["meeting_time"], "location": row["meeting_location"]}
    if recipient is not None:
        arguments["recipient"] = recipient
    return Part("EmailReminder", arguments)


def _remind(draw: Draw) -> Turn:
    words, values = _said(draw, "remind")
    meeting = _calendar(draw, values["person"])
    row = draw.state["lv3/QueryMeeting"][values["person"]][0]
    mail = _mail(meeting, row, values["content"], values["address"])
    tell = "The reminder is sent. The meeting is at {meeting_time} in the {meeting_location}."
    return Turn(words, [meeting, mail], tell=lambda: tell.format_map(row))


def _account(draw: Draw, name: str, password: str) -> dict[str, str]:
    """Set the person's account up in both tables that tools read; what is kept in it."""
    kept = {
        "email": f"{name.lower().replace(' ', '.')}@example.org",
        "phone": f"555-{draw.rng.randint(0, 9_999):04d}",
    }
    for table in ("lv3/AccountInfo", "lv3/PersonalInfoUpdate"):
        draw.state[table] = [[[name, password], dict(kept)]]
    return kept


def _remind_oneself(draw: Draw) -> Turn:
    words, values = _said(draw, "remind_oneself")
    meeting = _calendar(draw, values["person"])
    row = draw.state["lv3/QueryMeeting"][values["person"]][0]
    _account(draw, values["person"], values["password"])
    account = Part("AccountInfo", {"username": values["person"], "password": values["password"]})
    mail = _mail(meeting, row, values["content"], None)
    mail.links = {"recipient": (account, "email")}
    return Turn(words, [meeting, account, mail], tell=lambda: f"The reminder has gone to {account.found['email']}.")


def _new_meeting(draw: Draw) -> Turn:
    words, values = _said(draw, "new_meeting")
    meeting = Part("AddMeeting", {**_meeting_arguments(values), "attendees": values["attendees"]})
    row = {"meeting_time": values["start_time"], "meeting_location": values["location"]}
    return Turn(
        words,
        [meeting, _mail(meeting, row, values["content"], values["address"])],
        reply="The meeting is booked and the reminder is sent.",
    )


def _moving_house(draw: Draw) -> Turn:
    words, values = _said(draw, "moving_house")
    _account(draw, values["person"], values["password"])
    login = {"username": values["person"], "password": values["password"]}
    account = Part("AccountInfo", login)
    return Turn(
        words,
        [Part("PersonalInfoUpdate", {**login, "address": values["home"]}), account],
        tell=lambda: f"The address is changed. The phone number in the account is {account.found['phone']}.",
    )


# --- leisure -----------------------------------------------------------------------------------


def _taste(draw: Draw, person: str) -> list[Part]:
    genres = draw.rng.sample(tuple(FILMS), draw.one((1, 2, 2)))
    draw.state["lv3/UserMoviePreferences"] = {person: genres}
    draw.state["lv3/MovieRecommendations"] = {genre: draw.rng.sample(FILMS[genre], 2) for genre in genres}
    liked = Part("UserMoviePreferences", {"user_name": person})
    return [liked, _linked("MovieRecommendations", liked, "preferences")]


def _films(draw: Draw) -> Turn:
    words, values = _said(draw, "films")
    parts = _taste(draw, values["person"])
    return Turn(words, parts, tell=lambda: f"I recommend {', '.join(parts[-1].found['recommended_movies'])}.")


def _new_films(draw: Draw) -> Turn:
    words, values = _said(draw, "new_films")
    parts = _taste(draw, values["person"])
    films = [film for found in draw.state["lv3/MovieRecommendations"].values() for film in found]
    watched = draw.rng.sample(films, draw.rng.randint(1, len(films) - 1))
    draw.state["lv3/UserWatchedMovies"] = {values["person"]: watched}
    fresh = ", ".join(film for film in films if film not in watched)
    parts.append(Part("UserWatchedMovies", {"user_name": values["person"]}))
    return Turn(words, parts, reply=f"Not watched yet: {fresh}.")


def _posts(draw: Draw, user: int, count: int) -> tuple[Part, list[Part]]:
    """Set posts and their likes up; the calls that list the posts, and that count the likes of each."""
    numbers = draw.rng.sample(range(100, 1_000), count)
    draw.state["lv3/UserPosts"] = {str(user): numbers}
    draw.state["lv3/LikeCount"] = {str(number): draw.rng.randint(10, 990) for number in numbers}
    return Part("UserPosts", {"user_id": user}), [Part("LikeCount", {"post_id": number}) for number in numbers]


def _likes(draw: Draw) -> Turn:
    words, values = _said(draw, "likes")
    posts, counts = _posts(draw, values["user"], draw.one((2, 3, 3)))

    def tell() -> str:
        likes = [f"post {part.arguments['post_id']} has {part.found['like_count']} likes" for part in counts]
        return f"{'; '.join(likes)}.".capitalize()

    return Turn(words, [posts, *counts], tell=tell)


def _all_likes(draw: Draw) -> Turn:
    words, values = _said(draw, "all_likes")
    posts, counts = _posts(draw, values["user"], 2)
    likes = draw.state["lv3/LikeCount"]
    total = Part("Calculator", {"formula": "+".join(str(count) for count in likes.values())})
    return Turn(words, [posts, *counts, total], tell=lambda: f"In all that makes {total.found['result']} likes.")


def _trip(draw: Draw, towns: Sequence[str], day: date) -> Part:
    """Set a flight up; the call that finds it."""
    source, destination = towns
    leaves = datetime(day.year, day.month, day.day, draw.rng.randint(6, 19), draw.one((5, 20, 35, 50)))
    flight = {
        "source": source,
        "destination": destination,
        "departure_date": leaves.isoformat(sep=" "),
        "arrival_date": (leaves + timedelta(minutes=5 * draw.rng.randint(12, 40))).isoformat(sep=" "),
    }
    back = {**flight, "source": destination, "destination": source}
    draw.state["lv3/FlightSearch"] = [back, flight]
    return Part("FlightSearch", {"source": source, "destination": destination, "travel_dates": day.isoformat()})


def _flight_and_hotel(draw: Draw) -> Turn:
    words, values = _said(draw, "trip")
    day, until = date.fromisoformat(values["arrives"]), date.fromisoformat(values["leaves"])
    flight = _trip(draw, (values["source"], values["destination"]), day)
    opens, closes = (day - timedelta(days=draw.rng.randint(1, 5)), until + timedelta(days=draw.rng.randint(1, 5)))
    draw.state["lv3/HotelAvailability"] = {
        any_value(draw, "hotel"): {
            "destination": values["destination"],
            "check_in_date": f"{opens} 00:00:00",
            "check_out_date": f"{closes} 00:00:00",
        }
    }
    hotel = Part(
        "HotelAvailability",
        {"destination": values["destination"], "check_in_date": day.isoformat(), "check_out_date": until.isoformat()},
    )
    return Turn(
        words,
        [hotel, flight],
        tell=lambda: f"A hotel has room, and the flight departs at {flight.found['flights'][0]['departure_date']}.",
    )


def _flight_and_weather(draw: Draw) -> Turn:
    words, values = _said(draw, "flight_and_weather")
    day = date.fromisoformat(values["day"])
    flight = _trip(draw, (values["source"], values["destination"]), day)
    point, weather = _place(draw, values["destination"])
    tell = f"In {values['destination']} there are now {_TELL_WEATHER}."

    def say() -> str:
        return f"{tell.format_map(weather.found)} The flight lands at {flight.found['flights'][0]['arrival_date']}."

    return Turn(words, [point, weather, flight], tell=say)


REQUIREMENTS: Mapping[str, Callable[[Draw], Turn]] = {
    "weather": _weather,
    "clothes": _clothes,
    "eating": _eating,
    "evening_out": _evening_out,
    "left_after_tax": _left_after_tax,
    "two_salaries": _two_salaries,
    "two_after_tax": _two_after_tax,
    "whereabouts": _whereabouts,
    "meet_members": _meet_members,
    "remind": _remind,
    "remind_oneself": _remind_oneself,
    "new_meeting": _new_meeting,
    "moving_house": _moving_house,
    "films": _films,
    "new_films": _new_films,
    "likes": _likes,
    "all_likes": _all_likes,
    "flight_and_hotel": _flight_and_hotel,
    "flight_and_weather": _flight_and_weather,
}
"""Name to writer; all are drawn equally often."""


def _unserved(draw: Draw) -> str:
    i = int(draw.rng.random() * len(sentences.UNSERVED))
    wish = sentences.UNSERVED[i]
    text, template = draw.sentence(f"requirement/unserved/{i}", wish.clauses)
    return draw.fill(template, text, wish.slots)[0]


def _requirement(draw: Draw) -> Plan:
    name = draw.one(tuple(REQUIREMENTS))
    return Plan("requirement", [REQUIREMENTS[name](draw)])


def _partly_served(draw: Draw) -> Plan:
    """A requirement of which one part is beyond all tools."""
    plan = _requirement(draw)
    (turn,) = plan.turns
    clause, declined = _unserved(draw), draw.one(sentences.PARTLY)
    served = turn.tell

    def tell() -> str:
        return f"{served() if served is not None else turn.reply} {declined}"

    return Plan("partly_served", [Turn(f"{turn.user} Also, please {clause}.", turn.parts, tell=tell)])


def _no_tool_fits(draw: Draw) -> Plan:
    clause, reply = _unserved(draw), draw.one(sentences.DECLINES)
    if draw.chance(0.4):
        clause = f"{clause}, and then {_unserved(draw)}"
    return Plan("no_tool_fits", [Turn(draw.one(sentences.OPENINGS).format(clause=clause), reply=reply)])


SHARES: tuple[tuple[float, Callable[[Draw], Plan]], ...] = (
    (0.79, _requirement),
    (0.08, _partly_served),
    (0.13, _no_tool_fits),
)
"""(share, writer) of each kind."""
