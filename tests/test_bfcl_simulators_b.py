"""BFCL's executable classes, second half: trading, travel, the car; and the worlds and turns all of them run in."""

from __future__ import annotations

import ast
import copy
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.call import ToolCall, ToolResult
from callgym.envs.bfcl.backend import BfclBackend
from callgym.envs.bfcl.files import CLASS_FILES, BfclFiles
from callgym.envs.bfcl.memory.session import MemorySession
from callgym.envs.bfcl.memory.starter import starter_memory
from callgym.envs.bfcl.official.multi_turn import EMPTY, RESPONSE, STATE
from callgym.envs.bfcl.simulators.base import Tables, result_text, tools_of
from callgym.envs.bfcl.simulators.call_expression import read_call_text
from callgym.envs.bfcl.simulators.flat_call import read_flat_call
from callgym.envs.bfcl.simulators.result_writer import PaddedWriter, write_result
from callgym.envs.bfcl.simulators.scenario import DAY, TIME, derived, read_time
from callgym.envs.bfcl.simulators.session import CLASSES, ERROR_PREFIX, World, class_of, result_of
from callgym.envs.bfcl.simulators.signature import signatures_of
from callgym.envs.bfcl.turns import TurnSession, open_turns
from callgym.envs.bfcl.web.starter import starter_web
from callgym.envs.bfcl.web.tools import WebSession
from callgym.errors import ConfigurationError
from callgym.goal import TextGoal
from callgym.message import Message
from callgym.task import Task

SYMBOLS = [f"X{number}" for number in range(600)]
TABLES = Tables(
    constants={
        "default_state": {
            "TradingBot": {
                "orders": {"7": {"id": 7, "symbol": "ZIP", "price": 2.0, "amount": 1, "status": "Completed"}},
                "account_info": {"account_id": 1, "balance": 100.0, "binding_card": 2},
                "authenticated": True,
                "market_status": "Open",
                "order_counter": 8,
                "stocks": {
                    "ZIP": {"price": 2.0, "percent_change": -3.5, "volume": 1.0, "MA(5)": 2.1, "MA(20)": 2.2},
                    "ZAP": {"price": 5.0, "percent_change": 0.1, "volume": 1.0, "MA(5)": 5.1, "MA(20)": 5.2},
                },
                "watch_list": ["ZIP"],
                "transaction_history": [],
                "random_seed": 11,
            },
            "TravelAPI": {
                "random_seed": 12,
                "credit_card_list": {"c1": {"balance": 1000.0}},
                "booking_record": {},
                "access_token": "t",
                "token_type": "Bearer",
                "token_expires_in": 2,
                "token_scope": "read",
                "user_first_name": "Ann",
                "user_last_name": "Low",
                "budget_limit": None,
            },
            "VehicleControlAPI": {
                "random_seed": 13,
                "fuelLevel": 10.0,
                "batteryVoltage": 12.0,
                "engine_state": "stopped",
                "remainingUnlockedDoors": 4,
                "doorStatus": {"left": "unlocked", "right": "locked"},
                "acTemperature": 20.0,
                "fanSpeed": 10,
                "acMode": "auto",
                "humidityLevel": 40.0,
                "headLightStatus": "off",
                "parkingBrakeStatus": "released",
                "_parkingBrakeForce": 0.0,
                "_slopeAngle": 0.0,
                "brakePedalStatus": "released",
                "brakePedalForce": 0.0,
                "distanceToNextVehicle": 50.0,
                "cruiseStatus": "inactive",
                "destination": "None",
                "frontLeftTirePressure": 32.0,
                "frontRightTirePressure": 32.0,
                "rearLeftTirePressure": 30.0,
                "rearRightTirePressure": 30.0,
            },
        },
        "trading_current_time": "2024-09-01 00:05:00",
        "trading_symbol_by_name": {"Zip Works": "ZIP"},
        "trading_sectors": {"Technology": ["ZIP"], "Trade": ["ZAP"]},
        "travel_base_costs": {"AAA|BBB": 100, "BBB|AAA": 300},
        "travel_exchange_rates": {"USD|EUR": 0.8},
        "travel_airport_by_city": {"Aton": "AAA"},
        "travel_airports": ["AAA", "BBB", "CCC"],
        "vehicle_limits": {"max_fuel": 50, "min_fuel": 0.0, "mile_per_gallon": 20.0},
        "vehicle_zipcodes": {"Aton": "11111"},
        "vehicle_distances_symmetric": {"11111|22222": 70.0},
        "today": "2026-03-23",
    },
    long_context={
        "MA_5_EXTENSION": [float(number) for number in range(600)],
        "MA_20_EXTENSION": [1.5],
        "ORDER_DETAIL_EXTENSION": {"note": "{symbol} is a stock."},
        "WATCH_LIST_EXTENSION": [*SYMBOLS, "@@ELLIPSIS@@"],
        "TRANSACTION_HISTORY_EXTENSION": [{"type": "deposit", "amount": n} for n in range(600)],
        "TECHNOLOGY_EXTENSION": SYMBOLS,
        "AUTOMOBILE_EXTENSION": [],
        "CREDIT_CARD_EXTENSION": {"c1": {"balance": 1.0}, "c2": {"balance": 500.0}},
        "BOOKING_RECORD_EXTENSION": {"b9": {"card_id": "c2", "travel_cost": 10.0}},
        "LONG_WEATHER_EXTENSION": {"yesterday": {"wind": 3.0}},
        "CAR_STATUS_METADATA_EXTENSION": "a red car",
        "PARKING_BRAKE_INSTRUCTION": "pull",
        "INTERMEDIARY_CITIES": ["Beton"],
    },
)
MINE = ("TradingBot", "TravelAPI", "VehicleControlAPI")
LOCKED = {"doorStatus": dict.fromkeys(("left", "right", "back", "roof"), "locked")}


