"""MCP, as client and as server: real programs at the other end, most of them hostile."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("mcp_types", reason="the extra mcp is not installed")

import httpx2
import mcp_types as types
from mcp.client.client import Client

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError, DataError
from callgym.goal import DecisionGoal
from callgym.json_value import write_json
from callgym.message import Message
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends import PythonBackend, ToolFailure, World
from callgym.tool_backends.mcp import McpBackend, McpHttpServer, McpLimits, McpSession, serve_mcp
from callgym.tool_backends.mcp.address import HttpAddress, StdioAddress
from callgym.tool_backends.mcp.answers import as_answer, result_of
from callgym.tool_backends.mcp.lines import Lines, answered_id
from callgym.tool_backends.mcp.listing import tool_of
from callgym.tool_backends.portal import portal
from tests.patience import wait_until

TASK = Task(
    id="t/1 ä", family="f", split="s", messages=(Message(role="user", content="x"),), goal=DecisionGoal(decision="call")
)
COMMAND = [sys.executable, "-c", "from callgym.mcp_commands import serve_over_mcp as serve; serve()"]
QUICK = McpLimits(timeout_s=0.6, start_timeout_s=20, close_s=0.3, max_response_bytes=20_000)

# A server that speaks JSON-RPC by hand and does what its tools are called. Its first argument says how it starts.
HOSTILE = r"""
import json, os, signal, subprocess, sys, time
mode, folder = sys.argv[1], sys.argv[2]
with open(os.path.join(folder, "pids"), "a") as file: file.write(f"{os.getpid()}\n")
def write(text): sys.stdout.write(text); sys.stdout.flush()
def send(**message): write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
def forever():
    while True: time.sleep(60)
def tool(name, **more): return {"name": name, "inputSchema": {"type": "object"}, **more}
if mode == "exits": sys.exit("cannot read /secret/path")
if mode == "silent": forever()
if mode == "floods": [write("x" * 9999) for _ in iter(int, 1)]
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    with open(os.path.join(folder, "pids"), "a") as file: file.write(f"{child.pid}\n")
count = 0
def call(id, name, arguments):
    global count
    text = lambda words, **more: send(id=id, result={"content": [{"type": "text", "text": words}], **more})
    if name == "count": count += 1; text(str(count))
    elif name == "hang": forever()
    elif name == "late": time.sleep(0.8); text("late")
    elif name == "die": sys.stderr.write("y" * 5000 + "last words\n"); sys.stderr.flush(); os._exit(3)
    elif name == "close": os.close(1); forever()
    elif name == "kill_soon": text("going"); os._exit(0)
    elif name == "garbage": write("Traceback:\n\x00\xff{{{\n[1]\n\n"); text("after garbage")
    elif name == "wrong_id":  send(id=id + 1000, result={"content": []}); forever()
    elif name == "long": text("x" * 30_000)
    elif name == "long_id_last": write('{"result": {"content": ["' + "x" * 30_000 + '"]}, "jsonrpc": "2.0", "id": %d}\n' % id)
    elif name == "flood": [write("x" * 9999) for _ in iter(int, 1)]
    elif name == "flood_lines": [send(method="notifications/message", params={"level": "info", "data": "x" * 999}) for _ in iter(int, 1)]
    elif name == "flood_stderr": [sys.stderr.write("x" * 9999) for _ in iter(int, 1)]
    elif name == "no_json": write('{"jsonrpc": "2.0", "id": %d, "result": {"content": [}}\n' % id)
    elif name == "deep": write('{"jsonrpc": "2.0", "id": %d, "result": {"structuredContent": %s}}\n' % (id, "[" * 900 + "]" * 900))
    elif name == "surrogate": write('{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "\\ud800"}]}}\n' % id)
    elif name == "nan": write('{"jsonrpc": "2.0", "id": %d, "result": {"content": [], "structuredContent": {"a": NaN}}}\n' % id)
    elif name == "asks":
        send(id="a", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
        send(id="b", method="roots/list")
        text("asked")
    elif name == "mirror": send(id=id, result=arguments["answer"])
    elif name == "error": send(id=id, error={"code": arguments["code"], "message": arguments["message"]})
    elif name == "echo": send(id=id, result={"content": [], "structuredContent": arguments})
    elif name == "environment": text(json.dumps(dict(os.environ)))
    elif name == "arguments": text(json.dumps(sys.argv[3:]))
    else: send(id=id, error={"code": -32602, "message": f"Unknown tool: {name}"})
def listing(cursor):
    page = int(cursor or 0)
    if mode == "pages": return {"tools": [tool(f"t{page}")], **({"nextCursor": str(page + 1)} if page < 4 else {})}
    if mode == "endless": return {"tools": [], "nextCursor": str(page + 1)}
    if mode == "circle": return {"tools": [], "nextCursor": "1"}
    if mode == "many": return {"tools": [tool(f"t{i}", description="d" * 20) for i in range(10_000)]}
    if mode == "no_list": return {"tools": 5}
    if mode == "twice": return {"tools": [tool("a"), tool("a")]}
    if mode == "nameless": return {"tools": [tool("a"), {"inputSchema": {"type": "object"}}]}
    if mode == "no_type": return {"tools": [tool("a"), {"name": "bad tool", "inputSchema": {"properties": {}}}]}
    if mode == "invalid": return {"tools": [tool("bad tool", inputSchema={"type": "object", "required": "a"})]}
    if mode == "far": return {"tools": [tool("bad tool", inputSchema={"type": "object", "$ref": "file:///etc/passwd"})]}
    return {"tools": [tool("count", description="Counts."), tool("echo", inputSchema={
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"a": {"type": "integer"}}, "required": ["a"]})]}
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        version = "1.0" if mode == "old" else params["protocolVersion"]
        send(id=id, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "h", "version": "1"}})
    elif method == "ping": send(id=id, result={})
    elif method == "tools/list": send(id=id, result=listing(params.get("cursor")))
    elif method == "tools/call": call(id, params["name"], params.get("arguments") or {})
