"""BFCL's categories: which there are, how each is scored, and which groups the leaderboard makes of them.

Source: ``bfcl-eval`` 2026.3.23.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from callgym.errors import ConfigurationError

__all__ = ["CATEGORIES", "GROUPS", "Category", "Kind", "Language", "categories_of", "category_of"]

Kind = Literal["calls", "irrelevance", "relevance", "multi_turn", "memory", "web_search", "format_sensitivity"]
"""How a category is scored: by its calls, by there being none, by there being some, turn by turn, by the answer."""
Language = Literal["python", "java", "javascript"]


@dataclass(frozen=True, slots=True)
class Category:
    """One scoring category."""

    name: str
    kind: Kind
    count: int
    """Official entries."""
    language: Language = "python"

    @property
    def protocol(self) -> Literal["single", "dialogue"]:
        """How its episodes run."""
        return "dialogue" if self.kind in ("multi_turn", "memory", "web_search") else "single"

    @property
    def file(self) -> str:
        """The official file of its entries, below the data folder; memory and web search share one each."""
        shared = {"memory": "memory", "web_search": "web_search"}.get(self.kind, self.name)
        return f"BFCL_v4_{shared}.json"


CATEGORIES: dict[str, Category] = {
    category.name: category
    for category in (
        Category("simple_python", "calls", 400),
        Category("simple_java", "calls", 100, "java"),
        Category("simple_javascript", "calls", 50, "javascript"),
        Category("multiple", "calls", 200),
        Category("parallel", "calls", 200),
        Category("parallel_multiple", "calls", 200),
        Category("irrelevance", "irrelevance", 240),
        Category("live_simple", "calls", 258),
        Category("live_multiple", "calls", 1053),
        Category("live_parallel", "calls", 16),
        Category("live_parallel_multiple", "calls", 24),
        Category("live_irrelevance", "irrelevance", 884),
        Category("live_relevance", "relevance", 16),
        Category("multi_turn_base", "multi_turn", 200),
        Category("multi_turn_miss_func", "multi_turn", 200),
        Category("multi_turn_miss_param", "multi_turn", 200),
        Category("multi_turn_long_context", "multi_turn", 200),
        Category("memory_kv", "memory", 155),
        Category("memory_vector", "memory", 155),
        Category("memory_rec_sum", "memory", 155),
        Category("web_search_base", "web_search", 100),
        Category("web_search_no_snippet", "web_search", 100),
        Category("format_sensitivity", "format_sensitivity", 5200),
    )
}
"""Name to category, in the leaderboard's order."""

_LIVE_CALLS = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_NON_LIVE = ("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple")

GROUPS: dict[str, tuple[str, ...]] = {
    "non_live": _NON_LIVE,
    "live": _LIVE_CALLS,
    "irrelevance_all": ("irrelevance", "live_irrelevance"),
    "multi_turn": tuple(name for name, c in CATEGORIES.items() if c.kind == "multi_turn"),
    "agentic": tuple(name for name, c in CATEGORIES.items() if c.kind in ("memory", "web_search")),
    "all": tuple(name for name, c in CATEGORIES.items() if c.kind != "format_sensitivity"),
}
"""Group to the categories in it. ``all`` is what the leaderboard shows, ``live_relevance`` included, which does
not count in the overall score; ``format_sensitivity`` is apart there, too."""


def categories_of(name: str) -> tuple[Category, ...]:
    """The category of that name, or those of a group.

    Raises:
        ConfigurationError: There is no such category or group.
    """
    if name in CATEGORIES:
        return (CATEGORIES[name],)
    if name in GROUPS:
        return tuple(CATEGORIES[member] for member in GROUPS[name])
    raise ConfigurationError(
        f"BFCL has no category or group {name!r}; categories: {', '.join(CATEGORIES)}; groups: {', '.join(GROUPS)}"
    )


def category_of(task_id: str) -> Category:
    """The category of a task by its id: ``simple_python_0``, ``memory_kv_3-customer-3``, ``starter/parallel/test/7``,
    ``format_sensitivity_0:...``.

    Raises:
        ConfigurationError: It is no id of BFCL's.
    """
    if task_id.startswith("starter/"):
        name = task_id.split("/", 2)[1]
    else:
        name, _, rest = task_id.partition(":")[0].rpartition("_")
        if not rest[:1].isdigit():
            name = ""
    if name not in CATEGORIES:
        raise ConfigurationError(f"{task_id!r} is the id of no task of BFCL")
    return CATEGORIES[name]
