"""The tool server: what plain clients get from it, who is let in, and what it does with those who misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import Task, Tool, ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.schema import ToolSchema
from callgym.tool_backends import PythonBackend, ToolFailure, World
from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.portal import portal
from callgym.tool_backends.server.app import make_app
from callgym.tool_backends.server.guard import check_token, is_loopback
from callgym.tool_backends.server.limits import ServerLimits
from callgym.tool_backends.server.offer import Offer
from callgym.tool_backends.server.run import read_token, serve, serving
from tests.patience import wait_until

TOKEN = "a-token-that-nobody-guesses"
SECRET = "what the policy wrote"


# Tools of all kinds.


def tool(name: str, properties: dict[str, Any] | None = None, **more: Any) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": properties or {}, "required": list(properties or ())}
    return Tool(name=name, parameters={**schema, "additionalProperties": False}, **more)


ADD = tool("add", {"a": {"type": "integer"}, "b": {"type": "integer"}}, description="Adds <b>numbers</b> & more.")
NOTE = tool("note", {"text": {"type": "string"}})
ODD = tool("odd name/with.everything?")
TOOLS = [ADD, NOTE, ODD, *map(tool, ("fail", "crash", "exit", "huge", "nap", "wrong", "nan", "meet"))]


class Meeting:
    """Counts how many calls are inside at the same time, of one session and of all."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside: dict[int, int] = {}
        self.most_of_one = self.most_of_all = 0
        self.expected = 1
        self.together = threading.Event()

    def attend(self, who: int) -> None:
        with self.lock:
            self.inside[who] = self.inside.get(who, 0) + 1
            self.most_of_one = max(self.most_of_one, self.inside[who])
            self.most_of_all = max(self.most_of_all, sum(self.inside.values()))
            if self.most_of_all >= self.expected:
                self.together.set()
        self.together.wait(5 if self.expected > 1 else 0.02)
        with self.lock:
            self.inside[who] -= 1


class Tools:
    """The functions, and what tests want to know of them."""

    def __init__(self) -> None:
        self.meeting = Meeting()
        self.wake = threading.Event()
        self.napping = threading.Event()

    def backend(self) -> PythonBackend:
        names = {tool.name: tool.name if tool.name.isidentifier() else "odd" for tool in TOOLS}
        return PythonBackend({name: getattr(self, own) for name, own in names.items()})

    def add(self, world: World, a: int, b: int) -> int:
        return a + b

    def note(self, world: World, text: str) -> int:
        notes = world.state.setdefault("notes", [])
        notes.append(text)
        return len(notes)

    def odd(self, world: World) -> str:
        return "odd"

    def fail(self, world: World) -> None:
        raise ToolFailure("it cannot be done")

    def crash(self, world: World) -> None:
        world.state["crashed"] = True
        raise ZeroDivisionError(SECRET)

    def exit(self, world: World) -> None:
        raise SystemExit(3)

    def huge(self, world: World) -> str:
        return "x" * 5_000

    def nap(self, world: World) -> str:
        self.napping.set()
        self.wake.wait(10)
        return "slept"

    def wrong(self, world: World) -> Any:
        return object()

    def nan(self, world: World) -> float:
        return float("nan")

    def meet(self, world: World) -> str:
        self.meeting.attend(id(world))
        return "met"


@contextlib.contextmanager
def running(backend: Any = None, limits: ServerLimits | None = None, **options: Any) -> Iterator[httpx.Client]:
    if backend is None:
        backend, options = Tools().backend(), {"tools": TOOLS, **options}
    with (
        serving(make_app(backend, limits=limits, **options), limits) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=10) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running() as client:
        yield client


def opened(client: httpx.Client, **body: Any) -> str:
    answer = client.post("/sessions", json=body)
    assert answer.status_code == 201, answer.text
    session: str = answer.json()["session"]
    return session


def call(client: httpx.Client, session: str, name: str, **arguments: Any) -> dict[str, Any]:
    answer = client.post(f"/sessions/{session}/call", json={"name": name, "arguments": arguments})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def ok(content: Any) -> dict[str, Any]:
    return {"content": content, "error": None, "message": ""}


def refused(answer: httpx.Response, status: int, error: str) -> str:
    assert (answer.status_code, answer.json().get("error")) == (status, error), answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.json().keys() == {"error", "message"}
    message: str = answer.json()["message"]
    assert message
    return message


# What plain clients get.


def test_a_session_from_beginning_to_end(client: httpx.Client) -> None:
    """The lines of curl that the page shows."""
    assert client.get("/health").json()["status"] == "ok"
    opened_ = client.post("/sessions", json={"seed": 7}).json()
    assert opened_.keys() == {"session", "task", "expires_in", "tools"}
    assert [row["name"] for row in opened_["tools"]] == [tool.name for tool in TOOLS]
    assert opened_["tools"][0]["parameters"] == ADD.parameters
    session = opened_["session"]
    assert call(client, session, "add", a=1, b=2) == ok(3)
    assert call(client, session, "note", text="first") == ok(1)
    assert client.get(f"/sessions/{session}/state").json() == {"notes": ["first"]}
    assert client.delete(f"/sessions/{session}").status_code == 204
    refused(client.get(f"/sessions/{session}/state"), 404, "unknown_session")


