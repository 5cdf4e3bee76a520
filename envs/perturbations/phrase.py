"""Takes a value out of an English sentence so that the sentence still reads.

In this order: what only introduces the value goes with it (", password x7", " on 2027-05-02", "User x7" at the end);
a noun that says what it is stays ("the train R202" becomes "a certain train"); a number before what it counts
becomes "a certain number of"; any other value becomes "a certain ...". Where none of these reads, nothing is done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from callgym.envs.perturbations.words import stem

__all__ = ["Span", "is_english", "occurrences", "without_value"]


class Span(NamedTuple):
    """Where something stands in a text."""

    start: int
    end: int


_PREPOSITIONS = (
    "about above after around as at before below between by during for from in inside into near of off on onto over "
    "since starting through till to toward towards under until via with within"
).split()
_LINKS = ("and or but then so if when while that which who whose because please than per plus minus").split()
_FUNCTION_WORDS = frozenset(
    [
        *_PREPOSITIONS,
        *_LINKS,
        *"is are was were be been has have had do does did can could will would shall should".split(),
    ]
)
_ENGLISH = frozenset("the a an of for is what how my me i you your please and to this that it with from".split())
_FOREIGN = frozenset(
    "der die das und für von ist el la los las del para por una le les des du est pour une il lo gli che per di da "
    "o os um uma em och att det en ett het een van".split()
)
_DETERMINERS = "the a an my our your his her their its this that another".split()
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}
_LETTERS = re.compile(r"[^\W\d_]+")

_PREPOSITION_BEFORE = re.compile(rf"(?:^|(?<=[\s,(]))(?P<word>{'|'.join(_PREPOSITIONS)})\s+(?:the\s+)?$", re.IGNORECASE)
_NOUN_BEFORE = re.compile(
    rf"(?P<all>(?:\b(?P<determiner>{'|'.join(_DETERMINERS)})\s+)?\b(?P<noun>[^\W\d_]+)"
    r"(?P<link>\s+(?:of|called|named|titled|is|number|no\.|code|id))*\s*:?\s*)$",
    re.IGNORECASE,
)
_STOP_AFTER = re.compile(rf"\s*(?:$|[.,;:!?)]|(?:{'|'.join([*_PREPOSITIONS, *_LINKS])})\b)", re.IGNORECASE)
_CLAUSE_ENDS = re.compile(r"\s*(?:$|[.,;!?)]|and\b)", re.IGNORECASE)
_COUNTED = re.compile(r"\s?(?P<word>[^\W\d_]{1,}[\w²³]*(?:\(s\))?)")
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


def is_english(text: str) -> bool:
    """Whether a text looks like English rather than another language that is written with Latin letters, or not."""
    words = [word.lower() for word in _LETTERS.findall(text)]
    return any(word in _ENGLISH for word in words) and sum(w in _FOREIGN for w in words) <= sum(
        w in _ENGLISH for w in words
    )


def without_value(text: str, span: Span, label: Sequence[str], number: bool) -> str | None:
    """The text without the value at ``span``; None where no way of taking it out reads well.

    Args:
        text: What somebody says, in English.
        span: Where the value stands.
        label: Words for what the value is: ``("stock", "code")``.
        number: Whether it is a number.
    """
    start, end = _with_quotes(text, span)
    quoted = (start, end) != span
    before, after = text[:start], text[end:]
    if number and (after[:1] == "%" or re.match(r"\s?(?:percent|per cent)\b", after)):
        rest = re.sub(r"^\s?(?:%|percent\b|per cent\b)", "", after)
        return _joined(before, "a certain percentage", rest) if _STOP_AFTER.match(rest) else None
    if before[-1:] in "$€£¥":
        before, number = before[:-1], False
        label = ("amount",)
    noun = _noun_cut(before, after, label)
    if noun is not None:
        return noun
    if _STOP_AFTER.match(after):
        cut = _clause_cut(before, after) or _preposition_cut(before, after)
        if cut is not None:
            return cut
    counted = _COUNTED.match(after) if number else None
    if counted is not None and counted["word"].lower() not in _FUNCTION_WORDS:
        return _joined(_without_determiner(before), "a certain number of", f" {after.lstrip()}")
    if not quoted and not _STOP_AFTER.match(after) and not _follows(after):
        return None
    phrase = _phrase(label)
    return None if phrase is None else _joined(_without_determiner(before), phrase, after)


def _with_quotes(text: str, span: Span) -> Span:
    opening, closing = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    if opening and _QUOTES.get(opening) == closing:
        return Span(span.start - 1, span.end + 1)
    return span


def _noun_cut(before: str, after: str, label: Sequence[str]) -> str | None:
    """Where a word of the label stands right before the value: ``the train R202``, ``, password x7``."""
    found = _NOUN_BEFORE.search(before)
    if found is None or stem(found["noun"].lower()) not in {stem(word) for word in label}:
        return None
    head = before[: found.start("all")]
    if found["determiner"] is None and head.rstrip().endswith(",") and _CLAUSE_ENDS.match(after):
        return f"{head.rstrip()[:-1]}{after}"
    if not _STOP_AFTER.match(after) and not _follows(after):
        return None
    determiner = (found["determiner"] or "").lower()
    noun = found["noun"]
    kept = f"{found['determiner']} {noun}" if determiner in ("a", "an", "my", "our", "another") else f"a certain {noun}"
    return _joined(head, kept, after)


def _clause_cut(before: str, after: str) -> str | None:
    """Where the value stands between commas, or between a comma and the end: ``..., 2027-05-02, ...``."""
    if not re.search(r"\w.*,\s*$", before) or not re.match(r"\s*(?:$|[.,;!?])", after):
        return None
    return _if_it_reads(before.rstrip()[:-1].rstrip(), after)


def _preposition_cut(before: str, after: str) -> str | None:
    """Where only a preposition introduces the value: `` on 2027-05-02``."""
    found = _PREPOSITION_BEFORE.search(before)
    if found is None:
        return None
    head = before[: found.start("word")]
    if _SENTENCE_START.search(head):
        rest = re.sub(r"^\s*,?\s*", "", after)
        return None if len(rest.split()) < 2 else f"{head}{rest[:1].upper()}{rest[1:]}"
    head = head.rstrip()
    if head.endswith(",") and re.match(r"\s*[.,;!?]|\s*$", after):
        head = head[:-1]
    return _if_it_reads(head, after)


def _if_it_reads(head: str, after: str) -> str | None:
    """The two put together, unless too little, or a word that wants another one, would stand before the gap."""
    sentence = re.split(r"[.!?:]\s+", head)[-1].split()
    if len(sentence) < 2 or sentence[-1].lower().strip(",;") in _FUNCTION_WORDS | {*_DETERMINERS, ","}:
        return None
    return f"{head}{after}" if not after or after[0] in " .,;:!?)" else f"{head} {after}"


def _follows(after: str) -> bool:
    """Whether what comes after can come after a noun: a verb or another word that joins."""
    word = _COUNTED.match(after.lstrip())
    return after[:1].isspace() and word is not None and word["word"].lower() in _FUNCTION_WORDS


def _without_determiner(before: str) -> str:
    return re.sub(rf"\b(?:{'|'.join(_DETERMINERS)})\s+$", "", before, flags=re.IGNORECASE)


def _phrase(label: Sequence[str]) -> str | None:
    """``a certain stock code``; None where the label is no noun."""
    words = [word for word in label if not word.isdigit()]
    while words and (words[0] in _FUNCTION_WORDS or len(words[0]) < 3):
        words = words[1:]
    if not words or any(word in _FUNCTION_WORDS for word in words):
        return None
    if len(words) > 1 and words[-1] in ("name", "id"):
        words = words[:-1]
    return "a certain " + " ".join(words)


def _joined(before: str, phrase: str, after: str) -> str:
    if _SENTENCE_START.search(before):
        phrase = phrase[:1].upper() + phrase[1:]
    return f"{before}{phrase}{after}"
