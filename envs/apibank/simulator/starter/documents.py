"""Our own documentation of API-Bank's 73 tools, for where the benchmark's is not at hand::

    DOCUMENTS["apis"][0]["input_parameters"]["token"]      # {"type": "str", "description": "..."}

The names and types of tools and parameters are the benchmark's; every description was written for this project, from
what the tools do. They are kept as two texts, one for each set of tools::

    Name: what it does
      parameter type: what goes in (no type: str; no description: a shared one)
        and a deeper line goes on with the line before
      > answer type: what comes out

``{time}`` and ``{day}`` stand for the two formats in which the tools take dates.
"""

from __future__ import annotations

import re
from typing import Any

from callgym.envs.apibank.simulator.starter.text_table import lines

__all__ = ["DOCUMENTS", "search_text"]

_FORMATS = {"{time}": "written %Y-%m-%d %H:%M:%S", "{day}": "written %Y-%m-%d"}

_SHARED = {
    "token": "The caller's access token; GetUserToken hands it out.",
    "username": "Unique name under which the account is kept.",
    "password": "Password belonging to that account.",
    "attendees": "Who takes part, a list of names.",
    "appointment_id": "Eight digits that identify one hospital appointment.",
    "latitude": "Degrees north, not negative.",
    "longitude": "Degrees east, not negative.",
    "user_name": "Full name of the person.",
    "formula": "Whole numbers joined by + - * / and round brackets, such as 6*(4-1). No decimals, no leading sign, "
    "no brackets inside brackets.",
    "keywords": "A few words saying what the tool should be able to do, or its name.",
    "> status": "'success' once it is done.",
    "> result": "The value, always a decimal number.",
    "> best_matchs": "Documentation of the tool that fits best; a list that starts with GetUserToken where that tool "
    "needs a token.",
}
"""What a parameter, or an answer (with ``> ``), means where its line does not say."""

