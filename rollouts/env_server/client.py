"""An environment that is played on a server, with the observations, rewards and records of one that is here::

    env = RemoteEnv("http://127.0.0.1:8000")  # callgym serve-env apibank/L1-v0
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(action)

A session on the server is opened at the first reset, and kept until ``close``.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import gymnasium as gym
import numpy as np

from callgym.call import ToolCall, ToolResult
from callgym.chat_server import import_httpx
from callgym.envs.base import MAX_ACTION_LENGTH, MAX_OBSERVATION_LENGTH
from callgym.episode import Episode
from callgym.errors import CallGymError, ConfigurationError, DataError
from callgym.spaces import TextSpace
from callgym.tool_backends.remote_answers import Answer, Ask, Broken, without_token
from callgym.tool_backends.server.wire import write_json

if TYPE_CHECKING:
    from callgym.tool_backends.remote_line import Line

__all__ = ["RemoteEnv", "RemoteEnvError"]

_TOKEN_ENV = "CALLGYM_SERVE_TOKEN"
_MAX_SENT = 1_000_000
_MAX_ANSWER = 134_217_728
_CLOSING_S = 5.0
_BROKEN = {
    "timeout": "no answer came in time; whether the step was taken is not known",
    "unreachable": "it cannot be reached",
    "lost": "the connection broke before the answer came; whether the step was taken is not known",
    "too_long": "the answer is too long to be read",
}


class RemoteEnvError(CallGymError):
    """A server gave no usable answer; where a step was under way, its episode is lost and reset begins another."""


class RemoteEnv(gym.Env[str, str]):
    """One environment on a server (``callgym serve-env``).

    ``info`` is that of a ToolEnv: ``calls``, ``results`` and ``episode`` are records again. An action of more than
    1,000,000 characters, which no environment reads, is sent and put on record cut to that length.
    """

    def __init__(self, url: str, *, token_env: str | None = None, timeout_s: float = 90.0) -> None:
        """Set the environment up; nothing is sent yet.

        Args:
            url: Where the server is, ``http://host:port``.
            token_env: The environment variable that holds the server's token; by default ``CALLGYM_SERVE_TOKEN``,
                which need not be set.
            timeout_s: Longest time for one reset or step, in seconds; longer than the server's own limit.

        Raises:
            ConfigurationError: An argument has a value it cannot have, or the variable is not set.
            MissingPackageError: httpx is not installed.
        """
        import_httpx()
        from callgym.tool_backends.remote import RemoteBackend

        # It checks the URL, the time and the token, and says what is wrong with them.
        checked = RemoteBackend(url, token_env=token_env, timeout_s=timeout_s)
        self.url, self.timeout_s = checked.url, checked.timeout_s
        self.action_space = TextSpace(MAX_ACTION_LENGTH)
        self.observation_space = TextSpace(MAX_OBSERVATION_LENGTH)
        self._token_env = token_env or _TOKEN_ENV
        self._line: Line | None = None
        self._key: str | None = None
        self._running = False

    @property
    def env_id(self) -> str:
        """The id of the environment that the server serves. Raises RemoteEnvError where it cannot be asked."""
        return str(_object(self._sent(Ask("GET", "/metadata"))).get("name"))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode, as ``ToolEnv.reset`` does.

        Raises:
            ConfigurationError: There is no such task or option.
            RemoteEnvError: The server gave no usable answer; or the session has expired and no seed was given, so
                that the draw of tasks cannot go on where it was.
        """
        super().reset(seed=seed)
        options = options or {}
        if options.keys() - {"task", "sweep"}:
            raise ConfigurationError(f"reset knows the options 'task' and 'sweep', got {sorted(options)}")
        wanted = {"seed": seed, **options}
        try:
            answer = self._sent(_ask("/reset", {**wanted, "session": self._key}))
            if self._key is not None and _word(answer) == "unknown_session" and seed is not None:
                self._key = None
                answer = self._sent(_ask("/reset", wanted))
            value = _object(answer)
            self._key = _field(_field(value, "metadata", dict), "session", str)
        except RemoteEnvError:
            self._running = False
            raise
        self._running = True
        return _read(value)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take a step, as ``ToolEnv.step`` does. The reward is NaN where it is not known.

        Raises:
            TypeError: The action is no string.
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
            RemoteEnvError: The server gave no usable answer.
        """
        if not isinstance(action, str):
            raise TypeError(f"an action is text (str), got {type(action).__name__}: {str(action)[:80]!r}")
        if not self._running:
            raise gym.error.ResetNeeded("the episode is over, or none was begun; call reset()")
        self._running = False  # until it is known that it still is
        body = {"session": self._key, "action": {"text": _sendable(action)}}
        value = _object(self._sent(_ask("/step", body)))
        observation, info = _read(value)
        terminated, truncated = info.pop("terminated"), info.pop("truncated")
        self._running = not (terminated or truncated)
        reward = value["reward"]
        return observation, float("nan") if reward is None else float(reward), terminated, truncated, info

    def truncate(self, action: str | None = None) -> Episode:
        """End the episode here, as ``ToolEnv.truncate`` does.

        Raises:
            gymnasium.error.ResetNeeded: No episode is running, or no action was taken yet.
            RemoteEnvError: The server gave no usable answer.
        """
        if not self._running:
            raise gym.error.ResetNeeded("truncate() needs a running episode")
        cut = None if action is None else _sendable(action)
        value = _object(self._sent(_ask("/truncate", {"session": self._key, "text": cut})))
        self._running = False
        episode: Episode = _read(value)[1]["episode"]
        return episode

    def state(self) -> dict[str, Any]:
        """What the server says of the session. Raises RemoteEnvError where there is none."""
        if self._key is None:
            raise RemoteEnvError("no session was opened; call reset() first")
        return _object(self._sent(Ask("GET", f"/state?session={quote(self._key, safe='')}")))

    def close(self) -> None:
        """Close the session on the server, and the connections. A server that is gone keeps nothing from it."""
        key, self._key, self._running = self._key, None, False
        if key is not None:
            self._answered(_ask("/close", {"session": key}), min(_CLOSING_S, self.timeout_s))
        if self._line is not None:
            self._line.close()
            self._line = None

    def _sent(self, ask: Ask) -> Answer:
        answer = self._answered(ask, self.timeout_s)
        if isinstance(answer, Broken):
            raise RemoteEnvError(f"{self.url}: {_BROKEN[answer.kind]}")
        return answer

    def _answered(self, ask: Ask, seconds: float) -> Answer | Broken:
        token = os.environ.get(self._token_env, "").strip() or None
        return without_token(token, self._here().send(ask, token, time.monotonic() + seconds))

    def _here(self) -> Line:
        """The connections of this process: a forked one has its own."""
        if self._line is None or self._line.pid != os.getpid():
            from callgym.tool_backends.remote_line import Line

            self._line = Line(self.url, 1, _MAX_ANSWER)
        return self._line

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_line": None, "_key": None, "_running": False}  # a session has one player


def _ask(path: str, body: dict[str, Any]) -> Ask:
    given = {
        name: int(value) if isinstance(value, np.integer) else value
        for name, value in body.items()
        if value is not None
    }
    try:
        return Ask("POST", path, write_json(given))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be asked with {given!r:.200}: {error}") from None


def _sendable(action: str) -> str:
    """The action as the environment would keep it, as far as it is sent."""
    return action[:_MAX_SENT].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _word(answer: Answer) -> str:
    return "" if 200 <= answer.status < 300 else str(_refusal(answer)[0])


def _refusal(answer: Answer) -> tuple[str, str]:
    try:
        value = json.loads(answer.body[:100_000])
        return str(value["error"]), str(value["message"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return "", "no reason is given"


def _object(answer: Answer) -> dict[str, Any]:
    """What a server answers. Raises what the environment itself would have raised."""
    if not 200 <= answer.status < 300:
        word, said = _refusal(answer)
        if word == "reset_needed":
            raise gym.error.ResetNeeded(said)
        if word == "invalid_request":
            raise ConfigurationError(said)
        if word == "unplayable":
            raise DataError(said)
        raise RemoteEnvError(f"the server refuses (status {answer.status}): {said}")
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise RemoteEnvError(f"the server's answer is not valid JSON ({str(error)[:80]})") from None
    if not isinstance(value, dict):
        raise RemoteEnvError("the server's answer is no object")
    return value


def _read(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The observation, and ``info`` as a ToolEnv gives it."""
    shown, info = _field(value, "observation", dict), _field(value, "metadata", dict)
    text: str = _field(shown, "text", str)
    info = {**info, **{name: shown[name] for name in shown if name != "text"}}
    info.pop("session", None)
    if "calls" in info:
        info["calls"] = tuple(ToolCall.from_dict(call) for call in info["calls"])
        info["results"] = tuple(ToolResult.from_dict(result) for result in info["results"])
    if "episode" in info:
        info["episode"] = Episode.from_dict(info["episode"], "the server's answer")
    return text, info


def _field(value: dict[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    if type(found) is not kind:
        raise RemoteEnvError(f"the server's answer has no {name}; is it an environment server?")
    return found
