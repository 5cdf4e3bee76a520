"""The code sandbox: programs that do harm become results, and nothing of them is left behind."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgym import Task, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.schema import ToolSchema
from callgym.tool_backends import checked_call, waits
from callgym.tool_backends.sandbox import PythonSandbox, SandboxSession, backend
from callgym.tool_backends.sandbox.interpreter import has_interpreter, shown
from callgym.tool_backends.sandbox.limits import MIB
from callgym.tool_backends.sandbox.process import ProcessEngine, Trial, process_trial
from callgym.tool_backends.sandbox.reply import Reply
from callgym.tool_backends.sandbox.syscalls import MACHINES, filter_for

FAULT = process_trial().fault
needs_process = pytest.mark.skipif(FAULT is not None, reason=f"no process engine: {FAULT}")
needs_interpreter = pytest.mark.skipif(not has_interpreter(), reason="pydantic-monty is not installed")
ENGINES = [pytest.param("process", marks=needs_process), pytest.param("interpreter", marks=needs_interpreter)]
QUICK: dict[str, Any] = {"timeout": 10.0, "memory": 128 * MIB, "output": 2000, "disk": 2 * MIB, "warm": 1, "workers": 2}
HASTY: dict[str, Any] = {**QUICK, "timeout": 0.25}
LOST = "The variables of earlier calls are lost."
TASK = Task.from_dict(
    {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "compute"}],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where workers have their folders; at the end nothing is left of those that served anybody."""
    place = tmp_path_factory.mktemp("workers")
    before, tempfile.tempdir = tempfile.tempdir, str(place)
    yield place
    tempfile.tempdir = before
    idle = {worker.pid for engine in engines() for worker in engine._ready}
    assert wait_for(lambda: set(workers_of(os.getpid())) <= idle)
    assert list(place.iterdir()) == []


def engines() -> list[ProcessEngine]:
    from callgym.tool_backends.sandbox import session

    return [engine for engine in session._running.values() if isinstance(engine, ProcessEngine)]


