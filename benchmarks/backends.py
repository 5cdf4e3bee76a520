"""Every backend and wrapper in one table: calls a second, times the bare function, and a fault that each survives.

``python benchmarks/backends.py`` (extras ``http``, ``serve``, ``mcp``, ``sandbox``). A row's fault is really made, and
the next call must work. Below the table stand the limits: validation and dispatch over the floor, a round trip over
bare httpx, 64 tools of 100 ms side by side over the ideal, a recorded lookup among 100,000 rows.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from function_tools import LIMIT as DISPATCH_LIMIT
from function_tools import function_ratios
from http_tools import ROUND_TRIP_LIMIT, SIDE_BY_SIDE_LIMIT, measure_round_trip, measure_side_by_side, served
from recorded_lookup import LIMIT_US, recorded_lookup

from callgym import Task, ToolCall, ToolResult
from callgym.tool_backends import PythonBackend, Session, ToolBackend
from callgym.tool_backends.cache import cached
from callgym.tool_backends.concurrency import limited
from callgym.tool_backends.faults import faulty
from callgym.tool_backends.functions import FunctionBackend
from callgym.tool_backends.http import Endpoint, HttpLimits, RestBackend
from callgym.tool_backends.isolated import isolated
from callgym.tool_backends.mcp import McpBackend, McpLimits
from callgym.tool_backends.recording import ReplayBackend, recorded
from callgym.tool_backends.remote import RemoteBackend
from callgym.tool_backends.sandbox import PythonSandbox
from callgym.tool_backends.validation import validated

SECONDS = 0.3


def add(a: int, b: int) -> int:
    """Add two numbers; 13 brings bad luck, and 99 takes for ever."""
    if a == 13:
        raise RuntimeError("bad luck")
    while a == 99:
        time.sleep(0.05)
    return a + b


TOOLS = FunctionBackend([add])
PLAIN = PythonBackend({"add": lambda world, a, b: a + b})
CALL = ToolCall(name="add", arguments={"a": 1, "b": 2})
BAD_LUCK, FOR_EVER = (ToolCall(name="add", arguments={"a": a, "b": 2}) for a in (13, 99))
TASK = Task.from_dict(
    {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "1 + 2?"}],
        "tools": [tool.to_dict() for tool in TOOLS.tools],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)
MCP_PROGRAM = """
import os
from mcp.server import MCPServer
server = MCPServer("sums")
@server.tool()
def add(a: int, b: int) -> int:
    if a == 13:
        os._exit(1)
    return a + b
server.run()
"""
REST_PROGRAM = """
import os, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def add(request):
    a, b = (int(request.query_params[name]) for name in "ab")
    return JSONResponse("x" * 5_000_000 if a == 13 else a + b)
uvicorn.run(Starlette(routes=[Route("/add", add)]), port=int(sys.argv[1]), log_level="error", access_log=False)
"""
SERVER_PROGRAM = """
import sys
from callgym.tool_backends.functions import FunctionBackend
from callgym.tool_backends.server.run import serve
def add(a: int, b: int) -> int:
    if a == 13:
        raise RuntimeError("bad luck")
    return a + b
backend = FunctionBackend([add])
serve(backend, tools=backend.tools, port=int(sys.argv[1]), announce=lambda url: None)
"""


@dataclass(frozen=True)
class Row:
    """A backend, and what is done to it."""

    name: str
    backend: ToolBackend
    call: ToolCall
    fault: str
    """What goes wrong."""
    provoke: Callable[[Session], ToolResult]
    """Makes it go wrong; the answer must be an error, or for a fault of the tool's own data."""


def main() -> None:
    """Print the table, then the limits; exit status 1 where one is missed or a fault was not survived."""
    bare_s = _seconds(lambda: add(1, 2))
    print(f"{'backend':<28}{'calls/s':>12}{'x bare':>12}  fault survived")
    bad = 0
    with ExitStack() as stack:
        for row in _rows(stack):
            seconds, survived = _measure(row)
            bad += not survived
            said = row.fault if survived else f"NOT SURVIVED: {row.fault}"
            print(f"{row.name:<28}{1 / seconds:>12,.0f}{seconds / bare_s:>12,.0f}  {said}", flush=True)
    sys.exit(1 if _limits() or bad else 0)


