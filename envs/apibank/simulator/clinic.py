"""Health: appointments, health records, symptoms and first aid."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from callgym.envs.apibank.simulator.world import World, moment, normal_date, normal_time
from callgym.tool_backends.python import ToolFailure

__all__ = ["TOOLS"]

_ID_LENGTH = 8


def appointment_registration(world: World, patient_name: str, date: str, doctor_name: str) -> Any:
    row = {"patient_name": patient_name.strip(), "date": "", "doctor_name": doctor_name.strip()}
    if not row["patient_name"] or not row["doctor_name"]:
        raise ToolFailure("Patient name or doctor name cannot be empty.")
    row["date"] = normal_date(date)
    for known in world.read("Appointments").values():
        if known["patient_name"] == row["patient_name"] and known["date"] == row["date"]:
            if known["doctor_name"] == row["doctor_name"]:
                raise ToolFailure("This appointment has already been registered.")
            raise ToolFailure("This patient has already been registered in this day.")
    key = world.draw(string.digits, _ID_LENGTH)
    world.write("Appointments")[key] = row
    return key


def query_registration(world: World, patient_name: str, date: str) -> Any:
    day = normal_date(date)
    patient = patient_name.strip()
    found = {
        key: row
        for key, row in world.read("Appointments").items()
        if row["patient_name"] == patient and row["date"] == day
    }
    if not found:
        raise ToolFailure("No appointments found.")
    return found


def cancel_registration(world: World, appointment_id: str) -> Any:
    key = appointment_id.strip()
    if key not in world.read("Appointments"):
        raise ToolFailure("The appointment ID is incorrect.")
    del world.write("Appointments")[key]
    return "success"


def modify_registration(
    world: World,
    appointment_id: str,
    new_appointment_date: str | None = None,
    new_appointment_doctor: str | None = None,
) -> Any:
    key = appointment_id.strip()
    row = world.read("Appointments").get(key)
    if row is None:
        raise ToolFailure("The appointment ID does not exist.")
    doctor = None if new_appointment_doctor is None else new_appointment_doctor.strip()
    if doctor == "":
        raise ToolFailure("Fail because the doctor name is empty.")
    day = None if new_appointment_date is None else normal_date(new_appointment_date)
    same_day, same_doctor = day == row["date"], doctor == row["doctor_name"]
    if (day is None or same_day) and (doctor is None or same_doctor):
        raise ToolFailure(_not_modified(same_day, same_doctor))
    if same_day and world.official:
        raise ToolFailure("Fail because date is not changed.")
    if same_doctor and world.official:
        raise ToolFailure("Fail because doctor is not changed.")
    changed = world.write("Appointments")[key]
    changed.update({k: v for k, v in (("date", day), ("doctor_name", doctor)) if v is not None})
    return "success"


def _not_modified(same_day: bool, same_doctor: bool) -> str:
    if same_day and not same_doctor:
        return "Fail because date is not changed."
    if same_doctor and not same_day:
        return "Fail because doctor is not changed."
    return "Fail because no modification is made."


def record_health_data(world: World, user_id: str, time: str, health_data: Any = None) -> Any:
    user = user_id.upper().strip()
    if not user:
        raise ToolFailure("The user id cannot be empty.")
    when = normal_time(time)
    if not health_data:
        raise ToolFailure("The health data cannot be empty.")
    if not isinstance(health_data, list) or not all(isinstance(i, dict) and "name" in i for i in health_data):
        raise ToolFailure("The health data has invalid format.")
    names = [item["name"] if isinstance(item["name"], str) else repr(item["name"]) for item in health_data]
    if len(set(names)) != len(names):
        raise ToolFailure("The health data cannot contain duplicate items.")
    if not world.official and ("time" in names or not all("value" in item for item in health_data)):
        raise ToolFailure("The health data has invalid format.")  # each with a value, and none that is the time
    records = world.write("HealthData").setdefault(user, [])
    if not all("value" in item for item in health_data):
        raise ToolFailure("'value'")  # official: the user's row was made already
    measured = {name: item["value"] for name, item in zip(names, health_data, strict=True)}
    known = next((record for record in records if record["time"] == when), None)
    if known is None:
        records.append({"time": when, **measured})
    else:
        known.update(measured)
    return "success"


def query_health_data(world: World, user_id: str, start_time: str, end_time: str) -> Any:
    user = user_id.upper().strip()
    if not user:
        raise ToolFailure("The user id cannot be empty.")
    complaints, times = [], []
    for text in (start_time, end_time):
        try:
            times.append(moment(normal_time(text)))
        except ToolFailure as failure:
            complaints.append(str(failure))
    if complaints:
        raise ToolFailure("; ".join(complaints))
    start, end = times
    if start > end:
        raise ToolFailure("The start time cannot be later than the end time.")
    if user not in world.read("HealthData"):
        raise ToolFailure("The user id does not exist.")
    found = [record for record in world.read("HealthData")[user] if start <= moment(record["time"]) <= end]
    if not found:
        raise ToolFailure("There is no health data in the given time span.")
    return found


def symptom_search(world: World, symptom: str) -> Any:
    return _of_symptom(world, symptom, "description", "The symptom cannot be empty.")


def emergency_knowledge(world: World, symptom: str) -> Any:
    broken = "'Exception' object has no attribute 'lower'"
    return _of_symptom(world, symptom, "aid", broken if world.official else "The symptom cannot be empty.")


def _of_symptom(world: World, symptom: str, field: str, complaint: str) -> list[dict[str, Any]]:
    key = symptom.strip().lower()
    if not key:
        raise ToolFailure(complaint)
    known = world.read("Symptom").get(key)
    if known is None:
        raise ToolFailure("The symptom does not exist.")
    return [{"name": disease["name"], field: disease[field]} for disease in known]


TOOLS: dict[str, Callable[..., Any]] = {
    "AppointmentRegistration": appointment_registration,
    "QueryRegistration": query_registration,
    "CancelRegistration": cancel_registration,
    "ModifyRegistration": modify_registration,
    "RecordHealthData": record_health_data,
    "QueryHealthData": query_health_data,
    "SymptomSearch": symptom_search,
    "EmergencyKnowledge": emergency_knowledge,
}