_APIS = """
AddAgenda: Add an entry, an event or a todo, to the caller's agenda, saying what happens, when and where.
  token
  content: What the entry is about; not blank.
  time: When it happens, {time}.
  location: Where it happens.
  > status
AddAlarm: Add an alarm: set an alarm clock for the caller.
  token
  time: When it should ring, {time}.
  > status
AddMeeting: Book or schedule a meeting in the caller's name, with its subject, hours, room and people.
  token
  meeting_topic: Subject of the meeting, up to 50 characters; not blank.
  start_time: When it begins, {time}.
  end_time: When it is over, {time}.
  location: Room or place, up to 100 characters.
  attendees list(str)
  > status
AddReminder: Add a reminder: note down something of which the caller wants to be reminded at a given time.
  token
  content: What to be reminded of; not blank.
  time: When to be reminded, {time}.
  > status
AddScene: Add a smart-home scene: a new name for a group of devices that are used together.
  name: Name of the new scene; capitals do not count, and no other scene may have it.
  devices list: Devices of the scene, each {"name": ..., "description": ...}; no device name twice.
  > status
AppointmentRegistration: Register a patient with a doctor at the hospital; one appointment a patient and day.
  patient_name: Who is to be seen.
  date: Day of the visit, {day}.
  doctor_name: Which doctor is to be seen.
  > appointment_id: Eight digits by which the new appointment is known.
BookHotel: Order rooms at a hotel. More than two adults need at least two rooms, and a hotel takes one order at a time.
  hotel_name: Name of the hotel, exactly.
  check_in_time: Day of arrival, {day}.
  check_out_time: Day of departure, {day}.
  room_count int: How many rooms.
  adult_count int: How many grown-ups will stay.
  child_count int: How many children will stay.
  > order_id: Number of the order.
Calculator: Calculate the value of a formula in plain arithmetic: plus, minus, times, divided by.
  formula
  > result float
CancelRegistration: Call off an appointment at the hospital.
  appointment_id
  > status
CancelTimedSwitch: Take back a planned switching of a smart device.
  name: Name of the device; capitals do not count.
  time: The planned moment, {time}.
  > status
CheckToken: Tell whose access token this is.
  token: The access token in question.
  > username: Name of the account to which it belongs.
DeleteAccount: Close the caller's account for good.
  token
  > status
DeleteAgenda: Strike an entry out of the caller's agenda; either its words or its moment must fit exactly.
  token
  content: What the entry says.
  time: When it happens, {time}.
  location: Where it happens; not compared.
  > status
DeleteAlarm: Remove an alarm clock of the caller's.
  token
  time: When it would ring, {time}.
  > status
DeleteMeeting: Cancel one of the caller's meetings, found by its exact subject or its exact beginning.
  token
  meeting_topic: Subject of the meeting to cancel.
  start_time: When it would begin, {time}.
  end_time: When it would be over, {time}.
  location: Room or place; not compared.
  attendees list(str): Who would take part; not compared.
  > status
DeleteReminder: Drop one of the caller's reminders, found by its exact words or its exact moment.
  token
  content: What the reminder says.
  time: When it is due, {time}.
  > status
DeleteScene: Remove a smart-home scene.
  name: Name of the scene; capitals do not count.
  > status
Dictionary: Look up what an English word means.
  keyword: The word; capitals do not count.
  > results list: One item a part of speech: {"partOfSpeech": ..., "definitions": [{"definition": ...}], ...}.
DocumentQA: Answer a question about a text file on the web.
  url: Address of the file, ending in .txt.
  question: What to find out from the text.
  > answer: The answer, in words.
EmergencyKnowledge: Say how to give first aid for a symptom, illness by illness.
  symptom: What the person suffers from; capitals do not count.
  > results list: What may lie behind it and how to help: [{"name": ..., "aid": ...}].
ForgotPassword: Reset a password that the user forgot, in two calls: the first sends a code by email, the second sets a
    new password with it. Name every parameter that you give.
  status: 'Forgot Password' in the first call, 'Verification Code' in the second.
  username: First call only: whose password was lost.
  email: First call only: the address kept for that account.
  verification_code int: Second call only: the code that the first call gave.
  new_password: Second call only: the password from now on.
  > status: The code after the first call, 'success' after the second.
GetToday: Tell the current date, that of today.
  > date: Today, {day}.
GetUserToken: Log in with username and password and receive the access token that other tools ask for.
  username
  password
  > token: The access token of that account.
ImageCaption: Describe a picture on the web in one line.
  url: Address of the picture, ending in .jpg, .jpeg or .png.
  > caption: What the picture shows.
ModifyAgenda: Rewrite the entry of the caller's agenda whose words or whose moment are the ones given.
  token
  content: What the entry says from now on.
  time: When it happens from now on, {time}.
  location: Where it happens from now on.
  > status
ModifyAlarm: Move an alarm clock of the caller's to another time.
  token
  from_time: When it rings now, {time}.
  to_time: When it should ring instead, {time}.
  > status
ModifyMeeting: Change subject or hours of one of the caller's meetings, found by its subject or its beginning.
  token
  meeting_topic: Subject of the meeting.
  start_time: When it begins, {time}.
  end_time: When it is over, {time}.
  location: Room or place; stays as it was.
  attendees list(str): Who takes part; stays as it was.
  > status
ModifyPassword: Replace the caller's password by another one.
  token
  old_password: The password up to now.
  new_password: The password from now on.
  > status
ModifyRegistration: Modify an appointment at the hospital: move it to another day or to another doctor.
  appointment_id
  new_appointment_date: Optional. The other day, {day}; one of the two must bring a change.
  new_appointment_doctor: Optional. The other doctor.
  > status
ModifyReminder: Reword or put off one of the caller's reminders, found by its exact words or its exact moment.
  token
  content: What to be reminded of; not blank.
  time: When to be reminded, {time}.
  > status
ModifyScene: Give a smart-home scene another set of devices.
  name: Name of the scene; capitals do not count.
  devices list: All its devices from now on, each {"name": ..., "description": ...}; no device name twice.
  > status
OpenBankAccount: Open an account at the bank.
  account: Name of the new bank account; no other may have it.
  password: Password of the new account.
  name: Who will hold it.
  > status: 'success', or 'failed' where that account exists.
PlayMusic: Start playing a song or another piece of music.
  music_name: Title of the piece.
  > status: Link that opens the player.
QueryAgenda: Show the entry of the caller's agenda whose words or whose moment are the ones given.
  token
  content: What the entry says, exactly.
  time: When it happens, {time}.
  location: Where it happens; not compared.
  > info json: The entry, with content, time, location and username.
QueryAlarm: Query alarm clocks: check whether the caller has an alarm clock at some time.
  token
  time: When it should ring, {time}.
  > info json: The alarm, with time and username.
QueryBalance: Tell how much money the caller has at the bank.
  token
  > balance float: Money in the account.
QueryHealthData: Show what was measured of a person's health between two moments.
  user_id: Whose measurements; capitals do not count.
  start_time: From when, {time}.
  end_time: Until when, {time}; not before the start.
  > health_data list: One record a measuring time, with the values taken then.
QueryHistoryToday: Tell what happened in history on this day of the year.
  date: The day, written %m-%d.
  > history list: The events, one text each.
QueryMeeting: Show one of the caller's meetings, found by its exact subject or its exact beginning.
  token
  meeting_topic: Subject of the meeting, exactly.
  start_time: When it begins, {time}.
  end_time: When it is over, {time}; not compared.
  location: Room or place; not compared.
  attendees list(str): Who takes part; not compared.
  > meeting_info json: The meeting, with everything known of it.
QueryRegistration: Find the hospital appointments that a patient has on a day.
  patient_name: Who is to be seen.
  date: Day of the visit, {day}.
  > appointments list: Appointment id to {"patient_name": ..., "date": ..., "doctor_name": ...}.
QueryReminder: Show one of the caller's reminders, found by its exact words or its exact moment.
  token
  content: What the reminder says, exactly.
  time: When it is due, {time}.
  > reminder_info json: The reminder, with content, time and username.
QueryScene: List the devices of a smart-home scene.
  name: Name of the scene; capitals do not count.
  > devices list: Its devices, each with name and description.
QueryStock: Tell what a share cost on a day at the exchange.
  stock_code: Short code of the share; capitals do not count.
  date: Trading day, {day}.
  > stock_price float: Price of one share on that day.
RecordHealthData: Write down values that were measured of a person's health.
  user_id: Whose measurements; capitals do not count.
  time: When they were taken, {time}.
  health_data list: Values, each {"name": ..., "value": ...}; no name twice.
  > status
RegisterUser: Sign up: create an account under a name that is still free.
  username: Name for the new account; no other account may have it.
  password: Password for the new account.
  email: Where mail to the new user goes.
  > token: The access token of the new account.
SearchEngine: Search the web for pages about something.
  keyword: Words to search for.
  > results list: The two pages that fit best, each with title, url and abstract.
SendEmail: Send an email to an address.
  receiver: Address that the mail goes to.
  subject: Its headline; not blank.
  content: Its text; not blank.
  > status
SpeechRecognition: Write out what is said in a sound recording on the web.
  url: Address of the recording, ending in .wav.
  > transcript: The spoken words.
SymptomSearch: List illnesses that may lie behind a symptom.
  symptom: What the person suffers from; capitals do not count.
  > results list: Possible illnesses: [{"name": ..., "description": ...}].
TimedSwitch: Plan a timed switch: turn a smart device, such as a light, on or off at a given moment, like a timer.
  name: Name of the device; capitals do not count.
  time: When to switch it, {time}.
  on bool: True switches it on, False switches it off.
  > status
ToolSearcher: Find a tool that can do what is wanted.
  keywords
  > best_matchs Union[List[dict], dict]
Translate: Put a text into another language.
  src: The text.
  src_lang: Optional. Language of the text, by name or code; found out from the text where it is left out.
  tgt_lang: Optional. Language wanted, by name or code; English where it is left out.
  > translated_text: The text in the language wanted.
Wiki: Look a subject up in an encyclopedia such as Wikipedia.
  keyword: The subject; capitals do not count.
  > results dict: Address of the article and its opening words: {"url": ..., "summary": ...}.
"""

