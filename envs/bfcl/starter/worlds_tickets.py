"""Starter worlds of TicketAPI: a queue of tickets, and what users ask to be opened, changed and closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import GIVEN_NAMES, note, subject

__all__ = ["FOLLOW_UPS", "NEWEST_TICKET", "REQUESTS", "is_ready", "make_config", "open_ticket"]

OWNER = "TicketAPI"
_STATUSES = ("Open", "Open", "Open", "Resolved", "Closed")
NEWEST_TICKET = "newest ticket"
_RESOLUTIONS = (
    "replaced the {thing}", "the {thing} works again", "it was only the {thing}", "ordered another {thing}",
    "cleaned the {thing} and tested it twice",
)  # fmt: skip
_PARTS = (
    "fuse", "hinge", "cable", "battery", "lamp", "valve", "password", "printer tray", "door closer", "sensor",
    "antenna", "keypad",
)  # fmt: skip


def make_config(script: Script) -> Mapping[str, Any]:
    """A queue with three to five tickets of the user and some of others; most often the user is logged in."""
    me, other = script.some_own(GIVEN_NAMES, 2)
    first = script.whole(100, 900)
    subjects = list({subject(script): None for _ in range(script.whole(5, 7))})
    queue = [
        {
            "id": first + number,
            "title": title,
            "description": note(script),
            "status": script.pick(_STATUSES),
            "priority": script.whole(1, 4),
            "created_by": other if number in (1, 4) else me,
        }
        for number, title in enumerate(subjects)
    ]
    script.facts["ticket user"] = me
    return {
        "ticket_queue": queue,
        "ticket_counter": first + len(subjects),
        "current_user": me if script.chance(0.8) else None,
    }


def is_ready(script: Script) -> bool:
    """Whether somebody is logged in."""
    return script.has(OWNER) and bool(script.state(OWNER).current_user)


def open_ticket(script: Script, **fields: Any) -> None:
    """Open a ticket that later turns can speak of."""
    script.told[NEWEST_TICKET] = script.do("create_ticket", **fields)["id"]


def _own_tickets(script: Script, *statuses: str) -> list[dict[str, Any]]:
    queue = script.state(OWNER)
    return [t for t in queue.ticket_queue if t["created_by"] == queue.current_user and t["status"] in statuses]


def _ticket(script: Script, number: int) -> dict[str, Any]:
    return next(ticket for ticket in script.state(OWNER).ticket_queue if ticket["id"] == number)


# --- requests ---------------------------------------------------------------------------------------------------


def _log_in(script: Script) -> Request | None:
    if script.state(OWNER).current_user or script.config[OWNER]["current_user"]:
        return None
    name, password = script.facts["ticket user"], f"{script.pick(_PARTS).split()[0]}{script.whole(100, 999)}"
    words = script.say(
        'log in to the tickets as "{name}" with the password "{password}"',
        'sign me in to the ticket queue: user "{name}", password "{password}"',
        'open the ticket queue for "{name}", whose password is "{password}"',
        name=name,
        password=password,
    )
    lacking = script.say('log in to the tickets as "{name}"', 'open the ticket queue for "{name}"', name=name)
    supplied = script.tell('The password is "{password}".', 'Use "{password}" as the password.', password=password)
    script.do("ticket_login", username=name, password=password)
    return Request(words, (lacking, supplied), ("ticket_login",))


def _open(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    title, text, priority = subject(script), note(script), script.whole(2, 5)
    words = script.say(
        'open a ticket titled "{title}" with the description "{text}" and priority {priority}',
        'create a ticket of priority {priority}: the title is "{title}", the description "{text}"',
        'put a ticket into the queue, title "{title}", description "{text}", priority {priority}',
        title=title,
        text=text,
        priority=priority,
    )
    lacking = script.say(
        'open a ticket of priority {priority} with the description "{text}"', text=text, priority=priority
    )
    supplied = script.tell('The title is "{title}".', 'Title it "{title}".', title=title)
    open_ticket(script, title=title, description=text, priority=priority)
    return Request(words, (lacking, supplied), ("create_ticket",))


def _open_short(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    title, priority = subject(script), script.whole(2, 5)
    words = script.say(
        'open a ticket of priority {priority} titled "{title}"; it needs no description',
        'create a ticket "{title}" with priority {priority} and without any description',
        'I need a ticket "{title}", priority {priority}, no description.',
        title=title,
        priority=priority,
    )
    lacking = script.say(
        "open a ticket of priority {priority} without a description",
        "create a ticket with priority {priority}; it needs no description",
        priority=priority,
    )
    supplied = script.tell('The title is "{title}".', 'Call it "{title}".', title=title)
    open_ticket(script, title=title, priority=priority)
    return Request(words, (lacking, supplied), ("create_ticket",))


def _show(script: Script) -> Request | None:
    number = script.pick(script.state(OWNER).ticket_queue)["id"]
    words = script.say(
        "show me ticket {number}",
        "look up the ticket with the number {number}",
        "tell me all about ticket {number}",
        number=number,
    )
    lacking = script.say("look up a ticket for me", "show me one of the tickets in the queue")
    supplied = script.tell("Its number is {number}.", "Number {number}, please.", number=number)
    script.do("get_ticket", ticket_id=number)
    script.told[NEWEST_TICKET] = number
    return Request(words, (lacking, supplied))


def _resolve_newest(script: Script) -> Request | None:
    number = script.told.get(NEWEST_TICKET)
    if number is None or _ticket(script, number)["status"] != "Open":
        return None
    return _resolution(script, number, "that ticket")


def _resolve(script: Script) -> Request | None:
    open_ones = [ticket["id"] for ticket in script.state(OWNER).ticket_queue if ticket["status"] == "Open"]
    if not open_ones:
        return None
    number = script.pick(open_ones)
    return _resolution(script, number, f"ticket {number}")


def _resolution(script: Script, number: int, named: str) -> Request:
    text = script.pick(_RESOLUTIONS).format(thing=script.pick(_PARTS))
    words = script.say(
        'mark {named} as resolved with the resolution "{text}"',
        'resolve {named}; the resolution is "{text}"',
        'set {named} to resolved and give "{text}" as the resolution',
        named=named,
        text=text,
    )
    lacking = script.say("mark {named} as resolved", "resolve {named}", named=named)
    supplied = script.tell('Give "{text}" as the resolution.', 'The resolution should be "{text}".', text=text)
    script.do("resolve_ticket", ticket_id=number, resolution=text)
    script.told[NEWEST_TICKET] = number
    return Request(words, (lacking, supplied), ("resolve_ticket",))


def _raise_newest(script: Script) -> Request | None:
    number = script.told.get(NEWEST_TICKET)
    if number is None:
        return None
    priority = script.pick([p for p in range(1, 6) if p != _ticket(script, number)["priority"]])
    words = script.say(
        "change the priority of that ticket to {priority}",
        "give that ticket the priority {priority}",
        "set the priority of that ticket to {priority}",
        priority=priority,
    )
    lacking = script.say("change the priority of that ticket", "give that ticket another priority")
    supplied = script.tell("Make it {priority}.", "It should be {priority}.", priority=priority)
    script.do("edit_ticket", ticket_id=number, updates={"priority": priority})
    return Request(words, (lacking, supplied), ("edit_ticket",))


def _retitle(script: Script) -> Request | None:
    ticket = script.pick(script.state(OWNER).ticket_queue)
    title = subject(script)
    if title == ticket["title"]:
        return None
    words = script.say(
        'change the title of ticket {number} to "{title}"',
        'give ticket {number} the title "{title}"',
        'Ticket {number} should be titled "{title}" from now on.',
        number=ticket["id"],
        title=title,
    )
    lacking = script.say('give one of the tickets the title "{title}"', title=title)
    supplied = script.tell("I mean ticket {number}.", "It is ticket {number}.", number=ticket["id"])
    script.do("edit_ticket", ticket_id=ticket["id"], updates={"title": title})
    script.told[NEWEST_TICKET] = ticket["id"]
    return Request(words, (lacking, supplied), ("edit_ticket",))


def _close_newest(script: Script) -> Request | None:
    number = script.told.get(NEWEST_TICKET)
    if number is None or _ticket(script, number)["status"] == "Closed":
        return None
    words = script.say("close that ticket", "close that ticket, it is settled", "That ticket can be closed.")
    script.do("close_ticket", ticket_id=number)
    del script.told[NEWEST_TICKET]
    return Request(words, None, ("close_ticket", "edit_ticket"))


def _close_named(script: Script) -> Request | None:
    """One of the user's open tickets, which are listed first."""
    if not is_ready(script):
        return None
    own = _own_tickets(script, "Open")
    if len(own) < 2:
        return None
    ticket = script.pick(own)
    words = script.say(
        'list my open tickets and close the one titled "{title}"',
        'show me those of my tickets that are open, then close "{title}"',
        'look through my open tickets; the one called "{title}" can be closed',
        title=ticket["title"],
    )
    script.do("get_user_tickets", status="Open")
    script.do("close_ticket", ticket_id=ticket["id"])
    script.told[NEWEST_TICKET] = ticket["id"]
    return Request(words, None, ("get_user_tickets",))


