"""Abstention: the right decision, which may be to call nothing; and where a call is due, the call.

Where no tool fits, the right thing is to say so and call nothing. Where the kind of the reply is read from its words
(``DecisionGoal.worded``, as in When2Call) it can also be to ask for what is missing, or to answer directly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from callgym.episode import Episode, Score, Step
from callgym.goal import CallsGoal, DecisionGoal
from callgym.rewards.call_match import call_match
from callgym.rewards.reply_kind import Kind, asked_nouns, asked_parameters, names_parameter, reply_kind
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["OUTCOMES", "RIGHT", "Outcome", "irrelevance_abstention", "outcome_of", "value_without_calls"]

Outcome = Literal["called", "attempted", "silent", "asked", "declined", "answered", "mixed"]
OUTCOMES: tuple[Outcome, ...] = ("called", "attempted", "asked", "declined", "answered", "mixed", "silent")
"""What a policy can have done where its words are read. ``mixed``: a reply of several kinds."""

NOT_ASKED = Score(applies=False, explanation={"reason": "the task is not one to be declined"})
_NO_CALLS = Score(applies=False, explanation={"reason": "the task says that a call is due, but not which"})

RIGHT: Mapping[str, Outcome] = {"call": "called", "ask": "asked", "decline": "declined", "answer": "answered"}
"""The decision that is due to the outcome that is right."""
_DONE: dict[Kind, Outcome] = {"ask": "asked", "decline": "declined", "answer": "answered"}
_MOST_STRAY = 2
"""In a question back: things that tools ask for (a date, a name, parameters of other tools) and that belong neither to
what is missing nor to what the user said. A question with more of them asks for everything."""
_COPIED = 80
"""A reply of so many characters that stands in the prompt as it is was copied from there."""


def irrelevance_abstention(task: Task, episode: Episode) -> Score:
    """1 for the right decision, 0 for another; where a call is due, the value of the call.

    Unless its goal is ``worded`` a task asks for nothing but to be declined: 1 where the policy replied in words
    without any call. A call with an apology is a call, a call that could not be read is no abstention, and silence is
    no reply, nor is a stretch of the prompt; only the goal's free tools (a tool search) may be called first.

    Where it is ``worded``, the first words without a call are the reply, and it must be of the right kind and of no
    other (``reply_kind``):

    * ``decline``, ``answer``: 1 for a reply of that kind. What it answers is for other rewards to judge.
    * ``ask``: 1 for a question that names one of the missing parameters and does not ask for everything: neither for
      more than half of the tool's other parameters nor for more than two other things that tools ask for. What the
      user has spoken of does not count. Where the goal does not say what is missing, nothing need be named.
    * ``call``: what ``call_match`` pays for the task's calls, 0 without a call. What is said beside one is not read.

    A reply in an episode that was truncated earns nothing: calls could have followed.
    Does not apply where a call is due and the task does not say which.
    """
    goal = task.goal_of(DecisionGoal)
    if goal is None or not (goal.worded or goal.decision == "decline"):
        return NOT_ASKED
    if not goal.worded:
        return _unworded(goal, episode)
    if goal.decision == "call":
        return _call_due(goal, task, episode)
    outcome, reply = outcome_of(episode.steps, goal.free)
    if reply and episode.ended == "truncated":
        return Score(value=0.0, explanation={"outcome": "truncated", "expected": goal.decision})
    explanation: dict[str, Any] = {"outcome": outcome, "expected": goal.decision}
    if outcome == "mixed":
        explanation["kinds"] = list(reply_kind(reply).kinds)
    if outcome == "asked" and goal.decision == "ask":
        explanation |= _what_is_asked(goal.missing, task, reply)
    return Score(value=value_without_calls(explanation), explanation=explanation)


def value_without_calls(explanation: Mapping[str, Any]) -> float:
    """The value that an explanation leads to in which no calls are compared."""
    outcome = explanation["outcome"]
    if "expected" not in explanation:
        return float(outcome == "abstained")
    if "named" not in explanation:
        return float(outcome == RIGHT[explanation["expected"]])
    return float(bool(explanation["named"] or not explanation["missing"]) and not explanation["everything"])


def outcome_of(steps: Iterable[Step], free: Collection[str] = ()) -> tuple[Outcome, str]:
    """What was done, and the reply, which is the first words without a call; a call anywhere is a call.

    Args:
        steps: The episode's steps.
        free: Tools whose calls do not count.
    """
    reply, attempted = "", False
    for step in steps:
        if any(call.name not in free for call in step.calls):
            return "called", ""
        attempted = attempted or bool(step.errors)
        if not reply and not step.calls and step.content.strip():
            reply = step.content
    if attempted:
        return "attempted", ""
    kinds = reply_kind(reply).kinds
    return ("silent" if not kinds else "mixed" if len(kinds) > 1 else _DONE[kinds[0]]), reply


def _unworded(goal: DecisionGoal, episode: Episode) -> Score:
    calls = sum(call.name not in goal.free for step in episode.steps for call in step.calls)
    attempts = sum(len(step.errors) for step in episode.steps)
    # Words beside a call are not the reply.
    replies = [step.content.strip() for step in episode.steps if step.content.strip() and not step.calls]
    replied = any(not _is_copied(reply, episode.prompt) for reply in replies)
    if calls:
        outcome = "called"
    elif attempts:
        outcome = "attempted"
    elif not replied:
        outcome = "copied" if replies else "silent"
    elif episode.ended == "truncated":
        outcome = "truncated"
    else:
        outcome = "abstained"
    explanation: dict[str, Any] = {"outcome": outcome, "calls": calls}
    return Score(value=value_without_calls(explanation), explanation=explanation)


def _is_copied(reply: str, prompt: str) -> bool:
    """Whether a reply is a stretch of the prompt, too long to stand there by chance: nothing was said with it."""
    return len(reply) >= _COPIED and reply in prompt


def _call_due(goal: DecisionGoal, task: Task, episode: Episode) -> Score:
    calls = task.goal_of(CallsGoal)
    if calls is None or calls.exemplary:
        return _NO_CALLS
    outcome, reply = outcome_of(episode.steps, {*goal.free, *calls.free})
    explanation: dict[str, Any] = {"outcome": outcome, "expected": "call"}
    if outcome == "called":
        score = call_match(task, episode)
        return Score(value=score.value, explanation=explanation | score.explanation)
    if outcome == "mixed":
        explanation["kinds"] = list(reply_kind(reply).kinds)
    return Score(value=0.0, explanation=explanation)


def _what_is_asked(missing: Sequence[str], task: Task, reply: str) -> dict[str, Any]:
    """Which of the missing parameters a question back names, and whether it asks for everything besides."""
    tools = [tool for tool in task.tools if not tool.properties.keys().isdisjoint(missing)]
    said = _said(task)
    about = [said, *missing, *(text for tool in tools for text in _texts(tool, missing))]
    stray = set(asked_nouns(reply, about))
    others: dict[str, None] = {}
    everything = False
    for tool in task.tools:
        if tool in tools:
            asked = [name for name in asked_parameters(reply, tool, said) if name not in missing]
            others |= dict.fromkeys(asked)
            everything = everything or 2 * len(asked) > len(tool.properties.keys() - set(missing))
        else:
            stray.update(asked_parameters(reply, tool, "\n".join(about)))
    return {
        "missing": list(missing),
        "named": [name for name in missing if _is_named(name, _spoken_name(task, name), tools, reply)],
        "others": list(others),
        "stray": sorted(stray),
        "everything": everything or len(stray) > _MOST_STRAY,
    }


def _spoken_name(task: Task, name: str) -> str:
    """What a missing parameter was called before a perturbation renamed it: people do not ask for ``arg_2``."""
    renamed: Any = task.meta.get("renamed", {})
    names: list[dict[str, str]] = list(renamed.get("parameters", {}).values())
    return next((old[name] for old in names if name in old), name)


def _is_named(name: str, spoken: str, tools: Sequence[Tool], reply: str) -> bool:
    for schema in [tool.properties[name] for tool in tools if name in tool.properties] or [{}]:
        inner = schema.get("properties")
        if any(
            names_parameter(reply, known, _text(schema, "description"), _values(schema)) for known in (name, spoken)
        ):
            return True
        if isinstance(inner, dict) and any(names_parameter(reply, part) for part in inner):
            return True
    return False


def _texts(tool: Tool, missing: Sequence[str]) -> Iterator[str]:
    """What the tool's documentation says of it and of what is missing."""
    yield tool.description
    for name in missing:
        schema = tool.properties.get(name, {})
        yield _text(schema, "description")
        yield from map(str, _values(schema))


def _text(schema: dict[str, Any], key: str) -> str:
    text = schema.get(key)
    return text if isinstance(text, str) else ""


def _values(schema: dict[str, Any]) -> list[Any]:
    values = schema.get("enum")
    return values if isinstance(values, list) else []


def _said(task: Task) -> str:
    """Everything the user says."""
    said = [message.content or "" for message in task.messages if message.role == "user"]
    return "\n".join((*said, *(turn.content for turn in task.user_turns)))
