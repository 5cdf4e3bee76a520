"""Recordings: what a backend answered once is answered for ever, in one file that many may write."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgym import Task, Tool, ToolCall, ToolResult
from callgym.call import ErrorKind
from callgym.envs.apibank.env import ApiBankEnv
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.envs.bfcl.env import BfclEnv
from callgym.errors import CallGymError, ConfigurationError, DataError
from callgym.record_commands import records
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.tool_backends import PythonBackend, Session, ToolFailure, World, acall, waits
from callgym.tool_backends.recording import (
    RecordingStore,
    ReplayBackend,
    UnknownState,
    export_records,
    import_records,
    recorded,
)
from callgym.tool_backends.recording.answers import Wanted
from callgym.tool_backends.recording.database import APPLICATION_ID, FORMAT
from callgym.tool_backends.recording.fallbacks import Miss
from callgym.tool_backends.recording.keys import ANYWHERE, History, NoKey, call_key
from callgym.tool_backends.recording.normalised import normal_arguments
from callgym.tool_backends.recording.redaction import Redaction

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(max_size=8), JSON, max_size=4)
FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def task_of(id: str = "t", tools: tuple[Tool, ...] = ()) -> Task:
    return Task.from_dict(
        {
            "id": id,
            "family": "mine",
            "split": "test",
            "messages": [{"role": "user", "content": "go on"}],
            "tools": [tool.to_dict() for tool in tools],
            "goal": {"kind": "calls", "turns": [[]]},
            "initial_state": {"alarms": []},
        }
    )


def tool_of(name: str, returns: dict[str, Any] | None = None, **properties: Any) -> Tool:
    return Tool.from_dict(
        {"name": name, "parameters": {"type": "object", "properties": properties}, "returns": returns}
    )


TASK = task_of()


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def add_alarm(world: World, time: str) -> dict[str, Any]:
    if time in world.state["alarms"]:
        raise ToolFailure(f"there is an alarm at {time}")
    world.state["alarms"].append(time)
    return {"alarms": list(world.state["alarms"])}


def look(world: World, at: Any = None) -> Any:
    return {"seen": at, "alarms": len(world.state["alarms"])}


def roll(world: World) -> int:
    return int(world.rng.integers(1_000_000))


def backend() -> PythonBackend:
    return PythonBackend({"AddAlarm": add_alarm, "Look": look, "Roll": roll})


def played(session: Session, *calls: ToolCall) -> list[ToolResult]:
    results = [session.call(each) for each in calls]
    session.close()
    return results


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


# Keys.


def test_the_order_of_keys_does_not_matter_and_all_else_does() -> None:
    same = [{"a": 1, "b": {"c": [1], "d": 2}}, {"b": {"d": 2, "c": [1]}, "a": 1}]
    assert len({call_key("f", arguments) for arguments in same}) == 1
    values: list[Any] = [1, 1.0, True, "1", [1], {"x": 1}, None, "", 0, 0.0, -0.0, False, "é", "e\u0301", "\ud800"]
    keys = {call_key("f", {"a": value}) for value in values} | {call_key("f", {}), call_key("g", {"a": 1})}
    assert len(keys) == len(values) + 2


@given(ARGUMENTS, ARGUMENTS)
@FUZZ
def test_an_exact_match_is_exact(path: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    name = f"f{os.urandom(8).hex()}"
    with RecordingStore(path, redact=()) as store:
        assert store.add(name, one, ToolResult(content="one"))
        differ = json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
        assert store.add(name, other, ToolResult(content="other")) == differ
        session = ReplayBackend(store, normalise=False).open(TASK, 0)
        assert session.call(ToolCall(name=name, arguments=one)).content == "one"
        assert session.call(ToolCall(name=name, arguments=other)).content == ("other" if differ else "one")
        assert session.call(ToolCall(name="g", arguments=one)).error == "unavailable"


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "number"},
        "i": {"type": ["integer", "null"]},
        "s": {"type": "string"},
        "either": {"type": ["string", "number"]},
        "unit": {"type": "string", "default": "Celsius"},
        "flag": {"type": "boolean", "default": True},
        "where": {"type": "object", "properties": {"n": {"type": "number", "default": 1}}},
        "list": {"type": "array", "items": {"type": "number"}},
    },
}


@pytest.mark.parametrize(
    ("arguments", "normal", "plain"),
    [
        ({"s": "  New\n YORK "}, {"s": "new york"}, None),
        ({"s": "ﬁve STRAßE"}, {"s": "five strasse"}, None),
        ({"n": 3.0, "i": 1e300, "s": 2.5}, {"n": 3, "i": 1e300, "s": 2.5}, None),
        ({"n": "3", "i": "-2", "s": "3", "either": "3"}, {"n": 3, "i": -2, "s": "3", "either": "3"}, "as written"),
        ({"n": "3.50", "i": "2.0"}, {"n": 3.5, "i": 2}, "as written"),
        ({"n": "1e999", "i": "9" * 5000}, {"n": "1e999", "i": "9" * 5000}, None),
        ({"n": "٣", "i": "1_0"}, {"n": "٣", "i": "1_0"}, None),
        ({"unit": "CELSIUS ", "flag": True}, {}, "kept"),
        ({"unit": "F", "flag": 1}, {"unit": "f", "flag": 1}, None),
        ({"where": {"n": "1", "m": True}}, {"where": {"m": True}}, "kept"),
        ({"list": ["1", 2.0, "x"]}, {"list": [1, 2, "x"]}, "as written"),
        ({"n": True, "s": None}, {"n": True, "s": None}, None),
    ],
)
def test_normal_arguments(arguments: dict[str, Any], normal: dict[str, Any], plain: str | None) -> None:
    made = normal_arguments(arguments, SCHEMA)
    assert json.dumps(made) == json.dumps(normal)
    assert json.dumps(normal_arguments(made, SCHEMA)) == json.dumps(made)
    assert (json.dumps(normal_arguments(arguments)) == json.dumps(made)) == (plain is None)


def test_an_exact_key_is_never_a_normal_one(path: Path) -> None:
    with RecordingStore(path) as store:
        store.add("f", {"q": "paris"}, ToolResult(content=1))
        session = ReplayBackend(store).open(TASK, 0)
        assert [session.call(call("f", q="paris")).content for _ in range(3)] == [1, 1, 1]
        assert session.call(call("f", q=" PARIS")).content == 1


# Secrets.


@pytest.mark.parametrize(
    ("arguments", "hidden"),
    [
        ({"city": "Rome"}, []),
        ({"token": "s3cret-token", "city": "Rome"}, ["token"]),
        ({"headers": [{"Authorization": "Bearer s3cret-token"}]}, ["Authorization"]),
        ({"X-API-Key": ["s3cret-token"], "toolbench_key": 123456789}, ["X-API-Key", "toolbench_key"]),
        ({"token": None, "password": "", "secret": True}, []),
        ({"tokens": "three"}, []),
    ],
)
def test_secrets_are_hidden_by_the_names_of_their_arguments(arguments: dict[str, Any], hidden: list[str]) -> None:
    redaction = Redaction()
    stored = redaction.stored("f", arguments)
    text = json.dumps(stored)
    assert "s3cret" not in text
    assert "123456789" not in text
    assert len(re.findall(r"\[redacted [0-9a-f]{4}\]", text)) == len(hidden)
    assert redaction.stored("f", stored) == stored  # hidden once, and no more
    assert (stored is arguments) == (not hidden)


def test_no_secret_is_in_the_file_and_the_caller_gets_it_back(path: Path) -> None:
    secret = "sk-0123456789"

    def login(world: World, token: str, note: str = "") -> Any:
        if token != secret:
            raise ToolFailure(f"{token} is no valid token")
        return {"as": [token], token: f"you said {token}"}

    real = PythonBackend({"Login": login})
    calls = [call("Login", token=secret), call("Login", token="wrong-token-1"), call("Login", token=secret, note="x")]
    with RecordingStore(path) as store:
        results = played(recorded(real, store).open(TASK, 1), *calls)
        assert played(ReplayBackend(path).open(TASK, 1), *calls) == results
        assert results[1].message == "wrong-token-1 is no valid token"
        for other in ("wrong-token-2", "sk-012345678"):
            assert ReplayBackend(path).open(TASK, 1).call(call("Login", token=other)).error == "unavailable"
        export_records(store, path.with_suffix(".jsonl"))
    for file in path.parent.iterdir():
        assert secret.encode() not in file.read_bytes()
        assert b"wrong-token-1" not in file.read_bytes()


def without_time(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "time"}


def test_the_rule_belongs_to_the_file(path: Path) -> None:
    RecordingStore(path, redact=["My-Key"]).add("f", {"my_key": "abc", "token": "seen"}, ToolResult(content=1))
    (row,) = RecordingStore(path, readonly=True).calls("f")
    assert row.arguments["token"] == "seen"
    assert row.arguments["my_key"].startswith("[redacted ")
    assert ReplayBackend(path).open(TASK, 0).call(call("f", MY_KEY="abc", token="seen")).error == "unavailable"
    assert ReplayBackend(path).open(TASK, 0).call(call("f", my_key="abc", token="seen")).content == 1
    with pytest.raises(ConfigurationError, match=r"was made with redact=\['my_key'\]; give the same"):
        RecordingStore(path, redact=["other"]).add("f", {}, ToolResult())
    changed = path.with_name("changed.sqlite")
    with RecordingStore(changed, redact=without_time) as store:
        store.add("f", {"time": "10:30", "a": 1}, ToolResult(content=1))
        assert ReplayBackend(store).open(TASK, 0).call(call("f", a=1, time="11:00")).content == 1
        with pytest.raises(DataError, match="without_time, which an export cannot carry"):
            export_records(store, path.with_suffix(".jsonl"))
    with pytest.raises(ConfigurationError, match="test_recording:without_time"):
        ReplayBackend(changed)
    for wrong in ("token", [1], [""], 3):
        with pytest.raises(ConfigurationError, match="redact is a list of argument names"):
            RecordingStore(path, redact=wrong)  # type: ignore[arg-type]


# The file.


def test_the_first_answer_stays_and_several_come_in_order(path: Path) -> None:
    with RecordingStore(path) as store:
        assert store.add("f", {"a": 1}, ToolResult(content="first"))
        assert not store.add("f", {"a": 1}, ToolResult(content="again"))
        assert store.add("f", {"a": 1}, ToolResult(error="tool_error", message="no"), sequence=1)
        session = ReplayBackend(store).open(TASK, 0)
        given = [session.call(call("f", a=1)) for _ in range(4)]
        assert [result.content or result.message for result in given] == ["first", "no", "no", "no"]
        assert [(count.tool, count.answers, count.calls, count.failures) for count in store.counts()] == [
            ("f", 2, 1, 1)
        ]


def test_an_answer_belongs_to_nobody_else(path: Path) -> None:
    with RecordingStore(path) as store:
        store.add("f", {}, ToolResult(content={"list": [1]}))
        for _ in range(2):
            content: Any = ReplayBackend(store).open(TASK, 0).call(call("f")).content
            assert content == {"list": [1]}
            content["list"].append(2)


def test_a_row_can_be_read_with_any_tool(path: Path) -> None:
    store = RecordingStore(path)
    store.add("f", {"city": "Köln", "half": "\ud800"}, ToolResult(content={"sun": True}), source="here")
    store.close()
    connection = sqlite3.connect(path)
    (row,) = connection.execute("SELECT tool, arguments, result, scope, sequence, source FROM calls")
    connection.close()
    assert json.loads(row[1]) == {"city": "Köln", "half": "\ud800"}
    assert (row[0], *row[2:]) == ("f", '{"content": {"sun": true}}', "", 0, "here")
    half = ToolCall.trusted(name="\ud800", arguments={}, id=None)
    assert store.add(half.name, {}, ToolResult.trusted(content="\ud800", error=None, message=""), source="\ud800")
    assert ReplayBackend(path).open(TASK, 0).call(half).content == "\ud800"


def not_sqlite(path: Path) -> None:
    path.write_text("hello, this is a text of some length " * 100)


def of_another_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()


def of_a_newer_format(path: Path) -> None:
    RecordingStore(path).add("f", {}, ToolResult())
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()


def cut_short(path: Path) -> None:
    with RecordingStore(path) as store:
        for number in range(300):
            store.add("f", {"n": number}, ToolResult(content="x" * 100))
    with path.open("r+b") as file:
        file.truncate(8192)


def with_a_broken_row(path: Path) -> None:
    with RecordingStore(path) as store:
        store.add("f", {}, ToolResult(content=1))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE calls SET result = '{\"content\": NaN}'")
    connection.commit()
    connection.close()


FAULTS: list[tuple[Callable[[Path], Any], str]] = [
    (lambda path: None, r"there is no recording .*; record one"),
    (lambda path: path.mkdir(), r"has no cached responses"),
    (lambda path: path.touch(), r"is empty, no recording"),
    (not_sqlite, r"it is not an SQLite file; give another path"),
    (of_another_program, r"of another program, no recording; give another path"),
    (of_a_newer_format, r"is a recording in format 2, and this CallGym has format 1: .*callgym records export"),
    (cut_short, r"is damaged .*\.recover"),
    (with_a_broken_row, r"calls\.sqlite, call 1: the result is not JSON .*record it anew"),
]


@pytest.mark.parametrize(("make", "message"), FAULTS, ids=[message[:24] for _, message in FAULTS])
def test_a_file_that_is_no_recording_is_named_with_the_mend(
    path: Path, make: Callable[[Path], Any], message: str
) -> None:
    make(path)
    with pytest.raises(DataError, match=message) as raised:
        ReplayBackend(path).open(TASK, 0).call(call("f"))
    assert path.name in str(raised.value)


@pytest.mark.parametrize("make", [not_sqlite, of_another_program])
def test_nothing_is_written_into_a_foreign_file(path: Path, make: Callable[[Path], Any]) -> None:
    make(path)
    before = path.read_bytes()
    with pytest.raises(DataError):
        RecordingStore(path).add("f", {}, ToolResult())
    assert path.read_bytes() == before


def test_a_process_that_ends_leaves_one_file_whole(path: Path) -> None:
    script = (
        "import sys; from callgym import ToolResult; from callgym.tool_backends.recording import RecordingStore;"
        "store = RecordingStore(sys.argv[1]); store.add('f', {}, ToolResult(content=1)); store.check();"
        "reader = RecordingStore(sys.argv[1], readonly=True); reader.check()"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=60)
    copy = path.with_name("copy.sqlite")
    copy.write_bytes(path.read_bytes())  # without what lies beside it
    assert ReplayBackend(copy).open(TASK, 0).call(call("f")).content == 1


def test_an_empty_file_and_a_missing_folder_become_a_recording(path: Path) -> None:
    path.touch()
    assert RecordingStore(path).add("f", {}, ToolResult())
    below = path.parent / "some" / "where" / "a b?#%.sqlite"
    assert RecordingStore(below).add("f", {}, ToolResult())
    assert below.exists()
    connection = sqlite3.connect(below)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_who_waits_too_long_is_told(path: Path) -> None:
    store = RecordingStore(path, busy_seconds=0.05)
    store.add("f", {}, ToolResult())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(DataError, match=r"locked by another process for 0\.05 s"):
        store.add("f", {"a": 1}, ToolResult())
    holder.execute("ROLLBACK")
    assert store.add("f", {"a": 1}, ToolResult())
    holder.close()
    for wrong in (-1, "1", True, float("nan"), 1e9):
        with pytest.raises(ConfigurationError, match="busy_seconds"):
            RecordingStore(path, busy_seconds=wrong)  # type: ignore[arg-type]


# Processes and threads.

_WRITER = """
import sys
from callgym import ToolResult
from callgym.tool_backends.recording import RecordingStore
path, me, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = RecordingStore(path)
for number in range(count):
    store.add("shared", {"n": number}, ToolResult(content=[me, number]))
    store.add("own", {"me": me, "n": number}, ToolResult(content=number))
    print(number, flush=True)
