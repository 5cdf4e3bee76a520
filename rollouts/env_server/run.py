"""Running an environment server, in the foreground or beside what a program does anyway::

    serve_env("apibank/L1-v0", port=8000)  # until Ctrl-C

    with serving_env(make_env_app("apibank/L1-v0")) as url:
        env = RemoteEnv(url)

As with the tool server: it is for this machine unless it has a token, and what it says is not encrypted.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from callgym.envs.base import ToolEnv
from callgym.rollouts.env_server.app import env_limits, make_env_app
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.run import check_address, make_server, run_server, serving

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["serve_env", "serving_env", "speaks_websocket"]


def serve_env(
    env: str | Callable[[], ToolEnv],
    *,
    env_options: Mapping[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    limits: ServerLimits | None = None,
    announce: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve an environment until the process is told to stop.

    Args:
        env: As in ``make_env_app``.
        env_options: As in ``make_env_app``.
        host: The address to listen at. Any but this machine's own needs a token.
        port: The port; 0 for any that is free.
        token: What requests must show.
        limits: Sessions, sizes and times; by default ``env_limits()``.
        announce: Told the server's URL when it listens.

    Raises:
        ConfigurationError: An argument has a value it cannot have, or the address needs a token.
        OSError: The address is not to be had.
        MissingPackageError: uvicorn is not installed.
    """
    limits = limits or env_limits()
    check_address(host, port, token)
    app = make_env_app(env, env_options=env_options, token=token, limits=limits)
    run_server(make_server(app, limits, websockets=speaks_websocket()), host, port, announce)


def serving_env(app: Starlette, limits: ServerLimits | None = None) -> AbstractContextManager[str]:
    """Run an application on this machine, in a thread, as long as the block lasts; gives its URL.

    Args:
        app: From ``make_env_app``.
        limits: How many connections, how slow a request may come, how long a message may be.
    """
    return serving(app, limits or env_limits(), websockets=speaks_websocket())


def speaks_websocket() -> bool:
    """Whether there is a package by which uvicorn speaks WebSocket; without one there is HTTP alone."""
    return any(importlib.util.find_spec(name) is not None for name in ("websockets", "wsproto"))
