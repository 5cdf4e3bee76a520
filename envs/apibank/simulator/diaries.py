"""What users write down: agenda items, alarms, meetings, reminders; add, query, modify and delete of each.

A row belongs to the user of the token. The first own row whose subject or time is the given one is
meant; what differs between the four tables are their fields, their order of tests and their complaints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from callgym.envs.apibank.simulator.accounts import owner_of
from callgym.envs.apibank.simulator.world import ReturnedError, World, moment
from callgym.tool_backends.python import ToolFailure

__all__ = ["TOOLS"]


class _Row(NamedTuple):
    """An own row that was found, under its key."""

    key: Any
    row: dict[str, Any]


def _find(world: World, table: str, username: str, **wanted: Any) -> _Row | None:
    for key, row in world.read(table).items():
        if row["username"] == username and any(row[field] == value for field, value in wanted.items()):
            return _Row(key, row)
    return None


def _append(world: World, table: str, row: dict[str, Any]) -> str:
    """Add a row under the next key."""
    rows = world.write(table)
    rows[str(max((int(key) for key in rows), default=0) + 1 if rows else 0)] = row
    return "success"


def _append_by_count(world: World, table: str, row: dict[str, Any]) -> str:
    """As the official agenda and alarm do: the key is an integer, one more than there are rows, so that
    after a deletion it may overwrite a row that was added before."""
    if not world.official:
        return _append(world, table, row)
    rows = world.write(table)
    rows[len(rows) + 1] = row
    return "success"


def _not_blank(text: str, complaint: str) -> None:
    if not text.strip():
        raise ToolFailure(complaint)


# Agenda.


def add_agenda(world: World, token: str, content: str, time: str, location: str) -> Any:
    moment(time)
    _not_blank(content, "Content should not be null")
    username = owner_of(world, token)
    row = {"username": username, "content": content, "time": time, "location": location}
    return _append_by_count(world, "Agenda", row)


def _own_agenda(world: World, token: str, content: str, time: str) -> tuple[str, _Row | None]:
    if time:
        moment(time)
    username = owner_of(world, token)
    return username, _find(world, "Agenda", username, content=content, time=time)


def _no_agenda(content: str, time: str, noun: str, official: bool) -> ToolFailure:
    if content:
        return ToolFailure(f"You have no {noun} about {content}")
    if time:
        return ToolFailure(f"You have no {noun} at time : {time}")
    return ToolFailure("Error" if official else "Content and time should not be null both")


def query_agenda(world: World, token: str, content: str, time: str, location: str) -> Any:
    _, found = _own_agenda(world, token, content, time)
    if found is None:
        raise _no_agenda(content, time, "agenda", world.official)
    return dict(found.row)


def modify_agenda(world: World, token: str, content: str, time: str, location: str) -> Any:
    username, found = _own_agenda(world, token, content, time)
    if found is None:
        if world.official and not content and not time:
            return ReturnedError("<Exception: Error>")
        raise _no_agenda(content, time, "agenda", world.official)
    row = {"username": username, "content": content, "time": time, "location": location}
    world.write("Agenda")[found.key] = row
    return "success"


def delete_agenda(world: World, token: str, content: str, time: str, location: str) -> Any:
    _, found = _own_agenda(world, token, content, time)
    if found is not None:
        del world.write("Agenda")[found.key]
    elif content or time or not world.official:
        raise _no_agenda(content, time, "meeting" if world.official else "agenda", world.official)
    return "success"


# Alarms.


def _own_alarm(world: World, token: str, time: str, noun: str = "alarm clock") -> _Row:
    found = _find(world, "Alarm", owner_of(world, token), time=time)
    if found is None:
        raise ToolFailure(f"You have no {noun} at time : {time}")
    return found


def add_alarm(world: World, token: str, time: str) -> Any:
    moment(time)
    return _append_by_count(world, "Alarm", {"username": owner_of(world, token), "time": time})


def query_alarm(world: World, token: str, time: str) -> Any:
    moment(time)
    return dict(_own_alarm(world, token, time).row)


def modify_alarm(world: World, token: str, from_time: str, to_time: str) -> Any:
    moment(from_time)
    moment(to_time)
    found = _own_alarm(world, token, from_time, "agenda" if world.official else "alarm clock")
    world.write("Alarm")[found.key]["time"] = to_time
    return "success"


def delete_alarm(world: World, token: str, time: str) -> Any:
    moment(time)
    del world.write("Alarm")[_own_alarm(world, token, time).key]
    return "success"


# Meetings.


def add_meeting(
    world: World, token: str, meeting_topic: str, start_time: str, end_time: str, location: str, attendees: Any
) -> Any:
    moment(start_time)
    moment(end_time)
    _not_blank(meeting_topic, "Meeting Topic should not be null")
    row = {
        "username": owner_of(world, token),
        "meeting_topic": meeting_topic,
        "start_time": start_time,
        "end_time": end_time,
        "location": location,
        "attendees": attendees,
    }
    return _append(world, "Meeting", row)


def _own_meeting(world: World, token: str, topic: str, start: str, end: str) -> _Row:
    for time in (start, end):
        if time:
            moment(time)
    if not topic.strip() and not start:
        raise ToolFailure("Meeting Topic and start_time should not be null both")
    found = _find(world, "Meeting", owner_of(world, token), meeting_topic=topic, start_time=start)
    if found is None:
        raise ToolFailure(f"You have no meeting about {topic}" if topic else f"You have no meeting at time : {start}")
    return found


def query_meeting(
    world: World, token: str, meeting_topic: str, start_time: str, end_time: str, location: str, attendees: Any
) -> Any:
    return dict(_own_meeting(world, token, meeting_topic, start_time, end_time).row)


def modify_meeting(
    world: World, token: str, meeting_topic: str, start_time: str, end_time: str, location: str, attendees: Any
) -> Any:
    found = _own_meeting(world, token, meeting_topic, start_time, end_time)
    row = world.write("Meeting")[found.key]
    if meeting_topic:
        row["meeting_topic"] = meeting_topic
    if start_time:
        row["start_time"], row["end_time"] = start_time, end_time
    return "success"


def delete_meeting(
    world: World, token: str, meeting_topic: str, start_time: str, end_time: str, location: str, attendees: Any
) -> Any:
    found = _own_meeting(world, token, meeting_topic, start_time, end_time)
    del world.write("Meeting")[found.key]
    return "success"


# Reminders.


def add_reminder(world: World, token: str, content: str, time: str) -> Any:
    moment(time)
    _not_blank(content, "Content should not be null")
    return _append(world, "Reminder", {"username": owner_of(world, token), "content": content, "time": time})


def _own_reminder(world: World, token: str, content: str, time: str) -> _Row:
    moment(time)
    _not_blank(content, "Content should not be null")
    found = _find(world, "Reminder", owner_of(world, token), content=content, time=time)
    if found is None:
        raise ToolFailure(f"You have no reminder about {content} or at time : {time}")
    return found


def query_reminder(world: World, token: str, content: str, time: str) -> Any:
    return dict(_own_reminder(world, token, content, time).row)


def modify_reminder(world: World, token: str, content: str, time: str) -> Any:
    found = _own_reminder(world, token, content, time)
    world.write("Reminder")[found.key].update(content=content, time=time)
    return "success"


def delete_reminder(world: World, token: str, content: str, time: str) -> Any:
    del world.write("Reminder")[_own_reminder(world, token, content, time).key]
    return "success"


TOOLS: dict[str, Callable[..., Any]] = {
    "AddAgenda": add_agenda,
    "QueryAgenda": query_agenda,
    "ModifyAgenda": modify_agenda,
    "DeleteAgenda": delete_agenda,
    "AddAlarm": add_alarm,
    "QueryAlarm": query_alarm,
    "ModifyAlarm": modify_alarm,
    "DeleteAlarm": delete_alarm,
    "AddMeeting": add_meeting,
    "QueryMeeting": query_meeting,
    "ModifyMeeting": modify_meeting,
    "DeleteMeeting": delete_meeting,
    "AddReminder": add_reminder,
    "QueryReminder": query_reminder,
    "ModifyReminder": modify_reminder,
    "DeleteReminder": delete_reminder,
}
