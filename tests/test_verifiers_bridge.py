"""The bridge to verifiers: its rollouts are the environment's episodes, and what is not known stays so."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest

vf = pytest.importorskip("verifiers")
if not vf.__version__.startswith("0.1.8"):
    pytest.skip(f"the bridge is for verifiers 0.1.8, here is {vf.__version__}", allow_module_level=True)

from openai.types.chat import ChatCompletion  # noqa: E402
from openai.types.completion import Completion  # noqa: E402

from callgym.envs.base import ToolEnv, make_tool_env  # noqa: E402
from callgym.errors import ConfigurationError  # noqa: E402
from callgym.rollouts.policy import get_policy  # noqa: E402
from callgym.rollouts.runner import run_episodes  # noqa: E402
from callgym.trainers.bridges import verifiers_env as bridge  # noqa: E402

ID = "bfcl/multi_turn_base-v0"
DATA: dict[str, Any] = {"data": "starter"}


def chat(content: str | None, calls: list[dict[str, Any]] | None = None) -> ChatCompletion:
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return ChatCompletion.model_validate(
        {"id": "c", "created": 0, "model": "m", "object": "chat.completion", "choices": [choice]}
    )


def text(content: str) -> Completion:
    choice = {"index": 0, "finish_reason": "stop", "text": content}
    return Completion.model_validate(
        {"id": "c", "created": 0, "model": "m", "object": "text_completion", "choices": [choice]}
    )


class Client:
    """Answers as an OpenAI client does, with what a function of the conversation says."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply
        self.asked: list[dict[str, Any]] = []
        self.chat = self.completions = self
        self.base_url = "here"

    async def create(self, **request: Any) -> Any:
        self.asked.append(request)
        await asyncio.sleep(0)
        return self.reply(request)


def generated(env: Any, reply: Any, rows: int = 3, repeat: int = 1) -> tuple[list[Any], Client]:
    client = Client(reply)
    inputs = [row for row in env.get_dataset(n=rows).to_list() for _ in range(repeat)]
    outputs = asyncio.run(env.generate(inputs, client=client, model="m", use_tqdm=False))
    return sorted(outputs["state"], key=lambda state: state["example_id"]), client


