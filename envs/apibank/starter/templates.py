"""The sentences of the starter tasks, as data: what users ask, what assistants say, for each tool.

A clause is an imperative without its capital and its full stop; ``OPENINGS`` make sentences of it. A
placeholder is the name of an argument; ``slots`` says which kind of value fills it (``worlds.SLOTS``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "ASK_LOGIN",
    "CHAINS",
    "CHATS",
    "CHAT_REPLIES",
    "DECLINES",
    "DONE",
    "FORMS",
    "FOUND",
    "JOINTS",
    "LOGINS",
    "NEAR",
    "NEXT",
    "OPENINGS",
    "TOKENS",
    "UNSERVED",
    "Chain",
    "Forms",
    "Unserved",
]


@dataclass(frozen=True)
class Forms:
    """How a user asks for one tool."""

    slots: dict[str, str]
    """Argument name to the kind of value that is said for it."""
    clauses: tuple[str, ...]
    """Requests that name every argument."""
    vague: tuple[str, ...] = ()
    """Requests that name none."""
    ask: tuple[str, ...] = ()
    """The assistant's question after a vague request."""
    answers: tuple[str, ...] = ()
    """The user's answers, which name every argument."""


@dataclass(frozen=True)
class Chain:
    """Two tools, the second of which works on what the first one answered."""

    first: str
    second: str
    links: dict[str, str]
    """The second tool's argument to the field of the first one's answer."""
    clauses: tuple[str, ...]
    """How the second is asked for, after the first."""


@dataclass(frozen=True)
class Unserved:
    """A wish that no tool can serve."""

    clauses: tuple[str, ...]
    keywords: str
    """What an assistant would search for."""
    slots: dict[str, str] = field(default_factory=dict)


