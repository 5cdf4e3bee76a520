"""Starter worlds of TradingBot: an account, a market, and what users ask to be bought, watched and paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.starter.tables import COMPANIES, starter_tables
from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import HANDLES, listed

__all__ = ["FOLLOW_UPS", "NEWEST_ORDER", "REQUESTS", "SEARCHES", "is_ready", "make_config", "priced_symbol", "traded"]

OWNER = "TradingBot"
NEWEST_ORDER = "newest order"
_SHOWN = "order that was shown"
_SYMBOLS = {symbol: company for company, (symbol, _) in COMPANIES.items()}
_STATUSES = ("Completed", "Open", "Open", "Pending", "Cancelled")
_WORDS = ("lantern", "pebble", "harvest", "compass", "thicket", "violet", "anchor", "mustard")
_TYPES = {"Buy": "buy", "Sell": "sell"}


def make_config(script: Script) -> Mapping[str, Any]:
    """An account with orders and payments, and a market of ten stocks."""
    symbols = script.some(list(_SYMBOLS), 10)
    first = script.whole(2_000, 9_000)
    orders = [_order(script, first + number, script.pick(symbols)) for number in range(script.whole(2, 4))]
    script.facts["trader"] = script.own(HANDLES)
    return {
        "orders": {str(order["id"]): order for order in orders},
        "account_info": {
            "account_id": script.whole(10_000, 99_999),
            "balance": script.amount(15_000, 90_000, 0.25),
            "binding_card": script.rng.randrange(4 * 10**15, 6 * 10**15),
        },
        "authenticated": script.chance(0.8),
        "market_status": "Open",
        "order_counter": first + len(orders),
        "stocks": {symbol: _stock(script) for symbol in symbols},
        "watch_list": script.some(symbols, script.whole(2, 4)),
        "transaction_history": [_payment(script, day) for day in sorted(script.some(range(1, 28), 3))],
        "random_seed": script.whole(1, 999_999),
    }


def _order(script: Script, number: int, symbol: str) -> dict[str, Any]:
    return {
        "id": number,
        "order_type": script.pick(("Buy", "Buy", "Sell")),
        "symbol": symbol,
        "price": script.amount(10, 400, 0.05),
        "amount": script.whole(1, 18) * 5,
        "status": script.pick(_STATUSES),
    }


def _stock(script: Script) -> dict[str, float]:
    price = script.amount(8, 420, 0.01)
    return {
        "price": price,
        "percent_change": round(script.rng.randrange(-640, 640) / 100, 2),
        "volume": script.amount(1, 9, 0.001),
        "MA(5)": round(price * script.pick((0.98, 0.99, 1.01, 1.02)), 2),
        "MA(20)": round(price * script.pick((0.95, 0.97, 1.03, 1.04)), 2),
    }


def _payment(script: Script, day: int) -> dict[str, Any]:
    return {
        "type": script.pick(("deposit", "withdrawal")),
        "amount": script.amount(100, 4_000, 0.25),
        "timestamp": f"2025-02-{day:02d} {script.whole(9, 16):02d}:{script.whole(10, 59)}:00",
    }


def is_ready(script: Script) -> bool:
    """Whether orders can be placed now."""
    return script.has(OWNER) and bool(script.state(OWNER).authenticated)


def traded(script: Script, count: int) -> list[str]:
    """The symbols of some stocks of the market."""
    return script.some(list(script.state(OWNER).stocks), count)


def priced_symbol(script: Script, company: str) -> tuple[str, float]:
    """A company's symbol, looked up where it was not told, and its price, which is always looked up."""
    known: dict[str, str] = script.told.setdefault("symbols", {})
    if company not in known:
        known[company] = script.do("get_symbol_by_name", name=company)["symbol"]
    return known[company], script.do("get_stock_info", symbol=known[company])["price"]


def _place(script: Script, order_type: str, symbol: str, price: float, amount: int) -> None:
    answer = script.do("place_order", order_type=order_type, symbol=symbol, price=price, amount=amount)
    script.told[NEWEST_ORDER] = answer["order_id"]


