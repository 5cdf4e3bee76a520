"""Rollouts for TRL: a row is its episode to the token, tools run side by side, and what breaks teaches nothing."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import os
import random
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import gymnasium as gym
import pytest

from callgym import Episode, Message, Step, Task, Tool, ToolCall, ToolResult, UserTurn
from callgym.envs.base import Protocol, ToolEnv, make_tool_env
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal, GoldCall, StateGoal, TextGoal
from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.answer import final_answer
from callgym.rewards.explain import recompute
from callgym.rewards.rouge import reply_rouge
from callgym.rewards.state import state_reached
from callgym.rollouts.limits import RolloutLimits
from callgym.rollouts.ray.workers import RayWorkers
from callgym.tool_backends import PythonBackend, World
from callgym.trainers import grpo
from callgym.trainers.conversation import ChatRenderer, Conversation, make_renderer
from callgym.trainers.grpo import GrpoSettings, make_trainer, train_grpo
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
from callgym.trainers.trl import EpisodeRollouts
from callgym.trainers.warmup import oracle_texts

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

DESK = "rollouts/Desk-v0"
SEPARATOR = "\u241f"


# A dialogue of two user turns whose tools differ from task to task.


def tool(name: str, **properties: str) -> Tool:
    schema: Any = {key: {"type": kind} for key, kind in properties.items()}
    parameters = {"type": "object", "properties": schema, "required": list(properties)}
    return Tool(name=name, description=f"{name} something.", parameters=parameters)


PUT, COUNT, ASK = tool("Put", thing="string"), tool("Count"), tool("Ask")


def task(number: int, **changes: Any) -> Task:
    first, second = ToolCall(name="Put", arguments={"thing": f"jar {number}"}), ToolCall(name="Count")
    given: dict[str, Any] = {
        "id": f"desk/{number}",
        "family": "rollouts",
        "split": "train",
        "messages": (Message(role="user", content=f"Put jar {number} on the desk, please."),),
        "tools": (PUT, COUNT) if number % 2 else (ASK, COUNT, PUT),
        "user_turns": (UserTurn(content="How many things are there?"),),
        "goal": CallsGoal(turns=((GoldCall.of(first),), (GoldCall.of(second),))),
        "initial_state": {"desk": []},
    }
    return Task(**{**given, **changes})


def put(world: World, thing: str) -> str:
    world.state["desk"].append(thing)
    return f"The {thing} stands there."


class DeskEnv(ToolEnv):
    family: ClassVar[str] = "rollouts"
    protocol: Protocol = "dialogue"
    default_dialect: ClassVar[str] = "apibank-short"

    def load_tasks(self, source: Any, split: str) -> tuple[Task, ...]:
        return tuple(task(number) for number in range(4))

    def make_backend(self, source: Any) -> Any:
        return PythonBackend(
            {"Put": put, "Count": lambda world: len(world.state["desk"]), "Ask": lambda world: "ANSWER: 42"}
        )


@pytest.fixture(scope="module", autouse=True)
def _desk() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    gym.register(DESK, entry_point=f"{__name__}:DeskEnv", kwargs={"data": "starter"})
    yield
    del gym.registry[DESK]
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tiny(_desk: None) -> tuple[Any, Any]:
    config = TinyPolicyConfig(vocabulary=400, hidden=32, layers=1, heads=2, context=8_192)
    return build_tiny_policy([*oracle_texts(DESK), "assistant user tool system <tool_call></tool_call>"], config)


@pytest.fixture
def tokenizer(tiny: tuple[Any, Any]) -> Any:
    return copy.deepcopy(tiny[1])


CHATML = (
    "{% if tools %}{{ '<|im_start|>system\\n' }}{% for tool in tools %}{{ tool.function.name + ' ' }}{% endfor %}"
    "{{ eos_token + '\\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
    "{% for call in m.tool_calls or [] %}{{ '<tool_call>' + call.function | tojson + '</tool_call>' }}{% endfor %}"
    "{{ eos_token + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@pytest.fixture
def chat(tokenizer: Any) -> Any:
    tokenizer.chat_template = CHATML
    return tokenizer


def encode(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


# What generates.

Script = Callable[[str], str]
"""From the conversation so far to the next action."""


class Generator:
    """Stands in for TRL's trainer; what it writes for a conversation depends on nothing else."""

    def __init__(self, tokenizer: Any, script: Script, *, ends: bool = True, most: int | None = None) -> None:
        self.state = SimpleNamespace(global_step=0)
        self.max_completion_length = most
        self.tokenizer = tokenizer
        self.script = script
        self.ends = ends
        self.batches: list[list[list[int]]] = []
        self.written: list[tuple[list[int], list[int]]] = []
        self.counts: set[int] = set()

    def _generate_single_turn(
        self, prompts: list[list[int]], images: Any, fields: Any, count: int
    ) -> tuple[list[list[int]], list[list[float]] | None]:
        self.counts.add(count)
        self.batches.append([list(ids) for ids in prompts])
        written = [self.write(ids) for ids in prompts]
        self.written += list(zip(self.batches[-1], written, strict=True))
        return written, [[scored(ids, at) for at in range(len(ids))] for ids in written]

    def write(self, ids: list[int]) -> list[int]:
        action = encode(self.tokenizer, self.script(self.tokenizer.decode(ids)))[: self.max_completion_length]
        full = self.max_completion_length is not None and len(action) >= self.max_completion_length
        return action if full or not self.ends else [*action, self.tokenizer.eos_token_id]


