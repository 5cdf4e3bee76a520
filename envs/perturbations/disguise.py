"""Between a policy that knows tools by other names and a backend that knows their own.

``disguised(session, task)`` is the session itself unless a perturbation renamed tools or withheld some from a
search. Then calls reach the session by their old names, the documents in a search's answer get the new ones, and
tools that were taken away are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.perturbations.documents import documents_in, name_of, schema_names
from callgym.envs.perturbations.found_tools import NOTHING_FOUND, without_documents
from callgym.envs.perturbations.look_alikes import could_do
from callgym.envs.perturbations.renaming import Renaming
from callgym.envs.perturbations.task_parts import SEARCHES
from callgym.episode import Episode
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends import Session, acall, waits

__all__ = ["DisguisedSession", "disguised", "undisguised"]

ToolsFound = Callable[[ToolCall, ToolResult], Sequence[Tool]]
"""What a call brought about, as the environment reads it: ``ToolEnv.tools_found``."""


def disguised(session: Session, task: Task) -> Session:
    """The session as the task's policy reaches it."""
    if "renamed" in task.meta or "withheld_tools" in task.meta:
        return DisguisedSession(session, task)
    return session


def undisguised(task: Task, episode: Episode) -> tuple[Task, Episode]:
    """Task and episode with the tools' own names in goal and calls, for what a benchmark's own code judges.

    The record's dialect is then called ``undisguised``: what stands in the actions is no longer what was called.
    Both are returned as they are where nothing was renamed.
    """
    renaming = Renaming.of(task)
    if not renaming.tools and not renaming.parameters:
        return task, episode
    steps = tuple(
        step.model_copy(update={"calls": tuple(map(renaming.original_call, step.calls))}) for step in episode.steps
    )
    config = {**episode.config, "dialect": "undisguised"}
    return renaming.undone(task), episode.model_copy(update={"steps": steps, "config": config})


class DisguisedSession:
    """A session whose tools go by other names, or are hard to find; for one episode."""

    def __init__(self, session: Session, task: Task) -> None:
        self._session = session
        self._renaming = Renaming.of(task)
        self._renames = "renamed" in task.meta
        withheld: Any = task.meta.get("withheld_tools", [])
        self._withheld = tuple(map(Tool.from_dict, withheld))
        self._made: list[tuple[ToolCall, ToolResult]] = []

    @property
    def waits(self) -> bool:
        """Whether the session inside waits."""
        return waits(self._session)

    def call(self, call: ToolCall) -> ToolResult:
        """Run the call by the tool's own name."""
        call = self._renaming.original_call(call)
        return self._answered(call, self._session.call(call))

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, awaiting the session inside where it waits."""
        call = self._renaming.original_call(call)
        return self._answered(call, await acall(self._session, call))

    def _answered(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """What the policy is shown of the answer to a call by the tool's own name."""
        if call.name in SEARCHES and result.error is None:
            result = self._without_withheld(result)
        self._made.append((call, result))
        if not self._renames or call.name not in SEARCHES:
            return result
        self._renaming = self._renaming.extended_by(result.content)
        content = self._renaming.value(result.content)
        return ToolResult.trusted(content=content, error=result.error, message=result.message)

    def _without_withheld(self, result: ToolResult) -> ToolResult:
        found = {str(name_of(document)): document for document in documents_in(result.content)}
        names = {name for name, document in found.items() if self._is_withheld(name, document)}
        if not names:
            return result
        content = without_documents(result.content, names)
        if list(documents_in(content)):
            return ToolResult.trusted(content=content, error=None, message="")
        return ToolResult(error="tool_error", message=NOTHING_FOUND)

    def _is_withheld(self, name: str, document: dict[str, Any]) -> bool:
        return any(could_do(_tool(name, document), tool) for tool in self._withheld)

    def found(self, tools_found: ToolsFound) -> list[Tool]:
        """The tools that the calls since the last time brought about, under the names that the policy knows."""
        made, self._made = self._made, []
        return [self._renaming.tool(tool) for call, result in made for tool in tools_found(call, result)]

    def original_name(self, name: str) -> str:
        """The name by which the backend knows a tool."""
        return self._renaming.original_name(name)

    def state(self) -> dict[str, Any]:
        """The session's."""
        return self._session.state()

    def close(self) -> None:
        """Close the session."""
        self._session.close()


def _tool(name: str, document: dict[str, Any]) -> Tool:
    parameters: Any = {"type": "object", "properties": {parameter: {} for parameter in schema_names(document)}}
    return Tool(name=name, description=str(document.get("description", "")), parameters=parameters)
