"""Wrappers around backends: checks, time limits, memories, limits on concurrency, processes; and several at once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ConfigurationError, DataError, Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.tool_backends import PythonBackend, Session, ToolBackend, ToolFailure, World, WrappedSession, acall, waits
from callgym.tool_backends.base import UnknownState, known_state
from callgym.tool_backends.cache import cached
from callgym.tool_backends.concurrency import limited
from callgym.tool_backends.isolated import IsolatedBackend, isolated
from callgym.tool_backends.portal import portal
from callgym.tool_backends.time_limit import time_limited
from callgym.tool_backends.validation import validated
from callgym.tool_backends.wrapped import WrappedBackend
from tests.patience import wait_until


def tool(name: str, **properties: str) -> Tool:
    schema: Any = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tool(name=name, parameters=schema)


TOOLS = (tool("add", a="integer"), tool("read"), tool("refuse"))


def add(world: World, a: int) -> int:
    world.state["sum"] = world.state.get("sum", 0) + a
    return int(world.state["sum"])


def read(world: World) -> dict[str, Any]:
    return {"sum": world.state.get("sum", 0)}


def refuse(world: World) -> None:
    raise ToolFailure("Not today.")


class KnowingBackend(PythonBackend):
    """Knows its tools."""

    tools = TOOLS


FUNCTIONS: dict[str, Callable[..., Any]] = {"add": add, "read": read, "refuse": refuse}
COUNTING = KnowingBackend(FUNCTIONS)


def make_task(id: str = "t", gold: Any = ()) -> Task:
    return Task.from_dict(
        {
            "id": id,
            "family": "mine",
            "split": "test",
            "messages": [{"role": "user", "content": "count"}],
            "tools": [tool.to_dict() for tool in TOOLS],
            "goal": {"kind": "calls", "turns": [list(gold)]},
        }
    )


TASK = make_task()


def calling(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


class WaitingTools:
    """Tools that wait: a call does what the argument ``do`` says."""

    def __init__(self) -> None:
        self.inside = self.most = self.made = 0
        self.cancelled: list[str] = []

    def open(self, task: Task, seed: int) -> WaitingToolsSession:
        return WaitingToolsSession(self)


class WaitingToolsSession:
    waits = True

    def __init__(self, tools: WaitingTools) -> None:
        self.tools = tools

    def call(self, call: ToolCall) -> ToolResult:
        return portal().run(self.acall(call))

    async def acall(self, call: ToolCall) -> ToolResult:
        do, tools = str(call.arguments.get("do", "")), self.tools
        tools.inside += 1
        tools.most = max(tools.most, tools.inside)
        try:
            if do == "hang":
                await asyncio.sleep(30)
            if do == "defy":
                for _ in range(10):
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.sleep(0.05)
            if do == "break":
                raise ZeroDivisionError("a bug in a tool")
            await asyncio.sleep(0.005)
            tools.made += 1
            return ToolResult(content=tools.made)
        except asyncio.CancelledError:
            tools.cancelled.append(do)
            raise
        finally:
            tools.inside -= 1

    def state(self) -> dict[str, Any]:
        return {"made": self.tools.made}

    def close(self) -> None:
        pass


# Wrapped backends.


def test_a_wrapped_backend_has_the_tools_of_the_one_inside() -> None:
    class Plain(WrappedBackend):
        def wrap(self, session: Session, task: Task, seed: int) -> Session:
            return WrappedSession(session)

    assert Plain(COUNTING).tools == TOOLS
    assert Plain(Plain(PythonBackend({}))).tools == ()
    session = Plain(Plain(COUNTING)).open(TASK, 0)
    assert session.call(calling("add", a=2)).content == 2
    assert session.state() == {"sum": 2}
    session.close()


# Validation.

CHECKS: list[tuple[str, ToolCall, str | None, Any]] = [
    ("strict", calling("add", a=1), None, 1),
    ("strict", calling("add", a="1"), "invalid_arguments", None),
    ("text", calling("add", a="1"), None, 1),
    ("lenient", calling("add", a="1"), None, 1),
    ("lenient", calling("add", a=1.0), None, 1),
    ("lenient", calling("add", a="one"), "invalid_arguments", None),
    ("strict", calling("add"), "invalid_arguments", None),
    ("strict", calling("add", a=1, b=2), "invalid_arguments", None),
    ("strict", calling("subtract", a=1), "unknown_tool", None),
    ("lenient", calling("Add", a=1), "unknown_tool", None),
    ("strict", calling("refuse"), "tool_error", None),
]


@pytest.mark.parametrize("backend", [COUNTING, PythonBackend(FUNCTIONS)], ids=["its own tools", "the task's tools"])
@pytest.mark.parametrize(("coercion", "call", "error", "content"), CHECKS)
def test_calls_are_checked(
    backend: ToolBackend, coercion: Any, call: ToolCall, error: str | None, content: Any
) -> None:
    session = validated(backend, coercion=coercion).open(TASK, 0)
    result = session.call(call)
    assert (result.error, result.content) == (error, content)
    assert asyncio.run(acall(session, calling("read"))).content == {"sum": content or 0}


def test_given_tools_come_first() -> None:
    backend = validated(COUNTING, TOOLS[:1])
    assert backend.tools == TOOLS[:1]
    assert backend.open(TASK, 0).call(calling("read")).message == "there is no tool 'read'; the tools are: add"
    none = validated(COUNTING, ())
    assert none.open(TASK, 0).call(calling("read")).message == "there is no tool 'read'; the tools are: none"


@pytest.mark.parametrize(
    ("tools", "coercion", "message"),
    [(TOOLS, "loose", "coercion is one of 'strict', 'text', 'lenient'"), (TOOLS[:1] * 2, "strict", "more than once")],
)
def test_wrong_options_of_validation(tools: Any, coercion: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        validated(COUNTING, tools, coercion=coercion)


def test_a_damaged_schema_is_told_at_once() -> None:
    with pytest.raises(DataError, match="not a JSON Schema"):
        validated(COUNTING, [Tool(name="odd", parameters={"type": "object", "properties": {"a": {"type": "int"}}})])


# Time limits.


def both(session: Session, call: ToolCall) -> list[ToolResult]:
    """What comes back without waiting and with it."""
    return [session.call(call), asyncio.run(acall(session, call))]


@pytest.mark.parametrize("do", ["hang", "defy"])
def test_what_takes_too_long_is_cancelled(do: str) -> None:
    tools = WaitingTools()
    session = time_limited(tools, 0.1).open(TASK, 0)
    assert waits(session)
    for result in both(session, calling("x", do=do)):
        assert result.error == "timeout"
        assert result.message == "the tool gave no answer within 0.1 seconds; the call was cancelled"
    assert tools.cancelled == (["hang", "hang"] if do == "hang" else [])
    assert [result.error for result in both(session, calling("x"))] == [None, None]


def test_a_bug_in_a_tool_that_waits_is_an_exception() -> None:
    session = time_limited(WaitingTools(), 5).open(TASK, 0)
    with pytest.raises(ZeroDivisionError):
        session.call(calling("x", do="break"))


def test_a_call_that_is_given_up_is_cancelled() -> None:
    tools = WaitingTools()
    session = time_limited(tools, 5).open(TASK, 0)

    async def give_up() -> None:
        task = asyncio.ensure_future(acall(session, calling("x", do="hang")))
        while not tools.inside:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait((task,))

    asyncio.run(give_up())
    wait_until(lambda: tools.cancelled == ["hang"])


def test_what_blocks_cannot_be_limited() -> None:
    with pytest.raises(ConfigurationError, match=r"isolated\(backend, seconds\)"):
        time_limited(COUNTING, 1).open(TASK, 0)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_a_limit_is_a_number_of_seconds(seconds: Any) -> None:
    for wrap in (time_limited, isolated):
        with pytest.raises(ConfigurationError, match="seconds is a number of seconds above 0"):
            wrap(COUNTING, seconds)


# Memories.


class Recording:
    """Counts the calls that reach it; answers with their number, and the arguments."""

    read_only: Any = ("look",)

    def __init__(self) -> None:
        self.reached: list[str] = []

    def open(self, task: Task, seed: int) -> RecordingSession:
        return RecordingSession(self)


class RecordingSession:
    def __init__(self, backend: Recording) -> None:
        self.backend = backend

    def call(self, call: ToolCall) -> ToolResult:
        self.backend.reached.append(call.name)
        if call.arguments.get("fail"):
            return ToolResult(error="tool_error", message="no")
        return ToolResult(content={"number": len(self.backend.reached), "list": [1]})

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


def numbers(session: Session, calls: list[ToolCall]) -> list[Any]:
    found: list[Any] = [session.call(call).content for call in calls]
    return [content and content["number"] for content in found]


LOOK, WRITE = calling("look", at=1), calling("write")
MEMORIES: list[tuple[dict[str, Any], list[ToolCall], list[Any]]] = [
    ({}, [LOOK, LOOK, calling("look", at=2), LOOK], [1, 1, 2, 1]),
    ({}, [WRITE, WRITE], [1, 2]),
    ({}, [LOOK, WRITE, LOOK, LOOK], [1, 2, 3, 3]),
    ({}, [calling("look", a=1, b=2), calling("look", b=2, a=1)], [1, 1]),
    ({}, [calling("look", at=value) for value in (1, 1.0, True, "1", [1], None)], [1, 2, 3, 4, 5, 6]),
    ({}, [calling("look", fail=True), calling("look", fail=True), LOOK], [None, None, 3]),
    ({"entries": 1}, [LOOK, calling("look", at=2), LOOK], [1, 2, 3]),
    ({"longest": 5}, [LOOK, LOOK], [1, 2]),
    ({"read_only": ["write"]}, [LOOK, WRITE, WRITE, LOOK, WRITE], [1, 2, 2, 3, 4]),
    ({"shared": True}, [LOOK, WRITE, LOOK], [1, 2, 1]),
]


@pytest.mark.parametrize(("options", "calls", "expected"), MEMORIES)
def test_what_only_reads_is_remembered(options: dict[str, Any], calls: list[ToolCall], expected: list[Any]) -> None:
    assert numbers(cached(Recording(), **options).open(TASK, 0), calls) == expected


def test_a_memory_is_of_one_session_or_of_all() -> None:
    for shared, expected in ((False, 2), (True, 1)):
        backend = Recording()
        memory = cached(backend, shared=shared)
        for seed in range(2):
            session = memory.open(TASK, seed)
            session.call(LOOK)
            session.close()
        assert len(backend.reached) == expected


def test_a_backend_that_only_reads_is_remembered_whole() -> None:
    backend = Recording()
    backend.read_only = True
    assert numbers(cached(backend).open(TASK, 0), [WRITE, LOOK, WRITE]) == [1, 2, 1]


def test_an_answer_that_is_remembered_is_a_copy() -> None:
    session = cached(Recording()).open(TASK, 0)
    for _ in range(3):
        content: Any = session.call(LOOK).content
        assert content == {"number": 1, "list": [1]}
        content["list"].append("mine")


@pytest.mark.parametrize(
    ("backend", "options", "message"),
    [
        (COUNTING, {}, "read_only names the tools that change nothing"),
        (COUNTING, {"read_only": "look"}, "read_only names"),
        (COUNTING, {"read_only": [1]}, "read_only names"),
        (Recording(), {"entries": 0}, "entries is a whole number of at least 1"),
        (Recording(), {"longest": 0.5}, "longest is a whole number of at least 1"),
    ],
)
def test_wrong_options_of_a_memory(backend: ToolBackend, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        cached(backend, **options)


# Limits on concurrency.


@pytest.mark.parametrize("together", [1, 3])
def test_no_more_calls_at_once_than_allowed(together: int) -> None:
    tools = WaitingTools()
    backend = limited(tools, together)
    sessions = [backend.open(TASK, seed) for seed in range(12)]

    async def all_of_them() -> list[ToolResult]:
        return await asyncio.gather(*[acall(session, calling("x")) for session in sessions])

    results = asyncio.run(all_of_them())
    assert sorted(str(result.content) for result in results) == sorted(map(str, range(1, 13)))
    assert tools.most == together
    with ThreadPoolExecutor(6) as threads:  # the same places from threads
        list(threads.map(lambda session: session.call(calling("x")), sessions))
    assert (tools.most, tools.made) == (together, 24)


def test_tools_that_block_wait_in_their_threads() -> None:
    inside, most = 0, 0
    lock = threading.Lock()

    def work(world: World) -> str:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.005)
        with lock:
            inside -= 1
        return "done"

    backend = limited(PythonBackend({"work": work}), 2)
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda seed: backend.open(TASK, seed).call(calling("work")), range(20)))
    assert {result.content for result in results} == {"done"}
    assert most == 2


@pytest.mark.parametrize("do", ["hang", "break"])
def test_a_place_is_given_back_whatever_happens(do: str) -> None:
    tools = WaitingTools()
    backend = limited(tools, 1)

    async def meddle() -> ToolResult:
        first, second, third = (backend.open(TASK, 0) for _ in range(3))
        running = asyncio.ensure_future(acall(first, calling("x", do=do)))
        waiting = asyncio.ensure_future(acall(second, calling("x")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        running.cancel()
        await asyncio.wait((running, waiting))
        return await asyncio.wait_for(acall(third, calling("x")), 5)

    assert asyncio.run(meddle()).content == 1
    assert tools.most == 1


@pytest.mark.parametrize("count", [0, -1, 1.0, True, None])
def test_a_limit_is_a_whole_number(count: Any) -> None:
    with pytest.raises(ConfigurationError, match="calls_at_once is a whole number of at least 1"):
        limited(COUNTING, count)


# Processes.

MODULE = """
import os, subprocess, threading, time
from callgym.tool_backends import PythonBackend, ToolFailure

