"""Tools that are services: REST, JSON-RPC, ToolBench's tool server; OpenAPI documents as tools."""

from callgym.tool_backends.http.backend import HttpBackend, HttpSession, Translation
from callgym.tool_backends.http.endpoint import Argument, Endpoint
from callgym.tool_backends.http.json_rpc import JsonRpcBackend
from callgym.tool_backends.http.keys import Key
from callgym.tool_backends.http.limits import HttpLimits
from callgym.tool_backends.http.openapi import OpenApi, read_openapi
from callgym.tool_backends.http.rest import RestBackend
from callgym.tool_backends.http.tool_server import ToolServerBackend
from callgym.tool_backends.http.toolbench import ToolBenchApi, read_apis, tool_of_query

__all__ = [
    "Argument",
    "Endpoint",
    "HttpBackend",
    "HttpLimits",
    "HttpSession",
    "JsonRpcBackend",
    "Key",
    "OpenApi",
    "RestBackend",
    "ToolBenchApi",
    "ToolServerBackend",
    "Translation",
    "read_apis",
    "read_openapi",
    "tool_of_query",
]
