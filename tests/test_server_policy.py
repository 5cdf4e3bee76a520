"""The server policy against a stub server on this machine."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from callgym import Message, Task, Tool, ToolCall, UserTurn
from callgym.dialects import DIALECTS
from callgym.envs.base import ToolEnv
from callgym.errors import CallGymError, ConfigurationError
from callgym.goal import CallsGoal, GoldCall
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.server_policy import ServerError, ServerPolicy, server_messages
from callgym.rollouts.unreadable import RawCall, render_raw_action
from callgym.tool_backends import PythonBackend, World

KEY = "sk-very-secret"


class Stub:
    """Answers each request with ``answer(body)``: (status, headers, body), and remembers what came."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.script: list[Any] = []
        self.running = 0
        self.most_running = 0
        self.delay = 0.0
        self.lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with stub.lock:
                    stub.bodies.append(body)
                    stub.headers.append({name.lower(): value for name, value in self.headers.items()})
                    stub.paths.append(self.path)
                    stub.running += 1
                    stub.most_running = max(stub.most_running, stub.running)
                    outcome = stub.script.pop(0) if stub.script else says("Done.")
                time.sleep(stub.delay)
                with stub.lock:
                    stub.running -= 1
                self.send(outcome(body) if callable(outcome) else outcome)

            def send(self, outcome: Any) -> None:
                if outcome is None:  # hang up
                    self.close_connection = True
                    return
                status, headers, answer = outcome
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {"content-length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that hung up is what some tests are about

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def says(content: Any, *calls: tuple[Any, Any], **fields: Any) -> tuple[int, dict[str, str], Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content, **fields}
    if calls:
        message["tool_calls"] = [
            {"id": f"id{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(calls)
        ]
    return 200, {}, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "CALLGYM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    stub = Stub()
    yield stub
    stub.close()


@pytest.fixture
def policy(stub: Stub) -> Iterator[ServerPolicy]:
    policy = ServerPolicy("tiny", stub.url, backoff_s=0.01, attempts=3, timeout_s=5)
    yield policy
    policy.close()


def add(world: World, number: int) -> int:
    return number


ADD = Tool(
    name="Add",
    parameters={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)
TASK = Task(
    id="add",
    family="sums",
    split="test",
    messages=(Message(role="user", content="Add 1."),),
    tools=(ADD,),
    user_turns=(UserTurn(content="Now add 2."),),
    goal=CallsGoal(
        turns=tuple((GoldCall.of(ToolCall(name="Add", arguments={"number": number})),) for number in (1, 2))
    ),
)


class SumsEnv(ToolEnv):
    family = "sums"
    protocol = "dialogue"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"data": (TASK,), **options})

    def make_backend(self, source: Any) -> PythonBackend:
        return PythonBackend({"Add": add})


def situation(dialect: str = "hermes", seed: int = 7) -> Situation:
    env = SumsEnv(dialect=dialect)
    observation, info = env.reset(seed=seed)
    return Situation(env, observation, observation, tuple(info["messages"]), tuple(info["tools"]), seed)


def play(policy: ServerPolicy, dialect: str = "hermes", **options: Any) -> Any:
    return run_episodes(
        SumsEnv, policy, episodes=1, env_options={"dialect": dialect, "max_steps": 6}, progress=False, **options
    )


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_tool_calls_and_words_become_actions(stub: Stub, policy: ServerPolicy, dialect: str) -> None:
    stub.script = [
        says(None, ("Add", '{"number": 1}')),
        says("Added."),
        says("Now the other.", ("Add", {"number": 2})),
        says("Done."),
    ]
    (episode,) = play(policy, dialect).episodes
    assert episode.episode_return == 1.0
    assert [step.content for step in episode.steps] == ["", "Added.", "Now the other.", "Done."]
    assert policy.name == f"openai:tiny@{stub.url}"


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_requests_are_in_the_servers_shape(stub: Stub, policy: ServerPolicy, dialect: str) -> None:
    stub.script = [says(None, ("Add", '{"number": 1}'), ("Add", '{"number": 5}')), says("Added."), says("Done.")]
    play(policy, dialect)
    assert set(stub.paths) == {"/v1/chat/completions"}
    first, second, third = stub.bodies
    assert first["model"] == "tiny"
    assert first["messages"] == [{"role": "user", "content": "Add 1."}]
    assert first["tools"] == [ADD.as_chat()]
    assert {first["temperature"], first["top_p"], first["max_tokens"]} == {0.0, 1.0, 512}
    assert len({body["seed"] for body in stub.bodies}) == 3
    assert all(0 <= body["seed"] < 2**31 for body in stub.bodies)
    asked, one, two = second["messages"][1:]
    assert [json.loads(call["function"]["arguments"]) for call in asked["tool_calls"]] == [{"number": 1}, {"number": 5}]
    ids = [call["id"] for call in asked["tool_calls"]]
    own = {"openai": ["id0", "id1"], "mistral": ["id0", "id1"], "kimi": ["functions.Add:0", "functions.Add:1"]}
    assert ids == own.get(dialect, ["call_0", "call_1"])
    assert [one["tool_call_id"], two["tool_call_id"]] == ids
    assert [one["content"], two["content"]] == ["1", "5"]
    assert third["messages"][:4] == second["messages"]
    assert third["messages"][-1] == {"role": "user", "content": "Now add 2."}


def test_recorded_histories_get_ids_and_text_arguments() -> None:
    call = {"type": "function", "function": {"name": "A", "arguments": {"x": [1]}}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "given"}]},
        {"role": "tool", "content": "1", "name": "A"},
        {"role": "tool", "content": "2", "name": "A", "tool_call_id": "given"},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "3", "name": "A"},
    ]
    before = json.dumps(messages)
    written = server_messages(messages)
    assert json.dumps(messages) == before
    assert written == server_messages(messages)
    assert [c["id"] for c in written[1]["tool_calls"]] == ["call_0", "given"]
    assert [written[i]["tool_call_id"] for i in (2, 3, 6)] == ["call_0", "given", "call_2"]
    assert written[1]["tool_calls"][0]["function"]["arguments"] == '{"x": [1]}'
    assert written[4]["content"] == ""
    assert written[5]["tool_calls"][0]["id"] == "call_2"