def world(*classes: str, padded: bool = False, **config: Mapping[str, Any]) -> World:
    return World(classes or MINE, config, TABLES, padded, "model")


def answers(place: World, *calls: str) -> list[str]:
    return [place.result_text(call) for call in calls]


def last(place: World, *calls: str) -> Any:
    """The last call's answer, read as JSON where it is."""
    text = answers(place, *calls)[-1]
    try:
        return json.loads(text)
    except ValueError:
        return text


# Trading.


def test_the_clock_shows_midnight_as_twelve() -> None:
    assert last(world(), "get_current_time()") == {"current_time": "12:05 AM"}


def test_orders_are_placed_open_and_answered_pending_without_moving_money() -> None:
    place = world()
    placed = last(place, "place_order(order_type='Buy', symbol='ZIP', price=2, amount=3)")
    assert placed == {"order_id": 8, "order_type": "Buy", "status": "Pending", "price": 2.0, "amount": 3}
    assert last(place, "get_order_details(order_id=8)")["status"] == "Open"
    assert last(place, "get_account_info()")["balance"] == 100.0
    assert last(place, "cancel_order(order_id=8)") == {"order_id": 8, "status": "Cancelled"}
    assert last(place, "get_order_history()") == {"history": [7, 8]}


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("cancel_order(order_id=9)", "Order with ID 9 not found."),
        ("cancel_order(order_id=7)", "Can't cancel order 7. Order is already completed."),
        ("get_order_details(order_id='7')", "Order with ID 7 not found.Here is the list of orders_id: [7]"),
        ("place_order(order_type='Buy', symbol='NO', price=1, amount=1)", "Invalid stock symbol: NO"),
        ("place_order(order_type='Buy', symbol='ZIP', price=0, amount=1)", "Price and amount must be positive values."),
        (
            "place_order(order_type='bUY', symbol='ZIP', price=60.5, amount=2)",
            "Insufficient funds: required $121.00 but only $100.00 available.",
        ),
        ("withdraw_funds(amount=101)", "Insufficient funds for withdrawal."),
        ("fund_account(amount=-1)", "Funding amount must be positive."),
        ("remove_stock_from_watchlist(symbol='ZAP')", "Stock ZAP not found in watchlist."),
        ("get_stock_info(symbol='NO')", "Stock with symbol 'NO' not found."),
    ],
)
def test_trading_says_what_is_wrong(call: str, error: str) -> None:
    assert last(world(), call) == {"error": error}


def test_payments_are_booked_at_a_seeded_time_within_a_day() -> None:
    first, second = world(), world()
    calls = ("fund_account(amount=50)", "withdraw_funds(amount=30.5)", "get_transaction_history()")
    history = last(first, *calls)["transaction_history"]
    assert [row["type"] for row in history] == ["deposit", "withdrawal"]
    assert all("2024-09-01 00:05:00" <= row["timestamp"] <= "2024-09-02 00:05:00" for row in history)
    assert last(second, *calls)["transaction_history"] == history
    assert last(first, "get_account_info()")["balance"] == 119.5


def test_history_is_filtered_by_date_and_a_bad_date_is_an_error_in_strptimes_words() -> None:
    history = [{"amount": 1, "timestamp": "2024-01-02 10:00:00"}, {"amount": 2, "timestamp": "2024-02-03 10:00:00"}]
    place = world(TradingBot={"transaction_history": history})
    found = last(place, "get_transaction_history(start_date='2024-01-03', end_date='2024-02-28')")
    assert [row["amount"] for row in found["transaction_history"]] == [2]
    text = last(place, "get_transaction_history(start_date='tomorrow')")
    assert text == "Error during execution: time data 'tomorrow' does not match format '%Y-%m-%d'"
    broken = world(TradingBot={"transaction_history": [{"amount": 1}]})
    assert last(broken, "get_transaction_history()") == "Error during execution: 'timestamp'"


def test_without_a_login_trading_answers_in_its_several_ways() -> None:
    place = world(TradingBot={"authenticated": False})
    assert last(place, "get_watchlist()").startswith("['Error: User not authenticated.")
    assert last(place, "get_order_history()").startswith("[{'error': 'User not authenticated.")
    assert "error" in last(place, "get_account_info()")
    assert last(place, "trading_logout()") == {"status": "No user is currently logged in"}
    assert last(place, "trading_login(username='a', password='b')") == {"status": "Logged in successfully"}
    assert last(place, "trading_login(username='a', password='b')") == {"status": "Already logged in"}
    assert last(place, "trading_get_login_status()") == {"status": True}


def test_the_watch_list_takes_what_is_traded_only() -> None:
    place = world()
    assert last(place, "add_to_watchlist(stock='NO')") == {"watchlist": ["ZIP"]}
    assert last(place, "add_to_watchlist(stock='ZAP')") == {"watchlist": ["ZIP", "ZAP"]}
    removed = last(place, "remove_stock_from_watchlist(symbol='ZIP')")
    assert removed == {"status": "Stock ZIP removed from watchlist successfully."}
    assert last(place, "get_watchlist()") == {"watchlist": ["ZAP"]}


