"""Tools that a search found in the conversation so far: their documents are in its answers, and can be taken out."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from callgym.envs.perturbations.documents import documents_in, name_of, read_written
from callgym.envs.perturbations.perturbation import LeftAlone
from callgym.task import Task

__all__ = ["NOTHING_FOUND", "without_documents", "without_found"]

NOTHING_FOUND = "No tool was found; try other keywords."
"""What a search says that finds nothing."""
_FAILURE = {"error": "tool_error", "message": NOTHING_FOUND}
_GONE = object()


def without_found(task: Task, names: Set[str]) -> Task:
    """The task whose last search did not find these tools.

    Raises:
        LeftAlone: They were found, and the conversation went on with them.
    """
    holding = [
        number
        for number, message in enumerate(task.messages)
        if message.role == "tool"
        and (written := read_written(message.content)) is not None
        and any(name_of(document) in names for document in documents_in(written.value))
    ]
    if not holding:
        return task
    if holding != [len(task.messages) - 1]:
        raise LeftAlone("the conversation went on after the search that found the tool")
    last = task.messages[-1]
    written = read_written(last.content)
    assert written is not None
    content = written.write(without_documents(written.value, names))
    messages = (*task.messages[:-1], last.model_copy(update={"content": content}))
    return task.model_copy(update={"messages": messages})


def without_documents(value: Any, names: Set[str]) -> Any:
    """The answer of a search without the documents of some tools; where none is left, what it says then."""
    left = _without(value, names)
    if isinstance(value, dict) and "api_name" in value and left is not _GONE:
        return left
    return dict(_FAILURE) if left is _GONE else left


def _without(value: Any, names: Set[str]) -> Any:
    if name_of(value) in names:
        return _GONE
    if isinstance(value, list):
        left = [item for item in (_without(item, names) for item in value) if item is not _GONE]
        return left if left or not value else _GONE
    if isinstance(value, dict) and "api_name" in value and "output" in value:
        output = _without(value["output"], names)
        if output is _GONE:
            return {**value, "output": None, "exception": NOTHING_FOUND}
        return {**value, "output": output}
    return value
