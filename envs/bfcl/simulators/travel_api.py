"""TravelAPI: a traveller's token, cards, bookings and budget.

Source: ``bfcl-eval`` 2026.3.23. Ages are reckoned on a fixed day (``constants["today"]``, else the day of that
version), officially on the day of the run. Padded instances officially share the padding's cards and bookings
within one process, so that money spent from such a card is gone in every episode; here each has its own.
"""
# ruff: noqa: N803  (the official names of parameters)

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.scenario import DAY, Scenario, derived, entry, read_time
from callgym.envs.bfcl.simulators.storage import Storage
from callgym.json_value import copy_trusted

__all__ = ["TravelAPI"]

_TODAY = "2026-03-23"
_FACTORS = {"economy": 1, "business": 2, "first": 5}
_CLASSES = "{'economy', 'business', 'first'}"  # a set officially, in any order
_INVOICE = ("travel_date", "travel_from", "travel_to", "travel_class", "travel_cost", "transaction_id")
_LONG_SEQUENCE = 1_000


class TravelAPI(Simulator):
    """One traveller."""

    _SCENARIO = (
        "credit_card_list",
        "booking_record",
        "access_token",
        "token_type",
        "token_expires_in",
        "token_scope",
        "user_first_name",
        "user_last_name",
        "budget_limit",
    )
    compared = (*_SCENARIO, "long_context")

    credit_card_list: dict[str, Any]
    booking_record: dict[str, Any]
    access_token: str | None
    token_type: str | None
    token_expires_in: int | None
    token_scope: str | None
    user_first_name: str | None
    user_last_name: str | None
    budget_limit: float | None

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        scenario = Scenario("TravelAPI", config, tables)
        self._tables = tables
        self._seed = scenario.seed
        self._storage = Storage()
        vars(self).update({name: scenario.values[name] for name in self._SCENARIO})
        self.credit_card_list = scenario.take("credit_card_list")
        self.booking_record = scenario.take("booking_record")
        self.long_context = long_context
        if long_context:
            _add_missing(self.credit_card_list, tables.long_context["CREDIT_CARD_EXTENSION"])
            _add_missing(self.booking_record, tables.long_context["BOOKING_RECORD_EXTENSION"])

    @cached_property
    def _random(self) -> random.Random:
        return random.Random(self._seed)

    def _digits(self, count: int) -> str:
        return str(self._random.randint(10 ** (count - 1), 10**count - 1))

    # The token.

    def authenticate_travel(
        self,
        client_id: str,
        client_secret: str,
        refresh_token: str,
        grant_type: str,
        user_first_name: str,
        user_last_name: str,
    ) -> dict[str, Any]:
        """Get a token; any credentials will do."""
        self.token_expires_in = 2
        self.access_token = self._digits(6)
        self.token_type = "Bearer"
        self.token_scope = grant_type
        self.user_first_name = user_first_name
        self.user_last_name = user_last_name
        return {"expires_in": 2, "access_token": self.access_token, "token_type": "Bearer", "scope": grant_type}

    def travel_get_login_status(self) -> dict[str, bool]:
        """Whether there is a token."""
        return {"status": not (self.token_expires_in is None or self.token_expires_in == 0)}

    def _token_fault(self, access_token: str) -> str | None:
        if self.token_expires_in == 0:
            return "Token expired"
        return "Invalid access token" if access_token != self.access_token else None

    def verify_traveler_information(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> dict[str, Any]:
        """Whether a traveller is the user, of age, and has a passport of the United States."""
        fault = self._traveler_fault(first_name, last_name, date_of_birth, passport_number)
        status = {"verification_status": fault is None}
        return status if fault is None else {**status, "verification_failure": fault}

    def _traveler_fault(self, first_name: str, last_name: str, date_of_birth: str, passport_number: str) -> str | None:
        if self.user_first_name != first_name or self.user_last_name != last_name:
            expected = f"Expected {self.user_first_name} {self.user_last_name}, got {first_name} {last_name}"
            return f"Cannot book flight information for another user.{expected}"
        try:
            born = read_time(date_of_birth, DAY)
        except ValueError:
            return "Invalid date of birth format. Please use YYYY-MM-DD."
        today = date.fromisoformat(self._tables.constants.get("today", _TODAY))
        if today.year - born.year - ((today.month, today.day) < (born.month, born.day)) < 18:
            return "Traveler must be at least 18 years old."
        return None if passport_number.startswith("US") else "Passport must be issued by the United States."

    # Budget.

    def get_budget_fiscal_year(
        self, lastModifiedAfter: str | None = None, includeRemoved: str | None = None
    ) -> dict[str, str]:
        """The one fiscal year."""
        return {"budget_fiscal_year": "2018"}

    def set_budget_limit(self, access_token: str, budget_limit: float) -> dict[str, Any]:
        """Set the budget, in dollars."""
        fault = self._token_fault(access_token)
        if fault is not None:
            return {"error": fault}
        self.budget_limit = float(budget_limit)
        return {"budget_limit": self.budget_limit}

    # Cards.

    def register_credit_card(
        self,
        access_token: str,
        card_number: str,
        expiration_date: str,
        cardholder_name: str,
        card_verification_number: int,
    ) -> dict[str, str]:
        """Register a card; its id and balance are random."""
        if self.token_expires_in is None:
            return {"error": "Token not initialized"}
        fault = self._token_fault(access_token)
        if fault is not None:
            return {"error": fault}
        if card_number in self.credit_card_list:
            return {"error": "Card already registered"}
        self._storage.take(card_number, expiration_date, cardholder_name, card_verification_number)
        card_id = self._digits(12)
        self.credit_card_list[card_id] = {
            "card_number": card_number,
            "expiration_date": expiration_date,
            "cardholder_name": cardholder_name,
            "card_verification_number": card_verification_number,
            "balance": self._random.randint(10000, 99999),
        }
        return {"card_id": card_id}

    def get_credit_card_balance(self, access_token: str, card_id: str) -> dict[str, Any]:
        """The balance of a card."""
        fault = self._token_fault(access_token)
        if fault is not None:
            return {"error": fault}
        if card_id not in self.credit_card_list:
            return {"error": f"Card not registered. Here are a list of card_id's: {list(self.credit_card_list)}"}
        return {"card_balance": entry(self.credit_card_list[card_id], "balance")}

    def get_all_credit_cards(self) -> dict[str, Any]:
        """All cards by id."""
        return {"credit_card_list": self.credit_card_list}

    # Flights.

    def list_all_airports(self) -> list[str]:
        """The codes of all airports."""
        return list(self._tables.constants["travel_airports"])

    def get_nearest_airport_by_city(self, location: str) -> dict[str, str]:
        """The airport of a city."""
        return {"nearest_airport": self._tables.constants["travel_airport_by_city"].get(location, "Unknown")}

    def get_flight_cost(
        self, travel_from: str, travel_to: str, travel_date: str, travel_class: str
    ) -> dict[str, list[float]]:
        """What a flight costs; padded, what every flight would cost."""
        routes = self._routes()
        cost, factor = self._cost(travel_from, travel_to, travel_date, travel_class)
        return {"travel_cost_list": [float(base * factor) for base in routes.values()] if self.long_context else [cost]}

    def _routes(self) -> dict[tuple[str, str], Any]:
        return derived(self._tables.constants["travel_base_costs"], _by_pair)

    def _cost(self, travel_from: str, travel_to: str, travel_date: str, travel_class: str) -> tuple[float, int]:
        """The cost, and what the route's base cost was multiplied by."""
        pair = (travel_from, travel_to)
        routes = self._routes()
        if pair not in routes:
            raise Refusal("No available route for the given airports.")
        if not isinstance(travel_class, str) or travel_class not in _FACTORS:
            raise Refusal("Invalid travel class. Options are: economy, business, first.")
        factor = _FACTORS[travel_class] * (2 if _digit_sum(travel_date) % 2 == 0 else 1)
        return float(routes[pair] * factor), factor

    def book_flight(
        self,
        access_token: str,
        card_id: str,
        travel_date: str,
        travel_from: str,
        travel_to: str,
        travel_class: str,
    ) -> dict[str, Any]:
        """Book a flight and pay with a card."""
        fault = self._booking_fault(access_token, card_id, travel_date, travel_from, travel_to, travel_class)
        if fault is not None:
            return {"booking_status": False, "error": fault}
        try:
            cost, _ = self._cost(travel_from, travel_to, travel_date, travel_class)
        except Refusal as refusal:
            return {"booking_status": False, "error": str(refusal)}
        card = self.credit_card_list[card_id]
        if card["balance"] < cost:
            return {"booking_status": False, "error": "Insufficient funds"}
        if self.budget_limit is not None and card["balance"] < self.budget_limit:
            return {"booking_status": False, "error": "Balance is less than budget limit"}
        self._storage.take(travel_date)
        card["balance"] -= cost
        booking_id, transaction_id = self._digits(7), self._digits(8)
        self.booking_record[booking_id] = {
            "card_id": card_id,
            "travel_date": travel_date,
            "travel_from": travel_from,
            "travel_to": travel_to,
            "travel_class": travel_class,
            "travel_cost": cost,
            "transaction_id": transaction_id,
        }
        return {
            "booking_id": booking_id,
            "transaction_id": transaction_id,
            "booking_status": True,
            "booking_history": self.booking_record if self.long_context else {},
        }

    def _booking_fault(
        self,
        access_token: str,
        card_id: str,
        travel_date: str,
        travel_from: str,
        travel_to: str,
        travel_class: str,
    ) -> str | None:
        """What is wrong before the price is known."""
        fault = self._token_fault(access_token)
        if fault is not None:
            return fault
        if card_id not in self.credit_card_list:
            return "Card not registered"
        if "balance" not in self.credit_card_list[card_id]:
            return "Balance not found"
        airports = self._tables.constants["travel_airports"]
        if travel_from not in airports:
            return f"Invalid departure airport code: {travel_from}"
        if travel_to not in airports:
            return f"Invalid destination airport code: {travel_to}"
        try:
            read_time(travel_date, DAY)
        except ValueError:
            return "Invalid date format. Use YYYY-MM-DD."
        return None if travel_class in _FACTORS else f"Invalid travel class. Must be one of {_CLASSES}"

    # Bookings.

    def get_booking_history(self, access_token: str) -> dict[str, Any]:
        """All bookings by id."""
        fault = self._token_fault(access_token)
        return {"booking_history": copy_trusted(self.booking_record)} if fault is None else {"error": fault}

    def retrieve_invoice(
        self, access_token: str, booking_id: str | None = None, insurance_id: str | None = None
    ) -> dict[str, Any]:
        """The invoice of a booking."""
        fault = self._token_fault(access_token)
        if fault is None and booking_id not in self.booking_record:
            fault = "Booking not found"
        if fault is not None:
            return {"error": fault}
        booking = self.booking_record[booking_id or ""]
        return {"invoice": {"booking_id": booking_id, **{key: entry(booking, key) for key in _INVOICE}}}

    def cancel_booking(self, access_token: str, booking_id: str) -> dict[str, Any]:
        """Cancel a booking; the card gets its money back."""
        fault = self._token_fault(access_token)
        if fault is None and booking_id not in self.booking_record:
            fault = "Booking not found"
        if fault is not None:
            return {"cancel_status": False, "error": fault}
        booking = self.booking_record[booking_id]
        card_id, cost = entry(booking, "card_id"), entry(booking, "travel_cost")
        card = entry(self.credit_card_list, card_id)
        entry(card, "balance")
        card["balance"] += cost
        del self.booking_record[booking_id]
        return {"cancel_status": True}

    def purchase_insurance(
        self,
        access_token: str,
        insurance_type: str,
        booking_id: str,
        insurance_cost: float,
        card_id: str,
    ) -> dict[str, Any]:
        """Insure a booking and pay with a card."""
        fault = self._token_fault(access_token) or self._insurance_fault(booking_id, insurance_cost, card_id)
        if fault is not None:
            return {"insurance_status": False, "error": fault}
        card = self.credit_card_list[card_id]
        entry(card, "balance")
        card["balance"] -= insurance_cost
        return {"insurance_id": self._digits(9), "insurance_status": True}

    def _insurance_fault(self, booking_id: str, insurance_cost: float, card_id: str) -> str | None:
        if self.budget_limit is not None and self.budget_limit < insurance_cost:
            return "Exceeded budget limit"
        if booking_id not in self.booking_record:
            return "Booking not found"
        return None if card_id in self.credit_card_list else "Credit card not registered"

    def contact_customer_support(self, booking_id: str, message: str) -> dict[str, str]:
        """Write to customer support."""
        if booking_id not in self.booking_record:
            return {"error": "Booking not found"}
        thanks = "Thank you for contacting customer support."
        promise = "Your message has been received and we will get back to you shortly."
        return {"customer_support_message": f"{thanks} {promise}"}

    # Money.

    def compute_exchange_rate(self, base_currency: str, target_currency: str, value: float) -> dict[str, float]:
        """An amount in another currency; one of the two must be the dollar."""
        rates = self._tables.constants["travel_exchange_rates"]
        forward = isinstance(base_currency, str) and isinstance(target_currency, str)
        if forward and f"{base_currency}|{target_currency}" in rates:
            if isinstance(value, (str, list, tuple)) and len(value) > _LONG_SEQUENCE:
                raise Refusal("could not convert to float")  # rather than repeat it a hundred times
            return {"exchanged_value": float(value * rates[f"{base_currency}|{target_currency}"])}
        if forward and f"{target_currency}|{base_currency}" in rates:
            return {"exchanged_value": round(value / rates[f"{target_currency}|{base_currency}"], 2)}
        raise Refusal("No available exchange rate for the given currencies.")


def _add_missing(own: dict[str, Any], padding: Mapping[str, Mapping[str, Any]]) -> None:
    for key, record in padding.items():
        if key not in own:
            own[key] = dict(record)


def _by_pair(costs: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    pairs = (key.split("|") for key in costs)
    return {(start, end): cost for (start, end), cost in zip(pairs, costs.values(), strict=True)}


def _digit_sum(text: str) -> int:
    """The sum of a date's digits, whatever its form."""
    # Long ones are counted first, for a policy may write a megabyte of them.
    is_long = type(text) is str and len(text) > _LONG_SEQUENCE
    try:
        if is_long:
            return sum(int(letter) * count for letter, count in Counter(text).items() if letter.isdigit())
        return sum([int(letter) for letter in text if letter.isdigit()])
    except ValueError as error:  # a digit that is no decimal: ²
        raise Refusal(str(error)) from None
