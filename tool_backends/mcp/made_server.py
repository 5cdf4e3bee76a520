"""From what a user names, an environment's id, a backend, tools, to the server of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.base import ToolBackend
from callgym.tool_backends.mcp.sdk import require_sdk
from callgym.tool_backends.server.offer import Offer

if TYPE_CHECKING:
    from callgym.tool_backends.mcp.server import ToolServer

__all__ = ["make_server"]


def make_server(
    source: str | ToolBackend | Offer,
    *,
    task: Any,
    tools: Sequence[Tool],
    seed: Any,
    show_state: bool,
    over_http: bool,
    **options: Any,
) -> ToolServer:
    """The server of a source; arguments and errors as in ``serve_mcp``."""
    require_sdk()
    from callgym.tool_backends.mcp.server import ToolServer, find_task

    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ConfigurationError(f"seed is a whole number of at least 0, got {seed!r}")
    offer = _offer(source, task, tools, options)
    wanted = 0 if task is None or isinstance(task, Task) else task
    chosen = find_task(offer, wanted)
    if chosen is None:
        raise ConfigurationError(
            f"{offer.name} has no task {wanted!r}; the first of its {len(offer.tasks)} tasks is {offer.tasks[0].id!r}"
        )
    return ToolServer(offer, chosen, seed, over_http=over_http, show_state=show_state)


def _offer(source: Any, task: Any, tools: Sequence[Tool], options: dict[str, Any]) -> Offer:
    if isinstance(source, str):
        away = sorted({"perturb", "faults", "backend"} & options.keys())
        if away or tools:
            name = away[0] if away else "tools"
            raise ConfigurationError(f"an environment's own tools are served; give {name} where episodes are played")
        return Offer.of_env(source, **options)
    if options:
        raise ConfigurationError(f"only an environment takes the options {sorted(options)}")
    if isinstance(source, Offer):
        return source
    if not hasattr(source, "open"):
        raise ConfigurationError(f"an environment's id or a backend can be served, got {type(source).__name__}")
    if isinstance(task, Task) and not tools:
        return Offer(task.id, source, (task,))
    if task is not None:
        raise ConfigurationError("a backend is served with tools=, or with a Task as task=")
    return Offer.of_tools(source, tuple(tools) or tuple(getattr(source, "tools", ())))