def workers_of(parent: int) -> list[int]:
    """Worker processes, alive or not waited for, of a process."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        ours = int(stat.rpartition(")")[2].split()[1]) == parent
        if ours and (b"sandbox/child.py" in command or b") Z " in stat.encode()):
            found.append(int(entry.name))
    return found


def wait_for(condition: Any, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def program(code: str) -> ToolCall:
    return ToolCall(name="python", arguments={"code": textwrap.dedent(code)})


@pytest.fixture
def session() -> Iterator[SandboxSession]:
    opened = PythonSandbox(engine="process", **QUICK).open(TASK, 7)
    yield opened
    opened.close()


@pytest.fixture
def hasty() -> Iterator[SandboxSession]:
    opened = PythonSandbox(engine="process", **HASTY).open(TASK, 7)
    yield opened
    opened.close()


@pytest.fixture(params=ENGINES)
def either_hasty(request: pytest.FixtureRequest) -> Iterator[SandboxSession]:
    opened = PythonSandbox(engine=request.param, **HASTY).open(TASK, 7)
    yield opened
    opened.close()


@pytest.fixture(params=ENGINES)
def either(request: pytest.FixtureRequest) -> Iterator[SandboxSession]:
    opened = PythonSandbox(engine=request.param, **QUICK).open(TASK, 7)
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=ENGINES)
def shared(request: pytest.FixtureRequest) -> Iterator[SandboxSession]:
    """One session for tests that leave it as it was."""
    opened = PythonSandbox(engine=request.param, **QUICK).open(TASK, 7)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def attacked() -> Iterator[SandboxSession]:
    """One session for all attacks that do not care for what was before."""
    opened = PythonSandbox(engine="process", **QUICK).open(TASK, 7)
    yield opened
    opened.close()


def works(session: SandboxSession) -> None:
    for _ in range(3):
        result = session.call(program("print('on'); 6 * 7"))
        if result.error != "timeout":  # a quarter of a second may not do on a busy machine
            break
    assert result == ToolResult(content={"stdout": "on\n", "result": 42})


# What programs give, in both engines.

VALUES: list[tuple[str, Any]] = [
    ("", None),
    ("1 + 1", 2),
    ("x = 1", None),
    ("None", None),
    ("True", True),
    ("1.5", 1.5),
    ("'a' * 3", "aaa"),
    ("[1, 'a', None, [2.5]]", [1, "a", None, [2.5]]),
    ("(1, (2,))", [1, [2]]),
    ("{'a': {'b': [1]}}", {"a": {"b": [1]}}),
    ("{1: 2}", "{1: 2}"),
    ("{'c', 'a'} - {'c'}", "{'a'}"),
    ("float('nan')", "nan"),
    ("1e400", "inf"),
    ("b'ab'", "b'ab'"),
    ("range(3)", "range(0, 3)"),
    ("2 ** 100", 2**100),
    ("def f(n):\n    return n * 2\nf(4)", 8),
    ("import random\nrandom.seed(7)\n[random.random(), random.randint(1, 6)]", [0.32383276483316237, 2]),
    ("import asyncio\nasync def f():\n    return 5\nasyncio.run(f())", 5),
    ("if True:\n    7", None),
    ("raise SystemExit", None),
]


@pytest.mark.parametrize(("code", "value"), VALUES, ids=[code[:30] for code, _ in VALUES])
def test_a_value_is_json_where_it_can_be_and_text_where_not(shared: SandboxSession, code: str, value: Any) -> None:
    assert shared.call(program(code)) == ToolResult(content={"stdout": "", "result": value})


FAULTS = [
    ("1 / 0", "ZeroDivisionError: division by zero (line 1: 1 / 0)."),
    ("x = 1\n\nx.y", "AttributeError: 'int' object has no attribute 'y' (line 3: x.y)."),
    ("def f():\n    return [][1]\n\nf()", "IndexError: list index out of range (line 2: return [][1])."),
    ("print('so far')\nint('a')", "Printed before: so far"),
    ("1 +", "SyntaxError: "),
    ("x = 1\ny = (", "SyntaxError: "),
    ("raise ValueError('a' * 10_000)", "ValueError: aaaaa"),
    ("raise ValueError('two\\nlines \\x07')", "ValueError: two lines \ufffd (line 1"),
    ("def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    ("raise SystemExit('no')", "SystemExit: no"),
    ("'\ud800'", "surrogates"),
    ("\x00", "Error: "),
]


@pytest.mark.parametrize(("code", "message"), FAULTS, ids=[repr(code)[:30] for code, _ in FAULTS])
def test_an_exception_is_told_with_its_line_and_the_variables_stay(
    shared: SandboxSession, code: str, message: str
) -> None:
    shared.call(program("kept = 3"))
    result = shared.call(program(code))
    assert (result.error, result.content) == ("tool_error", None)
    assert message in result.message
    assert len(result.message) <= 400
    assert shared.call(program("kept")).content == {"stdout": "", "result": 3}


ENDLESS = [
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "while True: print('again')",
]
OVERSIZE = [
    "rows = []\nwhile True: rows.append('x' * 10**6)",
    "'x' * 10**10",
    "[0] * 10**9",
]


@pytest.mark.parametrize("code", ENDLESS)
def test_a_program_without_end_costs_the_variables_and_nothing_else(either_hasty: SandboxSession, code: str) -> None:
    overrun(either_hasty, code, "timeout", "longer than 0.25 seconds")


@pytest.mark.parametrize("code", OVERSIZE)
def test_a_program_that_is_too_large_costs_the_variables_and_nothing_else(shared: SandboxSession, code: str) -> None:
    overrun(shared, code, "tool_error", "at most 128 MiB of memory")


def overrun(session: SandboxSession, code: str, kind: str, message: str) -> None:
    session.call(program("kept = 3"))
    result = session.call(program(code))
    assert (result.error, result.content) == (kind, None)
    assert message in result.message
    assert LOST in result.message
    assert "'kept' is not defined" in session.call(program("kept")).message
    works(session)


@pytest.mark.parametrize("code", ["9**9**9", "import re\nre.match('(a+)+$', 'a' * 60 + 'b')"])
def test_what_one_engine_computes_for_ever_the_other_may_refuse(either_hasty: SandboxSession, code: str) -> None:
    result = either_hasty.call(program(code))
    assert result.error in (None, "timeout", "tool_error")
    assert result.ok or "longer than 0.25" in result.message or "MiB of memory" in result.message
    works(either_hasty)


def test_output_and_values_are_cut_and_it_is_said(either: SandboxSession) -> None:
    content: Any = either.call(program("print('é' * 5000)\n'b' * 5000")).content
    assert content["stdout"] == "é" * 2000 + "... [6,001 more bytes were dropped]"
    assert content["result"] == "b" * 2000 + "... [3,000 more characters were dropped]"
    content = either.call(program("list(range(100_000))")).content
    assert content["result"].startswith("[0, 1, 2, ")
    assert len(content["result"]) < 2100
    deep: Any = either.call(program("x = []\nfor _ in range(200): x = [x]\nx")).content
    assert type(deep["result"]) is str
    loop: Any = either.call(program("x = []\nx.append(x)\nx")).content
    assert "[...]" in str(loop["result"])
    works(either)


def test_a_megabyte_of_code_is_run_or_refused(either: SandboxSession) -> None:
    assert either.call(program("#" * 1_000_000 + "\n5")).content == {"stdout": "", "result": 5}
    for code in ("x = 1\n" * 160_000, "(" * 1_000_000, "x = " + "-" * 1_000_000 + "1"):
        result = either.call(program(code))
        assert result.error in (None, "tool_error", "timeout")
        works(either)
    assert either.call(program("#" * 1_048_577)).error == "invalid_arguments"


def test_the_same_seed_gives_the_same(request: pytest.FixtureRequest) -> None:
    code = program(
        """
        import random
        print(object, {'c', 'b', 'a', 'zz'}, hash('text'), random.random(), random.sample(range(99), 5))
        [(lambda: 1), random.random(), {'x', 'y'}]
        """
    )
    for name in ("process", "interpreter"):
        if (name == "process" and FAULT) or (name == "interpreter" and not has_interpreter()):
            continue
        box = PythonSandbox(**{**QUICK, "engine": name})
        seen = []
        for seed in (3, 3, 4):
            session = box.open(TASK, seed)
            seen.append((session.call(code), session.call(code)))
            session.close()
        assert seen[0] == seen[1]
        assert seen[0] != seen[2]
        assert seen[0][0] != seen[0][1]
        assert "0x0" in str(seen[0])


def test_without_persistence_each_call_begins_anew(either: SandboxSession) -> None:
    box = PythonSandbox(**{**QUICK, "engine": either._settings.engine, "persistent": False})
    session = box.open(TASK, 7)
    draw = program("import random\nx = random.random()\nx")
    first, second = session.call(draw), session.call(draw)
    assert first.content != second.content
    assert (first.error, second.error) == (None, None)
    assert "'x' is not defined" in session.call(program("x")).message
    assert LOST not in session.call(program("'x' * 10**10")).message
    session.close()
    again = box.open(TASK, 7)
    assert (again.call(draw), again.call(draw)) == (first, second)
    again.close()


# Attacks on the process engine.

REFUSED = "no network, starts no processes or threads and signals nobody"
CONFINED = "reads Python's library and its own folder"
ATTACKS = [
    ("import os\nwhile True: os.fork()", REFUSED),
    ("import multiprocessing\nmultiprocessing.Process(target=print).start()", REFUSED),
    ("import subprocess\nsubprocess.run(['/bin/sh', '-c', 'id'])", REFUSED),
    ("import os\nos.execv('/bin/sh', ['sh'])", REFUSED),
    ("import os\nos.system('id') and None\n1 / 0", "ZeroDivisionError"),
    ("import os\nos.posix_spawn('/bin/true', ['true'], {})", REFUSED),
    ("import threading\nthreading.Thread(target=print).start()", REFUSED),
    ("import socket\nsocket.create_connection(('127.0.0.1', 9))", REFUSED),
    ("import socket\nsocket.socket(socket.AF_UNIX)", REFUSED),
    ("import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'x', '/dev/log')", REFUSED),
    ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')", "Operation not permitted"),
    ("import os\nos.kill(os.getppid(), 9)", REFUSED),
    ("import os\nos.kill(-1, 9)", REFUSED),
    ("import os\nos.killpg(0, 9)", REFUSED),
    ("import fcntl, os\nfcntl.fcntl(1, 8, os.getppid())", REFUSED),
    ("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "maximum limit|not permitted"),
    ("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.1)", "not permitted"),
    ("open('/etc/passwd').read()", CONFINED),
    ("open('/proc/self/environ').read()", CONFINED),
    ("import os\nopen(f'/proc/{os.getppid()}/environ').read()", CONFINED),
    ("open('/proc/self/mem', 'r+b')", CONFINED),
    ("import os\nos.listdir('/')", CONFINED),
    ("import os\nos.readlink(f'/proc/{os.getppid()}/cwd')", "not permitted"),
    ("import os\nopen('../x', 'w')", CONFINED),
    ("import os\nopen(os.__file__, 'w')", CONFINED),
    ("import os\nos.open(os.__file__, os.O_RDONLY | os.O_TRUNC)", "not permitted"),
    ("import os\nos.truncate(os.__file__, 0)", "not permitted"),
    ("import os\nos.chmod(os.__file__, 0)", "not permitted"),
    ("import os\nos.utime(os.__file__)", "not permitted"),
    ("import os\nos.mkdir('a')", "not permitted"),
    ("import os\nos._exit(3)", "with exit status 3"),
    ("import os\nos._exit(0)", "with exit status 0"),
    ("import os\nos.abort()", "signal 6"),
    ("import os\nos.kill(os.getpid(), 9)", "was killed"),
    ("import ctypes\nctypes.string_at(0)", "signal 11"),
    ("import ctypes\nctypes.CDLL(None).syscall(425, 1, 0)\n1 / 0", "ZeroDivisionError"),
    ("class A:\n    def __repr__(self): return 3\nA()", "TypeError: __repr__ returned non-string"),
    ("class A(Exception):\n    def __str__(self): return 1 / 0\nraise A", "cannot be shown"),
    ("class A:\n    def __repr__(self): return 'x' * 10**10\nA()", "at most 128 MiB of memory"),
    ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ("input()", "EOFError"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("import signal\nsignal.raise_signal(signal.SIGINT)", "KeyboardInterrupt"),
    ("10 ** 5000", "Exceeds the limit"),
]  # fmt: skip
FILE_ATTACKS = [
    ("import os\nos.open('.', os.O_TMPFILE | os.O_RDWR)", "not permitted"),
    ("import os\nos.mkfifo('a')", "not permitted"),
    ("import os\nos.symlink('/etc/passwd', 'a')", "not permitted"),
    ("import os\nopen('a', 'w').close()\nos.unlink('a')", "not permitted"),
    ("import os\nopen('a', 'w').close()\nos.rename('a', 'b')", "not permitted"),
    ("open('big', 'wb').write(bytes(10**8))", "A program's files have at most 2 MiB"),
    ("f = open('big', 'wb')\nf.truncate(10**10)", "A program's files have at most 2 MiB"),
    ("kept = [open(f'f{n}', 'w') for n in range(10_000)]", "at most 32 open files"),
    ("for n in range(10_000):\n    open(f'f{n}', 'w').close()", "There may be 256 of them"),
    ("for n in range(9999):\n    with open(f'f{n % 200}', 'wb') as f: f.write(bytes(10**6))", "at most 2 MiB"),
]  # fmt: skip
ENDLESS_ATTACKS = [
    ("import sys\nsys.setrecursionlimit(10**8)\ndef f(): f()\nf()", "longer|memory|signal 11|SystemError"),
    ("import sys\nsys.setrecursionlimit(10**8)\nx = 1\nwhile sys.getsizeof(x): x = [x]", "longer|memory"),
    ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "longer than 0.25 seconds"),
    ("class A:\n    def __repr__(self):\n        while True: pass\nA()", "longer than 0.25 seconds"),
    ("class A(Exception):\n    def __str__(self):\n        while True: pass\nraise A", "longer than 0.25 seconds"),
]  # fmt: skip


@needs_process
@pytest.mark.parametrize(("code", "message"), ATTACKS, ids=[code[-40:] for code, _ in ATTACKS])
def test_an_attack_is_a_result_and_the_next_call_works(
    attacked: SandboxSession, folder: Path, code: str, message: str
) -> None:
    refused(attacked, folder, code, message)


@needs_process
@pytest.mark.parametrize(("code", "message"), FILE_ATTACKS, ids=[code[-40:] for code, _ in FILE_ATTACKS])
def test_an_attack_with_files_is_a_result_and_the_next_call_works(
    session: SandboxSession, folder: Path, code: str, message: str
) -> None:
    refused(session, folder, code, message)


def refused(session: SandboxSession, folder: Path, code: str, message: str) -> None:
    result = session.call(program(code))
    assert not result.ok
    assert any(part in result.message for part in message.split("|")), result.message
    assert len(result.message) <= 400
    assert str(folder) not in result.message
    works(session)


@needs_process
def test_nobody_hears_from_a_program(session: SandboxSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 1)"
        assert REFUSED in session.call(program(code)).message
        with pytest.raises(TimeoutError):
            server.accept()


@needs_process
def test_a_program_sees_nothing_of_the_user(session: SandboxSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_SECRET", "hunter2")
    look = f"""
    import os, sys
    def tried(what, *arguments):
        try: return what(*arguments)
        except OSError as error: return type(error).__name__
    [dict(os.environ), os.getcwd(), os.listdir('.'), sys.argv, tried(os.listdir, {str(Path.home())!r}),
     tried(open, '/etc/hostname'), tried(os.listdir, '/root/.ssh') in ('PermissionError', 'FileNotFoundError'),
     tried(os.listdir, '/proc'),
     tried(os.listdir, '/tmp'), tried(os.sched_setaffinity, 0, [0])]
    """
    denied = "PermissionError"
    expected = [{}, "/sandbox", [], ["program"], denied, denied, True, denied, denied, denied]
    assert session.call(program(look)).content == {"stdout": "", "result": expected}


@needs_process
def test_paths_and_addresses_of_this_machine_are_shown_to_nobody(session: SandboxSession, folder: Path) -> None:
    content = session.call(
        program(
            """
            import os, json, traceback
            print(os.getcwd(), json.__file__, object())
            traceback.print_stack()
            {os.getcwd(): [os.path.abspath('x'), object]}
            """
        )
    ).content
    text = json.dumps(content)
    assert "/sandbox /python/json/__init__.py <object object at 0x0>" in text
    assert '"/sandbox": ["/sandbox/x", ' in text or "'/sandbox': ['/sandbox/x', " in text
    assert str(folder) not in text
    assert "tool_backends" not in text


@needs_process
def test_files_last_as_long_as_the_session(session: SandboxSession, folder: Path) -> None:
    assert session.call(program("open('note', 'w').write('x')")).ok
    assert session.call(program("open('note').read()")).content == {"stdout": "", "result": "x"}
    assert any((place / "note").exists() for place in folder.iterdir())
    session.close()
    assert not any((place / "note").exists() for place in folder.iterdir())


@needs_process
@pytest.mark.parametrize(("code", "message"), ENDLESS_ATTACKS, ids=[code[-40:] for code, _ in ENDLESS_ATTACKS])
def test_an_attack_without_end_is_ended(hasty: SandboxSession, code: str, message: str) -> None:
    result = hasty.call(program(code))
    assert any(part in result.message for part in message.split("|")), result.message
    works(hasty)


# Over the sandbox's own channel.

TOKEN = """
import gc, json, os, struct, sys
def say(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    os.write(channel, struct.pack('>I', len(body)) + body)
frame = sys._getframe()
while 'request' not in frame.f_locals: frame = frame.f_back
token, channel = frame.f_locals['request']['token'], frame.f_locals['fd']
"""
SPOILT = "wrote to the sandbox's own channel"
FORGED = [
    "say({'token': 'mine', 'value': 1})",
    "say({'token': token, 'value': 1}); say({'token': token, 'value': 2})",
    "say({'token': token, 'value': 1, 'lost': True})",
    "say({'token': token, 'type': 'E', 'message': 'x' * 5000})",
    "say({'token': token, 'limit': 'none', 'type': 'E'})",
    'say(b\'{"token": "\' + token.encode() + b\'", "value": NaN}\')',
    "say(b'{\"token\": \"' + token.encode() + b'\", \"value\": ' + b'9' * 5000 + b'}')",
    "say(b'{\"token\": \"' + token.encode() + b'\", \"value\": ' + b'[' * 5000 + b']' * 5000 + b'}')",
    "say(b'{\"token\": \"' + token.encode() + b'\", \"value\": ' + b'[' * 90 + b']' * 90 + b'}')",
    "say(b'not JSON')",
    "say(b'\\xff\\xfe')",
    "say(b'')",
    "os.write(channel, b'\\xff\\xff\\xff\\xff')",
    "os.write(channel, struct.pack('>I', 65536 + 12 * 2000 + 1))",
]


@needs_process
@pytest.mark.parametrize("code", FORGED, ids=[code[:40] for code in FORGED])
def test_a_forged_answer_is_found_out(attacked: SandboxSession, code: str) -> None:
    session = attacked
    said = session.call(program(TOKEN + code)).message
    said += session.call(program("1")).message  # of what comes after an answer the next call is told
    assert SPOILT in said or "was still running" in said
    assert not session.call(program("token")).ok
    works(session)


@needs_process
def test_a_program_that_answers_for_itself_deceives_nobody_else(hasty: SandboxSession) -> None:
    result = hasty.call(program(TOKEN + "say({'token': token, 'value': 'well done'})\nwhile True: pass"))
    assert result.content == {"stdout": "", "result": "well done"}
    assert hasty.call(program("1")).error == "timeout"  # nobody takes the next one
    works(hasty)


@needs_process
@pytest.mark.parametrize(
    "code",
    [
        "os.write(channel, b'\\x00\\x00')\nwhile True: pass",
        "os.close(channel)",
        "os.closerange(0, 100)",
        "os.closerange(0, 100)\nwhile True: pass",
        "say({'token': token, 'value': 1})\nwhile True: print('flood' * 1000)",
        "json.dumps = json.loads = os.read = os.write = len = None\n1 / 0",
        "import builtins\nfor name in list(vars(builtins)): delattr(builtins, name)\n1",
        "sys.stdout.close()",
        "sys.stdout = sys.stderr = None\nprint('x')",
        "os.close(1)\nos.close(2)",
        "os.close(1)\nprint('x')",
        "gc.get_objects = None\nsys.modules.clear()",
        "sys.settrace(lambda *_: 1 / 0)\ndef f(): pass\nf()",
        "import atexit\natexit.register(print, 'later')",
    ],
)
def test_a_program_that_breaks_its_own_worker_is_one_more_result(hasty: SandboxSession, code: str) -> None:
    for _ in range(2):
        assert isinstance(hasty.call(program(TOKEN + code)), ToolResult)
    for _ in range(2):  # where the damage is done in the first program, the second is told of it
        last = hasty.call(program("print('on'); 6 * 7"))
        if last.ok:
            break
    works(hasty)


@needs_process
@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=9).map(
            lambda value: json.dumps({"token": "t", "value": value}).encode()
        ),
        st.dictionaries(st.sampled_from(sorted(Reply.model_fields)), st.none() | st.integers() | st.text()).map(
            lambda fields: json.dumps(fields).encode()
        ),
    )
)
def test_any_frame_is_read_or_refused(body: bytes) -> None:
    reply = Reply.read(body)
    if reply is not None:
        assert ToolResult(content=reply.value).to_json()


def test_the_filter_is_well_formed_on_every_machine() -> None:
    """Every jump lands within the program, and each path ends in an answer."""
    for machine in MACHINES:
        program_bytes = filter_for(4711, machine)
        steps = list(struct.iter_unpack("=HBBI", program_bytes))
        assert len(steps) < 4096
        for position, (code, if_true, if_false, operand) in enumerate(steps):
            assert code in (0x20, 0x15, 0x45, 0x06)
            if code in (0x15, 0x45):
                assert position + 1 + max(if_true, if_false) < len(steps)
            if code == 0x20:
                assert operand in range(0, 64, 4)
        assert steps[-1] == (0x06, 0, 0, 0x00050001)
    with pytest.raises(KeyError):
        filter_for(1, "riscv64")


# Whatever the arguments.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(
    arguments=st.dictionaries(st.sampled_from(["code", "x"]), JSON, max_size=2), name=st.sampled_from(["python", "p"])
)
def test_any_arguments_are_answered(shared: SandboxSession, arguments: dict[str, Any], name: str) -> None:
    result = shared.call(ToolCall(name=name, arguments=arguments))
    assert ToolResult.from_json(result.to_json()) == result


@FUZZ
@given(code=st.text(max_size=40) | st.text(alphabet="()[]{}:=+-*'\"\\\n ab1,.\x00\ud800", max_size=40))
def test_any_text_is_answered(shared: SandboxSession, code: str) -> None:
    result = shared.call(ToolCall(name="python", arguments={"code": code}))
    assert result.to_json().encode()
    assert result.error in (None, "tool_error")


class Refusing:
    """Stands for a session of Monty's that fails in its own ways."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def feed_run(self, code: str, print_callback: Any) -> Any:
        raise self.error

    def __exit__(self, *_: Any) -> None:
        pass


@needs_interpreter
def test_whatever_monty_raises_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    session = PythonSandbox(**{**QUICK, "engine": "interpreter"}).open(TASK, 0)
    for error, kind in ((panic("x"), "tool_error"), (RuntimeError("finished"), "unavailable")):
        works(session)
        machine: Any = session._machine
        machine.end()
        machine._session = Refusing(error)
        result = session.call(program("1"))
        assert (result.error, LOST in result.message) == (kind, True)
    works(session)
    machine = session._machine
    os.kill(machine._session.worker_pid, signal.SIGKILL)
    result = session.call(program("1"))
    assert (result.error, LOST in result.message) == ("tool_error", True)
    works(session)
    machine = session._machine
    machine.end()
    machine._session = Refusing(ZeroDivisionError("a bug of ours"))
    with pytest.raises(ZeroDivisionError):
        session.call(program("1"))
    works(session)
    session.close()


# Sessions and processes.


@pytest.mark.parametrize("engine", ENGINES)
def test_many_sessions_at_once_keep_apart(engine: Any) -> None:
    box = PythonSandbox(engine=engine, **QUICK)
    sessions = [box.open(TASK, number) for number in range(64)]

    async def play() -> list[ToolResult]:
        results: list[ToolResult] = []
        for _ in range(3):
            results += await asyncio.gather(
                *(session.acall(program(f"x = globals_of = {n}\nx * 2")) for n, session in enumerate(sessions))
            )
        return results

    results = asyncio.run(play())
    assert [result.content for result in results] == [{"stdout": "", "result": n * 2} for n in range(64)] * 3
    assert [session.call(program("x")).content for session in sessions] == [
        {"stdout": "", "result": n} for n in range(64)
    ]
    for session in sessions:
        session.close()


@needs_process
def test_no_more_programs_run_at_once_than_workers(folder: Path) -> None:
    """What waits for its turn does not run out of time."""
    box = PythonSandbox(engine="process", **{**QUICK, "workers": 1, "timeout": 0.6})
    sessions = [box.open(TASK, number) for number in range(4)]

    async def play() -> list[ToolResult]:
        return await asyncio.gather(*(s.acall(program("import time\ntime.sleep(0.25)\n1")) for s in sessions))

    assert [result.ok for result in asyncio.run(play())] == [True] * 4
    for session in sessions:
        session.close()


def test_call_and_acall_give_the_same(either: SandboxSession) -> None:
    other = PythonSandbox(**{**QUICK, "engine": either._settings.engine}).open(TASK, 7)
    assert waits(either)
    for code in ("import random\nrandom.random()", "1 / 0", "'x' * 10**10", "random", "print(1)"):
        assert either.call(program(code)) == asyncio.run(other.acall(program(code)))
    other.close()


def test_calls_of_one_session_come_one_after_another(either: SandboxSession) -> None:
    async def play() -> list[ToolResult]:
        await either.acall(program("seen = []"))
        return await asyncio.gather(*(either.acall(program(f"seen.append({n})\nseen")) for n in range(5)))

    assert [result.content for result in asyncio.run(play())] == [
        {"stdout": "", "result": list(range(n + 1))} for n in range(5)
    ]
    assert either.state() == {"calls": 6}


@needs_process
def test_a_call_that_is_cancelled_leaves_nothing_behind(session: SandboxSession) -> None:
    works(session)
    before = session._machine

    async def play() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.acall(program("while True: pass")), 0.05)

    asyncio.run(play())
    works(session)
    assert session._machine is not before


