"""API-Bank's simulated tools: what each answers and complains of, alone in its session, on tables that never change."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from callgym import Message, Task, ToolCall, ToolResult
from callgym.envs.apibank.simulator.calculator import evaluate
from callgym.envs.apibank.simulator.manager import TOOL_SETS, CallFault, call_tool
from callgym.envs.apibank.simulator.session import SimulatorBackend, SimulatorSession
from callgym.envs.apibank.simulator.tables import Tables, load_tables, starter_tables
from callgym.envs.apibank.simulator.world import own_copy
from callgym.envs.apibank.tools import make_tool
from callgym.goal import TextGoal
from callgym.json_value import copy_json
from callgym.schema import ToolSchema
from callgym.tool_backends.base import checked_call
from callgym.tool_backends.python import ToolFailure
from callgym.tool_backends.ranking import LexicalRanker

TABLES = starter_tables()
DOCUMENTS: dict[str, dict[str, dict[str, Any]]] = {name: dict(found) for name, found in TABLES.documents.items()}
SCHEMAS = {
    tool_set: {name: ToolSchema(make_tool(document)) for name, document in found.items()}
    for tool_set, found in DOCUMENTS.items()
}
BACKENDS = {
    (tool_set, official): SimulatorBackend(TABLES, tool_set, LexicalRanker(), official=official)
    for tool_set in TOOL_SETS
    for official in (False, True)
}
EVERY_TOOL = [(tool_set, name) for tool_set, tools in TOOL_SETS.items() for name in tools]


def task_of(initial_state: dict[str, Any] | None = None, **meta: Any) -> Task:
    return Task(
        id="t",
        family="apibank",
        split="test",
        messages=(Message(role="user", content="x"),),
        goal=TextGoal(reference="x"),
        initial_state=initial_state or {},
        meta=meta,
    )


TASK = task_of()


def opened(tool_set: str = "apis", official: bool = False, seed: int = 0, task: Task = TASK) -> SimulatorSession:
    return BACKENDS[tool_set, official].open(task, seed)


class No(str):
    """What a tool complains of."""


def absent(key: str) -> No:
    """What a look-up of level 3 says of a key, given as Python writes it."""
    return No(f"There is no {key} in the database.")


class Call(NamedTuple):
    tool: str
    given: dict[str, Any]


class Row(NamedTuple):
    tool: str
    given: dict[str, Any]
    gives: Any
    officially: Any
    after: tuple[Call, ...]


SAME: Any = object()


def row(tool: str, gives: Any, /, *, officially: Any = SAME, after: Sequence[Call] = (), **given: Any) -> Row:
    """A call and what it gives, as mended and, where that is another thing, officially."""
    return Row(tool, given, gives, gives if officially is SAME else officially, tuple(after))


def one(tool: str, /, **given: Any) -> Call:
    return Call(tool, given)


def made(session: SimulatorSession, tool_set: str, call: Call) -> Any:
    result = checked_call(session, ToolCall(name=call.tool, arguments=call.given), SCHEMAS[tool_set])
    assert result.error in (None, "tool_error", "invalid_arguments"), result
    return result.content if result.error is None else No(result.message)


# What every tool gives, on the starter tables.

TOKEN = TABLES.base["Account"]["ilse_marten"]["token"]
NO_ACCOUNT = TABLES.base["Account"]["petra_novotna"]["token"]
BAD_TIME = "time data '2023-05-01' does not match format '%Y-%m-%d %H:%M:%S'"
BAD_DAY = "time data 'May 1' does not match format '%Y-%m-%d'"
T1, T2 = "2023-05-01 09:00:00", "2023-05-01 10:00:00"
NO_TOKEN = No("The token is invalid.")
NOTHING_FOUND = No("No tool was found; try other keywords.")
GARDEN = {
    "username": "ilse_marten", "content": "Water the roof garden", "time": "2023-04-03 09:00:00",
    "location": "Brewer Lane 4",
}  # fmt: skip
DUES: dict[str, Any] = {
    "meeting_topic": "Harbour dues for the summer", "start_time": "2023-04-03 09:00:00",
    "end_time": "2023-04-03 09:45:00", "location": "Juniper Room",
    "attendees": ["Ilse Marten", "Ravi Solberg", "Noor Haddad", "Tobias Lindqvist"], "username": "ilse_marten",
}  # fmt: skip
MEET: dict[str, Any] = {"token": TOKEN, "start_time": T1, "end_time": T2, "location": "L", "attendees": ["A"]}
NO_TIMES: dict[str, Any] = {**MEET, "start_time": "", "end_time": ""}
ORDER: dict[str, Any] = {"hotel_name": "Amber Heron", "adult_count": 2, "child_count": 0, "room_count": 2}
LAMP, FAN = {"name": "Lamp ", "description": " by the door "}, {"name": "fan", "description": "above"}
HERON = "https://library.example.org/heron-report.txt"
PULSE = [{"name": "heart_rate", "value": 70}]
RESET: dict[str, Any] = {"status": "Verification Code", "verification_code": 970420, "new_password": "new"}
SENT = one("ForgotPassword", status="Forgot Password", username="ilse_marten", email="ilse.marten@example.org")
BOOKED = one("BookHotel", **ORDER, check_in_time="2023-06-10", check_out_time="2023-06-20")

APIS: list[Row] = [
    # Accounts.
    row("GetUserToken", {"token": TOKEN}, username="ilse_marten", password="bramble781"),
    row("GetUserToken", No("The username does not exist."), username="Ilse_Marten", password="bramble781"),
    row("GetUserToken", No("The password is incorrect."), username="ilse_marten", password="Bramble781"),
    row("CheckToken", {"username": "ilse_marten"}, token=TOKEN),
    row("CheckToken", NO_TOKEN, token=TOKEN + " "),
    row("RegisterUser", {"token": "y0cq65zt4wn6isigq8"}, username="nobody", password="p", email="e"),
    row("RegisterUser", No("The username already exists."), username="ilse_marten", password="p", email="e"),
    row("DeleteAccount", {"status": "success"}, token=TOKEN),
    row("DeleteAccount", NO_TOKEN, token=TOKEN, after=[one("DeleteAccount", token=TOKEN)]),
    row("ModifyPassword", {"status": "success"}, token=TOKEN, old_password="bramble781", new_password="x"),
    row("ModifyPassword", NO_TOKEN, token="", old_password="bramble781", new_password="x"),
    row("ModifyPassword", No("The old password is incorrect."), token=TOKEN, old_password="x", new_password="y"),
    row("GetUserToken", {"token": TOKEN}, username="ilse_marten", password="x",
        after=[one("ModifyPassword", token=TOKEN, old_password="bramble781", new_password="x")]),
    row("ForgotPassword", 970420, **SENT.given),
    row("ForgotPassword", "success", **RESET, after=[SENT]),
    row("ForgotPassword", "success", **RESET, after=[SENT, one("ForgotPassword", **RESET)]),
    row("ForgotPassword", No("The status is only 'Forgot Password' or 'Verification Code'."), status="forgot password"),
    row("ForgotPassword", No("The username and email are required for the first call."), status="Forgot Password",
        username="ilse_marten"),
    row("ForgotPassword", No("The username does not exist."), status="Forgot Password", username="x", email="e"),
    row("ForgotPassword", No("The email is incorrect."), status="Forgot Password", username="ilse_marten", email="e"),
    row("ForgotPassword", No("You need to call the API with status 'Forgot Password' at first."), **RESET),
    row("ForgotPassword", No("The new password and verification code are required for the second call."),
        status="Verification Code", verification_code=970420, after=[SENT]),
    row("ForgotPassword", No("The verification code is incorrect."), **{**RESET, "verification_code": 1}, after=[SENT]),
    row("ForgotPassword", No("The username does not exist."), officially=No("'ilse_marten'"), **RESET,
        after=[SENT, one("DeleteAccount", token=TOKEN)]),
    row("OpenBankAccount", "success", account="new", password="", name=""),
    row("OpenBankAccount", "failed", account="ilse_marten_savings", password="x", name="x"),
    row("OpenBankAccount", "failed", account="new", password="", name="",
        after=[one("OpenBankAccount", account="new", password="", name="")]),
    row("QueryBalance", 7272.3, token=TOKEN),
    row("QueryBalance", No("The token is incorrect."), token=f" {TOKEN}"),
    row("QueryBalance", No("The user does not have an account."), token=NO_ACCOUNT),
    # Agenda.
    row("AddAgenda", "success", token=TOKEN, content="C", time="2023-5-1 9:00:00", location=""),
    row("AddAgenda", No(BAD_TIME), token="", content="", time="2023-05-01", location=""),
    row("AddAgenda", No("Content should not be null"), token="", content=" ", time=T1, location=""),
    row("AddAgenda", NO_TOKEN, token="", content="C", time=T1, location=""),
    row("QueryAgenda", GARDEN, token=TOKEN, content="Water the roof garden", time="", location=""),
    row("QueryAgenda", GARDEN, token=TOKEN, content="", time="2023-04-03 09:00:00", location=""),
    row("QueryAgenda", No("You have no agenda about water the roof garden"), token=TOKEN,
        content="water the roof garden", time="2023-04-03 9:00:00", location=""),
    row("QueryAgenda", No(f"You have no agenda at time : {T1}"), token=TOKEN, content="", time=T1, location=""),
    row("QueryAgenda", No("Content and time should not be null both"), officially=No("Error"),
        token=TOKEN, content="", time="", location=""),
    row("QueryAgenda", No("You have no agenda about Water the roof garden"), token=NO_ACCOUNT,
        content="Water the roof garden", time="", location=""),
    row("QueryAgenda", No(BAD_TIME), token="", content="", time="2023-05-01", location=""),
    row("ModifyAgenda", "success", token=TOKEN, content="Water the roof garden", time=T1, location="M"),
    row("QueryAgenda", {**GARDEN, "time": T1, "location": "M"}, token=TOKEN, content="", time=T1, location="",
        after=[one("ModifyAgenda", token=TOKEN, content="Water the roof garden", time=T1, location="M")]),
    row("ModifyAgenda", No("You have no agenda about C"), token=TOKEN, content="C", time=T1, location=""),
    row("ModifyAgenda", No("Content and time should not be null both"), officially=No("<Exception: Error>"),
        token=TOKEN, content="", time="",
        location=""),
    row("DeleteAgenda", "success", token=TOKEN, content="Water the roof garden", time="", location=""),
    row("DeleteAgenda", No("You have no agenda about C"), officially=No("You have no meeting about C"), token=TOKEN,
        content="C", time="", location=""),
    row("DeleteAgenda", No("Content and time should not be null both"), officially="success", token=TOKEN,
        content="", time="", location=""),
    row("DeleteAgenda", NO_TOKEN, token="x", content="", time="", location=""),
    # Alarms.
    row("AddAlarm", "success", token=TOKEN, time=T1),
    row("AddAlarm", No(BAD_TIME), token="", time="2023-05-01"),
    row("AddAlarm", NO_TOKEN, token="", time=T1),
    row("QueryAlarm", {"username": "ilse_marten", "time": "2023-04-01 05:00:00"}, token=TOKEN,
        time="2023-04-01 05:00:00"),
    row("QueryAlarm", No("You have no alarm clock at time : 2023-4-1 05:00:00"), token=TOKEN, time="2023-4-1 05:00:00"),
    row("QueryAlarm", {"username": "ilse_marten", "time": T1}, token=TOKEN, time=T1,
        after=[one("ModifyAlarm", token=TOKEN, from_time="2023-04-01 05:00:00", to_time=T1)]),
    row("ModifyAlarm", "success", token=TOKEN, from_time="2023-04-01 05:00:00", to_time=T1),
    row("ModifyAlarm", No(f"You have no alarm clock at time : {T1}"),
        officially=No(f"You have no agenda at time : {T1}"), token=TOKEN, from_time=T1, to_time=T2),
    row("ModifyAlarm", No(BAD_TIME), token="", from_time=T1, to_time="2023-05-01"),
    row("DeleteAlarm", "success", token=TOKEN, time="2023-04-01 05:00:00"),
    row("DeleteAlarm", No(f"You have no alarm clock at time : {T1}"), token=TOKEN, time=T1),
    row("QueryAlarm", No("You have no alarm clock at time : 2023-04-01 05:00:00"), token=TOKEN,
        time="2023-04-01 05:00:00", after=[one("DeleteAlarm", token=TOKEN, time="2023-04-01 05:00:00")]),
    # Meetings.
    row("AddMeeting", "success", **MEET, meeting_topic="M"),
    row("AddMeeting", No(BAD_TIME), **{**MEET, "end_time": "2023-05-01"}, meeting_topic="M"),
    row("AddMeeting", No("Meeting Topic should not be null"), **{**MEET, "token": ""}, meeting_topic=" "),
    row("AddMeeting", NO_TOKEN, **{**MEET, "token": ""}, meeting_topic="M"),
    row("QueryMeeting", DUES, **NO_TIMES, meeting_topic="Harbour dues for the summer"),
    row("QueryMeeting", DUES, **{**MEET, "start_time": "2023-04-03 09:00:00"}, meeting_topic="M"),
    row("QueryMeeting", No("Meeting Topic and start_time should not be null both"), **{**NO_TIMES, "token": ""},
        meeting_topic=" "),
    row("QueryMeeting", No("You have no meeting about M"), **MEET, meeting_topic="M"),
    row("QueryMeeting", No(f"You have no meeting at time : {T1}"), **MEET, meeting_topic=""),
    row("ModifyMeeting", "success", **{**MEET, "start_time": "2023-04-03 09:00:00"}, meeting_topic=""),
    row("QueryMeeting", {**DUES, "start_time": T1, "end_time": T2}, **MEET, meeting_topic="Harbour dues for the summer",
        after=[one("ModifyMeeting", **MEET, meeting_topic="Harbour dues for the summer")]),
    row("ModifyMeeting", No("You have no meeting about M"), **MEET, meeting_topic="M"),
    row("DeleteMeeting", "success", **NO_TIMES, meeting_topic="Harbour dues for the summer"),
    row("DeleteMeeting", No("You have no meeting about M"), **NO_TIMES, meeting_topic="M"),
    # Reminders.
    row("AddReminder", "success", token=TOKEN, content="C", time=T1),
    row("AddReminder", No("Content should not be null"), token=TOKEN, content="", time=T1),
    row("QueryReminder", {"username": "ilse_marten", "content": "C", "time": T1}, token=TOKEN, content="C", time=T2,
        after=[one("AddReminder", token=TOKEN, content="C", time=T1)]),
    row("QueryReminder", No(f"You have no reminder about C or at time : {T1}"), token=TOKEN, content="C", time=T1),
    row("QueryReminder", No(BAD_TIME), token=TOKEN, content="", time="2023-05-01"),
    row("ModifyReminder", "success", token=TOKEN, content="Feed the sourdough", time=T1),
    row("ModifyReminder", NO_TOKEN, token="", content="Feed the sourdough", time=T1),
    row("DeleteReminder", "success", token=TOKEN, content="Feed the sourdough", time=T1),
    row("DeleteReminder", No(f"You have no reminder about feed the sourdough or at time : {T1}"), token=TOKEN,
        content="feed the sourdough", time=T1),
    # Clinic.
    row("AppointmentRegistration", "66048764", patient_name=" Ilse Marten ", date=" 2023-4-4 ", doctor_name="Dr. Who"),
    row("AppointmentRegistration", No("Patient name or doctor name cannot be empty."), patient_name=" ", date="",
        doctor_name="D"),
    row("AppointmentRegistration", No(BAD_DAY), patient_name="P", date="May 1", doctor_name="D"),
    row("AppointmentRegistration", No("This appointment has already been registered."), patient_name="Ilse Marten",
        date="2023-4-3", doctor_name="Dr. Amelie Voss"),
    row("AppointmentRegistration", No("This patient has already been registered in this day."),
        patient_name="Ilse Marten", date="2023-04-03", doctor_name="Dr. Who"),
    row("QueryRegistration", {"50554295": {"patient_name": "Ilse Marten", "date": "2023-04-03",
                                           "doctor_name": "Dr. Amelie Voss"}},
        patient_name="Ilse Marten ", date="2023-4-3"),
    row("QueryRegistration", No("No appointments found."), patient_name="ilse marten", date="2023-04-03"),
    row("CancelRegistration", "success", appointment_id=" 50554295"),
    row("CancelRegistration", No("The appointment ID is incorrect."), appointment_id="5055429"),
    row("ModifyRegistration", "success", appointment_id="50554295", new_appointment_doctor="Dr. Who "),
    row("ModifyRegistration", "success", officially=No("Fail because date is not changed."), appointment_id="50554295",
        new_appointment_date="2023-4-3", new_appointment_doctor="Dr. Who"),
    row("ModifyRegistration", "success", officially=No("Fail because doctor is not changed."),
        appointment_id="50554295", new_appointment_date="2023-4-4", new_appointment_doctor="Dr. Amelie Voss"),
    row("ModifyRegistration", No("The appointment ID does not exist."), appointment_id="x"),
    row("ModifyRegistration", No("Fail because the doctor name is empty."), appointment_id="50554295",
        new_appointment_doctor=" "),
    row("ModifyRegistration", No("Fail because no modification is made."), appointment_id="50554295"),
    row("ModifyRegistration", No("Fail because no modification is made."), appointment_id="50554295",
        new_appointment_date="2023-04-03", new_appointment_doctor="Dr. Amelie Voss"),
    row("ModifyRegistration", No("Fail because date is not changed."), appointment_id="50554295",
        new_appointment_date="2023-04-03"),
    row("ModifyRegistration", No("Fail because doctor is not changed."), appointment_id="50554295",
        new_appointment_doctor=" Dr. Amelie Voss"),
    row("RecordHealthData", "success", user_id=" im118 ", time="2023-3-11 9:35:0", health_data=PULSE),
    row("RecordHealthData", "success", user_id="NEW", time=T1, health_data=PULSE),
    row("RecordHealthData", No("The user id cannot be empty."), user_id=" ", time="", health_data=PULSE),
    row("RecordHealthData", No("The health data cannot be empty."), user_id="NEW", time=T1),
    row("RecordHealthData", No("The health data cannot be empty."), user_id="NEW", time=T1, health_data=[]),
    row("RecordHealthData", No("The health data has invalid format."), user_id="NEW", time=T1, health_data=[{}]),
    row("RecordHealthData", No("The health data has invalid format."), user_id="NEW", time=T1, health_data=["name"]),
    row("RecordHealthData", No("The health data cannot contain duplicate items."), user_id="NEW", time=T1,
        health_data=PULSE * 2),
    row("RecordHealthData", No("The health data has invalid format."), officially=No("'value'"), user_id="NEW",
        time=T1, health_data=[{"name": "x"}]),
    row("QueryHealthData", [{"time": "2023-03-11 09:35:00", "blood_pressure": [123, 85], "body_temperature": 36.5,
                             "heart_rate": 70}],
        user_id="im118", start_time="2023-3-11 9:35:0", end_time="2023-03-11 09:35:00",
        after=[one("RecordHealthData", user_id="IM118", time="2023-3-11 9:35:00", health_data=PULSE)]),
    row("QueryHealthData", [{"time": T1, "heart_rate": 70}], user_id="new", start_time=T1, end_time=T2,
        after=[one("RecordHealthData", user_id="New", time=T1, health_data=PULSE)]),
    row("QueryHealthData", No("The start time cannot be later than the end time."), user_id="X", start_time=T2,
        end_time=T1),
    row("QueryHealthData", No("The user id does not exist."), user_id="X", start_time=T1, end_time=T1),
    row("QueryHealthData", No("There is no health data in the given time span."), user_id="IM118", start_time=T1,
        end_time=T2),
    row("QueryHealthData", No(f"{BAD_TIME}; {BAD_TIME.replace('05-01', '05-02')}"), user_id="X",
        start_time="2023-05-01", end_time="2023-05-02"),
    row("SymptomSearch", [{"name": "Throat infection", "description": "Germs, mostly viruses, inflame the throat; "
                           "swallowing hurts for some days."},
                          {"name": "Strained voice", "description": "Long shouting or singing has tired the vocal "
                           "cords."}], symptom=" Sore Throat "),
    row("SymptomSearch", No("The symptom cannot be empty."), symptom=" "),
    row("SymptomSearch", No("The symptom does not exist."), symptom="throat"),
    row("EmergencyKnowledge", [{"name": "Throat infection", "aid": "Drink warm things, suck lozenges, and see a doctor "
                                "if breathing gets hard."},
                               {"name": "Strained voice", "aid": "Rest the voice for two days and keep the air "
                                "moist."}], symptom="sore throat"),
    row("EmergencyKnowledge", No("The symptom cannot be empty."), symptom="",
        officially=No("'Exception' object has no attribute 'lower'")),
    row("EmergencyKnowledge", No("The symptom does not exist."), symptom="soar throat"),
    # The house.
    row("TimedSwitch", "success", name=" KETTLE ", time="2023-4-3 6:45:00", on=False),
    row("TimedSwitch", No("Name cannot be empty."), name=" ", time="", on=True),
    row("TimedSwitch", No(BAD_TIME), name="kettle", time="2023-05-01", on=True),
    row("CancelTimedSwitch", "success", name="Kettle", time="2023-4-3 6:45:00"),
    row("CancelTimedSwitch", No("name cannot be empty."), name="", time=""),
    row("CancelTimedSwitch", No("device name does not exist."), name="kettles", time=T1),
    row("CancelTimedSwitch", No("time does not exist."), name="kettle", time=T1),
    row("CancelTimedSwitch", No("time does not exist."), name="new", time=T1,
        after=[one("TimedSwitch", name="new", time=T1, on=True), one("CancelTimedSwitch", name="new", time=T1)]),
    row("AddScene", "success", name="New", devices=[LAMP, FAN]),
    row("AddScene", "success", name="New", devices=[]),
    row("AddScene", No("Scene name cannot be empty."), name=" ", devices=[]),
    row("AddScene", No("Invalid device format."), name="New", devices=[{"name": "x"}]),
    row("AddScene", No("Device name cannot be duplicated."), name="New", devices=[FAN, {**LAMP, "name": " FAN"}]),
    row("AddScene", No("Scene name already exists."), name="Winter Morning", devices=[]),
    row("QueryScene", [FAN, {"name": "lamp", "description": "by the door"}], name=" new",
        after=[one("AddScene", name="NEW", devices=[LAMP, FAN])]),
    row("QueryScene", No("Scene not found."), name="new"),
    row("ModifyScene", "success", name="WINTER morning", devices=[FAN]),
    row("ModifyScene", No("The scene does not exist."), name="new", devices=[]),
    row("ModifyScene", No("Invalid device format."), name="winter morning", devices=[1]),
    row("DeleteScene", "success", name="winter morning "),
    row("DeleteScene", No("The scene does not exist."), name="new"),
    row("DeleteScene", No("Scene name cannot be empty."), name=""),
    # Services.
    row("BookHotel", "17", **ORDER, check_in_time="2023-04-08", check_out_time="2023-4-9"),
    row("BookHotel", "18", **ORDER, check_in_time="2023-06-20", check_out_time="2023-06-22", after=[BOOKED]),
    row("BookHotel", "17", **{**ORDER, "hotel_name": "amber heron"}, check_in_time="2023-04-03",
        check_out_time="2023-04-04"),
    row("BookHotel", No("The number of adults is greater than 2. Two rooms are ordered."),
        **{**ORDER, "adult_count": 3, "room_count": 1}, check_in_time="2023-06-07", check_out_time="2023-06-02"),
    row("BookHotel", No("The room is not available."), **ORDER, check_in_time="2023-04-07",
        check_out_time="2023-04-20"),
    row("BookHotel", No("The room is not available."), **ORDER, check_out_time="2023-06-11",
        check_in_time="2023-06-01", after=[BOOKED]),
    row("BookHotel", No("The room is not available."), officially="18", **ORDER, check_out_time="2023-06-30",
        check_in_time="2023-06-01", after=[BOOKED]),
    row("BookHotel", No(BAD_DAY), **ORDER, check_in_time="2023-06-07", check_out_time="May 1"),
    row("QueryStock", 41.2, stock_code=" aldr", date="2023-3-20 "),
    row("QueryStock", No("The stock code cannot be empty."), stock_code=" ", date=""),
    row("QueryStock", No(BAD_DAY), stock_code="NONE", date="May 1"),
    row("QueryStock", No("The stock code does not exist."), stock_code="NONE", date="2023-03-20"),
    row("QueryStock", No("The stock price of this date is not maintained."), stock_code="ALDR", date="2023-03-25"),
    row("QueryHistoryToday", ["Title: Ceres found, Date: 1801-01-01, Description: From Palermo, Giuseppe Piazzi "
                              "spotted Ceres, which was taken for a planet for decades.",
                              "Title: Euro cash, Date: 2002-01-01, Description: Twelve countries began to pay with "
                              "euro notes and coins."], date="1-1"),
    row("QueryHistoryToday", No("The date is not in the database."), date="2024-02-29"),
    row("QueryHistoryToday", No("day is out of range for month"), date="02-29"),
    row("QueryHistoryToday", No("time data '31 March' does not match format '%m-%d'"), date="31 March"),
    row("SendEmail", "success", receiver=" ab@mail.org ", subject="s", content="c"),
    *(row("SendEmail", No("Email address of the receiver is invalid."), receiver=receiver, subject="", content="")
      for receiver in ("a@mail.org", "Ab@mail.org", "a.b.c@mail.org", "ab@mail.info", "ab@mail", "", "a" * 10_000)),
    row("SendEmail", No("Subject cannot be empty."), receiver="a_b@mail.org", subject=" ", content=""),
    row("SendEmail", No("Content cannot be empty."), receiver="ab@mail.org", subject="s", content="\n"),
    row("PlayMusic", "music://golden hour", music_name=" Golden Hour "),
    row("PlayMusic", No("The music name cannot be empty."), music_name=" "),
    row("SpeechRecognition", "The last ferry leaves at twenty past nine tonight.",
        url=" https://sound.example.org/ferry-times.wav "),
    row("SpeechRecognition", No("The url should end with .wav."), url="https://sound.example.org/ferry-times.mp3"),
    row("SpeechRecognition", No("The audio of this url failed to be processed."), url="x.wav"),
    row("ImageCaption", "a heron stands on one leg among the reeds",
        url="https://pictures.example.org/heron-pond.jpg"),
    row("ImageCaption", No("The url should end with .jpg, .jpeg or .png."), url="heron-pond.gif"),
    row("ImageCaption", No("The image of this url failed to be processed."), url="heron-pond.jpeg"),
    row("DocumentQA", "Grey herons at eleven ponds.", officially="The question is too difficult to answer.",
        url=HERON, question=" what was counted? "),
    row("DocumentQA", "The question is too difficult to answer.", url=HERON, question="Why?"),
    row("DocumentQA", No("The question is empty."), url="", question=" "),
    row("DocumentQA", No("The document of this url failed to be processed."), url="x", question="Why?"),
    row("Wiki", {"url": "https://encyclopedia.example.org/Amber", "summary": "Hardened resin of ancient trees, often "
                 "yellow and light enough to drift in salt water."}, keyword="_Amber_"),
    row("Wiki", No("Keyword not found."), keyword="ambers"),
    row("Dictionary", [{"partOfSpeech": "verb", "definitions": [{"definition": "To walk at an easy pace.",
                        "synonyms": [], "antonyms": []}], "synonyms": ["stroll", "saunter"], "antonyms": ["hurry"]}],
        keyword="AMBLE"),
    row("Dictionary", No("Failed."), keyword=""),
    row("Translate", "Guten Morgen", src="Good morning", tgt_lang="German"),
    row("Translate", "Guten Morgen", src="Good morning", src_lang="in English", tgt_lang="de"),
    row("Translate", No("The service has no recorded translation of this text."), src="Good morning",
        officially=No("stub: no recorded translation")),
    row("Translate", No("Language not supported."), src="Good morning", tgt_lang="Klingon"),
    row("Translate", No("Language not supported."), src="Good morning", src_lang="", tgt_lang="de"),
    row("GetToday", "2023-03-31"),
    row("GetToday", No("arguments of GetToday are invalid: Additional properties are not allowed "
                       "('day' was unexpected)"), day="today"),
    row("SearchEngine", [
        {"title": "Growing Tomatoes on a Balcony", "url": "https://garden.example.org/tomatoes",
         "abstract": "Choose a deep pot, water in the morning and pinch out the side shoots, and even a small balcony "
         "yields tomatoes until autumn."},
        {"title": "Planting Bulbs in Autumn", "url": "https://garden.example.org/bulbs",
         "abstract": TABLES.base["SearchEngine"]["raw_documents"][2]["abstract"]}], keyword=" Tomatoes until AUTUMN "),
    row("SearchEngine", No("arguments of SearchEngine are invalid: keyword: 5 is not of type \"string\""), keyword=5),
    row("Calculator", 9.0, formula=" ( 1+2) *3"),
    row("Calculator", No("float division by zero"), formula="1/0"),
    row("ToolSearcher", DOCUMENTS["apis"]["GetToday"], keywords="today"),
    row("ToolSearcher", [{**DOCUMENTS["apis"]["GetUserToken"], "desc_for_search": "get user token"
                          + DOCUMENTS["apis"]["GetUserToken"]["description"]}, DOCUMENTS["apis"]["AddAlarm"]],
        keywords="add an alarm"),
    row("ToolSearcher", NOTHING_FOUND, officially=No("'NoneType' object has no attribute 'pop'"),
        keywords="xyzzy"),
]  # fmt: skip

MAIL: dict[str, Any] = {"location": "L", "recipient": "r"}
ROOM: dict[str, Any] = {"destination": "Bergen", "check_in_date": "2023-04-07", "check_out_date": "2023-04-15"}
HOTEL = {"hotels": [{"destination": "Bergen", "check_in_date": "2023-04-07", "check_out_date": "2023-04-15"}]}
FLY: dict[str, Any] = {"source": "Oslo", "destination": "Bergen", "travel_dates": "2023-04-08"}
FLIGHT = {"flights": [{"source": "Oslo", "destination": "Bergen", "departure_date": "2023-04-08 06:35:00",
                       "arrival_date": "2023-04-08 07:40:00"}]}  # fmt: skip
ILSE: dict[str, Any] = {"username": "Ilse Marten", "password": "bramble781"}
CONTACT = {"email": "ilse.marten@example.org", "phone": "555-0110"}
ADVENTURES = ["The Ninth Ferry", "Beyond Salt Ridge", "Map of a Missing Isle", "Rope and Ember"]
COMEDIES = ["Two Left Umbrellas", "The Accidental Mayor", "Goat on the Roof", "Upstairs Trombone"]
CLOTHES: list[tuple[float, float, str, list[str]]] = [
    (9.99, 70, "", ["Warm coat", "Hat", "Gloves"]),
    (10, 70.5, "dry", ["Light jacket", "Long-sleeved shirt", "Umbrella", "Waterproof shoes"]),
    (20, 0, "The drain is full", ["T-shirt", "Shorts", "Raincoat"]),
    (30, 99, "RAIN", ["Sun hat", "Sunglasses", "Loose-fitting clothes", "Umbrella", "Waterproof shoes", "Raincoat"]),
]

RESTAURANTS = own_copy(TABLES.base["lv3/NearbyRestaurants"])
# From Oslo it is 401 metres to the first and 802 to the second of the table, and far to the others.
NEAR: list[tuple[float, float, int, int]] = [
    (59.91, 10.75, 390, 0), (59.91, 10.75, 410, 1), (59.91, 10.75, 790, 1), (59.91, 10.75, 810, 2),
    (59.91, 10.75, -1, 0), (59.91, 10.75, 21_000_000, len(RESTAURANTS)), (-59.91, -169.25, 100_000, 0),
    (91, 10.75, 21_000_000, 0), (1e300, -1e300, 10**4_000, 0),
]  # fmt: skip

LEVEL_3: list[Row] = [
    row("AccountInfo", CONTACT, **ILSE),
    row("AccountInfo", No("User not found."), username="Ilse Marten", password="x"),
    row("AccountInfo", {**CONTACT, "address": "Dock 1"}, officially=CONTACT, **ILSE,
        after=[one("PersonalInfoUpdate", **ILSE, address="Dock 1")]),
    row("PersonalInfoUpdate", {"status": "success"}, **ILSE, address="Dock 1"),
    row("PersonalInfoUpdate", No("User not found."), username="x", password="bramble781", address="Dock 1"),
    row("AddMeeting", "success", meeting_topic="M", start_time=T1, end_time=T2, location="", attendees=[]),
    row("AddMeeting", No(BAD_TIME), meeting_topic="", start_time="2023-05-01", end_time="", location="", attendees=[]),
    row("AddMeeting", No("Meeting Topic should not be null"), meeting_topic=" ", start_time=T1, end_time=T2,
        location="", attendees=["A"]),
    row("QueryMeeting", {"meetings": own_copy(TABLES.base["lv3/QueryMeeting"]["Noor Haddad"])},
        user_name="Noor Haddad"),
    row("QueryMeeting", absent("'nobody'"), officially=No("'nobody'"), user_name="nobody"),
    row("EmailReminder", "success", **MAIL, content="C", time=T1),
    row("EmailReminder", No(BAD_TIME), **MAIL, content="", time="2023-05-01"),
    row("EmailReminder", No("Content should not be empty"), **MAIL, content=" ", time=T1),
    row("Calculator", 2.0, formula="2(3)+1"),
    row("Calculator", No("')' is not in list"), formula="((1+2))*3"),
    *(row("ClothingRecommendation", {"clothing_options": options}, temperature=temperature, humidity=humidity,
          weather_conditions=weather) for temperature, humidity, weather, options in CLOTHES),
    row("ClothingRecommendation", No("arguments of ClothingRecommendation are invalid: temperature: \"10\" is not of "
                                     "type \"number\""), temperature="10", humidity=1, weather_conditions=""),
    row("FlightSearch", FLIGHT, **FLY),
    row("FlightSearch", FLIGHT, officially=No("'str' object has no attribute 'date'"), **FLY,
        after=[one("FlightSearch", **FLY)]),
    row("FlightSearch", {"flights": []}, officially=No("'str' object has no attribute 'date'"),
        **{**FLY, "travel_dates": "2023-04-09"}, after=[one("FlightSearch", **FLY)]),
    row("FlightSearch", {"flights": []}, **{**FLY, "travel_dates": "2023-04-09"}),
    row("FlightSearch", {"flights": []}, **{**FLY, "source": "oslo"}),
    row("FlightSearch", No(BAD_DAY), **{**FLY, "travel_dates": "May 1"}),
    row("HotelAvailability", HOTEL, **ROOM),
    row("HotelAvailability", HOTEL, officially=No("'str' object has no attribute 'strftime'"), **ROOM,
        after=[one("HotelAvailability", **ROOM)]),
    row("HotelAvailability", {"hotels": []}, **{**ROOM, "check_out_date": "2023-04-16"}),
    row("HotelAvailability", No(BAD_DAY), **{**ROOM, "check_in_date": "May 1"}),
    row("Geocoding", {"latitude": 59.91, "longitude": 10.75}, address="Oslo"),
    row("Geocoding", absent("'oslo'"), officially=No("'oslo'"), address="oslo"),
    row("GetWeatherForCoordinates", {"temperature": 6, "humidity": 58, "description": "Clear and cold"},
        latitude=59.91, longitude=10.75),
    row("GetWeatherForCoordinates", No("There is no weather for these coordinates."),
        officially=No("TypeError: 'NoneType' object is not subscriptable"), latitude=59, longitude=10),
    *(row("NearbyRestaurants", {"restaurants": RESTAURANTS[:count]}, officially={"restaurants": RESTAURANTS},
          latitude=latitude, longitude=longitude, distance=distance) for latitude, longitude, distance, count in NEAR),
    row("NearbyRestaurants", No("arguments of NearbyRestaurants are invalid: distance: 0.5 is not of type \"integer\""),
        latitude=0, longitude=0, distance=0.5),
    row("GetOccupationSalary", {"salary": 68500}, occupation="Architect"),
    row("GetOccupationSalary", No("The occupation is not in the database."), occupation="architect"),
    row("TaxCalculator", {"salary_after_tax": 999.5}, salary=999.5),
    row("TaxCalculator", {"salary_after_tax": 950.0}, salary=1000),
    row("TaxCalculator", {"salary_after_tax": 69_000.0}, salary=100_000),
    row("TaxCalculator", No("The salary cannot be negative."), officially=No(""), salary=-0.01),
    row("LikeCount", {"like_count": 121}, post_id=1),
    row("LikeCount", No("Post with ID 41 does not exist."), post_id=41),
    row("UserPosts", {"post_ids": [1, 2, 3, 4]}, user_id=1),
    row("UserPosts", absent("0"), officially=No("0"), user_id=0),
    row("UserMoviePreferences", {"preferences": ["Drama", "Documentary", "Mystery"]}, user_name="Ilse Marten"),
    row("UserMoviePreferences", absent("'Ilse'"), officially=No("'Ilse'"), user_name="Ilse"),
    row("UserWatchedMovies", ["Bridge at Varo", "Map of a Missing Isle", "Winter Tenants"], user_name="Noor Haddad"),
    row("UserWatchedMovies", No("User not found."), user_name="noor haddad"),
    row("MovieRecommendations", {"recommended_movies": ADVENTURES + COMEDIES + ADVENTURES},
        preferences=["Adventure", "Comedy", "Adventure"]),
    row("MovieRecommendations", {"recommended_movies": []}, preferences=[]),
    row("MovieRecommendations", absent("'comedy'"), officially=No("'comedy'"), preferences=["Adventure", "comedy"]),
    row("OrganizationMembers", {"members": ["Ilse Marten", "Ravi Solberg", "Noor Haddad", "Tobias Lindqvist"]},
        organization="Tidewell Harbour Trust"),
    row("OrganizationMembers", absent('"it\'s"'), officially=No('"it\'s"'), organization="it's"),
    row("TravelStatus", "On the morning ferry", member_name="Ilse Marten"),
    row("TravelStatus", absent("''"), officially=No("''"), member_name=""),
    row("ToolSearcher", DOCUMENTS["lv3_apis"]["TaxCalculator"], keywords="tax on a salary"),
    row("ToolSearcher", DOCUMENTS["lv3_apis"]["FlightSearch"], officially=No("'NoneType' object has no attribute "
                                                                             "'pop'"), keywords=" fl ight SE arch"),
    row("ToolSearcher", NOTHING_FOUND, officially=No("'NoneType' object has no attribute 'pop'"),
        keywords=""),
]  # fmt: skip

ROWS = [("apis", each) for each in APIS] + [("lv3_apis", each) for each in LEVEL_3]


def given_text(value: Any) -> str | None:
    return f"{value.tool} {json.dumps(value.given)[:50]}" if isinstance(value, Row) else None


@pytest.mark.parametrize("official", [False, True], ids=["mended", "official"])
@pytest.mark.parametrize(("tool_set", "case"), ROWS, ids=given_text)
def test_what_a_tool_gives(tool_set: str, case: Row, official: bool) -> None:
    session = opened(tool_set, official)
    for call in case.after:
        assert not isinstance(made(session, tool_set, call), No), call
    gives = made(session, tool_set, Call(case.tool, case.given))
    expected = case.officially if official else case.gives
    assert (type(gives), gives) == (type(expected), expected)


@pytest.mark.parametrize(("tool_set", "name"), EVERY_TOOL)
def test_every_tool_succeeds_and_fails_in_the_table(tool_set: str, name: str) -> None:
    outcomes = {isinstance(case.gives, No) for given, case in ROWS if (given, case.tool) == (tool_set, name)}
    assert outcomes == {True, False} or name == "OpenBankAccount"  # that one says "failed" without a complaint


@pytest.mark.parametrize("official", [False, True], ids=["mended", "official"])
def test_a_complaint_changes_nothing(official: bool) -> None:
    for tool_set, case in ROWS:
        session = opened(tool_set, official)
        for call in case.after:
            made(session, tool_set, call)
        before = session.world.changes()
        if isinstance(made(session, tool_set, Call(case.tool, case.given)), No):
            # Officially a health record without values makes the user's row first.
            official_fault = official and case.given.get("health_data") == [{"name": "x"}]
            assert (session.world.changes() == before) is not official_fault, case


# The tools and their documentation.


def test_there_are_75_tools_with_documentation() -> None:
    assert {name: len(tools) for name, tools in TOOL_SETS.items()} == {"apis": 53, "lv3_apis": 22}
    assert {name: set(tools) for name, tools in TOOL_SETS.items()} == {n: set(d) for n, d in DOCUMENTS.items()}


def assert_documented(documents: Mapping[str, Mapping[str, dict[str, Any]]], tool_set: str, name: str) -> None:
    tool, document = TOOL_SETS[tool_set][name], documents[tool_set][name]
    declared = {key: parameter["type"] for key, parameter in document["input_parameters"].items()}
    assert list(declared.items()) == list(tool.parameters.items())
    assert make_tool(document).required == tool.required


@pytest.mark.parametrize(("tool_set", "name"), EVERY_TOOL)
def test_parameters_are_the_documented_ones(tool_set: str, name: str) -> None:
    assert_documented(DOCUMENTS, tool_set, name)


@pytest.fixture(scope="module")
def official_tables(apibank_data: Path) -> Tables:
    return load_tables(apibank_data)


@pytest.mark.parametrize(("tool_set", "name"), EVERY_TOOL)
def test_parameters_are_the_officially_documented_ones(official_tables: Tables, tool_set: str, name: str) -> None:
    assert_documented(official_tables.documents, tool_set, name)


def test_optional_parameters_are_those_that_the_official_code_has_defaults_for(apibank_data: Path) -> None:
    for tool_set, file in (("apis", "apis_lv1_lv2.json"), ("lv3_apis", "apis_lv3.json")):
        for document in json.loads((apibank_data / "derived" / file).read_text(encoding="utf-8")):
            # What the code takes as **kwargs is not in its signature, and may be left out, too.
            tool, signature = TOOL_SETS[tool_set][document["name"]], document["call_signature"]
            assert list(tool.required) == [key for key in signature["args"] if key not in signature["defaults"]]


# Hostile calls.

PLAIN = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value


def nested(depth: int, inside: Any = 1) -> Any:
    """A list in a list in a list."""
    for _ in range(depth):
        inside = [inside]
    return inside


KNOWN_TEXTS = sorted(
    {text for name, table in TABLES.base.items() if name != "SearchEngine" for text in texts_in(table)}
    | {text for tools in DOCUMENTS.values() for text in tools}
    | {value for _, case in ROWS for value in texts_in(list(case.given.values()))}
)
HOSTILE_TEXTS = [
    "", " ", "\x00", "\ud800", "é\udfff", "\u202e\U0001f642", "x" * 50_000, "{}", "{key!r}", "%Y", "0000-00-00",
    "9999-12-31 23:59:59", "2023-02-30", "٢٠٢٣-٠١-٠١", "2023-03-31 00:00:61", "1-1-1 1:1:1", "-" * 3_000, "02-29",
    "(" * 999, "-5+3", "'; DROP TABLE", "__class__", "<generated:0>", "int:1", "None", "True", "970420",
]  # fmt: skip
HOSTILE_LISTS: list[list[Any]] = [
    [], [None], [1, "1"], nested(200), [nested(150)], [{}], [{"name": 1, "value": 1}, {"name": "1", "value": 2}],
    [{"name": nested(100), "value": {"a": [1.5, None]}}], [{"name": "time", "value": "x"}],
    [{"name": "X ", "description": " y", "more": [1]}], [{"name": True, "description": 3}], ["Drama"] * 500,
]  # fmt: skip
HOSTILE_INTEGERS = [0, 1, -1, 2**63, 10**4_200, -(10**4_200), 1.0, 7.0, -1e300]
HOSTILE_NUMBERS = [*HOSTILE_INTEGERS, 0.5, 1e308, -1e308, 5e-324, 59.91, 10.75]


def values_of(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    texts = st.sampled_from(KNOWN_TEXTS) | st.sampled_from(HOSTILE_TEXTS) | st.text(max_size=5)
    match schema.get("type"):
        case "string":
            return texts
        case "integer":
            return st.sampled_from(HOSTILE_INTEGERS) | st.integers(-5, 50)
        case "number":
            return st.sampled_from(HOSTILE_NUMBERS) | st.floats(-50, 200_000)
        case "boolean":
            return st.booleans()
        case _:
            return st.lists(texts, max_size=3) if "items" in schema else st.sampled_from(HOSTILE_LISTS)


def calls_of(schema: ToolSchema) -> st.SearchStrategy[ToolCall]:
    """Calls of a tool that its schema takes, with or without what may be left out."""
    required = {key: values_of(schema.tool.properties[key]) for key in schema.tool.required}
    optional = {key: values_of(given) for key, given in schema.tool.properties.items() if key not in required}
    arguments = st.fixed_dictionaries(required, optional=optional)
    return arguments.map(lambda given: ToolCall(name=schema.tool.name, arguments=given))


VALID_CALLS = {s: st.one_of([calls_of(schema) for schema in tools.values()]) for s, tools in SCHEMAS.items()}
ANY_VALUE: st.SearchStrategy[Any] = st.sampled_from([None, 1, "x", [], {}, True, 0.5])
INVALID_CALLS = {
    tool_set: st.builds(
        lambda name, arguments: ToolCall(name=name, arguments=arguments),
        st.sampled_from([*tools, "Nothing", "__init__"]),
        st.dictionaries(st.sampled_from(["token", "name", "time", "formula", "x", ""]), ANY_VALUE, max_size=4),
    )
    for tool_set, tools in SCHEMAS.items()
}


@pytest.fixture(scope="module", autouse=True)
def _tables_stay_as_they_are() -> Iterator[None]:
    """After every test of this module the shared tables are the same to the byte."""
    before = json.dumps([TABLES.base, TABLES.documents, TABLES.search_texts])
    yield
    assert json.dumps([TABLES.base, TABLES.documents, TABLES.search_texts]) == before


def spoil(value: Any) -> None:
    """Change every list and object in a value."""
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value["spoiled"] = True
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append("spoiled")


def assert_answers(session: SimulatorSession, call: ToolCall, tool_set: str) -> ToolResult:
    """Run a call: the result is data, and neither it nor the arguments lead back into the tables."""
    shown = copy.deepcopy(call.arguments)
    result = checked_call(session, call, SCHEMAS[tool_set])
    assert call.arguments == shown
    assert result.error in (None, "tool_error", "invalid_arguments", "unknown_tool")
    assert (result.error is None) or (result.content is None)
    assert copy_json(result.content) == result.content
    state = session.state()
    assert copy_json(state) == state
    assert ToolResult.from_json(result.to_json()) == result
    spoil(result.content)
    spoil(call.arguments)
    again = session.state()
    assert again == state
    spoil(state)
    assert session.state() == again
    return result


@pytest.mark.parametrize("official", [False, True], ids=["mended", "official"])
@pytest.mark.parametrize("tool_set", TOOL_SETS)
@given(st.data())
@PLAIN
def test_whatever_is_called_the_answer_is_data_and_the_tables_stay(
    tool_set: str, official: bool, data: st.DataObject
) -> None:
    session, quiet = opened(tool_set, official, seed=1), opened(tool_set, official, seed=1)
    before = json.dumps(TABLES.base)
    calls = data.draw(st.lists(VALID_CALLS[tool_set] | INVALID_CALLS[tool_set], min_size=8, max_size=24))
    for call in calls:
        assert_answers(session, call, tool_set)
    assert quiet.state() == opened(tool_set, official).state() == {}
    assert json.dumps(TABLES.base) == before


@pytest.mark.parametrize("tool_set", TOOL_SETS)
@given(st.data())
@settings(PLAIN, max_examples=20)
def test_on_the_official_tables_too_the_answer_is_data(
    official_tables: Tables, tool_set: str, data: st.DataObject
) -> None:
    names = ("Account", "Agenda", "Alarm", "HealthData", "Hotel", "Meeting", "Reminder", "Scenes", "TimeSwitch")
    before = json.dumps([official_tables.base[name] for name in names])
    known = st.sampled_from(sorted({text for name in names for text in texts_in(official_tables.base[name])}))
    for official in (False, True):
        session = SimulatorBackend(official_tables, tool_set, LexicalRanker(), official=official).open(TASK, 0)
        for call in data.draw(st.lists(VALID_CALLS[tool_set], min_size=8, max_size=24)):
            texts = {key: data.draw(known) for key, value in call.arguments.items() if type(value) is str and value}
            assert_answers(session, ToolCall(name=call.name, arguments={**call.arguments, **texts}), tool_set)
    assert json.dumps([official_tables.base[name] for name in names]) == before


@pytest.mark.parametrize("official", [False, True], ids=["mended", "official"])
@pytest.mark.parametrize("digits", [400, 4_200])
def test_a_salary_may_be_any_number(digits: int, official: bool) -> None:
    call = ToolCall(name="TaxCalculator", arguments={"salary": 10**digits})
    assert_answers(opened("lv3_apis", official), call, "lv3_apis")


@pytest.mark.parametrize(
    ("tool", "parameter", "gives"),
    [("LikeCount", "post_id", {"like_count": 121}), ("UserPosts", "user_id", {"post_ids": [1, 2, 3, 4]})],
)
def test_a_whole_number_with_a_point_is_that_number(tool: str, parameter: str, gives: Any) -> None:
    """JSON Schema takes 1.0 for an integer, and the official manager makes it 1."""
    assert made(opened("lv3_apis"), "lv3_apis", Call(tool, {parameter: 1.0})) == gives
    world = BACKENDS["lv3_apis", True].open_world()
    assert call_tool(world, "lv3_apis", tool, {parameter: 1.0})["output"] == gives


@pytest.mark.parametrize(("tool_set", "name"), EVERY_TOOL)
def test_an_unknown_tool_or_argument_never_reaches_a_tool(tool_set: str, name: str) -> None:
    session = opened(tool_set)
    wrong = checked_call(session, ToolCall(name=name, arguments={"__": 1}), SCHEMAS[tool_set])
    assert wrong.error == "invalid_arguments"
    assert checked_call(session, ToolCall(name=f"{name}s"), SCHEMAS[tool_set]).error == "unknown_tool"
    assert session.call(ToolCall(name=f"{name}s")).error == "unavailable"


# Isolation.


@pytest.mark.parametrize("tool_set", TOOL_SETS)
@given(st.data())
@PLAIN
def test_sessions_of_one_backend_do_not_see_each_other(tool_set: str, data: st.DataObject) -> None:
    """Two sessions by turns give what each gives alone."""
    writes = [calls_of(SCHEMAS[tool_set][name]) for name in WRITERS[tool_set]]
    script = st.lists(st.one_of(writes), min_size=1, max_size=8)
    scripts = data.draw(st.tuples(script, script))
    together = opened(tool_set, seed=3), opened(tool_set, seed=3)
    results: list[list[ToolResult]] = [[], []]
    for number in range(max(map(len, scripts))):
        for which in (0, 1):
            if number < len(scripts[which]):
                results[which].append(together[which].call(scripts[which][number]))
    for which in (0, 1):
        alone = opened(tool_set, seed=3)
        assert [alone.call(call) for call in scripts[which]] == results[which]
        assert alone.state() == together[which].state()


WRITERS = {
    "apis": [
        "RegisterUser", "DeleteAccount", "ModifyPassword", "OpenBankAccount", "AddAgenda", "ModifyAgenda",
        "DeleteAgenda", "AddAlarm", "ModifyAlarm", "DeleteAlarm", "AddMeeting", "ModifyMeeting", "DeleteMeeting",
        "AddReminder", "ModifyReminder", "DeleteReminder", "AppointmentRegistration", "CancelRegistration",
        "ModifyRegistration", "RecordHealthData", "TimedSwitch", "CancelTimedSwitch", "AddScene", "ModifyScene",
        "DeleteScene", "BookHotel",
    ],
    "lv3_apis": ["PersonalInfoUpdate", "AddMeeting", "FlightSearch", "HotelAvailability"],
}  # fmt: skip
"""The tools that change something."""


def test_what_one_session_writes_another_does_not_read() -> None:
    first, second = opened(), opened()
    for case in APIS:
        if case.tool in WRITERS["apis"] and not isinstance(case.gives, No):
            for call in (*case.after, Call(case.tool, case.given)):
                made(first, "apis", call)
    assert first.state() != {}
    assert second.state() == {}
    assert (
        made(second, "apis", one("QueryAgenda", token=TOKEN, content=GARDEN["content"], time="", location="")) == GARDEN
    )


# State.

CHANGES: list[tuple[list[Call], dict[str, Any]]] = [
    ([one("GetUserToken", username="ilse_marten", password="bramble781")], {}),
    ([one("AddAlarm", token="", time=T1)], {}),
    ([SENT], {}),
    ([SENT, one("ForgotPassword", **RESET)],
     {"Account": {"set": {"ilse_marten": {"password": "new", "token": TOKEN, "email": "ilse.marten@example.org"}},
                  "removed": []}}),
    ([one("AddAlarm", token=TOKEN, time=T1)],
     {"Alarm": {"set": {"37": {"username": "ilse_marten", "time": T1}}, "removed": []}}),
    ([one("AddAlarm", token=TOKEN, time=T1), one("DeleteAlarm", token=TOKEN, time=T1)], {}),
    ([one("DeleteAlarm", token=TOKEN, time="2023-04-01 05:00:00")], {"Alarm": {"set": {}, "removed": ["1"]}}),
    ([one("ModifyAlarm", token=TOKEN, from_time="2023-04-01 05:00:00", to_time=T1),
      one("ModifyAlarm", token=TOKEN, from_time=T1, to_time="2023-04-01 05:00:00")], {}),
    ([one("TimedSwitch", name="kettle", time="2023-04-03 06:45:00", on=True)], {}),
    ([one("CancelTimedSwitch", name="Radiator", time="2023-04-01 05:30:00")],
     {"TimeSwitch": {"set": {"radiator": []}, "removed": []}}),
    ([one("DeleteScene", name="winter morning"), one("AddScene", name="X", devices=[FAN, LAMP])],
     {"Scenes": {"set": {"x": [FAN, {"name": "lamp", "description": "by the door"}]}, "removed": ["winter morning"]}}),
    ([one("RegisterUser", username="u", password="p", email="e"), one("RegisterUser", username="v", password="p",
                                                                      email="e")],
     {"Account": {"set": {"u": {"password": "p", "token": "<generated:0>", "email": "e"},
                          "v": {"password": "p", "token": "<generated:1>", "email": "e"}}, "removed": []}}),
    ([one("AppointmentRegistration", patient_name="P", date="2023-5-1", doctor_name="D")],
     {"Appointments": {"set": {"<generated:0>": {"patient_name": "P", "date": "2023-05-01", "doctor_name": "D"}},
                       "removed": []}}),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "expected"), CHANGES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_state_is_what_differs(calls: list[Call], expected: dict[str, Any], seed: int) -> None:
    session = opened(seed=seed)
    for call in calls:
        made(session, "apis", call)
    assert session.world.changes() == expected


def test_level_3_tables_are_in_the_state_too() -> None:
    session = opened("lv3_apis")
    made(
        session,
        "lv3_apis",
        one("AddMeeting", meeting_topic="M", start_time=T1, end_time=T2, location="L", attendees=[]),
    )
    meeting = {"meeting_topic": "M", "start_time": T1, "end_time": T2, "location": "L", "attendees": []}
    assert session.state() == session.world.changes() == {"lv3/AddMeeting": {"set": [meeting], "removed": []}}


def test_integer_keys_of_the_official_tables_are_told_from_text() -> None:
    session = opened(official=True)
    made(session, "apis", one("AddAlarm", token=TOKEN, time=T1))
    row = {"username": "ilse_marten", "time": T1}
    assert session.world.changes() == {"Alarm": {"set": {"int:37": row}, "removed": []}}
    assert session.state() == {"Alarm": {"set": {}, "added": [row], "removed": []}}
    # A key that counts rows: after a deletion the next row officially takes the place of the last one.
    for mended, rows in ((True, 37), (False, 36)):
        session = opened(official=not mended)
        for call in (one("AddAlarm", token=TOKEN, time=T1), one("DeleteAlarm", token=TOKEN, time="2023-04-01 05:00:00"),
                     one("AddAlarm", token=TOKEN, time=T2)):  # fmt: skip
            assert made(session, "apis", call) == "success"
        assert len(session.world.read("Alarm")) == rows


def plain_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name, table in after.items():
        if table == before[name]:
            continue
        if isinstance(table, dict):
            changed = {key: value for key, value in table.items() if before[name].get(key, ...) != value}
            changes[name] = {"set": changed, "removed": [key for key in before[name] if key not in table]}
        else:
            changes[name] = {"set": table, "removed": []}
    return changes


@pytest.mark.parametrize("tool_set", TOOL_SETS)
@given(st.data())
@PLAIN
def test_changes_are_a_plain_difference_of_the_tables(tool_set: str, data: st.DataObject) -> None:
    calls = data.draw(
        st.lists(st.one_of([calls_of(SCHEMAS[tool_set][name]) for name in WRITERS[tool_set]]), max_size=15)
    )
    session = opened(tool_set)
    ids = []
    for call in calls:
        result = session.call(call)
        if result.error is None and call.name == "RegisterUser":
            assert isinstance(result.content, dict)
            ids.append(result.content["token"])
        elif result.error is None and call.name == "AppointmentRegistration":
            ids.append(result.content)
    expected = json.dumps(plain_difference(TABLES.base, {name: session.world.read(name) for name in TABLES.base}))
    for number, text in enumerate(ids):
        assert isinstance(text, str)
        expected = expected.replace(f'"{text}"', f'"<generated:{number}>"')
    assert session.world.changes() == json.loads(expected)


WALL, ROOF = (one("AddAgenda", token=TOKEN, content=c, time=T1, location="L") for c in ("Wall", "Roof"))
NO_ROOF = one("DeleteAgenda", token=TOKEN, content="Roof", time="", location="")
ANN, BEN = (one("AppointmentRegistration", patient_name=name, date="2023-5-1", doctor_name="D") for name in "AB")
NO_SWITCH = [one("TimedSwitch", name="new", time=T1, on=True), one("CancelTimedSwitch", name="new", time=T1)]
WAYS = [
    pytest.param([WALL], [WALL, ROOF, NO_ROOF], id="undone at the end"),
    pytest.param([WALL], [ROOF, NO_ROOF, WALL], id="undone at the start"),
    pytest.param([WALL], [ROOF, WALL, NO_ROOF], id="undone in the middle"),
    pytest.param([WALL, ROOF], [ROOF, WALL], id="the other order"),
    pytest.param([ANN, BEN], [BEN, ANN], id="ids in the other order"),
    pytest.param([], NO_SWITCH, id="a switch set and cancelled"),
]
"""What ``state_reached`` promises: neither the order of calls nor a detour that was undone matters."""


@pytest.mark.parametrize(("direct", "other"), WAYS)
def test_how_a_state_was_reached_does_not_matter(direct: list[Call], other: list[Call]) -> None:
    first, second = opened(), opened()
    for call in direct:
        assert not isinstance(made(first, "apis", call), No)
    for call in other:
        assert not isinstance(made(second, "apis", call), No)
    assert first.state() == second.state()


# Ids.

REGISTER = [one("AppointmentRegistration", patient_name=str(n), date="2023-5-1", doctor_name="D") for n in range(4)]
REGISTER.insert(1, one("RegisterUser", username="u", password="p", email="e"))


def ids_of(session: SimulatorSession) -> list[Any]:
    results = [made(session, "apis", call) for call in REGISTER]
    return [result["token"] if isinstance(result, dict) else result for result in results]


def test_ids_come_from_the_seed_alone() -> None:
    first, same, other = (ids_of(opened(seed=seed)) for seed in (5, 5, 6))
    assert first == same
    assert set(first).isdisjoint(other)
    assert len(set(first)) == len(first)
    assert [len(text) for text in first] == [8, 18, 8, 8, 8]
    assert all(text.isdigit() == (len(text) == 8) and text.isalnum() and text == text.lower() for text in first)
    assert ids_of(opened(seed=5, official=True)) == first


def test_pinned_ids_come_first_and_stand_for_themselves_in_the_state() -> None:
    task = task_of(pinned=["11112222", "t0k3n"])
    ids = ids_of(opened(task=task))
    assert ids[:2] == ["11112222", "t0k3n"]
    assert ids[2:] == ids_of(opened())[:1] + ids[3:]  # the generator begins where the pins end
    first, second = opened(task=task), opened(seed=9)
    ids_of(first), ids_of(second)
    assert first.state() == second.state()
    assert made(first, "apis", one("CheckToken", token="t0k3n")) == {"username": "u"}


# Tables of a task, and its history.


def test_a_task_replaces_tables_by_name() -> None:
    account = {"solo": {"password": "p", "token": "t", "email": "e"}}
    task = task_of({"Account": account, "Alarm": {}})
    session = opened(task=task)
    assert made(session, "apis", one("CheckToken", token=TOKEN)) == NO_TOKEN
    assert made(session, "apis", one("AddAlarm", token="t", time=T1)) == "success"
    assert session.world.changes() == {"Alarm": {"set": {"0": {"username": "solo", "time": T1}}, "removed": []}}
    assert made(session, "apis", one("DeleteAccount", token="t")) == {"status": "success"}
    assert session.state()["Account"] == {"set": {}, "removed": ["solo"]}
    assert made(opened(task=task), "apis", one("CheckToken", token="t")) == {"username": "solo"}
    assert task.initial_state == {"Account": account, "Alarm": {}}


def test_every_table_can_be_replaced_by_one_of_the_official_shape() -> None:
    picture = [{"url": "https://x.org/a.jpg", "caption": "a cat"}]
    session = opened(task=task_of({"ImageCaptioning": picture}))
    assert made(session, "apis", one("ImageCaption", url="https://x.org/a.jpg")) == "a cat"


HISTORY = [
    {"name": "ForgotPassword", "arguments": SENT.given},
    {"name": "AddAlarm", "arguments": {"token": "invalid", "time": T1}},
    {"name": "Nothing", "arguments": {}},
    {"name": "ToolSearcher", "arguments": {"keywords": "alarm"}},
    {"name": "AddAlarm", "arguments": {"token": TOKEN, "time": T1}},
    {"name": "AppointmentRegistration", "arguments": {"patient_name": "P", "date": "2023-5-1", "doctor_name": "D"}},
]


def test_the_history_is_executed_first_where_that_is_asked_for() -> None:
    task = task_of(history=HISTORY, pinned=["10000000"])
    backend = SimulatorBackend(TABLES, "apis", LexicalRanker(), replay=True)
    session = backend.open(task, 0)
    assert made(session, "apis", one("ForgotPassword", **RESET)) == "success"
    assert made(session, "apis", one("QueryAlarm", token=TOKEN, time=T1)) == {"username": "ilse_marten", "time": T1}
    assert made(session, "apis", one("CancelRegistration", appointment_id="10000000")) == "success"
    assert set(session.state()) == {"Account", "Alarm"}
    assert opened(task=task).state() == {}
    assert task.meta["history"] == HISTORY


def test_a_call_of_the_history_that_fits_no_tool_is_passed_over() -> None:
    """It failed when it was recorded, too."""
    history = [{"name": "AddAlarm", "arguments": given} for given in ({}, {"token": TOKEN, "time": T1, "device_id": 1})]
    session = SimulatorBackend(TABLES, "apis", LexicalRanker(), replay=True).open(task_of(history=history), 0)
    assert session.state() == {}


@pytest.mark.parametrize("official", [False, True], ids=["mended", "official"])
def test_every_recorded_history_can_be_executed(apibank_data: Path, official_tables: Tables, official: bool) -> None:
    from callgym.envs.apibank.tasks import load_official

    for level in (1, 2, 3):
        tool_set = "lv3_apis" if level == 3 else "apis"
        backend = SimulatorBackend(official_tables, tool_set, LexicalRanker(), official=official, replay=True)
        for task in load_official(apibank_data, level, "test"):
            copy_json(backend.open(task, 0).state())


# The calculator.

WRONG_FORMULAS = {
    "": "invalid formula", " ": "invalid formula", "12": "invalid formula", "(3)": "invalid formula",
    "()": "invalid formula", "1.5+1": "invalid formula", "1\n+2": "invalid formula", "١+٢": "invalid formula",
    "2**3": "can't multiply sequence by non-int of type 'float'", "7//2": "unsupported operand type(s) for /: "
    "'float' and 'str'", "1+(2": "invalid formula", "1+2)": "invalid formula", "5+": "invalid formula",
    "12+": "list index out of range", "1+-": "invalid formula", "-5+3": "invalid formula", "+1+1": "invalid formula",
    "2*(-5+3)": "invalid formula", "()+1": "list index out of range", ")(+1": "list index out of range",
    "((1+2))*3": "')' is not in list", "1/0": "float division by zero", "1/(2-2)": "float division by zero",
    "9" * 400 + "*1": "The numbers are too large.", "9" * 400 + "-" + "9" * 400: "The numbers are too large.",
    "__import__('os')": "invalid formula", "a+1": "invalid formula", "1e5+1": "invalid formula",
    "print(1)+1": "invalid formula", "1;2+3": "invalid formula", "0x10+1": "invalid formula",
}  # fmt: skip
RIGHT_FORMULAS = {
    "1+2": 3.0, " 1 + 2 ": 3.0, "2-3-4": -5.0, "8/2/2": 2.0, "8/2*4": 16.0, "1+2*3": 7.0, "(1+2)*3": 9.0,
    "2*(3+4)-(5-6)*7": 21.0, "3-(2-1)": 2.0, "(3)*1": 3.0, "2(3)+1": 2.0, "007+1": 8.0, "1/" + "9" * 400: 0.0,
    "0*5": 0.0, "1/3": 1 / 3,
}  # fmt: skip


@pytest.mark.parametrize(("formula", "complaint"), WRONG_FORMULAS.items())
def test_a_formula_without_a_value(formula: str, complaint: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        evaluate(formula)
    assert str(caught.value) == complaint


@pytest.mark.parametrize(("formula", "value"), RIGHT_FORMULAS.items())
def test_a_formula_with_a_value(formula: str, value: float) -> None:
    found = evaluate(formula)
    assert (type(found), found) == (float, value)


HOSTILE_FORMULAS = [
    "(" * 500 + "1+1" + ")" * 497, "(" * 499 + ")" * 499 + "+1", "()" * 499 + "+1", "(1+1)" * 200, "1+" * 499 + "1",
    "1" + "-1" * 499, "2*" * 499 + "2", "9" * 997 + "*9", "9*" * 400 + "9", "-" * 999 + "1", "-+*/" * 250,
    "(" * 250 + "-1" + ")" * 250, ")" * 500 + "(" * 499 + "+", "1/" * 499 + "0",
]  # fmt: skip


def outcome(formula: str) -> float | str:
    """The value, or the complaint."""
    try:
        return evaluate(formula)
    except ToolFailure as failure:
        return str(failure)


def assert_finite_or_a_complaint(found: float | str) -> None:
    if isinstance(found, str):
        assert 0 < len(found) < 200
    else:
        assert type(found) is float
        assert abs(found) < float("inf")


@pytest.mark.parametrize("formula", HOSTILE_FORMULAS, ids=lambda formula: formula[:12])
def test_hostile_formulas_have_a_value_or_a_complaint(formula: str) -> None:
    for text in (formula, formula[:1_000], formula + "1"):
        assert_finite_or_a_complaint(outcome(text))


@given(st.text("0123456789+-*/() ", max_size=40) | st.text(max_size=20))
@settings(max_examples=300)
@example("1+" + "(" * 30)
def test_any_text_has_a_finite_value_or_a_complaint(formula: str) -> None:
    assert_finite_or_a_complaint(outcome(formula))


@pytest.mark.parametrize("length", [1_001, 1_002, 100_000])
def test_very_long_formulas_are_not_read(length: int) -> None:
    with pytest.raises(ToolFailure, match=rf"has {length} characters; at most 1000 are read"):
        evaluate("1" * (length - 2) + "+1")
    assert evaluate(" " * length + "1+1") == 2.0


def by_precedence(numbers: Sequence[Any], signs: Sequence[str]) -> Any:
    """Products and quotients first, each from the left."""
    terms = [numbers[0]]
    added: list[str] = []
    for sign, number in zip(signs, numbers[1:], strict=True):
        if sign == "*":
            terms[-1] = terms[-1] * number
        elif sign == "/":
            terms[-1] = terms[-1] / number
        else:
            terms.append(number)
            added.append(sign)
    total = terms[0]
    for sign, term in zip(added, terms[1:], strict=True):
        total = total + term if sign == "+" else total - term
    return total


def chains(
    operands: st.SearchStrategy[Any], signs: str, longest: int
) -> st.SearchStrategy[tuple[list[Any], list[str]]]:
    """Operands and the signs between them."""
    return st.integers(2, longest).flatmap(
        lambda count: st.tuples(
            st.lists(operands, min_size=count, max_size=count),
            st.lists(st.sampled_from(signs), min_size=count - 1, max_size=count - 1),
        )
    )


whole_numbers, digits = st.integers(0, 10_000), st.integers(0, 20)
formulas = chains(whole_numbers | chains(whole_numbers, "+-*/", 8), "+-*/", 8)
# Every number on the way is below 2 ** 53: (20 * 20 * 20) ** 4 is 4e15.
small_formulas = chains(digits | chains(digits, "+-*", 3), "+-*", 4)


def written(operands: Sequence[Any], signs: Sequence[str]) -> str:
    texts = [f"({written(*operand)})" if isinstance(operand, tuple) else str(operand) for operand in operands]
    return texts[0] + "".join(sign + text for sign, text in zip(signs, texts[1:], strict=True))


def worth(operands: Sequence[Any], signs: Sequence[str], number: Callable[[int], Any]) -> Any:
    values = [worth(each[0], each[1], number) if isinstance(each, tuple) else number(each) for each in operands]
    return by_precedence(values, signs)


@given(formulas)
@settings(max_examples=300)
@example(([([5, 5], ["-"]), 3], ["*"]))
@example(([3, ([5, 5], ["-"])], ["/"]))
def test_values_are_those_of_arithmetic_on_floats(formula: tuple[list[Any], list[str]]) -> None:
    operands, signs = formula
    try:
        expected = worth(operands, signs, float)
    except ZeroDivisionError as error:
        expected = str(error)
    assert outcome(written(operands, signs)) == expected


@given(small_formulas)
def test_small_whole_numbers_come_out_exactly(formula: tuple[list[Any], list[str]]) -> None:
    operands, signs = formula
    assert Fraction(evaluate(written(operands, signs))) == worth(operands, signs, Fraction)


# Calling in the official manner.

ALARM = {"token": TOKEN, "time": T1}
FAULTS: list[tuple[str, str, dict[str, Any], str]] = [
    ("apis", "Nothing", {}, "Exception: invalid tool name."),
    ("apis", "AccountInfo", {}, "Exception: invalid tool name."),
    ("lv3_apis", "AddAlarm", {}, "Exception: invalid tool name."),
    ("apis", "AddAlarm", {**ALARM, "x": "1"}, "AssertionError: invalid parameter name. parameter: x"),
    ("apis", "AddAlarm", {"Token": TOKEN}, "AssertionError: invalid parameter name. parameter: Token"),
    ("apis", "AddAlarm", {"token": TOKEN},
     "TypeError: AddAlarm.call() missing 1 required positional argument: 'time'"),
    ("apis", "AddAlarm", {}, "TypeError: AddAlarm.call() missing 2 required positional arguments: 'token' and 'time'"),
    ("apis", "AddAgenda", {"time": T1},
     "TypeError: AddAgenda.call() missing 3 required positional arguments: 'token', 'content', and 'location'"),
    ("apis", "ForgotPassword", {}, "TypeError: ForgotPassword.call() missing 1 required positional argument: 'status'"),
    ("apis", "GetToday", {"x": "1"}, "AssertionError: invalid parameter name. parameter: x"),
    *(("lv3_apis", "LikeCount", {"post_id": text}, f"AssertionError: invalid parameter type. parameter: {text}")
      for text in ("one", "-1", "1.0", "", " 1", "1e3")),
    ("lv3_apis", "LikeCount", {"post_id": None}, "TypeError: int() argument must be a string, a bytes-like object or "
     "a real number, not 'NoneType'"),
    *(("lv3_apis", "TaxCalculator", {"salary": text}, "AssertionError: invalid parameter type.")
      for text in ("much", "-1", "1e3", "", ".", "1.5.2", "1,000", " 1")),
    ("lv3_apis", "GetWeatherForCoordinates", {"latitude": "1", "longitude": "1"},
     "TypeError: 'NoneType' object is not subscriptable"),
    # The first fault counts, in the order given.
    ("lv3_apis", "NearbyRestaurants", {"distance": "far", "x": "1"},
     "AssertionError: invalid parameter type. parameter: far"),
    ("lv3_apis", "NearbyRestaurants", {"x": "1", "distance": "far"},
     "AssertionError: invalid parameter name. parameter: x"),
]  # fmt: skip


@pytest.mark.parametrize(("tool_set", "name", "arguments", "fault"), FAULTS)
def test_what_the_official_manager_refuses(tool_set: str, name: str, arguments: dict[str, Any], fault: str) -> None:
    with pytest.raises(CallFault) as caught:
        call_tool(BACKENDS[tool_set, True].open_world(), tool_set, name, arguments)
    assert str(caught.value) == fault == f"{caught.value.kind}: {caught.value.message}"


COERCIONS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("lv3_apis", "LikeCount", {"post_id": "007"}, {"post_id": 7}),
    ("lv3_apis", "LikeCount", {"post_id": "٧"}, {"post_id": 7}),
    ("lv3_apis", "LikeCount", {"post_id": 2.9}, {"post_id": 2}),
    ("lv3_apis", "LikeCount", {"post_id": True}, {"post_id": 1}),
    ("lv3_apis", "TaxCalculator", {"salary": "10"}, {"salary": 10.0}),
    ("lv3_apis", "TaxCalculator", {"salary": "1."}, {"salary": 1.0}),
    ("lv3_apis", "TaxCalculator", {"salary": ".5"}, {"salary": 0.5}),
    ("lv3_apis", "TaxCalculator", {"salary": 3}, {"salary": 3.0}),
    ("lv3_apis", "MovieRecommendations", {"preferences": "['Drama']"}, {"preferences": "['Drama']"}),
    ("apis", "TimedSwitch", {"name": "x", "time": T1, "on": "True"}, {"name": "x", "time": T1, "on": True}),
    ("apis", "TimedSwitch", {"name": "x", "time": T1, "on": "true"}, {"name": "x", "time": T1, "on": False}),
    ("apis", "TimedSwitch", {"name": "x", "time": T1, "on": "1"}, {"name": "x", "time": T1, "on": False}),
    ("apis", "TimedSwitch", {"on": True, "time": T1, "name": "x"}, {"on": False, "time": T1, "name": "x"}),
    ("apis", "PlayMusic", {"music_name": "5"}, {"music_name": "5"}),
    ("apis", "RecordHealthData", {"user_id": "u", "time": T1, "health_data": "["},
     {"user_id": "u", "time": T1, "health_data": "["}),
    ("apis", "RecordHealthData", {"user_id": "u", "time": T1}, {"user_id": "u", "time": T1, "health_data": None}),
    ("apis", "ModifyRegistration", {"appointment_id": "x"},
     {"appointment_id": "x", "new_appointment_date": None, "new_appointment_doctor": None}),
    ("apis", "ForgotPassword", {"status": "x", "verification_code": "970420"},
     {"status": "x", "verification_code": 970420}),
    ("apis", "Translate", {"src": "x"}, {"src": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("tool_set", "name", "arguments", "typed"), COERCIONS)
def test_how_the_official_manager_reads_arguments(
    tool_set: str, name: str, arguments: dict[str, Any], typed: dict[str, Any]
) -> None:
    result = call_tool(BACKENDS[tool_set, True].open_world(), tool_set, name, arguments)
    assert result["input"] == typed
    assert {key: type(value) for key, value in result["input"].items()} == {k: type(v) for k, v in typed.items()}


SHAPES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("apis", "AddAlarm", ALARM,
     {"api_name": "AddAlarm", "input": ALARM, "output": "success", "exception": None}),
    ("apis", "AddAlarm", {"token": "", "time": T1},
     {"api_name": "AddAlarm", "input": {"token": "", "time": T1}, "output": None,
      "exception": "The token is invalid."}),
    ("apis", "GetToday", {}, {"api_name": "GetToday", "input": None, "output": "2023-03-31", "exception": None}),
    ("apis", "CheckToken", {"token": TOKEN},
     {"input": {"token": TOKEN}, "output": {"username": "ilse_marten"}, "exception": None}),
    ("apis", "DeleteAccount", {"token": TOKEN},
     {"input": {"token": TOKEN}, "output": {"status": "success"}, "exception": None}),
    ("apis", "ForgotPassword", SENT.given, {"input": SENT.given, "output": 970420, "exception": None}),
    ("apis", "AddScene", {"name": "X", "devices": [{**LAMP}]},
     {"api_name": "AddScene", "input": {"name": "X", "devices": [{"name": "lamp", "description": "by the door"}]},
      "output": "success", "exception": None}),
    ("lv3_apis", "MovieRecommendations", {"preferences": "['Drama']"},
     {"api_name": "MovieRecommendations", "input": {"preferences": "['Drama']"}, "output": None, "exception": "'['"}),
    ("lv3_apis", "TaxCalculator", {"salary": -1},
     {"api_name": "TaxCalculator", "input": {"salary": -1.0}, "output": None, "exception": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("tool_set", "name", "arguments", "result"), SHAPES)
def test_the_official_shape_of_a_result(
    tool_set: str, name: str, arguments: dict[str, Any], result: dict[str, Any]
) -> None:
    assert call_tool(BACKENDS[tool_set, True].open_world(), tool_set, name, own_copy(arguments)) == result


def test_an_exception_that_is_returned_equals_nothing_but_itself() -> None:
    world = BACKENDS["apis", True].open_world()
    result = call_tool(world, "apis", "ModifyAgenda", {"token": TOKEN, "content": "", "time": "", "location": ""})
    assert result["exception"] is None
    output = result["output"]
    assert str(output) == "<Exception: Error>"
    assert output != "<Exception: Error>"
    assert [output] == [output]
    assert not {output} - {output}


@pytest.mark.parametrize("tool_set", TOOL_SETS)
@given(st.data())
@PLAIN
def test_the_official_manager_answers_or_refuses_any_texts(tool_set: str, data: st.DataObject) -> None:
    """What the official patterns read is text in every parameter."""
    texts = st.sampled_from([*HOSTILE_TEXTS, "9" * 5_000, "²", "[", "[]", "1", "3.5"]) | st.sampled_from(KNOWN_TEXTS)
    for _ in range(12):
        name = data.draw(st.sampled_from(list(TOOL_SETS[tool_set])))
        world = BACKENDS[tool_set, True].open_world()
        arguments = {key: data.draw(texts) for key in TOOL_SETS[tool_set][name].parameters}
        with contextlib.suppress(CallFault):
            result = call_tool(world, tool_set, name, arguments)
            assert list(result)[-3:] == ["input", "output", "exception"]
            assert (result["exception"] is None) or (result["output"] is None)


# The tool search.


def test_level_3_keywords_are_taken_apart_for_a_policy_alone() -> None:
    mended, official = BACKENDS["lv3_apis", False], BACKENDS["lv3_apis", True]
    assert mended.finds("TaxCalculator") == ("TaxCalculator",)
    assert official.finds("tax calculator") == ("TaxCalculator",)
    assert mended.finds("") == official.finds("") == ()


@pytest.mark.parametrize(("tool_set", "name"), EVERY_TOOL)
def test_every_tool_can_be_found_by_its_own_search_text(tool_set: str, name: str) -> None:
    found = BACKENDS[tool_set, False].finds(TABLES.search_texts[tool_set][name])
    if name == "ToolSearcher":
        assert name not in found
    elif tool_set == "apis" and "token" in TOOL_SETS[tool_set][name].parameters:
        assert found == ("GetUserToken", name)
    else:
        assert found == (name,)
