"""Starter worlds of VehicleControlAPI: a car, and what users ask to be locked, lit, filled and driven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.starter.padding import STATUS, STEPS
from callgym.envs.bfcl.starter.tables import CITIES, TANK, TIRE_SHOP, starter_tables
from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import GIVEN_NAMES, listed, note

__all__ = ["FOLLOW_UPS", "REQUESTS", "SEARCHES", "make_config", "trip"]

OWNER = "VehicleControlAPI"
_DOORS = {
    "driver": "the driver's door",
    "passenger": "the passenger's door",
    "rear_left": "the rear left door",
    "rear_right": "the rear right door",
}
_STREETS = ("Mill Row", "Copper Lane", "Station Walk", "Quay Street", "Linden Road", "Chapel Hill", "Weaver Close")
_PRESSURES = ("frontLeftTirePressure", "frontRightTirePressure", "rearLeftTirePressure", "rearRightTirePressure")
_MODES = {"cool": "cooling", "heat": "heating", "defrost": "defrosting"}
_FULL_BRAKE = 1000.0
_LASTS = "whether the fuel lasts, and how much there was"


def make_config(script: Script) -> Mapping[str, Any]:
    """A car that stands, with its doors as they happen to be."""
    unlocked = script.some(list(_DOORS), script.pick((0, 1, 2, 3, 4, 4)))
    engaged = script.chance(0.5)
    pressures = [float(script.whole(26, 36)) for _ in _PRESSURES]
    script.facts["driver"] = script.own(GIVEN_NAMES)
    return {
        "random_seed": script.whole(1, 999_999),
        "fuelLevel": script.amount(3, 44),
        "batteryVoltage": script.amount(11, 13, 0.1),
        "engineState": "stopped",
        "doorStatus": {door: "unlocked" if door in unlocked else "locked" for door in _DOORS},
        "acTemperature": float(script.whole(17, 27)),
        "fanSpeed": script.whole(2, 9) * 10,
        "acMode": "auto",
        "humidityLevel": float(script.whole(30, 70)),
        "headLightStatus": script.pick(("on", "off")),
        "parkingBrakeStatus": "engaged" if engaged else "released",
        "parkingBrakeForce": 500.0 if engaged else 0.0,
        "slopeAngle": float(script.whole(0, 8)),
        "brakePedalStatus": "released",
        "brakePedalForce": 0.0,
        "distanceToNextVehicle": 40.0,
        "cruiseStatus": "inactive",
        "destination": "None",
        **dict(zip(_PRESSURES, pressures, strict=True)),
    }


def _is_stopped(script: Script) -> bool:
    return bool(script.state(OWNER).engine_state == "stopped")


def _doors(script: Script, status: str) -> list[str]:
    return [door for door, found in script.state(OWNER).doorStatus.items() if found == status]


# --- doors, brakes and engine -----------------------------------------------------------------------------------


def _lock(script: Script) -> Request | None:
    """Doors that are as they should not be."""
    unlock = script.chance(0.35)
    doors = _doors(script, "locked" if unlock else "unlocked")
    if not doors:
        return None
    chosen = [door for door in doors if script.chance(0.6)] or doors[:1]
    said = listed([_DOORS[door] for door in chosen])
    act = "unlock" if unlock else "lock"
    words = script.say(
        "{act} {doors}", "{act} {doors} for me", "see to it that {doors} get {act}ed", act=act, doors=said
    )
    lacking = script.say("{act} one side of the car", "{act} some of the doors", act=act)
    supplied = script.tell("I mean {doors}.", "Just {doors}.", doors=said)
    script.do("lockDoors", unlock=unlock, door=chosen)
    return Request(words, (lacking, supplied), ("lockDoors",))


def _lock_the_rest(script: Script) -> Request | None:
    doors = _doors(script, "unlocked")
    if not 0 < len(doors) < 4:
        return None
    words = script.say(
        "see how the doors are, and lock those that are still open",
        "show me the status of the doors and lock whichever is unlocked",
        "check the doors first, then lock the ones that are not locked yet",
    )
    script.do("displayCarStatus", option="doors")
    script.do("lockDoors", unlock=False, door=doors)
    return Request(words)


def _start(script: Script) -> Request | None:
    """All that it takes: doors, brake, ignition."""
    car = script.state(OWNER)
    doors = _doors(script, "unlocked")
    pressed = car.brakePedalStatus == "pressed"
    if not _is_stopped(script) or len(doors) not in (0, 4) or (pressed and car._brakePedalForce != _FULL_BRAKE):
        return None
    reminder = "all four doors are unlocked" if doors else "the doors are all locked"
    words = script.say(
        "start the engine; {reminder}, and the brake pedal is to be pressed all the way down",
        "get the engine running: {reminder} at the moment, so first do what the car asks for, with the brake fully "
        "down",
        "I would like the engine to run. Note that {reminder}, and press the brake to the floor before you start it.",
        reminder=reminder,
    )
    if doors:
        script.do("lockDoors", unlock=False, door=doors)
    if not pressed:
        script.do("pressBrakePedal", pedalPosition=1.0)
    script.do("startEngine", ignitionMode="START")
    return Request(words)


def _press(script: Script) -> Request | None:
    if script.state(OWNER).brakePedalStatus == "pressed" or not _is_stopped(script):
        return None
    words = script.say(
        "press the brake pedal all the way down",
        "step on the brake, as far as it goes",
        "push the brake pedal down to the floor",
    )
    script.do("pressBrakePedal", pedalPosition=1.0)
    return Request(words, None, ("pressBrakePedal",))


def _ignite(script: Script) -> Request | None:
    """The last step, where all others are done."""
    car = script.state(OWNER)
    if not _is_stopped(script) or car.brakePedalStatus != "pressed" or _doors(script, "unlocked"):
        return None
    words = script.say("start the engine now", "turn the ignition on", "let the engine start")
    script.do("startEngine", ignitionMode="START")
    return Request(words, None, ("startEngine",))


def _release(script: Script) -> Request | None:
    if script.state(OWNER).brakePedalStatus != "pressed" or _is_stopped(script):
        return None
    words = script.say("take the foot off the brake pedal", "release the brake pedal", "let go of the brake pedal")
    script.do("releaseBrakePedal")
    return Request(words)


def _parking_brake(script: Script) -> Request | None:
    engaged = script.state(OWNER).parkingBrakeStatus == "engaged"
    mode = "release" if engaged else "engage"
    words = script.say(
        "{mode} the parking brake",
        "{mode} the parking brake before we do anything else",
        "First of all, {mode} the parking brake.",
        mode=mode,
    )
    script.do("activateParkingBrake", mode=mode)
    return Request(words, None, ("activateParkingBrake",))


def _cruise(script: Script) -> Request | None:
    if _is_stopped(script) or script.state(OWNER).cruiseStatus == "active":
        return None
    speed, distance = float(script.whole(6, 16) * 5), float(script.whole(4, 20) * 5)
    words = script.say(
        "turn the cruise control on at {speed} miles an hour, {distance} metres behind the next vehicle",
        "set the cruise control to {speed} mph and keep {distance} metres to the vehicle in front",
        "let the cruise control hold {speed} miles an hour with a distance of {distance} metres",
        speed=speed,
        distance=distance,
    )
    lacking = script.say(
        "turn the cruise control on and keep {distance} metres to the vehicle in front", distance=distance
    )
    supplied = script.tell("At {speed} miles an hour.", "I want to go {speed} miles an hour.", speed=speed)
    script.do("setCruiseControl", speed=speed, activate=True, distanceToNextVehicle=distance)
    return Request(words, (lacking, supplied), ("setCruiseControl",))


# --- fuel -------------------------------------------------------------------------------------------------------


def _fill(script: Script) -> Request | None:
    amount = script.amount(3, 12)
    if script.state(OWNER).fuelLevel + amount > TANK:
        return None
    words = script.say(
        "put {amount} gallons into the tank", "add {amount} gallons of fuel", "fuel up {amount} gallons", amount=amount
    )
    lacking = script.say("put some fuel into the tank", "add fuel")
    supplied = script.tell("{amount} gallons.", "{amount} gallons will do.", amount=amount)
    script.do("fillFuelTank", fuelAmount=amount)
    return Request(words, (lacking, supplied), ("fillFuelTank",))


def _fill_up(script: Script) -> Request | None:
    missing = TANK - script.state(OWNER).fuelLevel
    if missing < 1 or missing % 0.5:
        return None
    words = script.say(
        "see how much fuel there is and fill the tank to the brim",
        "check the fuel, then add what is missing to a full tank",
        "look at the fuel gauge and make the tank completely full",
    )
    script.do("displayCarStatus", option="fuel")
    script.do("fillFuelTank", fuelAmount=missing)
    return Request(words)


def _fill_litres(script: Script) -> Request | None:
    litres = float(script.whole(2, 8) * 5)
    gallons = litres * 0.264172
    if script.state(OWNER).fuelLevel + gallons > TANK or len(repr(gallons)) > 9:
        return None
    words = script.say(
        "convert {litres} litres to gallons and put that much fuel into the tank",
        "I bought {litres} litres of fuel: work out how many gallons that is and add them.",
        "find out how many gallons {litres} litres are, then fill in exactly that",
        litres=litres,
    )
    lacking = script.say("convert my litres of fuel to gallons and put that much into the tank")
    supplied = script.tell("It is {litres} litres.", "{litres} litres.", litres=litres)
    answer = script.do("liter_to_gallon", liter=litres)
    script.do("fillFuelTank", fuelAmount=answer["gallon"])
    return Request(words, (lacking, supplied))


def _fuel_in_litres(script: Script) -> Request | None:
    words = script.say(
        "look at the fuel gauge and convert what it shows to litres",
        "see how many gallons are in the tank and tell me the same in litres",
        "check the fuel, then work out how many litres that is",
    )
    level = script.do("displayCarStatus", option="fuel")["fuelLevel"]
    script.do("gallon_to_liter", gallon=level)
    return Request(words)


# --- climate, lights and display --------------------------------------------------------------------------------


def _climate(script: Script) -> Request | None:
    car = script.state(OWNER)
    fahrenheit = script.chance(0.4)
    temperature = script.whole(61, 82) if fahrenheit else script.pick((script.whole(16, 28), 18.5, 20.5, 21.5))
    fan = script.whole(1, 9) * 10
    mode = script.pick(tuple(_MODES))
    if (car.acTemperature, car.fanSpeed, car.acMode) == (temperature, fan, mode):
        return None
    unit = "degrees Fahrenheit" if fahrenheit else "degrees Celsius"
    words = script.say(
        "set the climate control to {temperature} {unit}, {mode}, with the fan at {fan}",
        "make it {temperature} {unit} in the car: mode {key}, fan speed {fan}",
        "change the climate to {mode} at {temperature} {unit} and fan speed {fan}",
        temperature=temperature,
        unit=unit,
        mode=_MODES[mode],
        key=mode,
        fan=fan,
    )
    lacking = script.say("set the climate control to {mode} with the fan at {fan}", mode=_MODES[mode], fan=fan)
    supplied = script.tell("{temperature} {unit}.", "Make it {temperature} {unit}.", temperature=temperature, unit=unit)
    given = {"unit": "fahrenheit"} if fahrenheit else {}
    script.do("adjustClimateControl", temperature=temperature, **given, fanSpeed=fan, mode=mode)
    return Request(words, (lacking, supplied), ("adjustClimateControl",))


def _climate_by_weather(script: Script) -> Request | None:
    """Warmer or cooler, by the temperature outside."""
    limit, warm, cool = script.whole(8, 22), script.whole(22, 26), script.whole(16, 20)
    if script.state(OWNER).acTemperature in (warm, cool):
        return None
    words = script.say(
        "ask Google for the temperature outside; if it is below {limit} degrees, set the climate control to {warm}, "
        "otherwise to {cool}",
        "look the outside temperature up with Google and set the climate control to {warm} degrees if it is colder "
        "than {limit} out there, and to {cool} if not",
        "let Google tell you how warm it is outside: under {limit} degrees the climate control goes to {warm}, else to "
        "{cool}",
        limit=limit,
        warm=warm,
        cool=cool,
    )
    found = script.do("get_outside_temperature_from_google")["outsideTemperature"]
    script.do("adjustClimateControl", temperature=warm if found < limit else cool)
    return Request(words)


def _lights(script: Script) -> Request | None:
    mode = "off" if script.state(OWNER).headLightStatus == "on" else "on"
    words = script.say(
        "turn the headlights {mode}", "switch the headlights {mode}", "put the lights in front {mode}", mode=mode
    )
    script.do("setHeadlights", mode=mode)
    return Request(words, None, ("setHeadlights",))


def _show(script: Script) -> Request | None:
    option, said = script.pick(
        (
            ("fuel", "how much fuel there is"),
            ("battery", "how the battery is doing"),
            ("climate", "how the climate control is set"),
            ("engine", "whether the engine runs"),
            ("parkingBrake", "the state of the parking brake"),
        )
    )
    words = script.say("show me {said}", "display {said}", "let the car tell {said}", said=said)
    script.do("displayCarStatus", option=option)
    return Request(words, None, ("displayCarStatus",))


def _note_on_display(script: Script) -> Request | None:
    text = note(script)
    words = script.say(
        'show "{text}" on the car\'s display',
        'put the words "{text}" on the display',
        'let the display read "{text}"',
        text=text,
    )
    lacking = script.say("show a note on the car's display", "put a message on the display")
    supplied = script.tell('It should say "{text}".', 'The words are "{text}".', text=text)
    script.do("display_log", messages=[text])
    return Request(words, (lacking, supplied), ("display_log",))


# --- ways and tyres ---------------------------------------------------------------------------------------------


def _navigate(script: Script) -> Request | None:
    place = f"{script.whole(1, 180)} {script.pick(_STREETS)}, {script.pick(list(CITIES))}"
    words = script.say(
        'set the navigation to "{place}"',
        'guide me to "{place}"',
        'enter "{place}" as the destination of the navigation',
        place=place,
    )
    lacking = script.say("set the navigation to my next customer's address", "enter a destination into the navigation")
    supplied = script.tell('That is "{place}".', 'To "{place}".', place=place)
    script.do("set_navigation", destination=place)
    return Request(words, (lacking, supplied), ("set_navigation",))


def _tires(script: Script) -> Request | None:
    """The way to the shop where a tyre is low."""
    limit = script.whole(27, 33)
    words = script.say(
        "check the tyres; if any of them is below {limit} psi, find the nearest tyre shop and set the navigation to it",
        "measure the pressure of the tyres, and should one have less than {limit} psi, look up the closest tyre shop "
        "and navigate there",
        "How are the tyres? With less than {limit} psi in any of them I want the nearest tyre shop looked up and set "
        "as the destination.",
        limit=limit,
    )
    answer = script.do("check_tire_pressure")
    if min(answer[name] for name in _PRESSURES) < limit:
        script.do("find_nearest_tire_shop")
        script.do("set_navigation", destination=TIRE_SHOP)
    return Request(words, None, ("check_tire_pressure",))


def trip(script: Script, one: str, other: str) -> float:
    """Look two zip codes and the distance between them up; zip codes that were told are not asked for again."""
    script.told.pop(_LASTS, None)
    known: dict[str, str] = script.told.setdefault("zip codes", {})
    for city in (one, other):
        if city not in known:
            known[city] = script.do("get_zipcode_based_on_city", city=city)["zipcode"]
    return float(script.do("estimate_distance", cityA=known[one], cityB=known[other])["distance"])


def _reach(script: Script) -> Request | None:
    """Whether the fuel lasts, and more of it where it does not."""
    one, other = script.some(list(CITIES), 2)
    amount = float(script.whole(6, 12))
    car = script.state(OWNER)
    if car.fuelLevel + amount > TANK:
        return None
    words = script.say(
        "find the zip codes of {one} and {other}, estimate the distance and tell me whether the fuel lasts for it",
        "work out how far {one} is from {other}, by their zip codes, and see if there is enough fuel for that way",
        "Can we get from {one} to {other}? Look up both zip codes, the distance, and whether the fuel will do.",
        one=one,
        other=other,
    )
    lacking = script.say("find two cities' zip codes, the distance between them, and whether the fuel lasts for it")
    supplied = script.tell("{one} and {other}.", "From {one} to {other}.", one=one, other=other)
    known = script.told.get("zip codes", {})
    is_new = one not in known and other not in known
    distance = trip(script, one, other)
    answer = script.do("estimate_drive_feasibility_by_mileage", distance=distance)
    script.told[_LASTS] = answer["canDrive"], car.fuelLevel
    return Request(words, (lacking, supplied) if is_new else None, ("get_zipcode_based_on_city",) if is_new else ())


def _refuel_for_trip(script: Script) -> Request | None:
    lasts, level = script.told.get(_LASTS, (False, None))
    if level != script.state(OWNER).fuelLevel:
        return None
    enough, more = float(script.whole(2, 4)), float(script.whole(8, 11))
    if script.state(OWNER).fuelLevel + more > TANK:
        return None
    words = script.say(
        "add {enough} gallons if the fuel lasts for that way, and {more} gallons if it does not",
        "fill in {more} gallons if the fuel would not do for the way, otherwise only {enough}",
        "put {more} gallons into the tank in case the fuel does not last that far, else just {enough}",
        enough=enough,
        more=more,
    )
    script.do("fillFuelTank", fuelAmount=enough if lasts else more)
    return Request(words, None, ("fillFuelTank",))


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (3, _lock),
    (4, _lock_the_rest),
    (5, _start),
    (2, _press),
    (3, _parking_brake),
    (3, _fill),
    (2, _fill_up),
    (3, _fill_litres),
    (1, _fuel_in_litres),
    (3, _climate),
    (3, _climate_by_weather),
    (2, _lights),
    (1, _show),
    (1, _note_on_display),
    (2, _navigate),
    (3, _tires),
    (4, _reach),
)
"""What users ask for, and how often."""
FOLLOW_UPS: tuple[tuple[int, Writer], ...] = (
    (3, _ignite),
    (3, _release),
    (3, _cruise),
    (3, _refuel_for_trip),
)
"""The same of what goes on from an earlier turn."""


# --- in the padding ---------------------------------------------------------------------------------------------


def _part_on_display(script: Script) -> Request | None:
    """An entry of the status sheet is shown on the display."""
    entry = script.pick(list(STATUS))
    option = script.pick(("fuel", "battery", "headlights", "engine"))
    words = script.say(
        'show the status of the {what}; its metadata has an entry "{entry}", whose value I want on the display, just '
        "the value",
        'look at the {what} status, take the value of "{entry}" from the metadata there and show only that value on '
        "the display",
        'get the {what} status, find "{entry}" in its metadata, and put nothing but its value on the display',
        what=option,
        entry=entry,
    )
    script.do("displayCarStatus", option=option)
    script.do("display_log", messages=[STATUS[entry]])
    script.searched = True
    return Request(words)


def _step_on_display(script: Script) -> Request | None:
    """A step of the parking brake's long instructions."""
    number = script.pick(list(STEPS))
    mode = "release" if script.state(OWNER).parkingBrakeStatus == "engaged" else "engage"
    words = script.say(
        "{mode} the parking brake and show step {number} of its instructions on the display, in full and as it is "
        "written there",
        "{mode} the parking brake; of the instructions that come with it I want step {number} on the display, word for "
        'word from "Step {number}" to the full stop',
        '{mode} the parking brake, then put the whole sentence that begins with "Step {number}" in its instructions on '
        "the display",
        mode=mode,
        number=number,
    )
    script.do("activateParkingBrake", mode=mode)
    script.do("display_log", messages=[STEPS[number]])
    script.searched = True
    return Request(words)


