"""Any environment for PrimeIntellect's verifiers, release 0.1.8 (tested: 0.1.8 and 0.1.8.post2)::

    env = load_environment("apibank/L1-v0", episodes=200, seed=0)
    results = await env.evaluate(client, "qwen3", num_examples=20, rollouts_per_example=4)

A row names a task and a seed; each rollout plays it in a ToolEnv of its own, which its state holds and which is closed
with it. An assistant's message is one action, its words as they are or its ``tool_calls`` written in the environment's
dialect; what comes back are the new messages. The rollout ends with the episode, or truncates it. At the end the state
has ``episode`` (the record as a dict; None where no action was taken), ``episode_return`` and ``episode_rewards``
(None where not known).

verifiers knows floats alone: a reward function that returns None, or fails, is logged and counted as 0. So
what is not known is NaN in ``reward`` and ``metrics`` (a mean over them is NaN, too: use ``numpy.nanmean``), and never
enters the mean that advantages are measured from: its own advantage is 0, so that it is not learnt from.

Other releases are refused: from 0.1.9 on failures of a model's call become part of the state, from 0.1.11 messages and
tools have types of their own, and 0.4 has neither Environment nor Rubric, but harnesses whose model calls go through a
server of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.plan import Plan
from callgym.rollouts.server_policy import server_messages
from callgym.rollouts.unreadable import RawCall, render_raw_action

try:
    import verifiers as vf
    from datasets import Dataset
except ImportError as error:
    raise MissingPackageError("verifiers is not installed; it comes with: pip install 'verifiers==0.1.8'") from error

if not (vf.__version__ == "0.1.8" or vf.__version__.startswith("0.1.8.post")):  # those after it differ in what they do
    raise MissingPackageError(
        f"the bridge is for verifiers 0.1.8, and {vf.__version__} is installed: pip install 'verifiers==0.1.8'"
    )

if TYPE_CHECKING:
    _MultiTurnEnv = Any
    _Rubric = Any
else:
    _MultiTurnEnv = vf.MultiTurnEnv
    _Rubric = vf.Rubric

__all__ = ["EpisodeRubric", "VerifiersEnv", "load_environment"]

MessageType = Literal["chat", "completion"]

_ENV = "callgym_env"
_REPLY = "callgym_reply"
_MOST_ROWS = 1_000_000
_MOST_THREADS = 64
# The environments that the rollout of this task has made: state is out of reach where a model's call raises.
_made: contextvars.ContextVar[list[ToolEnv]] = contextvars.ContextVar("callgym_made")


def load_environment(
    id: str,
    *,
    episodes: int | None = None,
    seed: int = 0,
    message_type: MessageType = "chat",
    **env_options: Any,
) -> VerifiersEnv:
    """An environment of ``verifiers`` that plays a registered id.

    Args:
        id: A registered id.
        episodes: How many rows the dataset has; by default one for each task. Row k is episode k of ``run_episodes``
            with the same seed.
        seed: The run's seed.
        message_type: ``"chat"``: messages and tools to a chat endpoint. ``"completion"``: the environment's own text
            to a completions endpoint; end its texts with the dialect's ``stop`` in ``sampling_args``.
        **env_options: Arguments of ``gym.make``.

    Raises:
        ConfigurationError: An argument has a value it cannot have.
        DataError: The environment's data is missing or damaged.
    """
    if message_type not in ("chat", "completion"):
        raise ConfigurationError(f"message_type is 'chat' or 'completion', got {message_type!r}")
    if type(seed) is not int or seed < 0:
        raise ConfigurationError(f"seed is a whole number of at least 0, got {seed!r}")
    # A text grows by what is new.
    if message_type == "completion" and env_options.setdefault("observation", "delta") != "delta":
        raise ConfigurationError("with message_type='completion' the observation is 'delta'")
    env = make_tool_env(id, **env_options)
    try:
        count = len(env.tasks) if episodes is None else episodes
        if type(count) is not int or not 1 <= count <= _MOST_ROWS:
            raise ConfigurationError(f"episodes is a whole number from 1 to {_MOST_ROWS}, got {episodes!r}")
        rows = Dataset.from_list(_rows(env, seed, count, message_type))
        names = env.rubric.reward_names
    finally:
        env.close()
    return VerifiersEnv(
        lambda: make_tool_env(id, **env_options),
        dataset=rows,
        rubric=EpisodeRubric(names),
        message_type=message_type,
        env_id=id,
        env_args={"episodes": count, "seed": seed, **env_options},
    )


def _rows(env: ToolEnv, seed: int, count: int, message_type: MessageType) -> list[dict[str, Any]]:
    plan = Plan.of(env, "verifiers", seed)
    rows = []
    for index in range(count):
        task, episode_seed = plan.task(index), plan.episode_seed(index)
        observation, info = env.reset(seed=episode_seed, options={"task": task})
        # What is shown here is for readers of the dataset; a rollout asks its own environment. The words alone:
        # a table's columns have one shape, messages have many.
        said = [{"role": message["role"], "content": message["content"] or ""} for message in info["messages"]]
        rows.append(
            {
                "prompt": observation if message_type == "completion" else said,
                "answer": "",
                "example_id": index,
                "task": env.env_id,
                "info": json.dumps({"task_id": plan.task_ids[task], "seed": episode_seed}),
            }
        )
    return rows


class VerifiersEnv(_MultiTurnEnv):  # type: ignore[misc]
    """Rollouts in ToolEnvs; see the module's docstring."""

    def __init__(self, make: Callable[[], ToolEnv], **options: Any) -> None:
        """Take what makes the environment of a rollout.

        Args:
            make: Makes an environment that has the tasks that the dataset names.
            **options: Arguments of ``vf.MultiTurnEnv``.
        """
        super().__init__(**options)
        self._make = make

    async def rollout(self, *args: Any, **options: Any) -> Any:
        """Play one episode; its environment is closed, whatever happens."""
        made: list[ToolEnv] = []
        token = _made.set(made)
        try:
            return await super().rollout(*args, **options)
        finally:
            _made.reset(token)
            for env in made:
                env.close()

    async def setup_state(self, state: Any) -> Any:
        """Make the rollout's environment and begin its episode."""
        env = self._make()
        _made.get([]).append(env)
        wanted = state["info"]
        observation, info = env.reset(seed=wanted["seed"], options={"task": wanted["task_id"]})
        chat = self.message_type == "chat"
        state[_ENV], state[_REPLY] = env, None
        state["prompt"] = server_messages(info["messages"]) if chat else observation
        state["episode"] = state["episode_return"] = None
        state["episode_rewards"] = {}
        if chat:
            self._offer(state, info["tools"])
        return state

    async def add_model_response(self, state: Any, prompt_messages: Any, response: Any) -> None:
        """Take the model's message as an action. At once: whether the episode is over is known only then."""
        await super().add_model_response(state, prompt_messages, response)
        if state.get("prompt_too_long", False):  # the message is verifiers' own, not the model's
            return
        env: ToolEnv = state[_ENV]
        said = state["trajectory"][-1]["completion"]
        action = said if isinstance(said, str) else _action(env, said[-1])
        if env.waits:
            observation, _, terminated, truncated, info = await env.astep(action)
        else:
            observation, _, terminated, truncated, info = await _threaded(env.step, action)
        if self.message_type == "completion":
            state[_REPLY] = observation
        else:
            state[_REPLY] = _replies(said[-1], info)
            if "tools" in info:
                self._offer(state, info["tools"])
        if terminated or truncated:
            _keep(state, info["episode"])

    async def env_response(self, messages: Any, state: Any, **options: Any) -> Any:
        """What the environment said to the last message."""
        return state[_REPLY]

    async def episode_over(self, state: Any) -> bool:
        """A stop condition: the episode has ended."""
        return state.get("episode") is not None

    async def end_episode(self, state: Any) -> None:
        """A cleanup: an episode that something else ended is truncated and scored as it stands."""
        env: ToolEnv | None = state.pop(_ENV, None)
        if env is None:
            return
        if state["episode"] is None and len(state["trajectory"]) > bool(state.get("prompt_too_long", False)):
            _keep(state, env.truncate())
        env.close()

    # What vf.stop and vf.cleanup would mark; unmarked they are typed.
    episode_over.stop, episode_over.stop_priority = True, 10  # type: ignore[attr-defined]
    end_episode.cleanup, end_episode.cleanup_priority = True, 0  # type: ignore[attr-defined]

    def _offer(self, state: Any, tools: Sequence[Mapping[str, Any]]) -> None:
        """The tools that the next request names."""
        state["oai_tools"] = [dict(tool) for tool in tools] or None