def test_stocks_are_found_by_name_sector_price_and_change() -> None:
    place = world()
    assert last(place, "get_symbol_by_name(name='Zip Works')") == {"symbol": "ZIP"}
    assert last(place, "get_symbol_by_name(name='Zap Works')") == {"symbol": "Stock not found"}
    assert last(place, "get_available_stocks(sector='Art')") == {"stock_list": []}
    stocks = "stocks=['ZIP', 'ZAP', 'NO']"
    assert last(place, f"filter_stocks_by_price({stocks}, min_price=0, max_price=2)") == {
        "filtered_stocks": ["ZIP", "NO"]
    }
    assert last(place, f"notify_price_change({stocks}, threshold=3.5)") == {
        "notification": "Stocks ZIP have significant price changes."
    }


def test_scenario_orders_keep_keys_that_are_no_numbers() -> None:
    place = world(TradingBot={"orders": {"12": {"status": "Open"}, "kind": "Buy"}})
    assert last(place, "get_order_history()") == {"history": [12, "kind"]}
    assert place.run("get_order_details", {"order_id": "kind"}).value == "Buy"
    assert place.run("cancel_order", {"order_id": "kind"}).text.startswith("Error during execution: string indices")


# Travel.


def test_a_flight_is_booked_paid_invoiced_and_cancelled() -> None:
    place = world()
    flight = "travel_date='2026-01-01', travel_from='AAA', travel_to='BBB', travel_class='business'"
    assert last(place, f"get_flight_cost({flight})") == {"travel_cost_list": [400.0]}
    booked = last(place, f"book_flight(access_token='t', card_id='c1', {flight})")
    assert booked["booking_status"] is True
    assert booked["booking_history"] == {}
    assert (len(booked["booking_id"]), len(booked["transaction_id"])) == (7, 8)
    assert last(place, "get_credit_card_balance(access_token='t', card_id='c1')") == {"card_balance": 600.0}
    identity = f"booking_id='{booked['booking_id']}'"
    invoice = last(place, f"retrieve_invoice(access_token='t', {identity})")["invoice"]
    assert invoice["travel_cost"] == 400.0
    assert last(place, f"contact_customer_support({identity}, message='x')")["customer_support_message"]
    assert last(place, f"cancel_booking(access_token='t', {identity})") == {"cancel_status": True}
    assert last(place, "get_booking_history(access_token='t')") == {"booking_history": {}}
    assert last(place, "get_all_credit_cards()") == {"credit_card_list": {"c1": {"balance": 1000.0}}}


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"access_token": "x"}, "Invalid access token"),
        ({"card_id": "x"}, "Card not registered"),
        ({"travel_from": "X"}, "Invalid departure airport code: X"),
        ({"travel_to": "X"}, "Invalid destination airport code: X"),
        ({"travel_date": "2026-13-01"}, "Invalid date format. Use YYYY-MM-DD."),
        ({"travel_class": "x"}, "Invalid travel class. Must be one of {'economy', 'business', 'first'}"),
        ({"travel_to": "CCC"}, "No available route for the given airports."),
        ({"travel_from": "BBB", "travel_to": "AAA", "travel_class": "first"}, "Insufficient funds"),
    ],
)
def test_bookings_are_refused_for_the_first_thing_that_is_wrong(changed: dict[str, str], error: str) -> None:
    right = {"access_token": "t", "card_id": "c1", "travel_date": "2026-01-02", "travel_from": "AAA"}
    outcome = world().run("book_flight", {**right, "travel_to": "BBB", "travel_class": "economy", **changed})
    assert outcome.value == {"booking_status": False, "error": error}


def test_prices_double_where_the_dates_digits_have_an_even_sum() -> None:
    place = world()
    call = "get_flight_cost(travel_from='AAA', travel_to='BBB', travel_class='economy', travel_date='{}')"
    assert last(place, call.format("2026-01-02")) == {"travel_cost_list": [100.0]}
    assert last(place, call.format("2026-01-01")) == {"travel_cost_list": [200.0]}
    assert last(place, call.format("no date")) == {"travel_cost_list": [200.0]}
    assert last(place, call.format("²")).startswith("Error during execution: invalid literal for int()")
    assert last(place, call.format("1" * 2001)) == {"travel_cost_list": [100.0]}


def test_costs_that_do_not_exist_are_refused() -> None:
    place = world()
    rest = "travel_date='2026-01-01', travel_class='x')"
    no_route = "Error during execution: No available route for the given airports."
    assert last(place, f"get_flight_cost(travel_from='AAA', travel_to='CCC', {rest}") == no_route
    assert last(place, f"get_flight_cost(travel_from='AAA', travel_to='BBB', {rest}").endswith(
        "economy, business, first."
    )


def test_the_token_is_looked_at_before_all_else() -> None:
    expired = world(TravelAPI={"token_expires_in": 0})
    assert last(expired, "set_budget_limit(access_token='t', budget_limit=1)") == {"error": "Token expired"}
    assert last(expired, "travel_get_login_status()") == {"status": False}
    none = world(TravelAPI={"token_expires_in": None})
    card = "card_number='4', expiration_date='1/30', cardholder_name='A', card_verification_number=1"
    assert last(none, f"register_credit_card(access_token='t', {card})") == {"error": "Token not initialized"}
    names = "user_first_name='A', user_last_name='B'"
    token = last(
        none, f"authenticate_travel(client_id='', client_secret='', refresh_token='', grant_type='r', {names})"
    )
    assert (token["expires_in"], token["scope"], len(token["access_token"])) == (2, "r", 6)


