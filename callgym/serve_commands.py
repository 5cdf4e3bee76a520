"""``callgym serve`` and ``callgym serve-env``: an environment's tools, or whole environments, for other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from callgym.command_line import (
    HELP,
    data_option,
    dialect_option,
    explained,
    more_option,
    print_json,
    split_option,
)
from callgym.environment_commands import id_argument
from callgym.registry import find_environment

__all__ = ["serve", "serve_env"]

_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; any other needs a token."),
    click.option(
        "--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0: any that is free."
    ),
    click.option("--token-env", default=None, help="Variable with the token; CALLGYM_SERVE_TOKEN where it is set."),
    click.option("--max-sessions", type=click.IntRange(min=1), default=1024, show_default=True),
    click.option("--session-seconds", type=click.FloatRange(min=0, min_open=True), default=900.0, show_default=True),
    click.option("--call-seconds", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True),
    click.option("--json", "as_json", is_flag=True, help="Say in one line of JSON where it listens, once it does."),
    data_option,
    split_option,
    more_option,
)


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(context_settings=HELP)
@id_argument
@_server_options
@explained
def serve(
    id: str,
    host: str,
    port: int,
    token_env: str | None,
    as_json: bool,
    data: str,
    split: str,
    more: dict[str, Any],
    **limits: Any,
) -> None:
    """Serve an environment's tools over HTTP.

    For RemoteBackend, curl, and any OpenAPI client."""
    from callgym.tool_backends.server.limits import ServerLimits
    from callgym.tool_backends.server.run import read_token, serve

    find_environment(id)
    serve(
        id,
        host=host,
        port=port,
        token=read_token(token_env),
        limits=ServerLimits(**limits),
        env_options={"data": data, "split": split, **more},
        announce=lambda url: (
            print_json({"url": url, "id": id, "docs": f"{url}/docs"})
            if as_json
            else click.echo(f"callgym: {id} at {url}, its page at {url}/docs")
        ),
    )


@click.command("serve-env", context_settings=HELP)
@id_argument
@dialect_option
@_server_options
@explained
def serve_env(
    id: str,
    host: str,
    port: int,
    token_env: str | None,
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
    **limits: Any,
) -> None:
    """Serve a whole environment over HTTP and WebSocket.

    For RemoteEnv, OpenEnv's clients, and other languages."""
    from callgym.rollouts.env_server.app import env_limits
    from callgym.rollouts.env_server.run import serve_env, speaks_websocket
    from callgym.tool_backends.server.run import read_token

    find_environment(id)
    if not speaks_websocket():
        click.echo("callgym: HTTP only; for /ws, which OpenEnv's clients use: pip install websockets", err=True)
    serve_env(
        id,
        env_options={"data": data, "split": split, "dialect": dialect, **more},
        host=host,
        port=port,
        token=read_token(token_env),
        limits=env_limits(**limits),
        announce=lambda url: print_json({"url": url, "id": id}) if as_json else click.echo(f"callgym: {id} at {url}"),
    )
