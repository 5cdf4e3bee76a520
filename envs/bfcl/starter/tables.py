"""What the executable classes know in the starter set: places, fares, rates, stocks and padding of our own.

The form is that of ``env_constants.json`` and ``env_long_context.json.gz`` (``bfcl-eval`` 2026.3.23), so that the
simulators cannot tell the difference. Every name and number is made up here, the length of an inch and the like
excepted. Random parts come from fixed seeds: the tables are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations, permutations
from random import Random
from typing import Any

from callgym.envs.bfcl.simulators.base import Tables
from callgym.envs.bfcl.starter.padding import long_context

__all__ = ["CITIES", "COMPANIES", "CURRENCIES", "TANK", "TIRE_SHOP", "starter_tables"]

CITIES: Mapping[str, tuple[str, str]] = {
    "Halmere": ("HMX", "30417"), "Quillbay": ("QBY", "31652"), "Dornwick": ("DWX", "32981"),
    "Vesperton": ("VPN", "34120"), "Ashgrove": ("AQX", "35874"), "Lowmarsh": ("LMX", "37263"),
    "Tarnholm": ("TNX", "38509"), "Belcastle": ("BCX", "39741"), "Ivory Falls": ("IFX", "40386"),
    "Kestrel Bay": ("KBX", "41927"), "Northam Cross": ("NXC", "43058"), "Peltonville": ("PVX", "44619"),
    "Rook Harbour": ("RHX", "45230"), "Saffron Hill": ("SQH", "46872"), "Umberley": ("UMX", "48195"),
    "Wrenford": ("WFX", "49503"),
}  # fmt: skip
"""City to its airport's code and its zip code."""
COMPANIES: Mapping[str, tuple[str, str]] = {
    "Alder Optics": ("ALOP", "Technology"), "Borealis Chips": ("BRLS", "Technology"),
    "Cobalt Cloud": ("CBCL", "Technology"), "Ditto Robotics": ("DTTO", "Technology"),
    "Ember Networks": ("EMBR", "Technology"), "Foxglove Software": ("FXGL", "Technology"),
    "Gantry Motors": ("GNTR", "Automobile"), "Harrier Trucks": ("HRRT", "Automobile"),
    "Ibis Electric Cars": ("IBEC", "Automobile"), "Juniper Tyres": ("JNTY", "Automobile"),
    "Kettle Energy": ("KTLE", "Energy"), "Lumen Grid": ("LMGR", "Energy"), "Mistral Wind": ("MSTW", "Energy"),
    "Nettle Pharma": ("NTPH", "Health"), "Osprey Clinics": ("OSPC", "Health"), "Pollen Labs": ("PLLB", "Health"),
    "Quarry Foods": ("QRYF", "Retail"), "Raven Books": ("RVNB", "Retail"), "Sorrel Shoes": ("SRLS", "Retail"),
    "Thimble Fashion": ("THMB", "Retail"),
}  # fmt: skip
"""Company to the symbol of its stock and its sector."""
CURRENCIES: Mapping[str, float] = {
    "EUR": 0.92, "GBP": 0.79, "JPY": 148.5, "CHF": 0.88, "SEK": 10.4, "NOK": 10.6, "PLN": 3.96, "CZK": 22.8,
    "AUD": 1.52, "CAD": 1.36, "BRL": 5.05, "ZAR": 18.7,
}  # fmt: skip
"""Currency to what one dollar costs in it."""
TANK = 60.0
"""Gallons that the tank of a car holds."""
TIRE_SHOP = "Rim and Tread, 18 Ferrier Lane, Kestrel Bay, 41927"
_NOW = "2025-03-11 09:40:00"
_TODAY = "2025-03-11"
_CONNECTED = 0.8
"""The share of ordered pairs of airports that a route connects."""


@cache
def starter_tables() -> Tables:
    """The tables of all starter worlds, made once a process; not to be changed."""
    constants = {
        "default_state": _default_state(),
        "message_default_seed": 77_310,
        "trading_current_time": _NOW,
        "trading_symbol_by_name": {name: symbol for name, (symbol, _) in COMPANIES.items()},
        "trading_sectors": _sectors(),
        "travel_base_costs": _fares(),
        "travel_exchange_rates": {f"USD|{currency}": rate for currency, rate in CURRENCIES.items()},
        "travel_airports": [airport for airport, _ in CITIES.values()],
        "travel_airport_by_city": {city: airport for city, (airport, _) in CITIES.items()},
        "vehicle_zipcodes": {city: zipcode for city, (_, zipcode) in CITIES.items()},
        "vehicle_distances_symmetric": _distances(),
        "vehicle_limits": {"max_fuel": TANK, "min_fuel": 0.0, "mile_per_gallon": 25.0},
        "vehicle_tire_shop": TIRE_SHOP,
        "math_si_to_meters": {"km": 1000, "m": 1, "cm": 0.01, "mm": 0.001, "um": 1e-06, "nm": 1e-09},
        "math_imperial_factors": _factors(),
        "today": _TODAY,
    }
    return Tables(constants, long_context(CITIES, COMPANIES))