def _affordable(script: Script, price: float) -> int | None:
    """A round number of shares that the balance allows."""
    most = int(script.state(OWNER).account_info["balance"] / price / 1.2)
    return None if most < 5 else 5 * script.whole(1, min(most // 5, 30))


# --- the account ------------------------------------------------------------------------------------------------


def _log_in(script: Script) -> Request | None:
    if script.state(OWNER).authenticated or script.config[OWNER]["authenticated"]:
        return None
    name, password = script.facts["trader"], f"{script.pick(_WORDS)}-{script.whole(100, 999)}"
    words = script.say(
        'log in to my trading account, name "{name}", password "{password}"',
        'sign in to the exchange as "{name}" with "{password}" as the password',
        'open my trading account "{name}" with the password "{password}"',
        name=name,
        password=password,
    )
    lacking = script.say('log in to my trading account "{name}"', 'sign in to the exchange as "{name}"', name=name)
    supplied = script.tell('The password is "{password}".', 'Take "{password}" as the password.', password=password)
    script.do("trading_login", username=name, password=password)
    return Request(words, (lacking, supplied), ("trading_login",))


def _pay_in(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    amount = script.amount(50, 5_000, 0.5)
    words = script.say(
        "pay {amount} dollars into my trading account",
        "add {amount} dollars to the balance of my trading account",
        "put another {amount} dollars into the account I trade with",
        amount=amount,
    )
    lacking = script.say("pay some more money into my trading account", "top my trading account up")
    supplied = script.tell("{amount} dollars.", "Let it be {amount} dollars.", amount=amount)
    script.do("fund_account", amount=amount)
    return Request(words, (lacking, supplied), ("fund_account",))


def _pay_out(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    amount = script.amount(50, 5_000, 0.5)
    words = script.say(
        "take {amount} dollars out of my trading account",
        "withdraw {amount} dollars from the account I trade with",
        "pay {amount} dollars out of my trading account to me",
        amount=amount,
    )
    lacking = script.say("withdraw some money from my trading account", "pay some of my trading account out to me")
    supplied = script.tell("{amount} dollars.", "I want {amount} dollars.", amount=amount)
    script.do("withdraw_funds", amount=amount)
    return Request(words, (lacking, supplied), ("withdraw_funds",))


def _round_up(script: Script) -> Request | None:
    """The balance is looked up and brought to a round sum."""
    if not is_ready(script):
        return None
    balance = script.state(OWNER).account_info["balance"]
    target = float(script.whole(int(balance // 1000) + 2, int(balance // 1000) + 9) * 1000)
    if float(f"{target - balance:.2f}") != target - balance:
        return None
    words = script.say(
        "look at my account and pay in just as much as it takes to bring the balance to {target} dollars",
        "check my account's balance and pay in the difference to {target} dollars",
        "see what is in my account, then top it up to exactly {target} dollars",
        target=target,
    )
    script.do("get_account_info")
    script.do("fund_account", amount=target - balance)
    return Request(words, None, ("get_account_info",))


def _show_payments(script: Script) -> Request | None:
    if not is_ready(script) or script.long:
        return None
    first, last = script.whole(1, 12), script.whole(14, 28)
    words = script.say(
        "show me all payments between 2025-02-{first:02d} and 2025-02-{last:02d}",
        "list what was paid in and out from 2025-02-{first:02d} to 2025-02-{last:02d}",
        "go through my payments from 2025-02-{first:02d} until 2025-02-{last:02d}",
        first=first,
        last=last,
    )
    script.do("get_transaction_history", start_date=f"2025-02-{first:02d}", end_date=f"2025-02-{last:02d}")
    return Request(words, None, ("get_transaction_history",))


def _is_logged_in(script: Script) -> Request | None:
    words = script.say(
        "check whether I am logged in to my trading account",
        "find out if my trading account has me logged in",
        "tell me whether I am signed in to the exchange",
    )
    script.do("trading_get_login_status")
    return Request(words, None, ("trading_get_login_status",))


def _ask_time(script: Script) -> Request | None:
    """One stock or another is watched, by the exchange's clock."""
    watched = script.state(OWNER).watch_list
    one, other = script.some([symbol for symbol in traded(script, 10) if symbol not in watched], 2)
    hour = script.whole(9, 12)
    words = script.say(
        "look at the exchange's clock: before {hour}:00 put {one} on my watch list, later than that {other}",
        "ask the exchange for the time; if it is before {hour}:00, watch {one}, otherwise {other}",
        "see what time it is at the exchange; {one} goes on my watch list if it is before {hour}:00, else {other}",
        hour=hour,
        one=one,
        other=other,
    )
    now = script.do("get_current_time")["current_time"]
    script.do("add_to_watchlist", stock=one if int(now[:2]) < hour else other)
    return Request(words, None, ("get_current_time",))


def _log_out(script: Script) -> Request | None:
    if not is_ready(script) or not script.turns:
        return None
    words = script.say(
        "log out of my trading account", "sign me out of the exchange", "end the session of my trading account"
    )
    script.do("trading_logout")
    return Request(words, None, ("trading_logout",))


# --- orders -----------------------------------------------------------------------------------------------------


def _order_at_market(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    (symbol,) = traded(script, 1)
    company = _SYMBOLS[symbol]
    amount = _affordable(script, script.state(OWNER).stocks[symbol]["price"])
    if amount is None:
        return None
    words = script.say(
        "look up the symbol and the price of {company} and buy {amount} shares at that price",
        "find out what a share of {company} costs now, by its symbol, and order {amount} of them at that price",
        "buy {amount} shares of {company} at the present price; look its symbol up first",
        company=company,
        amount=amount,
    )
    lacking = script.say("look up a company's symbol and price and buy {amount} shares at that price", amount=amount)
    supplied = script.tell("The company is {company}.", "I mean {company}.", company=company)
    known = company in script.told.get("symbols", {})
    symbol, price = priced_symbol(script, company)
    _place(script, "Buy", symbol, price, amount)
    return Request(words, None if known else (lacking, supplied), () if known else ("get_symbol_by_name",))


def _order_at_limit(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    (symbol,) = traded(script, 1)
    price = script.amount(8, 300, 0.05)
    order_type = script.pick(("Buy", "Sell"))
    amount = _affordable(script, price)
    if amount is None:
        return None
    words = script.say(
        "{act} {amount} shares of {symbol} at {price} dollars each",
        "place an order to {act} {amount} shares of {symbol}, {price} dollars a share",
        "I want to {act} {amount} {symbol} at a price of {price} dollars.",
        act=_TYPES[order_type],
        amount=amount,
        symbol=symbol,
        price=price,
    )
    lacking, supplied = _without_one(script, order_type, symbol, price, amount)
    _place(script, order_type, symbol, price, amount)
    return Request(words, (lacking, supplied), ("place_order",))


def _without_one(script: Script, order_type: str, symbol: str, price: float, amount: int) -> tuple[str, str]:
    """An order without its price or its number of shares, and what brings it."""
    act = _TYPES[order_type]
    if script.chance(0.5):
        return (
            script.say(
                "place an order to {act} shares of {symbol} at {price} dollars each",
                "{act} some shares of {symbol}, {price} dollars a share",
                act=act,
                symbol=symbol,
                price=price,
            ),
            script.tell("{amount} shares.", "I was thinking of {amount} shares.", amount=amount),
        )
    return (
        script.say(
            "place an order to {act} {amount} shares of {symbol} at a price that I set",
            "{act} {amount} shares of {symbol} at my own price",
            act=act,
            symbol=symbol,
            amount=amount,
        ),
        script.tell("{price} dollars each.", "My price is {price} dollars a share.", price=price),
    )


def _order_cheaper(script: Script) -> Request | None:
    """Of two stocks the cheaper, or the one that has moved more."""
    if not is_ready(script):
        return None
    one, other = traded(script, 2)
    stocks = script.state(OWNER).stocks
    key, which = script.pick((("price", "cheaper"), ("percent_change", "one with the lower change today")))
    if stocks[one][key] == stocks[other][key]:
        return None
    symbol = min(one, other, key=lambda name: stocks[name][key])
    amount = _affordable(script, stocks[symbol]["price"])
    if amount is None:
        return None
    words = script.say(
        "look at {one} and {other} and buy {amount} shares of the {which} at its price",
        "compare {one} with {other}, then order {amount} shares of the {which} at the price it has now",
        "get the figures of {one} and {other}; of the {which} I want {amount} shares at its present price",
        one=one,
        other=other,
        amount=amount,
        which=which if " " in which else f"{which} one",
    )
    script.do("get_stock_info", symbol=one)
    script.do("get_stock_info", symbol=other)
    _place(script, "Buy", symbol, stocks[symbol]["price"], amount)
    return Request(words, None, ("get_stock_info",))


def _show_newest(script: Script) -> Request | None:
    number = script.told.get(NEWEST_ORDER)
    if number is None or number == script.told.get(_SHOWN):
        return None
    words = script.say(
        "show me the details of that order",
        "give me all details of the order we just spoke of",
        "I would like to see that order in full.",
    )
    script.do("get_order_details", order_id=number)
    return Request(words)


def _cancel_newest(script: Script) -> Request | None:
    number = script.told.get(NEWEST_ORDER)
    if number is None or script.state(OWNER).orders[number]["status"] in ("Completed", "Cancelled"):
        return None
    words = script.say("cancel that order", "take that order back", "I have changed my mind: cancel that order.")
    script.do("cancel_order", order_id=number)
    del script.told[NEWEST_ORDER]
    return Request(words, None, ("cancel_order",))


def _cancel_last(script: Script) -> Request | None:
    """The last of all orders is looked at, and cancelled unless it is completed."""
    if not is_ready(script):
        return None
    orders = script.state(OWNER).orders
    number = list(orders)[-1]
    if orders[number]["status"] == "Cancelled":
        return None
    words = script.say(
        "get the list of my orders, look at the last one and cancel it unless it is completed",
        "go through my order history to the latest order; show me its details and cancel it if it is not completed",
        "list my orders and check the details of the newest; if it is not completed yet, cancel it",
    )
    script.do("get_order_history")
    script.do("get_order_details", order_id=number)
    script.told[NEWEST_ORDER] = script.told[_SHOWN] = number
    if orders[number]["status"] != "Completed":
        script.do("cancel_order", order_id=number)
    return Request(words, None, ("get_order_history",))


def _show_order(script: Script) -> Request | None:
    number = script.pick(list(script.state(OWNER).orders))
    words = script.say(
        "show me order {number}", "tell me the details of order {number}", "look order {number} up", number=number
    )
    lacking = script.say("show me the details of one of my orders", "look up an order of mine")
    supplied = script.tell("Its number is {number}.", "Order {number}.", number=number)
    script.do("get_order_details", order_id=number)
    script.told[NEWEST_ORDER] = script.told[_SHOWN] = number
    return Request(words, (lacking, supplied), ("get_order_details",))


# --- the market and the watch list ------------------------------------------------------------------------------


def _watch(script: Script) -> Request | None:
    symbols = [symbol for symbol in traded(script, 10) if symbol not in script.state(OWNER).watch_list]
    known = script.told.setdefault("symbols", {})
    symbol = script.pick(symbols)
    company = _SYMBOLS[symbol]
    if company in known:
        return None
    words = script.say(
        "look up the symbol of {company} and put the stock on my watch list",
        "find the symbol of {company}; I want it on my watch list",
        "add {company} to my watch list, you will have to look its symbol up",
        company=company,
    )
    lacking = script.say("look up a company's symbol and put its stock on my watch list")
    supplied = script.tell("The company is {company}.", "I mean {company}.", company=company)
    known[company] = script.do("get_symbol_by_name", name=company)["symbol"]
    script.do("add_to_watchlist", stock=symbol)
    return Request(words, (lacking, supplied), ("get_symbol_by_name",))


def _watch_symbol(script: Script) -> Request | None:
    symbols = [symbol for symbol in traded(script, 10) if symbol not in script.state(OWNER).watch_list]
    symbol = script.pick(symbols)
    words = script.say(
        "put {symbol} on my watch list", "add {symbol} to what I watch", "start watching {symbol}", symbol=symbol
    )
    lacking = script.say("put another stock on my watch list", "add a stock to what I watch")
    supplied = script.tell("I mean {symbol}.", "The symbol is {symbol}.", symbol=symbol)
    script.do("add_to_watchlist", stock=symbol)
    return Request(words, (lacking, supplied), ("add_to_watchlist",))


def _unwatch(script: Script) -> Request | None:
    """The first of the watch list goes; padded lists have no end that one could speak of."""
    watched = script.state(OWNER).watch_list
    if not is_ready(script) or len(watched) < 2:
        return None
    place, which = (0, "first") if script.long else script.pick(((0, "first"), (-1, "last")))
    words = script.say(
        "show me my watch list and take the {which} stock off it",
        "get my watch list, then remove the {which} one on it",
        "read my watch list to me; the {which} stock on it is to go",
        which=which,
    )
    script.do("get_watchlist")
    script.do("remove_stock_from_watchlist", symbol=watched[place])
    return Request(words, None, ("get_watchlist",))


def _sector(script: Script) -> Request | None:
    """Those of a sector whose price is in a range; the first of them is watched."""
    sectors = starter_tables().constants["trading_sectors"]
    sector = script.pick(list(sectors))
    market = script.state(OWNER)
    low, high = float(script.whole(2, 10) * 10), float(script.whole(14, 42) * 10)
    fitting = [s for s in sectors[sector] if low <= market.stocks.get(s, {}).get("price", 0) <= high]
    if script.long or not fitting or fitting[0] in market.watch_list:
        return None
    words = script.say(
        "list the stocks of the {sector} sector, narrow them down to prices from {low} to {high} dollars, and put the "
        "first of those on my watch list",
        "get all {sector} stocks, filter them for a price between {low} and {high} dollars and watch the first that is "
        "left",
        "Which {sector} stocks cost between {low} and {high} dollars? Get the sector's list, filter it, and add the "
        "first one that is left to my watch list.",
        sector=sector,
        low=low,
        high=high,
    )
    stocks = script.do("get_available_stocks", sector=sector)["stock_list"]
    script.do("filter_stocks_by_price", stocks=stocks, min_price=low, max_price=high)
    script.do("add_to_watchlist", stock=fitting[0])
    return Request(words)


def _movers(script: Script) -> Request | None:
    symbols = traded(script, script.whole(3, 4))
    threshold = float(script.whole(1, 5))
    words = script.say(
        "tell me which of {symbols} have moved by at least {threshold} per cent",
        "check {symbols} for a change of {threshold} per cent or more",
        "see whether any of {symbols} has gone up or down by {threshold} per cent or more",
        symbols=listed(symbols),
        threshold=threshold,
    )
    lacking = script.say(
        "check some stocks for a change of {threshold} per cent or more",
        "tell me which of my favourite stocks have moved by at least {threshold} per cent",
        threshold=threshold,
    )
    supplied = script.tell("I mean {symbols}.", "Take {symbols}.", symbols=listed(symbols))
    script.do("notify_price_change", stocks=symbols, threshold=threshold)
    return Request(words, (lacking, supplied))


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (8, _log_in),
    (3, _pay_in),
    (3, _pay_out),
    (2, _round_up),
    (1, _show_payments),
    (1, _is_logged_in),
    (1, _ask_time),
    (1, _log_out),
    (3, _order_at_market),
    (3, _order_at_limit),
    (4, _order_cheaper),
    (3, _cancel_last),
    (1, _show_order),
    (3, _watch),
    (2, _watch_symbol),
    (3, _unwatch),
    (3, _sector),
    (1, _movers),
)
"""What users ask for, and how often."""
FOLLOW_UPS: tuple[tuple[int, Writer], ...] = (
    (3, _show_newest),
    (3, _cancel_newest),
)
"""The same of what goes on from an earlier turn."""


# --- in the padding ---------------------------------------------------------------------------------------------


def _same_payment(script: Script) -> Request | None:
    """As much as a payment of a certain day among very many."""
    if not is_ready(script):
        return None
    payment = script.pick(starter_tables().long_context["TRANSACTION_HISTORY_EXTENSION"])
    pays_in = script.chance(0.5)
    words = script.say(
        "go through my whole payment history for the {kind} of {day}, and {act} the same amount",
        "look in the history of all my payments for what the {kind} on {day} came to, then {act} just as much",
        "find the {kind} of {day} in my complete payment history and {act} exactly that sum",
        kind=payment["type"],
        day=payment["timestamp"][:10],
        act="pay in" if pays_in else "withdraw",
    )
    script.do("get_transaction_history")
    script.do("fund_account" if pays_in else "withdraw_funds", amount=payment["amount"])
    script.searched = True
    return Request(words)


def _order_at_mean(script: Script) -> Request | None:
    """At one of very many mean prices."""
    if not is_ready(script):
        return None
    (symbol,) = traded(script, 1)
    days, place = script.pick((5, 20)), script.pick(("first", "second", "third", "last"))
    averages = starter_tables().long_context[f"MA_{days}_EXTENSION"]
    price = averages[{"first": 0, "second": 1, "third": 2, "last": -1}[place]]
    amount = _affordable(script, price)
    if amount is None:
        return None
    words = script.say(
        "look {symbol} up and buy {amount} shares at the {place} value in its list of {days}-day means",
        "get the figures of {symbol}; the {place} entry of its MA({days}) is my price for {amount} shares to buy",
        "take the {place} of all the MA({days}) values of {symbol} and order {amount} shares at that price",
        symbol=symbol,
        amount=amount,
        place=place,
        days=days,
    )
    script.do("get_stock_info", symbol=symbol)
    _place(script, "Buy", symbol, price, amount)
    script.searched = True
    return Request(words)


SEARCHES: tuple[tuple[int, Writer], ...] = ((3, _same_payment), (3, _order_at_mean))
"""What users ask for where the answer stands in the padding."""
