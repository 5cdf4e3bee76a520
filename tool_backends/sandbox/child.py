"""The program of a worker process: it shuts itself in, then runs the code it is sent. Nobody imports it.

Started as ``python -s -P -S -B -X utf8 child.py FD`` with PYTHONHASHSEED for its whole environment. Over the socket
``FD`` come and go frames (four bytes of length, then JSON): first what to be confined to, then programs. **This is
the one place in CallGym where a model's text becomes code.** A program can say over the socket what it likes: the
other end believes nothing of it.
"""

from __future__ import annotations

import _ast  # of ``ast``, what is written in C: a worker is to be started quickly
import builtins
import ctypes
import errno
import io
import json
import linecache
import math
import os
import random
import resource
import signal
import struct
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 64
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITIES_VERSION_3 = 0x20080522

# Landlock: system calls (the same on every machine), rights by the kernel's version of it.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_WRITE_FILE, _READ_FILE, _READ_DIR, _MAKE_REG, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 8, 1 << 14
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3


# Frames. The functions are kept: a program may change the modules they come from.

_read, _write, _dumps, _loads = os.read, os.write, json.dumps, json.loads


def receive(fd: int) -> Any:
    """The next frame; None where there will be no more."""
    head = _exactly(fd, 4)
    if head is None:
        return None
    body = _exactly(fd, struct.unpack(">I", head)[0])
    return None if body is None else _loads(body)


