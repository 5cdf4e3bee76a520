"""Kinds of value: how one is documented, drawn, said by a user, and accepted.

A kind knows both sides of a question: the words of the user ("March 5, 2025") and the values that BFCL's gold
then lists ("2025-03-05"). Whatever is drawn stands in the words, so a gold value can always be read from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from callgym.envs.bfcl.categories import Language

__all__ = [
    "Amounts",
    "Choice",
    "Clock",
    "Code",
    "Date",
    "Field",
    "Flag",
    "Items",
    "Kind",
    "OneOf",
    "Phrase",
    "Place",
    "Points",
    "Real",
    "Record",
    "Said",
    "Variable",
    "Whole",
    "Word",
    "listed",
    "native_type",
    "spoken",
]

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_COUNTS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_LONG_NUMBER = 10_000  # from here on users may write thousands with a comma
_NATIVE = {
    "python": {},
    "java": {"string": "String", "array": "ArrayList", "dict": "HashMap"},
    "javascript": {"string": "String", "boolean": "Boolean"},
}


@dataclass(frozen=True, slots=True)
class Said:
    """A value as a user says it."""

    text: str
    accepted: tuple[Any, ...]
    """What BFCL's gold lists for it, the reference first."""


def native_type(name: str, language: Language) -> str:
    """A type's name in the documents of a language's functions."""
    return _NATIVE[language].get(name, name)


def listed(texts: Sequence[str], last: str = "and") -> str:
    """``a, b and c``; semicolons where an item has a comma itself."""
    if len(texts) < 2:
        return "".join(texts)
    if any("," in text for text in texts):
        return "; ".join(texts[:-1]) + f"; {last} {texts[-1]}"
    return ", ".join(texts[:-1]) + f" {last} {texts[-1]}"


def spoken(number: float) -> str:
    """A number as one writes it by hand: no ``.0``."""
    return str(int(number)) if number == int(number) else str(number)


def _pick(rng: Random, items: Sequence[Any]) -> Any:
    """One of ``items``; ``Random.choice`` takes three times as long."""
    return items[int(rng.random() * len(items))]


