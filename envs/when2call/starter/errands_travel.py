"""Errands for travellers: trains, hotels, weather, the sky."""

from __future__ import annotations

from callgym.envs.when2call.starter.errand_model import Errand, Gap

__all__ = ["ERRANDS"]

_HERE = "The place where the user is if left out."
_TODAY = "Today if left out."

_TRAVEL = (
    Errand(
        "travel.find_trains",
        "search for trains",
        (
            "Trains from {origin} to {destination} leave at {clock} on {date}, and every two hours after that.",
            "The fastest train from {origin} to {destination} on {date} departs at {clock} and takes {few} hours.",
        ),
        (
            Gap(
                "date",
                "the date of the journey",
                (
                    "find trains from {origin} to {destination}",
                    "which trains take me from {origin} to {destination}?",
                    "look for a train that brings me to {destination} from {origin}",
                ),
                _TODAY,
            ),
            Gap(
                "origin",
                "the origin, the city you start from",
                (
                    "find trains to {destination} on {date}",
                    "how do I get to {destination} by train on {date}?",
                    "look for a train that takes me to {destination} on {date}",
                ),
                "The home station of the user if left out.",
            ),
            Gap("travel_class", "the travel class, first or second"),
        ),
    ),
    Errand(
        "travel.find_buses",
        "search for long-distance buses",
        (
            "A coach from {origin} to {destination} leaves at {clock} on {date}.",
            "On {date} there are {few} buses from {origin} to {destination}, the first of them at {clock}.",
        ),
        (
            Gap(
                "date",
                "the date of the trip",
                (
                    "find a long-distance bus from {origin} to {destination}",
                    "which coaches go from {origin} to {destination}?",
                    "look for a coach to {destination} that starts in {origin}",
                ),
                _TODAY,
            ),
            Gap(
                "destination",
                "the destination of the bus",
                (
                    "find a long-distance bus that leaves {origin} on {date}",
                    "which coaches can I take from {origin} on {date}?",
                    "look for a coach out of {origin} on {date}",
                ),
                "All destinations if left out.",
            ),
        ),
    ),
    Errand(
        "travel.book_hotel",
        "book hotel rooms",
        (
            "Your room at the {hotel} is booked from {check_in} for {nights} nights.",
            "Done: the {hotel} expects you on {check_in}, {nights} nights, in room {many}.",
        ),
        (
            Gap(
                "check_in",
                "the check-in date",
                (
                    "book a room at the {hotel} for {nights} nights",
                    "reserve {nights} nights at the {hotel} hotel",
                    "get me a room in the {hotel} hotel where I can stay {nights} nights",
                ),
                "Tonight if left out.",
            ),
            Gap(
                "nights",
                "the number of nights",
                (
                    "book a room at the {hotel} from {check_in} on",
                    "reserve a room for me at the {hotel}, arriving {check_in}",
                    "get me a room in the {hotel} hotel from {check_in} on",
                ),
                default=1,
            ),
            Gap("breakfast", "whether breakfast should be included"),
        ),
    ),
    Errand(
        "travel.flight_status",
        "check the status of flights",
        (
            "Flight {flight} on {date} is {some} minutes late.",
            "On {date} the flight {flight} leaves on time, from gate {some}.",
        ),
        (
            Gap(
                "date",
                "the date of departure",
                (
                    "check the status of flight {flight}",
                    "is the flight {flight} on time?",
                    "tell me whether {flight} is delayed",
                ),
                _TODAY,
            ),
            Gap(
                "flight",
                "the flight number",
                (
                    "check the status of my flight on {date}",
                    "is my flight of {date} on time?",
                    "tell me whether my plane is delayed on {date}",
                ),
                "The user's first booked flight of the day if left out.",
            ),
        ),
    ),
    Errand(
        "travel.rent_car",
        "rent cars",
        (
            "A {category} is waiting for you in {city} from {start}, for {days} days.",
            "The {category} in {city} is rented: {days} days from {start}, at {some} a day.",
        ),
        (
            Gap(
                "category",
                "the category of car",
                (
                    "rent a car in {city} from {start} for {days} days",
                    "get me a car for {days} days in {city}, starting on {start}",
                    "book a rental car in {city}, {days} days from {start}",
                ),
                default="compact",
            ),
            Gap(
                "days",
                "for how many days you need the car",
                (
                    "rent a {category} in {city} from {start} on",
                    "get me a {category} car in {city}, starting on {start}",
                    "book a rental car, category {category}, in {city} from {start}",
                ),
                default=1,
            ),
            Gap(
                "city",
                "the city where the car is picked up",
                (
                    "rent a {category} from {start} for {days} days",
                    "get me a {category} car for {days} days, starting on {start}",
                    "book a rental car, category {category}, {days} days from {start}",
                ),
                _HERE,
            ),
        ),
    ),
    Errand(
        "travel.reserve_seats",
        "reserve places on board",
        (
            "{seats} seats on {train} are reserved, in carriage {few}.",
            "Your {seats} places on the train {train} are side by side in carriage {some}.",
        ),
        (
            Gap(
                "seats",
                "the number of seats",
                (
                    "reserve seats on the train {train}",
                    "keep places for us on {train}",
                    "get seat reservations for {train}",
                ),
                "One for each traveller of the booking if left out.",
            ),
            Gap(
                "train",
                "the number of the train",
                (
                    "reserve {seats} seats on our train",
                    "keep {seats} places for us on the train",
                    "get {seats} seat reservations for my next journey by train",
                ),
                "The train of the user's next booking if left out.",
            ),
            Gap("window", "whether you would like to sit at the window"),
        ),
    ),
    Errand(
        "travel.lost_luggage",
        "report lost luggage",
        (
            "The suitcase with the tag {tag} from flight {flight} was found in {few} minutes and is on its way.",
            "Reported: your case {tag} missed flight {flight} and arrives at {clock}.",
        ),
        (
            Gap(
                "tag",
                "the number on the luggage tag",
                (
                    "report that a suitcase is missing from flight {flight}",
                    "file a lost luggage report for flight {flight}",
                    "report that my case did not come out of flight {flight}",
                ),
                "All bags of the user's booking if left out.",
            ),
            Gap(
                "flight",
                "the flight that the case was on",
                (
                    "report that a suitcase is missing with the tag {tag}",
                    "file a lost luggage report for tag {tag}",
                    "report lost luggage, tag number {tag}",
                ),
                "The flight that the tag was printed for if left out.",
            ),
        ),
    ),
)