@pytest.mark.parametrize(
    ("name", "arguments", "error", "words"),
    [
        ("subtract", {}, "unknown_tool", "there is no tool 'subtract'"),
        ("add", {"a": 1}, "invalid_arguments", '"b" is a required property'),
        ("add", {"a": "1", "b": 2}, "invalid_arguments", "a: "),
        ("add", {"a": 1, "b": 2, "c": 3}, "invalid_arguments", "c"),
        ("fail", {}, "tool_error", "it cannot be done"),
    ],
)
def test_calls_that_fail_are_answers(
    client: httpx.Client, name: str, arguments: dict[str, Any], error: str, words: str
) -> None:
    result = call(client, opened(client), name, **arguments)
    assert (result["content"], result["error"]) == (None, error)
    assert words in result["message"]


def test_every_tool_has_an_address_of_its_own(client: httpx.Client) -> None:
    session = opened(client)
    base = f"/sessions/{session}/tools"
    assert client.post(f"{base}/add", json={"a": 1, "b": 2}).json() == ok(3)
    assert client.post(f"{base}/odd%20name%2Fwith.everything%3F", json={}).json() == ok("odd")
    assert client.post(f"{base}/nothing", json={}).json()["error"] == "unknown_tool"
    assert [row["name"] for row in client.get(base).json()["tools"]] == [tool.name for tool in TOOLS]


def test_tasks_and_tools_are_listed_in_parts() -> None:
    tasks = [task_of([tool(f"t{number}"), ADD], id=f"task/{number}") for number in range(5)]
    with running(PythonBackend({}), tasks=tasks) as client:
        listed = client.get("/tasks", params={"offset": 1, "limit": 2}).json()
        assert listed["total"] == 5
        assert listed["tasks"] == [{"index": 1, "id": "task/1"}, {"index": 2, "id": "task/2"}]
        assert client.get("/tools").json()["total"] == 6
        assert [row["name"] for row in client.get("/tools?offset=2&limit=2").json()["tools"]] == ["t1", "t2"]
        assert [row["name"] for row in client.get("/tools?task=task/3").json()["tools"]] == ["t3", "add"]
        assert [row["name"] for row in client.get("/tools?task=3").json()["tools"]] == ["t3", "add"]
        assert client.post("/sessions", json={"task": 4}).json()["task"] == "task/4"
        assert client.post("/sessions", json={"task": "task/2", "tools": False}).json().get("tools") is None
        for wanted in (5, -1, "task/9", None, True, 1.0, ["task/1"]):
            refused(client.post("/sessions", json={"task": wanted}), 404, "unknown_task")
        refused(client.get("/tools?task=none"), 404, "unknown_task")
        refused(client.get("/tools?limit=-1"), 400, "invalid_request")


def task_of(tools: list[Tool], id: str = "one", **more: Any) -> Task:
    goal = {"kind": "answer", "accepted": ["yes"]}
    messages = [{"role": "user", "content": "Do it."}]
    row = {"id": id, "family": "mine", "split": "test", "messages": messages, "goal": goal, **more}
    return Task.from_dict({**row, "tools": [tool.to_dict() for tool in tools]})


def test_an_environment_is_served_with_what_its_searches_find() -> None:
    with running("apibank/L2-v0", env_options={"data": "starter", "protocol": "dialogue"}) as client:
        opened_ = client.post("/sessions", json={"task": 0}).json()
        session = opened_["session"]
        assert [row["name"] for row in opened_["tools"]] == ["ToolSearcher"]
        assert call(client, session, "AddAlarm", token="x", time="y")["error"] == "unknown_tool"
        found = call(client, session, "ToolSearcher", keywords="add alarm")["content"]
        assert [row["name"] for row in found] == ["GetUserToken", "AddAlarm"]
        assert call(client, session, "AddAlarm", token="x")["error"] == "invalid_arguments"
        assert call(client, session, "AddAlarm", token="x", time="2023-01-01 00:00:00")["error"] == "tool_error"
        names = [row["name"] for row in client.get(f"/sessions/{session}/tools").json()["tools"]]
        assert names == ["ToolSearcher", "GetUserToken", "AddAlarm"]
        assert call(client, opened(client, task=0), "AddAlarm")["error"] == "unknown_tool"


def test_tools_that_come_later_can_be_called_and_hidden_ones_are_not_shown() -> None:
    later = {"content": "Go on.", "add_tools": [NOTE.to_dict()]}
    task = task_of([ADD, ODD], user_turns=[later], meta={"hidden_tools": [ODD.name]})
    with running(Tools().backend(), tasks=[task]) as client:
        opened_ = client.post("/sessions", json={}).json()
        assert [row["name"] for row in opened_["tools"]] == ["add"]
        assert call(client, opened_["session"], "note", text="x") == ok(1)
        assert call(client, opened_["session"], ODD.name) == ok("odd")
        assert ODD.name not in client.get("/openapi.json").text
        assert ODD.name not in client.get("/docs").text


