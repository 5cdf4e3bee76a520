"""The kind of a reply without a call: does it ask back, decline, or answer?

    reply_kind("I can't look up trains. Sorry!").kinds                  # ("decline",)
    reply_kind("Which city are you in?").kinds                          # ("ask",)
    reply_kind("I can't do that. It is 5. Which city?").kinds           # ("ask", "decline", "answer")
    names_parameter("Which city are you in?", "city_name")              # True

A reply is read sentence by sentence (``reply_sentences``): a question or a request is *ask*; a sentence in which the
speaker or the tools cannot is *decline*; apologies, greetings, offers, advice, plans and reasons go with anything;
whatever else is stated is *answer*. A reply that holds several kinds has several, so a text that tries everything
is none of them. The same text is of the same kind in every task, hence no constant reply is right in two.

Of When2Call's 1,200 reference answers (calls told by their notation) ``best`` is right for 1,190; the ten others are
direct answers that first say what cannot be done, or ask for proof. The rules were made with these answers in sight:
of 291 replies written without, nine in ten were read as meant. Other languages are known by a few phrases each and by
a question mark; what no rule knows is an answer.

Time is linear in the reply's length. What is longer than ``LONGEST_REPLY`` is an answer unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from callgym.rewards.reply_sentences import sentences_of
from callgym.tool import Tool

__all__ = ["LONGEST_REPLY", "Kind", "ReplyKind", "asked_nouns", "asked_parameters", "names_parameter", "reply_kind"]

Kind = Literal["ask", "decline", "answer"]

LONGEST_REPLY = 4_000
"""Characters; nobody asks back or declines at more length."""


class ReplyKind(NamedTuple):
    """What a reply without a call does."""

    kinds: tuple[Kind, ...]
    """All kinds that it carries marks of, in the order ask, decline, answer; empty for silence."""
    best: Kind | None
    """The one to name where there may be but one (declining goes before asking, asking before answering); None for
    silence."""


def reply_kind(text: str) -> ReplyKind:
    """The kinds of a reply; see the module's docstring. Never raises."""
    if len(text) > LONGEST_REPLY:
        return ReplyKind(("answer",), "answer")
    roles = {role for sentence in sentences_of(text) for role in sentence.roles}
    if not roles:
        return ReplyKind((), None)
    states = "state" in roles
    declines = "decline" in roles or ("unless" in roles and "ask" not in roles)
    asks = "ask" in roles or ("offer" in roles and not (declines or states or "soft" in roles))
    found: list[tuple[Kind, bool]] = [
        ("ask", asks),
        ("decline", declines),
        ("answer", states or not (asks or declines)),
    ]
    kinds = tuple(kind for kind, there in found if there)
    return ReplyKind(kinds, "decline" if declines else kinds[0])


# What is asked for.


def names_parameter(text: str, parameter: str, description: str = "", values: Iterable[object] = ()) -> bool:
    """Whether a question back names a parameter.

    It does with the parameter's name as it is written, with the words of the name or the last of them, with the
    noun that the description begins with ("The city where ..."), or with two of the values that can be chosen.
    Words are compared without plural endings, and a few dozen of them as what they stand for: "how many" is a
    number, "where" a place, "keyword" a query. The words are English; in other languages only a name or a value
    that is quoted as it is counts.

    Args:
        text: The reply; what stands in its questions and requests is looked at, or all of it where it has none.
        parameter: The parameter's name.
        description: What its schema says of it.
        values: What its schema lists as allowed.
    """
    asked = _asked_text(text)
    if parameter.lower() in set(_IDENTIFIER.findall(asked)):
        return True
    heard = _heard(asked)
    if _is_named(_parts(parameter, _meant), heard) or any(head in heard for head in _heads(description)):
        return True
    listed = {str(value).lower().replace("_", " ") for value in values if isinstance(value, str) and value}
    plain = f" {' '.join(_WORD.findall(asked))} "
    return sum(f" {' '.join(_WORD.findall(value))} " in plain for value in listed) > 1


def asked_parameters(text: str, tool: Tool, said: str = "") -> tuple[str, ...]:
    """The parameters of a tool that a question back asks for in so many words: no synonyms, no descriptions.

    The last word of a name is enough where no other parameter ends with it.

    Args:
        text: The reply, read as by ``names_parameter``.
        tool: The tool.
        said: What the user has said; a parameter that is spoken of there is not asked for.
    """
    asked = _spoken_of(_asked_text(text), tool)
    known = _spoken_of(said.lower(), tool) if asked else ()
    return tuple(name for name in asked if name not in known)


def asked_nouns(text: str, besides: Iterable[str] = ()) -> frozenset[str]:
    """The nouns among what a question back asks for that would fit the parameters of any tool: date, name, city, ...

    A question that holds many of them asks for everything.

    Args:
        text: The reply, read as by ``names_parameter``.
        besides: Names and texts whose words are not counted.
    """
    nouns = _NOUNS.intersection(map(_folded, _WORD.findall(_asked_text(text))))
    return nouns.difference(*(map(_folded, _NAME_WORD.findall(other)) for other in besides)) if nouns else nouns


def _spoken_of(text: str, tool: Tool) -> list[str]:
    written = set(_IDENTIFIER.findall(text))
    heard = {_folded(word) for word in _WORD.findall(text)}
    names = {name: [part for part in _parts(name, _folded) if part not in _FILLERS] for name in tool.properties}
    last = [parts[-1] for parts in names.values() if parts]
    return [
        name
        for name, parts in names.items()
        if name.lower() in written
        or (parts and heard.issuperset(parts) and list(names.values()).count(parts) == 1)
        or (parts and parts[-1] in heard - _VAGUE and last.count(parts[-1]) == 1)
    ]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IDENTIFIER = re.compile(r"\w+")