def _sectors() -> dict[str, list[str]]:
    sectors: dict[str, list[str]] = {}
    for symbol, sector in COMPANIES.values():
        sectors.setdefault(sector, []).append(symbol)
    return sectors


def _fares() -> dict[str, int]:
    """What a flight in economy costs, each direction at its own price; not every pair has a flight."""
    rng = Random("starter fares")
    airports = [airport for airport, _ in CITIES.values()]
    pairs = [pair for pair in permutations(airports, 2) if rng.random() < _CONNECTED]
    return {f"{start}|{end}": rng.randrange(60, 690, 5) for start, end in pairs}


def _distances() -> dict[str, float]:
    rng = Random("starter distances")
    zipcodes = sorted(zipcode for _, zipcode in CITIES.values())
    return {f"{one}|{other}": float(rng.randrange(40, 930, 5)) for one, other in combinations(zipcodes, 2)}


def _factors() -> dict[str, float]:
    inch, pound, mile = 2.54, 0.45359, 1.60934
    return {
        "cm_to_in": round(1 / inch, 5),
        "in_to_cm": inch,
        "m_to_ft": round(100 / inch / 12, 4),
        "ft_to_m": round(inch * 12 / 100, 4),
        "m_to_yd": round(100 / inch / 36, 4),
        "yd_to_m": round(inch * 36 / 100, 4),
        "km_to_miles": round(1 / mile, 5),
        "miles_to_km": mile,
        "kg_to_lb": round(1 / pound, 4),
        "lb_to_kg": pound,
        "celsius_to_fahrenheit": 9 / 5,
        "fahrenheit_to_celsius": 5 / 9,
    }


def _stocks() -> dict[str, dict[str, float]]:
    rng = Random("starter stocks")
    return {symbol: _stock(rng) for symbol, _ in COMPANIES.values()}


def _stock(rng: Random) -> dict[str, float]:
    price = rng.randrange(800, 90_000) / 100
    return {
        "price": price,
        "percent_change": rng.randrange(-420, 420) / 100,
        "volume": rng.randrange(200, 4_000) / 1_000,
        "MA(5)": round(price * 1.01, 2),
        "MA(20)": round(price * 0.98, 2),
    }


def _default_state() -> dict[str, Any]:
    """The state of a class where a scenario says nothing."""
    doors = ("driver", "passenger", "rear_left", "rear_right")
    order = {"id": 7101, "order_type": "Buy", "symbol": "LMGR", "price": 41.2, "amount": 25, "status": "Completed"}
    return {
        "MessageAPI": {
            "generated_ids": [],
            "user_count": 3,
            "user_map": {"Orla": "USR001", "Piet": "USR002", "Samira": "USR003"},
            "inbox": [{"USR002": "The spare key is in the blue tin."}],
            "message_count": 1,
            "current_user": None,
        },
        "TwitterAPI": {
            "username": "orla_writes",
            "password": "tin-kettle-9",
            "authenticated": False,
            "tweets": {},
            "comments": {},
            "retweets": {},
            "following_list": ["piet_paints"],
            "tweet_counter": 0,
        },
        "TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": None},
        "TradingBot": {
            "orders": {"7101": order},
            "account_info": {"account_id": 88_120, "balance": 6_400.0, "binding_card": 4_410_772_093_318_265},
            "authenticated": False,
            "market_status": "Closed",
            "order_counter": 7102,
            "stocks": _stocks(),
            "watch_list": ["LMGR"],
            "transaction_history": [],
            "random_seed": 60_417,
        },
        "TravelAPI": {
            "random_seed": 29_934,
            "credit_card_list": {},
            "booking_record": {},
            "access_token": None,
            "token_type": None,
            "token_expires_in": None,
            "token_scope": None,
            "user_first_name": None,
            "user_last_name": None,
            "budget_limit": None,
        },
        "VehicleControlAPI": {
            "random_seed": 29_934,
            "fuelLevel": 4.0,
            "batteryVoltage": 12.4,
            "engine_state": "stopped",
            "remainingUnlockedDoors": 4,
            "doorStatus": dict.fromkeys(doors, "unlocked"),
            "acTemperature": 22.0,
            "fanSpeed": 40,
            "acMode": "auto",
            "humidityLevel": 45.0,
            "headLightStatus": "off",
            "parkingBrakeStatus": "released",
            "_parkingBrakeForce": 0.0,
            "_slopeAngle": 0.0,
            "brakePedalStatus": "released",
            "brakePedalForce": 0.0,
            "distanceToNextVehicle": 40.0,
            "cruiseStatus": "inactive",
            "destination": "None",
            "frontLeftTirePressure": 33.0,
            "frontRightTirePressure": 33.0,
            "rearLeftTirePressure": 31.0,
            "rearRightTirePressure": 31.0,
        },
    }