def test_sessions_are_seeded() -> None:
    def draw(world: World) -> int:
        return int(world.rng.integers(2**60))

    with running(PythonBackend({"draw": draw}), tools=[tool("draw")]) as client:
        drawn = [call(client, opened(client, seed=seed), "draw")["content"] for seed in (1, 1, 2, 2**64 - 1)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3


class Waiting:
    """A session whose calls wait, in the portal's loop, until a number of them do."""

    waits = True

    def __init__(self, backend: WaitingBackend) -> None:
        self.backend = backend
        self.inside = 0

    def call(self, call: ToolCall) -> ToolResult:
        raise AssertionError

    async def acall(self, call: ToolCall) -> ToolResult:
        assert asyncio.get_running_loop() is portal().loop
        assert self.inside == 0
        self.inside += 1
        try:
            if call.name == "add":
                await self.backend.attend()
        finally:
            self.inside -= 1
        return ToolResult(content=self.inside)

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


class WaitingBackend:
    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.together = asyncio.Event()

    async def attend(self) -> None:
        self.expected -= 1
        if self.expected == 0:
            self.together.set()
        await asyncio.wait_for(self.together.wait(), 10)

    def open(self, task: Task, seed: int) -> Waiting:
        return Waiting(self)


def test_tools_that_wait_are_awaited_and_need_no_threads() -> None:
    limits = ServerLimits(threads=1, call_seconds=15)
    with running(WaitingBackend(20), limits, tools=[ADD]) as client, ThreadPoolExecutor(20) as pool:
        sessions = [opened(client) for _ in range(20)]
        results = list(pool.map(lambda session: call(client, session, "add", a=1, b=2), sessions))
        assert results == [ok(0)] * 20


# Sessions.


def test_calls_of_one_session_run_one_after_another_and_sessions_side_by_side() -> None:
    tools = Tools()
    with running(tools.backend(), tools=TOOLS) as client, ThreadPoolExecutor(16) as pool:
        session = opened(client)
        assert list(pool.map(lambda _: call(client, session, "meet"), range(8))) == [ok("met")] * 8
        assert tools.meeting.most_of_one == 1
        tools.meeting = Meeting()
        tools.meeting.expected = 8
        sessions = [opened(client) for _ in range(8)]
        assert list(pool.map(lambda session: call(client, session, "meet"), sessions)) == [ok("met")] * 8
        assert tools.meeting.most_of_all >= 8
        notes = list(pool.map(lambda n: call(client, session, "note", text=str(n))["content"], range(32)))
        assert sorted(notes) == list(range(1, 33))


def test_no_session_sees_another(client: httpx.Client) -> None:
    mine, other = opened(client), opened(client)
    call(client, mine, "note", text="mine")
    assert client.get(f"/sessions/{other}/state").json() == {}
    assert client.get(f"/sessions/{mine}/state").json() == {"notes": ["mine"]}
    client.delete(f"/sessions/{other}")
    assert client.get(f"/sessions/{mine}/state").json() == {"notes": ["mine"]}
    assert len(mine) == 32
    assert len({opened(client) for _ in range(50)}) == 50


@pytest.mark.parametrize("session", ["xyz", "%2e%2e", "-" * 5_000, "%00", "\u20ac"])
def test_sessions_that_never_were(client: httpx.Client, session: str) -> None:
    for answer in (
        client.get(f"/sessions/{session}/state"),
        client.get(f"/sessions/{session}/tools"),
        client.post(f"/sessions/{session}/call", json={"name": "add"}),
        client.post(f"/sessions/{session}/tools/add", json={}),
        client.post(f"/sessions/{session}/turn", json={"made": 1}),
        client.delete(f"/sessions/{session}"),
    ):
        assert session not in refused(answer, 404, "unknown_session")


def test_silent_sessions_expire() -> None:
    now = [0.0]
    closed: list[int] = []
    limits = ServerLimits(session_seconds=100, max_sessions=3)
    with running(ClosingBackend(closed), limits, tools=[ADD], clock=lambda: now[0]) as client:
        first, second = opened(client), opened(client)
        now[0] = 60
        assert call(client, first, "add", a=1, b=2) == ok(3)  # no longer silent
        now[0] = 120
        refused(client.get(f"/sessions/{second}/state"), 404, "unknown_session")
        assert client.get(f"/sessions/{first}/state").status_code == 200
        third, _ = opened(client), opened(client)
        answer = client.post("/sessions", json={})
        assert "3 sessions are open" in refused(answer, 503, "too_many_sessions")
        assert int(answer.headers["retry-after"]) > 0
        now[0] = 300
        opened(client)
        wait_until(lambda: len(closed) == 4)
        refused(client.get(f"/sessions/{third}/state"), 404, "unknown_session")
        client.get("/health")
    assert len(closed) == 5  # the last one when the server went


class ClosingBackend(PythonBackend):
    """Counts the sessions that were closed; a close fails where ``fails`` says so."""

    def __init__(self, closed: list[int], fails: bool = False) -> None:
        super().__init__({"add": Tools().add, "nap": Tools().nap})
        self.closed = closed
        self.fails = fails

    def open(self, task: Task, seed: int) -> Any:
        session = super().open(task, seed)

        def close() -> None:
            self.closed.append(1)
            if self.fails:
                raise OSError(SECRET)

        session.close = close  # type: ignore[method-assign]
        return session


def test_a_session_whose_call_is_running_does_not_expire() -> None:
    now = [0.0]
    tools = Tools()
    limits = ServerLimits(session_seconds=100)
    options: dict[str, Any] = {"tools": TOOLS, "clock": lambda: now[0]}
    with running(tools.backend(), limits, **options) as client, ThreadPoolExecutor(1) as pool:
        session = opened(client)
        napping = pool.submit(call, client, session, "nap")
        assert tools.napping.wait(10)
        now[0] = 1_000
        client.get("/health")
        client.get("/tasks")
        tools.wake.set()
        assert napping.result() == ok("slept")
        assert call(client, session, "add", a=1, b=1) == ok(2)


def test_200_sessions_at_once(client: httpx.Client) -> None:
    def play(number: int) -> Any:
        session = opened(client, seed=number)
        for turn in range(3):
            assert call(client, session, "note", text=f"{number}/{turn}") == ok(turn + 1)
        state = client.get(f"/sessions/{session}/state").json()
        client.delete(f"/sessions/{session}")
        return state

    with ThreadPoolExecutor(32) as pool:
        states = list(pool.map(play, range(200)))
    assert states == [{"notes": [f"{number}/{turn}" for turn in range(3)]} for number in range(200)]


def test_a_session_that_is_closed_during_a_call_is_closed_after_it() -> None:
    tools, closed = Tools(), list[int]()
    backend = ClosingBackend(closed)
    backend._functions["nap"] = tools.nap
    with running(backend, tools=TOOLS) as client, ThreadPoolExecutor(2) as pool:
        session = opened(client)
        napping = pool.submit(call, client, session, "nap")
        assert tools.napping.wait(10)
        following = pool.submit(client.post, f"/sessions/{session}/call", json={"name": "add"})
        time.sleep(0.1)
        assert client.delete(f"/sessions/{session}").status_code == 204
        refused(client.get(f"/sessions/{session}/state"), 404, "unknown_session")
        assert not closed
        tools.wake.set()
        assert napping.result() == ok("slept")
        refused(following.result(), 404, "unknown_session")
        wait_until(lambda: closed == [1])


# Limits.


def test_a_call_that_takes_too_long_is_a_timeout_and_the_next_one_works() -> None:
    tools = Tools()
    limits = ServerLimits(call_seconds=0.3)
    with running(tools.backend(), limits, tools=TOOLS) as client:
        session = opened(client)
        overran = call(client, session, "nap")
        assert (overran["error"], "did not answer within 0.3 s" in overran["message"]) == ("timeout", True)
        waited = call(client, session, "add", a=1, b=2)
        assert (waited["error"], "earlier call" in waited["message"]) == ("timeout", True)
        refused(client.get(f"/sessions/{session}/state"), 503, "busy")
        assert call(client, opened(client), "add", a=1, b=2) == ok(3)
        tools.wake.set()
        assert call(client, session, "add", a=1, b=2) == ok(3)


def test_a_waiting_call_that_takes_too_long_is_cancelled() -> None:
    limits = ServerLimits(call_seconds=0.2)
    with running(WaitingBackend(2), limits, tools=[ADD, ODD]) as client:
        session = opened(client)
        assert call(client, session, "add", a=1, b=2)["error"] == "timeout"
        assert call(client, session, ODD.name) == ok(0)


def test_calls_that_hang_fill_the_server_and_no_more() -> None:
    tools = Tools()
    limits = ServerLimits(call_seconds=0.3, max_calls=2, threads=2)
    with running(tools.backend(), limits, tools=TOOLS) as client:
        for _ in range(2):
            assert call(client, opened(client), "nap")["error"] == "timeout"
        answer = client.post("/sessions", json={})
        assert "calls are being made" in refused(answer, 503, "busy")
        assert answer.headers["retry-after"] == "1"
        assert client.get("/health").status_code == 200
        tools.wake.set()
        wait_until(lambda: client.post("/sessions", json={}).status_code == 201)


@pytest.mark.parametrize(
    ("limits", "status", "error"),
    [
        ({"max_state_bytes": 100}, 413, "state_too_large"),
        ({"max_session_bytes": 400}, 413, "session_full"),
    ],
)
def test_a_session_cannot_grow_without_end(limits: dict[str, int], status: int, error: str) -> None:
    with running(limits=ServerLimits(**limits)) as client:
        session = opened(client)
        for _ in range(3):
            answer = client.post(f"/sessions/{session}/call", json={"name": "note", "arguments": {"text": "x" * 100}})
        if error == "state_too_large":
            answer = client.get(f"/sessions/{session}/state")
        refused(answer, status, error)
        assert call(client, opened(client), "add", a=1, b=2) == ok(3)


def test_an_answer_that_is_too_long_is_an_error_of_the_tool() -> None:
    with running(limits=ServerLimits(max_result_bytes=1_000)) as client:
        result = call(client, opened(client), "huge")
        assert (result["content"], result["error"]) == (None, "tool_error")
        assert "1000" in result["message"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_sessions", 0), ("session_seconds", 0), ("call_seconds", float("nan")), ("max_body_bytes", 1.5),
     ("threads", True), ("body_seconds", "1"), ("session_seconds", 10**9)],
)  # fmt: skip
def test_limits_are_checked(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name):
        ServerLimits(**{name: value})