FORMS: dict[str, Forms] = {
    "SetAlarm": Forms(
        {"time": "time"},
        ("set an alarm for {time}", "let an alarm ring on {time}", "put a new alarm on {time}"),
        ("set an alarm", "put on an alarm"),
        ("For when?", "When should it ring?"),
        ("For {time}.", "It should ring on {time}."),
    ),
    "CancelAlarm": Forms(
        {"time": "time"},
        ("cancel my alarm on {time}", "drop the alarm of {time}", "stop the alarm that rings on {time}"),
        ("cancel one of my alarms", "drop an alarm of mine"),
        ("Which alarm?", "When does it ring?"),
        ("The one on {time}.", "That of {time}."),
    ),
    "SaveReminder": Forms(
        {"text": "errand", "time": "time"},
        (
            "remind me on {time} to {text}",
            "save a reminder to {text} on {time}",
            "keep a note that I must {text} on {time}",
        ),
        ("save a reminder", "remind me of something"),
        ("Of what, and when?", "What should I note, and for when?"),
        ("To {text}, on {time}.", "On {time} I have to {text}."),
    ),
    "PlanMeeting": Forms(
        {"title": "title", "start": "time", "minutes": "minutes", "people": "people"},
        (
            "plan a {title} meeting with {people} on {start} for {minutes} minutes",
            "call {people} to a {title} meeting of {minutes} minutes on {start}",
            "arrange {minutes} minutes of {title} with {people} on {start}",
        ),
        ("plan a meeting", "arrange a meeting"),
        ("Which topic, when, how long, and who comes?",),
        (
            "{title} on {start}, {minutes} minutes, with {people}.",
            "With {people}: {title}, {start}, {minutes} minutes.",
        ),
    ),
    "MoveMeeting": Forms(
        {"title": "title", "start": "time"},
        (
            "move the {title} meeting to {start}",
            "shift my {title} meeting to {start}",
            "let the meeting on {title} begin on {start} instead",
        ),
        ("move a meeting", "shift one of my meetings"),
        ("Which one, and to when?",),
        ("The {title} one, to {start}.", "{title}, and it begins on {start}."),
    ),
    "ReadBalance": Forms(
        {},
        ("tell me my balance", "check how much money I have", "read my account balance"),
    ),
    "SendMoney": Forms(
        {"to": "name", "amount": "amount"},
        ("send {amount} to {to}", "pay {to} the sum of {amount}", "transfer {amount} to {to}"),
        ("send some money", "pay a friend"),
        ("How much, and to whom?",),
        ("{amount} to {to}.", "{to} gets {amount}."),
    ),
    "ChangePassword": Forms(
        {"new_password": "password"},
        (
            "change my password to {new_password}",
            "make {new_password} my password from now on",
            "replace my password by {new_password}",
        ),
        ("change my password", "give me another password"),
        ("What should it become?",),
        ("{new_password}, please.", "I want {new_password}."),
    ),
    "OrderMeal": Forms(
        {"dish": "dish", "portions": "few"},
        (
            "order {portions} portions of {dish}",
            "get me {dish}, {portions} portions",
            "have {portions} plates of {dish} brought",
        ),
        ("order a meal", "get me something to eat"),
        ("Which dish, and how many portions?",),
        ("{dish}, {portions} portions.", "{portions} portions of {dish}."),
    ),
    "BookRoom": Forms(
        {"hotel": "hotel", "check_in": "date", "nights": "few", "breakfast": "breakfast"},
        (
            "book a room at {hotel} from {check_in} for {nights} nights {breakfast}",
            "take {nights} nights at {hotel} {breakfast}, from {check_in}",
            "get me into {hotel} on {check_in}, {nights} nights {breakfast}",
        ),
        ("book a room", "get me a room"),
        ("Where, from when, how many nights, and is breakfast wanted?",),
        (
            "{hotel}, {check_in}, {nights} nights {breakfast}.",
            "{nights} nights {breakfast}, {hotel}, {check_in}.",
        ),
    ),
    "RentBike": Forms(
        {"station": "street", "hours": "few", "helmet": "helmet"},
        (
            "rent a bike {helmet} at {station} for {hours} hours",
            "get me a bike at {station}, {hours} hours {helmet}",
            "hire a bike for {hours} hours {helmet} from {station}",
        ),
        ("rent a bike", "get me a bike"),
        ("At which station, how long, and with a helmet or not?",),
        ("{station}, {hours} hours {helmet}.", "For {hours} hours {helmet}, at {station}."),
    ),
    "BorrowBook": Forms(
        {"book_id": "book_id", "days": "days"},
        (
            "borrow the book {book_id} for {days} days",
            "lend me book {book_id}, {days} days",
            "take out {book_id} for {days} days from the library",
        ),
        ("borrow a book", "lend me a book"),
        ("Which id, and for how long?",),
        ("{book_id}, {days} days.", "It is {book_id}, for {days} days."),
    ),
    "GetWeather": Forms(
        {"city": "city", "date": "date"},
        (
            "check the weather in {city} on {date}",
            "tell me what the weather does in {city} on {date}",
            "look whether it rains in {city} on {date}",
        ),
        ("check the weather", "tell me the weather"),
        ("Where, and on which day?",),
        ("In {city}, on {date}.", "{date}, {city}."),
    ),
    "TrackParcel": Forms(
        {"code": "parcel"},
        ("track the parcel {code}", "see where parcel {code} is", "follow my package {code}"),
        ("track a parcel", "see where my parcel is"),
        ("What is its code?", "Which code does it have?"),
        ("It is {code}.", "The code is {code}."),
    ),
    "FindSong": Forms(
        {"title": "song"},
        ("find the song {title}", "search for the track {title}", "look for a song called {title}"),
        ("find a song", "look for a song"),
        ("Which title?", "What is it called?"),
        ("{title}.", "It is called {title}."),
    ),
    "StartSong": Forms(
        {"track_id": "track", "volume": "volume"},
        (
            "play track {track_id} at volume {volume}",
            "start {track_id} with volume {volume}",
            "let me hear {track_id} at {volume} percent",
        ),
        ("play a track", "put some music on"),
        ("Which track, and how loud?",),
        ("{track_id} at volume {volume}.", "Volume {volume}, track {track_id}."),
    ),
    "ConvertMoney": Forms(
        {"amount": "amount", "source": "currency", "target": "currency"},
        (
            "convert {amount} {source} to {target}",
            "change {amount} {source} into {target}",
            "work out what {amount} {source} is in {target}",
        ),
        ("convert some money", "change some money"),
        ("How much, from what, to what?",),
        ("{amount} {source} to {target}.", "From {source} into {target}, {amount}."),
    ),
    "FindHotel": Forms(
        {"city": "city", "max_price": "price"},
        (
            "find a hotel in {city} below {max_price}",
            "look for a place to stay in {city} for at most {max_price}",
            "search {city} for a hotel under {max_price}",
        ),
        ("find a hotel", "look for a hotel"),
        ("In which city, and up to what price?",),
        ("{city}, below {max_price}.", "At most {max_price}, in {city}."),
    ),
    "LookUpContact": Forms(
        {"name": "person"},
        ("look up the phone of {name}", "find the number of {name}", "get me the phone number of {name}"),
        ("look up a phone number", "find a contact"),
        ("Whose number?", "Of whom?"),
        ("That of {name}.", "{name}, please."),
    ),
    "SendText": Forms(
        {"phone": "phone", "text": "news"},
        ("text {phone} that {text}", 'send {phone} the words "{text}"', "write to {phone}: {text}"),
        ("send a text", "text someone"),
        ("To which phone, and what?",),
        ("To {phone}: {text}.", 'Write "{text}" to {phone}.'),
    ),
    "SwitchLamp": Forms(
        {"lamp": "lamp", "on": "on"},
        ("switch the {lamp} {on}", "turn {on} the {lamp}", "put the {lamp} {on}"),
        ("switch a lamp", "see to a lamp"),
        ("Which one, and on or off?",),
        ("The {lamp}, {on}.", "I want the {lamp} {on}."),
    ),
    "SetHeating": Forms(
        {"room": "room", "degrees": "degrees"},
        (
            "heat the {room} to {degrees} degrees",
            "set the heating in the {room} to {degrees}",
            "make it {degrees} degrees in the {room}",
        ),
        ("set the heating", "change the heating"),
        ("In which room, and how warm?",),
        ("{degrees} in the {room}.", "The {room}, {degrees} degrees."),
    ),
    "FindTrain": Forms(
        {"origin": "city", "target": "city", "date": "date"},
        (
            "find a train from {origin} to {target} on {date}",
            "look for a train on {date} from {origin} to {target}",
            "see how I get by rail from {origin} to {target} on {date}",
        ),
        ("find a train", "look for a train"),
        ("From where, to where, and when?",),
        ("{origin} to {target}, {date}.", "On {date}, from {origin} to {target}."),
    ),
    "ReserveSeat": Forms(
        {"train": "train", "seats": "few"},
        (
            "reserve {seats} seats on {train}",
            "keep {seats} places on the train {train}",
            "get us {seats} seats in {train}",
        ),
        ("reserve seats", "keep some seats on a train"),
        ("On which train, and how many?",),
        ("{train}, {seats} seats.", "{seats} on {train}."),
    ),
    "FindBook": Forms(
        {"title": "book"},
        ("find the book {title}", "look for a book named {title}", "see whether the library has {title}"),
        ("find a book", "look for a book"),
        ("Which title?", "How is it named?"),
        ("{title}.", "It is named {title}."),
    ),
    "SplitBill": Forms(
        {"amount": "amount", "people": "people"},
        (
            "split a bill of {amount} between {people}",
            "share {amount} fairly among {people}",
            "divide the {amount} of our bill among {people}",
        ),
        ("split a bill", "share a bill"),
        ("How much, and who pays?",),
        ("{amount}, for {people}.", "{people} share {amount}."),
    ),
}
"""Tool name to how users ask for it."""