if mode == "stubborn": forever()
"""  # noqa: E501


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "hostile.py"
    path.write_text(HOSTILE, encoding="utf-8")
    return path


class Servers:
    """Makes backends of the hostile server, and knows its processes."""

    def __init__(self, script: Path, folder: Path) -> None:
        self.script = script
        self.folder = folder
        self.backends: list[McpBackend] = []

    def __call__(self, mode: str = "fair", *more: str, limits: McpLimits = QUICK, **options: Any) -> McpBackend:
        arguments = ["-I", "-S", str(self.script), mode, str(self.folder), *more]
        backend = McpBackend.stdio(sys.executable, arguments, limits=limits, **options)
        self.backends.append(backend)
        return backend

    def pids(self) -> list[int]:
        path = self.folder / "pids"
        return [int(line) for line in path.read_text().split()] if path.exists() else []


@pytest.fixture
def servers(hostile: Path, tmp_path: Path) -> Iterator[Servers]:
    made = Servers(hostile, tmp_path)
    yield made
    for backend in made.backends:
        backend.close()
    assert wait_until_gone(made.pids()) == []


def wait_until_gone(pids: list[int], seconds: float = 5.0) -> list[int]:
    """The processes that are still there after a while; zombies of somebody else's count as gone."""
    end = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < end:
        time.sleep(0.01)
    return left


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (OSError, IndexError):
        return False


def call(session: Any, name: str, /, **arguments: Any) -> ToolResult:
    result = session.call(ToolCall(name=name, arguments=arguments))
    assert isinstance(result, ToolResult)
    assert ToolResult.from_json(result.to_json()) == result
    assert len(result.message) <= 404
    return result


# Hostile servers: each call a typed result within its limit, and the next call works.

FAULTS = [
    # tool, kind, what the message says, and what `count` gives next: 2 where the server lived on, 1 where it is another
    ("hang", "timeout", "did not answer within 0.6 s", "1"),
    ("wrong_id", "timeout", "did not answer", "1"),
    ("late", "timeout", "did not answer", "2"),
    ("die", "unavailable", "what it had kept is lost", "1"),
    ("close", "unavailable", "what it had kept is lost", "1"),
    ("long", "tool_error", "longer than 20000 bytes", "2"),
    ("long_id_last", "tool_error", "longer than 20000 bytes", "2"),
    ("flood", "unavailable", "wrote without end", "1"),
    ("flood_lines", "unavailable", "wrote without end", "1"),
    ("flood_stderr", "unavailable", "wrote without end", "1"),
    ("no_json", "tool_error", "not JSON", "2"),
    ("deep", "tool_error", "not JSON", "2"),
    ("surrogate", "tool_error", "not JSON", "2"),
    ("nan", "tool_error", "no JSON value", "2"),
    ("unheard_of", "tool_error", "Unknown tool: unheard_of", "2"),
]


@pytest.mark.parametrize(("name", "kind", "words", "next_count"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_fault_is_a_typed_result_and_the_next_call_works(
    servers: Servers, name: str, kind: str, words: str, next_count: str
) -> None:
    session = servers().open(TASK, 0)
    assert call(session, "count").content == "1"
    began = time.monotonic()
    result = call(session, name)
    assert time.monotonic() - began < 5
    assert result.error == kind
    assert words in result.message
    assert str(servers.folder) not in result.message
    assert call(session, "count").content == next_count
    assert call(session, "count").content == str(int(next_count) + 1)


def test_a_server_that_stops_reading_holds_nobody_up(servers: Servers) -> None:
    backend = servers(per_episode=False)
    sessions = [backend.open(TASK, seed) for seed in range(3)]
    much = ToolCall(name="echo", arguments={"a": "x" * 900_000})

    async def ask() -> list[ToolResult]:
        calls = [ToolCall(name="hang"), much, much]
        return await asyncio.gather(*(session.acall(call) for session, call in zip(sessions, calls, strict=True)))

    began = time.monotonic()
    assert [result.error for result in asyncio.run(ask())] == ["timeout"] * 3
    assert call(sessions[0], "count").content == "1"
    assert time.monotonic() - began < 8


def test_last_words_are_for_people(servers: Servers) -> None:
    session = servers().open(TASK, 0)
    result = call(session, "die")
    assert "last words" not in result.message
    assert session.last_words.endswith("last words")
    assert len(session.last_words) <= 2048


def test_a_server_that_ended_between_calls_says_so_once(servers: Servers) -> None:
    session = servers().open(TASK, 0)
    call(session, "count")
    assert call(session, "kill_soon").content == "going"
    assert wait_until_gone(servers.pids()) == []
    lost = call(session, "count")
    assert (lost.error, "since the last call" in lost.message) == ("unavailable", True)
    assert call(session, "count").content == "1"


def test_noise_and_questions_disturb_nobody(servers: Servers) -> None:
    session = servers().open(TASK, 0)
    assert call(session, "garbage").content == "after garbage"
    assert call(session, "asks").content == "asked"
    assert call(session, "count").content == "1"


@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("silent", "timeout", "the tool server did not start within 0.5 s"),
        ("floods", "unavailable", "the tool server could not be started"),
        ("exits", "unavailable", "the tool server could not be started"),
        ("old", "unavailable", "the tool server could not be started"),
    ],
)
def test_a_server_that_does_not_start(servers: Servers, mode: str, kind: str, words: str) -> None:
    limits = McpLimits(timeout_s=0.4, start_timeout_s=0.5 if mode == "silent" else 20, close_s=0.2)
    backend = servers(mode, limits=limits)
    session = backend.open(TASK, 0)
    for _ in range(2):
        assert call(session, "count") == ToolResult(error=kind, message=words)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="MCP server"):
        _ = backend.tools
    if mode == "exits":
        assert "/secret/path" in session.last_words
        with pytest.raises(ConfigurationError, match="/secret/path"):
            _ = backend.tools


