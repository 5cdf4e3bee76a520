"""Texts as unit vectors, for the vector store.

The official store uses ``all-MiniLM-L6-v2``. The default here needs nothing but numpy, compares words and parts of
words, and gives the same vectors on any machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from callgym.envs.bfcl.words import STOP_WORDS, WORD
from callgym.errors import ConfigurationError
from callgym.tool_backends.ranking import MiniLmRanker

__all__ = ["Embedder", "LexicalEmbedder", "MiniLmEmbedder", "get_embedder"]

_SIZE = 1024
_MAX_CHARACTERS = 8_192
_ENDING = re.compile(r"(.{3,}?)(?:ies|es|s|ing|ed|e|y)?", re.DOTALL)
_PART = 4
_PART_WEIGHT = 0.35
_STOP_WEIGHT = 0.1


class Embedder(Protocol):
    """Makes vectors of texts; the same vector for the same text."""

    @property
    def name(self) -> str:
        """The name to report it by."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One unit vector a text, of shape (texts, size); at least one text."""


def get_embedder(spec: str | Embedder) -> Embedder:
    """The embedder for "lexical" or "minilm"; an Embedder is returned as it is.

    Raises:
        ConfigurationError: ``spec`` is neither.
        MissingPackageError: "minilm" without the packages of the extra ``search``.
    """
    if not isinstance(spec, str):
        if callable(getattr(spec, "embed", None)):
            return spec
    elif spec == "lexical":
        return LexicalEmbedder()
    elif spec == "minilm":
        return MiniLmEmbedder()
    raise ConfigurationError(f"there is no embedder {str(spec)[:80]!r}; the embedders are: lexical, minilm")


class LexicalEmbedder:
    """Words and parts of words, hashed into 1,024 signed counts.

    A word counts by its stem; frequent function words hardly count, and parts of four letters bring together what
    a stem keeps apart. Of a text the first 8,192 characters are read.
    """

    name = "lexical"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One unit vector a text, of shape (texts, 1024)."""
        return np.stack([_lexical_vector(text[:_MAX_CHARACTERS]) for text in texts])


@lru_cache(maxsize=4096)
def _lexical_vector(text: str) -> NDArray[np.float64]:
    counts: dict[str, float] = {}
    # A text without words is its characters: every text has a vector.
    for word in WORD.findall(text.lower()) or list(text) or [""]:
        for feature, weight in _features(word):
            counts[feature] = counts.get(feature, 0.0) + weight
    vector = np.zeros(_SIZE)
    for feature, count in counts.items():
        # Python's own hash differs from process to process.
        code = crc32(feature.encode("utf-8", "surrogatepass"))
        vector[code % _SIZE] += np.sqrt(count) * (1.0 if code & 0x80000000 else -1.0)
    length = np.sqrt((vector * vector).sum())
    if length == 0.0:  # all features cancelled each other
        vector[0] = length = 1.0
    vector /= length
    vector.flags.writeable = False
    return vector


@lru_cache(maxsize=16384)
def _features(word: str) -> tuple[tuple[str, float], ...]:
    if word in STOP_WORDS:
        return ((word, _STOP_WEIGHT),)
    match = _ENDING.fullmatch(word)
    stem = word if match is None else match[1]
    framed = f"^{word[:64]}$"
    parts = tuple((f"~{framed[i : i + _PART]}", _PART_WEIGHT) for i in range(len(framed) - _PART + 1))
    return ((stem, 1.0), *parts)


class MiniLmEmbedder:
    """The sentence encoder of ``callgym.tool_backends.ranking`` (paraphrase-MiniLM-L3-v2; extra ``search``).

    Raises:
        MissingPackageError: Its packages are not installed.
    """

    name = "minilm"

    def __init__(self) -> None:
        MiniLmRanker()  # says what is missing

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One unit vector a text, of shape (texts, 384)."""
        return np.stack([_minilm_vector(text[:_MAX_CHARACTERS]) for text in texts])


@lru_cache(maxsize=4096)
def _minilm_vector(text: str) -> NDArray[np.float64]:
    from callgym.tool_backends import ranking

    encoder = ranking._encoder(*ranking._packaged_files())
    vector = np.asarray(encoder.embed_query(text), dtype=np.float64)
    vector.flags.writeable = False
    return vector
