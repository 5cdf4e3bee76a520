"""Stages: what is written and what runs side by side, and what becomes of an episode that breaks."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import pytest

from callgym import GoldCall, Message, Task, Tool, ToolCall, ToolResult
from callgym.dialects import get_dialect
from callgym.envs.base import CUT_ACTION, ToolEnv, make_tool_env
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.local_stage import LocalStage
from callgym.rollouts.play import play
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.retries import Retries
from callgym.rollouts.runner import Rollouts, run_episodes
from callgym.rollouts.stage import Act, Ended, EnvView, Failed, Failure, Start, Turn

LONG = 20.0  # seconds: how long a test waits for what must come at once
CALL, ANSWER = '<tool_call>{"name": "look", "arguments": {"at": 3}}</tool_call>', "Done."


def make_task(number: int) -> Task:
    schema: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "integer"}}}
    return Task(
        id=f"t{number}",
        family="mine",
        split="test",
        messages=(Message(role="user", content="Look at 3."),),
        tools=(Tool(name="look", parameters=schema),),
        goal=CallsGoal(turns=((GoldCall.of(ToolCall(name="look", arguments={"at": 3})),),)),
        initial_state={"number": number},
    )


class Session:
    """Waits by a coroutine function of the task's number."""

    waits = True

    def __init__(self, number: int, wait: Any) -> None:
        self.number, self.wait = number, wait

    def call(self, call: ToolCall) -> ToolResult:
        raise NotImplementedError

    async def acall(self, call: ToolCall) -> ToolResult:
        await self.wait(self.number)
        return ToolResult(content=call.arguments)

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


class Backend:
    def __init__(self, wait: Any) -> None:
        self.wait = wait

    def open(self, task: Task, seed: int) -> Session:
        return Session((task.initial_state or {})["number"], self.wait)  # type: ignore[arg-type]


class Env(ToolEnv):
    family = "mine"
    protocol = "dialogue"


def factory(wait: Any, count: int = 8) -> Any:
    return lambda: Env(data=[make_task(number) for number in range(count)], backend=Backend(wait))


class Writer:
    """Calls, then answers; ``while_writing`` is told of each batch."""

    name = "writer"

    def __init__(self, while_writing: Any = lambda situations: None) -> None:
        self.while_writing = while_writing

    def act(self, situations: Sequence[Situation]) -> list[str]:
        self.while_writing(situations)
        return [ANSWER if situation.messages[-1]["role"] == "tool" else CALL for situation in situations]

    def close(self) -> None:
        pass


async def _soon(number: int) -> None:
    await asyncio.sleep(0)


def test_tools_run_while_the_policy_writes_for_other_episodes() -> None:
    """Each waits for the other to have begun: one after the other, both would wait in vain."""
    tool_began, second_write = threading.Event(), threading.Event()
    met = []

    async def tool(number: int) -> None:
        tool_began.set()
        for _ in range(int(LONG / 0.01)):
            if second_write.is_set():
                met.append("tool")
                return
            await asyncio.sleep(0.01)

    writes = []

    def write(situations: Sequence[Situation]) -> None:
        writes.append(len(situations))
        if len(writes) == 2:
            second_write.set()
            met.append("policy" if tool_began.wait(LONG) else "nobody")

    run_episodes(factory(tool), Writer(write), episodes=2, batch_size=1, seats=2)
    assert met[:2] == ["policy", "tool"] or met[:2] == ["tool", "policy"]
    assert set(writes) == {1}


def test_one_slow_tool_holds_up_no_other_episode() -> None:
    others = threading.Event()

    async def tool(number: int) -> None:
        for _ in range(int(LONG / 0.01)):
            if number or others.is_set():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the others waited for this one")

    ended = []
    with Rollouts(factory(tool), Writer(), batch_size=8) as rollouts:
        for played in rollouts.stream(range(8)):
            assert played.episode is not None
            ended.append(played.episode.task_id)
            if len(ended) == 7:
                others.set()
    assert ended[-1] == "t0"


@pytest.mark.parametrize("order", ["finished", "index"])
def test_results_come_as_they_end_or_in_order(order: Any) -> None:
    async def tool(number: int) -> None:
        await asyncio.sleep(0.01 * number)

    with Rollouts(factory(tool), Writer(), batch_size=4) as rollouts:
        found = [played.index for played in rollouts.stream(range(40), order=order)]
    assert sorted(found) == list(range(40))
    assert (found == list(range(40))) == (order == "index")


DIALOGUES = {"data": "starter", "protocol": "dialogue"}


def test_with_limits_a_bug_is_a_failure_of_its_episode_alone() -> None:
    async def tool(number: int) -> None:
        if number == 3:
            raise ZeroDivisionError("a bug\nin a tool")

    with pytest.raises(ZeroDivisionError):
        run_episodes(factory(tool), Writer(), episodes=8, batch_size=4)
    result = run_episodes(factory(tool), Writer(), episodes=8, batch_size=4, limits=RolloutLimits(attempts=2))
    [(index, failure)] = result.failures.items()
    assert (failure.kind, failure.attempts) == ("exception", 2)
    assert failure.message == "ZeroDivisionError: a bug in a tool"
    assert "in tool" in failure.trace
    assert [episode.task_id for episode in result.episodes].count("t3") == 0
    assert len(result.episodes) == 7
    assert index in range(8)
    assert result.summary.errors["failed_exception"] == 1
    assert (result.summary.episodes, result.summary.unknown) == (8, 1)


