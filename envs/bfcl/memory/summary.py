"""The recursive summary: one text, which the system message shows whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from callgym.envs.bfcl.memory.store import MemoryStore
from callgym.errors import DataError

__all__ = ["SUMMARY_LENGTH", "MemorySummary"]

SUMMARY_LENGTH = 10_000
"""Characters of the text."""
_MOST_AFTER_REPLACING = 10 * SUMMARY_LENGTH


class MemorySummary(MemoryStore):
    """One text of up to 10,000 characters.

    Officially a replacement is only limited in the length of the new text, not of what comes out, which a few
    calls can make endless; here ten times the limit is the end.
    """

    official = "MemoryAPI_rec_sum"

    def __init__(self) -> None:
        self._text = ""
        self._methods: dict[str, Callable[..., Any]] = {
            "memory_append": self._append,
            "memory_clear": self._clear,
            "memory_replace": self._replace,
            "memory_retrieve": self._retrieve,
            "memory_update": self._update,
        }

    def _append(self, text: Any) -> Any:
        text = str(text)
        if len(self._text) + len(text) > SUMMARY_LENGTH:
            return _too_long("appending")
        self._text += text
        return {"status": "Memory appended."}

    def _update(self, text: Any) -> Any:
        text = str(text)
        if len(text) > SUMMARY_LENGTH:
            return _too_long("updating")
        self._text = text
        return {"status": "Memory updated."}

    def _clear(self) -> Any:
        self._text = ""
        return {"status": "Short term memory cleared."}

    def _replace(self, old_text: Any, new_text: Any) -> Any:
        old, new = str(old_text), str(new_text)
        if old not in self._text:
            return {"error": f"Text '{old}' not found in memory."}
        after = len(self._text) + self._text.count(old) * (len(new) - len(old))
        if len(new) > SUMMARY_LENGTH or after > _MOST_AFTER_REPLACING:
            return _too_long("replacing")
        self._text = self._text.replace(old, new)
        return {"status": "Memory updated."}

    def _retrieve(self) -> Any:
        return {"memory_content": self._text} if self._text else {"error": "Memory is empty."}

    def snapshot(self) -> dict[str, Any]:
        """``{"memory": text}``."""
        return {"memory": self._text}

    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Replace the content by a snapshot's; raises DataError if it is none."""
        text = snapshot.get("memory") if snapshot else ""
        if not isinstance(text, str):
            raise DataError('a snapshot of the store rec_sum is an object {"memory": text}')
        self._text = text

    def context_text(self) -> str:
        """The whole text, or that it is empty."""
        return self._text or "There is no content in the memory at this point."


def _too_long(doing: str) -> dict[str, str]:
    limit = f"Please shorten the entry to less than {SUMMARY_LENGTH} characters."
    return {"error": f"Entry will be too long after {doing}. {limit}"}