UNREADABLE = [
    '{"number": 1',
    "number=1",
    "[Add(number='1')]",
    '<tool_call>{"name": "Add", "arguments": {"number": 1}}</tool_call>',
    ", x='1')]",
    "'",
    'it\'s "so" \\',
    "[1, 2]",
    "null",
    '{"number": NaN}',
    "[" * 500,
    "<|im_end|>",
    None,
    3,
    [1],
]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("arguments", UNREADABLE, ids=repr)
def test_calls_that_cannot_be_read_reach_the_environment_as_such(
    stub: Stub, policy: ServerPolicy, dialect: str, arguments: Any
) -> None:
    stub.script = [says("Well.", ("Add", '{"number": 1}'), ("Add", arguments), ("Add", arguments))]
    (episode,) = play(policy, dialect).episodes
    first = episode.steps[0]
    assert first.errors
    assert [call.arguments for call in first.calls] == [{"number": 1}]
    assert episode.episode_return < 1.0


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("name", [None, "", 3, "no such-tool!", "a(b", "Ä", "[x]"])
def test_calls_of_strange_names_are_never_lost(dialect: str, name: Any) -> None:
    for raw in ([RawCall(name, "{}")], [RawCall("Add", '{"number": 2}'), RawCall(name, '{"a-b": 1}')]):
        parsed = DIALECTS[dialect].parse(render_raw_action(DIALECTS[dialect], raw))
        assert len(parsed.calls) + len(parsed.errors) == len(raw)
        assert len([call for call in parsed.calls if call.name == "Add"]) == len(raw) - 1


