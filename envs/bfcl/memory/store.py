"""What a memory store is, and the store of a name::

    store = open_store("kv")
    store.call("core_memory_add", {"key": "name", "value": "Ada"})  # {"status": "Key-value pair added."}
    store.context_text()  # what the system message shows
    open_store("kv").load(store.snapshot())

Tool names, results, limits and errors follow ``bfcl-eval`` 2026.3.23; nothing is written to disk and nothing is
shared between stores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, get_args

from callgym.envs.bfcl.method_call import call_method
from callgym.envs.bfcl.simulators.base import Refusal
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


class MemoryStore(ABC):
    """One memory, of one episode."""

    official: ClassVar[str]
    """The official class, which texts of wrong calls name."""
    _methods: dict[str, Callable[..., Any]]
    """Tool to what runs it."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of its tools."""
        return tuple(self._methods)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool; the result is a JSON value of its own.

        Raises:
            Refusal: The official code raises here; the text is the official one.
        """
        if name not in self._methods:
            raise Refusal(f"name '{name}' is not defined")
        return call_method(self.official, name, self._methods[name], arguments)

    @abstractmethod
    def snapshot(self) -> dict[str, Any]:
        """The content in the official form, a JSON object of its own."""

    @abstractmethod
    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Replace the content; an empty snapshot empties the memory.

        Raises:
            DataError: It is no snapshot of this kind of store.
        """

    @abstractmethod
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