def _town_on_the_way(script: Script) -> Request | None:
    """The navigation leads to one of very many towns on the way."""
    one, other = script.some(list(CITIES), 2)
    towns = starter_tables().long_context["INTERMEDIARY_CITIES"]
    place, which = script.pick(((0, "first"), (1, "second"), (3, "fourth"), (-1, "last"), (-2, "last but one")))
    words = script.say(
        "look up the zip codes of {one} and {other} and the distance between them, and navigate to the {which} of the "
        "towns on the way",
        "get the way from {one} to {other} by their zip codes; the {which} town in between is our destination for the "
        "navigation",
        "estimate how far it is from {one} to {other}, zip codes first, then set the navigation to the {which} of the "
        "towns that are listed in between",
        one=one,
        other=other,
        which=which,
    )
    trip(script, one, other)
    script.do("set_navigation", destination=towns[place])
    script.searched = True
    return Request(words)


def _fan_by_weather(script: Script) -> Request | None:
    """The fan, by the humidity of a day among many."""
    day, limit = script.whole(2, 12), script.whole(45, 80)
    humidity = starter_tables().long_context["LONG_WEATHER_EXTENSION"][f"-{day}_day"]["humidity"]
    temperature = script.whole(18, 25)
    high, low = script.whole(7, 9) * 10, script.whole(1, 3) * 10
    if script.state(OWNER).fanSpeed in (high, low):
        return None
    words = script.say(
        "ask Google for the weather; if the humidity {day} days ago was above {limit}, set the climate control to "
        "{temperature} degrees with the fan at {high}, otherwise with the fan at {low}",
        "Get the outside temperature from Google with the days before. The climate control should be at {temperature} "
        "degrees, the fan at {high} if the humidity {day} days ago was over {limit}, else at {low}.",
        "Look at Google's weather: was the humidity {day} days ago more than {limit}? Then {temperature} degrees and "
        "fan speed {high}, if not {temperature} degrees and fan speed {low}.",
        day=day,
        limit=limit,
        temperature=temperature,
        high=high,
        low=low,
    )
    script.do("get_outside_temperature_from_google")
    script.do("adjustClimateControl", temperature=temperature, fanSpeed=high if humidity > limit else low)
    script.searched = True
    return Request(words)


SEARCHES: tuple[tuple[int, Writer], ...] = (
    (4, _part_on_display),
    (3, _step_on_display),
    (3, _town_on_the_way),
    (2, _fan_by_weather),
)
"""What users ask for where the answer stands in the padding."""
