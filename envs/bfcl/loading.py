"""From a category's name to its tasks, official or starter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from callgym.data import check_split, verify
from callgym.envs.bfcl.categories import Category
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.memory.prompts import Wording
from callgym.envs.bfcl.memory.snapshots import read_snapshots, reference_snapshots
from callgym.envs.bfcl.memory.starter import starter_memory
from callgym.envs.bfcl.memory.tasks import load_memory
from callgym.envs.bfcl.multi_turn_tasks import load_multi_turn
from callgym.envs.bfcl.prompt_formats import DEFAULT_FORMAT, PromptWording, documents_for_inference, system_prompt
from callgym.envs.bfcl.starter.multi_turn import starter_multi_turn
from callgym.envs.bfcl.starter.single_turn import starter_formats, starter_single
from callgym.envs.bfcl.tasks import load_format_sensitivity, load_single
from callgym.envs.bfcl.web.starter import starter_web
from callgym.envs.bfcl.web.tasks import load_web
from callgym.task import Task

__all__ = ["official_tasks", "starter_tasks"]

_STORES = "memory_"


def official_tasks(
    files: BfclFiles, category: Category, split: str, memory: Path | None = None, wording: Wording | None = None
) -> Sequence[Task]:
    """The official tasks of a category.

    Args:
        files: The official files.
        category: The category.
        split: ``test``: BFCL has no other.
        memory: Folder of snapshots that a policy left in the prerequisite conversations; the reference
            snapshots by default.
        wording: The official texts, where prompts are to have them.

    Raises:
        ConfigurationError: There is no such split.
        DataError: A file is missing or damaged.
    """
    check_split(split, ("test",), f"BFCL's {category.name}")
    verify(files.folder)
    if category.kind == "multi_turn":
        tasks = load_multi_turn(files, category.name) if wording is None else _revealing(files, category, wording)
        return _prompted(tasks, wording)
    if category.kind == "memory":
        store = category.name[len(_STORES) :]
        snapshots = reference_snapshots(files, store) if memory is None else read_snapshots(memory, store)
        return load_memory(files, store, snapshots, wording)
    if category.kind == "web_search":
        return load_web(files, _has_snippets(category), wording)
    if category.kind == "format_sensitivity":
        return load_format_sensitivity(files)
    return _prompted(load_single(files, category.name), wording)


def _revealing(files: BfclFiles, category: Category, wording: Wording) -> list[Task]:
    return load_multi_turn(files, category.name, str(wording["DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"]))


def _prompted(tasks: Sequence[Task], wording: Wording | None) -> Sequence[Task]:
    """The tasks with the official system prompt, which the dialect ``python`` shows in place of its own words."""
    if wording is None:
        return tasks
    words = PromptWording.from_source(wording)
    return [task.model_copy(update={"meta": {**task.meta, "instruction": _prompt(task, words)}}) for task in tasks]


def _prompt(task: Task, words: PromptWording) -> str:
    language: Any = task.meta.get("language", "python")
    functions: list[Any] = [tool.meta["bfcl"] for tool in task.tools]
    documents = documents_for_inference(functions, language)
    system = [message.content for message in task.messages if message.role == "system" and message.content]
    return "\n\n".join([system_prompt(DEFAULT_FORMAT, documents, words), *system])


@lru_cache(maxsize=64)
def starter_tasks(category: Category, split: str) -> Sequence[Task]:
    """The starter tasks of a category; ConfigurationError where there is no such split."""
    check_split(split, ("train", "test"), "BFCL's starter set")
    if category.kind == "multi_turn":
        return starter_multi_turn(category.name, split)
    if category.kind == "memory":
        return starter_memory(category.name[len(_STORES) :], split)
    if category.kind == "web_search":
        return starter_web(_has_snippets(category), split)
    if category.kind == "format_sensitivity":
        return starter_formats(split)
    return starter_single(category.name, split)


def _has_snippets(category: Category) -> bool:
    return category.name == "web_search_base"
