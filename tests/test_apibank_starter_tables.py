"""The simulated tools' own tables and documentation: official shapes, one world, no official text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from callgym.envs.apibank.simulator.starter import cast, tables
from callgym.envs.apibank.simulator.starter.documents import DOCUMENTS, search_text

DATABASES = tables.databases()
BUILTIN = tables.builtin()
EXTERNAL = tables.external()

# --- shapes ------------------------------------------------------------------------------------

FIELDS = {
    "password", "token", "email", "phone", "content", "time", "location", "username", "patient_name", "date", "name",
    "doctor_name", "balance", "age", "city", "Title", "Date", "Description", "hotel_name", "url", "caption", "summary",
    "meeting_topic", "start_time", "question", "answer", "raw_documents", "title", "abstract", "description", "aid",
    "on", "meeting_id", "coordinates", "temperature", "destination", "source", "account", "database",
    "address_to_coordinates", "salary_info", "tax_rates", "restaurants", "coordinates_to_weather", "hotel_database",
    "flight_data", "partOfSpeech", "definition", "definitions", "src", "dest", "text",
}  # fmt: skip
"""A dict with one of these keys is a record; any other is a map, whose keys are data."""


def shape(value: Any, path: str = "") -> set[str]:
    """The paths to the leaves of ``value``, with * for a key that is data, and the kind of each leaf."""
    if isinstance(value, dict):
        record = any(key in FIELDS for key in value)
        parts = [shape(item, f"{path}/{key if record else '*'}") for key, item in value.items()]
        return {f"{path}/"}.union(*parts)
    if isinstance(value, list):
        return {f"{path}[]"}.union(*(shape(item, f"{path}[]") for item in value))
    if isinstance(value, bool):
        return {f"{path}: flag"}
    return {f"{path}: {'number' if isinstance(value, int | float) else 'text'}"}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def parity(official_data: Path) -> Path:
    folder = official_data / "api_bank_parity"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_has_the_official_shape(name: str, apibank_data: Path) -> None:
    official = read(apibank_data / "init_database" / f"{name}.json")
    if name == "SearchEngine":
        del official["sample_queries"]  # no tool reads them
    if name == "HealthData":  # people differ in what was measured
        assert shape(DATABASES[name]) < shape(official)
    else:
        assert shape(DATABASES[name]) == shape(official)


def test_all_databases_are_there(apibank_data: Path) -> None:
    assert set(DATABASES) == {path.stem for path in (apibank_data / "init_database").glob("*.json")}


def test_builtin_tables_have_the_official_shape(parity: Path) -> None:
    official = read(parity / "builtin_tables.json")
    assert set(BUILTIN) == set(official)
    for name, table in official.items():
        assert shape(BUILTIN[name]) == shape(table), name


def test_external_answers_have_the_official_shape(parity: Path) -> None:
    official = read(parity / "recorded_external.json")
    assert set(EXTERNAL) == set(official)
    assert shape(EXTERNAL["Translate"]) == shape(official["Translate"])
    assert shape(EXTERNAL["Dictionary"]) <= shape(official["Dictionary"]) | {"/*[]/antonyms[]: text"}


def test_languages_are_those_that_the_official_tool_knows(parity: Path) -> None:
    official = read(parity / "translate_languages.json")
    assert tables.languages().items() <= official.items()


# --- what must hold without any official file --------------------------------------------------


def test_tables_are_json_small_and_new_at_each_call() -> None:
    for make, limit in ((tables.databases, 110_000), (tables.builtin, 50_000), (tables.external, 25_000)):
        first, second = make(), make()
        assert first == second == json.loads(json.dumps(first))
        assert len(json.dumps(first)) < limit
        for table in first.values():
            table.clear()
        assert second == make() != first


def test_tables_are_the_same_in_another_process() -> None:
    code = (
        "import json; from callgym.envs.apibank.simulator.starter import tables as t;"
        "print(json.dumps([t.databases(), t.builtin(), t.external(), t.languages()]))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(finished.stdout) == [DATABASES, BUILTIN, EXTERNAL, tables.languages()]


@pytest.mark.parametrize(
    ("name", "least"),
    [("Account", 24), ("Agenda", 24), ("Alarm", 24), ("Appointments", 16), ("Bank", 16), ("HealthData", 12),
     ("History", 60), ("Hotel", 8), ("ImageCaptioning", 40), ("Meeting", 24), ("QuestionAnswering", 8),
     ("Reminder", 24), ("Scenes", 12), ("SpeechRecognition", 20), ("Stock", 15), ("Symptom", 16), ("TimeSwitch", 12),
     ("Wiki", 40)],
)  # fmt: skip
def test_tables_are_rich(name: str, least: int) -> None:
    assert len(DATABASES[name]) >= least


# --- levels 1 and 2 ----------------------------------------------------------------------------


def test_everyone_with_an_account_has_plans() -> None:
    accounts = DATABASES["Account"]
    assert len({account["token"] for account in accounts.values()}) == len(accounts)
    assert all(re.fullmatch(r"[a-z0-9]{18}", account["token"]) for account in accounts.values())
    for name in ("Agenda", "Alarm", "Reminder", "Meeting"):
        assert {row["username"] for row in DATABASES[name].values()} == set(accounts), name
    assert set(DATABASES["Bank"]) < set(accounts)


@pytest.mark.parametrize(("name", "keys"), [("Agenda", ("content", "time")), ("Alarm", ("time",)),
                                            ("Reminder", ("content", "time")),
                                            ("Meeting", ("meeting_topic", "start_time"))])  # fmt: skip
def test_an_entry_can_be_told_from_the_others_of_its_owner(name: str, keys: tuple[str, ...]) -> None:
    rows = list(DATABASES[name].values())
    for key in keys:
        assert len({(row["username"], row[key]) for row in rows}) == len(rows)


def test_some_entries_share_their_words_with_someone_elses() -> None:
    contents = [row["content"] for row in DATABASES["Agenda"].values()]
    assert len(set(contents)) < len(contents)


def test_moments_and_days_are_written_as_the_tools_write_them() -> None:
    rows = [row for name in ("Agenda", "Alarm", "Reminder") for row in DATABASES[name].values()]
    times = [row["time"] for row in rows]
    times += [row[key] for row in DATABASES["Meeting"].values() for key in ("start_time", "end_time")]
    times += [row["time"] for name in ("HealthData", "TimeSwitch") for each in DATABASES[name].values() for row in each]
    for time in times:
        assert datetime.strptime(time, "%Y-%m-%d %H:%M:%S").strftime("%Y-%m-%d %H:%M:%S") == time
        assert "2023-03-01" <= time < "2023-07-01"
    days = [row["date"] for row in DATABASES["Appointments"].values()]
    days += [row[key] for row in DATABASES["Hotel"].values() for key in ("check_in_time", "check_out_time")]
    days += [day for prices in DATABASES["Stock"].values() for day in prices]
    assert [date.fromisoformat(day).isoformat() for day in days] == days
    assert {len(prices) for prices in DATABASES["Stock"].values()} == {10}


def test_meetings_and_stays_end_after_they_begin() -> None:
    assert all(row["start_time"] < row["end_time"] for row in DATABASES["Meeting"].values())
    assert all(row["check_in_time"] < row["check_out_time"] for row in DATABASES["Hotel"].values())
    assert all(row["room_count"] > 1 for row in DATABASES["Hotel"].values() if row["adult_count"] > 2)


def test_appointments_are_one_a_patient_and_day_for_people_we_know() -> None:
    rows = list(DATABASES["Appointments"].values())
    assert len({(row["patient_name"], row["date"]) for row in rows}) == len(rows)
    assert {row["patient_name"] for row in rows} <= set(BUILTIN["QueryMeeting"]["database"])
    assert all(re.fullmatch(r"\d{8}", number) for number in DATABASES["Appointments"])


def test_history_stands_under_its_day() -> None:
    for day, events in DATABASES["History"].items():
        for event in events:
            assert date.fromisoformat(event["Date"]).strftime("%m-%d") == day
        assert [event["Date"] for event in events] == sorted(event["Date"] for event in events)
    assert "03-31" in DATABASES["History"]  # today, to GetToday


def test_the_search_looks_at_the_words_of_title_and_abstract() -> None:
    index = DATABASES["SearchEngine"]
    pages = index["raw_documents"]
    assert len(pages) == len(index["tokenized_documents"]) >= 25
    assert len({page["title"] for page in pages}) == len({page["url"] for page in pages}) == len(pages)
    for page, words in zip(pages, index["tokenized_documents"], strict=True):
        assert words == re.findall(r"[a-z0-9]+", f"{page['title']} {page['abstract']}".lower())


def test_keys_that_tools_lower_or_raise_are_so() -> None:
    for name in ("Symptom", "Scenes", "TimeSwitch", "Wiki"):
        assert all(key == key.strip().lower() and "_" not in key for key in DATABASES[name]), name
    for name in ("Stock", "HealthData"):
        assert all(key == key.strip().upper() for key in DATABASES[name]), name
    for devices in DATABASES["Scenes"].values():
        assert [device["name"] for device in devices] == sorted({device["name"].lower() for device in devices})


def test_urls_end_as_the_tools_want_and_lead_nowhere() -> None:
    pictures = [row["url"] for row in DATABASES["ImageCaptioning"]]
    pages = [row["url"] for row in (*DATABASES["Wiki"].values(), *DATABASES["SearchEngine"]["raw_documents"])]
    assert len(set(pictures)) == len(pictures)
    assert all(url.endswith((".jpg", ".jpeg", ".png")) for url in pictures)
    assert all(url.endswith(".wav") for url in DATABASES["SpeechRecognition"])
    assert all(url.endswith(".txt") for url in DATABASES["QuestionAnswering"])
    for url in (*pictures, *pages, *DATABASES["SpeechRecognition"], *DATABASES["QuestionAnswering"]):
        assert re.match(r"https://[a-z]+\.example\.(org|net)/", url)


def test_mail_can_be_sent_to_everyone() -> None:
    for account in DATABASES["Account"].values():
        assert re.fullmatch(r"[a-z0-9]+[\._]?[a-z0-9]+[@]\w+[.]\w{2,3}", account["email"])


# --- level 3 -----------------------------------------------------------------------------------


def table(tool: str) -> Any:
    [found] = BUILTIN[tool].values()
    return found


def test_a_person_is_known_to_every_tool() -> None:
    people = {person.name for person in cast.PEOPLE}
    assert len(people) == 24
    for tool in ("UserWatchedMovies", "QueryMeeting", "TravelStatus", "UserMoviePreferences"):
        assert set(table(tool)) == people, tool
    for tool in ("AccountInfo", "PersonalInfoUpdate"):
        assert {name for (name, _), _ in table(tool)} == people
    members = [name for names in table("OrganizationMembers").values() for name in names]
    assert sorted(members) == sorted(people)
    assert {person.occupation for person in cast.PEOPLE} <= set(table("GetOccupationSalary"))
    assert {person.city for person in cast.PEOPLE} <= set(table("Geocoding"))


def test_an_account_is_the_same_at_every_level() -> None:
    by_email = {account["email"]: account["password"] for account in DATABASES["Account"].values()}
    assert {row["email"]: password for (_, password), row in table("AccountInfo")} == by_email


def test_a_meeting_stands_in_the_calendar_of_everyone_who_takes_part() -> None:
    calendars = table("QueryMeeting")
    for name, meetings in calendars.items():
        assert meetings
        for meeting in meetings:
            assert name in meeting["meeting_attendees"]
            assert all(meeting in calendars[attendee] for attendee in meeting["meeting_attendees"])
            row = DATABASES["Meeting"][str(meeting["meeting_id"])]
            assert (row["meeting_topic"], row["start_time"]) == (meeting["meeting_name"], meeting["meeting_time"])
            assert row["attendees"] == meeting["meeting_attendees"]


def test_there_is_a_film_to_recommend_to_everyone() -> None:
    films = table("MovieRecommendations")
    assert len(films) == 12
    assert len({film for genre in films.values() for film in genre}) == 48
    for name, preferences in table("UserMoviePreferences").items():
        recommended = {film for genre in preferences for film in films[genre]}
        assert set(table("UserWatchedMovies")[name]) < recommended


def test_a_city_is_known_to_every_tool() -> None:
    places = table("Geocoding")
    weather = {tuple(place): row for place, row in table("GetWeatherForCoordinates")}
    assert len(places) == 15
    assert set(weather) == {tuple(place) for place in places.values()}
    for latitude, longitude in places.values():
        near = [
            row["name"]
            for row in table("NearbyRestaurants")
            if abs(row["coordinates"][0] - latitude) < 0.02 and abs(row["coordinates"][1] - longitude) < 0.02
        ]
        assert len(near) == 2
    flights, hotels = table("FlightSearch"), table("HotelAvailability").values()
    assert {row["source"] for row in flights} == {row["destination"] for row in flights} == set(places)
    assert {row["destination"] for row in hotels} == set(places)


def test_every_band_of_clothing_is_worn_somewhere() -> None:
    weather = [row for _, row in table("GetWeatherForCoordinates")]
    assert {min(row["temperature"] // 10, 3) for row in weather} == {0, 1, 2, 3}
    assert (
        {row["humidity"] > 70 for row in weather} == {"rain" in row["description"] for row in weather} == {True, False}
    )


def test_where_a_flight_lands_a_room_is_free() -> None:
    for flight in table("FlightSearch"):
        assert flight["departure_date"] < flight["arrival_date"]
        first = datetime.fromisoformat(flight["arrival_date"]).date()
        last = first + timedelta(days=5)
        assert any(
            row["destination"] == flight["destination"]
            and row["check_in_date"] <= f"{first} 00:00:00" <= f"{last} 00:00:00" <= row["check_out_date"]
            for row in table("HotelAvailability").values()
        )


def test_every_post_has_likes() -> None:
    posts = [post for written in table("UserPosts").values() for post in written]
    assert sorted(posts) == list(range(1, 41)) == [int(post) for post in table("LikeCount")]


def test_salaries_fall_into_several_tax_bands() -> None:
    thresholds = [float(threshold) for threshold in table("TaxCalculator")]
    assert thresholds == sorted(thresholds)
    bands = {sum(threshold <= salary for threshold in thresholds) for salary in table("GetOccupationSalary").values()}
    assert len(bands) >= 3


# --- what a call has to say --------------------------------------------------------------------


def said_in_calls() -> Iterator[str]:
    """Texts of the tables that a caller has to repeat."""
    for username, account in DATABASES["Account"].items():
        yield from (username, *account.values())
    for name in ("Agenda", "Alarm", "Reminder", "Meeting", "Hotel", "Appointments"):
        for row in DATABASES[name].values():
            yield from (value for value in row.values() if isinstance(value, str))
    for name in ("HealthData", "QuestionAnswering", "Scenes", "SpeechRecognition", "Stock", "Symptom", "TimeSwitch"):
        yield from DATABASES[name]
    yield from DATABASES["Wiki"]
    yield from (row["url"] for row in DATABASES["ImageCaptioning"])
    yield from (row["question"] for rows in DATABASES["QuestionAnswering"].values() for row in rows)
    yield from EXTERNAL["Dictionary"]
    yield from (row["src"] for row in EXTERNAL["Translate"])
    for tool in ("Geocoding", "GetOccupationSalary", "QueryMeeting", "OrganizationMembers", "MovieRecommendations"):
        yield from table(tool)
    yield from (row["description"] for _, row in table("GetWeatherForCoordinates"))


def test_api_banks_call_text_can_carry_what_callers_say() -> None:
    """Its values end at the first quote of either kind."""
    for text in said_in_calls():
        assert text == text.strip() != ""
        assert text.isascii()
        assert not set(text) & set("'\"\n")


def test_no_number_that_callers_say_is_negative() -> None:
    """Its numbers are digits with at most one point."""
    for (latitude, longitude), row in table("GetWeatherForCoordinates"):
        for number in (latitude, longitude, row["temperature"], row["humidity"]):
            assert str(number).replace(".", "", 1).isdigit()


# --- documentation -----------------------------------------------------------------------------

TOOLS = [
    pytest.param(kind, document, id=f"{kind}-{document['name']}") for kind in DOCUMENTS for document in DOCUMENTS[kind]
]


def test_all_tools_are_documented() -> None:
    assert {kind: len(documents) for kind, documents in DOCUMENTS.items()} == {"apis": 53, "lv3_apis": 22}
    for documents in DOCUMENTS.values():
        assert len({document["name"] for document in documents}) == len(documents)
        assert len({document["description"] for document in documents}) == len(documents)
        assert "ToolSearcher" in {document["name"] for document in documents}


@pytest.mark.parametrize(("kind", "document"), TOOLS)
def test_a_document_says_what_everything_is(kind: str, document: dict[str, Any]) -> None:
    assert list(document) == ["name", "description", "input_parameters", "output_parameters"]
    assert document["output_parameters"]
    said = [document["description"]]
    for field in (*document["input_parameters"].values(), *document["output_parameters"].values()):
        assert list(field) == ["type", "description"]
        said.append(field["description"])
    for words in said:
        assert words[0].isupper() or words[0] == "'"
        assert words.endswith(".")
        assert "  " not in words
        assert not re.search(r"\{(time|day)\}", words)
    for name, field in document["input_parameters"].items():
        if re.search(r"time|date", name):
            assert "%" in field["description"]


@pytest.mark.parametrize(("kind", "document"), TOOLS)
def test_names_and_types_are_official(kind: str, document: dict[str, Any], parity: Path) -> None:
    [official] = [
        other for other in read(parity / "tool_docs.json")[kind]["descriptions"] if other["name"] == document["name"]
    ]
    for part in ("input_parameters", "output_parameters"):
        assert [(name, field["type"]) for name, field in document[part].items()] == [
            (name, field["type"]) for name, field in official[part].items()
        ]


def test_tools_stand_in_the_official_order(parity: Path) -> None:
    for kind, official in read(parity / "tool_docs.json").items():
        assert [document["name"] for document in DOCUMENTS[kind]] == [
            other["name"] for other in official["descriptions"]
        ]


def test_search_text_is_built_as_officially(parity: Path) -> None:
    for official in read(parity / "tool_docs.json").values():
        descriptions = {other["name"]: other["description"] for other in official["descriptions"]}
        for name, text in official["search_text"].items():
            assert search_text(name, descriptions[name]) == text


def test_search_text_puts_the_name_right_before_the_description() -> None:
    assert search_text("DocumentQA", "Answer.") == "document q aAnswer."


# --- nothing copied ----------------------------------------------------------------------------


def test_no_name_password_or_address_is_official(apibank_data: Path, parity: Path) -> None:
    folder = apibank_data / "init_database"
    official = {path.stem: read(path) for path in folder.glob("*.json")}
    for name in ("Account", "Bank", "Appointments", "HealthData", "Stock", "Scenes", "Wiki", "QuestionAnswering",
                 "SpeechRecognition"):  # fmt: skip
        assert not set(DATABASES[name]) & set(official[name]), name
    for key in ("password", "token", "email"):
        ours = {account[key] for account in DATABASES["Account"].values()}
        assert not ours & {account[key] for account in official["Account"].values()}
    urls = {row["url"] for row in official["ImageCaptioning"]}
    assert not urls & {row["url"] for row in DATABASES["ImageCaptioning"]}
    builtin = read(parity / "builtin_tables.json")
    for tool in ("UserWatchedMovies", "Geocoding", "GetOccupationSalary", "OrganizationMembers", "HotelAvailability"):
        [theirs] = builtin[tool].values()
        assert not set(table(tool)) & set(theirs), tool


def test_no_sentence_of_the_documentation_is_official(parity: Path) -> None:
    def sentences(documents: Any) -> set[str]:
        return {
            text.strip().lower()
            for document in documents
            for text in (
                document["description"],
                *(field["description"] for field in document["input_parameters"].values()),
                *(field["description"] for field in document["output_parameters"].values()),
            )
        }

    for kind, official in read(parity / "tool_docs.json").items():
        assert not sentences(DOCUMENTS[kind]) & sentences(official["descriptions"])