_LV3_APIS = """
AccountInfo: Show what is kept in a person's account, email and phone.
  username: Full name of the account's owner.
  password
  > status
  > account_info dict: What is kept, field by field.
AddMeeting: Book or schedule a meeting, with its subject, hours, room and people.
  meeting_topic: Subject of the meeting, up to 50 characters; not blank.
  start_time: When it begins, {time}.
  end_time: When it is over, {time}.
  location: Room or place, up to 100 characters.
  attendees list(str)
  > status
Calculator: Calculate the value of a formula in plain arithmetic: plus, minus, times, divided by.
  formula
  > result float
ClothingRecommendation: Suggest what clothes to wear in such weather.
  temperature float: Degrees Celsius, not negative.
  humidity float: Relative humidity in percent.
  weather_conditions: The weather in words.
  > clothing_options list: Pieces of clothing that suit it.
EmailReminder: Send someone an email that reminds them of a meeting.
  content: What the mail says; not blank.
  time: When the meeting begins, {time}.
  location: Where the meeting is held.
  recipient: Address that the mail goes to.
  > status
FlightSearch: Find flights from one city to another on a day of travel.
  source: City of departure.
  destination: City of arrival.
  travel_dates: Day of departure, {day}.
  > flights list: Flights of that day, each with its departure and arrival.
Geocoding: Find out where a city or address lies on the map, as coordinates.
  address: City or address, exactly.
  > latitude float
  > longitude float
GetOccupationSalary: Get the salary that people in an occupation earn in a year.
  occupation: Name of the occupation, exactly.
  > salary float: Yearly salary before tax.
GetWeatherForCoordinates: Tell the present weather at a point on the map, given by its coordinates.
  latitude float
  longitude float
  > temperature float: Degrees Celsius.
  > humidity float: Relative humidity in percent.
  > description: The weather in words.
HotelAvailability: Find hotels in a city that have room during the whole of a stay.
  destination: City of the stay.
  check_in_date: Day of arrival, {day}.
  check_out_date: Day of departure, {day}.
  > hotels list: Hotels with room, each with the span of days in which it has some.
LikeCount: Count how often a post was liked.
  post_id int: Number of the post.
  > like_count int: How many likes it has.
MovieRecommendations: Recommend films of the kinds that somebody prefers.
  preferences list: Kinds of film, a list of genres.
  > recommended_movies list: Titles of films, genre after genre.
NearbyRestaurants: Name restaurants around a point on the map, given by its coordinates.
  latitude float
  longitude float
  distance int: How far from the point they may be, in metres.
  > restaurants list: Restaurants, each with name and coordinates.
OrganizationMembers: Name the people who belong to an organization.
  organization: Name of the organization, exactly.
  > members list: Full names of its members.
PersonalInfoUpdate: Change the address in a person's account.
  username: Full name of the account's owner.
  password
  address: Where the person lives from now on.
  > status
QueryMeeting: List the meetings in a person's calendar.
  user_name
  > meetings list: Meetings, each with number, name, time, place and attendees.
TaxCalculator: Subtract income taxes: tell what is left of a salary after tax.
  salary float: Salary before tax, not negative.
  > salary_after_tax float: What is left.
ToolSearcher: Find a tool that can do what is wanted.
  keywords
  > best_matchs Union[List[dict], dict]: Documentation of the tool that fits best.
TravelStatus: Tell whether a person is travelling or at work, and where.
  member_name: Full name of the person.
  > status: Where the person is.
UserMoviePreferences: Tell which kinds of film a person prefers.
  user_name
  > preferences list: Genres that the person likes.
UserPosts: List the posts that a user has written.
  user_id int: Number of the user.
  > post_ids list: Numbers of the user's posts.
UserWatchedMovies: List the films that a person has already watched.
  user_name
  > watched_movies list: Titles of those films.
"""

