"""Where look-alikes come from: the tools of an environment's own tasks, or those of BFCL's starter catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from callgym.envs.perturbations.new_names import in_style_of
from callgym.envs.perturbations.words import words_in
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["ToolPool", "catalogue", "dressed"]


@dataclass(frozen=True, eq=False)
class ToolPool:
    """Tools that others can be taken for, gathered when they are first asked for."""

    source: Callable[[], Iterable[Tool]]
    """Gives the tools; of several with one name the first counts."""

    @classmethod
    def of_tasks(cls, tasks: Sequence[Task]) -> ToolPool:
        """The tools of tasks, those that come with a later turn included."""
        return cls(lambda: (tool for task in tasks for tool in _tools_of(task)))

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order in which they were found."""
        found: dict[str, Tool] = {}
        for tool in self.source():
            found.setdefault(tool.name, tool)
        return tuple(found.values())


def _tools_of(task: Task) -> Iterable[Tool]:
    yield from task.tools
    for turn in task.user_turns:
        yield from turn.add_tools


@cache
def catalogue(language: str, live: bool) -> ToolPool:
    """The functions of BFCL's starter tasks in a language; ``live`` ones are named as in somebody's program."""
    from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS
    from callgym.envs.bfcl.starter.functions_model import tool

    functions = {str(name): listed for name, listed in FUNCTIONS.items()}.get(language, ())
    return ToolPool(lambda: [tool(function, live) for function in functions])


def dressed(tool: Tool, among: Sequence[Tool]) -> Tool:
    """The tool as if it came from where its neighbours come from: named in their style, documented in their form.

    Args:
        tool: A tool from elsewhere.
        among: The task's tools.
    """
    name = tool.name
    if among:
        name = in_style_of(_model_of(tool.name, among), words_in(tool.name))
    forms = {key for neighbour in among for key in neighbour.meta}
    meta: dict[str, Any] = {}
    for form, write in _FORMS.items():
        if form in forms or (not among and form in tool.meta):
            given = tool.meta.get(form)
            meta[form] = {**given, "name": name} if isinstance(given, dict) else write(tool, name)
    return tool.model_copy(update={"name": name, "meta": meta})


def _model_of(name: str, among: Sequence[Tool]) -> str:
    """The name whose style is to be copied: that of the first neighbour that shows one."""
    if any("." in neighbour.name for neighbour in among) and "." in name:
        return name
    telling = [n.name for n in among if "_" in n.name or n.name != n.name.lower()]
    return next((name for name in telling if "." not in name), "low_line")


def _as_bfcl(tool: Tool, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": tool.description,
        "parameters": {
            "type": "dict",
            "properties": {key: {"type": "string", **schema} for key, schema in tool.properties.items()},
            "required": list(tool.required),
        },
    }


_WORDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


def _as_apibank(tool: Tool, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": tool.description,
        "input_parameters": {
            key: {"type": _WORDS.get(str(schema.get("type")), "str"), "description": schema.get("description", "")}
            for key, schema in tool.properties.items()
        },
        "output_parameters": {"result": {"type": "str", "description": "what came of it"}},
    }


_FORMS: dict[str, Callable[[Tool, str], dict[str, Any]]] = {"bfcl": _as_bfcl, "documentation": _as_apibank}
