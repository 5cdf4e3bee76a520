"""Requests over two classes: something is found in one and used in the other.

A ``Finder`` makes the calls that find a text or number, a ``User`` those that use it; any two whose classes a
dialogue is about make a request. What is found is used as it stands, so that it can be used in one way only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from callgym.envs.bfcl.starter.padding import DESKS, SHELVES, STATUS
from callgym.envs.bfcl.starter.tables import CITIES, CURRENCIES, starter_tables
from callgym.envs.bfcl.starter.worlds_files import FIGURE_FILES, new_name, spot_with, text_files
from callgym.envs.bfcl.starter.worlds_maths import OF_NUMBERS
from callgym.envs.bfcl.starter.worlds_messages import is_ready as messages_ready
from callgym.envs.bfcl.starter.worlds_messages import person, send_to
from callgym.envs.bfcl.starter.worlds_posting import NEWEST_TWEET, publish, tags
from callgym.envs.bfcl.starter.worlds_posting import is_ready as posting_ready
from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_tickets import NEWEST_TICKET, open_ticket
from callgym.envs.bfcl.starter.worlds_tickets import is_ready as tickets_ready
from callgym.envs.bfcl.starter.worlds_trading import NEWEST_ORDER, traded
from callgym.envs.bfcl.starter.worlds_trading import is_ready as trading_ready
from callgym.envs.bfcl.starter.worlds_travel import NEWEST_BOOKING, token_words
from callgym.envs.bfcl.starter.worlds_travel import is_ready as travel_ready
from callgym.envs.bfcl.starter.worlds_vehicle import trip
from callgym.envs.bfcl.starter.worlds_words import GIVEN_NAMES, listed, note, quoted, subject

__all__ = ["FOLLOW_UPS", "LINKS", "SEARCHES"]

FILES, MATHS, MESSAGES, POSTING = "GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI"
TICKETS, TRADING, TRAVEL, VEHICLE = "TicketAPI", "TradingBot", "TravelAPI", "VehicleControlAPI"


class Found(NamedTuple):
    """What was found."""

    order: str
    """What it takes, as an order; empty where it is known already."""
    what: str
    """What it is called: ``that line``."""
    value: str
    after: str = ""
    """What the user adds to the request."""


class Used(NamedTuple):
    """What is to be done with it."""

    order: str
    """With ``{what}`` in it."""
    use: Callable[[str], None]
    """Makes the calls."""
    withheld: tuple[str, ...]
    """Functions without which there is no way to begin."""


Finder = Callable[[Script], Found | None]
User = Callable[[Script], Used | None]


def _linked(find: Finder, use: User) -> Writer:
    def write(script: Script) -> Request | None:
        used = use(script)
        found = None if used is None else find(script)
        if used is None or found is None:
            return None
        order = used.order.format(what=found.what)
        words = script.say("{find} and {order}", find=found.order, order=order) if found.order else script.say(order)
        used.use(found.value)
        return Request(words + found.after, None, () if found.order else used.withheld)

    return write


# --- what is done with it ---------------------------------------------------------------------------------------


def _send(script: Script) -> Used | None:
    if not messages_ready(script):
        return None
    name = person(script)
    order = script.pick(
        (
            f"send {{what}} to {name}, without any other word",
            f"let {name} have a message with {{what}} and nothing else",
        )
    )
    first = "send_message" if name in script.told.get("user ids", {}) else "get_user_id"
    return Used(order, lambda value: send_to(script, name, value), (first,))


def _post(script: Script) -> Used | None:
    if not posting_ready(script):
        return None
    chosen = tags(script, script.whole(0, 1))
    with_tags = f", with the hashtag {quoted(chosen)}" if chosen else ""
    order = script.pick(
        (f"post {{what}} and nothing else{with_tags}", f"publish a tweet that consists of {{what}} alone{with_tags}")
    )
    given = {"tags": chosen} if chosen else {}
    return Used(order, lambda value: publish(script, value, **given), ("post_tweet",))


def _file_ticket(script: Script) -> Used | None:
    if not tickets_ready(script):
        return None
    title, priority = subject(script), script.whole(2, 5)
    order = f'open a ticket "{title}" of priority {priority} with {{what}} as its description, nothing more'
    return Used(
        order, lambda value: open_ticket(script, title=title, description=value, priority=priority), ("create_ticket",)
    )


def _write_down(script: Script) -> Used | None:
    if not script.has(FILES):
        return None
    here = script.state(FILES)._current
    name = new_name(script, here, (".txt",))

    def use(value: str) -> None:
        script.do("touch", file_name=name)
        script.do("echo", content=value, file_name=name)

    return Used(f'create the file "{name}" with {{what}} as its only text', use, ("touch", "cp"))


def _display(script: Script) -> Used | None:
    if not script.has(VEHICLE):
        return None
    return Used(
        "show {what} on the car's display, without anything else",
        lambda value: script.do("display_log", messages=[value]),
        ("display_log",),
    )


# --- what is found ----------------------------------------------------------------------------------------------


def _line_on_person(script: Script) -> Found | None:
    spot = spot_with(script, lambda folder: bool(text_files(folder)))
    if spot is None:
        return None
    name = script.pick(text_files(spot.folder))
    lines = spot.folder.contents[name].content.splitlines()
    line = script.pick(lines[:6])
    who = line.split()[0]
    if who not in GIVEN_NAMES or sum(who in other for other in lines) != 1:
        return None
    spot.enter(script)
    script.do("grep", file_name=name, pattern=who)
    return Found(f'{spot.words}search "{name}" for {who},', "the line that you find", line)


def _last_line(script: Script) -> Found | None:
    spot = spot_with(script, lambda folder: bool(text_files(folder)))
    if spot is None or script.long:
        return None
    name = script.pick(text_files(spot.folder))
    spot.enter(script)
    line = script.do("tail", file_name=name, lines=1)["last_lines"]
    return Found(f'{spot.words}get just the last line of "{name}"', "that line", line)


def _figures(script: Script) -> Found | None:
    """A figure of the numbers in a file; not one that is long to write."""
    spot = spot_with(script, lambda folder: any(name in folder.contents for name in FIGURE_FILES))
    if spot is None:
        return None
    name = next(name for name in FIGURE_FILES if name in spot.folder.contents)
    numbers = [int(line) for line in spot.folder.contents[name].content.splitlines()]
    function = script.pick([key for key in OF_NUMBERS if key != "standard_deviation"])
    spot.enter(script)
    script.do("cat", file_name=name)
    result = script.do(function, numbers=numbers)["result"]
    return Found(
        f'{spot.words}read "{name}", work out {OF_NUMBERS[function]} of the numbers in it', "that result", str(result)
    )


def _order_number(script: Script) -> Found | None:
    number = script.told.get(NEWEST_ORDER)
    return None if number is None else Found("", "the number of that order", str(number))


def _booking_number(script: Script) -> Found | None:
    number = script.told.get(NEWEST_BOOKING)
    return None if number is None else Found("", "the number of that booking", str(number))


def _ticket_number(script: Script) -> Found | None:
    number = script.told.get(NEWEST_TICKET)
    return None if number is None else Found("", "the number of that ticket", str(number))


def _price_of_stock(script: Script) -> Found | None:
    (symbol,) = traded(script, 1)
    price = script.state(TRADING).stocks[symbol]["price"]
    if price == int(price) or script.long:
        return None
    script.do("get_stock_info", symbol=symbol)
    return Found(f"look up what {symbol} trades at", "the price as a plain number", str(price))


def _distance(script: Script) -> Found | None:
    one, other = script.some(list(CITIES), 2)
    miles = trip(script, one, other)
    return Found(
        f"find out how many miles {one} is from {other}, by their zip codes,",
        "the miles as a whole number",
        str(int(miles)),
    )


def _tweet_text(script: Script) -> Found | None:
    tweet = script.pick(list(script.state(POSTING).tweets.values()))
    script.do("get_tweet", tweet_id=tweet["id"])
    script.told[NEWEST_TWEET] = tweet["id"]
    return Found(f"look up tweet {tweet['id']}", "its text", tweet["content"])


def _airport(script: Script) -> Found | None:
    city = script.pick(list(CITIES))
    code = script.do("get_nearest_airport_by_city", location=city)["nearest_airport"]
    return Found(f"find the airport nearest to {city}", "its code", code)


def _exchanged(script: Script) -> Found | None:
    amount, currency = float(script.whole(3, 60) * 50), script.pick(("EUR", "GBP", "CHF", "CAD", "AUD"))
    dollars = round(amount / CURRENCIES[currency], 2)
    if dollars == int(dollars):
        return None
    script.do("compute_exchange_rate", base_currency=currency, target_currency="USD", value=amount)
    return Found(f"convert {int(amount)} {currency} to US dollars", "the resulting number", str(dollars))


# --- what is found in the padding -------------------------------------------------------------------------------


def _shelf(script: Script) -> Found | None:
    spot = spot_with(
        script, lambda folder: any("Annex" in folder.contents[name].content for name in text_files(folder))
    )
    if spot is None:
        return None
    name = script.pick([name for name in text_files(spot.folder) if "Annex" in spot.folder.contents[name].content])
    mark = script.pick(list(SHELVES))
    spot.enter(script)
    script.do("grep", file_name=name, pattern=mark)
    return Found(f'{spot.words}search the annex of "{name}" for shelf {mark},', "the line that you find", SHELVES[mark])


def _status_entry(script: Script) -> Found | None:
    entry, option = script.pick(list(STATUS)), script.pick(("fuel", "battery", "climate", "engine"))
    script.do("displayCarStatus", option=option)
    return Found(
        f'show me the {option} status, take the value of "{entry}" from its metadata', "just that value", STATUS[entry]
    )


def _desk(script: Script) -> Found | None:
    number = script.pick(list(script.state(TRADING).orders))
    area, band = script.pick(list(DESKS))
    script.do("get_order_details", order_id=number)
    script.told[NEWEST_ORDER] = number
    return Found(
        f'look at the details of order {number}, find in the part "{area}" of its metadata what the desk in band '
        f"{band} is called,",
        "just the name of that desk",
        DESKS[area, band],
    )


def _old_booking(script: Script) -> Found | None:
    if not travel_ready(script):
        return None
    bookings = starter_tables().long_context["BOOKING_RECORD_EXTENSION"]
    routes = [(b["travel_from"], b["travel_to"]) for b in script.state(TRAVEL).booking_record.values()]
    number = script.pick(list(bookings))
    route = bookings[number]["travel_from"], bookings[number]["travel_to"]
    if routes.count(route) != 1:
        return None
    told = token_words(script)
    script.do("get_booking_history", access_token=script.state(TRAVEL).access_token)
    script.told.pop(NEWEST_BOOKING, None)
    order = f"look through all my bookings for the flight from {route[0]} to {route[1]}"
    return Found(order, "the number of that booking", number, told)


def _old_payment(script: Script) -> Found | None:
    if not trading_ready(script):
        return None
    payment = script.pick(starter_tables().long_context["TRANSACTION_HISTORY_EXTENSION"])
    if payment["amount"] == int(payment["amount"]):
        return None
    script.do("get_transaction_history")
    return Found(
        f"find the {payment['type']} of {payment['timestamp'][:10]} in my whole payment history",
        "its amount as a plain number",
        str(payment["amount"]),
    )


# --- other links ------------------------------------------------------------------------------------------------


def _warn_of_tires(script: Script) -> Request | None:
    """One of two messages, by the tyres."""
    if not messages_ready(script):
        return None
    limit, name, bad, good = script.whole(28, 32), person(script), note(script), note(script)
    if bad == good:
        return None
    words = script.say(
        'check the tyres; if one of them is below {limit} psi, send {name} "{bad}", otherwise send "{good}"',
        'measure the tyre pressures and write to {name}: "{bad}" if any is under {limit} psi, "{good}" if none is',
        'look at the tyre pressures; {name} gets the message "{bad}" should one be below {limit} psi, else "{good}"',
        limit=limit,
        name=name,
        bad=bad,
        good=good,
    )
    answer = script.do("check_tire_pressure")
    lowest = min(value for key, value in answer.items() if key.endswith("TirePressure"))
    send_to(script, name, bad if lowest < limit else good)
    return Request(words, None, ("check_tire_pressure",))


def _report_battery(script: Script) -> Request | None:
    """A ticket whose priority depends on the battery."""
    if not tickets_ready(script):
        return None
    limit, title = script.whole(115, 125) / 10, subject(script)
    low, high = script.whole(1, 2), script.whole(4, 5)
    words = script.say(
        'look at the battery and open a ticket "{title}" without a description: priority {high} if its voltage is '
        "below {limit}, else {low}",
        'check the voltage of the battery, then create a ticket titled "{title}" with no description and priority '
        "{high} if it is under {limit} volts, {low} if it is not",
        'open a ticket called "{title}" after a look at the battery: priority {high} below {limit} volts, {low} '
        "otherwise, no description",
        title=title,
        high=high,
        low=low,
        limit=limit,
    )
    voltage = script.do("displayCarStatus", option="battery")["batteryVoltage"]
    open_ticket(script, title=title, priority=high if voltage < limit else low)
    return Request(words)


def _mean_pressure(script: Script) -> Request | None:
    words = script.say(
        "measure the pressure of all four tyres and calculate the mean",
        "get the four tyre pressures and work out their mean",
        "check the tyres, then take the mean of the four pressures",
    )
    answer = script.do("check_tire_pressure")
    script.do("mean", numbers=[value for key, value in answer.items() if key.endswith("TirePressure")])
    return Request(words, None, ("check_tire_pressure",))


def _trip_in_kilometres(script: Script) -> Request | None:
    one, other = script.some(list(CITIES), 2)
    words = script.say(
        "find out how far it is from {one} to {other}, by their zip codes, and convert the miles to kilometres",
        "look up the zip codes of {one} and {other}, the distance between them, and what that is in kilometres",
        "estimate the way from {one} to {other} by zip codes; I want it in kilometres, not only in miles",
        one=one,
        other=other,
    )
    miles = trip(script, one, other)
    script.do("imperial_si_conversion", value=miles, unit_in="miles", unit_out="km")
    return Request(words)


def _share_of_balance(script: Script) -> Request | None:
    if not trading_ready(script):
        return None
    amount = script.whole(8, 120) * 50
    words = script.say(
        "look at my account and tell me how many per cent of the balance {amount} dollars are",
        "check my balance and work out which percentage of it {amount} dollars would be",
        "I have {amount} dollars in mind: see what my balance is and how many per cent of it that makes.",
        amount=amount,
    )
    balance = script.do("get_account_info")["balance"]
    script.do("percentage", part=amount, whole=balance)
    return Request(words, None, ("get_account_info",))


def _mean_of_prices(script: Script) -> Request | None:
    symbols = traded(script, script.whole(2, 4))
    words = script.say(
        "look up the prices of {symbols} and calculate their mean",
        "get the figures of {symbols}, then work out the mean of the prices",
        "take the mean of what {symbols} cost, stock by stock",
        symbols=listed(symbols),
    )
    prices = [script.do("get_stock_info", symbol=symbol)["price"] for symbol in symbols]
    script.do("mean", numbers=prices)
    return Request(words, None, ("get_stock_info",))


def _both_ways(script: Script) -> Request | None:
    """What a return trip costs."""
    routes = starter_tables().constants["travel_base_costs"]
    start, end = script.pick([route for route in routes if "|".join(reversed(route.split("|"))) in routes]).split("|")
    if script.long:
        return None
    there, back = f"2025-{script.whole(4, 7):02d}-{script.whole(1, 28):02d}", f"2025-08-{script.whole(1, 28):02d}"
    words = script.say(
        "get the economy prices from {start} to {end} on {there} and back on {back}, and add them up",
        "price an economy flight from {start} to {end} on {there}, another one back on {back}, and give me their sum",
        "work out what it costs to fly economy from {start} to {end} on {there} and to return on {back}: both prices "
        "and their sum",
        start=start,
        end=end,
        there=there,
        back=back,
    )
    costs = [
        script.do("get_flight_cost", travel_from=a, travel_to=b, travel_date=day, travel_class="economy")
        for a, b, day in ((start, end, there), (end, start, back))
    ]
    script.do("add", a=costs[0]["travel_cost_list"][0], b=costs[1]["travel_cost_list"][0])
    return Request(words, None, ("get_flight_cost",))


def _links(
    finders: Sequence[tuple[int, str, Finder]], users: Sequence[tuple[str, User]]
) -> list[tuple[int, tuple[str, ...], Writer]]:
    """All pairs of a finder and a user of another class."""
    return [
        (weight, (found_in, used_in), _linked(find, use))
        for weight, found_in, find in finders
        for used_in, use in users
        if found_in != used_in
    ]


_TELLERS: tuple[tuple[str, User], ...] = ((MESSAGES, _send), (POSTING, _post), (TICKETS, _file_ticket))
LINKS: tuple[tuple[int, tuple[str, ...], Writer], ...] = (
    *_links(
        (
            (5, FILES, _line_on_person),
            (3, FILES, _last_line),
            (3, TRADING, _price_of_stock),
            (3, TRAVEL, _airport),
            (3, TRAVEL, _exchanged),
            (4, VEHICLE, _distance),
            (5, POSTING, _tweet_text),
        ),
        _TELLERS,
    ),
    *_links(((4, POSTING, _tweet_text),), ((FILES, _write_down), (VEHICLE, _display))),
    (8, (FILES, MATHS), _linked(_figures, _write_down)),
    (5, (TRADING, MATHS), _mean_of_prices),
    (5, (VEHICLE, MESSAGES), _warn_of_tires),
    (5, (VEHICLE, TICKETS), _report_battery),
    (5, (VEHICLE, MATHS), _mean_pressure),
    (5, (VEHICLE, MATHS), _trip_in_kilometres),
    (5, (TRADING, MATHS), _share_of_balance),
    (5, (TRAVEL, MATHS), _both_ways),
)
"""How often something is asked for, the classes that it takes, and who writes it."""
FOLLOW_UPS: tuple[tuple[int, tuple[str, ...], Writer], ...] = tuple(
    _links(
        ((4, TRADING, _order_number), (4, TRAVEL, _booking_number), (4, TICKETS, _ticket_number)),
        (*_TELLERS, (FILES, _write_down), (VEHICLE, _display)),
    )
)
"""The same of what goes on from an earlier turn."""
SEARCHES: tuple[tuple[int, tuple[str, ...], Writer], ...] = tuple(
    _links(
        (
            (5, FILES, _shelf),
            (5, VEHICLE, _status_entry),
            (4, TRADING, _desk),
            (4, TRADING, _old_payment),
            (5, TRAVEL, _old_booking),
        ),
        _TELLERS,
    )
)
"""The same where it is found in the padding."""