def scored(ids: Sequence[int], at: int) -> float:
    """A log-probability that tells of its token and its place."""
    return -(ids[at] + 1) / 1_000 - at


class Hostile(Generator):
    """Any tokens, control tokens included, or a right action letter by letter; with its end or not; or cut off."""

    def write(self, ids: list[int]) -> list[int]:
        draw = random.Random(repr(ids))
        most = self.max_completion_length or 40
        if draw.random() < 0.5:
            pieces = list(self.script(self.tokenizer.decode(ids)))
            action = [id for piece in pieces for id in encode(self.tokenizer, piece)]
        else:
            others = [id for id in range(len(self.tokenizer)) if id != self.tokenizer.eos_token_id]
            action = draw.choices(others, k=draw.randint(0, most + 10))
        action = action[:most]
        if len(action) == most or draw.random() < 0.2:
            return action
        return [*action, self.tokenizer.eos_token_id]


def oracle(conversation: str) -> str:
    """The right action on the desk, in brackets or in JSON."""
    turn = conversation[max(conversation.rfind("User:"), conversation.rfind("user\n")) :]
    if "->" in turn or "tool\n" in turn:
        return "Done."
    number = next((n for n in range(4) if f"jar {n}" in turn), None)
    name, arguments = ("Count", {}) if number is None else ("Put", {"thing": f"jar {number}"})
    if "<|im_start|>" in conversation:
        return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
    return f"[{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})]"


def played(
    tokenizer: Any,
    generator: Any = None,
    ids: str | Sequence[str] = DESK,
    limit: int | None = None,
    times: int = 1,
    **options: Any,
) -> SimpleNamespace:
    """Columns, episodes, references and rollouts of one batch."""
    episodes: list[Episode] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rollouts = EpisodeRollouts(ids, tokenizer, on_episode=episodes.append, **options)
        prompts = [prompt for prompt in rollouts.dataset(limit)["prompt"] for _ in range(times)]
        try:
            columns = rollouts(prompts, generator or Generator(tokenizer, oracle))
        finally:
            rollouts.close()
    for function in rollouts.reward_funcs:
        function(**columns)
    return SimpleNamespace(columns=columns, episodes=episodes, prompts=prompts, rollouts=rollouts)


def rows(columns: Mapping[str, Any]) -> list[tuple[list[int], list[int], list[int], list[float]]]:
    keys = ("prompt_ids", "completion_ids", "env_mask", "logprobs")
    return list(zip(*(columns[key] for key in keys), strict=True))


# Every row, rebuilt from its episode by other means.


def replayed(episode: Episode, options: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """(observation, messages) at the beginning and after each action, from an environment of its own."""
    env = make_tool_env(episode.env_id, **{**options, "observation": "delta"})
    observation, info = env.reset(seed=episode.seed, options={"task": episode.task_id})
    seen = [(observation, info["messages"])]
    for step in episode.steps:
        if any(error.kind == "truncated" for error in step.errors) and step is episode.steps[-1]:
            env.truncate(step.action) if episode.ended == "truncated" else env.step(step.action)
            break
        observation, _, _, _, info = env.step(step.action)
        seen.append((observation, info["messages"][1:]))
    env.close()
    return seen


def in_chatml(messages: Sequence[Mapping[str, Any]]) -> str:
    return (
        "".join(f"<|im_start|>{m['role']}\n{m['content'] or ''}<end>\n" for m in messages) + "<|im_start|>assistant\n"
    )


def bare(text: str) -> str:
    """Without what is put into marks that others wrote."""
    return "".join(text.split())


IDS: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("dialogue", (DESK,), {"split": "train"}),
    ("step", ("apibank/L1-v0",), {"data": "starter", "split": "test"}),
    ("live dialogue", ("apibank/L2-v0",), {"data": "starter", "split": "test", "protocol": "dialogue"}),
    ("single", ("when2call/open-v0", "bfcl/parallel-v0"), {"data": "starter", "split": "test"}),
    ("states", ("bfcl/multi_turn_base-v0",), {"data": "starter", "split": "test"}),
]


