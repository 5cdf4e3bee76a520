"""The small tables of a dialogue: what must be there for its calls to succeed, with a few rows of other people's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from callgym.envs.apibank.starter import pools
from callgym.envs.apibank.starter.live.values import DOCTORS, KINDS, Draw, User, token

__all__ = ["RECORDS", "any_value", "log_in"]

_AGES = (19, 81)


def any_value(draw: Draw, kind: str, count: int = 1) -> Any:
    """A value of a kind, whatever its split: nobody says it. ``count`` values at once for a kind of several."""
    names = tuple(str(n) for n in range(count))
    values = tuple(KINDS[kind](draw, "", names).values.values())
    return values if count > 1 else values[0]


def _other(draw: Draw, kind: str, taken: str) -> str:
    """Another value of the kind than ``taken``."""
    while (value := str(any_value(draw, kind))) == taken:
        pass
    return value


def _account(draw: Draw, name: str, password: str, its_token: str, email: str = "") -> None:
    accounts = draw.state.setdefault("Account", {})
    if not accounts:
        other = any_value(draw, "new_name")
        accounts[other] = {
            "password": any_value(draw, "password"),
            "token": token(draw.rng),
            "email": f"{other.replace('_', '.')}@example.org",
        }
    email = email or f"{name.replace('_', '.')}@example.org"
    accounts[name] = {"password": password, "token": its_token, "email": email}


def log_in(draw: Draw, name: str, password: str) -> User:
    """Let ``name`` be the one who speaks, with an account."""
    draw.user = User(name, password, token(draw.rng))
    _account(draw, name, password, draw.user.token)
    return draw.user


Row = dict[str, Any]


def _agenda(draw: Draw) -> Row:
    return {"content": any_value(draw, "errand"), "time": any_value(draw, "time"), "location": any_value(draw, "place")}


def _alarm(draw: Draw) -> Row:
    return {"time": any_value(draw, "time")}


def _reminder(draw: Draw) -> Row:
    return {"content": any_value(draw, "errand"), "time": any_value(draw, "time")}


def _meeting(draw: Draw) -> Row:
    start, end = any_value(draw, "span", 2)
    people = [any_value(draw, "person") for _ in range(2)]
    return {
        "meeting_topic": any_value(draw, "topic"),
        "start_time": start,
        "end_time": end,
        "location": any_value(draw, "room"),
        "attendees": people,
    }


_ROWS: dict[str, Callable[[Draw], Row]] = {
    "Agenda": _agenda,
    "Alarm": _alarm,
    "Reminder": _reminder,
    "Meeting": _meeting,
}


def _diary(draw: Draw, table: str, own: Row | None = None) -> None:
    """Rows of the table: somebody else's, one more of the user's, and ``own``."""
    rows = draw.state.setdefault(table, {})
    user = draw.user.name if draw.user else ""
    owners = [] if rows else [any_value(draw, "new_name"), *([user] if user and draw.chance(0.5) else [])]
    for owner in owners:
        rows[str(len(rows) + 1)] = {**_ROWS[table](draw), "username": owner}
    if own is not None:
        rows[str(len(rows) + 1)] = {**_ROWS[table](draw), **own, "username": user}


Record = Callable[[Draw, dict[str, Any]], None]


def _untouched(table: str) -> Record:
    """The table is there, without anything that the call is about."""
    return lambda draw, values: _diary(draw, table)


def _entry(table: str, *fields: str, **renamed: str) -> Record:
    """The user's row with the fields that were said."""

    def record(draw: Draw, values: dict[str, Any]) -> None:
        own = {name: values[name] for name in fields if name in values}
        own.update({name: values[argument] for name, argument in renamed.items()})
        _diary(draw, table, own)

    return record


def _asked_meeting(draw: Draw, values: dict[str, Any]) -> None:
    own = dict(values)
    if "start_time" in own:
        end = datetime.fromisoformat(own["start_time"]) + timedelta(minutes=draw.one((30, 45, 60, 90)))
        own["end_time"] = end.isoformat(sep=" ")
    _diary(draw, "Meeting", own)


def _believed_reminder(draw: Draw, values: dict[str, Any]) -> None:
    """The reminder is due when the user believes, or somewhat later."""
    at = datetime.fromisoformat(values["time"])
    if draw.chance(0.6):
        at += timedelta(minutes=draw.one((10, 20, 30, 60, 120)))
    _diary(draw, "Reminder", {"content": values["content"], "time": at.isoformat(sep=" ")})


def _appointments(draw: Draw, values: dict[str, Any], asked: bool = False) -> None:
    table = draw.state.setdefault("Appointments", {})
    if not table:
        table[any_value(draw, "appointment")] = _appointment(draw, {})
    if asked:
        number = values.get("appointment_id") or any_value(draw, "appointment")
        table[number] = _appointment(draw, values)


def _appointment(draw: Draw, values: dict[str, Any]) -> Row:
    return {
        "patient_name": values.get("patient_name") or any_value(draw, "person"),
        "date": values.get("date") or any_value(draw, "day"),
        "doctor_name": draw.one(DOCTORS),
    }


def _asked_appointment(draw: Draw, values: dict[str, Any]) -> None:
    _appointments(draw, values, asked=True)


