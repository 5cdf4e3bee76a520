"""The ids that ``import callgym`` registers with Gymnasium.

Entry points are text, so nothing heavy is imported before the first ``gym.make``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from callgym.errors import ConfigurationError

__all__ = ["ENVIRONMENTS", "EnvironmentEntry", "find_environment", "register_all"]


@dataclass(frozen=True, slots=True)
class EnvironmentEntry:
    """One registered id."""

    id: str
    """What ``gym.make`` takes."""
    entry_point: str
    """``module:class``."""
    protocol: str
    """``single``, ``step`` or ``dialogue``; ``mixed`` where it differs by task."""
    summary: str
    """One line for a list."""
    options: tuple[tuple[str, Any], ...] = ()
    """Arguments that this id fixes."""

    @property
    def family(self) -> str:
        """The benchmark."""
        return self.id.partition("/")[0]


_APIBANK = "callgym.envs.apibank.env:ApiBankEnv"

_BFCL = "callgym.envs.bfcl.env:BfclEnv"
_BFCL_IDS = {
    "single": {
        "simple_python": "one call, one function offered",
        "simple_java": "one call, values in Java's notation",
        "simple_javascript": "one call, values in JavaScript's notation",
        "multiple": "one call, several functions offered",
        "parallel": "several calls of one function",
        "parallel_multiple": "several calls of several functions",
        "irrelevance": "no function fits: no call",
        "live_simple": "one call, from users",
        "live_multiple": "one call, up to 37 functions, from users",
        "live_parallel": "several calls of one function, from users",
        "live_parallel_multiple": "several calls of several functions, from users",
        "live_irrelevance": "no function fits, from users",
        "live_relevance": "some function fits, from users",
        "format_sensitivity": "200 entries in each of 26 prompt formats",
        "non_live": "group: the six categories that experts wrote",
        "live": "group: the four categories of calls from users",
        "irrelevance_all": "group: irrelevance and live_irrelevance",
    },
    "dialogue": {
        "multi_turn_base": "several turns on stateful tools",
        "multi_turn_miss_func": "the function that is needed comes a turn later",
        "multi_turn_miss_param": "the value that is needed comes a turn later",
        "multi_turn_long_context": "several turns, tools that answer at length",
        "memory_kv": "earlier conversations, key-value memory",
        "memory_vector": "earlier conversations, vector memory",
        "memory_rec_sum": "earlier conversations, one running summary",
        "web_search_base": "questions over several hops: search and fetch",
        "web_search_no_snippet": "the same, results without a snippet",
        "multi_turn": "group: the four multi-turn categories",
        "agentic": "group: memory and web search",
    },
    "mixed": {"all": "group: everything that the leaderboard shows"},
}
"""Protocol to category or group to summary; ``envs.bfcl.categories`` has the rest, imported when it is needed."""

_WHEN2CALL = "callgym.envs.when2call.env:When2CallEnv"

ENVIRONMENTS: tuple[EnvironmentEntry, ...] = (
    EnvironmentEntry("apibank/L1-v0", _APIBANK, "step", "call: the tools are documented", (("level", 1),)),
    EnvironmentEntry(
        "apibank/L2-v0", _APIBANK, "step", "retrieve and call: search for the tool first", (("level", 2),)
    ),
    EnvironmentEntry(
        "apibank/L3-v0",
        _APIBANK,
        "step",
        "plan, retrieve and call: one requirement, several calls",
        (("level", 3),),
    ),
    *(
        EnvironmentEntry(f"bfcl/{name}-v0", _BFCL, protocol, summary, (("category", name),))
        for protocol, names in _BFCL_IDS.items()
        for name, summary in names.items()
    ),
    EnvironmentEntry("when2call/mcq-v0", _WHEN2CALL, "single", "choose among four replies", (("form", "mcq"),)),
    EnvironmentEntry("when2call/open-v0", _WHEN2CALL, "single", "call, ask, decline or answer", (("form", "open"),)),
    EnvironmentEntry(
        "when2call/judge-v0", _WHEN2CALL, "single", "the same; only the kind of the reply counts", (("form", "judge"),)
    ),
)
"""All ids that CallGym registers."""


def register_all() -> None:
    """Register every id with Gymnasium; ids that are registered already are left alone."""
    for entry in ENVIRONMENTS:
        if entry.id not in gym.registry:
            # ToolEnv enforces the order of calls itself, with the same error.
            gym.register(entry.id, entry_point=entry.entry_point, kwargs=dict(entry.options), order_enforce=False)


def find_environment(id: str) -> EnvironmentEntry:
    """The entry of one of CallGym's ids.

    Raises:
        ConfigurationError: There is no such id; the message lists those there are.
    """
    for entry in ENVIRONMENTS:
        if entry.id == id:
            return entry
    raise ConfigurationError(f"no environment {id!r}; there are: {', '.join(e.id for e in ENVIRONMENTS)}")
