"""Starter questions of the web search categories: two to four hops through a made-up encyclopedia.

``meta["gold_calls"]`` are the calls of somebody who knows the way: search for the next name, fetch its page, read on;
the answer stands in the last result.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, NamedTuple

from callgym.data import check_split
from callgym.envs.bfcl.official.agentic import states_answer
from callgym.envs.bfcl.tools import make_tool
from callgym.envs.bfcl.web.corpus import CORPORA, Corpus, Entity, corpus, corpus_index
from callgym.envs.bfcl.web.tasks import web_category, web_task
from callgym.envs.bfcl.web.tools import WebTools
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["starter_web"]

_QUESTIONS_A_LENGTH = {"train": 40, "test": 20}
"""Questions for each number of hops."""


class _Pattern(NamedTuple):
    """A way to ask: from a start, along relations, to a fact."""

    start: str
    """The kind of entity the question names."""
    path: tuple[str, ...]
    """Relations to follow; the last leads to the answer."""
    text: str

    @property
    def hops(self) -> int:
        return len(self.path)


_PATTERNS = (
    _Pattern("instrument", ("inventor", "born"), "In which year was the inventor of the {} born?"),
    _Pattern("company", ("founder", "birthplace"), "In which town was the founder of {} born?"),
    _Pattern("company", ("seat", "founded"), "In which year was the town founded in which {} has its seat?"),
    _Pattern("book", ("setting", "mayor"), "Who is the mayor of the town in which {} is set?"),
    _Pattern("book", ("author", "spouse"), "Who was married to the author of {}?"),
    _Pattern("bridge", ("architect", "born"), "In which year was the architect of the {} born?"),
    _Pattern("bridge", ("town", "festival"), "Which festival is held in the town of the {}?"),
    _Pattern(
        "instrument",
        ("inventor", "birthplace", "river"),
        "On which river does the town lie in which the inventor of the {} was born?",
    ),
    _Pattern(
        "instrument",
        ("maker", "founder", "born"),
        "In which year was the founder of the company born that makes the {}?",
    ),
    _Pattern(
        "company",
        ("founder", "spouse", "birthplace"),
        "Where was the person born to whom the founder of {} was married?",
    ),
    _Pattern(
        "book",
        ("author", "birthplace", "founded"),
        "In which year was the birthplace of the author of {} founded?",
    ),
    _Pattern(
        "bridge",
        ("architect", "birthplace", "mayor"),
        "Who is the mayor of the town in which the architect of the {} was born?",
    ),
    _Pattern(
        "instrument",
        ("maker", "seat", "festival"),
        "Which festival is held in the town where the company that makes the {} has its seat?",
    ),
    _Pattern(
        "instrument",
        ("maker", "founder", "birthplace", "river"),
        "The {} is made by a company. On which river does the town lie in which that company's founder was born?",
    ),
    _Pattern(
        "instrument",
        ("inventor", "spouse", "birthplace", "founded"),
        "The inventor of the {} was married. In which year was the town founded in which the spouse was born?",
    ),
    _Pattern(
        "book",
        ("author", "spouse", "birthplace", "mayor"),
        "Who is the mayor of the town in which the spouse of the author of {} was born?",
    ),
    _Pattern(
        "company",
        ("seat", "mayor", "birthplace", "festival"),
        "{} has its seat in a town with a mayor. Which festival is held in the town where that mayor was born?",
    ),
    _Pattern(
        "bridge",
        ("town", "mayor", "spouse", "born"),
        "In which year was the person born who was married to the mayor of the town of the {}?",
    ),
)


def starter_web(snippets: bool, split: str = "test") -> list[Task]:
    """The starter questions.

    Args:
        snippets: Whether search results have snippets.
        split: ``train`` or ``test``; each asks about a world of its own.

    Raises:
        ConfigurationError: There is no such split.
    """
    check_split(split, CORPORA, "bfcl's starter set")
    world = corpus(split)
    return [
        web_task(
            id=f"starter/{web_category(snippets)}/{split}/{number}",
            question=question.text,
            accepted=(question.answer,),
            snippets=snippets,
            tools=_tools(),
            meta={
                "source": "starter",
                "hops": len(question.path),
                "path": list(question.path),
                "corpus": split,
                "gold_calls": _gold_calls(world, question),
            },
            split=split,
        )
        for number, question in enumerate(_questions(split))
    ]


class _Question(NamedTuple):
    text: str
    path: tuple[str, ...]
    """The entities whose pages are read, in order."""
    answer: str


@cache
def _questions(split: str) -> tuple[_Question, ...]:
    """As many of each length as there are to be, patterns taking turns, no start asked twice in one pattern."""
    world, rng = corpus(split), Random(f"callgym bfcl web questions {split}")
    questions: list[_Question] = []
    for hops in (2, 3, 4):
        patterns = [pattern for pattern in _PATTERNS if pattern.hops == hops]
        starts = {pattern: _starts(world, pattern, rng) for pattern in patterns}
        count = 0
        while count < _QUESTIONS_A_LENGTH[split]:
            pattern = patterns[count % len(patterns)]
            questions.append(_follow(world, pattern, starts[pattern].pop()))
            count += 1
    return tuple(questions)


def _starts(world: Corpus, pattern: _Pattern, rng: Random) -> list[Entity]:
    """The entities one can start from, in random order: those whose path visits no page twice and whose answer is
    on none but the last."""
    starts = [e for e in world.entities.values() if e.kind == pattern.start and _is_sound(world, pattern, e)]
    rng.shuffle(starts)
    return starts


def _is_sound(world: Corpus, pattern: _Pattern, start: Entity) -> bool:
    question = _follow(world, pattern, start)
    texts = {document["title"]: document["text"] for document in world.documents}
    before = [question.text, *(texts[name] for name in question.path[:-1])]
    return len(set(question.path)) == len(question.path) and not any(
        states_answer(t, [question.answer]) for t in before
    )


def _follow(world: Corpus, pattern: _Pattern, start: Entity) -> _Question:
    path = [start.name]
    for relation in pattern.path[:-1]:
        path.append(world.entities[path[-1]].facts[relation])
    answer = world.entities[path[-1]].facts[pattern.path[-1]]
    return _Question(pattern.text.format(start.name), tuple(path), answer)


def _gold_calls(world: Corpus, question: _Question) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    for name in question.path:
        calls.append({"name": "search_engine_query", "arguments": {"keywords": name}})
        calls.append({"name": "fetch_url_content", "arguments": {"url": world.url(name), "mode": "truncate"}})
    return calls


def verify(task: Task) -> None:
    """Make the task's gold calls; AssertionError if a search misses its page or the last result lacks the answer."""
    meta: dict[str, Any] = task.meta
    tools = WebTools(corpus_index(meta["corpus"]), meta["show_snippet"])
    results = [tools.call(call["name"], call["arguments"]) for call in meta["gold_calls"]]
    for found, fetch in zip(results[::2], meta["gold_calls"][1::2], strict=True):
        if fetch["arguments"]["url"] not in [hit["href"] for hit in found]:
            raise AssertionError(f"{task.id}: {fetch['arguments']['url']} is not among the results")
    if not states_answer(results[-1]["content"], meta["gold"]):
        raise AssertionError(f"{task.id}: the answer is not in {results[-1]['content'][:300]}")


@cache
def _tools() -> tuple[Tool, ...]:
    """The tools with documents of our own; names, parameters and defaults are the official ones."""
    search = {
        "name": "search_engine_query",
        "description": "Search for pages; the best fitting come first.",
        "parameters": {
            "type": "dict",
            "properties": {
                "keywords": {"type": "string", "description": "What to search for."},
                "max_results": {"type": "integer", "description": "How many results to return.", "default": 10},
                "region": {
                    "type": "string",
                    "description": "A code for country and language, such as us-en; wt-wt is everywhere.",
                    "default": "wt-wt",
                },
            },
            "required": ["keywords"],
        },
    }
    fetch = {
        "name": "fetch_url_content",
        "description": "Read the page at an address.",
        "parameters": {
            "type": "dict",
            "properties": {
                "url": {"type": "string", "description": "The address, with http:// or https://."},
                "mode": {
                    "type": "string",
                    "description": "How to get it: as HTML (raw), as Markdown (markdown), or as bare text (truncate).",
                    "enum": ["raw", "markdown", "truncate"],
                    "default": "raw",
                },
            },
            "required": ["url"],
        },
    }
    return (make_tool(search), make_tool(fetch))