def test_cards_get_a_random_id_and_then_a_random_balance() -> None:
    place = world()
    card = "card_number='{}', expiration_date='1/30', cardholder_name='A', card_verification_number=1"
    registered = last(place, f"register_credit_card(access_token='t', {card.format('4')})")["card_id"]
    assert len(registered) == 12
    balance = last(place, f"get_credit_card_balance(access_token='t', card_id='{registered}')")["card_balance"]
    assert 10000 <= balance <= 99999
    again = last(place, f"register_credit_card(access_token='t', {card.format(registered)})")
    assert again == {"error": "Card already registered"}


@pytest.mark.parametrize(
    ("arguments", "failure"),
    [
        (("Ann", "Low", "2008-03-23", "US1"), None),
        (("Ann", "Low", "2008-03-24", "US1"), "Traveler must be at least 18 years old."),
        (("Ann", "Low", "yesterday", "US1"), "Invalid date of birth format. Please use YYYY-MM-DD."),
        (("Ann", "Low", "1990-01-01", "DE1"), "Passport must be issued by the United States."),
        (
            ("Ben", "Low", "1990-01-01", "US1"),
            "Cannot book flight information for another user.Expected Ann Low, got Ben Low",
        ),
    ],
)
def test_travellers_are_verified_on_a_fixed_day(arguments: tuple[str, ...], failure: str | None) -> None:
    value = world().run("verify_traveler_information", {}, arguments).value
    assert value.get("verification_failure") == failure
    assert value["verification_status"] is (failure is None)


def test_insurance_is_held_against_the_budget_and_paid() -> None:
    place = world(TravelAPI={"booking_record": {"b": {"travel_cost": 1.0}}})
    insured = "insurance_type='x', booking_id='b', card_id='c1'"
    last(place, "set_budget_limit(access_token='t', budget_limit=50)")
    refused = last(place, f"purchase_insurance(access_token='t', {insured}, insurance_cost=60)")
    assert refused == {"insurance_status": False, "error": "Exceeded budget limit"}
    paid = last(place, f"purchase_insurance(access_token='t', {insured}, insurance_cost=40)")
    assert len(paid["insurance_id"]) == 9
    assert last(place, "get_credit_card_balance(access_token='t', card_id='c1')") == {"card_balance": 960.0}
    # The scenario's booking lacks what an invoice and a refund need.
    assert last(place, "retrieve_invoice(access_token='t', booking_id='b')") == "Error during execution: 'travel_date'"
    assert last(place, "cancel_booking(access_token='t', booking_id='b')") == "Error during execution: 'card_id'"


def test_money_is_exchanged_both_ways() -> None:
    place = world()
    call = "compute_exchange_rate(base_currency='{}', target_currency='{}', value=10)"
    assert last(place, call.format("USD", "EUR")) == {"exchanged_value": 8.0}
    assert last(place, call.format("EUR", "USD")) == {"exchanged_value": 12.5}
    assert last(place, call.format("EUR", "GBP")).endswith("No available exchange rate for the given currencies.")
    assert last(place, call.format("USD|EUR", "")).endswith("No available exchange rate for the given currencies.")


# The car.


def test_the_engine_starts_locked_and_braked() -> None:
    place = world(VehicleControlAPI=LOCKED)
    start = "startEngine(ignitionMode='START')"
    assert last(place, start) == {"error": "Brake pedal needs to be pressed when starting the engine."}
    half = last(place, "pressBrakePedal(pedalPosition=0.5)", start)
    assert half == {"error": "Must press the brake fully before starting the engine."}
    started = last(place, "pressBrakePedal(pedalPosition=1)", start)
    assert started == {"engineState": "running", "fuelLevel": 10.0, "batteryVoltage": 12.0}
    unlocked = last(place, "lockDoors(unlock=True, door=['left', 'back'])", start)["error"]
    assert unlocked.endswith("Here are the unlocked doors: left, back")


def test_stopping_the_engine_answers_an_error() -> None:
    place = world(VehicleControlAPI={**LOCKED, "engineState": "running"})
    assert last(place, "displayCarStatus(option='engine')") == {"engineState": "running"}
    press = "pressBrakePedal(pedalPosition=1.0)"
    assert last(place, press, "startEngine(ignitionMode='STOP')") == {"error": "Invalid ignition mode."}
    assert last(place, "displayCarStatus(option='engine')") == {"engineState": "stopped"}


def test_four_doors_are_counted_however_many_there_are() -> None:
    place = world(VehicleControlAPI={"doorStatus": {"left": "locked"}, "remainingUnlockedDoors": 1})
    assert place.public_state()["VehicleControlAPI"]["remainingUnlockedDoors"] == 3


