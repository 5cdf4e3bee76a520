"""Every registered id keeps the contract, and the check of the contract catches those that do not."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import pytest

from callgym import ENVIRONMENTS, ConfigurationError, GoldCall, Message, Score, Task, Tool, ToolCall, check_tool_env
from callgym.checker import ToolEnvError
from callgym.data import DataSource
from callgym.dialects import DIALECTS
from callgym.envs.base import Protocol, ToolEnv
from callgym.envs.bfcl.categories import GROUPS
from callgym.goal import CallsGoal
from callgym.registry import find_environment, register_all
from callgym.rewards import Rubric, register_reward
from callgym.tool_backends import PythonBackend, ToolBackend, World

IDS = [entry.id for entry in ENVIRONMENTS]
GROUP_IDS = {f"bfcl/{name}-v0" for name in GROUPS}
"""Unions of other ids: the one of all of them is walked for the rest."""
OWN_FORMATS = "bfcl/format_sensitivity-v0"
"""Each of its tasks is written in a format of its own."""


@pytest.mark.parametrize("id", [id for id in IDS if id not in GROUP_IDS or id == "bfcl/all-v0"])
def test_starter_tasks_keep_the_contract(id: str) -> None:
    for split in ("train", "test"):
        check_tool_env(gym.make(id, data="starter", split=split))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("id", [id for id in IDS if id not in {*GROUP_IDS, OWN_FORMATS}])
def test_starter_tasks_keep_the_contract_in_every_dialect(id: str, dialect: str) -> None:
    check_tool_env(gym.make(id, data="starter", dialect=dialect, observation="delta"), skip_gymnasium=True)


DIALOGUES = [(id, {"protocol": "dialogue"}) for id in IDS if id.startswith("apibank/")]


@pytest.mark.parametrize(("id", "options"), [*((id, {}) for id in IDS if id not in GROUP_IDS), *DIALOGUES])
def test_an_episode_whose_last_action_was_cut_off_is_never_paid_in_full(id: str, options: dict[str, Any]) -> None:
    """Else a policy would be paid for running into its limit of tokens instead of coming to an end."""
    env: Any = gym.make(id, data="starter", disable_env_checker=True, **options).unwrapped
    for index in range(0, len(env.tasks), 1 + len(env.tasks) // 6):
        env.reset(seed=0, options={"task": index})
        actions: list[str] = []
        over = False
        while not over:
            actions.append(env.oracle_action())
            *_, terminated, truncated, info = env.step(actions[-1])
            over = terminated or truncated
        whole = info["episode"].episode_return
        env.reset(seed=0, options={"task": index})
        for action in actions[:-1]:
            env.step(action)
        assert env.truncate(actions[-1]).episode_return < whole, env.task.id


@pytest.mark.parametrize("dialect", DIALECTS)
def test_where_tasks_have_their_own_formats_no_dialect_is_taken(dialect: str) -> None:
    with pytest.raises(ConfigurationError, match="takes no dialect"):
        gym.make(OWN_FORMATS, data="starter", dialect=dialect)


@pytest.mark.parametrize("id", [id for id in IDS if id.startswith("apibank/")])
def test_official_tasks_keep_the_contract(id: str, apibank_data: Path) -> None:
    check_tool_env(gym.make(id, data=str(apibank_data), render_mode="ansi"))


@pytest.mark.parametrize("entry", ENVIRONMENTS, ids=IDS)
def test_ids_have_the_documented_form_and_are_found(entry: Any) -> None:
    assert re.fullmatch(r"[a-z0-9_]+/[A-Za-z0-9_]+-v\d+", entry.id)
    assert entry.family == entry.id.split("/")[0]
    assert entry.summary
    assert find_environment(entry.id) is entry
    spec = gym.spec(entry.id)
    assert spec.entry_point == entry.entry_point
    assert isinstance(spec.entry_point, str)
    made: Any = gym.make(entry.id, data="starter").unwrapped
    assert made.family == entry.family
    protocols = {made.protocol_of(task) for task in made.tasks}
    assert protocols == {entry.protocol} or (entry.protocol == "mixed" and len(protocols) > 1)
    assert made.env_id == entry.id
    assert made.spec is not None


def test_an_unknown_id_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"'apibank/L9-v0'.*apibank/L1-v0"):
        find_environment("apibank/L9-v0")


def test_registering_again_changes_nothing() -> None:
    before = dict(gym.registry)
    register_all()
    assert dict(gym.registry) == before


def test_an_id_with_its_module_needs_no_import() -> None:
    code = (
        "import gymnasium as gym\n"
        "env = gym.make('callgym:apibank/L3-v0', data='starter')\n"
        "print(env.reset(seed=0)[1]['task_id'])"
    )
    finished = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("starter/L3/")


# Environments that break the contract, each in one way.

ADD = Tool(
    name="Add",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)
SHARED: dict[str, int] = {"count": 0}


def broken_task(number: int, gold: int = 1) -> Task:
    return Task(
        id=f"broken/{number}",
        family="broken",
        split="test",
        messages=(Message(role="user", content=f"Add {number} and 1."),),
        tools=(ADD,),
        goal=CallsGoal(turns=((GoldCall.of(ToolCall(name="Add", arguments={"a": number, "b": gold})),),)),
    )


class Sound(ToolEnv):
    """Keeps the contract; the others below differ from it in one thing."""

    family: ClassVar[str] = "broken"

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        return [broken_task(number) for number in range(4)]

    def make_backend(self, source: DataSource) -> ToolBackend:
        return PythonBackend({"Add": self.add})

    def add(self, world: World, a: int, b: int) -> Any:
        return a + b


class Counts(Sound):
    """Keeps a count between episodes."""

    def add(self, world: World, a: int, b: int) -> Any:
        SHARED["count"] += 1
        return SHARED["count"]


class Leaks(Sound):
    """Shows what an unfinished episode left behind."""

    protocol: Protocol = "dialogue"
    dirty = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        self.dirty = self.dirty or (not self._done and bool(self._steps))
        return super().reset(seed=seed, options=options)

    def add(self, world: World, a: int, b: int) -> Any:
        return a + b + 100 * self.dirty


class SharesInfo(Sound):
    """Gives every caller the same list of tools, and shows it to the policy."""

    shown: ClassVar[list[Any]] = ["one"]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "shown": SharesInfo.shown}

    def add(self, world: World, a: int, b: int) -> Any:
        return len(SharesInfo.shown)


class Raises(Sound):
    """Trips over an action."""

    def step(self, action: str) -> Any:
        if isinstance(action, str) and "DROP TABLE" in action:
            raise RuntimeError("no tables here")
        return super().step(action)


class TakesBytes(Sound):
    """Takes what is no text."""

    def step(self, action: Any) -> Any:
        return super().step(action if isinstance(action, str) else str(action))


class WrongGold(Sound):
    """A gold call that its own tool refuses is not what is asked."""

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        return [broken_task(number) for number in range(4)]

    def oracle_action(self) -> str:
        return "I would rather not."


class TooMuch(Sound):
    """Pays more than 1."""

    def _finish(self, ended: Any) -> Any:
        episode = super()._finish(ended)
        if "sorry" in episode.steps[-1].action.lower() or episode.episode_return == 1.0:
            return episode
        return episode.model_copy(update={"episode_return": 1.5})


class PaysTwice(Sound):
    """Step rewards that do not sum to the return."""

    def _finish(self, ended: Any) -> Any:
        episode = super()._finish(ended)
        if episode.episode_return == 1.0:
            return episode
        last = episode.steps[-1].model_copy(update={"reward": 0.5})
        return episode.model_copy(update={"steps": (*episode.steps[:-1], last)})


class Endless(Sound):
    """Never ends."""

    def step(self, action: str) -> Any:
        observation, reward, _, _, info = super().step(action)
        self._done = False
        return observation, reward, False, False, info


class NoRecord(Sound):
    """Ends without a record."""

    def step(self, action: str) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        info.pop("episode", None)
        return observation, reward, terminated, truncated, info


class SaysRunning(Sound):
    """Ends with a record that says it goes on."""

    def _finish(self, ended: Any) -> Any:
        return super()._finish(ended).model_copy(update={"ended": "running"})


BROKEN: list[tuple[type[Sound], str]] = [
    (Counts, r"two different episodes.*state kept between episodes"),
    (Leaks, r"an episode changed after another was played"),
    (SharesInfo, r"an episode changed after another was played.*info or session state is shared"),
    (Raises, r"DROP TABLE.*raised RuntimeError: no tables here; nothing that a policy writes may raise"),
    (TakesBytes, r"raised no TypeError"),
    (WrongGold, r"the oracle's return on task 'broken/\d' is 0.0, not 1.*wrong gold answer"),
    (TooMuch, r"the return is 1.5, outside \[0, 1\]"),
    (PaysTwice, r"do not sum to the return"),
    (Endless, r"did not end within 17 steps; is max_steps kept"),
    (NoRecord, r"is NoneType, not an Episode; does step\(\) call ToolEnv.step\(\)\?"),
    (SaysRunning, r"says it is running"),
]


def test_a_sound_environment_passes() -> None:
    check_tool_env(Sound(data="starter"))
    check_tool_env(Sound(data="starter", dialect="openai", observation="delta"))


@pytest.mark.parametrize(("broken", "message"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_a_broken_environment_is_caught_and_told_why(broken: type[Sound], message: str) -> None:
    with pytest.raises(ToolEnvError, match=message):
        check_tool_env(broken(data="starter"), skip_gymnasium=True)


def test_a_rubric_that_asks_for_more_than_the_goal_is_caught() -> None:
    register_reward("test_never", lambda task, episode: Score(value=0.0))
    env = Sound(data="starter", rubric=Rubric(name="never", weights={"test_never": 1.0, "call_exact_match": 1.0}))
    with pytest.raises(ToolEnvError, match=r"is 0.5, not 1; rewards: .*test_never"):
        check_tool_env(env)


def test_gymnasium_s_own_faults_are_caught_too() -> None:
    class WrongSpace(Sound):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.observation_space = gym.spaces.Text(3)

    with pytest.raises(AssertionError, match="observation space"):
        check_tool_env(WrongSpace(data="starter"))


def test_an_environment_of_another_kind_is_told_what_is_missing() -> None:
    with pytest.raises(ToolEnvError, match=r"CartPoleEnv has no oracle_action.*ToolEnv"):
        check_tool_env(gym.make("CartPole-v1"), skip_gymnasium=True)