def test_a_command_that_does_not_exist(servers: Servers) -> None:
    backend = McpBackend.stdio("/no/such/program-at-all")
    assert call(backend.open(TASK, 0), "x").message == "the tool server could not be started"
    with pytest.raises(ConfigurationError, match="program-at-all"):
        _ = backend.tools


# Tools.


def test_tools_are_listed_and_can_be_tasks(servers: Servers) -> None:
    backend = servers()
    count, echo = backend.tools
    assert (count.name, count.description) == ("count", "Counts.")
    assert echo.required == ("a",)
    assert backend.tools is backend.tools
    task = Task.from_dict({**TASK.to_dict(), "tools": [tool.to_dict() for tool in backend.tools]})
    env: Any = gym.make("bfcl/simple_python-v0", data=[task], backend=backend, disable_env_checker=True)
    assert task.prompt_tools == backend.tools
    env.close()
    assert [tool.name for tool in servers("pages").tools] == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("many", "has more than 1000 tools; give limits=McpLimits"),
        ("endless", "pages that never end"),
        ("circle", "pages that never end"),
        ("no_list", "without a list of tools"),
        ("twice", "lists the tool 'a' twice"),
        ("nameless", "tool 2 of MCP server .* has no name"),
        ("no_type", "tool 'bad tool' .*inputSchema cannot be used: .*type 'object'"),
        ("invalid", "tool 'bad tool' .*inputSchema cannot be used"),
        ("far", "tool 'bad tool' .*'file:///etc/passwd' is not present"),
    ],
)
def test_listings_that_cannot_be_used(servers: Servers, mode: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        _ = servers(mode).tools


def test_ten_thousand_tools_for_who_wants_them(servers: Servers) -> None:
    limits = McpLimits(max_tools=10_000)
    assert len(servers("many", limits=limits).tools) == 10_000


def test_a_schema_is_never_fetched() -> None:
    for schema in (
        {"$id": "http://127.0.0.1:9/a", "properties": {"a": {"$ref": "b.json"}}},
        {"properties": {"a": {"anyOf": [{"$dynamicRef": "http://127.0.0.1:9/y"}]}}},
    ):
        with pytest.raises(DataError, match="retrieving it failed"):
            tool_of({"name": "a", "inputSchema": {"type": "object", **schema}}, "x")
    tool = tool_of({"name": "a", "inputSchema": {"type": "object", "properties": {"$ref": {"type": "string"}}}}, "x")
    assert list(tool.properties) == ["$ref"]


# Sessions and processes.


def test_each_session_has_a_server_of_its_own(servers: Servers) -> None:
    backend = servers()
    first, second = backend.open(TASK, 0), backend.open(TASK, 1)
    assert servers.pids() == []  # cheap to open
    assert [call(first, "count").content, call(first, "count").content, call(second, "count").content] == [
        "1",
        "2",
        "1",
    ]
    assert len(servers.pids()) == 2
    first.close()
    assert wait_until_gone(servers.pids()[:1]) == []
    assert call(second, "count").content == "2"
    with pytest.raises(RuntimeError, match="closed"):
        call(first, "count")
    first.close()


def test_or_all_share_one(servers: Servers) -> None:
    backend = servers(per_episode=False)
    first, second = backend.open(TASK, 0), backend.open(TASK, 1)
    assert [call(first, "count").content, call(second, "count").content] == ["1", "2"]
    first.close()
    assert call(second, "count").content == "3"
    assert len(servers.pids()) == 1


def test_a_session_that_is_forgotten_ends_its_server(servers: Servers) -> None:
    session: Any = servers().open(TASK, 0)
    call(session, "count")
    del session
    assert wait_until_gone(servers.pids()) == []


def test_task_and_seed_reach_the_server(servers: Servers) -> None:
    backend = servers("fair", "--task={task}", "{seed}", "{other}")
    session = backend.open(TASK, 2**63)
    assert call(session, "arguments").content == [f"--task={TASK.id}", str(2**63), "{other}"]
    with pytest.raises(ConfigurationError, match="tools_for"):
        _ = backend.tools
    assert [tool.name for tool in backend.tools_for("x")] == ["count", "echo"]
    with pytest.raises(ConfigurationError, match="per_episode=True"):
        McpBackend.stdio("x", ["{task}"], per_episode=False)
    assert (
        HttpAddress("http://h/mcp?task={task}&seed={seed}").of("a/b &", 7).url == "http://h/mcp?task=a%2Fb%20%26&seed=7"
    )
    assert StdioAddress("x", ("{task}",)).of("{seed}", 1).args == ("{seed}",)


def test_the_environment_is_minimal(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    backend = servers(env={"MODE": "x", "MY_API_KEY": "abcdefgh"})
    result = call(backend.open(TASK, 0), "environment")
    assert result.content.keys() - {"LC_CTYPE"} == {"PATH", "HOME", "MODE", "MY_API_KEY"}  # type: ignore[union-attr]
    assert result.content["MY_API_KEY"] == "***"  # type: ignore[index,call-overload]
    assert "abcdefgh" not in repr(backend)


def test_sixteen_sessions_at_once(servers: Servers) -> None:
    backend = servers(limits=McpLimits(start_timeout_s=60))
    sessions = [backend.open(TASK, seed) for seed in range(16)]

    async def play(session: McpSession) -> list[Any]:
        names = ["count", "late", "count", "die", "count"]
        return [(await session.acall(ToolCall(name=name))).content for name in names]

    async def play_all() -> list[list[Any]]:
        return await asyncio.gather(*map(play, sessions))

    assert asyncio.run(play_all()) == [["1", "late", "2", None, "1"]] * 16
    for session in sessions:
        session.close()


def test_stubborn_servers_and_their_children_are_killed(servers: Servers) -> None:
    backend = servers("stubborn")
    session = backend.open(TASK, 0)
    call(session, "count")
    assert len(servers.pids()) == 2
    session.close()
    assert wait_until_gone(servers.pids()) == []


def test_no_server_outlives_its_client(hostile: Path, tmp_path: Path) -> None:
    code = f"""
        import sys
        from callgym.call import ToolCall
        from callgym.task import Task
        from callgym.tool_backends.mcp import McpBackend
        task = Task.from_json({TASK.to_json()!r})
        backend = McpBackend.stdio(sys.executable, ["-I", "-S", {str(hostile)!r}, "stubborn", sys.argv[1]])
        session = backend.open(task, 0)
        print(session.call(ToolCall(name="count")).content, flush=True)
        sys.stdin.read()  # until it may exit, or is killed
    """
    clients, folders = [], [tmp_path / "exits", tmp_path / "is killed"]
    for folder in folders:
        folder.mkdir()
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        clients.append(subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(folder)], **pipes))
    for client in clients:
        assert client.stdout is not None
        assert client.stdout.readline() == "1\n"
    exiting, killed = clients
    killed.kill()
    assert [client.communicate(timeout=20)[0] for client in clients] == ["", ""]
    assert (exiting.returncode, killed.returncode) == (0, -signal.SIGKILL)
    (server, child), (other, other_child) = (map(int, (f / "pids").read_text().split()) for f in folders)
    with contextlib.suppress(ProcessLookupError):
        os.kill(other_child, signal.SIGKILL)  # the child of a killed client's server: nobody is left to end it
    assert wait_until_gone([server, child, other]) == []


