"""Faults: what each does, that the seed alone decides, that environments play on, and what is on record."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import json
import pickle
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ConfigurationError, Episode, Task, ToolCall, ToolResult
from callgym.checker import HOSTILE_ACTIONS
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.registry import ENVIRONMENTS
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.tool_backends import Session, acall, waits
from callgym.tool_backends.accepting import AcceptingBackend
from callgym.tool_backends.faults import FAULTS, Fault, FaultySession, faulty, get_fault, get_faults, spec_of
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.latency import Latency
from callgym.tool_backends.portal import portal

TASK = Task.from_dict(
    {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "go"}],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)
ANSWER: Any = {"user_name": "ada", "Items": [{"unit_price": 3, "ok": True}, {"unit_price": 4.5}], "note": "done"}


class Answering:
    """Counts its calls; answers with what stands in the argument ``say``, or with ``ANSWER``."""

    def __init__(self) -> None:
        self.reached: list[ToolCall] = []

    def call(self, call: ToolCall) -> ToolResult:
        self.reached.append(call)
        if call.arguments.get("refuse"):
            return ToolResult(error="tool_error", message="Not today.")
        return ToolResult(content=call.arguments.get("say", ANSWER))

    def state(self) -> dict[str, Any]:
        return {"calls": len(self.reached)}

    def close(self) -> None:
        pass


class AnsweringBackend:
    def open(self, task: Task, seed: int) -> Answering:
        return Answering()


def opened(faults: Any, seed: int = 0) -> FaultySession:
    return faulty(AnsweringBackend(), faults).wrap(Answering(), TASK, seed)


def calls(count: int, *names: str, **arguments: Any) -> list[ToolCall]:
    wanted = names or ("look",)
    return [ToolCall(name=wanted[number % len(wanted)], arguments=arguments) for number in range(count)]


def answers(session: FaultySession, made: list[ToolCall]) -> list[ToolResult]:
    return [session.call(call) for call in made]


def reached(session: FaultySession) -> int:
    return int(session.state()["calls"])


# Specs.

SPECS: list[tuple[Any, Any]] = [
    ("errors", "errors"),
    ("errors:0.25", "errors:0.25"),
    ("errors:0.1", "errors"),
    ("errors:0", "errors:0"),
    ("errors:1e-07", "errors:1e-07"),
    ({"name": "errors", "rate": 0.1234567891}, "errors:0.1234567891"),
    ({"name": "errors", "after": True}, {"name": "errors", "after": True}),
    ({"name": "errors", "rate": 0.5, "kind": "either"}, {"name": "errors", "rate": 0.5, "kind": "either"}),
    ("latency:3", "latency:3"),
    ({"name": "latency", "distribution": "uniform", "shortest": 1}, None),
    ("rate_limit:2", "rate_limit:2"),
    ({"name": "outage", "tools": ["a", "b"], "share": 0.5}, None),
    ({"name": "outage", "tools": ("a",)}, {"name": "outage", "tools": ["a"]}),
    ({"name": "drift", "kinds": ["nested"]}, None),
    ("truncation:1", "truncation:1"),
    ("stale:0.5", "stale:0.5"),
]


@pytest.mark.parametrize(("spec", "recorded"), SPECS)
def test_specs_survive_json(spec: Any, recorded: Any) -> None:
    fault = get_fault(spec)
    written = spec_of(fault)
    assert written == (spec if recorded is None else recorded)
    assert get_fault(json.loads(json.dumps(written))) == fault == get_fault(fault)
    assert pickle.loads(pickle.dumps(fault)) == fault


def test_one_fault_or_several() -> None:
    assert get_faults("errors") == get_faults(["errors"]) == get_faults(get_fault("errors"))
    assert get_faults({"name": "errors"}) == (get_fault("errors"),)
    assert get_faults(()) == ()
    assert [fault.name for fault in get_faults(list(FAULTS))] == list(FAULTS)


WRONG_SPECS: list[tuple[Any, str]] = [
    ("blunder", "no fault 'blunder'; there are: latency, errors, rate_limit, truncation, stale, drift, outage"),
    ("blunder:1", "no fault 'blunder:1'"),
    ("errors:", "behind the colon stands a number, the fault's 'rate'"),
    ("errors:often", "behind the colon stands a number"),
    ("errors:1.5", "fault 'errors': rate is a share from 0 to 1, got 1.5"),
    ("errors:nan", "rate is a share"),
    ("rate_limit:2.5", "calls is a whole number of at least 1, got 2.5"),
    ({"name": "rate_limit", "calls": 7}, "calls=7 of a window of 6 are no limit"),
    ({"name": "errors", "often": 1}, "has no option 'often'; its options are: tools, share, rate, kind, after"),
    ({"name": "errors", "rate": True}, "rate is a share"),
    ({"name": "errors", "rate": "0.1"}, "rate is a share"),
    ({"name": "errors", "kind": "timeout"}, "kind is one of 'unavailable', 'tool_error', 'either'"),
    ({"name": "errors", "kind": []}, "kind is one of"),
    ({"name": "errors", "after": 1}, "after is true or false"),
    ({"name": "errors", "tools": "look"}, "a fault's tools is a list of names"),
    ({"name": "errors", "tools": []}, "a fault's tools is a list of names"),
    ({"name": "errors", "share": 2}, "share is a share from 0 to 1"),
    ({"name": "latency", "limit": 0}, "limit is more than 0 seconds"),
    ({"name": "latency", "seconds": -1}, "seconds is a number from 0 to 86400"),
    ({"name": "latency", "distribution": "normal"}, "distribution is one of"),
    ({"name": "latency", "distribution": "uniform", "shortest": 3}, "shortest=3 is more than the longest delay"),
    ({"name": "outage", "by": "server"}, "by is one of 'all', 'tool'"),
    ({"name": "outage", "window": 0}, "window is a whole number"),
    ({"name": "drift", "kinds": ["sideways"]}, "knows no kind 'sideways'; there are: renamed, nested, numbers"),
    ({"rate": 1}, "no fault None"),
    ({"name": ["errors"]}, "no fault"),
    (3, "a fault is a name, 'name:number', or an object"),
    (None, "a fault is a name"),
]


@pytest.mark.parametrize(("spec", "message"), WRONG_SPECS)
def test_wrong_specs_say_what_there_is(spec: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        get_fault(spec)
    assert message in str(error.value)
    with pytest.raises(ConfigurationError):
        make_tool_env("apibank/L1-v0", data="starter", faults=[spec])


@pytest.mark.parametrize("faults", [3, None, b"errors", {"errors"}])
def test_faults_are_a_list(faults: Any) -> None:
    with pytest.raises(ConfigurationError, match="faults is a fault or a list of them"):
        make_tool_env("apibank/L1-v0", data="starter", faults=faults)


# What the seed decides.

EVERY: list[Any] = [
    "errors:0.4",
    {"name": "errors", "rate": 0.4, "after": True, "kind": "either"},
    {"name": "latency", "seconds": 4},
    {"name": "latency", "distribution": "lognormal", "seconds": 4, "after": True},
    "rate_limit:2",
    "truncation:0.5",
    {"name": "truncation", "rate": 0.5, "said": True},
    "stale:0.5",
    {"name": "stale", "rate": 0.5, "made": False},
    "drift",
    {"name": "outage", "rate": 0.4, "by": "tool"},
    {"name": "outage", "rate": 0.4, "share": 0.5},
]
"""Each kind, often."""
BY_CHANCE_ALONE = [spec for spec in EVERY if get_fault(spec).name not in ("rate_limit", "stale")]
"""What befalls a call depends on nothing but its number, and on what it is called."""


def test_chance_has_no_state() -> None:
    chance = Chance(3, "errors/0")
    draws = [chance.draw("rate", number) for number in range(2000)]
    assert draws == [Chance(3, "errors/0").draw("rate", number) for number in range(2000)]
    assert all(0 <= draw < 1 for draw in draws)
    assert abs(sum(draws) / 2000 - 0.5) < 0.02
    assert len(set(draws)) == 2000
    assert draws[0] != Chance(4, "errors/0").draw("rate", 0) != Chance(3, "errors/1").draw("rate", 0)
    assert 0 <= chance.draw("half a surrogate \ud800") < 1
    assert draws[:2] == [0.4667693179818696, 0.5978954903280089]  # on any machine


@pytest.mark.parametrize("spec", EVERY, ids=str)
def test_the_same_seed_gives_the_same_faults(spec: Any) -> None:
    made = calls(40, "look", "find", "list")
    first, again, other = opened(spec, 5), opened(spec, 5), opened(spec, 6)
    answers(other, calls(7))
    assert answers(first, made) == answers(again, made)
    assert first.faults == again.faults
    different = [opened(spec, seed) for seed in range(10)]
    for session in different:
        answers(session, made)
    assert len({json.dumps(session.faults) for session in different}) > 2
    assert any(session.faults for session in different)


@pytest.mark.parametrize("spec", EVERY, ids=str)
def test_waiting_changes_nothing(spec: Any) -> None:
    made = calls(30, "look", "find")
    one, other = opened(spec, 1), opened(spec, 1)

    async def play() -> list[ToolResult]:
        return [await acall(other, call) for call in made]

    assert answers(one, made) == asyncio.run(play())
    assert one.faults == other.faults


@pytest.mark.parametrize("more", ["errors:0.3", "drift", "truncation:0.5", {"name": "outage", "rate": 0.3}], ids=str)
@pytest.mark.parametrize("spec", BY_CHANCE_ALONE, ids=str)
def test_another_fault_changes_no_draw(spec: Any, more: Any) -> None:
    if get_fault(spec).name == get_fault(more).name:
        return  # two of a kind are told apart by their order
    name, made = get_fault(spec).name, calls(60, "look", "find")
    alone = opened(spec, 2)
    answers(alone, made)
    due = {entry["call"]: entry for entry in alone.faults}
    for together in ([spec, more], [more, spec]):
        session = opened(together, 2)
        answers(session, made)
        mine = {entry["call"]: entry for entry in session.faults if entry["fault"] == name}
        others = {entry["call"] for entry in session.faults if entry["fault"] != name}
        assert mine.keys() <= due.keys()
        assert due.keys() - mine.keys() <= others  # the other one was there first
        kinds = [(entry.get("kind"), due[number].get("kind")) for number, entry in mine.items()]
        assert all(found == wanted for found, wanted in kinds)


def test_two_of_a_kind_draw_apart() -> None:
    session = opened(["errors:0.5", {"name": "errors", "rate": 0.5, "after": True}], 0)
    answers(session, calls(60))
    by_kind = Counter(entry["made"] for entry in session.faults)
    assert 20 < by_kind[False] < 40
    assert 5 < by_kind[True] < 40


def test_a_call_that_is_made_again_may_succeed() -> None:
    session = opened("errors:0.5")
    results = answers(session, calls(12))
    failed = [result.error is not None for result in results]
    assert any(before and not after for before, after in itertools.pairwise(failed))
    assert len({result.message for result in results if result.error}) > 1


# Each kind.


@pytest.mark.parametrize(("after", "reaching"), [(False, 0), (True, 10)])
@pytest.mark.parametrize("kind", ["unavailable", "tool_error"])
def test_errors(after: bool, reaching: int, kind: str) -> None:
    session = opened({"name": "errors", "rate": 1, "kind": kind, "after": after})
    results = answers(session, calls(10))
    assert {result.error for result in results} == {kind}
    assert reached(session) == reaching
    assert session.faults[3] == {"call": 3, "tool": "look", "fault": "errors", "error": kind, "made": after}
    assert session.record()["counts"] == {"errors": 10}


def test_either_kind_of_error() -> None:
    results = answers(opened({"name": "errors", "rate": 1, "kind": "either"}), calls(40))
    assert all(count > 10 for count in Counter(result.error for result in results).values())


@pytest.mark.parametrize(
    ("options", "late"),
    [
        ({"seconds": 4.9, "distribution": "constant"}, 0.0),
        ({"seconds": 5.1, "distribution": "constant"}, 1.0),
        ({"seconds": 4, "distribution": "constant", "shortest": 2}, 1.0),
        ({"seconds": 10, "distribution": "uniform"}, 0.5),
        ({"seconds": 10, "distribution": "uniform", "shortest": 4}, 5 / 6),
        ({"seconds": 5, "distribution": "exponential"}, 0.368),
        ({"seconds": 5, "distribution": "lognormal"}, 0.5),
        ({"seconds": 1, "distribution": "lognormal", "sigma": 2, "limit": 7.389}, 0.159),
        ({"seconds": 0}, 0.0),
        ({"seconds": 0, "distribution": "lognormal"}, 0.0),
        ({}, 0.082),
    ],
)
def test_latency(options: dict[str, Any], late: float) -> None:
    for after in (False, True):
        session = opened({"name": "latency", "after": after, **options})
        results = answers(session, calls(1000))
        timeouts = [result for result in results if result.error is not None]
        assert abs(len(timeouts) / 1000 - late) < 0.05
        limit = options.get("limit", 5)
        assert {(result.error, result.message) for result in timeouts} <= {
            ("timeout", f"No response within {limit:g} seconds: the request timed out.")
        }
        assert reached(session) == (1000 if after else 1000 - len(timeouts))
        assert all(entry["seconds"] >= limit for entry in session.faults)


@given(st.floats(0, 1, exclude_max=True), st.sampled_from(["constant", "uniform", "exponential", "lognormal"]))
def test_delays_are_numbers(draw: float, distribution: str) -> None:
    assert 0 <= Latency(distribution=distribution, sigma=86_400).delay(draw) < float("inf")


def test_delays_that_really_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"name": "latency", "seconds": 3.0, "sleep": True}
    session, quick = opened(spec), opened({**spec, "sleep": False})
    slept: list[float] = []
    monkeypatch.setattr("callgym.tool_backends.faults.session.time.sleep", slept.append)
    assert waits(session)
    assert not waits(quick)
    assert answers(session, calls(20)) == answers(quick, calls(20))
    assert session.faults == quick.faults
    assert len(slept) == 20
    assert min(slept) > 0
    assert max(slept) == 5.0  # nobody waits longer than the limit

    async def awaited(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("callgym.tool_backends.faults.session.asyncio.sleep", awaited)
    again, before = opened(spec), slept[:]
    slept.clear()

    async def play() -> None:
        for call in calls(20):
            await again.acall(call)

    asyncio.run(play())
    assert slept == before


def test_rate_limit() -> None:
    for seed in range(6):
        session = opened({"name": "rate_limit", "calls": 2, "window": 5}, seed)
        failed = [result.error is not None for result in answers(session, calls(43))]
        text = "".join(".x"[fault] for fault in failed)
        first = text.index("..xxx")  # the first window may have begun before the first call
        assert first < 5
        assert text[first:].startswith("..xxx" * 7)
    mixed = opened({"name": "rate_limit", "calls": 2, "window": 6, "tools": ["find"]})
    results = answers(mixed, calls(60, "look", "find"))
    assert {result.error for result in results[::2]} == {None}
    assert 8 <= sum(result.error == "unavailable" for result in results[1::2]) <= 12


def test_outages() -> None:
    spec = {"name": "outage", "rate": 0.5, "window": 5}
    together = opened(spec)
    failed = [result.error == "unavailable" for result in answers(together, calls(200, "look", "find"))]
    changes = [number for number in range(1, 200) if failed[number] != failed[number - 1]]
    assert len({number % 5 for number in changes}) == 1
    assert 60 < sum(failed) < 140
    assert reached(together) == 200 - sum(failed)
    one_by_one = opened({**spec, "by": "tool"})
    results = answers(one_by_one, calls(200, "look", "find"))
    assert [result.error for result in results[::2]] != [result.error for result in results[1::2]]


def test_truncation() -> None:
    for said in (False, True):
        session = opened({"name": "truncation", "rate": 1, "said": said})
        (text,) = answers(session, calls(1, say="abcdefghij"))
        cut: Any = text.content
        kept = session.faults[-1]["kept"]
        assert 1 <= kept < 10
        assert cut == "abcdefghij"[:kept] + (f"... [truncated, {10 - kept} more characters]" if said else "")
        (listed,) = answers(session, calls(1, say=[1, 2, 3, 4]))
        kept = session.faults[-1]["kept"]
        assert listed.content == [1, 2, 3, 4][:kept] + ([f"[truncated, {4 - kept} more]"] if said else [])
        (inside,) = answers(session, calls(1, say={"id": 1, "rows": [{"a": "x" * 50}], "note": "short"}))
        found: Any = inside.content
        assert found["rows"][0]["a"] != "x" * 50
        assert (found["id"], found["note"]) == (1, "short")
        made = len(session.faults)
        whole: list[Any] = [5, "x", [], {}, None, True, [7], {"a": 1}, "", [[]], 1.5]
        assert [session.call(calls(1, say=value)[0]).content for value in whole] == whole
        assert session.call(calls(1, refuse=True)[0]).message == "Not today."
        assert len(session.faults) == made


def test_stale_answers() -> None:
    for made in (True, False):
        session = opened({"name": "stale", "rate": 1, "made": made})
        answered = [session.call(calls(1, name, say=say)[0]).content for name, say in
                    (("look", 1), ("look", 2), ("find", 3), ("look", 4), ("find", 5))]  # fmt: skip
        assert answered == ([1, 1, 3, 2, 3] if made else [1, 1, 3, 1, 3])
        assert reached(session) == (5 if made else 2)
        assert session.faults[0] == {"call": 1, "tool": "look", "fault": "stale", "answer_to": 0, "made": made}
    refused = opened({"name": "stale", "rate": 1})
    answers(refused, calls(1))
    assert refused.call(calls(1, refuse=True)[0]).error == "tool_error"


DRIFTED: dict[str, list[Any]] = {
    "nested": [{envelope: ANSWER} for envelope in ("data", "result", "response", "payload")],
    "renamed": [
        {"userName": "ada", "items": [{"unitPrice": 3, "ok": True}, {"unitPrice": 4.5}], "note": "done"},
        {"UserName": "ada", "Items": [{"UnitPrice": 3, "Ok": True}, {"UnitPrice": 4.5}], "Note": "done"},
        {"USER_NAME": "ada", "ITEMS": [{"UNIT_PRICE": 3, "OK": True}, {"UNIT_PRICE": 4.5}], "NOTE": "done"},
        {"user-name": "ada", "items": [{"unit-price": 3, "ok": True}, {"unit-price": 4.5}], "note": "done"},
    ],
    "numbers": [
        {"user_name": "ada", "Items": [{"unit_price": "3", "ok": True}, {"unit_price": "4.5"}], "note": "done"}
    ],
}


@pytest.mark.parametrize("kind", DRIFTED)
def test_drift(kind: str) -> None:
    met = []
    for seed in range(40):
        session = opened({"name": "drift", "rate": 1, "kinds": [kind]}, seed)
        first, second = answers(session, calls(2))
        assert first == second  # the shape stays
        assert session.faults[0] == {"call": 0, "tool": "look", "fault": "drift", "kind": kind}
        met.append(first.content)
    assert all(content in DRIFTED[kind] for content in met)
    assert all(content in met for content in DRIFTED[kind])


def test_drift_is_by_tool() -> None:
    session = opened({"name": "drift", "rate": 0.5})
    names = [f"tool{number}" for number in range(40)]
    results = answers(session, calls(80, *names))
    changed = [result.content != ANSWER for result in results]
    assert changed[:40] == changed[40:]
    assert 10 < sum(changed[:40]) < 30
    assert set(Counter(entry["kind"] for entry in session.faults)) == {"renamed", "nested", "numbers"}


@pytest.mark.parametrize(
    "keys", [["a_b", "aB"], ["a", "A"], ["aB", "a-b", "A_B"], ["x1", "x_1"], ["", "é", "ÄÖ_ü"], ["A", "a_", "_a"]]
)
def test_no_key_is_lost(keys: list[str]) -> None:
    for seed in range(20):
        session = opened({"name": "drift", "rate": 1, "kinds": ["renamed"]}, seed)
        content: Any = session.call(calls(1, say={key: number for number, key in enumerate(keys)})[0]).content
        assert sorted(content.values()) == list(range(len(keys)))


# Options that all have.


@pytest.mark.parametrize("name", FAULTS)
def test_tools_that_are_not_named_are_spared(name: str) -> None:
    options = {FAULTS[name].number: 1} if name != "latency" else {"seconds": 1000.0}
    session = opened({"name": name, **options, "tools": ["find"]})
    results = answers(session, calls(60, "look", "find"))
    assert {entry["tool"] for entry in session.faults} == {"find"}
    assert [result.content for result in results[::2]] == [ANSWER] * 30


def test_a_share_of_the_episodes() -> None:
    met = []
    for seed in range(200):
        session = opened({"name": "errors", "rate": 1, "share": 0.3}, seed)
        (result,) = answers(session, calls(1))
        met.append(result.error is not None)
    assert 40 < sum(met) < 80
    assert not opened({"name": "errors", "rate": 1, "share": 0}).call(calls(1)[0]).error


def test_faults_go_in_order() -> None:
    cut_then_wrapped = opened(["truncation:1", {"name": "drift", "rate": 1, "kinds": ["nested"]}])
    content: Any = cut_then_wrapped.call(calls(1, say=[1, 2])[0]).content
    assert list(content.values()) == [[1]]
    wrapped_then_cut = opened([{"name": "drift", "rate": 1, "kinds": ["nested"]}, {"name": "truncation", "rate": 1}])
    again: Any = wrapped_then_cut.call(calls(1, say=[1, 2])[0]).content
    assert list(again.values()) == [[1]]
    # The outer one answers first, and the inner one never hears of the call.
    session = opened(["errors:1", {"name": "outage", "rate": 1}])
    answers(session, calls(3))
    assert session.record()["counts"] == {"outage": 3}
    # What an inner one answers goes out through the outer ones.
    lost = opened(["errors:1", {"name": "latency", "seconds": 1000.0, "distribution": "constant", "after": True}])
    assert answers(lost, calls(1))[0].error == "timeout"
    assert lost.record()["counts"] == {"errors": 1, "latency": 1}


def test_what_is_said_gives_nothing_away() -> None:
    session = opened([{"name": "errors", "rate": 0.3, "kind": "either"}, "rate_limit:2", "outage:0.3", "latency:4"])
    results = [result for result in answers(session, calls(600, "SecretTool")) if result.error is not None]
    messages = {result.message for result in results}
    assert len(messages) > 12
    for message in messages:
        assert 20 < len(message) < 400
        assert message.endswith(".")
        words = message.lower()
        assert not any(word in words for word in ("inject", "simulat", "fault", "fake", "test", "secrettool", "{"))


def test_the_log_is_of_its_own() -> None:
    session = opened("errors:1")
    answers(session, calls(2))
    session.record()["log"][0]["tool"] = "another"
    assert session.record() == {
        "counts": {"errors": 2},
        "log": [
            {"call": number, "tool": "look", "fault": "errors", "error": "unavailable", "made": False}
            for number in range(2)
        ],
    }
    session.close()


def test_answers_that_are_read_elsewhere_stay_whole() -> None:
    def spared(call: ToolCall, result: ToolResult) -> bool:
        return call.name == "search"

    session = FaultySession(Answering(), get_faults(["drift:1", "truncation:1", "stale:1"]), 0, spared)
    assert [result.content for result in answers(session, calls(4, "search"))] == [ANSWER] * 4
    assert session.record()["counts"] == {"stale": 3}


def test_answers_nested_beyond_reach_stand() -> None:
    deep: Any = []
    for _ in range(3000):
        deep = [deep, 1]

    class Deep(Answering):
        def call(self, call: ToolCall) -> ToolResult:
            return ToolResult.trusted(content=deep, error=None, message="")

    session = FaultySession(Deep(), get_faults([{"name": "drift", "rate": 1, "kinds": ["numbers"]}, "truncation:1"]), 0)
    assert answers(session, calls(1))[0].content is deep


# Environments.

GROUPS = ("non_live", "live", "irrelevance_all", "multi_turn", "agentic", "all")
IDS = [
    (entry.id, options)
    for entry in ENVIRONMENTS
    if entry.id.split("/")[1].removesuffix("-v0") not in GROUPS
    for options in (({}, {"protocol": "dialogue"}) if entry.family == "apibank" else ({},))
]
"""Ids with the options that make other tasks of them; groups hold what their members do."""
LIVE = [
    ("apibank/L1-v0", {"protocol": "dialogue"}),
    ("apibank/L2-v0", {"protocol": "dialogue"}),
    ("apibank/L3-v0", {"protocol": "dialogue"}),
    ("bfcl/multi_turn_base-v0", {}),
    ("bfcl/memory_kv-v0", {}),
    ("bfcl/web_search_base-v0", {}),
]
OFTEN = [*EVERY, {"name": "latency", "seconds": 9, "share": 0.5}]


@cache
def _tasks(id: str, options: str) -> tuple[Task, ...]:
    return tuple(make_tool_env(id, data="starter", **json.loads(options)).tasks[:8])


def made_env(id: str, options: dict[str, Any], **more: Any) -> ToolEnv:
    if id.startswith("bfcl") and "format" in id:
        return make_tool_env(id, data="starter", **options, **more)
    return make_tool_env(id, data=_tasks(id, json.dumps(options)), **options, **more)


def play(env: ToolEnv, seed: int, task: int, act: Callable[[ToolEnv], str]) -> Episode:
    env.reset(seed=seed, options={"task": task})
    while True:
        *_, terminated, truncated, info = env.step(act(env))
        if terminated or truncated:
            episode: Episode = info["episode"]
            return episode


def oracle(env: ToolEnv) -> str:
    return env.oracle_action()


def replaying(episode: Episode) -> Callable[[ToolEnv], str]:
    actions = iter([step.action for step in episode.steps])
    return lambda env: next(actions)


@pytest.mark.parametrize(("id", "options"), IDS)
def test_every_id_takes_faults(id: str, options: dict[str, Any]) -> None:
    env = made_env(id, options, faults=OFTEN)
    bare = made_env(id, options, faults=[{"name": name, FAULTS[name].number: 1, "share": 0} for name in FAULTS])
    clean = made_env(id, options)
    for task in range(3):
        disturbed = play(env, task, task, oracle)
        assert Episode.from_json(disturbed.to_json()) == disturbed
        assert disturbed.faults is not None
        assert play(env, task, task, oracle) == disturbed
        expected, spared = play(clean, task, task, oracle), play(bare, task, task, oracle)
        assert "faults" not in expected.to_dict()
        assert (expected.faults, spared.faults) == (None, {"counts": {}, "log": []})
        config = {key: value for key, value in spared.config.items() if key != "faults"}
        assert spared.model_copy(update={"faults": None, "config": config}).to_json() == expected.to_json()


@pytest.mark.parametrize(("id", "options"), LIVE)
def test_no_rate_is_no_fault(id: str, options: dict[str, Any]) -> None:
    none = [{"name": name, FAULTS[name].number: 0} for name in FAULTS if name != "rate_limit"]
    spared, clean = made_env(id, options, faults=none), made_env(id, options)
    for task in range(3):
        episodes = [play(env, 1, task, oracle) for env in (spared, clean)]
        for episode in episodes:
            vars(episode).update(faults=None, config={})
        assert episodes[0].to_json() == episodes[1].to_json()


@pytest.mark.parametrize("perturb", [[], ["rename"], ["rename", "distractors"]], ids=str)
@pytest.mark.parametrize(("id", "options"), LIVE)
def test_a_record_plays_again(id: str, options: dict[str, Any], perturb: list[str]) -> None:
    env = made_env(id, options, faults=OFTEN, perturb=perturb)
    met: Counter[str] = Counter()
    for seed in range(4):
        episode = play(env, seed, seed, oracle)
        assert episode.faults is not None
        met.update(episode.faults["counts"])  # type: ignore[arg-type]
        config = json.loads(episode.to_json())["config"]
        again = make_tool_env(id, data=_tasks(id, json.dumps(options)), **config)
        assert play(again, seed, seed, replaying(episode)).to_json() == episode.to_json()
    assert len(met) > 1


@pytest.mark.parametrize("policy", ["abstain", "echo", "answer", "ask"])
@pytest.mark.parametrize(("id", "options"), LIVE)
def test_the_lazy_gain_nothing(id: str, options: dict[str, Any], policy: str) -> None:

    def returns(faults: Any) -> list[Any]:
        made = run_episodes(lambda: made_env(id, options, faults=faults), get_policy(policy), episodes=8)
        return [episode.episode_return for episode in made.episodes]

    clean, disturbed = returns(()), returns(OFTEN)
    assert all(after is not None and after <= (before or 0.0) for before, after in zip(clean, disturbed, strict=True))


def test_faults_cost_those_who_call() -> None:
    def mean(faults: Any) -> float:
        options = {"protocol": "dialogue", "data": "starter", "faults": faults}
        summary = run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=40, env_options=options).summary
        return summary.return_mean or 0.0

    assert 1.0 == mean([]) > mean("errors:0.2") > mean("errors:0.6")


def test_what_faults_name_is_what_the_backend_knows() -> None:
    """Under other names for the policy, too."""
    named = {"name": "errors", "rate": 1, "tools": ["SearchEngine", "GetUserToken"]}
    for perturb in ((), ("rename",)):
        env = make_tool_env("apibank/L1-v0", data="starter", protocol="dialogue", faults=named, perturb=perturb)
        tools: set[Any] = set()
        for task in range(30):
            faults: Any = play(env, 0, task, oracle).faults
            tools.update(entry["tool"] for entry in faults["log"])
        assert tools == {"SearchEngine", "GetUserToken"}


def test_faults_that_sleep_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {"name": "latency", "seconds": 0.001, "distribution": "uniform", "limit": 0.0008, "sleep": True}
    env, other = (made_env("apibank/L1-v0", {"protocol": "dialogue"}, faults=faults) for _ in range(2))
    assert env.reset(seed=3) == other.reset(seed=3)
    assert env.waits
    done = False
    while not done:
        action = env.oracle_action()
        awaited, stepped = portal().run(other.astep(action)), env.step(action)
        assert awaited == stepped
        done = stepped[2] or stepped[3]


def test_environments_with_faults_go_through_pickle() -> None:
    env = made_env("bfcl/multi_turn_base-v0", {}, faults=OFTEN)
    again = pickle.loads(pickle.dumps(env))
    assert play(again, 1, 1, oracle) == play(env, 1, 1, oracle)


def test_a_backend_of_ones_own_can_be_faulty() -> None:
    session: Session = faulty(AcceptingBackend(), ["errors:1"]).open(TASK, 0)
    assert session.call(calls(1)[0]).error == "unavailable"
    assert pickle.loads(pickle.dumps(faulty(AcceptingBackend(), ["errors:1"]))).open(TASK, 0).call(calls(1)[0]).error


# Nothing raises.


def options_of(kind: type[Fault]) -> st.SearchStrategy[Any]:
    share = st.sampled_from([0.0, 0.3, 1.0, 1])
    drawn: dict[str, Any] = {
        "rate": share,
        "share": st.sampled_from([0.5, 1.0]),
        "kind": st.sampled_from(["unavailable", "tool_error", "either"]),
        "after": st.booleans(),
        "seconds": st.sampled_from([0, 2.0, 1e4]),
        "distribution": st.sampled_from(["constant", "exponential", "lognormal"]),
        "shortest": st.sampled_from([0.0, 3]),
        "sigma": st.floats(0, 100),
        "limit": st.sampled_from([0.001, 5.0]),
        "calls": st.integers(1, 2),
        "window": st.integers(3, 6),
        "by": st.sampled_from(["all", "tool"]),
        "made": st.booleans(),
        "said": st.booleans(),
        "kinds": st.lists(st.sampled_from(["renamed", "nested", "numbers"]), min_size=1, max_size=3),
    }
    known = {name: drawn[name] for name in kind.__dataclass_fields__ if name in drawn}
    return st.fixed_dictionaries({"name": st.just(kind.name)}, optional=known)


any_fault = st.one_of([options_of(kind) for kind in FAULTS.values()])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*LIVE, ("apibank/L2-v0", {}), ("apibank/L3-v0", {}), ("when2call/open-v0", {})]),
    st.lists(any_fault, min_size=1, max_size=4),
    st.sampled_from([(), ("rename",), ("remove_tool", "rename")]),
    st.integers(0, 7),
    st.lists(st.sampled_from(["gold", "gold", "gold", "reply", *HOSTILE_ACTIONS]) | st.text(max_size=40), max_size=5),
)
def test_no_fault_makes_a_step_raise(
    which: tuple[str, dict[str, Any]], faults: list[Any], perturb: Any, seed: int, actions: list[str]
) -> None:
    env = made_env(*which, faults=faults, perturb=perturb, max_steps=8)
    env.reset(seed=seed, options={"task": seed})
    for action in [*actions, *["gold"] * 8]:
        text = {"gold": env.oracle_action(), "reply": ""}.get(action, action)
        observation, _, terminated, truncated, info = env.step(text)
        assert isinstance(observation, str)
        if terminated or truncated:
            episode = info["episode"]
            assert Episode.from_json(episode.to_json()) == episode
            assert episode.config["faults"] == [spec_of(get_fault(fault)) for fault in faults]
            return
    raise AssertionError


# The example.


def example() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "examples" / "fault_injection.py"
    spec = importlib.util.spec_from_file_location("examples_fault_injection", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_shows_who_is_robust(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module = example()
    monkeypatch.setattr(sys, "argv", ["fault_injection.py", "--episodes", "30", "--faults", "errors:0.3"])
    module.main()
    lines = [line.rsplit(maxsplit=4) for line in capsys.readouterr().out.splitlines()[1:]]
    found = {(name.strip(), tools): (float(mean), int(failed)) for name, tools, mean, _, failed in lines}
    assert found["gives up", "clean"] == found["tries again", "clean"] == (1.0, 0)
    assert found["gives up", "faulty"][0] < found["tries again", "faulty"][0] <= 1.0
    assert found["gives up", "faulty"][1] > 0
