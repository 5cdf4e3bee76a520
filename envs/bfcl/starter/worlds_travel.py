"""Starter worlds of TravelAPI: a traveller with cards and bookings, and what users ask to be booked and paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.starter.padding import HOLDERS
from callgym.envs.bfcl.starter.tables import CITIES, CURRENCIES, starter_tables
from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import GIVEN_NAMES, word_list

__all__ = ["FOLLOW_UPS", "NEWEST_BOOKING", "REQUESTS", "SEARCHES", "Flight", "is_ready", "make_config", "token_words"]

OWNER = "TravelAPI"
NEWEST_BOOKING = "newest booking"
_PRICED = "flight whose price was told"
_TOKEN_TOLD = "access token"
_FAMILY_NAMES = word_list(
    """
    Ashdown Bellamy Cartwright Dunmore Everard Falconer Gresham Holloway Inchbald Jessop Kinsella Lockhart
    Mortimer Nettleton Osgood Penrose Quayle Rutherford Selwyn Trevanion Urquhart Vavasour Winslow Yardley
    """
)
_CLASSES = ("economy", "economy", "business", "first")
_INSURANCES = ("luggage", "cancellation", "delay", "medical", "comprehensive")
_QUESTIONS = (
    "May I bring {count} kilos of luggage?",
    "Please seat us in row {count}.",
    "Can {count} of my colleagues join this flight?",
    "I need help with {count} heavy bags.",
    "Is there a vegetarian meal in row {count}?",
    "Will we wait more than {count} minutes at the gate?",
)
_SCOPES = ("read", "read_write", "booking")

Flight = dict[str, str]
"""``travel_from``, ``travel_to``, ``travel_date``, ``travel_class``."""


def make_config(script: Script) -> Mapping[str, Any]:
    """A traveller, most often logged in, with two or three cards and up to two bookings."""
    first, last = script.own(GIVEN_NAMES), script.own(_FAMILY_NAMES)
    logged_in = script.chance(0.85)
    token = f"{script.pick('abcdefgh')}{script.whole(10_000, 99_999)}{script.pick('klmnpqrs')}"
    cards = {
        f"card_{number}": {
            "card_number": f"{script.whole(4_000, 5_999)}{script.rng.randrange(10**11, 10**12)}",
            "expiration_date": f"{script.whole(1, 12):02d}/{script.whole(2027, 2031)}",
            "cardholder_name": f"{first} {last}",
            "card_verification_number": script.whole(100, 999),
            "balance": float(script.whole(60, 300) * 100),
        }
        for number in script.some(range(1_000, 5_000), script.whole(2, 3))
    }
    script.facts["traveller"] = first, last
    bookings = [_booking(script, list(cards)) for _ in range(script.whole(0, 2))]
    return {
        "random_seed": script.whole(1, 999_999),
        "credit_card_list": cards,
        "booking_record": {str(script.whole(1_000_000, 7_999_999)): booking for booking in bookings},
        "access_token": token if logged_in else None,
        "token_type": "Bearer" if logged_in else None,
        "token_expires_in": 3 if logged_in else None,
        "token_scope": script.pick(_SCOPES) if logged_in else None,
        "user_first_name": first if logged_in else None,
        "user_last_name": last if logged_in else None,
        "budget_limit": None,
    }


def _booking(script: Script, cards: list[str]) -> dict[str, Any]:
    return {
        "card_id": script.pick(cards),
        **_draw_flight(script),
        "travel_cost": float(script.whole(12, 190) * 10),
        "transaction_id": str(script.whole(10_000_000, 99_999_999)),
    }


def _draw_flight(script: Script) -> Flight:
    start, end = script.pick(list(starter_tables().constants["travel_base_costs"])).split("|")
    return {
        "travel_date": f"2025-{script.whole(4, 12):02d}-{script.whole(1, 28):02d}",
        "travel_from": start,
        "travel_to": end,
        "travel_class": script.pick(_CLASSES),
    }


def is_ready(script: Script) -> bool:
    """Whether a traveller is logged in."""
    return script.has(OWNER) and script.state(OWNER).access_token is not None


def token_words(script: Script) -> str:
    """What tells the access token, where it was not told before; to stand after a request."""
    if script.told.get(_TOKEN_TOLD):
        return ""
    script.told[_TOKEN_TOLD] = True
    token = script.state(OWNER).access_token
    return script.pick((f' My access token is "{token}".', f' Use the access token "{token}".'))


def _token(script: Script) -> str:
    return str(script.state(OWNER).access_token)


def _route(flight: Flight) -> str:
    return f"{flight['travel_from']}|{flight['travel_to']}"


def _book(script: Script, card: str, flight: Flight) -> None:
    answer = script.do("book_flight", access_token=_token(script), card_id=card, **flight)
    script.told[NEWEST_BOOKING] = answer["booking_id"]
    script.facts["card of newest booking"] = card
    script.told.pop(_PRICED, None)


def _card(script: Script) -> str:
    """One of the cards that were there before, and are not padding."""
    cards: dict[str, Any] = script.config[OWNER]["credit_card_list"]
    return script.pick(list(cards))


# --- the traveller ----------------------------------------------------------------------------------------------


def _log_in(script: Script) -> Request | None:
    if script.state(OWNER).access_token is not None:
        return None
    first, last = script.facts["traveller"]
    given = {
        "client_id": f"client-{script.whole(100, 999)}",
        "client_secret": f"{script.pick('abcdef')}{script.whole(1_000, 9_999)}",
        "refresh_token": f"rt{script.whole(10_000, 99_999)}",
        "grant_type": script.pick(_SCOPES),
        "user_first_name": first,
        "user_last_name": last,
    }
    rest = (
        'client id "{client_id}", secret "{client_secret}", refresh token "{refresh_token}", grant type "{grant_type}"'
    )
    words = script.say(
        f"log me in to the booking service: {{user_first_name}} {{user_last_name}}, {rest}",
        f"get me an access token for my trips. I am {{user_first_name}} {{user_last_name}}: {rest}",
        f"sign {{user_first_name}} {{user_last_name}} in to the booking service, {rest}",
        **given,
    )
    lacking = script.say(f"log me in to the booking service, {rest}", f"get me an access token: {rest}", **given)
    supplied = script.tell("I am {name}.", "The name is {name}.", name=f"{first} {last}")
    script.do("authenticate_travel", **given)
    script.told[_TOKEN_TOLD] = True
    return Request(words, (lacking, supplied), ("authenticate_travel",))


def _is_logged_in(script: Script) -> Request | None:
    words = script.say(
        "check whether I am logged in to the booking service",
        "find out if the booking service has me logged in",
        "tell me whether there is a traveller signed in to the booking service",
    )
    script.do("travel_get_login_status")
    return Request(words, None, ("travel_get_login_status",))


def _list_airports(script: Script) -> Request | None:
    words = script.say(
        "list all airports that one can fly to",
        "show me the codes of all airports",
        "give me the whole list of airports",
    )
    script.do("list_all_airports")
    return Request(words, None, ("list_all_airports",))


def _verify(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    traveller = script.state(OWNER)
    born = f"{script.whole(1955, 2003)}-{script.whole(1, 12):02d}-{script.whole(1, 28):02d}"
    passport = f"US{script.whole(1_000_000, 9_999_999)}"
    words = script.say(
        "check the details of the traveller {first} {last}, born on {born}, passport {passport}",
        "verify {first} {last} as a traveller: born on {born}, passport number {passport}",
        "see whether {first} {last} may travel, born {born}, with the passport {passport}",
        first=traveller.user_first_name,
        last=traveller.user_last_name,
        born=born,
        passport=passport,
    )
    lacking = script.say(
        "verify {first} {last} as a traveller, born on {born}",
        first=traveller.user_first_name,
        last=traveller.user_last_name,
        born=born,
    )
    supplied = script.tell("The passport is {passport}.", "Passport number {passport}.", passport=passport)
    script.do(
        "verify_traveler_information",
        first_name=traveller.user_first_name,
        last_name=traveller.user_last_name,
        date_of_birth=born,
        passport_number=passport,
    )
    return Request(words, (lacking, supplied), ("verify_traveler_information",))


def _set_budget(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    limit = float(script.whole(8, 60) * 50)
    words = script.say(
        "set my budget limit to {limit} dollars",
        "I do not want to spend more than {limit} dollars: set that as the limit of my budget.",
        "let {limit} dollars be the limit of my budget",
        limit=limit,
    )
    told = token_words(script)
    lacking = script.say("set a budget limit for my trips", "put a limit on my budget") + told
    supplied = script.tell("{limit} dollars.", "The limit is {limit} dollars.", limit=limit)
    script.do("set_budget_limit", access_token=_token(script), budget_limit=limit)
    return Request(words + told, (lacking, supplied), ("set_budget_limit",))


def _set_foreign_budget(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    currency, amount = script.pick(list(CURRENCIES)), float(script.whole(8, 40) * 100)
    words = script.say(
        "convert {amount} {currency} to US dollars and make the result my budget limit",
        "see how many US dollars {amount} {currency} are, and set that as the limit of my budget",
        "My budget is {amount} {currency}: work that out in US dollars and set it as the budget limit.",
        amount=amount,
        currency=currency,
    )
    told = token_words(script)
    lacking = (
        script.say(
            "convert my savings in {currency} to US dollars and make the result my budget limit", currency=currency
        )
        + told
    )
    supplied = script.tell("It is {amount} {currency}.", "{amount} {currency}.", amount=amount, currency=currency)
    limit = script.do("compute_exchange_rate", base_currency=currency, target_currency="USD", value=amount)
    script.do("set_budget_limit", access_token=_token(script), budget_limit=limit["exchanged_value"])
    return Request(words + told, (lacking, supplied), ("compute_exchange_rate",))


# --- cards ------------------------------------------------------------------------------------------------------


def _register_card(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    given = {
        "card_number": f"{script.whole(4_000, 5_999)}{script.rng.randrange(10**11, 10**12)}",
        "expiration_date": f"{script.whole(1, 12):02d}/{script.whole(2027, 2031)}",
        "cardholder_name": " ".join(script.facts["traveller"]),
        "card_verification_number": script.whole(100, 999),
    }
    known = 'number "{card_number}", valid until {expiration_date}, holder {cardholder_name}'
    words = script.say(
        f"register a card of mine: {known}, verification number {{card_verification_number}}",
        f"add a credit card, {known}, with the verification number {{card_verification_number}}",
        f"enter a new card with the verification number {{card_verification_number}}: {known}",
        **given,
    )
    told = token_words(script)
    lacking = script.say(f"register a card of mine: {known}", f"add a credit card, {known}", **given) + told
    code = given["card_verification_number"]
    supplied = script.tell("The verification number is {code}.", "Its verification number: {code}.", code=code)
    script.told["new card"] = script.do("register_credit_card", access_token=_token(script), **given)["card_id"]
    return Request(words + told, (lacking, supplied), ("register_credit_card",))


def _show_new_balance(script: Script) -> Request | None:
    card = script.told.get("new card")
    if card is None:
        return None
    words = script.say(
        "tell me how much money the card I just registered holds",
        "show me the balance of the new card",
        "look up what the new card has on it",
    )
    script.do("get_credit_card_balance", access_token=_token(script), card_id=card)
    return Request(words)


def _show_balance(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    card = _card(script)
    words = script.say(
        'tell me the balance of my card "{card}"',
        'show me how much money the card "{card}" holds',
        'find out what is left on "{card}"',
        card=card,
    )
    told = token_words(script)
    lacking = script.say("tell me the balance of a card", "show me how much money a card of mine holds") + told
    supplied = script.tell('The card is "{card}".', 'I mean "{card}".', card=card)
    script.do("get_credit_card_balance", access_token=_token(script), card_id=card)
    return Request(words + told, (lacking, supplied))


# --- flights ----------------------------------------------------------------------------------------------------


def _said(flight: Flight) -> dict[str, str]:
    return {
        "start": flight["travel_from"],
        "end": flight["travel_to"],
        "day": flight["travel_date"],
        "cls": flight["travel_class"],
        "a_cls": f"{'an' if flight['travel_class'] == 'economy' else 'a'} {flight['travel_class']} class",
    }


def _price(script: Script) -> Request | None:
    """Between two cities, whose airports are looked up."""
    if script.long:
        return None
    flight = _draw_flight(script)
    names = {airport: city for city, (airport, _) in CITIES.items()}
    said = {**_said(flight), "start": names[flight["travel_from"]], "end": names[flight["travel_to"]]}
    words = script.say(
        "look up the airports of {start} and {end} and tell me what {a_cls} flight from the first to the second costs "
        "on {day}",
        "find the airports nearest to {start} and {end}, then the price of flying {cls} class between them on {day}, "
        "starting in {start}",
        "I want to go from {start} to {end} on {day} in {cls} class. Find both airports and the price.",
        **said,
    )
    lacking = script.say("find the airports of two cities and the price of a flight between them on {day}", **said)
    supplied = script.tell("From {start} to {end}, {cls} class.", "{start} to {end}, in {cls} class.", **said)
    for side in ("start", "end"):
        script.do("get_nearest_airport_by_city", location=said[side])
    script.do("get_flight_cost", **_in_order(flight))
    script.told[_PRICED] = flight
    return Request(words, (lacking, supplied), ("get_nearest_airport_by_city",))


def _in_order(flight: Flight) -> Flight:
    return {name: flight[name] for name in ("travel_from", "travel_to", "travel_date", "travel_class")}


def _price_by_code(script: Script) -> Request | None:
    if script.long:
        return None
    flight = _draw_flight(script)
    words = script.say(
        "tell me what {a_cls} flight from {start} to {end} costs on {day}",
        "look up the price of flying {cls} class from {start} to {end} on {day}",
        "price a flight for me: {start} to {end}, {day}, {cls} class",
        **_said(flight),
    )
    lacking = script.say("tell me what {a_cls} flight from {start} costs on {day}", **_said(flight))
    supplied = script.tell("It should go to {end}.", "To {end}.", **_said(flight))
    script.do("get_flight_cost", **_in_order(flight))
    script.told[_PRICED] = flight
    return Request(words, (lacking, supplied), ("get_flight_cost",))


def _book_priced(script: Script) -> Request | None:
    flight = script.told.get(_PRICED)
    if flight is None or not is_ready(script):
        return None
    card = _card(script)
    words = script.say(
        'book that flight and pay with the card "{card}"',
        'take that flight; it goes on my card "{card}"',
        'make a booking for just that flight with "{card}"',
        card=card,
    )
    told = token_words(script)
    lacking = script.say("book that flight", "make a booking for just that flight") + told
    supplied = script.tell('Pay with the card "{card}".', 'It goes on "{card}".', card=card)
    _book(script, card, flight)
    return Request(words + told, (lacking, supplied), ("book_flight",))


def _book_by_code(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    flight, card = _draw_flight(script), _card(script)
    words = script.say(
        'book {a_cls} flight from {start} to {end} on {day} with my card "{card}"',
        'get me a seat in {cls} class from {start} to {end}, {day}, and pay with "{card}"',
        'I fly from {start} to {end} on {day}: book {cls} class on the card "{card}".',
        card=card,
        **_said(flight),
    )
    told = token_words(script)
    lacking, supplied = _without_one(script, flight, card)
    _book(script, card, flight)
    return Request(words + told, (lacking + told, supplied), ("book_flight",))


def _without_one(script: Script, flight: Flight, card: str) -> tuple[str, str]:
    """A booking without its day or one of its airports, and what brings it."""
    said = _said(flight)
    options = (
        ('book {a_cls} flight from {start} to {end} with my card "{card}"', "On {day}."),
        ('book {a_cls} flight from {start} on {day}, and pay with "{card}"', "I want to go to {end}."),
        ('book {a_cls} flight to {end} on {day} with my card "{card}"', "I start from {start}."),
        ('book a flight from {start} to {end} on {day}, paid with "{card}"', "In {cls} class."),
    )
    words, value = script.pick(options)
    return script.say(words, card=card, **said), script.tell(value, **said)


def _book_cheaper(script: Script) -> Request | None:
    """To whichever of two airports is cheaper to fly to."""
    if not is_ready(script) or script.long:
        return None
    routes = starter_tables().constants["travel_base_costs"]
    flight, card = _draw_flight(script), _card(script)
    start = flight["travel_from"]
    others = [route.split("|")[1] for route in routes if route.startswith(f"{start}|")]
    one, other = script.some(others, 2)
    fares = routes[f"{start}|{one}"], routes[f"{start}|{other}"]
    if fares[0] == fares[1]:
        return None
    words = script.say(
        "compare what {a_cls} flight from {start} costs on {day} to {one} and to {other}, and book the cheaper one "
        'with the card "{card}"',
        'get the {cls} class prices from {start} to {one} and to {other} for {day}; book the cheaper one on "{card}"',
        "I could fly from {start} to {one} or to {other} on {day}, {cls} class. See what each costs and book the "
        'cheaper flight with "{card}".',
        card=card,
        one=one,
        other=other,
        **_said(flight),
    )
    told = token_words(script)
    for end in (one, other):
        script.do("get_flight_cost", **_in_order({**flight, "travel_to": end}))
    _book(script, card, {**flight, "travel_to": one if fares[0] < fares[1] else other})
    return Request(words + told, None, ("get_flight_cost",))


# --- bookings ---------------------------------------------------------------------------------------------------


def _cancel_newest(script: Script) -> Request | None:
    if NEWEST_BOOKING not in script.told:
        return None
    words = script.say("cancel that booking", "cancel the flight again", "My plans have changed: cancel that booking.")
    script.do("cancel_booking", access_token=_token(script), booking_id=script.told.pop(NEWEST_BOOKING))
    return Request(words, None, ("cancel_booking",))


def _show_invoice(script: Script) -> Request | None:
    if NEWEST_BOOKING not in script.told:
        return None
    words = script.say(
        "show me the invoice of that booking",
        "get the invoice for the flight you booked",
        "I need the invoice of that booking.",
    )
    script.do("retrieve_invoice", access_token=_token(script), booking_id=script.told[NEWEST_BOOKING])
    return Request(words)


def _insure(script: Script) -> Request | None:
    if NEWEST_BOOKING not in script.told:
        return None
    kind, cost, card = script.pick(_INSURANCES), float(script.whole(4, 48) * 5), script.facts["card of newest booking"]
    words = script.say(
        "buy {kind} insurance for that booking for {cost} dollars, with the same card",
        "insure that booking, {kind} insurance at {cost} dollars on the same card",
        "add a {kind} insurance to that booking; it costs {cost} dollars and goes on the same card",
        kind=kind,
        cost=cost,
    )
    lacking = script.say("buy {kind} insurance for that booking with the same card", kind=kind)
    supplied = script.tell("The one for {cost} dollars.", "It costs {cost} dollars.", cost=cost)
    script.do(
        "purchase_insurance",
        access_token=_token(script),
        insurance_type=kind,
        booking_id=script.told[NEWEST_BOOKING],
        insurance_cost=cost,
        card_id=card,
    )
    return Request(words, (lacking, supplied), ("purchase_insurance",))


def _ask_support(script: Script) -> Request | None:
    if NEWEST_BOOKING not in script.told:
        return None
    text = script.pick(_QUESTIONS).format(count=script.whole(2, 34))
    words = script.say(
        'write to the support about that booking: "{text}"',
        'contact customer support about that booking with the message "{text}"',
        'send the support this on that booking: "{text}"',
        text=text,
    )
    lacking = script.say("write to the support about that booking", "contact customer support about that booking")
    supplied = script.tell('The message is "{text}".', 'Write "{text}".', text=text)
    script.do("contact_customer_support", booking_id=script.told[NEWEST_BOOKING], message=text)
    return Request(words, (lacking, supplied), ("contact_customer_support",))


def _cancel_listed(script: Script) -> Request | None:
    """One of the bookings from before; with padding it is one among very many."""
    if not is_ready(script):
        return None
    record = script.state(OWNER).booking_record
    old = {number: booking for number, booking in record.items() if number != script.told.get(NEWEST_BOOKING)}
    routes = [_route(booking) for booking in record.values()]
    if not old:
        return None
    number = script.pick(list(old))
    if routes.count(_route(old[number])) != 1:
        return None
    words = script.say(
        "go through my bookings and cancel the flight from {start} to {end}",
        "list all my bookings, then cancel the one from {start} to {end}",
        "find the booking from {start} to {end} in my history and cancel it",
        **_said(old[number]),
    )
    told = token_words(script)
    script.do("get_booking_history", access_token=_token(script))
    script.do("cancel_booking", access_token=_token(script), booking_id=number)
    script.told.pop(NEWEST_BOOKING, None)
    script.searched = script.searched or script.long
    return Request(words + told, None, ("get_booking_history",))


def _show_old_invoice(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    record = script.state(OWNER).booking_record
    routes = [_route(booking) for booking in record.values()]
    old = [n for n, b in record.items() if n != script.told.get(NEWEST_BOOKING) and routes.count(_route(b)) == 1]
    if not old:
        return None
    number = script.pick(old)
    words = script.say(
        "look through my bookings for the one from {start} to {end} and show me its invoice",
        "get all my bookings, and the invoice of the flight from {start} to {end}",
        "find my booking from {start} to {end} in the list of all bookings, then get its invoice",
        **_said(record[number]),
    )
    told = token_words(script)
    script.do("get_booking_history", access_token=_token(script))
    script.do("retrieve_invoice", access_token=_token(script), booking_id=number)
    script.told.pop(NEWEST_BOOKING, None)
    script.searched = script.searched or script.long
    return Request(words + told)


def _exchange(script: Script) -> Request | None:
    currency, amount = script.pick(list(CURRENCIES)), float(script.whole(3, 90) * 50)
    words = script.say(
        "tell me how much {amount} US dollars are in {currency}",
        "convert {amount} US dollars to {currency}",
        "work out what {amount} US dollars come to in {currency}",
        amount=amount,
        currency=currency,
    )
    lacking = script.say("convert {amount} US dollars to another currency", amount=amount)
    supplied = script.tell("To {currency}.", "I need {currency}.", currency=currency)
    script.do("compute_exchange_rate", base_currency="USD", target_currency=currency, value=amount)
    return Request(words, (lacking, supplied), ("compute_exchange_rate",))


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (8, _log_in),
    (1, _verify),
    (2, _set_budget),
    (2, _set_foreign_budget),
    (3, _register_card),
    (1, _show_balance),
    (3, _price),
    (3, _price_by_code),
    (4, _book_by_code),
    (4, _book_cheaper),
    (3, _cancel_listed),
    (1, _show_old_invoice),
    (1, _exchange),
    (1, _is_logged_in),
    (1, _list_airports),
)
"""What users ask for, and how often."""
FOLLOW_UPS: tuple[tuple[int, Writer], ...] = (
    (3, _show_new_balance),
    (3, _book_priced),
    (3, _cancel_newest),
    (3, _show_invoice),
    (3, _insure),
    (3, _ask_support),
)
"""The same of what goes on from an earlier turn."""


# --- in the padding ---------------------------------------------------------------------------------------------


def _book_on_card_of(script: Script) -> Request | None:
    """The card of one holder among very many pays."""
    if not is_ready(script):
        return None
    holder, flight = script.pick(HOLDERS), _draw_flight(script)
    cards = script.state(OWNER).credit_card_list
    card = next(number for number, entry in cards.items() if entry["cardholder_name"] == holder)
    words = script.say(
        "look through all registered cards for the one of {holder} and book {a_cls} flight from {start} to {end} on "
        "{day} with it",
        "find the card that belongs to {holder} among all cards; it pays for {a_cls} flight from {start} to {end} on "
        "{day}, which I want you to book",
        "book {cls} class from {start} to {end} on {day}, paid with the card of {holder}, which is among the "
        "registered cards",
        holder=holder,
        **_said(flight),
    )
    told = token_words(script)
    script.do("get_all_credit_cards")
    _book(script, card, flight)
    script.searched = True
    return Request(words + told)


SEARCHES: tuple[tuple[int, Writer], ...] = ((3, _book_on_card_of), (2, _cancel_listed))
"""What users ask for where the answer stands in the padding."""
