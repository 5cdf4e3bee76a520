"""Tools that wait: many episodes wait side by side in one process, and nothing else about them changes."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import gymnasium as gym
import pytest

from callgym import Task, Tool, ToolCall, ToolResult
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.tool_backends import Session, WrappedSession, acall, waits
from callgym.tool_backends.portal import portal

TASKS = 24


class Meeting:
    """Counts who is inside at the same time."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.inside = 0
        self.most = 0

    async def attend(self) -> None:
        """Wait until everybody expected has come, or a while."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        for _ in range(200):
            if self.most >= self.expected:
                break
            await asyncio.sleep(0.005)
        self.inside -= 1


class MeetingSession:
    waits = True

    def __init__(self, meeting: Meeting) -> None:
        self.meeting = meeting
        self.made = 0

    def call(self, call: ToolCall) -> ToolResult:
        return portal().run(self.acall(call))

    async def acall(self, call: ToolCall) -> ToolResult:
        await self.meeting.attend()
        self.made += 1
        return ToolResult(content={"made": self.made, **call.arguments})

    def state(self) -> dict[str, Any]:
        return {"made": self.made}

    def close(self) -> None:
        pass


class MeetingBackend:
    def __init__(self, expected: int) -> None:
        self.meeting = Meeting(expected)

    def open(self, task: Task, seed: int) -> MeetingSession:
        return MeetingSession(self.meeting)


def tasks() -> list[Task]:
    tool = Tool(
        name="look", parameters={"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
    )
    goal = {"kind": "calls", "turns": [[{"name": "look", "arguments": {"at": [3]}}] * 2]}
    rows = [
        {
            "id": f"t{number}",
            "family": "mine",
            "split": "test",
            "messages": [{"role": "user", "content": f"look twice, {number}"}],
            "tools": [tool.to_dict()],
            "goal": goal,
        }
        for number in range(TASKS)
    ]
    return [Task.from_dict(row) for row in rows]


class WaitingEnv(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def factory(backend: Any, wrapped: bool = False, perturb: Any = ()) -> Any:
    def make() -> gym.Env[Any, Any]:
        env: gym.Env[Any, Any] = WaitingEnv(data=tasks(), backend=backend, perturb=perturb)
        return gym.wrappers.TransformReward(env, float) if wrapped else env

    return make


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])
@pytest.mark.parametrize("perturb", [(), ("rename",)], ids=["plain", "renamed"])
def test_episodes_wait_side_by_side_and_are_the_same_as_one_by_one(wrapped: bool, perturb: Any) -> None:
    beside, alone = MeetingBackend(TASKS), MeetingBackend(1)
    make = factory(beside, wrapped, perturb)
    together = run_episodes(make, get_policy("oracle"), episodes=TASKS, batch_size=TASKS)
    singly = run_episodes(factory(alone, wrapped, perturb), get_policy("oracle"), episodes=TASKS, batch_size=1)
    assert beside.meeting.most == TASKS
    assert alone.meeting.most == 1
    assert [e.to_json() for e in together.episodes] == [e.to_json() for e in singly.episodes]
    assert {episode.episode_return for episode in together.episodes} == {1.0}


def test_astep_gives_what_step_gives() -> None:
    backend = MeetingBackend(1)
    one, other = (make_waiting(backend) for _ in range(2))
    assert one.reset(seed=5) == other.reset(seed=5)
    assert one.waits
    while True:
        action = one.oracle_action()
        stepped = one.step(action)
        awaited = asyncio.run(other.astep(action))
        assert stepped == awaited
        if stepped[2]:
            break


def make_waiting(backend: Any) -> ToolEnv:
    return WaitingEnv(data=tasks(), backend=backend)


def test_a_fault_in_one_tool_ends_the_run_when_all_have_come_to_an_end() -> None:
    class Faulty(MeetingSession):
        async def acall(self, call: ToolCall) -> ToolResult:
            result = await super().acall(call)
            if self.made == 1 and self.meeting.inside == 0:
                raise ZeroDivisionError("a bug in a tool")
            return result

    class FaultyBackend(MeetingBackend):
        def open(self, task: Task, seed: int) -> MeetingSession:
            return Faulty(self.meeting)

    backend = FaultyBackend(4)
    with pytest.raises(ZeroDivisionError):
        run_episodes(factory(backend), get_policy("oracle"), episodes=4, batch_size=4)
    assert backend.meeting.inside == 0


def test_sessions_that_never_wait_are_never_awaited() -> None:
    env = make_tool_env("apibank/L1-v0", data="starter")
    env.reset(seed=0)
    assert not env.waits
    session: Session = WrappedSession(env._opened)  # type: ignore[arg-type]
    assert not waits(session)
    call = ToolCall(name="GetUserToken", arguments={})
    assert asyncio.run(acall(session, call)) == session.call(call)


def test_wrapped_sessions_await_what_waits() -> None:
    session = WrappedSession(WrappedSession(MeetingSession(Meeting(1))))
    assert waits(session)
    call = ToolCall(name="look", arguments={"at": 1})
    assert asyncio.run(acall(session, call)).content == {"made": 1, "at": 1}
    assert session.call(call).content == {"made": 2, "at": 1}
    assert session.state() == {"made": 2}


# The portal.


async def where() -> int:
    return threading.get_ident()


def test_everything_that_waits_lives_in_one_loop() -> None:
    there = portal().run(where())
    assert there != threading.get_ident()
    assert asyncio.run(portal().arun(where())) == there
    assert portal().run(portal().arun(where())) == there


def test_the_loop_does_not_wait_for_itself() -> None:
    async def blocking() -> int:
        return portal().run(where())

    with pytest.raises(RuntimeError, match="await it instead"):
        portal().run(blocking())


def test_a_forked_process_has_a_loop_of_its_own() -> None:
    portal().run(where())
    child = os.fork()
    if child == 0:  # pragma: no cover
        os._exit(0 if portal().run(where()) else 1)
    assert os.waitpid(child, 0)[1] == 0