@needs_process
def test_closing_in_the_middle_of_a_call_ends_it(session: SandboxSession) -> None:
    works(session)
    results: list[ToolResult] = []
    thread = threading.Thread(target=lambda: results.append(session.call(program("while True: pass"))))
    thread.start()
    assert wait_for(lambda: session._runs)
    session.close()
    thread.join(5)
    assert results[0].error == "tool_error"
    with pytest.raises(RuntimeError, match="closed"):
        session.call(program("1"))


@needs_process
def test_a_worker_that_is_killed_from_outside_is_replaced(session: SandboxSession) -> None:
    works(session)
    machine: Any = session._machine
    os.kill(machine._worker.pid, signal.SIGKILL)
    assert wait_for(machine._worker.has_hung_up)
    result = session.call(program("1"))
    assert result == ToolResult(error="tool_error", message=f"The program's process was killed. {LOST}")
    works(session)


@needs_process
def test_warm_workers_that_died_while_they_waited_are_replaced() -> None:
    box = PythonSandbox(engine="process", **{**QUICK, "warm": 2})
    first = box.open(TASK, 0)
    works(first)
    engine = next(engine for engine in engines() if engine._warm == 2)
    assert wait_for(lambda: len(engine._ready) == 2)
    for worker in list(engine._ready):
        os.kill(worker.pid, signal.SIGKILL)
    second = box.open(TASK, 0)
    works(second)
    first.close()
    second.close()