def _exactly(fd: int, count: int) -> bytes | None:
    parts = []
    while count:
        part = _read(fd, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def send(fd: int, message: dict[str, Any]) -> None:
    """Write one frame."""
    text = _dumps(message, ensure_ascii=False)
    try:
        body = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which the other end would not read
        body = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    view = memoryview(struct.pack(">I", len(body)) + body)
    while view:
        view = view[_write(fd, view) :]


# Confinement. What fails here raises, and then no program is run.


def confine(orders: dict[str, Any]) -> list[str]:
    """Give up every right that a program does not need, for ever. Returns what could be had beyond the required."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Namespaces of its own, without network: a second wall where the kernel grants it.
    more = ["namespaces"] if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) == 0 else []
    _drop_capabilities(libc)
    _prctl(libc, _PR_SET_NO_NEW_PRIVS, 1)
    _prctl(libc, _PR_SET_DUMPABLE, 0)
    _prctl(libc, _PR_SET_PDEATHSIG, signal.SIGKILL)  # anew: a change of rights may have undone it
    version = _landlock(libc, orders["readable"], orders["folder"])
    for name, value in orders["limits"].items():
        _limit(getattr(resource, name), value)
    _seccomp(libc, bytes.fromhex(orders["filter"]))
    return [f"landlock {version}", "seccomp", *more]


def _prctl(libc: ctypes.CDLL, option: int, value: Any, third: int = 0) -> None:
    if libc.prctl(option, ctypes.c_ulong(value), third, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Root without its powers; nothing to drop for others."""
    _prctl(libc, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header, none = struct.pack("=Ii", _CAPABILITIES_VERSION_3, 0), bytes(24)
    if libc.capset(header, none) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _landlock(libc: ctypes.CDLL, readable: list[str], folder: str) -> int:
    """Let files be opened below ``readable`` for reading, in ``folder`` for reading and writing, and nowhere else."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        raise OSError(ctypes.get_errno(), "landlock")
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    handled = struct.pack("=Q", rights)
    if version >= 4:
        handled += struct.pack("=Q", _TCP)
    if version >= 6:
        handled += struct.pack("=Q", _ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "landlock")
    for path in readable:
        _allow(libc, rules, path, _READ_FILE | _READ_DIR)
    # Not to remove: what a program has written stays where it is counted.
    _allow(libc, rules, folder, (_READ_FILE | _READ_DIR | _WRITE_FILE | _MAKE_REG | _TRUNCATE) & rights)
    _allow(libc, rules, os.devnull, _READ_FILE | _WRITE_FILE)
    if libc.syscall(_RESTRICT_SELF, rules, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock")
    os.close(rules)
    return int(version)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):
            rights &= ~_READ_DIR
        if libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, fd), 0) != 0:
            raise OSError(ctypes.get_errno(), f"landlock {path}")
    finally:
        os.close(fd)


def _limit(which: int, value: int) -> None:
    most = resource.getrlimit(which)[1]
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    # Time: a second before it is killed outright, the signal that tells why.
    soft = max(1, value - 1) if which == resource.RLIMIT_CPU else value
    resource.setrlimit(which, (soft, value))


def _seccomp(libc: ctypes.CDLL, instructions: bytes) -> None:
    buffer = ctypes.create_string_buffer(instructions, len(instructions))

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("first", ctypes.c_void_p)]

    program = Program(len(instructions) // 8, ctypes.addressof(buffer))
    if libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


# Programs.

_BUILTINS = dict(vars(builtins))


class Session:
    """The variables of one episode."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._module = types.ModuleType("__main__")
        self._module.__dict__["__builtins__"] = builtins
        self._count = 0

    def run(self, code: str) -> dict[str, Any]:
        """Run one program: what became of it, as JSON values."""
        self._count += 1
        name = f"<program {self._count}>"
        vars(builtins).update(_BUILTINS)
        sys.modules["__main__"] = self._module
        output = sys.stdout = sys.stderr = _terminal()
        try:
            return self._shown(self._value(code, name))
        except SystemExit as left:
            return _left(left)
        except BaseException as raised:
            return _raised(raised, name)
        finally:
            _flush(output)

    def _value(self, code: str, name: str) -> Any:
        """Run the program; the value of its last statement where that is an expression."""
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        tree: Any = compile(code, name, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        end = tree.body[-1] if tree.body else None
        last = end if isinstance(end, _ast.Expr) else None
        if last is not None:
            tree.body.pop()
        names = self._module.__dict__
        exec(compile(tree, name, "exec", dont_inherit=True), names)
        if last is None:
            return None
        return eval(compile(_ast.Expression(last.value), name, "eval", dont_inherit=True), names)

    def _shown(self, value: Any) -> dict[str, Any]:
        """A JSON value as it is, unless it is too long; anything else as text."""
        if type(value) is str:
            return self._cut(value)
        try:
            plain = _plain(value, MAX_DEPTH, [self._output])
            if len(_dumps(plain, ensure_ascii=False)) <= self._output:
                return {"value": plain}
        except (TypeError, ValueError):
            pass
        return self._cut(repr(value))

    def _cut(self, text: str) -> dict[str, Any]:
        text = str.__str__(text)  # a repr may be of a subclass
        return {"value": text[: self._output], "dropped": max(0, len(text) - self._output)}


def _plain(value: Any, depth: int, left: list[int]) -> Any:
    """A copy of a JSON value. Raises TypeError or ValueError for any other, and for one too deep or too large."""
    kind = type(value)
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise ValueError
    if value is None or kind is bool or kind is str or (kind is int and value.bit_length() <= 14_000):
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind is list or kind is tuple:
        return [_plain(item, depth - 1, left) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain(item, depth - 1, left) for key, item in value.items()}
    raise TypeError


def _terminal() -> io.TextIOWrapper:
    raw = io.FileIO(1, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)


def _flush(output: io.TextIOWrapper) -> None:
    for stream in (output, sys.stdout, sys.stderr):
        try:  # noqa: SIM105
            stream.flush()
        except BaseException:  # closed, or put in its place by the program
            pass


def _left(left: SystemExit) -> dict[str, Any]:
    if left.code is None or left.code == 0:
        return {"value": None}
    return {"type": "SystemExit", "message": _text(left.code), "line": None, "source": ""}


def _raised(raised: BaseException, name: str) -> dict[str, Any]:
    """What a person would look for in the traceback: the exception, and the last line of this program in it."""
    try:
        line = raised.lineno if isinstance(raised, SyntaxError) and raised.filename == name else None
        trace = raised.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == name:
                line = trace.tb_lineno
            trace = trace.tb_next
        source = linecache.getline(name, line).strip() if line else ""
        message = _text(raised.msg if isinstance(raised, SyntaxError) and raised.msg else raised)
        return {
            "type": _kind(raised), "message": message, "line": line, "source": source[:200], "limit": _limit_of(raised),
        }  # fmt: skip
    except BaseException:
        return {"type": "Exception", "message": "an exception that cannot be shown", "line": None, "source": ""}


def _kind(raised: BaseException) -> str:
    kind = type(raised)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"[:200]


def _text(value: Any) -> str:
    return str.__str__(str(value))[:1000]


def _limit_of(raised: BaseException) -> str | None:
    """Which limit of the sandbox an exception comes from, where it does."""
    if isinstance(raised, MemoryError):
        return "memory"
    if isinstance(raised, OSError):
        named = {errno.EFBIG: "disk", errno.EMFILE: "open_files", errno.EPERM: "calls", errno.EACCES: "files"}
        return named.get(raised.errno or 0)
    if isinstance(raised, RuntimeError) and "start new thread" in _text(raised):
        return "calls"
    return None


def main() -> None:
    """Shut in, then run what comes until the other end hangs up."""
    fd = int(sys.argv[1])
    sys.argv = ["program"]
    libc = ctypes.CDLL(None, use_errno=True)
    _prctl(libc, _PR_SET_PDEATHSIG, signal.SIGKILL)  # it does not outlive the one who started it
    orders = receive(fd)
    if orders is None:
        return
    try:
        os.environ.clear()
        os.chdir(orders["folder"])
        sys.path += orders["path"]
        random.seed(orders["seed"])
        _BUILTINS["exit"] = _BUILTINS["quit"] = sys.exit
        layers = confine(orders)
    except (OSError, ValueError, AttributeError) as error:
        send(fd, {"fault": f"{type(error).__name__}: {error}"})
        return
    send(fd, {"layers": layers})
    session = Session(orders["output"])
    while (request := receive(fd)) is not None:
        send(fd, {"token": request["token"], **session.run(request["code"])})


if __name__ == "__main__":
    main()