# Bodies.


def test_bodies_that_are_too_long_are_refused_and_not_kept() -> None:
    limits = ServerLimits(max_body_bytes=1_000)
    with running(limits=limits) as client:
        session = opened(client)
        path, long = f"/sessions/{session}/call", b'{"name": "note", "arguments": {"text": "' + b"x" * 300_000 + b'"}}'
        refused(post(client, path, long), 413, "body_too_large")
        refused(post(client, path, iter([long])), 413, "body_too_large")  # its length is not told
        assert call(client, session, "note", text="short") == ok(1)


def test_a_body_without_end_is_refused() -> None:
    limits = ServerLimits(max_body_bytes=1_000, body_seconds=0.5)
    with running(limits=limits) as client, connected(client) as connection:
        connection.sendall(head(client, "POST", "/sessions", "Transfer-Encoding: chunked"))
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        with contextlib.suppress(OSError):
            for _ in range(5_000):  # 320 MB: it hangs up long before
                connection.sendall(chunk)
            raise AssertionError("it took everything in")
        assert client.get("/health").status_code == 200


def test_a_body_that_comes_too_slowly_is_refused_and_others_are_served() -> None:
    limits = ServerLimits(body_seconds=0.4)
    with running(limits=limits) as client, connected(client) as connection:
        connection.sendall(head(client, "POST", "/sessions", "Content-Length: 1000") + b'{"task"')
        session = opened(client)
        assert call(client, session, "add", a=1, b=2) == ok(3)
        assert b"408" in read_all(connection)[:20]