@needs_process
def test_a_session_has_so_much_processor_time() -> None:
    box = PythonSandbox(engine="process", **{**QUICK, "processor": 1, "timeout": 5.0})
    session = box.open(TASK, 0)
    result = session.call(program("while True: pass"))
    assert (result.error, "1 seconds of processor time" in result.message) == ("timeout", True)
    works(session)
    session.close()


@needs_process
def test_where_no_worker_can_be_started_the_tool_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    from callgym.tool_backends.sandbox import process, worker

    def refuse(*_: Any) -> Any:
        raise OSError(11, "Resource temporarily unavailable")

    box = PythonSandbox(engine="process", **{**QUICK, "warm": 0})
    session = box.open(TASK, 0)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "_start", refuse)
        assert session.call(program("1")).error == "unavailable"
    with monkeypatch.context() as patch:
        patch.setattr(process, "filter_for", lambda *_: b"")
        result = session.call(program("1"))
        assert result.error == "unavailable"
        assert "could not be shut in" in result.message
    works(session)
    session.close()


def leave(answers: Any, ends: bool) -> None:
    session = PythonSandbox(engine="process", **{**QUICK, "warm": 2}).open(TASK, 0)
    answers.send(session.call(program("open('f', 'w').write('x')")).ok)
    if not ends:
        session.call(program("while True: pass"))


