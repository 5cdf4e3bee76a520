"""MessageAPI: users of a workspace and the messages between them.

Behaviour and texts follow ``bfcl-eval`` 2026.3.23, faults included: nobody is kept as a message's sender.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.refusing import refusing
from callgym.envs.bfcl.simulators.storage import Storage
from callgym.json_value import copy_trusted

__all__ = ["MessageAPI"]


@refusing
class MessageAPI(Simulator):
    """The simulator."""

    compared = ("generated_ids", "user_count", "user_map", "inbox", "message_count", "current_user")

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        state = {**tables.constants["default_state"]["MessageAPI"], **config}
        seed = config.get("random_seed")
        self._seed: Any = tables.constants["message_default_seed"] if seed is None else seed
        self._random: random.Random | None = None  # costs more than all the rest, and few episodes need it
        self._storage = Storage()
        # A scenario's own list officially stays a list, to which no id can be added.
        self._takes_ids = "generated_ids" not in config
        self.generated_ids: list[int] = copy_trusted(state["generated_ids"])
        self.user_count: int = state["user_count"]
        self.user_map: dict[str, str] = copy_trusted(state["user_map"])
        self.inbox: list[dict[str, str]] = copy_trusted(state["inbox"])
        self.message_count: int = state["message_count"]
        self.current_user: str | None = state["current_user"]

    def public_state(self) -> dict[str, Any]:
        """All that is compared; ``generated_ids``, officially a set, in order."""
        ids = sorted(self.generated_ids) if self._takes_ids else self.generated_ids
        return {**super().public_state(), "generated_ids": ids}

    def list_users(self) -> dict[str, Any]:
        """The names of all users."""
        return {"user_list": list(self.user_map)}

    def get_user_id(self, user: str) -> dict[str, Any]:
        """A user's id."""
        if user not in self.user_map:
            return {"error": f"User '{user}' not found in the workspace."}
        return {"user_id": self.user_map[user]}

    def message_login(self, user_id: str) -> dict[str, Any]:
        """Log in as a user."""
        if user_id not in self.user_map.values():
            return {"login_status": False, "message": f"User ID '{user_id}' not found."}
        self.current_user = user_id
        return {"login_status": True, "message": f"User '{user_id}' logged in successfully."}

    def message_get_login_status(self) -> dict[str, Any]:
        """Whether somebody is logged in."""
        return {"login_status": bool(self.current_user)}

    def send_message(self, receiver_id: str, message: str) -> dict[str, Any]:
        """Send a text to a user."""
        if not self.current_user:
            return _not_logged_in()
        if receiver_id not in self.user_map.values():
            return {"error": f"Receiver ID '{receiver_id}' not found."}
        self._storage.take(message)
        new_id = self._new_id()
        self.inbox.append({receiver_id: message})
        self.message_count += 1
        return {
            "sent_status": True,
            "message_id": {"new_id": new_id},
            "message": f"Message sent to '{receiver_id}' successfully.",
        }

    def delete_message(self, receiver_id: str) -> dict[str, Any]:
        """Delete the last message to a user; of equal messages the first goes."""
        if not self.current_user:
            return _not_logged_in()
        for entry in reversed(self.inbox):
            receiver, _ = _first_of(entry)
            if receiver == receiver_id:
                self.inbox.remove(entry)
                return {
                    "deleted_status": True,
                    "receiver_id": receiver,
                    "message": f"Receiver {receiver_id}'s latest message deleted successfully.",
                }
        return {"error": f"Receiver ID {receiver_id} not found."}

    def view_messages_sent(self) -> dict[str, Any]:
        """All messages by receiver."""
        if not self.current_user:
            return _not_logged_in()
        sent: dict[str, list[str]] = {}
        for receiver, message in self._messages():
            sent.setdefault(receiver, []).append(message)
        return {"messages": sent}

    def add_contact(self, user_name: str) -> dict[str, Any]:
        """Add a user, whose id follows from how many there are."""
        if user_name in self.user_map:
            return {"error": f"User name '{user_name}' already exists."}
        self._storage.take(user_name)
        self.user_count += 1
        user_id = f"USR{str(self.user_count).zfill(3)}"
        if user_id in self.user_map.values():
            return {"error": f"User ID '{user_id}' already exists."}
        self.user_map[user_name] = user_id
        return {
            "added_status": True,
            "user_id": user_id,
            "message": f"Contact '{user_name}' added successfully.",
        }

    def search_messages(self, keyword: str) -> dict[str, Any]:
        """The messages that contain a text, whatever its case."""
        if not self.current_user:
            return _not_logged_in()
        wanted = keyword.lower()
        found = [(receiver, message) for receiver, message in self._messages() if wanted in message.lower()]
        return {"results": [{"receiver_id": receiver, "message": message} for receiver, message in found]}

    def get_message_stats(self) -> dict[str, Any]:
        """How many messages there are, and to how many receivers."""
        if not self.current_user:
            return _not_logged_in()
        receivers = [receiver for receiver, _ in self._messages()]
        return {"stats": {"received_count": len(receivers), "total_contacts": len(set(receivers))}}

    def _messages(self) -> Iterator[tuple[str, str]]:
        return map(_first_of, self.inbox)

    def _new_id(self) -> int:
        if self._random is None:
            self._random = random.Random(self._seed)
        new_id = self._random.randint(10000, 99999)
        while new_id in self.generated_ids:
            new_id = self._random.randint(10000, 99999)
        if not self._takes_ids:
            raise Refusal("'list' object has no attribute 'add'")
        self.generated_ids.append(new_id)
        return new_id


def _not_logged_in() -> dict[str, Any]:
    return {"error": "No user is currently logged in."}


def _first_of(entry: dict[str, str]) -> tuple[str, str]:
    """Receiver and text; a scenario's entry may hold more, which officially nobody sees."""
    items = list(entry.items())
    return items[0]  # an IndexError where there is none, as officially
