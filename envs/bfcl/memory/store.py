"""What a memory store is, and the store of a name::

    store = open_store("kv")
    store.call("core_memory_add", {"key": "name", "value": "Ada"})  # {"status": "Key-value pair added."}
    store.context_text()  # what the system message shows
    open_store("kv").load(store.snapshot())

Tool names, results, limits and errors follow ``bfcl-eval`` 2026.3.23; nothing is written to disk and nothing is
shared between stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, get_args

from callgym.errors import ConfigurationError

__all__ = ["CORE_ENTRIES", "CORE_LENGTH", "LONG_TERM_ENTRIES", "LONG_TERM_LENGTH", "STORES", "MemoryStore", "StoreName"]

StoreName = Literal["kv", "vector", "rec_sum"]
"""The official names of the backends."""
STORES: tuple[StoreName, ...] = get_args(StoreName)

CORE_ENTRIES = 7
"""Entries of the core memory, which the system message shows."""
CORE_LENGTH = 300
"""Characters of one of them."""
LONG_TERM_ENTRIES = 50
"""Entries of the archival memory."""
LONG_TERM_LENGTH = 2000
"""Characters of one of them."""


class MemoryStore(Protocol):
    """One memory, of one episode."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of its tools."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool; the result is a JSON value of its own.

        Raises:
            Refusal: The official code raises here; the text is the official one.
        """

    def snapshot(self) -> dict[str, Any]:
        """The content in the official form, a JSON object of its own."""

    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Replace the content; an empty snapshot empties the memory.

        Raises:
            DataError: It is no snapshot of this kind of store.
        """

    def context_text(self) -> str:
        """What the system message shows of the memory."""


def check_store(name: str) -> StoreName:
    """The name, if it is a store's.

    Raises:
        ConfigurationError: It is none.
    """
    for store in STORES:
        if store == name:
            return store
    raise ConfigurationError(f"there is no memory store {name!r}; the stores are: {', '.join(STORES)}")