@pytest.mark.parametrize("begun", [b"", b"GET /health HTT", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: 1"])
def test_a_head_that_comes_too_slowly_is_not_waited_for(begun: bytes) -> None:
    limits = ServerLimits(body_seconds=0.3)
    with running(limits=limits) as client, connected(client) as connection:
        connection.sendall(begun)
        assert read_all(connection) == b""
        # The second request of a connection, too.
        with connected(client) as again:
            again.sendall(head(client, "GET", "/health"))
            assert b"200 OK" in again.recv(1_000)
            again.sendall(begun or b"G")
            assert b"HTTP/1.1" not in read_all(again)  # at most the rest of the first answer


def test_a_client_that_hangs_up_harms_nobody(client: httpx.Client) -> None:
    for part in (b"", b'{"name": "add"'):
        with connected(client) as connection:
            connection.sendall(head(client, "POST", "/sessions", "Content-Length: 1000") + part)
    assert call(client, opened(client), "add", a=1, b=2) == ok(3)


@pytest.mark.parametrize(
    "junk", [b"\x00\xff\x00\n\n\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"X" * 200_000, b"GET " + b"/" * 200_000]
)
def test_what_is_no_http_is_hung_up_on(client: httpx.Client, junk: bytes) -> None:
    with connected(client) as connection, contextlib.suppress(OSError):
        connection.sendall(junk)
        assert b"200" not in connection.recv(20)
    assert client.get("/health").status_code == 200


@contextlib.contextmanager
def connected(client: httpx.Client) -> Iterator[socket.socket]:
    with socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=5) as connection:
        yield connection


def head(client: httpx.Client, method: str, path: str, *more: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {client.base_url.host}", "Content-Type: application/json", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def read_all(connection: socket.socket) -> bytes:
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def post(client: httpx.Client, path: str, body: Any, kind: str = "application/json") -> httpx.Response:
    return client.post(path, content=body, headers={"Content-Type": kind})


DEEP = 100_000
BAD_BODIES: list[tuple[bytes, str, str]] = [
    (b"", "invalid_json", "not valid JSON"),
    (b"{", "invalid_json", "not valid JSON"),
    (b"[1, 2]", "invalid_request", "a list"),
    (b'"text"', "invalid_request", "a string"),
    (b"null", "invalid_request", "null"),
    (b"\xff\xfe{}", "invalid_json", "UTF-8"),
    (b'{"name": "\xed\xa0\x80"}', "invalid_json", "UTF-8"),
    (b'{"name": "add", "arguments": {"a": NaN}}', "invalid_json", "NaN"),
    (b'{"name": "add", "arguments": {"a": 1e999}}', "invalid_json", "finite"),
    (b'{"name": "add", "arguments": {"a": ' + b"9" * 5_000 + b"}}", "invalid_json", "JSON"),
    (b"[" * DEEP, "invalid_json", "deep"),
    (b'{"a":' * DEEP, "invalid_json", "deep"),
    (b'{"name": "add", "arguments": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}", "invalid_json", "deep"),
    (b"{}", "invalid_request", "name"),
    (b'{"name": ""}', "invalid_request", "name"),
    (b'{"name": 3}', "invalid_request", "name"),
    (b'{"name": "add", "arguments": [1]}', "invalid_request", "arguments"),
    (b'{"name": "add", "arguments": null}', "invalid_request", "arguments"),
    (b'{"name": "add", "id": 1}', "invalid_request", "id"),
    (b'{"name": "add", "extra": 1}', "invalid_request", "extra"),
]


@pytest.mark.parametrize(("body", "error", "words"), BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_bodies_that_are_no_calls(client: httpx.Client, body: bytes, error: str, words: str) -> None:
    session = opened(client)
    assert words in refused(post(client, f"/sessions/{session}/call", body), 400, error)
    assert call(client, session, "add", a=1, b=2) == ok(3)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
def test_bodies_of_other_types(client: httpx.Client, kind: str) -> None:
    assert "application/json" in refused(post(client, "/sessions", b"{}", kind), 415, "not_json")


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "application/x+json"])
def test_types_that_are_json(client: httpx.Client, kind: str) -> None:
    assert post(client, "/sessions", b"{}", kind).status_code == 201


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None, True])
def test_seeds_are_whole_numbers(client: httpx.Client, seed: Any) -> None:
    refused(client.post("/sessions", json={"seed": seed}), 400, "invalid_request")


def test_addresses_that_are_not_there_and_methods_that_are_not_taken(client: httpx.Client) -> None:
    refused(client.get("/"), 404, "not_found")
    refused(client.get("/sessions/"), 404, "not_found")  # and no redirect to a Host that the client made up
    answer = client.get("/sessions")
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"
    refused(client.options("/sessions"), 405, "method_not_allowed")
    refused(client.request("GET", "/tasks", content=b"{}"), 400, "invalid_request")
    assert client.head("/health").status_code == 200


# Whatever comes, it is an answer or a refusal.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=30)
@given(body=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_body_breaks_the_server(client: httpx.Client, fuzzed: str, body: bytes) -> None:
    for path in ("/sessions", f"/sessions/{fuzzed}/call", f"/sessions/{fuzzed}/tools/add", f"/sessions/{fuzzed}/turn"):
        answer = post(client, path, body)
        assert answer.status_code in (200, 201, 400, 404, 409), answer.text
        assert isinstance(answer.json(), dict)


@given(name=st.sampled_from(["add", "note", "x"]) | st.text(min_size=1), arguments=st.dictionaries(st.text(), JSON))
def test_no_arguments_break_the_server(client: httpx.Client, fuzzed: str, name: str, arguments: dict[str, Any]) -> None:
    body = json.dumps({"name": name, "arguments": arguments}).encode()
    answer = post(client, f"/sessions/{fuzzed}/call", body)
    assert answer.status_code == 200, answer.text
    ToolResult.from_dict(answer.json())


@pytest.fixture(scope="module")
def fuzzed(client: httpx.Client) -> str:
    return opened(client)


# Who is let in.


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": ""}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Bearer {TOKEN}, Bearer {TOKEN}"}, 401),
        ({"Authorization": b"Bearer \xff\xfe"}, 401),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"Authorization": f"bearer  {TOKEN}"}, 200),
    ],
)
def test_the_token_is_asked_for(guarded: httpx.Client, headers: dict[str, Any], status: int) -> None:
    for path in ("/tasks", "/tools", "/openapi.json", "/docs"):
        answer = guarded.get(path, headers=headers)
        assert answer.status_code == status
        if status == 401:
            assert TOKEN not in refused(answer, 401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
    refused_or_made = guarded.post("/sessions", json={}, headers=headers)
    assert refused_or_made.status_code == (201 if status == 200 else 401)


@pytest.fixture(scope="module")
def guarded() -> Iterator[httpx.Client]:
    with running(token=TOKEN) as client:
        yield client


def test_the_token_holds_for_every_name_of_the_machine_and_health_needs_none(guarded: httpx.Client) -> None:
    shown = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/tasks", headers={**shown, "Host": "tools.example.org"}).status_code == 200
    assert guarded.get("/health").json().keys() == {"status", "version"}
    refused(guarded.get("/nothing"), 401, "unauthorized")
    refused(guarded.get("/tasks", headers={**shown, "Origin": "https://evil.example"}), 403, "forbidden_origin")


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("LocalHost:8000", True), ("127.0.0.1:80", True), ("127.1.2.3", True), ("[::1]:8000", True),
     ("evil.example", False), ("localhost.evil.example", False), ("127.0.0.1.evil.example", False),
     ("evil.example:127", False), ("10.0.0.1", False), ("[::2]", False), ("localhost:80:80", False), ("", False),
     ("user@localhost", False), ("localhost/", False), ("0.0.0.0", False)],
)  # fmt: skip
def test_without_a_token_the_host_is_this_machine(client: httpx.Client, host: str, here: bool) -> None:
    assert is_loopback(host) is here
    for path in ("/health", "/tasks"):
        answer = client.get(path, headers={"Host": host})
        if here:
            assert answer.status_code == 200
        else:
            refused(answer, 403, "forbidden_host")


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://evil.example", 403), ("null", 403), ("http://localhost:1", 403), ("http://127.0.0.1", 403),
     ("file://", 403), ("garbage", 403), ("", 403), (None, 201)],
)  # fmt: skip
def test_web_pages_of_other_places_are_not_served(client: httpx.Client, origin: str | None, status: int) -> None:
    headers = {} if origin is None else {"Origin": origin}
    assert client.post("/sessions", json={}, headers=headers).status_code == status


