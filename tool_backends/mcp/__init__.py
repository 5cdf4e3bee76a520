"""Model Context Protocol: servers of others as tools, and environments as servers. Needs the extra ``mcp``."""

from callgym.tool_backends.mcp.backend import McpBackend, McpSession
from callgym.tool_backends.mcp.http_server import McpHttpServer
from callgym.tool_backends.mcp.limits import McpLimits
from callgym.tool_backends.mcp.serving import serve_mcp

__all__ = ["McpBackend", "McpHttpServer", "McpLimits", "McpSession", "serve_mcp"]
