"""``callgym mcp``: an environment's tools, served over the Model Context Protocol."""

from __future__ import annotations

import json
from typing import Any

import click

from callgym.command_line import HELP, data_option, explained, more_option, print_json, split_option
from callgym.environment_commands import id_argument
from callgym.errors import ConfigurationError
from callgym.registry import find_environment

__all__ = ["serve_over_mcp"]


@click.command("mcp", context_settings=HELP)
@id_argument
@click.option("--task", default=None, help="A task's id or number; the first by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="What sessions are opened with.")
@click.option("--http", "over_http", is_flag=True, help="Over HTTP; else over standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="HTTP: the address to listen at.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_000, show_default=True, help="HTTP: 0 for any.")
@click.option("--token-env", default=None, help="HTTP: variable that holds the token clients must send.")
@click.option("--allow-host", "allowed_hosts", multiple=True, help="HTTP: a name to be called by, 'tools.example:*'.")
@click.option("--state", "show_state", is_flag=True, help="Let the client read its session's state, callgym://state.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Say in one line of JSON what is served; without --http on standard error, as standard output is the line "
    "to the client.",
)
@data_option
@split_option
@more_option
@explained
def serve_over_mcp(id: str, over_http: bool, as_json: bool, more: dict[str, Any], **options: Any) -> None:
    """Serve an environment's tools over MCP.

    Each connection has a session of its own. Over HTTP a client may choose a task and a seed by itself: http://HOST:PORT/mcp?task=TASK&seed=SEED.
    """
    from callgym.tool_backends.mcp import serve_mcp

    find_environment(id)
    clash = sorted(more.keys() & options.keys())
    if clash:
        raise ConfigurationError(f"--set {clash[0]}=... is the option --{clash[0].replace('_', '-')}")
    if as_json and not over_http:
        click.echo(json.dumps({"url": None, "id": id, "transport": "stdio"}), err=True)
    ready = (lambda url: print_json({"url": url, "id": id, "transport": "http"})) if as_json else None
    serve_mcp(id, transport="http" if over_http else "stdio", ready=ready, **options, **more)
