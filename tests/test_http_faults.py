"""Servers that hang, flood, lie or die: each call ends within its limit as a typed result, and the next call works."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import random
import socket
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Task, Tool, ToolCall, ToolResult
from callgym.tool_backends.http import Endpoint, HttpLimits, HttpSession, RestBackend
from callgym.tool_backends.http.body import BodyReader
from callgym.tool_backends.http.exchange import exchange
from callgym.tool_backends.http.idle import IdleConnections
from callgym.tool_backends.http.limits import RateLimit
from callgym.tool_backends.http.message import Exchange, Failure, Origin, Reply, Request, Send, Wait
from callgym.tool_backends.portal import portal

TASK = Task.from_dict(
    {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "hello"}],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)
HERE = Origin(b"http", b"host", 80)
LIMIT_S = 0.2
QUICK = HttpLimits(timeout_s=5, attempts=3, backoff_s=0.001)
CALL = ToolCall(name="look")
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\ntrue"
BAD_TURN = Callable[[socket.socket, threading.Event], None]


class RawServer:
    """Speaks bytes: what ``behave`` does with each connection that has asked for something."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.behave: BAD_TURN = good
        self.connections = 0
        self.asked: list[bytes] = []
        self.over = threading.Event()
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                while request := read_request(connection):
                    self.asked.append(request)
                    self.behave(connection, self.over)
        except (OSError, StopServing):
            pass

    def close(self) -> None:
        self.over.set()
        self._listener.close()


class StopServing(Exception):
    """The connection is closed."""


def read_request(connection: socket.socket) -> bytes:
    """A request with its body, or nothing where the client is gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            while len(body) < int(line.split(b":")[1]):
                body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


# Behaviours.


def good(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(GOOD)


def silence(connection: socket.socket, over: threading.Event) -> None:
    over.wait(10)


def drip(start: bytes, drop: bytes) -> BAD_TURN:
    """A byte now and then, for ever: each of them well within any pause that may be taken."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(start)
        while not over.wait(0.02):
            connection.sendall(drop)

    return behave


def flood(start: bytes, piece: bytes) -> BAD_TURN:
    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(start)
        while not over.is_set():
            connection.sendall(piece)

    return behave


def say(answer: bytes, close: bool = True) -> BAD_TURN:
    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(answer)
        if close:
            raise StopServing

    return behave


def reset(connection: socket.socket, over: threading.Event) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    raise StopServing