class Odd(Exception):
    def __init__(self, first, second):
        super().__init__(first)
        self.lock = threading.Lock()

class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")

def count(world):
    world.state["count"] = world.state.get("count", 0) + 1
    return [world.state["count"], int(world.rng.integers(1000)), os.getpid()]

def burn(world):
    world.state["count"] = 1000
    return 9**9**9

def start(world, path):
    child = subprocess.Popen(["sleep", "60"])
    with open(path, "w") as file:
        file.write(str(child.pid))
    time.sleep(60)

def odd(world): raise Odd("odd", threading.Lock())
def mute(world): raise Mute
def path(world): return open("/nowhere/of/mine/file.txt").read()
def leave(world): os._exit(3)
def quit(world): raise SystemExit(4)
def flood(world): print("x" * 3_000_000); return "done"
def big(world): return "x" * 3_000_000
def wrong(world): return {1, 2}
def refuse(world): raise ToolFailure("Not today.")
def echo(world, value): return value

FUNCTIONS = {f.__name__: f for f in (count, burn, start, odd, mute, path, leave, quit, flood, big, wrong, refuse, echo)}
BACKEND = PythonBackend(FUNCTIONS)

def make():
    return PythonBackend({"here": lambda world: "local", **FUNCTIONS})

def broken():
    raise RuntimeError("no such luck")

