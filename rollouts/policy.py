"""A policy: situations in, actions out, many at once::

    policy = get_policy("hf:/models/qwen", temperature=0.7)
    actions = policy.act(situations)

An action depends on its situation alone, never on its neighbours in the batch; all randomness comes
from the situation's seed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from callgym.envs.base import MAX_ACTION_LENGTH, ToolEnv
from callgym.errors import ConfigurationError
from callgym.rollouts.plan import derive_seed
from callgym.rollouts.stage import EnvView, Turn

__all__ = ["Policy", "Situation", "Transcript", "get_policy"]


@dataclass(frozen=True, slots=True)
class Situation:
    """Where an episode stands when an action is asked for."""

    env: ToolEnv | EnvView
    """The environment, unwrapped: for its dialect, and for the oracle. Where it is on a Ray worker, a view of it."""
    observation: str
    """What the environment returned last."""
    prompt: str
    """The whole conversation so far as text, in the environment's dialect."""
    messages: tuple[dict[str, Any], ...]
    """The whole conversation so far as chat messages; read them, do not change them."""
    tools: tuple[dict[str, Any], ...]
    """The tools in OpenAI's shape; read them, do not change them."""
    seed: int
    """Derived from the episode's seed and the step's number."""

    @property
    def given(self) -> int:
        """How many of ``messages`` the episode began with."""
        return self.env.given if isinstance(self.env, EnvView) else len(self.env.task.messages)


class Transcript:
    """What a policy is shown of one episode, put together from its turns."""

    def __init__(self, beginning: Turn, seed: int) -> None:
        """Take the turn of step 0, and the episode's seed."""
        assert beginning.env is not None
        assert beginning.tools is not None
        self._env = beginning.env
        self._seed = seed
        self._step = 0
        self._observation = self._prompt = beginning.observation
        self._messages = beginning.messages
        self._tools = beginning.tools

    def add(self, action: str, turn: Turn) -> None:
        """Go on with an action and what came back."""
        self._step = turn.step
        self._observation = turn.observation
        if self._env.observation_mode == "delta":
            # As the environment shows it: half surrogates replaced, then cut.
            shown = action.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self._prompt += shown[:MAX_ACTION_LENGTH] + turn.observation
        else:
            self._prompt = turn.observation
        self._messages += turn.messages
        self._tools = self._tools if turn.tools is None else turn.tools

    def situation(self) -> Situation:
        """What the policy is shown now."""
        return Situation(
            env=self._env,
            observation=self._observation,
            prompt=self._prompt,
            messages=self._messages,
            tools=self._tools,
            seed=derive_seed("action", self._seed, self._step),
        )


class Policy(Protocol):
    """What acts."""

    @property
    def name(self) -> str:
        """What records and summaries call it; it holds no secret."""

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """One action for each situation, in order."""

    def close(self) -> None:
        """Give back connections and the like; a later ``act`` opens them again."""


_SERVER = re.compile(r"openai:(?P<model>.+)@(?P<url>https?://.+)")
_KNOWN = (
    "oracle, abstain, ask, answer, random, echo, hf:PATH_OR_NAME, openai:MODEL@http://HOST:PORT/v1; for multiple "
    "choice, choices:hf:PATH_OR_NAME, choices:openai:MODEL@http://HOST:PORT/v1"
)


def get_policy(name: str, **options: Any) -> Policy:
    """The policy of that name.

    Args:
        name: ``oracle``, ``abstain``, ``random``, ``echo``, one of ``adversarial.ADVERSARIES``, ``hf:PATH``
            (a transformers model in a folder or on the hub) or ``openai:MODEL@http://host:port/v1``; with
            ``choices:`` before either of these, the model scores the replies that a multiple choice offers.
        options: What the policy's class takes besides: ``temperature``, ``max_new_tokens`` and so on.

    Raises:
        ConfigurationError: There is no such policy, or it has no such option.
        MissingPackageError: The policy needs a package that is not installed.
    """
    from callgym.rollouts.adversarial import ADVERSARIAL
    from callgym.rollouts.scripted import SCRIPTED

    for known in (SCRIPTED, ADVERSARIAL):
        if name in known:
            return _make(name, known[name], options)
    from callgym.rollouts import choice_policy, server_policy, transformers_policy

    model = name.removeprefix("choices:")
    scores = model != name
    if model.startswith("hf:") and len(model) > len("hf:"):
        local = choice_policy.ChoicePolicy if scores else transformers_policy.TransformersPolicy
        return _make(name, local.from_pretrained, options, model.removeprefix("hf:"))
    server = _SERVER.fullmatch(model)
    if server is not None:
        remote = choice_policy.ServerChoicePolicy if scores else server_policy.ServerPolicy
        return _make(name, remote, options, server["model"], server["url"])
    raise ConfigurationError(f"no policy {name!r}; there are: {_KNOWN}; and, to test rewards: {', '.join(ADVERSARIAL)}")


def _make(name: str, make: Callable[..., Policy], options: dict[str, Any], *given: str) -> Policy:
    try:
        inspect.signature(make).bind(*given, **options)
    except TypeError as error:
        known = [key for key, p in inspect.signature(make).parameters.items() if p.kind is p.KEYWORD_ONLY]
        listed = ", ".join(known) or "none"
        raise ConfigurationError(f"policy {name!r}: {error}; its options are: {listed}") from None
    return make(*given, **options)