@pytest.mark.parametrize("templated", [False, True], ids=["text", "chat"])
@pytest.mark.parametrize(("name", "ids", "options"), IDS, ids=[row[0] for row in IDS])
def test_a_row_is_its_episode_to_the_token(
    tokenizer: Any, name: str, ids: tuple[str, ...], options: dict[str, Any], templated: bool
) -> None:
    """T02, C24: nothing is tokenised again, the mask is 1 for the model's tokens and no other."""
    if templated:
        tokenizer.chat_template = CHATML
        options = {**options, "dialect": "hermes"}
    end = tokenizer.eos_token_id
    generator = Hostile(tokenizer, oracle, most=36)
    run = played(tokenizer, generator, ids, limit=3, times=2, **options)
    spelled = 0
    written = {tuple(shown): action for shown, action in generator.written}
    assert len(run.episodes) == len(run.prompts) == 6 * len(ids)
    for (prompt, completion, mask, logprobs), episode in zip(rows(run.columns), run.episodes, strict=True):
        assert len(completion) == len(mask) == len(logprobs) > 0
        seen = replayed(episode, options)
        begun, at = tokenizer.decode(prompt), 0
        if templated:
            assert bare(begun).endswith(bare(in_chatml(seen[0][1])))
        else:
            assert bare(begun) == bare(seen[0][0])
        for number, step in enumerate(episode.steps):
            action = written[tuple(prompt + completion[:at])]
            assert completion[at : at + len(action)] == action
            assert mask[at : at + len(action)] == [1] * len(action)
            assert logprobs[at : at + len(action)] == [scored(action, place) for place in range(len(action))]
            text = tokenizer.decode(action[:-1] if action[-1:] == [end] else action)
            assert step.action == text
            spelled += encode(tokenizer, text) != (action[:-1] if action[-1:] == [end] else action)
            at += len(action)
            until = next((place for place in range(at, len(mask)) if mask[place]), len(mask))
            said = completion[at:until] if number < len(episode.steps) - 1 else []
            if number < len(episode.steps) - 1:
                assert mask[at : at + len(said)] == [0] * len(said)
                observation, messages = seen[number + 1]
                ended = action[-1:] == [end]
                expected = f"{'' if ended else '<end>'}\n{in_chatml(messages)}" if templated else observation
                assert bare(tokenizer.decode(said)) == bare(expected)
                assert logprobs[at : at + len(said)] == [0.0] * len(said)
                assert said.count(end) == (expected.count("<end>") if templated else 0)
            at += len(said)
        assert at == len(completion)
    assert spelled > 0
    assert generator.counts == {1}


def test_the_hostile_generator_does_all_that_it_says(tokenizer: Any) -> None:
    generator = Hostile(tokenizer, oracle, most=36)
    run = played(tokenizer, generator, times=6)
    assert {episode.ended for episode in run.episodes} == {"terminated", "truncated"}
    assert {len(action) == 36 for _, action in generator.written} == {True, False}
    assert {action[-1:] == [tokenizer.eos_token_id] for _, action in generator.written} == {True, False}


# Tools side by side.


class WaitingSession:
    """Waits in every call for what a test says."""

    waits = True

    def __init__(self, wait: Callable[[], Any]) -> None:
        self.wait = wait

    def call(self, call: ToolCall) -> ToolResult:
        raise AssertionError("tools that wait are awaited")

    async def acall(self, call: ToolCall) -> ToolResult:
        await self.wait()
        return ToolResult(content="It stands there.")

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


class WaitingBackend:
    def __init__(self, wait: Callable[[], Any]) -> None:
        self.wait = wait

    def open(self, task: Task, seed: int) -> WaitingSession:
        return WaitingSession(self.wait)


def test_the_tools_of_all_episodes_run_side_by_side(tokenizer: Any) -> None:
    inside, most = 0, 0

    async def meet() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        for _ in range(4_000):
            if most == 4:
                break
            await asyncio.sleep(0.005)
        inside -= 1

    run = played(tokenizer, backend=WaitingBackend(meet))
    assert most == 4
    assert [episode.task_id for episode in run.episodes] == [f"desk/{number}" for number in range(4)]
    assert run.rollouts.metrics["callgym/seconds/tools"] > 0


def test_the_model_writes_for_some_while_the_tools_of_others_run(tokenizer: Any) -> None:
    """The first tools return only when the model has written for another episode since."""
    again = threading.Event()

    async def wait() -> None:
        for _ in range(4_000):
            if again.is_set():
                return
            await asyncio.sleep(0.005)
        raise AssertionError("nothing was written meanwhile")

    class Watching(Generator):
        def _generate_single_turn(self, *given: Any) -> Any:
            if self.batches:
                again.set()
            return super()._generate_single_turn(*given)

    generator = Watching(tokenizer, oracle)
    run = played(tokenizer, generator, backend=WaitingBackend(wait), generation_batch=2)
    assert max(map(len, generator.batches)) == 2
    assert len(run.episodes) == 4


@pytest.mark.parametrize("batch", [1, 3, None])
def test_how_many_are_written_for_at_once_changes_no_row(tokenizer: Any, batch: int | None) -> None:
    whole = played(tokenizer, Hostile(tokenizer, oracle, most=36), times=2)
    parts = played(tokenizer, Hostile(tokenizer, oracle, most=36), times=2, generation_batch=batch)
    assert parts.columns == whole.columns
    assert parts.episodes == whole.episodes


def test_by_default_the_model_writes_for_all_in_the_order_of_the_batch(tokenizer: Any) -> None:
    generator = Generator(tokenizer, oracle)
    run = played(tokenizer, generator)
    assert [len(batch) for batch in generator.batches] == [4, 4, 4, 4]
    for batch in generator.batches:
        assert [ids[: len(prompt)] for ids, prompt in zip(batch, run.columns["prompt_ids"], strict=True)] == (
            run.columns["prompt_ids"]
        )


