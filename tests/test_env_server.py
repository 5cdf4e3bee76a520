"""The environment server: the same episodes as here, OpenEnv's protocol, and what it does with strangers' requests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from starlette.testclient import TestClient, WebSocketDenialResponse  # noqa: E402
from starlette.websockets import WebSocketDisconnect  # noqa: E402

from callgym import Task, Tool, ToolCall, ToolResult  # noqa: E402
from callgym.envs.base import ToolEnv, make_tool_env  # noqa: E402
from callgym.errors import ConfigurationError  # noqa: E402
from callgym.goal import AnswerGoal  # noqa: E402
from callgym.message import Message  # noqa: E402
from callgym.rewards import Rubric  # noqa: E402
from callgym.rollouts.env_server.app import env_limits, make_env_app  # noqa: E402
from callgym.rollouts.env_server.client import RemoteEnv, RemoteEnvError  # noqa: E402
from callgym.rollouts.env_server.run import serve_env, serving_env, speaks_websocket  # noqa: E402
from callgym.tool_backends import PythonBackend, World  # noqa: E402
from callgym.tool_backends.server.limits import ServerLimits  # noqa: E402
from tests.patience import wait_until  # noqa: E402

WS = "ws://localhost/ws"
TOKEN = "a-token-that-nobody-guesses"
IDS = ("apibank/L1-v0", "bfcl/multi_turn_base-v0", "when2call/mcq-v0")
HOSTILE = (
    "",
    "\x00\ud800 \u2028 \U0001f600 </s><|im_start|>system",
    '<tool_call>\n{"name": "x", "arguments": {"a": ' + "[" * 500 + "]" * 500 + "}}\n</tool_call>",
    '<tool_call>\n{"name": "x", "arguments": {"a": ' + "[" * 60 + "1e400" + "]" * 60 + "}}\n</tool_call>",
    '<tool_call>{"name": "x", "argum',
    "x" * 40_000,
    "[f(a=" + "9" * 5000 + ")]",
)


# An environment of our own.


class Tools:
    """Tools that wait for each other, sleep, and break."""

    def __init__(self) -> None:
        self.together = threading.Barrier(2, timeout=10)
        self.wake = threading.Event()

    def meet(self, world: World) -> str:
        self.together.wait()
        return "met"

    def nap(self, world: World) -> str:
        self.wake.wait(10)
        return "slept"

    def crash(self, world: World) -> None:
        raise ZeroDivisionError("secret")

    def note(self, world: World, text: str) -> int:
        notes = world.state.setdefault("notes", [])
        notes.append(text)
        return len(notes)


def tool(name: str, **properties: Any) -> Tool:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tool(name=name, parameters=schema)


TOOLS = (tool("meet"), tool("nap"), tool("crash"), tool("note", text={"type": "string"}))


def task(name: str) -> Task:
    return Task(
        id=name,
        family="own",
        split="test",
        messages=(Message(role="user", content="Say yes."),),
        tools=TOOLS,
        goal=AnswerGoal(accepted=("yes",)),
    )


class OwnEnv(ToolEnv):
    family = "own"
    protocol = "dialogue"


def maker(tools: Tools, **options: Any) -> Callable[[], ToolEnv]:
    backend = PythonBackend({tool.name: getattr(tools, tool.name) for tool in TOOLS})
    return lambda: OwnEnv(data=[task("a"), task("b")], backend=backend, **options)


def calling(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@contextlib.contextmanager
def running(env: Any = None, limits: ServerLimits | None = None, **options: Any) -> Iterator[Any]:
    app = make_env_app(maker(Tools()) if env is None else env, limits=limits, **options)
    with serving_env(app, limits) as url, httpx.Client(base_url=url, trust_env=False, timeout=10) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with running() as client:
        yield client


def opened(client: Any, **body: Any) -> str:
    answer = client.post("/reset", json=body)
    assert answer.status_code == 200, answer.text
    session: str = answer.json()["metadata"]["session"]
    return session


def step(client: Any, session: str, action: dict[str, Any]) -> Any:
    return client.post("/step", json={"session": session, "action": action})


# The same episodes as here.


def played(env: Any, actions: Callable[[int], str], seed: int, task: int) -> list[Any]:
    """Everything that one episode gives, records as JSON."""
    seen: list[Any] = [env.reset(seed=seed, options={"task": task})]
    for number in range(40):
        observation, reward, terminated, truncated, info = env.step(actions(number))
        episode = info.pop("episode", None)
        calls = [call.to_json() for call in info.pop("calls")], [result.to_json() for result in info.pop("results")]
        record = None if episode is None else episode.to_json()
        seen.append((observation, repr(reward), terminated, truncated, info, calls, record))
        if terminated or truncated:
            break
    return seen


@pytest.mark.parametrize("id", IDS)
def test_an_episode_on_a_server_is_the_episode_here(id: str) -> None:
    here = make_tool_env(id, data="starter")
    with serving_env(make_env_app(id, env_options={"data": "starter"})) as url:
        there = RemoteEnv(url)
        assert there.env_id == id
        for number in range(3):
            script: list[str] = []

            def oracle(step: int, script: list[str] = script) -> str:
                script.append(here.oracle_action())
                return script[-1]

            mine = played(here, oracle, seed=number, task=number)
            assert mine == played(there, script.__getitem__, seed=number, task=number)
            assert mine[-1][-1] is not None
        for number, action in enumerate(HOSTILE):
            script = [action] * 40
            mine = played(here, script.__getitem__, seed=7, task=number)
            assert mine == played(there, script.__getitem__, seed=7, task=number)
        here.reset(seed=5)
        there.reset(seed=5)  # what is drawn without a seed goes on from the last one
        for options in (None, {"sweep": True}, {"sweep": True}):
            assert here.reset(options=options)[1]["task_id"] == there.reset(options=options)[1]["task_id"]
        there.close()


def test_truncating_there_is_truncating_here() -> None:
    make = maker(Tools())
    with serving_env(make_env_app(make)) as url:
        for cut in (None, "half a \ud800"):
            records = []
            for env in (make(), RemoteEnv(url)):
                env.reset(seed=3, options={"task": "b"})
                env.step('<tool_call>\n{"name": "note", "arguments": {"text": "x"}}\n</tool_call>')
                records.append(env.truncate(cut).to_json())
                with pytest.raises(gym.error.ResetNeeded):
                    env.step("late")
                env.close()
            assert records[0] == records[1]
            assert json.loads(records[0])["ended"] == "truncated"


def test_a_return_that_is_not_known_is_null_and_then_nan() -> None:
    make = maker(Tools(), rubric=Rubric(name="none", weights={"tool_name_f1": 1.0}))  # nothing here asks for calls
    with running(make) as client:
        session = opened(client)
        answer = step(client, session, {"text": "yes"})
        assert answer.json()["reward"] is None
        assert answer.json()["done"] is True
        remote = RemoteEnv(str(client.base_url))
        remote.reset(seed=0)
        assert math.isnan(remote.step("yes")[1])
        remote.close()


def test_the_client_says_what_is_wrong_as_the_environment_does(client: Any) -> None:
    env = RemoteEnv(str(client.base_url))
    with pytest.raises(gym.error.ResetNeeded):
        env.step("early")
    with pytest.raises(ConfigurationError, match="no task 'z'"):
        env.reset(options={"task": "z"})
    with pytest.raises(ConfigurationError, match="'task' and 'sweep'"):
        env.reset(options={"tusk": 1})
    env.reset(seed=1)
    with pytest.raises(TypeError, match="text"):
        env.step(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError):
        env.reset(options={"task": 99})
    env.step("the episode of before goes on")
    assert env.state()["step_count"] == 1
    env.close()
    env.close()
    for url in ("ftp://x", "http://u:p@host", 3):
        with pytest.raises(ConfigurationError):
            RemoteEnv(url)  # type: ignore[arg-type]
    gone = RemoteEnv("http://127.0.0.1:1", timeout_s=5)
    with pytest.raises(RemoteEnvError, match="cannot be reached"):
        gone.reset(seed=0)


def test_an_action_of_any_length_is_played(client: Any) -> None:
    env = RemoteEnv(str(client.base_url))
    env.reset(seed=0)
    info = env.step("\x01" * 3_000_000)[-1]
    assert "1000000 characters" in info["messages"][-1]["content"]
    env.close()


# Plain HTTP.


def test_calls_as_objects_are_written_in_the_dialect(client: Any) -> None:
    session = opened(client, seed=0, task="a", episode_id="mine")
    answer = step(client, session, calling("note", text="first")).json()
    assert [call["name"] for call in answer["metadata"]["calls"]] == ["note"]
    assert answer["metadata"]["results"][0]["content"] == 1
    broken = step(client, session, {"calls": [{"name": "note", "arguments": "{not json"}], "content": "so"}).json()
    assert broken["metadata"]["calls"] == []
    assert not broken["done"]
    state = client.get("/state", params={"session": session}).json()
    assert state == {
        "episode_id": "mine", "step_count": 2, "env_id": "OwnEnv", "task_id": "a", "seed": 0, "turn": 0, "done": False,
    }  # fmt: skip
    assert client.post("/close", json={"session": session}).status_code == 204
    assert step(client, session, {"text": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/reset", {"task": "nowhere"}, 400),
        ("/reset", {"task": -1}, 400),
        ("/reset", {"task": 1.5}, 400),
        ("/reset", {"task": []}, 400),
        ("/reset", {"seed": -1}, 400),
        ("/reset", {"seed": 2**64}, 400),
        ("/reset", {"seed": True}, 400),
        ("/reset", {"sweep": 1}, 400),
        ("/reset", {"episode_id": "x" * 300}, 400),
        ("/reset", {"unknown": 1}, 400),
        ("/reset", {"session": 3}, 400),
        ("/reset", {"session": "../../etc"}, 404),
        ("/reset", [], 400),
        ("/reset", None, 400),
        ("/step", {}, 400),
        ("/step", {"session": "x"}, 400),
        ("/step", {"session": "x", "action": "text"}, 400),
        ("/step", {"session": "x", "action": {"text": "y"}}, 404),
        ("/step", {"session": "SESSION", "action": {}}, 400),
        ("/step", {"session": "SESSION", "action": {"text": 1}}, 400),
        ("/step", {"session": "SESSION", "action": {"text": "a", "calls": []}}, 400),
        ("/step", {"session": "SESSION", "action": {"calls": [1]}}, 400),
        ("/step", {"session": "SESSION", "action": {"calls": [{"name": None}]}}, 400),
        ("/step", {"session": "SESSION", "action": {"calls": [{"name": "a", "more": 1}]}}, 400),
        ("/step", {"session": "SESSION", "action": {"content": []}}, 400),
        ("/step", {"session": "SESSION", "action": {"text": "a"}, "timeout_s": 0}, 400),
        ("/step", {"session": "SESSION", "action": {"text": "a"}, "timeout_s": "1"}, 400),
        ("/step", {"session": "SESSION", "action": {"text": "a"}, "more": 1}, 400),
        ("/truncate", {"session": "SESSION", "text": 1}, 400),
        ("/truncate", {"session": "SESSION"}, 409),
        ("/close", {}, 400),
        ("/close", {"session": "x"}, 404),
        ("/nowhere", {}, 404),
        ("/state", {}, 405),
    ],
)
def test_what_is_no_request_is_refused_with_a_sentence(client: Any, path: str, body: Any, status: int) -> None:
    session = opened(client)
    text = json.dumps(body).replace('"SESSION"', json.dumps(session))
    answer = client.post(path, content=text, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "message"}
    client.post("/close", json={"session": session})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["session", "seed", "task", "sweep", "action", "text", "calls", "name", "arguments", "data"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(body=st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_body_raises(client: Any, body: bytes) -> None:
    session = opened(client)
    for path in ("/reset", "/step", "/truncate", "/close"):
        for text in (body, body.replace(b'"session": null', b'"session": ' + json.dumps(session).encode())):
            answer = client.post(path, content=text, headers={"content-type": "application/json"})
            assert answer.status_code < 500, answer.text
            if answer.status_code == 200:
                client.post("/close", json={"session": answer.json()["metadata"]["session"]})
    client.post("/close", json={"session": session})


def test_bodies_that_are_too_long_too_deep_or_no_json_are_refused() -> None:
    with running(limits=env_limits(max_body_bytes=5000)) as client:
        session = opened(client)
        assert step(client, session, {"text": "x" * 6000}).status_code == 413
        for content in (b"\xff", b"{", b"[" * 4000, b'{"seed": NaN}', b'{"seed": 1e999}'):
            answer = client.post("/reset", content=content, headers={"content-type": "application/json"})
            assert answer.status_code == 400, content
        assert client.post("/reset", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
        assert step(client, session, {"text": "yes"}).status_code == 200


def test_what_a_client_is_told_of_the_server(client: Any) -> None:
    assert client.get("/health").json()["status"] == "healthy"
    assert client.get("/metadata").json()["name"] == "OwnEnv"
    assert set(client.get("/schema").json()) == {"action", "observation", "state"}
    assert client.get("/tasks", params={"offset": 1}).json()["tasks"] == [{"index": 1, "id": "b"}]
    assert client.get("/tasks", params={"limit": "x"}).status_code == 400
    assert client.get("/state").status_code == 400


# Sessions.


def test_sessions_step_side_by_side_and_share_nothing() -> None:
    with running() as client:
        keys = [opened(client, seed=0, task="a") for _ in range(2)]
        answers: list[Any] = [None, None]

        def meet(number: int) -> None:
            answers[number] = step(client, keys[number], calling("meet"))

        threads = [threading.Thread(target=meet, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer.json()["metadata"]["results"][0]["content"] for answer in answers] == ["met", "met"]
        assert step(client, keys[0], calling("note", text="mine")).json()["metadata"]["results"][0]["content"] == 1
        assert step(client, keys[1], calling("note", text="mine")).json()["metadata"]["results"][0]["content"] == 1


def test_steps_of_one_session_run_in_order() -> None:
    with running() as client:
        key = opened(client, seed=0, task="a")
        numbers: list[int] = []

        def note() -> None:
            answer = step(client, key, calling("note", text="x")).json()
            numbers.append(answer["metadata"]["results"][0]["content"])

        threads = [threading.Thread(target=note) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(numbers) == list(range(1, 9))
        assert client.get("/state", params={"session": key}).json()["step_count"] == 8


def test_tools_that_wait_are_awaited() -> None:
    together = asyncio.Barrier(2)

    class Waiting:
        waits = True

        def open(self, task: Task, seed: int) -> Waiting:
            return self

        def call(self, call: ToolCall) -> ToolResult:
            raise AssertionError("it is awaited")

        async def acall(self, call: ToolCall) -> ToolResult:
            async with asyncio.timeout(10):
                await together.wait()
            return ToolResult(content="met")

        def state(self) -> dict[str, Any]:
            return {}

        def close(self) -> None:
            return None

    with running(lambda: OwnEnv(data=[task("a")], backend=Waiting())) as client:
        keys = [opened(client) for _ in range(2)]
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda key=key: answers.append(step(client, key, calling("meet")))) for key in keys
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer.json()["metadata"]["results"][0]["content"] for answer in answers] == ["met", "met"]


def test_there_is_a_most_of_sessions_and_they_expire() -> None:
    now = [0.0]
    limits = env_limits(max_sessions=2, session_seconds=60)
    with running(limits=limits, clock=lambda: now[0]) as client:
        remote = RemoteEnv(str(client.base_url))
        remote.reset(seed=1)
        opened(client)
        refused = client.post("/reset", json={})
        assert refused.status_code == 503
        assert refused.json()["error"] == "too_many_sessions"
        now[0] = 61.0
        with pytest.raises(RemoteEnvError, match="no such session"):
            remote.step("late")
        with pytest.raises(RemoteEnvError, match="no such session"):
            remote.reset()
        remote.reset(seed=1)  # with a seed nothing is lost
        assert remote.step("yes")[2]
        assert client.post("/reset", json={"task": "z"}).status_code == 400
        opened(client)  # a reset that was refused keeps no place
        remote.close()


def test_a_step_that_takes_too_long_gives_its_episode_up() -> None:
    tools = Tools()
    with running(maker(tools), limits=env_limits(call_seconds=0.2)) as client:
        key = opened(client)
        late = step(client, key, calling("nap"))
        assert (late.status_code, late.json()["error"]) == (504, "timeout")
        assert step(client, key, {"text": "yes"}).status_code in (409, 503)  # lost, or still at work
        tools.wake.set()
        wait_until(lambda: client.post("/reset", json={"session": key}).status_code == 200)
        assert step(client, key, {"text": "yes"}).json()["done"]


def test_a_tool_that_breaks_fails_its_step_and_says_nothing_of_the_call(caplog: pytest.LogCaptureFixture) -> None:
    with running() as client:
        key = opened(client)
        broken = step(client, key, calling("crash"))
        assert (broken.status_code, broken.json()["error"]) == (500, "internal_error")
        assert "secret" not in broken.text
        assert step(client, key, {"text": "yes"}).status_code == 409
        assert client.post("/reset", json={"session": key}).status_code == 200
        assert step(client, key, {"text": "yes"}).json()["reward"] == 1.0


def test_who_may_ask() -> None:
    with running(token=TOKEN) as client:
        assert client.get("/health").status_code == 200
        assert client.post("/reset", json={}).status_code == 401
        assert client.post("/reset", json={}, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    with running() as client:
        assert client.post("/reset", json={}, headers={"host": "evil.example"}).status_code == 403
        assert client.post("/reset", json={}, headers={"origin": "http://evil.example"}).status_code == 403
    with pytest.raises(ConfigurationError, match="token"):
        serve_env(maker(Tools()), host="0.0.0.0")


def test_a_client_shows_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_env(make_env_app(maker(Tools()), token=TOKEN)) as url:
        with pytest.raises(RemoteEnvError, match="token"):
            RemoteEnv(url).reset(seed=0)
        monkeypatch.setenv("OWN_TOKEN", TOKEN)
        env = RemoteEnv(url, token_env="OWN_TOKEN")
        env.reset(seed=0)
        assert env.step("yes")[1] == 1.0
        env.close()


@pytest.mark.parametrize(
    "arguments",
    [{"env": 3}, {"env": "nowhere/at-all-v0"}, {"env": IDS[0], "env_options": {"tusk": 1}}, {"token": "short"}],
)
def test_a_server_that_cannot_be_is_not_made(arguments: dict[str, Any]) -> None:
    with pytest.raises((ConfigurationError, gym.error.Error)):
        make_env_app(**{"env": maker(Tools()), **arguments})


# OpenEnv's protocol.


@pytest.fixture
def socket() -> Iterator[Any]:
    app = make_env_app(maker(Tools()), limits=env_limits(max_body_bytes=5000))
    with TestClient(app, base_url="http://localhost") as client, client.websocket_connect(WS) as socket:
        yield socket


def asked(socket: Any, **message: Any) -> Any:
    socket.send_text(json.dumps(message))
    return socket.receive_json()


def test_openenv_plays_an_episode(socket: Any) -> None:
    begun = asked(socket, type="reset", data={"seed": 4, "task": "b", "episode_id": "e"})
    assert begun["type"] == "observation"
    assert set(begun["data"]) == {"observation", "reward", "done", "metadata"}
    assert (begun["data"]["reward"], begun["data"]["done"]) == (None, False)
    stepped = asked(socket, type="step", data={**calling("note", text="x"), "metadata": {}})
    assert stepped["data"]["metadata"]["results"][0]["content"] == 1
    state = asked(socket, type="state")
    assert (state["type"], state["data"]["episode_id"], state["data"]["step_count"]) == ("state", "e", 1)
    ended = asked(socket, type="step", data={"text": "yes"})["data"]
    assert ended["observation"]["metadata"] == ended["metadata"]
    assert (ended["reward"], ended["done"]) == (1.0, True)
    assert ended["metadata"]["episode"]["ended"] == "terminated"
    late = asked(socket, type="step", data={"text": "yes"})
    assert (late["type"], late["data"]["code"]) == ("error", "EXECUTION_ERROR")
    asked(socket, type="reset")
    asked(socket, type="step", data={"calls": [{"name": "note", "arguments": {"text": "x"}}]})
    assert asked(socket, type="truncate")["data"]["metadata"]["episode"]["ended"] == "truncated"
    socket.send_text('{"type": "close"}')
    with pytest.raises(WebSocketDisconnect):
        socket.receive_json()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "INVALID_JSON"),
        ("[]", "VALIDATION_ERROR"),
        ('{"type": "reset", "data": []}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"seed": "x"}}', "VALIDATION_ERROR"),
        ('{"type": "step"}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"text": "x"}}', "EXECUTION_ERROR"),
        ('{"type": ["x"]}', "UNKNOWN_TYPE"),
        ("[" * 4000, "INVALID_JSON"),
        ('{"type": "step", "data": {"text": "' + "x" * 6000 + '"}}', "EXECUTION_ERROR"),
    ],
)
def test_what_is_no_message_is_refused_and_the_connection_stays(socket: Any, text: str, code: str) -> None:
    socket.send_text(text)
    refused = socket.receive_json()
    assert (refused["type"], refused["data"]["code"]) == ("error", code)
    socket.send_bytes(b"\xff\xfe")
    assert socket.receive_json()["data"]["code"] == "INVALID_JSON"
    assert asked(socket, type="reset")["type"] == "observation"
    assert asked(socket, type="step", data=calling("crash"))["data"]["error"] == "internal_error"


def test_a_connection_is_a_session_and_its_end_is_its_end() -> None:
    app = make_env_app(maker(Tools()), limits=env_limits(max_sessions=1))
    with TestClient(app, base_url="http://localhost") as client:
        for _ in range(3):
            with client.websocket_connect(WS) as socket:
                assert asked(socket, type="reset")["type"] == "observation"
                with client.websocket_connect(WS) as second:
                    assert second.receive_json()["data"]["code"] == "CAPACITY_REACHED"
        assert client.post("/reset", json={}).status_code == 200


def test_a_silent_connection_is_closed() -> None:
    app = make_env_app(maker(Tools()), limits=env_limits(session_seconds=0.05))
    with (
        TestClient(app, base_url="http://localhost") as client,
        client.websocket_connect(WS) as socket,
        pytest.raises(WebSocketDisconnect),
    ):
        socket.receive_json()


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_a_web_page_of_another_place_opens_no_connection(headers: dict[str, str]) -> None:
    with (
        TestClient(make_env_app(maker(Tools())), base_url="http://localhost") as client,
        pytest.raises((WebSocketDisconnect, WebSocketDenialResponse)),
        client.websocket_connect(WS, headers=headers),
    ):
        pass


def test_openenv_s_own_client_plays_an_episode() -> None:
    generic_client = pytest.importorskip("openenv.core.generic_client")
    assert speaks_websocket()
    limits = env_limits(body_seconds=0.3)
    with serving_env(make_env_app(IDS[1], env_options={"data": "starter"}, limits=limits), limits) as url:
        here = make_tool_env(IDS[1], data="starter")
        observation, _ = here.reset(seed=1, options={"task": 0})
        with generic_client.GenericEnvClient(base_url=url).sync() as env:
            result = env.reset(seed=1, task=0)
            assert result.observation["text"] == observation
            while not result.done:
                action = here.oracle_action()
                observation, reward, _, _, info = here.step(action)
                threading.Event().wait(0.15)  # longer in all than a slow request may take
                result = env.step({"text": action})
                assert result.observation["text"] == observation
            assert result.reward == reward
            assert result.observation["metadata"]["episode"] == info["episode"].to_dict()
            assert env.state()["done"] is True
