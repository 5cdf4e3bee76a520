"""Which tools look alike, and which could do each other's work: by the words of names and descriptions.

A tool could do another's work where it has its name or its parameters, or where both names speak of the same thing
and of the same kind of act: ``AddAlarm`` and ``calendar.set_alarm``, but neither ``DeleteAlarm`` nor ``AddMeeting``.
What one name speaks of may stand in the other's description.
Tools of one namespace were made to differ, so that ``geometry.cone_volume`` cannot do the work of
``geometry.cylinder_volume``; elsewhere, in doubt, it could.
"""

from __future__ import annotations

from functools import lru_cache

from callgym.envs.perturbations.words import listed, stem, words_in
from callgym.tool import Tool

__all__ = ["are_twins", "could_do", "likeness"]

_ACTS = {
    "make": """
        add append arrange assign book buy create draw generate insert log make new note open order place plan play post
        print publish put record register rent reserve save schedule send set start store submit take upload write
        """,
    "take": """
        cancel clear close delete destroy discard drop end erase forget lock off purge release remove return stop undo
        unfollow unset withdraw
        """,
    "change": """
        adjust alter change convert correct edit modify move patch rename replace reschedule resize rotate switch
        translate transform turn update
        """,
    "see": """
        availability browse calculate caption check compute count describe detect determine estimate fetch find get
        identify info information inspect list locate look lookup measure query rank read recognise recognition
        recommend recommendation retrieve say scan search see show status summarise tell track view
        """,
}
_ACT_OF = {word: act for act, words in _ACTS.items() for word in listed(words)}
_EMPTY = frozenset(
    listed(
        """
        a action all an and any api are as at be by can certain data detail details each for from function get given has
        have in info into is it its item list method name number of on one optional or result service set specific
        specified that the this time to tool type up user value what when where whether which who will with you your
        """
    )
)


_SAME = dict(
    pair.split("=")
    for pair in listed(
        """
        automobile=car cars=car mail=email mails=email message=text messages=text movie=film movies=film music=song
        photo=image picture=image pictures=image song=song songs=song track=song vehicle=car velocity=speed
        """
    )
)
"""Words for the same thing."""


def likeness(tool: Tool, other: Tool) -> float:
    """Share of the words that two tools have in common, names counting twice: 0 to 1."""
    names, others = _name_words(tool.name), _name_words(other.name)
    said, also = _said(tool), _said(other)
    union = 2 * len(names | others) + len(said | also)
    return (2 * len(names & others) + len(said & also)) / union if union else 0.0


def could_do(tool: Tool, right: Tool) -> bool:
    """Whether ``tool`` could do the work of ``right``; in doubt, yes."""
    if _plain(tool.name) == _plain(right.name):
        return True
    parameters = set(tool.properties)
    if parameters and parameters == set(right.properties):
        return True
    if not parameters and not right.properties and likeness(tool, right) > 0:
        return True
    things, right_things = _things(tool.name), _things(right.name)
    acts, right_acts = _acts(tool), _acts(right)
    if acts and right_acts and not acts & right_acts:
        return False
    if _namespace(tool.name) and _namespace(tool.name) == _namespace(right.name):
        own, right_own = _things(tool.name.rpartition(".")[2]), _things(right.name.rpartition(".")[2])
        return not (own - right_own and right_own - own)
    return bool(things & (right_things | _said(right)) or right_things & _said(tool))


def are_twins(tool: Tool, other: Tool) -> bool:
    """Whether two tools of one task do the same beyond doubt: the same act on the same thing, or with the same
    parameters. The benchmark saw to the rest: of the tools it offers one does what is asked."""
    if _plain(tool.name) == _plain(other.name):
        return True
    acts, others = _acts(tool), _acts(other)
    if acts != others or not acts:
        return False
    things, parameters = _things(tool.name), set(tool.properties)
    return bool(things and things == _things(other.name)) or bool(parameters and parameters == set(other.properties))


def _plain(name: str) -> str:
    """A name without its namespace, capitals and signs."""
    return "".join(words_in(name.rpartition(".")[2]))


def _namespace(name: str) -> str:
    return name.rpartition(".")[0]


@lru_cache(maxsize=8192)
def _name_words(name: str) -> frozenset[str]:
    return frozenset([stem(word) for word in words_in(name) if word not in _EMPTY])


@lru_cache(maxsize=8192)
def _things(name: str) -> frozenset[str]:
    """What a name speaks of: its words, but for acts and for what says nothing."""
    words = [_SAME.get(word, word) for word in words_in(name) if word not in _EMPTY and word not in _ACT_OF]
    return frozenset([stem(word) for word in words if not word.isdigit()])


def _acts(tool: Tool) -> frozenset[str]:
    """The kinds of act that a tool's name speaks of; where it speaks of none, those of its description's first word."""
    own = _acts_in(tool.name.rpartition(".")[2])
    return own or _acts_in(tool.description.lstrip()[:40].partition(" ")[0])


@lru_cache(maxsize=8192)
def _acts_in(text: str) -> frozenset[str]:
    return frozenset([_ACT_OF[word] for word in words_in(text) if word in _ACT_OF])


def _said(tool: Tool) -> frozenset[str]:
    return _description_words(tool.description[:400])


@lru_cache(maxsize=8192)
def _description_words(description: str) -> frozenset[str]:
    return frozenset([stem(_SAME.get(word, word)) for word in words_in(description) if word not in _EMPTY])
