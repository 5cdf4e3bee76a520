"""What goes over the wire: an environment's answers as JSON objects, and requests as values that are checked.

The shapes are OpenEnv's (its ``ResetRequest``, ``StepRequest``, ``StepResponse``). An answer is ``{"observation":
{...}, "reward": number or null, "done": bool, "metadata": {...}}``. A reward that is not known is null. ``observation``
has what a policy is shown, ``metadata`` the rest of Gymnasium's ``info``, and ``terminated`` and ``truncated``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgym.dialects.base import Dialect
from callgym.noun import Noun
from callgym.rollouts.unreadable import RawCall, render_raw_action
from callgym.tool_backends.server.refusal import Refusal

__all__ = ["SCHEMAS", "ResetRequest", "action_text", "read_action", "read_cut", "read_reset", "read_seconds", "written"]

_SHOWN = ("messages", "tools")
_MAX_SEED = 2**64
_MAX_EPISODE_ID = 255
_KINDS = {str: "a string", dict: "an object", list: "a list", bool: "true or false"}

_TEXT = {"type": "string", "description": "What the policy wrote, in the environment's dialect."}
_CALL = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {}, "id": {"type": ["string", "null"]}},
    "required": ["name"],
    "description": "arguments: an object, or one as JSON text.",
}
_METADATA = {"type": "object", "description": "Not read."}
SCHEMAS: dict[str, Any] = {
    "action": {
        "type": "object",
        "description": "text; or calls and content, which are written in the environment's dialect.",
        "properties": {
            "text": _TEXT,
            "calls": {"type": "array", "items": _CALL},
            "content": {"type": "string"},
            "metadata": _METADATA,
        },
        "additionalProperties": False,
    },
    "observation": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "The observation."},
            "messages": {"type": "array", "description": "Chat messages: all after reset, the new ones after step."},
            "tools": {"type": "array", "description": "After reset, and where they have changed."},
        },
        "required": ["text", "messages"],
    },
    "state": {
        "type": "object",
        "properties": {
            "episode_id": {"type": ["string", "null"]},
            "step_count": {"type": "integer"},
            "env_id": {"type": "string"},
            "task_id": {"type": ["string", "null"]},
            "seed": {"type": ["integer", "null"]},
            "turn": {"type": "integer"},
            "done": {"type": "boolean"},
        },
    },
}
"""What ``GET /schema`` answers."""


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """What a reset asks for."""

    seed: int | None
    """As in ``ToolEnv.reset``."""
    options: dict[str, Any] | None
    """As in ``ToolEnv.reset``."""
    episode_id: str | None
    """What the client calls the episode; ``state`` says it again."""


def written(observation: str, info: Mapping[str, Any], outcome: tuple[float, bool, bool] | None) -> dict[str, Any]:
    """An answer as plain JSON values.

    Args:
        observation: What the environment returned.
        info: What came with it.
        outcome: Reward, terminated, truncated; None after a reset.
    """
    shown: dict[str, Any] = {"text": observation, **{name: info[name] for name in _SHOWN if name in info}}
    rest = {name: _plain(value) for name, value in info.items() if name not in _SHOWN}
    if outcome is None:
        return {"observation": shown, "reward": None, "done": False, "metadata": rest}
    reward, terminated, truncated = outcome
    rest |= {"terminated": bool(terminated), "truncated": bool(truncated)}
    done = bool(terminated or truncated)
    known = None if math.isnan(reward) else float(reward)
    return {"observation": shown, "reward": known, "done": done, "metadata": rest}


def _plain(value: Any) -> Any:
    if isinstance(value, Noun):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def read_reset(body: dict[str, Any]) -> ResetRequest:
    """The fields ``seed``, ``task``, ``sweep`` and ``episode_id``. Raises Refusal for others, and other values."""
    _only(body, "seed", "task", "sweep", "episode_id")
    seed, task, sweep = body.get("seed"), body.get("task"), body.get("sweep", False)
    if seed is not None and not (type(seed) is int and 0 <= seed < _MAX_SEED):
        raise _invalid(f"seed is a whole number from 0 to 2**64 - 1, or null; got {str(seed)[:40]}")
    if task is not None and type(task) not in (int, str):
        raise _invalid(f"task is a task's id, its index, or null; got {str(task)[:40]!r}")
    if type(sweep) is not bool:
        raise _invalid(f"sweep is true or false, got {str(sweep)[:40]!r}")
    name = body.get("episode_id")
    if name is not None and not (type(name) is str and len(name) <= _MAX_EPISODE_ID):
        raise _invalid(f"episode_id is a string of at most {_MAX_EPISODE_ID} characters, or null")
    options: dict[str, Any] = {} if task is None else {"task": task}
    if sweep:
        options["sweep"] = True
    return ResetRequest(seed, options or None, name)


def read_action(action: Any) -> dict[str, Any]:
    """An action: ``{"text"}``, or ``{"calls", "content"}``. Raises Refusal for anything else."""
    if type(action) is not dict:
        raise _invalid('action is an object such as {"text": "..."}')
    _only(action, "text", "calls", "content", "metadata")
    if ("text" in action) == ("calls" in action or "content" in action):
        raise _invalid("an action has text, or else calls and content")
    for name, kind in (("text", str), ("calls", list), ("content", str)):
        if name in action and type(action[name]) is not kind:
            raise _invalid(f"{name} is {_KINDS[kind]}, got {str(action[name])[:40]!r}")
    for call in action.get("calls", ()):
        if type(call) is not dict or type(call.get("name")) is not str:
            raise _invalid('a call is an object such as {"name": "...", "arguments": {}}')
        _only(call, "name", "arguments", "id")
    return action


def action_text(action: Mapping[str, Any], dialect: Dialect) -> str:
    """What an action says, in a dialect; a call that cannot be read is written so that it still cannot."""
    if "text" in action:
        text: str = action["text"]
        return text
    calls = [RawCall(call["name"], call.get("arguments", {}), call.get("id")) for call in action.get("calls", ())]
    return render_raw_action(dialect, calls, action.get("content", ""))


def read_cut(body: dict[str, Any]) -> str | None:
    """The text of an action that was cut off, or None. Raises Refusal where it is no text."""
    _only(body, "text")
    text = body.get("text")
    if text is not None and type(text) is not str:
        raise _invalid(f"text is a string or null, got {str(text)[:40]!r}")
    return text


def read_seconds(value: Any) -> float | None:
    """OpenEnv's ``timeout_s``. Raises Refusal where it is no time."""
    if value is None:
        return None
    if type(value) not in (int, float) or not value > 0:
        raise _invalid(f"timeout_s is a number of seconds above 0, or null; got {str(value)[:40]!r}")
    return float(min(value, 1e9))


def _only(body: Mapping[str, Any], *known: str) -> None:
    for name in body:
        if name not in known:
            raise _invalid(f"there is no field {name[:40]!r} here; the fields are: {', '.join(known)}")


def _invalid(message: str) -> Refusal:
    return Refusal(400, "invalid_request", message)