class Hopeless:
    def open(self, task, seed):
        raise KeyError(task.id)
"""


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IsolatedBackend]:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "hostile_tools.py").write_text(MODULE, encoding="utf-8")
    sys.path.insert(0, str(folder))
    made = isolated("hostile_tools:make", seconds=20, spare=3, max_answer_bytes=1_000_000)
    yield made
    made.close()
    sys.path.remove(str(folder))


def content_of(session: Session, name: str, **arguments: Any) -> Any:
    result = session.call(calling(name, **arguments))
    assert result.error is None, result
    return result.content


def test_a_session_in_a_process_is_like_any_other(backend: IsolatedBackend) -> None:
    import hostile_tools  # type: ignore[import-not-found]

    session, here = backend.open(TASK, 7), hostile_tools.make().open(TASK, 7)
    assert waits(session)
    for _ in range(3):
        assert content_of(session, "count")[:2] == content_of(here, "count")[:2]
    assert session.state() == here.state() == {"count": 3}
    for call in (
        calling("refuse"),
        calling("here"),
        calling("nothing"),
        calling("echo", value={"ü": ["\ud800", 1e300]}),
    ):
        assert both(session, call) == both(here, call)
    assert content_of(session, "count")[2] != os.getpid()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.call(calling("count"))


FAILURES = [
    ("odd", "the tool failed: Odd: odd"),
    ("mute", "the tool failed: Mute"),
    ("path", "the tool failed: FileNotFoundError: [Errno 2] No such file or directory: '(a path)'"),
    ("quit", "the tool failed: SystemExit: 4"),
    ("wrong", "the tool failed: TypeError: the tool wrong returned no JSON value: set is not a JSON value: '{1, 2}'"),
    ("big", "the tool's answer is too long, or cannot be read"),
    ("refuse", "Not today."),
]


def test_what_a_tool_does_is_a_result(backend: IsolatedBackend) -> None:
    session = backend.open(TASK, 0)
    process = content_of(session, "count")[2]
    for name, message in FAILURES:
        assert session.call(calling(name)) == ToolResult(error="tool_error", message=message)
        assert content_of(session, "count")[2] == process
    assert content_of(session, "flood") == "done"
    assert session.state() == {"count": 1 + len(FAILURES)}
    session.close()


def test_what_hangs_or_ends_is_undone_and_the_rest_holds(backend: IsolatedBackend, tmp_path: Path) -> None:
    hasty = isolated("hostile_tools:make", seconds=1, spare=1)
    session = hasty.open(TASK, 3)
    first = content_of(session, "count")
    session.call(calling("odd"))
    assert session.call(calling("burn")) == ToolResult(
        error="timeout",
        message="the tool gave no answer within 1 seconds and was stopped; nothing that this call did remains, what "
        "earlier calls did still holds",
    )
    second = content_of(session, "count")
    assert second[0] == 2
    assert second[2] != first[2]
    ended = session.call(calling("leave"))
    assert (ended.error, "(exit status 3)" in ended.message) == ("tool_error", True)
    note = tmp_path / "child"
    assert session.call(calling("start", path=str(note))).error == "timeout"
    child = int(note.read_text(encoding="utf-8"))
    wait_until(lambda: not runs(child))  # what a tool has started ends with it
    third = content_of(session, "count")
    fresh = backend.open(TASK, 3)
    assert [first[:2], second[:2], third[:2]] == [content_of(fresh, "count")[:2] for _ in range(3)]
    session.close()
    fresh.close()
    hasty.close()


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split()[2] != "Z"
    except OSError:
        return False


def test_a_call_that_is_given_up_does_not_answer_the_next_one(backend: IsolatedBackend) -> None:
    session = backend.open(TASK, 0)
    content_of(session, "count")

    async def give_up() -> None:
        task = asyncio.ensure_future(session.acall(calling("burn")))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait((task,))

    asyncio.run(give_up())
    assert content_of(session, "count")[0] == 2
    session._worker.kill()  # type: ignore[union-attr]  # whoever did that
    assert content_of(session, "count")[0] == 3
    session.close()


def test_a_session_that_cannot_be_brought_back_says_so(backend: IsolatedBackend, monkeypatch: Any) -> None:
    session = backend.open(TASK, 0)
    content_of(session, "count")
    monkeypatch.setattr(session, "_done", [("call", {"call": calling("leave").to_dict()})])
    assert session.call(calling("leave")).error == "tool_error"
    for expected in ("cannot be brought back to where they were", "cannot be brought back"):
        result = session.call(calling("count"))
        assert (result.error, result.message.endswith(expected)) == ("unavailable", True)
    with pytest.raises(UnknownState):
        session.state()
    assert known_state(session) is None
    session.close()


def test_processes_are_kept_and_shared(backend: IsolatedBackend) -> None:
    async def together() -> list[list[Any]]:
        sessions = [backend.open(TASK, seed) for seed in range(3)]
        results = await asyncio.gather(*[session.acall(calling("count")) for session in sessions])
        for session in sessions:
            session.close()
        return [result.content for result in results]  # type: ignore[misc]

    first, second = asyncio.run(together()), asyncio.run(together())
    assert [content[:2] for content in first] == [content[:2] for content in second]
    assert len({content[2] for content in first}) == 3
    assert {content[2] for content in first} & {content[2] for content in second}


def test_backends_go_through_pickle(backend: IsolatedBackend) -> None:
    again = pickle.loads(pickle.dumps(backend))
    assert vars(again)["inner"] == "hostile_tools:make"
    assert again.seconds == 20.0
    stack = pickle.loads(pickle.dumps(cached(limited(validated(COUNTING), 2), ["read"], shared=True)))
    session = stack.open(TASK, 0)
    assert [session.call(calling("add", a=1)).content for _ in range(2)] == [1, 2]
    assert pickle.loads(pickle.dumps(session)).call(calling("add", a=1)).content == 3


def test_no_process_is_left_behind(backend: IsolatedBackend) -> None:
    own = isolated("hostile_tools:BACKEND", 1, spare=1)
    process = content_of(own.open(TASK, 0), "count")[2]
    assert runs(process)
    del own
    gc.collect()
    wait_until(lambda: not runs(process))


WRONG_BACKENDS = [
    ("no_such_module:x", "No module named 'no_such_module'"),
    ("hostile_tools:broken", "RuntimeError: no such luck"),
    ("hostile_tools:Hopeless", "no session can be opened for task 't': KeyError: 't'"),
]


@pytest.mark.parametrize(("path", "message"), WRONG_BACKENDS)
def test_a_backend_that_cannot_be_loaded_is_an_error(backend: IsolatedBackend, path: str, message: str) -> None:
    wrong = isolated(path, 1, spare=0)
    with pytest.raises(ConfigurationError, match=message):
        wrong.open(TASK, 0).call(calling("count"))
    wrong.close()


def test_wrong_options_of_processes() -> None:
    with pytest.raises(ConfigurationError, match=r"found by 'package\.module:name'"):
        isolated("hostile_tools", 1)
    with pytest.raises(ConfigurationError, match="cannot be sent to another process"):
        isolated(PythonBackend({"local": lambda world: 1}), 1)
    with pytest.raises(ConfigurationError, match="spare is a whole number"):
        isolated(COUNTING, 1, spare=-1)


def test_a_daemonic_process_may_start_none(backend: IsolatedBackend, monkeypatch: Any) -> None:
    monkeypatch.setitem(vars(multiprocessing.current_process())["_config"], "daemon", True)
    with pytest.raises(ConfigurationError, match="daemon=False"):
        isolated("hostile_tools:BACKEND", 1).open(TASK, 0).call(calling("count"))


class CountingEnv(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def test_episodes_are_the_same_in_processes(backend: IsolatedBackend) -> None:
    gold = [{"name": "count", "arguments": {}}] * 2
    tasks = [make_task(f"t{number}", gold) for number in range(3)]
    tasks = [task.model_copy(update={"tools": (tool("count"),)}) for task in tasks]

    def records(batch_size: int) -> list[Any]:
        played = run_episodes(
            lambda: CountingEnv(data=tasks, backend=backend), get_policy("oracle"), episodes=3, batch_size=batch_size
        )
        return [json.loads(episode.to_json()) for episode in played.episodes]

    together, alone = records(3), records(1)
    for record in together + alone:
        for step in record["steps"]:
            del step["observation"]
            for result in step["results"]:
                result["content"].pop()  # the process
    assert together == alone
    assert {record["episode_return"] for record in together} == {1.0}


def test_conversations_that_are_looked_at_turn_by_turn_are_the_same_in_processes() -> None:
    own = isolated(make_tool_env("bfcl/multi_turn_base-v0", data="starter")._backend, 20, spare=1)

    def records(**options: Any) -> list[str]:
        given = {"data": "starter", "official_faults": True, **options}
        played = run_episodes("bfcl/multi_turn_base-v0", get_policy("oracle"), episodes=2, env_options=given)
        return [episode.to_json() for episode in played.episodes]

    assert records(backend=own) == records()
    own.close()


# All of them at once.

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "read", "refuse", "no such", "Add"]),
            st.dictionaries(st.sampled_from(["a", "b", ""]) | st.text(), json_values, max_size=3),
        ),
        max_size=6,
    ),
    st.sampled_from(["strict", "text", "lenient"]),
)
def test_nothing_that_is_called_raises(calls: list[tuple[str, dict[str, Any]]], coercion: Any) -> None:
    bare = validated(COUNTING, coercion=coercion).open(TASK, 0)
    wrapped = validated(cached(limited(COUNTING, 3), ["read"]), coercion=coercion).open(TASK, 0)
    for name, arguments in calls:
        call = ToolCall(name=name, arguments=arguments)
        expected = bare.call(call)
        assert wrapped.call(call) == expected
        assert len(expected.message) < 1000
    assert wrapped.state() == bare.state()


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_what_goes_through_a_process_comes_back_as_it_was(backend: IsolatedBackend, value: dict[str, Any]) -> None:
    session = backend.open(TASK, 0)
    assert content_of(session, "echo", value=value) == value
    assert session.call(ToolCall(name="echo", arguments=value)).error in ("tool_error", None)
    session.close()
