"""The stores' tools in the official shape of a function's document, in our own words, for the starter tasks.

Names, parameters, types and defaults are the official ones (``bfcl-eval`` 2026.3.23).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from callgym.envs.bfcl.memory.store import CORE_ENTRIES, CORE_LENGTH, LONG_TERM_ENTRIES, LONG_TERM_LENGTH, StoreName
from callgym.envs.bfcl.memory.summary import SUMMARY_LENGTH
from callgym.envs.bfcl.tools import make_tool
from callgym.tool import Tool

__all__ = ["starter_tools"]

_LEVELS = {
    "core_memory": f"the core memory, which is always in view ({CORE_ENTRIES} entries of {CORE_LENGTH} characters)",
    "archival_memory": f"the archival memory ({LONG_TERM_ENTRIES} entries of {LONG_TERM_LENGTH} characters)",
}
_KEY = ("key", "string", "The entry's key in snake_case, such as favourite_colour.", None)
_VALUE = ("value", "string", "The text to keep.", None)
_TEXT = ("text", "string", "The text to keep.", None)
_NUMBER = ("vec_id", "integer", "The entry's number.", None)
_QUERY = ("query", "string", "What to look for, in words.", None)

_Parameter = tuple[str, str, str, Any]

_KV: dict[str, tuple[str, tuple[_Parameter, ...]]] = {
    "add": ("Keep a text under a new key in {level}.", (_KEY, _VALUE)),
    "clear": ("Forget everything in {level}; nothing brings it back.", ()),
    "key_search": (
        "Rank the keys of {level} by how well their words fit a query (BM25+).",
        (_QUERY, ("k", "integer", "How many keys to return.", 5)),
    ),
    "list_keys": ("Name every key of {level}.", ()),
    "remove": ("Forget the entry under a key of {level}.", (_KEY,)),
    "replace": ("Put another text under a key that {level} has.", (_KEY, _VALUE)),
    "retrieve": ("Read the entry under exactly this key of {level}.", (_KEY,)),
}
_VECTOR: dict[str, tuple[str, tuple[_Parameter, ...]]] = {
    "add": ("Keep a text in {level}; it gets a number.", (_TEXT,)),
    "clear": ("Forget everything in {level}; nothing brings it back.", ()),
    "remove": ("Forget the text with a number in {level}.", (_NUMBER,)),
    "retrieve": (
        "Find the texts of {level} that are closest to a query.",
        (_QUERY, ("top_k", "integer", "How many texts to return.", 5)),
    ),
    "retrieve_all": ("Read every text of {level}.", ()),
    "update": (
        "Put another text in place of one in {level}.",
        (_NUMBER, ("new_text", "string", "The new text.", None)),
    ),
}
_REC_SUM: dict[str, tuple[str, tuple[_Parameter, ...]]] = {
    "memory_append": (f"Write more at the end of the memory, which holds {SUMMARY_LENGTH} characters.", (_TEXT,)),
    "memory_clear": ("Forget everything in the memory; nothing brings it back.", ()),
    "memory_replace": (
        "Replace a text wherever it stands in the memory.",
        (("old_text", "string", "The text as it stands there.", None), ("new_text", "string", "The new text.", None)),
    ),
    "memory_retrieve": ("Read the whole memory.", ()),
    "memory_update": ("Write the memory anew; what was in it is gone.", (_TEXT,)),
}


@cache
def starter_tools(store: StoreName) -> tuple[Tool, ...]:
    """The tools of a store, with documents of our own."""
    return tuple(make_tool(document) for document in _documents(store))


def _documents(store: StoreName) -> list[dict[str, Any]]:
    if store == "rec_sum":
        return [_document(name, *parts) for name, parts in _REC_SUM.items()]
    tools = _KV if store == "kv" else _VECTOR
    documents = [
        _document(f"{level}_{name}", text.format(level=words), parameters)
        for level, words in reversed(_LEVELS.items())
        for name, (text, parameters) in tools.items()
    ]
    if store == "kv":
        everything = f"Read every entry of {_LEVELS['core_memory']}."
        documents.append(_document("core_memory_retrieve_all", everything, ()))
    return documents


def _document(name: str, description: str, parameters: tuple[_Parameter, ...]) -> dict[str, Any]:
    properties = {}
    for parameter, kind, words, default in parameters:
        properties[parameter] = {"type": kind, "description": words}
        if default is not None:
            properties[parameter]["default"] = default
    required = [parameter for parameter, _, _, default in parameters if default is None]
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "dict", "properties": properties, "required": required},
    }