CHAINS: tuple[Chain, ...] = (
    Chain(
        "FindSong",
        "StartSong",
        {"track_id": "track_id"},
        ("play it at volume {volume}", "start it with volume {volume}"),
    ),
    Chain(
        "FindHotel",
        "BookRoom",
        {"hotel": "hotel"},
        (
            "book {nights} nights there {breakfast} from {check_in}",
            "take a room in it on {check_in} for {nights} nights {breakfast}",
        ),
    ),
    Chain("LookUpContact", "SendText", {"phone": "phone"}, ("text them that {text}", 'write "{text}" to them')),
    Chain(
        "FindTrain",
        "ReserveSeat",
        {"train": "train"},
        ("reserve {seats} seats on it", "keep {seats} places on that train"),
    ),
    Chain(
        "FindBook",
        "BorrowBook",
        {"book_id": "book_id"},
        ("borrow it for {days} days", "take it out for {days} days"),
    ),
    Chain("ConvertMoney", "SendMoney", {"amount": "result"}, ("send that sum to {to}", "pay {to} this amount")),
)
"""Pairs of tools that hand a value on."""

UNSERVED: tuple[Unserved, ...] = (
    Unserved(("paint the {room} yellow", "give the {room} a coat of paint"), "paint walls", {"room": "room"}),
    Unserved(("bake {dish} in my oven", "cook {dish} while I rest"), "cook dinner", {"dish": "dish"}),
    Unserved(("write a poem about {city}", "make up a rhyme on {city}"), "write poem", {"city": "city"}),
    Unserved(("draw a picture of {dish}", "sketch {dish} in ink"), "draw picture", {"dish": "dish"}),
    Unserved(("put the song {song} into Latin", "translate {song} line by line"), "translate", {"song": "song"}),
    Unserved(
        ("sell my old bike near {street}", "find a buyer for my bike at {street}"),
        "sell",
        {"street": "street"},
    ),
    Unserved(
        ("get me a flight to {city} on {date}", "fly me to {city} on {date}"),
        "book flight",
        {"city": "city", "date": "date"},
    ),
    Unserved(("walk my dog along {street}", "feed the cat in {street}"), "pet care", {"street": "street"}),
    Unserved(("repair the {lamp} by hand", "clean the {lamp} with a cloth"), "repair lamp", {"lamp": "lamp"}),
    Unserved(("retell the book {book} briefly", "sum up {book} in a line"), "sum up book", {"book": "book"}),
    Unserved(("drive {person} to the doctor", "pick {person} up by car"), "drive car", {"person": "person"}),
    Unserved(("show me the traffic in {city}", "list the road works in {city}"), "traffic report", {"city": "city"}),
    Unserved(("teach {name} to swim", "coach {name} in chess"), "teach lesson", {"name": "name"}),
    Unserved(("buy shares worth {amount}", "put {amount} into gold"), "buy shares", {"amount": "amount"}),
)
"""Wishes beyond all tools."""

