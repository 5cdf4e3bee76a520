"""Takes a value out of an English sentence so that the sentence still reads.

In this order:

- a noun that says what the value is stays: "the train R202" and "a song called X" become "a certain train" and
  "a song"; with a comma before it, it goes, too: "User a, password b" becomes "User a";
- what stands between commas, or first in an elliptic answer, goes: "on Monday, 20:00, inside";
- an adjunct goes with its preposition: "get the weather in Oslo on Monday" becomes "get the weather on Monday";
- a number becomes "a certain number of" what it counts, or "a certain weight" where a unit follows;
- any other value becomes "a certain ..." with the name of its parameter.

Where the words around the value are none of these shapes, nothing is done: better one task fewer than one that no
person would write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from callgym.envs.perturbations.english import (
    ADJUNCTS,
    BARE,
    DETERMINERS,
    FUNCTION_WORDS,
    IMPERATIVES,
    LINKS,
    NAMING,
    PREPOSITIONS,
    TIMES,
    UNITS,
    is_plural,
    noun_phrase,
)
from callgym.envs.perturbations.words import stem

__all__ = ["Span", "occurrences", "without_value"]


class Span(NamedTuple):
    """Where something stands in a text."""

    start: int
    end: int


_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}
_LETTERS = re.compile(r"[^\W\d_]+")

_ADJUNCT_BEFORE = re.compile(rf"(?:^|(?<=[\s,(]))(?P<word>{'|'.join(ADJUNCTS)})\s+(?:the\s+)?$", re.IGNORECASE)
_STOP = rf"\s*(?:$|[.,;:!?)]|(?:{'|'.join(word for word in [*PREPOSITIONS, *LINKS])}|\w+ly)\b)"
_STOP_AFTER = re.compile(_STOP, re.IGNORECASE)
_WORD_OR_SIGN = re.compile(r"[\w'’-]+\.?|[^\w\s]")
_LINKING = frozenset(("of", "called", "named", "titled", "number", "no.", "code", "id"))
_MOST_KINDS = 3
_CLAUSE_ENDS = re.compile(r"\s*(?:$|[.;!?)]|,)", re.IGNORECASE)
_NEXT_WORD = re.compile(r"\s?(?P<word>[^\W\d_][\w²³]*(?:/[^\W\d_]+)?(?:\(s\))?)")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)[\"'“]?$")


def occurrences(value: str, text: str) -> list[Span]:
    """Where a value stands in a text as words or as a number of its own, whatever its capitals."""
    before, after = r"(?<!\w)", r"(?!\w)"
    if value[:1].isdigit() or value[:1] in "+-":
        before = r"(?<![\w/:-])(?<!\d[.,])"
    if value[-1:].isdigit():
        after = r"(?![\w/:])(?![.,-]\d)(?!-\w)"
    pattern = f"{before}{re.escape(value)}{after}"
    return [Span(*found.span()) for found in re.finditer(pattern, text, re.IGNORECASE)]


def without_value(text: str, span: Span, label: Sequence[str], number: bool) -> str | None:
    """The text without the value at ``span``; None where no way of taking it out reads well.

    Args:
        text: What somebody says, in English.
        span: Where the value stands.
        label: The words of the parameter's name: ``("stock", "code")``.
        number: Whether it is a number.
    """
    start, end = _with_quotes(text, span)
    before, after = text[:start], text[end:]
    money = before[-1:] != "" and before[-1:] in "$€£¥"
    around = _Around(before[:-1] if money else before, after, ("amount",) if money else tuple(label), number)
    return next((changed for changed in around.ways() if changed is not None), None)


def _with_quotes(text: str, span: Span) -> Span:
    opening, closing = text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]
    if opening and _QUOTES.get(opening) == closing:
        return Span(span.start - 1, span.end + 1)
    return span


class _Noun(NamedTuple):
    """A noun that stands before a value: ``the fast train called``."""

    head: str
    """What comes before it all."""
    determiner: str
    """In lower case; empty where there is none."""
    kind: tuple[str, ...]
    """Words between the determiner and the noun."""
    word: str
    link: tuple[str, ...]
    """What joins noun and value: ``called``, ``of``."""


def _noun_before(before: str) -> _Noun | None:
    words = [(found.group(), found.start()) for found in _WORD_OR_SIGN.finditer(before)]
    link: list[str] = []
    while len(words) > 1 and words[-1][0].lower() in _LINKING and words[-2][0].lower() not in DETERMINERS:
        link.append(words.pop()[0].lower())
    if not words or not words[-1][0].isalpha() or not words[-1][0].islower():
        return None
    word, start = words.pop()
    if word in FUNCTION_WORDS | NAMING | {*DETERMINERS}:
        return None
    kind: list[str] = []
    for earlier, position in reversed(words[-1 - _MOST_KINDS :]):
        if earlier.lower() in DETERMINERS:
            return _Noun(before[:position], earlier.lower(), tuple(reversed(kind)), word, tuple(link))
        if not earlier.replace("-", "").isalpha() or not earlier.islower() or earlier in FUNCTION_WORDS:
            break
        kind.append(earlier)
    return _Noun(before[:start], "", (), word, tuple(link))


class _Around(NamedTuple):
    """The words around a value, and what the value is."""

    before: str
    after: str
    label: tuple[str, ...]
    number: bool

    def ways(self) -> Iterator[str | None]:
        """The text without the value, each way that may do; None for one that does not."""
        if re.match(r"\s*as\b", self.after):
            return
        yield self._noun_stays()
        stops = _STOP_AFTER.match(self.after) is not None
        if stops:
            if not (self.number or TIMES.intersection(self.label)):
                yield self._clause_goes()
                yield self._adjunct_goes()
            yield self._first_goes()
        if self.number:
            yield self._counted()
        if stops or self._verb_follows():
            yield self._certain()

    def _noun_stays(self) -> str | None:
        """Where a word right before the value says what it is: ``the train R202``, ``a song called X``."""
        noun = _noun_before(self.before)
        if noun is None or not self._ends():
            return None
        named = stem(noun.word) in {stem(word) for word in self.label}
        if not noun.determiner and named and noun.head.rstrip().endswith(",") and _CLAUSE_ENDS.match(self.after):
            return f"{noun.head.rstrip()[:-1]}{self.after}"
        called = not {"called", "named", "titled"}.isdisjoint(noun.link)
        if not (named or (noun.determiner and (called or not (noun.kind or noun.link)))):
            return None
        if not noun.determiner and (noun.kind or not _lets_stand(noun.head)):
            return None
        thing = " ".join([*noun.kind, noun.word])
        if noun.determiner in ("a", "an", "my", "our", "another") and "of" not in noun.link:
            return _joined(noun.head, f"{noun.determiner} {thing}", self.after)
        article = "certain" if is_plural(noun.word) else "a certain"
        return _joined(noun.head, f"{article} {thing}", self.after)

    def _clause_goes(self) -> str | None:
        """Where the value stands between commas, or between a comma and the end."""
        if not re.search(r"\w.*,\s*$", self.before) or not re.match(r"\s*(?:$|[.,;!?])", self.after):
            return None
        return _if_it_reads(self.before.rstrip()[:-1].rstrip(), self.after)

    def _first_goes(self) -> str | None:
        """Where an answer begins with the value: ``Church Yard, 8 hours with a helmet.``"""
        rest = re.match(r"\s*,\s*(?:and\s+)?(?P<rest>.*\w.*)", self.after, re.DOTALL)
        starts = not self.before or _SENTENCE_START.search(self.before[-3:].replace(":", ""))
        if not starts or rest is None or len(rest["rest"].split()) < 3:
            return None
        return f"{self.before}{_capital(rest['rest'])}"

    def _adjunct_goes(self) -> str | None:
        """Where a preposition introduces the value: `` on 2027-05-02``."""
        found = _ADJUNCT_BEFORE.search(self.before)
        if found is None:
            return None
        head = self.before[: found.start("word")]
        if _SENTENCE_START.search(head):
            rest = re.sub(r"^\s*,?\s*", "", self.after)
            return None if len(rest.split()) < 2 else f"{head}{_capital(rest)}"
        if re.match(r"\s*,\s*[A-Z]", self.after):  # "in London, UK"
            return None
        head = head.rstrip()
        if head.endswith(",") and re.match(r"\s*[.,;!?]|\s*$", self.after):
            head = head[:-1]
        return _if_it_reads(head, self.after)

    def _counted(self) -> str | None:
        """Where a number stands before what it counts, or before its unit."""
        percent = re.match(r"\s?(?:%|percent\b|per cent\b)", self.after)
        if percent is not None:
            rest = self.after[percent.end() :]
            return self._put("a certain percentage", rest) if _STOP_AFTER.match(rest) else None
        word = _NEXT_WORD.match(self.after)
        if word is None or word["word"].lower() in FUNCTION_WORDS or word["word"].endswith("ly"):
            return None
        if re.match(r"\s+per\b", self.after[word.end() :]):
            return None
        if word["word"].lower().partition("/")[0] not in UNITS:
            return self._put("a certain number of", f" {self.after.lstrip()}") if is_plural(word["word"]) else None
        rest = self.after[word.end() :]
        phrase = noun_phrase(self.label, False)
        if phrase is None or phrase in UNITS or is_plural(phrase):
            return self._put("a certain number of", f" {self.after.lstrip()}")
        return self._put(f"a certain {phrase}", rest) if _STOP_AFTER.match(rest) else None

    def _certain(self) -> str | None:
        phrase = noun_phrase(self.label, self.number)
        if phrase is None or phrase in BARE:
            return None
        return self._put(f"certain {phrase}" if is_plural(phrase) else f"a certain {phrase}", self.after)

    def _put(self, phrase: str, after: str) -> str | None:
        """The phrase in the value's place, behind a word that lets it stand there."""
        before = re.sub(rf"\b(?:{'|'.join(DETERMINERS)})\s+$", "", self.before, flags=re.IGNORECASE)
        near = [*_LETTERS.findall(before.lower())[-4:], *_LETTERS.findall(after.lower())[:3]]
        if stem(phrase.rpartition(" ")[2]) in map(stem, near) or not before.strip() or not _lets_stand(before):
            return None
        return _joined(before, phrase, after)

    def _ends(self) -> bool:
        return _STOP_AFTER.match(self.after) is not None or self._verb_follows()

    def _verb_follows(self) -> bool:
        word = _NEXT_WORD.match(self.after.lstrip())
        return self.after[:1].isspace() and word is not None and word["word"].lower() in FUNCTION_WORDS


def _lets_stand(before: str) -> bool:
    """Whether "a certain ..." can come behind these words, or first."""
    words = before.split()
    if not words or words[-1].endswith((".", "!", "?")):
        return True
    last = words[-1].lower()
    if last.strip(",") in NAMING or last.endswith(":"):
        return False
    return last.strip(",") in FUNCTION_WORDS | IMPERATIVES or last.endswith((",", "'s", "’s"))


def _if_it_reads(head: str, after: str) -> str | None:
    """The two put together, unless too little, or a word that wants another one, would stand before the gap."""
    sentence = re.split(r"[.!?:]\s+", head)[-1].split()
    last = sentence[-1].lower().strip(",;") if sentence else ""
    if len(sentence) < 2 or last in FUNCTION_WORDS | NAMING | {"set", "given", *DETERMINERS}:
        return None
    if last.endswith("ed") or sentence[-2].lower() in ("which", "that", "who"):  # "which lies in Rome"
        return None
    return f"{head}{after}" if not after or after[0] in " .,;:!?)" else f"{head} {after}"


def _joined(before: str, phrase: str, after: str) -> str:
    starts = not before.rstrip().endswith(":") and _SENTENCE_START.search(before)
    return f"{before}{_capital(phrase) if starts else phrase}{after}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