@pytest.mark.usefixtures("ray_cluster")
def test_on_ray_workers_rows_are_the_same(tokenizer: Any) -> None:
    ids, options = "apibank/L2-v0", {"data": "starter", "split": "test", "protocol": "dialogue"}
    here = played(tokenizer, Hostile(tokenizer, oracle, most=60), ids, limit=3, times=2, **options)
    workers = RayWorkers(2, cpus=0.1)
    there = played(tokenizer, Hostile(tokenizer, oracle, most=60), ids, limit=3, times=2, workers=workers, **options)
    assert there.columns == here.columns
    assert there.episodes == here.episodes


def test_the_policy_acts_here_not_on_workers(tokenizer: Any) -> None:
    with pytest.raises(ConfigurationError, match="the trainer's model acts"):
        EpisodeRollouts(DESK, tokenizer, workers=RayWorkers(1, policy="worker"))
    with pytest.raises(ConfigurationError, match="generation_batch"):
        EpisodeRollouts(DESK, tokenizer, generation_batch=0)


# Several processes.


class Processes:
    """An accelerator for threads: what one gathers, all have given."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.barrier = threading.Barrier(count, timeout=20)
        self.given: dict[int, Any] = {}

    def of(self, index: int) -> Any:
        def gather(value: Any) -> Any:
            self.given[index] = value
            self.barrier.wait()
            found = torch.cat([self.given[number] for number in range(self.count)])
            self.barrier.wait()
            return found

        return SimpleNamespace(num_processes=self.count, process_index=index, device="cpu", gather=gather)


@pytest.mark.parametrize("server", [False, True], ids=["transformers", "vllm server"])
def test_processes_write_equally_often_however_long_their_episodes_are(tokenizer: Any, server: bool) -> None:
    processes = Processes(2)
    tasks = (["desk/0", "desk/1", "desk/2"], ["desk/3"])

    class Shared(Generator):
        """As a vLLM server: all prompts of all processes, each of which takes as many answers as it gave prompts."""

        accelerator: Any

        def _generate_single_turn(self, prompts: list[list[int]], *given: Any) -> Any:
            sizes = self.accelerator.gather(torch.tensor([len(prompts)]))
            if server:
                assert len(set(sizes.tolist())) == 1
            return super()._generate_single_turn(prompts, *given)

    def short(conversation: str) -> str:
        return "Done."

    generators: list[Any] = []
    columns: list[Any] = [None, None]
    for index, script in enumerate((oracle, short)):
        generator: Any = Shared(tokenizer, script)
        generator.accelerator = processes.of(index)
        if server:
            generator.vllm_generation = SimpleNamespace(mode="server", tensor_parallel_size=1, max_model_length=None)
        generators.append(generator)

    def run(index: int) -> None:
        rollouts = EpisodeRollouts(DESK, tokenizer)
        columns[index] = rollouts([f"{DESK}{SEPARATOR}{name}" for name in tasks[index]], generators[index])
        rollouts.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [len(generator.batches) for generator in generators] == [4, 4]
    alone = [Generator(tokenizer, script) for script in (oracle, short)]
    for index in range(2):
        rollouts = EpisodeRollouts(DESK, tokenizer)
        prompts = [f"{DESK}{SEPARATOR}{name}" for name in tasks[index]]
        assert columns[index] == rollouts(prompts, alone[index])
        rollouts.close()
    assert len(alone[1].batches) == 2  # its two further rounds were for the other's sake


# What breaks.


class BreakingEnv(DeskEnv):
    """Task 1 breaks in its second step, task 2 at its beginning; as often as ``times`` says."""

    broken: ClassVar[dict[str, int]] = {}
    times: ClassVar[int] = 1_000

    def _breaks(self, name: str) -> None:
        count = BreakingEnv.broken[name] = BreakingEnv.broken.get(name, 0) + 1
        if count <= BreakingEnv.times:
            raise RuntimeError(f"{name} broke")

    def reset(self, **options: Any) -> Any:
        found = super().reset(**options)
        if self.task.id == "desk/2":
            self._breaks("desk/2")
        return found

    def step(self, action: str) -> Any:
        if self.task.id == "desk/1" and self._steps:
            self._breaks("desk/1")
        return super().step(action)


BREAKING = "rollouts/Breaking-v0"


@pytest.fixture
def breaking() -> Iterator[type[BreakingEnv]]:
    gym.register(BREAKING, entry_point=f"{__name__}:BreakingEnv", kwargs={"data": "starter"})
    BreakingEnv.broken, BreakingEnv.times = {}, 1_000
    yield BreakingEnv
    del gym.registry[BREAKING]


def test_an_episode_that_breaks_has_no_reward_and_teaches_nothing(tokenizer: Any, breaking: Any) -> None:
    """T05: None, never 0, in every column."""
    whole = played(tokenizer)
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(BREAKING, tokenizer, limits=RolloutLimits(attempts=2), on_episode=episodes.append)
    with pytest.warns(UserWarning, match=r"2 of 4 episodes broke .*RuntimeError: desk/1 broke"):
        columns = rollouts(list(rollouts.dataset()["prompt"]), Generator(tokenizer, oracle))
    assert breaking.broken == {"desk/1": 2, "desk/2": 2}
    assert [episode.task_id for episode in episodes] == ["desk/0", "desk/3"]
    for function in rollouts.reward_funcs:
        values = function(**columns)
        assert values[1] is values[2] is None
    assert columns["episode_return"] == [1.0, None, None, 1.0]
    for row in (0, 3):
        assert columns["completion_ids"][row] == whole.columns["completion_ids"][row]
    for row in (1, 2):
        assert set(columns["env_mask"][row]) == {0}
    for prompt, completion, mask, logprobs in rows(columns):
        assert len(prompt) > 0
        assert len(completion) == len(mask) == len(logprobs) > 0
    metrics = rollouts.metrics
    assert metrics["callgym/failed"] == metrics["callgym/failed/exception"] == 0.5
    assert metrics["callgym/failed/step_timeout"] == 0.0
    assert metrics["callgym/return/" + BREAKING] == 1.0
    rollouts.close()


def test_an_episode_that_begins_again_keeps_nothing_of_before(tokenizer: Any, breaking: Any) -> None:
    breaking.times = 1
    whole = played(tokenizer)
    again = played(tokenizer, ids=BREAKING, limits=RolloutLimits(attempts=2))
    for name in ("prompt_ids", "completion_ids", "env_mask", "logprobs", "episode_return"):
        assert again.columns[name] == whole.columns[name]


def test_without_limits_a_bug_ends_the_run(tokenizer: Any, breaking: Any) -> None:
    with pytest.raises(RuntimeError, match="desk/2 broke"):
        played(tokenizer, ids=BREAKING)


def test_a_step_that_takes_too_long_is_left_out(tokenizer: Any) -> None:
    async def never() -> None:
        await asyncio.sleep(3_600)

    limits = RolloutLimits(step_seconds=0.05, attempts=1)
    run = played(tokenizer, limit=1, backend=WaitingBackend(never), limits=limits)
    assert run.columns["episode_return"] == [None]
    assert run.rollouts.metrics["callgym/failed/step_timeout"] == 1.0


# What ends early.


def test_an_action_that_reaches_its_limit_is_cut_off_and_nothing_of_it_is_run(tokenizer: Any) -> None:
    long = len(encode(tokenizer, oracle("User: Put jar 1 on the desk")))
    for most, ended in ((long, "truncated"), (long + 2, "terminated")):
        run = played(tokenizer, Generator(tokenizer, oracle, most=most))
        assert {episode.ended for episode in run.episodes} == {ended}
        assert run.rollouts.metrics["callgym/cut"] == float(ended == "truncated")
        if ended == "truncated":
            for (_, completion, mask, _), episode in zip(rows(run.columns), run.episodes, strict=True):
                assert mask == [1] * long
                assert completion[-1] != tokenizer.eos_token_id  # TRL's mask_truncated_completions finds it by that
                assert [error.kind for error in episode.steps[-1].errors] == ["truncated"]
                assert not episode.calls()
            assert run.columns["episode_return"] == [0.0] * 4


def test_an_episode_that_runs_out_of_steps_ends_with_the_models_own_end(tokenizer: Any) -> None:
    run = played(tokenizer, max_steps=2)
    assert {episode.ended for episode in run.episodes} == {"truncated"}
    assert all(ids[-1] == tokenizer.eos_token_id for ids in run.columns["completion_ids"])
    assert all(value < 1.0 for value in run.columns["episode_return"])
    assert run.rollouts.metrics["callgym/truncated"] == 1.0
    assert run.rollouts.metrics["callgym/cut"] == 0.0


def test_an_episode_as_long_as_the_models_context_is_truncated(tokenizer: Any) -> None:
    whole = played(tokenizer)
    prompt = max(map(len, whole.columns["prompt_ids"]))
    generator: Any = Generator(tokenizer, oracle)
    generator.model = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=prompt + 30))
    run = played(tokenizer, generator)
    assert {episode.ended for episode in run.episodes} == {"truncated"}
    assert all(len(p) + len(c) < prompt + 30 for p, c, _, _ in rows(run.columns))
    generator.model = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=prompt - 1))
    with pytest.raises(ConfigurationError, match="leave such tasks out with max_prompt_tokens"):
        played(tokenizer, generator)


def episode_of(ended: str, content: str, state: Any = None) -> Episode:
    step = Step(action=content, content=content)
    given: Any = {"env_id": DESK, "task_id": "desk/0", "seed": 0, "ended": ended, "steps": (step,), "state": state}
    return Episode(**given)


UNFINISHED: list[tuple[str, Any, Any, str, Any]] = [
    ("final_answer", final_answer, AnswerGoal(accepted=("42",)), "42", None),
    ("reply_rouge", reply_rouge, TextGoal(reference="The jar stands there."), "The jar stands there.", None),
    ("state_reached", state_reached, StateGoal(state={"desk": ["jar"]}), "Done.", {"desk": ["jar"]}),
    ("irrelevance_abstention", irrelevance_abstention, DecisionGoal(decision="decline"), "I cannot do that.", None),
    (
        "irrelevance_abstention",
        irrelevance_abstention,
        DecisionGoal(decision="decline", worded=True),
        "I'm sorry, I cannot do that with the tools I have.",
        None,
    ),
]


@pytest.mark.parametrize(("name", "reward", "goal", "words", "state"), UNFINISHED)
def test_what_was_not_finished_is_not_paid_as_finished(
    name: str, reward: Any, goal: Any, words: str, state: Any
) -> None:
    asked = task(0, goal=goal)
    finished = reward(asked, episode_of("terminated", words, state))
    unfinished = reward(asked, episode_of("truncated", words, state))
    assert (finished.value, unfinished.value) == (pytest.approx(1.0), 0.0)
    assert recompute(name, finished) == finished.value
    assert recompute(name, unfinished) == unfinished.value


def test_what_a_tool_said_is_no_answer(tokenizer: Any) -> None:
    """C24."""
    asked = task(0, goal=AnswerGoal(accepted=("42",), match="numeric"), user_turns=())

    def script(conversation: str) -> str:
        return "done" if "->" in conversation.rpartition("User:")[2] else "[Ask()]"

    run = played(tokenizer, Generator(tokenizer, script), data=[asked])
    (episode,) = run.episodes
    assert "ANSWER: 42" in episode.steps[0].observation
    assert run.columns["episode_return"] == [0.0]
    ((_, completion, mask, _),) = rows(run.columns)
    assert "42" not in tokenizer.decode([id for id, mine in zip(completion, mask, strict=True) if mine])


# Chat templates.

NUMBERED = CHATML.replace("'<|im_start|>' + m.role", "'<|im_start|>' + m.role + ' of ' ~ messages|length")
CALLS_FIRST = CHATML.replace(
    "{% for m in messages %}",
    "{% for m in messages %}"
    "{% if m.role == 'tool' and not (loop.previtem.tool_calls or loop.previtem.role == 'tool') %}"
    "{{ raise_exception('a tool message without a call before it') }}{% endif %}",
)
NAMED_CALLS = CHATML.replace(
    "{% for call in m.tool_calls or [] %}",
    "{% for call in m.tool_calls or [] %}{% if call.function.arguments is not mapping %}"
    "{{ raise_exception('arguments are an object') }}{% endif %}{{ call.function.name[0] }}",
)


def test_a_template_that_rewrites_earlier_turns_is_refused_before_the_run(tokenizer: Any) -> None:
    tokenizer.chat_template = NUMBERED
    with pytest.raises(ConfigurationError, match="not prefix-preserving"):
        EpisodeRollouts(DESK, tokenizer, dialect="hermes")
    single = EpisodeRollouts("bfcl/parallel-v0", tokenizer, dialect="hermes", data="starter", split="test")
    single.close()  # one action: nothing is written twice


def test_the_probe_shows_a_template_calls_results_faults_and_user_turns(tokenizer: Any) -> None:
    for template in (CHATML, CALLS_FIRST, NAMED_CALLS):
        tokenizer.chat_template = template
        renderer = make_renderer(tokenizer)
        assert isinstance(renderer, ChatRenderer)
        renderer.check_growth()
    refusing = CHATML.replace(
        "{% for m in messages %}",
        "{% for m in messages %}{% if m.role == 'user' and not loop.first %}{{ raise_exception('one question') }}"
        "{% endif %}",
    )
    tokenizer.chat_template = refusing
    with pytest.raises(ConfigurationError, match="one question"):
        EpisodeRollouts(DESK, tokenizer, dialect="hermes")


def test_a_call_of_nothing_is_text_and_an_error_and_training_goes_on(tokenizer: Any) -> None:
    """T01."""
    tokenizer.chat_template = NAMED_CALLS

    def script(conversation: str) -> str:
        before, written, after = conversation.partition("<tool_call>{}</tool_call>")
        if not written:
            return "<tool_call>{}</tool_call>"
        return oracle(conversation if "tool\n" in after else before)

    run = played(tokenizer, Generator(tokenizer, script), dialect="hermes")
    for episode in run.episodes:
        assert [error.kind for error in episode.steps[0].errors] == ["malformed"]
        assert episode.ended == "terminated"
        assert [call.name for call in episode.calls()] == ["Put", "Count"]
    assert run.rollouts.metrics["callgym/parse_errors/malformed"] == 1.0


@pytest.mark.parametrize("template", [None, CHATML], ids=["text", "chat"])
def test_the_prompt_holds_what_reset_said(tokenizer: Any, template: str | None) -> None:
    """T03."""
    tokenizer.chat_template = template
    run = played(tokenizer, dialect="hermes")
    for number, prompt in enumerate(run.columns["prompt_ids"]):
        assert f"Put jar {number} on the desk, please." in tokenizer.decode(prompt)


def test_a_template_that_wants_calls_before_results_gets_them(tokenizer: Any) -> None:
    """T08."""
    tokenizer.chat_template = CALLS_FIRST
    run = played(tokenizer, dialect="hermes")
    assert run.columns["episode_return"] == [1.0] * 4


def test_log_probabilities_are_one_a_token() -> None:
    conversation = Conversation([1])
    conversation.add_action([], [])
    conversation.add_observation([5, 6])
    conversation.add_action([2, 3], [-1.0, None])
    assert conversation.logprobs == [0.0, 0.0, -1.0, None]
    with pytest.raises(ConfigurationError, match="1 log-probabilities for 2 tokens"):
        conversation.add_action([2, 3], [-1.0])


# Samplers and logs.


class Backwards:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def rows(self, ids_to_task_ids: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        return [(id, name) for id, names in ids_to_task_ids.items() for name in reversed(names) for _ in range(2)]

    def observe(self, episode: Episode) -> None:
        self.seen.append(episode.task_id)


def test_a_sampler_gives_the_rows_and_sees_the_episodes(tokenizer: Any) -> None:
    sampler = Backwards()
    run = played(tokenizer, sampler=sampler, limit=2)
    expected = ["desk/1", "desk/1", "desk/0", "desk/0"]
    assert [prompt.partition(SEPARATOR)[2] for prompt in run.prompts] == expected
    assert sampler.seen == expected

    class Elsewhere(Backwards):
        def rows(self, ids_to_task_ids: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
            return [(DESK, "desk/9")]

    rollouts = EpisodeRollouts(DESK, tokenizer)
    with pytest.raises(ConfigurationError, match="the sampler gave the row"):
        rollouts.dataset(order=Elsewhere())
    rollouts.close()


def test_logs_say_what_happened_under_names_that_stay(tokenizer: Any) -> None:
    good, bad = played(tokenizer), played(tokenizer, Generator(tokenizer, lambda _: "[Fly(]"), max_steps=3)
    right, wrong = good.rollouts.metrics, bad.rollouts.metrics
    by_turn = {name for name in {*right, *wrong} if "turn_reward" in name}
    assert right.keys() - by_turn == wrong.keys() - by_turn
    assert right["callgym/steps"] == 4.0
    assert right["callgym/turns"] == right["callgym/calls"] == 2.0
    assert right[f"callgym/return/{DESK}"] == 1.0
    assert right["callgym/turn_reward/0"] + right["callgym/turn_reward/1"] == pytest.approx(1.0)
    assert wrong["callgym/truncated"] == 1.0
    assert sum(value for name, value in wrong.items() if "parse_errors/" in name) == 3.0
    assert 0.0 <= wrong["callgym/waiting_share"] <= 1.0


def test_rewards_by_turn_are_what_the_steps_earned(tokenizer: Any) -> None:
    run = played(tokenizer, rubric="turn_level")
    metrics = run.rollouts.metrics
    for turn in (0, 1):
        earned = [sum(step.reward or 0.0 for step in e.steps if step.turn == turn) for e in run.episodes]
        assert metrics[f"callgym/turn_reward/{turn}"] == pytest.approx(sum(earned) / 4)
    assert metrics["callgym/turn_reward/0"] > 0


# TRL's own trainer.


def settings(out: Path, **changes: Any) -> GrpoSettings:
    given = {"ids": (DESK,), "model": "", "out": out, "steps": 1, "batch": 8, "group": 2, "max_new_tokens": 5}
    return GrpoSettings(**{**given, "data": "starter", "learning_rate": 1e-3, **changes})


def log_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "training_log.jsonl").read_text(encoding="utf-8").splitlines()]


def test_training_goes_on_over_what_breaks(tiny: tuple[Any, Any], tmp_path: Path, breaking: Any) -> None:
    run = settings(tmp_path, ids=(BREAKING,), limits=RolloutLimits(attempts=1), steps=2, micro_batch=4)
    with pytest.warns(UserWarning, match="episodes broke"):
        said = train_grpo(run, copy.deepcopy(tiny[0]), tiny[1])
    assert said.startswith("trained 2 steps: return ")
    for row in log_of(tmp_path):
        assert row["callgym/failed"] == row["callgym/failed/exception"] == 0.25  # task 1 has only one step here
        assert row["callgym/steps"] == row["callgym/cut"] == 1.0
        assert row["completions/min_length"] == 0.0
        assert math.isfinite(row["grad_norm"])


def test_a_resumed_run_plays_what_the_run_that_was_not_stopped_played(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    whole: list[Episode] = []
    parts: list[Episode] = []
    train_grpo(settings(tmp_path / "whole", steps=4, save_steps=2), copy.deepcopy(tiny[0]), tiny[1], whole.append)
    begun = settings(tmp_path / "parts", steps=2, save_steps=2)
    train_grpo(begun, copy.deepcopy(tiny[0]), tiny[1], parts.append)
    with pytest.raises(ConfigurationError, match="resume=True"):
        train_grpo(begun, copy.deepcopy(tiny[0]), tiny[1])
    again = settings(tmp_path / "parts", steps=4, save_steps=2, resume=True)
    train_grpo(again, copy.deepcopy(tiny[0]), tiny[1], parts.append)
    assert len(parts) == 32
    assert parts == whole
    assert [row["step"] for row in log_of(tmp_path / "parts")] == [1, 2, 3, 4]


class FakeVllm:
    """What TRL asks of its vLLM: tokens and a log-probability for each."""

    vllm_client: ClassVar[Any] = SimpleNamespace(
        get_server_info=lambda: {"model_config": {"logprobs_mode": "processed_logprobs"}}
    )

    def __init__(self, **options: Any) -> None:
        self.mode = options["mode"]
        self.url = options["server_base_url"]
        self.tensor_parallel_size = options["tensor_parallel_size"]
        self.max_model_length = options["max_model_length"]
        self.end = options["processing_class"].eos_token_id
        self.counts: list[int] = []
        self.synchronised = 0

    def sync_weights(self) -> None:
        self.synchronised += 1

    def generate(self, prompts: list[list[int]], images: Any, num_generations: int, profiler: Any) -> tuple[Any, ...]:
        self.counts.append(num_generations)
        ids = [[5 + (len(prompt) + at) % 90 for at in range(3)] + [self.end] for prompt in prompts]
        logprobs: list[Any] = [[[-0.5], [None], [-2.0], [-0.25]] for _ in prompts]
        return prompts, ids, logprobs, [[[id] for id in one] for one in ids]


@pytest.mark.parametrize("mode", ["colocate", "server"])
def test_with_vllm_the_correction_is_for_the_models_tokens(
    tiny: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Any
) -> None:
    monkeypatch.setattr(grpo, "importlib", SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: name)))
    monkeypatch.setattr("trl.trainer.grpo_trainer.VLLMGeneration", FakeVllm)
    url = "http://127.0.0.1:9" if mode == "server" else None
    run = settings(tmp_path, vllm_mode=mode, vllm_url=url, max_new_tokens=8)
    rollouts = EpisodeRollouts(DESK, tiny[1], max_steps=3)
    trainer = make_trainer(run, rollouts, copy.deepcopy(tiny[0]), tiny[1])
    batches: list[dict[str, Any]] = []
    score = trainer._generate_and_score_completions

    def watched(inputs: Any) -> Any:
        batches.append(score(inputs))
        return batches[-1]

    trainer._generate_and_score_completions = watched
    trainer.train()
    rollouts.close()
    assert set(trainer.vllm_generation.counts) == {1}
    assert trainer.vllm_generation.url == url
    assert trainer.vllm_generation.synchronised == 1
    (batch,) = batches
    mine = (batch["tool_mask"] * batch["completion_mask"]).bool()
    theirs = batch["completion_mask"].bool() & ~mine
    assert mine.any()
    assert theirs.any()
    assert batch["sampling_per_token_logps"].shape == batch["completion_ids"].shape
    assert (batch["sampling_per_token_logps"][theirs] == 0).all()
    assert set(batch["sampling_per_token_logps"][mine].nan_to_num(7.0).tolist()) == {-0.5, 7.0, -2.0, -0.25}
    ratio = batch["importance_sampling_ratio"]  # by TRL's default one a sequence
    difference = (batch["old_per_token_logps"] - batch["sampling_per_token_logps"]) * mine
    expected = torch.exp(difference.nan_to_num(0.0).sum(-1, keepdim=True))
    kept = ratio > 0  # a ratio beyond TRL's limit is 0
    assert torch.allclose(ratio[kept], expected.expand_as(ratio)[kept])
    (row,) = [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]
    assert math.isfinite(row["grad_norm"])
    assert math.isfinite(row["sampling/sampling_logp_difference/mean"])


def test_settings_are_checked_before_anything_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="vllm_url"):
        settings(tmp_path, vllm_url="http://here")
    with pytest.raises(ConfigurationError, match="vllm_mode"):
        settings(tmp_path, vllm_mode="elsewhere")
    with pytest.raises(ConfigurationError, match="save_steps"):
        settings(tmp_path, save_steps=0)
    monkeypatch.setattr(grpo, "importlib", SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: None)))
    with pytest.raises(MissingPackageError, match=r"trl\[vllm\]"):
        grpo._vllm(settings(tmp_path, vllm_mode="colocate"))


@pytest.mark.parametrize(
    ("batch", "micro", "processes", "expected"),
    [
        (8, None, 1, (8, 1)),
        (8, None, 2, (4, 1)),
        (8, 2, 2, (2, 2)),
        (8, 2, 1, (2, 4)),
        (8, 3, 1, None),
        (8, None, 3, None),
    ],
)
def test_a_batch_is_shared_out_among_processes_and_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, micro: int | None, processes: int, expected: Any
) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(processes))
    run = settings(tmp_path, batch=batch, micro_batch=micro)
    if expected is None:
        with pytest.raises(ConfigurationError, match="cannot be shared out"):
            grpo._shares(run)
    else:
        assert grpo._shares(run) == expected


def test_weights_choose_the_rows(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    episodes: list[Episode] = []
    run = settings(tmp_path, ids=(DESK, "bfcl/parallel-v0"), weights={DESK: 1.0, "bfcl/parallel-v0": 0.0})
    train_grpo(run, copy.deepcopy(tiny[0]), tiny[1], episodes.append)
    assert {episode.env_id for episode in episodes} == {DESK}