def test_other_ways_to_say_words(stub: Stub, policy: ServerPolicy) -> None:
    stub.script = [
        says([{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]),
        says(None, refusal="I will not."),
        says(None),
        says("half \ud800 character"),
    ]
    actions = [policy.act([situation()])[0] for _ in range(4)]
    assert actions == ["in parts", "I will not.", "", "half ? character"]


def test_passing_faults_are_tried_again(stub: Stub, policy: ServerPolicy) -> None:
    stub.script = [(500, {}, {"error": "oops"}), None, says("Well.")]
    assert policy.act([situation()]) == ["Well."]
    assert len(stub.bodies) == 3
    assert stub.bodies[0] == stub.bodies[1] == stub.bodies[2]


def test_the_servers_wish_to_wait_is_kept(stub: Stub) -> None:
    policy = ServerPolicy("tiny", stub.url, backoff_s=30, attempts=3)
    stub.script = [(429, {"Retry-After": "0"}, {}), (503, {"Retry-After": "0.3"}, {}), says("Well.")]
    started = time.monotonic()
    assert policy.act([situation()]) == ["Well."]
    assert 0.3 <= time.monotonic() - started < 10
    stub.script = [(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, {}), says("Again.")]
    assert policy.act([situation()]) == ["Again."]
    assert time.monotonic() - started < 15
    policy.close()


@pytest.mark.parametrize("wish", ["soon", "", "nan", "²", "-1", "Wed, 99 Oct"])
def test_a_wish_that_cannot_be_read_is_passed_over(stub: Stub, policy: ServerPolicy, wish: str) -> None:
    stub.script = [(429, {"Retry-After": wish.encode().decode("latin-1")}, {}), says("Well.")]
    assert policy.act([situation()]) == ["Well."]


@pytest.mark.parametrize("status", [400, 401, 404, 422, 307])
def test_lasting_faults_are_not_tried_again(stub: Stub, policy: ServerPolicy, status: int) -> None:
    stub.script = [(status, {"location": "http://127.0.0.1:9/"}, {"error": {"message": "no such model"}})]
    with pytest.raises(
        ServerError, match=rf"{stub.url}/chat/completions .*after 1 attempt: status {status}: .*no such"
    ):
        policy.act([situation()])
    assert len(stub.bodies) == 1


def test_after_the_last_attempt_the_fault_is_named(stub: Stub, policy: ServerPolicy) -> None:
    stub.script = [(500, {}, {"error": "oops"})] * 5
    with pytest.raises(CallGymError, match=r"127\.0\.0\.1.*after 3 attempts: status 500: .*oops"):
        policy.act([situation()])
    assert len(stub.bodies) == 3


@pytest.mark.parametrize("body", [b"<html>", b'{"choices": []}', b"[]", b'{"choices": [{"message": null}]}', b"\xff"])
def test_a_reply_of_another_kind_is_named(stub: Stub, policy: ServerPolicy, body: bytes) -> None:
    stub.script = [(200, {}, body)]
    with pytest.raises(ServerError, match="no chat completion"):
        policy.act([situation()])


def test_slow_replies_are_given_up(stub: Stub) -> None:
    stub.delay = 3.0
    policy = ServerPolicy("tiny", stub.url, timeout_s=0.1, attempts=2, backoff_s=0.01)
    started = time.monotonic()
    with pytest.raises(ServerError, match=r"after 2 attempts: no reply within 0\.1 s"):
        policy.act([situation()])
    assert time.monotonic() - started < 2
    policy.close()


def test_no_server_at_all_is_named() -> None:
    policy = ServerPolicy("tiny", "http://127.0.0.1:9/v1", attempts=2, backoff_s=0.01)
    with pytest.raises(ServerError, match=r"127\.0\.0\.1:9/v1/chat/completions .*after 2 attempts: ConnectError"):
        policy.act([situation()])
    policy.close()


def test_requests_go_out_side_by_side_within_the_limit(stub: Stub) -> None:
    stub.delay = 0.05
    stub.script = [lambda body: says(str(body["seed"]))] * 12
    policy = ServerPolicy("tiny", stub.url, concurrency=3)
    situations = [replace(situation(), seed=seed) for seed in range(12)]
    assert policy.act(situations) == [str(seed) for seed in range(12)]
    assert stub.most_running == 3
    policy.close()


def test_one_failure_calls_the_others_off(stub: Stub) -> None:
    stub.script = [(400, {}, {})]
    stub.delay = 0.05
    policy = ServerPolicy("tiny", stub.url, concurrency=1)
    with pytest.raises(ServerError):
        policy.act([situation(seed=seed) for seed in range(20)])
    time.sleep(0.2)
    assert len(stub.bodies) <= 2
    assert policy.act([situation()]) == ["Done."]
    policy.close()


def test_a_closed_policy_opens_again_and_leaves_no_thread(stub: Stub, policy: ServerPolicy) -> None:
    def threads() -> int:
        return sum(thread.name == "callgym-server-policy" for thread in threading.enumerate())

    for _ in range(3):
        assert policy.act([situation()]) == ["Done."]
        assert threads() == 1
        policy.close()
        policy.close()
        assert threads() == 0


def test_it_works_where_an_event_loop_runs_already(stub: Stub, policy: ServerPolicy) -> None:
    async def notebook() -> list[str]:
        return policy.act([situation()])

    assert asyncio.run(notebook()) == ["Done."]


def test_the_key_goes_into_the_header_and_nowhere_else(
    stub: Stub,
    policy: ServerPolicy,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("CALLGYM_API_KEY", f"{KEY}\n")
    caplog.set_level(logging.DEBUG)
    out = tmp_path / "episodes.jsonl"
    result = play(policy, out=out)
    assert {headers["authorization"] for headers in stub.headers} == {f"Bearer {KEY}"}
    stub.script = [(401, {}, {"error": f"Incorrect API key: {KEY}"})]
    with pytest.raises(ServerError, match=r"Incorrect API key: \*\*\*") as caught:
        policy.act([situation()])
    told = [str(caught.value), repr(policy), str(vars(policy)), policy.name, caplog.text, *capsys.readouterr()]
    told += [out.read_text(), result.summary.to_json(), json.dumps(stub.bodies)]
    assert not any(KEY in text for text in told)


def test_the_other_key_and_no_key(stub: Stub, policy: ServerPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    policy.act([situation()])
    policy.close()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    policy.act([situation()])
    policy.close()
    assert "authorization" not in stub.headers[0]
    assert stub.headers[1]["authorization"] == "Bearer sk-other"
    monkeypatch.setenv("CALLGYM_API_KEY", "sk-\x01-\N{SNOWMAN}")
    with pytest.raises(ConfigurationError, match="CALLGYM_API_KEY holds characters") as caught:
        policy.act([situation()])
    assert "sk-" not in str(caught.value)


def test_more_fields_of_the_request(stub: Stub) -> None:
    policy = get_policy(
        f"openai:org/model@v1@{stub.url}/", temperature=0.5, extra_body={"top_k": 3, "max_tokens": 9}
    )  # fmt: skip
    policy.act([situation()])
    policy.close()
    (body,) = stub.bodies
    assert (body["model"], body["temperature"], body["top_k"], body["max_tokens"]) == ("org/model@v1", 0.5, 3, 9)


@pytest.mark.parametrize(
    ("url", "options", "named"),
    [
        ("localhost:8000", {}, "is like http://localhost"),
        ("ftp://x/v1", {}, "is like http://localhost"),
        ("http://me:secret@x/v1", {}, "holds more than host and path"),
        ("http://x/v1?key=secret", {}, "holds more than host and path"),
        ("http://x:nine/v1", {}, "cannot be read"),
        ("http://x/v1", {"mode": "text"}, "mode is 'chat'"),
        ("http://x/v1", {"attempts": 0}, "attempts is"),
        ("http://x/v1", {"concurrency": 0}, "concurrency is"),
        ("http://x/v1", {"timeout_s": 0}, "timeout_s is"),
    ],
)
def test_wrong_options_are_named(url: str, options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named) as caught:
        ServerPolicy("tiny", url, **options)
    assert "secret" not in str(caught.value)