def body(content: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
BOMB = gzip.compress(b"[" + b"0," * 20_000_000 + b"0]")
DOUBLE_BOMB = gzip.compress(gzip.compress(b"0" * 50_000_000))

FAULTS: dict[str, tuple[BAD_TURN, str, str]] = {
    "silence": (silence, "timeout", "0.2 s"),
    "slow status line": (drip(b"", b"H"), "timeout", "0.2 s"),
    "slow headers": (drip(b"HTTP/1.1 200 OK\r\nX: ", b"x"), "timeout", "0.2 s"),
    "many slow headers": (drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "timeout", "0.2 s"),
    "slow body": (drip(body(b"")[:-4].replace(b"Length: 0", b"Length: 9999") + b"\r\n\r\n", b" "), "timeout", "0.2 s"),
    "slow chunks": (drip(CHUNKED, b"1\r\n \r\n"), "timeout", "0.2 s"),
    "interim responses": (flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50), "unavailable", "broke"),
    "body without length": (drip(ENDLESS, b" "), "timeout", "0.2 s"),
    "endless body": (flood(ENDLESS, b"1234567890" * 1000), "tool_error", "too long"),
    "endless chunks": (flood(CHUNKED, b"5\r\n12345\r\n" * 1000), "tool_error", "too long"),
    "endless headers": (flood(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000), "unavailable", "connection broke"),
    "a huge header": (say(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 2_000_000 + b"\r\n\r\n"), "unavailable", "broke"),
    "a huge length": (say(body(b"").replace(b"Length: 0", b"Length: 99999999999"), close=False), "timeout", "0.2 s"),
    "gzip bomb": (say(body(BOMB, "Content-Encoding: gzip")), "tool_error", "too long"),
    "gzip in gzip": (say(body(DOUBLE_BOMB, "Content-Encoding: gzip, gzip")), "tool_error", "compressed in a way"),
    "endless gzip": (flood(ENDLESS.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + BOMB[:10],
                           b"\x00\x00\x00\xff\xff" * 1000), "tool_error", "too long"),
    "cut gzip": (say(body(gzip.compress(b"[1, 2, 3]")[:-9], "Content-Encoding: gzip")), "tool_error", "breaks off"),
    "invalid JSON": (say(body(b'{"a": ')), "tool_error", "not valid JSON"),
    "not HTTP": (say(b"SSH-2.0-OpenSSH_9.6\r\n"), "unavailable", "broke"),
    "a wrong status": (say(b"HTTP/1.1 banana OK\r\n\r\n"), "unavailable", "broke"),
    "a wrong length": (say(body(b"true").replace(b"Length: 4", b"Length: -4")), "unavailable", "broke"),
    "two lengths": (say(body(b"true", "Content-Length: 99")), "unavailable", "broke"),
    "wrong chunks": (say(CHUNKED + b"zz\r\ntrue\r\n"), "unavailable", "broke"),
    "another protocol": (say(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
                         "unavailable", "broke"),
    "death before the answer": (say(b""), "unavailable", "broke"),
    "death in the headers": (say(b"HTTP/1.1 200 OK\r\nContent-"), "unavailable", "broke"),
    "death in the body": (say(body(b"true").replace(b"Length: 4", b"Length: 9")), "unavailable", "broke"),
    "a reset connection": (reset, "unavailable", "broke"),
    "another host": (say(body(b"", "Location: http://127.0.0.2:1/", status="302 Oh")), "unavailable", "not followed"),
    "round in a circle": (say(body(b"", "Location: /", status="302 Oh")), "unavailable", "not followed"),
    "500 storm": (say(body(b'{"message": "boom"}', status="500 Oh")), "unavailable", "500 Internal Server Error"),
    "503 storm": (say(body(b"{}", "Retry-After: 0", status="503 Oh")), "unavailable", "503 Service Unavailable"),
    "come back tomorrow": (say(body(b"{}", "Retry-After: 86400", status="429 Oh")), "unavailable", "429"),
}  # fmt: skip


@pytest.fixture(scope="module")
def running() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


@pytest.fixture
def server(running: RawServer) -> Iterator[RawServer]:
    running.behave, running.over = good, threading.Event()
    running.asked.clear()
    yield running
    running.over.set()


def make_session(url: str, method: Any = "GET", **options: Any) -> HttpSession:
    limits = {"timeout_s": LIMIT_S, "backoff_s": 0.001, "max_response_bytes": 100_000, **options}
    endpoint = Endpoint(tool=Tool(name="look", parameters={"type": "object"}), url=url, method=method)
    return RestBackend([endpoint], limits=HttpLimits(**limits)).open(TASK, 0)


def run_call(session: HttpSession, how: str) -> ToolResult:
    return session.call(CALL) if how == "sync" else portal().run(session.acall(CALL))


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults(server: RawServer, fault: str, how: str) -> None:
    server.behave, error, words = FAULTS[fault]
    # What ends by its size ends long before its time is up.
    session = make_session(server.url, timeout_s=LIMIT_S if error == "timeout" else 10)
    started = time.monotonic()
    result = run_call(session, how)
    assert result.error == error, result
    assert words in result.message
    assert len(result.message) <= 400
    assert "127.0.0" not in result.message
    assert "Traceback" not in result.message
    assert time.monotonic() - started < 9  # an order of magnitude: that it ended, not how fast
    server.over.set()
    server.behave = good
    session._backend.limits = HttpLimits(timeout_s=10)  # whatever else keeps this machine busy
    assert run_call(session, how).content is True


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_server_that_dies_is_asked_again_if_that_does_no_harm(server: RawServer, how: str) -> None:
    turns = iter([say(b""), reset, good])
    server.behave = lambda connection, over: next(turns)(connection, over)
    assert run_call(make_session(server.url, timeout_s=10), how).content is True
    assert len(server.asked) == 3
    server.asked.clear()
    server.behave = say(b"")
    assert run_call(make_session(server.url, "POST", timeout_s=10), how).error == "unavailable"
    assert len(server.asked) == 1


@pytest.mark.parametrize("how", ["sync", "async"])
def test_nobody_is_there(how: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    session = make_session(f"http://127.0.0.1:{port}/", "POST", timeout_s=10)
    result = run_call(session, how)
    assert (result.error, "cannot be reached" in result.message) == ("unavailable", True)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_name_that_nobody_has(how: str) -> None:
    result = run_call(make_session("http://nowhere.invalid/", timeout_s=1.0), how)
    assert result.error in ("unavailable", "timeout")  # the system's resolver may take its time


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_resolver_that_hangs(monkeypatch: Any, how: str) -> None:
    over = threading.Event()
    real = socket.getaddrinfo

    def hang(host: Any, *args: Any, **options: Any) -> Any:
        if options.get("flags", 0) & socket.AI_NUMERICHOST or host == "127.0.0.1":
            return real(host, *args, **options)
        over.wait(10)
        raise socket.gaierror("no")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    assert run_call(make_session("http://slow.invalid/"), how).error == "timeout"
    over.set()


@pytest.mark.parametrize("how", ["sync", "async"])
def test_connecting_hangs(how: str) -> None:
    """A listener whose queue is full takes no more connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        waiting = []
        for _ in range(4):
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(address)
        result = run_call(make_session(f"http://127.0.0.1:{address[1]}/"), how)
        assert result.error == "timeout"
        for one in waiting:
            one.close()


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_server_that_does_not_listen_to_the_end(server: RawServer, how: str) -> None:
    """It takes no more of a long request: sending it hangs."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        endpoint = Endpoint(
            tool=Tool(name="look", parameters={"type": "object", "properties": {"text": {}}}),
            url=f"http://127.0.0.1:{listener.getsockname()[1]}/",
            method="POST",
        )
        limits = HttpLimits(timeout_s=LIMIT_S, max_request_bytes=20_000_000)
        session = RestBackend([endpoint], limits=limits).open(TASK, 0)
        call = ToolCall(name="look", arguments={"text": "x" * 15_000_000})
        result = session.call(call) if how == "sync" else portal().run(session.acall(call))
        assert result.error == "timeout"


@pytest.mark.parametrize("how", ["sync", "async"])
def test_connections_are_used_again_and_dead_ones_are_not(server: RawServer, how: str) -> None:
    session = make_session(server.url, timeout_s=10)
    before = server.connections
    for _ in range(5):
        assert run_call(session, how).ok
    assert server.connections == before + 1
    server.behave = say(GOOD)  # and goodbye
    assert run_call(session, how).ok
    server.behave = good
    assert run_call(session, how).ok
    assert server.connections == before + 2


@pytest.mark.parametrize("how", ["sync", "async"])
def test_what_is_left_over_of_an_answer_is_not_the_next_one(server: RawServer, how: str) -> None:
    session = make_session(server.url, "POST", timeout_s=10)
    for more in (b" and more", GOOD.replace(b"true", b"null")):
        server.behave = say(GOOD + more, close=False)
        assert run_call(session, how).content is True
        server.behave = good
        assert run_call(session, how).content is True


def test_others_have_their_turn_while_a_server_floods(server: RawServer) -> None:
    flooding = make_session(server.url, timeout_s=LIMIT_S, max_response_bytes=10**9)
    server.behave = flood(CHUNKED, b"1\r\n1\r\n" * 10_000)
    turns = 0

    async def both() -> ToolResult:
        nonlocal turns
        call = asyncio.ensure_future(flooding.acall(CALL))
        while not call.done():
            await asyncio.sleep(0)
            turns += 1
        return await call

    assert portal().run(both()).error == "timeout"
    assert turns > 5


@pytest.mark.parametrize("how", ["sync", "async"])
def test_interim_responses_are_passed_over(server: RawServer, how: str) -> None:
    server.behave = say(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3 + GOOD, close=False)
    assert run_call(make_session(server.url, timeout_s=10), how).content is True


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("size", [1, 20_000, 900_000])
def test_long_answers_arrive_whole(server: RawServer, how: str, size: int) -> None:
    content = b'"' + b"x" * size + b'"'
    server.behave = say(body(content), close=False)
    session = make_session(server.url, timeout_s=10, max_response_bytes=1_000_000)
    for _ in range(2):
        assert run_call(session, how).content == "x" * size


def test_idle_connections_grow_old_and_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("callgym.tool_backends.http.idle.time.monotonic", lambda: now[0])

    class Line:
        is_quiet = True
        closed = False

        def close(self) -> None:
            self.closed = True

    lines = [Line() for _ in range(4)]
    idle: IdleConnections[Line] = IdleConnections()
    for number, line in enumerate(lines):
        now[0] = float(number)
        idle.put(HERE, line)
    assert idle.take(HERE) is lines[3]
    now[0] = 5.5
    idle.put(HERE, lines[3])
    assert [line.closed for line in lines] == [True, True, False, False]
    lines[3].is_quiet = False
    assert idle.take(HERE) is lines[2]
    assert lines[3].closed
    assert idle.take(HERE) is None
    idle.put(HERE, lines[2])
    idle.clear()
    assert lines[2].closed


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_server_may_close_a_connection_when_the_next_request_is_on_its_way(server: RawServer, how: str) -> None:
    answered = set()

    def once(connection: socket.socket, over: threading.Event) -> None:
        if connection in answered:
            raise StopServing
        answered.add(connection)
        connection.sendall(GOOD)

    server.behave = once
    session = make_session(server.url, timeout_s=10, attempts=1)
    before = server.connections
    assert [run_call(session, how).content for _ in range(4)] == [True] * 4
    assert (server.connections - before, len(server.asked)) == (4, 7)
    session = make_session(server.url, "POST", timeout_s=10)
    assert [run_call(session, how).error for _ in range(2)] == [None, "unavailable"]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_connections_can_be_closed(server: RawServer, how: str) -> None:
    session = make_session(server.url, timeout_s=10)
    before = server.connections
    session._backend.close()
    assert run_call(session, how).ok
    session._backend.close()
    assert run_call(session, how).ok
    assert server.connections == before + 2


def test_long_text_is_cut_where_text_may_be(server: RawServer) -> None:
    server.behave = say(body("é".encode() * 60_000).replace(b"application/json", b"text/plain"))
    result = make_session(server.url, timeout_s=10).call(CALL)
    assert result.content == "é" * 50_000 + "\n[cut: the answer is longer than 100000 bytes]"


def test_waiting_calls_can_be_called_off(server: RawServer) -> None:
    server.behave = silence
    session = make_session(server.url, timeout_s=10)

    async def call_off() -> None:
        async with asyncio.timeout(0.1):
            await session.acall(CALL)

    with pytest.raises(TimeoutError):
        asyncio.run(call_off())
    server.over.set()
    server.behave = good
    assert run_call(session, "async").ok


def test_a_forked_process_has_connections_of_its_own(server: RawServer) -> None:
    session = make_session(server.url, timeout_s=10)
    assert run_call(session, "sync").ok
    assert run_call(session, "async").ok
    before = server.connections
    child = os.fork()
    if child == 0:  # pragma: no cover
        fine = run_call(session, "sync").ok and run_call(session, "async").ok
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert server.connections == before + 2
    assert run_call(session, "sync").ok
    assert run_call(session, "async").ok
    assert server.connections == before + 2


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
               "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("openssl is not here")
    return folder


@pytest.mark.parametrize("how", ["sync", "async"])
def test_certificates_are_checked(certificate: Path, how: str) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    server = RawServer(tls)
    endpoint = Endpoint(tool=Tool(name="look", parameters={"type": "object"}), url=server.url)
    limits = HttpLimits(timeout_s=10, backoff_s=0.001)
    strangers = RestBackend([endpoint], limits=limits).open(TASK, 0)
    assert run_call(strangers, how).error == "unavailable"
    assert server.asked == []
    friends = RestBackend([endpoint], limits=limits, ca_file=certificate / "cert.pem").open(TASK, 0)
    assert run_call(friends, how).content is True
    server.behave = drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n")
    friends._backend.limits = HttpLimits(timeout_s=LIMIT_S)
    assert run_call(friends, how).error == "timeout"
    server.close()


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_handshake_that_drips(how: str) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with contextlib.suppress(OSError):  # who is fed up hangs up
            connection.sendall(b"\x16\x03\x03\x3f\xff")
            while not over.wait(0.02):
                connection.sendall(b"\x02")

    threading.Thread(target=serve, daemon=True).start()
    result = run_call(make_session(f"https://127.0.0.1:{server.getsockname()[1]}/"), how)
    assert result.error in ("timeout", "unavailable")
    over.set()
    server.close()


# Bodies, piece by piece.


@pytest.mark.parametrize("encoding", ["", "identity", "gzip", "X-GZIP", "deflate", "raw"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_bodies_are_the_same_in_any_pieces(encoding: str, size: int) -> None:
    content = b"abc" * 1000
    packed = content
    if encoding.lower().endswith("gzip"):
        packed = gzip.compress(content)
    elif encoding == "deflate":
        packed = zlib.compress(content)
    elif encoding == "raw":
        packer = zlib.compressobj(wbits=-15)
        packed, encoding, size = packer.compress(content) + packer.flush(), "deflate", max(size, 7)
    reader = BodyReader(encoding, 3000)
    for start in range(0, len(packed), size):
        assert reader.feed(packed[start : start + size])
    assert (reader.finish(), reader.fault, reader.cut) == (content, "", False)
    short = BodyReader(encoding, 2999)
    for start in range(0, len(packed), size):
        short.feed(packed[start : start + size])
    assert (short.finish(), short.cut) == (content[:2999], True)


# Attempts, waits and redirects, without a network.

OK = Reply(200, {}, b"1")


def read_status(reply: Reply) -> ToolResult:
    return ToolResult(content=reply.status)


def play(
    outcomes: list[Reply | Failure], *, method: str = "GET", limits: HttpLimits = QUICK, **options: Any
) -> tuple[ToolResult, list[Request], list[float]]:
    """Run a call against these outcomes; what it sent and how long it waited."""
    now = [100.0]
    request = Request(method, HERE, b"/a/b?c=1", ((b"Content-Length", b"2"),), b"{}", method in ("GET", "PUT"))
    options = {"deadline": 100.0 + limits.timeout_s, "clock": lambda: now[0], **options}
    work: Exchange = exchange(request, read_status, limits=limits, **options)
    sent, waited = [], []
    try:
        step = next(work)
        while True:
            if isinstance(step, Wait):
                waited.append(step.seconds)
                now[0] += step.seconds
                step = work.send(None)
            else:
                assert isinstance(step, Send)
                sent.append(step.request)
                step = work.send(outcomes[len(sent) - 1])
    except StopIteration as done:
        return done.value, sent, waited


LOST, UNREACHABLE, LATE = Failure("lost"), Failure("unreachable"), Failure("timeout")
ATTEMPTS: list[tuple[list[Reply | Failure], str, int, Any]] = [
    ([OK], "GET", 1, 200),
    ([Reply(503, {}), OK], "GET", 2, 200),
    ([Reply(503, {}), Reply(429, {}), OK], "PUT", 3, 200),
    ([Reply(502, {})] * 3, "GET", 3, 502),
    ([Reply(503, {}), OK], "POST", 1, 503),
    ([Reply(500, {}), OK], "GET", 1, 500),
    ([Reply(404, {}), OK], "GET", 1, 404),
    ([LOST, OK], "GET", 2, 200),
    ([LOST, OK], "POST", 1, "unavailable"),
    ([UNREACHABLE, OK], "POST", 2, 200),
    ([UNREACHABLE] * 3, "POST", 3, "unavailable"),
    ([LATE, OK], "GET", 1, "timeout"),
    ([Reply(503, {"retry-after": "2"}), OK], "GET", 2, 200),
    ([Reply(503, {"retry-after": "9"}), OK], "GET", 1, 503),
    ([Reply(503, {"retry-after": "soon"}), OK], "GET", 2, 200),
    ([Reply(503, {"retry-after": "9" * 30}), OK], "GET", 2, 200),
    ([Reply(408, {}), Reply(425, {}), Reply(504, {}), OK], "GET", 3, 504),
]  # fmt: skip


@pytest.mark.parametrize(("outcomes", "method", "attempts", "expected"), ATTEMPTS)
def test_attempts(outcomes: list[Reply | Failure], method: str, attempts: int, expected: Any) -> None:
    result, sent, waited = play(outcomes, method=method)
    assert len(sent) == attempts
    assert len(waited) == attempts - 1
    assert (result.error or result.content) == expected


def test_who_met_the_closing_door_knocks_again_and_has_lost_no_attempt() -> None:
    door = Failure("lost", reused=True)
    result, sent, waited = play([door, LOST, door, LOST, OK])
    assert (result.content, len(sent), len(waited)) == (200, 5, 2)
    assert play([door, OK], limits=HttpLimits(attempts=1))[0].content == 200
    result, sent, _ = play([door, OK], method="POST")
    assert (result.error, len(sent)) == ("unavailable", 1)


def test_waits_double_and_heed_the_server() -> None:
    limits = HttpLimits(timeout_s=60, attempts=4, backoff_s=0.5)
    assert play([LOST, LOST, LOST, OK], limits=limits, jitter=lambda: 0.5)[2] == [0.5, 1.0, 2.0]
    date = {"date": "Mon, 30 Nov 2026 10:00:00 GMT", "retry-after": "Mon, 30 Nov 2026 10:00:07 GMT"}
    assert play([Reply(503, date), OK], limits=limits)[2] == [7.0]
    assert play([Reply(503, {"retry-after": "3"}), OK], limits=limits)[2] == [3.0]


def test_waits_are_drawn_from_the_seed() -> None:
    limits = HttpLimits(timeout_s=60, attempts=4, backoff_s=0.5)

    def waits(seed: int) -> list[float]:
        return play([LOST, LOST, LOST, OK], limits=limits, jitter=random.Random(seed).random)[2]

    assert waits(1) == waits(1) != waits(2)


def to(place: str, status: int = 302) -> Reply:
    return Reply(status, {"location": place})


REDIRECTS: list[tuple[Reply, str, bytes, str]] = [
    (to("/new"), "GET", b"/new", "GET"),
    (to("new?x=1"), "GET", b"/a/new?x=1", "GET"),
    (to("http://host/new"), "GET", b"/new", "GET"),
    (to("http://host:80/new"), "GET", b"/new", "GET"),
    (to("HTTP://HOST/new"), "GET", b"/new", "GET"),
    (to("/new", 307), "POST", b"/new", "POST"),
    (to("/new", 308), "POST", b"/new", "POST"),
    (to("/new", 302), "POST", b"/new", "GET"),
    (to("/new", 303), "PUT", b"/new", "GET"),
    (to("/new", 301), "PUT", b"/new", "PUT"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "method", "target", "then"), REDIRECTS)
def test_redirects_on_the_same_host_are_followed(reply: Reply, method: str, target: bytes, then: str) -> None:
    result, sent, _ = play([reply, OK], method=method)
    assert result.content == 200
    assert (sent[1].origin, sent[1].target, sent[1].method) == (HERE, target, then)
    assert bool(sent[1].body) == (then != "GET" or method == "GET")


@pytest.mark.parametrize(
    "place",
    ["http://evil/", "https://host/", "http://host:81/", "//evil/x", "http://host@evil/", "http://user@host/", "",
     "http://[", "ftp://host/", "http://host.evil/", "javascript:alert(1)", "\\\\evil\\x", "http://\x00/"],
)  # fmt: skip
def test_redirects_elsewhere_are_not(place: str) -> None:
    result, sent, _ = play([to(place), OK])
    assert result.error == "unavailable" or sent[1].origin == HERE
    if place in ("", "\\\\evil\\x"):
        return
    assert len(sent) == 1
    assert "evil" not in result.message


def test_redirects_come_to_an_end() -> None:
    result, sent, _ = play([to("/x")] * 9)
    assert (result.error, len(sent)) == ("unavailable", 4)
    assert play([Reply(302, {}), OK])[0].error == "unavailable"
    assert len(play([to("/x")] * 9, limits=HttpLimits(max_redirects=0))[1]) == 1


def test_the_rate_is_kept_and_waits_count_as_time() -> None:
    rate = RateLimit(2.0)
    assert play([OK], rate=rate)[2] == []
    assert play([OK], rate=rate)[2] == [0.5]
    assert play([OK], rate=rate)[2] == [1.0]
    result, sent, _ = play([OK], rate=rate, deadline=101.0)
    assert (result.error, sent) == ("unavailable", [])


@given(st.lists(st.floats(0, 3), max_size=30), st.floats(0.5, 20), st.integers(1, 5))
def test_no_more_requests_leave_than_the_rate_allows(pauses: list[float], per_second: float, burst: int) -> None:
    rate = RateLimit(per_second, burst)
    now, left = 0.0, []
    for pause in pauses:
        now += pause
        wait = rate.reserve(now, 1e9)
        assert wait is not None
        left.append(now + wait)
    for first, start in enumerate(left):
        inside = [at for at in left[first:] if at < start + 1.0 - 1e-6]
        assert len(inside) <= burst + per_second