def test_a_forked_process_and_a_pickled_backend_start_their_own(servers: Servers) -> None:
    backend = servers(per_episode=False)
    session = backend.open(TASK, 0)
    assert call(session, "count").content == "1"
    copied: McpBackend = pickle.loads(pickle.dumps(backend))
    servers.backends.append(copied)
    assert call(copied.open(TASK, 0), "count").content == "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        pid = os.fork()
    if pid == 0:
        status = 1
        with contextlib.suppress(BaseException):
            right = backend.open(TASK, 0).call(ToolCall(name="count")).content == "1"
            backend.close()
            status = 0 if right else 2
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert call(session, "count").content == "2"


def test_options_that_cannot_be() -> None:
    for limits in (
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"close_s": True},
        {"max_tools": 0},
        {"max_tools": 1.5},
    ):
        with pytest.raises(ConfigurationError, match=next(iter(limits))):
            McpLimits(**limits)
    for options in ({"args": "text"}, {"args": [1]}, {"env": {"a": 1}}, {"cwd": "/no/such"}, {"limits": 3}):
        with pytest.raises(ConfigurationError):
            McpBackend.stdio("x", **options)
    for url in ("x", "ftp://h/", "http://", "http://user:secret@h/mcp", "http://h:99999/"):
        with pytest.raises(ConfigurationError, match="url") as caught:
            McpBackend.http(url)
        assert "secret" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="NO_SUCH_TOKEN"):
        McpBackend.http("http://127.0.0.1:9/mcp", token_env="NO_SUCH_TOKEN").open(TASK, 0)


# Answers.

ANSWERS: list[tuple[dict[str, Any], Any]] = [
    ({"content": []}, None),
    ({"content": [{"type": "text", "text": "hello"}]}, "hello"),
    ({"content": [{"type": "text", "text": "42"}]}, "42"),
    ({"content": [{"type": "text", "text": ' {"a": [1, null]}'}]}, {"a": [1, None]}),
    ({"content": [{"type": "text", "text": "[1, NaN]"}]}, "[1, NaN]"),
    ({"content": [{"type": "text", "text": "{not json}"}]}, "{not json}"),
    ({"content": [{"type": "text", "text": "[" * 5000}]}, "[" * 5000),
    ({"content": [{"type": "text", "text": "{}"}, {"type": "text", "text": "b"}]}, ["{}", "b"]),
    ({"content": [{"type": "text", "text": "a"}], "structuredContent": {"b": 1.5}}, {"b": 1.5}),
    ({"content": [], "structuredContent": {"result": 5}}, {"result": 5}),
    ({"content": [], "structuredContent": {"result": 5}, "_meta": {"callgym/wrapped": True}}, 5),
    ({"content": [], "structuredContent": {"result": 5, "b": 1}, "_meta": {"callgym/wrapped": True}},
     {"result": 5, "b": 1}),
    ({"content": [{"type": "image", "data": "QUJD" * 1000, "mimeType": "image/png"}]}, "[image image/png, 3000 bytes]"),
    ({"content": [{"type": "audio", "data": "QQ==", "mimeType": "audio/wav"}]}, "[audio audio/wav, 1 bytes]"),
    ({"content": [{"type": "resource_link", "uri": "file:///a", "name": "A"}]}, "[link to file:///a, A]"),
    ({"content": [{"type": "resource", "resource": {"uri": "x://a", "text": "words"}}]}, "words"),
    ({"content": [{"type": "resource", "resource": {"uri": "x://a", "blob": "QUI="}}]}, "[file x://a, bytes, 2 bytes]"),
]  # fmt: skip


