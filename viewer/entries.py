"""One episode, and one task, as the page opens them: the record without what is empty or can be worked out again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from callgym.episode import Score
from callgym.rewards.explain import explanation_lines
from callgym.rollouts.stage import StepTimes
from callgym.rollouts.stored_lines import StoredLine
from callgym.task import Task
from callgym.viewer.exact import exact, is_exact, json_bytes
from callgym.viewer.shared_text import SharedTexts
from callgym.viewer.shortening import Shortening

__all__ = ["episode_entry", "task_entry"]

Entry = dict[str, Any]

_TEXTS = ("action", "content", "reasoning", "observation")
_COMPARED = ("matched", "missing", "extra", "unreadable")


def episode_entry(
    line: StoredLine, times: Sequence[StepTimes] | None, shared: SharedTexts, most: int, where: str
) -> tuple[Entry, int]:
    """What the page shows of an episode, and how many of its texts were cut.

    Args:
        line: The line as it stands in its file.
        times: Of the steps, where they are known.
        shared: Holds what repeats in texts.
        most: Most characters of a text.
        where: File and row, for notes.
    """
    fields = line.fields
    shortening = Shortening(most, where)
    if len(line.raw) > most or not is_exact(line.raw, fields.get("seed")):
        fields = _plain(fields, shortening)
    if isinstance(fields.get("failure"), dict):
        config = fields.get("config")
        entry: Entry = {"failure": fields["failure"], "config": config if isinstance(config, dict) else {}}
    else:
        entry = _played(fields, times, shared)
    if shortening.notes:
        entry["cut"] = shortening.notes
    return _without_empty(entry), shortening.count


def task_entry(env_id: str, task: Task, most: int) -> tuple[Entry, int]:
    """What the page shows of a task, and how many of its texts were cut."""
    shortening = Shortening(most, f"task {task.id} of {env_id}")
    plain = task.to_dict()
    tools = [{name: tool[name] for name in ("name", "description", "parameters")} for tool in plain["tools"]]
    entry = {
        "messages": [_without_empty(message) for message in plain["messages"]],
        "goal": plain["goal"],
        "user_turns": [_without_empty(turn) for turn in plain["user_turns"]],
        "tools": tools,
        "meta": plain["meta"],
    }
    raw = json_bytes(entry)
    if len(raw) > most or not is_exact(raw, None):
        goal = {name: shortening.value(exact(value), f"{name} of the goal") for name, value in plain["goal"].items()}
        others = {name: shortening.value(exact(value), name) for name, value in entry.items() if name != "goal"}
        entry = {name: others.get(name, goal) for name in entry}
    ordered = {"env": env_id, "task": task.id, **entry}
    if shortening.notes:
        ordered["cut"] = shortening.notes
    return ordered, shortening.count


def _played(fields: Mapping[str, Any], times: Sequence[StepTimes] | None, shared: SharedTexts) -> Entry:
    steps = fields.get("steps", ())
    rewards = fields.get("rewards", {})
    return {
        "prompt": shared.encode(fields.get("prompt", "")),
        "steps": [_step(step, None if times is None else times[place], shared) for place, step in enumerate(steps)],
        "rewards": rewards,
        "lines": _lines(rewards),
        "state": fields.get("state"),
        "faults": fields.get("faults"),
        "config": fields.get("config", {}),
        "data": fields.get("data"),
        "rubric": fields.get("rubric"),
    }


def _step(step: Mapping[str, Any], times: StepTimes | None, shared: SharedTexts) -> Entry:
    entry = {
        "action": shared.encode(step["action"]),
        "turn": step.get("turn", 0),
        "calls": [_without_empty(call, ("name", "arguments")) for call in step.get("calls", ())],
        "errors": step.get("errors"),
        "results": [_without_empty(result, ("content",)) for result in step.get("results", ())],
        "reward": step.get("reward", 0.0),
        "times": times,
    }
    for name in _TEXTS[1:]:
        entry[name] = shared.encode(step.get(name, ""))
    return _without_empty(entry, ("action", "turn", "reward"))


def _without_empty(entry: Mapping[str, Any], kept: tuple[str, ...] = ()) -> Entry:
    return {
        name: value
        for name, value in entry.items()
        if name in kept or not (value is None or value == "" or value == [] or value == {})
    }


def _lines(rewards: Mapping[str, Any]) -> dict[str, list[str]]:
    """Explanations of other shapes than that of compared calls, as lines of text."""
    found: dict[str, list[str]] = {}
    for name, score in rewards.items():
        explanation = score.get("explanation")
        if not explanation or not score.get("applies", True) or _is_compared(explanation):
            continue
        found[name] = list(explanation_lines(name, Score.trusted(applies=True, **_value_of(score))))
    return found


def _value_of(score: Mapping[str, Any]) -> Entry:
    return {"value": score.get("value"), "explanation": score["explanation"]}


def _is_compared(explanation: Mapping[str, Any]) -> bool:
    turns = explanation.get("turns")
    return isinstance(turns, list) and all(
        isinstance(turn, dict) and all(name in turn for name in _COMPARED) for turn in turns
    )


# Where something is too long or too large to be shown as it is.


def _plain(fields: Mapping[str, Any], shortening: Shortening) -> Entry:
    """The record with everything exact and short; its own texts keep their names in the notes."""
    ways: dict[str, Callable[[Any], Any]] = {
        "steps": lambda steps: [_plain_step(step, number, shortening) for number, step in enumerate(steps, 1)],
        "prompt": lambda prompt: shortening.text(prompt, "the prompt"),
        "rewards": lambda rewards: {name: _plain_score(name, score, shortening) for name, score in rewards.items()},
    }
    plain: Entry = {}
    for name, value in fields.items():
        if name in ways and not isinstance(fields.get("failure"), dict):
            plain[name] = ways[name](value)
        elif isinstance(value, dict):
            plain[name] = shortening.object(_as_object(exact(value)), name)
        elif name == "failure" or isinstance(value, list):
            plain[name] = shortening.value(exact(value), name)
    return plain


def _plain_step(step: Mapping[str, Any], number: int, shortening: Shortening) -> Entry:
    plain = dict(step)
    for name in _TEXTS:
        if name in step:
            plain[name] = shortening.text(step[name], f"{name} of step {number}")
    plain["calls"] = [_plain_call(call, number, shortening) for call in step.get("calls", ())]
    plain["errors"] = shortening.value(step.get("errors", []), f"errors of step {number}")
    plain["results"] = [
        {name: shortening.value(exact(value), f"a result of step {number}") for name, value in result.items()}
        for result in step.get("results", ())
    ]
    return plain


def _plain_call(call: Mapping[str, Any], number: int, shortening: Shortening) -> Entry:
    name = f"a call of step {number}"
    arguments = shortening.object(_as_object(exact(call.get("arguments", {}))), name)
    return {"name": shortening.text(call["name"], name), "arguments": arguments, "id": call.get("id")}


def _plain_score(name: str, score: Mapping[str, Any], shortening: Shortening) -> Entry:
    explanation = _as_object(exact(score.get("explanation", {})))
    return {**score, "explanation": shortening.object(explanation, f"the explanation of {name}")}


def _as_object(value: Any) -> Entry:
    """What nests too deep has become text, and stands where an object is expected."""
    return value if isinstance(value, dict) else {"(cut)": value}
