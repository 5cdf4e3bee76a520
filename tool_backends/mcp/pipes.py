"""A server as a program of our own, spoken to over its standard input and output.

The SDK's own transport reads a line of any length and hands six variables of our environment on. This one has limits,
keeps what the program says on standard error, and sees to it that no program is left behind: it is in a process group
that is killed as a whole, it is killed when we exit, and on Linux when we are killed.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from callgym.tool_backends.mcp.address import StdioAddress
from callgym.tool_backends.mcp.limits import McpLimits
from callgym.tool_backends.mcp.lines import Line, Lines, answered_id
from callgym.tool_backends.mcp.traffic import BROKEN_ANSWER, Traffic

__all__ = ["Streams", "stdio_streams"]

Incoming: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]
Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]
"""What the SDK's session reads from and writes to."""

_CHUNK = 65_536
_REAP_S = 2.0
_POLL_S = 0.005
_LEASH = Path(__file__).with_name("leash.py")
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError)

_running: dict[int, int] = {}
"""Programs that run now, and the process that started them."""


@asynccontextmanager
async def stdio_streams(address: StdioAddress, limits: McpLimits, traffic: Traffic) -> AsyncIterator[Streams]:
    """Start the program; it is ended with the block.

    Raises:
        OSError: It cannot be started.
    """
    transport, process = await _start(address)
    _running[process.pid] = os.getpid()
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, incoming, limits, traffic)
            tasks.start_soon(_write, process, outgoing, traffic)
            tasks.start_soon(_overhear, process, traffic)
            try:
                yield read, write
            finally:
                for end in (read, write):
                    end.close()
                with anyio.CancelScope(shield=True):
                    await _end(process, 0.0 if traffic.flooded else limits.close_s)
                tasks.cancel_scope.cancel()
    finally:
        _kill(process.pid)
        transport.close()
        _running.pop(process.pid, None)
        for stream in (incoming, read, write, outgoing):
            stream.close()


async def _start(address: StdioAddress) -> tuple[asyncio.SubprocessTransport, asyncio.subprocess.Process]:
    argv = [address.command, *address.args]
    if sys.platform == "linux" and sys.executable:
        argv = [sys.executable, "-I", "-S", str(_LEASH), str(os.getpid()), *argv]
    loop = asyncio.get_running_loop()
    pipe = asyncio.subprocess.PIPE
    transport, protocol = await loop.subprocess_exec(
        lambda: asyncio.subprocess.SubprocessStreamProtocol(limit=_CHUNK, loop=loop),
        *argv,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=address.environment(),
        cwd=address.cwd,
        start_new_session=True,
    )
    return transport, asyncio.subprocess.Process(transport, protocol, loop)


# Its standard streams.


async def _read(process: asyncio.subprocess.Process, incoming: Incoming, limits: McpLimits, traffic: Traffic) -> None:
    assert process.stdout is not None
    lines = Lines(limits.max_response_bytes)
    listened = True
    while chunk := await process.stdout.read(_CHUNK):
        if not traffic.received(len(chunk)):
            break
        for line in lines.feed(chunk):
            message = _message(line, limits)
            if message is None or not listened:  # read on all the same: a server that cannot write does not end
                continue
            try:
                await incoming.send(message)
            except _GONE:
                listened = False
    incoming.close()
    await asyncio.sleep(0)  # what was sent last is dealt with first
    traffic.over.set()


def _message(line: Line, limits: McpLimits) -> SessionMessage | None:
    """What a line says; nothing for noise, an error for an answer that cannot be read."""
    if line.whole:
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line.text, by_name=False))
        except ValueError:
            fault = "the tool's answer is not JSON that can be read"
    else:
        fault = f"the tool's answer is longer than {limits.max_response_bytes} bytes; ask for less"
    request = answered_id(line)
    if request is None:
        return None
    error = ErrorData(code=BROKEN_ANSWER, message=fault)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request, error=error))


async def _write(
    process: asyncio.subprocess.Process, outgoing: MemoryObjectReceiveStream[SessionMessage], traffic: Traffic
) -> None:
    assert process.stdin is not None
    try:
        async for item in outgoing:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            traffic.asked()
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except OSError:  # it does not listen any more
        traffic.over.set()
    finally:
        outgoing.close()


async def _overhear(process: asyncio.subprocess.Process, traffic: Traffic) -> None:
    assert process.stderr is not None
    while words := await process.stderr.read(_CHUNK):
        traffic.heard(words)
        if not traffic.received(len(words)):
            return


# Its end.


async def _end(process: asyncio.subprocess.Process, grace: float) -> None:
    """The end of its input tells a server to end; then it is made to, with all that it has started."""
    assert process.stdin is not None
    process.stdin.close()
    await _ended(process, grace)
    _kill(process.pid)
    await _ended(process, _REAP_S)


async def _ended(process: asyncio.subprocess.Process, seconds: float) -> None:
    # Process.wait() would wait for the pipes, too, which a child of the server may hold open.
    with anyio.move_on_after(seconds):
        while process.returncode is None:
            await asyncio.sleep(_POLL_S)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _kill_all() -> None:
    for pid, owner in list(_running.items()):
        if owner == os.getpid():
            _kill(pid)


def _forget(_: Any = None) -> None:
    """In a forked child: the programs are the parent's."""
    _running.clear()


atexit.register(_kill_all)
os.register_at_fork(after_in_child=_forget)
