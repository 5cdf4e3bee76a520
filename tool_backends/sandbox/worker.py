"""One worker process, seen from outside: start it, ask it, hear what it prints, and leave nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import multiprocessing.util
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["CHILD", "Babble", "Hangup", "Worker"]

CHILD = str(Path(__file__).with_name("child.py"))
"""The program of a worker."""
# As -I, but for the one variable that is given: with -E Python would not read it, and texts would hash anew each time.
_OPTIONS = ("-s", "-P", "-S", "-B", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}
_PART = 65_536
_DEATH = 2.0  # seconds to wait for a killed process


class Hangup(Exception):
    """The worker has closed its end."""


class Babble(Exception):
    """The worker says more than there is to say."""


class Worker:
    """A process that waits for orders. Use it in one event loop."""

    def __init__(self) -> None:
        """Start it.

        Raises:
            OSError: There is no room for another process or descriptor.
        """
        self._control, theirs = socket.socketpair()
        output, printing = os.pipe()
        self._output = open(output, "rb", buffering=0)  # noqa: SIM115
        try:
            self._process = _start(theirs.fileno(), printing)
        except OSError:
            self._control.close()
            self._output.close()
            raise
        finally:
            theirs.close()
            os.close(printing)
        self.pid = self._process.pid
        self._control.setblocking(False)
        os.set_blocking(output, False)
        self._kept, self._keep, self._count = bytearray(), 0, 0
        self._folders: list[str] = []
        # Also where a worker is forgotten, and where its process ends: multiprocessing's children run no atexit.
        things = (self._process, self._control, self._output, self._folders)
        self.end = multiprocessing.util.Finalize(self, _end, things, exitpriority=1)

    def move_in(self) -> str:
        """Make it a folder, which goes when it goes.

        Raises:
            OSError: There is no room.
        """
        self._folders.append(os.path.realpath(tempfile.mkdtemp(prefix="callgym-sandbox-")))
        return self._folders[0]

    async def ask(self, message: dict[str, Any], most: int, keep: int = 0) -> bytes:
        """Send a frame and wait for the one that answers it; meanwhile take in what is printed.

        Args:
            message: The frame.
            most: Bytes that the answer may have.
            keep: Bytes to keep of what is printed; the rest is counted.

        Raises:
            Hangup: There will be no answer.
            Babble: The answer is too long.
        """
        loop = asyncio.get_running_loop()
        self._kept, self._keep, self._count = bytearray(), keep, 0
        loop.add_reader(self._output, self._listen)
        try:
            body = json.dumps(message).encode()
            await loop.sock_sendall(self._control, struct.pack(">I", len(body)) + body)
            length = struct.unpack(">I", await self._exactly(4))[0]
            if length > most:
                raise Babble
            return await self._exactly(length)
        except OSError as error:
            raise Hangup from error
        finally:
            loop.remove_reader(self._output)

    async def _exactly(self, count: int) -> bytes:
        loop, parts = asyncio.get_running_loop(), bytearray()
        while len(parts) < count:
            part = await loop.sock_recv(self._control, min(count - len(parts), _PART))
            if not part:
                raise Hangup
            parts += part
        return bytes(parts)

    def _listen(self) -> int:
        """Take in one part of what was printed; how many bytes it had."""
        try:
            part = os.read(self._output.fileno(), _PART)
        except BlockingIOError:
            return 0
        if not part:  # the program has closed its outputs
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self._output)
        self._kept += part[: self._keep - len(self._kept)]
        self._count += len(part)
        return len(part)

    def printed(self) -> tuple[bytes, int]:
        """What was printed since the last frame was sent, as much of it as is kept, and how many bytes it had."""
        self._exhaust()
        return bytes(self._kept), self._count

    def _exhaust(self) -> bool:
        """Take in what is printed and not taken in yet; False where there is no end of it."""
        return any(self._listen() == 0 for _ in range(64))

    def is_silent(self) -> bool:
        """Whether nothing has come that nobody asked for; a worker that is dead is not silent."""
        return self._waiting() is None

    def has_hung_up(self) -> bool:
        """Whether it has closed its end."""
        return self._waiting() == b""

    def _waiting(self) -> bytes | None:
        """The beginning of what has come; None for nothing, and empty where nothing will come any more."""
        try:
            return self._control.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def is_quiet(self) -> bool:
        """Whether it says and prints nothing now; what was printed out of turn is dropped."""
        return self.is_silent() and self._exhaust()

    def holds_too_much(self, size: int, files: int) -> bool:
        """Whether its folder has more than so many bytes or files. It has no folders in it."""
        found = room = 0
        try:
            with os.scandir(self._folders[0]) as entries:
                for entry in entries:
                    found += 1
                    room += entry.stat(follow_symlinks=False).st_blocks * 512
                    if found > files or room > size + files * 4096:
                        return True
        except OSError:
            return False
        return False

    def kill(self) -> None:
        """End it now; its process is not waited for."""
        _kill(self._process)

    async def died(self) -> int | None:
        """How it died when it hung up by itself: its exit status, or minus the signal."""
        code = await self._exit(0.1)
        return code if code is not None else await self.gone()

    async def gone(self) -> int | None:
        """Kill it, and wait until it is dead."""
        self.kill()
        return await self._exit(_DEATH)

    async def _exit(self, seconds: float) -> int | None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (code := self._process.poll()) is None and loop.time() < until:
            await asyncio.sleep(0.001)
        return code


def _start(control: int, printing: int) -> subprocess.Popen[bytes]:
    python = getattr(sys, "_base_executable", None) or sys.executable
    return subprocess.Popen(
        [python, *_OPTIONS, CHILD, str(control)],
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=printing,
        stderr=printing,
        pass_fds=(control,),
        start_new_session=True,
        cwd="/",
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes], control: socket.socket, output: io.FileIO, folders: Sequence[str]) -> None:
    _kill(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_DEATH)
    control.close()
    output.close()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
