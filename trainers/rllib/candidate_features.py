"""Texts as hashed bags of words: numbers that a small network can compare, the same in every process.

A feature is a word, or two words in a row; its place is the CRC-32 of it, modulo the number of places. Python's own
``hash`` differs from process to process, and so would what two workers make of one text. Whether a word occurs
counts, not how often: places are 0 or 1. In very long texts most places are 1, and a bag says little.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bag_of_words", "message_text", "tools_text"]

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDING = 2  # characters: enough to see whether a call was closed


def bag_of_words(texts: Iterable[str], places: int) -> NDArray[np.float32]:
    """The features of some texts together.

    Args:
        texts: What is read; no pair of words goes across two of them.
        places: Length of the result.

    Returns:
        Float32 of shape ``(places,)``: 1 where a feature of the texts falls, 0 elsewhere.
    """
    bag = np.zeros(places, dtype=np.float32)
    bag[[zlib.crc32(feature.encode("utf-8", "replace")) % places for text in texts for feature in _features(text)]] = 1
    return bag


def _features(text: str) -> set[str]:
    """Words as a whole, their parts (``FindBook``, ``B8089``), pairs of parts, and how the text ends."""
    words = _WORD.findall(text)
    parts: list[str] = []
    for word in words:
        parts += _parts(word)
    pairs = {f"{first} {second}" for first, second in pairwise(parts)}
    return {*parts, *map(str.lower, words), *pairs, f"$ {text.rstrip()[-_ENDING:]}"}


@lru_cache(maxsize=16_384)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(_PARTS.findall(_CAMEL.sub(" ", word).lower()))


def message_text(message: Mapping[str, Any]) -> str:
    """What a message in OpenAI's shape says: its words, and the calls it makes."""
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    made = [f"{call['name']} {_values(call['arguments'])}" for call in calls]
    return " ".join(filter(None, (message.get("content"), *made)))


def tools_text(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names, descriptions and parameters of tools in OpenAI's shape, a text a tool."""
    functions = [tool["function"] for tool in tools]
    return [
        f"{function['name']} {function.get('description', '')} "
        f"{_values((function.get('parameters') or {}).get('properties', {}))}"
        for function in functions
    ]


def _values(value: Any) -> str:
    """Keys and values of JSON in order, without its punctuation. A loop, since JSON may be nested deeply."""
    found: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            for key, inner in reversed(list(item.items())):
                stack += (inner, key)
        elif isinstance(item, (list, tuple)):
            stack += reversed(item)
        else:
            found.append(str(item))
    return " ".join(found)
