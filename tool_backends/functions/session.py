"""The functions of one episode: called, caught, and their answers written as JSON."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from callgym.call import ToolCall, ToolResult
from callgym.tool_backends.functions.fault import fault_message, shortened
from callgym.tool_backends.functions.plan import RefusedArguments
from callgym.tool_backends.functions.result import NotJson, to_json
from callgym.tool_backends.functions.state import SharedState
from callgym.tool_backends.functions.tools import FunctionTool
from callgym.tool_backends.portal import portal
from callgym.tool_backends.python import ToolFailure

__all__ = ["FunctionSession", "Handling"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Handling:
    """What a backend decides for all its sessions."""

    errors: Literal["data", "raise"]
    max_result_bytes: int
    threads: Callable[[], ThreadPoolExecutor] | None
    """The threads that functions block in; None where they block whoever calls."""


class FunctionSession:
    """One episode's functions, and what they share."""

    def __init__(self, tools: Mapping[str, FunctionTool], shared: SharedState, handling: Handling, waits: bool) -> None:
        self.waits = waits
        """Whether a call may spend its time waiting: in an ``async def``, or in a thread."""
        self._tools = tools
        self._shared = shared
        self._handling = handling
        self._running: Future[Any] | None = None

    def call(self, call: ToolCall) -> ToolResult:
        """Run the function of that name, here or, where it awaits, in the portal's loop."""
        tool = self._tools.get(call.name)
        if tool is None or self._is_busy():
            return self._unavailable(call)
        if tool.awaits:
            return portal().run(self._awaited(tool, call))
        return self._run(tool, call)

    async def acall(self, call: ToolCall) -> ToolResult:
        """As ``call``, without blocking the loop while a function awaits or has a thread."""
        tool = self._tools.get(call.name)
        if tool is None or self._is_busy():
            return self._unavailable(call)
        if tool.awaits:
            return await portal().arun(self._awaited(tool, call))
        outcome: ToolResult | BaseException
        if self._handling.threads is None:
            outcome = self._carried(tool, call)
        else:
            self._running = self._handling.threads().submit(self._carried, tool, call)
            outcome = await asyncio.wrap_future(self._running)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def state(self) -> dict[str, Any]:
        """The state of what the functions share, as JSON; empty where they share nothing."""
        return self._shared.as_json()

    def close(self) -> None:
        """Close what the functions share; more calls are ``unavailable``."""
        self._tools = {}
        self._shared.close()

    def _run(self, tool: FunctionTool, call: ToolCall) -> ToolResult:
        function = self._function(tool)
        shared = self._shared.for_parameters(tool.plan.shared) if tool.plan.shared else {}
        try:
            by_place, by_name = tool.plan.bind(call.arguments, shared)
            return self._answer(function(*by_place, **by_name))
        except BaseException as error:
            return self._failed(tool, error)

    async def _awaited(self, tool: FunctionTool, call: ToolCall) -> ToolResult:
        function = self._function(tool)
        shared = self._shared.for_parameters(tool.plan.shared) if tool.plan.shared else {}
        try:
            by_place, by_name = tool.plan.bind(call.arguments, shared)
            return self._answer(await function(*by_place, **by_name))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # it is we who are cancelled
                raise
            return _tool_error(f"{tool.name} was cancelled from within")
        except KeyboardInterrupt as error:
            raise _that_loops_survive(error) from error
        except BaseException as error:
            return self._failed(tool, error)

    def _carried(self, tool: FunctionTool, call: ToolCall) -> ToolResult | BaseException:
        """The result of a call that a loop waits for; an exception is handed over, for some of them stop loops."""
        try:
            return self._run(tool, call)
        except BaseException as error:
            return _that_loops_survive(error)

    def _function(self, tool: FunctionTool) -> Callable[..., Any]:
        if tool.owner is None:
            return tool.function
        method: Callable[..., Any] = getattr(self._shared.get(tool.owner), tool.attribute)
        return method

    def _answer(self, content: Any) -> ToolResult:
        answer = to_json(content, self._handling.max_result_bytes)
        return ToolResult.trusted(content=answer, error=None, message="")

    def _failed(self, tool: FunctionTool, error: BaseException) -> ToolResult:
        """The failure as data, where it is to be data; else it is raised."""
        if isinstance(error, RefusedArguments):
            return ToolResult(
                error="invalid_arguments", message=shortened(f"arguments of {tool.name} are invalid: {error}")
            )
        if isinstance(error, ToolFailure):
            return _tool_error(str(error) or f"{tool.name} failed")
        is_data = isinstance(error, Exception) and self._handling.errors == "data"
        if not is_data and not isinstance(error, SystemExit):
            raise error
        if isinstance(error, NotJson):
            return _tool_error(f"{tool.name} returned {error}")
        _log.debug("the tool %s raised", tool.name, exc_info=error)
        return _tool_error(fault_message(error))

    def _is_busy(self) -> bool:
        """Whether a call that nobody waits for any more still works on what the next one would work on."""
        return self._running is not None and not (self._running.done() or self._shared.is_empty)

    def _unavailable(self, call: ToolCall) -> ToolResult:
        if call.name in self._tools:
            return ToolResult(
                error="unavailable", message="an earlier call has not come to its end yet; try again in a while"
            )
        return ToolResult(error="unavailable", message=f"{call.name[:80]} cannot be run here")


def _tool_error(message: str) -> ToolResult:
    return ToolResult(error="tool_error", message=shortened(message))


def _that_loops_survive(error: BaseException) -> BaseException:
    """Raised in a task, a KeyboardInterrupt ends the loop that everybody waits in; this does not."""
    if not isinstance(error, KeyboardInterrupt):
        return error
    return RuntimeError("a tool raised KeyboardInterrupt")
