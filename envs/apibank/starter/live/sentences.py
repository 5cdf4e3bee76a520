"""Sentences around the requests of the starter dialogues, and wishes that no tool can serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callgym.envs.apibank.starter.live.forms import Slot

__all__ = [
    "ANDS",
    "ASK_LOGIN",
    "CHATS",
    "CHAT_REPLIES",
    "DECLINES",
    "LOGINS",
    "NEXT",
    "OPENINGS",
    "SYSTEM",
    "TOKENS",
    "UNSERVED",
    "Wish",
]

SYSTEM = (
    "The current year is 2023. Where a tool requires something that the user has not said, give an empty text or an "
    "empty list."
)
"""What a policy is told at levels 1 and 2."""


@dataclass(frozen=True)
class Wish:
    """What no tool can do."""

    clauses: tuple[str, ...]
    slots: tuple[Slot, ...]


def _wishes(text: str) -> tuple[Wish, ...]:
    """``kind kind | clause | clause`` a line; a placeholder is called as its kind."""
    found = []
    for line in text.strip().splitlines():
        kinds, *clauses = (part.strip() for part in line.split("|"))
        found.append(Wish(tuple(clauses), tuple(Slot((kind,), kind) for kind in kinds.split())))
    return tuple(found)


UNSERVED = _wishes(
    """
home_room | paint the walls of the {home_room} yellow | hang new wallpaper in the {home_room}
dish | cook {dish} for tonight | have {dish} ready on the table at seven
street | walk my dog along {street} | take the dog for a walk to {street}
street name | drive {name} to {street} by car | pick {name} up at {street} with your car
device | repair the {device} with your own hands | take the {device} apart and clean it
city | knit me a scarf with the skyline of {city} | sew the flag of {city} for our window
name | teach {name} how to swim | hold the ladder for {name}
street | sweep the snow off {street} | carry the old sofa down to {street}
book | bring me the printed book {book} to my bed | bind my torn copy of {book} in leather
home_room | scrub the floor of the {home_room} | move the wardrobe into the {home_room}
dish | taste {dish} and tell me whether it needs salt | feed {dish} to my little brother
city | post this paper letter to {city} at the counter | run the marathon of {city} in my place
name | give {name} a haircut | shake hands with {name} for me
device street | carry the {device} to the dump in {street} | swap my {device} for another one at {street}
song | sing {song} with me on stage | dance with me to {song}
"""
)
CHATS = _wishes(
    """
city | Have you ever been to {city}? I liked it a lot.
dish | We had {dish} last night, it was lovely.
name | My friend {name} says hello to you.
book | I am halfway through {book} and cannot put it down.
song | I have had {song} in my head since breakfast.
home_room | I am sitting in the {home_room} and feel quite content today.
city | Would you rather live in {city} or on an island?
name | {name} told me such a good joke today, I am still laughing.
"""
)
"""Small talk, which asks for no tool."""

CHAT_REPLIES: Sequence[str] = (
    "That is nice to hear. Tell me if there is something I can look up or do for you.",
    "How lovely. I am here if you need one of my tools.",
    "Good to know! No tool is needed for that, but I am glad you told me.",
)
DECLINES: Sequence[str] = (
    "Sorry, none of my tools can do that.",
    "I am afraid I have no tool for that.",
    "I cannot help with this one: no tool I have can do it.",
    "That is beyond what my tools can do, sorry.",
)

OPENINGS: Sequence[str] = (
    "Please {clause}.",
    "Could you {clause}?",
    "Can you {clause}?",
    "Hi, please {clause}.",
    "Hello! Would you {clause}?",
    "I would like you to {clause}.",
    "Good morning. Could you {clause}?",
    "I need some help: {clause}, please.",
    "Would you be so kind and {clause}?",
    "Hey there, can you {clause} for me?",
)
"""Around a first clause."""

NEXT: Sequence[str] = (
    "Now {clause}, please.",
    "Thanks. Could you also {clause}?",
    "Good. Next, please {clause}.",
    "Great, thank you. Then {clause}.",
    "One more thing: {clause}.",
    "Perfect. And can you {clause} as well?",
)
"""Around a later clause."""

ANDS: Sequence[tuple[str, str]] = ((", ", " and then "), ("; ", "; after that, "), (", then ", ", and finally "))
"""How several clauses are joined: between, and before the last."""

LOGINS: Sequence[str] = (
    "My username is {username} and my password is {password}.",
    "I am {username}, and the password is {password}.",
    "You can log in as {username} with {password}.",
    "Username {username}, password {password}.",
)
TOKENS: Sequence[str] = (
    "My token is {token}.",
    "I have a token already: {token}.",
    "Use the access token {token} for it.",
)
ASK_LOGIN: Sequence[str] = (
    "Gladly. What are your username and password?",
    "For that I have to log you in first. May I have your username and your password?",
    "I need your username and password to do this.",
)