@needs_process
@pytest.mark.parametrize("ends", [True, False], ids=["ends", "is killed"])
def test_a_process_that_ends_leaves_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=leave, args=(theirs, ends))
    child.start()
    assert child.pid is not None
    assert ours.poll(20)
    assert ours.recv() is True
    workers = workers_of(child.pid)
    if not ends:
        child.kill()
    child.join(20)
    assert wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    if ends:
        assert list(tmp_path.iterdir()) == []


SCRIPT = """
from callgym import ToolCall
from callgym.tool_backends.sandbox import PythonSandbox
session = PythonSandbox(engine="interpreter").open(None, 0)
print(session.call(ToolCall(name="python", arguments={"code": "1"})).ok)
"""


@needs_interpreter
def test_an_interpreter_ends_with_its_process() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stdout) == (0, "True\n"), run.stderr


def in_child(session: SandboxSession, answers: Any) -> None:
    first = session.call(program("x"))
    second = session.call(program("1 + 1"))
    answers.send((first, second))


def test_a_forked_process_starts_its_own(either: SandboxSession) -> None:
    either.call(program("x = 1"))
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=in_child, args=(either, theirs))
    child.start()
    assert ours.poll(20)
    first, second = ours.recv()
    child.join(20)
    assert first.error == "unavailable"
    assert "forked" in first.message
    if either._settings.engine == "process":
        assert second.content == {"stdout": "", "result": 2}
    else:
        assert second.error == "unavailable"  # Monty's threads are not there, and it would wait for them
    assert either.call(program("x")).content == {"stdout": "", "result": 1}


