"""Whether a call's result is the recorded one: the official comparison, tool by tool.

Source: the ``check_api_call_correctness`` methods of AlibabaResearch/DAMO-ConvAI, api-bank. Most tools
want the whole input, the output and the exception equal; free text is compared by its words, dates and
names in their normal form. A rule may need a field that is not there: KeyError, which counts as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from callgym.envs.apibank.simulator.home import normal_devices
from callgym.envs.apibank.simulator.services import history_date
from callgym.envs.apibank.simulator.world import normal_date, normal_time
from callgym.tool_backends.python import ToolFailure

__all__ = ["CheckFault", "same_result"]

Result = Mapping[str, Any]
Rule = Callable[[Result, Result], bool]
_Normal = Callable[[Any], Any]

_SAME_WORDS = 0.5


class CheckFault(Exception):
    """The official check stops with an error of its own; ``Type: message``."""


# Parts of rules. Each takes the result of the call and the recorded one.


def _output(made: Result, recorded: Result) -> bool:
    return bool(made["output"] == recorded["output"])


def _exception(made: Result, recorded: Result) -> bool:
    return bool(made["exception"] == recorded["exception"])


def _input(made: Result, recorded: Result) -> bool:
    return bool(made["input"] == recorded["input"])


def _name(made: Result, recorded: Result) -> bool:
    return bool(made["api_name"] == recorded["api_name"])


def _given(field: str, normal: _Normal = lambda value: value) -> Rule:
    """An argument is equal in its normal form."""

    def rule(made: Result, recorded: Result) -> bool:
        return bool(normal(made["input"][field]) == normal(recorded["input"][field]))

    return rule


def _input_but(field: str) -> Rule:
    """All arguments but one are equal."""

    def rule(made: Result, recorded: Result) -> bool:
        mine, theirs = dict(made["input"]), dict(recorded["input"])
        del mine[field], theirs[field]
        return mine == theirs

    return rule


def _alike(field: str, normal: Callable[[str], str] = lambda text: text) -> Rule:
    """More than half of the words of both are in both."""

    def rule(made: Result, recorded: Result) -> bool:
        mine = set(normal(made["input"][field]).split(" "))
        theirs = set(normal(recorded["input"][field]).split(" "))
        return len(mine & theirs) / len(mine | theirs) > _SAME_WORDS

    return rule


def _output_of(field: str) -> Rule:
    def rule(made: Result, recorded: Result) -> bool:
        return bool(made["output"][field] == recorded["output"][field])

    return rule


def _no_output_lost(made: Result, recorded: Result) -> bool:
    """The output is random: it only has to be missing where the recorded one is."""
    return recorded["output"] is not None or made["output"] is None


def _all(*rules: Rule) -> Rule:
    return lambda made, recorded: all(rule(made, recorded) for rule in rules)


_ANSWER = _all(_output, _exception)
_WHOLE = _all(_input, _output, _exception)


def _deletion(made: Result, recorded: Result) -> bool:
    """After two successes only the time counts. A meeting has no field of that name, so that there the
    rule always ends in a KeyError."""
    if made["output"] == "success" and recorded["output"] == "success":
        return bool(made["input"]["time"] == recorded["input"]["time"])
    return _ANSWER(made, recorded)


# Normal forms.


def _or_nothing(normal: Callable[[str], Any]) -> _Normal:
    """What cannot be read equals nothing: the official normal form is then an error object."""

    def attempt(text: Any) -> Any:
        try:
            return normal(text)
        except ToolFailure:
            return object()

    return attempt


_DAY, _TIME = _or_nothing(normal_date), _or_nothing(normal_time)
_HISTORY = _or_nothing(history_date)


def _day_if_given(value: Any) -> Any:
    return None if value is None else _DAY(value)


def _stripped(text: Any) -> Any:
    return None if text is None else text.strip()


def _symptom(complaint: str) -> _Normal:
    def normal(text: str) -> str:
        if not text.strip():
            raise CheckFault(complaint)
        return text.strip().lower()

    return normal


def _devices(devices: Any) -> Any:
    normal = normal_devices(devices)
    if normal is None:
        return object()
    return sorted(({"name": d["name"], "description": d["description"]} for d in normal), key=lambda d: d["name"])


def _titles(made: Result, recorded: Result) -> bool:
    """The same documents in any order."""

    def documents(result: Result) -> Any:
        output = result["output"]
        return sorted(f"{d['title']}{d['abstract']}" for d in output) if isinstance(output, list) else output

    return bool(documents(made) == documents(recorded))


def _today(made: Result, recorded: Result) -> bool:
    return made["output"] is not None and made["exception"] is None and made["input"] is None


def _lower(text: str) -> str:
    return text.lower()


def _key(text: str) -> str:
    return text.strip().lower()


def _code(text: str) -> str:
    return text.upper().strip()


_AGENDA = _all(_alike("content"), _given("time"), _given("location"), _ANSWER)
_MEETING = _all(_alike("meeting_topic"), _input_but("meeting_topic"), _ANSWER)
_REMINDER = _all(_alike("content", _lower), _given("time"), _ANSWER)
_REGISTRATION = _all(_given("patient_name", _stripped), _given("date", _DAY))
_SCENE = _all(_given("name", _key), _given("devices", _devices))
_NAMED_SCENE = _all(_given("name", _key), _ANSWER)
_CALCULATOR = _all(_given("formula", lambda text: text.replace(" ", "")), _ANSWER)

_RULES: dict[str, Rule] = {
    "RegisterUser": _all(_input, _exception, _no_output_lost),
    "AddAgenda": _AGENDA,
    "QueryAgenda": _AGENDA,
    "ModifyAgenda": _AGENDA,
    "DeleteAgenda": _deletion,
    "AddMeeting": _MEETING,
    "QueryMeeting": _MEETING,
    "ModifyMeeting": _MEETING,
    "DeleteMeeting": _deletion,
    "AddReminder": _REMINDER,
    "QueryReminder": _REMINDER,
    "ModifyReminder": _REMINDER,
    "DeleteReminder": _deletion,
    "AppointmentRegistration": _all(_REGISTRATION, _given("doctor_name", _stripped), _exception, _no_output_lost),
    "QueryRegistration": _all(_REGISTRATION, _ANSWER),
    "CancelRegistration": _all(_given("appointment_id", _stripped), _ANSWER),
    "ModifyRegistration": _all(
        _given("appointment_id", _stripped),
        _given("new_appointment_date", _day_if_given),
        _given("new_appointment_doctor", _stripped),
        _ANSWER,
    ),
    "RecordHealthData": _all(_given("user_id", _code), _given("time", _TIME), _ANSWER),
    "QueryHealthData": _all(_given("user_id", _code), _given("start_time", _TIME), _given("end_time", _TIME), _ANSWER),
    "SymptomSearch": _all(_given("symptom", _symptom("Exception: The symptom cannot be empty.")), _ANSWER),
    "EmergencyKnowledge": _all(
        _given("symptom", _symptom("AttributeError: 'Exception' object has no attribute 'lower'")), _ANSWER
    ),
    "QueryBalance": _all(_given("token", _stripped), _ANSWER),
    "QueryStock": _all(_given("stock_code", _code), _given("date", _DAY), _ANSWER),
    "QueryHistoryToday": _all(_given("date", _HISTORY), _ANSWER),
    "Calculator": _CALCULATOR,
    "TimedSwitch": _all(_given("name", _key), _given("time", _TIME), _given("on"), _ANSWER),
    "CancelTimedSwitch": _all(_given("name", _key), _given("time", _TIME), _ANSWER),
    "AddScene": _all(_SCENE, _exception, _no_output_lost),
    "ModifyScene": _all(_SCENE, _ANSWER),
    "QueryScene": _NAMED_SCENE,
    "DeleteScene": _NAMED_SCENE,
    "SendEmail": _all(_given("receiver", _key), _given("subject", _stripped), _given("content", _stripped), _ANSWER),
    "PlayMusic": _output,
    "DocumentQA": _all(_given("url", _stripped), _given("question", _stripped), _ANSWER),
    "Wiki": _ANSWER,
    "Dictionary": _ANSWER,
    "SearchEngine": _all(_exception, _titles),
    "Translate": _all(_given("src"), _ANSWER),
    "GetToday": _today,
    "ToolSearcher": _ANSWER,
}

_LEVEL_3_RULES: dict[str, Rule] = {
    "PersonalInfoUpdate": _all(_name, _input, _output),
    "AddMeeting": _MEETING,
    "EmailReminder": _all(_name, _input_but("content"), _ANSWER),
    "Calculator": _CALCULATOR,
    "HotelAvailability": _all(
        _name, _given("destination"), _given("check_in_date"), _given("check_out_date"), _output_of("hotels")
    ),
    "GetWeatherForCoordinates": _WHOLE,
    "NearbyRestaurants": _all(_name, _input),
    "TaxCalculator": _all(_given("salary"), _output_of("salary_after_tax"), _exception),
    "ToolSearcher": _ANSWER,
}


def same_result(tool_set: str, tool: str, made: Result, recorded: Result) -> bool:
    """Whether the official check of ``tool`` takes ``made`` for ``recorded``.

    Args:
        tool_set: ``"apis"`` or ``"lv3_apis"``.
        tool: The recorded tool, whose rule decides.
        made: The call's result, ``{"api_name", "input", "output", "exception"}``.
        recorded: The recorded result, of the same shape.

    Raises:
        KeyError: The rule needs a field that one of them lacks; officially the call is then wrong.
        CheckFault: The official script would stop here; the call counts as wrong.
    """
    rule = _RULES.get(tool, _WHOLE) if tool_set == "apis" else _LEVEL_3_RULES.get(tool, _all(_name, _WHOLE))
    try:
        return rule(made, recorded)
    except (AttributeError, TypeError) as error:
        raise CheckFault(f"{type(error).__name__}: {error}") from None
