"""Sentences around the requests of the starter dialogues, and wishes that no tool can serve."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from callgym.envs.apibank.starter.live.forms import Slot

__all__ = [
    "AFTER_REFUSAL",
    "ANDS",
    "ASK_LOGIN",
    "CHATS",
    "CHAT_REPLIES",
    "DECLINES",
    "LOGINS",
    "NEXT",
    "OPENINGS",
    "PARTLY",
    "REQUIREMENTS",
    "SYSTEM",
    "TOKENS",
    "UNSERVED",
    "YEAR",
    "Wish",
]

YEAR = "The current year is 2023."
"""What a policy is told at level 3."""
SYSTEM = f"{YEAR} Where a tool requires something that the user has not said, give an empty text or an empty list."
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
song | tune my guitar for {song} | cut {song} into a wooden record
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
    "I need some help. Please {clause}.",
    "Would you be so kind and {clause}?",
    "Hey there, can you {clause}?",
)
"""Around a first clause."""

NEXT: Sequence[str] = (
    "Now please {clause}.",
    "Thanks. Could you also {clause}?",
    "Good. Next, please {clause}.",
    "Great, thank you. Then {clause}.",
    "One more thing: {clause}.",
    "Perfect. And can you also {clause}?",
)
"""Around a later clause."""

AFTER_REFUSAL: Sequence[str] = (
    "All right. Then please {clause}.",
    "Never mind. Could you {clause}?",
    "A pity. But please {clause}.",
    "I see. In that case, can you {clause}?",
)
"""Around a clause after something that could not be done."""

ANDS: Sequence[str] = (" and then ", ", and after that ", "; when that is done, ")
"""Between two clauses of one sentence."""

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
PARTLY: Sequence[str] = (
    "As for your last wish, none of my tools can do that.",
    "The last thing you asked for is beyond my tools, sorry.",
    "I have no tool for the rest, I am afraid.",
)
"""After what could be done."""


def _requirements(text: str) -> dict[str, tuple[tuple[Slot, ...], tuple[str, ...]]]:
    """A name with its slots (as in ``forms``), then a sentence a line; a deeper line goes on with the one before."""
    found: dict[str, tuple[tuple[Slot, ...], tuple[str, ...]]] = {}
    name = ""
    for line in re.sub(r"\n {6}", " ", text).strip().splitlines():
        if line.startswith("  "):
            slots, texts = found[name]
            found[name] = slots, (*texts, line.strip())
        else:
            name, *words = line.split()
            parts = (word.partition(":") for word in words)
            found[name] = tuple(Slot(tuple(names.split(",")), kind) for names, _, kind in parts), ()
    return found


REQUIREMENTS = _requirements(
    """
weather town:town
  What is the weather like in {town} right now?
  I am about to leave for {town}. How warm is it there, and what is the sky like?
  Please tell me the temperature and the humidity in {town}.
  My aunt lives in {town} and I wonder what weather she has today. Can you find out?
clothes town:town
  I am going out in {town}. What clothes should I put on in the weather they have now?
  Which clothes suit the present weather in {town}?
  Please recommend what to wear in {town}, going by the weather there.
  We land in {town} in an hour and have no idea how to dress. What do you suggest for the weather?
eating town:town distance:distance
  Where can one eat in {town} within {distance} metres of the centre?
  Please name restaurants in {town} that are no more than {distance} metres away.
  I have just arrived in {town} and I am hungry. Which restaurants are there within {distance} metres?
  Find us a place for dinner in {town}; we do not want to walk more than {distance} metres.
evening_out town:town distance:distance
  We spend the evening in {town}: how is the weather there, and which restaurants lie within {distance} metres?
  Tell me the weather in {town} and the restaurants up to {distance} metres away.
  For a trip to {town} I need two things, the present weather and places to eat within {distance} metres.
tax occupation:occupation
  How much is left of the yearly salary of the occupation {occupation} after tax?
  My sister begins to work as {occupation}. What will she take home in a year once the taxes are paid?
  Please find out what one earns in the occupation {occupation} and what remains of it after tax.
  I think of becoming {occupation}. What is the salary, and what does the tax office leave me?
two_salaries first:occupation second:occupation
  By how much does the salary in the occupation {first} exceed the one in the occupation {second}? Calculate the
      first minus the second.
  Subtract what one earns as {second} from what one earns as {first}, and give me the result.
  Take the yearly salary for {first} minus the yearly salary for {second}: how much is that?
