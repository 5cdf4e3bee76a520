"""A memory written by rule from what users said: the reference, where no policy has written one.

Nothing is looked at but the users' words. The archival memory keeps them whole, as they fit its 50 texts of 2,000
characters (all five official scenarios do). Where there is less room, in core memory and in the summary, ``condense``
keeps the clauses that bring in the most words that were not there yet, names and numbers first, without words that
say little.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from callgym.envs.bfcl.memory.session import open_store
from callgym.envs.bfcl.memory.store import (
    CORE_ENTRIES,
    CORE_LENGTH,
    LONG_TERM_ENTRIES,
    LONG_TERM_LENGTH,
    MemoryStore,
    check_store,
)
from callgym.envs.bfcl.memory.summary import SUMMARY_LENGTH
from callgym.envs.bfcl.words import STOP_WORDS, WORD

__all__ = ["Conversation", "condense", "reference_snapshot"]


class Conversation(NamedTuple):
    """One earlier conversation."""

    id: str
    topic: str
    """What it was about, in a few words."""
    turns: tuple[str, ...]
    """What the user said, in order."""


class _Note(NamedTuple):
    topic: str
    text: str


def reference_snapshot(
    conversations: Sequence[Conversation], store: str, core: Sequence[Conversation] | None = None
) -> dict[str, Any]:
    """The snapshot of a store in which the users' words were written down; the same for the same words.

    Args:
        conversations: In the order in which they took place.
        store: ``kv``, ``vector`` or ``rec_sum``.
        core: The conversations of which core memory has notes; all of them by default.

    Raises:
        ConfigurationError: There is no such store.
    """
    memory = open_store(check_store(store))
    if store == "rec_sum":
        _run(memory, "memory_append", text=condense(conversations, SUMMARY_LENGTH))
        return memory.snapshot()
    core_notes = _core_notes(conversations if core is None else core)
    for level, notes in (("core_memory", core_notes), ("archival_memory", _archival_notes(conversations))):
        for key, note in zip(_keys(notes), notes, strict=True):
            arguments = {"key": key, "value": note.text} if store == "kv" else {"text": note.text}
            _run(memory, f"{level}_add", **arguments)
    return memory.snapshot()


def _run(memory: MemoryStore, tool: str, **arguments: str) -> None:
    result = memory.call(tool, arguments)
    if "error" in result:
        raise AssertionError(f"{tool}: {result['error']}")


# Whole texts in pieces.


def _archival_notes(conversations: Sequence[Conversation]) -> list[_Note]:
    """The users' words in at most 50 pieces, as short as that allows: short ones are easier to find."""
    for size in range(400, LONG_TERM_LENGTH + 1, 100):
        notes = [_Note(c.topic, piece) for c in conversations for piece in _pieces(c.turns, size)]
        if len(notes) <= LONG_TERM_ENTRIES:
            return notes
    whole = [turn for conversation in conversations for turn in conversation.turns]
    pieces = list(_pieces(whole, LONG_TERM_LENGTH))
    if len(pieces) > LONG_TERM_ENTRIES:
        # What fits, condensed. A piece is filled to more than half its size.
        whole = condense(conversations, LONG_TERM_ENTRIES * LONG_TERM_LENGTH // 2).split("\n")
        pieces = list(_pieces(whole, LONG_TERM_LENGTH))
    return [_Note("notes", piece) for piece in pieces[:LONG_TERM_ENTRIES]]


def _core_notes(conversations: Sequence[Conversation]) -> list[_Note]:
    """Up to seven short texts: all that was said where it fits, else what is most worth to have at hand."""
    whole = [_Note(c.topic, piece) for c in conversations for piece in _pieces(c.turns, CORE_LENGTH)]
    if len(whole) <= CORE_ENTRIES:
        return whole
    for share in range(100, 0, -5):
        lines = _condensed(conversations, CORE_ENTRIES * CORE_LENGTH * share // 100)
        notes = list(_packed(lines, CORE_LENGTH))
        if len(notes) <= CORE_ENTRIES:
            return notes
    return []


def _packed(lines: Iterable[_Note], size: int) -> Iterator[_Note]:
    """Lines joined as far as they fit; a note has the topic of its first."""
    topic, text = "", ""
    for line in lines:
        for part in _pieces([line.text], size):
            if text and len(text) + 1 + len(part) > size:
                yield _Note(topic, text)
                text = ""
            topic = topic if text else line.topic
            text = f"{text} {part}" if text else part
    if text:
        yield _Note(topic, text)


def _pieces(turns: Sequence[str], size: int) -> Iterator[str]:
    """Texts joined and cut to pieces of at most ``size`` characters, between sentences where that is possible."""
    piece = ""
    for turn in turns:
        for number, sentence in enumerate(_sentences(turn)):
            mark = "\n" if number == 0 else " "
            if piece and len(piece) + 1 + len(sentence) > size:
                yield piece
                piece = ""
            while len(sentence) > size:
                end = sentence.rfind(" ", 1, size + 1)
                end = size if end <= 0 else end
                yield sentence[:end]
                sentence = sentence[end:].lstrip()
            piece = f"{piece}{mark}{sentence}" if piece else sentence
    if piece:
        yield piece


_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'’”)]?\s+|\n+")


def _sentences(text: str) -> list[str]:
    sentences, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        sentences.append(text[start : end.end()].strip())
        start = end.end()
    return [sentence for sentence in [*sentences, text[start:].strip()] if sentence]


# Keys.


def _keys(notes: Sequence[_Note]) -> list[str]:
    """A key a note: its topic's first words and the words that tell it apart from the others."""
    words = [_key_words(note.text) for note in notes]
    spread = Counter(word for counts in words for word in counts)
    keys: list[str] = []
    for note, counts in zip(notes, words, strict=True):
        topic = list(_key_words(note.topic))[:3] or ["note"]
        telling = sorted(counts, key=lambda word: (-counts[word] / spread[word], word))
        key = "_".join([*topic, *[word for word in telling if word not in topic][:5]])
        number = 2
        unique = key
        while unique in keys:
            unique, number = f"{key}_{number}", number + 1
        keys.append(unique)
    return keys


def _key_words(text: str) -> Counter[str]:
    """Words of four letters or more, for a key: ASCII letters in lower case."""
    folded = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    return Counter(word for word in re.findall(r"[a-z]+", folded) if len(word) > 3 and word not in STOP_WORDS)


# Condensing.

_CLAUSE_END = re.compile(r"\s*[—–;]\s*|(?<=[^\d]),\s+(?=(?:and|but|so|which|who|because|though|although|while)\b)")
_FILLERS = re.compile(
    r"\b(?:you know|i mean|to be honest|i guess|i think|i feel like|of course|kind of|sort of|a bit|a lot of|"
    r"for sure|as well|in fact|by the way|let's say|if you will|i have to say|honestly|actually|basically|really|just|"
    r"definitely|pretty|super|very|quite|maybe|probably|literally|simply|truly|absolutely|totally|well|oh|hey|yeah|"
    r"so|also|even|though|anyway|especially|particularly|certainly|obviously)\b,?\s*",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"\b(?:the|a|an|is|are|was|were|be|been|being|am|it|it['’]s|i|i['’]m|i['’]ve|i['’]d|i['’]ll|that|this|these|those|"
    r"there|there['’]s|that['’]s|has|have|had|would|could|can|will|do|does|did|my|me|we|we['’]re|we['’]ve|our|they|"
    r"their|them|which|who|where|when)\s+",
    re.IGNORECASE,
)
_NUMBER_WEIGHT = 3.0
_NAME_WEIGHT = 2.0
_SINGLE_LETTER_WEIGHT = 0.2


def condense(conversations: Sequence[Conversation], size: int) -> str:
    """What the users said, in at most ``size`` characters: their words whole where they fit, else the clauses of
    ``_condensed`` in their order, a line a conversation."""
    whole = "\n".join(turn for conversation in conversations for turn in conversation.turns)
    if len(whole) <= size:
        return whole
    lines: dict[str, list[str]] = {}
    for note in _condensed(conversations, size):
        lines.setdefault(note.topic, []).append(note.text)
    return "\n".join(". ".join(clauses) for clauses in lines.values())


def _condensed(conversations: Sequence[Conversation], size: int) -> list[_Note]:
    """The clauses that bring in the most, per character, of what was not there yet; in their order."""
    notes = [
        _Note(conversation.topic, short)
        for conversation in conversations
        for turn in conversation.turns
        for sentence in _sentences(turn)
        for clause in _CLAUSE_END.split(sentence)
        if (short := _shortened(clause))
    ]
    features = [_features(note.text) for note in notes]
    covered: set[str] = set()
    # What a clause brings in only shrinks as others are taken, so the best is found without asking all again.
    heap = [(-_worth(f, covered) / (len(n.text) + 2), i) for i, (f, n) in enumerate(zip(features, notes, strict=True))]
    heapq.heapify(heap)
    taken: list[int] = []
    left = size
    while heap:
        old, number = heapq.heappop(heap)
        cost = len(notes[number].text) + 2
        if cost > left:
            continue
        now = -_worth(features[number], covered) / cost
        if now >= 0:
            continue
        if now > old + 1e-12:
            heapq.heappush(heap, (now, number))
            continue
        taken.append(number)
        covered.update(features[number])
        left -= cost
    return [notes[number] for number in sorted(taken)]


def _shortened(clause: str) -> str:
    """The clause without fillers, articles, pronouns and auxiliaries."""
    short = " ".join(_DROPPED.sub(_unless_capitals, _FILLERS.sub("", clause)).split())
    return short.strip(" ,.!?:").strip()


def _unless_capitals(match: re.Match[str]) -> str:
    """Nothing; but "10 AM" is a time and "IT" a department."""
    word = match.group()
    return word if len(word.strip()) > 1 and word.isupper() else ""


def _features(text: str) -> dict[str, float]:
    """Word to weight, and pairs of neighbouring content words: phrases are worth keeping whole."""
    weights: dict[str, float] = {}
    before = ""
    for place, match in enumerate(WORD.finditer(text)):
        word = match.group()
        lower = word.lower()
        if lower in STOP_WORDS:
            before = ""
            continue
        weight = _word_weight(word, place)
        weights[lower] = max(weights.get(lower, 0.0), weight)
        if before:
            weights.setdefault(f"{before} {lower}", weight / 4)
        before = lower
    return weights


def _word_weight(word: str, place: int) -> float:
    if any(character.isdigit() for character in word):
        return _NUMBER_WEIGHT
    if len(word) == 1:
        return _SINGLE_LETTER_WEIGHT
    return _NAME_WEIGHT if word[0].isupper() and place else 1.0


def _worth(features: dict[str, float], covered: set[str]) -> float:
    return sum(weight for word, weight in features.items() if word not in covered)