def test_backends_and_sessions_go_through_pickle(either: SandboxSession) -> None:
    box = PythonSandbox(**{**QUICK, "engine": either._settings.engine})
    assert pickle.loads(pickle.dumps(box)).describe() == box.describe()
    works(either)
    again = pickle.loads(pickle.dumps(either))
    works(again)
    again.close()


# The backend.


@pytest.mark.parametrize("engine", ENGINES)
def test_the_tool_is_a_tool(engine: Any) -> None:
    box = PythonSandbox(engine=engine)
    (tool,) = box.tools
    schemas = {tool.name: ToolSchema(tool)}
    session = box.open(TASK, 0)
    assert checked_call(session, program("1"), schemas).ok
    assert checked_call(session, ToolCall(name="python", arguments={"code": 1}), schemas).error == "invalid_arguments"
    assert checked_call(session, ToolCall(name="shell", arguments={}), schemas).error == "unknown_tool"
    session.close()
    session.close()
    described = box.describe()
    assert json.loads(json.dumps(described)) == described
    assert (described["engine"], described["network"]) == (engine, "blocked")
    assert engine in box.name


def test_a_session_that_was_never_used_costs_nothing(either: SandboxSession) -> None:
    assert either._machine is None
    assert either.state() == {"calls": 0}


OPTIONS: list[dict[str, Any]] = [
    {"engine": "docker"},
    {"timeout": 0},
    {"timeout": float("nan")},
    {"timeout": "5"},
    {"timeout": True},
    {"timeout": 10**400},
    {"memory": 1000},
    {"memory": 2.5e8},
    {"output": 0},
    {"output": 10**9},
    {"disk": -1},
    {"open_files": 1},
    {"processor": 0},
    {"workers": 0},
    {"workers": 1.5},
    {"warm": -1},
    {"path": ["/no/such/folder"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_an_option_that_cannot_be_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        PythonSandbox(**options)


def test_the_engine_is_never_less_than_was_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(backend, "process_trial", lambda: Trial("a program opens a socket"))
    with pytest.raises(ConfigurationError, match="opens a socket"):
        PythonSandbox(engine="process")
    with pytest.raises(ConfigurationError, match="path"):
        PythonSandbox(engine="interpreter", path=[tmp_path])
    with pytest.raises(ConfigurationError, match="opens a socket"):
        PythonSandbox(path=[tmp_path])
    if has_interpreter():
        assert PythonSandbox().describe()["engine"] == "interpreter"
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(MissingPackageError, match=r"callgym\[sandbox\]"):
        PythonSandbox(engine="interpreter")
    with pytest.raises(ConfigurationError, match="opens a socket"):
        PythonSandbox()


@needs_process
def test_auto_is_the_process_where_it_can_be_had() -> None:
    box = PythonSandbox()
    assert box.describe()["engine"] == "process"
    assert "seccomp" in box.describe()["confined_by"]


@needs_process
def test_a_trial_that_gets_out_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from callgym.tool_backends.sandbox import process

    everything = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    monkeypatch.setattr(process, "filter_for", lambda *_: everything)
    trial = process_trial.__wrapped__()
    assert trial.fault is not None
    assert "opens a socket" in trial.fault
    assert "reads other files" not in trial.fault  # Landlock's part holds


@needs_process
def test_more_packages_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "forty_two.py").write_text("ANSWER = 42\n")
    session = PythonSandbox(engine="process", **QUICK, path=[tmp_path]).open(TASK, 0)
    assert session.call(program("import forty_two\nforty_two.ANSWER")).content == {"stdout": "", "result": 42}
    assert not session.call(program("open(forty_two.__file__, 'w')")).ok
    session.close()
    assert list(tmp_path.iterdir()) == [tmp_path / "forty_two.py"]


class Computing(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def computing_tasks(box: PythonSandbox) -> list[Task]:
    code = "import random\nprint({'a', 'b', 'c'})\nrandom.random()"
    goal = {"kind": "calls", "turns": [[{"name": "python", "arguments": {"code": [code]}}] * 2]}
    tools = [tool.to_dict() for tool in box.tools]
    return [Task.from_dict({**TASK.to_dict(), "id": f"t{n}", "tools": tools, "goal": goal}) for n in range(6)]


@pytest.mark.parametrize("engine", ENGINES)
def test_episodes_are_the_same_side_by_side_and_one_by_one(engine: Any) -> None:
    box = PythonSandbox(**{**QUICK, "engine": engine})
    tasks = computing_tasks(box)

    def play(beside: int) -> list[str]:
        run = run_episodes(
            lambda: Computing(data=tasks, backend=box), get_policy("oracle"), episodes=6, batch_size=beside
        )
        assert {episode.episode_return for episode in run.episodes} == {1.0}
        return [episode.to_json() for episode in run.episodes]

    assert play(6) == play(1)


WRITTEN = [
    ({3, 1, 2}, "{1, 2, 3}"),
    (frozenset(), "frozenset()"),
    ({(1,): [2, {"b"}]}, "{(1,): [2, {'b'}]}"),
    (10**6000, "an integer of 19932 bits"),
    ([10**6000], "[an integer of 19932 bits]"),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN, ids=[text for _, text in WRITTEN])
def test_other_values_are_written_the_same_everywhere(value: Any, text: str) -> None:
    assert shown(value, 100) == text