class Oracle:
    """Plays as the environment's oracle would: finds the episode by its first user message, replays it here."""

    def __init__(self, env: Any, structured: bool) -> None:
        self.here: dict[str, ToolEnv] = {}
        self.structured = structured
        for row in env.get_dataset().to_list():
            info = json.loads(row["info"])
            here = make_tool_env(ID, **DATA)
            here.reset(seed=info["seed"], options={"task": info["task_id"]})
            self.here[self.key(row["prompt"])] = here

    @staticmethod
    def key(messages: list[dict[str, Any]]) -> str:
        return str(next(message["content"] for message in messages if message["role"] == "user"))

    def __call__(self, request: dict[str, Any]) -> ChatCompletion:
        here = self.here[self.key(request["messages"])]
        action = here.oracle_action()
        calls = here.step(action)[-1]["calls"]
        if not self.structured or not calls:
            return chat(action)
        return chat(
            None,
            [
                {
                    "id": f"call-{len(request['messages'])}-{number}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for number, call in enumerate(calls)
            ],
        )


def calls_of(record: dict[str, Any]) -> list[Any]:
    return [(step["turn"], call["name"], call["arguments"]) for step in record["steps"] for call in step["calls"]]


@pytest.mark.parametrize("structured", [False, True])
def test_a_rollout_is_the_episode_of_a_run(structured: bool) -> None:
    env = bridge.load_environment(ID, episodes=3, seed=5, **DATA)
    states, client = generated(env, Oracle(env, structured))
    here = run_episodes(ID, get_policy("oracle"), episodes=3, seed=5, env_options=DATA, progress=False).episodes
    for state, episode in zip(states, here, strict=True):
        assert state["reward"] == episode.episode_return == 1.0
        metrics = {name: None if math.isnan(value) else value for name, value in state["metrics"].items()}
        assert metrics == {name: score.value for name, score in episode.rewards.items()}
        mine, theirs = state["episode"], episode.to_dict()
        assert {name: mine[name] for name in ("seed", "task_id", "ended", "state", "prompt")} == {
            name: theirs[name] for name in ("seed", "task_id", "ended", "state", "prompt")
        }
        assert calls_of(mine) == calls_of(theirs)
        assert state["stop_condition"] == "episode_over"
        assert bridge._ENV not in state
    for request in client.asked:  # what servers ask of a conversation: an answer to every call, and no other
        open_calls: list[str] = []
        for message in request["messages"]:
            if message["role"] == "tool":
                open_calls.remove(message["tool_call_id"])
            else:
                assert not open_calls
            open_calls += [call["id"] for call in message.get("tool_calls") or ()]
        assert not open_calls
        assert request["tools"]


def test_completions_see_the_environment_s_own_text() -> None:
    env = bridge.load_environment(ID, episodes=2, seed=5, message_type="completion", **DATA)
    whole = make_tool_env(ID, **DATA)
    row = env.dataset[0]
    info = json.loads(row["info"])
    seen = [whole.reset(seed=info["seed"], options={"task": info["task_id"]})[0]]
    prompts: list[str] = []

    def reply(request: dict[str, Any]) -> Completion:
        prompts.append(request["prompt"])
        action = whole.oracle_action()
        seen.append(whole.step(action)[0])
        return text(action)

    states, _ = generated(env, reply, rows=1)
    assert prompts == seen[:-1]
    assert states[0]["reward"] == 1.0


def test_rows_are_the_plan_s_and_name_task_and_seed() -> None:
    first, again = (bridge.load_environment(ID, seed=5, **DATA).dataset.to_list() for _ in range(2))
    assert first == again
    assert len({json.loads(row["info"])["task_id"] for row in first}) == len(first) == 120
    other = bridge.load_environment(ID, episodes=120, seed=6, **DATA).dataset.to_list()
    assert [row["info"] for row in other] != [row["info"] for row in first]


@pytest.mark.parametrize(
    "calls",
    [
        [{"id": "a", "type": "function", "function": {"name": "nowhere", "arguments": "{}"}}],
        [{"id": "a", "type": "function", "function": {"name": "x", "arguments": "{not json"}}],
        [
            {"id": "a", "type": "function", "function": {"name": "", "arguments": "[1]"}},
            {"id": "b", "type": "function", "function": {"name": "cd", "arguments": '{"folder": 1e999}'}},
            {"id": "c", "type": "function", "function": {"name": "x\ud800</tool_call>", "arguments": "{}"}},
        ],
        None,
    ],
)
def test_nothing_that_a_model_writes_raises(calls: Any) -> None:
    env = bridge.load_environment(ID, episodes=1, max_steps=3, **DATA)
    said = "\x00\ud800" if calls is None else ""
    states, client = generated(env, lambda request: chat(said, calls))
    assert states[0]["episode"]["ended"] in ("terminated", "truncated")
    assert states[0]["reward"] == 0.0
    answered = [message["tool_call_id"] for message in client.asked[-1]["messages"] if message["role"] == "tool"]
    assert answered == [call["id"] for call in calls or ()] * (len(client.asked) - 1)


def test_rollouts_share_no_environment_and_each_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    env = bridge.load_environment(ID, episodes=1, max_steps=2, **DATA)
    made: list[ToolEnv] = []
    closed: list[ToolEnv] = []
    make = env._make

    def making() -> ToolEnv:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(env, "_make", making)
    monkeypatch.setattr(ToolEnv, "close", lambda self: closed.append(self))
    generated(env, lambda request: chat("words"), rows=1, repeat=4)
    assert len(set(map(id, made))) == 4
    assert set(map(id, made)) <= set(map(id, closed))

    def broken(request: dict[str, Any]) -> Any:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        generated(env, broken, rows=1)
    assert any(one is made[-1] for one in closed)


def test_an_episode_that_something_else_ends_is_truncated() -> None:
    env = bridge.load_environment(ID, episodes=1, **DATA)
    env.max_turns = 1
    states, _ = generated(env, lambda request: chat('<tool_call>{"name": "pwd", "arguments": {}}</tool_call>'))
    assert states[0]["episode"]["ended"] == "truncated"
    assert states[0]["stop_condition"] == "max_turns_reached"


def test_a_prompt_that_is_too_long_is_no_action() -> None:
    import httpx
    from openai import BadRequestError

    request = httpx.Request("POST", "http://here")
    response = httpx.Response(400, text="This model's maximum context length is 8 tokens", request=request)
    env = bridge.load_environment(ID, episodes=1, **DATA)

    def reply(asked: dict[str, Any]) -> Any:
        raise BadRequestError("too long", response=response, body=None)

    states, _ = generated(env, reply)
    assert states[0]["episode"] is None
    assert math.isnan(states[0]["reward"])


def test_what_is_not_known_is_nan_and_moves_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    env = bridge.load_environment("when2call/mcq-v0", episodes=1, **DATA)
    kept = bridge._keep
    returns = iter([1.0, None, 0.5])

    def keep(state: Any, episode: Any) -> None:
        kept(state, episode)
        state["episode_return"] = next(returns)
        state["episode_rewards"] = dict.fromkeys(state["episode_rewards"])

    monkeypatch.setattr(bridge, "_keep", keep)
    states, _ = generated(env, lambda request: chat("words"), rows=1, repeat=3)
    by_return = {state["episode_return"]: state for state in states}
    assert math.isnan(by_return[None]["reward"])
    assert {key: state["advantage"] for key, state in by_return.items()} == {1.0: 0.25, None: 0.0, 0.5: -0.25}
    assert all(math.isnan(value) for state in states for value in state["metrics"].values())
    assert all(step["advantage"] == state["advantage"] for state in states for step in state["trajectory"])


@pytest.mark.parametrize("options", [{"episodes": 0}, {"seed": -1}, {"message_type": "x"}, {"tusk": 1}])
def test_arguments_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        bridge.load_environment(ID, **{**DATA, **options})