two_after_tax first:occupation second:occupation
  Who has more in hand after tax, somebody working as {first} or somebody working as {second}? Give me both sums.
  I hesitate between the occupations {first} and {second}. What would I keep after tax in each of them?
  Compare the salaries after tax of {first} and {second}.
whereabouts firm:firm
  Where are the members of {firm} at the moment?
  I need to know of everyone in the organization {firm} whether they travel or work, and where.
  Please check the travel status of each member of {firm}.
  Who belongs to {firm}, and where is each of these people now?
meet_members firm:firm topic:topic start_time,end_time:span location:room
  Book a meeting on the {topic} {span} in the {location} with all members of {firm}, and tell me who they are.
  Everyone in {firm} shall come to the {location} {span}. The subject is {topic}. Book that meeting and name the
      people for me.
  Find out who the members of {firm} are and schedule the meeting {topic} with them, {span}, in the {location}.
remind person:person address:address content:errand
  Look up the meeting of {person} and send {address} an email reminder of it that says "{content}". When is it?
  {person} has a meeting. Remind {address} of it by email with the words "{content}" and tell me its time.
  Send a reminder of the meeting of {person} to {address}. The text is "{content}". I would like to know when and
      where it is, too.
remind_oneself person,password:person_login content:errand
  I am {person}, password {password}. Mail a reminder of my meeting to the address in my account; let it say
      "{content}". Which address is that?
  Send {person} a reminder of the meeting in the calendar, by email and with the text "{content}". The address is
      kept in the account, whose password is {password}. Tell me the address that you used.
  My name is {person} and my password is {password}. Find my meeting and my email address, and send the reminder
      "{content}" there. Please name the address.
new_meeting topic:topic start_time,end_time:span location:room attendees:people address:address content:errand
  Book a meeting on the {topic} {span} in the {location} with {attendees}, and send {address} an email reminder of
      it that says "{content}".
  {attendees} meet in the {location} {span}; the subject is {topic}. Please enter that meeting and remind
      {address} of it by email with the text "{content}".
moving_house person,password:person_login home:home
  I am {person} and my password is {password}. I have moved to {home}: put that address into my account, and then
      tell me which phone number is kept there.
  Change the address of {person} (password {password}) to {home}, then read me the phone number in the account.
  Please update my account, {person} with the password {password}: I live at {home} now. Which phone number do you
      have of me?
films person:person
  Which films would you recommend to {person}, going by what {person} likes?
  {person} is looking for a film tonight. Suggest some that fit the kinds of film this person prefers.
  Please find out what kinds of film {person} prefers and recommend films of these kinds.
new_films person:person
  Recommend films to {person} after that person's taste, but leave out those already watched.
  Which films that {person} has not watched yet fit the preferences of {person}?
  I want to give {person} a film. It should be of a preferred kind, and not one that {person} has watched.
likes user:user_number
  How many likes does each post of user {user} have?
  Please list the posts of the user with the number {user}, with the likes of each.
  I am user {user}. Tell me how well each of my posts is liked.
all_likes user:user_number
  Add up the likes of all posts of user {user} for me, in the order of the posts.
  How many likes do the posts of user {user} have in all? Please calculate the sum in the order of the posts.
  I am user {user} and want to know the sum of the likes of my posts, added up in their order.
trip source,destination:towns arrives,leaves:stay
  Does any hotel in {destination} have room from {arrives} to {leaves}, and when does the flight from {source} to
      {destination} on {arrives} depart?
  We want to stay in {destination} from {arrives} until {leaves}. Check that a hotel has room, and find the
      departure of the flight from {source} on {arrives}.
  Plan my trip from {source} to {destination}: a flight on {arrives} (tell me when it departs) and a hotel with
      room until {leaves}.
flight_and_weather source,destination:towns day:day
  When does the flight from {source} to {destination} on {day} land, and how is the weather in {destination} now?
  Find the arrival time of the flight from {source} to {destination} on {day}. Also tell me the present weather in
      {destination}.
  I fly from {source} to {destination} on {day}: at what time do I arrive, and what weather do they have there
      now?
"""
)
"""Level 3: name to the slots and the sentences of a requirement."""
