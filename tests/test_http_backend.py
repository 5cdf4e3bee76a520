"""Tools that are services: where arguments go, what answers mean, keys, sessions, JSON-RPC, ToolBench."""

from __future__ import annotations

import asyncio
import http.server
import json
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError, DataError, MissingPackageError
from callgym.schema import ToolSchema
from callgym.tool_backends import ToolBackend, WaitingSession, WrappedSession, acall, waits
from callgym.tool_backends.base import UnknownState
from callgym.tool_backends.http import (
    Argument,
    Endpoint,
    HttpLimits,
    HttpSession,
    JsonRpcBackend,
    Key,
    RestBackend,
    ToolServerBackend,
    read_apis,
    tool_of_query,
)
from callgym.tool_backends.http.answers import clean
from callgym.tool_backends.http.toolbench import standard_name
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
QUICK = HttpLimits(timeout_s=5, attempts=3, backoff_s=0.001)
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)


Answer = tuple[int, dict[str, str], bytes]


def json_answer(value: Any, status: int = 200) -> Answer:
    return status, JSON, json.dumps(value).encode()


class Service:
    """A server on loopback that answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.answer: Callable[[Seen], Answer] = lambda seen: json_answer({"ok": True})
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.requestline.split()[1], headers, self.rfile.read(length))
                service.seen.append(seen)
                status, more, body = service.answer(seen)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

            def log_message(self, *args: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


@pytest.fixture
def service(running: Service) -> Service:
    running.seen.clear()
    running.answer = lambda seen: json_answer({"ok": True})
    return running


def tool(name: str = "look", required: tuple[str, ...] = (), **properties: Any) -> Tool:
    return Tool(name=name, parameters={"type": "object", "properties": dict(properties), "required": list(required)})


def call_tool(session: HttpSession, call: ToolCall, how: str = "sync") -> ToolResult:
    if how == "sync":
        return session.call(call)
    return asyncio.run(session.acall(call)) if how == "async" else portal().run(session.acall(call))


def ask(endpoint: Endpoint, arguments: dict[str, Any] | None = None, how: str = "sync", **options: Any) -> ToolResult:
    backend = RestBackend([endpoint], **{"limits": QUICK, **options})
    call = ToolCall(name=endpoint.tool.name, arguments=arguments or {})
    return call_tool(backend.open(TASK, 0), call, how)


# Where arguments go.

TEXT = {"type": "string"}
WHERE: list[tuple[str, dict[str, Any], dict[str, Any], str, str | None]] = [
    ("GET", {}, {"a": "Rome"}, "/x?a=Rome", None),
    ("GET", {}, {"a": "a b&c=d?#/é\r\nX: y"}, "/x?a=a%20b%26c%3Dd%3F%23%2F%C3%A9%0D%0AX%3A%20y", None),
    ("GET", {}, {"a": True, "b": None, "c": 1.5}, "/x?a=true&c=1.5", None),
    ("GET", {}, {"a": [1, "b"]}, "/x?a=1&a=b", None),
    ("GET", {"a": {"style": "comma"}}, {"a": [1, "b"]}, "/x?a=1%2Cb", None),
    ("GET", {"a": {"style": "pipe"}}, {"a": [1, "b"]}, "/x?a=1%7Cb", None),
    ("GET", {"a": {"style": "space"}}, {"a": [1, "b"]}, "/x?a=1%20b", None),
    ("GET", {"a": {"style": "json"}}, {"a": [1, "b"]}, "/x?a=%5B1%2C%20%22b%22%5D", None),
    ("GET", {"a": {"style": "deep"}}, {"a": {"k": 1}}, "/x?a%5Bk%5D=1", None),
    ("GET", {"a": {"style": "spread"}}, {"a": {"k": 1, "l": "m"}}, "/x?k=1&l=m", None),
    ("GET", {"a": {"style": "comma"}}, {"a": {"k": 1}}, "/x?a=k%2C1", None),
    ("GET", {}, {"a": {"k": 1}}, "/x?a=%7B%22k%22%3A%201%7D", None),
    ("GET", {"a": {"name": "filter[a]"}}, {"a": "1"}, "/x?filter%5Ba%5D=1", None),
    ("DELETE", {}, {"a": "1"}, "/x?a=1", None),
    ("POST", {}, {"a": "1", "b": None}, "/x", '{"a": "1", "b": null}'),
    ("POST", {}, {}, "/x", "{}"),
    ("PUT", {}, {"a": {"deep": [1]}}, "/x", '{"a": {"deep": [1]}}'),
    ("PATCH", {"a": {"place": "query"}}, {"a": "1", "b": "é"}, "/x?a=1", '{"b": "é"}'),
    ("POST", {"a": {"place": "whole_body"}, "b": {"place": "query"}, "c": {"place": "query"}}, {"a": [1, 2]}, "/x",
     "[1, 2]"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "places", "arguments", "target", "body"), WHERE)
def test_arguments_go_to_their_places(
    service: Service, method: Any, places: dict[str, Any], arguments: dict[str, Any], target: str, body: str | None
) -> None:
    usual = "query" if method in ("GET", "DELETE") else "body"
    given = {name: Argument(**{"place": usual, **place}) for name, place in places.items()}
    endpoint = Endpoint(tool=tool(a={}, b={}, c={}), method=method, url=f"{service.url}/x", arguments=given)
    assert ask(endpoint, arguments).content == {"ok": True}
    assert (service.last.method, service.last.target) == (method, target)
    assert service.last.body.decode() == (body or "")
    assert service.last.headers.get("content-type") == ("application/json" if body else None)


def test_forms_headers_cookies_and_constants(service: Service) -> None:
    endpoint = Endpoint(
        tool=tool(a={}, b={}, trace={}, session={}),
        method="POST",
        url=f"{service.url}/x?format=json",
        body="form",
        arguments={"trace": Argument(place="header", name="X-Trace"), "session": Argument(place="cookie")},
        headers={"X-Constant": "yes", "Accept": "application/json"},
    )
    ask(endpoint, {"a": "x y&z", "b": [1, 2], "trace": "7", "session": "s;1"})
    assert service.last.target == "/x?format=json"
    assert service.last.body == b"a=x+y%26z&b=1&b=2"
    headers = service.last.headers
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert (headers["x-trace"], headers["cookie"], headers["x-constant"]) == ("7", "session=s%3B1", "yes")
    assert headers["accept"] == "application/json"
    assert headers["host"] == service.url.removeprefix("http://")


CITY = Endpoint(tool=tool(city={}, at={}), url="http://127.0.0.1:9/v1/{city}/now")


@pytest.mark.parametrize(
    "value",
    ["..", ".", "...", "", " ", "../admin", "a/b", "a\\b", "%2e%2e", "%2E%2e%2Fadmin", "..;", "..;x", "/", "//host",
     "a%2fb", None, [], {}, [""], ["..", "/"], ". .."],
)  # fmt: skip
def test_a_path_is_never_left(value: Any) -> None:
    result = ask(CITY, {"city": value})
    assert result.error == "invalid_arguments"
    assert "part of the address" in result.message


@pytest.mark.parametrize(
    ("value", "segment"),
    [("a?b#c", "a%3Fb%23c"), ("é ü", "%C3%A9%20%C3%BC"), ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"), (3, "3"),
     ("http:", "http%3A"), ("@evil.example", "%40evil.example"), (["a", "b"], "a%2Cb"), (True, "true"), ("%", "%25"),
     ("..a", "..a"), ("%00", "%2500")],
)  # fmt: skip
def test_a_path_argument_is_one_segment(service: Service, value: Any, segment: str) -> None:
    endpoint = CITY.model_copy(update={"url": f"{service.url}/v1/{{city}}/now"})
    assert ask(endpoint, {"city": value}).ok
    assert service.last.target == f"/v1/{segment}/now"


def test_slashes_are_sent_where_the_endpoint_says_so(service: Service) -> None:
    places = {"city": Argument(place="path", slash=True)}
    endpoint = CITY.model_copy(update={"url": f"{service.url}/v1/{{city}}/now", "arguments": places})
    assert ask(endpoint, {"city": "group/project"}).ok
    assert service.last.target == "/v1/group%2Fproject/now"
    assert ask(endpoint, {"city": "group/../project"}).error == "invalid_arguments"


@pytest.mark.parametrize(
    "arguments",
    [{"city": "Rome", "nowhere": 1}, {"city": "Rome", "at": "x" * 20_000}, {"city": "\ud800"},
     {"city": "Rome", "at": ["\udfff"]}],
)  # fmt: skip
def test_what_cannot_be_sent_is_the_policys_fault(arguments: dict[str, Any]) -> None:
    backend = RestBackend([CITY])
    result = backend.open(TASK, 0).call(ToolCall.trusted(name="look", arguments=arguments, id=None))
    assert result.error == "invalid_arguments"
    assert len(result.message) < 400


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\x00", "é", " a", "a ", "\t"])
def test_headers_cannot_be_broken_out_of(value: str) -> None:
    places = {"city": Argument(place="header", name="X-City")}
    endpoint = Endpoint(tool=tool(city={}), url="http://127.0.0.1:9/", arguments=places)
    assert ask(endpoint, {"city": value}).error == "invalid_arguments"


def test_an_object_cannot_pose_as_a_key_or_another_argument(service: Service) -> None:
    endpoint = Endpoint(
        tool=tool(a={}, b={}), url=f"{service.url}/?v=1", arguments={"a": Argument(place="query", style="spread")}
    )
    for name in ("v", "b"):
        assert ask(endpoint, {"a": {name: "evil"}}).error == "invalid_arguments"
    assert ask(endpoint, {"a": {"free": "x"}}).ok


def test_bodies_are_limited() -> None:
    endpoint = Endpoint(tool=tool(a={}), method="POST", url="http://127.0.0.1:9/")
    limits = HttpLimits(max_request_bytes=100)
    assert ask(endpoint, {"a": "x" * 200}, limits=limits).error == "invalid_arguments"


# Endpoints.

WRONG_ENDPOINTS: list[tuple[str, dict[str, Any]]] = [
    ("a URL is like", {"url": "ftp://host/{city}"}),
    ("a URL is like", {"url": "/{city}"}),
    ("host, path and query", {"url": "http://user:hunter2@host/{city}"}),
    ("host, path and query", {"url": "http://host/{city}#part"}),
    ("only the path", {"url": "http://{city}.host/"}),
    ("only the path", {"url": "http://host/x?city={city}"}),
    ("braces that do not match", {"url": "http://host/{city"}),
    ("braces that do not match", {"url": "http://host/../{city}"}),
    ("written in ASCII", {"url": "http://host/é/{city}"}),
    ("written in ASCII", {"url": "http://host/a b/{city}"}),
    ("cannot be read", {"url": "http://host:99999/{city}"}),
    ("placeholders", {"url": "http://host/{town}"}),
    ("placeholders", {"url": "http://host/{city}/{city}"}),
    ("none of the tool's", {"url": "http://host/{city}", "arguments": {"town": {"place": "query"}}}),
    ("given twice", {"url": "http://host/{city}?at=1"}),
    ("given twice", {"url": "http://host/{city}", "keys": [{"env": "K", "name": "at", "place": "query"}]}),
    ("cannot be the name", {"url": "http://host/{city}", "headers": {"Host": "evil"}}),
    ("cannot be the name", {"url": "http://host/{city}", "headers": {"a b": "x"}}),
    ("cannot be the name", {"url": "http://host/{city}", "arguments": {"at": {"place": "cookie", "name": "a;b"}}}),
    ("an argument cannot be", {"url": "http://host/{city}", "arguments": {"at": {
        "place": "header", "name": "Cookie"}}}),
    ("value that cannot be sent", {"url": "http://host/{city}", "headers": {"X": "a\r\nb"}}),
    ("the whole body", {"url": "http://host/{city}", "method": "POST", "arguments": {
        "at": {"place": "whole_body"}, "more": {"place": "body"}}}),
    ("needs body='json'", {"url": "http://host/{city}", "body": "form", "arguments": {"at": {"place": "whole_body"}}}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "fields"), WRONG_ENDPOINTS)
def test_wrong_endpoints_are_refused(words: str, fields: dict[str, Any]) -> None:
    made = tool(city=TEXT, at=TEXT, more=TEXT)
    with pytest.raises(DataError, match=re.escape(words)) as raised:
        Endpoint.from_dict({"tool": made.to_dict(), **fields})
    assert "hunter2" not in str(raised.value)
    with pytest.raises(ValueError, match=re.escape(words)) as raised_here:
        Endpoint(tool=made, **fields)
    assert "hunter2" not in str(raised_here.value)


def test_endpoints_are_json() -> None:
    endpoint = Endpoint(
        tool=tool(city=TEXT, at=TEXT),
        method="PUT",
        url="https://host/{city}",
        arguments={"at": Argument(place="query")},
        keys=(Key(env="K", name="X-Key"),),
        result_path=("data", 0),
    )
    assert Endpoint.from_json(endpoint.to_json()) == endpoint
    assert endpoint.repeatable
    assert not endpoint.model_copy(update={"idempotent": False}).repeatable


# What answers mean.

ANSWERS: list[tuple[Answer, str | None, Any]] = [
    (json_answer({"a": [1, 2.5, None, True, "é"]}), None, {"a": [1, 2.5, None, True, "é"]}),
    ((200, {"Content-Type": "application/problem+json; charset=utf-8"}, b"[1]"), None, [1]),
    ((200, JSON, b"\xef\xbb\xbf[1]"), None, [1]),
    ((200, JSON, b""), None, None),
    ((204, {"Content-Length": "0"}, b""), None, None),
    ((200, {"Content-Type": "text/plain"}, b"hello"), None, "hello"),
    ((200, {"Content-Type": "text/html; charset=ISO-8859-1"}, b"caf\xe9"), None, "café"),
    ((200, {"Content-Type": "application/xml"}, b"<a/>"), None, "<a/>"),
    ((200, {}, b'{"a": 1}'), None, {"a": 1}),
    ((200, {}, b"plain"), None, "plain"),
    ((200, JSON, rb'"half \ud800 of it"'), None, "half � of it"),
    ((200, JSON, b"{'a': 1}"), "tool_error", "not valid JSON"),
    ((200, JSON, b'{"a": NaN}'), "tool_error", "not valid JSON"),
    ((200, JSON, b"1e999"), "tool_error", "not valid JSON"),
    ((200, JSON, b"9" * 5000), "tool_error", "not valid JSON"),
    ((200, JSON, b"[" * 100_000), "tool_error", "levels deep"),
    ((200, JSON, b"[" * 70 + b"]" * 70), "tool_error", "levels deep"),
    ((200, JSON, b'"\xff"'), "tool_error", "not UTF-8"),
    ((200, {"Content-Type": "text/plain"}, b"\xff"), "tool_error", "not UTF-8"),
    ((200, {"Content-Type": "text/plain; charset=klingon"}, b"x"), "tool_error", "character set"),
    ((200, {"Content-Type": "image/png"}, b"\x89PNG"), "tool_error", "neither JSON nor text"),
    ((200, {**JSON, "Content-Encoding": "br"}, b"x"), "tool_error", "compressed in a way"),
    ((200, {**JSON, "Content-Encoding": "gzip"}, b"{}"), "tool_error", "compression is damaged"),
    (json_answer({"message": "no such\r\n city\x1b[2J"}, 404), "tool_error", "(404 Not Found): no such city [2J"),
    (json_answer({"error": {"code": 3, "message": "bad date"}}, 400), "tool_error", "bad date"),
    (json_answer({"errors": [{"detail": "one"}, {"detail": "two"}]}, 422), "tool_error", "one; two"),
    (json_answer({"code": 3}, 400), "tool_error", '{"code": 3}'),
    ((403, {"Content-Type": "text/plain"}, b"not yours"), "tool_error", "not yours"),
    ((404, {"Content-Type": "text/html"}, b"<h1>page</h1>"), "tool_error", "(404 Not Found)"),
    (json_answer({"message": "log in"}, 401), "unavailable", "does not accept the key"),
    (json_answer({"message": "boom"}, 500), "unavailable", "(500 Internal Server Error): boom"),
    ((500, {"Content-Type": "text/plain"}, b'File "/srv/app.py", line 3'), "unavailable", "(500 Internal"),
    ((599, JSON, b"{}"), "unavailable", "(599)"),
    (json_answer({"message": "slow down"}, 429), "unavailable", "slow down"),
    ((300, JSON, b"{}"), "tool_error", "(300 Multiple Choices)"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "error", "content"), ANSWERS)
@pytest.mark.parametrize("how", ["sync", "async"])
def test_answers(service: Service, how: str, answer: Answer, error: str | None, content: Any) -> None:
    service.answer = lambda seen: answer
    result = ask(Endpoint(tool=tool(), url=service.url), how=how)
    assert result.error == error
    if error is None:
        assert result.content == content
    else:
        assert content in result.message
        assert len(result.message) <= 400
        assert result.message.isprintable()
        assert "app.py" not in result.message


@pytest.mark.parametrize(
    ("path", "content"),
    [(("data", 1, "x"), 7), ((), {"data": [0, {"x": 7}]}), (("data",), [0, {"x": 7}]), (("data", 9), None),
     (("nothing",), None), (("data", "x"), None), ((0,), None)],
)  # fmt: skip
def test_the_answer_may_be_a_part(service: Service, path: tuple[str | int, ...], content: Any) -> None:
    service.answer = lambda seen: (200, {"Content-Type": "text/html"}, b'{"data": [0, {"x": 7}]}')
    result = ask(Endpoint(tool=tool(), url=service.url, result_path=path))
    assert result.content == content
    assert result.error == (None if content is not None else "tool_error")


def test_words_of_strangers_are_cut_and_cleaned() -> None:
    assert clean("a\n\tb\x00c\u202ed") == "a b c d"
    assert clean("x" * 1000) == "x" * 297 + "..."


# Keys.


def test_keys_come_from_the_environment_and_go_nowhere_else(service: Service, monkeypatch: Any) -> None:
    monkeypatch.setenv("KEY_A", "s3cret/one+")
    monkeypatch.setenv("KEY_B", "user:pass")
    endpoint = Endpoint(
        tool=tool(),
        url=service.url,
        keys=(
            Key(env="KEY_A", name="key", place="query"),
            Key(env="KEY_A", name="X-Key"),
            Key(env="KEY_A", name="X-Bearer", scheme="bearer"),
            Key(env="KEY_B", name="Authorization", scheme="basic"),
            Key(env="KEY_A", name="sid", place="cookie"),
        ),
    )
    backend = RestBackend([endpoint], limits=QUICK)
    session = backend.open(TASK, 0)
    service.answer = lambda seen: json_answer({"url": seen.target, "headers": dict(seen.headers), "s3cret/one+": 1})
    result = session.call(ToolCall(name="look"))
    headers = service.last.headers
    assert service.last.query == [("key", "s3cret/one+")]
    assert (headers["x-key"], headers["x-bearer"]) == ("s3cret/one+", "Bearer s3cret/one+")
    assert (headers["authorization"], headers["cookie"]) == ("Basic dXNlcjpwYXNz", "sid=s3cret%2Fone%2B")
    service.answer = lambda seen: json_answer({"message": "x" * 290 + "the key s3cret/one+ is bad"}, 400)
    refused = session.call(ToolCall(name="look"))
    service.answer = lambda seen: (200, {"Content-Type": "text/plain"}, b"it is s3cret/one+ and dXNlcjpwYXNz")
    text = session.call(ToolCall(name="look"))
    shown = [result.to_json(), refused.to_json(), text.to_json(), repr(session.__dict__), repr(backend.__dict__),
             endpoint.to_json(), repr(session._translation.__dict__), repr(pickle.dumps(session))]  # fmt: skip
    request = session._translation.request(ToolCall(name="look"))
    assert not any(secret in text for text in (*shown, repr(request)) for secret in ("s3cret", "user:pass", "dXNl"))
    assert text.content == "it is *** and ***"


@pytest.mark.parametrize("value", [None, "", "  ", "a\nb", "é"])
def test_a_key_that_is_missing_is_told_when_a_session_opens(monkeypatch: Any, value: str | None) -> None:
    monkeypatch.delenv("KEY_A", raising=False)
    if value is not None:
        monkeypatch.setenv("KEY_A", value)
    backend = RestBackend([Endpoint(tool=tool(), url="http://host/", keys=(Key(env="KEY_A", name="X"),))])
    with pytest.raises(ConfigurationError, match="KEY_A"):
        backend.open(TASK, 0)


def test_backends_and_sessions_go_through_pickle(service: Service, monkeypatch: Any) -> None:
    monkeypatch.setenv("KEY_A", "s3cret")
    endpoint = Endpoint(tool=tool(), url=service.url, keys=(Key(env="KEY_A", name="X-Key"),))
    backend = RestBackend([endpoint], limits=HttpLimits(calls_per_second=1000))
    backend.open(TASK, 0).call(ToolCall(name="look"))
    session = pickle.loads(pickle.dumps(backend)).open(TASK, 0)
    assert session.call(ToolCall(name="look")).ok
    assert pickle.loads(pickle.dumps(session)).call(ToolCall(name="look")).ok
    assert service.last.headers["x-key"] == "s3cret"


# Options.


@pytest.mark.parametrize(
    "options",
    [{"timeout_s": 0}, {"timeout_s": float("nan")}, {"timeout_s": True}, {"timeout_s": 1e9}, {"attempts": 0},
     {"attempts": 1.5}, {"backoff_s": -1}, {"max_response_bytes": 0}, {"calls_per_second": 0},
     {"calls_per_second": "2"}, {"connections": 0}, {"max_redirects": -1}, {"burst": 0}],
)  # fmt: skip
def test_limits_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        HttpLimits(**options)


def test_options_are_checked(tmp_path: Path) -> None:
    endpoint = Endpoint(tool=tool(), url="http://host/")
    asking = Endpoint(tool=tool(required=("a",), a={}), url="http://host/")
    wrong: list[Callable[[], Any]] = [
        lambda: RestBackend([]),
        lambda: RestBackend([endpoint, endpoint]),
        lambda: RestBackend([endpoint], limits=3),  # type: ignore[arg-type]
        lambda: RestBackend([endpoint], ca_file=tmp_path / "none.pem"),
        lambda: RestBackend([endpoint], ca_file=__file__),
        lambda: RestBackend([endpoint], state_endpoint=asking),
        lambda: JsonRpcBackend("http://user:hunter2@host/"),
        lambda: JsonRpcBackend("host/rpc"),
        lambda: ToolServerBackend("http://host/", [], strip="all"),
    ]
    for make in wrong:
        with pytest.raises((ConfigurationError, DataError)) as raised:
            make()
        assert "hunter2" not in str(raised.value)


def test_a_missing_package_is_told(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingPackageError, match=r"callgym\[http\]"):
        RestBackend([Endpoint(tool=tool(), url="http://host/")])


# Sessions.


def test_sessions_are_what_environments_expect(service: Service) -> None:
    backend: ToolBackend = RestBackend([Endpoint(tool=tool(), url=service.url)])
    session: WaitingSession = RestBackend([Endpoint(tool=tool(), url=service.url)]).open(TASK, 0)
    assert waits(session)
    wrapped = WrappedSession(backend.open(TASK, 0))
    assert wrapped.call(ToolCall(name="look")) == asyncio.run(acall(wrapped, ToolCall(name="look")))
    assert wrapped.state() == {}


def test_calls_wait_side_by_side(service: Service) -> None:
    """64 tools of which each answers when all have been asked: they can only end together."""
    everybody = threading.Barrier(64, timeout=20)

    def answer(seen: Seen) -> Answer:
        everybody.wait()
        return json_answer(seen.target)

    service.answer = answer
    endpoint = Endpoint(tool=tool(n={}), url=f"{service.url}/{{n}}")
    backend = RestBackend([endpoint], limits=HttpLimits(timeout_s=20))
    sessions = [backend.open(TASK, seed) for seed in range(64)]

    async def all_of_them() -> list[ToolResult]:
        calls = [session.acall(ToolCall(name="look", arguments={"n": n})) for n, session in enumerate(sessions)]
        return await asyncio.gather(*calls)

    for results in (portal().run(all_of_them()), asyncio.run(all_of_them())):
        assert [result.content for result in results] == [f"/{n}" for n in range(64)]
    backend.close()


def test_more_calls_than_connections_take_turns(service: Service) -> None:
    backend = RestBackend([Endpoint(tool=tool(), url=service.url)], limits=HttpLimits(connections=2))
    inside, most, lock = [0], [0], threading.Lock()

    def answer(seen: Seen) -> Answer:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        threading.Event().wait(0.01)
        with lock:
            inside[0] -= 1
        return json_answer(1)

    service.answer = answer

    async def many() -> list[ToolResult]:
        return await asyncio.gather(*[backend.open(TASK, n).acall(ToolCall(name="look")) for n in range(10)])

    assert all(result.ok for result in portal().run(many()))
    threads = [threading.Thread(target=lambda: backend.open(TASK, 0).call(ToolCall(name="look"))) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 2
    assert len(service.seen) == 20


def test_cookies_are_not_kept(service: Service) -> None:
    service.answer = lambda seen: (200, {**JSON, "Set-Cookie": "a=1"}, b"1")
    session = RestBackend([Endpoint(tool=tool(), url=service.url)]).open(TASK, 0)
    for how in ("sync", "async", "sync", "async"):
        call_tool(session, ToolCall(name="look"), how)
    assert not any("cookie" in seen.headers for seen in service.seen)


def test_the_environment_decides_nothing_but_keys(service: Service, monkeypatch: Any) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for how in ("sync", "async"):
        assert ask(Endpoint(tool=tool(), url=service.url), how=how).ok


def test_state_is_what_the_endpoint_gives(service: Service) -> None:
    endpoint = Endpoint(tool=tool(), url=service.url)
    assert RestBackend([endpoint]).open(TASK, 0).state() == {}
    state = Endpoint(tool=tool("state"), url=f"{service.url}/state", result_path=("world",))
    session = RestBackend([endpoint], state_endpoint=state).open(TASK, 0)
    service.answer = lambda seen: json_answer({"world": {"at": seen.target}})
    assert session.state() == {"at": "/state"}
    service.answer = lambda seen: json_answer({"world": 3})
    with pytest.raises(UnknownState, match="no object"):
        session.state()
    service.answer = lambda seen: json_answer({}, 500)
    with pytest.raises(UnknownState, match="500"):
        session.state()
    session.close()


def test_an_environment_plays_with_a_service(service: Service) -> None:
    backend = RestBackend([Endpoint(tool=tool(at={"type": "integer"}), url=f"{service.url}/{{at}}")])
    row = {**TASK.to_dict(), "tools": [made.to_dict() for made in backend.tools]}
    row["goal"] = {"kind": "calls", "turns": [[{"name": "look", "arguments": {"at": [3]}}]]}

    class ServiceEnv(ToolEnv):
        family = "mine"
        protocol = "dialogue"

    env = ServiceEnv(data=[Task.from_dict(row)], backend=backend)
    env.reset(seed=0)
    assert env.waits
    *_, info = env.step(env.oracle_action())
    assert info["results"][0].content == {"ok": True}
    assert service.last.target == "/3"
    assert backend.open(TASK, 0).call(ToolCall(name="other")).error == "unavailable"


# Whatever is called, nothing raises, and every request arrives where it should.

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=6,
)
NASTY = st.sampled_from(
    ["..", "../..", "//evil/", "?x=1", "#", "%2e%2e/", "\r\nHost: evil", "\ud800", "a" * 9000, "@evil:80/", "\x00", "é"]
)
SHAPES: list[tuple[Any, Any, Any]] = [
    ("GET", "spread", "json"),
    ("POST", "deep", "json"),
    ("POST", "comma", "form"),
    ("PUT", "json", "json"),
]
FUZZED = [
    Endpoint(
        tool=tool("fuzzed", a={}, b={}, c={}, d={}, e={}),
        method=method,
        url="http://host/v1/{a}/x{b}y/z?fixed=1",
        arguments={
            "c": Argument(place="query", style=style),
            "d": Argument(place="header", name="X-D"),
            "e": Argument(place="cookie" if method == "GET" else "body"),
        },
        body=body,
    )
    for method, style, body in SHAPES
]


@pytest.fixture(scope="module")
def fuzz_sessions(running: Service) -> list[HttpSession]:
    return [
        RestBackend([made.model_copy(update={"url": made.url.replace("http://host", running.url)})]).open(TASK, 0)
        for made in FUZZED
    ]


@given(
    number=st.integers(0, len(FUZZED) - 1),
    arguments=st.dictionaries(st.sampled_from("abcde"), ANY_JSON | NASTY | st.text(max_size=8), max_size=5),
    how=st.sampled_from(["sync", "portal"]),
)
def test_whatever_is_called_arrives_in_its_place(
    running: Service, fuzz_sessions: list[HttpSession], number: int, arguments: dict[str, Any], how: str
) -> None:
    running.seen.clear()
    running.answer = lambda seen: json_answer(1)
    endpoint = FUZZED[number]
    call = ToolCall.trusted(name="fuzzed", arguments=arguments, id=None)
    result = call_tool(fuzz_sessions[number], call, how)
    if result.error is not None:
        assert result.error == "invalid_arguments"
        assert running.seen == []
        return
    (seen,) = running.seen
    assert seen.method == endpoint.method
    match = re.fullmatch(r"/v1/([^/]+)/x([^/]+)y/z", seen.path)
    assert match, seen.path
    assert not {".", ".."} & {unquote(part) for part in seen.path.split("/")}
    for name, text in (("a", match[1]), ("b", match[2])):
        if isinstance(arguments[name], str):
            assert unquote(text) == arguments[name]
    assert seen.query[0] == ("fixed", "1")
    assert [value for name, value in seen.query if name == "fixed"] == ["1"]
    assert seen.headers["host"] == running.url.removeprefix("http://")
    assert set(seen.headers) <= {
        "host", "accept-encoding", "accept", "user-agent", "x-d", "cookie", "content-type", "content-length"
    }  # fmt: skip
    if isinstance(arguments.get("d"), str):
        assert seen.headers["x-d"] == arguments["d"]
    if endpoint.method != "GET" and endpoint.body == "json":
        assert json.loads(seen.body) == ({"e": arguments["e"]} if "e" in arguments else {})


@given(st.binary(max_size=200), st.sampled_from([200, 201, 204, 302, 404, 500]), st.sampled_from(list("jtpgdn")))
def test_whatever_a_server_says_is_a_result(running: Service, body: bytes, status: int, kind: str) -> None:
    types: dict[str, dict[str, str]] = {
        "j": JSON,
        "t": {"Content-Type": "text/plain"},
        "p": {"Content-Type": "image/png"},
        "g": {**JSON, "Content-Encoding": "gzip"},
        "d": {**JSON, "Content-Encoding": "deflate"},
        "n": {},
    }
    if status == 204:
        body = b""
    running.answer = lambda seen: (status, types[kind], body)
    result = ask(Endpoint(tool=tool(), url=running.url), limits=HttpLimits(attempts=1, timeout_s=5))
    assert ToolResult.from_json(result.to_json()) == result
    assert len(result.message) <= 400


# JSON-RPC.


def rpc(service: Service, answer: Callable[[dict[str, Any]], Any], **options: Any) -> HttpSession:
    service.answer = lambda seen: json_answer(answer(json.loads(seen.body)))
    backend = JsonRpcBackend(f"{service.url}/rpc", tools=[tool("add", a={}, b={})], limits=QUICK, **options)
    assert [made.name for made in backend.tools] == ["add"]
    return backend.open(TASK, 0)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_json_rpc(service: Service, monkeypatch: Any, how: str) -> None:
    monkeypatch.setenv("KEY_A", "s3cret")
    session = rpc(
        service,
        lambda asked: {"jsonrpc": "2.0", "id": asked["id"], "result": sum(asked["params"].values())},
        keys=[Key(env="KEY_A", name="X-Key")],
        headers={"X-More": "1"},
    )
    for number in (1, 2):
        assert call_tool(session, ToolCall(name="add", arguments={"a": number, "b": 3}), how).content == number + 3
        sent = json.loads(service.last.body)
        assert sent == {"jsonrpc": "2.0", "id": number, "method": "add", "params": {"a": number, "b": 3}}
    assert service.last.target == "/rpc"
    assert (service.last.headers["x-key"], service.last.headers["x-more"]) == ("s3cret", "1")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [({"id": 1, "error": {"code": -32602, "message": "a is\nmissing"}}, "tool_error", "a is missing"),
     ({"id": 1, "error": "no"}, "tool_error", "no"), ({"id": 2, "result": 3}, "tool_error", "another request"),
     ({"id": True, "result": 3}, "tool_error", "another request"), ({"id": 1}, "tool_error", "no JSON-RPC"),
     ([], "tool_error", "no JSON-RPC"), ("x", "tool_error", "no JSON-RPC"),
     ({"id": 1, "result": 1, "error": {}}, "tool_error", "no JSON-RPC"),
     ({"id": 1, "result": None, "error": None}, None, "")],
)  # fmt: skip
def test_json_rpc_answers(service: Service, answer: Any, error: str | None, words: str) -> None:
    result = rpc(service, lambda asked: answer).call(ToolCall(name="add"))
    assert result.error == error
    assert words in result.message


def test_json_rpc_is_tried_again_only_where_that_is_said(service: Service) -> None:
    for idempotent, attempts in ((False, 1), (True, 3)):
        service.seen.clear()
        session = rpc(service, lambda asked: {}, idempotent=idempotent)
        service.answer = lambda seen: json_answer({}, 503)
        assert session.call(ToolCall(name="add")).error == "unavailable"
        assert len(service.seen) == attempts


# ToolBench.

DOCUMENT: dict[str, Any] = {
    "tool_name": "Open Weather",
    "api_list": [
        {
            "name": "Current weather!",
            "description": "Current weather! of a city",
            "method": "GET",
            "required_parameters": [{"name": "City", "type": "STRING", "description": "where", "default": "Rome"}],
            "optional_parameters": [
                {"name": "id", "type": "NUMBER", "description": "", "default": ""},
                {"name": "Is Metric?", "type": "BOOLEAN", "description": None, "default": False},
                {"name": "when", "type": "DATE (YYYY-MM-DD)", "description": "", "default": None},
            ],
        },
        {"name": "current_weather", "description": "the same name again"},
        {"name": "5 days", "description": ""},
    ],
}


def weather(tmp_path: Path) -> Path:
    file = tmp_path / "Weather" / "open_weather.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return file


def test_tool_documents_become_tools(tmp_path: Path) -> None:
    file = weather(tmp_path)
    apis = read_apis(file)
    assert apis == read_apis(tmp_path) == read_apis(file.parent, category="Weather")
    current, days = apis
    assert (current.category, current.tool_name, current.api_name) == ("Weather", "open_weather", "current_weather")
    assert current.tool.name == "current_weather_for_open_weather"
    assert days.tool.name == "get_5_days_for_open_weather"
    assert current.tool.description.endswith('is: "current_weather_for_open_weather of a city"')
    assert current.tool.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "where", "example_value": "Rome"},
            "is_id": {"type": "number", "description": ""},
            "is_metric": {"type": "boolean", "description": "", "example_value": False},
            "when": {"type": "string", "description": ""},
        },
        "required": ["city"],
    }
    row: dict[str, Any] = {
        "category_name": "Weather",
        "tool_name": "Open Weather",
        "api_name": "Current weather!",
        "api_description": "Current weather! of a city",
        **DOCUMENT["api_list"][0],
    }
    assert tool_of_query(row) == current


@pytest.mark.parametrize(
    ("text", "name"),
    [("Open Weather", "open_weather"), ("  a--b  ", "a_b"), ("5days", "get_5days"), ("天气 API", "天气_api"),
     ("a^b", "a^b"), ("___", ""), ("É", ""), ("", ""), ("A__B", "a_b")],
)  # fmt: skip
def test_names_are_standardised_as_toolbench_does(text: str, name: str) -> None:
    assert standard_name(text) == name


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"api_list": [{}]}', '{"api_list": [3]}', "{"])
def test_damaged_tool_documents_are_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"broken\.json"):
        read_apis(file)
    with pytest.raises(DataError, match="no tool documents"):
        read_apis(tmp_path, category="None")
    with pytest.raises(DataError, match="category_name"):
        tool_of_query({})


def test_official_tool_documents(official_data: Path) -> None:
    folder = official_data / "toolbench" / "tools_sample"
    if not folder.is_dir():
        pytest.skip("ToolBench's tools are not here")
    apis = read_apis(folder)
    assert len({(api.category, api.tool_name) for api in apis}) == 80
    for api in apis:
        ToolSchema(api.tool)
        assert re.fullmatch(r"[\w^]{1,64}", api.tool.name)
    titles = {api.tool_name: str(api.tool.meta["tool"]) for api in apis}
    assert all(standard_name(title) == name for name, title in titles.items())
    cached = official_data / "toolbench" / "tool_response_cache_sample"
    folders = {f"{api.tool_name}_for_{api.category}" for api in apis}
    known = {(f"{api.tool_name}_for_{api.category}", api.api_name) for api in apis}
    files = [path for path in cached.rglob("*.json") if path.parent.name in folders]
    found = [path for path in files if (path.parent.name, path.stem) in known]
    assert files
    assert len(found) / len(files) > 0.95


def tool_server(service: Service, tmp_path: Path, answer: Any, **options: Any) -> HttpSession:
    service.answer = lambda seen: json_answer(answer)
    backend = ToolServerBackend(f"{service.url}/virtual", read_apis(weather(tmp_path)), limits=QUICK, **options)
    assert len(backend.tools) == 2
    return backend.open(TASK, 0)


def test_the_tool_server_is_asked_as_toolbench_asks_it(service: Service, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("TB_KEY", "s3cret")
    session = tool_server(service, tmp_path, {"error": "", "response": {"rain": True}}, key_env="TB_KEY")
    call = ToolCall(name="current_weather_for_open_weather", arguments={"city": "Rome", "is_id": 3})
    assert session.call(call).content == {"rain": True}
    assert service.last.target == "/virtual"
    assert service.last.headers["toolbench_key"] == "s3cret"
    assert json.loads(service.last.body) == {
        "category": "Weather",
        "tool_name": "open_weather",
        "api_name": "current_weather",
        "tool_input": '{"city": "Rome", "is_id": 3}',
        "strip": "truncate",
        "toolbench_key": "s3cret",
    }
    assert session.call(ToolCall(name="nothing")).error == "unavailable"
    assert (
        tool_server(service, tmp_path, {"error": "", "response": "s3cret"}, key_env="TB_KEY").call(call).content
        == "***"
    )
    tool_server(service, tmp_path, {"error": "", "response": ""}).call(call)
    assert json.loads(service.last.body)["toolbench_key"] == ""


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [({"error": "Message error...", "response": {"message": "no city"}}, "tool_error", 'Message error... {"message"'),
     ({"error": "Tool input parse error...\n", "response": ""}, "tool_error", "parse error"),
     ({"error": "Unauthorized error...", "response": ""}, "unavailable", "Unauthorized"),
     ({"error": "Rate limit per minute error...", "response": ""}, "unavailable", "Rate limit"),
     ({"error": "Timeout error...", "response": ""}, "timeout", "in time"),
     ({"error": None, "response": ""}, "tool_error", "no error and response"),
     ({"response": "x"}, "tool_error", "no error and response"), ([1], "tool_error", "no error and response")],
)  # fmt: skip
def test_tool_server_answers(service: Service, tmp_path: Path, answer: Any, error: str, words: str) -> None:
    session = tool_server(service, tmp_path, answer)
    result = session.call(ToolCall(name="get_5_days_for_open_weather"))
    assert result.error == error
    assert words in result.message


def test_two_apis_of_one_name_are_told(tmp_path: Path) -> None:
    apis = read_apis(weather(tmp_path))
    with pytest.raises(ConfigurationError, match="get_5_days_for_open_weather"):
        ToolServerBackend("http://host/", [*apis, apis[1]])
