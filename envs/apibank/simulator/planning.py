"""The tools of level 3. Their tables stand inside the official tools; a missing key gives Python's own text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from callgym.envs.apibank.simulator.calculator import calculator
from callgym.envs.apibank.simulator.services import tool_searcher
from callgym.envs.apibank.simulator.world import DATE, ToolCrash, World, moment
from callgym.tool_backends.python import ToolFailure

__all__ = ["TOOLS"]

_CLOTHES = (
    (10.0, ("Warm coat", "Hat", "Gloves")),
    (20.0, ("Light jacket", "Long-sleeved shirt")),
    (30.0, ("T-shirt", "Shorts")),
    (float("inf"), ("Sun hat", "Sunglasses", "Loose-fitting clothes")),
)
_HUMID = 70
_EARTH_RADIUS = 6_371_000
# Rates by the greatest threshold that the salary reaches; the official table's last band is never reached.
_LAST_BAND = "inf"


def _look_up(table: str, answer: str | None = None, complaint: str | None = None) -> Callable[..., Any]:
    """A tool of one parameter that looks its value up in a table.

    Without a complaint of its own the official tool says what Python says of a missing key.
    """

    def tool(world: World, **arguments: Any) -> Any:
        (key,) = arguments.values()
        # JSON writes a table's whole numbers as text.
        found = world.read(table).get(str(key))
        if found is None:
            raise ToolFailure(_unknown(world, key) if complaint is None else complaint.format(key=key))
        return found if answer is None else {answer: found}

    return tool


def _unknown(world: World, key: Any) -> str:
    return repr(key) if world.official else f"There is no {key!r} in the database."


def _account(rows: list[Any], username: str, password: str) -> Any:
    for key, account in rows:
        if key == [username, password]:
            return account
    raise ToolFailure("User not found.")


def account_info(world: World, username: str, password: str) -> Any:
    return _account(world.read("lv3/AccountInfo"), username, password)


def personal_info_update(world: World, username: str, password: str, address: str) -> Any:
    # The official tool changes a table of its own, which AccountInfo does not see.
    tables = ["lv3/PersonalInfoUpdate"] if world.official else ["lv3/PersonalInfoUpdate", "lv3/AccountInfo"]
    _account(world.read(tables[0]), username, password)
    for table in tables:
        _account(world.write(table), username, password)["address"] = address
    return {"status": "success"}


def add_meeting(world: World, meeting_topic: str, start_time: str, end_time: str, location: str, attendees: Any) -> Any:
    moment(start_time)
    moment(end_time)
    if not meeting_topic.strip():
        raise ToolFailure("Meeting Topic should not be null")
    world.write("lv3/AddMeeting").append(
        {
            "meeting_topic": meeting_topic,
            "start_time": start_time,
            "end_time": end_time,
            "location": location,
            "attendees": attendees,
        }
    )
    return "success"


def email_reminder(world: World, content: str, time: str, location: str, recipient: str) -> Any:
    moment(time)
    if not content.strip():
        raise ToolFailure("Content should not be empty")
    return "success"


def clothing_recommendation(world: World, temperature: float, humidity: float, weather_conditions: str) -> Any:
    options = list(next(clothes for limit, clothes in _CLOTHES if temperature < limit or limit == float("inf")))
    if humidity > _HUMID:
        options += ["Umbrella", "Waterproof shoes"]
    if "rain" in weather_conditions.lower():
        options.append("Raincoat")
    return {"clothing_options": options}


def flight_search(world: World, source: str, destination: str, travel_dates: str) -> Any:
    flights = []
    used = world.memory.setdefault("flights", set())
    for number, flight in enumerate(world.read("lv3/FlightSearch")):
        if flight["source"] != source or flight["destination"] != destination:
            continue
        if world.official and number in used:
            raise ToolFailure("'str' object has no attribute 'date'")
        if datetime.fromisoformat(flight["departure_date"]).date() == moment(travel_dates, DATE).date():
            # Official: the hit's dates are turned into text in the table itself, and the next search breaks.
            used.add(number)
            flights.append(dict(flight))
    return {"flights": flights}


def hotel_availability(world: World, destination: str, check_in_date: str, check_out_date: str) -> Any:
    arrival, departure = moment(check_in_date, DATE), moment(check_out_date, DATE)
    hotels = []
    used = world.memory.setdefault("hotels", set())
    for name, hotel in world.read("lv3/HotelAvailability").items():
        opens, closes = (datetime.fromisoformat(hotel[key]) for key in ("check_in_date", "check_out_date"))
        if hotel["destination"] != destination or not (opens <= arrival and closes >= departure):
            continue
        if world.official and name in used:
            raise ToolFailure("'str' object has no attribute 'strftime'")
        used.add(name)
        hotels.append(
            {
                **hotel,
                "check_in_date": opens.date().isoformat(),
                "check_out_date": closes.date().isoformat(),
            }
        )
    return {"hotels": hotels}


def geocoding(world: World, address: str) -> Any:
    place = world.read("lv3/Geocoding").get(address)
    if place is None:
        raise ToolFailure(_unknown(world, address))
    latitude, longitude = place
    return {"latitude": latitude, "longitude": longitude}


def get_weather_for_coordinates(world: World, latitude: float, longitude: float) -> Any:
    for place, weather in world.read("lv3/GetWeatherForCoordinates"):
        if place == [latitude, longitude]:
            return {key: weather[key] for key in ("temperature", "humidity", "description")}
    if world.official:
        raise ToolCrash("TypeError: 'NoneType' object is not subscriptable")
    raise ToolFailure("There is no weather for these coordinates.")


def nearby_restaurants(world: World, latitude: float, longitude: float, distance: int) -> Any:
    restaurants = world.read("lv3/NearbyRestaurants")
    if not world.official:  # the official tool names all it has, wherever they are
        here = (latitude, longitude)
        restaurants = [place for place in restaurants if _metres(here, place["coordinates"]) <= distance]
    return {"restaurants": restaurants}


def _metres(one: Sequence[float], other: Sequence[float]) -> float:
    """The distance of two points on the globe; infinite where one is none."""
    if any(abs(latitude) > 90 or abs(longitude) > 360 for latitude, longitude in (one, other)):
        return math.inf
    (north, east), (other_north, other_east) = (map(math.radians, point) for point in (one, other))
    chord = math.sin((other_north - north) / 2) ** 2
    chord += math.cos(north) * math.cos(other_north) * math.sin((other_east - east) / 2) ** 2
    return 2 * _EARTH_RADIUS * math.asin(math.sqrt(min(1.0, chord)))


def tax_calculator(world: World, salary: float) -> Any:
    rates = {float(key): rate for key, rate in world.read("lv3/TaxCalculator").items() if key != _LAST_BAND}
    reached = [threshold for threshold in rates if threshold <= salary]
    if not reached:
        raise ToolFailure("" if world.official else "The salary cannot be negative.")
    try:
        return {"salary_after_tax": salary * (1 - rates[max(reached)])}
    except OverflowError:
        raise ToolFailure("The salary is too large.") from None


def movie_recommendations(world: World, preferences: Any) -> Any:
    films: list[Any] = []
    for genre in preferences:
        known = world.read("lv3/MovieRecommendations").get(genre) if isinstance(genre, str) else None
        if known is None:
            raise ToolFailure(_unknown(world, genre))
        films += known
    return {"recommended_movies": films}


TOOLS: dict[str, Callable[..., Any]] = {
    "AccountInfo": account_info,
    "PersonalInfoUpdate": personal_info_update,
    "AddMeeting": add_meeting,
    "QueryMeeting": _look_up("lv3/QueryMeeting", "meetings"),
    "EmailReminder": email_reminder,
    "Calculator": calculator,
    "ClothingRecommendation": clothing_recommendation,
    "FlightSearch": flight_search,
    "HotelAvailability": hotel_availability,
    "Geocoding": geocoding,
    "GetWeatherForCoordinates": get_weather_for_coordinates,
    "NearbyRestaurants": nearby_restaurants,
    "GetOccupationSalary": _look_up("lv3/GetOccupationSalary", "salary", "The occupation is not in the database."),
    "TaxCalculator": tax_calculator,
    "LikeCount": _look_up("lv3/LikeCount", "like_count", "Post with ID {key} does not exist."),
    "UserPosts": _look_up("lv3/UserPosts", "post_ids"),
    "UserMoviePreferences": _look_up("lv3/UserMoviePreferences", "preferences"),
    "UserWatchedMovies": _look_up("lv3/UserWatchedMovies", complaint="User not found."),
    "MovieRecommendations": movie_recommendations,
    "OrganizationMembers": _look_up("lv3/OrganizationMembers", "members"),
    "TravelStatus": _look_up("lv3/TravelStatus"),
    "ToolSearcher": tool_searcher,
}
