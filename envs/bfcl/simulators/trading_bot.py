"""TradingBot: an account, orders, a watch list and a market that stands still.

Source: ``bfcl-eval`` 2026.3.23. Times of transactions are UTC (officially the machine's own zone).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.result_writer import ELLIPSIS
from callgym.envs.bfcl.simulators.scenario import DAY, TIME, Scenario, derived, entry, read_time
from callgym.envs.bfcl.simulators.storage import Storage

__all__ = ["TradingBot"]

_SECONDS_OF_A_DAY = 86_400


class TradingBot(Simulator):
    """One user's account."""

    compared = (
        "orders",
        "account_info",
        "authenticated",
        "market_status",
        "order_counter",
        "stocks",
        "watch_list",
        "transaction_history",
        "long_context",
    )

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        scenario = Scenario("TradingBot", config, tables)
        self._tables = tables
        self._seed = scenario.seed
        self._storage = Storage()
        self.orders: dict[Any, Any] = {_as_id(key): order for key, order in scenario.take("orders").items()}
        self.account_info: dict[str, Any] = scenario.take("account_info")
        self.authenticated: bool = scenario.values["authenticated"]
        self.market_status: str = scenario.values["market_status"]
        self.order_counter: int = scenario.values["order_counter"]
        self.stocks: dict[str, Any] = scenario.values["stocks"]  # nothing changes them
        self.watch_list: list[str] = scenario.take("watch_list")
        self.transaction_history: list[dict[str, Any]] = scenario.take("transaction_history")
        self.long_context = long_context

    @cached_property
    def _random(self) -> random.Random:
        return random.Random(self._seed)

    def _padding(self, name: str) -> Any:
        return self._tables.long_context[name]

    # The market.

    def get_current_time(self) -> dict[str, str]:
        """The time of day, which never changes."""
        now = self._now()
        return {"current_time": f"{now.hour % 12 or 12:02d}:{now.minute:02d} {'AM' if now.hour < 12 else 'PM'}"}

    def _now(self) -> datetime:
        return datetime.fromisoformat(self._tables.constants["trading_current_time"])

    def get_symbol_by_name(self, name: str) -> dict[str, str]:
        """A company's symbol."""
        return {"symbol": self._tables.constants["trading_symbol_by_name"].get(name, "Stock not found")}

    def get_stock_info(self, symbol: str) -> dict[str, Any]:
        """What is known of a stock."""
        if symbol not in self.stocks:
            return {"error": f"Stock with symbol '{symbol}' not found."}
        stock: dict[str, Any] = self.stocks[symbol]
        if self.long_context:
            averages = {"MA(5)": self._padding("MA_5_EXTENSION"), "MA(20)": self._padding("MA_20_EXTENSION")}
            return stock.copy() | averages
        return stock

    def get_available_stocks(self, sector: str) -> dict[str, list[str]]:
        """The symbols of a sector."""
        stocks = list(self._tables.constants["trading_sectors"].get(sector, ()))
        padding = {"Technology": "TECHNOLOGY_EXTENSION", "Automobile": "AUTOMOBILE_EXTENSION"}.get(sector)
        if self.long_context and padding is not None:
            stocks += self._padding(padding)
        return {"stock_list": stocks}

    def filter_stocks_by_price(self, stocks: list[str], min_price: float, max_price: float) -> dict[str, list[str]]:
        """Those of some stocks whose price lies between two; what is not traded costs nothing."""
        prices = ((symbol, self.stocks.get(symbol, {}).get("price", 0)) for symbol in stocks)
        return {"filtered_stocks": [symbol for symbol, price in prices if price >= min_price and price <= max_price]}

    def notify_price_change(self, stocks: list[str], threshold: float) -> dict[str, str]:
        """Which of some stocks have moved by a percentage or more."""
        changed = [
            symbol
            for symbol in stocks
            if symbol in self.stocks and abs(entry(self.stocks[symbol], "percent_change")) >= threshold
        ]
        if not changed:
            return {"notification": "No significant price changes in the selected stocks."}
        return {"notification": f"Stocks {', '.join(changed)} have significant price changes."}

    # Orders.

    def get_order_details(self, order_id: int) -> dict[str, Any]:
        """An order."""
        if order_id not in self.orders:
            known = str(list(self.orders))
            return {"error": f"Order with ID {order_id} not found.Here is the list of orders_id: {known}"}
        order: dict[str, Any] = self.orders[order_id]
        if not self.long_context:
            return order
        order = order.copy()
        symbol = entry(order, "symbol")
        templates = self._padding("ORDER_DETAIL_EXTENSION")
        try:
            return order | {"metadata": {key: form.format(symbol=symbol) for key, form in templates.items()}}
        except KeyError as error:
            return {"error": f"KeyError during formatting: {error}"}

    def cancel_order(self, order_id: int) -> dict[str, Any]:
        """Cancel an order that is not completed."""
        if order_id not in self.orders:
            return {"error": f"Order with ID {order_id} not found."}
        order = self.orders[order_id]
        if entry(order, "status") == "Completed":
            return {"error": f"Can't cancel order {order_id}. Order is already completed."}
        order["status"] = "Cancelled"
        return {"order_id": order_id, "status": "Cancelled"}

    def place_order(self, order_type: str, symbol: str, price: float, amount: int) -> dict[str, Any]:
        """Place an order; it is open from then on, though the answer calls it pending, and no money moves."""
        if not self.authenticated:
            return {"error": "User not authenticated. Please log in to place an order."}
        if symbol not in self.stocks:
            return {"error": f"Invalid stock symbol: {symbol}"}
        if price <= 0 or amount <= 0:
            return {"error": "Price and amount must be positive values."}
        if order_type.lower() == "buy":
            cost, balance = float(price) * int(amount), self.account_info.get("balance", 0)
            if cost > balance:
                funds = f"required ${cost:.2f} but only ${balance:.2f} available."
                return {"error": f"Insufficient funds: {funds}"}
        price = float(price)
        self._storage.take(order_type, amount)
        order_id = self.order_counter
        order = {"id": order_id, "order_type": order_type, "symbol": symbol, "price": price, "amount": amount}
        self.orders[order_id] = {**order, "status": "Open"}
        self.order_counter += 1
        return {
            "order_id": order_id,
            "order_type": order_type,
            "status": "Pending",
            "price": price,
            "amount": amount,
        }

    def get_order_history(self) -> dict[str, list[Any]] | list[dict[str, str]]:
        """The ids of all orders."""
        if not self.authenticated:
            return [{"error": "User not authenticated. Please log in to view order history."}]
        return {"history": list(self.orders)}

    # The account.

    def trading_login(self, username: str, password: str) -> dict[str, str]:
        """Log in; any name and password will do."""
        if self.authenticated:
            return {"status": "Already logged in"}
        self.authenticated = True
        return {"status": "Logged in successfully"}

    def trading_get_login_status(self) -> dict[str, bool]:
        """Whether somebody is logged in."""
        return {"status": bool(self.authenticated)}

    def trading_logout(self) -> dict[str, str]:
        """Log out."""
        if not self.authenticated:
            return {"status": "No user is currently logged in"}
        self.authenticated = False
        return {"status": "Logged out successfully"}

    def get_account_info(self) -> dict[str, Any]:
        """Number, balance and card of the account."""
        if not self.authenticated:
            return {"error": "User not authenticated. Please log in to view account information."}
        return self.account_info

    def fund_account(self, amount: float) -> dict[str, Any]:
        """Pay in."""
        if not self.authenticated:
            return {"error": "User not authenticated. Please log in to fund the account."}
        if amount <= 0:
            return {"error": "Funding amount must be positive."}
        entry(self.account_info, "balance")
        self._storage.take(amount)
        self.account_info["balance"] += amount
        return self._booked("deposit", amount, "Account funded successfully")

    def withdraw_funds(self, amount: float) -> dict[str, Any]:
        """Pay out; the market must be open."""
        if not self.authenticated:
            return {"error": "User not authenticated. Please log in to make a transaction."}
        if self.market_status != "Open":
            return {"error": "Market is closed. Transactions are not allowed."}
        if amount <= 0:
            return {"error": "Transaction amount must be positive."}
        if amount > entry(self.account_info, "balance"):
            return {"error": "Insufficient funds for withdrawal."}
        self._storage.take(amount)
        self.account_info["balance"] -= amount
        return self._booked("withdrawal", amount, "Withdrawal successful")

    def _booked(self, kind: str, amount: float, status: str) -> dict[str, Any]:
        # Within a day from now, to the second. Officially drawn as a Unix time; the draw depends on the width alone.
        time = self._now() + timedelta(seconds=self._random.randint(0, _SECONDS_OF_A_DAY))
        self.transaction_history.append({"type": kind, "amount": amount, "timestamp": str(time)})
        return {"status": status, "new_balance": self.account_info["balance"]}

    def get_transaction_history(
        self, start_date: str | None = None, end_date: str | None = None
    ) -> dict[str, list[Any]] | list[dict[str, str]]:
        """Payments between two dates."""
        if not self.authenticated:
            return [{"error": "User not authenticated. Please log in to view transaction history."}]
        try:
            start = read_time(start_date, DAY) if start_date else datetime.min
            end = read_time(end_date, DAY) if end_date else datetime.max
            history = [
                transaction
                for transaction in self.transaction_history
                if start <= read_time(entry(transaction, "timestamp"), TIME) <= end
            ]
        except ValueError as error:
            raise Refusal(str(error)) from None
        if self.long_context:
            history += self._padding("TRANSACTION_HISTORY_EXTENSION")
        return {"transaction_history": history}

    # The watch list.

    def get_watchlist(self) -> Any:
        """The watch list; padded, it is a bare list that ends in Python's Ellipsis, as officially."""
        if not self.authenticated:
            return ["Error: User not authenticated. Please log in to view the watchlist."]
        if self.long_context:
            return self.watch_list + derived(self._padding("WATCH_LIST_EXTENSION"), _with_ellipsis)
        return {"watchlist": self.watch_list}

    def add_to_watchlist(self, stock: str) -> dict[str, list[str]]:
        """Watch a stock; what is not traded is passed over in silence."""
        if stock not in self.watch_list and stock in self.stocks:
            self.watch_list.append(stock)
        return {"watchlist": self.watch_list}

    def remove_stock_from_watchlist(self, symbol: str) -> dict[str, str]:
        """No longer watch a stock."""
        if not self.authenticated:
            return {"error": "User not authenticated. Please log in to modify the watchlist."}
        if symbol not in self.watch_list:
            return {"error": f"Stock {symbol} not found in watchlist."}
        self.watch_list.remove(symbol)
        return {"status": f"Stock {symbol} removed from watchlist successfully."}


def _as_id(key: Any) -> Any:
    return int(key) if isinstance(key, str) and key.isdecimal() else key


def _with_ellipsis(symbols: list[str]) -> list[Any]:
    return [... if symbol == ELLIPSIS else symbol for symbol in symbols]
