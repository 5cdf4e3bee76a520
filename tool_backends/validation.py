"""Calls are checked before they are made, for backends that are used without an environment::

    backend = validated(PythonBackend(functions), tools, coercion="lenient")
    session = backend.open(task, seed=0)
    session.call(ToolCall(name="Add", arguments={"a": "two"}))  # ToolResult(error="invalid_arguments", ...)

An environment checks by itself, against the tools that exist at that moment of the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import get_args

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.schema import Coercion, ToolSchema
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import Session, ToolBackend, WrappedSession, call_fault
from callgym.tool_backends.wrapped import WrappedBackend

__all__ = ["ValidatedBackend", "ValidatedSession", "validated"]


def validated(
    backend: ToolBackend, tools: Sequence[Tool] | None = None, *, coercion: Coercion = "strict"
) -> ValidatedBackend:
    """A backend that answers calls of no such tool, or with invalid arguments, without making them.

    Args:
        backend: What runs the calls.
        tools: The tools that exist. By default those that the backend says it has; of a backend that does not
            know, the tools of each session's task.
        coercion: How arguments are read before they are checked, see ``callgym.schema``.

    Raises:
        ConfigurationError: There is no such coercion, or a tool is there twice.
        DataError: A tool's parameters are no JSON Schema.
    """
    return ValidatedBackend(backend, tools, coercion=coercion)


class ValidatedBackend(WrappedBackend):
    """See ``validated``."""

    def __init__(
        self, inner: ToolBackend, tools: Sequence[Tool] | None = None, *, coercion: Coercion = "strict"
    ) -> None:
        super().__init__(inner)
        if coercion not in get_args(Coercion):
            known = ", ".join(map(repr, get_args(Coercion)))
            raise ConfigurationError(f"coercion is one of {known}, got {coercion!r}")
        self._coercion: Coercion = coercion
        known_tools = super().tools if tools is None else tuple(tools)
        self._known = _Schemas(known_tools) if known_tools or tools is not None else None
        if self._known is not None:
            self._known.by_name  # noqa: B018  a fault in a schema is told now

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that calls are checked against, where they do not depend on the task."""
        return () if self._known is None else self._known.tools

    def wrap(self, session: Session, task: Task, seed: int) -> Session:
        """The session behind a check."""
        return ValidatedSession(session, self._known or _Schemas(task.tools), self._coercion)


class ValidatedSession(WrappedSession):
    """A session that gets valid calls only."""

    def __init__(self, inner: Session, schemas: _Schemas, coercion: Coercion) -> None:
        super().__init__(inner)
        self._schemas = schemas
        self._coercion: Coercion = coercion

    def before(self, call: ToolCall) -> ToolCall | ToolResult:
        """The call with its arguments read, or what is wrong with it."""
        schemas = self._schemas.by_name
        if self._coercion != "strict" and call.name in schemas:
            arguments = schemas[call.name].coerce(call.arguments, self._coercion)
            call = ToolCall.trusted(name=call.name, arguments=arguments, id=call.id)
        return call_fault(call, schemas) or call


class _Schemas:
    """Tools, and their schemas compiled when they are first asked for; in another process compiled anew."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        names = [tool.name for tool in tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ConfigurationError(f"tools {twice} are given more than once; a tool's name is unique")
        self.tools = tools

    @cached_property
    def by_name(self) -> dict[str, ToolSchema]:
        """Name to schema."""
        return {tool.name: ToolSchema(tool) for tool in self.tools}

    def __reduce__(self) -> tuple[type[_Schemas], tuple[tuple[Tool, ...]]]:
        return _Schemas, (self.tools,)