def _health(draw: Draw, values: dict[str, Any], asked: bool = False) -> None:
    table = draw.state.setdefault("HealthData", {})
    if not table:
        table[any_value(draw, "health_id")] = [_measured(draw, any_value(draw, "past"))]
    if asked:
        start, end = (datetime.fromisoformat(values[name]) for name in ("start_time", "end_time"))
        inside = start + (end - start) / 2
        times = [start - timedelta(days=draw.rng.randint(2, 9)), inside.replace(minute=0, second=0, microsecond=0)]
        table[values["user_id"]] = [_measured(draw, at.isoformat(sep=" ")) for at in times]


def _measured(draw: Draw, time: str) -> Row:
    return {"time": time, **{row["name"]: row["value"] for row in any_value(draw, "measurements")}}


def _asked_health(draw: Draw, values: dict[str, Any]) -> None:
    _health(draw, values, asked=True)


def _orders(draw: Draw, values: dict[str, Any]) -> None:
    table = draw.state.setdefault("Hotel", {})
    for _ in range(2):
        arrival, departure = any_value(draw, "stay", 2)
        rooms, adults, children = any_value(draw, "party", 3)
        table[str(len(table) + 1)] = {
            "hotel_name": _other(draw, "hotel", values["hotel_name"]),
            "check_in_time": arrival,
            "check_out_time": departure,
            "room_count": rooms,
            "adult_count": adults,
            "child_count": children,
        }


def _bank_accounts(draw: Draw, values: dict[str, Any]) -> None:
    other = {"account": any_value(draw, "bank_account"), "password": any_value(draw, "password")}
    draw.state.setdefault("OpenBankAccount", {"0": {**other, "name": any_value(draw, "person")}})


def _balance(draw: Draw, values: dict[str, Any]) -> None:
    if draw.user:
        draw.state.setdefault("Bank", {})[draw.user.name] = {
            "balance": draw.rng.randint(5_000, 900_000) / 100,
            "age": draw.rng.randint(*_AGES),
            "city": draw.one(pools.CITIES),
        }


def _switches(draw: Draw, values: dict[str, Any], planned: bool = False) -> None:
    table = draw.state.setdefault("TimeSwitch", {})
    other = _other(draw, "device", values["name"])
    table.setdefault(other, [{"time": any_value(draw, "time"), "on": draw.chance(0.5)}])
    if planned:
        table.setdefault(values["name"], []).append({"time": values["time"], "on": draw.chance(0.5)})


def _planned_switch(draw: Draw, values: dict[str, Any]) -> None:
    _switches(draw, values, planned=True)


def _scenes(draw: Draw, values: dict[str, Any], known: bool = False) -> None:
    table = draw.state.setdefault("Scenes", {})
    table.setdefault(_other(draw, "scene", values["name"]), _sorted(any_value(draw, "devices")))
    if known:
        table[values["name"]] = _sorted(any_value(draw, "devices"))


def _sorted(devices: list[Row]) -> list[Row]:
    return sorted(devices, key=lambda device: str(device["name"]))


def _known_scene(draw: Draw, values: dict[str, Any]) -> None:
    _scenes(draw, values, known=True)


def _someones_account(draw: Draw, values: dict[str, Any]) -> None:
    _account(draw, any_value(draw, "new_name"), any_value(draw, "password"), values["token"])


def _known_account(draw: Draw, values: dict[str, Any]) -> None:
    password = values.get("password") or any_value(draw, "password")
    _account(draw, values["username"], password, token(draw.rng), values.get("email", ""))


def _other_accounts(draw: Draw, values: dict[str, Any]) -> None:
    _account(draw, any_value(draw, "new_name"), any_value(draw, "password"), token(draw.rng))


RECORDS: dict[str, Record] = {
    "GetUserToken": _known_account,
    "CheckToken": _someones_account,
    "RegisterUser": _other_accounts,
    "ForgotPassword": _known_account,
    "AddAgenda": _untouched("Agenda"),
    "QueryAgenda": _entry("Agenda", "content", "time"),
    "ModifyAgenda": _entry("Agenda", "content"),
    "DeleteAgenda": _entry("Agenda", "content"),
    "AddAlarm": _untouched("Alarm"),
    "QueryAlarm": _entry("Alarm", "time"),
    "ModifyAlarm": _entry("Alarm", time="from_time"),
    "DeleteAlarm": _entry("Alarm", "time"),
    "AddMeeting": _untouched("Meeting"),
    "QueryMeeting": _asked_meeting,
    "ModifyMeeting": _entry("Meeting", "meeting_topic"),
    "DeleteMeeting": _entry("Meeting", "meeting_topic"),
    "AddReminder": _untouched("Reminder"),
    "QueryReminder": _believed_reminder,
    "ModifyReminder": _entry("Reminder", "content"),
    "DeleteReminder": _entry("Reminder", "content", "time"),
    "AppointmentRegistration": _appointments,
    "QueryRegistration": _asked_appointment,
    "CancelRegistration": _asked_appointment,
    "ModifyRegistration": _asked_appointment,
    "RecordHealthData": _health,
    "QueryHealthData": _asked_health,
    "BookHotel": _orders,
    "OpenBankAccount": _bank_accounts,
    "QueryBalance": _balance,
    "TimedSwitch": _switches,
    "CancelTimedSwitch": _planned_switch,
    "AddScene": _scenes,
    "ModifyScene": _known_scene,
    "QueryScene": _known_scene,
    "DeleteScene": _known_scene,
}
"""Tool to what sets its tables up for a call with these values; absent where the shared tables do."""