def test_a_page_of_the_server_itself_may_call_it(client: httpx.Client) -> None:
    own = str(client.base_url).rstrip("/")
    assert client.post("/sessions", json={}, headers={"Origin": own}).status_code == 201
    assert "access-control-allow-origin" not in client.get("/health").headers


@pytest.mark.parametrize(
    "token", ["", "short", "has a space in the middle", "t\u00f6ken-t\u00f6ken-t\u00f6ken", "x" * 15, "line\nbreak" * 3]
)
def test_tokens_that_are_none(token: str) -> None:
    with pytest.raises(ConfigurationError, match="token"):
        check_token(token)
    with pytest.raises(ConfigurationError, match="token"):
        make_app(Tools().backend(), tools=TOOLS, token=token)


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLGYM_SERVE_TOKEN", raising=False)
    assert read_token() is None
    with pytest.raises(ConfigurationError, match="MY_TOKEN is not set"):
        read_token("MY_TOKEN")
    monkeypatch.setenv("CALLGYM_SERVE_TOKEN", f" {TOKEN}\n")
    assert read_token() == TOKEN
    monkeypatch.setenv("MY_TOKEN", "short")
    with pytest.raises(ConfigurationError) as caught:
        read_token("MY_TOKEN")
    assert "short" not in str(caught.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "tools.example.org", "127.0.0.1.nip.io"])