_WEATHER = (
    Errand(
        "weather.forecast",
        "look up the weather forecast",
        (
            "For the next {days} days {city} can expect light rain and highs of {some} degrees.",
            "{city} stays dry over the next {days} days, with a fresh wind from the west.",
        ),
        (
            Gap(
                "days",
                "for how many days you want the forecast",
                (
                    "get the weather forecast for {city}",
                    "what will the weather be like in {city}?",
                    "tell me the forecast for {city}",
                ),
                default=3,
            ),
            Gap(
                "city",
                "the city that the forecast is for",
                (
                    "get the weather forecast for the next {days} days",
                    "what will the weather be like over the next {days} days?",
                    "tell me the {days}-day forecast",
                ),
                _HERE,
            ),
            Gap("units", "the units, metric or imperial"),
        ),
    ),
    Errand(
        "weather.history",
        "look up the weather of past days",
        (
            "On {date} it was cloudy in {city}, with {few} hours of sun.",
            "{city} had heavy showers on {date} and a high of {some} degrees.",
        ),
        (
            Gap(
                "date",
                "the date that you mean",
                (
                    "look up in the records what the weather was in {city}",
                    "what was the weather like in {city}?",
                    "get the recorded weather of {city}",
                ),
                "Yesterday if left out.",
            ),
            Gap(
                "city",
                "the city that you mean",
                (
                    "look up in the records what the weather was on {date}",
                    "what was the weather like on {date}?",
                    "get the recorded weather for {date}",
                ),
                _HERE,
            ),
        ),
    ),
    Errand(
        "weather.air_quality",
        "measure air quality",
        (
            "The air in {city} is good at the moment, with an index of {some}.",
            "Air quality in {city} is poor today because of fine dust.",
        ),
        (
            Gap(
                "city",
                "the city that you are asking about",
                (
                    "check the air quality",
                    "how clean is the air right now?",
                    "tell me the air quality outside",
                    "see whether the air is clean today",
                ),
                _HERE,
            ),
        ),
    ),
    Errand(
        "weather.subscribe_alerts",
        "set up weather warnings",
        (
            "You will now get warnings of {kinds} for {city}.",
            "Warnings of {kinds} in {city} are on; the next check is at {clock}.",
        ),
        (
            Gap(
                "kinds",
                "which kinds of warnings you want",
                (
                    "subscribe me to weather warnings for {city}",
                    "sign me up for weather warnings in {city}",
                    "set up weather alerts in {city}",
                ),
                "All kinds if left out.",
            ),
            Gap(
                "city",
                "the city that the warnings are for",
                (
                    "subscribe me to warnings of {kinds}",
                    "sign me up for weather warnings about {kinds}",
                    "set up alerts for {kinds}",
                ),
                _HERE,
            ),
            Gap("phone", "the phone number that texts go to"),
        ),
    ),
    Errand(
        "weather.pollen_count",
        "look up pollen counts",
        (
            "There are {some} grains of {plant} pollen per cubic metre in {city} today.",
            "The {plant} pollen count in {city} is low and falling.",
        ),
        (
            Gap(
                "plant",
                "the plant whose pollen matters to you",
                (
                    "get the pollen count in {city}",
                    "how much pollen is in the air in {city}?",
                    "check the pollen in {city}",
                ),
                "All plants if left out.",
            ),
            Gap(
                "city",
                "the city that you are asking about",
                (
                    "get the {plant} pollen count",
                    "how much {plant} pollen is in the air?",
                    "check the pollen of {plant}",
                ),
                _HERE,
            ),
        ),
    ),
    Errand(
        "weather.tides",
        "look up tide tables",
        (
            "High water in {port} on {date} is at {clock}.",
            "On {date} the tide in {port} turns at {clock}.",
        ),
        (
            Gap(
                "date",
                "the date that you need the tides for",
                (
                    "get the tides in {port}",
                    "when is high and low water in {port}?",
                    "look up the tide table of {port}",
                ),
                _TODAY,
            ),
            Gap(
                "port",
                "the port that you mean",
                (
                    "get the tides on {date}",
                    "when is high and low water on {date}?",
                    "look up the tide table for {date}",
                ),
                "The nearest port if left out.",
            ),
        ),
    ),
)

