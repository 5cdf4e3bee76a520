"""TicketAPI: a queue of support tickets.

Behaviour and texts follow ``bfcl-eval`` 2026.3.23, faults included: whoever is logged in may change every ticket,
and so may nobody. Where ``edit_ticket`` names several unknown fields, the official order is that of a set of texts,
another one in every process; here they are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.refusing import refusing
from callgym.envs.bfcl.simulators.storage import Storage
from callgym.json_value import copy_trusted

__all__ = ["TicketAPI"]

_FIELDS = frozenset(("title", "description", "status", "priority"))
_MOST_FIELDS = 1_000


@refusing
class TicketAPI(Simulator):
    """The simulator."""

    compared = ("ticket_queue", "ticket_counter", "current_user")

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        state = {**tables.constants["default_state"]["TicketAPI"], **config}
        self._storage = Storage()
        self.ticket_queue: list[dict[str, Any]] = copy_trusted(state["ticket_queue"])
        self.ticket_counter: int = state["ticket_counter"]
        self.current_user: str | None = state["current_user"]

    def create_ticket(self, title: str, description: str = "", priority: int = 1) -> dict[str, Any]:
        """Put a ticket into the queue."""
        if not self.current_user:
            return {"error": "User not authenticated. Please log in to create a ticket."}
        if priority < 1 or priority > 5:
            return {"error": "Invalid priority. Priority must be between 1 and 5."}
        self._storage.take(title, description)
        ticket = {
            "id": self.ticket_counter,
            "title": title,
            "description": description,
            "status": "Open",
            "priority": priority,
            "created_by": self.current_user,
        }
        self.ticket_queue.append(ticket)
        self.ticket_counter += 1
        return ticket

    def get_ticket(self, ticket_id: int) -> dict[str, Any]:
        """A ticket."""
        return self._ticket(ticket_id) or _unknown(ticket_id)

    def close_ticket(self, ticket_id: int) -> dict[str, Any]:
        """Close a ticket."""
        ticket = self._ticket(ticket_id)
        if not ticket:
            return _unknown(ticket_id)
        if ticket["status"] == "Closed":
            return {"error": f"Ticket with ID {ticket_id} is already closed."}
        ticket["status"] = "Closed"
        return {"status": f"Ticket {ticket_id} has been closed successfully."}

    def resolve_ticket(self, ticket_id: int, resolution: str) -> dict[str, Any]:
        """Resolve a ticket and say how."""
        ticket = self._ticket(ticket_id)
        if not ticket:
            return _unknown(ticket_id)
        if ticket["status"] == "Resolved":
            return {"error": f"Ticket with ID {ticket_id} is already resolved."}
        self._storage.take(resolution)
        ticket["status"] = "Resolved"
        ticket["resolution"] = resolution
        return {"status": f"Ticket {ticket_id} has been resolved successfully."}

    def edit_ticket(self, ticket_id: int, updates: dict[str, str | int | None]) -> dict[str, Any]:
        """Give fields of a ticket other values; None leaves a field as it is."""
        ticket = self._ticket(ticket_id)
        if not ticket:
            return _unknown(ticket_id)
        fields = updates.keys()
        if len(fields) > _MOST_FIELDS:
            raise Refusal("There are too many fields to update.")
        unknown = sorted(fields - _FIELDS, key=str)
        if unknown:
            return {"error": f"Invalid fields for update: {', '.join(unknown)}"}
        self._storage.take(updates)
        ticket.update({field: value for field, value in updates.items() if value is not None})
        return {"status": f"Ticket {ticket_id} has been updated successfully."}

    def ticket_login(self, username: str, password: str) -> dict[str, Any]:
        """Log in with any name and password."""
        if not (username and password):
            return {"success": False}
        self._storage.take(username)
        self.current_user = username
        return {"success": True}

    def ticket_get_login_status(self) -> dict[str, Any]:
        """Whether somebody is logged in."""
        return {"login_status": bool(self.current_user)}

    def logout(self) -> dict[str, Any]:
        """Log out; false where nobody is logged in."""
        was_logged_in = bool(self.current_user)
        if was_logged_in:
            self.current_user = None
        return {"success": was_logged_in}

    def get_user_tickets(self, status: str | None = None) -> list[dict[str, Any]]:
        """The tickets of whoever is logged in, those of one status where one is given."""
        if not self.current_user:
            return [{"error": "User not authenticated. Please log in to view tickets."}]
        own = [ticket for ticket in self.ticket_queue if ticket["created_by"] == self.current_user]
        return [ticket for ticket in own if ticket["status"].lower() == status.lower()] if status else own

    def _ticket(self, ticket_id: int) -> dict[str, Any] | None:
        return next((ticket for ticket in self.ticket_queue if ticket["id"] == ticket_id), None)


def _unknown(ticket_id: int) -> dict[str, Any]:
    return {"error": f"Ticket with ID {ticket_id} not found."}
