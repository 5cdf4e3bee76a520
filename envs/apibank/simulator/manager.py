"""Calling a tool as the official ToolManager does: arguments arrive as text and are read by declared type.

Source: AlibabaResearch/DAMO-ConvAI, api-bank/tool_manager.py. The answer has the official shape
``{"api_name", "input", "output", "exception"}``; what the manager itself refuses is a CallFault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from callgym.envs.apibank.simulator import accounts, clinic, diaries, home, planning, services
from callgym.envs.apibank.simulator.world import ToolCrash, World
from callgym.tool_backends.python import ToolFailure

__all__ = ["TOOL_SETS", "CallFault", "SimulatedTool", "call_tool"]

Result = dict[str, Any]


class CallFault(Exception):
    """The manager refuses a call; the text is the official one, ``Type: message``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


@dataclass(frozen=True, slots=True)
class SimulatedTool:
    """One tool: what it takes and what it does."""

    name: str
    parameters: Mapping[str, str]
    """Parameter to the official name of its type."""
    required: tuple[str, ...]
    """Parameters without which it is no call."""
    run: Callable[..., Any]
    """Takes the World and the arguments by name; returns a JSON value or raises ToolFailure."""
    shown: tuple[str, ...] = ()
    """Parameters that the result's input shows as null where they were not given."""
    integers: tuple[str, ...] = ()
    """Parameters that are whole numbers."""

    def takes(self, arguments: Mapping[str, Any]) -> bool:
        """Whether all parameters that are needed are given, and no others."""
        return arguments.keys() <= self.parameters.keys() and all(key in arguments for key in self.required)

    def whole_numbers(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with 1.0, which JSON Schema takes for an integer, as 1."""
        for key in self.integers:
            value = arguments.get(key)
            if isinstance(value, float) and value.is_integer():
                arguments[key] = int(value)
        return arguments


def _tools(functions: Mapping[str, Callable[..., Any]], table: str) -> dict[str, SimulatedTool]:
    """Read a table of ``Name parameter:type parameter? ...``; a type left out is str, ``?`` is optional."""
    tools = {}
    for line in table.strip().splitlines():
        name, *declared = line.split()
        parameters, required, shown = {}, [], []
        for word in declared:
            parameter, _, kind = word.partition(":")
            bare = parameter.rstrip("?!")
            parameters[bare] = kind or "str"
            if parameter == bare:
                required.append(bare)
            elif parameter.endswith("!"):
                shown.append(bare)
        integers = tuple(key for key, kind in parameters.items() if kind == "int")
        tools[name] = SimulatedTool(name, parameters, tuple(required), functions[name], tuple(shown), integers)
    return tools


# `?`: may be left out. `!`: may be left out, and the result shows null for it.
_LEVELS_1_AND_2 = """
GetUserToken username password
CheckToken token
RegisterUser username password email
DeleteAccount token
ModifyPassword token old_password new_password
ForgotPassword status username? email? verification_code?:int new_password?
AddAgenda token content time location
QueryAgenda token content time location
ModifyAgenda token content time location
DeleteAgenda token content time location
AddAlarm token time
QueryAlarm token time
ModifyAlarm token from_time to_time
DeleteAlarm token time
AddMeeting token meeting_topic start_time end_time location attendees:list(str)
QueryMeeting token meeting_topic start_time end_time location attendees:list(str)
ModifyMeeting token meeting_topic start_time end_time location attendees:list(str)
DeleteMeeting token meeting_topic start_time end_time location attendees:list(str)
AddReminder token content time
QueryReminder token content time
ModifyReminder token content time
DeleteReminder token content time
AppointmentRegistration patient_name date doctor_name
QueryRegistration patient_name date
CancelRegistration appointment_id
ModifyRegistration appointment_id new_appointment_date! new_appointment_doctor!
BookHotel hotel_name check_in_time check_out_time room_count:int adult_count:int child_count:int
RecordHealthData user_id time health_data!:list
QueryHealthData user_id start_time end_time
SymptomSearch symptom
EmergencyKnowledge symptom
OpenBankAccount account password name
QueryBalance token
QueryStock stock_code date
QueryHistoryToday date
Calculator formula
TimedSwitch name time on:bool
CancelTimedSwitch name time
AddScene name devices:list
ModifyScene name devices:list
QueryScene name
DeleteScene name
SendEmail receiver subject content
PlayMusic music_name
SpeechRecognition url
ImageCaption url
DocumentQA url question
Wiki keyword
Dictionary keyword
SearchEngine keyword
Translate src src_lang? tgt_lang?
GetToday
ToolSearcher keywords
"""

_LEVEL_3 = """
AccountInfo username password
PersonalInfoUpdate username password address
AddMeeting meeting_topic start_time end_time location attendees:list(str)
QueryMeeting user_name
EmailReminder content time location recipient
Calculator formula
ClothingRecommendation temperature:float humidity:float weather_conditions
FlightSearch source destination travel_dates
HotelAvailability destination check_in_date check_out_date
Geocoding address
GetWeatherForCoordinates latitude:float longitude:float
NearbyRestaurants latitude:float longitude:float distance:int
GetOccupationSalary occupation
TaxCalculator salary:float
LikeCount post_id:int
UserPosts user_id:int
UserMoviePreferences user_name
UserWatchedMovies user_name
MovieRecommendations preferences:list
OrganizationMembers organization
TravelStatus member_name
ToolSearcher keywords
"""

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **accounts.TOOLS,
    **diaries.TOOLS,
    **clinic.TOOLS,
    **home.TOOLS,
    **services.TOOLS,
}

TOOL_SETS: dict[str, dict[str, SimulatedTool]] = {
    "apis": _tools(_FUNCTIONS, _LEVELS_1_AND_2),
    "lv3_apis": _tools(planning.TOOLS, _LEVEL_3),
}
"""The tools by set, named as the official folders: ``apis`` for levels 1 and 2, ``lv3_apis`` for level 3."""

_WITHOUT_INPUT = ("GetToday",)
_WITHOUT_NAME = ("RegisterUser", "ForgotPassword", "DeleteAccount", "CheckToken")


def call_tool(world: World, tool_set: str, name: str, arguments: Mapping[str, Any]) -> Result:
    """Run a call as the official manager does.

    Args:
        world: The tables of the session.
        tool_set: ``"apis"`` or ``"lv3_apis"``.
        name: The tool.
        arguments: As parsed from text, or typed.

    Raises:
        CallFault: There is no such tool or parameter, a value is of the wrong type, a parameter is
            missing, or the tool lets an error out.
    """
    tool = TOOL_SETS[tool_set].get(name)
    if tool is None:
        raise CallFault("Exception", "invalid tool name.")
    typed: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in tool.parameters:
            raise CallFault("AssertionError", f"invalid parameter name. parameter: {key}")
        typed[key] = _typed(value, tool.parameters[key])
    missing = [key for key in tool.required if key not in typed]
    if missing:
        raise CallFault("TypeError", _missing(name, missing))
    result: Result = {"api_name": name, "input": {**dict.fromkeys(tool.shown), **typed}}
    if name in _WITHOUT_NAME and tool_set == "apis":
        del result["api_name"]
    if name in _WITHOUT_INPUT:
        result["input"] = None
    result.update(output=None, exception=None)
    try:
        result["output"] = tool.run(world, **typed)
    except ToolFailure as failure:
        result["exception"] = str(failure)
    except ToolCrash as crash:
        raise CallFault(*str(crash).split(": ", 1)) from None
    return result


def _typed(value: Any, kind: str) -> Any:
    try:
        if kind == "int":
            if isinstance(value, str) and not value.isdigit():
                raise CallFault("AssertionError", f"invalid parameter type. parameter: {value}")
            return int(value)
        if kind == "float":
            if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
                raise CallFault("AssertionError", "invalid parameter type.")
            return float(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise CallFault(type(error).__name__, str(error)) from None
    return value == "True" if kind == "bool" else value


def _missing(name: str, missing: list[str]) -> str:
    """Python's complaint about missing arguments (3.10 and newer)."""
    quoted = [f"'{key}'" for key in missing]
    listed = ", ".join(quoted[:-1]) + f", and {quoted[-1]}" if len(quoted) > 2 else " and ".join(quoted)
    plural = "s" if len(quoted) > 1 else ""
    return f"{name}.call() missing {len(quoted)} required positional argument{plural}: {listed}"