def test_answers_are_read_by_the_rules(servers: Servers) -> None:
    session = servers().open(TASK, 0)
    for answer, content in ANSWERS:
        assert call(session, "mirror", answer=answer) == ToolResult(content=content)


def test_errors_are_the_tool_s_words(servers: Servers) -> None:
    session = servers().open(TASK, 0)
    said = {"isError": True, "content": [{"type": "text", "text": "no \x1b[2Jsuch city"}]}
    assert call(session, "mirror", answer=said) == ToolResult(error="tool_error", message="no [2Jsuch city")
    marked = {**said, "_meta": {"callgym/error": "timeout"}}
    assert call(session, "mirror", answer=marked).error == "timeout"
    assert call(session, "mirror", answer={**said, "_meta": {"callgym/error": ["x"]}}).error == "tool_error"
    assert call(session, "mirror", answer={"isError": True, "content": []}).message != ""
    long = {"isError": True, "content": [{"type": "text", "text": "x" * 9000}]}
    assert call(session, "mirror", answer=long).message == "x" * 400 + "..."
    assert call(session, "error", code=-32603, message="broken").message == "broken"
    assert call(session, "error", code=-32000, message="").error in ("tool_error", "unavailable")


def test_arguments_that_cannot_be_sent(servers: Servers) -> None:
    session = servers(limits=McpLimits(max_request_bytes=1000)).open(TASK, 0)
    for arguments in ({"a": "\ud800"}, {"\udfff": 1}, {"a": "x" * 2000}):
        assert call(session, "echo", **arguments).error == "invalid_arguments"
    assert servers.pids() == []
    assert call(session, "echo", a="ok").content == {"a": "ok"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "content": json_values | st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "image", "x"])})),
        "structuredContent": json_values,
        "isError": json_values,
        "_meta": json_values,
    },
)


def test_no_arguments_and_no_answers_raise(servers: Servers) -> None:
    session = servers(limits=McpLimits()).open(TASK, 0)

    @settings(max_examples=60, deadline=None, database=None)
    @given(arguments=st.dictionaries(st.text(max_size=10), json_values, max_size=4))
    def echoed(arguments: dict[str, Any]) -> None:
        result = session.call(ToolCall(name="echo", arguments=arguments))
        if result.error is None:
            assert write_json(result.content) == write_json(arguments)
        else:
            assert result.error in ("invalid_arguments", "tool_error")

    @settings(max_examples=80, deadline=None, database=None)
    @given(answer=bodies | json_values)
    def mirrored(answer: Any) -> None:
        result = session.call(ToolCall(name="mirror", arguments={"answer": answer}))
        assert ToolResult.from_json(result.to_json()) == result
        assert result.error in (None, "tool_error", "timeout", "invalid_arguments")

    echoed()
    mirrored()


@settings(max_examples=200, deadline=None)
@given(content=json_values, kind=st.sampled_from([None, "unknown_tool", "timeout"]), message=st.text(max_size=50))
def test_nothing_is_lost_between_our_server_and_our_client(content: Any, kind: Any, message: str) -> None:
    result = ToolResult(content=content) if kind is None else ToolResult(error=kind, message=message)
    sent = as_answer(result).model_dump_json(by_alias=True, exclude_none=True)
    answer = types.CallToolResult.model_validate_json(sent, by_name=False)
    came = result_of(answer, StdioAddress("x").keys())
    if kind is None:
        assert write_json(came.content) == write_json(content)
    else:
        assert came.error == kind


@settings(max_examples=200, deadline=None)
@given(text=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200)), most=st.integers(1, 100))
def test_lines_are_the_same_however_they_come(text: bytes, cuts: list[int], most: int) -> None:
    lines, places = Lines(most), sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    found = [line for start, end in pairwise(places) for line in lines.feed(text[start:end])]
    expected = text.split(b"\n")[:-1]
    assert [line.whole for line in found] == [len(part) <= most for part in expected]
    assert [line.text for line in found if line.whole] == [part for part in expected if len(part) <= most]
    assert [(line.head, line.tail) for line in found] == [(part[:256], part[-256:]) for part in expected]


def test_an_answer_is_found_by_its_id() -> None:
    for text, id in (
        (b'{"jsonrpc": "2.0", "id": 12, "result": {"id": 5', 12),
        (b'{"id":3,"result":[', 3),
        (b'{"result":{"id":7},"jsonrpc":"2.0","id":4}', 4),
        (b'{"result":{"id":7},"id":4,"jsonrpc":"2.0"}  ', 4),
        (b'{"jsonrpc":"2.0","method":"x","id":4}', None),
        (b"noise", None),
    ):
        line = next(Lines(1).feed(text + b"\n"))
        assert answered_id(line) == id


# The reverse: our tools served.


def add(world: World, a: int, b: int = 0) -> Any:
    """Two numbers, and how often it was asked."""
    if a == 13:
        raise ToolFailure("13 is not added.")
    if a == 14:
        raise ZeroDivisionError("/secret/path")
    world.state["count"] = world.state.get("count", 0) + 1
    return {"sum": a + b, "count": world.state["count"], "luck": int(world.rng.integers(1000))}


def echo(world: World, value: Any) -> Any:
    return value


ADD = Tool(
    name="add",
    description="Adds.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
)
ECHO = Tool(name="echo", parameters={"type": "object", "properties": {"value": {}}, "required": ["value"]})
BACKEND = PythonBackend({"add": add, "echo": echo})


