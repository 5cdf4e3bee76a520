"""A stricter rule for answers than the official one: it reads the answer alone, and listing candidates does not pay.

The official rule is in ``agentic``; the form ``{'answer': ..., 'context': ...}`` is the one that the official system
message asks for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from callgym.envs.bfcl.words import WORD

__all__ = ["answer_fields", "strict_answer"]

_LONGEST = 32_768
_MOST_WORDS = 12
_MOST_NEW_WORDS = 3
_LONGEST_NUMBER = 40
_MOST_READ = 100

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u2212": "-"})
_FIELD = re.compile(r"""[{,]\s{0,40}(["']?)answer\1\s{0,40}:\s{0,40}""", re.IGNORECASE)
_NEXT_FIELD = r"""[}]|,\s{0,40}["']?[A-Za-z_]{1,40}["']?\s{0,40}:"""
_AFTER_QUOTE = re.compile(rf"\s{{0,40}}(?:{_NEXT_FIELD}|\Z)")
_END_UNQUOTED = re.compile(rf"{_NEXT_FIELD}|\n")

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CHUNK = re.compile(r"\n|[^\s\n]+")
_NUMBER = re.compile(r"([+-]?)(\d+|\d{1,3}(?:,\d{3})+)(\.\d+)?(?:st|nd|rd|th)?")
_MARKS = re.compile(r"[\W_]+")
_EDGES = "\"'`.,;:!?()[]{}<>*_#~|/\\$€£%…"
_SEPARATES_BEFORE = frozenset("([{|/\\&;")
_SEPARATES_AFTER = frozenset(".,;!?)]}|/\\&")

_NEGATIONS = frozenset(
    WORD.findall(
        "not no never neither nor cannot cant isnt wasnt arent werent dont doesnt didnt wont wouldnt hasnt "
        "havent except instead rather unless unlike without wrong incorrect false untrue unknown unsure unclear "
        "maybe perhaps possibly if"
    )
)
_JOINERS = frozenset(WORD.findall("and or also plus either both alternatively alternately versus vs otherwise then"))
_CARRIERS = frozenset(
    WORD.findall(
        "a an the this that these those it its is was are were be been being am has have had do does did will "
        "would can i you he she they we my your his her their our me him them us of in on at to by for from "
        "with as about around after before during approximately approx roughly exactly precisely nearly almost "
        "only just so there here called named name names known answer answers final correct right result value "
        "total well based according said says say stated state mr mrs ms dr st im youre hes shes theyre thats "
        "whats id ive youve"
    )
)
"""Words that can stand around an answer and be no candidate themselves: function words, how one replies."""
_UNITS = frozenset(
    WORD.findall(
        "year years month months week weeks day days hour hours hrs minute minutes mins seconds percent dollars "
        "dollar usd euros euro cents inch inches foot feet ft metre metres meter meters mile miles km "
        "kilometres kilometers kg kilograms pounds lbs lb grams mg mgdl ngml ul mmhg mmhr litres liters ml "
        "square sq old am pm times people persons"
    )
)
"""Words that can stand behind a number."""
_NUMBER_WORDS = frozenset(
    WORD.findall(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
        "million billion first second third fourth fifth sixth seventh eighth ninth tenth once twice"
    )
)


class _Word(NamedTuple):
    text: str
    """Letters and digits in lower case; a number in one form."""
    segment: int
    """Counts up where something separates a word from the one before."""


def strict_answer(text: str, accepted: Sequence[Any]) -> tuple[float, dict[str, Any]]:
    """How right an answer is, between 0 and 1, and why.

    What is read is the field ``answer`` where the text has one, else the whole text. Words are compared in lower
    case, letters and digits alone; numbers by value, so 1.5 is not 15. The answer earns 1 if it is one or several
    accepted answers with nothing around them but words that are no candidates (``It is ... years``), at most 12.
    With n other words, at most three, it earns 1 / (n + 1): what guessing one of n + 1 candidates earns. It earns
    nothing

    - if there are more words, or several different answer fields;
    - if a negation or a doubt is in it;
    - if another word is joined to the answer by "and", "or", a comma, another mark, a line or a sentence;
    - if the answer is a number and another number is there.

    Args:
        text: The final reply, of any length.
        accepted: The accepted answers, texts or numbers.

    Returns:
        The score, and ``{"answer": what was read, "reason": why it is not all right}``.
    """
    if len(text) > _LONGEST:
        return _scored(0.0, text, f"longer than {_LONGEST} characters")
    fields = answer_fields(text)
    spoken = [_words(field) for field in fields] or [_words(text)]
    read = fields[0] if fields else text
    if any(_texts(words) != _texts(spoken[0]) for words in spoken[1:]):
        return _scored(0.0, read, "several different answers")
    score, reason = _judge(spoken[0], _accepted_words(accepted))
    return _scored(score, read, reason)


def _scored(score: float, answer: str, reason: str) -> tuple[float, dict[str, Any]]:
    # Half surrogates, which a model can write, cannot be kept in a record.
    shown = answer[:300].encode("utf-8", "replace").decode("utf-8")
    return score, {"answer": shown, "reason": reason}


# The answer field.


def answer_fields(text: str) -> list[str]:
    """The values of all fields called ``answer`` in ``{...}``, whichever quotes there are, even where they stand
    in the value itself; in time linear in the text's length."""
    text = text.translate(_STRAIGHT)
    values = []
    match = _FIELD.search(text)
    while match:
        value, end = _field_value(text, match.end())
        values.append(value)
        # On from the value's end: what looks like a field inside it is a part of it, and nothing is read twice.
        match = _FIELD.search(text, end)
    return values


def _field_value(text: str, start: int) -> tuple[str, int]:
    """A field's value, and where it ends."""
    quote = text[start : start + 1]
    if quote not in ("'", '"'):
        unquoted = _END_UNQUOTED.search(text, start)
        end = unquoted.start() if unquoted else len(text)
        return text[start:end].strip(), end
    closing = text.find(quote, start + 1)
    while closing >= 0:
        if text[closing - 1] != "\\" and _AFTER_QUOTE.match(text, closing + 1):
            break
        closing = text.find(quote, closing + 1)
    end = closing if closing >= 0 else len(text)
    return _ESCAPE.sub(_unescaped, text[start + 1 : end]), end


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return " " if escaped in "nrt" else escaped


# Words.


def _words(text: str) -> list[_Word]:
    """The words, as far as they are read: one more than an answer can have."""
    segment = 0
    words: list[_Word] = []
    for match in _CHUNK.finditer(unicodedata.normalize("NFKC", text.translate(_STRAIGHT))):
        chunk = match.group()
        standard = _standard(chunk)
        if not standard:  # a line's end, or a mark that stands alone
            segment += 1
            continue
        segment += _separates(chunk, _SEPARATES_BEFORE, 1)
        words.append(_Word(standard, segment))
        if len(words) > _MOST_READ:
            break
        segment += _separates(chunk, _SEPARATES_AFTER, -1)
    return words


def _standard(chunk: str) -> str:
    inner = chunk.strip(_EDGES)
    if len(inner) <= _LONGEST_NUMBER and (number := _NUMBER.fullmatch(inner)):
        sign, whole, decimals = number.groups()
        digits = whole.replace(",", "").lstrip("0") or "0"
        decimals = (decimals or "").rstrip("0").rstrip(".")
        return f"{'-' if sign == '-' else ''}{digits}{decimals}"
    parts = [part for part in _MARKS.split(chunk.lower()) if part]
    # The parts of a date, a time or a range stay apart: 1-8 is not 18.
    return ("-" if any(map(str.isdigit, chunk)) else "").join(parts)


def _separates(chunk: str, marks: Collection[str], step: int) -> bool:
    """Whether a separating mark stands at the chunk's beginning (1) or end (-1), other marks aside."""
    for character in chunk[::step]:
        if character.isalnum():
            return False
        if character in marks:
            return True
    return False


def _texts(words: Sequence[_Word]) -> tuple[str, ...]:
    return tuple(word.text for word in words)


def _accepted_words(accepted: Sequence[Any]) -> list[tuple[str, ...]]:
    """The words of each accepted answer, longest first."""
    return sorted(filter(None, (_texts(_words(str(answer))) for answer in accepted)), key=len, reverse=True)


# The verdict.


def _judge(words: Sequence[_Word], accepted: Sequence[tuple[str, ...]]) -> tuple[float, str]:
    if len(words) > _MOST_READ:
        return 0.0, f"more than {_MOST_READ} words"
    spans, rest = _matched(words, accepted)
    if not spans:
        return 0.0, "no accepted answer"
    free = _CARRIERS | _JOINERS if any(set(text) & _UNITS for text, _ in spans) else _CARRIERS | _JOINERS | _UNITS
    new = [word for word in rest if word.text not in free]
    if len(rest) > _MOST_WORDS or len(new) > _MOST_NEW_WORDS:
        return 0.0, f"{len(rest)} words beside the answer"
    if negation := next((word.text for word in rest if word.text in _NEGATIONS), None):
        return 0.0, f"a negation or a doubt: {negation}"
    if not new:
        return 1.0, ""
    if any(word.text in _JOINERS for word in rest):
        return 0.0, "something else is joined to the answer"
    segments = {segment for _, span in spans for segment in span}
    if any(word.segment not in segments for word in new):
        return 0.0, "something else stands beside the answer"
    if any(_is_number(text) for text, _ in spans) and any(_is_number((word.text,)) for word in new):
        return 0.0, "several numbers"
    return 1.0 / (len(new) + 1), f"{len(new)} more words: {' '.join(word.text[:20] for word in new)}"


def _matched(
    words: Sequence[_Word], accepted: Sequence[tuple[str, ...]]
) -> tuple[list[tuple[tuple[str, ...], set[int]]], list[_Word]]:
    """The accepted answers in the words, each with the segments it lies in, and the other words."""
    spans, rest = [], []
    place = 0
    while place < len(words):
        found = next((a for a in accepted if _texts(words[place : place + len(a)]) == a), None)
        if found is None:
            rest.append(words[place])
            place += 1
        else:
            spans.append((found, {word.segment for word in words[place : place + len(found)]}))
            place += len(found)
    return spans, rest


def _is_number(texts: Sequence[str]) -> bool:
    return any(text in _NUMBER_WORDS or text.lstrip("-")[:1].isdigit() for text in texts)
