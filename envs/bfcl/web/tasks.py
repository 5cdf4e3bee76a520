"""The questions of the web search categories as tasks. Source: ``bfcl-eval`` 2026.3.23.

Both categories ask the same questions; in one the search results have no snippets. The answers were true when the
benchmark was made; what an index finds depends on the index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.files import BfclFiles, naming
from callgym.envs.bfcl.memory.prompts import Wording, answer_form
from callgym.envs.bfcl.tools import make_tool
from callgym.goal import AnswerGoal
from callgym.message import Message
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["load_web", "web_category", "web_task"]


def web_category(snippets: bool) -> str:
    """The category's name."""
    return "web_search_base" if snippets else "web_search_no_snippet"


def load_web(files: BfclFiles, snippets: bool, wording: Wording | None = None) -> list[Task]:
    """The questions, in the official order.

    Args:
        files: The official files.
        snippets: Whether search results have snippets.
        wording: Official texts for the system message; see ``memory.prompts``.

    Raises:
        DataError: A file is missing or damaged.
    """
    category = web_category(snippets)
    name = CATEGORIES[category].file
    answers = files.rows(f"possible_answer/{name}")
    tools = _official_tools(files)
    tasks = []
    rows = files.rows(name)
    with naming(f"{files.folder / name}"):
        pairs = list(zip(rows, answers, strict=True))
    for number, (row, answer) in enumerate(pairs, 1):
        with naming(f"{files.folder / name}, row {number}"):
            tasks.append(
                web_task(
                    id=str(row["id"]).replace("web_search", category, 1),
                    question=_question(row),
                    accepted=_accepted(row, answer),
                    snippets=snippets,
                    tools=tools,
                    wording=wording,
                    meta={"source": "official", "licence": "Apache-2.0", "hops": int(answer["num_hops"])},
                )
            )
    return tasks


def _official_tools(files: BfclFiles) -> tuple[Tool, ...]:
    with naming(f"{files.folder}, functions of WebSearchAPI"):
        return tuple(make_tool(document) for document in files.class_functions("WebSearchAPI"))


def _question(row: Mapping[str, Any]) -> str:
    ((message,),) = row["question"]
    if message["role"] != "user" or not isinstance(message["content"], str):
        raise ValueError("its question is not one message of the user")
    return str(message["content"])


def _accepted(row: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    accepted = answer["ground_truth"]
    if answer["id"] != row["id"]:
        raise ValueError(f"possible_answer has {answer['id']!r} in its row")
    if not isinstance(accepted, list) or not accepted or not all(isinstance(text, str) for text in accepted):
        raise ValueError("its answer is no list of texts")
    return accepted


def web_task(
    *,
    id: str,
    question: str,
    accepted: Sequence[str],
    snippets: bool,
    tools: tuple[Tool, ...],
    meta: Mapping[str, Any],
    wording: Wording | None = None,
    split: str = "test",
) -> Task:
    """The task of one question."""
    return Task(
        id=id,
        family="bfcl",
        split=split,
        messages=(Message(role="system", content=answer_form(wording)), Message(role="user", content=question)),
        tools=tools,
        goal=AnswerGoal(accepted=tuple(accepted), match="contains"),
        meta={"category": web_category(snippets), "show_snippet": snippets, "gold": list(accepted), **meta},
    )
