"""A task and an episode as a person would read them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

from callgym.episode import Episode, Step
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, GoldCall
from callgym.rewards import Rubric
from callgym.rewards.explain import explanation_lines
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["episode_as_text", "rubric_as_text", "task_as_text"]

_WIDEST = 400


def task_as_text(task: Task) -> str:
    """The task: tools, conversation, what is asked."""
    lines = [f"task {task.id}   ({task.family}, split {task.split})", "", "TOOLS"]
    lines += [f"  {_tool_line(tool)}" for tool in task.tools]
    hidden = [tool.name for tool in task.tools if tool not in task.prompt_tools]
    if hidden:
        lines.append(f"  (not documented in the prompt: {', '.join(hidden)})")
    lines += ["", "CONVERSATION"]
    for message in task.messages:
        if message.content:
            lines.append(f"  {message.role:>9}: {_short(message.content)}")
        lines += [f"  {message.role:>9}: {call.name}({_arguments(call.arguments)})" for call in message.tool_calls]
    lines += [f"  then user: {_short(turn.content)}" for turn in task.user_turns]
    lines += ["", "GOAL", *(f"  {line}" for line in _goal_lines(task.goal))]
    return "\n".join(lines)


def rubric_as_text(rubric: Rubric) -> str:
    """The rubric: each reward with its weight, gates, factors, scale."""
    return "\n".join(rubric.lines())


def episode_as_text(episode: Episode) -> str:
    """The episode: prompt, actions, what came back, and how the return came about."""
    lines = [f"episode of {episode.env_id}, task {episode.task_id}, seed {episode.seed}", "", episode.prompt.rstrip()]
    for number, step in enumerate(episode.steps, 1):
        lines += ["", *_step_lines(number, step)]
    lines += ["", f"{episode.ended}; return {_score(episode.episode_return)} (rubric {episode.rubric})"]
    for name, score in episode.rewards.items():
        if score.applies:
            lines += [f"  {line}" for line in explanation_lines(name, score)]
    return "\n".join(lines)


def _step_lines(number: int, step: Step) -> Iterator[str]:
    yield f"--- action {number}: {step.action}"
    for call, result in itertools.zip_longest(step.calls, step.results):
        if result is None:  # a record may leave results out
            yield f"    {call.name}({_arguments(call.arguments)}) -> no result on record"
            continue
        answer = result.message if result.error else json.dumps(result.content, ensure_ascii=False)
        failed = f" [{result.error}]" if result.error else ""
        yield f"    {call.name}({_arguments(call.arguments)}) ->{failed} {_short(answer)}"
    for error in step.errors:
        said = "repaired (at" if error.kind == "repaired" else f"unreadable ({error.kind} at"
        yield f"    {said} {error.position}): {_short(error.message)}"
    if not step.calls and not step.errors and step.observation.strip():
        yield f"    then: {_short(step.observation.strip())}"


def _tool_line(tool: Tool) -> str:
    required = set(tool.required)
    parts = [
        f"{name}{'' if name in required else '?'}: {schema.get('type', 'any')}"
        for name, schema in tool.properties.items()
    ]
    return f"{tool.name}({', '.join(parts)})  {_short(tool.description)}"


def _goal_lines(goal: Any) -> Iterable[str]:
    if isinstance(goal, AllGoal):
        return [line for part in goal.goals for line in _goal_lines(part)]
    if isinstance(goal, CallsGoal):
        return [f"turn {number}: {_gold(call)}" for number, turn in enumerate(goal.turns, 1) for call in turn] or [
            "no call"
        ]
    if isinstance(goal, DecisionGoal):
        return [f"decision: {goal.decision}" + (f", for example: {goal.reply!r}" if goal.reply else "")]
    if isinstance(goal, AnswerGoal):
        return [f"answer ({goal.match}): {' or '.join(map(repr, goal.accepted))}"]
    return [f"{goal.kind}: {_short(goal.to_json())}"]


def _gold(call: GoldCall) -> str:
    parts = []
    for name, accepted in call.arguments.items():
        values = " or ".join(json.dumps(value, ensure_ascii=False) for value in accepted)
        parts.append(f"{name}={values}{' (optional)' if name in call.optional else ''}")
    return f"{call.name}({', '.join(parts)})"


def _arguments(arguments: dict[str, Any]) -> str:
    return _short(", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items()))


def _score(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}... ({len(text)} characters)"