class EpisodeRubric(_Rubric):  # type: ignore[misc]
    """The episode's return as the reward, and each of its rewards as a metric; NaN where not known."""

    def __init__(self, reward_names: Sequence[str]) -> None:
        """Read these rewards of an episode, by name."""
        super().__init__(funcs=[_metric(name) for name in reward_names], weights=[0.0] * len(reward_names))

    async def score_rollout(self, state: Any, *args: Any, **options: Any) -> None:
        """Score one rollout."""
        await super().score_rollout(state, *args, **options)
        state["reward"] = _return(state)

    async def score_group(self, states: list[Any], *args: Any, **options: Any) -> None:
        """Score the rollouts of one row, and measure each against the mean of those whose return is known."""
        await super().score_group(states, *args, **options)
        returns = [_return(state) for state in states]
        known = [value for value in returns if not math.isnan(value)]
        mean = math.fsum(known) / len(known) if known else 0.0
        for state, value in zip(states, returns, strict=True):
            advantage = 0.0 if math.isnan(value) else value - mean
            state["reward"], state["advantage"] = value, advantage
            for step in state["trajectory"]:
                step["reward"], step["advantage"] = value, advantage


def _metric(name: str) -> Callable[[Any], float]:
    def metric(state: Any) -> float:
        value = state["episode_rewards"].get(name)
        return math.nan if value is None else float(value)

    metric.__name__ = name
    return metric


