"""The server's page for people: HTML without scripts, which loads nothing from anywhere."""

from __future__ import annotations

import json
from html import escape

from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.offer import Offer

__all__ = ["POLICY", "page"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The page's Content-Security-Policy: were anything in it a script, it would not run."""

_MAX_TOOLS = 200
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "pre{background:#f4f4f4;padding:.6em;overflow:auto}code{background:#f4f4f4}td{padding:.1em 1em .1em 0}"
)
_ROUTES = (
    ("GET /health", "whether the server is there; needs no token"),
    ("GET /tasks", "ids of tasks; ?offset=0&limit=100"),
    ("GET /tools", "documents of all tools, or of a task's: ?task=ID"),
    ("POST /sessions", '{"task": id or index, "seed": 0}: opens a session'),
    ("POST /sessions/{session}/call", '{"name": ..., "arguments": {...}}: {"content", "error", "message"}'),
    ("POST /sessions/{session}/tools/{name}", "the same; the body is the arguments"),
    ("GET /sessions/{session}/tools", "the tools of a session"),
    ("GET /sessions/{session}/state", "its state"),
    ("DELETE /sessions/{session}", "closes it"),
    ("GET /openapi.json", "all this for programs; ?task=ID"),
)
_CURL = """\
curl -s --json '{"task": 0, "seed": 1}' http://HOST:PORT/sessions
curl -s --json '{"name": "NAME", "arguments": {}}' http://HOST:PORT/sessions/SESSION/call
curl -s http://HOST:PORT/sessions/SESSION/state
curl -s -X DELETE http://HOST:PORT/sessions/SESSION"""


def page(offer: Offer, limits: ServerLimits, task: Task | None = None) -> str:
    """The page.

    Args:
        offer: What is served.
        limits: What the page says of sizes and times.
        task: The task whose tools are shown; None for the tools of all.
    """
    tools = list(offer.tools.values()) if task is None else offer.shown(task)
    rows = "".join(f"<tr><td><code>{escape(route)}</code><td>{escape(about)}" for route, about in _ROUTES)
    more = len(tools) - _MAX_TOOLS
    rest = f"<p>And {more} more; <code>GET /tools</code> lists them.</p>" if more > 0 else ""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Tools of {escape(offer.name)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>Tools of {escape(offer.name)}</h1>"
        f"<p>{len(offer.tasks)} tasks. A session without a request for {limits.session_seconds:g} s is closed; a call "
        f"may take {limits.call_seconds:g} s, and its body have {limits.max_body_bytes} bytes.</p>"
        f"<h2>Addresses</h2><table>{rows}</table><h2>With curl</h2><pre>{escape(_CURL)}</pre>"
        f"<p>Where the server has a token, with <code>-H 'Authorization: Bearer TOKEN'</code>.</p>"
        f"<h2>{len(tools)} tools</h2>{''.join(map(_tool, tools[:_MAX_TOOLS]))}{rest}</body></html>"
    )


def _tool(tool: Tool) -> str:
    parameters = json.dumps(tool.parameters, indent=2, ensure_ascii=False)
    return f"<h3>{escape(tool.name)}</h3><p>{escape(tool.description)}</p><pre>{escape(parameters)}</pre>"