CHATS: tuple[tuple[str, dict[str, str]], ...] = (
    ("What do you think of {city}?", {"city": "city"}),
    ("I just came home from {city}, it was lovely.", {"city": "city"}),
    ("Do you like {dish}?", {"dish": "dish"}),
    ("We had {dish} last night and loved it.", {"dish": "dish"}),
    ("My friend {name} says hello to you.", {"name": "name"}),
    ("Is {song} not a beautiful song?", {"song": "song"}),
    ("I am reading {book} and enjoy it.", {"book": "book"}),
    ("Would you rather live in {city} or by the sea?", {"city": "city"}),
    ("{person} told me a good joke today.", {"person": "person"}),
    ("How are you today? I am sitting in the {room}.", {"room": "room"}),
)
"""Small talk and opinions, which need no tool: sentence and slots."""

# In the next one, a request for the first tool could be served after a fashion by the second.
NEAR: frozenset[tuple[str, str]] = frozenset(
    {
        ("SetAlarm", "SaveReminder"),
        ("SaveReminder", "SetAlarm"),
        ("SaveReminder", "PlanMeeting"),
        ("PlanMeeting", "SaveReminder"),
        ("MoveMeeting", "PlanMeeting"),
    }
)
"""(asked, documented): pairs of tools too close to say that nothing fits."""

OPENINGS: tuple[str, ...] = (
    "Please {clause}.",
    "Could you {clause}?",
    "Can you {clause}?",
    "I want you to {clause}.",
    "Hi, please {clause}.",
    "Hello! Would you {clause}?",
)
"""Sentences around a first clause."""

NEXT: tuple[str, ...] = (
    "Now {clause}.",
    "Then {clause}, please.",
    "Next, {clause}.",
    "Good. Please {clause} too.",
    "Thanks. Could you also {clause}?",
)
"""Sentences around a later clause."""

JOINTS: tuple[tuple[str, str], ...] = (
    (", then ", " and then "),
    (", ", " and "),
    ("; ", "; after that "),
)
"""How the clauses of one requirement are joined: between, and before the last."""

LOGINS: tuple[str, ...] = (
    "My user name is {username} and my password is {password}.",
    "I am {username}, password {password}.",
    "User {username}, password {password}.",
    "Log in as {username} with {password}.",
)
"""How users give their credentials."""

TOKENS: tuple[str, ...] = ("My token is {token}.", "Use token {token}.", "Here is my token: {token}.")
"""How users give a token they have."""

ASK_LOGIN: tuple[str, ...] = (
    "Sure. Who are you, and what is your password?",
    "I need your user name and password.",
    "Please give me your login first.",
    "May I have user name and password?",
)
"""How assistants ask for credentials."""

DONE: tuple[str, ...] = (
    "Done.",
    "That is done. What else?",
    "All set.",
    "It worked. Is there more?",
    "Settled.",
)
"""What assistants say after an act."""

FOUND: tuple[str, ...] = (
    "Here it is.",
    "I have it. What else?",
    "Found it.",
    "There you are. Is there more?",
)
"""What assistants say after an answer."""

DECLINES: tuple[str, ...] = (
    "Sorry, none of my tools can do that.",
    "I have no tool for that, sorry.",
    "That is beyond my tools.",
    "No tool that I have fits this request.",
)
"""Reference replies where no tool fits."""

CHAT_REPLIES: tuple[str, ...] = (
    "That is nice, and it needs no tool.",
    "I have no tool for opinions, but thank you.",
    "Good to hear; no tool is needed for that.",
)
"""Reference replies to small talk."""
