"""A small made-up encyclopedia: towns, people, companies, instruments, books and bridges that refer to each other.

It is generated from a seed, in sentences written for this project, so that what is in it cannot be known beforehand:
``corpus("test")`` and ``corpus("train")`` are two different worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple

from callgym.data import check_split
from callgym.envs.bfcl.web.index import SearchIndex, documents_index

__all__ = ["CORPORA", "Corpus", "Entity", "corpus", "corpus_index"]

CORPORA = ("train", "test")
"""The worlds, one a split."""
_ADDRESS = "https://lexikon.example"

_STARTS = (
    "Ald Bar Cor Dre Elm Far Gal Hol Isk Jar Kel Lor Mar Nor Ost Pel Quen Ros Sel Tor Ul Var Wes Yar Zel Bran Cal Dun "
    "Fen Gren Hald Ing Kor Lin Mel Nim Orr Pras Ruv Stel Tam Vel Wyn"
)
_TOWN_ENDS = "mora wick stead holm avia burg ford haven loch minster nes ora port ridge sund tova vale wald zano bria"
_RIVER_ENDS = "ika ath une era ow ille arn ess oke umbra"
_FIRST_NAMES = (
    "Adela Brunhild Cyprian Desmond Eulalia Florin Gudrun Hector Isolde Joachim Konrad Lavinia Magnus Noemi Ottokar "
    "Philippa Quintus Rosamund Sebald Theodora Ulric Vincenta Walburga Ximena Yorick Zenobia Anselm Berenice Clemens "
    "Dorothea"
)
_FAMILY_ENDS = "ing sen ach well ova mann ette ard ley quist eau inski ter by"
_MAKER_ENDS = "ex ant ine or um eo ias ax"
_REGIONS = ("Upper March", "Lower March", "Lake Country", "Salt Coast", "Eastern Moors", "Chalk Hills")
_FESTIVALS = (
    "Lantern", "Plum", "Kite", "Salt", "Barrel", "Frost", "Goose", "Candle", "Ribbon", "Drum", "Pear", "Ferry", "Mask",
    "Thistle", "Bell", "Smoke", "Raft", "Hazelnut",
)  # fmt: skip
_PROFESSIONS = (
    "engineer", "botanist", "watchmaker", "novelist", "architect", "physician", "printer", "astronomer", "lawyer",
    "glassblower", "surveyor", "chemist",
)  # fmt: skip
_DEVICES = (
    "hygroscope", "pendulum clock", "wave counter", "star compass", "pressure lamp", "wind harp", "echo sounder",
    "colour wheel", "rain gauge", "spiral pump", "tone generator", "ice saw", "thread micrometer", "signal mirror",
    "depth plummet", "sun recorder",
)  # fmt: skip
_MATERIALS = ("brass", "nickel silver", "walnut", "bronze", "ebony", "cast iron", "pewter", "horn", "copper", "slate")
_BOOKS = (
    "The {} Ledger", "A Winter in {}", "Letters from {}", "The Clockmaker of {}", "Nine Doors of {}", "The {} Ferry",
    "Ashes over {}", "The Last Toll of {}",
)  # fmt: skip
_SUBJECTS = (
    "a quarrel between millers",
    "a lost ferry",
    "two rival inns",
    "a forged map",
    "a winter siege",
    "a missing bell",
)


class Entity(NamedTuple):
    """What a document is about."""

    kind: str
    """``town``, ``person``, ``company``, ``instrument``, ``book`` or ``bridge``."""
    name: str
    facts: dict[str, str]
    """Relation to value: a name of another entity, a year, a word."""


@dataclass(frozen=True)
class Corpus:
    """A world: what there is, and a document on each."""

    name: str
    entities: dict[str, Entity]
    """Name to entity; names are unique."""
    documents: tuple[dict[str, str], ...]
    """``{"url", "title", "text"}``, one an entity, in the same order."""

    def url(self, name: str) -> str:
        """The address of an entity's document."""
        return _url(self.entities[name])


@cache
def corpus(name: str) -> Corpus:
    """The world of a split.

    Raises:
        ConfigurationError: There is no such world.
    """
    check_split(name, CORPORA, "bfcl's starter encyclopedia")
    world = _World(Random(f"callgym bfcl encyclopedia {name}"))
    rng = Random(f"callgym bfcl encyclopedia {name} texts")
    documents = tuple(
        {"url": _url(entity), "title": entity.name, "text": _TEXTS[entity.kind](entity, world.entities, rng)}
        for entity in world.entities.values()
    )
    return Corpus(name, world.entities, documents)


