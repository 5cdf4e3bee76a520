"""Starter worlds of MessageAPI: people, messages, and what users ask to be sent, found and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import GIVEN_NAMES, note

__all__ = ["FOLLOW_UPS", "REQUESTS", "is_ready", "make_config", "person", "send_to"]

OWNER = "MessageAPI"
_NEWEST = "receiver of the newest message"


def make_config(script: Script) -> Mapping[str, Any]:
    """Five to seven people and some messages, no two of them equal; most often somebody is logged in."""
    people = script.some_own(GIVEN_NAMES, script.whole(5, 7))
    ids = [f"USR{number:03d}" for number in sorted(script.rng.sample(range(100, 900), len(people)))]
    user_map = dict(zip(people, ids, strict=True))
    me = script.pick(ids)
    others = [user_id for user_id in ids if user_id != me]
    inbox = [{script.pick(others): text} for text in {note(script): None for _ in range(script.whole(2, 5))}]
    return {
        "random_seed": script.whole(1, 999_999),
        "user_count": int(ids[-1][3:]) + script.whole(1, 40),
        "user_map": user_map,
        "inbox": inbox,
        "message_count": len(inbox),
        "current_user": me if script.chance(0.8) else None,
    }


def is_ready(script: Script) -> bool:
    """Whether messages can be sent now."""
    return script.has(OWNER) and bool(script.state(OWNER).current_user)


def person(script: Script) -> str:
    """Somebody to write to: not the user."""
    users = script.state(OWNER)
    others: list[str] = [name for name, user_id in users.user_map.items() if user_id != users.current_user]
    return script.pick(others)


def send_to(script: Script, name: str, text: str) -> None:
    """Send a message to a person whose id is looked up where it was not told."""
    known = _known_ids(script)
    if name not in known:
        known[name] = script.do("get_user_id", user=name)["user_id"]
    _send_as(script, name, known[name], text)


def _send_as(script: Script, name: str, user_id: str, text: str) -> None:
    script.do("send_message", receiver_id=user_id, message=text)
    script.told[_NEWEST] = name, user_id


def _known_ids(script: Script) -> dict[str, str]:
    """Name to id of the people whose ids were told."""
    known: dict[str, str] = script.told.setdefault("user ids", {})
    return known


# --- requests ---------------------------------------------------------------------------------------------------


def _log_in(script: Script) -> Request | None:
    users = script.state(OWNER)
    if users.current_user:
        return None
    name = script.pick(list(users.user_map))
    user_id = users.user_map[name]
    by_name = script.chance(0.4)
    words = script.say(
        "log me in to the messages, I am {who}",
        "sign me in to the workspace's messages as {who}",
        "log in to the messages for me, {who}",
        who=name if by_name else user_id,
    )
    lacking = script.say("log me in to the messages", "sign me in to the workspace's messages")
    supplied = script.tell("I am {who}.", "That is {who}.", who=name if by_name else user_id)
    if by_name:
        script.do("get_user_id", user=name)
        _known_ids(script)[name] = user_id
    script.do("message_login", user_id=user_id)
    return Request(words, (lacking, supplied), ("get_user_id",) if by_name else ("message_login",))


def _send(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    name, text = person(script), note(script)
    words = script.say(
        'send {name} the message "{text}"',
        'write to {name}: "{text}"',
        'message {name} with exactly these words: "{text}"',
        name=name,
        text=text,
    )
    lacking = script.say('send the message "{text}"', 'I want the message "{text}" to be sent.', text=text)
    supplied = script.tell("It is for {name}.", "It goes to {name}.", "Send it to {name}.", name=name)
    withheld = ("send_message",) if name in _known_ids(script) else ("get_user_id",)
    send_to(script, name, text)
    return Request(words, (lacking, supplied), withheld)


def _send_by_id(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    users = script.state(OWNER)
    name, text = person(script), note(script)
    user_id = users.user_map[name]
    words = script.say(
        'send "{text}" to the user with the id {id}',
        'let {id} have this message: "{text}"',
        'write "{text}" to {id}',
        text=text,
        id=user_id,
    )
    lacking = script.say('send somebody of the workspace the message "{text}"', text=text)
    supplied = script.tell("To {id}, please.", "The receiver is {id}.", id=user_id)
    _send_as(script, user_id, user_id, text)
    return Request(words, (lacking, supplied), ("send_message",))


def _send_first(script: Script) -> Request | None:
    """To the first or last on the list of people."""
    if not is_ready(script):
        return None
    users = script.state(OWNER)
    place, which = script.pick(((0, "first"), (-1, "last")))
    name = list(users.user_map)[place]
    if users.user_map[name] == users.current_user or name in _known_ids(script):
        return None
    text = note(script)
    words = script.say(
        'list the people of the workspace and send "{text}" to the {which} of them',
        'see who is in the workspace, then write to the {which} person on the list: "{text}"',
        'get the list of all people there; whoever comes {which} is to get the message "{text}"',
        text=text,
        which=which,
    )
    script.do("list_users")
    send_to(script, name, text)
    return Request(words)


def _send_again(script: Script) -> Request | None:
    """The same words go to somebody else, or a second message to the same person."""
    if _NEWEST not in script.told or not is_ready(script):
        return None
    name, user_id = script.told[_NEWEST]
    text = note(script)
    words = script.say(
        'send {name} a second message: "{text}"',
        'let {name} know this as well: "{text}"',
        'write to {name} once more: "{text}"',
        name=name,
        text=text,
    )
    lacking = script.say("send {name} a second message", "write to {name} once more", name=name)
    supplied = script.tell('Say "{text}".', 'The text is "{text}".', text=text)
    _send_as(script, name, user_id, text)
    return Request(words, (lacking, supplied), ("send_message",))


def _take_back(script: Script) -> Request | None:
    if _NEWEST not in script.told or not is_ready(script):
        return None
    name, user_id = script.told.pop(_NEWEST)
    words = script.say(
        "delete the message that just went to {name}",
        "take back my latest message to {name}",
        "undo that last message to {name}, delete it",
        name=name,
    )
    script.do("delete_message", receiver_id=user_id)
    return Request(words, None, ("delete_message",))


def _add_contact(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    users = script.state(OWNER)
    name = script.own(GIVEN_NAMES)
    if name in users.user_map:
        return None
    text = note(script)
    words = script.say(
        'add {name} to the workspace and send the new contact the message "{text}"',
        'We have somebody new, {name}: add a contact and send it the message "{text}".',
        'make a new contact called {name}, and message that contact "{text}"',
        name=name,
        text=text,
    )
    lacking = script.say('add a new contact and send the message "{text}" to that person', text=text)
    supplied = script.tell("The new contact is {name}.", "The name is {name}.", name=name)
    user_id = script.do("add_contact", user_name=name)["user_id"]
    _known_ids(script)[name] = user_id
    send_to(script, name, text)
    return Request(words, (lacking, supplied), ("add_contact",))


def _pass_on(script: Script) -> Request | None:
    """A message is found by a word and sent on."""
    users = script.state(OWNER)
    if not is_ready(script):
        return None
    ((receiver, text),) = script.pick(users.inbox).items()
    keyword = max(text.split(), key=len).strip(".,?!")
    if sum(keyword.lower() in next(iter(entry.values())).lower() for entry in users.inbox) != 1:
        return None
    name = person(script)
    if users.user_map[name] == receiver:
        return None
    words = script.say(
        'search the messages for "{keyword}" and send the text that you find to {name}, too',
        'find the message with the word "{keyword}" and send the same words to {name}',
        'One message contains "{keyword}": search for it and let {name} have the same text.',
        keyword=keyword,
        name=name,
    )
    script.do("search_messages", keyword=keyword)
    send_to(script, name, text)
    return Request(words)


def _show_sent(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    words = script.say(
        "show me all messages that were sent, by receiver",
        "let me see everything that has been sent so far",
        "give me an overview of the messages sent to everybody",
    )
    script.do("view_messages_sent")
    return Request(words)


def _count(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    words = script.say(
        "tell me how many messages there are, and for how many people",
        "give me the figures: number of messages and of people who have some",
        "show me the statistics of the messages",
    )
    script.do("get_message_stats")
    return Request(words)


def _is_logged_in(script: Script) -> Request | None:
    words = script.say(
        "check whether somebody is logged in to the messages",
        "find out if I am logged in to the workspace's messages",
        "tell me whether anybody is signed in to the messages",
    )
    script.do("message_get_login_status")
    return Request(words, None, ("message_get_login_status",))


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (8, _log_in),
    (5, _send),
    (3, _send_by_id),
    (3, _send_first),
    (4, _add_contact),
    (3, _pass_on),
    (2, _show_sent),
    (1, _count),
    (1, _is_logged_in),
)
"""What users ask for, and how often."""
FOLLOW_UPS: tuple[tuple[int, Writer], ...] = (
    (3, _send_again),
    (3, _take_back),
)
"""The same of what goes on from an earlier turn."""
