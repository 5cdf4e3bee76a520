"""The words that the starter worlds are made of: names, and short texts put together from them.

Texts that a user quotes hold no double quotes and no brackets, so that where they end is clear, and so that the
official rewriting of call texts leaves them alone.
"""

from __future__ import annotations

from callgym.envs.bfcl.starter.worlds_script import Script

__all__ = ["GIVEN_NAMES", "HANDLES", "THINGS", "listed", "note", "post", "quoted", "subject", "word_for", "word_list"]


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


GIVEN_NAMES = word_list(
    """
    Anselm Birgit Corin Delphine Eamon Freya Gideon Hanneke Ismael Jorun Kasimir Leocadia Magnus Nerys Otis
    Petronella Quill Rosamund Severin Tove Ulf Verena Wystan Xenia Yorick Zelda Alaric Bettina Cyprian Dagny
    Emeric Fabienne Gaspard Hildur Ingram Josefa Kjell Liesel Mungo Nadezda Osvald Philippa Raimund Sunniva
    Thelonius Undine Vidkun Wilhelmina
    """
)
HANDLES = word_list(
    """
    salt_and_slate tin_rooster marrow_lane quiet_ferry north_orchard paper_heron brass_owl moss_and_mortar
    ten_lanterns slow_pedal river_ledger copper_finch dune_walker ink_harbour lofty_kettle velvet_anvil
    cedar_post humble_astrolabe second_bakery foggy_atlas amber_trowel borrowed_boat plum_signal white_gantry
    winter_chapel twelve_oars spare_compass linen_and_lime garden_telegraph misty_quay stone_whistle
    rye_and_rain
    """
)
"""Names of accounts for posts."""
THINGS = (
    "rehearsal", "harvest supper", "boat trip", "choir practice", "stock count", "site visit", "book swap",
    "chess evening", "kiln opening", "seed exchange", "roof repair", "market stall", "night walk", "spring concert",
    "map workshop", "cider pressing", "repair meeting", "lantern parade", "trial shift", "archive tour", "bread course",
    "fitting session", "garden watering", "film night",
)  # fmt: skip
"""What people meet for."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLACES = (
    "the old mill", "the boathouse", "gate B", "the upper hall", "the reading room", "the east yard", "platform 2",
    "the greenhouse", "the tower", "the pump house", "the back office", "the orchard",
)  # fmt: skip
_GOODS = (
    "folding chairs", "blue crates", "spare keys", "paper cups", "extension cords", "rain covers", "paint brushes",
    "name tags", "wool blankets", "torches", "jam jars", "posters",
)  # fmt: skip
_NOTES = (
    "The {thing} moves to {day} at {time}.",
    "Bring {count} {goods} to {place} before {time}.",
    "We meet for the {thing} at {place} on {day}.",
    "I will be {minutes} minutes late for the {thing}.",
    "{count} {goods} are still missing for the {thing}.",
    "No {thing} on {day}, see you at {time} the day after.",
    "Can you look after the {goods} at {place} on {day}?",
)
_POSTS = (
    "The {thing} was worth every one of those {minutes} minutes!",
    "{count} people at {place} for the {thing}, what a {day}",
    "Lost: {count} {goods} near {place}. Found: a good mood.",
    "Who joins the {thing} on {day} at {time}?",
    "Note to self: never carry {count} {goods} up to {place} again",
    "{day} plan: {place}, {time}, and nothing but the {thing}",
)
_SUBJECTS = (
    "{goods} missing at {place}", "{thing} booked twice", "wrong time for the {thing}", "no light at {place}",
    "{count} broken {goods}", "{thing} cannot be moved", "door of {place} stuck",
)  # fmt: skip
_WORDS = {"l": "lines", "w": "words", "c": "characters"}


def _filled(script: Script, templates: tuple[str, ...]) -> str:
    return script.pick(templates).format(
        thing=script.own(THINGS),
        day=script.pick(_DAYS),
        time=f"{script.whole(8, 21):02d}:{script.pick(('00', '15', '30', '45'))}",
        place=script.pick(_PLACES),
        goods=script.pick(_GOODS),
        count=script.whole(3, 60),
        minutes=script.whole(5, 55),
    )


def note(script: Script) -> str:
    """A short message."""
    return _filled(script, _NOTES)


def post(script: Script) -> str:
    """A short public post."""
    return _filled(script, _POSTS)


def subject(script: Script) -> str:
    """What a ticket is about, in a few words."""
    text = _filled(script, _SUBJECTS)
    return text[0].upper() + text[1:]


def listed(texts: list[str], last: str = "and") -> str:
    """``a, b and c``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def quoted(texts: list[str]) -> str:
    """``"a", "b" and "c"``."""
    return listed([f'"{text}"' for text in texts])


def word_for(mode: str) -> str:
    """What ``wc`` counts in a mode."""
    return _WORDS[mode]