def _rows(stack: ExitStack) -> Iterator[Row]:
    yield Row("functions", TOOLS, CALL, "an exception in the tool", _bad_luck)
    yield Row("functions, validated", validated(TOOLS), CALL, "arguments that are no numbers", _wrong)
    yield Row("functions, cached", cached(TOOLS, ["add"]), CALL, "an exception in the tool", _bad_luck)
    yield Row("functions, limited", limited(TOOLS, 8), CALL, "an exception in the tool", _bad_luck)
    outage = faulty(TOOLS, ["errors:0.5", "latency:0.5"])
    yield Row("functions, faulty", outage, CALL, "half of the calls fail", _until_it_fails)
    alone = stack.enter_context(_closing(isolated("backends:TOOLS", 0.5)))
    yield Row("functions, isolated", alone, CALL, "a tool that never ends", _for_ever)
    yield Row("recorded", _recording(stack), CALL, "a call that nobody recorded", _bad_luck)
    url = stack.enter_context(served(REST_PROGRAM))
    endpoint = Endpoint(tool=TOOLS.tools[0], url=f"{url}/add")
    rest = RestBackend([endpoint], limits=HttpLimits(timeout_s=2))
    yield Row("http (REST)", rest, CALL, "an answer of 5 MB", _bad_luck)
    served_url = stack.enter_context(served(SERVER_PROGRAM))
    yield Row("tool server", RemoteBackend(served_url, task="tools"), CALL, "a bug behind the server", _bad_luck)
    server = McpBackend.stdio(sys.executable, ["-c", MCP_PROGRAM], limits=McpLimits(timeout_s=5))
    yield Row("mcp (stdio)", server, CALL, "a server that dies in mid-call", _bad_luck)
    program = ToolCall(name="python", arguments={"code": "1 + 2"})
    for engine in ("process", "interpreter"):
        box = PythonSandbox(engine=engine, timeout=1.0)
        yield Row(f"sandbox ({engine})", box, program, "a program that never ends", _endless)


def _bad_luck(session: Session) -> ToolResult:
    return session.call(BAD_LUCK)


def _for_ever(session: Session) -> ToolResult:
    return session.call(FOR_EVER)


def _wrong(session: Session) -> ToolResult:
    return session.call(ToolCall(name="add", arguments={"a": "x"}))


def _until_it_fails(session: Session) -> ToolResult:
    return next(result for result in iter(lambda: session.call(CALL), None) if result.error)


def _endless(session: Session) -> ToolResult:
    return session.call(ToolCall(name="python", arguments={"code": "while True: pass"}))


def _recording(stack: ExitStack) -> ToolBackend:
    path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "calls.sqlite"
    session = recorded(TOOLS, path, scope="call").open(TASK, 0)
    session.call(CALL)
    session.close()
    return ReplayBackend(path)


@contextmanager
def _closing(backend: Any) -> Iterator[Any]:
    try:
        yield backend
    finally:
        backend.close()


def _measure(row: Row) -> tuple[float, bool]:
    session = row.backend.open(TASK, 0)
    try:
        result = session.call(row.call)
        seconds = _seconds(lambda: session.call(row.call))
        failed = row.provoke(session)
        after = next((r for r in (session.call(row.call) for _ in range(20)) if r.ok), None)
        return seconds, (result.ok or "faulty" in row.name) and not failed.ok and after is not None
    finally:
        session.close()


def _seconds(work: Callable[[], object]) -> float:
    """Seconds a call, the fastest of several rounds."""
    started = time.perf_counter()
    work()
    repeats = max(1, int(SECONDS / 10 / max(time.perf_counter() - started, 1e-7)))
    best = float("inf")
    for _ in range(10):
        started = time.perf_counter()
        for _ in range(repeats):
            work()
        best = min(best, (time.perf_counter() - started) / repeats)
    return best


def _limits() -> int:
    """Print each limit and what was measured; how many were missed."""
    dispatch, trip, beside, lookup = function_ratios(), measure_round_trip(), measure_side_by_side(), recorded_lookup()
    rows = (
        ("validation and dispatch over the floor", dispatch["plain"], DISPATCH_LIMIT),
        ("HTTP round trip over bare httpx, same Starlette app", trip.ratio, ROUND_TRIP_LIMIT),
        ("64 tools of 100 ms side by side over the ideal", beside.ratio, SIDE_BY_SIDE_LIMIT),
        ("recorded lookup of 100,000 rows, microseconds", lookup.exact, LIMIT_US),
    )
    print()
    for what, value, limit in rows:
        print(f"{what:<56}{value:>8.2f}  limit {limit:g}{'' if value <= limit else '  MISSED'}")
    sockets = beside.sockets_s / beside.ideal_s
    print(f"(64 bare sockets take {sockets:.2f} of the ideal; a row by hand {lookup.by_hand:.0f} us)")
    return sum(value > limit for _, value, limit in rows)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    main()