def test_other_addresses_need_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match="needs a token"):
        serve(Tools().backend(), tools=TOOLS, host=host, port=0)


@pytest.mark.parametrize("port", [-1, 65_536, "80", True])
def test_ports_are_checked(port: Any) -> None:
    with pytest.raises(ConfigurationError, match="port"):
        serve(Tools().backend(), tools=TOOLS, port=port)


def test_an_address_that_is_taken_is_said(client: httpx.Client) -> None:
    with pytest.raises(OSError, match="in use"):
        serve(Tools().backend(), tools=TOOLS, port=client.base_url.port or 0)


# What breaks inside.


@pytest.mark.parametrize("name", ["crash", "exit", "wrong", "nan"])
def test_a_bug_in_a_tool_is_a_500_that_the_log_knows(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    session = opened(client)
    call(client, session, "note", text="kept")
    with caplog.at_level(logging.INFO):
        answer = client.post(f"/sessions/{session}/call", json={"name": name, "arguments": {}})
    message = refused(answer, 500, "internal_error")
    key = answer.headers["x-request-id"]
    assert key in message
    assert key in caplog.text
    for text in (*own_log(caplog), answer.text):
        assert SECRET not in text
        assert session not in text
    if name == "crash":
        assert "ZeroDivisionError" in caplog.text
        assert "def crash" in caplog.text or "raise ZeroDivisionError" in caplog.text
    # The session is as the tool left it.
    assert client.get(f"/sessions/{session}/state").json()["notes"] == ["kept"]
    assert call(client, session, "add", a=1, b=2) == ok(3)


def test_what_an_exception_says_is_logged_for_those_who_ask(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "callgym.server"):
        client.post(f"/sessions/{opened(client)}/call", json={"name": "crash"})
    assert SECRET in caplog.text


def test_nothing_of_calls_is_logged(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        session = opened(client)
        call(client, session, "note", text=SECRET)
        call(client, session, SECRET)
        post(client, f"/sessions/{session}/call", SECRET.encode())
        client.get(f"/sessions/{session}/{SECRET}")
    assert own_log(caplog) == []


def own_log(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the server logged: the client of these tests has a log of its own, with addresses in it."""
    return [record.getMessage() for record in caplog.records if not record.name.startswith("http")]


def test_a_close_that_fails_is_said_or_logged(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    backend = ClosingBackend([], fails=True)
    with running(backend, tools=[ADD], clock=lambda: now[0]) as client:
        session = opened(client)
        refused(client.delete(f"/sessions/{session}"), 500, "internal_error")
        refused(client.delete(f"/sessions/{session}"), 404, "unknown_session")
        opened(client)
        caplog.clear()
        now[0] = 10_000
        assert client.get("/tasks").status_code == 200
        wait_until(lambda: "OSError" in caplog.text)
        assert SECRET not in caplog.text


def test_a_state_that_is_not_known_is_a_refusal_and_turns_are_for_those_who_look_at_them() -> None:
    class Stateless(PythonBackend):
        def open(self, task: Task, seed: int) -> Any:
            session = super().open(task, seed)

            def state() -> dict[str, Any]:
                raise UnknownState("a recording holds none")

            session.state = state  # type: ignore[method-assign]
            return session

    with running(Stateless({}), tools=[ADD]) as client:
        session = opened(client)
        assert "holds none" in refused(client.get(f"/sessions/{session}/state"), 409, "unknown_state")
        refused(client.post(f"/sessions/{session}/turn", json={"made": 1}), 409, "no_turns")
        refused(client.post(f"/sessions/{session}/turn", json={"made": -1}), 400, "invalid_request")


def test_a_backend_that_cannot_open_is_a_500_and_holds_no_place() -> None:
    class Broken:
        def open(self, task: Task, seed: int) -> Any:
            raise RuntimeError(SECRET)

    with running(Broken(), ServerLimits(max_sessions=1), tools=[ADD]) as client:
        for _ in range(3):
            refused(client.post("/sessions", json={}), 500, "internal_error")


def test_a_session_that_opens_or_closes_too_slowly_is_not_waited_for() -> None:
    tools, closed = Tools(), list[int]()

    class Slow(ClosingBackend):
        def open(self, task: Task, seed: int) -> Any:
            if seed == 1:
                tools.wake.wait(10)
            session = super().open(task, seed)
            if seed == 2:
                session.close = lambda: closed.append(tools.wake.wait(10))
            return session

    with running(Slow(closed), ServerLimits(call_seconds=0.2), tools=[ADD]) as client:
        assert "not be opened" in refused(client.post("/sessions", json={"seed": 1}), 503, "busy")
        assert client.delete(f"/sessions/{opened(client, seed=2)}").status_code == 204
        assert closed == []
        tools.wake.set()
        wait_until(lambda: len(closed) == 2)


def test_a_late_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tools = Tools()

    def late(world: World) -> None:
        tools.wake.wait(10)
        raise KeyError(SECRET)

    limits = ServerLimits(call_seconds=0.2)
    with running(PythonBackend({"late": late}), limits, tools=[tool("late")]) as client:
        assert call(client, opened(client), "late")["error"] == "timeout"
        tools.wake.set()
        wait_until(lambda: "KeyError" in caplog.text)
        assert SECRET not in caplog.text


# Documents.


def test_the_openapi_document_describes_every_tool(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    add = document["paths"]["/sessions/{session}/tools/add"]["post"]
    assert add["requestBody"]["content"]["application/json"]["schema"] == ADD.parameters
    assert "/sessions/{session}/tools/odd%20name%2Fwith.everything%3F" in document["paths"]
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids))
    assert all(
        "{session}" not in path or operation["parameters"]
        for path, item in document["paths"].items()
        for operation in item.values()
    )
    for path, item in document["paths"].items():  # and every address that is described is there
        for method in item:
            answer = client.request(method, path.replace("{session}", "x"), json={} if method == "post" else None)
            assert answer.status_code in (200, 201, 400, 404), path
            assert answer.json().get("error") != "not_found"


def test_schemas_that_refer_to_themselves_still_do() -> None:
    tree: dict[str, Any] = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    with running(PythonBackend({}), tools=[Tool(name="walk", parameters=tree)]) as client:
        document = client.get("/openapi.json").json()
    schema = document["paths"]["/sessions/{session}/tools/walk"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert schema["$id"] == "urn:callgym:walk:parameters"
    assert {**schema, "$id": None} == {**tree, "$id": None}
    checked = ToolSchema(Tool(name="walk", parameters=schema))
    assert checked.check({"node": {"next": {"next": {}}}}) is None
    assert checked.check({"node": {"next": 3}}) is not None


def test_a_server_of_many_tools_describes_some_of_them() -> None:
    tasks = [task_of([tool(f"t{number}") for number in range(700)], id="many"), task_of([ADD], id="few")]
    with running(PythonBackend({}), tasks=tasks) as client:
        document = client.get("/openapi.json").json()
        assert "500 of 701" in document["info"]["description"]
        few = client.get("/openapi.json?task=few").json()
        assert [path for path in few["paths"] if "/tools/" in path] == ["/sessions/{session}/tools/add"]
        assert "and 501 more" in client.get("/docs").text.lower()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_the_page_is_text_and_nothing_that_runs() -> None:
    evil = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    tools = [Tool(name=evil, description=evil, parameters={"type": "object", "properties": {evil: {"title": evil}}})]
    with running(PythonBackend({}), tools=tools, name=evil) as client:
        answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    parser = Tags()
    parser.feed(answer.text)
    known = "html head meta title style body h1 h2 h3 p pre code table tr td"
    assert set(parser.tags) <= set(known.split())
    assert {name for name, _ in parser.attributes} <= {"lang", "charset"}
    assert "http" not in answer.text.replace("http://HOST:PORT", "")
    assert "&lt;script&gt;" in answer.text


# What a server is made of.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"backend": PythonBackend({})}, "does not know its tools"),
        ({"backend": PythonBackend({}), "tools": []}, "at least one tool"),
        ({"backend": PythonBackend({}), "tasks": []}, "at least one task"),
        ({"backend": PythonBackend({}), "tools": [ADD], "tasks": [task_of([ADD])]}, "not both"),
        ({"backend": PythonBackend({}), "tools": [ADD], "env_options": {}}, "env_options"),
        ({"backend": "apibank/L1-v0", "tools": [ADD]}, "id alone"),
        ({"backend": "CartPole-v1"}, "no tool environment"),
        ({"backend": PythonBackend({}), "tools": [ADD], "limits": {"max_sessions": 3}}, "ServerLimits"),
    ],
)
def test_servers_that_cannot_be_made(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        make_app(**arguments)


def test_a_backend_that_knows_its_tools_needs_no_list() -> None:
    class Knowing(PythonBackend):
        tools = (ADD,)

    with running(Knowing({"add": Tools().add})) as client:
        assert call(client, opened(client), "add", a=2, b=3) == ok(5)


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_package_that_is_missing_is_said(package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from callgym.errors import MissingPackageError\n"
        "try:\n"
        "    from callgym.tool_backends.server.run import serve\n"
        "    serve('apibank/L1-v0', env_options={'data': 'starter'}, port=0)\n"
        "except MissingPackageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert f"{package} is not installed; it comes with: pip install 'callgym[serve]'" in done.stdout


def test_an_offer_is_served_as_it_is() -> None:
    offer = Offer("mine", Tools().backend(), [task_of([ADD])])
    with running(offer) as client:
        assert client.get("/tasks").json()["name"] == "mine"


def test_the_server_runs_in_the_foreground_until_it_is_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    servers: list[uvicorn.Server] = []
    original = uvicorn.Server.run

    def run(self: uvicorn.Server, *args: Any, **options: Any) -> None:
        servers.append(self)
        original(self, *args, **options)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    announced: list[str] = []
    options: dict[str, Any] = {"tools": TOOLS, "port": 0, "announce": announced.append, "token": TOKEN}
    thread = threading.Thread(target=serve, args=(Tools().backend(),), kwargs=options, daemon=True)
    thread.start()
    wait_until(lambda: bool(announced))
    assert urlsplit(announced[0]).hostname == "127.0.0.1"
    answer = httpx.get(f"{announced[0]}/tasks", headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False)
    assert answer.json()["total"] == 1
    servers[0].should_exit = True
    thread.join(5)
    assert not thread.is_alive()