_SKY = (
    Errand(
        "astronomy.sunrise",
        "look up sunrise times",
        (
            "The sun rises in {city} at {clock} on {date}.",
            "On {date} sunrise in {city} is at {clock}.",
        ),
        (
            Gap(
                "date",
                "the date that you mean",
                (
                    "find out when the sun rises in {city}",
                    "at what time is sunrise in {city}?",
                    "get the time of sunrise for {city}",
                ),
                _TODAY,
            ),
            Gap(
                "city",
                "the city that you mean",
                (
                    "find out when the sun rises on {date}",
                    "at what time is sunrise on {date}?",
                    "get the time of sunrise for {date}",
                ),
                _HERE,
            ),
        ),
    ),
    Errand(
        "astronomy.sunset",
        "look up sunset times",
        (
            "The sun sets in {city} at {clock} on {date}.",
            "On {date} sunset in {city} is at {clock}.",
        ),
        (
            Gap(
                "date",
                "the date that you mean",
                (
                    "find out when the sun sets in {city}",
                    "at what time is sunset in {city}?",
                    "get the time of sunset for {city}",
                ),
                _TODAY,
            ),
            Gap(
                "city",
                "the city that you mean",
                (
                    "find out when the sun sets on {date}",
                    "at what time is sunset on {date}?",
                    "get the time of sunset for {date}",
                ),
                _HERE,
            ),
        ),
    ),
    Errand(
        "astronomy.moon_phase",
        "look up phases of the moon",
        (
            "On {date} the moon is a waxing crescent, {some} percent lit.",
            "The moon is {few} days past full on {date}.",
        ),
        (
            Gap(
                "date",
                "the date that you mean",
                (
                    "find the phase of the moon",
                    "what phase does the moon have?",
                    "tell me what the moon looks like",
                    "look up the moon's phase",
                ),
                _TODAY,
            ),
            Gap("hemisphere", "the hemisphere that you watch from, north or south"),
        ),
    ),
    Errand(
        "astronomy.planet_position",
        "look up where planets stand",
        (
            "{planet} stands {some} degrees above the southern horizon on {date}.",
            "On {date} you find {planet} low in the east, next to a bright star.",
        ),
        (
            Gap(
                "date",
                "the date that you want to look at the sky",
                (
                    "find the position of {planet} in the sky",
                    "where in the sky is {planet}?",
                    "look up where {planet} stands",
                ),
                _TODAY,
            ),
            Gap(
                "planet",
                "the planet that you mean",
                (
                    "find the position of the planet in the sky on {date}",
                    "where in the sky is the planet on {date}?",
                    "look up where the planet stands on {date}",
                ),
                "All planets if left out.",
            ),
            Gap("time", "the time of the night, in UTC"),
        ),
    ),
    Errand(
        "astronomy.next_eclipse",
        "look up eclipses",
        (
            "The next {kind} eclipse over {city} after {after} comes {some} days later, at {clock}.",
            "{city} sees its first {kind} eclipse after {after} in the following spring.",
        ),
        (
            Gap(
                "kind",
                "the kind of eclipse, solar or lunar",
                (
                    "find the next eclipse in {city} after {after}",
                    "when is the first eclipse after {after} that one can see from {city}?",
                    "look for the next eclipse over {city}, starting from {after}",
                ),
                "Either kind if left out.",
            ),
            Gap(
                "city",
                "the city that you watch from",
                (
                    "find the next {kind} eclipse after {after}",
                    "when is the first {kind} eclipse after {after}?",
                    "look for the next {kind} eclipse, starting from {after}",
                ),
                _HERE,
            ),
            Gap(
                "after",
                "the day after which the search begins",
                (
                    "find the next {kind} eclipse in {city}",
                    "when is the first {kind} eclipse that one can see from {city}?",
                    "look for the next {kind} eclipse over {city}",
                ),
                _TODAY,
            ),
        ),
    ),
)

ERRANDS = (*_TRAVEL, *_WEATHER, *_SKY)
"""In the order of their domains."""