@pytest.fixture(scope="module")
def served() -> Iterator[McpHttpServer]:
    with McpHttpServer(BACKEND, tools=[ADD, ECHO], seed=5, show_state=True) as server:
        yield server


def test_a_backend_over_http_is_the_backend(served: McpHttpServer) -> None:
    with McpBackend.http(served.url + "?seed={seed}", state_resource="callgym://state") as backend:
        assert backend.tools_for("x") == (ADD, ECHO)
        there, here = backend.open(TASK, 7), BACKEND.open(TASK, 7)
        for arguments in ({"a": 1, "b": 2}, {"a": 13}, {"a": 5}):
            assert call(there, "add", **arguments) == call(here, "add", **arguments)
        for value in (None, 5, "text", [1, {"result": None}], {"result": 5}, {"result": {"a": 1.0}}, "{}", 2**80):
            assert call(there, "echo", value=value).content == value
        assert there.state() == here.state() == {"count": 2}
        assert call(backend.open(TASK, 7), "add", a=1).content == call(BACKEND.open(TASK, 7), "add", a=1).content
        # What the environment's own check would say, where there is none before it.
        assert call(there, "add", a="x").error == "invalid_arguments"
        assert call(there, "nope") == ToolResult(
            error="unknown_tool", message="there is no tool 'nope'; the tools are: add, echo"
        )
        fault = call(there, "add", a=14)
        assert (fault.error, "/secret" in fault.message) == ("tool_error", False)
        assert call(there, "echo", value="\ud800").error == "invalid_arguments"


def test_half_a_surrogate_pair_in_an_answer_is_replaced() -> None:
    contents: list[Any] = ["a\ud800", ["\udfff"], {"k\ud83d": 1}]
    for content in contents:
        sent = as_answer(ToolResult(content=content)).model_dump_json(by_alias=True)
        assert "\ufffd" in sent


def test_other_people_s_clients_can_use_it(served: McpHttpServer) -> None:
    async def use(mode: str) -> None:
        async with Client(served.url + "?seed=9", mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["add", "echo"]
            first = await client.call_tool("add", {"a": 1, "b": 1})
            again = await client.call_tool("add", {"a": 1, "b": 1})
            assert first.structured_content["sum"] == 2
            assert [first.structured_content["count"], again.structured_content["count"]] == [1, 2]
            assert json.loads(first.content[0].text) == first.structured_content  # type: ignore[union-attr]
            wrong = await client.call_tool("add", {"a": "x"})
            assert wrong.is_error
            assert "a:" in wrong.content[0].text  # type: ignore[union-attr]
            state = await client.read_resource("callgym://state")
            assert json.loads(state.contents[0].text) == {"count": 2}  # type: ignore[union-attr]

    asyncio.run(use("auto"))
    asyncio.run(use("legacy"))


def test_sixteen_connections_have_sixteen_sessions(served: McpHttpServer) -> None:
    with McpBackend.http(served.url) as backend:
        sessions = [backend.open(TASK, seed) for seed in range(16)]

        async def play(session: McpSession) -> list[int]:
            results = [await session.acall(ToolCall(name="add", arguments={"a": 1})) for _ in range(5)]
            return [result.content["count"] for result in results]  # type: ignore[index,call-overload,misc]

        async def play_all() -> list[list[int]]:
            return await asyncio.gather(*map(play, sessions))

        assert asyncio.run(play_all()) == [[1, 2, 3, 4, 5]] * 16
        assert portal().run(play(sessions[0])) == [6, 7, 8, 9, 10]  # in the portal's own loop, too
        for session in sessions:
            session.close()


@settings(max_examples=40, deadline=None)
@given(value=json_values)
def test_what_is_echoed_is_what_was_said(served: McpHttpServer, value: Any) -> None:
    result = shared_session(served.url).call(ToolCall(name="echo", arguments={"value": value}))
    assert write_json(result.content) == write_json(value)


_shared: dict[str, McpSession] = {}


def shared_session(url: str) -> McpSession:
    if url not in _shared:
        _shared[url] = McpBackend.http(url).open(TASK, 0)
    return _shared[url]


def test_a_choice_that_cannot_be_is_refused(served: McpHttpServer) -> None:
    for query, word in (("?seed=x", "seed"), ("?seed=-1", "seed"), ("?seed=" + "9" * 30, "seed"), ("?task=no", "task")):
        with McpBackend.http(served.url + query) as backend:
            assert call(backend.open(TASK, 0), "add", a=1).error == "tool_error"
            with pytest.raises(ConfigurationError, match=word):
                _ = backend.tools


def test_the_door_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.com"):
        with pytest.raises(ConfigurationError, match="token_env"):
            McpHttpServer(BACKEND, tools=[ADD], host=host)
    for token in ("", "short", "long enough, but \u00e4"):
        monkeypatch.setenv("THE_TOKEN", token)
        with pytest.raises(ConfigurationError, match="token"):
            McpHttpServer(BACKEND, tools=[ADD], token_env="THE_TOKEN")
    monkeypatch.setenv("THE_TOKEN", "0123456789abcdef")
    monkeypatch.setenv("OTHER_TOKEN", "fedcba9876543210")
    with McpHttpServer(BACKEND, tools=[ADD], host="0.0.0.0", token_env="THE_TOKEN") as server:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        with McpBackend.http(url, token_env="THE_TOKEN") as backend:
            assert backend.tools == (ADD,)
            assert call(backend.open(TASK, 0), "add", a=1).ok
            assert "0123456789abcdef" not in repr(backend)
        for token_env in (None, "OTHER_TOKEN"):
            with McpBackend.http(url, token_env=token_env) as backend:
                assert call(backend.open(TASK, 0), "add", a=1).error == "unavailable"
                with pytest.raises(ConfigurationError, match="401") as caught:
                    _ = backend.tools
                assert "fedcba" not in str(caught.value)


def test_pages_of_strangers_are_turned_away(served: McpHttpServer) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 400),  # let in, and told to shake hands
        ({"Mcp-Session-Id": "guessed"}, 404),
    ):
        assert httpx2.post(served.url, json=body, headers={**accept, **headers}).status_code == status
    assert (
        httpx2.post(
            served.url, content=b"x" * 5_000_000, headers={**accept, "Content-Type": "application/json"}
        ).status_code
        == 413
    )