_CAPITAL = re.compile(r"([A-Z])")


def _documents(text: str) -> tuple[dict[str, Any], ...]:
    for short, words in _FORMATS.items():
        text = text.replace(short, words)
    found: list[dict[str, Any]] = []
    for line in lines(text):
        head, _, words = line.partition(": ")
        if not line.startswith(" "):
            found.append({"name": head, "description": words, "input_parameters": {}, "output_parameters": {}})
            continue
        shared, kind = head.strip(), "output_parameters" if head.startswith("  > ") else "input_parameters"
        name, _, type_name = shared.removeprefix("> ").partition(" ")
        mark = "> " if kind == "output_parameters" else ""
        if not words:
            words = _SHARED.get(f"{mark}{name}") or _SHARED[name]
        found[-1][kind][name] = {"type": type_name or "str", "description": words}
    return tuple(found)


def search_text(name: str, description: str) -> str:
    """What the tool search compares keywords with, after ``ToolSearcher`` of API-Bank's code.

    Args:
        name: The tool's name.
        description: What its documentation says it does.

    Returns:
        The name with a space before each capital and in lower case, then the description, with nothing in between.
    """
    return _CAPITAL.sub(r" \1", name).lower().strip() + description


DOCUMENTS: dict[str, tuple[dict[str, Any], ...]] = {"apis": _documents(_APIS), "lv3_apis": _documents(_LV3_APIS)}
"""Set of tools (``apis``: levels 1 and 2, ``lv3_apis``: level 3) to its documents, ToolSearcher's included: name,
description, input_parameters and output_parameters, the latter two as name to type and description. Not to be changed:
copy what you hand out."""