"""


def writer(path: Path, me: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(path), me, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_several_processes_write_at_once(path: Path) -> None:
    writers = [writer(path, str(me), 40) for me in range(3)]
    for process in writers:
        process.communicate(timeout=60)
        assert process.returncode == 0
    store = RecordingStore(path, readonly=True)
    shared, own = list(store.calls("shared")), list(store.calls("own"))
    assert sorted(row.arguments["n"] for row in shared) == list(range(40))
    assert {(row.arguments["me"], row.arguments["n"]) for row in own} == {
        (str(me), number) for me in range(3) for number in range(40)
    }
    assert len(own) == 120


def test_a_process_is_killed_while_it_writes(path: Path) -> None:
    process = writer(path, "0", 1_000_000)
    assert process.stdout is not None
    said = 0
    for line in process.stdout:
        said = int(line)
        if said >= 40:
            break
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    process.stdout.close()
    with RecordingStore(path) as store:
        numbers = [row.arguments["n"] for row in store.calls("own")]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > said  # what was said to be written is there
        assert store.add("own", {"me": "1"}, ToolResult())
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_transaction_that_was_cut_off_leaves_nothing(path: Path) -> None:
    RecordingStore(path).add("f", {}, ToolResult())
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        "c.execute(\"INSERT INTO states VALUES ('half', '{}', '')\"); print('in', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    process.kill()
    process.communicate(timeout=30)
    store = RecordingStore(path)
    assert store.state_at("half") is None
    assert store.add("f", {"a": 1}, ToolResult())


def in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` gives in a forked process, or the text of its fault."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def run() -> None:
        try:
            theirs.send(work())
        except BaseException as error:
            theirs.send(repr(error))

    process = context.Process(target=run)
    process.start()
    found = ours.recv() if ours.poll(30) else "no answer"
    process.join(30)
    return found


def test_a_forked_child_and_a_pickled_copy_open_the_file_themselves(path: Path) -> None:
    store = RecordingStore(path)
    store.add("f", {"a": 1}, ToolResult(content="parent"))
    replay = ReplayBackend(path, fallback="nearest")
    session = replay.open(TASK, 0)
    assert session.call(call("f", a=1)).content == "parent"

    def work() -> Any:
        wrote = store.add("f", {"a": 2}, ToolResult(content="child"))
        return wrote, session.call(call("f", a=1)).content, session.call(call("f", a=2)).content

    assert in_child(work) == (True, "parent", "child")
    assert session.call(call("f", a=2)).content == "child"
    assert store.add("f", {"a": 3}, ToolResult(content="parent"))
    copy = pickle.loads(pickle.dumps(replay))
    assert copy.open(TASK, 0).call(call("f", a=3)).content == "parent"
    again = pickle.loads(pickle.dumps(store))
    assert again.add("f", {"a": 4}, ToolResult(content="copy"))
    assert session.call(call("f", a=4)).content == "copy"


def test_threads_share_a_store(path: Path) -> None:
    store = RecordingStore(path)
    faults: list[BaseException] = []

    def work(me: int) -> None:
        try:
            for number in range(40):
                store.add("f", {"n": number}, ToolResult(content=number))
                found = store.find(Wanted("f", {}, call_key("f", {"n": number}), "exact", ANYWHERE, 0))
                assert found is not None
                assert found.result.content == number
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(list(store.calls())) == 40


@pytest.mark.parametrize("writing", [False, True], ids=["closed", "being written"])
def test_a_reader_needs_no_permission_to_write(path: Path, writing: bool) -> None:
    store = RecordingStore(path)
    store.add("f", {}, ToolResult(content=1))
    if not writing:
        store.close()
    path.chmod(0o444)
    folder = path.parent
    was = {above: stat.S_IMODE(above.stat().st_mode) for above in (folder, *folder.parents)}
    shut = {above: mode for above, mode in was.items() if mode & 0o055 != 0o055}

    def work() -> Any:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        writable = os.access(folder, os.W_OK) or os.access(path, os.W_OK)
        try:
            RecordingStore(path).add("f", {"a": 1}, ToolResult())
            refused = ""
        except DataError as error:
            refused = str(error)
        return writable, ReplayBackend(path).open(TASK, 0).call(call("f")).content, refused

    try:
        for above, mode in shut.items():
            above.chmod(mode | 0o055)
        folder.chmod(0o555)
        found = in_child(work)
    finally:
        for above, mode in {**shut, folder: was[folder]}.items():
            above.chmod(mode)
    assert found[:2] == (False, 1), found
    assert "cannot be written" in found[2]
    store.close()


# Recording.


def test_what_is_replayed_is_what_was_recorded(path: Path) -> None:
    calls = [
        call("Look", at={"x": [1, 2.5, None, "é"]}),
        call("AddAlarm", time="10:00"),
        call("Look"),
        call("AddAlarm", time="10:00"),
        call("AddAlarm", time="11:00"),
        call("Look"),
        call("Roll"),
        call("Roll"),
    ]
    for seed in (1, 2):
        results = played(recorded(backend(), path).open(TASK, seed), *calls)
        assert [result.error for result in results].count("tool_error") == 1
        session = ReplayBackend(path).open(TASK, seed)
        assert [session.call(each) for each in calls] == results
        assert session.state() == {"alarms": ["10:00", "11:00"]}
    assert len(list(RecordingStore(path).calls())) == 2 * len(calls)


def test_an_answer_holds_after_the_same_calls_only(path: Path) -> None:
    played(recorded(backend(), path).open(TASK, 0), call("AddAlarm", time="10:00"), call("Look"))
    replay = ReplayBackend(path)
    assert replay.open(TASK, 0).call(call("Look")).error == "unavailable"
    for other in (replay.open(TASK, 1), replay.open(task_of("other"), 0)):
        assert other.call(call("AddAlarm", time="10:00")).error == "unavailable"
    session = replay.open(TASK, 0)
    # What is not on record was not made: the episode goes on from where it was.
    assert session.call(call("AddAlarm", time="12:00")).error == "unavailable"
    assert session.call(call("AddAlarm", time="10:00")).ok
    assert session.call(call("Look")).content == {"seen": None, "alarms": 1}
    assert session.state() == {"alarms": ["10:00"]}
    anywhere = ReplayBackend(path, ignore_history=True).open(task_of("other"), 7)
    assert anywhere.call(call("Look")).content == {"seen": None, "alarms": 1}
    assert anywhere.call(call("AddAlarm", time=" 10:00")).ok
    with pytest.raises(UnknownState, match="an answer of another place was taken"):
        anywhere.state()


@pytest.mark.parametrize("options", [{"scope": "call"}, {"read_only": ["Look"]}], ids=["call", "read_only"])
def test_answers_that_hold_anywhere_are_no_part_of_the_history(path: Path, options: dict[str, Any]) -> None:
    played(recorded(backend(), path, **options).open(TASK, 0), call("Look", at=1), call("AddAlarm", time="10:00"))
    session = ReplayBackend(path).open(TASK, 0)
    assert session.call(call("AddAlarm", time="10:00")).ok
    assert session.call(call("Look", at=1)).content == {"seen": 1, "alarms": 0}
    assert ReplayBackend(path).open(task_of("other"), 5).call(call("Look", at=1)).ok
    if "scope" in options:
        with pytest.raises(UnknownState, match="none was kept"):
            session.state()
    else:
        assert session.state() == {"alarms": ["10:00"]}


def test_an_answer_of_its_place_goes_before_one_that_holds_anywhere(path: Path) -> None:
    with RecordingStore(path) as store:
        store.add("Look", {}, ToolResult(content="anywhere"))
        played(recorded(backend(), store).open(TASK, 0), call("AddAlarm", time="10:00"), call("Look"))
        session = ReplayBackend(store).open(TASK, 0)
        assert session.call(call("Look")).content == "anywhere"
        assert session.call(call("AddAlarm", time="10:00")).ok
        assert session.call(call("Look")).content == {"seen": None, "alarms": 1}


class Failing:
    """Fails as it is told."""

    def open(self, task: Task, seed: int) -> Failing:
        return self

    def call(self, call: ToolCall) -> ToolResult:
        kind: ErrorKind | None = call.arguments.get("kind")  # type: ignore[assignment]
        return ToolResult(error=kind, message=f"{kind}!") if kind else ToolResult(content="fine")

    def state(self) -> dict[str, Any]:
        raise DataError("gone")

    def close(self) -> None:
        self.closed = True


def test_failures_are_recorded_but_for_those_that_may_pass(path: Path) -> None:
    kinds: list[ErrorKind] = ["tool_error", "unknown_tool", "timeout", "unavailable"]
    calls = [call("f", kind=kind) for kind in kinds] + [call("f")]
    inner = Failing()
    results = played(recorded(inner, path).open(TASK, 0), *calls)
    assert inner.closed  # though it could not say what its state is
    session = ReplayBackend(path).open(TASK, 0)
    replayed = [session.call(each) for each in calls]
    assert replayed[:2] + replayed[4:] == results[:2] + results[4:]
    assert {(result.error, result.message[:8]) for result in replayed[2:4]} == {("unavailable", "f has no")}
    with pytest.raises(UnknownState, match="none was kept"):
        session.state()
    every = path.with_name("every.sqlite")
    assert played(recorded(inner, every, never=()).open(TASK, 0), *calls) == results
    assert played(ReplayBackend(every).open(TASK, 0), *calls) == results


def test_a_state_that_is_not_known_is_not_empty(path: Path) -> None:
    session = recorded(backend(), path).open(TASK, 0)
    assert session.state() == {"alarms": []}
    played(session, call("AddAlarm", time="10:00"), call("AddAlarm", time="11:00"))
    replay = ReplayBackend(path).open(TASK, 0)
    assert replay.state() == {"alarms": []}
    replay.call(call("AddAlarm", time="10:00"))
    with pytest.raises(UnknownState, match=r"the state in 't' is not known.*record the episode again, to its end"):
        replay.state()
    replay.call(call("AddAlarm", time="11:00"))
    assert replay.state() == {"alarms": ["10:00", "11:00"]}
    without = path.with_name("without.sqlite")
    played(recorded(backend(), without, states=False).open(TASK, 0))
    with pytest.raises(UnknownState):
        ReplayBackend(without).open(TASK, 0).state()


def test_a_call_that_is_not_quite_the_recorded_one_leaves_the_state_open(path: Path) -> None:
    played(recorded(backend(), path).open(TASK, 0), call("AddAlarm", time="Noon"), call("Look"))
    session = ReplayBackend(path).open(TASK, 0)
    assert session.call(call("AddAlarm", time="noon")).ok
    assert session.call(call("Look")).ok  # the episode goes on from the call that was recorded
    with pytest.raises(UnknownState, match="not quite the recorded one"):
        session.state()
    assert ReplayBackend(path, normalise=False).open(TASK, 0).call(call("AddAlarm", time="noon")).error


class Waiting:
    """Answers by and by."""

    waits = True

    def open(self, task: Task, seed: int) -> Waiting:
        return self

    def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(content=dict(call.arguments))

    async def acall(self, call: ToolCall) -> ToolResult:
        await asyncio.sleep(0)
        return self.call(call)

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


def test_sessions_that_wait_are_recorded_beside_the_loop(path: Path) -> None:
    wrote: list[int] = []
    add = RecordingStore.add

    class Noting(RecordingStore):
        def add(self, *arguments: Any, **options: Any) -> bool:
            wrote.append(threading.get_ident())
            return add(self, *arguments, **options)

    rec = recorded(Waiting(), Noting(path))

    async def play(seed: int) -> list[ToolResult]:
        session = rec.open(TASK, seed)
        return [await acall(session, call("f", n=number)) for number in range(3)]

    async def together() -> list[list[ToolResult]]:
        return list(await asyncio.gather(*[play(seed) for seed in range(8)]))

    assert waits(rec.open(TASK, 0))
    found = asyncio.run(together())
    assert len(wrote) == 24
    assert threading.get_ident() not in wrote
    for seed, results in enumerate(found):
        assert played(ReplayBackend(path).open(TASK, seed), *[call("f", n=number) for number in range(3)]) == results


@pytest.mark.parametrize(
    "options",
    [{"scope": "task"}, {"never": "timeout"}, {"never": ["late"]}, {"read_only": "Look"}, {"read_only": [1]}],
    ids=str,
)
def test_options_of_recording(path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        recorded(backend(), path, **options)


# Replay and its fallbacks.

WEATHER = tool_of(
    "Weather",
    {"type": "object", "properties": {"high": {"type": "integer"}, "sky": {"enum": ["clear", "grey"]}},
     "required": ["high", "sky"]},
    city={"type": "string"},
    days={"type": "integer", "default": 1},
)  # fmt: skip


@pytest.fixture
def weather(path: Path) -> Path:
    with RecordingStore(path) as store:
        for number, city in enumerate(["Rome", "Paris", "New York", "Rome"]):
            arguments = {"city": city, "days": number}
            store.add("Weather", arguments, ToolResult(content={"of": city, "days": number}), document=WEATHER)
        store.add("Weather", {"city": "Atlantis"}, ToolResult(error="tool_error", message="no such city"))
        store.add("Ping", {}, ToolResult(content="pong"))
    return path


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"city": "Paris", "days": 1}, {"of": "Paris", "days": 1}),
        ({"days": 1, "city": "Paris"}, {"of": "Paris", "days": 1}),
        ({"city": " PARIS"}, {"of": "Paris", "days": 1}),
        ({"city": "new  york", "days": "2"}, {"of": "New York", "days": 2}),
        ({"city": "Rome", "days": 3.0}, {"of": "Rome", "days": 3}),
        ({"city": "Rome", "days": True}, None),
        ({"city": "Oslo"}, None),
    ],
)
def test_exact_then_normal(weather: Path, arguments: dict[str, Any], found: Any) -> None:
    result = ReplayBackend(weather).open(TASK, 0).call(ToolCall(name="Weather", arguments=arguments))
    if found is None:
        assert result.error == "unavailable"
        assert result.message.startswith("Weather has no recorded answer to these arguments")
    else:
        assert result.content == found


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        ({"city": "Rome", "days": 9}, {"of": "Rome", "days": 0}),  # of equal ones the first
        ({"city": "Oslo", "days": 2}, {"of": "New York", "days": 2}),
        ({"city": "York", "days": 9}, {"of": "New York", "days": 2}),  # by a word
        ({"town": "Oslo"}, {"of": "Rome", "days": 0}),
    ],
)
def test_the_nearest_call_answers(weather: Path, arguments: dict[str, Any], nearest: Any) -> None:
    asked = ToolCall(name="Weather", arguments=arguments)
    replay = ReplayBackend(weather, "nearest")
    assert replay.open(TASK, 0).call(asked).content == nearest
    content: Any = replay.open(TASK, 0).call(asked).content
    content["of"] = "changed"
    assert pickle.loads(pickle.dumps(replay)).open(TASK, 1).call(asked).content == nearest
    said: Any = ReplayBackend(weather, "nearest", say_so=True).open(TASK, 0).call(asked).content
    assert said["result"] == nearest
    assert said["note"].startswith("no answer to these arguments is on record; this is the answer to {")
    missing = replay.open(TASK, 0).call(call("Nothing"))
    assert (missing.error, missing.content) == ("unavailable", None)


def test_the_nearest_answer_may_be_a_failure(weather: Path) -> None:
    result = ReplayBackend(weather, "nearest", say_so=True).open(TASK, 0).call(call("Weather", city="atlantis!"))
    assert result.error == "tool_error"
    assert result.message == (
        'no such city (no answer to these arguments is on record; this is the answer to {"city": "Atlantis"})'
    )


def test_the_nearest_answer_of_the_place_goes_first(path: Path) -> None:
    store = RecordingStore(path)
    history = History.begin(TASK.family, TASK.id, 0)
    store.add("f", {"a": 1, "b": 2}, ToolResult(content="elsewhere"), scope="0" * 32)
    store.add("f", {"a": 1, "b": 5}, ToolResult(content="here"), scope=history.scope)
    session = ReplayBackend(store, "nearest").open(TASK, 0)
    assert session.call(call("f", a=1, b=2.5)).content == "here"
    with pytest.raises(UnknownState, match="an answer was made up"):
        session.state()


def test_a_synthetic_answer_fits_the_schema_and_the_seed(weather: Path) -> None:
    replay = ReplayBackend(
        weather, "synthetic", tools=[WEATHER, tool_of("Odd", {"type": 7}), tool_of("No", {"not": {}})]
    )
    answers = {
        seed: [replay.open(TASK, seed).call(call("Weather", city=f"Oslo {n}")).content for n in range(5)]
        for seed in range(5)
    }
    for contents in answers.values():
        for content in contents:
            assert isinstance(content, dict)
            assert content["sky"] in ("clear", "grey")
            assert type(content["high"]) is int
    assert len({json.dumps(contents) for contents in answers.values()}) == 5
    again = pickle.loads(pickle.dumps(replay))
    assert [again.open(TASK, 3).call(call("Weather", city=f"Oslo {n}")).content for n in range(5)] == answers[3]
    for name in ("Ping", "Odd", "No", "Never"):
        assert isinstance(replay.open(TASK, 0).call(call(name, x=1)).content, str)
    said: Any = ReplayBackend(weather, "synthetic", say_so=True).open(TASK, 0).call(call("Never")).content
    assert said["note"] == "no answer is on record; this one is made up"


def shrug(miss: Miss) -> ToolResult:
    known = miss.tool.description if miss.tool else "unknown"
    return ToolResult(content=[miss.call.name, miss.call.arguments, known, len(list(miss.records.calls()))])


def test_a_function_answers(weather: Path) -> None:
    session = ReplayBackend(weather, shrug).open(task_of(tools=(WEATHER,)), 0)
    result = session.call(call("Weather", city="Oslo", token="secret-of-mine"))
    content: Any = result.content
    assert content[1]["token"] == "secret-of-mine"  # hidden from the function, shown to the caller
    assert content[2:] == ["", 6]
    for wrong in ("guess", None, 3):
        with pytest.raises(ConfigurationError, match="fallback is one of 'error', 'nearest', 'synthetic'"):
            ReplayBackend(weather, wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="tools is a list of Tools"):
        ReplayBackend(weather, tools=["Weather"])  # type: ignore[list-item]


def test_a_recording_knows_its_tools(weather: Path) -> None:
    assert ReplayBackend(weather).tools == (WEATHER,)
    assert ReplayBackend(weather, tools=[]).tools == ()
    schema = ReplayBackend(weather, "synthetic").open(TASK, 0).call(call("Weather", city="Oslo"))
    assert isinstance(schema.content, dict)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"token": value, "x": [value]} if depth < 10 else {"x": value}
    return value


@pytest.mark.parametrize("fallback", ["error", "nearest", "synthetic", shrug])
def test_arguments_that_cannot_be_written_are_no_fault_of_ours(weather: Path, fallback: Any) -> None:
    session = ReplayBackend(weather, fallback).open(TASK, 0)
    recording = recorded(Waiting(), weather).wrap(Waiting(), TASK, 0)
    for arguments in (nested(100_000), {"x": 10**5000}, {"x": float("nan")}):
        asked = ToolCall.trusted(name="Weather", arguments=arguments, id=None)
        assert session.call(asked).error == "unavailable"
        if "x" in arguments and not isinstance(arguments["x"], dict):
            continue
        with pytest.raises(NoKey):
            call_key("f", arguments)
        recording.after(asked, ToolResult())
    recording.after(call("Ping", x=1), ToolResult.trusted(content=nested(100_000), error=None, message=""))
    with pytest.raises(NoKey):
        RecordingStore(weather).add(
            "Ping", {"token": "0123456789"}, ToolResult.trusted(content=nested(5000), error=None, message="")
        )
    with pytest.raises(DataError, match="opened to be read only"):
        RecordingStore(weather, readonly=True).add("Ping", {}, ToolResult())
    assert session.call(call("Ping")).content == "pong"
    assert len(list(RecordingStore(weather).calls())) == 6


@given(st.lists(st.tuples(st.sampled_from(["Weather", "Ping", "f"]), ARGUMENTS), max_size=4), st.integers())
@FUZZ
def test_nothing_that_is_called_raises(path: Path, calls: list[Any], seed: int) -> None:
    with RecordingStore(path) as store:
        store.add("Weather", {"city": "Rome", "days": 1}, ToolResult(content=1), document=WEATHER)
        made = [ToolCall(name=name, arguments=arguments) for name, arguments in calls]
        played(recorded(Waiting(), store).open(TASK, seed), *made)
        results = played(ReplayBackend(store).open(TASK, seed), *made)
        if ("Weather", {"city": "Rome", "days": 1}) not in calls:
            assert [result.content for result in results] == [each.arguments for each in made]
        for fallback in ("error", "nearest", "synthetic"):
            replay = ReplayBackend(store, fallback, ignore_history=seed % 2 == 0, say_so=True)
            assert played(replay.open(TASK, seed + 1), *made) == played(replay.open(TASK, seed + 1), *made)


# Whole episodes.


def apibank(level: int) -> Callable[..., ToolEnv]:
    def make(**options: Any) -> ToolEnv:
        env = make_tool_env(f"apibank/L{level}-v0", protocol="dialogue", data="starter", **options)
        assert isinstance(env, ApiBankEnv)
        if env._search is None:  # with a backend given, what a tool search finds is not documented otherwise
            env.make_backend(env.source)
        return env

    return make


class TellingBfclEnv(BfclEnv):
    """Tells any session of tries and of the ends of turns, not a TurnSession alone."""

    def _told(self) -> Any:
        opened: Any = self._opened
        return opened if self.category_of(self.task).kind == "multi_turn" else None

    def run_call(self, call: ToolCall) -> ToolResult:
        if self._told() is None:
            return super().run_call(call)
        self._told().tried()
        return ToolEnv.run_call(self, call)

    def turn_ended(self) -> None:
        if self._told() is not None:
            self._told().end_turn()

    def final_state(self) -> dict[str, Any] | None:
        try:
            return super().final_state() if self._told() is None else self._told().state()
        except UnknownState:
            return None


def bfcl(category: str) -> Callable[..., ToolEnv]:
    return lambda **options: TellingBfclEnv(category=category, data="starter", **options)


ENVIRONMENTS: list[tuple[str, Callable[..., ToolEnv]]] = [
    *((f"apibank L{level}", apibank(level)) for level in (1, 2, 3)),
    *(
        (f"bfcl {name}", bfcl(name))
        for name in ("multi_turn_base", "multi_turn_miss_func", "memory_kv", "simple_python")
    ),
]


@pytest.mark.parametrize("policy", ["oracle", "random"])
@pytest.mark.parametrize("make", [make for _, make in ENVIRONMENTS], ids=[name for name, _ in ENVIRONMENTS])
def test_episodes_are_the_same_to_the_byte_with_the_simulators_gone(
    path: Path, make: Callable[..., ToolEnv], policy: str
) -> None:
    def play(**options: Any) -> list[str]:
        result = run_episodes(make, get_policy(policy), episodes=12, env_options=options, batch_size=4, progress=False)
        return [episode.to_json() for episode in result.episodes]

    env = make()
    plain = play()
    assert play(backend=recorded(env._backend, path, never=())) == plain
    env.close()
    assert play(backend=ReplayBackend(path)) == plain
    lines = path.with_suffix(".jsonl")
    export_records(RecordingStore(path, readonly=True), lines)
    brought = path.with_name("brought.sqlite")
    import_records(lines, brought)
    assert play(backend=ReplayBackend(brought)) == plain


# Out and in.


@pytest.fixture
def episode(path: Path) -> Path:
    tools = (tool_of("AddAlarm", time={"type": "string"}), tool_of("Look"))
    rec = recorded(backend(), path, read_only=["Look"])
    played(rec.open(task_of(tools=tools), 0), call("AddAlarm", time="10:00"), call("Look", at="\x1b[2J"), call("Look"))
    rec.store.close()
    return path


def test_an_export_brings_everything_back(episode: Path) -> None:
    lines, brought = episode.with_suffix(".jsonl"), episode.with_name("brought.sqlite")
    old = RecordingStore(episode, readonly=True)
    assert export_records(old, lines) == 3
    first, second = import_records(lines, brought), import_records(lines, brought)
    assert (first.calls, first.new, first.states) == (3, 3, 1)
    assert (second.calls, second.new, second.states) == (3, 0, 1)
    new = RecordingStore(brought, readonly=True)
    assert list(new.calls()) == list(old.calls())
    assert list(new.states()) == list(old.states())
    assert new.tools == old.tools
    again = episode.with_name("again.jsonl")
    export_records(new, again)
    assert again.read_bytes() == lines.read_bytes()
    assert not list(episode.parent.glob("*.part"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [], r"the first line of an export is"),
        (lambda lines: lines[1:], r"the first line of an export is"),
        (lambda lines: [lines[0].replace('"format": 1', '"format": 2')], r"has format 2, and this CallGym reads 1"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], r"line 7: it is not JSON .*export it again"),
        (lambda lines: [*lines, "\ud800"], r"line 8: it is not JSON"),
        (lambda lines: [lines[0], '{"kind": "call", "tool": ""}'], r"line 2, call\.tool: .*mend the line"),
        (lambda lines: [lines[0], lines[4].replace('"sequence": 0', '"sequence": -1')], r"line 2, call\.sequence"),
        (lambda lines: [lines[0], '{"kind": "other"}'], r"line 2"),
    ],
)
def test_lines_that_are_no_export(episode: Path, change: Callable[[list[str]], list[str]], message: str) -> None:
    lines = episode.with_suffix(".jsonl")
    export_records(RecordingStore(episode), lines)
    text = "\n".join(change(lines.read_text(encoding="utf-8").splitlines()))
    lines.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DataError, match=message) as raised:
        import_records(lines, episode.with_name("brought.sqlite"))
    assert lines.name in str(raised.value)


def test_an_export_goes_into_a_file_of_the_same_rule(episode: Path) -> None:
    lines = episode.with_suffix(".jsonl")
    export_records(RecordingStore(episode), lines)
    other = episode.with_name("other.sqlite")
    RecordingStore(other, redact=["mine"]).check()
    with pytest.raises(ConfigurationError, match="give the same, or another file"):
        import_records(lines, other)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(records, [str(argument) for argument in arguments])


def ok(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_line(episode: Path) -> None:
    listed = ok("list", episode)
    assert [line.split() for line in listed.splitlines()] == [
        ["tool", "answers", "calls", "failures"],
        ["AddAlarm", "1", "1", "0"],
        ["Look", "2", "2", "0"],
    ]
    (row,) = json.loads(ok("list", episode, "--tool", "Look", "--json"))
    assert row == {"tool": "Look", "answers": 2, "calls": 2, "failures": 0}
    shown = ok("show", episode, "Look")
    assert shown.isprintable() or set(shown) <= set(map(chr, range(32, 127))) | {"\n"}
    assert 'Look({"at": "\\u001b[2J"})   [anywhere; t]' in shown
    assert "and more: --limit 2" in ok("show", episode, "Look", "--limit", 1)
    assert json.loads(ok("show", episode, "AddAlarm", "--json"))[0]["result"] == {"content": {"alarms": ["10:00"]}}
    assert "AddAlarm" in ok("show", episode, "AddAlarm")
    lines = episode.with_suffix(".jsonl")
    assert ok("export", episode, "--out", lines).startswith("3 answers written to ")
    brought = episode.with_name("brought.sqlite")
    assert "3 answers and 1 states read; 3 answers are new" in ok("import", brought, lines)
    assert "3 answers and 1 states read; 0 answers are new" in ok("import", brought, lines)


def test_text_for_a_terminal_is_harmless(path: Path) -> None:
    name = "evil\x1b[2J\u202e\nname"
    RecordingStore(path).add(name, {"a": "\u202e\x9b"}, ToolResult(content="\x1b]0;\x07"), source="\x1b[31m")
    for text in (ok("list", path), ok("show", path, name)):
        assert all(character.isprintable() or character == "\n" for character in text)
    result = run("list", path, "--tool", "\x1b[2J")
    assert all(character.isprintable() or character == "\n" for character in result.output)


@pytest.mark.parametrize(
    "arguments",
    [("list", "FILE", "--tool", "No"), ("show", "FILE", "No"), ("import", "NEW", "FILE"),
     ("import", "NEW", "FILE", "--category", "Data"), ("list", "FOLDER"), ("import", "NEW", "FOLDER")],
    ids=" ".join,
)  # fmt: skip
def test_mistakes_get_one_line(episode: Path, arguments: tuple[str, ...]) -> None:
    empty = episode.parent / "empty"
    empty.mkdir()
    names = {"FILE": episode, "NEW": episode.with_name("new.sqlite"), "FOLDER": empty}
    result = run(*[names.get(argument, argument) for argument in arguments])
    assert result.exit_code == 3
    assert isinstance(result.exception, SystemExit)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")


def test_errors_are_callgyms_own() -> None:
    assert issubclass(UnknownState, CallGymError)
