"""The key-value store: a small core memory that is always shown, and a large archival one behind tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rank_bm25 import BM25Plus

from callgym.envs.bfcl.memory.store import CORE_ENTRIES, CORE_LENGTH, LONG_TERM_ENTRIES, LONG_TERM_LENGTH, MemoryStore
from callgym.errors import DataError

__all__ = ["MemoryKv"]

# A key may end in a newline, as in the official pattern.
_KEY = re.compile(r"[a-z]+(?:_[a-z0-9]+)*\n?", re.ASCII)
_MAX_KEY_LENGTH = 2000
_MAX_QUERY_WORDS = 1000


@dataclass(frozen=True, slots=True)
class _Level:
    """What differs between the two levels."""

    title: str
    added: str
    entries: int
    length: int


_CORE = _Level("Core memory", "Key-value pair added.", CORE_ENTRIES, CORE_LENGTH)
_ARCHIVAL = _Level("Long term memory", "Key added.", LONG_TERM_ENTRIES, LONG_TERM_LENGTH)
_BAD_KEY = {"error": "Key must be in snake_case format and cannot contain spaces."}
_NO_KEY = {"error": "Key not found."}


class _Entries:
    """One level; its methods are tools."""

    def __init__(self, level: _Level) -> None:
        self._level = level
        self.values: dict[str, str] = {}

    def _too_long(self) -> dict[str, str]:
        return {"error": f"Entry is too long. Please shorten the entry to less than {self._level.length} characters."}

    def add(self, key: Any, value: Any) -> Any:
        key, value = str(key), str(value)
        if len(self.values) >= self._level.entries:
            return {"error": f"{self._level.title} is full. Please clear some entries."}
        if len(value) > self._level.length:
            return self._too_long()
        # Officially a key has no limit; one of this length is no key and would make every search slow.
        if len(key) > _MAX_KEY_LENGTH or _KEY.fullmatch(key) is None:
            return dict(_BAD_KEY)
        if key in self.values:
            return {"error": "Key name must be unique."}
        self.values[key] = value
        return {"status": self._level.added}

    def remove(self, key: Any) -> Any:
        if key not in self.values:
            return dict(_NO_KEY)
        del self.values[key]
        return {"status": "Key removed."}

    def replace(self, key: Any, value: Any) -> Any:
        key, value = str(key), str(value)
        if key not in self.values:
            return dict(_NO_KEY)
        if len(value) > self._level.length:
            return self._too_long()
        self.values[key] = value
        return {"status": "Key replaced."}

    def clear(self) -> Any:
        self.values = {}
        return {"status": f"{'Short' if self._level is _CORE else 'Long'} term memory cleared."}

    def retrieve(self, key: Any) -> Any:
        return {"value": self.values[key]} if key in self.values else dict(_NO_KEY)

    def retrieve_all(self) -> Any:
        return dict(self.values)

    def list_keys(self) -> Any:
        return {"keys": list(self.values)}

    def key_search(self, query: Any, k: Any = 5) -> Any:
        """BM25+ over the words of the keys; raises on an empty memory, as officially."""
        keys = list(self.values)
        index = BM25Plus([_words(key) for key in keys])
        # A word in no key adds exactly 0. Officially all others count, however often they stand in the query.
        known = [word for word in _words(query) if word in index.idf][:_MAX_QUERY_WORDS]
        scores = index.get_scores(known)
        ranked = sorted(zip(scores, keys, strict=True), key=lambda pair: pair[0], reverse=True)
        return {"ranked_results": [[float(score), key] for score, key in ranked[:k]]}


def _words(text: Any) -> list[str]:
    words: list[str] = text.replace("_", " ").lower().split()
    return words


class MemoryKv(MemoryStore):
    """Two key-value memories: core (7 entries of 300 characters) and archival (50 of 2,000).

    Keys are snake_case. A search in an empty memory divides by zero, officially too.
    """

    official = "MemoryAPI_kv"

    def __init__(self) -> None:
        self._core = _Entries(_CORE)
        self._archival = _Entries(_ARCHIVAL)
        self._methods: dict[str, Callable[..., Any]] = {}
        for prefix, entries in (("core_memory", self._core), ("archival_memory", self._archival)):
            for tool in ("add", "remove", "replace", "clear", "retrieve", "list_keys", "key_search"):
                self._methods[f"{prefix}_{tool}"] = getattr(entries, tool)
        self._methods["core_memory_retrieve_all"] = self._core.retrieve_all

    def snapshot(self) -> dict[str, Any]:
        """``{"core_memory": {key: text}, "archival_memory": {key: text}}``."""
        return {"core_memory": dict(self._core.values), "archival_memory": dict(self._archival.values)}

    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Replace the content by a snapshot's; raises DataError if it is none."""
        core, archival = (_checked(snapshot, level) for level in ("core_memory", "archival_memory"))
        self._core.values, self._archival.values = core, archival

    def context_text(self) -> str:
        """The core memory as indented JSON, or that it is empty."""
        if not self._core.values:
            return "There is no content in the core memory at this point."
        return json.dumps(self._core.values, indent=4)


def _checked(snapshot: Mapping[str, Any], level: str) -> dict[str, str]:
    values = snapshot.get(level, {}) if snapshot else {}
    if (snapshot and level not in snapshot) or not isinstance(values, Mapping):
        raise DataError(f"a snapshot of the store kv is an object with {level}, an object of key to text")
    for key, value in values.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise DataError(
                f"{level} of a kv snapshot maps keys to texts; found {str(key)[:40]!r}: {str(value)[:40]!r}"
            )
    return dict(values)