def _return(state: Any) -> float:
    value = state["episode_return"]
    return math.nan if value is None else float(value)


async def _threaded(step: Callable[[str], Any], action: str) -> Any:
    """A step whose tools block, beside those of other rollouts: asyncio's own threads are few."""
    return await asyncio.get_running_loop().run_in_executor(_threads(), step, action)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST_THREADS, "callgym-verifiers")


def _keep(state: Any, episode: Episode) -> None:
    state["episode"] = episode.to_dict()
    state["episode_return"] = episode.episode_return
    state["episode_rewards"] = {name: score.value for name, score in episode.rewards.items()}


def _action(env: ToolEnv, message: Mapping[str, Any]) -> str:
    """An assistant's message as an action in the environment's dialect."""
    content = message.get("content") or ""
    calls = message.get("tool_calls") or ()
    if not calls:
        return str(content)
    raw = [RawCall(_function(call).get("name"), _function(call).get("arguments", {}), call.get("id")) for call in calls]
    return render_raw_action(env.dialect, raw, str(content))


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    return call.get("function") or {}


def _replies(message: Mapping[str, Any], info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What came back as chat messages: an answer to every call that the model's message names, then the user's."""
    new = info["messages"][1:]
    answers = [said for said in new if said["role"] == "tool"]
    others = [dict(said) for said in new if said["role"] != "tool"]
    asked = message.get("tool_calls") or ()
    if not asked:  # its calls stood in its words; an answer to a call that no message names is refused by servers
        said = "\n".join(f"{answer['name']}: {answer['content']}" for answer in answers)
        return ([{"role": "user", "content": said}] if said else []) + others
    replies = []
    for call in asked:
        name = _function(call).get("name")
        read = bool(answers) and answers[0]["name"] == name
        content = answers.pop(0)["content"] if read else "This call could not be read and was not made."
        replies.append({"role": "tool", "tool_call_id": call.get("id") or "", "content": content})
    return replies + others
