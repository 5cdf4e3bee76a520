"""What an HTTP round trip costs, and how 64 waiting tools overlap: ``python benchmarks/http_tools.py``.

``measure_round_trip()``: RestBackend's ``call`` and bare ``httpx.Client`` in turn against one bare Starlette app under
uvicorn in a process of its own; the ratio is that of the fastest rounds. ``measure_side_by_side()``: 64 tools of 100 ms
through ``acall`` against the ideal of 100 ms, and against 64 bare sockets on the same loop, which says what this
machine can do at the time; the server is a bare asyncio one, so that it is not what is measured.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from callgym import Task, Tool, ToolCall
from callgym.tool_backends.http import Endpoint, HttpLimits, RestBackend
from callgym.tool_backends.portal import portal

ROUND_TRIP_LIMIT, SIDE_BY_SIDE_LIMIT = 1.3, 1.2

STARLETTE = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def city(request: Request) -> JSONResponse:
    return JSONResponse({"city": request.path_params["city"], "unit": request.query_params.get("unit")})


app = Starlette(routes=[Route("/cities/{city}", city)])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
"""
SLOW = """
import asyncio
import sys

ANSWER = b'HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 15\\r\\n\\r\\n{"city":"Rome"}'


class Slow(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""

    def data_received(self, data):
        self.data += data
        if b"\\r\\n\\r\\n" in self.data:
            self.data = b""
            asyncio.get_running_loop().call_later(float(sys.argv[2]), self.transport.write, ANSWER)


async def main():
    server = await asyncio.get_running_loop().create_server(Slow, "127.0.0.1", int(sys.argv[1]), backlog=256)
    await server.serve_forever()


asyncio.run(main())
"""
PARAMETERS: Any = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}}
CALL = ToolCall(name="city", arguments={"city": "Rome", "unit": "C"})
TASK = Task.from_dict(
    {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "hello"}],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)


@dataclass(frozen=True)
class RoundTrip:
    """Seconds a call of the fastest rounds."""

    backend_s: float
    httpx_s: float

    @property
    def ratio(self) -> float:
        """Limit: ROUND_TRIP_LIMIT."""
        return self.backend_s / self.httpx_s

    @property
    def calls_per_second(self) -> float:
        """Of one session, one call after another."""
        return 1 / self.backend_s


@dataclass(frozen=True)
class SideBySide:
    """Seconds of the fastest rounds, all tools together."""

    backend_s: float
    sockets_s: float
    ideal_s: float

    @property
    def ratio(self) -> float:
        """Over the tool's own time; limit: SIDE_BY_SIDE_LIMIT."""
        return self.backend_s / self.ideal_s

    @property
    def ratio_to_sockets(self) -> float:
        """Over the same requests by bare sockets, at the same time, on the same machine."""
        return self.backend_s / self.sockets_s


def measure_round_trip(rounds: int = 40, calls: int = 25) -> RoundTrip:
    """One call after another, the two in turn."""
    with served(STARLETTE) as url:
        endpoint = Endpoint(tool=Tool(name="city", parameters=PARAMETERS), url=f"{url}/cities/{{city}}")
        backend = RestBackend([endpoint])
        session = backend.open(TASK, 0)
        with httpx.Client() as client:

            def bare() -> object:
                return client.get(f"{url}/cities/Rome", params={"unit": "C"}).json()

            def ours() -> object:
                return session.call(CALL).content

            if not bare() == ours() == {"city": "Rome", "unit": "C"}:
                raise RuntimeError("the two do not answer the same")
            best = {ours: float("inf"), bare: float("inf")}
            for _ in range(rounds):
                for function in best:
                    best[function] = min(best[function], _seconds(function, calls))
        backend.close()
        return RoundTrip(best[ours], best[bare])


def measure_side_by_side(tools: int = 64, tool_s: float = 0.1, rounds: int = 20) -> SideBySide:
    """Many waiting tools in one loop; the first round, which opens the connections, is not counted."""
    with served(SLOW, str(tool_s)) as url:
        endpoint = Endpoint(tool=Tool(name="city", parameters=PARAMETERS), url=f"{url}/cities/{{city}}")
        backend = RestBackend([endpoint], limits=HttpLimits(connections=tools))
        sessions = [backend.open(TASK, seed) for seed in range(tools)]
        port = int(url.rpartition(":")[2])

        async def ours() -> None:
            results = await asyncio.gather(*[session.acall(CALL) for session in sessions])
            if not all(result.content == {"city": "Rome"} for result in results):
                raise RuntimeError("a tool did not answer")

        async def rounds_of_both() -> tuple[float, float]:
            streams = [await asyncio.open_connection("127.0.0.1", port) for _ in range(tools)]
            await ours()
            took: tuple[list[float], list[float]] = ([], [])
            for _ in range(rounds):
                started = time.perf_counter()
                await ours()
                took[0].append(time.perf_counter() - started)
                started = time.perf_counter()
                await asyncio.gather(*[_ask(*stream) for stream in streams])
                took[1].append(time.perf_counter() - started)
            for _, writer in streams:
                writer.close()
            return min(took[0]), min(took[1])

        backend_s, sockets_s = portal().run(rounds_of_both())
        backend.close()
        return SideBySide(backend_s, sockets_s, tool_s)


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET /cities/Rome HTTP/1.1\r\nHost: x\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(15)


def _seconds(function: Callable[[], object], calls: int) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - started) / calls


@contextmanager
def served(program: str, *arguments: str) -> Iterator[str]:
    """The URL of a server that runs in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as chosen:
        port = chosen.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", program, str(port), *arguments])
    try:
        for _ in range(500):
            time.sleep(0.02)
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError("the server did not start") from None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    trip, beside = measure_round_trip(), measure_side_by_side()
    print(f"round trip: {trip.backend_s * 1e6:.0f} us, httpx {trip.httpx_s * 1e6:.0f} us, ratio {trip.ratio:.2f}")
    print(f"64 tools: {beside.backend_s:.4f} s, ratio {beside.ratio:.3f}, to sockets {beside.ratio_to_sockets:.3f}")
    sys.exit(trip.ratio > ROUND_TRIP_LIMIT or beside.ratio > SIDE_BY_SIDE_LIMIT)
