"""The vector store: texts found by similarity, in a small core memory and a large archival one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callgym.envs.bfcl.memory.embedding import Embedder, get_embedder
from callgym.envs.bfcl.memory.store import CORE_ENTRIES, CORE_LENGTH, LONG_TERM_ENTRIES, LONG_TERM_LENGTH, MemoryStore
from callgym.errors import DataError

__all__ = ["MemoryVector"]

_DIGITS = 6


class _Texts:
    """One level; its methods are tools."""

    def __init__(self, entries: int, length: int, embedder: Embedder) -> None:
        self._entries = entries
        self._length = length
        self._embedder = embedder
        self.next_id = 0
        self.texts: dict[int, str] = {}
        # The order of the official index: a changed text goes to its end.
        self._order: list[int] = []
        self._vectors: NDArray[np.float64] | None = None

    def _changed(self) -> None:
        self._vectors = None

    def put(self, next_id: int, texts: dict[int, str]) -> None:
        """Replace everything."""
        self.next_id, self.texts, self._order = next_id, texts, sorted(texts)
        self._changed()

    def _too_long(self) -> dict[str, str]:
        return {"error": f"Entry length exceeds maximum length of {self._length} characters."}

    def add(self, text: Any) -> Any:
        _require_text(text)
        if len(text) > self._length:
            return self._too_long()
        if len(self.texts) >= self._entries:
            return {"error": f"Memory size exceeds maximum size of {self._entries} entries."}
        number = self.next_id
        self.next_id += 1
        self.texts[number] = text
        self._order.append(number)
        self._changed()
        return {"id": number}

    def remove(self, vec_id: Any) -> Any:
        if vec_id not in self.texts:
            return {"error": f"ID {vec_id} not present in store."}
        self._order.remove(vec_id)
        del self.texts[vec_id]
        self._changed()
        return {"status": f"ID {vec_id} removed from store."}

    def update(self, vec_id: Any, new_text: Any) -> Any:
        if vec_id not in self.texts:
            return {"error": f"ID {vec_id} not present in store."}
        _require_text(new_text)
        if len(new_text) > self._length:
            return self._too_long()
        self._order.remove(vec_id)
        self._order.append(int(vec_id))
        self.texts[int(vec_id)] = new_text
        self._changed()
        return {"status": f"ID {vec_id} updated."}

    def clear(self) -> Any:
        self.put(0, {})
        return {"status": "Memory cleared."}

    def retrieve(self, query: Any, top_k: Any = 5) -> Any:
        if not self.texts:
            return {"result": []}
        _require_text(query)
        count = min(top_k, len(self.texts))
        if count <= 0:
            raise AssertionError  # the official index says no more than that
        if self._vectors is None:
            self._vectors = self._embedder.embed([self.texts[number] for number in self._order])
        # Rounded: the last digits differ between machines, and so could the order of equal ones.
        scores = np.round(self._vectors @ self._embedder.embed([query])[0], _DIGITS)
        best = np.argsort(-scores, kind="stable")[:count]
        return {"result": [self._found(self._order[place], float(scores[place])) for place in best]}

    def _found(self, number: int, score: float) -> dict[str, Any]:
        return {"id": number, "similarity_score": score, "text": self.texts[number]}

    def retrieve_all(self) -> Any:
        return {"result": [{"id": number, "text": text} for number, text in self.texts.items()]}


def _require_text(value: Any) -> None:
    # Officially a list of texts would be stored as it is; no schema allows it.
    if not isinstance(value, str):
        raise TypeError(f"object of type '{type(value).__name__}' is no text")


class MemoryVector(MemoryStore):
    """Two memories of texts: core (7 of 300 characters) and archival (50 of 2,000).

    Ids count up from 0 in each and start anew when it is cleared. An empty core memory shows as ``{}``, as
    officially, where only the key-value store says that it is empty.

    Args:
        embedder: What compares texts: "lexical", "minilm" or an Embedder; similarities are rounded to 6 digits.
    """

    official = "MemoryAPI_vector"

    def __init__(self, embedder: str | Embedder = "lexical") -> None:
        chosen = get_embedder(embedder)
        self._core = _Texts(CORE_ENTRIES, CORE_LENGTH, chosen)
        self._archival = _Texts(LONG_TERM_ENTRIES, LONG_TERM_LENGTH, chosen)
        self._methods: dict[str, Callable[..., Any]] = {
            f"{prefix}_{tool}": getattr(texts, tool)
            for prefix, texts in (("core_memory", self._core), ("archival_memory", self._archival))
            for tool in ("add", "remove", "update", "clear", "retrieve", "retrieve_all")
        }

    def snapshot(self) -> dict[str, Any]:
        """``{"core_memory": {"next_id", "store": {id: text}}, "archival_memory": ...}``, ids as texts."""
        return {
            level: {"next_id": texts.next_id, "store": {str(number): text for number, text in texts.texts.items()}}
            for level, texts in (("core_memory", self._core), ("archival_memory", self._archival))
        }

    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Replace the content by a snapshot's; raises DataError if it is none."""
        core, archival = (_checked(snapshot, level) for level in ("core_memory", "archival_memory"))
        self._core.put(*core)
        self._archival.put(*archival)

    def context_text(self) -> str:
        """The core memory as indented JSON, id to text."""
        return json.dumps(self._core.texts, indent=4)


def _checked(snapshot: Mapping[str, Any], level: str) -> tuple[int, dict[int, str]]:
    if not snapshot:
        return 0, {}
    content = snapshot.get(level)
    if not isinstance(content, Mapping) or not isinstance(content.get("store"), Mapping):
        raise DataError(f'a snapshot of the store vector is an object with {level}: {{"next_id", "store": id to text}}')
    next_id = content.get("next_id")
    try:
        texts = {int(number): text for number, text in content["store"].items()}
    except (TypeError, ValueError):
        raise DataError(f"{level} of a vector snapshot maps whole numbers to texts") from None
    if not all(isinstance(text, str) for text in texts.values()):
        raise DataError(f"{level} of a vector snapshot maps whole numbers to texts")
    if type(next_id) is not int or any(number >= next_id or number < 0 for number in texts):
        raise DataError(f"{level} of a vector snapshot: next_id is the whole number after the largest id used")
    return next_id, texts