def test_what_cannot_be_served() -> None:
    for arguments in (
        {"source": BACKEND},
        {"source": 5, "tools": [ADD]},
        {"source": BACKEND, "tools": [ADD], "seed": -1},
        {"source": BACKEND, "tools": [ADD], "data": "starter"},
        {"source": BACKEND, "tools": [ADD], "task": "x"},
        {"source": "apibank/L1-v0", "task": "no-such-task", "data": "starter"},
        {"source": "apibank/L1-v0", "faults": "errors", "data": "starter"},
        {"source": BACKEND, "tools": [ADD], "transport": "smoke"},
    ):
        with pytest.raises(ConfigurationError):
            serve_mcp(**arguments)


def test_a_server_that_is_gone_and_comes_again() -> None:
    server = McpHttpServer(BACKEND, tools=[ADD])
    port = int(server.url.split(":")[2].split("/")[0])
    with McpBackend.http(server.url, limits=McpLimits(timeout_s=2, start_timeout_s=2)) as backend:
        session = backend.open(TASK, 0)
        with server:
            assert call(session, "add", a=1).content["count"] == 1  # type: ignore[index,call-overload]
        assert call(session, "add", a=1).error == "unavailable"
        assert call(session, "add", a=1) == ToolResult(error="unavailable", message="the tool server cannot be reached")
        with McpHttpServer(BACKEND, tools=[ADD], port=port) as again:
            assert call(session, "add", a=1).content["count"] == 1  # type: ignore[index,call-overload]
            assert again.sessions == 1
            session.close()
            backend.close()
            wait_until(lambda: again.sessions == 0)  # the room is cleared just after the client has its answer


# Hostile servers at a URL.


class HostileHandler(BaseHTTPRequestHandler):
    """Does what the tool that is called is called."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        self.answer(405)

    do_DELETE = do_GET  # noqa: N815

    def answer(self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        headers.setdefault("Content_Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.asked.append(self.path)
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params = message["method"], message.get("params") or {}
        if "id" not in message:
            self.answer(202)
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            about = {"capabilities": {}, "serverInfo": {"name": "h", "version": "1"}}
            reply["result"] = {"protocolVersion": params["protocolVersion"], **about}
        elif method == "tools/call":
            with contextlib.suppress(OSError):
                self.call(params["name"], reply)
            return
        else:
            reply["result"] = {}
        self.answer(200, json.dumps(reply).encode(), Mcp_Session_Id="s")

    def call(self, name: str, reply: dict[str, Any]) -> None:
        reply["result"] = {"content": [{"type": "text", "text": "fine"}]}
        fine = json.dumps(reply).encode()
        if name == "hang":
            time.sleep(1)
        elif name == "close":
            self.close_connection = True
        elif name == "status":
            self.answer(500)
        elif name == "busy":
            self.answer(429)
        elif name == "forgotten":
            self.answer(404)
        elif name == "redirect":
            self.answer(307, Location="http://127.0.0.1:9/elsewhere")
        elif name == "page":
            self.answer(200, b"<html>", "text/html")
        elif name == "no_json":
            self.answer(200, b"{")
        elif name == "bomb":
            self.answer(200, gzip.compress(fine), Content_Encoding="gzip")
        elif name == "long":
            self.answer(200, b" " * 30_000 + fine)
        elif name in ("endless", "endless_events", "slow"):
            self.close_connection = True
            self.answer(
                200, b"", "application/json" if name == "endless" else "text/event-stream", Content_Length="9" * 12
            )
            for _ in range(1000):
                self.wfile.write(b" " * 9999 if name == "endless" else b": hello\n\n" * 500 if name != "slow" else b":")
                time.sleep(0.01 if name == "slow" else 0)
        elif name == "cut":
            self.close_connection = True
            self.answer(200, fine[:20], Content_Length="9999")
        else:
            self.answer(200, fine)


@pytest.fixture(scope="module")
def hostile_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), HostileHandler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hang", "timeout"),
        ("slow", "timeout"),
        ("close", "unavailable"),
        ("cut", "unavailable"),
        ("status", "unavailable"),
        ("busy", "unavailable"),
        ("forgotten", "unavailable"),
        ("endless", "tool_error"),
        ("endless_events", "unavailable"),
        ("redirect", "tool_error"),
        ("page", "tool_error"),
        ("no_json", "tool_error"),
        ("long", "tool_error"),
        ("bomb", "unavailable"),
    ],
)
def test_a_fault_over_http_is_a_typed_result_and_the_next_call_works(hostile_url: str, name: str, kind: str) -> None:
    with McpBackend.http(hostile_url, limits=QUICK) as backend:
        session = backend.open(TASK, 0)
        assert call(session, "fine").content == "fine"
        began = time.monotonic()
        assert call(session, name).error == kind
        assert time.monotonic() - began < 5
        assert call(session, "fine").content == "fine"


# Somebody else's server, written with the SDK's own means, as a second program.

OTHERS = """
import asyncio
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("others")
cities = []