class Kind:
    """A kind of value."""

    __slots__ = ()

    def schema(self, language: Language = "python") -> dict[str, Any]:
        """How a document declares it, in BFCL's words: ``type``, and ``items``, ``enum`` or ``properties``."""
        return self._schema(language)

    def draw(self, rng: Random, plain: bool = False) -> Said:
        """A value, said in some way.

        Args:
            rng: Where chance comes from.
            plain: Say it the shortest way, without words of any language and without a comma.
        """
        return self._draw(rng, plain)

    def _schema(self, language: Language) -> dict[str, Any]:
        raise NotImplementedError

    def _draw(self, rng: Random, plain: bool) -> Said:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Whole(Kind):
    """Whole numbers from ``low`` to ``high``."""

    low: int
    high: int
    step: int = 1
    declared: str = "integer"

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type(self.declared, language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        value = self.low + self.step * int(rng.random() * ((self.high - self.low) // self.step + 1))
        text = str(value)
        if not plain and rng.random() < 0.25:
            if 2 <= value < len(_COUNTS) and self.high < 30:
                text = _COUNTS[value]
            elif value >= _LONG_NUMBER:
                text = f"{value:,}"
        return Said(text, (value,))


@dataclass(frozen=True, slots=True)
class Real(Kind):
    """Numbers from ``low`` to ``high`` with up to ``digits`` decimals, some of them whole."""

    low: int
    high: int
    digits: int = 1
    whole: float = 0.4
    """The share of whole ones."""
    declared: str = "float"

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type(self.declared, language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        value = self.number(rng, rng.random() < self.whole)
        text = spoken(value)
        if not plain and value >= _LONG_NUMBER and rng.random() < 0.3:
            text = f"{int(value):,}" + text[len(str(int(value))) :]
        return Said(text, (value,))

    def number(self, rng: Random, whole: bool) -> float:
        """A number that is whole, or surely is not."""
        if whole:
            return float(self.low + int(rng.random() * (self.high - self.low + 1)))
        parts: int = 10**self.digits
        fraction = 1 + int(rng.random() * (parts - 1))
        return round(self.low + int(rng.random() * (self.high - self.low)) + fraction / parts, self.digits)


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """Yes or no, in the words that mean it here."""

    yes: tuple[str, ...]
    no: tuple[str, ...]

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("boolean", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        value = rng.random() < 0.5
        return Said(_pick(rng, self.yes if value else self.no), (value,))


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    """One of a few values, each with the words for it; no words: the value itself."""

    words: Mapping[str, tuple[str, ...]]
    enum: bool = True
    """Whether the document lists the values as ``enum``."""

    def _schema(self, language: Language) -> dict[str, Any]:
        declared = {"type": native_type("string", language)}
        return {**declared, "enum": list(self.words)} if self.enum else declared

    def _draw(self, rng: Random, plain: bool) -> Said:
        value = _pick(rng, tuple(self.words))
        said = self.words[value]
        return Said(value if plain or not said else _pick(rng, said), (value,))


@dataclass(frozen=True, slots=True)
class Word(Kind):
    """A name out of a list, said as it is."""

    pool: Sequence[str]
    declared: str = "string"

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type(self.declared, language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        text = _pick(rng, self.pool)
        return Said(text, (text,))


@dataclass(frozen=True, slots=True)
class Place(Kind):
    """A city, said with or without its country; either is accepted."""

    pool: Mapping[str, str]
    """City to country."""

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("string", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        city = _pick(rng, tuple(self.pool))
        full = f"{city}, {self.pool[city]}"
        return Said(full if not plain and rng.random() < 0.15 else city, (city, full))


@dataclass(frozen=True, slots=True)
class Phrase(Kind):
    """Words from two lists, in quotation marks where ``quoted``: a title, a note."""

    first: Sequence[str]
    second: Sequence[str]
    quoted: bool = True
    joint: str = " "

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("string", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        text = f"{_pick(rng, self.first)}{self.joint}{_pick(rng, self.second)}"
        if not self.quoted:
            return Said(text, (text,))
        return Said(f'"{text}"' if plain or rng.random() < 0.5 else f"'{text}'", (text,))


@dataclass(frozen=True, slots=True)
class Code(Kind):
    """An identifier after a pattern: ``#`` is a digit, ``@`` a capital letter, the rest stands for itself."""

    pattern: str

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("string", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        pools = {"#": "123456789", "@": _LETTERS}
        text = "".join(_pick(rng, pools[sign]) if sign in pools else sign for sign in self.pattern)
        return Said(text, (text,))


@dataclass(frozen=True, slots=True)
class Date(Kind):
    """A day of a few years, documented and accepted as YYYY-MM-DD."""

    first_year: int = 2024
    years: int = 4

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("string", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        year = self.first_year + int(rng.random() * self.years)
        month, day = 1 + int(rng.random() * 12), 1 + int(rng.random() * 28)
        value = f"{year}-{month:02}-{day:02}"
        if plain or rng.random() < 0.4:
            return Said(value, (value,))
        name = MONTHS[month - 1]
        return Said(_pick(rng, (f"{name} {day}, {year}", f"{day} {name} {year}", f"{name} {day} {year}")), (value,))


@dataclass(frozen=True, slots=True)
class Clock(Kind):
    """A time of the day, documented and accepted as HH:MM in 24 hours."""

    first: int = 7
    last: int = 21

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("string", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        hour = self.first + int(rng.random() * (self.last - self.first + 1))
        minute = _pick(rng, (0, 15, 30, 45))
        value = f"{hour:02}:{minute:02}"
        if plain or rng.random() < 0.5:
            return Said(value, (value,))
        half = "am" if hour < 12 else "pm"
        said = f"{(hour - 1) % 12 + 1}" + (f":{minute:02}" if minute else "")
        return Said(said + _pick(rng, (f" {half}", half)), (value,))


@dataclass(frozen=True, slots=True)
class Variable(Kind):
    """The name of a variable, for parameters that take an object of the user's program."""

    first: Sequence[str]
    second: Sequence[str]
    declared: str = "any"
    item: str = ""

    def _schema(self, language: Language) -> dict[str, Any]:
        declared: dict[str, Any] = {"type": native_type(self.declared, language)}
        return {**declared, "items": {"type": native_type(self.item, language)}} if self.item else declared

    def _draw(self, rng: Random, plain: bool) -> Said:
        second = _pick(rng, self.second)
        text = _pick(rng, self.first) + second[0].upper() + second[1:]
        return Said(f"`{text}`", (text,))


@dataclass(frozen=True, slots=True)
class OneOf(Kind):
    """A value of any of several kinds, declared as ``any``."""

    kinds: tuple[Kind, ...]

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("any", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        said: Said = _pick(rng, self.kinds).draw(rng, True)
        return said


@dataclass(frozen=True, slots=True)
class Items(Kind):
    """A list of ``low`` to ``high`` values of one kind, no two alike.

    Real numbers are either all whole (then a list of integers is accepted too) or all not: within a list the
    official checker takes no integer for a float.
    """

    kind: Kind
    low: int = 2
    high: int = 4
    declared: str = "array"
    last: str = "and"

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type(self.declared, language), "items": self.kind.schema(language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        count = self.low + int(rng.random() * (self.high - self.low + 1))
        if isinstance(self.kind, Real):
            return _reals(rng, self.kind, count, self.declared)
        drawn: dict[str, Said] = {}
        while len(drawn) < count:
            said = self.kind.draw(rng, True)
            drawn[str(said.accepted[0])] = said
        values = [said.accepted[0] for said in drawn.values()]
        return Said(listed([said.text for said in drawn.values()], self.last), (values,))


def _reals(rng: Random, kind: Real, count: int, declared: str) -> Said:
    whole = rng.random() < kind.whole
    values: list[float] = []
    while len(values) < count:
        value = kind.number(rng, whole)
        if value not in values:
            values.append(value)
    texts = [spoken(value) for value in values]
    text = f"({', '.join(texts)})" if declared == "tuple" else listed(texts)
    return Said(text, (values, [int(value) for value in values]) if whole else (values,))


@dataclass(frozen=True, slots=True)
class Points(Kind):
    """A list of ``low`` to ``high`` lists of ``width`` numbers: corners, the rows of a matrix."""

    low: int
    high: int
    width: int = 2
    most: int = 12
    item: str = "float"
    declared: str = "array"

    def _schema(self, language: Language) -> dict[str, Any]:
        inner = {"type": native_type("array", language), "items": {"type": self.item}}
        return {"type": native_type(self.declared, language), "items": inner}

    def _draw(self, rng: Random, plain: bool) -> Said:
        count = self.low + int(rng.random() * (self.high - self.low + 1))
        rows: list[list[int]] = []
        while len(rows) < count:
            row = [int(rng.random() * (self.most + 1)) for _ in range(self.width)]
            if row not in rows:
                rows.append(row)
        value = [[float(n) for n in row] for row in rows] if self.item == "float" else rows
        brackets = "[]" if plain or self.width != 2 or rng.random() < 0.5 else "()"
        texts = [f"{brackets[0]}{', '.join(map(str, row))}{brackets[1]}" for row in rows]
        return Said(", ".join(texts) if self.width == 2 else f"[{', '.join(texts)}]", (value,))


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a record."""

    kind: Kind
    description: str


@dataclass(frozen=True, slots=True)
class Record(Kind):
    """An object with fixed keys, said by filling ``words``."""

    fields: Mapping[str, Field]
    words: tuple[str, ...]

    def _schema(self, language: Language) -> dict[str, Any]:
        entries = {
            name: {**field.kind.schema(language), "description": field.description}
            for name, field in self.fields.items()
        }
        return {"type": native_type("dict", language), "properties": entries, "required": list(entries)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        said = {name: field.kind.draw(rng, True) for name, field in self.fields.items()}
        text = _pick(rng, self.words).format_map({name: value.text for name, value in said.items()})
        return Said(text, ({name: list(value.accepted) for name, value in said.items()},))


@dataclass(frozen=True, slots=True)
class Amounts(Kind):
    """An object with ``low`` to ``high`` keys out of a list, each with a number; said by filling ``words``."""

    pool: Sequence[str]
    kind: Whole
    words: str
    """With ``{key}`` and ``{value}``."""
    low: int = 2
    high: int = 4

    def _schema(self, language: Language) -> dict[str, Any]:
        return {"type": native_type("dict", language)}

    def _draw(self, rng: Random, plain: bool) -> Said:
        count = self.low + int(rng.random() * (self.high - self.low + 1))
        drawn: dict[str, Said] = {}
        while len(drawn) < count:
            drawn.setdefault(_pick(rng, self.pool), self.kind.draw(rng, True))
        texts = [self.words.format(key=key, value=said.text) for key, said in drawn.items()]
        return Said(listed(texts), ({key: list(said.accepted) for key, said in drawn.items()},))
