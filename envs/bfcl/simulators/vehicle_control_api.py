"""VehicleControlAPI: one car, its doors, brakes, engine, climate and tyres.

Source: ``bfcl-eval`` 2026.3.23.
"""
# ruff: noqa: N802, N803, N815  (the official names of tools, parameters and attributes)

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from callgym.envs.bfcl.simulators.base import Simulator, Tables
from callgym.envs.bfcl.simulators.scenario import Scenario, entry

__all__ = ["VehicleControlAPI"]

_FULL_BRAKE = 1000.0
_SHOP = "456 Oakwood Avenue, Rivermist, 83214"


class VehicleControlAPI(Simulator):
    """One car."""

    _SCENARIO = (
        "fuelLevel",
        "batteryVoltage",
        "doorStatus",
        "acTemperature",
        "fanSpeed",
        "acMode",
        "humidityLevel",
        "headLightStatus",
        "parkingBrakeStatus",
        "brakePedalStatus",
        "distanceToNextVehicle",
        "cruiseStatus",
        "destination",
        "frontLeftTirePressure",
        "frontRightTirePressure",
        "rearLeftTirePressure",
        "rearRightTirePressure",
    )
    compared = (*_SCENARIO, "engine_state", "remainingUnlockedDoors", "long_context")

    fuelLevel: float
    batteryVoltage: float
    doorStatus: dict[str, str]
    acTemperature: float
    fanSpeed: int
    acMode: str
    humidityLevel: float
    headLightStatus: str
    parkingBrakeStatus: str
    brakePedalStatus: str
    distanceToNextVehicle: float
    cruiseStatus: str
    destination: str
    frontLeftTirePressure: float
    frontRightTirePressure: float
    rearLeftTirePressure: float
    rearRightTirePressure: float

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        scenario = Scenario("VehicleControlAPI", config, tables)
        self._tables = tables
        self._seed = scenario.seed
        values = scenario.values
        vars(self).update({name: values[name] for name in self._SCENARIO})
        self.doorStatus = scenario.take("doorStatus")
        self.engine_state: str = values.get("engineState", scenario.defaults["engine_state"])
        # What the scenario says of it is not read.
        self.remainingUnlockedDoors = 4 - sum(status == "locked" for status in self.doorStatus.values())
        self._parkingBrakeForce: float = values.get("parkingBrakeForce", scenario.defaults["_parkingBrakeForce"])
        self._slopeAngle: float = values.get("slopeAngle", scenario.defaults["_slopeAngle"])
        self._brakePedalForce: float = values["brakePedalForce"]
        self.long_context = long_context

    @cached_property
    def _random(self) -> random.Random:
        return random.Random(self._seed)

    def _limit(self, name: str) -> Any:
        return self._tables.constants["vehicle_limits"][name]

    def _padded(self, answer: dict[str, Any], key: str, padding: str) -> dict[str, Any]:
        if self.long_context:
            answer[key] = self._tables.long_context[padding]
        return answer

    # Engine and fuel.

    def startEngine(self, ignitionMode: str) -> dict[str, Any]:
        """Start the engine, doors locked and brake pressed to the floor. STOP stops it and answers an error."""
        if ignitionMode == "STOP":
            self.engine_state = "stopped"
        fault = self._start_fault()
        if fault is not None:
            return {"error": fault}
        if ignitionMode != "START":
            return {"error": "Invalid ignition mode."}
        self.engine_state = "running"
        return {
            "engineState": self.engine_state,
            "fuelLevel": self.fuelLevel,
            "batteryVoltage": self.batteryVoltage,
        }

    def _start_fault(self) -> str | None:
        if self.remainingUnlockedDoors > 0:
            unlocked = ", ".join(door for door, status in self.doorStatus.items() if status == "unlocked")
            return f"All doors must be locked before starting the engine. Here are the unlocked doors: {unlocked}"
        if self.brakePedalStatus != "pressed":
            return "Brake pedal needs to be pressed when starting the engine."
        if self._brakePedalForce != _FULL_BRAKE:
            return "Must press the brake fully before starting the engine."
        return "Fuel tank is empty." if self.fuelLevel < self._limit("min_fuel") else None

    def fillFuelTank(self, fuelAmount: float) -> dict[str, Any]:
        """Add fuel, in gallons."""
        if fuelAmount < 0:
            return {"error": "Fuel amount cannot be negative."}
        if self.fuelLevel + fuelAmount > self._limit("max_fuel"):
            return {"error": "Cannot fill gas above the tank capacity."}
        if self.fuelLevel + fuelAmount < self._limit("min_fuel"):
            return {"error": "Fuel tank is empty. Min fuel level is 0 gallons."}
        self.fuelLevel += fuelAmount
        return {"fuelLevel": self.fuelLevel}

    def estimate_drive_feasibility_by_mileage(self, distance: float) -> dict[str, bool]:
        """Whether the fuel lasts for a distance in miles."""
        return {"canDrive": not self.fuelLevel * self._limit("mile_per_gallon") < distance}

    def liter_to_gallon(self, liter: float) -> dict[str, float]:
        """Litres in gallons."""
        return {"gallon": liter * 0.264172}

    def gallon_to_liter(self, gallon: float) -> dict[str, float]:
        """Gallons in litres."""
        return {"liter": gallon * 3.78541}

    # Doors, climate, lights.

    def lockDoors(self, unlock: bool, door: list[str]) -> dict[str, Any]:
        """Lock or unlock doors, one after the other until one does not exist."""
        status, change = ("unlocked", 1) if unlock else ("locked", -1)
        for name in door:
            if entry(self.doorStatus, name) != status:
                self.doorStatus[name] = status
                self.remainingUnlockedDoors += change
        return {"lockStatus": status, "remainingUnlockedDoors": self.remainingUnlockedDoors}

    def adjustClimateControl(
        self, temperature: float, unit: str = "celsius", fanSpeed: int = 50, mode: str = "auto"
    ) -> dict[str, Any]:
        """Set temperature, fan and mode. Celsius is kept; the answer has the number that was given."""
        if not 0 <= fanSpeed <= 100:
            return {"error": "Fan speed must be between 0 and 100."}
        self.acTemperature = temperature
        if unit == "fahrenheit":
            self.acTemperature = (temperature - 32) * 5 / 9
        self.fanSpeed = fanSpeed
        self.acMode = mode
        return {"currentACTemperature": temperature, "climateMode": mode, "humidityLevel": self.humidityLevel}

    def get_outside_temperature_from_google(self) -> dict[str, Any]:
        """A temperature outside, another each time."""
        weather = dict(self._tables.long_context["LONG_WEATHER_EXTENSION"]) if self.long_context else {}
        return weather | {"outsideTemperature": self._random.uniform(-10.0, 40.0)}

    def get_outside_temperature_from_weather_com(self) -> dict[str, int]:
        """A service that is always down."""
        return {"error": 404}

    def setHeadlights(self, mode: str) -> dict[str, str]:
        """Turn the headlights on or off; ``auto`` is off."""
        if mode not in ["on", "off", "auto"]:
            return {"error": "Invalid headlight mode."}
        self.headLightStatus = "on" if mode == "on" else "off"
        return {"headlightStatus": self.headLightStatus}

    # Brakes and cruise control.

    def activateParkingBrake(self, mode: str) -> dict[str, Any]:
        """Engage or release the parking brake."""
        if mode not in ["engage", "release"]:
            return {"error": "Invalid mode"}
        engage = mode == "engage"
        self.parkingBrakeStatus = "engaged" if engage else "released"
        self._parkingBrakeForce = 500.0 if engage else 0.0
        self._slopeAngle = 10.0
        return self._padded({}, "parkingBrakeInstruction", "PARKING_BRAKE_INSTRUCTION") | {
            "parkingBrakeStatus": self.parkingBrakeStatus,
            "_parkingBrakeForce": self._parkingBrakeForce,
            "_slopeAngle": self._slopeAngle,
        }

    def pressBrakePedal(self, pedalPosition: float) -> dict[str, Any]:
        """Press the pedal by a share of its way; 0 releases it."""
        if not 0 <= pedalPosition <= 1:
            return {"error": "Pedal position must be between 0 and 1."}
        if pedalPosition == 0:
            return self.releaseBrakePedal()
        self.brakePedalStatus = "pressed"
        self._brakePedalForce = pedalPosition * 1000
        return {"brakePedalStatus": "pressed", "brakePedalForce": float(self._brakePedalForce)}

    def releaseBrakePedal(self) -> dict[str, Any]:
        """Release the pedal."""
        self.brakePedalStatus = "released"
        self._brakePedalForce = 0.0
        return {"brakePedalStatus": "released", "brakePedalForce": 0.0}

    def setCruiseControl(self, speed: float, activate: bool, distanceToNextVehicle: float) -> dict[str, Any]:
        """Turn the cruise control on or off; the distance is kept even where the speed is refused."""
        distance = float(distanceToNextVehicle)
        speed = float(speed)
        if self.engine_state == "stopped":
            return {"error": "Start the engine before activating the cruise control."}
        self.distanceToNextVehicle = distance
        if activate and (speed < 0 or speed > 120 or speed % 5 != 0):
            return {"error": "Invalid speed"}
        self.cruiseStatus = "active" if activate else "inactive"
        return {"cruiseStatus": self.cruiseStatus, "currentSpeed": speed, "distanceToNextVehicle": distance}

    def get_current_speed(self) -> dict[str, float]:
        """A speed, another each time."""
        return {"currentSpeed": self._random.uniform(0.0, 120.0)}

    # Display.

    def displayCarStatus(self, option: str) -> dict[str, Any]:
        """One part of the car's status."""
        status = self._padded({}, "metadata", "CAR_STATUS_METADATA_EXTENSION")
        read = _DISPLAYS.get(option) if isinstance(option, str) else None
        return status | ({"error": "Invalid option"} if read is None else read(self))

    def display_log(self, messages: list[str]) -> dict[str, Any]:
        """Show messages."""
        return {"log": messages}

    # Ways and tyres.

    def estimate_distance(self, cityA: str, cityB: str) -> dict[str, Any]:
        """The distance between two zip codes."""
        answer: dict[str, Any] = {"error": "distance not found in database."}
        if isinstance(cityA, str) and isinstance(cityB, str):
            distance = self._tables.constants["vehicle_distances_symmetric"].get("|".join(sorted((cityA, cityB))))
            answer = answer if distance is None else {"distance": distance}
        return self._padded(answer, "intermediaryCities", "INTERMEDIARY_CITIES")

    def get_zipcode_based_on_city(self, city: str) -> dict[str, str]:
        """A city's zip code."""
        zipcodes = self._tables.constants["vehicle_zipcodes"]
        return {"zipcode": zipcodes.get(city, "00000") if isinstance(city, str) else "00000"}

    def set_navigation(self, destination: str) -> dict[str, str]:
        """Set the destination."""
        self.destination = destination
        return {"status": "Navigating to " + destination}

    def check_tire_pressure(self) -> dict[str, Any]:
        """The four pressures, and whether their mean is healthy."""
        pressures = {
            "frontLeftTirePressure": self.frontLeftTirePressure,
            "frontRightTirePressure": self.frontRightTirePressure,
            "rearLeftTirePressure": self.rearLeftTirePressure,
            "rearRightTirePressure": self.rearRightTirePressure,
        }
        # In this order: the sum of floats depends on it.
        mean = (
            self.frontLeftTirePressure
            + self.frontRightTirePressure
            + self.rearLeftTirePressure
            + self.rearRightTirePressure
        ) / 4
        answer = {**pressures, "healthy_tire_pressure": 30 <= mean <= 35, "car_info": {}}
        return self._padded(answer, "car_info", "CAR_STATUS_METADATA_EXTENSION")

    def find_nearest_tire_shop(self) -> dict[str, str]:
        """The one tyre shop."""
        return {"shopLocation": self._tables.constants.get("vehicle_tire_shop", _SHOP)}


_DISPLAYS: dict[str, Callable[[VehicleControlAPI], dict[str, Any]]] = {
    "fuel": lambda car: {"fuelLevel": car.fuelLevel},
    "battery": lambda car: {"batteryVoltage": car.batteryVoltage},
    "doors": lambda car: {"doorStatus": car.doorStatus},
    "climate": lambda car: {
        "currentACTemperature": car.acTemperature,
        "fanSpeed": car.fanSpeed,
        "climateMode": car.acMode,
        "humidityLevel": car.humidityLevel,
    },
    "headlights": lambda car: {"headlightStatus": car.headLightStatus},
    "parkingBrake": lambda car: {
        "parkingBrakeStatus": car.parkingBrakeStatus,
        "parkingBrakeForce": car._parkingBrakeForce,
        "slopeAngle": car._slopeAngle,
    },
    "brakePedal": lambda car: {
        "brakePedalStatus": car.brakePedalStatus,
        "brakePedalForce": car._brakePedalForce,
    },
    "engine": lambda car: {"engineState": car.engine_state},
}
"""What ``displayCarStatus`` shows, by option."""