def test_a_tool_that_waits_for_ever_is_called_off() -> None:
    async def tool(number: int) -> None:
        if number == 3:
            await asyncio.sleep(1e6)

    limits = RolloutLimits(step_seconds=0.2, attempts=2)
    result = run_episodes(factory(tool), Writer(), episodes=8, batch_size=8, limits=limits)
    assert [failure.kind for failure in result.failures.values()] == ["step_timeout"]
    assert len(result.episodes) == 7


@pytest.mark.parametrize(
    "wrong",
    [{"step_seconds": 0}, {"step_seconds": float("nan")}, {"episode_seconds": -1}, {"attempts": 0}, {"attempts": True}],
)
def test_wrong_limits_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        RolloutLimits(**wrong)


@pytest.mark.parametrize("text", [ANSWER, CALL, CALL[:20], "", "\ud800"])
@pytest.mark.parametrize("first", [True, False])
def test_an_action_that_was_cut_off_is_no_answer_and_runs_nothing(text: str, first: bool) -> None:
    stage = LocalStage({"": lambda: make_tool_env("apibank/L1-v0", **DIALOGUES)}, 1)
    stage.start([Start(7, 0, 5)])
    [turn] = stage.outcomes()
    assert isinstance(turn, Turn)
    assert isinstance(turn.env, ToolEnv)
    if not first:
        stage.act([Act(7, turn.env.oracle_action())])
        assert isinstance(stage.outcomes()[0], Turn)
    stage.act([Act(7, text, cut=True)])
    [ended] = stage.outcomes()
    assert isinstance(ended, Ended)
    episode = ended.episode
    assert episode.ended == "truncated"
    last = episode.steps[-1]
    assert (last.calls, last.results, last.content) == ((), (), "")
    assert [error.message for error in last.errors] == [CUT_ACTION]
    assert episode.final_answer == ""
    assert type(episode).from_dict(episode.to_dict(), "") == episode
    stage.close()


def test_the_view_of_an_environment_travels_and_says_what_it_cannot_tell() -> None:
    env = make_tool_env("bfcl/format_sensitivity-v0", data="starter")
    env.reset(seed=3)
    one, other = (pickle.loads(pickle.dumps(EnvView.of(env))) for _ in range(2))
    assert one.dialect is other.dialect  # what is kept by dialect stays small
    assert one.dialect.name == env.dialect.name
    assert one.given == len(env.task.messages)
    plain = make_tool_env("apibank/L1-v0", data="starter")
    plain.reset(seed=3)
    assert pickle.loads(pickle.dumps(EnvView.of(plain))).dialect is get_dialect("apibank")
    with pytest.raises(ConfigurationError, match=r'asks for the environment\'s .oracle_action.*policy="worker"'):
        one.oracle_action()


class FakeStage:
    """Fails as it is told, and remembers what was started."""

    def __init__(self, failures: list[bool | None]) -> None:
        self.failures = failures
        self.started: list[Start] = []
        self.free = 1
        self.waiting = 1

    def start(self, starts: Sequence[Start]) -> None:
        self.started += starts

    def outcomes(self, timeout: float | None = None) -> list[Any]:
        blamed = self.failures.pop(0)
        if blamed is None:
            return [Ended(1, None)]  # type: ignore[arg-type]
        return [Failed(1, Failure("worker_lost", "gone"), blamed)]


@pytest.mark.parametrize(
    ("failures", "attempts", "alone", "ended"),
    [
        ([True, True, True], 3, [False, False, True], "failed"),
        ([True, True, None], 3, [False, False, True], "ended"),
        ([True, False, False, True, None], 3, [False, False, False, False, True], "ended"),
        ([True], 1, [False], "failed"),
        ([False, False, True, True], 2, [False, False, False, True], "failed"),
    ],
)
def test_tries_are_counted_by_blame_and_the_last_is_alone(
    failures: list[bool | None], attempts: int, alone: list[bool], ended: str
) -> None:
    stage: Any = FakeStage(list(failures))
    retries = Retries(stage, attempts)
    retries.start([Start(1, 4, 9)])
    passed: list[Any] = []
    while not passed:
        passed = retries.outcomes()
    assert [start.alone for start in stage.started] == alone
    assert {(start.key, start.task, start.seed) for start in stage.started} == {(1, 4, 9)}
    assert isinstance(passed[0], Failed if ended == "failed" else Ended)
    if isinstance(passed[0], Failed):
        assert passed[0].failure.attempts == attempts
    assert retries.again == len(stage.started) - 1


def test_an_episode_lost_while_it_waited_for_the_policy_is_asked_for_once() -> None:
    """A stage may take an episode back whose action was asked for already."""

    class Forgetful(LocalStage):
        lost = False

        def outcomes(self, timeout: float | None = None, released: Any = lambda: False) -> list[Any]:
            found = super().outcomes(timeout, released)
            if not self.lost and len(found) == 2:
                self.lost = True
                key = found[1].key
                self._playing.pop(key)
                return [*found, Failed(key, Failure("worker_lost", "gone"))]
            return found

    acted: list[int] = []
    stage = Forgetful({"": factory(_soon)}, 2)
    policy = Writer(lambda situations: acted.append(len(situations)))
    starts = iter([Start(0, 0, 0), Start(1, 1, 1)])
    ended = list(play(Retries(stage, 3), policy, starts, 2, patience=5.0))
    assert sorted(outcome.key for outcome in ended) == [0, 1]
    assert sum(acted) == 4
    stage.close()


def test_environments_in_other_wrappers_are_played_too() -> None:
    make = factory(_soon)

    def wrapped() -> gym.Env[Any, Any]:
        return gym.wrappers.TransformReward(make(), float)

    result = run_episodes(wrapped, get_policy("abstain"), episodes=8, batch_size=3, seats=5)
    assert len(result.episodes) == 8