@server.tool()
def add_city(name: str, people: int = 0) -> list[str]:
    '''Add a city.'''
    cities.append(name)
    return cities

@server.tool()
async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"

server.run("stdio")
"""


def test_a_round_trip_with_somebody_else_s_server(tmp_path: Path) -> None:
    script = tmp_path / "others.py"
    script.write_text(OTHERS, encoding="utf-8")
    limits = McpLimits(timeout_s=1.5, start_timeout_s=60)
    with McpBackend.stdio(sys.executable, [str(script)], limits=limits) as backend:
        tool, _ = backend.tools
        assert (tool.name, tool.description, tool.required) == ("add_city", "Add a city.", ("name",))
        session = backend.open(TASK, 0)
        assert call(session, "add_city", name="Ulm").content == {"result": ["Ulm"]}
        assert call(session, "wait", seconds=30).error == "timeout"
        assert call(session, "add_city", name="Bern", people=5).content == {"result": ["Ulm", "Bern"]}


# Environments played through it.


@pytest.fixture(scope="module")
def apibank() -> Iterator[dict[str, str]]:
    """Each level's tools over HTTP: the first served by our own second program, the others in this one."""
    options = ["--data=starter", "--http", "--port=0", "--state", "--set", "protocol=dialogue"]
    program = subprocess.Popen(
        [*COMMAND, "apibank/L1-v0", *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert program.stderr is not None
    here: dict[str, Any] = {"data": "starter", "protocol": "dialogue", "show_state": True}
    with McpHttpServer("apibank/L2-v0", **here) as second, McpHttpServer("apibank/L3-v0", **here) as third:
        url = program.stderr.readline().rpartition(" ")[2].strip()
        yield {"L1": url, "L2": second.url, "L3": third.url}
        program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=20)
    assert (out, err, program.returncode) == ("", "", 0)


def transcript(env: Any, task: Any, seed: int) -> str:
    """All that can be seen of an episode of the oracle, and of one that asks for nonsense first."""
    observation, info = env.reset(seed=seed, options={"task": task})
    seen: list[Any] = [observation, info["tools"]]
    actions = iter(["[ToolSearcher(keywords='')]", "[AddAlarm(token='x', time='soon')]"] if seed % 2 else [])
    ended = False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(next(actions, None) or env.oracle_action())
        ended = terminated or truncated
        seen += [observation, reward, [result.to_json() for result in info["results"]], info.get("tools")]
    return json.dumps([seen, info["episode"].to_dict()])


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_dialogues_are_the_same_through_mcp(apibank: dict[str, str], level: str) -> None:
    options: dict[str, Any] = {"data": "starter", "protocol": "dialogue", "disable_env_checker": True}
    here: Any = gym.make(f"apibank/{level}-v0", **options).unwrapped
    there: Any = gym.make(f"apibank/{level}-v0", **options).unwrapped
    with McpBackend.http(apibank[level] + "?task={task}&seed={seed}", state_resource="callgym://state") as backend:
        # Not given as backend=: the environment then would not know which tools a search has found.
        there._backend = backend
        for index in range(0, len(here.tasks), 43):
            assert transcript(there, index, index) == transcript(here, index, index)
        there.close()


def test_a_dialogue_over_stdio_where_each_episode_has_its_own_program() -> None:
    arguments = ["apibank/L1-v0", "--data=starter", "--state", "--set", "protocol=dialogue"]
    backend = McpBackend.stdio(
        COMMAND[0],
        [*COMMAND[1:], *arguments, "--task={task}", "--seed={seed}"],
        limits=McpLimits(start_timeout_s=60),
        state_resource="callgym://state",
    )
    options: dict[str, Any] = {"data": "starter", "protocol": "dialogue", "disable_env_checker": True}
    here: Any = gym.make("apibank/L1-v0", **options).unwrapped
    there: Any = gym.make("apibank/L1-v0", **options, backend=backend).unwrapped
    with backend:
        assert transcript(there, 3, 3) == transcript(here, 3, 3)
        there.close()


def test_many_dialogues_side_by_side(apibank: dict[str, str]) -> None:
    options: dict[str, Any] = {"data": "starter", "protocol": "dialogue"}
    here = run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=16, env_options=options, progress=False)
    with McpBackend.http(apibank["L1"] + "?task={task}&seed={seed}", state_resource="callgym://state") as backend:
        options["backend"] = backend
        there = run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=16, env_options=options, progress=False)
    assert [episode.to_json() for episode in there.episodes] == [episode.to_json() for episode in here.episodes]


def test_tools_that_are_found_are_listed_from_then_on(apibank: dict[str, str]) -> None:
    async def use() -> None:
        async with Client(apibank["L3"], mode="legacy") as client:
            before = {tool.name for tool in (await client.list_tools()).tools}
            await client.call_tool("ToolSearcher", {"keywords": "weather"})
            after = {tool.name for tool in (await client.list_tools()).tools}
            assert before < after

    asyncio.run(use())


def test_the_command_line_names_what_is_wrong() -> None:
    from click.testing import CliRunner

    from callgym.mcp_commands import serve_over_mcp

    for arguments, words in (
        (["no/such-v0"], "no environment"),
        (["apibank/L1-v0", "--data=starter", "--task=x"], "has no task 'x'"),
        (["apibank/L1-v0", "--data=starter", "--http", "--host=0.0.0.0"], "token_env"),
        (["apibank/L1-v0", "--set", "seed=1"], "--seed"),
        (["apibank/L1-v0", "--set", "x"], "NAME=VALUE"),
    ):
        result = CliRunner().invoke(serve_over_mcp, arguments)
        assert result.exit_code != 0
        assert words in result.output, result.output
