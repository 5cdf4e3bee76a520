"""A server's tools as ours: every page is followed, and what is wrong with a tool is said with its name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from mcp.shared.exceptions import MCPError

from callgym.errors import ConfigurationError, DataError
from callgym.json_value import copy_json
from callgym.schema import ToolSchema
from callgym.tool import Tool
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.mcp.address import Address
from callgym.tool_backends.mcp.connection import Connection, Late, NotStarted
from callgym.tool_backends.mcp.limits import McpLimits

__all__ = ["list_tools", "tool_of"]

_MIN_LISTING_BYTES = 16 * 1_048_576
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


async def list_tools(address: Address, keys: KeyRing, limits: McpLimits) -> tuple[Tool, ...]:
    """Ask a server for its tools, in a session of its own.

    Raises:
        ConfigurationError: The server cannot be started or reached, or does not list its tools.
        DataError: A tool cannot be used; the message names it.
    """
    longer = replace(limits, max_response_bytes=max(limits.max_response_bytes, _MIN_LISTING_BYTES))
    connection = Connection(address, keys, longer)
    try:
        await connection.started()
        return await _all_pages(connection, limits.max_tools)
    except NotStarted as error:
        raise ConfigurationError(str(error)) from None
    except Late:
        raise ConfigurationError(f"{address.name} did not list its tools within start_timeout_s") from None
    except MCPError as error:
        raise ConfigurationError(f"{address.name} does not list its tools: {keys.hide(error.message)[:400]}") from None
    finally:
        connection.stop()
        await asyncio.wait((connection.task,), timeout=limits.close_s + 5)


async def _all_pages(connection: Connection, most: int) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    cursors: set[str | None] = set()
    cursor: str | None = None
    server = connection.address.name
    while cursor not in cursors:
        cursors.add(cursor)
        page = await connection.page(cursor)
        rows = page.get("tools")
        if not isinstance(rows, list):
            raise DataError(f"{server} answered a listing without a list of tools")
        if len(tools) + len(rows) > most:
            raise DataError(f"{server} has more than {most} tools; give limits=McpLimits(max_tools=...) to take more")
        for row in rows:
            tool = tool_of(row, f"tool {len(tools) + 1} of {server}")
            if tool.name in tools:
                raise DataError(f"{server} lists the tool {tool.name!r} twice")
            tools[tool.name] = tool
        cursor = page.get("nextCursor")
        if cursor is None:
            return tuple(tools.values())
        if not isinstance(cursor, str) or len(cursors) > most:
            break
    raise DataError(f"{server} lists its tools in pages that never end")


def tool_of(row: Any, where: str) -> Tool:
    """One tool of a listing.

    Args:
        row: The tool, as the server sent it.
        where: What to call it where it has no name.

    Raises:
        DataError: It has no name, or its schema cannot be used.
    """
    name = row.get("name") if isinstance(row, dict) else None
    if not isinstance(name, str) or not name:
        raise DataError(f"{where} has no name")
    where = f"tool {name[:80]!r} ({where})"
    parameters = row.get("inputSchema")
    if not isinstance(parameters, dict):
        raise DataError(f"{where} has no inputSchema that is an object")
    # The dialect that a schema names would be fetched; they differ in nothing that tools use.
    parameters = {key: value for key, value in parameters.items() if key != "$schema"}
    description, returns = row.get("description"), row.get("outputSchema")
    about = {key: row[key] for key in ("title", "annotations") if row.get(key)}
    try:
        tool = Tool.from_dict(
            {
                "name": name,
                "description": description if isinstance(description, str) else "",
                "parameters": parameters,
                "returns": returns if isinstance(returns, dict) else None,
                "meta": copy_json(about),
            },
            where,
        )
        ToolSchema(tool)
    except (TypeError, ValueError, RecursionError) as error:  # DataError is a ValueError
        reason = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        raise DataError(f"{where}: its inputSchema cannot be used: {reason}") from None
    return tool
