"""What the people of the starter tables have planned: agenda, alarms, reminders, meetings.

Everyone has entries of each kind, and some share the words of an entry with someone else, so that a tool has to tell
apart whose entry it is.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from callgym.envs.apibank.simulator.starter.cast import MEETINGS, PEOPLE
from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["agenda", "alarms", "calendars", "meetings", "reminders"]

_AGENDA = rows(
    """
Water the roof garden | Brewer Lane 4
Lunch with the neighbours | Cafe Lindenhof
Have the bicycle fixed | Spoke Workshop
Return the borrowed ladder | Mill Lane 17
Flute lesson | Music School
Swim thirty lengths | Canal Baths
Visit the seed market | Old Fairground
Collect the framed map | Print Shop
Try on hiking boots | Ridge Outfitters
Tea with Aunt Sigrun | Birch Street 9
Eye test | Larkfield Optics
Volunteer at the book stall | Town Library
Pick up rye flour | Granary Shop
Evening walk with the dog | River Meadow
Parent evening | Elm School
Renew the passport | Citizens Office
Watch the puppet play | Little Stage
Pottery course | Clay Cellar
Give blood | Clinic North
Inspect the beehives | Orchard Hill
Practise the new duet | Attic Studio
Repair the rowing boat | Boat House
Choose wallpaper | Paint and Paper
Stargazing with the club | Windmill Field
"""
)
"""What is done, and where."""

_REMINDERS = [
    what
    for [what] in rows(
        """
Feed the sourdough
Defrost the freezer
Descale the kettle
Ring the piano tuner
Send the rent
Order cello strings
Air the guest room
Take the bins out
Post the birthday card
Wax the skis
Ask about the spare key
Back up the photos
Buy stamps
Top up the bus card
Prune the pear tree
Write to the landlord
Book the ferry
Charge the camera
Oil the garden gate
Try the smoke alarm
Read the water meter
Collect the parcel
Sign the school form
Change the bed linen
"""
    )
]

_TIME = "%Y-%m-%d %H:%M:%S"
_SECOND = 7
"""Besides the entry at their own place in a list, people have the one so many places further on."""


def _moment(number: int, first: datetime, days: int) -> str:
    """One of the moments after ``first``: it differs from number to number, at most ``days`` days on."""
    return (first + timedelta(days=(number * 11) % days, minutes=15 * ((number * 13) % 32))).strftime(_TIME)


def agenda() -> dict[str, dict[str, str]]:
    """Number to content, time, location and username; two entries a person."""
    found = {}
    for number in range(2 * len(PEOPLE)):
        second, place = divmod(number, len(PEOPLE))
        content, location = _AGENDA[(place + second * _SECOND) % len(_AGENDA)]
        found[str(number + 1)] = {
            "content": content,
            "time": _moment(number, datetime(2023, 4, 3, 9), 74),
            "location": location,
            "username": PEOPLE[place].username,
        }
    return found


def alarms() -> dict[str, dict[str, str]]:
    """Number to time and username; one or two alarms a person."""
    return {
        str(number + 1): {
            "time": _moment(number, datetime(2023, 4, 1, 5), 46),
            "username": PEOPLE[number % len(PEOPLE)].username,
        }
        for number in range(3 * len(PEOPLE) // 2)
    }


def reminders() -> dict[str, dict[str, str]]:
    """Number to content, time and username; two reminders a person."""
    found = {}
    for number in range(2 * len(PEOPLE)):
        second, place = divmod(number, len(PEOPLE))
        found[str(number + 1)] = {
            "content": _REMINDERS[(place + second * _SECOND) % len(_REMINDERS)],
            "time": _moment(number, datetime(2023, 4, 1, 8), 61),
            "username": PEOPLE[place].username,
        }
    return found


def meetings() -> dict[str, dict[str, Any]]:
    """Number to a meeting, as levels 1 and 2 keep it: it belongs to the one who has called it."""
    return {
        str(meeting.number): {
            "meeting_topic": meeting.topic,
            "start_time": meeting.start.strftime(_TIME),
            "end_time": meeting.end.strftime(_TIME),
            "location": meeting.location,
            "attendees": [person.name for person in meeting.attendees],
            "username": meeting.attendees[0].username,
        }
        for meeting in MEETINGS
    }


def calendars() -> dict[str, list[dict[str, Any]]]:
    """Name of a person to the same meetings, as level 3 keeps them: in the calendar of everyone who takes part."""
    return {
        person.name: [
            {
                "meeting_id": meeting.number,
                "meeting_name": meeting.topic,
                "meeting_time": meeting.start.strftime(_TIME),
                "meeting_location": meeting.location,
                "meeting_attendees": [attendee.name for attendee in meeting.attendees],
            }
            for meeting in MEETINGS
            if person in meeting.attendees
        ]
        for person in PEOPLE
    }