_NUMBERED = re.compile(r"(?:arg|argument|param|parameter)_?\d+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\da-zA-Z_]+")
_STOP = _words("the a an of is are has have in on for with and or by at new my your their its to from")
_FILLERS = _words("the a an of is are has have")
_PLURALS = ("sses", "xes", "ches", "shes", "zes")
_ABBREVIATIONS = """
    loc location, num number, qty quantity, addr address, lat latitude, lon longitude, lng longitude, temp temperature,
    dest destination, dept department, amt amount, pwd password, passwd password, msg message, img image, lang language,
    tel phone, dob birthday, desc description, max maximum, min minimum, avg average, ref reference
"""
_WRITTEN_OUT = dict(pair.split() for pair in _ABBREVIATIONS.split(","))
_SYNONYMS = """
    place location city town area destination address venue, number count amount quantity, price cost budget, time hour,
    date day, id identifier uuid identification, query keyword search term phrase, type kind sort, email mail,
    phone telephone mobile, song track, movie film, artist singer band, company customer client,
    text content body wording, person people participant guest adult passenger traveler traveller attendee,
    duration length, from origin departure depart departing starting, to arrival arriving
"""
_MEANT = {word: group[0] for group in map(str.split, _SYNONYMS.split(",")) for word in group}
_OPENS = r"(?:^|[.!?,;]\s|\band\s)"
_VERB = r"(?= (?:is|are|was|will|would|should|shall|do|does|did|can|could|exactly|to|from)\b|\?|$)"
_WONDERED = (
    (re.compile(r"\bhow (?:many|much)\b"), ("number", "price")),
    (re.compile(r"\bhow long\b"), ("duration", "time")),
    (re.compile(_OPENS + r"(?:\w+ )?where" + _VERB), ("place",)),
    (re.compile(_OPENS + r"when" + _VERB), ("date", "time")),
    (re.compile(_OPENS + r"(?:to |for |with )?whom?\b"), ("person", "name")),
)
"""A question word and what it asks for. Elsewhere in a sentence "where" and "when" ask nothing."""
_VAGUE = _words(
    """name number list value string text code info information data detail array object dictionary param parameter
    option field input flag boolean indicator maximum minimum"""
)
"""Nouns that name a parameter only with what they belong to: not "name" but "name of the theatre"."""
_CLAUSE = _words(
    """for in to from on at by with where which that who whose being be is are as if when such into within than used
    using located specified given formatted listed represented indicating associated submitted selected required
    requested needed containing including whether has"""
)
"""Words after which a description no longer says what the parameter is."""
_NOUNS = _words(
    """date time day month year city country state region address location place name number id identifier amount type
    category kind genre email phone title quantity price budget unit currency language code account password username
    size color colour format mode status duration reason purpose topic level version model brand destination origin age
    gender recipient sender"""
)


def _asked_text(text: str) -> str:
    """The questions and requests of a reply and the choices that it gives after them, or all of it."""
    text = text[:LONGEST_REPLY]
    sentences = sentences_of(text)
    asking = "ask" if any("ask" in sentence.roles for sentence in sentences) else "offer"
    found: list[str] = []
    for sentence in sentences:
        if asking in sentence.roles or (found and "soft" in sentence.roles):
            found.append(sentence.whole)
    return "\n".join(found) or text.lower()


def _folded(word: str) -> str:
    """A word in lower case, in the singular, written out."""
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") else word[:-2] if word.endswith(_PLURALS) else word[:-1]
    return _WRITTEN_OUT.get(word, word)


def _meant(word: str) -> str:
    folded = _folded(word)
    return _MEANT.get(folded, folded)


def _heard(asked: str) -> set[str]:
    words = {_meant(word) for word in _WORD.findall(asked) if word not in _STOP}
    return words.union(*(things for pattern, things in _WONDERED if pattern.search(asked)))


def _parts(parameter: str, as_word: Callable[[str], str]) -> list[str]:
    if _NUMBERED.fullmatch(parameter):  # arg_2: its only word is every parameter's
        return []
    return [as_word(part) for part in _NAME_WORD.findall(parameter)]


def _is_named(parts: Sequence[str], heard: Collection[str]) -> bool:
    if "of" in parts[1:]:  # number_of_guests
        cut = parts.index("of", 1)
        parts = [*parts[cut + 1 :], *parts[:cut]]
    words = [part for part in parts if part not in _STOP] or list(parts)
    if not words:
        return False
    if all(word in heard for word in words):
        return True
    if words[-1] in _VAGUE:
        return len(words) > 1 and all(word in heard for word in words[:-1])
    return words[-1] in heard


def _heads(description: str) -> list[str]:
    """The nouns that a description begins with: of "The name of the city or town where it is", city and town."""
    heads: list[str] = []
    last = ""
    for word in _WORD.findall(_FIRST_CLAUSE.match(description[:_LONGEST_HEAD].lower())[0]):  # type: ignore[index]
        if word in ("the", "a", "an", "your"):
            if last:
                break
        elif word in ("or", "and"):
            heads.append(last)
            last = ""
        elif word == "of":
            if _meant(last) not in _VAGUE:
                break
            last = ""
        elif word in _CLAUSE:
            break
        else:
            last = word
    return [head for head in map(_meant, [*heads, last]) if head and head not in _VAGUE]


_FIRST_CLAUSE = re.compile(r"[^.,;:(]*")
_LONGEST_HEAD = 400