@cache
def corpus_index(name: str) -> SearchIndex:
    """The documents of ``corpus(name)`` as an index in memory; the same one for all of the process."""
    return documents_index(corpus(name).documents)


def _url(entity: Entity) -> str:
    return f"{_ADDRESS}/{entity.kind}/{entity.name.lower().replace(' ', '-')}"


class _World:
    """Makes the entities; later ones refer to earlier ones."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.entities: dict[str, Entity] = {}
        self._parts: set[str] = set()
        towns = [self._town() for _ in range(36)]
        people = [self._person(towns) for _ in range(60)]
        self._marry(people)
        for town, mayor in zip(towns, rng.sample(people, len(towns)), strict=True):
            self.entities[town].facts["mayor"] = mayor
        companies = [self._company(towns, founder) for founder in rng.sample(people, 30)]
        makers = rng.sample(companies, 24)
        for maker, inventor in zip(makers, rng.sample(people, len(makers)), strict=True):
            self._instrument(maker, inventor)
        for author in rng.sample(people, 18):
            self._book(author, towns)
        for town, architect in zip(rng.sample(towns, 12), rng.sample(people, 12), strict=True):
            self._bridge(town, architect)

    def _add(self, kind: str, name: str, facts: dict[str, str]) -> str:
        self.entities[name] = Entity(kind, name, facts)
        return name

    def _year(self, low: int, high: int) -> str:
        return str(self._rng.randint(low, high))

    def _coined(self, ends: str) -> str:
        """A name that nothing else in the world has."""
        while True:
            word = self._rng.choice(_STARTS.split()) + self._rng.choice(ends.split())
            if word not in self._parts:
                self._parts.add(word)
                return word

    def _town(self) -> str:
        facts = {
            "founded": self._year(1105, 1690),
            "river": self._coined(_RIVER_ENDS),
            "region": self._rng.choice(_REGIONS),
            "festival": f"{self._rng.choice(_FESTIVALS)} Festival",
            "people": str(self._rng.randint(21, 890) * 100),
        }
        return self._add("town", self._coined(_TOWN_ENDS), facts)

    def _person(self, towns: Sequence[str]) -> str:
        name = f"{self._rng.choice(_FIRST_NAMES.split())} {self._coined(_FAMILY_ENDS)}"
        facts = {
            "born": self._year(1781, 1902),
            "birthplace": self._rng.choice(towns),
            "profession": self._rng.choice(_PROFESSIONS),
            "studied": self._rng.choice(towns),
        }
        return self._add("person", name, facts)

    def _marry(self, people: Sequence[str]) -> None:
        order = self._rng.sample(people, len(people))
        for one, other in zip(order[::2], order[1::2], strict=True):
            self.entities[one].facts["spouse"] = other
            self.entities[other].facts["spouse"] = one

    def _company(self, towns: Sequence[str], founder: str) -> str:
        facts = {"founder": founder, "founded": self._year(1821, 1940), "seat": self._rng.choice(towns)}
        return self._add("company", f"{self._coined(_MAKER_ENDS)} Works", facts)

    def _instrument(self, maker: str, inventor: str) -> str:
        facts = {
            "inventor": inventor,
            "maker": maker,
            "year": self._year(1822, 1945),
            "material": self._rng.choice(_MATERIALS),
            "device": self._rng.choice(_DEVICES),
        }
        return self._add("instrument", f"{self._coined(_MAKER_ENDS)} {facts['device']}", facts)

    def _book(self, author: str, towns: Sequence[str]) -> str:
        place = self._rng.choice(towns)
        title = next(t for t in self._rng.sample(_BOOKS, len(_BOOKS)) if t.format(place) not in self.entities)
        facts = {
            "author": author,
            "setting": place,
            "year": self._year(1815, 1939),
            "subject": self._rng.choice(_SUBJECTS),
        }
        return self._add("book", title.format(place), facts)

    def _bridge(self, town: str, architect: str) -> str:
        facts = {
            "town": town,
            "architect": architect,
            "year": self._year(1820, 1935),
            "length": str(self._rng.randint(38, 410)),
        }
        return self._add("bridge", f"{self._coined(_RIVER_ENDS)} Bridge", facts)


# The documents.

_Entities = dict[str, Entity]


def _town_text(entity: Entity, world: _Entities, rng: Random) -> str:
    facts = entity.facts
    neighbour = rng.choice([e.name for e in world.values() if e.kind == "town" and e.name != entity.name])
    said = [
        f"{entity.name} is a town on the river {facts['river']} in the {facts['region']}.",
        f"It was founded in {facts['founded']} and has about {facts['people']} inhabitants.",
        f"Every year the {facts['festival']} fills its streets for a week.",
        f"The mayor of {entity.name} is {facts['mayor']}.",
    ]
    more = [
        f"A coach road leads from here to {neighbour}.",
        "The market hall burnt down twice and was rebuilt in stone.",
        "On the edge of the town there are brickworks and orchards.",
        "The town wall survives on three sides.",
    ]
    return _joined(said, more, rng)


def _person_text(entity: Entity, world: _Entities, rng: Random) -> str:
    facts = entity.facts
    said = [
        f"{entity.name} was born in {facts['birthplace']} in {facts['born']}.",
        f"By training {entity.name} was {_with_article(facts['profession'])} and studied in {facts['studied']}.",
        f"{entity.name} was married to {facts['spouse']}.",
    ]
    more = [
        "Hardly any letters have survived, but there are two notebooks.",
        "Contemporaries describe a stubborn and generous character.",
        "A portrait hangs in the county archive.",
        "Later years were overshadowed by illness.",
    ]
    return _joined(said, more, rng)


def _company_text(entity: Entity, world: _Entities, rng: Random) -> str:
    facts = entity.facts
    made = [e.name for e in world.values() if e.facts.get("maker") == entity.name]
    said = [
        f"{entity.name} is a company with its seat in {facts['seat']}.",
        f"It was founded in {facts['founded']} by {facts['founder']}.",
    ]
    said += [f"Its best known product is the {name}." for name in made]
    more = [
        "The firm survived two bankruptcies and a flood.",
        "Its catalogue once ran to four hundred pages.",
        "Workers went on strike for the ten hour day and won.",
        "The old foundry now houses a swimming bath.",
    ]
    return _joined(said, more, rng)


def _instrument_text(entity: Entity, world: _Entities, rng: Random) -> str:
    facts = entity.facts
    said = [
        f"The {entity.name} is {_with_article(facts['device'])} invented by {facts['inventor']} in {facts['year']}.",
        f"It has been built by {facts['maker']} from the beginning.",
        f"Its housing is made of {facts['material']}.",
    ]
    more = [
        "It was praised at several exhibitions and copied without leave.",
        "Fewer than thirty are known to have survived.",
        "It must be kept dry and wound once a day.",
        "Collectors pay high prices for early ones.",
    ]
    return _joined(said, more, rng)


def _book_text(entity: Entity, world: _Entities, rng: Random) -> str:
    facts = entity.facts
    said = [
        f"{entity.name} is a novel written by {facts['author']}.",
        f"It was first printed in {facts['year']} and is set in {facts['setting']}.",
        f"The plot turns on {facts['subject']}.",
    ]
    more = [
        "Critics complained of its length, readers did not.",
        "It was turned into a play and, much later, into a film.",
        "The manuscript was found in a biscuit tin.",
        "A sequel was announced and never finished.",
    ]
    return _joined(said, more, rng)


def _bridge_text(entity: Entity, world: _Entities, rng: Random) -> str:
    facts = entity.facts
    said = [
        f"The {entity.name} is a bridge in {facts['town']}, {facts['length']} metres long.",
        f"It was designed by {facts['architect']} and opened in {facts['year']}.",
    ]
    more = [
        "A toll was charged for the first twenty years.",
        "Its lamps were lit with gas until the war.",
        "Swallows nest under the second arch.",
        "Heavy carts had to cross one at a time.",
    ]
    return _joined(said, more, rng)


def _joined(said: Sequence[str], more: Sequence[str], rng: Random) -> str:
    """The first sentence opens, facts and filling follow in some order, in two paragraphs."""
    rest = [*said[1:], *rng.sample(more, 3)]
    rng.shuffle(rest)
    half = len(rest) // 2
    return " ".join([said[0], *rest[:half]]) + "\n" + " ".join(rest[half:])


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


_TEXTS: dict[str, Callable[[Entity, _Entities, Random], str]] = {
    "town": _town_text,
    "person": _person_text,
    "company": _company_text,
    "instrument": _instrument_text,
    "book": _book_text,
    "bridge": _bridge_text,
}
