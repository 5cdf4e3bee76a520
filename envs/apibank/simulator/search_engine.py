"""API-Bank's SearchEngine: the two documents of its table that BM25 ranks first for a keyword.

    >>> best_documents(database, "sustainable development goals")[0]["title"]
    'What Are the Sustainable Development Goals?'

The table holds its documents raw and cut into words. The official tool cuts the keyword with NLTK's
``word_tokenize``; ``keyword_tokens`` gives the same words without that package. Only where a sentence
ends within a keyword may the two differ: NLTK asks a trained model, this a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

__all__ = ["best_documents", "keyword_tokens"]

_SHOWN = 2

# What is a token of its own wherever it stands; an apostrophe only where it opens a quotation.
_ALONE = (
    r"\.{2,}|--|``?|''|[\"«»“”‘’„;@#$%&*?!()\[\]{}<>\u2012-\u2015]"
    r"|(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)"
)
# A comma or colon stays in a word before a digit: "3,36".
_IN_WORD = rf"(?:(?!{_ALONE})[^\s:,]|[:,](?=\d))"
# Where two commas stand together, the second begins a word.
_PIECE = re.compile(rf"(?P<word>{_IN_WORD}++)|(?P<alone>{_ALONE})|(?P<comma>[:,])(?P<glued>[:,]{_IN_WORD}*+)?")
_BEFORE_OPENING_QUOTE = frozenset(" ([{<«“‘„`")

_PERIOD = re.compile(r"(.*[^.])\.('?)", re.DOTALL)
_CLOSERS = re.compile(r"[\]\)}>\"'»”’]*+")
_ABBREVIATION = re.compile(
    r"[^\W_]|\d+|[^\W\d](?:\.[^\W\d])+|mrs?|ms|drs?|prof|st|[js]r|vs|co|corp|inc|ltd|gen|gov|sen|rep"
)
_SUFFIXES = (
    re.compile(r"(?<=[^'])'\Z"),
    re.compile(r"(?<=[^'])'[smd]?\Z"),
    re.compile(r"(?<=[^'])(?:'ll|'re|'ve|n't)\Z"),
)
_CONTRACTION = re.compile(
    r"\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n)|(wan)(na)(?!\S))\b"
)


def best_documents(database: Mapping[str, Any], keyword: str) -> list[dict[str, Any]]:
    """The two best raw documents for ``keyword``, the better one first.

    BM25 Okapi with k1 1.5, b 0.75 and epsilon 0.25. Of equal scores the earlier document stands
    first; officially their order is NumPy's unstable sort's, which differs by processor.

    Args:
        database: The table, with ``raw_documents`` and as many ``tokenized_documents``.
        keyword: The words to search for; case and white space around them do not count.
    """
    documents: Sequence[dict[str, Any]] = database["raw_documents"]
    index = _index_of(tuple(map(tuple, database["tokenized_documents"])))
    ranked = np.argsort(-index.scores(keyword_tokens(keyword.lower().strip())), kind="stable")
    return [documents[i] for i in ranked[:_SHOWN]]


class _Index:
    """A tokenised corpus; what a word adds to each document's score is worked out once."""

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        self._bm25 = BM25Okapi(corpus, k1=1.5, b=0.75, epsilon=0.25)
        self._of_word: dict[str, NDArray[np.float64]] = {}

    def scores(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The score of each document. Added up word by word, so it is the library's to the last bit."""
        total = np.zeros(self._bm25.corpus_size)
        for word in words:
            if word in self._bm25.idf:
                if word not in self._of_word:
                    self._of_word[word] = self._bm25.get_scores([word])
                total += self._of_word[word]
        return total


@lru_cache(maxsize=8)
def _index_of(corpus: tuple[tuple[str, ...], ...]) -> _Index:
    """One index for every copy of the same corpus: each episode has a database of its own."""
    return _Index(corpus)


def keyword_tokens(text: str) -> list[str]:
    """The words and signs of a lower-case text, as NLTK's ``word_tokenize`` cuts it."""
    return [token for token in _tokens(text.strip()) if token]


def _tokens(text: str) -> Iterator[str]:
    """The tokens, and between them some empty ones."""
    for piece in _PIECE.finditer(text):
        if piece["alone"]:
            yield _as_written(piece["alone"], text, piece.start())
            continue
        if piece["comma"]:
            yield piece["comma"]
        yield from _word_tokens(piece["word"] or piece["glued"] or "", text, piece.end())


def _as_written(sign: str, text: str, start: int) -> str:
    """The sign; a double quotation mark is written with two backticks or two apostrophes."""
    if sign not in ('"', "''"):
        return sign
    before = text[start - 1 : start]
    opens = before in _BEFORE_OPENING_QUOTE if before else sign == '"'
    return "``" if opens or (start == 1 and before == sign == '"') else "''"


def _word_tokens(word: str, text: str, end: int) -> Iterator[str]:
    rest: list[str] = []
    period = _PERIOD.fullmatch(word)
    if period is not None and _ends_sentence(period[1], text, end):
        word, rest = period[1], [".", period[2]]
    # An apostrophe before white space is cut off first, and what then ends the word is looked at again.
    for suffix in _SUFFIXES if text[end : end + 1].isspace() else _SUFFIXES[1:]:
        found = suffix.search(word)
        if found is not None:
            word = word[: found.start()]
            rest.insert(0, found.group())
    cut = 0
    for contraction in _CONTRACTION.finditer(word):
        yield word[cut : contraction.start()]
        yield from (part for part in contraction.groups() if part is not None)
        cut = contraction.end()
    yield from (word[cut:], *rest)


def _ends_sentence(stem: str, text: str, end: int) -> bool:
    closed = _CLOSERS.match(text, end)
    assert closed is not None
    behind = text[closed.end() : closed.end() + 1]
    if behind.isspace():
        return _ABBREVIATION.fullmatch(stem) is None
    return not behind