def test_a_door_that_does_not_exist_ends_the_locking_half_way() -> None:
    place = world()
    text = last(place, "lockDoors(unlock=False, door=['left', 'roof', 'right'])")
    assert text == "Error during execution: 'roof'"
    assert place.public_state()["VehicleControlAPI"]["doorStatus"] == {"left": "locked", "right": "locked"}


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("fillFuelTank(fuelAmount=41)", {"error": "Cannot fill gas above the tank capacity."}),
        ("fillFuelTank(fuelAmount=-1)", {"error": "Fuel amount cannot be negative."}),
        ("fillFuelTank(fuelAmount=40)", {"fuelLevel": 50.0}),
        ("adjustClimateControl(temperature=1, fanSpeed=101)", {"error": "Fan speed must be between 0 and 100."}),
        ("setHeadlights(mode='auto')", {"headlightStatus": "off"}),
        ("setHeadlights(mode='x')", {"error": "Invalid headlight mode."}),
        ("activateParkingBrake(mode='x')", {"error": "Invalid mode"}),
        ("pressBrakePedal(pedalPosition=2)", {"error": "Pedal position must be between 0 and 1."}),
        ("pressBrakePedal(pedalPosition=0)", {"brakePedalStatus": "released", "brakePedalForce": 0.0}),
        ("displayCarStatus(option='wings')", {"error": "Invalid option"}),
        ("displayCarStatus(option=['fuel'])", {"error": "Invalid option"}),
        ("estimate_drive_feasibility_by_mileage(distance=200)", {"canDrive": True}),
        ("estimate_drive_feasibility_by_mileage(distance=201)", {"canDrive": False}),
        ("estimate_distance(cityA='22222', cityB='11111')", {"distance": 70.0}),
        ("estimate_distance(cityA=22222, cityB=11111)", {"error": "distance not found in database."}),
        ("get_zipcode_based_on_city(city='Aton')", {"zipcode": "11111"}),
        ("get_zipcode_based_on_city(city=['Aton'])", {"zipcode": "00000"}),
        ("get_outside_temperature_from_weather_com()", {"error": 404}),
        ("display_log(messages=['a'])", {"log": ["a"]}),
        ("set_navigation(destination='home')", {"status": "Navigating to home"}),
        (
            "setCruiseControl(speed=50, activate=True, distanceToNextVehicle=9)",
            {"error": "Start the engine before activating the cruise control."},
        ),
    ],
)
def test_the_car_answers(call: str, answer: Any) -> None:
    assert last(world(), call) == answer


def test_celsius_is_kept_and_the_given_number_answered() -> None:
    place = world()
    answer = last(place, "adjustClimateControl(temperature=50, unit='fahrenheit')")
    assert answer["currentACTemperature"] == 50
    assert place.public_state()["VehicleControlAPI"]["acTemperature"] == 10.0


def test_cruise_control_keeps_the_distance_of_a_refused_speed() -> None:
    place = world(VehicleControlAPI={"engineState": "running"})
    refused = last(place, "setCruiseControl(speed=51, activate=True, distanceToNextVehicle=9)")
    assert refused == {"error": "Invalid speed"}
    assert place.public_state()["VehicleControlAPI"]["distanceToNextVehicle"] == 9.0


# Padding.


def test_padded_answers_are_padded() -> None:
    place = world(padded=True)
    stock = last(place, "get_stock_info(symbol='ZIP')")
    assert (len(stock["MA(5)"]), stock["MA(20)"], stock["price"]) == (600, [1.5], 2.0)
    assert last(place, "get_order_details(order_id=7)")["metadata"] == {"note": "ZIP is a stock."}
    assert last(place, "get_watchlist()").endswith("'X599', Ellipsis]")
    assert len(last(place, "get_available_stocks(sector='Technology')")["stock_list"]) == 601
    assert last(place, "get_available_stocks(sector='Trade')") == {"stock_list": ["ZAP"]}
    assert len(last(place, "fund_account(amount=1)", "get_transaction_history()")["transaction_history"]) == 601
    assert set(last(place, "get_all_credit_cards()")["credit_card_list"]) == {"c1", "c2"}
    assert last(place, "get_outside_temperature_from_google()")["yesterday"] == {"wind": 3.0}
    assert last(place, "displayCarStatus(option='fuel')") == {"metadata": "a red car", "fuelLevel": 10.0}
    assert last(place, "activateParkingBrake(mode='engage')")["parkingBrakeInstruction"] == "pull"
    assert last(place, "estimate_distance(cityA='1', cityB='2')")["intermediaryCities"] == ["Beton"]
    assert last(place, "check_tire_pressure()")["car_info"] == "a red car"
    date = "travel_date='2026-01-01', travel_class='economy'"
    cost = last(place, f"get_flight_cost(travel_from='AAA', travel_to='BBB', {date})")
    assert cost == {"travel_cost_list": [200.0, 600.0]}
    booked = last(place, f"book_flight(access_token='t', card_id='c1', travel_from='AAA', travel_to='BBB', {date})")
    assert set(booked["booking_history"]) == {"b9", booked["booking_id"]}


def test_padding_is_not_shared_between_instances() -> None:
    before = copy.deepcopy(dict(TABLES.long_context))
    first, second = world(padded=True), world(padded=True)
    last(first, "cancel_booking(access_token='t', booking_id='b9')", "get_outside_temperature_from_google()")
    assert last(first, "get_credit_card_balance(access_token='t', card_id='c2')") == {"card_balance": 510.0}
    assert last(second, "get_credit_card_balance(access_token='t', card_id='c2')") == {"card_balance": 500.0}
    assert before == TABLES.long_context


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(...),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3) | st.integers(), inner),
        max_leaves=8,
    ),
    st.sampled_from(
        ["MA_5_EXTENSION", "TECHNOLOGY_EXTENSION", "TRANSACTION_HISTORY_EXTENSION", "WATCH_LIST_EXTENSION"]
    ),
    st.lists(st.integers() | st.just(...) | st.dictionaries(st.integers(), st.integers()), max_size=3),
)
def test_results_are_written_as_json_dumps_and_str_write_them(value: Any, padding: str, own: list[Any]) -> None:
    write = derived(TABLES.long_context, PaddedWriter).write
    extension = TABLES.long_context[padding]
    for result in (value, {"a": value}, {"a": extension, "b": value}, {"a": own + extension}, own + extension):
        assert write_result(result) == result_text(result)
        assert write(result) == result_text(result)


# Calls.