def _raise_least(script: Script) -> Request | None:
    """The least urgent of the user's tickets becomes urgent."""
    if not is_ready(script):
        return None
    own = _own_tickets(script, "Open", "Closed", "Resolved")
    least = min((ticket["priority"] for ticket in own), default=5)
    lowest = [ticket for ticket in own if ticket["priority"] == least]
    if len(own) < 2 or len(lowest) != 1:
        return None
    priority = script.whole(least + 1, 5)
    words = script.say(
        "list all my tickets and set the one with the lowest priority to {priority}",
        "get all my tickets, whatever their status, and give the least urgent one the priority {priority}",
        "look at all tickets of mine and raise the one with the lowest priority to {priority}",
        priority=priority,
    )
    script.do("get_user_tickets")
    script.do("edit_ticket", ticket_id=lowest[0]["id"], updates={"priority": priority})
    script.told[NEWEST_TICKET] = lowest[0]["id"]
    return Request(words, None, ("get_user_tickets",))


def _is_logged_in(script: Script) -> Request | None:
    words = script.say(
        "check whether somebody is logged in to the tickets",
        "find out if the ticket queue has anybody logged in",
        "tell me whether I am signed in to the tickets",
    )
    script.do("ticket_get_login_status")
    return Request(words, None, ("ticket_get_login_status",))


def _log_out(script: Script) -> Request | None:
    if not is_ready(script) or not script.turns:
        return None
    words = script.say(
        "log me out of the tickets", "sign me out of the ticket queue", "end my session in the ticket queue"
    )
    script.do("logout")
    return Request(words, None, ("logout",))


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (8, _log_in),
    (4, _open),
    (3, _open_short),
    (2, _show),
    (3, _resolve),
    (2, _retitle),
    (4, _close_named),
    (3, _raise_least),
    (1, _is_logged_in),
    (1, _log_out),
)
"""What users ask for, and how often."""
FOLLOW_UPS: tuple[tuple[int, Writer], ...] = (
    (3, _resolve_newest),
    (3, _raise_newest),
    (3, _close_newest),
)
"""The same of what goes on from an earlier turn."""
