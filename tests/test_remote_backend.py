"""RemoteBackend: what comes through a tool server is what comes in process, and a server may do what it likes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ConfigurationError, DataError, Task, Tool, ToolCall, ToolResult
from callgym.call import ErrorKind
from callgym.envs.apibank.parity import _resolved
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import load_tables
from callgym.envs.apibank.tools import make_tool
from callgym.parity import fixture_rows
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.schema import ToolSchema
from callgym.tool_backends import PythonBackend, ToolFailure, World, checked_acall, checked_call, waits
from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.portal import portal
from callgym.tool_backends.ranking import get_ranker
from callgym.tool_backends.remote import RemoteBackend, RemoteNotice, RemoteSession
from callgym.tool_backends.server.app import make_app
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.run import serving
from callgym.tool_backends.spec import get_backend

TOKEN = "a-token-that-nobody-guesses"


def echo(world: World, value: Any = None) -> Any:
    world.state["calls"] = world.state.get("calls", 0) + 1
    return value


def draw(world: World) -> int:
    return int(world.rng.integers(2**60))


def fail(world: World, why: str) -> None:
    raise ToolFailure(why)


def nap(world: World, seconds: float) -> str:
    print("napping", flush=True)  # for tests whose server is a process of its own
    time.sleep(seconds)
    return "slept"


MEETING = threading.Barrier(32)


def meet(world: World) -> str:
    MEETING.wait(20)
    return "met"


FUNCTIONS: dict[str, Callable[..., Any]] = {"echo": echo, "draw": draw, "fail": fail, "nap": nap, "meet": meet}
ECHO = Tool(name="echo", parameters={"type": "object", "properties": {"value": {}}})
DRAW = Tool(name="draw", parameters={"type": "object", "properties": {}, "additionalProperties": False})
FAIL = Tool(name="fail", parameters={"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]})
NAP = Tool(
    name="nap", parameters={"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}
)
MEET = Tool(name="meet", parameters=DRAW.parameters)
TOOLS = (ECHO, DRAW, FAIL, NAP, MEET)
SCHEMAS = {tool.name: ToolSchema(tool) for tool in TOOLS}
TASK = Task.from_dict(
    {
        "id": "mine/1",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "Do it."}],
        "tools": [tool.to_dict() for tool in TOOLS],
        "goal": {"kind": "answer", "accepted": ["yes"]},
        "initial_state": {"calls": 0, "name": "K\u00f6ln"},
    }
)


@pytest.fixture(autouse=True)
def _no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLGYM_SERVE_TOKEN", raising=False)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(make_app(PythonBackend(FUNCTIONS), [TASK])) as url:
        yield url


@pytest.fixture(scope="module")
def remote(url: str) -> Iterator[RemoteBackend]:
    backend = RemoteBackend(url, timeout_s=10)
    yield backend
    backend.close()


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


# What comes through a server is what comes in process.


CALLS = [
    call("echo", value=3),
    call("echo", value=-0.0),
    call("echo", value=1e308),
    call("echo", value=10**4_000),
    call("echo", value={"a": [1, {"b": None}], "": "\u20ac\U0001f642\x00\u2028"}),
    call("echo"),
    call("fail", why="it cannot be done"),
    call("draw"),
    call("draw"),
    call("draw", extra=1),
    call("fail"),
    call("nothing"),
]


def test_calls_states_and_randomness_are_the_same(remote: RemoteBackend) -> None:
    for seed in (0, 5, 2**64 - 1):
        here, there, awaited = (
            PythonBackend(FUNCTIONS).open(TASK, seed),
            remote.open(TASK, seed),
            remote.open(TASK, seed),
        )
        expected = [checked_call(here, made, SCHEMAS) for made in CALLS]
        assert [there.call(made) for made in CALLS] == expected
        assert portal().run(all_of(awaited, CALLS)) == expected
        assert there.state() == awaited.state() == here.state() == {"calls": 6, "name": "K\u00f6ln"}
        there.close()
        awaited.close()


async def all_of(session: RemoteSession, calls: list[ToolCall]) -> list[ToolResult]:
    return [await session.acall(made) for made in calls]


def test_calls_are_awaited_in_any_loop(remote: RemoteBackend) -> None:
    session = remote.open(TASK, 1)
    assert waits(session)
    assert asyncio.run(checked_acall(session, call("echo", value=1), SCHEMAS)) == ToolResult(content=1)
    assert asyncio.run(session.acall(call("echo", value=2))) == ToolResult(content=2)
    assert session.call(call("echo", value=3)) == ToolResult(content=3)
    assert session.state()["calls"] == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=16,
)


@settings(max_examples=40)
@given(value=JSON, why=st.text())
def test_no_argument_is_changed_on_the_way(remote: RemoteBackend, value: Any, why: str) -> None:
    here, there = PythonBackend(FUNCTIONS).open(TASK, 0), remote.open(TASK, 0)
    for made in (call("echo", value=value), call("fail", why=why)):
        expected = here.call(made)
        found = there.call(made)
        assert found == expected
        assert json.dumps(found.content) == json.dumps(expected.content)  # 1 is not 1.0, and True is not 1
    there.close()


@settings(max_examples=40)
@given(name=st.text(min_size=1), arguments=st.dictionaries(st.text(), JSON))
def test_no_call_raises(remote: RemoteBackend, name: str, arguments: dict[str, Any]) -> None:
    found = remote.open(TASK, 0).call(ToolCall(name=name, arguments=arguments))
    assert found.error == "unknown_tool" or name in SCHEMAS


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d \ude42"])
def test_halves_of_characters_arrive_as_they_are(remote: RemoteBackend, text: str) -> None:
    made = ToolCall.trusted(name="echo", arguments={"value": text}, id=None)
    assert remote.open(TASK, 0).call(made).content == text
    assert portal().run(remote.open(TASK, 0).acall(made)).content == text


def test_deep_arguments_are_read_as_deep_as_dialects_do(remote: RemoteBackend) -> None:
    session = remote.open(TASK, 0)
    for depth, error in ((64, None), (100, "invalid_arguments"), (20_000, "invalid_arguments")):
        value: Any = 1
        for _ in range(depth):
            value = [value]
        found = session.call(ToolCall.trusted(name="echo", arguments={"value": value}, id=None))
        assert found.error == error
        assert found.content == (value if error is None else None)


def test_arguments_that_are_too_long_are_the_calls_fault() -> None:
    with serving(make_app(PythonBackend(FUNCTIONS), [TASK], limits=ServerLimits(max_body_bytes=10_000))) as url:
        session = RemoteBackend(url).open(TASK, 0)
        found = session.call(call("echo", value="x" * 500_000))
        assert (found.error, "10000 bytes" in found.message) == ("invalid_arguments", True)
        assert session.call(call("echo", value=1)) == ToolResult(content=1)


# API-Bank's recorded sequences, in process and through the server.


@pytest.fixture(scope="module")
def sequences(official_data: Path, apibank_data: Path) -> list[dict[str, Any]]:
    path = official_data / "api_bank_parity" / "sequences.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return [row for _, row in fixture_rows(path)]


@pytest.mark.parametrize("official", [False, True], ids=["documented", "official"])
def test_every_apibank_sequence_is_the_same_through_the_server(
    sequences: list[dict[str, Any]], apibank_data: Path, official: bool
) -> None:
    tables = load_tables(apibank_data)
    assert len(sequences) >= 29
    for tool_set in ("apis", "lv3_apis"):
        backend = SimulatorBackend(tables, tool_set, get_ranker("bm25"), official=official)
        task = task_of([make_tool(document) for document in tables.documents[tool_set].values()], tool_set)
        schemas = {tool.name: ToolSchema(tool) for tool in task.tools}
        with serving(make_app(backend, [task])) as url:
            there = RemoteBackend(url)
            for row in (row for row in sequences if row["tools"] == tool_set):
                assert played(there, task, row, schemas) == played(backend, task, row, schemas), row["case"]
            there.close()


def task_of(tools: list[Tool], id: str) -> Task:
    row = TASK.to_dict()
    return Task.from_dict({**row, "id": id, "tools": [tool.to_dict() for tool in tools], "initial_state": {}})


def played(backend: Any, task: Task, row: dict[str, Any], schemas: dict[str, ToolSchema]) -> Any:
    """Every result of a sequence, and the state at its end."""
    session = backend.open(task, 11)
    made: list[Any] = []
    for step in row["calls"]:
        try:
            arguments = _resolved(step["args"], made)
        except (LookupError, TypeError):  # it refers to the answer of a call that failed
            arguments = {}
        result = checked_call(session, ToolCall(name=step["api_name"], arguments=arguments), schemas)
        made.append({"input": arguments, "output": result.content, "error": result.error, "message": result.message})
    state = session.state()
    session.close()
    return made, state


# Whole episodes.


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("apibank/L1-v0", {"protocol": "dialogue"}),
        ("apibank/L2-v0", {"protocol": "dialogue"}),
        ("apibank/L3-v0", {"protocol": "dialogue"}),
        ("apibank/L2-v0", {"protocol": "dialogue", "perturb": ["rename", "remove_tool"]}),
        ("apibank/L1-v0", {"rubric": "exact"}),
        ("bfcl/multi_turn-v0", {}),
        ("bfcl/memory_kv-v0", {}),
        ("bfcl/web_search_base-v0", {}),
        ("bfcl/simple_python-v0", {}),
    ],
)
def test_episodes_are_the_same_to_the_byte(id: str, options: dict[str, Any]) -> None:
    served = {"data": "starter", **{name: value for name, value in options.items() if name == "protocol"}}
    with serving(make_app(id, env_options=served)) as url, warnings.catch_warnings():
        warnings.simplefilter("error", RemoteNotice)
        for policy in ("oracle", "random"):
            here = episodes_of(id, policy, data="starter", **options)
            assert episodes_of(id, policy, data="starter", backend=RemoteBackend(url), **options) == here
            if policy == "oracle" and "perturb" not in options:
                assert all('"episode_return":1.0' in line for line in here)


def episodes_of(id: str, policy: str, **options: Any) -> list[str]:
    result = run_episodes(id, get_policy(policy), episodes=6, env_options=options)
    return [episode.to_json() for episode in result.episodes]


def test_a_backend_by_name_is_on_record(url: str) -> None:
    options = {"data": "starter", "protocol": "dialogue"}
    with serving(make_app("apibank/L1-v0", env_options=options)) as url:
        found = run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=2, env_options={**options, "backend": url})
    assert [episode.config["backend"] for episode in found.episodes] == [url, url]
    assert {episode.episode_return for episode in found.episodes} == {1.0}


def test_multi_turn_tasks_whose_server_is_gone_have_no_score(free_port: int) -> None:
    backend = RemoteBackend(f"http://127.0.0.1:{free_port}")
    with pytest.warns(RemoteNotice, match="a user turn could not be ended"):
        result = run_episodes(
            "bfcl/multi_turn-v0", get_policy("oracle"), episodes=1, env_options={"data": "starter", "backend": backend}
        )
    (episode,) = result.episodes
    assert episode.state is None
    assert {found.error for step in episode.steps for found in step.results} == {"unavailable"}


def test_official_faults_need_calls_that_nobody_checks(url: str) -> None:
    with pytest.raises(ConfigurationError, match="official_faults"):
        gym.make("bfcl/multi_turn-v0", data="starter", backend=url, official_faults=True)


# Sessions.


def test_turns_of_a_session_that_looks_at_none_leave_the_state_unknown(remote: RemoteBackend) -> None:
    session = remote.open(TASK, 0)
    session.tried()
    with pytest.warns(RemoteNotice, match="does not look at user turns"):
        session.end_turn()
    session.end_turn()
    with pytest.raises(UnknownState, match="user turn"):
        session.state()
    assert session.call(call("echo", value=1)).ok


def test_nothing_is_sent_before_the_first_call(free_port: int) -> None:
    backend = RemoteBackend(f"http://127.0.0.1:{free_port}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = backend.open(TASK, 0)
        session.close()
        backend.close()


def test_the_state_of_a_session_without_calls_is_its_first(remote: RemoteBackend) -> None:
    session = remote.open(TASK, 0)
    assert session.state() == TASK.initial_state
    assert session.call(call("echo", value=1)) == ToolResult(content=1)


def test_closing_closes_on_the_server() -> None:
    with serving(make_app(PythonBackend(FUNCTIONS), [TASK], limits=ServerLimits(max_sessions=1))) as url:
        backend = RemoteBackend(url)
        first, second = backend.open(TASK, 0), backend.open(TASK, 0)
        assert first.call(call("echo", value=1)).ok
        full = second.call(call("echo", value=1))
        assert (full.error, "1 sessions are open" in full.message) == ("unavailable", True)
        first.close()
        assert second.call(call("echo", value=1)).ok  # a session that was not opened is opened by the next call
        with pytest.raises(RuntimeError, match="closed"):
            first.call(call("echo", value=1))
        first.close()


def test_a_session_that_expired_is_unavailable_and_its_close_warns() -> None:
    now = [0.0]
    with serving(make_app(PythonBackend(FUNCTIONS), [TASK], clock=lambda: now[0])) as url:
        session = RemoteBackend(url).open(TASK, 0)
        assert session.call(call("echo", value=1)).ok
        now[0] = 10_000
        for _ in range(2):
            gone = session.call(call("echo", value=1))
            assert (gone.error, "no such session" in gone.message) == ("unavailable", True)
        with pytest.warns(RemoteNotice, match="cannot be had"), pytest.raises(UnknownState, match="no such session"):
            session.state()
        with pytest.warns(RemoteNotice, match="could not be closed"):
            session.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "other"}, "no task 'other'"),
        ({"initial_state": {"calls": 1}}, "first state differs"),
        ({"split": "train"}, "split"),
    ],
)
def test_a_server_of_other_tasks_is_said_to_policy_and_user(
    remote: RemoteBackend, change: dict[str, Any], words: str
) -> None:
    session = remote.open(Task.from_dict({**TASK.to_dict(), **change}), 0)
    with pytest.warns(RemoteNotice, match="serves other tasks"):
        found = session.call(call("echo", value=1))
    assert (found.error, words in found.message) == ("unavailable", True)


def test_a_task_of_the_servers_may_be_named(url: str) -> None:
    other = Task.from_dict({**TASK.to_dict(), "id": "other"})
    assert RemoteBackend(url, task="mine/1").open(other, 0).call(call("echo", value=1)).ok


def test_many_sessions_wait_side_by_side(url: str) -> None:
    backend = RemoteBackend(url)

    async def all_at_once() -> list[ToolResult]:
        sessions = [backend.open(TASK, seed) for seed in range(32)]
        return await asyncio.gather(*(session.acall(call("meet")) for session in sessions))

    assert portal().run(all_at_once()) == [ToolResult(content="met")] * 32
    with ThreadPoolExecutor(32) as pool:
        meeting = [pool.submit(backend.open(TASK, 0).call, call("meet")) for _ in range(32)]
        assert [future.result() for future in meeting] == [ToolResult(content="met")] * 32


def test_tools_come_from_the_server(url: str, remote: RemoteBackend, free_port: int) -> None:
    assert [tool.to_dict() for tool in remote.tools] == [tool.to_dict() for tool in TOOLS]
    assert RemoteBackend(url, task="mine/1").tools == TOOLS
    assert remote.check() == 1
    gone = RemoteBackend(f"http://127.0.0.1:{free_port}")
    for ask in (lambda: gone.tools, gone.check):
        with pytest.raises(ConfigurationError, match="cannot be reached"):
            ask()


@pytest.mark.parametrize("body", [{}, {"tools": 3, "total": "x"}, {"tools": [{"name": ""}], "total": True}])
def test_answers_about_tools_that_are_none(body: dict[str, Any]) -> None:
    liar = Liar(says(200, body))
    backend = RemoteBackend(liar.url)
    with pytest.raises((ConfigurationError, DataError)):
        _ = backend.tools
    if body.get("total") is not True:
        with pytest.raises(ConfigurationError, match="no tool server"):
            backend.check()
    liar.close()


def test_more_tools_than_go_on_a_page(url: str) -> None:
    tools = [Tool(name=f"t{number}", parameters=DRAW.parameters) for number in range(2_300)]
    with serving(make_app(PythonBackend({}), tools=tools)) as url:
        assert [tool.name for tool in RemoteBackend(url).tools] == [tool.name for tool in tools]


def test_a_backend_goes_to_other_processes(remote: RemoteBackend, url: str) -> None:
    assert remote.open(TASK, 0).call(call("echo", value=1)).ok
    copy = pickle.loads(pickle.dumps(remote))
    assert copy.open(TASK, 0).call(call("echo", value=1)).ok
    code = (
        "import sys, pickle\nfrom callgym.call import ToolCall\n"
        "session = pickle.load(sys.stdin.buffer)\n"
        "print(session.call(ToolCall(name='echo', arguments={'value': 7})).content)"
    )
    session = remote.open(TASK, 0)
    assert session.call(call("echo", value=1)).ok
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(session), capture_output=True, check=True)
    assert done.stdout.strip() == b"7"


def test_a_forked_process_has_connections_of_its_own(remote: RemoteBackend) -> None:
    session = remote.open(TASK, 0)
    assert session.call(call("echo", value=1)).ok
    child = os.fork()
    if child == 0:  # pragma: no cover
        fine = session.call(call("echo", value=1)).ok and portal().run(session.acall(call("echo"))).ok
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert session.state()["calls"] == 3


# Tokens.


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    with serving(make_app(PythonBackend(FUNCTIONS), [TASK], token=TOKEN)) as url:
        yield url


def test_the_token_is_read_from_the_environment(guarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGYM_SERVE_TOKEN", TOKEN)
    backend = RemoteBackend(guarded)
    session = backend.open(TASK, 0)
    assert session.call(call("echo", value=1)).ok
    assert TOKEN.encode() not in pickle.dumps(session)
    assert TOKEN not in repr(vars(session)) + repr(vars(backend))
    monkeypatch.setenv("OTHER_TOKEN", TOKEN)
    assert RemoteBackend(guarded, token_env="OTHER_TOKEN").check() == 1


@pytest.mark.parametrize("token", [None, "a-token-that-is-another-one"])
def test_a_wrong_token_is_said_to_policy_and_user(
    guarded: str, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    if token is not None:
        monkeypatch.setenv("CALLGYM_SERVE_TOKEN", token)
    backend = RemoteBackend(guarded)
    with pytest.warns(RemoteNotice, match="token is missing or wrong"):
        found = backend.open(TASK, 0).call(call("echo", value=1))
    assert found.error == "unavailable"
    with pytest.raises(ConfigurationError, match="does not let us in"), pytest.warns(RemoteNotice):
        backend.check()


def test_tokens_that_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="NOT_SET is not set"):
        RemoteBackend("http://127.0.0.1:1", token_env="NOT_SET")
    monkeypatch.setenv("CALLGYM_SERVE_TOKEN", "two\nlines")
    with pytest.raises(ConfigurationError, match="cannot carry") as caught:
        RemoteBackend("http://127.0.0.1:1")
    assert "lines" not in str(caught.value)


# Servers that do what they like.


@pytest.fixture(scope="module")
def free_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


Behaviour = Callable[[socket.socket, bytes], None]


class Liar:
    """Opens sessions as a server does, and answers calls as it likes."""

    def __init__(self, behave: Behaviour, on_open: Behaviour | None = None) -> None:
        self.behave = behave
        self.on_open = on_open
        self.requests: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            file = connection.makefile("rb")
            while True:
                lines = [line := file.readline()]
                while line not in (b"\r\n", b""):
                    lines.append(line := file.readline())
                head = b"".join(lines)
                if not head.strip():
                    return
                length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
                request = head + file.read(length)
                self.requests.append(request)
                opens = head.startswith(b"POST /sessions ")
                if opens and self.on_open is None:
                    connection.sendall(response(201, b'{"session": "key", "turns": true}'))
                elif opens and self.on_open is not None:
                    self.on_open(connection, request)
                else:
                    self.behave(connection, request)

    def close(self) -> None:
        self.listener.close()


def response(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def says(status: int, body: Any, *headers: str) -> Behaviour:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda connection, request: connection.sendall(response(status, data, *headers))


def hangs_up(connection: socket.socket, request: bytes) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def is_silent(connection: socket.socket, request: bytes) -> None:
    time.sleep(1)


def sends(data: bytes, again: bytes = b"", pause: float = 0.0) -> Behaviour:
    """Some bytes, then others again and again."""

    def behave(connection: socket.socket, request: bytes) -> None:
        connection.sendall(data)
        until = time.monotonic() + 2
        while again and time.monotonic() < until:
            connection.sendall(again)
            time.sleep(pause)
        connection.shutdown(socket.SHUT_RDWR)

    return behave


FINE = {"content": 1, "error": None, "message": ""}
ENDLESS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LIES: dict[str, tuple[Behaviour, ErrorKind]] = {
    "hangs up": (hangs_up, "unavailable"),
    "silent": (is_silent, "timeout"),
    "drips a head": (sends(b"HTTP/1.1 200 OK\r\n", b"X", 0.02), "timeout"),
    "drips a body": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b" ", 0.02), "timeout"),
    "endless head": (sends(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65_536), "unavailable"),
    "endless body": (sends(ENDLESS, b"10000\r\n" + b"x" * 65_536 + b"\r\n"), "tool_error"),
    "half a body": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), "unavailable"),
    "no HTTP": (sends(b"\x00\xff\r\n\r\n"), "unavailable"),
    "another protocol": (sends(b"SSH-2.0-OpenSSH_9\r\n"), "unavailable"),
    "no JSON": (says(200, b"<html>"), "unavailable"),
    "not UTF-8": (says(200, b'{"content": "\xff", "error": null, "message": ""}'), "unavailable"),
    "NaN": (says(200, b'{"content": NaN, "error": null, "message": ""}'), "unavailable"),
    "deep": (says(200, b"[" * 100_000), "unavailable"),
    "long number": (says(200, b'{"content": ' + b"9" * 9_999 + b', "error": null, "message": ""}'), "unavailable"),
    "a list": (says(200, []), "unavailable"),
    "no result": (says(200, {"content": 1}), "unavailable"),
    "more than a result": (says(200, {**FINE, "more": 1}), "unavailable"),
    "an error of its own": (says(200, {**FINE, "error": "boom"}), "unavailable"),
    "errors in a list": (says(200, {**FINE, "error": ["timeout"]}), "unavailable"),
    "no message": (says(200, {**FINE, "message": None}), "unavailable"),
    "nothing": (says(204, b""), "unavailable"),
    "compressed": (says(200, b"\x1f\x8b\x08\x00", "Content-Encoding: gzip"), "unavailable"),
    "a redirect": (says(302, b"", "Location: http://127.0.0.1:1/"), "unavailable"),
    "a redirect to itself": (says(307, b"", "Location: /sessions/key/call"), "unavailable"),
    "500": (says(500, b"Traceback (most recent call last)"), "unavailable"),
    "503": (says(503, {"error": "busy", "message": "later"}, "Retry-After: 99999"), "unavailable"),
    "404": (says(404, {"error": 3, "message": {}}), "unavailable"),
    "403": (says(403, {"error": "forbidden", "message": "no"}), "unavailable"),
    "400": (says(400, {"error": "invalid_json", "message": "no"}), "invalid_arguments"),
    "a long refusal": (says(500, {"error": "x", "message": "no " * 10_000}), "unavailable"),
    "control characters": (says(500, {"error": "x", "message": "\x1b[2J\r\n\x00"}), "unavailable"),
}


@pytest.mark.parametrize("lie", LIES)
def test_whatever_a_server_does_to_a_call_the_next_one_works(lie: str) -> None:
    behave, kind = LIES[lie]
    liar = Liar(behave)
    backend = RemoteBackend(liar.url, timeout_s=0.4, max_response_bytes=1_000_000)
    session = backend.open(TASK, 0)
    made = call("echo", value=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RemoteNotice)
        for make in (session.call, lambda made: portal().run(session.acall(made))):
            found = make(made)
            assert found.error == kind, found
            assert found.content is None
            assert found.message.isprintable()
            assert len(found.message) < 400
            assert "Traceback" not in found.message
            liar.behave = says(200, FINE)
            assert make(made) == ToolResult(content=1)
            liar.behave = behave
        with contextlib.suppress(UnknownState):
            assert isinstance(session.state(), dict)
        liar.behave = says(200, {"n": 1})
        assert session.state() == {"n": 1}
    liar.close()


def test_a_call_is_never_made_twice() -> None:
    for behave in (hangs_up, is_silent, says(503, b""), says(500, b"")):
        liar = Liar(behave)
        session = RemoteBackend(liar.url, timeout_s=0.3).open(TASK, 0)
        assert not session.call(call("echo", value=1)).ok
        assert not portal().run(session.acall(call("echo", value=1))).ok
        assert sum(b"/call " in request for request in liar.requests) == 2
        liar.close()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"session": 3}', b'{"session": ""}', b'{"session": "a/../b"}', b'{"session": "a b"}']
)
def test_sessions_that_are_none(body: bytes) -> None:
    liar = Liar(says(200, FINE), on_open=says(201, body))
    session = RemoteBackend(liar.url, timeout_s=1).open(TASK, 0)
    assert session.call(call("echo", value=1)).error == "unavailable"
    liar.on_open = None
    assert session.call(call("echo", value=1)) == ToolResult(content=1)
    liar.close()


def test_a_token_that_a_server_quotes_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGYM_SERVE_TOKEN", TOKEN)
    liar = Liar(says(200, {**FINE, "content": f"Bearer {TOKEN}"}))
    session = RemoteBackend(liar.url).open(TASK, 0)
    assert session.call(call("echo")).content == "Bearer ***"
    liar.behave = says(400, {"error": "x", "message": TOKEN})
    assert TOKEN not in session.call(call("echo")).message
    assert any(f"Authorization: Bearer {TOKEN}".encode() in request for request in liar.requests)
    liar.close()


def test_a_server_that_is_not_there_and_then_is(free_port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    backend = RemoteBackend(f"http://127.0.0.1:{port}")
    session = backend.open(TASK, 0)
    for found in (session.call(call("echo", value=1)), portal().run(session.acall(call("echo", value=1)))):
        assert (found.error, "cannot be reached" in found.message) == ("unavailable", True)
    with pytest.warns(RemoteNotice), pytest.raises(UnknownState, match="cannot be reached"):
        session.state()
    with process(port):
        assert session.call(call("echo", value=1)) == ToolResult(content=1)


def test_a_server_that_is_killed_in_the_middle_of_a_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    backend = RemoteBackend(f"http://127.0.0.1:{port}", timeout_s=20)
    with process(port) as server, ThreadPoolExecutor(2) as pool:
        sessions = [backend.open(TASK, 0) for _ in range(2)]
        assert all(session.call(call("echo", value=1)).ok for session in sessions)
        long = call("nap", seconds=15.0)
        begun = [pool.submit(sessions[0].call, long), pool.submit(lambda: portal().run(sessions[1].acall(long)))]
        assert server.stdout is not None
        assert [server.stdout.readline() for _ in begun] == ["napping\n"] * 2
        server.kill()
        for found in (future.result() for future in begun):
            assert found.error == "unavailable"
            assert "whether the call took effect is not known" in found.message
    assert "cannot be reached" in sessions[0].call(call("echo", value=1)).message
    with process(port):  # another one: it knows nothing of the session
        assert "no such session" in sessions[0].call(call("echo", value=1)).message
        assert backend.open(TASK, 0).call(call("echo", value=1)).ok
        with pytest.warns(RemoteNotice, match="could not be closed"):
            sessions[0].close()


SERVER = """
import sys
sys.path[:0] = sys.argv[2:]
from test_remote_backend import FUNCTIONS, TASK
from callgym.tool_backends import PythonBackend
from callgym.tool_backends.server.run import serve
serve(PythonBackend(FUNCTIONS), tasks=[TASK], port=int(sys.argv[1]), announce=lambda url: print(url, flush=True))
"""


@contextlib.contextmanager
def process(port: int) -> Iterator[subprocess.Popen[str]]:
    """A server in a process of its own."""
    command = [sys.executable, "-c", SERVER, str(port), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline().startswith("http://127.0.0.1")
            yield server
        finally:
            server.kill()


def test_a_server_ends_when_it_is_told_to_even_if_a_tool_does_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with process(port) as server, ThreadPoolExecutor(1) as pool:
        session = RemoteBackend(f"http://127.0.0.1:{port}", timeout_s=20).open(TASK, 0)
        assert session.call(call("echo", value=1)).ok
        napping = pool.submit(session.call, call("nap", seconds=600.0))
        assert server.stdout is not None
        assert server.stdout.readline() == "napping\n"
        server.send_signal(signal.SIGINT)
        assert server.wait(15) != 0
        assert napping.result().error == "unavailable"


# By name.


def test_backends_by_name(url: str) -> None:
    backend = get_backend(url)
    assert isinstance(backend, RemoteBackend)
    assert get_backend(url) is backend
    assert get_backend(backend) is backend
    assert get_backend("https://tools.example.org/under/a/path") is not backend


@pytest.mark.parametrize(
    "spec",
    [
        "official",
        "",
        "ftp://x",
        "http:",
        "http://",
        "http://user:pw@host",
        "http://h?x=1",
        "http://h#x",
        "http://h:99999",
        "recorded:",
        "recorded",
        "file:///etc/passwd",
        3,
        None,
    ],
)
def test_names_of_nothing(spec: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        get_backend(spec)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout_s", 0), ("timeout_s", True), ("timeout_s", float("inf")), ("timeout_s", "1"), ("connections", 0),
     ("max_response_bytes", 1.5)],
)  # fmt: skip
def test_options_are_checked(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name):
        RemoteBackend("http://127.0.0.1:1", **{name: value})