@pytest.mark.parametrize("owner", CLASSES)
def test_errors_of_binding_are_in_pythons_own_words(owner: str) -> None:
    attempts: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((1,), {}),
        ((), {"bogus": 1}),
        ((1,) * 9, {}),
        ((), {"self": 1}),
        ((1, 2, 3), {"bogus": 1}),
    ]
    for signature in signatures_of(owner, class_of(owner)).values():
        named = dict.fromkeys(signature.parameters, 1)
        for positional, arguments in [*attempts, ((1,), named), ((), named)]:
            fault = signature.fault(positional, arguments)
            try:
                inspect.signature(signature.function).bind(None, *positional, **arguments)
            except TypeError:
                assert fault is not None
            else:
                assert fault is None
                continue
            function = inspect.unwrap(signature.function)
            with pytest.raises(TypeError) as native:
                function(None, *positional, **arguments)
            assert str(native.value).startswith(fault)  # later Pythons add what might have been meant


def test_unknown_and_refused_functions_are_told_apart() -> None:
    place = world()
    assert last(place, "fly(to='x')") == "Error during execution: name 'fly' is not defined"
    assert last(place, "os.remove(path='x')") == "Error during execution: Function call remove is not allowed."
    assert last(place, "a.b.remove()") == "Error during execution: name 'a' is not defined"
    assert last(place, "exit ()") == "Error during execution: Function call exit is not allowed."
    assert last(place, "display_log(messages=run())") == "Error during execution: name 'run' is not defined"
    assert place.run("kill", {"pid": 1}).text == "Error during execution: Function call kill is not allowed."
    assert place.run("fly", {}).text == "Error during execution: name 'fly' is not defined"
    assert place.touched == set()


def test_calls_among_arguments_run_first_and_pass_their_value_on() -> None:
    place = world()
    assert last(place, "display_log(messages=get_zipcode_based_on_city(city='Aton'))") == {"log": {"zipcode": "11111"}}
    assert last(place, "set_navigation(destination=fly(a=set_navigation(destination='x')))").endswith("not defined")
    assert place.public_state()["VehicleControlAPI"]["destination"] == "None"


def test_an_instance_never_comes_to_contain_itself() -> None:
    place = world()
    card = "card_number='4', expiration_date=get_all_credit_cards(), cardholder_name='A', card_verification_number=1"
    for _ in range(30):
        place.result_text(f"register_credit_card(access_token='t', {card})")
    assert len(json.dumps(place.public_state())) < 5_000_000
    too_long = place.result_text(f"register_credit_card(access_token='t', {card})")
    assert too_long == "Error during execution: the result is too long to be passed on"


def test_literals_are_read_as_python_reads_them_and_nothing_is_evaluated() -> None:
    place = world()
    for source, value in {
        "[1, -2.5, (3, None)]": [1, -2.5, [3, None]],
        "{'a': [True], 'b': 'x' 'y'}": {"a": [True], "b": "xy"},
        "'\\x41\\n'": "A\n",
        "1 + 2 * 3": 7,
        "'a' + 'b'": "ab",
    }.items():
        assert last(place, f"display_log(messages={source})") == {"log": value}
    for source in (
        "[x for x in 'ab']",
        "1 if 1 else 2",
        "f'{1}'",
        "[].__class__",
        "9 ** 9 ** 9",
        "'a' * 10 ** 9",
        "1 < 2",
    ):
        assert last(place, f"display_log(messages={source})").startswith(ERROR_PREFIX)
    assert last(place, "display_log(messages=nobody)") == "Error during execution: name 'nobody' is not defined"
    assert last(place, "display_log(messages=1 / 0)") == "Error during execution: division by zero"
    assert "keyword argument repeated: messages" in last(place, "display_log(messages=1, messages=2)")
    assert last(place, "'text'") == "text"


def test_official_rewriting_reaches_into_texts() -> None:
    first = World(["VehicleControlAPI"], {}, TABLES, name="a/b")
    second = World(["VehicleControlAPI"], {}, TABLES, name="c")
    call = "display_log(messages=['first (of two)', 'call get_current_speed() now', 'a\\nget_current_speed()'])"
    for place, name in ((first, "a_b"), (second, "c")):
        rewritten = f"call {name}_VehicleControlAPI_instance.get_current_speed() now"
        messages = ["first(of two)", rewritten, "a\nget_current_speed()"]
        assert last(place, call) == {"log": messages}
        assert place.run("display_log", {"messages": [*ast.literal_eval(call[21:-1])]}).value == {"log": messages}


def test_of_classes_that_share_a_name_the_last_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLASSES, "Other", "callgym.envs.bfcl.simulators.trading_bot:TradingBot")
    place = World(["TradingBot", "Other"], {"Other": {"order_counter": 99}}, TABLES)
    assert "99" in place.result_text("place_order(order_type='Sell', symbol='ZIP', price=1, amount=1)")
    assert place.touched == {"Other"}


def test_arguments_are_neither_kept_nor_changed() -> None:
    place = world()
    messages = ["a"]
    value = place.run("display_log", {"messages": messages}).value
    value["log"].append("b")
    assert messages == ["a"]
    config = {"doorStatus": {"left": "unlocked"}}
    other = world(VehicleControlAPI=config)
    other.result_text("lockDoors(unlock=False, door=['left'])")
    assert config == {"doorStatus": {"left": "unlocked"}}


def test_mistyped_arguments_are_errors_and_faults_of_a_simulator_are_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = world()
    assert place.run("fillFuelTank", {"fuelAmount": "5"}).text.startswith("Error during execution: '<' not supported")
    assert place.run("liter_to_gallon", {"liter": 10**400}).text == (
        "Error during execution: int too large to convert to float"
    )
    monkeypatch.setattr(place.instance("VehicleControlAPI"), "fuelLevel", None)
    with pytest.raises(TypeError):
        place.run("fillFuelTank", {"fuelAmount": 5})


def test_results_that_are_no_json_are_given_as_text() -> None:
    outcome = world(padded=True).run("get_watchlist", {})
    assert outcome.value == outcome.text
    unbounded = world(VehicleControlAPI={"engineState": "running"})
    outcome = unbounded.run_call_text("setCruiseControl(speed=5, activate=True, distanceToNextVehicle=1e999)")
    assert '"distanceToNextVehicle": Infinity' in outcome.text
    assert outcome.value == outcome.text


# Texts a policy may write.

HOSTILE = {
    "brackets": "(" * 20_000,
    "list": "display_log(messages=" + "[" * 20_000,
    "minus": "display_log(messages=" + "-" * 1_000_000 + "1)",
    "and": "display_log(messages=" + "1 and " * 150_000 + "1)",
    "attributes": "a." * 500_000 + "b()",
    "unclosed": "display_log(messages='" + "a" * 1_000_000,
    "names": "a " * 500_000,
    "power": "display_log(messages=9**9**9)",
    "digits": "display_log(messages=" + "9" * 1_000_000 + ")",
    "half a surrogate": "display_log(messages='\ud800')",
    "null": "display_log(messages='\0')",
    "calls in a text": "display_log(messages='" + "get_current_speed() " * 30_000 + "')",
    "escaped quotes": "display_log(messages='" + "\\'" * 400_000,
    "many texts": "display_log(messages=[" + "'a'," * 250_000 + "])",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_errors(name: str) -> None:
    place = world()
    assert place.run_call_text(HOSTILE[name]).failed


def test_deep_arguments_are_an_error() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    place = world()
    assert place.run("display_log", {"messages": deep}).text.endswith("nested too deeply")
    nested = "[" * 150 + "]" * 150
    assert place.run_call_text(f"set_navigation(destination={nested})").failed
    assert place.public_state()


@given(st.text(alphabet="ab01=,.'\"()[]{} \\-+*:_\n", max_size=40))
def test_no_text_raises(text: str) -> None:
    place = world()
    for call in (text, f"display_log(messages={text})", f"display_log({text})"):
        place.run_call_text(call)


PLAIN = st.text(alphabet="ab (,)='\"\\.é\n", max_size=6)
VALUES = (
    PLAIN.map(repr)
    | PLAIN.map(json.dumps)
    | st.integers(-(10**20), 10**20).map(str)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.sampled_from(["True", "None", "true", "007", "-0", "1.", ".5", "1_0", "0x1", "1e3", "[]", "()", "- 1", "b'x'"])
    | st.lists(PLAIN.map(repr), max_size=3).map(lambda items: f"[{', '.join(items)}]")
)
ARGUMENTS = st.lists(
    st.tuples(st.sampled_from(["", "a=", "b=", " c = ", "None=", "class="]), VALUES).map("".join), max_size=3
)


@given(st.sampled_from(["f", "None", "if", "_g1", "f ", " f"]), ARGUMENTS, st.sampled_from([", ", ",", ",  ", " ,"]))
def test_the_quick_reading_is_pythons(name: str, arguments: list[str], comma: str) -> None:
    text = f"{name}({comma.join(arguments)})"
    flat = read_flat_call(text)
    if flat is None:
        return
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    assert ast.unparse(node.func) == flat.name
    given_values = [ast.literal_eval(value) for value in node.args]
    given_names = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
    quick = [list(value) if isinstance(value, tuple) else value for value in flat.positional]
    named = {key: list(value) if isinstance(value, tuple) else value for key, value in flat.keywords.items()}
    assert repr((quick, named)) == repr((given_values, given_names))


def test_most_calls_are_read_the_quick_way() -> None:
    assert read_flat_call("f(a='x', b=-1.5, c=['p', \"q\"], d=None)") is not None
    assert read_flat_call("f()") is not None
    assert read_call_text("f(a=g(b=1))").node.keywords["a"].path == ("g",)


@given(st.text(alphabet="0123456789- :T", max_size=20))
def test_dates_are_read_as_strptime_reads_them(text: str) -> None:
    import datetime

    for form in (DAY, TIME):
        for candidate in (text, "2024-02-30", "2024-02-29", "2024-1-1", "2024-01-01 10:11:12", "2024-01-01 24:00:00"):
            try:
                expected: Any = datetime.datetime.strptime(candidate, form)
            except ValueError as error:
                expected = str(error)
            try:
                found: Any = read_time(candidate, form)
            except ValueError as error:
                found = str(error)
            assert found == expected


# Sessions.


def make_task(gold: Any, **meta: Any) -> Task:
    return Task(
        id="t/1",
        family="bfcl",
        split="test",
        messages=(Message(role="user", content="Go"),),
        goal=TextGoal(reference=""),
        initial_state={"VehicleControlAPI": {"fuelLevel": 49.5}},
        meta={"involved_classes": ["VehicleControlAPI"], "gold": gold, **meta},
    )


FILL = ToolCall(name="fillFuelTank", arguments={"fuelAmount": 0.5})
FULL = make_task([["fillFuelTank(fuelAmount=0.5)"], [], ["displayCarStatus(option='battery')"]])


def test_sessions_are_independent_and_padded_where_the_task_says_so() -> None:
    first, second = open_turns(FULL, TABLES), open_turns(FULL, TABLES)
    assert first.call(FILL).content == {"fuelLevel": 50.0}
    assert first.call(FILL).content == {"error": "Cannot fill gas above the tank capacity."}
    assert second.call(FILL).content == {"fuelLevel": 50.0}
    first.close()
    padded = open_turns(make_task([], long_context=True), TABLES)
    assert padded.call(ToolCall(name="displayCarStatus", arguments={"option": "fuel"})).content == {
        "metadata": "a red car",
        "fuelLevel": 49.5,
    }


def test_a_call_that_fails_is_a_tools_error_without_the_official_prefix() -> None:
    place = world()
    failed = result_of(place.run("lockDoors", {"unlock": False, "door": ["roof"]}))
    assert (failed.content, failed.error, failed.message) == (None, "tool_error", "'roof'")
    answered = result_of(place.run("fillFuelTank", {"fuelAmount": -1}))
    assert (answered.content, answered.error) == ({"error": "Fuel amount cannot be negative."}, None)


def played(*turns: list[ToolCall], refused: int = 0) -> list[dict[str, Any]]:
    """What is found of each turn, in which so many more calls are tried than are run."""
    session = open_turns(FULL, TABLES)
    for calls in turns:
        for _ in range(len(calls) + refused):
            session.tried()
        for call in calls:
            session.call(call)
        session.end_turn()
    found: list[dict[str, Any]] = session.state()["turns"]
    return found


LOOK = ToolCall(name="displayCarStatus", arguments={"option": "battery"})


def test_the_facts_of_a_turn_are_kept() -> None:
    assert played([FILL], [], [LOOK]) == [
        {"gold": gold, "made": gold, "copies": 0, "error": None, "message": ""} for gold in (1, 0, 1)
    ]
    assert [(turn["made"], turn["copies"]) for turn in played([FILL, LOOK, LOOK], [LOOK, LOOK])] == [(3, 1), (2, 1)]


def test_each_turn_is_held_against_the_gold() -> None:
    assert [turn["error"] for turn in played([LOOK], [], [LOOK])] == [STATE, None, STATE]
    silent = played([FILL], [], [])
    assert [turn["error"] for turn in silent] == [None, None, EMPTY]
    assert silent[2]["message"]
    # What was tried and not run is no silence.
    tried = played([FILL], [], [], refused=2)
    assert [(turn["made"], turn["error"]) for turn in tried] == [(3, None), (2, None), (2, RESPONSE)]


def test_the_state_that_is_handed_out_is_a_copy() -> None:
    session = open_turns(FULL, TABLES)
    session.end_turn()
    session.state()["turns"][0].clear()
    assert session.state()["turns"][0]["error"] == EMPTY


def test_a_backend_opens_what_the_category_runs_on() -> None:
    backend = BfclBackend()
    session = backend.open(make_task([[]], category="multi_turn_base", tables="starter"), 0)
    assert isinstance(session, TurnSession)
    assert session.call(FILL).content == {"fuelLevel": 50.0}
    assert isinstance(backend.open(starter_memory("kv")[0], 0), MemorySession)
    assert isinstance(backend.open(starter_web(True)[0], 0), WebSession)
    on_paper = backend.open(make_task([], category="simple_python"), 0)
    assert on_paper.call(ToolCall(name="anything")) == ToolResult()


def test_a_class_that_does_not_exist_is_an_error_of_the_user() -> None:
    with pytest.raises(ConfigurationError, match="no executable class 'Zoo'"):
        World(["Zoo"], {}, TABLES)


SCRIPT = [
    "fund_account(amount=5)",
    "place_order(order_type='Buy', symbol='ZIP', price=1, amount=1)",
    "authenticate_travel(client_id='', client_secret='', refresh_token='', grant_type='r', user_first_name='A',"
    " user_last_name='B')",
    "get_current_speed()",
    "lockDoors(unlock=False, door=['left'])",
    "get_transaction_history()",
    "get_outside_temperature_from_google()",
]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(SCRIPT)), max_size=12))
def test_worlds_do_not_touch_one_another(steps: list[tuple[bool, str]]) -> None:
    alone = {side: world() for side in (True, False)}
    expected = {side: [alone[side].result_text(call) for which, call in steps if which is side] for side in alone}
    together = {side: world() for side in (True, False)}
    found: dict[bool, list[str]] = {True: [], False: []}
    for side, call in steps:
        found[side].append(together[side].result_text(call))
    assert found == expected
    assert all(together[side].public_state() == alone[side].public_state() for side in alone)


def test_what_a_policy_can_store_is_bounded() -> None:
    place = world()
    order = {"order_type": "x" * 90_000, "symbol": "ZIP", "price": 1, "amount": 1}
    texts = [place.run("place_order", order).text for _ in range(12)]
    assert texts[-1] == "Error during execution: No space left: this instance holds as much as it can."


# The official files.


@pytest.mark.parametrize("owner", CLASSES)
def test_tools_and_parameters_are_the_documented_ones(owner: str, official_data: Path) -> None:
    files = BfclFiles(official_data / "bfcl")
    documents = {row["name"]: row["parameters"] for row in files.class_functions(owner)}
    signatures = signatures_of(owner, class_of(owner))
    assert owner in CLASS_FILES
    assert set(documents) == set(signatures)
    for name, signature in signatures.items():
        documented = tuple(documents[name]["properties"])
        # One document has two of its parameters in another order than the code, where positional arguments go by it.
        as_documented = set(documented) == set(signature.parameters) if name == "purchase_insurance" else (
            documented == signature.parameters
        )  # fmt: skip
        assert as_documented, name
        assert set(documents[name]["required"]) == signature.required
    assert set(tools_of(class_of(owner))) == set(documents)  # type: ignore[arg-type]
